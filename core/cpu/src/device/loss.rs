//! Negative log likelihood on a device.

use super::parameters::{Likelihood, ROW_SHARED, Size};
use super::{Grid, address, launch};
use crate::array::Array;
use crate::loss::{Reduction, Targets};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::report::Mistake;
use rushlight_base::{DType, Result, ensure, err};

/// Threads of the block that adds all losses.
const THREADS: u32 = 1024;

/// The targets for scores of sizes (C), (N, C) or (N, C, places ...), and losses of one element or of the shape of the
/// targets.
fn likelihood(
    scores: &Array,
    targets: &Targets,
    losses: &Array,
    total: &Array,
    reduction: Reduction,
) -> Result<Likelihood> {
    let target = &targets.target;
    let dims = scores.ndim();
    let class_dim = usize::from(dims > 1);
    // The dimensions after the classes, as one.
    let places: i64 = scores.sizes().iter().skip(2).product();
    let along = |array: &Array, from: usize| -> Result<i64> {
        let (sizes, strides) = (&array.sizes()[from.min(array.ndim())..], &array.strides()[from.min(array.ndim())..]);
        let even = (1..sizes.len()).all(|dim| strides[dim - 1] == strides[dim] * sizes[dim]);
        ensure!(even, NotImplemented, "nll_loss on a device needs contiguous dimensions after the classes");
        Ok(strides.last().copied().unwrap_or(0))
    };
    let sample = |array: &Array| if array.ndim() == 0 || dims == 1 { 0 } else { array.strides()[0] };
    let each = reduction == Reduction::None;
    let number = |value: usize| u32::try_from(value).map_err(|_| err!(Runtime, "nll_loss of {value} targets"));
    Ok(Likelihood {
        at: [
            address(scores),
            address(target),
            targets.weight.as_ref().map_or(0, address),
            address(losses),
            address(total),
        ],
        scores: [sample(scores), scores.stride(class_dim) as i64, along(scores, 2)?],
        targets: [sample(target), along(target, 1)?],
        losses: if each { [sample(losses), along(losses, 1)?] } else { [0, 0] },
        weight: targets.weight.as_ref().map_or(0, |weight| weight.stride(0) as i64),
        ignore: targets.ignore_index,
        count: number(target.numel())?,
        places: Size::new(number(places as usize)?.max(1)),
        classes: number(scores.size(class_dim))?,
        reduction: match reduction {
            Reduction::None => 0,
            Reduction::Mean => 1,
            Reduction::Sum => 2,
        },
        bytes: u32::from(target.dtype() == DType::U8),
        reserved: 0,
        watch: backend::watch(scores.device(), Mistake::Target, [0; 2])?,
    })
}

fn start(function: &'static str, scores: &Array, parameter: &Likelihood, grid: Grid) -> Result<()> {
    let kernel = Kernel { file: "loss", function, dtype: scores.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, and the shape rule has
    // checked that their shapes belong together.
    unsafe { launch(scores.device(), kernel, grid, parameter) }
}

/// The loss and the total weight.
pub(crate) fn nll_loss(
    out: &Array,
    total: &Array,
    scores: &Array,
    targets: &Targets,
    reduction: Reduction,
) -> Result<()> {
    let parameter = likelihood(scores, targets, out, total, reduction)?;
    let blocks = if reduction == Reduction::None { parameter.count.div_ceil(THREADS).clamp(1, 1 << 16) } else { 1 };
    start("nll_loss", scores, &parameter, Grid { blocks: [blocks, 1, 1], threads: THREADS, shared: ROW_SHARED })
}

/// The gradient by the scores, which are 0 before.
pub(crate) fn nll_loss_backward(
    grad_in: &Array,
    grad: &Array,
    targets: &Targets,
    reduction: Reduction,
    total: &Array,
) -> Result<()> {
    let parameter = likelihood(grad_in, targets, grad, total, reduction)?;
    if parameter.count == 0 {
        return Ok(());
    }
    let blocks = [parameter.count.div_ceil(256).min(1 << 16), 1, 1];
    start("nll_loss_backward", grad_in, &parameter, Grid { blocks, threads: 256, shared: 0 })
}
