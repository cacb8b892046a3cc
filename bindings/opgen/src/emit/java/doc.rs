//! Javadoc: the description of an operator is written once, on the method of its declared form (on the function, if it
//! is not a method). The other complete methods link to it; overloads that leave out arguments have none.

use super::member::{Declared, Member, Spelling, parameters};
use super::types::default_value;
use crate::emit::examples;
use crate::example::Example;
use crate::face::Face;
use crate::model::{FormKind, Op, Parameter};
use crate::names;
use crate::types::Kind;
use rushlight_schema::Default;
use std::fmt::Write;

/// The comment of the complete method.
pub fn javadoc(member: &Member, parameters: &[Declared]) -> String {
    match link(member) {
        Some(link) => format!("    /** {link} */\n"),
        None => description(member.face, parameters),
    }
}

/// `{@link #add(Tensor, Number)} in place.`; `None` for the method that has the description.
fn link(member: &Member) -> Option<String> {
    let op = member.face.op;
    let primary = op.primary();
    let own = std::ptr::eq(primary, member.face.form);
    if !(primary.method || primary.function) || own && (member.method || !primary.method) {
        return None;
    }
    let class = match (primary.method, member.method) {
        (true, true) => "",
        (true, false) => "Tensor",
        (false, _) => "Torch",
    };
    let face = Face::new(op, primary);
    let types = parameters(&face, primary.method, face.params.len(), Spelling::Boxed);
    let types: Vec<String> = types.iter().map(Declared::erased).collect();
    let link = format!("{{@link {class}#{}({})}}", names::java_method(primary), types.join(", "));
    Some(match member.face.form.kind {
        FormKind::Functional => format!("{link} as a function."),
        FormKind::InPlace => format!("{link} in place."),
        FormKind::Out => {
            let outs: Vec<String> =
                member.face.outs.iter().map(|out| format!("{{@code {}}}", super::camel(out))).collect();
            format!("{link} with the result in {}.", outs.join(" and "))
        }
    })
}

fn description(face: &Face, parameters: &[Declared]) -> String {
    let text = &face.op.doc;
    let mut lines = vec![html(&text.summary), format!("<p>{{@code {}}}", code(&text.formula))];
    lines.push(format!("<p>Shapes: {{@code {}}}. Errors: {}", code(&text.shapes.replace('`', "")), html(&text.errors)));
    lines.extend(face.note().map(|note| format!("<p>{}", html(&note))));
    lines.extend(example(face.op).map(|(call, result)| format!("<p>Example: {{@code {call}}} is {{@code {result}}}.")));
    let body: String = lines.iter().map(|line| format!("     * {line}\n")).collect();
    let tags = tags(face, parameters);
    let blank = if tags.is_empty() { "" } else { "     *\n" };
    format!("    /**\n{body}{blank}{tags}     */\n")
}

/// `@param` for the parameters for which the schema documents more than the name and the type.
fn tags(face: &Face, parameters: &[Declared]) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let param = face.params.iter().find(|param| super::camel(&param.name) == parameter.name);
        if let Some(note) = param.and_then(note) {
            let _ = writeln!(text, "     * @param {} {note}", parameter.name);
        }
    }
    text
}

fn note(param: &Parameter) -> Option<String> {
    let nothing = matches!(param.default, Some(Default::None));
    Some(match (param.kind, &param.default) {
        (Kind::GeneratorOptional, _) => "the random number generator; null means the default generator".into(),
        (Kind::Options, None | Some(Default::None)) => {
            "dtype, layout and device of the result; null means the defaults".into()
        }
        (kind, _) if kind.is_optional() && nothing => "may be null, which is the default".into(),
        (kind, None) if kind.is_optional() => "may be null".into(),
        (Kind::TensorOptionalList, _) => "its elements may be null".into(),
        (kind, Some(_)) if kind.is_optional() => {
            format!("may be null; the default is {{@code {}}}", default_value(param))
        }
        (_, Some(_)) => format!("the default is {{@code {}}}", default_value(param)),
        (_, None) => return None,
    })
}

/// The call of the operator's example in `OperatorExamplesTest`, and its result as declared.
fn example(op: &Op) -> Option<(String, &str)> {
    // A broken example is an error of the emitter that writes the test.
    let example = Example::parse(op)?.ok()?;
    let (_, result) = op.doc.example.as_deref()?.rsplit_once("->")?;
    Some((examples::java::call(op, &example), result.trim()))
}

/// Escapes a string for Javadoc: markup characters as entities, backquoted words as code.
fn html(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('@', "&#64;");
    escaped
        .split('`')
        .enumerate()
        .map(|(index, part)| if index % 2 == 1 { format!("<code>{part}</code>") } else { part.to_string() })
        .collect()
}

/// Escapes a string for `{@code ...}`, in which braces must be balanced.
fn code(text: &str) -> String {
    if text.matches('{').count() == text.matches('}').count() { text.to_string() } else { text.replace(['{', '}'], "") }
}
