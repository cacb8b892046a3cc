"""Another set of golden cases: PyTorch's results for its own sample inputs, generated with any seed.

    python golden.py DIR --seed 1 [--op NAME]... [--part I/N] [--samples 6] [--reference]

writes DIR/NAME.safetensors, a file for each ATen operator, in the format of tests/data/golden.md; `--samples` says how many
samples of an operator and dtype are sampled (twice as many of float32), and `--reference` draws from the larger inputs that
PyTorch keeps for its reference tests. Nobody needs this to build or test Rushlight: `make conformance GOLDEN=DIR` runs the set.

Each function of `op_db` is called on its samples, and every operator that it calls is written down as it is called, before
autograd and before composites are taken apart; the gradients are vector-Jacobian products for random cotangents.
"""

import argparse
import copy
import itertools
import json
import math
import pathlib
import random
import struct

import numpy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses.schema_check_mode import SchemaCheckMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

DTYPES = [
    torch.float32, torch.float64, torch.complex64, torch.bfloat16, torch.float16,
    torch.int64, torch.int32, torch.uint8, torch.bool,
]
WITH_GRADIENTS = [torch.float32, torch.float64, torch.complex64, torch.complex128]
NAMES = {
    torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.int16: "I16", torch.int32: "I32", torch.int64: "I64",
    torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32", torch.float64: "F64",
    torch.complex32: "F16", torch.complex64: "F32", torch.complex128: "F64",
}  # fmt: skip
# The dtypes of the same call in double, and how far a number may be from it.
PRECISE = {
    torch.bfloat16: torch.float64, torch.float16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128,
}  # fmt: skip
TOLERANCES = {torch.bfloat16: (1.6e-2, 1e-5), torch.float16: (1e-3, 1e-5), torch.float32: (1.3e-6, 1e-5), torch.complex64: (1.3e-6, 1e-5)}
# Operators with ill-conditioned samples, of which only those are recorded that PyTorch computes accurately.
ILL_CONDITIONED = {"linalg_householder_product", "matrix_exp"}
# No larger tensors, and no more cases of an overload and dtype.
MOST_ELEMENTS, MOST_CASES = 20_000, 40


class File:
    """The cases of one operator name."""

    def __init__(self):
        self.cases, self.tensors, self.count = [], {}, {}

    def tensor(self, tensor, values=True):
        entry = {"dtype": str(tensor.dtype)[6:], "shape": list(tensor.shape)}
        if values:
            key = f"t{len(self.tensors)}"
            entry = {"t": key, **entry}
            self.tensors[key] = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
        if not tensor.is_contiguous():
            entry["strides"] = list(tensor.stride())
        return entry

    def value(self, value, values=True):
        if value is None or isinstance(value, (bool, int)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"f": str(value)}
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, str):
            return {"s": value}
        if isinstance(value, (list, tuple)):
            return [self.value(item, values) for item in value]
        if isinstance(value, torch.Tensor):
            return self.tensor(value, values)
        for kind, name in [(torch.dtype, "dtype"), (torch.device, "device"), (torch.layout, "layout"), (torch.memory_format, "memory_format")]:
            if isinstance(value, kind):
                return {name: str(value).removeprefix("torch.")}
        raise TypeError(f"{value!r} has no form in a golden file")

    def save(self, path):
        header, blobs, at = {"__metadata__": {"cases": json.dumps(self.cases)}}, [], 0
        for key, tensor in self.tensors.items():
            shape = list(tensor.shape) + [2] * tensor.is_complex()
            blob = bytes(tensor.reshape(-1).view(torch.uint8).numpy()) if tensor.numel() else b""
            header[key] = {"dtype": NAMES[tensor.dtype], "shape": shape, "data_offsets": [at, at + len(blob)]}
            at += len(blob)
            blobs.append(blob)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def tensors_of(arguments, keywords):
    """Returns the tensor arguments by their keys in golden files."""
    for key, value in itertools.chain(((str(at), value) for at, value in enumerate(arguments)), keywords.items()):
        if isinstance(value, torch.Tensor):
            yield key, value
        elif isinstance(value, (list, tuple)):
            for at, item in enumerate(value):
                if isinstance(item, torch.Tensor):
                    yield f"{key}.{at}", item


