//! Rows of operands of different dtypes.

use crate::memory::{load, store};
use crate::parameters::{Lines, ROW_RANK};
use crate::simt::{block, blocks, thread, threads};

/// Calls `visit` with the numbers below `count` that belong to this thread.
#[inline(always)]
pub(crate) fn each(count: u64, mut visit: impl FnMut(u64)) {
    let mut index = u64::from(block()) * u64::from(threads()) + u64::from(thread());
    while index < count {
        visit(index);
        index += u64::from(blocks()) * u64::from(threads());
    }
}

/// Offsets of a row's first element in each operand.
#[inline(always)]
pub(crate) fn offsets(p: &Lines, row: u32) -> [i64; 4] {
    let (mut at, mut rest) = ([0; 4], row);
    macro_rules! dimensions {
        ($($dim:literal)*) => {$(
            if $dim < p.rank {
                let (next, place) = p.sizes[$dim].divide(rest);
                at[0] += i64::from(place) * p.strides[$dim][0];
                at[1] += i64::from(place) * p.strides[$dim][1];
                at[2] += i64::from(place) * p.strides[$dim][2];
                at[3] += i64::from(place) * p.strides[$dim][3];
                rest = next;
            }
        )*};
    }
    dimensions!(0 1 2 3 4 5 6 7);
    const { assert!(ROW_RANK == 8) }
    let _ = rest;
    at
}

/// The address of an element of an operand.
#[inline(always)]
fn place<T>(p: &Lines, operand: usize, start: i64, index: u32) -> u64 {
    let offset = start + i64::from(index) * p.steps[operand];
    p.at[operand].wrapping_add((offset * size_of::<T>() as i64) as u64)
}

/// Element `index` of a row of an operand.
#[inline(always)]
pub(crate) fn read<T: Copy>(p: &Lines, operand: usize, start: i64, index: u32) -> T {
    // SAFETY: the host describes an element for each index of a row.
    unsafe { load::<T, 1>(place::<T>(p, operand, start, index), align_of::<T>())[0] }
}

/// Stores element `index` of a row of an operand.
#[inline(always)]
pub(crate) fn write<T: Copy>(p: &Lines, operand: usize, start: i64, index: u32, value: T) {
    // SAFETY: the host describes an element for each index of a row.
    unsafe { store(place::<T>(p, operand, start, index), align_of::<T>(), [value]) }
}

/// Keeps the elements of matrices up to a diagonal. Options: 1: from it on; the diagonal; 0: the matrices have one row.
#[inline(always)]
fn triangle<T: Copy>(p: &Lines) {
    let [upper, diagonal, rows, _] = p.options;
    each(u64::from(p.rows) * u64::from(p.length), |index| {
        let (line, column) = ((index / u64::from(p.length)) as u32, (index % u64::from(p.length)) as u32);
        let row = if rows == 0 { 0 } else { p.sizes[0].divide(line).1 };
        let last = i64::from(row) + i64::from(diagonal as i32);
        let at = offsets(p, line);
        let is_kept = if upper != 0 { i64::from(column) >= last } else { i64::from(column) <= last };
        // SAFETY: zero bytes are zero in every dtype.
        let value = if is_kept { read::<T>(p, 1, at[1], column) } else { unsafe { core::mem::zeroed() } };
        write(p, 0, at[0], column, value);
    });
}

macro_rules! triangles {
    ($($dtype:ident)*) => {$(
        entry! { "indexing" "triangle", $dtype, (p: Lines) => triangle::<element!($dtype)> }
    )*};
}

triangles! { U8 U16 U32 U64 C32 C64 C128 }
