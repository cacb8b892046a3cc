//! The JNI shims: `bindings/jni/src/generated/<family>.rs` and the module list.
//!
//! A shim turns what Java passes into what the typed Rust function takes; `bindings/jni/src/support` has the
//! pieces, and the handle types there carry the safety promises, so that no generated line is unsafe.

use crate::emit::{Emitter, OutFile, first_line};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::fmt::Write;
use std::path::Path;

/// Writes them.
pub const EMITTER: Emitter = Emitter { name: "jni", folders: &["bindings/jni/src/generated"], emit };

fn emit(_: &Path, families: &[Family]) -> Result<Vec<OutFile>, String> {
    let file = |name: &str| format!("bindings/jni/src/generated/{name}.rs");
    let mut files = vec![OutFile { path: file("mod"), text: modules(families) }];
    files.extend(families.iter().map(|family| OutFile { path: file(&family.name), text: source(family) }));
    Ok(files)
}

/// The text of one family.
fn source(family: &Family) -> String {
    let mut text = first_line(&family.source);
    let _ = writeln!(text, "//! JNI shims of the operators of the family `{}`.", family.name);
    let body: String = Face::of(family).iter().map(shim).collect();
    // The conversions are called as `support::scalar`, since arguments may have their names.
    const NAMES: [&str; 15] = [
        "EnvUnowned",
        "GeneratorHandle",
        "JBooleans",
        "JClass",
        "JDoubles",
        "JInts",
        "JLongs",
        "JString",
        "TensorHandle",
        "guard",
        "jboolean",
        "jdouble",
        "jint",
        "jlong",
        "jlongArray",
    ];
    let mut used = vec!["self"];
    if !body.contains("support::") {
        used.clear();
    }
    used.extend(NAMES.into_iter().filter(|name| mentions(&body, name)));
    let _ = write!(text, "\nuse crate::support::{{{}}};\nuse rushlight_tensor::ops;\n", used.join(", "));
    text + &body
}

