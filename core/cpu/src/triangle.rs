//! The triangle of a matrix above or below a diagonal.

use crate::array::Array;
use crate::device;
use crate::shared::Shared;
use rushlight_base::plan::{Plan, Tiles};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DimVec, Result, ensure};
use std::ops::Range;

/// The part of a matrix that is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Triangle {
    /// Columns up to the diagonal.
    Lower,
    /// Columns from the diagonal on.
    Upper,
}

impl Triangle {
    /// The kept columns of row `row`.
    fn columns(self, row: i64, diagonal: i64, columns: usize) -> Range<usize> {
        let inside = |column: i64| column.clamp(0, columns as i64) as usize;
        match self {
            Triangle::Lower => 0..inside(row.saturating_add(diagonal).saturating_add(1)),
            Triangle::Upper => inside(row.saturating_add(diagonal))..columns,
        }
    }
}

/// From this many elements on, a second thread pays.
const GRAIN: usize = 16384;

/// out = the part of the matrices `a` on one side of the diagonal, zeros on the other. `out` may be `a`.
pub fn triangle(out: &Array, a: &Array, part: Triangle, diagonal: i64) -> Result<()> {
    let rank = out.ndim();
    let fits = rank >= 2 && a.sizes() == out.sizes() && a.dtype() == out.dtype();
    ensure!(fits, Internal, "triangle got {:?} and {:?}", out.sizes(), a.sizes());
    let columns = out.size(rank - 1);
    if out.numel() == 0 {
        return Ok(());
    }
    if !out.is_on_host() {
        return device::triangle(out, a, part == Triangle::Upper, diagonal);
    }
    // The traversal over rows counts them.
    let mut number = DimVec::from_elem(0, rank - 1);
    number[rank - 2] = 1;
    let [to, from] = [out, a].map(|array| &array.strides()[..rank - 1]);
    let rows = Plan::new(&out.sizes()[..rank - 1], [to, from, &number]);
    let tiles = Tiles::new(&rows, 64, 64);
    let steps = [out.stride(rank - 1), a.stride(rank - 1)];
    by_size!(out, T => {
        let [to, from] = [out, a].map(|array| Shared::new(array.start().cast::<T>()));
        parallel_chunks(tiles.count(), (GRAIN / (tiles.area() * columns)).max(1), &|share| {
            tiles.visit(share, &mut |tile| {
                for (i, j) in (0..tile.rows as isize).flat_map(|i| (0..tile.len as isize).map(move |j| (i, j))) {
                    let [to_at, from_at, row] =
                        [0, 1, 2].map(|at| tile.offsets[at] + i * tiles.steps_across()[at] + j * rows.row_steps()[at]);
                    let kept = part.columns(row as i64, diagonal, columns);
                    // SAFETY: the offsets are those of a row of both arrays, whose elements `Array::new` guarantees,
                    // and rows belong to one share.
                    unsafe { fill_row(to.get().offset(to_at), from.get().offset(from_at), steps, kept, columns) }
                }
            });
        })
    })
}

/// # Safety
/// There are `columns` elements at both addresses, at these steps; the caller owns the target.
unsafe fn fill_row<T: Copy>(
    to: *mut T,
    from: *const T,
    [step_to, step_from]: [isize; 2],
    kept: Range<usize>,
    columns: usize,
) {
    // SAFETY: the caller guarantees `columns` elements at both addresses. All-zero bytes are zero in every dtype.
    unsafe {
        if to.cast_const() != from {
            for i in kept.clone().map(|i| i as isize) {
                to.offset(i * step_to).write(from.offset(i * step_from).read());
            }
        }
        for i in (0..kept.start).chain(kept.end..columns) {
            to.offset(i as isize * step_to).write_bytes(0, 1);
        }
    }
}
