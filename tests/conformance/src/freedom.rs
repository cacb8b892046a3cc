//! Freedom of operators, which the golden cases cannot determine: the stated rules of the runner, by operator.
//!
//! - Eigenvectors and singular vectors are determined up to a phase (a sign, if they are real): each computed column is
//!   multiplied by a phase to match the recorded one before they are compared, and its cotangent by the inverse phase,
//!   so that the same function is differentiated.
//! - The eigenvalues of a general matrix have no order: each is moved to the index of the nearest recorded one,
//!   together with its vector.
//! - Vectors that complete a basis (`full_matrices`) are determined up to a rotation of them all: the recorded ones are
//!   projected onto them, which leaves them as they are exactly if both span the same space.
//! - Uninitialized memory holds anything: of `empty` and similar operators only dtype, shape and strides are compared.

use crate::host::HostTensor;
use rushlight_base::Complex128;

/// Operators whose values are arbitrary.
const UNWRITTEN: [&str; 6] =
    ["empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"];

/// How vectors are stored in a result.
#[derive(Clone, Copy, PartialEq)]
enum Vectors {
    /// One in each column.
    Columns,
    /// One in each row.
    Rows,
}

/// A decomposition: which results hold vectors, how, and which holds values without an order.
struct Decomposition {
    name: &'static str,
    vectors: &'static [(usize, Vectors)],
    unordered: Option<usize>,
}

const DECOMPOSITIONS: &[Decomposition] = &[
    Decomposition { name: "linalg_eigh", vectors: &[(1, Vectors::Columns)], unordered: None },
    Decomposition { name: "_linalg_eigh", vectors: &[(1, Vectors::Columns)], unordered: None },
    Decomposition { name: "linalg_eig", vectors: &[(1, Vectors::Columns)], unordered: Some(0) },
    Decomposition { name: "linalg_eigvals", vectors: &[], unordered: Some(0) },
    Decomposition { name: "linalg_svd", vectors: &[(0, Vectors::Columns), (2, Vectors::Rows)], unordered: None },
    Decomposition { name: "_linalg_svd", vectors: &[(0, Vectors::Columns), (2, Vectors::Rows)], unordered: None },
    Decomposition { name: "svd", vectors: &[(0, Vectors::Columns), (2, Vectors::Columns)], unordered: None },
];

fn bare(name: &str) -> &str {
    name.strip_prefix("aten::").unwrap_or(name)
}

/// Whether result `at` of this operator holds vectors that are determined up to a phase.
pub fn has_phase(name: &str, at: usize) -> bool {
    let rule = DECOMPOSITIONS.iter().find(|rule| rule.name == bare(name));
    rule.is_some_and(|rule| rule.vectors.iter().any(|(vectors, _)| *vectors == at))
}

/// Whether the values of this operator's results are arbitrary.
pub fn is_unwritten(name: &str) -> bool {
    UNWRITTEN.contains(&bare(name))
}

/// Brings `actual` to the recorded choice where the operator `name` leaves one, and the cotangents to the actual one.
pub fn align(
    name: &str,
    actual: &mut [Option<HostTensor>],
    expected: &[Option<HostTensor>],
    cotangents: &mut [Option<HostTensor>],
) {
    let Some(rule) = DECOMPOSITIONS.iter().find(|rule| rule.name == bare(name)) else { return };
    // Results of another shape, or without values, differ in any alignment.
    let comparable = |at: usize| match (actual.get(at), expected.get(at)) {
        (Some(Some(actual)), Some(Some(expected))) => {
            actual.shape == expected.shape && actual.dtype == expected.dtype && expected.bytes.is_some()
        }
        _ => false,
    };
    if !(0..expected.len()).all(comparable) {
        return;
    }
    let orders = rule.unordered.map(|values| reorder(rule, values, actual, expected));
    let values = (0..expected.len()).find(|at| rule.vectors.iter().all(|(other, _)| other != at));
    let kept = values.and_then(|at| expected[at].as_ref()?.shape.last().copied());
    for &(at, vectors) in rule.vectors {
        if let (Some(Some(actual)), Some(Some(expected))) = (actual.get_mut(at), expected.get(at)) {
            let cotangent = cotangents.get_mut(at).and_then(Option::as_mut);
            turn(actual, expected, cotangent, vectors, kept);
        }
    }
    if let (Some(orders), Some(values)) = (orders, rule.unordered) {
        put_back(rule, values, &orders, cotangents);
    }
}

/// A batch of matrices of complex numbers, in columns that are vectors.
struct Matrices {
    rows: usize,
    columns: usize,
    vectors: Vectors,
    numbers: Vec<Complex128>,
}

