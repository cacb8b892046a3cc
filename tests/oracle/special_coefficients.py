#!/usr/bin/env python3
"""Writes core/cpu/src/special/coefficients.rs: Chebyshev series of special functions, computed with mpmath in 60 digits.

Each function is divided by its known growth and its zeros, mapped to [-1, 1], and expanded at the Chebyshev points; the series
ends where its terms no longer affect a double, and `single` is the index from which they no longer affect a float."""
from pathlib import Path

from mpmath import (airyai, airybi, bernoulli, besseli, besselj, besselk, bessely, cos, erfc, erfinv, exp, findroot, log,
                    loggamma, mp, mpf, pi, sin, sqrt)

mp.dps = 60
DEGREE = 80


def series(function):
    """Returns the coefficients of a function on [-1, 1], the first one divided by 2."""
    angles = [pi * (mpf(2) * j + 1) / (2 * DEGREE) for j in range(DEGREE)]
    values = [function(cos(angle)) for angle in angles]
    found = []
    for k in range(DEGREE):
        c = 2 * sum(value * cos(k * angle) for value, angle in zip(values, angles)) / DEGREE
        found.append(c / 2 if k == 0 else c)
    return found


def written(name, doc, coefficients):
    size = max(abs(c) for c in coefficients)
    cut = lambda digits: max(k for k, c in enumerate(coefficients) if abs(c) > size * mpf(10) ** -digits) + 1
    terms = ''.join(f'        {float(c)!r},\n' for c in coefficients[:cut(16)])
    return (f'/// {doc}\npub(super) const {name}: Series = Series {{\n    terms: &[\n{terms}    ],\n'
            f'    single: {min(cut(9), cut(16))},\n}};\n\n')


def j_zeros(order, count):
    start = {0: [2.4, 5.5], 1: [3.8, 7.0]}[order]
    return [findroot(lambda x: besselj(order, x), mpf(z)) for z in start[:count]]


def modulus(order, which):
    """Returns P and x Q of Hankel's expansion, at t = 128/x^2 - 1."""
    def value(t):
        x = sqrt(128 / (t + 1))
        chi = x - (2 * order + 1) * pi / 4
        j, y, scale = besselj(order, x), bessely(order, x), sqrt(pi * x / 2)
        return scale * (j * cos(chi) + y * sin(chi)) if which == 'p' else x * scale * (y * cos(chi) - j * sin(chi))
    return value


def small(function):
    """Of x in [0, 8], even in x."""
    return lambda t: function(sqrt(32 * (t + 1)))


def bessel_without_zeros(order):
    first, second = j_zeros(order, 2)
    def value(x):
        return besselj(order, x) / x ** order / ((x * x - first ** 2) * (x * x - second ** 2))
    return value


def y0_rest(x):
    return bessely(0, x) - 2 / pi * log(x) * besselj(0, x)


def y1_rest(x):
    return (bessely(1, x) - 2 / pi * (log(x) * besselj(1, x) - 1 / x)) / x


def airy_angle(t, which):
    """Of -x for x >= 2, at t = 2 (zeta_2 / zeta)^2 - 1."""
    zeta = sqrt(2 / (t + 1)) * 2 * 2 ** mpf(1.5) / 3
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    theta, scale = zeta + pi / 4, sqrt(pi) * x ** mpf(0.25)
    a, b = airyai(-x), airybi(-x)
    return scale * (a * sin(theta) + b * cos(theta)) if which == 'f' else zeta * scale * (b * sin(theta) - a * cos(theta))


def airy_decay(t):
    zeta = 2 / (t + 1) * 2 * 2 ** mpf(1.5) / 3
    x = (3 * zeta / 2) ** (mpf(2) / 3)
    return 2 * sqrt(pi) * x ** mpf(0.25) * exp(zeta) * airyai(x)


def at(low, high, function):
    """Of an argument in [low, high]."""
    return lambda t: function(low + (high - low) * (t + 1) / 2)


def normal_tail(z):
    """The error of s - ln(s)/s, times s, for s = 1/z = sqrt(-2 ln p): the quantile of p."""
    s = 1 / z
    p = exp(-s * s / 2)
    guess = s - log(s) / s - mpf('0.9') / s
    x = findroot(lambda x: log(erfc(x / sqrt(2)) / 2) - log(p), guess)
    return (s - log(s) / s - x) * s


def scaled_erfc(t):
    x = mpf('3.75') * (1 + t) / (1 - t)
    return (1 + 2 * x) * exp(x * x) * erfc(x)


