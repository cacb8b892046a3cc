//! The operators that quantized tensors have: a kernel for each.

use super::{convert, create, pointwise, pool, views};
use crate::dispatch::{Args, Value};
use rushlight_base::Result;

/// A kernel of an operator.
#[derive(Clone, Copy)]
pub(super) enum Kernel {
    /// A function of the operator's name and the arguments.
    Of(fn(&str, &Args<'_>) -> Result<Vec<Value>>),
    /// The operator on the integers of the first argument; every result is quantized.
    OnIntegers,
    /// The operator on the integers of the first argument; only the first result is quantized.
    FirstOnIntegers,
    /// The operator on floats; the results are not quantized.
    OnNumbers,
    /// The operator on floats; the result has the quantizer of the first argument.
    ThroughNumbers,
}

impl Kernel {
    /// Calls it.
    pub fn call(&self, name: &str, args: &[Value]) -> Result<Vec<Value>> {
        let args = Args(args);
        match self {
            Kernel::Of(kernel) => kernel(name, &args),
            Kernel::OnIntegers => views::on_integers(name, &args, usize::MAX),
            Kernel::FirstOnIntegers => views::on_integers(name, &args, 1),
            Kernel::OnNumbers => pointwise::on_numbers(name, &args),
            Kernel::ThroughNumbers => pointwise::through_numbers(name, &args),
        }
    }
}

/// The kernel of an operator.
pub(super) fn find(name: &str) -> Option<Kernel> {
    if let Some((_, kernel)) = KERNELS.iter().find(|(operator, _)| *operator == name) {
        return Some(Kernel::Of(*kernel));
    }
    for (names, kernel) in [
        (ON_INTEGERS, Kernel::OnIntegers),
        (FIRST_ON_INTEGERS, Kernel::FirstOnIntegers),
        (ON_NUMBERS, Kernel::OnNumbers),
        (THROUGH_NUMBERS, Kernel::ThroughNumbers),
    ] {
        if names.contains(&name) {
            return Some(kernel);
        }
    }
    None
}

/// Operators that read only metadata.
pub(super) fn is_metadata(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "size",
        "size.int",
        "stride",
        "stride.int",
        "dim",
        "numel",
        "storage_offset",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "is_contiguous",
        "is_contiguous.memory_format",
        "prim::device",
        "prim::dtype",
        "prim::layout",
    ];
    NAMES.contains(&name)
}

/// Operators that move elements.
const ON_INTEGERS: &[&str] = &[
    "view",
    "reshape",
    "permute",
    "transpose.int",
    "t",
    "numpy_T",
    "swapaxes",
    "swapdims",
    "movedim.int",
    "movedim.intlist",
    "moveaxis.int",
    "moveaxis.intlist",
    "narrow",
    "flatten.using_ints",
    "unflatten.int",
    "unsqueeze",
    "squeeze",
    "squeeze.dim",
    "squeeze.dims",
    "expand",
    "expand_as",
    "as_strided",
    "chunk",
    "split.Tensor",
    "split.sizes",
    "split_with_sizes",
    "unbind.int",
    "flip",
    "index_select",
    "index.Tensor",
    "pixel_shuffle",
    "pixel_unshuffle",
    "unfold",
    "repeat",
    "max",
    "min",
    "upsample_nearest1d",
    "upsample_nearest2d",
    "upsample_nearest3d",
    "upsample_nearest2d.vec",
    "upsample_nearest1d.vec",
    "upsample_nearest3d.vec",
    "channel_shuffle",
    "roll",
    "diagonal",
    "select.int",
    "slice.Tensor",
];

/// Operators that return elements and their indices.
const FIRST_ON_INTEGERS: &[&str] = &["max.dim", "min.dim", "topk", "sort", "sort.stable"];

/// Comparisons.
const ON_NUMBERS: &[&str] = &[
    "eq.Scalar",
    "eq.Tensor",
    "ne.Scalar",
    "ne.Tensor",
    "lt.Scalar",
    "lt.Tensor",
    "le.Scalar",
    "le.Tensor",
    "gt.Scalar",
    "gt.Tensor",
    "ge.Scalar",
    "ge.Tensor",
];

/// Functions whose result has the quantizer of the input.
const THROUGH_NUMBERS: &[&str] = &["leaky_relu", "gelu", "threshold", "std", "std.dim", "std.correction"];

type Function = fn(&str, &Args<'_>) -> Result<Vec<Value>>;

const KERNELS: &[(&str, Function)] = &[
    ("quantize_per_tensor", create::per_tensor),
    ("quantize_per_tensor.tensor_qparams", create::per_tensor_of_tensors),
    ("quantize_per_tensor.tensors", create::each_per_tensor),
    ("quantize_per_tensor_dynamic", create::dynamic),
    ("quantize_per_channel", create::per_channel),
    ("_empty_affine_quantized", create::empty_affine),
    ("_empty_per_channel_affine_quantized", create::empty_per_channel),
    ("empty_quantized", create::empty_quantized),
    ("empty_like", create::empty_like),
    ("_make_per_tensor_quantized_tensor", create::make_per_tensor),
    ("_make_per_channel_quantized_tensor", create::make_per_channel),
    ("dequantize.self", convert::dequantize),
    ("dequantize.tensors", convert::dequantize_each),
    ("int_repr", convert::int_repr),
    ("item", convert::item),
    ("q_scale", convert::q_scale),
    ("q_zero_point", convert::q_zero_point),
    ("q_per_channel_scales", convert::q_per_channel_scales),
    ("q_per_channel_zero_points", convert::q_per_channel_zero_points),
    ("q_per_channel_axis", convert::q_per_channel_axis),
    ("qscheme", convert::qscheme),
    ("clone", convert::clone),
    ("contiguous", convert::contiguous),
    ("detach", convert::detach),
    ("alias", convert::detach),
    ("to.dtype", convert::to_dtype),
    ("copy_", convert::copy_),
    ("fill_.Scalar", convert::fill_),
    ("equal", convert::equal),
    ("cat", convert::cat),
    ("stack", convert::stack),
    ("constant_pad_nd", convert::constant_pad_nd),
    ("pad", convert::pad),
    ("relu", pointwise::relu),
    ("relu6", pointwise::relu6),
    ("clamp", pointwise::clamp),
    ("hardtanh", pointwise::clamp),
    ("sigmoid", pointwise::sigmoid),
    ("tanh", pointwise::tanh),
    ("hardsigmoid", pointwise::hardsigmoid),
    ("max_pool1d", pool::maximum),
    ("max_pool2d", pool::maximum),
    ("max_pool3d", pool::maximum),
    ("quantized_max_pool1d", pool::quantized_maximum),
    ("quantized_max_pool2d", pool::quantized_maximum),
    ("avg_pool2d", pool::mean),
    ("avg_pool3d", pool::mean),
    ("adaptive_avg_pool2d", pool::mean),
    ("_adaptive_avg_pool2d", pool::mean),
    ("adaptive_avg_pool3d", pool::mean),
    ("mean", pool::mean),
    ("mean.dim", pool::mean),
    ("upsample_bilinear2d", pool::mean),
    ("upsample_bilinear2d.vec", pool::mean),
];
