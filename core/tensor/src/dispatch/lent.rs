//! The arguments of a boxed call. Tensors of the caller may be among them without a reference of their own.

use super::few::Few;
use super::value::Value;
use crate::tensor::Tensor;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget, take};
use std::ops::Deref;

/// Boxed arguments. Most operators have few: they stay on the stack.
///
/// A lent tensor is a copy of the caller's pointer: counting a reference up and down would cost as much as the rest of the
/// call by name. The lifetime keeps the caller's tensor alive. Only `&[Value]` leaves this type, from which nobody can move
/// a value out.
#[derive(Default)]
pub struct LentValues<'a> {
    values: Few<8>,
    /// Bit i: value i is a lent tensor, whose reference is the caller's.
    lent: u64,
    caller: PhantomData<&'a Tensor>,
}

impl<'a> LentValues<'a> {
    /// No values.
    #[inline]
    pub fn new() -> LentValues<'a> {
        LentValues { values: Few::new(), lent: 0, caller: PhantomData }
    }

    /// Memory for `count` more values. False if there is none.
    #[inline]
    pub fn try_reserve(&mut self, count: usize) -> bool {
        self.values.try_reserve(count)
    }

    /// Adds a value.
    #[inline(always)]
    pub fn push(&mut self, value: Value) {
        self.values.push(value);
    }

    /// Adds a tensor of the caller.
    #[inline]
    pub fn lend(&mut self, tensor: &'a Tensor) {
        // SAFETY: a tensor is a pointer to its reference count, which lives for `'a`. The copy is never dropped: `own` and
        // `drop` forget lent values, and no other value of this type is moved out.
        let copy = unsafe { std::ptr::read(tensor) };
        self.lend_copy(ManuallyDrop::new(copy));
    }

    /// Adds a tensor of the caller, given as a copy of its pointer.
    ///
    /// # Safety
    /// The tensor lives for `'a`: another reference than this copy keeps it.
    #[inline]
    pub unsafe fn lend_handle(&mut self, tensor: ManuallyDrop<Tensor>) {
        self.lend_copy(tensor);
    }

    #[inline]
    fn lend_copy(&mut self, tensor: ManuallyDrop<Tensor>) {
        let index = self.values.len();
        if index < u64::BITS as usize {
            self.push(Value::Tensor(ManuallyDrop::into_inner(tensor)));
            self.lent |= 1 << index;
        } else {
            self.values.push(Value::Tensor(Tensor::clone(&tensor)));
        }
    }

    /// Replaces the value at `index` by what `convert` makes of it. After an error the value is None.
    pub fn convert<E>(&mut self, index: usize, convert: impl FnOnce(Value) -> Result<Value, E>) -> Result<(), E> {
        let owned = self.own(index);
        self.values[index] = convert(owned)?;
        Ok(())
    }

    /// Takes the value at `index`, with a reference of its own.
    fn own(&mut self, index: usize) -> Value {
        let value = take(&mut self.values[index]);
        if self.lent & (1 << index.min(63)) == 0 || index >= 64 {
            return value;
        }
        self.lent &= !(1 << index);
        let owned = value.clone();
        forget(value);
        owned
    }
}

impl Deref for LentValues<'_> {
    type Target = [Value];

    #[inline]
    fn deref(&self) -> &[Value] {
        &self.values
    }
}

impl From<Vec<Value>> for LentValues<'_> {
    fn from(values: Vec<Value>) -> Self {
        LentValues { values: values.into(), lent: 0, caller: PhantomData }
    }
}

impl Drop for LentValues<'_> {
    #[inline]
    fn drop(&mut self) {
        while self.lent != 0 {
            let index = self.lent.trailing_zeros() as usize;
            self.lent &= self.lent - 1;
            let value = &mut self.values[index];
            // SAFETY: the tensor belongs to the caller: the value is overwritten without being dropped.
            unsafe { std::ptr::write(value, Value::None) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::{Result, err};

    #[test]
    fn lent_tensors_keep_their_count() {
        let tensor = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        let mut values = LentValues::new();
        for _ in 0..100 {
            values.lend(&tensor);
        }
        values.push(Value::from(&tensor));
        // Of those beyond the 64th, each has a reference of its own.
        assert_eq!((values.len(), tensor.use_count()), (101, 1 + 36 + 1));
        drop(values);
        assert_eq!(tensor.use_count(), 1);
    }

    #[test]
    fn a_converted_value_owns_its_tensor() {
        let tensor = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        let mut values = LentValues::new();
        (0..70).for_each(|_| values.lend(&tensor));
        for index in [0, 63, 64, 69] {
            let convert = |value| -> Result<Value> { Ok(Value::Tuple(super::super::Items::new(vec![value])?)) };
            values.convert(index, convert).unwrap();
        }
        assert_eq!(tensor.use_count(), 1 + 2 + 6);
        assert!(values.convert(1, |_| Err(err!(Type, "no"))).is_err());
        assert_eq!(values[1], Value::None);
        drop(values);
        assert_eq!(tensor.use_count(), 1);
    }
}
