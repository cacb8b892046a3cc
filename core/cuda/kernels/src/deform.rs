//! Columns of deformable convolutions, and their gradients.

use crate::boxes::detection_entries;
use crate::detection::real::Real;
use crate::detection::taps::{between, each_near, near, slope, unmoved};
use crate::images::{element, put};
use crate::lines::each;
use crate::memory::store;
use crate::parameters::Deforming;
use crate::sort::each_equal;

/// The places of the operands in [`Deforming`].
const COLUMNS: usize = 0;
const IMAGES: usize = 1;
const OFFSETS: usize = 2;
const MASK: usize = 3;
const RESULT: usize = 4;

/// The key of a reading that does not occur.
const NOWHERE: u64 = u64::MAX;

/// A tap at a position, for a group of an image.
#[derive(Clone, Copy)]
struct Reading {
    image: u32,
    group: u32,
    tap: u32,
    position: u32,
}

impl Reading {
    /// Its place among all, in row-major order of images, groups, taps and positions.
    #[inline(always)]
    fn of(p: &Deforming, index: u32) -> Reading {
        let (rest, position) = p.area.divide(index);
        let (rest, tap) = p.taps.divide(rest);
        let (image, group) = p.groups.divide(rest);
        Reading { image, group, tap, position }
    }

    /// The number of its tap among those of all groups and images.
    #[inline(always)]
    fn row(&self, p: &Deforming) -> i64 {
        (i64::from(self.image) * i64::from(p.groups.size) + i64::from(self.group)) * i64::from(p.taps.size)
            + i64::from(self.tap)
    }

    /// Where it reads.
    #[inline(always)]
    fn point<T: Real>(&self, p: &Deforming) -> (T, T) {
        let (tap_row, tap_column) = p.kernel[1].divide(self.tap);
        let (row, column) = p.positions[1].divide(self.position);
        let moved = |d: usize, position: u32, tap: u32| {
            let pair = |a: u32, b: u32| [a as usize, b as usize];
            let at: T = unmoved(pair(position, p.stride[d]), pair(tap, p.dilation[d]), p.padding[d] as usize);
            let offset = (self.row(p) * 2 + d as i64) * i64::from(p.area.size) + i64::from(self.position);
            at + element::<T>(p.at[OFFSETS], offset)
        };
        (moved(0, row, tap_row), moved(1, column, tap_column))
    }

    /// What it is multiplied by.
    #[inline(always)]
    fn mask<T: Real>(&self, p: &Deforming) -> T {
        if p.at[MASK] == 0 {
            return T::of(1.0);
        }
        element::<T>(p.at[MASK], self.row(p) * i64::from(p.area.size) + i64::from(self.position))
    }

    /// Its place in the columns, for a channel of the image.
    #[inline(always)]
    fn column(&self, p: &Deforming, channel: u32) -> i64 {
        let plane = i64::from(self.image) * i64::from(p.channels.size) + i64::from(channel);
        (plane * i64::from(p.taps.size) + i64::from(self.tap)) * i64::from(p.area.size) + i64::from(self.position)
    }
}

#[inline(always)]
fn sizes(p: &Deforming) -> [usize; 2] {
    [p.image[0] as usize, p.image[1] as usize]
}

/// The element of a channel of an image, 0 outside of the image.
#[inline(always)]
fn pixel<T: Real>(p: &Deforming, image: u32, channel: u32, y: i64, x: i64) -> T {
    let (height, width) = (i64::from(p.image[0]), i64::from(p.image[1]));
    if y < 0 || y >= height || x < 0 || x >= width {
        return T::default();
    }
    let plane = i64::from(image) * i64::from(p.channels.size) + i64::from(channel);
    element::<T>(p.at[IMAGES], (plane * height + y) * width + x)
}

/// columns = what the taps read.
#[inline(always)]
fn deform_columns<T: Real>(p: &Deforming) {
    each(u64::from(p.count), |index| {
        let (rest, position) = p.area.divide(index as u32);
        let (rest, tap) = p.taps.divide(rest);
        let (image, channel) = p.channels.divide(rest);
        let of = Reading { image, group: p.per_group.divide(channel).0, tap, position };
        let (y, x) = of.point::<T>(p);
        let value = between(sizes(p), y, x, |y, x| pixel::<T>(p, image, channel, y, x));
        put(p.at[COLUMNS], index as i64, of.mask::<T>(p) * value);
    });
}

