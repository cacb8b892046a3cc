//! Rules of pooling. The kernels build their windows from `Pool` as well.

use super::spatial::{Spatial, check_image, crossed, each, formatted, with_spatial};
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result, bail, ensure, format_sizes};
use rushlight_cpu::pooling::{Windows, adaptive, no_dimension, sliding};

/// Windows of a kernel that slides over an image.
#[derive(Debug)]
pub(crate) struct Pool {
    kernel: Spatial,
    stride: Spatial,
    padding: Spatial,
    dilation: Spatial,
    /// Sizes of the spatial dimensions of the output.
    pub output: Spatial,
}

impl Pool {
    /// Checks the arguments. An empty stride is the size of the kernel.
    #[allow(clippy::too_many_arguments)] // the operator's
    pub fn new(
        op: &str,
        input: &Dense,
        spatial: usize,
        kernel: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        ceil_mode: bool,
    ) -> Result<Pool> {
        let kernel = each(op, "kernel_size", kernel, spatial)?;
        let stride = if stride.is_empty() { kernel.clone() } else { each(op, "stride", stride, spatial)? };
        let (padding, dilation) = (each(op, "padding", padding, spatial)?, each(op, "dilation", dilation, spatial)?);
        let positive = |what: &str, values: &[i64]| -> Result<()> {
            let fits = values.iter().all(|&value| value > 0);
            ensure!(fits, Runtime, "{op}: {what} should be greater than zero, but got {}", format_sizes(values));
            Ok(())
        };
        positive("kernel size", &kernel)?;
        positive("stride", &stride)?;
        positive("dilation", &dilation)?;
        check_image(op, input, spatial)?;
        let sizes = &input.sizes()[input.ndim() - spatial..];
        let mut output = Spatial::new();
        for dim in 0..spatial {
            let reach = dilation[dim].saturating_mul(kernel[dim] - 1);
            ensure!(padding[dim] >= 0, Runtime, "pad must be non-negative, but got pad: {}", padding[dim]);
            ensure!(
                padding[dim] <= (reach.saturating_add(1)) / 2,
                Runtime,
                "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}",
                padding[dim],
                kernel[dim],
                dilation[dim]
            );
            output.push(pooled_size(sizes[dim], reach, padding[dim], stride[dim], ceil_mode));
        }
        let lead = &input.sizes()[input.ndim() - spatial - 1..];
        ensure!(
            output.iter().all(|&size| size > 0),
            Runtime,
            "Given input size: ({}). Calculated output size: ({}x{}). Output size is too small",
            crossed(lead),
            lead[0],
            crossed(&output)
        );
        Ok(Pool { kernel, stride, padding, dilation, output })
    }

    /// The windows over an image of these sizes.
    pub fn windows(&self, input: &[i64], count_padding: bool) -> Result<Windows> {
        let spatial = self.kernel.len();
        let mut windows = [no_dimension(), no_dimension(), no_dimension()];
        for dim in 0..spatial {
            let walk = [self.kernel[dim], self.stride[dim], self.padding[dim], self.dilation[dim]];
            let (length, input) = (self.output[dim] as usize, input[input.len() - spatial + dim] as usize);
            windows[3 - spatial + dim] = sliding(length, input, walk.map(|value| value as usize), count_padding)?;
        }
        Ok(Windows::Same(windows))
    }

    /// The output over `input`.
    pub fn spec(&self, input: &Dense) -> Result<Spec> {
        formatted(&with_spatial(input.sizes(), &self.output), input.dtype, &[input])
    }
}

/// Number of positions of a window that covers `reach + 1` elements.
fn pooled_size(input: i64, reach: i64, padding: i64, stride: i64, ceil_mode: bool) -> i64 {
    let extent = input.saturating_add(2 * padding).saturating_sub(reach).saturating_sub(1);
    let size = (extent.saturating_add(if ceil_mode { stride - 1 } else { 0 })).div_euclid(stride) + 1;
    // The last window must begin within the input or its left padding.
    let beyond = ceil_mode && (size - 1).saturating_mul(stride) >= input.saturating_add(padding);
    if beyond { size - 1 } else { size }
}

/// The gradient of pooling has the shape of the input; `grad` that of the output.
fn backward(op: &str, grad: &Dense, input: &Dense, output: &[i64]) -> Result<Spec> {
    let wanted = with_spatial(input.sizes(), output);
    ensure!(
        grad.sizes() == &*wanted && grad.dtype == input.dtype,
        Runtime,
        "{op}: expected grad_output of shape {} and dtype {}, but got {}",
        format_sizes(&wanted),
        input.dtype,
        grad.describe()
    );
    formatted(input.sizes(), input.dtype, &[input])
}

fn with_indices(values: Spec) -> [Spec; 2] {
    let indices = Spec { dtype: DType::I64, ..values.clone() };
    [values, indices]
}

