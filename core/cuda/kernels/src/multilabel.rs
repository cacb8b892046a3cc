//! The margin loss of rows with several labels: a thread computes a row.

use crate::lines::each;
use crate::memory::{load, report, store};
use crate::number::{Analytic, Number, Wide};
use crate::parameters::Labelled;

/// The operands in [`Labelled`].
const LOSSES: usize = 0;
const MARKS: usize = 1;
const SCORES: usize = 2;
const LABELS: usize = 3;
const GRADIENT: usize = 4;

#[inline(always)]
fn place<T>(p: &Labelled, operand: usize, row: u32, class: u32) -> u64 {
    let offset = i64::from(row) * p.rows[operand] + i64::from(class) * p.classes[operand];
    p.at[operand].wrapping_add((offset * size_of::<T>() as i64) as u64)
}

#[inline(always)]
fn get<T: Copy>(p: &Labelled, operand: usize, row: u32, class: u32) -> T {
    // SAFETY: the host describes an element for each row and class.
    unsafe { load::<T, 1>(place::<T>(p, operand, row, class), align_of::<T>())[0] }
}

#[inline(always)]
fn put<T: Copy>(p: &Labelled, operand: usize, row: u32, class: u32, value: T) {
    // SAFETY: the host describes an element for each row and class.
    unsafe { store(place::<T>(p, operand, row, class), align_of::<T>(), [value]) }
}

/// The labels of a row, up to the first -1. Another one that is no class is reported, also after it.
#[inline(always)]
fn labels(p: &Labelled, row: u32, mut visit: impl FnMut(u32)) {
    let mut ended = false;
    for nth in 0..p.width {
        let label = get::<i64>(p, LABELS, row, nth);
        if label < -1 || label >= i64::from(p.width) {
            report(&p.watch, label);
            ended = true;
        }
        ended |= label == -1;
        if !ended {
            visit(label as u32);
        }
    }
}

/// Calls `visit` with every label of a row, every class that is none, and by how much the label's score does not exceed
/// the other's by 1, where it does not.
#[inline(always)]
fn short<T: Number<Wide: PartialOrd>>(p: &Labelled, row: u32, mut visit: impl FnMut(u32, u32, T::Wide)) {
    labels(p, row, |label| {
        let most = T::Wide::ONE.sub(get::<T>(p, SCORES, row, label).wide());
        for class in 0..p.width {
            let short = most.add(get::<T>(p, SCORES, row, class).wide());
            if short > T::Wide::ZERO && get::<T>(p, MARKS, row, class).wide() != T::Wide::ONE {
                visit(label, class, short);
            }
        }
    });
}

/// The loss of each row, and marks of the labels among zeros.
#[inline(always)]
fn multilabel_margin<T: Number<Wide: Analytic + PartialOrd>>(p: &Labelled) {
    each(u64::from(p.count), |row| {
        let row = row as u32;
        labels(p, row, |label| put(p, MARKS, row, label, T::narrow(T::Wide::ONE)));
        let mut sum = T::Wide::ZERO;
        short::<T>(p, row, |_, _, short| sum = sum.add(short));
        put(p, LOSSES, row, 0, T::narrow(sum.div(T::Wide::from_f64(f64::from(p.width)))));
    });
}

/// The gradient by the scores, which is 0 before.
#[inline(always)]
fn multilabel_margin_backward<T: Number<Wide: Analytic + PartialOrd>>(p: &Labelled) {
    each(u64::from(p.count), |row| {
        let row = row as u32;
        let share = T::Wide::from_f64(p.factor / f64::from(p.width));
        let grad = get::<T>(p, LOSSES, row, 0).wide().mul(share);
        short::<T>(p, row, |label, class, _| {
            put(p, GRADIENT, row, class, T::narrow(get::<T>(p, GRADIENT, row, class).wide().add(grad)));
            put(p, GRADIENT, row, label, T::narrow(get::<T>(p, GRADIENT, row, label).wide().sub(grad)));
        });
    });
}

float_entries! {
    "loss";
    multilabel_margin(p: Labelled)
    multilabel_margin_backward(p: Labelled)
}
