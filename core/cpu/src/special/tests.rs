//! Values from references, and identities between functions.

use super::float::Float;
use super::{bessel, beta_sample, error, gamma, gamma_sample, polynomials};
use std::f64::consts::PI;

/// Whether `found`, relative to 1 or to `exact`, is within the tolerance.
#[track_caller]
fn close(found: f64, exact: f64, tolerance: f64) {
    assert!((found - exact).abs() <= tolerance * exact.abs().max(1.0), "{found} instead of {exact}");
}

/// A value, in both types.
macro_rules! value {
    ($($function:path: $($argument:expr),+ => $exact:expr;)*) => {$(
        close($function($($argument as f64),+), $exact, 1e-14);
        close(f64::from($function($($argument as f32),+)), $exact, 4e-6);
    )*};
}

#[test]
fn values_are_those_of_the_tables() {
    value! {
        Float::lgamma: 0.5 => PI.sqrt().ln();
        Float::lgamma: 7.5 => 7.534_364_236_758_733;
        Float::lgamma: 21.0 => 42.335_616_460_753_485;
        Float::lgamma: -0.5 => (2.0 * PI.sqrt()).ln();
        gamma::digamma: 1.0 => -0.577_215_664_901_532_9;
        gamma::digamma: -0.5 => 0.036_489_973_978_576_52;
        gamma::zeta: 2.0, 1.0 => PI * PI / 6.0;
        gamma::zeta: 4.0, 1.0 => PI.powi(4) / 90.0;
        gamma::igamma: 1.0, 2.0 => 1.0 - (-2f64).exp();
        gamma::igammac: 1.0, 5.0 => (-5f64).exp();
        bessel::j0: 2.0 => 0.223_890_779_141_235_67;
        bessel::j1: 2.0 => 0.576_724_807_756_873_4;
        bessel::j0: 20.0 => 0.167_024_664_340_583_15;
        bessel::airy_ai: 0.0 => 0.355_028_053_887_817_2;
        bessel::airy_ai: 5.0 => 1.083_444_281_360_744_2e-4;
        bessel::spherical_j0: 2.0 => 0.454_648_713_412_840_85;
        Float::erfinv: 0.5 => 0.476_936_276_204_469_9;
        error::ndtri: 0.975 => 1.959_963_984_540_054;
        error::ndtri: 0.001 => -3.090_232_306_167_813_5;
        error::erfcx: 1.0 => 0.427_583_576_155_807;
        error::log_ndtr: -10.0 => -53.231_285_150_512_47;
        polynomials::hermite_h: 2.0, 3.0 => 40.0;
        polynomials::hermite_he: 2.0, 3.0 => 2.0;
        polynomials::laguerre: 2.0, 2.0 => -1.0;
        polynomials::legendre: 0.5, 2.0 => -0.125;
    }
    assert_eq!((Float::lgamma(1f64), Float::lgamma(2f32)), (0.0, 0.0));
}

#[test]
fn bessel_functions_keep_their_wronskians() {
    for x in [0.1, 0.9, 1.9, 2.1, 3.5, 7.9, 8.1, 30.0] {
        let (j0, j1, y0, y1) = (bessel::j0(x), bessel::j1(x), bessel::y0(x), bessel::y1(x));
        close((j1 * y0 - j0 * y1) * PI * x / 2.0, 1.0, 1e-13);
        let (i0, i1, k0, k1) = (bessel::i0e(x), bessel::i1e(x), bessel::k0e(x), bessel::k1e(x));
        close((i0 * k1 + i1 * k0) * x, 1.0, 1e-13);
        let x = x as f32;
        let (j0, j1, y0, y1) = (bessel::j0(x), bessel::j1(x), bessel::y0(x), bessel::y1(x));
        close(f64::from(j1 * y0 - j0 * y1) * PI * f64::from(x) / 2.0, 1.0, 1e-5);
    }
}

#[test]
fn functions_and_their_inverses_and_rests_agree() {
    for a in [0.3, 1.0, 4.5, 20.0, 200.0] {
        for x in [0.01, 0.5, 3.0, 19.0, 21.0, 190.0, 250.0] {
            close(gamma::igamma(a, x) + gamma::igammac(a, x), 1.0, 1e-13);
        }
        close(gamma::digamma(a + 1.0) - gamma::digamma(a), 1.0 / a, 1e-13);
        close(Float::lgamma(a + 1.0) - Float::lgamma(a), a.ln(), 1e-12);
        for n in 1..5 {
            let step = gamma::polygamma(n, a) - gamma::polygamma(n, a + 1.0);
            let exact = (1..=n).map(|i| i as f64).product::<f64>() / a.powi(n as i32 + 1);
            close(step / exact * if n % 2 == 0 { -1.0 } else { 1.0 }, 1.0, 1e-9);
        }
    }
    for p in [1e-300, 1e-20, 1e-5, 0.1, 0.3, 0.5, 0.8] {
        let x = error::ndtri(p);
        close(error::log_ndtr(x), f64::ln(p), 1e-13);
    }
}

