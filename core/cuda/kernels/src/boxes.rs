//! Pooling of boxes: means of samples, maxima and means of windows, and their gradients.

use crate::detection::bins::{Align, Bins, between, is_outside, pair, sample};
use crate::detection::real::Real;
use crate::detection::windows::Windows;
use crate::images::{element, put};
use crate::lines::each;
use crate::memory::{report, store};
use crate::parameters::Boxes;
use crate::sort::each_equal;
use core::ops::Range;

/// The places of the operands in [`Boxes`].
const IMAGES: usize = 0;
const ROIS: usize = 1;
const BINS: usize = 2;
const BESIDE: usize = 3;

/// The key of a bin without an element.
const NOWHERE: u64 = u64::MAX;

#[inline(always)]
fn sizes(p: &Boxes) -> [usize; 2] {
    [p.image[0] as usize, p.image[1] as usize]
}

#[inline(always)]
fn bins(p: &Boxes) -> [usize; 2] {
    [p.bins[0].size as usize, p.bins[1].size as usize]
}

#[inline(always)]
fn align_of(p: &Boxes) -> Align {
    Align {
        operator: "",
        scale: p.scale,
        bins: bins(p),
        sampling: p.sampling,
        aligned: p.aligned != 0,
        at_least_one: p.at_least_one != 0,
        by_position: p.by_position != 0,
    }
}

#[inline(always)]
fn windows_of(p: &Boxes) -> Windows {
    let (inclusive, whole) = (p.inclusive != 0, p.whole != 0);
    Windows { operator: "", scale: p.scale, bins: bins(p), inclusive, whole }
}

/// A number of a box, the first of which is its image.
#[inline(always)]
fn number<T: Real>(p: &Boxes, nth: u32, at: i64) -> T {
    element::<T>(p.at[ROIS], i64::from(nth) * 5 + at)
}

#[inline(always)]
fn corners<T: Real>(p: &Boxes, nth: u32) -> [T; 4] {
    [number(p, nth, 1), number(p, nth, 2), number(p, nth, 3), number(p, nth, 4)]
}

/// The image of a box. One that is not in the batch is reported.
#[inline(always)]
fn image_of<T: Real>(p: &Boxes, nth: u32) -> Option<u32> {
    let image = number::<T>(p, nth, 0).to_f64();
    if image > -1.0 && image < f64::from(p.images) {
        return Some(image as u32);
    }
    report(&p.watch, image as i64);
    None
}

/// The first element of a plane of the images.
#[inline(always)]
fn plane(p: &Boxes, image: u32, channel: usize) -> i64 {
    (i64::from(image) * i64::from(p.channels.size) + channel as i64) * i64::from(p.image[0]) * i64::from(p.image[1])
}

/// The box, channel, row and column of a bin.
#[inline(always)]
fn bin(p: &Boxes, index: u32) -> (u32, usize, [usize; 2]) {
    let (rest, column) = p.bins[1].divide(index);
    let (rest, row) = p.bins[0].divide(rest);
    let (nth, channel) = p.results.divide(rest);
    (nth, channel as usize, [row as usize, column as usize])
}

/// The place of a bin.
#[inline(always)]
fn place(p: &Boxes, nth: u32, channel: usize, [row, column]: [usize; 2]) -> i64 {
    let plane = i64::from(nth) * i64::from(p.results.size) + channel as i64;
    (plane * i64::from(p.bins[0].size) + row as i64) * i64::from(p.bins[1].size) + column as i64
}

/// The image, channel and coordinates of an element of the images.
#[inline(always)]
fn pixel(p: &Boxes, index: u32) -> (u32, usize, [usize; 2]) {
    let (rest, x) = p.sizes[1].divide(index);
    let (rest, y) = p.sizes[0].divide(rest);
    let (image, channel) = p.channels.divide(rest);
    (image, channel as usize, [y as usize, x as usize])
}

/// The first step of a bin along a dimension, from number `start` on, whose point is not before the wanted ones.
#[inline(always)]
fn first_step<T: Real>(of: &Bins<T>, d: usize, bin: usize, start: usize, is_before: impl Fn(f64) -> bool) -> usize {
    let (mut first, mut end) = (start, of.steps(d));
    while first < end {
        let middle = first + (end - first) / 2;
        if is_before(of.point(d, bin, middle).to_f64()) { first = middle + 1 } else { end = middle }
    }
    first
}

/// The steps of a bin along a dimension whose points are not outside of `low` to `high`: points ascend, or descend, from step
/// to step. A box may have more steps than there are elements.
#[inline(always)]
fn steps_within<T: Real>(of: &Bins<T>, d: usize, bin: usize, low: f64, high: f64) -> Range<usize> {
    let descends = of.size[d] < T::default();
    let start = first_step(of, d, bin, 0, |at| if descends { at > high } else { at < low });
    start..first_step(of, d, bin, start, |at| if descends { !(at < low) } else { !(at > high) })
}

