//! Rules of reductions, and which dimensions they reduce.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, wrap_dim};

/// A set of dimensions: bit `d` represents dimension `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimSet(u64);

impl DimSet {
    /// The dimensions a reduction names; none or an empty list names all.
    pub fn new(dims: Option<&[i64]>, ndim: usize) -> Result<DimSet> {
        ensure!(ndim <= 64, Runtime, "only tensors with up to 64 dims are supported");
        let dims = dims.unwrap_or_default();
        if dims.is_empty() {
            return Ok(DimSet(if ndim == 64 { u64::MAX } else { (1 << ndim) - 1 }));
        }
        let mut set = 0u64;
        for &dim in dims {
            let dim = wrap_dim(dim, ndim)?;
            ensure!(set >> dim & 1 == 0, Runtime, "dim {dim} appears multiple times in the list of dims");
            set |= 1 << dim;
        }
        Ok(DimSet(set))
    }

    /// Whether `dim` is in the set.
    pub fn contains(self, dim: usize) -> bool {
        self.0 >> dim & 1 == 1
    }

    /// Whether all of `ndim` dimensions are in the set.
    pub fn is_all(self, ndim: usize) -> bool {
        self == DimSet(if ndim == 64 { u64::MAX } else { (1 << ndim) - 1 })
    }

    /// The reduced `sizes`: reduced dimensions are removed, or become 1.
    pub fn reduce(self, sizes: &[i64], keepdim: bool) -> DimVec {
        let mut left = DimVec::new();
        for (dim, &size) in sizes.iter().enumerate() {
            if !self.contains(dim) {
                left.push(size);
            } else if keepdim {
                left.push(1);
            }
        }
        left
    }
}

fn reduced(self_: &Dense, dims: Option<&[i64]>, keepdim: bool, dtype: DType) -> Result<Spec> {
    let sizes = DimSet::new(dims, self_.ndim())?.reduce(self_.sizes(), keepdim);
    Ok(Spec { sizes, strides: None, dtype, device: self_.device })
}

/// The sum of all elements: integers and bools sum to int64.
pub fn sum(self_: &Dense, dtype: Option<DType>) -> Result<Spec> {
    sum_dim(self_, None, false, dtype)
}

