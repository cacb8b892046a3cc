//! Panics inside the library are caught, not printed: a hook stores their message and location for the guard.
//!
//! The shared library has its own copy of the standard library, so every panic there is Rushlight's. Linked into a Rust
//! program, it shares the panic hook with the program: guards are then counted, and a panic outside of a guard goes to
//! the previous hook.

use super::guard::Caller;
use super::unload;
use rushlight_base::{Error, err};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::panicking;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The location of the current panic of this thread.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// No hook is installed.
const NONE: u8 = 0;
/// The hook is installed, and every panic that it receives is Rushlight's.
const ALONE: u8 = 1;
/// The hook is installed, and may also receive panics of other code.
const SHARED: u8 = 2;

static HOOK: AtomicU8 = AtomicU8::new(NONE);
static INSTALLED: Mutex<Option<Installed>> = Mutex::new(None);

/// A panic hook, as the standard library keeps it.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The data that [`restore_hook`] needs.
struct Installed {
    /// The hook that was installed before; our hook holds the other reference.
    before: Arc<Hook>,
    /// The address of our hook, which distinguishes it from a hook that the program has installed since.
    address: usize,
}

fn address_of(hook: &Hook) -> usize {
    ptr::from_ref(&**hook).addr()
}

/// While a value of this type exists, panics on this thread are not printed.
pub(super) struct Quiet {
    counted: bool,
}

impl Quiet {
    #[inline]
    pub(super) fn enter() -> Quiet {
        let hook = HOOK.load(Ordering::Acquire);
        if hook == ALONE { Quiet { counted: false } } else { Quiet::count(hook) }
    }

    #[inline(never)]
    fn count(hook: u8) -> Quiet {
        if hook == NONE {
            install_hook();
        }
        DEPTH.set(DEPTH.get() + 1);
        Quiet { counted: true }
    }
}

impl Drop for Quiet {
    #[inline]
    fn drop(&mut self) {
        if self.counted {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
}

#[cold]
fn install_hook() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    // The standard library does not allow changing the hook on a thread that is panicking; a later call installs it.
    if HOOK.load(Ordering::Relaxed) != NONE || panicking() {
        return;
    }
    unload::watch_for_exit();
    let kind = if unload::is_shared_library() { ALONE } else { SHARED };
    let before = Arc::new(take_hook());
    let hook = our_hook(kind, before.clone());
    *installed = Some(Installed { before, address: address_of(&hook) });
    set_hook(hook);
    HOOK.store(kind, Ordering::Release);
}

fn our_hook(kind: u8, before: Arc<Hook>) -> Hook {
    Box::new(move |info: &PanicHookInfo<'_>| {
        if kind == SHARED && DEPTH.get() == 0 {
            before(info);
        } else if let Some(place) = info.location() {
            let text = format!("{}:{}", place.file(), place.line());
            // A panic while the slot is borrowed cannot happen; a panic without a location is still reported.
            let _ = PLACE.try_with(|slot| slot.try_borrow_mut().map(|mut slot| *slot = Some(text)));
        }
    })
}

/// Reinstalls the panic hook that was installed before ours. A hook that the program has installed since stays. On a
/// panicking thread, where the standard library does not allow changing the hook, ours stays installed.
pub(crate) fn restore_hook() {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if panicking() {
        return;
    }
    let Some(Installed { before, address }) = installed.take() else { return };
    HOOK.store(NONE, Ordering::Release);
    let current = take_hook();
    if address_of(&current) != address {
        // The program's hook may call ours, which then passes every panic on.
        set_hook(current);
        return;
    }
    drop(current);
    if let Some(before) = Arc::into_inner(before) {
        set_hook(before);
    }
}

/// The error for a caught panic.
#[cold]
pub(super) fn to_error(function: Caller<'_>, payload: Box<dyn Any + Send>) -> Error {
    let payload = match rushlight_base::backend::missing_kernel(payload) {
        Ok(error) => return error,
        Err(payload) => payload,
    };
    let text = match payload.downcast::<String>().map_err(|payload| payload.downcast::<&'static str>()) {
        Ok(text) => *text,
        Err(Ok(text)) => (*text).to_owned(),
        Err(Err(unknown)) => {
            // Dropping it would run unknown code, which could panic again.
            std::mem::forget(unknown);
            "a panic without a message".to_owned()
        }
    };
    match PLACE.take() {
        Some(place) => err!(Internal, "{function}: internal error: {text} (at {place})"),
        None => err!(Internal, "{function}: internal error: {text}"),
    }
}
