//! `ATen/ops/NAME.h`: libtorch has a header for each operator, which its programs include. Here each includes the header that
//! declares the function.
//!
//! They are not checked in: the packages install them.

use super::cpp::all_forms;
use super::cpp_derived::named_forms;
use crate::emit::{Emitter, OutFile, Place, first_line};
use crate::load::FOLDER;
use crate::model::Family;
use std::collections::BTreeMap;

/// The folder of the headers, below that of the build.
const OPS: &str = "include/ATen/ops";

/// Generates the files.
pub const EMITTER: Emitter = Emitter { name: "cpp-headers", place: Place::Build, folders: &[OPS], emit };

fn emit(families: &[Family]) -> Result<Vec<OutFile>, String> {
    let named = named_forms(families).into_iter().map(|face| (face, "ATen/NamedFunctions.h"));
    let bound = all_forms(families)
        .filter(|face| face.form.signature.namespace.is_empty() && (face.form.function || face.form.method))
        .map(|face| (face, "ATen/Functions.h"));
    // A name with both kinds of forms needs the header of the functions that are called by name, which includes the other.
    let headers: BTreeMap<String, &str> =
        bound.chain(named).map(|(face, header)| (file_name(&face.form.signature.name).to_owned(), header)).collect();
    let text = |header| format!("{}#pragma once\n\n#include <{header}>\n", first_line(FOLDER));
    Ok(headers
        .into_iter()
        .map(|(name, header)| OutFile { path: format!("{OPS}/{name}.h"), text: text(header) })
        .collect())
}

/// The name of the in-place form `add_` is in the header of `add`; `__and__` ends with two underscores.
fn file_name(name: &str) -> &str {
    match name.strip_suffix('_') {
        Some(base) if !base.ends_with('_') => base,
        _ => name,
    }
}
