//! The largest element of each window, and the gradient.

use super::groups::{CHANNELS, Groups, InVectors, LANES, LONG, Met, by_step, place_of};
use super::sums::accumulate;
use super::{Windows, place};
use crate::array::Array;
use crate::device;
use crate::extrema::Bounded;
use crate::number::{Number, Ordered, Wide};
use crate::simd::{Float, FloatVector, IntVector, Kernel, MAX_LANES, Simd, run, run_narrow};
use crate::volume::{Volume, each_planes};
use rushlight_base::{Result, bail};

/// The index of the largest element of a window without elements.
const NO_INDEX: i64 = -1;

/// out = the largest element of each window, indices (int64), if wanted, = its position in the plane of the input, row-major.
/// A NaN is larger than any number. A window of padding alone has the smallest number of the dtype, and no index: -1. A device
/// needs indices.
pub fn max(out: &Array, indices: Option<&Array>, input: &Array, windows: &Windows, spatial: usize) -> Result<()> {
    if !out.is_on_host()
        && let Some(tables) = windows.tables()?
    {
        let Some(indices) = indices else { bail!(Internal, "max pooling on a device got no indices") };
        return device::largest(out, indices, input, &tables, spatial);
    }
    if input.dtype().is_floating() {
        let area: usize = input.sizes()[input.ndim() - spatial..].iter().map(|&size| size as usize).product();
        return dispatch!(input.dtype(), "max_pool", half float, T => {
            // Positions in the lanes of vectors.
            let fits = size_of::<<T as Number>::Wide>() == size_of::<i64>() || i32::try_from(area).is_ok();
            let (most, compute) = match (fits, indices) {
                (_, None) => (CHANNELS, in_vectors::<T, false> as fn(_)),
                (true, Some(_)) => (CHANNELS, in_vectors::<T, true> as fn(_)),
                (false, Some(_)) => (LANES, run_narrow as fn(_)),
            };
            largest::<T>(out, indices, input, windows, spatial, (most, compute))
        });
    }
    dispatch!(input.dtype(), "max_pool", integer, T => {
        largest::<T>(out, indices, input, windows, spatial, (LANES, run_narrow))
    })
}

fn largest<T: Number<Wide: Bounded>>(
    out: &Array,
    indices: Option<&Array>,
    input: &Array,
    windows: &Windows,
    spatial: usize,
    (most, compute): (usize, fn(Largest<T>)),
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    let chosen = indices.map(|indices| Volume::<i64>::of(indices, spatial)).transpose()?;
    let adjacent = [to.channel_step(), from.channel_step(), chosen.as_ref().map_or(1, Volume::channel_step)] == [1; 3];
    let groups = Groups::new(windows, &from, most, adjacent)?;
    let [depth, height, _] = to.sizes;
    let work = windows.work() * groups.together() / (depth * height).max(1);
    each_planes(groups.units() * depth * height, work, &|rows| {
        for row in rows {
            let planes = groups.planes(row / (depth * height));
            let row = [row / height % depth, row % height];
            groups.each(&planes, row, &mut |group| {
                let target = place_of(&to, planes.start, group);
                let index = chosen.as_ref().map(|chosen| place_of(chosen, planes.start, group));
                compute(Largest { met: Met::new(&from, planes.start, group), target, index });
            });
        }
    })
}

/// The largest elements that a group of outputs meets.
struct Largest<T> {
    met: Met<T>,
    target: (*mut T, isize),
    /// Where the positions are written, if they are wanted.
    index: Option<(*mut i64, isize)>,
}

impl<T: Number<Wide: Bounded>> Kernel for Largest<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (lanes, along) = (self.met.lanes.min(LANES), self.met.along as i64);
        let (mut best, mut at) = ([T::Wide::LEAST; LANES], [NO_INDEX; LANES]);
        let (best, at) = (&mut best[..lanes], &mut at[..lanes]);
        let mut is_first = true;
        by_step!(self.met.step, step => {
            // SAFETY: windows are clipped to the image, and each lane's are inside its plane.
            unsafe {
                self.met.each_tap(|from, position| {
                    for (lane, (best, at)) in best.iter_mut().zip(at.iter_mut()).enumerate() {
                        let value = from.offset(lane as isize * step).read().wide();
                        let better = is_first | (value > *best) | value.is_nan();
                        *best = if better { value } else { *best };
                        *at = if better { position + lane as i64 * along } else { *at };
                    }
                    is_first = false;
                });
            }
        });
        let (target, step) = self.target;
        for (lane, &best) in best.iter().enumerate() {
            // SAFETY: the lanes are positions of the output that belong to this share alone.
            unsafe { target.offset(lane as isize * step).write(T::narrow(best)) };
        }
        let Some((index, step)) = self.index else { return };
        for (lane, &at) in at.iter().enumerate() {
            // SAFETY: the lanes are positions of the indices that belong to this share alone.
            unsafe { index.offset(lane as isize * step).write(at) };
        }
    }
}

