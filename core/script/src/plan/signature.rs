//! What a plan depends on of the arguments of a call: shapes, strides and dtypes of tensors, and all other values.

use crate::graph::Graph;
use crate::runtime::value::Value;
use rushlight_base::{DType, DeviceType, DimVec, format_sizes};
use rushlight_tensor::{Tensor, autograd};
use std::fmt;

/// Values in values.
const MAX_DEPTH: usize = 16;

/// The arguments of a call without the elements of tensors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    /// Whether gradients are recorded, for a function that asks.
    grad_mode: Option<bool>,
    parts: Vec<Part>,
}

/// What a function asks about gradients.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asks {
    /// Whether they are recorded.
    pub grad_mode: bool,
    /// Whether a tensor requires one. No tensor of a plan does.
    pub requires_grad: bool,
}

impl Asks {
    pub fn of(graph: &Graph) -> Asks {
        let has =
            |kind: &str| graph.all_nodes().into_iter().any(|id| graph.node(id).is_ok_and(|node| &*node.kind == kind));
        Asks { grad_mode: has("aten::is_grad_enabled"), requires_grad: has("prim::requires_grad") }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Part {
    None,
    Bool(bool),
    Int(i64),
    /// The bits of a number, so that NaN is equal to itself.
    Float(u64),
    Str(std::sync::Arc<[u8]>),
    /// A number in a tensor is not a tensor of one element: dtypes are promoted in other ways.
    Tensor {
        dtype: DType,
        sizes: DimVec,
        strides: DimVec,
        is_number: bool,
    },
    Object,
    /// A container of so many elements, which follow.
    List(usize),
    Tuple(usize),
    Dict(usize),
}

impl Signature {
    /// The signature of arguments, and their tensors in order. `None` if a call with them has no plan: tensors on other
    /// devices, with other layouts, or of a call that autograd records.
    pub fn of(arguments: &[Value], asks: Asks) -> Option<(Signature, Vec<Tensor>)> {
        let records = autograd::is_grad_enabled();
        let mut reading =
            Reading { parts: Vec::new(), tensors: Vec::new(), without_gradient: records || asks.requires_grad };
        for argument in arguments {
            reading.value(argument, MAX_DEPTH)?;
        }
        Some((Signature { grad_mode: asks.grad_mode.then_some(records), parts: reading.parts }, reading.tensors))
    }
}

struct Reading {
    parts: Vec<Part>,
    tensors: Vec<Tensor>,
    /// Whether calls with tensors that require a gradient are recorded, or differ from others.
    without_gradient: bool,
}

impl Reading {
    fn value(&mut self, value: &Value, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let part = match value {
            Value::None => Part::None,
            Value::Bool(value) => Part::Bool(*value),
            Value::Int(value) => Part::Int(*value),
            Value::Float(value) => Part::Float(value.to_bits()),
            Value::Str(bytes) => Part::Str(bytes.clone()),
            // Plans do not read objects: only the module, which a method that is frozen does not use.
            Value::Object(_) => Part::Object,
            Value::Tensor(tensor) => {
                let part = self.tensor(tensor)?;
                self.tensors.push(tensor.clone());
                part
            }
            Value::List(list) => {
                let values = list.values();
                self.parts.push(Part::List(values.len()));
                return values.iter().try_for_each(|value| self.value(value, depth));
            }
            Value::Tuple(tuple) => {
                self.parts.push(Part::Tuple(tuple.items().len()));
                return tuple.items().iter().try_for_each(|value| self.value(value, depth));
            }
            Value::Dict(dict) => {
                let entries = dict.entries();
                self.parts.push(Part::Dict(entries.len()));
                return entries.iter().try_for_each(|(key, value)| {
                    self.value(key, depth)?;
                    self.value(value, depth)
                });
            }
            _ => return None,
        };
        self.parts.push(part);
        Some(())
    }

    fn tensor(&self, tensor: &Tensor) -> Option<Part> {
        let keys = tensor.keys();
        let dense = tensor.dense().ok()?;
        let is_plain = dense.device.kind == DeviceType::Cpu && !keys.is_boxed();
        if !is_plain || self.without_gradient && tensor.requires_grad() {
            return None;
        }
        let (sizes, strides) = (DimVec::from_slice(dense.sizes()), DimVec::from_slice(dense.strides()));
        Some(Part::Tensor { dtype: dense.dtype, sizes, strides, is_number: dense.wrapped })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for part in &self.parts {
            if matches!(part, Part::Object) {
                continue;
            }
            if !std::mem::take(&mut first) {
                f.write_str(", ")?;
            }
            match part {
                Part::None | Part::Object => f.write_str("None")?,
                Part::Bool(value) => write!(f, "{value}")?,
                Part::Int(value) => write!(f, "{value}")?,
                Part::Float(bits) => write!(f, "{}", f64::from_bits(*bits))?,
                Part::Str(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes))?,
                Part::Tensor { dtype, sizes, .. } => write!(f, "{dtype} {}", format_sizes(sizes))?,
                Part::List(count) => write!(f, "list of {count}")?,
                Part::Tuple(count) => write!(f, "tuple of {count}")?,
                Part::Dict(count) => write!(f, "dict of {count}")?,
            }
        }
        Ok(())
    }
}
