"""Runs models that were traced and saved by Rushlight in PyTorch.

    RUSHLIGHT_TRACED=FOLDER build/.../cpp_tests --gtest_filter='Trace.*'
    python tests/oracle/script_traced.py FOLDER

Each file of FOLDER has the extra file `case.json`: inputs and the outputs that the traced function returned for them.
`torch.jit.load` reads the file, and its outputs are compared with those. A line is printed for each file, and then
`N passed, N failed`.
"""

import json
import pathlib
import sys
import traceback

import torch

RTOL, ATOL = 1e-4, 1e-5


def tensor(case):
    return torch.tensor(case["data"], dtype=getattr(torch, case["dtype"])).reshape(case["shape"])


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    return [] if value is None else [each for item in value for each in flat(item)]


def check(path):
    extra = {"case.json": ""}
    module = torch.jit.load(path, _extra_files=extra)
    case = json.loads(extra["case.json"])
    outputs = flat(module(*(tensor(each) for each in case["inputs"])))
    expected = [tensor(each) for each in case["outputs"]]
    assert len(outputs) == len(expected), f"{len(outputs)} outputs instead of {len(expected)}"
    for output, wanted in zip(outputs, expected):
        torch.testing.assert_close(output, wanted, rtol=RTOL, atol=ATOL)
    # What a user does next.
    module.eval()
    module.state_dict()
    torch.jit.freeze(module)


def main():
    passed = failed = 0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pt")):
        try:
            check(path)
            passed += 1
            print(f"{path.name}: passed")
        except Exception:  # every error is a failure of the file
            failed += 1
            print(f"{path.name}: FAILED\n{traceback.format_exc()}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
