//! One spatial dimension of a correlation: which positions of the source meet which elements of the kernel.

use rushlight_base::{Result, list};
use std::sync::Arc;

/// Position `i` of the output meets, for each tap, `i * step + offset` of the source with one element of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Positions of the output.
    pub length: usize,
    /// Index of the first of them, and the distance to the next.
    pub first: usize,
    pub every: usize,
    /// Positions of the source.
    pub source: usize,
    /// Step along the source.
    pub step: isize,
    /// An element of the kernel, and the first position of the source that it meets.
    pub taps: Arc<Vec<(usize, isize)>>,
}

impl Axis {
    /// A missing dimension: size 1.
    pub fn single() -> Axis {
        Axis { length: 1, first: 0, every: 1, source: 1, step: 1, taps: Arc::new(vec![(0, 0)]) }
    }

    /// Every position of the source, by itself.
    pub fn whole(source: usize) -> Axis {
        Axis { length: source, source, ..Axis::single() }
    }

    /// The range of output positions at which a tap of this offset meets an element of the source.
    pub fn inside(&self, offset: isize) -> (usize, usize) {
        let first = if offset < 0 { (-offset).div_euclid(self.step) + isize::from(offset % self.step != 0) } else { 0 };
        let extent = self.source as isize - offset;
        let end = if extent <= 0 { 0 } else { (extent - 1) / self.step + 1 };
        let end = (end as usize).min(self.length);
        ((first as usize).min(end), end)
    }
}

/// A kernel that slides over a source in steps of `stride`. Sizes of output, source and kernel.
pub(super) fn forward_axis(
    [length, source, kernel]: [usize; 3],
    [stride, padding, dilation]: [i64; 3],
) -> Result<Axis> {
    let offset = |tap: usize| tap as isize * dilation as isize - padding as isize;
    let taps = Arc::new(list::collect((0..kernel).map(|tap| (tap, offset(tap))))?);
    Ok(Axis { length, first: 0, every: 1, source, step: stride as isize, taps })
}

/// The transpose: positions of the output that are a multiple of `stride` apart meet the same elements of the kernel.
/// An output with `length` positions has at most `stride` phases.
pub(super) fn phases([length, source, kernel]: [usize; 3], [stride, padding, dilation]: [i64; 3]) -> Result<Vec<Axis>> {
    let every = stride as usize;
    let phase = |first: usize| {
        let reach = |tap: usize| first as i64 + padding - tap as i64 * dilation;
        let meets = (0..kernel).filter(|&tap| reach(tap) % stride == 0);
        let taps = Arc::new(list::collect(meets.map(|tap| (tap, (reach(tap) / stride) as isize)))?);
        Ok(Axis { length: (length - first).div_ceil(every), first, every, source, step: 1, taps })
    };
    list::try_collect((0..every.min(length)).map(phase))
}

/// Each phase of one dimension with each of the others.
pub(super) fn products(axes: &[Vec<Axis>; 3]) -> impl Iterator<Item = [Axis; 3]> + '_ {
    axes[0].iter().flat_map(move |depth| {
        axes[1]
            .iter()
            .flat_map(move |height| axes[2].iter().map(move |width| [depth.clone(), height.clone(), width.clone()]))
    })
}

/// The step from each position of three dimensions to the next, if it is the same everywhere.
pub(super) fn even_step(dims: [(usize, isize); 3]) -> Option<isize> {
    let mut found: Option<(isize, isize)> = None;
    for &(length, step) in dims.iter().rev().filter(|(length, _)| *length != 1) {
        found = match found {
            None => Some((step, step * length as isize)),
            Some((inner, next)) if next == step => Some((inner, step * length as isize)),
            Some(_) => return None,
        };
    }
    Some(found.map_or(1, |(inner, _)| inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_outside_the_source_are_not_part_of_a_phase() {
        // Output 5, source 2, kernel 3, stride 2: out = 2 i + k.
        let phases = phases([5, 2, 3], [2, 0, 1]).unwrap();
        assert_eq!(phases.len(), 2);
        assert_eq!((phases[0].length, &phases[0].taps[..]), (3, &[(0, 0), (2, -1)][..]));
        assert_eq!((phases[1].length, &phases[1].taps[..]), (2, &[(1, 0)][..]));
    }

    #[test]
    fn positions_beyond_the_source_are_left_out() {
        let axis = forward_axis([3, 5, 3], [2, 1, 1]).unwrap();
        assert_eq!(axis.inside(-1), (1, 3));
        assert_eq!(axis.inside(1), (0, 2));
        assert_eq!(axis.inside(9), (0, 0));
    }

    #[test]
    fn even_steps() {
        assert_eq!(even_step([(2, 12), (3, 4), (4, 1)]), Some(1));
        assert_eq!(even_step([(1, 99), (3, 8), (4, 2)]), Some(2));
        assert_eq!(even_step([(2, 99), (3, 4), (4, 1)]), None);
        assert_eq!(even_step([(1, 5), (1, 5), (1, 5)]), Some(1));
    }
}
