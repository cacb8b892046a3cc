//! Generates the code of every binding of every operator from the declarations in `core/schema/ops`.
//!
//! A crate with generated code calls [`write_crate`] in its build script and includes the files from `OUT_DIR`. The tool
//! `generate` (`bindings/generate`) writes the rest: C and C++ headers, Java sources, documents, tests. This library does
//! not format code and reads no file: the declarations are part of `rushlight-schema`. ARCHITECTURE.md describes them.

mod alias;
pub mod class;
mod each;
pub mod emit;
pub mod example;
pub mod face;
pub mod formula;
mod kinds;
pub mod load;
pub mod model;
pub mod names;
#[cfg(test)]
mod tests;
pub mod types;

pub use load::{FOLDER, load};
pub use types::Kind;

use emit::{Emitter, Place};
use std::path::Path;
use std::{env, fs};

/// For a build script: writes the generated files of the crate in `folder` (`core/tensor`) to `OUT_DIR`.
pub fn write_crate(folder: &'static str) -> Result<(), String> {
    write_out(emit::ALL.iter().filter(|emitter| emitter.place == Place::Crate(folder)))
}

/// For a build script: writes the declarations as data, `schema.json`, to `OUT_DIR`.
pub fn write_schema() -> Result<(), String> {
    write_out([&emit::schema_json::EMITTER])
}

#[allow(clippy::print_stdout, reason = "build scripts tell cargo what they read by printing it")]
fn write_out<'a>(emitters: impl IntoIterator<Item = &'a Emitter>) -> Result<(), String> {
    let out = env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    println!("cargo:rerun-if-changed=build.rs");
    let families = load().map_err(|problems| problems.join("\n"))?;
    for emitter in emitters {
        for file in emitter.files(&families)? {
            write(&Path::new(&out).join(&file.path), &file.text)?;
        }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    // Unchanged files are not written, because cargo compares modification times.
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text).map_err(failed)
}
