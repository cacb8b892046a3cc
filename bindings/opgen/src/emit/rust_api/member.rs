//! The methods of a form: one with the required arguments, and one with all of them if some are optional.

use super::names::{Name, Names};
use super::types::{argument, default_value, field, passed, passed_argument};
use crate::emit::rust_ops::text::{code, ident};
use crate::face::Face;
use crate::model::{FormKind, Parameter, Returns};
use crate::names::{rust_function, rust_identifier};
use crate::types::{Kind, ResultKind};
use rushlight_schema::Signature;

/// The index of the receiver among the arguments: `self`, or else the first argument if it is a tensor.
fn receiver(parameters: &[Parameter]) -> Option<usize> {
    let is_tensor = |parameter: &Parameter| parameter.kind == Kind::Tensor;
    let named = parameters.iter().position(|parameter| parameter.name == "self" && is_tensor(parameter));
    named.or_else(|| parameters.first().filter(|first| is_tensor(first)).map(|_| 0))
}

/// A form with the names of its methods.
pub struct Member<'a> {
    face: &'a Face<'a>,
    name: Name,
    receiver: Option<usize>,
}

/// How a method takes the optional arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Optional {
    /// It leaves them out.
    Defaults,
    /// As its last arguments: one value, or a struct of several.
    Given,
}

