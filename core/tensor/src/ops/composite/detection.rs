//! Object detection: non-maximum suppression and deformable convolution.

use crate::autograd::Expr;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, format_sizes};
use rushlight_cpu::detection::suppress;

/// The indices of boxes without those that overlap a better one
pub fn nms(dets: &Tensor, scores: &Tensor, iou_threshold: f64) -> Result<Tensor> {
    let (boxes, count) = (dets.sizes(), scores.sizes());
    ensure!(boxes.len() == 2, Runtime, "boxes should be a 2d tensor, got {}D", boxes.len());
    ensure!(boxes[1] == 4, Runtime, "boxes should have 4 elements in dimension 1, got {}", boxes[1]);
    ensure!(count.len() == 1, Runtime, "scores should be a 1d tensor, got {}D", count.len());
    ensure!(
        boxes[0] == count[0],
        Runtime,
        "boxes and scores should have same number of elements in dimension 0, got {} and {}",
        boxes[0],
        count[0]
    );
    ensure!(dets.dtype() == scores.dtype(), Runtime, "dets should have the same type as scores");
    let (dets, scores) = (ops::detach(dets)?, ops::detach(scores)?);
    let kept = match dets.dtype() {
        DType::F32 | DType::F64 if dets.numel() == 0 => Vec::new(),
        DType::F32 => suppress(&rows::<f32>(&dets)?, &order(&scores)?, iou_threshold)?,
        DType::F64 => suppress(&rows::<f64>(&dets)?, &order(&scores)?, iou_threshold)?,
        other => bail!(Runtime, "\"nms_kernel\" not implemented for '{}'", other.c10_name()),
    };
    let kept = Tensor::from_slice(&kept, &[kept.len() as i64])?;
    // The selection runs on the host; its result belongs to the device of the boxes.
    Expr::from(kept).to_device(dets.device(), DType::I64, false, false, None).into_tensor()
}

fn rows<T: rushlight_base::Element>(tensor: &Tensor) -> Result<Vec<T>> {
    ops::contiguous(tensor, MemoryFormat::Contiguous)?.to_vec()
}

/// The indices of scores in decreasing order.
fn order(scores: &Tensor) -> Result<Vec<i64>> {
    rows(&ops::sort_stable(scores, Some(true), 0, true)?.1)
}

/// The gradients of pooling of boxes, which the inner operators compute.
macro_rules! gradients {
    ($($name:ident = $inner:ident($($p:ident: $type:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($inner), "`")]
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $name($($p: $type),*) -> Result<Tensor> {
            ops::$inner($($p),*)
        }
    )*};
}

gradients! {
    roi_align_backward = torchvision_roi_align_gradient(
        grad: &Tensor, rois: &Tensor, spatial_scale: f64, pooled_height: i64, pooled_width: i64, batch_size: i64,
        channels: i64, height: i64, width: i64, sampling_ratio: i64, aligned: bool);
    roi_pool_backward = torchvision_roi_pool_gradient(
        grad: &Tensor, rois: &Tensor, argmax: &Tensor, spatial_scale: f64, pooled_height: i64, pooled_width: i64,
        batch_size: i64, channels: i64, height: i64, width: i64);
    ps_roi_align_backward = torchvision_ps_roi_align_gradient(
        grad: &Tensor, rois: &Tensor, channel_mapping: &Tensor, spatial_scale: f64, pooled_height: i64, pooled_width: i64,
        sampling_ratio: i64, batch_size: i64, channels: i64, height: i64, width: i64);
    ps_roi_pool_backward = torchvision_ps_roi_pool_gradient(
        grad: &Tensor, rois: &Tensor, channel_mapping: &Tensor, spatial_scale: f64, pooled_height: i64, pooled_width: i64,
        batch_size: i64, channels: i64, height: i64, width: i64);
}

/// The arguments of a deformable convolution besides tensors.
struct Steps {
    stride: [i64; 2],
    padding: [i64; 2],
    dilation: [i64; 2],
    groups: i64,
    offset_groups: i64,
    use_mask: bool,
}

impl Steps {
    fn of(&self, input: &Tensor, weight: &Tensor, offset: &Tensor, mask: &Tensor, bias: &Tensor) -> Result<Tensor> {
        let (sizes, filters) = (input.sizes(), weight.sizes());
        let (&[images, channels, ..], &[outs, per_group, height, width]) = (&sizes[..], &filters[..]) else {
            bail!(
                Runtime,
                "deform_conv2d: input and weight must have 4 dimensions, but got sizes {} and {}",
                format_sizes(&sizes),
                format_sizes(&filters)
            )
        };
        ensure!(
            sizes.len() == 4,
            Runtime,
            "deform_conv2d: input must have 4 dimensions, but got {}",
            format_sizes(&sizes)
        );
        ensure!(
            self.groups > 0 && per_group.checked_mul(self.groups) == Some(channels) && outs % self.groups == 0,
            Runtime,
            "deform_conv2d: a weight of size {} in {} groups does not match an input of size {}",
            format_sizes(&filters),
            self.groups,
            format_sizes(&sizes)
        );
        ensure!(
            bias.sizes()[..] == [outs],
            Runtime,
            "deform_conv2d: a bias of size {} does not match {outs} output channels",
            format_sizes(&bias.sizes())
        );
        let columns = Expr::from(ops::torchvision_deform_columns(
            input,
            offset,
            mask,
            &[height, width],
            &self.stride,
            &self.padding,
            &self.dilation,
            self.offset_groups,
            self.use_mask,
        )?);
        let area = columns.sizes()[2];
        let (filters, depth) = (outs / self.groups, per_group * height * width);
        let columns = columns.reshape(&[images, self.groups, depth, area]);
        let matrix = Expr::from(weight).reshape(&[1, self.groups, filters, depth]);
        let offsets = offset.sizes();
        let (rows, line) = (offsets[2], offsets[3]);
        let out = matrix.matmul(columns).reshape(&[images, outs, rows, line]);
        (out + Expr::from(bias).reshape(&[1, outs, 1, 1])).into_tensor()
    }
}

