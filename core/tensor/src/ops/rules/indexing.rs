//! Rules of operators that read or write at indexed positions.

use crate::dense::{Dense, Spec};
use rushlight_base::{DType, DimVec, Result, Scalar, ensure, format_sizes, wrap_dim};

/// Slices of `self_` at `index` along `dim`.
pub fn index_select(self_: &Dense, dim: i64, index: &Dense) -> Result<Spec> {
    let dim = wrap_dim(dim, self_.ndim())?;
    ensure!(index.ndim() <= 1, Index, "index_select(): Index is supposed to be a vector");
    ensure!(
        matches!(index.dtype, DType::I32 | DType::I64),
        Runtime,
        "index_select(): Expected dtype int32 or int64 for index"
    );
    let mut sizes = DimVec::from_slice(self_.sizes());
    match sizes.get_mut(dim) {
        Some(size) => *size = index.numel(),
        None => {
            ensure!(
                index.numel() == 1,
                Index,
                "index_select(): Index to scalar can have only 1 value, got {} value(s)",
                index.numel()
            );
        }
    }
    Ok(Spec::new(&sizes, self_.dtype, self_.device))
}

/// A list of indices and as many slices of `source`.
fn check_slices(name: &str, self_: &Dense, dim: i64, index: &Dense, source: &Dense) -> Result<()> {
    let dim = wrap_dim(dim, self_.ndim())?;
    check_list(name, index)?;
    ensure!(
        self_.dtype == source.dtype,
        Runtime,
        "{name}_(): self ({}) and source ({}) must have the same scalar type",
        self_.dtype.c10_name(),
        source.dtype.c10_name()
    );
    let others_agree =
        || self_.sizes().iter().zip(source.sizes()).enumerate().all(|(at, (own, other))| at == dim || own == other);
    ensure!(
        (source.ndim() == self_.ndim() || (source.ndim() <= 1 && self_.ndim() <= 1)) && others_agree(),
        Runtime,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} \
         source.shape = {}",
        format_sizes(self_.sizes()),
        format_sizes(source.sizes())
    );
    let along = source.sizes().get(dim).copied().unwrap_or(1);
    ensure!(
        index.numel() == along,
        Runtime,
        "{name}_(): Number of indices ({}) should be equal to source.size(dim): ({along}), for dim: {dim}",
        index.numel()
    );
    Ok(())
}

fn check_list(name: &str, index: &Dense) -> Result<()> {
    ensure!(
        index.ndim() <= 1,
        Index,
        "{name}_(): Index is supposed to be a vector, but got dim: {} with type: {}",
        index.ndim(),
        index.dtype.c10_name()
    );
    ensure!(
        matches!(index.dtype, DType::I32 | DType::I64),
        Index,
        "{name}_(): Expected dtype int32/int64 for index but got: {}",
        index.dtype.c10_name()
    );
    Ok(())
}

/// `source` added to `self_` at `index` along `dim`.
pub fn index_add(self_: &Dense, dim: i64, index: &Dense, source: &Dense, _alpha: Scalar) -> Result<Spec> {
    check_slices("index_add", self_, dim, index, source)?;
    ensure!(
        self_.ndim() == source.ndim(),
        Runtime,
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} \
         source.shape = {}",
        format_sizes(self_.sizes()),
        format_sizes(source.sizes())
    );
    super::like(self_)
}

/// `source` written to `self_` at `index` along `dim`.
pub fn index_copy(self_: &Dense, dim: i64, index: &Dense, source: &Dense) -> Result<Spec> {
    ensure!(
        index.dtype == DType::I64,
        Index,
        "index_copy_(): Expected a long tensor for index, but got {}",
        index.dtype.c10_name()
    );
    check_slices("index_copy", self_, dim, index, source)?;
    super::like(self_)
}

/// `source` combined with `self_` at `index` along `dim`.
pub fn index_reduce(
    self_: &Dense,
    dim: i64,
    index: &Dense,
    source: &Dense,
    reduce: &str,
    _include_self: bool,
) -> Result<Spec> {
    ensure!(
        matches!(reduce, "prod" | "mean" | "amax" | "amin"),
        Runtime,
        "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
    );
    check_slices("index_reduce", self_, dim, index, source)?;
    super::like(self_)
}

/// A number in the slices of `self_` at `index` along `dim`.
pub fn index_fill_scalar(self_: &Dense, dim: i64, index: &Dense, value: Scalar) -> Result<Spec> {
    ensure!(
        self_.dtype.is_complex() || !matches!(value, Scalar::Complex(_)),
        Runtime,
        "index_fill_(): Converting complex Scalar to non-complex type is not supported"
    );
    index_fill(self_, dim, index)
}

