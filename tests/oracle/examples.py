"""Evaluates the examples of core/schema/ops/*.toml with PyTorch, and completes calls without a result.

    python tests/oracle/examples.py [--root DIR] [--family NAME]
    python tests/oracle/examples.py --fill 'mul.Tensor: mul([2.0, 3.0], 0.1) ->'

The first form compares every example with PyTorch and lists what differs, what lacks an example, and what the zero
function or the identity would pass. It exits with 1 if an example differs or cannot be evaluated. The second form
prints the line with PyTorch's result; `--fill -` reads one call per line. core/schema/examples.md describes the grammar.
"""

import argparse
import pathlib
import re
import sys
import tomllib
import warnings

import torch

DTYPES = {
    name: getattr(torch, name)
    for name in "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64 complex128".split()
}
WORDS = {name: getattr(torch, name) for name in (
    "strided contiguous_format preserve_format channels_last channels_last_3d".split())}
WORDS |= DTYPES
WORDS |= {name: torch.device(name) for name in ("cpu", "meta", "cuda")}
NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf\b|nan\b)")


class Problem(Exception):
    """An error in an example."""


class Reader:
    """Reads the values of an example. The grammar's values are tuples whose first item names their kind."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def skip(self):
        while self.text[self.at:self.at + 1].isspace():
            self.at += 1

    def take(self, token):
        self.skip()
        found = self.text.startswith(token, self.at)
        self.at += len(token) if found else 0
        return found

    def match(self, pattern):
        self.skip()
        found = re.compile(pattern).match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found

    def need(self, token):
        if not self.take(token):
            raise Problem(f"expected `{token}` at {self.text[self.at:]!r}")

    def items(self, end):
        items = []
        while not self.take(end):
            if items:
                self.need(",")
                if self.take(end):
                    break
            items.append(self.value())
        return items

    def value(self):
        if self.take("["):
            return ("list", self.items("]"))
        if found := self.match(r'"([^"]*)"'):
            return ("str", found[1])
        if number := self.number():
            return number
        word = self.match(r"[a-z_A-Z]\w*")
        if not word:
            raise Problem(f"no value at {self.text[self.at:]!r}")
        word = word[0]
        if word in ("true", "false"):
            return ("bool", word == "true")
        if word == "None":
            return ("none",)
        if word == "shape":
            self.need("[")
            return ("shape", None, [int(item[1]) for item in self.items("]")])
        if word in DTYPES:
            if self.match(r"shape\b"):
                self.need("[")
                return ("shape", word, [int(item[1]) for item in self.items("]")])
            if self.take("["):
                return ("tensor", word, ("list", self.items("]")))
            if self.take("("):
                inner = self.value()
                self.need(")")
                return ("tensor", word, inner)
        if word not in WORDS:
            raise Problem(f"`{word}` is no value")
        return ("word", word)

    def number(self):
        first = self.match(NUMBER)
        if not first:
            return None
        if self.text[self.at:self.at + 1] == "j":
            self.at += 1
            return ("complex", complex(0.0, float(first[0])))
        second = re.compile(r"([+-](?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|inf|nan))j").match(self.text, self.at)
        if second:
            self.at = second.end()
            return ("complex", complex(float(first[0]), float(second[1])))
        text = first[0]
        return ("int", int(text)) if re.fullmatch(r"[+-]?\d+", text) else ("float", float(text))

    def result(self):
        if self.take("("):
            return ("tuple", self.items(")"))
        return self.value()


def kinds_of(value):
    if value[0] == "list":
        return set().union(*map(kinds_of, value[1]))
    return {value[0]}


def elements(value):
    if value[0] == "list":
        return [elements(item) for item in value[1]]
    if value[0] not in ("int", "float", "complex", "bool"):
        raise Problem(f"a tensor cannot hold {value!r}")
    return value[1]


def tensor(value):
    """Returns the tensor of a literal; None for None."""
    if value[0] == "none":
        return None
    if value[0] == "shape":
        dtype = DTYPES[value[1] or "float32"]
        return torch.zeros(value[2], dtype=dtype)
    dtype = None
    if value[0] == "tensor":
        dtype, value = DTYPES[value[1]], value[2]
    kinds = kinds_of(value)
    if dtype is None:
        dtype = torch.float32
        if "complex" in kinds:
            dtype = torch.complex64
        elif "bool" in kinds:
            dtype = torch.bool
        elif kinds == {"int"}:
            dtype = torch.int64
    if "bool" in kinds and kinds != {"bool"}:
        raise Problem("a tensor mixes booleans and numbers")
    try:
        return torch.tensor(elements(value), dtype=dtype)
    except (ValueError, TypeError, RuntimeError) as error:
        raise Problem(f"no tensor: {error}") from error


def plain(value):
    """Returns the value of an argument that is not a tensor."""
    if value[0] == "none":
        return None
    if value[0] == "word":
        return WORDS[value[1]]
    if value[0] == "list":
        return [plain(item) for item in value[1]]
    if value[0] in ("tensor", "shape"):
        raise Problem("a tensor where the signature has none")
    return value[1]


def argument(declared, value):
    ty = str(declared.type).replace("Optional[", "").replace("List[", "")
    is_list = "List[" in str(declared.type)
    if ty.startswith("Tensor"):
        if not is_list:
            return tensor(value)
        if value[0] == "none":
            return None
        if value[0] != "list":
            raise Problem(f"`{declared.name}` takes a list of tensors")
        return [tensor(item) for item in value[1]]
    result = plain(value)
    if is_list and value[0] != "list" and result is not None:
        result = [result] * (declared.N or 1)
    return result


class Entry:
    """An entry of a family's file."""

    def __init__(self, family, fields, kinds):
        common = kinds.get(fields.get("kind"), {})
        name = fields["func"].split("(")[0].split(".")[0]
        common = {key: text.replace("{name}", name) if isinstance(text, str) else text for key, text in common.items()}
        fields = {key: text for key, text in {**common, **fields}.items() if text != ""}
        self.family, self.name = family, fields["func"].split("(")[0]
        self.func = fields["func"]
        self.internal = fields.get("internal", False)
        self.example = fields.get("example")
        self.trivial_example, self.no_example = fields.get("trivial_example"), fields.get("no_example")

    def operator(self):
        """Returns PyTorch's operator, or None if PyTorch does not have it."""
        name, _, overload = self.name.partition(".")
        return getattr(getattr(torch.ops.aten, name, None), overload or "default", None)

    def parse(self, text):
        """Returns the arguments of the call by name, and the expected result (None if the example ends with `->`)."""
        reader, name = Reader(text), self.name.split(".")[0]
        if not (reader.take(name) and reader.take("(")):
            raise Problem(f"the example does not begin with `{name}(`")
        schema, values, position = torch._C.parse_schema(self.func), {}, 0
        declared = {item.name: item for item in schema.arguments}
        while not reader.take(")"):
            if values:
                reader.need(",")
                if reader.take(")"):
                    break
            if keyword := reader.match(r"([a-zA-Z_]\w*)\s*=(?!=)"):
                key = keyword[1]
            else:
                if position >= len(schema.arguments) or schema.arguments[position].kwarg_only:
                    raise Problem("too many arguments without a keyword")
                key = schema.arguments[position].name
                position += 1
            if key not in declared or key in values:
                raise Problem(f"`{key}` is no argument, or is given twice")
            values[key] = argument(declared[key], reader.value())
        for item in schema.arguments:
            optional = str(item.type).startswith("Optional[")
            if item.name not in values and not item.has_default_value():
                if not optional or item.name not in ("dtype", "layout", "device", "pin_memory"):
                    raise Problem(f"`{item.name}` is missing")
        reader.need("->")
        reader.skip()
        expected = reader.result() if reader.at < len(text) else None
        reader.skip()
        if reader.at < len(text):
            raise Problem(f"text after the example: {text[reader.at:]!r}")
        return values, expected

    def evaluate(self, values):
        """Returns PyTorch's result: a list of tensors, lists of tensors and None."""
        schema = torch._C.parse_schema(self.func)
        torch.manual_seed(0)
        result = self.operator()(**values)
        if not schema.returns:
            result = tuple(values[item.name] for item in schema.arguments if item.alias_info and item.alias_info.is_write)
        return list(result) if isinstance(result, tuple) else [result]

    def expected(self, value, count):
        """Returns the expected result in the form of `evaluate`, and which of its tensors specify only a shape."""
        items = value[1] if value[0] == "tuple" else [value]
        if len(items) != count:
            raise Problem(f"the example has {len(items)} results, the operator {count}")
        return items


