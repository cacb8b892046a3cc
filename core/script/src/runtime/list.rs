//! Lists: shared, mutable, and compact for the types that programs compute with.

use super::drop::release;
use super::value::Value;
use crate::types::Type;
use rushlight_base::{Result, err};
use rushlight_tensor::Tensor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A list. Copies are the same list.
#[derive(Clone)]
pub struct List(Arc<Body>);

struct Body {
    element: Type,
    items: Mutex<Items>,
}

/// The elements of a list.
#[derive(Clone, Debug)]
pub enum Items {
    /// `List[int]`
    Ints(Vec<i64>),
    /// `List[float]`
    Floats(Vec<f64>),
    /// `List[bool]`
    Bools(Vec<bool>),
    /// `List[Tensor]`
    Tensors(Vec<Tensor>),
    /// Any other list.
    Values(Vec<Value>),
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Items::Values(values) = self.items.get_mut().unwrap_or_else(PoisonError::into_inner)
            && !values.is_empty()
        {
            release(std::mem::take(values));
        }
    }
}

macro_rules! each {
    ($items:expr, $vec:ident => $body:expr) => {
        match $items {
            Items::Ints($vec) => $body,
            Items::Floats($vec) => $body,
            Items::Bools($vec) => $body,
            Items::Tensors($vec) => $body,
            Items::Values($vec) => $body,
        }
    };
}

