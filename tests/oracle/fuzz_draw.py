"""Random arguments for the calls of fuzz_torch.py."""

import math
import re

import torch

DTYPES = [
    torch.float32, torch.float32, torch.float64, torch.float64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
    torch.bool, torch.float16, torch.bfloat16, torch.complex64, torch.complex128,
]  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e-30, 1e30, 3.0000002, 255.0, -128.0, 2147483647.0]
EDGES = [0, 1, -1, 2, 7, 127, -128, 255, 32767, -32768, 2**31 - 1, -(2**31), 2**62, -(2**62)]
MEMORY_FORMATS = [torch.contiguous_format, torch.preserve_format, torch.channels_last, torch.channels_last_3d]
SIZES = [0, 1, 1, 2, 2, 3, 3, 4, 5, 7, 17]


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
        if layout < 0.95:
            order = self.rng.sample(range(len(shape)), len(shape))
            back = sorted(range(len(shape)), key=order.__getitem__)
            return self.values([shape[dim] for dim in order], dtype).permute(back)
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
        if kind == "List[Optional[Tensor]]":
            return [self.index() for _ in range(self.rng.choice([1, 1, 2, 3]))]
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
        if kind == "List[number]":
            return [self.rng.choice([0, 1, 2, -1, 0.5, -2.5]) for _ in range(self.rng.choice([1, 2, 2, 3]))]
        if kind == "bool":
            return self.rng.random() < 0.5
        if kind == "List[bool]":
            return [self.rng.random() < 0.7 for _ in range(argument.N or 3)]
        if kind == "Device":
            return torch.device("cpu")
        if kind == "str":
            return self.rng.choice(["none", "mean", "sum", "floor", "trunc", "tanh", "reflect", "constant", "linear", "ij", "xy", "fro", "prod"])
        if kind == "ScalarType" or (kind == "int" and name == "dtype"):
            return self.rng.choice(DTYPES)
        raise KeyError(kind)

    def index(self):
        """Returns an index tensor of `index` and `index_put`, or none."""
        if self.rng.random() < 0.25:
            return None
        dtype = self.rng.choice([torch.int64] * 5 + [torch.int32, torch.bool, torch.bool, torch.uint8, *DTYPES[:1]])
        if dtype == torch.bool or dtype == torch.uint8:
            return self.values(self.shape[: self.rng.choice([1, 1, 2])], dtype)
        return torch.tensor(self.rng.choices([0, 0, 0, -1, 1, 2], k=self.rng.choice([1, 2, 3])), dtype=dtype)

    def out(self, like):
        """Returns a tensor to write `like` to: of its shape and dtype, without elements, or of another shape or dtype."""
        if not isinstance(like, torch.Tensor):
            return [self.out(item) for item in like] if isinstance(like, (list, tuple)) else self.tensor(True)
        kind, shape, dtype = self.rng.random(), list(like.shape), like.dtype
        if kind < 0.15:
            return torch.empty(0, dtype=dtype)
        if kind < 0.25:
            shape = self.sizes()
        elif kind < 0.55:
            # A more precise one would show the rounding of the result.
            dtype = self.rng.choice([other for other in DTYPES if torch.promote_types(dtype, other) == dtype or not (other.is_floating_point or other.is_complex)])
        if self.rng.random() < 0.3 and len(shape) > 1:
            return self.values(shape[::-1], dtype).permute(*range(len(shape) - 1, -1, -1))
        if self.rng.random() < 0.2 and shape:
            return self.values(shape[:-1] + [2 * shape[-1]], dtype)[..., ::2]
        return self.values(shape, dtype)

    def call(self, function):
        args, kwargs, first, skipped = [], {}, True, False
        for argument in function._schema.arguments:
            if argument.is_out:
                continue
            optional = argument.has_default_value()
            if argument.name == "memory_format" and optional and self.rng.random() < 0.2:
                kwargs["memory_format"] = self.rng.choice(MEMORY_FORMATS)
                continue
            if argument.name in ("generator", "device", "layout", "pin_memory", "memory_format", "names") and optional:
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
