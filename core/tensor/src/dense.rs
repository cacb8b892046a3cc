//! A dense tensor's body, and the one consistent snapshot of it that a call works on.
//!
//! Shape rules and kernels only use this: storage, dtype, device, sizes, strides, offset. They never access the tensor
//! again, so metadata that another thread changes meanwhile cannot lead them to invalid memory.

use crate::components::Components;
use rushlight_base::{
    DType, Device, DeviceType, DimVec, MemoryFormat, Result, Storage, contiguous_strides, copy_dims, ensure, err,
    format_sizes, numel, push_contiguous_strides,
};
use std::sync::Arc;

/// Sizes, strides and offset (in elements): the geometry of a tensor in its storage.
#[derive(Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Extent of each dimension.
    pub sizes: DimVec,
    /// Step of each dimension, in elements.
    pub strides: DimVec,
    /// Offset of the first element in the storage.
    pub offset: i64,
}

impl Clone for Geometry {
    #[inline(always)]
    fn clone(&self) -> Geometry {
        // SmallVec's own clone copies one element at a time.
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

    /// Whether the elements are row-major without gaps. Dimensions of size 1 may have any stride, and a tensor without
    /// elements always is.
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

    /// Whether the tensor is contiguous in this memory format.
    pub fn is_contiguous_in(&self, format: MemoryFormat) -> bool {
        match format {
            MemoryFormat::Contiguous | MemoryFormat::Preserve => self.is_contiguous(),
            MemoryFormat::ChannelsLast => self.follows(&[1, 3, 2, 0]),
            MemoryFormat::ChannelsLast3d => self.follows(&[1, 4, 3, 2, 0]),
        }
    }

    /// Whether the strides are those of a gap-free tensor whose fastest dimension is `order[0]`, and so on.
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

    /// The half-open range of elements, relative to the storage, that this geometry can access.
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

/// Strides for `sizes` in a memory format (`Preserve` means row-major here, without an input to preserve).
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
        step = step.wrapping_mul(sizes[dim]);
    }
    Ok(strides)
}

/// The lazy bits: a tensor's elements are those of its storage conjugated (conj bit), negated (neg bit), or both.
/// Kernels never receive such a tensor: the layer `dispatch/lazy.rs` materializes the bits before it calls them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lazy {
    /// Conjugated.
    pub conj: bool,
    /// Negated.
    pub neg: bool,
}

impl Lazy {
    /// No lazy bit is set.
    pub const NONE: Lazy = Lazy { conj: false, neg: false };
}

/// The result of a view rule: more than a geometry if the elements are reinterpreted.
pub struct Shown {
    /// The geometry of the view.
    pub geometry: Geometry,
    /// The element type of the view.
    pub dtype: DType,
    /// The lazy bits.
    pub lazy: Lazy,
}

/// The result of a view rule.
pub trait View {
    /// The full description of a view of `base`.
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

/// A consistent snapshot of a dense tensor, which a call uses from start to end.
#[derive(Clone)]
pub struct Dense {
    /// The shared bytes.
    pub storage: Storage,
    /// Sizes, strides and offset in the storage.
    pub geometry: Geometry,
    /// Element type.
    pub dtype: DType,
    /// Where the bytes are.
    pub device: Device,
    /// Whether this is a wrapped number (see `KeySet::WRAPPED`).
    pub wrapped: bool,
    /// The lazy bits of the elements.
    pub lazy: Lazy,
    /// Indices and values of a sparse tensor, whose storage is empty; the quantizer of a quantized one.
    pub(crate) components: Option<Arc<Components>>,
    // Computed once, since every call uses them: a body never changes.
    /// Whether the geometry is row-major without gaps.
    contiguous: bool,
    /// Number of elements.
    elements: i64,
    /// Address of the first element.
    at: *mut u8,
}

// SAFETY: the address points into the storage, which any thread may use; the other fields are plain data.
unsafe impl Send for Dense {}
// SAFETY: a body is never modified, and any thread may use the storage behind the address.
unsafe impl Sync for Dense {}

impl Dense {
    /// A dense tensor: `storage` seen through `geometry`, which must stay within it.
    #[inline]
    pub fn new(storage: Storage, geometry: Geometry, dtype: DType, device: Device) -> Dense {
        let (contiguous, elements) = (geometry.is_contiguous(), geometry.numel());
        let at = storage.data().wrapping_offset(geometry.offset as isize * dtype.size() as isize);
        let (wrapped, lazy, components) = (false, Lazy::NONE, None);
        Dense { storage, geometry, dtype, device, wrapped, lazy, components, contiguous, elements, at }
    }

    /// A row-major tensor of `elements` over `storage` whose shape is set with [`Dense::set_shape`].
    #[inline(always)]
    pub(crate) fn shapeless(storage: Storage, elements: i64, dtype: DType, device: Device) -> Dense {
        let geometry = Geometry { sizes: DimVec::new(), strides: DimVec::new(), offset: 0 };
        let at = storage.data();
        let (wrapped, lazy, components, contiguous) = (false, Lazy::NONE, None, true);
        Dense { storage, geometry, dtype, device, wrapped, lazy, components, contiguous, elements, at }
    }

    /// The body of a sparse tensor of these sizes: without bytes. Its indices and values are in `components`.
    pub(crate) fn without_bytes(sizes: &[i64], dtype: DType, components: Components) -> Result<Dense> {
        numel(sizes)?;
        let mut body = Dense::new(Storage::allocate(0)?, Geometry::contiguous(sizes), dtype, Device::CPU);
        body.components = Some(Arc::new(components));
        Ok(body)
    }

