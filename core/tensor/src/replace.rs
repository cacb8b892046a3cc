//! Replacing the body of a tensor: `set_data`, resizing, in-place views.
//!
//! A new body is computed from a snapshot and replaces it as a whole, storage and geometry together. If another thread
//! has replaced the snapshot meanwhile, the body is computed again. A geometry is therefore never combined with a
//! storage for which it was not checked.

use crate::autograd;
use crate::body::Pinned;
#[cfg(feature = "op-quantization")]
use crate::components::Components;
use crate::dense::{Dense, Geometry, Spec};
use crate::keys::KeySet;
use crate::options::cpp_name;
#[cfg(feature = "op-quantization")]
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, contiguous_strides, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

impl Tensor {
    /// Stores the keys that follow from `dense`.
    fn update_keys(&self, dense: &Dense) {
        let facts = KeySet::of(dense).bits();
        let update = |keys: u64| Some(keys & !KeySet::OF_BODY.bits() | facts);
        // The closure always returns a value, so this cannot fail.
        let _ = self.imp().keys.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
    }

    /// Replaces the current body by the result of `make`, which receives it; `None` keeps the current one. Returns the
    /// body that is current then, and whether it is a new one. `make` runs again if another thread has replaced the
    /// body meanwhile.
    fn update(&self, make: impl Fn(&Dense) -> Result<Option<Dense>>) -> Result<(Pinned<'_>, bool)> {
        loop {
            let seen = self.dense()?;
            let Some(next) = make(&seen)? else { return Ok((seen, false)) };
            if let Some(next) = self.imp().body.exchange(&seen, next, |next| self.update_keys(next)) {
                return Ok((next, true));
            }
        }
    }

    /// Turns this tensor into the result of `view`: `transpose_`, `squeeze_`, and similar. Returns the view.
    pub(crate) fn take_body_of(&self, view: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        loop {
            let seen = self.dense()?;
            let shown = view(self)?;
            let mut next = shown.dense()?.clone();
            next.wrapped = seen.wrapped;
            if self.imp().body.exchange(&seen, next, |next| self.update_keys(next)).is_some() {
                return Ok(shown);
            }
        }
    }

    /// Replaces the bytes, dtype and geometry by those of `other`; gradients and identity stay, and the version counter
    /// becomes independent of the storage's.
    pub fn set_data(&self, other: &Tensor) -> Result<()> {
        ensure!(
            self.layout() == other.layout(),
            Runtime,
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."
        );
        // Both layouts were just compared; a tensor never becomes sparse, and this one stays so if it is.
        let dense = other.imp().body.pin();
        ensure!(
            !self.requires_grad() || dense.dtype.is_differentiable(),
            Runtime,
            "data set to a tensor that requires gradients must be floating point or complex dtype"
        );
        // The tensor's version counter continues from its current value.
        let _ = self.imp().version.set(Arc::new(AtomicU32::new(self.version())));
        self.imp().body.replace(dense.clone(), |next| self.update_keys(next));
        if let Some(meta) = self.autograd_meta() {
            meta.forget_accumulator();
        }
        Ok(())
    }

    /// Replaces storage and geometry by those of `make`, of the same dtype and device (`set_`). `source` is the tensor that
    /// they come from, if any. The version counter becomes independent of the storage's.
    pub(crate) fn become_stored(&self, source: Option<&Tensor>, make: impl Fn(&Dense) -> Result<Dense>) -> Result<()> {
        let recorded = autograd::should_record([self].into_iter().chain(source));
        autograd::check_inplace(self, recorded)?;
        ensure!(!recorded, NotImplemented, "the derivative for 'set_' is not implemented.");
        let _ = self.imp().version.set(Arc::new(AtomicU32::new(self.version())));
        self.update(|seen| {
            let mut next = make(seen)?;
            ensure!(
                next.dtype == seen.dtype,
                Runtime,
                "Could not set tensor of type {} to a tensor of type {}",
                cpp_name(next.dtype),
                cpp_name(seen.dtype)
            );
            ensure!(
                next.device.kind == seen.device.kind,
                Runtime,
                "Attempted to set the storage of a tensor on device \"{}\" to a storage on different device \"{}\".  This \
                 is no longer allowed; the devices must match.",
                seen.device.kind.name(),
                next.device.kind.name()
            );
            (next.lazy, next.wrapped) = (seen.lazy, false);
            Ok(Some(next))
        })?;
        self.bump_version();
        Ok(())
    }

