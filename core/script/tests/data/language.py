"""Records what PyTorch's compiler does with the programs in language.txt: the schema and operators, or the error."""
import collections
import importlib
import re
import sys
import tempfile

import torch

HEAD = "import torch, math\nfrom torch import Tensor\nfrom enum import Enum\nfrom typing import *\n"
# What differs between two correct graphs: constants, structure and what constant propagation removes.
LEFT_OUT = {"prim::Constant", "prim::If", "prim::Loop", "prim::unchecked_cast", "prim::Uninitialized", "prim::TupleIndex",
            "prim::TupleConstruct", "prim::TupleUnpack", "prim::ListConstruct", "prim::TupleSlice", "prim::Enter",
            "prim::Exit", "prim::isinstance", "aten::__and__", "aten::__not__", "aten::__is__", "aten::__isnot__", "aten::Bool", "prim::min"}


def operators(block, counts):
    for node in block.nodes():
        if node.kind() not in LEFT_OUT:
            counts.add(node.kind())
        for inner in node.blocks():
            operators(inner, counts)


folder = tempfile.mkdtemp()
sys.path.insert(0, folder)
programs = re.split(r"^=== (\w+)\n", open("language.txt").read(), flags=re.M)[1:]
for name, text in zip(programs[::2], programs[1::2]):
    with open(f"{folder}/{name}.py", "w") as file:
        file.write(HEAD + text)
    print("===", name)
    try:
        function = torch.jit.script(importlib.import_module(name).f)
        schema = re.sub(r"^[^(]*", "", str(function.schema))
        found = set()
        operators(function.graph, found)
        print("ok", schema)
        # PyTorch peels loops with exits, and defines torch.no_grad in TorchScript.
        print("" if name.endswith("_free") else " ".join(sorted(found)))
    except Exception as error:
        lines = re.sub(r" \(of Python compilation unit at: 0x\w+\)", "", str(error)).split("\n")
        end = next((index for index, line in enumerate(lines) if line.startswith("  File")), len(lines))
        print("fails", "\n".join(line.rstrip() for line in lines[:end] if line.strip()))
