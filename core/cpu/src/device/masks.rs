//! Elements that a mask selects, on a device: a scan of the mask numbers them.

use super::lines::{MOST_BLOCKS, lines, start};
use super::parameters::{Coordinates, ROW_RANK, Size};
use super::{Grid, Temporary, launch, scan};
use crate::array::Array;
use crate::indexing::{Places, gather, scatter as scatter_at};
use crate::{Loop, convert};
use rushlight_base::backend::{self, Kernel, Place};
use rushlight_base::{DType, Device, Result, contiguous_strides, ensure};

/// Threads of a block.
const THREADS: u32 = 256;

fn grid_of(elements: usize) -> Grid {
    let blocks = (elements as u64).div_ceil(u64::from(THREADS)).clamp(1, u64::from(MOST_BLOCKS)) as u32;
    Grid { blocks: [blocks, 1, 1], threads: THREADS, shared: 0 }
}

/// A mask without gaps, as one dimension, and the number of true elements up to each.
struct Counted {
    mask: Temporary,
    counts: Temporary,
    len: [i64; 1],
}

impl Counted {
    fn of(mask: &Array) -> Result<Counted> {
        let (device, len) = (mask.device(), mask.numel());
        let copy = Temporary::new(device, len)?;
        let strides = contiguous_strides(mask.sizes());
        convert::copy(&Loop::new([copy.array(DType::Bool, mask.sizes(), &strides), mask.clone()])?)?;
        let counts = Temporary::new(device, len * size_of::<i64>())?;
        let counted = Counted { mask: copy, counts, len: [len as i64] };
        if len > 0 {
            scan::count_true(&counted.counts(), &counted.mask())?;
        }
        Ok(counted)
    }

    fn mask(&self) -> Array<'_> {
        self.mask.array(DType::Bool, &self.len, &[1])
    }

    fn counts(&self) -> Array<'_> {
        self.counts.array(DType::I64, &self.len, &[1])
    }

    /// The numbers, in row-major order, of the first `capacity` true elements, as int64.
    fn positions(&self, capacity: usize) -> Result<Temporary> {
        let device = self.mask.device;
        let positions = Temporary::new(device, capacity * size_of::<i64>())?;
        if capacity > 0 && self.len != [0] {
            let sizes = [capacity as i64];
            let to = positions.array(DType::I64, &sizes, &[1]);
            let mut p = lines("nonzero", &[Some(&self.mask()), Some(&self.counts()), Some(&to)], 0)?;
            p.results = capacity as u32;
            start(("scan", "positions"), DType::Bool, device, grid_of(self.len[0] as usize), &p)?;
        }
        Ok(positions)
    }
}

/// Number of true elements of a mask. Waits for it.
pub(crate) fn count(mask: &Array) -> Result<usize> {
    if mask.numel() == 0 {
        return Ok(0);
    }
    let (device, counted) = (mask.device(), Counted::of(mask)?);
    let mut count = 0i64;
    let last = counted.counts.at.wrapping_add((mask.numel() - 1) * size_of::<i64>());
    let to = Place { device: Device::CPU, at: (&raw mut count).cast() };
    // SAFETY: the scan has stored a count for each element; the number has as many bytes, and lives until the copy has
    // run, which the call waits for.
    unsafe { backend::of(device.kind)?.copy(to, Place { device, at: last }, size_of::<i64>(), true)? };
    Ok(count as usize)
}

/// out[k] = the coordinates of the k-th true element
pub(crate) fn coordinates(out: &Array, mask: &Array) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let (device, rank) = (mask.device(), mask.ndim());
    ensure!(
        rank <= ROW_RANK,
        NotImplemented,
        "nonzero on device {device} takes at most {ROW_RANK} dimensions, got sizes {:?}",
        mask.sizes()
    );
    let positions = Counted::of(mask)?.positions(out.size(0))?;
    let mut p = Coordinates {
        at: [out.address().addr() as u64, positions.at()],
        strides: [out.stride(0) as i64, out.stride(1) as i64],
        sizes: [Size::new(1); ROW_RANK],
        rank: rank as u32,
        count: out.size(0) as u32,
    };
    for (size, &extent) in p.sizes.iter_mut().zip(mask.sizes().iter().rev()) {
        *size = Size::new(extent as u32);
    }
    let kernel = Kernel { file: "scan", function: "coordinates", dtype: DType::I64 };
    // SAFETY: the kernel takes this parameter, which has no padding; there is a number and a row of `out` for each element.
    unsafe { launch(device, kernel, grid_of(out.size(0)), &p) }
}

/// out[k] = the k-th element of `a` whose mask is true
pub(crate) fn select(out: &Array, a: &Array, mask: &Array) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let positions = Counted::of(mask)?.positions(out.numel())?;
    let sizes = [out.numel() as i64];
    let index = positions.array(DType::I64, &sizes, &[1]);
    gather(out, a, &Places::distinct(index, a)?)
}

/// out where the mask is true = the next element of `source`
pub(crate) fn scatter(out: &Array, mask: &Array, source: &Array) -> Result<()> {
    let counted = count(mask)?;
    let taken = counted.min(source.numel());
    if taken == 0 {
        return Ok(());
    }
    let positions = Counted::of(mask)?.positions(taken)?;
    let sizes = [taken as i64];
    let index = positions.array(DType::I64, &sizes, &[1]);
    scatter_at(out, &Places::distinct(index, out)?, &source.shortened(&sizes))
}
