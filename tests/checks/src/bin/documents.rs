//! `documents run PREFIX BUILD_DIR [PAGE...]` runs the code blocks of the documents with an installed Rushlight, in
//! folders below BUILD_DIR; PYTHON=... names a Python with PyTorch for the Python blocks. `documents book FOLDER`
//! gathers the files of the mdBook site.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to a terminal")]

use rushlight_checks::documents::places::Places;
use rushlight_checks::documents::{self, book, story};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match &words[..] {
        ["run", prefix, build, pages @ ..] => run(prefix, build, pages),
        ["book", folder] => documents::all().and_then(|pages| book::gather(&pages, Path::new(folder))),
        _ => Err("usage: documents run PREFIX BUILD_DIR [PAGE...] | documents book FOLDER".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("documents: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(prefix: &str, build: &str, only: &[&str]) -> Result<(), String> {
    let absolute = |path: &str| -> Result<PathBuf, String> {
        std::fs::create_dir_all(path)
            .and_then(|()| Path::new(path).canonicalize())
            .map_err(|error| format!("{path}: {error}"))
    };
    let python = std::env::var("PYTHON").ok().filter(|python| !python.is_empty());
    let prefix = Path::new(prefix)
        .canonicalize()
        .map_err(|error| format!("{prefix}: {error}; make install PREFIX={prefix} makes it"))?;
    let places = Places { prefix, build: absolute(build)?, python };
    let mut pages = documents::all()?;
    pages.retain(|page| only.is_empty() || only.contains(&page.path.as_str()));
    let report = story::run(&pages, &places)?;
    report.left_out.iter().for_each(|line| println!("{line}"));
    if report.problems.is_empty() {
        println!("documents: {} blocks ran, {} were left out", report.ran, report.left_out.len());
        Ok(())
    } else {
        Err(report.problems.join("\n\n"))
    }
}
