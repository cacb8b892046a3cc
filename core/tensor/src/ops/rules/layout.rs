//! Output strides that follow the inputs.
//!
//! A pointwise operator keeps the order of dimensions in memory: channels-last in, channels-last out. The
//! order is decided by the inputs in turn; the output has no gaps.

use crate::dense::Dense;
use rushlight_base::{DimVec, MemoryFormat, SmallVec};

/// Whether the elements are dense in memory, without overlap, in any order of dimensions.
pub fn is_non_overlapping_and_dense(sizes: &[i64], strides: &[i64]) -> bool {
    if sizes.contains(&0) {
        return true;
    }
    let mut dims: SmallVec<[(i64, i64); 6]> =
        sizes.iter().zip(strides).filter(|(size, _)| **size != 1).map(|(&size, &stride)| (stride, size)).collect();
    dims.sort_unstable();
    let mut expected = 1;
    dims.iter().all(|&(stride, size)| {
        let fits = stride == expected;
        expected *= size;
        fits
    })
}

/// The memory format that the order of the strides implies, gaps allowed. A tensor of one channel and one pixel, which
/// fits both orders, is contiguous.
pub fn suggested_format(sizes: &[i64], strides: &[i64]) -> MemoryFormat {
    let (format, order): (_, &[usize]) = match sizes.len() {
        4 => (MemoryFormat::ChannelsLast, &[1, 3, 2, 0]),
        5 => (MemoryFormat::ChannelsLast3d, &[1, 4, 3, 2, 0]),
        _ => return MemoryFormat::Contiguous,
    };
    let mut least = 0;
    let fits = order.iter().all(|&dim| {
        let fits = sizes[dim] != 0 && strides[dim] >= least && !(dim == 0 && least == strides[1]);
        least = strides[dim].wrapping_mul(sizes[dim]);
        fits
    });
    if fits && strides[1] != 0 { format } else { MemoryFormat::Contiguous }
}

/// Strides of a dense tensor of the same shape with the same order of dimensions.
pub fn preserved_strides(sizes: &[i64], strides: &[i64]) -> DimVec {
    if is_non_overlapping_and_dense(sizes, strides) {
        return DimVec::from_slice(strides);
    }
    dense_strides(sizes, &[DimVec::from_slice(strides)])
}

/// Strides of a pointwise output; `None`: row-major.
pub(super) fn elementwise_strides(sizes: &[i64], inputs: &[&Dense]) -> Option<DimVec> {
    let of_full_shape = |input: &&&Dense| input.sizes() == sizes;
    if sizes.len() < 2 || inputs.iter().filter(of_full_shape).all(|input| input.is_contiguous()) {
        // Broadcast inputs that are row-major themselves do not change the order.
        if inputs.iter().all(|input| input.is_contiguous()) {
            return None;
        }
    }
    let first = inputs.first()?;
    let alike = inputs.iter().all(|input| input.sizes() == sizes && input.strides() == first.strides());
    if alike && is_non_overlapping_and_dense(sizes, first.strides()) {
        return Some(DimVec::from_slice(first.strides()));
    }
    let strides: SmallVec<[DimVec; 4]> = inputs.iter().map(|input| broadcast_strides(input, sizes)).collect();
    Some(dense_strides(sizes, &strides))
}

fn broadcast_strides(input: &Dense, sizes: &[i64]) -> DimVec {
    let mut strides = DimVec::from_elem(0, sizes.len());
    let lead = sizes.len() - input.ndim();
    for dim in 0..input.ndim() {
        if input.sizes()[dim] != 1 || sizes[lead + dim] == 1 {
            strides[lead + dim] = input.strides()[dim];
        }
    }
    strides
}

/// Dense strides whose dimensions are ordered as the operands' are: the first operand that steps along
/// both of two dimensions decides; equal steps keep the larger size outside.
fn dense_strides(sizes: &[i64], operands: &[DimVec]) -> DimVec {
    let compare = |inner: usize, outer: usize| -> i32 {
        for strides in operands {
            let (a, b) = (strides[inner], strides[outer]);
            if a == 0 || b == 0 {
                continue;
            }
            if a != b {
                return if a < b { -1 } else { 1 };
            }
            if sizes[inner] > sizes[outer] {
                return 1;
            }
        }
        0
    };
    let mut order: SmallVec<[usize; 6]> = (0..sizes.len()).rev().collect();
    for start in 1..order.len() {
        let mut at = start;
        for earlier in (0..start).rev() {
            match compare(order[earlier], order[at]) {
                1 => {
                    order.swap(earlier, at);
                    at = earlier;
                }
                -1 => break,
                _ => {}
            }
        }
    }
    let mut strides = DimVec::from_elem(0, sizes.len());
    let mut step = 1;
    for dim in order {
        strides[dim] = step;
        step *= sizes[dim].max(1);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_input_keeps_its_order_and_loses_its_gaps() {
        assert_eq!(preserved_strides(&[3, 2], &[1, 3]).as_slice(), &[1, 3]);
        assert_eq!(preserved_strides(&[3, 2], &[2, 12]).as_slice(), &[1, 3]);
        assert_eq!(preserved_strides(&[2, 3], &[6, 2]).as_slice(), &[3, 1]);
    }

    #[test]
    fn the_order_of_strides_suggests_a_memory_format() {
        use MemoryFormat::{ChannelsLast, ChannelsLast3d, Contiguous};
        assert_eq!(suggested_format(&[4, 1, 4, 4], &[16, 1, 4, 1]), ChannelsLast);
        assert_eq!(suggested_format(&[4, 1, 4, 4], &[16, 16, 4, 1]), Contiguous);
        assert_eq!(suggested_format(&[4, 3, 1, 1], &[3, 1, 3, 3]), ChannelsLast);
        assert_eq!(suggested_format(&[4, 3, 1, 1], &[3, 1, 1, 1]), Contiguous);
        assert_eq!(suggested_format(&[2, 3, 4, 3], &[72, 1, 18, 6]), ChannelsLast);
        assert_eq!(suggested_format(&[4, 1, 1, 1], &[1, 1, 1, 1]), Contiguous);
        assert_eq!(suggested_format(&[2, 3, 4, 5, 6], &[360, 1, 90, 18, 3]), ChannelsLast3d);
        assert_eq!(suggested_format(&[2, 0, 4, 5], &[0, 1, 0, 0]), Contiguous);
        assert_eq!(suggested_format(&[3, 4, 5], &[20, 1, 4]), Contiguous);
    }

    #[test]
    fn expanded_tensors_are_not_dense() {
        assert!(!is_non_overlapping_and_dense(&[3, 2], &[0, 1]));
        assert!(is_non_overlapping_and_dense(&[3, 1, 2], &[1, 99, 3]));
        assert!(is_non_overlapping_and_dense(&[0, 2], &[7, 7]));
    }
}
