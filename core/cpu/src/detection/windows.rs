//! The windows of a box. The kernels of devices include this file (`core/cuda/kernels`).

use super::real::Real;
use std::ops::Range;

/// How boxes are split into windows.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// The name of the operator, for messages.
    pub operator: &'static str,
    /// Elements of the image for each unit of the boxes.
    pub scale: f64,
    /// Windows of a box: height and width.
    pub bins: [usize; 2],
    /// Whether the last element belongs to the box.
    pub inclusive: bool,
    /// Whether windows may reach the last element of the image.
    pub whole: bool,
}

/// The windows of a box in an image, along height and width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split<T> {
    /// Where the first window begins.
    start: [i32; 2],
    /// Elements of a window.
    size: [T; 2],
    /// Windows end at this element of the image at the latest.
    last: [i64; 2],
}

impl Windows {
    /// The windows of a box with the corners x1, y1, x2, y2, in an image of height and width.
    #[inline(always)]
    pub(crate) fn split<T: Real>(&self, corners: [T; 4], image: [usize; 2]) -> Split<T> {
        let scale = T::of(self.scale);
        let [x1, y1, x2, y2] = corners.map(|corner| standard!(f64::round((corner * scale).to_f64())) as i32);
        let inclusive = i32::from(self.inclusive);
        let size = |start: i32, end: i32, bins: usize| {
            let size = end.wrapping_sub(start).wrapping_add(inclusive).max(1);
            T::of(f64::from(size)) / T::of(bins as f64)
        };
        Split {
            start: [y1, x1],
            size: [size(y1, y2, self.bins[0]), size(x1, x2, self.bins[1])],
            last: image.map(|size| size as i64 - i64::from(!self.whole)),
        }
    }
}

impl<T: Real> Split<T> {
    /// The elements of a window along dimension `d`.
    #[inline(always)]
    pub(crate) fn range(&self, d: usize, place: usize) -> Range<usize> {
        let at = |place: usize| (T::of(place as f64) * self.size[d]).to_f64();
        let clip = |value: f64| (value as i64 + i64::from(self.start[d])).max(0).min(self.last[d]).max(0) as usize;
        clip(standard!(f64::floor(at(place))))..clip(standard!(f64::ceil(at(place + 1))))
    }
}
