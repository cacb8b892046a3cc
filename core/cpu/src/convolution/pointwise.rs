//! Kernels of a single element over images whose positions, of all samples, are the rows of a matrix: channels last.

use super::Job;
use super::axis::{Axis, even_step};
use crate::array::Array;
use crate::gemm::{Epilogue, PackedB, gemm_packed, gemm_with};
use rushlight_base::{Result, Scalar};

/// Computes the correlation, if it is such a product.
pub(super) fn run(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<bool> {
    let single = |phases: &Vec<Axis>| match &phases[..] {
        [axis] => axis.taps[..] == [(0, 0)] && axis.step == 1 && axis.every == 1 && axis.inside(0) == (0, axis.length),
        _ => false,
    };
    let adjacent = job.image.stride(1) == 1 && job.out.stride(1) == 1;
    if !(adjacent && axes.iter().all(single)) {
        return Ok(false);
    }
    let [Some(from), Some(to)] = [job.image, job.out].map(|array| all_positions(array, job.spatial)) else {
        return Ok(false);
    };
    let [rows, channels] = job.channels();
    let (dtype, size) = (job.out.dtype(), job.out.dtype().size() as isize);
    let positions = (job.out.numel() / job.out.size(1)) as i64;
    let [row_step, channel_step] = match job.transposed {
        true => [job.weight.stride(1), job.weight.stride(0)],
        false => [job.weight.stride(0), job.weight.stride(1)],
    };
    for group in 0..job.groups {
        let at = |array: &Array, offset: isize| array.start().wrapping_offset(offset * size);
        let first = group * if job.transposed { channels } else { rows };
        let sizes = [[positions, rows as i64], [positions, channels as i64], [channels as i64, rows as i64]];
        let strides = [[to as i64, 1], [from as i64, 1], [channel_step as i64, row_step as i64]];
        // SAFETY: the matrices are the group's channels of all positions, and its weights, with their strides; the bias
        // has an element for each of its channels.
        let (out, image, weight) = unsafe {
            (
                Array::new(at(job.out, (group * rows) as isize), dtype, &sizes[0], &strides[0]),
                Array::new(at(job.image, (group * channels) as isize), dtype, &sizes[1], &strides[1]),
                Array::new(at(job.weight, first as isize * job.weight.stride(0)), dtype, &sizes[2], &strides[2]),
            )
        };
        let bias_strides = [0, job.bias.map_or(0, |bias| bias.stride(0) as i64)];
        let bias = job.bias.map(|bias| {
            let at = at(bias, (group * rows) as isize * bias.stride(0));
            // SAFETY: the bias has an element for each output channel, of which these are the group's.
            unsafe { Array::new(at, dtype, &sizes[0], &bias_strides) }
        });
        let add = bias.as_ref().map(|bias| (bias, Scalar::Int(1)));
        let after = job.finishing.map(|finishing| finishing.after([to, 1]));
        let epilogue = Epilogue { add, after, ..Epilogue::default() };
        match job.packed {
            Some(packed) => gemm_packed(&out, &image, &*packed.columns(group, || PackedB::new(&weight))?, &epilogue)?,
            None => gemm_with(&out, &image, &weight, &epilogue)?,
        }
    }
    Ok(true)
}

/// The step between the positions of all samples, if it is the same everywhere.
fn all_positions(array: &Array, spatial: usize) -> Option<isize> {
    let mut dims = [(1, 0); 3];
    for dim in 0..spatial {
        dims[3 - spatial + dim] = (array.size(2 + dim), array.stride(2 + dim));
    }
    let step = even_step(dims)?;
    let count: usize = dims.iter().map(|dim| dim.0).product();
    match (count, array.size(0)) {
        (_, 1) => Some(if count == 1 { array.size(1) as isize } else { step }),
        (1, _) => Some(array.stride(0)),
        _ => (array.stride(0) == step * count as isize).then_some(step),
    }
}
