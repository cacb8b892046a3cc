#!/usr/bin/env python3
"""Records the graphs that torch.jit.trace writes, for core/script/tests/trace.rs.

    python tests/oracle/script_traces.py > core/script/tests/data/traces.txt

A line is a call; constants, lists and attributes are part of it. Numbers of tensors without dimensions are numbers. Values
are numbered in order, so that names do not matter.
"""

import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.simplefilter("ignore")


def number(value):
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    return str(value)


def constant(node):
    output = node.output()
    if str(output.type()) == "NoneType":
        return "None"
    value = output.toIValue()
    if isinstance(value, torch.Tensor):
        if value.dim() == 0:
            return number(value.item())
        return f"{str(value.dtype)[6:]}{list(value.shape)}"
    if isinstance(value, (str, torch.device)):
        return f"'{value}'"
    return number(value)


def printed(graph):
    names = {}
    inputs = list(graph.inputs())
    for index, value in enumerate(inputs):
        names[value.debugName()] = f"${index}" if index else "self"
    lines, count, tuples = [], 0, {}
    skipped = ("prim::NumToTensor", "aten::Int")
    for node in graph.nodes():
        arguments = [names[value.debugName()] for value in node.inputs()]
        kind, outputs = node.kind(), [value.debugName() for value in node.outputs()]
        if kind == "prim::Constant":
            names[outputs[0]] = constant(node)
        elif kind == "prim::GetAttr":
            names[outputs[0]] = f"{arguments[0]}.{node.s('name')}"
        elif kind in skipped:
            names[outputs[0]] = arguments[0]
        elif kind == "prim::ListConstruct":
            names[outputs[0]] = "[" + ", ".join(arguments) + "]"
        elif kind == "prim::TupleConstruct":
            names[outputs[0]] = "(" + ", ".join(arguments) + ")"
            tuples[outputs[0]] = arguments
        elif kind == "prim::TupleUnpack" and node.input().debugName() in tuples:
            names.update(zip(outputs, tuples[node.input().debugName()]))
        elif kind == "aten::size":
            names[outputs[0]] = f"size({', '.join(arguments)})"
        else:
            for output in outputs:
                names[output] = f"%{count}"
                count += 1
            left = ", ".join(names[output] for output in outputs)
            lines.append(f"{left} = {kind}({', '.join(arguments)})")
    lines.append("return " + ", ".join(names[value.debugName()] for value in graph.outputs()))
    return lines


class Module(nn.Module):
    """A module of the layers by name, and a function."""

    def __init__(self, run, **layers):
        super().__init__()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self.run = run

    def forward(self, *inputs):
        return self.run(self, *inputs)


def record(name, run, *inputs, **layers):
    module = Module(run, **layers)
    traced = torch.jit.trace(module, inputs, check_trace=False, strict=False)
    print(f"== {name}")
    print("\n".join(printed(traced.inlined_graph)))


def lenet(m, x):
    x = F.max_pool2d(F.relu(m.conv1(x)), 2)
    x = F.max_pool2d(F.relu(m.conv2(x)), 2)
    x = x.view(-1, 16)
    return F.log_softmax(m.fc(x), dim=1)


def training(m, x):
    return F.dropout(m.bn(x), 0.25, True)


def in_place(m, x):
    y = x * 2
    y.add_(1.5)
    y.select(1, 0).fill_(3.0)
    y.mul_(y)
    return y.sub_(x)


def lists(m, x):
    a, b = torch.chunk(x, 2, 1)
    c, _ = torch.max(x, 1)
    values, indices = torch.topk(x, 2)
    first, second = torch.unbind(torch.stack([a, b]))
    return torch.cat([first, second], 1), x[:, [0, 1]], c, values, indices


def factories(m, x):
    a = torch.zeros(2, 3)
    b = torch.full((3,), 2.5, dtype=torch.float64)
    c = torch.arange(3)
    d = torch.zeros_like(x)
    e = x.new_ones(2, 3)
    f = torch.randn(2, 3)
    return a + b + c + d + e + f


def out_form(m, x):
    y = torch.empty(2, 3)
    torch.mul(x, x, out=y)
    return y


def containers(m, pair, items):
    a, b = pair
    c, d = items
    return {"sum": a + b, "product": c * d}


def recurrent(m, tokens, h, c):
    out, (h, _) = m.lstm(m.embed(tokens), (h, c))
    return m.fc(out[:, -1]), h


def convolutions(m, x):
    y = F.conv1d(x, m.w1, None, 2, 1)
    z = F.conv_transpose1d(y, m.w2, m.b2, 2, 1, 1)
    return F.conv1d(z, m.w1, padding="same")


def attention(m, q, k):
    scores = torch.matmul(q, k.transpose(1, 2)) / 2.0
    y = F.layer_norm(torch.softmax(scores, -1), (3,))
    return F.scaled_dot_product_attention(y, y, y)


def sizes(m, x):
    y = x.view(x.size(0), -1)
    return y.expand(2, y.size(0), y.size(1)).sum((0, 2)), torch.zeros(x.size(0), 2) + 1


def constants(m, x):
    return x + torch.ones(3), torch.ones(2)


def main():
    torch.manual_seed(0)
    x = torch.rand(2, 3)
    fc = nn.Linear(16, 4)
    record("lenet", lenet, torch.rand(1, 1, 14, 14), conv1=nn.Conv2d(1, 2, 3), conv2=nn.Conv2d(2, 4, 3), fc=fc)
    record("training", training, torch.rand(4, 3), bn=nn.BatchNorm1d(3))
    record("in_place", in_place, x)
    record("lists", lists, torch.rand(2, 4))
    record("factories", factories, x)
    record("out_form", out_form, x)
    record("containers", containers, (x, x + 1), [x + 2, x + 3])
    lstm = nn.LSTM(4, 5, batch_first=True)
    state = torch.zeros(1, 2, 5)
    tokens = torch.tensor([[1, 2, 3], [4, 5, 0]])
    record("recurrent", recurrent, tokens, state, state + 0, embed=nn.Embedding(6, 4), lstm=lstm, fc=nn.Linear(5, 2))
    parameter = lambda *shape: nn.Parameter(torch.rand(*shape))
    record("convolutions", convolutions, torch.rand(1, 2, 9), w1=parameter(3, 2, 3), w2=parameter(3, 2, 3), b2=parameter(2))
    record("attention", attention, torch.rand(2, 3, 4), torch.rand(2, 3, 4))
    record("sizes", sizes, torch.rand(2, 3, 4))
    record("constants", constants, torch.rand(3))


if __name__ == "__main__":
    main()
