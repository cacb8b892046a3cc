//! Operators made of decompositions.

use super::checks::{self, Failure};
use crate::autograd;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{Result, Scalar, ensure};

/// Results that the caller does not get.
fn unwanted(like: &Tensor) -> Result<Tensor> {
    ops::empty_memory_format(&[0], like.options(), None)
}

fn unwanted_of(like: &Tensor, dtype: rushlight_base::DType) -> Result<Tensor> {
    ops::empty_memory_format(&[0], Options { dtype: Some(dtype), ..like.options() }, None)
}

fn check(name: &str, info: &Tensor, failure: Failure) -> Result<()> {
    checks::status(name, &*info.dense()?, failure)
}

fn pivots(like: &Tensor) -> Result<Tensor> {
    unwanted_of(like, rushlight_base::DType::I32)
}

/// The factor L, or U.
pub fn linalg_cholesky(self_: &Tensor, upper: bool) -> Result<Tensor> {
    let (factor, info) = ops::linalg_cholesky_ex(self_, upper, false)?;
    check("linalg.cholesky", &info, Failure::Cholesky)?;
    Ok(factor)
}

/// Like `linalg_cholesky`, written to `out`.
pub fn linalg_cholesky_out(self_: &Tensor, upper: bool, out: &Tensor) -> Result<()> {
    let info = pivots(self_)?;
    ops::linalg_cholesky_ex_l(self_, upper, false, out, &info)?;
    check("linalg.cholesky", &info, Failure::Cholesky)
}

/// The factors in one matrix, and pivots.
pub fn linalg_lu_factor(a: &Tensor, pivot: bool) -> Result<(Tensor, Tensor)> {
    let (factors, pivots, info) = ops::linalg_lu_factor_ex(a, pivot, false)?;
    check("torch.linalg.lu_factor", &info, Failure::Lu)?;
    Ok((factors, pivots))
}

/// Like `linalg_lu_factor`, written to `lu` and `pivots`.
pub fn linalg_lu_factor_out(a: &Tensor, pivot: bool, lu: &Tensor, pivots: &Tensor) -> Result<()> {
    let info = unwanted_of(a, rushlight_base::DType::I32)?;
    ops::linalg_lu_factor_ex_out(a, pivot, false, lu, pivots, &info)?;
    check("torch.linalg.lu_factor", &info, Failure::Lu)
}

/// The factors in one matrix, pivots, and the status.
pub fn lu_with_info(self_: &Tensor, pivot: bool, check_errors: bool) -> Result<(Tensor, Tensor, Tensor)> {
    // As in PyTorch, the status is the result: nothing is checked.
    let _ = check_errors;
    ops::linalg_lu_factor_ex(self_, pivot, false)
}

/// P, L and U.
pub fn linalg_lu(a: &Tensor, pivot: bool) -> Result<(Tensor, Tensor, Tensor)> {
    check_lu(a)?;
    let (factors, pivots, _) = ops::linalg_lu_factor_ex(a, pivot, false)?;
    ops::lu_unpack(&factors, &pivots, true, true)
}

/// Like `linalg_lu`, written to `p`, `l` and `u`.
pub fn linalg_lu_out(a: &Tensor, pivot: bool, p: &Tensor, l: &Tensor, u: &Tensor) -> Result<()> {
    check_lu(a)?;
    let (factors, pivots, _) = ops::linalg_lu_factor_ex(a, pivot, false)?;
    ops::lu_unpack_out(&factors, &pivots, true, true, p, l, u)
}

fn check_lu(a: &Tensor) -> Result<()> {
    ensure!(
        a.ndim() >= 2,
        Runtime,
        "linalg.lu: Expected tensor with 2 or more dimensions. Got size: {} instead",
        rushlight_base::format_sizes(&a.sizes())
    );
    Ok(())
}

