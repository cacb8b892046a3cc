//! `device-bits [--device cuda] [--elements N] [--rounds N] [--no-patterns] [--seed S] [--op NAME] [--library FILE]`:
//! compares the results of every element-wise operator on a device with the CPU's, bit by bit. Prints a line for each
//! operator, and fails if an element has other bits.
//!
//! A thread of a device computes what a lane of AVX2 computes, so the environment must set `RUSHLIGHT_SIMD=avx2`.

use rushlight_base::Device;
use rushlight_conformance::bits::{Bits, Extent, Tally, Used, exempt};
use rushlight_conformance::declared;
use rushlight_conformance::door::{Door, built_library};
use rushlight_conformance::program::{exit_code, progress};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

const USAGE: &str = "usage: device-bits [--device cuda] [--elements N] [--rounds N] [--no-patterns] [--seed S] [--op NAME] \
                     [--library FILE]";

struct Options {
    device: Device,
    extent: Extent,
    op: Option<String>,
    library: Option<PathBuf>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        device: Device::parse("cuda:0").map_err(|error| error.message().to_owned())?,
        extent: Extent { elements: 200, rounds: 2, patterns: true, seed: 1 },
        op: None,
        library: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--no-patterns" {
            options.extent.patterns = false;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{arg} needs a value\n{USAGE}"))?;
        let number = || value.parse::<u64>().map_err(|error| format!("{arg} {value}: {error}"));
        match arg.as_str() {
            "--device" => options.device = Device::parse(&value).map_err(|error| error.message().to_owned())?,
            "--elements" => options.extent.elements = number()? as usize,
            "--rounds" => options.extent.rounds = number()?,
            "--seed" => options.extent.seed = number()?,
            "--op" => options.op = Some(value),
            "--library" => options.library = Some(value.into()),
            _ => return Err(format!("unknown option {arg}\n{USAGE}")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    exit_code(all())
}

/// Whether this processor has the instructions whose bits are promised.
fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn all() -> Result<bool, String> {
    let (options, start) = (options()?, Instant::now());
    let text = |error: std::io::Error| error.to_string();
    let mut out = std::io::stdout().lock();
    if !has_avx2() {
        writeln!(out, "skipped, not proven: this processor has no AVX2 with FMA and F16C").map_err(text)?;
        return Ok(true);
    }
    if std::env::var("RUSHLIGHT_SIMD").as_deref() != Ok("avx2") {
        return Err("RUSHLIGHT_SIMD=avx2 is needed: other instruction sets have other bits".into());
    }
    let door = Door::open(&options.library.clone().map_or_else(built_library, Ok)?)?;
    let bits = Bits::new(&door, options.device, options.extent);
    let mut operators = declared::pointwise();
    let random = operators.iter().filter(|operator| operator.is_random).count();
    operators.retain(|operator| {
        let wanted = options.op.as_ref().is_none_or(|op| operator.name == *op || bare(&operator.name) == op);
        wanted && !operator.is_random
    });
    if operators.is_empty() {
        return Err("there is no such element-wise operator".into());
    }
    let bar = progress(operators.len())?;
    let (mut total, mut failed, mut used) = (Tally::default(), 0, Used::new());
    for operator in &operators {
        bar.set_message(operator.name.clone());
        let tally = bits.operator(operator, &mut used)?;
        bar.suspend(|| report(&mut out, &operator.name, &tally)).map_err(text)?;
        failed += usize::from(!tally.passed());
        total.equal += tally.equal;
        total.different += tally.different;
        total.excused += tally.excused;
        total.calls += tally.calls;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let idle = exemptions(&mut out, &used, options.op.is_none() && options.extent.patterns).map_err(text)?;
    let Tally { equal, different, excused, calls, .. } = total;
    writeln!(
        out,
        "{} operators, {failed} failed ({random} operators of random numbers left out): {calls} calls, {equal} elements \
         equal, {different} different, {excused} excused, in {:.1} s",
        operators.len(),
        start.elapsed().as_secs_f64()
    )
    .map_err(text)?;
    Ok(failed == 0 && idle == 0)
}

/// Prints the exemptions that were needed; of a complete run also those that were not, and returns the number of rules
/// that no result needed.
fn exemptions(out: &mut impl Write, used: &Used, is_complete: bool) -> std::io::Result<usize> {
    let mut idle = 0;
    for (at, rule) in exempt::RULES.iter().enumerate() {
        writeln!(out, "excused, limit {:?}: {}", rule.limit, rule.reason)?;
        for name in rule.operators {
            if let Some(largest) = used.get(&(at, *name)) {
                writeln!(out, "    {name}: at most {largest:.1}")?;
            }
        }
        // An operator may be in several rules.
        let is_unused = |name: &&&str| !used.keys().any(|(_, other)| other == *name);
        let unused: Vec<&str> = rule.operators.iter().filter(is_unused).copied().collect();
        if is_complete && !unused.is_empty() {
            writeln!(out, "    no result of these differs: {}", unused.join(", "))?;
        }
        if is_complete && !used.keys().any(|(rule, _)| *rule == at) {
            writeln!(out, "    the rule is not needed")?;
            idle += 1;
        }
    }
    Ok(idle)
}

/// `add` of `aten::add.Tensor`
fn bare(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name);
    name.split('.').next().unwrap_or(name)
}

fn report(out: &mut impl Write, name: &str, tally: &Tally) -> std::io::Result<()> {
    let Tally { equal, different, excused, calls, rejected, differences } = tally;
    let others = if *excused == 0 { String::new() } else { format!(", {excused} excused") };
    writeln!(out, "{name}: {equal} equal, {different} different{others}; {calls} calls, {rejected} rejected")?;
    if equal + different + excused == 0 {
        writeln!(out, "    nothing was compared")?;
    }
    for line in differences {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}
