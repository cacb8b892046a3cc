//! What a fork of the process needs: a child has only the thread that forked, so it must not wait for workers that it
//! does not have, nor for a lock that another thread held.
//!
//! `pthread_atfork` costs nothing until somebody forks (asking for the process id at each loop would be a system call), and
//! glibc forgets the functions of a library that is unloaded. They are registered at first use, since nothing happens at
//! load time. A child made by the raw system call, past the C library, is not seen.

/// Have `cache` and `pool` told of forks from now on. False if that is not possible.
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
            // SAFETY: the functions are callable at any time, and glibc drops them when this library goes.
            let refused = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } != 0;
            WATCHED.store(!refused, Ordering::Release);
        }
    }
    WATCHED.load(Ordering::Acquire)
}

/// Elsewhere nobody forks.
#[cfg(not(unix))]
pub(crate) fn watch() -> bool {
    true
}
