//! Concatenation in one pass over the output.

use crate::array::Array;
use crate::pointwise::LIGHT;
use crate::shared::Shared;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, list};

/// Bytes of the pieces, in the mean, for which calls of `memcpy` pay.
const LONG: usize = 256;

/// The rows of a part: what it has along the joined dimension and those after it.
struct Rows {
    at: Shared<u8>,
    bytes: usize,
    /// Bytes from one row to the next.
    step: isize,
}

impl Rows {
    /// The rows along the dimensions from `dim` on; `None` unless each row is contiguous, and they are evenly spaced.
    fn of(array: &Array, dim: usize) -> Option<Rows> {
        let (sizes, strides) = (array.sizes(), array.strides());
        let size = array.dtype().size();
        let mut expected = 1;
        for (&size, &stride) in sizes[dim..].iter().zip(&strides[dim..]).rev() {
            if size != 1 && stride != expected {
                return None;
            }
            expected *= size;
        }
        let between = (dim > 0).then(|| strides[dim - 1]);
        let is_even = (1..dim).all(|at| strides[at - 1] == strides[at] * sizes[at]);
        let step = between.unwrap_or(0) as isize * size as isize;
        is_even.then(|| Rows { at: Shared::new(array.start()), bytes: expected as usize * size, step })
    }
}

/// `out` = `parts`, one after another along `dim`. Row by row, the output is written from front to back (0.5 of the time
/// of writing part by part). Returns false and writes nothing unless all are arrays of one dtype on the host with long,
/// contiguous, evenly spaced rows, and the output is contiguous.
pub fn concat(out: &Array, parts: &[Array], dim: usize) -> Result<bool> {
    let is_plain = |array: &Array| array.is_on_host() && array.dtype() == out.dtype();
    let pieces = parts.iter().filter(|part| is_plain(part)).filter_map(|part| Rows::of(part, dim));
    let pieces: Vec<Rows> = list::collect(pieces)?;
    let rows = out.sizes()[..dim].iter().product::<i64>() as usize;
    let row: usize = pieces.iter().map(|piece| piece.bytes).sum();
    let is_whole = pieces.len() == parts.len() && row * rows == out.numel() * out.dtype().size();
    if rows < 2 || !is_whole || !is_plain(out) || !out.is_contiguous() || row < LONG * pieces.len() {
        return Ok(false);
    }
    let start = Shared::new(out.start());
    parallel_chunks(rows, (LIGHT * 4 / row).max(1), &|chunk| {
        let mut to = start.get().wrapping_add(chunk.start * row);
        for nth in chunk {
            for piece in &pieces {
                let from = piece.at.get().wrapping_offset(nth as isize * piece.step);
                // SAFETY: the rows of the pieces fill the contiguous output exactly, each part has `rows` rows, and
                // `Array::new` guarantees the elements of all. `copy` allows overlap.
                unsafe { std::ptr::copy(from, to, piece.bytes) };
                to = to.wrapping_add(piece.bytes);
            }
        }
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn rows_of_all_parts_alternate() {
        // The rows of the parts are longer than what is joined of them.
        let (rows, lengths) = (5, [64, 100]);
        let mut parts = lengths.map(|len| (0..rows * (len + 3)).map(|i| (i + len) as f32).collect::<Vec<f32>>());
        let mut out = vec![0f32; rows * 164];
        let sizes = lengths.map(|len| [rows as i64, len as i64]);
        let strides = lengths.map(|len| [len as i64 + 3, 1]);
        let [a, b] = parts.each_mut().map(|part| part.as_mut_ptr().cast::<u8>());
        // SAFETY: each vector holds as many elements as its sizes require.
        let (to, [a, b]) = unsafe {
            (
                Array::new(out.as_mut_ptr().cast(), DType::F32, &[5, 164], &[164, 1]),
                [(a, 0), (b, 1)].map(|(at, nth)| Array::new(at, DType::F32, &sizes[nth], &strides[nth])),
            )
        };
        assert!(!concat(&to, std::slice::from_ref(&a), 1).unwrap(), "a part is missing");
        // SAFETY: every second one of the first 128 elements of the vector, five times.
        let sparse = unsafe { Array::new(a.start(), DType::F32, &[5, 64], &[0, 2]) };
        assert!(!concat(&to, &[sparse, b.clone()], 1).unwrap(), "rows are not contiguous");
        assert!(concat(&to, &[a, b], 1).unwrap());
        for (i, &value) in out.iter().enumerate() {
            let (row, column) = (i / 164, i % 164);
            let expected = if column < 64 { row * 67 + column + 64 } else { row * 103 + column - 64 + 100 };
            assert_eq!(value, expected as f32, "row {row}, column {column}");
        }
    }
}
