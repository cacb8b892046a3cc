//! Counts the generated text and machine code for each form of an operator, and checks their bars. `generate --count` prints them.

use crate::{code, output};
use opgen::emit::OutFile;
use opgen::model::Family;
use std::fmt::Write;
use std::path::Path;

/// The most lines for each form.
const LINES: f64 = 80.0;
/// The most bytes of text for each form.
const TEXT: f64 = 3200.0;
/// The most bytes of machine code for each form.
const CODE: f64 = 1200.0;

/// A table of lines and bytes per form, and of machine code if there is a library; `Err` if a bar is missed. Rust is formatted,
/// the other languages are written formatted.
pub fn table(root: &Path, families: &[Family], library: Option<&Path>) -> Result<String, String> {
    let forms: usize = families.iter().flat_map(|family| &family.ops).map(|op| op.forms.len()).sum();
    let out = root.join("build/generated");
    let rust = output::rust(root, &out, families)?;
    let of_crate =
        |folder: &str| rust.files.iter().filter(move |file| file.path.starts_with(folder)).collect::<Vec<_>>();
    let headers = output::headers(root, families)?;
    let below =
        |folder: &str| headers.files.iter().filter(move |file| file.path.starts_with(folder)).collect::<Vec<_>>();
    let [java, java_tests] = output::java(root, families)?;
    let build = output::build(root, &out, families)?;
    let programs = build.files.iter().filter(|file| file.path.starts_with("tests/"));
    let rows: [(&str, Vec<&OutFile>); 8] = [
        ("Rust: typed functions, autograd, table", of_crate("core/tensor")),
        ("Rust: C functions", of_crate("capi")),
        ("Rust: JNI", of_crate("bindings/jni")),
        ("Rust: methods of the crate `rushlight`", of_crate("bindings/rust")),
        ("C headers", below("include/rushlight/ops")),
        ("C++ headers", below("cpp-frontend")),
        ("Java", java.files.iter().collect()),
        ("tests of the examples", programs.chain(&java_tests.files).collect()),
    ];
    let mut text = format!("{:46} {:>8} {:>10} {:>9} {:>9}\n", "generated code", "lines", "bytes", "per form", "bytes");
    let mut all = (0, 0);
    for (name, files) in &rows {
        let lines = files.iter().map(|file| file.text.lines().count()).sum();
        let bytes = files.iter().map(|file| file.text.len()).sum();
        row(&mut text, name, lines, bytes, forms);
        all = (all.0 + lines, all.1 + bytes);
    }
    row(&mut text, "all", all.0, all.1, forms);
    let per_form = |count: usize| count as f64 / forms as f64;
    let mut bars = vec![("lines", per_form(all.0), LINES), ("bytes of text", per_form(all.1), TEXT)];
    if let Some(library) = library {
        let parts = code::parts(library)?;
        let code = parts.iter().map(|(_, bytes)| bytes).sum();
        let _ = writeln!(text, "\n{:46} {:>8} {:>10} {:>9} {:>9}", "machine code", "", "bytes", "", "per form");
        for (name, bytes) in parts.into_iter().chain([("all", code)]) {
            let _ = writeln!(text, "{name:46} {:>8} {bytes:>10} {:>9} {:>9.0}", "", "", per_form(bytes));
        }
        bars.push(("bytes of machine code", per_form(code), CODE));
    }
    let missed = bars.iter().filter(|(_, found, bar)| found > bar);
    let missed: Vec<String> =
        missed.map(|(what, found, bar)| format!("{found:.1} {what} for each form, more than {bar}")).collect();
    if missed.is_empty() { Ok(text) } else { Err(format!("{text}\n{}", missed.join("\n"))) }
}

fn row(text: &mut String, name: &str, lines: usize, bytes: usize, forms: usize) {
    let per_form = |count: usize| count as f64 / forms as f64;
    let _ = writeln!(text, "{name:46} {lines:>8} {bytes:>10} {:>9.1} {:>9.0}", per_form(lines), per_form(bytes));
}
