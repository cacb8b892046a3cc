//! The gradient by the weights of depthwise correlations, along the width: each plane of the image is padded once, and
//! the products with the gradient are summed in a vector for each tap.

use super::super::axis::Axis;
use super::super::line::Layout;
use super::super::padded::spatial_steps;
use super::super::unfolded::{count_taps, each_tap};
use super::super::weights::WeightJob;
use super::planes::{pitch, together, widen};
use crate::number::Wide;
use crate::scratch::Shortage;
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, MAX_LANES, Simd, run as run_kernel};
use rushlight_base::runtime::parallel_chunks;
use rushlight_base::{Result, list};
use std::ops::Range;

/// Multiplications that are worth a second thread.
const GRAIN: usize = 1 << 16;

/// Runs `$body` with `$N` the number of taps that are summed together, of `$count` that are left: 9 for 3 x 3, and 9, 9 and 7
/// for 5 x 5. The compiler repeats the code for each number.
macro_rules! constant {
    ($count:expr, $N:ident => $body:expr) => {
        match $count {
            9.. => constant!(@at 9, $N => $body),
            7.. => constant!(@at 7, $N => $body),
            3.. => constant!(@at 3, $N => $body),
            _ => constant!(@at 1, $N => $body),
        }
    };
    (@at $at:literal, $N:ident => $body:expr) => {{
        const $N: usize = $at;
        $body;
        $N
    }};
}
pub(super) use constant;

/// out = the gradient.
pub(super) fn run<T: Float>(job: &WeightJob) -> Result<()> {
    let &WeightJob { out, grad, image, axes, groups, spatial } = job;
    let phases = [0, 1, 2].map(|dim| vec![axes[dim].clone()]);
    let layout = Layout::new(&phases, spatial_steps(image, spatial))?;
    let mut taps = list::with_capacity(count_taps(axes))?;
    each_tap(axes, |tap| taps.push(layout.offset(tap.map(|(_, offset)| offset))));
    let (samples, per_group) = (grad.size(0), out.size(0) / groups);
    let positions: usize = axes.iter().map(|axis| axis.length).product();
    let (elements, shortage) = (pitch(&layout).saturating_mul(together(&layout)), Shortage::new());
    let share = Strides {
        image: [image.stride(0), image.stride(1)],
        grad: [grad.stride(0), grad.stride(1)],
        grad_steps: spatial_steps(grad, spatial),
        samples,
        per_group,
    };
    let (from, met, to) =
        (Shared::new(image.as_ptr::<T>()), Shared::new(grad.as_ptr::<T>()), Shared::new(out.as_ptr::<T>()));
    let work = samples.saturating_mul(per_group).saturating_mul(positions).saturating_mul(taps.len());
    parallel_chunks(groups, (GRAIN / work.max(1)).max(1), &|groups| {
        let sums = per_group.saturating_mul(taps.len()).saturating_mul(MAX_LANES);
        let space = elements.saturating_add(sums);
        let Some(buffer) = shortage.scratch(space.saturating_mul(size_of::<T::Wide>())) else { return };
        let plane = buffer.start().cast::<T::Wide>();
        let sums = plane.wrapping_add(elements);
        let (image, grad, out) = (from.get().cast_const(), met.get().cast_const(), to.get());
        run_kernel(Share {
            layout: &layout,
            axes,
            taps: &taps,
            strides: &share,
            groups,
            plane,
            sums,
            image,
            grad,
            out,
        });
    })?;
    shortage.check()
}

struct Strides {
    /// Of samples and channels.
    image: [isize; 2],
    grad: [isize; 2],
    grad_steps: [isize; 3],
    samples: usize,
    per_group: usize,
}

/// Some groups.
struct Share<'a, T: Float> {
    layout: &'a Layout,
    axes: &'a [Axis; 3],
    taps: &'a [isize],
    strides: &'a Strides,
    groups: Range<usize>,
    /// Some padded planes.
    plane: *mut T::Wide,
    /// For each channel of a group and each tap, a vector.
    sums: *mut T::Wide,
    image: *const T,
    grad: *const T,
    out: *mut T,
}

