//! All naming rules of all bindings.
//!
//! | form | Rust | C | C++ and Java |
//! |---|---|---|---|
//! | `mul.Tensor` | `ops::mul_tensor` | `rlt_tensor_mul_Tensor` | `mul` |
//! | `mul_.Tensor` | `ops::mul_tensor_` | `rlt_tensor_mul_Tensor_` | `mul_` |
//! | `mul.out` | `ops::mul_out` | `rlt_tensor_mul_out` | `mul_out` |
//! | `_log_softmax` | `ops::_log_softmax` | `rlt_tensor__log_softmax` | `_log_softmax` |

use crate::model::{Form, FormKind, Op};
use rushlight_schema::Signature;

/// The name `mul_` of `mul_.Tensor` without its underscore, and whether it had one.
fn split(signature: &Signature) -> (&str, bool) {
    match signature.name.strip_suffix('_') {
        Some(base) => (base, true),
        None => (&signature.name, false),
    }
}

fn joined(signature: &Signature) -> String {
    let (base, in_place) = split(signature);
    let overload = if signature.overload.is_empty() { String::new() } else { format!("_{}", signature.overload) };
    let namespace = if signature.namespace.is_empty() { String::new() } else { format!("{}_", signature.namespace) };
    format!("{namespace}{base}{overload}{}", if in_place { "_" } else { "" })
}

/// The name without in-place underscore and overload, which the forms and overloads of an operator share (`mul`).
pub fn base(signature: &Signature) -> &str {
    split(signature).0
}

/// The function in `rushlight_tensor::ops`: `mul_tensor_`. Underscores inside of it are single: `__and_tensor_`.
pub fn rust_function(signature: &Signature) -> String {
    let name = joined(signature).to_lowercase();
    let words = name.trim_start_matches('_');
    let mut function = name[..name.len() - words.len()].to_owned();
    for character in words.chars() {
        if character != '_' || !function.ends_with('_') || function.trim_start_matches('_').is_empty() {
            function.push(character);
        }
    }
    rust_identifier(&function)
}

/// The `OpDef` static: `MUL_TENSOR_`.
pub fn rust_static(signature: &Signature) -> String {
    joined(signature).to_uppercase()
}

/// `name` in lower case, with an underscore if it is a keyword of Rust (`self_`, `where_`).
pub fn rust_identifier(name: &str) -> String {
    const KEYWORDS: [&str; 43] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
        "else", "enum", "extern", "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "try", "type",
        "unsafe", "use", "where", "while",
    ];
    escape(&name.to_lowercase(), &KEYWORDS)
}

/// The C name of a parameter of a Rust function: `self` for `self_`.
pub fn c_parameter(identifier: &str) -> String {
    match identifier.strip_suffix('_') {
        Some(name) if rust_identifier(name) == identifier => c_identifier(name),
        _ => identifier.to_owned(),
    }
}

/// The C function: `rlt_tensor_mul_Tensor_`.
pub fn c_function(signature: &Signature) -> String {
    format!("rlt_tensor_{}", joined(signature))
}

/// `name`, with an underscore if it is a keyword of C99 or C++17 (both compile the C headers).
pub fn c_identifier(name: &str) -> String {
    const KEYWORDS: [&str; 60] = [
        "alignas",
        "alignof",
        "and",
        "asm",
        "auto",
        "bool",
        "break",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "decltype",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "not",
        "operator",
        "or",
        "private",
        "protected",
        "public",
        "register",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
    ];
    escape(name, &KEYWORDS)
}

/// The C++ function or method: `mul`, `mul_`, `mul_out`.
pub fn cxx_function(form: &Form) -> String {
    match form.kind {
        FormKind::Out => format!("{}_out", form.signature.name),
        FormKind::Functional | FormKind::InPlace => form.signature.name.to_string(),
    }
}

/// The Java method: PyTorch's name in camel case, like every other method of Java. Underscores at both ends have a meaning
/// and stay: `_fused_adam_` is `_fusedAdam_`.
pub fn java_method(form: &Form) -> String {
    const KEYWORDS: [&str; 10] =
        ["abstract", "default", "final", "native", "new", "package", "private", "switch", "this", "volatile"];
    escape(&camel_case(&cxx_function(form)), &KEYWORDS)
}

