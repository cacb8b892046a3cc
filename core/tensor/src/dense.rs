//! A dense tensor's body, and the one consistent snapshot of it that a call works on.
//!
//! Shape rules and kernels see only this: storage, dtype, device, sizes, strides, offset. They never look at
//! the tensor again, so metadata that another thread changes meanwhile cannot lead them to invalid memory.

use rushlight_base::{
    DType, Device, DeviceType, DimVec, MemoryFormat, Result, Storage, contiguous_strides, copy_dims, ensure, err,
    format_sizes, numel, push_contiguous_strides,
};

/// Sizes, strides and offset (in elements): how a tensor looks at its storage.
#[derive(Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Extent of each dimension.
    pub sizes: DimVec,
    /// Step of each dimension, in elements.
    pub strides: DimVec,
    /// Where the first element stands in the storage.
    pub offset: i64,
}

impl Clone for Geometry {
    #[inline(always)]
    fn clone(&self) -> Geometry {
        // SmallVec's own clone goes element by element.
        Geometry { sizes: copy_dims(&self.sizes), strides: copy_dims(&self.strides), offset: self.offset }
    }
}

impl Geometry {
    /// Row-major from the start of the storage.
    pub fn contiguous(sizes: &[i64]) -> Geometry {
        Geometry { sizes: DimVec::from_slice(sizes), strides: contiguous_strides(sizes), offset: 0 }
    }

    /// Number of elements.
    #[inline]
    pub fn numel(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// Are the elements in row-major order without gaps? Dimensions of size 1 may have any stride, and a
    /// tensor without elements always is.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1i64;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
            if size != 1 {
                if size == 0 {
                    return true;
                }
                if stride != expected {
                    return self.sizes.contains(&0);
                }
                expected *= size;
            }
        }
        true
    }

    /// Is the tensor laid out in this memory format?
    pub fn is_contiguous_in(&self, format: MemoryFormat) -> bool {
        match format {
            MemoryFormat::Contiguous | MemoryFormat::Preserve => self.is_contiguous(),
            MemoryFormat::ChannelsLast => self.follows(&[1, 3, 2, 0]),
            MemoryFormat::ChannelsLast3d => self.follows(&[1, 4, 3, 2, 0]),
        }
    }

    /// Are the strides those of a gap-free tensor whose fastest dimension is `order[0]`, and so on?
    fn follows(&self, order: &[usize]) -> bool {
        if self.sizes.len() != order.len() {
            return false;
        }
        let mut expected = 1i64;
        order.iter().all(|&dim| {
            let fits = self.sizes[dim] == 1 || self.strides[dim] == expected;
            expected *= self.sizes[dim];
            fits
        })
    }

    /// The half-open range of elements, relative to the storage, that this geometry can touch.
    pub fn element_range(&self) -> (i64, i64) {
        if self.sizes.contains(&0) {
            return (self.offset, self.offset);
        }
        let mut low = self.offset;
        let mut high = self.offset + 1;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let reach = (size - 1) * stride;
            if reach < 0 { low += reach } else { high += reach }
        }
        (low, high)
    }
}

/// Strides for `sizes` in a memory format (`Preserve` means row-major here: there is nothing to preserve).
pub fn strides_in(sizes: &[i64], format: MemoryFormat) -> Result<DimVec> {
    let order: &[usize] = match format {
        MemoryFormat::Contiguous | MemoryFormat::Preserve => return Ok(contiguous_strides(sizes)),
        MemoryFormat::ChannelsLast => &[1, 3, 2, 0],
        MemoryFormat::ChannelsLast3d => &[1, 4, 3, 2, 0],
    };
    ensure!(
        sizes.len() == order.len(),
        Runtime,
        "required rank {} tensor to use {} format, got sizes {}",
        order.len(),
        if order.len() == 4 { "channels_last" } else { "channels_last_3d" },
        format_sizes(sizes)
    );
    let mut strides = DimVec::from_elem(0, sizes.len());
    let mut step = 1i64;
    for &dim in order {
        strides[dim] = step;
        step = step.wrapping_mul(sizes[dim].max(1));
    }
    Ok(strides)
}

