//! Lists whose length depends on the sizes of tensors: running out of memory is an error.
//!
//! `Vec::with_capacity`, `vec![x; n]` and `collect` end the process when the system has no memory. They are for lists of bounded
//! length: one entry per dimension, argument or operand.

use crate::{Result, err};

/// An empty list with capacity for `count` elements.
pub fn with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    reserve(&mut list, count)?;
    Ok(list)
}

/// Adds capacity for `count` elements.
pub fn reserve<T>(list: &mut Vec<T>, count: usize) -> Result<()> {
    list.try_reserve_exact(count).map_err(|_| err!(OutOfMemory, "not enough memory for a list of {count} elements"))
}

/// Appends an element. The capacity grows by doubling.
#[inline]
pub fn push<T>(list: &mut Vec<T>, value: T) -> Result<()> {
    if list.len() == list.capacity() {
        list.try_reserve(1)
            .map_err(|_| err!(OutOfMemory, "not enough memory for a list of more than {} elements", list.len()))?;
    }
    list.push(value);
    Ok(())
}

/// A list of `count` times `value`.
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut list = with_capacity(count)?;
    list.resize(count, value);
    Ok(list)
}

/// A copy of `values`.
pub fn copied<T: Clone>(values: &[T]) -> Result<Vec<T>> {
    let mut list = with_capacity(values.len())?;
    list.extend_from_slice(values);
    Ok(list)
}

/// Collects `values` into a list.
pub fn collect<T>(values: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    try_collect(values.into_iter().map(Ok))
}

/// Collects `values` into a list, or returns their first error.
pub fn try_collect<T>(values: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let values = values.into_iter();
    let mut list = with_capacity(values.size_hint().0)?;
    for value in values {
        push(&mut list, value?)?;
    }
    Ok(list)
}

/// Length up to which [`check_memory`] does not check lists.
const SHORT: usize = 64;
/// Estimate, on the high side, of the bytes that an element of a list of tensors uses in all lists that a call creates
/// from it.
const BYTES: usize = 512;

/// Checks that there is memory for the lists that a call creates from a list of this length. For code that creates
/// many lists of the same length and cannot report a failed allocation: the lists are smaller than the block that was
/// just allocated and freed.
#[inline]
pub fn check_memory(tensors: usize) -> Result<()> {
    if tensors <= SHORT { Ok(()) } else { with_capacity::<[u8; BYTES]>(tensors).map(drop) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn lists_contain_the_given_elements() {
        assert_eq!(filled(3, 7).unwrap(), [7, 7, 7]);
        assert_eq!(copied(&[1, 2]).unwrap(), [1, 2]);
        assert_eq!(collect((0..10).filter(|x| x % 3 == 0)).unwrap(), [0, 3, 6, 9]);
        assert_eq!(try_collect((0..3).map(Ok)).unwrap(), [0, 1, 2]);
        let failed = try_collect((0..3).map(|x| if x == 1 { Err(err!(Value, "one")) } else { Ok(x) }));
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::Value);
    }

    #[test]
    fn a_list_that_is_too_long_is_out_of_memory() {
        let count = usize::MAX / 16;
        assert_eq!(check_memory(count).unwrap_err().kind(), ErrorKind::OutOfMemory);
        assert!(check_memory(1).is_ok());
        for result in
            [with_capacity::<u64>(count).map(drop), filled(count, 1u64).map(drop), collect(0..u64::MAX / 2).map(drop)]
        {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::OutOfMemory);
        }
    }
}
