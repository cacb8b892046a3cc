"""Golden cases of what PyTorch's sample inputs leave out: views in place, `binary_cross_entropy` of shapes that differ in
dimensions of size 1, `pad_sequence`, the fused step of Adagrad, resizing with antialiasing.

    python form_cases.py DIR    writes DIR/NAME.safetensors, in the format of tests/data/golden.md (and adds to the cases that
                                DIR has of that name); needs what golden.py needs
"""

import json
import pathlib
import struct
import sys

import torch
from golden import File, Recorder

ATEN = torch.ops.aten
FLOATS = [torch.float32, torch.float64]
KINDS = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
         "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool}  # fmt: skip


def loaded(path):
    """The cases that a file has."""
    file = File()
    if not path.exists():
        return file
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    file.cases = json.loads(header.pop("__metadata__")["cases"])
    for key, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"][0]):
        first, end = (8 + length + at for at in entry["data_offsets"])
        raw = torch.frombuffer(bytearray(content[first:end] or b"\0" * 16), dtype=torch.uint8)
        tensor = raw[: end - first].view(KINDS[entry["dtype"]]).reshape(entry["shape"])
        # Complex numbers are stored as pairs.
        file.tensors[key] = tensor
    return file


class Cases:
    def __init__(self, folder):
        self.folder, self.files = folder, {}

    def add(self, name, overload, *arguments, **keywords):
        if name not in self.files:
            self.files[name] = loaded(self.folder / f"{name}.safetensors")
        function = getattr(getattr(ATEN, name), overload or "default")
        op = f"aten::{name}" + (f".{overload}" if overload else "")
        added = Recorder(self.files).add(self.files[name], function, op, arguments, keywords)
        assert added, f"{op} {arguments}"
        if not function._schema.returns:
            self.files[name].cases[-1]["outs"] = []

    def write(self):
        for name, file in self.files.items():
            file.save(self.folder / f"{name}.safetensors")


def rand(*sizes, dtype=torch.float32):
    return torch.rand(sizes, dtype=torch.float64).mul(0.98).add(0.01).to(dtype)


def views(cases):
    for dtype in [torch.float32, torch.int64]:
        make = lambda *sizes: (rand(*sizes) * 9).to(dtype)
        for tensor in [make(2, 3), make(3), make(), make(4, 3).t()]:
            cases.add("t_", "", tensor)
        for name in ["transpose_", "swapaxes_", "swapdims_", "swapaxes", "swapdims"]:
            for sizes, dims in [((2, 3, 4), (0, 2)), ((2, 3, 4), (-1, 1)), ((2, 3), (1, 1))]:
                cases.add(name, "", make(*sizes), *dims)
        for dim in [0, 1, -1, 2]:
            cases.add("unsqueeze_", "", make(2, 3), dim)
        cases.add("unsqueeze_", "", make(4, 3).t(), 1)
        for sizes in [(1, 2, 1, 3), (2, 3), (1, 1)]:
            cases.add("squeeze_", "", make(*sizes))
            cases.add("squeeze_", "dim", make(*sizes), 0)
            cases.add("squeeze_", "dim", make(*sizes), -1)
            cases.add("squeeze_", "dims", make(*sizes), [0, 1])
        cases.add("as_strided_", "", make(3, 4), [2, 2], [1, 4], 1)
        cases.add("as_strided_", "", make(3, 4), [5], [2])
        for sizes, strides in [((4, 3), (3, 1)), ((12,), (1,)), ((2, 2, 3), (6, 3, 1))]:
            cases.add("_reshape_alias", "", make(3, 4), sizes, strides)


