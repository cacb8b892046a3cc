//! Functions of each element.

use super::numbers::{Step, limits};
use super::views::call;
use super::{Quantized, first, one, quantized};
use crate::dispatch::{Args, Value};
use crate::ops;
use rushlight_base::{DType, Result, Scalar, bail};

/// The arguments with floats for every quantized tensor.
fn as_numbers(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let mut values = args.0.to_vec();
    for value in &mut values {
        value.try_for_each_tensor_mut(&mut |tensor| {
            if tensor.is_quantized() {
                *tensor = Quantized::of(name, tensor)?.numbers()?;
            }
            Ok(())
        })?;
    }
    Ok(values)
}

/// The operator on floats.
pub(super) fn on_numbers(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    call(name, &as_numbers(name, args)?)
}

/// The operator on floats; the result has the quantizer of the first argument.
pub(super) fn through_numbers(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    let (scale, zero_point) = input.affine(name)?;
    match on_numbers(name, args)?.first() {
        Some(Value::Tensor(result)) => one(quantized(result, scale, zero_point, input.dtype)?),
        _ => bail!(Internal, "{name} returns no tensor"),
    }
}

/// `relu`: the integers from the zero point on
pub(super) fn relu(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    limited(name, &first(name, args)?, Some(0.0), None)
}

/// `relu6`
pub(super) fn relu6(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    limited(name, &first(name, args)?, Some(0.0), Some(6.0))
}

/// `clamp`, `hardtanh`
pub(super) fn clamp(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let limit = |index: usize| -> Result<Option<f64>> { Ok(args.scalar_opt(index)?.map(Scalar::to_f64)) };
    let (low, high) = (limit(1)?, limit(2)?);
    if low.is_none() && high.is_none() {
        bail!(Runtime, "Both min and max are None");
    }
    limited(name, &first(name, args)?, low, high)
}

/// The elements limited to a range: the integers of its ends limit the integers.
pub(super) fn limited(name: &str, input: &Quantized, low: Option<f64>, high: Option<f64>) -> Result<Vec<Value>> {
    let (scale, zero_point) = input.affine(name)?;
    let step = Step::new(scale, zero_point, input.dtype);
    let of = |limit: Option<f64>| limit.map(|limit| Scalar::Int(i64::from(step.of(limit as f32))));
    let (least, most) = limits(input.dtype);
    let (low, high) = (of(low).unwrap_or(Scalar::Int(least.into())), of(high).unwrap_or(Scalar::Int(most.into())));
    one(input.with(&ops::clamp(&input.integers, Some(low), Some(high))?)?)
}

/// Functions with a fixed range, which have a fixed quantizer.
macro_rules! of_fixed_range {
    ($($name:ident($width:literal, $is_signed:literal);)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        pub(super) fn $name(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
            let input = first(name, args)?;
            input.affine(name)?;
            let steps = if input.dtype == DType::QI32 { 4_294_967_296.0 } else { 256.0 };
            let zero_point = match (input.dtype, $is_signed) {
                (DType::QI8, false) => -128,
                (DType::QU8, true) => 128,
                _ => 0,
            };
            one(quantized(&ops::$name(&input.numbers()?)?, $width / steps, zero_point, input.dtype)?)
        }
    )*};
}

of_fixed_range! {
    sigmoid(1.0, false);
    hardsigmoid(1.0, false);
    tanh(2.0, true);
}
