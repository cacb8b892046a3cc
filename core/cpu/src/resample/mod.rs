//! Resampling: outputs that are sums of few inputs, selected by their position along each dimension alone.
//! Interpolation and padding by reflection or replication have this form, as do their gradients.

mod antialias;
mod bytes;
mod taps;

use crate::array::Array;
use crate::number::{Number, Wide};
use crate::pooling::store;
use crate::volume::{Volume, each_planes};
pub use antialias::{Windows, interpolate_smoothly, spread_smoothly};
pub use bytes::interpolate_bytes;
use rushlight_base::list::filled;
use rushlight_base::{Error, Result, Scalar, list};
use std::sync::OnceLock;
pub use taps::{Filter, Scale, Taps, interpolation, mirrored, nearest, repeated};

/// out = the elements that `taps` selects, one for each position.
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
                            // SAFETY: `w` is below the output's size, and the table was built for this input size.
                            unsafe { target.offset(at + w as isize * to.steps[2]).write(source.offset(x).read()) };
                        }
                    }
                }
            }
        })
    })
}

/// The weights of a table in the type that is computed in.
fn weights<W: Wide>(taps: &[Taps; 3]) -> Result<[Vec<W>; 3]> {
    let of = |taps: &Taps| list::collect(taps.weights.iter().map(|&weight| W::from_scalar(Scalar::Float(weight))));
    Ok([of(&taps[0])?, of(&taps[1])?, of(&taps[2])?])
}

/// out = for each position, the sum of the inputs of `taps` times their weights.
pub fn interpolate(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    dispatch!(out.dtype(), "compute_indices_weights", half float, T => sums::<T>(out, input, taps, spatial))
}

fn sums<T: Number>(out: &Array, input: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(input, spatial)?);
    let factors = weights::<T::Wide>(taps)?;
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
                                    // SAFETY: the table of taps was built for this input size, so the position is
                                    // inside the input.
                                    let value = unsafe { source.offset(row + at as isize * from.steps[2]).read() };
                                    line = line.add(factor.mul(value.wide()));
                                }
                                layer = layer.add(factors[1][j].mul(line));
                            }
                            sum = sum.add(factors[0][i].mul(layer));
                        }
                        // SAFETY: the position is inside the output, in a plane that belongs to this share alone.
                        unsafe { target.offset(at + w as isize * to.steps[2]).write(T::narrow(sum)) };
                    }
                }
            }
        }
    })
}

/// out = the transpose of [`interpolate`] (and of [`pick`], whose weights are 1): each gradient is accumulated at the
/// positions that its element came from.
pub fn spread(out: &Array, grad: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    dispatch!(out.dtype(), "upsample_backward", integer half float complex chalf, T => {
        returned::<T>(out, grad, taps, spatial)
    })
}

fn returned<T: Number>(out: &Array, grad: &Array, taps: &[Taps; 3], spatial: usize) -> Result<()> {
    let (to, from) = (Volume::<T>::of(out, spatial)?, Volume::<T>::of(grad, spatial)?);
    let factors = weights::<T::Wide>(taps)?;
    let [depths, heights, widths] = [0, 1, 2].map(|dim| taps[dim].width);
    let [_, rows, row] = to.sizes;
    let failed: OnceLock<Error> = OnceLock::new();
    each_planes(to.planes(), from.area() * depths * heights * widths + to.area(), &|planes| {
        for plane in planes {
            let mut sums = match filled(to.area(), T::Wide::ZERO) {
                Ok(sums) => sums,
                Err(error) => {
                    // The first error is reported.
                    let _ = failed.set(error);
                    return;
                }
            };
            let source = from.plane(plane);
            for d in 0..from.sizes[0] {
                for h in 0..from.sizes[1] {
                    let at = from.row([d, h]);
                    for w in 0..from.sizes[2] {
                        // SAFETY: the position is inside the gradient.
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
