//! Kernels that read and write at indexed positions.

use super::access::{Constant, array, copy_into, copy_unless_same};
#[cfg(feature = "op-nn")]
use super::access::{Operand, number_of, over};
use crate::dense::{Dense, Geometry, Spec};
#[cfg(feature = "op-nn")]
use rushlight_base::ensure;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, wrap_dim};
#[cfg(feature = "op-nn")]
use rushlight_cpu::elementary;
use rushlight_cpu::indexing::{self, Combine, Places};
use rushlight_cpu::{Loop, fill};

/// The positions that `index` selects along `dim`, in the shape of the index. None if it is empty.
fn places<'a>(reached: &Dense, dim: i64, index: &'a Dense) -> Result<Option<Places<'a>>> {
    if index.numel() == 0 {
        return Ok(None);
    }
    Places::elements(array(index), &array(reached), wrap_dim(dim, reached.ndim())?).map(Some)
}

/// The slices that a list of indices selects along `dim`, in a traversal over `sizes`.
fn slices<'a>(name: &str, reached: &Dense, dim: i64, index: &'a Dense, sizes: &[i64]) -> Result<Places<'a>> {
    Places::slices_of(name, array(index), sizes, &array(reached), wrap_dim(dim, reached.ndim())?)
}

/// out = slices of self at index along dim
pub fn index_select(out: &Dense, self_: &Dense, dim: i64, index: &Dense) -> Result<()> {
    let places = slices("index_select", self_, dim, index, out.sizes())?;
    indexing::gather(&array(out), &array(self_), &places)
}

/// out = self, plus alpha source at index along dim
pub fn index_add(out: &Dense, self_: &Dense, dim: i64, index: &Dense, source: &Dense, alpha: Scalar) -> Result<()> {
    let places = slices("index_add", out, dim, index, source.sizes())?;
    copy_unless_same(out, self_)?;
    indexing::combine(&array(out), &places, &array(source), Combine::Sum(alpha))
}

/// out = self with slices of source at index along dim
pub fn index_copy(out: &Dense, self_: &Dense, dim: i64, index: &Dense, source: &Dense) -> Result<()> {
    let places = slices("index_copy", out, dim, index, source.sizes())?;
    copy_unless_same(out, self_)?;
    indexing::scatter(&array(out), &places, &array(source))
}

/// A 0-dimensional array as a vector of one element.
fn as_vector(dense: &Dense) -> Dense {
    let offset = dense.geometry.offset;
    dense.with_geometry(Geometry { sizes: DimVec::from_slice(&[1]), strides: DimVec::from_slice(&[1]), offset })
}

/// out = self with value in the slices at index along dim
pub fn index_fill_scalar(out: &Dense, self_: &Dense, dim: i64, index: &Dense, value: Scalar) -> Result<()> {
    index_fill(out, self_, dim, index, &Constant::new(value, out.dtype)?)
}

/// Like `index_fill_scalar`, with a 0-dim tensor.
pub fn index_fill_tensor(out: &Dense, self_: &Dense, dim: i64, index: &Dense, value: &Dense) -> Result<()> {
    index_fill(out, self_, dim, index, &Constant::cast_of(value, out.dtype)?)
}

/// A copy of indices in which negative ones count from the end. Those beyond it stay negative. Indices on a device stay as
/// they are (`Places::wrapping`).
fn wrapped(index: &Dense, size: i64) -> Result<Dense> {
    if !matches!(index.dtype, DType::I32 | DType::I64) || !index.is_on_host() {
        return Ok(index.clone());
    }
    let copy = Spec::new(index.sizes(), DType::I64, index.device).allocate()?;
    copy_into(&copy, index)?;
    for nth in 0..copy.numel() {
        // SAFETY: `copy` was allocated here, contiguous with `numel` elements of int64, and is not shared yet.
        let value = unsafe { &mut *copy.host_ptr().cast::<i64>().add(nth as usize) };
        if *value < 0 && *value >= -size {
            *value += size;
        }
    }
    Ok(copy)
}

fn index_fill(out: &Dense, self_: &Dense, dim: i64, index: &Dense, value: &Constant) -> Result<()> {
    // Indices of a tensor without elements are not checked.
    if self_.numel() == 0 {
        return Ok(());
    }
    if self_.ndim() == 0 {
        let (out, self_) = (as_vector(out), as_vector(self_));
        return index_fill(&out, &self_, dim, index, value);
    }
    let mut sizes = DimVec::from_slice(self_.sizes());
    if let Some(size) = sizes.get_mut(wrap_dim(dim, self_.ndim())?) {
        *size = index.numel();
    }
    let index = wrapped(index, self_.sizes().get(wrap_dim(dim, self_.ndim())?).copied().unwrap_or(0))?;
    let places = slices("index_fill", out, dim, &index, &sizes)?.wrapping();
    copy_unless_same(out, self_)?;
    let still = DimVec::from_elem(0, sizes.len());
    indexing::scatter(&array(out), &places, &value.spread(&sizes, &still))
}

