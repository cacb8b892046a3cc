//! Pooling and resampling: sums over the inputs of each position, and the largest of them.

use crate::Complex;
use crate::lines::each;
use crate::memory::{load, store};
use crate::number::{Number, Ordered, Wide};
use crate::parameters::Images;

/// A place of the output: its offset and spatial coordinates, and the offsets of its plane in the other operands.
struct Position {
    out: i64,
    planes: [i64; 2],
    spatial: [u32; 3],
}

#[inline(always)]
fn position(p: &Images, index: u32) -> Position {
    let (mut rest, mut channel) = (index, 0);
    if p.channels_last != 0 {
        (rest, channel) = p.channels.divide(rest);
    }
    let (rest, w) = p.out[2].divide(rest);
    let (rest, h) = p.out[1].divide(rest);
    let (mut sample, d) = p.out[0].divide(rest);
    if p.channels_last == 0 {
        (sample, channel) = p.channels.divide(sample);
    }
    let plane = |operand: usize| {
        i64::from(sample) * p.strides[operand][0] + i64::from(channel) * p.strides[operand][1]
    };
    Position {
        out: plane(0) + place(&p.strides[0], d, h, w),
        planes: [plane(1), plane(2)],
        spatial: [d, h, w],
    }
}

#[inline(always)]
pub(crate) fn place(strides: &[i64; 5], d: u32, h: u32, w: u32) -> i64 {
    i64::from(d) * strides[2] + i64::from(h) * strides[3] + i64::from(w) * strides[4]
}

#[inline(always)]
fn word(at: u64, index: u32) -> u32 {
    // SAFETY: the host has stored a word for each index.
    unsafe { load::<u32, 1>(at + u64::from(index) * 4, 4)[0] }
}

/// The element at an offset, in elements, which the host describes.
#[inline(always)]
pub(crate) fn element<T: Copy>(at: u64, offset: i64) -> T {
    // SAFETY: the host describes an element at each offset.
    unsafe { load::<T, 1>(at.wrapping_add((offset * size_of::<T>() as i64) as u64), align_of::<T>())[0] }
}

/// Stores an element at an offset, in elements, which the host describes.
#[inline(always)]
pub(crate) fn put<T: Copy>(at: u64, offset: i64, value: T) {
    // SAFETY: the host describes an element at each offset.
    unsafe { store(at.wrapping_add((offset * size_of::<T>() as i64) as u64), align_of::<T>(), [value]) }
}

/// Calls `visit` with the inputs of a position along a dimension, and their numbers in the list.
#[inline(always)]
fn inputs(p: &Images, dim: usize, position: u32, mut visit: impl FnMut(u32, u32)) {
    let (mut entry, end) = (word(p.starts[dim], position), word(p.starts[dim], position + 1));
    while entry < end {
        visit(entry, word(p.inputs[dim], entry));
        entry += 1;
    }
}

/// The weight of an entry of a list.
#[inline(always)]
fn weight(p: &Images, dim: usize, entry: u32) -> f64 {
    // SAFETY: the host has stored a weight for each entry.
    unsafe { load::<f64, 1>(p.weights[dim] + u64::from(entry) * 8, 8)[0] }
}

/// A number that is weighted, and divided by a count.
trait Weighted: Wide {
    fn times(self, weight: f64) -> Self;
    fn over(self, count: i64) -> Self;
}

/// Weights of integers are 1; means are taken of floats and int64.
macro_rules! weighted {
    ($($type:ty: |$value:ident, $weight:ident| $times:expr, |$count:ident| $over:expr;)*) => {$(
        impl Weighted for $type {
            #[inline(always)]
            fn times(self, $weight: f64) -> $type {
                let $value = self;
                $times
            }
            #[inline(always)]
            fn over(self, $count: i64) -> $type {
                let $value = self;
                $over
            }
        }
    )*};
}

weighted! {
    f32: |value, weight| value * weight as f32, |count| value / count as f32;
    f64: |value, weight| value * weight, |count| value / count as f64;
    i64: |value, weight| value, |count| value / count;
    u8: |value, weight| value, |count| value;
    i8: |value, weight| value, |count| value;
    i16: |value, weight| value, |count| value;
    i32: |value, weight| value, |count| value;
    bool: |value, weight| value, |count| value;
    Complex<f32>: |value, weight| Complex::new(value.re * weight as f32, value.im * weight as f32), |count| value;
    Complex<f64>: |value, weight| Complex::new(value.re * weight, value.im * weight), |count| value;
}