    /// The same body with another number of elements than its sizes say: that of a nested tensor.
    #[cfg(feature = "op-nested")]
    pub(crate) fn with_elements(mut self, elements: i64) -> Dense {
        self.elements = elements;
        self
    }

    /// The shape of a [`Dense::shapeless`] tensor, with as many elements.
    #[inline(always)]
    pub(crate) fn set_shape(&mut self, sizes: DimVec) {
        debug_assert!(self.geometry.sizes.is_empty() && sizes.iter().product::<i64>() == self.elements);
        // SAFETY: the overwritten vector is empty and not spilled, so it owns nothing that would have to be dropped.
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

    /// Whether the elements are row-major without gaps.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// Whether it has shape and dtype, but no data.
    #[inline]
    pub fn is_meta(&self) -> bool {
        self.device.kind == DeviceType::Meta
    }

    /// Whether the host can read the elements.
    #[inline]
    pub fn is_on_host(&self) -> bool {
        self.device.kind == DeviceType::Cpu
    }

    /// Address of the first element, in the memory of its device. Null on the meta device.
    #[inline]
    pub fn ptr(&self) -> *mut u8 {
        self.at
    }

    /// Address of the first element, which the host reads or writes: ends the kernel if it is in a device's memory.
    #[inline]
    pub(crate) fn host_ptr(&self) -> *mut u8 {
        if !self.is_on_host() {
            rushlight_base::backend::no_kernel(self.device);
        }
        self.at
    }

    /// The same bytes with another geometry. A view of a wrapped number is not a wrapped number.
    pub fn with_geometry(&self, geometry: Geometry) -> Dense {
        Dense::new(self.storage.clone(), geometry, self.dtype, self.device)
    }

    /// The same bytes with the geometry, dtype and lazy bits of a view.
    #[inline]
    pub fn shown(&self, view: impl View) -> Dense {
        let Shown { geometry, dtype, lazy } = view.of(self);
        let mut dense = Dense::new(self.storage.clone(), geometry, dtype, self.device);
        dense.lazy = lazy;
        dense
    }

    /// Whether every element has its own address. (Not so for results of `expand`.)
    pub fn has_internal_overlap(&self) -> bool {
        if self.is_contiguous() {
            return false;
        }
        // Exact for geometries of strided views: ordered by stride, each dimension must step over the extent of all
        // smaller ones. A tensor that fails only this test may still have no overlap (unusual as_strided geometries);
        // like PyTorch, only a certain overlap (stride 0) is reported.
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

    /// Whether these two can touch the same bytes.
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

    /// Whether these are exactly the same elements in the same order.
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

/// The metadata of an output, as a shape rule determines it: everything but the values.
///
/// The order of the fields matters: with the padding of `device` in front, LLVM copies the sizes together with it, in
/// words that differ from those in which they were written, which stalls the processor.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Spec {
    /// Extent of each dimension.
    pub sizes: DimVec,
    /// Step of each dimension; `None`: row-major. Boxed because it is rare: a spec is passed by value.
    pub strides: Option<Box<DimVec>>,
    /// Element type.
    pub dtype: DType,
    /// The device of the output.
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

    /// Uninitialized memory for an intermediate result. `Spec::make` creates results of operators.
    pub fn allocate(self) -> Result<Dense> {
        let (elements, bytes) = self.extent()?;
        let storage = self.storage(bytes)?;
        Ok(self.over(storage, elements))
    }

    /// Number of elements, and of bytes.
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
        if self.dtype.is_quantized() {
            return Err(no_quantizer(self.dtype));
        }
        match self.device.kind {
            DeviceType::Cpu => Storage::allocate(bytes),
            DeviceType::Meta => Storage::meta(bytes),
            DeviceType::Cuda => Storage::on_device(crate::devices::indexed(self.device)?, bytes),
        }
    }

    /// The body of this output over `storage`, which is large enough for its `elements`.
    #[inline(always)]
    pub(crate) fn over(self, storage: Storage, elements: i64) -> Dense {
        let Spec { sizes, strides, dtype, mut device } = self;
        if device.kind == DeviceType::Cuda {
            // With the index of the current device if the spec has none.
            device = storage.device();
        }
        if let Some(strides) = strides {
            return Dense::new(storage, Geometry { sizes, strides: *strides, offset: 0 }, dtype, device);
        }
        let mut dense = Dense::shapeless(storage, elements, dtype, device);
        dense.set_shape(sizes);
        dense
    }

    /// The same result in another dtype, which it must be castable to.
    pub fn cast_to(self, dtype: DType) -> Result<Spec> {
        check_cast(self.dtype, dtype)?;
        Ok(Spec { dtype, ..self })
    }
}

/// Whether a result of dtype `result` may be stored as `wanted`.
pub fn check_cast(result: DType, wanted: DType) -> Result<()> {
    ensure!(
        result.can_cast(wanted),
        Runtime,
        "result type {} can't be cast to the desired output type {}",
        result.c10_name(),
        wanted.c10_name()
    );
    Ok(())
}

/// Results of kernels have no quantizer.
#[cold]
fn no_quantizer(dtype: DType) -> rushlight_base::Error {
    err!(NotImplemented, "a tensor of {dtype} needs a quantizer: no kernel of strided tensors creates one")
}

#[cold]
fn too_large(sizes: &[i64]) -> rushlight_base::Error {
    err!(Runtime, "Storage size calculation overflowed with sizes={}", format_sizes(sizes))
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
        assert_eq!(strides_in(&[2, 3, 4, 0], MemoryFormat::ChannelsLast).unwrap().as_slice(), &[0, 1, 0, 3]);
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
