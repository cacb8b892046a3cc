"""Writes builtins.txt: calls of the operators without tensors with what PyTorch returns; tests/builtins.rs repeats them.

Usage: python builtins.py, with torch 2.7.1. A line is `NAME ARGUMENTS => RESULT ; ARGUMENTS AFTER THE CALL`, or
`NAME ARGUMENTS !!` for a call that fails. Values are Python literals.
"""

import itertools
import os
import random
import re
import signal

import torch

POOLS = {
    "int": [0, 1, -1, 3, -7, 12, 255],
    "float": [0.0, 1.0, -2.5, 0.3, 1e10, -7.0, float("inf")],
    "bool": [False, True],
    "complex": [1 + 2j, -0.5 + 0j, 3 - 1j],
    "str": ["", "a", "abc", "Hello World", " x\ty ", "a,b,,c", "12", "aXbXc", "l", "x=1", "ABC def 9", "a\nb\r\nc"],
    "int[]": [[], [1], [3, 1, 2], [5, 5, -2, 0]],
    "float[]": [[], [1.5], [3.0, -1.0, 2.5]],
    "bool[]": [[], [True], [False, True, True]],
    "str[]": [[], ["a"], ["b", "a", "c"]],
    "complex[]": [[1 + 2j], [0j, 2 - 1j]],
    "int?": [None, 1, -2],
    "str?": [None, ",", "l", "X"],
}
# Not compared: results that depend on the machine or the process, and those that print. Operators with type variables and
# those of Scalar are not called as programs call them from Python.
SKIP = {
    "aten::hash", "prim::Print", "aten::_print", "aten::warn", "aten::initial_seed", "aten::seed", "prim::TimePoint",
    "aten::manual_seed", "aten::set_grad_enabled", "prim::id", "aten::save", "prim::RaiseException", "prim::AddStatValue",
    # Replaced by functions of Python, or with results of another type than the schema says.
    "aten::divmod", "aten::get_gradients", "aten::get_autocast_dtype", "prim::rangelist", "prim::ReductionSizes",
}


def literal(value):
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, complex):
        return f"C({value.real!r}, {value.imag!r})"
    return repr(value)


def call(schema, arguments):
    """The line of a call; None if it is not compared."""
    name = schema.name
    full = f"{name}.{schema.overload_name}" if schema.overload_name else name
    before = literal(tuple(arguments))
    packet = getattr(getattr(torch.ops, name.split("::")[0]), name.split("::")[1])
    try:
        result = getattr(packet, schema.overload_name or "default")(*arguments)
    except (RuntimeError, IndexError, ValueError):
        return f"{full} {before} !!"
    except (TypeError, AttributeError, UnicodeDecodeError):
        return None
    parts = result if isinstance(result, (list, tuple)) else [result]
    return None if any(isinstance(part, torch.Tensor) for part in parts) else f"{full} {before} => {literal(result)}"


def calls(schema):
    """Lists of arguments."""
    text = str(schema)
    kinds = []
    for part in text[text.index("(") + 1 : text.rindex(") ->")].split(", "):
        kind = re.sub(r"\([a-c](!| -> \*)?\)", "", part)
        if kind and kind != "*":
            kinds.append(kind.split(" ")[0])
    if not kinds or any(kind not in POOLS for kind in kinds):
        return []
    found = []
    for arguments in itertools.product(*(POOLS[kind] for kind in kinds)):
        if "shift" in schema.name and not 0 <= arguments[1] < 64:
            continue
        # Positions behind the end of a string are an error in some functions, if the compiler of C++ notices.
        if kinds[:3] == ["str", "str", "int"] and arguments[2] > len(arguments[0]):
            continue
        if any(isinstance(value, complex) for value in arguments) and float("inf") in arguments:
            continue
        if schema.name in ("aten::floor", "aten::ceil", "aten::chr", "aten::factorial") and not -1 < arguments[0] < 20:
            continue
        found.append([list(value) if isinstance(value, list) else value for value in arguments])
    random.shuffle(found)
    return found[:14]


def in_child(function):
    """The text that a function returns in another process; None if the process ends. Some calls end or hang it."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(2)
        os.write(writer, function().encode())
        os._exit(0)
    os.close(writer)
    data = b""
    while chunk := os.read(reader, 65536):
        data += chunk
    os.close(reader)
    return data.decode() if os.waitpid(child, 0)[1] == 0 else None


def main():
    random.seed(0)
    out = []
    for schema in sorted(torch._C._jit_get_all_schemas(), key=str):
        if not schema.name.startswith(("aten::", "prim::")) or schema.name in SKIP or "_cufft" in schema.name or schema.overload_name == "int_to_int":
            continue
        lists = calls(schema)
        if not lists:
            continue
        text = in_child(lambda: "".join(f"{line}\n" for line in (call(schema, arguments) for arguments in lists) if line))
        if text is None:
            lines = [in_child(lambda: call(schema, arguments) or "") for arguments in lists[:4]]
            text = "".join(f"{line}\n" for line in lines if line)
        out.append(text)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "builtins.txt")
    with open(path, "w") as file:
        file.write("".join(out))


main()
