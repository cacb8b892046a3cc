//! The examples of the declarations: `add([1, 2], 3) -> [4, 5]`, parsed once and rendered for every language.
//! core/schema/examples.md describes the grammar; `tests/oracle/examples.py` evaluates the same examples with PyTorch.

pub mod check;
pub mod literal;
pub mod tensor;
pub mod value;

use crate::model::{Form, Op, Parameter, Returns};
use crate::types::Kind;
use literal::{Literal, Reader};
use tensor::TensorLiteral;
use value::Value;

/// A call and its result.
#[derive(Debug)]
pub struct Example {
    /// One value per parameter of the declared form; `None` for those that the example leaves out.
    pub values: Vec<Option<Value>>,
    /// The results: each a tensor, None or a list of tensors. For an operator that returns nothing, the arguments that
    /// it writes.
    pub results: Vec<Value>,
}

impl Example {
    /// Parses the example of an operator. An example names the operator without overload.
    pub fn parse(op: &Op) -> Option<Result<Example, String>> {
        op.doc.example.as_deref().map(|text| parse(text, op.primary()).map_err(|problem| format!("{problem}: {text}")))
    }

    /// The tensors among the arguments.
    pub fn inputs(&self) -> impl Iterator<Item = &TensorLiteral> {
        self.values.iter().flatten().flat_map(Value::tensors)
    }

    /// The tensors of the results, in order; `None` for an undefined one.
    pub fn outputs(&self) -> impl Iterator<Item = Option<&TensorLiteral>> {
        self.results.iter().flat_map(|result| match result {
            Value::Tensor(tensor) => vec![Some(tensor)],
            Value::Tensors(tensors) => tensors.iter().map(Option::as_ref).collect(),
            _ => vec![None],
        })
    }

    /// The results in the format of the test programs: packed tensors with `; ` between them.
    pub fn packed(&self) -> String {
        let packed: Vec<String> =
            self.outputs().map(|tensor| tensor.map_or("none".to_owned(), TensorLiteral::packed)).collect();
        packed.join("; ")
    }
}

fn parse(text: &str, form: &Form) -> Result<Example, String> {
    let name = &form.signature.name;
    let parameters = form.parameters();
    let mut reader = Reader { rest: text };
    if !reader.takes(name) || !reader.takes("(") {
        return Err(format!("the example does not begin with `{name}(`"));
    }
    let values = arguments(&mut reader, form, &parameters)?;
    reader.needs("->")?;
    let results = results(&mut reader, form, &parameters)?;
    if reader.rest.trim().is_empty() {
        Ok(Example { values, results })
    } else {
        Err(format!("unexpected text {:?} at the end of the example", reader.rest))
    }
}

fn arguments(reader: &mut Reader, form: &Form, parameters: &[Parameter]) -> Result<Vec<Option<Value>>, String> {
    let mut values: Vec<Option<Value>> = vec![None; parameters.len()];
    let mut position = 0;
    let mut first = true;
    while !reader.takes(")") {
        if !std::mem::take(&mut first) {
            reader.needs(",")?;
        }
        let (index, option) = match reader.keyword() {
            Some(keyword) => find(parameters, &keyword)?,
            None => {
                position += 1;
                (position - 1, None)
            }
        };
        let parameter = parameters.get(index).ok_or("the example gives too many arguments")?;
        let literal = reader.literal()?;
        let slot = &mut values[index];
        let size = form.signature.arguments[parameter.index].ty.list.and_then(|list| list.size);
        let value = match option {
            Some(option) => {
                Value::option(slot.take(), &option, literal).map_err(|problem| format!("`{option}`: {problem}"))?
            }
            None if slot.is_some() => return Err(format!("`{}` is given twice", parameter.name)),
            None => Value::of(parameter.kind, size, &literal)
                .map_err(|problem| format!("`{}`: {problem}", parameter.name))?,
        };
        *slot = Some(value);
    }
    for (parameter, value) in parameters.iter().zip(&values) {
        if value.is_none() && parameter.default.is_none() && parameter.kind != Kind::Options {
            return Err(format!("the example lacks `{}`", parameter.name));
        }
    }
    Ok(values)
}

/// The parameter of a keyword; each part of the options is a keyword.
fn find(parameters: &[Parameter], keyword: &str) -> Result<(usize, Option<String>), String> {
    if let Some(index) = parameters.iter().position(|parameter| parameter.name == keyword) {
        return Ok((index, None));
    }
    let options = parameters.iter().position(|parameter| parameter.kind == Kind::Options);
    match options.filter(|_| ["dtype", "layout", "device", "pin_memory"].contains(&keyword)) {
        Some(index) => Ok((index, Some(keyword.to_owned()))),
        None => Err(format!("there is no argument `{keyword}`")),
    }
}

fn results(reader: &mut Reader, form: &Form, parameters: &[Parameter]) -> Result<Vec<Value>, String> {
    let kinds = result_kinds(form, parameters);
    let literals = if reader.takes("(") { reader.items(")")? } else { vec![reader.literal()?] };
    if literals.len() != kinds.len() {
        return Err(format!("the example has {} results, the operator {}", literals.len(), kinds.len()));
    }
    let value = |(kind, literal): (&Kind, &Literal)| match (kind, literal) {
        (Kind::TensorList, _) => Value::of(Kind::TensorOptionalList, None, literal),
        _ => Value::of(Kind::TensorOptional, None, literal),
    };
    kinds.iter().zip(&literals).map(value).collect::<Result<_, _>>().map_err(|problem| format!("the result: {problem}"))
}

/// A tensor or a list for each result. A form that writes returns its first argument, or nothing; in that case its
/// results are all arguments that it writes.
fn result_kinds(form: &Form, parameters: &[Parameter]) -> Vec<Kind> {
    match form.returns() {
        Returns::Tensor => vec![Kind::Tensor],
        Returns::Tensors(count) => vec![Kind::Tensor; count],
        Returns::TensorList => vec![Kind::TensorList],
        // `check.rs` asks for no example.
        Returns::Value(_) | Returns::Mixed(_) => Vec::new(),
        Returns::Nothing => written(form, parameters).map(|parameter| parameter.kind).collect(),
    }
}

/// The arguments that an in-place form returns.
pub fn written<'a>(form: &Form, parameters: &'a [Parameter]) -> impl Iterator<Item = &'a Parameter> {
    let count = match form.signature.returns.len() {
        0 => usize::MAX,
        count => count,
    };
    parameters.iter().filter(|parameter| parameter.written).take(count)
}

#[cfg(test)]
mod tests;
