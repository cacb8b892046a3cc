//! Compares the digits programs with each other and with PyTorch.
//!
//! `demo-check REFERENCE.json RESULT...`: each result file is the standard output of one program, whose last line is its
//! JSON line. Prints a table; the exit status is 1 if a number is off.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to a terminal")]

use serde_json::Value;
use std::process::ExitCode;

const LANGUAGES: [&str; 3] = ["c", "cpp", "java"];
const LOSSES: [&str; 2] = ["first_loss", "loss_step_20"];
const LEAST_ACCURACY: f64 = 0.95;
const AMONG_LANGUAGES: f64 = 1e-6;
const FROM_PYTORCH: f64 = 1e-4;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(reference) = arguments.next() else {
        eprintln!("usage: demo-check REFERENCE.json RESULT...");
        return ExitCode::from(2);
    };
    match check(&reference, &arguments.collect::<Vec<_>>()) {
        Ok(faults) if faults.is_empty() => {
            println!(
                "demo: accuracy >= {LEAST_ACCURACY}, losses equal to 1e-6 among languages and to 1e-4 with PyTorch"
            );
            ExitCode::SUCCESS
        }
        Ok(faults) => {
            faults.iter().for_each(|fault| eprintln!("demo: {fault}"));
            ExitCode::FAILURE
        }
        Err(text) => {
            eprintln!("demo: {text}");
            ExitCode::FAILURE
        }
    }
}

/// What is wrong; `Err` if something cannot be read.
fn check(reference: &str, files: &[String]) -> Result<Vec<String>, String> {
    let reference = &parse(reference, &read(reference)?)?["adam"];
    let results = files.iter().map(|file| last_line(file)).collect::<Result<Vec<_>, _>>()?;
    let mut faults = Vec::new();
    for language in LANGUAGES {
        if !results.iter().any(|result| result["lang"] == language) {
            faults.push(format!("no result of the language {language:?}"));
        }
    }

    println!(
        "{:8} {:>13} {:>12} {:>12} {:>13}",
        "language", "test accuracy", "first loss", "loss step 20", "train seconds"
    );
    print_row("pytorch", reference)?;
    for result in &results {
        let language = result["lang"].as_str().unwrap_or("?");
        print_row(language, result)?;
        if number(result, "test_accuracy")? < LEAST_ACCURACY {
            faults.push(format!("{language}: test accuracy below {LEAST_ACCURACY}"));
        }
        for loss in LOSSES {
            let value = number(result, loss)?;
            let mut compare = |other: &str, with: f64, tolerance: f64| {
                if (value - with).abs() > tolerance {
                    faults.push(format!("{language}: {loss} is {value}, {other} has {with} (tolerance {tolerance})"));
                }
            };
            compare("pytorch", number(reference, loss)?, FROM_PYTORCH);
            compare(results[0]["lang"].as_str().unwrap_or("?"), number(&results[0], loss)?, AMONG_LANGUAGES);
        }
    }
    Ok(faults)
}

fn print_row(name: &str, result: &Value) -> Result<(), String> {
    println!(
        "{name:8} {:>13.5} {:>12.7} {:>12.7} {:>13}",
        number(result, "test_accuracy")?,
        number(result, LOSSES[0])?,
        number(result, LOSSES[1])?,
        result["train_seconds"].as_f64().map_or("-".to_string(), |seconds| format!("{seconds:.2}")),
    );
    Ok(())
}

fn number(result: &Value, name: &str) -> Result<f64, String> {
    result[name].as_f64().ok_or_else(|| format!("no number {name:?} in {result}"))
}

fn last_line(file: &str) -> Result<Value, String> {
    let text = read(file)?;
    parse(file, text.trim_end().lines().next_back().unwrap_or_default())
}

fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))
}

fn parse(file: &str, text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{file}: {error}"))
}
