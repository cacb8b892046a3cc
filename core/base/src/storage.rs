//! The bytes behind tensors: shared, on one device, with the version counter that in-place writes bump.
//!
//! Kernels access the bytes through raw pointers, never through slices, since tensors may share or overlap memory.

use crate::memory::{self, Block};
use crate::{Device, Result, backend};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A reference-counted block of bytes. Views share it.
pub struct Storage(NonNull<Inner>);

/// The header of a storage. Our own memory follows directly, in the same block, and between the two there may be space
/// for a resident (the tensor for which the bytes were allocated): small operators notice every allocation.
struct Inner {
    /// References to the bytes, and [`RESIDENT`] while there is one. The block is freed at 0.
    users: AtomicU64,
    version: AtomicU32,
    device: Device,
    data: *mut u8,
    bytes: usize,
    /// Kept for its `Drop`, as is the block that contains this header.
    _owner: Owner,
    _block: Block,
}

/// The owner of the bytes.
enum Owner {
    /// They follow the header.
    Header,
    /// The meta device: shape without data. Also a device's storage without bytes.
    Nothing,
    /// The embedder's allocator.
    Allocator(#[allow(dead_code, reason = "kept for its Drop")] Block),
    /// A foreign owner.
    Foreign(#[allow(dead_code, reason = "kept for its Drop")] Foreign),
    /// A block of a device's memory.
    Device(#[allow(dead_code, reason = "kept for its Drop")] DeviceBlock),
}

/// Memory of a device with a backend.
struct DeviceBlock {
    backend: &'static dyn backend::Backend,
    device: Device,
    at: *mut u8,
    bytes: usize,
}

impl Drop for DeviceBlock {
    fn drop(&mut self) {
        // SAFETY: the block was allocated by this backend with this device and size, and is freed once, when no tensor
        // uses it any more.
        unsafe { self.backend.free(self.device, self.at, self.bytes) };
    }
}

/// Memory of a foreign owner, and how to notify it that the memory is no longer used.
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

/// The amount that a resident adds to the reference count.
const RESIDENT: u64 = 1 << 32;

/// Bytes from the start of the header's block to the data, with space for a resident of `resident` bytes: keeps the
/// data aligned.
const fn data_offset(resident: usize) -> usize {
    (size_of::<Inner>() + resident).next_multiple_of(memory::ALIGNMENT)
}

/// The block in which a resident is stored. It is freed when neither the resident nor the bytes have users.
#[derive(Clone, Copy)]
pub struct Home(NonNull<Inner>);

// SAFETY: the header's counts are atomic and its other fields do not change, so any thread may use it.
unsafe impl Send for Home {}
// SAFETY: `&Home` only gives access to atomic counts, which any thread may use.
unsafe impl Sync for Home {}

// SAFETY: the storage only hands out the pointer to its bytes; kernels that write through it follow the rules of the
// tensors that share the storage (racing writes may give wrong values, but never access freed memory). Count and
// version are atomic, the other fields never change, and a foreign deleter is required to be Send + Sync.
unsafe impl Send for Storage {}
// SAFETY: a shared `Storage` provides access to the same data as an owned one: atomics, constants, and a pointer.
unsafe impl Sync for Storage {}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Storage({} bytes on {})", self.bytes(), self.device())
    }
}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Storage {
        // A new reference is created from an existing one: no ordering is needed. The count cannot overflow: each
        // reference occupies memory.
        self.inner().users.fetch_add(1, Ordering::Relaxed);
        Storage(self.0)
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        // A count of 1 is this reference: no other thread can add one, so the decrement is unnecessary.
        if self.inner().users.load(Ordering::Acquire) == 1 || self.inner().users.fetch_sub(1, Ordering::Release) == 1 {
            // Acquire: all accesses by other users happen before the bytes are freed.
            fence(Ordering::Acquire);
            // SAFETY: the count reached zero, so this was the last reference.
            unsafe { Storage::free(self.0) };
        }
    }
}

impl Storage {
    /// Allocates `bytes` bytes of uninitialized host memory.
    #[inline]
    pub fn allocate(bytes: usize) -> Result<Storage> {
        if memory::is_hooked() {
            let block = memory::allocate(bytes)?;
            return Storage::new(block.start(), bytes, Device::CPU, Owner::Allocator(block));
        }
        let block = memory::allocate_behind(data_offset(0), bytes)?;
        let data = block.start().wrapping_add(data_offset(0));
        Ok(Storage::in_block(block, data, bytes, Device::CPU, Owner::Header))
    }

