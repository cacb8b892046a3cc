//! What the foreign faces share: each form of each operator, taken apart once.
//!
//! The emitters of C, C++, JNI and Java walk over [`Face`]s and hold one table each, from [`Kind`] to what that
//! language writes; none of them looks at an operator's name. The documentation texts that several of them write are
//! here too.

use crate::model::{Family, Form, FormKind, Op, Parameter, Returns};
use crate::names;
use crate::types::Kind;

/// One form of an operator (functional, in-place or out) as a foreign language sees it.
pub struct Face<'a> {
    /// The declaration that it comes from.
    pub op: &'a Op,
    /// The form.
    pub form: &'a Form,
    /// The arguments in order, without the tensors an out form writes.
    pub params: Vec<Parameter>,
    /// The tensors an out form writes.
    pub outs: Vec<String>,
    /// What comes back.
    pub returns: Returns,
}

impl<'a> Face<'a> {
    /// Every form of the operators of a family, in the order of the declarations.
    pub fn of(family: &'a Family) -> Vec<Face<'a>> {
        let forms = family.ops.iter().flat_map(|op| op.forms.iter().map(move |form| (op, form)));
        forms.map(|(op, form)| Face::new(op, form)).collect()
    }

    fn new(op: &'a Op, form: &'a Form) -> Face<'a> {
        let outs = match form.kind {
            FormKind::Out => form.written().into_iter().map(|parameter| parameter.name).collect(),
            FormKind::Functional | FormKind::InPlace => Vec::new(),
        };
        Face { op, form, params: form.inputs(), outs, returns: form.returns() }
    }

    /// The C function.
    pub fn c_function(&self) -> String {
        names::c_function(&self.form.signature)
    }

    /// What C puts behind `rlt_tensor_`, which is what Java's `Native` calls it.
    pub fn symbol(&self) -> String {
        self.c_function().trim_start_matches("rlt_tensor_").to_string()
    }

    /// `ops::add_tensor`
    pub fn rust_function(&self) -> String {
        format!("ops::{}", names::rust_function(&self.form.signature))
    }

    /// Is there one tensor `self`, which a method is called on?
    pub fn has_self(&self) -> bool {
        self.params.iter().any(|param| param.name == "self" && param.kind == Kind::Tensor)
    }

    /// May a single number stand for this list (`int[1]`)?
    pub fn takes_single(&self, param: &Parameter) -> bool {
        let list = self.form.signature.arguments.get(param.index).and_then(|argument| argument.ty.list);
        list.is_some_and(|list| list.size == Some(1))
    }

    /// The names of the results of the functional form.
    pub fn result_names(&self) -> Vec<String> {
        self.op.output_names()
    }

    /// The documentation, line by line, with code in backquotes.
    pub fn documentation(&self) -> Vec<String> {
        let doc = &self.op.doc;
        let mut lines = vec![doc.summary.clone(), String::new(), format!("`{}`", doc.formula), String::new()];
        lines.push(format!("Shapes: `{}`.", doc.shapes.replace('`', "")));
        lines.push(format!("Errors: {}", doc.errors));
        lines.extend(self.note());
        lines.push(String::new());
        lines.push(format!("`{}`", self.form.signature));
        lines.iter().flat_map(|line| wrapped(line)).collect()
    }

    /// What the in-place and out forms add to the operator's own text.
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

/// A text in lines of about 100 characters, broken at blanks, but not before a sign that would begin a list.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.len() - 1;
        let sign = matches!(word, "-" | "+" | "*" | ">" | "#");
        if !lines[line].is_empty() && !sign && lines[line].len() + 1 + word.len() > 100 {
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
