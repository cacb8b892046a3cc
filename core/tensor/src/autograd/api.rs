//! `backward` and `grad`: the entry points of programs.

use super::engine::{self, Pass};
use super::node::{Edge, TensorMeta};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure, err};

/// Computes the gradients of `outputs` and accumulates them in the `grad` of the leaves, or of `inputs` only.
///
/// `grads` are the initial gradients, one per output; a missing one means 1 for a tensor of one element and is an error
/// for others. With `retain_graph` the graph can run again; with `create_graph` the gradients are differentiable.
pub fn backward(
    outputs: &[&Tensor],
    grads: &[Option<&Tensor>],
    retain_graph: bool,
    create_graph: bool,
    inputs: &[&Tensor],
) -> Result<()> {
    let targets = capture_edges(inputs)?;
    let captured = run(roots(outputs, grads)?, retain_graph, create_graph, true, &targets)?;
    // Leaves have already accumulated; non-leaf tensors do so here.
    for (input, grad) in inputs.iter().zip(captured) {
        if let (false, Some(grad)) = (input.is_leaf(), grad) {
            input.update_grad(|before| match before {
                None => Ok(grad),
                Some(before) => ops::add_tensor(&before, &grad, 1.into()),
            })?;
        }
    }
    Ok(())
}

/// The gradients of `outputs` with respect to `inputs`; nothing is accumulated. An input that the outputs do not
/// depend on is an error, or `None` with `allow_unused`.
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    grads: &[Option<&Tensor>],
    retain_graph: bool,
    create_graph: bool,
    allow_unused: bool,
) -> Result<Vec<Option<Tensor>>> {
    ensure!(!inputs.is_empty(), Value, "grad requires non-empty inputs.");
    let targets = capture_edges(inputs)?;
    let captured = run(roots(outputs, grads)?, retain_graph, create_graph, false, &targets)?;
    for (index, grad) in captured.iter().enumerate() {
        if grad.is_none() && !allow_unused {
            // libtorch's message lacks the space before "of", and programs compare messages.
            bail!(
                Runtime,
                "element {index}of the differentiated Tensors appears to not have been used in the graph. Set \
                 allow_unused=True if this is the desired behavior."
            );
        }
    }
    Ok(captured)
}

/// The gradients that reach the edges `targets` when the edges `roots` receive these gradients. With `accumulate` leaves
/// accumulate theirs: all of them, or those among `targets` if there are any.
pub fn run_backward(
    roots: Vec<(Edge, Tensor)>,
    retain_graph: bool,
    create_graph: bool,
    accumulate: bool,
    targets: &[Edge],
) -> Result<Vec<Option<Tensor>>> {
    ensure!(accumulate || !targets.is_empty(), Value, "run_backward: there are no outputs, and nothing is accumulated");
    let fitted = |(index, (edge, grad)): (usize, (Edge, Tensor))| {
        let meta = &edge.node.outputs()[edge.output as usize];
        let grad = engine::fit(grad, meta, || "invalid gradient".to_owned(), index)?;
        Ok((edge, grad))
    };
    let roots = roots.into_iter().enumerate().map(fitted).collect::<Result<_>>()?;
    run(roots, retain_graph, create_graph, accumulate, targets)
}

/// [`run_backward`] with gradients of the shapes that the nodes expect.
fn run(
    roots: Vec<(Edge, Tensor)>,
    retain_graph: bool,
    create_graph: bool,
    accumulate_captured: bool,
    targets: &[Edge],
) -> Result<Vec<Option<Tensor>>> {
    let captures = (!targets.is_empty()).then_some(targets);
    engine::run(&Pass { roots, captures, accumulate_captured, retain_graph, create_graph })
}

fn capture_edges(inputs: &[&Tensor]) -> Result<Vec<Edge>> {
    inputs
        .iter()
        .enumerate()
        .map(|(index, input)| {
            let edge = input.gradient_edge();
            edge.ok_or_else(|| err!(Runtime, "element {index} of the input tensors does not require grad"))
        })
        .collect()
}

fn roots(outputs: &[&Tensor], grads: &[Option<&Tensor>]) -> Result<Vec<(Edge, Tensor)>> {
    ensure!(
        grads.is_empty() || grads.len() == outputs.len(),
        Runtime,
        "got {} tensors and {} gradients",
        outputs.len(),
        grads.len()
    );
    outputs.iter().enumerate().map(|(index, output)| root(index, output, grads.get(index).copied().flatten())).collect()
}

fn root(index: usize, output: &Tensor, grad: Option<&Tensor>) -> Result<(Edge, Tensor)> {
    let Some(edge) = output.gradient_edge() else {
        bail!(Runtime, "element {index} of tensors does not require grad and does not have a grad_fn")
    };
    let grad = match grad {
        Some(grad) => {
            let meta = TensorMeta::of(output);
            engine::fit(grad.clone(), &meta, || "invalid gradient".to_owned(), index)?
        }
        None => {
            ensure!(output.numel() == 1, Runtime, "grad can be implicitly created only for scalar outputs");
            ensure!(
                !output.dtype().is_complex(),
                Runtime,
                "grad can be computed only for real scalar outputs but got {}",
                output.dtype().c10_name()
            );
            ops::ones(&output.sizes(), output.options())?
        }
    };
    Ok((edge, grad))
}
