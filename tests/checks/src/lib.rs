//! Checks of the project as a whole, beside the tests of its parts.
//!
//! `demo-check` compares what the digits programs left (`demo`) with each other and with PyTorch; `notices` writes (or checks)
//! THIRD_PARTY_NOTICES.md, `sbom` the bill of materials; `documents` runs the code of the documents and gathers the site. The tests here
//! follow the documents' links and hold their code blocks against the example files.

pub mod demo;
pub mod documents;
pub mod linked;

use std::path::PathBuf;

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
