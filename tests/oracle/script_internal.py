"""Writes core/script/tests/data/internal.txt: calls of operators that stand for others (core/script/src/builtins/internal.rs
and resize.rs) with the results of PyTorch 2.7.1; core/script/tests/builtins.rs repeats them.

A line is `NAME ARGUMENTS => RESULT`, or `NAME ARGUMENTS !! MESSAGE` for a call that fails. Every argument is given. Values
are Python literals; `T(sizes, elements)` is a tensor of float32, `L` of int64 and `A(dtype, sizes, elements)` of another
dtype, whose number is PyTorch's. The generator has the seed 0 before each call.
"""

import pathlib
import warnings

import torch

warnings.filterwarnings("ignore")
OUT = pathlib.Path(__file__).parent.parent.parent / "core" / "script" / "tests" / "data" / "internal.txt"
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64, None, None,
          None, torch.bool, None, None, None, torch.bfloat16]


def f(*sizes, start=0):
    count = 1
    for size in sizes:
        count *= size
    return torch.tensor([((i + start) * 37 % 23 - 11) / 4 for i in range(count)]).reshape(sizes)


X = f(2, 3)
V = f(3)
IMAGE = f(1, 2, 3, 4)
TRUE = torch.tensor([True, True, False])
I8 = torch.tensor([[1, -2, 3], [-4, 5, 127]], dtype=torch.int8)
INDICES, OFFSETS = torch.tensor([1, 0, 1, 1]), torch.tensor([0, 3])
Q, K = f(1, 2, 3, 2), f(1, 2, 4, 2, start=3)
NORM = [f(3), f(3, start=5), f(3, start=2), f(3).abs() + 0.5]

