//! Maxima and minima, with or without their index.
//!
//! NaN counts as larger than everything and smaller than everything; of equal elements the first wins.

use crate::array::Array;
use crate::number::{Number, Ordered, Wide};
use crate::reduce::fold::{FloatFolding, Fold, Folding, Largest, Smallest};
use crate::reduce::reducer::{self, Reducer, Steps, WIDTH};
use crate::reduce::{driver, fold_into, plan, reduce_into};
use crate::shared::Shared;
use rushlight_base::reduction::Order;
use rushlight_base::{Result, ensure};
use std::marker::PhantomData;

/// The end of the order that is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extremum {
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
}

/// A wide type with ends.
pub(crate) trait Bounded: Ordered {
    /// Nothing is smaller.
    const LEAST: Self;
    /// Nothing is larger.
    const GREATEST: Self;
}

macro_rules! bounded {
    ($($type:ty, $least:expr, $greatest:expr;)*) => {$(
        impl Bounded for $type {
            const LEAST: $type = $least;
            const GREATEST: $type = $greatest;
        }
    )*};
}

bounded! {
    u8, u8::MIN, u8::MAX;
    i8, i8::MIN, i8::MAX;
    i16, i16::MIN, i16::MAX;
    i32, i32::MIN, i32::MAX;
    i64, i64::MIN, i64::MAX;
    f32, f32::NEG_INFINITY, f32::INFINITY;
    f64, f64::NEG_INFINITY, f64::INFINITY;
    bool, false, true;
}

/// The largest (`MAX`) or smallest element, in the wide type.
#[derive(Clone, Copy)]
pub(crate) struct Extreme<T, const MAX: bool>(PhantomData<T>);

impl<T: Number<Wide: Bounded>, const MAX: bool> Fold for Extreme<T, MAX> {
    type In = T;
    type Acc = T::Wide;

    #[inline(always)]
    fn empty(self) -> T::Wide {
        if MAX { T::Wide::LEAST } else { T::Wide::GREATEST }
    }

    #[inline(always)]
    fn lift(self, x: T) -> T::Wide {
        x.wide()
    }

    #[inline(always)]
    fn merge(self, a: T::Wide, b: T::Wide) -> T::Wide {
        let stays = if MAX { a >= b } else { a <= b };
        if stays | a.is_nan() { a } else { b }
    }
}

/// An ordered element: floats have vectors.
pub(crate) trait Comparable: Number<Wide: Bounded> {
    /// The extreme value of each group.
    fn values<const MAX: bool>(out: &Array, a: &Array) -> Result<()>;

    /// The extreme values of lines: see [`Reducer::lines`]; of any steps.
    ///
    /// # Safety
    /// The contract of [`Reducer::lines`].
    unsafe fn values_of_lines<const MAX: bool>(at: *const Self, len: usize, steps: Steps, values: &mut [Self::Wide]);
}

macro_rules! comparable {
    ($($type:ty),*; $($float:ty),*) => {
        $(impl Comparable for $type {
            fn values<const MAX: bool>(out: &Array, a: &Array) -> Result<()> {
                fold_into(out, a, Extreme::<$type, MAX>(PhantomData), <$type>::narrow)
            }

            unsafe fn values_of_lines<const MAX: bool>(
                at: *const $type,
                len: usize,
                steps: Steps,
                values: &mut [<$type as Number>::Wide],
            ) {
                // SAFETY: the caller of `values_of_lines` guarantees `values.len()` lines of `len` elements at `at`.
                unsafe { reducer::lines(Folding(Extreme::<$type, MAX>(PhantomData)), at, len, steps, 0, values) }
            }
        })*
        $(impl Comparable for $float {
            fn values<const MAX: bool>(out: &Array, a: &Array) -> Result<()> {
                if MAX {
                    reduce_into(out, a, FloatFolding::<_, $float>::new(Largest), <$float>::narrow)
                } else {
                    reduce_into(out, a, FloatFolding::<_, $float>::new(Smallest), <$float>::narrow)
                }
            }

            unsafe fn values_of_lines<const MAX: bool>(
                at: *const $float,
                len: usize,
                steps: Steps,
                values: &mut [<$float as Number>::Wide],
            ) {
                // SAFETY: the caller of `values_of_lines` guarantees `values.len()` lines of `len` elements at `at`.
                unsafe {
                    if MAX {
                        reducer::lines(FloatFolding::<_, $float>::new(Largest), at, len, steps, 0, values)
                    } else {
                        reducer::lines(FloatFolding::<_, $float>::new(Smallest), at, len, steps, 0, values)
                    }
                }
            }
        })*
    };
}

comparable!(u8, i8, i16, i32, i64, crate::Flag; f32, f64, rushlight_base::f16, rushlight_base::bf16);

