//! The code that the forms of a call class share: the native method, and the method of `Calls` that converts the
//! arguments, retains the tensors and generators (`NativeOwner`, so that closing one on another thread is safe) and
//! wraps the results.

use super::member::Declared;
use super::types::{native_parameters, native_value};
use super::{NULLABLE, PACKAGE};
use crate::class::{self, Class};
use crate::emit::{first_line, rust_ops};
use crate::face::Face;
use crate::load::FOLDER;
use crate::model::{Family, FormKind, Returns};
use crate::types::Kind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// `org/rushlight/internal/Native.java`
pub fn native(families: &[Family]) -> String {
    let mut text = first_line(FOLDER);
    let _ = write!(
        text,
        "package org.rushlight.internal;\n\n\
         /**\n * The operators as native methods, one for all operators with the same types of arguments and results. The number op is the place\n \
         * of an operator in the table of operators. A long is a handle of the C ABI, a number or the options of a factory; handle 0 is none.\n */\n\
         public final class Native {{\n    /** Differs where the table of operators differs: this jar and its library must agree. */\n    \
         static final long TABLE = {:#x}L;\n\n    static {{\n        NativeLibrary.load();\n    }}\n\n    private Native() {{}}\n\n",
        rust_ops::table_number(families)
    );
    for (class, _) in class::public(families).into_values() {
        let mut parameters = vec!["int op".to_string()];
        parameters.extend(class.parameters().iter().flat_map(|param| native_parameters(param.kind, &param.name)));
        let result = match class.returns {
            Returns::Nothing => "void",
            Returns::Tensor => "long",
            Returns::Tensors(_) | Returns::TensorList => "long[]",
            Returns::Value(_) | Returns::Mixed(_) => "Object[]",
        };
        let _ = writeln!(text, "    public static native {result} {}({});", class.java_method(), parameters.join(", "));
    }
    text + "}\n"
}

/// `org/rushlight/Calls.java`
pub fn calls(families: &[Family]) -> String {
    let mut text = first_line(FOLDER) + PACKAGE;
    text.push_str(
        "import static org.rushlight.NativeOwner.acquire;\nimport static org.rushlight.NativeOwner.concat;\n",
    );
    text.push_str(
        "import static org.rushlight.NativeOwner.handleOrZero;\nimport static org.rushlight.NativeOwner.release;\n\n",
    );
    text.push_str(NULLABLE.trim_end());
    text.push_str("\nimport org.rushlight.internal.Convert;\nimport org.rushlight.internal.Native;\n\n");
    text.push_str(
        "/**\n * Calls of operators, one method for all operators with the same types of arguments and results: converts the arguments, and holds the\n \
         * tensors and generators meanwhile. The number op is the place of an operator in the table of operators.\n */\n\
         final class Calls {\n    private Calls() {}\n",
    );
    let mut methods = BTreeMap::new();
    for face in families.iter().flat_map(Face::of).filter(|face| !face.op.internal) {
        let class = Class::of(face.form);
        let back = Back::of(&face);
        methods.entry(back.method(&class)).or_insert((class, back));
    }
    for (name, (class, back)) in methods {
        text.push_str(&call(&name, &class, back));
    }
    text + "}\n"
}

/// The return value of a method of `Calls`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Back {
    /// The results.
    Results,
    /// The tensor that was written in place, the first argument.
    First,
    /// The tensor that received the result, the last argument.
    Last,
    /// Nothing: the caller returns the written arguments, if any.
    Nothing,
}

impl Back {
    /// The return value of the call of a form.
    pub fn of(face: &Face) -> Back {
        let first = face.params.first().is_some_and(|param| param.name == "self" && param.kind == Kind::Tensor);
        match (face.returns, face.form.kind) {
            (Returns::Nothing, FormKind::InPlace) if first => Back::First,
            (Returns::Nothing, FormKind::Out) if face.outs.len() == 1 => Back::Last,
            (Returns::Nothing, _) => Back::Nothing,
            _ => Back::Results,
        }
    }

