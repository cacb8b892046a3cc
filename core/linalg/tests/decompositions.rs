//! Every decomposition, multiplied out again: in the four dtypes, from strided batches, below and above the orders at
//! which algorithms change.

use num_complex::Complex;
use rushlight_base::DType;
use rushlight_cpu::Array;
use rushlight_linalg::*;

/// A batch of matrices in a layout of its own.
struct Tensor {
    numbers: Vec<Complex<f64>>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl Tensor {
    fn new(sizes: &[i64], row_major: bool) -> Tensor {
        let mut strides = vec![1; sizes.len()];
        for dim in (0..sizes.len().saturating_sub(1)).rev() {
            strides[dim] = strides[dim + 1] * sizes[dim + 1].max(1);
        }
        if !row_major && sizes.len() >= 2 {
            let last = sizes.len() - 1;
            (strides[last], strides[last - 1]) = (sizes[last - 1].max(1), 1);
        }
        Tensor {
            numbers: vec![Complex::new(0.0, 0.0); sizes.iter().product::<i64>() as usize],
            sizes: sizes.to_vec(),
            strides,
        }
    }

    /// Numbers between -1 and 1 that depend on the seed alone.
    fn random(sizes: &[i64], seed: u64, row_major: bool) -> Tensor {
        let mut tensor = Tensor::new(sizes, row_major);
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        tensor.numbers.iter_mut().for_each(|number| *number = Complex::new(next(), next()));
        tensor
    }

    fn array(&mut self) -> Array<'_> {
        // SAFETY: the strides are those of `new`, within `numbers`, which is borrowed mutably.
        unsafe { Array::new(self.numbers.as_mut_ptr().cast(), DType::C128, &self.sizes, &self.strides) }
    }

    fn at(&self, batch: i64, row: i64, column: i64) -> Complex<f64> {
        let last = self.sizes.len() - 1;
        let base = if last >= 2 { batch * self.strides[0] } else { 0 };
        self.numbers[(base + row * self.strides[last - 1] + column * self.strides[last]) as usize]
    }

    fn rows(&self) -> i64 {
        self.sizes[self.sizes.len() - 2]
    }

    fn columns(&self) -> i64 {
        self.sizes[self.sizes.len() - 1]
    }

    fn map(&self, sizes: &[i64], value: impl Fn(i64, i64, i64) -> Complex<f64>) -> Tensor {
        let mut result = Tensor::new(sizes, true);
        for (index, number) in result.numbers.iter_mut().enumerate() {
            let (index, rows, columns) = (index as i64, sizes[1], sizes[2]);
            *number = value(index / (rows * columns), index / columns % rows, index % columns);
        }
        result
    }

    fn times(&self, other: &Tensor) -> Tensor {
        self.map(&[self.sizes[0], self.rows(), other.columns()], |batch, row, column| {
            (0..self.columns()).map(|inner| self.at(batch, row, inner) * other.at(batch, inner, column)).sum()
        })
    }

    fn adjoint(&self) -> Tensor {
        self.map(&[self.sizes[0], self.columns(), self.rows()], |batch, row, column| self.at(batch, column, row).conj())
    }

    fn distance(&self, other: &Tensor) -> f64 {
        assert_eq!(self.sizes, other.sizes);
        let mut most = 0.0f64;
        for batch in 0..self.sizes[0] {
            for row in 0..self.rows() {
                for column in 0..self.columns() {
                    most = most.max((self.at(batch, row, column) - other.at(batch, row, column)).norm());
                }
            }
        }
        most
    }
}

/// Status of a batch.
struct Status {
    numbers: Vec<i32>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl Status {
    fn new(sizes: &[i64]) -> Status {
        let tensor = Tensor::new(sizes, true);
        Status { numbers: vec![-7; tensor.numbers.len()], sizes: tensor.sizes, strides: tensor.strides }
    }

    fn array(&mut self) -> Array<'_> {
        // SAFETY: row-major strides, within `numbers`, which is borrowed mutably.
        unsafe { Array::new(self.numbers.as_mut_ptr().cast(), DType::I32, &self.sizes, &self.strides) }
    }
}

/// Orders around those at which algorithms change.
const ORDERS: [i64; 7] = [1, 2, 5, 16, 25, 70, 130];

