//! Between tensors and other values: `item`, `tensor`, `tolist`, properties of tensors.

use super::args::Args;
use super::objects::call;
use crate::runtime::convert::{number_of, scalar_of};
use crate::runtime::list::{Items, List};
use crate::runtime::value::Value;
use crate::types::Type;
use rushlight_base::{
    Complex, DType, Device, DeviceType, Layout, MemoryFormat, Result, Scalar, bail, ensure, err, runtime,
};
use rushlight_tensor::{Tensor, autograd};

/// The number in a tensor with one element.
fn element(tensor: &Tensor) -> Result<Scalar> {
    let count = tensor.numel();
    ensure!(count == 1, Runtime, "a Tensor with {count} elements cannot be converted to Scalar");
    tensor.item()
}

pub(super) fn item(args: &mut Args<'_>) -> Result<Value> {
    number_of(element(args.tensor(0)?)?)
}

pub(super) fn int(args: &mut Args<'_>) -> Result<Value> {
    let mut number = [item(args)?];
    super::numbers::int(&mut Args::new(&mut number, args.context))
}

pub(super) fn float(args: &mut Args<'_>) -> Result<Value> {
    let mut number = [item(args)?];
    super::numbers::float(&mut Args::new(&mut number, args.context))
}

/// Complex from numbers and tensors.
pub(super) fn complex(args: &mut Args<'_>) -> Result<Value> {
    let part = |index: usize| match args.get(index)? {
        Value::Tensor(tensor) => Ok(element(tensor)?.to_complex()),
        other => other.as_complex(),
    };
    if args.len() == 1 {
        return Ok(part(0)?.into());
    }
    // A complex part turns.
    Ok((part(0)? + part(1)? * Complex::i()).into())
}

pub(super) fn bool(args: &mut Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let count = tensor.numel();
    match count {
        0 => bail!(Runtime, "Boolean value of Tensor with no values is ambiguous"),
        1 => Ok(element(tensor)?.to_bool().into()),
        _ => bail!(Runtime, "Boolean value of Tensor with more than one value is ambiguous"),
    }
}

/// Implicit conversions: only of 0-dim tensors without gradient.
fn implicit(args: &Args<'_>, to: &str) -> Result<Scalar> {
    let tensor = args.tensor(0)?;
    ensure!(!tensor.requires_grad(), Runtime, "Cannot input a tensor that requires grad as a scalar argument");
    ensure!(tensor.ndim() == 0, Runtime, "Cannot input a tensor of dimension other than 0 as a scalar argument");
    let dtype = tensor.dtype();
    let fits = match to {
        "int" => dtype.is_integral(false),
        _ => true,
    };
    ensure!(fits, Runtime, "Cannot input a tensor of type {} as an integral argument", dtype.c10_name());
    tensor.item()
}

pub(super) fn int_implicit(args: &mut Args<'_>) -> Result<Value> {
    Ok(implicit(args, "int")?.to_i64().into())
}

pub(super) fn float_implicit(args: &mut Args<'_>) -> Result<Value> {
    Ok(implicit(args, "float")?.to_f64().into())
}

pub(super) fn complex_implicit(args: &mut Args<'_>) -> Result<Value> {
    Ok(implicit(args, "complex")?.to_complex().into())
}

pub(super) fn scalar_implicit(args: &mut Args<'_>) -> Result<Value> {
    number_of(implicit(args, "Scalar")?)
}

pub(super) fn of_number(args: &mut Args<'_>) -> Result<Value> {
    let scalar = scalar_of(args.get(0)?)?;
    full(&[], scalar, scalar.dtype())
}

fn full(sizes: &[i64], scalar: Scalar, dtype: DType) -> Result<Value> {
    let mut options = rushlight_tensor::Options::of(dtype);
    options.device = Some(Device::CPU);
    Ok(rushlight_tensor::ops::full(sizes, scalar, options)?.into())
}

/// The dtype of a tensor of this number.
fn natural_dtype(scalar: Scalar) -> DType {
    match scalar {
        Scalar::Float(_) => runtime::default_dtype(),
        Scalar::Complex(_) => runtime::default_dtype().to_complex(),
        other => other.dtype(),
    }
}

// ---- torch.tensor, torch.as_tensor -------------------------------------------------------------------------------

/// `tensor(data, *, dtype, device, requires_grad)`
pub(super) fn tensor(args: &mut Args<'_>) -> Result<Value> {
    let created = created(args)?;
    if args.bool_or(3, false)? {
        created.as_tensor()?.set_requires_grad(true)?;
    }
    Ok(created)
}

/// `as_tensor(data, *, dtype, device)`
pub(super) fn as_tensor(args: &mut Args<'_>) -> Result<Value> {
    match args.get(0)? {
        Value::Tensor(_) => converted(args.take(0), args.get(1)?, args.get(2)?),
        _ => created(args),
    }
}

