//! The gradient of a convolution by its weights: for each pair of channels and each element of the kernel, a sum over
//! samples and positions.
//!
//! A product for each group: rows are the channels of the gradient, columns the taps with the channels of the image
//! (`channels.rs`), in this order, since channels are adjacent. The result is then transposed to channels and taps.

use super::Walk;
use super::axis::{Axis, forward_axis};
use super::channels::{Channels, Deep};
use super::padded::spatial_steps;
use super::pieces::{self, Along, PIECES, Piece};
use super::unfolded::{count_taps, each_tap, position_step};
use crate::array::Array;
use crate::gemm::{Epilogue, Factor, Panels, across, gemm_panels};
use crate::shared::Shared;
use crate::volume::{each_planes, try_each_planes};
use rushlight_base::{DType, Result, Scalar, Scratch, ensure, list};
use std::ops::Range;

/// From this number of groups on, threads share the groups instead of the product of each.
const MANY_GROUPS: usize = 16;
/// Bytes of samples whose products are added in one go.
const TOGETHER: usize = 8 << 20;

/// A gradient by weights in progress.
#[derive(Clone, Copy)]
pub(super) struct WeightJob<'a> {
    pub out: &'a Array<'a>,
    pub grad: &'a Array<'a>,
    pub image: &'a Array<'a>,
    pub axes: &'a [Axis; 3],
    pub groups: usize,
    pub spatial: usize,
}

/// out = the gradient by the weights of `forward(grad, image, out)`.
pub fn weight_gradient(out: &Array, grad: &Array, image: &Array, walk: &Walk) -> Result<()> {
    let spatial = walk.stride.len();
    super::check(out, [grad, image], spatial)?;
    // The shape rule made it row-major.
    ensure!(out.is_contiguous(), Internal, "the gradient by weights got an output with gaps");
    if !out.is_on_host() {
        return crate::device::weight_gradient(out, grad, image, walk);
    }
    let along = |dim: usize| match (dim + spatial).checked_sub(3) {
        None => Ok(Axis::single()),
        Some(own) => forward_axis([grad, image, out].map(|array| array.size(2 + own)), walk.dims(own)),
    };
    let axes: [Axis; 3] = [along(0)?, along(1)?, along(2)?];
    if out.numel() == 0 {
        return Ok(());
    }
    if grad.numel() == 0 || image.numel() == 0 {
        // SAFETY: the output is contiguous, and zero bytes are the zero of every dtype.
        unsafe { out.start().write_bytes(0, out.numel() * out.dtype().size()) };
        return Ok(());
    }
    let job = WeightJob { out, grad, image, axes: &axes, groups: walk.groups as usize, spatial };
    if super::depthwise::weight_gradient(&job)? || super::dots::run(&job)? {
        return Ok(());
    }
    by_size!(out, T => run::<T>(&job))
}

fn run<T: Copy + Default + Send + Sync>(job: &WeightJob) -> Result<()> {
    let &WeightJob { out, grad, image, axes, groups, spatial } = job;
    let (rows, channels, dtype) = (out.size(0) / groups, out.size(1), out.dtype());
    let (taps, positions) = (count_taps(axes), axes.iter().map(|axis| axis.length).product::<usize>());
    let columns = channels * taps;
    if taps == 1 && image.stride(1) != 1 && reads_rows(image, axes, spatial) {
        return pointwise::<T>(job);
    }
    // Sums of several products would be rounded in between: only where they are stored in their own type.
    let exact = !matches!(dtype, DType::F16 | DType::BF16 | DType::C32);
    let layout = Channels::new(image, axes, spatial, groups, if exact { TOGETHER } else { usize::MAX })?;
    let turned = channels > 1 && taps > 1;
    let buffer = Scratch::new(if turned { out.numel() * size_of::<T>() } else { 0 })?;
    let start = Shared::new(if turned { buffer.start() } else { out.start() });
    let count = grad.size(0);
    for first in (0..count).step_by(layout.together) {
        let samples = first..count.min(first + layout.together);
        let view = layout.samples::<T>(image, samples.clone())?;
        let mut offsets = list::with_capacity(taps)?;
        each_tap(axes, |tap| offsets.push(layout.offset(tap.map(|(_, offset)| offset), &view.steps)));
        let depth = samples.len() * positions;
        let gradient = Gradient::new(grad, axes, spatial, samples.start);
        each_group(groups, rows * columns * depth, &|group| {
            let left = gradient.from(group * rows, size_of::<T>());
            let right = Met { view, group, channels, axes, taps: &offsets };
            // SAFETY: the weights of the groups are in the buffer or in the output, one after the other.
            unsafe { product::<T>(start, group, dtype, [rows, depth, columns], [&left, &right], first > 0) }
        })?;
    }
    if turned {
        let to = Shared::new(out.start());
        each_planes(groups * rows, columns, &|rows| {
            for row in rows {
                let [from, to] = [start, to].map(|at| at.get().cast::<T>().wrapping_add(row * columns));
                // SAFETY: the row has `columns` elements in the buffer and in the output.
                unsafe { across(from.cast_const(), channels as isize, taps, channels, to, taps) };
            }
        })?;
    }
    Ok(())
}

