//! Operators made of operators. They get gradients from their parts.

use super as ops;
use crate::generator::Generator;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DimVec, MemoryFormat, Result, Scalar, bail, ensure, format_sizes, wrap_dim};

/// The complex conjugate; a real tensor is its own.
pub fn conj(self_: &Tensor) -> Result<Tensor> {
    if self_.dtype().is_complex() { ops::conj_physical(self_) } else { Ok(self_.clone()) }
}

/// Conjugates are computed at once here: there is never one to resolve.
pub fn resolve_conj(self_: &Tensor) -> Result<Tensor> {
    Ok(self_.clone())
}

/// The real part; a real tensor is its own.
pub fn real(self_: &Tensor) -> Result<Tensor> {
    if self_.dtype().is_complex() { ops::_real_part(self_) } else { Ok(self_.clone()) }
}

/// The tensor itself if it is laid out so, else a copy that is.
pub fn contiguous(self_: &Tensor, memory_format: MemoryFormat) -> Result<Tensor> {
    ensure!(
        memory_format != MemoryFormat::Preserve,
        Runtime,
        "preserve memory format is unsupported by the contiguous operator"
    );
    if self_.is_contiguous(memory_format) { Ok(self_.clone()) } else { ops::clone(self_, Some(memory_format)) }
}

/// The tensor itself if nothing has to change, else a converted copy.
fn to(
    self_: &Tensor,
    options: Options,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    let keeps_device = options.device.is_none_or(|device| {
        let own = self_.device();
        own.kind == device.kind && (device.index < 0 || own.index.max(0) == device.index)
    });
    let keeps_layout = match memory_format {
        None | Some(MemoryFormat::Preserve) => true,
        Some(format) => self_.is_contiguous(format),
    };
    let keeps_dtype = options.dtype.is_none_or(|dtype| dtype == self_.dtype());
    if keeps_dtype && keeps_device && keeps_layout && !copy {
        return Ok(self_.clone());
    }
    ops::_to_copy(self_, options, non_blocking, memory_format)
}

/// As another dtype.
pub fn to_dtype(
    self_: &Tensor,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, Options::of(dtype), non_blocking, copy, memory_format)
}

/// As another dtype, on a device.
pub fn to_device(
    self_: &Tensor,
    device: Device,
    dtype: DType,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, Options::of(dtype).on(device), non_blocking, copy, memory_format)
}

/// With dtype, layout and device as told.
pub fn to_dtype_layout(
    self_: &Tensor,
    options: Options,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    options.check()?;
    to(self_, options, non_blocking, copy, memory_format)
}

/// With dtype and device of another tensor.
pub fn to_other(
    self_: &Tensor,
    other: &Tensor,
    non_blocking: bool,
    copy: bool,
    memory_format: Option<MemoryFormat>,
) -> Result<Tensor> {
    to(self_, other.options(), non_blocking, copy, memory_format)
}

/// A view where strides allow, else a copy.
pub fn reshape(self_: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let sizes = ops::views::infer_size(shape, self_.numel())?;
    if ops::views::view_strides(&self_.sizes(), &self_.strides(), &sizes).is_some() {
        return ops::view(self_, &sizes);
    }
    ops::view(&ops::clone(self_, Some(MemoryFormat::Contiguous))?, &sizes)
}

/// A view in the shape of another tensor.
pub fn view_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::view(self_, &other.sizes())
}

/// Expanded to the shape of another tensor.
pub fn expand_as(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::expand(self_, &other.sizes(), false)
}

/// Dimensions `start_dim` to `end_dim` as one.
pub fn flatten(self_: &Tensor, start_dim: i64, end_dim: i64) -> Result<Tensor> {
    let (first, last) = (wrap_dim(start_dim, self_.ndim())?, wrap_dim(end_dim, self_.ndim())?);
    ensure!(first <= last, Runtime, "flatten() has invalid args: start_dim cannot come after end_dim");
    if self_.ndim() == 0 {
        return ops::reshape(self_, &[1]);
    }
    if first == last {
        return Ok(self_.clone());
    }
    let sizes = self_.sizes();
    let mut shape = DimVec::from_slice(&sizes[..first]);
    shape.push(sizes[first..=last].iter().product());
    shape.extend_from_slice(&sizes[last + 1..]);
    ops::reshape(self_, &shape)
}

