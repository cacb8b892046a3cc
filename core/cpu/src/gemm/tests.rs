//! Products of random shapes, strides and dtypes at every level, against sums written out.

use super::batch::batched_at;
use super::packed::{Factor, PackedB, Panels};
use super::*;
use crate::finish::{self, Finish};
use num_complex::Complex;
use rushlight_base::{Complex32, Complex64, Complex128, Element, bf16, f16, runtime};
use std::ops::Range;
use std::sync::Mutex;

/// The number of threads is the process's: tests that set it take turns.
static THREADS: Mutex<()> = Mutex::new(());

/// A small generator: tests repeat exactly.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, bound: usize) -> usize {
        self.next() as usize % bound
    }

    /// Between -1 and 1, with more digits than a float holds: sums depend on their order.
    fn real(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// An element the tests can make and read.
trait Value: Element {
    /// Of a number between -1 and 1 (and another for the imaginary part).
    fn make(re: f64, im: f64) -> Self;
    /// As a complex double.
    fn read(self) -> Complex<f64>;
    /// The allowed error of a sum of `k` products of numbers up to 1. None: exact, in wrapping arithmetic.
    fn tolerance(k: usize) -> Option<f64>;
    /// An integer result, wrapped to the type.
    fn wrap(value: f64) -> f64 {
        value
    }
}

macro_rules! float_values {
    ($($type:ty, $make:expr, $read:expr, $sum:expr, $own:expr;)*) => {$(
        impl Value for $type {
            fn make(re: f64, _: f64) -> $type {
                $make(re)
            }
            fn read(self) -> Complex<f64> {
                Complex::new($read(self), 0.0)
            }
            /// The usual bound of rounding errors: (k + 2) times that of the sums, plus that of the result.
            fn tolerance(k: usize) -> Option<f64> {
                let k = k as f64 + 2.0;
                Some(k * k.sqrt() * $sum + 4.0 * k * $own)
            }
        }
    )*};
}

float_values! {
    f32, |value| value as f32, f64::from, f32::EPSILON as f64, 0.0;
    f64, |value| value, |value| value, f64::EPSILON, 0.0;
    f16, f16::from_f64, f16::to_f64, f32::EPSILON as f64, 0.0005;
    bf16, bf16::from_f64, bf16::to_f64, f32::EPSILON as f64, 0.004;
}

macro_rules! integer_values {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn make(re: f64, im: f64) -> $type {
                // All bytes, so that groups wrap.
                (re * 128.0) as i64 as $type ^ ((im * 128.0) as i64 as $type & 0x7f)
            }
            fn read(self) -> Complex<f64> {
                Complex::new(self as f64, 0.0)
            }
            fn tolerance(_: usize) -> Option<f64> {
                None
            }
            fn wrap(value: f64) -> f64 {
                value as i64 as $type as f64
            }
        }
    )*};
}

integer_values!(u8, i8, i16, i32, i64);

macro_rules! complex_values {
    ($($type:ty, $part:ty, $epsilon:expr;)*) => {$(
        impl Value for $type {
            fn make(re: f64, im: f64) -> $type {
                Complex::new(<$part as Value>::make(re, 0.0), <$part as Value>::make(im, 0.0))
            }
            fn read(self) -> Complex<f64> {
                Complex::new(self.re.read().re, self.im.read().re)
            }
            fn tolerance(k: usize) -> Option<f64> {
                <$part as Value>::tolerance(2 * k)
            }
        }
    )*};
}

complex_values! { Complex64, f32, f32::EPSILON; Complex128, f64, f64::EPSILON; Complex32, f16, 0.0005; }

/// A stack of matrices in memory, in some order of strides.
struct Matrix<T> {
    values: Vec<T>,
    sizes: [i64; 3],
    strides: [i64; 3],
}

impl<T: Value> Matrix<T> {
    fn random(random: &mut Random, sizes: [usize; 3], order: usize) -> Matrix<T> {
        let [batch, rows, columns] = sizes;
        let strides = match order % 4 {
            0 => [rows * columns, columns, 1],
            1 => [rows * columns, 1, rows],
            // With gaps, and with both steps larger than 1.
            2 => [rows * (columns + 3), columns + 3, 1],
            _ => [rows * columns * 6, 2 * columns * 3, 3],
        };
        let len = batch * strides[0].max(rows * columns) + rows * strides[1] + columns * strides[2] + 1;
        let values = (0..len).map(|_| T::make(random.real(), random.real())).collect();
        Matrix { values, sizes: sizes.map(|size| size as i64), strides: strides.map(|step| step as i64) }
    }

