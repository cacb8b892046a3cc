"""Saves the models of a zoo through the C functions, and runs the saved files in PyTorch.

    python tests/oracle/script_saved.py --library FILE [--only PART] [--out FOLDER] [--lite] ZOO

Each model of ZOO is a folder with `model.pt`, `meta.json` and `cases.safetensors`. The model is loaded and saved with
`rlt_module_load` and `rlt_module_save`; `torch.jit.load` reads the saved file, and its results are compared with those
that were recorded from the file that Python wrote. A line is printed for each file, and then `N passed, N failed`. With
`--out`, the saved files stay in folders like those of the zoo, so that `make zoo DIR=FOLDER` can run them here. With
`--lite`, the models that PyTorch could save for the lite interpreter are saved with `rlt_module_save_lite`, and the lite
interpreter of PyTorch runs them; models that are trained are left out.
"""

import argparse
import contextlib
import ctypes
import io
import json
import math
import pathlib
import shutil
import sys
import tempfile
import traceback

import torch
import torch.jit.mobile

try:
    import torchvision  # registers operators that the models call
except ImportError:
    torchvision = None


# ---- The library ----

class NamedValue(ctypes.Structure):
    """`rlt_named_value`"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("tag", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("len", ctypes.c_int64),
        ("string", ctypes.c_char_p),
        ("rest", ctypes.c_int64),
    ]


class Library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.rlt_last_error_message.restype = ctypes.c_char_p

    def check(self, status):
        if status:
            raise RuntimeError(self.functions.rlt_last_error_message().decode())

    def resave(self, source, target, lite):
        module = ctypes.c_void_p()
        self.check(self.functions.rlt_module_load(str(source).encode(), ctypes.byref(module)))
        try:
            extra = NamedValue(b"note.txt", 6, 0, 0, b"saved", 0)
            save = self.functions.rlt_module_save_lite if lite else self.functions.rlt_module_save
            self.check(save(module, str(target).encode(), ctypes.byref(extra), ctypes.c_int64(1)))
        finally:
            self.functions.rlt_module_free(module)


# ---- Values ----

def tensors_of(path):
    """The tensors of a safetensors file."""
    kinds = {
        "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
        "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool,
    }
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + length]), data[8 + length:]
    found = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        flat = torch.frombuffer(bytearray(body[start:end]), dtype=torch.uint8) if end > start else torch.empty(0, dtype=torch.uint8)
        found[name] = flat.view(kinds[entry["dtype"]]).reshape(entry["shape"]).clone()
    return found


def number(text):
    return float(text) if isinstance(text, (str, int, float)) else text


def decode(value, tensors):
    (kind, payload), *_ = value.items()
    if kind == "tensor":
        tensor = tensors[payload]
        if value.get("complex"):
            tensor = torch.view_as_complex(tensor)
        if value.get("quantized"):
            tensor = torch._make_per_tensor_quantized_tensor(tensor, value["scale"], value["zero_point"])
        return tensor.clone().requires_grad_() if value.get("requires_grad") else tensor.clone()
    if kind == "sparse_coo":
        return torch.sparse_coo_tensor(decode(payload["indices"], tensors), decode(payload["values"], tensors), payload["size"])
    if kind == "list":
        return [decode(item, tensors) for item in payload]
    if kind == "tuple":
        return tuple(decode(item, tensors) for item in payload)
    if kind == "dict":
        return {decode(key, tensors): decode(item, tensors) for key, item in payload}
    convert = {
        "int": int, "float": number, "bool": bool, "str": str, "none": lambda _: None, "device": torch.device,
        "complex": lambda pair: complex(number(pair[0]), number(pair[1])),
        "dtype_value": lambda name: getattr(torch, name.removeprefix("torch.")),
    }
    return convert[kind](payload)


def difference(found, wanted, tolerance, path="result"):
    """What differs, or None."""
    if isinstance(wanted, torch.Tensor):
        if not isinstance(found, torch.Tensor):
            return f"{path}: {type(found).__name__} in the place of a tensor"
        if found.shape != wanted.shape or found.dtype != wanted.dtype:
            return f"{path}: {found.dtype}{list(found.shape)} in the place of {wanted.dtype}{list(wanted.shape)}"
        plain = lambda tensor: (tensor.dequantize() if tensor.is_quantized else tensor).detach().to_dense()
        found, wanted = plain(found), plain(wanted)
        wide = torch.complex128 if wanted.is_complex() else torch.float64
        found, wanted = found.to(wide), wanted.to(wide)
        if torch.allclose(found, wanted, rtol=0, atol=tolerance, equal_nan=True):
            return None
        return f"{path}: differs by {(found - wanted).abs().max().item():.3g}, allowed are {tolerance:.3g}"
    if isinstance(wanted, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(wanted):
            return f"{path}: another length or kind"
        pairs = enumerate(zip(found, wanted))
        return next(filter(None, (difference(a, b, tolerance, f"{path}[{i}]") for i, (a, b) in pairs)), None)
    if isinstance(wanted, dict):
        if not isinstance(found, dict) or list(found) != list(wanted):
            return f"{path}: other keys"
        return next(filter(None, (difference(found[key], wanted[key], tolerance, f"{path}[{key!r}]") for key in wanted)), None)
    if isinstance(wanted, float):
        same = isinstance(found, float) and (
            math.isnan(found) and math.isnan(wanted) or found == wanted or abs(found - wanted) <= tolerance)
        return None if same else f"{path}: {found} in the place of {wanted}"
    if isinstance(found, (torch.device, torch.dtype)) or isinstance(wanted, (torch.device, torch.dtype)):
        return None if str(found) == str(wanted) or isinstance(found, int) else f"{path}: {found}, not {wanted}"
    return None if found == wanted else f"{path}: {found!r} in the place of {wanted!r}"


# ---- Cases ----

def norms_differ(case, module):
    parameters = dict(module.named_parameters())
    for name, wanted in case["grad_norms"].items():
        gradient = parameters[name].grad
        found = 0.0 if gradient is None else gradient.norm().item()
        # A gradient that is zero but for rounding has no digits to compare.
        if abs(found - wanted) > 1e-4 * abs(wanted) + 1e-5:
            return f"gradient of {name}: {found} in the place of {wanted}"
    return None


def first_tensor(value):
    if isinstance(value, torch.Tensor):
        return value
    return next(filter(lambda tensor: tensor is not None, map(first_tensor, value)), None) if isinstance(value, (list, tuple)) else None


def run_case(case, module, tensors, tolerance, training):
    """What differs in a case, or None."""
    if "seed" in case:
        torch.manual_seed(case["seed"])
    args = [decode(value, tensors) for value in case["args"]]
    kwargs = {name: decode(value, tensors) for name, value in case.get("kwargs", {}).items()}
    with torch.set_grad_enabled(training):
        try:
            result = getattr(module, case["method"])(*args, **kwargs)
        except Exception as error:  # the kind of the error is in its message
            wanted = case.get("raises")
            if wanted is None:
                return "".join(traceback.format_exception_only(error)).strip()[-400:]
            return None if wanted["message"] in str(error) else f"another error: {error}"
    if case.get("raises"):
        return "no error"
    if training:
        first_tensor(result).backward()
        reason = norms_differ(case, module)
        if reason:
            return reason
    wanted = decode(case["result"], tensors)
    reason = difference(result, wanted, tolerance)
    if reason and "result_other_engine" in case:
        reason = difference(result, decode(case["result_other_engine"], tensors), tolerance)
    return reason


class Lite:
    """A module in the lite interpreter, with methods as attributes."""

    def __init__(self, file):
        self.module = torch.jit.mobile._load_for_lite_interpreter(file)

    def __getattr__(self, name):
        return lambda *args: self.module.run_method(name, *args)


def run_lite_cases(folder, file):
    """What differs between the results of a file in PyTorch's lite interpreter and those that were recorded, or None."""
    meta = json.loads((folder / "meta.json").read_text())
    tensors = tensors_of(folder / "cases.safetensors")
    if meta.get("quantized_engine"):
        torch.backends.quantized.engine = meta["quantized_engine"]
    module = Lite(file)
    for index in meta["ptl"]["cases"]:
        if not meta["stateful"]:
            module = Lite(file)
        with contextlib.redirect_stdout(io.StringIO()):
            reason = run_case(meta["cases"][index], module, tensors, meta["tolerance"]["atol"], False)
        if reason:
            return f"case {index}: {reason}"
    return None


