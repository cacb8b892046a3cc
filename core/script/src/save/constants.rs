//! Values as source code, and the table of those that code names `CONSTANTS.c0`.

use super::program::Printer;
use super::types::{is_told_by_elements, is_unnamed};
use crate::graph::print::float;
use crate::print::print_quoted;
use crate::runtime::list::List;
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use crate::schema::Literal;
use crate::types::Type;
use rushlight_base::{Complex, Result, bail, ensure, list};

/// Lists in lists.
const MAX_DEPTH: usize = 64;

/// A float as a literal. It cannot be taken for an integer.
pub(super) fn float_literal(value: f64) -> String {
    let text = float(value);
    if text.contains(['.', 'e', 'n']) { text } else { text + "." }
}

/// A complex number as an expression: `2.j`, `complex(1., 2.)`.
pub(super) fn complex_literal(value: Complex<f64>) -> String {
    let imaginary = float_literal(value.im);
    let is_plain =
        value.re == 0.0 && value.re.is_sign_positive() && value.im.is_finite() && value.im.is_sign_positive();
    if is_plain { imaginary + "j" } else { format!("complex({}, {imaginary})", float_literal(value.re)) }
}

impl Printer<'_> {
    /// A value as an expression.
    pub(super) fn literal(&mut self, value: &Value) -> Result<String> {
        self.literal_within(value, MAX_DEPTH)
    }

    fn literal_within(&mut self, value: &Value, depth: usize) -> Result<String> {
        ensure!(depth > 0, Runtime, "a constant is nested more than {MAX_DEPTH} deep");
        let mut all = |values: &[Value]| -> Result<Vec<String>> {
            values.iter().map(|value| self.literal_within(value, depth - 1)).collect()
        };
        Ok(match value {
            Value::None => "None".to_owned(),
            Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
            // The number without its sign would not fit.
            Value::Int(i64::MIN) => self.tabled(value),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => float_literal(*value),
            Value::Complex(value) => complex_literal(*value),
            Value::Str(text) if text.is_ascii() => print_quoted(text),
            Value::Device(device) => format!("torch.device(\"{device}\")"),
            Value::Str(_) | Value::Tensor(_) | Value::Object(_) | Value::Custom(_) => self.tabled(value),
            Value::List(list) => {
                let (element, items) = (list.element().clone(), list.values());
                let text = format!("[{}]", all(&items)?.join(", "));
                let told = !items.is_empty() && is_told_by_elements(&element);
                self.annotated(&element.list(), text, told)
            }
            Value::Dict(dict) => {
                let (keys, values): (Vec<Value>, Vec<Value>) = dict.entries().into_iter().unzip();
                let (keys, values) = (all(&keys)?, all(&values)?);
                let pairs: Vec<String> =
                    keys.iter().zip(&values).map(|(key, value)| format!("{key}: {value}")).collect();
                let kind = value_type(dict.key_type(), dict.value_type());
                let told = !pairs.is_empty() && is_told_by_elements(&kind);
                self.annotated(&kind, format!("{{{}}}", pairs.join(", ")), told)
            }
            Value::Tuple(tuple) => {
                let items = all(tuple.items())?;
                match (tuple.class(), items.as_slice()) {
                    (Some(class), items) if !is_unnamed(class) => {
                        format!("{}({})", self.qualified(&class.name), items.join(", "))
                    }
                    (_, [single]) => format!("({single},)"),
                    (_, items) => format!("({})", items.join(", ")),
                }
            }
            Value::Enum(member) => format!("{}.{}", self.qualified(member.class()), member.name()),
            Value::Future(_) | Value::Generator(_) | Value::Stream(_) | Value::Storage(_) => {
                bail!(NotImplemented, "a constant of type {} cannot be saved", value.kind())
            }
        })
    }

    /// The default of an argument.
    pub(super) fn default(&mut self, default: &Literal, kind: &Type) -> Result<String> {
        let value = value_of(default, kind)?;
        self.literal(&value)
    }

    /// `annotate(List[int], [])`, unless the elements tell the type.
    pub(super) fn annotated(&mut self, kind: &Type, text: String, told: bool) -> String {
        if told { text } else { format!("annotate({}, {text})", self.annotation(kind)) }
    }

    /// `CONSTANTS.c0`: a value of the table of constants, in which each value is once.
    fn tabled(&mut self, value: &Value) -> String {
        let same = |other: &Value| match (value, other) {
            (Value::Str(a), Value::Str(b)) => a == b,
            (a, b) => a.is(b),
        };
        let index = match self.constants.iter().position(same) {
            Some(index) => index,
            None => {
                self.constants.push(value.clone());
                self.constants.len() - 1
            }
        };
        format!("CONSTANTS.c{index}")
    }
}

/// A literal as a value of a type. The parser limits how deep it nests.
fn value_of(literal: &Literal, kind: &Type) -> Result<Value> {
    let element = kind.members().into_iter().find_map(|member| match member {
        Type::List(element) => Some(Type::clone(&element)),
        _ => None,
    });
    Ok(match literal {
        Literal::None => Value::None,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) if kind.members().contains(&Type::Float) && !kind.members().contains(&Type::Int) => {
            Value::Float(*value as f64)
        }
        Literal::Int(value) => Value::Int(*value),
        Literal::Float(value) => Value::Float(*value),
        Literal::Complex(real, imaginary) => Complex::new(*real, *imaginary).into(),
        Literal::Str(text) => Value::Str(text.clone()),
        Literal::List(items) => {
            let element = element.unwrap_or(Type::Any);
            let items = list::try_collect(items.iter().map(|item| value_of(item, &element)))?;
            List::from_values(element, items)?.into()
        }
        Literal::Tuple(items) => {
            let kinds = kind.elements().unwrap_or_default();
            let kinds = kinds.iter().chain(std::iter::repeat(&Type::Any));
            Tuple::new(list::try_collect(items.iter().zip(kinds).map(|(item, kind)| value_of(item, kind)))?).into()
        }
        Literal::Enum(_) => crate::arguments::literal(literal),
    })
}

fn value_type(key: &Type, value: &Type) -> Type {
    Type::Dict(std::sync::Arc::new((key.clone(), value.clone())))
}
