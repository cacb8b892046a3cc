//! The C functions of operators: what those share whose typed functions have the same type (a call class), and the macro
//! that defines one of a line.
//!
//! A class is a list of kinds, such as `Tensor [IntList] => Tensor`; the build script writes all of them, with the macros
//! `c_type`, the C type of each kind of arguments, and `slot_type`, that of each kind of results. The macros below take one
//! kind after the other from the front of the list.

#![allow(missing_docs, reason = "a function is named after the types of its parameters and results")]
#![allow(unused_parens, reason = "there may be one result, or none")]
#![allow(unused_macros, unused_imports, reason = "small builds leave families out")]

use super::name::{At, Slot};
use super::{arg, guard_op, out, value};
pub use crate::dispatch::rlt_value;
pub use crate::generator::rlt_generator;
pub use crate::tensor::{rlt_device, rlt_scalar, rlt_tensor, rlt_tensor_list, rlt_tensor_options};
use rushlight_base::{Error, err};
use rushlight_tensor::dispatch::{Call, OpDef, Value};
pub use std::ffi::c_char;

/// The argument `$x` of a kind, checked. `$at` names it in errors.
macro_rules! checked {
    (Tensor $x:ident $at:expr) => {
        arg::tensor($x, $at)?
    };
    (TensorOptional $x:ident $at:expr) => {
        arg::tensor_opt($x, $at)?
    };
    (TensorList $x:ident $len:ident $at:expr) => {
        arg::tensors($x, $len, $at)?
    };
    (TensorOptionalList $x:ident $len:ident $at:expr) => {
        arg::tensors_opt($x, $len, $at)?
    };
    (Scalar $x:ident $at:expr) => {
        arg::scalar($x, $at)?
    };
    (ScalarOptional $x:ident $at:expr) => {
        arg::scalar_opt($x, $at)?
    };
    (ScalarList $x:ident $len:ident $at:expr) => {
        arg::scalars($x, $len, $at)?
    };
    (Int $x:ident $at:expr) => {
        $x
    };
    (IntOptional $x:ident $at:expr) => {
        arg::int_opt($x)
    };
    (IntList $x:ident $len:ident $at:expr) => {
        arg::ints($x, $len, $at)?
    };
    (IntListOptional $x:ident $len:ident $at:expr) => {
        arg::ints_opt($x, $len, $at)?
    };
    (Float $x:ident $at:expr) => {
        $x
    };
    (FloatOptional $x:ident $at:expr) => {
        arg::float_opt($x)
    };
    (FloatList $x:ident $len:ident $at:expr) => {
        arg::floats($x, $len, $at)?
    };
    (FloatListOptional $x:ident $len:ident $at:expr) => {
        arg::floats_opt($x, $len, $at)?
    };
    (Bool $x:ident $at:expr) => {
        arg::bool($x)
    };
    (BoolOptional $x:ident $at:expr) => {
        arg::bool_opt($x)
    };
    (BoolList $x:ident $len:ident $at:expr) => {
        arg::bools($x, $len, $at)?
    };
    (Str $x:ident $at:expr) => {
        arg::string($x, $at)?
    };
    (StrOptional $x:ident $at:expr) => {
        arg::string_opt($x, $at)?
    };
    (DType $x:ident $at:expr) => {
        arg::dtype($x)?
    };
    (DTypeOptional $x:ident $at:expr) => {
        arg::dtype_opt($x)?
    };
    (LayoutOptional $x:ident $at:expr) => {
        arg::layout_opt($x)?
    };
    (MemoryFormat $x:ident $at:expr) => {
        arg::memory_format($x)?
    };
    (MemoryFormatOptional $x:ident $at:expr) => {
        arg::memory_format_opt($x)?
    };
    (Device $x:ident $at:expr) => {
        arg::device($x, $at)?
    };
    (DeviceOptional $x:ident $at:expr) => {
        arg::device_opt($x)?
    };
    (GeneratorOptional $x:ident $at:expr) => {
        arg::generator_opt($x, $at)?
    };
    (Options $x:ident $at:expr) => {
        arg::options($x)?
    };
}

