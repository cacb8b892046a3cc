//! Both memory formats give the same numbers, and gradients are the transpose.

use super::*;
use crate::array::Array;
use rushlight_base::DType;

const SIZES: [i64; 4] = [2, 5, 6, 9];
/// More points than a table has.
const POINTS: [i64; 4] = [2, 5, 11, 13];

fn numbers(count: i64, seed: usize) -> Vec<f32> {
    (0..count as usize).map(|nth| ((nth * 37 + seed * 11) % 101) as f32 / 45.0 - 1.1).collect()
}

fn first(sizes: [i64; 4]) -> [i64; 4] {
    [sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1]
}

fn last(sizes: [i64; 4]) -> [i64; 4] {
    [sizes[1] * sizes[2] * sizes[3], 1, sizes[3] * sizes[1], sizes[1]]
}

fn array<'a>(memory: &'a mut [f32], sizes: &'a [i64; 4], strides: &'a [i64; 4]) -> Array<'a> {
    assert_eq!(memory.len() as i64, sizes.iter().product::<i64>());
    // SAFETY: the memory has an element for each index within the sizes.
    unsafe { Array::new(memory.as_mut_ptr().cast(), DType::F32, sizes, strides) }
}

/// The numbers of channels last in the order of channels first.
fn in_order(memory: &[f32], sizes: [i64; 4]) -> Vec<f32> {
    let [samples, channels, height, width] = sizes.map(|size| size as usize);
    let strides = last(sizes).map(|stride| stride as usize);
    let mut all = Vec::new();
    for n in 0..samples {
        for c in 0..channels {
            for h in 0..height {
                all.extend((0..width).map(|w| memory[n * strides[0] + c + h * strides[2] + w * strides[3]]));
            }
        }
    }
    all
}

#[test]
fn memory_formats_agree_and_gradients_are_the_transpose() {
    let grid_sizes = [POINTS[0], POINTS[2], POINTS[3], 2];
    for interpolation in 0..3 {
        for beyond in 0..3 {
            let sampling = Sampling::from_codes(interpolation, beyond, false).unwrap();
            let mut grid = numbers(grid_sizes.iter().product(), 3);
            let strides = first(grid_sizes);
            let grid = array(&mut grid, &grid_sizes, &strides);
            let (mut x, mut y) =
                (numbers(SIZES.iter().product(), 1), vec![0.0; POINTS.iter().product::<i64>() as usize]);
            let (image, points) = (first(SIZES), first(POINTS));
            sample(&array(&mut y, &POINTS, &points), &array(&mut x, &SIZES, &image), &grid, sampling, &[0, 0]).unwrap();

            let (mut g, mut back) = (numbers(POINTS.iter().product(), 2), vec![0.0; x.len()]);
            spread(&array(&mut back, &SIZES, &image), &array(&mut g, &POINTS, &points), &grid, sampling, &[0, 0])
                .unwrap();
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
            let (forth, and_back) = (dot(&y, &g), dot(&x, &back));
            assert!((forth - and_back).abs() < 1e-4 * forth.abs().max(1.0), "{sampling:?}: {forth}, {and_back}");

            let image_last = last(SIZES);
            let (mut x_last, mut x_first) = (x.clone(), in_order(&x, SIZES));
            let mut y_last = vec![0.0; y.len()];
            sample(
                &array(&mut y_last, &POINTS, &points),
                &array(&mut x_last, &SIZES, &image_last),
                &grid,
                sampling,
                &[0, 0],
            )
            .unwrap();
            sample(&array(&mut y, &POINTS, &points), &array(&mut x_first, &SIZES, &image), &grid, sampling, &[0, 0])
                .unwrap();
            assert_eq!(y, y_last, "{sampling:?}");
        }
    }
}

#[test]
fn the_corners_of_a_grid_are_those_of_the_image() {
    let sampling = Sampling::from_codes(0, 0, true).unwrap();
    let (mut x, sizes) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1, 1, 2, 3]);
    let mut grid = [-1.0, -1.0, 1.0, -1.0, 0.0, 0.0, 1.0, 1.0];
    let (grid_sizes, out_sizes, mut out) = ([1, 1, 4, 2], [1, 1, 1, 4], [0.0; 4]);
    let (image, grid_strides, out_strides) = (first(sizes), first(grid_sizes), first(out_sizes));
    let (x, grid) = (array(&mut x, &sizes, &image), array(&mut grid, &grid_sizes, &grid_strides));
    sample(&array(&mut out, &out_sizes, &out_strides), &x, &grid, sampling, &[0, 0]).unwrap();
    assert_eq!(out, [1.0, 3.0, 3.5, 6.0]);
}
