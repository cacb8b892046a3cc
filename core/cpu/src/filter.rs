//! Recursive filters of sampled signals (infinite impulse response).

use crate::array::Array;
use crate::shared::Shared;
use rushlight_base::runtime::parallel_for;
use rushlight_base::{Element, Result};
use std::ops::{Add, Div, Mul, Sub};

/// `a[0] y[n] = b[0] x[n] + ... + b[k] x[n - k] - a[1] y[n - 1] - ... - a[k] y[n - k]` for each row of (batch, channel, time),
/// with the coefficients of its channel, of shape (channel, k + 1).
pub fn recursive(out: &Array, x: &Array, a: &Array, b: &Array) -> Result<()> {
    dispatch!(x.dtype(), "lfilter", float, T => rows::<T>(out, x, a, b))
}

/// The numbers that filters are computed in.
trait Real: Element + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {}

impl Real for f32 {}
impl Real for f64 {}

fn rows<T: Real>(out: &Array, x: &Array, a: &Array, b: &Array) -> Result<()> {
    let (channels, len, order) = (x.size(1), x.size(2), a.size(1));
    let arrays = [out, x, a, b];
    let starts = arrays.map(|array| Shared::new(array.as_ptr::<T>()));
    let strides = [out, x].map(|array| [array.stride(0), array.stride(1)]);
    let rows = [a, b].map(|array| array.stride(0));
    let last = [out.stride(2), x.stride(2), a.stride(1), b.stride(1)];
    parallel_for(x.size(0) * channels, &|row| {
        let (sample, channel) = ((row / channels) as isize, (row % channels) as isize);
        let signal = |at: usize| sample * strides[at][0] + channel * strides[at][1];
        let [y, x, a, b] = starts.map(Shared::get);
        // SAFETY: sample and channel are below the sizes of both signals, and channel below those of the coefficients, which
        // the rule has checked; no other share writes this row of the output, whose elements are as many as `len` states.
        unsafe {
            let (y, x) = (y.offset(signal(0)), x.offset(signal(1)));
            let (a, b) = (a.offset(channel * rows[0]), b.offset(channel * rows[1]));
            Row { y, x, a, b, steps: last }.filter(len, order);
        }
    })
}

/// A row of the output and of the input, with their coefficients, and the steps from element to element.
struct Row<T> {
    y: *mut T,
    x: *const T,
    a: *const T,
    b: *const T,
    steps: [isize; 4],
}

impl<T: Real> Row<T> {
    /// Filters `len` elements with `order` coefficients each. The sums start at the oldest element.
    ///
    /// # Safety
    /// The elements must be readable, and those of `y` writable by this thread alone.
    unsafe fn filter(&self, len: usize, order: usize) {
        let [y, x, a, b] = self.steps;
        // SAFETY: `n`, `n - k` and `k` are below the numbers of elements that the caller vouches for.
        unsafe {
            let scale = self.a.read();
            for n in 0..len {
                let mut sum = T::default();
                for k in (0..order.min(n + 1)).rev() {
                    sum = sum + self.b.offset(k as isize * b).read() * self.x.offset((n - k) as isize * x).read();
                }
                sum = sum / scale;
                for k in (1..order.min(n + 1)).rev() {
                    let weight = self.a.offset(k as isize * a).read() / scale;
                    sum = sum - weight * self.y.offset((n - k) as isize * y).read();
                }
                self.y.offset(n as isize * y).write(sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn rows_are_filtered_with_the_coefficients_of_their_channel() {
        let x = [1.0f32, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        // y[n] = x[n] + y[n - 1] / 2, and 2 y[n] = x[n] + x[n - 1].
        let (a, b) = ([1.0f32, -0.5, 2.0, 0.0], [1.0f32, 0.0, 1.0, 1.0]);
        let mut y = [9.0f32; 8];
        // SAFETY: each array holds the eight elements of a signal.
        let [signal, filtered] = [x.as_ptr().cast_mut(), y.as_mut_ptr()]
            .map(|at| unsafe { Array::new(at.cast(), DType::F32, &[1, 2, 4], &[8, 4, 1]) });
        // SAFETY: each array holds the four coefficients.
        let [a, b] =
            [&a, &b].map(|at| unsafe { Array::new(at.as_ptr().cast_mut().cast(), DType::F32, &[2, 2], &[2, 1]) });
        recursive(&filtered, &signal, &a, &b).unwrap();
        assert_eq!(y, [1.0, 0.5, 0.25, 0.125, 0.5, 1.0, 1.0, 1.0]);
    }
}