/// bins = the means of their samples. A box in none of the images has zeros, one without end is not a number.
#[inline(always)]
fn align<T: Real>(p: &Boxes) {
    let (by, [height, width]) = (align_of(p), sizes(p));
    each(u64::from(p.count), |index| {
        let (nth, channel, [row, column]) = bin(p, index as u32);
        let source = by.channel(channel, row * by.bins[1] + column);
        let mean = || {
            let Some(image) = image_of::<T>(p, nth) else { return T::default() };
            let of = by.bins_of(corners::<T>(p, nth));
            if of.grid[0] == f64::INFINITY || of.grid[1] == f64::INFINITY {
                return T::of(f64::NAN);
            }
            let first = plane(p, image, source);
            let mut sum = T::default();
            let across = steps_within(&of, 1, column, -1.0, width as f64);
            for down in steps_within(&of, 0, row, -1.0, height as f64) {
                let y = of.point(0, row, down);
                for step in across.start..across.end {
                    // Without elements, an image has no samples.
                    if let Some(found) =
                        between(height, width, y, of.point(1, column, step)).filter(|_| height * width > 0)
                    {
                        let part = |k: usize| found.weights[k] * element::<T>(p.at[IMAGES], first + found.at[k] as i64);
                        sum = sum + (part(0) + part(1) + part(2) + part(3));
                    }
                }
            }
            // Boxes without samples are 0, or divide by 0 where each bin reads its own channel.
            sum / of.count(if by.by_position { f64::NEG_INFINITY } else { 1.0 })
        };
        put(p.at[BINS], index as i64, mean());
        if p.at[BESIDE] != 0 {
            put(p.at[BESIDE], index as i64, source as i32);
        }
    });
}

/// images = the gradients of the means, added up in the order of boxes, bins and samples.
#[inline(always)]
fn align_backward<T: Real>(p: &Boxes) {
    let (by, [height, width]) = (align_of(p), sizes(p));
    each(u64::from(p.count), |index| {
        let (own, channel, [y, x]) = pixel(p, index as u32);
        // Where each bin reads its own channel, one bin of each box.
        let (channel, rows, columns) = if by.by_position {
            let (rest, column) = p.bins[1].divide(channel as u32);
            let (channel, row) = p.bins[0].divide(rest);
            let (row, column) = (row as usize, column as usize);
            (channel as usize, row..row + 1, column..column + 1)
        } else {
            (channel, 0..by.bins[0], 0..by.bins[1])
        };
        let mut sum = T::default();
        for nth in 0..p.boxes {
            if image_of::<T>(p, nth) != Some(own) {
                continue;
            }
            let of = by.bins_of(corners::<T>(p, nth));
            if of.grid[0] == f64::INFINITY || of.grid[1] == f64::INFINITY {
                continue;
            }
            let count = of.count(f64::NEG_INFINITY);
            // An element is at most 1 from the points around it.
            let near = |d: usize, bin: usize, at: usize| steps_within(&of, d, bin, at as f64 - 1.0, at as f64 + 1.0);
            for row in rows.start..rows.end {
                let down = near(0, row, y);
                if down.start == down.end {
                    continue;
                }
                for column in columns.start..columns.end {
                    let across = near(1, column, x);
                    if across.start == across.end {
                        continue;
                    }
                    let given = element::<T>(p.at[BINS], place(p, nth, channel, [row, column]));
                    for step in down.start..down.end {
                        let vertical = of.point(0, row, step);
                        if is_outside(vertical, height) {
                            continue;
                        }
                        let vertical = pair(vertical, height);
                        for step in across.start..across.end {
                            let horizontal = of.point(1, column, step);
                            if is_outside(horizontal, width) {
                                continue;
                            }
                            let found = sample(width, vertical, pair(horizontal, width));
                            let mut add = |k: usize| {
                                if found.at[k] == y * width + x {
                                    sum = sum + given * found.weights[k] / count;
                                }
                            };
                            add(0);
                            add(1);
                            add(2);
                            add(3);
                        }
                    }
                }
            }
        }
        put(p.at[IMAGES], index as i64, sum);
    });
}

/// bins = the maxima of windows, and their numbers in the plane, -1 of an empty window.
#[inline(always)]
fn windows_max<T: Real>(p: &Boxes) {
    let (by, [height, width]) = (windows_of(p), sizes(p));
    each(u64::from(p.count), |index| {
        let (nth, channel, [row, column]) = bin(p, index as u32);
        let (mut best, mut number) = (T::default(), -1i32);
        if let Some(image) = image_of::<T>(p, nth) {
            let split = by.split(corners::<T>(p, nth), [height, width]);
            let (rows, columns) = (split.range(0, row), split.range(1, column));
            let first = plane(p, image, channel);
            if rows.start < rows.end && columns.start < columns.end {
                best = T::of(-f64::from(f32::MAX));
            }
            for y in rows.start..rows.end {
                for x in columns.start..columns.end {
                    let at = y * width + x;
                    let value = element::<T>(p.at[IMAGES], first + at as i64);
                    if value > best {
                        (best, number) = (value, at as i32);
                    }
                }
            }
        }
        put(p.at[BINS], index as i64, best);
        put(p.at[BESIDE], index as i64, number);
    });
}

