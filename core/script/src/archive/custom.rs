//! Objects of classes that are not written in TorchScript, from the state in a file.

use crate::classes;
use crate::runtime::convert::to_operator;
use crate::runtime::value::Value;
use rushlight_base::Result;
use rushlight_tensor::dispatch;

/// The content of an object of a class that this library has no functions for: the state in the file. Programs can pass
/// the object on, not call it.
pub struct State(pub Value);

/// The object of a class, from what `__getstate__` returned when the file was written.
pub(crate) fn restore(class: &str, state: Value) -> Result<Value> {
    if let Some(object) = classes::restore(class, &state)? {
        return Ok(Value::Custom(object));
    }
    if let Ok(known) = to_operator(&state)
        && let Some(object) = dispatch::Object::restore(class, known)?
    {
        return Ok(Value::Custom(object));
    }
    Ok(Value::Custom(dispatch::Object::new(class, State(state))?))
}