def exactly(tensor):
    """Returns a copy with the same strides."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    twin = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    # Elements in the same memory are written once each to the same value.
    extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
    twin.as_strided((extent,), (1,)).copy_(tensor.as_strided((extent,), (1,)))
    return twin


def ordinary(tensor):
    return (
        tensor.layout == torch.strided and not tensor.is_quantized and tensor.device.type == "cpu"
        and tensor.numel() <= MOST_ELEMENTS and tensor.dtype in NAMES
    )  # fmt: skip


class Recorder(SchemaCheckMode):
    """Records every call that enters the dispatcher from outside."""

    # The keys of arguments that an operator is not differentiated by.
    constants = {}

    def __init__(self, files):
        TorchDispatchMode.__init__(self, _dispatch_key=torch._C.DispatchKey.PreDispatch)
        self.files = files

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        with torch._C._DisablePythonDispatcher():
            if function.namespace == "aten":
                self.record(function, args, kwargs)
            return function(*args, **kwargs)

    def record(self, function, args, kwargs):
        name = function._schema.name.removeprefix("aten::")
        overload = function._schema.overload_name
        kwargs = {key: value for key, value in kwargs.items() if not (key == "generator" and value is None)}
        file = self.files.setdefault(name, File())
        given = list(tensors_of(args, kwargs))
        counted = (overload, next((tensor.dtype for _, tensor in given), None))
        if file.count.get(counted, 0) >= MOST_CASES or not all(ordinary(tensor) for _, tensor in given):
            return
        before = len(file.cases), len(file.tensors)
        state = torch.get_rng_state()
        try:
            if self.add(file, function, "aten::" + name + ("." + overload if overload else ""), args, kwargs):
                if name in ILL_CONDITIONED and not is_accurate(file, function, args, kwargs):
                    raise ValueError("inaccurate")
                file.count[counted] = file.count.get(counted, 0) + 1
        except Exception:
            # A call that PyTorch rejects or computes inaccurately, or a value that these files cannot represent.
            del file.cases[before[0] :]
            for key in list(file.tensors)[before[1] :]:
                del file.tensors[key]
        torch.set_rng_state(state)

    def add(self, file, function, op, args, kwargs):
        copies = lambda: tree_map(lambda item: exactly(item) if isinstance(item, torch.Tensor) else item, (args, kwargs))
        leaves_args, leaves_kwargs = copies()
        given = list(tensors_of(leaves_args, leaves_kwargs))
        case = {"op": op, "args": file.value(args), "kwargs": {key: file.value(value) for key, value in kwargs.items()}}
        written = written_keys(function, args, kwargs)
        is_random = draws_numbers(function, args, kwargs)
        constants = self.constants.get(op.partition("::")[2], ())
        leaves = {key: tensor for key, tensor in given if tensor.dtype in WITH_GRADIENTS and key not in constants}
        if any(argument.is_out for argument in function._schema.arguments):
            # Out forms are not differentiable.
            leaves = {}
        call_args, call_kwargs = leaves_args, leaves_kwargs
        if leaves and not is_random and all(t.dtype in WITH_GRADIENTS or not (t.is_floating_point() or t.is_complex()) for _, t in given):
            for tensor in leaves.values():
                tensor.requires_grad_()
            if written:
                inner = {id(leaves[key]): leaves[key].clone() for key in written if key in leaves}
                swap = lambda item: inner.get(id(item), item) if isinstance(item, torch.Tensor) else item
                call_args, call_kwargs = tree_map(swap, (leaves_args, leaves_kwargs))
        else:
            leaves = {}
        with torch.enable_grad():
            result = function(*call_args, **call_kwargs)
        outs = list(result) if isinstance(result, (tuple, list)) else [] if result is None else [result]
        if not all(ordinary(out) for out in outs if isinstance(out, torch.Tensor)):
            return False
        case["outs"] = file.value(outs, values=not is_random)
        if written:
            after = dict(tensors_of(call_args, call_kwargs))
            case["mutated"] = {key: file.tensor(after[key], values=not is_random) for key in written}
        if is_random:
            case["random"] = True
        roots = [out for out in outs if isinstance(out, torch.Tensor) and out.requires_grad]
        if leaves and roots:
            cotangents = {id(root): torch.randn_like(root, memory_format=torch.contiguous_format) for root in roots}
            grads = torch.autograd.grad(
                roots, list(leaves.values()), [cotangents[id(root)] for root in roots], allow_unused=True
            )
            case["grad_outs"] = [file.value(cotangents.get(id(out))) for out in outs]
            case["grads"] = {key: file.value(grad) for key, grad in zip(leaves, grads)}
        file.cases.append(case)
        return True


def draws_numbers(function, args, kwargs):
    """Returns whether the result of a call depends on random numbers: not if nothing is dropped, or outside of training."""
    if torch.Tag.nondeterministic_seeded not in function.tags:
        return False
    names = [argument.name for argument in function._schema.arguments]
    given = dict(zip(names, args)) | kwargs
    return given.get("dropout") != 0.0 and given.get("train") is not False


def written_keys(function, args, kwargs):
    """Returns the keys of the tensors that a call writes to."""
    keys = []
    for at, argument in enumerate(function._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value, key = (args[at], str(at)) if at < len(args) else (kwargs.get(argument.name), argument.name)
            if isinstance(value, torch.Tensor):
                keys.append(key)
            elif isinstance(value, (list, tuple)):
                keys += [f"{key}.{item}" for item in range(len(value))]
    return keys


def is_accurate(file, function, args, kwargs):
    """Whether the last case has the numbers of the same call in double with contiguous tensors: others would test rounding."""
    case = file.cases[-1]
    if written_keys(function, args, kwargs):
        return True

    def precise(item):
        if isinstance(item, torch.Tensor):
            return item.detach().to(PRECISE.get(item.dtype, item.dtype)).contiguous()
        return PRECISE.get(item, item) if isinstance(item, torch.dtype) else item

    given, named = tree_map(precise, (list(args), dict(kwargs)))
    leaves = dict(tensors_of(given, named))
    for key in case.get("grads", {}):
        leaves[key].requires_grad_()
    try:
        with torch.enable_grad():
            result = function(*given, **named)
        outs = list(result) if isinstance(result, (tuple, list)) else [result]
        pairs = list(zip(case["outs"], outs))
        if case.get("grads"):
            cotangents = [precise(file.tensors[item["t"]]) if item else None for item in case["grad_outs"]]
            roots = [(out, grad) for out, grad in zip(outs, cotangents) if grad is not None]
            inputs = [leaves[key] for key in case["grads"]]
            grads = torch.autograd.grad([root for root, _ in roots], inputs, [grad for _, grad in roots], allow_unused=True)
            pairs += zip(case["grads"].values(), grads)
    except RuntimeError:
        return True
    tensors = [(file.tensors[item["t"]], out) for item, out in pairs if isinstance(item, dict) and "t" in item and out is not None]
    return all(map(near, *zip(*tensors))) if tensors else True


def near(actual, exact):
    if actual.shape != exact.shape:
        return False
    relative, absolute = TOLERANCES.get(actual.dtype, (1e-7, 1e-7))
    exact = exact.detach().to(actual.dtype) if not (actual.is_floating_point() or actual.is_complex()) else exact.detach()
    return torch.allclose(actual.to(exact.dtype), exact, relative, absolute, equal_nan=True)


def sampled(info, dtype, count, reference):
    """Returns samples of a function for a dtype, selected at random from the first hundred."""
    generate = info.reference_inputs if reference and not info.is_factory_function else info.sample_inputs
    samples = list(itertools.islice(generate("cpu", dtype), 100))
    return [samples[at] for at in sorted(random.sample(range(len(samples)), min(count, len(samples))))]


def run(info, dtype, recorder, options):
    count = options.samples * (2 if dtype == torch.float32 else 1)
    try:
        samples = sampled(info, dtype, count, options.reference)
    except Exception as error:
        print(f"{info.formatted_name} {dtype}: no samples: {str(error).splitlines()[:1]}")
        return
    for sample in samples:
        try:
            with enable_python_dispatcher(), recorder:
                info.op(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            # Samples that the operator rejects are skipped.
            continue


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op", action="append", help="only this function of op_db, by its name there")
    parser.add_argument("--part", default="1/1", help="I/N: every N-th function from the I-th on")
    parser.add_argument("--samples", type=int, default=6)
    parser.add_argument("--reference", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.directory.mkdir(parents=True, exist_ok=True)
    part, parts = map(int, options.part.split("/"))
    infos = [info for info in op_db if not options.op or info.name in options.op]
    files = {}
    recorder = Recorder(files)
    for at, info in list(enumerate(infos))[part - 1 :: parts]:
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            seed = options.seed * 1_000_003 + at * 101 + DTYPES.index(dtype)
            torch.manual_seed(seed)
            random.seed(seed)
            numpy.random.seed(seed % 2**32)
            run(info, dtype, recorder, options)
    suffix = "" if parts == 1 else f".{part}"
    for name, file in files.items():
        if file.cases:
            file.save(options.directory / f"{name}{suffix}.safetensors")
    print(sum(len(file.cases) for file in files.values()), "cases")


if __name__ == "__main__":
    main()
