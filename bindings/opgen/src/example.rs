//! The examples of the declarations: `add([1, 2], 3) -> [4, 5]`, read once and rendered by every language.
//!
//! Where the operator takes a Tensor a literal is a tensor: integers make int64, numbers with a point float32,
//! `true` and `false` bool. Where it takes sizes or dimensions, a list of them (or one).

use crate::model::{Op, Parameter};

/// A value as the example writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `2`, `-1.5`, as written
    Number(String),
    /// `true`, `false`
    Bool(bool),
    /// `"floor"`
    Text(String),
    /// `[...]`
    List(Vec<Literal>),
}

/// A call and what it returns.
#[derive(Debug)]
pub struct Example {
    /// One per parameter of the declared form, up to the last that the example gives.
    pub values: Vec<Option<Literal>>,
    /// The returned tensor.
    pub result: Literal,
}

/// A literal as a tensor: flat elements, sizes, and their kind.
#[derive(Debug, PartialEq)]
pub struct TensorLiteral {
    /// Row-major.
    pub elements: Vec<String>,
    /// Empty for a single number.
    pub sizes: Vec<usize>,
    /// The dtype.
    pub dtype: ElementKind,
}

/// The dtypes of literals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// bool
    Bool,
    /// int64
    Int,
    /// float32
    Float,
}

impl Example {
    /// Reads the example of an operator. An example names the operator without overload.
    pub fn parse(op: &Op) -> Option<Result<Example, String>> {
        op.doc.example.as_deref().map(|text| parse(text, &op.primary().signature.name, &op.primary().parameters()))
    }
}

fn parse(text: &str, name: &str, parameters: &[Parameter]) -> Result<Example, String> {
    let mut reader = Reader { rest: text };
    if !reader.takes(name) || !reader.takes("(") {
        return Err(format!("the example does not begin with `{name}(`: {text:?}"));
    }
    let mut values: Vec<Option<Literal>> = Vec::new();
    while !reader.takes(")") {
        let index = match reader.keyword() {
            Some(keyword) => parameters
                .iter()
                .position(|parameter| parameter.name == keyword)
                .ok_or_else(|| format!("the example names no argument: `{keyword}`"))?,
            None => values.len(),
        };
        if index >= parameters.len() {
            return Err(format!("the example gives too many arguments: {text:?}"));
        }
        values.resize(values.len().max(index + 1), None);
        values[index] = Some(reader.literal()?);
        reader.takes(",");
    }
    if !reader.takes("->") {
        return Err(format!("the example lacks `->`: {text:?}"));
    }
    let result = reader.literal()?;
    for (parameter, value) in parameters.iter().zip(values.iter().map(Some).chain(std::iter::repeat(None))) {
        if !matches!(value, Some(Some(_)))
            && parameter.default.is_none()
            && parameter.kind != crate::types::Kind::Options
        {
            return Err(format!("the example lacks `{}`", parameter.name));
        }
    }
    if reader.rest.trim().is_empty() {
        Ok(Example { values, result })
    } else {
        Err(format!("text after the example: {text:?}"))
    }
}

impl TensorLiteral {
    /// Flattens a literal; `None` if it is ragged or holds text.
    pub fn of(literal: &Literal) -> Option<TensorLiteral> {
        let mut tensor = TensorLiteral { elements: Vec::new(), sizes: Vec::new(), dtype: ElementKind::Int };
        tensor.gather(literal, 0)?;
        Some(tensor)
    }

    fn gather(&mut self, literal: &Literal, depth: usize) -> Option<()> {
        match literal {
            Literal::List(items) => {
                if self.sizes.len() == depth {
                    self.sizes.push(items.len());
                } else if self.sizes.get(depth) != Some(&items.len()) {
                    return None;
                }
                items.iter().try_for_each(|item| self.gather(item, depth + 1))
            }
            Literal::Number(text) => {
                if text.contains('.') {
                    self.dtype = ElementKind::Float;
                }
                self.elements.push(text.clone());
                Some(())
            }
            Literal::Bool(value) => {
                self.dtype = ElementKind::Bool;
                self.elements.push(value.to_string());
                Some(())
            }
            Literal::Text(_) => None,
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// `name=`
    fn keyword(&mut self) -> Option<String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let after = rest[end..].strip_prefix('=')?;
        self.rest = after;
        Some(rest[..end].to_string())
    }

    fn literal(&mut self) -> Result<Literal, String> {
        if self.takes("[") {
            let mut items = Vec::new();
            while !self.takes("]") {
                items.push(self.literal()?);
                self.takes(",");
            }
            return Ok(Literal::List(items));
        }
        if self.takes("\"") {
            let (text, rest) = self.rest.split_once('"').ok_or("an open quote in the example")?;
            self.rest = rest;
            return Ok(Literal::Text(text.to_string()));
        }
        if self.takes("true") {
            return Ok(Literal::Bool(true));
        }
        if self.takes("false") {
            return Ok(Literal::Bool(false));
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(rest.len());
        if rest[..end].parse::<f64>().is_err() {
            return Err(format!("no value at {rest:?} in the example"));
        }
        self.rest = &rest[end..];
        Ok(Literal::Number(rest[..end].to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Form, FormKind};

    fn parameters(signature: &str) -> Vec<Parameter> {
        let signature = signature.parse().unwrap();
        Form { kind: FormKind::Functional, signature, function: true, method: false }.parameters()
    }

    #[test]
    fn a_call_is_bound_to_its_parameters() {
        let parameters = parameters("add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
        let example = parse("add([1, 2], [3.5, 4], alpha=2) -> [[7, 10]]", "add", &parameters).unwrap();
        assert_eq!(example.values.len(), 3);
        assert_eq!(example.values[2], Some(Literal::Number("2".into())));
        let other = TensorLiteral::of(example.values[1].as_ref().unwrap()).unwrap();
        assert_eq!((other.sizes, other.dtype), (vec![2], ElementKind::Float));
        assert_eq!(TensorLiteral::of(&example.result).unwrap().sizes, [1, 2]);
    }

    #[test]
    fn what_cannot_be_called_is_refused() {
        let parameters = parameters("add(Tensor self, Tensor other) -> Tensor");
        for text in
            ["sub([1]) -> [1]", "add([1]) -> [1]", "add([1], [2], [3]) -> [1]", "add([1], x=[2]) -> 1", "add([1], [2])"]
        {
            assert!(parse(text, "add", &parameters).is_err(), "{text}");
        }
    }
}
