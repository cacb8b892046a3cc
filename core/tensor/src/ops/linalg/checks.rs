//! What decompositions check, in PyTorch's words: shapes and dtypes before, the status of LAPACK's routines afterwards.

use crate::dense::Dense;
use rushlight_base::{DType, Error, Result, ensure, err, format_sizes};

/// Fails unless the last two dimensions are matrices.
pub(super) fn matrix(name: &str, argument: &str, dense: &Dense) -> Result<()> {
    ensure!(dense.ndim() >= 2, Runtime, "{name}: The input tensor {argument} must have at least 2 dimensions.");
    Ok(())
}

/// Rows and columns, of a tensor with at least 2 dimensions.
pub(super) fn extent(dense: &Dense) -> [i64; 2] {
    let sizes = dense.sizes();
    [sizes[sizes.len() - 2], sizes[sizes.len() - 1]]
}

/// The dimensions before the last two.
pub(super) fn batch(dense: &Dense) -> &[i64] {
    &dense.sizes()[..dense.ndim() - 2]
}

/// Fails unless the last two dimensions are square matrices.
pub(super) fn square(name: &str, argument: &str, dense: &Dense) -> Result<()> {
    matrix(name, argument, dense)?;
    let [rows, columns] = extent(dense);
    ensure!(
        rows == columns,
        Runtime,
        "{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices"
    );
    Ok(())
}

/// Fails for integers and bool.
pub(super) fn floating(name: &str, dense: &Dense) -> Result<()> {
    ensure!(
        dense.dtype.is_floating() || dense.dtype.is_complex(),
        Runtime,
        "{name}: Expected a floating point or complex tensor as input. Got {}",
        dense.dtype.c10_name()
    );
    Ok(())
}

/// Fails for integers, bool and half precision.
pub(super) fn precise(name: &str, dense: &Dense) -> Result<()> {
    floating(name, dense)?;
    ensure!(
        !is_low(dense.dtype),
        Runtime,
        "{name}: Low precision dtypes not supported. Got {}",
        dense.dtype.c10_name()
    );
    Ok(())
}

fn is_low(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::C32)
}

/// Whether decompositions have kernels for a dtype.
pub(super) fn has_kernels(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128)
}

/// Fails unless there is a kernel of this name for the dtype.
pub(super) fn kernel(name: &str, dense: &Dense) -> Result<()> {
    ensure!(has_kernels(dense.dtype), Runtime, "\"{name}\" not implemented for '{}'", dense.dtype.c10_name());
    Ok(())
}

/// Fails unless two tensors have one dtype.
pub(super) fn same_dtype(name: &str, [first, second]: [&str; 2], a: &Dense, b: &Dense) -> Result<()> {
    ensure!(
        a.dtype == b.dtype,
        Runtime,
        "{name}: Expected {first} and {second} to have the same dtype, but found {first} of type {} and {second} of type \
         {} instead",
        a.dtype.c10_name(),
        b.dtype.c10_name()
    );
    Ok(())
}

/// Fails unless the matrices of A X = B, or of X A = B, fit.
pub(super) fn system(name: &str, a: &Dense, b: [i64; 2], left: bool) -> Result<()> {
    let [rows, columns] = extent(a);
    let (own, equation) = if left { (b[0], "AX = B") } else { (b[1], "XA = B") };
    ensure!(
        rows == own,
        Runtime,
        "{name}: Incompatible shapes of A and B for the equation {equation} ({rows}x{columns} and {}x{})",
        b[0],
        b[1]
    );
    Ok(())
}

/// The first status that is not 0, with its index in the batch.
fn first_failure(info: &Dense) -> Result<Option<(usize, i32)>> {
    if info.is_meta() {
        return Ok(None);
    }
    let contiguous = super::super::access::cast(&super::super::transfer::on_host(info)?, DType::I32)?;
    for index in 0..info.numel() as usize {
        // SAFETY: `cast` wrote as many elements of this type into `contiguous`, which lives until the end.
        let status = unsafe { *contiguous.host_ptr().cast::<i32>().add(index) };
        if status != 0 {
            return Ok(Some((index, status)));
        }
    }
    Ok(None)
}

