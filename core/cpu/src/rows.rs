//! What a kernel sees of rows that it takes whole: softmax, norms and their gradients.
//!
//! A [`Strip`] is one row, or as many neighbouring rows as a vector has lanes: where the rows themselves are far apart
//! but their neighbours are not (softmax over the first dimension), a vector holds one element of each of several rows,
//! and nothing is left to fold in the end. A kernel is written once for both.

use crate::simd::{Float, FloatVector, Mask, Simd};

/// Vectors that are folded before their sum joins the others.
const LEAF: usize = 512;

/// One row of each of `N` arrays, or one vector of neighbouring rows.
#[derive(Clone, Copy)]
pub(crate) struct Strip<T, const N: usize> {
    at: [*mut T; N],
    /// From a vector to the next.
    steps: [isize; N],
    /// From a lane to the next.
    lane_steps: [isize; N],
    /// Vectors with all lanes, and all vectors.
    full: usize,
    vectors: usize,
    /// Lanes of the others.
    rest: usize,
    /// Are the lanes rows of their own?
    across: bool,
}

impl<T: Float, const N: usize> Strip<T, N> {
    /// One row of `len` elements.
    #[inline(always)]
    pub(crate) fn along<S: Simd>(at: [*mut T; N], steps: [isize; N], len: usize) -> Strip<T, N> {
        let lanes = T::Vector::<S>::LANES;
        let vector_steps = steps.map(|step| step * lanes as isize);
        let (full, rest, vectors) = (len / lanes, len % lanes, len.div_ceil(lanes));
        Strip { at, steps: vector_steps, lane_steps: steps, full, vectors, rest, across: false }
    }

    /// A vector of neighbouring rows of `len` elements: all lanes of it, if `full` is `len`, else the first `rest`.
    #[inline(always)]
    pub(crate) fn across(at: [*mut T; N], steps: [isize; N], full: usize, len: usize, rest: usize) -> Strip<T, N> {
        Strip { at, steps, lane_steps: [1; N], full, vectors: len, rest, across: true }
    }

    /// Reads `count` lanes of vector `i` of array `operand`.
    #[inline(always)]
    pub(crate) fn load<S: Simd>(&self, operand: usize, i: usize, count: usize) -> T::Vector<S> {
        let (at, lane_step) =
            (self.at[operand].wrapping_offset(i as isize * self.steps[operand]), self.lane_steps[operand]);
        // SAFETY: the maker of the strip vouches for its elements; `each` and `fold` go no further.
        unsafe {
            if lane_step != 1 {
                T::load_strided::<S>(at, lane_step * size_of::<T>() as isize, count)
            } else if count == T::Vector::<S>::LANES {
                T::load::<S>(at)
            } else {
                T::load_partial::<S>(at, count)
            }
        }
    }

    /// Writes `count` lanes of vector `i` of array `operand`.
    #[inline(always)]
    pub(crate) fn store<S: Simd>(&self, operand: usize, i: usize, count: usize, value: T::Vector<S>) {
        let (at, lane_step) =
            (self.at[operand].wrapping_offset(i as isize * self.steps[operand]), self.lane_steps[operand]);
        // SAFETY: as for `load`.
        unsafe {
            if lane_step != 1 {
                T::store_strided::<S>(value, at, lane_step * size_of::<T>() as isize, count);
            } else if count == T::Vector::<S>::LANES {
                T::store::<S>(value, at);
            } else {
                T::store_partial::<S>(value, at, count);
            }
        }
    }

    /// Calls `visit` with the number and the lanes of each vector.
    #[inline(always)]
    pub(crate) fn each<S: Simd>(&self, mut visit: impl FnMut(usize, usize)) {
        for i in 0..self.full {
            visit(i, T::Vector::<S>::LANES);
        }
        for i in self.full..self.vectors {
            visit(i, self.rest);
        }
    }

    /// Folds what `of` makes of each vector; lanes that are not there count as `empty`. The result is in all lanes, or,
    /// where the lanes are rows, each lane has its own.
    #[inline(always)]
    pub(crate) fn fold<S: Simd>(
        &self,
        empty: f64,
        merge: impl Fn(T::Vector<S>, T::Vector<S>) -> T::Vector<S> + Copy,
        of: impl Fn(usize, usize) -> T::Vector<S>,
    ) -> T::Vector<S> {
        let lanes = T::Vector::<S>::LANES;
        let empty = T::Vector::<S>::from_f64(empty);
        let (mut total, mut i) = (empty, 0);
        while i < self.full {
            let end = self.full.min(i + LEAF);
            let mut chains = [empty; 4];
            while i + 4 <= end {
                for (nth, chain) in chains.iter_mut().enumerate() {
                    *chain = merge(*chain, of(i + nth, lanes));
                }
                i += 4;
            }
            while i < end {
                chains[0] = merge(chains[0], of(i, lanes));
                i += 1;
            }
            total = merge(total, merge(merge(chains[0], chains[2]), merge(chains[1], chains[3])));
        }
        for i in self.full..self.vectors {
            total = merge(total, T::Vector::<S>::select(Mask::first(self.rest), of(i, self.rest), empty));
        }
        if self.across { total } else { T::Vector::<S>::splat(total.fold(merge)) }
    }

    /// The sum of what `of` makes of each vector.
    #[inline(always)]
    pub(crate) fn sum<S: Simd>(&self, of: impl Fn(usize, usize) -> T::Vector<S>) -> T::Vector<S> {
        self.fold::<S>(0.0, |a, b| a + b, of)
    }
}