/// `length` elements of a dimension from `start` on.
pub fn narrow(self_: &Tensor, dim: i64, start: i64, length: i64) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Runtime, "narrow() cannot be applied to a 0-dim tensor.");
    ensure!(length >= 0, Runtime, "narrow(): length must be non-negative.");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        (-size..=size).contains(&start),
        Index,
        "start out of range (expected to be in range of [{}, {size}], but got {start})",
        -size
    );
    let start = if start < 0 { start + size } else { start };
    ensure!(start <= size - length, Runtime, "start ({start}) + length ({length}) exceeds dimension size ({size}).");
    ops::slice_tensor(self_, dim, Some(start), Some(start + length), 1)
}

/// Pieces of `split_size` along a dimension; the last may be smaller.
pub fn split(self_: &Tensor, split_size: i64, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Runtime, "split expects at least a 1-dimensional tensor");
    ensure!(split_size >= 0, Runtime, "split expects split_size be non-negative, but got split_size={split_size}");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        split_size > 0 || size == 0,
        Runtime,
        "split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
    );
    let count = if split_size == 0 { 1 } else { ((size + split_size - 1) / split_size).max(1) };
    (0..count)
        .map(|at| {
            let start = at * split_size;
            ops::slice_tensor(self_, dim, Some(start), Some((start + split_size).min(size)), 1)
        })
        .collect()
}

/// Pieces of the given sizes along a dimension.
pub fn split_with_sizes(self_: &Tensor, split_size: &[i64], dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() != 0, Runtime, "split expects at least a 1-dimensional tensor");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    ensure!(
        split_size.iter().all(|&length| length >= 0),
        Runtime,
        "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={}",
        format_sizes(split_size)
    );
    ensure!(
        split_size.iter().sum::<i64>() == size,
        Runtime,
        "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), but \
         got split_sizes={}",
        format_sizes(split_size)
    );
    let mut start = 0;
    let mut piece = |length: i64| {
        let end = start + length;
        let piece = ops::slice_tensor(self_, dim, Some(start), Some(end), 1);
        start = end;
        piece
    };
    split_size.iter().map(|&length| piece(length)).collect()
}