    fn stack(&mut self) -> Array<'_> {
        // SAFETY: the vector was allocated for exactly these sizes and strides and outlives the array.
        unsafe { Array::new(self.values.as_mut_ptr().cast(), T::DTYPE, &self.sizes, &self.strides) }
    }

    fn matrix(&mut self) -> Array<'_> {
        // SAFETY: the first matrix of the stack: the vector holds all elements of these sizes and strides.
        unsafe { Array::new(self.values.as_mut_ptr().cast(), T::DTYPE, &self.sizes[1..], &self.strides[1..]) }
    }

    fn get(&self, batch: usize, row: usize, column: usize) -> T {
        let at = batch * self.strides[0] as usize + row * self.strides[1] as usize + column * self.strides[2] as usize;
        self.values[at]
    }
}

/// alpha a b + beta c at one position, in double precision.
fn expected<T: Value>(a: &Matrix<T>, b: &Matrix<T>, at: [usize; 3], k: usize) -> Complex<f64> {
    (0..k).map(|p| a.get(at[0], at[1], p).read() * b.get(at[0], p, at[2]).read()).sum()
}

fn check<T: Value, O: Value>(
    a: &Matrix<T>,
    b: &Matrix<T>,
    out: &Matrix<O>,
    k: usize,
    what: &str,
    finish: impl Fn([usize; 3], Complex<f64>) -> Complex<f64>,
) {
    let [batch, m, n] = out.sizes.map(|size| size as usize);
    for (batch, row) in (0..batch).flat_map(|batch| (0..m).map(move |row| (batch, row))) {
        for column in 0..n {
            let at = [batch, row, column];
            let wanted = finish(at, expected(a, b, at, k));
            let got = out.get(batch, row, column).read();
            let close = match O::tolerance(k) {
                None => got.re == O::wrap(wanted.re),
                Some(tolerance) => (got - wanted).norm() <= tolerance * 4.0,
            };
            assert!(close, "{what}: at {at:?} of {m} x {n} x {k}: {got}, expected {wanted}");
        }
    }
}

const SIZES: [usize; 14] = [0, 1, 2, 3, 5, 7, 11, 13, 16, 17, 31, 33, 61, 97];

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

fn products_of<T: Value>(rounds: usize) {
    let mut random = Random(rounds as u64 + T::DTYPE as u64);
    for level in levels() {
        for round in 0..rounds {
            let mut size = || SIZES[random.below(SIZES.len())];
            let (m, n) = (size(), size());
            // Some long enough for two blocks of k, of the arithmetic with the longest.
            let k = if round % 5 == 4 { 1030 + size() } else { size() };
            let (m, n) = if k > 1000 { (m.min(31), n.min(33)) } else { (m, n) };
            let mut a = Matrix::<T>::random(&mut random, [1, m, k], round);
            let mut b = Matrix::<T>::random(&mut random, [1, k, n], round / 4);
            let (order, addend) = (random.below(4), random.below(4));
            let mut out = Matrix::<T>::random(&mut random, [1, m, n], order);
            let what = format!("{} at {}", T::DTYPE, level.name());
            gemm_at(level, &out.matrix(), &a.matrix(), &b.matrix(), &Epilogue::default()).unwrap();
            check(&a, &b, &out, k, &what, |_, sum| sum);
            // A row, a column, a scalar, or a matrix is added; with factors if the type is half precision.
            let shape = [[1, 1, n], [1, m, 1], [1, 1, 1], [1, m, n]][addend];
            let mut c = Matrix::<T>::random(&mut random, shape, round + 1);
            let (alpha, beta) = if round % 3 == 0 { (1, 1) } else { (2, 3) };
            {
                let c = c.matrix();
                let add = Some((&c, Scalar::Int(beta)));
                let epilogue = Epilogue { alpha: Scalar::Int(alpha), add, after: None };
                gemm_at(level, &out.matrix(), &a.matrix(), &b.matrix(), &epilogue).unwrap();
            }
            check(&a, &b, &out, k, &what, |[_, row, column], sum| {
                let added = c.get(0, row.min(shape[1] - 1), column.min(shape[2] - 1)).read();
                sum * alpha as f64 + added * beta as f64
            });
        }
    }
}

