//! Layers that were prepared for XNNPACK. The schemas are those that PyTorch 2.7.1 registers.

use super::super::{Row, prepacked};
use super::row;

pub(super) const ROWS: &[Row] = &[
    row(
        "prepacked::conv2d_clamp_run(Tensor X, __torch__.torch.classes.xnnpack.Conv2dOpContext W_prepack) -> Tensor Y",
        prepacked::conv2d,
    ),
    row(
        "prepacked::conv2d_transpose_clamp_run(Tensor X, __torch__.torch.classes.xnnpack.TransposeConv2dOpContext W_prepack) -> Tensor Y",
        prepacked::conv2d_transpose,
    ),
    row(
        "prepacked::linear_clamp_run(Tensor X, __torch__.torch.classes.xnnpack.LinearOpContext W_prepack) -> Tensor Y",
        prepacked::linear,
    ),
];
