//! Kernels on images: resizing, padding, columns.

use super::access::array;
use super::rules::spatial::each;
use super::rules::vision::{Border, columns};
use crate::dense::Dense;
use rushlight_base::{DType, MemoryFormat, Result, SmallVec, bail};
use rushlight_cpu::grid::{self, Sampling};
use rushlight_cpu::resample::{self, Filter, Scale, Taps, Windows, interpolation, mirrored, nearest, repeated};
use rushlight_cpu::unfold;

/// Interpolation mode.
#[derive(Clone, Copy)]
enum Mode {
    Nearest { exact: bool },
    Between { filter: Filter, align_corners: bool },
}

/// Whether a dimension of sizes `from` and `to` uses its scale factor: PyTorch's kernels ignore it in some of the
/// dimensions whose size stays or doubles. `by_index` says whether nearest-neighbour interpolation computes these from the
/// index.
fn uses_factor(mode: Mode, from: i64, to: i64, by_index: bool, dtype: DType) -> bool {
    match mode {
        Mode::Nearest { exact } => exact || !by_index || (to != from && to != 2 * from),
        Mode::Between { filter: Filter::Linear, .. } => to != from,
        Mode::Between { .. } => to != from || dtype != DType::U8,
    }
}

/// Whether PyTorch computes `out` by a kernel that finds the nearest elements from indices.
fn is_by_index(out: &Dense, self_: &Dense, spatial: usize) -> bool {
    let is_last = |format| self_.sizes()[1] > 3 && self_.geometry.is_contiguous_in(format);
    match spatial {
        1 => false,
        2 => is_last(MemoryFormat::ChannelsLast) || out.sizes()[2] + out.sizes()[3] <= 128,
        _ => is_last(MemoryFormat::ChannelsLast3d),
    }
}

/// The scale factors of the dimensions that use them.
fn used_factors(
    input: &[i64],
    output: &[i64],
    scales: &[Option<f64>],
    is_used: impl Fn(i64, i64) -> bool,
) -> SmallVec<[Option<f64>; 3]> {
    let first = input.len() - scales.len();
    let factor =
        |(at, &factor): (usize, &Option<f64>)| factor.filter(|_| is_used(input[first + at], output[first + at]));
    scales.iter().enumerate().map(factor).collect()
}

/// Tables for the spatial dimensions, from the sizes of the input and the output.
fn taps(mode: Mode, input: &[i64], output: &[i64], scales: &[Option<f64>], dtype: DType) -> Result<[Taps; 3]> {
    let spatial = scales.len();
    let mut taps = [Taps::none(), Taps::none(), Taps::none()];
    for dim in 0..spatial {
        let size = |sizes: &[i64]| sizes[sizes.len() - spatial + dim] as usize;
        let (from, to, factor) = (size(input), size(output), scales[dim]);
        taps[3 - spatial + dim] = match mode {
            Mode::Nearest { exact } => nearest(to, from, factor, exact)?,
            Mode::Between { filter, align_corners } => {
                let single = dtype != DType::F64;
                // Rounded bit for bit like PyTorch's: coordinates in an image do not need the image's dtype.
                let weights = if spatial == 2 && filter == Filter::Linear { dtype.opmath() } else { dtype };
                interpolation(to, from, filter, Scale { align_corners, factor, single, weights })?
            }
        };
    }
    Ok(taps)
}

fn upsample(out: &Dense, self_: &Dense, mode: Mode, scales: &[Option<f64>]) -> Result<()> {
    let by_index = is_by_index(out, self_, scales.len());
    let scales =
        &used_factors(self_.sizes(), out.sizes(), scales, |from, to| uses_factor(mode, from, to, by_index, out.dtype));
    let taps = taps(mode, self_.sizes(), out.sizes(), scales, out.dtype)?;
    match mode {
        Mode::Nearest { .. } => resample::pick(&array(out), &array(self_), &taps, scales.len()),
        Mode::Between { .. } if out.dtype == DType::U8 && scales.len() == 2 => {
            resample::interpolate_bytes(&array(out), &array(self_), &taps)
        }
        Mode::Between { .. } => resample::interpolate(&array(out), &array(self_), &taps, scales.len()),
    }
}

fn upsample_backward(out: &Dense, grad: &Dense, mode: Mode, scales: &[Option<f64>]) -> Result<()> {
    // The gradient of a copy is a copy.
    let is_copy = out.sizes() == grad.sizes();
    let is_cubic = matches!(mode, Mode::Between { filter: Filter::Cubic, .. });
    let scales = &used_factors(out.sizes(), grad.sizes(), scales, |from, to| {
        if is_cubic { !is_copy } else { uses_factor(mode, from, to, true, out.dtype) }
    });
    let taps = taps(mode, out.sizes(), grad.sizes(), scales, out.dtype)?;
    resample::spread(&array(out), &array(grad), &taps, scales.len())
}

