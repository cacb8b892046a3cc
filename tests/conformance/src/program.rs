//! What the runners share as programs: their exit status, and their progress.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

/// The exit status of a run: 0 if it passed, 1 if not, and 2 with the error on standard error if it could not run.
pub fn exit_code(passed: Result<bool, String>) -> ExitCode {
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // If standard error is closed, nothing can be reported.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

/// A line with the number of steps that are done and a message. Shown only if standard error is a terminal.
pub fn progress(steps: usize) -> Result<ProgressBar, String> {
    let style = ProgressStyle::with_template("{pos} of {len}  {msg}").map_err(|error| error.to_string())?;
    let bar = ProgressBar::new(steps as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    Ok(bar)
}
