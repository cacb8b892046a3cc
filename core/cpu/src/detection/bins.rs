//! The bins of a box, the points where they are sampled, and the elements around a point. The kernels of devices include
//! this file (`core/cuda/kernels`).

use super::real::Real;

/// How boxes are sampled.
#[derive(Clone, Copy, Debug)]
pub struct Align {
    /// The name of the operator, for messages.
    pub operator: &'static str,
    /// Elements of the image for each unit of the boxes.
    pub scale: f64,
    /// Bins of a box: height and width.
    pub bins: [usize; 2],
    /// Samples of a bin along each dimension; if not positive, as many as the bin has elements.
    pub sampling: i64,
    /// Whether coordinates refer to the centres of elements, so that half an element is subtracted.
    pub aligned: bool,
    /// Whether a box has at least one element along each dimension.
    pub at_least_one: bool,
    /// Whether each bin reads its own channel (position-sensitive).
    pub by_position: bool,
}

/// The bins of a box in an image, along height and width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bins<T> {
    /// Where the first bin begins.
    start: [T; 2],
    /// Elements of a bin.
    pub(crate) size: [T; 2],
    /// Samples of a bin.
    pub(crate) grid: [f64; 2],
}

impl Align {
    /// The bins of a box with the corners x1, y1, x2, y2.
    #[inline(always)]
    pub(crate) fn bins_of<T: Real>(&self, corners: [T; 4]) -> Bins<T> {
        let scale = T::of(self.scale);
        let offset = T::of(if self.aligned { 0.5 } else { 0.0 });
        let [x1, y1, x2, y2] = corners.map(|corner| corner * scale - offset);
        let start = [y1, x1];
        let mut size = [y2 - y1, x2 - x1];
        if self.at_least_one {
            size = size.map(|size| if size < T::of(1.0) { T::of(1.0) } else { size });
        }
        let size = [size[0] / T::of(self.bins[0] as f64), size[1] / T::of(self.bins[1] as f64)];
        let samples =
            |size: T| if self.sampling > 0 { self.sampling as f64 } else { standard!(f64::ceil(size.to_f64())) };
        Bins { start, size, grid: [samples(size[0]), samples(size[1])] }
    }

    /// The channel of the image from which a bin of a channel of the output is computed.
    #[inline(always)]
    pub(crate) fn channel(&self, channel: usize, bin: usize) -> usize {
        if self.by_position { channel * self.bins[0] * self.bins[1] + bin } else { channel }
    }
}

impl<T: Real> Bins<T> {
    /// Samples of a bin along dimension `d`; none if it is negative.
    #[inline(always)]
    pub(crate) fn steps(&self, d: usize) -> usize {
        self.grid[d].max(0.0) as usize
    }

    /// What the sum of a bin is divided by, at least `least`.
    #[inline(always)]
    pub(crate) fn count(&self, least: f64) -> T {
        T::of((self.grid[0] * self.grid[1]).max(least))
    }

    /// The place of a sample of a bin along dimension `d`.
    #[inline(always)]
    pub(crate) fn point(&self, d: usize, bin: usize, step: usize) -> T {
        let within = T::of(step as f64 + 0.5) * self.size[d] / T::of(self.grid[d]);
        self.start[d] + T::of(bin as f64) * self.size[d] + within
    }
}

/// The two elements around a place along a dimension, with their weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<T> {
    pub(crate) at: [usize; 2],
    pub(crate) weights: [T; 2],
}

/// Whether a place is so far outside that it has no elements.
#[inline(always)]
pub(crate) fn is_outside<T: Real>(at: T, size: usize) -> bool {
    at.to_f64() < -1.0 || at.to_f64() > size as f64
}

/// The elements around a place that is not outside.
#[inline(always)]
pub(crate) fn pair<T: Real>(at: T, size: usize) -> Pair<T> {
    let at = if at.to_f64() <= 0.0 { T::default() } else { at };
    let low = at.to_f64() as usize;
    let (at, low, high) = if low + 1 >= size {
        let last = size.saturating_sub(1);
        (T::of(last as f64), last, last)
    } else {
        (at, low, low + 1)
    };
    let rest = at - T::of(low as f64);
    Pair { at: [low, high], weights: [T::of(1.0) - rest, rest] }
}

/// The four elements around a point, with their weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample<T> {
    pub(crate) at: [usize; 4],
    pub(crate) weights: [T; 4],
}

/// The elements of a row-major plane around a point.
#[inline(always)]
pub(crate) fn sample<T: Real>(width: usize, y: Pair<T>, x: Pair<T>) -> Sample<T> {
    let ([top, bottom], [left, right]) = (y.at, x.at);
    let ([up, down], [back, across]) = (y.weights, x.weights);
    Sample {
        at: [top * width + left, top * width + right, bottom * width + left, bottom * width + right],
        weights: [up * back, up * across, down * back, down * across],
    }
}

/// The elements around a point, or `None` beyond the image.
#[inline(always)]
pub(crate) fn between<T: Real>(height: usize, width: usize, y: T, x: T) -> Option<Sample<T>> {
    if is_outside(y, height) || is_outside(x, width) {
        return None;
    }
    Some(sample(width, pair(y, height), pair(x, width)))
}
