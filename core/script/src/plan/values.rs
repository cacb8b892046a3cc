//! The tensors in values.

use crate::runtime::dict::Dict;
use crate::runtime::list::{Items, List};
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{Result, err, list};

/// Values in values.
const MAX_DEPTH: usize = 16;

/// What stands for a value that is no container: another value, or an error.
pub(crate) type Replace<'a> = dyn FnMut(&Value) -> Result<Value> + 'a;

/// A copy of a value, with `replace` applied to what is not a list, a tuple or a dict. Lists of numbers are shared.
pub(crate) fn mapped(value: &Value, replace: &mut Replace<'_>) -> Result<Value> {
    within(value, replace, MAX_DEPTH)
}

fn within(value: &Value, replace: &mut Replace<'_>, depth: usize) -> Result<Value> {
    let depth = depth.checked_sub(1).ok_or_else(|| err!(Runtime, "values are nested too deeply"))?;
    let mut inner = |values: &[Value]| list::try_collect(values.iter().map(|value| within(value, replace, depth)));
    Ok(match value {
        Value::List(list) if !matches!(&*list.lock(), Items::Tensors(_) | Items::Values(_)) => {
            list.with(list.items()).into()
        }
        Value::List(list) => List::from_values(list.element().clone(), inner(&list.values())?)?.into(),
        Value::Tuple(tuple) => match tuple.class() {
            Some(class) => Tuple::named(class.clone(), inner(tuple.items())?).into(),
            None => Tuple::new(inner(tuple.items())?).into(),
        },
        Value::Dict(dict) => {
            let (keys, values): (Vec<Value>, Vec<Value>) = dict.entries().into_iter().unzip();
            let entries = keys.into_iter().zip(inner(&values)?).map(Ok);
            Dict::from_entries(dict.key_type().clone(), dict.value_type().clone(), list::try_collect(entries)?)?.into()
        }
        other => replace(other)?,
    })
}

/// Whether a constant of this type may contain tensors or devices.
pub(super) fn may_hold_tensors(kind: &Type) -> bool {
    !matches!(kind, Type::Int | Type::Float | Type::Bool | Type::Str | Type::None | Type::Complex | Type::Function(_))
}
