//! The operators that nested tensors have: a kernel for each.

use super::{attention, convert, pointwise, shape};
use crate::dispatch::{Args, Value};
use rushlight_base::Result;

type Function = fn(&str, &Args<'_>) -> Result<Vec<Value>>;

/// A kernel of an operator.
#[derive(Clone, Copy)]
pub(super) enum Kernel {
    /// A function of the operator's name and the arguments.
    Of(Function),
    /// The operator on the elements of the first argument.
    OnElements,
    /// The operator on the elements of two nested tensors of the same sizes, or of one and a number.
    OnPairs,
    /// The operator on the rows of the first argument: the vectors along its last dimension.
    OnRows,
}

impl Kernel {
    /// Calls it.
    pub fn call(self, name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
        match self {
            Kernel::Of(kernel) => kernel(name, args),
            Kernel::OnElements => pointwise::on_elements(name, args),
            Kernel::OnPairs => pointwise::on_pairs(name, args),
            Kernel::OnRows => pointwise::on_rows(name, args),
        }
    }
}

/// The kernel of an operator.
pub(super) fn find(name: &str) -> Option<Kernel> {
    let of = KERNELS.iter().find(|(operator, _)| *operator == name).map(|(_, kernel)| Kernel::Of(*kernel));
    let listed = || {
        let lists = [(ON_ELEMENTS, Kernel::OnElements), (ON_PAIRS, Kernel::OnPairs), (ON_ROWS, Kernel::OnRows)];
        lists.into_iter().find(|(names, _)| names.contains(&name)).map(|(_, kernel)| kernel)
    };
    of.or_else(listed)
}

/// Functions of each element.
const ON_ELEMENTS: &[&str] = &[
    "_to_copy",
    "abs",
    "add.Scalar",
    "alias",
    "clone",
    "contiguous",
    "cos",
    "detach",
    "div.Scalar",
    "dropout",
    "empty_like",
    "eq.Scalar",
    "ge.Scalar",
    "gelu",
    "gt.Scalar",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "logical_not",
    "mul.Scalar",
    "neg",
    "relu",
    "sgn",
    "silu",
    "sin",
    "sqrt",
    "sub.Scalar",
    "tanh",
    "to.device",
    "to.dtype",
    "to.dtype_layout",
    "zeros_like",
];

/// Arithmetic.
const ON_PAIRS: &[&str] = &["add.Tensor", "div.Tensor", "mul.Tensor", "sub.Tensor"];

/// Functions of each vector along the last dimension.
const ON_ROWS: &[&str] = &["linear"];

const KERNELS: &[(&str, Function)] = &[
    // Metadata.
    ("dim", shape::dim),
    ("is_contiguous", shape::is_contiguous),
    ("numel", shape::numel),
    ("size", shape::size),
    ("size.int", shape::size_int),
    ("stride", shape::stride),
    ("_nested_tensor_size", shape::sizes),
    ("is_floating_point", shape::is_floating_point),
    ("prim::device", shape::device),
    ("prim::dtype", shape::dtype),
    // Parts.
    ("unbind.int", shape::unbind),
    ("select.int", shape::select),
    ("transpose.int", shape::transpose),
    // Conversion.
    ("to_padded_tensor", convert::to_padded),
    // Layers.
    ("layer_norm", pointwise::layer_norm),
    ("softmax.int", pointwise::softmax),
    ("_native_multi_head_attention", attention::multi_head),
    ("_transformer_encoder_layer_fwd", attention::encoder_layer),
];
