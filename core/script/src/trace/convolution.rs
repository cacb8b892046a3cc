//! Convolutions are recorded as `aten::_convolution`, as in the traces of PyTorch, whose tracer sees the call inside of
//! `conv2d`.

use rushlight_base::{Result, Scalar};
use rushlight_tensor::Op;
use rushlight_tensor::dispatch::{Ints, Value, by_name};

/// The call that is recorded in place of a convolution; None for other calls.
pub(super) fn recorded(op: &Op, args: &[Value]) -> Result<Option<(Op, Vec<Value>)>> {
    let Op::BuiltIn(row) = op else { return Ok(None) };
    let transposed = row.name().starts_with("conv_transpose");
    let dimensions = match row.name() {
        "conv1d" | "conv_transpose1d" => 1,
        "conv2d" | "conv_transpose2d" => 2,
        "conv3d" | "conv_transpose3d" => 3,
        "convolution" => 0,
        _ => return Ok(None),
    };
    let Some(Value::Tensor(input)) = args.first() else { return Ok(None) };
    // An input without batches gets one inside of the call: it is recorded as it is called.
    if dimensions > 0 && input.ndim() != dimensions + 2 {
        return Ok(None);
    }
    let dimensions = input.ndim().saturating_sub(2);
    let ints = |index: usize| expanded(args.get(index), dimensions);
    let value = |index: usize| args.get(index).cloned().unwrap_or_default();
    let flag = |on: bool| Value::Scalar(Scalar::Bool(on));
    let (name, new) = match (row.name(), row.overload()) {
        (_, "padding") => {
            ("_convolution_mode", vec![value(0), value(1), value(2), ints(3), value(4), ints(5), value(6)])
        }
        ("convolution", _) => {
            ("_convolution", vec![value(0), value(1), value(2), ints(3), ints(4), ints(5), value(6), ints(7), value(8)])
        }
        // input, weight, bias, stride, padding, output_padding, groups, dilation
        _ if transposed => (
            "_convolution",
            vec![value(0), value(1), value(2), ints(3), ints(4), ints(7), flag(true), ints(5), value(6)],
        ),
        // input, weight, bias, stride, padding, dilation, groups
        _ => {
            let none = Value::Ints(std::iter::repeat_n(0, dimensions).collect());
            ("_convolution", vec![value(0), value(1), value(2), ints(3), ints(4), ints(5), flag(false), none, value(6)])
        }
    };
    let mut new = new;
    if name == "_convolution" {
        // benchmark, deterministic, cudnn_enabled, allow_tf32: settings of other devices.
        new.extend([flag(false), flag(false), flag(true), flag(true)]);
    }
    Ok(Some((by_name::find(name, "")?, new)))
}

/// A list of ints with an element for each dimension.
fn expanded(value: Option<&Value>, dimensions: usize) -> Value {
    match value {
        Some(Value::Ints(ints)) if ints.len() == 1 && dimensions > 1 => {
            let repeated: Ints = std::iter::repeat_n(ints[0], dimensions).collect();
            Value::Ints(repeated)
        }
        Some(other) => other.clone(),
        None => Value::None,
    }
}
