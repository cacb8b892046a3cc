//! Rules of object detection.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result, bail, ensure, format_sizes};

/// The four sizes of a tensor.
fn sizes4(operator: &str, name: &str, dense: &Dense) -> Result<[i64; 4]> {
    match dense.sizes() {
        &[a, b, c, d] => Ok([a, b, c, d]),
        sizes => {
            bail!(Runtime, "{operator}: `{name}` must have 4 dimensions, but it has sizes {}", format_sizes(sizes))
        }
    }
}

/// Checks boxes, and that they have the dtype of the other tensor.
fn check_rois(operator: &str, argument: &str, other: &Dense, rois: &Dense) -> Result<()> {
    let prefix = if operator.starts_with("ps_") { "Tensor rois should" } else { "rois must" };
    ensure!(
        rois.ndim() == 2 && rois.sizes()[1] == 5,
        Runtime,
        "{prefix} have shape as Tensor[K, 5], but got {}",
        format_sizes(rois.sizes())
    );
    ensure!(
        other.dtype == rois.dtype,
        Runtime,
        "Expected tensor for argument #1 '{argument}' to have the same type as tensor for argument #2 'rois'; but type \
         torch.{}Tensor does not equal torch.{}Tensor (while checking arguments for {operator}_kernel)",
        other.dtype.c10_name(),
        rois.dtype.c10_name()
    );
    Ok(())
}

fn check_bins(operator: &str, height: i64, width: i64) -> Result<()> {
    ensure!(
        height > 0 && width > 0,
        Runtime,
        "{operator}: the pooled size must be positive, but got {height} x {width}"
    );
    Ok(())
}

/// Bins of boxes, of all channels.
pub fn roi_align(input: &Dense, rois: &Dense, pooled_height: i64, pooled_width: i64) -> Result<Spec> {
    let [_, channels, ..] = sizes4("roi_align", "input", input)?;
    check_rois("roi_align_forward", "input", input, rois)?;
    check_bins("roi_align", pooled_height, pooled_width)?;
    Ok(Spec::new(&[rois.sizes()[0], channels, pooled_height, pooled_width], input.dtype, input.device))
}

fn image(operator: &str, grad: &Dense, sizes: [i64; 4]) -> Result<Spec> {
    sizes4(operator, "grad", grad)?;
    ensure!(
        sizes.iter().all(|&size| size >= 0),
        Runtime,
        "{operator}: the sizes of the input cannot be negative, but got {}",
        format_sizes(&sizes)
    );
    Ok(Spec::new(&sizes, grad.dtype, grad.device))
}

fn check_boxes(operator: &str, grad: &Dense, rois: &Dense) -> Result<()> {
    ensure!(
        grad.ndim() == 4 && grad.sizes()[0] == rois.sizes()[0],
        Runtime,
        "{operator}: a gradient {} does not belong to {} boxes",
        grad.describe(),
        rois.sizes()[0]
    );
    Ok(())
}

/// The image of bins.
pub fn roi_align_backward(
    grad: &Dense,
    rois: &Dense,
    batch_size: i64,
    channels: i64,
    height: i64,
    width: i64,
) -> Result<Spec> {
    let operator = "roi_align_backward";
    check_rois(operator, "grad", grad, rois)?;
    check_boxes(operator, grad, rois)?;
    ensure!(
        grad.sizes()[1] == channels,
        Runtime,
        "{operator}: a gradient {} does not belong to {channels} channels",
        grad.describe()
    );
    image(operator, grad, [batch_size, channels, height, width])
}

/// Windows of boxes, of all channels, and indices.
pub fn roi_pool(input: &Dense, rois: &Dense, pooled_height: i64, pooled_width: i64) -> Result<[Spec; 2]> {
    let [_, channels, ..] = sizes4("roi_pool", "input", input)?;
    check_rois("roi_pool_forward", "input", input, rois)?;
    check_bins("roi_pool", pooled_height, pooled_width)?;
    let sizes = [rois.sizes()[0], channels, pooled_height, pooled_width];
    Ok([Spec::new(&sizes, input.dtype, input.device), Spec::new(&sizes, DType::I32, input.device)])
}

/// The image of windows.
pub fn roi_pool_backward(
    grad: &Dense,
    rois: &Dense,
    argmax: &Dense,
    batch_size: i64,
    channels: i64,
    height: i64,
    width: i64,
) -> Result<Spec> {
    let spec = roi_align_backward(grad, rois, batch_size, channels, height, width)?;
    ensure!(
        argmax.dtype == DType::I32 && argmax.sizes() == grad.sizes(),
        Runtime,
        "roi_pool_backward: argmax {} is no int32 tensor of the shape of the gradient {}",
        argmax.describe(),
        grad.describe()
    );
    Ok(spec)
}

