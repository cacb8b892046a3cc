//! The C headers: cbindgen over the sources of `capi`, one header for each source file, and the umbrella.
//!
//! cbindgen sees one file at a time, so that a header declares what its file defines and nothing else. A type that
//! another file defines stays a name, and the file's `use crate::tensor::...` becomes the `#include` of its header.
//! Text that Rust cannot express (a macro, a forward declaration) is in the Rust file as lines `//@ text`.
//!
//! A header reads like a chapter: `chapter` begins it with the documentation of the Rust module, whose example becomes
//! a test; `layout` adds the headings of sections and the tables of constants and fields.

mod chapter;
mod layout;

use cbindgen::{
    Braces, Config, DocumentationLength, DocumentationStyle, ExportConfig, Language, LineEndingStyle, Style,
};
use chapter::Chapter;
use opgen::emit::{OutFile, capi, header};
use opgen::model::Family;
use std::path::{Path, PathBuf};

/// The folder of the operators' headers, from the root of the repository.
pub const FOLDER: &str = "include/rushlight/ops";

/// The hand-written modules of `capi/src` that have a header, in the order in which they are read.
const HAND_WRITTEN: [&str; 17] = [
    "core",
    "tensor",
    "autograd",
    "io",
    "generator",
    "memory",
    "cuda",
    "runtime",
    "cancel",
    "object",
    "dispatch",
    "checkpoint",
    "script",
    "hooks",
    "gradcheck",
    "profiler",
    "dlpack",
];

/// Types of other libraries, of which only the tag is known here.
const FOREIGN: [&str; 2] = ["DLManagedTensor", "DLManagedTensorVersioned"];

/// The headers.
pub fn files(root: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let mut files = Vec::new();
    for (chapter, source, text) in hand_written(root)? {
        files.push(file(&chapter, &source, &text)?);
    }
    for family in families {
        let header = file(&Chapter::of_family(family)?, &family.source, &capi::declarations(family))?;
        files.push(OutFile { text: layout::with_full_lines(&layout::with_names_of_c(&header.text)), ..header });
    }
    files.push(umbrella(&chapters(root, families)?));
    Ok(files)
}

/// The program that runs the examples of the headers, and what it prints.
pub fn programs(root: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let chapters = chapters(root, families)?;
    let with_example: Vec<&Chapter> = chapters.iter().filter(|chapter| chapter.has_example()).collect();
    Ok(vec![
        OutFile { path: "tests/chapters.c".into(), text: chapter::program(&with_example) },
        OutFile { path: "tests/chapters.txt".into(), text: chapter::printed(&with_example) },
    ])
}

/// The chapters in the order of the umbrella header.
fn chapters(root: &Path, families: &[Family]) -> Result<Vec<Chapter>, String> {
    let hand_written = hand_written(root)?.into_iter().map(|(chapter, ..)| Ok(chapter));
    hand_written.chain(families.iter().map(Chapter::of_family)).collect()
}

/// The chapters of hand-written sources, with path and text of the source.
fn hand_written(root: &Path) -> Result<Vec<(Chapter, String, String)>, String> {
    let mut chapters = Vec::new();
    for name in HAND_WRITTEN {
        let source = format!("capi/src/{name}.rs");
        let text = with_parts(root, name, &read(root, &source)?)?;
        let chapter = Chapter::of_module(name, &text).map_err(|problem| format!("{source}: {problem}"))?;
        chapters.push((chapter, source, text));
    }
    Ok(chapters)
}

fn read(root: &Path, source: &str) -> Result<String, String> {
    std::fs::read_to_string(root.join(source)).map_err(|error| format!("{source}: {error}"))
}

/// The source of a module with the text of its private submodules, such as `mod list;`, in place of their declarations:
/// a header is not split where its source is.
fn with_parts(root: &Path, module: &str, text: &str) -> Result<String, String> {
    let mut whole = String::with_capacity(text.len());
    for line in text.lines() {
        match line.strip_prefix("mod ").and_then(|line| line.strip_suffix(';')) {
            Some(part) => {
                let text = read(root, &format!("capi/src/{module}/{part}.rs"))?;
                let code = text.lines().skip_while(|line| line.starts_with("//!"));
                code.for_each(|line| whole.extend([line, "\n"]));
            }
            None => whole.extend([line, "\n"]),
        }
    }
    Ok(whole)
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

/// The names of the types that the file defines. cbindgen leaves out those that only other files use.
fn named_types(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub type ")?.split(' ').next());
    names.map(String::from).collect()
}

/// A temporary file for cbindgen to read, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Result<Scratch, String> {
        let name = format!("generate-{}-{}.rs", std::process::id(), name.replace('/', "-"));
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
