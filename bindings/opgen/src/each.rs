//! Operators over lists of tensors: `each = "add.Tensor"` declares that an operator calls another one for each index of its
//! lists.
//!
//! An argument of the called operator is the one of the same name, else the one at the same position, else the default.
//! Elements of lists of tensors and numbers are passed at the index; other arguments are the same for each call.

use crate::emit::rust_ops::text::ident;
use crate::model::{Body, Family, Form, FormKind, Parameter};
use crate::names;
use crate::types::Kind;
use rushlight_schema::Default;
use std::collections::HashMap;

/// Writes the calls of all operators with `each`.
pub fn resolve(families: &mut [Family]) -> Vec<String> {
    let mut problems = Vec::new();
    let targets: HashMap<String, Target> = families.iter().flat_map(targets).collect();
    for family in families {
        for op in &mut family.ops {
            let Body::Each { target, calls } = &mut op.body else { continue };
            let place = || format!("{}: {}", family.source, op.forms[0].signature.full_name());
            for form in &op.forms {
                let wanted = (target.clone(), form.kind);
                let call = targets.get(&key(&wanted)).ok_or(format!("`each`: there is no form {wanted:?}"));
                match call.and_then(|target| call_of(form, target)) {
                    Ok(call) => calls.push(call),
                    Err(problem) => problems.push(format!("{}: {problem}", place())),
                }
            }
        }
    }
    problems
}

/// A form that may be called for each index.
struct Target {
    function: String,
    parameters: Vec<Parameter>,
}

fn key((name, kind): &(String, FormKind)) -> String {
    format!("{name} {kind:?}")
}

/// The forms of a family, by the name of their operator and their kind.
fn targets(family: &Family) -> Vec<(String, Target)> {
    let forms = family.ops.iter().flat_map(|op| op.forms.iter().map(move |form| (op.name(), form)));
    let target = |(name, form): (String, &Form)| {
        let function = names::rust_function(&form.signature);
        (key(&(name, form.kind)), Target { function, parameters: form.parameters() })
    };
    forms.map(target).collect()
}

/// `ops::foreach::map(&[self_, other], None, &[], |i| ops::add_tensor(self_[i], other[i], alpha))`
fn call_of(form: &Form, target: &Target) -> Result<String, String> {
    let own = form.parameters();
    let named = |name: &str| own.iter().find(|parameter| parameter.name == name);
    let mut values = Vec::new();
    for (at, parameter) in target.parameters.iter().enumerate() {
        let free = |given: &&Parameter| target.parameters.iter().all(|other| other.name != given.name);
        let given = named(&parameter.name).or_else(|| own.get(at).filter(free));
        values.push(match given {
            Some(given) => element(given, parameter.kind)?,
            None => default(parameter)?,
        });
    }
    let function = match form.kind {
        FormKind::InPlace => "write",
        FormKind::Functional | FormKind::Out => "map",
    };
    let of_kind = |kind: Kind| own.iter().filter(move |parameter| parameter.kind == kind).map(ident);
    let lists = of_kind(Kind::TensorList).collect::<Vec<_>>().join(", ");
    let numbers = of_kind(Kind::ScalarList).next().map_or("None".into(), |list| format!("Some({list})"));
    let singles = of_kind(Kind::Tensor).collect::<Vec<_>>().join(", ");
    Ok(format!(
        "ops::foreach::{function}(&[{lists}], {numbers}, &[{singles}], |i| ops::{}({}))",
        target.function,
        values.join(", ")
    ))
}

/// The argument of one call.
fn element(given: &Parameter, wanted: Kind) -> Result<String, String> {
    let name = ident(given);
    let (kind, text) = match given.kind {
        Kind::TensorList => (Kind::Tensor, format!("{name}[i]")),
        Kind::ScalarList => (Kind::Scalar, format!("{name}[i]")),
        kind => (kind, name),
    };
    match (kind, wanted) {
        (kind, wanted) if kind == wanted => Ok(text),
        (Kind::Scalar, Kind::ScalarOptional) => Ok(format!("Some({text})")),
        _ => Err(format!("`each`: `{}` is of the kind {kind:?}, not {wanted:?}", given.name)),
    }
}

/// The default of an argument that the lists do not have.
fn default(parameter: &Parameter) -> Result<String, String> {
    match (parameter.kind, &parameter.default) {
        (Kind::Scalar, Some(Default::Int(value))) => Ok(format!("Scalar::Int({value})")),
        (Kind::Bool, Some(Default::Bool(value))) => Ok(value.to_string()),
        (kind, Some(Default::None)) if kind.is_optional() => Ok("None".into()),
        _ => Err(format!("`each`: there is no value for `{}`", parameter.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(kind: FormKind, schema: &str) -> Form {
        Form { kind, signature: schema.parse().unwrap(), function: true, method: false }
    }

    fn call(kind: FormKind, lists: &str, target: &str) -> Result<String, String> {
        let target = form(kind, target);
        let target = Target { function: names::rust_function(&target.signature), parameters: target.parameters() };
        call_of(&form(kind, lists), &target)
    }

    #[test]
    fn arguments_are_found_by_name_then_by_position() {
        let add = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
        assert_eq!(
            call(
                FormKind::Functional,
                "_foreach_add.List(Tensor[] self, Tensor[] other, *, Scalar alpha=1) -> Tensor[]",
                add
            ),
            Ok("ops::foreach::map(&[self_, other], None, &[], |i| ops::add_tensor(self_[i], other[i], alpha))".into())
        );
        assert_eq!(
            call(
                FormKind::InPlace,
                "_foreach_add_.ScalarList(Tensor(a!)[] self, Scalar[] scalars) -> ()",
                "add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"
            ),
            Ok("ops::foreach::write(&[self_], Some(scalars), &[], |i| ops::add_scalar_(self_[i], scalars[i], Scalar::Int(1)))"
                .into())
        );
        let norm = "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor";
        let norms = "_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]";
        assert!(call(FormKind::Functional, norms, norm).unwrap().ends_with("(self_[i], ord, None, false, dtype))"));
    }

    #[test]
    fn arguments_of_another_kind_are_rejected() {
        let error =
            call(FormKind::Functional, "f(Tensor[] self, int n) -> Tensor[]", "g(Tensor self, Scalar x) -> Tensor");
        assert_eq!(error.unwrap_err(), "`each`: `n` is of the kind Int, not Scalar");
    }
}
