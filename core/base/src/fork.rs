//! Fork handlers: a child has only the thread that forked, so it must not wait for workers that do not exist there, nor
//! for a lock that another thread held.
//!
//! `pthread_atfork` costs nothing until a fork (comparing the process id at each loop would be a system call), and
//! glibc drops the handlers of a library that is unloaded. They are registered at first use, since nothing happens at
//! load time. A child created by the raw system call, bypassing the C library, is not seen.

/// Registers the fork handlers of `cache` and `pool`. False if that is not possible.
#[cfg(unix)]
pub(crate) fn watch() -> bool {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    static WATCHED: AtomicBool = AtomicBool::new(false);
    static REGISTERING: Mutex<()> = Mutex::new(());

    extern "C" fn before() {
        crate::cache::before_fork();
    }
    extern "C" fn in_parent() {
        crate::cache::after_fork();
    }
    extern "C" fn in_child() {
        crate::asymmetric::after_fork_in_child();
        crate::cache::after_fork();
        crate::local::after_fork_in_child();
        crate::pool::after_fork_in_child();
    }

    if !WATCHED.load(Ordering::Acquire) {
        let _alone = REGISTERING.lock().unwrap_or_else(PoisonError::into_inner);
        if !WATCHED.load(Ordering::Acquire) {
            // SAFETY: the three handlers may be called at any time, and glibc drops them when this library is unloaded.
            let failed = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } != 0;
            WATCHED.store(!failed, Ordering::Release);
        }
    }
    WATCHED.load(Ordering::Acquire)
}

/// Other systems have no fork.
#[cfg(not(unix))]
pub(crate) fn watch() -> bool {
    true
}
