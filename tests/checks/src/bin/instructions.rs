//! `instructions LIBRARY` checks the machine code of the library.
//!
//! Vector instructions occur only in kernels. A call of an intrinsic as a function means that a kernel uses it in a
//! closure or another function that the compiler did not inline into code compiled for its instruction set. That makes
//! the kernel 2 to 10 times slower and changes no result.
//!
//! No function has a stack frame of more than 32 KiB. A JVM guarantees 80 KiB of stack to native code: at a Java stack
//! overflow, a function that uses more ends the process with SIGSEGV.

use object::{Object, ObjectSymbol};
use rushlight_checks::frames;
use std::io::Write;
use std::process::ExitCode;

/// The part of a mangled name before the module of an intrinsic.
const INTRINSICS: &str = "_4core9core_arch";

/// The most bytes of a stack frame.
const FRAME: u32 = 32 << 10;

/// Not instructions of kernels: `xgetbv` reads which registers the system saves. The others are those of the product of two
/// complex numbers in pulp (`Simd::mul_e_c64s`), which faer calls between its vector loops.
const NOT_OF_KERNELS: [&str; 6] = [
    "xgetbv",
    "__mm256_mul_pd",
    "__mm256_unpackhi_pd",
    "__mm256_unpacklo_pd",
    "__mm256_permute_pd",
    "__mm256_fmaddsub_pd",
];

/// Small products of complex numbers in faer have frames of up to 129 KiB. Only eigenvalues and singular values of general
/// matrices call them; docs/embedding.md states the stack that these need.
const LARGE_FRAMES: &str = "nano_gemm16copy_millikernel";

fn check(path: &str) -> Result<(), String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("{path}: {error}"))?;
    let names: Vec<&str> = file.symbols().filter_map(|symbol| symbol.name().ok()).collect();
    if !names.iter().any(|name| name.contains("rushlight_cpu")) {
        return Err(format!("{path}: no symbols to look at"));
    }
    let is_call = |name: &&&str| name.contains(INTRINSICS) && !NOT_OF_KERNELS.iter().any(|other| name.contains(other));
    let called: Vec<&str> = names.iter().filter(is_call).copied().collect();
    if !called.is_empty() {
        return Err(format!("{path}: instructions that are calls:\n{}", called.join("\n")));
    }
    let frames = frames::larger_than(FRAME, &file).map_err(|error| format!("{path}: {error}"))?;
    let frames = frames.iter().filter(|(_, name)| !name.contains(LARGE_FRAMES));
    let lines: Vec<String> = frames.map(|(bytes, name)| format!("{bytes} bytes: {name}")).collect();
    if lines.is_empty() {
        Ok(())
    } else {
        Err(format!("{path}: stack frames of more than {FRAME} bytes:\n{}", lines.join("\n")))
    }
}

fn main() -> ExitCode {
    let result = std::env::args().nth(1).ok_or("usage: instructions LIBRARY".to_owned()).and_then(|path| check(&path));
    let Err(message) = result else { return ExitCode::SUCCESS };
    // Nothing can be done if even this fails.
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::FAILURE
}
