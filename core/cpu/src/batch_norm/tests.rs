use super::*;
use crate::reduce::tests::at_every_level;
use rushlight_base::{DType, contiguous_strides, runtime};

/// Samples, channels and the elements of a line; whether the channels come last.
#[derive(Clone, Copy)]
struct Case {
    samples: usize,
    channels: usize,
    len: usize,
    last: bool,
    weighted: bool,
    training: bool,
}

fn noise(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| ((i + seed) * 7919 % 613) as f32 * 0.01 - 2.0).collect()
}

fn array<'a>(at: &mut [f32], sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
    // SAFETY: the vectors have as many elements as the shapes, and each is written by one array.
    unsafe { Array::new(at.as_mut_ptr().cast(), DType::F32, sizes, strides) }
}

impl Case {
    fn count(self) -> usize {
        self.samples * self.channels * self.len
    }

    fn index(self, sample: usize, channel: usize, place: usize) -> usize {
        if self.last {
            (sample * self.len + place) * self.channels + channel
        } else {
            (sample * self.channels + channel) * self.len + place
        }
    }

    /// The gradients by the input, the weight and the bias.
    fn computed(self) -> [Vec<f32>; 3] {
        let (count, channels) = (self.count(), self.channels);
        let (mut x, mut grad) = (noise(count, 0), noise(count, 5));
        let [mut mean, mut rstd, mut weight] = [3, 9, 11].map(|seed| noise(channels, seed));
        let mut results = [vec![0.0; count], vec![0.0; channels], vec![0.0; channels]];
        let [samples, len] = [self.samples, self.len].map(|count| count as i64);
        let sizes = [samples, channels as i64, len];
        let strides = match self.last {
            true => [len * channels as i64, 1, channels as i64],
            false => [len * channels as i64, len, 1],
        };
        let per_channel = [channels as i64];
        let packed = contiguous_strides(&per_channel);
        let operands = Operands {
            grad: array(&mut grad, &sizes, &strides),
            input: array(&mut x, &sizes, &strides),
            mean: array(&mut mean, &per_channel, &packed),
            rstd: array(&mut rstd, &per_channel, &packed),
            weight: self.weighted.then(|| array(&mut weight, &per_channel, &packed)),
            training: self.training,
        };
        let [by_input, by_weight, by_bias] = &mut results;
        let sums = [by_weight, by_bias].map(|sum| array(sum, &per_channel, &packed));
        batch_norm_backward(&operands, &array(by_input, &sizes, &strides), [&sums[0], &sums[1]]).unwrap();
        results
    }

    /// The same in plain loops.
    fn expected(self) -> [Vec<f64>; 3] {
        let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
        let (count, channels) = (self.count(), self.channels);
        let (x, grad) = (wide(noise(count, 0)), wide(noise(count, 5)));
        let [mean, rstd, weight] = [3, 9, 11].map(|seed| wide(noise(channels, seed)));
        let mut results = [vec![0.0; count], vec![0.0; channels], vec![0.0; channels]];
        let of_channel = (self.samples * self.len) as f64;
        for channel in 0..channels {
            let places = || (0..self.samples).flat_map(|sample| (0..self.len).map(move |place| (sample, place)));
            let at = |(sample, place)| self.index(sample, channel, place);
            let normal = |i: usize| (x[i] - mean[channel]) * rstd[channel];
            let factor = if self.weighted { weight[channel] } else { 1.0 };
            results[1][channel] = places().map(|place| grad[at(place)] * normal(at(place))).sum();
            results[2][channel] = places().map(|place| grad[at(place)]).sum();
            for i in places().map(at) {
                let (shift, slope) = match self.training {
                    true => (results[2][channel] / of_channel, results[1][channel] / of_channel),
                    false => (0.0, 0.0),
                };
                results[0][i] = rstd[channel] * factor * (grad[i] - shift - normal(i) * slope);
            }
        }
        results
    }
}

const SHAPES: [[usize; 3]; 7] =
    [[3, 5, 19], [2, 3, 5000], [1, 2, 64], [70, 9, 1], [200, 37, 1], [4, 64, 49], [1, 1, 1]];