/// Computes a group of floats, whose positions fit the integers of vectors: in vectors of outputs, if what they meet is
/// adjacent or every second element, or in vectors of taps, if a line of a window has several.
fn in_vectors<T: Float<Wide: Bounded>, const INDEXED: bool>(group: Largest<T>) {
    if matches!(group.met.step, 1 | 2) {
        run(Vectors::<T, INDEXED>(group))
    } else if group.met.adjacent_taps() >= LONG {
        run(Lines::<T, INDEXED>(group))
    } else {
        run_narrow(group)
    }
}

/// Compares vectors of the adjacent taps of a window.
struct Lines<T, const INDEXED: bool>(Largest<T>);

impl<T: Float<Wide: Bounded>, const INDEXED: bool> Kernel for Lines<T, INDEXED> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Largest { met, target, index } = self.0;
        let (width, taps) = (T::Vector::<S>::LANES, met.adjacent_taps());
        let (valid, ramp) = (width.min(taps), T::Vector::<S>::iota().to_int());
        for lane in 0..met.lanes as isize {
            let mut best = T::Vector::<S>::splat(T::Wide::LEAST);
            let mut place = Ints::<S, T>::from_i64(NO_INDEX);
            let (mut values, mut places, mut is_first) = ([T::Wide::LEAST; MAX_LANES], [NO_INDEX; MAX_LANES], true);
            // SAFETY: windows are clipped to the image, each lane's are inside its plane, and a line has `taps` elements. No
            // vector has more lanes than the buffers.
            unsafe {
                met.each_line(|from, position| {
                    let (from, position) = (from.offset(lane * met.step), position + lane as i64 * met.along as i64);
                    let mut tap = 0;
                    while tap < taps {
                        // The last vector of a line begins before the one before it ends.
                        let at = tap.min(taps - valid);
                        let value = T::load_some::<S>(from.add(at), valid);
                        let better = value.gt(best) | value.is_nan();
                        best = if is_first { value } else { FloatVector::select(better, value, best) };
                        if INDEXED {
                            let here = Ints::<S, T>::from_i64(position + at as i64) + ramp;
                            place = if is_first { here } else { IntVector::select(better, here, place) };
                        }
                        is_first = false;
                        tap += width;
                    }
                });
                best.store(values.as_mut_ptr());
                place.store_wide(places.as_mut_ptr());
            }
            let lanes = values.into_iter().zip(places).take(valid);
            let (value, place) = lanes.reduce(first_largest).unwrap_or((T::Wide::LEAST, NO_INDEX));
            // SAFETY: the lane is a position of both outputs that belongs to this share alone.
            unsafe {
                target.0.offset(lane * target.1).write(T::narrow(value));
                if let Some((index, step)) = index {
                    index.offset(lane * step).write(place);
                }
            }
        }
    }
}

/// The larger of two elements, with its position: the first of equal ones, or the last NaN.
#[inline(always)]
fn first_largest<W: Ordered>(a: (W, i64), b: (W, i64)) -> (W, i64) {
    let is_later = b.1 > a.1;
    let second = match (a.0.is_nan(), b.0.is_nan()) {
        (true, true) => is_later,
        (is_nan, false) => !is_nan && (b.0 > a.0 || (b.0 == a.0 && !is_later)),
        (false, true) => true,
    };
    if second { b } else { a }
}

/// The largest elements that a group of outputs meets, and their positions if `INDEXED`.
struct Vectors<T, const INDEXED: bool>(Largest<T>);

/// Integers with the lanes of the vectors of `T`.
type Ints<S, T> = <<T as Float>::Vector<S> as FloatVector>::Int;

impl<T: Float<Wide: Bounded>, const INDEXED: bool> InVectors<T> for Vectors<T, INDEXED> {
    #[inline(always)]
    fn met(&self) -> &Met<T> {
        &self.0.met
    }

    #[inline(always)]
    unsafe fn some<S: Simd, const STEP: usize, const N: usize>(&self, first: usize, rest: usize) -> usize {
        let met = &self.0.met;
        let (width, along) = (T::Vector::<S>::LANES, met.along);
        let last = width.min(rest - (N - 1) * width);
        let lanes = |nth: usize| if nth + 1 < N { width } else { last };
        let ramp = (T::Vector::<S>::iota() * T::Vector::<S>::from_f64(along as f64)).to_int();
        let least = (T::Vector::<S>::splat(T::Wide::LEAST), Ints::<S, T>::from_i64(NO_INDEX));
        let (mut found, mut is_first) = ([least; N], true);
        // SAFETY: windows are clipped to the image; the caller guarantees that the lanes are adjacent, or every second
        // element. They are positions of both outputs that belong to this share alone.
        unsafe {
            met.each_tap(|from, position| {
                for (nth, (best, place)) in found.iter_mut().enumerate() {
                    let lane = first + nth * width;
                    let value = match STEP {
                        1 => T::load_some::<S>(from.add(lane), lanes(nth)),
                        _ => T::load_every_second::<S>(from.add(2 * lane), lanes(nth)),
                    };
                    let better = value.gt(*best) | value.is_nan();
                    *best = if is_first { value } else { FloatVector::select(better, value, *best) };
                    if INDEXED {
                        let here = Ints::<S, T>::from_i64(position + (lane * along) as i64) + ramp;
                        *place = if is_first { here } else { IntVector::select(better, here, *place) };
                    }
                }
                is_first = false;
            });
            for (nth, found) in found.into_iter().enumerate() {
                self.write::<S>(first + nth * width, lanes(nth), found);
            }
        }
        (N - 1) * width + last
    }
}

