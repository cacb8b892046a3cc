//! View rules: from a tensor's geometry to that of a view of the same elements.

use super::rules::check_expandable;
use crate::dense::{Dense, Geometry, Lazy, Shown};
use rushlight_base::{DType, DimVec, Result, Storage, bail, ensure, format_sizes, numel, wrap_dim};

/// The same view (`alias`, `detach`).
pub fn alias(self_: &Dense) -> Result<Geometry> {
    Ok(self_.geometry.clone())
}

/// The complex conjugate, as a lazy view (conj bit).
pub fn conj(self_: &Dense) -> Result<Shown> {
    ensure!(
        self_.dtype.is_complex(),
        Runtime,
        "_conj: only complex numbers have conjugates, but got a tensor of {}",
        self_.dtype.c10_name()
    );
    let lazy = Lazy { conj: !self_.lazy.conj, ..self_.lazy };
    Ok(Shown { geometry: self_.geometry.clone(), dtype: self_.dtype, lazy })
}

/// The negation, as a lazy view (neg bit).
pub fn neg(self_: &Dense) -> Result<Shown> {
    ensure!(
        self_.dtype.is_differentiable(),
        Runtime,
        "_neg_view: expected a floating or complex tensor, but got a tensor of {}",
        self_.dtype.c10_name()
    );
    let lazy = Lazy { neg: !self_.lazy.neg, ..self_.lazy };
    Ok(Shown { geometry: self_.geometry.clone(), dtype: self_.dtype, lazy })
}

/// Complex numbers as pairs of real ones, in a last dimension of 2.
pub fn as_real(self_: &Dense) -> Result<Shown> {
    ensure!(self_.dtype.is_complex(), Runtime, "view_as_real is only supported for complex tensors");
    ensure!(
        !self_.lazy.conj,
        Runtime,
        "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can view it \
         as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original."
    );
    Ok(Shown { geometry: pairs(&self_.geometry), dtype: self_.dtype.to_real(), lazy: self_.lazy })
}

/// The geometry of complex numbers viewed as pairs of real ones.
pub(crate) fn pairs(geometry: &Geometry) -> Geometry {
    let mut sizes = geometry.sizes.clone();
    sizes.push(2);
    let mut strides: DimVec = geometry.strides.iter().map(|stride| stride * 2).collect();
    strides.push(1);
    Geometry { sizes, strides, offset: geometry.offset * 2 }
}

/// Pairs of real numbers as complex ones.
pub fn as_complex(self_: &Dense) -> Result<Shown> {
    ensure!(
        matches!(self_.dtype, DType::F16 | DType::F32 | DType::F64),
        Runtime,
        "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {}",
        self_.dtype.c10_name()
    );
    ensure!(self_.ndim() > 0, Runtime, "Input tensor must have one or more dimensions");
    let last = self_.ndim() - 1;
    ensure!(self_.sizes()[last] == 2, Runtime, "Tensor must have a last dimension of size 2");
    ensure!(self_.strides()[last] == 1, Runtime, "Tensor must have a last dimension with stride 1");
    ensure!(
        self_.strides()[..last].iter().all(|stride| stride % 2 == 0),
        Runtime,
        "Tensor must have a stride divisible by 2 for all but last dimension"
    );
    ensure!(self_.geometry.offset % 2 == 0, Runtime, "Tensor must have a storage_offset divisible by 2");
    let strides = self_.strides()[..last].iter().map(|stride| stride / 2).collect();
    let geometry =
        Geometry { sizes: DimVec::from_slice(&self_.sizes()[..last]), strides, offset: self_.geometry.offset / 2 };
    Ok(Shown { geometry, dtype: self_.dtype.to_complex(), lazy: self_.lazy })
}

