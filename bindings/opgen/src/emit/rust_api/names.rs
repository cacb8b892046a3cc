//! The names of methods. Rust has no overloads, so each overload of an operator has its own name.
//!
//! - The overload without a name, or else the one that is declared first, has the operator's name: `add.Tensor` is `add`.
//! - The name of any other overload follows: `add.Scalar` is `add_scalar`. A type that ends the overload's name is left out
//!   where the name stays unique: `sum.dim_IntList` is `sum_dim`.
//! - An operator whose name is such a name of another one keeps the name of its overload: `scatter.reduce` is
//!   `scatter_reduce`, and `scatter_reduce.two` is `scatter_reduce_two`.
//! - In-place forms end with `_`, out forms with `_out`, and forms with all arguments have `_with` before that:
//!   `add_scalar_with_`.

use crate::face::Face;
use crate::model::{Family, Form, FormKind, Op};
use crate::names::{base, rust_identifier};
use rushlight_schema::Signature;
use std::collections::{BTreeMap, BTreeSet};

/// Operators whose name belongs to a trait of Rust that `Tensor` implements with another meaning.
const RENAMED: [(&str, &str); 1] = [("clone", "deep_clone")];

/// The types that end the names of overloads.
const TYPES: [&str; 2] = ["_intlist", "_int"];

/// The names of all operators.
pub struct Names {
    /// By the full name of the declared form: the name without `_`, `_with` and `_out`.
    stems: BTreeMap<String, String>,
}

impl Names {
    /// Chooses the names. Two equal ones are an error.
    pub fn new(families: &[Family]) -> Result<Names, String> {
        let mut declared: Vec<&Signature> = Vec::new();
        for op in families.iter().flat_map(|family| &family.ops).filter(|op| !op.internal) {
            if op.forms.iter().any(|form| !form.is_by_name_only()) {
                declared.push(&op.primary().signature);
            }
            let named = op.aliases.iter().map(|alias| &alias.form).filter(|form| !form.is_by_name_only());
            declared.extend(named.filter(|form| functional_alias(op, form).is_none()).map(|form| &form.signature));
        }
        let mut groups: BTreeMap<&str, Vec<&Signature>> = BTreeMap::new();
        for signature in declared {
            groups.entry(&signature.name).or_default().push(signature);
        }
        let mut stems: BTreeMap<String, String> = groups.values().flat_map(|group| named(group)).collect();
        let all: Vec<&Signature> = groups.into_values().flatten().collect();
        let writes = |signature: &Signature| signature.name.ends_with('_');
        for signature in all.iter().filter(|signature| !signature.overload.is_empty()) {
            let (name, full) = (base(signature), signature.qualified_name());
            let is_other = |other: &&&Signature| other.name != signature.name && writes(other) == writes(signature);
            if stems[&full] == name && all.iter().filter(is_other).any(|other| stems[&other.qualified_name()] == name) {
                stems.insert(full, format!("{name}_{}", signature.overload.to_lowercase()));
            }
        }
        let names = Names { stems };
        let mut taken = BTreeSet::new();
        for family in families {
            let faces = Face::of(family);
            let aliases = Face::aliases(family);
            let all = faces.iter().chain(aliases.iter().map(|(alias, _)| alias));
            for face in all.filter(|face| !face.op.internal && !face.form.is_by_name_only()) {
                let name = names.of(face).plain();
                if !taken.insert(name.clone()) {
                    return Err(format!("{}: the method {name} exists already", face.form.signature));
                }
            }
        }
        Ok(names)
    }

    /// The name of a form, or of an alias.
    pub fn of(&self, face: &Face) -> Name {
        let signature = &face.form.signature;
        let is_form = face.op.forms.iter().any(|form| std::ptr::eq(form, face.form));
        let named = match functional_alias(face.op, face.form) {
            _ if is_form => &face.op.primary().signature,
            Some(functional) => &functional.signature,
            None => signature,
        };
        let stem = self.stems.get(&named.qualified_name());
        Name { stem: stem.cloned().unwrap_or_else(|| base(signature).to_lowercase()), kind: face.form.kind }
    }
}

