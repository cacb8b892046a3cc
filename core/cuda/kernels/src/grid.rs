//! The elements of an image that each point of a grid refers to, and their weights.

#[path = "../../../cpu/src/grid/sampling.rs"]
mod sampling;
#[path = "../../../cpu/src/grid/weights.rs"]
mod weights;

use crate::lines::each;
use crate::memory::{load, store};
use crate::number::{Number, Wide};
use crate::parameters::GridTerms;
use sampling::{Beyond, Interpolation, Sampling};
use weights::{Axis, Coordinate, along};

/// The terms along dimension `dim` of the point whose coordinates begin at `offset`.
#[inline(always)]
fn axis<T: Number<Wide: Coordinate>>(p: &GridTerms, sampling: &Sampling, offset: i64, dim: u32) -> Axis<T::Wide, 1> {
    if dim + p.spatial < 3 {
        return Axis::single();
    }
    // The first number of the grid is that of the last dimension.
    let component = p.spatial - 1 - (dim + p.spatial - 3);
    let offset = (offset + i64::from(component) * p.strides[4]) * size_of::<T>() as i64;
    // SAFETY: the host describes the coordinates of each point.
    let value = unsafe { load::<T, 1>(p.at[0].wrapping_add(offset as u64), align_of::<T>())[0] };
    let of = |numbers: [u32; 3]| match dim {
        0 => numbers[0],
        1 => numbers[1],
        _ => numbers[2],
    };
    let mut axis = Axis::single();
    along::<T, 1>(&mut axis, &[value.wide()], of(p.sizes) as usize, sampling, of(p.orders) as usize);
    axis
}

#[inline(always)]
fn grid_terms<T: Number<Wide: Coordinate>>(p: &GridTerms) {
    let Ok(sampling) = Sampling::from_codes(i64::from(p.codes[0]), i64::from(p.codes[1]), p.align_corners != 0) else {
        return;
    };
    each(u64::from(p.count), |point| {
        let (rest, w) = p.points[2].divide(point as u32);
        let (rest, h) = p.points[1].divide(rest);
        let (sample, d) = p.points[0].divide(rest);
        let offset = i64::from(sample) * p.strides[0]
            + i64::from(d) * p.strides[1]
            + i64::from(h) * p.strides[2]
            + i64::from(w) * p.strides[3];
        let axis = |dim: u32| axis::<T>(p, &sampling, offset, dim);
        let (depth, height, width) = (axis(0), axis(1), axis(2));
        let mut nth = 0;
        let mut put = |place: u64, weight: T::Wide| {
            let at = point * u64::from(p.most) + nth;
            // SAFETY: the host describes `most` places and weights for each point.
            unsafe {
                store(p.at[1] + at * 8, 8, [place]);
                let size = size_of::<T::Wide>();
                store(p.at[2] + at * size as u64, size, [weight]);
            }
            nth += 1;
        };
        let mut found = 0;
        let area = u64::from(p.sizes[0]) * u64::from(p.sizes[1]) * u64::from(p.sizes[2]);
        for z in 0..depth.taps() {
            for y in 0..height.taps() {
                for x in 0..width.taps() {
                    let [of_z, of_y, of_x] = [depth.at[z][0], height.at[y][0], width.at[x][0]];
                    let row = of_z as u64 * u64::from(p.sizes[1]) + of_y as u64;
                    let inside = of_z | of_y | of_x >= 0;
                    let place = if inside { row * u64::from(p.sizes[2]) + of_x as u64 } else { area };
                    put(place, depth.weights[z][0] * height.weights[y][0] * width.weights[x][0]);
                    found += 1;
                }
            }
        }
        while found < p.most {
            put(area, T::Wide::ZERO);
            found += 1;
        }
    });
}

float_entries! {
    "images";
    grid_terms(p: GridTerms)
}