/// The slices of a dimension.
pub fn unbind(self_: &Tensor, dim: i64) -> Result<Vec<Tensor>> {
    ensure!(self_.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    let size = self_.sizes()[wrap_dim(dim, self_.ndim())?];
    (0..size).map(|at| ops::select_int(self_, dim, at)).collect()
}

/// self, or a number, by a condition.
pub fn where_scalarother(condition: &Tensor, self_: &Tensor, other: Scalar) -> Result<Tensor> {
    ops::where_self(condition, self_, &number(other, condition)?)
}

/// A number, or other, by a condition.
pub fn where_scalarself(condition: &Tensor, self_: Scalar, other: &Tensor) -> Result<Tensor> {
    ops::where_self(condition, &number(self_, condition)?, other)
}

/// One of two numbers, by a condition.
pub fn where_scalar(condition: &Tensor, self_: Scalar, other: Scalar) -> Result<Tensor> {
    ops::where_self(condition, &number(self_, condition)?, &number(other, condition)?)
}

/// A number as a 0-dim tensor that yields in promotion.
fn number(value: Scalar, like: &Tensor) -> Result<Tensor> {
    let tensor = ops::full(&[], value, Options::of(value.dtype()).on(like.device()))?;
    tensor.set_wrapped_number(true)?;
    Ok(tensor)
}

/// The product of vectors, matrices, or batches of matrices.
pub fn matmul(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    let (left, right) = (self_.ndim(), other.ndim());
    ensure!(
        left > 0 && right > 0,
        Runtime,
        "both arguments to matmul need to be at least 1D, but they are {left}D and {right}D"
    );
    match (left, right) {
        (1, 1) => {
            let (a, b) = (self_.numel(), other.numel());
            ensure!(
                a == b,
                Runtime,
                "inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but got {a} and {b} elements respectively"
            );
            let product = ops::mm(&ops::unsqueeze(self_, 0)?, &ops::unsqueeze(other, 1)?)?;
            ops::view(&product, &[])
        }
        (2, 2) => ops::mm(self_, other),
        (2, 1) => {
            let (rows, inner) = (self_.sizes()[0], other.numel());
            ensure!(
                self_.sizes()[1] == inner,
                Runtime,
                "size mismatch, got input ({rows}), mat ({rows}x{}), vec ({inner})",
                self_.sizes()[1]
            );
            ops::squeeze_dim(&ops::mm(self_, &ops::unsqueeze(other, 1)?)?, 1)
        }
        (1, 2) => ops::squeeze_dim(&ops::mm(&ops::unsqueeze(self_, 0)?, other)?, 0),
        // A batch times one matrix is one tall product.
        (_, 1 | 2) => {
            let matrix = if right == 1 { ops::unsqueeze(other, 1)? } else { other.clone() };
            let (sizes, inner) = (self_.sizes(), matrix.sizes()[0]);
            let (head, last) = (&sizes[..left - 1], sizes[left - 1]);
            let rows: i64 = head.iter().product();
            ensure!(
                last == inner,
                Runtime,
                "mat1 and mat2 shapes cannot be multiplied ({rows}x{last} and {inner}x{})",
                matrix.sizes()[1]
            );
            let product = ops::mm(&ops::reshape(self_, &[rows, last])?, &matrix)?;
            let mut shape = DimVec::from_slice(head);
            if right == 2 {
                shape.push(matrix.sizes()[1]);
            }
            ops::view(&product, &shape)
        }
        _ => batched(self_, other),
    }
}

/// Products of matrices in the last two dimensions, the others broadcast.
fn batched(self_: &Tensor, other: &Tensor) -> Result<Tensor> {
    let vector = self_.ndim() == 1;
    let left = if vector { ops::unsqueeze(self_, 0)? } else { self_.clone() };
    let (a, b) = (left.sizes(), other.sizes());
    let (a_head, a_tail) = a.split_at(a.len() - 2);
    let (b_head, b_tail) = b.split_at(b.len() - 2);
    let batch = ops::rules::broadcast_sizes(a_head, b_head)?;
    let count: i64 = batch.iter().product();
    let stack = |tensor: &Tensor, tail: &[i64]| {
        let mut shape = batch.clone();
        shape.extend_from_slice(tail);
        ops::reshape(&ops::expand(tensor, &shape, false)?, &[count, tail[0], tail[1]])
    };
    ensure!(
        a_tail[1] == b_tail[0],
        Runtime,
        "Expected size for first two dimensions of batch2 tensor to be: [{count}, {}] but got: [{count}, {}].",
        a_tail[1],
        b_tail[0]
    );
    let product = ops::bmm(&stack(&left, a_tail)?, &stack(other, b_tail)?)?;
    let mut shape = batch.clone();
    if !vector {
        shape.push(a_tail[0]);
    }
    shape.push(b_tail[1]);
    ops::view(&product, &shape)
}

/// input weight^T + bias
pub fn linear(input: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    ensure!(
        weight.ndim() == 2 || (weight.ndim() == 1 && bias.is_none_or(|bias| bias.ndim() == 0)),
        Runtime,
        "linear(): weight must be a matrix or a vector, got {}",
        format_sizes(&weight.sizes())
    );
    let transposed = ops::t(weight)?;
    match bias {
        Some(bias) if input.ndim() == 2 && weight.ndim() == 2 => {
            ops::addmm(bias, input, &transposed, Scalar::Int(1), Scalar::Int(1))
        }
        Some(bias) => ops::add_tensor(&ops::matmul(input, &transposed)?, bias, Scalar::Int(1)),
        None => ops::matmul(input, &transposed),
    }
}

/// The floating dtype that softmax computes in.
fn softmax_input(self_: &Tensor, dtype: Option<DType>) -> Result<Tensor> {
    match dtype {
        Some(dtype) => ops::to_dtype(self_, dtype, false, false, None),
        None => Ok(self_.clone()),
    }
}

/// ln softmax along a dimension
pub fn log_softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    ops::_log_softmax(&softmax_input(self_, dtype)?, dim, false)
}

