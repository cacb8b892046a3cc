//! Convolutions as products of matrices whose right operand is read from the image one element at a time: out = weight ×
//! patches, where a row of the patches is a channel and a tap, and a column is a place of the output.

use crate::gemm::{Factor, Source, Sum, each_sum, tile_of};
use crate::memory::{load, store};
use crate::parameters::{Convolution, gemm_tile};
use crate::simt::{block, block_y, block_z};
use crate::{Complex64, Complex128, bf16, f16};

/// An element in memory.
///
/// # Safety
/// The offset leads to an element that the host describes.
#[inline(always)]
unsafe fn element<T: Factor>(at: u64, offset: i64) -> T::Sum {
    // SAFETY: the caller guarantees the element.
    unsafe { load::<T, 1>(at.wrapping_add((offset * size_of::<T>() as i64) as u64), T::ALIGNMENT)[0].wide() }
}

/// The offset of a place in a tensor whose first two dimensions are at `outer` and `inner`.
#[inline(always)]
fn offset([of_outer, of_inner, of_z, of_y, of_x]: [i64; 5], outer: u32, inner: u32, [z, y, x]: [u32; 3]) -> i64 {
    i64::from(outer) * of_outer
        + i64::from(inner) * of_inner
        + i64::from(z) * of_z
        + i64::from(y) * of_y
        + i64::from(x) * of_x
}

/// Where a tap of the window at a place of the output lies in one dimension of the image.
#[inline(always)]
fn reached(p: &Convolution, dim: usize, place: u32, tap: u32) -> Option<u32> {
    let tap = tap * p.dilation[dim];
    if p.transposed == 0 {
        let at = (place * p.step[dim].size + tap).wrapping_sub(p.padding[dim]);
        return (at < p.image[dim]).then_some(at);
    }
    let ahead = (place + p.padding[dim]).wrapping_sub(tap);
    if ahead >= 1 << 31 {
        return None;
    }
    let (at, rest) = p.step[dim].divide(ahead);
    (rest == 0 && at < p.image[dim]).then_some(at)
}

/// The place in three dimensions.
#[inline(always)]
fn split(sizes: &[crate::parameters::Size; 3], index: u32) -> [u32; 3] {
    let (rest, x) = sizes[2].divide(index);
    let (z, y) = sizes[1].divide(rest);
    [z, y, x]
}

/// The offset in the image of a channel and a tap for the window at a place of the output; `None` in the padding.
#[inline(always)]
fn window(p: &Convolution, channel: u32, tap: u32, place: u32) -> Option<i64> {
    let (place, tap) = (split(&p.out, place), split(&p.taps, tap));
    let [z, y, x] = [reached(p, 0, place[0], tap[0])?, reached(p, 1, place[1], tap[1])?, reached(p, 2, place[2], tap[2])?];
    Some(offset(p.strides[1], 0, channel, [z, y, x]))
}

/// The weight of a group: a row is an output channel, a column an input channel and a tap.
#[derive(Clone, Copy)]
struct Weights<'a> {
    p: &'a Convolution,
    at: i64,
}

impl Source for Weights<'_> {
    #[inline(always)]
    fn read<T: Factor>(&self, row: u32, column: u32) -> T::Sum {
        let p = self.p;
        if row >= p.outputs {
            return T::Sum::ZERO;
        }
        let (channel, tap) = p.tap_count.divide(column);
        let offset = offset(p.strides[2], row, channel, split(&p.taps, tap));
        // SAFETY: the element is inside the weight: the caller's columns are below their number.
        unsafe { element::<T>(p.at[2], self.at + offset) }
    }

    #[inline(always)]
    fn rows_are_near(&self) -> bool {
        false
    }
}

/// The patches of a sample and a group: a row is a channel and a tap, a column a place of the output.
#[derive(Clone, Copy)]
struct Patches<'a> {
    p: &'a Convolution,
    at: i64,
}

impl Source for Patches<'_> {
    #[inline(always)]
    fn read<T: Factor>(&self, row: u32, column: u32) -> T::Sum {
        let p = self.p;
        if column >= p.places.size {
            return T::Sum::ZERO;
        }
        let (channel, tap) = p.tap_count.divide(row);
        match window(p, channel, tap, column) {
            // SAFETY: the element is inside the image: `window` has checked the place.
            Some(offset) => unsafe { element::<T>(p.at[1], self.at + offset) },
            None => T::Sum::ZERO,
        }
    }

    #[inline(always)]
    fn rows_are_near(&self) -> bool {
        false
    }
}

