//! Programs over the whole language, compared with what they return, print and raise in PyTorch
//! (`tests/oracle/script_programs.py`): from one saved file, and those without modules from their source code too.

mod values;

use rushlight_base::{Error, Result};
use rushlight_script::module::Module;
use rushlight_script::program::Program;
use rushlight_script::runtime::value::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use values::{matches, read};

/// The error here has another message than that of the C++ library.
const OWN_MESSAGE: [&str; 1] = ["str_index_out"];

/// Compiles here; PyTorch rejects the source code.
const MORE: [&str; 8] = [
    "annotations",
    "builtin_reversed",
    "class_optional_self",
    "dict_comprehension_if",
    "function_keyword_only",
    "list_comprehension_double",
    "list_comprehension_if",
    "misc_matmul_assign",
];

/// Chained comparisons of source code are Python's: `a < b < c` evaluates `b` once and is true if both comparisons are.
/// PyTorch evaluates `b` twice, or compares the result of the first comparison.
const CHAINED: [&str; 2] = ["number_chained", "number_chained_once"];

/// The parts of a file that begin with `=== name`, in order.
fn sections(text: &'static str) -> Vec<(&'static str, &'static str)> {
    text.split("=== ").skip(1).filter_map(|part| part.split_once('\n')).collect()
}

/// What happened in a call.
struct Outcome {
    result: Result<Value>,
    printed: String,
}

/// The class and the message of an error, and the lines after it, as the oracle finds them.
fn last_line(error: &Error) -> String {
    let text = error.message().trim_end();
    let begins = |line: &str| {
        let class = line.split_once(':').map_or("", |(class, _)| class);
        let is_name = class.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
        is_name && (class.ends_with("Error") || class.ends_with("Exception"))
    };
    let mut from = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins(line) {
            from = Some(at);
        }
        at += line.len();
    }
    // Which operator failed is said here only.
    let lines = text[from.unwrap_or(0)..].lines().filter(|line| !line.starts_with("  in operator "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether the outcome of the call with `k` is the recorded one.
fn compare(name: &str, k: i64, outcome: &Outcome, lines: &[&str]) -> std::result::Result<(), String> {
    let mut calls = -1;
    let mut printed = String::new();
    for line in lines {
        let text = |from: &str| String::from_utf8(read(from).as_bytes().unwrap().to_vec()).unwrap();
        if line.starts_with("=> ") || line.starts_with("!! ") {
            calls += 1;
        }
        if calls != k {
            continue;
        }
        match (line.split_once(' ').unwrap(), &outcome.result) {
            (("=>", expected), Ok(result)) => matches(result, &read(expected))?,
            (("=>", _), Err(error)) => return Err(format!("fails: {error}")),
            (("!!", expected), Ok(result)) => return Err(format!("returns {result:?}, not {expected}")),
            (("!!", expected), Err(error)) => {
                let (found, expected) = (last_line(error), text(expected));
                if found != expected && !OWN_MESSAGE.contains(&name) {
                    return Err(format!("fails with {found:?}, not {expected:?}"));
                }
            }
            ((_, expected), _) => printed = text(expected),
        }
    }
    let equal = outcome.printed == printed;
    if equal { Ok(()) } else { Err(format!("prints {:?}, not {printed:?}", outcome.printed)) }
}

fn report(differences: &[String], count: usize) {
    assert!(
        differences.is_empty(),
        "{} differences in {count} programs\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn saved_programs_do_what_they_do_in_pytorch() {
    let output = Arc::new(Mutex::new(Vec::new()));
    let sink = output.clone();
    let module = Module::from_bytes(include_bytes!("data/programs.pt").as_slice()).unwrap();
    let module = module.printing_to(Arc::new(move |text: &[u8]| sink.lock().unwrap().extend_from_slice(text)));
    let programs: BTreeMap<String, Module> = module.children().into_iter().collect();
    let mut differences = Vec::new();
    let mut count = 0;
    for (name, expected) in sections(include_str!("data/programs.expected")) {
        if expected.starts_with("fails") {
            continue;
        }
        count += 1;
        let lines: Vec<&str> = expected.lines().take_while(|line| *line != "unit").collect();
        for k in 0..3 {
            let result = programs[name].forward(vec![Value::Int(k)]);
            let printed = String::from_utf8(std::mem::take(&mut *output.lock().unwrap())).unwrap();
            if let Err(difference) = compare(name, k, &Outcome { result, printed }, &lines) {
                differences.push(format!("{name}({k}) {difference}"));
            }
        }
    }
    assert!(count >= 250, "{count}");
    report(&differences, count);
}

#[test]
fn compiled_programs_do_what_they_do_in_pytorch() {
    let expected: BTreeMap<&str, &str> = sections(include_str!("data/programs.expected")).into_iter().collect();
    let mut differences = Vec::new();
    let mut count = 0;
    for (name, text) in sections(include_str!("data/programs.txt")) {
        // Modules, and a name that Python imports, need a file.
        if text.contains("class M(") || text.contains("F.relu") || CHAINED.contains(&name) {
            continue;
        }
        count += 1;
        let lines: Vec<&str> = expected[name].lines().collect();
        let of_unit = lines.iter().position(|line| *line == "unit").map_or(0, |at| at + 1);
        let lines: Vec<&str> = lines[of_unit..].iter().copied().filter(|line| !line.starts_with("prints")).collect();
        let program = Program::compile(text).and_then(|program| program.check("f").map(|()| program));
        let program = match (program, lines[0].starts_with("fails")) {
            (Ok(program), false) => program,
            (Err(_), true) => continue,
            (Ok(_), true) if MORE.contains(&name) => continue,
            (Ok(_), true) => {
                differences.push(format!("{name} compiles; PyTorch: {}", lines[0]));
                continue;
            }
            (Err(error), false) => {
                differences.push(format!("{name} does not compile: {error}"));
                continue;
            }
        };
        for k in 0..3 {
            let result = program.call("f", vec![Value::Int(k)], Vec::new());
            let outcome = Outcome { result, printed: String::new() };
            if let Err(difference) = compare(name, k, &outcome, &lines) {
                differences.push(format!("{name}({k}) {difference}"));
            }
        }
    }
    assert!(count >= 250, "{count}");
    report(&differences, count);
}