CALLS = [
    *[("__interpolate.size_list", f(1, 2, *sizes), out, None, mode, corners, None, False)
      for mode, sizes, out in (("nearest", [3, 4], [5, 7]), ("area", [3, 4], [2, 3]), ("bilinear", [3, 4], [5, 7]), ("bicubic", [3, 4], [5, 7]),
                               ("nearest", [5], [8]), ("linear", [5], [8]), ("nearest", [2, 3, 2], [3, 4, 3]), ("trilinear", [2, 3, 2], [3, 4, 3]))
      for corners in ((None,) if mode in ("nearest", "area") else (None, False, True))],
    *[("__interpolate", IMAGE, None, 1.7, mode, None, recompute, False) for mode in ("nearest", "bilinear") for recompute in (None, False, True)],
    ("__interpolate", IMAGE, 5, None, "nearest", None, None, False),
    ("__interpolate.scale_list", IMAGE, None, [2.0, 1.5], "bilinear", True, False, False),
    ("__interpolate.size_list_scale_list", IMAGE, [4, 5], None, "nearest", None, None, False),
    ("__interpolate", IMAGE, None, None, "nearest", None, None, False),
    ("__interpolate", IMAGE, 4, None, "nearest", True, None, False),
    ("__interpolate", IMAGE, 4, None, "linear", None, None, False),
    ("__upsample", IMAGE, None, 2, "bilinear", True), ("__upsample", IMAGE, 5, None, "nearest", None),
    ("__upsample.size_list", IMAGE, [5, 3], None, "bicubic", False),
    ("__upsample_bilinear", IMAGE, None, 2), ("__upsample_bilinear.size_list", IMAGE, [5, 6], None),
    ("__upsample_bilinear.scale_list", IMAGE, None, [2, 3]), ("__upsample_bilinear.size_list_scale_list", IMAGE, [4, 4], None),
    ("__upsample_nearest", IMAGE, 5, None), ("__upsample_nearest.size_list", IMAGE, [5, 6], None),
    ("_adaptive_avg_pool2d", IMAGE, [2, 3]), ("_adaptive_avg_pool3d", f(1, 2, 3, 4, 2), [2, 3, 1]),
    ("_add_relu.Tensor", X, f(2, 3, start=4), 2), ("_add_relu.Scalar", X, 0.5, 3), ("_add_relu_.Tensor", X, V, 1), ("_add_relu_.Scalar", X, -0.5, 2),
    ("_addmm_activation", f(2, 2), X, f(3, 2), 1, 2, True), ("_addmm_activation", f(2, 2), X, f(3, 2), 0.5, 1, False),
    ("_aminmax", X), ("_aminmax.dim", X, 1, False), ("_aminmax.dim", X, 0, True),
    *[("_assert_async", torch.tensor(value)) for value in (1.0, 0.0, [], [1.0, 2.0])], ("_assert_async.msg", torch.tensor([0]), "it failed"),
    ("_assert_tensor_metadata", X, [2, 3], [3, 1], 6, None, 0), ("_assert_tensor_metadata", X, [2, 2], None, None, None, None),
    ("_assert_tensor_metadata", X, None, [2, 1], None, None, None), ("_assert_tensor_metadata", X, None, None, 5, None, None),
    ("_assert_tensor_metadata", X, None, None, None, None, 1),
    ("_autocast_to_full_precision", V.half(), True, True), ("_autocast_to_full_precision", V.bfloat16(), True, False),
    ("_autocast_to_full_precision", V.double(), True, True),
    *[("_autocast_to_reduced_precision", x, True, on, 5, 15) for x in (V, V.double(), V.half()) for on in (True, False)],
    ("_batch_norm_impl_index", X, *NORM, False, 0.1, 1e-5, True), ("_batch_norm_impl_index", X, *NORM, True, 0.1, 1e-5, True),
    ("_native_batch_norm_legit_no_training", X, *NORM, 0.1, 1e-5),
    *[(f"_cast_{kind}", X, False) for kind in ("Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short") if kind != "Byte"],
    ("_cast_Byte", X.abs(), False),
    ("_conj_physical", X), ("_dim_arange", X, 1), ("_dim_arange", X, -2), ("_dim_arange", X, 2),
    *[(f"_embedding_bag{form}", X, INDICES, OFFSETS, False, mode, False, factors, False, padding) for form in ("", "_forward_only")
      for mode, factors, padding in ((0, None, -1), (1, None, -1), (2, None, -1), (0, f(4), -1), (0, None, 1))],
    ("_euclidean_dist", X, f(4, 3, start=3)), ("_pdist_forward", f(3, 2), 2.0), ("_logcumsumexp", X, 1),
    ("_grad_sum_to_size", X, [1, 3]), ("_grad_sum_to_size", X, None),
    ("_is_all_true", TRUE), ("_is_all_true", TRUE[:2]), ("_is_any_true", TRUE), ("_is_any_true", TRUE[2:]), ("_is_zerotensor", X),
    ("_list_to_tensor", [3, -1, 7]), ("_list_to_tensor", []), ("_tensor_to_list", torch.tensor([3, -1], dtype=torch.int32)),
    ("_tensor_to_list", torch.tensor([3, -1])), ("_local_scalar_dense", torch.tensor([2.5])), ("_local_scalar_dense", torch.tensor(7)),
    ("_no_grad_fill_", X, 2.5), ("_no_grad_zero_", X), ("_no_grad_uniform_", X, -1.0, 2.0, None), ("_no_grad_normal_", X, 1.0, 2.0, None),
    ("_no_grad_embedding_renorm_", X, torch.tensor([1]), 1.0, 2.0), ("embedding_renorm", X, torch.tensor([1]), 1.0, 2.0),
    ("_pack_sequence", X, INDICES, None, OFFSETS),
    *[("_pad_enum", X, [1, 2], mode, None) for mode in range(4)], ("_pad_enum", X, [1, 0, 0, 1], 3, 1.5),
    ("_reshape_copy", X, [3, -1]), ("_unsafe_view", X, [3, 2]), ("_reshape_from_tensor", X, torch.tensor([3, 2])), ("_shape_as_tensor", IMAGE),
    ("_saturate_weight_to_fp16", torch.tensor([[1e5, -7e4, 3.0]])), ("_stack", [X, X], 1), ("_to_cpu", [X, V]),
    ("_trilinear", f(2, 2), f(2, 2, start=3), f(2, 2, start=5), [0], [1], [2], [2], 1), ("_trilinear", X, f(3, 4), f(2, 4), [2], [0], [1], [1, 2], 1),
    ("_trilinear", X, X, X, [], [], [], [], 1), ("_version", X),
    *[("_scaled_dot_product_attention_math", Q, K, K, mask, 0.0, causal, None, scale, False) for mask, causal, scale in (
        (None, False, None), (None, True, 0.3), (f(3, 4), False, None), (torch.tensor([[True, False, True, True], [False] * 4, [True] * 4]), False, None))],
    ("_scaled_dot_product_attention_math", Q, K, K, None, 0.25, False, f(3, 4).abs().long(), None, False),
    ("_scaled_dot_product_attention_math", f(1, 4, 3, 2), K, K, None, 0.0, False, None, None, True),
    *[("_scaled_dot_product_flash_attention_for_cpu", Q, K, K, 0.0, causal, mask, scale)
      for causal, mask, scale in ((False, None, None), (True, None, 0.3), (False, f(1, 1, 3, 4), None))],
    ("_weight_int8pack_mm", X, I8, torch.tensor([0.5, 0.25])),
    *[("element_size", x) for x in (X, V.half(), I8, TRUE, X.double())], ("get_autocast_dtype", "cpu"), ("get_autocast_dtype", "cuda"),
    ("get_device", X), ("is_non_overlapping_and_dense", X), ("storage_offset", X),
    ("sym_numel", X), ("sym_size", X), ("sym_size.int", X, -1), ("sym_stride", IMAGE), ("sym_stride.int", IMAGE, 1), ("sym_storage_offset", X),
    ("uniform", X, 1.0, 3.0, None), ("exponential", X, 2.0, None), ("geometric", X, 0.3, None), ("log_normal", X, 0.5, 1.5, None),
    ("cauchy", X, 0.5, 1.5, None), ("random", INDICES, None), ("random.from", INDICES, 3, 50, None), ("random.to", X, 9, None),
    ("resize", X, [2], None), ("resize", X, [3, 2], None), ("resize_as", X, V, None),
    *[(f"{name}hacked_twin", X, [torch.tensor([1, 0])]) for name in ("index.Tensor_", "_unsafe_index.Tensor_")],
    ("_index_put_impl_.hacked_twin", X, [torch.tensor([1])], f(3), True, False),
    *[(f"{name}.hacked_twin", X, [torch.tensor([1, 1]), torch.tensor([2, 0])], f(2), accumulate) for name in ("index_put", "index_put_", "_unsafe_index_put")
      for accumulate in (True, False)],
]


