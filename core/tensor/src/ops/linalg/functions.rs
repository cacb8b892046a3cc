//! Powers, pseudoinverses, least squares and systems of tensors, made of decompositions.

use super::checks::{self, Failure};
use super::norms::{tolerance, tolerances};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, wrap_dim};

/// self^n, by repeated squaring.
pub fn matrix_power(self_: &Tensor, n: i64) -> Result<Tensor> {
    checks::square("linalg.matrix_power", "A", &*self_.dense()?)?;
    if n == 0 {
        let sizes = self_.sizes();
        let identity = ops::eye(sizes[sizes.len() - 1], self_.options())?;
        let all = ops::ones(&[], Options { dtype: Some(DType::Bool), ..self_.options() })?;
        // As in PyTorch, the result has a gradient, of 0.
        return ops::where_self(&all, &identity, self_);
    }
    let base = if n < 0 { ops::linalg_inv(self_)? } else { self_.clone() };
    let mut rest = n.unsigned_abs();
    if rest == 1 {
        return if n < 0 { Ok(base) } else { ops::clone(&base, None) };
    }
    let (mut square, mut result) = (base, None);
    loop {
        if rest & 1 == 1 {
            result = Some(match result {
                None => square.clone(),
                Some(product) => ops::matmul(&product, &square)?,
            });
        }
        rest >>= 1;
        match result {
            Some(result) if rest == 0 => return Ok(result),
            _ => square = ops::matmul(&square, &square)?,
        }
    }
}

/// The tensor that is the inverse for `tensordot` over `ind` dimensions.
pub fn tensorinv(self_: &Tensor, ind: i64) -> Result<Tensor> {
    ensure!(ind > 0, Runtime, "Expected a strictly positive integer for 'ind', but got {ind}");
    let sizes = self_.sizes();
    ensure!(ind <= sizes.len() as i64, Runtime, "ArrayRef: invalid slice, N = {ind}; size = {}", sizes.len());
    let (head, tail) = sizes.split_at(ind as usize);
    let (rows, columns): (i64, i64) = (head.iter().product(), tail.iter().product());
    ensure!(
        rows == columns,
        Runtime,
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns} != \
         {rows}"
    );
    let mut shape = DimVec::from_slice(tail);
    shape.extend_from_slice(head);
    let (inverse, info) = ops::linalg_inv_ex(&ops::reshape(self_, &[rows, columns])?, false)?;
    checks::status("inv", &*info.dense()?, Failure::Inverse)?;
    ops::reshape(&inverse, &shape)
}

/// The tensor whose `tensordot` with `self` is `other`; the dimensions `dims` are moved to the end before.
pub fn tensorsolve(self_: &Tensor, other: &Tensor, dims: Option<&[i64]>) -> Result<Tensor> {
    let ndim = self_.ndim();
    let mut own = self_.clone();
    if let Some(dims) = dims {
        let moved = dims.iter().map(|&dim| wrap_dim(dim, ndim)).collect::<Result<Vec<usize>>>()?;
        let mut order: DimVec = (0..ndim).filter(|dim| !moved.contains(dim)).map(|dim| dim as i64).collect();
        order.extend(moved.iter().map(|&dim| dim as i64));
        own = ops::permute(&own, &order)?;
    }
    let sizes = own.sizes();
    let tail = &sizes[other.ndim().min(sizes.len())..];
    let (rows, columns): (i64, i64) = (other.numel(), tail.iter().product());
    ensure!(
        rows == columns,
        Runtime,
        "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got \
         {columns} != {rows}"
    );
    let matrix = ops::reshape(&own, &[rows, columns])?;
    let solution = ops::linalg_solve(&matrix, &ops::reshape(other, &[-1])?, true)?;
    ops::reshape(&solution, tail)
}

/// The Moore-Penrose pseudoinverse, with singular values up to a tolerance counted as 0.
pub fn pinv(self_: &Tensor, atol: Option<&Tensor>, rtol: Option<&Tensor>, hermitian: bool) -> Result<Tensor> {
    check_pinv(self_)?;
    let [atol, rtol] = tolerances("torch.linalg.pinv", self_, atol, rtol)?;
    // Matrices without elements need not be square.
    ops::_linalg_pinv(self_, &atol, &rtol, hermitian && self_.numel() > 0)
}

fn check_pinv(self_: &Tensor) -> Result<()> {
    ensure!(
        self_.ndim() >= 2 && checks::has_kernels(self_.dtype()),
        Runtime,
        "linalg.pinv({}{{{}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types",
        self_.dtype().c10_name(),
        rushlight_base::format_sizes(&self_.sizes())
    );
    Ok(())
}

