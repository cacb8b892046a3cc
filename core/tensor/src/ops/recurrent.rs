//! Kernels of recurrent layers.

use super::access::{array, array_as, copy_into};
use super::norm::numbers;
use crate::dense::{Dense, Spec};
use rushlight_base::{Result, Scalar};
use rushlight_cpu::gemm::gemm;
use rushlight_cpu::recurrent::{Steps, gru, lstm};
use rushlight_cpu::{Loop, arithmetic};
use std::borrow::Cow;

/// out0 = the outputs; out1, out2 = the last states; with `keep`, out3 = the activated gates, out4 = the hidden and the
/// cell states that each step began with
#[allow(clippy::too_many_arguments)] // the operator's
pub fn lstm_layer(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    out3: &Dense,
    out4: &Dense,
    input: &Dense,
    w_ih: &Dense,
    w_hh: &Dense,
    b_ih: Option<&Dense>,
    b_hh: Option<&Dense>,
    h: &Dense,
    c: &Dense,
    batch_sizes: &[i64],
    reverse: bool,
    keep: bool,
) -> Result<()> {
    let gates = products(keep.then_some(out3), input, w_ih, bias_of(b_ih, b_hh)?.as_deref())?;
    copy_into(out1, h)?;
    copy_into(out2, c)?;
    let weight = numbers(w_hh, w_hh.dtype)?;
    let before = array(out4);
    let before = if keep { Some([before.select(0)?, before.select(1)?]) } else { None };
    let layer = lstm::Layer {
        gates: array(&gates),
        output: array(out0),
        states: [array(out1), array(out2)],
        before,
        weight: array(&weight),
    };
    lstm::forward(&layer, Steps { sizes: batch_sizes, reversed: reverse })
}

/// W x + b for all rows of the input, in `to` or in new memory.
fn products<'a>(to: Option<&'a Dense>, input: &Dense, weight: &Dense, bias: Option<&Dense>) -> Result<Cow<'a, Dense>> {
    let sizes = [input.sizes()[0], weight.sizes()[0]];
    let out = match to {
        Some(to) => Cow::Borrowed(to),
        None => Cow::Owned(Spec::new(&sizes, input.dtype, input.device).allocate()?),
    };
    let bias = bias.map(|bias| array_as(bias, &sizes, &[0, 1]));
    let (turned, strides) = ([weight.sizes()[1], weight.sizes()[0]], [weight.strides()[1], weight.strides()[0]]);
    let (one, turned) = (Scalar::Int(1), array_as(weight, &turned, &strides));
    gemm(&array(&out), &array(input), &turned, bias.as_ref().map(|bias| (bias, one)), one)?;
    Ok(out)
}

/// The sum of both biases, without gaps, or one of them.
fn bias_of<'a>(first: Option<&'a Dense>, second: Option<&'a Dense>) -> Result<Option<Cow<'a, Dense>>> {
    let (Some(first), Some(second)) = (first, second) else {
        return first.or(second).map(|bias| numbers(bias, bias.dtype)).transpose();
    };
    let sum = Spec::new(first.sizes(), first.dtype, first.device).allocate()?;
    arithmetic::add(&Loop::new([array(&sum), array(first), array(second)])?, Scalar::Int(1))?;
    Ok(Some(Cow::Owned(sum)))
}

/// out0 = the gradient by the sums that were activated; out1, out2 = those by the initial states
#[allow(clippy::too_many_arguments)] // the operator's
pub fn lstm_layer_backward(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    grad: &Dense,
    grad_h: &Dense,
    grad_c: &Dense,
    w_hh: &Dense,
    gates: &Dense,
    before: &Dense,
    batch_sizes: &[i64],
    reverse: bool,
) -> Result<()> {
    copy_into(out1, grad_h)?;
    copy_into(out2, grad_c)?;
    let dtype = gates.dtype;
    let (grad, weight) = (numbers(grad, dtype)?, numbers(w_hh, dtype)?);
    let (gates, before) = (numbers(gates, dtype)?, numbers(before, dtype)?);
    let gradient = lstm::Gradient {
        sums: array(out0),
        states: [array(out1), array(out2)],
        output: array(&grad),
        gates: array(&gates),
        before: array(&before),
        weight: array(&weight),
    };
    lstm::backward(&gradient, Steps { sizes: batch_sizes, reversed: reverse })
}

/// out0 = the outputs; out1 = the last states; with `keep`, out2 = the activated gates, out3 = the products of the last
/// gate with the state, and the states that each step began with
#[allow(clippy::too_many_arguments)] // the operator's
pub fn gru_layer(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    out3: &Dense,
    input: &Dense,
    w_ih: &Dense,
    w_hh: &Dense,
    b_ih: Option<&Dense>,
    b_hh: Option<&Dense>,
    h: &Dense,
    batch_sizes: &[i64],
    reverse: bool,
    keep: bool,
) -> Result<()> {
    let gates = products(keep.then_some(out2), input, w_ih, bias_of(b_ih, None)?.as_deref())?;
    copy_into(out1, h)?;
    let weight = numbers(w_hh, w_hh.dtype)?;
    let bias = bias_of(b_hh, None)?;
    let sizes = [h.sizes()[0], w_hh.sizes()[0]];
    let working = Spec::new(&sizes, input.dtype, input.device).allocate()?;
    let kept = array(out3);
    let layer = gru::Layer {
        gates: array(&gates),
        output: array(out0),
        state: array(out1),
        kept: if keep { Some([kept.select(0)?, kept.select(1)?]) } else { None },
        weight: array(&weight),
        bias: bias.as_deref().map(|bias| array_as(bias, &sizes, &[0, 1])),
        products: array(&working),
    };
    gru::forward(&layer, Steps { sizes: batch_sizes, reversed: reverse })
}

/// out0, out1 = the gradients by the products with the input and with the state; out2 = that by the initial states
#[allow(clippy::too_many_arguments)] // the operator's
pub fn gru_layer_backward(
    out0: &Dense,
    out1: &Dense,
    out2: &Dense,
    grad: &Dense,
    grad_h: &Dense,
    w_hh: &Dense,
    gates: &Dense,
    kept: &Dense,
    batch_sizes: &[i64],
    reverse: bool,
) -> Result<()> {
    copy_into(out2, grad_h)?;
    let dtype = gates.dtype;
    let (grad, weight) = (numbers(grad, dtype)?, numbers(w_hh, dtype)?);
    let (gates, kept) = (numbers(gates, dtype)?, numbers(kept, dtype)?);
    let kept = array(&kept);
    let gradient = gru::Gradient {
        sums: [array(out0), array(out1)],
        state: array(out2),
        output: array(&grad),
        gates: array(&gates),
        kept: [kept.select(0)?, kept.select(1)?],
        weight: array(&weight),
    };
    gru::backward(&gradient, Steps { sizes: batch_sizes, reversed: reverse })
}
