//! Runs kernels.
//!
//! A warp is 32 lanes in step: of its groups of lanes, the one at the lowest place of the program runs, so that branches
//! join again. Blocks are independent of each other and run on several threads of the host if there are enough.

mod access;
mod block;
mod collective;
mod exact;
mod launch;
mod memory;
mod registers;
mod scalar;
mod shared;
mod vector;
mod warp;

pub use launch::{Launch, Stats, check, launch};
pub use memory::{Extent, View};

/// What kind of error a kernel made: decides the code that the driver returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An access outside of allocations, or a read of unwritten memory.
    Address,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// An instruction that cannot run.
    Instruction,
    /// A trap, race, or wrong use of a barrier.
    Launch,
    /// More instructions than the limit.
    Timeout,
}

/// An error of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// What happened; the launch adds the kernel, block, thread and line.
    pub text: String,
    /// The lane that made it.
    pub lane: u32,
}

impl Fault {
    fn new(kind: Kind, lane: usize, text: String) -> Self {
        Self { kind, text, lane: lane as u32 }
    }
}
