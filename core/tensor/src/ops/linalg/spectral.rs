//! Kernels of eigenvalues and singular values, with their shape rules.

use super::checks::{self, Failure};
use super::rules::{matrices, matrices_of, numbers, vectors};
use super::{converged, is_upper};
use crate::dense::{Dense, Spec};
use crate::ops::access::{Operand, array, cast, copy_into};
use crate::ops::rules::broadcast_sizes;
use rushlight_base::{DType, Result, ensure, format_sizes};
use rushlight_linalg as kernels;

/// The shape rules.
pub mod rules {
    use super::*;

    /// Eigenvalues and eigenvectors; those are empty unless they are computed.
    pub fn linalg_eigh(a: &Dense, uplo: &str, compute_v: bool) -> Result<[Spec; 2]> {
        checks::square("linalg.eigh", "A", a)?;
        is_upper(uplo)?;
        checks::kernel("linalg_eigh_cpu", a)?;
        let (batch, extent) = (checks::batch(a), checks::extent(a));
        let found = if compute_v { matrices(batch, extent, a) } else { Spec::new(&[0], a.dtype, a.device) };
        Ok([vectors(batch, extent[0], a, a.dtype.to_real()), found])
    }

    /// Complex eigenvalues and eigenvectors.
    pub fn linalg_eig(self_: &Dense) -> Result<[Spec; 2]> {
        checks::square("linalg.eig", "A", self_)?;
        let (batch, extent) = (checks::batch(self_), checks::extent(self_));
        let dtype = complex("linalg_eig_out_cpu", self_)?;
        Ok([vectors(batch, extent[0], self_, dtype), matrices_of(batch, extent, self_, dtype)])
    }

    /// The shape of the transpose, in a common batch with the tolerances.
    pub fn linalg_pinv(self_: &Dense, atol: &Dense, rtol: &Dense, hermitian: bool) -> Result<Spec> {
        checks::matrix("linalg.pinv", "A", self_)?;
        if hermitian {
            checks::square("linalg.eigh", "A", self_)?;
        }
        let [rows, columns] = checks::extent(self_);
        let batch = broadcast_sizes(checks::batch(self_), &broadcast_sizes(atol.sizes(), rtol.sizes())?)?;
        Ok(matrices(&batch, [columns, rows], self_))
    }

    /// Solution, rank and singular values, in a common batch.
    pub fn linalg_lstsq(self_: &Dense, b: &Dense, _rcond: f64, _full_rank: bool) -> Result<[Spec; 3]> {
        checks::matrix("linalg.lstsq", "A", self_)?;
        checks::matrix("linalg.lstsq", "B", b)?;
        let ([rows, columns], [right_rows, width]) = (checks::extent(self_), checks::extent(b));
        ensure!(
            rows == right_rows,
            Runtime,
            "linalg.lstsq: A and B must have the same number of rows, but have {rows} and {right_rows}"
        );
        ensure!(
            self_.dtype == b.dtype,
            Runtime,
            "linalg.lstsq: Expected A and B to have the same dtype, but got {} and {}",
            self_.dtype.c10_name(),
            b.dtype.c10_name()
        );
        let batch = broadcast_sizes(checks::batch(self_), checks::batch(b))?;
        Ok([
            matrices(&batch, [columns, width], self_),
            numbers(&batch, self_, DType::I64),
            vectors(&batch, rows.min(columns), self_, self_.dtype.to_real()),
        ])
    }

    /// Solution and rank of least squares.
    pub fn linalg_lstsq_rank(self_: &Dense, b: &Dense, rcond: f64) -> Result<[Spec; 2]> {
        let [solution, rank, _] = linalg_lstsq(self_, b, rcond, false)?;
        Ok([solution, rank])
    }

    /// The shape of the matrices.
    pub fn linalg_matrix_exp(self_: &Dense) -> Result<Spec> {
        checks::square("linalg.matrix_exp", "A", self_)?;
        checks::floating("linalg.matrix_exp", self_)?;
        Ok(Spec::new(self_.sizes(), self_.dtype, self_.device))
    }

