//! Shared memory, which checks that threads order their accesses with barriers.
//!
//! A cell for each few bytes knows the thread that wrote it last and the threads that read it, with the times. The clock
//! advances at each barrier: two threads may touch a cell, one of them writing, only if a barrier of the block, or of the
//! warp for threads of one warp, is between.

use super::Kind;

/// Thread numbers behind those of a block: several threads of warp n.
const SEVERAL: u32 = 1025;
/// Threads of several warps.
const MANY: u32 = 2046;
const THREAD: u32 = 2047;
/// The last time.
const END: u32 = (1 << 21) - 2;

#[derive(Clone, Copy, Default)]
struct Cell {
    /// Time and thread plus 1 of the last write; 0 if unwritten.
    write: u32,
    /// The same of the last read.
    read: u32,
}

/// Shared memory of a block.
pub struct Shared {
    bytes: Vec<u8>,
    cells: Vec<Cell>,
    grain: u32,
    time: u32,
    block_start: u32,
    warp_start: Vec<u32>,
}

type Failure = (Kind, String);

impl Shared {
    /// Memory of `size` bytes; no access is smaller than `grain`.
    pub fn new(size: usize, grain: usize, warps: usize) -> Self {
        let grain = grain.clamp(1, 4).ilog2();
        let cells = size.div_ceil(1 << grain);
        let mut shared = Self {
            bytes: vec![0xa5; size],
            cells: vec![Cell::default(); cells],
            grain,
            time: 1,
            block_start: 1,
            warp_start: vec![1; warps],
        };
        shared.reset();
        shared
    }

    /// Start the next block.
    pub fn reset(&mut self) {
        self.bytes.fill(0xa5);
        self.cells.fill(Cell::default());
        self.time = 1;
        self.block_start = 1;
        self.warp_start.fill(1);
    }

    /// All threads of the block met.
    pub fn block_barrier(&mut self) {
        self.advance();
        self.block_start = self.time;
    }

    /// The threads of a warp met.
    pub fn warp_barrier(&mut self, warp: usize) {
        self.advance();
        self.warp_start[warp] = self.time;
    }

    fn advance(&mut self) {
        self.time += 1;
        if self.time >= END {
            // Forget who used the cells, but not that they were written.
            for cell in &mut self.cells {
                cell.read = 0;
                cell.write = u32::from(cell.write != 0);
            }
            self.time = 2;
            self.block_start = 2;
            self.warp_start.fill(2);
        }
    }

    /// Whether an access with this stamp may be in progress beside one by `thread`.
    fn conflict(&self, stamp: u32, thread: u32) -> bool {
        let (time, other) = (stamp >> 11, stamp & THREAD);
        if time < self.block_start || other == thread + 1 {
            return false;
        }
        let warp = thread >> 5;
        let same = if other >= SEVERAL { other == SEVERAL + warp } else { (other - 1) >> 5 == warp };
        !same || time >= self.warp_start[warp as usize]
    }

    fn range(&self, at: u64, size: usize, what: &str) -> Result<usize, Failure> {
        let end = self.bytes.len() as u64;
        if at + size as u64 > end {
            return Err((
                Kind::Address,
                format!("a {what} of {size} bytes at byte {at} of {end} bytes of shared memory"),
            ));
        }
        Ok(at as usize)
    }

    /// Note that a thread reads a cell. Returns false if it must not.
    #[inline(always)]
    fn note_read(&mut self, cell: usize, thread: u32) -> bool {
        let Cell { write, read } = self.cells[cell];
        let own = thread + 1;
        let settled = write >> 11 < self.block_start || write & THREAD == own;
        if write == 0 || (!settled && self.conflict(write, thread)) {
            return false;
        }
        let now = self.time << 11;
        let several = SEVERAL + (thread >> 5);
        if read == (now | MANY) || read == (now | several) || read == (now | own) {
            return true;
        }
        let (time, other) = (read >> 11, read & THREAD);
        let reader = if time < self.block_start || other == own || other == 0 {
            own
        } else if other == several || (other < SEVERAL && (other - 1) >> 5 == thread >> 5) {
            several
        } else {
            MANY
        };
        self.cells[cell].read = now | reader;
        true
    }

