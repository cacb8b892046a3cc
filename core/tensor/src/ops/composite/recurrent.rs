//! Recurrent layers over packed sequences; a padded batch is one whose sequences all have the same length.
//!
//! The input of a layer is multiplied by its weights in one product over all steps; each step then adds the product
//! with its state.

use super::has_host_kernels;
use super::packed::{check_batch_sizes, host_numbers};
use crate::autograd::{Expr, should_record};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, ensure, format_sizes, list};
use std::borrow::Cow;

/// The weights of one direction of one layer.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
    pub input: &'a Tensor,
    pub state: &'a Tensor,
    pub biases: Option<[&'a Tensor; 2]>,
    /// The projection of the outputs of an LSTM.
    pub projection: Option<&'a Tensor>,
    /// The products of packed weights, whose shapes alone the weights are then.
    pub products: Option<&'a dyn Products>,
}

impl<'a> Weights<'a> {
    fn optional_biases(self) -> [Option<&'a Tensor>; 2] {
        self.biases.map_or([None, None], |biases| biases.map(Some))
    }
}

/// Products with packed weights.
pub(crate) trait Products {
    /// W x + b
    fn of_input(&self, input: &Tensor) -> Result<Tensor>;
    /// U h + d
    fn of_state(&self, state: &Tensor) -> Result<Tensor>;
}

/// The states of a batch: h, and c of an LSTM.
pub(crate) type States = Vec<Expr>;

/// One step, from the products with the input and with the states.
pub(crate) trait Cell: Copy {
    /// Rows of the weights for each element of the state.
    const GATES: i64;
    fn step(self, input: Expr, states: &States, weights: Weights<'_>) -> Result<States>;

    /// All steps of a direction in one call, if there is a kernel for these tensors: what [`direction`] computes.
    fn run(
        self,
        _data: &Tensor,
        _steps: Steps<'_>,
        _initial: &States,
        _weights: Weights<'_>,
        _backwards: bool,
    ) -> Result<Option<(Expr, States)>> {
        Ok(None)
    }
}

/// U h + d
fn of_state(state: &Expr, weights: Weights<'_>) -> Result<Expr> {
    if let Some(products) = weights.products {
        return Ok(products.of_state(state.tensor()?)?.into());
    }
    Ok(ops::linear(state.tensor()?, weights.state, weights.biases.map(|[_, bias]| bias))?.into())
}

/// Part `nth` of `count` of the last dimension.
fn gate(gates: &Expr, nth: i64, count: i64) -> Expr {
    let width = gates.sizes().last().map_or(0, |last| last / count);
    gates.narrow(-1, nth * width, width)
}

#[derive(Clone, Copy)]
pub(crate) struct Lstm;

impl Cell for Lstm {
    const GATES: i64 = 4;

    fn step(self, input: Expr, states: &States, weights: Weights<'_>) -> Result<States> {
        let gates = input + of_state(&states[0], weights)?;
        let [i, f, o] = [0, 1, 3].map(|nth| gate(&gates, nth, 4).sigmoid());
        let cell = f * &states[1] + i * gate(&gates, 2, 4).tanh();
        let out = o * cell.tanh();
        let out = match weights.projection {
            Some(projection) => Expr::from(ops::linear(out.tensor()?, projection, None)?),
            None => out,
        };
        Ok(vec![out, cell])
    }

