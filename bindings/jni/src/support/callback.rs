//! Java objects that the library calls, from any thread. `Upcalls.java` is the Java side.

use super::guard::{border, park};
use super::handle::{self, TensorHandle};
use super::values::{Encoded, Ownership, check_forms};
use jni::objects::{JBooleanArray, JClass, JLongArray, JObject, JValue};
use jni::refs::Global;
use jni::sys::jlong;
use jni::{Env, JavaVM, jni_sig, jni_str};
use rushlight_base::Result;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::Value;
use std::cell::Cell;

thread_local! {
    /// Number of upcalls on this thread: native frames below Java's, which pin a virtual thread to its carrier.
    static UPCALLS: Cell<usize> = const { Cell::new(0) };
}

/// Whether the running Java code stays on this thread, because an upcall is below it.
pub(crate) fn is_in_upcall() -> bool {
    UPCALLS.get() > 0
}

/// A running upcall.
struct Upcall;

impl Upcall {
    fn enter() -> Upcall {
        UPCALLS.set(UPCALLS.get() + 1);
        Upcall
    }
}

impl Drop for Upcall {
    fn drop(&mut self) {
        UPCALLS.set(UPCALLS.get() - 1);
    }
}

/// A hook, and the class that can call it (a foreign thread could not find the class by name).
pub(crate) struct Callback {
    upcalls: Global<JClass<'static>>,
    object: Global<JObject<'static>>,
}

impl Callback {
    /// Keeps a Java object for later calls.
    pub(crate) fn new(env: &mut Env<'_>, object: &JObject<'_>) -> Result<Callback> {
        let class = env.find_class(jni_str!("org/rushlight/internal/Upcalls")).map_err(border)?;
        Ok(Callback {
            upcalls: env.new_global_ref(class).map_err(border)?,
            object: env.new_global_ref(object).map_err(border)?,
        })
    }

