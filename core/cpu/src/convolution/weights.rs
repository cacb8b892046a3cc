//! The gradient of a convolution by its weights: for each pair of channels and each element of the kernel, a sum over
//! samples and positions.

use super::Walk;
use super::axis::{Axis, forward_axis};
use crate::array::Array;
use crate::gemm::{Epilogue, Factor, Panels, gemm_panels};
use crate::shared::Shared;
use crate::volume::each_planes;
use rushlight_base::{Error, Result, ensure};
use std::ops::Range;
use std::sync::OnceLock;

/// From this number of groups on, threads share the groups instead of the product of each.
const MANY_GROUPS: usize = 16;

/// out = the gradient by the weights of `forward(grad, image, out)`.
pub fn weight_gradient(out: &Array, grad: &Array, image: &Array, walk: &Walk) -> Result<()> {
    let spatial = walk.stride.len();
    super::check(out, [grad, image], spatial)?;
    let groups = walk.groups as usize;
    let (rows, channels) = (out.size(0) / groups, out.size(1));
    let along = |dim: usize| match (dim + spatial).checked_sub(3) {
        None => Ok(Axis::single()),
        Some(own) => forward_axis([grad, image, out].map(|array| array.size(2 + own)), walk.dims(own)),
    };
    let axes: [Axis; 3] = [along(0)?, along(1)?, along(2)?];
    let kernel = [0, 1, 2].map(|dim| axes[dim].taps.len());
    let (taps, positions) = (kernel.iter().product::<usize>(), axes.iter().map(|axis| axis.length).product::<usize>());
    let (columns, depth) = (channels * taps, grad.size(0) * positions);
    let sizes = [rows as i64, columns as i64];
    // The shape rule made it row-major.
    let strides = [columns as i64, 1];
    ensure!(out.is_contiguous(), Internal, "the gradient by weights got an output with gaps");
    let (left, right) = (Sampled::new(grad, spatial, &axes, true), Sampled::new(image, spatial, &axes, false));
    let (start, dtype) = (Shared::new(out.start()), out.dtype());
    let product = |group: usize| -> Result<()> {
        let at = start.get().wrapping_add(group * rows * columns * dtype.size());
        // SAFETY: the group's weights are a contiguous part of the output.
        let out = unsafe { Array::new(at, dtype, &sizes, &strides) };
        let (left, right) = (left.of(group * rows), right.of(group * channels));
        by_size!(out, T => {
            let factors = (Factor::<T>::Panels([rows, depth], &left), Factor::Panels([depth, columns], &right));
            gemm_panels(dtype, &out, factors.0, factors.1, &Epilogue::default())
        })
    };
    if groups < MANY_GROUPS {
        return (0..groups).try_for_each(product);
    }
    // The product of each is small. No result depends on which thread computes it.
    let failed: OnceLock<Error> = OnceLock::new();
    each_planes(groups, rows * columns * depth, &|groups| {
        for group in groups {
            if let Err(error) = product(group) {
                // The first error is reported.
                let _ = failed.set(error);
                return;
            }
        }
    })?;
    failed.into_inner().map_or(Ok(()), Err)
}

/// An image along samples and positions of the output: a lane for each channel, or for each channel and tap.
struct Sampled<'a> {
    at: Shared<u8>,
    /// Bytes of an element.
    size: usize,
    sample_step: isize,
    channel_step: isize,
    steps: [isize; 3],
    axes: &'a [Axis; 3],
    /// Whether this is the gradient, in which a position is met once.
    plain: bool,
}

impl<'a> Sampled<'a> {
    fn new(image: &Array<'a>, spatial: usize, axes: &'a [Axis; 3], plain: bool) -> Sampled<'a> {
        let mut steps = [0; 3];
        for dim in 0..spatial {
            steps[3 - spatial + dim] = image.stride(2 + dim);
        }
        let (sample_step, channel_step, size) = (image.stride(0), image.stride(1), image.dtype().size());
        Sampled { at: Shared::new(image.start()), size, sample_step, channel_step, steps, axes, plain }
    }

    /// The lanes from a channel on.
    fn of(&self, channel: usize) -> Sampled<'a> {
        let offset = channel as isize * self.channel_step * self.size as isize;
        Sampled { at: Shared::new(self.at.get().wrapping_offset(offset)), ..*self }
    }

    /// Where position `position` of the output is met by a tap, if it is: step and offset for each dimension.
    fn lane(&self, lane: usize) -> (isize, [(isize, isize); 3]) {
        if self.plain {
            return (lane as isize * self.channel_step, [(1, 0); 3]);
        }
        let kernel = [0, 1, 2].map(|dim| self.axes[dim].taps.len());
        let taps: usize = kernel.iter().product();
        let (channel, tap) = (lane / taps, lane % taps);
        let index = [tap / (kernel[1] * kernel[2]), tap / kernel[2] % kernel[1], tap % kernel[2]];
        let met = [0, 1, 2].map(|dim| (self.axes[dim].step, self.axes[dim].taps[index[dim]].1));
        (channel as isize * self.channel_step, met)
    }
}

impl<T: Copy> Panels<T> for Sampled<'_> {
    fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: &mut [T], width: usize) {
        let source = self.at.get().cast::<T>();
        let [layers, rows, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        for (column, lane) in lanes.enumerate() {
            let (plane, met) = self.lane(lane);
            let (first, last) = if self.plain { (0, row) } else { self.axes[2].inside(met[2].1) };
            let mut p = depth.start;
            while p < depth.end {
                let (line, from) = (p / row, p % row);
                let to = row.min(from + depth.end - p);
                let (sample, d, h) = (line / (layers * rows), line / rows % layers, line % rows);
                let z = d as isize * met[0].0 + met[0].1;
                let y = h as isize * met[1].0 + met[1].1;
                let inside = self.plain
                    || (0..self.axes[0].source as isize).contains(&z) && (0..self.axes[1].source as isize).contains(&y);
                let (begin, end) = (from.max(first), to.min(last));
                if inside && begin < end {
                    let x = begin as isize * met[2].0 + met[2].1;
                    let at = sample as isize * self.sample_step + plane;
                    let at = at + z * self.steps[0] + y * self.steps[1] + x * self.steps[2];
                    let step = met[2].0 * self.steps[2];
                    let start = (p - depth.start + begin - from) * width + column;
                    for i in 0..end - begin {
                        // SAFETY: the checks above keep the positions inside the image, which is only read.
                        panel[start + i * width] = unsafe { source.offset(at + i as isize * step).read() };
                    }
                }
                p += to - from;
            }
        }
    }
}
