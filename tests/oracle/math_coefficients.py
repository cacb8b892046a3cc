"""Writes core/cpu/src/math/coefficients.rs, constants and minimax polynomials of the vector functions, and tables.rs,
tables of 32 entries for the levels that look these up in one instruction.

    python3 tests/oracle/math_coefficients.py core/cpu/src/math     (from the root; needs mpmath)

Each polynomial is the result of Remez' exchange on a grid, in 60 digits: it minimises the largest weighted error
|weight * (p - f)|. The comment of each row says how large that is, for the function as a whole, before rounding.
"""

import struct
import subprocess
import sys

from mpmath import mp, mpf

mp.dps = 60


def remez(f, weight, low, high, count, even=False, grid=1500):
    """Returns `count` coefficients, lowest first, of powers of x (of x*x if `even`, on 0 < x)."""
    low, high = mpf(low), mpf(high)
    angles = [mp.pi * (2 * i + 1) / (2 * grid) for i in range(grid)]
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(a) for a in angles]
    values = [f(x) for x in points]
    weights = [weight(x) for x in points]
    bases = [x * x if even else x for x in points]
    chosen = [min(grid - 1, int((i + 0.5) * grid / (count + 1))) for i in range(count + 1)]
    for _ in range(40):
        matrix, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for row, at in enumerate(chosen):
            power = mpf(1)
            for column in range(count):
                matrix[row, column] = power
                power *= bases[at]
            matrix[row, count] = (-1) ** row / weights[at]
            right[row] = values[at]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [weights[i] * (mp.polyval(coefficients[::-1], bases[i]) - values[i]) for i in range(grid)]
        # One extremum for each run of equal signs; too many: the ends go first.
        extrema = []
        for i, error in enumerate(errors):
            if extrema and (error > 0) == (errors[extrema[-1]] > 0):
                if abs(error) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        worst = max(abs(error) for error in errors)
        if len(extrema) < count + 1 or worst < abs(solution[count]) * mpf("1.01"):
            break
        chosen = extrema
    return coefficients, worst


def rounded(value, bits):
    """Rounds to the nearest number with `bits` bits."""
    if value == 0:
        return mpf(0)
    scale = mpf(2) ** (bits - 1 - mp.floor(mp.log(abs(value), 2)))
    return mp.nint(value * scale) / scale


BITS = {"f32": 24, "f64": 53}


def text(value, kind):
    if kind == "f32":
        number = struct.unpack("f", struct.pack("f", float(rounded(value, 24))))[0]
        # The shortest decimals that give this number.
        for digits in range(1, 12):
            shortest = f"{number:.{digits}e}"
            if struct.pack("f", float(shortest)) == struct.pack("f", number):
                break
    else:
        shortest = repr(float(rounded(value, 53)))
    if "e" in shortest:
        mantissa, exponent = shortest.split("e")
        shortest = mantissa + ("" if "." in mantissa else ".0") + "e" + str(int(exponent))
    return shortest


def parts(value, kind, count):
    """An unevaluated sum."""
    result = []
    for _ in range(count):
        part = rounded(value, BITS[kind])
        result.append(part)
        value -= part
    return result


one = lambda x: mpf(1)
ln2 = mp.log(2)


def exp_rest(x):
    return (mp.expm1(x) - x) / (x * x)


def atanh_rest(s):
    """Returns 2 atanh(s) - 2s - 2/3 s^3, divided by s^5."""
    return (2 * mp.atanh(s) - 2 * s - 2 * s**3 / 3) / s**5


K_ERFC = {"f32": mpf(2), "f64": mpf("3.5")}
END_ERFC = {"f32": mpf("10.2"), "f64": mpf("27.3")}


def erfcx_scaled(kind):
    k = K_ERFC[kind]

    def f(t):
        x = k * (1 + t) / (1 - t)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    return f