/// What was put off: a tensor's elements are those of its storage conjugated, or negated, or both. Kernels never meet
/// such a tensor: the layer `dispatch/lazy.rs` carries out what was put off before it calls them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lazy {
    /// Conjugated.
    pub conj: bool,
    /// Negated.
    pub neg: bool,
}

impl Lazy {
    /// Nothing was put off.
    pub const NONE: Lazy = Lazy { conj: false, neg: false };
}

/// What a view shows of a storage: more than a geometry where the elements are taken for something else.
pub struct Shown {
    /// How it looks at the storage.
    pub geometry: Geometry,
    /// As which elements.
    pub dtype: DType,
    /// What is put off.
    pub lazy: Lazy,
}

/// What the rule of a view returns.
pub trait View {
    /// All of what a view of `base` shows.
    fn of(self, base: &Dense) -> Shown;
}

impl View for Geometry {
    #[inline]
    fn of(self, base: &Dense) -> Shown {
        Shown { geometry: self, dtype: base.dtype, lazy: base.lazy }
    }
}

impl View for Shown {
    fn of(self, _base: &Dense) -> Shown {
        self
    }
}

/// The consistent snapshot of a dense tensor: what a call works on from its first look to its end.
#[derive(Clone)]
pub struct Dense {
    /// The shared bytes.
    pub storage: Storage,
    /// How the tensor looks at them.
    pub geometry: Geometry,
    /// Element type.
    pub dtype: DType,
    /// Where the bytes are.
    pub device: Device,
    /// Is this a number in a tensor's clothes (see `KeySet::WRAPPED`)?
    pub wrapped: bool,
    /// What of the elements was put off.
    pub lazy: Lazy,
    // What every call asks, known from the start: a body never changes.
    /// Is the geometry row-major without gaps?
    contiguous: bool,
    /// Number of elements.
    elements: i64,
    /// Address of the first element.
    at: *mut u8,
}

// SAFETY: the address lies in the storage, and is no more than the storage hands out itself to any thread.
unsafe impl Send for Dense {}
// SAFETY: as above.
unsafe impl Sync for Dense {}

impl Dense {
    /// A dense tensor: `storage` seen through `geometry`, which must stay within it.
    #[inline]
    pub fn new(storage: Storage, geometry: Geometry, dtype: DType, device: Device) -> Dense {
        let (contiguous, elements) = (geometry.is_contiguous(), geometry.numel());
        let at = storage.data().wrapping_offset(geometry.offset as isize * dtype.size() as isize);
        Dense { storage, geometry, dtype, device, wrapped: false, lazy: Lazy::NONE, contiguous, elements, at }
    }

    /// A row-major tensor of `elements` over `storage` whose shape comes with [`Dense::set_shape`].
    #[inline(always)]
    pub(crate) fn shapeless(storage: Storage, elements: i64, dtype: DType, device: Device) -> Dense {
        let geometry = Geometry { sizes: DimVec::new(), strides: DimVec::new(), offset: 0 };
        let at = storage.data();
        Dense { storage, geometry, dtype, device, wrapped: false, lazy: Lazy::NONE, contiguous: true, elements, at }
    }

    /// The shape of a [`Dense::shapeless`] tensor, with as many elements.
    #[inline(always)]
    pub(crate) fn set_shape(&mut self, sizes: DimVec) {
        debug_assert!(self.geometry.sizes.is_empty() && sizes.iter().product::<i64>() == self.elements);
        // SAFETY: an empty vector owns nothing that would have to be dropped.
        unsafe { std::ptr::write(&mut self.geometry.sizes, sizes) };
        push_contiguous_strides(&mut self.geometry.strides, &self.geometry.sizes);
    }

    /// Extent of each dimension.
    #[inline]
    pub fn sizes(&self) -> &[i64] {
        &self.geometry.sizes
    }

    /// Step of each dimension, in elements.
    #[inline]
    pub fn strides(&self) -> &[i64] {
        &self.geometry.strides
    }

