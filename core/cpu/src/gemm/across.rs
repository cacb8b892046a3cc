//! Matrices copied transposed: squares are transposed in registers.

use super::pack::{BLOCK, turn32, turn64};
use crate::simd::{Kernel, Level, Simd, run};

/// Writes element `p` of lane `l`, at `from + l * lane_step + p`, to `to + p * pitch + l`, for each of `lanes` and
/// `depth`. Steps are in elements.
///
/// # Safety
/// The elements can be read and written.
pub(crate) unsafe fn across<T: Copy>(
    from: *const T,
    lane_step: isize,
    lanes: usize,
    depth: usize,
    to: *mut T,
    pitch: usize,
) {
    run(Across { from, lane_step, lanes, depth, to, pitch });
}

struct Across<T> {
    from: *const T,
    lane_step: isize,
    lanes: usize,
    depth: usize,
    to: *mut T,
    pitch: usize,
}

impl<T: Copy> Kernel for Across<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        // SAFETY: `across` requires that the elements of both matrices can be accessed, and the token proves that the
        // processor has the level's instructions.
        unsafe {
            match S::LEVEL {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => self.squares::<{ Level::Avx512 as u8 }>(),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => self.squares::<{ Level::Avx2 as u8 }>(),
                _ => self.squares::<{ Level::Portable as u8 }>(),
            }
        }
    }
}

impl<T: Copy> Across<T> {
    /// # Safety
    /// The elements of both matrices can be accessed, and the processor has the level's instructions.
    #[inline(always)]
    unsafe fn squares<const LEVEL: u8>(&self) {
        let full = if matches!(size_of::<T>(), 4 | 8) { self.depth / BLOCK * BLOCK } else { 0 };
        // SAFETY: every access has lane < lanes and p < depth, which the caller guarantees; missing lanes of a square
        // read those of its first one, and are not written.
        unsafe {
            for first in (0..self.lanes).step_by(BLOCK) {
                let height = BLOCK.min(self.lanes - first);
                let from = self.from.offset(first as isize * self.lane_step);
                let to = self.to.add(first);
                let mut rows = [from.cast::<u8>(); BLOCK];
                for p in (0..full).step_by(BLOCK) {
                    for (lane, row) in rows.iter_mut().enumerate() {
                        let lane = if lane < height { lane } else { 0 };
                        *row = from.offset(lane as isize * self.lane_step).add(p).cast();
                    }
                    let to = to.add(p * self.pitch);
                    if size_of::<T>() == 4 {
                        turn32::<LEVEL>(&rows, height, to.cast(), self.pitch);
                    } else {
                        turn64::<LEVEL>(&rows, height, to.cast(), self.pitch);
                    }
                }
                for p in full..self.depth {
                    for lane in 0..height {
                        to.add(p * self.pitch + lane).write(from.offset(lane as isize * self.lane_step).add(p).read());
                    }
                }
            }
        }
    }
}