#[test]
fn lu_solves_from_both_sides_and_with_the_adjoint() {
    for order in ORDERS {
        let mut a = Tensor::random(&[2, order, order], 3, order % 2 == 0);
        let mut factors = Tensor::new(&[2, order, order], order % 2 == 1);
        let (mut pivots, mut info) = (Status::new(&[2, order]), Status::new(&[2]));
        lu_factor(&factors.array(), &pivots.array(), &info.array(), &a.array()).unwrap();
        assert_eq!(info.numbers, [0, 0]);
        for (left, adjoint) in [(true, false), (true, true), (false, false), (false, true)] {
            let sizes = if left { [2, order, 3] } else { [2, 3, order] };
            let (mut b, mut x) = (Tensor::random(&sizes, 5, true), Tensor::new(&sizes, adjoint));
            lu_solve(&x.array(), &factors.array(), &pivots.array(), &b.array(), Side { left, adjoint }).unwrap();
            let matrix = if adjoint { a.adjoint() } else { a.map(&[2, order, order], |b, i, j| a.at(b, i, j)) };
            let product = if left { matrix.times(&x) } else { x.times(&matrix) };
            assert!(product.distance(&b) < 1e-9, "order {order}, left {left}, adjoint {adjoint}");
        }
    }
}

/// Matrices that a batch has several of are solved in groups: with the same pivots and the same rounding as one by one.
#[test]
fn groups_of_small_matrices_are_solved_like_single_ones() {
    const COUNT: i64 = 11;
    for order in [1, 2, 4, 8, 9, 16] {
        let square = [COUNT, order, order];
        let mut a = Tensor::random(&square, 31, true);
        // A singular matrix, one whose pivots have no normal reciprocal, and one with NaN.
        let size = (order * order) as usize;
        a.numbers[3 * size..4 * size].fill(Complex::new(0.0, 0.0));
        a.numbers[5 * size..6 * size].iter_mut().for_each(|number| *number *= 1e-309);
        a.numbers[7 * size] = Complex::new(f64::NAN, 0.0);
        let mut b = Tensor::random(&[COUNT, order, 3], 37, true);
        let (together, whole) = solved(&mut a, &mut b);
        for index in 0..COUNT as usize {
            let part = |of: &Tensor| {
                let mut single = Tensor::new(&[1, of.sizes[1], of.sizes[2]], true);
                let count = single.numbers.len();
                single.numbers.copy_from_slice(&of.numbers[index * count..(index + 1) * count]);
                single
            };
            let (alone, whole_alone) = solved(&mut part(&a), &mut part(&b));
            for (nth, (all, own)) in together.iter().zip(&alone).enumerate() {
                let bits = |number: &Complex<f64>| {
                    [number.re, number.im].map(|part| if part.is_nan() { f64::NAN.to_bits() } else { part.to_bits() })
                };
                let all = all[index * own.len()..(index + 1) * own.len()].iter().map(bits);
                assert!(all.eq(own.iter().map(bits)), "order {order}, matrix {index}, result {nth}");
            }
            for (all, own) in whole.iter().zip(&whole_alone) {
                assert_eq!(all[index * own.len()..(index + 1) * own.len()], own[..], "order {order}, matrix {index}");
            }
        }
    }
}

/// The results of all functions that solve groups, and their pivots and status.
fn solved(a: &mut Tensor, b: &mut Tensor) -> (Vec<Vec<Complex<f64>>>, Vec<Vec<i32>>) {
    let (square, right) = (a.sizes.clone(), b.sizes.clone());
    let (mut x, mut factors) = (Tensor::new(&right, false), Tensor::new(&square, false));
    let (mut pivots, mut info) = (Status::new(&square[..2]), Status::new(&square[..1]));
    solve([&x.array(), &factors.array(), &pivots.array(), &info.array()], &a.array(), &b.array(), true).unwrap();
    let (mut again, mut inverted) = (Tensor::new(&right, true), Tensor::new(&square, true));
    let side = Side { left: true, adjoint: false };
    lu_solve(&again.array(), &factors.array(), &pivots.array(), &b.array(), side).unwrap();
    let mut status = Status::new(&square[..1]);
    inverse(&inverted.array(), &status.array(), &a.array()).unwrap();
    let mut numbers = vec![x.numbers, again.numbers, inverted.numbers];
    for upper in [false, true] {
        let mut x = Tensor::new(&right, upper);
        cholesky_solve(&x.array(), &b.array(), &a.array(), upper).unwrap();
        numbers.push(x.numbers);
    }
    let mut whole = vec![pivots.numbers, info.numbers, status.numbers];
    let (mut pivots, mut info) = (Status::new(&square[..2]), Status::new(&square[..1]));
    let mut second = Tensor::new(&square, true);
    lu_factor(&second.array(), &pivots.array(), &info.array(), &a.array()).unwrap();
    numbers.extend([factors.numbers, second.numbers]);
    whole.extend([pivots.numbers, info.numbers]);
    (numbers, whole)
}

#[test]
fn the_first_zero_on_the_diagonal_is_the_status() {
    let mut a = Tensor::new(&[2, 3, 3], true);
    for (index, value) in [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 1.0, 1.0].into_iter().enumerate() {
        a.numbers[index] = Complex::new(value, 0.0);
        a.numbers[index + 9] = Complex::new(if index % 4 == 0 { 1.0 } else { 0.0 }, 0.0);
    }
    let mut out = Tensor::new(&[2, 3, 3], false);
    let mut info = Status::new(&[2]);
    inverse(&out.array(), &info.array(), &a.array()).unwrap();
    assert_eq!(info.numbers, [3, 0]);
}