    fn run(
        self,
        data: &Tensor,
        steps: Steps<'_>,
        initial: &States,
        weights: Weights<'_>,
        backwards: bool,
    ) -> Result<Option<(Expr, States)>> {
        let states = [initial[0].tensor()?, initial[1].tensor()?];
        let Some(keep) = kernel_keeps(data, &states, weights) else { return Ok(None) };
        let [bias, other] = weights.optional_biases();
        let (w_ih, w_hh, sizes, [h, c]) = (weights.input, weights.state, steps.sizes()?, states);
        let (out, h, c, ..) = ops::_lstm_layer(data, w_ih, w_hh, bias, other, h, c, &sizes, backwards, keep)?;
        Ok(Some((out.into(), vec![h.into(), c.into()])))
    }
}

/// Whether there is a kernel for the directions of these tensors, and if so, whether it has to keep what the gradient
/// needs.
fn kernel_keeps(data: &Tensor, states: &[&Tensor], weights: Weights<'_>) -> Option<bool> {
    let biases = weights.optional_biases().into_iter().flatten();
    let tensors =
        || [data, weights.input, weights.state].into_iter().chain(states.iter().copied()).chain(biases.clone());
    let has_kernel = |tensor: &Tensor| has_host_kernels(tensor) && tensor.dtype() == data.dtype() && tensor.numel() > 0;
    let alone = weights.projection.is_none() && weights.products.is_none() && data.dtype().is_floating();
    (alone && tensors().all(has_kernel)).then(|| should_record(tensors()))
}

/// The tensors of one direction of a layer.
pub(crate) struct Parts<'a> {
    pub input: &'a Tensor,
    pub weights: [&'a Tensor; 2],
    pub biases: Option<[&'a Tensor; 2]>,
    pub states: Vec<&'a Tensor>,
}

/// One direction of an LSTM layer as a composition of operators, to differentiate it twice: its outputs and its last
/// states.
pub(crate) fn lstm_direction(parts: &Parts<'_>, batch_sizes: &[i64], backwards: bool) -> Result<Vec<Tensor>> {
    composed(Lstm, parts, batch_sizes, backwards)
}

/// [`lstm_direction`] of a GRU.
pub(crate) fn gru_direction(parts: &Parts<'_>, batch_sizes: &[i64], backwards: bool) -> Result<Vec<Tensor>> {
    composed(Gru, parts, batch_sizes, backwards)
}

fn composed(cell: impl Cell, parts: &Parts<'_>, batch_sizes: &[i64], backwards: bool) -> Result<Vec<Tensor>> {
    let [input, state] = parts.weights;
    let weights = Weights { input, state, biases: parts.biases, projection: None, products: None };
    let initial = parts.states.iter().map(|&state| Expr::from(state)).collect();
    let (out, states) = direction(cell, parts.input, Steps::Packed(batch_sizes), &initial, weights, backwards)?;
    std::iter::once(out).chain(states).map(Expr::into_tensor).collect()
}

#[derive(Clone, Copy)]
pub(crate) struct Gru;

impl Cell for Gru {
    const GATES: i64 = 3;

    fn step(self, input: Expr, states: &States, weights: Weights<'_>) -> Result<States> {
        let recurrent = of_state(&states[0], weights)?;
        let [r, z] = [0, 1].map(|nth| (gate(&input, nth, 3) + gate(&recurrent, nth, 3)).sigmoid());
        let new = (gate(&input, 2, 3) + r * gate(&recurrent, 2, 3)).tanh();
        Ok(vec![(&states[0] - &new) * z + new])
    }

    fn run(
        self,
        data: &Tensor,
        steps: Steps<'_>,
        initial: &States,
        weights: Weights<'_>,
        backwards: bool,
    ) -> Result<Option<(Expr, States)>> {
        let h = initial[0].tensor()?;
        let Some(keep) = kernel_keeps(data, &[h], weights) else { return Ok(None) };
        let [bias, other] = weights.optional_biases();
        let (w_ih, w_hh, sizes) = (weights.input, weights.state, steps.sizes()?);
        let (out, h, ..) = ops::_gru_layer(data, w_ih, w_hh, bias, other, h, &sizes, backwards, keep)?;
        Ok(Some((out.into(), vec![h.into()])))
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Simple {
    Tanh,
    Relu,
}

impl Cell for Simple {
    const GATES: i64 = 1;

    fn step(self, input: Expr, states: &States, weights: Weights<'_>) -> Result<States> {
        let sum = input + of_state(&states[0], weights)?;
        Ok(vec![match self {
            Simple::Tanh => sum.tanh(),
            Simple::Relu => sum.relu(),
        }])
    }
}

/// W x + b
fn of_input(input: &Tensor, weights: Weights<'_>) -> Result<Expr> {
    if let Some(products) = weights.products {
        return Ok(products.of_input(input)?.into());
    }
    Ok(ops::linear(input, weights.input, weights.biases.map(|[bias, _]| bias))?.into())
}

fn joined(parts: Vec<Expr>, dim: i64) -> Result<Expr> {
    let parts = list::try_collect(parts.into_iter().map(Expr::into_tensor))?;
    if let [single] = parts.as_slice() {
        return Ok(single.into());
    }
    Ok(ops::cat(&list::collect(&parts)?, dim)?.into())
}

/// How many sequences each step has.
#[derive(Clone, Copy)]
pub(crate) enum Steps<'a> {
    /// All sequences have the same length.
    Padded {
        count: usize,
        batch: i64,
    },
    Packed(&'a [i64]),
}

impl Steps<'_> {
    fn count(self) -> usize {
        match self {
            Steps::Padded { count, .. } => count,
            Steps::Packed(sizes) => sizes.len(),
        }
    }

    fn batch(self, step: usize) -> i64 {
        match self {
            Steps::Padded { batch, .. } => batch,
            Steps::Packed(sizes) => sizes[step],
        }
    }

    /// Of all steps.
    fn sizes(&self) -> Result<Cow<'_, [i64]>> {
        Ok(match *self {
            Steps::Padded { count, batch } => Cow::Owned(list::filled(count, batch)?),
            Steps::Packed(sizes) => Cow::Borrowed(sizes),
        })
    }

    fn rows(self) -> i64 {
        match self {
            Steps::Padded { count, batch } => count as i64 * batch,
            Steps::Packed(sizes) => sizes.iter().sum(),
        }
    }
}

/// One direction of one layer: its outputs, packed as the input is, and the last states of each sequence.
fn direction(
    cell: impl Cell,
    data: &Tensor,
    steps: Steps<'_>,
    initial: &States,
    weights: Weights<'_>,
    backwards: bool,
) -> Result<(Expr, States)> {
    let products = of_input(data, weights)?;
    let rows = |state: &Expr, first: i64, end: i64| state.narrow(0, first, end - first);
    let count = steps.count();
    let mut outputs = list::with_capacity(count)?;
    let mut batch = steps.batch(if backwards { count - 1 } else { 0 });
    // The first row of a step; initially of the last one if the direction is reversed.
    let mut first = if backwards { steps.rows() } else { 0 };
    let mut states: States = initial.iter().map(|state| rows(state, 0, batch)).collect();
    // The last states of the sequences that have ended, the shortest first.
    let mut ended: Vec<States> = Vec::new();
    for nth in 0..count {
        let step = if backwards { count - 1 - nth } else { nth };
        let size = steps.batch(step);
        if size < batch {
            list::push(&mut ended, states.iter().map(|state| rows(state, size, batch)).collect())?;
            states = states.iter().map(|state| rows(state, 0, size)).collect();
        } else if size > batch {
            // In reverse direction, sequences begin at different steps.
            let begun = initial.iter().map(|state| rows(state, batch, size));
            states =
                states.iter().zip(begun).map(|(own, new)| joined(vec![own.clone(), new], 0)).collect::<Result<_>>()?;
        }
        batch = size;
        first -= if backwards { size } else { 0 };
        states = cell.step(products.narrow(0, first, size), &states, weights)?;
        first += if backwards { 0 } else { size };
        outputs.push(states[0].clone());
    }
    if backwards {
        outputs.reverse();
    }
    list::push(&mut ended, states)?;
    ended.reverse();
    let last = (0..initial.len())
        .map(|nth| joined(list::collect(ended.iter().map(|states: &States| states[nth].clone()))?, 0))
        .collect::<Result<_>>()?;
    Ok((joined(outputs, 0)?, last))
}

/// The structure of the layers.
pub(crate) struct Layers {
    pub has_biases: bool,
    pub count: i64,
    pub dropout: f64,
    pub train: bool,
    pub bidirectional: bool,
}

impl Layers {
    pub fn directions(&self) -> usize {
        1 + usize::from(self.bidirectional)
    }

    /// The weights of each direction of each layer.
    fn weights<'a>(&self, params: &[&'a Tensor], states: &[&Tensor]) -> Result<Vec<Weights<'a>>> {
        let projected = states.len() == 2 && states[0].sizes().last() != states[1].sizes().last();
        let each = 2 + 2 * usize::from(self.has_biases) + usize::from(projected);
        let wanted = usize::try_from(self.count).unwrap_or(0).saturating_mul(each * self.directions());
        ensure!(
            self.count > 0 && params.len() == wanted,
            Runtime,
            "rnn: expected {wanted} weights for {} layers of {} directions, got {}",
            self.count,
            self.directions(),
            params.len()
        );
        let weights = params.chunks(each).map(|part| Weights {
            input: part[0],
            state: part[1],
            biases: self.has_biases.then(|| [part[2], part[3]]),
            projection: projected.then(|| part[each - 1]),
            products: None,
        });
        Ok(weights.collect())
    }

    /// The outputs of the last layer, packed, and the last states of all.
    fn run<C: Cell>(
        &self,
        cell: C,
        data: &Tensor,
        steps: Steps<'_>,
        states: &[&Tensor],
        weights: &[Weights<'_>],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        check_states::<C>(states, weights, steps.batch(0))?;
        let states: States = states.iter().map(|&state| Expr::from(state)).collect();
        let mut data = data.clone();
        let mut last: Vec<States> = Vec::new();
        for (layer, both) in weights.chunks(self.directions()).enumerate() {
            let mut outputs = Vec::new();
            for (backwards, &weights) in both.iter().enumerate() {
                let nth = (layer * self.directions() + backwards) as i64;
                let initial = states.iter().map(|state| state.select_int(0, nth)).collect();
                check_input::<C>(&data, weights)?;
                let (output, ends) = match cell.run(&data, steps, &initial, weights, backwards == 1)? {
                    Some(results) => results,
                    None => direction(cell, &data, steps, &initial, weights, backwards == 1)?,
                };
                outputs.push(output);
                last.push(ends);
            }
            data = joined(outputs, -1)?.into_tensor()?;
            if self.train && self.dropout != 0.0 && (layer as i64) < self.count - 1 {
                data = ops::dropout(&data, self.dropout, true)?;
            }
        }
        let stacked = |nth: usize| joined(last.iter().map(|ends| ends[nth].unsqueeze(0)).collect(), 0)?.into_tensor();
        Ok((data, (0..states.len()).map(stacked).collect::<Result<_>>()?))
    }

    /// Like `run`, of a padded batch.
    pub fn run_padded(
        &self,
        cell: impl Cell,
        input: &Tensor,
        states: &[&Tensor],
        weights: &[Weights<'_>],
        batch_first: bool,
    ) -> Result<(Tensor, Vec<Tensor>)> {
        ensure!(input.ndim() == 3, Runtime, "rnn: Expected input to be 3D, got {}D instead", input.ndim());
        let input = if batch_first { ops::transpose_int(input, 0, 1)? } else { input.clone() };
        let sizes = input.sizes();
        let (steps, batch) = (sizes[0], sizes[1]);
        ensure!(steps > 0, Runtime, "Expected sequence length to be larger than 0 in RNN");
        let data = ops::reshape(&input, &[steps * batch, sizes[2]])?;
        let (out, states) = self.run(cell, &data, Steps::Padded { count: steps as usize, batch }, states, weights)?;
        let width = out.sizes()[1];
        let out = ops::view(&out, &[steps, batch, width])?;
        Ok((if batch_first { ops::transpose_int(&out, 0, 1)? } else { out }, states))
    }

    /// Like `run`, of packed sequences.
    pub fn run_packed(
        &self,
        cell: impl Cell,
        data: &Tensor,
        batch_sizes: &Tensor,
        states: &[&Tensor],
        weights: &[Weights<'_>],
    ) -> Result<(Tensor, Vec<Tensor>)> {
        ensure!(data.ndim() == 2, Runtime, "rnn: Expected packed data to be 2D, got {}D instead", data.ndim());
        let batch_sizes = host_numbers("batch_sizes", batch_sizes)?;
        check_batch_sizes(&batch_sizes, data.sizes()[0])?;
        self.run(cell, data, Steps::Packed(&batch_sizes), states, weights)
    }
}

/// (layers * directions, batch, width) of each state, the widths as the weights have them.
fn check_states<C: Cell>(states: &[&Tensor], weights: &[Weights<'_>], batch: i64) -> Result<()> {
    let rows = weights[0].state.sizes().first().copied().unwrap_or(0);
    ensure!(
        rows % C::GATES == 0,
        Runtime,
        "rnn: the weight of the state has {rows} rows, which is not a multiple of {}",
        C::GATES
    );
    let widths = [weights[0].state.sizes().last().copied().unwrap_or(0), rows / C::GATES];
    for (nth, state) in states.iter().enumerate() {
        let wanted = [weights.len() as i64, batch, widths[nth]];
        ensure!(
            *state.sizes() == wanted,
            Runtime,
            "Expected hidden[{nth}] size {wanted:?}, got {}",
            format_sizes(&state.sizes())
        );
    }
    Ok(())
}

/// The number of columns of the weight, which has a row for each gate.
fn check_input<C: Cell>(input: &Tensor, weights: Weights<'_>) -> Result<()> {
    let (shape, state) = (weights.input.sizes(), weights.state.sizes());
    ensure!(
        shape.len() == 2 && state.len() == 2 && shape[0] == state[0],
        Runtime,
        "rnn: weights of {} and {} do not go together",
        format_sizes(&shape),
        format_sizes(&state)
    );
    let width = input.sizes().last().copied().unwrap_or(0);
    ensure!(width == shape[1], Runtime, "input has inconsistent input_size: got {width} expected {}", shape[1]);
    Ok(())
}

pub(crate) fn two_states<'a>(name: &str, hx: &[&'a Tensor]) -> Result<[&'a Tensor; 2]> {
    match *hx {
        [output, cell] => Ok([output, cell]),
        _ => rushlight_base::bail!(Runtime, "{name} expects two hidden states"),
    }
}

fn only<const N: usize>((out, states): (Tensor, Vec<Tensor>)) -> Result<(Tensor, [Tensor; N])> {
    let states =
        states.try_into().map_err(|_| rushlight_base::err!(Internal, "a layer returned states of another shape"))?;
    Ok((out, states))
}

/// LSTM layers.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn lstm_input(
    input: &Tensor,
    hx: &[&Tensor],
    params: &[&Tensor],
    has_biases: bool,
    num_layers: i64,
    dropout: f64,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    let states = two_states("lstm", hx)?;
    let layers = Layers { has_biases, count: num_layers, dropout, train, bidirectional };
    let (out, [h, c]) =
        only(layers.run_padded(Lstm, input, &states, &layers.weights(params, &states)?, batch_first)?)?;
    Ok((out, h, c))
}

