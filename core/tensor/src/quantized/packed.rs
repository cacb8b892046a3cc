//! The saved state of packed parameters: what `__getstate__` returns and `__setstate__` takes in PyTorch 2.7.1, so that
//! files with quantized models restore the objects.

use super::convolution::{CLASS_2D, CLASS_3D, Convolution, Steps};
use super::embedding::{CLASS as EMBEDDING, Embedding};
use super::linear::{CLASS as LINEAR, Linear};
use super::recurrent::{CLASS as CELL, CellParams, Kind};
use crate::dispatch::{Items, Object, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, MemoryFormat, Result, Scalar, bail, ensure, err, format_sizes, list};

/// The classes of packed parameters.
pub const CLASSES: [&str; 5] = [LINEAR, CLASS_2D, CLASS_3D, EMBEDDING, CELL];

/// Whether objects of this class (`__torch__.torch.classes.quantized.LinearPackedParamsBase`) are packed parameters.
pub fn is_packed(class: &str) -> bool {
    CLASSES.contains(&class)
}

/// The object of a class of packed parameters with this state.
pub fn from_state(class: &str, state: Value) -> Result<Object> {
    match class {
        LINEAR => Object::new(class, linear(&state)?),
        CLASS_2D => Object::new(class, convolution(class, &state, 2)?),
        CLASS_3D => Object::new(class, convolution(class, &state, 3)?),
        EMBEDDING => Object::new(class, embedding(&state)?),
        CELL => Object::new(class, cell(&state)?),
        _ => Err(err!(Type, "{class} is no class of packed parameters")),
    }
}

/// The state of an object, from which [`from_state`] makes an equal one.
pub fn to_state(object: &Object) -> Result<Value> {
    if let Some(linear) = object.content::<Linear>() {
        let (weight, bias) = linear.parts();
        return tuple(vec![weight.clone().into(), bias.cloned().into()]);
    }
    if let Some(convolution) = object.content::<Convolution>() {
        return state_of_convolution(convolution);
    }
    if let Some(embedding) = object.content::<Embedding>() {
        let (floats, bits) = (Value::Floats(Vec::new()), Value::from(&[8i64][..]));
        return tuple(vec![1i64.into(), vec![embedding.weight.clone()].into(), floats, bits]);
    }
    if let Some(cell) = object.content::<CellParams>() {
        let objects = vec![Value::Object(cell.input.clone()), Value::Object(cell.state.clone())];
        let (name, biases, reduced) = match &cell.kind {
            Kind::Dynamic { biases, reduced } => ("quantized_dynamic", biases.to_vec(), vec![i64::from(*reduced)]),
            Kind::Half => ("quantized_fp16", Vec::new(), Vec::new()),
        };
        let weights = Value::List(Items::new(objects)?);
        let numbers = Value::Floats(Vec::new());
        return tuple(vec![name.to_owned().into(), biases.into(), numbers, Value::from(&reduced[..]), weights]);
    }
    Err(err!(Type, "an object of {} is no packed parameter of this library", object.class_name()))
}

fn tuple(values: Vec<Value>) -> Result<Value> {
    Ok(Value::Tuple(Items::new(values)?))
}

/// The values of a tuple.
fn elements<'a, const N: usize>(class: &str, state: &'a Value) -> Result<&'a [Value; N]> {
    match state {
        Value::Tuple(items) => items.first_chunk::<N>().filter(|_| items.len() == N),
        _ => None,
    }
    .ok_or_else(|| err!(Type, "the state of {class} must be a tuple of {N} values, but it is {}", described(state)))
}

fn described(state: &Value) -> String {
    match state {
        Value::Tuple(items) => format!("a tuple of {}", items.len()),
        other => other.kind().to_owned(),
    }
}

fn tensor<'a>(class: &str, value: &'a Value) -> Result<&'a Tensor> {
    match value {
        Value::Tensor(tensor) => Ok(tensor),
        other => bail!(Type, "the state of {class} has {} in the place of a tensor", other.kind()),
    }
}

fn tensor_opt<'a>(class: &str, value: &'a Value) -> Result<Option<&'a Tensor>> {
    if value.is_none() { Ok(None) } else { tensor(class, value).map(Some) }
}

/// Tensors of a list, in which None may occur.
fn tensors(class: &str, value: &Value) -> Result<Vec<Option<Tensor>>> {
    match value {
        Value::Tensors(tensors) => list::copied(tensors),
        Value::List(items) => list::try_collect(items.iter().map(|item| Ok(tensor_opt(class, item)?.cloned()))),
        empty if empty.is_empty_list() => Ok(Vec::new()),
        other => bail!(Type, "the state of {class} has {} in the place of a list of tensors", other.kind()),
    }
}

