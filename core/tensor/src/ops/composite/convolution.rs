//! Convolutions with 1 to 3 dimensions, batched or not, also with `same` padding.

use super::selected;
use crate::autograd::{Expr, formulas};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, MemoryFormat, Result, Scalar, bail, ensure, format_sizes};

/// Applies `run` to an image, which may be unbatched.
fn batched(op: &str, input: &Tensor, spatial: usize, run: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let rank = input.ndim();
    ensure!(
        rank == spatial + 1 || rank == spatial + 2,
        Runtime,
        "Expected {}D (unbatched) or {}D (batched) input to {op}, but got input of size: {}",
        spatial + 1,
        spatial + 2,
        format_sizes(&input.sizes())
    );
    if rank == spatial + 2 {
        return run(input);
    }
    ops::squeeze_dim(&run(&ops::unsqueeze(input, 0)?)?, 0)
}

/// One number for each dimension, from a single number or a list.
fn each(values: &[i64], count: usize) -> DimVec {
    if values.len() == 1 { DimVec::from_elem(values[0], count) } else { values.into() }
}

/// Zero padding of the image by its mode: equal on both sides, with an odd remainder on the right.
#[allow(clippy::too_many_arguments)] // the operator's
fn padded(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<Tensor> {
    ensure!(weight.ndim() >= 3, Runtime, "weight should have at least three dimensions");
    let spatial = weight.ndim() - 2;
    let none = DimVec::from_elem(0, spatial);
    let run = |input: &Tensor, padding: &[i64]| {
        ops::convolution(input, weight, bias, stride, padding, dilation, false, &none, groups)
    };
    match padding {
        "valid" => return run(input, &none),
        "same" => {}
        _ => bail!(Runtime, "Invalid padding string: '{padding}'"),
    }
    ensure!(stride.iter().all(|&step| step == 1), Runtime, "padding='same' is not supported for strided convolutions");
    let (sizes, dilation_each) = (weight.sizes(), each(dilation, spatial));
    ensure!(
        dilation_each.len() == spatial,
        Runtime,
        "expected dilation to be a single integer value or a list of {spatial} values to match the convolution \
         dimensions, but got dilation={}",
        format_sizes(dilation)
    );
    let total: DimVec =
        (0..spatial).map(|dim| dilation_each[dim].saturating_mul((sizes[2 + dim] - 1).max(0))).collect();
    let half: DimVec = total.iter().map(|total| total / 2).collect();
    if total.iter().all(|total| total % 2 == 0) {
        return run(input, &half);
    }
    // The remaining element is added on the right.
    let rest: DimVec = total.iter().rev().flat_map(|total| [0, total % 2]).collect();
    run(&ops::constant_pad_nd(input, &rest, Scalar::Int(0))?, &half)
}

/// A convolution of complex images as three real convolutions, by Gauss's method: of the real parts, of the imaginary
/// parts, and of their sums.
fn by_parts(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    run: impl Fn(&Tensor, &Tensor, Option<&Tensor>) -> Result<Tensor>,
) -> Result<Tensor> {
    let dtype = input.dtype();
    if !dtype.is_complex() || weight.dtype() != dtype || bias.is_some_and(|bias| bias.dtype() != dtype) {
        return run(input, weight, bias);
    }
    let parts = |tensor: &Tensor| -> Result<[Tensor; 2]> { Ok([ops::real(tensor)?, ops::imag(tensor)?]) };
    let sum = |[real, imaginary]: &[Tensor; 2]| ops::add_tensor(real, imaginary, Scalar::Int(1));
    let less = |from: &Tensor, what: &Tensor| ops::sub_tensor(from, what, Scalar::Int(1));
    let (image, kernel, start) = (parts(input)?, parts(weight)?, bias.map(parts).transpose()?);
    let real = run(&image[0], &kernel[0], start.as_ref().map(|start| &start[0]))?;
    let imaginary = run(&image[1], &kernel[1], None)?;
    let both = run(&sum(&image)?, &sum(&kernel)?, start.as_ref().map(sum).transpose()?.as_ref())?;
    ops::complex(&less(&real, &imaginary)?, &less(&less(&both, &real)?, &imaginary)?)
}

/// The convolutions of one number of dimensions.
macro_rules! convolutions {
    ($spatial:literal: $plain:ident $padding:ident $transposed:ident $op:literal $transposed_op:literal) => {
        /// An image convolved with a kernel.
        pub fn $plain(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
            groups: i64,
        ) -> Result<Tensor> {
            batched($op, input, $spatial, |input| {
                by_parts(input, weight, bias, |input, weight, bias| {
                    ops::convolution(input, weight, bias, stride, padding, dilation, false, &[0; $spatial], groups)
                })
            })
        }

        /// The same, with a padding mode.
        pub fn $padding(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &str,
            dilation: &[i64],
            groups: i64,
        ) -> Result<Tensor> {
            batched($op, input, $spatial, |input| {
                by_parts(input, weight, bias, |input, weight, bias| {
                    padded(input, weight, bias, stride, padding, dilation, groups)
                })
            })
        }

        /// The transposed convolution.
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $transposed(
            input: &Tensor,
            weight: &Tensor,
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &[i64],
            output_padding: &[i64],
            groups: i64,
            dilation: &[i64],
        ) -> Result<Tensor> {
            batched($transposed_op, input, $spatial, |input| {
                by_parts(input, weight, bias, |input, weight, bias| {
                    ops::convolution(input, weight, bias, stride, padding, dilation, true, output_padding, groups)
                })
            })
        }
    };
}

convolutions!(1: conv1d conv1d_padding conv_transpose1d "conv1d" "conv_transpose1d");
convolutions!(2: conv2d conv2d_padding conv_transpose2d_input "conv2d" "conv_transpose2d");
convolutions!(3: conv3d conv3d_padding conv_transpose3d_input "conv3d" "conv_transpose3d");

/// A convolution; the last arguments are settings of other devices.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn _convolution(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
    _benchmark: bool,
    _deterministic: bool,
    _cudnn_enabled: bool,
    _allow_tf32: bool,
) -> Result<Tensor> {
    by_parts(input, weight, bias, |input, weight, bias| {
        ops::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
    })
}

