//! How types are printed: as annotations of source code, and as PyTorch prints schemas.

use super::Type;
use std::fmt;

impl Type {
    /// The annotation that means this type: `Dict[str, List[int]]`. PyTorch's `annotation_str`.
    pub fn annotation_str(&self) -> String {
        let mut out = String::new();
        self.write_annotation(&mut out);
        out
    }

    /// The type in the grammar of schemas: `Dict(str, int[])`. PyTorch's `str`.
    pub fn schema_str(&self) -> String {
        let mut out = String::new();
        self.write_schema(&mut out, false);
        out
    }

    /// [`schema_str`](Self::schema_str) with the names of NamedTuples in place of their fields, as PyTorch prints schemas
    /// of functions.
    pub fn qualified_str(&self) -> String {
        let mut out = String::new();
        self.write_schema(&mut out, true);
        out
    }

    /// The name of a type without parameters.
    fn simple(&self) -> Option<&str> {
        Some(match self {
            Type::Any => "Any",
            Type::Tensor => "Tensor",
            Type::Int => "int",
            Type::Float => "float",
            Type::Complex => "complex",
            Type::Number => "number",
            Type::Bool => "bool",
            Type::Str => "str",
            Type::None => "NoneType",
            Type::Device => "Device",
            Type::Generator => "Generator",
            Type::Stream => "Stream",
            Type::Capsule => "Capsule",
            Type::AnyList => "list",
            Type::AnyTuple => "tuple",
            Type::NamedTuple(tuple) => &tuple.name,
            Type::Enum(class) => &class.name,
            Type::Class(name) | Type::Interface(name) => name,
            Type::Function(_) => "Function",
            _ => return None,
        })
    }

    fn write_annotation(&self, out: &mut String) {
        if let Some(name) = self.simple() {
            out.push_str(name);
            return;
        }
        let (name, parts): (&str, &[Type]) = match self {
            Type::List(element) => ("List", std::slice::from_ref(&**element)),
            Type::Optional(element) => ("Optional", std::slice::from_ref(&**element)),
            Type::Future(element) => ("Future", std::slice::from_ref(&**element)),
            Type::RRef(element) => ("RRef", std::slice::from_ref(&**element)),
            Type::Await(element) => ("Await", std::slice::from_ref(&**element)),
            Type::Tuple(elements) => ("Tuple", elements),
            Type::Union(members) => ("Union", members),
            Type::Dict(pair) => {
                out.push_str("Dict[");
                pair.0.write_annotation(out);
                out.push_str(", ");
                pair.1.write_annotation(out);
                out.push(']');
                return;
            }
            _ => return,
        };
        out.push_str(name);
        out.push('[');
        if parts.is_empty() {
            out.push_str("()");
        }
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            part.write_annotation(out);
        }
        out.push(']');
    }

    fn write_schema(&self, out: &mut String, names: bool) {
        match self {
            Type::Number => out.push_str("Scalar"),
            Type::List(element) => {
                element.write_schema(out, names);
                out.push_str("[]");
            }
            Type::Optional(element) => {
                element.write_schema(out, names);
                out.push('?');
            }
            Type::Dict(pair) => {
                out.push_str("Dict(");
                pair.0.write_schema(out, names);
                out.push_str(", ");
                pair.1.write_schema(out, names);
                out.push(')');
            }
            Type::Tuple(elements) => write_list("(", elements, out, names),
            Type::Union(members) => write_list("Union(", members, out, names),
            Type::Await(element) => write_list("Await(", std::slice::from_ref(&**element), out, names),
            Type::Enum(class) => {
                out.push_str("Enum<");
                out.push_str(&class.name);
                out.push('>');
            }
            Type::NamedTuple(tuple) if names && tuple.name.starts_with("__torch__") => out.push_str(&tuple.name),
            Type::NamedTuple(tuple) => {
                out.push_str("NamedTuple(");
                for (index, (name, element)) in tuple.fields.iter().enumerate() {
                    out.push_str(if index > 0 { ", " } else { "" });
                    out.push_str(name);
                    out.push_str(" : ");
                    element.write_schema(out, names);
                }
                out.push(')');
            }
            other => other.write_annotation(out),
        }
    }
}

fn write_list(open: &str, parts: &[Type], out: &mut String, names: bool) {
    out.push_str(open);
    for (index, part) in parts.iter().enumerate() {
        out.push_str(if index > 0 { ", " } else { "" });
        part.write_schema(out, names);
    }
    out.push(')');
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.annotation_str())
    }
}
