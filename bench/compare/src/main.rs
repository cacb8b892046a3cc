//! The driver of `make compare`: runs the benchmark programs built with Rushlight and with libtorch alternately, and
//! reports. bench/README.md describes what is measured and how.
//!
//! `measure` runs the programs, `record` is the data of a run (the JSON file), `bars` the limits, `report`
//! computes the figures and writes the tables.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that reports to a terminal")]

mod bars;
mod machine;
mod measure;
mod record;
mod report;

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};
use record::Record;
use std::path::{Path, PathBuf};
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
    /// Reports recorded measurements. If a case is in several files, the last one counts.
    Report {
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args)]
struct Output {
    /// Also writes the report into this file. The figures must be of a commit, without changes of the work tree.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// Only geometric means, missed bars and missing cases.
    #[arg(long)]
    summary: bool,
    /// Fails if a bar is missed.
    #[arg(long)]
    strict: bool,
}

fn main() -> Result<ExitCode> {
    let (records, output) = match Arguments::parse().command {
        Action::Run { plan, json, output } => {
            // Checked before the figures are measured, which takes long.
            if let Some(path) = &output.markdown {
                belongs_to_a_commit(&machine::commit(), path)?;
            }
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
        for record in &records {
            belongs_to_a_commit(&record.setting.commit, &path)?;
        }
        std::fs::write(&path, report.document()).with_context(|| path.display().to_string())?;
    }
    Ok(if output.strict && !report.all_met() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Fails for figures that cannot be measured again, because no commit has the measured code.
fn belongs_to_a_commit(commit: &str, results: &Path) -> Result<()> {
    let results = results.display();
    ensure!(
        !commit.ends_with("-dirty"),
        "{results} is not written: the figures are of {commit}, a work tree with changes; commit them and measure again"
    );
    ensure!(commit != machine::UNKNOWN, "{results} is not written: the figures are of no commit (git describe failed)");
    Ok(())
}
