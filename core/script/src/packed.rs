//! The methods of PyTorch's classes of packed parameters. Each calls an operator.

use crate::builtins::{Args, Builtin};
use crate::runtime::convert::{from_operator, to_operator};
use crate::runtime::object::Tuple;
use crate::runtime::value::Value;
use crate::schema::Schema;
use rushlight_base::{Result, list};
use rushlight_tensor::dispatch::by_name;
use std::sync::Arc;

/// A method: class, name, what it returns, and its function.
type Row = (&'static str, &'static str, &'static str, Builtin);

macro_rules! method {
    ($class:literal, $name:literal, $returns:literal, $operator:literal) => {
        ($class, $name, $returns, |args| invoke($operator, args))
    };
}

const METHODS: [Row; 9] = [
    method!("LinearPackedParamsBase", "unpack", "(Tensor, Tensor?)", "quantized::linear_unpack"),
    method!("Conv2dPackedParamsBase", "unpack", "(Tensor, Tensor?)", "quantized::conv2d_unpack"),
    method!("Conv2dPackedParamsBase", "stride", "int[]", "quantized::conv2d_stride"),
    method!("Conv2dPackedParamsBase", "padding", "int[]", "quantized::conv2d_padding"),
    method!("Conv2dPackedParamsBase", "dilation", "int[]", "quantized::conv2d_dilation"),
    method!("Conv2dPackedParamsBase", "groups", "int", "quantized::conv2d_groups"),
    method!("Conv3dPackedParamsBase", "unpack", "(Tensor, Tensor?)", "quantized::conv3d_unpack"),
    method!("Conv3dPackedParamsBase", "stride", "int[]", "quantized::conv3d_stride"),
    method!("Conv3dPackedParamsBase", "groups", "int", "quantized::conv3d_groups"),
];

fn find(class: &str, name: &str) -> Option<&'static Row> {
    let class = class.strip_prefix("__torch__.torch.classes.quantized.")?;
    METHODS.iter().find(|row| row.0 == class && row.1 == name)
}

/// The schema of a method, without `self`.
pub(crate) fn schema(class: &str, name: &str) -> Option<Arc<Schema>> {
    let (_, name, returns, _) = find(class, name)?;
    Schema::parse(&format!("packed::{name}() -> {returns}")).ok().map(Arc::new)
}

/// The function of a method, whose first argument is the object.
pub(crate) fn method(class: &str, name: &str) -> Option<Builtin> {
    find(class, name).map(|row| row.3)
}

fn invoke(operator: &str, args: &mut Args<'_>) -> Result<Value> {
    let values = list::try_collect(args.all().iter().take(1).map(to_operator))?;
    let results = by_name::call(operator, "", values, Vec::new())?;
    let mut results: Vec<Value> = list::try_collect(results.0.into_iter().map(from_operator))?;
    Ok(match results.len() {
        1 => results.pop().unwrap_or_default(),
        _ => Tuple::new(results).into(),
    })
}
