//! Both memory formats give the same numbers, and gradients are the transpose.

use super::*;
use crate::array::Array;
use crate::images::{Image, dot};
use rushlight_base::DType;

type Resample = fn(&Array, &Array, &[Taps; 3], usize) -> Result<()>;

fn cases() -> Vec<(&'static str, [Taps; 3], [i64; 2], Resample)> {
    let scale = Scale { align_corners: false, factor: None, single: true, weights: DType::F32 };
    let between = |filter: Filter, [height, width]: [usize; 2]| {
        let along = |length: usize, input: usize| interpolation(length, input, filter, scale).unwrap();
        [Taps::none(), along(height, 5), along(width, 7)]
    };
    vec![
        ("linear up", between(Filter::Linear, [11, 19]), [11, 19], interpolate),
        ("linear down", between(Filter::Linear, [2, 3]), [2, 3], interpolate),
        ("cubic", between(Filter::Cubic, [9, 12]), [9, 12], interpolate),
        (
            "nearest",
            [Taps::none(), nearest(10, 5, None, false).unwrap(), nearest(14, 7, None, true).unwrap()],
            [10, 14],
            pick,
        ),
        ("mirrored", [Taps::none(), mirrored(8, 5, 2).unwrap(), mirrored(12, 7, 3).unwrap()], [8, 12], pick),
        ("repeated", [Taps::none(), repeated(8, 5, 2).unwrap(), repeated(40, 7, 30).unwrap()], [8, 40], pick),
    ]
}

#[test]
fn memory_formats_agree_and_gradients_are_the_transpose() {
    // Nine channels are computed in vectors if they are adjacent.
    for channels in [1, 3, 9, 70] {
        for (name, taps, [height, width], forward) in cases() {
            let run = |last: bool| {
                let (mut x, mut y) =
                    (Image::new([2, channels, 5, 7], last, 1), Image::new([2, channels, height, width], last, 0));
                forward(&y.array(), &x.array(), &taps, 2).unwrap();
                let (mut g, mut back) = (Image::new(y.sizes, last, 2), Image::new(x.sizes, last, 0));
                spread(&back.array(), &g.array(), &taps, 2).unwrap();
                (x.numbers(), y.numbers(), g.numbers(), back.numbers())
            };
            let (x, y, g, back) = run(false);
            let (_, y_last, _, back_last) = run(true);
            assert_eq!(y, y_last, "{name}, {channels} channels");
            let close = |a: &f32, b: &f32| (a - b).abs() <= 1e-5 * b.abs().max(1.0);
            assert!(back.iter().zip(&back_last).all(|(a, b)| close(a, b)), "{name}, {channels} channels");
            let (forth, and_back) = (dot(&y, &g), dot(&x, &back));
            assert!((forth - and_back).abs() <= 1e-4 * forth.abs().max(1.0), "{name}: {forth} is not {and_back}");
        }
    }
}

#[test]
fn outputs_are_the_weighted_sums_of_their_inputs() {
    for (name, taps, [height, width], forward) in cases() {
        let (mut x, mut y) = (Image::new([1, 2, 5, 7], false, 1), Image::new([1, 2, height, width], false, 0));
        forward(&y.array(), &x.array(), &taps, 2).unwrap();
        let [_, down, across] = &taps;
        for (nth, got) in y.numbers().into_iter().enumerate() {
            let (channel, h, w) =
                (nth / (height * width) as usize, nth / width as usize % height as usize, nth % width as usize);
            let exact: f64 = down
                .of(h)
                .flat_map(|j| across.of(w).map(move |k| (j, k)))
                .map(|(j, k)| {
                    down.weights[j]
                        * across.weights[k]
                        * f64::from(x.memory[channel * 35 + down.index[j] * 7 + across.index[k]])
                })
                .sum();
            assert!((f64::from(got) - exact).abs() < 1e-5, "{name} at {nth}: {got}, not {exact}");
        }
    }
}
