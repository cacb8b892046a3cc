//! Depthwise correlations along the width: each plane of the source is padded and converted once, and vectors of
//! adjacent positions are summed over the taps in registers.

use super::super::axis::{Axis, products};
use super::super::line::{Layout, ZEROS};
use super::super::padded::spatial_steps;
use super::super::unfolded::{count_taps, each_tap};
use super::super::{Job, Place};
use super::kernel_offsets;
use crate::scratch::Shortage;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Simd, run as run_kernel};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, list};
use std::ops::Range;

/// Multiplications that are worth a second thread.
const GRAIN: usize = 1 << 16;
/// Elements behind a plane that whole vectors may read.
pub(super) const BEHIND: usize = 64;
/// Elements of padded planes that stay in the first-level cache.
const CACHED: usize = 4096;
/// Vectors of a tile.
const TILE: usize = 4;

/// The positions of the output that meet the same taps.
struct Phase {
    axes: [Axis; 3],
    /// Offsets of what the taps meet at the first position, and of the elements of the kernel.
    taps: Vec<isize>,
    kernel: Vec<isize>,
    place: Place,
}

/// Computes all phases.
pub(super) fn run<T: Float>(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<()> {
    let layout = Layout::new(axes, spatial_steps(job.image, job.spatial))?;
    let (mut phases, mut most, mut work) = (Vec::new(), 0, 0usize);
    for axes in products(axes).filter(|axes| axes.iter().all(|axis| axis.length > 0)) {
        let mut taps = list::with_capacity(count_taps(&axes))?;
        each_tap(&axes, |tap| taps.push(layout.offset(tap.map(|(_, offset)| offset))));
        let (kernel, place) = (kernel_offsets(job.weight, &axes, job.spatial)?, Place::of(job.out, &axes, job.spatial));
        most = most.max(taps.len());
        work += axes.iter().map(|axis| axis.length).product::<usize>() * (taps.len() + 1);
        list::push(&mut phases, Phase { axes, taps, kernel, place })?;
    }
    let (planes, shortage) = (job.image.size(0) * job.groups, Shortage::new());
    let [per_group, _] = job.channels();
    let (elements, together) = (pitch(&layout), together(&layout));
    let sources = Shared::new(job.image.as_ptr::<T>());
    let targets = Shared::new(job.out.as_ptr::<T>());
    let weights = Shared::new(job.weight.as_ptr::<T>());
    let biases = job.bias.map(|bias| Shared::new(bias.as_ptr::<T>()));
    let grain = (GRAIN / (work * per_group + elements).max(1)).max(1);
    parallel_chunks(planes, grain, &|planes| {
        let space = elements.saturating_mul(together).saturating_add(most).saturating_mul(size_of::<T::Wide>());
        let Some(buffer) = shortage.scratch(space) else { return };
        let plane = buffer.start().cast::<T::Wide>();
        let factors = plane.wrapping_add(elements * together);
        let (sources, targets, weights, biases) =
            (sources.get(), targets.get(), weights.get(), biases.map(|bias| bias.get()));
        run_kernel(Share {
            job,
            layout: &layout,
            phases: &phases,
            planes,
            plane,
            factors,
            sources,
            targets,
            weights,
            biases,
        });
    })?;
    shortage.check()
}

/// Some planes of the source.
struct Share<'a, T: Float> {
    job: &'a Job<'a>,
    layout: &'a Layout,
    phases: &'a [Phase],
    planes: Range<usize>,
    /// Some padded planes.
    plane: *mut T::Wide,
    factors: *mut T::Wide,
    sources: *const T,
    targets: *mut T,
    weights: *const T,
    biases: Option<*mut T>,
}

