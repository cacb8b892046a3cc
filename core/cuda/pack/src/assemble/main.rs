//! `assemble-kernels --ptxas FILE [--archs "75 80"] [--jobs N] [FOLDER]`: assembles every module of the checked-in kernels
//! with NVIDIA's assembler, as the driver would, for each architecture that the module serves. Fails for an error, a
//! warning, and for local memory that `local_memory.txt` does not explain. `make check-cuda` runs it.

mod allowed;
mod modules;
mod output;
mod table;

use allowed::Allowed;
use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use modules::{Arch, Module};
use output::Report;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// One of each generation, and those with instructions of their own. A later architecture runs what an earlier one of its
/// generation does.
const ARCHS: &str = "75 80 86 90 90a 120";

/// Lines of errors that are printed.
const MOST_LINES: usize = 40;

struct Options {
    ptxas: PathBuf,
    archs: Vec<Arch>,
    /// Whether these are all architectures, so that unneeded lines of the list are found.
    is_complete: bool,
    jobs: usize,
    folder: PathBuf,
}

fn options() -> Result<Options> {
    let mut options = Options {
        ptxas: PathBuf::new(),
        archs: Vec::new(),
        is_complete: true,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx"),
    };
    let mut archs = ARCHS.to_string();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if !arg.starts_with("--") {
            options.folder = arg.into();
            continue;
        }
        let value = args.next().with_context(|| format!("{arg} needs a value"))?;
        match arg.as_str() {
            "--ptxas" => options.ptxas = value.into(),
            "--archs" => {
                options.is_complete = false;
                archs = value;
            }
            "--jobs" => options.jobs = value.parse().with_context(|| format!("--jobs {value}"))?,
            _ => bail!("usage: assemble-kernels --ptxas FILE [--archs \"75 80\"] [--jobs N] [FOLDER]"),
        }
    }
    ensure!(!options.ptxas.as_os_str().is_empty(), "--ptxas FILE is needed: NVIDIA's assembler");
    options.archs = archs.split_whitespace().map(Arch::parse).collect::<Result<_>>()?;
    ensure!(!options.archs.is_empty(), "--archs names no architecture");
    Ok(options)
}

fn main() -> ExitCode {
    match all() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Standard error is closed, so nothing can be reported.
            let _ = writeln!(std::io::stderr(), "{error:#}");
            ExitCode::from(2)
        }
    }
}

/// Assembles a module with `ptxas`, in a file that is overwritten.
fn assembled(ptxas: &Path, file: &Path, module: &Module, arch: &Arch) -> Result<Report> {
    std::fs::write(file, &module.text).with_context(|| format!("cannot write {}", file.display()))?;
    let output = Command::new(ptxas)
        .args(["--verbose", "--gpu-name", &arch.to_string(), "--output-file", "/dev/null"])
        .arg(file)
        .output()
        .with_context(|| format!("cannot run {}", ptxas.display()))?;
    let text = [output.stdout, output.stderr].concat();
    Report::read(&String::from_utf8_lossy(&text), output.status.success())
}

/// The reports of all pairs of a module and an architecture, in their order.
fn reports(options: &Options, pairs: &[(&Module, &Arch)]) -> Result<Vec<Report>> {
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} modules, {eta} left")?;
    // Shown only if standard error is a terminal.
    let bar = ProgressBar::new(pairs.len() as u64).with_style(style);
    bar.enable_steady_tick(Duration::from_millis(250));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(pairs.len())));
    let work = || -> Result<()> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let file = folder.path().join("kernel.ptx");
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((module, arch)) = pairs.get(at) else { return Ok(()) };
            let report = assembled(&options.ptxas, &file, module, arch)
                .with_context(|| format!("{} for {arch}", module.name()))?;
            found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, report));
            bar.inc(1);
        }
    };
    std::thread::scope(|scope| -> Result<()> {
        let threads: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    let mut found = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    Ok(found.into_iter().map(|(_, report)| report).collect())
}

fn all() -> Result<bool> {
    let (options, start) = (options()?, Instant::now());
    let mut allowed = Allowed::parse(include_str!("../../local_memory.txt"))?;
    let modules = modules::read(&options.folder)?;
    let pairs: Vec<(&Module, &Arch)> = options
        .archs
        .iter()
        .flat_map(|arch| modules.iter().map(move |module| (module, arch)))
        .filter(|(module, arch)| arch.runs(&module.target))
        .collect();
    let served = |module: &Module| pairs.iter().any(|(other, _)| std::ptr::eq(*other, module));
    let unserved: Vec<String> = modules.iter().filter(|module| !served(module)).map(Module::name).collect();
    let reports = reports(&options, &pairs)?;
    let mut problems = Vec::new();
    for ((module, arch), report) in pairs.iter().zip(&reports) {
        problems.extend(report.problems.iter().map(|line| format!("{} for {arch}: {line}", module.name())));
        problems.extend(allowed.check(module, report).map(|line| format!("{} for {arch}: {line}", module.name())));
    }
    if options.is_complete {
        problems.extend(unserved.iter().map(|name| format!("{name}: no architecture of the list runs this module")));
        problems.extend(allowed.unneeded());
    }
    let mut out = std::io::stdout().lock();
    write!(out, "{}", table::summary(&pairs, &reports))?;
    for line in problems.iter().take(MOST_LINES) {
        writeln!(out, "{line}")?;
    }
    if problems.len() > MOST_LINES {
        writeln!(out, "... and {} more", problems.len() - MOST_LINES)?;
    }
    writeln!(
        out,
        "{} modules, {} assembled for {}, {} problems, in {:.0} s with {} jobs",
        modules.len(),
        pairs.len(),
        options.archs.iter().map(Arch::to_string).collect::<Vec<_>>().join(" "),
        problems.len(),
        start.elapsed().as_secs_f64(),
        options.jobs
    )?;
    Ok(problems.is_empty())
}
