"""Golden cases of products that the suite does not contain: `_int_mm`, `ger` and `chain_matmul`.

    python product_cases.py DIR    writes DIR/NAME.safetensors, in the format of tests/data/golden.md
"""

import json
import struct
import sys

import torch

NAMES = {torch.int8: "I8", torch.int32: "I32", torch.int64: "I64", torch.float32: "F32", torch.float64: "F64"}


class Cases:
    def __init__(self):
        self.cases, self.tensors = [], {}

    def value(self, tensor):
        if isinstance(tensor, (list, tuple)):
            return [self.value(item) for item in tensor]
        key = f"t{len(self.tensors)}"
        self.tensors[key] = tensor.detach()
        entry = {"t": key, "dtype": str(tensor.dtype)[6:], "shape": list(tensor.shape)}
        if not tensor.is_contiguous():
            entry["strides"] = list(tensor.stride())
        return entry

    def add(self, name, function, arguments):
        case = {"op": f"aten::{name}", "args": [self.value(argument) for argument in arguments], "kwargs": {}}
        leaves = {}
        for at, argument in enumerate(arguments):
            for item, tensor in enumerate(argument if isinstance(argument, list) else [argument]):
                if tensor.is_floating_point():
                    leaves[f"{at}.{item}" if isinstance(argument, list) else str(at)] = tensor.requires_grad_()
        out = function(*arguments)
        case["outs"] = [self.value(out)]
        if leaves:
            grad = torch.rand_like(out)
            case["grad_outs"] = [self.value(grad)]
            grads = torch.autograd.grad(out, list(leaves.values()), grad)
            case["grads"] = {key: self.value(value) for key, value in zip(leaves, grads)}
        self.cases.append(case)

    def write(self, path):
        header, data = {"__metadata__": {"cases": json.dumps(self.cases)}}, bytearray()
        for key, tensor in self.tensors.items():
            content = bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist())
            shape, offsets = list(tensor.shape), [len(data), len(data) + len(content)]
            header[key] = {"dtype": NAMES[tensor.dtype], "shape": shape, "data_offsets": offsets}
            data += content
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text + data)


def main(folder):
    torch.manual_seed(20)
    bytes_of = lambda *sizes: torch.randint(-128, 128, sizes, dtype=torch.int8)
    cases = Cases()
    for n, k, m in [(3, 4, 5), (17, 64, 33), (1, 70, 1), (0, 3, 2), (2, 0, 3), (40, 130, 18)]:
        cases.add("_int_mm", torch._int_mm, [bytes_of(n, k), bytes_of(k, m)])
        cases.add("_int_mm", torch._int_mm, [bytes_of(n, k), bytes_of(m, k).t()])
    cases.write(f"{folder}/_int_mm.safetensors")
    cases = Cases()
    for dtype in [torch.float32, torch.float64]:
        cases.add("ger", torch.ger, [torch.rand(4, dtype=dtype), torch.rand(3, dtype=dtype)])
    cases.add("ger", torch.ger, [torch.arange(4), torch.arange(3)])
    cases.write(f"{folder}/ger.safetensors")
    cases = Cases()
    for sizes in [(2, 3), (2, 3, 4), (7, 3, 9, 2), (10, 2, 10, 2, 10)]:
        for dtype in [torch.float32, torch.float64]:
            matrices = [torch.rand(a, b, dtype=dtype) for a, b in zip(sizes, sizes[1:])]
            cases.add("chain_matmul", lambda list: torch.chain_matmul(*list), [matrices])
    cases.write(f"{folder}/chain_matmul.safetensors")


main(sys.argv[1])
