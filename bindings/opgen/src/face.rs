//! The model that the emitters of C, C++, JNI and Java share: each form of each operator, split into arguments and
//! results.
//!
//! These emitters iterate over [`Face`]s. Each has one table from [`Kind`] to the code of its language; none of them
//! depends on an operator's name. The documentation strings that several of them write are also here.

use crate::model::{Family, Form, FormKind, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;

/// One form of an operator (functional, in-place or out) in a foreign language.
pub struct Face<'a> {
    /// The declaration that it comes from.
    pub op: &'a Op,
    /// The form.
    pub form: &'a Form,
    /// The arguments in order, without the tensors that an out form writes.
    pub params: Vec<Parameter>,
    /// The tensors that an out form writes.
    pub outs: Vec<String>,
    /// The return value.
    pub returns: Returns,
}

impl<'a> Face<'a> {
    /// Every form of the operators of a family that has a function, in the order of the declarations.
    pub fn of(family: &'a Family) -> Vec<Face<'a>> {
        Face::all(family).into_iter().filter(|face| !face.form.is_by_name_only()).collect()
    }

    /// Every form of the operators of a family, those included that are called by name.
    pub fn all(family: &'a Family) -> Vec<Face<'a>> {
        family.ops.iter().flat_map(|op| op.forms.iter().map(move |form| Face::new(op, form))).collect()
    }

    /// A form of an operator.
    pub fn new(op: &'a Op, form: &'a Form) -> Face<'a> {
        let outs = match form.kind {
            FormKind::Out => form.written().into_iter().map(|parameter| parameter.name).collect(),
            FormKind::Functional | FormKind::InPlace => Vec::new(),
        };
        Face { op, form, params: form.inputs(), outs, returns: form.returns() }
    }

    /// The aliases of a family with the forms that they name.
    pub fn aliases(family: &'a Family) -> Vec<(Face<'a>, Face<'a>)> {
        let aliases = family.ops.iter().flat_map(|op| op.aliases.iter().map(move |alias| (op, alias)));
        aliases.map(|(op, alias)| (Face::new(op, &alias.form), Face::new(op, &op.forms[alias.target]))).collect()
    }

    /// The C function.
    pub fn c_function(&self) -> String {
        names::c_function(&self.form.signature)
    }

    /// The suffix of the C name after `rlt_tensor_`, which is also the name in Java's `Native`.
    pub fn symbol(&self) -> String {
        self.c_function().trim_start_matches("rlt_tensor_").to_string()
    }

    /// `ops::add_tensor`
    pub fn rust_function(&self) -> String {
        format!("ops::{}", names::rust_function(&self.form.signature))
    }

    /// Whether there is one tensor `self`, the receiver of a method.
    pub fn has_self(&self) -> bool {
        self.params.iter().any(|param| param.name == "self" && param.kind == Kind::Tensor)
    }

    /// Whether a single number may stand for this list (`int[1]`).
    pub fn takes_single(&self, param: &Parameter) -> bool {
        let list = self.form.signature.arguments.get(param.index).and_then(|argument| argument.ty.list);
        list.is_some_and(|list| list.size == Some(1))
    }

    /// The names of the results of the functional form.
    pub fn result_names(&self) -> Vec<String> {
        self.op.output_names()
    }

    /// The documentation, line by line, with code in backquotes. The declared form has all of it; the other forms only
    /// document their differences.
    pub fn documentation(&self) -> Vec<String> {
        let doc = &self.op.doc;
        let primary = self.op.primary();
        if !std::ptr::eq(self.form, primary) {
            let note = self
                .note()
                .unwrap_or_else(|| format!("The functional form of `{}`.", names::c_function(&primary.signature)));
            return wrapped(&format!("`{}`. {note}", self.form.signature));
        }
        let mut lines = vec![doc.summary.clone(), String::new(), format!("`{}`", doc.formula), String::new()];
        lines.push(format!("Shapes: `{}`.", doc.shapes.replace('`', "")));
        lines.push(format!("Errors: {}", doc.errors));
        lines.extend(self.note());
        lines.push(String::new());
        lines.push(format!("`{}`", self.form.signature));
        lines.iter().flat_map(|line| wrapped(line)).collect()
    }

    /// The documentation that in-place and out forms add to that of the operator.
    pub fn note(&self) -> Option<String> {
        match self.form.kind {
            FormKind::Functional => None,
            FormKind::InPlace if self.has_self() => Some("The result is written into `self`.".into()),
            FormKind::InPlace => Some("The lists are written in place.".into()),
            FormKind::Out => {
                let names: Vec<String> = self.outs.iter().map(|out| format!("`{out}`")).collect();
                Some(format!("The result is written into {}, resized where needed.", names.join(" and ")))
            }
        }
    }
}

/// `threshold_backward` as `thresholdBackward`.
pub fn camel(name: &str) -> String {
    let mut text = String::new();
    let mut upper = false;
    for character in name.chars() {
        match character {
            '_' => upper = !text.is_empty(),
            character if upper => {
                text.extend(character.to_uppercase());
                upper = false;
            }
            character => text.push(character),
        }
    }
    text
}

/// A text in lines of about 115 characters, broken at blanks, but not before a sign that would begin a list.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.len() - 1;
        let sign = matches!(word, "-" | "+" | "*" | ">" | "#");
        if !lines[line].is_empty() && !sign && lines[line].len() + 1 + word.len() > 115 {
            lines.push(word.to_string());
        } else {
            if !lines[line].is_empty() {
                lines[line].push(' ');
            }
            lines[line].push_str(word);
        }
    }
    lines
}
