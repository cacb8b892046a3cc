//! Kernels of pooling.

use super::access::array;
use super::reduce::mean_dim;
use super::rules::pooling::{Pool, adaptive_windows, spatial_sizes};
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result};
use rushlight_cpu::pooling::{self, Windows};

/// The windows of a maximum whose gradient is computed on a device. On the host the indices are enough.
fn for_devices(out: &Dense, windows: impl FnOnce() -> Result<Windows>) -> Result<Option<Windows>> {
    if out.is_on_host() { Ok(None) } else { windows().map(Some) }
}

/// out, indices = the largest elements of windows
fn largest(out: &Dense, indices: Option<&Dense>, self_: &Dense, pool: &Pool, spatial: usize) -> Result<()> {
    let windows = pool.windows(self_.sizes(), false)?;
    pooling::max(&array(out), indices.map(array).as_ref(), &array(self_), &windows, spatial)
}

/// Indices that nobody wants: the kernels of devices write them.
fn indices_of_devices(out: &Dense) -> Result<Option<Dense>> {
    if out.is_on_host() {
        return Ok(None);
    }
    Spec::new(out.sizes(), DType::I64, out.device).with_strides(out.strides().into()).allocate().map(Some)
}

/// The kernels of one number of spatial dimensions.
macro_rules! kernels {
    ($spatial:literal: $max:ident $max_values:ident $max_back:ident $mean:ident $mean_back:ident $adaptive_mean:ident $adaptive_mean_back:ident
     $adaptive_max:ident $adaptive_max_back:ident $fractional:ident $fractional_back:ident) => {
        /// out, indices = the largest elements of windows
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $max(
            out: &Dense,
            indices: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<()> {
            let pool = Pool::new(stringify!($max), self_, $spatial, kernel, stride, padding, dilation, ceil_mode)?;
            largest(out, Some(indices), self_, &pool, $spatial)
        }

        /// out = the largest elements of windows
        pub fn $max_values(
            out: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<()> {
            let pool = Pool::new(stringify!($max), self_, $spatial, kernel, stride, padding, dilation, ceil_mode)?;
            largest(out, indices_of_devices(out)?.as_ref(), self_, &pool, $spatial)
        }

        /// out = grad at indices
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $max_back(
            out: &Dense,
            grad: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            indices: &Dense,
        ) -> Result<()> {
            let windows = for_devices(out, || {
                let op = stringify!($max_back);
                let pool = Pool::new(op, self_, $spatial, kernel, stride, padding, dilation, ceil_mode)?;
                pool.windows(self_.sizes(), false)
            })?;
            pooling::max_backward(&array(out), &array(grad), &array(indices), windows.as_ref(), $spatial)
        }

        /// out = the means of windows
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $mean(
            out: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<()> {
            let op = stringify!($mean);
            let pool = Pool::new(op, self_, $spatial, kernel, stride, padding, &[1], ceil_mode)?;
            let windows = pool.windows(self_.sizes(), count_include_pad)?;
            pooling::mean(&array(out), &array(self_), &windows, divisor_override, $spatial)
        }

        /// out = the gradient distributed over the windows
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $mean_back(
            out: &Dense,
            grad: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<()> {
            let op = stringify!($mean_back);
            let pool = Pool::new(op, self_, $spatial, kernel, stride, padding, &[1], ceil_mode)?;
            let windows = pool.windows(self_.sizes(), count_include_pad)?;
            pooling::mean_backward(&array(out), &array(grad), &windows, divisor_override, $spatial)
        }

        /// out = the means of windows that divide the input evenly
        pub fn $adaptive_mean(out: &Dense, self_: &Dense, _output_size: &[i64]) -> Result<()> {
            let spatial = spatial_sizes(out, $spatial);
            if spatial.iter().all(|&size| size == 1) && self_.dtype.is_floating() && self_.numel() > 0 {
                // A mean of all elements of a plane.
                return mean_dim(out, self_, Some(&[-1, -2, -3][..$spatial]), true, None);
            }
            let windows = adaptive_windows(self_.sizes(), spatial)?;
            match $spatial {
                3 => pooling::mean_of_volumes(&array(out), &array(self_), &windows),
                _ => pooling::mean(&array(out), &array(self_), &windows, None, $spatial),
            }
        }

        /// out = the gradient distributed over the windows
        pub fn $adaptive_mean_back(out: &Dense, grad: &Dense, self_: &Dense) -> Result<()> {
            let windows = adaptive_windows(self_.sizes(), spatial_sizes(grad, $spatial))?;
            pooling::mean_backward(&array(out), &array(grad), &windows, None, $spatial)
        }

        /// out, indices = the largest elements of windows that divide the input evenly
        pub fn $adaptive_max(out: &Dense, indices: &Dense, self_: &Dense, _output_size: &[i64]) -> Result<()> {
            let windows = adaptive_windows(self_.sizes(), spatial_sizes(out, $spatial))?;
            pooling::max(&array(out), Some(&array(indices)), &array(self_), &windows, $spatial)
        }

        /// out = grad at indices
        pub fn $adaptive_max_back(out: &Dense, grad: &Dense, self_: &Dense, indices: &Dense) -> Result<()> {
            let windows = for_devices(out, || adaptive_windows(self_.sizes(), spatial_sizes(grad, $spatial)))?;
            pooling::max_backward(&array(out), &array(grad), &array(indices), windows.as_ref(), $spatial)
        }

        /// out, indices = the maxima of windows at positions determined by the samples
        pub fn $fractional(
            out: &Dense,
            indices: &Dense,
            self_: &Dense,
            kernel_size: &[i64],
            _output_size: &[i64],
            random_samples: &Dense,
        ) -> Result<()> {
            let kernel = super::rules::spatial::each(stringify!($fractional), "kernel_size", kernel_size, $spatial)?;
            pooling::fractional_max(&array(out), &array(indices), &array(self_), &array(random_samples), &kernel)
        }

        /// out = grad at indices
        pub fn $fractional_back(
            out: &Dense,
            grad: &Dense,
            _self: &Dense,
            _kernel_size: &[i64],
            _output_size: &[i64],
            indices: &Dense,
        ) -> Result<()> {
            pooling::max_backward(&array(out), &array(grad), &array(indices), None, $spatial)
        }
    };
}

kernels!(2: max_pool2d_with_indices max_pool2d_values max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward adaptive_avg_pool2d
    adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward fractional_max_pool2d fractional_max_pool2d_backward);
kernels!(3: max_pool3d_with_indices max_pool3d_values max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward adaptive_avg_pool3d
    adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward fractional_max_pool3d fractional_max_pool3d_backward);
