//! Copies between the memory of the host and that of devices.

use super::access::{cast, copy_into};
use crate::dense::{Dense, Spec};
use rushlight_base::backend::{self, Place};
use rushlight_base::{Device, DeviceType, Result, bail, ensure};

/// Whether the kernels of one device can read both: neither is on the meta device, and both are on the same device.
pub(crate) fn share_memory(a: &Dense, b: &Dense) -> bool {
    a.device.kind == b.device.kind && (a.is_on_host() || a.device == b.device)
}

/// The elements of `dense` in host memory, in the same order of dimensions: `dense` itself if they are there.
pub fn on_host(dense: &Dense) -> Result<Dense> {
    if dense.is_on_host() {
        return Ok(dense.clone());
    }
    ensure!(!dense.is_meta(), NotImplemented, "Cannot copy out of meta tensor; no data!");
    let packed = gapless(dense)?;
    let copy = like(&packed, Device::CPU)?;
    raw(&copy, &packed, true)?;
    Ok(copy)
}

/// Memory of the host for the elements of `result`, in its dtype and, if it has no gaps, with its strides.
pub fn result_on_host(result: &Dense) -> Result<Dense> {
    if super::rules::is_non_overlapping_and_dense(result.sizes(), result.strides()) {
        return like(result, Device::CPU);
    }
    Spec::new(result.sizes(), result.dtype, Device::CPU).allocate()
}

/// to = from, broadcast and converted, where the two are on different devices. The elements are converted on the device
/// of the source, and cross as they lie in memory.
pub(crate) fn across(to: &Dense, from: &Dense, non_blocking: bool) -> Result<()> {
    let converted = if from.dtype == to.dtype { from.clone() } else { cast(from, to.dtype)? };
    let packed = gapless(&converted)?;
    if packed.sizes() == to.sizes() && packed.strides() == to.strides() {
        return raw(to, &packed, !non_blocking);
    }
    let arrived = like(&packed, to.device)?;
    raw(&arrived, &packed, !non_blocking)?;
    copy_into(to, &arrived)
}

/// `dense` itself if its elements fill a range of memory, each at its own address, else a copy that does.
fn gapless(dense: &Dense) -> Result<Dense> {
    if super::rules::is_non_overlapping_and_dense(dense.sizes(), dense.strides()) {
        return Ok(dense.clone());
    }
    cast(dense, dense.dtype)
}

/// An uninitialized tensor with the sizes and strides of `dense`, which has no gaps.
fn like(dense: &Dense, device: Device) -> Result<Dense> {
    Spec::new(dense.sizes(), dense.dtype, device).with_strides(dense.strides().into()).allocate()
}

/// Copies the bytes of the elements between gapless tensors of the same geometry and dtype.
fn raw(to: &Dense, from: &Dense, wait: bool) -> Result<()> {
    ensure!(
        to.dtype == from.dtype && to.sizes() == from.sizes() && to.strides() == from.strides(),
        Internal,
        "a copy between devices from {} to {}",
        from.describe(),
        to.describe()
    );
    let bytes = to.numel() as usize * to.dtype.size();
    if bytes == 0 {
        return Ok(());
    }
    let kind = if to.is_on_host() { from.device.kind } else { to.device.kind };
    if kind == DeviceType::Cpu || kind == DeviceType::Meta {
        bail!(Internal, "a copy from device {} to device {}", from.device, to.device);
    }
    let place = |dense: &Dense| Place { device: dense.device, at: dense.ptr() };
    // SAFETY: both tensors have `bytes` bytes from their first element on, because they have no gaps; the snapshots keep
    // their storages alive while the copy is submitted, and a device frees memory after the work that uses it.
    unsafe { backend::of(kind)?.copy(place(to), place(from), bytes, wait) }
}
