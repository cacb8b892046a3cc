//! The typed functions of the operator table by their types. Forms of the same type share a variant, and with it the code
//! that unpacks boxed arguments for them; `capi` and `bindings/jni` share theirs in the same way.
//!
//! The build script writes the classes, as lists of kinds; the macros here make the code of them.

#![allow(clippy::type_complexity, reason = "the types are those of the operators")]

use super::boxed::{Args, Values};
use super::value::Value;
#[allow(unused_imports, reason = "small builds leave out the classes that need it")]
use crate::Generator;
use crate::{Options, Tensor};
#[allow(unused_imports, reason = "small builds leave out the classes that need it")]
use rushlight_base::Layout;
use rushlight_base::{DType, Device, DimVec, MemoryFormat, Result, Scalar};

/// The argument of a kind at a place of the schema, as the typed function takes it. A list has its place on the stack.
macro_rules! unboxed {
    ($args:ident $at:expr, [TensorList]) => {
        &$args.tensors($at)?
    };
    ($args:ident $at:expr, [TensorOptionalList]) => {
        &$args.tensors_opt($at)?
    };
    ($args:ident $at:expr, [ScalarList]) => {
        &$args.scalars($at)?
    };
    ($args:ident $at:expr, [IntList]) => {
        &$args.ints($at)?
    };
    ($args:ident $at:expr, [IntListOptional]) => {
        $args.ints_opt($at)?.as_deref()
    };
    ($args:ident $at:expr, [FloatList]) => {
        &$args.floats($at)?
    };
    ($args:ident $at:expr, [FloatListOptional]) => {
        $args.floats_opt($at)?.as_deref()
    };
    ($args:ident $at:expr, [BoolList]) => {
        &$args.bools($at)?
    };
    ($args:ident $at:expr, Options) => {
        $args.options($at)?
    };
    ($args:ident $at:expr, Tensor) => {
        $args.tensor($at)?
    };
    ($args:ident $at:expr, Scalar) => {
        $args.scalar($at)?
    };
    ($args:ident $at:expr, $kind:ident) => {
        $args.get($at)?
    };
}

/// The call with the arguments of these kinds.
macro_rules! invoked {
    ($call:ident $args:ident $results:ident $at:expr, (Options $($kind:tt)*) ($($value:tt)*)) => {
        invoked!($call $args $results $at + 4, ($($kind)*) ($($value)* unboxed!($args $at, Options),))
    };
    ($call:ident $args:ident $results:ident $at:expr, ($first:tt $($kind:tt)*) ($($value:tt)*)) => {
        invoked!($call $args $results $at + 1, ($($kind)*) ($($value)* unboxed!($args $at, $first),))
    };
    ($call:ident $args:ident $results:ident $at:expr, () ($($value:tt)*)) => { $call($($value)*).map(|result| $results.put(result)) };
}

/// The same, in a function of its own if there is a list: other calls should not pay for its place on the stack.
macro_rules! arm {
    ($call:ident $args:ident $results:ident $kinds:tt []) => { invoked!($call $args $results 0, $kinds ()) };
    ($call:ident $args:ident $results:ident $kinds:tt [[$list:ident] $($kind:tt)*]) => { outlined(|| invoked!($call $args $results 0, $kinds ())) };
    ($call:ident $args:ident $results:ident $kinds:tt [$first:ident $($kind:tt)*]) => { arm!($call $args $results $kinds [$($kind)*]) };
}

/// Calls `body` with a stack frame of its own.
#[inline(never)]
fn outlined(body: impl FnOnce() -> Result<()>) -> Result<()> {
    body()
}

macro_rules! calls {
    ($($(#[$meta:meta])* $name:ident($($kind:tt)*): $function:ty;)*) => {
        /// A typed function of an operator. The variant names its class: the types of its parameters and results.
        #[derive(Clone, Copy)]
        #[allow(missing_docs, reason = "a variant is named after the type that it holds")]
        #[allow(dead_code, reason = "small builds leave rows out")]
        pub enum Call { $($(#[$meta])* $name($function),)* }

        impl Call {
            /// Calls the function and appends what it returns to `results`.
            pub fn invoke(self, args: Args<'_>, results: &mut Values) -> Result<()> {
                match self { $($(#[$meta])* Call::$name(call) => arm!(call args results ($($kind)*) [$($kind)*]),)* }
            }
        }
    };
}

include!(concat!(env!("OUT_DIR"), "/call.rs"));
