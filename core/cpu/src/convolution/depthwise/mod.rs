//! Correlations of groups with one source channel, and their weight gradients: too thin for matrix products.
//!
//! Floats are computed in vectors: along the width over padded planes (`planes.rs`, `gradient.rs`), or along the
//! channels where these are adjacent in memory and each group has one channel on both sides (`deep.rs`). Other dtypes
//! have a loop without vectors (`plain.rs`).

mod deep;
mod gradient;
mod plain;
mod planes;

use super::Job;
use super::axis::{Axis, products};
use super::unfolded::{count_taps, each_tap};
use super::weights::WeightJob;
use crate::array::Array;
use rushlight_base::{DType, Result, bf16, f16, list};

/// Runs `$body` with `$T` a float dtype; `$other` for the others.
macro_rules! floats {
    ($dtype:expr, $T:ident => $body:expr, $other:expr) => {
        match $dtype {
            DType::F32 => floats!(@type f32, $T => $body),
            DType::F64 => floats!(@type f64, $T => $body),
            DType::F16 => floats!(@type f16, $T => $body),
            DType::BF16 => floats!(@type bf16, $T => $body),
            _ => $other,
        }
    };
    (@type $type:ty, $T:ident => $body:expr) => {{
        type $T = $type;
        $body
    }};
}

/// Computes a correlation.
pub(super) fn run(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<()> {
    let each = |run: &dyn Fn(&Job, &[Axis; 3]) -> Result<()>| {
        let mut phases = products(axes).filter(|phase| phase.iter().all(|axis| axis.length > 0));
        phases.try_for_each(|phase| run(job, &phase))
    };
    let [rows, _] = job.channels();
    let deep = rows == 1 && job.image.stride(1) == 1 && job.out.stride(1) == 1;
    floats!(job.out.dtype(), T => {
        match deep {
            true => each(&deep::run::<T>),
            false => planes::run::<T>(job, axes),
        }
    }, each(&plain::run))
}

/// Computes the gradient by the weights of a correlation, if it has a float dtype and groups with one source channel.
pub(super) fn weight_gradient(job: &WeightJob) -> Result<bool> {
    let &WeightJob { out, grad, image, groups, .. } = job;
    if out.size(1) != 1 || groups == 1 {
        return Ok(false);
    }
    let deep = out.size(0) == groups && image.stride(1) == 1 && grad.stride(1) == 1;
    floats!(out.dtype(), T => {
        if deep {
            deep::weight_gradient::<T>(job)?;
        } else {
            gradient::run::<T>(job)?;
        }
        Ok(true)
    }, Ok(false))
}

/// Offsets of the elements of a kernel that the taps meet.
fn kernel_offsets(weight: &Array, axes: &[Axis; 3], spatial: usize) -> Result<Vec<isize>> {
    let mut offsets = list::with_capacity(count_taps(axes))?;
    each_tap(axes, |tap| {
        let own = |dim: usize| tap[3 - spatial + dim].0 as isize * weight.stride(2 + dim);
        offsets.push((0..spatial).map(own).sum());
    });
    Ok(offsets)
}
