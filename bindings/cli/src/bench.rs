//! `rushlight bench`: measures a few operators on this machine.

use crate::profile::Profiling;
use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use rushlight_base::{Scalar, runtime};
use rushlight_tensor::observe::{self, Described, Scope};
use rushlight_tensor::{Options, Tensor, manual_seed, ops};
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};

/// How many seconds each case is repeated.
const BUDGET: Duration = Duration::from_millis(300);

/// How often each case is called while it is recorded.
const RECORDED: usize = 10;

/// Measures a small call, memory-bound and compute-bound operators. Other running programs distort the results.
#[derive(clap::Args)]
pub struct Bench {
    /// Number of threads; default: one, and all processors.
    #[arg(long)]
    threads: Option<i64>,
    #[command(flatten)]
    profiling: Profiling,
}

/// A case, and the amount of its unit per call.
struct Case {
    name: &'static str,
    unit: &'static str,
    amount: f64,
    call: Box<dyn Fn() -> rushlight_base::Result<Tensor>>,
}

impl Bench {
    /// Runs the command.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        let all = runtime::num_threads() as i64;
        let counts = match self.threads {
            Some(count) => vec![count],
            None if all > 1 => vec![1, all],
            None => vec![1],
        };
        let cases = cases()?;
        if self.profiling.is_on() {
            runtime::set_num_threads(self.threads.unwrap_or(all))?;
            return self.profiling.run(out, || cases.iter().try_for_each(record))?;
        }
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let threads = |count: &i64| if *count == 1 { "1 thread".to_owned() } else { format!("{count} threads") };
        table.set_header(["operator".to_owned(), "unit".to_owned()].into_iter().chain(counts.iter().map(threads)));
        for case in &cases {
            let mut row = vec![case.name.to_owned(), case.unit.to_owned()];
            for &count in &counts {
                runtime::set_num_threads(count)?;
                let seconds = median(&case.call)?;
                // Nanoseconds per call, or billions of bytes or operations per second.
                row.push(if case.amount == 0.0 {
                    format!("{:.0}", seconds * 1e9)
                } else {
                    format!("{:.1}", case.amount / seconds / 1e9)
                });
            }
            table.add_row(row);
        }
        for column in table.column_iter_mut().skip(2) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        writeln!(out, "rushlight {}, {}", env!("CARGO_PKG_VERSION"), rushlight_cpu::simd::level().name())?;
        for line in table.lines() {
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn cases() -> Result<Vec<Case>> {
    manual_seed(0);
    let random = |sizes: &[i64]| ops::randn(sizes, Options::default());
    let (small, large) = (random(&[4])?, random(&[4_000_000])?);
    let (rows, square) = (random(&[1000, 1000])?, random(&[1024, 1024])?);
    let (image, kernel) = (random(&[8, 64, 56, 56])?, random(&[64, 64, 3, 3])?);
    let other = large.clone();
    let case =
        |name, unit, amount, call: Box<dyn Fn() -> rushlight_base::Result<Tensor>>| Case { name, unit, amount, call };
    Ok(vec![
        case("add, 4 floats", "ns", 0.0, Box::new(move || ops::add_tensor(&small, &small, Scalar::Int(1)))),
        case("add, 4 million floats", "GB/s", 48e6, Box::new(move || ops::add_tensor(&large, &large, Scalar::Int(1)))),
        case("sum, 4 million floats", "GB/s", 16e6, Box::new(move || ops::sum(&other, None))),
        case("softmax, 1000 rows of 1000", "GB/s", 8e6, Box::new(move || ops::softmax_int(&rows, -1, None))),
        case("matmul, 1024 x 1024", "GFLOP/s", 2.0 * 1024f64.powi(3), Box::new(move || ops::matmul(&square, &square))),
        case(
            "conv2d 3x3, 8 x 64 x 56 x 56",
            "GFLOP/s",
            2.0 * 8.0 * 64.0 * 64.0 * 9.0 * 56.0 * 56.0,
            Box::new(move || ops::conv2d(&image, &kernel, None, &[1, 1], &[1, 1], &[1, 1], 1)),
        ),
    ])
}

/// Calls a case as a range of its name.
fn record(case: &Case) -> Result<()> {
    let _range = observe::begin(Scope::User, Described { name: case.name.to_owned(), ..Described::default() });
    for _ in 0..RECORDED {
        black_box((case.call)()?);
    }
    Ok(())
}

/// The median time of a call, in seconds. Calls that are too short for the clock are timed by the hundred.
fn median(call: &dyn Fn() -> rushlight_base::Result<Tensor>) -> Result<f64> {
    let started = Instant::now();
    black_box(call()?);
    let together = if started.elapsed() < Duration::from_micros(20) { 100 } else { 1 };
    let mut times = Vec::new();
    let started = Instant::now();
    while times.len() < 3 || started.elapsed() < BUDGET {
        let start = Instant::now();
        for _ in 0..together {
            black_box(call()?);
        }
        times.push(start.elapsed().as_secs_f64() / f64::from(together));
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
