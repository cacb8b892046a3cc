#!/usr/bin/env python3
"""Counts the functions of tch-rs's libtch that raise NotImplementedError here: docs/libtorch-programs.md has the result.

    python3 tests/count_raising.py tch-rs/torch-sys/libtch/torch_api_generated.cpp [--names]

A function counts if its source calls a function of at:: or a method that ATen/MissingFunctions.h or
ATen/internal_functions/methods.h declares with RLT_MISSING. Those of hardware libraries and of libtorch's own tests are
counted apart.
"""

import re
import sys
from pathlib import Path

ATEN = Path(__file__).resolve().parent.parent / "cpp-frontend/include/ATen"
APART = re.compile(
    r"_?(cudnn|miopen|mkldnn|mps)_|_?lstm_mps|to_mkldnn|_scaled_dot_product_attention_math_for_mps|_foobar|_test_"
)


def missing():
    """The names of the functions and methods that raise."""
    names = set()
    for header in ["MissingFunctions.h", "internal_functions/methods.h"]:
        text = (ATEN / header).read_text()
        for kind, arguments in re.findall(r"^RLT_MISSING(\w*)\((.*)\)$", text, re.M):
            arguments = arguments.split(", ")
            names.add(arguments[1] if kind == "_VALUE" else arguments[0])
            if not kind:
                names.add(arguments[0] + "_out")
    return names


def main():
    names = missing()
    functions = re.split(r"^(?=\S.*\batg_\w+\()", Path(sys.argv[1]).read_text(), flags=re.M)[1:]
    raising = []
    for function in functions:
        called = [a or b for a, b in re.findall(r"torch::(\w+)\(|->(\w+)\(", function)]
        raising += [name for name in called if name in names][:1]
    others = [name for name in raising if not APART.match(name)]
    share = 100 * len(others) / len(functions)
    print(f"{len(functions)} functions, {len(raising)} raise, {len(others)} without hardware libraries and tests ({share:.2f} %)")
    if "--names" in sys.argv:
        print("\n".join(sorted(others)))


main()
