//! Search in a sorted sequence. CUDA kernels include this file.

use crate::number::Ordered;
use std::hint::select_unpredictable;

/// Number of elements before `value`.
#[inline(always)]
pub(crate) fn place_of<W: Ordered>(value: W, len: usize, right: bool, element: impl Fn(usize) -> W) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        let there = element(middle);
        let found = if right { there > value } else { there >= value };
        // Without a branch, which would be predicted wrongly half of the time.
        high = select_unpredictable(found, middle, high);
        low = select_unpredictable(found, low, middle + 1);
    }
    low
}
