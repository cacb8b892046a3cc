//! Reading and writing at indexed positions on a device. Indices are read, and checked, by the kernels.
//!
//! Where an index may occur twice, its elements are processed in the order of the indices, as on the CPU: by one thread
//! for each lane if there are few indices, or after the places were sorted. Results are the same in every run.

use super::parameters::{LOOKUPS, Lookup, PLACES_RANK, Places, Size};
use super::sort::{Ordered, ordered};
use super::{Grid, Temporary, address, launch, small};
use crate::array::Array;
use crate::indexing::Combine;
use crate::pointwise::{Parameter, Words};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::report::{Mistake, Watch};
use rushlight_base::{DType, Device, DimVec, Result, Scalar, ensure, err};
use std::ops::Range;

/// Indices of a lane that a thread processes one after the other.
const FEW: u32 = 64;

/// Lanes that keep a device busy, and the indices of a lane up to which they are not sorted then.
const ENOUGH_LANES: u32 = 1 << 14;
const SEVERAL: u32 = 4096;

/// Indices into one dimension.
#[derive(Clone, Debug)]
pub(crate) struct Indices<'a> {
    /// Of int32 or int64.
    pub(crate) index: Array<'a>,
    /// Its strides along the dimensions of the traversal.
    pub(crate) strides: DimVec,
    /// Indices are below.
    pub(crate) size: usize,
    /// The dimension.
    pub(crate) dim: usize,
    /// From one index to the next in the indexed tensor.
    pub(crate) stride: isize,
}

/// Indices that a kernel reads.
#[derive(Clone, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) indices: Vec<Indices<'a>>,
    /// What an index out of range is.
    pub(crate) mistake: Mistake,
    /// Whether negative ones count from the end.
    pub(crate) wraps: bool,
    /// Sizes and strides of the indexed tensor, if indices count its elements.
    pub(crate) flat: Option<[DimVec; 2]>,
    /// Whether no index occurs twice.
    pub(crate) distinct: bool,
}

impl Found<'_> {
    /// For loops of the host, which have no access to the indices.
    pub(crate) fn first(&self) -> *mut i64 {
        backend::no_kernel(self.indices.first().map_or(Device::CPU, |indices| indices.index.device()))
    }
}

/// A traversal of indices: its sizes, the strides of the indexed tensor outside of the indices, and the dimensions along
/// which the indices differ.
pub(crate) struct Traversal<'t> {
    pub(crate) sizes: &'t [i64],
    pub(crate) slices: &'t [i64],
    pub(crate) along: Range<usize>,
}

/// A dimension: its size, and the strides of the traversed operand, the indexed tensor and the indices.
struct Dimension {
    size: i64,
    strides: Vec<i64>,
}

/// Adds an outer dimension, merged into the one before where the strides allow.
fn push(dimensions: &mut Vec<Dimension>, outer: Dimension) {
    if outer.size == 1 {
        return;
    }
    if let Some(inner) = dimensions.last_mut()
        && inner.strides.iter().zip(&outer.strides).all(|(inner_step, step)| *step == inner_step * inner.size)
    {
        inner.size *= outer.size;
        return;
    }
    dimensions.push(outer);
}

fn number(value: i64) -> Result<u32> {
    small(value).ok_or_else(|| err!(Runtime, "an index on a device leads to {value} elements"))
}

/// An operand that is one number, in memory of the host.
fn constant_of(array: &Array) -> Option<[u64; 2]> {
    if !array.is_on_host() || array.strides().iter().any(|stride| *stride != 0) {
        return None;
    }
    let mut bits = [0u64; 2];
    // SAFETY: `Array::new` guarantees an element in memory of the host, and the buffer holds one of any dtype.
    unsafe {
        (&raw mut bits).cast::<u8>().copy_from_nonoverlapping(array.address().cast_const(), array.dtype().size());
    }
    Some(bits)
}