/// An extreme value, and where to search for its index: among `len` elements from `at`, the first of which is number
/// `index`.
#[derive(Clone, Copy)]
struct Place<T: Number> {
    value: T::Wide,
    len: u32,
    index: i64,
    at: Shared<T>,
}

/// Columns that are searched together.
const LANES: usize = 16;
/// Lines whose values are found together.
const SOME: usize = 16;

/// The extreme value and its first index. A line is searched for the index only after it has won.
#[derive(Clone, Copy)]
struct ArgExtreme<T, const MAX: bool>(PhantomData<T>);

/// Whether `b`, which comes later, replaces `a`.
#[inline(always)]
fn beats<W: Ordered, const MAX: bool>(b: W, a: W) -> bool {
    let better = if MAX { b > a } else { b < a };
    (better | b.is_nan()) & !a.is_nan()
}

impl<T: Comparable, const MAX: bool> Reducer for ArgExtreme<T, MAX> {
    type In = T;
    type Acc = Place<T>;
    const COMMUTES: bool = false;
    const KEEPS_PLACES: bool = true;

    #[inline(always)]
    fn empty(self) -> Place<T> {
        let value = Extreme::<T, MAX>(PhantomData).empty();
        Place { value, len: 0, index: 0, at: Shared::new(std::ptr::null_mut()) }
    }

    #[inline(always)]
    fn merge(self, a: Place<T>, b: Place<T>) -> Place<T> {
        if a.len == 0 || (b.len > 0 && beats::<T::Wide, MAX>(b.value, a.value)) { b } else { a }
    }

    unsafe fn lines(self, at: *const T, len: usize, steps: Steps, index: usize, acc: &mut [Place<T>]) {
        let mut values = [T::Wide::LEAST; SOME];
        for (nth, acc) in acc.chunks_mut(SOME).enumerate() {
            let values = &mut values[..acc.len()];
            let at = at.wrapping_offset((nth * SOME) as isize * steps.column);
            // SAFETY: the caller guarantees `acc.len()` lines of `len` elements at `at`, and `values` has as many
            // entries.
            unsafe { T::values_of_lines::<MAX>(at, len, steps, values) };
            for (line, (acc, &value)) in acc.iter_mut().zip(&*values).enumerate() {
                let at = at.wrapping_offset(line as isize * steps.column);
                let index = (index + (nth * SOME + line) * steps.number) as i64;
                *acc = Place { value, len: len as u32, index, at: Shared::new(at.cast_mut()) };
            }
        }
    }

    unsafe fn tile(self, at: *const T, rows: usize, row_step: isize, index: usize, acc: &mut [Place<T>]) {
        if rows == 0 {
            return;
        }
        let (mut best, mut place) = ([T::Wide::LEAST; WIDTH], [0u32; WIDTH]);
        for (nth, acc) in acc.chunks_mut(WIDTH).enumerate() {
            let (width, at) = (acc.len(), at.wrapping_add(nth * WIDTH));
            let element = |row: usize, column: usize| {
                // SAFETY: the caller guarantees `rows` rows with as many columns as there are results.
                unsafe { at.offset(row as isize * row_step).add(column).read() }.wide()
            };
            for (column, (best, place)) in best.iter_mut().zip(&mut place).enumerate().take(width) {
                (*best, *place) = (element(0, column), 0);
            }
            for row in 1..rows {
                let whole = width / LANES * LANES;
                let lanes = best[..whole].as_chunks_mut().0.iter_mut().zip(place[..whole].as_chunks_mut().0);
                for (block, (best, place)) in lanes.enumerate() {
                    // Through local blocks: the compiler must assume that the row aliases them.
                    let (mut values, mut places): ([T::Wide; LANES], [u32; LANES]) = (*best, *place);
                    for lane in 0..LANES {
                        let x = element(row, block * LANES + lane);
                        let wins = beats::<T::Wide, MAX>(x, values[lane]);
                        values[lane] = if wins { x } else { values[lane] };
                        places[lane] = if wins { row as u32 } else { places[lane] };
                    }
                    (*best, *place) = (values, places);
                }
                for column in whole..width {
                    let x = element(row, column);
                    if beats::<T::Wide, MAX>(x, best[column]) {
                        (best[column], place[column]) = (x, row as u32);
                    }
                }
            }
            for (column, acc) in acc.iter_mut().enumerate() {
                let index = index as i64 + i64::from(place[column]);
                *acc = Place { value: best[column], len: 1, index, at: Shared::new(std::ptr::null_mut()) };
            }
        }
    }
}