    /// Replaces the quantizer of this quantized tensor.
    #[cfg(feature = "op-quantization")]
    pub(crate) fn replace_quantizer(&self, quantizer: Arc<Quantizer>) -> Result<()> {
        ensure!(self.is_quantized(), Internal, "a tensor of {} has no quantizer", self.dtype());
        let mut next = (*self.imp().body.pin()).clone();
        next.components = Some(Arc::new(Components::Quantized(quantizer)));
        self.imp().body.replace(next, |next| self.update_keys(next));
        Ok(())
    }

    /// Replaces sizes, indices and values of this sparse tensor by those of another one of its layout and dtype.
    #[cfg(feature = "op-sparse")]
    pub(crate) fn replace_components(&self, other: &Tensor) -> Result<()> {
        let body = other.imp().body.pin();
        ensure!(
            self.is_any_sparse() && body.components.is_some() && body.dtype == self.dtype(),
            Internal,
            "the components of a {} tensor of {} cannot be those of a {} tensor of {}",
            self.layout().name(),
            self.dtype(),
            other.layout().name(),
            body.dtype
        );
        self.imp().body.replace(body.clone(), |next| self.update_keys(next));
        self.bump_version();
        Ok(())
    }

    /// Resizes this tensor to the sizes and strides of `spec`, if its sizes differ, as for out= arguments. Dtype and
    /// device stay, and other tensors over the former storage keep it. The result has these sizes, even if other
    /// threads resize the tensor.
    pub fn resize_to(&self, spec: &Spec) -> Result<Pinned<'_>> {
        let resized = self.update(|seen| {
            if seen.sizes() == &*spec.sizes {
                return Ok(None);
            }
            let spec = Spec { dtype: seen.dtype, device: seen.device, ..spec.clone() };
            if bytes_needed(&spec, seen)? <= seen.storage.bytes() {
                return Ok(Some(reshaped(seen, geometry_at(&spec, seen.geometry.offset))));
            }
            Ok(Some(spec.allocate()?))
        })?;
        Ok(resized.0)
    }

    /// Resizes this tensor to the sizes and strides of `spec`, keeping the bytes of its storage, like `resize_`. Dtype
    /// and device stay. A tensor that has these sizes is unchanged, unless strides are given.
    #[cfg(feature = "op-factory")]
    pub(crate) fn resize_keeping(&self, spec: &Spec) -> Result<()> {
        let (_, is_new) = self.update(|seen| {
            if seen.sizes() == &*spec.sizes && spec.strides.is_none() {
                return Ok(None);
            }
            let spec = Spec { dtype: seen.dtype, device: seen.device, ..spec.clone() };
            let needed = bytes_needed(&spec, seen)?;
            let geometry = geometry_at(&spec, seen.geometry.offset);
            if needed <= seen.storage.bytes() {
                return Ok(Some(reshaped(seen, geometry)));
            }
            Ok(Some(grown(&spec, seen, needed, geometry)?))
        })?;
        if is_new {
            self.bump_version();
        }
        Ok(())
    }

    /// Sets whether this 0-dim tensor is a wrapped number.
    pub fn set_wrapped_number(&self, wrapped: bool) -> Result<()> {
        self.update(|seen| {
            ensure!(seen.ndim() == 0, Runtime, "only a 0-dim tensor can be a wrapped number, got {} dims", seen.ndim());
            let mut next = seen.clone();
            next.wrapped = wrapped;
            Ok(Some(next))
        })?;
        Ok(())
    }
}

/// The elements of `seen` with another geometry, in the same tensor.
fn reshaped(seen: &Dense, geometry: Geometry) -> Dense {
    let mut next = seen.shown(geometry);
    next.wrapped = seen.wrapped;
    next
}

/// Sizes and strides of `spec`, with this offset.
fn geometry_at(spec: &Spec, offset: i64) -> Geometry {
    let strides = match &spec.strides {
        Some(strides) => DimVec::clone(strides),
        None => contiguous_strides(&spec.sizes),
    };
    Geometry { sizes: spec.sizes.clone(), strides, offset }
}

/// Number of bytes of a storage in which `spec` begins at the offset of `seen`.
fn bytes_needed(spec: &Spec, seen: &Dense) -> Result<usize> {
    let start = (seen.geometry.offset as usize).saturating_mul(seen.dtype.size());
    Ok(spec.extent()?.1.saturating_add(start))
}

