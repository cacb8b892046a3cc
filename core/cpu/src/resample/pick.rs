//! Outputs that are one input each: nearest-neighbour interpolation, padding by reflection or replication.

use super::Taps;
use crate::array::Array;
use crate::device;
use crate::volume::{Volume, has_adjacent_channels};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, list};

/// Bytes that are worth a second thread.
const GRAIN: usize = 1 << 16;
/// Mean length from which on runs are copied as such.
const LONG: usize = 4;

/// Adjacent outputs whose inputs are adjacent.
struct Run {
    to: usize,
    from: usize,
    length: usize,
}

/// out = the elements that `taps` selects, one for each position.
pub fn pick(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    if !out.is_on_host() {
        return device::sums(out, input, &super::tables(taps)?, 0, spatial);
    }
    let runs = runs(&taps[2])?;
    by_size!(out, T => {
        let (to, from) = (Volume::<T>::moved(out, spatial)?, Volume::<T>::moved(input, spatial)?);
        let [depth, height, width] = to.sizes;
        if has_adjacent_channels(&to, &from) {
            let [samples, channels] = to.lead();
            let grain = GRAIN / (width * channels * size_of::<T>()).max(1);
            return parallel_chunks(samples * depth * height, grain.max(1), &|rows| {
                for row in rows {
                    pixels(&to, &from, taps, row / (depth * height) * channels, [row / height % depth, row % height]);
                }
            });
        }
        let runs = if [to.steps[2], from.steps[2]] == [1; 2] { &runs[..] } else { &[] };
        parallel_chunks(to.planes() * depth * height, (GRAIN / (width * size_of::<T>()).max(1)).max(1), &|rows| {
            for row in rows {
                line(&to, &from, taps, runs, row / (depth * height), [row / height % depth, row % height]);
            }
        })
    })
}

/// The runs along the width, if they are long.
fn runs(taps: &Taps) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for (to, &from) in taps.index.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.from + run.length == from => run.length += 1,
            _ => list::push(&mut runs, Run { to, from, length: 1 })?,
        }
    }
    if runs.len() * LONG > taps.index.len() {
        runs.clear();
    }
    Ok(runs)
}

/// A row of a plane.
fn line<T: Copy>(to: &Volume<T>, from: &Volume<T>, taps: &[Taps; 3], runs: &[Run], plane: usize, [d, h]: [usize; 2]) {
    let target = to.plane(plane).wrapping_offset(to.row([d, h]));
    let source = from.plane(plane).wrapping_offset(from.row([taps[0].first(d), taps[1].first(h)]));
    let [into, step] = [to.steps[2], from.steps[2]];
    // SAFETY: the tables were built for these sizes, so that every position is inside the input and inside the output,
    // whose row belongs to this share alone. Arrays that are written have no element twice, so runs do not overlap.
    unsafe {
        for run in runs {
            let (target, source) = (target.add(run.to), source.add(run.from));
            if run.length < LONG {
                (0..run.length).for_each(|at| target.add(at).write(source.add(at).read()));
            } else {
                target.copy_from_nonoverlapping(source, run.length);
            }
        }
        if runs.is_empty() {
            for (w, &at) in taps[2].index.iter().enumerate() {
                target.offset(w as isize * into).write(source.offset(at as isize * step).read());
            }
        }
    }
}

/// A row of positions, whose channels are adjacent.
fn pixels<T: Copy>(to: &Volume<T>, from: &Volume<T>, taps: &[Taps; 3], plane: usize, [d, h]: [usize; 2]) {
    let channels = to.lead()[1];
    let target = to.plane(plane).wrapping_offset(to.row([d, h]));
    let source = from.plane(plane).wrapping_offset(from.row([taps[0].first(d), taps[1].first(h)]));
    for (w, &at) in taps[2].index.iter().enumerate() {
        // SAFETY: the tables were built for these sizes, so that the position is inside the input and inside the output,
        // whose rows belong to this share alone.
        unsafe {
            let target = target.offset(w as isize * to.steps[2]);
            target.copy_from_nonoverlapping(source.offset(at as isize * from.steps[2]), channels);
        }
    }
}
