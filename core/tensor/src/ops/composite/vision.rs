//! Composite operators: resizing, padding and pixel shuffling of images.

use crate::autograd::formulas;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, Scalar, bail, ensure, format_sizes};

/// The size of the output, from a size or scale factors.
fn output_sizes(input: &Tensor, output_size: Option<&[i64]>, factors: Option<&[f64]>) -> Result<DimVec> {
    let sizes = input.sizes();
    let spatial = sizes.len().saturating_sub(2);
    match (output_size, factors) {
        (Some(sizes), None) => Ok(sizes.into()),
        (None, Some(factors)) => {
            ensure!(
                factors.len() == spatial,
                Runtime,
                "expected {spatial} scale_factors for an input of {} dimensions, but got {}",
                sizes.len(),
                factors.len()
            );
            // The operator rejects fewer than two dimensions.
            Ok(sizes.iter().skip(2).zip(factors).map(|(&size, &factor)| (size as f64 * factor) as i64).collect())
        }
        _ => bail!(Runtime, "Must specify exactly one of output_size and scale_factors"),
    }
}

/// The scale factor of a dimension, if factors were given.
fn factor(factors: Option<&[f64]>, dim: usize) -> Option<f64> {
    factors.and_then(|factors| factors.get(dim).copied())
}

macro_rules! by_size_or_factor {
    (nearest: $($name:ident $plain:ident $($dim:literal)+;)*) => {
        $(
            /// Nearest-neighbour interpolation, for a size or factors.
            pub fn $name(input: &Tensor, output_size: Option<&[i64]>, scale_factors: Option<&[f64]>) -> Result<Tensor> {
                let sizes = output_sizes(input, output_size, scale_factors)?;
                ops::$plain(input, &sizes, $(factor(scale_factors, $dim)),+)
            }
        )*
    };
    (between: $($name:ident $plain:ident $($dim:literal)+;)*) => {
        $(
            /// Linear or cubic interpolation, for a size or factors.
            pub fn $name(
                input: &Tensor,
                output_size: Option<&[i64]>,
                align_corners: bool,
                scale_factors: Option<&[f64]>,
            ) -> Result<Tensor> {
                let sizes = output_sizes(input, output_size, scale_factors)?;
                ops::$plain(input, &sizes, align_corners, $(factor(scale_factors, $dim)),+)
            }
        )*
    };
}

by_size_or_factor! { nearest:
    upsample_nearest1d_vec upsample_nearest1d 0;
    upsample_nearest2d_vec upsample_nearest2d 0 1;
    upsample_nearest3d_vec upsample_nearest3d 0 1 2;
    _upsample_nearest_exact1d_vec _upsample_nearest_exact1d 0;
    _upsample_nearest_exact2d_vec _upsample_nearest_exact2d 0 1;
    _upsample_nearest_exact3d_vec _upsample_nearest_exact3d 0 1 2;
}

by_size_or_factor! { between:
    upsample_linear1d_vec upsample_linear1d 0;
    upsample_bilinear2d_vec upsample_bilinear2d 0 1;
    upsample_trilinear3d_vec upsample_trilinear3d 0 1 2;
    upsample_bicubic2d_vec upsample_bicubic2d 0 1;
    _upsample_bilinear2d_aa_vec _upsample_bilinear2d_aa 0 1;
    _upsample_bicubic2d_aa_vec _upsample_bicubic2d_aa 0 1;
}