    /// L and D in one matrix, pivots, status.
    pub fn linalg_ldl_factor_ex(self_: &Dense, _hermitian: bool, _check_errors: bool) -> Result<[Spec; 3]> {
        let name = "torch.linalg.ldl_factor_ex";
        checks::square(name, "A", self_)?;
        checks::floating(name, self_)?;
        checks::kernel("ldl_factor_kernel_cpu", self_)?;
        let (batch, extent) = (checks::batch(self_), checks::extent(self_));
        Ok([
            matrices(batch, extent, self_),
            vectors(batch, extent[0], self_, DType::I32),
            numbers(batch, self_, DType::I32),
        ])
    }

    /// The solution, in a common batch.
    pub fn linalg_ldl_solve(ld: &Dense, pivots: &Dense, b: &Dense, _hermitian: bool) -> Result<Spec> {
        let name = "torch.linalg.ldl_solve";
        checks::square(name, "LD", ld)?;
        checks::floating(name, ld)?;
        checks::matrix(name, "B", b)?;
        checks::system("torch.linalg.ldl_solve", ld, checks::extent(b), true)?;
        ensure!(
            pivots.ndim() >= 1,
            Runtime,
            "{name}: Expected pivots to have at least 1 dimension, but it has {} dimensions instead",
            pivots.ndim()
        );
        let wanted = &ld.sizes()[..ld.ndim() - 1];
        ensure!(
            wanted == pivots.sizes(),
            Runtime,
            "{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {} instead",
            format_sizes(pivots.sizes())
        );
        ensure!(
            pivots.dtype.is_integral(false),
            Runtime,
            "{name}: Expected pivots to be integers. Got {}",
            pivots.dtype.c10_name()
        );
        ensure!(
            ld.dtype == b.dtype,
            Runtime,
            "{name}: LD dtype{} does not match b dtype {}",
            ld.dtype.c10_name(),
            b.dtype.c10_name()
        );
        checks::kernel("ldl_solve_kernel_cpu", ld)?;
        let batch = broadcast_sizes(checks::batch(ld), checks::batch(b))?;
        Ok(matrices(&batch, checks::extent(b), b))
    }

    /// Complex eigenvalues.
    pub fn linalg_eigvals(self_: &Dense) -> Result<Spec> {
        checks::square("linalg.eigvals", "A", self_)?;
        let dtype = complex("linalg_eig_out_cpu", self_)?;
        Ok(vectors(checks::batch(self_), checks::extent(self_)[0], self_, dtype))
    }

    fn complex(name: &str, a: &Dense) -> Result<DType> {
        ensure!(
            a.dtype.is_floating() || a.dtype.is_complex(),
            Runtime,
            "Unknown Complex ScalarType for {}",
            a.dtype.c10_name()
        );
        checks::kernel(name, a)?;
        Ok(a.dtype.to_complex())
    }

    /// U, S and V^H; the vectors are empty unless they are computed.
    pub fn linalg_svd(a: &Dense, full_matrices: bool, compute_uv: bool, driver: Option<&str>) -> Result<[Spec; 3]> {
        checks::matrix("linalg.svd", "A", a)?;
        checks::floating("linalg.svd", a)?;
        ensure!(
            driver.is_none() || a.numel() == 0,
            Runtime,
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        );
        checks::kernel("linalg_svd_cpu", a)?;
        let (batch, [rows, columns]) = (checks::batch(a), checks::extent(a));
        let order = rows.min(columns);
        let values = vectors(batch, order, a, a.dtype.to_real());
        if !compute_uv {
            let nothing = || Spec::new(&[0], a.dtype, a.device);
            return Ok([nothing(), values, nothing()]);
        }
        let (left, right) = if full_matrices { (rows, columns) } else { (order, order) };
        Ok([matrices(batch, [rows, left], a), values, matrices(batch, [right, columns], a)])
    }
}

/// out0, out1 = eigenvalues and eigenvectors of a Hermitian matrix
pub fn linalg_eigh(out0: &Dense, out1: &Dense, a: &Dense, uplo: &str, compute_v: bool) -> Result<()> {
    let found = compute_v.then(|| array(out1));
    let outcome = kernels::eigh(&array(out0), found.as_ref(), &array(a), is_upper(uplo)?)?;
    converged("linalg.eigh", outcome, a.ndim() > 2, Failure::Eigenvalues)
}

/// out0, out1 = eigenvalues and eigenvectors
pub fn linalg_eig(out0: &Dense, out1: &Dense, self_: &Dense) -> Result<()> {
    let outcome = kernels::eig(&array(out0), Some(&array(out1)), &array(self_))?;
    general(outcome, self_)
}

