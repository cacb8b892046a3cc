"""Golden cases of overloads that no sample input calls by name: inner operators (`gelu_backward`, `_softmax`, `_linalg_svd`),
aliases (`special_erf`), and overloads with numbers (`add.Scalar`).

    cargo run -q -p rushlight-generate -- --build --out build/gen
    python golden_dispatch.py DIR build/gen/schema.json [--only NAME]...

writes DIR/NAME.inner.safetensors, in the format of golden.py, which records, for each declared functional overload (and in-place
overload without functional form) that has fewer than three cases elsewhere in tests/data. Its calls are

1. those of PyTorch below autograd while it runs sample inputs forward and backward,
2. those of another overload or alias of the operator, with tensors replaced by numbers where the schema asks for these,
3. those of golden_calls.py,

and of the first two a few small ones that differ in dtypes, dimensions and options, also strided, empty and in other dtypes.
"""

import argparse
import collections
import copy
import io
import itertools
import json
import pathlib
import random
import re
import subprocess
import tarfile
import warnings

import numpy
import torch
from torch._dispatch.python import enable_python_dispatcher
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import golden
import golden_calls
import golden_overloads

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
SUFFIX = ".inner.safetensors"
DTYPES = [
    torch.float32, torch.float64, torch.complex64, torch.complex128, torch.bfloat16, torch.float16,
    torch.int16, torch.int64, torch.uint8, torch.bool,
]
# In-place forms whose functional form has another overload name.
PAIRED = ("float_power_.Tensor(", "pow_.Tensor(", "floor_divide_.Tensor(", "ldexp_(", "transpose_(")
# Variants that PyTorch computes although no caller asks for them.
NO_VARIANT = {
    ("mse_loss_backward", torch.int16), ("smooth_l1_loss_backward", torch.int16),  # the losses reject integers
    ("arctanh", torch.float64), ("special_log1p", torch.float64),  # samples of float32 at their poles
    ("_cdist_forward", "empty"), ("_cdist_backward", "empty"),  # cdist broadcasts batches
}  # fmt: skip
# Cases that an overload needs, cases that are recorded, and sizes of the tensors of one call.
ENOUGH, MOST_CASES, FEW_ELEMENTS, MOST_ELEMENTS = 3, 7, 150, 3000
MOST_BY_HAND = 9
SAMPLES, CANDIDATES = 8, 24


# What is declared, and what has cases.


def full_name(schema):
    return re.match(r"[\w.:]+", schema)[0]


def functional(schema):
    return "(a!)" not in schema


def arguments_without_outs(schema):
    inner = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    return [re.sub(r"=.*", "", item).split() for item in re.split(r", (?![^\[]*\])", inner) if item != "*" and "!)" not in item]


def declared(path):
    """Returns the schemas of each operator: forms and aliases."""
    for family in json.loads(pathlib.Path(path).read_text())["families"]:
        for operator in family["operators"]:
            forms = [form["schema"] for form in operator["forms"]] or [operator["name"].removeprefix("aten::") + "(*) ->"]
            yield forms + operator.get("aliases", [])


def has_functional_form(schema, all_names):
    """Whether the properties of tests/conformance check the form against the functional one."""
    base, _, overload = full_name(schema).partition(".")
    if base.endswith("_") and not base.startswith("__"):
        return base[:-1] + ("." + overload if overload else "") in all_names or schema.startswith(PAIRED)
    return "out)" in schema or overload not in ("", None) and any(name.split(".")[0] == base for name in all_names)


def number_of_cases():
    """Returns the number of cases by overload, without those of this program."""
    count = collections.Counter()
    for name, content in golden_files():
        if not name.endswith(SUFFIX):
            count.update(case["op"].removeprefix("aten::") for case in header_of(content)[1])
    return count


def golden_files():
    yield "random.safetensors", (DATA / "random.safetensors").read_bytes()
    for archive in sorted((DATA / "golden").glob("*.tar.zst")):
        unpacked = subprocess.run(["zstd", "-dcq", archive], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as tar:
            for member in tar.getmembers():
                yield member.name, tar.extractfile(member).read()


def header_of(content):
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["cases"])


