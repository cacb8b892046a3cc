//! `quantized::conv1d`, `conv2d`, `conv3d` and their packed parameters.

use super::linear::{content, packed_bias, packed_weight};
use super::numbers::{floats, integers_of};
use super::product::{Requantize, Rows, check_output, input, products, rows};
use super::{is_relu, one};
use crate::dispatch::{Args, Object, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, format_sizes, list};
use std::sync::Arc;

/// The class of the parameters of one and two dimensions.
pub(super) const CLASS_2D: &str = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
/// The class of the parameters of three dimensions.
pub(super) const CLASS_3D: &str = "__torch__.torch.classes.quantized.Conv3dPackedParamsBase";

/// The parameters of a convolution.
pub(super) struct Convolution {
    weight: Tensor,
    rows: Rows,
    bias: Option<Tensor>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
}

fn prepacked(name: &str, args: &Args<'_>, dims: usize, class: &str) -> Result<Vec<Value>> {
    let weight = args.tensor(0)?;
    let sizes = weight.sizes();
    ensure!(
        sizes.len() == dims + 2 && weight.numel() > 0,
        Runtime,
        "{name}: Weights are expected to have {} dimensions, but got {}",
        dims + 2,
        format_sizes(&sizes)
    );
    let list = |index: usize, kind: &str, least: i64| -> Result<Vec<i64>> {
        let values = args.ints(index)?;
        ensure!(
            values.len() == dims && values.iter().all(|&value| value >= least),
            Runtime,
            "{name}: {kind} should contain {dims} elements of at least {least} for a {dims}D convolution, but got {}",
            format_sizes(&values)
        );
        Ok(values.to_vec())
    };
    let (stride, padding, dilation) = (list(2, "stride", 1)?, list(3, "padding", 0)?, list(4, "dilation", 1)?);
    let groups = args.int(5)?;
    ensure!(
        groups > 0 && sizes[0] % groups == 0,
        Runtime,
        "{name}: {} output channels cannot be divided into {groups} groups",
        sizes[0]
    );
    let (rows, bias) = (rows(name, weight)?, packed_bias(name, args.tensor_opt(1)?, weight)?);
    let weight = packed_weight(name, weight)?;
    one(Object::new(class, Convolution { weight, rows, bias, stride, padding, dilation, groups })?)
}

/// `quantized::conv1d_prepack`
pub(super) fn prepack_1d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 1, CLASS_2D)
}

/// `quantized::conv2d_prepack`
pub(super) fn prepack_2d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 2, CLASS_2D)
}

/// `quantized::conv3d_prepack`
pub(super) fn prepack_3d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 3, CLASS_3D)
}

/// `quantized::conv2d_unpack` and similar
pub(super) fn unpack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let packed = content::<Convolution>(name, args, 0)?;
    Ok(vec![ops::clone(&packed.weight, None)?.into(), packed.bias.clone().map_or(Value::None, Value::from)])
}

/// `quantized::conv2d_stride` and similar
pub(super) fn parameter(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let packed = content::<Convolution>(name, args, 0)?;
    match name.rsplit_once('_').map_or("", |(_, parameter)| parameter) {
        "stride" => one(&packed.stride[..]),
        "dilation" => one(&packed.dilation[..]),
        "groups" => one(packed.groups),
        "transpose" => one(0i64),
        _ if name.ends_with("output_padding") => one(&vec![0i64; packed.stride.len()][..]),
        _ => one(&packed.padding[..]),
    }
}

/// Sizes with three spatial dimensions: missing ones come first, with one element.
fn three(values: &[i64], missing: i64) -> [i64; 3] {
    let mut all = [missing; 3];
    for (to, from) in all.iter_mut().rev().zip(values.iter().rev()) {
        *to = *from;
    }
    all
}

/// A convolution of one image in one group, as rows of a matrix.
struct Window {
    size: [i64; 3],
    kernel: [i64; 3],
    result: [i64; 3],
    stride: [i64; 3],
    padding: [i64; 3],
    dilation: [i64; 3],
}

impl Window {
    /// A row for each position of the result: the inputs below the kernel, channel by channel. Padding is the zero point, a
    /// distance of 0.
    fn rows(&self, image: &[i16]) -> Result<Vec<i16>> {
        let plane = self.size.iter().product::<i64>().max(1) as usize;
        let taps = (self.kernel.iter().product::<i64>().max(0) as usize) * (image.len() / plane);
        let places = self.result.iter().product::<i64>().max(0) as usize;
        let mut rows = list::with_capacity(taps.saturating_mul(places))?;
        each(self.result, |at| {
            for channel in image.chunks_exact(plane) {
                each(self.kernel, |tap| {
                    let place = |d: usize| at[d] * self.stride[d] - self.padding[d] + tap[d] * self.dilation[d];
                    let place = [place(0), place(1), place(2)];
                    let inside = place.iter().zip(&self.size).all(|(place, size)| (0..*size).contains(place));
                    let index = (place[0] * self.size[1] + place[1]) * self.size[2] + place[2];
                    let value = if inside { channel.get(index as usize).copied() } else { None };
                    rows.push(value.unwrap_or(0));
                });
            }
        });
        Ok(rows)
    }
}

