//! The tensor: one concrete, reference-counted, thread-safe type.
//!
//! A tensor is a pointer (`refcount.rs`) to a key word, a body (`body.rs`: replaceable, since in-place view operators
//! and `set_data` change it) and, only when needed, a box with autograd metadata. An operator pins the body while it
//! runs and accesses nothing else of the tensor.

use crate::autograd::{AutogradMeta, History};
use crate::body::Pinned;
use crate::dense::{Dense, Geometry, Shown, Spec, View};
use crate::keys::KeySet;
use crate::ops::{self, rules};
use crate::options::Options;
pub use crate::refcount::{Tensor, TensorImpl};
use rushlight_base::{
    DType, Device, DimVec, Element, MemoryFormat, Result, Scalar, Storage, copy_dims, ensure, format_sizes, numel,
};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

impl Tensor {
    /// Creates a tensor on the CPU with a copy of `values`, row-major.
    pub fn from_slice<T: Element>(values: &[T], sizes: &[i64]) -> Result<Tensor> {
        let elements = numel(sizes)?;
        ensure!(
            elements == values.len() as i64,
            Runtime,
            "shape {} has {elements} elements, but {} values were given",
            format_sizes(sizes),
            values.len()
        );
        let result = Spec::new(sizes, T::DTYPE, Device::CPU).make()?;
        // SAFETY: the storage was just allocated for `elements` elements of `T`, and no other code has a reference to
        // it.
        unsafe { result.ptr().cast::<T>().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(result.into_tensor())
    }

    /// Copies the elements in row-major order. `T` must be the tensor's dtype.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let plain = crate::dispatch::carried_out(self)?;
        let dense = plain.dense()?;
        ensure!(dense.dtype == T::DTYPE, Type, "expected a tensor of {} but got {}", T::DTYPE, dense.dtype);
        ensure!(!dense.is_meta(), NotImplemented, "Cannot copy out of meta tensor; no data!");
        let dense = ops::transfer::on_host(&dense)?;
        let count = dense.numel();
        let mut values = Vec::new();
        values
            .try_reserve_exact(count as usize)
            .map_err(|_| rushlight_base::err!(OutOfMemory, "not enough memory for {count} elements"))?;
        let start = dense.ptr().cast::<T>();
        if dense.is_contiguous() {
            // SAFETY: a contiguous tensor has `count` elements from its first one on, inside the storage, which the
            // snapshot keeps alive; the list has capacity for them.
            unsafe {
                start.copy_to_nonoverlapping(values.as_mut_ptr(), count as usize);
                values.set_len(count as usize);
            }
            return Ok(values);
        }
        let mut index = DimVec::from_elem(0, dense.ndim());
        for _ in 0..count {
            let offset: i64 = index.iter().zip(dense.strides()).map(|(i, stride)| i * stride).sum();
            // SAFETY: `index` is within the sizes, so the element is inside the storage, which the snapshot keeps alive.
            values.push(unsafe { start.offset(offset as isize).read() });
            advance(&mut index, dense.sizes());
        }
        Ok(values)
    }

    /// A tensor with the same dtype, geometry and bytes, without history. It shares the version counter, so that each
    /// of the two sees the writes to the other (`detach`).
    pub fn alias(&self) -> Tensor {
        let alias = Tensor::from_dense(self.read().clone());
        if let Some(version) = self.imp().version.get() {
            // The cell is new and empty.
            let _ = alias.imp().version.set(version.clone());
        }
        if self.is_inference() {
            alias.add_keys(KeySet::INFERENCE);
        }
        alias
    }

    /// Like `alias`, but with its own version counter: `Tensor.data` of PyTorch.
    pub fn untracked_alias(&self) -> Tensor {
        let alias = Tensor::from_dense(self.read().clone());
        let _ = alias.imp().version.set(Arc::new(AtomicU32::new(0)));
        alias
    }

