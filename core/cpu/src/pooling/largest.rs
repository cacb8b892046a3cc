//! The largest element of each window, and the gradient.

use super::groups::{Groups, LANES, Met, by_step, place_of};
use super::sums::accumulate;
use super::{Windows, place};
use crate::array::Array;
use crate::device;
use crate::extrema::Bounded;
use crate::number::{Number, Wide};
use crate::simd::{Float, FloatVector, IntVector, Kernel, MAX_LANES, Simd, run, run_narrow};
use crate::volume::{Volume, each_planes};
use rushlight_base::{Result, bail};

/// The index of the largest element of a window without elements.
const NO_INDEX: i64 = -1;

/// out = the largest element of each window, indices (int64) = its position in the plane of the input, row-major. A NaN
/// is larger than any number. A window of padding alone has the smallest number of the dtype, and no index: -1.
pub fn max(out: &Array, indices: &Array, input: &Array, windows: &Windows, spatial: usize) -> Result<()> {
    if !out.is_on_host()
        && let Some(tables) = windows.tables()?
    {
        return device::largest(out, indices, input, &tables, spatial);
    }
    if input.dtype().is_floating() {
        return dispatch!(input.dtype(), "max_pool", half float, T => {
            largest::<T>(out, indices, input, windows, spatial, in_vectors::<T>)
        });
    }
    dispatch!(input.dtype(), "max_pool", integer, T => {
        largest::<T>(out, indices, input, windows, spatial, run_narrow)
    })
}

fn largest<T: Number<Wide: Bounded>>(
    out: &Array,
    indices: &Array,
    input: &Array,
    windows: &Windows,
    spatial: usize,
    compute: fn(Largest<T>),
) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    let chosen = Volume::<i64>::of(indices, spatial)?;
    let adjacent = [to.channel_step(), from.channel_step(), chosen.channel_step()] == [1; 3];
    let groups = Groups::new(windows, &from, LANES, adjacent)?;
    let [depth, height, _] = to.sizes;
    let work = windows.work() * groups.together() / (depth * height).max(1);
    each_planes(groups.units() * depth * height, work, &|rows| {
        for row in rows {
            let planes = groups.planes(row / (depth * height));
            let row = [row / height % depth, row % height];
            groups.each(&planes, row, &mut |group| {
                let (target, index) = (place_of(&to, planes.start, group), place_of(&chosen, planes.start, group));
                compute(Largest { met: Met::new(&from, planes.start, group), target, index });
            });
        }
    })
}

/// The largest elements that a group of outputs meets.
struct Largest<T> {
    met: Met<T>,
    target: (*mut T, isize),
    index: (*mut i64, isize),
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
        let ((target, step), (index, index_step)) = (self.target, self.index);
        for lane in 0..lanes {
            // SAFETY: the lanes are positions of both outputs that belong to this share alone.
            unsafe {
                target.offset(lane as isize * step).write(T::narrow(best[lane]));
                index.offset(lane as isize * index_step).write(at[lane]);
            }
        }
    }
}

/// Computes a group of floats; in vectors, if their elements are adjacent or every second one, and the integers of the
/// vectors can be positions.
fn in_vectors<T: Float<Wide: Bounded>>(group: Largest<T>) {
    let fits = size_of::<T::Wide>() == size_of::<i64>() || i32::try_from(group.met.area()).is_ok();
    if matches!(group.met.step, 1 | 2) && fits { run(Vectors(group)) } else { run_narrow(group) }
}

/// The largest elements that a group of outputs meets.
struct Vectors<T>(Largest<T>);

impl<T: Float<Wide: Bounded>> Kernel for Vectors<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Largest { met, target: (target, step), index: (index, index_step) } = self.0;
        let width = T::Vector::<S>::LANES;
        let ramp = (T::Vector::<S>::iota() * T::Vector::<S>::from_f64(met.along as f64)).to_int();
        for first in (0..met.lanes).step_by(width) {
            let count = width.min(met.lanes - first);
            let mut best = T::Vector::<S>::splat(T::Wide::LEAST);
            let mut at = <T::Vector<S> as FloatVector>::Int::from_i64(NO_INDEX);
            let mut is_first = true;
            let mut places = [0i64; MAX_LANES];
            let places = places.as_mut_ptr().cast::<<<T::Vector<S> as FloatVector>::Int as IntVector>::Scalar>();
            // SAFETY: windows are clipped to the image, and the lanes are adjacent in their planes; the lanes are
            // positions of both outputs that belong to this share alone; no vector of integers is larger than the
            // buffer.
            unsafe {
                met.each_tap(|from, position| {
                    let value = match met.step {
                        1 => T::load_some::<S>(from.add(first), count),
                        _ => T::load_every_second::<S>(from.add(2 * first), count),
                    };
                    let here = <T::Vector<S> as FloatVector>::Int::from_i64(position + (first * met.along) as i64);
                    let here = here + ramp;
                    let better = value.gt(best) | value.is_nan();
                    (best, at) = match is_first {
                        true => (value, here),
                        false => (FloatVector::select(better, value, best), IntVector::select(better, here, at)),
                    };
                    is_first = false;
                });
                let target = target.offset(first as isize * step);
                match step {
                    1 => T::store_some::<S>(best, target, count),
                    _ => T::store_strided::<S>(best, target, step * size_of::<T>() as isize, count),
                }
                at.store(places);
                let index = index.offset(first as isize * index_step);
                by_step!(index_step, step => (0..count).for_each(|lane| {
                    index.offset(lane as isize * step).write((*places.add(lane)).into());
                }));
            }
        }
    }
}

/// out = grad accumulated at `indices`, which are in `windows`; 0 elsewhere. An index of -1 is left out. Only a device needs
/// the windows, where each element is added up by one thread.
pub fn max_backward(
    out: &Array,
    grad: &Array,
    indices: &Array,
    windows: Option<&Windows>,
    spatial: usize,
) -> Result<()> {
    if !out.is_on_host()
        && let Some(tables) = windows.map(Windows::tables).transpose()?.flatten()
    {
        return device::spread_largest(out, grad, indices, &tables, spatial);
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