/// LSTM layers over packed sequences.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn lstm_data(
    data: &Tensor,
    batch_sizes: &Tensor,
    hx: &[&Tensor],
    params: &[&Tensor],
    has_biases: bool,
    num_layers: i64,
    dropout: f64,
    train: bool,
    bidirectional: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    let states = two_states("lstm", hx)?;
    let layers = Layers { has_biases, count: num_layers, dropout, train, bidirectional };
    let (out, [h, c]) =
        only(layers.run_packed(Lstm, data, batch_sizes, &states, &layers.weights(params, &states)?)?)?;
    Ok((out, h, c))
}

/// The two entry points of a layer with one state.
macro_rules! layers {
    ($($(#[$doc:meta])* $input:ident $data:ident $cell:expr;)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $input(
            input: &Tensor,
            hx: &Tensor,
            params: &[&Tensor],
            has_biases: bool,
            num_layers: i64,
            dropout: f64,
            train: bool,
            bidirectional: bool,
            batch_first: bool,
        ) -> Result<(Tensor, Tensor)> {
            let layers = Layers { has_biases, count: num_layers, dropout, train, bidirectional };
            let (out, [h]) = only(layers.run_padded($cell, input, &[hx], &layers.weights(params, &[hx])?, batch_first)?)?;
            Ok((out, h))
        }

        $(#[$doc])*
        #[allow(clippy::too_many_arguments)] // the operator's
        pub fn $data(
            data: &Tensor,
            batch_sizes: &Tensor,
            hx: &Tensor,
            params: &[&Tensor],
            has_biases: bool,
            num_layers: i64,
            dropout: f64,
            train: bool,
            bidirectional: bool,
        ) -> Result<(Tensor, Tensor)> {
            let layers = Layers { has_biases, count: num_layers, dropout, train, bidirectional };
            let (out, [h]) = only(layers.run_packed($cell, data, batch_sizes, &[hx], &layers.weights(params, &[hx])?)?)?;
            Ok((out, h))
        }
    )*};
}

layers! {
    /// GRU layers.
    gru_input gru_data Gru;
    /// RNN layers with tanh.
    rnn_tanh_input rnn_tanh_data Simple::Tanh;
    /// RNN layers with ReLU.
    rnn_relu_input rnn_relu_data Simple::Relu;
}

/// One step.
pub(crate) fn one_step<C: Cell>(cell: C, input: &Tensor, states: &[&Tensor], weights: Weights<'_>) -> Result<States> {
    check_input::<C>(input, weights)?;
    let width = weights.state.sizes()[1];
    let batch = |tensor: &Tensor| if tensor.ndim() > 1 { tensor.sizes()[0] } else { 1 };
    for (nth, state) in states.iter().enumerate() {
        let (own, given) = (batch(state), batch(input));
        ensure!(own == given, Runtime, "Input batch size {given} doesn't match hidden{nth} batch size {own}");
        let found = state.sizes().last().copied().unwrap_or(0);
        ensure!(found == width, Runtime, "hidden{nth} has inconsistent hidden_size: got {found}, expected {width}");
    }
    let states = states.iter().map(|&state| Expr::from(state)).collect();
    cell.step(of_input(input, weights)?, &states, weights)
}

fn cell_weights<'a>(
    w_ih: &'a Tensor,
    w_hh: &'a Tensor,
    b_ih: Option<&'a Tensor>,
    b_hh: Option<&'a Tensor>,
) -> Result<Weights<'a>> {
    ensure!(b_ih.is_some() == b_hh.is_some(), Runtime, "a cell has both biases or none");
    Ok(Weights {
        input: w_ih,
        state: w_hh,
        biases: b_ih.zip(b_hh).map(|(a, b)| [a, b]),
        projection: None,
        products: None,
    })
}

