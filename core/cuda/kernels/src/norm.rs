//! Layer norm and its gradients. Statistics, weights and biases have the wide type, and lie without gaps.

use crate::memory::{load, store};
use crate::number::{Analytic, Number, Wide};
use crate::rows::{Real, Row, rows};
use crate::simt::{block, block_y, blocks, thread, threads};

use crate::parameters::{Columns, Norm, Rows};

/// Number `index` at an address of the host's choice.
#[inline(always)]
fn number<W: Copy>(at: u64, index: u32) -> W {
    // SAFETY: the host gives a number for each row or column.
    unsafe { load::<W, 1>(at + u64::from(index) * size_of::<W>() as u64, size_of::<W>())[0] }
}

/// Sets number `index`.
#[inline(always)]
fn set<W: Copy>(at: u64, index: u32, value: W) {
    // SAFETY: the host gives room for a number for each row or column.
    unsafe { store(at + u64::from(index) * size_of::<W>() as u64, size_of::<W>(), [value]) }
}

/// out = (a - mean) rstd weight + bias
#[inline(always)]
fn layer_norm<T: Number<Wide: Real>>(p: &Rows<2>, q: &Norm) {
    rows(p, size_of::<T>(), |row: &Row<2>| {
        let count = T::Wide::from_f64(f64::from(row.length()));
        let mean = row.sum(|index| row.read::<T>(1, index)).div(count);
        let square = |index| {
            let way = row.read::<T>(1, index).sub(mean);
            way.mul(way)
        };
        let variance = row.sum(square).div(count);
        let rstd = T::Wide::ONE.div(variance.add(T::Wide::from_f64(q.eps)).sqrt());
        row.each(|index| {
            let mut value = row.read::<T>(1, index).sub(mean).mul(rstd);
            if q.weight != 0 {
                value = value.mul(number(q.weight, index));
            }
            if q.bias != 0 {
                value = value.add(number(q.bias, index));
            }
            row.write::<T>(index, value);
        });
        if thread() == 0 {
            set(q.mean, row.index(), mean);
            set(q.rstd, row.index(), rstd);
        }
    });
}

/// The gradient by the input, of the operands (out, grad, input).
#[inline(always)]
fn layer_norm_backward_input<T: Number<Wide: Real>>(p: &Rows<3>, q: &Norm) {
    rows(p, size_of::<T>(), |row: &Row<3>| {
        let count = T::Wide::from_f64(f64::from(row.length()));
        let (mean, rstd): (T::Wide, T::Wide) = (number(q.mean, row.index()), number(q.rstd, row.index()));
        let weighted = |index| {
            let grad = row.read::<T>(1, index);
            if q.weight != 0 { grad.mul(number(q.weight, index)) } else { grad }
        };
        let normal = |index| row.read::<T>(2, index).sub(mean).mul(rstd);
        let shift = row.sum(|index| weighted(index)).div(count);
        let slope = row.sum(|index| weighted(index).mul(normal(index))).div(count);
        row.each(|index| {
            row.write::<T>(index, rstd.mul(weighted(index).sub(shift).sub(normal(index).mul(slope))));
        });
    });
}

/// For each column the sum of grad (input - mean) rstd over a part of the rows.
#[inline(always)]
fn layer_norm_backward_weight<T: Number<Wide: Real>>(p: &Columns) {
    let share = p.rows.div_ceil(p.parts);
    let begin = block_y() * share;
    let end = if begin + share < p.rows { begin + share } else { p.rows };
    let mut column = block() * threads() + thread();
    while column < p.columns {
        let (mut sum, mut row) = (T::Wide::ZERO, begin);
        while row < end {
            let read = |which: usize| {
                let offset = i64::from(row) * p.steps[which] + i64::from(column);
                let at = p.at[1 + which].wrapping_add((offset * size_of::<T>() as i64) as u64);
                // SAFETY: the host describes matrices of these rows and columns.
                unsafe { load::<T, 1>(at, size_of::<T>())[0].wide() }
            };
            let (mean, rstd): (T::Wide, T::Wide) = (number(p.at[3], row), number(p.at[4], row));
            sum = sum.add(read(0).mul(read(1).sub(mean).mul(rstd)));
            row += 1;
        }
        set(p.at[0], block_y() * p.columns + column, sum);
        column += blocks() * threads();
    }
}

float_entries! { "norm";
    layer_norm(p: Rows<2>, q: Norm)
    layer_norm_backward_input(p: Rows<3>, q: Norm)
    layer_norm_backward_weight(p: Columns)
}
