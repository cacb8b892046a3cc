//! The mean of each window, and the gradient.

use super::groups::{CHANNELS, Group, Groups, InVectors, LANES, LONG, Met, by_step, place_of};
use super::sums::{Sums, accumulate};
use super::{Window, Windows};
use crate::array::Array;
use crate::device;
use crate::number::{Analytic, Number, Wide};
use crate::simd::{Float, FloatVector, Kernel, Simd, run, run_narrow};
use crate::volume::{Volume, each_planes};
use rushlight_base::Result;

/// Numbers that a mean is taken of.
pub trait Averaged: Wide {
    /// The sum divided by a count, which is not 0; integers round toward 0.
    fn over(self, count: i64) -> Self;
}

macro_rules! averaged {
    ($($type:ty),*) => {
        $(impl Averaged for $type {
            #[inline(always)]
            fn over(self, count: i64) -> $type {
                self / count as $type
            }
        })*
    };
}

averaged!(f32, f64, i64);

/// The divisor of the sum over windows: a given number, or the element counts of the windows.
fn divisor(given: Option<i64>, windows: [Window; 3]) -> i64 {
    given.unwrap_or_else(|| windows.iter().fold(1i64, |count, window| count.saturating_mul(window.counted as i64)))
}

/// out = the mean of each window.
pub fn mean(out: &Array, input: &Array, windows: &Windows, divide_by: Option<i64>, spatial: usize) -> Result<()> {
    if !out.is_on_host()
        && let Some(tables) = windows.tables()?
    {
        return device::sums(out, input, &tables, divide_by.unwrap_or(0), spatial);
    }
    if input.dtype() == rushlight_base::DType::I64 {
        let compute = |group: &Group, mean: Mean<i64>| {
            let count = divisor(divide_by, group.windows);
            run_narrow(Scalars { mean, divide: |sum: i64| sum.over(count) });
        };
        return means::<i64>(out, input, windows, spatial, (LANES, compute));
    }
    dispatch!(input.dtype(), "avg_pool", half float, T => {
        let compute = |group: &Group, mean| in_vectors(mean, divisor(divide_by, group.windows));
        means::<T>(out, input, windows, spatial, (CHANNELS, compute))
    })
}

/// Like `mean`, for volumes of half precision: PyTorch accumulates in half precision, and divides by one extent of the
/// window after the other.
pub fn mean_of_volumes(out: &Array, input: &Array, windows: &Windows) -> Result<()> {
    if !input.dtype().is_half() || !out.is_on_host() {
        return mean(out, input, windows, None, 3);
    }
    stepwise!(input.dtype(), "adaptive_avg_pool3d_cpu", T => {
        let compute = |group: &Group, mean| {
            let counts = group.windows.map(|window| T::from_f64(window.counted as f64));
            run_narrow(Scalars { mean, divide: |sum: T| counts.iter().fold(sum, |sum, count| sum.div(*count)) });
        };
        means::<T>(out, input, windows, 3, (LANES, compute))
    })
}

fn is_empty(windows: [Window; 3]) -> bool {
    windows.iter().any(|window| window.start >= window.end)
}

fn means<T: Number>(
    out: &Array,
    input: &Array,
    windows: &Windows,
    spatial: usize,
    (most, compute): (usize, impl Fn(&Group, Mean<T>) + Sync),
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    let groups = Groups::new(windows, &from, most, [to.channel_step(), from.channel_step()] == [1; 2])?;
    let [depth, height, _] = to.sizes;
    let work = windows.work() * groups.together() / (depth * height).max(1);
    each_planes(groups.units() * depth * height, work, &|rows| {
        for row in rows {
            let planes = groups.planes(row / (depth * height));
            groups.each(&planes, [row / height % depth, row % height], &mut |group| {
                let (target, step) = place_of(&to, planes.start, group);
                if !is_empty(group.windows) {
                    return compute(group, Mean { met: Met::new(&from, planes.start, group), target, step });
                }
                for lane in 0..group.lanes as isize {
                    // SAFETY: the lanes are positions of the output that belong to this share alone.
                    unsafe { target.offset(lane * step).write(T::narrow(T::Wide::ZERO)) };
                }
            });
        }
    })
}

