//! The declarations of the repository load, and their derived forms are PyTorch's.

use crate::model::FormKind;
use std::collections::HashSet;

#[test]
fn the_declarations_load() {
    let families = crate::load().unwrap_or_else(|problems| panic!("{}", problems.join("\n")));
    assert!(families.len() >= 12);
}

#[test]
fn aliases_have_the_forms_of_their_operator() {
    let families = crate::load().unwrap();
    let aliases_of = |name: &str| {
        let op = families.iter().flat_map(|family| &family.ops).find(|op| op.name() == name).unwrap();
        let line = |form: &crate::model::Form| format!("{} {} {}", form.signature, form.function, form.method);
        op.aliases.iter().map(|alias| line(&alias.form)).collect::<Vec<_>>()
    };
    assert_eq!(
        aliases_of("atan2"),
        [
            "arctan2(Tensor self, Tensor other) -> Tensor true true",
            "arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!) false true",
            "arctan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!) true false",
        ]
    );
    // Names of a namespace are functions only.
    assert_eq!(
        aliases_of("xlogy.Scalar_Self"),
        [
            "special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor true false",
            "special_xlogy.self_scalar_out(Scalar self, Tensor other, *, Tensor(a!) out) -> Tensor(a!) true false",
        ]
    );
    // Names outside the namespace are methods too; `only` leaves out the out form.
    assert_eq!(
        aliases_of("linalg_inv"),
        [
            "inverse(Tensor self) -> Tensor true true",
            "inverse.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!) true false",
        ]
    );
    assert_eq!(aliases_of("linalg_det"), ["det(Tensor self) -> Tensor true true"]);
    assert_eq!(
        aliases_of("transpose_"),
        [
            "swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!) false true",
            "swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!) false true",
        ]
    );
}

/// Whether an out form has the name and the arguments that PyTorch derives from a functional form: `mul.Scalar_out` from
/// `mul.Scalar`, `clone.out` from `clone`.
fn derived_from(out: &str, known: &HashSet<(String, String)>) -> bool {
    known.iter().any(|(functional, _)| {
        let Some((name, rest)) = functional.split_once('(') else { return false };
        let Some((arguments, returns)) = rest.rsplit_once(") -> ") else { return false };
        let derived = if name.contains('.') { format!("{name}_out") } else { format!("{name}.out") };
        let marker = if arguments.contains("*, ") { "" } else { "*, " };
        returns == "Tensor" && out == format!("{derived}({arguments}, {marker}Tensor(a!) out) -> Tensor(a!)")
    })
}

/// Every form is one of PyTorch's, with the same variants.
#[test]
fn derived_forms_are_pytorchs() {
    let table = include_str!("../../../../tests/data/operators.tsv");
    let mut known = HashSet::new();
    for line in table.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let signature: rushlight_schema::Signature = columns[2].parse().unwrap();
        let mut variants: Vec<&str> = columns[1].split(',').collect();
        variants.sort_unstable();
        known.insert((signature.to_string(), variants.join(",")));
    }
    let families = crate::load().unwrap();
    let mut strangers = Vec::new();
    let public = || families.iter().flat_map(|family| &family.ops).filter(|op| !op.internal);
    for form in public().flat_map(|op| &op.forms) {
        let variants = match (form.function, form.method) {
            (true, true) => "function,method",
            (true, false) => "function",
            _ => "method",
        };
        let text = form.signature.to_string();
        // The list does not contain PyTorch's private operators, nor the functional form that it derives from `zero_`.
        if text.starts_with('_') || text.starts_with("zero(") {
            continue;
        }
        // Out forms that PyTorch derives are not in the list: those of functional forms that are.
        if form.kind == FormKind::Out && derived_from(&text, &known) {
            continue;
        }
        // No language has an out form with a list of results.
        let by_name = form.is_by_name_only() && known.contains(&(text.clone(), "function".to_string()));
        if !by_name && !known.contains(&(text.clone(), variants.to_string())) {
            strangers.push(format!("{variants}: {text}"));
        }
    }
    let schemas: HashSet<&str> = known.iter().map(|(schema, _)| schema.as_str()).collect();
    let aliases = public().flat_map(|op| &op.aliases).map(|alias| alias.form.signature.to_string());
    strangers.extend(aliases.filter(|text| !schemas.contains(text.as_str())));
    assert!(strangers.is_empty(), "not in the list:\n{}", strangers.join("\n"));
}

/// Kernels that devices run on the host: decompositions, for which they would need a library, and at most one kernel of 20
/// besides.
#[test]
fn few_kernels_run_on_the_host_of_a_device() {
    let families = crate::load().unwrap();
    let kernels = |keep: &dyn Fn(&crate::model::Op) -> bool| -> Vec<String> {
        let is_kernel = |op: &&crate::model::Op| matches!(op.body, crate::model::Body::Kernel { .. }) && keep(op);
        let others = families.iter().filter(|family| !family.name.starts_with("linalg_"));
        others.flat_map(|family| &family.ops).filter(is_kernel).map(crate::model::Op::name).collect()
    };
    let (all, on_host) = (kernels(&|_| true), kernels(&crate::model::Op::is_on_host));
    assert!(on_host.len() * 20 <= all.len(), "{on_host:?} of {} kernels", all.len());
}
