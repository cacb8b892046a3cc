//! A short list of values on the stack.

use super::value::Value;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

/// A list of values: up to `N` on the stack, more on the heap.
///
/// Unlike in a `SmallVec`, length and elements lie apart. There, asking for the length reads a word of the first element;
/// right after that element was written part by part, the read waits for the processor to store the parts.
pub struct Few<const N: usize> {
    /// How many of `inline` are values; 0 once they have moved to `heap`.
    len: usize,
    inline: [MaybeUninit<Value>; N],
    /// All values, if there were ever more than `N`.
    heap: Vec<Value>,
}

impl<const N: usize> Few<N> {
    /// An empty list.
    #[inline]
    pub const fn new() -> Few<N> {
        Few { len: 0, inline: [const { MaybeUninit::uninit() }; N], heap: Vec::new() }
    }

    /// Appends a value.
    #[inline(always)]
    pub fn push(&mut self, value: Value) {
        if self.len < N && self.heap.is_empty() {
            self.inline[self.len].write(value);
            self.len += 1;
        } else {
            self.push_on_heap(value);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_on_heap(&mut self, value: Value) {
        self.move_to_heap(1);
        self.heap.push(value);
    }

    fn move_to_heap(&mut self, more: usize) {
        let len = std::mem::take(&mut self.len);
        self.heap.reserve(len + more);
        // SAFETY: the first `len` elements are values. The length was set to 0, so that each is moved once.
        self.heap.extend(self.inline[..len].iter().map(|value| unsafe { value.assume_init_read() }));
    }

    /// Memory for `count` values. False if there is none.
    pub fn try_reserve(&mut self, count: usize) -> bool {
        if count <= N {
            return true;
        }
        if self.heap.try_reserve(self.len + count).is_err() {
            return false;
        }
        if self.len > 0 {
            self.move_to_heap(count);
        }
        true
    }

    /// The values as a vector.
    pub fn into_vec(mut self) -> Vec<Value> {
        if self.len > 0 {
            self.move_to_heap(0);
        }
        std::mem::take(&mut self.heap)
    }

    /// Forgets all values that are on the stack without dropping them, and returns where they are and how many.
    #[inline]
    fn forget_inline(&mut self) -> (*mut Value, usize) {
        (self.inline.as_mut_ptr().cast(), std::mem::take(&mut self.len))
    }
}

impl<const N: usize> Deref for Few<N> {
    type Target = [Value];

    #[inline]
    fn deref(&self) -> &[Value] {
        if self.heap.is_empty() {
            // SAFETY: the first `len` elements are values, and `MaybeUninit` has the layout of what it holds.
            unsafe { std::slice::from_raw_parts(self.inline.as_ptr().cast(), self.len) }
        } else {
            &self.heap
        }
    }
}

impl<const N: usize> DerefMut for Few<N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [Value] {
        if self.heap.is_empty() {
            // SAFETY: the first `len` elements are values, and `MaybeUninit` has the layout of what it holds.
            unsafe { std::slice::from_raw_parts_mut(self.inline.as_mut_ptr().cast(), self.len) }
        } else {
            &mut self.heap
        }
    }
}

impl<const N: usize> Drop for Few<N> {
    #[inline]
    fn drop(&mut self) {
        let (first, len) = self.forget_inline();
        for index in 0..len {
            // SAFETY: the first `len` elements were values, and nothing else drops them any more.
            unsafe {
                let value = first.add(index);
                if !(*value).is_plain() {
                    std::ptr::drop_in_place(value);
                }
            }
        }
    }
}

impl<const N: usize> Default for Few<N> {
    fn default() -> Few<N> {
        Few::new()
    }
}

impl<const N: usize> Clone for Few<N> {
    fn clone(&self) -> Few<N> {
        self.iter().cloned().collect()
    }
}

impl<const N: usize> fmt::Debug for Few<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<const N: usize> From<Vec<Value>> for Few<N> {
    fn from(values: Vec<Value>) -> Few<N> {
        Few { len: 0, inline: [const { MaybeUninit::uninit() }; N], heap: values }
    }
}

impl<const N: usize> Extend<Value> for Few<N> {
    fn extend<I: IntoIterator<Item = Value>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.push(value));
    }
}

impl<const N: usize> FromIterator<Value> for Few<N> {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Few<N> {
        let mut few = Few::new();
        few.extend(values);
        few
    }
}

impl<const N: usize> IntoIterator for Few<N> {
    type Item = Value;
    type IntoIter = std::vec::IntoIter<Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tensor;

    #[test]
    fn values_stay_in_order_on_the_stack_and_on_the_heap() {
        for count in 0..6 {
            let values: Vec<Value> = (0..count).map(Value::from).collect();
            let mut few: Few<2> = values.iter().cloned().collect();
            assert_eq!((&few[..], few.is_empty()), (&values[..], count == 0));
            few.iter_mut().for_each(|value| *value = Value::None);
            assert!(few.clone().into_iter().all(|value| value.is_none()));
            assert_eq!(few.into_vec().len(), values.len());
            let mut few: Few<2> = values.clone().into();
            few.push(Value::from("end"));
            assert_eq!((few.len(), few.last()), (values.len() + 1, Some(&Value::from("end"))));
        }
    }

    #[test]
    fn reserved_memory_takes_values_of_the_stack_along() {
        let mut few: Few<2> = [Value::from(1i64), Value::from(2i64)].into_iter().collect();
        assert!(few.try_reserve(2) && few.try_reserve(100) && !few.try_reserve(usize::MAX / 64));
        few.push(Value::from(3i64));
        assert_eq!(&few[..], [Value::from(1i64), Value::from(2i64), Value::from(3i64)]);
        let mut empty: Few<2> = Few::new();
        assert!(empty.try_reserve(3) && empty.is_empty());
        empty.push(Value::None);
        assert_eq!(empty.len(), 1);
    }

    #[test]
    fn each_value_is_dropped_once() {
        let tensor = Tensor::from_slice(&[1.0f32], &[1]).unwrap();
        for count in 1..5 {
            let few: Few<2> = (0..count).map(|_| Value::from(&tensor)).collect();
            assert_eq!(tensor.use_count(), 1 + count);
            drop(few.clone().into_vec());
            drop(few);
            assert_eq!(tensor.use_count(), 1);
        }
    }
}
