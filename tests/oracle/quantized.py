"""Writes tests/data/quantized.expected.txt: results of PyTorch 2.7.1 (engine fbgemm) for calls of quantized operators.

A line is a call and its results: `operator ; argument ; ... => result & result`. core/tensor/tests/quantized_cases.rs reads
the arguments like this script. Integers of inputs have 7 bits, because fbgemm adds products in 16 bits on processors without
VNNI.

  f:SIZES:SEED                        a float tensor
  q:DTYPE:SCALE:ZERO:SIZES:SEED       a quantized tensor
  c:DTYPE:AXIS:SIZES:SEED             a per channel quantized tensor
  v:DTYPE:NUMBERS                     a vector
  d:DTYPE  s:TEXT  [INTS]  {TENSOR,TENSOR}  none  true  false  NUMBER
  e:SIZES:SEED                        a quint8 matrix with a scale and a floating-point zero point for each row
  l:DTYPE:SCALE:ZERO:SIZES:SEED       a quantized tensor with its channels last in memory
  w:BITS:SIZES:SEED                   the uint8 rows that embedding_bag_BITS_prepack returns for a float matrix
  p:OPERATOR(ARGUMENTS)               packed parameters
  r:KIND:IN:WIDTH:GATES:SEED+...      a list of the parameters of recurrent cells; KIND is dynamic, reduced or fp16
"""

import pathlib
import warnings

import torch

warnings.filterwarnings("ignore")
torch.backends.quantized.engine = "fbgemm"
OUT = pathlib.Path(__file__).parent.parent / "data" / "quantized.expected.txt"


def sizes_of(text):
    return [int(size) for size in text.split("x")] if text else []


