//! Products of matrices on a device.

use super::parameters::{GEMM_SHARED, GEMM_THREADS, Gemm, TENSOR_SHARED, TENSOR_TILE, gemm_tile};
use super::{Grid, address, launch, sum_size};
use crate::array::Array;
use crate::gemm::Epilogue;
use rushlight_base::backend::{self, Kernel};
use rushlight_base::{Complex, Result, Scalar, ensure};

fn is_one(factor: Scalar) -> bool {
    factor.to_complex() == Complex::new(1.0, 0.0)
}

/// Blocks of a grid in its third dimension.
const MOST_BLOCKS: i64 = 65535;

/// Address and strides (of the stack, of rows, of columns) of a matrix or a stack of matrices.
fn matrix(array: &Array) -> (u64, [i64; 3]) {
    let at = address(array);
    match *array.strides() {
        [stack, row, column] => (at, [stack, row, column]),
        _ => (at, [0, array.stride(0) as i64, array.stride(1) as i64]),
    }
}

/// out = epilogue(a b) for matrices, or for stacks of matrices with 3 dimensions each, of one dtype.
pub(crate) fn product(out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    ensure!(
        a.dtype() == b.dtype() && a.dtype() == out.dtype(),
        NotImplemented,
        "no kernel for products of {} into {} on device {}",
        a.dtype(),
        out.dtype(),
        out.device()
    );
    let last = out.ndim() - 1;
    let (m, k, n) = (a.size(last - 1), a.size(last), b.size(last));
    let batch = if out.ndim() == 3 { out.size(0) } else { 1 };
    if m * n * batch == 0 {
        return Ok(());
    }
    let add = match epilogue.add {
        Some((add, beta)) if beta.to_complex() != Complex::new(0.0, 0.0) => Some((add, beta)),
        _ => None,
    };
    let beta = add.map_or(Scalar::Int(0), |(_, beta)| beta);
    let mut stacks = [matrix(out), matrix(a), matrix(b), (0, [0; 3])];
    if let Some((add, _)) = add {
        let strides = add.broadcast_strides(out.sizes())?;
        let lead = if out.ndim() == 3 { strides[0] } else { 0 };
        stacks[3] = (address(add), [lead, strides[last - 1], strides[last]]);
    }
    let size = |size: usize| u32::try_from(size).map_err(|_| rushlight_base::err!(Runtime, "a matrix has {size} rows"));
    let parameter = Gemm {
        at: stacks.map(|(at, _)| at),
        strides: stacks.map(|(_, strides)| strides),
        factors: [epilogue.alpha, beta].map(|factor| {
            let factor = factor.to_complex();
            [factor.re, factor.im]
        }),
        integers: [epilogue.alpha, beta].map(Scalar::to_i64),
        sizes: [size(m)?, size(k)?, size(n)?],
        batch: size(batch)?,
        ones: u32::from(is_one(epilogue.alpha)) | u32::from(is_one(beta)) << 1,
        reserved: 0,
    };
    let on_tensor_cores = out.dtype().is_half() && backend::of(out.device().kind)?.capability(out.device())? >= (8, 0);
    let tile = if on_tensor_cores { TENSOR_TILE } else { gemm_tile(sum_size(out.dtype())) };
    let tiles = i64::from(parameter.sizes[0].div_ceil(tile)) * i64::from(parameter.sizes[2].div_ceil(tile));
    let grid = Grid {
        blocks: [tiles as u32, 1, (batch as i64).min(MOST_BLOCKS) as u32],
        threads: GEMM_THREADS,
        shared: if on_tensor_cores { TENSOR_SHARED } else { GEMM_SHARED },
    };
    let (file, function) = if on_tensor_cores { ("tensor", "tensor_gemm") } else { ("gemm", "gemm") };
    let kernel = Kernel { file, function, dtype: out.dtype() };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device (`Array` requires
    // memory for each index), and the caller has checked their shapes.
    unsafe { launch(out.device(), kernel, grid, &parameter) }
}
