"""Random calls of every operator, compared with PyTorch: results, dtypes, strides of views, error or not, and gradients.

    python fuzz_torch.py --schemas schema.json --runner target/release/conformance --library librushlight.so [--calls 10000] [--seed 1] [--op NAME]

`make fuzz-torch` calls it. PyTorch makes each call in this process and records it as golden cases (tests/data/golden.md); a
call that PyTorch rejects is a case that must fail. The runner of tests/conformance repeats them with Rushlight. Cases that
differ are minimised: shapes are cut, values replaced by simple ones, keywords left out, as long as they still differ. The report
has one finding per operator and kind of difference.

Half of the calls have random arguments (fuzz_draw.py), half are changed sample inputs of PyTorch (fuzz_samples.py). Reasons for
expected differences are in fuzz_known.py. Calls that end PyTorch's process are left out.
"""

import argparse
import collections
import dataclasses
import json
import mmap
import os
import pathlib
import pickle
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import warnings

import torch

import fuzz_draw
import fuzz_known
import fuzz_samples
import golden

# Bytes of memory for this process.
MEMORY = 8 << 30
# Failing cases that are minimised in one batch, and rounds of minimising.
BATCH, ROUNDS = 60, 12
# How often the calls of some operators start again after PyTorch's process has ended.
RESTARTS = 20
# Seconds of a call, after which its process ends.
SECONDS = 60


class Progress:
    """Counts the calls of PyTorch in a child process, so that its parent knows the one that ended the process."""

    def __init__(self):
        self.memory, self.fatal = mmap.mmap(-1, 8), set()

    def reset(self):
        self.memory[:] = bytes(8)

    def count(self):
        return struct.unpack("<q", self.memory[:])[0]

    def may_call(self):
        """Counts a call. Returns whether it may be made: it did not end the process before. One that takes too long does."""
        signal.alarm(SECONDS)
        self.memory[:] = struct.pack("<q", self.count() + 1)
        return self.count() not in self.fatal


PROGRESS = Progress()


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
        if name in fuzz_known.AVOIDED and fuzz_known.AVOIDED[name](args, kwargs):
            return None
        file = self.files.setdefault(op, golden.File())
        before = len(file.cases), len(file.tensors)
        if not PROGRESS.may_call():
            print(f"PyTorch ends in {op}", file=sys.stderr)
            return None
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
        signal.alarm(0)
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
    if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, torch.Tensor):
        if not value.numel():
            return f"torch.empty({tuple(value.shape)}, dtype={value.dtype})"
        text = f"torch.tensor({value.tolist()}, dtype={value.dtype})"
        return text if value.is_contiguous() else f"{text}.as_strided({tuple(value.shape)}, {value.stride()})"
    return repr(value)


def operators(options):
    """Yields the functions of PyTorch that Rushlight declares, without those that cannot be compared. An out form comes with
    the functional form of the operator."""
    declared = json.loads(pathlib.Path(options.schemas).read_text())

    def found(form):
        name = form["name"].removeprefix("aten::")
        return getattr(getattr(torch.ops.aten, name, None), form["overload"] or "default", None)

    for op in (op for family in declared["families"] for op in family["operators"]):
        functional = next((found(form) for form in op["forms"] if form["kind"] == "functional"), None)
        for form in op["forms"]:
            name = form["name"].removeprefix("aten::")
            if (options.op and name != options.op) or any(re.fullmatch(pattern, name) for pattern in fuzz_known.SKIPPED):
                continue
            function, is_out = found(form), form["kind"] == "out"
            if function is not None and (functional is not None or not is_out):
                yield function, functional if is_out else None


def drawn(function, functional, samples, rng):
    """Returns the arguments of a random call, or raises KeyError if there are none."""
    own = samples.get(str(functional or function))
    if own and rng.random() < 0.5:
        args, kwargs = fuzz_samples.Change(rng).call(*rng.choice(own))
    elif function._schema.name.startswith("aten::_") and not function._schema.name.startswith("aten::_foreach"):
        raise KeyError("inner operators do not check all arguments")
    else:
        args, kwargs = fuzz_draw.Draw(rng).call(functional or function)
    if functional is not None:
        if not PROGRESS.may_call():
            raise KeyError("PyTorch ends in this call")
        try:
            results = functional(*args, **kwargs)
        except Exception:
            results = args[0]
        names = [argument.name for argument in function._schema.arguments if argument.is_out]
        results = results if isinstance(results, tuple) else (results,)
        kwargs = {**kwargs, **{name: fuzz_draw.Draw(rng).out(result) for name, result in zip(names, results)}}
    return args, kwargs