fn ints(class: &str, value: &Value) -> Result<Vec<i64>> {
    match value {
        Value::Ints(ints) => list::copied(ints),
        Value::List(items) => list::try_collect(items.iter().map(|item| match item {
            Value::Scalar(Scalar::Int(int)) => Ok(*int),
            other => bail!(Type, "the state of {class} has {} in a list of integers", other.kind()),
        })),
        empty if empty.is_empty_list() => Ok(Vec::new()),
        other => bail!(Type, "the state of {class} has {} in the place of integers", other.kind()),
    }
}

/// The numbers of a small integer tensor.
fn numbers(class: &str, tensor: &Tensor) -> Result<Vec<i64>> {
    ensure!(
        tensor.dtype().is_integral(false) && tensor.ndim() <= 1,
        Type,
        "the state of {class} has a tensor {} {} in the place of integers",
        format_sizes(&tensor.sizes()),
        tensor.dtype()
    );
    let wide = ops::to_dtype(tensor, DType::I64, false, false, None)?;
    ops::contiguous(&wide, MemoryFormat::Contiguous)?.to_vec()
}

/// (weight, bias): a quantized weight, or one of floats.
fn linear(state: &Value) -> Result<Linear> {
    let [weight, bias] = elements::<2>(LINEAR, state)?;
    let (weight, bias) = (tensor(LINEAR, weight)?, tensor_opt(LINEAR, bias)?);
    let name = "quantized::linear_prepack";
    if weight.is_quantized() { Linear::int8(name, weight, bias) } else { Linear::half(name, weight, bias) }
}

/// What the versions of the state of a convolution have in common.
struct Parts {
    config: Vec<i64>,
    weight: Tensor,
    bias: Option<Tensor>,
}

/// Version 1: (weight, bias, strides, paddings, dilations, groups), numbers in tensors.
fn first_version(class: &str, items: &[Value], dims: i64) -> Result<Parts> {
    let [weight, bias, stride, padding, dilation, groups] = items else {
        bail!(Type, "the state of {class} in version 1 has 6 values, not {}", items.len())
    };
    let mut config = vec![dims];
    for values in [stride, padding, dilation] {
        for tensor in tensors(class, values)? {
            let Some(tensor) = tensor else { bail!(Type, "the state of {class} has None in a list of numbers") };
            let numbers = numbers(class, &tensor)?;
            config.push(numbers.first().copied().ok_or_else(|| err!(Type, "the state of {class} has no number"))?);
        }
    }
    config.extend(vec![0; dims as usize]);
    let groups = numbers(class, tensor(class, groups)?)?;
    config.extend(groups.first());
    config.push(0);
    Ok(Parts { config, weight: tensor(class, weight)?.clone(), bias: tensor_opt(class, bias)?.cloned() })
}

/// Version 2: ("2", [numbers, weight], [bias]).
fn second_version(class: &str, items: &[Value]) -> Result<Parts> {
    let [_, given, optional] = items else {
        bail!(Type, "the state of {class} in version 2 has 3 values, not {}", items.len())
    };
    let (given, optional) = (tensors(class, given)?, tensors(class, optional)?);
    let [Some(config), Some(weight)] = &given[..] else {
        bail!(Type, "the state of {class} in version 2 must have two tensors, not {}", given.len())
    };
    let bias = optional.into_iter().next().flatten();
    Ok(Parts { config: numbers(class, config)?, weight: weight.clone(), bias })
}

/// Version 3: (3, numbers, [None, weight, bias]).
fn third_version(class: &str, items: &[Value]) -> Result<Parts> {
    let [_, config, given] = items else {
        bail!(Type, "the state of {class} in version 3 has 3 values, not {}", items.len())
    };
    let given = tensors(class, given)?;
    let [_, Some(weight), bias] = &given[..] else {
        bail!(Type, "the state of {class} in version 3 must have three tensors, of which the weight cannot be None")
    };
    Ok(Parts { config: ints(class, config)?, weight: weight.clone(), bias: bias.clone() })
}

