//! Norms of matrices, condition numbers and ranks, made of singular values.

use super::checks;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, wrap_dim};

/// The order of a matrix norm.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    /// The largest (or smallest) singular value.
    Spectral {
        smallest: bool,
    },
    /// The largest (or smallest) sum of absolute values of a column, or of a row.
    Sum {
        rows: bool,
        smallest: bool,
    },
    Frobenius,
    Nuclear,
}

fn number(order: Scalar) -> Result<Order> {
    ensure!(
        !order.dtype().is_complex(),
        Runtime,
        "linalg.matrix_norm: Expected a non-complex scalar as the order of norm."
    );
    let value = order.to_f64();
    let smallest = value < 0.0;
    match value.abs() {
        2.0 => Ok(Order::Spectral { smallest }),
        1.0 => Ok(Order::Sum { rows: false, smallest }),
        f64::INFINITY => Ok(Order::Sum { rows: true, smallest }),
        _ => bail!(Runtime, "linalg.matrix_norm: Order {} not supported.", number_text(value)),
    }
}

fn named(order: &str) -> Result<Order> {
    match order {
        "fro" => Ok(Order::Frobenius),
        "nuc" => Ok(Order::Nuclear),
        other => bail!(Runtime, "linalg.matrix_norm: Order {other} not supported."),
    }
}

/// As C++ streams write a double.
fn number_text(value: f64) -> String {
    if value.is_infinite() { if value > 0.0 { "inf".into() } else { "-inf".into() } } else { format!("{value}") }
}