fn created(args: &Args<'_>) -> Result<Value> {
    let data = args.get(0)?;
    let tensor = match data {
        Value::List(list) => of_list(list)?,
        Value::Tensor(tensor) => call("clone", "", &[call("detach", "", &[tensor.clone().into()])?])?,
        number => {
            let scalar = scalar_of(number)?;
            full(&[], scalar, natural_dtype(scalar))?
        }
    };
    converted(tensor, args.get(1)?, args.get(2)?)
}

/// The tensor with another dtype and on another device, where they are given.
fn converted(tensor: Value, dtype: &Value, device: &Value) -> Result<Value> {
    if dtype.is_none() && device.is_none() {
        return Ok(tensor);
    }
    let named = [("dtype", dtype), ("device", device)];
    let named = named.into_iter().filter(|(_, value)| !value.is_none());
    let named: Vec<_> = named
        .map(|(name, value)| Ok((name.to_owned(), crate::runtime::convert::to_operator(value)?)))
        .collect::<Result<_>>()?;
    let args = vec![crate::runtime::convert::to_operator(&tensor)?];
    let mut results = rushlight_tensor::dispatch::by_name::call("to", "dtype_layout", args, named)?;
    crate::runtime::convert::from_operator(results.0.first_mut().map(std::mem::take).unwrap_or_default())
}

/// Lists inside of each other.
const MAX_DIMS: usize = 64;

fn of_list(list: &List) -> Result<Value> {
    let (mut sizes, mut level) = (Vec::new(), vec![Value::List(list.clone())]);
    // One level after the other: every list of a level has the same length.
    let numbers = loop {
        let mut next: Vec<Value> = Vec::new();
        let mut length = None;
        for value in &level {
            let Value::List(list) = value else { bail!(Runtime, "Expected all lists to be nested equally deep") };
            let items = list.items();
            let expected = *length.get_or_insert(items.len());
            ensure!(
                items.len() == expected,
                Runtime,
                "Expected sequence of length {expected} at dim {} (got {})",
                sizes.len(),
                items.len()
            );
            rushlight_base::list::reserve(&mut next, items.len())?;
            next.extend(items.iter());
        }
        sizes.push(length.unwrap_or(0) as i64);
        ensure!(sizes.len() <= MAX_DIMS, Runtime, "a list is nested more than {MAX_DIMS} deep");
        match next.first() {
            Some(Value::List(_)) => level = next,
            _ => break next,
        }
    };
    let kind = innermost(list.element());
    tensor_of(&numbers, &sizes, &kind)
}

fn innermost(element: &Type) -> Type {
    let mut element = element.clone();
    while let Type::List(inner) = element {
        element = (*inner).clone();
    }
    element
}

fn tensor_of(numbers: &[Value], sizes: &[i64], kind: &Type) -> Result<Value> {
    use rushlight_base::list::try_collect;
    let default = runtime::default_dtype();
    let dtype = match (kind, numbers.first()) {
        (_, Some(Value::Float(_))) | (Type::Float, None) => default,
        (_, Some(Value::Complex(_))) | (Type::Complex, None) => default.to_complex(),
        (_, Some(Value::Bool(_))) | (Type::Bool, None) => DType::Bool,
        (_, Some(Value::Tensor(_))) => DType::F32,
        _ if matches!(kind, Type::Float) => default,
        _ => DType::I64,
    };
    let tensor = match numbers.first() {
        Some(Value::Tensor(_)) => {
            let scalars: Vec<Value> = try_collect(numbers.iter().map(|value| number_of(element(value.as_tensor()?)?)))?;
            return tensor_of(&scalars, sizes, &Type::Tensor);
        }
        Some(Value::Float(_)) => {
            let values: Vec<f64> = try_collect(numbers.iter().map(Value::as_float))?;
            Tensor::from_slice(&values, sizes)?
        }
        Some(Value::Complex(_)) => {
            let values: Vec<Complex<f64>> = try_collect(numbers.iter().map(Value::as_complex))?;
            Tensor::from_slice(&values, sizes)?
        }
        Some(Value::Bool(_)) => {
            let values: Vec<i64> = try_collect(numbers.iter().map(Value::as_int))?;
            Tensor::from_slice(&values, sizes)?
        }
        Some(Value::Int(_)) => {
            let values: Vec<i64> = try_collect(numbers.iter().map(Value::as_int))?;
            Tensor::from_slice(&values, sizes)?
        }
        Some(other) => return Err(other.is_not("number")),
        None => return full(sizes, Scalar::Int(0), dtype),
    };
    converted(tensor.into(), &Value::Int(dtype as i64), &Value::None)
}