macro_rules! nearest {
    ($($name:ident $backward:ident: $exact:literal $($scale:ident)+;)*) => {
        $(
            /// out = nearest-neighbour interpolation
            pub fn $name(out: &Dense, self_: &Dense, _output_size: &[i64], $($scale: Option<f64>),+) -> Result<()> {
                upsample(out, self_, Mode::Nearest { exact: $exact }, &[$($scale),+])
            }

            /// out = the gradient by self
            pub fn $backward(
                out: &Dense,
                grad: &Dense,
                _output_size: &[i64],
                _input_size: &[i64],
                $($scale: Option<f64>),+
            ) -> Result<()> {
                upsample_backward(out, grad, Mode::Nearest { exact: $exact }, &[$($scale),+])
            }
        )*
    };
}

nearest! {
    upsample_nearest1d upsample_nearest1d_backward: false scales;
    upsample_nearest2d upsample_nearest2d_backward: false scales_h scales_w;
    upsample_nearest3d upsample_nearest3d_backward: false scales_d scales_h scales_w;
    _upsample_nearest_exact1d _upsample_nearest_exact1d_backward: true scales;
    _upsample_nearest_exact2d _upsample_nearest_exact2d_backward: true scales_h scales_w;
    _upsample_nearest_exact3d _upsample_nearest_exact3d_backward: true scales_d scales_h scales_w;
}

macro_rules! between {
    ($($name:ident $backward:ident: $filter:ident $($scale:ident)+;)*) => {
        $(
            /// out = linear or cubic interpolation
            pub fn $name(
                out: &Dense,
                self_: &Dense,
                _output_size: &[i64],
                align_corners: bool,
                $($scale: Option<f64>),+
            ) -> Result<()> {
                upsample(out, self_, Mode::Between { filter: Filter::$filter, align_corners }, &[$($scale),+])
            }

            /// out = the gradient by self
            #[allow(clippy::too_many_arguments)] // the operator's
            pub fn $backward(
                out: &Dense,
                grad: &Dense,
                _output_size: &[i64],
                _input_size: &[i64],
                align_corners: bool,
                $($scale: Option<f64>),+
            ) -> Result<()> {
                upsample_backward(out, grad, Mode::Between { filter: Filter::$filter, align_corners }, &[$($scale),+])
            }
        )*
    };
}

between! {
    upsample_linear1d upsample_linear1d_backward: Linear scales;
    upsample_bilinear2d upsample_bilinear2d_backward: Linear scales_h scales_w;
    upsample_trilinear3d upsample_trilinear3d_backward: Linear scales_d scales_h scales_w;
    upsample_bicubic2d upsample_bicubic2d_backward: Cubic scales_h scales_w;
}

/// Tables of height and width for antialiasing, from the sizes of the input and the output.
fn windows(mode: Mode, input: &[i64], output: &[i64], scales: [Option<f64>; 2], dtype: DType) -> Result<[Windows; 2]> {
    let Mode::Between { filter, align_corners } = mode else {
        bail!(Runtime, "antialiasing is not supported for nearest-neighbour interpolation")
    };
    // Bytes are computed with integer weights derived from doubles.
    let single = dtype == DType::F32;
    let table = |dim: usize| {
        let scale = Scale { align_corners, factor: scales[dim], single, weights: dtype };
        Windows::new(output[2 + dim] as usize, input[2 + dim] as usize, filter, scale)
    };
    Ok([table(0)?, table(1)?])
}

fn upsample_smoothly(out: &Dense, self_: &Dense, mode: Mode, scales: [Option<f64>; 2]) -> Result<()> {
    // A dimension whose size stays is left as it is.
    let factor = |dim: usize| scales[dim].filter(|_| self_.sizes()[2 + dim] != out.sizes()[2 + dim]);
    let [down, across] = windows(mode, self_.sizes(), out.sizes(), [factor(0), factor(1)], out.dtype)?;
    if out.dtype == DType::U8 {
        let taps = [Taps::none(), down.taps()?, across.taps()?];
        return resample::interpolate_bytes(&array(out), &array(self_), &taps);
    }
    resample::interpolate_smoothly(&array(out), &array(self_), [&down, &across])
}

fn upsample_smoothly_backward(
    out: &Dense,
    grad: &Dense,
    mode: Mode,
    scales: [Option<f64>; 2],
    kernel: &'static str,
) -> Result<()> {
    let [down, across] = windows(mode, out.sizes(), grad.sizes(), scales, out.dtype)?;
    resample::spread_smoothly(&array(out), &array(grad), [&down, &across], kernel)
}