def agrees(actual, value):
    """Returns the difference between a tensor and a literal, or None if they agree."""
    if isinstance(actual, (list, tuple)):
        if value[0] != "list" or len(value[1]) != len(actual):
            return f"PyTorch returns {len(actual)} tensors"
        return next((why for why in map(agrees, actual, value[1]) if why), None)
    wanted = tensor(value)
    if actual is None or wanted is None:
        return None if actual is wanted else f"PyTorch returns {literal(actual)}"
    actual = actual.resolve_conj().resolve_neg()
    same = actual.shape == wanted.shape and actual.dtype == wanted.dtype
    if same and value[0] != "shape":
        exact = not (actual.dtype.is_floating_point or actual.dtype.is_complex)
        same = torch.equal(actual, wanted) if exact else torch.allclose(
            actual.to(torch.complex128), wanted.to(torch.complex128), rtol=1e-5, atol=1e-8, equal_nan=True)
    return None if same else f"PyTorch returns {literal(actual)}"


def flat(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from flat(value)
        elif isinstance(value, torch.Tensor):
            yield value


def trivial(results, given):
    """Whether the zero function or the identity returns this."""
    def computable(tensor):
        return tensor.to(torch.complex64) if tensor.dtype == torch.complex32 else tensor

    def same(left, right):
        if left.dtype != right.dtype:
            return False
        left, right = computable(left), computable(right)
        return left.shape == right.shape and torch.equal(
            left.nan_to_num(12345.0) if left.dtype.is_floating_point else left,
            right.nan_to_num(12345.0) if right.dtype.is_floating_point else right)

    return all(not computable(tensor).any() or any(same(tensor, other) for other in given) for tensor in flat(results))


def number(value, dtype):
    """Formats a number in the grammar of examples, with at most 7 digits."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, complex):
        real, imag = (number(part, dtype).removesuffix(".0") for part in (value.real, value.imag))
        return f"{real}{imag if imag[0] == '-' else '+' + imag}j"
    text = f"{value:.{5 if dtype in (torch.float16, torch.bfloat16, torch.complex32) else 7}g}"
    return text if re.search(r"[.enf]", text) else text + ".0"


def literal(result):
    """Formats a result in the grammar of examples."""
    if result is None:
        return "None"
    if isinstance(result, (list, tuple)):
        return "[" + ", ".join(map(literal, result)) + "]"

    def write(value):
        if isinstance(value, list):
            return "[" + ", ".join(map(write, value)) + "]"
        return number(value, result.dtype)

    name = str(result.dtype).removeprefix("torch.")
    prefix = "" if result.dtype in (torch.float32, torch.int64, torch.bool, torch.complex64) else name
    if result.numel() == 0:
        plain_shape = list(result.shape) == [0] and name == "float32"
        return "[]" if plain_shape else ("" if name == "float32" else name + " ") + f"shape {list(result.shape)}"
    shown = result.resolve_conj().resolve_neg()
    text = write((shown.to(torch.complex64) if result.dtype == torch.complex32 else shown).tolist())
    return f"{prefix}({text})" if prefix and result.dim() == 0 else prefix + text


def entries(root, family):
    for path in sorted((root / "core/schema/ops").glob("*.toml")):
        if family in (None, path.stem):
            data = tomllib.loads(path.read_text())
            for fields in data["op"]:
                yield Entry(path.stem, fields, data.get("kind", {}))


def check(entry):
    """Compares one example. Returns whether it is trivial."""
    values, wanted = entry.parse(entry.example)
    if wanted is None:
        raise Problem("the example has no result")
    # Before the call, which may write them.
    given = [tensor.clone() for tensor in flat(values.values())]
    if entry.operator() is None:
        return None
    results = entry.evaluate(values)
    for result, item in zip(results, entry.expected(wanted, len(results))):
        if why := agrees(result, item):
            raise Problem(why)
    return wanted[0] == "shape" or trivial(results, given)


def fill(root, line):
    name, colon, call = line.partition(":")
    if not colon or "(" in name:
        name, call = line.split("(")[0], line
    name, call = name.strip(), call.strip()
    found = [entry for entry in entries(root, None) if name in (entry.name, entry.name.split(".")[0])]
    found = [entry for entry in found if entry.name == name] or found
    if len(found) != 1:
        raise Problem(f"write the name with overload and a colon before: {', '.join(entry.name for entry in found)}")
    if found[0].operator() is None:
        raise Problem(f"PyTorch has no operator {found[0].name}")
    values, _ = found[0].parse(call.split("->")[0] + "->")
    given = [tensor.clone() for tensor in flat(values.values())]
    results = found[0].evaluate(values)
    text = ", ".join(map(literal, results))
    text = text if len(results) == 1 else f"({text})"
    note = "    # trivial" if trivial(results, given) else ""
    return f"{call.split('->')[0].strip()} -> {text}{note}"


def run(root, family):
    counts = dict.fromkeys(["entries", "checked", "differ", "skipped", "missing", "trivial"], 0)
    for entry in entries(root, family):
        place = f"{entry.family}: {entry.name}"
        counts["entries"] += 1
        if not entry.example:
            if not entry.internal and not entry.no_example:
                counts["missing"] += 1
                print(f"{place}: no example")
            continue
        try:
            found = check(entry)
        except Exception as error:  # whatever PyTorch raises is reported
            counts["differ"] += 1
            print(f"{place}: {entry.example}\n    {str(error).splitlines()[0]}")
            continue
        counts["skipped" if found is None else "checked"] += 1
        if found is None:
            print(f"{place}: PyTorch has no such operator")
        elif found and not entry.trivial_example:
            counts["trivial"] += 1
            print(f"{place}: {entry.example}: zeros or the identity would pass")
        elif entry.trivial_example and not found:
            counts["trivial"] += 1
            print(f"{place}: `trivial_example` is not needed")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if counts["differ"] else 0


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--family")
    parser.add_argument("--fill", metavar="CALL")
    arguments = parser.parse_args()
    if arguments.fill is None:
        return run(arguments.root, arguments.family)
    lines = sys.stdin.read().splitlines() if arguments.fill == "-" else [arguments.fill]
    code = 0
    for line in filter(str.strip, lines):
        try:
            print(fill(arguments.root, line))
        except Exception as error:
            print(f"{line}\n    {error}")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