// ---- tolist --------------------------------------------------------------------------------------------------------

/// `prim::tolist(tensor, dim, type)`: the nested list of the elements; the number itself for dim 0.
pub(super) fn tolist(args: &mut Args<'_>) -> Result<Value> {
    let (dim, code) = (args.int(1)?, args.int(2)?);
    let kind = match code {
        0 => Type::Int,
        1 => Type::Float,
        2 => Type::Complex,
        3 => Type::Bool,
        _ => bail!(Runtime, "{code} is no type of elements of tolist"),
    };
    let tensor = call("detach", "", &[args.take(0)])?;
    let tensor = tensor.as_tensor()?;
    ensure!(
        tensor.ndim() as i64 == dim,
        Runtime,
        "Output annotation list dimension and runtime tensor dimension must match"
    );
    let dtype = tensor.dtype();
    let (fits, wide) = match kind {
        Type::Int => (dtype == DType::I64, DType::I64),
        Type::Float => (dtype.is_floating() && dtype == runtime::default_dtype() || dtype == DType::F64, DType::F64),
        Type::Complex => (dtype.is_complex(), DType::C128),
        _ => (dtype == DType::Bool, DType::I64),
    };
    let annotated = match kind {
        Type::Int => DType::I64,
        Type::Float => DType::F32,
        Type::Complex => DType::C64,
        _ => DType::Bool,
    };
    ensure!(
        fits,
        Runtime,
        "Output annotation element type and runtime tensor element type must match for tolist(): {} vs {}",
        annotated.c10_name(),
        dtype.c10_name()
    );
    let sizes = tensor.sizes();
    let wide = converted(tensor.clone().into(), &Value::Int(wide as i64), &Value::Device(Device::CPU))?;
    let wide = wide.as_tensor()?;
    let items = match kind {
        Type::Int => Items::Ints(wide.to_vec::<i64>()?),
        Type::Float => Items::Floats(wide.to_vec::<f64>()?),
        Type::Bool => Items::Bools(wide.to_vec::<i64>()?.into_iter().map(|value| value != 0).collect()),
        _ => Items::Values(wide.to_vec::<Complex<f64>>()?.into_iter().map(Value::Complex).collect()),
    };
    nested(&items, &sizes, &kind)
}

fn nested(items: &Items, sizes: &[i64], kind: &Type) -> Result<Value> {
    let Some((&last, outer)) = sizes.split_last() else {
        return items.get(0).ok_or_else(|| err!(Internal, "a 0-dim tensor without element"));
    };
    let last = usize::try_from(last).unwrap_or(0);
    let rows: i64 = outer.iter().product();
    let mut element = kind.clone();
    let mut level: Vec<Value> = Vec::new();
    for row in 0..usize::try_from(rows).unwrap_or(0) {
        let part = items.gather(row * last..(row + 1) * last)?;
        rushlight_base::list::push(&mut level, List::new(element.clone(), part).into())?;
    }
    element = element.list();
    for (at, &size) in outer.iter().enumerate().rev() {
        let size = usize::try_from(size).unwrap_or(0);
        let count = usize::try_from(outer.get(..at).unwrap_or_default().iter().product::<i64>()).unwrap_or(0);
        let mut parts = level.into_iter();
        let mut next = Vec::new();
        for _ in 0..count {
            next.push(List::from_values(element.clone(), parts.by_ref().take(size))?.into());
        }
        level = next;
        element = element.list();
    }
    level.into_iter().next().ok_or_else(|| err!(Internal, "tolist has no result"))
}

// ---- properties ------------------------------------------------------------------------------------------------------

pub(super) fn len(args: &mut Args<'_>) -> Result<Value> {
    match args.tensor(0)?.sizes().first() {
        Some(&size) => Ok(size.into()),
        None => bail!(Type, "len() of a 0-d tensor"),
    }
}

pub(super) fn data(args: &mut Args<'_>) -> Result<Value> {
    call("data", "", args.all())
}

pub(super) fn grad(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.grad().into())
}

pub(super) fn requires_grad(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.requires_grad().into())
}

fn layout_of(tensor: &Tensor) -> Layout {
    tensor.components().map_or(Layout::Strided, |components| components.layout())
}

pub(super) fn layout(args: &mut Args<'_>) -> Result<Value> {
    Ok((layout_of(args.tensor(0)?) as i64).into())
}

fn on_device(args: &Args<'_>, kind: DeviceType) -> Result<Value> {
    Ok((args.tensor(0)?.device().kind == kind).into())
}

pub(super) fn is_cpu(args: &mut Args<'_>) -> Result<Value> {
    on_device(args, DeviceType::Cpu)
}

pub(super) fn is_cuda(args: &mut Args<'_>) -> Result<Value> {
    on_device(args, DeviceType::Cuda)
}