/// Padding of the last dimensions, according to `mode`.
pub fn pad(self_: &Tensor, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
    let rank = self_.ndim();
    ensure!(pad.len().is_multiple_of(2), Runtime, "Padding length must be divisible by 2");
    ensure!(
        pad.len() <= 2 * rank,
        Runtime,
        "Padding length should be less than or equal to two times the input dimension but got padding length {} and \
         input of dimension {rank}",
        pad.len()
    );
    if mode == "constant" {
        return ops::constant_pad_nd(self_, pad, value.map_or(Scalar::Int(0), Scalar::Float));
    }
    ensure!(value.is_none_or(|value| value == 0.0), Runtime, "Padding mode \"{mode}\" doesn't take in value argument");
    let spatial = pad.len() / 2;
    let fits = (1..=3).contains(&spatial) && (rank == spatial + 1 || rank == spatial + 2);
    match (mode, spatial) {
        ("circular", _) if fits => _pad_circular(self_, pad),
        ("reflect", 1) if fits => ops::reflection_pad1d(self_, pad),
        ("reflect", 2) if fits => ops::reflection_pad2d(self_, pad),
        ("reflect", 3) if fits => ops::reflection_pad3d(self_, pad),
        ("replicate", 1) if fits => ops::replication_pad1d(self_, pad),
        ("replicate", 2) if fits => ops::replication_pad2d(self_, pad),
        ("replicate", 3) if fits => ops::replication_pad3d(self_, pad),
        ("circular" | "reflect" | "replicate", _) => {
            bail!(NotImplemented, "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now")
        }
        _ => bail!(NotImplemented, "Unrecognised padding mode {mode}"),
    }
}

/// Circular padding of images.
pub fn _pad_circular(self_: &Tensor, pad: &[i64]) -> Result<Tensor> {
    let sizes = self_.sizes();
    ensure!(
        pad.len() + 2 == 2 * sizes.len() || pad.len() + 4 == 2 * sizes.len(),
        Runtime,
        "Invalid padding size, expected {} but got {}",
        2 * sizes.len().saturating_sub(2),
        pad.len()
    );
    let mut out = self_.clone();
    for (nth, widths) in pad.chunks_exact(2).enumerate() {
        let dim = sizes.len() - 1 - nth;
        let (size, left, right) = (sizes[dim], widths[0], widths[1]);
        ensure!(left <= size && right <= size, Runtime, "Padding value causes wrapping around more than once.");
        ensure!(
            left.saturating_add(right).saturating_add(size) >= 0 && left >= -size && right >= -size,
            Runtime,
            "Negative padding value is resulting in an empty dimension"
        );
        let dim = dim as i64;
        let slice = |from: &Tensor, start: i64, end: i64| ops::slice_tensor(from, dim, Some(start), Some(end), 1);
        let middle = slice(&out, (-left).max(0), size - (-right).max(0))?;
        // A cropped part is not repeated at the other end.
        let kept = middle.sizes()[middle.ndim() - 1 - nth];
        ensure!(left <= kept && right <= kept, Runtime, "Padding value causes wrapping around more than once.");
        let (before, after) = (slice(&middle, kept - left.max(0), kept)?, slice(&middle, 0, right.max(0))?);
        out = ops::cat(&[&before, &middle, &after], dim)?;
    }
    Ok(out)
}

/// Pixel shuffle: groups of `factor * factor` channels as squares of pixels.
pub fn pixel_shuffle(self_: &Tensor, upscale_factor: i64) -> Result<Tensor> {
    let (sizes, factor) = (self_.sizes(), upscale_factor);
    ensure!(
        sizes.len() >= 3,
        Runtime,
        "pixel_shuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)",
        sizes.len()
    );
    ensure!(factor > 0, Runtime, "pixel_shuffle expects a positive upscale_factor, but got {factor}");
    let (lead, image) = sizes.split_at(sizes.len() - 3);
    let square = factor.saturating_mul(factor);
    ensure!(
        image[0] % square == 0,
        Runtime,
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but \
         input.size(-3)={} is not divisible by {square}",
        image[0]
    );
    let channels = image[0] / square;
    let parts = ops::reshape(self_, &joined(lead, &[channels, factor, factor, image[1], image[2]]))?;
    let order = turned(lead.len(), &[0, 3, 1, 4, 2]);
    ops::reshape(
        &ops::permute(&parts, &order)?,
        &joined(lead, &[channels, image[1].saturating_mul(factor), image[2].saturating_mul(factor)]),
    )
}