def cross_entropies(cases):
    pairs = [((4, 1), (4,), None), ((4,), (1, 4), (4,)), ((2, 1, 3), (2, 3), (3,)), ((2, 3), (3,), (1, 3)), ((0, 1), (0,), None), ((1, 1), (), ())]
    for dtype in FLOATS:
        for sizes, others, weights in pairs:
            for reduction in [0, 1, 2]:
                # Where sizes differ, PyTorch gives a target's gradient the input's size, and refuses it.
                target = (rand(*others) > 0.5).to(dtype) if others != (3,) else rand(*others, dtype=dtype)
                weight = None if weights is None else rand(*weights, dtype=dtype)
                input, grad = rand(*sizes, dtype=dtype), rand(*(sizes if reduction == 0 else ()), dtype=dtype)
                for tensors, name in [((input,), "binary_cross_entropy"), ((grad, input), "binary_cross_entropy_backward")]:
                    with Constants():
                        cases.add(name, "", *tensors, target, weight, reduction)


class Constants:
    """While it lives, cases have no gradients."""

    def __enter__(self):
        import golden

        self.before, golden.WITH_GRADIENTS = golden.WITH_GRADIENTS, []

    def __exit__(self, *_):
        import golden

        golden.WITH_GRADIENTS = self.before


def sequences(cases):
    for dtype in [torch.float32, torch.float64, torch.int64]:
        make = lambda *sizes: (rand(*sizes) * 9).to(dtype)
        for first in [False, True]:
            for side in ["right", "left"]:
                cases.add("pad_sequence", "", [make(3, 2), make(1, 2), make(4, 2)], first, 7.0, side)
                cases.add("pad_sequence", "", [make(2), make(5)], first, 0.0, side)
        cases.add("pad_sequence", "", [make(2, 3), make(1)])
        cases.add("pad_sequence", "", [make(2, 0), make(1, 0)])
    cases.add("pad_sequence", "", [rand(2).double(), rand(3).float()])


def steps(cases):
    for dtype in FLOATS:
        for lr_decay, decay, maximize in [(0.0, 0.0, False), (0.1, 0.0, True), (0.1, 0.01, False)]:
            lists = [[rand(*sizes, dtype=dtype) for sizes in [(3, 5), (33,)]] for _ in range(3)]
            counters = [torch.tensor(1.0), torch.tensor(4.0)]
            with Constants():
                cases.add(
                    "_fused_adagrad_", "", *lists, counters,
                    lr=0.1, lr_decay=lr_decay, weight_decay=decay, eps=1e-10, maximize=maximize,
                )  # fmt: skip


def images(cases):
    # An image of width 1 is left out: PyTorch 2.7.1 mixes its rows up.
    shapes = [((1, 2, 6, 5), (3, 4)), ((2, 3, 4, 7), (9, 3)), ((1, 1, 9, 3), (2, 8)), ((1, 2, 5, 2), (1, 5)), ((0, 1, 4, 4), (2, 2))]
    for name in ["_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"]:
        for dtype in FLOATS + [torch.uint8]:
            make = lambda *sizes: (rand(*sizes) * 255).to(dtype) if dtype == torch.uint8 else rand(*sizes, dtype=dtype)
            for sizes, wanted in shapes:
                # Factors that do not lead beyond the image, where weights are quotients of rounding errors.
                factors = tuple((out + 0.25) / size for out, size in zip(wanted, sizes[2:]))
                for align, scales in [(False, (None, None)), (True, (None, None)), (False, factors)]:
                    cases.add(name, "", make(*sizes), wanted, align, *scales)
                    if dtype != torch.uint8:
                        grad = rand(*sizes[:2], *wanted, dtype=dtype)
                        cases.add(f"{name}_backward", "", grad, wanted, sizes, align, *scales)
            input = make(2, 2, 6, 5)
            cases.add(name, "", input.contiguous(memory_format=torch.channels_last), (3, 4), False)
            cases.add(name, "vec", input, None, False, [0.5, 0.7])
            cases.add(name, "vec", input, [4, 3], True, None)


def main(folder):
    torch.manual_seed(60)
    cases = Cases(pathlib.Path(folder))
    for add in [views, cross_entropies, sequences, steps, images]:
        add(cases)
    cases.write()


main(sys.argv[1])
