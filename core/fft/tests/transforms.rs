//! Every kind of transform against the sum that defines it, for lengths of every algorithm, with strides.

use rushlight_base::{Complex, DType};
use rushlight_cpu::Array;
use rushlight_fft::{complex_to_complex, complex_to_real, real_to_complex};
use std::f64::consts::TAU;

type Number = Complex<f64>;

/// Row-major strides.
fn rows(sizes: &[i64]) -> Vec<i64> {
    (0..sizes.len()).map(|dim| sizes[dim + 1..].iter().product()).collect()
}

fn array<'a, V>(values: &'a mut [V], dtype: DType, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
    let last: i64 = sizes.iter().zip(strides).map(|(size, stride)| (size - 1).max(0) * stride).sum();
    assert!(sizes.contains(&0) || (last as usize) < values.len());
    // SAFETY: the last element is inside `values` (asserted), which outlives the array and only this test accesses.
    unsafe { Array::new(values.as_mut_ptr().cast(), dtype, sizes, strides) }
}

/// Numbers without a pattern.
fn numbers(count: usize) -> Vec<Number> {
    let mut state = 12345u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    (0..count).map(|_| Complex::new(next(), next())).collect()
}

/// The defining sum of one line.
fn sum(line: &[Number], sign: f64) -> Vec<Number> {
    let n = line.len();
    let term = |k: usize, j: usize| line[j] * Complex::from_polar(1.0, sign * TAU * ((k * j) % n) as f64 / n as f64);
    (0..n).map(|k| (0..n).map(|j| term(k, j)).sum()).collect()
}

fn assert_close(actual: &[Number], expected: &[Number], what: &str) {
    assert_eq!(actual.len(), expected.len(), "{what}");
    let size = expected.iter().map(|value| value.norm()).fold(1.0, f64::max);
    for (index, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert!((actual - expected).norm() < 1e-12 * size, "{what}, element {index}: {actual} instead of {expected}");
    }
}

const LENGTHS: [usize; 20] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 31, 37, 64, 97, 100, 127, 128, 211, 1024];

#[test]
fn complex_lines_have_the_defining_sum() {
    for length in LENGTHS {
        for forward in [true, false] {
            let mut input = numbers(length);
            let expected: Vec<Number> =
                sum(&input, if forward { -1.0 } else { 1.0 }).iter().map(|value| value * 0.25).collect();
            let mut out = vec![Number::default(); length];
            let sizes = [length as i64];
            let (to, from) = (array(&mut out, DType::C128, &sizes, &[1]), array(&mut input, DType::C128, &sizes, &[1]));
            complex_to_complex(&to, &from, &[0], forward, 0.25).unwrap();
            assert_close(&out, &expected, &format!("length {length}, forward {forward}"));
        }
    }
}

#[test]
fn real_lines_have_whole_and_half_spectra() {
    for length in LENGTHS {
        let mut real: Vec<f64> = numbers(length).iter().map(|value| value.re).collect();
        let complex: Vec<Number> = real.iter().map(|&value| Complex::new(value, 0.0)).collect();
        let expected = sum(&complex, -1.0);
        for count in [length / 2 + 1, length] {
            let mut out = vec![Number::default(); count];
            let (to_sizes, sizes) = ([count as i64], [length as i64]);
            let to = array(&mut out, DType::C128, &to_sizes, &[1]);
            real_to_complex(&to, &array(&mut real, DType::F64, &sizes, &[1]), &[0], 1.0).unwrap();
            assert_close(&out, &expected[..count], &format!("length {length}, {count} elements"));
        }
    }
}

#[test]
fn half_spectra_have_real_lines() {
    for length in LENGTHS {
        let real: Vec<Number> = numbers(length).iter().map(|value| Complex::new(value.re, 0.0)).collect();
        // One element more than needed, and imaginary parts that no real signal has: both are ignored.
        let mut input = sum(&real, -1.0)[..length / 2 + 1].to_vec();
        input[0].im = 3.0;
        if length % 2 == 0 {
            input[length / 2].im = -5.0;
        }
        input.push(Complex::new(7.0, 7.0));
        let mut out = vec![0f64; length];
        let (to_sizes, sizes) = ([length as i64], [input.len() as i64]);
        let to = array(&mut out, DType::F64, &to_sizes, &[1]);
        complex_to_real(&to, &array(&mut input, DType::C128, &sizes, &[1]), 0, 1.0 / length as f64).unwrap();
        let out: Vec<Number> = out.iter().map(|&value| Complex::new(value, 0.0)).collect();
        assert_close(&out, &real, &format!("length {length}"));
    }
}

