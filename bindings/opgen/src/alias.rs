//! Further public names of operators: the field `aliases` of a declaration.
//!
//! An alias is a base name (`absolute`), which every form of the operator has as well, or a schema with an overload name or
//! argument names or defaults of its own (`special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor`). The types are those
//! of the operator. `only` before an alias leaves out the in-place and out forms, `without out` the out form. An alias is offered
//! where the operator is, with two exceptions: names of a namespace (`special_`, `linalg_`, `fft_`) are functions only and have no
//! in-place form, and names outside of it that such an operator has (`det`) are methods too.

use crate::model::{Alias, Form, FormKind};
use rushlight_schema::{Argument, Name, Signature};

/// The names of namespaces in `torch::`.
const NAMESPACES: [&str; 3] = ["special_", "linalg_", "fft_"];

fn in_namespace(name: &str) -> bool {
    NAMESPACES.iter().any(|namespace| name.starts_with(namespace))
}

/// The forms that `names` adds to those of an operator.
pub fn of(names: &[String], forms: &[Form], problems: &mut Vec<String>) -> Vec<Alias> {
    let mut aliases = Vec::new();
    for name in names {
        let in_place = forms.iter().take_while(|form| form.kind != FormKind::Out).count();
        let (name, forms) = match (name.strip_prefix("only "), name.strip_prefix("without out ")) {
            (Some(name), _) => (name, &forms[..1]),
            (None, Some(name)) => (name, &forms[..in_place]),
            (None, None) => (&**name, forms),
        };
        match Named::parse(name, &forms[0].signature) {
            Ok(named) => aliases.extend(named.forms(forms)),
            Err(problem) => problems.push(format!("alias `{name}`: {problem}")),
        }
    }
    aliases
}

/// An alias as it is written.
enum Named {
    /// A base name.
    Base(String),
    /// A schema like that of the operator.
    Schema(Box<Signature>),
}

impl Named {
    fn parse(text: &str, operator: &Signature) -> Result<Named, String> {
        if !text.contains('(') {
            return if text == operator.name {
                Err("the operator's own name".into())
            } else {
                Ok(Named::Base(text.into()))
            };
        }
        let schema: Signature = text.parse().map_err(|error| format!("{error}"))?;
        if schema.to_string() != text {
            return Err(format!("its canonical form is \"{schema}\""));
        }
        let same = |a: &Argument, b: &Argument| a.ty == b.ty && a.kwarg_only == b.kwarg_only;
        let fits = schema.arguments.len() == operator.arguments.len()
            && schema.arguments.iter().zip(operator.arguments.iter()).all(|(a, b)| same(a, b))
            && schema.returns == operator.returns;
        if fits { Ok(Named::Schema(Box::new(schema))) } else { Err(format!("its types are not those of `{operator}`")) }
    }

    fn base(&self) -> &str {
        match self {
            Named::Base(name) => name,
            Named::Schema(schema) => schema.name.trim_end_matches('_'),
        }
    }

    fn forms(&self, forms: &[Form]) -> Vec<Alias> {
        let in_namespace = in_namespace(self.base());
        let leaves = !in_namespace && self::in_namespace(&forms[0].signature.name);
        let offered = forms.iter().enumerate().filter(|(_, form)| !(in_namespace && form.kind == FormKind::InPlace));
        let alias = |(target, form): (usize, &Form)| {
            let signature = self.signature(form);
            let receiver = signature.arguments.iter().any(|argument| argument.name == "self");
            let method = form.method || (leaves && form.kind == FormKind::Functional);
            Alias {
                target,
                form: Form {
                    kind: form.kind,
                    signature,
                    function: form.function || in_namespace,
                    method: method && receiver && !in_namespace,
                },
            }
        };
        offered.map(alias).collect()
    }

    /// The signature of a form under this name.
    fn signature(&self, form: &Form) -> Signature {
        let underscore = if form.kind == FormKind::InPlace { "_" } else { "" };
        let mut signature = form.signature.clone();
        signature.name = Name::Owned(format!("{}{underscore}", self.base()));
        if let Named::Schema(schema) = self {
            signature.overload = match (form.kind, &*schema.overload) {
                (FormKind::Out, "") => "out".into(),
                (FormKind::Out, overload) => format!("{overload}_out").into(),
                (_, overload) => overload.to_owned().into(),
            };
            let mut arguments = signature.arguments.to_vec();
            // The in-place form calls what it writes `self`; an out form has its outputs behind the inputs.
            for (argument, named) in arguments.iter_mut().zip(schema.arguments.iter()) {
                if !argument.is_written() {
                    argument.name = named.name.clone();
                    argument.default = named.default.clone();
                }
            }
            signature.arguments = arguments.into();
        }
        signature
    }
}
