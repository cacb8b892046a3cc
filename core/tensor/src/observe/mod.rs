//! Observers of calls: they are notified when an operator, a node of backward or a range of the program begins and ends.
//! PyTorch's RecordFunction.
//!
//! `registry` has the observers, of the process and of each thread. [`OBSERVED`](crate::keys::KeySet::OBSERVED) is a key of
//! every call while there is any, so that a call without observers reads one more word; `dispatch/observed.rs` is the
//! layer of operators. The profiler (`profile`) is an observer.

mod call;
mod range;
mod registry;

pub use call::{Call, Scope, current_thread};
pub(crate) use call::{Name, qualified};
pub(crate) use range::Running;
pub use range::{Described, Range, begin};
pub(crate) use registry::{Inherited, is_any};
pub use registry::{
    Needs, Observer, Settings, add_global, add_thread_local, clear_global, clear_thread_local, has_global,
    has_thread_local, is_enabled, is_observed, needs, remove, set_enabled, set_observer_enabled, set_sampling_seed,
};

/// Removes every observer of the process, and those of this thread.
pub(crate) fn shutdown() {
    clear_global();
    clear_thread_local();
    set_enabled(true);
}
