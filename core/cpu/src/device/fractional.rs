//! Fractional max pooling on a device. The windows differ from plane to plane: a thread computes them from the random
//! samples of its plane. For the gradient the indices are sorted, and each element is added up in their order.

use super::images::geometry;
use super::parameters::{Fractional, Size};
use super::sort::ordered;
use super::{Grid, Temporary, address, launch, small};
use crate::array::Array;
use crate::{Loop, fill};
use rushlight_base::backend::{self, Kernel};
use rushlight_base::report::Mistake;
use rushlight_base::{DType, Result, Scalar, err};

/// The parameter for images, results and indices, of which `written` is written.
fn fractional(
    images: &Array,
    results: &Array,
    indices: &Array,
    samples: Option<&Array>,
    written: &Array,
    window: &[i64],
    spatial: usize,
) -> Result<Fractional> {
    let device = images.device();
    let number = |value: usize| {
        small(value).ok_or_else(|| err!(Runtime, "fractional pooling on device {device} has a size of {value}"))
    };
    let size = |value: usize| Ok::<_, rushlight_base::Error>(Size::new(number(value)?.max(1)));
    let ((image, of_images), (out, of_results)) = (geometry(images, spatial)?, geometry(results, spatial)?);
    let spatial_of =
        |sizes: [usize; 5]| Ok::<_, rushlight_base::Error>([size(sizes[2])?, size(sizes[3])?, size(sizes[4])?]);
    number(images.numel())?;
    number(results.numel())?;
    let mut p = Fractional {
        at: [address(images), address(results), address(indices), samples.map_or(0, address)],
        strides: [of_images, of_results, geometry(indices, spatial)?.1],
        samples: samples.map_or([0; 3], |samples| [0, 1, 2].map(|dim| samples.stride(dim) as i64)),
        order: [0; 2],
        watch: backend::watch(device, Mistake::Element, [image[2..].iter().product::<usize>() as i64, 0])?,
        out: spatial_of(out)?,
        sizes: spatial_of(image)?,
        channels: size(image[1])?,
        window: [1; 3],
        spatial: spatial as u32,
        count: number(written.numel())?,
        reserved: 0,
    };
    for (to, &from) in p.window[3 - spatial..].iter_mut().zip(window) {
        *to = number(from as usize)?;
    }
    Ok(p)
}

fn start(function: &'static str, like: &Array, dtype: DType, p: &Fractional) -> Result<()> {
    let kernel = Kernel { file: "images", function, dtype };
    // SAFETY: the kernel takes this parameter, which has no padding; the arrays are on the device, and the shape rule has
    // checked that their sizes belong together.
    unsafe { launch(like.device(), kernel, Grid::of(p.count as usize), p) }
}

/// out, indices = the maxima of windows of this size at places determined by the samples, and their indices in the plane.
pub(crate) fn fractional_max(
    [out, input]: [&Array; 2],
    indices: &Array,
    samples: &Array,
    window: &[i64],
    spatial: usize,
) -> Result<()> {
    if out.numel() == 0 {
        return Ok(());
    }
    let p = fractional(input, out, indices, Some(samples), out, window, spatial)?;
    start("fractional_max", out, out.dtype(), &p)
}

/// out = the gradients of the maxima, added to the elements that the indices lead to in their plane.
pub(crate) fn spread_by_index(out: &Array, grad: &Array, indices: &Array, spatial: usize) -> Result<()> {
    if grad.numel() == 0 || out.numel() == 0 {
        return fill::fill(&Loop::new([out.clone()])?, Scalar::Int(0));
    }
    let device = out.device();
    let keys = Temporary::new(device, grad.numel() * size_of::<u64>())?;
    let mut p = fractional(out, grad, indices, None, grad, &[], spatial)?;
    p.order = [keys.at(), 0];
    start("index_places", out, DType::I64, &p)?;
    let in_plane: u32 = p.out.iter().map(|size| size.size).product();
    let ordered = ordered(device, keys, p.count / in_plane, in_plane)?;
    p.order = [ordered.keys.at(), ordered.places.at()];
    start("spread_by_index", out, out.dtype(), &Fractional { count: out.numel() as u32, ..p })
}