/// out = weight × patches + bias
#[inline(always)]
fn convolution<T: Factor, const PER: usize>(p: &Convolution) {
    let tile = gemm_tile(size_of::<T::Sum>() as u32);
    let across = p.places.size.div_ceil(tile);
    let start = (block() / across * tile, block() % across * tile);
    let (sample, group) = p.groups.divide(block_z() * 65535 + block_y());
    if sample >= p.batch {
        return;
    }
    let first = |operand: usize, channels: u32| offset(p.strides[operand], sample, group * channels, [0; 3]);
    let of_group = if p.transposed != 0 { p.strides[2][1] * i64::from(p.inputs) } else { p.strides[2][0] * i64::from(p.outputs) };
    let weights = Weights { p, at: i64::from(group) * of_group };
    let patches = Patches { p, at: first(1, p.inputs) };
    let sums = tile_of::<T, PER>(weights, patches, start, (0, p.inputs * p.tap_count.size));
    let out = first(0, p.outputs);
    each_sum::<_, PER>(sums, start, (p.outputs, p.places.size), |row, column, sum| {
        let at = out + offset(p.strides[0], 0, row, split(&p.out, column));
        // SAFETY: bias and output have an element for each channel of each group, and each place.
        unsafe {
            let bias = match p.at[3] {
                0 => T::Sum::ZERO,
                at => element::<T>(at, i64::from(group * p.outputs + row) * i64::from(p.bias_step)),
            };
            let place = p.at[0].wrapping_add((at * size_of::<T>() as i64) as u64);
            store(place, T::ALIGNMENT, [T::narrow(sum.add(bias))]);
        }
    });
}

/// The gradient of the output in a group: a row is a channel, a column a sample and a place.
#[derive(Clone, Copy)]
struct Gradients<'a> {
    p: &'a Convolution,
    at: i64,
}

impl Source for Gradients<'_> {
    #[inline(always)]
    fn read<T: Factor>(&self, row: u32, column: u32) -> T::Sum {
        let p = self.p;
        if row >= p.outputs {
            return T::Sum::ZERO;
        }
        let (sample, place) = p.places.divide(column);
        let offset = offset(p.strides[0], sample, row, split(&p.out, place));
        // SAFETY: the element is inside the gradient: the caller's columns are below their number.
        unsafe { element::<T>(p.at[2], self.at + offset) }
    }

    #[inline(always)]
    fn rows_are_near(&self) -> bool {
        false
    }
}

/// The patches of all samples in a group, transposed: a row is a sample and a place, a column a channel and a tap.
#[derive(Clone, Copy)]
struct AllPatches<'a> {
    p: &'a Convolution,
    at: i64,
}

impl Source for AllPatches<'_> {
    #[inline(always)]
    fn read<T: Factor>(&self, row: u32, column: u32) -> T::Sum {
        let p = self.p;
        if column >= p.inputs * p.tap_count.size {
            return T::Sum::ZERO;
        }
        let (sample, place) = p.places.divide(row);
        let (channel, tap) = p.tap_count.divide(column);
        match window(p, channel, tap, place) {
            // SAFETY: the element is inside the image: `window` has checked the place, and the caller's rows are below
            // their number.
            Some(offset) => unsafe { element::<T>(p.at[1], self.at + i64::from(sample) * p.strides[1][0] + offset) },
            None => T::Sum::ZERO,
        }
    }

    #[inline(always)]
    fn rows_are_near(&self) -> bool {
        true
    }
}

/// A part of the sums of the weight's gradient, of [`Sum`]s in row-major order of groups, output channels, input channels
/// and taps.
#[inline(always)]
fn weight_gradient<T: Factor, const PER: usize>(p: &Convolution) {
    let tile = gemm_tile(size_of::<T::Sum>() as u32);
    let columns = p.inputs * p.tap_count.size;
    let across = columns.div_ceil(tile);
    let start = (block() / across * tile, block() % across * tile);
    let (part, group) = (block_y(), block_z());
    let total = p.batch * p.places.size;
    let share = total.div_ceil(p.parts);
    let begin = if part * share < total { part * share } else { total };
    let end = if begin + share < total { begin + share } else { total };
    let gradients = Gradients { p, at: i64::from(group) * i64::from(p.outputs) * p.strides[0][1] };
    let patches = AllPatches { p, at: i64::from(group) * i64::from(p.inputs) * p.strides[1][1] };
    let sums = tile_of::<T, PER>(gradients, patches, start, (begin, end));
    let first = (u64::from(part) * u64::from(p.groups.size) + u64::from(group)) * u64::from(p.outputs);
    each_sum::<_, PER>(sums, start, (p.outputs, columns), |row, column, sum| {
        let index = (first + u64::from(row)) * u64::from(columns) + u64::from(column);
        let size = size_of::<T::Sum>();
        // SAFETY: the host gives room for the sums of each part.
        unsafe { store(p.at[0] + index * size as u64, 4, [sum]) }
    });
}

macro_rules! entries {
    ($($dtype:ident $type:ty, $per:literal;)*) => {$(
        entry! { "convolution" "convolution", $dtype, (p: Convolution) => convolution::<$type, $per> }
        entry! { "convolution" "weight_gradient", $dtype, (p: Convolution) => weight_gradient::<$type, $per> }
    )*};
}

entries! {
    F32 f32, 4;
    F64 f64, 2;
    F16 f16, 4;
    BF16 bf16, 4;
    C64 Complex64, 2;
    C128 Complex128, 1;
}

/// Integers have no gradients.
macro_rules! integer_entries {
    ($($dtype:ident $type:ty, $per:literal;)*) => {$(
        entry! { "convolution" "convolution", $dtype, (p: Convolution) => convolution::<$type, $per> }
    )*};
}

integer_entries! {
    U8 u8, 4;
    I8 i8, 4;
    I16 i16, 4;
    I32 i32, 4;
    I64 i64, 2;
}
