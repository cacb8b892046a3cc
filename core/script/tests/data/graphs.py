"""Writes graphs of PyTorch with inputs and results: tests/data/graphs/*.txt, which tests/interpreter.rs runs.

Usage: python graphs.py, with torch 2.7.1. A file has the printed graph of each function, and under it its cases as
lines `case ARGUMENTS => RESULT` or `case ARGUMENTS !! LAST LINE OF THE ERROR`. Values are Python literals; a tensor of
float32 is `T(sizes, elements)`, one of int64 `L(sizes, elements)`.
"""

import os
import re
from typing import *

import torch
from torch import Tensor

PROGRAMS = {
    "control": (
        """
def early(x: int) -> int:
    if x > 10:
        return x * 2
    elif x < 0:
        return -x
    for i in range(x):
        if i == 3:
            return 100 + i
    return x

def swap(n: int) -> Tuple[int, int]:
    a, b = 0, 1
    for i in range(n):
        a, b = b, a + b
    return a, b

def collatz(n: int) -> List[int]:
    out = [n]
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        out.append(n)
    return out

def skip(n: int) -> int:
    total = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        if i > 10:
            break
        j = 0
        while j < i:
            total += i * j
            j += 2
    return total

def optional(x: Optional[int], y: Optional[List[int]]) -> int:
    if x is None:
        x = 5
    z = x + 1
    if y is not None:
        z += len(y)
    return z

def unpack(x: List[int]) -> int:
    a, b, c = x
    return a * 100 + b * 10 + c

def guarded(x: int) -> str:
    if x > 2:
        raise ValueError("too big: {}".format(x))
    assert x != 1, "one"
    return "ok"

def primes(n: int) -> List[int]:
    found: List[int] = []
    for i in range(2, n):
        good = True
        for p in found:
            if i % p == 0:
                good = False
                break
        if good:
            found.append(i)
    return found
""",
        {
            "early": [(20,), (-4,), (2,), (7,)],
            "swap": [(0,), (1,), (30,)],
            "collatz": [(7,), (1,)],
            "skip": [(5,), (40,)],
            "optional": [(None, None), (1, [1, 2])],
            "unpack": [([1, 2, 3],), ([1, 2],)],
            "guarded": [(0,), (1,), (7,)],
            "primes": [(40,)],
        },
    ),
    "containers": (
        """
def lists(x: List[int], y: List[float]):
    z = x + [7]
    z.insert(1, 9)
    z.extend(x)
    z.reverse()
    w = sorted(z)
    last = z.pop()
    first = z.pop(0)
    z[0] += 5
    z[-1] = 11
    return z, w, last, first, z[1:3], z[::-1], z[-2:], z.index(11), z.count(9), 9 in z, max(z), min(y), sum(y), x * 2, len(z)

def dicts(n: int):
    d: Dict[str, int] = {}
    for i in range(n):
        d[str(i)] = i * i
    d.update({"a": 1, "b": 2})
    removed = d.pop("1")
    del d["0"]
    got = d.get("zz")
    default = d.get("zz", 4)
    s = 0
    for k in d:
        s += d[k]
    return d, removed, got, default, s, list(d.keys()), list(d.values()), list(d.items()), "a" in d, "q" in d, len(d), d.setdefault("c", 8)

def missing(k: str) -> int:
    return {"a": 1}[k]

def nested(n: int):
    rows: List[List[int]] = []
    for i in range(n):
        row = [i * j for j in range(n)]
        rows.append(row)
        row.append(-1)
    alias = rows[0]
    alias.append(77)
    return rows, rows[0] == [0], [len(r) for r in rows]

def strings(s: str, n: int):
    return s.upper(), s.split(","), ",".join(["a", "b"]), s[0], s[-2:], s[::-1], s.find("b"), s.replace("a", "xx"), s.strip(), "{} and {}".format(s, n), "%s-%d" % (s, n), s + "q", len(s), s == "a,b", s < "b", hex(n), s.startswith("a"), s.center(9, "*"), s.title()

def tuples(t: Tuple[int, str, List[float]]):
    a, b, c = t
    return (b, a), t[2], t[0] + 1, (a,), ((a, b), c)

def scalars(a: int, b: float):
    return a // 2, a % 3, a / 2, a * b, a - b, -a, abs(a), a ** 2, b ** 0.5, int(b), float(a), bool(a), a & 3, a | 8, a ^ 5, a << 2, a >> 1, not a == 2, min(a, 2), max(b, 2.0), round(b), divmod(a, 4), a > b, complex(a, b), str(b), b // 2, b % 2
""",
        {
            "lists": [([3, 1, 2], [2.5, 0.5]), ([5], [1.0])],
            "dicts": [(4,)],
            "missing": [("a",), ("b",)],
            "nested": [(3,)],
            "strings": [("a,b", 5), (" abc ", -3)],
            "tuples": [((3, "x", [1.5]),)],
            "scalars": [(7, 2.5), (-7, 6.25)],
        },
    ),
    "tensors": (
        """
def linear(x: Tensor, w: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = torch.relu(torch.mm(x, w)) + i
    return x

def branches(x: Tensor) -> Tensor:
    if bool(x.sum() > 3):
        y = x * 2
    else:
        y = x - 1
    y[0] = 7.0
    return y.view(-1)

def shapes(x: Tensor):
    a, b = x.shape
    parts = x.split(1, 0)
    rows: List[List[float]] = x.tolist()
    return a, b, x.size(-1), x.dim(), x.dtype == torch.float, len(parts), torch.cat([parts[1], parts[0]]), x.numel(), rows

def created(n: int) -> Tensor:
    return torch.tensor([[1, n], [3, 4]]) + torch.zeros([2, 2], dtype=torch.long) + torch.arange(2)

def items(x: Tensor):
    return int(x[0]), float(x[1]), x[0].item(), [int(v) for v in x]

def forked(x: Tensor):
    f = torch.jit.fork(torch.relu, x)
    y = x + 1
    return torch.jit.wait(f) + y

def bad(x: Tensor) -> Tensor:
    y = x + 1
    return torch.mm(y, y)

def indexed(x: Tensor):
    return x[1], x[:, 1], x[..., 0], x[x > 2], x[torch.tensor([1, 0])], x[None].shape, x[1:, ::2]
""",
        {
            "linear": [(torch.eye(2) * 2, torch.tensor([[1.0, -1.0], [0.5, 2.0]]), 3)],
            "branches": [(torch.ones(2, 2),), (torch.zeros(3),)],
            "shapes": [(torch.arange(6.0).view(2, 3),)],
            "created": [(9,)],
            "items": [(torch.tensor([4, 2]),)],
            "forked": [(torch.tensor([-1.0, 2.0]),)],
            "bad": [(torch.ones(2, 3),)],
            "indexed": [(torch.arange(6.0).view(2, 3),)],
        },
    ),
}


def literal(value):
    if isinstance(value, Tensor):
        code = {torch.float32: "T", torch.int64: "L", torch.bool: "B"}[value.dtype]
        return f"{code}({list(value.shape)}, {value.flatten().tolist()})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def last_line(error):
    lines = [line for line in str(error).split("\n") if re.match(r"[\w.]*Error", line)]
    return lines[-1]


folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "graphs")
for name, (source, cases) in PROGRAMS.items():
    unit = torch.jit.CompilationUnit(source)
    with open(os.path.join(folder, name + ".txt"), "w") as out:
        for function, runs in cases.items():
            compiled = getattr(unit, function)
            out.write(f"def {function}\n{compiled.graph}")
            for arguments in runs:
                text = literal(arguments)
                try:
                    result = compiled(*arguments)
                    out.write(f"case {text} => {literal(result)}\n")
                except (RuntimeError, torch.jit.Error) as error:
                    out.write(f"case {text} !! {last_line(error)}\n")
            out.write("\n")
