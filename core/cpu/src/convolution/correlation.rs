//! Correlations as products: the weights of all phases are packed once; shares of columns (samples and positions) are
//! unfolded and multiplied by each thread for itself.

use super::axis::{Axis, products};
use super::padded::{Padded, View};
use super::unfolded::{Kernels, Unfolded, count_taps, position_step, tap_offsets};
use super::{Job, Place};
use crate::array::Array;
use crate::gemm::{Columns, Factor, PackedA, Run, worthwhile_threads};
use crate::shared::Shared;
use rushlight_base::runtime::{FirstError, check_cancelled, parallel_for, try_parallel_chunks};
use rushlight_base::{Result, list};
use std::ops::Range;
use std::sync::Arc;

/// Shares for each thread, so that a thread that starts late has less left to do.
const SHARES: usize = 4;
/// Multiplications that are worth a second thread.
const GRAIN: usize = 1 << 18;
/// Elements of a group's weights from which on they should not pass through the caches for a single panel of columns.
const LARGE: usize = 1 << 17;
/// Columns up to which so many weights are read in place.
const FEW: usize = 800;

/// Rows up to which columns are read in place, where packing them takes as long as some of the products. Measured on an AMD Zen 3
/// with one thread: 0.80 of the time of 7 x 7 kernels from 32 channels to 32, 0.78 of 5 x 5 from 24 to 24, 0.46 of single
/// elements from 96 channels to 16 over 112 x 112 positions.
const ROWS: usize = 48;
/// Those of long lines, of so many positions: 0.79 of the time of single elements from 256 channels to 64 over 56 x 56 positions,
/// but 1.15 from 576 to 96 over 14 x 14.
const ROWS_OF_WIDE: usize = 144;
const WIDE: usize = 512;
/// Positions of a share of a line that is read in place.
const PIECE: usize = 960;

/// Columns that are read in place.
struct InPlace {
    /// Offsets of the elements of each k, in bytes.
    offsets: Vec<isize>,
    /// Lines of a plane, their length, and pieces of each.
    lines: usize,
    length: usize,
    pieces: usize,
    /// The largest offset, in elements.
    last: isize,
}

/// The positions of the output that meet the same taps.
struct Phase {
    axes: [Axis; 3],
    weights: Arc<PackedA>,
    /// Offsets of what the taps meet at the first position.
    taps: Vec<isize>,
    place: Place,
    positions: usize,
}

/// Computes a correlation of elements that are moved as `T`.
pub(super) fn run<T: Copy + Default + Send + Sync>(job: &Job, axes: &[Vec<Axis>; 3]) -> Result<()> {
    let padded = Padded::new(job.image, axes, job.spatial)?;
    let mut parts = Vec::new();
    for axes in products(axes).filter(|axes| axes.iter().all(|axis| axis.length > 0)) {
        list::push(&mut parts, Phase::new::<T>(job, &padded, axes)?)?;
    }
    let count = job.image.size(0);
    for first in (0..count).step_by(padded.together) {
        let samples = first..count.min(first + padded.together);
        let Some(any) = parts.first() else { return Ok(()) };
        let copied = padded.samples::<T>(job.image, &any.axes, samples.clone())?;
        for phase in &parts {
            let mut view = copied;
            if padded.in_place() {
                view.steps = padded.steps_of(&phase.axes);
            }
            phase.multiply::<T>(job, view, samples.clone())?;
        }
    }
    Ok(())
}

impl Phase {
    fn new<T: Copy>(job: &Job, padded: &Padded, axes: [Axis; 3]) -> Result<Phase> {
        let weights = match job.packed {
            Some(packed) => {
                let taps = axes.each_ref().map(|axis| axis.taps.iter().map(|tap| tap.0).collect());
                packed.rows(taps, || Phase::pack::<T>(job, &axes))?
            }
            None => match Phase::weights_in_place(job, &axes)? {
                Some(weights) => Arc::new(weights),
                None => Arc::new(Phase::pack::<T>(job, &axes)?),
            },
        };
        let (taps, place) = (tap_offsets(padded, &axes)?, Place::of(job.out, &axes, job.spatial));
        let positions = axes.iter().map(|axis| axis.length).product();
        Ok(Phase { axes, weights, taps, place, positions })
    }

