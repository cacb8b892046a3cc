//! Pooling of random shapes, windows and memory formats against loops over single elements.

use super::*;
use crate::array::Array;
use rushlight_base::{Element, f16};

/// A small generator: tests repeat exactly.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }
}

trait Value: Element + Copy {
    const NOTHING: Option<Self>;
    fn new(value: i64) -> Self;
    fn get(self) -> f64;
}

impl Value for f32 {
    const NOTHING: Option<f32> = Some(f32::NAN);
    fn new(value: i64) -> f32 {
        value as f32
    }
    fn get(self) -> f64 {
        self.into()
    }
}

impl Value for f64 {
    const NOTHING: Option<f64> = Some(f64::NAN);
    fn new(value: i64) -> f64 {
        value as f64
    }
    fn get(self) -> f64 {
        self
    }
}

impl Value for f16 {
    const NOTHING: Option<f16> = Some(f16::NAN);
    fn new(value: i64) -> f16 {
        f16::from_f64(value as f64)
    }
    fn get(self) -> f64 {
        self.to_f64()
    }
}

impl Value for i8 {
    const NOTHING: Option<i8> = None;
    fn new(value: i64) -> i8 {
        value as i8
    }
    fn get(self) -> f64 {
        self.into()
    }
}

/// Samples of planes, with channels first or last.
struct Image<T> {
    values: Vec<T>,
    sizes: [i64; 4],
    strides: [i64; 4],
}

impl<T: Value> Image<T> {
    fn new(sizes: [usize; 4], last: bool, mut value: impl FnMut() -> T) -> Image<T> {
        let [samples, channels, height, width] = sizes;
        let strides = match last {
            true => [height * width * channels, 1, width * channels, channels],
            false => [channels * height * width, height * width, width, 1],
        };
        let values = (0..samples * channels * height * width).map(|_| value()).collect();
        Image { values, sizes: sizes.map(|size| size as i64), strides: strides.map(|step| step as i64) }
    }

    fn array(&mut self) -> Array<'_> {
        // SAFETY: the image has as many values as its sizes and strides require.
        unsafe { Array::new(self.values.as_mut_ptr().cast(), T::DTYPE, &self.sizes, &self.strides) }
    }

    fn at(&self, index: [usize; 4]) -> T {
        self.values[self.offset(index)]
    }

    fn offset(&self, index: [usize; 4]) -> usize {
        (0..4).map(|dim| index[dim] * self.strides[dim] as usize).sum()
    }
}

/// A pooling: sizes of images and of outputs, and the windows of both dimensions.
struct Case {
    sizes: [usize; 4],
    outputs: [usize; 4],
    windows: [Vec<Window>; 2],
}

impl Case {
    fn random(random: &mut Random, dilated: bool) -> Case {
        let [samples, channels] = [1 + random.below(2), [1, 3, 8, 200][random.below(4)]];
        let mut along = |adaptive_to: Option<usize>| {
            let input = 1 + random.below(if channels > 9 { 9 } else { 150 });
            if let Some(length) = adaptive_to {
                return (input, adaptive(length, input).unwrap());
            }
            let kernel = 1 + random.below(input.min(4));
            let dilation = if dilated && (kernel - 1) * 2 < input { 1 + random.below(2) } else { 1 };
            let (stride, padding) = (1 + random.below(3), random.below(kernel / 2 + 1));
            let length = (input + 2 * padding - (kernel - 1) * dilation - 1) / stride + 1;
            (input, sliding(length, input, [kernel, stride, padding, dilation], true).unwrap())
        };
        let [(height, rows), (width, columns)] = match dilated {
            false => [along(Some(3)), along(Some(5))],
            true => [along(None), along(None)],
        };
        Case {
            sizes: [samples, channels, height, width],
            outputs: [samples, channels, rows.len(), columns.len()],
            windows: [rows, columns],
        }
    }

    fn windows(&self) -> Windows {
        Windows::Same([no_dimension(), self.windows[0].clone(), self.windows[1].clone()])
    }

    fn each_output(&self, mut visit: impl FnMut([usize; 4])) {
        let [samples, channels, rows, columns] = self.outputs;
        for index in 0..samples * channels * rows * columns {
            let (plane, position) = (index / (rows * columns), index % (rows * columns));
            visit([plane / channels, plane % channels, position / columns, position % columns]);
        }
    }

    /// Positions that the windows of an output meet.
    fn met(&self, [_, _, row, column]: [usize; 4]) -> Vec<[usize; 2]> {
        let along = |window: &Window| (window.start..window.end).step_by(window.step).collect::<Vec<_>>();
        let (rows, columns) = (along(&self.windows[0][row]), along(&self.windows[1][column]));
        rows.iter().flat_map(|&h| columns.iter().map(move |&w| [h, w])).collect()
    }
}

