//! Whether a result is the recorded one.

use super::record::call;
use super::value::Value;
use crate::door::{self, Door, Tensor};
use crate::host::Element;

/// Compares results with recorded ones.
pub struct Compare<'a> {
    /// The library that holds the tensors.
    pub door: &'a Door,
    /// The allowed absolute difference.
    pub absolute: f64,
}

impl Compare<'_> {
    /// Nothing if the result agrees, else the reason.
    pub fn agrees(&self, actual: &Value, expected: &Value) -> Result<(), String> {
        let equal = match (actual, expected) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => self.near(*a, *b),
            (Value::Complex(a), Value::Complex(b)) => self.near(a[0], b[0]) && self.near(a[1], b[1]),
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Device(a), Value::Device(b)) => a == b,
            (Value::Tensor(a), Value::Tensor(b)) => return self.tensors(a, b),
            (Value::List(a), Value::List(b))
            | (Value::Tuple(a), Value::Tuple(b))
            | (Value::Dict(a), Value::Dict(b)) => {
                return self.all(a, b);
            }
            // The value of the member is recorded.
            (Value::Enum(member), expected) => return self.agrees(member, expected),
            _ => false,
        };
        if equal { Ok(()) } else { Err(format!("{actual:?}, not {expected:?}")) }
    }

    fn all(&self, actual: &[Value], expected: &[Value]) -> Result<(), String> {
        if actual.len() != expected.len() {
            return Err(format!("{} elements, not {}", actual.len(), expected.len()));
        }
        let mut pairs = actual.iter().zip(expected).enumerate();
        pairs.try_for_each(|(at, (a, b))| self.agrees(a, b).map_err(|error| format!("[{at}] {error}")))
    }

    fn near(&self, actual: f64, expected: f64) -> bool {
        actual == expected
            || actual.is_nan() && expected.is_nan()
            || (actual - expected).abs() <= self.absolute.max(1e-9 * expected.abs())
    }

    fn tensors(&self, actual: &Tensor, expected: &Tensor) -> Result<(), String> {
        let (actual, expected) = (dense(self.door, actual)?, dense(self.door, expected)?);
        let ((dtype, shape, _), (wanted_dtype, wanted_shape, _)) =
            (self.door.layout(&actual)?, self.door.layout(&expected)?);
        if dtype != wanted_dtype || shape != wanted_shape {
            return Err(format!("{dtype} {shape:?}, not {wanted_dtype} {wanted_shape:?}"));
        }
        let (actual, expected) = (numbers(self.door, &actual)?, numbers(self.door, &expected)?);
        let far = actual.iter().zip(&expected).filter(|(a, b)| !self.near(**a, **b)).map(|(a, b)| (a - b).abs());
        match far.reduce(f64::max) {
            None => Ok(()),
            Some(worst) => Err(format!("differs by {worst:e}, more than {:e}", self.absolute)),
        }
    }
}

/// The tensor without gradient, with all of its elements.
fn dense(door: &Door, tensor: &Tensor) -> Result<Tensor, String> {
    let detached = convert(door, tensor, "aten::detach")?;
    if door.is_strided(&detached)? { Ok(detached) } else { convert(door, &detached, "aten::to_dense") }
}

fn convert(door: &Door, tensor: &Tensor, name: &str) -> Result<Tensor, String> {
    call(door, name, "", vec![door::Value::Tensor(tensor.clone())])
}

/// The elements in row-major order as real numbers: the parts of complex ones one after the other, quantized ones as
/// what they stand for.
pub(crate) fn numbers(door: &Door, tensor: &Tensor) -> Result<Vec<f64>, String> {
    let mut tensor = dense(door, tensor)?;
    let dtype = door.layout(&tensor)?.0;
    if dtype.is_quantized() {
        tensor = call(door, "aten::dequantize", "self", vec![door::Value::Tensor(tensor)])?;
    } else if dtype.is_complex() {
        tensor = convert(door, &convert(door, &tensor, "aten::resolve_conj")?, "aten::view_as_real")?;
    }
    let number = |element| match element {
        Element::Int(value) => value as f64,
        Element::Number(value) => value.re,
    };
    Ok(door.host(&tensor)?.elements().into_iter().map(number).collect())
}
