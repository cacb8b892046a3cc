"""Writes tests/data/io/: model files written by PyTorch 2.7.1, which core/io/tests/fixtures.rs reads.

`python tests/oracle/io_fixtures.py check FILE...` instead loads files that Rushlight wrote, the way users do
(weights_only=True), and prints what they hold.
"""

import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).parent.parent / "data" / "io"
DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex32", "complex64", "complex128", "uint16", "uint32", "uint64",
]  # fmt: skip


def model():
    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    with torch.no_grad():
        for index, parameter in enumerate(net.parameters()):
            values = torch.arange(parameter.numel(), dtype=torch.float32) + 10 * index
            parameter.copy_(values.view_as(parameter))
    return net


def views():
    base = torch.arange(12.0).view(3, 4)
    return {
        "base": base,
        "transposed": base.t(),
        "row": base[1],
        "tied": base,
        "column": base[:, 2],
        "expanded": torch.ones(1).expand(3),
        "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(7.0),
        "parameter": torch.nn.Parameter(torch.tensor([1.0, 2.0])),
        "conjugate": torch.tensor([1 + 2j], dtype=torch.complex64).conj(),
    }


def sparse():
    indices = torch.tensor([[0, 1, 1, 0], [2, 0, 2, 2]])
    coo = torch.sparse_coo_tensor(indices, torch.tensor([3.0, 4.0, 5.0, 1.0]), (2, 3))
    return {
        "coo": coo,
        "coalesced": coo.coalesce(),
        "csr": coo.to_dense().to_sparse_csr(),
        "csc": coo.to_dense().to_sparse_csc(),
        "dense": torch.arange(3.0),
    }


def checkpoint():
    net = model()
    adam = torch.optim.Adam(net.parameters(), lr=0.25)
    net(torch.ones(3)).sum().backward()
    adam.step()
    net = model()
    return {
        "epoch": 3,
        "model": net.state_dict(),
        "optimizer": adam.state_dict(),
        "history": [torch.tensor(1.5), torch.tensor(0.5)],
        "note": "résumé",
        "best": None,
        "dtype": torch.float32,
        "shape": torch.Size([2, 3]),
        "big": 2**40,
        "negative": -5,
    }


def resumed():
    """The losses of a network that goes on from checkpoint.pt, whose optimizer was created with another learning rate."""
    saved = torch.load(FOLDER / "checkpoint.pt", weights_only=True)
    net = model()
    net.load_state_dict(saved["model"])
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    adam.load_state_dict(saved["optimizer"])
    losses = []
    for _ in range(4):
        adam.zero_grad()
        loss = (net(torch.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]])) - 700).abs().mean()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return {"losses": losses, "lr": adam.param_groups[0]["lr"]}


def write_fixtures():
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = {
        "model.pt": model().state_dict(),
        "dtypes.pt": {name: torch.tensor([0, 1, 2, 3]).to(getattr(torch, name)) for name in DTYPES},
        "views.pt": views(),
        "checkpoint.pt": checkpoint(),
        "single.pt": torch.arange(4, dtype=torch.int16),
        "list.pt": [torch.zeros(2), torch.ones(2)],
    }
    for name, content in files.items():
        torch.save(content, FOLDER / name)
        torch.save(content, FOLDER / f"legacy_{name}", _use_new_zipfile_serialization=False)
    torch.save(
        model().state_dict(), FOLDER / "legacy_protocol5.pt", pickle_protocol=5, _use_new_zipfile_serialization=False
    )
    torch.save(model().state_dict(), FOLDER / "protocol5.pt", pickle_protocol=5)
    torch.save(model(), FOLDER / "whole_module.pt")
    torch.save(resumed(), FOLDER / "resumed.pt")
    torch.save(sparse(), FOLDER / "sparse.pt")
    # With a name of 21 letters the first header of the archive's directory has 76 bytes, like the records after the last.
    torch.save(model().state_dict(), FOLDER / "a_name_of_21_letters_.pt")


def check(path):
    content = torch.load(path, weights_only=True)
    print(path, type(content).__name__)
    for name, tensor in content.items():
        if tensor.layout != torch.strided:
            print(" ", name, tensor.dtype, tensor.layout, tuple(tensor.shape), tensor.to_dense().tolist())
            continue
        others = [other for other in content if content[other].layout == torch.strided]
        shared = [other for other in others if content[other].data_ptr() == tensor.data_ptr() and other != name]
        print(" ", name, tensor.dtype, tuple(tensor.stride()), tensor.requires_grad, tensor.tolist(), shared)


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        for argument in sys.argv[2:]:
            check(argument)
    else:
        write_fixtures()
