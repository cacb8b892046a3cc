//! Convolutions of random shapes, strides and layouts against sums written out.

use super::*;
use rushlight_base::{DType, contiguous_strides, runtime};

/// A small generator: tests repeat exactly.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }
}

/// Memory with sizes and strides.
struct Image {
    values: Vec<f64>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl Image {
    fn new(random: &mut Random, sizes: &[i64], channels_last: bool) -> Image {
        let mut strides = contiguous_strides(sizes).to_vec();
        if channels_last {
            let (channels, area) = (sizes[1], sizes[2..].iter().product::<i64>());
            let planes = contiguous_strides(&sizes[2..]);
            strides = [channels * area, 1].into_iter().chain(planes.iter().map(|step| step * channels)).collect();
        }
        let count = sizes.iter().product::<i64>().max(0) as usize;
        let values = (0..count).map(|_| random.between(-4, 4) as f64).collect();
        Image { values, sizes: sizes.to_vec(), strides }
    }

    fn array(&mut self) -> Array<'_> {
        // SAFETY: as many values as the sizes require, at dense strides.
        unsafe { Array::new(self.values.as_mut_ptr().cast(), DType::F64, &self.sizes, &self.strides) }
    }

    fn at(&mut self, index: [i64; 4]) -> &mut f64 {
        let at: i64 = index.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum();
        &mut self.values[at as usize]
    }
}

/// A convolution of two dimensions.
struct Case {
    image: Image,
    weight: Image,
    out: Image,
    stride: [i64; 2],
    padding: [i64; 2],
    dilation: [i64; 2],
    groups: i64,
}

impl Case {
    fn random(random: &mut Random, round: usize) -> Option<Case> {
        // Many groups are shared among threads.
        let groups = [1, 1, 2, 3, 17][random.below(5)];
        // Groups of one channel take another code path.
        let channels = if random.below(3) == 0 { 1 } else { random.between(1, 4) };
        let rows = random.between(1, 5);
        let pair = |random: &mut Random, low, high| [random.between(low, high), random.between(low, high)];
        let (kernel, size) = (pair(random, 1, 4), pair(random, 3, 14));
        let (stride, padding, dilation) = (pair(random, 1, 3), pair(random, 0, 3), pair(random, 1, 2));
        let out = |dim: usize| {
            let extent = size[dim] + 2 * padding[dim] - dilation[dim] * (kernel[dim] - 1) - 1;
            (extent >= 0).then(|| extent / stride[dim] + 1)
        };
        let (height, width) = (out(0)?, out(1)?);
        let samples = random.between(1, 3);
        Some(Case {
            image: Image::new(random, &[samples, groups * channels, size[0], size[1]], round % 2 == 1),
            weight: Image::new(random, &[groups * rows, channels, kernel[0], kernel[1]], round % 3 == 1),
            out: Image::new(random, &[samples, groups * rows, height, width], round % 5 < 2),
            stride,
            padding,
            dilation,
            groups,
        })
    }

    fn walk(&self) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
        (self.stride.to_vec(), self.padding.to_vec(), self.dilation.to_vec())
    }

    /// Calls `visit` with the positions in out, weight and image of each product.
    fn each(&self, mut visit: impl FnMut([i64; 4], [i64; 4], [i64; 4])) {
        let (rows, channels) = (self.weight.sizes[0] / self.groups, self.weight.sizes[1]);
        let every = |sizes: &[i64]| -> Vec<Vec<i64>> {
            sizes.iter().fold(vec![vec![]], |all, &size| {
                all.iter().flat_map(|head| (0..size).map(move |at| [head.clone(), vec![at]].concat())).collect()
            })
        };
        for out in every(&self.out.sizes) {
            for tap in every(&self.weight.sizes[1..]) {
                let at = |dim: usize| {
                    out[2 + dim] * self.stride[dim] - self.padding[dim] + tap[1 + dim] * self.dilation[dim]
                };
                let inside = (0..2).all(|dim| (0..self.image.sizes[2 + dim]).contains(&at(dim)));
                if inside {
                    let channel = out[1] / rows * channels + tap[0];
                    let out = [out[0], out[1], out[2], out[3]];
                    visit(out, [out[1], tap[0], tap[1], tap[2]], [out[0], channel, at(0), at(1)]);
                }
            }
        }
    }
}

