//! Adjacent channels on both sides: the positions of a row are rows of a product, whose elements are read where they are, in a
//! padded copy or in the image itself. Nothing is unfolded, transposed or scattered.

use super::axis::{Axis, products};
use super::channels::{Channels, Deep};
use super::unfolded::{Kernels, count_taps, each_tap};
use super::{Job, Place};
use crate::array::Array;
use crate::gemm::{Lines, PackedB};
use crate::shared::Shared;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{DType, Element, Result, Scratch, list};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of samples that are padded together.
const TOGETHER: usize = 8 << 20;
/// Multiplications that are worth a second thread.
const GRAIN: usize = 1 << 18;
/// Positions that are computed with a part of the weights, which should stay in the caches.
const POSITIONS: usize = 192;
/// Positions from which on ordering the weights takes little of the time.
const MANY: usize = 512;

/// Computes the correlation, if it is of this kind.
pub(super) fn run(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    let adjacent = job.image.stride(1) == 1 && job.out.stride(1) == 1 && job.out.size(1) > 1;
    match job.out.dtype() {
        DType::F32 if adjacent => run_of::<f32>(job, axes),
        DType::F64 if adjacent => run_of::<f64>(job, axes),
        _ => Ok(false),
    }
}

/// The positions of the output that meet the same taps.
pub(super) struct Phase {
    pub axes: [Axis; 3],
    /// The weights of each group.
    pub weights: Vec<Arc<PackedB>>,
    /// Offsets of the elements of each k, in bytes.
    pub offsets: Vec<isize>,
    pub place: Place,
}

fn run_of<T: Element>(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    let [_, channels] = job.channels();
    let (size, samples) = (size_of::<T>() as isize, job.image.size(0));
    if job.out.numel() / job.out.size(1) < MANY && !is_ordered(job, axes)? {
        return Ok(false);
    }
    let whole = [union(&axes[0])?, union(&axes[1])?, union(&axes[2])?];
    let layout = Channels::new(job.image, &whole, job.spatial, job.groups, TOGETHER)?;
    let bias = bias_of::<T>(job)?;
    let mut phases = Vec::new();
    let steps = layout.steps(job.image.size(1));
    for axes in products(axes).filter(|axes| axes.iter().all(|axis| axis.length > 0)) {
        let mut weights = list::with_capacity(job.groups)?;
        for group in 0..job.groups {
            let pack = || pack::<T>(job, &axes, group);
            let packed = match job.packed {
                Some(packed) => packed.columns(phases.len() * job.groups + group, pack)?,
                None => Arc::new(pack()?),
            };
            let row_step = steps[2] * axes[2].step * size;
            if packed.across()?.is_none_or(|product| product.rows_collide(row_step)) {
                return Ok(false);
            }
            weights.push(packed);
        }
        let mut offsets = list::with_capacity(count_taps(&axes) * channels)?;
        each_tap(&axes, |tap| {
            let first = layout.offset(tap.map(|(_, offset)| offset), &steps);
            offsets.extend((0..channels as isize).map(|channel| (first + channel) * size));
        });
        let place = Place::of(job.out, &axes, job.spatial);
        list::push(&mut phases, Phase { axes, weights, offsets, place })?;
    }
    for first in (0..samples).step_by(layout.together) {
        let some = first..samples.min(first + layout.together);
        let view = layout.samples::<T>(job.image, some.clone())?;
        for phase in &phases {
            let steps = [0, 1, 2].map(|dim| view.steps[dim] * phase.axes[dim].step);
            phase.compute::<T>(job, &Deep { steps, ..view }, some.clone(), bias.as_deref())?;
        }
    }
    Ok(true)
}

/// Whether the weights are packed as they are.
fn is_ordered(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    let (Some(axes), None) = (products(axes).next(), products(axes).nth(1)) else { return Ok(false) };
    let kernels = Kernels::new(job.weight, &axes, job.spatial, job.groups, job.transposed)?;
    Ok(kernels.are_by_taps(job.channels()[1]))
}

/// All taps of a dimension.
fn union(phases: &[Axis]) -> Result<Axis> {
    let mut taps = Vec::new();
    for axis in phases {
        list::reserve(&mut taps, axis.taps.len())?;
        taps.extend_from_slice(&axis.taps);
    }
    let length = phases.iter().map(|axis| axis.length).max().unwrap_or(0);
    Ok(Axis { length, taps: Arc::new(taps), ..phases[0].clone() })
}

