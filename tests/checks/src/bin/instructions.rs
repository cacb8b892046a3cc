//! `instructions LIBRARY`: vector instructions of the library stand in its kernels. Where one is a function that is called, a
//! kernel has it in a closure or another function that the compiler did not inline into code of its level, which costs a factor
//! of 2 to 10 and changes no result.

use object::{Object, ObjectSymbol};
use std::io::Write;
use std::process::ExitCode;

/// The part of a mangled name that stands before the module of an intrinsic.
const INTRINSICS: &str = "_4core9core_arch";

/// Asks which registers the system saves: not an instruction of a kernel.
const NOT_OF_KERNELS: &str = "xgetbv";

fn check(path: &str) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("{path}: {error}"))?;
    let names: Vec<&str> = file.symbols().filter_map(|symbol| symbol.name().ok()).collect();
    if !names.iter().any(|name| name.contains("rushlight_cpu")) {
        return Err(format!("{path}: no symbols to look at"));
    }
    let is_call = |name: &&&str| name.contains(INTRINSICS) && !name.contains(NOT_OF_KERNELS);
    let called: Vec<&str> = names.iter().filter(is_call).copied().collect();
    if called.is_empty() { Ok(()) } else { Err(format!("{path}: instructions that are calls:\n{}", called.join("\n"))) }
}

fn main() -> ExitCode {
    let result = std::env::args().nth(1).ok_or("usage: instructions LIBRARY".to_owned()).and_then(|path| check(&path));
    let Err(message) = result else { return ExitCode::SUCCESS };
    // Nothing can be done if even this fails.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::FAILURE
}
