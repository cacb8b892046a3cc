//! Operators that PyTorch calls below its public ones, and public ones without a declaration of their own: each stands for
//! other operators. Traces, exported programs and older files contain them.

use super::args::Args;
use super::objects::tuple;
use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::list::List;
use crate::runtime::value::Value;
use rushlight_base::{DType, DeviceType, Result, bail, ensure, list};
use rushlight_tensor::autograd::{self, GradModeGuard};
use rushlight_tensor::dispatch::{Values, by_name};
use rushlight_tensor::{Tensor, dispatch};

/// The results of an operator, which has a value for every argument: one value, or a tuple of several.
pub(super) fn operator(name: &str, overload: &str, args: &[Value]) -> Result<Value> {
    let args: Vec<dispatch::Value> = list::try_collect(args.iter().map(to_operator))?;
    let mut results = Values::new();
    by_name::find(name, overload)?.call_complete(&mut args.into(), &mut results)?;
    let mut results: Vec<Value> = list::try_collect(results.0.into_iter().map(from_operator))?;
    Ok(match results.len() {
        0 => Value::None,
        1 => results.pop().unwrap_or_default(),
        _ => tuple(results),
    })
}

/// The operator of this name with the same arguments.
pub(super) fn renamed(args: &Args<'_>, name: &str, overload: &str) -> Result<Value> {
    operator(name, overload, args.all())
}

/// The in-place operator on a copy of the first argument.
pub(super) fn on_copy(args: &mut Args<'_>, name: &str, overload: &str) -> Result<Value> {
    let mut values = list::copied(args.all())?;
    if let Some(first) = values.first_mut() {
        *first = operator("clone", "", &[first.clone(), Value::None])?;
    }
    operator(name, overload, &values)
}

/// The operator, without recording gradients.
pub(super) fn without_gradients(args: &Args<'_>, name: &str, overload: &str) -> Result<Value> {
    let _off = GradModeGuard::new(false);
    renamed(args, name, overload)
}

/// `_no_grad_zero_`
pub(super) fn zero(args: &mut Args<'_>) -> Result<Value> {
    without_gradients(args, "zero_", "")
}

/// `to` with another dtype.
fn to(tensor: &Value, dtype: DType) -> Result<Value> {
    let no = Value::Bool(false);
    operator("to", "dtype", &[tensor.clone(), (dtype as i64).into(), no.clone(), no, Value::None])
}

/// `_cast_Float` and similar
pub(super) fn cast(args: &Args<'_>, dtype: DType) -> Result<Value> {
    to(args.get(0)?, dtype)
}

// ---- metadata ------------------------------------------------------------------------------------------------------

pub(super) fn storage_offset(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.storage_offset().into())
}

/// `get_device`: -1 for a tensor on the CPU
pub(super) fn get_device(args: &mut Args<'_>) -> Result<Value> {
    let device = args.tensor(0)?.device();
    Ok((if device.kind == DeviceType::Cpu { -1 } else { i64::from(device.index) }).into())
}

pub(super) fn version(args: &mut Args<'_>) -> Result<Value> {
    Ok(i64::from(args.tensor(0)?.version()).into())
}

pub(super) fn is_non_overlapping_and_dense(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.is_non_overlapping_and_dense().into())
}

/// `get_autocast_dtype`: the dtypes that autocast has until a program changes them
pub(super) fn autocast_dtype(args: &mut Args<'_>) -> Result<Value> {
    Ok((match args.get(0)?.as_str()? {
        "cpu" => DType::BF16 as i64,
        "cuda" => DType::F16 as i64,
        other => bail!(Runtime, "autocast has no dtype for devices of type {other}"),
    })
    .into())
}

/// `torchvision::_cuda_version` of a library without CUDA kernels
pub(super) fn no_cuda(_args: &mut Args<'_>) -> Result<Value> {
    Ok(Value::Int(-1))
}

/// `_shape_as_tensor`
pub(super) fn shape_as_tensor(args: &mut Args<'_>) -> Result<Value> {
    let sizes = args.tensor(0)?.sizes();
    Ok(Tensor::from_slice(&sizes, &[sizes.len() as i64])?.into())
}

