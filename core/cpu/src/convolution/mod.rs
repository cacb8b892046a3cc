//! Convolutions: products of a matrix of weights with an unfolded image that never exists as a whole.
//!
//! The forward, input-gradient and transposed convolutions are one [`Correlation`]: each element of the output is a sum
//! over taps of the kernel and channels of the source. A transposed one with a stride splits into phases, each with
//! only the taps that its positions can meet (`axis.rs`). A correlation is a matrix product whose right operand is
//! filled panel by panel (`unfolded.rs`), or a direct loop if a group has a single source channel (`depthwise.rs`). The
//! weight gradient is a product along samples and positions (`weights.rs`). If PyTorch rounds tap by tap, there is one
//! product per tap (`taps.rs`).

mod axis;
mod depthwise;
mod taps;
#[cfg(test)]
mod tests;
mod unfolded;
mod weights;

use crate::array::Array;
use crate::gemm::{Activation, Epilogue, Factor, gemm_panels};
use axis::{Axis, forward_axis, phases};
use rushlight_base::{Result, Scalar, Storage, ensure};
pub use taps::transposed_by_taps;
use unfolded::{Kernels, Unfolded};
pub use weights::weight_gradient;

/// How a kernel moves over an image. Images are `(samples, channels, d...)` with one to three spatial dimensions,
/// weights `(channels of the convolved image, channels of the image of a group, d...)`.
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    /// Steps of the kernel, one for each spatial dimension.
    pub stride: &'a [i64],
    /// Zeros around the image.
    pub padding: &'a [i64],
    /// Steps between the elements of the kernel.
    pub dilation: &'a [i64],
    /// Groups of channels: each output channel depends on one group only.
    pub groups: i64,
}

impl Walk<'_> {
    fn dims(&self, dim: usize) -> [i64; 3] {
        [self.stride[dim], self.padding[dim], self.dilation[dim]]
    }
}

/// out = weight * image + bias.
pub fn forward(out: &Array, image: &Array, weight: &Array, bias: Option<&Array>, walk: &Walk) -> Result<()> {
    run(out, image, weight, bias, walk, false)
}

/// out = the transpose of [`forward`], applied to `image`, + bias. `out` has the shape of an input of `forward`.
pub fn transposed(out: &Array, image: &Array, weight: &Array, bias: Option<&Array>, walk: &Walk) -> Result<()> {
    run(out, image, weight, bias, walk, true)
}

fn run(out: &Array, image: &Array, weight: &Array, bias: Option<&Array>, walk: &Walk, transposed: bool) -> Result<()> {
    let spatial = walk.stride.len();
    check(out, [image, weight], spatial)?;
    let groups = walk.groups as usize;
    let job = Job { out, image, weight, bias, groups, spatial, transposed };
    let axes = job.axes(walk)?;
    for phase in axis::products(&axes) {
        job.phase(&phase)?;
    }
    Ok(())
}

/// Whether a convolution of these ranks and this dtype is supported. Elements are only moved here, and computed with
/// elsewhere.
fn check(out: &Array, inputs: [&Array; 2], spatial: usize) -> Result<()> {
    let alike = |array: &&Array| array.ndim() == spatial + 2 && array.dtype() == out.dtype();
    let fits = out.ndim() == spatial + 2 && inputs.iter().all(alike);
    ensure!(fits && (1..=3).contains(&spatial), Internal, "a convolution got images of other ranks or dtypes");
    dispatch!(out.dtype(), "slow_conv_cpu", integer half float complex chalf, _T => Ok(()))
}

/// A correlation in progress.
struct Job<'a> {
    out: &'a Array<'a>,
    image: &'a Array<'a>,
    weight: &'a Array<'a>,
    bias: Option<&'a Array<'a>>,
    groups: usize,
    spatial: usize,
    transposed: bool,
}