impl<T: Number<Wide: Bounded>> Place<T> {
    /// The first index of the value; `step` is that of lines.
    fn resolve(self, step: isize) -> i64 {
        if self.len <= 1 {
            return self.index;
        }
        let same = |x: T::Wide| (x == self.value) | (x.is_nan() & self.value.is_nan());
        let (at, len) = (self.at.get().cast_const(), self.len as usize);
        // SAFETY: the place was found in a line of `len` elements at `at`, and `i` stays below `len`.
        let element = |i: usize| unsafe { at.offset(i as isize * step).read().wide() };
        let mut i = 0;
        // Whole blocks without a branch per element; the block with a hit is searched again.
        while i + 32 <= len && !(0..32).fold(false, |hit, lane| hit | same(element(i + lane))) {
            i += 32;
        }
        while i + 1 < len && !same(element(i)) {
            i += 1;
        }
        self.index + i as i64
    }
}

/// The extremum of each reduced group of `a` into `values`, its row-major index within the group into `indices`
/// (int64); either output may be absent. The shape rule rejects empty groups.
pub fn extremum(values: Option<&Array>, indices: Option<&Array>, a: &Array, which: Extremum) -> Result<()> {
    if !a.is_on_host() {
        let function = if which == Extremum::Max { "max" } else { "min" };
        return crate::device::reduce(function, [values, indices], a, [0.0; 2]);
    }
    let name = match (which, indices.is_some()) {
        (Extremum::Max, true) => "max_cpu",
        (Extremum::Max, false) => "max_all",
        (Extremum::Min, true) => "min_cpu",
        (Extremum::Min, false) => "min_all",
    };
    dispatch!(a.dtype(), name, integer half float bool, T => match which {
        Extremum::Max => search::<T, true>(values, indices, a),
        Extremum::Min => search::<T, false>(values, indices, a),
    })
}

fn search<T: Comparable, const MAX: bool>(values: Option<&Array>, indices: Option<&Array>, a: &Array) -> Result<()> {
    for out in [values, indices].into_iter().flatten() {
        ensure!(a.numel() > 0 || out.numel() == 0, Internal, "the extremum kernel received an empty tensor");
    }
    match (values, indices) {
        (Some(values), None) => T::values::<MAX>(values, a),
        // Each output has its own strides; if they differ, each is traversed separately.
        (Some(values), Some(indices)) if values.strides() != indices.strides() => {
            T::values::<MAX>(values, a)?;
            places::<T, MAX>(None, indices, a)
        }
        (values, Some(indices)) => places::<T, MAX>(values, indices, a),
        (None, None) => Ok(()),
    }
}

/// Places, and values at the same offsets if wanted.
fn places<T: Comparable, const MAX: bool>(values: Option<&Array>, indices: &Array, a: &Array) -> Result<()> {
    let (to, from) = (Shared::new(indices.as_ptr::<i64>()), a.as_ptr::<T>().cast_const());
    let values = values.map(|values| Shared::new(values.as_ptr::<T>()));
    let reducer = ArgExtreme::<T, MAX>(PhantomData);
    let write = move |at: isize, place: Place<T>, step: isize| {
        // SAFETY: `at` comes from the plan over `indices`, and `values` has the same sizes and strides.
        unsafe {
            to.get().offset(at).write(place.resolve(step));
            if let Some(values) = values {
                values.get().offset(at).write(T::narrow(place.value));
            }
        }
    };
    // SAFETY: `Array::new` guarantees live elements at all indices; the plan stays within the sizes.
    unsafe {
        if indices.numel() == 1 && a.is_contiguous() {
            write(0, driver::flat(reducer, from, a.numel())?, 1);
            return Ok(());
        }
        let plan = plan(indices, a, Order::RowMajor)?;
        let (_, [step]) = plan.reduced.inner();
        driver::reduce(reducer, &plan, from, |at, out_step, found: &[Place<T>]| {
            for (nth, &place) in found.iter().enumerate() {
                write(at + nth as isize * out_step, place, step);
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    fn argmax(mut values: Vec<f32>) -> i64 {
        let mut out = [0i64];
        let sizes = [values.len() as i64];
        // SAFETY: the pointers hold as many elements as the sizes require.
        let (a, o) = unsafe {
            (
                Array::new(values.as_mut_ptr().cast(), DType::F32, &sizes, &[1]),
                Array::new(out.as_mut_ptr().cast(), DType::I64, &[1], &[1]),
            )
        };
        extremum(None, Some(&o), &a, Extremum::Max).unwrap();
        out[0]
    }

    #[test]
    fn the_first_of_equals_and_the_first_nan_win() {
        assert_eq!(argmax(vec![1.0, 3.0, 3.0]), 1);
        assert_eq!(argmax(vec![1.0, f32::NAN, 9.0, f32::NAN]), 1);
        assert_eq!(argmax(vec![f32::NEG_INFINITY; 3]), 0);
    }
}
