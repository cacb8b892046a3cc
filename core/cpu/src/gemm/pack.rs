//! Packing: an operand's rows or columns, from any strides and any stored dtype, side by side in panels of the elements
//! that tiles multiply.
//!
//! "Lanes" are the rows of a left operand or the columns of a right one. A panel holds, group of k after group of k,
//! the group of each of its lanes; missing lanes and the rest of the last group are zeros. Lanes that are adjacent in
//! memory are copied, lanes that run along k are transposed in registers, others are copied one by one.

use super::convert::Convert;
use crate::simd::{Level, prefetch};
use std::any::TypeId;

/// The location of the elements of some lanes. Steps are in elements.
#[derive(Clone, Copy)]
pub(super) struct Source {
    /// The first element.
    pub at: *const u8,
    /// Step to the next lane.
    pub lane: isize,
    /// Step along k.
    pub depth: isize,
}

impl Source {
    /// The address `elements` elements of `bytes` bytes on.
    pub fn offset(&self, elements: isize, bytes: usize) -> *const u8 {
        self.at.wrapping_offset(elements * bytes as isize)
    }
}

// SAFETY: the operand is only read, and outlives the product that packs it.
unsafe impl Send for Source {}
// SAFETY: the operand is only read, so threads may share the pointer.
unsafe impl Sync for Source {}

/// Packs `lanes` lanes of `depth` elements into panels of `width` lanes, which begin `step` bytes apart.
///
/// # Safety
/// The processor has the instructions of the function's level, the source is valid for the elements, and each panel has
/// space for `depth`, rounded up to groups, times `width`.
pub(super) type PackFn = unsafe fn(source: &Source, lanes: usize, depth: usize, width: usize, to: *mut u8, step: usize);

/// Units along k that are transposed at once; a unit is a group of one lane.
pub(super) const BLOCK: usize = 16;
/// Number of rows by which memory is prefetched ahead of the copied row.
const AHEAD: isize = 8;

/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn pack<T: Convert<I>, I: Copy + Default + 'static, const G: usize, const LEVEL: u8>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut u8,
    step: usize,
) {
    if source.lane == 1 && G == 1 {
        // SAFETY: the caller guarantees `lanes` x `depth` elements of the source and panels for them at `to`, as `copy`
        // requires.
        return unsafe { copy::<T, I>(source, lanes, depth, width, to, step) };
    }
    for panel in 0..lanes.div_ceil(width) {
        let first = panel * width;
        let from = Source { at: source.offset(first as isize * source.lane, size_of::<T>()), ..*source };
        // SAFETY: the caller guarantees `lanes` x `depth` elements of the source and panels for them at `to`; `first`
        // is below `lanes`.
        unsafe {
            pack_one::<T, I, G, LEVEL>(&from, width.min(lanes - first), depth, width, to.add(panel * step).cast())
        };
    }
}

/// One panel.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn pack_one<T: Convert<I>, I: Copy + Default + 'static, const G: usize, const LEVEL: u8>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut I,
) {
    // SAFETY: the caller guarantees `lanes` x `depth` elements of the source and a panel of `width` lanes at `to`.
    unsafe {
        if source.lane == 1 {
            interleave::<T, I, G>(source, lanes, depth, width, to);
        } else if source.depth == 1 && matches!(size_of::<I>() * G, 4 | 8) {
            transpose::<T, I, G, LEVEL>(source, lanes, depth, width, to);
        } else if source.depth == 1 && G >= 32 {
            runs::<T, I, G>(source, lanes, depth, width, to);
        } else {
            gather::<T, I, G>(source, lanes, 0, depth, width, to);
        }
    }
}

/// Lanes that run along k, in groups as long as a cache line: copied run by run.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn runs<T: Convert<I>, I: Copy + Default + 'static, const G: usize>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut I,
) {
    // SAFETY: every access has lane < lanes and p < depth; the caller guarantees these elements and a panel of this
    // size.
    unsafe {
        for group in 0..depth / G {
            for lane in 0..width {
                let to = to.add((group * width + lane) * G);
                if lane < lanes {
                    let from = source.at.cast::<T>().offset(lane as isize * source.lane).add(group * G);
                    convert::<T, I, G>(from, to);
                } else {
                    to.cast::<[I; G]>().write_unaligned([I::default(); G]);
                }
            }
        }
        gather::<T, I, G>(source, lanes, depth / G * G, depth, width, to);
    }
}

