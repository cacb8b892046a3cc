//! Derivatives of recurrent layers.

use super::super::{Expr, grad as gradients_of, is_grad_enabled};
use crate::ops;
use crate::ops::composite::recurrent::{Parts, gru_direction, lstm_direction};
use crate::tensor::Tensor;
use rushlight_base::{Error, Result, err};

/// The gradients of `_lstm_layer` by input, weights, biases and initial states, as far as they are needed. `grads` are
/// those by the outputs and the last states, `tensors` the input, both weights and the initial states, `kept` the gates
/// and the states that each step began with.
pub fn lstm_layer(
    grads: [&Expr; 3],
    tensors: [&Expr; 5],
    biases: [Option<&Expr>; 2],
    kept: [&Expr; 2],
    batch_sizes: &[i64],
    reverse: bool,
    needs: [bool; 7],
) -> [Option<Expr>; 7] {
    let computed = if is_grad_enabled() {
        let of = |tensors: &Parts| lstm_direction(tensors, batch_sizes, reverse);
        by_composition(&grads, &tensors, biases, needs, of)
    } else {
        lstm_in_one_call(grads, tensors, kept, batch_sizes, reverse, needs)
    };
    computed.unwrap_or_else(|error: Error| needs.map(|needed| needed.then(|| Expr::from(error.clone()))))
}

fn lstm_in_one_call(
    [grad, grad_h, grad_c]: [&Expr; 3],
    [input, w_ih, w_hh, _, _]: [&Expr; 5],
    [gates, before]: [&Expr; 2],
    batch_sizes: &[i64],
    reverse: bool,
    needs: [bool; 7],
) -> Result<[Option<Expr>; 7]> {
    let (sums, by_h, by_c) = ops::_lstm_layer_backward(
        grad.tensor()?,
        grad_h.tensor()?,
        grad_c.tensor()?,
        w_hh.tensor()?,
        gates.tensor()?,
        before.select_int(0, 1).tensor()?,
        batch_sizes,
        reverse,
    )?;
    let sums = Expr::from(sums);
    let by_bias = (needs[3] || needs[4]).then(|| sums.sum_dim_intlist(Some(&[0]), false, None));
    Ok([
        needs[0].then(|| sums.mm(w_ih)),
        needs[1].then(|| sums.t().mm(input)),
        needs[2].then(|| sums.t().mm(before.select_int(0, 0))),
        by_bias.clone().filter(|_| needs[3]),
        by_bias.filter(|_| needs[4]),
        needs[5].then(|| by_h.into()),
        needs[6].then(|| by_c.into()),
    ])
}

/// The gradients of `_gru_layer`, like those of [`lstm_layer`]. `kept` are the gates, and the products with the state of
/// the last of them beside the states that each step began with.
pub fn gru_layer(
    grads: [&Expr; 2],
    tensors: [&Expr; 4],
    biases: [Option<&Expr>; 2],
    kept: [&Expr; 2],
    batch_sizes: &[i64],
    reverse: bool,
    needs: [bool; 6],
) -> [Option<Expr>; 6] {
    let computed = if is_grad_enabled() {
        let of = |tensors: &Parts| gru_direction(tensors, batch_sizes, reverse);
        by_composition(&grads, &tensors, biases, needs, of)
    } else {
        gru_in_one_call(grads, tensors, kept, batch_sizes, reverse, needs)
    };
    computed.unwrap_or_else(|error: Error| needs.map(|needed| needed.then(|| Expr::from(error.clone()))))
}

fn gru_in_one_call(
    [grad, grad_h]: [&Expr; 2],
    [input, w_ih, w_hh, _]: [&Expr; 4],
    [gates, kept]: [&Expr; 2],
    batch_sizes: &[i64],
    reverse: bool,
    needs: [bool; 6],
) -> Result<[Option<Expr>; 6]> {
    let (grad, grad_h, w_hh) = (grad.tensor()?, grad_h.tensor()?, w_hh.tensor()?);
    let (of_input, of_state, by_h) =
        ops::_gru_layer_backward(grad, grad_h, w_hh, gates.tensor()?, kept.tensor()?, batch_sizes, reverse)?;
    let (of_input, of_state) = (Expr::from(of_input), Expr::from(of_state));
    Ok([
        needs[0].then(|| of_input.mm(w_ih)),
        needs[1].then(|| of_input.t().mm(input)),
        needs[2].then(|| of_state.t().mm(kept.select_int(0, 1))),
        needs[3].then(|| of_input.sum_dim_intlist(Some(&[0]), false, None)),
        needs[4].then(|| of_state.sum_dim_intlist(Some(&[0]), false, None)),
        needs[5].then(|| by_h.into()),
    ])
}

/// The gradients of the same layer as a composition of operators that can be differentiated again. `tensors` are the
/// input, both weights and the states.
fn by_composition<const N: usize>(
    grads: &[&Expr],
    tensors: &[&Expr],
    biases: [Option<&Expr>; 2],
    needs: [bool; N],
    run: impl FnOnce(&Parts) -> Result<Vec<Tensor>>,
) -> Result<[Option<Expr>; N]> {
    // Aliases: the gradients end at them, and go on from them if they are differentiated again.
    let alias = |expr: &&Expr| ops::alias(expr.tensor()?);
    let tensors: Vec<Tensor> = tensors.iter().map(alias).collect::<Result<_>>()?;
    let biases: Vec<Tensor> = biases.iter().flatten().map(alias).collect::<Result<_>>()?;
    let [input, w_ih, w_hh, states @ ..] = tensors.as_slice() else {
        return Err(err!(Internal, "a recurrent layer has an input and two weights"));
    };
    let parts = Parts {
        input,
        weights: [w_ih, w_hh],
        biases: if let [first, second] = biases.as_slice() { Some([first, second]) } else { None },
        states: states.iter().collect(),
    };
    let results = run(&parts)?;
    let [b_ih, b_hh] = parts.biases.map_or([None, None], |biases| biases.map(Some));
    let all = [Some(input), Some(w_ih), Some(w_hh), b_ih, b_hh].into_iter().chain(states.iter().map(Some));
    let wanted: Vec<&Tensor> = all.zip(needs).filter_map(|(tensor, needed)| tensor.filter(|_| needed)).collect();
    let given = grads.iter().map(|grad| grad.tensor().map(Some)).collect::<Result<Vec<_>>>()?;
    let results: Vec<&Tensor> = results.iter().collect();
    let mut found = gradients_of(&results, &wanted, &given, true, true, true)?.into_iter();
    Ok(needs.map(|needed| if needed { found.next().flatten().map(Expr::from) } else { None }))
}
