//! The native methods of the operators, one for each call class: a class is a list of kinds, such as
//! `Tensor [IntList]`, and the macros below take one kind after the other from its front.
//!
//! Java passes the place of the operator's row in the table first. The shim turns the arguments into what the typed functions
//! of the class take, and calls that of the row. The handle types carry the safety promises, so that no shim is unsafe.

/// How JNI passes an argument of each kind: the parameters, the statement that gets a value which the argument borrows from,
/// and the argument of the typed function. `$at` names it in errors; the result goes back to `shim`.
macro_rules! passed {
    ($next:tt $frame:ident $at:expr, Tensor) => {
        shim! { @with $next (x: TensorHandle,) (let x = x.get($at)?;) (&x,) }
    };
    ($next:tt $frame:ident $at:expr, TensorOptional) => {
        shim! { @with $next (x: TensorHandle,) (let x = x.optional();) (x.as_deref(),) }
    };
    ($next:tt $frame:ident $at:expr, TensorList) => {
        shim! { @with $next (x: JLongs<'l>,) (let x = $frame.tensors(&x, $at)?;) (&x.refs(),) }
    };
    ($next:tt $frame:ident $at:expr, TensorOptionalList) => {
        shim! { @with $next (x: JLongs<'l>,) (let x = $frame.optional_tensors(&x)?;) (&x.optional_refs(),) }
    };
    ($next:tt $frame:ident $at:expr, Scalar) => {
        shim! { @with $next (tag: jint, bits: jlong, imag: jdouble,) () (scalar(tag, bits, imag)?,) }
    };
    ($next:tt $frame:ident $at:expr, ScalarOptional) => {
        shim! { @with $next (tag: jint, bits: jlong, imag: jdouble,) () (optional_scalar(tag, bits, imag)?,) }
    };
    ($next:tt $frame:ident $at:expr, ScalarList) => {
        shim! { @with $next (tags: JInts<'l>, bits: JLongs<'l>, imags: JDoubles<'l>,) (let x = $frame.scalars(&tags, &bits, &imags, $at)?;) (&x,) }
    };
    ($next:tt $frame:ident $at:expr, Int) => {
        shim! { @with $next (x: jlong,) () (x,) }
    };
    ($next:tt $frame:ident $at:expr, IntOptional) => {
        shim! { @with $next (has: jboolean, x: jlong,) () (optional(has, x),) }
    };
    ($next:tt $frame:ident $at:expr, IntList) => {
        shim! { @with $next (x: JLongs<'l>,) (let x = $frame.longs(&x, $at)?;) (&x,) }
    };
    ($next:tt $frame:ident $at:expr, IntListOptional) => {
        shim! { @with $next (x: JLongs<'l>,) (let x = $frame.optional_longs(&x)?;) (x.as_deref(),) }
    };
    ($next:tt $frame:ident $at:expr, Float) => {
        shim! { @with $next (x: jdouble,) () (x,) }
    };
    ($next:tt $frame:ident $at:expr, FloatOptional) => {
        shim! { @with $next (has: jboolean, x: jdouble,) () (optional(has, x),) }
    };
    ($next:tt $frame:ident $at:expr, FloatList) => {
        shim! { @with $next (x: JDoubles<'l>,) (let x = $frame.doubles(&x, $at)?;) (&x,) }
    };
    ($next:tt $frame:ident $at:expr, FloatListOptional) => {
        shim! { @with $next (x: JDoubles<'l>,) (let x = $frame.optional_doubles(&x)?;) (x.as_deref(),) }
    };
    ($next:tt $frame:ident $at:expr, Bool) => {
        shim! { @with $next (x: jboolean,) () (flag(x),) }
    };
    ($next:tt $frame:ident $at:expr, BoolOptional) => {
        shim! { @with $next (x: jint,) () (optional_flag(x),) }
    };
    ($next:tt $frame:ident $at:expr, BoolList) => {
        shim! { @with $next (x: JBooleans<'l>,) (let x = $frame.booleans(&x, $at)?;) (&x,) }
    };
    ($next:tt $frame:ident $at:expr, Str) => {
        shim! { @with $next (x: JString<'l>,) (let x = $frame.string(&x, $at)?;) (&x,) }
    };
    ($next:tt $frame:ident $at:expr, StrOptional) => {
        shim! { @with $next (x: JString<'l>,) (let x = $frame.optional_string(&x)?;) (x.as_deref(),) }
    };
    ($next:tt $frame:ident $at:expr, DType) => {
        shim! { @with $next (x: jint,) () (dtype(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, DTypeOptional) => {
        shim! { @with $next (x: jint,) () (optional_dtype(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, LayoutOptional) => {
        shim! { @with $next (x: jint,) () (optional_layout(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, MemoryFormat) => {
        shim! { @with $next (x: jint,) () (memory_format(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, MemoryFormatOptional) => {
        shim! { @with $next (x: jint,) () (optional_memory_format(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, Device) => {
        shim! { @with $next (x: jint,) () (device(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, DeviceOptional) => {
        shim! { @with $next (x: jint,) () (optional_device(x)?,) }
    };
    ($next:tt $frame:ident $at:expr, GeneratorOptional) => {
        shim! { @with $next (x: GeneratorHandle,) (let x = x.optional();) (x.as_deref(),) }
    };
    ($next:tt $frame:ident $at:expr, Options) => {
        shim! { @with $next (x: jlong,) () (options(x)?,) }
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

/// `Java_org_rushlight_internal_Native_tensorToTensor = TensorToTensor(Tensor) -> (Tensor);` for each class.
macro_rules! shims {
    ($($(#[$meta:meta])* $method:ident = $class:ident($($kind:tt)*) -> ($($result:tt)*);)*) => {
        $(shim! { @kinds op frame 0, [$($kind)*] [$($result)*] [$(#[$meta])* $method $class] () () () })*
    };
}

macro_rules! shim {
    (@kinds $op:ident $frame:ident $at:expr, [[$kind:ident] $($kinds:tt)*] $($state:tt)*) => {
        shim! { @kinds $op $frame $at, [$kind $($kinds)*] $($state)* }
    };
    (@kinds $op:ident $frame:ident $at:expr, [$kind:ident $($kinds:tt)*] $($state:tt)*) => {
        passed! { [$op $frame $at + width!($kind), [$($kinds)*] $($state)*] $frame ($op, $at), $kind }
    };
    (@with [$op:ident $frame:ident $at:expr, $kinds:tt $results:tt $head:tt ($($parameter:tt)*) ($($line:tt)*) ($($value:tt)*)]
        ($($new_parameter:tt)*) ($($new_line:tt)*) ($($new_value:tt)*)) => {
        shim! {
            @kinds $op $frame $at, $kinds $results $head ($($parameter)* $($new_parameter)*)
            ($($line)* $($new_line)*) ($($value)* $($new_value)*)
        }
    };
    (@kinds $op:ident $frame:ident $at:expr, [] [] $head:tt $parameters:tt $lines:tt ($($value:tt)*)) => {
        shim! { @method $op $frame $head $parameters $lines (()) (call($($value)*)) call }
    };
    (@kinds $op:ident $frame:ident $at:expr, [] [[Tensor]] $head:tt $parameters:tt $lines:tt ($($value:tt)*)) => {
        shim! { @method $op $frame $head $parameters $lines (jlongArray) ($frame.give_all(call($($value)*)?)) call }
    };
    (@kinds $op:ident $frame:ident $at:expr, [] [Tensor] $head:tt $parameters:tt $lines:tt ($($value:tt)*)) => {
        shim! { @method $op $frame $head $parameters $lines (jlong) ({ let result = call($($value)*)?; Ok($frame.give(result)) }) call }
    };
    (@kinds $op:ident $frame:ident $at:expr, [] [Tensor $($results:tt)*] $head:tt $parameters:tt $lines:tt ($($value:tt)*)) => {
        shim! { @method $op $frame $head $parameters $lines (jlongArray) ($frame.give_all(<[_; _]>::from(call($($value)*)?))) call }
    };
    (@kinds $op:ident $frame:ident $at:expr, [] [$kind:ident] $head:tt $parameters:tt $lines:tt ($($value:tt)*)) => {
        shim! { @method $op $frame $head $parameters $lines (jni::sys::jobject) ($frame.give_values(&[call($($value)*)?.into()])) call }
    };
    (@method $op:ident $frame:ident [$(#[$meta:meta])* $method:ident $class:ident] ($($parameter:tt)*) ($($line:tt)*) ($result:ty) ($end:expr) $call:ident) => {
        $(#[$meta])*
        #[unsafe(no_mangle)]
        #[allow(unused_variables, reason = "few kinds need the frame")]
        pub extern "system" fn $method<'l>(env: EnvUnowned<'l>, _class: JClass<'l>, place: jint, $($parameter)*) -> $result {
            guard_op(env, place, move |$op, $frame| {
                let Call::$class($call) = $op.call else { return Err(mismatch($op)) };
                $($line)*
                $end
            })
        }
    };
}

pub(crate) use {passed, shim, shims, width};