/// The same bytes as elements of another dtype.
pub fn view_dtype(self_: &Dense, dtype: DType) -> Result<Shown> {
    ensure!(!dtype.is_quantized(), NotImplemented, "a tensor of {dtype} needs a quantizer: a view has none");
    let kind = match self_.lazy {
        Lazy { conj: true, .. } => "conjugate view tensors",
        Lazy { neg: true, .. } => "tensors with negative bit set",
        Lazy::NONE => return Ok(Shown { geometry: in_elements_of(self_, dtype)?, dtype, lazy: Lazy::NONE }),
    };
    bail!(Runtime, "torch.Tensor.view is not supported for {kind} when converting to a different dtype.")
}

/// The geometry of the same bytes in elements of another dtype.
fn in_elements_of(self_: &Dense, dtype: DType) -> Result<Geometry> {
    let mut geometry = self_.geometry.clone();
    let (own, new) = (self_.dtype.size() as i64, dtype.size() as i64);
    if own == new {
        return Ok(geometry);
    }
    let context = || {
        let (from, to) = (self_.dtype.c10_name(), dtype.c10_name());
        format!("to view {from} as {to} (different element sizes)")
    };
    ensure!(self_.ndim() > 0, Runtime, "self.dim() cannot be 0 {}", context());
    let last = self_.ndim() - 1;
    let check_stride = || {
        let stride = self_.strides()[last];
        ensure!(stride == 1, Runtime, "self.stride(-1) must be 1 {}, but got {stride}", context());
        Ok(())
    };
    if own > new {
        check_stride()?;
        let ratio = own / new;
        geometry.sizes[last] *= ratio;
        geometry.strides[..last].iter_mut().for_each(|stride| *stride *= ratio);
        geometry.offset *= ratio;
        return Ok(geometry);
    }
    let ratio = new / own;
    let divided = |name: &str, value: i64| {
        let fits = value % ratio == 0;
        ensure!(fits, Runtime, "self.{name} must be divisible by {ratio} {}, but got {value}", context());
        Ok(value / ratio)
    };
    geometry.sizes[last] = divided("size(-1)", geometry.sizes[last])?;
    geometry.offset = divided("storage_offset()", geometry.offset)?;
    check_stride()?;
    for (dim, stride) in geometry.strides[..last].iter_mut().enumerate() {
        *stride = divided(&format!("stride({dim})"), *stride)?;
    }
    Ok(geometry)
}

/// Another geometry over the same storage, which must hold all of it.
pub fn as_strided(self_: &Dense, size: &[i64], stride: &[i64], storage_offset: Option<i64>) -> Result<Geometry> {
    ensure!(size.len() == stride.len(), Runtime, "mismatch in length of strides and shape");
    ensure!(
        stride.iter().all(|&step| step >= 0),
        Runtime,
        "as_strided: Negative strides are not supported at the moment, got strides: {}",
        format_sizes(stride)
    );
    let offset = storage_offset.unwrap_or(self_.geometry.offset);
    within(&self_.storage, self_.dtype, size, stride, offset)
}

/// A geometry without negative strides, which a storage must hold.
pub fn within(storage: &Storage, dtype: DType, size: &[i64], stride: &[i64], offset: i64) -> Result<Geometry> {
    ensure!(offset >= 0, Runtime, "Tensor: invalid storage offset {offset}");
    let elements = numel(size)?;
    // In 128 bits: sizes and strides are untrusted.
    let steps = size.iter().zip(stride).map(|(&size, &step)| i128::from(size - 1) * i128::from(step));
    let reach = steps.fold(1, i128::saturating_add);
    let bytes = reach.saturating_add(i128::from(offset)).saturating_mul(dtype.size() as i128);
    ensure!(
        elements == 0 || bytes <= storage.bytes() as i128,
        Runtime,
        "setStorage: sizes {}, strides {}, storage offset {offset}, and itemsize {} requiring a storage size of \
         {bytes} are out of bounds for storage of size {}",
        format_sizes(size),
        format_sizes(stride),
        dtype.size(),
        storage.bytes()
    );
    Ok(Geometry { sizes: DimVec::from_slice(size), strides: DimVec::from_slice(stride), offset })
}

/// Another shape, with the given strides, from the tensor's offset.
pub fn reshape_alias(self_: &Dense, size: &[i64], stride: &[i64]) -> Result<Geometry> {
    as_strided(self_, size, stride, None)
}

