//! `quantized::conv1d`, `conv2d`, `conv3d`, their transposed and dynamic forms, and their packed parameters.

use super::create::dynamic_range;
use super::linear::{content, packed_bias, packed_weight};
use super::product::{check_output, input, requantize, rows};
use super::{Quantized, is_relu, one};
use crate::dispatch::{Args, Object, Value};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, bail, ensure, format_sizes};
use rushlight_cpu::quantize::{Filters, Window, convolve};
use std::sync::Arc;

/// The class of the parameters of one and two dimensions.
pub(super) const CLASS_2D: &str = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
/// The class of the parameters of three dimensions.
pub(super) const CLASS_3D: &str = "__torch__.torch.classes.quantized.Conv3dPackedParamsBase";

/// The parameters of a convolution. One of one dimension is packed as two, the first of size 1.
pub(super) struct Convolution {
    pub weight: Tensor,
    filters: Filters,
    scales: Vec<f32>,
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
        // The input channels of an element of the kernel are together.
        let dims = sizes.len() as i64;
        let order: Vec<i64> = [0].into_iter().chain(2..dims).chain([1]).collect();
        let integers = ops::permute(&Quantized::of(name, &by_channel)?.integers, &order)?;
        let (rows, bias) = (rows(name, &by_channel, &integers)?, packed_bias(name, bias, &by_channel)?);
        let taps = sizes[2..].iter().product::<i64>() as usize;
        let filters = Filters::new(&rows.integers, &rows.zeros, steps.groups as usize, taps)?;
        Ok(Convolution { weight, filters, scales: rows.scales, bias, steps })
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
    let given = input(name, x)?;
    rushlight_base::numel(&[batch.max(1), packed.filters(), result[0], result[1], result[2]])?;
    let window = Window { size, kernel, result, stride, padding, dilation, transposed: steps.transposed };
    let by = requantize(given.scale, &packed.scales, packed.bias.as_ref(), (scale, zero_point), is_relu(name))?;
    // Channels are the last dimension in memory, as of every quantized convolution.
    let dims = dims as i64;
    let inner: Vec<i64> = [0].into_iter().chain(2..dims + 2).chain([1]).collect();
    let images: Vec<u8> =
        ops::contiguous(&ops::permute(&given.integers, &inner)?, MemoryFormat::Contiguous)?.to_vec()?;
    let bytes = convolve(&window, &packed.filters, &images, channels as usize, given.zero_point, &by)?;
    let mut last: Vec<i64> = vec![batch];
    last.extend(&result[3 - dims as usize..]);
    last.push(packed.filters());
    let mut order: Vec<i64> = vec![0, dims + 1];
    order.extend(1..=dims);
    let integers = ops::permute(&Tensor::from_slice(&bytes, &last)?, &order)?;
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