impl<T: Float<Wide: Bounded>, const INDEXED: bool> Vectors<T, INDEXED> {
    /// Writes the first `count` lanes of a vector of outputs.
    ///
    /// # Safety
    /// The outputs from `first` on are this share's.
    #[inline(always)]
    unsafe fn write<S: Simd>(&self, first: usize, count: usize, (best, place): (T::Vector<S>, Ints<S, T>)) {
        let (target, step) = self.0.target;
        // SAFETY: the caller guarantees the outputs; no vector has more lanes than the buffer.
        unsafe {
            let target = target.offset(first as isize * step);
            match step {
                1 => T::store_some::<S>(best, target, count),
                _ => T::store_strided::<S>(best, target, step * size_of::<T>() as isize, count),
            }
            let Some((index, index_step)) = self.0.index.filter(|_| INDEXED) else { return };
            let index = index.offset(first as isize * index_step);
            if index_step == 1 && count == T::Vector::<S>::LANES {
                return place.store_wide(index);
            }
            let mut places = [0i64; MAX_LANES];
            place.store_wide(places.as_mut_ptr());
            for (lane, &place) in places[..count].iter().enumerate() {
                index.offset(lane as isize * index_step).write(place);
            }
        }
    }
}

impl<T: Float<Wide: Bounded>, const INDEXED: bool> Kernel for Vectors<T, INDEXED> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        // SAFETY: `in_vectors` calls this for steps of 1 and 2 alone.
        unsafe { self.adjacent_or_every_second::<S>() }
    }
}

/// out = grad accumulated at `indices`, which are in `windows`; 0 elsewhere. An index of -1 is left out. A device has each
/// element added up by one thread: if it gets the windows, from those that reach the element, else after a sort of the indices.
pub fn max_backward(
    out: &Array,
    grad: &Array,
    indices: &Array,
    windows: Option<&Windows>,
    spatial: usize,
) -> Result<()> {
    if !out.is_on_host() {
        dispatch!(out.dtype(), "max_pool_backward", half float, _T => Ok(()))?;
        return match windows.map(Windows::tables).transpose()?.flatten() {
            Some(tables) => device::spread_largest(out, grad, indices, &tables, spatial),
            None => device::spread_by_index(out, grad, indices, spatial),
        };
    }
    dispatch!(out.dtype(), "max_pool_backward", half float, T => returned::<T>(out, grad, indices, spatial))
}

fn returned<T: Number>(out: &Array, grad: &Array, indices: &Array, spatial: usize) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let chosen = Volume::<i64>::of(indices, spatial)?;
    let adjacent = [to.channel_step(), from.channel_step(), chosen.channel_step()] == [1; 3];
    let none = Windows::Same([Vec::new(), Vec::new(), Vec::new()]);
    let groups = Groups::new(&none, &to, LANES, adjacent)?;
    accumulate(&to, &groups, to.area() + from.area(), &|planes, sums| {
        let (source, index) = (from.plane(planes.start), chosen.plane(planes.start));
        for d in 0..from.sizes[0] {
            for h in 0..from.sizes[1] {
                for w in 0..from.sizes[2] {
                    let (value, at) = (place(from.steps, [d, h, w]), place(chosen.steps, [d, h, w]));
                    for lane in 0..planes.len() {
                        // SAFETY: the position is inside both inputs, in the planes of this unit, of which several are
                        // adjacent.
                        let (value, at) =
                            unsafe { (source.offset(value).add(lane).read(), index.offset(at).add(lane).read()) };
                        if at == NO_INDEX {
                            continue;
                        }
                        let Some(at) = usize::try_from(at).ok().filter(|&at| at < sums.area) else {
                            bail!(Index, "Found an invalid max index: {at} (planes have {} elements)", sums.area);
                        };
                        // SAFETY: the index was checked, and the planes are this unit's.
                        unsafe {
                            let sum = sums.of(at, lane);
                            sum.write(sum.read().add(value.wide()));
                        }
                    }
                }
            }
        }
        Ok(())
    })
}
