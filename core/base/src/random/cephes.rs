//! Single-precision logarithm, sine and cosine after Moshier's Cephes library (`logf`, `sinf`, `cosf`).
//!
//! PyTorch fills float tensors with normals through these polynomials (in AVX2, compiled so that each multiply that
//! feeds an add is fused), so `normal_pieces` must round where they round: the system's `logf` is more accurate and
//! differs in the last bits. They also make normals the same on every platform. Valid only for the arguments that occur
//! here: uniforms in `(0, 1]` and angles in `[0, 2 pi)`.
#![allow(clippy::excessive_precision, reason = "the coefficients are written as Cephes publishes them")]

/// `a * x + b` for each next coefficient `b`, fused.
#[inline(always)]
fn polynomial<const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
    let mut sum = coefficients[0];
    for &coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, coefficient);
    }
    sum
}

/// Natural logarithm of a positive normal number.
///
/// `x = m 2^e` with `m` in `[sqrt(1/2), sqrt(2))`, a polynomial in `m - 1`, and `e ln 2` in two parts.
#[inline(always)]
pub(super) fn ln(x: f32) -> f32 {
    /// `ln 2` is the sum of the two; the first has few bits, so that its multiples are exact.
    const LN2: [f32; 2] = [0.693_359_375, -2.121_944_40e-4];
    let bits = x.to_bits();
    let mantissa = f32::from_bits((bits & 0x007f_ffff) | 0x3f00_0000);
    let exponent = ((bits >> 23) as i32 - 126) as f32;
    let low = mantissa < std::f32::consts::FRAC_1_SQRT_2;
    let m = if low { (mantissa - 1.0) + mantissa } else { mantissa - 1.0 };
    let e = if low { exponent - 1.0 } else { exponent };

    let square = m * m;
    let series = polynomial(
        m,
        [
            7.037_683_629_2e-2,
            -1.151_461_031_0e-1,
            1.167_699_874_0e-1,
            -1.242_014_084_6e-1,
            1.424_932_278_7e-1,
            -1.666_805_766_5e-1,
            2.000_071_476_5e-1,
            -2.499_999_399_3e-1,
            3.333_333_117_4e-1,
        ],
    );
    let tail = (series * m).mul_add(square, e * LN2[1]);
    let tail = square.mul_add(-0.5, tail);
    e.mul_add(LN2[0], m + tail)
}

/// Sine and cosine of an angle in `[0, 2 pi)`.
///
/// The angle less the nearest even multiple of `pi / 4`, in three parts, then one polynomial for each; the
/// octant determines their order and signs.
#[inline(always)]
pub(super) fn sin_cos(angle: f32) -> (f32, f32) {
    const MINUS_QUARTER_PI: [f32; 3] = [-0.785_156_25, -2.418_756_484_985_351_6e-4, -3.774_894_977_445_941e-8];
    let octant = ((angle * (4.0 / std::f32::consts::PI)) as u32 + 1) & !1;
    let multiple = octant as f32;
    let x = MINUS_QUARTER_PI.into_iter().fold(angle, |rest, part| multiple.mul_add(part, rest));

    let square = x * x;
    let series = polynomial(square, [2.443_315_711_809_948e-5, -1.388_731_625_493_765e-3, 4.166_664_568_298_827e-2]);
    let cosine = (series * square).mul_add(square, -0.5 * square) + 1.0;
    let series = polynomial(square, [-1.951_529_589_1e-4, 8.332_160_873_6e-3, -1.666_665_461_1e-1]);
    let sine = (series * square).mul_add(x, x);

    let (sin, cos) = if octant & 2 == 0 { (sine, cosine) } else { (cosine, sine) };
    let negate = |value: f32, bit: bool| f32::from_bits(value.to_bits() ^ (u32::from(bit) << 31));
    (negate(sin, octant & 4 != 0), negate(cos, octant.wrapping_sub(2) & 4 == 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stay_within_two_ulps_of_the_exact_result() {
        for step in 1..=100_000u32 {
            let x = step as f32 / 100_000.0;
            let truth = f64::from(x).ln();
            assert!((f64::from(ln(x)) - truth).abs() <= 2e-7 * truth.abs() + 1e-12, "ln {x}");
            let angle = x * (0.999_999 * std::f32::consts::TAU);
            let (sin, cos) = sin_cos(angle);
            assert!((f64::from(sin) - f64::from(angle).sin()).abs() < 1e-7, "sin {angle}");
            assert!((f64::from(cos) - f64::from(angle).cos()).abs() < 1e-7, "cos {angle}");
        }
    }
}