def run_cases(folder, file):
    """What differs between the results of a file in PyTorch and those that were recorded, or None."""
    meta = json.loads((folder / "meta.json").read_text())
    tensors = tensors_of(folder / "cases.safetensors")
    tolerance, training = meta["tolerance"]["atol"], meta["mode"] == "train"
    engine = meta.get("quantized_engine")
    if engine:
        torch.backends.quantized.engine = engine
    extra = {"note.txt": ""}
    module = torch.jit.load(file, _extra_files=extra)
    if extra["note.txt"] not in (b"saved", "saved"):
        return "the extra file is missing"
    for index, case in enumerate(meta["cases"]):
        if index and not meta["stateful"]:
            module = torch.jit.load(file)
        if training:
            module.train()
        with contextlib.redirect_stdout(io.StringIO()):
            reason = run_case(case, module, tensors, tolerance, training)
        if reason:
            return f"case {index}: {reason}"
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("zoo", type=pathlib.Path)
    options.add_argument("--library", required=True)
    options.add_argument("--only", default="")
    options.add_argument("--out", type=pathlib.Path)
    options.add_argument("--lite", action="store_true")
    options = options.parse_args()
    torch.set_num_threads(1)
    library = Library(options.library)
    out = options.out or pathlib.Path(tempfile.mkdtemp(prefix="saved"))
    passed = failed = 0
    for folder in sorted(path.parent for path in options.zoo.glob("*/model.ptl" if options.lite else "*/model.pt")):
        if options.only not in folder.name:
            continue
        if options.lite and json.loads((folder / "meta.json").read_text())["mode"] == "train":
            continue
        target = out / folder.name
        target.mkdir(parents=True, exist_ok=True)
        for name in ["meta.json", "cases.safetensors"]:
            shutil.copyfile(folder / name, target / name)
        try:
            file = target / ("model.ptl" if options.lite else "model.pt")
            library.resave(folder / "model.pt", file, options.lite)
            reason = (run_lite_cases if options.lite else run_cases)(folder, str(file))
        except Exception as error:  # reported like a difference
            reason = f"{type(error).__name__}: {str(error).strip()[-600:]}"
        passed, failed = passed + (reason is None), failed + (reason is not None)
        print(f"{folder.name}: {'ok' if reason is None else reason}", flush=True)
    if options.out is None:
        shutil.rmtree(out)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
