//! `curves FOLDER` draws the curves of activations and losses with the library, one SVG file for each operator.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to a terminal")]

use rushlight_checks::documents::curves;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [folder] => curves::draw(Path::new(folder)),
        _ => Err("usage: curves FOLDER".into()),
    };
    match result {
        Ok(count) => {
            println!("curves: {count} drawn");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("curves: {text}");
            ExitCode::FAILURE
        }
    }
}