/// L and D in one matrix, and pivots.
pub fn linalg_ldl_factor(self_: &Tensor, hermitian: bool) -> Result<(Tensor, Tensor)> {
    let (factors, pivots, info) = ops::linalg_ldl_factor_ex(self_, hermitian, false)?;
    check("torch.linalg.ldl_factor", &info, Failure::Ldl)?;
    Ok((factors, pivots))
}

/// Like `linalg_ldl_factor`, written to `ld` and `pivots`.
pub fn linalg_ldl_factor_out(self_: &Tensor, hermitian: bool, ld: &Tensor, pivots: &Tensor) -> Result<()> {
    let info = unwanted_of(self_, rushlight_base::DType::I32)?;
    ops::linalg_ldl_factor_ex_out(self_, hermitian, false, ld, pivots, &info)?;
    check("torch.linalg.ldl_factor", &info, Failure::Ldl)
}

/// The gradient of the matrix exponential: the block above right of the exponential of [A^H, G; 0, A^H].
pub fn matrix_exp_backward(self_: &Tensor, grad: &Tensor) -> Result<Tensor> {
    autograd::formulas::matrix_exp(&grad.into(), &self_.into()).into_tensor()
}

/// The solution, with the arguments in another order.
pub fn lu_solve(self_: &Tensor, lu_data: &Tensor, lu_pivots: &Tensor) -> Result<Tensor> {
    ops::linalg_lu_solve(lu_data, lu_pivots, self_, true, false)
}

/// Like `lu_solve`, written to `out`.
pub fn lu_solve_out(self_: &Tensor, lu_data: &Tensor, lu_pivots: &Tensor, out: &Tensor) -> Result<()> {
    ops::linalg_lu_solve_out(lu_data, lu_pivots, self_, true, false, out)
}

/// Solution and status.
pub fn linalg_solve_ex(a: &Tensor, b: &Tensor, left: bool, check_errors: bool) -> Result<(Tensor, Tensor)> {
    let (result, _, _, info) = ops::_linalg_solve_ex(a, b, left, check_errors)?;
    Ok((result, info))
}

/// Like `linalg_solve_ex`, written to `result` and `info`.
pub fn linalg_solve_ex_out(
    a: &Tensor,
    b: &Tensor,
    left: bool,
    check_errors: bool,
    result: &Tensor,
    info: &Tensor,
) -> Result<()> {
    ops::_linalg_solve_ex_result(a, b, left, check_errors, result, &unwanted(a)?, &pivots(a)?, info)
}

/// The solution.
pub fn linalg_solve(a: &Tensor, b: &Tensor, left: bool) -> Result<Tensor> {
    let (result, info) = linalg_solve_ex(a, b, left, false)?;
    check("torch.linalg.solve", &info, Failure::Solve)?;
    Ok(result)
}

/// Like `linalg_solve`, written to `out`.
pub fn linalg_solve_out(a: &Tensor, b: &Tensor, left: bool, out: &Tensor) -> Result<()> {
    let info = pivots(a)?;
    linalg_solve_ex_out(a, b, left, false, out, &info)?;
    check("torch.linalg.solve", &info, Failure::Solve)
}

/// The inverse.
pub fn linalg_inv(a: &Tensor) -> Result<Tensor> {
    let (inverse, info) = ops::linalg_inv_ex(a, false)?;
    check("linalg.inv", &info, Failure::Inverse)?;
    Ok(inverse)
}

/// Like `linalg_inv`, written to `out`.
pub fn linalg_inv_out(a: &Tensor, out: &Tensor) -> Result<()> {
    let info = pivots(a)?;
    ops::linalg_inv_ex_inverse(a, false, out, &info)?;
    check("linalg.inv", &info, Failure::Inverse)
}

/// The determinant.
pub fn linalg_det(a: &Tensor) -> Result<Tensor> {
    Ok(ops::_linalg_det(a)?.0)
}

/// Like `linalg_det`, written to `out`.
pub fn linalg_det_out(a: &Tensor, out: &Tensor) -> Result<()> {
    ops::_linalg_det_result(a, out, &unwanted(a)?, &pivots(a)?)
}