/// What the typed function takes of a checked argument.
macro_rules! given {
    (Tensor $x:ident) => {
        &$x
    };
    (TensorOptional $x:ident) => {
        $x.as_deref()
    };
    (TensorList $x:ident) => {
        &$x.refs()
    };
    (TensorOptionalList $x:ident) => {
        &$x.refs()
    };
    (ScalarList $x:ident) => {
        &$x
    };
    (BoolList $x:ident) => {
        &$x
    };
    (GeneratorOptional $x:ident) => {
        $x.as_deref()
    };
    ($kind:ident $x:ident) => {
        $x
    };
}

/// The slot `$x` of such a result, checked.
macro_rules! slot {
    (Bool $x:ident $at:expr) => {
        out::bool($x, $at)?
    };
    (Scalar $x:ident $at:expr) => {
        out::scalar($x, $at)?
    };
    ($kind:ident $x:ident $at:expr) => {
        out::value($x, $at)?
    };
}

/// Such a result, written to its slot.
macro_rules! filled {
    (Int $x:ident $result:ident) => {
        $x.set($result)?
    };
    (Float $x:ident $result:ident) => {
        $x.set($result)?
    };
    (Bool $x:ident $result:ident) => {
        $x.set($result)?
    };
    (Scalar $x:ident $result:ident) => {
        $x.set($result)?
    };
    (DType $x:ident $result:ident) => {
        $x.set($result as i32)?
    };
    (Layout $x:ident $result:ident) => {
        $x.set($result as i32)?
    };
    (MemoryFormat $x:ident $result:ident) => {
        $x.set($result as i32)?
    };
    (Device $x:ident $result:ident) => {
        $x.set(rlt_device::from($result))?
    };
    ($kind:ident $x:ident $result:ident) => {
        $x.set(value::write(Value::from($result)))?
    };
}

/// How many arguments of the schema an argument of the kind stands for.
macro_rules! width {
    (Options) => {
        4
    };
    ($kind:ident) => {
        1
    };
}

