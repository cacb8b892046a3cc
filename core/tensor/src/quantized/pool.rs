//! Pooling, means and resizing.

use super::numbers::{floats, integers_of, is_byte, limits};
use super::views::call;
use super::{Quantized, first, one};
use crate::dispatch::{Args, Value};
use crate::ops;
use rushlight_base::{DType, Result, Scalar, bail, list};

/// The operator on the integers as floats, which hold those of 8 bits, or doubles, which hold all.
fn exact(name: &str, input: &Quantized, args: &Args<'_>) -> Result<Vec<Value>> {
    let mut values = args.0.to_vec();
    let wide = if is_byte(input.dtype) { DType::F32 } else { DType::F64 };
    values[0] = ops::to_dtype(&input.integers, wide, false, false, None)?.into();
    let results = call(name, &values)?;
    let Some(Value::Tensor(result)) = results.first() else { bail!(Internal, "{name} returns no tensor") };
    one(input.with(&ops::to_dtype(result, input.dtype.to_integer(), false, false, None)?)?)
}

/// `max_pool2d` and similar: maxima of integers
pub(super) fn maximum(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    input.affine(name)?;
    exact(name, &input, args)
}

/// `quantized_max_pool2d`: PyTorch's other name
pub(super) fn quantized_maximum(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    maximum(name.strip_prefix("quantized_").unwrap_or(name), args)
}

/// Means of the distances from the zero point, in single precision, rounded to even. Sums of integers are exact there.
pub(super) fn mean(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    let (_, zero_point) = input.affine(name)?;
    let mut values = args.0.to_vec();
    let integers = ops::to_dtype(&input.integers, DType::F32, false, false, None)?;
    values[0] = ops::sub_scalar(&integers, Scalar::Int(zero_point), Scalar::Int(1))?.into();
    if name.starts_with("mean") {
        for value in &mut values {
            // The dtype of the result is that of the input.
            if let Value::DType(dtype) = value {
                if *dtype != input.dtype {
                    bail!(Runtime, "mean of a tensor of {} has that dtype, not {dtype}", input.dtype);
                }
                *value = Value::None;
            }
        }
    }
    let results = call(name, &values)?;
    let Some(Value::Tensor(result)) = results.first() else { bail!(Internal, "{name} returns no tensor") };
    let (low, high) = limits(input.dtype);
    let round = |value: &f32| {
        let steps = f64::from(value.round_ties_even()) + zero_point as f64;
        steps.clamp(f64::from(low), f64::from(high)) as i32
    };
    let steps: Vec<i32> = list::collect(floats(result)?.iter().map(round))?;
    one(input.with(&integers_of(&steps, &result.sizes(), input.dtype)?)?)
}
