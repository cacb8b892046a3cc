//! Composite operators: products of vectors, Kronecker products, diagonals, powers.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, wrap_dim};

/// The cross product along a dimension of size 3.
pub fn linalg_cross(self_: &Tensor, other: &Tensor, dim: i64) -> Result<Tensor> {
    ensure!(self_.ndim() == other.ndim(), Runtime, "linalg.cross: inputs must have the same number of dimensions.");
    let at = wrap_dim(dim, self_.ndim())?;
    let size_of = |tensor: &Tensor| tensor.sizes().get(at).copied().unwrap_or(1);
    let (size, other_size) = (size_of(self_), size_of(other));
    ensure!(
        size == 3 && other_size == 3,
        Runtime,
        "linalg.cross: inputs dimension {dim} must have length 3. Got {size} and {other_size}"
    );
    ensure!(
        self_.dtype() == other.dtype(),
        Runtime,
        "expected scalar type {} but found {}",
        self_.dtype().c10_name(),
        other.dtype().c10_name()
    );
    ensure!(self_.dtype() != DType::Bool, Runtime, "\"cross\" not implemented for 'Bool'");
    // Element i of the product uses the elements that follow it, cyclically.
    let product = |left: i64, right: i64| {
        let [left, right] = [(self_, left), (other, right)].map(|(of, nth)| ops::select_int(of, dim, nth % 3));
        ops::mul_tensor(&left?, &right?)
    };
    let element = |i: i64| ops::sub_tensor(&product(i + 1, i + 2)?, &product(i + 2, i + 1)?, Scalar::Int(1));
    ops::stack(&[&element(0)?, &element(1)?, &element(2)?], at as i64)
}

/// The cross product along the first dimension of size 3, or the given one.
pub fn cross(self_: &Tensor, other: &Tensor, dim: Option<i64>) -> Result<Tensor> {
    ensure!(self_.ndim() == other.ndim(), Runtime, "linalg.cross: inputs must have the same number of dimensions.");
    let dim = match dim {
        Some(dim) => dim,
        None => {
            let first = self_.sizes().iter().position(|&size| size == 3);
            first.ok_or_else(|| rushlight_base::err!(Runtime, "no dimension of size 3 in input"))? as i64
        }
    };
    linalg_cross(self_, other, dim)
}

fn check_floating(name: &str, tensor: &Tensor) -> Result<()> {
    ensure!(
        tensor.dtype().is_differentiable(),
        Runtime,
        "{name}: Expected a floating point or complex tensor as input. Got {}",
        tensor.dtype().c10_name()
    );
    Ok(())
}

/// The products of vectors along a dimension, the first conjugated.
pub fn linalg_vecdot(x: &Tensor, y: &Tensor, dim: i64) -> Result<Tensor> {
    check_floating("linalg.vecdot", x)?;
    ensure!(
        x.dtype() == y.dtype(),
        Runtime,
        "linalg.vecdot: Expected x and y to have the same dtype, but got {} and {} instead",
        x.dtype().c10_name(),
        y.dtype().c10_name()
    );
    if (x.ndim(), y.ndim()) == (1, 1) {
        // As in PyTorch, `dim` is not looked at.
        return ops::vdot(x, y);
    }
    let sizes = ops::rules::broadcast_sizes(&x.sizes(), &y.sizes())?;
    let (x, y) = (&ops::expand(x, &sizes, false)?, &ops::expand(y, &sizes, false)?);
    if x.ndim() == 0 {
        wrap_dim(dim, 1)?;
        return ops::mul_tensor(&ops::conj(x)?, y);
    }
    // As products of rows and columns, which are rounded once.
    let last = |tensor: &Tensor| ops::movedim_int(tensor, dim, -1);
    let (row, column) = (ops::unsqueeze(&ops::conj(&last(x)?)?, -2)?, ops::unsqueeze(&last(y)?, -1)?);
    ops::squeeze_dim(&ops::squeeze_dim(&ops::matmul(&row, &column)?, -1)?, -1)
}

/// The sum of a matrix's diagonal.
pub fn trace(self_: &Tensor) -> Result<Tensor> {
    ensure!(self_.ndim() == 2, Runtime, "trace: expected a matrix, but got tensor with dim {}", self_.ndim());
    let dtype = self_.dtype();
    ensure!(
        !matches!(dtype, DType::Bool | DType::F16 | DType::BF16 | DType::C32),
        Runtime,
        "\"trace\" not implemented for '{}'",
        dtype.c10_name()
    );
    ops::sum(&ops::diagonal(self_, 0, 0, 1)?, None)
}

/// Diagonals of the last two dimensions.
pub fn linalg_diagonal(a: &Tensor, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
    ops::diagonal(a, offset, dim1, dim2)
}

/// The Kronecker product: each element times a whole tensor.
pub fn kron(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    // Dimensions of both in turn, of size 1 where one has fewer.
    let rank = self_.ndim().max(other.ndim());
    let padded = |tensor: &Tensor| {
        let mut sizes = DimVec::from_elem(1, rank - tensor.ndim());
        sizes.extend_from_slice(&tensor.sizes());
        sizes
    };
    let (own, others) = (padded(self_), padded(other));
    let spread = |sizes: &[i64], first: bool| -> Vec<i64> {
        sizes.iter().flat_map(|&size| if first { [size, 1] } else { [1, size] }).collect()
    };
    let product =
        ops::mul_tensor(&ops::reshape(self_, &spread(&own, true))?, &ops::reshape(other, &spread(&others, false))?)?;
    let sizes: DimVec = own.iter().zip(&others).map(|(a, b)| a * b).collect();
    ops::reshape(&product, &sizes)
}

/// The gradient of `trace`.
pub fn trace_backward(grad: &Tensor, sizes: &[i64]) -> Result<Tensor> {
    let &[rows, columns] = sizes else { bail!(Runtime, "expected matrix input") };
    ensure!(
        grad.ndim() == 0,
        Runtime,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
        grad.ndim()
    );
    let diagonal = ops::expand(grad, &[rows.min(columns)], false)?;
    ops::diagonal_scatter(&ops::zeros(sizes, grad.options())?, &diagonal, 0, 0, 1)
}
