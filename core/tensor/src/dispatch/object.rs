//! Values that are objects: instances of classes, futures, members of enumerations, streams, quantization schemes.

use super::containers::Nesting;
use super::value::Value;
use rushlight_base::{Device, Result, Scalar, ensure, err, runtime};
use std::any::Any;
use std::ffi::{CStr, CString};
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An instance of a class, with contents that only the class knows. Copies are the same object.
#[derive(Clone)]
pub struct Object(Arc<ObjectBody>);

struct ObjectBody {
    class: CString,
    content: Box<dyn Any + Send + Sync>,
}

impl Object {
    /// An instance of the class `__torch__.torch.classes.my.Class`. An error if the name contains a NUL.
    pub fn new(class: &str, content: impl Any + Send + Sync) -> Result<Object> {
        let class = CString::new(class).map_err(|_| err!(Value, "the name of a class contains a NUL: {class:?}"))?;
        Ok(Object(Arc::new(ObjectBody { class, content: Box::new(content) })))
    }

    /// An instance of a class of this library from the state in a file; `None` if this build has no such class.
    pub fn restore(class: &str, state: Value) -> Result<Option<Object>> {
        #[cfg(feature = "op-quantization")]
        if crate::quantized::packed::is_packed(class) {
            return crate::quantized::packed::from_state(class, state).map(Some);
        }
        let _ = (class, state);
        Ok(None)
    }

    /// The state of an object of a class of this library, from which [`restore`](Object::restore) creates an equal one;
    /// `None` if the library does not know the class.
    pub fn state(&self) -> Result<Option<Value>> {
        #[cfg(feature = "op-quantization")]
        if crate::quantized::packed::is_packed(self.class_name()) {
            return crate::quantized::packed::to_state(self).map(Some);
        }
        Ok(None)
    }

    /// The qualified name of the class.
    pub fn class_name(&self) -> &str {
        self.0.class.to_str().unwrap_or_default()
    }

    /// The qualified name of the class, for C.
    pub fn class_name_for_c(&self) -> &CStr {
        &self.0.class
    }

    /// The contents, if they are of this type.
    pub fn content<T: 'static>(&self) -> Option<&T> {
        self.0.content.downcast_ref()
    }

    /// Whether both are the same object.
    pub fn is(&self, other: &Object) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Converts the reference into a pointer that owns it.
    pub fn into_raw(self) -> *const () {
        Arc::into_raw(self.0).cast()
    }

    /// Takes the reference back.
    ///
    /// # Safety
    /// `raw` came from [`into_raw`](Object::into_raw) and is taken back once.
    pub unsafe fn from_raw(raw: *const ()) -> Object {
        // SAFETY: the caller guarantees that `raw` came from `into_raw`, that is from `Arc::into_raw`, and is taken back
        // once.
        Object(unsafe { Arc::from_raw(raw.cast()) })
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({})", self.class_name())
    }
}

/// A value that another thread provides. Copies are the same future.
#[derive(Clone)]
pub struct Future(Arc<FutureBody>);

struct FutureBody {
    result: Mutex<Option<Result<Value>>>,
    completed: Condvar,
}

/// How often a waiting thread looks at the cancel flag.
const WAIT: Duration = Duration::from_millis(20);

