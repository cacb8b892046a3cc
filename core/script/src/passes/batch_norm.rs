//! Batch norms after convolutions and linear layers become a part of their weights.

use super::alias::Aliases;
use super::effects::{constant_bool, operator};
use super::{constant_value, insert_constant, only_output, replace_node};
use crate::builtins::call;
use crate::graph::{Graph, NodeId, Origin, ValueId};
use crate::runtime::list::List;
use crate::runtime::value::Value;
use crate::types::{Resolver, Type};
use rushlight_base::{DType, Result};
use rushlight_tensor::Tensor;

/// Folds batch norms whose statistics are constants into the weights of the convolution or linear layer before them, if
/// those are constants, too. The results differ by rounding only. Whether the graph has changed.
pub fn fold_batch_norms(graph: &mut Graph, types: &dyn Resolver) -> Result<bool> {
    let mut aliases = Aliases::new(graph, types)?;
    let mut changed = false;
    for id in graph.all_nodes() {
        let node = graph.node(id)?;
        if node.block().is_none() || &*node.kind != "aten::batch_norm" {
            continue;
        }
        if let Some(folding) = Folding::find(graph, id, types, &mut aliases)? {
            folding.apply(graph, id)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// A layer and the batch norm after it.
struct Folding {
    layer: NodeId,
    weight: Tensor,
    bias: Option<Tensor>,
    /// The dimension of the weight that counts the channels of the output.
    channels: usize,
    norm: Norm,
}

/// The constants of a batch norm.
struct Norm {
    weight: Option<Tensor>,
    bias: Option<Tensor>,
    mean: Tensor,
    variance: Tensor,
    epsilon: f64,
}

impl Folding {
    fn find(graph: &Graph, id: NodeId, types: &dyn Resolver, aliases: &mut Aliases) -> Result<Option<Folding>> {
        let node = graph.node(id)?;
        let &[input, weight, bias, mean, variance, training, _, epsilon, _] = node.inputs() else { return Ok(None) };
        let Origin::Node(layer) = graph.value(input)?.origin() else { return Ok(None) };
        // Nobody else may see what the layer computes, nor change it before the batch norm reads it.
        let is_private = graph.value(input)?.users().len() == 1
            && graph.node(layer)?.block() == node.block()
            && !aliases.is_written(graph, input)?;
        if !is_private || constant_bool(graph, training) != Some(false) {
            return Ok(None);
        }
        let Some(channels) = channels(graph, layer, types) else { return Ok(None) };
        let inputs = graph.node(layer)?.inputs();
        let constants = [weight, bias, mean, variance].into_iter().chain(inputs.iter().skip(1).take(2).copied());
        for value in constants {
            if aliases.is_written(graph, value)? {
                return Ok(None);
            }
        }
        let layer_weight = inputs.get(1).and_then(|&weight| optional(graph, weight)).flatten();
        let layer_bias = inputs.get(2).map_or(Some(None), |&bias| optional(graph, bias));
        let (Some(layer_weight), Some(layer_bias)) = (layer_weight, layer_bias) else { return Ok(None) };
        let (Some(weight), Some(bias), Some(Some(mean)), Some(Some(variance)), Some(Value::Float(epsilon))) = (
            optional(graph, weight),
            optional(graph, bias),
            optional(graph, mean),
            optional(graph, variance),
            constant_value(graph, epsilon),
        ) else {
            return Ok(None);
        };
        let norm = Norm { weight, bias, mean, variance, epsilon };
        let folding = Folding { layer, weight: layer_weight, bias: layer_bias, channels, norm };
        Ok(folding.fits().then_some(folding))
    }

    /// Whether all tensors are of the number of channels that the layer has.
    fn fits(&self) -> bool {
        let Some(&count) = self.weight.sizes().get(self.channels) else { return false };
        let norm = &self.norm;
        let vectors =
            [Some(&norm.mean), Some(&norm.variance), norm.weight.as_ref(), norm.bias.as_ref(), self.bias.as_ref()];
        self.weight.dtype().is_floating()
            && vectors.into_iter().flatten().all(|vector| *vector.sizes() == [count] && vector.dtype().is_floating())
    }

    fn apply(self, graph: &mut Graph, id: NodeId) -> Result<()> {
        let (weight, bias) = self.folded()?;
        let weight = insert_constant(graph, self.layer, &weight.into(), &Type::Tensor)?;
        let bias = insert_constant(graph, self.layer, &bias.into(), &Type::Tensor)?;
        graph.replace_input(self.layer, 1, weight)?;
        graph.replace_input(self.layer, 2, bias)?;
        let output = only_output(graph, self.layer)?;
        let name = graph.given_name(only_output(graph, id)?).cloned();
        replace_node(graph, id, output)?;
        name.map_or(Ok(()), |name| graph.set_name(output, &name))
    }

    /// Weight and bias of the layer that does both, computed in double precision.
    fn folded(&self) -> Result<(Tensor, Tensor)> {
        let norm = &self.norm;
        let dtype = self.weight.dtype();
        let shifted = call("add", "Scalar", &[double(&norm.variance)?, Value::Float(norm.epsilon)])?;
        let mut scale = call("rsqrt", "", &[shifted])?;
        if let Some(weight) = &norm.weight {
            scale = call("mul", "Tensor", &[scale, double(weight)?])?;
        }
        let mut sizes = vec![1; self.weight.ndim()];
        if let Some(size) = sizes.get_mut(self.channels) {
            *size = -1;
        }
        let factors = call("reshape", "", &[scale.clone(), List::ints(sizes).into()])?;
        let weight = call("mul", "Tensor", &[double(&self.weight)?, factors])?;
        let mean = double(&norm.mean)?;
        let centered = match &self.bias {
            Some(bias) => call("sub", "Tensor", &[double(bias)?, mean])?,
            None => call("neg", "", &[mean])?,
        };
        let mut bias = call("mul", "Tensor", &[centered, scale])?;
        if let Some(shift) = &norm.bias {
            bias = call("add", "Tensor", &[bias, double(shift)?])?;
        }
        Ok((converted(weight, dtype)?, converted(bias, dtype)?))
    }
}

/// The dimension of the weight that counts the channels of the output, if a batch norm after this layer can be folded.
fn channels(graph: &Graph, layer: NodeId, types: &dyn Resolver) -> Option<usize> {
    let node = graph.node(layer).ok()?;
    match &*node.kind {
        "aten::conv1d" | "aten::conv2d" | "aten::conv3d" => Some(0),
        "aten::conv_transpose1d" | "aten::conv_transpose2d" | "aten::conv_transpose3d" => {
            // With groups the channels are split over two dimensions.
            let candidate = operator(graph, node, types)?;
            let at = candidate.schema.arguments.iter().position(|argument| &*argument.name == "groups")?;
            matches!(constant_value(graph, *node.inputs().get(at)?), Some(Value::Int(1))).then_some(1)
        }
        "aten::_convolution" | "aten::convolution" => {
            let groups = constant_value(graph, *node.inputs().get(8)?)?;
            match (constant_bool(graph, *node.inputs().get(6)?)?, groups) {
                (false, _) => Some(0),
                (true, Value::Int(1)) => Some(1),
                _ => None,
            }
        }
        "aten::linear" => is_matrix(graph, *node.inputs().first()?).then_some(0),
        _ => None,
    }
}

/// Whether a tensor has two dimensions, so that a batch norm of a linear layer normalizes its last one.
fn is_matrix(graph: &Graph, mut value: ValueId) -> bool {
    // The graph has no cycles.
    loop {
        let Ok(Origin::Node(id)) = graph.value(value).map(|value| value.origin()) else { return false };
        let Ok(node) = graph.node(id) else { return false };
        let inputs = node.inputs();
        let is_int = |at: usize, wanted: i64| {
            let value = inputs.get(at).and_then(|&input| constant_value(graph, input));
            matches!(value, Some(Value::Int(value)) if value == wanted)
        };
        match &*node.kind {
            "aten::flatten" => return is_int(1, 1) && is_int(2, -1),
            "aten::mm" | "aten::addmm" => return true,
            "aten::view" | "aten::reshape" => return inputs.get(1).is_some_and(|&sizes| is_pair(graph, sizes)),
            "aten::linear" | "aten::relu" | "aten::relu_" | "aten::sigmoid" | "aten::tanh" | "aten::gelu"
            | "aten::silu" | "aten::leaky_relu" | "aten::elu" | "aten::hardtanh" | "aten::dropout"
            | "aten::batch_norm" => {}
            _ => return false,
        }
        match inputs.first() {
            Some(&input) => value = input,
            None => return false,
        }
    }
}

/// Whether a list has two elements.
fn is_pair(graph: &Graph, list: ValueId) -> bool {
    if let Some(Value::List(list)) = constant_value(graph, list) {
        return list.len() == 2;
    }
    match graph.value(list).map(|value| value.origin()) {
        Ok(Origin::Node(node)) => {
            graph.node(node).is_ok_and(|node| &*node.kind == "prim::ListConstruct" && node.inputs().len() == 2)
        }
        _ => false,
    }
}

/// The constant tensor or None that a value is.
fn optional(graph: &Graph, value: ValueId) -> Option<Option<Tensor>> {
    match constant_value(graph, value)? {
        Value::Tensor(tensor) => Some(Some(tensor)),
        Value::None => Some(None),
        _ => None,
    }
}

fn double(tensor: &Tensor) -> Result<Value> {
    Ok(converted(tensor.clone().into(), DType::F64)?.into())
}

fn converted(tensor: Value, dtype: DType) -> Result<Tensor> {
    let args = [tensor, Value::Int(dtype as i64), Value::Bool(false), Value::Bool(false), Value::None];
    Ok(call("to", "dtype", &args)?.as_tensor()?.clone())
}
