"""Random calls of every operator, compared with PyTorch: results, dtypes, strides of views, error or not, and gradients.

    python fuzz_torch.py --schemas schema.json --runner target/release/conformance --library librushlight.so [--calls 10000] [--seed 1] [--op NAME]

`make fuzz-torch` calls it. PyTorch makes each call in this process and records it as golden cases (tests/data/golden.md); a
call that PyTorch rejects is a case that must fail. The runner of tests/conformance repeats them with Rushlight. Cases that
differ are minimised: shapes are cut, values replaced by simple ones, keywords left out, as long as they still differ. The report
has one finding per operator and kind of difference. Reasons for expected differences are in KNOWN.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

import torch

import golden

DTYPES = [
    torch.float32, torch.float32, torch.float64, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
    torch.bool, torch.float16, torch.bfloat16, torch.complex64, torch.complex128,
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e-30, 1e30, 3.0000002, 255.0, -128.0, 2147483647.0]
EDGES = [0, 1, -1, 2, 7, 127, -128, 255, 32767, -32768, 2**31 - 1, -(2**31), 2**62, -(2**62)]
SIZES = [0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 17]
# Operators whose results are arbitrary, or that change more than their arguments, by a pattern of their names.
SKIPPED = {
    r"empty.*|new_empty.*|resize.*|_empty.*|as_strided.*": "uninitialized memory",
    r"rand.*|.*dropout.*|bernoulli.*|multinomial|normal.*|poisson|binomial|_sample.*|_standard.*|rrelu.*|_rrelu.*": "random numbers",
    r"from_file|set_.*|record_stream|_fused.*|pin_memory": "not a function of tensors",
    r"fractional_max_pool.*|_scaled_dot.*|lstm.*|gru.*|rnn_.*|quantized.*": "arguments that random ones never fit",
}


def tensors(args, kwargs):
    return [value for value in [*args, *kwargs.values()] if isinstance(value, torch.Tensor)]


def given(args, kwargs, at, name, default=None):
    return args[at] if at < len(args) else kwargs.get(name, default)


def broadcasts_a_mean(args, kwargs):
    """Whether tensors of different shapes are compared, and losses are averaged."""
    own, other = tensors(args, kwargs)[-2:]
    numbers = [value for value in (*args[2:], *kwargs.values()) if isinstance(value, int)]
    return 1 in numbers and own.shape != other.shape


def is_one_wide(args, kwargs):
    """Whether an image of bytes is resized to columns of one element."""
    return args[0].dtype == torch.uint8 and list(given(args, kwargs, 1, "output_size", [0]) or [0])[-1] == 1


def is_complex_and_not_finite(args, kwargs):
    return any(value.is_complex() and not value.isfinite().all() for value in tensors(args, kwargs))


def has_nan(args, kwargs):
    return any(bool(value.isnan().any()) for value in tensors(args, kwargs))


def has_equal_elements(args, kwargs):
    return args[0].unique().numel() < args[0].numel()


def has_equal_elements_anywhere(args, kwargs):
    return any(value.unique().numel() < value.numel() for value in tensors(args, kwargs))


def is_not_stable(args, kwargs):
    return not given(args, kwargs, 1, "stable") and has_equal_elements(args, kwargs)


def is_wide(args, kwargs):
    """Whether numbers are so large that sums in another order lose or overflow."""
    return any(not value.isfinite().all() or value.abs().max() > 1e8 for value in tensors(args, kwargs) if value.numel())


def is_integral_and_empty(args, kwargs):
    return args[0].numel() == 0 and not args[0].is_floating_point()


def has_huge_exponents(args, kwargs):
    return any(bool((value.double().abs() >= 2**31).any()) for value in tensors(args, kwargs)[1:])


def has_negative_scale(args, kwargs):
    return given(args, kwargs, 2, "scale", 1) < 0


def has_no_elements(args, kwargs):
    lists = [value for value in (*args, *kwargs.values()) if isinstance(value, (list, tuple))]
    return any(value.numel() == 0 for value in tensors(args, kwargs)) or any(0 in value for value in lists if all(isinstance(size, int) for size in value))


def has_infinities(args, kwargs):
    return any(bool(value.isinf().any()) for value in tensors(args, kwargs))


def has_negative(args, kwargs):
    return bool((args[0] < 0).any())


def writes_twice(args, kwargs):
    places = args[1] % args[0].numel()
    return places.unique().numel() < places.numel()


def divides_complex_by_zero(args, kwargs):
    spacing = given(args, kwargs, 1, "spacing")
    spacing = spacing if isinstance(spacing, list) else [spacing]
    return 0 in spacing and (args[0].is_complex() or any(isinstance(value, complex) for value in spacing))


def is_complex_power(args, kwargs):
    """Whether a complex zero, or complex numbers that are not finite, are raised to a power."""
    values = [torch.as_tensor(value) for value in args if isinstance(value, (torch.Tensor, int, float, complex))]
    is_complex = torch.complex64 in kwargs.values() or torch.complex128 in kwargs.values() or any(value.is_complex() for value in values)
    return is_complex and any(bool((~value.isfinite() | (value == 0)).any()) for value in values)


def has_high_order(args, kwargs):
    return any(isinstance(value, int) and value > 20 for value in args)


def has_negative_beta(args, kwargs):
    return given(args, kwargs, 4, "beta") < 0


def overflows_exponential(args, kwargs):
    beta, threshold = float(given(args, kwargs, 2, "beta")), float(given(args, kwargs, 3, "threshold"))
    return not math.isfinite(beta) or threshold > 88


# Expected differences: a pattern of "operator: reason", why, and of which calls. Where PyTorch's own result is wrong,
# undefined or depends on the processor, the reason says so.
KNOWN = [
    (
        r": no error instead of '.*(not implemented|not differentiable|does not support automatic differentiation)",
        "PyTorch has no kernel for the dtype, or no derivative; Rushlight has", None,
    ),
    (
        r": no error instead of '.*(INTERNAL ASSERT FAILED|MKL FFT error|Could not run|itensor_view_from_dense)",
        "PyTorch fails internally", None,
    ),
    (
        r"^aten::(linalg_|svd|eig|qr|lu_|cholesky|pinv|lstsq|ormqr|orgqr|geqrf|ldl)[^:]*: (result|gradient)",
        "factors of random matrices are determined up to signs and rounding", None,
    ),
    (
        r"^aten::logical_\w+_: gradient",
        "PyTorch does not record these writes: it returns the gradient of the value before, not 0", None,
    ),
    (
        r"^aten::(mse|smooth_l1|huber)_loss(_backward)?: (result|gradient)",
        "PyTorch divides the gradient of a mean by the elements of `self` before it is broadcast", broadcasts_a_mean,
    ),
    (
        r"^aten::upsample_bi(cubic|linear)2d",
        "PyTorch confuses the two passes over bytes, or fails an internal assertion", is_one_wide,
    ),
    (
        r"^aten::(relu6|hardtanh|elu|selu|celu)_?: gradient",
        "in PyTorch the gradient at NaN depends on the position of the element in a vector register", has_nan,
    ),
    (
        r"^aten::elu_: gradient",
        "PyTorch takes the sign of the input from the result, which a negative scale changes", has_negative_scale,
    ),
    (
        r"^aten::(nan)?median\.dim: result 1",
        "which of several equal elements is the median is not defined", has_equal_elements,
    ),
    (
        r"^aten::(sort\.stable: (result 1|gradient)|argsort\.stable: result)",
        "the order of equal elements is not defined unless the sort is stable", is_not_stable,
    ),
    (
        r"^aten::(nan)?median: result",
        "PyTorch converts NaN to an integer, which C++ does not define", is_integral_and_empty,
    ),
    (
        r"^aten::(unfold_backward: (call|no error)|choose_qparams_optimized: call)",
        "PyTorch does not check the shapes or numbers, and reads memory beyond the tensors", None,
    ),
    (
        r"^aten::fft_\w+: (result|gradient)",
        "the order of the sums in a Fourier transform decides which results infinities reach, and what is lost beside them", is_wide,
    ),
    (
        r"^aten::cumprod_?: (result|gradient)",
        "which parts of a complex product with an infinite factor are NaN depends on the order", is_complex_and_not_finite,
    ),
    (
        r"^aten::(special_)?log1p_?: (result|gradient)",
        "PyTorch's log1p of some numbers with an infinite part is NaN, depending on the rounding of the other part", is_complex_and_not_finite,
    ),
    (
        r"^aten::softplus_backward: (result|gradient)",
        "PyTorch divides e^(beta x) by 1 + e^(beta x), which overflows for large thresholds", overflows_exponential,
    ),
    (
        r"^aten::pow_?[.:].*(result|gradient)",
        "PyTorch's vectorized power loses the parity of exponents from 2^31 on", has_huge_exponents,
    ),
    (
        r": no error instead of '(one of the variables needed for gradient computation has been modified|Function \w+ returned an "
        r"invalid gradient|\w+\(\): functions with out=|Negation, the `-` operator, on a bool|Expected isFloatingType|The input size \d+, plus "
        r"negative padding|cannot reshape tensor of 0 elements|adaptive_\w+_backward\(\): Expected grad_output to have non-zero)",
        "PyTorch's derivative fails", None,
    ),
    (
        r"^aten::((mse_loss|smooth_l1_loss|huber_loss): no error instead of 'Found dtype|addcdiv: no error instead of 'result type)",
        "PyTorch promotes the inputs, but its derivative fails", None,
    ),
    (
        r"^aten::[\w.]+: call: .*contained non-finite values",
        "LAPACK returns NaN for some infinite matrices; Rushlight fails as it does for others", None,
    ),
    (
        r"^aten::(elu|celu|leaky_relu)_: no error instead of 'In-place",
        "PyTorch computes the gradient from the result, which does not determine the input; Rushlight keeps the input", None,
    ),
    (
        r"^aten::slice_inverse: (gradient|no error)",
        "PyTorch differentiates a slice of `self`, although `src` decides alone which elements the result has", None,
    ),
    (
        r"^aten::kron: no error instead of 'view size",
        "PyTorch views a product whose strides do not allow it", None,
    ),
    (
        r"^aten::soft_margin_loss: no error instead of 'output with shape",
        "PyTorch's derivative does not broadcast", None,
    ),
    (
        r"^aten::polar: gradient",
        "PyTorch takes the direction from the sign of the result, which a negative absolute value changes", has_negative,
    ),
    (
        r"^aten::gelu_?: result",
        "oneDNN, which PyTorch calls for contiguous tensors, returns NaN for infinity", has_infinities,
    ),
    (
        r": call: .*(not implemented for|input dtype should be)",
        "PyTorch checks the dtype in kernels, which do not run without elements", has_no_elements,
    ),
    (
        r"^aten::(var|std)_mean\b.*: result 1",
        "PyTorch updates a mean with each element: it is NaN or not, depending on the place of the infinity", is_wide,
    ),
    (
        r"^aten::isin\.Tensor_Tensor: result",
        "`assume_unique` promises distinct elements", has_equal_elements_anywhere,
    ),
    (
        r"^aten::polygamma_?: (result|gradient)",
        "PyTorch multiplies a factorial that overflows by a sum that underflows", has_high_order,
    ),
    (
        r"^aten::smooth_l1_loss_backward: result",
        "the loss is not defined for a negative beta, which PyTorch checks in the forward pass only", has_negative_beta,
    ),
    (
        r"^aten::huber_loss: no error instead of 'result type",
        "PyTorch promotes the inputs, but its derivative fails", None,
    ),
    (
        r"^aten::embedding_dense_backward: call: index out of range",
        "PyTorch ignores rows beyond the matrix", None,
    ),
    (
        r"^aten::put_?: (result|gradient)",
        "which of several writes to an element is the last one is not defined", writes_twice,
    ),
    (
        r"^aten::native_channel_shuffle:",
        "PyTorch does not check the number of groups, and returns uninitialized memory", None,
    ),
    (
        r"^aten::logcumsumexp: gradient",
        "PyTorch adds the logarithm of the gradient to the elements: large ones absorb it", is_wide,
    ),
    (
        r"^aten::(logsumexp|poisson_nll_loss): (result|gradient)",
        "which parts of complex numbers with an infinite part are NaN depends on the formula", is_complex_and_not_finite,
    ),
    (
        r"^aten::gradient\b.*: result",
        "which parts of a complex quotient by 0 are NaN depends on the position in a vector register", divides_complex_by_zero,
    ),
    (
        r"^aten::(pow|float_power|logspace)_?\b.*: (result|gradient)",
        "PyTorch computes complex powers as e^(y ln x), which is NaN for 0^0; Rushlight returns 1", is_complex_power,
    ),
    (
        r"^aten::binary_cross_entropy_backward: gradient of 2",
        "PyTorch divides the gradient of a mean by the elements of `target` before it is broadcast", None,
    ),
    (
        r"^aten::tensordot\b",
        "which parts of a complex product with an infinite factor are NaN depends on the BLAS", is_complex_and_not_finite,
    ),
]  # fmt: skip
# Calls that would end this process, or whose result depends on an element's position in a vector register.
AVOIDED = {
    # PyTorch does not check the dimensions, and reads and writes other memory.
    "affine_grid_generator_backward": lambda args, kwargs: len(given(args, kwargs, 1, "size")) not in (4, 5),
    "conv_tbc_backward": lambda args, kwargs: [value.ndim for value in tensors(args, kwargs)] != [3, 3, 3, 1],
    "native_channel_shuffle": lambda args, kwargs: args[0].ndim < 3 or args[1] <= 0 or args[0].shape[1] % args[1] != 0,
    "matrix_exp_backward": lambda args, kwargs: any(value.ndim < 2 for value in tensors(args, kwargs)),
    # PyTorch reads a second dimension that is not there.
    "linalg_matrix_norm": lambda args, kwargs: len(given(args, kwargs, 2, "dim", [-2, -1])) != 2,
    # The vectorized part truncates beta, and divides by 0.
    "smooth_l1_loss_backward": lambda args, kwargs: not any(value.is_floating_point() for value in tensors(args, kwargs)),
}
# Bytes of memory for this process.
MEMORY = 8 << 30
# Failing cases that are minimised in one batch, and rounds of minimising.
BATCH, ROUNDS = 60, 12


class Draw:
    """Random arguments of one call."""

    def __init__(self, rng):
        self.rng = rng
        self.dtype = rng.choice(DTYPES)
        self.shape = self.sizes()
        self.friendly = rng.random() < 0.7

    def sizes(self, rank=None):
        rank = self.rng.choice([0, 1, 1, 2, 2, 3, 4]) if rank is None else rank
        return [self.rng.choice(SIZES) for _ in range(rank)]

    def related(self):
        """Returns the shape of another tensor: often the same, or one that broadcasts."""
        kind = self.rng.random()
        if kind < 0.5:
            return list(self.shape)
        if kind < 0.75:
            shape = [1 if self.rng.random() < 0.4 else size for size in self.shape]
            return shape[self.rng.randrange(len(shape) + 1) :]
        if kind < 0.85 and len(self.shape) >= 2:
            return self.shape[:-2] + [self.shape[-1], self.shape[-2]]
        return self.sizes()

    def values(self, shape, dtype):
        count = math.prod(shape)
        if dtype == torch.bool:
            return torch.rand(shape) < 0.5
        if not (dtype.is_floating_point or dtype.is_complex):
            info = torch.iinfo(dtype)
            pool = [edge for edge in EDGES if info.min <= edge <= info.max]
            pick = lambda: self.rng.choice(pool) if not self.friendly and self.rng.random() < 0.2 else self.rng.randint(max(info.min, -3), 5)
            return torch.tensor([pick() for _ in range(count)], dtype=dtype).reshape(shape)
        if dtype.is_complex:
            part = dtype.to_real()
            return torch.complex(self.values(shape, part), self.values(shape, part))
        pick = lambda: self.rng.choice(SPECIAL) if not self.friendly and self.rng.random() < 0.2 else self.rng.gauss(0, 2)
        return torch.tensor([pick() for _ in range(count)], dtype=torch.float64).reshape(shape).to(dtype)

    def tensor(self, first, dtype=None):
        shape = self.shape if first else self.related()
        dtype = dtype or (self.dtype if first or self.rng.random() < 0.75 else self.rng.choice(DTYPES))
        layout = self.rng.random()
        if layout < 0.6 or not shape:
            return self.values(shape, dtype)
        if layout < 0.75:
            return self.values(shape[::-1], dtype).permute(*range(len(shape) - 1, -1, -1))
        if layout < 0.85:
            return self.values(shape[:-1] + [2 * shape[-1]], dtype)[..., ::2]
        if layout < 0.92:
            return self.values(shape[:-1] + [shape[-1] + 1], dtype)[..., 1:]
        at = self.rng.randrange(len(shape))
        return self.values(shape[:at] + [1] + shape[at + 1 :], dtype).expand(shape)

    def integer(self, name):
        rank = len(self.shape)
        if re.match(r"dim|axis|start_dim|end_dim", name):
            return self.rng.choice([-1, 0, 1, rank - 1, -rank, rank] if not self.friendly else [-1, 0, max(rank - 1, 0)])
        if name == "reduction":
            return self.rng.choice([0, 1, 2])
        return self.rng.choice([0, 1, 1, 2, 2, 3, 4, -1] + ([] if self.friendly else [-5, 100, 2**40]))

    def argument(self, argument, first):
        """Returns a value, or raises KeyError where there is no generator for its type."""
        kind, name = str(argument.real_type), argument.name
        if kind.startswith("Optional[") and self.rng.random() < 0.4:
            return None
        kind = re.sub(r"^Optional\[(.*)\]$", r"\1", kind)
        if kind == "Tensor":
            index = re.match(r"ind|target|mask|condition|pivots|repeats|lengths|offsets", name)
            dtype = None if not index or self.rng.random() < 0.2 else torch.bool if name in ("mask", "condition") else torch.int64
            return self.tensor(first, dtype)
        if kind == "List[Tensor]":
            return [self.tensor(True) for _ in range(self.rng.choice([1, 2, 2, 3]))]
        if kind in ("int", "SymInt"):
            return self.integer(name)
        if kind in ("List[int]", "List[SymInt]"):
            count = argument.N or self.rng.choice([0, 1, 1, 2, 3])
            return [self.integer(name) for _ in range(count)]
        if kind == "float":
            return self.rng.choice([0.0, 1.0, 0.5, 2.0, -1.5, 1e-6])
        if kind == "List[float]":
            return [self.rng.choice([0.0, 1.0, 0.5, 2.0]) for _ in range(argument.N or self.rng.choice([1, 2, 3]))]
        if kind in ("number", "Scalar"):
            return self.rng.choice([0, 1, 2, -1, 3, 0.5, -2.5, 1.0, True, *([] if self.friendly else [math.inf, math.nan, 300, 1 + 2j])])
        if kind == "bool":
            return self.rng.random() < 0.5
        if kind == "str":
            return self.rng.choice(["none", "mean", "sum", "floor", "trunc", "tanh", "reflect", "constant", "linear", "ij", "xy", "fro", "prod"])
        if kind == "ScalarType" or (kind == "int" and name == "dtype"):
            return self.rng.choice(DTYPES)
        raise KeyError(kind)

    def call(self, function):
        args, kwargs, first, skipped = [], {}, True, False
        for argument in function._schema.arguments:
            optional = argument.has_default_value()
            if argument.name in ("generator", "device", "layout", "pin_memory", "memory_format", "names", "out") and optional:
                skipped = True
                continue
            if optional and self.rng.random() < 0.45:
                skipped = True
                continue
            is_dtype = argument.name == "dtype" and "int" in str(argument.real_type)
            value = self.rng.choice(DTYPES) if is_dtype else self.argument(argument, first)
            first = first and not isinstance(value, torch.Tensor)
            if argument.kwarg_only or skipped:
                kwargs[argument.name] = value
            else:
                args.append(value)
        return tuple(args), kwargs


class Cases:
    """Golden files of a batch, and the calls behind their cases."""

    def __init__(self, folder):
        self.folder, self.files, self.calls = folder, {}, {}
        self.recorder = golden.Recorder({})

    def add(self, function, args, kwargs):
        """Records a call; returns the place of its case, or None if its values have no form in a golden file."""
        schema = function._schema
        name = schema.name.removeprefix("aten::")
        op = "aten::" + name + ("." + schema.overload_name if schema.overload_name else "")
        if name in AVOIDED and AVOIDED[name](args, kwargs):
            return None
        file = self.files.setdefault(op, golden.File())
        before = len(file.cases), len(file.tensors)
        try:
            added = self.recorder.add(file, function, op, args, kwargs)
        except TypeError:
            added = False
        except Exception as error:
            self.forget(file, before)
            if "memory" in str(error):
                return None
            try:
                case = {"op": op, "args": file.value(args), "kwargs": {key: file.value(value) for key, value in kwargs.items()}}
            except TypeError:
                added = False
            else:
                case.update(outs=[], error=(str(error).splitlines() or [type(error).__name__])[0][:200])
                file.cases.append(case)
                added = True
        if not added:
            self.forget(file, before)
            return None
        place = op, len(file.cases) - 1
        self.calls[place] = function, args, kwargs
        return place

    @staticmethod
    def forget(file, before):
        del file.cases[before[0] :]
        for key in list(file.tensors)[before[1] :]:
            del file.tensors[key]

    def differing(self, options):
        """Runs the cases with Rushlight; returns the reasons of those that differ, by place."""
        for op, file in self.files.items():
            if file.cases:
                file.save(self.folder / f"{op.removeprefix('aten::')}.safetensors")
        command = [options.runner, "--library", options.library, "--json", str(self.folder)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: the last call before it crashed is a finding")
        reasons = {}
        for line in done.stdout.splitlines():
            tally = json.loads(line)
            for failure in tally["failed"] if isinstance(tally["failed"], list) else []:
                reasons[tally["op"], failure["case"]] = failure["reason"]
        return reasons


def simpler(args, kwargs):
    """Yields calls that are simpler than this one, in one respect each."""

    def replaced(at, value):
        return (args[:at] + (value,) + args[at + 1 :], kwargs) if isinstance(at, int) else (args, {**kwargs, at: value})

    for key in kwargs:
        yield args, {other: value for other, value in kwargs.items() if other != key}
    for at, value in [*enumerate(args), *kwargs.items()]:
        if not isinstance(value, torch.Tensor):
            continue
        if not value.is_contiguous():
            yield replaced(at, value.contiguous())
        for dim, size in enumerate(value.shape):
            if size > 1:
                yield replaced(at, value.narrow(dim, 0, 1).clone())
                yield replaced(at, value.narrow(dim, size - 1, 1).clone())
                yield replaced(at, value.narrow(dim, 0, size // 2).clone())
        if value.numel() > 1 and value.dtype != torch.bool:
            yield replaced(at, torch.ones_like(value))
    tensors = [at for at, value in [*enumerate(args), *kwargs.items()] if isinstance(value, torch.Tensor)]
    shapes = {tuple((args[at] if isinstance(at, int) else kwargs[at]).shape) for at in tensors}
    if len(tensors) > 1 and len(shapes) == 1:
        for dim, size in enumerate(next(iter(shapes))):
            if size > 1:
                cut = lambda value: value.narrow(dim, 0, 1).clone() if isinstance(value, torch.Tensor) else value
                yield tuple(map(cut, args)), {key: cut(value) for key, value in kwargs.items()}


def minimised(failing, options):
    """Returns for each failing call (function, args, kwargs, reason) the simplest that differs in the same way."""
    current = list(failing)
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            cases, candidates = Cases(pathlib.Path(folder)), []
            for at, (function, args, kwargs, _) in enumerate(current):
                for other_args, other_kwargs in simpler(args, kwargs):
                    place = cases.add(function, other_args, other_kwargs)
                    if place:
                        candidates.append((at, place))
            reasons = cases.differing(options) if candidates else {}
            better = {}
            for at, place in candidates:
                if place in reasons and kind(reasons[place]) == kind(current[at][3]):
                    better.setdefault(at, (*cases.calls[place], reasons[place]))
        if not better:
            break
        for at, found in better.items():
            current[at] = found
    return current


def kind(reason):
    """Returns a reason without its numbers and names, so that alike differences are one finding."""
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?|\[[^]]*\]", "#", reason)[:60]


def written(value):
    if isinstance(value, torch.Tensor):
        text = f"torch.tensor({value.tolist()}, dtype={value.dtype})"
        return text if value.is_contiguous() else f"{text}.as_strided({tuple(value.shape)}, {value.stride()})"
    return repr(value)


def operators(options):
    """Yields the functions of PyTorch that Rushlight declares, without those that cannot be compared."""
    declared = json.loads(pathlib.Path(options.schemas).read_text())
    for op in (op for family in declared["families"] for op in family["operators"]):
        for form in op["forms"]:
            name, overload = form["name"].removeprefix("aten::"), form["overload"] or "default"
            if form["kind"] == "out" or name.startswith("_") or (options.op and name != options.op):
                continue
            if any(re.fullmatch(pattern, name) for pattern in SKIPPED):
                continue
            packet = getattr(torch.ops.aten, name, None)
            if packet is not None and overload in packet.overloads():
                yield getattr(packet, overload)


def explained(op, reason, args, kwargs):
    """Returns why the result of a call may differ, or None."""

    def holds(condition):
        try:
            return condition is None or condition(args, kwargs)
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError):
            return False

    return next((why for pattern, why, condition in KNOWN if re.search(pattern, f"{op}: {reason}") and holds(condition)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--schemas", required=True)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--op")
    options = parser.parse_args()
    torch.set_num_threads(1)
    # A call whose result would be huge fails instead of taking minutes; such calls are not compared.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    functions = list(operators(options))
    findings, made, rejected, reworded, known = {}, 0, 0, 0, collections.Counter()
    per_op = max(1, options.calls // max(1, len(functions)))
    for start in range(0, len(functions), 25):
        share = functions[start : start + 25]
        with tempfile.TemporaryDirectory() as folder:
            cases = Cases(pathlib.Path(folder))
            for function in share:
                for call in range(per_op):
                    seed = f"{options.seed} {function} {call}"
                    torch.manual_seed(random.Random(seed).getrandbits(32))
                    try:
                        args, kwargs = Draw(random.Random(seed)).call(function)
                    except KeyError:
                        break
                    made += cases.add(function, args, kwargs) is not None
            rejected += sum("error" in case for file in cases.files.values() for case in file.cases)
            reasons, failing = cases.differing(options), {}
            for place, reason in reasons.items():
                if reason.startswith("error '"):
                    # Both reject the call. Which of several wrong arguments the message names is not compared here;
                    # tests/data/wrong_calls.json compares the messages for one.
                    reworded += 1
                    continue
                why = explained(place[0], reason, *cases.calls[place][1:])
                if why:
                    known[why] += 1
                else:
                    failing.setdefault((place[0], kind(reason)), (*cases.calls[place], reason))
        batch = list(failing.items())[:BATCH]
        for (key, _), found in zip(batch, minimised([call for _, call in batch], options)):
            findings[key] = found
            function, args, kwargs, reason = found
            given = [written(value) for value in args] + [f"{name}={written(value)}" for name, value in kwargs.items()]
            print(f"{key[0]}({', '.join(given)})\n    {reason}", flush=True)
        print(f"\r{min(start + 25, len(functions))} of {len(functions)} overloads, {made} calls, {len(findings)} findings", file=sys.stderr, flush=True)
    for why, count in known.items():
        print(f"{count} known differences: {why}")
    print(f"{made} calls of {len(functions)} overloads, {rejected} of them rejected by PyTorch, {reworded} with another message here; {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
