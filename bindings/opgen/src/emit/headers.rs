//! The C headers: cbindgen over the sources of `capi`, one header for each source file.
//!
//! cbindgen sees one file at a time, so that a header declares what its file defines and nothing else; a type that
//! another header declares stays a name, and `includes` says which header that is.

use cbindgen::{Braces, Config, DocumentationLength, DocumentationStyle, Language, LineEndingStyle, Style};
use std::path::Path;

/// What a header needs beside the text of its Rust file.
pub struct Header<'a> {
    /// The Rust file that was read, as the first line names it.
    pub source: &'a str,
    /// `RUSHLIGHT_OPS_POINTWISE_H`
    pub guard: String,
    /// `<rushlight/tensor.h>` without the brackets.
    pub includes: Vec<String>,
    /// Text between includes and declarations: macros that Rust cannot express.
    pub prologue: String,
}

/// The header of the Rust source at `file`.
pub fn header(file: &Path, header: &Header) -> Result<String, String> {
    let config = Config {
        language: Language::C,
        header: Some(crate::generated_line("//", header.source).trim_end().replace("//", "/*") + " */"),
        include_guard: Some(header.guard.clone()),
        sys_includes: ["stddef.h", "stdint.h"]
            .into_iter()
            .map(String::from)
            .chain(header.includes.iter().cloned())
            .collect(),
        after_includes: (!header.prologue.is_empty()).then(|| header.prologue.clone()),
        no_includes: true,
        cpp_compat: true,
        style: Style::Both,
        braces: Braces::SameLine,
        line_length: 120,
        line_endings: LineEndingStyle::LF,
        documentation: true,
        documentation_style: DocumentationStyle::C99,
        documentation_length: DocumentationLength::Full,
        usize_is_size_t: true,
        ..Config::default()
    };
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(file)
        .generate()
        .map_err(|error| format!("cbindgen: {}: {error}", header.source))?;
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    String::from_utf8(bytes).map_err(|error| format!("cbindgen: {}: {error}", header.source))
}