#[test]
fn cholesky_factors_multiply_to_the_matrix() {
    for order in ORDERS {
        let half = Tensor::random(&[2, order, order], 7, true);
        let square = half.times(&half.adjoint());
        let mut a = square.map(&[2, order, order], |batch, row, column| {
            square.at(batch, row, column) + if row == column { order as f64 } else { 0.0 }
        });
        for upper in [false, true] {
            let (mut out, mut info) = (Tensor::new(&[2, order, order], upper), Status::new(&[2]));
            cholesky(&out.array(), &info.array(), &a.array(), upper).unwrap();
            assert_eq!(info.numbers, [0, 0]);
            let product = if upper { out.adjoint().times(&out) } else { out.times(&out.adjoint()) };
            assert!(product.distance(&a) < 1e-9 * order as f64, "order {order}, upper {upper}");
        }
    }
}

#[test]
fn qr_factors_multiply_to_the_matrix_and_q_is_unitary() {
    for (rows, columns) in [(1, 1), (5, 3), (3, 5), (40, 25), (70, 70), (150, 90), (90, 150)] {
        let order = rows.min(columns);
        let mut a = Tensor::random(&[2, rows, columns], 11, rows > columns);
        let (mut q, mut r) = (Tensor::new(&[2, rows, order], true), Tensor::new(&[2, order, columns], false));
        qr(Some(&q.array()), &r.array(), &a.array()).unwrap();
        assert!(q.times(&r).distance(&a) < 1e-10, "{rows} x {columns}");
        let identity = q.map(&[2, order, order], |_, row, column| Complex::new(f64::from(row == column), 0.0));
        assert!(q.adjoint().times(&q).distance(&identity) < 1e-12, "{rows} x {columns}");
    }
}

#[test]
fn reflections_apply_like_their_product() {
    let (rows, count) = (90i64, 60i64);
    let mut a = Tensor::random(&[2, rows, count], 13, true);
    let (mut packed, mut tau) = (Tensor::new(&[2, rows, count], false), Tensor::new(&[2, count], true));
    geqrf(&packed.array(), &tau.array(), &a.array()).unwrap();
    let mut c = Tensor::random(&[2, rows, 7], 17, true);
    let mut there = Tensor::new(&[2, rows, 7], true);
    let mut back = Tensor::new(&[2, rows, 7], false);
    let side = |adjoint| Side { left: true, adjoint };
    apply_reflections(&there.array(), &packed.array(), &tau.array(), &c.array(), side(true)).unwrap();
    apply_reflections(&back.array(), &packed.array(), &tau.array(), &there.array(), side(false)).unwrap();
    assert!(back.distance(&c) < 1e-12);
    let mut q = Tensor::new(&[2, rows, count], true);
    householder_product(&q.array(), &packed.array(), &tau.array()).unwrap();
    let top = there.map(&[2, count, 7], |batch, row, column| there.at(batch, row, column));
    assert!(q.adjoint().times(&c).distance(&top) < 1e-12);
}

#[test]
fn ldl_solves_hermitian_systems() {
    for order in ORDERS {
        let half = Tensor::random(&[2, order, order], 19, true);
        let mut a = half.map(&[2, order, order], |batch, row, column| {
            half.at(batch, row, column) + half.at(batch, column, row).conj()
        });
        let mut factors = Tensor::new(&[2, order, order], false);
        let (mut pivots, mut info) = (Status::new(&[2, order]), Status::new(&[2]));
        ldl_factor(&factors.array(), &pivots.array(), &info.array(), &a.array(), true).unwrap();
        let (mut b, mut x) = (Tensor::random(&[2, order, 2], 23, true), Tensor::new(&[2, order, 2], true));
        ldl_solve(&x.array(), &factors.array(), &pivots.array(), &b.array(), true).unwrap();
        assert!(a.times(&x).distance(&b) < 1e-8, "order {order}");
    }
}

#[test]
fn the_exponential_of_the_opposite_is_the_inverse() {
    for (order, scale) in [(1, 0.01), (3, 0.3), (3, 3.0), (20, 1.0)] {
        let base = Tensor::random(&[1, order, order], 29, true);
        let mut both = [scale, -scale].map(|scale| base.map(&[1, order, order], |b, i, j| base.at(b, i, j) * scale));
        let results = both.each_mut().map(|a| {
            let mut out = Tensor::new(&[1, order, order], false);
            exponential(&out.array(), &a.array()).unwrap();
            out
        });
        let identity = base.map(&[1, order, order], |_, row, column| Complex::new(f64::from(row == column), 0.0));
        assert!(results[0].times(&results[1]).distance(&identity) < 1e-9, "order {order}, scale {scale}");
    }
}
