//! Lists.

use super::args::Args;
use crate::runtime::compare::{equal, not_sortable, order};
use crate::runtime::list::{Items, List};
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{Complex, Error, Result, bail, ensure, err};
use std::cmp::Ordering;

fn out_of_range() -> Error {
    err!(Index, "list index out of range")
}

/// The position of an index, which counts from the end if it is negative.
pub(crate) fn position(index: i64, length: usize) -> Option<usize> {
    let position = if index < 0 { index.checked_add(length as i64)? } else { index };
    usize::try_from(position).ok().filter(|&position| position < length)
}

pub(super) fn getitem(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?.lock();
    position(args.int(1)?, list.len()).and_then(|at| list.get(at)).ok_or_else(out_of_range)
}

pub(super) fn set_item(args: &mut Args<'_>) -> Result<Value> {
    let value = args.take(2);
    let index = args.int(1)?;
    let list = args.list(0)?;
    let mut items = list.lock();
    let at = position(index, items.len()).ok_or_else(out_of_range)?;
    let old = items.replace(at, value)?;
    drop(items);
    drop(old);
    Ok(args.take(0))
}

pub(super) fn len(args: &mut Args<'_>) -> Result<Value> {
    Ok((args.list(0)?.len() as i64).into())
}

pub(super) fn append(args: &mut Args<'_>) -> Result<Value> {
    let value = args.take(1);
    args.list(0)?.lock().push(value)?;
    Ok(args.take(0))
}

pub(super) fn extend(args: &mut Args<'_>) -> Result<Value> {
    let other = args.list(1)?.items();
    args.list(0)?.lock().extend(other)?;
    Ok(args.take(0))
}

pub(super) fn insert(args: &mut Args<'_>) -> Result<Value> {
    let value = args.take(2);
    let index = args.int(1)?;
    let mut items = args.list(0)?.lock();
    let length = items.len() as i64;
    let at = if index < 0 { index.saturating_add(length).max(0) } else { index.min(length) };
    items.insert(at as usize, value)?;
    Ok(Value::None)
}

pub(super) fn pop(args: &mut Args<'_>) -> Result<Value> {
    let index = args.int_or(1, -1)?;
    let mut items = args.list(0)?.lock();
    ensure!(!items.is_empty(), Index, "pop from empty list");
    let at = position(index, items.len()).ok_or_else(out_of_range)?;
    items.remove(at).ok_or_else(out_of_range)
}

pub(super) fn delete(args: &mut Args<'_>) -> Result<Value> {
    let index = args.int(1)?;
    let mut items = args.list(0)?.lock();
    let at = position(index, items.len()).ok_or_else(out_of_range)?;
    let old = items.remove(at);
    drop(items);
    drop(old);
    Ok(Value::None)
}

pub(super) fn clear(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    list.set(Items::of_type(list.element()));
    Ok(Value::None)
}

pub(super) fn reverse(args: &mut Args<'_>) -> Result<Value> {
    args.list(0)?.lock().reverse();
    Ok(Value::None)
}

pub(super) fn copy(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    Ok(list.with(list.items()).into())
}

pub(super) fn add(args: &mut Args<'_>) -> Result<Value> {
    let other = args.list(1)?.items();
    let list = args.list(0)?;
    let mut items = list.items();
    items.extend(other)?;
    Ok(list.with(items).into())
}

fn repeated(list: &List, count: i64) -> Result<Items> {
    let items = list.items();
    let count = usize::try_from(count).unwrap_or(0);
    let length =
        items.len().checked_mul(count).ok_or_else(|| err!(OutOfMemory, "a list of {count} lists is too long"))?;
    let period = items.len().max(1);
    items.gather((0..length).map(|at| at % period))
}

pub(super) fn mul(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    Ok(list.with(repeated(list, args.int(1)?)?).into())
}

pub(super) fn mul_right(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(1)?;
    Ok(list.with(repeated(list, args.int(0)?)?).into())
}

pub(super) fn mul_in_place(args: &mut Args<'_>) -> Result<Value> {
    let items = repeated(args.list(0)?, args.int(1)?)?;
    args.list(0)?.set(items);
    Ok(args.take(0))
}

/// The bounds of a slice: start, step and the number of elements.
pub(super) fn slice_bounds(start: Option<i64>, end: Option<i64>, step: i64, length: i64) -> (i64, i64) {
    let clamp = |index: i64, low: i64, high: i64| {
        let index = if index < 0 { index.saturating_add(length) } else { index };
        index.clamp(low, high)
    };
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let start = start.map_or(if step > 0 { 0 } else { length - 1 }, |start| clamp(start, low, high));
    let end = end.map_or(if step > 0 { length } else { -1 }, |end| clamp(end, low, high));
    let distance = if step > 0 { end - start } else { start - end };
    let count = if distance <= 0 { 0 } else { (distance - 1) / step.saturating_abs() + 1 };
    (start, count)
}