    /// Number of dimensions.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.geometry.sizes.len()
    }

    /// Number of elements.
    #[inline]
    pub fn numel(&self) -> i64 {
        self.elements
    }

    /// Row-major without gaps?
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Has shape and dtype, but no data?
    #[inline]
    pub fn is_meta(&self) -> bool {
        self.device.kind == DeviceType::Meta
    }

    /// Address of the first element. Null on the meta device.
    #[inline]
    pub fn ptr(&self) -> *mut u8 {
        self.at
    }

    /// The same bytes seen through another geometry. A view of a number is a tensor like others.
    pub fn with_geometry(&self, geometry: Geometry) -> Dense {
        Dense::new(self.storage.clone(), geometry, self.dtype, self.device)
    }

    /// The same bytes as a view shows them.
    #[inline]
    pub fn shown(&self, view: impl View) -> Dense {
        let Shown { geometry, dtype, lazy } = view.of(self);
        let mut dense = Dense::new(self.storage.clone(), geometry, dtype, self.device);
        dense.lazy = lazy;
        dense
    }

    /// Is every element at an address of its own? (`expand` makes tensors where this is not so.)
    pub fn has_internal_overlap(&self) -> bool {
        if self.is_contiguous() {
            return false;
        }
        // Exact for what strided views produce: ordered by stride, each dimension must step over all the
        // smaller ones together. A tensor that fails only this test may still have no overlap (as_strided
        // puzzles); like PyTorch, only a certain overlap (stride 0) is reported.
        self.sizes().iter().zip(self.strides()).any(|(&size, &stride)| size > 1 && stride == 0)
            && !self.sizes().contains(&0)
    }

    /// A tensor whose elements share memory (an expanded one) cannot be written to.
    #[inline]
    pub fn check_writable(&self) -> Result<()> {
        ensure!(
            !self.has_internal_overlap(),
            Runtime,
            "unsupported operation: more than one element of the written-to tensor refers to a single memory \
             location. Please clone() the tensor before performing the operation."
        );
        Ok(())
    }

    /// Can these two touch the same bytes?
    pub fn may_share_memory(&self, other: &Dense) -> bool {
        if self.is_meta() || other.is_meta() {
            return false;
        }
        let (a, b) = (self.byte_range(), other.byte_range());
        a.0 < b.1 && b.0 < a.1
    }

    fn byte_range(&self) -> (usize, usize) {
        let (low, high) = self.geometry.element_range();
        let at = |element: i64| {
            (self.storage.data() as usize).wrapping_add_signed(element as isize * self.dtype.size() as isize)
        };
        (at(low), at(high))
    }

    /// Are these exactly the same elements in the same order?
    pub fn is_same_view(&self, other: &Dense) -> bool {
        self.ptr() == other.ptr()
            && self.dtype == other.dtype
            && self.sizes() == other.sizes()
            && self.strides() == other.strides()
    }

    /// `[2, 3] float32`: for messages.
    pub fn describe(&self) -> String {
        format!("{} {}", format_sizes(self.sizes()), self.dtype)
    }
}

/// Number of elements from the first to the farthest one of these sizes and (not negative) strides.
fn reach(sizes: &[i64], strides: &[i64]) -> Result<i64> {
    if numel(sizes)? == 0 {
        return Ok(0);
    }
    let overflow = || too_large(sizes);
    sizes.iter().zip(strides).try_fold(1i64, |reach, (&size, &stride)| {
        (size - 1).checked_mul(stride).and_then(|step| reach.checked_add(step)).ok_or_else(overflow)
    })
}

/// What a shape rule says of an output: everything but the values.
///
/// In this order: were the padding of `device` in front, LLVM would copy the sizes together with it, in words that are not
/// those they were written in, for which processors wait.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Spec {
    /// Extent of each dimension.
    pub sizes: DimVec,
    /// Step of each dimension; row-major if not said. Boxed because it is rare: a spec travels by value.
    pub strides: Option<Box<DimVec>>,
    /// Element type.
    pub dtype: DType,
    /// Where the output lives.
    pub device: Device,
}

impl Spec {
    /// A row-major output.
    pub fn new(sizes: &[i64], dtype: DType, device: Device) -> Spec {
        Spec { sizes: DimVec::from_slice(sizes), strides: None, dtype, device }
    }

    /// The same with these strides, none of them negative.
    pub fn with_strides(mut self, strides: DimVec) -> Spec {
        self.strides = Some(Box::new(strides));
        self
    }

