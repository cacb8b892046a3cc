//! Convolutions of random shapes, strides, formats and dtypes against sums written out in `f64`.

use super::*;
use crate::finish::Activation;
use rushlight_base::{DType, Element, bf16, contiguous_strides, f16, runtime};
use std::sync::Mutex;

/// The number of threads is the process's: tests that set it take turns.
static THREADS: Mutex<()> = Mutex::new(());

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

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// The value of memory that was not written.
const SPOILED: f64 = 77.0;

/// A dtype that small integers are exact in.
trait Value: Element + Copy + Default {
    fn new(value: f64) -> Self;
    fn get(self) -> f64;
}

macro_rules! values {
    ($($type:ty: $from:expr, $get:expr;)*) => {$(
        impl Value for $type {
            fn new(value: f64) -> $type {
                $from(value)
            }
            fn get(self) -> f64 {
                $get(self)
            }
        }
    )*};
}

values! {
    f32: |value| value as f32, |value| value as f64;
    f64: |value| value, |value| value;
    i32: |value| value as i32, |value| value as f64;
    i8: |value| value as i8, |value| value as f64;
    f16: f16::from_f64, f16::to_f64;
    bf16: bf16::from_f64, bf16::to_f64;
}

/// How the elements of an image are stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    First,
    Last,
    /// Channels first, with every dimension twice as far apart.
    Gaps,
}

const FORMATS: [Format; 3] = [Format::First, Format::Last, Format::Gaps];

/// Memory with sizes and strides.
#[derive(Clone)]
struct Image<T> {
    values: Vec<T>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    /// The strides of two dimensions and three spatial ones; 0 for those in front that are missing.
    steps: [i64; 5],
}

impl<T: Value> Image<T> {
    fn new(random: &mut Random, sizes: &[i64], format: Format) -> Image<T> {
        let mut strides = contiguous_strides(sizes).to_vec();
        if format == Format::Last {
            let (channels, area) = (sizes[1], sizes[2..].iter().product::<i64>());
            let planes = contiguous_strides(&sizes[2..]);
            strides = [channels * area, 1].into_iter().chain(planes.iter().map(|step| step * channels)).collect();
        }
        if format == Format::Gaps {
            strides.iter_mut().for_each(|stride| *stride *= 2);
        }
        // As many as the sizes require: reading or writing beyond is found by tools.
        let last: i64 = sizes.iter().zip(&strides).map(|(size, stride)| (size - 1).max(0) * stride).sum();
        let count = if sizes.contains(&0) { 0 } else { last as usize + 1 };
        let values = (0..count).map(|_| T::new(random.between(-2, 2) as f64)).collect();
        let mut steps = [strides[0], strides[1], 0, 0, 0];
        steps[7 - sizes.len()..].copy_from_slice(&strides[2..]);
        Image { values, sizes: sizes.to_vec(), strides, steps }
    }