    /// A view: another geometry over the same bytes, with the same version counter and no history yet.
    #[inline]
    pub fn view_of(&self, dense: &Dense, view: impl View) -> Tensor {
        let view = Tensor::from_dense(dense.shown(view));
        if let Some(version) = self.imp().version.get() {
            let _ = view.imp().version.set(version.clone());
        }
        view
    }

    /// Whether the conj bit is set: the elements are those of the storage, conjugated.
    pub fn is_conj(&self) -> bool {
        self.keys().intersects(KeySet::CONJ)
    }

    /// Whether the neg bit is set: the elements are those of the storage, negated.
    pub fn is_neg(&self) -> bool {
        self.keys().intersects(KeySet::NEG)
    }

    /// The keys of this tensor.
    #[inline]
    pub fn keys(&self) -> KeySet {
        KeySet::from_bits(self.imp().keys.load(Ordering::Relaxed))
    }

    pub(crate) fn add_keys(&self, keys: KeySet) {
        self.imp().keys.fetch_or(keys.bits(), Ordering::Relaxed);
    }

    pub(crate) fn remove_keys(&self, keys: KeySet) {
        self.imp().keys.fetch_and((!keys).bits(), Ordering::Relaxed);
    }

    /// Marks a tensor whose memory is allocated in inference mode.
    #[inline(always)]
    pub(crate) fn mark_if_inference(&self) {
        if crate::autograd::is_inference_mode() {
            self.add_keys(KeySet::INFERENCE);
        }
    }

    /// Whether the tensor was created in inference mode, or is a view of such a tensor.
    pub fn is_inference(&self) -> bool {
        self.keys().intersects(KeySet::INFERENCE)
    }

