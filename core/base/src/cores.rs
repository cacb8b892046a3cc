//! The core on which a thread runs, and how to move off it. For `pool.rs`: a worker that was woken on the core of the
//! waiting thread preempts it instead of helping.

/// Index of the core on which this thread runs now; `None` if the system does not report it.
#[inline]
pub(crate) fn current() -> Option<usize> {
    #[cfg(target_os = "linux")]
    // SAFETY: `sched_getcpu` takes no arguments and has no precondition. With a current kernel and C library it reads a
    // word, without a system call.
    return usize::try_from(unsafe { libc::sched_getcpu() }).ok();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Moves this thread to a core that is not `taken`, if it may run on one. Its affinity mask is unchanged afterwards.
#[cold]
pub(crate) fn leave(taken: impl Fn(usize) -> bool) {
    #[cfg(target_os = "linux")]
    // SAFETY: `cpu_set_t` is a plain bit mask, passed with its size; the indices are below its capacity.
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
