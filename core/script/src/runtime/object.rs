//! Tuples, objects, members of an Enum, futures.

use super::drop::release;
use super::fork::Task;
use super::value::Value;
use crate::ast::Name;
use crate::types::{NamedTuple, Type};
use rushlight_base::{Error, Result, err, runtime};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// A tuple or NamedTuple.
#[derive(Clone)]
pub struct Tuple(Arc<TupleBody>);

struct TupleBody {
    class: Option<Arc<NamedTuple>>,
    items: Vec<Value>,
}

impl Drop for TupleBody {
    fn drop(&mut self) {
        release(std::mem::take(&mut self.items));
    }
}

impl Tuple {
    /// A tuple.
    pub fn new(items: Vec<Value>) -> Tuple {
        Tuple(Arc::new(TupleBody { class: None, items }))
    }

    /// A NamedTuple.
    pub fn named(class: Arc<NamedTuple>, items: Vec<Value>) -> Tuple {
        Tuple(Arc::new(TupleBody { class: Some(class), items }))
    }

    /// The elements.
    pub fn items(&self) -> &[Value] {
        &self.0.items
    }

    /// The class of a NamedTuple.
    pub fn class(&self) -> Option<&Arc<NamedTuple>> {
        self.0.class.as_ref()
    }

    /// The address, which is the identity of the tuple.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Whether both are the same tuple.
    pub fn is(&self, other: &Tuple) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A class or module: the attributes of its instances.
pub struct Class {
    /// The qualified name.
    pub name: Name,
    attributes: RwLock<Arc<[Attribute]>>,
}

/// An attribute of a class.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// The name.
    pub name: Name,
    /// The type.
    pub kind: Type,
    /// What a module uses it for.
    pub role: Role,
}

/// What an attribute of a module is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A submodule or any other value.
    #[default]
    Plain,
    /// A parameter.
    Parameter,
    /// A buffer.
    Buffer,
}

impl Class {
    /// A class with these attributes.
    pub fn new(name: impl Into<Name>, attributes: Vec<Attribute>) -> Class {
        Class { name: name.into(), attributes: RwLock::new(attributes.into()) }
    }

    /// The attributes in order.
    pub fn attributes(&self) -> Arc<[Attribute]> {
        self.attributes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The slot of an attribute.
    pub fn slot(&self, name: &str) -> Option<usize> {
        let attributes = self.attributes.read().unwrap_or_else(PoisonError::into_inner);
        attributes.iter().position(|attribute| &*attribute.name == name)
    }

    /// The slot of an attribute, looked for at `hint` first.
    fn slot_near(&self, name: &str, hint: usize) -> Option<usize> {
        let attributes = self.attributes.read().unwrap_or_else(PoisonError::into_inner);
        match attributes.get(hint) {
            Some(attribute) if &*attribute.name == name => Some(hint),
            _ => attributes.iter().position(|attribute| &*attribute.name == name),
        }
    }

    /// Adds attributes, named by their numbers, until there is this slot.
    pub(crate) fn extend_to(&self, slot: usize) {
        if slot < self.attributes.read().unwrap_or_else(PoisonError::into_inner).len() {
            return;
        }
        let mut attributes = self.attributes.write().unwrap_or_else(PoisonError::into_inner);
        let added = attributes.len()..=slot;
        let added = added.map(|slot| Attribute { name: slot.to_string().into(), kind: Type::Any, role: Role::Plain });
        *attributes = attributes.iter().cloned().chain(added).collect();
    }

    /// Changes what an attribute is.
    pub(crate) fn set_role(&self, slot: usize, role: Role) {
        let mut attributes = self.attributes.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = attributes.to_vec();
        if let Some(attribute) = changed.get_mut(slot) {
            attribute.role = role;
        }
        *attributes = changed.into();
    }

    /// Adds an attribute, and returns its slot. One that exists stays.
    pub fn add_attribute(&self, attribute: Attribute) -> usize {
        let mut attributes = self.attributes.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = attributes.iter().position(|other| other.name == attribute.name) {
            return slot;
        }
        let slot = attributes.len();
        *attributes = attributes.iter().cloned().chain([attribute]).collect();
        slot
    }
}

/// An instance of a class. Copies are the same object.
#[derive(Clone)]
pub struct Object(Arc<ObjectBody>);

struct ObjectBody {
    class: Arc<Class>,
    slots: Mutex<Vec<Value>>,
}

impl Drop for ObjectBody {
    fn drop(&mut self) {
        release(std::mem::take(self.slots.get_mut().unwrap_or_else(PoisonError::into_inner)));
    }
}

impl Object {
    /// An object whose attributes are None.
    pub fn new(class: Arc<Class>) -> Object {
        Object(Arc::new(ObjectBody { class, slots: Mutex::default() }))
    }

    /// The class.
    pub fn class(&self) -> &Arc<Class> {
        &self.0.class
    }

    /// The value of an attribute.
    pub fn get(&self, name: &str) -> Result<Value> {
        self.get_near(name, &mut 0)
    }

    /// [`get`](Object::get) with a guess of the slot, which is updated.
    #[inline]
    pub(crate) fn get_near(&self, name: &str, hint: &mut usize) -> Result<Value> {
        let slot = self.0.class.slot_near(name, *hint).ok_or_else(|| self.lacks(name))?;
        *hint = slot;
        let slots = self.0.slots.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(slots.get(slot).cloned().unwrap_or_default())
    }

