//! Convolutions on a device.

use super::parameters::{Convolution, GEMM_SHARED, GEMM_THREADS, Size, gemm_tile};
use super::{Grid, Temporary, add_parts, address, launch, small, sum_size};
use crate::array::Array;
use crate::convolution::Walk;
use rushlight_base::backend::Kernel;
use rushlight_base::{Result, ensure, err};

/// Blocks of a grid in its second dimension.
const MOST_BLOCKS: usize = 65535;

/// Blocks that keep a device busy: sums are split into parts until there are as many.
const ENOUGH_BLOCKS: usize = 512;

/// Terms of a sum that are not split.
const FEW_TERMS: usize = 1024;

/// The last up to 3 numbers, after `missing` where there are fewer.
fn three<T: Copy>(numbers: &[i64], missing: i64, to: impl Fn(i64) -> Result<T>) -> Result<[T; 3]> {
    let mut all = [missing; 3];
    all[3 - numbers.len()..].copy_from_slice(numbers);
    Ok([to(all[0])?, to(all[1])?, to(all[2])?])
}

fn number(value: i64) -> Result<u32> {
    small(value).ok_or_else(|| err!(Runtime, "a convolution on a device has a size of {value}"))
}

fn size(value: i64) -> Result<Size> {
    Ok(Size::new(number(value)?.max(1)))
}

/// Strides of samples, channels and 3 spatial dimensions.
fn strides(array: &Array) -> [i64; 5] {
    let mut strides = [0; 5];
    strides[..2].copy_from_slice(&array.strides()[..2]);
    strides[7 - array.ndim()..].copy_from_slice(&array.strides()[2..]);
    strides
}

/// What a forward pass and a gradient have in common: `out` has the places, `weight` the taps.
fn parameters(out: &Array, image: &Array, weight: &Array, walk: &Walk) -> Result<Convolution> {
    let spatial = out.ndim() - 2;
    ensure!((1..=3).contains(&spatial), Internal, "a convolution with {spatial} spatial dimensions");
    let groups = walk.groups;
    let product = |sizes: &[i64]| size(sizes.iter().product());
    Ok(Convolution {
        at: [address(out), address(image), address(weight), 0],
        strides: [strides(out), strides(image), strides(weight)],
        out: three(&out.sizes()[2..], 1, size)?,
        taps: three(&weight.sizes()[2..], 1, size)?,
        places: product(&out.sizes()[2..])?,
        tap_count: product(&weight.sizes()[2..])?,
        image: three(&image.sizes()[2..], 1, number)?,
        step: three(walk.stride, 1, size)?,
        padding: three(walk.padding, 0, number)?,
        dilation: three(walk.dilation, 1, number)?,
        batch: number(out.sizes()[0])?,
        groups: size(groups)?,
        inputs: number(image.sizes()[1] / groups)?,
        outputs: number(out.sizes()[1] / groups)?,
        transposed: 0,
        parts: 1,
        bias_step: 0,
        reserved: 0,
    })
}

/// out = image convolved with weight, or the transpose of that, + bias
pub(crate) fn convolution(
    out: &Array,
    image: &Array,
    weight: &Array,
    bias: Option<&Array>,
    walk: &Walk,
    transposed: bool,
) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let mut p = parameters(out, image, weight, walk)?;
    if transposed {
        // A weight of the transpose has the input channels first.
        p.strides[2].swap(0, 1);
        p.transposed = 1;
    }
    if let Some(bias) = bias {
        p.bias_step = number(bias.stride(0) as i64)?;
        p.at[3] = address(bias);
    }
    let tile = gemm_tile(sum_size(out.dtype())) as usize;
    let tiles = (p.outputs as usize).div_ceil(tile) * (p.places.size as usize).div_ceil(tile);
    let images = p.batch as usize * p.groups.size as usize;
    let blocks = [tiles as u32, images.min(MOST_BLOCKS) as u32, images.div_ceil(MOST_BLOCKS) as u32];
    let grid = Grid { blocks, threads: GEMM_THREADS, shared: GEMM_SHARED };
    let kernel = Kernel { file: "convolution", function: "convolution", dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, and the shape rule has
    // checked that their shapes belong together.
    unsafe { launch(out.device(), kernel, grid, &p) }
}

/// out = the gradient by the weights
pub(crate) fn weight_gradient(out: &Array, grad: &Array, image: &Array, walk: &Walk) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    ensure!(out.is_contiguous(), NotImplemented, "a gradient by weights on a device must be contiguous");
    let mut p = parameters(grad, image, out, walk)?;
    let bytes = sum_size(out.dtype());
    let tile = gemm_tile(bytes) as usize;
    let columns = p.inputs as usize * p.tap_count.size as usize;
    let tiles = (p.outputs as usize).div_ceil(tile) * columns.div_ceil(tile);
    let terms = number(i64::from(p.batch) * i64::from(p.places.size))? as usize;
    let parts = ENOUGH_BLOCKS.div_ceil(tiles * p.groups.size as usize).min(terms.div_ceil(FEW_TERMS)).max(1);
    p.parts = parts as u32;
    let sums = Temporary::new(out.device(), parts * out.numel() * bytes as usize)?;
    p.at = [sums.at(), address(image), address(grad), 0];
    let blocks = [tiles as u32, p.parts, p.groups.size];
    let grid = Grid { blocks, threads: GEMM_THREADS, shared: GEMM_SHARED };
    let kernel = Kernel { file: "convolution", function: "weight_gradient", dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, the sums have room for
    // each part, and the shape rule has checked that the shapes belong together.
    unsafe { launch(out.device(), kernel, grid, &p)? };
    add_parts(out, &sums, parts)
}