    /// Note that a thread writes a cell. Returns false if it must not.
    #[inline(always)]
    fn note_write(&mut self, cell: usize, thread: u32) -> bool {
        let Cell { write, read } = self.cells[cell];
        let own = thread + 1;
        for stamp in [write, read] {
            let settled = stamp >> 11 < self.block_start || stamp & THREAD == own;
            if !settled && self.conflict(stamp, thread) {
                return false;
            }
        }
        self.cells[cell].write = self.time << 11 | own;
        true
    }

    /// Why a thread must not read or write a cell.
    #[cold]
    fn failure(&self, cell: usize, at: usize, thread: u32, writes: bool) -> Failure {
        let Cell { write, read } = self.cells[cell];
        if write == 0 && !writes {
            return (Kind::Launch, format!("a read of unwritten shared memory at byte {at}"));
        }
        let (before, stamp) = if self.conflict(write, thread) { ("wrote", write) } else { ("read", read) };
        let now = if writes { "writes" } else { "reads" };
        (Kind::Launch, race(now, thread, at, before, stamp))
    }

    /// Read bytes.
    #[inline]
    pub fn read(&mut self, at: u64, out: &mut [u8], thread: usize) -> Result<(), Failure> {
        let at = self.range(at, out.len(), "read")?;
        for cell in at >> self.grain..=(at + out.len() - 1) >> self.grain {
            if !self.note_read(cell, thread as u32) {
                return Err(self.failure(cell, at, thread as u32, false));
            }
        }
        out.copy_from_slice(&self.bytes[at..at + out.len()]);
        Ok(())
    }

    /// Write bytes.
    #[inline]
    pub fn write(&mut self, at: u64, bytes: &[u8], thread: usize) -> Result<(), Failure> {
        let at = self.range(at, bytes.len(), "write")?;
        for cell in at >> self.grain..=(at + bytes.len() - 1) >> self.grain {
            if !self.note_write(cell, thread as u32) {
                return Err(self.failure(cell, at, thread as u32, true));
            }
        }
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    /// The 4 bytes of a word, if the access needs no closer look.
    #[inline(always)]
    pub fn read_word(&mut self, at: u64, thread: usize) -> Option<u32> {
        let at = at as usize;
        if self.grain != 2 || at & 3 != 0 {
            return None;
        }
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        let value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        self.note_read(at >> 2, thread as u32).then_some(value)
    }

    /// Write the 4 bytes of a word, if the access needs no closer look.
    #[inline(always)]
    pub fn write_word(&mut self, at: u64, value: u32, thread: usize) -> bool {
        let at = at as usize;
        if self.grain != 2 || at & 3 != 0 || at.checked_add(4).is_none_or(|end| end > self.bytes.len()) {
            return false;
        }
        if !self.note_write(at >> 2, thread as u32) {
            return false;
        }
        self.bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        true
    }

    /// Read and write bytes at once: atomic operations, which order themselves.
    pub fn atomic(&mut self, at: u64, size: usize, change: impl FnOnce(u64) -> u64) -> Result<u64, Failure> {
        let at = self.range(at, size, "atomic access")?;
        for i in at >> self.grain..=(at + size - 1) >> self.grain {
            if self.cells[i].write == 0 {
                return Err((Kind::Launch, format!("an atomic access to unwritten shared memory at byte {at}")));
            }
            // The clock's zero: no later access conflicts with it, but the cell stays written.
            if self.cells[i].write >> 11 < self.block_start {
                self.cells[i].write = 1;
            }
        }
        let mut value = [0u8; 8];
        value[..size].copy_from_slice(&self.bytes[at..at + size]);
        let old = u64::from_le_bytes(value);
        self.bytes[at..at + size].copy_from_slice(&change(old).to_le_bytes()[..size]);
        Ok(old)
    }
}

fn race(now: &str, thread: u32, at: usize, before: &str, stamp: u32) -> String {
    let who = match stamp & THREAD {
        other if other < SEVERAL => format!("thread {} {before} it", other - 1),
        other if other < MANY => format!("threads of warp {} {before} it", other - SEVERAL),
        _ => format!("threads of several warps {before} it"),
    };
    format!("a race in shared memory: thread {thread} {now} byte {at}, and {who} without a barrier between")
}
