//! Java objects that the library calls back, from whatever thread.

use super::guard::{border, park};
use super::handle::{self, TensorHandle};
use jni::objects::{JClass, JObject, JValue};
use jni::refs::Global;
use jni::{Env, JavaVM, jni_sig, jni_str};
use rushlight_base::Result;
use rushlight_tensor::Tensor;

/// A hook, and the class that knows how to call it (a foreign thread could not find the class by name).
pub(crate) struct Callback {
    upcalls: Global<JClass<'static>>,
    object: Global<JObject<'static>>,
}

impl Callback {
    /// Keep a Java object for later calls.
    pub(crate) fn new(env: &mut Env<'_>, object: &JObject<'_>) -> Result<Callback> {
        let class = env.find_class(jni_str!("org/rushlight/internal/Upcalls")).map_err(border)?;
        Ok(Callback {
            upcalls: env.new_global_ref(class).map_err(border)?,
            object: env.new_global_ref(object).map_err(border)?,
        })
    }

    /// Call a gradient hook: the gradient goes in, its replacement comes out, if there is one.
    pub(crate) fn gradient(&self, grad: &Tensor) -> Result<Option<Tensor>> {
        let vm = JavaVM::singleton().map_err(border)?;
        let outcome = vm.attach_current_thread(|env| -> jni::errors::Result<Result<Option<Tensor>>> {
            let called = env.call_static_method(
                &self.upcalls,
                jni_str!("hook"),
                jni_sig!("(Ljava/lang/Object;J)J"),
                &[JValue::Object(self.object.as_obj()), JValue::Long(handle::give(grad.clone()))],
            );
            Ok(match called.and_then(|value| value.j()) {
                Ok(replacement) => Ok(TensorHandle::take(replacement)),
                Err(_) => Err(park(env)),
            })
        });
        outcome.map_err(border)?
    }
}