fn listed(dims: &[i64]) -> String {
    dims.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// A norm of matrices in two dimensions.
pub fn matrix_norm(self_: &Tensor, ord: Scalar, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    norm_of(self_, number(ord)?, dim, keepdim, dtype)
}

/// The same, by the name of the order.
pub fn matrix_norm_str(self_: &Tensor, ord: &str, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    norm_of(self_, named(ord)?, dim, keepdim, dtype)
}

fn norm_of(self_: &Tensor, order: Order, dim: &[i64], keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    let name = "linalg.matrix_norm";
    {
        let dense = self_.dense()?;
        checks::matrix(name, "A", &dense)?;
        checks::floating(name, &dense)?;
    }
    ensure!(dim.len() == 2, Runtime, "{name}: dim must be a 2-tuple. Got {}", listed(dim));
    let dims = [wrap_dim(dim[0], self_.ndim())?, wrap_dim(dim[1], self_.ndim())?];
    ensure!(dims[0] != dims[1], Runtime, "{name}: dims must be different. Got ({}, {})", dim[0], dim[1]);
    if order == Order::Frobenius {
        let all = dims.map(|dim| dim as i64);
        return ops::linalg_vector_norm(self_, Scalar::Int(2), Some(&all), keepdim, dtype);
    }
    let own = cast(name, self_, dtype)?;
    match order {
        Order::Sum { rows, smallest } => {
            let (summed, compared) = if rows { (dims[1], dims[0]) } else { (dims[0], dims[1]) };
            let sums = ops::linalg_vector_norm(&own, Scalar::Int(1), Some(&[summed as i64]), keepdim, None)?;
            let compared = if keepdim || compared < summed { compared } else { compared - 1 };
            extreme(&sums, compared as i64, keepdim, smallest)
        }
        _ => {
            checks::precise(name, &*own.dense()?)?;
            let values = ops::linalg_svdvals(&moved_last(&own, dims)?, None)?;
            let found = match order {
                Order::Spectral { smallest } => extreme(&values, -1, false, smallest)?,
                _ => ops::sum_dim_intlist(&values, Some(&[-1]), false, None)?,
            };
            if keepdim { restored(found, dims) } else { Ok(found) }
        }
    }
}

fn extreme(values: &Tensor, dim: i64, keepdim: bool, smallest: bool) -> Result<Tensor> {
    if smallest { ops::amin(values, &[dim], keepdim) } else { ops::amax(values, &[dim], keepdim) }
}

/// In the dtype of the result, which must hold all values of the input's.
fn cast(name: &str, self_: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    let Some(dtype) = dtype else { return Ok(self_.clone()) };
    let own = self_.dtype();
    ensure!(
        dtype.is_floating() || dtype.is_complex(),
        Runtime,
        "{name}: dtype should be floating point or complex. Got {}",
        dtype.c10_name()
    );
    ensure!(
        dtype.is_complex() == own.is_complex(),
        Runtime,
        "{name}: dtype should be {} for {} inputs, but got {}",
        if own.is_complex() { "complex" } else { "real" },
        if own.is_complex() { "complex" } else { "real" },
        dtype.c10_name()
    );
    ensure!(
        own.promote(dtype)? == dtype,
        Runtime,
        "{name}: the dtype of the input ({}) should be convertible without narrowing to the specified dtype ({})",
        own.c10_name(),
        dtype.c10_name()
    );
    ops::to_dtype(self_, dtype, false, false, None)
}

/// With two dimensions at the end, in this order.
fn moved_last(self_: &Tensor, dims: [usize; 2]) -> Result<Tensor> {
    let mut order: DimVec = (0..self_.ndim()).filter(|dim| !dims.contains(dim)).map(|dim| dim as i64).collect();
    order.extend(dims.map(|dim| dim as i64));
    ops::permute(self_, &order)
}

/// Two dimensions of size 1, where they were removed.
fn restored(found: Tensor, dims: [usize; 2]) -> Result<Tensor> {
    let (first, second) = (dims[0].min(dims[1]) as i64, dims[0].max(dims[1]) as i64);
    ops::unsqueeze(&ops::unsqueeze(&found, first)?, second)
}

/// The dimensions of a norm: none for all of them.
fn check_dims(self_: &Tensor, dim: Option<&[i64]>) -> Result<()> {
    if let Some(dim) = dim {
        ensure!(
            matches!(dim.len(), 1 | 2),
            Runtime,
            "linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{}]",
            listed(dim)
        );
        return Ok(());
    }
    ensure!(
        matches!(self_.ndim(), 1 | 2),
        Runtime,
        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.",
        self_.ndim()
    );
    Ok(())
}

/// A norm of vectors or matrices.
pub fn norm(
    self_: &Tensor,
    ord: Option<Scalar>,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let Some(order) = ord else {
        return ops::linalg_vector_norm(self_, Scalar::Int(2), dim, keepdim, dtype);
    };
    check_dims(self_, dim)?;
    if dim.map_or(self_.ndim(), <[i64]>::len) == 1 {
        return ops::linalg_vector_norm(self_, order, dim, keepdim, dtype);
    }
    ops::linalg_matrix_norm(self_, order, dim.unwrap_or(&[0, 1]), keepdim, dtype)
}

/// A norm of matrices, by the name of its order.
pub fn norm_str(self_: &Tensor, ord: &str, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Tensor> {
    check_dims(self_, dim)?;
    ops::linalg_matrix_norm_str_ord(self_, ord, dim.unwrap_or(&[0, 1]), keepdim, dtype)
}

/// The sum of the singular values.
pub fn nuclear_norm(self_: &Tensor, keepdim: bool) -> Result<Tensor> {
    ops::linalg_matrix_norm_str_ord(self_, "nuc", &[-2, -1], keepdim, None)
}

/// The same, of matrices in two dimensions.
pub fn nuclear_norm_dim(self_: &Tensor, dim: &[i64], keepdim: bool) -> Result<Tensor> {
    ops::linalg_matrix_norm_str_ord(self_, "nuc", dim, keepdim, None)
}

/// Zeros for each matrix of a batch without elements.
fn nothing(self_: &Tensor, dtype: DType) -> Result<Tensor> {
    let sizes = self_.sizes();
    ops::zeros(&sizes[..sizes.len() - 2], Options { dtype: Some(dtype), ..self_.options() })
}

/// The condition number.
pub fn cond(self_: &Tensor, p: Option<Scalar>) -> Result<Tensor> {
    ensure!(self_.ndim() >= 2, Runtime, "linalg.cond: The input tensor must have at least 2 dimensions.");
    let order = p.map_or(2.0, Scalar::to_f64);
    let valid = [2.0, 1.0, f64::INFINITY].contains(&order.abs());
    ensure!(valid, Runtime, "linalg.cond got an invalid norm type: {}", number_text(order));
    if self_.numel() == 0 && (order.abs() == 2.0 || is_square(self_)) {
        return nothing(self_, self_.dtype().to_real());
    }
    if order.abs() == 2.0 {
        let values = ops::linalg_svdvals(self_, None)?;
        let last = values.sizes().last().copied().unwrap_or(1) - 1;
        let (largest, smallest) = (ops::select_int(&values, -1, 0)?, ops::select_int(&values, -1, last)?);
        return if order < 0.0 { ops::div_tensor(&smallest, &largest) } else { ops::div_tensor(&largest, &smallest) };
    }
    checks::square(&format!("linalg.cond(ord={})", number_text(order)), "A", &*self_.dense()?)?;
    let order = Scalar::Float(order);
    by_inverse(self_, |a| ops::linalg_matrix_norm(a, order, &[-2, -1], false, None))
}

fn is_square(self_: &Tensor) -> bool {
    let sizes = self_.sizes();
    sizes.len() >= 2 && sizes[sizes.len() - 2] == sizes[sizes.len() - 1]
}

/// The product of a norm and that of the inverse; infinite for a singular matrix.
fn by_inverse(self_: &Tensor, norm: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let (inverse, info) = ops::linalg_inv_ex(self_, false)?;
    let singular = ops::ne_scalar(&info, Scalar::Int(0))?;
    let matrices = ops::unsqueeze(&ops::unsqueeze(&singular, -1)?, -1)?;
    // The inverse of a singular matrix has no finite elements, which singular values need.
    let inverse = ops::masked_fill_scalar(&inverse, &matrices, Scalar::Int(0))?;
    let product = ops::mul_tensor(&norm(self_)?, &norm(&inverse)?)?;
    ops::masked_fill_scalar(&product, &singular, Scalar::Float(f64::INFINITY))
}

/// The condition number, by the name of the norm.
pub fn cond_str(self_: &Tensor, p: &str) -> Result<Tensor> {
    checks::square(&format!("linalg.cond(ord={p})"), "A", &*self_.dense()?)?;
    ensure!(matches!(p, "fro" | "nuc"), Runtime, "linalg.cond got an invalid norm type: {p}");
    if self_.numel() == 0 {
        return nothing(self_, self_.dtype().to_real());
    }
    by_inverse(self_, |a| ops::linalg_matrix_norm_str_ord(a, p, &[-2, -1], false, None))
}

/// A number as a tensor beside `like`, in double precision.
pub(super) fn tolerance(like: &Tensor, value: f64) -> Result<Tensor> {
    ops::full(&[], Scalar::Float(value), Options { dtype: Some(DType::F64), ..like.options() })
}

/// The relative tolerance that stands for none: the machine epsilon times the larger side.
pub(super) fn default_relative(like: &Tensor) -> f64 {
    let sizes = like.sizes();
    let side = sizes[sizes.len() - 2].max(sizes[sizes.len() - 1]) as f64;
    let epsilon = match like.dtype().to_real() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    epsilon * side
}

/// Absolute and relative tolerance. Without a relative one it is 0 where the absolute one is positive.
pub(super) fn tolerances(
    name: &str,
    like: &Tensor,
    atol: Option<&Tensor>,
    rtol: Option<&Tensor>,
) -> Result<[Tensor; 2]> {
    for (argument, tensor) in [("atol", atol), ("rtol", rtol)] {
        if let Some(tensor) = tensor {
            ensure!(
                !tensor.dtype().is_complex(),
                Runtime,
                "{name}: {argument} tensor of complex type is not supported. Got {}",
                tensor.dtype().c10_name()
            );
        }
    }
    let absolute = atol.map_or_else(|| tolerance(like, 0.0), |atol| Ok(atol.clone()))?;
    let relative = match (atol, rtol) {
        (_, Some(rtol)) => rtol.clone(),
        (None, None) => tolerance(like, default_relative(like))?,
        (Some(atol), None) => {
            let default = tolerance(like, default_relative(like))?;
            ops::where_self(&ops::gt_scalar(atol, Scalar::Int(0))?, &tolerance(like, 0.0)?, &default)?
        }
    };
    Ok([absolute, relative])
}

/// The number of singular values above a tolerance.
pub fn matrix_rank(input: &Tensor, atol: Option<&Tensor>, rtol: Option<&Tensor>, hermitian: bool) -> Result<Tensor> {
    let name = "torch.linalg.matrix_rank";
    checks::matrix(name, "input", &*input.dense()?)?;
    // The precision of the dtype is the tolerance if none is given.
    ensure!(
        checks::has_kernels(input.dtype()) || atol.is_some() && rtol.is_some() && input.numel() == 0,
        Runtime,
        "This function doesn't handle types other than float and double"
    );
    let [absolute, relative] = tolerances(name, input, atol, rtol)?;
    if input.numel() == 0 {
        return nothing(input, DType::I64);
    }
    let values =
        if hermitian { ops::abs(&ops::linalg_eigvalsh(input, "L")?)? } else { ops::linalg_svdvals(input, None)? };
    let largest = ops::amax(&values, &[-1], true)?;
    let relative = ops::mul_tensor(&ops::unsqueeze(&relative, -1)?, &largest)?;
    let bound = ops::maximum(&ops::unsqueeze(&absolute, -1)?, &relative)?;
    ops::sum_dim_intlist(&ops::gt_tensor(&values, &bound)?, Some(&[-1]), false, None)
}

/// The same, with numbers as tolerances.
pub fn matrix_rank_float(self_: &Tensor, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<Tensor> {
    checks::matrix("torch.linalg.matrix_rank", "input", &*self_.dense()?)?;
    let tensor = |value: Option<f64>| value.map(|value| tolerance(self_, value)).transpose();
    matrix_rank(self_, tensor(atol)?.as_ref(), tensor(rtol)?.as_ref(), hermitian)
}

/// The same, with an absolute tolerance.
pub fn matrix_rank_tol(self_: &Tensor, tol: f64, hermitian: bool) -> Result<Tensor> {
    matrix_rank_float(self_, Some(tol), Some(0.0), hermitian)
}

/// The same, with absolute tolerances.
pub fn matrix_rank_tol_tensor(input: &Tensor, tol: &Tensor, hermitian: bool) -> Result<Tensor> {
    checks::matrix("torch.linalg.matrix_rank", "input", &*input.dense()?)?;
    matrix_rank(input, Some(tol), Some(&tolerance(input, 0.0)?), hermitian)
}
