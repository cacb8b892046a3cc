//! Pieces of Rust source that the parts of an operator's file share.

use crate::model::{Form, FormKind, Op, OutDtype, Parameter};
use crate::names;
use crate::types::Kind;

/// The Rust name of a parameter.
pub fn ident(parameter: &Parameter) -> String {
    names::rust_identifier(&parameter.name)
}

/// `self_: &Tensor, other: &Tensor`
pub fn declarations(parameters: &[Parameter]) -> String {
    let list: Vec<String> = parameters
        .iter()
        .map(|parameter| format!("{}: {}", ident(parameter), parameter.kind.spelling().rust))
        .collect();
    list.join(", ")
}

/// `self_, other`
pub fn arguments(parameters: &[Parameter]) -> String {
    parameters.iter().map(ident).collect::<Vec<_>>().join(", ")
}

/// The return type inside `Result`.
pub fn result_type(form: &Form) -> String {
    form.returns().rust()
}

/// `fn mul_tensor(self_: &Tensor, other: &Tensor) -> Result<Tensor>`, with the attribute that many parameters need.
pub fn function_head(visibility: &str, form: &Form) -> String {
    let parameters = form.parameters();
    let many = "#[allow(clippy::too_many_arguments, reason = \"the signature is PyTorch's\")]\n";
    format!(
        "{}{visibility} fn {}({}) -> Result<{}>",
        if parameters.len() > 7 { many } else { "" },
        names::rust_function(&form.signature),
        declarations(&parameters),
        result_type(form)
    )
}

/// The parameters of rules and kernels: those of the declared form, under the names of `form`. In an out form the
/// options are those of the first output.
pub fn kernel_arguments(op: &Op, form: &Form) -> Vec<String> {
    let own = form.parameters();
    let parameters = op.primary().inputs();
    let list = parameters.iter().enumerate().map(|(index, parameter)| {
        let parameter = if index == 0 && form.kind == FormKind::InPlace { &own[0] } else { parameter };
        let name = ident(parameter);
        match parameter.kind {
            Kind::TensorList | Kind::TensorOptionalList => format!("&{name}"),
            Kind::TensorOptional => format!("{name}.as_ref()"),
            Kind::DTypeOptional if form.kind == FormKind::Out && op.out_dtype == OutDtype::Argument => {
                format!("{name}.or(Some({}.dtype()))", ident(&form.written()[0]))
            }
            Kind::Options if form.kind == FormKind::Out => format!("{}.options()", ident(&form.written()[0])),
            _ => name,
        }
    });
    list.collect()
}

/// Statements that take a snapshot of each tensor argument, under the argument's own name.
pub fn snapshots(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let name = ident(parameter);
        match parameter.kind {
            Kind::Tensor => text.push_str(&format!("let {name} = &*{name}.dense()?;\n")),
            Kind::TensorOptional => text.push_str(&format!("let {name} = dispatch::dense_opt({name})?;\n")),
            Kind::TensorList => text.push_str(&format!("let {name} = dispatch::dense_list({name})?;\n")),
            Kind::TensorOptionalList => text.push_str(&format!("let {name} = dispatch::dense_opt_list({name})?;\n")),
            _ => {}
        }
    }
    text
}

/// An iterator over the snapshots: `[self_, other].into_iter().chain(&weight).chain(&tensors)`.
pub fn snapshot_iterator(parameters: &[Parameter]) -> String {
    let flat = |name: &str| format!("{name}.iter().flatten()");
    iterator(parameters, str::to_string, |name| format!("&{name}"), |name| format!("&{name}"), flat)
}

/// An iterator over the tensors: `[self_, other].into_iter().chain(weight).chain(tensors.iter().copied())`.
pub fn tensor_iterator(parameters: &[Parameter]) -> String {
    let flat = |name: &str| format!("{name}.iter().copied().flatten()");
    iterator(parameters, str::to_string, str::to_string, |name| format!("{name}.iter().copied()"), flat)
}

fn iterator(
    parameters: &[Parameter],
    single: impl Fn(&str) -> String,
    optional: impl Fn(&str) -> String,
    list: impl Fn(&str) -> String,
    optional_list: impl Fn(&str) -> String,
) -> String {
    let named = |kind: Kind| parameters.iter().filter(move |parameter| parameter.kind == kind).map(ident);
    let singles: Vec<String> = named(Kind::Tensor).map(|name| single(&name)).collect();
    let mut chained: Vec<String> = named(Kind::TensorList).map(|name| list(&name)).collect();
    chained.extend(named(Kind::TensorOptionalList).map(|name| optional_list(&name)));
    chained.extend(named(Kind::TensorOptional).map(|name| optional(&name)));
    let mut text = match (singles.as_slice(), chained.as_slice()) {
        ([], []) => return "[]".into(),
        ([], [_]) => return chained.remove(0),
        // A copied list is an iterator already; an option and a reference are not.
        ([], [first, ..]) if first.ends_with(')') => chained.remove(0),
        ([], _) => format!("{}.iter()", chained.remove(0).trim_start_matches('&')),
        (singles, []) => return format!("[{}]", singles.join(", ")),
        (singles, _) => format!("[{}].into_iter()", singles.join(", ")),
    };
    for link in chained {
        text.push_str(&format!(".chain({link})"));
    }
    text
}

/// `text` without comments and string literals: only the names that the code uses remain.
pub fn without_strings(text: &str) -> String {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    code.join("\n").split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// `text` as doc comment lines of at most 116 columns, indented by `indent` when rustfmt has placed them.
pub fn doc(text: &str, indent: usize) -> String {
    comment("///", text, indent)
}

/// `text` as comment lines with this sign.
pub fn comment(sign: &str, text: &str, indent: usize) -> String {
    let width = 116 - indent - sign.len();
    let mut lines = String::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
                lines.push_str(&format!("{sign} {line}\n"));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push_str(format!("{sign} {line}").trim_end());
        lines.push('\n');
    }
    lines
}

/// The parts of a macro's line, which rustfmt leaves alone, in as few lines of 120 characters as they fit into.
pub fn filled(parts: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= 120 => {
                line.push(' ');
                line.push_str(part);
            }
            None => lines.push(part.clone()),
            Some(_) => lines.push(format!("    {part}")),
        }
    }
    lines.join("\n") + "\n"
}

/// `text` as inline code, unless it contains code.
pub fn code(text: &str) -> String {
    if text.contains('`') { text.to_string() } else { format!("`{text}`") }
}

/// Whether `text` contains `word` as a whole word.
pub fn mentions(text: &str, word: &str) -> bool {
    let boundary = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(word).any(|(start, _)| {
        boundary(text[..start].chars().next_back()) && boundary(text[start + word.len()..].chars().next())
    })
}
