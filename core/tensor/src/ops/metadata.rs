//! Metadata of tensors, dtypes, devices and numbers: operators most of whose results are not tensors.

use super::rules;
use crate::dispatch::Value;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Device, DeviceType, DimVec, Result, Scalar, bail, ensure, wrap_dim};

/// `size`
pub fn size(tensor: &Tensor) -> Result<DimVec> {
    Ok(tensor.sizes())
}

/// `size.int`
pub fn size_int(tensor: &Tensor, dim: i64) -> Result<i64> {
    at(&tensor.sizes(), dim)
}

/// `stride`
pub fn stride(tensor: &Tensor) -> Result<DimVec> {
    Ok(tensor.strides())
}

/// `stride.int`
pub fn stride_int(tensor: &Tensor, dim: i64) -> Result<i64> {
    at(&tensor.strides(), dim)
}

fn at(dims: &[i64], dim: i64) -> Result<i64> {
    let dim = wrap_dim(dim, dims.len())?;
    ensure!(!dims.is_empty(), Index, "Dimension specified as {dim} but tensor has no dimensions");
    Ok(dims[dim])
}

/// `dim`
pub fn dim(tensor: &Tensor) -> Result<i64> {
    Ok(tensor.ndim() as i64)
}

/// `numel`
pub fn numel(tensor: &Tensor) -> Result<i64> {
    Ok(tensor.numel())
}

/// `is_floating_point`
pub fn is_floating_point(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.dtype().is_floating())
}

/// `item`
pub fn item(tensor: &Tensor) -> Result<Scalar> {
    tensor.item()
}

/// `FloatImplicit`
pub fn float_implicit(tensor: &Tensor) -> Result<f64> {
    ensure!(tensor.ndim() == 0, Runtime, "Cannot input a tensor of dimension other than 0 as a scalar argument");
    let value = tensor.item()?.to_complex();
    ensure!(value.im == 0.0, Runtime, "value cannot be converted to type double without overflow");
    Ok(value.re)
}

/// `prim::device`
pub fn device(tensor: &Tensor) -> Result<Device> {
    Ok(tensor.device())
}

/// `prim::dtype`: the number of the dtype
pub fn dtype(tensor: &Tensor) -> Result<i64> {
    Ok(tensor.dtype() as i64)
}

/// `prim::type`: the type of the device
pub fn device_type(device: Device) -> Result<String> {
    Ok(device.kind.name().to_owned())
}

/// `divmod.int`: quotient and remainder, rounded towards minus infinity
pub fn divmod(x: i64, y: i64) -> Result<(i64, i64)> {
    ensure!(y != 0, Runtime, "ZeroDivisionError: integer division or modulo by zero");
    let (quotient, remainder) = (x.wrapping_div(y), x.wrapping_rem(y));
    let rounded_up = remainder != 0 && (remainder < 0) != (y < 0);
    Ok(if rounded_up { (quotient - 1, remainder + y) } else { (quotient, remainder) })
}

/// `list`: the characters of a string
pub fn characters(text: &str) -> Result<Value> {
    let mut buffer = [0; 4];
    Ok(Value::Strings(text.chars().map(|character| (&*character.encode_utf8(&mut buffer)).into()).collect()))
}

/// `is_complex`
pub fn is_complex(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.dtype().is_complex())
}

/// `is_signed`
pub fn is_signed(tensor: &Tensor) -> Result<bool> {
    Ok(!matches!(tensor.dtype(), DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64))
}

/// `is_conj`
pub fn is_conj(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.is_conj())
}

/// `is_neg`
pub fn is_neg(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.is_neg())
}

/// `is_inference`
pub fn is_inference(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.is_inference())
}

/// `is_nonzero`
pub fn is_nonzero(tensor: &Tensor) -> Result<bool> {
    match tensor.numel() {
        0 => bail!(Runtime, "Boolean value of Tensor with no values is ambiguous"),
        1 => Ok(match tensor.item()? {
            Scalar::Complex(value) => value.re != 0.0 || value.im != 0.0,
            value => value.to_f64() != 0.0,
        }),
        _ => bail!(Runtime, "Boolean value of Tensor with more than one value is ambiguous"),
    }
}

/// `is_same_size`
pub fn is_same_size(tensor: &Tensor, other: &Tensor) -> Result<bool> {
    Ok(tensor.sizes() == other.sizes())
}

