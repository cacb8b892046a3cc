"""Writes what PyTorch 2.7.1 does with the programs in core/script/tests/data/programs.txt: `programs.pt`, one file with all
of them, and `programs.expected`, what each returns, prints or raises when it is loaded and called with 0, 1 and 2.

A program has a function `f`, or a module `M` with a method `forward`. `=> VALUE` is a result as tests/values reads it, `!! TEXT`
the last line of an error, `prints TEXT` the output; `fails TEXT` is the error of `torch.jit.script`, `save` or `load`.
Lines after `unit` are what the source code does that `torch.jit.CompilationUnit` compiles, where it differs: a file has
integers for large floats.
"""
import contextlib
import importlib
import io
import pathlib
import re
import sys
import tempfile
import zipfile

import torch

HEAD = """import math
import torch
import torch.nn.functional as F
from enum import Enum
from torch import Tensor, nn
from typing import *
"""
WRAPPED = """

class M(nn.Module):
    def forward(self, k: int):
        return f(k)
"""
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]
CODES = dict(zip(DTYPES, range(8))) | {torch.bool: 11, torch.bfloat16: 15}


class Uncompared(Exception):
    """A result that the tests cannot read."""


def literal(value):
    if isinstance(value, torch.Tensor):
        value = value.detach()
        return f"A({CODES[value.dtype]}, {list(value.shape)}, {literal(value.double().reshape(-1).tolist())})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, complex):
        return f"C({value.real!r}, {value.imag!r})"
    if isinstance(value, torch.dtype):
        return str(CODES[value])
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)
    raise Uncompared(f"{type(value)} is not compared")


def last_line(error):
    """The line with the class and the message of an exception, and what follows."""
    text = str(error).rstrip()
    found = list(re.finditer(r"^[\w.]*(Error|Exception): ?", text, flags=re.M))
    return text[found[-1].start() :] if found else text


def first_line(error):
    text = re.sub(r" \(of Python compilation unit at: 0x\w+\)", "", str(error))
    return next((line.strip() for line in text.split("\n") if line.strip()), "")


class Programs(torch.nn.Module):
    def forward(self) -> int:
        return 0


def scripted(name, text, folder):
    wrapped = "" if re.search(r"^class M\(", text, flags=re.M) else WRAPPED
    (folder / f"{name}.py").write_text(HEAD + text + wrapped)
    module = torch.jit.script(importlib.import_module(name).M())
    # PyTorch cannot read everything that it writes.
    saved = io.BytesIO()
    torch.jit.save(module, saved)
    saved.seek(0)
    torch.jit.load(saved)
    return module


def calls(function):
    """What the calls with 0, 1 and 2 do."""
    lines = []
    for k in range(3):
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                lines.append(f"=> {literal(function(k))}")
        except Uncompared as error:
            sys.exit(str(error))
        except Exception as error:  # the result of the call
            lines.append(f"!! {last_line(error)!r}")
        if printed.getvalue():
            lines.append(f"prints {printed.getvalue()!r}")
    return lines


def of_unit(text):
    """What the functions do without Python's front end; None if they need it."""
    try:
        unit = torch.jit.CompilationUnit(text)
    except Exception:
        return None
    return calls(unit.f)


def main(data):
    parts = re.split(r"^=== (\w+)\n", (data / "programs.txt").read_text(), flags=re.M)[1:]
    folder = pathlib.Path(tempfile.mkdtemp())
    sys.path.insert(0, str(folder))
    whole, lines, texts = Programs(), {}, dict(zip(parts[::2], parts[1::2]))
    for name, text in texts.items():
        try:
            setattr(whole, name, scripted(name, text, folder))
            lines[name] = []
        except Exception as error:  # whatever the compiler raises is the result
            lines[name] = [f"fails {first_line(error)!r}"]
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(whole), buffer)
    # Without the tables of line numbers, which are most of the file.
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(data / "programs.pt", "w", zipfile.ZIP_STORED) as target:
        for entry in source.namelist():
            if not entry.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(entry), source.read(entry))
    loaded = torch.jit.load(data / "programs.pt")
    with open(data / "programs.expected", "w") as out:
        for name, result in lines.items():
            out.write(f"=== {name}\n")
            if not result:
                result = calls(getattr(loaded, name))
                unit = None if re.search(r"^(class |@)", texts[name], flags=re.M) else of_unit(texts[name])
                if unit is not None and unit != result:
                    result += ["unit"] + unit
            out.write("".join(line + "\n" for line in result))


main(pathlib.Path(__file__).parents[2] / "core/script/tests/data")
