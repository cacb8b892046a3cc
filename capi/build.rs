//! Writes the C functions of the operators, and the linker settings of the shipped shared library: its soname, its
//! size, the pages it can be loaded on, what runs when it is loaded (`src/support/load.rs`), and the thread-exit hook that
//! makes `dlclose` unload it (`src/support/unload.rs`). rustc passes the exported names to the linker: those of the C interface, the only ones
//! that are not mangled.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Identical code folding: many generated functions have the same code.
const FOLD: &str = "-Wl,--icf=all";

fn main() -> Result<(), String> {
    opgen::write_crate("capi")?;
    link_arguments();
    Ok(())
}

fn link_arguments() {
    match env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => {}
        Ok("windows") => return link_windows(),
        _ => return,
    }
    let arguments = [
        "-Wl,-soname,librushlight.so.0".to_owned(),
        "-Wl,--defsym=__cxa_thread_atexit_impl=rushlight_thread_atexit".to_owned(),
        "-Wl,-init,rushlight_loaded".to_owned(),
        "-Wl,--gc-sections".to_owned(),
        "-Wl,-z,relro,-z,now".to_owned(),
        format!("-Wl,-z,max-page-size={}", largest_page()),
        // Debuggers find separate debug information by the build id.
        "-Wl,--build-id=sha1".to_owned(),
    ];
    for argument in arguments {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
    if links_with(FOLD) {
        println!("cargo:rustc-cdylib-link-arg={FOLD}");
    }
}

/// The C library of mingw-w64 calls `DllMain`.
fn link_windows() {
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    if is("CARGO_CFG_TARGET_ENV", "gnu") && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--defsym=DllMain=rushlight_dll_main");
    }
}

/// Segments begin on page boundaries, so a library loads on systems whose pages are at most as large as the linker
/// assumed. Android and kernels for arm64 have 16 KiB, some of the latter 64.
fn largest_page() -> usize {
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("aarch64") { 65536 } else { 16384 }
}

/// Whether the linker of this build supports `argument`. LLD, which rustc includes for x86-64, folds; GNU ld cannot.
fn links_with(argument: &str) -> bool {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let folder = PathBuf::from(variable("OUT_DIR"));
    let source = folder.join("empty.rs");
    if fs::write(&source, "").is_err() {
        return false;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--crate-type=cdylib", "--crate-name=empty", "--target", &variable("TARGET"), "-o"]);
    rustc.arg(folder.join("libempty.so")).arg(source).arg(format!("-Clink-arg={argument}"));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\u{1f}').filter(|flag| !flag.is_empty()));
    rustc.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
