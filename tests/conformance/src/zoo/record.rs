//! Values as `meta.json` of a model records them.

use super::module::Tensors;
use super::value::Value;
use crate::door::{self, Door, Tensor};
use rushlight_base::{DType, Device};
use serde_json::Value as Json;

/// Reads recorded values.
pub struct Reader<'a> {
    /// The library that tensors are made with.
    pub door: &'a Door,
    /// The tensors of the cases.
    pub tensors: &'a Tensors,
}

/// Calls an operator with one result, a tensor.
pub(crate) fn call(door: &Door, name: &str, overload: &str, args: Vec<door::Value>) -> Result<Tensor, String> {
    let results = door.call(name, overload, args, Vec::new())?;
    results.first().and_then(door::Value::tensor).cloned().ok_or_else(|| format!("{name} gave no tensor"))
}

fn float(json: &Json) -> Option<f64> {
    // inf and nan are text.
    json.as_f64().or_else(|| json.as_str()?.parse().ok())
}

/// A key of a dict that is not written as a value.
fn plain(json: &Json) -> Option<Value> {
    Some(match json {
        Json::String(text) => Value::Str(text.clone()),
        Json::Bool(on) => Value::Bool(*on),
        number => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64()?),
        },
    })
}

impl Reader<'_> {
    /// A recorded value. Its tensors are copies: a case may write into its arguments.
    pub fn value(&self, json: &Json) -> Result<Value, String> {
        let (kind, content) = Self::kind(json)?;
        let simple = match kind {
            "int" => content.as_i64().map(Value::Int),
            "float" => float(content).map(Value::Float),
            "bool" => content.as_bool().map(Value::Bool),
            "str" => content.as_str().map(|text| Value::Str(text.to_owned())),
            "none" => Some(Value::None),
            "complex" => float(&content[0]).zip(float(&content[1])).map(|(re, im)| Value::Complex([re, im])),
            "device" => content.as_str().and_then(|name| Device::parse(name).ok()).map(Value::Device),
            "dtype_value" => {
                let name = content.as_str().map(|name| name.trim_start_matches("torch."));
                name.and_then(|name| DType::from_name(name).ok()).map(|dtype| Value::Int(dtype as i64))
            }
            "tensor" => return self.tensor(json).map(Value::Tensor),
            "sparse_coo" => return self.sparse(content).map(Value::Tensor),
            "list" => return self.all(content).map(Value::List),
            "tuple" => return self.all(content).map(Value::Tuple),
            _ => return self.dict(content).map(Value::Dict),
        };
        simple.ok_or_else(|| format!("{json} is not a value"))
    }

    /// The kind of a value and what stands under it.
    fn kind(json: &Json) -> Result<(&'static str, &Json), String> {
        // A tensor may have "complex" beside it.
        let kinds = [
            "tensor",
            "int",
            "float",
            "bool",
            "str",
            "none",
            "complex",
            "list",
            "tuple",
            "dict",
            "sparse_coo",
            "device",
            "dtype_value",
        ];
        let found = kinds.iter().find_map(|kind| json.get(kind).map(|content| (*kind, content)));
        found.ok_or_else(|| format!("{json} is not a value"))
    }

    fn all(&self, json: &Json) -> Result<Vec<Value>, String> {
        let items = json.as_array().ok_or_else(|| format!("{json} is not a list"))?;
        items.iter().map(|item| self.value(item)).collect()
    }

    fn dict(&self, json: &Json) -> Result<Vec<Value>, String> {
        let mut parts = Vec::new();
        for pair in json.as_array().ok_or_else(|| format!("{json} is not a dict"))? {
            parts.push(match &pair[0] {
                key @ Json::Object(_) => self.value(key)?,
                key => plain(key).ok_or_else(|| format!("{key} is not a key"))?,
            });
            parts.push(self.value(&pair[1])?);
        }
        Ok(parts)
    }

    fn tensor(&self, json: &Json) -> Result<Tensor, String> {
        let name = json["tensor"].as_str().unwrap_or_default();
        let stored = self.tensors.get(name).ok_or_else(|| format!("the cases have no tensor '{name}'"))?;
        let copy = self.door.copy(stored)?;
        let flag = |key: &str| !json[key].is_null() && json[key] != false;
        let tensor = if flag("complex") {
            call(self.door, "aten::view_as_complex", "", vec![door::Value::Tensor(copy)])?
        } else if flag("quantized") {
            let scale = float(&json["scale"]).ok_or("a quantized tensor has no scale")?;
            let zero_point = json["zero_point"].as_i64().ok_or("a quantized tensor has no zero point")?;
            let args = vec![
                door::Value::Tensor(copy),
                door::Value::Scalar(scale.into()),
                door::Value::Scalar(zero_point.into()),
            ];
            call(self.door, "aten::_make_per_tensor_quantized_tensor", "", args)?
        } else {
            copy
        };
        if flag("requires_grad") {
            self.door.require_grad(&tensor)?;
        }
        Ok(tensor)
    }

    fn sparse(&self, json: &Json) -> Result<Tensor, String> {
        let size: Option<Vec<i64>> = json["size"].as_array().and_then(|size| size.iter().map(Json::as_i64).collect());
        let args = vec![
            door::Value::Tensor(self.tensor(&json["indices"])?),
            door::Value::Tensor(self.tensor(&json["values"])?),
            door::Value::Ints(size.ok_or("a sparse tensor has no size")?),
        ];
        call(self.door, "aten::sparse_coo_tensor", "indices_size", args)
    }
}