/// The same without the newest setting.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn _convolution_deprecated(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
) -> Result<Tensor> {
    _convolution(
        input,
        weight,
        bias,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        benchmark,
        deterministic,
        cudnn_enabled,
        true,
    )
}

/// A convolution with a padding mode.
pub fn convolution_mode(
    input: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &str,
    dilation: &[i64],
    groups: i64,
) -> Result<Tensor> {
    by_parts(input, weight, bias, |input, weight, bias| padded(input, weight, bias, stride, padding, dilation, groups))
}

/// The gradients of `convolution` with respect to input, weight and bias: those that `output_mask` selects, the others
/// empty.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn convolution_backward(
    grad_output: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    _bias_sizes: Option<&[i64]>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    _output_padding: &[i64],
    groups: i64,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor, Tensor)> {
    let [by_input, by_weight, by_bias] = super::output_mask("convolution_backward", output_mask)?;
    let of = formulas::convolution(stride, padding, dilation, transposed, groups);
    let (grad, options) = (Expr::from(grad_output), grad_output.options());
    Ok((
        selected(by_input, options, || of.input(&grad, &Expr::from(weight), &input.sizes()))?,
        selected(by_weight, options, || of.weight(&grad, &Expr::from(input), &weight.sizes()))?,
        selected(by_bias, options, || of.bias(&grad))?,
    ))
}

/// One size of the kernel for each dimension.
fn kernel_sizes(kernel_size: &[i64], spatial: usize) -> Result<DimVec> {
    let sizes = each(kernel_size, spatial);
    let count = sizes.len();
    ensure!(count == spatial, Runtime, "It is expected kernel_size equals to {spatial}, but got size {count}");
    Ok(sizes)
}

/// Checks the weight of operators that have `kernel_size` as an argument.
fn check_kernel(weight: &Tensor, kernel_size: &[i64], spatial: usize) -> Result<()> {
    let (sizes, kernel_size) = (weight.sizes(), kernel_sizes(kernel_size, spatial)?);
    let rank = spatial + 2;
    ensure!(
        sizes.len() == rank,
        Runtime,
        "weight must be {rank}D tensor but got {}D tensor dim={}",
        sizes.len(),
        sizes.len()
    );
    ensure!(
        sizes[2..] == *kernel_size,
        Runtime,
        "weight[2:] shape {} must be equal to kernel_size {}",
        format_sizes(&sizes[2..]),
        format_sizes(&kernel_size)
    );
    Ok(())
}

fn check_batched(self_: &Tensor, spatial: usize) -> Result<()> {
    let rank = spatial + 2;
    let found = format_sizes(&self_.sizes());
    ensure!(self_.ndim() == rank, Runtime, "Expected {rank}D input tensor, but got: {found}");
    Ok(())
}

