//! Rules of operators that read or write at given places, and of concatenation.

use super::promotion::common_dtype;
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

/// A list of indices and as many slices of `source` beside `self_`.
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

/// `source` put together with `self_` at `index` along `dim`.
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

/// As `index_fill_scalar`, with a tensor without dimensions.
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
    ensure!(
        self_.ndim() > 0 || index.numel() == 1,
        Index,
        "index_fill_(): a tensor without dimensions takes one index, got {}",
        index.numel()
    );
    super::like(self_)
}

fn check_index(name: &str, index: &Dense) -> Result<()> {
    ensure!(index.dtype == DType::I64 || index.numel() == 0, Runtime, "{name}(): Expected dtype int64 for index");
    Ok(())
}

/// Does each size of `index` fit below that of `other`, dimension `skip` aside?
fn fits(index: &Dense, other: &Dense, skip: Option<usize>) -> bool {
    let at = |dense: &Dense, dim: usize| dense.sizes().get(dim).copied().unwrap_or(1);
    (0..index.ndim().max(1)).all(|dim| Some(dim) == skip || at(index, dim) <= at(other, dim))
}

/// Elements of `self_` whose place along `dim` comes from `index`.
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

/// `src` written (or added) to `self_` at the places of `index` along `dim`.
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

/// A number written to `self_` at the places of `index` along `dim`.
pub fn scatter_value(self_: &Dense, dim: i64, index: &Dense, _value: Scalar) -> Result<Spec> {
    scatter(self_, dim, index)
}

/// As `scatter_src`, with a reduction by its older names.
pub fn scatter_with(self_: &Dense, dim: i64, index: &Dense, src: &Dense, reduce: &str) -> Result<Spec> {
    check_older_name(reduce)?;
    scatter_src(self_, dim, index, src)
}

/// As `scatter_value`, with a reduction by its older names.
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

/// As `scatter_src`, with a reduction.
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

/// The elements of `self_`, counted in row-major order, that `index` names.
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

/// `source` written to the elements of `self_`, counted in row-major order, that `index` names.
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

/// Vectors without elements take part in no shape check: a habit of early PyTorch.
pub(crate) fn is_skipped(sizes: &[i64]) -> bool {
    sizes == [0]
}

/// The inputs one after another along `dim`.
pub fn cat(tensors: &[Dense], dim: i64) -> Result<Spec> {
    ensure!(!tensors.is_empty(), Runtime, "torch.cat(): expected a non-empty list of Tensors");
    for (at, tensor) in tensors.iter().enumerate() {
        ensure!(tensor.ndim() > 0, Runtime, "zero-dimensional tensor (at position {at}) cannot be concatenated");
    }
    let inputs: Vec<&Dense> = tensors.iter().collect();
    let dtype = common_dtype(&inputs)?;
    let Some(model) = tensors.iter().find(|tensor| !is_skipped(tensor.sizes())) else {
        wrap_dim(dim, 1)?;
        return Ok(Spec::new(&[0], dtype, tensors[0].device));
    };
    let dim = wrap_dim(dim, model.ndim())?;
    let mut sizes = DimVec::from_slice(model.sizes());
    sizes[dim] = 0;
    for (at, tensor) in tensors.iter().enumerate().filter(|(_, tensor)| !is_skipped(tensor.sizes())) {
        ensure!(
            tensor.ndim() == model.ndim(),
            Runtime,
            "Tensors must have same number of dimensions: got {} and {}",
            model.ndim(),
            tensor.ndim()
        );
        for (axis, (&size, &expected)) in tensor.sizes().iter().zip(model.sizes()).enumerate() {
            ensure!(
                axis == dim || size == expected,
                Runtime,
                "Sizes of tensors must match except in dimension {dim}. Expected size {expected} but got size {size} \
                 for tensor number {at} in the list."
            );
        }
        sizes[dim] += tensor.sizes()[dim];
    }
    Ok(Spec::new(&sizes, dtype, model.device))
}

/// The gradient of `select.int`: zeros with the gradient in one place.
pub fn select_backward(grad_output: &Dense, input_sizes: &[i64], dim: i64, index: i64) -> Result<Spec> {
    let dim = wrap_dim(dim, input_sizes.len())?;
    let size = input_sizes.get(dim).copied().unwrap_or(0);
    ensure!((-size..size).contains(&index), Index, "select_backward: index {index} is out of range for size {size}");
    let (head, tail) = (&input_sizes[..dim], &input_sizes[dim + 1..]);
    let fits =
        grad_output.sizes().len() + 1 == input_sizes.len() && grad_output.sizes().iter().eq(head.iter().chain(tail));
    ensure!(
        fits,
        Runtime,
        "select_backward: gradient {} does not fit input sizes {}",
        format_sizes(grad_output.sizes()),
        format_sizes(input_sizes)
    );
    Ok(Spec::new(input_sizes, grad_output.dtype, grad_output.device))
}

/// The gradient of `slice.Tensor`: zeros with the gradient in the slice.
pub fn slice_backward(
    grad_output: &Dense,
    input_sizes: &[i64],
    dim: i64,
    start: i64,
    end: i64,
    step: i64,
) -> Result<Spec> {
    let at = wrap_dim(dim, input_sizes.len())?;
    ensure!(at < input_sizes.len() && step > 0, Runtime, "slice_backward: no such slice");
    let (first, last) = crate::ops::views::slice_bounds(input_sizes[at], Some(start), Some(end));
    let mut sizes = DimVec::from_slice(input_sizes);
    sizes[at] = (last - first + step - 1) / step;
    ensure!(
        grad_output.sizes() == &*sizes,
        Runtime,
        "slice_backward: gradient {} does not fit a slice of {}",
        format_sizes(grad_output.sizes()),
        format_sizes(input_sizes)
    );
    Ok(Spec::new(input_sizes, grad_output.dtype, grad_output.device))
}