# Recorded arguments as PyTorch's values.


class Loader:
    """Reads the arguments of the cases of a file."""

    def __init__(self, content):
        self.content, (self.header, self.cases) = content, header_of(content)
        self.start = 8 + int.from_bytes(content[:8], "little")

    def tensor(self, item):
        first, last = self.header[item["t"]]["data_offsets"]
        dtype = getattr(torch, item["dtype"])
        blob = bytearray(self.content[self.start + first : self.start + last])
        values = torch.frombuffer(blob, dtype=dtype) if blob else torch.empty(0, dtype=dtype)
        if "strides" not in item:
            return values.reshape(item["shape"])
        # Elements may share memory: each is written to its position.
        extent = 1 + sum(max(size - 1, 0) * stride for size, stride in zip(item["shape"], item["strides"]))
        flat = torch.zeros(extent, dtype=dtype)
        flat[torch.arange(extent).as_strided(item["shape"], item["strides"]).flatten()] = values
        return flat.as_strided(item["shape"], item["strides"])

    def value(self, item):
        if isinstance(item, list):
            return [self.value(inner) for inner in item]
        if not isinstance(item, dict):
            return item
        if "shape" in item:
            return self.tensor(item)
        kind, value = next(iter(item.items()))
        special = {"f": float, "complex": lambda pair: complex(*map(self.value, pair)), "s": str, "device": torch.device}
        return special[kind](value) if kind in special else getattr(torch, value)


def recorded_calls(wanted):
    """Returns candidates from the recorded cases of operators by name."""
    found = collections.defaultdict(Candidates)
    for name, content in golden_files():
        if name.endswith(SUFFIX) or name == "random.safetensors":
            continue
        if not any(case["op"].removeprefix("aten::") in wanted for case in header_of(content)[1]):
            continue
        loader = Loader(content)
        for case in loader.cases:
            op = case["op"].removeprefix("aten::")
            if op in wanted:
                kwargs = {key: loader.value(value) for key, value in case["kwargs"].items()}
                found[op].add([loader.value(value) for value in case["args"]], kwargs)
    return found


# Candidates.


