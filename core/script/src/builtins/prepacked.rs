//! Layers that `optimize_for_mobile` prepared for XNNPACK: the packed parameters are what the file holds, and the layer is
//! computed by the operators that it stands for.

use super::args::Args;
use super::call;
use crate::archive::State;
use crate::runtime::value::Value;
use rushlight_base::{Result, bail};

/// The parts of the packed parameters, which are the second argument.
fn parts<'a>(args: &'a Args<'_>) -> Result<&'a [Value]> {
    if let Value::Custom(object) = args.get(1)?
        && let Some(State(Value::Tuple(parts))) = object.content::<State>()
    {
        return Ok(parts.items());
    }
    Err(args.get(1)?.is_not("packed parameters"))
}

/// The activation function: a minimum and a maximum, which may be None.
fn clamped(result: Value, low: &Value, high: &Value) -> Result<Value> {
    if low.is_none() && high.is_none() {
        return Ok(result);
    }
    call("clamp", "", &[result, low.clone(), high.clone()])
}

pub(super) fn conv2d(args: &mut Args<'_>) -> Result<Value> {
    let [weight, bias, stride, padding, dilation, groups, low, high] = parts(args)? else {
        bail!(Runtime, "prepacked::conv2d_clamp_run: the packed parameters have another number of parts than 8")
    };
    let inputs = [args.get(0)?, weight, bias, stride, padding, dilation, groups].map(Value::clone);
    clamped(call("conv2d", "", &inputs)?, low, high)
}

pub(super) fn conv2d_transpose(args: &mut Args<'_>) -> Result<Value> {
    let [weight, bias, stride, padding, output_padding, dilation, groups, low, high] = parts(args)? else {
        bail!(
            Runtime,
            "prepacked::conv2d_transpose_clamp_run: the packed parameters have another number of parts than 9"
        )
    };
    let inputs = [args.get(0)?, weight, bias, stride, padding, output_padding, groups, dilation].map(Value::clone);
    clamped(call("conv_transpose2d", "input", &inputs)?, low, high)
}

pub(super) fn linear(args: &mut Args<'_>) -> Result<Value> {
    let [weight, bias, low, high] = parts(args)? else {
        bail!(Runtime, "prepacked::linear_clamp_run: the packed parameters have another number of parts than 4")
    };
    let inputs = [args.get(0)?, weight, bias].map(Value::clone);
    clamped(call("linear", "", &inputs)?, low, high)
}
