//! A memory fence with one free side, for pairs of code paths of which one runs in every call and the other rarely.
//!
//! Both sides write, fence and then read the other's data; at least one of them must see the other's write. Two full
//! fences would cost the frequent side about 20 cycles. On Linux the rare side asks the kernel to run the fence on
//! every running thread of the process (`membarrier`), and the frequent side only has to keep the compiler from
//! reordering. Elsewhere, or if the kernel does not support it, [`light`] is a full fence.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

/// Whether [`heavy`] fences the other threads, so that [`light`] may be free. [`prepare`] sets it before any thread of
/// the process uses this module, and a forked child, which has one thread, resets it.
static REACHES: AtomicBool = AtomicBool::new(false);

/// The fence of the frequent side. The thread must have called [`prepare`] before.
#[inline(always)]
pub(crate) fn light() {
    if cfg!(target_os = "linux") && REACHES.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The fence of the rare side. False if the kernel call failed although it was registered: the writes of other threads
/// are then unknown.
#[must_use]
pub(crate) fn heavy() -> bool {
    fence(Ordering::SeqCst);
    !REACHES.load(Ordering::Relaxed) || membarrier(command::FENCE)
}

/// Registers with the kernel. Also a full fence, so that a later call of [`heavy`] on any thread sees the result.
pub(crate) fn prepare() {
    if !REACHES.load(Ordering::Relaxed) && membarrier(command::REGISTER) {
        REACHES.store(true, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
}

/// A forked child registers again; it has one thread.
#[cfg(unix)]
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
    // SAFETY: `membarrier` takes numbers and accesses no memory of the caller.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn membarrier(_: i32) -> bool {
    false
}
