//! Compares the digits programs with each other and with PyTorch.
//!
//! `demo-check REFERENCE OUT`: `OUT` has a folder for each language with the results of `examples/digits/run.sh`,
//! `REFERENCE` has PyTorch's recorded results. Prints a table; the exit status is 1 if a bar is missed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to a terminal")]

use rushlight_checks::demo::{self, AMONG_LANGUAGES, FROM_PYTORCH, LEAST_ACCURACY, OF_LARGEST_LOGIT, Run};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [reference, out] = &arguments[..] else {
        eprintln!("usage: demo-check REFERENCE OUT");
        return ExitCode::from(2);
    };
    match check(Path::new(reference), Path::new(out)) {
        Ok(faults) if faults.is_empty() => {
            println!(
                "\ndemo: accuracy >= {LEAST_ACCURACY}; all losses equal to {AMONG_LANGUAGES:e} among languages, to {FROM_PYTORCH:e} with \
                 PyTorch; logits of\nloaded models equal to {OF_LARGEST_LOGIT:e} of the largest; the same pictures: \
                 {out}/*/{{curves,confusion}}.svg"
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

/// Describes failures; `Err` if something cannot be read.
fn check(reference: &Path, out: &Path) -> Result<Vec<String>, String> {
    let pytorch = Run::recorded(reference)?;
    let runs = demo::LANGUAGES.iter().map(|name| Run::of(name, out)).collect::<Result<Vec<_>, _>>()?;
    let mut faults = print_training(&pytorch, &runs)?;
    println!();
    faults.extend(print_exchange(&pytorch, &runs)?);
    for run in &runs[1..] {
        faults.extend(demo::compare_pictures(&runs[0], run)?);
    }
    Ok(faults)
}

fn print_training(pytorch: &Run, runs: &[Run]) -> Result<Vec<String>, String> {
    println!("trained by  test accuracy  first loss   last loss  losses off C's  off PyTorch's  train seconds");
    let mut faults = Vec::new();
    for run in std::iter::once(pytorch).chain(runs) {
        let (from_c, from_pytorch) = (demo::loss_gap(run, &runs[0])?, demo::loss_gap(run, pytorch)?);
        println!(
            "{:10}  {:13.4}  {:10.7}  {:10.7}  {:>14}  {:>13}  {:>13}",
            run.name,
            run.accuracy,
            run.losses[0],
            run.losses[run.losses.len() - 1],
            gap(from_c),
            gap(from_pytorch),
            run.train_seconds.map_or("-".to_string(), |seconds| format!("{seconds:.2}")),
        );
        faults.extend(demo::training_faults(run, from_c, from_pytorch));
    }
    Ok(faults)
}

fn print_exchange(pytorch: &Run, runs: &[Run]) -> Result<Vec<String>, String> {
    println!("accuracy and largest difference of a logit from those of the program that wrote the model");
    print!("{:24}", "model");
    runs.iter().for_each(|run| print!("{:>20}", format!("read by {}", run.name)));
    println!();
    let mut faults = Vec::new();
    for writer in std::iter::once(pytorch).chain(runs) {
        for model in &writer.models {
            print!("{:24}", format!("{} {}", writer.name, model.file_name().unwrap_or_default().display()));
            for reader in runs {
                let cell = if reader.name == writer.name {
                    "-".to_string()
                } else {
                    let exchange = demo::exchange(writer, model, reader)?;
                    faults.extend(exchange.faults);
                    format!("{:.4} {:>7}", exchange.accuracy, gap(exchange.gap))
                };
                print!("{cell:>20}");
            }
            println!();
        }
    }
    Ok(faults)
}

fn gap(value: f64) -> String {
    if value == 0.0 { "0".to_string() } else { format!("{value:.1e}") }
}