impl<T: Float> Kernel for Share<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (strides, taps, lanes) = (self.strides, self.taps, T::Vector::<S>::LANES);
        let count = strides.per_group * taps.len();
        let (pitch, together) = (pitch(self.layout), together(self.layout));
        // SAFETY: the buffer has space for `together` padded planes, and zero bytes are the number 0.
        unsafe { self.plane.write_bytes(0, together * pitch) };
        for group in self.groups.clone() {
            // SAFETY: the buffers have the elements of `together` padded planes and a vector for each sum; samples
            // and channels are those of the arrays, and the outputs of a group belong to one share.
            unsafe {
                std::slice::from_raw_parts_mut(self.sums, count * lanes).fill(T::Wide::ZERO);
                for sample in 0..strides.samples {
                    let nth = sample % together;
                    if nth == 0 {
                        for (i, sample) in (sample..strides.samples.min(sample + together)).enumerate() {
                            let from = sample as isize * strides.image[0] + group as isize * strides.image[1];
                            let to = self.plane.add(i * pitch);
                            widen::<T, S>(self.layout, self.image.wrapping_offset(from), to);
                        }
                    }
                    let plane = self.plane.add(nth * pitch).cast_const();
                    for within in 0..strides.per_group {
                        let channel = group * strides.per_group + within;
                        let grad = sample as isize * strides.grad[0] + channel as isize * strides.grad[1];
                        let grad = self.grad.wrapping_offset(grad);
                        let mut first = 0;
                        while first < taps.len() {
                            let (rest, sums) = (&taps[first..], self.sums.add((within * taps.len() + first) * lanes));
                            first += constant!(rest.len(), N => self.add::<S, N>(rest, plane, grad, sums));
                        }
                    }
                }
                for i in 0..count {
                    let sum = T::Vector::<S>::load(self.sums.add(i * lanes)).sum();
                    self.out.add(group * count + i).write(T::narrow(sum));
                }
            }
        }
    }
}

impl<T: Float> Share<'_, T> {
    /// Adds the products of the gradient's plane with what the first `N` of the taps meet to their sums.
    ///
    /// # Safety
    /// The plane of the gradient can be read, and there is a vector for each sum.
    #[inline(always)]
    unsafe fn add<S: Simd, const N: usize>(
        &self,
        taps: &[isize],
        plane: *const T::Wide,
        grad: *const T,
        to: *mut T::Wide,
    ) {
        let lanes = T::Vector::<S>::LANES;
        let [depth, height, width] = [0, 1, 2].map(|dim| self.axes[dim].length);
        let (from_steps, grad_steps) = (self.layout.steps(), self.strides.grad_steps);
        let stride = grad_steps[2] * size_of::<T>() as isize;
        let taps: [isize; N] = std::array::from_fn(|t| taps[t]);
        // SAFETY: the positions are elements of the gradient; those of the plane are inside it. Vectors at the end of a
        // row are read in part, since what follows may not be finite.
        unsafe {
            let mut sums: [T::Vector<S>; N] = std::array::from_fn(|t| T::Vector::<S>::load(to.add(t * lanes)));
            for d in 0..depth as isize {
                for h in 0..height as isize {
                    let from = plane.offset(d * from_steps[0] + h * from_steps[1]);
                    let grad = grad.offset(d * grad_steps[0] + h * grad_steps[1]);
                    let full = width - width % lanes;
                    for w in (0..full).step_by(lanes) {
                        let value = match grad_steps[2] {
                            1 => T::load::<S>(grad.add(w)),
                            step => T::load_strided::<S>(grad.offset(w as isize * step), stride, lanes),
                        };
                        for t in 0..N {
                            let met = T::Vector::<S>::load(from.offset(taps[t]).add(w));
                            sums[t] = met.mul_add(value, sums[t]);
                        }
                    }
                    if full < width {
                        let rest = width - full;
                        let value = match grad_steps[2] {
                            1 => T::load_partial::<S>(grad.add(full), rest),
                            step => T::load_strided::<S>(grad.offset(full as isize * step), stride, rest),
                        };
                        for t in 0..N {
                            let met = T::Vector::<S>::load_partial(from.offset(taps[t]).add(full), rest);
                            sums[t] = met.mul_add(value, sums[t]);
                        }
                    }
                }
            }
            for (t, sum) in sums.into_iter().enumerate() {
                sum.store(to.add(t * lanes));
            }
        }
    }
}
