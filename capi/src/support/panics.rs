//! Panics inside the library are caught, not printed: a hook keeps their text and place for the guard.
//!
//! The shipped library has its own copy of the standard library, so the hook is nobody else's business there.
//! In a Rust program that links the rlib, panics outside a guard go to the hook that was there before.

use super::unload;
use rushlight_base::{Error, err};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{PanicHookInfo, set_hook, take_hook};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where the panic under way on this thread started.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

static INSTALLED: AtomicBool = AtomicBool::new(false);
static CHANGING: Mutex<()> = Mutex::new(());

/// While one of these lives, panics on this thread are not printed.
pub(super) struct Quiet;

impl Quiet {
    #[inline]
    pub(super) fn enter() -> Quiet {
        if !INSTALLED.load(Ordering::Acquire) {
            install_hook();
        }
        DEPTH.set(DEPTH.get() + 1);
        Quiet
    }
}

impl Drop for Quiet {
    #[inline]
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

#[cold]
fn install_hook() {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    if INSTALLED.load(Ordering::Relaxed) {
        return;
    }
    unload::watch_for_exit();
    let before = take_hook();
    set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if DEPTH.get() == 0 {
            before(info);
        } else if let Some(place) = info.location() {
            let text = format!("{}:{}", place.file(), place.line());
            // A panic while the slot is borrowed cannot happen; one without its place is still an error.
            let _ = PLACE.try_with(|slot| slot.try_borrow_mut().map(|mut slot| *slot = Some(text)));
        }
    }));
    INSTALLED.store(true, Ordering::Release);
}

/// Give the panic hook back to the standard library's own.
pub(crate) fn restore_hook() {
    let _changing = CHANGING.lock().unwrap_or_else(PoisonError::into_inner);
    if INSTALLED.swap(false, Ordering::AcqRel) {
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
