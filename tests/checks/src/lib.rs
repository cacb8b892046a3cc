//! Checks of the project as a whole, beside the tests of its parts.
//!
//! `demo-check` compares what the digits programs left (`demo`) with each other and with PyTorch; `notices` writes (or checks)
//! THIRD_PARTY_NOTICES.md, `sbom` the bill of materials. The tests here hold the code blocks of the documents against the example files.

pub mod demo;
pub mod linked;

use std::path::PathBuf;

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
