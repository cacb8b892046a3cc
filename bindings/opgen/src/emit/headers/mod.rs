//! The C headers: cbindgen over the sources of `capi`, one header for each source file, and the umbrella.
//!
//! cbindgen sees one file at a time, so that a header declares what its file defines and nothing else. A type that
//! another file defines stays a name, and the file's `use crate::tensor::...` becomes the `#include` of its header.
//! Text that Rust cannot express (a macro, a forward declaration) stands in the Rust file as lines `//@ text`.
//!
//! A header reads like a chapter: `chapter` opens it with the documentation of the Rust module, whose example becomes a test;
//! `layout` adds the headings of sections and makes tables of constants and fields.

mod chapter;
mod layout;

use crate::emit::{Emitter, OutFile, capi, header};
use crate::model::Family;
use cbindgen::{
    Braces, Config, DocumentationLength, DocumentationStyle, ExportConfig, Language, LineEndingStyle, Style,
};
use chapter::Chapter;
use std::path::{Path, PathBuf};

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "headers", folders: &["include/rushlight/ops"], emit };

/// The hand-written files of `capi/src` that have a header, in the order in which they are read.
const HAND_WRITTEN: [&str; 11] =
    ["core", "tensor", "autograd", "io", "generator", "memory", "runtime", "dispatch", "hooks", "gradcheck", "dlpack"];

/// Types of other libraries, known here by their tag only.
const FOREIGN: [&str; 2] = ["DLManagedTensor", "DLManagedTensorVersioned"];

fn emit(root: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files = Vec::new();
    let mut chapters = Vec::new();
    for name in HAND_WRITTEN {
        let source = format!("capi/src/{name}.rs");
        if let Ok(text) = std::fs::read_to_string(root.join(&source)) {
            let chapter = Chapter::of_module(name, &text).map_err(|problem| format!("{source}: {problem}"))?;
            files.push(file(&chapter, &source, &text)?);
            chapters.push(chapter);
        }
    }
    for family in families {
        let chapter = Chapter::of_family(family)?;
        let header = file(&chapter, &capi::path(family), &capi::source(family))?;
        files.push(OutFile { text: layout::with_names_of_c(&header.text), ..header });
        chapters.push(chapter);
    }
    let with_example: Vec<&Chapter> = chapters.iter().filter(|chapter| chapter.has_example()).collect();
    files.push(OutFile { path: "tests/c/generated/chapters.c".into(), text: chapter::program(&with_example) });
    files.push(OutFile { path: "tests/c/generated/chapters.txt".into(), text: chapter::printed(&with_example) });
    files.insert(0, umbrella(&chapters));
    Ok(files)
}

/// `rushlight.h` includes all others: a table of contents.
fn umbrella(chapters: &[Chapter]) -> OutFile {
    let include = |chapter: &Chapter| format!("#include <rushlight/{}.h>", chapter.name);
    let width = chapters.iter().map(|chapter| include(chapter).len()).max().unwrap_or_default();
    let line = |chapter: &Chapter| {
        let title = chapter.title.split_inclusive(". ").next().unwrap_or_default();
        format!("{:width$} /* {} */", include(chapter), title.trim_end())
    };
    let lines: Vec<String> = chapters.iter().map(line).collect();
    let text = format!(
        "/* {} */\n\n/* Everything of Rushlight's C interface; docs/c-abi.md says what holds for all functions. */\n\
         #ifndef RUSHLIGHT_H\n#define RUSHLIGHT_H\n\n{}\n\n#endif /* RUSHLIGHT_H */\n",
        header("capi/src"),
        lines.join("\n")
    );
    OutFile { path: "include/rushlight/rushlight.h".into(), text }
}

/// The header of a Rust source.
fn file(chapter: &Chapter, source: &str, text: &str) -> Result<OutFile, String> {
    let name = chapter.name.as_str();
    let scratch = Scratch::new(name, text)?;
    let includes = HAND_WRITTEN
        .into_iter()
        .filter(|other| *other != name && text.contains(&format!("use crate::{other}::")))
        .map(|other| format!("rushlight/{other}.h"));
    let verbatim: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("//@")).map(str::trim_start).collect();
    let prologue = verbatim.join("\n");
    let config = Config {
        language: Language::C,
        header: Some(format!("/* {} */\n\n{}", header(source), chapter.comment())),
        include_guard: Some(format!("RUSHLIGHT_{}_H", name.replace('/', "_").to_uppercase())),
        sys_includes: ["stddef.h", "stdint.h"].into_iter().map(String::from).chain(includes).collect(),
        after_includes: (!prologue.is_empty()).then(|| format!("\n{prologue}")),
        no_includes: true,
        cpp_compat: true,
        style: Style::Both,
        braces: Braces::SameLine,
        line_length: 120,
        line_endings: LineEndingStyle::LF,
        documentation: true,
        documentation_style: DocumentationStyle::Doxy,
        documentation_length: DocumentationLength::Full,
        usize_is_size_t: true,
        export: ExportConfig {
            rename: FOREIGN.into_iter().map(|name| (name.to_string(), format!("struct {name}"))).collect(),
            exclude: FOREIGN.into_iter().map(String::from).collect(),
            include: named_types(text),
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let problem = |error: &dyn std::fmt::Display| format!("{source}: {error}");
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(&scratch.0)
        .generate()
        .map_err(|error| problem(&error))?;
    let mut bytes = Vec::new();
    bindings.write(&mut bytes);
    let generated = String::from_utf8(bytes).map_err(|error| problem(&error))?;
    let text = layout::with_tables(&layout::with_sections(&generated, text).map_err(|error| problem(&error))?);
    Ok(OutFile { path: format!("include/rushlight/{name}.h"), text })
}

/// The names that the file gives to types. cbindgen leaves out one that only other files use.
fn named_types(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub type ")?.split(' ').next());
    names.map(String::from).collect()
}

/// A file of our own for cbindgen to read, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Result<Scratch, String> {
        let name = format!("opgen-{}-{}.rs", std::process::id(), name.replace('/', "-"));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Scratch(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A scratch file that cannot be removed changes no result.
        let _ = std::fs::remove_file(&self.0);
    }
}