#[test]
fn floats_at_every_level() {
    products_of::<f32>(40);
    products_of::<f64>(40);
}

#[test]
fn half_precision_at_every_level() {
    products_of::<f16>(25);
    products_of::<bf16>(25);
}

#[test]
fn integers_at_every_level() {
    products_of::<u8>(20);
    products_of::<i8>(20);
    products_of::<i16>(20);
    products_of::<i32>(20);
    products_of::<i64>(20);
}

#[test]
fn complex_numbers_at_every_level() {
    products_of::<Complex32>(20);
    products_of::<Complex64>(20);
    products_of::<Complex128>(20);
}

/// Rows of every height that the tiles of lanes have, and the last columns alone.
#[test]
fn many_rows_that_run_along_k_as_the_columns_do() {
    let mut random = Random(23);
    for level in levels() {
        for (m, n, k) in [(97, 70, 300), (17, 18, 256), (130, 23, 271), (12, 5, 64)] {
            let mut a = Matrix::<f32>::random(&mut random, [1, m, k], 0);
            let mut b = Matrix::<f32>::random(&mut random, [1, k, n], 1);
            let mut out = Matrix::<f32>::random(&mut random, [1, m, n], 0);
            gemm_at(level, &out.matrix(), &a.matrix(), &b.matrix(), &Epilogue::default()).unwrap();
            check(&a, &b, &out, k, level.name(), |_, sum| sum);
        }
    }
}

#[test]
fn bytes_into_32_bits() {
    let mut random = Random(9);
    for level in levels() {
        for (m, n, k) in [(3, 5, 7), (17, 33, 64), (13, 40, 1100), (64, 64, 63), (1, 70, 300), (70, 1, 300)] {
            let mut a = Matrix::<i8>::random(&mut random, [1, m, k], m);
            let mut b = Matrix::<i8>::random(&mut random, [1, k, n], n);
            // The extremes: a sum of pairs must not saturate.
            a.values.iter_mut().take(k).for_each(|value| *value = i8::MIN);
            b.values.iter_mut().take(n).for_each(|value| *value = i8::MIN);
            let mut out = Matrix::<i32>::random(&mut random, [1, m, n], 0);
            gemm_at(level, &out.matrix(), &a.matrix(), &b.matrix(), &Epilogue::default()).unwrap();
            for row in 0..m {
                for column in 0..n {
                    let wanted: i32 =
                        (0..k).map(|p| i32::from(a.get(0, row, p)) * i32::from(b.get(0, p, column))).sum();
                    assert_eq!(out.get(0, row, column), wanted, "{m} x {n} x {k} at {}", level.name());
                }
            }
        }
    }
}

#[test]
fn an_output_that_is_also_the_addend() {
    let mut a = Matrix::<f32> { values: vec![1.0, f32::NAN, -1.0], sizes: [1, 3, 1], strides: [3, 1, 1] };
    let mut b = Matrix::<f32> { values: vec![2.0], sizes: [1, 1, 1], strides: [1, 1, 1] };
    let mut out = Matrix::<f32> { values: vec![1.0, 1.0, 1.0], sizes: [1, 3, 1], strides: [3, 1, 1] };
    let to = out.matrix();
    let epilogue = Epilogue { add: Some((&to, Scalar::Int(10))), ..Default::default() };
    gemm_with(&to, &a.matrix(), &b.matrix(), &epilogue).unwrap();
    assert_eq!(out.values[0], 12.0);
    assert!(out.values[1].is_nan());
    assert_eq!(out.values[2], 8.0);
}

#[test]
fn an_addend_with_the_factor_0_is_not_read() {
    let mut random = Random(4);
    let mut a = Matrix::<f32>::random(&mut random, [1, 5, 9], 0);
    let mut b = Matrix::<f32>::random(&mut random, [1, 9, 4], 0);
    let mut out = Matrix::<f32>::random(&mut random, [1, 5, 4], 0);
    out.values.fill(f32::NAN);
    let to = out.matrix();
    gemm(&to, &a.matrix(), &b.matrix(), Some((&to, Scalar::Int(0))), Scalar::Int(1)).unwrap();
    check(&a, &b, &out, 9, "beta 0", |_, sum| sum);
}

