//! A memory fence of which one side costs nothing, for pairs of which one side runs at every call and the other hardly
//! ever.
//!
//! Both sides write, fence and then read what the other writes; at least one of them must see the other's write. With
//! two full fences that costs the frequent side some 20 cycles. On Linux the rare side can have the kernel put the fence
//! into every running thread of the process (`membarrier`), and the frequent side needs only keep the compiler from
//! reordering. Elsewhere, or where the kernel refuses, [`light`] is a full fence.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Does [`heavy`] reach into the other threads, so that [`light`] may be free? Only ever set before a process has
/// threads in here, by [`prepare`], or taken back by a child that has one thread.
static REACHES: AtomicBool = AtomicBool::new(false);

/// The frequent side's fence. The thread has called [`prepare`] before.
#[inline(always)]
pub(crate) fn light() {
    if cfg!(target_os = "linux") && REACHES.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The rare side's fence. False: the kernel refused, though it had promised; then nothing is known of what other threads
/// have written.
#[must_use]
pub(crate) fn heavy() -> bool {
    fence(Ordering::SeqCst);
    !REACHES.load(Ordering::Relaxed) || membarrier(command::FENCE)
}

/// Ask the kernel for its help. A full fence of its own: whoever calls [`heavy`] later sees the answer.
pub(crate) fn prepare() {
    if !REACHES.load(Ordering::Relaxed) && membarrier(command::REGISTER) {
        REACHES.store(true, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
}

/// A forked child asks for itself; it has one thread.
pub(crate) fn after_fork_in_child() {
    REACHES.store(false, Ordering::Relaxed);
    prepare();
}

/// Numbers of the system call, from the kernel's interface.
mod command {
    pub(super) const FENCE: i32 = 1 << 3;
    pub(super) const REGISTER: i32 = 1 << 4;
}

#[cfg(target_os = "linux")]
fn membarrier(command: i32) -> bool {
    // SAFETY: the call takes numbers only.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn membarrier(_: i32) -> bool {
    false
}
