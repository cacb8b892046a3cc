//! Products and convolutions of bytes beside plain loops, at random shapes.

use super::{Affine, Filters, Requantize, Sums, Weight, Window, convolve, dot, products};

/// A sequence of numbers that looks random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next(256) as u8).collect()
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.next((high - low + 1) as u64) as i64
    }
}

fn signed(bytes: &[u8]) -> Vec<i8> {
    bytes.iter().map(|byte| byte.cast_signed()).collect()
}

fn distances(values: impl IntoIterator<Item = i32>, zero: i32) -> Vec<i16> {
    values.into_iter().map(|value| (value - zero) as i16).collect()
}

#[test]
fn products_of_bytes_are_exact() {
    let mut numbers = Numbers(1);
    for round in 0..60 {
        let (m, n, k) = (numbers.next(20) as usize, numbers.next(40) as usize, 1 + numbers.next(150) as usize);
        let (left, right, zero) = (numbers.bytes(m * k), signed(&numbers.bytes(n * k)), numbers.next(256) as u8);
        let zeros: Vec<i32> =
            (0..n).map(|_| if round % 2 == 0 { 0 } else { numbers.between(-128, 127) as i32 }).collect();
        let weight = Weight::new(&right, &zeros).unwrap();
        let found = products(&left, zero, &weight).unwrap();
        for i in 0..m {
            for j in 0..n {
                let a = distances(left[i * k..(i + 1) * k].iter().map(|&x| i32::from(x)), i32::from(zero));
                let b = distances(right[j * k..(j + 1) * k].iter().map(|&x| i32::from(x)), zeros[j]);
                assert_eq!(found[i * n + j], dot(&a, &b), "{m} x {k} x {n}, element {i}, {j}");
            }
        }
    }
}

#[test]
fn a_weight_without_elements_has_products_of_zero() {
    assert_eq!(products(&[], 3, &Weight::new(&[], &[]).unwrap()).unwrap(), []);
    let weight = Weight::new(&[], &[1, 2]).unwrap();
    let mut out = [7; 4];
    weight.multiply(&[], 3, &mut out).unwrap();
    assert_eq!(out, [0; 4]);
}

/// The result of a convolution, one output after another.
fn plain(
    window: &Window,
    [values, zeros]: [&[i32]; 2],
    (images, channels, zero): (&[u8], usize, i32),
    groups: usize,
    by: &Requantize,
) -> Vec<u8> {
    let (filters, taps) = (zeros.len(), window.kernel.iter().product::<i64>() as usize);
    let (run, depth) = (channels / groups, values.len() / filters);
    let image = window.size.iter().product::<i64>() as usize * channels;
    let mut out = Vec::new();
    for image in images.chunks_exact(image) {
        for place in 0..window.result.iter().product::<i64>() {
            let plane = window.result[1] * window.result[2];
            let at = [place / plane, place % plane / window.result[2], place % window.result[2]];
            for filter in 0..filters {
                let mut sum = 0i32;
                for tap in 0..taps as i64 {
                    let area = window.kernel[1] * window.kernel[2];
                    let taps_at = [tap / area, tap % area / window.kernel[2], tap % window.kernel[2]];
                    let mut index = Some(0);
                    for d in 0..3 {
                        let (at, tap) = (at[d], taps_at[d] * window.dilation[d]);
                        let position = if !window.transposed {
                            Some(at * window.stride[d] - window.padding[d] + tap)
                        } else {
                            let spread = at + window.padding[d] - tap;
                            (spread % window.stride[d] == 0).then(|| spread / window.stride[d])
                        };
                        let position = position.filter(|position| (0..window.size[d]).contains(position));
                        index = index.zip(position).map(|(index, position)| index * window.size[d] + position);
                    }
                    let Some(index) = index else { continue };
                    for c in 0..run {
                        let channel = filter / (filters / groups) * run + c;
                        let x = i32::from(image[index as usize * channels + channel]) - zero;
                        sum += x * (values[filter * depth + tap as usize * run + c] - zeros[filter]);
                    }
                }
                let (bias, factor) = by.channels[filter];
                let steps = ((sum as f32 + bias) * factor).round_ties_even().clamp(-1e6, 1e6) as i32;
                let low = if by.relu { i32::from(by.zero_point) } else { 0 };
                out.push((steps + i32::from(by.zero_point)).clamp(low, 255) as u8);
            }
        }
    }
    out
}