impl Future {
    /// A future without a value.
    #[expect(clippy::new_without_default, reason = "a default value is complete")]
    pub fn new() -> Future {
        Future(Arc::new(FutureBody { result: Mutex::new(None), completed: Condvar::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Result<Value>>> {
        self.0.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes the future with a value or an error. An error if it is complete, or if the value contains a future.
    pub fn complete(&self, result: Result<Value>) -> Result<()> {
        if let Ok(value) = &result {
            ensure!(!Nesting::of(value).future, Value, "the value of a future cannot contain a future");
        }
        let mut place = self.lock();
        ensure!(place.is_none(), Runtime, "the future is completed already");
        *place = Some(result);
        drop(place);
        self.0.completed.notify_all();
        Ok(())
    }

    /// Whether the future has a value or an error.
    pub fn is_complete(&self) -> bool {
        self.lock().is_some()
    }

    /// Waits for the value. Returns the error if the future was completed with one; a set cancel flag ends the wait.
    pub fn wait(&self) -> Result<Value> {
        let mut place = self.lock();
        loop {
            if let Some(result) = &*place {
                return result.clone();
            }
            runtime::check_may_begin()?;
            place = self.0.completed.wait_timeout(place, WAIT).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether both are the same future.
    pub fn is(&self, other: &Future) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Converts the reference into a pointer that owns it.
    pub fn into_raw(self) -> *const () {
        Arc::into_raw(self.0).cast()
    }

    /// Takes the reference back.
    ///
    /// # Safety
    /// `raw` came from [`into_raw`](Future::into_raw) and is taken back once.
    pub unsafe fn from_raw(raw: *const ()) -> Future {
        // SAFETY: the caller guarantees that `raw` came from `into_raw`, that is from `Arc::into_raw`, and is taken back
        // once.
        Future(unsafe { Arc::from_raw(raw.cast()) })
    }
}

impl fmt::Debug for Future {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Future")
    }
}

/// A member of an enumeration.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumValue(Arc<EnumBody>);

#[derive(Debug, PartialEq)]
struct EnumBody {
    class: Box<str>,
    name: Box<str>,
    value: Value,
}

impl EnumValue {
    /// The member `name` of the class. `value` is an int, a float or a string, as in TorchScript.
    pub fn new(class: &str, name: &str, value: Value) -> Result<EnumValue> {
        let allowed = matches!(value, Value::Str(_) | Value::Scalar(Scalar::Int(_) | Scalar::Float(_)));
        ensure!(allowed, Type, "the value of {class}.{name} must be int, float or str, not {}", value.kind());
        Ok(EnumValue(Arc::new(EnumBody { class: class.into(), name: name.into(), value })))
    }

    /// The qualified name of the class.
    pub fn class_name(&self) -> &str {
        &self.0.class
    }

    /// The name of the member.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The value of the member.
    pub fn value(&self) -> &Value {
        &self.0.value
    }
}

/// A stream of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The device.
    pub device: Device,
    /// The number of the stream; 0 is the default one.
    pub id: i64,
}

/// A quantization scheme. The numbers are c10's.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QScheme {
    /// One scale and zero point.
    PerTensorAffine = 0,
    /// A scale and a zero point per channel.
    PerChannelAffine = 1,
    /// One scale; the zero point is 0.
    PerTensorSymmetric = 2,
    /// A scale per channel; the zero point is 0.
    PerChannelSymmetric = 3,
    /// A floating-point scale and zero point per channel.
    PerChannelAffineFloatQParams = 4,
}

impl QScheme {
    /// The scheme with this number.
    pub fn from_code(code: i32) -> Result<QScheme> {
        use QScheme::{
            PerChannelAffine, PerChannelAffineFloatQParams, PerChannelSymmetric, PerTensorAffine, PerTensorSymmetric,
        };
        [PerTensorAffine, PerChannelAffine, PerTensorSymmetric, PerChannelSymmetric, PerChannelAffineFloatQParams]
            .into_iter()
            .find(|scheme| *scheme as i32 == code)
            .ok_or_else(|| err!(Value, "unknown quantization scheme {code}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Items;

    #[test]
    fn contents_of_an_object_are_found_by_their_type() {
        let object = Object::new("my.Class", 7u8).unwrap();
        assert_eq!((object.class_name(), object.content::<u8>(), object.content::<i8>()), ("my.Class", Some(&7), None));
        assert!(object.is(&object.clone()) && !object.is(&Object::new("my.Class", 7u8).unwrap()));
        assert!(Object::new("a\0b", ()).is_err());
    }

    #[test]
    fn a_waiting_thread_receives_the_value() {
        let future = Future::new();
        let waiting = std::thread::spawn({
            let future = future.clone();
            move || future.wait()
        });
        assert!(!future.is_complete());
        future.complete(Ok(Value::from(3i64))).unwrap();
        assert_eq!(waiting.join().unwrap().unwrap(), Value::from(3i64));
        assert!(future.complete(Ok(Value::None)).is_err());
    }

    #[test]
    fn a_future_keeps_an_error_and_contains_no_future() {
        let future = Future::new();
        let inner = Value::List(Items::new(vec![Value::Future(Future::new())]).unwrap());
        assert!(future.complete(Ok(inner)).is_err() && !future.is_complete());
        future.complete(Err(err!(Runtime, "broken"))).unwrap();
        assert_eq!(future.wait().unwrap_err().message(), "broken");
    }

    #[test]
    fn a_member_of_an_enumeration_has_a_simple_value() {
        let red = EnumValue::new("my.Color", "RED", Value::from(1i64)).unwrap();
        assert_eq!((red.class_name(), red.name(), red.value()), ("my.Color", "RED", &Value::from(1i64)));
        assert!(EnumValue::new("my.Color", "RED", Value::None).is_err());
    }
}
