//! The epilogue: out = alpha * sum + beta * c.
//!
//! Tiles whose result needs no more than an addition store it themselves; the others leave their sums in a small
//! buffer, and the functions here finish it, row by row, while it is in the cache.

use super::convert::Stored;
use crate::number::Wide;
use rushlight_base::Scalar;

/// A scalar in the type of the sums.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct Factor([u8; 16]);

impl Factor {
    pub fn new<S: Wide>(value: Scalar) -> Factor {
        let mut bytes = [0u8; 16];
        assert!(size_of::<S>() <= 16);
        // SAFETY: 16 aligned bytes hold any sum.
        unsafe { bytes.as_mut_ptr().cast::<S>().write_unaligned(S::from_scalar(value)) };
        Factor(bytes)
    }

    fn get<S: Wide>(&self) -> S {
        // SAFETY: `new` wrote an `S`, as the functions of one dtype go together.
        unsafe { self.0.as_ptr().cast::<S>().read_unaligned() }
    }
}

/// Sums to finish. Steps are in elements.
pub(super) struct Finish {
    pub sums: *const u8,
    pub sums_row: usize,
    pub out: *mut u8,
    pub out_row: isize,
    pub out_column: isize,
    /// Null where nothing is added.
    pub add: *const u8,
    pub add_row: isize,
    pub add_column: isize,
    pub rows: usize,
    pub columns: usize,
    pub alpha: Factor,
    pub beta: Factor,
}

/// Finishes sums.
///
/// # Safety
/// The processor has the instructions of the function's level, and the pointers are good for the size.
pub(super) type FinishFn = unsafe fn(&Finish);

/// Columns that are finished at once.
const BLOCK: usize = 16;

/// # Safety
/// The contract of [`FinishFn`].
#[inline(always)]
unsafe fn finish<S: Wide + Default, T: Stored<S> + Default>(f: &Finish) {
    let (alpha, beta) = (f.alpha.get::<S>(), f.beta.get::<S>());
    let (alone, plain, adds) = (alpha == S::ONE, beta == S::ONE, !f.add.is_null());
    // SAFETY: row < rows and column < columns.
    unsafe {
        for row in 0..f.rows {
            let sums = f.sums.cast::<S>().add(row * f.sums_row);
            let out = f.out.cast::<T>().offset(row as isize * f.out_row);
            let add = f.add.cast::<T>().wrapping_offset(row as isize * f.add_row);
            let mut column = 0;
            if f.out_column == 1 && (!adds || f.add_column == 1 || f.add_column == 0) {
                while column + BLOCK <= f.columns {
                    // A loop for each step, none with a branch inside, so that they are vectorized for every dtype.
                    let mut values = sums.add(column).cast::<[S; BLOCK]>().read_unaligned();
                    if !alone {
                        values.iter_mut().for_each(|value| *value = alpha.mul(*value));
                    }
                    if adds {
                        let stored = match f.add_column {
                            1 => add.add(column).cast::<[T; BLOCK]>().read_unaligned(),
                            _ => [add.read(); BLOCK],
                        };
                        let mut adds = [S::ZERO; BLOCK];
                        adds.iter_mut().zip(stored).for_each(|(add, stored)| *add = stored.wide());
                        if !plain {
                            adds.iter_mut().for_each(|add| *add = beta.mul(*add));
                        }
                        values.iter_mut().zip(adds).for_each(|(value, add)| *value = add.add(*value));
                    }
                    let mut results = [T::default(); BLOCK];
                    for (result, value) in results.iter_mut().zip(values) {
                        *result = T::narrow(value);
                    }
                    out.add(column).cast::<[T; BLOCK]>().write_unaligned(results);
                    column += BLOCK;
                }
            }
            while column < f.columns {
                let mut value = sums.add(column).read();
                if !alone {
                    value = alpha.mul(value);
                }
                if adds {
                    let add = add.offset(column as isize * f.add_column).read().wide();
                    value = if plain { add } else { beta.mul(add) }.add(value);
                }
                out.offset(column as isize * f.out_column).write(T::narrow(value));
                column += 1;
            }
        }
    }
}

macro_rules! compiled {
    ($(#[$meta:meta])* $name:ident) => {
        /// # Safety
        /// The contract of [`FinishFn`].
        $(#[$meta])*
        pub(super) unsafe fn $name<S: Wide + Default, T: Stored<S> + Default>(f: &Finish) {
            // SAFETY: the caller guarantees the pointers and sizes in `f`; both functions have the same contract.
            unsafe { finish::<S, T>(f) }
        }
    };
}

compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
    avx512
}
compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    avx2
}
compiled!(portable);
