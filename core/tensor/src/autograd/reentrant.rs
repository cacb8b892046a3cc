//! Backward passes within backward passes: a derivative or a hook may start one, in which another starts one.

use super::modes::Modes;
use rushlight_base::{Result, err};
use std::cell::Cell;
use std::panic::resume_unwind;
use std::thread;

/// Passes within passes that one stack has room for, whatever the derivatives put there. PyTorch's number.
const DEEPEST: usize = 60;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Run a pass on this thread, or, deep within other passes, on a new one with a stack of its own, in the modes of this
/// one, which waits for it.
pub(super) fn run<R: Send>(pass: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let depth = DEPTH.get();
    if depth < DEEPEST {
        let _depth = Depth::set(depth + 1);
        return pass();
    }
    let modes = Modes::here();
    thread::scope(|scope| {
        let on_its_own = move || {
            let _modes = modes.put_in_force();
            run(pass)
        };
        let thread = thread::Builder::new().name("rushlight-backward".into()).spawn_scoped(scope, on_its_own);
        let thread = thread.map_err(|error| err!(OutOfMemory, "no thread for a backward pass: {error}"))?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Counts a pass while it lives, also if the pass panics.
struct Depth(usize);

impl Depth {
    fn set(depth: usize) -> Depth {
        Depth(DEPTH.replace(depth))
    }
}

impl Drop for Depth {
    fn drop(&mut self) {
        DEPTH.set(self.0);
    }
}