/// softmax along a dimension
pub fn softmax(self_: &Tensor, dim: i64, dtype: Option<DType>) -> Result<Tensor> {
    ops::_softmax(&softmax_input(self_, dtype)?, dim, false)
}

/// Zeroes elements with probability p and scales the others by 1 / (1 - p).
pub fn dropout(input: &Tensor, p: f64, train: bool) -> Result<Tensor> {
    ensure!((0.0..=1.0).contains(&p), Runtime, "dropout probability has to be between 0 and 1, but got {p}");
    if p == 0.0 || !train || input.numel() == 0 {
        return Ok(input.clone());
    }
    if p == 1.0 {
        return ops::mul_tensor(input, &ops::zeros(&[], input.options())?);
    }
    let noise = ops::empty_like(input, Options::default(), None)?;
    let default: Option<&Generator> = None;
    ops::bernoulli_float_(&noise, 1.0 - p, default)?;
    ops::div_scalar_(&noise, Scalar::Float(1.0 - p))?;
    ops::mul_tensor(input, &noise)
}

/// The negative log likelihood of scores (C), (N, C) or (N, C, ...).
pub fn nll_loss(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<Tensor> {
    Ok(ops::nll_loss_forward(self_, target, weight, reduction, ignore_index)?.0)
}

/// As `nll_loss`, after a check of the batch sizes.
pub fn nll_loss_nd(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Value, "Expected 1 or more dimensions (got {})", self_.ndim());
    if self_.ndim() > 1 {
        let (batch, targets) = (self_.sizes()[0], target.sizes().first().copied().unwrap_or(1));
        ensure!(batch == targets, Value, "Expected input batch_size ({batch}) to match target batch_size ({targets}).");
    }
    nll_loss(self_, target, weight, reduction, ignore_index)
}

/// Log softmax and negative log likelihood of class numbers, or the cross entropy with class probabilities.
pub fn cross_entropy_loss(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    ignore_index: i64,
    label_smoothing: f64,
) -> Result<Tensor> {
    ensure!(self_.ndim() > 0, Value, "Expected 1 or more dimensions (got {})", self_.ndim());
    let class_dim = i64::from(self_.ndim() > 1);
    if self_.sizes() == target.sizes() {
        ensure!(
            target.dtype().is_floating(),
            Runtime,
            "Expected floating point type for target with class probabilities, got {}",
            target.dtype().c10_name()
        );
        ensure!(ignore_index < 0, Runtime, "ignore_index is not supported for floating point target");
        return soft_cross_entropy(self_, target, weight, reduction, label_smoothing);
    }
    let scores = ops::log_softmax_int(self_, class_dim, None)?;
    let loss = ops::nll_loss_nd(&scores, target, weight, reduction, ignore_index)?;
    if label_smoothing <= 0.0 {
        return Ok(loss);
    }
    ensure!(label_smoothing <= 1.0, Runtime, "label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}");
    let weighted = match weight {
        Some(weight) => ops::mul_tensor(&scores, &along_classes(weight, &scores, class_dim)?)?,
        None => scores.clone(),
    };
    let ignored = ops::eq_scalar(target, Scalar::Int(ignore_index))?;
    let smooth = ops::neg(&ops::sum_dim_intlist(&weighted, Some(&[class_dim]), false, None)?)?;
    let smooth = ops::masked_fill_scalar(&smooth, &ignored, Scalar::Int(0))?;
    let reduced = match reduction {
        0 => smooth,
        2 => ops::sum(&smooth, None)?,
        1 => {
            let total = match weight {
                // The weights of the targets that count.
                Some(weight) => {
                    let flat = ops::reshape(&ops::masked_fill_scalar(target, &ignored, Scalar::Int(0))?, &[-1])?;
                    let picked = ops::reshape(&ops::index_select(weight, 0, &flat)?, &target.sizes())?;
                    ops::sum(&ops::masked_fill_scalar(&picked, &ignored, Scalar::Int(0))?, None)?
                }
                None => {
                    ops::sum(&ops::to_dtype(&ops::logical_not(&ignored)?, scores.dtype(), false, false, None)?, None)?
                }
            };
            ops::div_tensor(&ops::sum(&smooth, None)?, &total)?
        }
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    };
    let classes = scores.sizes()[class_dim as usize] as f64;
    let kept = ops::mul_scalar(&loss, Scalar::Float(1.0 - label_smoothing))?;
    ops::add_tensor(&kept, &ops::mul_scalar(&reduced, Scalar::Float(label_smoothing / classes))?, Scalar::Int(1))
}

