//! What a fork of the process needs: a child has only the thread that forked, so it must not wait for workers that it
//! does not have, nor for a lock that another thread held.
//!
//! `pthread_atfork` costs nothing until somebody forks (asking for the process id at each loop would be a system call), and
//! glibc forgets the functions of a library that is unloaded. They are registered at first use, since nothing happens at
//! load time. A child made by the raw system call, past the C library, is not seen.

/// Have `pool` told of forks from now on. False if that is not possible.
#[cfg(unix)]
pub(crate) fn watch() -> bool {
    use std::sync::Mutex;

    static WATCHED: Mutex<bool> = Mutex::new(false);

    extern "C" fn in_child() {
        crate::pool::after_fork_in_child();
    }

    let mut watched = WATCHED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !*watched {
        // SAFETY: the functions are callable at any time, and glibc drops them when this library goes.
        *watched = unsafe { libc::pthread_atfork(None, None, Some(in_child)) } == 0;
    }
    *watched
}

/// Elsewhere nobody forks.
#[cfg(not(unix))]
pub(crate) fn watch() -> bool {
    true
}
