//! Values as the zoo records them.

use rushlight_base::{Complex, DType, Device, Result};
use rushlight_script::runtime::dict::Dict;
use rushlight_script::runtime::list::List;
use rushlight_script::runtime::object::Tuple;
use rushlight_script::runtime::value::Value;
use rushlight_script::types::Type;
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::{Tensor, Value as Boxed};
use serde_json::Value as Json;
use std::collections::HashMap;

/// The tensors of the cases by name.
pub type Tensors = HashMap<String, Tensor>;

fn float(value: &Json) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn call(name: &str, overload: &str, args: Vec<Boxed>) -> Result<Tensor> {
    by_name::call(name, overload, args, Vec::new())?.extract()
}

fn tensor(value: &Json, tensors: &Tensors) -> Tensor {
    let stored = &tensors[value["tensor"].as_str().unwrap()];
    let mut tensor = stored.clone();
    if !value["complex"].is_null() {
        tensor = call("view_as_complex", "", vec![stored.into()]).unwrap();
    } else if !value["quantized"].is_null() {
        let args = vec![stored.into(), float(&value["scale"]).into(), value["zero_point"].as_i64().unwrap().into()];
        tensor = call("_make_per_tensor_quantized_tensor", "", args).unwrap();
    } else {
        // A case may write into its arguments.
        tensor = call("clone", "", vec![(&tensor).into()]).unwrap();
    }
    if value["requires_grad"].as_bool() == Some(true) {
        tensor.set_requires_grad(true).unwrap();
    }
    tensor
}

/// A recorded value.
pub fn read(json: &Json, tensors: &Tensors) -> Value {
    let object = json.as_object().unwrap();
    let has = |key: &str| object.contains_key(key);
    let items = |key: &str| json[key].as_array().unwrap().iter().map(|item| read(item, tensors)).collect::<Vec<_>>();
    if has("tensor") {
        tensor(json, tensors).into()
    } else if has("int") {
        Value::Int(json["int"].as_i64().unwrap())
    } else if has("float") {
        Value::Float(float(&json["float"]))
    } else if has("bool") {
        Value::Bool(json["bool"].as_bool().unwrap())
    } else if has("str") {
        json["str"].as_str().unwrap().into()
    } else if has("none") {
        Value::None
    } else if has("complex") {
        Complex::new(float(&json["complex"][0]), float(&json["complex"][1])).into()
    } else if has("list") {
        let items = items("list");
        let element = items.first().map_or(Type::Any, Value::type_of);
        List::from_values(element, items).unwrap().into()
    } else if has("tuple") {
        Tuple::new(items("tuple")).into()
    } else if has("dict") {
        let pairs: Vec<(Value, Value)> = json["dict"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pair| {
                let key = if pair[0].is_object() { read(&pair[0], tensors) } else { plain(&pair[0]) };
                (key, read(&pair[1], tensors))
            })
            .collect();
        let kinds = pairs.first().map_or((Type::Str, Type::Any), |(k, v)| (k.type_of(), v.type_of()));
        Dict::from_entries(kinds.0, kinds.1, pairs).unwrap().into()
    } else if has("sparse_coo") {
        let parts = &json["sparse_coo"];
        let size: Vec<i64> = parts["size"].as_array().unwrap().iter().map(|size| size.as_i64().unwrap()).collect();
        let (indices, values) = (tensor(&parts["indices"], tensors), tensor(&parts["values"], tensors));
        let args = vec![(&indices).into(), (&values).into(), Boxed::from(&*size)];
        call("sparse_coo_tensor", "indices_size", args).unwrap().into()
    } else if has("device") {
        Device::parse(json["device"].as_str().unwrap()).unwrap().into()
    } else if has("dtype_value") {
        let name = json["dtype_value"].as_str().unwrap().trim_start_matches("torch.");
        Value::Int(DType::from_name(name).unwrap() as i64)
    } else {
        panic!("{json} is no value")
    }
}

fn plain(json: &Json) -> Value {
    match json {
        Json::String(text) => text.as_str().into(),
        Json::Bool(flag) => Value::Bool(*flag),
        number => number.as_i64().map_or_else(|| Value::Float(float(number)), Value::Int),
    }
}

/// How close results must be.
pub struct Close<'a> {
    pub absolute: f64,
    pub tensors: &'a Tensors,
}

/// The elements as float64, the parts of complex numbers one after the other.
pub fn doubles(tensor: &Tensor) -> Result<Vec<f64>> {
    let mut tensor = call("detach", "", vec![tensor.into()])?;
    if tensor.components().is_some() && !tensor.dtype().is_quantized() {
        tensor = call("to_dense", "", vec![(&tensor).into()])?;
    }
    if tensor.dtype().is_quantized() {
        tensor = call("int_repr", "", vec![(&tensor).into()])?;
    }
    if tensor.dtype().is_complex() {
        tensor = call("view_as_real", "", vec![(&call("resolve_conj", "", vec![(&tensor).into()])?).into()])?;
    }
    call("to", "dtype", vec![(&tensor).into(), DType::F64.into()])?.to_vec::<f64>()
}

/// Whether a result is the recorded one; the reason if not.
pub fn compare(actual: &Value, expected: &Json, close: &Close<'_>) -> Result<(), String> {
    agrees(actual, &read(expected, close.tensors), close)
}

fn agrees(actual: &Value, expected: &Value, close: &Close<'_>) -> Result<(), String> {
    let all = |a: &[Value], b: &[Value]| -> Result<(), String> {
        if a.len() != b.len() {
            return Err(format!("{} elements, not {}", a.len(), b.len()));
        }
        a.iter()
            .zip(b)
            .enumerate()
            .try_for_each(|(at, (a, b))| agrees(a, b, close).map_err(|error| format!("[{at}] {error}")))
    };
    let near =
        |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= close.absolute.max(1e-9 * b.abs());
    let equal = match (actual, expected) {
        (Value::Float(a), Value::Float(b)) => near(*a, *b),
        (Value::Complex(a), Value::Complex(b)) => near(a.re, b.re) && near(a.im, b.im),
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => return all(&a.values(), &b.values()),
        (Value::Tuple(a), Value::Tuple(b)) => return all(a.items(), b.items()),
        (Value::Dict(a), Value::Dict(b)) => {
            let parts = |dict: &Dict| dict.entries().into_iter().flat_map(|(k, v)| [k, v]).collect::<Vec<_>>();
            return all(&parts(a), &parts(b));
        }
        (Value::Enum(member), expected) => return agrees(member.value(), expected, close),
        (Value::Tensor(a), Value::Tensor(b)) => {
            if a.sizes() != b.sizes() || a.dtype() != b.dtype() {
                return Err(format!("{} {:?}, not {} {:?}", a.dtype(), a.sizes(), b.dtype(), b.sizes()));
            }
            let (a, b) = (doubles(a).map_err(|e| e.to_string())?, doubles(b).map_err(|e| e.to_string())?);
            let worst = a.iter().zip(&b).filter(|(a, b)| !near(**a, **b)).map(|(a, b)| (a - b).abs()).reduce(f64::max);
            return match worst {
                None => Ok(()),
                Some(worst) => Err(format!("differs by {worst:e}, more than {:e}", close.absolute)),
            };
        }
        (a, b) => a.is(b),
    };
    if equal { Ok(()) } else { Err(format!("{actual:?}, not {expected:?}")) }
}