/// Whether a single tap meets all rows of positions of an image as they are.
fn reads_rows(image: &Array, axes: &[Axis; 3], spatial: usize) -> bool {
    let whole = |axis: &Axis| axis.step == 1 && axis.taps[0].1 == 0 && axis.inside(0) == (0, axis.length);
    axes.iter().all(whole) && (axes[2].length == 1 || spatial_steps(image, spatial)[2] == 1)
}

/// Kernels of a single element: lanes of both operands run along positions, and are transposed as they are packed.
fn pointwise<T: Copy>(job: &WeightJob) -> Result<()> {
    let &WeightJob { out, grad, image, axes, groups, spatial } = job;
    let (rows, channels, dtype) = (out.size(0) / groups, out.size(1), out.dtype());
    let depth = grad.size(0) * axes.iter().map(|axis| axis.length).product::<usize>();
    let [gradient, image] = [grad, image].map(|array| Gradient::new(array, axes, spatial, 0));
    let start = Shared::new(out.start());
    each_group(groups, rows * channels * depth, &|group| {
        let (left, right) = (gradient.from(group * rows, size_of::<T>()), image.from(group * channels, size_of::<T>()));
        // SAFETY: the weights of the groups are in the output, one after the other.
        unsafe { product::<T>(start, group, dtype, [rows, depth, channels], [&left, &right], false) }
    })
}

/// Computes the weights of a group, of these rows, k and columns, or adds to them.
///
/// # Safety
/// From `start` on there are the weights of the groups up to this one, whose own no other thread uses.
unsafe fn product<T: Copy>(
    start: Shared<u8>,
    group: usize,
    dtype: DType,
    [rows, depth, columns]: [usize; 3],
    [left, right]: [&dyn Panels<T>; 2],
    adds: bool,
) -> Result<()> {
    let at = start.get().wrapping_add(group * rows * columns * size_of::<T>());
    let (sizes, strides) = ([rows as i64, columns as i64], [columns as i64, 1]);
    // SAFETY: the caller guarantees the weights of the group, which are contiguous.
    let out = unsafe { Array::new(at, dtype, &sizes, &strides) };
    let add = adds.then_some((&out, Scalar::Int(1)));
    let epilogue = Epilogue { add, ..Epilogue::default() };
    let factors = (Factor::Panels([rows, depth], left), Factor::Panels([depth, columns], right));
    gemm_panels(dtype, &out, factors.0, factors.1, &epilogue)
}

/// Computes the product of each group, of so many multiplications: threads share the groups if there are many.
fn each_group(groups: usize, work: usize, product: &(impl Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    if groups < MANY_GROUPS {
        return (0..groups).try_for_each(product);
    }
    // The product of each is small. No result depends on which thread computes it.
    try_each_planes(groups, work, &|groups| groups.into_iter().try_for_each(product))
}

/// The gradient along samples and positions: a lane for each channel of a group.
struct Gradient<'a> {
    at: Shared<u8>,
    sample_step: isize,
    channel_step: isize,
    steps: [isize; 3],
    axes: &'a [Axis; 3],
}

impl<'a> Gradient<'a> {
    /// The samples from one on.
    fn new(grad: &Array, axes: &'a [Axis; 3], spatial: usize, sample: usize) -> Gradient<'a> {
        let (sample_step, channel_step) = (grad.stride(0), grad.stride(1));
        let offset = sample as isize * sample_step * grad.dtype().size() as isize;
        let at = Shared::new(grad.start().wrapping_offset(offset));
        Gradient { at, sample_step, channel_step, steps: spatial_steps(grad, spatial), axes }
    }

    /// The lanes from a channel on, of elements of `size` bytes.
    fn from(&self, channel: usize, size: usize) -> Gradient<'a> {
        let offset = channel as isize * self.channel_step * size as isize;
        Gradient { at: Shared::new(self.at.get().wrapping_offset(offset)), ..*self }
    }
}