def polynomials(kind):
    single = kind == "f32"
    pick = lambda a, b: a if single else b
    half = ln2 / 2 * mpf("1.001")
    tiny = mpf(2) ** -40
    # The remainder of the reduction may lie a little outside of pi/4.
    quarter = mp.pi / 4 * mpf("1.01")
    yield ("EXP", "e^x = 1 + x + x^2 p(x), |x| <= ln(2)/2", exp_rest, lambda x: x * x / mp.exp(x), -half, half, pick(5, 10), False)
    yield ("EXPM1", "e^x - 1 = x + x^2 p(x), |x| <= ln(2)/2", exp_rest, lambda x: x * x / abs(mp.expm1(x)), -half, half, pick(6, 11), False)
    yield ("EXP2", "2^x = 1 + x p(x), |x| <= 1/2", lambda x: (mpf(2) ** x - 1) / x, lambda x: abs(x) / mpf(2) ** x, -0.5003, 0.5003, pick(6, 11), False)
    s = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mpf("1.001")
    f = lambda x: (mp.log1p(x) - x + x * x / 2) / x**3
    # `f64` would need 20 coefficients: it divides and uses ATANH.
    yield ("LOG", "log(1 + x) = x - x^2/2 + x^3 p(x), 1/sqrt(2) <= 1 + x <= sqrt(2); empty where ATANH is better", f, lambda x: abs(x**3 / mp.log1p(x)), mp.sqrt(mpf(1) / 2) - 1, mp.sqrt(2) - 1, pick(9, 0), False)
    yield ("ATANH", "2 atanh(x) = 2x + 2/3 x^3 + x^5 p(x^2), |x| <= (sqrt(2) - 1)/(sqrt(2) + 1)", atanh_rest, lambda x: x**4, tiny**0.1, s, pick(4, 8), True)
    yield ("ERF", "erf(x) = x + x p(x^2), |x| <= 1", lambda x: mp.erf(x) / x - 1, lambda x: x / mp.erf(x), tiny, 1, pick(7, 12), True)
    end = pick(mpf(4), mpf(6))
    yield ("ERF_TAIL", "-log(1 - erf(x)) = p(x - 1), 1 <= x <= %s" % end, lambda u: -mp.log(mp.erfc(u + 1)), lambda u: mp.erfc(u + 1), 0, end - 1, pick(7, 18), False)
    k = K_ERFC[kind]
    t = (END_ERFC[kind] - k) / (END_ERFC[kind] + k)
    yield ("ERFC", "(1 + 2y) exp(y^2) erfc(y) = p((y - %s)/(y + %s)), 0 <= y <= %s" % (k, k, END_ERFC[kind]), erfcx_scaled(kind), one, -1, t, pick(11, 23), False)
    yield ("SIN", "sin(x) = x + x^3 p(x^2), |x| <= pi/4", lambda x: (mp.sin(x) - x) / x**3, lambda x: x**3 / mp.sin(x), mpf("1e-4"), quarter, pick(3, 6), True)
    yield ("COS", "cos(x) = 1 - x^2/2 + x^4 p(x^2), |x| <= pi/4", lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4, lambda x: x**4, mpf("1e-3"), quarter, pick(3, 6), True)
    half_turn = mp.pi / 2 * mpf("1.005")
    yield ("SIN_HALF", "sin(x) = x + x^3 p(x^2), |x| <= pi/2", lambda x: (mp.sin(x) - x) / x**3, lambda x: x**3 / mp.sin(x), mpf("1e-4"), half_turn, pick(4, 8), True)
    yield ("TANH", "tanh(x) = x + x^3 p(x^2), |x| <= 0.55", lambda x: (mp.tanh(x) - x) / x**3, lambda x: x**3 / mp.tanh(x), mpf("1e-4"), 0.55, pick(5, 11), True)
    yield ("ATAN", "atan(x) = x + x^3 p(x^2), |x| <= 1", lambda x: (mp.atan(x) - x) / x**3, lambda x: x**3 / mp.atan(x), mpf("1e-4"), 1, pick(9, 20), True)
    yield ("ASIN", "asin(x) = x + x^3 p(x^2), |x| <= 1/2", lambda x: (mp.asin(x) - x) / x**3, lambda x: x**3 / mp.asin(x), mpf("1e-4"), 0.5, pick(5, 12), True)


