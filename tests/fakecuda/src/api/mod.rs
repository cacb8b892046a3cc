//! The C functions.

mod context;
mod control;
mod device;
mod execution;
mod memory;
mod streams;

use crate::driver::code::{self, Code};
use crate::driver::{Result, current, settings, state, stream};
use std::ffi::{CStr, c_char};

pub use context::*;
pub use control::*;
pub use device::*;
pub use execution::*;
pub use memory::*;
pub use streams::*;

/// What a call needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Needs {
    /// Nothing.
    Nothing,
    /// `cuInit`.
    Init,
    /// A current context without an error that stays.
    Context,
}

/// A pointer through which a function returns a value. C callers create it.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Write the value.
    fn set(self, value: T) -> Result {
        if self.0.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: callers of a C function pass null or a pointer to a place for the value.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Write the value if there is a place for it.
    fn set_optional(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: callers of a C function pass null or a pointer to a place for the value.
            unsafe { self.0.write(value) };
        }
    }
}

/// A string from C.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(*const c_char);

impl Text {
    fn get<'a>(self) -> Result<&'a str> {
        if self.0.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: callers of a C function pass null or a string that ends with a zero and lives during the call.
        unsafe { CStr::from_ptr(self.0) }.to_str().map_err(|_| code::INVALID_VALUE)
    }
}

/// Run a call: count it, check what it needs, turn its result into a code.
fn enter(symbol: &'static str, needs: Needs, call: impl FnOnce() -> Result) -> Code {
    let failure = settings::count(symbol);
    if failure != code::SUCCESS {
        return failure;
    }
    let run = || {
        if stream::in_callback() {
            return Err(code::NOT_PERMITTED);
        }
        if needs != Needs::Nothing && !state().initialized {
            return Err(code::NOT_INITIALIZED);
        }
        if needs == Needs::Context {
            let device = current().ok_or(code::INVALID_CONTEXT)?;
            let sticky = state().device(device)?.sticky;
            if sticky != code::SUCCESS {
                return Err(sticky);
            }
        }
        call()
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(Ok(())) => code::SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => {
            settings::report(&format!("{symbol}: a mistake in the fake driver"));
            code::UNKNOWN
        }
    }
}

/// Declare C functions: what they need and what they do.
macro_rules! api {
    ($($needs:ident fn $name:ident($($arg:ident: $t:ty),* $(,)?) $body:block)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the driver API.")]
        ///
        /// # Safety
        /// Pointers must be null or valid, as the driver API says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $t),*) -> Code {
            enter(stringify!($name), Needs::$needs, move || $body)
        }
    )*};
}
use api;
