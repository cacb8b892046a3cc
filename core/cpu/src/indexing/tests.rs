//! Compares every code path of the traversal with loops over coordinates.

use super::*;
use crate::array::Array;
use rushlight_base::runtime::set_num_threads;
use rushlight_base::{DType, Scalar};

/// Numbers in a layout: sizes, and strides that may leave gaps or turn dimensions.
struct Block<T> {
    data: Vec<T>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    dtype: DType,
}

impl<T: Copy> Block<T> {
    /// Strides of a layout in which dimension `order[0]` is the innermost one, with `gap` unused elements after each.
    fn new(sizes: &[i64], order: &[usize], gap: i64, dtype: DType, value: impl Fn(usize) -> T) -> Block<T> {
        let mut strides = vec![0; sizes.len()];
        let mut step = gap;
        for &dim in order {
            strides[dim] = step;
            step *= sizes[dim].max(1);
        }
        Block { data: (0..step as usize).map(value).collect(), sizes: sizes.into(), strides, dtype }
    }

    fn array(&self) -> Array<'_> {
        // SAFETY: the data holds every element that the strides reach; each test uses its own arrays.
        unsafe { Array::new(self.data.as_ptr().cast_mut().cast(), self.dtype, &self.sizes, &self.strides) }
    }

    fn at(&self, place: &[i64]) -> T {
        self.data[place.iter().zip(&self.strides).map(|(at, stride)| at * stride).sum::<i64>() as usize]
    }
}

fn places_of(sizes: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &size in sizes {
        all = all.into_iter().flat_map(|head| (0..size).map(move |at| [head.clone(), vec![at]].concat())).collect();
    }
    all
}

fn with(place: &[i64], dim: usize, at: i64) -> Vec<i64> {
    let mut place = place.to_vec();
    place[dim] = at;
    place
}

/// Shapes of the traversal, the dimension, its size in the other operand; short and long, with thin and wide lanes.
const SHAPES: &[(&[i64], usize, i64)] = &[
    (&[7], 0, 5),
    (&[9000], 0, 33),
    (&[40, 300], 0, 17),
    (&[300, 40], 1, 17),
    (&[3, 5000], 1, 4000),
    (&[5000, 3], 0, 4000),
    (&[20, 30, 40], 1, 9),
    (&[0, 3], 0, 4),
    (&[1, 1], 1, 1),
];

fn orders(ndim: usize) -> Vec<Vec<usize>> {
    let last_inside: Vec<usize> = (0..ndim).rev().collect();
    let first_inside: Vec<usize> = (0..ndim).collect();
    vec![last_inside, first_inside]
}

#[test]
fn gather_and_scatter_agree_with_loops_over_coordinates() {
    for &(sizes, dim, extent) in SHAPES {
        for order in orders(sizes.len()) {
            for gap in [1, 2] {
                let other_sizes = with(sizes, dim, extent);
                let index = Block::new(sizes, &order, 1, DType::I64, |i| {
                    (i as i64).wrapping_mul(0x9e37_79b9).rem_euclid(extent)
                });
                let walked = Block::new(sizes, &order, gap, DType::F32, |i| i as f32);
                let reached = Block::new(&other_sizes, &orders(sizes.len())[0], gap, DType::F32, |i| -(i as f32));
                let places = Places::elements(index.array(), &reached.array(), dim).unwrap();

                let out = Block::new(sizes, &order, 1, DType::F32, |_| f32::NAN);
                gather(&out.array(), &reached.array(), &places).unwrap();
                for place in places_of(sizes) {
                    assert_eq!(out.at(&place), reached.at(&with(&place, dim, index.at(&place))), "{sizes:?} {place:?}");
                }

                let mut last = std::collections::HashMap::new();
                let mut sums = std::collections::HashMap::new();
                for place in places_of(sizes) {
                    let to = with(&place, dim, index.at(&place));
                    last.insert(to.clone(), walked.at(&place));
                    *sums.entry(to).or_insert(0.0f32) += walked.at(&place);
                }
                let out = Block::new(&other_sizes, &order, gap, DType::F32, |_| -1.0);
                let places = Places::elements(index.array(), &out.array(), dim).unwrap();
                scatter(&out.array(), &places, &walked.array()).unwrap();
                let sum = Block::new(&other_sizes, &order, gap, DType::F32, |_| 0.0);
                combine(&sum.array(), &places, &walked.array(), Combine::Sum(Scalar::Int(1))).unwrap();
                for place in places_of(&other_sizes) {
                    assert_eq!(out.at(&place), last.get(&place).copied().unwrap_or(-1.0), "{sizes:?} {place:?}");
                    assert_eq!(sum.at(&place), sums.get(&place).copied().unwrap_or(0.0), "{sizes:?} {place:?}");
                }
            }
        }
    }
}

