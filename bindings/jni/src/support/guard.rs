//! The boundary to Java: errors and panics become Java exceptions, and nothing unwinds into the JVM.

use super::frame::Frame;
use super::row::row;
use jni::objects::{JObject, JThrowable, JValue};
use jni::refs::Global;
use jni::sys::{jboolean, jdouble, jint, jlong, jobject};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use rushlight_base::{Error, ErrorKind, Result, callee, err};
use rushlight_tensor::dispatch::OpDef;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The exception that a Java callback threw below the current call: it is rethrown where the call ends.
    static PARKED: RefCell<Option<Global<JThrowable<'static>>>> = const { RefCell::new(None) };
}

/// A return type of native methods, with its value if there is an exception.
pub trait Returned {
    /// Java ignores the value.
    fn nothing() -> Self;
}

impl Returned for () {
    fn nothing() {}
}

impl Returned for jboolean {
    fn nothing() -> jboolean {
        false
    }
}

impl Returned for jint {
    fn nothing() -> jint {
        0
    }
}

impl Returned for jlong {
    fn nothing() -> jlong {
        0
    }
}

impl Returned for jdouble {
    fn nothing() -> jdouble {
        0.0
    }
}

impl Returned for jobject {
    fn nothing() -> jobject {
        std::ptr::null_mut()
    }
}

/// Runs the body of a native method. An error or a panic becomes the Java exception of its kind.
#[inline]
pub fn guard<T: Returned>(env: EnvUnowned<'_>, mut body: impl FnMut(&mut Frame<'_>) -> Result<T>) -> T {
    let mut returned = T::nothing();
    let mut body = |frame: &mut Frame<'_>| {
        returned = body(frame)?;
        Ok(())
    };
    guarded(env, Body::new(&mut body));
    returned
}

/// [`guard`] for the native method of a call class, with the row at the place that Java passes.
#[inline]
pub fn guard_op<T: Returned>(
    env: EnvUnowned<'_>,
    place: jint,
    mut body: impl FnMut(&'static OpDef, &mut Frame<'_>) -> Result<T>,
) -> T {
    let mut returned = T::nothing();
    let mut body = |op: &'static OpDef, frame: &mut Frame<'_>| {
        returned = body(op, frame)?;
        Ok(())
    };
    guarded_op(env, place, OpBody::new(&mut body));
    returned
}

callee! {
    /// The body of a native method.
    struct Body: fn(frame: &mut Frame<'_>) -> Result<()>;
}

callee! {
    /// The body of the native method of a call class, by whose name the machine code of operators is counted.
    struct OpBody: fn(op: &'static OpDef, frame: &mut Frame<'_>) -> Result<()>;
}

/// `catch_unwind` for hand-written methods, outlined: a copy in each method would dominate the size of the glue.
#[inline(never)]
fn guarded(env: EnvUnowned<'_>, mut body: Body) {
    caught(env, |frame| body.call(frame));
}

/// The same for call classes.
#[inline(never)]
fn guarded_op(env: EnvUnowned<'_>, place: jint, mut body: OpBody) {
    caught(env, |frame| body.call(row(place)?, frame));
}

#[inline(always)]
fn caught(env: EnvUnowned<'_>, mut body: impl FnMut(&mut Frame<'_>) -> Result<()>) {
    let mut frame = Frame::new(env);
    match catch_unwind(AssertUnwindSafe(|| body(&mut frame))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => raise(frame.env(), &error),
        Err(panic) => {
            let error = rushlight_base::backend::missing_kernel(panic).unwrap_or_else(|panic| of_panic(&*panic));
            raise(frame.env(), &error);
        }
    }
}

#[cold]
fn of_panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown panic".to_owned());
    err!(Internal, "internal error: {text}")
}

/// Makes the exception of an error pending, unless one is already pending (its cause).
#[cold]
fn raise(env: &mut Env<'_>, error: &Error) {
    if env.exception_check() {
        return;
    }
    if error.kind() == ErrorKind::Callback
        && let Some(parked) = PARKED.take()
        && matches!(env.throw(&parked), Ok(()) | Err(jni::errors::Error::JavaException))
    {
        return;
    }
    // If this fails, the JVM has made its own exception pending (out of memory, or a broken jar).
    let _ = make_exception(env, error).and_then(|exception| env.throw(&exception));
}

fn make_exception<'l>(env: &mut Env<'l>, error: &Error) -> jni::errors::Result<JThrowable<'l>> {
    let message = JObject::from(env.new_string(error.message())?);
    let class = env.find_class(jni_str!("org/rushlight/RushlightException"))?;
    let made = env
        .call_static_method(
            &class,
            jni_str!("of"),
            jni_sig!("(ILjava/lang/String;)Ljava/lang/RuntimeException;"),
            &[JValue::Int(error.kind().code()), JValue::Object(&message)],
        )?
        .l()?;
    env.cast_local::<JThrowable<'_>>(made)
}

/// The error of a call into the JVM. A pending exception stays pending, and takes precedence in [`raise`].
#[cold]
pub(crate) fn border(error: jni::errors::Error) -> Error {
    err!(Internal, "call into the JVM: {error}")
}

/// A Java callback threw: stores its exception until the end of this thread's call, and continues with an error.
#[cold]
pub(crate) fn park(env: &mut Env<'_>) -> Error {
    let Some(exception) = env.exception_occurred() else {
        return err!(Callback, "a Java callback failed");
    };
    env.exception_clear();
    let text = env
        .call_method(&exception, jni_str!("toString"), jni_sig!("()Ljava/lang/String;"), &[])
        .and_then(|text| text.l())
        .and_then(|text| env.cast_local::<jni::objects::JString<'_>>(text))
        .and_then(|text| text.try_to_string(env));
    if env.exception_check() {
        env.exception_clear();
    }
    if let Ok(global) = env.new_global_ref(exception) {
        PARKED.set(Some(global));
    }
    err!(Callback, "a Java callback threw {}", text.as_deref().unwrap_or("an exception"))
}