pub(super) fn slice(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    let step = args.int_or(3, 1)?;
    ensure!(step != 0, Runtime, "List slice should have non-zero step");
    let items = list.lock();
    let (start, count) = slice_bounds(args.int_opt(1)?, args.int_opt(2)?, step, items.len() as i64);
    let picked = items.gather((0..count).map(|index| (start + index * step) as usize))?;
    drop(items);
    Ok(list.with(picked).into())
}

fn find(list: &List, value: &Value) -> Result<Option<usize>> {
    // The comparison of tensors calls operators: no lock is held.
    for (index, item) in list.items().iter().enumerate() {
        if equal(&item, value)? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

pub(super) fn contains(args: &mut Args<'_>) -> Result<Value> {
    Ok(find(args.list(0)?, args.get(1)?)?.is_some().into())
}

pub(super) fn index(args: &mut Args<'_>) -> Result<Value> {
    match find(args.list(0)?, args.get(1)?)? {
        Some(index) => Ok((index as i64).into()),
        None => {
            let value = crate::runtime::print::printed(args.get(1)?);
            bail!(Value, "'{}' is not in list", String::from_utf8_lossy(&value))
        }
    }
}

pub(super) fn count(args: &mut Args<'_>) -> Result<Value> {
    let mut count = 0i64;
    for item in args.list(0)?.items().iter() {
        count += i64::from(equal(&item, args.get(1)?)?);
    }
    Ok(count.into())
}

pub(super) fn remove(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    let Some(index) = find(list, args.get(1)?)? else { bail!(Value, "list.remove(x): x not in list") };
    let old = list.lock().remove(index);
    drop(old);
    Ok(Value::None)
}

/// Sorts values, stable. An error if the comparison of two fails.
fn sort_values(values: &mut [Value], reverse: bool, args: &Args<'_>) -> Result<()> {
    let mut failed = None;
    let mut compare = |a: &Value, b: &Value| {
        let result = match (a, b) {
            _ if failed.is_some() => Ok(Ordering::Equal),
            (Value::Object(_), Value::Object(_)) => object_order(a, b, args),
            _ => order(a, b),
        };
        result.unwrap_or_else(|error| {
            failed.get_or_insert(error);
            Ordering::Equal
        })
    };
    merge_sort(values, &mut |a, b| if reverse { compare(b, a) } else { compare(a, b) });
    failed.map_or(Ok(()), Err)
}

/// `sort_by` of the standard library may panic if the order is inconsistent, as that of a user's `__lt__` may be.
fn merge_sort(values: &mut [Value], compare: &mut dyn FnMut(&Value, &Value) -> Ordering) {
    let length = values.len();
    let mut sorted: Vec<Value> = values.iter_mut().map(std::mem::take).collect();
    let mut merged: Vec<Value> = Vec::with_capacity(length);
    let mut width = 1;
    while width < length {
        for chunk in sorted.chunks_mut(2 * width) {
            let (left, right) = chunk.split_at_mut(width.min(chunk.len()));
            let (mut a, mut b) = (0, 0);
            while let (Some(first), Some(second)) = (left.get_mut(a), right.get_mut(b)) {
                if compare(second, first) == Ordering::Less {
                    merged.push(std::mem::take(second));
                    b += 1;
                } else {
                    merged.push(std::mem::take(first));
                    a += 1;
                }
            }
            merged.extend(left.iter_mut().skip(a).map(std::mem::take));
            merged.extend(right.iter_mut().skip(b).map(std::mem::take));
        }
        std::mem::swap(&mut sorted, &mut merged);
        merged.clear();
        width *= 2;
    }
    for (place, value) in values.iter_mut().zip(sorted) {
        *place = value;
    }
}

fn object_order(a: &Value, b: &Value, args: &Args<'_>) -> Result<Ordering> {
    if args.context.less(a, b)? {
        return Ok(Ordering::Less);
    }
    Ok(if args.context.less(b, a)? { Ordering::Greater } else { Ordering::Equal })
}

fn sorted_items(list: &List, reverse: bool, args: &Args<'_>) -> Result<Items> {
    let mut items = list.items();
    match &mut items {
        Items::Ints(items) => {
            items.sort_unstable();
            if reverse {
                items.reverse();
            }
        }
        Items::Bools(items) => {
            items.sort_unstable();
            if reverse {
                items.reverse();
            }
        }
        other => {
            let mut values: Vec<Value> = rushlight_base::list::collect(other.iter())?;
            if let Some(first) = values.first()
                && matches!(first, Value::List(_) | Value::Dict(_) | Value::None)
            {
                return Err(not_sortable(first));
            }
            sort_values(&mut values, reverse, args)?;
            return List::from_values(list.element().clone(), values).map(|list| list.items());
        }
    }
    Ok(items)
}

pub(super) fn sort(args: &mut Args<'_>) -> Result<Value> {
    let reverse = args.bool_or(1, false)?;
    let items = sorted_items(args.list(0)?, reverse, args)?;
    args.list(0)?.set(items);
    Ok(Value::None)
}

pub(super) fn sorted(args: &mut Args<'_>) -> Result<Value> {
    let list = args.list(0)?;
    Ok(list.with(sorted_items(list, false, args)?).into())
}

pub(super) fn any(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.list(0)?.items().iter().try_fold(false, |any, item| Ok::<_, Error>(any || truth(&item)?))?.into())
}

pub(super) fn all(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.list(0)?.items().iter().try_fold(true, |all, item| Ok::<_, Error>(all && truth(&item)?))?.into())
}

