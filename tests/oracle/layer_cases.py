"""Golden cases of layers that the suite does not contain: recurrent layers and cells, packed sequences, `ctc_loss`, attention with
gradients, and the losses and distances whose gradients or options no case shows.

    python layer_cases.py DIR    writes DIR/NAME.safetensors, in the format of tests/data/golden.md
"""

import json
import struct
import sys

import torch

ATEN = torch.ops.aten
NAMES = {
    torch.bool: "BOOL", torch.uint8: "U8", torch.int32: "I32", torch.int64: "I64",
    torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32", torch.float64: "F64",
}


class Cases:
    def __init__(self, name):
        self.name, self.cases, self.tensors = name, [], {}

    def value(self, value):
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return value if abs(value) != float("inf") else {"f": "inf" if value > 0 else "-inf"}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        key = f"t{len(self.tensors)}"
        self.tensors[key] = value.detach().clone()
        entry = {"t": key, "dtype": str(value.dtype)[6:], "shape": list(value.shape)}
        if not value.is_contiguous():
            entry["strides"] = list(value.stride())
        return entry

    def add(self, overload, *arguments, grad=True, constants=(), **keywords):
        function = getattr(getattr(ATEN, self.name), overload or "default")
        name = f"aten::{self.name}" + (f".{overload}" if overload else "")
        case = {"op": name, "args": [self.value(argument) for argument in arguments]}
        case["kwargs"] = {key: self.value(value) for key, value in keywords.items()}
        leaves = {}
        for at, argument in enumerate(arguments):
            listed = isinstance(argument, list)
            for item, tensor in enumerate(argument if listed else [argument]):
                if grad and at not in constants and isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                    leaves[f"{at}.{item}" if listed else str(at)] = tensor.requires_grad_()
        outs = function(*arguments, **keywords)
        outs = list(outs) if isinstance(outs, tuple) else [outs]
        case["outs"] = [self.value(out) for out in outs]
        if leaves:
            roots = [(out, torch.rand_like(out)) for out in outs if out.requires_grad]
            case["grad_outs"] = [
                next((self.value(root[1]) for root in roots if root[0] is out), None) for out in outs
            ]
            grads = torch.autograd.grad(
                [out for out, _ in roots], list(leaves.values()), [root for _, root in roots], allow_unused=True
            )
            case["grads"] = {key: self.value(value) for key, value in zip(leaves, grads)}
        self.cases.append(case)

    def write(self, folder):
        header, data = {"__metadata__": {"cases": json.dumps(self.cases)}}, bytearray()
        for key, tensor in self.tensors.items():
            content = bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist())
            offsets = [len(data), len(data) + len(content)]
            header[key] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": offsets}
            data += content
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(f"{folder}/{self.name}.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)


def rand(*sizes, dtype=torch.float32):
    return (torch.rand(*sizes, dtype=torch.float64) * 2 - 1).to(dtype)


def weights(gates, inputs, hidden, layers, directions, biases, dtype, projection=0):
    params, out = [], projection or hidden
    for layer in range(layers):
        for _ in range(directions):
            width = inputs if layer == 0 else out * directions
            params += [rand(gates * hidden, width, dtype=dtype), rand(gates * hidden, out, dtype=dtype)]
            if biases:
                params += [rand(gates * hidden, dtype=dtype), rand(gates * hidden, dtype=dtype)]
            if projection:
                params.append(rand(projection, hidden, dtype=dtype))
    return params


LAYERS = [
    # layers, bidirectional, biases, batch_first
    (1, False, True, False),
    (2, False, True, True),
    (1, True, False, False),
    (2, True, True, False),
]


def recurrent(folder, name, gates, states):
    cases = Cases(name)
    for dtype in [torch.float32, torch.float64]:
        for layers, both, biases, first in LAYERS:
            steps, batch, inputs, hidden, directions = 4, 3, 3, 5, 2 if both else 1
            params = weights(gates, inputs, hidden, layers, directions, biases, dtype)
            state = lambda: rand(layers * directions, batch, hidden, dtype=dtype)
            hx = [state(), state()] if states == 2 else state()
            input = rand(*((batch, steps) if first else (steps, batch)), inputs, dtype=dtype)
            cases.add("input", input, hx, params, biases, layers, 0.0, True, both, first)
            params = weights(gates, inputs, hidden, layers, directions, biases, dtype)
            hx = [state(), state()] if states == 2 else state()
            sizes = torch.tensor([3, 2, 2, 1])
            cases.add("data", rand(8, inputs, dtype=dtype), sizes, hx, params, biases, layers, 0.0, True, both)
        if states == 2:
            for both in [False, True]:
                directions = 2 if both else 1
                params = weights(4, 3, 5, 2, directions, True, dtype, projection=2)
                hx = [rand(2 * directions, 3, 2, dtype=dtype), rand(2 * directions, 3, 5, dtype=dtype)]
                cases.add("input", rand(4, 3, 3, dtype=dtype), hx, params, True, 2, 0.0, True, both, False)
    cases.write(folder)


def cells(folder, name, gates, states):
    cases = Cases(name)
    for dtype in [torch.float32, torch.float64]:
        for biases in [False, True]:
            hx = [rand(3, 5, dtype=dtype), rand(3, 5, dtype=dtype)] if states == 2 else rand(3, 5, dtype=dtype)
            cases.add("", rand(3, 4, dtype=dtype), hx, *weights(gates, 4, 5, 1, 1, biases, dtype))
    cases.write(folder)


def packed(folder):
    cases = Cases("_pack_padded_sequence")
    for dtype in [torch.float32, torch.float64, torch.int64]:
        for first in [False, True]:
            for lengths in [[5, 3, 3, 1], [2, 2, 2, 2]]:
                input = (rand(*((4, 5) if first else (5, 4)), 3) * 10).to(dtype)
                cases.add("", input, torch.tensor(lengths), first)
    cases.write(folder)
    cases = Cases("_pad_packed_sequence")
    for dtype in [torch.float32, torch.float64, torch.int64]:
        for first in [False, True]:
            for value, total in [(0, -1), (2, 7)]:
                data = (rand(12, 3) * 10).to(dtype)
                cases.add("", data, torch.tensor([4, 3, 3, 1, 1]), first, value, total)
    cases.write(folder)


def ctc(folder):
    cases = Cases("ctc_loss")
    for dtype in [torch.float32, torch.float64]:
        for reduction in [0, 1, 2]:
            probs = rand(7, 3, 5, dtype=dtype).log_softmax(2).detach()
            targets = torch.tensor([[1, 2, 2, 4], [3, 3, 1, 0], [4, 0, 0, 0]])
            cases.add("IntList", probs, targets, [7, 6, 5], [4, 3, 1], 0, reduction, False)
            probs = rand(7, 3, 5, dtype=dtype).log_softmax(2).detach()
            flat = torch.tensor([1, 2, 2, 1, 3, 2, 0], dtype=torch.int32)
            cases.add("IntList", probs, flat, [7, 6, 5], [3, 0, 4], 4, reduction, False)
            probs = rand(4, 2, 5, dtype=dtype).log_softmax(2).detach()
            long = torch.tensor([[1, 1, 1, 1], [1, 2, 3, 4]])
            cases.add("IntList", probs, long, [4, 4], [4, 4], 0, reduction, True)
            probs = rand(6, 5, dtype=dtype).log_softmax(1).detach()
            cases.add("IntList", probs, torch.tensor([1, 2, 3]), [6], [3], 0, reduction, False)
            probs = rand(7, 2, 5, dtype=dtype).log_softmax(2).detach()
            lengths = torch.tensor([7, 5]), torch.tensor([2, 3])
            cases.add("Tensor", probs, torch.tensor([[1, 2, 0], [3, 3, 1]]), *lengths, 0, reduction, False)
    cases.write(folder)


def attention(folder):
    cases = Cases("scaled_dot_product_attention")
    for dtype in [torch.float32, torch.float64, torch.bfloat16, torch.float16]:
        grad = dtype in [torch.float32, torch.float64]
        heads = lambda: [rand(2, 4, length, 8, dtype=dtype) for length in [3, 6, 6]]
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            cases.add("", *heads(), grad=grad)
            cases.add("", *heads(), None, 0.0, True, grad=grad)
            cases.add("", *heads(), torch.rand(3, 6) > 0.4, grad=grad)
            nothing = torch.ones(3, 6, dtype=torch.bool)
            nothing[1] = False
            cases.add("", *heads(), nothing, grad=grad)
            cases.add("", *heads(), rand(2, 1, 3, 6, dtype=dtype), grad=grad)
            cases.add("", *heads(), scale=0.25, grad=grad)
            groups = [rand(2, 4, 3, 8, dtype=dtype), rand(2, 2, 6, 8, dtype=dtype), rand(2, 2, 6, 8, dtype=dtype)]
            cases.add("", *groups, enable_gqa=True, grad=grad)
            cases.add("", rand(3, 8, dtype=dtype), rand(6, 8, dtype=dtype), rand(6, 8, dtype=dtype), grad=grad)
    # Longer than the part that is processed at once.
    cases.add("", rand(1, 2, 600, 8), rand(1, 2, 500, 8), rand(1, 2, 500, 8), None, 0.0, True, grad=False)
    cases.write(folder)


def distances(folder):
    cases = Cases("cdist")
    for dtype in [torch.float32, torch.float64]:
        for p in [0.5, 1.0, 1.5, 2.0, 3.0, float("inf")]:
            cases.add("", rand(2, 5, 3, dtype=dtype), rand(1, 4, 3, dtype=dtype), p, 2)
        same = rand(4, 3, dtype=dtype)
        cases.add("", same, same.detach().clone(), 2.0, 2)
    cases.write(folder)


def norms(folder):
    cases = Cases("batch_norm")
    for dtype in [torch.float32, torch.float64]:
        for training in [True, False]:
            for shape in [(4, 3), (4, 3, 5), (2, 3, 4, 5)]:
                layer = [rand(*shape, dtype=dtype), rand(3, dtype=dtype), rand(3, dtype=dtype)]
                running = [None, None] if training else [rand(3, dtype=dtype), torch.rand(3, dtype=dtype) + 0.5]
                cases.add("", *layer, *running, training, 0.1, 1e-5, True, constants=(3, 4))
    cases.write(folder)


def losses(folder):
    cases = Cases("multi_margin_loss")
    for dtype in [torch.float32, torch.float64]:
        for p in [1, 2]:
            target = torch.tensor([1, 0, 4])
            cases.add("", rand(3, 5, dtype=dtype), target, p, 0.5, torch.rand(5, dtype=dtype), 0, grad=False)
    cases.write(folder)
    cases = Cases("soft_margin_loss")
    for dtype in [torch.float32, torch.float64]:
        for reduction in [0, 1, 2]:
            cases.add("", rand(3, 5, dtype=dtype), torch.tensor([1, -1, 1, -1, 1]).to(dtype), reduction, grad=False)
    cases.write(folder)
    cases = Cases("nll_loss2d")
    for dtype in [torch.float32, torch.float64]:
        for reduction in [0, 1, 2]:
            target = torch.randint(0, 3, (2, 4, 5))
            cases.add("", rand(2, 3, 4, 5, dtype=dtype), target, None, reduction, -100)
    cases.write(folder)


def main(folder):
    torch.manual_seed(30)
    for name, gates, states in [("lstm", 4, 2), ("gru", 3, 1), ("rnn_tanh", 1, 1), ("rnn_relu", 1, 1)]:
        recurrent(folder, name, gates, states)
        cells(folder, f"{name}_cell", gates, states)
    packed(folder)
    ctc(folder)
    attention(folder)
    distances(folder)
    norms(folder)
    losses(folder)


main(sys.argv[1])
