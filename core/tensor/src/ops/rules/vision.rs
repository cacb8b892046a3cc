//! Rules of operators on images: resizing, padding, columns.

use super::spatial::{Spatial, check_image, each, formatted, with_spatial};
use crate::dense::{Dense, Spec};
use rushlight_base::{Result, SmallVec, bail, ensure, format_sizes};

/// Neither an image nor its resized output may be empty.
fn check_filled(input: &[i64], output: &[i64]) -> Result<()> {
    let named = |sizes: &[i64]| {
        let names = ["D", "H", "W"].into_iter().skip(3 - sizes.len().min(3));
        names.zip(sizes).map(|(name, size)| format!("{name}: {size}")).collect::<Vec<_>>().join(", ")
    };
    ensure!(
        input.iter().chain(output).all(|&size| size > 0),
        Runtime,
        "Input and output sizes should be greater than 0, but got input ({}){} output ({})",
        named(input),
        if input.len() == 1 { " and" } else { "" },
        named(output)
    );
    Ok(())
}

fn upsampled(self_: &Dense, output_size: &[i64], spatial: usize) -> Result<Spec> {
    ensure!(
        output_size.len() == spatial,
        Runtime,
        "It is expected output_size equals to {spatial}, but got size {}",
        output_size.len()
    );
    ensure!(
        self_.ndim() == spatial + 2,
        Runtime,
        "It is expected input_size equals to {}, but got size {}",
        spatial + 2,
        self_.ndim()
    );
    let input = &self_.sizes()[2..];
    check_filled(input, output_size)?;
    ensure!(
        self_.numel() != 0 || self_.sizes()[1..].iter().all(|&size| size != 0),
        Runtime,
        "Non-empty {}D data tensor expected but got a tensor with sizes {}",
        spatial + 2,
        format_sizes(self_.sizes())
    );
    formatted(&with_spatial(self_.sizes(), output_size), self_.dtype, &[self_])
}

/// A sequence of another length.
pub fn upsampled1d(self_: &Dense, output_size: &[i64]) -> Result<Spec> {
    upsampled(self_, output_size, 1)
}

/// An image of another size.
pub fn upsampled2d(self_: &Dense, output_size: &[i64]) -> Result<Spec> {
    upsampled(self_, output_size, 2)
}

/// A volume of another size.
pub fn upsampled3d(self_: &Dense, output_size: &[i64]) -> Result<Spec> {
    upsampled(self_, output_size, 3)
}

fn upsampled_backward(grad_output: &Dense, output_size: &[i64], input_size: &[i64], spatial: usize) -> Result<Spec> {
    for (what, sizes, wanted) in [("output_size", output_size, spatial), ("input_size", input_size, spatial + 2)] {
        ensure!(
            sizes.len() == wanted,
            Runtime,
            "It is expected {what} equals to {wanted}, but got size {}",
            sizes.len()
        );
    }
    check_filled(&input_size[2..], output_size)?;
    ensure!(
        input_size.iter().all(|&size| size >= 0),
        Runtime,
        "expected an input_size without negative numbers, but got {}",
        format_sizes(input_size)
    );
    let (wanted, found) = (with_spatial(input_size, output_size), grad_output.sizes());
    ensure!(
        found.len() == wanted.len(),
        Runtime,
        "Expected grad_output to be a tensor of dimension {} but got: dimension {}",
        wanted.len(),
        found.len()
    );
    for (dim, (wanted, found)) in wanted.iter().zip(found).enumerate() {
        // The messages for sequences differ.
        ensure!(
            found == wanted || spatial != 1,
            Runtime,
            "Expected a tensor of dimension 3 and tensor.size[{dim}] == {wanted} but got: dimension 3 and \
             tensor.size[{dim}] = {found}"
        );
        ensure!(
            found == wanted,
            Runtime,
            "Expected grad_output to have the same shape as output; output.size({dim}) = {wanted} but got \
             grad_output.size({dim}) = {found}"
        );
    }
    formatted(input_size, grad_output.dtype, &[grad_output])
}

/// The gradient of a sequence of another length has the size of the input.
pub fn upsampled1d_backward(grad_output: &Dense, output_size: &[i64], input_size: &[i64]) -> Result<Spec> {
    upsampled_backward(grad_output, output_size, input_size, 1)
}

