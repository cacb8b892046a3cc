//! Fork handlers: a child has only the thread that forked, so it must not wait for workers that do not exist there, nor
//! for a lock that another thread held.
//!
//! `pthread_atfork` costs nothing until a fork (comparing the process id at each loop would be a system call), and
//! glibc drops the handlers of a library that is unloaded. They are registered at first use, since nothing happens at
//! load time. A child created by the raw system call, bypassing the C library, is not seen.

/// Registers the fork handlers of `cache` and `pool`. False if that is not possible.
///
/// Takes no lock: a child that was forked while another thread registers would wait for it forever. Threads that
/// register at the same time, and such a child, register the handlers more than once; only the outermost one works.
#[cfg(unix)]
pub(crate) fn watch() -> bool {
    use std::sync::atomic::{AtomicBool, Ordering};

    static WATCHED: AtomicBool = AtomicBool::new(false);

    if !WATCHED.load(Ordering::Acquire) && handlers::register() {
        WATCHED.store(true, Ordering::Release);
    }
    WATCHED.load(Ordering::Acquire)
}

#[cfg(unix)]
mod handlers {
    use crate::{asymmetric, cache, local, pool};
    use std::cell::Cell;

    thread_local! {
        /// How many of the registered handlers run around the fork of this thread.
        static RUNNING: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn register() -> bool {
        // SAFETY: the three handlers may be called at any time, and glibc drops them when this library is unloaded.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) == 0 }
    }

    extern "C" fn before() {
        if RUNNING.replace(RUNNING.get() + 1) == 0 {
            cache::before_fork();
        }
    }

    extern "C" fn in_parent() {
        if is_last() {
            cache::after_fork();
        }
    }

    extern "C" fn in_child() {
        if is_last() {
            asymmetric::after_fork_in_child();
            cache::after_fork();
            local::after_fork_in_child();
            pool::after_fork_in_child();
        }
    }

    fn is_last() -> bool {
        RUNNING.set(RUNNING.get() - 1);
        RUNNING.get() == 0
    }
}

/// Other systems have no fork.
#[cfg(not(unix))]
pub(crate) fn watch() -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::Storage;

    #[test]
    fn handlers_that_are_registered_several_times_work_once() {
        assert!(watch() && handlers::register() && handlers::register());
        let allocates = || Storage::allocate(1000).is_ok() && Storage::allocate(1 << 20).is_ok();
        // SAFETY: the child only allocates, is ended by the alarm if that hangs, and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: `alarm` and `_exit` have no preconditions.
            unsafe {
                libc::alarm(10);
                libc::_exit(i32::from(!allocates()));
            }
        }
        let mut status = -1;
        // SAFETY: `status` outlives the call.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        assert!(allocates());
    }
}
