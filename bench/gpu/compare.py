"""Runs the operators of times.cpp with PyTorch on the same card, alternating, and prints a table with the ratios.

Usage: compare.py PROGRAM [ROUNDS]
"""

import json
import statistics
import subprocess
import sys
import time

import torch


def time_of(call):
    def once(calls):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        return 1000.0 * start.elapsed_time(end) / calls

    once(3)
    calls = max(3, int(20000 / max(1.0, once(3))))
    return sorted(once(calls) for _ in range(5))[2]


def launch_of(call):
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            call()
        times.append((time.perf_counter() - start) / 500 * 1e6)
    torch.cuda.synchronize()
    return sorted(times)[2]


def torch_times():
    many, gpu = 100_000_000, {"device": "cuda"}
    a, b, out = torch.ones(many, **gpu), torch.ones(many, **gpu), torch.empty(many, **gpu)
    s = a.view(10000, 10000)
    h = torch.ones(many, dtype=torch.bfloat16, **gpu)
    ho = torch.empty_like(h)
    times = {
        "copy 1e8 float32": lambda: out.copy_(a),
        "add 1e8 float32": lambda: torch.add(a, b, out=out),
        "mul by a number 1e8 float32": lambda: torch.mul(a, b, out=out),
        "exp 1e8 float32": lambda: torch.exp(a, out=out),
        "sigmoid 1e8 float32": lambda: torch.sigmoid(a, out=out),
        "gelu 1e8 float32": lambda: torch.nn.functional.gelu(a),
        "relu 1e8 float32": lambda: torch.relu(a),
        "add transposed 1e8 float32": lambda: torch.add(s, s.t()),
        "add row 1e8 float32": lambda: torch.add(s, b[:10000]),
        "add 1e8 bfloat16": lambda: torch.add(h, h, out=ho),
        "to bfloat16 1e8": lambda: ho.copy_(a),
        "sum 1e8 float32": lambda: a.sum(),
        "sum rows 1e4x1e4 float32": lambda: s.sum(1),
        "softmax 1e4x1e4 float32": lambda: torch.softmax(s, 1),
        "layer_norm 1e4x1e4 float32": lambda: torch.layer_norm(s, (10000,)),
    }
    measured = {name: time_of(call) for name, call in times.items()}
    for n in (256, 1024, 4096):
        f = torch.ones(n, n, **gpu)
        fo, g = torch.empty_like(f), f.bfloat16()
        go = torch.empty_like(g)
        measured[f"mm {n} float32"] = time_of(lambda: torch.mm(f, f, out=fo))
        measured[f"mm {n} bfloat16"] = time_of(lambda: torch.mm(g, g, out=go))
    x, w = torch.ones(32, 64, 56, 56, **gpu), torch.ones(64, 64, 3, 3, **gpu)
    measured["conv2d 3x3 64 of 32x56x56"] = time_of(lambda: torch.conv2d(x, w, None, 1, 1))
    x, y, o = torch.ones(4, **gpu), torch.ones(4, **gpu), torch.empty(4, **gpu)
    measured["host: add of 4 floats"] = launch_of(lambda: x.add(y))
    measured["host: add of 4 floats, out"] = launch_of(lambda: torch.add(x, y, out=o))
    measured["host: empty of 4 floats"] = launch_of(lambda: torch.empty(4, **gpu))
    return measured


def own_times(program):
    lines = subprocess.run([program], capture_output=True, text=True, check=False).stdout.splitlines()
    return {row["name"]: row for row in map(json.loads, lines)}


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    own, reference = [], []
    with torch.no_grad():
        for _ in range(rounds):
            own.append(own_times(program))
            reference.append(torch_times())
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {rounds} rounds, median, microseconds")
    print("| operator | Rushlight | PyTorch | ratio |\n|---|---:|---:|---:|")
    for name in reference[0]:
        theirs = statistics.median(times[name] for times in reference)
        rows = [times.get(name, {"error": "not run"}) for times in own]
        if "us" not in rows[0]:
            print(f"| {name} | {rows[0]['error']} | {theirs:.1f} | |")
            continue
        ours = statistics.median(row["us"] for row in rows)
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ours / theirs:.2f} |")


if __name__ == "__main__":
    main()