/// The windows of adaptive pooling.
pub(crate) fn adaptive_windows(input: &[i64], output: &[i64]) -> Result<Windows> {
    let spatial = output.len();
    let mut windows = [no_dimension(), no_dimension(), no_dimension()];
    for dim in 0..spatial {
        windows[3 - spatial + dim] = adaptive(output[dim] as usize, input[input.len() - spatial + dim] as usize)?;
    }
    Ok(Windows::Same(windows))
}

fn adaptive_spec(op: &str, input: &Dense, output_size: &[i64], spatial: usize) -> Result<Spec> {
    let output = each(op, "output_size", output_size, spatial)?;
    ensure!(
        output.iter().all(|&size| size >= 0),
        Runtime,
        "{op}: elements of output_size must be greater than or equal to 0 but received {}",
        format_sizes(&output)
    );
    check_adaptive(op, "input", input, spatial)?;
    formatted(&with_spatial(input.sizes(), &output), input.dtype, &[input])
}

/// The image that adaptive windows divide, or their gradient: only the first dimension may be empty, and the channels of
/// `adaptive_avg_pool2d`.
fn check_adaptive(op: &str, name: &str, tensor: &Dense, spatial: usize) -> Result<()> {
    let (op, sizes) = (op.trim_start_matches('_'), tensor.sizes());
    ensure!(
        sizes.len() == spatial + 1 || sizes.len() == spatial + 2,
        Runtime,
        "{op}(): Expected {}D or {}D tensor, but got{} {}",
        spatial + 1,
        spatial + 2,
        if op.contains("avg") { "" } else { ":" },
        format_sizes(sizes)
    );
    let first = if op == "adaptive_avg_pool2d" { sizes.len() - spatial } else { 1 };
    if let Some(empty) = (first..sizes.len()).find(|&dim| sizes[dim] == 0) {
        bail!(
            Runtime,
            "{op}(): Expected {name} to have non-zero size for non-batch dimensions, but {name} has sizes {} with \
             dimension {empty} being empty",
            format_sizes(sizes)
        );
    }
    Ok(())
}

/// The spatial sizes of an image.
pub(crate) fn spatial_sizes(dense: &Dense, spatial: usize) -> &[i64] {
    &dense.sizes()[dense.ndim().saturating_sub(spatial)..]
}

fn fractional(
    op: &str,
    input: &Dense,
    kernel_size: &[i64],
    output_size: &[i64],
    samples: &Dense,
    spatial: usize,
) -> Result<[Spec; 2]> {
    let (kernel, output) =
        (each(op, "kernel_size", kernel_size, spatial)?, each(op, "output_size", output_size, spatial)?);
    check_image(op, input, spatial)?;
    let sizes = spatial_sizes(input, spatial);
    for dim in 0..spatial {
        let fits = kernel[dim] > 0 && output[dim] > 0 && output[dim].saturating_add(kernel[dim] - 1) <= sizes[dim];
        ensure!(
            fits,
            Runtime,
            "{op}: pool size {} with output size {} is too large for input size {}",
            kernel[dim],
            output[dim],
            sizes[dim]
        );
    }
    let batched = input.ndim() == spatial + 2;
    let (batch, channels) = (if batched { input.sizes()[0] } else { 1 }, input.sizes()[input.ndim() - spatial - 1]);
    ensure!(samples.dtype == input.dtype, Runtime, "Expect _random_samples to have the same dtype as input");
    let enough = samples.ndim() == 3
        && samples.sizes()[0] >= batch
        && samples.sizes()[1] == channels
        && samples.sizes()[2] == spatial as i64;
    ensure!(
        enough,
        Runtime,
        "Expect _random_samples to be of shape [{batch}, {channels}, {spatial}], but got {}",
        format_sizes(samples.sizes())
    );
    Ok(with_indices(formatted(&with_spatial(input.sizes(), &output), input.dtype, &[input])?))
}

fn indexed_backward(op: &str, grad: &Dense, input: &Dense, indices: &Dense, spatial: usize) -> Result<Spec> {
    check_image(op, input, spatial)?;
    with_indices_of(op, grad, input, indices, spatial)
}

/// The gradient of maxima whose indices are known.
fn with_indices_of(op: &str, grad: &Dense, input: &Dense, indices: &Dense, spatial: usize) -> Result<Spec> {
    ensure!(
        grad.sizes() == indices.sizes() && indices.dtype == DType::I64 && grad.ndim() == input.ndim(),
        Runtime,
        "{op}: expected grad_output {} and int64 indices {} to have one shape, of the rank of the input {}",
        grad.describe(),
        indices.describe(),
        input.describe()
    );
    backward(op, grad, input, spatial_sizes(grad, spatial))
}