/// A storage of `needed` bytes that begins with the bytes of `seen`, with `geometry`.
#[cfg(feature = "op-factory")]
fn grown(spec: &Spec, seen: &Dense, needed: usize, geometry: Geometry) -> Result<Dense> {
    let storage = spec.storage(needed)?;
    let (first, end) = (seen.storage.bytes() / seen.dtype.size(), needed / seen.dtype.size());
    let body = Dense::new(storage, geometry, seen.dtype, seen.device);
    if seen.is_meta() {
        return Ok(body);
    }
    let bytes = seen.storage.bytes();
    if seen.is_on_host() {
        // SAFETY: the new storage is larger than the old one, which `seen` keeps alive, and no other code has a reference
        // to the new one.
        unsafe { body.storage.data().copy_from_nonoverlapping(seen.storage.data(), bytes) };
    } else if bytes > 0 {
        use rushlight_base::backend::{Place, of};
        let place = |storage: &rushlight_base::Storage| Place { device: storage.device(), at: storage.data() };
        // SAFETY: both storages are on the device and have as many bytes, which the device frees after the copy.
        unsafe { of(seen.device.kind)?.copy(place(&body.storage), place(&seen.storage), bytes, false) }?;
    }
    let added = end.saturating_sub(first) as i64;
    let added =
        Geometry { sizes: DimVec::from_slice(&[added]), strides: DimVec::from_slice(&[1]), offset: first as i64 };
    crate::ops::creation::unset(&body.with_geometry(added))?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;
    use rushlight_base::{DType, Device};
    use std::sync::atomic::AtomicBool;

    fn zeros(sizes: &[i64], dtype: DType) -> Tensor {
        Spec::new(sizes, dtype, Device::CPU).make().unwrap().into_tensor()
    }

    fn fits(dense: &Dense) -> bool {
        let (low, high) = dense.geometry.element_range();
        low >= 0 && high as usize * dense.dtype.size() <= dense.storage.bytes()
    }

    #[test]
    fn a_resized_tensor_keeps_dtype_and_offset_and_other_tensors_are_unchanged() {
        let tensor = zeros(&[4, 4], DType::F64);
        let alias = tensor.alias();
        let resized = tensor.resize_to(&Spec::new(&[2, 3], DType::F32, Device::CPU)).unwrap();
        assert_eq!((resized.sizes(), resized.dtype), (&[2, 3][..], DType::F64));
        drop(resized);
        assert!(tensor.storage().is(&alias.storage()));
        tensor.resize_to(&Spec::new(&[5, 5], DType::F32, Device::CPU)).unwrap();
        assert!(!tensor.storage().is(&alias.storage()) && fits(&tensor.dense().unwrap()));
        assert_eq!(alias.sizes()[..], [4, 4]);
    }

    #[test]
    fn strides_with_gaps_count_when_a_tensor_is_resized() {
        let tensor = zeros(&[4, 4], DType::F32);
        let spec = Spec::new(&[4, 3], DType::F32, Device::CPU).with_strides(DimVec::from_slice(&[100, 1]));
        assert!(fits(&tensor.resize_to(&spec).unwrap()));
    }

    #[test]
    fn only_a_tensor_without_dimensions_becomes_a_number() {
        let (number, vector) = (zeros(&[], DType::F32), zeros(&[1], DType::F32));
        number.set_wrapped_number(true).unwrap();
        assert!(number.is_wrapped_number() && number.dense().unwrap().wrapped);
        number.set_wrapped_number(false).unwrap();
        assert!(!number.is_wrapped_number());
        assert!(vector.set_wrapped_number(true).is_err());
    }

    #[test]
    fn a_geometry_never_exceeds_its_storage() {
        let (tensor, end) = (zeros(&[8, 8], DType::F32), AtomicBool::new(false));
        let (small, large) = (zeros(&[2, 2], DType::F32), zeros(&[64, 64], DType::F64));
        let each = |work: &(dyn Fn(usize) + Sync)| (0..20_000).for_each(work);
        std::thread::scope(|scope| {
            let writers = [
                scope.spawn(|| each(&|i| tensor.set_data(if i % 2 == 0 { &small } else { &large }).unwrap())),
                scope.spawn(|| {
                    each(&|i| {
                        let spec = Spec::new(&[1 + i as i64 % 32, 32], DType::F32, Device::CPU);
                        assert_eq!(tensor.resize_to(&spec).unwrap().sizes(), &*spec.sizes);
                    })
                }),
                scope.spawn(|| each(&|_| transpose(&tensor))),
            ];
            scope.spawn(|| {
                while !end.load(Ordering::Relaxed) {
                    assert!(fits(&tensor.dense().unwrap()));
                }
            });
            let ended = writers.map(std::thread::ScopedJoinHandle::join);
            end.store(true, Ordering::Relaxed);
            assert!(ended.iter().all(|ended| ended.is_ok()));
        });
    }

    fn transpose(tensor: &Tensor) {
        autograd::become_view(tensor, |tensor| ops::transpose_int(tensor, 0, 1)).unwrap();
    }
}
