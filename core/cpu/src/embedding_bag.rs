//! Sums of bags of rows of a table.

use crate::array::Array;
use crate::number::Number;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Simd, run};
use rushlight_base::list::with_capacity;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DType, Element, Result, ensure};
use std::ops::Range;

/// Vectors of a row that are summed in registers.
const TOGETHER: usize = 4;
/// Elements that a thread adds at least.
const GRAIN: usize = 1 << 14;

/// The rows that are summed, bag by bag.
pub struct Bags<'a> {
    /// The row of each place (int64, contiguous). Those outside the table are ignored.
    pub indices: Array<'a>,
    /// Where each bag starts (int64, contiguous). A place belongs to the bag whose number is that of the offsets up to it,
    /// in any order, minus one.
    pub offsets: Array<'a>,
    /// A factor for each place, of the dtype of the table and contiguous.
    pub factors: Option<Array<'a>>,
    /// Places of this row are ignored.
    pub padding: Option<i64>,
}

impl Bags<'_> {
    /// Where each bag starts, in ascending order, and the number of places. An offset beyond these is an error.
    fn starts(&self) -> Result<Vec<usize>> {
        let (at, bags, places) = (self.offsets.as_ptr::<i64>(), self.offsets.numel(), self.indices.numel());
        let mut starts = with_capacity(bags + 1)?;
        for bag in 0..bags {
            // SAFETY: the offsets are contiguous, and `Array::new` guarantees their elements.
            let start = unsafe { at.add(bag).read() };
            ensure!(
                (0..=places as i64).contains(&start),
                Index,
                "embedding_bag: offset {start} is out of range for {places} indices"
            );
            starts.push(start as usize);
        }
        starts.sort_unstable();
        starts.push(places);
        Ok(starts)
    }
}

/// out = the sum of the rows of each bag, in the wide type of `table`. Rows of `table` and `out` are contiguous.
pub fn sums(out: &Array, table: &Array, bags: &Bags) -> Result<()> {
    let of_places = |array: &Array, dtype| array.dtype() == dtype && array.ndim() == 1 && array.is_contiguous();
    let [rows, width] = [0, 1].map(|dim| table.size(dim));
    let count = bags.offsets.numel();
    ensure!(
        table.ndim() == 2
            && out.sizes() == [count as i64, width as i64]
            && out.dtype() == table.dtype().opmath()
            && out.is_contiguous()
            && (table.stride(1) == 1 || width < 2)
            && of_places(&bags.indices, DType::I64)
            && of_places(&bags.offsets, DType::I64)
            && bags
                .factors
                .as_ref()
                .is_none_or(|factors| { of_places(factors, table.dtype()) && factors.numel() == bags.indices.numel() }),
        Internal,
        "embedding_bag got arrays that do not match"
    );
    let starts = bags.starts()?;
    let work = width.saturating_mul(bags.indices.numel()) / count.max(1);
    dispatch!(table.dtype(), "embedding_bag", half float, T => {
        let (to, from) = (Shared::new(out.as_ptr::<<T as Number>::Wide>()), Shared::new(table.as_ptr::<T>()));
        let indices = Shared::new(bags.indices.as_ptr::<i64>());
        let factors = bags.factors.as_ref().map(|factors| Shared::new(factors.as_ptr::<T>()));
        let (step, padding) = (table.stride(0), bags.padding);
        parallel_chunks(count, (GRAIN / work.max(1)).max(1), &|part| {
            for bag in part {
                run(Bag::<T> {
                    to: to.get().wrapping_add(bag * width),
                    width,
                    table: from.get(),
                    step,
                    rows,
                    indices: indices.get(),
                    factors: factors.as_ref().map(|factors| factors.get().cast_const()),
                    places: starts[bag]..starts[bag + 1],
                    padding,
                });
            }
        })
    })
}

/// A row of the result, and the rows that are summed in it.
struct Bag<T: Number> {
    to: *mut T::Wide,
    width: usize,
    table: *const T,
    step: isize,
    rows: usize,
    indices: *const i64,
    factors: Option<*const T>,
    places: Range<usize>,
    padding: Option<i64>,
}

impl<T: Float> Kernel for Bag<T>
where
    T::Wide: Element,
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        let mut first = 0;
        // SAFETY: the columns stay below `width`. The row of the result is this bag's, which one thread sums.
        unsafe {
            while first + TOGETHER * lanes <= self.width {
                self.columns::<S, TOGETHER>(first, lanes);
                first += TOGETHER * lanes;
            }
            while first < self.width {
                let count = lanes.min(self.width - first);
                self.columns::<S, 1>(first, count);
                first += count;
            }
        }
    }
}

