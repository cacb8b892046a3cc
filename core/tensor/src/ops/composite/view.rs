//! Composite operators: reshaping, slicing.

use crate::autograd::{become_view, mark_several};
use crate::dense::{Dense, Spec};
use crate::dispatch::Value;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{
    DimVec, MemoryFormat, Result, Storage, bail, contiguous_strides, ensure, format_sizes, list, wrap_dim,
};

/// A view if the strides allow it, else a copy.
pub fn reshape(self_: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let sizes = ops::views::infer_size(shape, self_.numel())?;
    if ops::views::view_strides(&self_.sizes(), &self_.strides(), &sizes).is_some() {
        return ops::view(self_, &sizes);
    }
    ops::view(&ops::clone(self_, Some(MemoryFormat::Contiguous))?, &sizes)
}

/// A view in the shape of another tensor.
pub fn view_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::view(self_, &other.sizes())
}

/// Expanded to the shape of another tensor.
pub fn expand_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::expand(self_, &other.sizes(), false)
}

/// Flattens dimensions `start_dim` to `end_dim` into one.
pub fn flatten(self_: &Tensor, start_dim: i64, end_dim: i64) -> Result<Tensor> {
    let (first, last) = (wrap_dim(start_dim, self_.ndim())?, wrap_dim(end_dim, self_.ndim())?);
    ensure!(first <= last, Runtime, "flatten() has invalid args: start_dim cannot come after end_dim");
    if self_.ndim() == 0 {
        return ops::reshape(self_, &[1]);
    }
    if first == last {
        return Ok(self_.clone());
    }
    let sizes = self_.sizes();
    let mut shape = DimVec::from_slice(&sizes[..first]);
    shape.push(sizes[first..=last].iter().product());
    shape.extend_from_slice(&sizes[last + 1..]);
    ops::reshape(self_, &shape)
}

/// `length` elements of a dimension from `start` on.
pub fn narrow(self_: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    let start = ops::views::narrow_start(&self_.sizes(), dim, start, length)?;
    ops::slice_tensor(self_, dim, Some(start), Some(start + length), 1)
}

/// `length` elements of a dimension from a start given by a tensor.
pub fn narrow_from_tensor(self_: &Tensor, dim: i64, start: &Tensor, length: i64) -> Result<Tensor> {
    ensure!(start.ndim() == 0 && start.dtype().is_integral(false), Runtime, "start must be an 0-dim integral Tensor.");
    ops::narrow(self_, dim, start.item()?.to_i64(), length)
}

fn matrices_transposed(self_: &Tensor, name: &str) -> Result<Tensor> {
    if self_.ndim() == 0 {
        return ops::t(self_);
    }
    ensure!(
        self_.ndim() >= 2,
        Runtime,
        "tensor.{name} is only supported on matrices or batches of matrices. Got {}-D tensor.",
        self_.ndim()
    );
    ops::transpose_int(self_, -2, -1)
}

/// Each matrix transposed; a 0-dim tensor itself.
pub fn m_transposed(self_: &Tensor) -> Result<Tensor> {
    matrices_transposed(self_, "mT")
}

/// Each matrix transposed and conjugated.
pub fn m_adjoint(self_: &Tensor) -> Result<Tensor> {
    ops::conj(&matrices_transposed(self_, "mH")?)
}

/// Each matrix transposed and conjugated.
pub fn adjoint(self_: &Tensor) -> Result<Tensor> {
    ops::conj(&matrices_transposed(self_, "adjoint()")?)
}

/// A matrix transposed and conjugated; a number conjugated.
pub fn matrix_adjoint(self_: &Tensor) -> Result<Tensor> {
    let ndim = self_.ndim();
    ensure!(
        ndim == 2 || ndim == 0,
        Runtime,
        "tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.{}",
        if ndim > 2 { " For batches of matrices, consider using tensor.mH" } else { "" }
    );
    ops::conj(&ops::t(self_)?)
}

/// The dimensions from the last to the first.
pub fn numpy_transposed(self_: &Tensor) -> Result<Tensor> {
    let order: DimVec = (0..self_.ndim() as i64).rev().collect();
    ops::permute(self_, &order)
}

/// Detached from its history.
pub fn detach_(self_: &Tensor) -> Result<()> {
    self_.detach_in_place()
}

/// Like `t`, in place.
pub fn t_(self_: &Tensor) -> Result<()> {
    let ndim = self_.ndim();
    ensure!(ndim <= 2, Runtime, "t_() expects a tensor with <= 2 dimensions, but self is {ndim}D");
    become_view(self_, ops::t)
}