@dataclasses.dataclass
class Tally:
    """Numbers of calls: compared, rejected by PyTorch, rejected with another message; of expected differences by reason, and others."""

    made: int = 0
    rejected: int = 0
    reworded: int = 0
    findings: int = 0
    known: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def add(self, other):
        for field in dataclasses.fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))


def in_child(work):
    """Returns what `work` returns in a child process. Calls that end the process are left out, and it starts again; or None after
    too many starts: a call wrote to other memory, and the process ends later."""
    PROGRESS.fatal.clear()
    while True:
        PROGRESS.reset()
        sys.stdout.flush()
        with tempfile.TemporaryFile() as answer:
            child = os.fork()
            if not child:
                pickle.dump(work(), answer)
                answer.flush()
                sys.stdout.flush()
                os._exit(0)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if status == 0:
                answer.seek(0)
                return pickle.load(answer)
        if status > 0:
            raise SystemExit(status)
        PROGRESS.fatal.add(PROGRESS.count())
        if len(PROGRESS.fatal) > RESTARTS:
            return None


def compared(share, samples, per_op, options):
    """Compares calls of the functions in `share`, and prints those that differ."""
    # A call whose result would be huge fails instead of taking minutes; such calls are not compared.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        cases = Cases(pathlib.Path(folder))
        for function, functional in share:
            for call in range(per_op):
                seed = f"{options.seed} {function} {call}"
                torch.manual_seed(random.Random(seed).getrandbits(32))
                try:
                    args, kwargs = drawn(function, functional, samples, random.Random(seed))
                except (KeyError, NotImplementedError, RuntimeError):
                    # No generator for the type of an argument, or a change that PyTorch cannot make.
                    continue
                tally.made += cases.add(function, args, kwargs) is not None
        tally.rejected = sum("error" in case for file in cases.files.values() for case in file.cases)
        reasons, failing = cases.differing(options), {}
        for place, reason in reasons.items():
            if reason.startswith("error '"):
                # Both reject the call. Which of several wrong arguments the message names is not compared here;
                # tests/data/wrong_calls.json compares the messages for one.
                tally.reworded += 1
                continue
            why = fuzz_known.explained(place[0], reason, *cases.calls[place][1:])
            if why:
                tally.known[why] += 1
            else:
                failing.setdefault((place[0], kind(reason)), (*cases.calls[place], reason))
    batch = list(failing.items())[:BATCH]
    for (key, _), (function, args, kwargs, reason) in zip(batch, minimised([call for _, call in batch], options)):
        given = [written(value) for value in args] + [f"{name}={written(value)}" for name, value in kwargs.items()]
        print(f"{key[0]}({', '.join(given)})\n    {reason}", flush=True)
    tally.findings = len(batch)
    return tally


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
    warnings.simplefilter("ignore")
    functions, samples = list(operators(options)), fuzz_samples.collected()
    total, per_op = Tally(), max(1, options.calls // max(1, len(functions)))
    for start in range(0, len(functions), 25):
        share = functions[start : start + 25]
        tally = in_child(lambda: compared(share, samples, per_op, options))
        for alone in [] if tally else share:
            found = in_child(lambda: compared([alone], samples, per_op, options))
            print(f"PyTorch ends too often in {alone[0]}", file=sys.stderr) if found is None else total.add(found)
        total.add(tally or Tally())
        print(f"\r{min(start + 25, len(functions))} of {len(functions)} overloads, {total.made} calls, {total.findings} findings", file=sys.stderr, flush=True)
    for why, count in total.known.items():
        print(f"{count} known differences: {why}")
    print(
        f"{total.made} calls of {len(functions)} overloads, {total.rejected} of them rejected by PyTorch, {total.reworded} with another "
        f"message here; {total.findings} findings"
    )
    return 1 if total.findings else 0


if __name__ == "__main__":
    sys.exit(main())