/// The functions of the classes. Each checks the pointers in order, calls the typed function of the row, and fills the slots of
/// the results. The row is the last parameter, so that the C functions leave the others in their registers.
macro_rules! classes {
    ($($(#[$meta:meta])* $name:ident($($kind:tt)*) -> ($($result:tt)*);)*) => {
        $(class! { @kinds op 0, [$($kind)*] [$($result)*] [$(#[$meta])* $name] () () () })*
    };
}

macro_rules! class {
    (@kinds $op:ident $at:expr, [[$kind:ident] $($kinds:tt)*] $results:tt $head:tt ($($parameter:tt)*) ($($check:tt)*) ($($given:tt)*)) => {
        class! {
            @kinds $op $at + 1, [$($kinds)*] $results $head ($($parameter)* x: c_type!($kind), len: i64,)
            ($($check)* let x = checked!($kind x len At($op, $at));) ($($given)* given!($kind x),)
        }
    };
    (@kinds $op:ident $at:expr, [$kind:ident $($kinds:tt)*] $results:tt $head:tt ($($parameter:tt)*) ($($check:tt)*) ($($given:tt)*)) => {
        class! {
            @kinds $op $at + width!($kind), [$($kinds)*] $results $head ($($parameter)* x: c_type!($kind),)
            ($($check)* let x = checked!($kind x At($op, $at));) ($($given)* given!($kind x),)
        }
    };
    (@kinds $op:ident $at:expr, [] $results:tt $head:tt $parameters:tt $checks:tt $given:tt) => {
        class! { @results $op 0, $results $head $parameters $checks $given () () }
    };
    (@results $op:ident $at:expr, [[Tensor]] $head:tt ($($parameter:tt)*) ($($check:tt)*) $given:tt () ()) => {
        class! {
            @results $op $at + 1, [] $head ($($parameter)* slot: *mut *mut rlt_tensor_list,)
            ($($check)* let slot = out::tensor_list(slot, Slot($at))?;) $given (result) (slot.give(result)?;)
        }
    };
    (@results $op:ident $at:expr, [Tensor $($results:tt)*] $head:tt ($($parameter:tt)*) ($($check:tt)*) $given:tt ($($result:tt)*) ($($give:tt)*)) => {
        class! {
            @results $op $at + 1, [$($results)*] $head ($($parameter)* slot: *mut *mut rlt_tensor,)
            ($($check)* let slot = out::tensor(slot, Slot($at))?;) $given ($($result)* result) ($($give)* slot.give(result)?;)
        }
    };
    (@results $op:ident $at:expr, [$kind:ident] $head:tt ($($parameter:tt)*) ($($check:tt)*) $given:tt () ()) => {
        class! {
            @results $op $at + 1, [] $head ($($parameter)* slot: slot_type!($kind),)
            ($($check)* let slot = slot!($kind slot Slot($at));) $given (result) (filled!($kind slot result);)
        }
    };
    (@results $op:ident $at:expr, [] [$(#[$meta:meta])* $name:ident] ($($parameter:tt)*) ($($check:tt)*) ($($given:tt)*) ($($result:ident)*) ($($give:tt)*)) => {
        $(#[$meta])*
        pub unsafe fn $name($($parameter)* $op: &'static OpDef) -> i32 {
            guard_op($op, move || {
                let Call::$name(call) = $op.call else { return Err(mismatch($op)) };
                // SAFETY: C passes pointers that are valid for the call, as docs/c-abi.md asks.
                unsafe { $($check)* let ($($result),*) = call($($given)*)?; $($give)* }
                Ok(())
            })
        }
    };
}

/// Defines C functions: `rlt_tensor_neg = NEG TensorToTensor(Tensor) -> (Tensor);`, with the row and its class.
macro_rules! functions {
    ($($name:ident = $row:ident $class:ident($($kind:tt)*) -> ($($result:tt)*);)*) => {
        $(function! { [$($kind)* $($result as Slot)*] $name $row $class () () })*
    };
}

macro_rules! function {
    ([[Tensor] as Slot] $name:ident $row:ident $class:ident ($($parameter:tt)*) ($($x:tt)*)) => {
        function! { [] $name $row $class ($($parameter)* slot: *mut *mut rlt_tensor_list,) ($($x)* slot,) }
    };
    ([Tensor as Slot $($more:tt)*] $name:ident $row:ident $class:ident ($($parameter:tt)*) ($($x:tt)*)) => {
        function! { [$($more)*] $name $row $class ($($parameter)* slot: *mut *mut rlt_tensor,) ($($x)* slot,) }
    };
    ([$kind:ident as Slot] $name:ident $row:ident $class:ident ($($parameter:tt)*) ($($x:tt)*)) => {
        function! { [] $name $row $class ($($parameter)* slot: slot_type!($kind),) ($($x)* slot,) }
    };
    ([[$kind:ident] $($more:tt)*] $name:ident $row:ident $class:ident ($($parameter:tt)*) ($($x:tt)*)) => {
        function! { [$($more)*] $name $row $class ($($parameter)* x: c_type!($kind), len: i64,) ($($x)* x, len,) }
    };
    ([$kind:ident $($more:tt)*] $name:ident $row:ident $class:ident ($($parameter:tt)*) ($($x:tt)*)) => {
        function! { [$($more)*] $name $row $class ($($parameter)* x: c_type!($kind),) ($($x)* x,) }
    };
    ([] $name:ident $row:ident $class:ident ($($parameter:tt)*) ($($x:tt)*)) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($parameter)*) -> i32 {
            // SAFETY: the caller passes pointers that are valid for the call (docs/c-abi.md).
            unsafe { crate::support::calls::$class($($x)* &rushlight_tensor::ops::$row) }
        }
    };
}

pub(crate) use {function, functions};

/// The error of a row whose typed function has another type: the generated tables disagree.
#[cold]
#[allow(dead_code, reason = "a build may have no operator with a C function of its own")]
fn mismatch(op: &OpDef) -> Error {
    err!(Internal, "{} has other arguments than its C function", op.full_name())
}

include!(concat!(env!("OUT_DIR"), "/calls.rs"));