/// The gradient of an image of another size has the size of the input.
pub fn upsampled2d_backward(grad_output: &Dense, output_size: &[i64], input_size: &[i64]) -> Result<Spec> {
    upsampled_backward(grad_output, output_size, input_size, 2)
}

/// The gradient of a volume of another size has the size of the input.
pub fn upsampled3d_backward(grad_output: &Dense, output_size: &[i64], input_size: &[i64]) -> Result<Spec> {
    upsampled_backward(grad_output, output_size, input_size, 3)
}

/// Padding mode of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Border {
    Mirrored,
    Repeated,
}

/// Sizes with padding, whose widths are pairs from the last dimension on.
fn padded_sizes(sizes: &[i64], padding: &[i64], border: Border) -> Result<SmallVec<[i64; 5]>> {
    let mut out: SmallVec<[i64; 5]> = SmallVec::from_slice(sizes);
    for (nth, widths) in padding.chunks_exact(2).enumerate() {
        let dim = sizes.len() - 1 - nth;
        let size = sizes[dim];
        if border == Border::Mirrored {
            ensure!(
                widths.iter().all(|&width| width < size),
                Runtime,
                "Argument #{}: Padding size should be less than the corresponding input dimension, but got: padding \
                 ({}, {}) at dimension {dim} of input {}",
                4 + 2 * nth,
                widths[0],
                widths[1],
                format_sizes(sizes)
            );
        }
        out[dim] = size.saturating_add(widths[0]).saturating_add(widths[1]);
        ensure!(
            out[dim] >= 1,
            Runtime,
            "input ({}) is too small. Calculated output size {} at dimension {dim}",
            format_sizes(sizes),
            out[dim]
        );
    }
    Ok(out)
}

fn padded(op: &str, self_: &Dense, padding: &[i64], spatial: usize, border: Border) -> Result<Spec> {
    ensure!(
        padding.len() == 2 * spatial,
        Runtime,
        "padding size is expected to be {}, but got: {}",
        2 * spatial,
        padding.len()
    );
    check_image(op, self_, spatial)?;
    formatted(&padded_sizes(self_.sizes(), padding, border)?, self_.dtype, &[self_])
}

fn padded_backward(
    op: &str,
    grad: &Dense,
    self_: &Dense,
    padding: &[i64],
    spatial: usize,
    border: Border,
) -> Result<Spec> {
    let wanted = padded(op, self_, padding, spatial, border)?;
    ensure!(
        grad.sizes() == &*wanted.sizes && grad.dtype == self_.dtype,
        Runtime,
        "{op}: expected grad_output of shape {}, but got {}",
        format_sizes(&wanted.sizes),
        grad.describe()
    );
    formatted(self_.sizes(), self_.dtype, &[self_])
}

macro_rules! paddings {
    ($($name:ident $backward:ident: $spatial:literal $border:ident;)*) => {
        $(
            /// Padding of this many elements on both sides of the last dimensions.
            pub fn $name(self_: &Dense, padding: &[i64]) -> Result<Spec> {
                padded(stringify!($name), self_, padding, $spatial, Border::$border)
            }

            /// As the input.
            pub fn $backward(grad: &Dense, self_: &Dense, padding: &[i64]) -> Result<Spec> {
                padded_backward(stringify!($backward), grad, self_, padding, $spatial, Border::$border)
            }
        )*
    };
}

paddings! {
    reflection_pad1d reflection_pad1d_backward: 1 Mirrored;
    reflection_pad2d reflection_pad2d_backward: 2 Mirrored;
    reflection_pad3d reflection_pad3d_backward: 3 Mirrored;
    replication_pad1d replication_pad1d_backward: 1 Repeated;
    replication_pad2d replication_pad2d_backward: 2 Repeated;
    replication_pad3d replication_pad3d_backward: 3 Repeated;
}

/// How a kernel slides over an image. The number of `positions` may be zero, or negative.
struct Columns {
    kernel: Spatial,
    dilation: Spatial,
    padding: Spatial,
    stride: Spatial,
    positions: [i64; 2],
}