def tensors_in(*values):
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def cost(args, kwargs):
    return sum(tensor.numel() * tensor.element_size() // 4 + 1 for tensor in tensors_in(args, kwargs))


def weight(args, kwargs):
    """The cost of a call; calls with one or two numbers show little."""
    largest = max((tensor.numel() for tensor in tensors_in(args, kwargs)), default=6)
    return cost(args, kwargs) + (200 if largest < 6 else 0)


def bucket(value):
    """What distinguishes values of an argument."""
    if isinstance(value, torch.Tensor):
        kinds = [str(value.dtype), "empty" if not value.numel() else "", "strided" if not value.is_contiguous() else ""]
        return (*kinds, min(value.dim(), 5))
    if isinstance(value, (list, tuple)):
        return ("list", len(value), *(bucket(item) for item in value[:1]))
    if isinstance(value, float):
        return ("float", value > 0, value == 1, value == 0, value != value)
    if isinstance(value, int) and not isinstance(value, bool):
        return ("int", value) if abs(value) < 4 else ("int",)
    return (str(value),)


def features(args, kwargs):
    named = itertools.chain(enumerate(args), kwargs.items())
    parts = set()
    for key, value in named:
        for at, part in enumerate(bucket(value)):
            parts.add((key, at, part))
    return parts


class Candidates:
    """Calls of an overload, a limited number for each dtype; smaller ones replace larger ones."""

    def __init__(self):
        self.calls = collections.defaultdict(list)

    def add(self, args, kwargs):
        tensors = tensors_in(args, kwargs)
        expanded = any(stride == 0 and size > 1 for tensor in tensors for size, stride in zip(tensor.shape, tensor.stride()))
        if expanded or not all(map(golden.ordinary, tensors)) or cost(args, kwargs) > MOST_ELEMENTS:
            return
        kept = self.calls[tensors[0].dtype if tensors else None]
        entry = (weight(args, kwargs), len(kept), args, kwargs)
        if len(kept) >= CANDIDATES:
            largest = max(range(len(kept)), key=lambda at: kept[at][0])
            if kept[largest][0] <= entry[0]:
                return
            kept[largest] = entry
        else:
            kept.append(entry)

    def all(self):
        return [(args, kwargs) for calls in self.calls.values() for _, _, args, kwargs in calls]


def in_order(calls):
    """Yields the calls: repeatedly the one with the most new features for its size."""
    rest = [(weight(*call), features(*call), call) for call in calls]
    small = [entry for entry in rest if cost(*entry[2]) <= FEW_ELEMENTS]
    rest = small if len(small) >= ENOUGH else sorted(rest, key=lambda entry: entry[0])[: 2 * ENOUGH]
    seen, empty_before = set(), False
    while rest:
        best = max(range(len(rest)), key=lambda at: (len(rest[at][1] - seen) + 1) / (rest[at][0] + 20))
        _, own, call = rest.pop(best)
        if is_empty(call) and empty_before:
            continue
        empty_before |= is_empty(call)
        seen |= own
        yield call


# Sources of calls.


class Observer(TorchDispatchMode):
    """Keeps the calls of wanted overloads."""

    def __init__(self, wanted, found, key=None):
        super().__init__(_dispatch_key=key)
        self.wanted, self.found = wanted, found

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = function._schema.name.removeprefix("aten::")
        name += "." + function._schema.overload_name if function._schema.overload_name else ""
        if function.namespace == "aten" and name in self.wanted:
            if all(map(golden.ordinary, tensors_in(args, kwargs))) and cost(args, kwargs) <= MOST_ELEMENTS:
                with torch.no_grad():
                    copied = tree_map(lambda item: golden.exactly(item) if isinstance(item, torch.Tensor) else item, (args, kwargs))
                self.found[name].add(*copied)
        return function(*args, **kwargs)


def gradients_of(result):
    roots = [out for out in tree_leaves(result) if isinstance(out, torch.Tensor) and out.requires_grad]
    if roots:
        torch.autograd.backward(roots, [torch.randn_like(root) for root in roots])


def observed_calls(wanted):
    """Runs sample inputs forward and backward, and returns the calls below autograd."""
    found = collections.defaultdict(Candidates)
    for at, info in enumerate(op_db):
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            seed = at * 101 + DTYPES.index(dtype)
            torch.manual_seed(seed), random.seed(seed), numpy.random.seed(seed)
            differentiable = dtype in golden.WITH_GRADIENTS and info.supports_autograd
            try:
                samples = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=differentiable), 40))
            except Exception:
                continue
            for sample in random.sample(samples, min(SAMPLES, len(samples))):
                try:
                    with Observer(wanted, found):
                        result = info.op(sample.input, *sample.args, **sample.kwargs)
                        gradients_of(result)
                except Exception:
                    # Samples that the operator rejects, or without a derivative, are skipped.
                    continue
    return found


def function_of(name):
    namespace, _, rest = name.rpartition("::")
    base, _, overload = rest.partition(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace or "aten"), base), overload or "default")
    except AttributeError:
        return None


NUMBERS = {"float": [2.5, -0.75, 1.5], "int": [2, -3, 1], "bool": [True, False]}