fn blank(like: &Image) -> Image {
    Image { values: vec![0.0; like.values.len()], sizes: like.sizes.clone(), strides: like.strides.clone() }
}

#[test]
fn all_three_products_are_the_sums_written_out() {
    let mut random = Random(5);
    for round in 0..200 {
        let Some(mut case) = Case::random(&mut random, round) else { continue };
        let (mut image, mut weight, mut out) = (blank(&case.image), blank(&case.weight), blank(&case.out));
        weight.strides = contiguous_strides(&weight.sizes).to_vec();
        let mut wanted = (blank(&image), blank(&weight), blank(&out));
        let mut products = Vec::new();
        case.each(|out, weight, image| products.push((out, weight, image)));
        for (o, w, i) in products {
            let (grad, factor, value) = (*case.out.at(o), *case.weight.at(w), *case.image.at(i));
            *wanted.2.at(o) += factor * value;
            *wanted.1.at(w) += grad * value;
            *wanted.0.at(i) += grad * factor;
        }
        let mut bias = [0.5; 85];
        let sizes = [case.weight.sizes[0]];
        // SAFETY: at most seventeen groups of five channels.
        let bias = unsafe { Array::new(bias.as_mut_ptr().cast(), DType::F64, &sizes, &[1]) };
        let (stride, padding, dilation) = case.walk();
        let walk = Walk { stride: &stride, padding: &padding, dilation: &dilation, groups: case.groups };
        forward(&out.array(), &case.image.array(), &case.weight.array(), Some(&bias), &walk).unwrap();
        transposed(&image.array(), &case.out.array(), &case.weight.array(), None, &walk).unwrap();
        weight_gradient(&weight.array(), &case.out.array(), &case.image.array(), &walk).unwrap();
        // Small integers: every sum is exact.
        assert!(out.values.iter().zip(&wanted.2.values).all(|(out, sum)| *out == sum + 0.5), "forward, {round}");
        assert_eq!(image.values, wanted.0.values, "transposed, {round}");
        let mut by_taps = blank(&image);
        transposed_by_taps(&by_taps.array(), &case.out.array(), &case.weight.array(), None, &walk).unwrap();
        assert_eq!(by_taps.values, wanted.0.values, "transposed by taps, {round}");
        assert_eq!(weight.values, wanted.1.values, "weights, {round}");
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    threads_agree([16, 16], 1);
    threads_agree([24, 1], 24);
}

/// Images and kernels with these numbers of channels.
fn threads_agree([channels, within]: [i64; 2], groups: i64) {
    let mut random = Random(9);
    let mut image = Image::new(&mut random, &[2, channels, 30, 30], false);
    let mut weight = Image::new(&mut random, &[24, within, 3, 3], false);
    for value in image.values.iter_mut().chain(&mut weight.values) {
        *value *= 0.1;
    }
    let mut out = Image::new(&mut random, &[2, 24, 30, 30], false);
    let walk = Walk { stride: &[1, 1], padding: &[1, 1], dilation: &[1, 1], groups };
    let before = runtime::num_threads() as i64;
    let mut results = Vec::new();
    for threads in [1, 2, 5] {
        runtime::set_num_threads(threads).unwrap();
        let (mut back, mut by_weight) = (blank(&image), blank(&weight));
        forward(&out.array(), &image.array(), &weight.array(), None, &walk).unwrap();
        transposed(&back.array(), &out.array(), &weight.array(), None, &walk).unwrap();
        weight_gradient(&by_weight.array(), &out.array(), &image.array(), &walk).unwrap();
        let bits = |image: &Image| image.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        results.push((bits(&out), bits(&back), bits(&by_weight)));
    }
    runtime::set_num_threads(before).unwrap();
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}