#[test]
fn stacks_with_broadcast_operands_and_a_bias() {
    let mut random = Random(12);
    for (round, (batch, m, n, k)) in
        [(5, 7, 9, 11), (40, 16, 16, 16), (3, 65, 70, 80), (0, 3, 3, 3), (4, 1, 50, 60)].into_iter().enumerate()
    {
        let mut a = Matrix::<f32>::random(&mut random, [batch, m, k], round);
        let mut b = Matrix::<f32>::random(&mut random, [batch, k, n], round + 1);
        if round % 2 == 0 {
            b.strides[0] = 0;
        }
        let mut out = Matrix::<f32>::random(&mut random, [batch, m, n], 0);
        let mut bias = Matrix::<f32>::random(&mut random, [1, 1, n], 0);
        for level in levels() {
            {
                let bias = bias.stack();
                let epilogue = Epilogue { add: Some((&bias, Scalar::Int(1))), ..Default::default() };
                batched_at(level, &out.stack(), &a.stack(), &b.stack(), &epilogue).unwrap();
            }
            check(&a, &b, &out, k, "stack", |at, sum| sum + bias.get(0, 0, at[2]).read());
        }
    }
}

/// A matrix, filled in panel by panel.
struct Copied<'a, T> {
    of: &'a Matrix<T>,
    left: bool,
}

impl<T: Value> Panels<T> for Copied<'_, T> {
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: *mut T, width: usize) {
        // SAFETY: the caller provides a panel of so many elements.
        let panel = unsafe { std::slice::from_raw_parts_mut(panel, depth.len() * width) };
        for (row, p) in panel.chunks_mut(width).zip(depth) {
            for (to, lane) in row.iter_mut().zip(lanes.clone()) {
                *to = if self.left { self.of.get(0, lane, p) } else { self.of.get(0, p, lane) };
            }
        }
    }
}

/// Bits of the elements: compared bitwise.
fn bits<T: Value>(matrix: &Matrix<T>) -> Vec<String> {
    matrix.values.iter().map(|value| format!("{:?}", value.read())).collect()
}

fn packed_and_filled_like_plain<T: Value>() {
    let mut random = Random(77);
    for (round, (m, n, k)) in
        [(1, 40, 30), (5, 7, 3), (20, 64, 250), (70, 90, 50), (33, 100, 1100), (3, 3, 0)].into_iter().enumerate()
    {
        for level in levels() {
            let mut a = Matrix::<T>::random(&mut random, [1, m, k], round);
            let mut b = Matrix::<T>::random(&mut random, [1, k, n], round / 2);
            let mut out = Matrix::<T>::random(&mut random, [1, m, n], 0);
            let plain = Epilogue::default();
            gemm_at(level, &out.matrix(), &a.matrix(), &b.matrix(), &plain).unwrap();
            let wanted = bits(&out);
            let packed = PackedB::for_output(&b.matrix(), T::DTYPE, level).unwrap();
            out.values[..m * n].fill(T::default());
            gemm_packed(&out.matrix(), &a.matrix(), &packed, &plain).unwrap();
            assert_eq!(bits(&out), wanted, "packed, {m} x {n} x {k} of {} at {}", T::DTYPE, level.name());
            out.values[..m * n].fill(T::default());
            let (left, right) = (Copied { of: &a, left: true }, Copied { of: &b, left: false });
            let (left, right) = (Factor::Panels([m, k], &left as &dyn Panels<T>), Factor::Panels([k, n], &right));
            panels_at(level, T::DTYPE, &out.matrix(), left, right, &plain).unwrap();
            assert_eq!(bits(&out), wanted, "filled, {m} x {n} x {k} of {} at {}", T::DTYPE, level.name());
        }
    }
}

#[test]
fn packed_and_filled_operands_are_bitwise_equal() {
    packed_and_filled_like_plain::<f32>();
    packed_and_filled_like_plain::<f64>();
    packed_and_filled_like_plain::<bf16>();
    packed_and_filled_like_plain::<f16>();
    packed_and_filled_like_plain::<i8>();
    packed_and_filled_like_plain::<i32>();
    packed_and_filled_like_plain::<Complex64>();
}