    /// The weights where they are, if they are many and the columns few: packing would take longer than it saves. Measured on an
    /// AMD Zen 3 with one thread: 0.73 of the time of 3 x 3 kernels from 512 channels to 512 over two images of 7 x 7, 0.77 with
    /// step 2 from 256 to 512.
    fn weights_in_place(job: &Job, axes: &[Axis; 3]) -> Result<Option<PackedA>> {
        let [rows, channels] = job.channels();
        let positions = axes.iter().map(|axis| axis.length).product::<usize>();
        let depth = channels * count_taps(axes);
        if job.image.size(0) * positions > FEW || rows * depth < LARGE {
            return Ok(None);
        }
        let kernels = Kernels::new(job.weight, axes, job.spatial, job.groups, job.transposed)?;
        let Some(place) = kernels.in_place(channels, job.out.dtype().size())? else { return Ok(None) };
        // SAFETY: rows and taps are elements of the weight array, which outlives the job.
        unsafe { PackedA::in_place(job.out.dtype(), place, [job.groups, rows], job.bias) }
    }

    /// The weights of the taps, packed.
    fn pack<T: Copy>(job: &Job, axes: &[Axis; 3]) -> Result<PackedA> {
        let [rows, channels] = job.channels();
        let dtype = job.out.dtype();
        let kernels = Kernels::new(job.weight, axes, job.spatial, job.groups, job.transposed)?;
        let sizes = [rows * job.groups, channels * count_taps(axes)];
        let matrix = kernels.as_matrix(channels, job.groups);
        let gathered = match matrix {
            Some(_) => None,
            None => Some(kernels.gather::<T>(channels, job.groups)?),
        };
        let at = gathered.as_ref().map_or(job.weight.start(), |rows| rows.start());
        let strides = matrix.unwrap_or([sizes[1] as i64, 1]);
        let sizes = sizes.map(|size| size as i64);
        // SAFETY: rows and columns are the elements of the weight array or of the buffer, with these strides.
        let matrix = unsafe { Array::new(at, dtype, &sizes, &strides) };
        PackedA::new(dtype, Factor::<T>::Matrix(&matrix), job.groups, job.bias)
    }

    /// Computes the positions of `samples`.
    fn multiply<T: Copy>(&self, job: &Job, view: View, samples: Range<usize>) -> Result<()> {
        let [rows, channels] = job.channels();
        let columns = samples.len() * self.positions;
        let work = job.groups.saturating_mul(rows).saturating_mul(channels * self.taps.len()).saturating_mul(columns);
        let threads = worthwhile_threads(work);
        if let Some(at) = self.in_place::<T>(job, &view, channels)? {
            return self.multiply_in_place::<T>(job, view, samples, &at);
        }
        let cut = Cut::new(self, job, columns, threads);
        let share = |share: usize| -> Result<()> {
            let (group, rows, lanes) = cut.share(share);
            self.share::<T>(job, view, &samples, group, rows, lanes)
        };
        if threads == 1 {
            return (0..cut.shares()).try_for_each(|index| {
                check_cancelled()?;
                share(index)
            });
        }
        let failed = FirstError::default();
        parallel_for(cut.shares(), &|index| failed.note(share(index)))?;
        failed.result()
    }