impl Items {
    /// No elements, stored for this element type.
    pub fn of_type(element: &Type) -> Items {
        match element {
            Type::Int => Items::Ints(Vec::new()),
            Type::Float => Items::Floats(Vec::new()),
            Type::Bool => Items::Bools(Vec::new()),
            Type::Tensor => Items::Tensors(Vec::new()),
            _ => Items::Values(Vec::new()),
        }
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        each!(self, items => items.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Value> {
        match self {
            Items::Ints(items) => items.get(index).map(|item| Value::Int(*item)),
            Items::Floats(items) => items.get(index).map(|item| Value::Float(*item)),
            Items::Bools(items) => items.get(index).map(|item| Value::Bool(*item)),
            Items::Tensors(items) => items.get(index).map(|item| Value::Tensor(item.clone())),
            Items::Values(items) => items.get(index).cloned(),
        }
    }

    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = Value> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Adds memory for `count` more elements.
    pub fn reserve(&mut self, count: usize) -> Result<()> {
        let reserved = each!(self, items => items.try_reserve(count));
        reserved.map_err(|_| err!(OutOfMemory, "not enough memory for a list of {} elements", self.len() + count))
    }

    /// The elements as values: what a list becomes when an element of another type is put into it.
    fn general(&mut self) -> Result<&mut Vec<Value>> {
        if !matches!(self, Items::Values(_)) {
            *self = Items::Values(rushlight_base::list::collect(self.iter())?);
        }
        match self {
            Items::Values(values) => Ok(values),
            _ => Err(err!(Internal, "a list is not general")),
        }
    }

    /// Adds an element at the end.
    #[inline]
    pub fn push(&mut self, value: Value) -> Result<()> {
        let full = each!(&*self, items => items.len() == items.capacity());
        if full {
            self.reserve(1)?;
        }
        match (&mut *self, value) {
            (Items::Ints(items), Value::Int(item)) => items.push(item),
            (Items::Floats(items), Value::Float(item)) => items.push(item),
            (Items::Bools(items), Value::Bool(item)) => items.push(item),
            (Items::Tensors(items), Value::Tensor(item)) => items.push(item),
            (_, item) => {
                let items = self.general()?;
                rushlight_base::list::push(items, item)?;
            }
        }
        Ok(())
    }

    /// Adds an element before the one at `index`, which is at most the length.
    pub fn insert(&mut self, index: usize, value: Value) -> Result<()> {
        self.push(value)?;
        each!(self, items => items.get_mut(index..).unwrap_or_default().rotate_right(1));
        Ok(())
    }

    /// Replaces an element, and returns the old one. `index` is less than the length.
    #[inline]
    pub fn replace(&mut self, index: usize, value: Value) -> Result<Value> {
        let missing = || err!(Index, "list index out of range");
        match (&mut *self, value) {
            (Items::Ints(items), Value::Int(item)) => {
                *items.get_mut(index).ok_or_else(missing)? = item;
                Ok(Value::None)
            }
            (Items::Floats(items), Value::Float(item)) => {
                *items.get_mut(index).ok_or_else(missing)? = item;
                Ok(Value::None)
            }
            (Items::Bools(items), Value::Bool(item)) => {
                *items.get_mut(index).ok_or_else(missing)? = item;
                Ok(Value::None)
            }
            (Items::Tensors(items), Value::Tensor(item)) => {
                let slot = items.get_mut(index).ok_or_else(missing)?;
                Ok(Value::Tensor(std::mem::replace(slot, item)))
            }
            (_, item) => {
                let slot = self.general()?.get_mut(index).ok_or_else(missing)?;
                Ok(std::mem::replace(slot, item))
            }
        }
    }

    /// Removes an element.
    pub fn remove(&mut self, index: usize) -> Option<Value> {
        if index >= self.len() {
            return None;
        }
        Some(match self {
            Items::Ints(items) => Value::Int(items.remove(index)),
            Items::Floats(items) => Value::Float(items.remove(index)),
            Items::Bools(items) => Value::Bool(items.remove(index)),
            Items::Tensors(items) => Value::Tensor(items.remove(index)),
            Items::Values(items) => items.remove(index),
        })
    }

    /// Adds all elements of another list.
    pub fn extend(&mut self, other: Items) -> Result<()> {
        self.reserve(other.len())?;
        match (&mut *self, other) {
            (Items::Ints(items), Items::Ints(other)) => items.extend(other),
            (Items::Floats(items), Items::Floats(other)) => items.extend(other),
            (Items::Bools(items), Items::Bools(other)) => items.extend(other),
            (Items::Tensors(items), Items::Tensors(other)) => items.extend(other),
            (Items::Values(items), Items::Values(other)) => items.extend(other),
            (_, other) => {
                for item in other.iter() {
                    self.push(item)?;
                }
            }
        }
        Ok(())
    }

    /// Reverses the order.
    pub fn reverse(&mut self) {
        each!(self, items => items.reverse());
    }

    /// The elements at these indices, which are in range.
    pub fn gather(&self, indices: impl Iterator<Item = usize> + Clone) -> Result<Items> {
        use rushlight_base::list::collect;
        Ok(match self {
            Items::Ints(items) => Items::Ints(collect(indices.filter_map(|at| items.get(at).copied()))?),
            Items::Floats(items) => Items::Floats(collect(indices.filter_map(|at| items.get(at).copied()))?),
            Items::Bools(items) => Items::Bools(collect(indices.filter_map(|at| items.get(at).copied()))?),
            Items::Tensors(items) => Items::Tensors(collect(indices.filter_map(|at| items.get(at).cloned()))?),
            Items::Values(items) => Items::Values(collect(indices.filter_map(|at| items.get(at).cloned()))?),
        })
    }
}

impl List {
    /// A list with this element type.
    pub fn new(element: Type, items: Items) -> List {
        List(Arc::new(Body { element, items: Mutex::new(items) }))
    }

    /// A list of values of this element type, stored compactly if they are of that type.
    pub fn from_values(element: Type, values: impl IntoIterator<Item = Value>) -> Result<List> {
        let values = values.into_iter();
        let mut items = Items::of_type(&element);
        items.reserve(values.size_hint().0)?;
        for value in values {
            items.push(value)?;
        }
        Ok(List::new(element, items))
    }

    /// `List[int]`
    pub fn ints(items: Vec<i64>) -> List {
        List::new(Type::Int, Items::Ints(items))
    }

    /// `List[float]`
    pub fn floats(items: Vec<f64>) -> List {
        List::new(Type::Float, Items::Floats(items))
    }

    /// `List[bool]`
    pub fn bools(items: Vec<bool>) -> List {
        List::new(Type::Bool, Items::Bools(items))
    }

    /// `List[Tensor]`
    pub fn tensors(items: Vec<Tensor>) -> List {
        List::new(Type::Tensor, Items::Tensors(items))
    }

    /// `List[str]`
    pub fn strs(items: impl IntoIterator<Item = Vec<u8>>) -> Result<List> {
        List::from_values(Type::Str, items.into_iter().map(Value::from))
    }

    /// The type of the elements.
    pub fn element(&self) -> &Type {
        &self.0.element
    }

    /// The elements, locked: no operator may be called and no value dropped until the guard is dropped.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, Items> {
        self.0.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of the elements.
    pub fn items(&self) -> Items {
        self.lock().clone()
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Value> {
        self.lock().get(index)
    }

    /// The elements as values.
    pub fn values(&self) -> Vec<Value> {
        self.lock().iter().collect()
    }

    /// Another list with these elements.
    #[must_use]
    pub fn with(&self, items: Items) -> List {
        List::new(self.0.element.clone(), items)
    }

    /// Replaces all elements.
    pub fn set(&self, items: Items) {
        let old = std::mem::replace(&mut *self.lock(), items);
        drop(old);
    }

    /// The address, which is the identity of the list.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both are the same list.
    pub fn is(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