/// A convolution whose taps are moved
#[allow(clippy::too_many_arguments)] // the operator's
pub fn deform_conv2d(
    input: &Tensor,
    weight: &Tensor,
    offset: &Tensor,
    mask: &Tensor,
    bias: &Tensor,
    stride_h: i64,
    stride_w: i64,
    pad_h: i64,
    pad_w: i64,
    dilation_h: i64,
    dilation_w: i64,
    groups: i64,
    offset_groups: i64,
    use_mask: bool,
) -> Result<Tensor> {
    let steps = Steps {
        stride: [stride_h, stride_w],
        padding: [pad_h, pad_w],
        dilation: [dilation_h, dilation_w],
        groups,
        offset_groups,
        use_mask,
    };
    steps.of(input, weight, offset, mask, bias)
}

/// Its gradients
#[allow(clippy::too_many_arguments)] // the operator's
pub fn deform_conv2d_backward(
    grad: &Tensor,
    input: &Tensor,
    weight: &Tensor,
    offset: &Tensor,
    mask: &Tensor,
    bias: &Tensor,
    stride_h: i64,
    stride_w: i64,
    pad_h: i64,
    pad_w: i64,
    dilation_h: i64,
    dilation_w: i64,
    groups: i64,
    offset_groups: i64,
    use_mask: bool,
) -> Result<(Tensor, Tensor, Tensor, Tensor, Tensor)> {
    let kernel = match weight.sizes()[..] {
        [_, _, height, width] => [height, width],
        _ => bail!(Runtime, "deform_conv2d: weight must have 4 dimensions, but got {}", format_sizes(&weight.sizes())),
    };
    let (stride, padding, dilation) = ([stride_h, stride_w], [pad_h, pad_w], [dilation_h, dilation_w]);
    let columns = Expr::from(ops::torchvision_deform_columns(
        input,
        offset,
        mask,
        &kernel,
        &stride,
        &padding,
        &dilation,
        offset_groups,
        use_mask,
    )?);
    let (sizes, filters) = (input.sizes(), weight.sizes());
    let (images, outs, area) = (sizes[0], filters[0], columns.sizes()[2]);
    let depth = filters[1].saturating_mul(kernel[0]).saturating_mul(kernel[1]);
    ensure!(
        groups > 0 && outs % groups == 0 && depth.checked_mul(groups) == Some(columns.sizes()[1]),
        Runtime,
        "deform_conv2d: a weight of size {} in {groups} groups does not match an input of size {}",
        format_sizes(&filters),
        format_sizes(&sizes)
    );
    let wanted = [images, outs, offset.sizes()[2], offset.sizes()[3]];
    ensure!(
        grad.sizes()[..] == wanted,
        Runtime,
        "_deform_conv2d_backward: expected a gradient of size {}, but got {}",
        format_sizes(&wanted),
        format_sizes(&grad.sizes())
    );
    let given = Expr::from(grad).reshape(&[images, groups, outs / groups, area]);
    let matrix = Expr::from(weight).reshape(&[1, groups, outs / groups, depth]);
    let by_columns = matrix.transpose_int(2, 3).matmul(&given).reshape(&columns.sizes());
    let columns = columns.reshape(&[images, groups, depth, area]);
    let by_weight = given.matmul(columns.transpose_int(2, 3)).sum_dim_intlist(Some(&[0]), false, None);
    let by_columns = by_columns.tensor()?;
    Ok((
        ops::torchvision_deform_columns_image(
            by_columns,
            offset,
            mask,
            &sizes,
            &kernel,
            &stride,
            &padding,
            &dilation,
            offset_groups,
            use_mask,
        )?,
        by_weight.reshape(&filters).into_tensor()?,
        ops::torchvision_deform_columns_offset(
            by_columns,
            input,
            offset,
            mask,
            &kernel,
            &stride,
            &padding,
            &dilation,
            offset_groups,
            use_mask,
        )?,
        ops::torchvision_deform_columns_mask(
            by_columns,
            input,
            offset,
            mask,
            &kernel,
            &stride,
            &padding,
            &dilation,
            offset_groups,
            use_mask,
        )?,
        Expr::from(grad).sum_dim_intlist(Some(&[0, 2, 3]), false, None).reshape(&bias.sizes()).into_tensor()?,
    ))
}
