//! Where the gradients of pooling are accumulated.

use super::groups::Groups;
use super::{store, store_adjacent};
use crate::number::{Number, Wide};
use crate::volume::{Volume, try_each_planes};
use rushlight_base::Result;
use rushlight_base::list::filled;
use std::any::TypeId;
use std::ops::Range;

/// The sums of some planes: the output itself, if they have its dtype and its positions are evenly apart, or a buffer.
/// The sums of a position are adjacent.
pub(super) struct Sums<W> {
    at: *mut W,
    /// Elements between the sums of one position and of the next.
    pub step: usize,
    /// Positions of a plane.
    pub area: usize,
}

/// Adds to the sums of some planes.
pub(super) type Add<'a, W> = dyn Fn(Range<usize>, &Sums<W>) -> Result<()> + Sync + 'a;

impl<W: Wide> Sums<W> {
    /// The sum of a plane at a position.
    ///
    /// # Safety
    /// The position is less than the area, and the planes are the caller's.
    #[inline(always)]
    pub unsafe fn of(&self, position: usize, plane: usize) -> *mut W {
        // SAFETY: the caller guarantees the position, and there is a sum for each plane at each position.
        unsafe { self.at.add(position * self.step + plane) }
    }
}

/// Elements between positions of a plane, if that is the same everywhere.
fn even_step<T>(volume: &Volume<T>) -> Option<usize> {
    let ([depth, height, width], steps) = (volume.sizes, volume.steps);
    let step = if width > 1 {
        steps[2]
    } else if height > 1 {
        steps[1]
    } else {
        steps[0]
    };
    let fits = |size: usize, along: isize, inner: usize| size <= 1 || along == step * inner as isize;
    let even = fits(height, steps[1], width) && fits(depth, steps[0], width * height);
    usize::try_from(step).ok().filter(|&step| even && step > 0)
}

/// Writes `to`: for the planes of each unit, `add` adds to sums that begin at 0. On several threads; the first error is
/// returned. `work` is that of a plane.
pub(super) fn accumulate<T: Number>(to: &Volume<T>, groups: &Groups, work: usize, add: &Add<T::Wide>) -> Result<()> {
    let own = TypeId::of::<T>() == TypeId::of::<T::Wide>();
    let step = even_step(to).filter(|_| own);
    try_each_planes(groups.units(), work.saturating_mul(groups.together()), &|mut units| {
        units.try_for_each(|unit| match step {
            Some(step) => in_place(to, groups.planes(unit), step, add),
            None => in_buffer(to, groups.planes(unit), add),
        })
    })
}

fn in_place<T: Number>(to: &Volume<T>, planes: Range<usize>, step: usize, add: &Add<T::Wide>) -> Result<()> {
    let sums = Sums { at: to.plane(planes.start).cast::<T::Wide>(), step, area: to.area() };
    let together = planes.len();
    // SAFETY: the elements of these planes are adjacent at each position, have the wide type, and belong to this unit.
    unsafe {
        if step == together {
            std::slice::from_raw_parts_mut(sums.at, sums.area * together).fill(T::Wide::ZERO);
        } else {
            for position in 0..sums.area {
                std::slice::from_raw_parts_mut(sums.of(position, 0), together).fill(T::Wide::ZERO);
            }
        }
    }
    add(planes, &sums)
}

fn in_buffer<T: Number>(to: &Volume<T>, planes: Range<usize>, add: &Add<T::Wide>) -> Result<()> {
    let together = planes.len();
    let mut buffer = filled(to.area() * together, T::Wide::ZERO)?;
    add(planes.clone(), &Sums { at: buffer.as_mut_ptr(), step: together, area: to.area() })?;
    match together {
        1 => store(to, planes.start, &buffer),
        _ => store_adjacent(to, planes, &buffer),
    }
    Ok(())
}