/// Bins of boxes, each from channels of its own.
fn by_position(operator: &str, input: &Dense, rois: &Dense, bins: [i64; 2]) -> Result<[Spec; 2]> {
    let [_, channels, ..] = sizes4(operator, "input", input)?;
    check_rois(&format!("{operator}_forward"), "input", input, rois)?;
    check_bins(operator, bins[0], bins[1])?;
    let count = bins[0].checked_mul(bins[1]);
    let Some(count) = count.filter(|count| channels % count == 0) else {
        bail!(Runtime, "input channels must be a multiple of pooling height * pooling width")
    };
    let sizes = [rois.sizes()[0], channels / count, bins[0], bins[1]];
    Ok([Spec::new(&sizes, input.dtype, input.device), Spec::new(&sizes, DType::I32, input.device)])
}

/// Position-sensitive bins.
pub fn ps_roi_align(input: &Dense, rois: &Dense, pooled_height: i64, pooled_width: i64) -> Result<[Spec; 2]> {
    by_position("ps_roi_align", input, rois, [pooled_height, pooled_width])
}

/// Position-sensitive windows.
pub fn ps_roi_pool(input: &Dense, rois: &Dense, pooled_height: i64, pooled_width: i64) -> Result<[Spec; 2]> {
    by_position("ps_roi_pool", input, rois, [pooled_height, pooled_width])
}

/// The image of position-sensitive bins or windows.
pub fn ps_roi_backward(
    grad: &Dense,
    rois: &Dense,
    batch_size: i64,
    channels: i64,
    height: i64,
    width: i64,
) -> Result<Spec> {
    let operator = "ps_roi_backward";
    check_rois(operator, "grad", grad, rois)?;
    check_boxes(operator, grad, rois)?;
    let bins = grad.sizes()[1..].iter().try_fold(1i64, |product, &size| product.checked_mul(size));
    ensure!(
        bins == Some(channels),
        Runtime,
        "{operator}: a gradient {} does not belong to {channels} channels",
        grad.describe()
    );
    image(operator, grad, [batch_size, channels, height, width])
}

/// The geometry of a deformable convolution, checked.
#[derive(Debug)]
pub(crate) struct Deformable {
    pub kernel: [i64; 2],
    pub stride: [i64; 2],
    pub padding: [i64; 2],
    pub dilation: [i64; 2],
    pub groups: i64,
    pub positions: [i64; 2],
    pub masked: bool,
}

impl Deformable {
    /// The geometry for an input of these sizes.
    #[allow(clippy::too_many_arguments)] // the operator's
    pub fn new(
        input: [i64; 4],
        offset: &Dense,
        mask: &Dense,
        kernel: &[i64],
        stride: &[i64],
        padding: &[i64],
        dilation: &[i64],
        groups: i64,
        masked: bool,
    ) -> Result<Deformable> {
        let pair = |name: &str, values: &[i64], least: i64| match values {
            &[h, w] if h >= least && w >= least => Ok([h, w]),
            _ => bail!(Runtime, "deform_conv2d: {name} must be two numbers of at least {least}, got {values:?}"),
        };
        let (kernel, stride) = (pair("weight size", kernel, 1)?, pair("stride", stride, 1)?);
        let (padding, dilation) = (pair("padding", padding, 0)?, pair("dilation", dilation, 1)?);
        let [images, channels, height, width] = input;
        let mut positions = [0; 2];
        for (d, size) in [height, width].into_iter().enumerate() {
            let reach = dilation[d].checked_mul(kernel[d] - 1).and_then(|reach| reach.checked_add(1));
            let padded = padding[d].checked_mul(2).and_then(|padding| padding.checked_add(size));
            let (Some(reach), Some(padded)) = (reach, padded) else {
                bail!(Runtime, "deform_conv2d: padding or dilation is too large")
            };
            positions[d] = (padded - reach).div_euclid(stride[d]) + 1;
        }
        let taps = kernel[0].saturating_mul(kernel[1]).saturating_mul(groups);
        let of = |name: &str, dense: &Dense, each: i64| -> Result<()> {
            let sizes = sizes4("deform_conv2d", name, dense)?;
            let wanted = taps.saturating_mul(each);
            ensure!(sizes[1] == wanted, Runtime, "{name}.shape[1] is not valid: got: {} expected: {wanted}", sizes[1]);
            ensure!(sizes[0] == images, Runtime, "invalid batch size of {name}");
            ensure!(
                sizes[2..] == positions,
                Runtime,
                "{name} output dims: ({}, {}) - computed output dims: ({}, {})",
                sizes[2],
                sizes[3],
                positions[0],
                positions[1]
            );
            Ok(())
        };
        ensure!(
            groups > 0 && channels % groups == 0,
            Runtime,
            "deform_conv2d: {channels} channels cannot be divided into {groups} groups of offsets"
        );
        of("offset", offset, 2)?;
        if masked {
            of("mask", mask, 1)?;
        }
        ensure!(
            positions.iter().all(|&size| size > 0),
            Runtime,
            "Calculated output size too small - out_h: {} out_w: {}",
            positions[0],
            positions[1]
        );
        Ok(Deformable { kernel, stride, padding, dilation, groups, positions, masked })
    }