/// Sign and logarithm of the determinant.
pub fn linalg_slogdet(a: &Tensor) -> Result<(Tensor, Tensor)> {
    let (sign, logarithm, _, _) = ops::_linalg_slogdet(a)?;
    Ok((sign, logarithm))
}

/// Like `linalg_slogdet`, written to `sign` and `logabsdet`.
pub fn linalg_slogdet_out(a: &Tensor, sign: &Tensor, logabsdet: &Tensor) -> Result<()> {
    ops::_linalg_slogdet_sign(a, sign, logabsdet, &unwanted(a)?, &pivots(a)?)
}

/// The logarithm of the determinant.
pub fn logdet(self_: &Tensor) -> Result<Tensor> {
    {
        let dense = self_.dense()?;
        checks::square("logdet", "A", &dense)?;
        checks::precise("logdet", &dense)?;
    }
    let (sign, logarithm, _, _) = ops::_linalg_slogdet(self_)?;
    if sign.dtype().is_complex() {
        return ops::add_tensor(&ops::log(&sign)?, &logarithm, Scalar::Int(1));
    }
    // NaN where the determinant is negative.
    let negative = ops::eq_scalar(&sign, Scalar::Int(-1))?;
    ops::masked_fill_scalar(&logarithm, &negative, Scalar::Float(f64::NAN))
}

/// The solution of a triangular system, and a copy of the matrix.
pub fn triangular_solve(
    self_: &Tensor,
    a: &Tensor,
    upper: bool,
    transpose: bool,
    unitriangular: bool,
) -> Result<(Tensor, Tensor)> {
    check_triangular(self_, a)?;
    let batch = broadcast(self_, a)?;
    let mut sizes = batch.clone();
    sizes.extend_from_slice(&a.sizes()[a.ndim() - 2..]);
    let copy = ops::clone(&ops::expand(a, &sizes, false)?, Some(rushlight_base::MemoryFormat::Contiguous))?;
    let matrix = if transpose { ops::transpose_int(a, -2, -1)? } else { a.clone() };
    Ok((ops::linalg_solve_triangular(&matrix, self_, upper != transpose, true, unitriangular)?, copy))
}

fn broadcast(b: &Tensor, a: &Tensor) -> Result<rushlight_base::DimVec> {
    let (b, a) = (b.sizes(), a.sizes());
    ops::rules::broadcast_sizes(&b[..b.len() - 2], &a[..a.len() - 2])
}

fn check_triangular(b: &Tensor, a: &Tensor) -> Result<()> {
    let (right, matrix) = (b.dense()?, a.dense()?);
    for (name, dense) in [("b", &right), ("A", &matrix)] {
        ensure!(
            dense.ndim() >= 2,
            Runtime,
            "torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {} dimensions instead",
            dense.ndim()
        );
    }
    ensure!(
        right.dtype == matrix.dtype,
        Runtime,
        "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead.",
        right.dtype.c10_name(),
        matrix.dtype.c10_name()
    );
    let [rows, columns] = checks::extent(&matrix);
    ensure!(
        rows == columns,
        Runtime,
        "triangular_solve: A must be batches of square matrices, but they are {rows} by {columns} matrices"
    );
    let own = checks::extent(&right);
    ensure!(
        own[0] == rows,
        Runtime,
        "Incompatible matrix sizes for triangular_solve: each A matrix is {rows} by {rows} but each b matrix is {} by {}",
        own[0],
        own[1]
    );
    Ok(())
}

/// Q and R; `some` is the reduced mode.
pub fn qr(self_: &Tensor, some: bool) -> Result<(Tensor, Tensor)> {
    ops::linalg_qr(self_, if some { "reduced" } else { "complete" })
}

/// Like `qr`, written to `q` and `r`.
pub fn qr_out(self_: &Tensor, some: bool, q: &Tensor, r: &Tensor) -> Result<()> {
    ops::linalg_qr_out(self_, if some { "reduced" } else { "complete" }, q, r)
}