/// One weight per class, shaped to multiply scores.
fn along_classes(weight: &Tensor, scores: &Tensor, class_dim: i64) -> Result<Tensor> {
    let mut shape = DimVec::from_elem(1, scores.ndim());
    shape[class_dim as usize] = weight.numel();
    ops::view(weight, &shape)
}

fn soft_cross_entropy(
    self_: &Tensor,
    target: &Tensor,
    weight: Option<&Tensor>,
    reduction: i64,
    label_smoothing: f64,
) -> Result<Tensor> {
    let class_dim = i64::from(self_.ndim() > 1);
    let scores = ops::log_softmax_int(self_, class_dim, None)?;
    let classes = scores.sizes()[class_dim as usize];
    let target = if label_smoothing > 0.0 {
        ensure!(label_smoothing <= 1.0, Runtime, "label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}");
        let kept = ops::mul_scalar(target, Scalar::Float(1.0 - label_smoothing))?;
        ops::add_scalar(&kept, Scalar::Float(label_smoothing / classes as f64), Scalar::Int(1))?
    } else {
        target.clone()
    };
    let mut product = ops::mul_tensor(&scores, &target)?;
    if let Some(weight) = weight {
        ensure!(
            weight.ndim() == 1 && weight.numel() == classes,
            Runtime,
            "cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got \
             weight tensor of shape: {}",
            format_sizes(&weight.sizes())
        );
        product = ops::mul_tensor(&product, &along_classes(weight, &scores, class_dim)?)?;
    }
    match reduction {
        0 => ops::neg(&ops::sum_dim_intlist(&product, Some(&[class_dim]), false, None)?),
        2 => ops::neg(&ops::sum(&product, None)?),
        1 => {
            let batch = if self_.ndim() == 1 { 1 } else { self_.numel() / classes.max(1) };
            ops::div_scalar(&ops::neg(&ops::sum(&product, None)?)?, Scalar::Int(batch))
        }
        _ => bail!(Value, "{reduction} is not a valid value for reduction"),
    }
}

/// The gradient of `index_select`: the gradient's slices added up where they came from.
pub fn index_select_backward(grad: &Tensor, self_sizes: &[i64], dim: i64, index: &Tensor) -> Result<Tensor> {
    ops::index_add(&ops::zeros(self_sizes, grad.options())?, dim, index, grad, Scalar::Int(1))
}

/// The gradient of a reduction that picks one element: the gradient at the picked places.
pub fn value_selecting_reduction_backward(
    grad: &Tensor,
    dim: i64,
    indices: &Tensor,
    sizes: &[i64],
    keepdim: bool,
) -> Result<Tensor> {
    let zeros = ops::zeros(sizes, grad.options())?;
    if keepdim || sizes.is_empty() {
        return ops::scatter_src(&zeros, dim, indices, grad);
    }
    ops::scatter_src(&zeros, dim, &ops::unsqueeze(indices, dim)?, &ops::unsqueeze(grad, dim)?)
}
