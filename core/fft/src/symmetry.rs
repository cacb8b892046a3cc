//! The second half of a spectrum of real data, which is the conjugate of the first in reverse order.

use crate::number::Real;
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Complex, Result};
use rushlight_cpu::Array;
use std::ops::Range;

/// Elements that justify a second thread.
const GRAIN: usize = 1 << 15;

/// The address of the spectrum, for all threads.
struct Spectrum<T>(*mut Complex<T>);

// SAFETY: shares write different elements, and read elements that none writes.
unsafe impl<T> Sync for Spectrum<T> {}

impl<T> Spectrum<T> {
    fn at(&self, offset: isize) -> *mut Complex<T> {
        self.0.wrapping_offset(offset)
    }
}

/// Writes the elements from n / 2 + 1 on along `last`, for a transform along `last` and `others`.
pub fn complete<T: Real>(out: &Array, last: usize, others: &[usize]) -> Result<()> {
    let (size, step) = (out.sizes()[last], out.strides()[last] as isize);
    let half = size / 2 + 1;
    let spectrum = Spectrum(T::complex(out));
    let lines: usize =
        out.sizes().iter().enumerate().filter(|(at, _)| *at != last).map(|(_, &size)| size as usize).product();
    let geometry: [&[i64]; 2] = [out.sizes(), out.strides()];
    let share = |range: Range<usize>| {
        for index in range {
            let [to, from] = pair(&geometry, last, others, index);
            for k in half..size {
                // SAFETY: both are elements of the output: lines along `last` at indices below `size`. Elements from
                // `half` on are written, by the share of their line; those before are read, because size - k < half.
                unsafe {
                    let value = *spectrum.at(from + (size - k) as isize * step);
                    *spectrum.at(to + k as isize * step) = value.conj();
                }
            }
        }
    };
    let work = (size - half).max(1) as usize;
    parallel_chunks(lines, (GRAIN / work).max(1), &share)
}

/// Where line number `index` along `last` begins, and where the line of the negative frequencies does: at the indices
/// n - i (modulo n) of the other transformed dimensions.
fn pair(geometry: &[&[i64]; 2], last: usize, others: &[usize], index: usize) -> [isize; 2] {
    let (mut rest, mut starts) = (index as i64, [0; 2]);
    for dim in (0..geometry[0].len()).rev().filter(|&dim| dim != last) {
        let (size, stride) = (geometry[0][dim], geometry[1][dim]);
        let own = rest % size;
        rest /= size;
        let mirrored = if others.contains(&dim) { (size - own) % size } else { own };
        starts[0] += (own * stride) as isize;
        starts[1] += (mirrored * stride) as isize;
    }
    starts
}
