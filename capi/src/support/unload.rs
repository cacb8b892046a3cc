//! What lets the shared library be unloaded: values of ending threads are dropped without pinning it, and
//! unloading takes back whatever is left.
//!
//! The standard library registers the destructors of thread-local values with `__cxa_thread_atexit_impl`,
//! and glibc keeps a library loaded as long as one of them is pending, for the main thread until the end of
//! the process. The shared library is therefore linked with that name bound, inside it alone, to
//! [`rushlight_thread_atexit`] (`build.rs`; `static/merge.sh` does the same for the static library). It keeps
//! the list itself, under a pthread key that `dlclose` deletes.

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{CStr, c_void};
    use std::ptr;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, PoisonError};

    type Destructor = unsafe extern "C" fn(*mut c_void);

    /// One pending destructor, in the list of its thread.
    struct Pending {
        destructor: Destructor,
        object: *mut c_void,
        next: *mut Pending,
    }

    /// The list of one thread; the lists of all threads form a chain, for `unload`.
    struct Thread {
        pending: *mut Pending,
        next: *mut Thread,
    }

    struct State {
        key: Option<libc::pthread_key_t>,
        threads: *mut Thread,
    }

    // SAFETY: the pointers are only followed with the lock held, or by the one thread a list belongs to.
    unsafe impl Send for State {}

    static STATE: Mutex<State> = Mutex::new(State { key: None, threads: ptr::null_mut() });

    /// `__cxa_thread_atexit_impl` for this library alone: call `destructor(object)` when the calling thread
    /// ends, or when the library is unloaded.
    ///
    /// # Safety
    /// Called by the standard library, with a destructor that fits the object.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn rushlight_thread_atexit(
        destructor: Destructor,
        object: *mut c_void,
        _library: *mut c_void,
    ) -> i32 {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        let key = match state.key {
            Some(key) => key,
            None => {
                let mut key = 0;
                // SAFETY: the key is written before it is used, and `thread_ends` has the right type.
                if unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } != 0 {
                    return -1;
                }
                *state.key.insert(key)
            }
        };
        // SAFETY: the key is live; the thread's list is only touched by this thread while it runs.
        unsafe {
            let mut thread = libc::pthread_getspecific(key).cast::<Thread>();
            if thread.is_null() {
                thread = Box::into_raw(Box::new(Thread { pending: ptr::null_mut(), next: state.threads }));
                state.threads = thread;
                libc::pthread_setspecific(key, thread.cast());
            }
            let next = (*thread).pending;
            (*thread).pending = Box::into_raw(Box::new(Pending { destructor, object, next }));
        }
        0
    }

    // The name is for the linker (`build.rs`) alone: it is not part of the interface.
    std::arch::global_asm!(".hidden rushlight_thread_atexit");

    /// Run and free what is pending in `thread`; destructors may add to it.
    unsafe fn run(thread: *mut Thread) {
        // SAFETY: the caller owns the list; entries are unlinked before their destructor runs.
        unsafe {
            while let Some(pending) = (*thread).pending.as_mut() {
                (*thread).pending = pending.next;
                let pending = Box::from_raw(pending);
                (pending.destructor)(pending.object);
            }
        }
    }

    unsafe extern "C" fn thread_ends(thread: *mut c_void) {
        let thread = thread.cast::<Thread>();
        // SAFETY: pthread hands over the value of the ending thread, once. While the destructors run it is
        // the thread's value again, so that what they register joins the same list.
        unsafe {
            let key = STATE.lock().unwrap_or_else(PoisonError::into_inner).key;
            if let Some(key) = key {
                libc::pthread_setspecific(key, thread.cast());
            }
            run(thread);
            if let Some(key) = key {
                libc::pthread_setspecific(key, ptr::null());
            }
            let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
            let mut link = &raw mut state.threads;
            while !(*link).is_null() && *link != thread {
                link = &raw mut (**link).next;
            }
            if !(*link).is_null() {
                *link = (*thread).next;
                drop(Box::from_raw(thread));
            }
        }
    }

    /// Set by an `atexit` function: when the process ends, that runs before the library's own `.fini_array`;
    /// when `dlclose` unloads the library, after it.
    static PROCESS_ENDS: AtomicBool = AtomicBool::new(false);

    extern "C" fn process_ends() {
        PROCESS_ENDS.store(true, Ordering::Release);
    }

    /// Ask to be told of the end of the process. Once per first use of the library.
    pub(in crate::support) fn watch_for_exit() {
        // SAFETY: the function may run at any time; it only sets a flag.
        unsafe { libc::atexit(process_ends) };
    }

    /// Is this code in the shipped shared library (and not linked into a program or another library)?
    pub(in crate::support) fn is_shared_library() -> bool {
        let here: fn() -> bool = is_shared_library;
        // SAFETY: an all-zero Dl_info is valid, and dladdr fills it when it returns something other than 0; the
        // name then is a C string of the loader's.
        let name = unsafe {
            let mut info = std::mem::zeroed::<libc::Dl_info>();
            if libc::dladdr(here as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
                return false;
            }
            CStr::from_ptr(info.dli_fname).to_bytes()
        };
        let file = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
        file.starts_with(b"librushlight")
    }

    /// Runs when the library is unloaded. At the end of the process, where other threads may still be
    /// running in the library, there is nothing to do: memory goes back by itself.
    extern "C" fn unload() {
        if PROCESS_ENDS.load(Ordering::Acquire) {
            return;
        }
        crate::runtime::shutdown();
        // Whoever unloads a library promises that no thread is inside it, nor will be. So the values that
        // other threads still have are dropped here, while their code is still there.
        let (key, mut thread) = {
            let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
            (state.key.take(), std::mem::replace(&mut state.threads, ptr::null_mut()))
        };
        // SAFETY: the chain was taken out of the state, so each list has this one owner; without the key no
        // ending thread looks for its list.
        unsafe {
            if let Some(key) = key {
                libc::pthread_key_delete(key);
            }
            while !thread.is_null() {
                run(thread);
                thread = Box::from_raw(thread).next;
            }
        }
    }

    #[used]
    #[unsafe(link_section = ".fini_array")]
    static UNLOAD: extern "C" fn() = unload;
}

#[cfg(target_os = "linux")]
pub(super) use linux::{is_shared_library, watch_for_exit};

/// Elsewhere libraries that were used stay loaded.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch_for_exit() {}

/// Elsewhere nothing is taken for granted.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_shared_library() -> bool {
    false
}