#[test]
fn slices_are_the_same_walk_with_a_list() {
    for &(sizes, dim, extent) in SHAPES {
        let other_sizes = with(sizes, dim, extent);
        let reached = Block::new(&other_sizes, &orders(sizes.len())[0], 1, DType::I16, |i| i as i16);
        let list = Block::new(&[sizes[dim]], &[0], 2, DType::I32, |i| (i as i32 * 7).rem_euclid(extent as i32));
        let places = Places::slices_of("test", list.array(), sizes, &reached.array(), dim).unwrap();
        let out = Block::new(sizes, &orders(sizes.len())[0], 1, DType::I16, |_| -1i16);
        gather(&out.array(), &reached.array(), &places).unwrap();
        for place in places_of(sizes) {
            let from = with(&place, dim, list.at(&[place[dim]]).into());
            assert_eq!(out.at(&place), reached.at(&from), "{sizes:?} {place:?}");
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (sizes, dim, extent) = ([2000, 70], 0, 11);
    let index = Block::new(&sizes, &[1, 0], 1, DType::I64, |i| (i as i64 * 31).rem_euclid(extent));
    let source = Block::new(&sizes, &[1, 0], 1, DType::F32, |i| 1.0 / (1 + i) as f32);
    let results = [1, 2, 3, 8].map(|threads| {
        set_num_threads(threads).unwrap();
        let out = Block::new(&[extent, 70], &[1, 0], 1, DType::F32, |_| 0.0f32);
        let places = Places::elements(index.array(), &out.array(), dim).unwrap();
        combine(&out.array(), &places, &source.array(), Combine::Sum(Scalar::Float(0.3))).unwrap();
        out.data.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
    });
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
fn an_index_outside_is_an_error_and_writes_nothing() {
    for bad in [3, -1, i64::MIN, i64::MAX] {
        let index = Block::new(&[4], &[0], 1, DType::I64, |i| if i == 2 { bad } else { 0 });
        let reached = Block::new(&[3], &[0], 1, DType::F64, |_| 0.0);
        let error = Places::elements(index.array(), &reached.array(), 0).unwrap_err();
        assert_eq!(error.message(), format!("index {bad} is out of bounds for dimension 0 with size 3"));
        assert!(Places::slices_of("index_add", index.array(), &[4], &reached.array(), 0).is_err());
    }
}

#[test]
fn an_index_that_changes_after_its_check_reaches_nothing_outside() {
    let mut index = Block::new(&[4], &[0], 1, DType::I64, |_| 0i64);
    let at = index.data.as_mut_ptr();
    // SAFETY: the array and the writes below are on one thread.
    let array = unsafe { Array::new(at.cast(), DType::I64, &[4], &[1]) };
    let reached = Block::new(&[3], &[0], 1, DType::F64, |i| i as f64 + 5.0);
    let places = Places::elements(array, &reached.array(), 0).unwrap();
    // SAFETY: the address is that of the second element, through the pointer from which the array was created.
    unsafe { at.add(1).write(1 << 40) };
    let out = Block::new(&[4], &[0], 1, DType::F64, |_| -1.0);
    gather(&out.array(), &reached.array(), &places).unwrap();
    assert_eq!(out.data, [5.0, -1.0, 5.0, 5.0]);
}

#[test]
fn extrema_keep_nan_and_means_round_down() {
    let index = Block::new(&[4], &[0], 1, DType::I64, |i| (i / 2) as i64);
    let source = Block::new(&[4], &[0], 1, DType::F32, |i| [1.0, f32::NAN, 3.0, -4.0][i]);
    let out = Block::new(&[2], &[0], 1, DType::F32, |_| 0.0f32);
    let places = Places::elements(index.array(), &out.array(), 0).unwrap();
    combine(&out.array(), &places, &source.array(), Combine::Maximum).unwrap();
    assert!(out.data[0].is_nan() && out.data[1] == 3.0);
    fill_identity(&out.array(), &places, Combine::Minimum).unwrap();
    combine(&out.array(), &places, &source.array(), Combine::Minimum).unwrap();
    assert!(out.data[0].is_nan() && out.data[1] == -4.0);

    let sums = Block::new(&[3], &[0], 1, DType::I8, |i| [-7i8, 7, 5][i]);
    let counts = Block::new(&[3], &[0], 1, DType::I64, |i| [2i64, 2, 0][i]);
    divide_by_counts(&sums.array(), &counts.array()).unwrap();
    assert_eq!(sums.data, [-4, 3, 5]);
}

#[test]
fn places_may_name_elements_and_several_dimensions_at_once() {
    // A matrix of 3 x 4, stored column by column.
    let reached = Block::new(&[3, 4], &[0, 1], 1, DType::F32, |i| i as f32);
    let index = Block::new(&[2, 2], &[1, 0], 1, DType::I64, |i| [0i64, 5, -1, 7][i]);
    let out = Block::new(&[2, 2], &[1, 0], 1, DType::F32, |_| -1.0f32);
    gather(&out.array(), &reached.array(), &Places::linear(&index.array(), &reached.array()).unwrap()).unwrap();
    assert_eq!(out.data, [reached.at(&[0, 0]), reached.at(&[1, 1]), reached.at(&[2, 3]), reached.at(&[1, 3])]);

    let (rows, columns) = (
        Block::new(&[2, 1], &[1, 0], 1, DType::I64, |i| [2i64, -3][i]),
        Block::new(&[3], &[0], 1, DType::I64, |i| [0i64, 3, -2][i]),
    );
    let indexed = [Indexed { dim: 0, index: rows.array() }, Indexed { dim: 1, index: columns.array() }];
    let places = Places::together(&indexed, &[2, 3], 0, &reached.array()).unwrap();
    let out = Block::new(&[2, 3], &[1, 0], 1, DType::F32, |_| -1.0f32);
    gather(&out.array(), &reached.array(), &places).unwrap();
    for (i, row) in [2, 0].into_iter().enumerate() {
        for (j, column) in [0, 3, 2].into_iter().enumerate() {
            assert_eq!(out.at(&[i as i64, j as i64]), reached.at(&[row, column]));
        }
    }
    let outside = Block::new(&[1], &[0], 1, DType::I64, |_| 4i64);
    let error = Places::together(&[Indexed { dim: 1, index: outside.array() }], &[1], 1, &reached.array()).unwrap_err();
    assert_eq!(error.message(), "index 4 is out of bounds for dimension 1 with size 4");
}
