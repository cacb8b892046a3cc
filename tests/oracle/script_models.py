"""Writes tests/data/script/net.pt: a TorchScript module saved by PyTorch 2.7.1, which tests/c/script.c loads and runs.

`net.pt` is a small network with a branch, buffers, attributes of several types, a method beside `forward`, and an extra
file. The numbers that the test expects are printed.
"""

import pathlib
from typing import Dict, List, Optional, Tuple

import torch

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "script"


class Net(torch.nn.Module):
    calls: int
    names: List[str]

    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(3, 2)
        self.register_buffer("scale", torch.tensor(2.0))
        self.calls = 0
        self.names = ["a", "b"]
        with torch.no_grad():
            self.fc.weight.copy_(torch.arange(6.0).view(2, 3))
            self.fc.bias.copy_(torch.tensor([0.5, -0.5]))

    def forward(self, x: torch.Tensor, shift: Optional[float] = None):
        y = self.fc(x) * self.scale
        self.calls += 1
        if shift is not None:
            y = y + shift
        if self.training:
            y = -y
        return y

    @torch.jit.export
    def describe(self, counts: Dict[str, int]) -> Tuple[List[str], int, Dict[str, int]]:
        total = 0
        for key, value in counts.items():
            print(key, value)
            total += value
        if total < 0:
            raise ValueError("the counts are negative")
        counts["total"] = total
        return self.names, total, counts


class Hooked(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


def before(self, inputs: Tuple[torch.Tensor]) -> Tuple[torch.Tensor]:
    return (inputs[0] + 1,)


def after(self, inputs: Tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
    return output + 100


def save_hooked():
    """A module whose hooks run around forward: 1 becomes (1 + 1) * 2 + 100."""
    module = Hooked()
    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)
    hooked = torch.jit.script(module)
    torch.jit.save(hooked, FOLDER / "hooks.pt")
    print(hooked(torch.ones(1)))


class Rows(torch.nn.Module):
    """A quantized embedding, and a weight with floating-point zero points beside it."""

    rows: torch.Tensor

    def __init__(self):
        super().__init__()
        weight = torch.arange(12.0).reshape(3, 4) / 4 - 1
        scales, zeros = torch.tensor([0.01, 0.02, 0.03]), torch.tensor([60.5, 30.25, 10.0])
        self.embedding = torch.ao.nn.quantized.Embedding(3, 4, _weight=torch.quantize_per_channel(weight, scales, zeros, 0, torch.quint8))
        self.rows = self.embedding.weight()

    def forward(self, indices: torch.Tensor):
        rows = self.rows
        zeros = torch.q_per_channel_zero_points(rows)
        return self.embedding(indices), torch.dequantize(rows), torch.int_repr(rows).long(), zeros, str(rows.qscheme())


def save_rows():
    """`rows.txt` has the arguments and results of `rows.pt` as Python literals."""
    rows = torch.jit.script(Rows().eval())
    torch.jit.save(rows, FOLDER / "rows.pt")
    indices = torch.tensor([2, 0])
    results = []
    for value in torch.jit.load(FOLDER / "rows.pt")(indices):
        if isinstance(value, torch.Tensor):
            code = "L" if value.dtype == torch.long else "T"
            results.append(f"{code}({list(value.shape)}, {value.flatten().tolist()})")
        else:
            results.append(repr(value))
    (FOLDER / "rows.txt").write_text(f"(L([2], [2, 0]),) => ({', '.join(results)})\n")


def main():
    FOLDER.mkdir(exist_ok=True)
    save_rows()
    save_hooked()
    net = torch.jit.script(Net()).eval()
    torch.jit.save(net, FOLDER / "net.pt", _extra_files={"labels.txt": "cat\ndog\n"})
    loaded = torch.jit.load(FOLDER / "net.pt")
    x = torch.tensor([[1.0, 2.0, 3.0]])
    print(loaded(x), loaded(x, shift=10.0), loaded.calls)
    print(loaded.train()(x))
    loaded(x).sum().backward()
    print(loaded.fc.weight.grad)
    print(loaded.describe({"x": 2, "y": 3}))


if __name__ == "__main__":
    main()
