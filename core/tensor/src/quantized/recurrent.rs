//! Quantized recurrent layers: `aten::quantized_lstm`, `aten::quantized_gru`, single cells, and their packed parameters.
//!
//! The layers are those of `ops::composite::recurrent`; the products of each cell are dynamically quantized, or have
//! weights rounded to half precision. The input is quantized once for all steps, the state in each step, as in the engine.

use super::linear::{CLASS as LINEAR, Linear, content_of, dynamic_product, half_product};
use super::one;
use crate::autograd::GradModeGuard;
use crate::dispatch::{Args, Object, Value};
use crate::ops::composite::recurrent::{Cell, Gru, Layers, Lstm, Products, Simple, Weights, one_step, two_states};
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, bail, ensure, format_sizes, list};

/// The class of the parameters of a cell.
pub(super) const CLASS: &str = "__torch__.torch.classes.rnn.CellParamsBase";

/// The parameters of one direction of one layer.
pub(super) struct CellParams {
    /// Packed weights, objects of the class of linear layers.
    pub input: Object,
    pub state: Object,
    pub kind: Kind,
}

/// How products are computed.
pub(super) enum Kind {
    /// With int8 weights, and what only the saved state needs: the biases, which the packed weights contain as well.
    Dynamic { biases: [Tensor; 2], reduced: bool },
    /// With weights rounded to half precision.
    Half,
}

impl CellParams {
    /// Packs the parameters of a cell.
    pub fn new(name: &str, input: &Value, state: &Value, kind: Kind) -> Result<CellParams> {
        let packed = |value: &Value| -> Result<Object> {
            let linear = content_of::<Linear>(name, value)?;
            let fits = matches!(
                (linear, &kind),
                (Linear::Int8 { .. }, Kind::Dynamic { .. }) | (Linear::Half { .. }, Kind::Half)
            );
            ensure!(fits, Runtime, "{name}: the packed weights of a cell are of another precision");
            match value {
                Value::Object(object) => Ok(object.clone()),
                _ => bail!(Type, "{name}: expected an object of {LINEAR}"),
            }
        };
        let (input, state) = (packed(input)?, packed(state)?);
        if let Kind::Dynamic { biases, .. } = &kind
            && let Some(wrong) = biases.iter().find(|bias| bias.ndim() != 1 || bias.dtype() != DType::F32)
        {
            bail!(
                Runtime,
                "{name}: a bias should be a float vector, but it is {} {}",
                format_sizes(&wrong.sizes()),
                wrong.dtype()
            )
        }
        Ok(CellParams { input, state, kind })
    }

    fn product(&self, weight: &Object, x: &Tensor) -> Result<Tensor> {
        let name = "aten::quantized_lstm";
        let Some(weight) = weight.content::<Linear>() else {
            bail!(Internal, "{name}: the parameters of a cell contain no packed weight")
        };
        match self.kind {
            Kind::Dynamic { reduced, .. } => dynamic_product(name, x, weight, reduced),
            Kind::Half => half_product(name, x, weight),
        }
    }

    fn weights(&self) -> Result<Weights<'_>> {
        let input = matrix(&self.input)?;
        Ok(Weights { input, state: matrix(&self.state)?, biases: None, projection: None, products: Some(self) })
    }
}

/// The weight in packed parameters.
fn matrix(object: &Object) -> Result<&Tensor> {
    match object.content::<Linear>() {
        Some(linear) => Ok(linear.parts().0),
        None => bail!(Internal, "the parameters of a cell contain no packed weight"),
    }
}

impl Products for CellParams {
    fn of_input(&self, input: &Tensor) -> Result<Tensor> {
        self.product(&self.input, input)
    }

    fn of_state(&self, state: &Tensor) -> Result<Tensor> {
        self.product(&self.state, state)
    }
}

/// `quantized::make_quantized_cell_params_dynamic`
pub(super) fn make_dynamic(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let biases = [args.tensor(2)?.clone(), args.tensor(3)?.clone()];
    let kind = Kind::Dynamic { biases, reduced: args.bool(4)? };
    made(name, args, kind)
}

/// `quantized::make_quantized_cell_params_fp16`
pub(super) fn make_half(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    made(name, args, Kind::Half)
}

fn made(name: &str, args: &Args<'_>, kind: Kind) -> Result<Vec<Value>> {
    let (Some(input), Some(state)) = (args.0.first(), args.0.get(1)) else {
        bail!(Type, "{name}: the packed weights are missing")
    };
    one(Object::new(CLASS, CellParams::new(name, input, state, kind)?)?)
}