    /// Runs an upcall in the JVM. Its exception is stored until the end of the native call.
    fn call<R>(&self, upcall: impl FnOnce(&mut Env<'_>) -> jni::errors::Result<R>) -> Result<R> {
        let vm = JavaVM::singleton().map_err(border)?;
        let _under_way = Upcall::enter();
        let outcome = vm.attach_current_thread(|env| -> jni::errors::Result<Result<R>> {
            Ok(match upcall(env) {
                Ok(value) => Ok(value),
                Err(_) if env.exception_check() => Err(park(env)),
                Err(error) => Err(border(error)),
            })
        });
        outcome.map_err(border)?
    }

    /// Calls a method that takes and returns nothing.
    pub(crate) fn run(&self) -> Result<()> {
        self.call(|env| {
            let (name, signature) = (jni_str!("run"), jni_sig!("(Ljava/lang/Object;)V"));
            env.call_static_method(&self.upcalls, name, signature, &[JValue::Object(self.object.as_obj())])?;
            Ok(())
        })
    }

    /// Calls with a text.
    pub(crate) fn text(&self, text: &str) -> Result<()> {
        self.call(|env| {
            let text = JObject::from(env.new_string(text)?);
            let (name, signature) = (jni_str!("text"), jni_sig!("(Ljava/lang/Object;Ljava/lang/String;)V"));
            let arguments = [JValue::Object(self.object.as_obj()), JValue::Object(&text)];
            env.call_static_method(&self.upcalls, name, signature, &arguments)?;
            env.delete_local_ref(text);
            Ok(())
        })
    }

    /// Calls a gradient hook with the gradient; returns its replacement, if there is one.
    pub(crate) fn gradient(&self, grad: Option<&Tensor>) -> Result<Option<Tensor>> {
        self.call(|env| {
            let grad = JValue::Long(grad.map_or(0, |grad| handle::give(grad.clone())));
            let (name, signature) = (jni_str!("hook"), jni_sig!("(Ljava/lang/Object;J)J"));
            let replacement =
                env.call_static_method(&self.upcalls, name, signature, &[JValue::Object(self.object.as_obj()), grad])?;
            Ok(TensorHandle::take(replacement.j()?))
        })
    }

    /// Calls with two lists of tensors and one of booleans; null stands for no result.
    pub(crate) fn tensors(
        &self,
        first: &[Option<Tensor>],
        second: &[Option<Tensor>],
        flags: &[bool],
    ) -> Result<Option<Vec<Option<Tensor>>>> {
        self.call(|env| {
            // The arrays are created before the handles: if one fails, no handle has been passed.
            let arrays = [JLongArray::new(env, first.len())?, JLongArray::new(env, second.len())?];
            let booleans = JBooleanArray::new(env, flags.len())?;
            booleans.set_region(env, 0, flags)?;
            for (array, tensors) in arrays.iter().zip([first, second]) {
                let give = |tensor: &Option<Tensor>| tensor.clone().map_or(0, handle::give);
                let handles: Vec<jlong> = tensors.iter().map(give).collect();
                array.set_region(env, 0, &handles)?;
            }
            let arguments = [
                JValue::Object(self.object.as_obj()),
                JValue::Object(&arrays[0]),
                JValue::Object(&arrays[1]),
                JValue::Object(&booleans),
            ];
            let (name, signature) = (jni_str!("tensors"), jni_sig!("(Ljava/lang/Object;[J[J[Z)[J"));
            let result = env.call_static_method(&self.upcalls, name, signature, &arguments)?.l()?;
            if result.is_null() {
                return Ok(None);
            }
            let result = env.cast_local::<JLongArray<'_>>(result)?;
            let mut handles = vec![0; result.len(env)?];
            result.get_region(env, 0, &mut handles)?;
            Ok(Some(handles.into_iter().map(TensorHandle::take).collect()))
        })
    }

    /// Calls a kernel: any values in and out.
    pub(crate) fn values(&self, arguments: &[Value]) -> Result<Vec<Value>> {
        check_forms(arguments)?;
        let results = self.call(|env| {
            let pair = Encoded::give(arguments, env)?;
            let (name, signature) =
                (jni_str!("values"), jni_sig!("(Ljava/lang/Object;[Ljava/lang/Object;)[Ljava/lang/Object;"));
            let arguments = [JValue::Object(self.object.as_obj()), JValue::Object(&pair)];
            let results = env.call_static_method(&self.upcalls, name, signature, &arguments)?.l()?;
            Encoded::from_java(env, results)
        })?;
        results.values(Ownership::Given)
    }

    /// Calls a pack hook with a tensor; returns its object.
    pub(crate) fn pack(&self, tensor: &Tensor) -> Result<Global<JObject<'static>>> {
        self.call(|env| {
            let arguments = [JValue::Object(self.object.as_obj()), JValue::Long(handle::give(tensor.clone()))];
            let (name, signature) = (jni_str!("pack"), jni_sig!("(Ljava/lang/Object;J)Ljava/lang/Object;"));
            let packed = env.call_static_method(&self.upcalls, name, signature, &arguments)?.l()?;
            env.new_global_ref(packed)
        })
    }

    /// Calls an unpack hook with the object; returns a tensor.
    pub(crate) fn unpack(&self, packed: &Global<JObject<'static>>) -> Result<Option<Tensor>> {
        self.call(|env| {
            let arguments = [JValue::Object(self.object.as_obj()), JValue::Object(packed.as_obj())];
            let (name, signature) = (jni_str!("unpack"), jni_sig!("(Ljava/lang/Object;Ljava/lang/Object;)J"));
            let tensor = env.call_static_method(&self.upcalls, name, signature, &arguments)?;
            Ok(TensorHandle::take(tensor.j()?))
        })
    }

    /// Called when a packed value is no longer needed.
    pub(crate) fn release(&self, packed: &Global<JObject<'static>>) -> Result<()> {
        self.call(|env| {
            let (name, signature) = (jni_str!("release"), jni_sig!("(Ljava/lang/Object;)V"));
            env.call_static_method(&self.upcalls, name, signature, &[JValue::Object(packed.as_obj())])?;
            Ok(())
        })
    }
}
