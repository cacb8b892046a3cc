//! `conformance [DIR or FILE]... [--op NAME] [--json] [--properties] [--device cuda [--at-least N]] [--library FILE]`: runs golden
//! cases (or checks the properties on their inputs), on a device if one is named, prints a line per operator, and at the end how many passed, failed and were skipped
//! because the library has no such operator; before that, how many differ for a stated reason (`exempt.rs`). With
//! `--json` each line is a JSON object.

use rushlight_base::Device;
use rushlight_conformance::door::{Door, built_library};
use rushlight_conformance::program::exit_code;
use rushlight_conformance::properties::Properties;
use rushlight_conformance::suite::{Tally, by_operator, tally};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "usage: conformance [DIR or FILE]... [--op NAME] [--json] [--properties] [--device cuda [--at-least N]] [--library FILE]";

struct Options {
    paths: Vec<PathBuf>,
    op: Option<String>,
    json: bool,
    library: Option<PathBuf>,
    properties: bool,
    device: Option<Device>,
    at_least: usize,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        paths: Vec::new(),
        op: None,
        json: false,
        library: None,
        properties: false,
        device: None,
        at_least: 0,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--op" => options.op = Some(args.next().ok_or("--op needs a name")?),
            "--json" => options.json = true,
            "--properties" => options.properties = true,
            "--device" => {
                let name = args.next().ok_or("--device needs a name")?;
                options.device = Some(Device::parse(&name).map_err(|error| error.message().to_owned())?);
            }
            "--at-least" => {
                let count = args.next().ok_or("--at-least needs a number")?;
                options.at_least = count.parse().map_err(|_| format!("'{count}' is not a number"))?;
            }
            "--library" => options.library = Some(args.next().ok_or("--library needs a file")?.into()),
            option if option.starts_with("--") => return Err(format!("unknown option {option}\n{USAGE}")),
            path => options.paths.push(path.into()),
        }
    }
    if options.paths.is_empty() {
        return Err(USAGE.into());
    }
    Ok(options)
}

fn report(out: &mut impl Write, tally: &Tally, options: &Options) -> std::io::Result<()> {
    let Tally { op, passed, failed, excused, skipped, without_kernel } = tally;
    if options.json {
        let failures: Vec<_> =
            failed.iter().map(|(at, reason)| serde_json::json!({"case": at, "reason": reason})).collect();
        let reasons: Vec<_> =
            excused.iter().map(|(at, reason)| serde_json::json!({"case": at, "reason": reason})).collect();
        let line = serde_json::json!({
            "op": op, "passed": passed, "failed": failures, "excused": reasons, "skipped": skipped,
            "without_kernel": without_kernel.len()
        });
        return writeln!(out, "{line}");
    }
    let missing = match without_kernel.len() {
        0 => String::new(),
        count => format!(", {count} without kernel"),
    };
    writeln!(out, "{op}: {passed} passed, {} failed, {skipped} skipped{missing}", failed.len())?;
    if let Some((_, reason)) = without_kernel.first() {
        writeln!(out, "    {reason}")?;
    }
    for (at, reason) in failed {
        writeln!(out, "    case {at}: {reason}")?;
    }
    for (at, reason) in excused {
        writeln!(out, "    case {at} excused: {reason}")?;
    }
    Ok(())
}

fn main() -> ExitCode {
    exit_code(all())
}

fn all() -> Result<bool, String> {
    let options = options()?;
    let library = options.library.clone().map_or_else(built_library, Ok)?;
    let door = Door::open(&library)?;
    let door = if let Some(device) = options.device { door.on(device) } else { door };
    let properties = if options.properties { Some(Properties::new(&door)?) } else { None };
    let mut out = std::io::stdout().lock();
    let (mut passed, mut failed, mut excused, mut skipped, mut without_kernel) = (0, 0, 0, 0, 0);
    let (mut complete, mut operators) = (0, 0);
    for path in &options.paths {
        for (op, cases) in by_operator(path)? {
            let is_wanted = |wanted: &String| op.split(['.', ':']).nth(2) == Some(wanted) || op == *wanted;
            if !options.op.as_ref().is_none_or(is_wanted) {
                continue;
            }
            let tally = tally(&door, properties.as_ref(), op, &cases);
            report(&mut out, &tally, &options).map_err(|error| error.to_string())?;
            passed += tally.passed;
            failed += tally.failed.len();
            excused += tally.excused.len();
            skipped += tally.skipped;
            without_kernel += tally.without_kernel.len();
            operators += 1;
            complete += usize::from(tally.without_kernel.is_empty());
        }
    }
    let closing = if options.json {
        serde_json::json!({"passed": passed, "failed": failed, "excused": excused, "skipped": skipped}).to_string()
    } else {
        if excused > 0 {
            writeln!(out, "{excused} excused: they differ for the reasons above, and by no more than these explain")
                .map_err(|error| error.to_string())?;
        }
        if options.device.is_some() {
            writeln!(
                out,
                "{without_kernel} without kernel; {complete} of {operators} operators have all their kernels"
            )
            .map_err(|error| error.to_string())?;
        }
        format!("{passed} passed, {failed} failed, {skipped} skipped")
    };
    writeln!(out, "{closing}").map_err(|error| error.to_string())?;
    if complete < options.at_least {
        return Err(format!("only {complete} operators have all their kernels, not {}", options.at_least));
    }
    Ok(failed == 0)
}
