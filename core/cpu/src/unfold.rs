//! Images as columns, one for each position of a kernel, and back.

use crate::array::Array;
use crate::device;
use crate::number::{Number, Wide};
use crate::pooling::store;
use crate::volume::{Volume, each_planes, try_each_planes};
use rushlight_base::Result;
use rushlight_base::list::filled;

/// How a kernel slides over an image: height and width.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    /// Elements of the kernel.
    pub kernel: [usize; 2],
    /// Steps between them.
    pub dilation: [usize; 2],
    /// Zeros around the image.
    pub padding: [usize; 2],
    /// Steps of the kernel.
    pub stride: [usize; 2],
    /// Positions of the kernel.
    pub positions: [usize; 2],
}

impl Steps {
    /// Elements of the kernel.
    fn taps(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// Calls `visit` with each position, and where a tap meets the image there, if it does.
    fn each(&self, tap: usize, image: [usize; 2], mut visit: impl FnMut(usize, Option<[usize; 2]>)) {
        let tap = [tap / self.kernel[1], tap % self.kernel[1]];
        let met = |dim: usize, position: usize| {
            let at = (position * self.stride[dim] + tap[dim] * self.dilation[dim]).checked_sub(self.padding[dim]);
            at.filter(|&at| at < image[dim])
        };
        for h in 0..self.positions[0] {
            let y = met(0, h);
            for w in 0..self.positions[1] {
                let place = y.and_then(|y| met(1, w).map(|x| [y, x]));
                visit(h * self.positions[1] + w, place);
            }
        }
    }
}

/// columns (samples, channels times taps, positions) = the elements of image (samples, channels, height, width) that the
/// taps meet at each position, 0 in the padding.
pub fn unfold(columns: &Array, image: &Array, steps: &Steps) -> Result<()> {
    if !columns.is_on_host() {
        return device::unfold(columns, image, steps);
    }
    by_size!(columns, T => {
        let (to, from) = (Volume::<T>::moved(columns, 1)?, Volume::<T>::moved(image, 2)?);
        each_planes(to.planes(), to.area(), &|planes| {
            for plane in planes {
                let (target, source) = (to.plane(plane), from.plane(plane / steps.taps()));
                steps.each(plane % steps.taps(), [from.sizes[1], from.sizes[2]], |position, met| {
                    let value = match met {
                        // SAFETY: `y` and `x` were checked to be inside the image.
                        Some([y, x]) => unsafe {
                            source.offset(from.row([0, y]) + x as isize * from.steps[2]).read()
                        },
                        None => T::default(),
                    };
                    // SAFETY: the position is inside the columns, in a row that belongs to this share alone.
                    unsafe { target.offset(position as isize * to.steps[2]).write(value) };
                });
            }
        })
    })
}

/// image = the accumulated elements that [`unfold`] would read from each position.
pub fn fold(image: &Array, columns: &Array, steps: &Steps) -> Result<()> {
    if !image.is_on_host() {
        return device::fold(image, columns, steps);
    }
    dispatch!(image.dtype(), "col2im_out_cpu", half float complex chalf bool, T => sums::<T>(image, columns, steps))
}

fn sums<T: Number>(image: &Array, columns: &Array, steps: &Steps) -> Result<()> {
    let (to, from) = (Volume::<T>::of(image, 2)?, Volume::<T>::of(columns, 1)?);
    let (taps, width) = (steps.taps(), to.sizes[2]);
    try_each_planes(to.planes(), to.area() + from.area() * taps, &|planes| {
        for plane in planes {
            let mut sums = filled(to.area(), T::Wide::ZERO)?;
            for tap in 0..taps {
                let source = from.plane(plane * taps + tap);
                steps.each(tap, [to.sizes[1], width], |position, met| {
                    if let Some([y, x]) = met {
                        // SAFETY: the position is inside the columns.
                        let value = unsafe { source.offset(position as isize * from.steps[2]).read() };
                        let sum = &mut sums[y * width + x];
                        *sum = sum.add(value.wide());
                    }
                });
            }
            store(&to, plane, &sums);
        }
        Ok(())
    })
}
