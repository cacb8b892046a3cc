//! The driver of `make compare`: runs the benchmark program that is built with Rushlight and the one that is built with libtorch in
//! turns, and reports. bench/README.md says what is measured and how.
//!
//! `measure` runs the programs, `record` is what is kept of a run (the JSON file), `bars` what issue 3 asks for, `report` computes
//! the figures and writes the tables.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to a terminal")]

mod bars;
mod machine;
mod measure;
mod record;
mod report;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use record::Record;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares Rushlight's speed with libtorch's.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Measures, and reports.
    Run {
        #[command(flatten)]
        plan: measure::Plan,
        /// Keeps the figures of every round in this file; `report` reads it.
        #[arg(long)]
        json: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Reports what was measured before. A case that is in several files counts as in the last of them.
    Report {
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args)]
struct Output {
    /// Writes the report into this file, too.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Only geometric means, missed bars and what is missing.
    #[arg(long)]
    summary: bool,
    /// Fails if a bar is missed.
    #[arg(long)]
    strict: bool,
}

fn main() -> Result<ExitCode> {
    let (records, output) = match Arguments::parse().command {
        Action::Run { plan, json, output } => {
            let keep = |record: &Record| json.as_ref().map_or(Ok(()), |path| record.write(path));
            (vec![measure::run(&plan, keep)?], output)
        }
        Action::Report { files, output } => {
            (files.iter().map(|path| Record::read(path)).collect::<Result<Vec<_>>>()?, output)
        }
    };
    let report = report::Report::new(&records);
    print!("{}", if output.summary { report.summary() } else { report.text() });
    if let Some(path) = output.markdown {
        std::fs::write(&path, report.document()).with_context(|| path.display().to_string())?;
    }
    Ok(if output.strict && !report.all_met() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
