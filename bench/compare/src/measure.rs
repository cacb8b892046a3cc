//! Runs the benchmark programs: per round, group and number of threads one process per library, in an order that changes from round
//! to round.

use crate::machine::{self, Spent};
use crate::record::{Case, Contender, Copy, Limits, Line, Measured, Record, Setting, median};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Number of processors that other programs may keep busy during a process without a warning.
const BUSY: f64 = 0.1;

#[derive(Args)]
pub struct Plan {
    /// The program that is built with Rushlight.
    #[arg(long)]
    rushlight: PathBuf,
    /// The program built with libtorch; without it there are no ratios.
    #[arg(long)]
    libtorch: Option<PathBuf>,
    /// `NAME=value` in the environment of the program built with libtorch; may be given several times.
    #[arg(long, value_parser = assignment)]
    libtorch_env: Vec<(String, String)>,
    /// The program that measures the machine.
    #[arg(long)]
    machine: PathBuf,
    /// Cases whose `group/name/size` matches this regular expression.
    #[arg(long, default_value = "")]
    only: String,
    /// Processes per library, group and number of threads.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
}

/// The program, and the variables in its environment.
#[derive(Clone, Copy)]
struct Program<'a> {
    path: &'a Path,
    env: &'a [(String, String)],
}

impl<'a> Program<'a> {
    fn bare(path: &'a Path) -> Self {
        Program { path, env: &[] }
    }
}

impl Plan {
    fn libtorch(&self) -> Option<Program<'_>> {
        self.libtorch.as_deref().map(|path| Program { path, env: &self.libtorch_env })
    }
}

/// A variable and its value.
fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err(format!("{text:?} is not NAME=value")),
    }
}

/// Measures. `keep` receives the data after every round.
pub fn run(plan: &Plan, keep: impl Fn(&Record) -> Result<()>) -> Result<Record> {
    ensure!(plan.rounds > 0 && !plan.threads.contains(&0), "no rounds, or no threads");
    let mut programs = vec![(Contender::Rushlight, Program::bare(&plan.rushlight))];
    programs.extend(plan.libtorch().map(|program| (Contender::Libtorch, program)));

    let load = machine::load();
    let spent = Spent::now();
    let mut cases = Vec::new();
    start(Program::bare(&plan.rushlight), &["--list", "--only", &plan.only], 1, |line: Line| cases.push(line.case))?;
    ensure!(!cases.is_empty(), "no case matches {:?}", plan.only);
    let mut groups: Vec<&str> = cases.iter().map(|case| case.group.as_str()).collect();
    groups.dedup();

    let mut record = Record {
        setting: setting(plan, load)?,
        limits: Vec::new(),
        cases: cases.iter().map(|case| Measured { case: case.clone(), figures: Vec::new() }).collect(),
    };
    let mut limits: Vec<Vec<Limits>> = vec![Vec::new(); plan.threads.len()];
    let bar = progress(cases.len() * programs.len() * plan.threads.len() * plan.rounds);
    for round in 0..plan.rounds {
        for (at, &threads) in plan.threads.iter().enumerate() {
            bar.set_message(format!("round {}: the machine, threads: {threads}", round + 1));
            start(Program::bare(&plan.machine), &[&threads.to_string()], threads, |line| limits[at].push(line))?;
            for group in &groups {
                for &(contender, program) in &programs {
                    bar.set_message(format!("round {}: {group}, {}, threads: {threads}", round + 1, contender.name()));
                    let threads_text = threads.to_string();
                    let mut arguments = vec!["--group", group, "--only", &plan.only, "--threads", &threads_text];
                    if round == 0 {
                        arguments.push("--check");
                    }
                    let before = Spent::now();
                    start(program, &arguments, threads, |line: Line| {
                        bar.inc(1);
                        enter(&mut record, contender, threads, line);
                    })?;
                    if before.others() > BUSY {
                        // The bar is locked while it is suspended: query it first.
                        let (others, message) = (before.others(), bar.message());
                        bar.suspend(|| eprintln!("{message}: other programs kept {others:.2} processors busy"));
                    }
                }
            }
        }
        programs.reverse();
        record.limits = limits.iter().filter_map(|rounds| middle(rounds)).collect();
        record.setting.others = spent.others();
        keep(&record)?;
    }
    bar.finish_and_clear();
    Ok(record)
}

fn progress(steps: usize) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} [{elapsed}] {msg}") {
        bar.set_style(style);
    }
    bar
}

fn setting(plan: &Plan, load: f64) -> Result<Setting> {
    #[derive(serde::Deserialize)]
    struct Version {
        torch: String,
        compiler: String,
    }
    let mut compiler = String::new();
    start(Program::bare(&plan.rushlight), &["--version"], 1, |version: Version| compiler = version.compiler)?;
    let mut libtorch = None;
    if let Some(program) = plan.libtorch() {
        start(program, &["--version"], 1, |version: Version| libtorch = Some(version.torch))?;
    }
    Ok(Setting {
        date: machine::date(),
        commit: machine::commit(),
        cpu: machine::cpu(),
        cores: machine::cores(),
        system: machine::system(),
        compiler,
        rushlight: env!("CARGO_PKG_VERSION").to_string(),
        libtorch,
        libtorch_env: plan.libtorch_env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        rounds: plan.rounds,
        load,
        others: 0.0,
    })
}

fn enter(record: &mut Record, contender: Contender, threads: usize, line: Line) {
    let same =
        |case: &Case| (&case.group, &case.name, &case.size) == (&line.case.group, &line.case.name, &line.case.size);
    let Some(measured) = record.cases.iter_mut().find(|measured| same(&measured.case)) else { return };
    let figure = measured.figure_mut(contender, threads);
    figure.rounds.extend(line.ns);
    figure.checksum = figure.checksum.or(line.checksum);
    figure.missing = line.missing;
    figure.failed = line.failed;
}

/// Each rate's median.
fn middle(rounds: &[Limits]) -> Option<Limits> {
    let first = rounds.first()?;
    let of = |rate: &dyn Fn(&Limits) -> f64| median(&rounds.iter().map(rate).collect::<Vec<_>>()).unwrap_or_default();
    let copies = first.copies.iter().enumerate();
    Some(Limits {
        threads: first.threads,
        compiler: first.compiler.clone(),
        fma_f32: of(&|limits| limits.fma_f32),
        fma_f64: of(&|limits| limits.fma_f64),
        copies: copies
            .map(|(at, copy)| Copy { bytes: copy.bytes, rate: of(&|limits| limits.copies[at].rate) })
            .collect(),
    })
}

/// Runs a program to its end and passes each line of its output on.
fn start<T: DeserializeOwned>(
    program: Program,
    arguments: &[&str],
    threads: usize,
    mut each: impl FnMut(T),
) -> Result<()> {
    let name = || format!("{} {}", program.path.display(), arguments.join(" "));
    let mut child = Command::new(program.path)
        .args(arguments)
        .envs(program.env.iter().map(|(name, value)| (name, value)))
        .env("OMP_NUM_THREADS", threads.to_string())
        .env("MKL_NUM_THREADS", threads.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(name)?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.with_context(name)?;
            each(serde_json::from_str(&line).with_context(|| format!("{}: {line}", name()))?);
        }
    }
    let status = child.wait().with_context(name)?;
    // 1 means that a case failed, which its line has reported.
    match status.code() {
        Some(0 | 1) => Ok(()),
        _ => bail!("{}: {status}", name()),
    }
}
