//! The parts of every C function: the guard around its body, the checks of its arguments, the slots of its outputs, and
//! the handles that own values on the C side.
//!
//! Hand-written functions (`crate::core`, `crate::tensor`, ...) and generated ones (`crate::ops`) use only this module.
//! `unload` and `panics` ensure that the library prints nothing and leaves nothing behind.

pub mod arg;
pub mod callback;
pub mod calls;
mod guard;
pub mod handle;
pub mod last_error;
mod load;
pub mod name;
pub mod out;
mod panics;
pub mod sized;
mod unload;
pub mod value;
mod watch;

pub use guard::{guard, guard_free, guard_op};
pub(crate) use panics::restore_hook;