impl Matrices {
    fn of(host: &HostTensor, vectors: Vectors) -> Matrices {
        let extent = |from_end: usize| host.shape[host.shape.len() - from_end] as usize;
        let (rows, columns) = if vectors == Vectors::Columns { (extent(2), extent(1)) } else { (extent(1), extent(2)) };
        Matrices { rows, columns, vectors, numbers: host.numbers() }
    }

    fn count(&self) -> usize {
        self.numbers.len() / (self.rows * self.columns).max(1)
    }

    fn at(&mut self, matrix: usize, row: usize, column: usize) -> &mut Complex128 {
        let place = match self.vectors {
            Vectors::Columns => row * self.columns + column,
            Vectors::Rows => column * self.rows + row,
        };
        &mut self.numbers[matrix * self.rows * self.columns + place]
    }

    fn column(&mut self, matrix: usize, column: usize) -> Vec<Complex128> {
        (0..self.rows).map(|row| *self.at(matrix, row, column)).collect()
    }

    fn set_column(&mut self, matrix: usize, column: usize, numbers: &[Complex128]) {
        for (row, number) in numbers.iter().enumerate() {
            *self.at(matrix, row, column) = *number;
        }
    }
}

/// conj(a) . b
fn product(a: &[Complex128], b: &[Complex128]) -> Complex128 {
    a.iter().zip(b).map(|(a, b)| a.conj() * b).sum()
}

fn scaled(column: Vec<Complex128>, by: Complex128) -> Vec<Complex128> {
    column.into_iter().map(|number| number * by).collect()
}

fn turn(
    actual: &mut HostTensor,
    expected: &HostTensor,
    cotangent: Option<&mut HostTensor>,
    vectors: Vectors,
    kept: Option<i64>,
) {
    let (mut found, mut wanted) = (Matrices::of(actual, vectors), Matrices::of(expected, vectors));
    let mut given = cotangent.as_ref().map(|host| Matrices::of(host, vectors));
    let kept = kept.map_or(found.columns, |kept| (kept as usize).min(found.columns));
    for matrix in 0..found.count() {
        for column in 0..kept {
            let overlap = product(&found.column(matrix, column), &wanted.column(matrix, column));
            let size = overlap.norm();
            let phase = if size > 0.0 { overlap / size } else { Complex128::new(1.0, 0.0) };
            let turned = scaled(found.column(matrix, column), phase);
            found.set_column(matrix, column, &turned);
            if let Some(given) = &mut given {
                let turned = scaled(given.column(matrix, column), phase.conj());
                given.set_column(matrix, column, &turned);
            }
        }
        let rest: Vec<Vec<Complex128>> = (kept..found.columns).map(|column| found.column(matrix, column)).collect();
        for column in kept..found.columns {
            let wanted = wanted.column(matrix, column);
            let mut projected = vec![Complex128::new(0.0, 0.0); found.rows];
            for vector in &rest {
                let part = product(vector, &wanted);
                projected.iter_mut().zip(vector).for_each(|(sum, number)| *sum += number * part);
            }
            found.set_column(matrix, column, &projected);
        }
    }
    actual.set_numbers(&found.numbers);
    if let (Some(host), Some(given)) = (cotangent, given) {
        host.set_numbers(&given.numbers);
    }
}

/// Moves each value to the nearest recorded one, together with its vectors. Returns the origin of each.
fn reorder(
    rule: &Decomposition,
    values: usize,
    actual: &mut [Option<HostTensor>],
    expected: &[Option<HostTensor>],
) -> Vec<Vec<usize>> {
    let (Some(found), Some(wanted)) = (&actual[values], &expected[values]) else { return Vec::new() };
    let length = last_extent(found);
    let (found, wanted) = (found.numbers(), wanted.numbers());
    let orders: Vec<Vec<usize>> =
        found.chunks(length).zip(wanted.chunks(length)).map(|(found, wanted)| nearest(found, wanted)).collect();
    each_place(rule, values, actual, |host, vectors| permute(host, vectors, &orders, false));
    orders
}

/// Moves the data of each recorded value, and of its vectors, to the library's order.
fn put_back(rule: &Decomposition, values: usize, orders: &[Vec<usize>], cotangents: &mut [Option<HostTensor>]) {
    each_place(rule, values, cotangents, |host, vectors| permute(host, vectors, orders, true));
}

fn each_place(
    rule: &Decomposition,
    values: usize,
    hosts: &mut [Option<HostTensor>],
    mut change: impl FnMut(&mut HostTensor, Option<Vectors>),
) {
    let places = rule.vectors.iter().map(|&(at, vectors)| (at, Some(vectors)));
    for (at, vectors) in std::iter::once((values, None)).chain(places) {
        if let Some(host) = hosts.get_mut(at).and_then(Option::as_mut) {
            change(host, vectors);
        }
    }
}

fn last_extent(host: &HostTensor) -> usize {
    host.shape.last().copied().unwrap_or(1).max(1) as usize
}