impl<T: Copy> Panels<T> for Gradient<'_> {
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: *mut T, width: usize) {
        let [layers, rows, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let first = self.at.get().cast::<T>().wrapping_offset(lanes.start as isize * self.channel_step).cast_const();
        // Positions that are at even steps are copied together.
        let even = position_step(self.axes, self.steps);
        let length = if even.is_some() { layers * rows * row } else { row };
        let step = even.unwrap_or(self.steps[2]);
        let mut p = depth.start;
        while p < depth.end {
            let (run, from) = (p / length, p % length);
            let count = (length - from).min(depth.end - p);
            let (sample, line) = match even {
                Some(_) => (run, 0),
                None => (run / (layers * rows), run % (layers * rows)),
            };
            let offset = sample as isize * self.sample_step
                + (line / rows) as isize * self.steps[0]
                + (line % rows) as isize * self.steps[1]
                + from as isize * step;
            let (at, to) = (first.wrapping_offset(offset), panel.wrapping_add((p - depth.start) * width));
            // SAFETY: lanes and positions are elements of the gradient, and the panel has space for `width` lanes,
            // which are at least as many, for each of `depth`.
            unsafe {
                if step == 1 && self.channel_step != 1 {
                    across(at, self.channel_step, lanes.len(), count, to, width);
                } else {
                    for i in 0..count {
                        let (at, to) = (at.offset(i as isize * step), to.add(i * width));
                        for lane in 0..lanes.len() {
                            to.add(lane).write(at.offset(lane as isize * self.channel_step).read());
                        }
                    }
                }
            }
            p += count;
        }
    }
}

/// What taps meet of a group's channels along samples and positions: a lane for each tap and channel.
struct Met<'a> {
    view: Deep,
    group: usize,
    channels: usize,
    axes: &'a [Axis; 3],
    /// Offsets of what the taps meet at the first position.
    taps: &'a [isize],
}

/// Samples and positions along k.
struct Positions<'a> {
    axes: &'a [Axis; 3],
    sample: isize,
    steps: [isize; 3],
}

impl Along for Positions<'_> {
    #[inline(always)]
    fn each(&self, depth: Range<usize>, mut visit: impl FnMut(isize)) {
        let [layers, rows, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let (mut line, mut from, mut left) = (depth.start / row, depth.start % row, depth.len());
        while left > 0 {
            let (plane, h) = (line / rows, line % rows);
            let at = (plane / layers) as isize * self.sample
                + (plane % layers) as isize * self.steps[0]
                + h as isize * self.steps[1];
            let taken = (row - from).min(left);
            for w in from..from + taken {
                visit(at + w as isize * self.steps[2]);
            }
            (line, from, left) = (line + 1, 0, left - taken);
        }
    }

    fn furthest(&self, depth: Range<usize>) -> isize {
        let [layers, rows, row] = [0, 1, 2].map(|dim| self.axes[dim].length - 1);
        let sample = (depth.end - 1) / ((layers + 1) * (rows + 1) * (row + 1));
        sample as isize * self.sample
            + layers as isize * self.steps[0]
            + rows as isize * self.steps[1]
            + row as isize * self.steps[2]
    }
}

impl<T: Copy> Panels<T> for Met<'_> {
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: *mut T, width: usize) {
        let mut pieces = [Piece::default(); PIECES];
        let (mut count, mut lane) = (0, 0);
        while lane < lanes.len() {
            let (tap, channel) = ((lanes.start + lane) / self.channels, (lanes.start + lane) % self.channels);
            let taken = (self.channels - channel).min(lanes.len() - lane);
            let at = self.taps[tap] + channel as isize;
            count = pieces::add(&mut pieces, count, Piece { lane, count: taken, at });
            lane += taken;
        }
        let first = self.group as isize * self.view.group;
        let from = self.view.at.get().cast::<T>().wrapping_offset(first).cast_const();
        let steps = [0, 1, 2].map(|dim| self.view.steps[dim] * self.axes[dim].step);
        let along = Positions { axes: self.axes, sample: self.view.sample, steps };
        // SAFETY: the caller provides the panel. Lanes are taps and channels of the group, and `depth` counts positions
        // of the samples of the view, of which all elements can be read.
        unsafe { pieces::fill(from, self.view.limit - first, &along, depth, &pieces[..count], panel, width) }
    }
}
