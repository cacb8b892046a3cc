//! Images as correlations read them: every tap meets adjacent elements at adjacent positions of a row, without checks.
//!
//! An image that is stored like that, and is met only inside, is read in place. Others are copied with their padding, a
//! plane for each channel, positions sorted by the remainder of their step (`line.rs`). The copy costs one pass over
//! the image, where the unfolded image has each element as often as the kernel has taps.

use super::axis::Axis;
use super::line::{Layout, ZEROS};
use crate::array::Array;
use crate::gemm::across;
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, run};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, Scratch};
use std::ops::Range;

/// Bytes of a copy of several samples. A single sample may have more.
const TOGETHER: usize = 4 << 20;
/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 14;
/// Elements behind the last plane that whole vectors may read.
const BEHIND: usize = 64;
/// Channels from which on rows of channels are transposed.
const SQUARE: usize = 8;

/// Where the elements of an image are that the taps meet. Steps are in elements.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub at: Shared<u8>,
    pub sample: isize,
    pub channel: isize,
    /// Steps between positions of the output.
    pub steps: [isize; 3],
    /// Elements from `at` on that can be read.
    pub limit: isize,
}

/// The layout of the copy of an image, or the image itself.
pub(super) struct Padded {
    /// None where the image is read in place.
    layout: Option<Layout>,
    /// Elements of a plane.
    plane: usize,
    channels: usize,
    /// Steps between elements of the image in place.
    steps: [isize; 3],
    /// Samples that are copied together.
    pub together: usize,
    buffer: Option<Scratch>,
}

/// Strides of the spatial dimensions, of which there are three.
pub(super) fn spatial_steps(image: &Array, spatial: usize) -> [isize; 3] {
    let mut steps = [0; 3];
    for dim in 0..spatial {
        steps[3 - spatial + dim] = image.stride(2 + dim);
    }
    steps
}

impl Padded {
    /// The layout for the phases of each dimension.
    pub fn new(image: &Array, phases: &[Vec<Axis>; 3], spatial: usize) -> Result<Padded> {
        let steps = spatial_steps(image, spatial);
        let (samples, channels) = (image.size(0), image.size(1));
        let met_inside = |axis: &Axis| axis.taps.iter().all(|tap| tap.1 >= 0 && axis.inside(tap.1) == (0, axis.length));
        let width = phases[2].iter().all(|axis| axis.length == 1 || steps[2] * axis.step == 1);
        if width && phases.iter().flatten().all(met_inside) {
            return Ok(Padded { layout: None, plane: 0, channels, steps, together: samples.max(1), buffer: None });
        }
        Padded::copied(image, phases, spatial)
    }

    /// Like [`new`](Padded::new), with a copy in any case.
    pub fn copied(image: &Array, phases: &[Vec<Axis>; 3], spatial: usize) -> Result<Padded> {
        let steps = spatial_steps(image, spatial);
        let (samples, channels) = (image.size(0), image.size(1));
        let layout = Layout::new(phases, steps)?;
        // Planes that are a multiple of a page apart would share the sets of the first-level cache.
        let plane = (layout.elements().div_ceil(16) | 1).saturating_mul(16);
        let bytes = plane.saturating_mul(channels).saturating_mul(image.dtype().size());
        let together = (TOGETHER / bytes.max(1)).clamp(1, samples.max(1));
        let slack = BEHIND * image.dtype().size();
        let buffer = Some(Scratch::new(bytes.saturating_mul(together).saturating_add(slack))?);
        Ok(Padded { layout: Some(layout), plane, channels, steps, together, buffer })
    }

    /// Whether the image is read where it is.
    pub fn in_place(&self) -> bool {
        self.layout.is_none()
    }

    /// Steps between positions of the output in an image in place.
    pub fn steps_of(&self, axes: &[Axis; 3]) -> [isize; 3] {
        [0, 1, 2].map(|dim| self.steps[dim] * axes[dim].step)
    }

    /// Offset of what a tap meets at the first position.
    pub fn offset(&self, tap: [isize; 3]) -> isize {
        match &self.layout {
            None => (0..3).map(|dim| tap[dim] * self.steps[dim]).sum(),
            Some(layout) => layout.offset(tap),
        }
    }

    /// The elements of `samples`, which are copied if necessary. At most `together`.
    pub fn samples<T: Copy + Default + Send + Sync>(
        &self,
        image: &Array,
        axes: &[Axis; 3],
        samples: Range<usize>,
    ) -> Result<View> {
        let first = image.start().wrapping_offset(samples.start as isize * image.stride(0) * size_of::<T>() as isize);
        let (Some(layout), Some(buffer)) = (&self.layout, &self.buffer) else {
            let steps = self.steps_of(axes);
            let last = |size: usize, step: isize| (size.max(1) - 1) as isize * step;
            let ends: isize = (0..image.ndim()).map(|dim| last(image.size(dim), image.stride(dim))).sum();
            let limit = ends + 1 - samples.start as isize * image.stride(0);
            let (sample, channel) = (image.stride(0), image.stride(1));
            return Ok(View { at: Shared::new(first), sample, channel, steps, limit });
        };
        let (rows, row) = (layout.rows.len(), layout.row());
        let to = Shared::new(buffer.start());
        let copy = Copying {
            from: Shared::new(first.cast::<T>()),
            from_steps: [image.stride(0), image.stride(1)],
            to: Shared::new(to.get().cast::<T>()),
            plane: self.plane,
            channels: self.channels,
            layout,
        };
        let across = image.stride(1) == 1 && self.channels >= SQUARE;
        if across {
            let work = (row * self.channels).max(1);
            parallel_chunks(samples.len() * rows, (GRAIN / work).max(1), &|rows| run(Rows { copy, rows }))?;
        } else {
            let planes = samples.len() * self.channels;
            parallel_chunks(planes, (GRAIN / self.plane.max(1)).max(1), &|planes| run(Planes { copy, planes }))?;
        }
        let total = samples.len() * self.channels * self.plane;
        // SAFETY: the buffer has `BEHIND` elements behind the planes of `together` samples.
        unsafe { to.get().cast::<T>().add(total).write_bytes(0, BEHIND) };
        Ok(View {
            at: to,
            sample: (self.channels * self.plane) as isize,
            channel: self.plane as isize,
            steps: layout.steps(),
            limit: (total + BEHIND) as isize,
        })
    }
}

