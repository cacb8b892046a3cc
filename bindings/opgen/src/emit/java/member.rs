//! The public methods of a form: the complete one, and those that leave out trailing arguments or take primitive
//! numbers.

use super::calls::Back;
use super::types::{default_value, public_type};
use super::{camel, doc, record, result_names};
use crate::class::Class;
use crate::face::Face;
use crate::model::{FormKind, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A form as a method of `Tensor`, or as a function of `Torch`.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The form.
    pub face: &'a Face<'a>,
    /// Whether it is a method.
    pub method: bool,
}

/// The Java types of `int?`, `float?` and `int[1]`: objects and arrays, or primitive numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `Long`, `long[]`
    Boxed,
    /// `long`
    Plain,
}

/// One parameter of a signature.
pub struct Declared {
    /// `Tensor`, `long...`
    pub ty: String,
    /// Its name in Java.
    pub name: String,
    nullable: Nullable,
}

/// Which part may be null: the argument or, with brackets, its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nullable {
    Nothing,
    Itself,
    Elements,
}

impl Nullable {
    fn of(kind: Kind, ty: &str) -> Nullable {
        match kind {
            Kind::TensorOptionalList => Nullable::Elements,
            // Primitive numbers are never null.
            _ if matches!(ty, "long" | "double") => Nullable::Nothing,
            kind if kind.is_optional() => Nullable::Itself,
            _ => Nullable::Nothing,
        }
    }
}

impl Declared {
    /// A parameter of this kind.
    pub fn of(kind: Kind, name: &str) -> Declared {
        Declared::typed(kind, public_type(kind).into(), name)
    }

    fn typed(kind: Kind, ty: String, name: &str) -> Declared {
        let nullable = Nullable::of(kind, &ty);
        Declared { ty, name: name.into(), nullable }
    }

    /// `@Nullable Tensor weight`
    pub fn text(&self) -> String {
        let Declared { ty, name, nullable } = self;
        for brackets in ["[]", "..."] {
            if let (Nullable::Itself, Some(element)) = (nullable, ty.strip_suffix(brackets)) {
                return format!("{element} @Nullable {brackets} {name}");
            }
        }
        if *nullable == Nullable::Nothing { format!("{ty} {name}") } else { format!("@Nullable {ty} {name}") }
    }

    /// The type without `...`.
    pub fn erased(&self) -> String {
        self.ty.replace("...", "[]")
    }
}

/// The public parameters when only the first `count` arguments are given.
pub fn parameters(face: &Face, method: bool, count: usize, spelling: Spelling) -> Vec<Declared> {
    let given: Vec<&Parameter> = face.params[..count].iter().filter(|p| !(method && p.name == "self")).collect();
    let mut parameters = Vec::new();
    for (index, param) in given.iter().enumerate() {
        let last = index + 1 == given.len() && face.outs.is_empty();
        let after_number = given[..index].iter().any(|p| matches!(p.kind, Kind::Int | Kind::IntOptional | Kind::Float));
        let ty = match param.kind {
            Kind::TensorList if last => "Tensor...".to_string(),
            Kind::IntList | Kind::IntListOptional
                if spelling == Spelling::Plain && face.takes_single(param) && !last =>
            {
                "long".into()
            }
            Kind::IntList | Kind::IntListOptional if last && !after_number => "long...".into(),
            Kind::IntOptional if spelling == Spelling::Plain => "long".into(),
            Kind::FloatOptional if spelling == Spelling::Plain => "double".into(),
            kind => public_type(kind).into(),
        };
        parameters.push(Declared::typed(param.kind, ty, &camel(&param.name)));
    }
    parameters.extend(face.outs.iter().map(|out| Declared::of(Kind::Tensor, &camel(out))));
    parameters
}

/// The type of the result.
pub fn result(face: &Face) -> String {
    match (face.returns, face.form.kind) {
        (Returns::TensorList, _) => "Tensor[]".into(),
        (Returns::Tensor, _) => "Tensor".into(),
        (Returns::Value(kind), _) => kind.spelling().java.into(),
        (Returns::Mixed(_), _) => "void".into(),
        (Returns::Tensors(_), _) => format!("Results.{}", record(&result_names(face))),
        (Returns::Nothing, FormKind::Out) if face.outs.len() > 1 => format!("Results.{}", record(&result_names(face))),
        (Returns::Nothing, FormKind::Out) => "Tensor".into(),
        (Returns::Nothing, _) if face.has_self() => "Tensor".into(),
        (Returns::Nothing, _) => "void".into(),
    }
}