    /// Pins the body for one access.
    #[inline]
    fn read(&self) -> Pinned<'_> {
        self.imp().body.pin()
    }

    /// Extent of each dimension.
    pub fn sizes(&self) -> DimVec {
        DimVec::from_slice(self.read().sizes())
    }

    /// Step of each dimension, in elements.
    pub fn strides(&self) -> DimVec {
        DimVec::from_slice(self.read().strides())
    }

    /// Pointers to sizes and strides, for bindings that lend them: valid until the tensor is resized, given other data,
    /// or freed.
    pub fn geometry_parts(&self) -> (*const i64, *const i64, usize) {
        let body = self.read();
        (body.sizes().as_ptr(), body.strides().as_ptr(), body.ndim())
    }

    /// Sizes, strides, offset, dtype and lazy bits, from one snapshot.
    pub(crate) fn shown(&self) -> Shown {
        let body = self.read();
        Shown { geometry: body.geometry.clone(), dtype: body.dtype, lazy: body.lazy }
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.read().ndim()
    }

    /// Sizes, dtype and device, from one snapshot.
    pub(crate) fn shape_and_kind(&self) -> (DimVec, DType, Device) {
        let body = self.read();
        (copy_dims(&body.geometry.sizes), body.dtype, body.device)
    }

    /// dtype and device as factory options.
    pub fn options(&self) -> Options {
        let body = self.read();
        Options::of(body.dtype).on(body.device)
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.read().numel()
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.read().dtype
    }

    /// The device of the tensor.
    pub fn device(&self) -> Device {
        self.read().device
    }

    /// Offset of the first element in the storage, in elements.
    pub fn storage_offset(&self) -> i64 {
        self.read().geometry.offset
    }

    /// The storage.
    pub fn storage(&self) -> Storage {
        self.read().storage.clone()
    }

    /// Address of the first element. Null on the meta device.
    pub fn data_ptr(&self) -> *mut c_void {
        self.read().ptr().cast()
    }

    /// Whether the tensor is contiguous in this memory format. A sparse tensor is not.
    pub fn is_contiguous(&self, format: MemoryFormat) -> bool {
        let body = self.read();
        let strided =
            body.components.as_deref().is_none_or(|beside| beside.layout() == rushlight_base::Layout::Strided);
        strided && body.geometry.is_contiguous_in(format)
    }

    /// The memory format that the order of the strides shows, gaps allowed.
    pub fn suggested_format(&self) -> MemoryFormat {
        let dense = self.read();
        rules::suggested_format(dense.sizes(), dense.strides())
    }

    /// Whether the elements fill a range of memory without gaps, each at its own address, in any order of dimensions.
    pub fn is_non_overlapping_and_dense(&self) -> bool {
        let dense = self.read();
        rules::is_non_overlapping_and_dense(dense.sizes(), dense.strides())
    }

    /// Whether this is a wrapped number, which yields to dimensioned tensors in dtype promotion.
    pub fn is_wrapped_number(&self) -> bool {
        self.keys().intersects(KeySet::WRAPPED)
    }

    /// The only element, as a number.
    pub fn item(&self) -> Result<Scalar> {
        crate::dispatch::trace::read_number(self);
        if self.is_quantized()
            && let Some(quantizer) = self.quantizer()
        {
            // Not by the operator `dequantize`, which would link all kernels of quantized tensors into static programs.
            let integer = self.integers()?.item()?.to_i64() as i32;
            return Ok(Scalar::Float(quantizer.number(integer, 0).into()));
        }
        let plain = crate::dispatch::carried_out(self)?;
        let dense = plain.dense()?;
        ensure!(dense.numel() == 1, Runtime, "a Tensor with {} elements cannot be converted to Scalar", dense.numel());
        ensure!(!dense.is_meta(), Runtime, "Tensor.item() cannot be called on meta tensors");
        scalar_of(&dense)
    }

    /// The version counter: number of in-place writes.
    #[inline]
    pub fn version(&self) -> u32 {
        match self.imp().version.get() {
            Some(version) => version.load(Ordering::Relaxed),
            None => self.read().storage.version(),
        }
    }

    /// Bumps the version counter for an in-place write.
    #[inline]
    pub fn bump_version(&self) {
        match self.imp().version.get() {
            Some(version) => {
                version.fetch_add(1, Ordering::Relaxed);
            }
            None => self.read().storage.bump_version(),
        }
    }

    /// The history: the node that computed the tensor, and whether it requires a gradient.
    #[inline]
    pub(crate) fn history(&self) -> &History {
        &self.imp().history
    }

    /// The tensor's autograd metadata, if it has any.
    pub(crate) fn autograd_meta(&self) -> Option<&AutogradMeta> {
        self.imp().autograd.get()
    }

    /// The tensor's autograd metadata, created if there is none.
    pub(crate) fn autograd_meta_or_new(&self) -> &AutogradMeta {
        self.imp().autograd.get_or_init(AutogradMeta::default)
    }

    /// Sets the autograd metadata of a new tensor that has none.
    pub(crate) fn init_autograd_meta(&self, meta: AutogradMeta) {
        let fresh = self.imp().autograd.set(meta).is_ok();
        debug_assert!(fresh, "the tensor has autograd metadata already");
        self.add_keys(KeySet::AUTOGRAD);
    }

    /// Borrows a handle without taking ownership.
    ///
    /// # Safety
    /// `raw` came from `into_raw` and is not taken back while the result is used.
    #[inline]
    pub unsafe fn borrow_raw(raw: *const TensorImpl) -> ManuallyDrop<Tensor> {
        // SAFETY: the caller guarantees that `raw` came from `into_raw` and keeps its reference; `ManuallyDrop` leaves
        // the count unchanged.
        ManuallyDrop::new(unsafe { Tensor::from_raw(raw) })
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (text, device) = {
            let body = self.read();
            (body.describe(), body.device)
        };
        write!(f, "Tensor({text} {device})")
    }
}

/// The first element of `dense`, which must not be empty, as a number.
pub(crate) fn scalar_of(dense: &Dense) -> Result<Scalar> {
    ensure!(dense.numel() > 0, Runtime, "an empty tensor has no value");
    ensure!(!dense.is_meta(), Runtime, "a tensor on the meta device has no value");
    let first = Geometry { sizes: DimVec::new(), strides: DimVec::new(), offset: dense.geometry.offset };
    let element = if dense.is_on_host() { None } else { Some(ops::transfer::on_host(&dense.with_geometry(first))?) };
    let dense = element.as_ref().unwrap_or(dense);
    // SAFETY: the snapshot keeps the storage alive, and the caller guarantees that it has an element of its dtype at
    // this address.
    Ok(unsafe { read_scalar(dense.ptr(), dense.dtype) })
}