impl<T: Float> Kernel for Share<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let job = self.job;
        let [per_group, _] = job.channels();
        let (pitch, together) = (pitch(self.layout), together(self.layout));
        for plane in self.planes.clone() {
            let (sample, group) = (plane / job.groups, plane % job.groups);
            let nth = (plane - self.planes.start) % together;
            if nth == 0 {
                for (i, plane) in (plane..self.planes.end.min(plane + together)).enumerate() {
                    let (sample, group) = ((plane / job.groups) as isize, (plane % job.groups) as isize);
                    let from = sample * job.image.stride(0) + group * job.image.stride(1);
                    let to = self.plane.wrapping_add(i * pitch);
                    // SAFETY: the plane is one of the image, and the buffer has space for `together` padded ones.
                    unsafe { widen::<T, S>(self.layout, self.sources.wrapping_offset(from), to) };
                }
            }
            let padded = self.plane.wrapping_add(nth * pitch).cast_const();
            for within in 0..per_group {
                let channel = group * per_group + within;
                let (first, second) = if job.transposed { (group, within) } else { (channel, 0) };
                let kernel = first as isize * job.weight.stride(0) + second as isize * job.weight.stride(1);
                let start = match (self.biases, job.bias) {
                    // SAFETY: the bias has an element for each output channel.
                    (Some(at), Some(bias)) => unsafe { at.offset(channel as isize * bias.stride(0)).read().wide() },
                    _ => <T::Wide as crate::number::Wide>::ZERO,
                };
                let to = sample as isize * job.out.stride(0) + channel as isize * job.out.stride(1);
                for phase in self.phases {
                    // SAFETY: the weight has an element at each offset, and the buffer a factor for each tap; the
                    // phase's positions are elements of the output's plane, which belongs to this share alone.
                    unsafe {
                        for (t, &offset) in phase.kernel.iter().enumerate() {
                            self.factors.add(t).write(self.weights.offset(kernel + offset).read().wide());
                        }
                        self.phase::<S>(phase, padded, start, self.targets.offset(to + phase.place.offset));
                    }
                }
            }
        }
    }
}

/// A vector of positions: their offsets in the plane and in the output, and how many there are.
type Entry = (isize, isize, usize);

impl<T: Float> Share<'_, T> {
    /// # Safety
    /// The positions of the phase are elements of the output from `to` on, and factors and plane are those of the
    /// phase.
    #[inline(always)]
    unsafe fn phase<S: Simd>(&self, phase: &Phase, plane: *const T::Wide, start: T::Wide, to: *mut T) {
        let lanes = T::Vector::<S>::LANES;
        let [depth, height, width] = [0, 1, 2].map(|dim| phase.axes[dim].length);
        let (from_steps, to_steps) = (self.layout.steps(), phase.place.steps);
        let (mut tile, mut count) = ([(0, 0, 0); TILE], 0);
        for d in 0..depth as isize {
            for h in 0..height as isize {
                let from = d * from_steps[0] + h * from_steps[1];
                let target = d * to_steps[0] + h * to_steps[1];
                for w in (0..width).step_by(lanes) {
                    let entry: Entry = (from + w as isize, target + w as isize * to_steps[2], lanes.min(width - w));
                    tile[count] = entry;
                    count += 1;
                    if count == TILE {
                        // SAFETY: the caller guarantees the positions of the phase.
                        unsafe { self.tile::<S>(&phase.taps, plane, start, &tile, TILE, to, to_steps[2]) };
                        count = 0;
                    }
                }
            }
        }
        if count > 0 {
            // Missing vectors repeat the first one, and are not stored.
            let first = tile[0];
            tile[count..].fill(first);
            // SAFETY: the caller guarantees the positions of the phase.
            unsafe { self.tile::<S>(&phase.taps, plane, start, &tile, count, to, to_steps[2]) };
        }
    }

    /// # Safety
    /// The contract of `phase`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments, reason = "a tile and its place")]
    unsafe fn tile<S: Simd>(
        &self,
        taps: &[isize],
        plane: *const T::Wide,
        start: T::Wide,
        tile: &[Entry; TILE],
        count: usize,
        to: *mut T,
        step: isize,
    ) {
        // SAFETY: a vector at any position of the plane reads at most `BEHIND` elements beyond it; the caller
        // guarantees the positions in the output.
        unsafe {
            let from = tile.map(|entry| plane.offset(entry.0));
            let mut sums = [T::Vector::<S>::splat(start); TILE];
            for (t, &tap) in taps.iter().enumerate() {
                let factor = T::Vector::<S>::splat(self.factors.add(t).read());
                for v in 0..TILE {
                    sums[v] = T::Vector::<S>::load(from[v].offset(tap)).mul_add(factor, sums[v]);
                }
            }
            for v in 0..count {
                let to = to.offset(tile[v].1);
                match step {
                    1 => T::store_some::<S>(sums[v], to, tile[v].2),
                    _ => T::store_strided::<S>(sums[v], to, step * size_of::<T>() as isize, tile[v].2),
                }
            }
        }
    }
}