/// `N` neighbours, converted.
///
/// # Safety
/// `from` and `to` are good for `N` elements.
#[inline(always)]
unsafe fn convert<T: Convert<I>, I: Copy + Default + 'static, const N: usize>(from: *const T, to: *mut I) {
    // SAFETY: the caller guarantees `N` readable elements at `from` and space for as many at the target.
    unsafe {
        let values = from.cast::<[T; N]>().read_unaligned();
        let mut converted = [I::default(); N];
        for (to, value) in converted.iter_mut().zip(values) {
            *to = value.convert();
        }
        to.cast::<[I; N]>().write_unaligned(converted);
    }
}

/// Lanes that are adjacent in memory, one element along k in a group: copied row by row through all panels, in memory
/// order.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn copy<T: Convert<I>, I: Copy + Default + 'static>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut u8,
    step: usize,
) {
    // SAFETY: every access has lane < lanes and p < depth; the caller guarantees these elements and panels of this
    // size.
    unsafe {
        for p in 0..depth {
            let row = source.at.cast::<T>().offset(p as isize * source.depth);
            for panel in 0..lanes.div_ceil(width) {
                let from = row.add(panel * width);
                let to = to.add(panel * step).cast::<I>().add(p * width);
                // The parts of a wide matrix's rows are far apart: hardware does not prefetch the next one.
                let ahead = from.wrapping_offset(AHEAD * source.depth).cast::<u8>();
                prefetch(ahead);
                prefetch(ahead.wrapping_add(64));
                let lanes = width.min(lanes - panel * width);
                let mut lane = 0;
                while lane + 16 <= lanes {
                    convert::<T, I, 16>(from.add(lane), to.add(lane));
                    lane += 16;
                }
                while lane + 4 <= lanes {
                    convert::<T, I, 4>(from.add(lane), to.add(lane));
                    lane += 4;
                }
                while lane < lanes {
                    convert::<T, I, 1>(from.add(lane), to.add(lane));
                    lane += 1;
                }
                while lane < width {
                    to.add(lane).write(I::default());
                    lane += 1;
                }
            }
        }
    }
}

/// Lanes that are adjacent in memory, several elements along k in a group.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn interleave<T: Convert<I>, I: Copy + Default + 'static, const G: usize>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut I,
) {
    let (full, full_lanes) = (depth / G, lanes - lanes % 16);
    // SAFETY: every access has lane < lanes and p < depth; the caller guarantees these elements and a panel of this
    // size.
    unsafe {
        for group in 0..full {
            let from = source.at.cast::<T>().offset((group * G) as isize * source.depth);
            let to = to.add(group * width * G);
            for lane in (0..full_lanes).step_by(16) {
                let mut block = [[I::default(); G]; 16];
                for g in 0..G {
                    let row = from.offset(g as isize * source.depth).add(lane).cast::<[T; 16]>().read_unaligned();
                    for (group, value) in block.iter_mut().zip(row) {
                        group[g] = value.convert();
                    }
                }
                to.add(lane * G).cast::<[[I; G]; 16]>().write_unaligned(block);
            }
        }
        if full_lanes < width {
            let rest = Source { at: source.at.cast::<T>().add(full_lanes).cast(), ..*source };
            gather_lanes::<T, I, G>(
                &rest,
                lanes - full_lanes,
                0..full * G,
                width - full_lanes,
                width,
                to.add(full_lanes * G),
            );
        }
        gather::<T, I, G>(source, lanes, full * G, depth, width, to);
    }
}

/// Any lanes, from `first` (a multiple of `G`) along k.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn gather<T: Convert<I>, I: Copy + Default + 'static, const G: usize>(
    source: &Source,
    lanes: usize,
    first: usize,
    depth: usize,
    width: usize,
    to: *mut I,
) {
    // SAFETY: the caller guarantees the elements from `first` to `depth` and a panel of `width` lanes.
    unsafe { gather_lanes::<T, I, G>(source, lanes, first..depth, width, width, to) }
}

