//! Rules of recurrent layers.

use crate::dense::{Dense, Spec};
use rushlight_base::{Result, ensure};

/// Rows of all steps.
fn rows_of(batch_sizes: &[i64]) -> i64 {
    batch_sizes.iter().fold(0, |rows: i64, &size| rows.saturating_add(size))
}

/// Each tensor has one of these shapes and the dtype of the first one, and the steps do not grow.
fn check(name: &str, tensors: &[(&str, &Dense, &[i64])], batch_sizes: &[i64]) -> Result<()> {
    let dtype = tensors.first().map(|(_, tensor, _)| tensor.dtype);
    for (part, tensor, sizes) in tensors {
        ensure!(
            tensor.sizes() == *sizes && Some(tensor.dtype) == dtype && tensor.dtype.is_floating(),
            Runtime,
            "{name}: expected {part} of shape {}, and one floating-point dtype of all tensors, got {}",
            rushlight_base::format_sizes(sizes),
            tensor.describe()
        );
    }
    ensure!(
        batch_sizes.iter().all(|&size| size > 0) && batch_sizes.is_sorted_by(|size, next| size >= next),
        Runtime,
        "{name}: batch_sizes must be positive and must not grow, got {batch_sizes:?}"
    );
    Ok(())
}

/// Rows of all steps, and the shape of the states, after checks of the operands that all layers have.
#[allow(clippy::too_many_arguments)] // the operators'
fn check_layer(
    name: &str,
    gates: i64,
    input: &Dense,
    [w_ih, w_hh]: [&Dense; 2],
    [b_ih, b_hh]: [Option<&Dense>; 2],
    states: &[&Dense],
    batch_sizes: &[i64],
) -> Result<(i64, [i64; 2])> {
    let hidden = w_hh.sizes().get(1).copied().unwrap_or(0);
    let width = input.sizes().get(1).copied().unwrap_or(0);
    let rows = rows_of(batch_sizes);
    let (of_states, bias) = ([batch_sizes.first().copied().unwrap_or(0), hidden], [gates.saturating_mul(hidden)]);
    let (of_input, of_w_ih, of_w_hh) = ([rows, width], [bias[0], width], [bias[0], hidden]);
    let mut tensors: Vec<(&str, &Dense, &[i64])> =
        vec![("input", input, &of_input), ("w_ih", w_ih, &of_w_ih), ("w_hh", w_hh, &of_w_hh)];
    tensors.extend(states.iter().map(|&state| ("a state", state, &of_states[..])));
    for (part, given) in [("b_ih", b_ih), ("b_hh", b_hh)] {
        tensors.extend(given.map(|given| (part, given, &bias[..])));
    }
    check(name, &tensors, batch_sizes)?;
    ensure!(b_ih.is_some() == b_hh.is_some(), Runtime, "{name}: b_ih and b_hh must be given together");
    Ok((rows, of_states))
}

/// The outputs, the last states; with `keep` also the gates, and the states that each step began with.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn lstm_layer(
    input: &Dense,
    w_ih: &Dense,
    w_hh: &Dense,
    b_ih: Option<&Dense>,
    b_hh: Option<&Dense>,
    h: &Dense,
    c: &Dense,
    batch_sizes: &[i64],
    keep: bool,
) -> Result<[Spec; 5]> {
    let (weights, biases) = ([w_ih, w_hh], [b_ih, b_hh]);
    let (rows, states) = check_layer("_lstm_layer", 4, input, weights, biases, &[h, c], batch_sizes)?;
    let spec = |sizes: &[i64]| Spec::new(sizes, input.dtype, input.device);
    let (hidden, kept) = (states[1], if keep { rows } else { 0 });
    let (gates, before) = ([kept, 4 * hidden], [2, kept, hidden]);
    Ok([spec(&[rows, hidden]), spec(&states), spec(&states), spec(&gates), spec(&before)])
}

/// The outputs, the last states; with `keep` also the gates, and two tensors like the outputs.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn gru_layer(
    input: &Dense,
    w_ih: &Dense,
    w_hh: &Dense,
    b_ih: Option<&Dense>,
    b_hh: Option<&Dense>,
    h: &Dense,
    batch_sizes: &[i64],
    keep: bool,
) -> Result<[Spec; 4]> {
    let (weights, biases) = ([w_ih, w_hh], [b_ih, b_hh]);
    let (rows, states) = check_layer("_gru_layer", 3, input, weights, biases, &[h], batch_sizes)?;
    let spec = |sizes: &[i64]| Spec::new(sizes, input.dtype, input.device);
    let (hidden, kept) = (states[1], if keep { rows } else { 0 });
    Ok([spec(&[rows, hidden]), spec(&states), spec(&[kept, 3 * hidden]), spec(&[2, kept, hidden])])
}

/// The gradients by the sums that were activated and by the initial states.
pub fn lstm_layer_backward(
    grad: &Dense,
    grad_h: &Dense,
    grad_c: &Dense,
    w_hh: &Dense,
    gates: &Dense,
    before: &Dense,
    batch_sizes: &[i64],
) -> Result<[Spec; 3]> {
    let hidden = w_hh.sizes().get(1).copied().unwrap_or(0);
    let rows = rows_of(batch_sizes);
    let (states, outputs) = ([batch_sizes.first().copied().unwrap_or(0), hidden], [rows, hidden]);
    let together = hidden.saturating_mul(4);
    let (of_gates, of_weight) = ([rows, together], [together, hidden]);
    let tensors: [(&str, &Dense, &[i64]); 6] = [
        ("gates", gates, &of_gates),
        ("grad", grad, &outputs),
        ("grad_h", grad_h, &states),
        ("grad_c", grad_c, &states),
        ("w_hh", w_hh, &of_weight),
        ("before", before, &outputs),
    ];
    check("_lstm_layer_backward", &tensors, batch_sizes)?;
    let spec = |sizes: [i64; 2]| Spec::new(&sizes, gates.dtype, gates.device);
    Ok([spec(of_gates), spec(states), spec(states)])
}

/// The gradients by the products with the input and with the state, and by the initial states.
pub fn gru_layer_backward(
    grad: &Dense,
    grad_h: &Dense,
    w_hh: &Dense,
    gates: &Dense,
    kept: &Dense,
    batch_sizes: &[i64],
) -> Result<[Spec; 3]> {
    let hidden = w_hh.sizes().get(1).copied().unwrap_or(0);
    let rows = rows_of(batch_sizes);
    let (states, outputs) = ([batch_sizes.first().copied().unwrap_or(0), hidden], [rows, hidden]);
    let together = hidden.saturating_mul(3);
    let (of_gates, of_weight, of_kept) = ([rows, together], [together, hidden], [2, rows, hidden]);
    let tensors: [(&str, &Dense, &[i64]); 5] = [
        ("gates", gates, &of_gates),
        ("grad", grad, &outputs),
        ("grad_h", grad_h, &states),
        ("w_hh", w_hh, &of_weight),
        ("kept", kept, &of_kept),
    ];
    check("_gru_layer_backward", &tensors, batch_sizes)?;
    let spec = |sizes: [i64; 2]| Spec::new(&sizes, gates.dtype, gates.device);
    Ok([spec(of_gates), spec(of_gates), spec(states)])
}
