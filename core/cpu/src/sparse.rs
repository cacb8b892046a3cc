//! Products of a sparse matrix and a dense one.

use crate::array::Array;
use crate::number::{Number, Wide};
use crate::shared::Shared;
use crate::simd::{self, Kernel, Simd};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, ensure, list};
use std::ops::Range;

/// Products of elements worth another thread.
const GRAIN: usize = 16 * 1024;

/// Columns that are accumulated at once.
const TILE: usize = 64;

/// The entries of a row: its number, and the range of the entries.
struct Row {
    number: usize,
    entries: Range<usize>,
}

/// out[rows[e], :] = sum of values[e] * dense[columns[e], :]. The entries are sorted by row; rows without entries are not
/// written. All arrays are contiguous and of one dtype.
pub fn product(out: &Array, rows: &[i64], columns: &[i64], values: &Array, dense: &Array) -> Result<()> {
    let fits = out.ndim() == 2
        && dense.ndim() == 2
        && out.size(1) == dense.size(1)
        && rows.len() == columns.len()
        && values.numel() == rows.len();
    ensure!(fits, Internal, "a sparse product got {:?} for {:?}", out.sizes(), dense.sizes());
    let contiguous = out.is_contiguous() && dense.is_contiguous() && values.is_contiguous();
    let dtype = out.dtype();
    ensure!(
        contiguous && values.dtype() == dtype && dense.dtype() == dtype,
        Internal,
        "a sparse product got strided memory or several dtypes"
    );
    let inside = |index: &i64, size: usize| usize::try_from(*index).is_ok_and(|index| index < size);
    ensure!(
        rows.iter().all(|row| inside(row, out.size(0))) && columns.iter().all(|column| inside(column, dense.size(0))),
        Index,
        "an index of a sparse matrix is out of range"
    );
    let rows = grouped(rows)?;
    let width = dense.size(1);
    let work = (columns.len() / rows.len().max(1)).max(1) * width.max(1);
    dispatch!(dtype, "addmm_sparse_dense", integer half float complex bool, T => {
        let (to, from) = (Shared::new(out.as_ptr::<T>()), Shared::new(dense.as_ptr::<T>()));
        let values = Shared::new(values.as_ptr::<T>());
        parallel_chunks(rows.len(), (GRAIN / work).max(1), &|part| {
            let rows = &rows[part];
            simd::run_rare::<T, _>(Rows { to, from, values, rows, columns, width });
        })
    })
}

/// The rows that have entries.
fn grouped(rows: &[i64]) -> Result<Vec<Row>> {
    let mut groups: Vec<Row> = Vec::new();
    for (entry, &row) in rows.iter().enumerate() {
        let number = row as usize;
        match groups.last_mut() {
            Some(last) if last.number == number => last.entries.end = entry + 1,
            Some(last) => {
                ensure!(last.number < number, Internal, "the entries of a sparse product are not sorted");
                list::push(&mut groups, Row { number, entries: entry..entry + 1 })?;
            }
            None => list::push(&mut groups, Row { number, entries: entry..entry + 1 })?,
        }
    }
    Ok(groups)
}

struct Rows<'a, T> {
    to: Shared<T>,
    from: Shared<T>,
    values: Shared<T>,
    rows: &'a [Row],
    columns: &'a [i64],
    width: usize,
}

impl<T: Number> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for row in self.rows {
            for start in (0..self.width).step_by(TILE) {
                let len = TILE.min(self.width - start);
                let mut sum = [T::Wide::ZERO; TILE];
                for entry in row.entries.clone() {
                    // SAFETY: `product` checked that there is a value for each entry, and that each column is a row of
                    // the dense matrix, which has `width` elements.
                    let (value, line) = unsafe {
                        let at = self.columns[entry] as usize * self.width + start;
                        (self.values.get().add(entry).read(), std::slice::from_raw_parts(self.from.get().add(at), len))
                    };
                    let value = value.wide();
                    for (sum, element) in sum.iter_mut().zip(line) {
                        *sum = sum.add(value.mul(element.wide()));
                    }
                }
                // SAFETY: the row is one of the output's, and each row belongs to one thread.
                let line =
                    unsafe { std::slice::from_raw_parts_mut(self.to.get().add(row.number * self.width + start), len) };
                for (to, sum) in line.iter_mut().zip(sum) {
                    *to = T::narrow(sum);
                }
            }
        }
    }
}