fn truth(value: &Value) -> Result<bool> {
    match value {
        Value::Str(text) => Ok(!text.is_empty()),
        Value::Tensor(tensor) => Ok(tensor.item()?.to_bool()),
        other => Ok(crate::runtime::convert::scalar_of(other)?.to_bool()),
    }
}

pub(super) fn sum(args: &mut Args<'_>) -> Result<Value> {
    Ok(match &*args.list(0)?.lock() {
        Items::Ints(items) => items.iter().fold(0i64, |sum, item| sum.wrapping_add(*item)).into(),
        Items::Floats(items) => items.iter().sum::<f64>().into(),
        Items::Bools(items) => (items.iter().filter(|item| **item).count() as i64).into(),
        other => {
            let complex = *args.list(0)?.element() == Type::Complex;
            match other.len() {
                0 if complex => Complex::new(0.0, 0.0).into(),
                0 => 0i64.into(),
                _ => other
                    .iter()
                    .try_fold(Complex::new(0.0, 0.0), |sum, item| Ok::<_, Error>(sum + item.as_complex()?))?
                    .into(),
            }
        }
    })
}

fn extreme(args: &Args<'_>, name: &str, better: Ordering) -> Result<Value> {
    let items = args.list(0)?.items();
    let mut items = items.iter();
    let Some(mut best) = items.next() else { bail!(Runtime, "{name}() arg is an empty sequence") };
    for item in items {
        if order(&item, &best)? == better {
            best = item;
        }
    }
    Ok(best)
}

pub(super) fn min(args: &mut Args<'_>) -> Result<Value> {
    extreme(args, "min", Ordering::Less)
}

pub(super) fn max(args: &mut Args<'_>) -> Result<Value> {
    extreme(args, "max", Ordering::Greater)
}

/// The list that is less in the order of dictionaries.
fn chosen(args: &mut Args<'_>, wanted: Ordering) -> Result<Value> {
    let (left, right) = (args.list(0)?.items(), args.list(1)?.items());
    let mut found = left.len().cmp(&right.len());
    for (a, b) in left.iter().zip(right.iter()) {
        match order(&a, &b)? {
            Ordering::Equal => {}
            other => {
                found = other;
                break;
            }
        }
    }
    Ok(args.take(usize::from(found != wanted)))
}

pub(super) fn min_of_lists(args: &mut Args<'_>) -> Result<Value> {
    chosen(args, Ordering::Less)
}

pub(super) fn max_of_lists(args: &mut Args<'_>) -> Result<Value> {
    chosen(args, Ordering::Greater)
}

/// `list("abc")`
pub(super) fn of_str(args: &mut Args<'_>) -> Result<Value> {
    Ok(List::strs(args.bytes(0)?.iter().map(|byte| vec![*byte]))?.into())
}

/// The sizes of the broadcast result of two tensors of these sizes.
pub(super) fn infer_size(args: &mut Args<'_>) -> Result<Value> {
    let sizes =
        |index: usize| -> Result<Vec<i64>> { args.list(index)?.items().iter().map(|item| item.as_int()).collect() };
    let (a, b) = (sizes(0)?, sizes(1)?);
    let rank = a.len().max(b.len());
    let size = |sizes: &[i64], dim: usize| (dim + sizes.len()).checked_sub(rank).and_then(|at| sizes.get(at)).copied();
    let mut result = Vec::new();
    for dim in 0..rank {
        let (left, right) = (size(&a, dim).unwrap_or(1), size(&b, dim).unwrap_or(1));
        ensure!(
            left == right || left == 1 || right == 1,
            Runtime,
            "The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton dimension {dim}"
        );
        result.push(if left == 1 { right } else { left });
    }
    Ok(List::ints(result).into())
}

/// The sizes, or None if they are those of the other.
pub(super) fn size_if_not_equal(args: &mut Args<'_>) -> Result<Value> {
    let same = equal(args.get(0)?, args.get(1)?)?;
    Ok(if same { Value::None } else { args.take(0) })
}

/// The sizes of a sum over some dimensions.
pub(super) fn reduction_sizes(args: &mut Args<'_>) -> Result<Value> {
    let mut sizes = args.list(0)?.items();
    let axes = args.list(1)?.items();
    let keep = args.bool_or(2, false)?;
    let mut reduced: Vec<usize> = Vec::new();
    for axis in axes.iter() {
        reduced.push(position(axis.as_int()?, sizes.len()).ok_or_else(out_of_range)?);
    }
    reduced.sort_unstable();
    reduced.dedup();
    for axis in reduced.into_iter().rev() {
        if keep {
            sizes.replace(axis, Value::Int(1))?;
        } else {
            sizes.remove(axis);
        }
    }
    Ok(List::new(Type::Int, sizes).into())
}