/// The functional form under the same further name as the in-place or out form `form`.
fn functional_alias<'a>(op: &'a Op, form: &Form) -> Option<&'a Form> {
    let is_functional =
        |other: &&Form| other.kind == FormKind::Functional && other.signature.name == base(&form.signature);
    op.aliases.iter().map(|alias| &alias.form).filter(|_| form.kind != FormKind::Functional).find(is_functional)
}

/// The name of a form in its parts.
#[derive(Clone)]
pub struct Name {
    /// `add_scalar`
    stem: String,
    kind: FormKind,
}

impl Name {
    fn with(&self, middle: &str) -> String {
        let end = match self.kind {
            FormKind::Functional => "",
            FormKind::InPlace => "_",
            FormKind::Out => "_out",
        };
        rust_identifier(&format!("{}{middle}{end}", self.stem))
    }

    /// `add_`: the method without optional arguments.
    pub fn plain(&self) -> String {
        self.with("")
    }

    /// `add_with_`: the method with all arguments.
    pub fn complete(&self) -> String {
        self.with("_with")
    }

    /// The name of another form of the operator.
    pub fn of_kind(&self, kind: FormKind) -> Name {
        Name { kind, ..self.clone() }
    }

    /// `Conv2d`: the struct of the optional arguments, which the forms of an operator share.
    pub fn options(&self) -> String {
        let words = self.stem.split('_').filter(|word| !word.is_empty());
        let capitalized = words.map(|word| word[..1].to_uppercase() + &word[1..]);
        capitalized.collect()
    }
}

/// The stems of the overloads of an operator, by full name.
fn named(group: &[&Signature]) -> Vec<(String, String)> {
    let plain = group.iter().position(|signature| signature.overload.is_empty()).unwrap_or(0);
    let overloads: Vec<String> = group.iter().map(|signature| signature.overload.to_lowercase()).collect();
    let shortened = |index: usize| {
        let overload = &overloads[index];
        let short = TYPES.iter().find_map(|ty| overload.strip_suffix(ty)).unwrap_or(overload);
        let others = overloads.iter().enumerate().filter(|(other, _)| *other != index);
        let unique = others
            .clone()
            .all(|(_, other)| TYPES.iter().find_map(|ty| other.strip_suffix(ty)).unwrap_or(other) != short);
        if unique { short.to_owned() } else { overload.clone() }
    };
    let stem = |(index, signature): (usize, &&Signature)| {
        let name = base(signature);
        let name = RENAMED.iter().find(|(from, _)| *from == name).map_or(name, |(_, to)| to).to_lowercase();
        let stem = if index == plain { name } else { format!("{name}_{}", shortened(index)) };
        (signature.qualified_name(), stem)
    };
    group.iter().enumerate().map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(overloads: &[&str]) -> Vec<String> {
        let signatures: Vec<Signature> =
            overloads.iter().map(|overload| format!("{overload}() -> ()").parse().unwrap()).collect();
        named(&signatures.iter().collect::<Vec<_>>()).into_iter().map(|(_, stem)| stem).collect()
    }

    #[test]
    fn overloads_have_names() {
        assert_eq!(stems(&["add.Tensor", "add.Scalar"]), ["add", "add_scalar"]);
        assert_eq!(stems(&["max.other", "max", "max.dim"]), ["max_other", "max", "max_dim"]);
        assert_eq!(stems(&["sum", "sum.dim_IntList"]), ["sum", "sum_dim"]);
        assert_eq!(stems(&["f", "f.dim", "f.dim_int"]), ["f", "f_dim", "f_dim_int"]);
        assert_eq!(stems(&["clone"]), ["deep_clone"]);
    }

    #[test]
    fn forms_end_differently() {
        let name = |kind| Name { stem: "sum_dim".into(), kind };
        assert_eq!(name(FormKind::Functional).complete(), "sum_dim_with");
        assert_eq!(name(FormKind::InPlace).complete(), "sum_dim_with_");
        assert_eq!(name(FormKind::Out).plain(), "sum_dim_out");
        assert_eq!(name(FormKind::Out).options(), "SumDim");
    }
}
