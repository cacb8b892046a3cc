//! Convolutions by name: of so many dimensions, with or without samples, padded to keep the size.

use crate::autograd::{Expr, formulas};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, Scalar, bail, ensure, format_sizes};

/// What `run` makes of an image, which may come without samples.
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

/// One number for each dimension, from one or as many.
fn each(values: &[i64], count: usize) -> DimVec {
    if values.len() == 1 { DimVec::from_elem(values[0], count) } else { values.into() }
}

/// Zeros around the image, as a name says; the same on both sides, and what is more on the right.
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
    // The element that is left over is added on the right.
    let rest: DimVec = total.iter().rev().flat_map(|total| [0, total % 2]).collect();
    run(&ops::constant_pad_nd(input, &rest, Scalar::Int(0))?, &half)
}

/// A convolution of complex images as three of real ones, after Gauss: of the real parts, of the imaginary ones, and of their
/// sums.
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

        /// The same, padded as a name says.
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

        /// The transpose.
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

/// The gradients of `convolution` by input, weight and bias: those that `output_mask` asks for, the others without elements.
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
    let &[by_input, by_weight, by_bias] = output_mask else {
        bail!(Runtime, "convolution_backward: output_mask has three elements, not {}", output_mask.len());
    };
    let of = formulas::convolution(stride, padding, dilation, transposed, groups);
    let grad = Expr::from(grad_output);
    let asked = |wanted: bool, gradient: &dyn Fn() -> Expr| match wanted {
        true => gradient().into_tensor(),
        false => ops::empty_memory_format(&[0], grad_output.options(), None),
    };
    Ok((
        asked(by_input, &|| of.input(&grad, &Expr::from(weight), &input.sizes()))?,
        asked(by_weight, &|| of.weight(&grad, &Expr::from(input), &weight.sizes()))?,
        asked(by_bias, &|| of.bias(&grad))?,
    ))
}