/// Stores the element of the images that each bin leads to, to be sorted.
#[inline(always)]
fn windows_max_places<T: Real>(p: &Boxes) {
    let area = i64::from(p.image[0]) * i64::from(p.image[1]);
    each(u64::from(p.count), |index| {
        let (nth, channel, _) = bin(p, index as u32);
        let number = i64::from(element::<i32>(p.at[BESIDE], index as i64));
        let key = match image_of::<T>(p, nth) {
            Some(image) if number >= 0 && number < area => (plane(p, image, channel) + number) as u64,
            _ => NOWHERE,
        };
        // SAFETY: the host describes a key for each bin.
        unsafe { store(p.order[0] + index * 8, 8, [key]) }
    });
}

/// images = the sums of the gradients that lead to each element, in the order of boxes and bins.
#[inline(always)]
fn windows_max_backward<T: Real>(p: &Boxes) {
    let bins = u64::from(p.boxes) * u64::from(p.results.size) * u64::from(p.bins[0].size) * u64::from(p.bins[1].size);
    each(u64::from(p.count), |index| {
        let mut sum = T::default();
        each_equal(p.order, 0, bins, index, |bin| sum = sum + element::<T>(p.at[BINS], i64::from(bin)));
        put(p.at[IMAGES], index as i64, sum);
    });
}

/// bins = the means of windows, each of its own channel, and these channels.
#[inline(always)]
fn windows_mean<T: Real>(p: &Boxes) {
    let (by, [height, width]) = (windows_of(p), sizes(p));
    each(u64::from(p.count), |index| {
        let (nth, channel, [row, column]) = bin(p, index as u32);
        let source = (channel * by.bins[0] + row) * by.bins[1] + column;
        let mut mean = T::default();
        if let Some(image) = image_of::<T>(p, nth) {
            let split = by.split(corners::<T>(p, nth), [height, width]);
            let (rows, columns) = (split.range(0, row), split.range(1, column));
            let first = plane(p, image, source);
            let mut sum = T::default();
            for y in rows.start..rows.end {
                for x in columns.start..columns.end {
                    sum = sum + element::<T>(p.at[IMAGES], first + (y * width + x) as i64);
                }
            }
            if rows.start < rows.end && columns.start < columns.end {
                mean = sum / T::of(((rows.end - rows.start) * (columns.end - columns.start)) as f64);
            }
        }
        put(p.at[BINS], index as i64, mean);
        put(p.at[BESIDE], index as i64, source as i32);
    });
}

/// images = the gradients of the means, added up in the order of the boxes.
#[inline(always)]
fn windows_mean_backward<T: Real>(p: &Boxes) {
    let (by, [height, width]) = (windows_of(p), sizes(p));
    each(u64::from(p.count), |index| {
        let (own, channel, [y, x]) = pixel(p, index as u32);
        let (rest, column) = p.bins[1].divide(channel as u32);
        let (channel, row) = p.bins[0].divide(rest);
        let (channel, row, column) = (channel as usize, row as usize, column as usize);
        let mut sum = T::default();
        for nth in 0..p.boxes {
            if image_of::<T>(p, nth) != Some(own) {
                continue;
            }
            let split = by.split(corners::<T>(p, nth), [height, width]);
            let (rows, columns) = (split.range(0, row), split.range(1, column));
            if rows.start <= y && y < rows.end && columns.start <= x && x < columns.end {
                let area = (rows.end - rows.start) * (columns.end - columns.start);
                sum = sum + element::<T>(p.at[BINS], place(p, nth, channel, [row, column])) / T::of(area as f64);
            }
        }
        put(p.at[IMAGES], index as i64, sum);
    });
}

/// Entries for the dtypes of torchvision.
macro_rules! detection_entries {
    ($type:ty; $($name:ident)*) => {$(
        entry! { "detection" stringify!($name), F32, (p: $type) => $name::<f32> }
        entry! { "detection" stringify!($name), F64, (p: $type) => $name::<f64> }
        entry! { "detection" stringify!($name), F16, (p: $type) => $name::<crate::detection::Half> }
    )*};
}
pub(crate) use detection_entries;

detection_entries! {
    Boxes;
    align
    align_backward
    windows_max
    windows_max_places
    windows_max_backward
    windows_mean
    windows_mean_backward
}
