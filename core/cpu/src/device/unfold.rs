//! Images as columns on a device, and back.

use super::parameters::{Size, Unfolding};
use super::{Grid, address, launch, small};
use crate::array::Array;
use crate::dispatch::unsupported;
use crate::unfold::Steps;
use rushlight_base::backend::Kernel;
use rushlight_base::{DType, Result, err};

/// Columns of (samples, rows, positions) and images of (samples, channels, height, width); both may have no samples.
fn start(
    function: &'static str,
    dtype: DType,
    columns: &Array,
    images: &Array,
    by: &Steps,
    count: usize,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let device = columns.device();
    let number =
        |value: usize| small(value).ok_or_else(|| err!(Runtime, "{function} on device {device} has a size of {value}"));
    let size = |value: usize| Ok::<Size, rushlight_base::Error>(Size::new(number(value)?.max(1)));
    let pair = |values: [usize; 2]| Ok::<_, rushlight_base::Error>([size(values[0])?, size(values[1])?]);
    let numbers = |values: [usize; 2]| Ok::<_, rushlight_base::Error>([number(values[0])?, number(values[1])?]);
    let strides = |array: &Array, last: usize| -> Vec<i64> {
        let samples = if array.ndim() > last { array.strides()[0] } else { 0 };
        std::iter::once(samples).chain(array.strides()[array.ndim() - last..].iter().copied()).collect()
    };
    let (of_columns, of_images) = (strides(columns, 2), strides(images, 3));
    let (lead, before) = (images.ndim() - 3, columns.ndim() - 2);
    let p = Unfolding {
        at: [address(columns), address(images)],
        columns: [of_columns[0], of_columns[1], of_columns[2]],
        images: [of_images[0], of_images[1], of_images[2], of_images[3]],
        planes: pair([images.size(lead), columns.size(before)])?,
        taps: pair(by.kernel)?,
        positions: pair(by.positions)?,
        sizes: pair([images.size(lead + 1), images.size(lead + 2)])?,
        steps: pair(by.stride)?,
        padding: numbers(by.padding)?,
        dilation: numbers(by.dilation)?,
        count: number(count)?,
        reserved: 0,
    };
    let kernel = Kernel { file: "images", function, dtype };
    // SAFETY: the kernel takes this parameter, which has no padding; the shape rule has checked that the arrays, which are
    // on the device, have these sizes.
    unsafe { launch(device, kernel, Grid::of(count), &p) }
}

/// columns = the elements that the kernel meets at each position.
pub(crate) fn unfold(columns: &Array, images: &Array, by: &Steps) -> Result<()> {
    start("unfold", super::indexing::moved(columns.dtype()), columns, images, by, columns.numel())
}

/// images = the sums of the columns at their positions.
pub(crate) fn fold(images: &Array, columns: &Array, by: &Steps) -> Result<()> {
    let dtype = images.dtype();
    if !dtype.is_differentiable() && dtype != DType::Bool {
        return Err(unsupported("col2im_out_cpu", dtype));
    }
    start("fold", dtype, columns, images, by, images.numel())
}
