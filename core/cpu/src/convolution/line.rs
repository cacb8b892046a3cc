//! One spatial dimension of a padded copy of an image: positions sorted by their remainder modulo the step, so that
//! whatever a tap meets at adjacent positions of the output is adjacent in the copy.

use super::axis::Axis;
use rushlight_base::{Result, list};

/// The entries of one dimension of the copy: `length` for each of the remainders that some tap meets.
#[derive(Clone, Debug)]
pub(super) struct Line {
    step: usize,
    /// Zeros before the source.
    low: isize,
    remainders: Vec<usize>,
    /// Entries of a remainder.
    pub length: usize,
    /// Elements of the source.
    source: usize,
}

impl Line {
    /// Entries for the taps of all phases of a dimension, whose steps are equal.
    fn of(phases: &[Axis]) -> Result<Line> {
        let taps = || phases.iter().flat_map(|axis| axis.taps.iter().map(move |tap| (axis, tap.1)));
        let (step, source) = phases.first().map_or((1, 0), |axis| (axis.step as usize, axis.source));
        let low = -taps().map(|(_, offset)| offset).fold(0, isize::min);
        let (mut remainders, mut length) = (Vec::new(), 0);
        for (axis, offset) in taps() {
            let entry = (offset + low) as usize;
            length = length.max(entry / step + axis.length);
            if !remainders.contains(&(entry % step)) {
                list::push(&mut remainders, entry % step)?;
            }
        }
        remainders.sort_unstable();
        Ok(Line { step, low, remainders, length, source })
    }

    /// Number of entries.
    fn entries(&self) -> usize {
        self.remainders.len().saturating_mul(self.length)
    }

    /// Number of remainders.
    fn parts(&self) -> usize {
        self.remainders.len()
    }

    /// The entry that a tap meets at the first position; those of the next positions follow.
    fn entry(&self, offset: isize) -> usize {
        let at = (offset + self.low) as usize;
        let part = self.remainders.iter().position(|&remainder| remainder == at % self.step).unwrap_or(0);
        part * self.length + at / self.step
    }

    /// The entries of a remainder that are elements of the source, and the first such element. The elements of
    /// the following entries are `step` apart.
    fn inside(&self, part: usize) -> (std::ops::Range<usize>, usize) {
        let first = self.remainders[part] as isize - self.low;
        let step = self.step as isize;
        let start = if first < 0 { (-first + step - 1) / step } else { 0 };
        let element = first + start * step;
        let rest = self.source as isize - element;
        let count = if rest > 0 { (rest + step - 1) / step } else { 0 };
        let start = (start as usize).min(self.length);
        (start..self.length.min(start + count as usize), element as usize)
    }
}

/// The rows of a padded plane, and the parts of a row.
pub(super) struct Layout {
    pub lines: [Line; 3],
    /// For each row, the offset of the image's row that it holds; [`ZEROS`] if it is padding.
    pub rows: Vec<isize>,
    /// For each remainder along a row, the entries that are elements of the image, and the offset of the first.
    pub parts: Vec<(std::ops::Range<usize>, isize)>,
    /// Step in the image between entries of a part.
    pub step: isize,
}

/// A row of zeros.
pub(super) const ZEROS: isize = isize::MIN;

impl Layout {
    /// The layout for all phases of each dimension of an image with these steps.
    pub fn new(phases: &[Vec<Axis>; 3], steps: [isize; 3]) -> Result<Layout> {
        let lines = [Line::of(&phases[0])?, Line::of(&phases[1])?, Line::of(&phases[2])?];
        let offsets = |dim: usize| -> Result<Vec<isize>> {
            let line = &lines[dim];
            let mut offsets = list::with_capacity(line.entries())?;
            for part in 0..line.parts() {
                let (inside, first) = line.inside(part);
                for entry in 0..line.length {
                    offsets.push(match inside.contains(&entry) {
                        true => (first + (entry - inside.start) * line.step) as isize * steps[dim],
                        false => ZEROS,
                    });
                }
            }
            Ok(offsets)
        };
        let (depths, heights) = (offsets(0)?, offsets(1)?);
        let mut rows = list::with_capacity(depths.len().saturating_mul(heights.len()))?;
        for &depth in &depths {
            rows.extend(heights.iter().map(|&h| if depth == ZEROS || h == ZEROS { ZEROS } else { depth + h }));
        }
        let mut parts = list::with_capacity(lines[2].parts())?;
        for part in 0..lines[2].parts() {
            let (inside, first) = lines[2].inside(part);
            parts.push((inside, first as isize * steps[2]));
        }
        let step = lines[2].step as isize * steps[2];
        Ok(Layout { lines, rows, parts, step })
    }

    /// Elements of a row.
    pub fn row(&self) -> usize {
        self.lines[2].entries()
    }

    /// Elements of a plane.
    pub fn elements(&self) -> usize {
        self.lines.iter().fold(1usize, |product, line| product.saturating_mul(line.entries()))
    }

    /// Steps between positions of the output.
    pub fn steps(&self) -> [isize; 3] {
        let row = self.row() as isize;
        [self.lines[1].entries() as isize * row, row, 1]
    }

    /// The element that a tap meets at the first position.
    pub fn offset(&self, tap: [isize; 3]) -> isize {
        let steps = self.steps();
        (0..3).map(|dim| self.lines[dim].entry(tap[dim]) as isize * steps[dim]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::forward_axis;
    use super::*;

    #[test]
    fn entries_of_a_remainder_are_adjacent() {
        // Output 3, source 5, kernel 3, stride 2, padding 1: offsets -1, 0 and 1.
        let line = Line::of(&[forward_axis([3, 5, 3], [2, 1, 1]).unwrap()]).unwrap();
        assert_eq!((line.parts(), line.length, line.entries()), (2, 4, 8));
        assert_eq!([-1, 0, 1].map(|offset| line.entry(offset)), [0, 4, 1]);
        // Elements -1, 1, 3, 5 and 0, 2, 4, 6.
        assert_eq!(line.inside(0), (1..3, 1));
        assert_eq!(line.inside(1), (0..3, 0));
    }

    #[test]
    fn only_what_a_tap_meets_has_entries() {
        let line = Line::of(&[forward_axis([3, 6, 1], [2, 0, 1]).unwrap()]).unwrap();
        assert_eq!((line.parts(), line.entries(), line.inside(0)), (1, 3, (0..3, 0)));
    }
}