impl<T: Float> Bag<T> {
    /// Sums `N` vectors from the column `first` on, of which the last has `count` lanes.
    ///
    /// # Safety
    /// The columns are below `width`.
    #[inline(always)]
    unsafe fn columns<S: Simd, const N: usize>(&self, first: usize, count: usize) {
        let lanes = T::Vector::<S>::LANES;
        let mut sums = [T::Vector::<S>::from_f64(0.0); N];
        for place in self.places.clone() {
            // SAFETY: the places of a bag are below the number of indices, and of factors.
            let index = unsafe { self.indices.add(place).read() };
            // Another thread may have written an index since all of them were checked.
            if Some(index) == self.padding || index as u64 >= self.rows as u64 {
                continue;
            }
            // SAFETY: the row is inside the table, whose rows have `width` elements; the caller guarantees the columns.
            let row = unsafe { self.table.offset(index as isize * self.step).add(first) };
            match self.factors {
                None => {
                    for (nth, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: the vector is within the columns that the caller guarantees.
                        *sum = *sum + unsafe { T::load_some::<S>(row.add(nth * lanes), count) };
                    }
                }
                Some(factors) => {
                    // SAFETY: there is a factor for each place.
                    let factor = T::Vector::<S>::splat(unsafe { factors.add(place).read() }.wide());
                    for (nth, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: the vector is within the columns that the caller guarantees.
                        *sum = *sum + factor * unsafe { T::load_some::<S>(row.add(nth * lanes), count) };
                    }
                }
            }
        }
        for (nth, sum) in sums.into_iter().enumerate() {
            // SAFETY: the caller guarantees columns of this row of the result, which nothing else writes.
            unsafe {
                let to = self.to.add(first + nth * lanes);
                if count == lanes { sum.store(to) } else { sum.store_partial(to, count) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<'a, T: Element>(values: &'a mut [T], sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
        assert_eq!(values.len() as i64, sizes.iter().product::<i64>());
        // SAFETY: the values are as many as the sizes say, and the strides are those of contiguous rows.
        unsafe { Array::new(values.as_mut_ptr().cast(), T::DTYPE, sizes, strides) }
    }

    /// Bags of 0, 1 and 5 rows at widths around the vectors, with factors, a padding row and an index that another
    /// thread has moved out of the table.
    #[test]
    fn bags_are_sums_of_rows_times_factors() {
        for width in [1usize, 7, 8, 31, 32, 33, 70, 129] {
            let mut table: Vec<f32> = (0..6 * width).map(|i| (i % 23) as f32 - 11.0).collect();
            let mut indices = vec![3i64, 0, 5, 1, 99, 3];
            let mut factors = vec![2.0f32, -1.0, 0.5, 3.0, 7.0, 1.0];
            let mut out = vec![f32::NAN; 3 * width];
            let wide = width as i64;
            let (rows, sizes, steps, mut offsets) = ([6, wide], [3, wide], [wide, 1], vec![0i64, 1, 0]);
            for (weighted, padding) in [(false, None), (true, None), (true, Some(5))] {
                let bags = Bags {
                    indices: array(&mut indices, &[6], &[1]),
                    offsets: array(&mut offsets, &[3], &[1]),
                    factors: weighted.then(|| array(&mut factors, &[6], &[1])),
                    padding,
                };
                let (from, to) = (array(&mut table, &rows, &steps), array(&mut out, &sizes, &steps));
                sums(&to, &from, &bags).unwrap();
                for column in 0..width {
                    let at = |place: usize| {
                        let counts = indices[place] < 6 && Some(indices[place]) != padding;
                        let factor = if weighted { factors[place] } else { 1.0 };
                        if counts { factor * table[indices[place] as usize * width + column] } else { 0.0 }
                    };
                    let wanted = [0.0, at(0), (1..6).map(at).sum()];
                    assert_eq!([0, 1, 2].map(|bag| out[bag * width + column]), wanted, "width {width}");
                }
            }
            for beyond in [-1, 7] {
                offsets[1] = beyond;
                let (indices, offsets) = (array(&mut indices, &[6], &[1]), array(&mut offsets, &[3], &[1]));
                let (from, to) = (array(&mut table, &rows, &steps), array(&mut out, &sizes, &steps));
                let bags = Bags { indices, offsets, factors: None, padding: None };
                assert!(sums(&to, &from, &bags).is_err(), "an offset of {beyond}");
            }
        }
    }
}
