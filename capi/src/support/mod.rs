//! What every C function is made of: the guard around its body, the checks of its arguments, the slots of
//! its outputs, and the handles that own what crosses the border.
//!
//! Hand-written functions (`crate::core`, `crate::tensor`, ...) and generated ones (`crate::ops`) use nothing
//! else. `unload` and `panics` keep the promise that the library prints nothing and leaves nothing behind.

pub mod arg;
pub mod callback;
mod guard;
pub mod handle;
pub mod last_error;
pub mod out;
mod panics;
pub mod sized;
mod unload;
pub mod value;
mod watch;

pub use guard::{guard, guard_free};
pub(crate) use panics::restore_hook;
