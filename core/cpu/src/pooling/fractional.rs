//! Where the windows of fractional pooling begin. The kernels of devices include this file (`core/cuda/kernels`).

/// The first element of window `index` of `length` windows of `kernel` elements, at places chosen by `sample`, between 0
/// and 1. `single`: computed in `f32`, the precision of the samples.
#[inline(always)]
pub(crate) fn start(index: usize, length: usize, [input, kernel]: [usize; 2], sample: f64, single: bool) -> usize {
    let last = input - kernel;
    if index + 1 == length {
        return last;
    }
    let at = if single {
        let alpha = last as f32 / (length - 1) as f32;
        let sample = sample as f32;
        ((index as f32 + sample) * alpha) as usize - (sample * alpha) as usize
    } else {
        let alpha = last as f64 / (length - 1) as f64;
        ((index as f64 + sample) * alpha) as usize - (sample * alpha) as usize
    };
    at.min(last)
}

/// Which of the samples of a plane is that of a spatial dimension: samples go from the last dimension of two to the first,
/// of three from the first to the last.
#[inline(always)]
pub(crate) fn sample_of(dim: usize, spatial: usize) -> usize {
    if spatial == 2 { 1 - dim } else { dim }
}
