//! The border: errors and panics become Java exceptions, and nothing unwinds into the JVM.

use super::frame::Frame;
use jni::objects::{JObject, JThrowable, JValue};
use jni::refs::Global;
use jni::sys::{jboolean, jdouble, jint, jlong, jobject};
use jni::{Env, EnvUnowned, jni_sig, jni_str};
use rushlight_base::{Error, ErrorKind, Result, callee, err};
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    /// The exception that a Java callback threw below the current call: it continues where the call ends.
    static PARKED: RefCell<Option<Global<JThrowable<'static>>>> = const { RefCell::new(None) };
}

/// What a native method can return, and what it returns beside an exception.
pub trait Returned {
    /// Java does not look at it.
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

/// Run the body of a native method. An error or a panic becomes the Java exception of its kind.
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

callee! {
    /// The whole of a native method.
    struct Body: fn(frame: &mut Frame<'_>) -> Result<()>;
}

/// The one place that catches: a copy in each of the many methods would be most of what they are.
#[inline(never)]
fn guarded(env: EnvUnowned<'_>, mut body: Body) {
    let mut frame = Frame::new(env);
    match catch_unwind(AssertUnwindSafe(|| body.call(&mut frame))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => raise(frame.env(), &error),
        Err(panic) => raise(frame.env(), &of_panic(&*panic)),
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

/// Make the exception of an error pending, unless one is pending already (it is the cause).
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
    // Should this fail, the JVM has made an exception of its own pending (out of memory, or a broken jar).
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

/// The error of a call into the JVM. What is pending there stays pending, and wins in [`raise`].
#[cold]
pub(crate) fn border(error: jni::errors::Error) -> Error {
    err!(Internal, "call into the JVM: {error}")
}

/// A Java callback threw: keep its exception for the end of this thread's call, and go on with an error.
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
