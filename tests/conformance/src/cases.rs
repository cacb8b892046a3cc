//! Reads a golden file: a safetensors file whose metadata lists the cases (format: tests/data/golden.md).

use crate::host::HostTensor;
use rushlight_base::{DType, Result, Scalar, ensure, err};
use serde_json::Value as Json;
use std::collections::HashMap;

/// An argument or result, as recorded.
#[derive(Clone, Debug)]
pub enum Item {
    /// None
    None,
    /// A bool, integer, float or complex number.
    Scalar(Scalar),
    /// Text.
    Str(String),
    /// A dtype.
    DType(DType),
    /// A device.
    Device(String),
    /// A layout; only strided ones were recorded.
    Layout,
    /// A memory format, by PyTorch's name.
    MemoryFormat(String),
    /// Several.
    List(Vec<Item>),
    /// A tensor.
    Tensor(HostTensor),
}

/// One recorded call.
#[derive(Debug)]
pub struct Case {
    /// `aten::add.Tensor`
    pub op: String,
    /// Arguments by position.
    pub args: Vec<Item>,
    /// Arguments by name.
    pub kwargs: Vec<(String, Item)>,
    /// Results; one list result is spread.
    pub outs: Vec<Item>,
    /// The values of arguments after the call, by position.
    pub mutated: Vec<(String, Item)>,
    /// The gradient given to each result.
    pub grad_outs: Vec<Item>,
    /// The gradient each argument got.
    pub grads: Vec<(String, Item)>,
    /// The result depends on the generator.
    pub random: bool,
    /// Seed of the generator, in files of random numbers.
    pub seed: Option<i64>,
    /// The result of `rand(4)` right after the call, in files of random numbers.
    pub next: Option<Item>,
    /// The first line of the error that the call fails with. Such a case has no results.
    pub error: Option<String>,
}

impl Case {
    /// A call of the same operator with nothing recorded.
    pub fn bare(&self) -> Case {
        Case {
            op: self.op.clone(),
            args: Vec::new(),
            kwargs: Vec::new(),
            outs: Vec::new(),
            mutated: Vec::new(),
            grad_outs: Vec::new(),
            grads: Vec::new(),
            random: self.random,
            seed: None,
            next: None,
            error: self.error.clone(),
        }
    }

    /// Name and overload: `aten::add`, `Tensor`.
    pub fn name(&self) -> (&str, &str) {
        self.op.split_once('.').unwrap_or((&self.op, ""))
    }
}

struct File<'a> {
    header: serde_json::Map<String, Json>,
    data: &'a [u8],
}

/// The cases in the bytes of a golden file.
pub fn read(bytes: &[u8]) -> Result<Vec<Case>> {
    let bad = || err!(Io, "not a golden file");
    let length = u64::from_le_bytes(bytes.get(..8).ok_or_else(bad)?.try_into().map_err(|_| bad())?) as usize;
    let header = bytes.get(8..8 + length).ok_or_else(bad)?;
    let header: Json = serde_json::from_slice(header).map_err(|error| err!(Io, "{error}"))?;
    let header = header.as_object().ok_or_else(bad)?.clone();
    let file = File { data: &bytes[8 + length..], header };
    let cases = file.header["__metadata__"]["cases"].as_str().ok_or_else(bad)?;
    let cases: Json = serde_json::from_str(cases).map_err(|error| err!(Io, "{error}"))?;
    cases.as_array().ok_or_else(bad)?.iter().map(|case| file.case(case)).collect()
}