def main():
    text = ('// Written by tests/oracle/special_coefficients.py. Do not edit.\n'
            '//! Chebyshev series of special functions.\n\nuse super::float::Series;\n\n')
    entries = [
        ('I0_NEAR', 'e^-x I0(x), at x/4 - 1.', at(0, 8, lambda x: exp(-x) * besseli(0, x))),
        ('I0_FAR', 'e^-x sqrt(x) I0(x), at 16/x - 1.', lambda t: (lambda x: exp(-x) * sqrt(x) * besseli(0, x))(16 / (t + 1))),
        ('I1_NEAR', 'e^-x I1(x)/x, at x/4 - 1.', at(0, 8, lambda x: exp(-x) * besseli(1, x) / x)),
        ('I1_FAR', 'e^-x sqrt(x) I1(x), at 16/x - 1.', lambda t: (lambda x: exp(-x) * sqrt(x) * besseli(1, x))(16 / (t + 1))),
        ('K0_NEAR', 'K0(x) + ln(x/2) I0(x), at x^2/2 - 1.',
         lambda t: (lambda x: besselk(0, x) + log(x / 2) * besseli(0, x))(sqrt(2 * (t + 1)))),
        ('K0_FAR', 'e^x sqrt(x) K0(x), at 4/x - 1.', lambda t: (lambda x: exp(x) * sqrt(x) * besselk(0, x))(4 / (t + 1))),
        ('K1_NEAR', 'x (K1(x) - ln(x/2) I1(x)), at x^2/2 - 1.',
         lambda t: (lambda x: x * (besselk(1, x) - log(x / 2) * besseli(1, x)))(sqrt(2 * (t + 1)))),
        ('K1_FAR', 'e^x sqrt(x) K1(x), at 4/x - 1.', lambda t: (lambda x: exp(x) * sqrt(x) * besselk(1, x))(4 / (t + 1))),
        ('J0_NEAR', 'J0(x) over its first two zeros, at x^2/32 - 1.', small(bessel_without_zeros(0))),
        ('J1_NEAR', 'J1(x)/x over its first two zeros, at x^2/32 - 1.', small(bessel_without_zeros(1))),
        ('Y0_NEAR', 'Y0(x) - 2/pi ln(x) J0(x), at x^2/32 - 1.', small(y0_rest)),
        ('Y1_NEAR', '(Y1(x) - 2/pi (ln(x) J1(x) - 1/x))/x, at x^2/32 - 1.', small(y1_rest)),
        ('P0_FAR', 'Hankel\'s P of order 0, at 128/x^2 - 1.', modulus(0, 'p')),
        ('Q0_FAR', 'x times Hankel\'s Q of order 0, at 128/x^2 - 1.', modulus(0, 'q')),
        ('P1_FAR', 'Hankel\'s P of order 1, at 128/x^2 - 1.', modulus(1, 'p')),
        ('Q1_FAR', 'x times Hankel\'s Q of order 1, at 128/x^2 - 1.', modulus(1, 'q')),
        ('LGAMMA', 'ln Gamma(x)/((x - 1)(x - 2)), at x - 2.',
         lambda t: loggamma(t + 2) / ((t + 1) * t) if t != 0 else mpf(1) - mp.euler),
        ('AIRY_MIDDLE', 'Ai(x), at x/2.', lambda t: airyai(2 * t)),
        ('AIRY_DECAY', '2 sqrt(pi) x^(1/4) e^zeta Ai(x), zeta = 2/3 x^(3/2), at 2 zeta(2)/zeta - 1.', airy_decay),
        ('AIRY_SINE', 'What sin(zeta + pi/4) is multiplied by in Ai(-x), at 2 (zeta(2)/zeta)^2 - 1.',
         lambda t: airy_angle(t, 'f')),
        ('AIRY_COSINE', 'What -cos(zeta + pi/4)/zeta is multiplied by in Ai(-x), at 2 (zeta(2)/zeta)^2 - 1.',
         lambda t: airy_angle(t, 'g')),
        ('ERFINV_NEAR', 'erfinv(x)/x for w = -ln(1 - x^2) in [0, 5], at 2 w/5 - 1.',
         at(0, 5, lambda w: (lambda x: erfinv(x) / x)(sqrt(1 - exp(-w))))),
        ('ERFINV_FAR', 'erfinv(x) for s = sqrt(-ln(1 - x^2)) in [2.2, 4], at (s - 3.1)/0.9.',
         at(mpf('2.2'), 4, lambda s: erfinv(sqrt(1 - exp(-s * s))))),
        ('ERFINV_EDGE', 'erfinv(x) for s in [4, 6.2], at (s - 5.1)/1.1.',
         at(4, mpf('6.2'), lambda s: erfinv(sqrt(1 - exp(-s * s))))),
        ('QUANTILE_NEAR', 'Rest of the normal quantile for z = 1/sqrt(-2 ln p) in [1/8, 1/2], at (z - 5/16)/(3/16).',
         at(mpf(1) / 8, mpf(1) / 2, normal_tail)),
        ('QUANTILE_FAR', 'Rest of the normal quantile for z in [1/40, 1/8], at (z - 3/40)/(1/20).',
         at(mpf(1) / 40, mpf(1) / 8, normal_tail)),
        ('ERFCX', '(1 + 2x) e^(x^2) erfc(x), at (x - 3.75)/(x + 3.75).', scaled_erfc),
    ]
    for name, doc, function in entries:
        text += written(name, doc, series(function))
    for order in (0, 1):
        squares = ', '.join(repr(float(z * z)) for z in j_zeros(order, 2))
        text += f'/// Squares of the first two zeros of J{order}.\npub(super) const J{order}_ZEROS: [f64; 2] = [{squares}];\n\n'
    numbers = [bernoulli(2 * n) for n in range(1, 13)]
    listed = ''.join(f'    {float(b)!r},\n' for b in numbers)
    text += f'/// The Bernoulli numbers B2, B4, ..., B24.\npub(super) const BERNOULLI: [f64; 12] = [\n{listed}];\n'
    path = Path(__file__).resolve().parents[2] / 'core/cpu/src/special/coefficients.rs'
    path.write_text(text)


if __name__ == '__main__':
    main()