/// Like `transpose`, in place.
pub fn transpose_(self_: &Tensor, dim0: i64, dim1: i64) -> Result<()> {
    become_view(self_, |tensor| ops::transpose_int(tensor, dim0, dim1))
}

/// Like `unsqueeze`, in place.
pub fn unsqueeze_(self_: &Tensor, dim: i64) -> Result<()> {
    become_view(self_, |tensor| ops::unsqueeze(tensor, dim))
}

/// Like `squeeze`, in place.
pub fn squeeze_(self_: &Tensor) -> Result<()> {
    become_view(self_, ops::squeeze)
}

/// Like `squeeze` of a dimension, in place.
pub fn squeeze_dim_(self_: &Tensor, dim: i64) -> Result<()> {
    become_view(self_, |tensor| ops::squeeze_dim(tensor, dim))
}

/// Like `squeeze` of some dimensions, in place.
pub fn squeeze_dims_(self_: &Tensor, dim: &[i64]) -> Result<()> {
    become_view(self_, |tensor| ops::squeeze_dims(tensor, dim))
}

/// Like `as_strided`, in place.
pub fn as_strided_(self_: &Tensor, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<()> {
    become_view(self_, |tensor| ops::as_strided(tensor, size, stride, storage_offset))
}

/// Checks that there is memory for this many views. Each is small, but the caller chooses their number.
pub(super) fn check_room_for_views(count: i64) -> Result<()> {
    list::check_memory(count as usize)
        .map_err(|_| rushlight_base::err!(OutOfMemory, "not enough memory for {count} views"))
}

/// Pieces of `split_size` along a dimension; the last may be smaller.
pub fn split(self_: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Runtime, "split expects at least a 1-dimensional tensor");
    ensure!(split_size >= 0, Runtime, "split expects split_size be non-negative, but got split_size={split_size}");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        split_size > 0 || size == 0,
        Runtime,
        "split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
    );
    let count = if split_size == 0 { 1 } else { (size / split_size + i64::from(size % split_size != 0)).max(1) };
    check_room_for_views(count)?;
    let piece = |at: i64| {
        let start = at * split_size;
        ops::slice_tensor(self_, dim, Some(start), Some(start.saturating_add(split_size).min(size)), 1)
    };
    several((0..count).map(piece), "SplitBackward0")
}

/// Views from one operator: autograd records that they belong together.
fn several(views: impl Iterator<Item = Result<Tensor>>, node: &'static str) -> Result<Vec<Tensor>> {
    let views = list::try_collect(views)?;
    mark_several(&views, node);
    Ok(views)
}

/// Pieces of the given sizes along a dimension.
pub fn split_with_sizes(self_: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() != 0, Runtime, "split expects at least a 1-dimensional tensor");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        split_size.iter().all(|&length| length >= 0),
        Runtime,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}",
        format_sizes(split_size)
    );
    ensure!(
        split_size.iter().try_fold(0, |sum: i64, &length| sum.checked_add(length)) == Some(size),
        Runtime,
        "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), but \
         got split_sizes={}",
        format_sizes(split_size)
    );
    let mut start = 0;
    let mut piece = |length: i64| {
        let end = start + length;
        let piece = ops::slice_tensor(self_, dim, Some(start), Some(end), 1);
        start = end;
        piece
    };
    several(split_size.iter().map(|&length| piece(length)), "SplitWithSizesBackward0")
}

/// The slices of a dimension.
pub fn unbind(self_: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    check_room_for_views(size)?;
    several((0..size).map(|at| ops::select_int(self_, dim, at)), "UnbindBackward0")
}

/// Dimensions moved to other positions.
pub fn movedim_list(self_: &Tensor, source: &[i64], destination: &[i64]) -> Result<Tensor> {
    ensure!(
        source.len() == destination.len(),
        Runtime,
        "movedim: Invalid source or destination dims: source ({}) should contain the same number of dims as destination ({})",
        format_sizes(source),
        format_sizes(destination)
    );
    let wrapped = |name: &str, dims: &[i64]| -> Result<DimVec> {
        let mut found = DimVec::new();
        for &dim in dims {
            let dim = wrap_dim(dim, self_.ndim())? as i64;
            ensure!(!found.contains(&dim), Runtime, "movedim: repeated dim in `{name}` ({})", format_sizes(dims));
            found.push(dim);
        }
        Ok(found)
    };
    let (from, to) = (wrapped("source", source)?, wrapped("destination", destination)?);
    let mut rest = (0..self_.ndim() as i64).filter(|dim| !from.contains(dim));
    let order: DimVec = (0..self_.ndim() as i64)
        .filter_map(|at| to.iter().position(|&dim| dim == at).map(|nth| from[nth]).or_else(|| rest.next()))
        .collect();
    ops::permute(self_, &order)
}