/// The rules of one number of spatial dimensions.
macro_rules! rules {
    ($spatial:literal: $max:ident $max_values:ident $max_back:ident $mean:ident $mean_back:ident $adaptive_mean:ident $adaptive_mean_back:ident
     $adaptive_max:ident $adaptive_max_back:ident $fractional:ident $fractional_back:ident) => {
        /// The maxima, and their indices.
        pub fn $max(
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<[Spec; 2]> {
            let op = stringify!($max);
            let pool = Pool::new(op, self_, $spatial, kernel, stride, padding, dilation, ceil_mode)?;
            Ok(with_indices(pool.spec(self_)?))
        }

        /// The maxima.
        pub fn $max_values(
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
        ) -> Result<Spec> {
            let op = stringify!($max);
            Pool::new(op, self_, $spatial, kernel, stride, padding, dilation, ceil_mode)?.spec(self_)
        }

        /// As the input.
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $max_back(
            grad: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            ceil_mode: bool,
            indices: &Dense,
        ) -> Result<Spec> {
            let op = stringify!($max_back);
            let pool = Pool::new(op, self_, $spatial, kernel, stride, padding, dilation, ceil_mode)?;
            backward(op, grad, self_, &pool.output)?;
            indexed_backward(op, grad, self_, indices, $spatial)
        }

        /// The means of windows.
        pub fn $mean(
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            _count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Spec> {
            ensure!(divisor_override != Some(0), Runtime, "divisor must be not zero");
            Pool::new(stringify!($mean), self_, $spatial, kernel, stride, padding, &[1], ceil_mode)?.spec(self_)
        }

        /// As the input.
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $mean_back(
            grad: &Dense,
            self_: &Dense,
            kernel: &[i64],
            stride: &[i64],
            padding: &[i64],
            ceil_mode: bool,
            _count_include_pad: bool,
            divisor_override: Option<i64>,
        ) -> Result<Spec> {
            ensure!(divisor_override != Some(0), Runtime, "divisor must be not zero");
            let op = stringify!($mean_back);
            let pool = Pool::new(op, self_, $spatial, kernel, stride, padding, &[1], ceil_mode)?;
            backward(op, grad, self_, &pool.output)
        }

        /// Means of windows that divide the input evenly.
        pub fn $adaptive_mean(self_: &Dense, output_size: &[i64]) -> Result<Spec> {
            let (op, dtype) = (stringify!($adaptive_mean), self_.dtype);
            ensure!(dtype.is_floating(), Runtime, "\"{op}\" not implemented for '{}'", dtype.c10_name());
            adaptive_spec(op, self_, output_size, $spatial)
        }

        /// As the input.
        pub fn $adaptive_mean_back(grad: &Dense, self_: &Dense) -> Result<Spec> {
            let op = stringify!($adaptive_mean_back);
            check_adaptive(op, "grad_output", grad, $spatial)?;
            check_adaptive(op, "input", self_, $spatial)?;
            ensure!(
                grad.ndim() == self_.ndim(),
                Runtime,
                "{op}: expected grad_output of the input's rank, but got {}",
                grad.describe()
            );
            backward(op, grad, self_, spatial_sizes(grad, $spatial))
        }

        /// The maxima of adaptive windows, and their indices.
        pub fn $adaptive_max(self_: &Dense, output_size: &[i64]) -> Result<[Spec; 2]> {
            Ok(with_indices(adaptive_spec(stringify!($adaptive_max), self_, output_size, $spatial)?))
        }

        /// As the input.
        pub fn $adaptive_max_back(grad: &Dense, self_: &Dense, indices: &Dense) -> Result<Spec> {
            let op = stringify!($adaptive_max_back);
            check_adaptive(op, "grad_output", grad, $spatial)?;
            check_adaptive(op, "input", self_, $spatial)?;
            with_indices_of(op, grad, self_, indices, $spatial)
        }

        /// The maxima of windows at random positions.
        pub fn $fractional(
            self_: &Dense,
            kernel_size: &[i64],
            output_size: &[i64],
            random_samples: &Dense,
        ) -> Result<[Spec; 2]> {
            fractional(stringify!($fractional), self_, kernel_size, output_size, random_samples, $spatial)
        }

        /// As the input.
        pub fn $fractional_back(
            grad: &Dense,
            self_: &Dense,
            _kernel_size: &[i64],
            _output_size: &[i64],
            indices: &Dense,
        ) -> Result<Spec> {
            indexed_backward(stringify!($fractional_back), grad, self_, indices, $spatial)
        }
    };
}

rules!(2: max_pool2d_with_indices max_pool2d_values max_pool2d_with_indices_backward avg_pool2d avg_pool2d_backward adaptive_avg_pool2d
    adaptive_avg_pool2d_backward adaptive_max_pool2d adaptive_max_pool2d_backward fractional_max_pool2d fractional_max_pool2d_backward);
rules!(3: max_pool3d_with_indices max_pool3d_values max_pool3d_with_indices_backward avg_pool3d avg_pool3d_backward adaptive_avg_pool3d
    adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward fractional_max_pool3d fractional_max_pool3d_backward);
