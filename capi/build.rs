//! Linker settings of the shipped shared library: its soname, its exported names, and the thread-exit hook
//! that lets `dlclose` really unload it (see `src/support/unload.rs`).

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=exports.map");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let arguments = [
        "-Wl,-soname,librushlight.so.0".to_owned(),
        format!("-Wl,--version-script={}", here.join("exports.map").display()),
        "-Wl,--undefined-version".to_owned(),
        "-Wl,--defsym=__cxa_thread_atexit_impl=rushlight_thread_atexit".to_owned(),
        "-Wl,--gc-sections".to_owned(),
        "-Wl,-z,relro,-z,now".to_owned(),
    ];
    for argument in arguments {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
