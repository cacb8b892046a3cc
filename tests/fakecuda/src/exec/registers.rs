//! Registers of a warp: rows of 32 lanes.

use crate::ptx::CONSTANT;

/// One register of 32 lanes, 32 bits each.
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub struct Row(pub [u32; 32]);

/// A row of 64-bit lanes.
pub type Wide = [u64; 32];

/// All lanes.
pub const FULL: u32 = u32::MAX;

/// The rows of a warp, and those of constants, which all warps share and no instruction writes. The indices come from the
/// decoder, which counts the rows of a kernel as it hands them out.
#[derive(Clone, Copy)]
pub struct Registers {
    bases: [*mut Row; 2],
}

impl Registers {
    /// Registers in these rows.
    ///
    /// # Safety
    /// The rows must live as long as the result is used, and be as many as the kernel asks for.
    pub unsafe fn new(base: *mut Row, constants: *mut Row) -> Self {
        Self { bases: [base, constants] }
    }

    #[inline(always)]
    fn row(&self, row: u32) -> *mut Row {
        // SAFETY: the decoder counted this row.
        unsafe { self.bases[(row >> 31) as usize].add((row & !CONSTANT) as usize) }
    }

    /// A row.
    #[inline(always)]
    pub fn narrow(&self, row: u32) -> *mut u32 {
        self.row(row).cast()
    }

    /// Two rows: the decoder counted this one and the next.
    #[inline(always)]
    pub fn wide(&self, row: u32) -> *mut u64 {
        self.row(row).cast()
    }

    /// A lane of a register.
    #[inline(always)]
    pub fn get(&self, row: u32, wide: bool, lane: usize) -> u64 {
        // SAFETY: `lane` is below 32, and the decoder counted the row.
        unsafe { if wide { *self.wide(row).add(lane) } else { u64::from(*self.narrow(row).add(lane)) } }
    }

    /// Set a lane of a register.
    #[inline(always)]
    pub fn set(&self, row: u32, wide: bool, lane: usize, value: u64) {
        // SAFETY: `lane` is below 32, and the decoder counted the row.
        unsafe {
            if wide {
                *self.wide(row).add(lane) = value;
            } else {
                *self.narrow(row).add(lane) = value as u32;
            }
        }
    }
}

/// Copy the lanes of a mask.
pub fn blend32(to: *mut u32, from: &[u32; 32], mask: u32) {
    for (lane, value) in from.iter().enumerate() {
        if mask >> lane & 1 != 0 {
            // SAFETY: `to` is a row of 32 lanes.
            unsafe { *to.add(lane) = *value };
        }
    }
}

/// Copy the lanes of a mask.
pub fn blend64(to: *mut u64, from: &Wide, mask: u32) {
    for (lane, value) in from.iter().enumerate() {
        if mask >> lane & 1 != 0 {
            // SAFETY: `to` is a row of 32 lanes.
            unsafe { *to.add(lane) = *value };
        }
    }
}
