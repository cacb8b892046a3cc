//! The bytes behind tensors: shared, on one device, with the version that in-place writes advance.

use crate::memory::{self, Block};
use crate::{Device, Result};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A reference-counted block of bytes. Views share it.
#[derive(Clone)]
pub struct Storage(Arc<Inner>);

struct Inner {
    data: *mut u8,
    bytes: usize,
    device: Device,
    version: AtomicU32,
    /// Kept for its `Drop` alone.
    _owner: Owner,
}

#[allow(dead_code, reason = "the owners are kept for their Drop")]
enum Owner {
    /// Shape without data: the meta device.
    Nothing,
    Allocator(Block),
    Foreign(Foreign),
}

/// Memory that somebody else owns, and how to tell them that it is no longer used.
struct Foreign {
    deleter: Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>,
    data: *mut c_void,
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter.take() {
            deleter(self.data);
        }
    }
}

// SAFETY: the pointer is only handed out; kernels that write through it follow the rules of the tensors
// that share the storage (racing writes may give wrong values, never freed memory). The version is atomic,
// and a foreign deleter is required to be Send + Sync.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Storage {
    /// `bytes` bytes of uninitialised host memory.
    pub fn allocate(bytes: usize) -> Result<Storage> {
        let block = memory::allocate(bytes)?;
        Ok(Storage::new(block.start(), bytes, Device::CPU, Owner::Allocator(block)))
    }

    /// A storage that has a size but no data, for the meta device.
    pub fn meta(bytes: usize) -> Storage {
        Storage::new(std::ptr::null_mut(), bytes, Device::META, Owner::Nothing)
    }

    /// Memory owned by the caller. `deleter` is called once, with `data`, when nothing uses it any more.
    ///
    /// # Safety
    /// `data` must point to `bytes` readable and writable bytes that stay valid until the deleter is called
    /// (or for good, without one).
    pub unsafe fn foreign(
        data: *mut c_void,
        bytes: usize,
        deleter: Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>,
    ) -> Storage {
        Storage::new(data.cast(), bytes, Device::CPU, Owner::Foreign(Foreign { deleter, data }))
    }

    fn new(data: *mut u8, bytes: usize, device: Device, owner: Owner) -> Storage {
        Storage(Arc::new(Inner { data, bytes, device, version: AtomicU32::new(0), _owner: owner }))
    }

    /// Start of the bytes; null for the meta device.
    #[inline]
    pub fn data(&self) -> *mut u8 {
        self.0.data
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Where the bytes live.
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// How often tensors over this storage were written in place.
    #[inline]
    pub fn version(&self) -> u32 {
        self.0.version.load(Ordering::Relaxed)
    }

    /// Record a write in place.
    #[inline]
    pub fn bump_version(&self) {
        self.0.version.fetch_add(1, Ordering::Relaxed);
    }

    /// Are these the same bytes?
    pub fn is(&self, other: &Storage) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// How many tensors (and snapshots) share the bytes.
    pub fn use_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn memory_is_aligned_even_for_odd_sizes() {
        for bytes in [1, 3, 64, 1000, 4097] {
            let storage = Storage::allocate(bytes).unwrap();
            assert_eq!(storage.data() as usize % memory::ALIGNMENT, 0);
        }
    }

    #[test]
    fn an_impossible_size_is_an_error() {
        let error = Storage::allocate(usize::MAX - 8).err().unwrap();
        assert_eq!(error.kind(), crate::ErrorKind::OutOfMemory);
    }

    #[test]
    fn a_foreign_deleter_runs_once_after_the_last_user() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let mut bytes = [0u8; 4];
        let deleter = Box::new(move |_: *mut c_void| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        // SAFETY: the array outlives the storage.
        let storage = unsafe { Storage::foreign(bytes.as_mut_ptr().cast(), 4, Some(deleter)) };
        let other = storage.clone();
        drop(storage);
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        drop(other);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
