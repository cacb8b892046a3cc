//! Dicts: shared, mutable, in the order of insertion.

use super::drop::release;
use super::value::Value;
use crate::types::Type;
use rushlight_base::{Device, Result, err};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A dict. Copies are the same dict.
#[derive(Clone)]
pub struct Dict(Arc<Body>);

struct Body {
    kinds: Arc<(Type, Type)>,
    entries: Mutex<Entries>,
}

/// What makes two keys the same.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Str(Arc<[u8]>),
    Int(i64),
    Bool(bool),
    Float(u64),
    Complex(u64, u64),
    Tensor(usize),
    Device(Device),
    Enum(Arc<str>, Arc<str>),
    None,
}

impl Key {
    fn of(value: &Value) -> Result<Key> {
        // Adding 0 makes one zero of both.
        let bits = |float: f64| (float + 0.0).to_bits();
        Ok(match value {
            Value::Str(text) => Key::Str(text.clone()),
            Value::Int(value) => Key::Int(*value),
            Value::Bool(value) => Key::Bool(*value),
            Value::Float(value) => Key::Float(bits(*value)),
            Value::Complex(value) => Key::Complex(bits(value.re), bits(value.im)),
            Value::Tensor(tensor) => Key::Tensor(tensor.address()),
            Value::Device(device) => Key::Device(*device),
            Value::Enum(member) => Key::Enum(member.class().clone(), member.name().clone()),
            Value::None => Key::None,
            other => return Err(err!(Runtime, "{} cannot be the key of a dict", other.kind())),
        })
    }
}

/// The entries of a dict.
#[derive(Clone, Default)]
pub struct Entries {
    /// `None` where an entry was removed.
    slots: Vec<Option<(Value, Value)>>,
    places: HashMap<Key, usize>,
}

impl Entries {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &(Value, Value)> {
        self.slots.iter().flatten()
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Result<Option<&Value>> {
        let place = self.places.get(&Key::of(key)?);
        Ok(place.and_then(|&place| self.slots.get(place)?.as_ref()).map(|(_, value)| value))
    }

    /// Sets the value of a key, and returns the old value.
    pub fn insert(&mut self, key: Value, value: Value) -> Result<Option<Value>> {
        let identity = Key::of(&key)?;
        if let Some(&place) = self.places.get(&identity)
            && let Some(Some(entry)) = self.slots.get_mut(place)
        {
            return Ok(Some(std::mem::replace(&mut entry.1, value)));
        }
        let memory = self.places.try_reserve(1);
        memory.map_err(|_| err!(OutOfMemory, "not enough memory for a dict of {} entries", self.len() + 1))?;
        rushlight_base::list::push(&mut self.slots, Some((key, value)))?;
        self.places.insert(identity, self.slots.len() - 1);
        Ok(None)
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &Value) -> Result<Option<(Value, Value)>> {
        let Some(place) = self.places.remove(&Key::of(key)?) else { return Ok(None) };
        let entry = self.slots.get_mut(place).and_then(Option::take);
        self.compact();
        Ok(entry)
    }

    /// Removes the entry that was added first.
    pub fn pop_first(&mut self) -> Result<Option<(Value, Value)>> {
        let Some(entry) = self.slots.iter_mut().find(|slot| slot.is_some()).and_then(Option::take) else {
            return Ok(None);
        };
        self.places.remove(&Key::of(&entry.0)?);
        self.compact();
        Ok(Some(entry))
    }

    /// Closes the gaps of removed entries once they are most of the slots.
    fn compact(&mut self) {
        if self.slots.len() < 16 || self.slots.len() < 2 * self.places.len() {
            return;
        }
        self.slots.retain(Option::is_some);
        for (place, (key, _)) in self.slots.iter().flatten().enumerate() {
            if let Ok(key) = Key::of(key) {
                self.places.insert(key, place);
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let entries = std::mem::take(self.entries.get_mut().unwrap_or_else(PoisonError::into_inner));
        if entries.iter().any(|(key, value)| value.is_container() || key.is_container()) {
            release(entries.slots.into_iter().flatten().map(|(_, value)| value).collect());
        }
    }
}

impl Dict {
    /// An empty dict of these types.
    pub fn new(key: Type, value: Type) -> Dict {
        Dict::with_types(Arc::new((key, value)), Entries::default())
    }

    fn with_types(kinds: Arc<(Type, Type)>, entries: Entries) -> Dict {
        Dict(Arc::new(Body { kinds, entries: Mutex::new(entries) }))
    }

    /// A dict of entries; of a key that occurs twice, the last value counts.
    pub fn from_entries(key: Type, value: Type, pairs: impl IntoIterator<Item = (Value, Value)>) -> Result<Dict> {
        let mut entries = Entries::default();
        for (key, value) in pairs {
            entries.insert(key, value)?;
        }
        Ok(Dict::with_types(Arc::new((key, value)), entries))
    }

    /// The type of the keys.
    pub fn key_type(&self) -> &Type {
        &self.0.kinds.0
    }

    /// The type of the values.
    pub fn value_type(&self) -> &Type {
        &self.0.kinds.1
    }

    /// The entries, locked: no operator may be called and no value dropped until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Result<Option<Value>> {
        Ok(self.lock().get(key)?.cloned())
    }

    /// Sets the value of a key.
    pub fn insert(&self, key: Value, value: Value) -> Result<()> {
        let old = self.lock().insert(key, value)?;
        drop(old);
        Ok(())
    }

    /// The entries in order.
    pub fn entries(&self) -> Vec<(Value, Value)> {
        self.lock().iter().cloned().collect()
    }

    /// A dict with the same entries.
    #[must_use]
    pub fn copy(&self) -> Dict {
        Dict::with_types(self.0.kinds.clone(), self.lock().clone())
    }

    /// Removes all entries.
    pub fn clear(&self) {
        let old = std::mem::take(&mut *self.lock());
        drop(old);
    }

    /// The address, which is the identity of the dict.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both are the same dict.
    pub fn is(&self, other: &Dict) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
