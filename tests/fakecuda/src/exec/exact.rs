//! Floating-point arithmetic in every format and rounding: exact integers, rounded once.

use crate::ptx::{Round, Ty};

/// A binary format.
#[derive(Clone, Copy, Debug)]
struct Format {
    /// Bits of the significand with the hidden one.
    precision: u32,
    /// The largest exponent.
    emax: i32,
    /// Bits below the format's last one in its storage.
    padding: u32,
}

fn format(ty: Ty) -> Format {
    match ty {
        Ty::F16 | Ty::F16x2 => Format { precision: 11, emax: 15, padding: 0 },
        Ty::BF16 | Ty::BF16x2 => Format { precision: 8, emax: 127, padding: 0 },
        Ty::TF32 => Format { precision: 11, emax: 127, padding: 13 },
        Ty::F64 => Format { precision: 53, emax: 1023, padding: 0 },
        _ => Format { precision: 24, emax: 127, padding: 0 },
    }
}

/// A number, split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Not a number.
    Nan,
    /// An infinity, negative or not.
    Infinite(bool),
    /// (-1)^negative * significand * 2^exponent.
    Finite {
        /// The sign.
        negative: bool,
        /// The significand.
        significand: u128,
        /// The exponent.
        exponent: i32,
        /// Whether the value is larger by less than one unit of the significand.
        sticky: bool,
    },
}

/// The NaN that operations of a type return.
pub fn nan(ty: Ty) -> u64 {
    match ty {
        Ty::F16 | Ty::F16x2 | Ty::BF16 | Ty::BF16x2 => 0x7fff,
        Ty::F64 => 0x7ff8_0000_0000_0000,
        _ => 0x7fff_ffff,
    }
}

fn finite(negative: bool, significand: u128, exponent: i32) -> Number {
    Number::Finite { negative, significand, exponent, sticky: false }
}

/// Split the bits of a number.
pub fn unpack(bits: u64, ty: Ty) -> Number {
    let f = format(ty);
    let bits = bits >> f.padding;
    let fraction_bits = f.precision - 1;
    let fraction = bits & ((1 << fraction_bits) - 1);
    let all = 2 * f.emax as u64 + 1;
    let biased = bits >> fraction_bits & all;
    let negative = bits >> (fraction_bits + all.count_ones()) & 1 != 0;
    if biased == all {
        return if fraction == 0 { Number::Infinite(negative) } else { Number::Nan };
    }
    let hidden = if biased == 0 { 0 } else { 1u64 << fraction_bits };
    let exponent = biased.max(1) as i32 - f.emax - fraction_bits as i32;
    finite(negative, u128::from(fraction | hidden), exponent)
}

/// Round a number to a type; returns its bits.
pub fn pack(number: Number, ty: Ty, round: Round) -> u64 {
    let f = format(ty);
    let fraction_bits = f.precision - 1;
    let all = 2 * f.emax as u64 + 1;
    let sign_at = fraction_bits + all.count_ones();
    let (negative, significand, exponent, sticky) = match number {
        Number::Nan => return nan(ty),
        Number::Infinite(negative) => return (u64::from(negative) << sign_at | all << fraction_bits) << f.padding,
        Number::Finite { negative, significand, exponent, sticky } => (negative, significand, exponent, sticky),
    };
    let sign = u64::from(negative) << sign_at;
    if significand == 0 && !sticky {
        return sign << f.padding;
    }
    let length = 128 - significand.leading_zeros() as i32;
    let smallest = 1 - f.emax - fraction_bits as i32;
    let mut last = (exponent + length - f.precision as i32).max(smallest);
    let shift = last - exponent;
    let (mut kept, dropped, half) = if shift <= 0 {
        // The significand is short: nothing is dropped but what `sticky` stands for.
        (significand << -shift, if sticky { 1u128 } else { 0 }, 2u128)
    } else if shift > 126 {
        (0, 1, 2)
    } else {
        let dropped = significand & ((1 << shift) - 1);
        // Twice the dropped bits, so that `sticky` has a bit.
        (significand >> shift, dropped << 1 | u128::from(sticky), 1 << shift)
    };
    let up = match round {
        Round::Near => dropped > half || (dropped == half && kept & 1 != 0),
        Round::Away => dropped >= half,
        Round::Zero => false,
        Round::Down => negative && dropped != 0,
        Round::Up => !negative && dropped != 0,
    };
    kept += u128::from(up);
    if kept >> f.precision != 0 {
        kept >>= 1;
        last += 1;
    }
    let bits = if kept >> fraction_bits == 0 {
        kept as u64
    } else {
        let biased = last + fraction_bits as i32 + f.emax;
        if biased as u64 >= all {
            let infinite = match round {
                Round::Near | Round::Away => true,
                Round::Zero => false,
                Round::Down => negative,
                Round::Up => !negative,
            };
            if infinite { all << fraction_bits } else { (all << fraction_bits) - 1 }
        } else {
            (biased as u64) << fraction_bits | (kept as u64 & ((1 << fraction_bits) - 1))
        }
    };
    (sign | bits) << f.padding
}