fn check_max<T: Value>(seed: u64) {
    let mut random = Random(seed);
    for round in 0..60 {
        let case = Case::random(&mut random, round % 3 > 0);
        let last = round % 2 == 1;
        let mut image = Image::new(case.sizes, last, || match (random.below(12), T::NOTHING) {
            (0, Some(nothing)) => nothing,
            _ => T::new(random.below(7) as i64 - 3),
        });
        let mut out = Image::new(case.outputs, last, || T::new(9));
        let mut indices = Image::new(case.outputs, last, || 9i64);
        max(&out.array(), Some(&indices.array()), &image.array(), &case.windows(), 2).unwrap();
        let mut alone = Image::new(case.outputs, last, || T::new(9));
        max(&alone.array(), None, &image.array(), &case.windows(), 2).unwrap();
        let pairs = || out.values.iter().zip(&alone.values).map(|(value, alone)| (value.get(), alone.get()));
        assert!(pairs().all(|(value, alone)| value == alone || value.is_nan() && alone.is_nan()), "without indices");
        case.each_output(|at| {
            let mut best: Option<(f64, i64)> = None;
            for [h, w] in case.met(at) {
                let value = image.at([at[0], at[1], h, w]).get();
                if best.is_none_or(|(best, _)| value > best || value.is_nan()) {
                    best = Some((value, (h * case.sizes[3] + w) as i64));
                }
            }
            if let Some((value, index)) = best {
                let got = out.at(at).get();
                assert!(got == value || got.is_nan() && value.is_nan(), "{got} is not {value} at {at:?}");
                assert_eq!(indices.at(at), index, "{at:?} of {:?}", case.sizes);
            } else {
                assert_eq!(indices.at(at), -1);
            }
        });
    }
}

impl Value for i64 {
    const NOTHING: Option<i64> = None;
    fn new(value: i64) -> i64 {
        value
    }
    fn get(self) -> f64 {
        self as f64
    }
}

#[test]
fn maxima_and_their_positions_are_those_of_single_windows() {
    check_max::<f32>(1);
    check_max::<f64>(2);
    check_max::<f16>(3);
    check_max::<i8>(4);
}

fn check_gradients<T: Value>(seed: u64) {
    let mut random = Random(seed);
    for round in 0..60 {
        let case = Case::random(&mut random, round % 3 > 0);
        // In every second pair of rounds, the gradients are stored in the other format.
        let (last, other) = (round % 2 == 1, round % 4 > 1);
        let mut image = Image::new(case.sizes, last, || T::new(random.below(7) as i64 - 3));
        let mut grad = Image::new(case.outputs, last != other, || T::new(random.below(7) as i64 - 3));
        let mut out = Image::new(case.outputs, last, || T::new(0));
        let mut indices = Image::new(case.outputs, last, || 0i64);
        max(&out.array(), Some(&indices.array()), &image.array(), &case.windows(), 2).unwrap();
        let mut result = Image::new(case.sizes, last, || T::new(99));
        max_backward(&result.array(), &grad.array(), &indices.array(), None, 2).unwrap();
        let mut sums = vec![0.0; result.values.len()];
        case.each_output(|at| {
            if let Ok(index) = usize::try_from(indices.at(at)) {
                let position = [at[0], at[1], index / case.sizes[3], index % case.sizes[3]];
                sums[result.offset(position)] += grad.at(at).get();
            }
        });
        assert!(sums.iter().zip(&result.values).all(|(sum, got)| *sum == got.get()), "max of {:?}", case.sizes);

        // Divided by 1, shares of small integers are exact.
        mean_backward(&result.array(), &grad.array(), &case.windows(), Some(1), 2).unwrap();
        let mut sums = vec![0.0; result.values.len()];
        case.each_output(|at| {
            for [h, w] in case.met(at) {
                sums[result.offset([at[0], at[1], h, w])] += grad.at(at).get();
            }
        });
        if case.windows.iter().flatten().all(|window| window.step == 1) {
            assert!(sums.iter().zip(&result.values).all(|(sum, got)| *sum == got.get()), "mean of {:?}", case.sizes);
        }

        mean(&out.array(), &image.array(), &case.windows(), Some(4), 2).unwrap();
        case.each_output(|at| {
            let total: f64 = case.met(at).iter().map(|[h, w]| image.at([at[0], at[1], *h, *w]).get()).sum();
            if case.windows.iter().flatten().all(|window| window.step == 1) {
                assert_eq!(out.at(at).get(), total / 4.0, "{at:?} of {:?}", case.sizes);
            }
        });
    }
}

#[test]
fn means_and_gradients_are_those_of_single_windows() {
    check_gradients::<f32>(5);
    check_gradients::<f64>(6);
    check_gradients::<f16>(7);
}

#[test]
fn an_index_outside_of_the_plane_is_an_error() {
    let mut grad = Image::new([1, 1, 1, 2], false, || 1.0f32);
    let mut out = Image::new([1, 1, 2, 2], false, || 0.0f32);
    let mut indices = Image::new([1, 1, 1, 2], false, || 4i64);
    let error = max_backward(&out.array(), &grad.array(), &indices.array(), None, 2).unwrap_err();
    assert_eq!(error.message(), "Found an invalid max index: 4 (planes have 4 elements)");
}

#[test]
fn windows_begin_within_the_input_on_a_tap() {
    // Padding 2, dilation 3: taps at -2, 1, 4.
    let windows = sliding(1, 5, [3, 1, 2, 3], true).unwrap();
    assert_eq!(windows[0], Window { start: 1, end: 5, step: 3, counted: 7 });
    let windows = sliding(3, 4, [3, 2, 1, 1], false).unwrap();
    let counted: Vec<usize> = windows.iter().map(|window| window.counted).collect();
    assert_eq!(counted, [2, 3, 1]);
}

#[test]
fn adaptive_windows_overlap_where_sizes_do_not_divide() {
    let windows: Vec<_> = adaptive(3, 5).unwrap().iter().map(|window| (window.start, window.end)).collect();
    assert_eq!(windows, [(0, 2), (1, 4), (3, 5)]);
}