/// out = eigenvalues
pub fn linalg_eigvals(out: &Dense, self_: &Dense) -> Result<()> {
    let outcome = kernels::eig(&array(out), None, &array(self_))?;
    general(outcome, self_)
}

fn general(outcome: kernels::Outcome, a: &Dense) -> Result<()> {
    ensure!(
        !matches!(outcome, kernels::Outcome::NotFinite(_)),
        Runtime,
        "torch.linalg.eig: input tensor should not contain infs or NaNs."
    );
    converged("linalg.eig", outcome, a.ndim() > 2, Failure::Eigenvalues)
}

/// out0, out1, out2 = U, S, V^H
pub fn linalg_svd(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    a: &Dense,
    _full_matrices: bool,
    compute_uv: bool,
    _driver: Option<&str>,
) -> Result<()> {
    let (u, vh) = (array(out0), array(out2));
    let outcome = kernels::svd(compute_uv.then_some((&u, &vh)), &array(out1), &array(a))?;
    converged("linalg.svd", outcome, a.ndim() > 2, Failure::SingularValues)
}

/// out = pseudoinverse of self
pub fn linalg_pinv(out: &Dense, self_: &Dense, atol: &Dense, rtol: &Dense, hermitian: bool) -> Result<()> {
    let real = self_.dtype.to_real();
    let (atol, rtol) = (cast(atol, real)?, cast(rtol, real)?);
    let tolerances = kernels::Tolerances { absolute: &array(&atol), relative: &array(&rtol) };
    let outcome = kernels::pseudoinverse(&array(out), &array(self_), &tolerances, hermitian)?;
    let (name, failure) = match hermitian {
        true => ("linalg.eigh", Failure::Eigenvalues),
        false => ("linalg.svd", Failure::SingularValues),
    };
    converged(name, outcome, self_.ndim() > 2, failure)
}

/// out0, out1, out2 = solution, rank, singular values
pub fn linalg_lstsq(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    self_: &Dense,
    b: &Dense,
    rcond: f64,
    full_rank: bool,
) -> Result<()> {
    if full_rank {
        return kernels::least_squares_of_full_rank(&array(out0), &array(self_), &array(b));
    }
    let (solution, rank, values) = (array(out0), array(out1), array(out2));
    let results = kernels::Solution { solution: &solution, rank: Some(&rank), values: Some(&values) };
    let outcome = kernels::least_squares(&results, &array(self_), &array(b), rcond)?;
    converged("torch.linalg.lstsq", outcome, self_.ndim() > 2, Failure::SingularValues)
}

/// out0, out1 = solution, rank
pub fn linalg_lstsq_rank(out0: &Dense, out1: &Dense, self_: &Dense, b: &Dense, rcond: f64) -> Result<()> {
    let (solution, rank) = (array(out0), array(out1));
    let results = kernels::Solution { solution: &solution, rank: Some(&rank), values: None };
    let outcome = kernels::least_squares(&results, &array(self_), &array(b), rcond)?;
    converged("torch.linalg.lstsq", outcome, self_.ndim() > 2, Failure::SingularValues)
}

/// out = e^self
pub fn linalg_matrix_exp(out: &Dense, self_: &Dense) -> Result<()> {
    let wide = self_.dtype.opmath();
    if wide == self_.dtype {
        return kernels::exponential(&array(out), &array(self_));
    }
    let (result, operand) = (cast(out, wide)?, Operand::cast(self_, wide)?);
    kernels::exponential(&array(&result), &operand.array())?;
    copy_into(out, &result)
}

/// out0, out1, out2 = L and D of self, pivots, status
pub fn linalg_ldl_factor_ex(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    self_: &Dense,
    hermitian: bool,
    check_errors: bool,
) -> Result<()> {
    kernels::ldl_factor(&array(out0), &array(out1), &array(out2), &array(self_), hermitian)?;
    if check_errors { checks::status("torch.linalg.ldl_factor_ex", out2, Failure::Ldl) } else { Ok(()) }
}

/// out = solution for the factors ld
pub fn linalg_ldl_solve(out: &Dense, ld: &Dense, pivots: &Dense, b: &Dense, hermitian: bool) -> Result<()> {
    let pivots = cast(pivots, DType::I32)?;
    checks::block_pivots(&pivots, checks::extent(ld)[0])?;
    kernels::ldl_solve(&array(out), &array(ld), &array(&pivots), &array(b), hermitian)
}
