"""Calls of PyTorch's sample inputs, changed at random in a few respects: what random arguments seldom fit, such as convolutions."""

import itertools
import random

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

import fuzz_draw
import golden

# Samples of a function, and calls of an overload that are kept, all with few elements.
SAMPLES, MOST_CALLS, MOST_ELEMENTS = 40, 60, 400
DTYPES = [torch.float32, torch.int64, torch.bool, torch.complex64]


class Collector(golden.Recorder):
    """Keeps the calls that enter the dispatcher."""

    def __init__(self):
        super().__init__({})
        self.calls = {}

    def record(self, function, args, kwargs):
        calls = self.calls.setdefault(str(function), [])
        given = [tensor for _, tensor in golden.tensors_of(args, kwargs)]
        if len(calls) < MOST_CALLS and all(golden.ordinary(tensor) and tensor.numel() <= MOST_ELEMENTS for tensor in given):
            kept = lambda item: golden.exactly(item) if isinstance(item, torch.Tensor) else item
            kwargs = {key: value for key, value in kwargs.items() if not (key == "generator" and value is None)}
            try:
                golden.File().value([*args, *kwargs.values()])
            except TypeError:
                return
            calls.append(tree_map(kept, (tuple(args), dict(kwargs))))


def collected():
    """Returns calls by the name of their overload."""
    collector, state = Collector(), random.Random(1)
    for info in op_db:
        for dtype in DTYPES:
            if dtype not in info.dtypes:
                continue
            torch.manual_seed(1)
            try:
                samples = list(itertools.islice(info.sample_inputs("cpu", dtype), 100))
                for sample in state.sample(samples, min(SAMPLES if dtype == torch.float32 else 5, len(samples))):
                    with enable_python_dispatcher(), collector:
                        info.op(sample.input, *sample.args, **sample.kwargs)
            except Exception:
                # Samples that an operator rejects, or a dtype without samples.
                continue
    return collector.calls


class Change:
    """Random changes of one call."""

    def __init__(self, rng):
        self.rng, self.draw = rng, fuzz_draw.Draw(rng)

    def call(self, args, kwargs):
        call = (args, kwargs)
        kind = self.rng.random()
        if kind < 0.5:
            # All tensors of one kind of dtype in another dtype.
            kinds = [tensor.dtype for _, tensor in golden.tensors_of(*call)]
            if kinds:
                own, other = self.rng.choice(kinds), self.rng.choice(fuzz_draw.DTYPES)
                call = tree_map(lambda item: self.converted(item, other) if isinstance(item, torch.Tensor) and item.dtype == own else item, call)
        elif kind < 0.6:
            call = self.cut(call)
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            call = self.changed(call)
        return call

    def converted(self, tensor, dtype):
        return (tensor if dtype.is_complex or not tensor.is_complex() else tensor.real).to(dtype)

    def cut(self, call):
        """Cuts one size of all tensors: to nothing, or to one element."""
        sizes = {size for _, tensor in golden.tensors_of(*call) for size in tensor.shape}
        if not sizes:
            return call
        size, left = self.rng.choice(sorted(sizes)), self.rng.choice([0, 0, 1])

        def each(item):
            if isinstance(item, torch.Tensor):
                for dim in range(item.ndim):
                    item = item.narrow(dim, 0, min(left, size)) if item.shape[dim] == size else item
                return item.clone()
            return item

        return tree_map(each, call)

    def changed(self, call):
        args, kwargs = call
        places = [*range(len(args)), *kwargs]
        if not places:
            return call
        at = self.rng.choice(places)
        if not isinstance(at, int) and self.rng.random() < 0.15:
            return args, {key: value for key, value in kwargs.items() if key != at}
        value = self.value(args[at] if isinstance(at, int) else kwargs[at], at)
        return (args[:at] + (value,) + args[at + 1 :], kwargs) if isinstance(at, int) else (args, {**kwargs, at: value})

    def value(self, value, at):
        rng = self.rng
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return rng.choice([value + 1, value - 1, 0, 1, -1, 2, -value, self.draw.integer(str(at))])
        if isinstance(value, float):
            return rng.choice([0.0, 1.0, 0.5, -1.5, 2.0, 1e-6, value * 2, -value])
        if isinstance(value, torch.dtype):
            return rng.choice(fuzz_draw.DTYPES)
        if isinstance(value, (list, tuple)) and value:
            index = rng.randrange(len(value))
            if rng.random() < 0.15:
                return type(value)(value[:index] + value[index + 1 :])
            if rng.random() < 0.1:
                return type(value)(value[:index] + value[index : index + 1] + value[index:])
            return type(value)([self.value(item, at) if index == place else item for place, item in enumerate(value)])
        return value

    def tensor(self, value):
        rng, kind = self.rng, self.rng.random()
        if kind < 0.25:
            return self.draw.values(list(value.shape), value.dtype)
        if kind < 0.4:
            return self.converted(value, rng.choice(fuzz_draw.DTYPES))
        if kind < 0.6 and value.ndim > 1:
            order = list(range(value.ndim))
            rng.shuffle(order)
            back = sorted(range(value.ndim), key=lambda dim: order[dim])
            return value.permute(order).contiguous().permute(back)
        if kind < 0.7 and value.ndim:
            return torch.stack([value, value], -1)[..., 0]
        if kind < 0.78 and value.ndim:
            dim = rng.randrange(value.ndim)
            return value.narrow(dim, 0, min(1, value.shape[dim])).expand(value.shape) if value.shape[dim] else value
        if kind < 0.86 and value.ndim:
            dim = rng.randrange(value.ndim)
            return value.narrow(dim, 0, rng.choice([0, 1, value.shape[dim] // 2]) if value.shape[dim] else 0).clone()
        if kind < 0.91 and value.ndim:
            return value.select(rng.randrange(value.ndim), 0).clone() if value.numel() else value
        if kind < 0.95:
            return value.unsqueeze(rng.randrange(value.ndim + 1)).clone()
        if kind < 0.97 and value.ndim:
            return value.flip(0)
        return value.clone().fill_(rng.choice([0, 1]))