/// Sizes of 1 stretched, and leading dimensions added; -1 keeps a size.
pub fn expand(self_: &Dense, size: &[i64], _implicit: bool) -> Result<Geometry> {
    ensure!(
        size.len() >= self_.ndim(),
        Runtime,
        "expand({}{}Type{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the number \
         of dimensions in the tensor ({})",
        self_.device.kind.name().to_uppercase(),
        self_.dtype.c10_name(),
        format_sizes(self_.sizes()),
        format_sizes(size),
        size.len(),
        self_.ndim()
    );
    let lead = size.len() - self_.ndim();
    let mut target = DimVec::from_slice(size);
    for (dim, wanted) in target.iter_mut().enumerate().filter(|(_, wanted)| **wanted == -1) {
        ensure!(
            dim >= lead,
            Runtime,
            "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {dim}"
        );
        *wanted = self_.sizes()[dim - lead];
    }
    check_expandable(self_.sizes(), &target)?;
    numel(&target)?;
    let mut strides = DimVec::from_elem(0, target.len());
    for dim in (0..target.len()).rev() {
        strides[dim] = match dim.checked_sub(lead) {
            Some(own) if self_.sizes()[own] == target[dim] => self_.strides()[own],
            Some(_) => 0,
            // A new dimension has the stride of everything inside of it, as in PyTorch for a size of 1.
            None if target[dim] == 1 => target.get(dim + 1).map_or(1, |inner| inner * strides[dim + 1]),
            None => 0,
        };
    }
    Ok(Geometry { sizes: target, strides, offset: self_.geometry.offset })
}

fn pick(self_: &Dense, dims: impl Iterator<Item = usize>) -> Geometry {
    let (mut sizes, mut strides) = (DimVec::new(), DimVec::new());
    for dim in dims {
        sizes.push(self_.sizes()[dim]);
        strides.push(self_.strides()[dim]);
    }
    Geometry { sizes, strides, offset: self_.geometry.offset }
}

/// Dimensions in another order.
pub fn permute(self_: &Dense, dims: &[i64]) -> Result<Geometry> {
    let ndim = self_.ndim();
    ensure!(
        dims.len() == ndim,
        Runtime,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired \
         ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {}",
        dims.len()
    );
    let mut order = Vec::with_capacity(ndim);
    for &dim in dims {
        let dim = wrap_dim(dim, ndim)?;
        ensure!(!order.contains(&dim), Runtime, "permute(): duplicate dims are not allowed.");
        order.push(dim);
    }
    Ok(pick(self_, order.into_iter()))
}

/// Two dimensions exchanged.
pub fn transpose(self_: &Dense, dim0: i64, dim1: i64) -> Result<Geometry> {
    let (a, b) = (wrap_dim(dim0, self_.ndim())?, wrap_dim(dim1, self_.ndim())?);
    let mut geometry = self_.geometry.clone();
    if self_.ndim() > 0 {
        geometry.sizes.swap(a, b);
        geometry.strides.swap(a, b);
    }
    Ok(geometry)
}

/// A matrix transposed; a vector or number is unchanged.
pub fn t(self_: &Dense) -> Result<Geometry> {
    ensure!(self_.ndim() <= 2, Runtime, "t() expects a tensor with <= 2 dimensions, but self is {}D", self_.ndim());
    if self_.ndim() < 2 { alias(self_) } else { transpose(self_, 0, 1) }
}

/// One slice, without its dimension.
pub fn select(self_: &Dense, dim: i64, index: i64) -> Result<Geometry> {
    ensure!(self_.ndim() > 0, Index, "select() cannot be applied to a 0-dim tensor.");
    let dim = wrap_dim(dim, self_.ndim())?;
    let size = self_.sizes()[dim];
    ensure!(
        (-size..size).contains(&index),
        Index,
        "select(): index {index} out of range for tensor of size {} at dimension {dim}",
        format_sizes(self_.sizes())
    );
    let index = if index < 0 { index + size } else { index };
    let mut geometry = pick(self_, (0..self_.ndim()).filter(|&at| at != dim));
    geometry.offset += index * self_.strides()[dim];
    Ok(geometry)
}

