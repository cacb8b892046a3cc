//! Correlations of groups with one source channel, of any dtype.

use super::super::Job;
use super::super::axis::Axis;
use crate::array::Array;
use crate::number::{Number, Wide};
use crate::volume::{Volume, try_each_planes};
use rushlight_base::Result;
use rushlight_base::list::filled;

/// Computes a phase.
pub(super) fn run(job: &Job, axes: &[Axis; 3]) -> Result<()> {
    dispatch!(job.out.dtype(), "slow_conv_cpu", integer complex chalf, T => {
        run_of::<T>(job.out, job.image, job.weight, job.bias, job.groups, job.transposed, axes, job.spatial)
    })
}

#[allow(clippy::too_many_arguments)] // those of a job
fn run_of<T: Number>(
    out: &Array,
    image: &Array,
    weight: &Array,
    bias: Option<&Array>,
    groups: usize,
    transposed: bool,
    axes: &[Axis; 3],
    spatial: usize,
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(image, spatial)?);
    let (channels, per_group) = (out.size(1), out.size(1) / groups);
    let weights = crate::shared::Shared::new(weight.as_ptr::<T>());
    let weight_steps = [weight.stride(0), weight.stride(1)];
    let biases = bias.map(|bias| (crate::shared::Shared::new(bias.as_ptr::<T>()), bias.stride(0)));
    let mut kernel_steps = [0; 3];
    for dim in 0..spatial {
        kernel_steps[3 - spatial + dim] = weight.stride(2 + dim);
    }
    let [depth, height, width] = [0, 1, 2].map(|dim| axes[dim].length);
    let work = depth * height * width * axes.iter().map(|axis| axis.taps.len()).product::<usize>();
    try_each_planes(to.planes(), work, &|planes| {
        let mut sums = filled(width, T::Wide::ZERO)?;
        for plane in planes {
            let (sample, channel) = (plane / channels, plane % channels);
            let (group, within) = (channel / per_group, channel % per_group);
            let (first, second) = if transposed { (group, within) } else { (channel, 0) };
            let kernel =
                weights.get().wrapping_offset(first as isize * weight_steps[0] + second as isize * weight_steps[1]);
            let source = from.plane(sample * groups + group);
            // SAFETY: the bias has an element for each output channel (shape rule), and `channel` is one.
            let start = biases
                .map_or(T::Wide::ZERO, |(at, step)| unsafe { at.get().offset(channel as isize * step).read().wide() });
            let target = to.plane(plane);
            for d in 0..depth {
                for h in 0..height {
                    sums.fill(start);
                    let mut add = |tap: [(usize, isize); 3]| {
                        let at = |dim: usize, index: usize| index as isize * axes[dim].step + tap[dim].1;
                        let (z, y) = (at(0, d), at(1, h));
                        let inside =
                            (0..axes[0].source as isize).contains(&z) && (0..axes[1].source as isize).contains(&y);
                        let (begin, end) = axes[2].inside(tap[2].1);
                        if !inside || begin >= end {
                            return;
                        }
                        let offset: isize = [0, 1, 2].map(|dim| tap[dim].0 as isize * kernel_steps[dim]).iter().sum();
                        let first = z * from.steps[0] + y * from.steps[1] + at(2, begin) * from.steps[2];
                        let step = axes[2].step * from.steps[2];
                        // SAFETY: `offset` is an element of the kernel, and the image positions were clipped to its
                        // sizes above.
                        unsafe {
                            let factor = kernel.offset(offset).read().wide();
                            let row = source.offset(first).cast_const();
                            for (i, sum) in sums[begin..end].iter_mut().enumerate() {
                                *sum = sum.add(factor.mul(row.offset(i as isize * step).read().wide()));
                            }
                        }
                    };
                    for &across in axes[0].taps.iter() {
                        for &down in axes[1].taps.iter() {
                            for &along in axes[2].taps.iter() {
                                add([across, down, along]);
                            }
                        }
                    }
                    let place =
                        |dim: usize, index: usize| (axes[dim].first + index * axes[dim].every) as isize * to.steps[dim];
                    for (w, &sum) in sums.iter().enumerate() {
                        // SAFETY: `d`, `h` and `w` are below the output's sizes, and this plane belongs to this share
                        // alone.
                        unsafe { target.offset(place(0, d) + place(1, h) + place(2, w)).write(T::narrow(sum)) };
                    }
                }
            }
        }
        Ok(())
    })
}
