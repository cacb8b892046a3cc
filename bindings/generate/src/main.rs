//! `generate` writes the generated files that no build script writes, from the declarations in `core/schema/ops` and
//! the sources of `capi`: the C and C++ headers, which are checked in, and, below `build/generated` and Maven's folders
//! of generated sources, everything that tests, documents, packages and Java read. `generate --check` fails if a
//! checked-in file is stale.

mod code;
mod count;
mod coverage;
mod csharp;
mod features;
mod headers;
mod output;
mod parts;
mod report;
#[cfg(test)]
mod tests;

use clap::Parser;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Writes the generated files from the declarations in core/schema/ops")]
struct Arguments {
    /// Write what tests, documents and packages read, to --out
    #[arg(long)]
    build: bool,
    /// Write Java's sources, to Maven's folders of generated sources
    #[arg(long)]
    java: bool,
    /// Write the headers, which are checked in as the record of the interface
    #[arg(long)]
    headers: bool,
    /// Write a formatted copy of the code that build scripts write, to --out, for reading
    #[arg(long)]
    rust: bool,
    /// Write nothing; fail if a checked-in file is stale
    #[arg(long)]
    check: bool,
    /// Write nothing; print how many generated lines and bytes there are for each form of an operator, and fail if there are
    /// too many
    #[arg(long)]
    count: bool,
    /// With --count: a library that is not stripped, of which the machine code is counted too
    #[arg(long)]
    library: Option<PathBuf>,
    /// Write nothing; print which of PyTorch's operators there are, and why others are missing
    #[arg(long)]
    coverage: bool,
    /// With --coverage: name each missing operator
    #[arg(long)]
    missing: bool,
    /// Print every operator that is an exception, with its reason, not only how many there are
    #[arg(long)]
    exceptions: bool,
    /// Root of the repository
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// Folder of --build and --rust [default: build/generated below the root]
    #[arg(long)]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    let (text, code) = match run(&Arguments::parse()) {
        Ok(text) => (text, ExitCode::SUCCESS),
        Err(text) => (text, ExitCode::FAILURE),
    };
    // A closed pipe is no failure: the files are written.
    let _ = writeln!(std::io::stderr(), "{text}");
    code
}

fn run(arguments: &Arguments) -> Result<String, String> {
    let root = &arguments.root;
    let families = opgen::load().map_err(|problems| problems.join("\n"))?;
    let problems = features::check(root, &families);
    if !problems.is_empty() {
        return Err(problems.join("\n"));
    }
    let counts = report::counts(&families, arguments.exceptions);
    let out = arguments.out.clone().unwrap_or_else(|| root.join("build/generated"));
    if arguments.check {
        let stale = output::stale(&output::headers(root, &families)?)?;
        if !stale.is_empty() {
            let list = stale.join("\n  ");
            return Err(format!("these checked-in files are stale; run `make headers` and commit them:\n  {list}"));
        }
        return Ok(format!("{counts}; the checked-in headers are up to date"));
    }
    if arguments.count {
        return count::table(root, &families, arguments.library.as_deref());
    }
    if arguments.coverage {
        return coverage::report(root, &families, arguments.missing);
    }
    let mut sets = Vec::new();
    if arguments.build {
        sets.push(output::build(root, &out, &families)?);
    }
    if arguments.java {
        sets.extend(output::java(root, &families)?);
    }
    if arguments.headers {
        sets.push(output::headers(root, &families)?);
    }
    if arguments.rust {
        sets.push(output::rust(root, &out.join("rust"), &families)?);
    }
    let mut changed = 0;
    for set in &sets {
        changed += output::write(set)?;
    }
    let files: usize = sets.iter().map(|set| set.files.len()).sum();
    Ok(format!("{counts}; {files} files, {changed} of them changed"))
}
