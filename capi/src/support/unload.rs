//! Support for unloading the shared library: thread-local values of ending threads are dropped without keeping it
//! loaded, and unloading releases the rest.
//!
//! The standard library registers the destructors of thread-local values with `__cxa_thread_atexit_impl`,
//! and glibc keeps a library loaded as long as one of them is pending, for the main thread until the end of
//! the process. The shared library is therefore linked with that name bound, inside it alone, to
//! [`rushlight_thread_atexit`] (`build.rs`; `static/merge.sh` does the same for the static library). It keeps
//! the list itself, under a pthread key that `dlclose` deletes. In a process that has no free key glibc keeps the list
//! after all, and with it the library: nothing fails or leaks, but `dlclose` unloads later or not at all.

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

    /// The list of one thread; the lists of all threads are linked, for `unload`.
    struct Thread {
        pending: *mut Pending,
        next: *mut Thread,
    }

    struct State {
        key: Option<libc::pthread_key_t>,
        threads: *mut Thread,
    }

    // SAFETY: the pointers are dereferenced only with the lock held, or by the thread to which a list belongs.
    unsafe impl Send for State {}

    static STATE: Mutex<State> = Mutex::new(State { key: None, threads: ptr::null_mut() });

    /// `__cxa_thread_atexit_impl` for this library alone: calls `destructor(object)` when the calling thread ends, or
    /// when the library is unloaded.
    ///
    /// # Safety
    /// `destructor(object)` may be called once, on the calling thread at its end, or by the thread that unloads the
    /// library.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn rushlight_thread_atexit(
        destructor: Destructor,
        object: *mut c_void,
        library: *mut c_void,
    ) -> i32 {
        let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is held, and `thread_of_caller` returns the list of the calling thread, which is the only
        // thread that adds to it.
        unsafe {
            let Some(thread) = state.thread_of_caller() else {
                drop(state);
                // SAFETY: the arguments are those that the standard library passes to glibc's function.
                return system_atexit(destructor, object, library);
            };
            let next = (*thread).pending;
            (*thread).pending = Box::into_raw(Box::new(Pending { destructor, object, next }));
        }
        0
    }

    impl State {
        /// The list of the calling thread, created at its first destructor. `None` if the process has no free key, or
        /// no memory for its value.
        fn thread_of_caller(&mut self) -> Option<*mut Thread> {
            let key = self.key()?;
            // SAFETY: the key is live, and its values are null or lists that are freed when the value is cleared. The
            // lock is held.
            unsafe {
                let thread = libc::pthread_getspecific(key).cast::<Thread>();
                if !thread.is_null() {
                    return Some(thread);
                }
                let thread = Box::into_raw(Box::new(Thread { pending: ptr::null_mut(), next: self.threads }));
                if libc::pthread_setspecific(key, thread.cast()) != 0 {
                    drop(Box::from_raw(thread));
                    return None;
                }
                self.threads = thread;
                Some(thread)
            }
        }

        fn key(&mut self) -> Option<libc::pthread_key_t> {
            if self.key.is_none() {
                let mut key = 0;
                // SAFETY: `key` is writable, and `thread_ends` accepts the values that are stored under the key.
                let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } != 0;
                self.key = (!failed).then_some(key);
            }
            self.key
        }
    }

    /// Calls the function that the standard library would call if this library did not bind the name: it keeps
    /// `library` loaded until the destructor has run. Returns -1 if there is no such function: the destructor never
    /// runs then.
    ///
    /// # Safety
    /// The contract of [`rushlight_thread_atexit`]; the object lives until the thread ends.
    unsafe fn system_atexit(destructor: Destructor, object: *mut c_void, library: *mut c_void) -> i32 {
        type Atexit = unsafe extern "C" fn(Destructor, *mut c_void, *mut c_void) -> i32;
        // SAFETY: the name is a NUL-terminated string, and looking it up runs no code.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_thread_atexit_impl".as_ptr()) };
        if found.is_null() || found == rushlight_thread_atexit as *mut c_void {
            return -1;
        }
        // SAFETY: the C library's function of this name has this type; the caller guarantees its contract for the
        // arguments.
        unsafe { std::mem::transmute::<*mut c_void, Atexit>(found)(destructor, object, library) }
    }

    // The name is for the linker (`build.rs`) alone: it is not part of the interface.
    std::arch::global_asm!(".hidden rushlight_thread_atexit");

    /// Runs and frees the pending destructors of `thread`; destructors may add to the list.
    unsafe fn run(thread: *mut Thread) {
        // SAFETY: the caller owns the list exclusively; entries are unlinked before their destructor runs, so that a
        // destructor may add entries.
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
        // SAFETY: pthread passes the value of the ending thread, once. While the destructors run, it is set as the
        // thread's value again, so that new registrations join the same list.
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

    /// Set by an `atexit` function: when the process ends, that runs before the library's own `.fini_array`; when
    /// `dlclose` unloads the library, after it.
    static PROCESS_ENDS: AtomicBool = AtomicBool::new(false);

    extern "C" fn process_ends() {
        PROCESS_ENDS.store(true, Ordering::Release);
    }

    /// Registers the `atexit` function. Once per first use of the library.
    pub(in crate::support) fn watch_for_exit() {
        // SAFETY: `process_ends` only sets a flag, so it may run at any time.
        unsafe { libc::atexit(process_ends) };
    }

    /// Whether this code is in the shipped shared library (and not linked into a program or another library).
    pub(in crate::support) fn is_shared_library() -> bool {
        let here: fn() -> bool = is_shared_library;
        // SAFETY: an all-zero `Dl_info` is valid, and dladdr fills it if it returns nonzero; the name is then a C
        // string owned by the loader.
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

    /// Runs when the library is unloaded. At the end of the process, where other threads may still be running in the
    /// library, there is nothing to do: the system frees the memory.
    extern "C" fn unload() {
        if PROCESS_ENDS.load(Ordering::Acquire) {
            return;
        }
        crate::runtime::shutdown();
        // The host guarantees that no thread is or will be inside the library it unloads. The values of other threads
        // are therefore dropped here, while their code is still loaded.
        let (key, mut thread) = {
            let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
            (state.key.take(), std::mem::replace(&mut state.threads, ptr::null_mut()))
        };
        // SAFETY: the chain was taken out of the state, so this is the only owner of each list; without the key no
        // ending thread looks up its list.
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

/// On Windows, a library that has been used stays loaded: its threads run in it, and the standard library drops thread-local
/// values of ending threads there.
#[cfg(windows)]
mod windows {
    use rushlight_base::image;
    use std::ffi::c_void;

    fn here() -> *const c_void {
        let here: fn() -> *const c_void = here;
        here as *const c_void
    }

    pub(in crate::support) fn watch_for_exit() {
        image::keep_loaded(here());
    }

    /// Whether this code is in the shipped shared library (and not linked into a program or another library).
    pub(in crate::support) fn is_shared_library() -> bool {
        image::file_of(here()).is_some_and(|file| file.file_name().is_some_and(|name| name == "rushlight.dll"))
    }
}

#[cfg(windows)]
pub(super) use windows::{is_shared_library, watch_for_exit};

/// On other systems, used libraries stay loaded.
#[cfg(not(any(target_os = "linux", windows)))]
pub(super) fn watch_for_exit() {}

/// On other systems, nothing is assumed.
#[cfg(not(any(target_os = "linux", windows)))]
pub(super) fn is_shared_library() -> bool {
    false
}
