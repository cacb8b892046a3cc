//! `rushlight verify`: compares the results of the library here with PyTorch's.

use crate::plain::plain;
use anyhow::{Context, Result, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};
use rushlight_conformance::cases::{self, Case};
use rushlight_conformance::door::Door;
use rushlight_conformance::pack;
use rushlight_conformance::suite::{contents, tally};
use std::io::Write;
use std::path::PathBuf;

// The cases of the project's own tests, an archive for each family of operators: `OWN`. `build.rs` lists them.
include!(concat!(env!("OUT_DIR"), "/golden.rs"));

/// Calls every operator by name through the library's C functions with the recorded arguments of PyTorch 2.7.1, and
/// compares results and gradients.
#[derive(clap::Args)]
pub struct Verify {
    /// Folders or files of golden cases; default: those of the project's own tests.
    golden: Vec<PathBuf>,
    /// The library; default: that of the installation.
    #[arg(long)]
    library: Option<PathBuf>,
    /// Only operators whose name contains this.
    #[arg(long, default_value = "")]
    op: String,
}

impl Verify {
    /// Runs the command.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        let library = self.library.clone().map_or_else(installed, Ok)?;
        let door = Door::open(&library).map_err(|error| anyhow!(error))?;
        writeln!(out, "{}, {}", library.display(), rushlight_cpu::simd::level().name())?;
        let operators: Vec<(String, Vec<Case>)> = self.operators()?;
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} operators  {msg}")?;
        let progress = ProgressBar::new(operators.len() as u64).with_style(style);
        let (mut passed, mut failed, mut excused, mut skipped) = (0, Vec::new(), 0, 0);
        for (op, cases) in operators {
            progress.set_message(plain(&op));
            let tally = tally(&door, None, op, &cases);
            passed += tally.passed;
            excused += tally.excused.len();
            skipped += tally.skipped;
            failed.extend(tally.failed.into_iter().map(|(at, reason)| format!("{}, case {at}: {reason}", tally.op)));
            progress.inc(1);
        }
        progress.finish_and_clear();
        for line in &failed {
            writeln!(out, "{}", plain(line))?;
        }
        let count = failed.len();
        writeln!(
            out,
            "{passed} passed, {count} failed, {skipped} skipped (not in this library), {excused} differ as documented"
        )?;
        if count > 0 {
            bail!("{count} cases differ from PyTorch");
        }
        if passed == 0 {
            bail!("no case was run");
        }
        Ok(())
    }

    fn operators(&self) -> Result<Vec<(String, Vec<Case>)>> {
        let mut files = Vec::new();
        for path in &self.golden {
            files.extend(contents(path).map_err(|error| anyhow!(error))?);
        }
        if self.golden.is_empty() {
            for archive in OWN {
                files
                    .extend(pack::unpack(archive).map_err(|error| anyhow!(error))?.into_iter().map(|(_, bytes)| bytes));
            }
        }
        let mut operators = Vec::new();
        for bytes in files {
            operators.extend(cases::by_operator(cases::read(&bytes)?));
        }
        operators.retain(|(op, _)| op.contains(&self.op));
        Ok(operators)
    }
}

/// The library that was installed with this program: in `lib` next to its `bin`.
fn installed() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folders = program.ancestors().skip(1).take(2).flat_map(|folder| [folder.join("lib"), folder.to_owned()]);
    let mut candidates = folders.map(|folder| folder.join("librushlight.so"));
    candidates
        .find(|path| path.exists())
        .with_context(|| format!("no librushlight.so in lib next to {}: pass --library", program.display()))
}