/// The diagonal of two dimensions, as a new last dimension.
pub fn diagonal(self_: &Dense, offset: i64, dim1: i64, dim2: i64) -> Result<Geometry> {
    let (first, second) = (wrap_dim(dim1, self_.ndim())?, wrap_dim(dim2, self_.ndim())?);
    ensure!(first != second, Runtime, "diagonal dimensions cannot be identical {dim1}, {dim2}");
    let mut geometry = pick(self_, (0..self_.ndim()).filter(|&dim| dim != first && dim != second));
    let ((rows, columns), strides) =
        ((self_.sizes()[first], self_.sizes()[second]), [first, second].map(|dim| self_.strides()[dim]));
    let length =
        if offset >= 0 { rows.min(columns.saturating_sub(offset)) } else { rows.saturating_add(offset).min(columns) };
    let length = length.max(0);
    // An empty diagonal begins where the matrix does.
    if length > 0 {
        geometry.offset += if offset >= 0 { offset * strides[1] } else { -offset * strides[0] };
    }
    geometry.sizes.push(length);
    geometry.strides.push(strides[0] + strides[1]);
    Ok(geometry)
}

/// The bounds of a slice of a dimension of `size`: negative ones count from the end, all are clamped.
pub(super) fn slice_bounds(size: i64, start: Option<i64>, end: Option<i64>) -> (i64, i64) {
    let wrap = |bound: i64| if bound < 0 { bound.saturating_add(size) } else { bound };
    let first = wrap(start.unwrap_or(0)).clamp(0, size);
    let last = wrap(end.unwrap_or(i64::MAX)).clamp(first, size);
    (first, last)
}

