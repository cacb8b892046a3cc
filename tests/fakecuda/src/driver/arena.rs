//! Memory of a device.
//!
//! Device addresses start at a tag that no processor can address, so that the host cannot use them. Data and a flag for
//! each byte, which says whether it was written, are in two reserved ranges; the host has memory only for pages that were
//! touched. Freed addresses are not reused before the range is used up, so that uses after the release are found.

use crate::exec::{Extent, View};
use std::collections::BTreeMap;

/// Device n starts at this address times n + 1: bits that are no sign extension.
const TAG: u64 = 1 << 57;
/// Bytes of address space of a device.
const RESERVE: usize = 1 << 38;
/// Alignment of allocations, and the least gap between two.
const UNIT: usize = 512;
const PAGE: usize = 4096;

/// A device's memory.
#[derive(Debug)]
pub struct Arena {
    base: u64,
    data: *mut u8,
    written: *mut u8,
    reserve: usize,
    next: usize,
    /// Bytes of each allocation, and whether they count.
    live: BTreeMap<usize, (usize, bool)>,
    /// Bytes of allocations that count.
    pub used: usize,
    /// Changes with each allocation.
    pub generation: u64,
}

// SAFETY: the arena owns its ranges; the state's lock guards it.
unsafe impl Send for Arena {}

fn reserve(size: usize) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping touches no memory of the process.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
    if at == libc::MAP_FAILED { std::ptr::null_mut() } else { at.cast() }
}

impl Arena {
    /// The memory of device `index`; addresses are reserved when it is used.
    pub fn new(index: usize) -> Self {
        Self {
            base: TAG + ((index as u64) << 44),
            data: std::ptr::null_mut(),
            written: std::ptr::null_mut(),
            reserve: 0,
            next: UNIT,
            live: BTreeMap::new(),
            used: 0,
            generation: 0,
        }
    }

    fn prepare(&mut self) -> bool {
        let mut size = RESERVE;
        while self.data.is_null() && size >= 1 << 30 {
            let (data, written) = (reserve(size), reserve(size));
            if !data.is_null() && !written.is_null() {
                (self.data, self.written, self.reserve) = (data, written, size);
            } else {
                for part in [data, written].into_iter().filter(|p| !p.is_null()) {
                    // SAFETY: the range was just mapped and has no users.
                    unsafe { libc::munmap(part.cast(), size) };
                }
                size /= 2;
            }
        }
        !self.data.is_null()
    }

    /// Allocate; returns the device address. Variables of modules do not count as used memory.
    pub fn allocate(&mut self, size: usize, counts: bool) -> Option<u64> {
        if size == 0 || size > RESERVE || !self.prepare() {
            return None;
        }
        let needed = size.next_multiple_of(UNIT) + UNIT;
        if self.next + needed > self.reserve {
            self.next = self.gap(needed)?;
        } else if let Some((at, _)) = self.live.range(self.next..).next()
            && self.next + needed > *at
        {
            self.next = self.gap(needed)?;
        }
        let at = self.next;
        self.next += needed;
        self.live.insert(at, (size, counts));
        self.used += if counts { size } else { 0 };
        self.generation += 1;
        Some(self.base + at as u64)
    }

    /// The first free range of this size.
    fn gap(&self, needed: usize) -> Option<usize> {
        let mut at = UNIT;
        for (start, (size, _)) in &self.live {
            if at + needed <= *start {
                return Some(at);
            }
            at = start + size.next_multiple_of(UNIT) + UNIT;
        }
        (at + needed <= self.reserve).then_some(at)
    }

    /// Release an allocation by its first address.
    pub fn release(&mut self, address: u64) -> bool {
        let Some(at) = address.checked_sub(self.base).map(|a| a as usize) else { return false };
        let Some((size, counts)) = self.live.remove(&at) else { return false };
        self.used -= if counts { size } else { 0 };
        self.generation += 1;
        self.forget(at, size);
        true
    }

    /// Mark bytes as unwritten.
    fn forget(&mut self, at: usize, size: usize) {
        let (first, last) = (at.next_multiple_of(PAGE), (at + size) / PAGE * PAGE);
        // SAFETY: the ranges are parts of this allocation in both reserved ranges; whole pages become zero again.
        unsafe {
            if first >= last {
                self.written.add(at).write_bytes(0, size);
                return;
            }
            self.written.add(at).write_bytes(0, first - at);
            self.written.add(last).write_bytes(0, at + size - last);
            libc::madvise(self.written.add(first).cast(), last - first, libc::MADV_DONTNEED);
            libc::madvise(self.data.add(first).cast(), last - first, libc::MADV_DONTNEED);
        }
    }

    /// Mark a part of an allocation as unwritten.
    pub fn poison(&mut self, address: u64, size: usize) -> bool {
        if self.find(address, size).is_none() {
            return false;
        }
        self.forget((address - self.base) as usize, size);
        true
    }

    /// The allocation with these bytes.
    pub fn find(&self, address: u64, size: usize) -> Option<Extent> {
        let at = address.checked_sub(self.base)? as usize;
        let (start, (length, _)) = self.live.range(..=at).next_back()?;
        (at.checked_add(size)? <= start + length).then(|| self.extent(*start, *length))
    }

    fn extent(&self, at: usize, size: usize) -> Extent {
        let start = self.base + at as u64;
        // SAFETY: the allocation is a part of both reserved ranges.
        let (data, written) = unsafe { (self.data.add(at), self.written.add(at)) };
        Extent { start, end: start + size as u64, data, written }
    }

    /// Add all allocations to a view, which the caller sorts.
    pub fn view(&self, view: &mut View) {
        view.extents.extend(self.live.iter().map(|(at, (size, _))| self.extent(*at, *size)));
    }

    /// Release everything.
    pub fn clear(&mut self) {
        for address in self.live.keys().map(|at| self.base + *at as u64).collect::<Vec<_>>() {
            self.release(address);
        }
    }
}

/// The device whose range an address is in.
pub fn device_of(address: u64) -> Option<usize> {
    if address >> 57 != 1 {
        return None;
    }
    Some(((address - TAG) >> 44) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_not_reused_and_have_gaps() {
        let mut arena = Arena::new(1);
        let a = arena.allocate(1000, true).expect("allocate");
        let b = arena.allocate(1000, true).expect("allocate");
        assert_eq!(device_of(a), Some(1));
        assert!(b >= a + 1000 + 512);
        assert!(arena.find(a + 999, 1).is_some() && arena.find(a + 999, 2).is_none());
        assert!(arena.release(a) && !arena.release(a));
        assert!(arena.find(a, 1).is_none());
        assert!(arena.allocate(1000, true).expect("allocate") > b);
        assert_eq!(arena.used, 2000);
        arena.clear();
        assert_eq!(arena.used, 0);
    }

    #[test]
    fn released_memory_is_unwritten() {
        let mut arena = Arena::new(0);
        let a = arena.allocate(3 * PAGE, true).expect("allocate");
        let extent = arena.find(a, 1).expect("find");
        // SAFETY: the extent has this many bytes.
        unsafe { extent.written.write_bytes(1, 3 * PAGE) };
        assert!(arena.poison(a + 10, 2 * PAGE));
        // SAFETY: the extent has this many bytes.
        let flags = unsafe { std::slice::from_raw_parts(extent.written, 3 * PAGE) };
        assert!(flags[..10].iter().all(|f| *f == 1) && flags[10..10 + 2 * PAGE].iter().all(|f| *f == 0));
        assert!(flags[10 + 2 * PAGE..].iter().all(|f| *f == 1));
    }
}
