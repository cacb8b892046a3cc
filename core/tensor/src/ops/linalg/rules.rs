//! Shape rules of decompositions. Results are column-major, as LAPACK writes them and PyTorch returns them.

use super::checks;
use crate::dense::{Dense, Spec};
use crate::ops::rules::broadcast_sizes;
use rushlight_base::{DType, DimVec, Result, bail, ensure, format_sizes};

/// Column-major matrices.
pub(super) fn matrices(batch: &[i64], [rows, columns]: [i64; 2], like: &Dense) -> Spec {
    matrices_of(batch, [rows, columns], like, like.dtype)
}

pub(super) fn matrices_of(batch: &[i64], [rows, columns]: [i64; 2], like: &Dense, dtype: DType) -> Spec {
    let mut sizes = DimVec::from_slice(batch);
    sizes.extend_from_slice(&[rows, columns]);
    let mut strides = DimVec::from_elem(1, sizes.len());
    let mut step = rows.max(1).saturating_mul(columns.max(1));
    for dim in (0..batch.len()).rev() {
        strides[dim] = step;
        step = step.saturating_mul(batch[dim].max(1));
    }
    strides[sizes.len() - 1] = rows.max(1);
    Spec::new(&sizes, dtype, like.device).with_strides(strides)
}

/// A vector per matrix.
pub(super) fn vectors(batch: &[i64], length: i64, like: &Dense, dtype: DType) -> Spec {
    let mut sizes = DimVec::from_slice(batch);
    sizes.push(length);
    Spec::new(&sizes, dtype, like.device)
}

/// A number per matrix.
pub(super) fn numbers(batch: &[i64], like: &Dense, dtype: DType) -> Spec {
    Spec::new(batch, dtype, like.device)
}

/// A factor and a status.
pub fn linalg_cholesky_ex(self_: &Dense, _upper: bool, _check_errors: bool) -> Result<[Spec; 2]> {
    checks::square("linalg.cholesky", "A", self_)?;
    checks::floating("linalg.cholesky", self_)?;
    checks::kernel("cholesky_cpu", self_)?;
    let batch = checks::batch(self_);
    Ok([matrices(batch, checks::extent(self_), self_), numbers(batch, self_, DType::I32)])
}

/// A factor.
pub fn cholesky(self_: &Dense, _upper: bool) -> Result<Spec> {
    if self_.numel() == 0 {
        return Ok(Spec::new(self_.sizes(), self_.dtype, self_.device));
    }
    checks::square("cholesky", "A", self_)?;
    checks::kernel("cholesky_cpu", self_)?;
    Ok(matrices(checks::batch(self_), checks::extent(self_), self_))
}

/// The shape of the right-hand side, in a common batch.
pub fn cholesky_solve(self_: &Dense, input2: &Dense, _upper: bool) -> Result<Spec> {
    ensure!(
        self_.ndim() >= 2,
        Runtime,
        "b should have at least 2 dimensions, but has {} dimensions instead",
        self_.ndim()
    );
    ensure!(
        input2.ndim() >= 2,
        Runtime,
        "u should have at least 2 dimensions, but has {} dimensions instead",
        input2.ndim()
    );
    let [rows, columns] = checks::extent(input2);
    ensure!(
        rows == columns,
        Runtime,
        "linalg.cholesky_solve: A must be batches of square matrices, but they are {rows} by {columns} matrices"
    );
    let own = checks::extent(self_);
    ensure!(
        own[0] == rows,
        Runtime,
        "Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {rows} but each b matrix is {} by {}",
        own[0],
        own[1]
    );
    ensure!(
        self_.dtype == input2.dtype,
        Runtime,
        "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead",
        self_.dtype.c10_name(),
        input2.dtype.c10_name()
    );
    checks::kernel("cholesky_solve_cpu", self_)?;
    let batch = broadcast_sizes(checks::batch(self_), checks::batch(input2))?;
    Ok(matrices(&batch, own, self_))
}

/// The inverse of the product of a factor.
pub fn cholesky_inverse(self_: &Dense, _upper: bool) -> Result<Spec> {
    checks::square("cholesky_inverse", "A", self_)?;
    checks::kernel("cholesky_inverse_out_cpu", self_)?;
    Ok(matrices(checks::batch(self_), checks::extent(self_), self_))
}

