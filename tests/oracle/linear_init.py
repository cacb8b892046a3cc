"""PyTorch's default initialization of Linear: tests/data/linear_init.safetensors.

Each case is `manual_seed(seed); layer = Linear(in, out, bias, dtype)`. The metadata entry `cases` is a JSON list of
{"name", "seed", "in", "out", "bias", "dtype"}; the tensors are `NAME.weight`, `NAME.bias` (if any) and `NAME.next`, the
four float32 numbers that `rand(4)` gives right afterwards: the generator must have moved exactly as far.
One case builds three layers after a single seed (`sequence`: NAME.0.weight, NAME.1.weight, ...).
"""

import json
import pathlib

import torch
from torch import nn

import safetensors_lite

PATH = pathlib.Path(__file__).resolve().parents[1] / "data" / "linear_init.safetensors"

# (in, out, seed, bias, dtype)
CASES = [
    (1, 1, 0, True, "float32"),
    (2, 3, 0, True, "float32"),
    (3, 5, 1, True, "float32"),
    (4, 4, 7, True, "float32"),
    (5, 3, 42, True, "float32"),
    (10, 2, 123, True, "float32"),
    (17, 19, 2, True, "float32"),
    (64, 32, 0, True, "float32"),
    (7, 1, 3, False, "float32"),
    (16, 16, 4, False, "float32"),
    (3, 4, 0, True, "float64"),
    (20, 5, 2147483648, True, "float64"),
    (6, 6, 5, False, "float64"),
]


def main():
    tensors, cases = {}, []
    for inputs, outputs, seed, bias, dtype in CASES:
        name = f"linear_{inputs}_{outputs}_{seed}" + ("" if bias else "_nobias") + ("_f64" if dtype == "float64" else "")
        torch.manual_seed(seed)
        layer = nn.Linear(inputs, outputs, bias=bias, dtype=getattr(torch, dtype))
        tensors[f"{name}.weight"] = layer.weight.detach().numpy()
        if bias:
            tensors[f"{name}.bias"] = layer.bias.detach().numpy()
        tensors[f"{name}.next"] = torch.rand(4).numpy()
        cases.append({"name": name, "seed": seed, "in": inputs, "out": outputs, "bias": bias, "dtype": dtype})

    torch.manual_seed(11)
    for index, (inputs, outputs) in enumerate([(6, 8), (8, 4), (4, 2)]):
        layer = nn.Linear(inputs, outputs)
        tensors[f"sequence.{index}.weight"] = layer.weight.detach().numpy()
        tensors[f"sequence.{index}.bias"] = layer.bias.detach().numpy()
    tensors["sequence.next"] = torch.rand(4).numpy()
    cases.append({"name": "sequence", "seed": 11, "layers": [[6, 8], [8, 4], [4, 2]]})

    # Widest values first keeps every tensor aligned.
    ordered = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    version = torch.__version__.split("+")[0]
    safetensors_lite.save(PATH, ordered, {"torch": version, "cases": json.dumps(cases, separators=(",", ":"))})


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
