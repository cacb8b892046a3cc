//! Decompositions of matrices, linear systems, and what is computed with them: the kernels' glue over
//! `rushlight-linalg`, their shape rules (`rules`), checks (`checks`) and the operators made of them (`composite`).

mod checks;
pub mod composite;
pub mod functions;
pub mod norms;
pub mod rules;
pub mod spectral;

use super::access::{array, array_as, copy_into};
use super::{regions, views};
use crate::dense::{Dense, Spec};
use checks::Failure;
use rushlight_base::{DType, DimVec, Result, Scalar, err};
use rushlight_cpu::{Array, Loop, fill};
use rushlight_linalg::{self as kernels, Side};

/// out0, out1 = factor of self, status
pub fn linalg_cholesky_ex(out0: &Dense, out1: &Dense, self_: &Dense, upper: bool, check_errors: bool) -> Result<()> {
    kernels::cholesky(&array(out0), &array(out1), &array(self_), upper)?;
    checked(check_errors, "linalg.cholesky_ex", out1, Failure::Cholesky)
}

fn checked(wanted: bool, name: &str, info: &Dense, failure: Failure) -> Result<()> {
    if wanted { checks::status(name, info, failure) } else { Ok(()) }
}

/// Memory for the status of each matrix of a batch.
fn status_of(batch: &[i64], like: &Dense) -> Result<Dense> {
    rules::numbers(batch, like, DType::I32).allocate()
}

/// out = factor of self
pub fn cholesky(out: &Dense, self_: &Dense, upper: bool) -> Result<()> {
    if self_.numel() == 0 {
        return Ok(());
    }
    let info = status_of(checks::batch(self_), self_)?;
    kernels::cholesky(&array(out), &array(&info), &array(self_), upper)?;
    checks::status("cholesky", &info, Failure::Cholesky)
}

/// out = solution for the factor input2
pub fn cholesky_solve(out: &Dense, self_: &Dense, input2: &Dense, upper: bool) -> Result<()> {
    kernels::cholesky_solve(&array(out), &array(self_), &array(input2), upper)
}

/// out = inverse for the factor self
pub fn cholesky_inverse(out: &Dense, self_: &Dense, upper: bool) -> Result<()> {
    let info = status_of(checks::batch(self_), self_)?;
    kernels::cholesky_inverse(&array(out), &array(&info), &array(self_), upper)?;
    checks::status("cholesky_inverse", &info, Failure::Inverse)
}

/// out0, out1, out2 = factors of a, pivots, status
pub fn linalg_lu_factor_ex(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    a: &Dense,
    _pivot: bool,
    check_errors: bool,
) -> Result<()> {
    kernels::lu_factor(&array(out0), &array(out1), &array(out2), &array(a))?;
    checked(check_errors, "torch.linalg.lu_factor_ex", out2, Failure::Lu)
}

/// out0, out1, out2 = P, L, U
pub fn lu_unpack(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    lu_data: &Dense,
    lu_pivots: &Dense,
    unpack_data: bool,
    unpack_pivots: bool,
) -> Result<()> {
    if unpack_pivots {
        let order = checks::extent(lu_data)[0];
        checks::pivots(lu_pivots, order)?;
        if checks::has_kernels(out0.dtype) {
            kernels::permutation(&array(out0), &array(lu_pivots))?;
        } else {
            let exchanges = Spec::new(out0.sizes(), DType::F32, out0.device).allocate()?;
            kernels::permutation(&array(&exchanges), &array(lu_pivots))?;
            copy_into(out0, &exchanges)?;
        }
    }
    match unpack_data {
        true if checks::has_kernels(lu_data.dtype) => kernels::lu_unpack(&array(out1), &array(out2), &array(lu_data)),
        true => triangles(out1, out2, lu_data),
        false => Ok(()),
    }
}

/// l, u = the triangles of numbers of another dtype
fn triangles(l: &Dense, u: &Dense, packed: &Dense) -> Result<()> {
    let part = |dim: i64, like: &Dense| -> Result<Dense> {
        let size = like.sizes()[(like.ndim() as i64 + dim) as usize];
        Ok(packed.with_geometry(views::narrow(packed, dim, 0, size)?))
    };
    regions::tril(l, &part(-1, l)?, -1)?;
    fill::fill(&Loop::new([array(&l.with_geometry(views::diagonal(l, 0, -2, -1)?))])?, Scalar::Int(1))?;
    regions::triu(u, &part(-2, u)?, 0)
}

/// out = solution for the factors lu
pub fn linalg_lu_solve(out: &Dense, lu: &Dense, pivots: &Dense, b: &Dense, left: bool, adjoint: bool) -> Result<()> {
    checks::pivots(pivots, checks::extent(lu)[0])?;
    kernels::lu_solve(&array(out), &array(lu), &array(pivots), &array(b), Side { left, adjoint })
}

/// Sizes and strides of vectors as matrices of one column.
struct Columns {
    sizes: DimVec,
    strides: DimVec,
}

