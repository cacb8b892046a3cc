//! The operands of a correlation's product, filled in panel by panel.

use super::axis::{Axis, even_step};
use super::padded::{Padded, View};
use super::pieces::{self, Along, PIECES, Piece};
use crate::array::Array;
use crate::gemm::{Panels, RowsInPlace};
use crate::shared::Shared;
use crate::simd::{Kernel, Simd, run};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, Scratch, list};
use std::ops::Range;

/// Elements that are worth a second thread.
const GRAIN: usize = 1 << 14;

/// The taps of three axes, in order.
pub(super) fn each_tap(axes: &[Axis; 3], mut visit: impl FnMut([(usize, isize); 3])) {
    for &depth in axes[0].taps.iter() {
        for &height in axes[1].taps.iter() {
            for &width in axes[2].taps.iter() {
                visit([depth, height, width]);
            }
        }
    }
}

/// The number of taps.
pub(super) fn count_taps(axes: &[Axis; 3]) -> usize {
    axes.iter().fold(1, |count, axis| count.saturating_mul(axis.taps.len()))
}

/// Offsets of what the taps meet at the first position.
pub(super) fn tap_offsets(padded: &Padded, axes: &[Axis; 3]) -> Result<Vec<isize>> {
    let mut taps = list::with_capacity(count_taps(axes))?;
    each_tap(axes, |tap| taps.push(padded.offset(tap.map(|(_, offset)| offset))));
    Ok(taps)
}

/// Some samples of an image seen so that products become a correlation: a row for each channel and tap, a column for
/// each sample and position.
pub(super) struct Unfolded<'a> {
    pub view: View,
    /// The first channel.
    pub channel: usize,
    pub lengths: [usize; 3],
    pub taps: &'a [isize],
}

/// Channels and taps along k.
struct Taps<'a> {
    /// Step between channels.
    step: isize,
    taps: &'a [isize],
}

impl Along for Taps<'_> {
    #[inline(always)]
    fn each(&self, depth: Range<usize>, mut visit: impl FnMut(isize)) {
        let (mut channel, mut tap) = (depth.start / self.taps.len(), depth.start % self.taps.len());
        for _ in depth {
            visit(channel as isize * self.step + self.taps[tap]);
            tap += 1;
            if tap == self.taps.len() {
                (channel, tap) = (channel + 1, 0);
            }
        }
    }

    fn furthest(&self, depth: Range<usize>) -> isize {
        let channel = (depth.end - 1) / self.taps.len();
        channel as isize * self.step + self.taps.iter().fold(0, |most, &tap| most.max(tap))
    }
}

impl<T: Copy> Panels<T> for Unfolded<'_> {
    unsafe fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: *mut T, width: usize) {
        let ([layers, rows, row], steps) = (self.lengths, self.view.steps);
        let mut pieces = [Piece::default(); PIECES];
        let (mut line, mut from) = (lanes.start / row, lanes.start % row);
        let (mut count, mut lane) = (0, 0);
        while lane < lanes.len() {
            let (plane, h) = (line / rows, line % rows);
            let at = (plane / layers) as isize * self.view.sample
                + (plane % layers) as isize * steps[0]
                + h as isize * steps[1]
                + from as isize * steps[2];
            let taken = (row - from).min(lanes.len() - lane);
            count = pieces::add(&mut pieces, count, Piece { lane, count: taken, at });
            lane += taken;
            (line, from) = (line + 1, 0);
        }
        let first = self.channel as isize * self.view.channel;
        let from = self.view.at.get().cast::<T>().wrapping_offset(first).cast_const();
        let taps = Taps { step: self.view.channel, taps: self.taps };
        // SAFETY: the caller provides the panel. Lanes are positions of the samples of the view and `depth` counts
        // channels and taps, which meet elements of it.
        unsafe { pieces::fill(from, self.view.limit - first, &taps, depth, &pieces[..count], panel, width) }
    }
}

/// The weights of a correlation: a row for each channel of the output, a column for each channel of the source and tap.
pub(super) struct Kernels {
    at: Shared<u8>,
    /// Rows of a group, and the step to the next group.
    rows: usize,
    group_step: isize,
    row_step: isize,
    channel_step: isize,
    /// Offsets of the elements that the taps meet.
    taps: Vec<isize>,
}

impl Kernels {
    /// The weights of all groups. `transposed`: their first dimension is the source's.
    pub fn new(weight: &Array, axes: &[Axis; 3], spatial: usize, groups: usize, transposed: bool) -> Result<Kernels> {
        let own = (weight.size(0) / groups) as isize * weight.stride(0);
        let (rows, row_step, channel_step) = match transposed {
            true => (weight.size(1), weight.stride(1), weight.stride(0)),
            false => (weight.size(0) / groups, weight.stride(0), weight.stride(1)),
        };
        let mut taps = list::with_capacity(count_taps(axes))?;
        each_tap(axes, |tap| {
            let own = |dim: usize| tap[3 - spatial + dim].0 as isize * weight.stride(2 + dim);
            taps.push((0..spatial).map(own).sum());
        });
        Ok(Kernels { at: Shared::new(weight.start()), rows, group_step: own, row_step, channel_step, taps })
    }

    /// The first element, and strides of rows and columns, if the rows of all groups follow each other and one step
    /// leads through taps and channels.
    pub fn as_matrix(&self, channels: usize, groups: usize) -> Option<[i64; 2]> {
        let step = match self.taps[..] {
            [] => 1,
            [_] => self.channel_step,
            [first, second, ..] => second - first,
        };
        let even = self.taps.first().is_none_or(|&first| first == 0)
            && self.taps.windows(2).all(|pair| pair[1] - pair[0] == step)
            && (channels == 1 || self.channel_step == step * self.taps.len() as isize)
            && (groups == 1 || self.group_step == self.row_step * self.rows as isize);
        even.then_some([self.row_step as i64, step as i64])
    }
}