def literal(value):
    if isinstance(value, torch.Tensor):
        data = f"{list(value.shape)}, {value.flatten().tolist()}"
        if value.dtype in (torch.float32, torch.int64):
            return f"{'T' if value.dtype == torch.float32 else 'L'}({data})"
        return f"A({DTYPES.index(value.dtype)}, {list(value.shape)}, {value.flatten().double().tolist()})"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    return repr(value)


def line(name, *arguments):
    """The line of a call."""
    packet, _, overload = name.partition(".")
    operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
    head = f"aten::{name} {literal(arguments)}"
    positional, keywords = [], {}
    for argument, value in zip(operator._schema.arguments, arguments, strict=True):
        value = value.clone() if isinstance(value, torch.Tensor) else value
        if argument.name == "layout" and value is not None:
            value = [torch.strided, torch.sparse_coo][value]
        if "dtype" in argument.name and value is not None:
            value = DTYPES[value]
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    torch.manual_seed(0)
    try:
        return f"{head} => {literal(operator(*positional, **keywords))}"
    except (RuntimeError, IndexError, NotImplementedError, ValueError) as error:
        return f"{head} !! {str(error).splitlines()[0]}"


if __name__ == "__main__":
    OUT.write_text("".join(f"{line(*call)}\n" for call in CALLS))
    print(len(CALLS), "calls")