pub(super) fn is_meta(args: &mut Args<'_>) -> Result<Value> {
    on_device(args, DeviceType::Meta)
}

pub(super) fn is_sparse(args: &mut Args<'_>) -> Result<Value> {
    Ok((layout_of(args.tensor(0)?) == Layout::Sparse).into())
}

pub(super) fn is_sparse_csr(args: &mut Args<'_>) -> Result<Value> {
    Ok((layout_of(args.tensor(0)?) == Layout::SparseCsr).into())
}

pub(super) fn is_nested(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.is_nested().into())
}

pub(super) fn is_quantized(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.tensor(0)?.dtype().is_quantized().into())
}

/// `is_contiguous(self, memory_format)`
pub(super) fn is_contiguous(args: &mut Args<'_>) -> Result<Value> {
    let format = match args.all().get(1) {
        Some(format) => MemoryFormat::from_code(i32::try_from(format.as_int()?).unwrap_or(-1))?,
        None => MemoryFormat::Contiguous,
    };
    Ok(args.tensor(0)?.is_contiguous(format).into())
}

pub(super) fn itemsize(args: &mut Args<'_>) -> Result<Value> {
    Ok((args.tensor(0)?.dtype().size() as i64).into())
}

pub(super) fn nbytes(args: &mut Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    Ok((tensor.numel() * tensor.dtype().size() as i64).into())
}

// ---- operators under another name ---------------------------------------------------------------------------------

macro_rules! renamed {
    ($($name:ident: $operator:literal, $overload:literal;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            call($operator, $overload, args.all())
        }
    )*};
}

renamed! {
    and: "bitwise_and", "Tensor";
    and_scalar: "bitwise_and", "Scalar";
    or: "bitwise_or", "Tensor";
    or_scalar: "bitwise_or", "Scalar";
    xor: "bitwise_xor", "Tensor";
    xor_scalar: "bitwise_xor", "Scalar";
    and_in_place: "bitwise_and_", "Tensor";
    and_scalar_in_place: "bitwise_and_", "Scalar";
    or_in_place: "bitwise_or_", "Tensor";
    or_scalar_in_place: "bitwise_or_", "Scalar";
    xor_in_place: "bitwise_xor_", "Tensor";
    xor_scalar_in_place: "bitwise_xor_", "Scalar";
    abs: "abs", "";
    add_gradients: "add", "Tensor";
}

/// `copy_(self, number)`
pub(super) fn copy_number(args: &mut Args<'_>) -> Result<Value> {
    call("fill_", "Scalar", args.all())
}

/// The convolution that traced programs call, with settings of a backend at the end.
pub(super) fn convolution(args: &mut Args<'_>) -> Result<Value> {
    call("convolution", "", args.all().get(..9).unwrap_or_default())
}

pub(super) fn cpu(args: &mut Args<'_>) -> Result<Value> {
    converted(args.take(0), &Value::None, &Value::Device(Device::CPU))
}

pub(super) fn cuda(args: &mut Args<'_>) -> Result<Value> {
    converted(args.take(0), &Value::None, &Value::Device(Device::parse("cuda")?))
}

/// `to(device, dtype, non_blocking, copy)`
pub(super) fn to_device(args: &mut Args<'_>) -> Result<Value> {
    let copy = args.bool_or(4, false)?;
    let (device, dtype) = (args.take(1), args.take(2));
    moved(args.take(0), &dtype, &device, copy)
}

/// `to(dtype, non_blocking, copy)`
pub(super) fn to_dtype(args: &mut Args<'_>) -> Result<Value> {
    let copy = args.bool_or(3, false)?;
    let dtype = args.take(1);
    moved(args.take(0), &dtype, &Value::None, copy)
}

/// `to(non_blocking, copy)`
pub(super) fn to_same(args: &mut Args<'_>) -> Result<Value> {
    let copy = args.bool_or(2, false)?;
    moved(args.take(0), &Value::None, &Value::None, copy)
}

fn moved(tensor: Value, dtype: &Value, device: &Value, copy: bool) -> Result<Value> {
    let before = tensor.clone();
    let after = converted(tensor, dtype, device)?;
    if copy && after.is(&before) {
        return call("clone", "", &[after]);
    }
    Ok(after)
}

/// `backward(gradient, retain_graph, create_graph)`
pub(super) fn backward(args: &mut Args<'_>) -> Result<Value> {
    let gradient = match args.get(1) {
        Ok(Value::Tensor(gradient)) => Some(gradient),
        _ => None,
    };
    let create = args.bool_or(3, false)?;
    let retain = args.bool_or(2, create)?;
    autograd::backward(&[args.tensor(0)?], &[gradient], retain, create, &[])?;
    Ok(Value::None)
}
