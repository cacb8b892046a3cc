//! The command-line tool `rushlight`.
//!
//! Its commands are `inspect`, `run`, `convert`, `verify` and `bench`. `script` describes saved models; `model` is a file of tensors in any format (`npz` is
//! NumPy's), `summary` the statistics of a tensor's values, `profile` an option of commands that run operators; strings from files are printed through `plain`.

mod bench;
mod convert;
mod inspect;
mod model;
mod npz;
mod plain;
mod profile;
mod run;
mod script;
mod summary;
mod verify;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// Inspects model files, runs them (TorchScript), converts them (PyTorch's .pt, safetensors, NumPy's .npy and .npz),
/// verifies an installation, measures it.
///
/// Nothing in a file is executed, but by `run`.
#[derive(Parser)]
#[command(name = "rushlight", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the contents of files: names, dtypes, shapes, sizes.
    Inspect(inspect::Inspect),
    /// Calls a method of a saved model (TorchScript).
    Run(run::Run),
    /// Writes the tensors of a file in another format.
    Convert(convert::Convert),
    /// Runs recorded cases of PyTorch against the installed library.
    Verify(verify::Verify),
    /// Measures a few operators on this machine.
    Bench(bench::Bench),
}

fn main() -> ExitCode {
    let mut out = std::io::stdout().lock();
    let result = match Arguments::parse().command {
        Command::Inspect(command) => command.run(&mut out),
        Command::Run(command) => command.run(&mut out),
        Command::Convert(command) => command.run(&mut out),
        Command::Verify(command) => command.run(&mut out),
        Command::Bench(command) => command.run(&mut out),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it (`| head`).
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error is closed, so nothing can be reported.
            let _ = writeln!(std::io::stderr(), "rushlight: {}", plain::plain(format_args!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