def constants(kind):
    single = kind == "f32"
    pick = lambda a, b: a if single else b
    short = pick(12, 40)
    high = rounded(ln2, short)
    yield "LN2_HIGH", "ln(2), so short that products with exponents are exact", high
    yield "LN2_LOW", "What `LN2_HIGH` lacks", ln2 - high
    for name, what, value in [
        ("LOG2_E", "1/ln(2)", 1 / ln2),
        ("LOG10_E", "1/ln(10)", 1 / mp.log(10)),
        ("LOG10_2", "ln(2)/ln(10)", ln2 / mp.log(10)),
        ("TWO_THIRDS", "2/3", mpf(2) / 3),
        ("PI_2", "pi/2", mp.pi / 2),
    ]:
        first, second, third = parts(value, kind, 3)
        yield name, what, first
        yield name + "_REST", f"What `{name}` lacks", second
        if name == "PI_2":
            yield name + "_LAST", "What both lack", third
    yield "TWO_OVER_PI", "2/pi", 2 / mp.pi
    yield "EXP_LEAST", "Below, e^x rounds to zero", mpf(pick(-105, -746))
    yield "EXP_MOST", "Above, e^x is infinite", mpf(pick(89, 710))
    yield "EXPM1_LEAST", "Below, e^x - 1 rounds to -1", mpf(pick(-18, -38))
    yield "TANH_NEAR", "Up to here tanh(x) is a polynomial", mpf("0.55")
    yield "TANH_MOST", "Above, tanh(x) rounds to 1", mpf(pick(10, 20))
    yield "EXP2_LEAST", "Below, 2^x rounds to zero", mpf(pick(-151, -1076))
    yield "EXP2_MOST", "Above, 2^x is infinite", mpf(pick(129, 1025))
    yield "ERF_MOST", "Above, erf(x) rounds to 1", mpf(pick(4, 6))
    yield "ERFC_MOST", "Above, erfc(x) rounds to zero", END_ERFC[kind]
    yield "ERFC_CENTER", "What `ERFC` maps to zero", K_ERFC[kind]
    yield "REDUCTION_MOST", "Above, sin(x) needs more bits of pi", mpf(2) ** pick(17, 30)
    yield "SPLITTER", "Splits a number into two halves", mpf(2) ** pick(12, 27) + 1
    yield "NORMAL_LEAST", "The least normal number", mpf(2) ** pick(-126, -1022)
    yield "SUBNORMAL_SHIFT", "The binary logarithm of what makes every number normal", mpf(pick(24, 53))
    yield "SUBNORMAL_SCALE", "What makes every number normal", mpf(2) ** pick(24, 53)
    yield "SQRT_HALF", "The root of 1/2", mp.sqrt(mpf(1) / 2)


class Rows:
    """Formats a row of `f32` values, or several rows."""

    def __init__(self, what, *rows):
        self.what, self.rows = what, rows

    def type(self):
        row = f"[T; {len(self.rows[0])}]"
        return row if len(self.rows) == 1 else f"[{row}; {len(self.rows)}]"

    def value(self):
        rows = ["[" + ", ".join(text(number, "f32") for number in row) + "]" for row in self.rows]
        return rows[0] if len(rows) == 1 else "[" + ", ".join(rows) + "]"


def pieces(f, centers, edges, count, first=lambda x: mpf(0)):
    """Returns coefficients, lowest first, of polynomials in x - center between the edges. The first center is 0, a zero of f."""
    columns, errors = [], []
    for i, center in enumerate(centers):
        if i == 0:
            found, worst = remez(lambda t: (f(t) - first(t)) / t, lambda t: t / f(t), mpf(2) ** -40, edges[1], count - 1, grid=200)
            found = [mpf(0)] + found
        else:
            low, high = edges[i] - center, edges[i + 1] - center
            found, worst = remez(lambda t: f(center + t), lambda t: 1 / f(center + t), low, high, count, grid=200)
        columns.append(found)
        errors.append(worst)
    return list(zip(*columns)), f"2^{float(mp.log(max(errors), 2)):.1f}"


