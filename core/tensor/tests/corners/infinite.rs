//! Infinite arguments, and intermediate results that overflow or underflow.

use super::{leaf, of, values};
use rushlight_base::{Complex, DType, Result, Scalar};
use rushlight_tensor::{Options, Tensor, ops};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Real and imaginary part.
type Parts = (f64, f64);

/// Compares a function of complex numbers, including the signs of zeros.
fn maps(function: fn(&Tensor) -> Result<Tensor>, cases: &[(Parts, Parts)]) {
    let given: Vec<_> = cases.iter().map(|&((re, im), _)| Complex::new(re, im)).collect();
    let given = Tensor::from_slice(&given, &[cases.len() as i64]).unwrap();
    let found: Vec<Complex<f64>> = function(&given).unwrap().to_vec().unwrap();
    for (found, (input, expected)) in found.iter().zip(cases) {
        for (found, expected) in [(found.re, expected.0), (found.im, expected.1)] {
            let same = found == expected && found.is_sign_negative() == expected.is_sign_negative();
            assert!(same || found.is_nan() && expected.is_nan(), "{input:?}: {found} {expected}");
        }
    }
}

#[test]
fn complex_functions_of_infinite_numbers_are_those_of_c() {
    maps(
        ops::sqrt,
        &[
            ((INF, -0.1), (INF, -0.0)),
            ((-INF, 0.5), (0.0, INF)),
            ((-INF, -0.1), (0.0, -INF)),
            ((3.0, INF), (INF, INF)),
            ((NAN, -INF), (INF, -INF)),
            ((-INF, NAN), (NAN, INF)),
            ((INF, NAN), (INF, NAN)),
        ],
    );
    maps(ops::rsqrt, &[((-INF, -1.0), (-0.0, 0.0))]);
    maps(
        ops::asin,
        &[
            ((INF, 1.0), (FRAC_PI_2, INF)),
            ((-INF, -1.0), (-FRAC_PI_2, -INF)),
            ((1.0, INF), (0.0, INF)),
            ((-INF, INF), (-FRAC_PI_4, INF)),
            ((INF, NAN), (NAN, INF)),
        ],
    );
    maps(
        ops::acos,
        &[
            ((INF, 1.0), (0.0, -INF)),
            ((-INF, -1.0), (PI, INF)),
            ((1.0, INF), (FRAC_PI_2, -INF)),
            ((-INF, INF), (3.0 * FRAC_PI_4, -INF)),
            ((INF, -0.0), (0.0, INF)),
        ],
    );
    maps(
        ops::acosh,
        &[
            ((INF, 1.0), (INF, 0.0)),
            ((-INF, -1.0), (INF, -PI)),
            ((1.0, INF), (INF, FRAC_PI_2)),
            ((INF, -0.0), (INF, -0.0)),
        ],
    );
}

#[test]
fn the_exponential_of_a_real_number_has_no_imaginary_part() {
    maps(ops::exp, &[((800.0, 0.0), (INF, 0.0)), ((INF, -0.0), (INF, -0.0)), ((0.0, 0.0), (1.0, 0.0))]);
    let input = Tensor::from_slice(&[Complex::new(-128f32, 0.0)], &[1]).unwrap();
    let found: Vec<Complex<f32>> = ops::silu(&input).unwrap().to_vec().unwrap();
    assert_eq!(found, [Complex::new(0.0, 0.0)]);
}

#[test]
fn a_norm_of_one_element_does_not_overflow() {
    let far = of(&[1e30, -2e30], &[2, 1]);
    for order in [2, 3] {
        let norms = ops::linalg_vector_norm(&far, Scalar::Int(order), Some(&[1]), false, None).unwrap();
        assert_eq!(values(&norms), [1e30, 2e30]);
    }
    let norms = ops::linalg_vector_norm(&of(&[0.0, -2.0], &[2, 1]), Scalar::Int(0), Some(&[1]), false, None).unwrap();
    assert_eq!(values(&norms), [0.0, 1.0]);
    let found = ops::cosine_similarity(&of(&[0.5], &[1, 1]), &of(&[1e30], &[1, 1]), 1, 1e-8).unwrap();
    assert_eq!(values(&found), [1.0]);
    let x = leaf(&[-3e30]);
    super::backward(&ops::linalg_vector_norm(&x, Scalar::Int(2), Some(&[0]), false, None).unwrap());
    assert_eq!(values(&x.grad().unwrap()), [-1.0]);
}

