//! Columns of deformable convolutions: like those of an image, but each tap is moved by an offset and reads between
//! elements.

use super::{Flat, GRAIN, Real, sizes4};
use crate::array::Array;
use rushlight_base::Result;
use rushlight_base::runtime::parallel_chunks;

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
    /// Groups of channels with offsets of their own.
    pub groups: usize,
    /// Positions of the kernel.
    pub positions: [usize; 2],
    /// Whether taps are multiplied by a mask.
    pub masked: bool,
}

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
            let at = (place[d] * self.stride[d] + within[d] * self.dilation[d]) as f64 - self.padding[d] as f64;
            T::of(at) + offset.get(((group * self.taps() + tap) * 2 + d) * self.area() + position)
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
        let outside = |at: f64, size: usize| !(at > -1.0 && at < size as f64);
        if outside(y.to_f64(), self.height) || outside(x.to_f64(), self.width) {
            return T::default();
        }
        let (top, left) = (y.to_f64().floor(), x.to_f64().floor());
        let (down, across) = (y - T::of(top), x - T::of(left));
        let (up, back) = (T::of(1.0) - down, T::of(1.0) - across);
        let (top, left) = (top as i64, left as i64);
        up * back * self.at(top, left)
            + up * across * self.at(top, left + 1)
            + down * back * self.at(top + 1, left)
            + down * across * self.at(top + 1, left + 1)
    }

    /// The derivative of the value between elements by y or x.
    fn slope(&self, y: T, x: T, by_y: bool) -> T {
        let (top, left) = (y.to_f64().floor(), x.to_f64().floor());
        let (down, across) = (y - T::of(top), x - T::of(left));
        let (top, left) = (top as i64, left as i64);
        // Saturated coordinates are outside of every image.
        let (bottom, right) = (top.saturating_add(1), left.saturating_add(1));
        let [a, b, c, d] = [self.at(top, left), self.at(top, right), self.at(bottom, left), self.at(bottom, right)];
        if by_y {
            across * (d - b) + (T::of(1.0) - across) * (c - a)
        } else {
            down * (d - c) + (T::of(1.0) - down) * (b - a)
        }
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
                        spread(&to, [plane, height, width], y, x, |near| weight * near * given);
                    }
                }
            }
        })
    })
}

/// Adds what `part` makes of the weight of each element around a point.
fn spread<T: Real>(to: &Flat<T>, [plane, height, width]: [usize; 3], y: T, x: T, part: impl Fn(T) -> T) {
    let near = |at: T, near: i64| {
        let distance = at - T::of(near as f64);
        let distance = if distance < T::default() { T::default() - distance } else { distance };
        (distance < T::of(1.0)).then(|| T::of(1.0) - distance)
    };
    let around = |at: T| {
        let middle = at.to_f64() as i64;
        middle.saturating_sub(1)..=middle.saturating_add(1)
    };
    for row in around(y) {
        let Some(down) = near(y, row).filter(|_| (0..height as i64).contains(&row)) else { continue };
        for column in around(x) {
            let Some(across) = near(x, column).filter(|_| (0..width as i64).contains(&column)) else { continue };
            to.add((plane * height + row as usize) * width + column as usize, part(down * across));
        }
    }
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
        coordinates::<T>(out, grad, input, [offset, mask], by, 2, &|source, y, x, weight, given, direction| {
            weight * source.slope(y, x, direction == 0) * given
        })
    })
}

/// out (images, taps of each group, positions) = the gradients with respect to the mask.
pub fn columns_mask(out: &Array, grad: &Array, input: &Array, offset: &Array, mask: &Array, by: &Deform) -> Result<()> {
    dispatch!(grad.dtype(), "deformable_col2im_coord", float float16, T => {
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
