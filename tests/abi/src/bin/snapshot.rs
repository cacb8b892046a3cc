//! Compares the C interface with the recorded one: `snapshot <include> <tests/abi/interface.txt> [librushlight.so]`.
//! With `--update` new lines are added; nothing is ever removed or changed.

use rushlight_abi::read;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

const FIRST_LINE: &str = "# The C interface, one line for each thing that a program can rely on. Lines are only ever added:\n\
                          # cargo run -p rushlight-abi --bin snapshot -- include tests/abi/interface.txt --update\n";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(text) => say(&text, ExitCode::SUCCESS),
        Err(text) => say(&text, ExitCode::FAILURE),
    }
}

fn say(text: &str, code: ExitCode) -> ExitCode {
    // A closed pipe changes no result.
    let _ = writeln!(std::io::stderr(), "{text}");
    code
}

fn run(arguments: &[String]) -> Result<String, String> {
    let [include, snapshot, rest @ ..] = arguments else {
        return Err("usage: snapshot <include> <interface.txt> [--update | librushlight.so]".into());
    };
    let interface = read(Path::new(include)).map_err(|error| format!("{include}: {error}"))?;
    let now: BTreeSet<String> = interface.lines().into_iter().collect();
    let update = rest.iter().any(|argument| argument == "--update");
    let before = match fs::read_to_string(snapshot) {
        Ok(text) => text,
        Err(_) if update => String::new(),
        Err(error) => return Err(format!("{snapshot}: {error}")),
    };
    let before: BTreeSet<String> = before.lines().filter(|line| !line.starts_with("# ")).map(String::from).collect();
    let gone: Vec<&String> = before.difference(&now).collect();
    if !gone.is_empty() {
        return Err(format!(
            "the C interface lost or changed what programs rely on. A function is never changed or removed: add one \
             with another name (`_v2`); a struct grows at its end and only if it has a struct_size, and then its line \
             here may be replaced by hand; a constant keeps its number.\n  {}",
            gone.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n  ")
        ));
    }
    let new: Vec<&String> = now.difference(&before).collect();
    if update {
        let lines: Vec<&str> = now.iter().map(String::as_str).collect();
        fs::write(snapshot, format!("{FIRST_LINE}{}\n", lines.join("\n"))).map_err(|error| error.to_string())?;
        return Ok(format!("{} lines, {} of them new", now.len(), new.len()));
    }
    if !new.is_empty() {
        let lines: Vec<&str> = new.iter().map(|line| line.as_str()).collect();
        return Err(format!("the snapshot lacks these lines; add them with --update:\n  {}", lines.join("\n  ")));
    }
    let declared: BTreeSet<String> = interface.functions.iter().map(|function| function.name.clone()).collect();
    for library in rest {
        compare_symbols(library, &declared)?;
    }
    Ok(format!("the C interface is as it was: {} lines, {} functions", now.len(), declared.len()))
}

/// The library exports the declared functions, Java's entry points, and nothing else.
fn compare_symbols(library: &str, declared: &BTreeSet<String>) -> Result<(), String> {
    let output = Command::new("nm").args(["-D", "--defined-only", library]).output();
    let output = output.map_err(|error| format!("nm: {error}"))?;
    if !output.status.success() {
        return Err(format!("nm {library}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let java = |name: &String| name.starts_with("Java_org_rushlight_") || name.starts_with("JNI_On");
    let exported: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.rsplit(' ').next())
        .map(|name| name.split('@').next().unwrap_or(name).to_owned())
        .filter(|name| !java(name))
        .collect();
    let missing: Vec<&String> = declared.difference(&exported).collect();
    let extra: Vec<&String> = exported.difference(declared).collect();
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    Err(format!("{library}: declared but not exported: {missing:?}; exported but not declared: {extra:?}"))
}
