//! Columns of deformable convolutions: like those of an image, but each tap is moved by an offset and reads between
//! elements.

use super::taps::{self, Deform, each_near, unmoved};
use super::{Flat, GRAIN, Real, sizes4};
use crate::array::Array;
use crate::device;
use rushlight_base::Result;
use rushlight_base::runtime::parallel_chunks;

impl Deform {
    fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    fn area(&self) -> usize {
        self.positions[0] * self.positions[1]
    }

    /// Where a tap reads at a position, from the offsets of a group.
    fn point<T: Real>(&self, offset: &Flat<T>, group: usize, tap: usize, position: usize) -> (T, T) {
        let place = [position / self.positions[1], position % self.positions[1]];
        let within = [tap / self.kernel[1], tap % self.kernel[1]];
        let moved = |d: usize| {
            let at: T = unmoved([place[d], self.stride[d]], [within[d], self.dilation[d]], self.padding[d]);
            at + offset.get(((group * self.taps() + tap) * 2 + d) * self.area() + position)
        };
        (moved(0), moved(1))
    }

    fn mask<T: Real>(&self, mask: &Flat<T>, group: usize, tap: usize, position: usize) -> T {
        if self.masked { mask.get((group * self.taps() + tap) * self.area() + position) } else { T::of(1.0) }
    }
}

/// One channel of an image.
#[derive(Clone, Copy)]
struct Plane<'a, T> {
    image: &'a Flat<T>,
    first: usize,
    height: usize,
    width: usize,
}

impl<T: Real> Plane<'_, T> {
    /// The element, 0 outside of the image.
    fn at(&self, y: i64, x: i64) -> T {
        let inside = (0..self.height as i64).contains(&y) && (0..self.width as i64).contains(&x);
        if inside { self.image.get(self.first + y as usize * self.width + x as usize) } else { T::default() }
    }

    /// The value between elements, 0 beyond the image.
    fn between(&self, y: T, x: T) -> T {
        taps::between([self.height, self.width], y, x, |y, x| self.at(y, x))
    }

    /// The derivative of the value between elements by y or x.
    fn slope(&self, y: T, x: T, by_y: bool) -> T {
        taps::slope(y, x, by_y, |y, x| self.at(y, x))
    }
}

/// The offsets and the mask of an image of the batch.
fn of_image<T: Real>(all: &Flat<T>, image: usize, images: usize) -> Flat<T> {
    let each = all.len / images.max(1);
    let first = (image * each).min(all.len);
    Flat { at: crate::shared::Shared::new(all.at.get().wrapping_add(first)), len: each.min(all.len - first) }
}

/// columns (images, channels times taps, positions) = what the taps read.
pub fn columns(out: &Array, input: &Array, offset: &Array, mask: &Array, by: &Deform) -> Result<()> {
    dispatch!(input.dtype(), "deformable_im2col", float float16, T => {
        if !out.is_on_host() {
            return device::deform_columns(out, input, [offset, mask], by);
        }
        let [images, channels, height, width] = sizes4(input)?;
        let (to, from) = (Flat::<T>::of(out)?, Flat::<T>::of(input)?);
        let (offset, mask) = (Flat::<T>::of(offset)?, Flat::<T>::of(mask)?);
        let (taps, area) = (by.taps(), by.area());
        let per_group = (channels / by.groups).max(1);
        parallel_chunks(images * channels, (GRAIN / (taps * area * 4).max(1)).max(1), &|range| {
            for plane in range {
                let (image, group) = (plane / channels, plane % channels / per_group);
                let (offset, mask) = (of_image(&offset, image, images), of_image(&mask, image, images));
                let source = Plane { image: &from, first: plane * height * width, height, width };
                for tap in 0..taps {
                    for position in 0..area {
                        let (y, x) = by.point(&offset, group, tap, position);
                        let value = by.mask(&mask, group, tap, position) * source.between(y, x);
                        to.set((plane * taps + tap) * area + position, value);
                    }
                }
            }
        })
    })
}

