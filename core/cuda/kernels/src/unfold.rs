//! Images as columns, one for each position of a kernel, and back.

use crate::lines::each;
use crate::images::{element, put};
use crate::number::{Number, Wide};
use crate::parameters::{Size, Unfolding};

/// The indices of an element whose last two dimensions have these sizes, and that has so many planes: sample, plane, and
/// the last two.
#[inline(always)]
fn places(index: u32, planes: Size, sizes: [Size; 2]) -> [u32; 4] {
    let (rest, last) = sizes[1].divide(index);
    let (rest, first) = sizes[0].divide(rest);
    let (sample, plane) = planes.divide(rest);
    [sample, plane, first, last]
}

#[inline(always)]
fn in_columns(p: &Unfolding, sample: u32, row: u32, [h, w]: [u32; 2]) -> i64 {
    let position = i64::from(h) * i64::from(p.positions[1].size) + i64::from(w);
    i64::from(sample) * p.columns[0] + i64::from(row) * p.columns[1] + position * p.columns[2]
}

#[inline(always)]
fn in_images(p: &Unfolding, sample: u32, channel: u32, [y, x]: [u32; 2]) -> i64 {
    i64::from(sample) * p.images[0]
        + i64::from(channel) * p.images[1]
        + i64::from(y) * p.images[2]
        + i64::from(x) * p.images[3]
}

/// columns = the elements that the kernel meets at each position, 0 in the padding.
#[inline(always)]
fn unfold<T: Copy>(p: &Unfolding) {
    each(u64::from(p.count), |index| {
        let [sample, row, h, w] = places(index as u32, p.planes[1], p.positions);
        let (rest, right) = p.taps[1].divide(row);
        let (channel, down) = p.taps[0].divide(rest);
        let y = i64::from(h) * i64::from(p.steps[0].size) + i64::from(down) * i64::from(p.dilation[0]);
        let x = i64::from(w) * i64::from(p.steps[1].size) + i64::from(right) * i64::from(p.dilation[1]);
        let (y, x) = (y - i64::from(p.padding[0]), x - i64::from(p.padding[1]));
        let inside = y >= 0 && x >= 0 && y < i64::from(p.sizes[0].size) && x < i64::from(p.sizes[1].size);
        let value = if inside {
            element::<T>(p.at[1], in_images(p, sample, channel, [y as u32, x as u32]))
        } else {
            // SAFETY: zero bytes are zero in every dtype.
            unsafe { core::mem::zeroed() }
        };
        put(p.at[0], in_columns(p, sample, row, [h, w]), value);
    });
}

/// The position at which an element of the kernel meets a place of the image along a dimension.
#[inline(always)]
fn position(p: &Unfolding, dim: usize, place: u32, tap: u32) -> Option<u32> {
    let start = i64::from(place) + i64::from(p.padding[dim]) - i64::from(tap) * i64::from(p.dilation[dim]);
    if start < 0 {
        return None;
    }
    let (position, rest) = p.steps[dim].divide(start as u32);
    if rest == 0 && position < p.positions[dim].size { Some(position) } else { None }
}

/// images = the sums of the elements that [`unfold`] would read from each place.
#[inline(always)]
fn fold<T: Number>(p: &Unfolding) {
    each(u64::from(p.count), |index| {
        let [sample, channel, y, x] = places(index as u32, p.planes[0], p.sizes);
        let mut sum = T::Wide::ZERO;
        for down in 0..p.taps[0].size {
            let Some(h) = position(p, 0, y, down) else { continue };
            for right in 0..p.taps[1].size {
                if let Some(w) = position(p, 1, x, right) {
                    let row = (channel * p.taps[0].size + down) * p.taps[1].size + right;
                    sum = sum.add(element::<T>(p.at[0], in_columns(p, sample, row, [h, w])).wide());
                }
            }
        }
        put(p.at[1], in_images(p, sample, channel, [y, x]), T::narrow(sum));
    });
}

macro_rules! unfolding_entries {
    ($($name:ident: $($dtype:ident)*;)*) => {$($(
        entry! { "images" stringify!($name), $dtype, (p: Unfolding) => $name::<element!($dtype)> }
    )*)*};
}

unfolding_entries! {
    unfold: U8 U16 U32 U64 C32 C64 C128;
    fold: F16 BF16 F32 F64 C32 C64 C128 Bool;
}