fn camel_case(name: &str) -> String {
    let inner = name.trim_matches('_');
    let start = name.len() - name.trim_start_matches('_').len();
    let end = start + inner.len();
    let mut words = inner.split('_');
    let mut out = name[..start].to_string() + words.next().unwrap_or_default();
    for word in words {
        let mut letters = word.chars();
        out.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        out.push_str(letters.as_str());
    }
    out + &name[end..]
}

/// `name`, with an underscore if it is a keyword of Java.
pub fn java_identifier(name: &str) -> String {
    const KEYWORDS: [&str; 50] = [
        "abstract",
        "assert",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "default",
        "do",
        "double",
        "else",
        "enum",
        "extends",
        "final",
        "finally",
        "float",
        "for",
        "goto",
        "if",
        "implements",
        "import",
        "instanceof",
        "int",
        "interface",
        "long",
        "native",
        "new",
        "package",
        "private",
        "protected",
        "public",
        "return",
        "short",
        "static",
        "strictfp",
        "super",
        "switch",
        "synchronized",
        "this",
        "throw",
        "throws",
        "transient",
        "try",
        "void",
        "volatile",
        "while",
    ];
    escape(name, &KEYWORDS)
}

/// The name of a form for interpreters and `rlt_op_call`: `aten::mul_`.
pub fn qualified(signature: &Signature) -> String {
    format!("aten::{}", signature.name)
}

/// The name of `grad_fn` with PyTorch's number: `MulBackward0` for the first differentiable overload of `mul`.
pub fn node(op: &Op, number: usize) -> String {
    let mut name: String = base(&op.primary().signature).split('_').map(capitalized).collect();
    name.push_str("Backward");
    format!("{name}{number}")
}

/// The Rust type of the node: `MulTensorBackward`. Unlike [`node`] it is unique among the operators of a family.
pub fn rust_node(op: &Op) -> String {
    let name = joined(&op.primary().signature);
    let private = if name.starts_with('_') { "_" } else { "" };
    let words: String = name.split('_').map(capitalized).collect();
    format!("{private}{words}Backward")
}

fn capitalized(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + characters.as_str())
}

fn escape(name: &str, keywords: &[&str]) -> String {
    if keywords.contains(&name) { format!("{name}_") } else { name.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(name: &str) -> Signature {
        format!("{name}() -> ()").parse().unwrap()
    }

    #[test]
    fn names_of_java_are_in_camel_case() {
        let cases = [
            ("log_softmax", "logSoftmax"),
            ("add_", "add_"),
            ("index_put_", "indexPut_"),
            ("_fused_adam_", "_fusedAdam_"),
            ("conv_transpose1d", "convTranspose1d"),
            ("__and__", "__and__"),
            ("matrix_H", "matrixH"),
        ];
        for (name, expected) in cases {
            assert_eq!(camel_case(name), expected);
        }
    }

    #[test]
    fn names_follow_the_table() {
        let cases = [
            ("mul.Tensor", "mul_tensor", "MUL_TENSOR", "rlt_tensor_mul_Tensor"),
            ("mul_.Tensor", "mul_tensor_", "MUL_TENSOR_", "rlt_tensor_mul_Tensor_"),
            ("mul.out", "mul_out", "MUL_OUT", "rlt_tensor_mul_out"),
            ("sum", "sum", "SUM", "rlt_tensor_sum"),
            ("sum.dim_IntList", "sum_dim_intlist", "SUM_DIM_INTLIST", "rlt_tensor_sum_dim_IntList"),
            ("uniform_", "uniform_", "UNIFORM_", "rlt_tensor_uniform_"),
            ("_log_softmax", "_log_softmax", "_LOG_SOFTMAX", "rlt_tensor__log_softmax"),
            ("where", "where_", "WHERE", "rlt_tensor_where"),
            ("where.self", "where_self", "WHERE_SELF", "rlt_tensor_where_self"),
        ];
        for (name, function, constant, c) in cases {
            let signature = signature(name);
            assert_eq!(rust_function(&signature), function);
            assert_eq!(rust_static(&signature), constant);
            assert_eq!(c_function(&signature), c);
        }
    }

    #[test]
    fn keywords_get_an_underscore() {
        assert_eq!(rust_identifier("self"), "self_");
        assert_eq!(rust_identifier("from"), "from");
        assert_eq!(c_identifier("default"), "default_");
        assert_eq!(["self_", "default_", "mul_", "for_"].map(c_parameter), ["self", "default_", "mul_", "for_"]);
        assert_eq!(java_identifier("long"), "long_");
    }
}
