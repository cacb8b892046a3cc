//! `zoo [FOLDER]... [--only PART] [--compiled] [--library FILE]`: runs the saved models of folders, each model a folder with its
//! files, `meta.json` and `cases.safetensors`, through the C functions of the library. Prints a line per file, and at
//! the end how many passed and failed. `--only` chooses models by a part of their name; with `--compiled`, their methods
//! are compiled for inference, and the line says how they ran.

use rushlight_conformance::door::built_library;
use rushlight_conformance::program::{exit_code, progress};
use rushlight_conformance::zoo::model::Model;
use rushlight_conformance::zoo::module::Library;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: zoo [FOLDER]... [--only PART] [--compiled] [--library FILE]";

/// The files of a model that are run.
const FILES: [&str; 2] = ["model.pt", "model.ptl"];

struct Options {
    folders: Vec<PathBuf>,
    only: String,
    compiled: bool,
    library: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options { folders: Vec::new(), only: String::new(), compiled: false, library: None };
    let mut args = std::env::args_os().skip(1);
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--only") => {
                let part = args.next().ok_or("--only needs a part of a name")?;
                options.only = part.into_string().map_err(|_| "--only needs text")?;
            }
            Some("--compiled") => options.compiled = true,
            Some("--library") => options.library = Some(args.next().ok_or("--library needs a file")?.into()),
            Some(option) if option.starts_with("--") => return Err(format!("unknown option {option}\n{USAGE}")),
            _ => options.folders.push(arg.into()),
        }
    }
    if options.folders.is_empty() { Err(USAGE.into()) } else { Ok(options) }
}

/// The files of the models of a folder with their names, in order.
fn files(folder: &Path, only: &str) -> Result<Vec<(String, PathBuf)>, String> {
    let text = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(text)? {
        let entry = entry.map_err(text)?;
        let model = entry.file_name().to_string_lossy().into_owned();
        let files = FILES.iter().map(|file| (format!("{model}/{file}"), entry.path().join(file)));
        found.extend(files.filter(|(_, path)| model.contains(only) && path.exists()));
    }
    found.sort();
    Ok(found)
}

fn main() -> ExitCode {
    exit_code(all())
}

fn all() -> Result<bool, String> {
    let options = options()?;
    let library = Library::open(&options.library.clone().map_or_else(built_library, Ok)?)?;
    let mut found = Vec::new();
    for folder in &options.folders {
        found.extend(files(folder, &options.only)?);
    }
    if found.is_empty() {
        return Err("the folders have no such model".into());
    }
    let bar = progress(found.len())?;
    let (mut passed, mut failed) = (0, 0);
    let width = found.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, file) in &found {
        bar.set_message(name.clone());
        let start = Instant::now();
        let result = Model::open(&library, file, options.compiled).and_then(|model| model.run());
        let seconds = start.elapsed().as_secs_f64();
        let (word, count, note) = match result {
            Ok(note) => ("ok    ", &mut passed, note),
            Err(reason) => ("FAILED", &mut failed, one_line(&reason)),
        };
        *count += 1;
        let line = format!("{word} {name:width$} {seconds:6.2} s  {note}");
        let line = line.trim_end();
        bar.suspend(|| writeln!(std::io::stdout(), "{line}")).map_err(|error| error.to_string())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    writeln!(std::io::stdout(), "{passed} passed, {failed} failed").map_err(|error| error.to_string())?;
    Ok(failed == 0)
}

/// The message on one line. Of a traceback, the place before it and the error that ends it; lines of source code are
/// indented.
fn one_line(text: &str) -> String {
    let (place, error) = match (text.find("The following operation failed"), text.rfind("\nRuntimeError:")) {
        (Some(start), Some(end)) if start < end => (&text[..start], &text[end..]),
        _ => ("", text),
    };
    let lines = error.lines().filter(|line| !line.starts_with("  ") && !line.trim().is_empty()).map(str::trim);
    format!("{place}{}", lines.collect::<Vec<_>>().join(" "))
}