/// Squares of pixels as groups of `factor * factor` channels.
pub fn pixel_unshuffle(self_: &Tensor, downscale_factor: i64) -> Result<Tensor> {
    let (sizes, factor) = (self_.sizes(), downscale_factor);
    ensure!(
        sizes.len() >= 3,
        Runtime,
        "pixel_unshuffle expects input to have at least 3 dimensions, but got input with {} dimension(s)",
        sizes.len()
    );
    ensure!(factor > 0, Runtime, "pixel_unshuffle expects a positive downscale_factor, but got {factor}");
    let (lead, image) = sizes.split_at(sizes.len() - 3);
    for (what, at) in [("height", 1), ("width", 2)] {
        ensure!(
            image[at] % factor == 0,
            Runtime,
            "pixel_unshuffle expects {what} to be divisible by downscale_factor, but input.size(-{})={} is not divisible \
             by {factor}",
            3 - at,
            image[at]
        );
    }
    let (channels, height, width) = (image[0], image[1] / factor, image[2] / factor);
    let parts = ops::reshape(self_, &joined(lead, &[channels, height, factor, width, factor]))?;
    let order = turned(lead.len(), &[0, 2, 4, 1, 3]);
    let grouped = channels.saturating_mul(factor).saturating_mul(factor);
    ops::reshape(&ops::permute(&parts, &order)?, &joined(lead, &[grouped, height, width]))
}

fn joined(lead: &[i64], rest: &[i64]) -> DimVec {
    lead.iter().chain(rest).copied().collect()
}

/// The first `lead` dimensions unchanged, followed by those of `order`.
fn turned(lead: usize, order: &[i64]) -> DimVec {
    (0..lead as i64).chain(order.iter().map(|&dim| dim + lead as i64)).collect()
}

/// Shuffles channels: the first of each group, the second of each, and so on.
pub fn channel_shuffle(self_: &Tensor, groups: i64) -> Result<Tensor> {
    let sizes = self_.sizes();
    ensure!(
        sizes.len() > 2,
        Runtime,
        "channel_shuffle expects input with > 2 dims, but got input with sizes {}",
        format_sizes(&sizes)
    );
    ensure!(groups > 0, Runtime, "Number of groups to divide channels in must be positive. Value of groups:{groups}");
    ensure!(
        sizes[1] % groups == 0,
        Runtime,
        "Number of channels must be divisible by groups. Got {} channels and {groups} groups.",
        sizes[1]
    );
    let parts = ops::reshape(self_, &joined(&[sizes[0], groups, sizes[1] / groups], &sizes[2..]))?;
    ops::reshape(&ops::transpose_int(&parts, 1, 2)?, &sizes)
}

/// The image sampled at the points of a grid.
pub fn grid_sampler(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    let none = DimVec::from_elem(0, input.ndim().saturating_sub(2));
    ensure!(
        input.ndim() == 4 || interpolation_mode != 2,
        Runtime,
        "grid_sampler(): bicubic interpolation only supports 4D input"
    );
    ops::_grid_sample(input, grid, interpolation_mode, padding_mode, align_corners, &none)
}

fn check_rank(op: &str, input: &Tensor, rank: usize) -> Result<()> {
    ensure!(
        input.ndim() == rank,
        Runtime,
        "{op}(): expected {rank}D input and grid with same number of dimensions, but got input with sizes {}",
        format_sizes(&input.sizes())
    );
    Ok(())
}

/// Samples an image at the points of a grid.
pub fn grid_sampler_2d(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    check_rank("grid_sampler_2d", input, 4)?;
    grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)
}

/// Samples a volume at the points of a grid.
pub fn grid_sampler_3d(
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
) -> Result<Tensor> {
    check_rank("grid_sampler_3d", input, 5)?;
    grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)
}

/// The gradients of grid sampling that `output_mask` selects; the others are empty.
fn grid_backward(
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
    sampling: [i64; 2],
    align_corners: bool,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor)> {
    let &[by_input, by_grid] = output_mask else {
        bail!(Runtime, "grid_sampler_backward: output_mask has two elements, not {}", output_mask.len());
    };
    let (none, [interpolation, padding]) = (DimVec::from_elem(0, input.ndim().saturating_sub(2)), sampling);
    let empty = || ops::empty_memory_format(&[0], grad_output.options(), None);
    let image = if by_input {
        ops::_grid_spread(grad_output, &input.sizes(), grid, interpolation, padding, align_corners, &none)?
    } else {
        empty()?
    };
    if !by_grid {
        return Ok((image, empty()?));
    }
    let sampling = formulas::sampling(interpolation, padding, align_corners, &none);
    Ok((image, sampling.by_grid(&grad_output.into(), &input.into(), &grid.into()).into_tensor()?))
}