macro_rules! smooth {
    ($($name:ident $backward:ident: $filter:ident $kernel:literal;)*) => {
        $(
            /// out = interpolation with antialiasing
            pub fn $name(
                out: &Dense,
                self_: &Dense,
                _output_size: &[i64],
                align_corners: bool,
                scales_h: Option<f64>,
                scales_w: Option<f64>,
            ) -> Result<()> {
                let mode = Mode::Between { filter: Filter::$filter, align_corners };
                upsample_smoothly(out, self_, mode, [scales_h, scales_w])
            }

            /// out = the gradient by self
            pub fn $backward(
                out: &Dense,
                grad: &Dense,
                _output_size: &[i64],
                _input_size: &[i64],
                align_corners: bool,
                scales_h: Option<f64>,
                scales_w: Option<f64>,
            ) -> Result<()> {
                let mode = Mode::Between { filter: Filter::$filter, align_corners };
                upsample_smoothly_backward(out, grad, mode, [scales_h, scales_w], $kernel)
            }
        )*
    };
}

smooth! {
    _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward: Linear "upsample_bilinear2d_aa_backward_cpu";
    _upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward: Cubic "upsample_bicubic2d_aa_backward_cpu";
}

/// Tables of padding: from the sizes of the image and those with padding.
fn borders(image: &[i64], padded: &[i64], padding: &[i64], border: Border) -> Result<[Taps; 3]> {
    let mut taps = [Taps::none(), Taps::none(), Taps::none()];
    for (nth, widths) in padding.chunks_exact(2).enumerate() {
        let size = |sizes: &[i64]| sizes[sizes.len() - 1 - nth] as usize;
        let make = match border {
            Border::Mirrored => mirrored,
            Border::Repeated => repeated,
        };
        taps[2 - nth] = make(size(padded), size(image), widths[0])?;
    }
    Ok(taps)
}

macro_rules! paddings {
    ($($name:ident $backward:ident: $border:ident;)*) => {
        $(
            /// out = self padded by reflection or replication
            pub fn $name(out: &Dense, self_: &Dense, padding: &[i64]) -> Result<()> {
                let taps = borders(self_.sizes(), out.sizes(), padding, Border::$border)?;
                resample::pick(&array(out), &array(self_), &taps, padding.len() / 2)
            }

            /// out = the gradient by self
            pub fn $backward(out: &Dense, grad: &Dense, _self: &Dense, padding: &[i64]) -> Result<()> {
                let taps = borders(out.sizes(), grad.sizes(), padding, Border::$border)?;
                resample::spread(&array(out), &array(grad), &taps, padding.len() / 2)
            }
        )*
    };
}

paddings! {
    reflection_pad1d reflection_pad1d_backward: Mirrored;
    reflection_pad2d reflection_pad2d_backward: Mirrored;
    reflection_pad3d reflection_pad3d_backward: Mirrored;
    replication_pad1d replication_pad1d_backward: Repeated;
    replication_pad2d replication_pad2d_backward: Repeated;
    replication_pad3d replication_pad3d_backward: Repeated;
}

/// out = the elements of the windows, as columns
pub fn im2col(
    out: &Dense,
    self_: &Dense,
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<()> {
    let image = &self_.sizes()[self_.ndim() - 2..];
    let steps = columns("im2col", image, kernel_size, dilation, padding, stride)?;
    unfold::unfold(&array(out), &array(self_), &steps)
}

/// out = the columns accumulated at their positions
pub fn col2im(
    out: &Dense,
    self_: &Dense,
    output_size: &[i64],
    kernel_size: &[i64],
    dilation: &[i64],
    padding: &[i64],
    stride: &[i64],
) -> Result<()> {
    let image = each("col2im", "output_size", output_size, 2)?;
    let steps = columns("col2im", &image, kernel_size, dilation, padding, stride)?;
    unfold::fold(&array(out), &array(self_), &steps)
}

/// out = the image sampled at the points of the grid
pub fn grid_sample(
    out: &Dense,
    input: &Dense,
    grid: &Dense,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    orders: &[i64],
) -> Result<()> {
    let sampling = Sampling::from_codes(interpolation_mode, padding_mode, align_corners)?;
    if !out.is_on_host() {
        return super::grid::sample(out, input, grid, sampling, orders);
    }
    grid::sample(&array(out), &array(input), &array(grid), sampling, orders)
}

/// out = grad accumulated at the points at which the image was sampled
#[allow(clippy::too_many_arguments)] // the operator's
pub fn grid_spread(
    out: &Dense,
    grad_output: &Dense,
    _input_size: &[i64],
    grid: &Dense,
    interpolation_mode: i64,
    padding_mode: i64,
    align_corners: bool,
    orders: &[i64],
) -> Result<()> {
    let sampling = Sampling::from_codes(interpolation_mode, padding_mode, align_corners)?;
    if !out.is_on_host() {
        return super::grid::spread(out, grad_output, grid, sampling, orders);
    }
    grid::spread(&array(out), &array(grad_output), &array(grid), sampling, orders)
}