    /// Like [`Storage::allocate`], with space for a `T` in the same block: returns a pointer to the space, and the home
    /// that the resident must leave when it is dropped. `None` if the bytes are not in a block of our own allocator.
    #[inline]
    pub fn allocate_with_space<T>(bytes: usize) -> Result<Option<(Storage, Home, NonNull<T>)>> {
        const { assert!(align_of::<T>() <= align_of::<Inner>()) }
        if memory::is_hooked() {
            return Ok(None);
        }
        let offset = data_offset(size_of::<T>());
        let block = memory::allocate_behind(offset, bytes)?;
        let data = block.start().wrapping_add(offset);
        let mut storage = Storage::in_block(block, data, bytes, Device::CPU, Owner::Header);
        // SAFETY: the storage was just created, so this is the only reference to its header.
        *unsafe { storage.0.as_mut() }.users.get_mut() += RESIDENT;
        // SAFETY: `in_block` reserved space for a `T` directly behind the header, whose alignment suffices.
        let space = unsafe { storage.0.add(1).cast::<T>() };
        let home = Home(storage.0);
        Ok(Some((storage, home, space)))
    }

    /// A storage that has a size but no data, for the meta device.
    pub fn meta(bytes: usize) -> Result<Storage> {
        Storage::new(std::ptr::null_mut(), bytes, Device::META, Owner::Nothing)
    }

    /// Allocates `bytes` bytes of uninitialized memory of a device with a backend; without an index, of the current
    /// device of its kind.
    pub fn on_device(device: Device, bytes: usize) -> Result<Storage> {
        let backend = backend::of(device.kind)?;
        let index = if device.index < 0 { backend.current_device()? } else { device.index };
        let device = Device { index, ..device };
        if bytes == 0 {
            return Storage::new(std::ptr::null_mut(), 0, device, Owner::Nothing);
        }
        let at = backend.allocate(device, bytes)?;
        let owner = Owner::Device(DeviceBlock { backend, device, at, bytes });
        Storage::new(at, bytes, device, owner)
    }

    /// Wraps memory owned by the caller. `deleter` is called once, with `data`, when the memory is no longer used (also
    /// if this function fails).
    ///
    /// # Safety
    /// `data` must point to `bytes` readable and writable bytes that stay valid until the deleter is called (or
    /// forever, without one).
    pub unsafe fn foreign(
        data: *mut c_void,
        bytes: usize,
        deleter: Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>,
    ) -> Result<Storage> {
        // SAFETY: the caller guarantees host memory.
        unsafe { Storage::foreign_on(Device::CPU, data, bytes, deleter) }
    }

    /// Like [`Storage::foreign`], for memory of a device with an index.
    ///
    /// # Safety
    /// `data` must be the address of `bytes` bytes in the device's memory that stay valid until the deleter is called
    /// (or forever, without one).
    pub unsafe fn foreign_on(
        device: Device,
        data: *mut c_void,
        bytes: usize,
        deleter: Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>,
    ) -> Result<Storage> {
        Storage::new(data.cast(), bytes, device, Owner::Foreign(Foreign { deleter, data }))
    }

    fn new(data: *mut u8, bytes: usize, device: Device, owner: Owner) -> Result<Storage> {
        Ok(Storage::in_block(memory::allocate_behind(data_offset(0), 0)?, data, bytes, device, owner))
    }

    #[inline]
    fn in_block(block: Block, data: *mut u8, bytes: usize, device: Device, owner: Owner) -> Storage {
        let header = block.start().cast::<Inner>();
        let (users, version) = (AtomicU64::new(1), AtomicU32::new(0));
        // SAFETY: the block is aligned and has space for the header at its start; nothing else refers to it yet.
        unsafe {
            header.write(Inner { users, version, device, data, bytes, _owner: owner, _block: block });
            Storage(NonNull::new_unchecked(header))
        }
    }

