//! Objects of classes that are not written in TorchScript, from the state in a file.

use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::value::Value;
use rushlight_base::{Result, bail};
use rushlight_tensor::dispatch::{self, by_name};

/// The content of an object of a class that this library has no functions for: the state in the file. Programs can pass
/// the object on, not call it.
pub struct State(pub Value);

/// The object of a class, from what `__getstate__` returned when the file was written.
pub(super) fn restore(class: &str, state: Value) -> Result<Value> {
    match class.rsplit('.').next().unwrap_or_default() {
        "LinearPackedParamsBase" => {
            let [weight, bias] = state.as_tuple()?.items() else { bail!(Io, "{class} with an unexpected state") };
            let half = !weight.as_tensor()?.dtype().is_quantized();
            let operator = if half { "quantized::linear_prepack_fp16" } else { "quantized::linear_prepack" };
            let args = vec![to_operator(weight)?, to_operator(bias)?];
            let mut results = by_name::call(operator, "", args, Vec::new())?;
            from_operator(results.0.first_mut().map(std::mem::take).unwrap_or_default())
        }
        _ => Ok(Value::Custom(dispatch::Object::new(class, State(state))?)),
    }
}
