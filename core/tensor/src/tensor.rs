//! The tensor: one concrete, reference-counted, thread-safe type.
//!
//! A tensor is a pointer (`refcount.rs`) to a key word, a body (`body.rs`: replaceable, since in-place view operators
//! and `set_data` change it) and, only when needed, a box with autograd metadata. Operators pin the body for the time of
//! a call, and see nothing else of the tensor.

use crate::autograd::{AutogradMeta, History};
use crate::body::Pinned;
use crate::dense::{Dense, Geometry, Spec, View};
use crate::keys::KeySet;
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
    /// A tensor on the host with a copy of `values`, row-major.
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
        // SAFETY: the storage was just allocated for `elements` elements of T, and nobody else has it.
        unsafe { result.ptr().cast::<T>().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(result.into_tensor())
    }

    /// The elements in row-major order. `T` must be the tensor's dtype.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let plain = crate::dispatch::carried_out(self)?;
        let dense = plain.dense()?;
        ensure!(dense.dtype == T::DTYPE, Type, "expected a tensor of {} but got {}", T::DTYPE, dense.dtype);
        ensure!(!dense.is_meta(), NotImplemented, "Cannot copy out of meta tensor; no data!");
        let count = dense.numel();
        let mut values = Vec::new();
        values
            .try_reserve_exact(count as usize)
            .map_err(|_| rushlight_base::err!(OutOfMemory, "not enough memory for {count} elements"))?;
        let mut index = DimVec::from_elem(0, dense.ndim());
        let start = dense.ptr().cast::<T>();
        for _ in 0..count {
            let offset: i64 = index.iter().zip(dense.strides()).map(|(i, stride)| i * stride).sum();
            // SAFETY: the index stays inside of the sizes, so the element lies inside of the storage.
            values.push(unsafe { start.offset(offset as isize).read() });
            advance(&mut index, dense.sizes());
        }
        Ok(values)
    }

    /// A tensor of the same dtype, geometry and bytes, without history. It shares the version counter, so
    /// that writing through either is noticed by the other (`detach`).
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

    /// As `alias`, but writes are not noticed: `Tensor.data` of PyTorch.
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

    /// Are the elements those of the storage, conjugated?
    pub fn is_conj(&self) -> bool {
        self.keys().intersects(KeySet::CONJ)
    }

    /// Are the elements those of the storage, negated?
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

    /// A tensor whose memory is made in inference mode belongs to it.
    #[inline(always)]
    pub(crate) fn mark_if_inference(&self) {
        if crate::autograd::is_inference_mode() {
            self.add_keys(KeySet::INFERENCE);
        }
    }

    /// Was the tensor made in inference mode, or is it a view of one that was?
    pub fn is_inference(&self) -> bool {
        self.keys().intersects(KeySet::INFERENCE)
    }

    /// The body, for one look.
    #[inline]
    fn read(&self) -> Pinned<'_> {
        self.imp().body.pin()
    }

    /// Change the geometry in place (`transpose_`, `squeeze_`, ...).
    pub fn set_geometry(&self, geometry: Geometry) -> Result<()> {
        self.imp().body.replace(|before| {
            let mut after = before.shown(geometry);
            after.wrapped = before.wrapped;
            after
        });
        Ok(())
    }

    /// Take over another body, keeping identity and autograd metadata (`set_data`, `resize_`, out= forms).
    pub(crate) fn replace_body(&self, dense: Dense) {
        let facts = KeySet::META | KeySet::CUDA | KeySet::WRAPPED | KeySet::LAZY;
        let keys = self.keys() & !facts | KeySet::of(&dense);
        self.imp().body.replace(|_| dense);
        self.imp().keys.store(keys.bits(), Ordering::Relaxed);
    }

    /// Let this tensor have the bytes, dtype and geometry of `other`; gradients and identity stay, and the
    /// version counter starts on its own.
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        let dense = other.dense()?;
        ensure!(
            !self.requires_grad() || dense.dtype.is_differentiable(),
            Runtime,
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        );
        // Its own counter keeps counting from where it was.
        let _ = self.imp().version.set(Arc::new(AtomicU32::new(self.version())));
        self.replace_body(dense.clone());
        if let Some(meta) = self.autograd_meta() {
            meta.forget_accumulator();
        }
        Ok(())
    }

    /// Give this tensor room for `spec`, if its shape differs: the rule of out= arguments and `resize_`. Other
    /// tensors over the former storage keep it.
    pub fn resize_to(&self, spec: &Spec) -> Result<()> {
        let dense = self.dense()?;
        if dense.sizes() == &*spec.sizes {
            return Ok(());
        }
        let elements = numel(&spec.sizes)?;
        let strides = match &spec.strides {
            Some(strides) => DimVec::clone(strides),
            None => rushlight_base::contiguous_strides(&spec.sizes),
        };
        let geometry = Geometry { sizes: spec.sizes.clone(), strides, offset: dense.geometry.offset };
        let needed = (geometry.offset + elements).saturating_mul(dense.dtype.size() as i64);
        if needed <= dense.storage.bytes() as i64 {
            return self.set_geometry(geometry);
        }
        let room = Spec { dtype: dense.dtype, device: dense.device, ..spec.clone() }.allocate()?;
        self.replace_body(room);
        Ok(())
    }

    /// Give this tensor room for `spec`, which has its dtype and device, keeping the bytes of its storage: what
    /// `resize_` does. A tensor that has the sizes stays as it is.
    #[cfg(feature = "op-factory")]
    pub(crate) fn resize_keeping(&self, spec: &Spec) -> Result<()> {
        let dense = self.dense()?;
        if dense.sizes() == &*spec.sizes && spec.strides.is_none() {
            return Ok(());
        }
        let strides = match &spec.strides {
            Some(strides) => DimVec::clone(strides),
            None => rushlight_base::contiguous_strides(&spec.sizes),
        };
        let offset = dense.geometry.offset;
        let geometry = Geometry { sizes: spec.sizes.clone(), strides, offset };
        let needed = spec.extent()?.1.saturating_add(offset as usize * dense.dtype.size());
        if needed <= dense.storage.bytes() {
            self.set_geometry(geometry)?;
        } else {
            let storage = spec.storage(needed)?;
            if !dense.is_meta() {
                // SAFETY: the new storage is larger than the old one, of which nobody has it yet.
                unsafe { storage.data().copy_from_nonoverlapping(dense.storage.data(), dense.storage.bytes()) };
            }
            let body = Dense::new(storage, geometry, dense.dtype, dense.device);
            let (first, end) = (dense.storage.bytes() / dense.dtype.size(), needed / dense.dtype.size());
            let added = [end.saturating_sub(first) as i64];
            let added =
                Geometry { sizes: DimVec::from_slice(&added), strides: DimVec::from_slice(&[1]), offset: first as i64 };
            if !dense.is_meta() {
                crate::ops::creation::unset(&body.with_geometry(added))?;
            }
            self.replace_body(body);
        }
        self.bump_version();
        Ok(())
    }

    /// Extent of each dimension.
    pub fn sizes(&self) -> DimVec {
        DimVec::from_slice(self.read().sizes())
    }

    /// Step of each dimension, in elements.
    pub fn strides(&self) -> DimVec {
        DimVec::from_slice(self.read().strides())
    }

    /// Sizes and strides where they stand, for faces that lend them out: valid until the tensor is resized,
    /// given other data, or freed.
    pub fn geometry_parts(&self) -> (*const i64, *const i64, usize) {
        let body = self.read();
        (body.sizes().as_ptr(), body.strides().as_ptr(), body.ndim())
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.read().ndim()
    }

    /// Sizes, dtype and device in one look.
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

    /// Where the tensor lives.
    pub fn device(&self) -> Device {
        self.read().device
    }

    /// Where the first element stands in the storage, in elements.
    pub fn storage_offset(&self) -> i64 {
        self.read().geometry.offset
    }

    /// The shared bytes.
    pub fn storage(&self) -> Storage {
        self.read().storage.clone()
    }

    /// Address of the first element. Null on the meta device.
    pub fn data_ptr(&self) -> *mut c_void {
        self.read().ptr().cast()
    }

    /// Are the elements laid out in this memory format?
    pub fn is_contiguous(&self, format: MemoryFormat) -> bool {
        self.read().geometry.is_contiguous_in(format)
    }

    /// Is this a number in a tensor's clothes, which yields to dimensioned tensors in dtype promotion?
    pub fn is_wrapped_number(&self) -> bool {
        self.keys().intersects(KeySet::WRAPPED)
    }

    /// Say that this 0-dim tensor stands for a number.
    pub fn set_wrapped_number(&self, wrapped: bool) -> Result<()> {
        ensure!(self.ndim() == 0, Runtime, "only a 0-dim tensor can be a wrapped number, got {} dims", self.ndim());
        self.imp().body.replace(|before| {
            let mut after = before.clone();
            after.wrapped = wrapped;
            after
        });
        if wrapped {
            self.add_keys(KeySet::WRAPPED)
        } else {
            self.remove_keys(KeySet::WRAPPED)
        }
        Ok(())
    }

    /// The only element, as a number.
    pub fn item(&self) -> Result<Scalar> {
        let plain = crate::dispatch::carried_out(self)?;
        let dense = plain.dense()?;
        ensure!(dense.numel() == 1, Runtime, "a Tensor with {} elements cannot be converted to Scalar", dense.numel());
        ensure!(!dense.is_meta(), Runtime, "Tensor.item() cannot be called on meta tensors");
        scalar_of(&dense)
    }

    /// How often the tensor's bytes were written in place.
    #[inline]
    pub fn version(&self) -> u32 {
        match self.imp().version.get() {
            Some(version) => version.load(Ordering::Relaxed),
            None => self.read().storage.version(),
        }
    }

    /// Record a write in place.
    #[inline]
    pub fn bump_version(&self) {
        match self.imp().version.get() {
            Some(version) => {
                version.fetch_add(1, Ordering::Relaxed);
            }
            None => self.read().storage.bump_version(),
        }
    }

    /// What made the tensor.
    #[inline]
    pub(crate) fn history(&self) -> &History {
        &self.imp().history
    }

    /// The tensor's autograd metadata, if it has any.
    pub(crate) fn autograd_meta(&self) -> Option<&AutogradMeta> {
        self.imp().autograd.get()
    }

    /// The tensor's autograd metadata, made if it has none.
    pub(crate) fn autograd_meta_or_new(&self) -> &AutogradMeta {
        self.imp().autograd.get_or_init(AutogradMeta::default)
    }

    /// Give a new tensor its autograd metadata. It must have none.
    pub(crate) fn init_autograd_meta(&self, meta: AutogradMeta) {
        let fresh = self.imp().autograd.set(meta).is_ok();
        debug_assert!(fresh, "the tensor has autograd metadata already");
        self.add_keys(KeySet::AUTOGRAD);
    }

    /// Use a handle without taking it over.
    ///
    /// # Safety
    /// `raw` came from `into_raw` and is not taken back while the result lives.
    #[inline]
    pub unsafe fn borrow_raw(raw: *const TensorImpl) -> ManuallyDrop<Tensor> {
        // SAFETY: the caller's promise; ManuallyDrop keeps the count as it is.
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
    ensure!(dense.numel() > 0, Runtime, "an empty tensor holds no number");
    ensure!(!dense.is_meta(), Runtime, "a tensor on the meta device holds no number");
    // SAFETY: the tensor has an element of its dtype at this address.
    Ok(unsafe { read_scalar(dense.ptr(), dense.dtype) })
}

/// The next index in row-major order.
fn advance(index: &mut [i64], sizes: &[i64]) {
    for (i, &size) in index.iter_mut().zip(sizes).rev() {
        *i += 1;
        if *i < size {
            return;
        }
        *i = 0;
    }
}

/// Read one element as a scalar.
///
/// # Safety
/// `at` points to a readable element of `dtype`.
unsafe fn read_scalar(at: *const u8, dtype: DType) -> Scalar {
    use rushlight_base::{Complex, Complex32, Complex64, Complex128, bf16, f16};
    // SAFETY: the caller's promise, for the type that belongs to the dtype.
    unsafe {
        match dtype {
            DType::Bool => Scalar::Bool(at.read() != 0),
            DType::U8 => Scalar::Int(i64::from(at.read())),
            DType::I8 => Scalar::Int(i64::from(at.cast::<i8>().read_unaligned())),
            DType::I16 => Scalar::Int(i64::from(at.cast::<i16>().read_unaligned())),
            DType::I32 => Scalar::Int(i64::from(at.cast::<i32>().read_unaligned())),
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
    fn values_go_in_and_come_out() {
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