/// The means of what a group of outputs meets.
struct Mean<T> {
    met: Met<T>,
    target: *mut T,
    /// Step between the outputs.
    step: isize,
}

/// Adds one number after the other, and divides the sums.
struct Scalars<T, D> {
    mean: Mean<T>,
    divide: D,
}

impl<T: Number, D: Fn(T::Wide) -> T::Wide> Kernel for Scalars<T, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Mean { met, target, step } = self.mean;
        let mut sums = [T::Wide::ZERO; LANES];
        let sums = &mut sums[..met.lanes.min(LANES)];
        by_step!(met.step, step => {
            // SAFETY: windows are clipped to the image, and each lane's are inside its plane.
            unsafe {
                met.each_tap(|from, _| {
                    for (lane, sum) in sums.iter_mut().enumerate() {
                        *sum = sum.add(from.offset(lane as isize * step).read().wide());
                    }
                });
            }
        });
        by_step!(step, step => for (lane, sum) in sums.iter().enumerate() {
            // SAFETY: the lanes are positions of the output that belong to this share alone.
            unsafe { target.offset(lane as isize * step).write(T::narrow((self.divide)(*sum))) };
        });
    }
}

/// Computes a group of floats: in vectors of outputs, if what they meet is adjacent or every second element, or in vectors
/// of taps, if a line of a window has several.
fn in_vectors<T: Float<Wide: Averaged>>(mean: Mean<T>, count: i64) {
    if matches!(mean.met.step, 1 | 2) {
        run(Vectors { mean, count })
    } else if mean.met.adjacent_taps() >= LONG {
        run(Lines { mean, count })
    } else {
        run_narrow(Scalars { mean, divide: |sum: T::Wide| sum.over(count) })
    }
}

/// Adds vectors of the adjacent taps of a window.
struct Lines<T> {
    mean: Mean<T>,
    count: i64,
}

impl<T: Float<Wide: Averaged>> Kernel for Lines<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Mean { met, target, step } = self.mean;
        let (width, taps) = (T::Vector::<S>::LANES, met.adjacent_taps());
        for lane in 0..met.lanes as isize {
            let mut sum = T::Vector::<S>::splat(T::Wide::ZERO);
            // SAFETY: windows are clipped to the image, each lane's are inside its plane, and a line has `taps` elements; the
            // lanes are positions of the output that belong to this share alone.
            unsafe {
                met.each_line(|from, _| {
                    let from = from.offset(lane * met.step);
                    let mut tap = 0;
                    while tap < taps {
                        sum = sum + T::load_some::<S>(from.add(tap), width.min(taps - tap));
                        tap += width;
                    }
                });
                target.offset(lane * step).write(T::narrow(sum.sum().over(self.count)));
            }
        }
    }
}

/// Adds vectors of adjacent outputs.
struct Vectors<T> {
    mean: Mean<T>,
    count: i64,
}

impl<T: Float<Wide: Averaged>> Kernel for Vectors<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        // SAFETY: `in_vectors` calls this for steps of 1 and 2 alone.
        unsafe { self.adjacent_or_every_second::<S>() }
    }
}

impl<T: Float<Wide: Averaged>> InVectors<T> for Vectors<T> {
    #[inline(always)]
    fn met(&self) -> &Met<T> {
        &self.mean.met
    }

    #[inline(always)]
    unsafe fn some<S: Simd, const STEP: usize, const N: usize>(&self, first: usize, rest: usize) -> usize {
        let Mean { met, target, step } = &self.mean;
        let width = T::Vector::<S>::LANES;
        let count = T::Vector::<S>::from_f64(self.count as f64);
        let last = width.min(rest - (N - 1) * width);
        let lanes = |nth: usize| if nth + 1 < N { width } else { last };
        let mut sums = [T::Vector::<S>::splat(T::Wide::ZERO); N];
        // SAFETY: windows are clipped to the image, the lanes are adjacent, or every second element, in their planes, and
        // they are positions of the output that belong to this share alone.
        unsafe {
            met.each_tap(|from, _| {
                for (nth, sum) in sums.iter_mut().enumerate() {
                    let from = from.add(STEP * (first + nth * width));
                    *sum = *sum
                        + match STEP {
                            1 => T::load_some::<S>(from, lanes(nth)),
                            _ => T::load_every_second::<S>(from, lanes(nth)),
                        };
                }
            });
            for (nth, sum) in sums.into_iter().enumerate() {
                let target = target.offset((first + nth * width) as isize * step);
                match step {
                    1 => T::store_some::<S>(sum / count, target, lanes(nth)),
                    _ => T::store_strided::<S>(sum / count, target, step * size_of::<T>() as isize, lanes(nth)),
                }
            }
        }
        (N - 1) * width + last
    }
}