/// One LSTM step.
pub fn lstm_cell(
    input: &Tensor,
    hx: &[&Tensor],
    w_ih: &Tensor,
    w_hh: &Tensor,
    b_ih: Option<&Tensor>,
    b_hh: Option<&Tensor>,
) -> Result<(Tensor, Tensor)> {
    let states = two_states("lstm_cell", hx)?;
    let mut states = one_step(Lstm, input, &states, cell_weights(w_ih, w_hh, b_ih, b_hh)?)?;
    let cell = states.remove(1).into_tensor()?;
    Ok((states.remove(0).into_tensor()?, cell))
}

macro_rules! cells {
    ($($(#[$doc:meta])* $name:ident $cell:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(
            input: &Tensor,
            hx: &Tensor,
            w_ih: &Tensor,
            w_hh: &Tensor,
            b_ih: Option<&Tensor>,
            b_hh: Option<&Tensor>,
        ) -> Result<Tensor> {
            one_step($cell, input, &[hx], cell_weights(w_ih, w_hh, b_ih, b_hh)?)?.remove(0).into_tensor()
        }
    )*};
}

cells! {
    /// One GRU step.
    gru_cell Gru;
    /// One RNN step with tanh.
    rnn_tanh_cell Simple::Tanh;
    /// One RNN step with ReLU.
    rnn_relu_cell Simple::Relu;
}
