//! Checks of the project as a whole, in addition to the tests of its parts.
//!
//! `demo-check` compares the results of the digits programs (`demo`) with each other and with PyTorch; `notices` writes
//! (or checks) THIRD_PARTY_NOTICES.md, `sbom` the bill of materials; `documents` runs the code of the documents and
//! gathers the site. The tests here check the documents' links and wording and compare their code blocks with the
//! example files.

pub mod demo;
#[cfg(feature = "documents")]
pub mod documents;
pub mod frames;
pub mod linked;
pub mod wording;

use std::path::PathBuf;

/// The root of the repository.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