/// out = the gradient of [`mean`]: each window's share of its output's gradient.
pub fn mean_backward(
    out: &Array,
    grad: &Array,
    windows: &Windows,
    divide_by: Option<i64>,
    spatial: usize,
) -> Result<()> {
    if !out.is_on_host()
        && out.dtype().is_floating()
        && let Some(tables) = windows.tables()?
    {
        return device::spread_mean(out, grad, tables, divide_by, spatial);
    }
    if out.dtype() == rushlight_base::DType::I64 {
        return shares::<i64>(out, grad, windows, divide_by, spatial);
    }
    dispatch!(out.dtype(), "avg_pool_backward", half float, T => shares::<T>(out, grad, windows, divide_by, spatial))
}

fn shares<T: Number<Wide: Averaged>>(
    out: &Array,
    grad: &Array,
    windows: &Windows,
    divide_by: Option<i64>,
    spatial: usize,
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let groups = Groups::new(windows, &to, LANES, [to.channel_step(), from.channel_step()] == [1; 2])?;
    accumulate(&to, &groups, windows.work() + to.area(), &|planes, sums| {
        let rows = (0..from.sizes[0]).flat_map(|d| (0..from.sizes[1]).map(move |h| [d, h]));
        for row in rows {
            groups.each(&planes, row, &mut |group| {
                if is_empty(group.windows) {
                    return;
                }
                let source = place_of(&from, planes.start, group);
                let count = divisor(divide_by, group.windows);
                run_narrow(Spread { group, source, count, sums, sizes: to.sizes });
            });
        }
        Ok(())
    })
}

/// Adds the shares of a group of gradients to all that their windows meet.
struct Spread<'a, T: Number> {
    group: &'a Group,
    source: (*mut T, isize),
    count: i64,
    sums: &'a Sums<T::Wide>,
    sizes: [usize; 3],
}

impl<T: Number<Wide: Averaged>> Kernel for Spread<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (Group { windows: [depth, height, width], along, .. }, (source, step)) = (self.group, self.source);
        let lanes = self.group.lanes.min(LANES);
        let mut shares = [T::Wide::ZERO; LANES];
        let shares = &mut shares[..lanes];
        by_step!(step, step => for (lane, share) in shares.iter_mut().enumerate() {
            // SAFETY: the lanes are positions of the gradient.
            *share = unsafe { source.offset(lane as isize * step).read() }.wide().over(self.count);
        });
        if let ([share], 1) = (&*shares, self.sums.step) {
            for d in depth.start..depth.end {
                for h in height.start..height.end {
                    let line = (d * self.sizes[1] + h) * self.sizes[2];
                    // SAFETY: windows are clipped to the image: these positions are a row of the only plane of this unit.
                    let row = unsafe {
                        std::slice::from_raw_parts_mut(self.sums.of(line + width.start, 0), width.end - width.start)
                    };
                    for sum in row {
                        *sum = sum.add(*share);
                    }
                }
            }
            return;
        }
        let step = if *along > 0 { (along * self.sums.step) as isize } else { 1 };
        for d in depth.start..depth.end {
            for h in height.start..height.end {
                let line = (d * self.sizes[1] + h) * self.sizes[2];
                // Each element receives the shares in the order of the outputs: a later one meets it with an earlier tap.
                for w in (width.start..width.end).rev() {
                    // SAFETY: windows are clipped to the image, and each lane's are inside its plane of this unit.
                    unsafe {
                        let to = self.sums.of(line + w, 0);
                        by_step!(step, step => for (lane, share) in shares.iter().enumerate() {
                            let sum = to.offset(lane as isize * step);
                            sum.write(sum.read().add(*share));
                        });
                    }
                }
            }
        }
    }
}