/// Any lanes, into the first `filled` lanes of a panel, one by one. Words may be less aligned than they are alone: a
/// complex number is packed as one.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn gather_lanes<T: Convert<I>, I: Copy + Default + 'static, const G: usize>(
    source: &Source,
    lanes: usize,
    depth: std::ops::Range<usize>,
    filled: usize,
    width: usize,
    to: *mut I,
) {
    // SAFETY: every access has lane < lanes and p < depth; the caller guarantees these elements and a panel of this
    // size.
    unsafe {
        for p in depth.start..depth.end.next_multiple_of(G) {
            let from = source.at.cast::<T>().offset(p as isize * source.depth);
            let to = to.add((p / G) * width * G + p % G);
            for lane in 0..filled {
                let inside = p < depth.end && lane < lanes;
                let value = if inside {
                    from.offset(lane as isize * source.lane).read_unaligned().convert()
                } else {
                    I::default()
                };
                to.add(lane * G).write(value);
            }
        }
    }
}

/// Lanes that run along k: squares of units are read along k and written across.
///
/// # Safety
/// The contract of [`PackFn`].
#[inline(always)]
unsafe fn transpose<T: Convert<I>, I: Copy + Default + 'static, const G: usize, const LEVEL: u8>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut I,
) {
    let full = depth / (BLOCK * G) * (BLOCK * G);
    let as_stored = TypeId::of::<T>() == TypeId::of::<I>();
    // SAFETY: every access has lane < lanes and p < depth; the caller guarantees these elements and a panel of this
    // size.
    unsafe {
        for first in (0..width).step_by(BLOCK) {
            let filled = BLOCK.min(width - first);
            let from = source.at.cast::<T>().offset(first as isize * source.lane);
            let height = lanes.saturating_sub(first).min(BLOCK);
            let mut block = [[[I::default(); G]; BLOCK]; BLOCK];
            let mut rows: [*const u8; BLOCK] = std::array::from_fn(|lane| (&raw const block[lane]).cast());
            for p in (0..full).step_by(BLOCK * G) {
                for lane in 0..height {
                    let units = from.offset(lane as isize * source.lane).add(p);
                    // More concurrent streams than hardware prefetches.
                    prefetch(units.wrapping_add(4 * BLOCK * G).cast());
                    if as_stored {
                        rows[lane] = units.cast();
                        continue;
                    }
                    let values = units.cast::<[[T; G]; BLOCK]>().read_unaligned();
                    for (unit, values) in block[lane].iter_mut().zip(values) {
                        for (to, value) in unit.iter_mut().zip(values) {
                            *to = value.convert();
                        }
                    }
                }
                let to = to.add((p / G * width + first) * G);
                if size_of::<I>() * G == 4 {
                    turn32::<LEVEL>(&rows, filled, to.cast(), width);
                } else {
                    turn64::<LEVEL>(&rows, filled, to.cast(), width);
                }
            }
        }
        gather::<T, I, G>(source, lanes, full, depth, width, to);
    }
}

/// Writes a square of units of 32 bits transposed: `lanes` units in each of [`BLOCK`] rows, `width` apart.
///
/// # Safety
/// Each of `rows` has a whole row of units, the target rows have space for them, and the processor has the level's
/// instructions.
#[inline(always)]
pub(super) unsafe fn turn32<const LEVEL: u8>(rows: &[*const u8; BLOCK], lanes: usize, to: *mut u32, width: usize) {
    // SAFETY: the caller guarantees a square of `BLOCK` x `BLOCK` elements at both addresses and the instruction set.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if LEVEL == Level::Avx512 as u8 {
            return super::turn::square32_avx512(rows, lanes, to, width);
        }
        #[cfg(target_arch = "x86_64")]
        if LEVEL == Level::Avx2 as u8 {
            return super::turn::square32_avx2(rows, lanes, to, width);
        }
        turn(rows, lanes, to, width);
    }
}

/// Like [`turn32`], for units of 64 bits.
///
/// # Safety
/// The contract of [`turn32`].
#[inline(always)]
pub(super) unsafe fn turn64<const LEVEL: u8>(rows: &[*const u8; BLOCK], lanes: usize, to: *mut u64, width: usize) {
    // SAFETY: the caller guarantees a square of `BLOCK` x `BLOCK` elements at both addresses and the instruction set.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if LEVEL == Level::Avx512 as u8 {
            return super::turn::square64_avx512(rows, lanes, to, width);
        }
        turn(rows, lanes, to, width);
    }
}