    fn array(&mut self) -> Array<'_> {
        // SAFETY: as many values as the sizes and strides require.
        unsafe { Array::new(self.values.as_mut_ptr().cast(), T::DTYPE, &self.sizes, &self.strides) }
    }

    fn offset(&self, index: [i64; 5]) -> usize {
        let [a, b, c, d, e] = self.steps;
        (index[0] * a + index[1] * b + index[2] * c + index[3] * d + index[4] * e) as usize
    }

    fn sums(&self) -> Vec<f64> {
        vec![0.0; self.values.len()]
    }

    /// An image of the same sizes and strides. Elements that are not written are found.
    fn spoiled(&self) -> Image<T> {
        let mut other = self.clone();
        other.values.fill(T::new(SPOILED));
        other
    }

    /// Calls `visit` with each index and its offset.
    fn each(&self, mut visit: impl FnMut(&[i64], usize)) {
        if self.sizes.contains(&0) {
            return;
        }
        let mut index = vec![0; self.sizes.len()];
        loop {
            visit(&index, index.iter().zip(&self.strides).map(|(index, stride)| index * stride).sum::<i64>() as usize);
            let Some(dim) = (0..index.len()).rev().find(|&dim| index[dim] + 1 < self.sizes[dim]) else { return };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }

    /// Compares the elements, and checks that what is between them was not written, if all sums are exact.
    fn check(&self, wanted: &[f64], what: &str) {
        // Half precision has every integer up to these; larger sums may be rounded on the way.
        let most = match T::DTYPE {
            DType::I8 => 127.0,
            DType::BF16 => 256.0,
            DType::F16 => 2048.0,
            _ => f64::MAX,
        };
        if wanted.iter().any(|sum| sum.abs() > most) {
            return;
        }
        let mut between = vec![true; self.values.len()];
        self.each(|index, at| {
            between[at] = false;
            assert_eq!(self.values[at].get(), wanted[at], "{what} at {index:?}");
        });
        let kept = self.values.iter().zip(between).all(|(value, between)| !between || value.get() == SPOILED);
        assert!(kept, "{what} wrote between its elements");
    }
}

impl Image<f32> {
    fn is_close(&self, wanted: &[f64]) {
        let (mut most, mut error) = (0.0f64, 0.0f64);
        self.each(|_, at| {
            most = most.max(wanted[at].abs());
            error = error.max((self.values[at].get() - wanted[at]).abs());
        });
        assert!(error <= 2e-5 * most, "an error of {error} with outputs up to {most}");
    }
}

/// The sizes of a convolution.
#[derive(Clone, Debug)]
struct Shape {
    samples: i64,
    groups: i64,
    /// Channels of a group: of the output and of the image.
    rows: i64,
    channels: i64,
    image: Vec<i64>,
    kernel: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    formats: [Format; 3],
}

impl Shape {
    /// Sizes for every code path: depthwise, grouped, of a single element, of one to three dimensions, wide and narrow.
    fn random(random: &mut Random) -> Shape {
        let spatial = random.one_of(&[1, 2, 2, 2, 3]);
        let groups = random.one_of(&[1, 1, 1, 2, 3, 17]);
        let wide = random.below(4) == 0;
        let channels = match random.below(3) {
            0 => 1,
            1 if wide && groups == 1 => random.between(16, 40),
            _ => random.between(1, 9),
        };
        let rows = if random.below(3) == 0 { 1 } else { random.between(1, if groups > 3 { 3 } else { 20 }) };
        let most = if spatial == 3 { 6 } else { random.one_of(&[5, 9, 21, 37]) };
        let single = random.below(4) == 0;
        let empty = random.below(20) == 0;
        let mut list = |low: i64, high: i64| (0..spatial).map(|_| random.between(low, high)).collect::<Vec<_>>();
        let (kernel, image) = (if single { vec![1; spatial] } else { list(1, 5) }, list(i64::from(!empty), most));
        let (stride, padding, dilation) = (list(1, 3), list(0, 3), list(1, 3));
        let plain = random.below(3) == 0;
        let (stride, padding) = if plain { (vec![1; spatial], vec![0; spatial]) } else { (stride, padding) };
        let samples = random.one_of(&[0, 1, 1, 2, 3]);
        let formats = [0; 3].map(|_| random.one_of(&FORMATS));
        Shape { samples, groups, rows, channels, image, kernel, stride, padding, dilation, formats }
    }

    /// Sizes of the output, if there is one.
    fn out(&self) -> Option<Vec<i64>> {
        let along = |dim: usize| {
            let extent = self.image[dim] + 2 * self.padding[dim] - self.dilation[dim] * (self.kernel[dim] - 1) - 1;
            (extent >= 0).then(|| extent / self.stride[dim] + 1)
        };
        (0..self.image.len()).map(along).collect()
    }

