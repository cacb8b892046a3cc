//! Reductions on a device.

use super::parameters::{PARTIAL, REDUCE_RANK, REDUCE_SHARED, REDUCE_THREADS, Reduction, Size};
use super::{Grid, MOST_BLOCKS, Temporary, address, launch, small};
use crate::array::Array;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, ensure, err};

/// Blocks that keep a device busy: terms are split into parts until there are as many.
const ENOUGH_BLOCKS: usize = 512;

/// Terms of a block, and of a thread, that are not split.
const FEW_TERMS: usize = 4096;
const FEW_TERMS_OF_A_THREAD: usize = 64;

/// Terms that a thread combines alone rather than with its block.
const SHORT: usize = 32;

/// Most blocks of a grid in its second dimension.
const MOST_PARTS: usize = 65535;

/// A dimension: its size, and its strides in the input and both results.
#[derive(Clone, Copy)]
struct Dimension {
    size: i64,
    strides: [i64; 3],
}

/// Adds an outer dimension, merged into the one before where the strides allow.
fn push(dimensions: &mut Vec<Dimension>, outer: Dimension) {
    if outer.size == 1 {
        return;
    }
    if let Some(inner) = dimensions.last_mut()
        && (0..3).all(|nth| outer.strides[nth] == inner.strides[nth] * inner.size)
    {
        inner.size *= outer.size;
        return;
    }
    dimensions.push(outer);
}

fn number(name: &str, value: i64) -> Result<u32> {
    small(value).ok_or_else(|| err!(Runtime, "{name} on a device of {value} elements"))
}

/// The first and the second result of each group of `a`: the dimensions in which the results have size 1, or all if they
/// have none.
pub(crate) fn reduce(function: &'static str, results: [Option<&Array>; 2], a: &Array, options: [f64; 2]) -> Result<()> {
    let Some(out) = results.into_iter().flatten().next() else { return Ok(()) };
    if out.numel() == 0 {
        return Ok(());
    }
    let (mut kept, mut reduced) = (Vec::new(), Vec::new());
    for dim in (0..a.ndim()).rev() {
        let is_kept = out.ndim() == a.ndim() && out.size(dim) == a.size(dim);
        let stride = |array: Option<&Array>| array.filter(|_| is_kept).map_or(0, |array| array.stride(dim) as i64);
        let strides = [a.stride(dim) as i64, stride(results[0]), stride(results[1])];
        push(if is_kept { &mut kept } else { &mut reduced }, Dimension { size: a.size(dim) as i64, strides });
    }
    ensure!(
        kept.len() <= REDUCE_RANK && reduced.len() <= REDUCE_RANK,
        NotImplemented,
        "{function} on device {} takes at most {REDUCE_RANK} dimensions, got sizes {:?}",
        a.device(),
        a.sizes()
    );
    let count = |dimensions: &[Dimension]| dimensions.iter().map(|dimension| dimension.size).product::<i64>();
    let (groups, terms) = (count(&kept), count(&reduced));
    let at = |array: Option<&Array>| array.map_or(0, address);
    // Neighbouring threads read neighbouring elements.
    let near = |dimensions: &[Dimension]| dimensions.first().map_or(i64::MAX, |inner| inner.strides[0].abs());
    let across = groups > 1 && (terms < SHORT as i64 || near(&kept) < near(&reduced));
    let mut p = Reduction {
        at: [address(a), at(results[0]), at(results[1]), 0],
        kept: [Size::new(1); REDUCE_RANK],
        kept_strides: [[0; 3]; REDUCE_RANK],
        reduced: [Size::new(1); REDUCE_RANK],
        reduced_strides: [0; REDUCE_RANK],
        options,
        kept_rank: kept.len() as u32,
        reduced_rank: reduced.len() as u32,
        results: number(function, groups)?,
        terms: number(function, terms)?,
        parts: 1,
        across: u32::from(across),
        last: 0,
        reserved: 0,
    };
    for (nth, dimension) in kept.iter().enumerate() {
        p.kept[nth] = Size::new(number(function, dimension.size)?.max(1));
        p.kept_strides[nth] = dimension.strides;
    }
    for (nth, dimension) in reduced.iter().enumerate() {
        p.reduced[nth] = Size::new(number(function, dimension.size)?.max(1));
        p.reduced_strides[nth] = dimension.strides[0];
    }
    start(function, a, &mut p)
}

/// Starts the kernel, or two if the terms are split into parts.
fn start(function: &'static str, a: &Array, p: &mut Reduction) -> Result<()> {
    let (results, terms) = (p.results as usize, p.terms as usize);
    let blocks = if p.across != 0 { results.div_ceil(REDUCE_THREADS as usize) } else { results };
    let few = if p.across != 0 { FEW_TERMS_OF_A_THREAD } else { FEW_TERMS };
    let parts = ENOUGH_BLOCKS.div_ceil(blocks).min(terms.div_ceil(few)).clamp(1, MOST_PARTS);
    p.parts = parts as u32;
    let kernel = Kernel { file: "reduce", function, dtype: a.dtype() };
    let grid = |blocks: usize, parts: usize| Grid {
        blocks: [blocks.min(MOST_BLOCKS as usize) as u32, parts as u32, 1],
        threads: REDUCE_THREADS,
        shared: REDUCE_SHARED,
    };
    if parts == 1 {
        // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with an element
        // for each index.
        return unsafe { launch(a.device(), kernel, grid(blocks, 1), p) };
    }
    let partials = Temporary::new(a.device(), parts * results * PARTIAL as usize)?;
    p.at[3] = partials.at();
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with an element for each
    // index, and there is room for each partial result.
    unsafe { launch(a.device(), kernel, grid(blocks, parts), p)? };
    p.last = 1;
    p.across = u32::from(parts < SHORT || results > ENOUGH_BLOCKS);
    let blocks = if p.across != 0 { results.div_ceil(REDUCE_THREADS as usize) } else { results };
    // SAFETY: the kernel takes this parameter, which has no padding; the earlier launch stores all partial results.
    unsafe { launch(a.device(), kernel, grid(blocks, 1), p) }
}