    /// Memory for an intermediate result, not initialised. What an operator returns is made by `Spec::make`.
    pub fn allocate(self) -> Result<Dense> {
        let (elements, bytes) = self.extent()?;
        let storage = self.storage(bytes)?;
        Ok(self.over(storage, elements))
    }

    /// How many elements there are, and how many bytes they take.
    #[inline(always)]
    pub(crate) fn extent(&self) -> Result<(i64, usize)> {
        let elements = numel(&self.sizes)?;
        let reached = match &self.strides {
            None => elements,
            Some(strides) => reach(&self.sizes, strides)?,
        };
        let bytes = (reached as usize).checked_mul(self.dtype.size()).ok_or_else(|| too_large(&self.sizes))?;
        Ok((elements, bytes))
    }

    pub(crate) fn storage(&self, bytes: usize) -> Result<Storage> {
        match self.device.kind {
            DeviceType::Cpu => Storage::allocate(bytes),
            DeviceType::Meta => Storage::meta(bytes),
            DeviceType::Cuda => Err(no_cuda_memory(self.device)),
        }
    }

    /// The body of this output over `storage`, which has room for its `elements`.
    #[inline(always)]
    pub(crate) fn over(self, storage: Storage, elements: i64) -> Dense {
        let Spec { sizes, strides, dtype, device } = self;
        if let Some(strides) = strides {
            return Dense::new(storage, Geometry { sizes, strides: *strides, offset: 0 }, dtype, device);
        }
        let mut dense = Dense::shapeless(storage, elements, dtype, device);
        dense.set_shape(sizes);
        dense
    }

    /// May this result be stored as `dtype`?
    pub fn check_cast(&self, dtype: DType) -> Result<()> {
        ensure!(
            self.dtype == dtype || self.dtype.can_cast(dtype),
            Runtime,
            "result type {} can't be cast to the desired output type {}",
            self.dtype.c10_name(),
            dtype.c10_name()
        );
        Ok(())
    }
}

#[cold]
fn too_large(sizes: &[i64]) -> rushlight_base::Error {
    err!(Runtime, "Storage size calculation overflowed with sizes={}", format_sizes(sizes))
}

/// Why there is no memory on a CUDA device: no device, or a build without the CUDA column.
#[cold]
fn no_cuda_memory(device: Device) -> rushlight_base::Error {
    #[cfg(feature = "cuda")]
    return match rushlight_cuda::check_device(device) {
        Err(error) => error,
        Ok(()) => err!(NotImplemented, "no kernel makes tensors on device {device}"),
    };
    #[cfg(not(feature = "cuda"))]
    err!(Runtime, "no CUDA device: this build of Rushlight has no CUDA, so there is no device {device}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::smallvec;

    #[test]
    fn contiguity_ignores_sizes_of_one_and_empty_tensors() {
        let geometry = |sizes: &[i64], strides: &[i64]| Geometry {
            sizes: DimVec::from_slice(sizes),
            strides: DimVec::from_slice(strides),
            offset: 0,
        };
        assert!(geometry(&[2, 1, 3], &[3, 77, 1]).is_contiguous());
        assert!(geometry(&[0, 3], &[9, 9]).is_contiguous());
        assert!(geometry(&[], &[]).is_contiguous());
        assert!(!geometry(&[2, 3], &[1, 2]).is_contiguous());
        assert!(geometry(&[2, 3, 4, 5], &[60, 1, 15, 3]).is_contiguous_in(MemoryFormat::ChannelsLast));
        assert_eq!(strides_in(&[2, 3, 4, 5], MemoryFormat::ChannelsLast).unwrap().as_slice(), &[60, 1, 15, 3]);
    }

    #[test]
    fn an_expanded_tensor_is_not_writable() {
        let dense = Spec::new(&[4], DType::F32, Device::CPU).allocate().unwrap();
        let expanded = dense.with_geometry(Geometry { sizes: smallvec![3, 4], strides: smallvec![0, 1], offset: 0 });
        assert!(dense.check_writable().is_ok());
        assert!(expanded.check_writable().is_err());
    }

    #[test]
    fn element_range_covers_negative_steps() {
        let geometry = Geometry { sizes: smallvec![3, 2], strides: smallvec![-2, 1], offset: 10 };
        assert_eq!(geometry.element_range(), (6, 12));
    }
}