/// Elements start, start + step, ... before end of a dimension.
pub fn slice(self_: &Dense, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Geometry> {
    ensure!(self_.ndim() > 0, Runtime, "slice() cannot be applied to a 0-dim tensor.");
    let dim = wrap_dim(dim, self_.ndim())?;
    ensure!(step > 0, Runtime, "slice step must be positive");
    let (first, last) = slice_bounds(self_.sizes()[dim], start, end);
    let mut geometry = self_.geometry.clone();
    geometry.offset += first * self_.strides()[dim];
    geometry.sizes[dim] = (last - first).div_euclid(step) + i64::from((last - first) % step != 0);
    geometry.strides[dim] = self_.strides()[dim].saturating_mul(step);
    Ok(geometry)
}

/// Without the dimensions of size 1.
pub fn squeeze(self_: &Dense) -> Result<Geometry> {
    Ok(pick(self_, (0..self_.ndim()).filter(|&dim| self_.sizes()[dim] != 1)))
}

/// Without one dimension, if its size is 1.
pub fn squeeze_dim(self_: &Dense, dim: i64) -> Result<Geometry> {
    let gone = wrap_dim(dim, self_.ndim())?;
    Ok(pick(self_, (0..self_.ndim()).filter(|&dim| dim != gone || self_.sizes()[dim] != 1)))
}

/// Without those of the given dimensions that have size 1.
pub fn squeeze_dims(self_: &Dense, dim: &[i64]) -> Result<Geometry> {
    let mut gone = DimVec::new();
    for &dim in dim {
        let dim = wrap_dim(dim, self_.ndim())? as i64;
        ensure!(!gone.contains(&dim), Runtime, "dim {dim} appears multiple times in the list of dims");
        gone.push(dim);
    }
    Ok(pick(self_, (0..self_.ndim()).filter(|&dim| !gone.contains(&(dim as i64)) || self_.sizes()[dim] != 1)))
}

/// `length` elements of a dimension from `start` on.
pub fn narrow(self_: &Dense, dim: i64, start: i64, length: i64) -> Result<Geometry> {
    let start = narrow_start(self_.sizes(), dim, start, length)?;
    slice(self_, dim, Some(start), Some(start + length), 1)
}

/// The start of a slice of a dimension, which may be negative, after a range check.
pub(crate) fn narrow_start(sizes: &[i64], dim: i64, start: i64, length: i64) -> Result<i64> {
    ensure!(!sizes.is_empty(), Runtime, "narrow() cannot be applied to a 0-dim tensor.");
    ensure!(length >= 0, Runtime, "narrow(): length must be non-negative.");
    let size = sizes[wrap_dim(dim, sizes.len())?];
    ensure!(
        (-size..=size).contains(&start),
        Index,
        "start out of range (expected to be in range of [{}, {size}], but got {start})",
        -size
    );
    let start = if start < 0 { start + size } else { start };
    ensure!(start <= size - length, Runtime, "start ({start}) + length ({length}) exceeds dimension size ({size}).");
    Ok(start)
}

/// Windows of a dimension, each `step` further, in a new last dimension.
pub fn unfold(self_: &Dense, dimension: i64, size: i64, step: i64) -> Result<Geometry> {
    let dim = wrap_dim(dimension, self_.ndim())?;
    let (most, stride) = match self_.ndim() {
        0 => (1, 1),
        _ => (self_.sizes()[dim], self_.strides()[dim]),
    };
    ensure!(size >= 0, Runtime, "size is {size} but must be >= 0");
    ensure!(size <= most, Runtime, "maximum size for tensor at dimension {dim} is {most} but size is {size}");
    ensure!(step > 0, Runtime, "step is {step} but must be > 0");
    let mut geometry = self_.geometry.clone();
    if self_.ndim() > 0 {
        geometry.sizes[dim] = (most - size) / step + 1;
        geometry.strides[dim] = stride.saturating_mul(step);
    }
    geometry.sizes.push(size);
    geometry.strides.push(stride);
    Ok(geometry)
}

/// With a dimension of size 1 inserted.
pub fn unsqueeze(self_: &Dense, dim: i64) -> Result<Geometry> {
    let dim = wrap_dim(dim, self_.ndim() + 1)?;
    let mut geometry = self_.geometry.clone();
    let stride = geometry.sizes.get(dim).map_or(1, |size| size * geometry.strides[dim]);
    geometry.sizes.insert(dim, 1);
    geometry.strides.insert(dim, stride);
    Ok(geometry)
}

/// `size` with its -1 filled in, for a tensor of `elements`.
pub(super) fn infer_size(size: &[i64], elements: i64) -> Result<DimVec> {
    let invalid =
        || rushlight_base::err!(Runtime, "shape '{}' is invalid for input of size {elements}", format_sizes(size));
    let (mut known, mut inferred) = (1i64, None);
    for (dim, &extent) in size.iter().enumerate() {
        if extent == -1 {
            ensure!(inferred.is_none(), Runtime, "only one dimension can be inferred");
            inferred = Some(dim);
        } else if extent < 0 {
            bail!(Runtime, "invalid shape dimension {extent} at index {dim} of shape {}", format_sizes(size));
        } else {
            known = known.checked_mul(extent).ok_or_else(invalid)?;
        }
    }
    let mut result = DimVec::from_slice(size);
    match inferred {
        None if known == elements => {}
        Some(dim) if known > 0 && elements % known == 0 => result[dim] = elements / known,
        Some(_) if known == 0 && elements == 0 => bail!(
            Runtime,
            "cannot reshape tensor of 0 elements into shape {} because the unspecified dimension size -1 can be any \
             value and is ambiguous",
            format_sizes(size)
        ),
        _ => return Err(invalid()),
    }
    Ok(result)
}

/// Strides that view a tensor of `sizes` and `strides` as `target`; `None` if that requires a copy.
///
/// The input splits into runs of mutually contiguous dimensions; each target dimension must be inside one run.
pub(super) fn view_strides(sizes: &[i64], strides: &[i64], target: &[i64]) -> Option<DimVec> {
    let elements: i64 = sizes.iter().product();
    if elements == 0 && sizes == target {
        return Some(DimVec::from_slice(strides));
    }
    if elements == 0 || sizes.is_empty() {
        return Some(rushlight_base::contiguous_strides(target));
    }
    let mut result = DimVec::from_elem(1, target.len());
    // The target dimensions to be assigned are ..next.
    let mut next = target.len();
    let mut base = *strides.last()?;
    let (mut run, mut placed) = (1i64, 1i64);
    for dim in (0..sizes.len()).rev() {
        run *= sizes[dim];
        let ends = dim == 0 || (sizes[dim - 1] != 1 && strides[dim - 1] != run * base);
        if !ends {
            continue;
        }
        while next > 0 && (placed < run || target[next - 1] == 1) {
            next -= 1;
            result[next] = placed * base;
            placed *= target[next];
        }
        if placed != run {
            return None;
        }
        if dim > 0 {
            base = strides[dim - 1];
            (run, placed) = (1, 1);
        }
    }
    (next == 0).then_some(result)
}

/// The same elements in another shape, without a copy.
pub fn view(self_: &Dense, size: &[i64]) -> Result<Geometry> {
    let sizes = infer_size(size, self_.numel())?;
    let Some(strides) = view_strides(self_.sizes(), self_.strides(), &sizes) else {
        bail!(
            Runtime,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across \
             two contiguous subspaces). Use .reshape(...) instead."
        );
    };
    Ok(Geometry { sizes, strides, offset: self_.geometry.offset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Spec;
    use rushlight_base::{DType, Device};

    fn tensor(sizes: &[i64]) -> Dense {
        Spec::new(sizes, DType::F32, Device::META).allocate().unwrap()
    }

    #[test]
    fn a_view_keeps_within_contiguous_runs() {
        assert_eq!(view_strides(&[2, 3, 4], &[12, 4, 1], &[6, 4]).unwrap().as_slice(), &[4, 1]);
        assert_eq!(view_strides(&[4, 6], &[1, 4], &[2, 2, 6]).unwrap().as_slice(), &[2, 1, 4]);
        assert_eq!(view_strides(&[4, 6], &[1, 4], &[24]), None);
        assert_eq!(view_strides(&[3], &[0], &[3, 1]).unwrap().as_slice(), &[0, 0]);
        assert_eq!(infer_size(&[2, -1], 6).unwrap().as_slice(), &[2, 3]);
        assert_eq!(infer_size(&[4, -1], 6).unwrap_err().message(), "shape '[4, -1]' is invalid for input of size 6");
    }

    #[test]
    fn slices_clamp_their_bounds() {
        let a = tensor(&[5, 2]);
        let geometry = slice(&a, 0, Some(-3), Some(99), 2).unwrap();
        assert_eq!(
            (geometry.sizes.as_slice(), geometry.strides.as_slice(), geometry.offset),
            (&[2, 2][..], &[4, 1][..], 4)
        );
        assert_eq!(slice(&a, 0, Some(4), Some(1), 1).unwrap().sizes[0], 0);
        assert!(slice(&a, 0, None, None, 0).is_err());
        assert!(select(&a, 0, 5).is_err() && select(&a, 0, -5).is_ok());
    }

    #[test]
    fn strides_beyond_the_storage_are_rejected() {
        let a = Spec::new(&[5], DType::F32, Device::CPU).allocate().unwrap();
        assert!(as_strided(&a, &[2, 2], &[1, 2], Some(0)).is_ok());
        assert!(as_strided(&a, &[2, 2], &[1, 4], Some(0)).is_err());
        assert!(as_strided(&a, &[1 << 40, 2], &[1 << 40, 1], Some(0)).is_err());
    }

    #[test]
    fn expansion_keeps_sizes_of_minus_one() {
        let a = tensor(&[3, 1]);
        let geometry = expand(&a, &[2, -1, 4], false).unwrap();
        assert_eq!((geometry.sizes.as_slice(), geometry.strides.as_slice()), (&[2, 3, 4][..], &[0, 1, 0][..]));
        assert!(expand(&a, &[-1, 3, 1], false).is_err());
    }
}