/// The negation.
pub fn negate(a: Number) -> Number {
    match a {
        Number::Nan => Number::Nan,
        Number::Infinite(n) => Number::Infinite(!n),
        Number::Finite { negative, significand, exponent, sticky } => {
            Number::Finite { negative: !negative, significand, exponent, sticky }
        }
    }
}

/// Exact sum of two numbers without sticky bits; `round` decides the sign of zero.
pub fn add(a: Number, b: Number, round: Round) -> Number {
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(x), Number::Infinite(y)) => {
            if x == y {
                a
            } else {
                Number::Nan
            }
        }
        (Number::Infinite(_), _) => a,
        (_, Number::Infinite(_)) => b,
        (
            Number::Finite { negative: na, significand: sa, exponent: ea, .. },
            Number::Finite { negative: nb, significand: sb, exponent: eb, .. },
        ) => {
            if sa == 0 && sb == 0 {
                return finite(if na == nb { na } else { round == Round::Down }, 0, 0);
            }
            if sa == 0 {
                return b;
            }
            if sb == 0 {
                return a;
            }
            // The highest bit of both at bit 124.
            let (ha, hb) = (sa.leading_zeros() as i32 - 3, sb.leading_zeros() as i32 - 3);
            let mut x = (na, sa << ha, ea - ha);
            let mut y = (nb, sb << hb, eb - hb);
            if (y.2, y.1) > (x.2, x.1) {
                std::mem::swap(&mut x, &mut y);
            }
            let distance = x.2 - y.2;
            let (small, lost) = if distance > 127 {
                (0, true)
            } else {
                (y.1 >> distance, distance > 0 && y.1 & ((1 << distance) - 1) != 0)
            };
            let (significand, negative) = if x.0 == y.0 {
                (x.1 + small, x.0)
            } else {
                let difference = x.1 - small - u128::from(lost);
                if difference == 0 && !lost {
                    return finite(round == Round::Down, 0, 0);
                }
                (difference, x.0)
            };
            Number::Finite { negative, significand, exponent: x.2, sticky: lost }
        }
    }
}

fn sign(a: Number) -> bool {
    match a {
        Number::Nan => false,
        Number::Infinite(n) => n,
        Number::Finite { negative, .. } => negative,
    }
}

fn zero(a: Number) -> bool {
    matches!(a, Number::Finite { significand: 0, .. })
}

/// Exact product.
pub fn mul(a: Number, b: Number) -> Number {
    let negative = sign(a) != sign(b);
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) => Number::Nan,
        (Number::Infinite(_), x) | (x, Number::Infinite(_)) => {
            if zero(x) {
                Number::Nan
            } else {
                Number::Infinite(negative)
            }
        }
        (
            Number::Finite { significand: sa, exponent: ea, .. },
            Number::Finite { significand: sb, exponent: eb, .. },
        ) => finite(negative, sa * sb, ea + eb),
    }
}

/// Quotient with at least 64 correct bits and a sticky bit.
pub fn div(a: Number, b: Number) -> Number {
    let negative = sign(a) != sign(b);
    match (a, b) {
        (Number::Nan, _) | (_, Number::Nan) | (Number::Infinite(_), Number::Infinite(_)) => Number::Nan,
        (Number::Infinite(_), _) => Number::Infinite(negative),
        (_, Number::Infinite(_)) => finite(negative, 0, 0),
        (
            Number::Finite { significand: sa, exponent: ea, .. },
            Number::Finite { significand: sb, exponent: eb, .. },
        ) => {
            if sb == 0 {
                return if sa == 0 { Number::Nan } else { Number::Infinite(negative) };
            }
            if sa == 0 {
                return finite(negative, 0, 0);
            }
            let shift = sa.leading_zeros() as i32;
            let (top, bottom) = (sa << shift, sb);
            Number::Finite { negative, significand: top / bottom, exponent: ea - shift - eb, sticky: top % bottom != 0 }
        }
    }
}