impl Job<'_> {
    /// For each spatial dimension, its phases.
    fn axes(&self, walk: &Walk) -> Result<[Vec<Axis>; 3]> {
        let skipped = 3 - self.spatial;
        let along = |dim: usize| {
            let Some(own) = dim.checked_sub(skipped) else { return Ok(vec![Axis::single()]) };
            let sizes = [self.out, self.image, self.weight].map(|array| array.size(2 + own));
            if self.transposed { phases(sizes, walk.dims(own)) } else { Ok(vec![forward_axis(sizes, walk.dims(own))?]) }
        };
        Ok([along(0)?, along(1)?, along(2)?])
    }

    /// Channels of a group: of the output, and of the image.
    fn channels(&self) -> [usize; 2] {
        [self.out.size(1) / self.groups, self.image.size(1) / self.groups]
    }

    /// The positions of the output that these axes name.
    fn phase(&self, axes: &[Axis; 3]) -> Result<()> {
        if axes.iter().any(|axis| axis.length == 0) || self.out.numel() == 0 {
            return Ok(());
        }
        let [out_channels, channels] = self.channels();
        if channels == 1 && self.groups > 1 && out_channels * self.groups >= 4 {
            return depthwise::run(
                self.out,
                self.image,
                self.weight,
                self.bias,
                self.groups,
                self.transposed,
                axes,
                self.spatial,
            );
        }
        let place = Place::of(self.out, axes, self.spatial);
        let columns: usize = axes.iter().map(|axis| axis.length).product();
        // Columns that cannot be addressed with a single step are stored in a buffer and copied.
        let buffer = match place.column_step(axes) {
            Some(_) => None,
            None => Some(Storage::allocate(out_channels * columns * self.out.dtype().size())?),
        };
        for sample in 0..self.out.size(0) {
            for group in 0..self.groups {
                self.product(axes, &place, buffer.as_ref(), sample, group)?;
            }
        }
        Ok(())
    }

    fn product(
        &self,
        axes: &[Axis; 3],
        place: &Place,
        buffer: Option<&Storage>,
        sample: usize,
        group: usize,
    ) -> Result<()> {
        let [rows, channels] = self.channels();
        let columns: usize = axes.iter().map(|axis| axis.length).product();
        let taps: usize = axes.iter().map(|axis| axis.taps.len()).product();
        let depth = channels * taps;
        let (dtype, size) = (self.out.dtype(), self.out.dtype().size() as isize);
        let offset = sample as isize * self.out.stride(0) + (group * rows) as isize * self.out.stride(1) + place.offset;
        let first = self.out.start().wrapping_offset(offset * size);
        let sizes = [rows as i64, columns as i64];
        let (at, strides) = match (buffer, place.column_step(axes)) {
            (None, Some(step)) => (first, [self.out.stride(1) as i64, step as i64]),
            (Some(buffer), _) => (buffer.data(), [columns as i64, 1]),
            (None, None) => return Ok(()),
        };
        // SAFETY: the matrix is a part of the output array, or the buffer that was allocated with these sizes.
        let out = unsafe { Array::new(at, dtype, &sizes, &strides) };
        let bias_strides = [self.bias.map_or(0, |bias| bias.stride(0) as i64), 0];
        let bias = self.bias.map(|bias| {
            let at = bias.start().wrapping_offset((group * rows) as isize * bias.stride(0) * size);
            // SAFETY: the bias has an element for each output channel, of which these are the group's, one per row.
            unsafe { Array::new(at, dtype, &sizes, &bias_strides) }
        });
        let add = bias.as_ref().map(|bias| (bias, Scalar::Int(1)));
        let epilogue = Epilogue { alpha: Scalar::Int(1), add, activation: Activation::Identity };
        let image = Unfolded::new(self.image, axes, self.spatial, sample, group * channels)?;
        let kernels = Kernels::new(
            self.weight,
            axes,
            self.spatial,
            group * if self.transposed { channels } else { rows },
            self.transposed,
        )?;
        // An operand that is a matrix in memory is not copied first.
        let (weight_strides, plain_strides);
        let (weight_sizes, plain_sizes) = ([rows as i64, depth as i64], [depth as i64, columns as i64]);
        let weight_matrix = match kernels.as_matrix(channels) {
            Some(strides) => {
                weight_strides = strides;
                // SAFETY: the rows are the group's part of the weight array, with its strides.
                Some(unsafe { Array::new(kernels.first(), dtype, &weight_sizes, &weight_strides) })
            }
            None => None,
        };
        let plain = match image.as_matrix() {
            Some(strides) => {
                plain_strides = strides;
                // SAFETY: the channels are the group's part of the image array, with its strides.
                Some(unsafe { Array::new(image.first(), dtype, &plain_sizes, &plain_strides) })
            }
            None => None,
        };
        by_size!(out, T => {
            let left = weight_matrix.as_ref().map_or(Factor::<T>::Panels([rows, depth], &kernels), Factor::Matrix);
            let right = plain.as_ref().map_or(Factor::Panels([depth, columns], &image), Factor::Matrix);
            gemm_panels(dtype, &out, left, right, &epilogue)?;
            if buffer.is_some() {
                place.spread::<T>(at.cast(), first.cast(), self.out.stride(1), rows, axes);
            }
            Ok(())
        })
    }
}

/// Positions of a phase in a plane of the output.
struct Place {
    offset: isize,
    steps: [isize; 3],
}

impl Place {
    fn of(out: &Array, axes: &[Axis; 3], spatial: usize) -> Place {
        let mut place = Place { offset: 0, steps: [0; 3] };
        for dim in 0..spatial {
            let axis = &axes[3 - spatial + dim];
            place.offset += axis.first as isize * out.stride(2 + dim);
            place.steps[3 - spatial + dim] = axis.every as isize * out.stride(2 + dim);
        }
        place
    }

    /// The step from each position to the next, if it is always the same.
    fn column_step(&self, axes: &[Axis; 3]) -> Option<isize> {
        axis::even_step([0, 1, 2].map(|dim| (axes[dim].length, self.steps[dim])))
    }

    /// Copies rows of positions to where they belong.
    fn spread<T: Copy>(&self, from: *mut T, to: *mut T, channel_step: isize, rows: usize, axes: &[Axis; 3]) {
        let [depth, height, width] = [0, 1, 2].map(|dim| axes[dim].length);
        let mut from = from.cast_const();
        for row in 0..rows {
            for d in 0..depth {
                for h in 0..height {
                    let at = row as isize * channel_step + d as isize * self.steps[0] + h as isize * self.steps[1];
                    for w in 0..width {
                        // SAFETY: the position was checked to be inside the output, and the buffer has an element for
                        // each step of the loop.
                        unsafe {
                            to.offset(at + w as isize * self.steps[2]).write(from.read());
                            from = from.add(1);
                        }
                    }
                }
            }
        }
    }
}