/// Calls `visit` for each index of three dimensions.
fn each(sizes: [i64; 3], mut visit: impl FnMut([i64; 3])) {
    for a in 0..sizes[0] {
        for b in 0..sizes[1] {
            for c in 0..sizes[2] {
                visit([a, b, c]);
            }
        }
    }
}

fn convolved(name: &str, args: &Args<'_>, dims: usize) -> Result<Vec<Value>> {
    let (x, packed) = (args.tensor(0)?, content::<Convolution>(name, args, 1)?);
    // The older overloads repeat the parameters, which are packed.
    let at = args.0.len().saturating_sub(2);
    let (scale, zero_point) = (args.float(at)?, args.int(at + 1)?);
    check_output(name, scale, zero_point)?;
    let (sizes, weight) = (x.sizes(), packed.weight.sizes());
    ensure!(
        weight.len() == dims + 2 && sizes.len() == dims + 2,
        Runtime,
        "{name}: Expected activation tensor to have {} dimensions and a weight of a {dims}D convolution, but got {} and {}",
        dims + 2,
        format_sizes(&sizes),
        format_sizes(&weight)
    );
    let (batch, channels) = (sizes[0], sizes[1]);
    ensure!(
        channels == weight[1] * packed.groups,
        Runtime,
        "{name}: Given groups={}, weight of size {}, expected input {} to have {} channels",
        packed.groups,
        format_sizes(&weight),
        format_sizes(&sizes),
        weight[1] * packed.groups
    );
    let (size, kernel) = (three(&sizes[2..], 1), three(&weight[2..], 1));
    let (stride, padding, dilation) = (three(&packed.stride, 1), three(&packed.padding, 0), three(&packed.dilation, 1));
    let mut result = [0i64; 3];
    for d in 0..3 {
        let reach = dilation[d].checked_mul(kernel[d] - 1).and_then(|reach| reach.checked_add(1));
        let room = padding[d].checked_mul(2).and_then(|padding| padding.checked_add(size[d]));
        let (Some(reach), Some(room)) = (reach, room) else {
            bail!(Runtime, "{name}: padding or dilation is too large")
        };
        ensure!(
            room >= reach,
            Runtime,
            "{name}: Kernel size can't be greater than actual input size: {reach} and {room} in a spatial dimension"
        );
        result[d] = (room - reach) / stride[d] + 1;
    }
    let (values, input_scale) = input(name, x)?;
    let window = Window { size, kernel, result, stride, padding, dilation };
    let count = rushlight_base::numel(&[batch.max(1), weight[0], result[0], result[1], result[2]])? as usize;
    let filters = weight[0] as usize;
    let places = count / (filters * batch.max(1) as usize).max(1);
    let groups = packed.groups as usize;
    let depth = (packed.rows.values.len() / filters.max(1)).max(1);
    let per_group = filters / groups;
    let image_length = (values.len() / batch.max(1) as usize).max(1);
    let mut sums = list::filled(batch as usize * places * filters, 0i32)?;
    for (image, to) in values.chunks_exact(image_length).zip(sums.chunks_mut((places * filters).max(1))) {
        let inputs = image.chunks_exact((image_length / groups).max(1));
        let filters_of = packed.rows.values.chunks_exact(per_group * depth);
        for (group, (part, weights)) in inputs.zip(filters_of).enumerate() {
            let found = products(&window.rows(part)?, weights, depth)?;
            for (row, sums) in to.chunks_mut(filters).zip(found.chunks_exact(per_group)) {
                if let Some(place) = row.get_mut(group * per_group..(group + 1) * per_group) {
                    place.copy_from_slice(sums);
                }
            }
        }
    }
    let bias = packed.bias.as_ref().map(floats).transpose()?;
    let by = Requantize {
        input_scale,
        scales: &packed.rows.scales,
        bias: bias.as_deref(),
        scale,
        zero_point,
        relu: is_relu(name),
    };
    // Channels are the last dimension in memory, as of every quantized convolution.
    let mut last: Vec<i64> = vec![batch];
    last.extend(&result[3 - dims..]);
    last.push(weight[0]);
    let integers = integers_of(&by.integers(&sums)?, &last, DType::QU8)?;
    let mut order: Vec<i64> = vec![0, dims as i64 + 1];
    order.extend(1..=dims as i64);
    let integers = ops::permute(&integers, &order)?;
    let integers = if dims == 1 { ops::contiguous(&integers, MemoryFormat::Contiguous)? } else { integers };
    one(Tensor::from_integers(&integers, Arc::new(Quantizer::PerTensor { scale, zero_point }))?)
}

/// `quantized::conv1d`, `quantized::conv1d_relu`
pub(super) fn conv1d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    convolved(name, args, 1)
}

/// `quantized::conv2d`, `quantized::conv2d_relu`
pub(super) fn conv2d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    convolved(name, args, 2)
}

/// `quantized::conv3d`, `quantized::conv3d_relu`
pub(super) fn conv3d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    convolved(name, args, 3)
}