/// out = self with slices of source combined with those at index along dim
pub fn index_reduce(
    out: &Dense,
    self_: &Dense,
    dim: i64,
    index: &Dense,
    source: &Dense,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    let places = slices("index_reduce", out, dim, index, source.sizes())?;
    copy_unless_same(out, self_)?;
    put_together(out, &places, source, Reduction::parse(reduce)?, include_self)
}

/// out = elements of self at index along dim
pub fn gather(out: &Dense, self_: &Dense, dim: i64, index: &Dense, _sparse_grad: bool) -> Result<()> {
    match places(self_, dim, index)? {
        Some(places) => indexing::gather(&array(out), &array(self_), &places),
        None => Ok(()),
    }
}

/// out = self with src written at index along dim
pub fn scatter_src(out: &Dense, self_: &Dense, dim: i64, index: &Dense, src: &Dense) -> Result<()> {
    let places = places(out, dim, index)?;
    copy_unless_same(out, self_)?;
    places.map_or(Ok(()), |places| indexing::scatter(&array(out), &places, &array(src)))
}

/// out = self with value written at index along dim
pub fn scatter_value(out: &Dense, self_: &Dense, dim: i64, index: &Dense, value: Scalar) -> Result<()> {
    let places = places(out, dim, index)?;
    copy_unless_same(out, self_)?;
    places.map_or(Ok(()), |places| indexing::scatter_value(&array(out), &places, value))
}

/// out = self with src added at index along dim
pub fn scatter_add(out: &Dense, self_: &Dense, dim: i64, index: &Dense, src: &Dense) -> Result<()> {
    scatter_reduce(out, self_, dim, index, src, "sum", true)
}

/// out = self with src added, or multiplied, at index along dim
pub fn scatter_with(out: &Dense, self_: &Dense, dim: i64, index: &Dense, src: &Dense, reduce: &str) -> Result<()> {
    scatter_reduce(out, self_, dim, index, src, reduce, true)
}

/// out = self with value added, or multiplied, at index along dim
pub fn scatter_value_with(
    out: &Dense,
    self_: &Dense,
    dim: i64,
    index: &Dense,
    value: Scalar,
    reduce: &str,
) -> Result<()> {
    let places = places(out, dim, index)?;
    copy_unless_same(out, self_)?;
    let Some(places) = places else { return Ok(()) };
    let (constant, still) = (Constant::new(value, out.dtype)?, DimVec::from_elem(0, index.ndim()));
    let source = constant.spread(index.sizes(), &still);
    indexing::combine(&array(out), &places, &source, Reduction::parse(reduce)?.step())
}

/// out = self with src combined with the elements at index along dim
pub fn scatter_reduce(
    out: &Dense,
    self_: &Dense,
    dim: i64,
    index: &Dense,
    src: &Dense,
    reduce: &str,
    include_self: bool,
) -> Result<()> {
    let places = places(out, dim, index)?;
    copy_unless_same(out, self_)?;
    let Some(places) = places else { return Ok(()) };
    put_together(out, &places, src, Reduction::parse(reduce)?, include_self)
}

/// Reductions of elements.
#[derive(Clone, Copy)]
enum Reduction {
    Mean,
    Of(Combine),
}

impl Reduction {
    fn parse(name: &str) -> Result<Reduction> {
        Ok(match name {
            "sum" | "add" => Reduction::Of(Combine::Sum(Scalar::Int(1))),
            "prod" | "multiply" => Reduction::Of(Combine::Product),
            "amax" => Reduction::Of(Combine::Maximum),
            "amin" => Reduction::Of(Combine::Minimum),
            "mean" => Reduction::Mean,
            other => bail!(Runtime, "reduce argument must be either sum, prod, mean, amax or amin, got {other}"),
        })
    }

    /// The operation on each element.
    fn step(self) -> Combine {
        match self {
            Reduction::Mean => Combine::Sum(Scalar::Int(1)),
            Reduction::Of(combine) => combine,
        }
    }
}

fn put_together(out: &Dense, places: &Places, src: &Dense, how: Reduction, include_self: bool) -> Result<()> {
    let to = array(out);
    let counts = match how {
        Reduction::Mean => Some(counts(out, places, src, include_self)?),
        Reduction::Of(_) => None,
    };
    if !include_self {
        indexing::fill_identity(&to, places, how.step())?;
    }
    indexing::combine(&to, places, &array(src), how.step())?;
    counts.map_or(Ok(()), |counts| indexing::divide_by_counts(&to, &array(&counts)))
}

