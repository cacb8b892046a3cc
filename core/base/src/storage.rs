//! The bytes behind tensors: shared, on one device, with the version that in-place writes advance.

use crate::memory::{self, Block};
use crate::{Device, Result};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// A reference-counted block of bytes. Views share it.
pub struct Storage(NonNull<Inner>);

/// The header of a storage. Our own memory follows right behind it, in the same block, and between the two there may
/// be room for a resident (the tensor that the bytes were allocated for): small operators notice every allocation.
struct Inner {
    /// References to the bytes, and [`RESIDENT`] while there is one. The block is freed at 0.
    users: AtomicU64,
    version: AtomicU32,
    device: Device,
    data: *mut u8,
    bytes: usize,
    /// Kept for its `Drop`, as is the block that holds this header.
    _owner: Owner,
    _block: Block,
}

/// Who owns the bytes.
enum Owner {
    /// They stand behind the header.
    Header,
    /// Shape without data: the meta device.
    Nothing,
    /// The embedder's allocator.
    Allocator(#[allow(dead_code, reason = "kept for its Drop")] Block),
    /// Somebody else.
    Foreign(#[allow(dead_code, reason = "kept for its Drop")] Foreign),
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

/// What a resident adds to the count of users.
const RESIDENT: u64 = 1 << 32;

/// Bytes from the start of the header's block to the data behind it, with room for a resident of `room` bytes: keeps
/// the data aligned.
const fn data_offset(room: usize) -> usize {
    (size_of::<Inner>() + room).next_multiple_of(memory::ALIGNMENT)
}

/// The block that a resident lives in. It stays until both the resident and the bytes have no users left.
#[derive(Clone, Copy)]
pub struct Home(NonNull<Inner>);

// SAFETY: as for `Storage`: the header may be used from any thread.
unsafe impl Send for Home {}
// SAFETY: as above.
unsafe impl Sync for Home {}

// SAFETY: the pointer to the bytes is only handed out; kernels that write through it follow the rules of the
// tensors that share the storage (racing writes may give wrong values, never freed memory). Count and version are
// atomic, the rest never changes, and a foreign deleter is required to be Send + Sync.
unsafe impl Send for Storage {}
// SAFETY: as above.
unsafe impl Sync for Storage {}

impl Clone for Storage {
    #[inline]
    fn clone(&self) -> Storage {
        // A new reference is made from one that is there: no order is needed. The count cannot overflow: each
        // reference takes memory of its own.
        self.inner().users.fetch_add(1, Ordering::Relaxed);
        Storage(self.0)
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        // A count of 1 is this reference: nobody else can add one, so there is no need to count down.
        if self.inner().users.load(Ordering::Acquire) == 1 || self.inner().users.fetch_sub(1, Ordering::Release) == 1 {
            // Everything that other users did with the bytes happened before they are freed.
            fence(Ordering::Acquire);
            // SAFETY: this was the last reference.
            unsafe { Storage::free(self.0) };
        }
    }
}

impl Storage {
    /// `bytes` bytes of uninitialised host memory.
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

    /// As [`Storage::allocate`], with room for a `T` in the same block: where to put it, and the home that it must
    /// leave at its end. `None` where the bytes do not come in a block of ours.
    #[inline]
    pub fn allocate_with_room<T>(bytes: usize) -> Result<Option<(Storage, Home, NonNull<T>)>> {
        const { assert!(align_of::<T>() <= align_of::<Inner>()) }
        if memory::is_hooked() {
            return Ok(None);
        }
        let offset = data_offset(size_of::<T>());
        let block = memory::allocate_behind(offset, bytes)?;
        let data = block.start().wrapping_add(offset);
        let mut storage = Storage::in_block(block, data, bytes, Device::CPU, Owner::Header);
        // SAFETY: the storage was just made, and nobody else has it.
        *unsafe { storage.0.as_mut() }.users.get_mut() += RESIDENT;
        // SAFETY: the block has room for a T behind the header, which keeps it aligned.
        let room = unsafe { storage.0.add(1).cast::<T>() };
        let home = Home(storage.0);
        Ok(Some((storage, home, room)))
    }

    /// A storage that has a size but no data, for the meta device.
    pub fn meta(bytes: usize) -> Result<Storage> {
        Storage::new(std::ptr::null_mut(), bytes, Device::META, Owner::Nothing)
    }

    /// Memory owned by the caller. `deleter` is called once, with `data`, when nothing uses it any more (also if
    /// this function fails).
    ///
    /// # Safety
    /// `data` must point to `bytes` readable and writable bytes that stay valid until the deleter is called
    /// (or for good, without one).
    pub unsafe fn foreign(
        data: *mut c_void,
        bytes: usize,
        deleter: Option<Box<dyn FnOnce(*mut c_void) + Send + Sync>>,
    ) -> Result<Storage> {
        Storage::new(data.cast(), bytes, Device::CPU, Owner::Foreign(Foreign { deleter, data }))
    }

    fn new(data: *mut u8, bytes: usize, device: Device, owner: Owner) -> Result<Storage> {
        Ok(Storage::in_block(memory::allocate_behind(data_offset(0), 0)?, data, bytes, device, owner))
    }

    #[inline]
    fn in_block(block: Block, data: *mut u8, bytes: usize, device: Device, owner: Owner) -> Storage {
        let header = block.start().cast::<Inner>();
        let (users, version) = (AtomicU64::new(1), AtomicU32::new(0));
        // SAFETY: the block is aligned and has room for the header at its start; nobody else has it.
        unsafe {
            header.write(Inner { users, version, device, data, bytes, _owner: owner, _block: block });
            Storage(NonNull::new_unchecked(header))
        }
    }

    /// # Safety
    /// `header` came from `in_block` and is not used again.
    unsafe fn free(header: NonNull<Inner>) {
        let header = header.as_ptr();
        // SAFETY: nobody else has the header any more. Owner and block are taken out of it once, here, and the block,
        // which holds the header, goes last; the other fields need no drop.
        unsafe {
            let block = (&raw const (*header)._block).read();
            if !matches!((*header)._owner, Owner::Header) {
                Storage::free_owner(header);
            }
            drop(block);
        }
    }

    /// # Safety
    /// `header` is the last reference, and its owner is dropped once, here.
    #[inline(never)]
    unsafe fn free_owner(header: *mut Inner) {
        // SAFETY: as this function's own contract.
        unsafe { (&raw mut (*header)._owner).drop_in_place() }
    }

    #[inline]
    fn inner(&self) -> &Inner {
        // SAFETY: the header lives as long as there is a reference to it.
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

    /// Where the bytes live.
    pub fn device(&self) -> Device {
        self.inner().device
    }

    /// How often tensors over this storage were written in place.
    #[inline]
    pub fn version(&self) -> u32 {
        self.inner().version.load(Ordering::Relaxed)
    }

    /// Record a write in place.
    #[inline]
    pub fn bump_version(&self) {
        self.inner().version.fetch_add(1, Ordering::Relaxed);
    }

    /// Are these the same bytes?
    pub fn is(&self, other: &Storage) -> bool {
        self.0 == other.0
    }

    /// How many tensors (and snapshots) share the bytes.
    pub fn use_count(&self) -> usize {
        (self.inner().users.load(Ordering::Relaxed) % RESIDENT) as usize
    }
}

impl Home {
    /// The resident's end: gives up the room, and `storage`, if the resident still used one.
    ///
    /// # Safety
    /// The resident was dropped, and neither it nor the home is used again.
    #[inline]
    pub unsafe fn leave(self, storage: Option<Storage>) {
        if let Some(storage) = storage {
            if storage.0 == self.0 && storage.inner().users.load(Ordering::Acquire) == RESIDENT + 1 {
                // Both references are given up here, and nobody else can add one.
                std::mem::forget(storage);
                // SAFETY: these were the last references.
                unsafe { Storage::free(self.0) };
                return;
            }
            drop(storage);
        }
        // SAFETY: the resident's share keeps the header alive until here.
        if unsafe { self.0.as_ref() }.users.fetch_sub(RESIDENT, Ordering::Release) == RESIDENT {
            fence(Ordering::Acquire);
            // SAFETY: this was the last reference.
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
    fn the_block_stays_until_both_the_resident_and_the_bytes_are_given_up() {
        let make = || Storage::allocate_with_room::<[u64; 5]>(24).unwrap().unwrap();
        let (storage, home, room) = make();
        let view = storage.clone();
        assert_eq!((storage.use_count(), storage.data() as usize % memory::ALIGNMENT), (2, 0));
        // SAFETY: the room is for this type; the home is left once, and the view keeps its bytes.
        unsafe {
            room.write([7; 5]);
            home.leave(Some(storage));
            view.data().write_bytes(1, 24);
        }
        drop(view);
        let (first, home, room) = make();
        let (other, other_home, _) = make();
        drop(first);
        // SAFETY: the resident still has its room, and leaves with another storage.
        unsafe {
            room.write([7; 5]);
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
        // SAFETY: the array outlives the storage.
        let storage = unsafe { Storage::foreign(bytes.as_mut_ptr().cast(), 4, Some(deleter)) }.unwrap();
        let other = storage.clone();
        drop(storage);
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        drop(other);
        assert_eq!(calls.load(Ordering::Relaxed), 1);
    }
}