impl<'a> Member<'a> {
    /// A form.
    pub fn new(face: &'a Face<'a>, names: &Names) -> Member<'a> {
        Member { face, name: names.of(face), receiver: receiver(&face.params) }
    }

    /// The index of the receiver among the arguments.
    pub fn receiver(&self) -> Option<usize> {
        self.receiver
    }

    /// The names of the methods.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The arguments with a default.
    pub fn optional(&self) -> Vec<&Parameter> {
        let given = self.face.params.iter().enumerate().filter(|(index, _)| Some(*index) != self.receiver);
        given.map(|(_, parameter)| parameter).filter(|parameter| parameter.default.is_some()).collect()
    }

    /// The methods.
    pub fn methods(&self) -> Result<String, String> {
        let mut text = self.method(Optional::Defaults)?;
        if !self.optional().is_empty() {
            text.push_str(&self.method(Optional::Given)?);
        }
        Ok(text)
    }

    fn method(&self, optional: Optional) -> Result<String, String> {
        let name = match optional {
            Optional::Defaults => self.name.plain(),
            Optional::Given => self.name.complete(),
        };
        let values: Vec<String> = self
            .face
            .params
            .iter()
            .enumerate()
            .map(|(index, parameter)| self.value(index, parameter, optional))
            .collect::<Result<_, _>>()?;
        let outs = self.face.outs.iter().map(|out| format!("&{}.0", rust_identifier(out)));
        let values: Vec<String> = values.into_iter().chain(outs).collect();
        let call = format!("ops::{}({})", rust_function(&self.face.form.signature), values.join(", "));
        Ok(format!(
            "\n{}#[inline]\npub fn {name}({}) -> Result<{}> {{\n{}\n}}\n",
            self.documentation(optional),
            self.parameters(optional).join(", "),
            self.result(),
            self.wrapped(&call)
        ))
    }

    /// `&self, other: &Tensor`
    fn parameters(&self, optional: Optional) -> Vec<String> {
        let mut parameters: Vec<String> = self.receiver.map(|_| "&self".to_owned()).into_iter().collect();
        for (index, parameter) in self.face.params.iter().enumerate() {
            if Some(index) != self.receiver && parameter.default.is_none() {
                parameters.push(format!("{}: {}", ident(parameter), argument(parameter)));
            }
        }
        match self.optional()[..] {
            _ if optional == Optional::Defaults => {}
            [] => {}
            [single] => parameters.push(format!("{}: {}", ident(single), argument(single))),
            [..] => {
                let lifetime = if self.borrows() { "<'_>" } else { "" };
                parameters.push(format!("options: options::{}{lifetime}", self.struct_name()));
            }
        }
        parameters.extend(self.face.outs.iter().map(|out| format!("{}: &Tensor", rust_identifier(out))));
        parameters
    }

    /// What the operator is passed for an argument.
    fn value(&self, index: usize, parameter: &Parameter, optional: Optional) -> Result<String, String> {
        if Some(index) == self.receiver {
            return Ok("&self.0".into());
        }
        Ok(match (parameter.default.is_some(), optional) {
            (false, _) => passed_argument(parameter, &ident(parameter)),
            (true, Optional::Defaults) => match passed(parameter, &default_value(parameter)?) {
                none if none.starts_with("None.") => "None".into(),
                value => value,
            },
            (true, Optional::Given) if self.optional().len() == 1 => passed_argument(parameter, &ident(parameter)),
            (true, Optional::Given) => passed(parameter, &format!("options.{}", ident(parameter))),
        })
    }

    fn borrows(&self) -> bool {
        self.optional().iter().any(|parameter| field(parameter).1)
    }

    /// The name of that struct: operators that exist only in place, and forms whose optional arguments differ have their own.
    pub fn struct_name(&self) -> String {
        let primary = Face::new(self.face.op, self.face.op.primary());
        let names = |member: &Member| -> Vec<String> {
            member.optional().iter().map(|parameter| parameter.name.clone()).collect()
        };
        let declared = Member { receiver: receiver(&primary.params), name: self.name.clone(), face: &primary };
        let kind = if names(self) == names(&declared) { primary.form.kind } else { self.face.form.kind };
        let own = match kind {
            FormKind::Functional => "",
            FormKind::InPlace => "InPlace",
            FormKind::Out => "Out",
        };
        self.name.options() + own
    }

    /// The name and the declaration of the struct of optional arguments, if there are several.
    pub fn options(&self) -> Result<Option<(String, String)>, String> {
        let optional = self.optional();
        if optional.len() < 2 {
            return Ok(None);
        }
        let (name, declared_method) = (self.struct_name(), self.declared());
        let (declared, implemented) = if self.borrows() { ("<'a>", "<'_>") } else { ("", "") };
        let mut fields = String::new();
        let mut defaults = String::new();
        for parameter in &optional {
            let value = default_value(parameter)?;
            let ident = ident(parameter);
            fields.push_str(&format!("/// By default `{value}`.\npub {ident}: {},\n", field(parameter).0));
            defaults.push_str(&format!("{ident}: {value},\n"));
        }
        let text = format!(
            "\n/// The optional arguments of [`{declared_method}`](Tensor::{declared_method}).\n\
             #[derive(Clone, Copy, Debug)]\n\
             pub struct {name}{declared} {{\n{fields}}}\n\n\
             impl Default for {name}{implemented} {{\nfn default() -> Self {{\n{name} {{\n{defaults}}}\n}}\n}}\n"
        );
        Ok(Some((name, text)))
    }

    fn result(&self) -> String {
        match self.face.returns {
            Returns::Tensor => "Tensor".into(),
            Returns::Tensors(count) => format!("({})", vec!["Tensor"; count].join(", ")),
            Returns::TensorList => "Vec<Tensor>".into(),
            Returns::Value(ResultKind::IntList) => "Vec<i64>".into(),
            Returns::Value(kind) => kind.spelling().rust.into(),
            Returns::Nothing if self.face.form.kind == FormKind::InPlace && self.receiver.is_some() => "&Tensor".into(),
            Returns::Nothing => "()".into(),
            // Such a form is called by name.
            Returns::Mixed(_) => String::new(),
        }
    }

    /// The call with its results as those of the binding.
    fn wrapped(&self, call: &str) -> String {
        match self.face.returns {
            Returns::Tensor => format!("{call}.map(Tensor)"),
            Returns::Tensors(count) => {
                let names: Vec<String> = (0..count).map(|index| format!("r{index}")).collect();
                let wrapped: Vec<String> = names.iter().map(|name| format!("Tensor({name})")).collect();
                format!("{call}.map(|({})| ({}))", names.join(", "), wrapped.join(", "))
            }
            Returns::TensorList => format!("{call}.map(lists::tensors)"),
            Returns::Value(ResultKind::IntList) => format!("{call}.map(|list| list.to_vec())"),
            Returns::Nothing if self.result() == "&Tensor" => format!("{call}.map(|()| self)"),
            Returns::Nothing | Returns::Value(_) | Returns::Mixed(_) => call.to_owned(),
        }
    }

    /// The description of the operator is written once, at the method without optional arguments of the declared form.
    fn documentation(&self, optional: Optional) -> String {
        let face = self.face;
        let is_primary = std::ptr::eq(face.form, face.op.primary());
        let mut lines = Vec::new();
        match (is_primary, optional) {
            (true, Optional::Defaults) => {
                let doc = &face.op.doc;
                lines.extend([prose(&doc.summary), String::new(), code(&doc.formula), String::new()]);
                lines.push(format!("Shapes: `{}`.", doc.shapes.replace('`', "")));
                if let Returns::Tensors(_) = face.returns {
                    lines.extend([String::new(), format!("Returns `{}`.", face.result_names().join("`, `"))]);
                }
                lines.extend(face.note().map(|note| format!("\n{note}")));
            }
            (_, Optional::Defaults) => {
                let declared = self.declared();
                let note = face.note().unwrap_or_else(|| "The functional form.".into());
                lines.extend([format!("[`{declared}`](Tensor::{declared}). {note}")]);
            }
            (_, Optional::Given) => {
                let plain = self.name.plain();
                lines.push(format!("[`{plain}`](Tensor::{plain}) with its optional arguments."));
            }
        }
        let names: Vec<String> = self
            .optional()
            .iter()
            .filter_map(|parameter| Some(format!("`{}={}`", parameter.name, parameter.default.as_ref()?)))
            .collect();
        if optional == Optional::Defaults && !names.is_empty() {
            let complete = self.name.complete();
            let link = format!("[`{complete}`](Tensor::{complete})");
            lines.extend([String::new(), format!("{link} takes the optional arguments {}.", names.join(", "))]);
        }
        if optional == Optional::Defaults {
            lines.extend([String::new(), format!("Schema: `{}`", face.form.signature)]);
            if is_primary {
                lines.extend([String::new(), "# Errors".into(), prose(&face.op.doc.errors)]);
            }
        }
        lines
            .iter()
            .flat_map(|line| line.split('\n'))
            .map(|line| format!("/// {line}").trim_end().to_owned() + "\n")
            .collect()
    }

    /// The method of the declared form.
    fn declared(&self) -> String {
        self.name.of_kind(self.face.op.primary().kind).plain()
    }

    /// The methods of an alias, which call those of this form.
    pub fn alias(&self, name: &Name, signature: &Signature) -> Result<String, String> {
        let mut text = String::new();
        for optional in [Optional::Defaults, Optional::Given] {
            if optional == Optional::Given && self.optional().is_empty() {
                continue;
            }
            let (own, target) = match optional {
                Optional::Defaults => (name.plain(), self.name.plain()),
                Optional::Given => (name.complete(), self.name.complete()),
            };
            let parameters = self.parameters(optional);
            let given: Vec<&str> = parameters.iter().filter_map(|one| Some(one.split_once(':')?.0)).collect();
            let receiver = if self.receiver.is_some() { "self." } else { "Tensor::" };
            text.push_str(&format!(
                "\n/// Alias of [`{target}`](Tensor::{target}).\n///\n/// Schema: `{signature}`\n#[inline]\n\
                 pub fn {own}({}) -> Result<{}> {{\n{receiver}{target}({})\n}}\n",
                parameters.join(", "),
                self.result(),
                given.join(", ")
            ));
        }
        Ok(text)
    }
}

/// A sentence as Markdown: brackets and angle brackets outside of code are text.
pub fn prose(text: &str) -> String {
    let escape = |part: &str| part.replace('[', "\\[").replace(']', "\\]").replace('<', "\\<").replace('>', "\\>");
    let parts = text.split('`').enumerate();
    let parts: Vec<String> =
        parts.map(|(index, part)| if index % 2 == 0 { escape(part) } else { part.to_owned() }).collect();
    parts.join("`")
}