/// Square root with at least 60 correct bits and a sticky bit.
pub fn sqrt(a: Number) -> Number {
    match a {
        Number::Finite { significand: 0, .. } => a,
        Number::Infinite(false) => a,
        Number::Finite { negative: false, significand, exponent, .. } => {
            let mut shift = significand.leading_zeros() as i32;
            if (exponent - shift) & 1 != 0 {
                shift -= 1;
            }
            let top = significand << shift;
            let root = top.isqrt();
            Number::Finite {
                negative: false,
                significand: root,
                exponent: (exponent - shift) / 2,
                sticky: root * root != top,
            }
        }
        _ => Number::Nan,
    }
}

/// An integer as a number.
pub fn integer(value: u64, signed: bool) -> Number {
    let negative = signed && (value as i64) < 0;
    let magnitude = if negative { value.wrapping_neg() } else { value };
    finite(negative, u128::from(magnitude), 0)
}

/// The value of a half-precision number.
pub fn half_to_f32(bits: u64, ty: Ty) -> f32 {
    if matches!(ty, Ty::BF16 | Ty::BF16x2) {
        return f32::from_bits((bits as u32) << 16);
    }
    let sign = (bits as u32 & 0x8000) << 16;
    let rest = bits as u32 & 0x7fff;
    let magnitude = match rest >> 10 {
        0 => rest as f32 * 2f32.powi(-24),
        31 => f32::from_bits(0x7f80_0000 | (rest & 0x3ff) << 13),
        _ => f32::from_bits((rest << 13) + (112 << 23)),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

/// A number in half precision, rounded to nearest even.
pub fn f32_to_half(x: f32, ty: Ty) -> u64 {
    if x.is_nan() {
        return nan(ty);
    }
    let bits = x.to_bits();
    let even = |value: u32, shift: u32| (value + (1 << (shift - 1)) - 1 + (value >> shift & 1)) >> shift;
    if matches!(ty, Ty::BF16 | Ty::BF16x2) {
        return u64::from(even(bits & 0x7fff_ffff, 16) | bits >> 16 & 0x8000);
    }
    let magnitude = bits & 0x7fff_ffff;
    let rounded = if magnitude >= 0x4780_0000 {
        // 65536 and above.
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // Subnormal: multiples of 2^-24.
        (f32::from_bits(magnitude) * 2f32.powi(24)).round_ties_even() as u32
    } else {
        even(magnitude - (112 << 23), 13)
    };
    u64::from(rounded | bits >> 16 & 0x8000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32_op(op: fn(Number, Number) -> Number, a: f32, b: f32, round: Round) -> f32 {
        let (a, b) = (unpack(u64::from(a.to_bits()), Ty::F32), unpack(u64::from(b.to_bits()), Ty::F32));
        f32::from_bits(pack(op(a, b), Ty::F32, round) as u32)
    }

    /// Numbers of all sizes from a linear congruential generator.
    fn samples() -> impl Iterator<Item = (u64, u64, u64)> {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 31
        };
        (0..20_000).map(move |_| (next(), next(), next()))
    }

    #[test]
    fn rounding_to_nearest_is_that_of_the_processor() {
        for (x, y, z) in samples() {
            let near = Round::Near;
            let (a, b, c) = (f32::from_bits(x as u32), f32::from_bits(y as u32), f32::from_bits(z as u32));
            let (p, q, r) =
                (unpack(x & 0xffff_ffff, Ty::F32), unpack(y & 0xffff_ffff, Ty::F32), unpack(z & 0xffff_ffff, Ty::F32));
            let check = |n: Number, want: f32| {
                let got = f32::from_bits(pack(n, Ty::F32, near) as u32);
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{a:e} {b:e} {c:e}: {got:e} {want:e}"
                );
            };
            check(add(p, q, near), a + b);
            check(mul(p, q), a * b);
            check(div(p, q), a / b);
            check(sqrt(p), a.sqrt());
            check(add(mul(p, q), r, near), a.mul_add(b, c));
            let (a, b, c) = (f64::from_bits(x), f64::from_bits(y), f64::from_bits(z));
            let (p, q, r) = (unpack(x, Ty::F64), unpack(y, Ty::F64), unpack(z, Ty::F64));
            let check = |n: Number, want: f64| {
                let got = f64::from_bits(pack(n, Ty::F64, near));
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{a:e} {b:e} {c:e}: {got:e} {want:e}"
                );
            };
            check(add(p, q, near), a + b);
            check(mul(p, q), a * b);
            check(div(p, q), a / b);
            check(sqrt(p), a.sqrt());
            check(add(mul(p, q), r, near), a.mul_add(b, c));
            assert_eq!(pack(p, Ty::F32, near) as u32 & 0x7fff_ffff, {
                let want = (a as f32).to_bits();
                if a.is_nan() { 0x7fff_ffff } else { want & 0x7fff_ffff }
            });
        }
    }

    #[test]
    fn directed_rounding_brackets_the_value() {
        // 1 + 2^-30 lies between 1 and the next number.
        let tiny = 2f32.powi(-30);
        let sum = |round| f32_op(|a, b| add(a, b, Round::Near), 1.0, tiny, round);
        assert_eq!(sum(Round::Down), 1.0);
        assert_eq!(sum(Round::Zero), 1.0);
        assert_eq!(sum(Round::Near), 1.0);
        assert_eq!(sum(Round::Up), 1.0 + f32::EPSILON);
        let difference = |round| f32_op(|a, b| add(a, b, Round::Near), 1.0, -tiny, round);
        assert_eq!(difference(Round::Up), 1.0);
        assert_eq!(difference(Round::Zero), 1.0 - f32::EPSILON / 2.0);
        // 1/3 is 0x3eaaaaaa.aa...: below 0x3eaaaaab.
        assert_eq!(f32_op(div, 1.0, 3.0, Round::Zero).to_bits(), 0x3eaa_aaaa);
        assert_eq!(f32_op(div, 1.0, 3.0, Round::Up).to_bits(), 0x3eaa_aaab);
        // Overflow.
        assert_eq!(f32_op(mul, f32::MAX, 2.0, Round::Zero), f32::MAX);
        assert_eq!(f32_op(mul, f32::MAX, 2.0, Round::Down), f32::MAX);
        assert_eq!(f32_op(mul, f32::MAX, -2.0, Round::Down), f32::NEG_INFINITY);
        // The smallest subnormal number.
        assert_eq!(f32_op(mul, f32::MIN_POSITIVE, 2f32.powi(-40), Round::Up).to_bits(), 1);
        assert_eq!(f32_op(mul, f32::MIN_POSITIVE, 2f32.powi(-40), Round::Near).to_bits(), 0);
    }

    #[test]
    fn short_conversions_are_those_of_the_formats() {
        for bits in 0..=u64::from(u16::MAX) {
            for ty in [Ty::F16, Ty::BF16] {
                let want = f32::from_bits(pack(unpack(bits, ty), Ty::F32, Round::Near) as u32);
                let got = half_to_f32(bits, ty);
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{bits:#x}");
            }
        }
        for (x, y, _) in samples() {
            // Numbers of all sizes, and numbers near those of half precision.
            let near = f32::from_bits((x as u32 & 0x8fff_ffff) | 0x3000_0000 | (y as u32 & 0x0800_0000));
            for value in [f32::from_bits(x as u32), near, f32::from_bits(near.to_bits() & 0xffff_f000)] {
                for ty in [Ty::F16, Ty::BF16] {
                    let want = pack(unpack(value.to_bits().into(), Ty::F32), ty, Round::Near);
                    assert_eq!(f32_to_half(value, ty), want, "{value:e}");
                }
            }
        }
    }

    #[test]
    fn half_precision_numbers_round() {
        let half = |x: f32, ty, round| pack(unpack(u64::from(x.to_bits()), Ty::F32), ty, round);
        assert_eq!(half(1.0, Ty::F16, Round::Near), 0x3c00);
        assert_eq!(half(65519.0, Ty::F16, Round::Near), 0x7bff);
        assert_eq!(half(65520.0, Ty::F16, Round::Near), 0x7c00);
        assert_eq!(half(2f32.powi(-24), Ty::F16, Round::Near), 1);
        assert_eq!(half(2f32.powi(-25), Ty::F16, Round::Near), 0);
        assert_eq!(half(1.0 + 2f32.powi(-8), Ty::BF16, Round::Near), 0x3f80);
        assert_eq!(half(1.0 + 3.0 * 2f32.powi(-8), Ty::BF16, Round::Near), 0x3f82);
        assert_eq!(half(-1.0, Ty::BF16, Round::Near), 0xbf80);
        assert_eq!(half(1.0 + 2f32.powi(-11), Ty::TF32, Round::Away), 0x3f80_2000);
        assert_eq!(half_to_f32(0x0001, Ty::F16), 2f32.powi(-24));
        assert_eq!(half_to_f32(0xc000, Ty::BF16), -2.0);
        assert_eq!(half(f32::NAN, Ty::F16, Round::Near), 0x7fff);
    }
}