    /// The sizes of the columns of an input.
    fn columns(&self, input: [i64; 4]) -> [i64; 3] {
        let taps = self.kernel[0].saturating_mul(self.kernel[1]);
        [input[0], input[1].saturating_mul(taps), self.positions[0].saturating_mul(self.positions[1])]
    }

    fn check_columns(&self, grad: &Dense, input: [i64; 4]) -> Result<()> {
        ensure!(
            grad.sizes() == self.columns(input),
            Runtime,
            "deform_conv2d: a gradient of columns {} does not belong to an input of size {}",
            grad.describe(),
            format_sizes(&input)
        );
        Ok(())
    }
}

fn same_dtypes(tensors: &[&Dense]) -> Result<()> {
    let first = tensors.first().map(|first| first.dtype);
    match tensors.iter().find(|tensor| Some(tensor.dtype) != first) {
        Some(other) => bail!(
            Runtime,
            "deform_conv2d: expected tensors of one dtype, but got {} and {}",
            first.map_or("none", DType::name),
            other.dtype
        ),
        None => Ok(()),
    }
}

/// What the taps read.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn deform_columns(
    input: &Dense,
    offset: &Dense,
    mask: &Dense,
    kernel: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    offset_groups: i64,
    use_mask: bool,
) -> Result<Spec> {
    let sizes = sizes4("deform_conv2d", "input", input)?;
    let by = Deformable::new(sizes, offset, mask, kernel, stride, padding, dilation, offset_groups, use_mask)?;
    same_dtypes(&[input, offset, mask][..2 + usize::from(use_mask)])?;
    Ok(Spec::new(&by.columns(sizes), input.dtype, input.device))
}

/// The image of columns.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn deform_columns_image(
    grad: &Dense,
    offset: &Dense,
    mask: &Dense,
    input_size: &[i64],
    kernel: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    offset_groups: i64,
    use_mask: bool,
) -> Result<Spec> {
    let &[a, b, c, d] = input_size else { bail!(Runtime, "deform_conv2d: an input has 4 sizes, not {input_size:?}") };
    ensure!(input_size.iter().all(|&size| size >= 0), Runtime, "deform_conv2d: a size of {input_size:?} is negative");
    let sizes = [a, b, c, d];
    let by = Deformable::new(sizes, offset, mask, kernel, stride, padding, dilation, offset_groups, use_mask)?;
    same_dtypes(&[grad, offset, mask][..2 + usize::from(use_mask)])?;
    by.check_columns(grad, sizes)?;
    Ok(Spec::new(&sizes, grad.dtype, grad.device))
}

/// Offsets, from the gradient of columns.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn deform_columns_offset(
    grad: &Dense,
    input: &Dense,
    offset: &Dense,
    mask: &Dense,
    kernel: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    offset_groups: i64,
    use_mask: bool,
) -> Result<Spec> {
    let sizes = sizes4("deform_conv2d", "input", input)?;
    let by = Deformable::new(sizes, offset, mask, kernel, stride, padding, dilation, offset_groups, use_mask)?;
    same_dtypes(&[grad, input, offset, mask][..3 + usize::from(use_mask)])?;
    by.check_columns(grad, sizes)?;
    Ok(Spec::new(offset.sizes(), grad.dtype, grad.device))
}

/// The mask, from the gradient of columns.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn deform_columns_mask(
    grad: &Dense,
    input: &Dense,
    offset: &Dense,
    mask: &Dense,
    kernel: &[i64],
    stride: &[i64],
    padding: &[i64],
    dilation: &[i64],
    offset_groups: i64,
    use_mask: bool,
) -> Result<Spec> {
    deform_columns_offset(grad, input, offset, mask, kernel, stride, padding, dilation, offset_groups, use_mask)?;
    Ok(Spec::new(mask.sizes(), mask.dtype, mask.device))
}
