//! Which core a thread runs on, and how it gets off it. For `pool.rs`: a thread that was woken on the core of the thread
//! that waits for it stops that one instead of helping it.

/// Number of the core that this thread runs on just now; `None` where that cannot be asked.
#[inline]
pub(crate) fn current() -> Option<usize> {
    #[cfg(target_os = "linux")]
    // SAFETY: no arguments. With a kernel and C library of today it reads a word, no system call.
    return usize::try_from(unsafe { libc::sched_getcpu() }).ok();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Move this thread to a core that is not `taken`, if it may run on one. Where it may run stays as it was.
#[cold]
pub(crate) fn leave(taken: impl Fn(usize) -> bool) {
    #[cfg(target_os = "linux")]
    // SAFETY: the sets are plain bits of the size that is passed along, and the numbers are below their capacity.
    unsafe {
        let size = size_of::<libc::cpu_set_t>();
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return;
        }
        let mut free = allowed;
        for core in 0..8 * size {
            if libc::CPU_ISSET(core, &allowed) && taken(core) {
                libc::CPU_CLR(core, &mut free);
            }
        }
        if libc::CPU_COUNT(&free) > 0 && libc::sched_setaffinity(0, size, &raw const free) == 0 {
            libc::sched_setaffinity(0, size, &raw const allowed);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = taken;
}