/// A convolution of any version. The numbers are the number of dimensions, strides, paddings, dilations, output paddings,
/// groups, and whether it is transposed.
fn convolution(class: &str, state: &Value, dims: i64) -> Result<Convolution> {
    let Value::Tuple(items) = state else {
        bail!(Type, "the state of {class} must be a tuple, but it is {}", state.kind())
    };
    let parts = match items.first() {
        Some(Value::Tensor(_)) => first_version(class, items, dims)?,
        Some(Value::Str(version)) if &**version == "2" => second_version(class, items)?,
        Some(Value::Scalar(Scalar::Int(3))) => third_version(class, items)?,
        _ => bail!(Type, "the state of {class} is of an unknown version"),
    };
    let (config, each) = (&parts.config, dims as usize);
    ensure!(
        config.len() == 4 * each + 3 && config.first() == Some(&dims),
        Value,
        "the state of {class} has the numbers {}, which do not describe a convolution of {dims} dimensions",
        format_sizes(config)
    );
    let part = |nth: usize| config.iter().skip(1 + nth * each).take(each).copied().collect();
    let (groups, flags) = (config.get(4 * each + 1).copied(), config.get(4 * each + 2).copied());
    ensure!(matches!(flags, Some(0 | 1)), Value, "the state of {class} has unexpected flags {flags:?}");
    let steps = Steps {
        stride: part(0),
        padding: part(1),
        dilation: part(2),
        output_padding: part(3),
        groups: groups.unwrap_or(0),
        transposed: flags == Some(1),
    };
    Convolution::new("quantized::conv_prepack", &parts.weight, parts.bias.as_ref(), steps)
}

/// Version 2, which PyTorch 2.7.1 writes.
fn state_of_convolution(packed: &Convolution) -> Result<Value> {
    let steps = &packed.steps;
    let mut config = vec![steps.stride.len() as i64];
    [&steps.stride, &steps.padding, &steps.dilation, &steps.output_padding]
        .iter()
        .for_each(|part| config.extend(*part));
    config.extend([steps.groups, i64::from(steps.transposed)]);
    let narrow = |&value: &i64| {
        i16::try_from(value)
            .map_err(|_| err!(Value, "the number {value} of a convolution does not fit into its saved state"))
    };
    let numbers: Vec<i16> = list::try_collect(config.iter().map(narrow))?;
    let numbers = Tensor::from_slice(&numbers, &[config.len() as i64])?;
    let given = vec![numbers, packed.weight.clone()];
    tuple(vec!["2".to_owned().into(), given.into(), Value::Tensors(vec![packed.bias.clone()])])
}

/// (version, [weight], [], [bits]).
fn embedding(state: &Value) -> Result<Embedding> {
    let [version, given, _, bits] = elements::<4>(EMBEDDING, state)?;
    ensure!(
        matches!(version, Value::Scalar(Scalar::Int(1))),
        Value,
        "the state of {EMBEDDING} is of an unknown version"
    );
    let (given, bits) = (tensors(EMBEDDING, given)?, ints(EMBEDDING, bits)?);
    ensure!(bits[..] == [8], NotImplemented, "{EMBEDDING}: weights of {} bits are not supported", format_sizes(&bits));
    match &given[..] {
        [Some(weight)] => Embedding::new("quantized::embedding_bag_prepack", weight),
        _ => bail!(Type, "the state of {EMBEDDING} must have one tensor, not {}", given.len()),
    }
}

/// (kind, biases, [], [reduce_range], [packed weight of the input, of the state]).
fn cell(state: &Value) -> Result<CellParams> {
    let [kind, given, _, reduced, objects] = elements::<5>(CELL, state)?;
    let Value::Str(kind) = kind else {
        bail!(Type, "the state of {CELL} has {} in the place of its kind", kind.kind())
    };
    let objects: &[Value] = match objects {
        Value::List(items) => items,
        other => bail!(Type, "the state of {CELL} has {} in the place of packed weights", other.kind()),
    };
    let [input, hidden] = objects else {
        bail!(NotImplemented, "{CELL} of kind {kind:?} with {} packed weights is not supported", objects.len())
    };
    let biases = tensors(CELL, given)?;
    let reduced = ints(CELL, reduced)?;
    let kind = match (&**kind, &biases[..]) {
        ("quantized_dynamic", [Some(first), Some(second)]) => Kind::Dynamic {
            biases: [first.clone(), second.clone()],
            reduced: reduced.first().is_some_and(|reduced| *reduced != 0),
        },
        ("quantized_fp16", _) => Kind::Half,
        _ => bail!(NotImplemented, "{CELL} of kind {kind:?} with {} biases is not supported", biases.len()),
    };
    CellParams::new("quantized::make_quantized_cell_params", input, hidden, kind)
}