/// Does a word stand in the text?
fn mentions(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

/// `bindings/jni/src/generated/mod.rs`
fn modules(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    text.push_str(
        "//! The JNI shims of the operators, one module for each family, each behind the family's cargo feature.\n\n\
         #![allow(non_snake_case, reason = \"JNI prescribes the names\")]\n\
         #![allow(clippy::too_many_arguments, reason = \"the signatures are the operators'\")]\n\n",
    );
    for family in families {
        let _ = writeln!(text, "#[cfg(feature = \"op-{0}\")]\npub mod {0};", family.name);
    }
    text
}

fn shim(face: &Face) -> String {
    let mut parameters = Vec::new();
    let mut lines = Vec::new();
    let mut values = Vec::new();
    for param in &face.params {
        let row = Row::of(param);
        parameters.extend(row.parameters);
        lines.extend(row.line);
        values.push(row.value);
    }
    for out in &face.outs {
        parameters.push(format!("{out}: TensorHandle"));
        lines.push(format!("let {out} = {out}.get(\"{out}\")?;"));
        values.push(format!("&{out}"));
    }
    let call = format!("{}({})", face.rust_function(), values.join(", "));
    let (result, end) = match face.returns {
        Returns::Nothing => ("", call),
        Returns::TensorList => (" -> jlongArray", format!("let results = {call}?;\nframe.give_all(results)")),
        Returns::Tensor => (" -> jlong", format!("let result = {call}?;\nOk(frame.give(result))")),
        Returns::Tensors(count) => {
            let results: Vec<String> = (0..count).map(|index| format!("result{index}")).collect();
            let results = results.join(", ");
            (" -> jlongArray", format!("let ({results}) = {call}?;\nframe.give_all([{results}])"))
        }
    };
    let frame =
        if lines.iter().any(|line| line.contains("frame.")) || end.contains("frame.") { "frame" } else { "_frame" };
    let mut text = format!("\n/// `{}`\n", face.form.signature);
    let _ = write!(
        text,
        "#[unsafe(no_mangle)]\npub extern \"system\" fn Java_org_rushlight_internal_Native_{}<'l>(\n\
         env: EnvUnowned<'l>,\n_class: JClass<'l>,\n{}){result} {{\nguard(env, move |{frame}| {{\n{}\n{end}\n}})\n}}\n",
        face.symbol().replace('_', "_1"),
        parameters.iter().map(|p| format!("{p},\n")).collect::<String>(),
        lines.join("\n"),
    );
    text
}

/// How JNI passes one kind of argument.
struct Row {
    parameters: Vec<String>,
    line: Option<String>,
    value: String,
}

impl Row {
    fn of(param: &Parameter) -> Row {
        let schema = &param.name;
        let x = names::rust_identifier(schema);
        let fill = |text: &str| text.replace('$', &x).replace('%', schema);
        // `$` is the Rust name and `%` the schema's. `bound` makes a local, for values that borrow from one.
        let bound = |ty: &str, line: &str, value: &str| Row {
            parameters: vec![fill(&format!("$: {ty}"))],
            line: Some(fill(&format!("let $ = {line};"))),
            value: fill(value),
        };
        let direct = |parameters: &[&str], value: &str| Row {
            parameters: parameters.iter().map(|text| fill(text)).collect(),
            line: None,
            value: fill(value),
        };
        match param.kind {
            Kind::Tensor => bound("TensorHandle", "$.get(\"%\")?", "&$"),
            Kind::TensorOptional => bound("TensorHandle", "$.optional()", "$.as_deref()"),
            Kind::TensorList => bound("JLongs<'l>", "frame.tensors(&$, \"%\")?", "&$.refs()"),
            Kind::TensorOptionalList => bound("JLongs<'l>", "frame.optional_tensors(&$)?", "&$.optional_refs()"),
            Kind::Scalar => {
                direct(&["%_tag: jint", "%_bits: jlong", "%_imag: jdouble"], "support::scalar(%_tag, %_bits, %_imag)?")
            }
            Kind::ScalarOptional => direct(
                &["%_tag: jint", "%_bits: jlong", "%_imag: jdouble"],
                "support::optional_scalar(%_tag, %_bits, %_imag)?",
            ),
            Kind::ScalarList => Row {
                parameters: vec![fill("%_tags: JInts<'l>"), fill("%_bits: JLongs<'l>"), fill("%_imags: JDoubles<'l>")],
                line: Some(fill("let $ = frame.scalars(&%_tags, &%_bits, &%_imags, \"%\")?;")),
                value: fill("&$"),
            },
            Kind::Int => direct(&["$: jlong"], "$"),
            Kind::IntOptional => direct(&["has_%: jboolean", "$: jlong"], "support::optional(has_%, $)"),
            Kind::IntList => bound("JLongs<'l>", "frame.longs(&$, \"%\")?", "&$"),
            Kind::IntListOptional => bound("JLongs<'l>", "frame.optional_longs(&$)?", "$.as_deref()"),
            Kind::Float => direct(&["$: jdouble"], "$"),
            Kind::FloatOptional => direct(&["has_%: jboolean", "$: jdouble"], "support::optional(has_%, $)"),
            Kind::FloatList => bound("JDoubles<'l>", "frame.doubles(&$, \"%\")?", "&$"),
            Kind::FloatListOptional => bound("JDoubles<'l>", "frame.optional_doubles(&$)?", "$.as_deref()"),
            Kind::Bool => direct(&["$: jboolean"], "support::flag($)"),
            Kind::BoolOptional => direct(&["$: jint"], "support::optional_flag($)"),
            Kind::BoolList => bound("JBooleans<'l>", "frame.booleans(&$, \"%\")?", "&$"),
            Kind::Str => bound("JString<'l>", "frame.string(&$, \"%\")?", "&$"),
            Kind::StrOptional => bound("JString<'l>", "frame.optional_string(&$)?", "$.as_deref()"),
            Kind::DType => direct(&["$: jint"], "support::dtype($)?"),
            Kind::DTypeOptional => direct(&["$: jint"], "support::optional_dtype($)?"),
            Kind::LayoutOptional => direct(&["$: jint"], "support::optional_layout($)?"),
            Kind::MemoryFormat => direct(&["$: jint"], "support::memory_format($)?"),
            Kind::MemoryFormatOptional => direct(&["$: jint"], "support::optional_memory_format($)?"),
            Kind::Device => direct(&["$: jint"], "support::device($)?"),
            Kind::DeviceOptional => direct(&["$: jint"], "support::optional_device($)?"),
            Kind::GeneratorOptional => bound("GeneratorHandle", "$.optional()", "$.as_deref()"),
            Kind::Options => direct(&["$: jlong"], "support::options($)?"),
        }
    }
}