impl Member<'_> {
    /// The parameters when only the first `count` arguments are given.
    pub fn parameters(&self, count: usize, spelling: Spelling) -> Vec<Declared> {
        parameters(self.face, self.method, count, spelling)
    }

    /// The type names of a signature. Two methods of the same name must differ in them.
    pub fn key(&self, parameters: &[Declared]) -> String {
        let types: Vec<String> = parameters.iter().map(Declared::erased).collect();
        format!("{}({})", names::java_method(self.face.form), types.join(","))
    }

    /// The complete method: one call of the class's method in `Calls`. `place` names the row of the form.
    pub fn complete(&self, place: u32) -> String {
        let face = self.face;
        let value = |x: &str| if self.method && x == "self" { "self()".to_string() } else { camel(x) };
        let mut values = vec![format!("{place:#x}")];
        values.extend(face.params.iter().map(|param| value(&param.name)));
        values.extend(face.outs.iter().map(|out| camel(out)));
        let back = Back::of(face);
        let call = format!("Calls.{}({})", back.method(&Class::of(face.form)), values.join(", "));
        let result = result(face);
        let body = match (back, face.returns, &face.outs[..]) {
            (Back::Results, Returns::Tensors(count), _) => {
                let parts: Vec<String> = (0..count).map(|index| format!("results[{index}]")).collect();
                format!("        Tensor[] results = {call};\n        return new {result}({});\n", parts.join(", "))
            }
            (Back::Results | Back::First | Back::Last, ..) => format!("        return {call};\n"),
            (Back::Nothing, _, []) if face.has_self() => {
                format!("        {call};\n        return {};\n", value("self"))
            }
            (Back::Nothing, _, []) => format!("        {call};\n"),
            (Back::Nothing, _, outs) => {
                let parts: Vec<String> = outs.iter().map(|out| camel(out)).collect();
                format!("        {call};\n        return new {result}({});\n", parts.join(", "))
            }
        };
        let parameters = self.parameters(face.params.len(), Spelling::Boxed);
        format!("\n{}{}{{\n{body}    }}\n", doc::javadoc(self, &parameters), self.head(&parameters))
    }

    /// The methods of an alias: each calls the method of `target` with the same parameters.
    pub fn alias(&self, target: &Face, taken: &mut BTreeSet<String>) -> String {
        let face = self.face;
        // A function of a form that is a method only, or the other way round.
        let receiver = if !self.method && !target.form.function { "self." } else { "" };
        let (class, own) = if self.method && !target.form.method { ("Torch.", Some("self()")) } else { ("", None) };
        let back = if result(face) == "void" { "" } else { "return " };
        let mut text = String::new();
        let required = face.params.iter().rposition(|param| param.default.is_none()).map_or(0, |index| index + 1);
        for count in (required..=face.params.len()).rev() {
            for spelling in [Spelling::Boxed, Spelling::Plain] {
                let parameters = self.parameters(count, spelling);
                if taken.insert(self.key(&parameters)) {
                    let given = parameters.iter().map(|parameter| parameter.name.clone());
                    let given = given.filter(|name| receiver.is_empty() || name != "self");
                    let given: Vec<String> = own.map(String::from).into_iter().chain(given).collect();
                    let call = format!("{receiver}{class}{}({})", names::java_method(target.form), given.join(", "));
                    let comment = if text.is_empty() {
                        format!("    /** Alias of {{@code {}}}. */\n", names::java_method(target.form))
                    } else {
                        String::new()
                    };
                    let _ = write!(text, "\n{comment}{}{{\n        {back}{call};\n    }}\n", self.head(&parameters));
                }
            }
        }
        text
    }

    /// The overloads that leave out trailing arguments or take plain numbers; each calls the complete method.
    pub fn ladder(&self, taken: &mut BTreeSet<String>) -> String {
        let face = self.face;
        let mut text = String::new();
        let back = if result(face) == "void" { "" } else { "return " };
        let required = face.params.iter().rposition(|param| param.default.is_none()).map_or(0, |index| index + 1);
        for count in (required..=face.params.len()).rev() {
            for spelling in [Spelling::Boxed, Spelling::Plain] {
                let parameters = self.parameters(count, spelling);
                if taken.insert(self.key(&parameters)) {
                    let call =
                        format!("{}({})", names::java_method(face.form), self.given(&parameters, count).join(", "));
                    let _ = write!(text, "\n{}{{\n        {back}{call};\n    }}\n", self.head(&parameters));
                }
            }
        }
        text
    }

    /// The arguments of the complete method, when the first `count` are given by these parameters.
    fn given(&self, parameters: &[Declared], count: usize) -> Vec<String> {
        let face = self.face;
        let mut given = parameters.iter();
        let mut values = Vec::new();
        for (index, param) in face.params.iter().enumerate().filter(|(_, p)| !(self.method && p.name == "self")) {
            let parameter = if index < count { given.next() } else { None };
            values.push(match parameter {
                Some(parameter) if face.takes_single(param) && parameter.ty == "long" => {
                    format!("new long[] {{{}}}", parameter.name)
                }
                // Boxed, so that the call matches the complete method and no overload of primitive numbers.
                Some(parameter) if param.kind == Kind::IntOptional && parameter.ty == "long" => {
                    format!("Long.valueOf({})", parameter.name)
                }
                Some(parameter) if param.kind == Kind::FloatOptional && parameter.ty == "double" => {
                    format!("Double.valueOf({})", parameter.name)
                }
                Some(parameter) => parameter.name.clone(),
                None => default_value(param),
            });
        }
        values.extend(face.outs.iter().map(|out| camel(out)));
        values
    }

    fn head(&self, parameters: &[Declared]) -> String {
        let parameters: Vec<String> = parameters.iter().map(Declared::text).collect();
        let kind = if self.method { "public final" } else { "public static" };
        format!("    {kind} {} {}({}) ", result(self.face), names::java_method(self.face.form), parameters.join(", "))
    }
}