/// Elements from one padded plane to the next.
pub(super) fn pitch(layout: &Layout) -> usize {
    layout.elements().saturating_add(BEHIND)
}

/// Planes that are padded at once: a vector cannot be loaded while the stores that it spans are under way.
pub(super) fn together(layout: &Layout) -> usize {
    (CACHED / pitch(layout)).clamp(1, 16)
}

/// Pads and converts a plane. Vectors are stored whole: what follows them is zero, or written later.
///
/// # Safety
/// `from` is a plane of the image that the layout is for, and `to` has [`pitch`] elements.
#[inline(always)]
pub(super) unsafe fn widen<T: Float, S: Simd>(layout: &Layout, from: *const T, to: *mut T::Wide) {
    let lanes = T::Vector::<S>::LANES;
    let zero = T::Vector::<S>::splat(<T::Wide as crate::number::Wide>::ZERO);
    let (width, length) = (layout.row(), layout.lines[2].length);
    let last = layout.rows.len() * width + BEHIND - lanes;
    // SAFETY: the caller guarantees the elements of the padded plane, and the layout counts those of the image. No
    // vector has more elements than are behind the plane.
    unsafe {
        for i in (0..last).step_by(lanes) {
            zero.store(to.add(i));
        }
        zero.store(to.add(last));
        for (r, &offset) in layout.rows.iter().enumerate() {
            if offset == ZEROS {
                continue;
            }
            let to = to.add(r * width);
            for (part, (inside, first)) in layout.parts.iter().enumerate() {
                let (from, to) = (from.wrapping_offset(offset + first), to.add(part * length + inside.start));
                let count = inside.len();
                match layout.step {
                    1 => convert::<T, S>(from, to, count),
                    2 => halve::<T, S>(from, to, count),
                    step => {
                        for i in 0..count {
                            to.add(i).write(from.offset(i as isize * step).read().wide());
                        }
                    }
                }
            }
        }
    }
}

/// Converts adjacent elements into whole vectors.
///
/// # Safety
/// `count` elements can be read, and as many, rounded up to a vector, written.
#[inline(always)]
unsafe fn convert<T: Float, S: Simd>(from: *const T, to: *mut T::Wide, count: usize) {
    let lanes = T::Vector::<S>::LANES;
    // SAFETY: the caller guarantees `count` elements on both sides, and space for the last vector.
    unsafe {
        for i in (0..count).step_by(lanes) {
            T::load_some::<S>(from.add(i), lanes.min(count - i)).store(to.add(i));
        }
    }
}

/// Converts every other element into whole vectors.
///
/// # Safety
/// `count` elements can be read, two apart, and as many, rounded up to a vector, written.
#[inline(always)]
unsafe fn halve<T: Float, S: Simd>(from: *const T, to: *mut T::Wide, count: usize) {
    let lanes = T::Vector::<S>::LANES;
    // SAFETY: the caller guarantees the elements up to the last of `count`, and space for the last vector.
    unsafe {
        for i in (0..count).step_by(lanes) {
            let left = 2 * (count - i) - 1;
            let first = T::load_some::<S>(from.add(2 * i), lanes.min(left));
            let second = match left > lanes {
                true => T::load_some::<S>(from.add(2 * i + lanes), lanes.min(left - lanes)),
                false => T::Vector::<S>::splat(<T::Wide as crate::number::Wide>::ZERO),
            };
            first.evens(second).store(to.add(i));
        }
    }
}