    /// `tensor2ScalarToTensor`, `tensor2ScalarToSelf`
    pub fn method(self, class: &Class) -> String {
        let name = class.java_method();
        match self {
            Back::First => name.replace("ToNothing", "ToSelf"),
            Back::Last => name.replace("ToNothing", "ToOut"),
            Back::Results | Back::Nothing => name,
        }
    }
}

fn call(name: &str, class: &Class, back: Back) -> String {
    let params = class.parameters();
    let mut head = vec!["int op".to_string()];
    let mut before = String::new();
    let (mut values, mut held, mut lists) = (vec!["op".to_string()], Vec::new(), Vec::new());
    for param in &params {
        let mut x = param.name.clone();
        head.push(Declared::of(param.kind, &x).text());
        match param.kind {
            Kind::Tensor | Kind::TensorOptional | Kind::GeneratorOptional => held.push(x.clone()),
            Kind::TensorList | Kind::TensorOptionalList => {
                // A copy: the retained tensors must be those that are passed and released, even if another thread
                // writes to the array meanwhile.
                let _ = writeln!(before, "        Tensor[] {x}List = {x}.clone();");
                x.push_str("List");
                lists.push(x.clone());
            }
            Kind::Scalar | Kind::ScalarOptional => {
                let make = if param.kind == Kind::Scalar { "of" } else { "ofNullable" };
                let _ = writeln!(before, "        Scalar {x}Scalar = Scalar.{make}({x});");
                x.push_str("Scalar");
            }
            _ => {}
        }
        values.push(native_value(param.kind, &x));
    }
    let native = format!("Native.{}({})", class.java_method(), values.join(", "));
    let options = params.iter().find(|param| param.kind == Kind::Options);
    let (result, lines) = match (class.returns, back, options) {
        // The native options do not include requires_grad, so the last step of a factory sets it.
        (Returns::Tensor, _, Some(options)) => {
            ("Tensor", format!("return TensorOptions.finish({}, Tensor.wrap({native}));\n", options.name))
        }
        (Returns::Tensor, ..) => ("Tensor", format!("return Tensor.wrap({native});\n")),
        (Returns::TensorList | Returns::Tensors(_), ..) => ("Tensor[]", format!("return Tensor.wrapAll({native});\n")),
        (Returns::Value(kind), ..) => {
            let spelling = kind.spelling();
            let result = format!("Boxed.result({native})");
            (spelling.java, format!("return {};\n", spelling.unboxed.replace('$', &result)))
        }
        // `load.rs` leaves them without methods.
        (Returns::Mixed(_), ..) => ("void", String::new()),
        (Returns::Nothing, Back::First, _) => ("Tensor", format!("{native};\nreturn a0;\n")),
        (Returns::Nothing, Back::Last, _) => ("Tensor", format!("{native};\nreturn a{};\n", params.len() - 1)),
        (Returns::Nothing, ..) => ("void", format!("{native};\n")),
    };
    let body = match hold(&held, &lists, &mut before) {
        None => indent(&lines, 8),
        Some(hold) => format!(
            "        acquire({hold});\n        try {{\n{}        }} finally {{\n            release({hold});\n        }}\n",
            indent(&lines, 12)
        ),
    };
    format!("\n    static {result} {name}({}) {{\n{before}{body}    }}\n", head.join(", "))
}

/// The arguments of `acquire` and `release` that are retained during the call.
fn hold(held: &[String], lists: &[String], before: &mut String) -> Option<String> {
    let held_array = match (lists, held.len()) {
        ([], 0) => return None,
        ([], 1..=4) => return Some(held.join(", ")),
        ([list], 0) => return Some(list.clone()),
        ([], _) => format!("{{{}}}", held.join(", ")),
        ([first, more @ ..], _) => {
            let rest: String = held.iter().map(|x| format!(", {x}")).collect();
            let joined = more.iter().fold(first.clone(), |joined, list| format!("concat({joined}, {list})"));
            if rest.is_empty() { joined } else { format!("concat({joined}{rest})") }
        }
    };
    let _ = writeln!(before, "        NativeOwner[] held = {held_array};");
    Some("held".into())
}

fn indent(lines: &str, width: usize) -> String {
    lines.lines().map(|line| format!("{}{line}\n", " ".repeat(width))).collect()
}