def count_of(sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


def integers(dtype, sizes, seed):
    low = {torch.qint8: -63, torch.quint8: 0, torch.qint32: -1000}[dtype]
    kind = {torch.qint8: torch.int8, torch.quint8: torch.uint8, torch.qint32: torch.int32}[dtype]
    values = [(i * 53 + seed * 17) % 127 + low for i in range(count_of(sizes))]
    return torch.tensor(values, dtype=kind).reshape(sizes)


def argument(text):
    kind, _, rest = text.partition(":")
    parts = rest.split(":")
    if kind == "f":
        sizes, seed = sizes_of(parts[0]), int(parts[1])
        values = [((i * 37 + seed * 11) % 101 - 50) / 16 for i in range(count_of(sizes))]
        return torch.tensor(values).reshape(sizes)
    if kind == "q":
        dtype = getattr(torch, parts[0])
        ints = integers(dtype, sizes_of(parts[3]), int(parts[4]))
        return torch._make_per_tensor_quantized_tensor(ints, float(parts[1]), int(parts[2]))
    if kind == "l":
        return argument(f"q:{rest}").contiguous(memory_format=torch.channels_last)
    if kind == "w":
        return getattr(torch.ops.quantized, f"embedding_bag_{parts[0]}_prepack")(argument(f"f:{parts[1]}:{parts[2]}"))
    if kind == "c":
        dtype, axis, sizes = getattr(torch, parts[0]), int(parts[1]), sizes_of(parts[2])
        scales = torch.tensor([0.01 * (c + 1) for c in range(sizes[axis])], dtype=torch.float64)
        zeros = torch.tensor([c % 3 - 1 if dtype != torch.quint8 else c for c in range(sizes[axis])])
        return torch._make_per_channel_quantized_tensor(integers(dtype, sizes, int(parts[3])), scales, zeros, axis)
    if kind == "v":
        return torch.tensor([float(value) for value in parts[1].split()]).to(getattr(torch, parts[0]))
    if kind == "d":
        return getattr(torch, parts[0])
    if kind == "s":
        return rest
    if kind == "e":
        sizes, seed = sizes_of(parts[0]), int(parts[1])
        scales = torch.tensor([0.01 * (row + 1) for row in range(sizes[0])])
        zeros = torch.tensor([60.5 + row for row in range(sizes[0])])
        return torch.quantize_per_channel(argument(f"f:{parts[0]}:{seed}"), scales, zeros, 0, torch.quint8)
    if kind == "r":
        return [cell(*one.split(":")) for one in rest.split("+")]
    if kind == "p":
        operator, _, arguments = rest.partition("(")
        return getattr(torch.ops.quantized, operator)(*[argument(one.strip()) for one in arguments[:-1].split(",,")])
    if text.startswith("["):
        return [int(value) for value in text[1:-1].split()]
    if text.startswith("{"):
        return [argument(one) for one in text[1:-1].split(",")]
    if text in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[text]
    return float(text) if "." in text or "e" in text else int(text)


def cell(kind, inputs, width, gates, seed):
    rows = int(width) * int(gates)
    biases = [argument(f"f:{rows}:{int(seed) + at}") / 4 for at in range(2)]
    if kind == "fp16":
        packed = [torch.ops.quantized.linear_prepack_fp16(argument(f"f:{rows}x{columns}:{seed}") / 4, bias) for columns, bias in zip((inputs, width), biases)]
        return torch.ops.quantized.make_quantized_cell_params_fp16(*packed)
    weights = [argument(f"q:qint8:0.02:0:{rows}x{columns}:{seed}") for columns in (inputs, width)]
    packed = [torch.ops.quantized.linear_prepack(weight, bias) for weight, bias in zip(weights, biases)]
    return torch.ops.quantized.make_quantized_cell_params_dynamic(*packed, *biases, kind == "reduced")


def shown(value):
    if isinstance(value, (list, tuple)):
        return " & ".join(shown(one) for one in value)
    if value is None:
        return "none"
    if not isinstance(value, torch.Tensor):
        return f"s {float(value)!r}"
    sizes = "x".join(str(size) for size in value.shape)
    if value.is_quantized:
        scheme = value.qscheme()
        if scheme == torch.per_tensor_affine:
            parameters = f"{value.q_scale()!r} {value.q_zero_point()}"
        else:
            parameters = f"axis {value.q_per_channel_axis()}"
        numbers = " ".join(str(number) for number in value.int_repr().flatten().tolist())
        return f"q {str(value.dtype)[6:]} {sizes} {parameters} : {numbers}"
    numbers = " ".join(f"{float(number):.9g}" for number in value.flatten())
    return f"t {str(value.dtype)[6:]} {sizes} : {numbers}"


Q = "q:quint8:0.037:60"
W = "p:linear_prepack(q:qint8:0.021:2:6x20:3,,f:6:5)"
WC = "p:linear_prepack(c:qint8:0:6x20:3,,f:6:5)"
C2 = "p:conv2d_prepack(c:qint8:0:4x3x3x2:3,,f:4:5,,[2 1],,[1 0],,[1 2],,2)"
C2T = "p:conv2d_prepack(q:qint8:0.02:1:4x6x3x3:3,,none,,[1 1],,[1 1],,[1 1],,1)"
C1 = "p:conv1d_prepack(q:qint8:0.02:1:4x3x3:3,,f:4:2,,[2],,[1],,[1],,1)"
C3 = "p:conv3d_prepack(c:qint8:0:2x3x2x2x2:3,,f:2:2,,[1 2 1],,[0 1 1],,[1 1 1],,1)"
VECTORS = "v:float32:0.5 1.25 2 -1 0.25 0.75 ; v:float32:0.1 -0.3 0.7 0 1.5 -0.6"
BAGS = "v:int64:4 0 2 2 1 3 3 0 ; v:int64:0 3 3 4 ; false ; 0"
FACTORS = "v:float32:0.5 1.5 -1 0.25 2 1 0.125 3"
TARGET = "q:quint8:0.06:70"
TRANSPOSED = [
    (1, "2x4x5", "p:conv_transpose1d_prepack(q:qint8:0.02:1:4x3x3:3,,f:6:2,,[2],,[1],,[1],,[1],,2)"),
    (2, "2x4x5x4", "p:conv_transpose2d_prepack(q:qint8:0.02:1:4x3x3x2:3,,f:6:2,,[2 1],,[1 0],,[1 0],,[1 2],,2)"),
    (3, "1x2x3x2x3", "p:conv_transpose3d_prepack(q:qint8:0.02:0:2x3x2x2x2:3,,none,,[1 2 1],,[0 1 0],,[0 1 0],,[1 1 1],,1)"),
]
POOL = "[3 3] ; [2 2] ; [1 1]"

CALLS = [
    *[f"aten::quantize_per_tensor ; f:5x7:{seed} ; {scale} ; {zero} ; d:{dtype}"
      for seed, scale in ((1, 0.125), (2, 0.037), (3, 0.01))
      for dtype, zero in (("qint8", -3), ("quint8", 100), ("qint32", 7))],
    "aten::quantize_per_tensor.tensor_qparams ; f:5x7:1 ; v:float32:0.3 ; v:int64:4 ; d:quint8",
    "aten::quantize_per_tensor.tensors ; {f:5:1,f:3:2} ; v:float32:0.3 0.2 ; v:int64:4 5 ; d:qint8",
    *[f"aten::quantize_per_tensor_dynamic ; f:{sizes}:{seed} ; d:{dtype} ; {reduced}"
      for sizes, seed in (("5x7", 1), ("3", 4), ("2", 9)) for dtype in ("qint8", "quint8") for reduced in ("true", "false")],
    *[f"aten::quantize_per_channel ; f:4x3x2:2 ; v:{kind}:0.1 0.021 0.3 ; v:int64:3 2 1 ; 1 ; d:{dtype}"
      for kind in ("float32", "float64") for dtype in ("qint8", "quint8", "qint32")],
    "aten::quantize_per_channel ; f:3x5:2 ; v:float32:0.1 0.021 0.3 ; v:float32:3.5 2.25 1 ; 0 ; d:quint8",
    *[f"aten::{name} ; {tensor}" for name in ("dequantize.self", "int_repr", "qscheme")
      for tensor in (f"{Q}:4x5:1", "q:qint8:0.11:-3:4x5:1", "q:qint32:0.003:9:4x5:1", "c:qint8:1:2x3x4:1", "c:quint8:0:3x4:2")],
    f"aten::item ; {Q}:1x1:2", "aten::item ; c:qint8:0:1:3",
    f"aten::dequantize.tensors ; {{{Q}:4:1,q:qint8:0.11:-3:3:1}}",
    *[f"aten::{name} ; {Q}:4x5:1" for name in ("q_scale", "q_zero_point")],
    *[f"aten::q_per_channel_{name} ; c:qint8:1:2x3x4:1" for name in ("scales", "zero_points", "axis")],
    "aten::_make_per_channel_quantized_tensor ; v:int8:1 -2 ; v:float32:0.5 0.25 ; v:int64:1 0 ; 0",
    f"aten::view ; {Q}:4x6:1 ; [2 12]", f"aten::permute ; {Q}:2x3x4:1 ; [2 0 1]",
    f"aten::transpose.int ; {Q}:4x6:1 ; 0 ; 1", f"aten::slice.Tensor ; {Q}:4x6:1 ; 1 ; 1 ; 6 ; 2",
    f"aten::select.int ; {Q}:4x6:1 ; 1 ; -2", "aten::select.int ; c:qint8:1:2x3x4:1 ; 1 ; 2",
    "aten::select.int ; c:qint8:1:2x3x4:1 ; 0 ; 1", "aten::slice.Tensor ; c:qint8:1:2x3x4:1 ; 2 ; 1 ; 3",
    f"aten::unsqueeze ; {Q}:4x6:1 ; 1", f"aten::squeeze.dim ; {Q}:4x1x6:1 ; 1", f"aten::reshape ; {Q}:4x6:1 ; [3 8]",
    f"aten::flatten.using_ints ; {Q}:2x3x4:1", f"aten::expand ; {Q}:1x6:1 ; [3 6]", f"aten::clone ; {Q}:4x6:1",
    f"aten::chunk ; {Q}:4x6:1 ; 2 ; 1", f"aten::flip ; {Q}:4x6:1 ; [0]", "aten::clone ; c:qint8:1:2x3x4:1",
    f"aten::equal ; {Q}:4x6:1 ; {Q}:4x6:1", f"aten::equal ; {Q}:4x6:1 ; q:quint8:0.037:61:4x6:1",
    f"aten::relu ; {Q}:4x6:1", f"aten::clamp ; {Q}:4x6:1 ; -0.5 ; 1.1", f"aten::hardtanh ; {Q}:4x6:1",
    *[f"aten::{name} ; {tensor}" for name in ("sigmoid", "tanh", "hardsigmoid")
      for tensor in (f"{Q}:5x9:1", "q:qint8:0.031:-5:5x9:2")],
    f"aten::leaky_relu ; {Q}:5x9:1 ; 0.3", f"aten::threshold ; {Q}:5x9:1 ; 0.5 ; 0.1", f"aten::max ; {Q}:4x6:1",
    f"aten::max.dim ; {Q}:4x6:1 ; 1", f"aten::eq.Scalar ; {Q}:4x6:1 ; 0.0", f"aten::topk ; {Q}:4x6:1 ; 2",
    f"aten::max_pool2d ; {Q}:2x3x7x6:1 ; {POOL}", f"aten::avg_pool2d ; {Q}:2x3x7x6:1 ; {POOL}",
    f"aten::avg_pool2d ; {Q}:2x3x7x6:1 ; {POOL} ; false ; false", f"aten::adaptive_avg_pool2d ; {Q}:2x3x7x6:1 ; [3 2]",
    f"aten::adaptive_avg_pool2d ; {Q}:2x3x7x6:1 ; [1 1]", f"aten::mean.dim ; {Q}:2x3x7x6:1 ; [2 3]",
    f"aten::mean ; {Q}:4x6:1", f"aten::cat ; {{{Q}:4x2:1,{Q}:4x3:2}} ; 1",
    f"aten::cat ; {{{Q}:4x2:1,q:quint8:0.05:40:4x3:2}} ; 1", f"aten::stack ; {{{Q}:4:1,{Q}:4:2}}",
    f"aten::upsample_nearest2d ; {Q}:1x2x3x3:1 ; [5 6]", f"aten::upsample_bilinear2d ; {Q}:1x2x3x3:1 ; [5 6] ; false",
    f"aten::constant_pad_nd ; {Q}:3x4:1 ; [1 2] ; 0.5", f"aten::index_select ; {Q}:3x4:1 ; 1 ; v:int64:2 0",
    *[f"quantized::{name} ; {Q}:5x7:1 ; q:quint8:0.05:40:5x7:2 ; 0.06 ; 70" for name in ("add", "add_relu", "mul", "mul_relu")],
    *[f"quantized::{name} ; q:qint8:0.037:-4:5x7:1 ; q:qint8:0.05:7:5x7:2 ; 0.06 ; 3" for name in ("add", "mul")],
    *[f"quantized::{name}.Scalar ; {Q}:5x7:1 ; {number}" for name in ("add", "mul", "add_relu") for number in (0.7, -1.3, 9.0)],
    *[f"quantized::{name} ; {{{Q}:4x2:1,q:quint8:0.05:40:4x3:2}} ; 1 ; 0.06 ; 20" for name in ("cat", "cat_relu")],
    f"quantized::hardswish ; {Q}:5x9:1 ; 0.05 ; 20", f"quantized::leaky_relu ; {Q}:5x9:1 ; 0.2 ; false ; 0.05 ; 20",
    f"quantized::elu ; {Q}:5x9:1 ; 0.05 ; 20 ; 1.5", f"quantized::celu ; {Q}:5x9:1 ; 0.05 ; 20 ; 1.5",
    f"quantized::sigmoid ; {Q}:5x9:1 ; 0.005 ; 3", f"quantized::softmax ; {Q}:5x9:1 ; 1 ; 0.004 ; 0",
    f"quantized::relu6 ; {Q}:5x9:1", f"quantized::clamp ; {Q}:5x9:1 ; -0.5 ; 0.5",
    *[f"quantized::batch_norm2d{relu} ; {Q}:2x3x4x5:1 ; v:float32:0.5 1.25 2 ; v:float32:0.1 -0.3 0.7 ; v:float32:0.2 0.1 -0.4 ; "
      "v:float32:1.5 0.3 0.9 ; 1e-05 ; 0.05 ; 90" for relu in ("", "_relu")],
    f"quantized::max_pool2d ; {Q}:2x3x7x6:1 ; {POOL} ; [1 1] ; false",
    *[f"quantized::{name} ; {Q}:{sizes}:1 ; {packed} ; 0.13 ; 120" for name in ("linear", "linear_relu")
      for packed in (W, WC) for sizes in ("7x20", "2x3x20")],
    *[f"quantized::linear{relu}_dynamic ; f:7x20:1 ; {packed} ; true" for relu in ("", "_relu") for packed in (W, WC)],
    f"quantized::linear_unpack ; {W}", f"quantized::linear_unpack ; {WC}",
    "quantized::linear_dynamic_fp16 ; f:3x4:1 ; p:linear_prepack_fp16(f:2x4:3,,f:2:5)",
    *[f"quantized::conv2d{relu}.new ; {Q}:2x6x7x6:1 ; {packed} ; 0.13 ; 120" for relu in ("", "_relu") for packed in (C2, C2T)],
    f"quantized::conv2d_unpack ; {C2T}", f"quantized::conv2d_stride ; {C2}", f"quantized::conv2d_padding ; {C2}",
    f"quantized::conv2d_dilation ; {C2}", f"quantized::conv2d_groups ; {C2}", f"quantized::conv2d_transpose ; {C2}",
    f"quantized::conv1d ; {Q}:2x3x9:1 ; {C1} ; 0.13 ; 120", f"quantized::conv1d_relu ; {Q}:2x3x9:1 ; {C1} ; 0.13 ; 120",
    f"quantized::conv3d.new ; {Q}:1x3x3x4x3:1 ; {C3} ; 0.13 ; 120",
    f"quantized::conv1d_unpack ; {C1}", f"quantized::conv2d_stride ; {C1}", f"quantized::conv2d_padding ; {C1}",
    *[f"quantized::conv_transpose{dims}d ; {Q}:{sizes}:1 ; {packed} ; 0.19 ; 110" for dims, sizes, packed in TRANSPOSED],
    *[f"quantized::conv_transpose{dims}d_unpack ; {packed}" for dims, _, packed in TRANSPOSED],
    *[f"quantized::conv_transpose2d_{name} ; {TRANSPOSED[1][2]}" for name in ("stride", "padding", "output_padding", "dilation", "groups", "transpose")],
    *[f"quantized::conv{dims}d_dynamic ; f:{sizes}:3 ; {packed} ; {reduced}" for reduced in ("true", "false")
      for dims, sizes, packed in ((1, "2x3x9", C1), (2, "2x6x7x6", C2), (3, "1x3x3x4x3", C3))],
    *[f"quantized::conv_transpose{dims}d_dynamic ; f:{sizes}:3 ; {packed} ; true" for dims, sizes, packed in TRANSPOSED[:2]],
    f"quantized::embedding_byte ; p:embedding_bag_prepack(e:5x8:3) ; v:int64:4 0 2 2",
    f"quantized::embedding_byte ; p:embedding_bag_prepack(e:5x8:3) ; v:int32:1",
    *[f"quantized::layer_norm ; {x} ; {shape} ; {parameters} ; 1e-05 ; 0.021 ; 120" for x, shape, parameters in (
        (f"{Q}:4x6:1", "[6]", VECTORS), (f"{Q}:4x6:1", "[6]", "none ; none"), ("q:qint8:0.031:-5:5x2x3:2", "[2 3]", "none ; none"),
        ("q:qint8:0.031:-5:5x2x3:2", "[2 3]", "f:2x3:4 ; f:2x3:5"))],
    f"quantized::layer_norm ; q:qint32:0.003:7:5x6:3 ; [6] ; {VECTORS} ; 0.001 ; 0.000001 ; 0",
    *[f"quantized::group_norm ; {x} ; {groups} ; {parameters} ; 1e-05 ; 0.021 ; 120"
      for x in (f"{Q}:2x6x3:1", f"{Q}:2x6x3x5:1", "l:quint8:0.037:60:2x6x3x5:1", f"{Q}:1x6x2x2x3:4") for groups in (1, 3)
      for parameters in (VECTORS, "none ; none")],
    # Larger groups of int32 add up in float in the engine, which depends on the processor.
    f"quantized::group_norm ; q:qint32:0.003:7:2x6x2x1:3 ; 3 ; {VECTORS} ; 0.001 ; 0.000001 ; 0",
    f"quantized::group_norm ; l:qint32:0.003:7:2x6x2x3:3 ; 6 ; {VECTORS} ; 0.001 ; 0.000001 ; 0",
    *[f"quantized::instance_norm ; {x} ; {parameters} ; 1e-05 ; 0.021 ; 120"
      for x in (f"{Q}:2x6x9:1", f"{Q}:2x6x3x5:1", "l:quint8:0.037:60:2x6x3x5:1", "q:qint8:0.05:3:1x6x2x2x3:4")
      for parameters in (VECTORS, "none ; none")],
    *[f"quantized::prelu ; {x} ; {w} ; 0.0137 ; 90" for x, w in (
        (f"{Q}:5x7:1", "q:quint8:0.017:50:1:2"), (f"{Q}:5x7:1", "q:quint8:0.017:50:7:2"), (f"{Q}:2x3x4:1", "q:quint8:0.017:50:3:2"))],
    "quantized::prelu ; q:qint32:0.003:7:5x7:1 ; q:qint32:0.0017:-5:7:2 ; 0.0000002 ; 3",
    f"quantized::threshold ; {Q}:5x9:1 ; 0.5 ; 0.1", f"quantized::dropout ; {Q}:5x9:1 ; 0.1 ; 3 ; 0.5 ; true",
    *[f"{name} ; {Q}:2x3x4x5:1 ; v:float32:0.5 1.25 2 ; v:float32:0.1 -0.3 0.7 ; v:float32:0.2 0.1 -0.4 ; v:float32:1.5 0.3 0.9 ; "
      "1e-05 ; 0.05 ; 90" for name in ("quantized::batch_norm_relu", "aten::quantized_batch_norm")],
    f"aten::quantized_max_pool1d ; {Q}:2x3x7:1 ; [3] ; [2] ; [1]",
    f"aten::quantized_max_pool2d ; {Q}:2x3x7x6:1 ; {POOL} ; [1 1] ; true",
    f"aten::quantized_max_pool3d ; {Q}:1x2x5x4x6:1 ; [2 2 3] ; [2 1 2]",
    *[f"quantized::{name} ; {Q}:5x7:1 ; q:quint8:0.05:40:5x7:2 ; {TARGET}:5x7:3" for name in (
        "add_out", "add.out", "add_relu_out", "mul_out", "mul.out", "mul_relu_out", "mul_relu.out")],
    *[f"quantized::{name} ; {Q}:5x7:1 ; {number} ; {TARGET}:5x7:3" for number in (0.7, -1.3, 9.0) for name in (
        "add_scalar_out", "add.Scalar_out", "add_scalar_relu_out", "mul_scalar_out", "mul.Scalar_out", "mul_scalar_relu_out")],
    *[f"quantized::{name}_scalar{form} ; {Q}:5x7:1 ; v:float32:-0.75" for name in ("add", "mul") for form in (".Tensor", "_relu.Tensor")],
    *[f"quantized::{name}_out.Tensor ; {Q}:5x7:1 ; v:float32:0.75 ; {TARGET}:5x7:3" for name in (
        "add_scalar", "add_scalar_relu", "mul_scalar", "mul_scalar_relu")],
    *[f"quantized::{name}.Scalar2 ; 0.75 ; {Q}:5x7:1" for name in ("add", "add_relu", "mul")],
    *[f"quantized::{name} ; {{{Q}:4x2:1,q:quint8:0.05:40:4x3:2}} ; 1 ; {TARGET}:4x5:1" for name in ("cat_out", "cat_relu_out")],
    "quantized::linear_dynamic_fp16_unpacked_weight ; f:3x4:1 ; f:2x4:3 ; f:2:5",
    *[f"quantized::embedding_bag_{bits}_{way} ; {matrix}" for bits in ("byte", "4bit", "2bit")
      for way, matrix in (("prepack", "f:5x8:3"), ("unpack", f"w:{bits}:5x8:2"))],
    *[f"quantized::embedding_bag_{bits}_prepack ; f:4x8:3 ; true ; {bins} ; 0.25" for bits in ("4bit", "2bit") for bins in (50, 200)],
    *[f"quantized::embedding_bag_{bits}_rowwise_offsets ; w:{bits}:5x8:3 ; {rest}" for bits in ("byte", "4bit", "2bit")
      for rest in (BAGS, f"{BAGS} ; false ; {FACTORS}", f"{BAGS} ; true ; {FACTORS} ; v:int32:3 -1 0 4 2")],
    *[f"quantized::embedding_bag_byte ; p:embedding_bag_prepack(e:5x8:3) ; {rest}" for rest in (
        BAGS, f"{BAGS} ; false ; {FACTORS}", f"{BAGS} ; true ; none ; v:int32:0",
        "v:int32:4 0 2 2 ; v:int32:0 1 4 ; false ; 1 ; false ; none ; none ; true")],
    f"_quantized::add ; {Q}:5x7:1 ; q:quint8:0.05:40:5x7:2 ; 0.06 ; 70", f"_quantized::linear ; {Q}:7x20:1 ; {W} ; 0.13 ; 120",
    f"_quantized::conv2d_relu ; {Q}:2x6x7x6:1 ; {C2} ; 0.13 ; 120", f"_quantized::linear_dynamic ; f:7x20:1 ; {W} ; true",
    *[f"aten::quantized_lstm.input ; f:5x2x3:1 ; {{f:{layers * (1 + both)}x2x4:2,f:{layers * (1 + both)}x2x4:3}} ; "
      f"r:{cells} ; true ; {layers} ; 0.0 ; false ; {'true' if both else 'false'} ; false"
      for layers, both, cells in ((1, 0, "dynamic:3:4:4:1"), (1, 0, "reduced:3:4:4:2"), (1, 0, "fp16:3:4:4:3"),
                                  (2, 0, "reduced:3:4:4:1+reduced:4:4:4:2"), (1, 1, "dynamic:3:4:4:1+dynamic:3:4:4:5"))],
    "aten::quantized_lstm.data ; f:6x3:1 ; v:int64:3 2 1 ; {f:1x3x4:2,f:1x3x4:3} ; r:dynamic:3:4:4:1 ; true ; 1 ; 0.0 ; false ; false",
    "aten::quantized_gru.input ; f:2x5x3:1 ; f:1x2x4:2 ; r:reduced:3:4:3:1 ; true ; 1 ; 0.0 ; false ; false ; true",
    "aten::quantized_gru.data ; f:6x3:1 ; v:int64:3 2 1 ; f:1x3x4:2 ; r:dynamic:3:4:3:1 ; true ; 1 ; 0.0 ; false ; false",
    *[f"quantized::quantized_{name}_cell_dynamic ; f:2x5:1 ; {state} ; p:linear_prepack(q:qint8:0.02:0:{rows}x5:1,,f:{rows}:1) ; "
      f"p:linear_prepack(q:qint8:0.02:0:{rows}x3:2,,f:{rows}:2) ; f:{rows}:1 ; f:{rows}:2"
      for name, state, rows in (("lstm", "{f:2x3:2,f:2x3:3}", 12), ("gru", "f:2x3:2", 9), ("rnn_tanh", "f:2x3:2", 3), ("rnn_relu", "f:2x3:2", 3))],
]


def result(call):
    operator, *arguments = call.split(" ; ")
    namespace, _, name = operator.partition("::")
    name, _, overload = name.partition(".")
    found = getattr(getattr(getattr(torch.ops, namespace), name), overload or "default")
    return found(*[argument(one) for one in arguments])


if __name__ == "__main__":
    OUT.write_text("".join(f"{call} => {shown(result(call))}\n" for call in CALLS))
    print(len(CALLS), "calls")