impl Phase {
    /// Computes the positions of `samples`, which are those of the view. Its steps are those between positions.
    pub fn compute<T: Element>(&self, job: &Job, view: &Deep, samples: Range<usize>, bias: Option<&[T]>) -> Result<()> {
        let ([rows, _], size) = (job.channels(), size_of::<T>() as isize);
        let [layers, height, width] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let steps = view.steps;
        let (out, sample_step) = (Shared::new(job.out.start()), job.out.stride(0));
        let bias = bias.map(|bias| Shared::new(bias.as_ptr().cast_mut()));
        let after = job.finishing.map(|finishing| finishing.after([self.place.steps[2], 1]));
        let work = width.saturating_mul(rows * job.groups).saturating_mul(self.offsets.len());
        let together = POSITIONS.div_ceil(width);
        let grain = (GRAIN / work.max(1)).max(1).next_multiple_of(together);
        parallel_chunks(samples.len() * layers * height, grain, &|lines| {
            for first in lines.clone().step_by(together) {
                for (group, weights) in self.weights.iter().enumerate() {
                    let Ok(Some(product)) = weights.across() else { return };
                    for part in product.parts() {
                        for line in first..lines.end.min(first + together) {
                            let (plane, h) = (line / height, (line % height) as isize);
                            let (sample, d) = ((plane / layers) as isize, (plane % layers) as isize);
                            let from = sample * view.sample + group as isize * view.group + d * steps[0] + h * steps[1];
                            let to = (samples.start as isize + sample) * sample_step
                                + (group * rows) as isize
                                + self.place.offset
                                + d * self.place.steps[0]
                                + h * self.place.steps[1];
                            let lines = Lines {
                                rows: width,
                                from: view.at.get().wrapping_offset(from * size).cast_const(),
                                from_step: steps[2] * size,
                                offsets: &self.offsets,
                                to: out.get().wrapping_offset(to * size),
                                to_step: self.place.steps[2] * size,
                                bias: bias.map_or(std::ptr::null(), |bias| {
                                    bias.get().wrapping_add(group * rows).cast_const().cast()
                                }),
                                after,
                            };
                            // SAFETY: the taps of the positions of a row are inside the view; the row of the output has
                            // all channels of the group, and belongs to this share alone.
                            unsafe { product.multiply(&part, &lines) };
                        }
                    }
                }
            }
        })
    }
}

/// The weights of a group, a column for each channel of the output, a row for each tap and channel of the source.
fn pack<T: Copy>(job: &Job, axes: &[Axis; 3], group: usize) -> Result<PackedB> {
    let [rows, channels] = job.channels();
    let kernels = Kernels::new(job.weight, axes, job.spatial, job.groups, job.transposed)?;
    let depth = channels * count_taps(axes);
    let sizes = [depth as i64, rows as i64];
    if kernels.are_by_taps(channels) {
        let (at, row_step) = kernels.group(group, size_of::<T>());
        let strides = [1, row_step as i64];
        // SAFETY: the elements of the rows of a group follow each other in the weight array.
        return PackedB::new(&unsafe { Array::new(at, job.out.dtype(), &sizes, &strides) });
    }
    let ordered = Scratch::new(rows.saturating_mul(depth).saturating_mul(size_of::<T>()))?;
    kernels.by_taps::<T>(channels, group, ordered.start().cast());
    let strides = [1, depth as i64];
    // SAFETY: the buffer has a row of `depth` elements for each channel of the output.
    PackedB::new(&unsafe { Array::new(ordered.start(), job.out.dtype(), &sizes, &strides) })
}

/// The bias, one element after the other.
pub(super) fn bias_of<T: Element>(job: &Job) -> Result<Option<Vec<T>>> {
    let Some(bias) = job.bias else { return Ok(None) };
    let mut elements = list::with_capacity(job.out.size(1))?;
    for channel in 0..job.out.size(1) as isize {
        // SAFETY: the bias has an element for each channel.
        elements.push(unsafe { bias.as_ptr::<T>().offset(channel * bias.stride(0)).read() });
    }
    Ok(Some(elements))
}