#[test]
fn undefined_values_are_nan() {
    assert!(gamma::digamma(-2f64).is_nan() && gamma::zeta(0.5f64, 1.0).is_nan() && Float::erfinv(1.5f32).is_nan());
    assert_eq!(Float::lgamma(-3f64), f64::INFINITY);
    assert_eq!((bessel::y0(0f64), bessel::k0(0f32)), (f64::NEG_INFINITY, f32::INFINITY));
    assert_eq!((error::ndtri(0f64), Float::erfinv(1f64)), (f64::NEG_INFINITY, f64::INFINITY));
    assert_eq!(polynomials::chebyshev_t(1f64, 9.0), 1.0);
    assert_eq!(polynomials::chebyshev_u(-1f64, 3.0), -4.0);
}

#[test]
fn polynomials_by_angle_agree_with_those_by_recurrence() {
    for x in [-0.9f64, -0.3, 0.2, 0.7] {
        for kind in [
            polynomials::chebyshev_t::<f64>,
            polynomials::chebyshev_u,
            polynomials::chebyshev_v,
            polynomials::chebyshev_w,
        ] {
            // Degree 7 is the first by angle.
            close(kind(x, 7.0), 2.0 * x * kind(x, 6.0) - kind(x, 5.0), 1e-12);
        }
    }
}

/// The values are those of the power series with 80 digits.
#[test]
fn derivatives_of_gamma_samples_are_exact_for_every_formula() {
    for (concentration, sample, exact) in [
        (0.001, 1e-9, 2.014769392626168e-5),
        (0.3, 0.05, 0.4947109870041313),
        (0.3, 2.5, 3.8402241658189187),
        (1.0, 1.0, 1.1735630272247268),
        (2.5, 0.7, 0.5263327919968706),
        (7.0, 11.0, 1.2728301542152334),
        (40.0, 25.0, 0.7865853715181101),
        (500.0, 520.5, 1.0205655653506809),
        (30_000.0, 29_800.0, 0.9966647714745783),
        (200_000.0, 200_000.0, 1.00000083333375),
        (200_000.0, 201_000.0, 1.0024966791317829),
        (200_000.0, 150_000.0, 0.8630469345826061),
        (4_000_000.0, 4_010_000.0, 1.0012490013521658),
    ] {
        let found: f64 = gamma_sample::derivative(concentration, sample);
        assert!((found / exact - 1.0).abs() < 1e-11, "{concentration} {sample}: {found} instead of {exact}");
        let single = gamma_sample::derivative(concentration as f32, sample as f32);
        assert!(
            (f64::from(single) / exact - 1.0).abs() < 1e-6,
            "{concentration} {sample}: {single} instead of {exact}"
        );
    }
    assert_eq!(gamma_sample::derivative(0.5, 0.0), 0.0);
    assert!(
        [(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (f64::NAN, 1.0), (1.0, f64::NAN)]
            .iter()
            .all(|&(concentration, sample)| f64::is_nan(gamma_sample::derivative(concentration, sample)))
    );
}

/// The values are those of numerical derivatives with 40 digits.
#[test]
fn derivatives_of_dirichlet_samples_are_exact() {
    for (sample, concentration, rest, exact) in [
        (0.0001, 0.3, 0.7, 0.0032063624443788266),
        (0.02, 0.5, 2.0, 0.13463596496148653),
        (0.3, 0.3, 0.2, 3.246604200688482),
        (0.999, 0.4, 0.01, 7.112782629181916),
        (0.5, 1.0, 1.0, std::f64::consts::LN_2),
        (0.2, 2.5, 7.0, 0.10094424662026734),
        (0.6, 2.5, 7.0, 0.17238808092884855),
        (0.05, 30.0, 500.0, 0.001783137269354728),
        (0.07, 30.0, 500.0, 0.002107333172879226),
        (0.9995, 1000.0, 1.5, 0.0009995002081875605),
        (0.9, 0.01, 0.02, 3010.6534570071094),
    ] {
        let found: f64 = beta_sample::derivative(sample, concentration, concentration + rest);
        assert!((found / exact - 1.0).abs() < 1e-11, "{sample} {concentration} {rest}: {found} instead of {exact}");
    }
    assert_eq!(beta_sample::derivative(0.0, 0.5, 1.0), 0.0);
    assert!(
        [
            (-0.1, 1.0, 2.0),
            (1.1, 1.0, 2.0),
            (0.5, 0.0, 2.0),
            (0.5, 2.0, 2.0),
            (f64::NAN, 1.0, 2.0),
            (0.5, f64::NAN, 2.0)
        ]
        .iter()
        .all(|&(sample, concentration, total)| f64::is_nan(beta_sample::derivative(
            sample,
            concentration,
            total
        )))
    );
}