/// How many elements are combined in each position of `out`.
fn counts(out: &Dense, places: &Places, src: &Dense, include_self: bool) -> Result<Dense> {
    let counts = Spec::new(out.sizes(), DType::I64, out.device).with_strides(out.strides().into()).allocate()?;
    fill::fill(&Loop::new([array(&counts)])?, Scalar::Int(i64::from(include_self)))?;
    let (one, still) = (Constant::new(Scalar::Int(1), DType::I64)?, DimVec::from_elem(0, src.ndim()));
    let ones = one.spread(src.sizes(), &still);
    indexing::combine(&array(&counts), places, &ones, Combine::Sum(Scalar::Int(1)))?;
    Ok(counts)
}

/// out = the elements of self, counted in row-major order, at index
pub fn take(out: &Dense, self_: &Dense, index: &Dense) -> Result<()> {
    let places = Places::linear(&array(index), &array(self_))?;
    indexing::gather(&array(out), &array(self_), &places)
}

/// out = self with source written, or added, at index into its elements, counted in row-major order
pub fn put(out: &Dense, self_: &Dense, index: &Dense, source: &Dense, accumulate: bool) -> Result<()> {
    let places = Places::linear(&array(index), &array(out))?;
    copy_unless_same(out, self_)?;
    let source = in_shape(source, index.sizes())?;
    match accumulate {
        true => indexing::combine(&array(out), &places, &array(&source), Combine::Sum(Scalar::Int(1))),
        false => indexing::scatter(&array(out), &places, &array(&source)),
    }
}

/// The elements of `dense` in the same order, with these sizes; a copy if no strides can represent them.
pub(super) fn in_shape(dense: &Dense, sizes: &[i64]) -> Result<Dense> {
    if let Ok(geometry) = super::views::view(dense, sizes) {
        return Ok(dense.with_geometry(geometry));
    }
    let copy = Spec::new(dense.sizes(), dense.dtype, dense.device).allocate()?;
    copy_into(&copy, dense)?;
    Ok(copy.with_geometry(super::views::view(&copy, sizes)?))
}

/// out = rows of weight at indices
#[cfg(feature = "op-nn")]
pub fn embedding(
    out: &Dense,
    weight: &Dense,
    indices: &Dense,
    _padding_idx: i64,
    _scale_grad_by_freq: bool,
    _sparse: bool,
) -> Result<()> {
    // The indices are dimensions of the traversal, however many, and a row is the slice.
    let long = Operand::cast(indices, DType::I64)?;
    indexing::check_inside(&long.array(), weight.sizes()[0] as usize)?;
    let indexed = [indexing::Indexed { dim: 0, index: long.array() }];
    let places = Places::together(&indexed, indices.sizes(), 0, &array(weight))?.of_rows();
    indexing::gather(&array(out), &array(weight), &places)
}

/// self = self with the rows at indices scaled down to a norm of max_norm
#[cfg(feature = "op-nn")]
pub fn embedding_renorm_(self_: &Dense, indices: &Dense, max_norm: f64, norm_type: f64) -> Result<()> {
    ensure!(
        self_.ndim() == 2,
        Runtime,
        "Expected 2-dimensional tensor, but got {}-dimensional tensor for argument #1 'self' (while checking arguments \
         for embedding_renorm_)",
        self_.ndim()
    );
    ensure!(
        matches!(indices.dtype, DType::I32 | DType::I64),
        Runtime,
        "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got {} \
         instead (while checking arguments for embedding_renorm_)",
        indices.dtype.c10_name()
    );
    ensure!(
        self_.dtype.is_floating(),
        Runtime,
        "norm(): input dtype should be either floating point or complex. Got {} instead.",
        self_.dtype.c10_name()
    );
    let (count, width) = (indices.numel(), self_.sizes()[1]);
    let list = Spec::new(indices.sizes(), DType::I64, self_.device).allocate()?;
    copy_into(&list, indices)?;
    let list = list.with_geometry(Geometry::contiguous(&[count]));
    let rows = Spec::new(&[count, width], self_.dtype, self_.device).allocate()?;
    index_select(&rows, self_, 0, &list)?;
    let norms = Spec::new(&[count], self_.dtype, self_.device).allocate()?;
    super::reduce::linalg_vector_norm(&norms, &rows, Scalar::Float(norm_type), Some(&[1]), false, None)?;
    let part = |of: &Dense, sizes: &[i64], offset: i64| {
        of.with_geometry(Geometry { offset: of.geometry.offset + offset, ..Geometry::contiguous(sizes) })
    };
    for nth in 0..count {
        let norm = number_of(&part(&norms, &[], nth))?;
        if norm > max_norm {
            let row = part(&rows, &[width], nth * width);
            over(row.dtype, [&row, &row], |walk| elementary::scale(walk, max_norm / (norm + 1e-7)))?;
        }
    }
    index_copy(self_, self_, 0, &list, &rows)
}