/// The gradients of `grid_sampler_2d`.
pub fn grid_sampler_2d_backward(
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor)> {
    check_rank("grid_sampler_2d_backward", input, 4)?;
    grid_backward(grad_output, input, grid, [interpolation_mode, padding_mode], align_corners, output_mask)
}

/// The gradients of `grid_sampler_3d`.
pub fn grid_sampler_3d_backward(
    grad_output: &Tensor,
    input: &Tensor,
    grid: &Tensor,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    output_mask: &[bool],
) -> Result<(Tensor, Tensor)> {
    check_rank("grid_sampler_3d_backward", input, 5)?;
    grid_backward(grad_output, input, grid, [interpolation_mode, padding_mode], align_corners, output_mask)
}

/// The coordinates of a dimension between -1 and 1, as a grid uses them.
fn places(length: i64, align_corners: bool, like: &Tensor) -> Result<Tensor> {
    let numbers = ops::arange(Scalar::Int(length), like.options())?;
    // The centres, or the outer edges, of the first and the last element are at -1 and 1; a single element is in the
    // middle.
    let (step, first) = if align_corners {
        (2.0 / (length - 1).max(1) as f64, if length > 1 { -1.0 } else { 0.0 })
    } else {
        (2.0 / length as f64, 1.0 / length as f64 - 1.0)
    };
    ops::add_scalar(&ops::mul_scalar(&numbers, Scalar::Float(step))?, Scalar::Float(first), Scalar::Int(1))
}

/// (points, dimensions + 1): the coordinates of an image, x first, and a 1 each.
fn homogeneous(sizes: &[i64], align_corners: bool, like: &Tensor) -> Result<Tensor> {
    let spatial = sizes.len();
    let mut columns = Vec::with_capacity(spatial + 1);
    for dim in (0..spatial).rev() {
        let mut shape = DimVec::from_elem(1, spatial);
        shape[dim] = sizes[dim];
        let along = ops::reshape(&places(sizes[dim], align_corners, like)?, &shape)?;
        columns.push(ops::reshape(&ops::expand(&along, sizes, false)?, &[-1, 1])?);
    }
    let count: i64 = sizes.iter().product();
    columns.push(ops::ones(&[count, 1], like.options())?);
    ops::cat(&columns.iter().collect::<Vec<_>>(), 1)
}

fn check_affine(sizes: &[i64]) -> Result<usize> {
    ensure!(matches!(sizes.len(), 4 | 5), Runtime, "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.");
    Ok(sizes.len() - 2)
}

/// The grid of an affine transformation of an image.
pub fn affine_grid_generator(theta: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    let spatial = check_affine(size)?;
    let dims = spatial as i64;
    ensure!(
        theta.sizes().as_slice() == [size[0], dims, dims + 1],
        Runtime,
        "Expected a batch of {dims}D affine matrices of shape {} for size {}. Got {}.",
        format_sizes(&[size[0], dims, dims + 1]),
        format_sizes(size),
        format_sizes(&theta.sizes())
    );
    let base = homogeneous(&size[2..], align_corners, theta)?;
    let base = ops::expand(&base, &[size[0], base.sizes()[0], dims + 1], false)?;
    let grid = ops::bmm(&base, &ops::transpose_int(theta, 1, 2)?)?;
    let mut shape = DimVec::from_slice(&size[..1]);
    shape.extend_from_slice(&size[2..]);
    shape.push(dims);
    ops::reshape(&grid, &shape)
}

/// The gradient of `affine_grid_generator`.
pub fn affine_grid_generator_backward(grad: &Tensor, size: &[i64], align_corners: bool) -> Result<Tensor> {
    let dims = check_affine(size)? as i64;
    let base = homogeneous(&size[2..], align_corners, grad)?;
    let count = base.sizes()[0];
    let base = ops::expand(&base, &[size[0], count, dims + 1], false)?;
    let grad = ops::reshape(grad, &[size[0], count, dims])?;
    ops::bmm(&ops::transpose_int(&grad, 1, 2)?, &base)
}
