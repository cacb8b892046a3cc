//! The taps of deformable convolutions: where they read, and the elements around that point. The kernels of devices
//! include this file (`core/cuda/kernels`).

use super::real::Real;

/// How a kernel with offsets slides over an image: height and width.
#[derive(Clone, Copy, Debug)]
pub struct Deform {
    /// Elements of the kernel.
    pub kernel: [usize; 2],
    /// Steps of the kernel.
    pub stride: [usize; 2],
    /// Zeros around the image.
    pub padding: [usize; 2],
    /// Steps between the elements of the kernel.
    pub dilation: [usize; 2],
    /// Number of groups of channels that share their offsets.
    pub groups: usize,
    /// Positions of the kernel.
    pub positions: [usize; 2],
    /// Whether taps are multiplied by a mask.
    pub masked: bool,
}

/// The place along a dimension where a tap of a kernel at a position would read without an offset.
#[inline(always)]
pub(crate) fn unmoved<T: Real>([position, stride]: [usize; 2], [tap, dilation]: [usize; 2], padding: usize) -> T {
    T::of((position * stride + tap * dilation) as f64 - padding as f64)
}

/// The value between elements, 0 beyond the image. `at` returns an element, 0 outside of the image.
#[inline(always)]
pub(crate) fn between<T: Real>([height, width]: [usize; 2], y: T, x: T, at: impl Fn(i64, i64) -> T) -> T {
    let outside = |at: f64, size: usize| !(at > -1.0 && at < size as f64);
    if outside(y.to_f64(), height) || outside(x.to_f64(), width) {
        return T::default();
    }
    let (top, left) = (standard!(f64::floor(y.to_f64())), standard!(f64::floor(x.to_f64())));
    let (down, across) = (y - T::of(top), x - T::of(left));
    let (up, back) = (T::of(1.0) - down, T::of(1.0) - across);
    let (top, left) = (top as i64, left as i64);
    up * back * at(top, left)
        + up * across * at(top, left + 1)
        + down * back * at(top + 1, left)
        + down * across * at(top + 1, left + 1)
}

/// The derivative of the value between elements by y or x.
#[inline(always)]
pub(crate) fn slope<T: Real>(y: T, x: T, by_y: bool, at: impl Fn(i64, i64) -> T) -> T {
    let (top, left) = (standard!(f64::floor(y.to_f64())), standard!(f64::floor(x.to_f64())));
    let (down, across) = (y - T::of(top), x - T::of(left));
    let (top, left) = (top as i64, left as i64);
    // Saturated coordinates are outside of every image.
    let (bottom, right) = (top.saturating_add(1), left.saturating_add(1));
    let [a, b, c, d] = [at(top, left), at(top, right), at(bottom, left), at(bottom, right)];
    if by_y {
        across * (d - b) + (T::of(1.0) - across) * (c - a)
    } else {
        down * (d - c) + (T::of(1.0) - down) * (b - a)
    }
}

/// The weight of an element by its distance from a place; `None` if that is 1 or more.
#[inline(always)]
pub(crate) fn near<T: Real>(at: T, element: i64) -> Option<T> {
    let distance = at - T::of(element as f64);
    let distance = if distance < T::default() { T::default() - distance } else { distance };
    (distance < T::of(1.0)).then(|| T::of(1.0) - distance)
}

/// Calls `visit` with each element of the image around a point, in row-major order, and its weight.
#[inline(always)]
pub(crate) fn each_near<T: Real>([height, width]: [usize; 2], y: T, x: T, mut visit: impl FnMut([usize; 2], T)) {
    let first = |at: T| (at.to_f64() as i64).saturating_sub(1);
    let last = |at: T| (at.to_f64() as i64).saturating_add(1);
    for row in first(y)..=last(y) {
        let Some(down) = near(y, row).filter(|_| (0..height as i64).contains(&row)) else { continue };
        for column in first(x)..=last(x) {
            let Some(across) = near(x, column).filter(|_| (0..width as i64).contains(&column)) else { continue };
            visit([row as usize, column as usize], down * across);
        }
    }
}
