//! Products of matrices.
//!
//! `out = alpha a b + beta c` for every dtype, from any strides, at every level of [`crate::simd`]; `c` is
//! broadcast, so a bias is a row or a column. [`gemm`] multiplies two matrices, [`batched`] stacks of them,
//! [`gemm_packed`] one whose right operand was packed before, [`gemm_narrow`] one that was rounded as well, and [`gemm_panels`] operands that exist only panel by
//! panel. [`PackedA`] packs a left operand once for many sets of columns, or reads it in place: a convolution multiplies its
//! weights by shares of an unfolded image that is never stored as a whole.
//!
//! From the inside out: `lanes` (with `x86`, `neon`; `amx` has separate registers) multiplies and adds vectors, `tile`
//! keeps a few rows of sums in registers, `kernels` lists the tiles of each arithmetic and level, `pack` and `epilogue`
//! load and store elements, `ways` joins these for a dtype, `blocking` splits a product to fit the caches, and `driver`
//! runs it. `driver` handles addresses and strides only and is compiled once for all dtypes.
//!
//! | product | code path |
//! |---|---|
//! | one row, or few rows with both operands contiguous along k | `thin`: streams the matrix in place |
//! | small, or few rows | `direct`: tiles that read both operands in place |
//! | a left operand that was packed before or is read in place, by columns that are filled or read in place | `stationary`: one share, on the caller's thread |
//! | a right operand that was packed before, by rows whose elements are at offsets | `packed`: one share, on the caller's thread |
//! | a right operand that was rounded to bfloat16 or int8 before | `narrow`: tiles or panels that convert it, run by `driver` |
//! | any other | `driver`: packs blocks of both operands into panels; threads compute shares of the grid of tiles |
//!
//! Splits along k determine the order of additions. They depend on the shape and the kernels only, so results do not
//! depend on the number of threads.
//!
//! To add an arithmetic, implement `lanes::Vector` for its registers and add a row to the tables in `kernels` and
//! `ways`. `cargo run --release -p rushlight-cpu --example gemm_peak` measures throughput in percent of the processor's
//! peak.

mod across;
#[cfg(target_arch = "x86_64")]
mod amx;
mod batch;
mod blocking;
mod convert;
mod direct;
mod driver;
mod epilogue;
mod kernels;
mod lanes;
mod narrow;
#[cfg(target_arch = "aarch64")]
mod neon;
mod pack;
mod packed;
mod stationary;
#[cfg(test)]
mod tests;
mod thin;
mod tile;
#[cfg(target_arch = "x86_64")]
mod turn;
mod ways;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::array::Array;
use crate::device;
use crate::finish::After;
use crate::simd::{Level, level};
use driver::{Operand, Problem, multiply};
use pack::Source;
use rushlight_base::{DType, Result, Scalar, ensure};
use ways::{Ways, ways};

pub(crate) use across::across;
pub use batch::batched;
pub use narrow::{NarrowB, gemm_narrow};
pub use packed::{Across, Factor, Lines, PackedB, Panels, SLACK};
pub(crate) use stationary::RowsInPlace;
pub use stationary::{Columns, PackedA, Run};

/// The epilogue of a product: alpha product + beta c, and what follows.
#[derive(Clone, Copy)]
pub struct Epilogue<'a> {
    /// Times the product.
    pub alpha: Scalar,
    /// The addend, broadcast to the shape of the output, and its factor: a bias, or a matrix to accumulate on. With the
    /// factor 0 it is not read.
    pub add: Option<(&'a Array<'a>, Scalar)>,
    /// What follows. Only of products in `f32` whose right operand is no matrix in memory.
    pub after: Option<After>,
}

impl Default for Epilogue<'_> {
    fn default() -> Self {
        Epilogue { alpha: Scalar::Int(1), add: None, after: None }
    }
}

/// out = beta c + alpha a b, for matrices of one dtype; `c` is broadcast to the shape of `out`, and not
/// read if beta is 0. `out` must not overlap `a` or `b`; it may be `c`.
pub fn gemm(out: &Array, a: &Array, b: &Array, c: Option<(&Array, Scalar)>, alpha: Scalar) -> Result<()> {
    gemm_with(out, a, b, &Epilogue { alpha, add: c, ..Epilogue::default() })
}

/// out = epilogue(a b). The matrices have one dtype; or those multiplied have `I8`, and the others `I32`.
pub fn gemm_with(out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    if !out.is_on_host() {
        return device::product(out, a, b, epilogue);
    }
    gemm_at(level(), out, a, b, epilogue)
}

/// Like [`gemm_with`], at a level that the processor has.
fn gemm_at(level: Level, out: &Array, a: &Array, b: &Array, epilogue: &Epilogue) -> Result<()> {
    ensure!(a.dtype() == b.dtype(), Internal, "gemm got operands of two dtypes");
    let ways = ways(a.dtype(), out.dtype(), level)?;
    let sizes = [a.size(0), a.size(1), b.size(0), b.size(1)];
    let (left, right) = (Operand::Strided(rows(a)), Operand::Strided(columns(b)));
    solve(&ways, out, sizes, a.ndim() == 2 && b.ndim() == 2, left, right, epilogue)
}

/// out = epilogue(a b), where `b` was packed before. Bitwise equal to [`gemm_with`], except where both operands run
/// along k and one has up to 128 rows: some of those products are summed in another order when nothing is packed (see
/// `thin`).
pub fn gemm_packed(out: &Array, a: &Array, b: &PackedB, epilogue: &Epilogue) -> Result<()> {
    let fits = a.dtype() == b.dtype() && out.dtype() == b.out_dtype();
    ensure!(fits, Internal, "gemm got a packed operand of dtype {} for {}", b.dtype(), a.dtype());
    let [k, n] = b.sizes();
    let sizes = [a.size(0), a.size(1), k, n];
    let left = Operand::Strided(rows(a));
    solve(&b.ways()?, out, sizes, a.ndim() == 2, left, Operand::Packed(b), epilogue)
}