/// The parameters of all directions of all layers.
fn parameters<'a>(name: &str, args: &Args<'a>, at: usize, layers: &Layers) -> Result<Vec<Weights<'a>>> {
    let items: &'a [Value] = match args.0.get(at) {
        Some(Value::List(items)) => items,
        _ => bail!(Type, "{name}: argument {at} must be a list of the parameters of cells"),
    };
    let wanted = usize::try_from(layers.count).unwrap_or(0).saturating_mul(layers.directions());
    ensure!(
        items.len() == wanted && wanted > 0,
        Runtime,
        "{name}: expected the parameters of {wanted} cells for {} layers of {} directions, got {}",
        layers.count,
        layers.directions(),
        items.len()
    );
    list::try_collect(items.iter().map(|item| content_of::<CellParams>(name, item)?.weights()))
}

/// What follows the parameters in the arguments: the structure of the layers.
fn structure(args: &Args<'_>, at: usize) -> Result<Layers> {
    Ok(Layers {
        has_biases: args.bool(at)?,
        count: args.int(at + 1)?,
        dropout: args.float(at + 2)?,
        train: args.bool(at + 3)?,
        bidirectional: args.bool(at + 4)?,
    })
}

fn results((out, states): (Tensor, Vec<Tensor>)) -> Vec<Value> {
    std::iter::once(out).chain(states).map(Value::from).collect()
}

fn padded(name: &str, args: &Args<'_>, cell: impl Cell, states: &[&Tensor]) -> Result<Vec<Value>> {
    let _none = GradModeGuard::new(false);
    let layers = structure(args, 3)?;
    let weights = parameters(name, args, 2, &layers)?;
    Ok(results(layers.run_padded(cell, args.tensor(0)?, states, &weights, args.bool(8)?)?))
}

fn packed(name: &str, args: &Args<'_>, cell: impl Cell, states: &[&Tensor]) -> Result<Vec<Value>> {
    let _none = GradModeGuard::new(false);
    let layers = structure(args, 4)?;
    let weights = parameters(name, args, 3, &layers)?;
    Ok(results(layers.run_packed(cell, args.tensor(0)?, args.tensor(1)?, states, &weights)?))
}

/// `aten::quantized_lstm.input`
pub(super) fn lstm_input(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    padded(name, args, Lstm, &two_states(name, &args.tensors(1)?)?)
}

/// `aten::quantized_lstm.data`
pub(super) fn lstm_data(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    packed(name, args, Lstm, &two_states(name, &args.tensors(2)?)?)
}

/// `aten::quantized_gru.input`
pub(super) fn gru_input(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    padded(name, args, Gru, &[args.tensor(1)?])
}

/// `aten::quantized_gru.data`
pub(super) fn gru_data(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    packed(name, args, Gru, &[args.tensor(2)?])
}

/// One step, with int8 weights.
fn step(name: &str, args: &Args<'_>, cell: impl Cell, states: &[&Tensor]) -> Result<Vec<Value>> {
    let _none = GradModeGuard::new(false);
    let (Some(input), Some(state)) = (args.0.get(2), args.0.get(3)) else {
        bail!(Type, "{name}: the packed weights are missing")
    };
    let kind = Kind::Dynamic { biases: [args.tensor(4)?.clone(), args.tensor(5)?.clone()], reduced: true };
    let params = CellParams::new(name, input, state, kind)?;
    let states = one_step(cell, args.tensor(0)?, states, params.weights()?)?;
    list::try_collect(states.into_iter().map(|state| Ok(state.into_tensor()?.into())))
}

/// `quantized::quantized_lstm_cell_dynamic`
pub(super) fn lstm_cell(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    step(name, args, Lstm, &two_states(name, &args.tensors(1)?)?)
}

/// `quantized::quantized_gru_cell_dynamic`
pub(super) fn gru_cell(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    step(name, args, Gru, &[args.tensor(1)?])
}

/// `quantized::quantized_rnn_tanh_cell_dynamic`
pub(super) fn tanh_cell(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    step(name, args, Simple::Tanh, &[args.tensor(1)?])
}

/// `quantized::quantized_rnn_relu_cell_dynamic`
pub(super) fn relu_cell(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    step(name, args, Simple::Relu, &[args.tensor(1)?])
}