/// A copy in progress.
struct Copying<'a, T> {
    from: Shared<T>,
    /// Steps of samples and channels.
    from_steps: [isize; 2],
    to: Shared<T>,
    plane: usize,
    channels: usize,
    layout: &'a Layout,
}

impl<T> Clone for Copying<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Copying<'_, T> {}

/// Planes, row by row.
struct Planes<'a, T> {
    copy: Copying<'a, T>,
    planes: Range<usize>,
}

impl<T: Copy + Default> Kernel for Planes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (copy, layout) = (self.copy, self.copy.layout);
        let (row, length) = (layout.row(), layout.lines[2].length);
        for plane in self.planes {
            let (sample, channel) = (plane / copy.channels, plane % copy.channels);
            let from = sample as isize * copy.from_steps[0] + channel as isize * copy.from_steps[1];
            let from = copy.from.get().wrapping_offset(from);
            let mut to = copy.to.get().wrapping_add(plane * copy.plane);
            for &offset in &layout.rows {
                // SAFETY: the plane has a row of `row` elements for each of `rows`, with `length` elements for each
                // part, and those inside are elements of the image.
                unsafe {
                    if offset == ZEROS {
                        std::slice::from_raw_parts_mut(to, row).fill(T::default());
                    } else {
                        for (part, (inside, first)) in layout.parts.iter().enumerate() {
                            let from = from.wrapping_offset(offset + first);
                            spread(from, layout.step, to.add(part * length), inside.clone(), length);
                        }
                    }
                }
                to = to.wrapping_add(row);
            }
        }
    }
}

/// Writes `length` elements: those of the range come from `from`, `step` apart, the others are zero.
///
/// # Safety
/// These elements can be read and written.
#[inline(always)]
unsafe fn spread<T: Copy + Default>(from: *const T, step: isize, to: *mut T, inside: Range<usize>, length: usize) {
    // SAFETY: the caller guarantees `length` elements at `to`, and an element for each of `inside` at `from`.
    unsafe {
        for i in (0..inside.start).chain(inside.end..length) {
            to.add(i).write(T::default());
        }
        let (to, count) = (to.add(inside.start), inside.len());
        match step {
            1 => std::ptr::copy_nonoverlapping(from, to, count),
            2 => every::<T, 2>(from, to, count),
            3 => every::<T, 3>(from, to, count),
            4 => every::<T, 4>(from, to, count),
            _ => {
                for i in 0..count {
                    to.add(i).write(from.offset(i as isize * step).read());
                }
            }
        }
    }
}

/// Copies elements that are `N` apart, as many as fill a register at a time.
///
/// # Safety
/// The elements can be read and written.
#[inline(always)]
unsafe fn every<T: Copy + Default, const N: usize>(from: *const T, to: *mut T, count: usize) {
    let mut i = 0;
    // SAFETY: the caller guarantees `count` elements; whole groups of `N` are only read where a further element
    // follows.
    unsafe {
        while i + 16 < count {
            let read = from.add(i * N).cast::<[[T; N]; 16]>().read_unaligned();
            to.add(i).cast::<[T; 16]>().write_unaligned(read.map(|group| group[0]));
            i += 16;
        }
        while i + 4 < count {
            let read = from.add(i * N).cast::<[[T; N]; 4]>().read_unaligned();
            to.add(i).cast::<[T; 4]>().write_unaligned(read.map(|group| group[0]));
            i += 4;
        }
        while i < count {
            to.add(i).write(from.add(i * N).read());
            i += 1;
        }
    }
}

/// Rows of all channels, which are adjacent in the image.
struct Rows<'a, T> {
    copy: Copying<'a, T>,
    rows: Range<usize>,
}

impl<T: Copy + Default> Kernel for Rows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (copy, layout) = (self.copy, self.copy.layout);
        let (count, row, length) = (layout.rows.len(), layout.row(), layout.lines[2].length);
        for index in self.rows {
            let (sample, offset) = (index / count, layout.rows[index % count]);
            let to = copy.to.get().wrapping_add(sample * copy.channels * copy.plane + index % count * row);
            for (part, (inside, first)) in layout.parts.iter().enumerate() {
                let inside = if offset == ZEROS { 0..0 } else { inside.clone() };
                let to = to.wrapping_add(part * length);
                for channel in 0..copy.channels {
                    for entry in (0..inside.start).chain(inside.end..length) {
                        // SAFETY: every channel has a plane with `length` elements for this part of the row.
                        unsafe { to.add(channel * copy.plane + entry).write(T::default()) };
                    }
                }
                if inside.is_empty() {
                    continue;
                }
                let from = sample as isize * copy.from_steps[0] + offset + first;
                let from = copy.from.get().wrapping_offset(from).cast_const();
                // SAFETY: the entries inside are elements of the image, with all their channels.
                unsafe {
                    across(from, layout.step, inside.len(), copy.channels, to.add(inside.start), copy.plane);
                }
            }
        }
    }
}
