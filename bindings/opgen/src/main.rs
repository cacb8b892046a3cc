//! `opgen` writes every face of every operator from the declarations in `core/schema/ops`; `opgen --check` fails
//! if a checked-in file is not what it would write. The declarations' format is described in ARCHITECTURE.md.

mod emit;
mod example;
mod face;
mod features;
mod formula;
mod kinds;
mod load;
mod model;
mod names;
mod output;
mod report;
#[cfg(test)]
mod tests;
mod types;

use clap::Parser;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Writes every face of every operator from the declarations in core/schema/ops")]
struct Arguments {
    /// Write nothing; fail if a checked-in file is stale
    #[arg(long)]
    check: bool,
    /// Print every operator that is an exception, with its reason, not only how many there are
    #[arg(long)]
    exceptions: bool,
    /// Root of the repository
    #[arg(long, default_value = ".")]
    root: PathBuf,
}

fn main() -> ExitCode {
    let (text, code) = match run(&Arguments::parse()) {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(text) => (text, ExitCode::FAILURE),
    };
    // A closed pipe is no reason to fail: the files are written.
    let _ = writeln!(std::io::stderr(), "{text}");
    code
}

fn run(arguments: &Arguments) -> Result<String, String> {
    let root = &arguments.root;
    let families = load::load(root).map_err(|problems| problems.join("\n"))?;
    let files = output::generate(root, emit::ALL, &families)?;
    if arguments.check {
        let stale = output::stale(root, emit::ALL, &files)?;
        if !stale.is_empty() {
            let list = stale.join("\n  ");
            return Err(format!("these generated files are stale; run `make opgen` and commit them:\n  {list}"));
        }
        return Ok(format!(
            "{}; {} files are up to date",
            report::counts(&families, arguments.exceptions),
            files.len()
        ));
    }
    let written = output::write(root, emit::ALL, &files)?;
    let counts = report::counts(&families, arguments.exceptions);
    Ok(format!("{counts}; {} files, {} of them changed", files.len(), written.len()))
}