impl Kernels {
    /// Whether the elements of a row follow each other, ordered by taps, then channels.
    pub fn are_by_taps(&self, channels: usize) -> bool {
        self.channel_step == 1 && self.taps.iter().enumerate().all(|(t, &tap)| tap == (t * channels) as isize)
    }

    /// The first row of a group, of elements of `size` bytes, and the step to the next one, in elements.
    pub fn group(&self, group: usize, size: usize) -> (*mut u8, isize) {
        (self.at.get().wrapping_offset(group as isize * self.group_step * size as isize), self.row_step)
    }

    /// Writes the rows of a group, their elements ordered by taps, then channels.
    pub fn by_taps<T: Copy>(&self, channels: usize, group: usize, to: *mut T) {
        let from = self.at.get().cast::<T>().wrapping_offset(group as isize * self.group_step).cast_const();
        let mut to = to;
        for row in 0..self.rows as isize {
            for &tap in &self.taps {
                let from = from.wrapping_offset(row * self.row_step + tap);
                // SAFETY: rows, taps and channels are those of the weight array; the caller provides space for the rows.
                unsafe {
                    if self.channel_step == 1 {
                        std::ptr::copy_nonoverlapping(from, to, channels);
                    } else {
                        for channel in 0..channels {
                            to.add(channel).write(from.offset(channel as isize * self.channel_step).read());
                        }
                    }
                }
                to = to.wrapping_add(channels);
            }
        }
    }

    /// The rows where they are, of elements of `size` bytes, if that suits the caches: the taps of a channel are close to each
    /// other, and channels are not pages apart, which would share a few sets of the first-level cache.
    pub fn in_place(&self, channels: usize, size: usize) -> Result<Option<RowsInPlace>> {
        let size = size as isize;
        let are_close = self.taps.windows(2).all(|pair| (pair[1] - pair[0]).abs() <= CLOSE);
        if !are_close || (self.channel_step * size) % 4096 == 0 {
            return Ok(None);
        }
        let mut offsets = list::with_capacity(channels * self.taps.len())?;
        for channel in 0..channels as isize {
            offsets.extend(self.taps.iter().map(|tap| (channel * self.channel_step + tap) * size));
        }
        let (group_step, row_step) = (self.group_step * size, self.row_step * size);
        Ok(Some(RowsInPlace { at: self.at, group_step, row_step, offsets }))
    }
}

/// The most elements between taps that are close.
const CLOSE: isize = 16;
/// Rows that are gathered together.
const ROWS: usize = 16;

impl Kernels {
    /// The rows of all groups, one after the other, in a buffer.
    pub fn gather<T: Copy>(&self, channels: usize, groups: usize) -> Result<Scratch> {
        let (taps, depth) = (self.taps.len(), channels * self.taps.len());
        let buffer = Scratch::new((groups * self.rows).saturating_mul(depth).saturating_mul(size_of::<T>()))?;
        let to = Shared::new(buffer.start().cast::<T>());
        let first = self.taps.first().copied().unwrap_or(0);
        let follow = self.taps.iter().enumerate().all(|(t, &tap)| tap == first + t as isize);
        // Whole blocks may be copied where further channels follow, on both sides.
        let whole = follow && self.row_step >= taps as isize && self.channel_step >= self.rows as isize * self.row_step;
        let blocks = if whole { channels.saturating_sub(pieces::block::<T>() / taps.max(1) + 1) } else { 0 };
        let parts = self.rows.div_ceil(ROWS);
        parallel_chunks(groups * parts, (GRAIN / (ROWS * depth).max(1)).max(1), &|parts_here| {
            for part in parts_here {
                let (group, first_row) = (part / parts, part % parts * ROWS);
                let rows = first_row..self.rows.min(first_row + ROWS);
                let at = self.at.get().cast::<T>().wrapping_offset(group as isize * self.group_step).cast_const();
                let to = to.get().wrapping_add(group * self.rows * depth);
                let gather = Gather { of: self, at, to, rows, channels, blocks, first };
                run(gather);
            }
        })?;
        Ok(buffer)
    }
}

/// Rows in progress.
struct Gather<'a, T> {
    of: &'a Kernels,
    at: *const T,
    to: *mut T,
    rows: Range<usize>,
    channels: usize,
    /// Channels of which whole blocks may be copied.
    blocks: usize,
    /// Offset of the first tap.
    first: isize,
}

impl<T: Copy> Kernel for Gather<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let taps = &self.of.taps[..];
        let depth = self.channels * taps.len();
        for channel in 0..self.channels {
            for row in self.rows.clone() {
                let from = row as isize * self.of.row_step + channel as isize * self.of.channel_step;
                let from = self.at.wrapping_offset(from);
                let to = self.to.wrapping_add(row * depth + channel * taps.len());
                // SAFETY: rows, channels and taps are below the sizes of the weight array, and the buffer has a row of
                // `depth` for each. What a block copies beyond the taps is inside both as further channels follow,
                // whose elements are written later.
                unsafe {
                    if channel < self.blocks {
                        for t in (0..taps.len()).step_by(pieces::block::<T>()) {
                            pieces::copy_block(from.offset(self.first).add(t), to.add(t));
                        }
                    } else {
                        for (t, &tap) in taps.iter().enumerate() {
                            to.add(t).write(from.offset(tap).read());
                        }
                    }
                }
            }
        }
    }
}

/// The step from each position of the output to the next, if it is the same everywhere.
pub(super) fn position_step(axes: &[Axis; 3], steps: [isize; 3]) -> Option<isize> {
    even_step([0, 1, 2].map(|dim| (axes[dim].length, steps[dim])))
}
