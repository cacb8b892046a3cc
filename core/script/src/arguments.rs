//! The arguments of a call from outside of a program: by position and by name, with defaults, converted to the types of
//! the schema.

use crate::runtime::dict::Dict;
use crate::runtime::list::List;
use crate::runtime::object::{EnumValue, Tuple};
use crate::runtime::value::Value;
use crate::schema::{Formal, Literal, Schema};
use crate::types::{Resolver, Type};
use rushlight_base::{Complex, Error, Result, bail, ensure, err, list};

/// Values in values.
const MAX_DEPTH: usize = 64;

/// A value for each argument of the schema.
pub(crate) fn complete(
    schema: &Schema,
    mut values: Vec<Value>,
    named: Vec<(&str, Value)>,
    types: &dyn Resolver,
) -> Result<Vec<Value>> {
    let name = schema.name.rsplit('.').next().unwrap_or_default();
    ensure!(
        values.len() <= schema.arguments.len(),
        Runtime,
        "Expected at most {} argument(s) for operator '{name}', but received {} argument(s). Declaration: {schema}",
        schema.arguments.len(),
        values.len() + named.len()
    );
    let given = values.len();
    let mut named: Vec<(&str, Option<Value>)> = named.into_iter().map(|(name, value)| (name, Some(value))).collect();
    for argument in schema.arguments.iter().skip(given) {
        let found = named.iter_mut().find(|(name, value)| **name == *argument.name && value.is_some());
        values.push(match (found, &argument.default) {
            (Some((_, value)), _) => value.take().unwrap_or_default(),
            (None, Some(default)) => literal(default),
            (None, None) => {
                bail!(Runtime, "{name}() is missing value for argument '{}'. Declaration: {schema}", argument.name)
            }
        });
    }
    if let Some((unknown, _)) = named.iter().find(|(_, value)| value.is_some()) {
        bail!(Runtime, "Unknown keyword argument '{unknown}' for operator '{name}'. Schema: {schema}");
    }
    let fitted = values.into_iter().zip(&schema.arguments).enumerate().map(|(at, (value, argument))| {
        let Formal::Type(kind) = &argument.kind else { return Ok(value) };
        let value = match argument.size {
            Some(size) if matches!(kind, Type::List(_)) && !matches!(value, Value::List(_) | Value::None) => {
                List::from_values(value.type_of(), std::iter::repeat_n(value, size))?.into()
            }
            _ => value,
        };
        fit(value, kind, types, MAX_DEPTH).map_err(|error| {
            err!(
                Runtime,
                "{name}() Expected a value of type '{kind}' for argument '{}' but instead found {}.\nPosition: {at}\nDeclaration: \
                 {schema}",
                argument.name,
                error.message()
            )
        })
    });
    list::try_collect(fitted)
}

/// The value of a default.
pub(crate) fn literal(literal: &Literal) -> Value {
    match literal {
        Literal::None => Value::None,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Float(value) => Value::Float(*value),
        Literal::Complex(real, imaginary) => Complex::new(*real, *imaginary).into(),
        Literal::Str(bytes) => Value::Str(bytes.clone()),
        Literal::List(items) => {
            let items: Vec<Value> = items.iter().map(self::literal).collect();
            let element = items.first().map_or(Type::Tensor, Value::type_of);
            List::from_values(element, items).map_or(Value::None, Value::from)
        }
        Literal::Tuple(items) => Tuple::new(items.iter().map(self::literal).collect()).into(),
        Literal::Enum(member) => {
            EnumValue::new(member.class.clone(), member.name.clone(), self::literal(&member.value)).into()
        }
    }
}

/// The error of a part of a value, for the whole value.
fn whole(error: Error, value: &Value) -> Error {
    if error.message().starts_with("type '") { err!(Runtime, "type '{}'", value.type_of()) } else { error }
}

/// The value as one of this type. The error names the type of the value.
pub(crate) fn fit(value: Value, kind: &Type, types: &dyn Resolver, depth: usize) -> Result<Value> {
    ensure!(depth > 0, Runtime, "values nested more than {MAX_DEPTH} deep");
    let misfit = |value: &Value| err!(Runtime, "type '{}'", value.type_of());
    Ok(match (kind, value) {
        (Type::Any, value) => value,
        (Type::Optional(_) | Type::None, Value::None) => Value::None,
        (Type::Optional(inner), value) => fit(value, inner, types, depth - 1)?,
        (Type::Float, Value::Int(value)) => Value::Float(value as f64),
        (Type::Complex, value @ (Value::Int(_) | Value::Float(_))) => value.as_complex()?.into(),
        (Type::Number, value @ (Value::Int(_) | Value::Float(_) | Value::Complex(_) | Value::Bool(_))) => value,
        (Type::List(element), Value::List(list)) => {
            if list.element() == &**element {
                return Ok(list.into());
            }
            let values = list.values().into_iter().map(|value| fit(value, element, types, depth - 1));
            let values: Result<Vec<Value>> = list::try_collect(values);
            let values = values.map_err(|error| whole(error, &Value::List(list)))?;
            List::from_values((**element).clone(), values)?.into()
        }
        (Type::Dict(kinds), Value::Dict(dict)) => {
            if dict.key_type() == &kinds.0 && dict.value_type() == &kinds.1 {
                return Ok(dict.into());
            }
            let entries = dict.entries().into_iter().map(|(key, value)| {
                Ok((fit(key, &kinds.0, types, depth - 1)?, fit(value, &kinds.1, types, depth - 1)?))
            });
            let entries: Result<Vec<(Value, Value)>> = list::try_collect(entries);
            let entries = entries.map_err(|error| whole(error, &Value::Dict(dict)))?;
            Dict::from_entries(kinds.0.clone(), kinds.1.clone(), entries)?.into()
        }
        (Type::Tuple(kinds), Value::Tuple(tuple)) if kinds.len() == tuple.items().len() => {
            if tuple.class().is_some() {
                return Ok(tuple.into());
            }
            let items = tuple.items().iter().zip(kinds.iter());
            let items = items.map(|(item, kind)| fit(item.clone(), kind, types, depth - 1));
            let items: Result<Vec<Value>> = list::try_collect(items);
            Tuple::new(items.map_err(|error| whole(error, &Value::Tuple(tuple)))?).into()
        }
        (Type::NamedTuple(class), Value::Tuple(tuple)) if class.fields.len() == tuple.items().len() => {
            if tuple.class().is_some() {
                return Ok(tuple.into());
            }
            let items = tuple.items().iter().zip(&class.fields);
            let items = items.map(|(item, (_, kind))| fit(item.clone(), kind, types, depth - 1));
            Tuple::named(class.clone(), list::try_collect(items)?).into()
        }
        (Type::Union(members), value) => {
            let fitting = members.iter().find_map(|member| fit(value.clone(), member, types, depth - 1).ok());
            fitting.ok_or_else(|| misfit(&value))?
        }
        (kind, value) if value.type_of().is_subtype_of(kind, types) => value,
        (_, value) => return Err(misfit(&value)),
    })
}
