//! Functions of rows: the elements along one dimension. A block computes a row; its threads combine their shares in an
//! order that depends on nothing but the length of the row. Half precision is computed in `f32`.

use crate::memory::{load, store};
use crate::number::{Analytic, Number, Wide};
use crate::simt::{Word, block, blocks, combined, thread, threads};

use crate::parameters::{ROW_RANK, Rows};

/// `f32` or `f64`.
pub(crate) trait Real: Analytic + Word + PartialOrd {
    const LOWEST: Self;
}

impl Real for f32 {
    const LOWEST: f32 = f32::NEG_INFINITY;
}

impl Real for f64 {
    const LOWEST: f64 = f64::NEG_INFINITY;
}

/// The addresses of a row's first elements.
#[inline(always)]
fn start<const N: usize>(p: &Rows<N>, row: u32, size: usize) -> [u64; N] {
    let (mut at, mut rest) = (p.at, row);
    macro_rules! dimensions {
        ($($dim:literal)*) => {$(
            if rest != 0 {
                let (quotient, place) = (rest / p.sizes[$dim], rest % p.sizes[$dim]);
                let mut k = 0;
                while k < N {
                    at[k] = at[k].wrapping_add((i64::from(place) * p.strides[$dim][k] * size as i64) as u64);
                    k += 1;
                }
                rest = quotient;
            }
        )*};
    }
    dimensions!(0 1 2 3 4 5 6 7);
    const { assert!(ROW_RANK == 8) }
    let _ = rest;
    at
}

/// A row of a tensor of the dtype of `T`.
pub(crate) struct Row<'a, const N: usize> {
    index: u32,
    p: &'a Rows<N>,
    at: [u64; N],
}

impl<const N: usize> Row<'_, N> {
    /// Which row this is.
    #[inline(always)]
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// Number of elements.
    #[inline(always)]
    pub(crate) fn length(&self) -> u32 {
        self.p.length
    }

    #[inline(always)]
    fn place(&self, operand: usize, index: u32, size: usize) -> u64 {
        self.at[operand].wrapping_add((i64::from(index) * self.p.steps[operand] * size as i64) as u64)
    }

    #[inline(always)]
    pub(crate) fn read<T: Number>(&self, operand: usize, index: u32) -> T::Wide {
        // SAFETY: the index is below the length of the row, which the host describes.
        unsafe { load::<T, 1>(self.place(operand, index, size_of::<T>()), size_of::<T>())[0].wide() }
    }

    #[inline(always)]
    pub(crate) fn write<T: Number>(&self, index: u32, value: T::Wide) {
        // SAFETY: the index is below the length of the row, which the host describes.
        unsafe { store(self.place(0, index, size_of::<T>()), size_of::<T>(), [T::narrow(value)]) }
    }

    /// The elements of this thread.
    #[inline(always)]
    pub(crate) fn each(&self, mut visit: impl FnMut(u32)) {
        let mut index = thread();
        while index < self.p.length {
            visit(index);
            index += threads();
        }
    }

    /// The sum of the terms of the row, in every thread.
    #[inline(always)]
    pub(crate) fn sum<W: Real>(&self, term: impl Fn(u32) -> W) -> W {
        let mut sum = W::ZERO;
        self.each(|index| sum = sum.add(term(index)));
        combined(sum, W::ZERO, |a, b| a.add(b))
    }

    /// The largest element of operand 1 that is a number, in every thread.
    #[inline(always)]
    fn largest<T: Number<Wide: Real>>(&self) -> T::Wide {
        let larger = |a: T::Wide, b: T::Wide| if b > a { b } else { a };
        let mut largest = T::Wide::LOWEST;
        self.each(|index| largest = larger(largest, self.read::<T>(1, index)));
        combined(largest, T::Wide::LOWEST, larger)
    }
}

/// Runs a function on each row of this block.
#[inline(always)]
pub(crate) fn rows<const N: usize>(p: &Rows<N>, size: usize, run: impl Fn(&Row<N>)) {
    let mut row = block();
    while row < p.count {
        run(&Row { index: row, p, at: start(p, row, size) });
        row += blocks();
    }
}

/// Elements of a row that a thread keeps in registers.
const KEPT: usize = 16;

