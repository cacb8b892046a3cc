//! Images: planes of one to three spatial dimensions, indexed by sample and channel.

use crate::array::Array;
use crate::shared::Shared;
use rushlight_base::runtime::{parallel_chunks, try_parallel_chunks};
use rushlight_base::{Element, Result, ensure};
use std::ops::Range;

/// Elements of work that are worth a second thread.
const GRAIN: usize = 1 << 14;

/// The memory of samples x channels x depth x height x width; missing dimensions have size 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Volume<T> {
    at: Shared<T>,
    lead: [usize; 2],
    lead_steps: [isize; 2],
    /// Sizes of the spatial dimensions.
    pub sizes: [usize; 3],
    /// Steps of the spatial dimensions, in elements.
    pub steps: [isize; 3],
}

impl<T> Volume<T> {
    /// The array's memory; its last `spatial` dimensions are the spatial ones, with at most two others before them.
    pub(crate) fn of(array: &Array, spatial: usize) -> Result<Volume<T>>
    where
        T: Element,
    {
        Volume::at(array, array.as_ptr::<T>(), spatial)
    }

    /// Like [`Volume::of`], for elements that are only moved and can have any type of their size.
    pub(crate) fn moved(array: &Array, spatial: usize) -> Result<Volume<T>> {
        ensure!(array.dtype().size() == size_of::<T>(), Internal, "a kernel got elements of another size");
        Volume::at(array, array.first_byte().cast(), spatial)
    }

    fn at(array: &Array, at: *mut T, spatial: usize) -> Result<Volume<T>> {
        let lead = array.ndim().checked_sub(spatial).filter(|&lead| lead <= 2 && spatial <= 3);
        let Some(lead) = lead else {
            rushlight_base::bail!(Internal, "a spatial kernel got {} dimensions", array.ndim());
        };
        let mut volume = Volume { at: Shared::new(at), lead: [1; 2], lead_steps: [0; 2], sizes: [1; 3], steps: [0; 3] };
        for dim in 0..lead {
            volume.lead[2 - lead + dim] = array.size(dim);
            volume.lead_steps[2 - lead + dim] = array.stride(dim);
        }
        for dim in 0..spatial {
            volume.sizes[3 - spatial + dim] = array.size(lead + dim);
            volume.steps[3 - spatial + dim] = array.stride(lead + dim);
        }
        Ok(volume)
    }

    /// Numbers of samples and of channels.
    pub(crate) fn lead(&self) -> [usize; 2] {
        self.lead
    }

    /// Step between the elements of adjacent channels.
    pub(crate) fn channel_step(&self) -> isize {
        self.lead_steps[1]
    }

    /// Samples times channels.
    pub(crate) fn planes(&self) -> usize {
        self.lead[0] * self.lead[1]
    }

    /// Elements of a plane.
    pub(crate) fn area(&self) -> usize {
        self.sizes.iter().product()
    }

    /// The first element of a plane.
    pub(crate) fn plane(&self, index: usize) -> *mut T {
        let (sample, channel) = (index / self.lead[1], index % self.lead[1]);
        self.at.get().wrapping_offset(sample as isize * self.lead_steps[0] + channel as isize * self.lead_steps[1])
    }

    /// The step from each element of a plane to the next, if it is the same for all.
    pub(crate) fn even_step(&self) -> Option<isize> {
        let ([_, height, width], [outer, middle, inner]) = (self.sizes.map(|size| size as isize), self.steps);
        let goes_on = |size: usize, step: isize, next: isize| size == 1 || step == next;
        let is_even =
            goes_on(self.sizes[1], middle, width * inner) && goes_on(self.sizes[0], outer, height * width * inner);
        is_even.then_some(inner)
    }

    /// Offset of a row relative to its plane.
    pub(crate) fn row(&self, [depth, height]: [usize; 2]) -> isize {
        depth as isize * self.steps[0] + height as isize * self.steps[1]
    }
}

/// Channels from which on vectors of channels are worthwhile.
pub(crate) const CHANNELS: usize = 8;

/// Whether the channels of a position are adjacent elements of both, and many.
pub(crate) fn has_adjacent_channels<T>(a: &Volume<T>, b: &Volume<T>) -> bool {
    a.lead[1] >= CHANNELS && [a.channel_step(), b.channel_step()] == [1; 2]
}

/// [`each_planes`] for a body that can fail; the first error is returned.
pub(crate) fn try_each_planes(
    planes: usize,
    work: usize,
    body: &(impl Fn(Range<usize>) -> Result<()> + Sync),
) -> Result<()> {
    try_parallel_chunks(planes, (GRAIN / work.max(1)).max(1), body)
}

/// Calls `body` with ranges of `planes`, on several threads if the total cost (`work` for each plane) justifies it.
pub(crate) fn each_planes(planes: usize, work: usize, body: &(impl Fn(Range<usize>) + Sync)) -> Result<()> {
    parallel_chunks(planes, (GRAIN / work.max(1)).max(1), body)
}