/// Like `index_fill_scalar`, with a 0-dim tensor.
pub fn index_fill_tensor(self_: &Dense, dim: i64, index: &Dense, value: &Dense) -> Result<Spec> {
    ensure!(
        value.ndim() == 0,
        Runtime,
        "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
        value.ndim()
    );
    ensure!(
        self_.dtype.is_complex() || !value.dtype.is_complex(),
        Runtime,
        "index_fill_(): Converting complex Scalar to non-complex type is not supported"
    );
    index_fill(self_, dim, index)
}

fn index_fill(self_: &Dense, dim: i64, index: &Dense) -> Result<Spec> {
    wrap_dim(dim, self_.ndim())?;
    ensure!(index.dtype == DType::I64, Index, "index_fill_(): Expected dtype int64 for index.");
    ensure!(index.ndim() <= 1, Index, "Index has to be a vector/scalar");
    super::like(self_)
}

fn check_index(name: &str, index: &Dense) -> Result<()> {
    ensure!(index.dtype == DType::I64 || index.numel() == 0, Runtime, "{name}(): Expected dtype int64 for index");
    Ok(())
}

/// Whether each size of `index` is at most that of `other`, except in dimension `skip`.
fn fits(index: &Dense, other: &Dense, skip: Option<usize>) -> bool {
    let at = |dense: &Dense, dim: usize| dense.sizes().get(dim).copied().unwrap_or(1);
    (0..index.ndim().max(1)).all(|dim| Some(dim) == skip || at(index, dim) <= at(other, dim))
}

/// Elements of `self_` whose position along `dim` comes from `index`.
pub fn gather(self_: &Dense, dim: i64, index: &Dense, _sparse_grad: bool) -> Result<Spec> {
    let dim = wrap_dim(dim, self_.ndim())?;
    check_index("gather", index)?;
    if index.numel() > 0 {
        ensure!(
            index.ndim().max(1) == self_.ndim().max(1),
            Runtime,
            "Index tensor must have the same number of dimensions as input tensor"
        );
        ensure!(
            fits(index, self_, Some(dim)),
            Runtime,
            "Size does not match at dimension expected index {} to be no larger than self {} apart from dimension {dim}",
            format_sizes(index.sizes()),
            format_sizes(self_.sizes())
        );
    }
    Ok(Spec::new(index.sizes(), self_.dtype, self_.device))
}

/// `src` written (or added) to `self_` at `index` along `dim`.
pub fn scatter_src(self_: &Dense, dim: i64, index: &Dense, src: &Dense) -> Result<Spec> {
    let spec = scatter(self_, dim, index)?;
    ensure!(self_.dtype == src.dtype, Runtime, "scatter(): Expected self.dtype to be equal to src.dtype");
    ensure!(
        index.numel() == 0 || (src.ndim().max(1) == index.ndim().max(1) && fits(index, src, None)),
        Runtime,
        "Expected index {} to be no larger than src {}",
        format_sizes(index.sizes()),
        format_sizes(src.sizes())
    );
    Ok(spec)
}

/// A number written to `self_` at `index` along `dim`.
pub fn scatter_value(self_: &Dense, dim: i64, index: &Dense, value: Scalar) -> Result<Spec> {
    value.check_convertible(self_.dtype)?;
    scatter(self_, dim, index)
}

/// Like `scatter_src`, with a reduction under its older name.
pub fn scatter_with(self_: &Dense, dim: i64, index: &Dense, src: &Dense, reduce: &str) -> Result<Spec> {
    check_older_name(reduce)?;
    scatter_src(self_, dim, index, src)
}

/// Like `scatter_value`, with a reduction under its older name.
pub fn scatter_value_with(self_: &Dense, dim: i64, index: &Dense, value: Scalar, reduce: &str) -> Result<Spec> {
    check_older_name(reduce)?;
    scatter_value(self_, dim, index, value)
}

fn check_older_name(reduce: &str) -> Result<()> {
    ensure!(
        matches!(reduce, "add" | "multiply"),
        Runtime,
        "reduce argument must be either add or multiply, got {reduce}"
    );
    Ok(())
}

/// Like `scatter_src`, with a reduction.
pub fn scatter_reduce(
    self_: &Dense,
    dim: i64,
    index: &Dense,
    src: &Dense,
    reduce: &str,
    _include_self: bool,
) -> Result<Spec> {
    ensure!(
        matches!(reduce, "sum" | "prod" | "mean" | "amax" | "amin"),
        Runtime,
        "reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
    );
    scatter_src(self_, dim, index, src)
}