/// A dimension moved to another position.
pub fn movedim(self_: &Tensor, source: i64, destination: i64) -> Result<Tensor> {
    movedim_list(self_, &[source], &[destination])
}

/// A dimension split into several.
pub fn unflatten(self_: &Tensor, dim: i64, sizes: &[i64]) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Runtime, "unflatten: a tensor without dimensions cannot be unflattened");
    ensure!(!sizes.is_empty(), Runtime, "unflatten: sizes must be non-empty");
    let dim = wrap_dim(dim, self_.ndim())?;
    let own = self_.sizes();
    let known = sizes.iter().filter(|&&size| size != -1).try_fold(1i64, |product, &size| product.checked_mul(size));
    let known = known.unwrap_or(-1);
    let fits = match sizes.iter().filter(|&&size| size == -1).count() {
        0 => known == own[dim],
        1 => known > 0 && own[dim] % known == 0,
        _ => false,
    };
    ensure!(
        fits,
        Runtime,
        "unflatten: Provided sizes {} don't multiply up to the size of dim {dim} ({}) in the input tensor",
        format_sizes(sizes),
        own[dim]
    );
    let sizes = sizes.iter().map(|&size| if size == -1 { own[dim] / known } else { size });
    let shape: DimVec = own[..dim].iter().copied().chain(sizes).chain(own[dim + 1..].iter().copied()).collect();
    ops::view(self_, &shape)
}

/// Flattens all elements into one contiguous dimension.
pub fn ravel(self_: &Tensor) -> Result<Tensor> {
    ops::contiguous(&ops::reshape(self_, &[-1])?, MemoryFormat::Contiguous)
}

/// The sizes of another tensor.
pub fn reshape_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::reshape(self_, &other.sizes())
}

/// An empty tensor over a new storage.
pub fn set_(self_: &Tensor) -> Result<()> {
    self_.become_stored(None, |seen| Spec::new(&[0], seen.dtype, seen.device).allocate())
}

/// The storage and geometry of another tensor.
pub fn set_tensor(self_: &Tensor, source: &Tensor) -> Result<()> {
    let other = source.dense()?;
    self_.become_stored(Some(source), |_| Ok(other.clone()))
}

/// The storage of another tensor, from an offset in its elements on.
pub fn set_tensor_offset(
    self_: &Tensor,
    source: &Tensor,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<()> {
    let other = source.dense()?;
    ensure!(other.is_contiguous(), Runtime, "passed in tensor to be used as storage must be contiguous");
    let offset = other.geometry.offset.saturating_add(storage_offset);
    self_.become_stored(Some(source), |seen| stored(seen, &other.storage, offset, size, stride))
}

/// All elements of a storage.
pub fn set_storage(self_: &Tensor, source: &Value) -> Result<()> {
    let storage = storage_of(source)?;
    self_.become_stored(None, |seen| stored(seen, storage, 0, &[(storage.bytes() / seen.dtype.size()) as i64], &[1]))
}

/// A storage, from an offset in elements on.
pub fn set_storage_offset(
    self_: &Tensor,
    source: &Value,
    storage_offset: i64,
    size: &[i64],
    stride: &[i64],
) -> Result<()> {
    let storage = storage_of(source)?;
    self_.become_stored(None, |seen| stored(seen, storage, storage_offset, size, stride))
}

fn storage_of(value: &Value) -> Result<&Storage> {
    match value {
        Value::Storage(storage) => Ok(storage),
        other => bail!(Type, "source must be Storage, not {}", other.kind()),
    }
}

/// A tensor like `seen` over `storage`, row-major if there are no strides.
fn stored(seen: &Dense, storage: &Storage, offset: i64, size: &[i64], stride: &[i64]) -> Result<Dense> {
    let row_major;
    let stride = if stride.is_empty() {
        row_major = contiguous_strides(size);
        &row_major[..]
    } else {
        stride
    };
    let (sizes, strides) = (size.len(), stride.len());
    ensure!(sizes == strides, Runtime, "unequal size length ({sizes}) and stride length ({strides})");
    ensure!(
        stride.iter().all(|&step| step >= 0),
        Runtime,
        "Storage size calculation overflowed with sizes={} and strides={}",
        format_sizes(size),
        format_sizes(stride)
    );
    let geometry = ops::views::within(storage, seen.dtype, size, stride, offset)?;
    Ok(Dense::new(storage.clone(), geometry, seen.dtype, storage.device()))
}
