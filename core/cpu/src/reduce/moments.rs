//! Mean and sum of squared deviations, in one pass over memory.
//!
//! A leaf is small enough to be read twice from the nearest cache: first for its mean, then for the deviations from it.
//! Leaves are merged by the method of Chan, Golub and LeVeque (1979), so nothing cancels however far the mean is from
//! zero.

use super::fold::{FloatFold, FloatFolding, FloatSum, fold_line};
use super::reduce_into;
use super::reducer::{Reducer, Steps, WIDTH};
use crate::array::Array;
use crate::convert::Source;
use crate::number::{Analytic, Number, Real, Wide};
use crate::simd::{Float, FloatVector, Kernel, Simd};
use num_complex::Complex;
use rushlight_base::Result;
use std::marker::PhantomData;

#[cfg(test)]
use super::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// Number, mean and sum of squared deviations of some elements.
#[derive(Clone, Copy)]
struct Moments<W> {
    count: W,
    mean: W,
    squares: W,
}

/// Sum of squared deviations from a mean.
#[derive(Clone, Copy)]
struct Deviations(f64);

impl FloatFold for Deviations {
    const EMPTY: f64 = 0.0;

    #[inline(always)]
    fn lift<V: FloatVector>(self, x: V) -> V {
        // The mean has the wide type's precision; as `f64` it is the same number.
        let away = x - V::from_f64(self.0);
        away * away
    }

    #[inline(always)]
    fn merge<V: FloatVector>(self, a: V, b: V) -> V {
        a + b
    }

    #[inline(always)]
    fn join<W: Real>(self, a: W, b: W) -> W {
        a.add(b)
    }
}

/// The reducer to moments.
#[derive(Clone, Copy)]
struct ToMoments<T>(PhantomData<T>);

impl<T: Float<Wide: Real + Source>> Reducer for ToMoments<T> {
    type In = T;
    type Acc = Moments<T::Wide>;

    fn empty(self) -> Moments<T::Wide> {
        Moments { count: T::Wide::ZERO, mean: T::Wide::ZERO, squares: T::Wide::ZERO }
    }

    #[inline]
    fn merge(self, a: Moments<T::Wide>, b: Moments<T::Wide>) -> Moments<T::Wide> {
        if a.count == T::Wide::ZERO {
            return b;
        }
        if b.count == T::Wide::ZERO {
            return a;
        }
        let count = a.count.add(b.count);
        let (way, share) = (b.mean.sub(a.mean), b.count.div(count));
        let squares = a.squares.add(b.squares).add(way.mul(way).mul(a.count).mul(share));
        Moments { count, mean: a.mean.add(way.mul(share)), squares }
    }

    unsafe fn lines(self, at: *const T, len: usize, steps: Steps, _: usize, acc: &mut [Moments<T::Wide>]) {
        if len > 0 {
            run(LineMoments { at, len, between: steps.column, acc });
        }
    }

    unsafe fn tile(self, at: *const T, rows: usize, row_step: isize, index: usize, acc: &mut [Moments<T::Wide>]) {
        if rows == 0 {
            return;
        }
        let (mut means, mut squares) = ([T::Wide::ZERO; WIDTH], [T::Wide::ZERO; WIDTH]);
        let count = T::Wide::from_f64(rows as f64);
        for (nth, acc) in acc.chunks_mut(WIDTH).enumerate() {
            let (means, squares) = (&mut means[..acc.len()], &mut squares[..acc.len()]);
            means.fill(T::Wide::ZERO);
            let at = at.wrapping_add(nth * WIDTH);
            // SAFETY: the caller of `tile` guarantees `rows` rows with as many columns as there are means.
            unsafe { FloatFolding::<_, T>::new(FloatSum).tile(at, rows, row_step, index, means) };
            means.iter_mut().for_each(|mean| *mean = mean.div(count));
            run(TileDeviations { at, rows, row_step, means, squares });
            for (acc, (&mean, &squares)) in acc.iter_mut().zip(means.iter().zip(&*squares)) {
                *acc = Moments { count, mean, squares };
            }
        }
    }
}

/// Moments of lines of `len` elements, `between` apart.
struct LineMoments<'a, T: Number> {
    at: *const T,
    len: usize,
    between: isize,
    acc: &'a mut [Moments<T::Wide>],
}

impl<T: Float<Wide: Real + Source>> Kernel for LineMoments<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let LineMoments { at, len, between, acc } = self;
        let count = T::Wide::from_f64(len as f64);
        for (line, acc) in acc.iter_mut().enumerate() {
            // SAFETY: the kernel was created for lines of this length, `between` apart.
            unsafe {
                let at = at.offset(line as isize * between);
                let mean = fold_line::<S, _, T>(FloatSum, at, len).div(count);
                let squares = fold_line::<S, _, T>(Deviations(mean.to_f64()), at, len);
                *acc = Moments { count, mean, squares };
            }
        }
    }
}

/// Sums of squared deviations of the columns of a tile, each from its own mean.
struct TileDeviations<'a, T: Number> {
    at: *const T,
    rows: usize,
    row_step: isize,
    means: &'a [T::Wide],
    squares: &'a mut [T::Wide],
}

impl<T: Float<Wide: Real>> Kernel for TileDeviations<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let TileDeviations { at, rows, row_step, means, squares } = self;
        let lanes = T::Vector::<S>::LANES;
        for column in (0..means.len()).step_by(lanes) {
            let count = lanes.min(means.len() - column);
            // SAFETY: the kernel was created for `rows` rows of this many columns, with a mean for each column.
            unsafe {
                let mean = T::Vector::<S>::load_partial(means.as_ptr().add(column), count);
                let mut sum = T::Vector::<S>::from_f64(0.0);
                for row in 0..rows as isize {
                    let at = at.offset(row * row_step).add(column);
                    let x = if count == lanes { T::load::<S>(at) } else { T::load_partial::<S>(at, count) };
                    let away = x - mean;
                    sum = sum + away * away;
                }
                sum.store_partial(squares.as_mut_ptr().add(column), count);
            }
        }
    }
}

/// Mean and variance, without correction, of each group of `a` into `out`: as the real and the imaginary part of
/// complex numbers of the computation type. For an empty group, the mean is 0 and the variance is NaN.
pub fn moments(out: &Array, a: &Array) -> Result<()> {
    if !out.is_on_host() {
        return crate::device::reduce("moments", [Some(out), None], a, [0.0; 2]);
    }
    dispatch!(a.dtype(), "batch_norm", half float, T => {
        reduce_into(out, a, ToMoments::<T>(PhantomData), |moments| {
            Complex { re: moments.mean, im: moments.squares.div(moments.count) }
        })
    })
}

/// The variance of each group of `a` into `out`: the sum of squared deviations from the mean, divided by the number of
/// elements less `correction`; or the `root` of it.
pub fn variance(out: &Array, a: &Array, correction: f64, root: bool) -> Result<()> {
    let freedom = (super::count(out, a) as f64 - correction).max(0.0);
    if !out.is_on_host() {
        return crate::device::reduce("variance", [Some(out), None], a, [freedom, f64::from(u8::from(root))]);
    }
    dispatch!(a.dtype(), "std_cpu", half float, T => {
        let freedom = <T as Number>::Wide::from_f64(freedom);
        let (none, nan) = (<T as Number>::Wide::ZERO, <T as Number>::Wide::from_f64(f64::NAN));
        reduce_into(out, a, ToMoments::<T>(PhantomData), move |moments| {
            let variance = if moments.count == none { nan } else { moments.squares.div(freedom) };
            T::narrow(if root { variance.sqrt() } else { variance })
        })
    })
}
