//! Values made of values: lists, tuples and dicts, shared by their copies and limited in depth.

use super::value::Value;
use rushlight_base::{Result, Scalar, bail, ensure, err};
use std::collections::HashSet;
use std::ops::Deref;
use std::sync::Arc;

/// How deep values may nest. It bounds the recursion of everything that walks over a value.
pub const MAX_DEPTH: usize = 64;

/// The values of a list or a tuple.
#[derive(Clone, Debug, PartialEq)]
pub struct Items(Arc<ItemsBody>);

#[derive(Clone, Debug, PartialEq)]
struct ItemsBody {
    nesting: Nesting,
    values: Box<[Value]>,
}

impl Items {
    /// Collects the values. An error if they nest too deeply.
    pub fn new(values: Vec<Value>) -> Result<Items> {
        let nesting = Nesting::around(values.iter())?;
        Ok(Items(Arc::new(ItemsBody { nesting, values: values.into_boxed_slice() })))
    }

    /// The values, for changes that keep the kind of each. Copies of the list do not change.
    pub(super) fn values_mut(&mut self) -> &mut [Value] {
        &mut Arc::make_mut(&mut self.0).values
    }

    pub(super) fn nesting(&self) -> Nesting {
        self.0.nesting
    }
}

impl Deref for Items {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0.values
    }
}

/// A dict: keys of one kind (`str`, `int`, `float`, `bool`, `complex` or `Tensor`), in the order of insertion.
#[derive(Clone, Debug, PartialEq)]
pub struct Dict(Arc<DictBody>);

#[derive(Clone, Debug, PartialEq)]
struct DictBody {
    nesting: Nesting,
    entries: Box<[(Value, Value)]>,
}

impl Dict {
    /// Collects the entries. An error if a key is of a kind that cannot be one or of another kind than the first key, if
    /// a key occurs twice, or if the values nest too deeply.
    pub fn new(entries: Vec<(Value, Value)>) -> Result<Dict> {
        let nesting = Nesting::around(entries.iter().map(|(_, value)| value))?;
        let mut seen = HashSet::new();
        let room = seen.try_reserve(entries.len());
        room.map_err(|_| err!(OutOfMemory, "not enough memory for a dict of {} entries", entries.len()))?;
        for (key, _) in &entries {
            let Some(identity) = Identity::of(key) else { bail!(Type, "{} cannot be the key of a dict", key.kind()) };
            let first = entries[0].0.kind();
            ensure!(key.kind() == first, Type, "the keys of a dict are {first} and {}, not of one kind", key.kind());
            ensure!(seen.insert(identity), Value, "the key {key:?} occurs twice in a dict");
        }
        Ok(Dict(Arc::new(DictBody { nesting, entries: entries.into_boxed_slice() })))
    }

    /// The value of this key. Tensors are compared by identity.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        let identity = Identity::of(key)?;
        let same = |entry: &&(Value, Value)| entry.0.kind() == key.kind() && Identity::of(&entry.0) == Some(identity);
        self.iter().find(same).map(|(_, value)| value)
    }

    /// The entries, for changes that keep the kind of each. Copies of the dict do not change.
    pub(super) fn entries_mut(&mut self) -> &mut [(Value, Value)] {
        &mut Arc::make_mut(&mut self.0).entries
    }

    pub(super) fn nesting(&self) -> Nesting {
        self.0.nesting
    }
}

impl Deref for Dict {
    type Target = [(Value, Value)];

    fn deref(&self) -> &[(Value, Value)] {
        &self.0.entries
    }
}

/// What makes two keys of one kind the same key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Identity<'a> {
    Str(&'a str),
    Number(u64, u64),
    Tensor(usize),
}

impl<'a> Identity<'a> {
    fn of(key: &'a Value) -> Option<Identity<'a>> {
        // Adding 0 makes one zero of both.
        let bits = |float: f64| (float + 0.0).to_bits();
        Some(match key {
            Value::Str(text) => Identity::Str(text),
            Value::Scalar(Scalar::Bool(flag)) => Identity::Number(u64::from(*flag), 0),
            Value::Scalar(Scalar::Int(int)) => Identity::Number(int.cast_unsigned(), 0),
            Value::Scalar(Scalar::UInt(int)) => Identity::Number(*int, 1),
            Value::Scalar(Scalar::Float(float)) => Identity::Number(bits(*float), 0),
            Value::Scalar(Scalar::Complex(value)) => Identity::Number(bits(value.re), bits(value.im)),
            Value::Tensor(tensor) => Identity::Tensor(std::ptr::from_ref(tensor.imp()).addr()),
            _ => return None,
        })
    }
}

/// How deep a value is, and whether it contains a future.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Nesting {
    depth: usize,
    /// A future is completed later, perhaps with a value that contains another one.
    pub(super) future: bool,
}

impl Nesting {
    /// The nesting of a container of these values.
    fn around<'a>(values: impl Iterator<Item = &'a Value>) -> Result<Nesting> {
        let mut nesting = Nesting::default();
        for inner in values.map(Nesting::of) {
            nesting.depth = nesting.depth.max(inner.depth);
            nesting.future |= inner.future;
        }
        nesting.depth += 1;
        ensure!(nesting.depth <= MAX_DEPTH, Value, "values are nested more than {MAX_DEPTH} deep");
        Ok(nesting)
    }

    pub(super) fn of(value: &Value) -> Nesting {
        match value {
            Value::List(items) | Value::Tuple(items) => items.nesting(),
            Value::Dict(dict) => dict.nesting(),
            Value::Future(_) => Nesting { depth: 0, future: true },
            _ => Nesting::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    fn nested(depth: usize) -> Result<Value> {
        (0..depth).try_fold(Value::None, |inner, _| Ok(Value::List(Items::new(vec![inner])?)))
    }

    #[test]
    fn depth_is_limited() {
        let deep = nested(MAX_DEPTH).unwrap();
        assert_eq!(nested(MAX_DEPTH + 1).unwrap_err().message(), "values are nested more than 64 deep");
        assert_eq!(deep.clone(), deep);
        assert!(Dict::new(vec![(Value::from("a"), deep)]).is_err());
    }

    #[test]
    fn keys_of_a_dict_are_of_one_kind_and_differ() {
        let refused = |keys: Vec<Value>| {
            let entries = keys.into_iter().map(|key| (key, Value::None)).collect();
            Dict::new(entries).unwrap_err().message().to_owned()
        };
        assert_eq!(refused(vec![Value::None]), "None cannot be the key of a dict");
        assert_eq!(refused(vec![1i64.into(), true.into()]), "the keys of a dict are int and bool, not of one kind");
        assert!(refused(vec!["a".into(), "b".into(), "a".into()]).ends_with("occurs twice in a dict"));
        assert!(refused(vec![0.0.into(), (-0.0).into()]).ends_with("occurs twice in a dict"));
    }

    #[test]
    fn entries_keep_their_order_and_are_found() {
        let tensor = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        let other = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        let entry = |key: &Tensor, value: i64| (Value::from(key), Value::from(value));
        let dict = Dict::new(vec![entry(&other, 2), entry(&tensor, 1)]).unwrap();
        assert_eq!(dict.get(&Value::from(&tensor)), Some(&Value::from(1i64)));
        assert_eq!(dict.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>(), [2i64.into(), 1i64.into()]);
        assert_eq!(dict.get(&Value::from("a")), None);
    }
}
