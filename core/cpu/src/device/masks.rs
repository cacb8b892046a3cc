//! Elements that a mask selects, on a device: a scan of the mask numbers them.

use super::lines::{lines, start};
use super::parameters::{Coordinates, ROW_RANK, Size};
use super::{Grid, Temporary, address, launch, scan};
use crate::array::Array;
use crate::indexing::{Places, gather, scatter as scatter_at};
use crate::{Loop, convert};
use rushlight_base::backend::{self, Kernel, Place};
use rushlight_base::{DType, Device, Result, contiguous_strides, ensure};

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

    /// Number of true elements. Waits for it.
    fn total(&self) -> Result<usize> {
        let [len] = self.len;
        if len == 0 {
            return Ok(0);
        }
        let (device, mut total) = (self.mask.device, 0i64);
        let last = self.counts.at.wrapping_add((len as usize - 1) * size_of::<i64>());
        let to = Place { device: Device::CPU, at: (&raw mut total).cast() };
        // SAFETY: the scan has stored a count for each element; the number has as many bytes, and lives until the copy has
        // run, which the call waits for.
        unsafe { backend::of(device.kind)?.copy(to, Place { device, at: last }, size_of::<i64>(), true)? };
        Ok(total as usize)
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
            start(("scan", "positions"), DType::Bool, device, Grid::of(self.len[0] as usize), &p)?;
        }
        Ok(positions)
    }
}

/// Number of true elements of a mask. Waits for it.
pub(crate) fn count(mask: &Array) -> Result<usize> {
    Counted::of(mask)?.total()
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
        at: [address(out), positions.at()],
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
    unsafe { launch(device, kernel, Grid::of(out.size(0)), &p) }
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
    let counted = Counted::of(mask)?;
    let taken = counted.total()?.min(source.numel());
    if taken == 0 {
        return Ok(());
    }
    let positions = counted.positions(taken)?;
    let sizes = [taken as i64];
    let index = positions.array(DType::I64, &sizes, &[1]);
    scatter_at(out, &Places::distinct(index, out)?, &source.shortened(&sizes))
}