/// A convolution; a matrix as weight has a flattened kernel in each row.
pub fn thnn_conv2d(
    self_: &Tensor,
    weight: &Tensor,
    kernel_size: &[i64],
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor> {
    check_batched(self_, 2)?;
    if weight.ndim() != 2 {
        check_kernel(weight, kernel_size, 2)?;
        return ops::convolution(self_, weight, bias, stride, padding, &[1; 2], false, &[0; 2], 1);
    }
    let sizes = kernel_sizes(kernel_size, 2)?;
    let weight = ops::reshape(weight, &[weight.sizes()[0], self_.sizes()[1], sizes[0], sizes[1]])?;
    ops::convolution(self_, &weight, bias, stride, padding, &[1; 2], false, &[0; 2], 1)
}

/// A convolution with a group for each part of the channels that has as many as the weight.
pub fn slow_conv3d(
    self_: &Tensor,
    weight: &Tensor,
    kernel_size: &[i64],
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor> {
    check_batched(self_, 3)?;
    check_kernel(weight, kernel_size, 3)?;
    let groups = self_.sizes()[1].checked_div(weight.sizes()[1]).unwrap_or(1).max(1);
    ops::convolution(self_, weight, bias, stride, padding, &[1; 3], false, &[0; 3], groups)
}

/// The same without defaults.
pub fn slow_conv3d_forward(
    self_: &Tensor,
    weight: &Tensor,
    kernel_size: &[i64],
    bias: Option<&Tensor>,
    stride: &[i64],
    padding: &[i64],
) -> Result<Tensor> {
    slow_conv3d(self_, weight, kernel_size, bias, stride, padding)
}

/// A convolution without groups, and a transposed one, of a number of dimensions.
macro_rules! slow_convolutions {
    ($spatial:literal: $dilated:ident $transposed:ident) => {
        /// A dilated convolution.
        pub fn $dilated(
            self_: &Tensor,
            weight: &Tensor,
            kernel_size: &[i64],
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &[i64],
            dilation: &[i64],
        ) -> Result<Tensor> {
            check_kernel(weight, kernel_size, $spatial)?;
            batched(stringify!($dilated), self_, $spatial, |image| {
                ops::convolution(image, weight, bias, stride, padding, dilation, false, &[0; $spatial], 1)
            })
        }

        /// A transposed convolution.
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $transposed(
            self_: &Tensor,
            weight: &Tensor,
            kernel_size: &[i64],
            bias: Option<&Tensor>,
            stride: &[i64],
            padding: &[i64],
            output_padding: &[i64],
            dilation: &[i64],
        ) -> Result<Tensor> {
            check_kernel(weight, kernel_size, $spatial)?;
            let result = batched(stringify!($transposed), self_, $spatial, |image| {
                ops::convolution(image, weight, bias, stride, padding, dilation, true, output_padding, 1)
            })?;
            // The two-dimensional one of PyTorch keeps the batch dimension that it adds.
            if $spatial == 2 && self_.ndim() == 3 { ops::unsqueeze(&result, 0) } else { Ok(result) }
        }
    };
}

slow_convolutions!(2: slow_conv_dilated2d slow_conv_transpose2d);
slow_convolutions!(3: slow_conv_dilated3d slow_conv_transpose3d);

/// Sequences (time, batch, channel) as images (batch, channel, time), or their weights (position, in, out) as those of
/// `conv1d` (out, in, position), and back.
const FROM_SEQUENCES: [i64; 3] = [1, 2, 0];
const TO_SEQUENCES: [i64; 3] = [2, 0, 1];
const WEIGHTS: [i64; 3] = [2, 1, 0];

/// A 1D convolution of sequences in the order time, batch, channel.
pub fn conv_tbc(self_: &Tensor, weight: &Tensor, bias: &Tensor, pad: i64) -> Result<Tensor> {
    check_sequences(self_, weight, bias)?;
    let (image, weight) = (ops::permute(self_, &FROM_SEQUENCES)?, ops::permute(weight, &WEIGHTS)?);
    let out = ops::convolution(&image, &weight, Some(bias), &[1], &[pad], &[1], false, &[0], 1)?;
    ops::contiguous(&ops::permute(&out, &TO_SEQUENCES)?, MemoryFormat::Contiguous)
}

fn check_sequences(self_: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<()> {
    ensure!(self_.ndim() == 3, Runtime, "Input must have 3 dims: time, batch, in_channel");
    ensure!(weight.ndim() == 3, Runtime, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
    ensure!(bias.ndim() == 1, Runtime, "Bias must be 1-D");
    let (sizes, weights) = (self_.sizes(), weight.sizes());
    ensure!(sizes[2] == weights[1], Runtime, "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
    ensure!(weights[2] == bias.numel(), Runtime, "Bias size must equal dim 2 in the weight tensor (output channels).");
    Ok(())
}

/// The gradients of `conv_tbc`, from the gradient `self` of its result.
pub fn conv_tbc_backward(
    self_: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    bias: &Tensor,
    pad: i64,
) -> Result<(Tensor, Tensor, Tensor)> {
    check_sequences(input, weight, bias)?;
    let (sizes, weights) = (input.sizes(), weight.sizes());
    let length = pad.checked_mul(2).and_then(|both| both.checked_add(sizes[0] - weights[0] + 1));
    let found = self_.sizes();
    ensure!(
        pad >= 0 && length.is_some_and(|length| *found == [length, sizes[1], weights[2]]),
        Runtime,
        "conv_tbc_backward: the gradient {} is not of the shape of conv_tbc of {} and {}",
        format_sizes(&found),
        format_sizes(&sizes),
        format_sizes(&weights)
    );
    let image = |tensor: &Tensor| Expr::from(tensor).permute(&FROM_SEQUENCES);
    let (grad, input, weight) = (image(self_), image(input), Expr::from(weight).permute(&WEIGHTS));
    let (ones, padding) = ([1], [pad]);
    let of = formulas::convolution(&ones, &padding, &ones, false, 1);
    let back =
        |gradient: Expr, order: &[i64]| gradient.permute(order).contiguous(MemoryFormat::Contiguous).into_tensor();
    Ok((
        back(of.input(&grad, &weight, &input.sizes()), &TO_SEQUENCES)?,
        back(of.weight(&grad, &input, &weight.sizes()), &WEIGHTS)?,
        of.bias(&grad).into_tensor()?,
    ))
}