/// Runs the body with `$i` a constant from 0 to 15: register arrays need constant indices.
macro_rules! each_kept {
    ($i:ident, $body:block) => {
        each_kept!(@ $i, $body; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $i:ident, $body:block; $($value:literal)*) => {$({
        const $i: usize = $value;
        $body
    })*};
}

/// Softmax of a row that the block keeps in registers; its logarithm if `log`.
#[inline(always)]
fn softmax_kept<T: Number<Wide: Real>>(row: &Row<2>, log: bool, rounds: bool) {
    let mut kept = [T::Wide::LOWEST; KEPT];
    let place = |nth: usize| thread() + nth as u32 * threads();
    each_kept!(I, {
        if place(I) < row.length() {
            kept[I] = row.read::<T>(1, place(I));
        }
    });
    let larger = |a: T::Wide, b: T::Wide| if b > a { b } else { a };
    let mut largest = T::Wide::LOWEST;
    each_kept!(I, { largest = larger(largest, kept[I]) });
    let largest = combined(largest, T::Wide::LOWEST, larger);
    let mut sum = T::Wide::ZERO;
    each_kept!(I, {
        if place(I) < row.length() {
            kept[I] = kept[I].sub(largest);
            let power = kept[I].exp();
            sum = sum.add(power);
            if !log {
                kept[I] = power;
            }
        }
    });
    let sum = combined(sum, T::Wide::ZERO, |a, b| a.add(b));
    let rounded = |value: T::Wide| if rounds { T::narrow(value).wide() } else { value };
    let (scale, shift) = if log { (T::Wide::ONE, rounded(rounded(sum).ln())) } else { (T::Wide::ONE.div(sum), T::Wide::ZERO) };
    each_kept!(I, {
        if place(I) < row.length() {
            row.write::<T>(place(I), if log { kept[I].sub(shift) } else { kept[I].mul(scale) });
        }
    });
}

/// out = e^a / sum e^a
#[inline(always)]
fn softmax<T: Number<Wide: Real>>(p: &Rows<2>) {
    rows(p, size_of::<T>(), |row| {
        if row.length() <= KEPT as u32 * threads() {
            return softmax_kept::<T>(row, false, false);
        }
        let largest = row.largest::<T>();
        let power = |index| row.read::<T>(1, index).sub(largest).exp();
        let scale = T::Wide::ONE.div(row.sum(power));
        row.each(|index| row.write::<T>(index, power(index).mul(scale)));
    });
}

/// out = a - ln sum e^a; with the option 1 the sum and its logarithm are rounded to the dtype.
#[inline(always)]
fn log_softmax<T: Number<Wide: Real>>(p: &Rows<2>) {
    rows(p, size_of::<T>(), |row| {
        if row.length() <= KEPT as u32 * threads() {
            return softmax_kept::<T>(row, true, p.option != 0.0);
        }
        let largest = row.largest::<T>();
        let rounded = |value: T::Wide| if p.option != 0.0 { T::narrow(value).wide() } else { value };
        let sum = row.sum(|index| row.read::<T>(1, index).sub(largest).exp());
        let log = rounded(rounded(sum).ln());
        row.each(|index| row.write::<T>(index, row.read::<T>(1, index).sub(largest).sub(log)));
    });
}

/// out = output (grad - sum grad output), of the operands (out, grad, output)
#[inline(always)]
fn softmax_backward<T: Number<Wide: Real>>(p: &Rows<3>) {
    rows(p, size_of::<T>(), |row| {
        let sum = row.sum(|index| row.read::<T>(1, index).mul(row.read::<T>(2, index)));
        row.each(|index| row.write::<T>(index, row.read::<T>(1, index).sub(sum).mul(row.read::<T>(2, index))));
    });
}

/// out = grad - e^output sum grad, of the operands (out, grad, output)
#[inline(always)]
fn log_softmax_backward<T: Number<Wide: Real>>(p: &Rows<3>) {
    rows(p, size_of::<T>(), |row| {
        let sum = row.sum(|index| row.read::<T>(1, index));
        row.each(|index| {
            let gradient = row.read::<T>(1, index).sub(row.read::<T>(2, index).exp().mul(sum));
            row.write::<T>(index, gradient);
        });
    });
}

float_entries! { "rows";
    softmax(p: Rows<2>)
    log_softmax(p: Rows<2>)
    softmax_backward(p: Rows<3>)
    log_softmax_backward(p: Rows<3>)
}