    /// Three sizes in front of which missing dimensions are 1.
    fn three(sizes: &[i64], missing: i64) -> [i64; 3] {
        std::array::from_fn(|dim| (dim + sizes.len()).checked_sub(3).map_or(missing, |own| sizes[own]))
    }

    /// Calls `visit` with the indices in out, weight and image of each product.
    fn each(&self, out: &[i64], mut visit: impl FnMut([i64; 5], [i64; 5], [i64; 5])) {
        let (out, kernel, image) = (Shape::three(out, 1), Shape::three(&self.kernel, 1), Shape::three(&self.image, 1));
        let (stride, padding) = (Shape::three(&self.stride, 1), Shape::three(&self.padding, 0));
        let dilation = Shape::three(&self.dilation, 1);
        let every = |sizes: [i64; 3]| {
            (0..sizes[0]).flat_map(move |z| (0..sizes[1]).flat_map(move |y| (0..sizes[2]).map(move |x| [z, y, x])))
        };
        for o in every(out) {
            for k in every(kernel) {
                let at = [0, 1, 2].map(|dim| o[dim] * stride[dim] - padding[dim] + k[dim] * dilation[dim]);
                if !(0..3).all(|dim| (0..image[dim]).contains(&at[dim])) {
                    continue;
                }
                for sample in 0..self.samples {
                    for row in 0..self.groups * self.rows {
                        for channel in 0..self.channels {
                            let source = row / self.rows * self.channels + channel;
                            visit(
                                [sample, row, o[0], o[1], o[2]],
                                [row, channel, k[0], k[1], k[2]],
                                [sample, source, at[0], at[1], at[2]],
                            );
                        }
                    }
                }
            }
        }
    }
}

fn with(first: i64, second: i64, rest: &[i64]) -> Vec<i64> {
    [first, second].into_iter().chain(rest.iter().copied()).collect()
}

/// Compares all three products of a shape.
fn check<T: Value>(random: &mut Random, shape: &Shape) {
    let Some(extents) = shape.out() else { return };
    let [image_format, weight_format, out_format] = shape.formats;
    let (rows, channels) = (shape.groups * shape.rows, shape.groups * shape.channels);
    let mut image = Image::<T>::new(random, &with(shape.samples, channels, &shape.image), image_format);
    let mut weight = Image::<T>::new(random, &with(rows, shape.channels, &shape.kernel), weight_format);
    let mut out = Image::<T>::new(random, &with(shape.samples, rows, &extents), out_format);
    let plain = Image::<T>::new(random, &weight.sizes, Format::First);
    let (mut outs, mut weights, mut images) = (out.sums(), plain.sums(), image.sums());
    out.each(|index, at| outs[at] = (index[1] % 3) as f64 - 1.0);
    shape.each(&extents, |o, w, i| {
        let (grad, factor) = (out.values[out.offset(o)].get(), weight.values[weight.offset(w)].get());
        let value = image.values[image.offset(i)].get();
        outs[out.offset(o)] += factor * value;
        weights[plain.offset(w)] += grad * value;
        images[image.offset(i)] += grad * factor;
    });
    let mut bias: Vec<T> = (0..rows).map(|row| T::new((row % 3) as f64 - 1.0)).collect();
    let sizes = [rows];
    // SAFETY: the bias has an element for each row of each group.
    let bias = unsafe { Array::new(bias.as_mut_ptr().cast(), T::DTYPE, &sizes, &[1]) };
    let (stride, padding, dilation) = (&shape.stride, &shape.padding, &shape.dilation);
    let walk = Walk { stride, padding, dilation, groups: shape.groups };
    let name = T::DTYPE.c10_name();
    let mut result = out.spoiled();
    forward(&result.array(), &image.array(), &weight.array(), Some(&bias), &walk).unwrap();
    result.check(&outs, &format!("forward of {name}, {shape:?}"));
    let mut result = image.spoiled();
    transposed(&result.array(), &out.array(), &weight.array(), None, &walk).unwrap();
    result.check(&images, &format!("transposed of {name}, {shape:?}"));
    let mut result = plain.spoiled();
    weight_gradient(&result.array(), &out.array(), &image.array(), &walk).unwrap();
    result.check(&weights, &format!("weights of {name}, {shape:?}"));
}

