"""Writes core/cpu/src/math/reference.txt: values of the elementary functions in `f64`, exact to a hundredth of the last place.

    python3 tests/oracle/math_reference.py core/cpu/src/math/reference.txt [points per function]     (needs mpmath)

A line: the function, the bits of its arguments, the bits of the nearest number, and by how many units in the last place the
true value is more than that.
"""

import math
import random
import struct
import sys

from mpmath import mp, mpf

mp.prec = 200
bits = lambda x: struct.unpack("<Q", struct.pack("<d", x))[0]
from_bits = lambda b: struct.unpack("<d", struct.pack("<Q", b))[0]


def trigonometric(f):
    def g(x):
        with mp.workprec(1400):
            return f(x)

    return g


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


def acosh(x):
    return mp.acosh(x)


# Ranges: uniform in the value (u) or in the exponent (e, both signs unless positive).
FUNCTIONS = {
    "exp": (mp.exp, [("u", -746, 710), ("u", -1, 1), ("u", -40, 40), ("u", -745.2, -708), ("e", -60, 2)]),
    "exp2": (lambda x: mpf(2) ** x, [("u", -1076, 1024), ("u", -1, 1), ("u", -1075, -1022), ("e", -60, 2)]),
    "expm1": (mp.expm1, [("u", -40, 710), ("u", -1, 1), ("e", -60, 0), ("e", -1070, -20)]),
    "log": (mp.log, [("p", -1074, 1023), ("u", 0.5, 2), ("u", 0.95, 1.05), ("p", -3, 3)]),
    "log1p": (mp.log1p, [("p", -60, 1023), ("u", -1, 1), ("u", -0.9999, 3), ("e", -60, -1), ("e", -1070, -20)]),
    "log2": (lambda x: mp.log(x) / mp.log(2), [("p", -1074, 1023), ("u", 0.5, 2), ("u", 0.95, 1.05), ("p", -3, 3)]),
    "log10": (lambda x: mp.log(x) / mp.log(10), [("p", -1074, 1023), ("u", 0.5, 2), ("u", 0.95, 1.05), ("p", -3, 3)]),
    "tanh": (mp.tanh, [("u", -20, 20), ("u", -1, 1), ("e", -60, 0), ("e", -1070, -20)]),
    "sigmoid": (sigmoid, [("u", -745, 40), ("u", -1, 1), ("u", -40, 40), ("e", -60, 2)]),
    "erf": (mp.erf, [("u", -6, 6), ("u", -1.5, 1.5), ("u", 0.9, 1.1), ("e", -60, 0), ("e", -1070, -20)]),
    "erfc": (mp.erfc, [("u", -6, 27), ("u", -1.5, 1.5), ("u", 0, 6), ("u", 26, 27.2), ("e", -60, 0)]),
    "sin": (trigonometric(mp.sin), [("u", -10, 10), ("e", -60, 0), ("u", -1e5, 1e5), ("e", 10, 1023), ("t", 1, 40), ("e", 28, 32)]),
    "cos": (trigonometric(mp.cos), [("u", -10, 10), ("e", -30, 0), ("u", -1e5, 1e5), ("e", 10, 1023), ("t", 1, 40), ("e", 28, 32)]),
    "tan": (trigonometric(mp.tan), [("u", -10, 10), ("e", -60, 0), ("u", -1e5, 1e5), ("e", 10, 1023), ("t", 1, 40), ("e", 28, 32)]),
    "atan": (mp.atan, [("u", -3, 3), ("e", -60, 60), ("e", -1070, 1020)]),
    "asin": (mp.asin, [("u", -1, 1), ("u", 0.45, 0.55), ("e", -60, -1)]),
    "acos": (mp.acos, [("u", -1, 1), ("u", 0.45, 0.55), ("u", 0.99, 1), ("u", -1, -0.99), ("e", -60, -1)]),
    "sinh": (mp.sinh, [("u", -710.4, 710.4), ("u", -2, 2), ("e", -60, 0), ("e", -1070, -20)]),
    "cosh": (mp.cosh, [("u", -710.4, 710.4), ("u", -2, 2), ("e", -60, 0)]),
    "asinh": (mp.asinh, [("u", -3, 3), ("e", -60, 60), ("e", -1000, 1020)]),
    "acosh": (acosh, [("u", 1, 3), ("u", 1, 1.01), ("p", 0, 1020)]),
    "atanh": (mp.atanh, [("u", -1, 1), ("u", 0.99, 1), ("e", -60, -1), ("e", -1070, -20)]),
    "pow": (lambda x, y: mp.exp(y * mp.log(x)), []),
}
# Numbers that are hard to reduce, such as the double closest to a multiple of pi/2.
EXTRA = {name: [from_bits(0x6F5A2A4F8A9CE1EE), 6381956970095103 * 2.0**797, 1e22, 2.0**1023] for name in ["sin", "cos", "tan"]}


def sample(kind, low, high):
    if kind == "u":
        return random.uniform(low, high)
    if kind == "t":
        near = random.randrange(1, 2 ** random.randrange(low, high)) * mp.pi / 2
        return math.nextafter(float(near), random.choice([-math.inf, math.inf])) if random.random() < 0.3 else float(near)
    size = math.ldexp(random.uniform(1, 2), random.randint(low, high))
    return size if kind == "p" else random.choice([-size, size])


def arguments(name, points):
    _, ranges = FUNCTIONS[name]
    for x in EXTRA.get(name, []):
        yield (x,)
    for i in range(points):
        if name != "pow":
            yield (sample(*ranges[i % len(ranges)]),)
            continue
        x = sample("p", -1074, 1023) if i % 3 == 0 else sample("u", 0.01, 4) if i % 3 == 1 else sample("u", 0.999, 1.001)
        if i % 4 == 3:
            yield x, random.choice([0.5, 1.5, 2.0, 3.0, -1.0, 1 / 3, 10.0])
        else:
            # The exponent of the result is uniform.
            y = random.uniform(-745, 709.7) / float(mp.log(mpf(x))) if x != 1 else 1.0
            yield (x, y) if math.isfinite(y) else (x, 1.0)


def main(path, points):
    random.seed(20261121)
    lines = []
    for name, (f, _) in FUNCTIONS.items():
        for xs in arguments(name, points):
            exact = f(*map(mpf, xs))
            if mp.isnan(exact) or isinstance(exact, mp.mpc) or abs(exact) > mpf(sys.float_info.max) or abs(exact) < mpf(2) ** -1074:
                continue
            # Rounds once, including subnormal numbers.
            exponent = max(int(mp.floor(mp.log(abs(exact), 2))), -1022) - 52
            scaled = exact / mpf(2) ** exponent
            nearest = mp.nint(scaled)
            value = math.ldexp(int(nearest), exponent) if nearest else 0.0
            if math.isinf(value):
                continue
            rest = float(scaled - nearest)
            lines.append(f"{name} {' '.join(f'{bits(x):x}' for x in xs)} {bits(value):x} {rest:.3f}")
    open(path, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 240)