def evenly(f, width, count, first=lambda x: mpf(0)):
    """Returns the polynomials of `pieces` for intervals of one width around its multiples."""
    centers = [i * width for i in range(32)]
    edges = [mpf(0)] + [center + width / 2 for center in centers]
    return pieces(f, centers, edges, count, first)


def inverse_and_log(i):
    """Returns an `f32` c near the inverse of the i-th of 32 parts of 1..2 (of half of them in the upper part), and log(1/c),
    which is unusually close to an `f32`."""
    scale = 1 if i < SECOND_HALF else 2
    if i in (0, 31):
        return mpf(1) / scale, mpf(0)
    first = rounded(scale / (1 + (2 * i + 1) / mpf(64)), 24)
    step = mpf(2) ** (-23 if first >= 1 else -24)
    candidates = [first + k * step for k in range(-300, 301)]
    away = lambda c: abs(-mp.log(c) - rounded(-mp.log(c), 24)) / abs(mp.log(c))
    best = min(candidates, key=away)
    return best / scale, -mp.log(best)


def short_inverse_and_log(i):
    """Returns a c of six bits, for which m c - 1 is exact, and log(1/c) in two parts; the first is a multiple of 2^-16."""
    scale = 1 if i < SECOND_HALF else 2
    inverse = mpf(1) if i in (0, 31) else mp.nint(scale / (1 + (2 * i + 1) / mpf(64)) * 64 / scale) / 64 * scale
    log = -mp.log(inverse)
    high = mp.nint(log * 2**16) / 2**16
    return inverse / scale, high, log - high


# From here on a logarithm uses m/2 for m.
SECOND_HALF = 14


def single(what, f, weight, low, high, count):
    """Returns the polynomial that is used with a table."""
    found, worst = remez(f, weight, mpf(low), mpf(high), count)
    return Rows(f"{what}, {low} <= x <= {high}; error 2^{float(mp.log(worst, 2)):.1f}", found)