/// The parameter of a kernel for the traversed operand and the indexed tensor, and the first of its dimensions that is one
/// of lanes.
fn described(
    traversal: &Traversal,
    found: &Found,
    walked: &Array,
    steps: &[i64],
    reached: &Array,
) -> Result<(Places, usize)> {
    let device = reached.device();
    ensure!(
        found.indices.len() <= LOOKUPS,
        NotImplemented,
        "an index on device {device} has at most {LOOKUPS} dimensions, got {}",
        found.indices.len()
    );
    let dimension = |dim: usize| {
        let mut strides = vec![steps[dim], traversal.slices[dim]];
        strides.extend(found.indices.iter().map(|indices| indices.strides[dim]));
        Dimension { size: traversal.sizes[dim], strides }
    };
    let (mut dimensions, mut lanes) = (Vec::new(), Vec::new());
    traversal.along.clone().rev().for_each(|dim| push(&mut dimensions, dimension(dim)));
    let along: i64 = dimensions.iter().map(|dimension: &Dimension| dimension.size).product();
    let others = (0..traversal.sizes.len()).rev().filter(|dim| !traversal.along.contains(dim));
    others.for_each(|dim| push(&mut lanes, dimension(dim)));
    let lanes_from = dimensions.len();
    dimensions.extend(lanes);
    let flat = found.flat.as_ref();
    ensure!(
        dimensions.len() <= PLACES_RANK && flat.is_none_or(|[sizes, _]| sizes.len() <= PLACES_RANK),
        NotImplemented,
        "an index on device {device} leads to at most {PLACES_RANK} dimensions, got sizes {:?} of {:?}",
        traversal.sizes,
        reached.sizes()
    );
    let constant = constant_of(walked);
    ensure!(constant.is_some() || !walked.is_on_host(), Internal, "an index kernel got an operand of the host");
    let mut places = Places {
        at: [if constant.is_some() { 0 } else { address(walked) }, address(reached)],
        sizes: [Size::new(1); PLACES_RANK],
        strides: [[0; 2]; PLACES_RANK],
        lookups: [Lookup { at: 0, strides: [0; PLACES_RANK], size: 0, dim: 0, stride: 0, wraps: 0, narrow: 0 };
            LOOKUPS],
        flat: [[1, 0]; PLACES_RANK],
        constant: constant.unwrap_or_default(),
        alpha: Words([0; 4]),
        watch: Watch::NONE,
        order: [0; 2],
        count: number(traversal.sizes.iter().product())?,
        along: number(along)?,
        rank: dimensions.len() as u32,
        lookup_count: found.indices.len() as u32,
        flat_rank: 0,
        ordered: 0,
    };
    for (nth, indices) in found.indices.iter().enumerate() {
        ensure!(!indices.index.is_on_host(), Internal, "an index kernel got indices of the host");
        places.lookups[nth] = Lookup {
            at: address(&indices.index),
            strides: [0; PLACES_RANK],
            size: indices.size as i64,
            dim: indices.dim as i64,
            stride: indices.stride as i64,
            wraps: u32::from(found.wraps),
            narrow: u32::from(indices.index.dtype() == DType::I32),
        };
    }
    for (dim, Dimension { size, strides }) in dimensions.iter().enumerate() {
        places.sizes[dim] = Size::new(number(*size)?.max(1));
        places.strides[dim] = [strides[0], strides[1]];
        for (lookup, stride) in places.lookups.iter_mut().zip(&strides[2..]) {
            lookup.strides[dim] = *stride;
        }
    }
    if let Some([sizes, strides]) = flat {
        places.flat_rank = sizes.len() as u32;
        for (nth, (size, stride)) in sizes.iter().zip(strides).rev().enumerate() {
            places.flat[nth] = [*size, *stride];
        }
    }
    if !found.indices.is_empty() {
        places.watch = backend::watch(device, found.mistake, [0; 2])?;
    }
    Ok((places, lanes_from))
}

/// The dtype whose kernel moves elements of this size and alignment.
pub(super) fn moved(dtype: DType) -> DType {
    match (dtype.size(), dtype.is_complex()) {
        (1, _) => DType::U8,
        (2, _) => DType::U16,
        (4, false) => DType::U32,
        (8, false) => DType::U64,
        (4, true) => DType::C32,
        (8, true) => DType::C64,
        _ => DType::C128,
    }
}