fn walk(
    op: &str,
    image: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Columns> {
    let (kernel, dilation) = (each(op, "kernel_size", kernel_size, 2)?, each(op, "dilation", dilation, 2)?);
    let (padding, stride) = (each(op, "padding", padding, 2)?, each(op, "stride", stride, 2)?);
    let words =
        [("kernel size", "kernel", &kernel), ("dilation", "dilation", &dilation), ("stride", "stride", &stride)];
    for (what, name, values) in words {
        ensure!(
            values.iter().all(|&value| value > 0),
            Runtime,
            "{what} should be greater than zero, but got {name}_height: {} {name}_width: {}",
            values[0],
            values[1]
        );
    }
    ensure!(
        padding.iter().all(|&value| value >= 0),
        Runtime,
        "padding should be non-negative, but got pad_height: {} pad_width: {}",
        padding[0],
        padding[1]
    );
    let position = |dim: usize| {
        let reach = dilation[dim].saturating_mul(kernel[dim] - 1);
        let extent = image[dim].saturating_add(padding[dim].saturating_mul(2)).saturating_sub(reach).saturating_sub(1);
        extent.div_euclid(stride[dim]) + 1
    };
    let positions = [position(0), position(1)];
    Ok(Columns { kernel, dilation, padding, stride, positions })
}

/// How a kernel slides over an image, for the loops.
pub(crate) fn columns(
    op: &str,
    image: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<rushlight_cpu::unfold::Steps> {
    let Columns { kernel, dilation, padding, stride, positions } =
        walk(op, image, kernel_size, dilation, padding, stride)?;
    ensure!(
        positions.iter().all(|&count| count > 0),
        Runtime,
        "Given input with spatial size ({}, {}), kernel_size=({}, {}), dilation=({}, {}), padding=({}, {}), calculated \
         shape of the array of sliding blocks as ({}, {}), but its components must be at least one.",
        image[0],
        image[1],
        kernel[0],
        kernel[1],
        dilation[0],
        dilation[1],
        padding[0],
        padding[1],
        positions[0],
        positions[1]
    );
    let unsigned = |values: &[i64]| [values[0] as usize, values[1] as usize];
    Ok(rushlight_cpu::unfold::Steps {
        kernel: unsigned(&kernel),
        dilation: unsigned(&dilation),
        padding: unsigned(&padding),
        stride: unsigned(&stride),
        positions: unsigned(&positions),
    })
}

/// A column for each position of a kernel.
pub fn im2col(self_: &Dense, kernel_size: &[i64], dilation: &[i64], padding: &[i64], stride: &[i64]) -> Result<Spec> {
    check_image("im2col", self_, 2)?;
    let sizes = self_.sizes();
    let steps = columns("im2col", &sizes[sizes.len() - 2..], kernel_size, dilation, padding, stride)?;
    let mut out: SmallVec<[i64; 5]> = SmallVec::from_slice(&sizes[..sizes.len() - 2]);
    if let Some(channels) = out.last_mut() {
        *channels = channels.saturating_mul(steps.kernel[0].saturating_mul(steps.kernel[1]) as i64);
    }
    out.push(steps.positions[0].saturating_mul(steps.positions[1]) as i64);
    Ok(Spec::new(&out, self_.dtype, self_.device))
}

/// The image from which columns were extracted.
pub fn col2im(
    self_: &Dense,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<Spec> {
    let image = each("col2im", "output_size", output_size, 2)?;
    ensure!(
        image.iter().all(|&size| size > 0),
        Runtime,
        "output_size should be greater than zero, but got output_height: {} output_width: {}",
        image[0],
        image[1]
    );
    let sizes = self_.sizes();
    let filled = matches!(sizes.len(), 2 | 3) && sizes[sizes.len() - 2..].iter().all(|&size| size != 0);
    if !filled {
        bail!(
            Runtime,
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for \
             input, but got: {}",
            format_sizes(sizes)
        );
    }
    let steps = walk("col2im", &image, kernel_size, dilation, padding, stride)?;
    let taps = steps.kernel[0].saturating_mul(steps.kernel[1]);
    let (rows, length) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
    ensure!(
        rows % taps == 0,
        Runtime,
        "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={rows} \
         and kernel_size=({}, {}).",
        steps.kernel[0],
        steps.kernel[1]
    );
    let [down, across] = steps.positions;
    let blocks = down.saturating_mul(across);
    ensure!(
        length == blocks && down > 0,
        Runtime,
        "Given output_size=({}, {}), kernel_size=({}, {}), dilation=({}, {}), padding=({}, {}), stride=({}, {}), expected \
         size of input's dimension 2 to match the calculated number of sliding blocks {down} * {across} = {blocks}, but \
         got input.size(2)={length}.",
        image[0],
        image[1],
        steps.kernel[0],
        steps.kernel[1],
        steps.dilation[0],
        steps.dilation[1],
        steps.padding[0],
        steps.padding[1],
        steps.stride[0],
        steps.stride[1]
    );
    let mut out: SmallVec<[i64; 5]> = SmallVec::from_slice(&sizes[..sizes.len() - 2]);
    out.extend([rows / taps, image[0], image[1]]);
    Ok(Spec::new(&out, self_.dtype, self_.device))
}

fn check_grid(image: &[i64], grid: &Dense, orders: &[i64]) -> Result<()> {
    let spatial = image.len().saturating_sub(2);
    let places = grid.ndim() == image.len();
    ensure!(
        matches!(spatial, 2 | 3) && places,
        Runtime,
        "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes {} and \
         grid with sizes {}",
        format_sizes(image),
        format_sizes(grid.sizes())
    );
    ensure!(
        grid.sizes()[0] == image[0],
        Runtime,
        "grid_sampler(): expected grid and input to have same batch size, but got input with sizes {} and grid with sizes {}",
        format_sizes(image),
        format_sizes(grid.sizes())
    );
    ensure!(
        grid.sizes()[spatial + 1] == spatial as i64,
        Runtime,
        "grid_sampler(): expected grid to have size {spatial} in last dimension, but got grid with sizes {}",
        format_sizes(grid.sizes())
    );
    ensure!(
        image[2..].iter().all(|&size| size > 0),
        Runtime,
        "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {}",
        format_sizes(image)
    );
    ensure!(
        orders.len() == spatial && orders.iter().all(|order| (0..64).contains(order)),
        Runtime,
        "grid_sampler(): expected an order for each of {spatial} dimensions, but got {}",
        format_sizes(orders)
    );
    Ok(())
}

fn check_grid_dtype(image: &Dense, grid: &Dense) -> Result<()> {
    ensure!(
        image.dtype == grid.dtype,
        Runtime,
        "grid_sampler(): expected input and grid to have same dtype, but input has {} and grid has {}",
        image.dtype,
        grid.dtype
    );
    Ok(())
}

/// The image sampled at the points of a grid.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn grid_sample(
    input: &Dense,
    grid: &Dense,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    orders: &[i64],
) -> Result<Spec> {
    check_grid(input.sizes(), grid, orders)?;
    check_grid_dtype(input, grid)?;
    rushlight_cpu::grid::Sampling::from_codes(interpolation_mode, padding_mode, align_corners)?;
    let mut sizes: SmallVec<[i64; 5]> = SmallVec::from_slice(&input.sizes()[..2]);
    sizes.extend_from_slice(&grid.sizes()[1..grid.ndim() - 1]);
    formatted(&sizes, input.dtype, &[input])
}

/// The gradient with respect to the image has its size, which is given.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn grid_spread(
    grad_output: &Dense,
    input_size: &[i64],
    grid: &Dense,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    orders: &[i64],
) -> Result<Spec> {
    check_grid(input_size, grid, orders)?;
    check_grid_dtype(grad_output, grid)?;
    rushlight_cpu::grid::Sampling::from_codes(interpolation_mode, padding_mode, align_corners)?;
    let places = &grid.sizes()[1..grid.ndim() - 1];
    ensure!(
        grad_output.ndim() == input_size.len()
            && grad_output.sizes()[..2] == input_size[..2]
            && grad_output.sizes()[2..] == *places
            && input_size[1] >= 0,
        Runtime,
        "grid_sampler(): a gradient of shape {} does not belong to an input of size {} and a grid of shape {}",
        format_sizes(grad_output.sizes()),
        format_sizes(input_size),
        format_sizes(grid.sizes())
    );
    formatted(input_size, grad_output.dtype, &[grad_output])
}
