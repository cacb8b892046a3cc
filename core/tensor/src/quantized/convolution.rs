//! `quantized::conv1d`, `conv2d`, `conv3d`, their transposed and dynamic forms, and their packed parameters.

use super::create::dynamic_range;
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

/// The parameters of a convolution. One of one dimension is packed as two, the first of size 1.
pub(super) struct Convolution {
    pub weight: Tensor,
    rows: Rows,
    pub bias: Option<Tensor>,
    pub steps: Steps,
}

/// What a convolution has besides weight and bias, with two or three numbers for each.
pub(super) struct Steps {
    pub stride: Vec<i64>,
    pub padding: Vec<i64>,
    pub output_padding: Vec<i64>,
    pub dilation: Vec<i64>,
    pub groups: i64,
    pub transposed: bool,
}

impl Steps {
    /// Checks the numbers for a weight of these sizes.
    fn check(&self, name: &str, weight: &[i64]) -> Result<()> {
        let dims = weight.len().saturating_sub(2);
        let lists = [
            ("stride", &self.stride, 1),
            ("padding", &self.padding, 0),
            ("output_padding", &self.output_padding, 0),
            ("dilation", &self.dilation, 1),
        ];
        for (kind, values, least) in lists {
            ensure!(
                values.len() == dims && values.iter().all(|&value| value >= least),
                Runtime,
                "{name}: {kind} should contain {dims} elements of at least {least} for a {dims}D convolution, but got {}",
                format_sizes(values)
            );
        }
        let channels = weight.first().copied().unwrap_or(0);
        ensure!(
            self.groups > 0 && channels % self.groups == 0,
            Runtime,
            "{name}: {channels} channels cannot be divided into {} groups",
            self.groups
        );
        Ok(())
    }
}

impl Convolution {
    /// Packs a weight of two or three dimensions.
    pub fn new(name: &str, weight: &Tensor, bias: Option<&Tensor>, steps: Steps) -> Result<Convolution> {
        let sizes = weight.sizes();
        ensure!(
            matches!(sizes.len(), 4 | 5) && weight.numel() > 0,
            Runtime,
            "{name}: a convolution has a weight of 4 or 5 dimensions, but got {}",
            format_sizes(&sizes)
        );
        steps.check(name, &sizes)?;
        let weight = packed_weight(name, weight)?;
        let by_channel =
            if steps.transposed { by_output_channel(name, &weight, steps.groups)? } else { weight.clone() };
        let (rows, bias) = (rows(name, &by_channel)?, packed_bias(name, bias, &by_channel)?);
        Ok(Convolution { weight, rows, bias, steps })
    }

    /// Output channels.
    fn filters(&self) -> i64 {
        let sizes = self.weight.sizes();
        if self.steps.transposed { sizes[1].saturating_mul(self.steps.groups) } else { sizes[0] }
    }

    /// Input channels.
    fn channels(&self) -> i64 {
        let sizes = self.weight.sizes();
        if self.steps.transposed { sizes[0] } else { sizes[1].saturating_mul(self.steps.groups) }
    }
}

/// The weight of a transposed convolution with its output channels first.
fn by_output_channel(name: &str, weight: &Tensor, groups: i64) -> Result<Tensor> {
    let Some(quantizer) = weight.quantizer() else { bail!(Internal, "{name}: the packed weight is not quantized") };
    ensure!(
        matches!(*quantizer, Quantizer::PerTensor { .. }),
        Runtime,
        "{name}: Per Channel Quantization is currently disabled for transposed conv"
    );
    let sizes = weight.sizes();
    let mut split = vec![groups, sizes[0] / groups];
    split.extend(&sizes[1..]);
    let mut order: Vec<i64> = (0..split.len() as i64).collect();
    order.swap(1, 2);
    let mut joined = vec![groups.saturating_mul(sizes[1]), sizes[0] / groups];
    joined.extend(&sizes[2..]);
    let integers = ops::permute(&ops::reshape(&weight.integers()?, &split)?, &order)?;
    Tensor::from_integers(&ops::contiguous(&ops::reshape(&integers, &joined)?, MemoryFormat::Contiguous)?, quantizer)
}

/// A quantized tensor with a dimension of size 1 before its last.
fn with_dimension(name: &str, tensor: &Tensor) -> Result<Tensor> {
    let Some(quantizer) = tensor.quantizer() else {
        bail!(Runtime, "{name}: expected a quantized tensor, but got {}", tensor.dtype())
    };
    Tensor::from_integers(&ops::unsqueeze(&tensor.integers()?, -2)?, quantizer)
}

/// Numbers of one dimension, as two.
fn two(values: &[i64], missing: i64, dims: usize) -> Vec<i64> {
    let lead = if dims == 1 { Some(missing) } else { None };
    lead.into_iter().chain(values.iter().copied()).collect()
}

