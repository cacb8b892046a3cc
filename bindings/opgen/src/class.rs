//! Call classes: forms whose typed functions have the same Rust type.
//!
//! All forms of a class share the code that passes on arguments: from boxed values, from C and from Java. The operator
//! table holds each typed function as a variant of one enum, `Call`, which has a variant per class.

use crate::model::{Family, Form, Op, Parameter, Returns};
use crate::types::Kind;
use std::collections::BTreeMap;

/// The parameters and the result of typed functions, without names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The kinds of the parameters, in order.
    pub kinds: Vec<Kind>,
    /// The return type of the function.
    pub returns: Returns,
}

impl Class {
    /// The class of a form.
    pub fn of(form: &Form) -> Class {
        Class { kinds: form.parameters().iter().map(|parameter| parameter.kind).collect(), returns: form.returns() }
    }

    /// `Tensor2ScalarToTensor`: the kinds in order, with the counts of equal neighbours.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for same in self.kinds.chunk_by(|a, b| a == b) {
            name.push_str(&format!("{:?}", same[0]));
            if same.len() > 1 {
                name.push_str(&same.len().to_string());
            }
        }
        name + &match self.returns {
            Returns::Nothing => "ToNothing".to_string(),
            Returns::Tensor => "ToTensor".to_string(),
            Returns::Tensors(count) => format!("ToTensor{count}"),
            Returns::TensorList => "ToTensorList".to_string(),
            Returns::Value(kind) => format!("To{kind:?}"),
            Returns::Mixed(mixed) => {
                mixed.kinds().iter().fold("To".to_string(), |name, kind| format!("{name}{kind:?}"))
            }
        }
    }

    /// `tensor2ScalarToTensor`
    pub fn java_method(&self) -> String {
        let name = self.name();
        let mut letters = name.chars();
        letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
    }

    /// `a0: &Tensor, a1: &Tensor, a2: Scalar` as parameters: what an emitter writes for forms it writes for classes, too.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut index = 0;
        let parameter = |(place, kind): (usize, &Kind)| {
            let first = index;
            // Options are dtype, layout, device and pin_memory of the schema.
            index += if *kind == Kind::Options { 4 } else { 1 };
            Parameter { name: format!("a{place}"), kind: *kind, default: None, written: false, index: first }
        };
        self.kinds.iter().enumerate().map(parameter).collect()
    }

    /// `fn(&Tensor, &Tensor, Scalar) -> Result<Tensor>`
    pub fn function_type(&self) -> String {
        let kinds: Vec<&str> = self.kinds.iter().map(|kind| kind.spelling().rust).collect();
        format!("fn({}) -> Result<{}>", kinds.join(", "), self.returns.rust())
    }

    /// `Tensor Tensor Scalar [IntList]`: the kinds as the macros take them that write the code of a class. Lists are in
    /// brackets, as C passes them in two parameters.
    pub fn words(&self) -> String {
        let word = |kind: &Kind| if kind.is_list() { format!("[{kind:?}]") } else { format!("{kind:?}") };
        self.kinds.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// `Tensor Tensor`: the results, likewise.
    pub fn result_words(&self) -> String {
        match self.returns {
            Returns::Nothing => String::new(),
            Returns::Tensor => "Tensor".into(),
            Returns::Tensors(count) => vec!["Tensor"; count].join(" "),
            Returns::TensorList => "[Tensor]".into(),
            Returns::Value(kind) => format!("{kind:?}"),
            Returns::Mixed(mixed) => mixed.kinds().iter().map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(" "),
        }
    }

    /// `Tensor2IntListToTensor(Tensor Tensor [IntList]) -> (Tensor);`
    pub fn line(&self) -> String {
        format!("{}({}) -> ({});\n", self.name(), self.words(), self.result_words())
    }
}

/// The classes of all forms by name, each with the families that use it.
pub fn all(families: &[Family]) -> BTreeMap<String, (Class, Vec<&Family>)> {
    of(families, |_, _| true)
}

/// The classes of the forms that have functions of their own, as [`all`] has them.
pub fn with_functions(families: &[Family]) -> BTreeMap<String, (Class, Vec<&Family>)> {
    of(families, |_, form| !form.is_by_name_only())
}

/// The classes of the forms of public operators, in the form of [`all`].
pub fn public(families: &[Family]) -> BTreeMap<String, (Class, Vec<&Family>)> {
    of(families, |op, form| !op.internal && !form.is_by_name_only())
}

fn of(families: &[Family], wanted: impl Fn(&Op, &Form) -> bool) -> BTreeMap<String, (Class, Vec<&Family>)> {
    let mut classes: BTreeMap<String, (Class, Vec<&Family>)> = BTreeMap::new();
    for family in families {
        let forms = family.ops.iter().flat_map(|op| op.forms.iter().map(move |form| (op, form)));
        for (_, form) in forms.filter(|(op, form)| wanted(op, form)) {
            let class = Class::of(form);
            let (_, users) = classes.entry(class.name()).or_insert((class, Vec::new()));
            if users.last().is_none_or(|last| last.name != family.name) {
                users.push(family);
            }
        }
    }
    classes
}

/// The place (see [`place`]) of the row of each form in the operator table, by the full name of the form.
pub fn places(families: &[Family]) -> BTreeMap<String, u32> {
    let mut places = BTreeMap::new();
    for (family, number) in families.iter().zip(0..) {
        let forms = family.ops.iter().flat_map(|op| &op.forms);
        places.extend(forms.zip(0..).map(|(form, row)| (form.signature.qualified_name(), place(number, row))));
    }
    places
}

/// The number by which a caller names a row of the operator table: its family in the upper half, its row in the lower.
fn place(family: u32, row: u32) -> u32 {
    family << 16 | row
}

/// `#[cfg(any(...))]` for code that these families use.
pub fn condition<'a>(families: impl Iterator<Item = &'a Family>) -> String {
    let features: Vec<String> = families.map(|family| format!("feature = {:?}", family.feature())).collect();
    match features.as_slice() {
        [single] => format!("#[cfg({single})]\n"),
        several => format!("#[cfg(any({}))]\n", several.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FormKind;

    fn class(signature: &str) -> Class {
        let signature = signature.parse().unwrap();
        Class::of(&Form { kind: FormKind::Functional, signature, function: true, method: false })
    }

    #[test]
    fn names_say_kinds_and_result() {
        let add = class("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
        assert_eq!(add.name(), "Tensor2ScalarToTensor");
        assert_eq!(add.line(), "Tensor2ScalarToTensor(Tensor Tensor Scalar) -> (Tensor);\n");
        assert_eq!(add.function_type(), "fn(&Tensor, &Tensor, Scalar) -> Result<Tensor>");
        assert_eq!(
            class("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)").name(),
            "TensorIntBoolToTensor2"
        );
        let pad = class("pad(Tensor self, int[] pad) -> ()");
        assert_eq!(pad.line(), "TensorIntListToNothing(Tensor [IntList]) -> ();\n");
        let sub = class("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
        assert_eq!(add, sub);
        assert_eq!(add.java_method(), "tensor2ScalarToTensor");
    }
}