impl File<'_> {
    fn case(&self, json: &Json) -> Result<Case> {
        let items = |key: &str| match json.get(key) {
            Some(Json::Array(list)) => list.iter().map(|item| self.item(item)).collect(),
            _ => Ok(Vec::new()),
        };
        let named = |key: &str| -> Result<Vec<(String, Item)>> {
            match json.get(key) {
                Some(Json::Object(map)) => {
                    map.iter().map(|(name, item)| Ok((name.clone(), self.item(item)?))).collect()
                }
                _ => Ok(Vec::new()),
            }
        };
        Ok(Case {
            op: json["op"].as_str().unwrap_or_default().to_owned(),
            args: items("args")?,
            kwargs: named("kwargs")?,
            outs: items("outs")?,
            mutated: named("mutated")?,
            grad_outs: items("grad_outs")?,
            grads: named("grads")?,
            random: json["random"].as_bool().unwrap_or(false),
            seed: json.get("seed").and_then(Json::as_i64),
            next: json.get("next").map(|next| self.item(next)).transpose()?,
            error: json.get("error").and_then(Json::as_str).map(str::to_owned),
        })
    }

    fn item(&self, json: &Json) -> Result<Item> {
        let text = |key: &str| json.get(key).and_then(Json::as_str).map(str::to_owned);
        Ok(match json {
            Json::Null => Item::None,
            Json::Bool(value) => Item::Scalar(Scalar::Bool(*value)),
            Json::Number(number) => Item::Scalar(match number.as_i64() {
                Some(value) => Scalar::Int(value),
                None => Scalar::Float(number.as_f64().unwrap_or(f64::NAN)),
            }),
            Json::Array(list) => Item::List(list.iter().map(|item| self.item(item)).collect::<Result<_>>()?),
            Json::Object(map) if map.contains_key("shape") => Item::Tensor(self.tensor(json)?),
            Json::Object(map) if map.contains_key("complex") => {
                let part = |at: usize| match self.item(&map["complex"][at]) {
                    Ok(Item::Scalar(value)) => value.to_f64(),
                    _ => f64::NAN,
                };
                Item::Scalar(Scalar::Complex(rushlight_base::Complex::new(part(0), part(1))))
            }
            Json::Object(map) if map.contains_key("f") => Item::Scalar(Scalar::Float(match map["f"].as_str() {
                Some("inf") => f64::INFINITY,
                Some("-inf") => f64::NEG_INFINITY,
                _ => f64::NAN,
            })),
            Json::Object(map) if map.contains_key("layout") => Item::Layout,
            Json::Object(_) => {
                if let Some(name) = text("dtype") {
                    Item::DType(DType::from_name(&name)?)
                } else if let Some(name) = text("device") {
                    Item::Device(name)
                } else if let Some(name) = text("memory_format") {
                    Item::MemoryFormat(name)
                } else {
                    Item::Str(text("s").ok_or_else(|| err!(Io, "unknown value {json}"))?)
                }
            }
            Json::String(other) => return Err(err!(Io, "unknown value '{other}'")),
        })
    }

    fn tensor(&self, json: &Json) -> Result<HostTensor> {
        let ints = |key: &str| -> Option<Vec<i64>> {
            Some(json.get(key)?.as_array()?.iter().filter_map(Json::as_i64).collect())
        };
        let dtype = DType::from_name(json["dtype"].as_str().unwrap_or_default())?;
        let shape = ints("shape").unwrap_or_default();
        let bytes = match json.get("t").and_then(Json::as_str) {
            None => None,
            Some(key) => {
                let range = &self.header[key]["data_offsets"];
                let (first, last) = (range[0].as_u64().unwrap_or(0) as usize, range[1].as_u64().unwrap_or(0) as usize);
                let bytes = self.data.get(first..last).ok_or_else(|| err!(Io, "tensor {key} lies outside the file"))?;
                let expected = shape.iter().product::<i64>() as usize * dtype.size();
                ensure!(bytes.len() == expected, Io, "tensor {key} has {} bytes, not {expected}", bytes.len());
                Some(bytes.to_vec())
            }
        };
        Ok(HostTensor { dtype, shape, strides: ints("strides"), bytes })
    }
}

/// The items of one operator's cases, by operator name with overload.
pub fn by_operator(cases: Vec<Case>) -> Vec<(String, Vec<Case>)> {
    let mut order = Vec::new();
    let mut groups: HashMap<String, Vec<Case>> = HashMap::new();
    for case in cases {
        let group = groups.entry(case.op.clone()).or_default();
        if group.is_empty() {
            order.push(case.op.clone());
        }
        group.push(case);
    }
    order.into_iter().map(|op| groups.remove(&op).map(|cases| (op, cases)).unwrap_or_default()).collect()
}