/// Eigenvalues and eigenvectors of a Hermitian matrix.
pub fn linalg_eigh(self_: &Tensor, uplo: &str) -> Result<(Tensor, Tensor)> {
    ops::_linalg_eigh(self_, uplo, true)
}

/// Like `linalg_eigh`, written to `values` and `vectors`.
pub fn linalg_eigh_out(self_: &Tensor, uplo: &str, values: &Tensor, vectors: &Tensor) -> Result<()> {
    ops::_linalg_eigh_eigenvalues(self_, uplo, true, values, vectors)
}

/// Eigenvalues of a Hermitian matrix; the derivative needs the vectors.
pub fn linalg_eigvalsh(self_: &Tensor, uplo: &str) -> Result<Tensor> {
    Ok(ops::_linalg_eigh(self_, uplo, autograd::should_record([self_]))?.0)
}

/// Like `linalg_eigvalsh`, written to `out`.
pub fn linalg_eigvalsh_out(self_: &Tensor, uplo: &str, out: &Tensor) -> Result<()> {
    ops::_linalg_eigh_eigenvalues(self_, uplo, false, out, &unwanted(self_)?)
}

/// Eigenvalues; the derivative needs the vectors.
pub fn linalg_eigvals(self_: &Tensor) -> Result<Tensor> {
    if autograd::should_record([self_]) {
        return Ok(ops::linalg_eig(self_)?.0);
    }
    ops::_linalg_eigvals(self_)
}

/// Like `linalg_eigvals`, written to `out`.
pub fn linalg_eigvals_out(self_: &Tensor, out: &Tensor) -> Result<()> {
    ops::_linalg_eigvals_out(self_, out)
}

/// U, the singular values, and V^H.
pub fn linalg_svd(a: &Tensor, full_matrices: bool, driver: Option<&str>) -> Result<(Tensor, Tensor, Tensor)> {
    ops::_linalg_svd(a, full_matrices, true, driver)
}

/// Like `linalg_svd`, written to `u`, `s` and `vh`.
pub fn linalg_svd_out(
    a: &Tensor,
    full_matrices: bool,
    driver: Option<&str>,
    u: &Tensor,
    s: &Tensor,
    vh: &Tensor,
) -> Result<()> {
    ops::_linalg_svd_u(a, full_matrices, true, driver, u, s, vh)
}

/// The singular values; the derivative needs the vectors.
pub fn linalg_svdvals(a: &Tensor, driver: Option<&str>) -> Result<Tensor> {
    Ok(ops::_linalg_svd(a, false, autograd::should_record([a]), driver)?.1)
}

/// Like `linalg_svdvals`, written to `out`.
pub fn linalg_svdvals_out(a: &Tensor, driver: Option<&str>, out: &Tensor) -> Result<()> {
    ops::_linalg_svd_u(a, false, false, driver, &unwanted(a)?, out, &unwanted(a)?)
}

/// U, the singular values, and V. Without `compute_uv` U and V are zeros.
pub fn svd(self_: &Tensor, some: bool, compute_uv: bool) -> Result<(Tensor, Tensor, Tensor)> {
    ensure!(
        self_.ndim() >= 2,
        Runtime,
        "linalg.svd: input should have at least 2 dimensions, but has {} dimensions instead",
        self_.ndim()
    );
    if compute_uv {
        let (u, s, vh) = ops::_linalg_svd(self_, !some, true, None)?;
        return Ok((u, s, ops::adjoint(&vh)?));
    }
    let s = ops::linalg_svdvals(self_, None)?;
    let zeros = |order: usize| {
        let sizes = self_.sizes();
        let (batch, tail) = sizes.split_at(sizes.len() - 2);
        let mut own = rushlight_base::DimVec::from_slice(batch);
        own.extend_from_slice(&[tail[order], tail[order]]);
        ops::zeros(&own, self_.options())
    };
    Ok((zeros(0)?, s, zeros(1)?))
}
