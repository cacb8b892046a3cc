//! Rules of convolutions.

use super::spatial::{Spatial, formatted};
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result, SmallVec, bail, ensure, format_sizes};

/// The arguments of a convolution besides tensors, one number for each spatial dimension.
#[derive(Debug)]
pub(crate) struct Parameters {
    pub stride: Spatial,
    pub padding: Spatial,
    pub dilation: Spatial,
    pub output_padding: Spatial,
    pub transposed: bool,
    pub groups: i64,
}

fn each(what: &str, given: &[i64], count: usize) -> Result<Spatial> {
    if given.len() == 1 {
        return Ok(SmallVec::from_elem(given[0], count));
    }
    ensure!(
        given.len() == count,
        Runtime,
        "expected {what} to be a single integer value or a list of {count} values to match the convolution dimensions, \
         but got {what}={}",
        format_sizes(given)
    );
    Ok(given.into())
}

impl Parameters {
    #[allow(clippy::too_many_arguments)] // the operator's
    pub fn new(
        spatial: usize,
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        transposed: bool,
        output_padding: &[i64],
        groups: i64,
    ) -> Result<Parameters> {
        ensure!(
            (1..=3).contains(&spatial),
            Runtime,
            "convolution: images have one to three spatial dimensions, not {spatial}"
        );
        let parameters = Parameters {
            stride: each("stride", stride, spatial)?,
            padding: each("padding", padding, spatial)?,
            dilation: each("dilation", dilation, spatial)?,
            output_padding: each("output_padding", output_padding, spatial)?,
            transposed,
            groups,
        };
        ensure!(parameters.padding.iter().all(|&value| value >= 0), Runtime, "negative padding is not supported");
        let positive = parameters.output_padding.iter().all(|&value| value >= 0);
        ensure!(positive, Runtime, "negative output_padding is not supported");
        ensure!(parameters.stride.iter().all(|&value| value > 0), Runtime, "non-positive stride is not supported");
        ensure!(parameters.dilation.iter().all(|&value| value > 0), Runtime, "non-positive dilation is not supported");
        ensure!(groups > 0, Runtime, "non-positive groups is not supported");
        Ok(parameters)
    }

    /// Sizes of the output, with samples and channels.
    pub fn output(&self, input: &[i64], weight: &[i64]) -> Result<SmallVec<[i64; 5]>> {
        let channels = if self.transposed { weight[1].saturating_mul(self.groups) } else { weight[0] };
        let mut sizes: SmallVec<[i64; 5]> = SmallVec::from_slice(&[input[0], channels]);
        for dim in 0..self.stride.len() {
            let (size, reach) = (input[2 + dim], self.dilation[dim].saturating_mul(weight[2 + dim] - 1));
            let padding = self.padding[dim].saturating_mul(2);
            sizes.push(if self.transposed {
                (size - 1)
                    .saturating_mul(self.stride[dim])
                    .saturating_sub(padding)
                    .saturating_add(reach)
                    .saturating_add(self.output_padding[dim])
                    .saturating_add(1)
            } else {
                size.saturating_add(padding).saturating_sub(reach).saturating_sub(1).div_euclid(self.stride[dim]) + 1
            });
        }
        Ok(sizes)
    }

    fn check(&self, input: &Dense, weight: &Dense, bias: Option<&Dense>) -> Result<()> {
        let (image, kernel, groups) = (input.sizes(), weight.sizes(), self.groups);
        let transposed = i64::from(self.transposed);
        ensure!(
            kernel[0] >= groups,
            Runtime,
            "Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {} \
             instead",
            format_sizes(kernel)
        );
        ensure!(
            kernel[0] % groups == 0,
            Runtime,
            "Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size \
             [{}] instead",
            format_sizes(kernel)
        );
        let given = if self.transposed { "transposed" } else { "groups" };
        let number = if self.transposed { transposed } else { groups };
        let channels = if self.transposed { kernel[0] } else { kernel[1].saturating_mul(groups) };
        ensure!(
            image[1] == channels,
            Runtime,
            "Given {given}={number}, weight of size {}, expected input{} to have {channels} channels, but got {} channels \
             instead",
            format_sizes(kernel),
            format_sizes(image),
            image[1]
        );
        if let Some(bias) = bias {
            let wanted = if self.transposed { kernel[1].saturating_mul(groups) } else { kernel[0] };
            ensure!(
                bias.sizes() == [wanted],
                Runtime,
                "Given {}weight of size {}, expected bias to be 1-dimensional with {wanted} elements, but got bias of \
                 size {} instead",
                if self.transposed { "transposed=1, " } else { "" },
                format_sizes(kernel),
                format_sizes(bias.sizes())
            );
        }
        self.check_extent(image, kernel)?;
        if self.transposed { self.check_output_padding() } else { self.check_kernel(image, kernel) }
    }