/// `is_distributed`
pub fn is_distributed(_tensor: &Tensor) -> Result<bool> {
    Ok(false)
}

/// `is_set_to`
pub fn is_set_to(tensor: &Tensor, other: &Tensor) -> Result<bool> {
    let (tensor, other) = (tensor.dense()?, other.dense()?);
    Ok(tensor.storage.is(&other.storage) && tensor.geometry == other.geometry)
}

/// `equal`
pub fn equal(tensor: &Tensor, other: &Tensor) -> Result<bool> {
    ensure!(
        tensor.device().kind != DeviceType::Meta && other.device().kind != DeviceType::Meta,
        NotImplemented,
        "aten::equal: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered"
    );
    Ok(tensor.sizes() == other.sizes() && is_nonzero(&ops::all(&ops::eq_tensor(tensor, other)?)?)?)
}

/// `result_type.Tensor`
pub fn result_type_tensors(tensor: &Tensor, other: &Tensor) -> Result<DType> {
    rules::result_type(&[tensor, other], &[])
}

/// `result_type.Scalar`
pub fn result_type_tensor_number(tensor: &Tensor, other: Scalar) -> Result<DType> {
    rules::result_type(&[tensor], &[other])
}

/// `result_type.Scalar_Tensor`
pub fn result_type_number_tensor(scalar: Scalar, tensor: &Tensor) -> Result<DType> {
    rules::result_type(&[tensor], &[scalar])
}

/// `result_type.Scalar_Scalar`
pub fn result_type_numbers(scalar1: Scalar, scalar2: Scalar) -> Result<DType> {
    rules::result_type(&[], &[scalar1, scalar2])
}

/// `can_cast`
pub fn can_cast(from: DType, to: DType) -> Result<bool> {
    Ok(from.can_cast(to))
}

/// `promote_types`
pub fn promote_types(type1: DType, type2: DType) -> Result<DType> {
    type1.promote(type2)
}

/// `type_as`
pub fn type_as(tensor: &Tensor, other: &Tensor) -> Result<Tensor> {
    ops::to_other(tensor, other, false, false, None)
}

/// `is_leaf`
pub fn is_leaf(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.is_leaf())
}

/// `output_nr`
pub fn output_nr(tensor: &Tensor) -> Result<i64> {
    Ok(i64::from(tensor.output_nr()))
}

/// `retains_grad`
pub fn retains_grad(tensor: &Tensor) -> Result<bool> {
    Ok(tensor.retains_grad())
}

/// `retain_grad`
pub fn retain_grad(tensor: &Tensor) -> Result<()> {
    tensor.retain_grad()
}

/// `requires_grad_`
pub fn requires_grad_(tensor: &Tensor, requires_grad: bool) -> Result<()> {
    tensor.set_requires_grad(requires_grad)
}

/// `data`
pub fn data(tensor: &Tensor) -> Result<Tensor> {
    Ok(tensor.untracked_alias())
}

/// `set_data`
pub fn set_data(tensor: &Tensor, new_data: &Tensor) -> Result<()> {
    tensor.set_data(new_data)
}

/// `lift` and `lift_fresh`
pub fn lift(tensor: &Tensor) -> Result<Tensor> {
    Ok(tensor.clone())
}

/// `is_pinned`: memory is only page-locked for an accelerator, of which none is supported.
pub fn is_pinned(_tensor: &Tensor, _device: Option<Device>) -> Result<bool> {
    Ok(false)
}

/// `pin_memory`
pub fn pin_memory(tensor: &Tensor, device: Option<Device>) -> Result<Tensor> {
    ensure!(
        tensor.device().kind == DeviceType::Cpu,
        Runtime,
        "cannot pin 'Meta{}Type' only dense CPU tensors can be pinned",
        tensor.dtype().c10_name()
    );
    ensure!(device.is_none_or(|device| device.kind != DeviceType::Cpu), Runtime, "CPU device type not an accelerator.");
    bail!(Runtime, "Cannot access accelerator device when none is available.")
}

/// `record_stream`
pub fn record_stream(tensor: &Tensor, _stream: &Value) -> Result<()> {
    ensure!(
        tensor.device().kind == DeviceType::Meta,
        NotImplemented,
        "Could not run 'aten::record_stream' with arguments from the 'CPU' backend."
    );
    Ok(())
}
