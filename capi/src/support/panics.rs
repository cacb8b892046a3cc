//! Panics inside the library are caught, not printed: a hook keeps their text and place for the guard.
//!
//! The shared library has a copy of the standard library to itself, so there every panic is its own. Linked
//! into a Rust program, it shares the hook with it: then the guards are counted, and a panic outside of one goes to
//! the hook that was there before.

use super::unload;
use rushlight_base::{Error, err};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where the panic under way on this thread started.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// No hook is installed.
const NONE: u8 = 0;
/// The hook is installed, and every panic that it sees is Rushlight's.
const ALONE: u8 = 1;
/// The hook is installed, and panics of others may come by.
const SHARED: u8 = 2;

static HOOK: AtomicU8 = AtomicU8::new(NONE);
static CHANGING: Mutex<()> = Mutex::new(());

/// While one of these lives, panics on this thread are not printed.
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
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    if HOOK.load(Ordering::Relaxed) != NONE {
        return;
    }
    unload::watch_for_exit();
    let kind = if unload::is_shared_library() { ALONE } else { SHARED };
    let before = take_hook();
    set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if kind == SHARED && DEPTH.get() == 0 {
            before(info);
        } else if let Some(place) = info.location() {
            let text = format!("{}:{}", place.file(), place.line());
            // A panic while the slot is borrowed cannot happen; one without its place is still an error.
            let _ = PLACE.try_with(|slot| slot.try_borrow_mut().map(|mut slot| *slot = Some(text)));
        }
    }));
    HOOK.store(kind, Ordering::Release);
}

/// Give the panic hook back to the standard library's own.
pub(crate) fn restore_hook() {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    if HOOK.swap(NONE, Ordering::AcqRel) != NONE {
        drop(take_hook());
    }
}

/// The error for a caught panic.
#[cold]
pub(super) fn to_error(function: &str, payload: Box<dyn Any + Send>) -> Error {
    let text = match payload.downcast::<String>().map_err(|payload| payload.downcast::<&'static str>()) {
        Ok(text) => *text,
        Err(Ok(text)) => (*text).to_owned(),
        Err(Err(unknown)) => {
            // Dropping it would run code that we do not know, which could panic again.
            std::mem::forget(unknown);
            "a panic without a text".to_owned()
        }
    };
    match PLACE.take() {
        Some(place) => err!(Internal, "{function}: internal error: {text} (at {place})"),
        None => err!(Internal, "{function}: internal error: {text}"),
    }
}