/// out = epilogue(a b) for operands of `dtype`, where either may exist only panel by panel. Bitwise equal to
/// [`gemm_packed`].
pub fn gemm_panels<T: Copy>(dtype: DType, out: &Array, a: Factor<T>, b: Factor<T>, epilogue: &Epilogue) -> Result<()> {
    panels_at(level(), dtype, out, a, b, epilogue)
}

fn panels_at<T: Copy>(
    level: Level,
    dtype: DType,
    out: &Array,
    a: Factor<T>,
    b: Factor<T>,
    epilogue: &Epilogue,
) -> Result<()> {
    let ways = ways(dtype, out.dtype(), level)?;
    let ([m, k], [inner, n]) = (a.sizes(), b.sizes());
    ensure!(a.fits(dtype) && b.fits(dtype), Internal, "gemm got operands of two dtypes, or one that is not a matrix");
    let (a_panels, b_panels) = (a.panels(), b.panels());
    let left = match (&a, &a_panels) {
        (_, Some(panels)) => Operand::Filled(panels),
        (Factor::Matrix(matrix), None) => Operand::Strided(rows(matrix)),
        (Factor::Panels(..), None) => return Ok(()),
    };
    let right = match (&b, &b_panels) {
        (_, Some(panels)) => Operand::Filled(panels),
        (Factor::Matrix(matrix), None) => Operand::Strided(columns(matrix)),
        (Factor::Panels(..), None) => return Ok(()),
    };
    solve(&ways, out, [m, k, inner, n], true, left, right, epilogue)
}

/// Number of threads for a product of this many multiplications whose operands are packed.
pub(crate) fn worthwhile_threads(multiplications: usize) -> usize {
    blocking::worthwhile(multiplications / 4, rushlight_base::runtime::num_threads())
}

/// The lanes of a left operand.
fn rows(a: &Array) -> Source {
    Source { at: a.first_byte(), lane: a.stride(0), depth: a.stride(1) }
}

/// The lanes of a right operand.
fn columns(b: &Array) -> Source {
    Source { at: b.first_byte(), lane: b.stride(1), depth: b.stride(0) }
}

fn solve(
    ways: &Ways,
    out: &Array,
    sizes: [usize; 4],
    matrices: bool,
    left: Operand<'_>,
    right: Operand<'_>,
    epilogue: &Epilogue,
) -> Result<()> {
    let [m, k, rows, n] = sizes;
    let fits = matrices && out.sizes() == [m as i64, n as i64] && rows == k;
    ensure!(fits, Internal, "gemm got matrices of other shapes");
    let problem = problem(ways, out, [m, k, n], left, right, epilogue)?;
    multiply(&turned(problem), ways, false)
}

/// The problem of a product into the matrix `out`.
fn problem<'a>(
    ways: &Ways,
    out: &Array,
    [m, k, n]: [usize; 3],
    left: Operand<'a>,
    right: Operand<'a>,
    epilogue: &Epilogue<'a>,
) -> Result<Problem<'a>> {
    // Such a product is not transposed.
    let is_finished = !matches!(right, Operand::Strided(_)) && out.dtype() == DType::F32;
    ensure!(is_finished || epilogue.after.is_none(), Internal, "gemm got what follows a product of a matrix in memory");
    let add = epilogue.add.filter(|(_, beta)| !(ways.is_zero)(*beta));
    let (mut add_at, mut add_row, mut add_column) = (std::ptr::null(), 0, 0);
    if let Some((c, _)) = add {
        ensure!(c.dtype() == out.dtype(), Internal, "gemm got an addend of dtype {}", c.dtype());
        let strides = c.broadcast_strides(out.sizes())?;
        let [.., row, column] = strides[..] else { unreachable!("a matrix has two dimensions") };
        (add_at, add_row, add_column) = (c.first_byte().cast_const(), row as isize, column as isize);
    }
    let beta = add.map_or(Scalar::Int(1), |(_, beta)| beta);
    Ok(Problem {
        m,
        n,
        k,
        left,
        right,
        out: out.first_byte(),
        out_row: out.stride(out.ndim().wrapping_sub(2)),
        out_column: out.stride(out.ndim().wrapping_sub(1)),
        add: add_at,
        add_row,
        add_column,
        alpha: (ways.factor)(epilogue.alpha),
        beta: (ways.factor)(beta),
        alone: (ways.is_one)(epilogue.alpha),
        plain: (ways.is_one)(beta),
        after: epilogue.after,
    })
}

/// Whether the transpose is computed. For operands in memory.
fn turns(problem: &Problem<'_>) -> bool {
    match problem.n {
        1 => problem.m > 1,
        _ => problem.out_row == 1 && problem.out_column != 1,
    }
}

/// The problem, or its transpose where that stores rows that are neighbours in memory. Strides of single rows and
/// columns are arbitrary, and become 1.
fn turned(mut problem: Problem<'_>) -> Problem<'_> {
    if problem.n == 1 {
        problem.out_column = 1;
    }
    if let (Operand::Strided(left), Operand::Strided(right)) = (problem.left, problem.right)
        && turns(&problem)
    {
        (problem.left, problem.right) = (Operand::Strided(right), Operand::Strided(left));
        (problem.m, problem.n) = (problem.n, problem.m);
        (problem.out_row, problem.out_column) = (problem.out_column, problem.out_row);
        (problem.add_row, problem.add_column) = (problem.add_column, problem.add_row);
    }
    problem
}