/// The defining sums along dimensions of a row-major array.
fn sums(values: &[Number], sizes: &[i64], dims: &[usize], sign: f64) -> Vec<Number> {
    let mut values = values.to_vec();
    for &dim in dims {
        let (step, size) = (rows(sizes)[dim] as usize, sizes[dim] as usize);
        for start in (0..values.len()).filter(|start| start / step % size == 0) {
            let line: Vec<Number> = (0..size).map(|at| values[start + at * step]).collect();
            for (at, value) in sum(&line, sign).into_iter().enumerate() {
                values[start + at * step] = value;
            }
        }
    }
    values
}

#[test]
fn dimensions_may_have_any_strides() {
    let sizes = [5, 18, 7];
    let values = numbers(5 * 18 * 7);
    for dims in [&[0][..], &[1], &[2], &[0, 1], &[2, 0], &[0, 1, 2], &[]] {
        let expected = sums(&values, &sizes, dims, -1.0);
        // The input is stored with its dimensions in another order, the output with gaps.
        let strides = [18, 1, 90];
        let mut input = vec![Number::default(); values.len()];
        for (index, value) in values.iter().enumerate() {
            input[index / 126 * 18 + index / 7 % 18 + index % 7 * 90] = *value;
        }
        let mut out = vec![Number::default(); 3 * values.len()];
        let out_strides = [378, 21, 3];
        let to = array(&mut out, DType::C128, &sizes, &out_strides);
        complex_to_complex(&to, &array(&mut input, DType::C128, &sizes, &strides), dims, true, 1.0).unwrap();
        let written: Vec<Number> = out.iter().step_by(3).copied().collect();
        assert_close(&written, &expected, &format!("dimensions {dims:?}"));
        assert!(out.iter().enumerate().all(|(index, value)| index % 3 == 0 || *value == Number::default()));
    }
}

#[test]
fn whole_spectra_of_several_dimensions_are_symmetric() {
    let sizes = [4, 6, 5];
    let values: Vec<Number> = numbers(120).iter().map(|value| Complex::new(value.re, 0.0)).collect();
    let mut real: Vec<f64> = values.iter().map(|value| value.re).collect();
    for dims in [&[2][..], &[0], &[0, 2], &[2, 1], &[1, 2, 0]] {
        let mut out = vec![Number::default(); 120];
        let strides = rows(&sizes);
        let to = array(&mut out, DType::C128, &sizes, &strides);
        real_to_complex(&to, &array(&mut real, DType::F64, &sizes, &strides), dims, 1.0).unwrap();
        assert_close(&out, &sums(&values, &sizes, dims, -1.0), &format!("dimensions {dims:?}"));
    }
}

#[test]
fn other_sizes_and_dtypes_are_errors() {
    let (mut short, mut long) = (vec![Number::default(); 4], vec![Number::default(); 6]);
    let mut real = vec![0f64; 6];
    let to = array(&mut short, DType::C128, &[4], &[1]);
    let from = array(&mut long, DType::C128, &[6], &[1]);
    assert!(complex_to_complex(&to, &from, &[0], true, 1.0).is_err());
    assert!(complex_to_complex(&to, &to, &[1], true, 1.0).is_err());
    let signal = array(&mut real, DType::F64, &[6], &[1]);
    assert!(real_to_complex(&to, &signal, &[], 1.0).is_err());
    assert!(real_to_complex(&array(&mut [Number::default(); 3], DType::C128, &[3], &[1]), &signal, &[0], 1.0).is_err());
    assert!(complex_to_real(&signal, &array(&mut [Number::default(); 3], DType::C128, &[3], &[1]), 0, 1.0).is_err());
    let mut half = [0u32; 4];
    let half = array(&mut half, DType::C32, &[4], &[1]);
    let error = complex_to_complex(&half, &half, &[0], true, 1.0).unwrap_err();
    assert_eq!(error.message(), "Fourier transforms do not support tensors of type: ComplexHalf");
}
