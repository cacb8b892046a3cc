//! Sizes and strides: small vectors that stay inline up to rank 6, and their arithmetic.

use crate::{Result, ensure, err};
use smallvec::SmallVec;
use std::fmt::Write;

/// Sizes or strides of a tensor; no heap up to rank 6.
pub type DimVec = SmallVec<[i64; 6]>;

/// A copy of `dims`. Up to rank 6 it is one move of fixed length, where a copy of the slice would be a loop.
#[inline]
pub fn copy_dims(dims: &DimVec) -> DimVec {
    if dims.spilled() {
        return DimVec::from_slice(dims);
    }
    // SAFETY: a vector that has not spilled owns no heap memory, so a bitwise copy is a second, independent vector.
    unsafe { std::ptr::read(dims) }
}

/// Number of elements of a shape. Negative sizes and products beyond `i64` are errors, even if a size of 0 makes the
/// product small: the strides would still be too large.
#[inline]
pub fn numel(sizes: &[i64]) -> Result<i64> {
    let mut product = 1i64;
    let mut empty = false;
    for &size in sizes {
        match product.checked_mul(size.max(1)) {
            Some(next) if size >= 0 => product = next,
            _ => return impossible_shape(sizes, size, empty),
        }
        empty |= size == 0;
    }
    Ok(if empty { 0 } else { product })
}

#[cold]
fn impossible_shape(sizes: &[i64], size: i64, empty: bool) -> Result<i64> {
    let shape = format_sizes(sizes);
    ensure!(size >= 0, Runtime, "Trying to create tensor with negative dimension {size}: {shape}");
    ensure!(!empty, Runtime, "Stride calculation overflowed");
    Err(err!(Runtime, "Storage size calculation overflowed with sizes={shape}"))
}

/// Row-major strides; a size of 0 counts as 1, as in PyTorch.
#[inline]
pub fn contiguous_strides(sizes: &[i64]) -> DimVec {
    if let [_] = sizes {
        return DimVec::from_buf_and_len([1; 6], 1);
    }
    // Filled in place: the loop of `from_elem` costs more than the strides themselves.
    let mut strides = match sizes.len() {
        rank @ 0..=6 => DimVec::from_buf_and_len([1; 6], rank),
        rank => DimVec::from_elem(1, rank),
    };
    let mut step = 1i64;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = step;
        step = step.wrapping_mul(size.max(1));
    }
    strides
}

/// Writes [`contiguous_strides`] in place, number by number: moving them would take longer than computing them.
/// `strides` is empty.
#[inline]
pub fn push_contiguous_strides(strides: &mut DimVec, sizes: &[i64]) {
    let rank = sizes.len();
    if !strides.is_empty() || strides.capacity() < rank {
        *strides = contiguous_strides(sizes);
        return;
    }
    let at = strides.as_mut_ptr();
    let mut step = 1i64;
    for dim in (0..rank).rev() {
        // SAFETY: the vector has capacity for `rank` numbers, and `dim` is below `rank`.
        unsafe { at.add(dim).write(step) };
        step = step.wrapping_mul(sizes[dim].max(1));
    }
    // SAFETY: the capacity is at least `rank`, and the loop wrote all `rank` numbers.
    unsafe { strides.set_len(rank) };
}

/// Whether the sizes are equal. A loop over a few words; comparing slices would call `memcmp`.
#[inline]
pub fn same_sizes(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// `dim` counted from the front; a 0-dim tensor accepts -1 and 0.
pub fn wrap_dim(dim: i64, ndim: usize) -> Result<usize> {
    let n = (ndim as i64).max(1);
    ensure!(
        (-n..n).contains(&dim),
        Index,
        "Dimension out of range (expected to be in range of [{}, {}], but got {dim})",
        -n,
        n - 1
    );
    Ok(if dim < 0 { dim + n } else { dim } as usize)
}

/// The most entries of a list that a message prints.
const PRINTED: usize = 256;

/// A shape as PyTorch's messages print it: `[2, 3]`. Only the first entries of a long list.
pub fn format_sizes(sizes: &[i64]) -> String {
    let mut text = String::from("[");
    for (index, size) in sizes.iter().take(PRINTED).enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(text, "{separator}{size}");
    }
    text.push_str(if sizes.len() > PRINTED { ", ...]" } else { "]" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_are_row_major_and_zero_sizes_count_as_one() {
        assert_eq!(contiguous_strides(&[2, 3, 4]).as_slice(), &[12, 4, 1]);
        assert_eq!(contiguous_strides(&[2, 0, 4]).as_slice(), &[4, 4, 1]);
        assert!(contiguous_strides(&[]).is_empty());
    }

    #[test]
    fn a_scalar_accepts_dimension_zero_and_minus_one() {
        assert_eq!(wrap_dim(-1, 0).unwrap(), 0);
        assert_eq!(wrap_dim(-1, 3).unwrap(), 2);
        assert_eq!(
            wrap_dim(2, 2).unwrap_err().message(),
            "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
        );
    }

    #[test]
    fn overflowing_shapes_are_rejected() {
        assert!(numel(&[i64::MAX, 2]).is_err());
        assert!(numel(&[-1]).is_err());
        assert_eq!(numel(&[]).unwrap(), 1);
    }
}
