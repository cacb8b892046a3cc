//! The arguments of a builtin operator, and what it may ask of the interpreter.

use crate::runtime::dict::Dict;
use crate::runtime::list::List;
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use rushlight_base::{Complex, Result, err};
use rushlight_tensor::Tensor;
use std::sync::Arc;

/// What operators ask of the interpreter that calls them.
pub trait Context {
    /// Writes what a program prints.
    fn print(&self, text: &[u8]);

    /// Reports a warning.
    fn warn(&self, text: &str);

    /// Calls the method `__lt__` of an object: whether `a` is less than `b`.
    fn less(&self, a: &Value, b: &Value) -> Result<bool>;
}

/// The arguments of a call.
pub struct Args<'a> {
    values: &'a mut [Value],
    /// The interpreter.
    pub context: &'a dyn Context,
}

impl<'a> Args<'a> {
    /// Arguments for a call.
    pub fn new(values: &'a mut [Value], context: &'a dyn Context) -> Args<'a> {
        Args { values, context }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All of them.
    pub fn all(&self) -> &[Value] {
        self.values
    }

    /// An argument.
    #[inline]
    pub fn get(&self, index: usize) -> Result<&Value> {
        self.values.get(index).ok_or_else(|| err!(Type, "argument {index} is missing"))
    }

    /// An argument, which is None then.
    #[inline]
    pub fn take(&mut self, index: usize) -> Value {
        self.values.get_mut(index).map(std::mem::take).unwrap_or_default()
    }

    /// An int.
    #[inline]
    pub fn int(&self, index: usize) -> Result<i64> {
        self.get(index)?.as_int()
    }

    /// An int or None; None if the argument is not given.
    pub fn int_opt(&self, index: usize) -> Result<Option<i64>> {
        match self.values.get(index) {
            None | Some(Value::None) => Ok(None),
            Some(value) => value.as_int().map(Some),
        }
    }

    /// An int, or the default if the argument is not given.
    pub fn int_or(&self, index: usize, default: i64) -> Result<i64> {
        Ok(self.int_opt(index)?.unwrap_or(default))
    }

    /// A float.
    #[inline]
    pub fn float(&self, index: usize) -> Result<f64> {
        self.get(index)?.as_float()
    }

    /// A bool.
    #[inline]
    pub fn bool(&self, index: usize) -> Result<bool> {
        self.get(index)?.as_bool()
    }

    /// A bool, or the default if the argument is not given.
    pub fn bool_or(&self, index: usize, default: bool) -> Result<bool> {
        match self.values.get(index) {
            None | Some(Value::None) => Ok(default),
            Some(value) => value.as_bool(),
        }
    }

    /// A complex number.
    pub fn complex(&self, index: usize) -> Result<Complex<f64>> {
        self.get(index)?.as_complex()
    }

    /// A string, in bytes.
    pub fn bytes(&self, index: usize) -> Result<&Arc<[u8]>> {
        self.get(index)?.as_bytes()
    }

    /// A string, or the default if the argument is not given.
    pub fn bytes_or(&self, index: usize, default: &'static [u8]) -> Result<&[u8]> {
        match self.values.get(index) {
            None | Some(Value::None) => Ok(default),
            Some(value) => value.as_bytes().map(|bytes| &**bytes),
        }
    }

    /// A list.
    #[inline]
    pub fn list(&self, index: usize) -> Result<&List> {
        self.get(index)?.as_list()
    }

    /// A dict.
    pub fn dict(&self, index: usize) -> Result<&Dict> {
        self.get(index)?.as_dict()
    }

    /// A tuple.
    pub fn tuple(&self, index: usize) -> Result<&Tuple> {
        self.get(index)?.as_tuple()
    }

    /// A tensor.
    #[inline]
    pub fn tensor(&self, index: usize) -> Result<&Tensor> {
        self.get(index)?.as_tensor()
    }
}