/// Stores the elements that each tap reads at each position, to be sorted, for the images from the first one on.
#[inline(always)]
fn deform_places<T: Real>(p: &Deforming) {
    each(u64::from(p.count), |index| {
        let of = Reading::of(p, index as u32);
        let of = Reading { image: of.image + p.first, ..of };
        let (y, x) = of.point::<T>(p);
        let start = p.order[0] + index * u64::from(p.near.size) * 8;
        // SAFETY: the host describes so many keys for each tap and position.
        let key = |nth: u32, key: u64| unsafe { store(start + u64::from(nth) * 8, 8, [key]) };
        let mut found = 0;
        each_near(sizes(p), y, x, |[row, column], _| {
            if found < p.near.size {
                key(found, row as u64 * u64::from(p.image[1]) + column as u64);
            }
            found += 1;
        });
        while found < p.near.size {
            key(found, NOWHERE);
            found += 1;
        }
    });
}

/// images = the gradients of the columns that read each element, in the order of taps and positions.
#[inline(always)]
fn deform_image<T: Real>(p: &Deforming) {
    let length = u64::from(p.taps.size) * u64::from(p.area.size) * u64::from(p.near.size);
    each(u64::from(p.count), |index| {
        let (rest, column) = p.sizes[1].divide(index as u32);
        let (rest, row) = p.sizes[0].divide(rest);
        let (from_first, channel) = p.channels.divide(rest);
        let (image, group) = (from_first + p.first, p.per_group.divide(channel).0);
        let start = (u64::from(from_first) * u64::from(p.groups.size) + u64::from(group)) * length;
        let key = u64::from(row) * u64::from(p.image[1]) + u64::from(column);
        let mut sum = T::default();
        each_equal(p.order, start, length, key, |place| {
            let (tap, position) = p.area.divide(p.near.divide(place).0);
            let of = Reading { image, group, tap, position };
            let (y, x) = of.point::<T>(p);
            if let (Some(down), Some(across)) = (near(y, i64::from(row)), near(x, i64::from(column))) {
                let given = element::<T>(p.at[COLUMNS], of.column(p, channel));
                sum = sum + of.mask::<T>(p) * (down * across) * given;
            }
        });
        let plane = i64::from(image) * i64::from(p.channels.size) + i64::from(channel);
        let area = i64::from(p.image[0]) * i64::from(p.image[1]);
        put(p.at[IMAGES], plane * area + key as i64, sum);
    });
}

/// The sum of what `part` returns for each channel of a group, from the channel and the gradient of its column.
#[inline(always)]
fn over_channels<T: Real>(p: &Deforming, of: Reading, part: impl Fn(u32, T) -> T) -> T {
    let mut sum = T::default();
    let mut channel = of.group * p.per_group.size;
    let end = channel + p.per_group.size;
    while channel < end {
        sum = sum + part(channel, element::<T>(p.at[COLUMNS], of.column(p, channel)));
        channel += 1;
    }
    sum
}

/// result = the gradients by the offsets, of both directions for each tap.
#[inline(always)]
fn deform_offset<T: Real>(p: &Deforming) {
    each(u64::from(p.count), |index| {
        let (rest, position) = p.area.divide(index as u32);
        let of = Reading { position, ..Reading::of(p, rest / 2 * p.area.size) };
        let by_y = rest % 2 == 0;
        let ((y, x), weight) = (of.point::<T>(p), of.mask::<T>(p));
        let sum = over_channels(p, of, |channel, given: T| {
            weight * slope(y, x, by_y, |y, x| pixel::<T>(p, of.image, channel, y, x)) * given
        });
        put(p.at[RESULT], index as i64, sum);
    });
}

/// result = the gradients by the mask.
#[inline(always)]
fn deform_mask<T: Real>(p: &Deforming) {
    each(u64::from(p.count), |index| {
        let of = Reading::of(p, index as u32);
        let (y, x) = of.point::<T>(p);
        let sum = over_channels(p, of, |channel, given: T| {
            given * between(sizes(p), y, x, |y, x| pixel::<T>(p, of.image, channel, y, x))
        });
        put(p.at[RESULT], index as i64, sum);
    });
}

detection_entries! {
    Deforming;
    deform_columns
    deform_places
    deform_image
    deform_offset
    deform_mask
}
