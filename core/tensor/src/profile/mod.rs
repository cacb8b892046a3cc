//! The profiler: an observer of calls that records what they took.
//!
//! `session` records events into a buffer for each thread, `events` makes a [`Profile`] of them, `table` and `trace` show it.
//! There is at most one session of the process, and one of each thread.

mod events;
mod session;
mod table;
mod trace;

pub use events::{Event, Input, Profile};
pub use table::{SortBy, Table};

use crate::observe::{self, Settings};
use rushlight_base::{Result, bail, ensure};
use session::Session;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

/// What a profile records besides names, times and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The shapes and dtypes of arguments.
    pub shapes: bool,
    /// The bytes of tensor memory on the CPU that calls allocate and free.
    pub memory: bool,
    /// Only calls of the thread that starts the profile, and of the threads on which its backward passes run.
    pub this_thread: bool,
    /// The bits of scopes (`Scope::bit`) that are recorded; 0: all.
    pub scopes: u32,
}

/// A session with the number of its observer.
struct Running {
    session: Arc<Session>,
    observer: u64,
}

static OF_PROCESS: Mutex<Option<Running>> = Mutex::new(None);

thread_local! {
    static OF_THREAD: RefCell<Option<Running>> = const { RefCell::new(None) };
}

/// Starts a profile, of all threads unless the options say otherwise. An error if there is one already.
pub fn start(options: Options) -> Result<()> {
    const ALREADY: &str = "the profiler is already on";
    let session = Arc::new(Session::new(options));
    let scopes = if options.scopes == 0 { u32::MAX } else { options.scopes };
    let needs = observe::Needs { inputs: options.shapes, outputs: false };
    let settings = Settings { scopes, needs, ..Settings::default() };
    if options.this_thread {
        return OF_THREAD.with_borrow_mut(|running| {
            ensure!(running.is_none(), Runtime, "{ALREADY} on this thread");
            let observer = observe::add_thread_local(session.clone(), settings)?;
            *running = Some(Running { session, observer });
            Ok(())
        });
    }
    let mut running = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    ensure!(running.is_none(), Runtime, "{ALREADY}");
    let observer = observe::add_global(session.clone(), settings)?;
    *running = Some(Running { session, observer });
    Ok(())
}

/// Stops the profile of this thread, or else that of the process, and returns what it recorded. Calls that are still running
/// end at this time. An error if there is none, or if there was not enough memory for all events.
pub fn stop() -> Result<Profile> {
    let of_process = || OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Running { session, observer }) = OF_THREAD.take().or_else(of_process) else {
        bail!(Runtime, "Can't disable profiler when it's not running")
    };
    observe::remove(observer);
    session.finish()
}

/// Whether a profile of this thread or of the process is running.
pub fn is_enabled() -> bool {
    OF_THREAD.with_borrow(Option::is_some) || OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Drops the profile of the process and that of this thread.
pub(crate) fn shutdown() {
    OF_THREAD.take();
    OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).take();
}