/// Both factors in one matrix, pivots, status.
pub fn linalg_lu_factor_ex(a: &Dense, pivot: bool, _check_errors: bool) -> Result<[Spec; 3]> {
    ensure!(
        a.ndim() >= 2,
        Runtime,
        "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: {} instead",
        format_sizes(a.sizes())
    );
    checks::kernel("lu_cpu", a)?;
    ensure!(pivot || a.numel() == 0, Runtime, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
    Ok(lu_parts(a))
}

fn lu_parts(a: &Dense) -> [Spec; 3] {
    let (batch, [rows, columns]) = (checks::batch(a), checks::extent(a));
    [
        matrices(batch, [rows, columns], a),
        vectors(batch, rows.min(columns), a, DType::I32),
        numbers(batch, a, DType::I32),
    ]
}

/// P, L and U; those that are not wanted are empty.
pub fn lu_unpack(lu_data: &Dense, lu_pivots: &Dense, unpack_data: bool, unpack_pivots: bool) -> Result<[Spec; 3]> {
    checks::matrix("torch.lu_unpack", "LU_data", lu_data)?;
    ensure!(
        !unpack_pivots || lu_pivots.dtype == DType::I32,
        Runtime,
        "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is \
         intended to be used with the output produced by torch.linalg.lu_factor"
    );
    let (batch, [rows, columns]) = (checks::batch(lu_data), checks::extent(lu_data));
    let order = rows.min(columns);
    let found = lu_pivots.sizes();
    ensure!(
        !unpack_pivots || found.len() == batch.len() + 1 && found.starts_with(batch) && found.ends_with(&[order]),
        Runtime,
        "torch.lu_unpack: LU_pivots of shape {} do not belong to LU_data of shape {}",
        format_sizes(found),
        format_sizes(lu_data.sizes())
    );
    let nothing = || Spec::new(&[0], lu_data.dtype, lu_data.device);
    let p = if unpack_pivots { matrices(batch, [rows, rows], lu_data) } else { nothing() };
    if !unpack_data {
        return Ok([p, nothing(), nothing()]);
    }
    Ok([p, matrices(batch, [rows, order], lu_data), matrices(batch, [order, columns], lu_data)])
}

/// The solution.
pub fn linalg_lu_solve(lu: &Dense, pivots: &Dense, b: &Dense, left: bool, _adjoint: bool) -> Result<Spec> {
    let name = "torch.linalg.lu_solve";
    checks::floating(name, lu)?;
    ensure!(
        lu.dtype == b.dtype,
        Runtime,
        "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {} and B of type {} instead",
        lu.dtype.c10_name(),
        b.dtype.c10_name()
    );
    ensure!(
        pivots.dtype == DType::I32,
        Runtime,
        "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32"
    );
    checks::square("torch.linalg.lu_solve", "LU", lu)?;
    checks::matrix(name, "B", b)?;
    checks::system("linalg.lu_solve", lu, checks::extent(b), left)?;
    let order = checks::extent(lu)[1];
    ensure!(
        pivots.sizes().last() == Some(&order),
        Runtime,
        "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
    );
    ensure!(
        checks::batch(lu) == &pivots.sizes()[..pivots.ndim() - 1],
        Runtime,
        "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape {} instead",
        format_sizes(pivots.sizes())
    );
    checks::kernel("lu_solve_cpu", lu)?;
    let batch = broadcast_sizes(checks::batch(lu), checks::batch(b))?;
    Ok(matrices(&batch, checks::extent(b), b))
}

/// Whether B is a batch of vectors: it has one dimension, or the shape of A without its last dimension.
pub(super) fn is_vectors(a: &Dense, b: &Dense) -> bool {
    b.ndim() == 1 || (a.ndim() >= 1 && *b.sizes() == a.sizes()[..a.ndim() - 1])
}

/// B as matrices.
pub(super) fn right_extent(a: &Dense, b: &Dense) -> ([i64; 2], DimVec, bool) {
    if is_vectors(a, b) {
        let sizes = b.sizes();
        return ([sizes[sizes.len() - 1], 1], DimVec::from_slice(&sizes[..sizes.len() - 1]), true);
    }
    (checks::extent(b), DimVec::from_slice(checks::batch(b)), false)
}

/// Solution, LU, pivots, status.
pub fn linalg_solve_ex(a: &Dense, b: &Dense, left: bool, _check_errors: bool) -> Result<[Spec; 4]> {
    let name = "linalg.solve";
    checks::matrix(name, "A", a)?;
    checks::same_dtype(name, ["A", "B"], a, b)?;
    ensure!(b.ndim() >= 1, Runtime, "{name}: The input tensor B must have at least 2 dimensions.");
    let (extent, own, is_vector) = right_extent(a, b);
    checks::floating(name, a)?;
    checks::square(name, "A", a)?;
    checks::system(name, a, extent, left)?;
    ensure!(
        left || !is_vector,
        Runtime,
        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case \
         linalg.solve is equivalent to B / A.squeeze(-1)"
    );
    checks::kernel("lu_cpu", a)?;
    let batch = broadcast_sizes(checks::batch(a), &own)?;
    let result = if is_vector { vectors(&batch, extent[0], a, a.dtype) } else { matrices(&batch, extent, a) };
    let [lu, pivots, info] = lu_parts(a);
    Ok([result, lu, pivots, info])
}

/// Inverse and status.
pub fn linalg_inv_ex(a: &Dense, _check_errors: bool) -> Result<[Spec; 2]> {
    checks::square("linalg.inv", "A", a)?;
    checks::precise("linalg.inv", a)?;
    let batch = checks::batch(a);
    Ok([matrices(batch, checks::extent(a), a), numbers(batch, a, DType::I32)])
}

/// Determinant, LU, pivots.
pub fn linalg_det(a: &Dense) -> Result<[Spec; 3]> {
    checks::square("linalg.det", "A", a)?;
    checks::floating("linalg.det", a)?;
    checks::kernel("lu_cpu", a)?;
    let [lu, pivots, _] = lu_parts(a);
    Ok([numbers(checks::batch(a), a, a.dtype), lu, pivots])
}

/// Sign, logarithm, LU, pivots.
pub fn linalg_slogdet(a: &Dense) -> Result<[Spec; 4]> {
    checks::square("linalg.slogdet", "A", a)?;
    checks::precise("linalg.slogdet", a)?;
    let [lu, pivots, _] = lu_parts(a);
    let batch = checks::batch(a);
    Ok([numbers(batch, a, a.dtype), numbers(batch, a, a.dtype.to_real()), lu, pivots])
}

/// The solution, in a common batch.
pub fn linalg_solve_triangular(self_: &Dense, b: &Dense, _upper: bool, left: bool, _unit: bool) -> Result<Spec> {
    let name = "linalg.solve_triangular";
    checks::square(name, "A", self_)?;
    checks::matrix(name, "B", b)?;
    checks::system(name, self_, checks::extent(b), left)?;
    checks::kernel("triangular_solve_cpu", self_)?;
    let batch = broadcast_sizes(checks::batch(b), checks::batch(self_))?;
    Ok(matrices(&batch, checks::extent(b), self_))
}

/// R and reflections, and their factors.
pub fn geqrf(self_: &Dense) -> Result<[Spec; 2]> {
    ensure!(self_.ndim() >= 2, Runtime, "torch.geqrf: input must have at least 2 dimensions.");
    checks::kernel("geqrf_cpu", self_)?;
    let (batch, [rows, columns]) = (checks::batch(self_), checks::extent(self_));
    Ok([matrices(batch, [rows, columns], self_), vectors(batch, rows.min(columns), self_, self_.dtype)])
}

/// The first columns of Q.
pub fn linalg_householder_product(input: &Dense, tau: &Dense) -> Result<Spec> {
    let name = "torch.linalg.householder_product";
    ensure!(input.ndim() >= 2, Runtime, "{name}: input must have at least 2 dimensions.");
    let (batch, [rows, columns]) = (checks::batch(input), checks::extent(input));
    ensure!(rows >= columns, Runtime, "{name}: input.shape[-2] must be greater than or equal to input.shape[-1]");
    let count = tau.sizes().last().copied().unwrap_or(0);
    ensure!(columns >= count, Runtime, "{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]");
    ensure!(
        input.ndim() == tau.ndim() + 1,
        Runtime,
        "{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim is \
         equal to {}",
        tau.ndim(),
        input.ndim()
    );
    if input.ndim() > 2 {
        ensure!(
            *batch == tau.sizes()[..tau.ndim() - 1],
            Runtime,
            "{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {}",
            format_sizes(&tau.sizes()[..tau.ndim() - 1])
        );
    }
    ensure!(
        tau.dtype == input.dtype,
        Runtime,
        "{name}: tau dtype {} does not match input dtype {}",
        tau.dtype.c10_name(),
        input.dtype.c10_name()
    );
    checks::kernel("orgqr_cpu", input)?;
    Ok(matrices(batch, [rows, columns], input))
}

/// The shape of the matrix that is multiplied.
pub fn ormqr(self_: &Dense, input2: &Dense, input3: &Dense, left: bool, _transpose: bool) -> Result<Spec> {
    let (tau, other) = (input2, input3);
    ensure!(self_.ndim() >= 2, Runtime, "torch.ormqr: input must have at least 2 dimensions.");
    ensure!(other.ndim() >= 2, Runtime, "torch.ormqr: other must have at least 2 dimensions.");
    let ([rows, columns], extent) = (checks::extent(self_), checks::extent(other));
    let (at, own) = if left { (-2, extent[0]) } else { (-1, extent[1]) };
    let count = tau.sizes().last().copied().unwrap_or(0);
    ensure!(own >= count, Runtime, "torch.ormqr: other.shape[{at}] must be greater than or equal to tau.shape[-1]");
    ensure!(own == rows, Runtime, "torch.ormqr: other.shape[{at}] must be equal to input.shape[-2]");
    ensure!(count <= columns, Runtime, "torch.ormqr: tau.shape[-1] must be less than or equal to input.shape[-1]");
    ensure!(
        self_.ndim() == tau.ndim() + 1,
        Runtime,
        "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim is \
         equal to {}",
        tau.ndim(),
        self_.ndim()
    );
    ensure!(
        self_.ndim() == other.ndim(),
        Runtime,
        "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to {} and \
         input.ndim is equal to {}",
        other.ndim(),
        self_.ndim()
    );
    let batch = checks::batch(self_);
    for (name, sizes) in [("tau", &tau.sizes()[..tau.ndim() - 1]), ("other", checks::batch(other))] {
        checks::shape(
            |own| {
                format!(
                    "torch.ormqr: Expected batch dimensions of {name} to be equal to input.shape[:-2], but got {own}"
                )
            },
            sizes,
            batch,
        )?;
    }
    for (name, dtype) in [("tau", tau.dtype), ("other", other.dtype)] {
        ensure!(
            dtype == self_.dtype,
            Runtime,
            "torch.ormqr: Expected input and {name} to have the same dtype, but input has dtype {} and {name} has dtype \
             {}",
            self_.dtype.c10_name(),
            dtype.c10_name()
        );
    }
    checks::kernel("ormqr_cpu", self_)?;
    Ok(matrices(batch, extent, self_))
}

/// How much of Q a mode computes, and whether it computes it at all.
pub(super) fn parse_mode(mode: &str) -> Result<(bool, bool)> {
    match mode {
        "reduced" => Ok((true, true)),
        "complete" => Ok((true, false)),
        "r" => Ok((false, true)),
        other => bail!(
            Runtime,
            "qr received unrecognized mode '{other}' but expected one of 'reduced' (default), 'r', or 'complete'"
        ),
    }
}

/// Q and R.
pub fn linalg_qr(a: &Dense, mode: &str) -> Result<[Spec; 2]> {
    checks::matrix("linalg.qr", "A", a)?;
    checks::floating("linalg.qr", a)?;
    let (computes_q, reduced) = parse_mode(mode)?;
    checks::kernel("geqrf_cpu", a)?;
    let (batch, [rows, columns]) = (checks::batch(a), checks::extent(a));
    let order = if reduced { rows.min(columns) } else { rows };
    let q = if computes_q { matrices(batch, [rows, order], a) } else { Spec::new(&[0], a.dtype, a.device) };
    Ok([q, matrices(batch, [order, columns], a)])
}