/// In tiles that store their sums, in tiles of rows in place, and in transposed outputs, whose tiles are finished later.
#[test]
fn additions_and_functions_follow_packed_products() {
    let mut random = Random(91);
    for (round, (m, n, k)) in
        [(1, 40, 30), (5, 7, 3), (20, 64, 250), (70, 300, 50), (33, 100, 1100), (9, 48, 0)].into_iter().enumerate()
    {
        for level in levels() {
            for order in [0, 1] {
                let mut a = Matrix::<f32>::random(&mut random, [1, m, k], round);
                let mut b = Matrix::<f32>::random(&mut random, [1, k, n], 0);
                let mut add = Matrix::<f32>::random(&mut random, [1, m, n], order);
                let mut bias = Matrix::<f32>::random(&mut random, [1, 1, n], 0);
                let mut plain = Matrix::<f32>::random(&mut random, [1, m, n], order);
                let mut out = Matrix::<f32>::random(&mut random, [1, m, n], order);
                let packed = PackedB::for_output(&b.matrix(), DType::F32, level).unwrap();
                let bias = bias.matrix();
                let epilogue = Epilogue { add: Some((&bias, Scalar::Int(1))), ..Epilogue::default() };
                gemm_packed(&plain.matrix(), &a.matrix(), &packed, &epilogue).unwrap();
                for then in [finish::Activation::Clamp(-0.5, 1.0), finish::Activation::LeakyRelu(0.25)] {
                    {
                        let (to, from, addend) = (out.matrix(), a.matrix(), add.matrix());
                        let finish = Finish { add: Some(&addend), then };
                        let product = |epilogue: &Epilogue| gemm_packed(&to, &from, &packed, epilogue);
                        finish.product(&to, Some(&bias), product).unwrap();
                    }
                    for row in 0..m {
                        for column in 0..n {
                            let sum = plain.get(0, row, column) + add.get(0, row, column);
                            let wanted = match then {
                                finish::Activation::Clamp(low, high) => sum.clamp(low, high),
                                _ => {
                                    if sum > 0.0 {
                                        sum
                                    } else {
                                        0.25 * sum
                                    }
                                }
                            };
                            let found = out.get(0, row, column);
                            assert_eq!(found, wanted, "{row}, {column} of {m} x {n} x {k} at {}", level.name());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_packed_operand_of_another_dtype_or_shape_is_an_error() {
    let mut random = Random(3);
    let mut b = Matrix::<f32>::random(&mut random, [1, 4, 5], 0);
    let packed = PackedB::new(&b.matrix()).unwrap();
    assert_eq!((packed.sizes(), packed.dtype()), ([4, 5], DType::F32));
    let mut a = Matrix::<f64>::random(&mut random, [1, 3, 4], 0);
    let mut out = Matrix::<f64>::random(&mut random, [1, 3, 5], 0);
    assert!(gemm_packed(&out.matrix(), &a.matrix(), &packed, &Epilogue::default()).is_err());
    let mut a = Matrix::<f32>::random(&mut random, [1, 3, 6], 0);
    let mut out = Matrix::<f32>::random(&mut random, [1, 3, 5], 0);
    assert!(gemm_packed(&out.matrix(), &a.matrix(), &packed, &Epilogue::default()).is_err());
}

fn same_on_any_threads<T: Value>(shapes: &[(usize, usize, usize)]) {
    let _turn = THREADS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = runtime::num_threads();
    let mut random = Random(5);
    for &(m, n, k) in shapes {
        let mut a = Matrix::<T>::random(&mut random, [1, m, k], 0);
        let mut b = Matrix::<T>::random(&mut random, [1, k, n], m + k);
        let mut out = Matrix::<T>::random(&mut random, [1, m, n], 0);
        let mut results = [1, 2, 3, 8].into_iter().map(|threads| {
            runtime::set_num_threads(threads).unwrap();
            out.values.fill(T::default());
            gemm_with(&out.matrix(), &a.matrix(), &b.matrix(), &Epilogue::default()).unwrap();
            bits(&out)
        });
        let one = results.next().unwrap();
        assert!(results.all(|other| other == one), "{m} x {n} x {k} of {}", T::DTYPE);
    }
    runtime::set_num_threads(before as i64).unwrap();
}

#[test]
fn results_are_bitwise_equal_for_any_number_of_threads() {
    let shapes = [
        (200, 150, 600),
        (1, 3000, 700),
        (1, 3000, 1103),
        (3000, 1, 700),
        (8, 1030, 516),
        (64, 64, 64),
        (500, 3, 300),
        (97, 70, 300),
    ];
    same_on_any_threads::<f32>(&shapes);
    same_on_any_threads::<f64>(&shapes[..4]);
    same_on_any_threads::<bf16>(&shapes);
    same_on_any_threads::<Complex64>(&shapes[..5]);
}

#[test]
fn pairs_and_fours_where_matrix_registers_would_be_chosen() {
    let mut random = Random(31);
    for (m, n, k) in [(3, 5, 7), (17, 33, 64), (13, 40, 1100), (40, 64, 63)] {
        if let Some(ways) = ways::brain_pairs(Level::Avx512).filter(|_| Level::Avx512.is_available()) {
            let (mut a, mut b) =
                (Matrix::<bf16>::random(&mut random, [1, m, k], m), Matrix::<bf16>::random(&mut random, [1, k, n], n));
            let mut out = Matrix::<bf16>::random(&mut random, [1, m, n], 0);
            solve_by(&ways, &mut out, &mut a, &mut b);
            check(&a, &b, &out, k, "pairs", |_, sum| sum);
        }
        if let Some(ways) = ways::byte_fours(Level::Avx512).filter(|_| Level::Avx512.is_available()) {
            let (mut a, mut b) =
                (Matrix::<i8>::random(&mut random, [1, m, k], m), Matrix::<i8>::random(&mut random, [1, k, n], n));
            a.values.iter_mut().take(k).for_each(|value| *value = i8::MIN);
            let mut out = Matrix::<i32>::random(&mut random, [1, m, n], 0);
            solve_by(&ways, &mut out, &mut a, &mut b);
            check(&a, &b, &out, k, "fours", |_, sum| sum);
        }
    }
}

fn solve_by<T: Value, O: Value>(ways: &Ways, out: &mut Matrix<O>, a: &mut Matrix<T>, b: &mut Matrix<T>) {
    let (out, a, b) = (out.matrix(), a.matrix(), b.matrix());
    let sizes = [a.size(0), a.size(1), b.size(0), b.size(1)];
    let (left, right) = (Operand::Strided(rows(&a)), Operand::Strided(columns(&b)));
    solve(ways, &out, sizes, true, left, right, &Epilogue::default()).unwrap();
}

/// The matrix that a matrix in less precision stands for.
fn narrowed(b: &Matrix<f32>, k: usize, n: usize, dtype: DType) -> Matrix<f32> {
    let mut values = vec![0.0; k * n];
    for column in 0..n {
        let scale = (0..k).fold(0.0f32, |most, p| most.max(b.get(0, p, column).abs())) / 127.0;
        for p in 0..k {
            let value = b.get(0, p, column);
            values[p * n + column] = match dtype {
                DType::BF16 => bf16::from_f32(value).to_f32(),
                _ if scale == 0.0 => 0.0,
                _ => (value / scale).round_ties_even() * scale,
            };
        }
    }
    Matrix { values, sizes: [1, k as i64, n as i64], strides: [(k * n) as i64, n as i64, 1] }
}

/// Few rows, whose elements are converted in registers, and many, of all heights of tiles, with an addend and a ReLU; with
/// several blocks of k, and last panels of every width.
#[test]
fn matrices_in_less_precision_at_every_level() {
    let mut random = Random(41);
    for level in levels() {
        let heights = (1..=40).map(|m| (m, 1 + m * 7 % 67, 3 + m * 5 % 30));
        let others = [(1, 100, 1100), (3, 33, 1537), (12, 64, 1030), (13, 31, 2060), (50, 70, 1300), (97, 200, 40)];
        for (round, (m, n, k)) in heights.chain(others).chain([(2, 40, 0), (0, 5, 3)]).enumerate() {
            let mut a = Matrix::<f32>::random(&mut random, [1, m, k], round);
            let mut b = Matrix::<f32>::random(&mut random, [1, k, n], round / 2);
            if n > 4 && k > 0 {
                // A column of zeros has the scale 0.
                let (step, first) = (b.strides[1] as usize, 4 * b.strides[2] as usize);
                (0..k).for_each(|p| b.values[first + p * step] = 0.0);
            }
            let mut out = Matrix::<f32>::random(&mut random, [1, m, n], round / 3);
            let mut bias = Matrix::<f32>::random(&mut random, [1, 1, n], 0);
            for dtype in [DType::BF16, DType::I8] {
                let narrow = NarrowB::at(level, &b.matrix(), dtype).unwrap().unwrap();
                let rounded = narrowed(&b, k, n, dtype);
                let what = format!("{dtype} at {}", level.name());
                out.values.fill(f32::NAN);
                gemm_narrow(&out.matrix(), &a.matrix(), &narrow, &Epilogue::default()).unwrap();
                check(&a, &rounded, &out, k, &what, |_, sum| sum);
                out.values.fill(f32::NAN);
                {
                    let (to, from, bias) = (out.matrix(), a.matrix(), bias.matrix());
                    let finish = Finish { add: None, then: finish::Activation::Clamp(0.0, f32::INFINITY) };
                    let product = |epilogue: &Epilogue| gemm_narrow(&to, &from, &narrow, epilogue);
                    finish.product(&to, Some(&bias), product).unwrap();
                }
                check(&a, &rounded, &out, k, &what, |at, sum| {
                    Complex::new((sum.re + f64::from(bias.get(0, 0, at[2]))).max(0.0), 0.0)
                });
            }
        }
    }
}

#[test]
fn matrices_in_less_precision_take_less_memory_and_reject_what_they_cannot_hold() {
    let mut random = Random(42);
    let mut b = Matrix::<f32>::random(&mut random, [1, 600, 256], 1);
    let bytes = |b: &mut Matrix<f32>, dtype| NarrowB::new(&b.matrix(), dtype).unwrap().map(|narrow| narrow.bytes());
    // Panels are whole. Those of NEON have 12 columns; other levels have a divisor of 256.
    let columns = 256_usize.next_multiple_of(12);
    assert!(bytes(&mut b, DType::BF16).unwrap() <= 600 * columns * 2 + 2048);
    assert!(bytes(&mut b, DType::I8).unwrap() <= 600 * columns + columns * 4 * 3 + 2048);
    assert!(NarrowB::new(&b.matrix(), DType::F16).is_err());
    b.values[700] = f32::INFINITY;
    assert_eq!(bytes(&mut b, DType::I8), None);
    let narrow = NarrowB::new(&b.matrix(), DType::BF16).unwrap().unwrap();
    assert_eq!((narrow.sizes(), narrow.dtype()), ([600, 256], DType::BF16));
    let mut a = Matrix::<f32>::random(&mut random, [1, 2, 5], 0);
    let mut out = Matrix::<f32>::random(&mut random, [1, 2, 256], 0);
    assert!(gemm_narrow(&out.matrix(), &a.matrix(), &narrow, &Epilogue::default()).is_err());
}

#[test]
fn products_in_less_precision_are_bitwise_equal_for_any_number_of_threads() {
    let _turn = THREADS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = runtime::num_threads();
    let mut random = Random(43);
    for (m, n, k) in [(1, 3000, 1100), (8, 1030, 516), (60, 500, 600), (300, 400, 1100)] {
        let mut a = Matrix::<f32>::random(&mut random, [1, m, k], 0);
        let mut b = Matrix::<f32>::random(&mut random, [1, k, n], m);
        let mut out = Matrix::<f32>::random(&mut random, [1, m, n], 0);
        for dtype in [DType::BF16, DType::I8] {
            let narrow = NarrowB::new(&b.matrix(), dtype).unwrap().unwrap();
            let mut results = [1, 2, 5].into_iter().map(|threads| {
                runtime::set_num_threads(threads).unwrap();
                gemm_narrow(&out.matrix(), &a.matrix(), &narrow, &Epilogue::default()).unwrap();
                bits(&out)
            });
            let one = results.next().unwrap();
            assert!(results.all(|other| other == one), "{m} x {n} x {k} of {dtype}");
        }
    }
    runtime::set_num_threads(before as i64).unwrap();
}
