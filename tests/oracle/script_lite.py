"""Writes files of the lite interpreter, and what PyTorch 2.7.1 returns for them, to tests/data/script/lite.

`net.ptl` is a module that uses every construct whose instructions the lite interpreter has; `net_flat.ptl` is its
flatbuffer form, `net_v4.ptl` to `net_v7.ptl` are older forms without source code. `control.ptl` holds some of the random
programs of `control.txt` as methods. `old.pt` and `old.ptl` are written for version 3 of the operators, whose division of
integers rounds. `cases.txt` has a line `file | method | arguments | result` for each call.

    /opt/torch/bin/python tests/oracle/script_lite.py
"""

import io
import pathlib
import sys
import tempfile
import zipfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from torch.jit.mobile import _load_for_lite_interpreter as load_lite

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "tests" / "data" / "script" / "lite"
RANDOM_PROGRAMS = int(sys.argv[1]) if len(sys.argv) > 1 else 24


class Packed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, -4.0]]))
        self.factors = [0.5, 0.25]

    @torch.jit.export
    def __getstate__(self) -> Tuple[torch.Tensor, List[float], bool]:
        return self.weight * 2, self.factors, self.training

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, List[float], bool]):
        self.weight = state[0] / 2
        self.factors = state[1]
        self.training = state[2]

    def forward(self, x):
        return x @ self.weight, self.factors


class Net(torch.nn.Module):
    counts: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
        self.packed = Packed()
        self.counts = {"calls": 0}
        self.sizes = [3, 4]
        self.register_buffer("flags", torch.tensor([True, False]))
        self.register_buffer("quantized", torch.quantize_per_tensor(torch.tensor([0.5, 1.0]), 0.5, 1, torch.qint8))
        with torch.no_grad():
            self.fc.weight.copy_(torch.tensor([[1.0, -1.0], [0.5, 2.0]]))
            self.fc.bias.copy_(torch.tensor([0.5, -0.5]))

    def forward(self, x):
        y = torch.relu(self.fc(x))
        z, factors = self.packed(y)
        self.counts["calls"] += 1
        return z, factors, self.counts["calls"], self.flags.sum().item(), self.quantized.dequantize()

    @torch.jit.export
    def loops(self, n: int, limit: float = 10.0) -> Tuple[List[int], float]:
        found: List[int] = []
        total = 0.0
        for i in range(n):
            for j in range(i):
                if (i + j) % 3 == 0:
                    continue
                if total > limit:
                    break
                total += float(i * j)
            found.append(i)
        while total > 100.0:
            total = total / 2
        return found, total

    @torch.jit.export
    def choose(self, x: torch.Tensor, other: Optional[torch.Tensor] = None) -> str:
        if other is None:
            if x.dim() == 1:
                return "vector {} {}".format(x.size(0), x.is_cuda)
            if x.dtype == torch.float32:
                return f"floats {x.device}"
            raise ValueError("no floats")
        elif other is x:
            return "same"
        return "two" if not self.training else "training"

    @torch.jit.export
    def containers(self, names: List[str], table: Dict[str, Tuple[int, float]]):
        a, b, c = [1, 2, 3]
        first = table[names[0]]
        rest = (a, b, c, first[0])[1:3]
        swapped = {str(value[0]): key for key, value in table.items()}
        nested = [[i * j for j in range(2)] for i in range(c)]
        return rest, swapped, nested, self.sizes + [len(names)]

    @torch.jit.export
    def numbers(self, x: torch.Tensor, n: int):
        values: List[int] = x.tolist()
        t = torch.full([2], 1.5)
        t.add_(torch.ones([2]), alpha=2)
        t = torch.sum(t, [0], keepdim=True)
        best, index = torch.max(x, 0)
        return values, t, best, index, n // 2, n % 3, -n, n ** 2, divmod(n, 4), n > 3 and n < 9

    @torch.jit.export
    def kinds(self, x: Optional[int]) -> int:
        if isinstance(x, int):
            return x + 1
        return -1


class Divide(torch.nn.Module):
    def forward(self, a, b):
        c = a.clone()
        c /= 2
        return a / b, torch.div(a, 2), torch.div(a.float(), b), c, torch.full([2], 3)


def literal(value):
    if isinstance(value, torch.Tensor):
        code = "T" if value.is_floating_point() else "I"
        return f"{code}({list(value.shape)}, {value.flatten().tolist()})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + "".join(literal(item) + ", " for item in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    return repr(value)


def add(target, name, contents):
    method = zipfile.ZIP_DEFLATED if name.endswith((".pkl", ".py")) else zipfile.ZIP_STORED
    target.writestr(f"net/{name}", contents, method)