def tables():
    yield "exp", Rows("2^(i/32)", [mpf(2) ** (mpf(i) / 32) for i in range(32)])
    inverses, logs = zip(*[inverse_and_log(i) for i in range(32)])
    yield "inverse", Rows("c, near the inverse of the i-th part of 1..2", inverses)
    yield "carry", Rows("1 where c is near twice the inverse, or 0", [mpf(i >= SECOND_HALF) for i in range(32)])
    yield "log", Rows("log(1/c), or of twice that", logs)
    inverses, high, low = zip(*[short_inverse_and_log(i) for i in range(32)])
    yield "short_inverse", Rows("The same of six bits", inverses)
    yield "short_log", Rows("log(1/c) of that, as a sum of two", high, low)
    rows, error = evenly(mp.erf, mpf(1) / 8, 6, lambda x: x)
    yield "erf", Rows(f"erf(i/8 + x), of i = 0 less x, |x| <= 1/16: coefficients, lowest first; error {error}", *rows)
    rows, error = evenly(lambda x: mp.erf(x / mp.sqrt(2)) / 2, mpf(3) / 16, 5)
    yield "phi", Rows(f"erf((3i/16 + x)/sqrt(2))/2, |x| <= 3/32: coefficients, lowest first; error {error}", *rows)
    # Parts that grow with x: a part for each value of the three bits after the highest of 2 + x/0.305.
    edges = [mpf(0)] + [(mpf(2) ** (i // 8) * (1 + mpf(i % 8) / 8) - 1) * mpf("0.61") for i in range(1, 33)]
    centers = [mpf(0)] + [mp.nint((edges[i] + edges[i + 1]) / 2 * 1024) / 1024 for i in range(1, 32)]
    rows, error = pieces(mp.tanh, centers, edges, 6)
    yield "tanh_center", Rows("The center of the i-th part of 0..9.15", centers)
    yield "tanh", Rows(f"tanh(center + x): coefficients, lowest first; error {error}", *rows)
    end = mpf(1) / 64
    exp = lambda x: mp.expm1(x) / x
    yield "exp_near", single("e^x = 1 + x p(x)", exp, abs, -end, end, 3)
    log = lambda x: (mp.log1p(x) - x) / x**2
    yield "log_near", single("log(1 + x) = x + x^2 p(x)", log, lambda x: abs(x**2 / mp.log1p(x)), -end, 2 * end, 3)
    rest = lambda x: (mp.log1p(x) - x + x * x / 2) / x**3
    yield "log_rest", single("log(1 + x) = x - x^2/2 + x^3 p(x)", rest, lambda x: abs(x**3 / mp.log1p(x)), -2 * end, 2 * end, 4)


def write_tables(path):
    declared, defined = [], []
    for name, table in tables():
        declared += [f"    /// {table.what}.", f"    pub {name}: {table.type()},"]
        defined.append(f"    {name}: {table.value()},")
    out = [
        "//! Tables of 32 entries, for levels that look these up in one instruction: written by",
        "//! `tests/oracle/math_coefficients.py`, which says how; edit that.",
        "",
        "/// One entry for each of 32 parts of a range.",
        "#[repr(C, align(64))]",
        "pub struct Tables<T> {",
        *declared,
        "}",
        "",
        "#[allow(clippy::excessive_precision, clippy::approx_constant)]",
        "pub static SINGLE: Tables<f32> = Tables {",
        *defined,
        "};",
    ]
    write(path, out)


def write(path, lines):
    open(path, "w").write("\n".join(lines) + "\n")
    subprocess.run(["rustfmt", "--edition", "2024", "--config-path", "rustfmt.toml", path], check=True)


def write_coefficients(path):
    declared, defined = [], []
    for kind in ["f32", "f64"]:
        defined.append(f"impl Coefficients for {kind} {{")
        for name, what, value in constants(kind):
            if kind == "f32":
                declared += [f"    /// {what}.", f"    const {name}: Self;"]
            defined.append(f"    const {name}: Self = {text(value, kind)};")
        for name, what, f, weight, low, high, count, even in polynomials(kind):
            if count == 0:
                defined.append(f"    const {name}: &'static [Self] = &[];")
                continue
            coefficients, worst = remez(f, weight, low, high, count, even)
            error = f"2^{float(mp.log(worst, 2)):.1f}"
            print(kind, name, count, error, file=sys.stderr, flush=True)
            if kind == "f32":
                declared += [f"    /// {what}.", f"    const {name}: &'static [Self];"]
            defined.append(f"    // {what}; error {error}.")
            defined.append(f"    const {name}: &'static [Self] = &[{', '.join(text(c, kind) for c in coefficients)}];")
        defined += ["}", ""]
    mp.dps = 420
    number = int(mp.floor(2 / mp.pi * mpf(2) ** 1280))
    words = [(number >> (64 * (19 - i))) & (2**64 - 1) for i in range(20)]
    out = [
        "//! Constants and minimax polynomials, lowest coefficient first: written by `tests/oracle/math_coefficients.py`, which",
        "//! says how; edit that.",
        "",
        "/// What differs between `f32` and `f64`.",
        "pub trait Coefficients: Copy + PartialOrd + 'static {",
        *declared,
        "}",
        "",
        "#[allow(clippy::excessive_precision, clippy::approx_constant)]",
        *"\n".join(defined).replace("\nimpl", "\n#[allow(clippy::excessive_precision, clippy::approx_constant)]\nimpl").split("\n"),
        "/// The first 1280 bits of 2/pi, most significant first.",
        "pub const TWO_OVER_PI_BITS: [u64; 20] = [" + ", ".join(f"{w:#018x}" for w in words) + "];",
    ]
    write(path, out)


if __name__ == "__main__":
    write_tables(sys.argv[1] + "/tables.rs")
    write_coefficients(sys.argv[1] + "/coefficients.rs")