/// out (images, channels, height, width) = the gradients of columns, added to the elements that the taps read.
pub fn columns_image(out: &Array, grad: &Array, offset: &Array, mask: &Array, by: &Deform) -> Result<()> {
    dispatch!(grad.dtype(), "deformable_col2im", float float16, T => {
        if !out.is_on_host() {
            return device::deform_image(out, grad, [offset, mask], by);
        }
        let [images, channels, height, width] = sizes4(out)?;
        let (to, from) = (Flat::<T>::of(out)?, Flat::<T>::of(grad)?);
        let (offset, mask) = (Flat::<T>::of(offset)?, Flat::<T>::of(mask)?);
        let (taps, area) = (by.taps(), by.area());
        let per_group = (channels / by.groups).max(1);
        to.clear();
        parallel_chunks(images * channels, (GRAIN / (taps * area * 4).max(1)).max(1), &|range| {
            for plane in range {
                let (image, group) = (plane / channels, plane % channels / per_group);
                let (offset, mask) = (of_image(&offset, image, images), of_image(&mask, image, images));
                for tap in 0..taps {
                    for position in 0..area {
                        let (y, x) = by.point(&offset, group, tap, position);
                        let weight = by.mask(&mask, group, tap, position);
                        let given = from.get((plane * taps + tap) * area + position);
                        each_near([height, width], y, x, |[row, column], near| {
                            to.add((plane * height + row) * width + column, weight * near * given);
                        });
                    }
                }
            }
        })
    })
}

/// out (images, offsets, positions) = the gradients with respect to the offsets.
pub fn columns_offset(
    out: &Array,
    grad: &Array,
    input: &Array,
    offset: &Array,
    mask: &Array,
    by: &Deform,
) -> Result<()> {
    dispatch!(grad.dtype(), "deformable_col2im_coord", float float16, T => {
        if !out.is_on_host() {
            return device::deform_offset(out, [grad, input], [offset, mask], by);
        }
        coordinates::<T>(out, grad, input, [offset, mask], by, 2, &|source, y, x, weight, given, direction| {
            weight * source.slope(y, x, direction == 0) * given
        })
    })
}

/// out (images, taps of each group, positions) = the gradients with respect to the mask.
pub fn columns_mask(out: &Array, grad: &Array, input: &Array, offset: &Array, mask: &Array, by: &Deform) -> Result<()> {
    dispatch!(grad.dtype(), "deformable_col2im_coord", float float16, T => {
        if !out.is_on_host() {
            return device::deform_mask(out, [grad, input], [offset, mask], by);
        }
        if !by.masked {
            Flat::<T>::of(out)?.clear();
            return Ok(());
        }
        coordinates::<T>(out, grad, input, [offset, mask], by, 1, &|source, y, x, _, given, _| given * source.between(y, x))
    })
}

/// What a gradient of a column adds, from the channel, the point, the mask, the gradient and the direction.
type Part<'a, T> = &'a (dyn Fn(&Plane<'_, T>, T, T, T, T, usize) -> T + Sync);

/// Sums over the channels of each group, for `directions` outputs of each tap.
fn coordinates<T: Real>(
    out: &Array,
    grad: &Array,
    input: &Array,
    [offset, mask]: [&Array; 2],
    by: &Deform,
    directions: usize,
    part: Part<'_, T>,
) -> Result<()> {
    let [images, channels, height, width] = sizes4(input)?;
    let (to, from, pixels) = (Flat::<T>::of(out)?, Flat::<T>::of(grad)?, Flat::<T>::of(input)?);
    let (offset, mask) = (Flat::<T>::of(offset)?, Flat::<T>::of(mask)?);
    let (taps, area) = (by.taps(), by.area());
    let per_group = channels / by.groups;
    let units = images * by.groups * taps;
    parallel_chunks(units, (GRAIN / (per_group * area * 4).max(1)).max(1), &|range| {
        for unit in range {
            let (image, group, tap) = (unit / taps / by.groups, unit / taps % by.groups, unit % taps);
            let (offset, mask) = (of_image(&offset, image, images), of_image(&mask, image, images));
            for direction in 0..directions {
                for position in 0..area {
                    let (y, x) = by.point(&offset, group, tap, position);
                    let weight = by.mask(&mask, group, tap, position);
                    let mut sum = T::default();
                    for channel in group * per_group..(group + 1) * per_group {
                        let plane = image * channels + channel;
                        let source = Plane { image: &pixels, first: plane * height * width, height, width };
                        let given = from.get((plane * taps + tap) * area + position);
                        sum = sum + part(&source, y, x, weight, given, direction);
                    }
                    to.set((unit * directions + direction) * area + position, sum);
                }
            }
        }
    })
}
