"""PyTorch's errors for invalid calls: writes tests/data/wrong_calls.json, which tests/conformance/tests/errors.rs
compares with the library's answers. Run with the Python of tests/oracle/run.sh.

A tensor is written {"zeros": shape, "dtype": name}; everything else is JSON as it stands.
"""

import json
import os

import torch


def t(*shape, dtype="float32"):
    return {"zeros": list(shape), "dtype": dtype}


CALLS = [
    # dimensions out of range
    ("sum.dim_IntList", [t(2, 3), [2]]),
    ("sum.dim_IntList", [t(2, 3), [-3]]),
    ("mean.dim", [t(2, 3), [5]]),
    ("softmax.int", [t(2, 3), 2]),
    ("log_softmax.int", [t(2), -2]),
    ("transpose.int", [t(2, 3), 0, 2]),
    ("unsqueeze", [t(2, 3), 4]),
    ("squeeze.dim", [t(2, 3), 2]),
    ("select.int", [t(2, 3), 2, 0]),
    ("argmax", [t(2, 3), 2]),
    ("cumsum", [t(2, 3), 2]),
    ("sort", [t(2, 3), 2]),
    ("topk", [t(2, 3), 1, 2]),
    ("unbind.int", [t(2, 3), 2]),
    ("flip", [t(2, 3), [2]]),
    ("index_select", [t(2, 3), 2, t(1, dtype="int64")]),
    ("gather", [t(2, 3), 2, t(1, 1, dtype="int64")]),
    ("cat", [[t(2, 3), t(2, 3)], 2]),
    ("stack", [[t(2), t(2)], 3]),
    # sizes that do not fit
    ("add.Tensor", [t(2, 3), t(4)]),
    ("mul.Tensor", [t(2, 3), t(2, 4)]),
    ("eq.Tensor", [t(3), t(4)]),
    ("where.self", [t(3, dtype="bool"), t(4), t(3)]),
    ("mm", [t(2, 3), t(2, 3)]),
    ("mm", [t(3), t(2, 3)]),
    ("mv", [t(2, 3), t(2)]),
    ("dot", [t(2), t(3)]),
    ("bmm", [t(2, 2, 3), t(2, 2, 3)]),
    ("matmul", [t(2, 3), t(2, 3)]),
    ("addmm", [t(2, 3), t(2, 3), t(2, 3)]),
    ("linear", [t(2, 3), t(4, 5)]),
    ("cat", [[t(2, 3), t(2, 4)], 0]),
    ("stack", [[t(2), t(3)], 0]),
    ("view", [t(2, 3), [4]]),
    ("view", [t(2, 3), [-1, 4]]),
    ("view", [t(2, 3), [-1, -1]]),
    ("reshape", [t(2, 3), [7]]),
    ("expand", [t(2, 3), [2, 4]]),
    ("expand", [t(2, 3), [3]]),
    ("add_.Tensor", [t(3), t(2, 3)]),
    ("permute", [t(2, 3), [0]]),
    ("permute", [t(2, 3), [0, 0]]),
    ("t", [t(2, 3, 4)]),
    ("gather", [t(2, 3), 0, t(1, dtype="int64")]),
    ("masked_fill.Scalar", [t(2, 3), t(4, dtype="bool"), 1]),
    ("split_with_sizes", [t(5), [1, 2]]),
    ("im2col", [t(1, 2, 2, 2), [2, 3], [1, 1], [0, 0], [1, 1]]),
    ("im2col", [t(1, 2, 2, 2), [0, 2], [1, 1], [0, 0], [1, 1]]),
    ("im2col", [t(1, 2, 2, 2), [2, 2], [1, 1], [-1, 0], [1, 1]]),
    ("col2im", [t(1, 4, 3), [2, 2], [2, 2], [1, 1], [0, 0], [1, 1]]),
    ("col2im", [t(1, 4, 1), [1, 2], [2, 2], [1, 1], [0, 0], [1, 1]]),
    ("col2im", [t(1, 5, 1), [2, 2], [2, 2], [1, 1], [0, 0], [1, 1]]),
    ("pow.Tensor_Scalar", [t(2, dtype="int8"), 300]),
    ("pow.Tensor_Scalar", [t(2, dtype="int32"), 1 << 40]),
    ("pow.Tensor_Scalar", [t(2, dtype="float16"), 1e6]),
    ("pow.Tensor_Scalar", [t(2, dtype="uint8"), -3]),
    ("binary_cross_entropy", [t(4, 1), t(3)]),
    ("binary_cross_entropy", [t(4, 1), t(4), t(2)]),
    ("_ctc_loss", [t(5, 3, 4), t(3, 2, dtype="int32"), [5, 5, 5], [2, 3, 1]]),
    ("_ctc_loss", [t(5, 3, 4), t(5, dtype="int64"), [5, 5, 5], [2, 3, 1]]),
    ("_ctc_loss", [t(5, 3, 4), t(2, 3, dtype="int64"), [5, 5, 5], [2, 3, 1]]),
    ("_ctc_loss", [t(5, 3, 4), t(6, dtype="int64"), [5, 6, 5], [2, 3, 1]]),
    ("_ctc_loss", [t(5, 3, 4), t(6, dtype="int64"), [5, -1, 5], [2, 3, 1]]),
    ("_ctc_loss", [t(5, 3, 4), t(6, dtype="int64"), [5, 5, 5], [7, -2, 1]]),
    ("_ctc_loss", [t(5, 3, 4), t(6, dtype="int64"), [5, 5], [2, 3, 1]]),
    ("_ctc_loss", [t(5, 4), t(6, dtype="int64"), [5], [6]]),
    ("_ctc_loss", [t(5, 1, 4), t(1, 2, 2, dtype="int64"), [5], [2]]),
    ("_ctc_loss", [t(5, 1, 4), t(2), [5], [2]]),
    ("pad_sequence", [[]]),
    ("pad_sequence", [[t(2, 3), t(1, 4)]]),
    ("pad_sequence", [[t(2), t(1)], False, 0.0, "middle"]),
    ("transpose_", [t(2, 3), 0, 2]),
    ("t_", [t(2, 3, 4)]),
    ("unsqueeze_", [t(2, 3), 4]),
    ("squeeze_.dim", [t(2, 3), 2]),
    ("_upsample_bilinear2d_aa", [t(2, 3, 4), [2, 2], False]),
    ("_upsample_bicubic2d_aa", [t(1, 2, 3, 4), [0, 2], False]),
    ("_upsample_bicubic2d_aa_backward", [t(1, 2, 3, 4), [2, 2], [1, 2, 5, 5], False]),
    ("upsample_nearest1d", [t(1, 2, 3), [0]]),
    ("upsample_nearest1d_backward", [t(1, 2, 3), [2], [1, 2, 5]]),
    ("upsample_nearest3d_backward", [t(1, 2, 3), [3, 4, 4], [1, 2, 5, 5, 5]]),
    # indices out of bounds
    ("select.int", [t(2, 3), 0, 2]),
    ("select.int", [t(2, 3), 1, -4]),
    ("narrow", [t(5), 0, 3, 4]),
    ("index.Tensor", [t(10, 0), [t(2, dtype="int64"), t(2, dtype="int64")]]),
    ("topk", [t(3), 4]),
    ("kthvalue", [t(3), 4]),
    # dtypes
    ("mm", [t(2, 2), t(2, 2, dtype="float64")]),
    ("dot", [t(2), t(2, dtype="float64")]),
    ("mean", [t(2, dtype="int64")]),
    ("bilinear", [t(2, 3, dtype="float64"), t(2, 4, dtype="int32"), t(1, 3, 4, dtype="int16")]),
    ("bilinear", [t(2, 3), t(2, 4), t(1, 3, 4), t(1, dtype="float64")]),
    ("binary_cross_entropy", [t(2), t(2, dtype="float64")]),
    ("_upsample_bilinear2d_aa", [t(1, 2, 3, 4, dtype="int32"), [2, 2], False]),
    ("_upsample_bilinear2d_aa", [t(1, 2, 3, 4, dtype="float16"), [2, 2], False]),
    ("_upsample_bicubic2d_aa_backward", [t(1, 2, 2, 2, dtype="bfloat16"), [2, 2], [1, 2, 5, 5], False]),
    ("bitwise_and.Tensor", [t(2), t(2)]),
    ("add_.Tensor", [t(2, dtype="int64"), t(2)]),
    ("masked_fill.Scalar", [t(2), t(2), 1]),
    ("index_select", [t(3), 0, t(1)]),
    ("gather", [t(3), 0, t(3)]),
    ("sub.Tensor", [t(2, dtype="bool"), t(2, dtype="bool")]),
    ("neg", [t(2, dtype="bool")]),
    ("_softmax", [t(2, dtype="int32"), 0, False]),
    ("erfinv", [t(2, dtype="complex64")]),
    ("lerp.Scalar", [t(2, dtype="int32"), t(2, dtype="int32"), 0.5]),
    ("median", [t(2, dtype="bool")]),
    ("trace", [t(2, 2, dtype="bool")]),
    ("cross", [t(3, dtype="bool"), t(3, dtype="bool")]),
    ("random_", [t(2, dtype="complex64")]),
    ("random_.from", [t(2, dtype="complex64"), 0, 3]),
    ("floor", [t(2, dtype="complex64")]),
    ("ceil", [t(2, dtype="complex64")]),
    ("trunc", [t(2, dtype="complex64")]),
    ("frac", [t(2, dtype="complex64")]),
    ("sign", [t(2, dtype="complex64")]),
    ("signbit", [t(2, dtype="complex64")]),
    ("maximum", [t(2, dtype="complex64"), t(2, dtype="complex64")]),
    # values
    ("slice.Tensor", [t(3), 0, 0, 3, -1]),
    ("chunk", [t(3), 0]),
    ("repeat", [t(2, 3), [2]]),
    ("zeros", [[-1]]),
    ("arange.start_step", [0, 5, 0]),
    ("arange.start_step", [0, 5, -1]),
    # inner operators
    ("polygamma_", [t(2, dtype="int64"), 1]),
    ("polygamma_", [t(2), -2]),
    ("rrelu_with_noise", [t(4), t(2), 0.1, 0.3, True]),
    ("rrelu_with_noise_", [t(4), t(2), 0.1, 0.3, True]),
    ("logit_backward", [t(2, dtype="int32"), t(2, dtype="int32")]),
    ("log_sigmoid_backward", [t(2, dtype="int32"), t(2, dtype="int32"), t(2, dtype="int32")]),
    ("soft_margin_loss_backward", [t(1, 2), t(2), t(2), 0]),
    ("soft_margin_loss_backward", [t(2), t(2, dtype="int32"), t(2, dtype="int64"), 0]),
    ("multi_margin_loss_backward", [t(), t(2, 3), t(2, dtype="int64"), 3, 1]),
    ("multi_margin_loss_backward", [t(), t(2, 3), t(3, dtype="int64"), 1, 1]),
    ("trace_backward", [t(), [2, 3, 3]]),
    ("trace_backward", [t(2), [2, 3]]),
    ("diagonal_backward", [t(2), [2, 3], 0, 0, 2]),
    ("diagonal_backward", [t(2), [2, 3], 0, 1, 1]),
    ("native_group_norm", [t(2, 4, 3), None, None, 2, 4, 3, 3, 1e-5]),
    ("native_group_norm", [t(2, 4, 3), t(3), None, 2, 4, 3, 2, 1e-5]),
    ("native_group_norm", [t(2, 4, 3, dtype="int32"), None, None, 2, 4, 3, 2, 1e-5]),
    ("conv_tbc", [t(5, 3), t(2, 3, 4), t(4), 1]),
    ("conv_tbc", [t(5, 2, 3), t(3, 4), t(4), 1]),
    ("conv_tbc", [t(5, 2, 3), t(2, 3, 4), t(1, 4), 1]),
    ("conv_tbc", [t(5, 2, 3), t(2, 3, 4), t(3), 1]),
    ("conv_tbc", [t(5, 2, 2), t(2, 3, 4), t(4), 1]),
    ("thnn_conv2d", [t(2, 4, 4), t(3, 2, 2, 2), [2, 2]]),
    ("slow_conv_dilated2d", [t(1, 2, 4, 4), t(3, 2, 2, 2), [2, 1]]),
    ("slow_conv_dilated2d", [t(1, 2, 4, 4), t(3, 8), [2, 2]]),
    ("norm_except_dim", [t(2, 3, 4), 2, 3]),
    ("norm_except_dim", [t(), 2, 0]),
    ("norm_except_dim", [t(3, 4, dtype="int32"), 2, 0]),
    ("norm_except_dim", [t(0, 4), 2, 0]),
    ("fill_diagonal_", [t(3), 5, True]),
    ("fill_diagonal_", [t(3, 3, 2), 5]),
    ("slice_inverse", [t(2), t(3, 4)]),
    ("unsafe_split_with_sizes", [t(3, 4), [1, 1], 1]),
    ("copy", [t(3, 2), t(2, 3)]),
    ("normal_functional", [t(2), 1.0, -2.0]),
    ("normal_functional", [t(2, dtype="int32"), 1.0, 2.0]),
    # what random calls found (fuzz_torch.py)
    ("lerp.Scalar", [t(2), t(2, dtype="float64"), 0.5]),
    ("lerp.Scalar", [t(2, dtype="int16"), t(2, dtype="bfloat16"), 0.5]),
    ("lerp.Scalar", [t(2), t(2), 1e300]),
    ("lerp.Tensor", [t(2), t(2), t(2, dtype="float64")]),
    ("lerp_.Tensor", [t(2), t(2, dtype="float16"), t(2)]),
    ("kl_div", [t(2), t(2, dtype="int64")]),
    ("kl_div", [t(2, dtype="bool"), t(2)]),
    ("binary_cross_entropy_with_logits", [t(2), t(2, dtype="int64")]),
    ("binary_cross_entropy_with_logits", [t(2, 2), t(2)]),
    ("hinge_embedding_loss", [t(2, dtype="int64"), t(2, dtype="int64"), 1.0, 1]),
    ("soft_margin_loss_backward", [t(2, dtype="complex64"), t(2), t(2), 0]),
    ("take_along_dim", [t(0), t(0, dtype="float16"), 0]),
    ("linalg_tensorinv", [t(), 1]),
    ("linalg_tensorinv", [t(1, 1), 3]),
    ("threshold", [t(1, dtype="uint8"), -2.5, 2]),
    ("threshold", [t(1, dtype="uint8"), 0, 300]),
    ("threshold_backward", [t(1), t(1), 1e300]),
    ("elu", [t(1), 1e300]),
    ("elu_backward", [t(1), 1e300, 1, 1, False, t(1)]),
    ("leaky_relu", [t(1), 1e300]),
    ("leaky_relu_backward", [t(1), t(1), 1e300, False]),
    ("hardshrink_backward", [t(1), t(1), 1e300]),
    ("glu_backward", [t(3, 2, 2), t(2, 4), -1]),
    ("glu_backward", [t(2, 2, dtype="float64"), t(2, 4), -1]),
    ("bincount", [t(0, 2, dtype="int64")]),
    ("unique_dim", [t(dtype="int32"), 0]),
    ("index_add", [t(), 0, t(1, dtype="int64"), t(1)]),
    ("slice_backward", [t(2, 2, 1, 1), [3, 2, 1], 0, 0, 2, 1]),
    ("fill_.Tensor", [t(2), t(1)]),
]


def build(value):
    if isinstance(value, dict):
        return torch.zeros(value["zeros"], dtype=getattr(torch, value["dtype"]))
    return [build(item) for item in value] if isinstance(value, list) else value


def main():
    rows = []
    for op, args in CALLS:
        name, _, overload = op.partition(".")
        packet = getattr(torch.ops.aten, name)
        try:
            getattr(packet, overload or "default")(*build(args))
        except Exception as error:
            # Python names a tensor type differently from C++; the library uses the C++ name.
            text = str(error).split("\n")[0].replace("torch.FloatTensor{", "CPUFloatType{")
            rows.append({"op": op, "args": args, "kind": type(error).__name__, "text": text})
        else:
            raise SystemExit(f"{op} {args} is no wrong call")
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "wrong_calls.json")
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    main()
