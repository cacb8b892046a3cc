//! Correlations as products: the weights of all phases are packed once; shares of columns (samples and positions) are
//! unfolded and multiplied by each thread for itself.

use super::axis::{Axis, products};
use super::padded::{Padded, View};
use super::unfolded::{Kernels, Unfolded, count_taps, position_step, tap_offsets};
use super::{Job, Place};
use crate::array::Array;
use crate::gemm::{Columns, Factor, PackedA, Run, worthwhile_threads};
use crate::shared::Shared;
use rushlight_base::runtime::{FirstError, check_cancelled, parallel_chunks, parallel_for};
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
    /// AMD Zen 3 with one thread: 0.67 of the time of 3 x 3 kernels from 512 channels to 512 over two images of 7 x 7, 0.68 with
    /// step 2 from 256 to 512.
    fn weights_in_place(job: &Job, axes: &[Axis; 3]) -> Result<Option<PackedA>> {
        let [rows, channels] = job.channels();
        let positions = axes.iter().map(|axis| axis.length).product::<usize>();
        let depth = channels * count_taps(axes);
        if job.image.size(0) * positions > FEW || rows * depth < LARGE {
            return Ok(None);
        }
        let kernels = Kernels::new(job.weight, axes, job.spatial, job.groups, job.transposed)?;
        if !kernels.are_close() {
            return Ok(None);
        }
        let place = kernels.in_place(channels, job.out.dtype().size())?;
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
        if let Some(offsets) = self.in_place::<T>(job, &view, channels)? {
            return self.multiply_in_place::<T>(job, view, samples, &offsets);
        }
        let cut = Cut::new(self, job, columns, threads);
        let out = Shared::new(job.out.start());
        let share = |share: usize| -> Result<()> {
            let (group, rows_of_share, lanes) = cut.share(share);
            let unfolded = Unfolded {
                view,
                channel: group * channels,
                lengths: [0, 1, 2].map(|dim| self.axes[dim].length),
                taps: &self.taps,
            };
            let (runs, column_step) = self.runs(job, out, group, &samples, lanes.clone())?;
            let steps = [job.out.stride(1), column_step];
            let after = job.finishing.map(|finishing| finishing.after(steps));
            let columns = Columns { lanes, runs: &runs, steps, bias: job.bias, after };
            // SAFETY: the runs are the positions of the share's samples in the output, which no other share has.
            unsafe { self.weights.multiply::<T>(group, rows_of_share, &unfolded, &columns) }
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

    /// The offsets of each k, in bytes, if the columns should be read in place: few rows, and rows of positions that
    /// fill vectors well.
    fn in_place<T>(&self, job: &Job, view: &View, channels: usize) -> Result<Option<Vec<isize>>> {
        let (row, lanes) = (self.axes[2].length, self.weights.lanes());
        let full = row * 4 >= row.next_multiple_of(lanes) * 3;
        if !(full && view.slack && self.place.steps[2] == 1 && self.weights.reads_in_place()) || job.out.numel() == 0 {
            return Ok(None);
        }
        let mut offsets = list::with_capacity(channels * self.taps.len())?;
        for channel in 0..channels as isize {
            offsets.extend(self.taps.iter().map(|tap| (channel * view.channel + tap) * size_of::<T>() as isize));
        }
        Ok(Some(offsets))
    }

    /// Computes the positions of `samples` from columns in place: shares are rows of positions.
    fn multiply_in_place<T>(&self, job: &Job, view: View, samples: Range<usize>, offsets: &[isize]) -> Result<()> {
        let [rows, channels] = job.channels();
        let [layers, height, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let lines = samples.len() * job.groups * layers * height;
        let out = Shared::new(job.out.start());
        let across = self.weights.columns();
        let work = row.saturating_mul(rows).saturating_mul(offsets.len());
        parallel_chunks(lines, (GRAIN / work.max(1)).max(1), &|lines| {
            let after = job.finishing.map(|finishing| finishing.after([job.out.stride(1), 1]));
            for line in lines {
                let (plane, h) = (line / height, line % height);
                let (unit, d) = (plane / layers, plane % layers);
                let (sample, group) = (unit / job.groups, unit % job.groups);
                let from = sample as isize * view.sample
                    + (group * channels) as isize * view.channel
                    + d as isize * view.steps[0]
                    + h as isize * view.steps[1];
                let to = (samples.start + sample) as isize * job.out.stride(0)
                    + (group * rows) as isize * job.out.stride(1)
                    + self.place.offset
                    + d as isize * self.place.steps[0]
                    + h as isize * self.place.steps[1];
                let from = view.at.get().cast::<T>().wrapping_offset(from).cast_const();
                let to = out.get().cast::<T>().wrapping_offset(to);
                let runs = (0..row).step_by(across).map(|w| {
                    let run = Run { lanes: across.min(row - w), at: to.wrapping_add(w).cast() };
                    (from.wrapping_add(w).cast(), run)
                });
                // SAFETY: the view is a copy with a whole vector behind its last plane; the runs are a row of positions
                // of the output, which no other share has.
                unsafe { self.weights.multiply_along(group, runs, offsets, job.out.stride(1), after) };
            }
        })
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
