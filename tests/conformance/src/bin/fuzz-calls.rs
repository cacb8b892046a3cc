//! `fuzz-calls [--calls N] [--seed S] [--op NAME] [--library FILE] [--only INDEX]`: random calls of every operator.
//!
//! The calls run in a child process with limited memory, so that a crash or a hang is a finding with a call number;
//! `--only` repeats one call, and `--describe` prints it without running it.

use rushlight_conformance::door::{Door, built_library};
use rushlight_conformance::fuzz::Fuzz;
use rushlight_conformance::program::exit_code;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A call that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);
/// Address space of the child in KiB: a larger allocation fails, as on a small machine.
const MEMORY: u64 = 3 << 20;
/// Maximum number of findings.
const ENOUGH: usize = 200;

struct Options {
    calls: u64,
    seed: u64,
    op: Option<String>,
    library: PathBuf,
    mode: Mode,
}

enum Mode {
    /// Watches a child that makes the calls.
    Parent,
    /// Make the calls from here on, one line for each.
    Child(u64),
    /// Make this call in this process.
    Only(u64),
    /// Print this call.
    Describe(u64),
}

fn options() -> Result<Options, String> {
    let (mut calls, mut seed, mut op, mut library, mut mode) = (10_000, 1, None, None, Mode::Parent);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{arg} {value}: {error}"));
        match arg.as_str() {
            "--calls" => calls = number()?,
            "--seed" => seed = number()?,
            "--op" => op = Some(value),
            "--library" => library = Some(value.into()),
            "--child" => mode = Mode::Child(number()?),
            "--only" => mode = Mode::Only(number()?),
            "--describe" => mode = Mode::Describe(number()?),
            _ => {
                return Err(
                    "usage: fuzz-calls [--calls N] [--seed S] [--op NAME] [--library FILE] [--only INDEX]".into()
                );
            }
        }
    }
    Ok(Options { calls, seed, op, library: library.map_or_else(built_library, Ok)?, mode })
}

fn main() -> ExitCode {
    let findings = options().and_then(|options| run(&options, &mut std::io::stdout()));
    exit_code(findings.map(|count| count == 0))
}

/// Returns the number of findings.
fn run(options: &Options, out: &mut impl Write) -> Result<usize, String> {
    let text = |error: std::io::Error| error.to_string();
    if let Mode::Parent = options.mode {
        std::fs::create_dir_all(folder()).map_err(text)?;
        let findings = watch(options, out);
        std::fs::remove_dir_all(folder()).map_err(text)?;
        return findings;
    }
    let door = Door::open(&options.library)?;
    let fuzz = Fuzz::new(&door, options.seed, options.op.as_deref())?;
    match options.mode {
        Mode::Describe(index) => writeln!(out, "{}", fuzz.describe(index)?).map_err(text)?,
        Mode::Only(index) => {
            writeln!(out, "{}", fuzz.describe(index)?).map_err(text)?;
            fuzz.call(index)?;
        }
        Mode::Child(first) => {
            for index in first..options.calls {
                writeln!(out, "{index}").map_err(text)?;
                if let Err(finding) = fuzz.call(index) {
                    writeln!(out, "! {}", finding.replace('\n', " | ")).map_err(text)?;
                }
            }
            writeln!(out, "end").map_err(text)?;
        }
        Mode::Parent => {}
    }
    Ok(0)
}

/// The working directory of the children.
fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("rushlight-calls-{}", std::process::id()))
}

fn command(options: &Options, mode: &str, index: u64) -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")).arg(program);
    // Operators that write files, such as `from_file`, write them there.
    command.current_dir(folder());
    command.arg(mode).arg(index.to_string());
    command.args(["--calls", &options.calls.to_string(), "--seed", &options.seed.to_string(), "--library"]);
    command.arg(options.library.canonicalize().map_err(|error| error.to_string())?);
    if let Some(op) = &options.op {
        command.args(["--op", op]);
    }
    Ok(command)
}

fn watch(options: &Options, out: &mut impl Write) -> Result<usize, String> {
    let (mut next, mut findings) = (0, 0);
    while next < options.calls && findings < ENOUGH {
        let child = command(options, "--child", next)?.stdout(Stdio::piped()).spawn();
        let stopped = follow(options, child.map_err(|error| error.to_string())?, &mut findings, out)?;
        let Some((index, how)) = stopped else { break };
        report(options, index, &how, out)?;
        findings += 1;
        next = index + 1;
    }
    writeln!(out, "{} calls, {findings} findings, seed {}", options.calls, options.seed)
        .map_err(|error| error.to_string())?;
    Ok(findings)
}

/// Reads the reports of a child; returns the call at which it died or hung, if it did.
fn follow(
    options: &Options,
    mut child: Child,
    findings: &mut usize,
    out: &mut impl Write,
) -> Result<Option<(u64, String)>, String> {
    let stdout = child.stdout.take().ok_or("no output of the child")?;
    let (sender, lines) = channel();
    let reader = std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    let mut index = None;
    let how = loop {
        match lines.recv_timeout(PATIENCE) {
            Ok(line) if line == "end" => break None,
            Ok(line) => match (line.strip_prefix("! "), line.parse()) {
                (Some(finding), _) => {
                    report(options, index.unwrap_or(0), finding, out)?;
                    *findings += 1;
                }
                (None, Ok(number)) => index = Some(number),
                _ => {}
            },
            Err(RecvTimeoutError::Timeout) => {
                child.kill().map_err(|error| error.to_string())?;
                break Some("hangs".to_owned());
            }
            Err(RecvTimeoutError::Disconnected) => break Some(String::new()),
        }
    };
    let status = child.wait().map_err(|error| error.to_string())?;
    // The pipe is closed, so the reader ends; it returns nothing.
    drop(reader.join());
    match (how, index) {
        (None, _) => Ok(None),
        (Some(_), None) => Err(format!("the child ended before its first call: {status}")),
        (Some(how), Some(index)) => Ok(Some((index, if how.is_empty() { format!("dies: {status}") } else { how }))),
    }
}

fn report(options: &Options, index: u64, finding: &str, out: &mut impl Write) -> Result<(), String> {
    let described = command(options, "--describe", index)?.output().map_err(|error| error.to_string())?;
    let call = String::from_utf8_lossy(&described.stdout);
    writeln!(out, "call {index}: {}: {finding}", call.trim()).map_err(|error| error.to_string())
}
