//! Sorts on a device: by keys, which are integers in the order of the elements. Equal keys stay in their order.
//!
//! A block sorts a run of keys; runs are then merged in pairs, by as many launches as it takes to merge a whole row. What
//! an operator takes from the sorted rows, it reads by the places that come with the keys.

use super::lines::{lines, start};
use super::parameters::{Lines, ROW_SHARED, RUN, RUN_THREADS, Runs};
use super::{Grid, MOST_BLOCKS, THREADS, Temporary, launch};
use crate::array::Array;
use crate::{Loop, convert};
use rushlight_base::backend::Kernel;
use rushlight_base::report::{Mistake, Watch};
use rushlight_base::{DType, Device, DimVec, Result, backend, contiguous_strides};

/// Sorted rows: their keys, of 64 bits, and the places that these had in their rows, of 32 bits.
pub(super) struct Ordered {
    pub(super) keys: Temporary,
    pub(super) places: Temporary,
}

/// Sorts rows of keys.
pub(super) fn ordered(device: Device, keys: Temporary, rows: u32, length: u32) -> Result<Ordered> {
    let count = rows as usize * length as usize;
    let new = |bytes: usize| Temporary::new(device, count * bytes);
    let (mut from, mut to) =
        (Ordered { keys, places: new(size_of::<u32>())? }, Ordered { keys: new(8)?, places: new(size_of::<u32>())? });
    let addresses = |rows: &Ordered| [rows.keys.at(), rows.places.at()];
    let mut runs = Runs { from: addresses(&from), to: addresses(&to), length, rows, width: RUN, reserved: 0 };
    let run = |function: &'static str, grid: Grid, runs: &Runs| {
        let kernel = Kernel { file: "sort", function, dtype: DType::U64 };
        // SAFETY: the kernel takes this parameter, which has no padding; each address is that of `count` keys or places.
        unsafe { launch(device, kernel, grid, runs) }
    };
    let blocks = u64::from(rows) * u64::from(length.div_ceil(RUN));
    let blocks = [blocks.clamp(1, u64::from(MOST_BLOCKS)) as u32, 1, 1];
    run("sort_runs", Grid { blocks, threads: RUN_THREADS, shared: RUN * 8 }, &runs)?;
    std::mem::swap(&mut from, &mut to);
    while runs.width < length {
        (runs.from, runs.to) = (addresses(&from), addresses(&to));
        run("merge_runs", Grid::of(count), &runs)?;
        std::mem::swap(&mut from, &mut to);
        runs.width = runs.width.saturating_mul(2);
    }
    Ok(from)
}

/// The order of the rows of `a`, the last of the arrays. In descending order the greatest come first.
fn order_of(function: &'static str, arrays: [&Array; 3], dim: usize, descending: bool) -> Result<(Lines, Ordered)> {
    let [values, indices, a] = arrays;
    let mut p = lines(function, &[Some(a), Some(values), Some(indices)], dim)?;
    let keys = Temporary::new(a.device(), a.numel() * size_of::<u64>())?;
    p.between = [keys.at(), 0];
    p.options[0] = u32::from(descending);
    let grid = Grid::of(a.numel());
    start(("sort", "sort_keys"), a.dtype(), a.device(), grid, &p)?;
    let ordered = ordered(a.device(), keys, p.rows, p.length)?;
    p.between = [ordered.keys.at(), ordered.places.at()];
    Ok((p, ordered))
}

/// Stores the elements from number `first` on of each sorted row, as many as the results have along `dim`.
fn taken(function: &'static str, arrays: [&Array; 3], dim: usize, descending: bool, first: u32) -> Result<()> {
    let [values, _, a] = arrays;
    if values.numel() == 0 {
        return Ok(());
    }
    let (mut p, _held) = order_of(function, arrays, dim, descending)?;
    p.results = values.size(dim) as u32;
    p.options = [first, 0, 0, 0];
    let grid = Grid::of(values.numel());
    start(("sort", "take_sorted"), super::indexing::moved(a.dtype()), a.device(), grid, &p)
}

/// The elements of `a` along `dim` in order, and their indices.
pub(crate) fn sort(values: &Array, indices: &Array, a: &Array, dim: usize, descending: bool) -> Result<()> {
    taken("sort", [values, indices, a], dim, descending, 0)
}

/// The `k` largest (smallest) elements of each row in order, and their indices.
pub(crate) fn topk(values: &Array, indices: &Array, a: &Array, dim: usize, largest: bool) -> Result<()> {
    taken("topk", [values, indices, a], dim, largest, 0)
}

/// The `k`th smallest element of each row, counted from 1, and its index.
pub(crate) fn kth_value(values: &Array, indices: &Array, a: &Array, dim: usize, k: usize) -> Result<()> {
    taken("kthvalue", [values, indices, a], dim, false, k as u32 - 1)
}

/// One element of each row, found in the sorted row by `function`, and its index.
pub(crate) fn one_of_each_row(
    function: &'static str,
    values: &Array,
    indices: &Array,
    a: &Array,
    dim: usize,
    option: u32,
) -> Result<()> {
    if values.numel() == 0 {
        return Ok(());
    }
    let (mut p, _held) = order_of(function, [values, indices, a], dim, false)?;
    p.options = [option, 0, 0, 0];
    // A block searches the runs of equal elements of a row.
    let elements = if function == "mode" { p.rows as usize * THREADS as usize } else { p.rows as usize };
    let grid = Grid { shared: ROW_SHARED, ..Grid::of(elements) };
    start(("sort", function), a.dtype(), a.device(), grid, &p)
}

/// out = the median of all elements of `a`
pub(crate) fn median(out: &Array, a: &Array, ignore_nan: bool) -> Result<()> {
    let (sizes, one) = ([a.numel() as i64], [1]);
    let copy = Temporary::new(a.device(), a.numel() * a.dtype().size())?;
    let in_shape = contiguous_strides(a.sizes());
    convert::copy(&Loop::new([copy.array(a.dtype(), a.sizes(), &in_shape), a.clone()])?)?;
    let row = copy.array(a.dtype(), &sizes, &one);
    let index = Temporary::new(a.device(), size_of::<i64>())?;
    one_of_each_row("median", out, &index.array(DType::I64, &[], &[]), &row, 0, u32::from(ignore_nan))
}

/// out = the insertion index of each of `values` in `sequence` along its last dimension.
pub(crate) fn search(out: &Array, sequence: &Array, values: &Array, sorter: Option<&Array>, right: bool) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let device = out.device();
    let held = if values.is_on_host() { Some(Temporary::copy_of(device, values)?) } else { None };
    let last = values.ndim().saturating_sub(1);
    let still = DimVec::from_elem(0, values.ndim());
    let values_there = held.as_ref().map(|held| held.array(values.dtype(), values.sizes(), &still));
    let values = values_there.as_ref().unwrap_or(values);
    let mut p = lines("searchsorted", &[Some(values), Some(out), Some(sequence), sorter], last)?;
    let along = sequence.ndim().saturating_sub(1);
    p.steps[2] = sequence.stride(along) as i64;
    p.steps[3] = sorter.map_or(0, |sorter| sorter.stride(along) as i64);
    let length = sequence.size(along) as u32;
    p.options = [length, u32::from(right), u32::from(out.dtype() == DType::I32), 0];
    if sorter.is_some() {
        p.watch =
            Watch { numbers: [i64::from(length), along as i64], ..backend::watch(device, Mistake::Index, [0; 2])? };
    }
    let grid = Grid::of(out.numel());
    start(("sort", "search"), sequence.dtype(), device, grid, &p)
}