/// The same, with numbers as tolerances.
pub fn pinv_float(self_: &Tensor, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<Tensor> {
    check_pinv(self_)?;
    let tensor = |value: Option<f64>| value.map(|value| tolerance(self_, value)).transpose();
    pinv(self_, tensor(atol)?.as_ref(), tensor(rtol)?.as_ref(), hermitian)
}

/// The same, with a relative tolerance.
pub fn pinv_rcond(self_: &Tensor, rcond: f64, hermitian: bool) -> Result<Tensor> {
    pinv_float(self_, Some(0.0), Some(rcond), hermitian)
}

/// The same, with relative tolerances.
pub fn pinv_rcond_tensor(self_: &Tensor, rcond: &Tensor, hermitian: bool) -> Result<Tensor> {
    check_pinv(self_)?;
    pinv(self_, Some(&tolerance(self_, 0.0)?), Some(rcond), hermitian)
}

/// The same, under its older name.
pub fn pinverse(self_: &Tensor, rcond: f64) -> Result<Tensor> {
    pinv_rcond(self_, rcond, false)
}

/// The algorithm of least squares.
#[derive(Clone, Copy, PartialEq)]
enum Driver {
    Gels,
    Gelsy,
    Gelsd,
    Gelss,
}

fn driver(name: Option<&str>) -> Result<Driver> {
    match name {
        None | Some("gelsy") => Ok(Driver::Gelsy),
        Some("gels") => Ok(Driver::Gels),
        Some("gelsd") => Ok(Driver::Gelsd),
        Some("gelss") => Ok(Driver::Gelss),
        Some(_) => {
            bail!(Runtime, "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
        }
    }
}

/// Solution, residuals, rank and singular values of least squares.
pub fn lstsq(
    self_: &Tensor,
    b: &Tensor,
    rcond: Option<f64>,
    driver_name: Option<&str>,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    let name = "torch.linalg.lstsq";
    ensure!(self_.ndim() >= 2, Runtime, "{name}: input must have at least 2 dimensions.");
    ensure!(b.ndim() >= 1, Runtime, "{name}: other must have at least 1 dimension.");
    let difference = self_.ndim() as i64 - b.ndim() as i64;
    ensure!(
        (0..=1).contains(&difference),
        Runtime,
        "{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
    );
    let (sizes, right) = (self_.sizes(), b.sizes());
    let (rows, columns) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
    let vectors = difference == 1;
    let at = right.len() - if vectors { 1 } else { 2 };
    ensure!(
        rows == right[at],
        Runtime,
        "{name}: input.size(-2) should match other.size({})",
        if vectors { -1 } else { -2 }
    );
    ensure!(
        self_.dtype() == b.dtype(),
        Runtime,
        "{name}: Expected input and other to have the same dtype, but got input's dtype {} and other's dtype {}",
        self_.dtype().c10_name(),
        b.dtype().c10_name()
    );
    let driver = driver(driver_name)?;
    ensure!(
        checks::has_kernels(self_.dtype()),
        Runtime,
        "This function doesn't handle types other than float and double"
    );
    let right = if vectors { ops::unsqueeze(b, -1)? } else { b.clone() };
    let tolerance = rcond.unwrap_or_else(|| super::norms::default_relative(self_));
    let nothing = |like: &Tensor| ops::empty_memory_format(&[0], like.options(), None);
    let (x, rank, values) = if driver == Driver::Gelsy {
        let (x, rank) = ops::_linalg_lstsq_rank(self_, &right, tolerance)?;
        let values =
            ops::empty_memory_format(&[0], Options { dtype: Some(self_.dtype().to_real()), ..self_.options() }, None)?;
        (x, rank, values)
    } else {
        ops::_linalg_lstsq(self_, &right, tolerance, driver == Driver::Gels)?
    };
    let residuals = residuals(self_, &right, &x, &rank, driver, rows > columns)?;
    let x = if vectors { ops::squeeze_dim(&x, -1)? } else { x };
    let rank = if driver == Driver::Gels { nothing(&rank)? } else { rank };
    let shown = matches!(driver, Driver::Gelsd | Driver::Gelss);
    let values = if shown { values } else { nothing(&values)? };
    Ok((x, residuals, rank, values))
}

/// Whether every matrix has as many independent columns as it has columns.
fn is_full(a: &Tensor, rank: &Tensor) -> Result<bool> {
    ensure!(
        !rank.dense()?.is_meta(),
        NotImplemented,
        "linalg_lstsq: the shape of the result depends on data, which is not available on meta"
    );
    let columns = a.sizes().last().copied().unwrap_or(0);
    Ok(ops::all(&ops::eq_scalar(rank, Scalar::Int(columns))?)?.item()?.to_bool())
}

/// The sums of squares of what is left of B, where A is tall and every matrix has full rank.
fn residuals(a: &Tensor, b: &Tensor, x: &Tensor, rank: &Tensor, driver: Driver, tall: bool) -> Result<Tensor> {
    let wanted = tall && driver != Driver::Gelsy;
    if !wanted || (driver != Driver::Gels && !is_full(a, rank)?) {
        // No elements, but with a place in the graph, as PyTorch's.
        return ops::narrow(&ops::reshape(&ops::abs(x)?, &[-1])?, 0, 0, 0);
    }
    let rest = ops::sub_tensor(&ops::matmul(a, x)?, b, Scalar::Int(1))?;
    let squares = ops::pow_tensor_scalar(&ops::abs(&rest)?, Scalar::Int(2))?;
    ops::sum_dim_intlist(&squares, Some(&[-2]), false, None)
}
