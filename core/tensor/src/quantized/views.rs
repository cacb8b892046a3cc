//! Operators that only move integers.

use super::{Quantized, first};
use crate::dispatch::{Args, Value, by_name};
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure, wrap_dim};
use std::sync::Arc;

/// Calls an operator with other arguments.
pub(super) fn call(name: &str, args: &[Value]) -> Result<Vec<Value>> {
    let (base, overload) = name.split_once('.').unwrap_or((name, ""));
    Ok(by_name::find(base, overload)?.call(args)?.0.into_iter().collect())
}

/// The operator on the integers of the first argument. The first `count` results are quantized like it.
pub(super) fn on_integers(name: &str, args: &Args<'_>, count: usize) -> Result<Vec<Value>> {
    let input = first(name, args)?;
    let quantizer = quantizer_of(name, &input, args)?;
    let mut values = args.0.to_vec();
    values[0] = input.integers.clone().into();
    let mut results = call(name, &values)?;
    for result in results.iter_mut().take(count) {
        result.try_for_each_tensor_mut(&mut |tensor| {
            *tensor = Tensor::from_integers(tensor, quantizer.clone())?;
            Ok(())
        })?;
    }
    Ok(results)
}

/// The quantizer of the results. With channels, only a part of the tensor has one.
fn quantizer_of(name: &str, input: &Quantized, args: &Args<'_>) -> Result<Arc<Quantizer>> {
    let Quantizer::PerChannel { scales, zero_points, axis, float } = &*input.quantizer else {
        return Ok(input.quantizer.clone());
    };
    let sizes = input.integers.sizes();
    match name {
        "select.int" => {
            let (dim, index) = (wrap_dim(args.int(1)?, sizes.len())?, args.int(2)?);
            if dim != *axis {
                let axis = if dim < *axis { axis - 1 } else { *axis };
                return Ok(Arc::new(Quantizer::PerChannel {
                    scales: scales.clone(),
                    zero_points: zero_points.clone(),
                    axis,
                    float: *float,
                }));
            }
            let at = if index < 0 { index + sizes[dim] } else { index };
            let parameters = usize::try_from(at).ok().and_then(|at| Some((*scales.get(at)?, *zero_points.get(at)?)));
            let Some((scale, zero_point)) = parameters else {
                bail!(
                    Index,
                    "select(): index {index} out of range for tensor of size {} at dimension {dim}",
                    sizes[dim]
                )
            };
            ensure!(!*float, Runtime, "a channel with a zero point between integers is no per tensor quantized tensor");
            Ok(Arc::new(Quantizer::PerTensor { scale, zero_point: zero_point as i64 }))
        }
        "slice.Tensor" if wrap_dim(args.int(1)?, sizes.len())? != *axis => Ok(input.quantizer.clone()),
        _ => bail!(
            Runtime,
            "{name}: Setting strides is possible only on uniformly quantized tensor, not on one with channels in dimension \
             {axis}"
        ),
    }
}
