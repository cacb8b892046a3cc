//! Outputs of pooling that are computed together, in vectors: neighbours along the width with windows that are alike, or
//! the channels of a position where channels are adjacent in memory.

use super::{Window, Windows};
use crate::simd::{Float, FloatVector, Simd};
use crate::volume::{self, Volume};
use rushlight_base::{Result, list};
use std::ops::Range;

/// Most outputs of a group that are not computed in vectors.
pub(super) const LANES: usize = 64;

/// Most channels, or outputs along the width, of a group that is computed in vectors: positions are read one after the
/// other, as they are in memory (2 x 2 over 512 channels of 14 x 14 takes 0.4 of the time of 64 channels after the other).
pub(super) const CHANNELS: usize = 2048;

/// Adjacent taps from which a window is computed in vectors of taps.
pub(super) const LONG: usize = 8;

/// Adjacent outputs.
pub(super) struct Group {
    /// The position of the first one in its plane.
    pub at: [usize; 3],
    /// Its windows.
    pub windows: [Window; 3],
    /// Number of outputs.
    pub lanes: usize,
    /// Positions between the windows of neighbours along the width; 0 for channels.
    pub along: usize,
}

/// How the outputs form groups.
pub(super) struct Groups<'a> {
    windows: &'a Windows,
    /// Runs along the width of windows that are alike.
    runs: Vec<Range<usize>>,
    /// Planes of a unit: several only if their elements are adjacent.
    together: usize,
    samples: usize,
    channels: usize,
    /// Most outputs of a group that meet adjacent elements or every second one.
    most: usize,
    /// Step along the width of the input.
    width_step: isize,
}

impl<'a> Groups<'a> {
    /// The groups of outputs of which none has more than `most` outputs; `adjacent`: the planes of all arrays are
    /// adjacent elements.
    pub fn new<T>(windows: &'a Windows, from: &Volume<T>, most: usize, adjacent: bool) -> Result<Groups<'a>> {
        let [samples, channels] = from.lead();
        let deep = adjacent && channels >= volume::CHANNELS && matches!(windows, Windows::Same(_));
        let together = if deep { most.min(channels) } else { 1 };
        let runs = match windows {
            Windows::Same([_, _, along]) if !deep => alike(along)?,
            _ => Vec::new(),
        };
        Ok(Groups { windows, runs, together, samples, channels, most, width_step: from.steps[2] })
    }

    /// Sets of planes that are computed together.
    pub fn units(&self) -> usize {
        self.samples * self.channels.div_ceil(self.together)
    }

    /// Most planes of a unit.
    pub fn together(&self) -> usize {
        self.together
    }

    /// The planes of a unit.
    pub fn planes(&self, unit: usize) -> Range<usize> {
        let parts = self.channels.div_ceil(self.together);
        let (sample, first) = (unit / parts, unit % parts * self.together);
        let start = sample * self.channels + first;
        start..start + self.together.min(self.channels - first)
    }

    /// Calls `visit` with the groups of a row of outputs in these planes.
    pub fn each(&self, planes: &Range<usize>, [d, h]: [usize; 2], visit: &mut dyn FnMut(&Group)) {
        let [depth, height, width] = self.windows.of(planes.start);
        let group = |w: usize, lanes: usize, along: usize| Group {
            at: [d, h, w],
            windows: [depth[d], height[h], width[w]],
            lanes,
            along,
        };
        if self.runs.is_empty() {
            return (0..width.len()).for_each(|w| visit(&group(w, planes.len(), 0)));
        }
        for run in &self.runs {
            let along = if run.len() > 1 { width[run.start + 1].start - width[run.start].start } else { 0 };
            let most = if matches!(along as isize * self.width_step, 1 | 2) { self.most } else { LANES };
            for w in run.clone().step_by(most) {
                visit(&group(w, most.min(run.end - w), along));
            }
        }
    }
}

/// Runs of windows that are alike: of the same extent, as far apart as the first two.
fn alike(windows: &[Window]) -> Result<Vec<Range<usize>>> {
    let shape = |window: &Window| (window.end - window.start, window.step, window.counted);
    let step = |at: usize| windows[at].start.checked_sub(windows[at - 1].start);
    let (mut runs, mut start) = (Vec::new(), 0);
    while start < windows.len() {
        let mut end = start + 1;
        while end < windows.len()
            && shape(&windows[end]) == shape(&windows[start])
            && step(end).is_some_and(|apart| apart > 0 && Some(apart) == step(start + 1))
        {
            end += 1;
        }
        list::push(&mut runs, start..end)?;
        start = end;
    }
    Ok(runs)
}

/// What the outputs of a group meet.
#[derive(Clone, Copy)]
pub(super) struct Met<T> {
    /// The first element of the first output's plane.
    source: *const T,
    sizes: [usize; 3],
    steps: [isize; 3],
    windows: [Window; 3],
    /// Number of outputs.
    pub lanes: usize,
    /// Step between what neighbours meet, in elements.
    pub step: isize,
    /// Positions between the windows of neighbours.
    pub along: usize,
}

impl<T> Met<T> {
    /// What `group` meets in the plane `plane` of `from`, and in the planes after it.
    pub fn new(from: &Volume<T>, plane: usize, group: &Group) -> Met<T> {
        let step = lane_step(from, group);
        let (windows, lanes, along) = (group.windows, group.lanes, group.along);
        Met { source: from.plane(plane), sizes: from.sizes, steps: from.steps, windows, lanes, step, along }
    }

