//! The option `--profile` of commands that run operators.

use anyhow::Result;
use rushlight_tensor::profile::{self, Options, SortBy, Table};
use std::io::Write;
use std::path::PathBuf;

/// Records the operators that a command runs.
#[derive(clap::Args)]
pub struct Profiling {
    /// Prints a table of the operators, with their times, memory and shapes, and writes a trace to FILE, if one is given:
    /// chrome://tracing and Perfetto show it.
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    profile: Option<Option<PathBuf>>,
}

impl Profiling {
    /// Whether operators are to be recorded.
    pub fn is_on(&self) -> bool {
        self.profile.is_some()
    }

    /// Runs `body`. If operators are to be recorded, prints the table and writes the trace, also after an error.
    pub fn run<R>(&self, out: &mut impl Write, body: impl FnOnce() -> R) -> Result<R> {
        let Some(file) = &self.profile else { return Ok(body()) };
        profile::start(Options { shapes: true, memory: true, ..Options::default() })?;
        let result = body();
        let recorded = profile::stop()?;
        let table = Table { sort_by: SortBy::SelfTime, rows: None, by_shape: true };
        write!(out, "{}", recorded.table(table)?)?;
        if let Some(path) = file {
            recorded.save_chrome_trace(path)?;
        }
        Ok(result)
    }
}