    /// The columns that should be read in place, if any: those of few rows, in lines of positions that fill vectors well.
    fn in_place<T>(&self, job: &Job, view: &View, channels: usize) -> Result<Option<InPlace>> {
        let [layers, height, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        // Planes without gaps are one line.
        let even = [view.steps, self.place.steps].map(|steps| position_step(&self.axes, steps));
        let [lines, length] = if even == [Some(1); 2] { [1, self.positions] } else { [layers * height, row] };
        let most = if length >= WIDE { ROWS_OF_WIDE } else { ROWS };
        let lanes = self.weights.lanes();
        let full = length * 4 >= length.next_multiple_of(lanes) * 3;
        let adjacent = view.steps[2] == 1 && self.place.steps[2] == 1;
        if !(full && adjacent && self.weights.reads_in_place(most)) || job.out.numel() == 0 {
            return Ok(None);
        }
        let mut offsets = list::with_capacity(channels * self.taps.len())?;
        for channel in 0..channels as isize {
            offsets.extend(self.taps.iter().map(|tap| (channel * view.channel + tap) * size_of::<T>() as isize));
        }
        let last = offsets.iter().fold(0, |last, &offset| last.max(offset)) / size_of::<T>() as isize;
        let pieces = length.div_ceil(PIECE);
        Ok(Some(InPlace { offsets, lines, length, pieces, last }))
    }

    /// Computes the positions of `samples` from columns in place: shares are pieces of lines.
    fn multiply_in_place<T: Copy>(&self, job: &Job, view: View, samples: Range<usize>, at: &InPlace) -> Result<()> {
        let [rows, channels] = job.channels();
        let height = self.axes[1].length;
        let out = Shared::new(job.out.start());
        let (across, lanes) = (self.weights.columns(), self.weights.lanes());
        let units = samples.len() * job.groups * at.lines * at.pieces;
        let work = at.length.min(PIECE).saturating_mul(rows).saturating_mul(at.offsets.len());
        try_parallel_chunks(units, (GRAIN / work.max(1)).max(1), &|units| {
            let after = job.finishing.map(|finishing| finishing.after([job.out.stride(1), 1]));
            for unit in units {
                let (line, piece) = (unit / at.pieces, unit % at.pieces);
                let (plane, line) = (line / at.lines, line % at.lines);
                let (sample, group) = (plane / job.groups, plane % job.groups);
                let own = piece * PIECE..at.length.min((piece + 1) * PIECE);
                let [d, h] = [(line / height) as isize, (line % height) as isize];
                let from = sample as isize * view.sample
                    + (group * channels) as isize * view.channel
                    + d * view.steps[0]
                    + h * view.steps[1]
                    + own.start as isize;
                // Whole vectors are read. Behind the last plane of an image in place there is nothing.
                if from + at.last + own.len().next_multiple_of(lanes) as isize > view.limit {
                    let first = sample * self.positions + line * at.length;
                    self.share::<T>(
                        job,
                        view,
                        &samples,
                        group,
                        0..self.weights.row_panels(),
                        first + own.start..first + own.end,
                    )?;
                    continue;
                }
                let to = (samples.start + sample) as isize * job.out.stride(0)
                    + (group * rows) as isize * job.out.stride(1)
                    + self.place.offset
                    + d * self.place.steps[0]
                    + h * self.place.steps[1]
                    + own.start as isize;
                let from = view.at.get().cast::<T>().wrapping_offset(from).cast_const();
                let to = out.get().cast::<T>().wrapping_offset(to);
                let runs = (0..own.len()).step_by(across).map(|w| {
                    let run = Run { lanes: across.min(own.len() - w), at: to.wrapping_add(w).cast() };
                    (from.wrapping_add(w).cast(), run)
                });
                // SAFETY: whole vectors can be read at the offsets, as just checked; the runs are positions of the output,
                // which no other share has.
                unsafe { self.weights.multiply_along(group, runs, &at.offsets, job.out.stride(1), after) };
            }
            Ok(())
        })
    }

    /// Computes some columns of a group.
    fn share<T: Copy>(
        &self,
        job: &Job,
        view: View,
        samples: &Range<usize>,
        group: usize,
        rows: Range<usize>,
        lanes: Range<usize>,
    ) -> Result<()> {
        let [_, channels] = job.channels();
        let unfolded = Unfolded {
            view,
            channel: group * channels,
            lengths: [0, 1, 2].map(|dim| self.axes[dim].length),
            taps: &self.taps,
        };
        let (runs, column_step) = self.runs(job, Shared::new(job.out.start()), group, samples, lanes.clone())?;
        let steps = [job.out.stride(1), column_step];
        let after = job.finishing.map(|finishing| finishing.after(steps));
        let columns = Columns { lanes, runs: &runs, steps, bias: job.bias, after };
        // SAFETY: the runs are the positions of the share's samples in the output, which no other share has.
        unsafe { self.weights.multiply::<T>(group, rows, &unfolded, &columns) }
    }

    /// The destinations of `lanes`, and the step between the columns of each.
    fn runs(
        &self,
        job: &Job,
        out: Shared<u8>,
        group: usize,
        samples: &Range<usize>,
        lanes: Range<usize>,
    ) -> Result<(Vec<Run>, isize)> {
        let [rows, _] = job.channels();
        let [_, height, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let steps = self.place.steps;
        let size = job.out.dtype().size() as isize;
        let start = self.place.offset + (group * rows) as isize * job.out.stride(1);
        let even = position_step(&self.axes, steps);
        // Positions of a run, and the number of runs in a sample.
        let length = if even.is_some() { self.positions } else { row };
        let (mut runs, mut lane) = (Vec::new(), lanes.start);
        list::reserve(&mut runs, lanes.len() / length.max(1) + 2)?;
        while lane < lanes.end {
            let (run, from) = (lane / length, lane % length);
            let (sample, line) = match even {
                Some(_) => (run, 0),
                None => (run * row / self.positions, run % (self.positions / row)),
            };
            let at = (samples.start + sample) as isize * job.out.stride(0)
                + (line / height) as isize * steps[0]
                + (line % height) as isize * steps[1]
                + from as isize * even.unwrap_or(steps[2]);
            let taken = (length - from).min(lanes.end - lane);
            runs.push(Run { lanes: taken, at: out.get().wrapping_offset((start + at) * size) });
            lane += taken;
        }
        Ok((runs, even.unwrap_or(steps[2])))
    }
}

/// The shares of a product: groups, parts of their rows, and parts of the columns. No result depends on them.
struct Cut {
    groups: usize,
    row_panels: usize,
    row_parts: usize,
    columns: usize,
    /// Columns of a share.
    chunk: usize,
}

impl Cut {
    fn new(phase: &Phase, job: &Job, columns: usize, threads: usize) -> Cut {
        let (across, groups, row_panels) = (phase.weights.columns(), job.groups, phase.weights.row_panels());
        let [rows, channels] = job.channels();
        let panels = columns.div_ceil(across).max(1);
        let most = phase.weights.columns_together() / across;
        let mut pieces = panels.div_ceil(most);
        let wanted = if threads > 1 { SHARES * threads } else { 1 };
        if groups * pieces < wanted {
            let least = if rows * channels * phase.taps.len() >= LARGE { most.min(4) } else { 1 };
            pieces = wanted.div_ceil(groups).min(panels.div_ceil(least)).max(pieces);
        }
        let chunk = panels.div_ceil(pieces);
        let pieces = panels.div_ceil(chunk);
        let row_parts = wanted.div_ceil(groups * pieces).clamp(1, row_panels.max(1));
        Cut { groups, row_panels, row_parts, columns, chunk: chunk * across }
    }

    fn shares(&self) -> usize {
        self.groups * self.columns.div_ceil(self.chunk) * self.row_parts
    }

    /// The group, panels of rows and columns of a share.
    fn share(&self, index: usize) -> (usize, Range<usize>, Range<usize>) {
        let pieces = self.columns.div_ceil(self.chunk);
        let (part, rest) = (index % self.row_parts, index / self.row_parts);
        let (piece, group) = (rest % pieces, rest / pieces);
        let bound = |part: usize| part * self.row_panels / self.row_parts;
        let first = piece * self.chunk;
        (group, bound(part)..bound(part + 1), first..self.columns.min(first + self.chunk))
    }
}
