//! Fractional max pooling: the largest element of windows at random places, and the gradient.

#[path = "../../../cpu/src/pooling/fractional.rs"]
mod windows;

use crate::images::{Least, element, place, put};
use crate::lines::each;
use crate::memory::{report, store};
use crate::number::{Number, Wide};
use crate::parameters::{Fractional, Size};
use crate::sort::each_equal;
use core::mem::size_of;

/// The places of the operands in [`Fractional`].
const IMAGES: usize = 0;
const RESULTS: usize = 1;
const INDICES: usize = 2;
const SAMPLES: usize = 3;

/// The sample, channel and spatial coordinates of an element.
#[inline(always)]
fn coordinates(p: &Fractional, sizes: &[Size; 3], index: u32) -> [u32; 5] {
    let (rest, w) = sizes[2].divide(index);
    let (rest, h) = sizes[1].divide(rest);
    let (rest, d) = sizes[0].divide(rest);
    let (sample, channel) = p.channels.divide(rest);
    [sample, channel, d, h, w]
}

/// The offset of a plane in an operand.
#[inline(always)]
fn plane(p: &Fractional, operand: usize, [sample, channel, ..]: [u32; 5]) -> i64 {
    i64::from(sample) * p.strides[operand][0] + i64::from(channel) * p.strides[operand][1]
}

/// The offset of an element in an operand.
#[inline(always)]
fn offset(p: &Fractional, operand: usize, at: [u32; 5]) -> i64 {
    let [_, _, d, h, w] = at;
    plane(p, operand, at) + place(&p.strides[operand], d, h, w)
}

/// results, indices = the largest element of each window, and its number in its plane. NaN is larger than any number.
#[inline(always)]
fn fractional_max<T: Number<Wide: Least + Into<f64>>>(p: &Fractional) {
    each(u64::from(p.count), |index| {
        let at = coordinates(p, &p.out, index as u32);
        let [sample, channel, d, h, w] = at;
        // The first element of the window along a dimension, of which a missing one has one.
        let start = |dim: usize, position: u32| {
            let missing = 3 - p.spatial as usize;
            if dim < missing {
                return 0;
            }
            let nth = windows::sample_of(dim - missing, p.spatial as usize);
            let [of_sample, of_channel, of_dim] = p.samples;
            let from = i64::from(sample) * of_sample + i64::from(channel) * of_channel + nth as i64 * of_dim;
            let chosen: f64 = element::<T>(p.at[SAMPLES], from).wide().into();
            let sizes = [p.sizes[dim].size as usize, p.window[dim] as usize];
            let single = size_of::<T>() < size_of::<f64>();
            windows::start(position as usize, p.out[dim].size as usize, sizes, chosen, single) as u32
        };
        let (first_d, first_h, first_w) = (start(0, d), start(1, h), start(2, w));
        let from = plane(p, IMAGES, at);
        let (mut best, mut number) = (T::Wide::LEAST, -1i64);
        for d in first_d..first_d + p.window[0] {
            for h in first_h..first_h + p.window[1] {
                for w in first_w..first_w + p.window[2] {
                    let value = element::<T>(p.at[IMAGES], from + place(&p.strides[IMAGES], d, h, w)).wide();
                    if number < 0 || value > best || value.is_nan() {
                        best = value;
                        let row = u64::from(d) * u64::from(p.sizes[1].size) + u64::from(h);
                        number = (row * u64::from(p.sizes[2].size) + u64::from(w)) as i64;
                    }
                }
            }
        }
        put(p.at[RESULTS], offset(p, RESULTS, at), T::narrow(best));
        put(p.at[INDICES], offset(p, INDICES, at), number);
    });
}

/// Stores the index of each element, to be sorted: the one of no element, -1, is the last.
#[inline(always)]
fn index_places(p: &Fractional) {
    let area = p.sizes.iter().fold(1, |area, size| area * u64::from(size.size));
    each(u64::from(p.count), |nth| {
        let index = element::<i64>(p.at[INDICES], offset(p, INDICES, coordinates(p, &p.out, nth as u32)));
        if index as u64 >= area && index != -1 {
            report(&p.watch, index);
        }
        // SAFETY: the host describes a key for each element.
        unsafe { store(p.order[0] + nth * 8, 8, [index as u64]) }
    });
}

/// images = the sum of the gradients whose indices lead to each element.
#[inline(always)]
fn spread_by_index<T: Number>(p: &Fractional) {
    let (area, length) = p
        .sizes
        .iter()
        .zip(&p.out)
        .fold((1, 1), |(area, length), (size, out)| (area * u64::from(size.size), length * u64::from(out.size)));
    each(u64::from(p.count), |nth| {
        let at = coordinates(p, &p.sizes, nth as u32);
        let number = nth / area;
        let mut sum = T::Wide::ZERO;
        each_equal(p.order, number * length, length, nth % area, |result| {
            let place = coordinates(p, &p.out, (number * length) as u32 + result);
            sum = sum.add(element::<T>(p.at[RESULTS], offset(p, RESULTS, place)).wide());
        });
        put(p.at[IMAGES], offset(p, IMAGES, at), T::narrow(sum));
    });
}

float_entries! {
    "images";
    fractional_max(p: Fractional)
    spread_by_index(p: Fractional)
}

entry! { "images" "index_places", I64, (p: Fractional) => index_places }
