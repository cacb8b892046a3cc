//! Resampling: outputs that are sums of few inputs, chosen by their place along each dimension alone. Interpolation
//! and padding by mirrored or repeated elements are such; so is what brings their gradients back.

mod antialias;
mod bytes;
mod taps;

use crate::array::Array;
use crate::number::{Number, Wide};
use crate::pooling::store;
use crate::room::filled;
use crate::volume::{Volume, each_planes};
pub use antialias::{Windows, interpolate_smoothly, spread_smoothly};
pub use bytes::interpolate_bytes;
use rushlight_base::{Error, Result, Scalar};
use std::sync::OnceLock;
pub use taps::{Filter, Scale, Taps, interpolation, mirrored, nearest, repeated};

/// out = the elements that `taps` name, one for each place.
pub fn pick(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    by_size!(out, T => {
        let (to, from) = (Volume::<T>::moved(out, spatial)?, Volume::<T>::moved(input, spatial)?);
        each_planes(to.planes(), to.area(), &|planes| {
            for plane in planes {
                let (target, source) = (to.plane(plane), from.plane(plane));
                for d in 0..to.sizes[0] {
                    for h in 0..to.sizes[1] {
                        let (at, row) = (to.row([d, h]), from.row([taps[0].first(d), taps[1].first(h)]));
                        for w in 0..to.sizes[2] {
                            let x = row + taps[2].first(w) as isize * from.steps[2];
                            // SAFETY: a position of the output, and one of the input that a table made for it names.
                            unsafe { target.offset(at + w as isize * to.steps[2]).write(source.offset(x).read()) };
                        }
                    }
                }
            }
        })
    })
}

/// The weights of a table in the type that is computed in.
fn weights<W: Wide>(taps: &[Taps; 3]) -> [Vec<W>; 3] {
    [0, 1, 2].map(|dim| taps[dim].weights.iter().map(|&weight| W::from_scalar(Scalar::Float(weight))).collect())
}

/// out = for each place, the sum of what `taps` name times their weights.
pub fn interpolate(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    dispatch!(out.dtype(), "compute_indices_weights", half float, T => sums::<T>(out, input, taps, spatial))
}

fn sums<T: Number>(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    let factors = weights::<T::Wide>(taps);
    let [depths, heights, widths] = [0, 1, 2].map(|dim| taps[dim].width);
    each_planes(to.planes(), to.area() * depths * heights * widths, &|planes| {
        for plane in planes {
            let (target, source) = (to.plane(plane), from.plane(plane));
            for d in 0..to.sizes[0] {
                for h in 0..to.sizes[1] {
                    let at = to.row([d, h]);
                    for w in 0..to.sizes[2] {
                        let (mut sum, own) = (T::Wide::ZERO, w * widths..(w + 1) * widths);
                        for i in d * depths..(d + 1) * depths {
                            let mut layer = T::Wide::ZERO;
                            for j in h * heights..(h + 1) * heights {
                                let row = from.row([taps[0].index[i], taps[1].index[j]]);
                                let mut line = T::Wide::ZERO;
                                for (&factor, &at) in factors[2][own.clone()].iter().zip(&taps[2].index[own.clone()]) {
                                    // SAFETY: a position of the input that a table made for it names.
                                    let value = unsafe { source.offset(row + at as isize * from.steps[2]).read() };
                                    line = line.add(factor.mul(value.wide()));
                                }
                                layer = layer.add(factors[1][j].mul(line));
                            }
                            sum = sum.add(factors[0][i].mul(layer));
                        }
                        // SAFETY: a position of the output, in a plane that is this share's own.
                        unsafe { target.offset(at + w as isize * to.steps[2]).write(T::narrow(sum)) };
                    }
                }
            }
        }
    })
}

/// out = the transpose of [`interpolate`] (and of [`pick`], whose weights are 1): each gradient goes to the places that
/// its element came from.
pub fn spread(out: &Array, grad: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    dispatch!(out.dtype(), "upsample_backward", integer half float complex chalf, T => {
        returned::<T>(out, grad, taps, spatial)
    })
}

fn returned<T: Number>(out: &Array, grad: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let factors = weights::<T::Wide>(taps);
    let [depths, heights, widths] = [0, 1, 2].map(|dim| taps[dim].width);
    let [_, rows, row] = to.sizes;
    let failed: OnceLock<Error> = OnceLock::new();
    each_planes(to.planes(), from.area() * depths * heights * widths + to.area(), &|planes| {
        for plane in planes {
            let mut sums = match filled(to.area(), T::Wide::ZERO) {
                Ok(sums) => sums,
                Err(error) => {
                    // The first one is told.
                    let _ = failed.set(error);
                    return;
                }
            };
            let source = from.plane(plane);
            for d in 0..from.sizes[0] {
                for h in 0..from.sizes[1] {
                    let at = from.row([d, h]);
                    for w in 0..from.sizes[2] {
                        // SAFETY: a position of the gradient.
                        let value = unsafe { source.offset(at + w as isize * from.steps[2]).read() }.wide();
                        for i in d * depths..(d + 1) * depths {
                            let layer = factors[0][i].mul(value);
                            for j in h * heights..(h + 1) * heights {
                                let line = (taps[0].index[i] * rows + taps[1].index[j]) * row;
                                let value = factors[1][j].mul(layer);
                                for k in w * widths..(w + 1) * widths {
                                    let sum = &mut sums[line + taps[2].index[k]];
                                    *sum = sum.add(factors[2][k].mul(value));
                                }
                            }
                        }
                    }
                }
            }
            store(&to, plane, &sums);
        }
    })?;
    failed.into_inner().map_or(Ok(()), Err)
}