    #[cold]
    fn lacks(&self, name: &str) -> Error {
        err!(Runtime, "'{}' object has no attribute '{name}'", self.0.class.name)
    }

    /// The attribute in a slot.
    pub(crate) fn get_slot(&self, slot: usize) -> Result<Value> {
        let slots = self.0.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.get(slot) {
            Some(value) => Ok(value.clone()),
            None if slot < self.0.class.attributes().len() => Ok(Value::None),
            None => Err(err!(Runtime, "'{}' object has no attribute {slot}", self.0.class.name)),
        }
    }

    /// Sets an attribute of the class.
    pub fn set(&self, name: &str, value: Value) -> Result<()> {
        let slot = self.0.class.slot(name).ok_or_else(|| self.lacks(name))?;
        self.set_slot(slot, value)
    }

    /// Sets the attribute in a slot.
    pub fn set_slot(&self, slot: usize, value: Value) -> Result<()> {
        let count = self.0.class.attributes().len();
        let mut slots = self.0.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if slots.len() < count {
            let missing = count - slots.len();
            rushlight_base::list::reserve(&mut slots, missing)?;
            slots.resize(count, Value::None);
        }
        let old = match slots.get_mut(slot) {
            Some(place) => std::mem::replace(place, value),
            None => return Err(err!(Runtime, "'{}' object has no attribute {slot}", self.0.class.name)),
        };
        drop(slots);
        drop(old);
        Ok(())
    }

    /// The attributes with their values.
    pub fn attributes(&self) -> Vec<(Attribute, Value)> {
        let attributes = self.0.class.attributes();
        let slots = self.0.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let value = |slot: usize| slots.get(slot).cloned().unwrap_or_default();
        attributes.iter().enumerate().map(|(slot, attribute)| (attribute.clone(), value(slot))).collect()
    }

    /// Whether both are the same object.
    pub fn is(&self, other: &Object) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The address, which is the identity of the object.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// A number that differs from that of every other object that lives.
    pub fn identity(&self) -> usize {
        self.address()
    }
}

/// A member of an Enum.
#[derive(Clone)]
pub struct EnumValue(Arc<EnumBody>);

struct EnumBody {
    class: Name,
    name: Name,
    value: Value,
}

impl EnumValue {
    /// The member `name` of a class.
    pub fn new(class: impl Into<Name>, name: impl Into<Name>, value: Value) -> EnumValue {
        EnumValue(Arc::new(EnumBody { class: class.into(), name: name.into(), value }))
    }

    /// The qualified name of the class.
    pub fn class(&self) -> &Name {
        &self.0.class
    }

    /// The name of the member.
    pub fn name(&self) -> &Name {
        &self.0.name
    }

    /// The value of the member.
    pub fn value(&self) -> &Value {
        &self.0.value
    }
}

impl PartialEq for EnumValue {
    fn eq(&self, other: &EnumValue) -> bool {
        self.0.class == other.0.class && self.0.name == other.0.name
    }
}

/// The result of `fork`.
#[derive(Clone)]
pub struct Future(Arc<FutureBody>);

struct FutureBody {
    state: Mutex<FutureState>,
    completed: Condvar,
}

enum FutureState {
    /// No thread has begun the function.
    Queued(Box<Task>),
    Running,
    Completed(Result<Value>),
}

/// How often a thread that waits for another one checks whether its calls are cancelled.
const BETWEEN_CHECKS: Duration = Duration::from_millis(10);

impl Drop for FutureBody {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let FutureState::Completed(Ok(value)) = state {
            release(vec![std::mem::take(value)]);
        }
    }
}

impl Future {
    fn of(state: FutureState) -> Future {
        Future(Arc::new(FutureBody { state: Mutex::new(state), completed: Condvar::new() }))
    }

    /// A completed future.
    pub fn completed(result: Result<Value>) -> Future {
        Future::of(FutureState::Completed(result))
    }

    /// The future of a function that has not begun.
    pub(super) fn queued(task: Task) -> Future {
        Future::of(FutureState::Queued(Box::new(task)))
    }

    fn lock(&self) -> MutexGuard<'_, FutureState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The function, if no thread has begun it: this thread must run it, and complete the future.
    pub(super) fn claim(&self) -> Option<Task> {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, FutureState::Running) {
            FutureState::Queued(task) => Some(*task),
            other => {
                *state = other;
                None
            }
        }
    }

    /// Whether a thread has begun the function and not completed the future.
    pub(super) fn is_running(&self) -> bool {
        matches!(*self.lock(), FutureState::Running)
    }

    /// Sets the result.
    pub(super) fn complete(&self, result: Result<Value>) {
        *self.lock() = FutureState::Completed(result);
        self.0.completed.notify_all();
    }

    /// Waits until another thread has completed the future; its value or its error. An error if the calls of this
    /// thread are cancelled meanwhile.
    pub(super) fn block(&self) -> Result<Value> {
        let mut state = self.lock();
        loop {
            if let FutureState::Completed(result) = &*state {
                return result.clone();
            }
            let waited = self.0.completed.wait_timeout(state, BETWEEN_CHECKS);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            runtime::check_cancelled()?;
        }
    }

    /// Whether both are the same future.
    pub fn is(&self, other: &Future) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