/// Fails with the first status of a batch that is not 0. `is_matrix`: there is no batch.
pub(super) fn status(name: &str, info: &Dense, kind: Failure) -> Result<()> {
    match first_failure(info)? {
        None => Ok(()),
        Some((index, status)) => Err(kind.error(name, (info.ndim() > 0).then_some(index), status)),
    }
}

/// What a status that is not 0 means.
#[derive(Clone, Copy)]
pub(super) enum Failure {
    /// A matrix without an inverse.
    Inverse,
    /// A system without a unique solution.
    Solve,
    /// A matrix that is not positive-definite.
    Cholesky,
    /// A diagonal element of U that is 0.
    Lu,
    /// A block of D that is 0.
    Ldl,
    /// Eigenvalues that do not converge.
    Eigenvalues,
    /// Singular values that do not converge.
    SingularValues,
    /// Elements that are infinite or NaN.
    NotFinite,
}

impl Failure {
    /// The error of matrix `index` of a batch.
    pub(super) fn error(self, name: &str, index: Option<usize>, status: i32) -> Error {
        let place = index.map(|index| format!(" (Batch element {index}):")).unwrap_or_default();
        match self {
            Failure::Inverse => err!(
                LinAlg,
                "{name}:{place} The diagonal element {status} is zero, the inversion could not be completed because the \
                 input matrix is singular."
            ),
            Failure::Solve => {
                err!(LinAlg, "{name}:{place} The solver failed because the input matrix is singular.")
            }
            Failure::Cholesky => err!(
                LinAlg,
                "{name}:{place} The factorization could not be completed because the input is not positive-definite \
                 (the leading minor of order {status} is not positive-definite)."
            ),
            Failure::Lu => err!(
                Runtime,
                "{name}:{place} U[{status},{status}] is zero and using it on lu_solve would result in a division by \
                 zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or \
                 linalg.lu_factor_ex(A, pivot)"
            ),
            Failure::Ldl => err!(
                LinAlg,
                "{name}:{place} D[{status},{status}] is zero: the factorization has been completed, but solving a system \
                 with it would divide by zero."
            ),
            Failure::Eigenvalues => err!(
                LinAlg,
                "{name}:{place} The algorithm failed to converge because the input matrix is ill-conditioned or has too \
                 many repeated eigenvalues (error code: {status})."
            ),
            Failure::SingularValues => err!(
                LinAlg,
                "{name}:{place} The algorithm failed to converge because the input matrix is ill-conditioned or has too \
                 many repeated singular values (error code: {status})."
            ),
            Failure::NotFinite => err!(
                LinAlg,
                "{name}:{place} The algorithm failed to converge because the input matrix contained non-finite values."
            ),
        }
    }
}

/// Fails unless `sizes` are those that `argument` must have.
pub(super) fn shape(message: impl FnOnce(String) -> String, own: &[i64], wanted: &[i64]) -> Result<()> {
    if own == wanted {
        return Ok(());
    }
    Err(err!(Runtime, "{}", message(format_sizes(own))))
}

/// Fails unless pivots are rows of a matrix with so many.
pub(super) fn pivots(pivots: &Dense, rows: i64) -> Result<()> {
    ensure!(
        each_pivot(pivots)?.all(|pivot| (1..=rows).contains(&pivot)),
        Runtime,
        "pivots passed to lu_unpack or lu_solve must be between 1 and LU.size(-2) inclusive. Did you properly pass the result \
         of lu_factor?"
    );
    Ok(())
}

/// Fails unless pivots, or their negatives, are rows of a matrix with so many.
pub(super) fn block_pivots(pivots: &Dense, rows: i64) -> Result<()> {
    ensure!(
        each_pivot(pivots)?.all(|pivot| (1..=rows).contains(&pivot.abs())),
        Runtime,
        "torch.linalg.ldl_solve: the absolute values of pivots must be between 1 and LD.size(-2) inclusive"
    );
    Ok(())
}

fn each_pivot(pivots: &Dense) -> Result<impl Iterator<Item = i64>> {
    let own = super::super::access::cast(pivots, DType::I32)?;
    Ok((0..pivots.numel() as usize).map(move |index| {
        // SAFETY: `cast` wrote as many elements of this type into `own`, which the iterator owns.
        i64::from(unsafe { *own.host_ptr().cast::<i32>().add(index) })
    }))
}