fn start(device: Device, function: &'static str, dtype: DType, threads: usize, places: &Places) -> Result<()> {
    let kernel = Kernel { file: "indexing", function, dtype };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, with an element for
    // each index that the kernel does not report.
    unsafe { launch(device, kernel, Grid::of(threads), places) }
}

/// out = the elements of `a` at the indexed positions
pub(crate) fn gather(traversal: &Traversal, found: &Found, out: &Array, steps: &[i64], a: &Array) -> Result<()> {
    let (places, _) = described(traversal, found, out, steps, a)?;
    if places.count == 0 {
        return Ok(());
    }
    start(a.device(), "gather", moved(a.dtype()), places.count as usize, &places)
}

/// Sorts the places, unless a thread for each lane is enough. Holds the memory of the order.
fn put_in_order(device: Device, lanes_from: usize, places: &mut Places) -> Result<Option<Ordered>> {
    let lanes = places.count / places.along;
    if places.along <= FEW || lanes >= ENOUGH_LANES && places.along <= SEVERAL {
        return Ok(None);
    }
    // Lanes with the same indices have the same order.
    let is_same =
        (lanes_from..places.rank as usize).all(|dim| places.lookups.iter().all(|lookup| lookup.strides[dim] == 0));
    let depth = if is_same { places.along } else { places.count };
    let keys = Temporary::new(device, depth as usize * size_of::<u64>())?;
    places.order = [keys.at(), 0];
    places.ordered = depth;
    start(device, "places", DType::U64, depth as usize, places)?;
    let ordered = ordered(device, keys, 1, depth)?;
    places.order = [ordered.keys.at(), ordered.places.at()];
    Ok(Some(ordered))
}

/// Starts a kernel that writes at the indexed positions.
fn write(
    (traversal, found): (&Traversal, &Found),
    (function, dtype): (&'static str, DType),
    (out, source, steps): (&Array, &Array, &[i64]),
    alpha: Words,
) -> Result<()> {
    let (mut places, lanes_from) = described(traversal, found, source, steps, out)?;
    if places.count == 0 {
        return Ok(());
    }
    places.alpha = alpha;
    if found.distinct {
        // Each element is a lane.
        places.along = 1;
    }
    let ordered = put_in_order(out.device(), lanes_from, &mut places)?;
    let threads = match &ordered {
        Some(_) if places.ordered == places.count => places.count as usize,
        Some(_) => places.ordered as usize * (places.count / places.along) as usize,
        None => (places.count / places.along) as usize,
    };
    start(out.device(), function, dtype, threads, &places)
}

/// `out` with `source` written at the indexed positions; if a position repeats, the last one stays.
pub(crate) fn scatter(traversal: &Traversal, found: &Found, out: &Array, source: &Array, steps: &[i64]) -> Result<()> {
    let kernel = ("scatter", moved(out.dtype()));
    write((traversal, found), kernel, (out, source, steps), Words([0; 4]))
}

/// Combines `source` with `out` at the indexed positions, in their order.
pub(crate) fn combine(
    traversal: &Traversal,
    found: &Found,
    out: &Array,
    source: &Array,
    steps: &[i64],
    how: Combine,
) -> Result<()> {
    let (function, alpha) = match how {
        Combine::Sum(alpha) => ("sum", alpha),
        Combine::Product => ("product", Scalar::Int(1)),
        Combine::Maximum => ("maximum", Scalar::Int(1)),
        Combine::Minimum => ("minimum", Scalar::Int(1)),
    };
    write((traversal, found), (function, out.dtype()), (out, source, steps), alpha.words())
}

/// out = out / counts, where a count is not 0; integers round down.
pub(crate) fn divide_by_counts(out: &Array, counts: &Array) -> Result<()> {
    let none = Found { indices: Vec::new(), mistake: Mistake::Index, wraps: false, flat: None, distinct: true };
    let traversal = Traversal { sizes: out.sizes(), slices: out.strides(), along: 0..0 };
    let (places, _) = described(&traversal, &none, counts, counts.strides(), out)?;
    if places.count == 0 {
        return Ok(());
    }
    start(out.device(), "divide_by_counts", out.dtype(), places.count as usize, &places)
}