def stripped(data, without):
    """The archive without the records whose names begin with a prefix, or with others."""
    source = zipfile.ZipFile(io.BytesIO(data))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            inner = name.split("/", 1)[1]
            if not inner.startswith(without) and inner != ".data/serialization_id":
                add(target, inner, source.read(name))
    return out.getvalue()


def with_version(data, version):
    source = zipfile.ZipFile(io.BytesIO(data))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            inner = name.split("/", 1)[1]
            if inner.endswith("version"):
                add(target, inner, f"{version}\n")
            elif not inner.endswith(".debug_pkl") and inner not in (".data/serialization_id", "mobile_debug_handles.pkl"):
                add(target, inner, source.read(name))
    return out.getvalue()


def random_programs():
    """A module with the first programs of control.txt as methods, and calls. (Some results differ from those of Python: in
    PyTorch, code after an early return in a loop is run.)"""
    text = (ROOT / "core" / "script" / "tests" / "data" / "control.txt").read_text()
    methods, cases = [], []
    for program in text.split("=== ")[1 : RANDOM_PROGRAMS + 1]:
        number, rest = program.split("\n", 1)
        source = rest.split("--- ")[0]
        name = f"f{number}"
        source = source.replace("def f(a: int, b: int)", f"def {name}(self, a: int, b: int)")
        methods.append(source)
        cases += [(name, arguments) for arguments in [(0, 0), (1, 2), (3, 1), (2, 7), (5, -3), (-2, 4)]]
    module = torch.nn.Module()
    scripted = torch.jit.script(module)
    for source in methods:
        scripted.define(source)
    return scripted, cases


def main():
    FOLDER.mkdir(exist_ok=True)
    lines = []

    def record(file, method, arguments, module=None):
        module = load_lite(str(FOLDER / file)) if module is None else module
        try:
            run = module.run_method if hasattr(module, "run_method") else lambda name, *rest: getattr(module, name)(*rest)
            result = literal(run(method, *arguments))
        except Exception as error:
            result = "raises " + str(error).splitlines()[0]
        lines.append(f"{file} | {method} | {literal(tuple(arguments))} | {result}\n")

    net = torch.jit.script(Net()).eval()
    data = net._save_to_buffer_for_lite_interpreter(_extra_files={"labels.txt": "cat\ndog\n"})
    files = {"net.ptl": stripped(data, "mobile_debug")}
    files["net_flat.ptl"] = net._save_to_buffer_for_lite_interpreter(
        _extra_files={"labels.txt": "cat\ndog\n"}, _use_flatbuffer=True
    )
    with tempfile.NamedTemporaryFile(suffix=".ptl") as file:
        file.write(data)
        file.flush()
        for version in (7, 6, 5, 4):
            old = torch.jit.mobile._backport_for_mobile_to_buffer(file.name, version)
            files[f"net_v{version}.ptl"] = stripped(old, ("code/", "mobile_debug"))
    for name, contents in files.items():
        (FOLDER / name).write_bytes(contents)
        x = torch.tensor([[1.0, 2.0], [-1.0, 0.5]])
        record(name, "forward", [x])
        record(name, "loops", [0, 10.0])
        record(name, "loops", [5, 1e9])
        record(name, "loops", [9, 60.0])
        record(name, "choose", [torch.ones(3), None])
        record(name, "choose", [x, None])
        record(name, "choose", [x.long(), None])
        record(name, "choose", [x, torch.ones(1)])
        record(name, "containers", [["b", "a"], {"a": (1, 2.0), "b": (3, 4.0)}])
        record(name, "numbers", [torch.tensor([4, 7, 1]), 7])
        record(name, "kinds", [4])
        record(name, "kinds", [None])

    module, cases = random_programs()
    (FOLDER / "control.ptl").write_bytes(stripped(module._save_to_buffer_for_lite_interpreter(), ("code/", "mobile_debug")))
    loaded = load_lite(str(FOLDER / "control.ptl"))
    for method, arguments in cases:
        record("control.ptl", method, arguments, loaded)

    divide = torch.jit.script(Divide())
    (FOLDER / "old.pt").write_bytes(with_version(divide.save_to_buffer(), 3))
    (FOLDER / "old.ptl").write_bytes(with_version(divide._save_to_buffer_for_lite_interpreter(), 3))
    arguments = [torch.tensor([7, -7]), torch.tensor([2, 2])]
    record("old.pt", "forward", arguments, torch.jit.load(str(FOLDER / "old.pt")))
    record("old.ptl", "forward", arguments)
    (FOLDER / "cases.txt").write_text("".join(lines))


main()
