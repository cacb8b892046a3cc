//! Convolutions: products of a matrix of weights with an unfolded image that never exists as a whole.
//!
//! The forward, input-gradient and transposed convolutions are one correlation: each element of the output is a sum
//! over taps of the kernel and channels of the source. A transposed one with a stride splits into phases, each with
//! only the taps that its positions can meet (`axis.rs`). The weight gradient is a product along samples and positions.
//!
//! | convolution | code path |
//! |---|---|
//! | groups with a single source channel | `depthwise/`: vectors along the width, or along adjacent channels |
//! | a kernel of a single element over images whose positions are the rows of a matrix | `pointwise.rs`: one product |
//! | 3 x 3, step 1, f32, from 784 positions of all samples (256 if the weights are packed) and 32 channels on | `winograd.rs` |
//! | up to four channels into adjacent channels | `few.rs`: rows of positions in place, by packed weights |
//! | up to four output channels of many | `shifted.rs`: one product of all taps, then sums of its rows |
//! | adjacent channels on both sides | `adjacent.rs`: rows of positions in place, by packed weights |
//! | any other | `correlation.rs`: the weights are packed once, the image is padded and sorted (`padded.rs`), and each share unfolds and multiplies some columns (`unfolded.rs`); with few rows, it reads the columns in place |
//! | weight gradient of up to four image channels | `dots.rs`: sums along rows of positions |
//! | other weight gradient | `weights.rs`: one product for each group over an image with adjacent channels (`channels.rs`) |
//! | transposed, where PyTorch rounds tap by tap | `taps.rs`: one product per tap |
//!
//! Measured on an AMD Zen 5 with one thread, relative to packing the weights for every sample and copying one element at
//! a time wherever the step is not 1: depthwise takes about 1/9 of the time forward and for the gradient of the input, 1/16
//! for that of the weights; grouped 1/2.4 and, for the weights, 1/2.9; channels last 1/1.4, 1/2.1 and 1/1.5; the weight
//! gradient of others 1/1.8. Winograd's convolutions take 0.56 to 0.66 of the time of `correlation.rs`, from 56 x 56 down
//! to 28 x 28 positions.

mod adjacent;
mod axis;
mod channels;
mod correlation;
mod depthwise;
mod dots;
mod few;
mod line;
mod packed;
mod padded;
mod pieces;
mod pointwise;
mod shifted;
mod taps;
#[cfg(test)]
mod tests;
mod unfolded;
mod weights;
mod winograd;

use crate::array::Array;
use crate::device;
use crate::finish::{Finish, Finishing};
use axis::{Axis, forward_axis, phases};
pub use few::FEW;
pub use packed::Packed;
use rushlight_base::{Result, ensure};
pub use taps::transposed_by_taps;
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
    run(out, image, weight, bias, walk, false, &Finish::default(), None)
}

/// [`forward`], followed by an addition and an activation, with weights that are packed once: all calls with `packed` have the
/// same weights and bias, and as many groups.
pub fn forward_packed(
    out: &Array,
    image: &Array,
    weight: &Array,
    bias: Option<&Array>,
    walk: &Walk,
    finish: &Finish,
    packed: &Packed,
) -> Result<()> {
    run(out, image, weight, bias, walk, false, finish, Some(packed))
}

/// out = the transpose of [`forward`], applied to `image`, + bias. `out` has the shape of an input of `forward`.
pub fn transposed(out: &Array, image: &Array, weight: &Array, bias: Option<&Array>, walk: &Walk) -> Result<()> {
    run(out, image, weight, bias, walk, true, &Finish::default(), None)
}

#[allow(clippy::too_many_arguments, reason = "those of the functions above")]
fn run(
    out: &Array,
    image: &Array,
    weight: &Array,
    bias: Option<&Array>,
    walk: &Walk,
    transposed: bool,
    finish: &Finish,
    packed: Option<&Packed>,
) -> Result<()> {
    let spatial = walk.stride.len();
    check(out, [image, weight], spatial)?;
    if out.numel() == 0 {
        return Ok(());
    }
    if !out.is_on_host() {
        return device::convolution(out, image, weight, bias, walk, transposed);
    }
    let groups = walk.groups as usize;
    let finishing = Finishing::new(finish, out)?;
    let job = Job { out, image, weight, bias, groups, spatial, transposed, finishing, packed };
    let axes = job.axes(walk)?;
    let [rows, channels] = job.channels();
    if channels == 1 && groups > 1 && rows * groups >= 4 {
        return depthwise::run(&job, &axes);
    }
    if winograd::run(&job, &axes)? {
        return Ok(());
    }
    if pointwise::run(&job, &axes)? {
        return Ok(());
    }
    if few::run(&job, &axes)? || shifted::run(&job, &axes)? || adjacent::run(&job, &axes)? {
        return Ok(());
    }
    by_size!(out, T => correlation::run::<T>(&job, &axes))
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
    /// What follows, of an output in `f32`.
    finishing: Option<Finishing>,
    /// Where weights are kept that are packed once.
    packed: Option<&'a Packed>,
}

// SAFETY: shares of the job only read the image, the weight and the bias, which outlive the call, and they write
// different positions of the output.
unsafe impl Sync for Job<'_> {}

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
}
