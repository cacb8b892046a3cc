//! Shapes, dtypes and values that are known before a graph runs.

use super::alias::Aliases;
use super::constants::evaluate;
use crate::builtins::{Args, find};
use crate::graph::{BlockId, Graph, NodeId, ValueId};
use crate::plan::values::mapped;
use crate::program::Program;
use crate::runtime::Environment;
use crate::runtime::function::Linker;
use crate::runtime::value::Value;
use rushlight_base::{DType, Device, Result, err};
use rushlight_tensor::Tensor;
use std::collections::{HashMap, HashSet};

/// What is known of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The dtype.
    pub dtype: DType,
    /// The sizes.
    pub sizes: Vec<i64>,
    /// The device.
    pub device: Device,
}

/// What is known of the tensors of a graph.
#[derive(Default)]
pub struct Shapes {
    tensors: HashMap<ValueId, Known>,
}

impl Shapes {
    /// What is known of a value.
    pub fn get(&self, value: ValueId) -> Option<&Known> {
        self.tensors.get(&value)
    }

    /// How many tensors are known.
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }
}

/// Finds the shapes of a graph's tensors from examples of its inputs, without computing elements: operators run on the
/// meta device. What depends on elements stays unknown, and so does what the graph changes in place. The shapes hold for
/// inputs of the same shapes, and for inputs with other values only if those are no numbers.
pub fn propagate_shapes(graph: &Graph, linker: &dyn Linker, inputs: &[Option<Value>]) -> Result<Shapes> {
    let mut propagation = Propagation { graph, values: HashMap::new(), devices: HashMap::new() };
    for (&input, value) in graph.block(graph.top())?.inputs().iter().zip(inputs) {
        if let Some(value) = value {
            propagation.define(input, value)?;
        }
    }
    propagation.block(graph.top())?;
    let mut aliases = Aliases::new(graph, linker)?;
    let mut shapes = Shapes::default();
    for (value, known) in propagation.values {
        if let Value::Tensor(tensor) = known
            && !aliases.is_written(graph, value)?
        {
            let device = propagation.devices.get(&value).copied().unwrap_or(Device::CPU);
            let known = Known { dtype: tensor.dtype(), sizes: tensor.sizes().to_vec(), device };
            shapes.tensors.insert(value, known);
        }
    }
    Ok(shapes)
}

struct Propagation<'g> {
    graph: &'g Graph,
    /// Values whose tensors are on the meta device.
    values: HashMap<ValueId, Value>,
    /// Where tensors are when the graph runs.
    devices: HashMap<ValueId, Device>,
}

impl Propagation<'_> {
    fn define(&mut self, id: ValueId, value: &Value) -> Result<()> {
        if let Value::Tensor(tensor) = value {
            self.devices.insert(id, tensor.device());
        }
        if let Ok(value) = on_meta(value) {
            self.values.insert(id, value);
        }
        Ok(())
    }

    fn block(&mut self, top: BlockId) -> Result<()> {
        let mut finished: HashSet<NodeId> = HashSet::new();
        debug_assert_eq!(top, self.graph.top());
        for id in self.graph.all_nodes() {
            let node = self.graph.node(id)?;
            match &*node.kind {
                "prim::Constant" => {
                    if let &[output] = node.outputs()
                        && let Some(value) = super::constant_value(self.graph, output)
                    {
                        self.define(output, &value)?;
                    }
                }
                // The second time, when its blocks are done.
                "prim::If" if !finished.insert(id) => self.branch(id)?,
                "prim::If" | "prim::Loop" => {}
                _ => self.node(id)?,
            }
        }
        Ok(())
    }

    fn node(&mut self, id: NodeId) -> Result<()> {
        let node = self.graph.node(id)?;
        let inputs: Option<Vec<Value>> = node.inputs().iter().map(|input| self.values.get(input).cloned()).collect();
        let Some(inputs) = inputs else { return Ok(()) };
        let runs_nothing = node.kind.starts_with("aten::") || super::effects::is_structure(&node.kind);
        if !runs_nothing || super::effects::calls_back(self.graph, node) {
            return Ok(());
        }
        let device = node.inputs().iter().find_map(|input| self.devices.get(input).copied());
        let Ok(results) = evaluate(self.graph, id, inputs) else { return Ok(()) };
        for (&output, value) in node.outputs().iter().zip(results) {
            if matches!(value, Value::Tensor(_)) {
                self.devices.insert(output, device.unwrap_or(Device::CPU));
            }
            self.values.insert(output, on_meta(&value)?);
        }
        Ok(())
    }

    /// Outputs that both branches agree on.
    fn branch(&mut self, id: NodeId) -> Result<()> {
        let node = self.graph.node(id)?;
        let &[yes, no] = node.blocks() else { return Ok(()) };
        let (yes, no) = (self.graph.block(yes)?.outputs(), self.graph.block(no)?.outputs());
        for ((&output, a), b) in node.outputs().iter().zip(yes).zip(no) {
            let (Some(Value::Tensor(a)), Some(Value::Tensor(b))) = (self.values.get(a), self.values.get(b)) else {
                continue;
            };
            if a.dtype() == b.dtype() && a.sizes() == b.sizes() {
                let value = a.clone();
                self.values.insert(output, value.into());
            }
        }
        Ok(())
    }
}

/// The value with its tensors on the meta device.
fn on_meta(value: &Value) -> Result<Value> {
    mapped(value, &mut |value| match value {
        Value::Tensor(tensor) => meta(tensor),
        Value::Device(_) => Ok(Value::Device(Device::META)),
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Complex(_) | Value::Str(_) => {
            Ok(value.clone())
        }
        other => Err(err!(Runtime, "{} has no shape", other.type_of())),
    })
}

fn meta(tensor: &Tensor) -> Result<Value> {
    let row = find("aten::to", "prim_Device").ok_or_else(|| err!(Internal, "aten::to is missing"))?;
    let detached = crate::builtins::call("detach", "", &[tensor.clone().into()])?;
    let mut args = [detached, Value::Device(Device::META), Value::None];
    (row.run)(&mut Args::new(&mut args, &Environment::new(Program::new())))
}
