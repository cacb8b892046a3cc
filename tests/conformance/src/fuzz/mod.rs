//! Random calls of every operator through `rlt_op_call`: each must succeed or return an ordinary error, and leak no
//! handle. A panic inside the library (`INTERNAL`) is a defect, as is a result that cannot be read.
//!
//! Call number `i` under a seed is always the same, in any process.

mod sampler;

use crate::door::{Door, INTERNAL, Tensor, Value};
use rushlight_base::DeviceType;
use rushlight_schema::Signature;
use sampler::{Call, Sampler};

/// Makes random calls.
pub struct Fuzz<'a> {
    door: &'a Door,
    operators: Vec<Signature>,
    seed: u64,
}

impl<'a> Fuzz<'a> {
    /// Calls under `seed` of all operators, or of those named `only`.
    pub fn new(door: &'a Door, seed: u64, only: Option<&str>) -> Result<Fuzz<'a>, String> {
        let parse = |schema: &String| schema.parse::<Signature>().map_err(|error| error.message().to_owned());
        let mut operators: Vec<Signature> = door.schemas()?.iter().map(parse).collect::<Result<_, _>>()?;
        operators.retain(|op| only.is_none_or(|only| op.name == only || op.full_name() == only));
        if operators.is_empty() {
            return Err("there is no such operator".into());
        }
        Ok(Fuzz { door, operators, seed })
    }

    /// The operator of call `index`.
    pub fn operator(&self, index: u64) -> &Signature {
        &self.operators[(index % self.operators.len() as u64) as usize]
    }

    /// Makes call `index`; an error describes a defect of the library.
    pub fn call(&self, index: u64) -> Result<(), String> {
        let before = self.door.live_handles()?;
        self.attempt(index)?;
        let after = self.door.live_handles()?;
        if after == before { Ok(()) } else { Err(format!("{} handles are left", after - before)) }
    }

    /// Describes call `index` without making it.
    pub fn describe(&self, index: u64) -> Result<String, String> {
        let op = self.operator(index);
        let call = Sampler::new(self.door, self.seed, index).call(op)?;
        let mut parts: Vec<String> = call.args.iter().map(|value| self.show(value)).collect();
        parts.extend(call.kwargs.iter().map(|(name, value)| format!("{name}={}", self.show(value))));
        Ok(format!("{}({})", op.full_name(), parts.join(", ")))
    }

    fn attempt(&self, index: u64) -> Result<(), String> {
        let op = self.operator(index);
        let mut sampler = Sampler::new(self.door, self.seed, index);
        let Call { args, kwargs, leaves } = sampler.call(op)?;
        let outs = match self.door.call(&op.name, &op.overload, args, kwargs) {
            Ok(outs) => outs,
            Err(error) => return ours(error),
        };
        for out in outs.iter().filter_map(Value::tensor) {
            if !self.door.is_nested(out)? {
                self.door.layout(out)?;
            }
        }
        if sampler.chance(50) { self.backward(&outs, &leaves) } else { Ok(()) }
    }

    /// Gradients may also be rejected.
    fn backward(&self, outs: &[Value], leaves: &[Tensor]) -> Result<(), String> {
        let mut roots = Vec::new();
        for out in outs.iter().filter_map(Value::tensor) {
            if self.door.requires_grad(out)? {
                // A sparse result has no elements to fill with ones; a strided one is returned as it is.
                let strided = self.door.call("aten::to_dense", "", vec![Value::Tensor(out.clone())], Vec::new());
                let strided = match strided.as_deref() {
                    Ok([Value::Tensor(strided)]) => strided,
                    _ => continue,
                };
                let ones = self.door.call("aten::ones_like", "", vec![Value::Tensor(strided.clone())], Vec::new())?;
                roots.extend(ones.first().and_then(Value::tensor).map(|ones| (strided.clone(), ones.clone())));
            }
        }
        if roots.is_empty() || leaves.is_empty() {
            return Ok(());
        }
        self.door.gradient_tensors(&roots, leaves, false).map(drop).or_else(|error| ours(format!("backward: {error}")))
    }

    fn show(&self, value: &Value) -> String {
        match value {
            Value::Tensor(tensor) => self.show_tensor(tensor),
            Value::Tensors(list) => {
                let each =
                    list.iter().map(|item| item.as_ref().map_or("None".into(), |tensor| self.show_tensor(tensor)));
                format!("[{}]", each.collect::<Vec<_>>().join(", "))
            }
            Value::None => "None".into(),
            Value::Scalar(value) => format!("{value:?}"),
            Value::Ints(list) => format!("{list:?}"),
            Value::Floats(list) => format!("{list:?}"),
            Value::Bools(list) => format!("{list:?}"),
            Value::Scalars(list) => {
                format!("{:?}", list.iter().map(|number| (number.re, number.im)).collect::<Vec<_>>())
            }
            Value::Str(text) => format!("{text:?}"),
            Value::Code(tag, code) => format!("code {code} of tag {tag}"),
            Value::Device(device) => format!("{device}"),
        }
    }

    fn show_tensor(&self, tensor: &Tensor) -> String {
        match self.door.layout(tensor) {
            Ok((dtype, sizes, strides)) => {
                let meta = self.door.device(tensor).is_ok_and(|device| device == DeviceType::Meta);
                let grad = self.door.requires_grad(tensor).unwrap_or(false);
                let marks = [(meta, " meta"), (grad, " grad")].map(|(on, mark)| if on { mark } else { "" }).concat();
                format!("{dtype} {sizes:?} / {strides:?}{marks}")
            }
            Err(error) => error,
        }
    }
}

/// An error is a valid result, unless only a bug explains it.
fn ours(error: String) -> Result<(), String> {
    if error.contains(INTERNAL) { Err(error) } else { Ok(()) }
}