    /// # Safety
    /// `header` came from `in_block` and is not used afterwards.
    unsafe fn free(header: NonNull<Inner>) {
        let header = header.as_ptr();
        // SAFETY: the caller guarantees that no reference to the header is left. Owner and block are moved out once,
        // here, and the block, which contains the header, is freed last; the other fields need no drop.
        unsafe {
            let block = (&raw const (*header)._block).read();
            if !matches!((*header)._owner, Owner::Header) {
                Storage::free_owner(header);
            }
            drop(block);
        }
    }

    /// # Safety
    /// `header` has no other reference, and its owner is dropped once, here.
    #[inline(never)]
    unsafe fn free_owner(header: *mut Inner) {
        // SAFETY: the caller guarantees that `header` has no other reference and that its owner is dropped only here.
        unsafe { (&raw mut (*header)._owner).drop_in_place() }
    }

    #[inline]
    fn inner(&self) -> &Inner {
        // SAFETY: the header lives as long as there is a reference to it, and `self` is one.
        unsafe { self.0.as_ref() }
    }

    /// Start of the bytes; null for the meta device.
    #[inline]
    pub fn data(&self) -> *mut u8 {
        self.inner().data
    }

    /// Number of bytes.
    pub fn bytes(&self) -> usize {
        self.inner().bytes
    }

    /// The device of the bytes.
    pub fn device(&self) -> Device {
        self.inner().device
    }

    /// The version counter: number of in-place writes by tensors over this storage.
    #[inline]
    pub fn version(&self) -> u32 {
        self.inner().version.load(Ordering::Relaxed)
    }

    /// Bumps the version counter.
    #[inline]
    pub fn bump_version(&self) {
        self.inner().version.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether two storages are the same.
    pub fn is(&self, other: &Storage) -> bool {
        self.0 == other.0
    }

    /// Reference count: tensors and snapshots that share the bytes.
    pub fn use_count(&self) -> usize {
        (self.inner().users.load(Ordering::Relaxed) % RESIDENT) as usize
    }
}

impl Home {
    /// Ends the resident: releases its space, and `storage`, if the resident still used one.
    ///
    /// # Safety
    /// The resident was dropped, and neither it nor the home is used afterwards.
    #[inline]
    pub unsafe fn leave(self, storage: Option<Storage>) {
        if let Some(storage) = storage {
            if storage.0 == self.0 && storage.inner().users.load(Ordering::Acquire) == RESIDENT + 1 {
                // Both references are released here, and no other thread can add one.
                std::mem::forget(storage);
                // SAFETY: the count fell to zero with these two references, so nothing refers to the block.
                unsafe { Storage::free(self.0) };
                return;
            }
            drop(storage);
        }
        // SAFETY: the resident's reference keeps the header alive until the subtraction.
        if unsafe { self.0.as_ref() }.users.fetch_sub(RESIDENT, Ordering::Release) == RESIDENT {
            fence(Ordering::Acquire);
            // SAFETY: the count fell to zero, so this was the last reference.
            unsafe { Storage::free(self.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
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
    fn the_block_is_freed_when_both_the_resident_and_the_bytes_are_released() {
        let make = || Storage::allocate_with_space::<[u64; 5]>(24).unwrap().unwrap();
        let (storage, home, space) = make();
        let view = storage.clone();
        assert_eq!((storage.use_count(), storage.data() as usize % memory::ALIGNMENT), (2, 0));
        // SAFETY: the space was allocated for this type; the home is left once, and the view keeps the bytes alive.
        unsafe {
            space.write([7; 5]);
            home.leave(Some(storage));
            view.data().write_bytes(1, 24);
        }
        drop(view);
        let (first, home, space) = make();
        let (other, other_home, _) = make();
        drop(first);
        // SAFETY: the space was allocated for this type and is still the resident's, which leaves with another storage.
        unsafe {
            space.write([7; 5]);
            home.leave(Some(other));
            other_home.leave(None);
        }
    }

    #[test]
    fn a_foreign_deleter_runs_once_after_the_last_user() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = calls.clone();
        let mut bytes = [0u8; 4];
        let deleter = Box::new(move |_: *mut c_void| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        // SAFETY: `bytes` has 4 bytes and outlives the storage.
        let storage = unsafe { Storage::foreign(bytes.as_mut_ptr().cast(), 4, Some(deleter)) }.unwrap();
        let other = storage.clone();
        drop(storage);
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        drop(other);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