#[test]
fn all_three_products_are_the_sums_written_out() {
    let mut random = Random(5);
    for _ in 0..400 {
        let shape = Shape::random(&mut random);
        check::<f32>(&mut random, &shape);
        match random.below(5) {
            0 => check::<f64>(&mut random, &shape),
            1 => check::<bf16>(&mut random, &shape),
            2 => check::<f16>(&mut random, &shape),
            3 => check::<i32>(&mut random, &shape),
            _ => check::<i8>(&mut random, &shape),
        }
    }
}

/// Compares a convolution with packed weights, followed by an addition and an activation, of images of two sizes.
fn check_finished(random: &mut Random, shape: &Shape) {
    let [image_format, weight_format, out_format] = shape.formats;
    let (rows, channels) = (shape.groups * shape.rows, shape.groups * shape.channels);
    let mut weight = Image::<f32>::new(random, &with(rows, shape.channels, &shape.kernel), weight_format);
    let mut bias: Vec<f32> = (0..rows).map(|row| (row % 3) as f32 - 1.0).collect();
    let sizes = [rows];
    // SAFETY: the bias has an element for each row of each group.
    let bias = unsafe { Array::new(bias.as_mut_ptr().cast(), DType::F32, &sizes, &[1]) };
    let (stride, padding, dilation) = (&shape.stride, &shape.padding, &shape.dilation);
    let walk = Walk { stride, padding, dilation, groups: shape.groups };
    let packed = Packed::default();
    for larger in [0, 0, 3] {
        let shape = Shape { image: shape.image.iter().map(|size| size + larger).collect(), ..shape.clone() };
        let Some(extents) = shape.out() else { return };
        let mut image = Image::<f32>::new(random, &with(shape.samples, channels, &shape.image), image_format);
        let mut add = Image::<f32>::new(random, &with(shape.samples, rows, &extents), out_format);
        let mut sums = add.sums();
        add.each(|index, at| sums[at] = (index[1] % 3) as f64 - 1.0);
        shape.each(&extents, |o, w, i| {
            sums[add.offset(o)] += weight.values[weight.offset(w)].get() * image.values[image.offset(i)].get();
        });
        let mut result = add.spoiled();
        let finish = Finish { add: Some(&add.array()), then: Activation::Clamp(-4.0, 6.0) };
        forward_packed(&result.array(), &image.array(), &weight.array(), Some(&bias), &walk, &finish, &packed).unwrap();
        let wanted: Vec<f64> =
            sums.iter().zip(&add.values).map(|(sum, add)| (sum + add.get()).clamp(-4.0, 6.0)).collect();
        result.check(&wanted, &format!("finished, {shape:?}"));
        let mut result = add.spoiled();
        let finish = Finish { add: None, then: Activation::LeakyRelu(-2.0) };
        forward_packed(&result.array(), &image.array(), &weight.array(), Some(&bias), &walk, &finish, &packed).unwrap();
        let wanted: Vec<f64> = sums.iter().map(|&sum| if sum > 0.0 { sum } else { -2.0 * sum }).collect();
        result.check(&wanted, &format!("rectified, {shape:?}"));
    }
}

#[test]
fn packed_convolutions_are_followed_by_additions_and_activations() {
    let mut random = Random(21);
    for _ in 0..250 {
        let shape = Shape::random(&mut random);
        check_finished(&mut random, &shape);
    }
}