#[test]
fn the_zeta_function_is_0_where_its_terms_underflow() {
    let bytes = |values: &[i8]| Tensor::from_slice(values, &[values.len() as i64]).unwrap();
    let found = values(&ops::special_zeta(&bytes(&[127, 2]), &bytes(&[127, 1])).unwrap());
    assert_eq!(found[0], 0.0);
    assert!((found[1] - 1.644_934).abs() < 1e-6, "{}", found[1]);
}

#[test]
fn one_number_of_a_sequence_is_its_first() {
    let options = Options::of(DType::F32);
    let one = ops::linspace(Scalar::Float(-INF), Scalar::Int(-1), 1, options).unwrap();
    assert_eq!(values(&one), [f32::NEG_INFINITY]);
    let one = ops::linspace(Scalar::Int(3), Scalar::Float(INF), 1, options).unwrap();
    assert_eq!(values(&one), [3.0]);
}

#[test]
fn complex_tangents_of_an_infinite_angle_are_nan() {
    maps(
        ops::tanh,
        &[
            ((30.0, INF), (NAN, NAN)),
            ((0.0, INF), (0.0, NAN)),
            ((NAN, 0.0), (NAN, 0.0)),
            ((1.0, NAN), (NAN, NAN)),
            ((-INF, INF), (-1.0, 0.0)),
        ],
    );
    maps(ops::tan, &[((INF, 30.0), (NAN, NAN)), ((1.0, INF), (0.0, 1.0))]);
}

#[test]
fn negative_and_imaginary_powers_of_a_complex_0_are_not_0() {
    let zero = Tensor::from_slice(&[Complex::new(0.0f64, 0.0)], &[1]).unwrap();
    let power = |exponent: (f64, f64)| -> Complex<f64> {
        let exponent = Tensor::from_slice(&[Complex::new(exponent.0, exponent.1)], &[1]).unwrap();
        ops::pow_tensor_tensor(&zero, &exponent).unwrap().to_vec().unwrap()[0]
    };
    for exponent in [(-1.0, 0.0), (-2.5, 0.0), (-1.0, 1.0)] {
        assert!(power(exponent).re == INF && power(exponent).im.is_nan(), "{exponent:?}");
    }
    assert!(power((0.0, 1.0)).re.is_nan());
    assert_eq!(power((1.0, 1.0)), Complex::new(0.0, 0.0));
    let inverse: Vec<Complex<f64>> = ops::pow_tensor_scalar(&zero, Scalar::Float(-1.5)).unwrap().to_vec().unwrap();
    assert!(inverse[0].re == INF && inverse[0].im.is_nan());
}

#[test]
fn zeta_of_infinite_arguments_is_nan_where_its_first_term_is_0() {
    let zeta = |x: f64, q: f64| {
        let [x, q] = [x, q].map(|number| Tensor::from_slice(&[number], &[1]).unwrap());
        ops::special_zeta(&x, &q).unwrap().to_vec::<f64>().unwrap()[0]
    };
    assert!(zeta(2.0, INF).is_nan() && zeta(INF, 5.5).is_nan());
    assert_eq!((zeta(INF, 1.0), zeta(NAN, -3.0)), (1.0, INF));
}

#[test]
fn the_gradient_of_mish_at_infinity_is_nan() {
    let x = leaf(&[f32::INFINITY, 100.0]);
    super::backward(&ops::mish(&x).unwrap());
    let grad = values(&x.grad().unwrap());
    assert!(grad[0].is_nan() && grad[1] == 1.0, "{grad:?}");
}

#[test]
fn floats_beyond_the_integers_are_the_least_one() {
    let half = ops::to_dtype(&of(&[f32::INFINITY, -7.5], &[2]), DType::F16, false, false, None).unwrap();
    let cast = |tensor: &Tensor, dtype| ops::to_dtype(tensor, dtype, false, false, None).unwrap();
    assert_eq!(cast(&half, DType::I32).to_vec::<i32>().unwrap(), [i32::MIN, -7]);
    assert_eq!(cast(&half, DType::I64).to_vec::<i64>().unwrap(), [i64::MIN, -7]);
    assert_eq!(cast(&of(&[3e9, -300.0], &[2]), DType::I32).to_vec::<i32>().unwrap(), [i32::MIN, -300]);
    assert_eq!(cast(&of(&[3e9, -300.0], &[2]), DType::I16).to_vec::<i16>().unwrap(), [0, -300]);
}
