//! A Rust program that links this crate shares the panic hook with it: its own hook sees its own panics, and is
//! installed again after the shutdown.

use rushlight::core::rlt_debug_panic;
use rushlight::runtime::rlt_runtime_shutdown;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::{Mutex, MutexGuard, PoisonError};

static SEEN: Mutex<Vec<&str>> = Mutex::new(Vec::new());

/// The hook belongs to the process: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(rlt_runtime_shutdown(), 0);
    drop(take_hook());
    SEEN.lock().unwrap().clear();
    alone
}

fn install(name: &'static str) {
    set_hook(Box::new(move |_| SEEN.lock().unwrap().push(name)));
}

/// The hooks that have seen a panic since the last call.
fn seen() -> Vec<&'static str> {
    std::mem::take(&mut *SEEN.lock().unwrap())
}

fn program_panics() {
    assert!(catch_unwind(|| panic!("a panic of the program")).is_err());
}

fn library_panics() {
    // SAFETY: the argument is a NUL-terminated string.
    assert_ne!(unsafe { rlt_debug_panic(c"a panic of the library".as_ptr()) }, 0);
}

/// Calls the function while the thread unwinds.
struct AtUnwinding<F: Fn()>(F);

impl<F: Fn()> Drop for AtUnwinding<F> {
    fn drop(&mut self) {
        assert!(std::thread::panicking());
        self.0();
    }
}

fn while_panicking(call: impl Fn()) {
    let panics = || {
        let _call = AtUnwinding(call);
        panic!("a panic of the program");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
}

#[test]
fn the_hook_of_the_program_is_back_after_the_shutdown() {
    let _alone = alone();
    install("program");
    for _ in 0..3 {
        library_panics();
        assert!(seen().is_empty());
        program_panics();
        assert_eq!(seen(), ["program"]);
        assert_eq!(rlt_runtime_shutdown(), 0);
        program_panics();
        assert_eq!(seen(), ["program"]);
    }
}

#[test]
fn a_hook_that_the_program_sets_later_stays() {
    let _alone = alone();
    install("first");
    library_panics();
    let before = take_hook();
    set_hook(Box::new(move |info| {
        SEEN.lock().unwrap().push("second");
        before(info);
    }));
    assert_eq!(rlt_runtime_shutdown(), 0);
    program_panics();
    assert_eq!(seen(), ["second", "first"]);
    library_panics();
    assert!(seen().is_empty());
    assert_eq!(rlt_runtime_shutdown(), 0);
    program_panics();
    assert_eq!(seen(), ["second", "first"]);
}

#[test]
fn a_thread_that_panics_may_call_and_shut_down() {
    let _alone = alone();
    install("program");
    while_panicking(|| assert_eq!(rlt_runtime_shutdown(), 0));
    assert_eq!(seen(), ["program"]);
    library_panics();
    assert!(seen().is_empty());
    while_panicking(|| assert_eq!(rlt_runtime_shutdown(), 0));
    assert_eq!(seen(), ["program"]);
    assert_eq!(rlt_runtime_shutdown(), 0);
    program_panics();
    assert_eq!(seen(), ["program"]);
}