/// The sum over some dimensions.
pub fn sum_dim(self_: &Dense, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Spec> {
    let inferred = if self_.dtype.is_integral(true) { DType::I64 } else { self_.dtype };
    reduced(self_, dim, keepdim, dtype.unwrap_or(inferred))
}

/// The product of all elements: integers and bools give int64.
pub fn prod(self_: &Dense, dtype: Option<DType>) -> Result<Spec> {
    sum_dim(self_, None, false, dtype)
}

/// The product along a dimension.
pub fn prod_dim(self_: &Dense, dim: i64, keepdim: bool, dtype: Option<DType>) -> Result<Spec> {
    sum_dim(self_, Some(&[dim]), keepdim, dtype)
}

/// The number of selected elements, along a dimension or of all.
pub fn count_nonzero(self_: &Dense, dim: Option<i64>) -> Result<Spec> {
    match dim {
        Some(dim) => count_nonzero_dims(self_, &[dim]),
        None => count_nonzero_dims(self_, &[]),
    }
}

/// The number of selected elements along dimensions.
pub fn count_nonzero_dims(self_: &Dense, dim: &[i64]) -> Result<Spec> {
    reduced(self_, Some(dim), false, DType::I64)
}

/// The mean of all elements: floating or complex.
pub fn mean(self_: &Dense, dtype: Option<DType>) -> Result<Spec> {
    mean_dim(self_, None, false, dtype)
}

/// The mean over some dimensions.
pub fn mean_dim(self_: &Dense, dim: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<Spec> {
    let result = dtype.unwrap_or(self_.dtype);
    if !result.is_differentiable() {
        let what = if dtype.is_some() { "Optional" } else { "Input" };
        bail!(
            Runtime,
            "mean(): could not infer output dtype. {what} dtype must be either a floating point or complex dtype. \
             Got: {}",
            result.c10_name()
        );
    }
    reduced(self_, dim, keepdim, result)
}

/// An extremum requires at least one element.
fn check_not_empty(name: &str, self_: &Dense, dim: Option<i64>) -> Result<()> {
    let Some(dim) = dim else {
        ensure!(self_.numel() > 0, Index, "{name}(): Expected reduction dim to be specified for input.numel() == 0.");
        return Ok(());
    };
    let at = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes().get(at).copied().unwrap_or(1);
    ensure!(size > 0, Index, "{name}(): Expected reduction dim {at} to have non-zero size.");
    Ok(())
}

fn check_real(name: &str, self_: &Dense) -> Result<()> {
    ensure!(!self_.dtype.is_complex(), Runtime, "{name}(): does not support complex inputs.");
    Ok(())
}

fn extreme(name: &str, self_: &Dense) -> Result<Spec> {
    check_real(name, self_)?;
    ensure!(
        self_.numel() > 0,
        Runtime,
        "{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the \
         'dim' argument."
    );
    reduced(self_, None, false, self_.dtype)
}

/// The largest element of all.
pub fn max(self_: &Dense) -> Result<Spec> {
    extreme("max", self_)
}

/// The smallest element of all.
pub fn min(self_: &Dense) -> Result<Spec> {
    extreme("min", self_)
}

fn extreme_dim(name: &str, self_: &Dense, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    check_real(name, self_)?;
    value_and_place(name, self_, dim, keepdim)
}

/// An element along a dimension, with its index.
pub(super) fn value_and_place(name: &str, self_: &Dense, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    check_not_empty(name, self_, Some(dim))?;
    Ok([reduced(self_, Some(&[dim]), keepdim, self_.dtype)?, reduced(self_, Some(&[dim]), keepdim, DType::I64)?])
}

/// The largest along a dimension, with its index.
pub fn max_dim(self_: &Dense, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    extreme_dim("max", self_, dim, keepdim)
}

/// The smallest along a dimension, with its index.
pub fn min_dim(self_: &Dense, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    extreme_dim("min", self_, dim, keepdim)
}

fn extreme_dims(name: &str, self_: &Dense, dim: &[i64], keepdim: bool) -> Result<Spec> {
    check_real(name, self_)?;
    if dim.is_empty() {
        check_not_empty(name, self_, None)?;
    }
    for &dim in dim {
        check_not_empty(name, self_, Some(dim))?;
    }
    reduced(self_, Some(dim), keepdim, self_.dtype)
}

/// The largest over some dimensions.
pub fn amax(self_: &Dense, dim: &[i64], keepdim: bool) -> Result<Spec> {
    extreme_dims("amax", self_, dim, keepdim)
}

/// The smallest over some dimensions.
pub fn amin(self_: &Dense, dim: &[i64], keepdim: bool) -> Result<Spec> {
    extreme_dims("amin", self_, dim, keepdim)
}

/// The smallest and the largest, along a dimension or of all.
pub fn aminmax(self_: &Dense, dim: Option<i64>, keepdim: bool) -> Result<[Spec; 2]> {
    let dims: DimVec = dim.into_iter().collect();
    Ok([extreme_dims("amin", self_, &dims, keepdim)?, extreme_dims("amax", self_, &dims, keepdim)?])
}

fn extreme_place(name: &str, self_: &Dense, dim: Option<i64>, keepdim: bool) -> Result<Spec> {
    check_real(name, self_)?;
    check_not_empty(name, self_, dim)?;
    reduced(self_, dim.as_ref().map(std::slice::from_ref), keepdim, DType::I64)
}

/// The index of the largest.
pub fn argmax(self_: &Dense, dim: Option<i64>, keepdim: bool) -> Result<Spec> {
    extreme_place("argmax", self_, dim, keepdim)
}

/// The index of the smallest.
pub fn argmin(self_: &Dense, dim: Option<i64>, keepdim: bool) -> Result<Spec> {
    extreme_place("argmin", self_, dim, keepdim)
}

/// Logical reductions return bool; those of uint8 return uint8.
fn truth_dtype(self_: &Dense) -> DType {
    if self_.dtype == DType::U8 { DType::U8 } else { DType::Bool }
}

/// The logical reduction of all elements.
pub fn truth(self_: &Dense) -> Result<Spec> {
    reduced(self_, None, false, truth_dtype(self_))
}

/// The logical reduction along a dimension.
pub fn truth_dim(self_: &Dense, dim: i64, keepdim: bool) -> Result<Spec> {
    reduced(self_, Some(&[dim]), keepdim, truth_dtype(self_))
}

/// Logical reduction along dimensions; an empty list selects none.
pub fn truth_dims(self_: &Dense, dim: Option<&[i64]>, keepdim: bool) -> Result<Spec> {
    match dim {
        Some([]) => Ok(Spec::new(self_.sizes(), truth_dtype(self_), self_.device)),
        dim => reduced(self_, dim, keepdim, truth_dtype(self_)),
    }
}

/// The variance along dimensions: real.
pub fn var_correction(self_: &Dense, dim: Option<&[i64]>, correction: Option<Scalar>, keepdim: bool) -> Result<Spec> {
    correction.map_or(Ok(()), |correction| correction.check_convertible(DType::F64))?;
    ensure!(self_.dtype.is_differentiable(), Runtime, "std and var only support floating point and complex dtypes");
    reduced(self_, dim, keepdim, self_.dtype.to_real())
}

/// A norm along dimensions: real.
pub fn linalg_vector_norm(
    self_: &Dense,
    ord: Scalar,
    dim: Option<&[i64]>,
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Spec> {
    let kind = self_.dtype.c10_name();
    ensure!(
        !ord.dtype().is_complex(),
        Runtime,
        "linalg.vector_norm: Expected a non-complex scalar as the order of norm."
    );
    ensure!(
        self_.dtype.is_differentiable(),
        Runtime,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind}"
    );
    let computes = dtype.unwrap_or(self_.dtype);
    ensure!(
        computes.is_differentiable() && computes.is_complex() == self_.dtype.is_complex(),
        Runtime,
        "linalg.vector_norm: dtype should be floating point or complex, as the input is, but got {} for {kind}",
        computes.c10_name()
    );
    ensure!(
        self_.dtype.promote(computes)? == computes,
        Runtime,
        "linalg.vector_norm: the dtype of the input ({kind}) should be convertible without narrowing to the specified \
         dtype ({})",
        computes.c10_name()
    );
    let spec = reduced(self_, dim, keepdim, computes.to_real())?;
    let ord = ord.to_f64();
    // An empty tensor has no maximum, nor a norm of negative order.
    if self_.numel() == 0 && (ord < 0.0 || ord == f64::INFINITY) {
        let dims = DimSet::new(dim, self_.ndim())?;
        ensure!(
            !dims.is_all(self_.ndim()),
            Runtime,
            "linalg.vector_norm cannot compute the {ord} norm on an empty tensor because the operation does not have an \
             identity"
        );
        for (dim, &size) in self_.sizes().iter().enumerate() {
            ensure!(
                size != 0 || !dims.contains(dim),
                Runtime,
                "linalg.vector_norm cannot compute the {ord} norm on the dimension {dim} because this dimension is empty \
                 and the operation does not have an identity"
            );
        }
    }
    Ok(spec)
}

/// Cumulative sums: integers and bools sum to int64.
pub fn cumsum(self_: &Dense, dim: i64, dtype: Option<DType>) -> Result<Spec> {
    wrap_dim(dim, self_.ndim())?;
    let inferred = if self_.dtype.is_integral(true) { DType::I64 } else { self_.dtype };
    Ok(Spec::new(self_.sizes(), dtype.unwrap_or(inferred), self_.device))
}

/// Cumulative sums from the end, in the same dtype.
pub fn cumsum_from_end(self_: &Dense, dim: i64) -> Result<Spec> {
    cumsum(self_, dim, Some(self_.dtype))
}

/// Cumulative sums of exponentials, in the same dtype.
pub fn logcumsumexp(self_: &Dense, dim: i64) -> Result<Spec> {
    cumsum(self_, dim, Some(self_.dtype))
}

/// A cumulative extremum for each element, with its index.
pub fn running_extremum(self_: &Dense, dim: i64) -> Result<[Spec; 2]> {
    wrap_dim(dim, self_.ndim())?;
    Ok([self_.dtype, DType::I64].map(|dtype| Spec::new(self_.sizes(), dtype, self_.device)))
}

/// The median of all elements.
pub fn median(self_: &Dense) -> Result<Spec> {
    reduced(self_, None, false, self_.dtype)
}

/// The median along a dimension, with its index.
pub fn median_dim(self_: &Dense, dim: i64, keepdim: bool) -> Result<[Spec; 2]> {
    value_and_place("median", self_, dim, keepdim)
}

/// The k largest or smallest along a dimension.
pub fn topk(self_: &Dense, k: i64, dim: i64, _largest: bool, _sorted: bool) -> Result<[Spec; 2]> {
    ensure!(!self_.dtype.is_complex(), Runtime, "topk(): does not support complex inputs.");
    let dim = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes().get(dim).copied().unwrap_or(1);
    ensure!(k >= 0 && k <= size, Runtime, "selected index k out of range");
    let mut sizes = DimVec::from_slice(self_.sizes());
    if let Some(size) = sizes.get_mut(dim) {
        *size = k;
    }
    Ok([Spec::new(&sizes, self_.dtype, self_.device), Spec::new(&sizes, DType::I64, self_.device)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::Device;

    #[test]
    fn integers_sum_to_int64_and_dimensions_leave() {
        let a = Spec::new(&[2, 3, 4], DType::U8, Device::META).allocate().unwrap();
        let spec = sum_dim(&a, Some(&[0, -1]), false, None).unwrap();
        assert_eq!((spec.sizes.as_slice(), spec.dtype), (&[3][..], DType::I64));
        assert_eq!(sum_dim(&a, Some(&[1]), true, Some(DType::U8)).unwrap().sizes.as_slice(), &[2, 1, 4]);
        assert_eq!(
            sum_dim(&a, Some(&[0, -3]), false, None).unwrap_err().message(),
            "dim 0 appears multiple times in the list of dims"
        );
        assert!(mean(&a, None).unwrap_err().message().ends_with("Got: Byte"));
    }

    #[test]
    fn nothing_has_no_maximum() {
        let a = Spec::new(&[2, 0], DType::F32, Device::META).allocate().unwrap();
        assert!(max(&a).is_err() && max_dim(&a, 1, false).is_err());
        assert_eq!(max_dim(&a, 0, false).unwrap()[0].sizes.as_slice(), &[0]);
    }
}
