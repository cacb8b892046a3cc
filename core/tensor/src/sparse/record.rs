//! Derivatives of sparse kernels: the node of a call, which a row of the table describes.

use crate::autograd::{Backward, BackwardCall, Edges, GradModeGuard, Gradients, Saved, record, should_record};
use crate::dispatch::{Args, Value};
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Layout, Result, bail, err};

/// The gradient of the argument `slot`, from that of the result.
pub(super) type Back = fn(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor>;

/// A derivative: PyTorch's name of the node, which arguments the gradient of which argument needs, and the formula.
pub(super) struct Derivative {
    pub name: &'static str,
    /// (argument whose gradient is computed, argument that it needs)
    pub needs: &'static [(usize, usize)],
    pub back: Back,
}

/// A recorded call.
struct SparseNode {
    derivative: &'static Derivative,
    /// The arguments, without tensors.
    args: Vec<Value>,
    /// Layout and sizes of each argument; those of a strided tensor without dimensions if it is none.
    inputs: Vec<(Layout, DimVec)>,
    saved: Vec<(usize, Saved)>,
}

/// What a derivative has of its call.
pub(super) struct Context<'a> {
    node: &'a SparseNode,
    call: &'a BackwardCall<'a>,
}

impl Context<'_> {
    /// A saved tensor.
    pub fn tensor(&self, index: usize) -> Result<Tensor> {
        let Some((_, saved)) = self.node.saved.iter().find(|(at, _)| *at == index) else {
            bail!(Internal, "{}: argument {index} was not saved", self.node.derivative.name)
        };
        self.call.unpack(saved)?.into_tensor()
    }

    /// The layout that an argument had; that of a strided tensor if it is none.
    pub fn layout(&self, index: usize) -> Layout {
        self.node.inputs.get(index).map_or(Layout::Strided, |input| input.0)
    }

    /// The sizes that an argument had.
    pub fn sizes(&self, index: usize) -> &[i64] {
        self.node.inputs.get(index).map_or(&[], |input| &input.1)
    }

    /// The arguments that are not tensors.
    pub fn args(&self) -> Args<'_> {
        Args(&self.node.args)
    }
}

impl Backward for SparseNode {
    fn name(&self) -> &str {
        self.derivative.name
    }

    fn saves(&self) -> bool {
        !self.saved.is_empty()
    }

    fn backward(&self, call: &BackwardCall<'_>, gradients: &mut Gradients) -> Result<()> {
        let Some(grad) = call.grad(0) else { return Ok(()) };
        let (grad, context) = (grad.tensor()?, Context { node: self, call });
        for slot in 0..self.args.len() {
            if call.needs(slot) {
                gradients.put(slot, Some((self.derivative.back)(&context, grad, slot)?))?;
            }
        }
        Ok(())
    }
}

/// Computes a result without recording, and records the call if it has to be.
pub(super) fn recorded(
    derivative: &'static Derivative,
    args: &[Value],
    compute: impl FnOnce() -> Result<Tensor>,
) -> Result<Tensor> {
    let result = {
        let _off = GradModeGuard::new(false);
        compute()?
    };
    let tensor_of = |value: &Value| if let Value::Tensor(tensor) = value { Some(tensor.clone()) } else { None };
    let tensors: Vec<Option<Tensor>> = args.iter().map(tensor_of).collect();
    if !should_record(tensors.iter().flatten()) || !result.dtype().is_differentiable() {
        return Ok(result);
    }
    let edges = tensors.iter().fold(Edges::new(), |edges, tensor| edges.with_option(tensor.as_ref()));
    let mut saved: Vec<(usize, Saved)> = Vec::new();
    for &(slot, needed) in derivative.needs {
        if edges.needs(slot) && saved.iter().all(|(at, _)| *at != needed) {
            let tensor = tensors.get(needed).and_then(Option::as_ref);
            let tensor = tensor.ok_or_else(|| err!(Internal, "{}: argument {needed} is no tensor", derivative.name))?;
            saved.push((needed, Saved::input(tensor)?));
        }
    }
    let input = |tensor: &Tensor| (tensor.layout(), tensor.sizes());
    let inputs = tensors.iter().map(|tensor| tensor.as_ref().map_or((Layout::Strided, DimVec::new()), input)).collect();
    let args = args.iter().map(|value| if tensor_of(value).is_some() { Value::None } else { value.clone() }).collect();
    // A kernel may return its argument, which keeps its own history.
    let result = if tensors.iter().flatten().any(|tensor| tensor.is(&result)) { result.alias() } else { result };
    record(&[&result], edges, SparseNode { derivative, args, inputs, saved });
    Ok(result)
}

/// Passes the gradient on: the node of a target that was written in place.
pub(super) static COPIED: Derivative =
    Derivative { name: "CopyBackwards", needs: &[], back: |_, grad, _| Ok(grad.clone()) };

/// Makes the written target the result of the computation of its new components.
pub(super) fn rebase(target: &Tensor, result: &Tensor) -> Result<()> {
    let edges = Edges::of(&[result]);
    let node = SparseNode { derivative: &COPIED, args: vec![Value::None], inputs: Vec::new(), saved: Vec::new() };
    crate::autograd::rebase_history(target, edges, node)
}