/// Advances `index` to the next one in row-major order.
fn advance(index: &mut [i64], sizes: &[i64]) {
    for (i, &size) in index.iter_mut().zip(sizes).rev() {
        *i += 1;
        if *i < size {
            return;
        }
        *i = 0;
    }
}

/// Reads one element as a scalar.
///
/// # Safety
/// `at` points to a readable element of `dtype`.
unsafe fn read_scalar(at: *const u8, dtype: DType) -> Scalar {
    use rushlight_base::{Complex, Complex32, Complex64, Complex128, bf16, f16};
    // SAFETY: the caller guarantees a readable element of `dtype`, whose Rust type is chosen here.
    unsafe {
        match dtype {
            DType::Bool => Scalar::Bool(at.read() != 0),
            DType::U8 | DType::QU8 => Scalar::Int(i64::from(at.read())),
            DType::I8 | DType::QI8 => Scalar::Int(i64::from(at.cast::<i8>().read_unaligned())),
            DType::I16 => Scalar::Int(i64::from(at.cast::<i16>().read_unaligned())),
            DType::I32 | DType::QI32 => Scalar::Int(i64::from(at.cast::<i32>().read_unaligned())),
            DType::I64 => Scalar::Int(at.cast::<i64>().read_unaligned()),
            DType::U16 => Scalar::Int(i64::from(at.cast::<u16>().read_unaligned())),
            DType::U32 => Scalar::Int(i64::from(at.cast::<u32>().read_unaligned())),
            DType::U64 => match at.cast::<u64>().read_unaligned() {
                value if value <= i64::MAX as u64 => Scalar::Int(value as i64),
                value => Scalar::UInt(value),
            },
            DType::F16 => Scalar::Float(at.cast::<f16>().read_unaligned().to_f64()),
            DType::BF16 => Scalar::Float(at.cast::<bf16>().read_unaligned().to_f64()),
            DType::F32 => Scalar::Float(f64::from(at.cast::<f32>().read_unaligned())),
            DType::F64 => Scalar::Float(at.cast::<f64>().read_unaligned()),
            DType::C32 => {
                let value = at.cast::<Complex32>().read_unaligned();
                Scalar::Complex(Complex::new(value.re.to_f64(), value.im.to_f64()))
            }
            DType::C64 => {
                let value = at.cast::<Complex64>().read_unaligned();
                Scalar::Complex(Complex::new(f64::from(value.re), f64::from(value.im)))
            }
            DType::C128 => Scalar::Complex(at.cast::<Complex128>().read_unaligned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::smallvec;

    #[test]
    fn values_make_a_round_trip() {
        let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
        let dense = tensor.dense().unwrap();
        let transposed =
            tensor.view_of(&dense, Geometry { sizes: smallvec![3, 2], strides: smallvec![1, 3], offset: 0 });
        assert_eq!(transposed.to_vec::<f32>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert!(transposed.to_vec::<f64>().is_err());
        assert!(Tensor::from_slice(&[1i64, 2], &[3]).is_err());
    }

    #[test]
    fn views_share_the_version_and_data_does_not() {
        let tensor = Tensor::from_slice(&[1i64, 2], &[2]).unwrap();
        let (alias, data) = (tensor.alias(), tensor.untracked_alias());
        alias.bump_version();
        assert_eq!((tensor.version(), alias.version(), data.version()), (1, 1, 0));
        data.bump_version();
        assert_eq!(tensor.version(), 1);
    }

    #[test]
    fn a_tensor_is_one_pointer_and_can_cross_threads() {
        fn crosses_threads<T: Send + Sync>() {}
        crosses_threads::<Tensor>();
        assert_eq!(size_of::<Tensor>(), size_of::<usize>());
        assert_eq!(size_of::<Result<Tensor>>(), 2 * size_of::<usize>());
    }
}
