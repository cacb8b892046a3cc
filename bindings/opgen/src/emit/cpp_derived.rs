//! The functions of C++ that have no C function: `copied_functions.h`, out forms and functional forms that call another form
//! and copy, and `named_functions.h`, operators that are called by name.
//!
//! libtorch derives the first from its declarations too. They compute nothing of their own, and cost a program that does
//! not call them only their declarations.

use super::cpp::{all_forms, declare, function_arguments, function_head, lines_of, out_result, result};
use crate::face::Face;
use crate::model::{Family, Form, FormKind, Parameter, Returns};
use crate::names;
use crate::types::Kind;
use std::collections::BTreeSet;

/// The operators that some language has as a function or method, and those that are called by name.
struct Forms<'a> {
    bound: Vec<Face<'a>>,
    named: Vec<Face<'a>>,
    /// The names of the functions of `at::` that have a C function.
    functions: BTreeSet<String>,
}

impl<'a> Forms<'a> {
    fn of(families: &'a [Family]) -> Forms<'a> {
        let functions: BTreeSet<String> =
            all_forms(families).filter(|face| face.form.function).map(|face| names::cxx_function(face.form)).collect();
        let is_named = |face: &Face| {
            face.form.is_by_name_only() && face.form.signature.namespace.is_empty() && has_cxx_types(face)
        };
        // C++ has the queries as methods.
        let named_families = families.iter().filter(|family| family.name != "metadata");
        Forms {
            bound: families.iter().flat_map(Face::of).collect(),
            named: named_families.flat_map(Face::all).filter(is_named).collect(),
            functions,
        }
    }
}

/// Whether C++ has a type for each argument and result of an operator that is called by name.
fn has_cxx_types(face: &Face) -> bool {
    let arguments = face.params.iter().all(|param| !matches!(param.kind, Kind::Value | Kind::Options));
    let results = matches!(face.returns, Returns::Tensor | Returns::Tensors(_) | Returns::TensorList);
    face.form.kind == FormKind::Functional && arguments && results
}

/// The operators that C++ calls by name.
pub fn named_forms(families: &[Family]) -> Vec<Face<'_>> {
    Forms::of(families).named
}

/// `cpp-frontend/include/ATen/generated/copied_functions.h`
pub fn copied_functions(families: &[Family]) -> String {
    let forms = Forms::of(families);
    let functional = forms.bound.iter().filter_map(|face| functional(face, &forms.functions));
    lines_of("ATen/CopiedFunctions.h", out_forms(&forms.bound, &forms).into_iter().chain(functional))
}

/// `cpp-frontend/include/ATen/generated/named_functions.h`
pub fn named_functions(families: &[Family]) -> String {
    let forms = Forms::of(families);
    // ATen/Functions.h has `__and__` and similar.
    let functions = forms.named.iter().filter(|face| !face.form.signature.name.starts_with("__")).map(named_function);
    // Their out forms call them.
    let outs: BTreeSet<String> = out_forms(&forms.named, &forms).into_iter().collect();
    outs.into_iter().fold(lines_of("ATen/NamedFunctions.h", functions), |text, out| text + &out + "\n")
}

/// The call of an operator by name.
fn named_function(face: &Face) -> String {
    let types: Vec<&str> = face.params.iter().map(|param| param.kind.spelling().cxx).collect();
    let (name, overload) = (&face.form.signature.name, &face.form.signature.overload);
    let arguments: String = function_arguments(face, "").iter().map(|argument| format!(", {argument}")).collect();
    format!(
        "template <class...> {} {{ return rlt::Named<{}({})>::call(\"aten::{name}\", {overload:?}{arguments}); }}",
        function_head(face),
        result(face),
        types.join(", "),
    )
}

/// The out forms of the operators among `forms` that have none.
fn out_forms(forms: &[Face], all: &Forms) -> Vec<String> {
    let outs: Vec<&Face> = all.bound.iter().filter(|face| face.form.kind == FormKind::Out).collect();
    forms.iter().filter(|face| lacks_out(face) && !is_ambiguous(face, &outs)).map(out_form).collect()
}

/// Whether an operator returns new tensors and has no out form.
fn lacks_out(face: &Face) -> bool {
    let is_new = face.form.signature.returns.iter().all(|result| result.ty.alias.is_none());
    let computes = face.form.kind == FormKind::Functional && is_new;
    let tensors = matches!(face.returns, Returns::Tensor | Returns::Tensors(_) | Returns::TensorList);
    let is_out = |form: &Form| form.kind == FormKind::Out && !form.is_by_name_only();
    let has_out = face.op.forms.iter().any(|form| is_out(form) && names::cxx_function(form) == out_name(face));
    computes && tensors && !has_out
}