#[test]
fn convolutions_equal_plain_sums_of_every_kind() {
    let mut numbers = Numbers(5);
    for round in 0..120 {
        let mut window = Window {
            size: [0; 3],
            kernel: [1; 3],
            result: [1; 3],
            stride: [1; 3],
            padding: [0; 3],
            dilation: [1; 3],
            transposed: round % 5 == 4,
        };
        for d in 0..3 {
            window.size[d] = if d == 0 && round % 3 != 0 { 1 } else { numbers.between(1, 9) };
            window.kernel[d] = numbers.between(1, window.size[d].min(4));
            window.stride[d] = numbers.between(1, 3);
            window.dilation[d] = if window.kernel[d] > 1 && numbers.next(3) == 0 { 2 } else { 1 };
            window.padding[d] = numbers.between(0, (window.kernel[d] - 1).min(2));
            let reach = window.dilation[d] * (window.kernel[d] - 1) + 1;
            window.result[d] = if window.transposed {
                (window.size[d] - 1) * window.stride[d] - 2 * window.padding[d] + reach
            } else {
                (window.size[d] + 2 * window.padding[d] - reach).div_euclid(window.stride[d]) + 1
            };
        }
        if round % 7 == 0 {
            (window.kernel, window.stride, window.padding, window.dilation) = ([1; 3], [1; 3], [0; 3], [1; 3]);
            window.result = window.size;
        }
        if window.result.iter().any(|&size| size < 1) {
            continue;
        }
        let (groups, run, per_group) = match round % 4 {
            0 => (1 + numbers.next(70) as usize, 1, 1),
            1 => (1 + numbers.next(3) as usize, 1 + numbers.next(5) as usize, 1 + numbers.next(4) as usize),
            _ => (1, 1 + numbers.next(9) as usize, 1 + numbers.next(20) as usize),
        };
        let (channels, filters) = (groups * run, groups * per_group);
        let taps = window.kernel.iter().product::<i64>() as usize;
        let images = numbers.bytes(numbers.0 as usize % 3 * window.size.iter().product::<i64>() as usize * channels);
        let values = signed(&numbers.bytes(filters * taps * run));
        let zeros: Vec<i32> = (0..filters).map(|_| numbers.between(-20, 20) as i32 * (round % 2)).collect();
        let zero = numbers.next(256) as u8;
        let channel = |_| (numbers.between(-500, 500) as f32, numbers.between(1, 100) as f32 / 2000.0);
        let by = Requantize { channels: (0..filters).map(channel).collect(), zero_point: 100, relu: round % 2 == 0 };
        let packed = Filters::new(&values, &zeros, groups, taps).unwrap();
        let found = convolve(&window, &packed, &images, channels, zero, &by).unwrap();
        let wide: Vec<i32> = values.iter().map(|&value| i32::from(value)).collect();
        let expected = plain(&window, [&wide, &zeros], (&images, channels, i32::from(zero)), groups, &by);
        assert_eq!(found, expected, "round {round}: groups {groups}, {channels} to {filters} channels");
    }
}

#[test]
fn numbers_are_rounded_to_even_and_saturated() {
    let by = Affine { inverse: 2.0, zero_point: 10, limits: (0, 255), nan: 255 };
    let values = [0.0, 0.25, 0.75, 1.25, -0.25, 1e30, -1e30, f32::INFINITY, f32::NAN];
    assert_eq!(by.bytes(&values).unwrap(), [10, 10, 12, 12, 10, 255, 0, 255, 255]);
    let signed = Affine { limits: (-128, 127), zero_point: -3, ..by };
    assert_eq!(signed.bytes(&[-1e9, 1.0, -1.0]).unwrap(), [128, 255, 251]);
}

#[test]
fn sums_are_those_of_the_numbers() {
    let first: [f32; 256] = std::array::from_fn(|q| q as f32 * 0.5);
    let second: [f32; 256] = std::array::from_fn(|q| q as f32 - 100.0);
    let by = Affine { inverse: 1.0, zero_point: 5, limits: (0, 255), nan: 255 };
    let (a, b) = ([0, 2, 4, 255], [100, 101, 0, 255]);
    let sums = |relu| Sums { tables: [&first, &second], relu, by }.bytes(&a, &b).unwrap();
    assert_eq!(sums(false), [5, 7, 0, 255]);
    assert_eq!(sums(true), [5, 7, 5, 255]);
}
