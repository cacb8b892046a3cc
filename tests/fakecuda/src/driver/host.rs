//! Memory of the host that devices may use: pinned and registered.

use super::Result;
use super::code;
use crate::exec::{Extent, View};
use std::collections::BTreeMap;

/// A range of the host's memory.
#[derive(Clone, Copy, Debug)]
pub struct Pinned {
    /// Bytes.
    pub size: usize,
    /// Whether the driver allocated it.
    pub owned: bool,
    /// Flags of the call.
    pub flags: u32,
}

/// All ranges.
#[derive(Debug, Default)]
pub struct Host {
    ranges: BTreeMap<usize, Pinned>,
    /// Changes with each range.
    pub generation: u64,
}

impl Host {
    /// Allocate page-aligned memory, filled with a pattern.
    pub fn allocate(&mut self, size: usize, flags: u32) -> Result<usize> {
        if size == 0 {
            return Err(code::INVALID_VALUE);
        }
        let mut at = std::ptr::null_mut();
        // SAFETY: `at` is a place for the address; the alignment is a power of two.
        if unsafe { libc::posix_memalign(&mut at, 4096, size) } != 0 {
            return Err(code::OUT_OF_MEMORY);
        }
        // SAFETY: the allocation has `size` bytes.
        unsafe { at.cast::<u8>().write_bytes(0xcd, size) };
        self.insert(at as usize, Pinned { size, owned: true, flags });
        Ok(at as usize)
    }

    fn insert(&mut self, at: usize, range: Pinned) {
        self.generation += 1 << 24;
        self.ranges.insert(at, range);
    }

    /// Register memory of the program.
    pub fn register(&mut self, at: usize, size: usize, flags: u32) -> Result {
        let end = at.checked_add(size).filter(|_| at != 0 && size != 0).ok_or(code::INVALID_VALUE)?;
        let before = self.ranges.range(..end).next_back();
        if before.is_some_and(|(start, range)| start + range.size > at) {
            return Err(code::ALREADY_REGISTERED);
        }
        self.insert(at, Pinned { size, owned: false, flags });
        Ok(())
    }

    /// Take a range out.
    pub fn remove(&mut self, at: usize, owned: bool) -> Result {
        let missing = if owned { code::INVALID_VALUE } else { code::NOT_REGISTERED };
        if self.ranges.get(&at).is_none_or(|r| r.owned != owned) {
            return Err(missing);
        }
        self.ranges.remove(&at);
        self.generation += 1 << 24;
        if owned {
            // SAFETY: `allocate` got this address from `posix_memalign`, and no work that uses it is left.
            unsafe { libc::free(at as *mut libc::c_void) };
        }
        Ok(())
    }

    /// The range with these bytes.
    pub fn find(&self, at: usize, size: usize) -> Option<(usize, Pinned)> {
        let (start, range) = self.ranges.range(..=at).next_back()?;
        (at.checked_add(size)? <= start + range.size).then_some((*start, *range))
    }

    /// Add all ranges to a view.
    pub fn view(&self, view: &mut View) {
        view.extents.extend(self.ranges.iter().map(|(at, range)| Extent {
            start: *at as u64,
            end: (*at + range.size) as u64,
            data: *at as *mut u8,
            written: std::ptr::null_mut(),
        }));
    }
}