/// Whether some call would match both the out form of `face` and a declared one.
fn is_ambiguous(face: &Face, outs: &[&Face]) -> bool {
    let mut same_name = outs.iter().filter(|out| names::cxx_function(out.form) == out_name(face));
    same_name.any(|out| {
        let common = face.params.iter().zip(&out.params).take_while(|(a, b)| class(a.kind) == class(b.kind)).count();
        common >= required(face).max(required(out))
    })
}

/// The arguments that a call must give.
fn required(face: &Face) -> usize {
    let is_given = |param: &&Parameter| param.default.is_none() || face.op.cxx_required.contains(&param.name);
    face.params.iter().filter(is_given).count()
}

/// Kinds of arguments to which the same C++ values convert.
fn class(kind: Kind) -> Kind {
    match kind {
        Kind::Float | Kind::Bool | Kind::Scalar | Kind::IntList | Kind::IntListOptional => Kind::Int,
        Kind::IntOptional | Kind::FloatOptional | Kind::BoolOptional | Kind::ScalarOptional => Kind::Int,
        Kind::TensorOptional => Kind::Tensor,
        Kind::TensorOptionalList => Kind::TensorList,
        Kind::DTypeOptional => Kind::DType,
        Kind::StrOptional => Kind::Str,
        other => other,
    }
}

fn out_name(face: &Face) -> String {
    names::cxx_function(face.form) + "_out"
}

fn is_method(face: &Face) -> bool {
    face.form.method && !face.form.function
}

/// The names of the outputs; none for a list.
fn outs(face: &Face) -> Vec<String> {
    let count = match face.returns {
        Returns::Tensor => 1,
        Returns::Tensors(count) => count,
        Returns::Nothing | Returns::TensorList | Returns::Value(_) | Returns::Mixed(_) => 0,
    };
    (0..count).map(|index| format!("out{index}")).collect()
}

/// A function that takes the outputs and the arguments of the operator. What creates tensors takes their options from the
/// output.
fn out_form(face: &Face) -> String {
    let (name, outs) = (names::cxx_function(face.form), outs(face));
    let (returned, outputs, written) = match &outs[..] {
        [] => ("void".into(), vec!["TensorList out".into()], "out".into()),
        _ => (out_result(outs.len()), outs.iter().map(|out| format!("Tensor& {out}")).collect(), tied(&outs)),
    };
    let inputs = face.params.iter().filter(|p| p.kind != Kind::Options).map(|param| declare(face, param, true));
    let params: Vec<String> = outputs.into_iter().chain(inputs).collect();
    let mut arguments = function_arguments(face, "out0.options()");
    let call = if is_method(face) { format!("{}.{name}", arguments.remove(0)) } else { format!("at::{name}") };
    format!(
        "template <class...> {returned} {name}_out({}) {{ return rlt::copy_out(\"{name}\", {written}, {call}({})); }}",
        params.join(", "),
        arguments.join(", ")
    )
}

/// Outputs as a function writes them.
fn tied(outs: &[String]) -> String {
    if let [out] = outs { out.clone() } else { format!("std::tie({})", outs.join(", ")) }
}

/// The functional form of an operator that only exists in place, and its out form.
fn functional(face: &Face, present: &BTreeSet<String>) -> Option<String> {
    let written = names::cxx_function(face.form);
    let name = written.strip_suffix('_').filter(|name| !name.ends_with('_'))?;
    if face.form.kind != FormKind::InPlace || !face.has_self() || present.contains(name) {
        return None;
    }
    let declared = |defaults| face.params.iter().map(move |param| declare(face, param, defaults)).collect::<Vec<_>>();
    let arguments = function_arguments(face, "");
    let copied: Vec<String> =
        arguments.iter().map(|name| if name == "self" { "copy".into() } else { name.clone() }).collect();
    let call = match copied.iter().position(|name| name == "copy") {
        Some(place) if !face.form.function => {
            let others = [&copied[..place], &copied[place + 1..]].concat();
            format!("copy.{written}({})", others.join(", "))
        }
        _ => format!("at::{written}({})", copied.join(", ")),
    };
    Some(format!(
        "template <class...> Tensor {name}({}) {{ Tensor copy = self.clone(); {call}; return copy; }}\n\
         template <class...> Tensor& {name}_out(Tensor& out0, {}) {{ return rlt::copy_out(\"{name}\", out0, at::{name}({})); }}",
        declared(true).join(", "),
        declared(true).join(", "),
        arguments.join(", ")
    ))
}