/// `_dim_arange`
pub(super) fn dim_arange(args: &mut Args<'_>) -> Result<Value> {
    let (tensor, dim) = (args.tensor(0)?, args.int(1)?);
    let sizes = tensor.sizes();
    let size = super::position(dim, sizes.len()).and_then(|at| sizes.get(at)).copied();
    let Some(size) = size else {
        let (low, high) = (-(sizes.len().max(1) as i64), sizes.len().max(1) as i64 - 1);
        bail!(Index, "Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    };
    let none = Value::None;
    let dtype = Value::Int(DType::I64 as i64);
    let device = Value::Device(tensor.device());
    operator("arange", "", &[size.into(), dtype, none.clone(), device, none])
}

/// `_reshape_from_tensor`
pub(super) fn reshape_from_tensor(args: &mut Args<'_>) -> Result<Value> {
    let shape = to(args.get(1)?, DType::I64)?;
    let shape = shape.as_tensor()?;
    ensure!(shape.ndim() == 1, Runtime, "_reshape_from_tensor: shape must have 1 dimension, but has {}", shape.ndim());
    operator("reshape", "", &[args.get(0)?.clone(), List::ints(shape.to_vec::<i64>()?).into()])
}

/// `_list_to_tensor`: a tensor of dtype int32
pub(super) fn list_to_tensor(args: &mut Args<'_>) -> Result<Value> {
    let ints = args.list(0)?.values();
    let ints: Vec<i32> = list::try_collect(ints.iter().map(|value| {
        let value = value.as_int()?;
        i32::try_from(value)
            .map_err(|_| rushlight_base::err!(Runtime, "value cannot be converted to type int32: {value}"))
    }))?;
    Ok(Tensor::from_slice(&ints, &[ints.len() as i64])?.into())
}

/// `_tensor_to_list`: the elements of a vector of dtype int32
pub(super) fn tensor_to_list(args: &mut Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    ensure!(tensor.ndim() == 1, Runtime, "_tensor_to_list expects 1 dimension, but got {}", tensor.ndim());
    ensure!(tensor.dtype() == DType::I32, Runtime, "expected scalar type Int but found {}", tensor.dtype().c10_name());
    let wide = to(args.get(0)?, DType::I64)?;
    let wide = operator("contiguous", "", &[wide, Value::Int(0)])?;
    Ok(List::ints(wide.as_tensor()?.to_vec::<i64>()?).into())
}

/// `_pack_sequence`: the fields of a packed sequence
pub(super) fn pack_sequence(args: &mut Args<'_>) -> Result<Value> {
    Ok(tuple(list::copied(args.all())?))
}

/// `_to_cpu`
pub(super) fn to_cpu(args: &mut Args<'_>) -> Result<Value> {
    let tensors = args.list(0)?.values();
    let moved: Vec<Value> = list::try_collect(
        tensors.into_iter().map(|tensor| super::tensors::cpu(&mut Args::new(&mut [tensor], args.context))),
    )?;
    Ok(List::from_values(crate::types::Type::Tensor, moved)?.into())
}

// ---- assertions ----------------------------------------------------------------------------------------------------

/// `_assert_async`
pub(super) fn assert_true(args: &mut Args<'_>) -> Result<Value> {
    let message = match args.all().get(1) {
        Some(message) => message.as_str()?.to_owned(),
        None => "Expected Tensor with single nonzero value, but got zero".to_owned(),
    };
    let holds = super::tensors::bool(&mut Args::new(&mut [args.take(0)], args.context))?;
    ensure!(holds.as_bool()?, Runtime, "{message}");
    Ok(Value::None)
}

/// `_assert_tensor_metadata(a, size, stride, dtype, device, layout)`
pub(super) fn assert_metadata(args: &mut Args<'_>) -> Result<Value> {
    let given = args.get(0)?.clone();
    let tensor = given.as_tensor()?;
    let of = |value: &Value, ints: &[i64]| -> Result<bool> {
        if value.is_none() {
            return Ok(true);
        }
        let wanted = value.as_list()?.values();
        let wanted: Vec<i64> = list::try_collect(wanted.iter().map(Value::as_int))?;
        Ok(wanted == ints)
    };
    ensure!(of(args.get(1)?, &tensor.sizes())?, Runtime, "Tensor sizes mismatch!");
    ensure!(of(args.get(2)?, &tensor.strides())?, Runtime, "Tensor strides mismatch!");
    let dtype = args.int_opt(3)?;
    ensure!(dtype.is_none_or(|dtype| dtype == tensor.dtype() as i64), Runtime, "Tensor dtype mismatch!");
    if let Some(Value::Device(device)) = args.all().get(4) {
        ensure!(*device == tensor.device(), Runtime, "Tensor device mismatch!");
    }
    if let Some(wanted) = args.int_opt(5)? {
        let layout = super::tensors::layout(&mut Args::new(&mut [given.clone()], args.context))?;
        ensure!(layout.as_int()? == wanted, Runtime, "Tensor layout mismatch!");
    }
    Ok(Value::None)
}

/// `_is_all_true`, `_is_any_true`: of a tensor of booleans
pub(super) fn of_booleans(args: &Args<'_>, name: &str) -> Result<Value> {
    let dtype = args.tensor(0)?.dtype();
    ensure!(dtype == DType::Bool, Runtime, "_is_{name}_true expects a tensor of dtype bool, but got {dtype}");
    renamed(args, name, "")
}

// ---- arithmetic ------------------------------------------------------------------------------------------------------

/// `_add_relu`, `_add_relu_`
pub(super) fn add_relu(args: &Args<'_>, suffix: &str, overload: &str) -> Result<Value> {
    let sum = renamed(args, &format!("add{suffix}"), overload)?;
    operator(&format!("relu{suffix}"), "", &[sum])
}

/// `_addmm_activation(self, mat1, mat2, beta, alpha, use_gelu)`
pub(super) fn addmm_activation(args: &mut Args<'_>) -> Result<Value> {
    let product = operator("addmm", "", args.all().get(..5).unwrap_or_default())?;
    if args.bool(5)? { operator("gelu", "", &[product, Value::str("none")]) } else { operator("relu", "", &[product]) }
}

/// `_aminmax`
pub(super) fn aminmax(args: &mut Args<'_>) -> Result<Value> {
    let dim = args.all().get(1).cloned().unwrap_or_default();
    let keep = args.bool_or(2, false)?;
    operator("aminmax", "", &[args.take(0), dim, keep.into()])
}

/// `_trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim)`: the sum of products
pub(super) fn trilinear(args: &mut Args<'_>) -> Result<Value> {
    let mut product: Option<Value> = None;
    for input in 0..3 {
        let mut dims = args.list(input + 3)?.values();
        dims.sort_by_key(|dim| dim.as_int().unwrap_or(0));
        let mut factor = args.get(input)?.clone();
        for dim in dims {
            factor = operator("unsqueeze", "", &[factor, dim])?;
        }
        product = Some(match product {
            Some(product) => operator("mul", "Tensor", &[product, factor])?,
            None => factor,
        });
    }
    let product = product.unwrap_or_default();
    if args.list(6)?.is_empty() {
        return Ok(product);
    }
    operator("sum", "dim_IntList", &[product, args.get(6)?.clone(), false.into(), Value::None])
}

/// `_grad_sum_to_size`
pub(super) fn sum_to_size(args: &mut Args<'_>) -> Result<Value> {
    if args.get(1)?.is_none() { Ok(args.take(0)) } else { renamed(args, "sum_to_size", "") }
}

/// `_saturate_weight_to_fp16`
pub(super) fn saturate(args: &mut Args<'_>) -> Result<Value> {
    operator("clamp", "", &[args.take(0), Value::Float(-65504.0), Value::Float(65504.0)])
}

/// `_euclidean_dist`
pub(super) fn euclidean(args: &mut Args<'_>) -> Result<Value> {
    operator("cdist", "", &[args.take(0), args.take(1), Value::Float(2.0), Value::None])
}

/// `_weight_int8pack_mm(self, mat2, scales)`
pub(super) fn int8_product(args: &mut Args<'_>) -> Result<Value> {
    let weight = args.tensor(1)?;
    ensure!(
        weight.dtype() == DType::I8 && weight.ndim() == 2,
        Runtime,
        "_weight_int8pack_mm: expected mat2 to be a matrix of dtype int8, but got {} with {} dimensions",
        weight.dtype(),
        weight.ndim()
    );
    let dtype = args.tensor(0)?.dtype();
    let weight = to(args.get(1)?, dtype)?;
    let product = operator("linear", "", &[args.take(0), weight, Value::None])?;
    operator("mul", "Tensor", &[product, args.take(2)])
}

/// `_pad_enum(self, pad, mode, value)`
pub(super) fn pad_enum(args: &mut Args<'_>) -> Result<Value> {
    let mode = match args.int(2)? {
        0 => "reflect",
        1 => "replicate",
        2 => "circular",
        3 => "constant",
        other => bail!(Value, "_pad_enum: {other} is no mode"),
    };
    operator("pad", "", &[args.take(0), args.take(1), mode.into(), args.take(3)])
}

/// `_reshape_copy`
pub(super) fn reshape_copy(args: &mut Args<'_>) -> Result<Value> {
    let shaped = renamed(args, "reshape", "")?;
    operator("clone", "", &[shaped, Value::Int(0)])
}

// ---- autocast --------------------------------------------------------------------------------------------------------

/// Whether autocast is enabled for the device of a tensor; the flags follow it.
fn is_enabled(args: &Args<'_>) -> Result<bool> {
    match args.tensor(0)?.device().kind {
        DeviceType::Cuda => args.bool(1),
        DeviceType::Cpu => args.bool(2),
        _ => Ok(false),
    }
}

/// `_autocast_to_full_precision`
pub(super) fn full_precision(args: &mut Args<'_>) -> Result<Value> {
    if matches!(args.tensor(0)?.dtype(), DType::F16 | DType::BF16) && is_enabled(args)? {
        return to(args.get(0)?, DType::F32);
    }
    Ok(args.take(0))
}

/// `_autocast_to_reduced_precision(self, cuda_enabled, cpu_enabled, cuda_dtype, cpu_dtype)`
pub(super) fn reduced_precision(args: &mut Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    if tensor.dtype() == DType::F32 && is_enabled(args)? {
        let code = args.int(if tensor.device().kind == DeviceType::Cuda { 3 } else { 4 })?;
        return to(args.get(0)?, DType::from_code(i32::try_from(code).unwrap_or(-1))?);
    }
    Ok(args.take(0))
}

// ---- layers ----------------------------------------------------------------------------------------------------------

/// `_embedding_bag`, `_embedding_bag_forward_only`: the padding index -1 stands for none
pub(super) fn embedding_bag(args: &mut Args<'_>) -> Result<Value> {
    if args.int(8)? < 0 {
        return operator("embedding_bag", "", args.all().get(..8).unwrap_or_default());
    }
    renamed(args, "embedding_bag", "padding_idx")
}

/// `_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps)`
pub(super) fn batch_norm_no_training(args: &mut Args<'_>) -> Result<Value> {
    let mut values = list::copied(args.all())?;
    values.insert(5.min(values.len()), false.into());
    operator("native_batch_norm", "", &values)
}

/// `_batch_norm_impl_index`: on the CPU always the native implementation, which has the number 0 and reserves nothing
pub(super) fn batch_norm_impl(args: &mut Args<'_>) -> Result<Value> {
    let results = operator("native_batch_norm", "", args.all().get(..8).unwrap_or_default())?;
    let mut results = list::copied(results.as_tuple()?.items())?;
    list::push(&mut results, Tensor::from_slice::<u8>(&[], &[0])?.into())?;
    list::push(&mut results, Value::Int(0))?;
    Ok(tuple(results))
}

// ---- gradients -------------------------------------------------------------------------------------------------------

/// Tensors of a list.
fn tensors(value: &Value) -> Result<Vec<Tensor>> {
    list::try_collect(value.as_list()?.values().iter().map(|value| value.as_tensor().cloned()))
}

/// `grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused)`
pub(super) fn grad(args: &mut Args<'_>) -> Result<Value> {
    let (outputs, inputs) = (tensors(args.get(0)?)?, tensors(args.get(1)?)?);
    let given = match args.get(2)? {
        Value::None => list::filled(outputs.len(), None)?,
        given => list::try_collect(given.as_list()?.values().iter().map(|value| match value {
            Value::None => Ok(None),
            value => value.as_tensor().cloned().map(Some),
        }))?,
    };
    let create = args.bool_or(4, false)?;
    let retain = args.bool_or(3, create)?;
    let (outputs, inputs): (Vec<&Tensor>, Vec<&Tensor>) = (outputs.iter().collect(), inputs.iter().collect());
    let given: Vec<Option<&Tensor>> = given.iter().map(Option::as_ref).collect();
    let gradients = autograd::grad(&outputs, &inputs, &given, retain, create, args.bool_or(5, false)?)?;
    let gradients = gradients.into_iter().map(Value::from);
    Ok(List::from_values(crate::types::Type::Tensor.optional()?, gradients)?.into())
}

/// `_backward(self, inputs, gradient, retain_graph, create_graph)`
pub(super) fn backward(args: &mut Args<'_>) -> Result<Value> {
    let inputs = tensors(args.get(1)?)?;
    let gradient = match args.get(2)? {
        Value::None => None,
        gradient => Some(gradient.as_tensor()?),
    };
    let create = args.bool_or(4, false)?;
    let retain = args.bool_or(3, create)?;
    let inputs: Vec<&Tensor> = inputs.iter().collect();
    autograd::backward(&[args.tensor(0)?], &[gradient], retain, create, &inputs)?;
    Ok(Value::None)
}