/// The elements of `self_`, counted in row-major order, that `index` selects.
pub fn take(self_: &Dense, index: &Dense) -> Result<Spec> {
    ensure!(
        index.dtype == DType::I64,
        Runtime,
        "take(): Expected a long tensor for index, but got {}",
        index.dtype.c10_name()
    );
    ensure!(self_.numel() > 0 || index.numel() == 0, Index, "take(): tried to take from an empty tensor");
    Ok(Spec::new(index.sizes(), self_.dtype, self_.device))
}

/// `source` written to the elements of `self_`, counted in row-major order, that `index` selects.
pub fn put(self_: &Dense, index: &Dense, source: &Dense, _accumulate: bool) -> Result<Spec> {
    ensure!(
        index.dtype == DType::I64,
        Runtime,
        "put_(): Expected a long tensor for index, but got {}",
        index.dtype.c10_name()
    );
    ensure!(
        self_.dtype == source.dtype,
        Runtime,
        "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
        self_.dtype.c10_name(),
        source.dtype.c10_name()
    );
    ensure!(
        index.numel() == source.numel(),
        Index,
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = {}, \
         index.numel() = {}",
        source.numel(),
        index.numel()
    );
    ensure!(self_.numel() > 0 || index.numel() == 0, Index, "put_(): Attempted to put values into an empty tensor");
    super::like(self_)
}

fn scatter(self_: &Dense, dim: i64, index: &Dense) -> Result<Spec> {
    let dim = wrap_dim(dim, self_.ndim())?;
    check_index("scatter", index)?;
    if index.numel() > 0 {
        ensure!(
            index.ndim().max(1) == self_.ndim().max(1),
            Runtime,
            "Index tensor must have the same number of dimensions as self tensor"
        );
        ensure!(
            fits(index, self_, Some(dim)),
            Runtime,
            "Expected index {} to be no larger than self {} apart from dimension {dim}",
            format_sizes(index.sizes()),
            format_sizes(self_.sizes())
        );
    }
    super::like(self_)
}

/// Rows of `weight` at `indices`.
#[cfg(feature = "op-nn")]
pub fn embedding(
    weight: &Dense,
    indices: &Dense,
    _padding_idx: i64,
    _scale_grad_by_freq: bool,
    _sparse: bool,
) -> Result<Spec> {
    ensure!(weight.ndim() == 2, Runtime, "'weight' must be 2-D");
    check_rows("embedding", 1, indices.dtype)?;
    let mut sizes = DimVec::from_slice(indices.sizes());
    sizes.push(weight.sizes()[1]);
    Ok(Spec::new(&sizes, weight.dtype, weight.device))
}

/// Sums of bags of rows, in the dtype that accumulates them.
#[cfg(feature = "op-nn")]
pub fn embedding_bag_sums(
    weight: &Dense,
    indices: &Dense,
    offsets: &Dense,
    per_sample_weights: Option<&Dense>,
) -> Result<Spec> {
    let fits = |factors: &Dense| factors.dtype == weight.dtype && factors.sizes() == indices.sizes();
    ensure!(
        weight.ndim() == 2 && indices.ndim() == 1 && offsets.ndim() == 1 && per_sample_weights.is_none_or(fits),
        Runtime,
        "_embedding_bag_sums: expected a matrix, indices and offsets as vectors, and a factor of the dtype of the matrix \
         for each index, got {}, {} and {}",
        weight.describe(),
        indices.describe(),
        offsets.describe()
    );
    for (nth, list) in [(2, indices), (3, offsets)] {
        check_rows("_embedding_bag_sums", nth, list.dtype)?;
    }
    Ok(Spec::new(&[offsets.sizes()[0], weight.sizes()[1]], weight.dtype.opmath(), weight.device))
}

/// Rows of a matrix are named by int32 or int64, in argument `nth` of `operator`.
#[cfg(any(feature = "op-nn", feature = "op-sparse"))]
pub(crate) fn check_rows(operator: &str, nth: usize, dtype: DType) -> Result<()> {
    ensure!(
        matches!(dtype, DType::I32 | DType::I64),
        Runtime,
        "Expected tensor for argument #{nth} 'indices' to have one of the following scalar types: Long, Int; but got {} \
         instead (while checking arguments for {operator})",
        dtype.c10_name()
    );
    Ok(())
}