/// out = the sums of the inputs times their weights: along the width first, then along height and depth.
#[inline(always)]
fn sums<T: Number<Wide: Weighted>>(p: &Images) {
    each(u64::from(p.count), |index| {
        let at = position(p, index as u32);
        let mut sum = T::Wide::ZERO;
        inputs(p, 0, at.spatial[0], |depth_entry, d| {
            let mut plane = T::Wide::ZERO;
            inputs(p, 1, at.spatial[1], |height_entry, h| {
                let mut line = T::Wide::ZERO;
                inputs(p, 2, at.spatial[2], |entry, w| {
                    let value = element::<T>(p.at[1], at.planes[0] + place(&p.strides[1], d, h, w)).wide();
                    line = line.add(value.times(weight(p, 2, entry)));
                });
                plane = plane.add(line.times(weight(p, 1, height_entry)));
            });
            sum = sum.add(plane.times(weight(p, 0, depth_entry)));
        });
        let mut count = p.divide_by;
        if count == 0 && p.counts[0] != 0 {
            count = i64::from(word(p.counts[0], at.spatial[0]))
                * i64::from(word(p.counts[1], at.spatial[1]))
                * i64::from(word(p.counts[2], at.spatial[2]));
        }
        put(p.at[0], at.out, T::narrow(if count == 0 { sum } else { sum.over(count) }));
    });
}

/// out = bytes: the sums of the inputs times their weights, rounded after each dimension.
#[inline(always)]
fn bytes(p: &Images) {
    // The sums are exact.
    let rounded = |sum: f64| standard!(f64::floor(sum + 0.5)).max(0.0).min(255.0);
    each(u64::from(p.count), |index| {
        let at = position(p, index as u32);
        let mut sum = 0.0;
        inputs(p, 1, at.spatial[1], |height_entry, h| {
            let mut line = 0.0;
            inputs(p, 2, at.spatial[2], |entry, w| {
                let value = element::<u8>(p.at[1], at.planes[0] + place(&p.strides[1], 0, h, w));
                line += f64::from(value) * weight(p, 2, entry);
            });
            sum += rounded(line) * weight(p, 1, height_entry);
        });
        put(p.at[0], at.out, rounded(sum) as u8);
    });
}

entry! { "images" "bytes", U8, (p: Images) => bytes }

/// A type with a least number.
pub(crate) trait Least: Ordered {
    const LEAST: Self;
}

macro_rules! least {
    ($($type:ty: $least:expr;)*) => {$(
        impl Least for $type {
            const LEAST: $type = $least;
        }
    )*};
}

least! {
    u8: u8::MIN;
    i8: i8::MIN;
    i16: i16::MIN;
    i32: i32::MIN;
    i64: i64::MIN;
    f32: f32::NEG_INFINITY;
    f64: f64::NEG_INFINITY;
}

/// out = the largest of the inputs, and its number in its plane: -1 if there are none. NaN is larger than any number.
#[inline(always)]
fn largest<T: Number<Wide: Least>>(p: &Images) {
    each(u64::from(p.count), |index| {
        let at = position(p, index as u32);
        let (mut best, mut number) = (T::Wide::LEAST, -1i64);
        inputs(p, 0, at.spatial[0], |_, d| {
            inputs(p, 1, at.spatial[1], |_, h| {
                inputs(p, 2, at.spatial[2], |_, w| {
                    let value = element::<T>(p.at[1], at.planes[0] + place(&p.strides[1], d, h, w)).wide();
                    if number < 0 || value > best || value.is_nan() {
                        best = value;
                        let row = i64::from(d) * i64::from(p.plane[1]) + i64::from(h);
                        number = row * i64::from(p.plane[2]) + i64::from(w);
                    }
                });
            });
        });
        put(p.at[0], at.out, T::narrow(best));
        let [d, h, w] = at.spatial;
        put(p.at[2], at.planes[1] + place(&p.strides[2], d, h, w), number);
    });
}

/// out = the sum of the gradients whose indices lead to each element.
#[inline(always)]
fn spread_largest<T: Number>(p: &Images) {
    each(u64::from(p.count), |index| {
        let at = position(p, index as u32);
        let [d, h, w] = at.spatial.map(i64::from);
        let number = (d * i64::from(p.plane[1]) + h) * i64::from(p.plane[2]) + w;
        let mut sum = T::Wide::ZERO;
        inputs(p, 0, at.spatial[0], |_, d| {
            inputs(p, 1, at.spatial[1], |_, h| {
                inputs(p, 2, at.spatial[2], |_, w| {
                    if element::<i64>(p.at[2], at.planes[1] + place(&p.strides[2], d, h, w)) == number {
                        let value = element::<T>(p.at[1], at.planes[0] + place(&p.strides[1], d, h, w));
                        sum = sum.add(value.wide());
                    }
                });
            });
        });
        put(p.at[0], at.out, T::narrow(sum));
    });
}

macro_rules! image_entries {
    ($($name:ident: $($dtype:ident)*;)*) => {$($(
        entry! { "images" stringify!($name), $dtype, (p: Images) => $name::<element!($dtype)> }
    )*)*};
}

image_entries! {
    sums: U8 I8 I16 I32 I64 F16 BF16 F32 F64 C32 C64 C128 Bool;
    largest: U8 I8 I16 I32 I64 F16 BF16 F32 F64;
    spread_largest: F16 BF16 F32 F64;
}
