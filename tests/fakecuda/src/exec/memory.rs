//! Memory as kernels see it: the allocations of a launch, parameters, local and shared memory.

use super::shared::Shared;
use super::{Fault, Kind};
use crate::ptx::{LOCAL, PARAM, SHARED, Space};

/// An allocation.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The first device address.
    pub start: u64,
    /// The address behind the last byte.
    pub end: u64,
    /// The bytes.
    pub data: *mut u8,
    /// A byte for each byte: 1 if it was written. Null if all were.
    pub written: *mut u8,
}

// SAFETY: an extent is an address range; the functions that use its pointers say why they may.
unsafe impl Send for Extent {}
// SAFETY: see `Send`; kernels write to disjoint bytes, as on a device.
unsafe impl Sync for Extent {}

/// All allocations that a kernel may use.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Allocations in the order of their addresses.
    pub extents: Vec<Extent>,
    /// Whether reads of unwritten bytes are errors.
    pub strict: bool,
}

impl View {
    /// The extent with all of these bytes.
    pub fn find(&self, at: u64, size: u64) -> Option<&Extent> {
        let extent = &self.extents[..self.extents.partition_point(|e| e.start <= at)].last()?;
        (at.checked_add(size)? <= extent.end).then_some(extent)
    }
}

/// The value of bytes that were not written.
pub const POISON: u8 = 0xcd;
/// Written flags of eight bytes.
const WRITTEN: u64 = 0x0101_0101_0101_0101;

/// Memory of one block.
pub struct Memory<'a> {
    view: &'a View,
    /// The extent of the last access.
    pub last: Extent,
    params: &'a [u8],
    /// Local memory of all threads.
    local: Vec<u8>,
    local_size: usize,
    /// Shared memory.
    pub shared: Shared,
}

impl<'a> Memory<'a> {
    /// Memory for blocks with this many threads.
    pub fn new(view: &'a View, params: &'a [u8], local_size: usize, threads: usize, shared: Shared) -> Self {
        let last = Extent { start: 0, end: 0, data: std::ptr::null_mut(), written: std::ptr::null_mut() };
        Self { view, last, params, local: vec![0xa5; local_size * threads], local_size, shared }
    }

    /// Start the next block.
    pub fn reset(&mut self) {
        self.local.fill(0xa5);
        self.shared.reset();
    }

    /// The extent with all of these bytes; it is remembered for the next access.
    #[inline]
    pub fn locate(&mut self, at: u64, size: u64) -> bool {
        if at >= self.last.start && at.wrapping_add(size) <= self.last.end && at.wrapping_add(size) > at {
            return true;
        }
        match self.view.find(at, size) {
            Some(extent) => {
                self.last = *extent;
                true
            }
            None => false,
        }
    }

    /// The address in the generic space.
    pub fn generic(space: Space, at: u64) -> u64 {
        match space {
            Space::Shared => SHARED | at & 0xffff_ffff,
            Space::Local => LOCAL | at & 0xffff_ffff,
            // Arrays that are parameters of calls are in local memory, whose addresses are larger.
            Space::Param if at < PARAM => PARAM | at & 0xffff_ffff,
            _ => at,
        }
    }

    /// Read `size` bytes, at most 8.
    pub fn read(&mut self, at: u64, size: usize, thread: usize, lane: usize) -> Result<u64, Fault> {
        let mut bytes = [0u8; 8];
        if at >= SHARED {
            self.shared.read(at - SHARED, &mut bytes[..size], thread).map_err(|(k, t)| Fault::new(k, lane, t))?;
        } else if at >= LOCAL {
            let offset = self.local_offset(at, size, lane)?;
            bytes[..size].copy_from_slice(&self.local[thread * self.local_size + offset..][..size]);
        } else if at >= PARAM {
            let offset = (at - PARAM) as usize;
            let Some(source) = self.params.get(offset..offset + size) else {
                return Err(Fault::new(Kind::Address, lane, format!("a read of {size} bytes behind the parameters")));
            };
            bytes[..size].copy_from_slice(source);
        } else {
            if !self.locate(at, size as u64) {
                return Err(self.outside("read", at, size, lane));
            }
            let offset = (at - self.last.start) as usize;
            // SAFETY: `locate` found `size` bytes at `at` in this extent, whose memory lives during the launch.
            unsafe { std::ptr::copy_nonoverlapping(self.last.data.add(offset), bytes.as_mut_ptr(), size) };
            if !self.last.written.is_null() {
                let mut flags = [1u8; 8];
                // SAFETY: `written` has a byte for each byte of the extent.
                unsafe { std::ptr::copy_nonoverlapping(self.last.written.add(offset), flags.as_mut_ptr(), size) };
                if u64::from_le_bytes(flags) != WRITTEN {
                    if self.view.strict {
                        let text = format!("a read of {size} bytes of unwritten memory at {at:#x}{}", self.place(at));
                        return Err(Fault::new(Kind::Address, lane, text));
                    }
                    for (byte, flag) in bytes.iter_mut().zip(flags) {
                        if flag == 0 {
                            *byte = POISON;
                        }
                    }
                }
            }
        }
        Ok(u64::from_le_bytes(bytes))
    }

    /// Write the low `size` bytes of a value.
    pub fn write(&mut self, at: u64, size: usize, value: u64, thread: usize, lane: usize) -> Result<(), Fault> {
        let bytes = value.to_le_bytes();
        if at >= SHARED {
            return self.shared.write(at - SHARED, &bytes[..size], thread).map_err(|(k, t)| Fault::new(k, lane, t));
        }
        if at >= LOCAL {
            let offset = self.local_offset(at, size, lane)?;
            self.local[thread * self.local_size + offset..][..size].copy_from_slice(&bytes[..size]);
            return Ok(());
        }
        if at >= PARAM {
            return Err(Fault::new(Kind::Address, lane, "a write to a parameter".into()));
        }
        if !self.locate(at, size as u64) {
            return Err(self.outside("write", at, size, lane));
        }
        let offset = (at - self.last.start) as usize;
        // SAFETY: `locate` found `size` bytes at `at` in this extent, whose memory and flags live during the launch.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.last.data.add(offset), size);
            if !self.last.written.is_null() {
                self.last.written.add(offset).write_bytes(1, size);
            }
        }
        Ok(())
    }

    fn local_offset(&self, at: u64, size: usize, lane: usize) -> Result<usize, Fault> {
        let offset = (at - LOCAL) as usize;
        if offset + size > self.local_size {
            let text = format!("an access to byte {offset} of {} bytes of local memory", self.local_size);
            return Err(Fault::new(Kind::Address, lane, text));
        }
        Ok(offset)
    }

    fn outside(&self, what: &str, at: u64, size: usize, lane: usize) -> Fault {
        Fault::new(Kind::Address, lane, format!("an illegal {what} of {size} bytes at {at:#x}{}", self.place(at)))
    }

    /// Where an address is: the allocation before it.
    fn place(&self, at: u64) -> String {
        match self.view.extents[..self.view.extents.partition_point(|e| e.start <= at)].last() {
            Some(e) if at < e.end => format!(", byte {} of an allocation of {}", at - e.start, e.end - e.start),
            Some(e) if at - e.end < 1 << 30 => {
                format!(", {} bytes behind the end of an allocation of {}", at - e.end, e.end - e.start)
            }
            _ => String::new(),
        }
    }
}