    /// A kernel has elements, unless there is nothing to convolve.
    fn check_extent(&self, image: &[i64], kernel: &[i64]) -> Result<()> {
        if image[..2].contains(&0) || kernel[2..].iter().all(|&size| size > 0) {
            return Ok(());
        }
        let wrong = "kernel size should be greater than zero, but got";
        match kernel[2..] {
            [width] => bail!(Runtime, "{wrong} kernel_height: 1 kernel_width: {width}"),
            [height, width] => bail!(Runtime, "{wrong} kernel_height: {height} kernel_width: {width}"),
            _ => bail!(Runtime, "{wrong} a weight of size {}", format_sizes(kernel)),
        }
    }

    fn check_output_padding(&self) -> Result<()> {
        let fits = (0..self.stride.len())
            .all(|dim| self.output_padding[dim] < self.stride[dim] || self.output_padding[dim] < self.dilation[dim]);
        ensure!(
            fits,
            Runtime,
            "output padding must be smaller than either stride or dilation, but got output_padding: {} stride: {} \
             dilation: {}",
            format_sizes(&self.output_padding),
            format_sizes(&self.stride),
            format_sizes(&self.dilation)
        );
        Ok(())
    }

    fn check_kernel(&self, image: &[i64], kernel: &[i64]) -> Result<()> {
        let padded: Spatial = (0..self.stride.len())
            .map(|dim| image[2 + dim].saturating_add(self.padding[dim].saturating_mul(2)))
            .collect();
        let reach: Spatial = (0..self.stride.len())
            .map(|dim| self.dilation[dim].saturating_mul(kernel[2 + dim] - 1).saturating_add(1))
            .collect();
        let with_crosses = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(" x ");
        ensure!(
            padded.iter().zip(&reach).all(|(padded, reach)| padded >= reach),
            Runtime,
            "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual \
             input size",
            with_crosses(&padded),
            with_crosses(&reach)
        );
        Ok(())
    }
}

fn check_dtypes(input: &Dense, weight: &Dense, bias: Option<&Dense>) -> Result<()> {
    let kind = |dtype: DType| format!("torch.{}Tensor", dtype.c10_name());
    ensure!(
        input.dtype == weight.dtype,
        Runtime,
        "Input type ({}) and weight type ({}) should be the same",
        kind(input.dtype),
        kind(weight.dtype)
    );
    if let Some(bias) = bias {
        ensure!(
            input.dtype == bias.dtype,
            Runtime,
            "Input type ({}) and bias type ({}) should be the same",
            input.dtype,
            bias.dtype
        );
    }
    Ok(())
}

fn check_ranks(input: &Dense, weight: &Dense) -> Result<usize> {
    let rank = weight.ndim();
    ensure!(rank >= 3, Runtime, "weight should have at least three dimensions");
    ensure!(
        input.ndim() == rank,
        Runtime,
        "Expected {rank}-dimensional input for {rank}-dimensional weight {}, but got {}-dimensional input of size {} instead",
        format_sizes(weight.sizes()),
        input.ndim(),
        format_sizes(input.sizes())
    );
    Ok(rank - 2)
}

/// An image convolved with a kernel, or the transpose of that.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn convolution(
    input: &Dense,
    weight: &Dense,
    bias: Option<&Dense>,
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    transposed: bool,
    output_padding: &[i64],
    groups: i64,
) -> Result<Spec> {
    let spatial = check_ranks(input, weight)?;
    let parameters = Parameters::new(spatial, stride, padding, dilation, transposed, output_padding, groups)?;
    check_dtypes(input, weight, bias)?;
    parameters.check(input, weight, bias)?;
    let sizes = parameters.output(input.sizes(), weight.sizes())?;
    ensure!(
        sizes.iter().all(|&size| size >= 0) && (!transposed || sizes[2..].iter().all(|&size| size > 0)),
        Runtime,
        "Given input size per channel: {}. Calculated output size per channel: {}. Output size is too small",
        format_sizes(&input.sizes()[2..]),
        format_sizes(&sizes[2..])
    );
    formatted(&sizes, input.dtype, &[input, weight])
}

/// The gradient with respect to the weights has their shape, which is given.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn convolution_weight(
    grad_output: &Dense,
    input: &Dense,
    weight_size: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    groups: i64,
) -> Result<Spec> {
    let spatial = weight_size.len().saturating_sub(2);
    let parameters = Parameters::new(spatial, stride, padding, dilation, false, &[0], groups)?;
    let ranks = grad_output.ndim() == weight_size.len() && input.ndim() == weight_size.len();
    // There may be more positions than the gradient has: those that an output padding added.
    let fits = ranks
        && grad_output.dtype == input.dtype
        && weight_size.iter().all(|&size| size >= 0)
        && weight_size[0] % groups == 0
        && input.sizes()[1] == weight_size[1].saturating_mul(groups)
        && parameters.check_kernel(input.sizes(), weight_size).is_ok()
        && grad_output.sizes()[..2] == [input.sizes()[0], weight_size[0]]
        && parameters
            .output(input.sizes(), weight_size)?
            .iter()
            .zip(grad_output.sizes())
            .all(|(most, size)| size <= most);
    ensure!(
        fits,
        Runtime,
        "_convolution_weight: a gradient {} and an input {} do not belong to a weight of size {}",
        grad_output.describe(),
        input.describe(),
        format_sizes(weight_size)
    );
    Ok(Spec::new(weight_size, input.dtype, input.device))
}