fn prepacked(name: &str, args: &Args<'_>, dims: usize, transposed: bool) -> Result<Vec<Value>> {
    let weight = args.tensor(0)?;
    let sizes = weight.sizes();
    ensure!(
        sizes.len() == dims + 2,
        Runtime,
        "{name}: Weights are expected to have {} dimensions, but got {}",
        dims + 2,
        format_sizes(&sizes)
    );
    let list = |index: usize, kind: &str, missing: i64| -> Result<Vec<i64>> {
        let values = args.ints(index)?;
        ensure!(
            values.len() == dims,
            Runtime,
            "{name}: {kind} should contain {dims} elements for a {dims}D convolution, but got {}",
            format_sizes(&values)
        );
        Ok(two(&values, missing, dims))
    };
    let later = usize::from(transposed);
    let steps = Steps {
        stride: list(2, "stride", 1)?,
        padding: list(3, "padding", 0)?,
        output_padding: if transposed { list(4, "output_padding", 0)? } else { vec![0; dims.max(2)] },
        dilation: list(4 + later, "dilation", 1)?,
        groups: args.int(5 + later)?,
        transposed,
    };
    let weight = if dims == 1 { with_dimension(name, weight)? } else { weight.clone() };
    let class = if dims == 3 { CLASS_3D } else { CLASS_2D };
    one(Object::new(class, Convolution::new(name, &weight, args.tensor_opt(1)?, steps)?)?)
}

/// `quantized::conv1d_prepack`
pub(super) fn prepack_1d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 1, false)
}

/// `quantized::conv2d_prepack`
pub(super) fn prepack_2d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 2, false)
}

/// `quantized::conv3d_prepack`
pub(super) fn prepack_3d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 3, false)
}

/// `quantized::conv_transpose1d_prepack`
pub(super) fn prepack_transposed_1d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 1, true)
}

/// `quantized::conv_transpose2d_prepack`
pub(super) fn prepack_transposed_2d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 2, true)
}

/// `quantized::conv_transpose3d_prepack`
pub(super) fn prepack_transposed_3d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    prepacked(name, args, 3, true)
}

/// `quantized::conv2d_unpack` and similar
pub(super) fn unpack(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let packed = content::<Convolution>(name, args, 0)?;
    let mut weight = ops::clone(&packed.weight, None)?;
    if name.contains("1d_")
        && let Some(quantizer) = weight.quantizer()
    {
        weight = Tensor::from_integers(&ops::squeeze_dim(&weight.integers()?, -2)?, quantizer)?;
    }
    Ok(vec![weight.into(), packed.bias.clone().map_or(Value::None, Value::from)])
}