def number_like(value, kind, at):
    """Returns a number for an argument that is a tensor in another overload."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return NUMBERS["bool"][at % 2]
        numbers = value.flatten()[:1].tolist() or [1]
        number = numbers[0]
        if at % 3 == 2 and not isinstance(number, complex):
            number = 2
        return round(number, 3) if isinstance(number, float) else number
    return value


def converted(value, kind, at):
    """Returns an argument as the type of a schema wants it, or raises ValueError."""
    number = kind.removeprefix("Optional[").removesuffix("]") in ("number", "float", "int")
    if isinstance(value, torch.Tensor) and number:
        return number_like(value, kind, at)
    if not isinstance(value, torch.Tensor) and kind == "Tensor" and isinstance(value, (int, float, complex)):
        return torch.tensor(value)
    if isinstance(value, torch.Tensor) and kind == "List[Tensor]":
        return [value, value]
    if isinstance(value, str) != ("str" in kind) and value is not None:
        raise ValueError(kind)
    return value


def derived(function, other, calls):
    """Yields the calls of another overload as calls of a function."""
    theirs = [argument.name for argument in other._schema.arguments]
    for at, (args, kwargs) in enumerate(calls):
        given = dict(zip(theirs, args)) | kwargs
        ours, keywords, complete = [], {}, True
        for place, argument in enumerate(function._schema.arguments):
            name = argument.name if argument.name in given else theirs[place] if place < len(theirs) and theirs[place] not in names(function) else None
            if name is None or name not in given:
                if not argument.has_default_value():
                    complete = False
                # The rest by keyword.
                continue
            try:
                value = converted(given[name], str(argument.type), at)
            except ValueError:
                complete = False
                break
            if argument.kwarg_only or len(ours) != place:
                keywords[argument.name] = value
            else:
                ours.append(value)
        if complete:
            yield ours, keywords


def names(function):
    return {argument.name for argument in function._schema.arguments}


# Variants of calls: strided, empty, other dtypes.


def strided(tensor):
    if tensor.dim() == 0 or tensor.numel() < 2:
        return tensor
    if tensor.dim() > 1:
        return tensor.transpose(0, -1).contiguous().transpose(0, -1)
    return torch.stack([tensor, tensor], -1)[:, 0]


def emptied(args, kwargs):
    sizes = collections.Counter(tensor.shape[0] for tensor in tensors_in(args, kwargs) if tensor.dim())
    size = max(sizes, key=sizes.get, default=None)
    cut = lambda item: item[:0] if isinstance(item, torch.Tensor) and item.dim() and item.shape[0] == size else item
    return tree_map(cut, (args, kwargs))


def cast(dtype, args, kwargs):
    inexact = [tensor.dtype for tensor in tensors_in(args, kwargs) if tensor.dtype.is_floating_point or tensor.dtype.is_complex]
    replaced = inexact[0] if inexact else next((tensor.dtype for tensor in tensors_in(args, kwargs)), None)

    def to(item):
        if isinstance(item, torch.Tensor):
            return item.to(dtype) if item.dtype == replaced else item
        return dtype if item is replaced else item

    return tree_map(to, (args, kwargs))


def variants(name, calls):
    """Yields calls in layouts, sizes and dtypes that the recorded ones lack."""
    made = [call for call in calls if tensors_in(*call)]
    if not made:
        return
    used = {tensor.dtype for call in made for tensor in tensors_in(*call)}
    is_strided = lambda call: any(not tensor.is_contiguous() for tensor in tensors_in(*call))
    full = [call for call in made if not is_empty(call)]
    if full and not any(map(is_strided, made)):
        yield tree_map(lambda item: strided(item) if isinstance(item, torch.Tensor) else item, full[-1])
    if not any(map(is_empty, made)) and (name, "empty") not in NO_VARIANT:
        yield emptied(*full[0])
    for dtype in [torch.float64, torch.complex128, torch.int16, torch.bfloat16]:
        # Numbers of integers are often at points without a derivative.
        source = next((call for call in full if dtype == torch.int16 or any(map(torch.is_floating_point, tensors_in(*call)))), None)
        if source and dtype not in used and (name, dtype) not in NO_VARIANT and cost(*source) <= 2 * FEW_ELEMENTS:
            yield cast(dtype, *source)


def is_empty(call):
    return any(not tensor.numel() for tensor in tensors_in(*call)[:1])


class Recorder(golden_overloads.Recorder):
    """Records calls given to it, with random numbers for a seed and with errors."""

    def record_call(self, function, args, kwargs, kind="", strict=True):
        """Returns whether the call is recorded now."""
        op = function._schema.name + (f".{function._schema.overload_name}" if function._schema.overload_name else "")
        file = self.files.setdefault(function._schema.name.rpartition("::")[2], golden.File())
        before = len(file.cases), len(file.tensors)
        try:
            if kind == "error":
                self.add_error(file, function, op, args, kwargs)
            elif kind == "values":
                with torch.no_grad():
                    self.add_values(file, function, op, args, kwargs)
            elif golden.draws_numbers(function, args, kwargs):
                self.add_seeded(file, function, op, args, kwargs)
            else:
                self.add(file, function, op, args, kwargs)
                if strict and not golden.is_accurate(file, function, args, kwargs):
                    raise ValueError("PyTorch's numbers differ from those in double, or from those of contiguous tensors")
            return len(file.cases) > before[0]
        except Exception as problem:
            self.problem = f"{type(problem).__name__}: {str(problem).splitlines()[:1]}"
            del file.cases[before[0] :]
            for key in list(file.tensors)[before[1] :]:
                del file.tensors[key]
            return False

    def case_of(self, file, op, args, kwargs):
        return {"op": op, "args": file.value(args), "kwargs": {key: file.value(value) for key, value in kwargs.items()}}

    def add_seeded(self, file, function, op, args, kwargs):
        seed = len(file.cases) + 1
        case = self.case_of(file, op, args, kwargs) | {"random": True, "seed": seed}
        written = golden.written_keys(function, args, kwargs)
        torch.manual_seed(seed)
        result = function(*args, **kwargs)
        following = torch.rand(4)
        case["outs"] = file.value(list(result) if isinstance(result, (tuple, list)) else [result])
        if written:
            after = dict(golden.tensors_of(args, kwargs))
            case["mutated"] = {key: file.tensor(after[key]) for key in written}
        file.cases.append(case | {"next": file.value(following)})

    def add_values(self, file, function, op, args, kwargs):
        case = self.case_of(file, op, args, kwargs)
        result = function(*args, **kwargs)
        file.cases.append(case | {"outs": file.value(list(result) if isinstance(result, (tuple, list)) else [result])})

    def add_error(self, file, function, op, args, kwargs):
        case = self.case_of(file, op, args, kwargs)
        try:
            function(*args, **kwargs)
        except Exception as error:
            file.cases.append(case | {"outs": [], "error": str(error).splitlines()[0]})
        else:
            raise ValueError("PyTorch accepts it")


def is_checked(name, args):
    """Whether results do not depend on choices of PyTorch that are no part of its interface."""
    if name in ("_cdist_forward", "_cdist_backward"):
        # Here cdist broadcasts batches, there these operators do.
        return len({tensor.shape[:-2] for tensor in args if isinstance(tensor, torch.Tensor)}) == 1
    # Bicubic interpolation of bytes uses weights of 16 bits on some processors.
    return name != "upsample_bicubic2d" or args[0].dtype != torch.uint8


def record(recorder, function, calls, most=MOST_CASES - 3):
    """Records calls of a function; returns their number."""
    recorded, rejected = [], []
    for call in in_order(calls):
        enough = most if cost(*call) <= 2 * FEW_ELEMENTS else ENOUGH
        if len(recorded) >= enough:
            break
        if not is_checked(function._schema.name.removeprefix("aten::"), call[0]):
            continue
        (recorded if recorder.record_call(function, *call) else rejected).append(call)
    for call in rejected:
        # Where all are inaccurate, tests/conformance measures the effect of rounding.
        if len(recorded) < ENOUGH and recorder.record_call(function, *call, strict=False):
            recorded.append(call)
    return recorded


def record_all(recorder, function, by_hand, calls):
    """Records the calls of golden_calls.py, and others if these are few; returns their number."""
    of_kind = lambda wanted: [call[:2] for call in by_hand if "".join(call[2:]) == wanted]
    for kind in ["error", "values"]:
        for call in itertools.islice(in_order(of_kind(kind)), MOST_CASES):
            if not recorder.record_call(function, *call, kind):
                print(f"{function}: {recorder.problem}")
    recorded = record(recorder, function, of_kind(""), MOST_BY_HAND)
    if len(recorded) >= ENOUGH:
        return len(recorded)
    recorded += record(recorder, function, calls())
    return len(recorded) + sum(recorder.record_call(function, *call) for call in variants(function._schema.name.removeprefix("aten::"), recorded))


def accurate_cases(name):
    """Returns the recorded sample inputs of an operator that PyTorch computes accurately."""
    loader = Loader(next(content for file_name, content in golden_files() if file_name == f"{name}.safetensors"))
    kept = golden.File()
    for case in loader.cases:
        one = golden.File()
        one.cases = [copy.deepcopy(case)]
        for item in tensor_items(case):
            one.tensors[item["t"]] = loader.tensor({key: value for key, value in item.items() if key != "strides"})
        args = [loader.value(value) for value in case["args"]]
        kwargs = {key: loader.value(value) for key, value in case["kwargs"].items()}
        if golden.is_accurate(one, function_of(case["op"].removeprefix("aten::")), args, kwargs):
            kept.cases.append(case)
            kept.tensors |= one.tensors
    return kept


def tensor_items(value):
    """Yields the stored tensors of a part of a case."""
    if isinstance(value, dict) and "t" in value:
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from tensor_items(inner)


def siblings(name, operators):
    """Returns the other names of an operator, then the overloads of its name."""
    same = [full_name(schema) for schemas in operators for schema in schemas if name in map(full_name, schemas)]
    base = {other.split(".")[0] for other in same + [name]}
    every = [full_name(schema) for schemas in operators for schema in schemas if functional(schema)]
    return [other for other in dict.fromkeys(same + [other for other in every if other.split(".")[0] in base]) if other != name]


def targets(operators, count, only):
    every = {full_name(schema) for schemas in operators for schema in schemas}
    for schemas in operators:
        for schema in schemas:
            name = full_name(schema)
            if only and name not in only and name.split(".")[0] not in only:
                continue
            if count[name] < ENOUGH and (functional(schema) or not has_functional_form(schema, every)):
                yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("schema", type=pathlib.Path)
    parser.add_argument("--only", action="append", help="only this operator or overload")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    options.directory.mkdir(parents=True, exist_ok=True)
    operators = list(declared(options.schema))
    wanted = dict.fromkeys(targets(operators, number_of_cases(), options.only))
    by_hand = golden_calls.by_name()
    found = observed_calls(wanted)
    others = {name: siblings(name, operators) for name in wanted}
    sources = recorded_calls({other for name in wanted for other in [name, *others[name]]})
    files = {}
    recorder = Recorder(files)
    few = {}
    for name in wanted:
        function = function_of(name)
        if function is None:
            few[name] = (0, "PyTorch has no such operator")
            continue
        torch.manual_seed(len(name))
        recorder.problem = "no call found"
        calls = lambda: found[name].all() if name in found else [
            call for other in others[name] if other in sources and function_of(other)
            for call in derived(function, function_of(other), sources[other].all())
        ]  # fmt: skip
        added = record_all(recorder, function, by_hand.pop(name, []), calls)
        if added < ENOUGH:
            few[name] = (added, recorder.problem)
    for name, calls in by_hand.items():
        if not options.only or name in options.only or name.split(".")[0] in options.only:
            torch.manual_seed(len(name))
            record_all(recorder, function_of(name), calls, list)
    for name, file in files.items():
        if file.cases:
            file.save(options.directory / f"{name}{SUFFIX}")
    for name in golden.ILL_CONDITIONED if not options.only else []:
        accurate_cases(name).save(options.directory / f"{name}.safetensors")
    for name, (added, reason) in few.items():
        print(f"{name}: {added} cases: {reason}")
    print(sum(len(file.cases) for file in files.values()), "cases of", len(files), "names for", len(wanted), "overloads")


if __name__ == "__main__":
    main()