#[test]
fn gradients_agree_with_plain_loops() {
    at_every_level(|| {
        for [samples, channels, len] in SHAPES {
            for flags in 0..8 {
                let [last, weighted, training] = [1, 2, 4].map(|bit| flags & bit != 0);
                let case = Case { samples, channels, len, last, weighted, training };
                for (found, expected) in case.computed().iter().zip(case.expected()) {
                    let largest = expected.iter().fold(1.0f64, |largest, value| largest.max(value.abs()));
                    for (&found, expected) in found.iter().zip(expected) {
                        assert!((f64::from(found) - expected).abs() <= 1e-5 * largest, "{found} for {expected}");
                    }
                }
            }
        }
    });
}

#[test]
fn the_forward_pass_agrees_with_plain_loops() {
    at_every_level(|| {
        for [samples, channels, len] in SHAPES.into_iter().filter(|shape| shape[2] > 1) {
            let count = samples * channels * len;
            // Far from zero: the variance is small beside the square of the mean.
            let mut x: Vec<f32> = noise(count, 0).into_iter().map(|x| x + 100.0).collect();
            let (mut weight, mut bias) = (noise(channels, 9), noise(channels, 11));
            let (mut out, mut mean, mut variance) = (vec![0.0; count], vec![0.0; channels], vec![0.0; channels]);
            let sizes = [samples, channels, len].map(|size| size as i64);
            let (strides, per_channel) = (contiguous_strides(&sizes), [channels as i64]);
            let training = Training {
                out: array(&mut out, &sizes, &strides),
                input: array(&mut x, &sizes, &strides),
                weight: Some(array(&mut weight, &per_channel, &[1])),
                bias: Some(array(&mut bias, &per_channel, &[1])),
                mean: array(&mut mean, &per_channel, &[1]),
                variance: array(&mut variance, &per_channel, &[1]),
                eps: 1e-5,
            };
            assert!(forward(&training).unwrap());
            for channel in 0..channels {
                let own: Vec<usize> = (0..count).filter(|i| i / len % channels == channel).collect();
                let wide = |i: usize| f64::from(x[i]);
                let expected = own.iter().map(|&i| wide(i)).sum::<f64>() / own.len() as f64;
                let squares: f64 = own.iter().map(|&i| (wide(i) - expected).powi(2)).sum();
                let spread = squares / own.len() as f64;
                assert!((f64::from(mean[channel]) - expected).abs() < 1e-5);
                assert!((f64::from(variance[channel]) - spread).abs() < 1e-5);
                let scale = f64::from(weight[channel]) / (spread + 1e-5).sqrt();
                for &i in &own {
                    let wanted = (wide(i) - expected) * scale + f64::from(bias[channel]);
                    assert!((f64::from(out[i]) - wanted).abs() < 2e-5, "{} for {wanted}", out[i]);
                }
            }
        }
    });
}

#[test]
fn results_are_equal_to_the_bit_at_any_number_of_threads() {
    at_every_level(|| {
        let before = runtime::num_threads();
        for last in [false, true] {
            let case = Case { samples: 8, channels: 24, len: 3000, last, weighted: true, training: true };
            let results = [1, 2, 3, 8].map(|threads| {
                runtime::set_num_threads(threads).unwrap();
                case.computed().map(|values| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            });
            assert!(results.iter().all(|result| *result == results[0]));
        }
        runtime::set_num_threads(before as i64).unwrap();
    });
}

#[test]
fn arrays_without_common_lines_or_columns_have_no_kernel() {
    let mut values = noise(64, 0);
    let sizes = [2, 4, 8];
    let arrays = [[32, 8, 1], [32, 8, 1], [32, 1, 4]].map(|strides| (strides, values.as_mut_ptr()));
    let made = |nth: usize| {
        // SAFETY: all elements are within `values`, and nothing is written.
        unsafe { Array::new(arrays[nth].1.cast(), DType::F32, &sizes, &arrays[nth].0) }
    };
    assert!(has_kernel([&made(0), &made(1), &made(1)]));
    assert!(has_kernel([&made(2), &made(2), &made(2)]));
    assert!(!has_kernel([&made(0), &made(1), &made(2)]));
}