impl Columns {
    fn new(dense: &Dense, are_vectors: bool) -> Columns {
        let (mut sizes, mut strides) = (DimVec::from_slice(dense.sizes()), DimVec::from_slice(dense.strides()));
        if are_vectors {
            sizes.push(1);
            strides.push(1);
        }
        Columns { sizes, strides }
    }

    fn array<'a>(&'a self, dense: &'a Dense) -> Array<'a> {
        array_as(dense, &self.sizes, &self.strides)
    }
}

/// out0, out1, out2, out3 = solution, factors of a, pivots, status
#[allow(clippy::too_many_arguments, reason = "the operator has as many results and arguments")]
pub fn linalg_solve_ex(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    out3: &Dense,
    a: &Dense,
    b: &Dense,
    left: bool,
    check_errors: bool,
) -> Result<()> {
    let are_vectors = rules::is_vectors(a, b);
    let (to, from) = (Columns::new(out0, are_vectors), Columns::new(b, are_vectors));
    let results = [&to.array(out0), &array(out1), &array(out2), &array(out3)];
    kernels::solve(results, &array(a), &from.array(b), left)?;
    checked(check_errors, "torch.linalg.solve_ex", out3, Failure::Solve)
}

/// out0, out1 = inverse of a, status
pub fn linalg_inv_ex(out0: &Dense, out1: &Dense, a: &Dense, check_errors: bool) -> Result<()> {
    kernels::inverse(&array(out0), &array(out1), &array(a))?;
    checked(check_errors, "linalg.inv_ex", out1, Failure::Inverse)
}

/// out0, out1, out2 = determinant of a, factors, pivots
pub fn linalg_det(out0: &Dense, out1: &Dense, out2: &Dense, a: &Dense) -> Result<()> {
    let info = status_of(checks::batch(a), a)?;
    kernels::lu_factor(&array(out1), &array(out2), &array(&info), &array(a))?;
    kernels::determinant(&array(out0), &array(out1), &array(out2))
}

/// out0, out1, out2, out3 = sign and logarithm of the determinant of a, factors, pivots
pub fn linalg_slogdet(out0: &Dense, out1: &Dense, out2: &Dense, out3: &Dense, a: &Dense) -> Result<()> {
    let info = status_of(checks::batch(a), a)?;
    kernels::lu_factor(&array(out2), &array(out3), &array(&info), &array(a))?;
    kernels::log_determinant(&array(out0), &array(out1), &array(out2), &array(out3))
}

/// out = solution for a triangular matrix
pub fn linalg_solve_triangular(
    out: &Dense,
    self_: &Dense,
    b: &Dense,
    upper: bool,
    left: bool,
    unitriangular: bool,
) -> Result<()> {
    let solve =
        |b: &Dense| kernels::solve_triangular(&array(out), &array(self_), &array(b), left, [upper, unitriangular]);
    if b.dtype == self_.dtype {
        return solve(b);
    }
    let converted = Spec::new(b.sizes(), self_.dtype, b.device).allocate()?;
    copy_into(&converted, b)?;
    solve(&converted)
}

/// out0, out1 = R with the reflections of Q, their factors
pub fn geqrf(out0: &Dense, out1: &Dense, self_: &Dense) -> Result<()> {
    kernels::geqrf(&array(out0), &array(out1), &array(self_))
}

/// out = the first columns of the product of the reflections in input
pub fn linalg_householder_product(out: &Dense, input: &Dense, tau: &Dense) -> Result<()> {
    kernels::householder_product(&array(out), &array(input), &array(tau))
}

/// out = the product of the reflections in self, times input3
pub fn ormqr(out: &Dense, self_: &Dense, input2: &Dense, input3: &Dense, left: bool, transpose: bool) -> Result<()> {
    let side = Side { left, adjoint: transpose };
    kernels::apply_reflections(&array(out), &array(self_), &array(input2), &array(input3), side)
}

/// out0, out1 = Q, R
pub fn linalg_qr(out0: &Dense, out1: &Dense, a: &Dense, mode: &str) -> Result<()> {
    let (computes_q, _) = rules::parse_mode(mode)?;
    kernels::qr(computes_q.then(|| array(out0)).as_ref(), &array(out1), &array(a))
}

/// The error of a decomposition that did not converge.
fn converged(name: &str, outcome: kernels::Outcome, is_batch: bool, failure: Failure) -> Result<()> {
    let place = |index: usize| is_batch.then_some(index);
    match outcome {
        kernels::Outcome::Converged => Ok(()),
        kernels::Outcome::Failed(index) => Err(failure.error(name, place(index), 1)),
        kernels::Outcome::NotFinite(index) => Err(Failure::NotFinite.error(name, place(index), 1)),
    }
}

/// Fails for an unknown triangle.
fn is_upper(uplo: &str) -> Result<bool> {
    match uplo {
        "U" | "u" => Ok(true),
        "L" | "l" => Ok(false),
        other => Err(err!(Runtime, "Expected UPLO argument to be 'L' or 'U', but got {other}")),
    }
}
