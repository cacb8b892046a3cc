//! Re-entrant backward passes: a derivative or a hook may start another pass.

use super::modes::Modes;
use rushlight_base::thread::on_new_thread;
use rushlight_base::{Result, err};
use std::cell::Cell;
use std::panic::resume_unwind;

/// Maximum number of nested passes on one stack, independent of the stack that derivatives use. PyTorch's number.
const DEEPEST: usize = 60;

/// Bytes of the stack of a new thread: enough for `DEEPEST` passes, whatever stack size the program sets for its own
/// threads.
const STACK: usize = 2 << 20;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs a pass on this thread, or, when deeply nested, on a new thread with its own stack and the modes of this one,
/// which waits for it.
pub(super) fn run<R: Send>(pass: impl FnOnce() -> Result<R> + Send) -> Result<R> {
    let depth = DEPTH.get();
    if depth < DEEPEST {
        let _depth = Depth::set(depth + 1);
        return pass();
    }
    let modes = Modes::here();
    let on_its_own = move || {
        let _modes = modes.put_in_force();
        run(pass)
    };
    let ended = on_new_thread("rushlight-backward", STACK, on_its_own);
    let ended = ended.map_err(|error| err!(OutOfMemory, "no thread for a backward pass: {error}"))?;
    ended.unwrap_or_else(|panic| resume_unwind(panic))
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
