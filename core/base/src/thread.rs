//! The library's own threads: workers of the pool, stacks for deep backward passes, forked functions of programs.
//!
//! Threads are created with pthreads. A thread of the standard library, like `std::thread::current`, sets a value under
//! a pthread key that each copy of the standard library creates and never deletes: every load of this library would use
//! up one of the 1,024 keys of the process, and a process without a free key would be aborted.

use crate::cancel;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The body of a thread.
type Body<'a> = Box<dyn FnOnce() + Send + 'a>;

/// A thread to be joined.
pub struct Thread(system::Handle);

impl Thread {
    /// Runs `body` on a new thread with a stack of `stack` bytes. A panic ends that thread only.
    pub fn spawn(name: &str, stack: usize, body: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
        // SAFETY: the body is `'static`, so it borrows nothing that could be freed before the thread ends.
        unsafe { Thread::start(name, stack, Box::new(body)) }
    }

    /// # Safety
    /// Everything that the body borrows must live until the thread is joined.
    unsafe fn start(name: &str, stack: usize, body: Body<'_>) -> io::Result<Thread> {
        // SAFETY: the two types differ only in the lifetime, and the caller guarantees that the borrows live until the
        // thread is joined.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        system::start(name, stack, body).map(Thread)
    }

    /// Waits for the end of the thread.
    pub fn join(self) {
        system::join(self.0);
    }
}

/// Runs `body` on a new thread with a stack of `stack` bytes and the cancel tokens of this one, and waits for it.
/// Returns an error if the system cannot create a thread, else the result of `body` or its panic.
pub fn on_new_thread<R: Send>(
    name: &str,
    stack: usize,
    body: impl FnOnce() -> R + Send,
) -> io::Result<std::thread::Result<R>> {
    let mut result = None;
    let slot = &mut result;
    let tokens = cancel::tokens();
    let body = move || *slot = Some(catch_unwind(AssertUnwindSafe(|| cancel::with_tokens(tokens.as_ref(), body))));
    // SAFETY: the thread is joined in the same statement, before anything that the body borrows can be freed.
    unsafe { Thread::start(name, stack, Box::new(body)) }?.join();
    result.ok_or_else(|| io::Error::other("the thread ended without a result"))
}

#[cfg(unix)]
mod system {
    use super::Body;
    use std::ffi::{CString, c_void};
    use std::io;
    use std::mem::MaybeUninit;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::ptr;

    pub(super) type Handle = libc::pthread_t;

    /// Maximum length of a thread name on Linux, in bytes.
    const LONGEST_NAME: usize = 15;

    struct Start {
        name: CString,
        body: Body<'static>,
    }

    pub(super) fn start(name: &str, stack: usize, body: Body<'static>) -> io::Result<Handle> {
        let name = CString::new(&name.as_bytes()[..name.len().min(LONGEST_NAME)])?;
        let start = Box::into_raw(Box::new(Start { name, body }));
        match create(stack, start.cast()) {
            Ok(thread) => Ok(thread),
            Err(error) => {
                // SAFETY: no thread was created, so this function still owns the box, which it frees once.
                drop(unsafe { Box::from_raw(start) });
                Err(error)
            }
        }
    }

    fn create(stack: usize, start: *mut c_void) -> io::Result<Handle> {
        let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the attributes are initialized before they are used and destroyed once; `run` receives the pointer
        // that it expects.
        unsafe {
            check(libc::pthread_attr_init(attributes.as_mut_ptr()))?;
            let made = check(libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack))
                .and_then(|()| check(libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run, start)));
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            made.map(|()| thread.assume_init())
        }
    }

    fn check(error: i32) -> io::Result<()> {
        if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
    }

    extern "C" fn run(start: *mut c_void) -> *mut c_void {
        // SAFETY: `start` allocated the box for this thread, which takes it once.
        let start = unsafe { Box::from_raw(start.cast::<Start>()) };
        set_name(&start.name);
        // A panic must not leave this function.
        let _ = catch_unwind(AssertUnwindSafe(start.body));
        ptr::null_mut()
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn set_name(name: &CString) {
        // SAFETY: the name is a NUL-terminated string within the length limit, and the call names the running thread.
        unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr()) };
    }

    #[cfg(target_vendor = "apple")]
    fn set_name(name: &CString) {
        // SAFETY: the name is a NUL-terminated string within the length limit; the function names the calling thread.
        unsafe { libc::pthread_setname_np(name.as_ptr()) };
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn set_name(_: &CString) {}

    pub(super) fn join(thread: Handle) {
        // SAFETY: the handle came from pthread_create and is used once: `self` is consumed.
        unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    }
}

#[cfg(not(unix))]
mod system {
    use super::Body;
    use std::io;
    use std::thread::{Builder, JoinHandle};

    pub(super) type Handle = JoinHandle<()>;

    pub(super) fn start(name: &str, stack: usize, body: Body<'static>) -> io::Result<Handle> {
        Builder::new().name(name.to_owned()).stack_size(stack).spawn(body)
    }

    pub(super) fn join(thread: Handle) {
        // The thread's panic is reported by its body.
        let _ = thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_new_thread_is_returned() {
        let values = [1, 2, 3];
        let here = std::thread::current().id();
        let sum = on_new_thread("sum", 1 << 20, || {
            assert_ne!(std::thread::current().id(), here);
            values.iter().sum::<i32>()
        });
        assert_eq!(sum.unwrap().unwrap(), 6);
    }

    #[test]
    fn a_panic_is_returned_and_has_no_other_effect() {
        let panic = on_new_thread("panic", 1 << 20, || std::panic::resume_unwind(Box::new("on purpose")));
        let panic: Box<dyn std::any::Any + Send> =
            panic.map(|ended: std::thread::Result<()>| ended.unwrap_err()).unwrap();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }

    #[test]
    fn a_stack_that_no_system_has_is_an_error() {
        assert!(on_new_thread("large", usize::MAX / 2, || ()).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_has_its_name() {
        let name = on_new_thread("rushlight-backward", 1 << 20, || std::fs::read_to_string("/proc/thread-self/comm"));
        assert_eq!(name.unwrap().unwrap().unwrap().trim_end(), "rushlight-backw");
    }
}
