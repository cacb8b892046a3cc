//! Search in a sorted sequence. CUDA kernels include this file.

use crate::number::Ordered;
use std::hint::select_unpredictable;

/// Number of elements before `value`.
///
/// The number of steps depends on `len` alone, and no step has a branch: a processor that predicts nothing wrongly starts the
/// next searches before one ends.
#[inline(always)]
pub(crate) fn place_of<W: Ordered>(value: W, len: usize, right: bool, element: impl Fn(usize) -> W) -> usize {
    let (mut low, mut high) = (0, len);
    for _ in 0..usize::BITS - len.leading_zeros() {
        let middle = low + (high - low) / 2;
        let is_done = low == high;
        let there = element(middle.min(len - 1));
        let found = is_done | if right { there > value } else { there >= value };
        high = select_unpredictable(found, middle, high);
        low = select_unpredictable(found, low, middle + 1);
    }
    low
}