    /// Calls `visit` with the first element that each tap of the windows meets, and its position in the plane.
    ///
    /// # Safety
    /// Windows are clipped to the image, so what the taps meet can be read.
    #[inline(always)]
    pub unsafe fn each_tap(&self, mut visit: impl FnMut(*const T, i64)) {
        let [depth, height, width] = self.windows;
        // `step_by` would divide to count its steps.
        let mut d = depth.start;
        while d < depth.end {
            let mut h = height.start;
            while h < height.end {
                let line = (d * self.sizes[1] + h) * self.sizes[2];
                let row = d as isize * self.steps[0] + h as isize * self.steps[1];
                let mut w = width.start;
                while w < width.end {
                    visit(self.source.wrapping_offset(row + w as isize * self.steps[2]), (line + w) as i64);
                    w += width.step;
                }
                h += height.step;
            }
            d += depth.step;
        }
    }
}

impl<T> Met<T> {
    /// Number of taps of a line of a window, if they are adjacent elements; otherwise 0.
    pub fn adjacent_taps(&self) -> usize {
        let [.., width] = self.windows;
        if self.steps[2] == 1 && width.step == 1 { width.end.saturating_sub(width.start) } else { 0 }
    }

    /// Calls `visit` with the first element that each line of taps of the windows meets, and its position in the plane.
    ///
    /// # Safety
    /// The contract of [`Met::each_tap`], and the windows are not empty.
    #[inline(always)]
    pub unsafe fn each_line(&self, visit: impl FnMut(*const T, i64)) {
        let [depth, height, width] = self.windows;
        let first = Window { end: width.start + 1, ..width };
        // SAFETY: the caller guarantees the elements of these taps.
        unsafe { Met { windows: [depth, height, first], ..*self }.each_tap(visit) }
    }
}

/// A group of outputs that is computed in vectors of neighbours.
pub(super) trait InVectors<T: Float> {
    /// What its outputs meet.
    fn met(&self) -> &Met<T>;

    /// Computes the lanes of `N` vectors from `first` on, of which the last may have fewer than the others; returns how many
    /// lanes they have. `rest` lanes are left.
    ///
    /// # Safety
    /// What neighbours meet is `STEP` elements apart, and the first `N` - 1 vectors are whole.
    unsafe fn some<S: Simd, const STEP: usize, const N: usize>(&self, first: usize, rest: usize) -> usize;

    /// Computes all lanes, each tap once for several vectors.
    ///
    /// # Safety
    /// What neighbours meet is `STEP` elements apart.
    #[inline(always)]
    unsafe fn all<S: Simd, const STEP: usize>(&self) {
        let (lanes, width) = (self.met().lanes, T::Vector::<S>::LANES);
        let mut first = 0;
        while first < lanes {
            let rest = lanes - first;
            // SAFETY: the caller guarantees the step, and the vectors are within the lanes.
            first += unsafe {
                match STEP {
                    1 if rest > 3 * width => self.some::<S, STEP, 4>(first, rest),
                    2 if rest > width => self.some::<S, STEP, 2>(first, rest),
                    _ => self.some::<S, STEP, 1>(first, rest),
                }
            };
        }
    }

    /// Computes all lanes of a group whose neighbours meet adjacent elements or every second one.
    ///
    /// # Safety
    /// It is such a group.
    #[inline(always)]
    unsafe fn adjacent_or_every_second<S: Simd>(&self) {
        match self.met().step {
            // SAFETY: what neighbours meet is adjacent.
            1 => unsafe { self.all::<S, 1>() },
            // SAFETY: the caller guarantees the step 2.
            _ => unsafe { self.all::<S, 2>() },
        }
    }
}

/// Step between the elements of neighbours of a group, in a volume with the positions that their windows are in.
fn lane_step<T>(volume: &Volume<T>, group: &Group) -> isize {
    if group.along > 0 { group.along as isize * volume.steps[2] } else { volume.channel_step() }
}

/// The first element of a group in an output, and the step to the next.
pub(super) fn place_of<T>(volume: &Volume<T>, plane: usize, group: &Group) -> (*mut T, isize) {
    let offset: isize = (0..3).map(|dim| group.at[dim] as isize * volume.steps[dim]).sum();
    let step = if group.along > 0 { volume.steps[2] } else { volume.channel_step() };
    (volume.plane(plane).wrapping_offset(offset), step)
}

/// Runs `$body` with `$known` the step between lanes: the compiler vectorizes loops with a step that it knows.
macro_rules! by_step {
    ($step:expr, $known:ident => $body:expr) => {
        match $step {
            1 => {
                let $known = 1isize;
                $body
            }
            2 => {
                let $known = 2isize;
                $body
            }
            $known => $body,
        }
    };
}

pub(super) use by_step;

#[cfg(test)]
mod tests {
    use super::super::{adaptive, sliding};
    use super::*;

    #[test]
    fn windows_at_the_edges_form_runs_of_their_own() {
        let of = |windows: Vec<Window>| -> Vec<_> {
            alike(&windows).unwrap().iter().map(|run| (run.start, run.end)).collect()
        };
        assert_eq!(of(sliding(6, 12, [3, 2, 1, 1], false).unwrap()), [(0, 1), (1, 6)]);
        assert_eq!(of(sliding(5, 5, [3, 1, 1, 1], false).unwrap()), [(0, 1), (1, 4), (4, 5)]);
        assert_eq!(of(sliding(4, 8, [2, 2, 0, 1], false).unwrap()), [(0, 4)]);
        // Windows of 2, 3 and 2 elements.
        assert_eq!(of(adaptive(3, 5).unwrap()), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(of(adaptive(4, 8).unwrap()), [(0, 4)]);
        // Neighbours that meet the same element are no run: lanes without a step are channels.
        assert_eq!(of(adaptive(4, 2).unwrap()), [(0, 1), (1, 3), (3, 4)]);
    }
}