/// # Safety
/// The contract of [`turn32`].
#[inline(always)]
unsafe fn turn<U: Copy>(rows: &[*const u8; BLOCK], lanes: usize, to: *mut U, width: usize) {
    // SAFETY: the caller guarantees a square of `BLOCK` x `BLOCK` elements at both addresses.
    unsafe {
        for p in 0..BLOCK {
            for (lane, row) in rows.iter().enumerate().take(lanes) {
                to.add(p * width + lane).write(row.cast::<U>().add(p).read_unaligned());
            }
        }
    }
}

/// Packs the right operand of int8 products: the left bytes are offset by 128 to be unsigned, so each column starts
/// from -128 times the sum of its bytes, which precedes its elements.
///
/// # Safety
/// The contract of [`PackFn`]; the panel has space for `width` more sums.
#[inline(always)]
unsafe fn pack_raised<const LEVEL: u8>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut u8,
    step: usize,
) {
    // SAFETY: the caller guarantees source and panels as `pack` requires; the sums are aligned, as panels begin at
    // multiples of 64 bytes.
    unsafe {
        pack::<i8, i8, 4, LEVEL>(source, lanes, depth, width, to.add(4 * width), step);
        for panel in 0..lanes.div_ceil(width) {
            let sums = to.add(panel * step).cast::<i32>();
            let elements = to.add(panel * step + 4 * width);
            for lane in 0..width {
                sums.add(lane).write(0);
            }
            for group in 0..depth.div_ceil(4) {
                let group = elements.add(group * width * 4).cast::<[i8; 4]>();
                for lane in 0..width {
                    let bytes = group.add(lane).read();
                    let sum: i32 = bytes.iter().map(|&byte| i32::from(byte)).sum();
                    *sums.add(lane) -= 128 * sum;
                }
            }
        }
    }
}

/// Packs groups of `G`, and fills up with zeros to a multiple of `FULL` along k.
///
/// # Safety
/// The contract of [`PackFn`], with AVX-512; the panel has space for the padding.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
pub(super) unsafe fn padded<T: Convert<I>, I: Copy + Default + 'static, const G: usize, const FULL: usize>(
    source: &Source,
    lanes: usize,
    depth: usize,
    width: usize,
    to: *mut u8,
    step: usize,
) {
    let (done, all) = (depth.next_multiple_of(G) * width, depth.next_multiple_of(FULL) * width);
    // SAFETY: the caller guarantees source and panels as `pack` requires; the zeroed padding holds valid elements.
    unsafe {
        pack::<T, I, G, { Level::Avx512 as u8 }>(source, lanes, depth, width, to, step);
        for panel in 0..lanes.div_ceil(width) {
            to.add(panel * step).cast::<I>().add(done).write_bytes(0, all - done);
        }
    }
}

macro_rules! compiled {
    ($(#[$meta:meta])* $name:ident, $raised:ident, $level:ident) => {
        /// # Safety
        /// The contract of [`PackFn`].
        $(#[$meta])*
        pub(super) unsafe fn $name<T: Convert<I>, I: Copy + Default + 'static, const G: usize>(
            source: &Source,
            lanes: usize,
            depth: usize,
            width: usize,
            to: *mut u8,
            step: usize,
        ) {
            // SAFETY: the caller guarantees source and panels as `pack` requires, and a processor with this level.
            unsafe { pack::<T, I, G, { Level::$level as u8 }>(source, lanes, depth, width, to, step) }
        }

        /// # Safety
        /// The contract of [`PackFn`].
        $(#[$meta])*
        pub(super) unsafe fn $raised(
            source: &Source,
            lanes: usize,
            depth: usize,
            width: usize,
            to: *mut u8,
            step: usize,
        ) {
            // SAFETY: the caller guarantees source and panels as `pack_raised` requires, and a processor with this
            // level.
            unsafe { pack_raised::<{ Level::$level as u8 }>(source, lanes, depth, width, to, step) }
        }
    };
}

compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
    avx512, raised_avx512, Avx512
}
compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    avx2, raised_avx2, Avx2
}
compiled!(portable, raised_portable, Portable);