/// Each function against its definition, at the ends of its pieces and between them.
#[test]
fn activations_are_those_of_the_operators() {
    let points = [-40.0f32, -3.5, -3.0, -1.0, -0.0, 0.0, 0.3, 2.9, 3.0, 6.5, f32::INFINITY, f32::NAN];
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let hard_step = |x: f64| (x + 3.0).clamp(0.0, 6.0);
    // The CDF of the standard normal distribution: its power series, times the density.
    let phi = |x: f64| {
        let terms = (1..200).scan(x, |term, k| {
            let current = *term;
            *term *= x * x / f64::from(2 * k + 1);
            Some(current)
        });
        let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        if x.abs() > 8.0 { f64::from(u8::from(x > 0.0)) } else { 0.5 + density * terms.sum::<f64>() }
    };
    let inner = |x: f64| (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
    let functions: [(Activation, &dyn Fn(f64) -> f64); 10] = [
        (Activation::Identity, &|x| x),
        (Activation::Clamp(0.0, f32::INFINITY), &|x| if x < 0.0 { 0.0 } else { x }),
        (Activation::LeakyRelu(0.01), &|x| if x > 0.0 { x } else { 0.01 * x }),
        (Activation::Sigmoid, &sigmoid),
        (Activation::Silu, &|x| x * sigmoid(x)),
        (Activation::HardSigmoid, &|x| hard_step(x) / 6.0),
        (Activation::HardSwish, &|x| x * hard_step(x) / 6.0),
        (Activation::Gelu, &|x| x * phi(x)),
        (Activation::GeluTanh, &|x| x / 2.0 * (1.0 + inner(x).tanh())),
        (Activation::Tanh, &|x| x.tanh()),
    ];
    let count = points.len() as i64;
    let (sizes, strides) = ([1, 1, count], [count, count, 1]);
    for (then, function) in functions {
        let (mut image, mut one, mut out) = (points, [1.0f32], [SPOILED as f32; 12]);
        // SAFETY: as many elements as the sizes require.
        let [image, weight, result] = unsafe {
            [
                Array::new(image.as_mut_ptr().cast(), DType::F32, &sizes, &strides),
                Array::new(one.as_mut_ptr().cast(), DType::F32, &[1, 1, 1], &[1, 1, 1]),
                Array::new(out.as_mut_ptr().cast(), DType::F32, &sizes, &strides),
            ]
        };
        let walk = Walk { stride: &[1], padding: &[0], dilation: &[1], groups: 1 };
        let finish = Finish { add: None, then };
        forward_packed(&result, &image, &weight, None, &walk, &finish, &Packed::default()).unwrap();
        for (x, found) in points.iter().zip(out) {
            let wanted = function(f64::from(*x));
            let is_same = found.is_nan() && wanted.is_nan() || f64::from(found) == wanted;
            let error = (f64::from(found) - wanted).abs();
            // Sums of numbers around 1/2 are as exact as that.
            let least = if matches!(then, Activation::Gelu | Activation::GeluTanh) { 0.1 } else { 1e-30 };
            assert!(is_same || error <= 1e-6 * wanted.abs().max(least), "{then:?} of {x} is {found}, not {wanted}");
        }
    }
}

/// Several blocks along k, panels that span samples, and images that are copied a few samples at a time.
#[test]
fn large_products_are_the_sums_written_out() {
    let mut random = Random(6);
    let base = Shape {
        samples: 3,
        groups: 1,
        rows: 30,
        channels: 130,
        image: vec![7, 7],
        kernel: vec![3, 3],
        stride: vec![1, 1],
        padding: vec![1, 1],
        dilation: vec![1, 1],
        formats: [Format::First; 3],
    };
    let shapes = [
        base.clone(),
        Shape { formats: [Format::Last, Format::First, Format::Last], ..base.clone() },
        Shape {
            groups: 2,
            channels: 70,
            rows: 13,
            formats: [Format::First, Format::Last, Format::Last],
            ..base.clone()
        },
        Shape { stride: vec![2, 2], image: vec![15, 15], channels: 67, ..base.clone() },
        Shape { groups: 34, rows: 1, channels: 1, image: vec![40, 40], kernel: vec![5, 5], ..base.clone() },
        Shape { samples: 2, rows: 5, channels: 64, image: vec![100, 100], kernel: vec![1, 2], ..base.clone() },
        Shape {
            rows: 20,
            channels: 700,
            image: vec![4, 4],
            kernel: vec![1, 1],
            padding: vec![0, 0],
            formats: [Format::Last, Format::First, Format::Last],
            ..base.clone()
        },
        Shape {
            rows: 37,
            channels: 3,
            image: vec![11, 16],
            kernel: vec![7, 7],
            stride: vec![2, 2],
            padding: vec![3, 3],
            formats: [Format::First, Format::First, Format::Last],
            ..base.clone()
        },
        Shape {
            groups: 34,
            rows: 1,
            channels: 1,
            image: vec![19, 20],
            formats: [Format::Last, Format::First, Format::Last],
            ..base.clone()
        },
        // More weights than columns: they are read in place.
        Shape { samples: 2, rows: 70, channels: 210, image: vec![5, 5], ..base.clone() },
        Shape { samples: 1, rows: 70, channels: 210, image: vec![9, 8], stride: vec![2, 2], ..base.clone() },
        Shape {
            samples: 1,
            rows: 70,
            channels: 210,
            image: vec![5, 4],
            formats: [Format::Last, Format::Last, Format::First],
            ..base.clone()
        },
        // Adjacent channels: weights that are ordered as the products read them, or are not.
        Shape { samples: 2, rows: 20, channels: 130, image: vec![9, 9], formats: [Format::Last; 3], ..base.clone() },
        Shape {
            samples: 2,
            rows: 20,
            channels: 130,
            image: vec![17, 18],
            formats: [Format::Last, Format::First, Format::Last],
            ..base.clone()
        },
        // Few channels of the output, or of the image: several bands of rows, all phases of a step.
        Shape { samples: 2, rows: 3, channels: 24, image: vec![70, 37], ..base.clone() },
        Shape { samples: 2, rows: 20, channels: 3, image: vec![75, 60], stride: vec![2, 2], ..base.clone() },
        Shape {
            samples: 1,
            rows: 19,
            channels: 2,
            image: vec![40, 83],
            kernel: vec![2, 5],
            stride: vec![1, 3],
            dilation: vec![2, 1],
            formats: [Format::Last, Format::First, Format::First],
            ..base.clone()
        },
        Shape {
            samples: 1,
            rows: 4,
            channels: 17,
            image: vec![300],
            kernel: vec![7],
            stride: vec![1],
            padding: vec![2],
            dilation: vec![3],
            ..base.clone()
        },
        Shape { samples: 2, groups: 5, rows: 4, channels: 8, image: vec![30, 27], ..base.clone() },
    ];
    for shape in &shapes {
        check::<f32>(&mut random, shape);
        check::<f64>(&mut random, shape);
        check_finished(&mut random, shape);
    }
}

/// Whole and partial tiles, several rows of tiles, several small samples, both formats; the transposed one with the padding that
/// is left.
#[test]
fn winograd_is_within_two_in_a_hundred_thousand_of_the_largest_output() {
    let mut random = Random(12);
    for (formats, samples, padding, image) in [
        ([Format::First; 3], 2, 1, [30, 33]),
        ([Format::Last, Format::First, Format::Last], 2, 1, [29, 61]),
        ([Format::Gaps, Format::Last, Format::Gaps], 2, 0, [31, 30]),
        ([Format::First; 3], 13, 1, [7, 11]),
        ([Format::Last, Format::First, Format::Last], 5, 1, [13, 14]),
    ] {
        let shape = Shape {
            samples,
            groups: 1,
            rows: 33,
            channels: 40,
            image: image.to_vec(),
            kernel: vec![3, 3],
            stride: vec![1, 1],
            padding: vec![padding, padding],
            dilation: vec![1, 1],
            formats,
        };
        let extents = shape.out().unwrap();
        let mut any = |sizes: &[i64], format: Format| {
            let mut image = Image::<f32>::new(&mut random, sizes, format);
            image.values.iter_mut().for_each(|value| *value = random.between(-1000, 1000) as f32 / 1000.0);
            image
        };
        let mut image = any(&with(samples, 40, &shape.image), formats[0]);
        let mut weight = any(&with(33, 40, &shape.kernel), formats[1]);
        let mut out = any(&with(samples, 33, &extents), formats[2]);
        let (mut outs, mut images) = (out.sums(), image.sums());
        let mut bias: Vec<f32> = (0..33).map(|row| row as f32 / 8.0).collect();
        out.each(|index, at| outs[at] = index[1] as f64 / 8.0);
        shape.each(&extents, |o, w, i| {
            let factor = weight.values[weight.offset(w)].get();
            outs[out.offset(o)] += factor * image.values[image.offset(i)].get();
            images[image.offset(i)] += factor * out.values[out.offset(o)].get();
        });
        // SAFETY: the bias has an element for each row.
        let bias = unsafe { Array::new(bias.as_mut_ptr().cast(), DType::F32, &[33], &[1]) };
        let (stride, padding, dilation) = (&shape.stride, &shape.padding, &shape.dilation);
        let walk = Walk { stride, padding, dilation, groups: 1 };
        let mut result = out.spoiled();
        forward(&result.array(), &image.array(), &weight.array(), Some(&bias), &walk).unwrap();
        result.is_close(&outs);
        let sums: Vec<f64> = outs.iter().zip(&out.values).map(|(sum, add)| (sum + add.get()).max(0.0)).collect();
        let (packed, mut add) = (Packed::default(), out.clone());
        for _ in 0..2 {
            let mut result = out.spoiled();
            let finish = Finish { add: Some(&add.array()), then: Activation::Clamp(0.0, f32::INFINITY) };
            forward_packed(&result.array(), &image.array(), &weight.array(), Some(&bias), &walk, &finish, &packed)
                .unwrap();
            result.is_close(&sums);
        }
        let mut result = image.spoiled();
        transposed(&result.array(), &out.array(), &weight.array(), None, &walk).unwrap();
        result.is_close(&images);
    }
}

#[test]
fn transposed_by_taps_is_the_sum_written_out() {
    let mut random = Random(7);
    for _ in 0..60 {
        let shape = Shape::random(&mut random);
        let Some(extents) = shape.out() else { continue };
        let (rows, channels) = (shape.groups * shape.rows, shape.groups * shape.channels);
        let mut grad = Image::<f64>::new(&mut random, &with(shape.samples, rows, &extents), shape.formats[0]);
        let mut weight = Image::<f64>::new(&mut random, &with(rows, shape.channels, &shape.kernel), shape.formats[1]);
        let image = Image::<f64>::new(&mut random, &with(shape.samples, channels, &shape.image), shape.formats[2]);
        let mut sums = image.sums();
        shape.each(&extents, |o, w, i| {
            sums[image.offset(i)] += grad.values[grad.offset(o)] * weight.values[weight.offset(w)];
        });
        let (stride, padding, dilation) = (&shape.stride, &shape.padding, &shape.dilation);
        let walk = Walk { stride, padding, dilation, groups: shape.groups };
        let mut result = image.spoiled();
        transposed_by_taps(&result.array(), &grad.array(), &weight.array(), None, &walk).unwrap();
        result.check(&sums, &format!("by taps, {shape:?}"));
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let _turn = THREADS.lock().unwrap();
    let before = runtime::num_threads() as i64;
    // Plain, grouped, depthwise, and depthwise with two outputs for each channel.
    for (channels, within, rows, format) in [
        (16, 16, 24, Format::First),
        (16, 16, 24, Format::Last),
        (24, 4, 24, Format::First),
        (24, 1, 24, Format::First),
        (24, 1, 24, Format::Last),
        (12, 1, 24, Format::First),
        (40, 40, 40, Format::First),
        (64, 64, 3, Format::First),
        (3, 3, 24, Format::First),
        (128, 128, 128, Format::First),
    ] {
        let mut random = Random(9);
        let mut image = Image::<f32>::new(&mut random, &[2, channels, 30, 30], format);
        let mut weight = Image::<f32>::new(&mut random, &[rows, within, 3, 3], Format::First);
        for value in image.values.iter_mut().chain(&mut weight.values) {
            *value *= 0.1;
        }
        let mut out = Image::<f32>::new(&mut random, &[2, rows, 30, 30], format);
        let walk = Walk { stride: &[1, 1], padding: &[1, 1], dilation: &[1, 1], groups: channels / within };
        let mut results = Vec::new();
        for threads in [1, 2, 5] {
            runtime::set_num_threads(threads).unwrap();
            let (mut there, mut back, mut by_weight) = (out.clone(), image.spoiled(), weight.spoiled());
            forward(&there.array(), &image.array(), &weight.array(), None, &walk).unwrap();
            transposed(&back.array(), &out.array(), &weight.array(), None, &walk).unwrap();
            weight_gradient(&by_weight.array(), &out.array(), &image.array(), &walk).unwrap();
            let bits = |image: &Image<f32>| image.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            results.push((bits(&there), bits(&back), bits(&by_weight)));
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{channels} channels, {within} together");
    }
    runtime::set_num_threads(before).unwrap();
}

#[test]
fn what_is_around_an_image_does_not_reach_its_results() {
    // Rows of a depthwise gradient end within vectors: NaN in what follows must not spread.
    let mut random = Random(11);
    let mut image = Image::<f32>::new(&mut random, &[1, 8, 5, 5], Format::First);
    let mut grad = Image::<f32>::new(&mut random, &[1, 8, 5, 5], Format::First);
    // The first element of each row is met by no tap at the last position of the row before.
    for row in 1..5 {
        let at = image.offset([0, 0, 0, row, 0]);
        image.values[at] = f32::NAN;
        for column in 0..2 {
            let at = grad.offset([0, 0, 0, row, column]);
            grad.values[at] = 0.0;
        }
    }
    let mut out = Image::<f32>::new(&mut random, &[8, 1, 1, 3], Format::First);
    let walk = Walk { stride: &[1, 1], padding: &[0, 1], dilation: &[1, 1], groups: 8 };
    weight_gradient(&out.array(), &grad.array(), &image.array(), &walk).unwrap();
    // The tap to the right meets columns 1 to 4 of each row: no NaN.
    assert!(out.values[2].is_finite());
}

#[test]
fn what_follows_a_row_of_few_channels_does_not_reach_their_gradient() {
    let mut random = Random(13);
    let mut image = Image::<f32>::new(&mut random, &[1, 3, 4, 30], Format::First);
    let mut grad = Image::<f32>::new(&mut random, &[1, 5, 4, 29], Format::First);
    // Infinite where the left tap meets no position: behind the 29 of each row.
    for (channel, row) in (0..3).flat_map(|channel| (0..4).map(move |row| (channel, row))) {
        let at = image.offset([0, channel, 0, row, 29]);
        image.values[at] = f32::INFINITY;
    }
    let mut out = Image::<f32>::new(&mut random, &[5, 3, 1, 2], Format::First);
    let walk = Walk { stride: &[1, 1], padding: &[0, 0], dilation: &[1, 1], groups: 1 };
    weight_gradient(&out.array(), &grad.array(), &image.array(), &walk).unwrap();
    assert!(out.values.iter().step_by(2).all(|sum| sum.is_finite()));
}