/// Moves value, or vector, `order[i]` of each matrix to index `i`, or back (`back`). Values are vectors of one row.
fn permute(host: &mut HostTensor, vectors: Option<Vectors>, orders: &[Vec<usize>], back: bool) {
    let matrices = |host: &HostTensor| match vectors {
        Some(vectors) => Matrices::of(host, vectors),
        None => Matrices { rows: 1, columns: last_extent(host), vectors: Vectors::Columns, numbers: host.numbers() },
    };
    let (mut moved, mut before) = (matrices(host), matrices(host));
    for (matrix, order) in orders.iter().enumerate() {
        for (to, &from) in order.iter().enumerate() {
            let (to, from) = if back { (from, to) } else { (to, from) };
            let column = before.column(matrix, from);
            moved.set_column(matrix, to, &column);
        }
    }
    host.set_numbers(&moved.numbers);
}

/// For each wanted number the index of the nearest one that is not taken yet.
fn nearest(found: &[Complex128], wanted: &[Complex128]) -> Vec<usize> {
    let mut free: Vec<usize> = (0..found.len()).collect();
    let distance = |at: usize, wanted: Complex128| (found[at] - wanted).norm();
    wanted
        .iter()
        .map(|&wanted| {
            let best = (0..free.len()).min_by(|&a, &b| distance(free[a], wanted).total_cmp(&distance(free[b], wanted)));
            free.swap_remove(best.unwrap_or(0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare;
    use rushlight_base::DType;

    fn host(shape: &[i64], numbers: &[(f64, f64)]) -> Option<HostTensor> {
        let mut host = HostTensor { dtype: DType::C128, shape: shape.to_vec(), strides: None, bytes: Some(Vec::new()) };
        host.set_numbers(&numbers.iter().map(|&(re, im)| Complex128::new(re, im)).collect::<Vec<_>>());
        Some(host)
    }

    #[test]
    fn eigenvalues_may_swap_and_their_vectors_turn_but_nothing_else_may_differ() {
        let expected =
            [host(&[2], &[(1.0, 0.0), (2.0, 0.0)]), host(&[2, 2], &[(0.6, 0.0), (0.8, 0.0), (0.8, 0.0), (-0.6, 0.0)])];
        // Swapped; the first vector times i, the second times -1.
        let swapped = || {
            [host(&[2], &[(2.0, 0.0), (1.0, 0.0)]), host(&[2, 2], &[(-0.8, 0.0), (0.0, 0.6), (0.6, 0.0), (0.0, 0.8)])]
        };
        let mut cotangents = [None, host(&[2, 2], &[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)])];
        let mut actual = swapped();
        align("aten::linalg_eig", &mut actual, &expected, &mut cotangents);
        for (actual, expected) in actual.iter().zip(&expected) {
            compare::tensors(actual.as_ref().unwrap(), expected.as_ref().unwrap()).unwrap();
        }
        // Column 0 corresponds to the second vector there, which was multiplied by -i to match the recorded one.
        let turned = host(&[2, 2], &[(-2.0, 0.0), (0.0, 1.0), (-4.0, 0.0), (0.0, 3.0)]).unwrap();
        compare::tensors(cotangents[1].as_ref().unwrap(), &turned).unwrap();

        let mut wrong = [swapped()[0].clone(), host(&[2, 2], &[(-0.8, 0.0), (0.0, 0.6), (0.5, 0.0), (0.0, 0.8)])];
        align("aten::linalg_eig", &mut wrong, &expected, &mut [None, None]);
        assert!(compare::tensors(wrong[1].as_ref().unwrap(), expected[1].as_ref().unwrap()).is_err());
    }

    #[test]
    fn vectors_that_complete_a_basis_may_rotate_within_their_space() {
        let u = |a: f64, b: f64| {
            host(
                &[3, 3],
                &[(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (a, 0.0), (b, 0.0), (0.0, 0.0), (-b, 0.0), (a, 0.0)],
            )
        };
        let (s, vh) = (host(&[1], &[(2.0, 0.0)]), host(&[1, 1], &[(1.0, 0.0)]));
        let expected = [u(1.0, 0.0), s.clone(), vh.clone()];
        let mut actual = [u(0.6, 0.8), s.clone(), vh.clone()];
        align("aten::linalg_svd", &mut actual, &expected, &mut [None, None, None]);
        compare::tensors(actual[0].as_ref().unwrap(), expected[0].as_ref().unwrap()).unwrap();
        let mut shrunk = [u(0.6, 0.7), s, vh];
        align("aten::linalg_svd", &mut shrunk, &expected, &mut [None, None, None]);
        assert!(compare::tensors(shrunk[0].as_ref().unwrap(), expected[0].as_ref().unwrap()).is_err());
    }
}