/// `quantized::conv2d_stride` and similar
pub(super) fn parameter(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let steps = &content::<Convolution>(name, args, 0)?.steps;
    match name.rsplit_once('_').map_or("", |(_, parameter)| parameter) {
        "stride" => one(&steps.stride[..]),
        "dilation" => one(&steps.dilation[..]),
        "groups" => one(steps.groups),
        "transpose" => one(i64::from(steps.transposed)),
        _ if name.ends_with("output_padding") => one(&steps.output_padding[..]),
        _ => one(&steps.padding[..]),
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
    transposed: bool,
}

impl Window {
    /// Where a tap reads the input, -1 between elements of a transposed convolution.
    fn place(&self, d: usize, at: i64, tap: i64) -> i64 {
        if !self.transposed {
            return at * self.stride[d] - self.padding[d] + tap * self.dilation[d];
        }
        let spread = at + self.padding[d] - tap * self.dilation[d];
        if spread % self.stride[d] == 0 { spread / self.stride[d] } else { -1 }
    }

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
                    let place = [0, 1, 2].map(|d| self.place(d, at[d], tap[d]));
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

/// The size of a result along a dimension.
fn result_size(
    name: &str,
    packed: &Steps,
    size: i64,
    kernel: i64,
    [stride, padding, output, dilation]: [i64; 4],
) -> Result<i64> {
    let reach = dilation.checked_mul(kernel - 1).and_then(|reach| reach.checked_add(1));
    let around = padding.checked_mul(2);
    let (Some(reach), Some(around)) = (reach, around) else {
        bail!(Runtime, "{name}: padding or dilation is too large")
    };
    if packed.transposed {
        let spread = (size - 1).checked_mul(stride).and_then(|spread| spread.checked_sub(around));
        let size = spread.and_then(|spread| spread.checked_add(reach)).and_then(|spread| spread.checked_add(output));
        return match size {
            Some(size) if size > 0 => Ok(size),
            _ => bail!(Runtime, "{name}: the output would have no elements in a spatial dimension"),
        };
    }
    let Some(room) = around.checked_add(size) else { bail!(Runtime, "{name}: padding is too large") };
    ensure!(
        room >= reach,
        Runtime,
        "{name}: Kernel size can't be greater than actual input size: {reach} and {room} in a spatial dimension"
    );
    Ok((room - reach) / stride + 1)
}

fn convolved(name: &str, args: &Args<'_>, dims: usize) -> Result<Vec<Value>> {
    let (x, packed) = (args.tensor(0)?, content::<Convolution>(name, args, 1)?);
    // The older overloads repeat the parameters, which are packed.
    let at = args.0.len().saturating_sub(2);
    one(run(name, x, packed, dims, (args.float(at)?, args.int(at + 1)?))?)
}

/// The convolution of floats, which are quantized by their range; the result has the same scale and zero point before it
/// becomes floats, as in the engine.
fn dynamic(name: &str, args: &Args<'_>, dims: usize) -> Result<Vec<Value>> {
    let (x, packed) = (args.tensor(0)?, content::<Convolution>(name, args, 1)?);
    ensure!(x.dtype() == DType::F32, Runtime, "{name}: expected scalar type Float but found {}", x.dtype().c10_name());
    let range = dynamic_range(x, (0, 255), args.bool(2)?)?;
    let (scale, zero_point) = (range.scale, i64::from(range.zero_point));
    let x = super::quantized(&ops::detach(x)?, scale, zero_point, DType::QU8)?;
    one(ops::dequantize_self(&run(name, &x, packed, dims, (scale, zero_point))?)?)
}

fn run(name: &str, x: &Tensor, packed: &Convolution, dims: usize, (scale, zero_point): (f64, i64)) -> Result<Tensor> {
    check_output(name, scale, zero_point)?;
    ensure!(
        packed.steps.transposed == name.contains("transpose"),
        Runtime,
        "{name}: the packed parameters belong to a {} convolution",
        if packed.steps.transposed { "transposed" } else { "forward" }
    );
    let given = x.sizes();
    let lead = if dims == 1 { Some(1) } else { None };
    let weight = packed.weight.sizes();
    ensure!(
        given.len() == dims + 2 && weight.len() == dims.max(2) + 2 && (dims != 1 || weight[2] == 1),
        Runtime,
        "{name}: Expected activation tensor to have {} dimensions and a weight of a {dims}D convolution, but got {} and {}",
        dims + 2,
        format_sizes(&given),
        format_sizes(&weight)
    );
    let mut sizes: Vec<i64> = given[..2].to_vec();
    sizes.extend(lead);
    sizes.extend(&given[2..]);
    let (batch, channels) = (sizes[0], sizes[1]);
    ensure!(
        channels == packed.channels(),
        Runtime,
        "{name}: Given groups={}, weight of size {}, expected input {} to have {} channels",
        packed.steps.groups,
        format_sizes(&weight),
        format_sizes(&given),
        packed.channels()
    );
    let steps = &packed.steps;
    let (size, kernel) = (three(&sizes[2..], 1), three(&weight[2..], 1));
    let (stride, padding, dilation) = (three(&steps.stride, 1), three(&steps.padding, 0), three(&steps.dilation, 1));
    let output_padding = three(&steps.output_padding, 0);
    let mut result = [0i64; 3];
    for d in 0..3 {
        let numbers = [stride[d], padding[d], output_padding[d], dilation[d]];
        result[d] = result_size(name, steps, size[d], kernel[d], numbers)?;
    }
    let (values, input_scale) = input(name, x)?;
    let window = Window { size, kernel, result, stride, padding, dilation, transposed: steps.transposed };
    let count = rushlight_base::numel(&[batch.max(1), packed.filters(), result[0], result[1], result[2]])? as usize;
    let filters = packed.filters() as usize;
    let places = count / (filters * batch.max(1) as usize).max(1);
    let groups = steps.groups as usize;
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
    last.push(packed.filters());
    let integers = integers_of(&by.integers(&sums)?, &last, DType::QU8)?;
    let mut order: Vec<i64> = vec![0, dims as i64 + 1];
    order.extend(1..=dims as i64);
    let integers = ops::permute(&integers, &order)?;
    let integers = if dims == 1 { ops::contiguous(&integers, MemoryFormat::Contiguous)? } else { integers };
    Tensor::from_integers(&integers, Arc::new(Quantizer::PerTensor { scale, zero_point }))
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

/// `quantized::conv1d_dynamic`, `quantized::conv_transpose1d_dynamic`
pub(super) fn dynamic_1d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    dynamic(name, args, 1)
}

/// `quantized::conv2d_dynamic`, `quantized::conv_transpose2d_dynamic`
pub(super) fn dynamic_2d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    dynamic(name, args, 2)
}

/// `quantized::conv3d_dynamic`, `quantized::conv_transpose3d_dynamic`
pub(super) fn dynamic_3d(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    dynamic(name, args, 3)
}
