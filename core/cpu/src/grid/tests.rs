//! Both memory formats give the same numbers, and gradients are the transpose.

use super::*;
use crate::images::{Image, dot};

/// Sizes of the image, and of the output, which has more points than a table.
const SIZES: [i64; 4] = [2, 5, 6, 9];
const POINTS: [i64; 4] = [2, 5, 11, 13];

#[test]
fn memory_formats_agree_and_gradients_are_the_transpose() {
    for interpolation in 0..3 {
        for beyond in 0..3 {
            let sampling = Sampling::from_codes(interpolation, beyond, false).unwrap();
            let mut grid = Image::new([POINTS[0], POINTS[2], POINTS[3], 2], false, 3);
            // Some points are beyond the borders.
            grid.memory.iter_mut().for_each(|place| *place *= 1.2);
            let mut run = |last: bool, out_last: bool| {
                let (mut x, mut y) = (Image::new(SIZES, last, 1), Image::new(POINTS, out_last, 0));
                sample(&y.array(), &x.array(), &grid.array(), sampling, &[0, 0]).unwrap();
                let (mut g, mut back) = (Image::new(POINTS, out_last, 2), Image::new(SIZES, last, 0));
                spread(&back.array(), &g.array(), &grid.array(), sampling, &[0, 0]).unwrap();
                [x, y, g, back].map(|image| image.numbers())
            };
            let [x, y, g, back] = run(false, false);
            for out_last in [false, true] {
                let [_, y_last, _, back_last] = run(true, out_last);
                assert_eq!((&y, &back), (&y_last, &back_last), "{sampling:?}");
            }
            let (forth, and_back) = (dot(&y, &g), dot(&x, &back));
            assert!((forth - and_back).abs() < 1e-4 * forth.abs().max(1.0), "{sampling:?}: {forth}, {and_back}");
        }
    }
}

#[test]
fn the_corners_of_a_grid_are_those_of_the_image() {
    let sampling = Sampling::from_codes(0, 0, true).unwrap();
    let [mut x, mut grid, mut out] =
        [[1, 1, 2, 3], [1, 1, 4, 2], [1, 1, 1, 4]].map(|sizes| Image::new(sizes, false, 0));
    x.memory = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    grid.memory = vec![-1.0, -1.0, 1.0, -1.0, 0.0, 0.0, 1.0, 1.0];
    sample(&out.array(), &x.array(), &grid.array(), sampling, &[0, 0]).unwrap();
    assert_eq!(out.memory, [1.0, 3.0, 3.5, 6.0]);
}
