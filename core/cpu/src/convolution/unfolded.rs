//! The operands of a correlation's product, filled in panel by panel.

use super::axis::{Axis, even_step};
use crate::array::Array;
use crate::gemm::Panels;
use crate::shared::Shared;
use rushlight_base::{Result, list};
use std::ops::Range;

/// The taps of three axes, in order.
fn each_tap(axes: &[Axis; 3], mut visit: impl FnMut([(usize, isize); 3])) {
    for &depth in axes[0].taps.iter() {
        for &height in axes[1].taps.iter() {
            for &width in axes[2].taps.iter() {
                visit([depth, height, width]);
            }
        }
    }
}

/// The number of taps.
fn count_taps(axes: &[Axis; 3]) -> usize {
    axes.iter().fold(1, |count, axis| count.saturating_mul(axis.taps.len()))
}

/// An image seen so that products become a correlation: a row for each channel and tap, a column for each position.
pub(super) struct Unfolded<'a> {
    at: Shared<u8>,
    channel_step: isize,
    steps: [isize; 3],
    axes: &'a [Axis; 3],
    taps: Vec<[(usize, isize); 3]>,
}

impl<'a> Unfolded<'a> {
    /// The channels of `image` from `channel` on.
    pub fn new(
        image: &Array<'a>,
        axes: &'a [Axis; 3],
        spatial: usize,
        sample: usize,
        channel: usize,
    ) -> Result<Unfolded<'a>> {
        let offset = sample as isize * image.stride(0) + channel as isize * image.stride(1);
        let mut steps = [0; 3];
        for dim in 0..spatial {
            steps[3 - spatial + dim] = image.stride(2 + dim);
        }
        let mut taps = list::with_capacity(count_taps(axes))?;
        each_tap(axes, |tap| taps.push(tap));
        let at = Shared::new(image.start().wrapping_offset(offset * image.dtype().size() as isize));
        Ok(Unfolded { at, channel_step: image.stride(1), steps, axes, taps })
    }

    pub fn first(&self) -> *mut u8 {
        self.at.get()
    }

    /// Strides of rows and columns, if each position meets one element at even steps: kernels of a single element.
    pub fn as_matrix(&self) -> Option<[i64; 2]> {
        let inside = |axis: &Axis| axis.taps[0].1 == 0 && axis.inside(0) == (0, axis.length);
        let single = self.taps.len() == 1 && self.axes.iter().all(inside);
        let dims = [0, 1, 2].map(|dim| (self.axes[dim].length, self.steps[dim] * self.axes[dim].step));
        let column = even_step(dims).filter(|_| single)?;
        Some([self.channel_step as i64, column as i64])
    }
}

/// Positions of one row of the output that are adjacent in a panel.
struct Piece {
    lane: usize,
    depth: usize,
    height: usize,
    width: Range<usize>,
}

impl<T: Copy> Panels<T> for Unfolded<'_> {
    fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: &mut [T], width: usize) {
        let [_, rows, row] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let mut pieces = Vec::new();
        let mut lane = lanes.start;
        while lane < lanes.end {
            let from = lane % row;
            let to = row.min(from + lanes.end - lane);
            let line = lane / row;
            pieces.push(Piece { lane: lane - lanes.start, depth: line / rows, height: line % rows, width: from..to });
            lane += to - from;
        }
        for (to, p) in panel.chunks_exact_mut(width).zip(depth) {
            let (channel, tap) = (p / self.taps.len(), self.taps[p % self.taps.len()]);
            let [across, down, along] = [0, 1, 2].map(|dim| (&self.axes[dim], tap[dim].1));
            let (start, end) = along.0.inside(along.1);
            let plane = channel as isize * self.channel_step;
            for piece in &pieces {
                let d = piece.depth as isize * across.0.step + across.1;
                let h = piece.height as isize * down.0.step + down.1;
                let inside = (0..across.0.source as isize).contains(&d) && (0..down.0.source as isize).contains(&h);
                let (first, last) = (start.max(piece.width.start), end.min(piece.width.end));
                if !inside || first >= last {
                    continue;
                }
                let step = along.0.step * self.steps[2];
                let w = first as isize * along.0.step + along.1;
                let at = plane + d * self.steps[0] + h * self.steps[1] + w * self.steps[2];
                let to = &mut to[piece.lane + first - piece.width.start..][..last - first];
                // SAFETY: the checks above keep the position inside the image, which is only read.
                unsafe {
                    let from = self.at.get().cast::<T>().offset(at).cast_const();
                    if step == 1 {
                        to.copy_from_slice(std::slice::from_raw_parts(from, to.len()));
                    } else {
                        for (i, to) in to.iter_mut().enumerate() {
                            *to = from.offset(i as isize * step).read();
                        }
                    }
                }
            }
        }
    }
}

/// The weights of a correlation: a row for each channel of the output, a column for each channel of the source and tap.
pub(super) struct Kernels {
    at: Shared<u8>,
    row_step: isize,
    channel_step: isize,
    /// Offsets of the elements that the taps meet.
    taps: Vec<isize>,
}

impl Kernels {
    /// The weights of a group, which begin at `first` of the weight's first dimension. `transposed`: that is the source's.
    pub fn new(weight: &Array, axes: &[Axis; 3], spatial: usize, first: usize, transposed: bool) -> Result<Kernels> {
        let at = weight.start().wrapping_offset(first as isize * weight.stride(0) * weight.dtype().size() as isize);
        let (mut row_step, mut channel_step) = (weight.stride(0), weight.stride(1));
        if transposed {
            (row_step, channel_step) = (channel_step, row_step);
        }
        let mut taps = list::with_capacity(count_taps(axes))?;
        each_tap(axes, |tap| {
            let own = |dim: usize| tap[3 - spatial + dim].0 as isize * weight.stride(2 + dim);
            taps.push((0..spatial).map(own).sum());
        });
        Ok(Kernels { at: Shared::new(at), row_step, channel_step, taps })
    }

    pub fn first(&self) -> *mut u8 {
        self.at.get()
    }

    /// Strides of rows and columns, if one step leads through taps and channels.
    pub fn as_matrix(&self, channels: usize) -> Option<[i64; 2]> {
        let step = match self.taps[..] {
            [] => 1,
            [_] => self.channel_step,
            [first, second, ..] => second - first,
        };
        let even = self.taps.first().is_none_or(|&first| first == 0)
            && self.taps.windows(2).all(|pair| pair[1] - pair[0] == step)
            && (channels == 1 || self.channel_step == step * self.taps.len() as isize);
        even.then_some([self.row_step as i64, step as i64])
    }
}

impl<T: Copy> Panels<T> for Kernels {
    fn fill(&self, lanes: Range<usize>, depth: Range<usize>, panel: &mut [T], width: usize) {
        let at = self.at.get().cast::<T>();
        for (to, p) in panel.chunks_exact_mut(width).zip(depth) {
            let column = (p / self.taps.len()) as isize * self.channel_step + self.taps[p % self.taps.len()];
            for (to, lane) in to.iter_mut().zip(lanes.clone()) {
                // SAFETY: channels and taps are below the sizes of the weight array.
                *to = unsafe { at.offset(lane as isize * self.row_step + column).read() };
            }
        }
    }
}
