//! Quantized tensors: the layer that calls their kernels, above autograd.
//!
//! A quantized tensor (`quantizer.rs`) has the key `QUANTIZED`, which sends every call with it here, as do options with a
//! quantized dtype. `table.rs` has a row for each operator with a kernel; an operator without one is an error that names
//! it and the backend. No kernel has a derivative, as in PyTorch.
//!
//! Views and operators that only move elements are those of the integers. Functions of numbers convert them to floats and
//! back; products add up in int32 (`product.rs`). The operators of the library `quantized::`, which saved models call, are
//! in `library.rs`. Numbers are those of the engine `fbgemm`, without the saturation of its sums to 16 bits on processors
//! without VNNI.

mod arithmetic;
mod choose;
mod convert;
mod convolution;
mod create;
mod embedding;
pub(crate) mod library;
mod linear;
mod normalization;
mod numbers;
mod outputs;
pub mod packed;
mod pointwise;
mod pool;
mod product;
mod recurrent;
mod rowwise;
mod table;
mod views;

pub use choose::{Range, choose};
pub(crate) use numbers::floats;

use crate::dispatch::{Args, Argument, FromValues, LentValues, Op, Value, Values};
use crate::keys::{KeyGuard, KeySet};
use crate::ops;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, Error, Result, bail, ensure, err};
use std::sync::Arc;

/// The layer's handler.
#[cold]
pub(crate) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    let Op::BuiltIn(def) = op else {
        // The operator's own kernels decide; the operators that they call pass this layer.
        return op.call_without_layer(args, results);
    };
    let name = def.full_name();
    if table::is_metadata(name) {
        // These operators read the geometry, dtype and device of a tensor and nothing else.
        let _below = KeyGuard::exclude(KeySet::QUANTIZED);
        return op.call_into(args, results);
    }
    crate::dispatch::named_call(def.name(), || {
        if let Some(kernel) = table::find(name) {
            return call_kernel(&kernel, name, args, results);
        }
        let functional = def.functional_of_in_place();
        match functional.as_deref().and_then(|functional| Some((table::find(functional)?, functional))) {
            Some((kernel, functional)) => in_place(&kernel, functional, args),
            None => Err(missing(name, args)),
        }
    })
}

/// Calls the kernel `name` with the arguments of a typed function.
pub(crate) fn called<T: FromValues>(name: &str, args: &[&dyn Argument]) -> Result<T> {
    let mut values = LentValues::new();
    args.iter().for_each(|arg| arg.lend_to(&mut values));
    let Some(kernel) = table::find(name) else { bail!(Internal, "there is no quantized kernel of {name}") };
    let mut results = Values::new();
    call_kernel(&kernel, name, &values, &mut results)?;
    results.extract()
}

fn call_kernel(kernel: &table::Kernel, name: &str, args: &[Value], results: &mut Values) -> Result<()> {
    kernel.call(name, args)?.into_iter().for_each(|value| results.put(value));
    Ok(())
}

/// Computes the functional form, and stores the integers of its result in the first argument.
fn in_place(kernel: &table::Kernel, functional: &str, args: &[Value]) -> Result<()> {
    let Some(Value::Tensor(target)) = args.first() else { bail!(Internal, "an in-place form without a target") };
    Args(args).check_in_place(target)?;
    let results = kernel.call(functional, args)?;
    let Some(Value::Tensor(result)) = results.first() else { bail!(Internal, "{functional} returns no tensor") };
    ensure!(
        result.dtype() == target.dtype()
            && result.sizes() == target.sizes()
            && result.quantizer() == target.quantizer(),
        Runtime,
        "a result of another shape or quantizer cannot be stored in place"
    );
    ops::copy_(&target.integers()?, &result.integers()?, false)
}

/// The error of an operator without a kernel for quantized tensors, in PyTorch's words.
#[cold]
fn missing(operator: &str, args: &[Value]) -> Error {
    let mut dtypes = Vec::new();
    for value in args {
        value.for_each_tensor(|tensor| dtypes.push(tensor.dtype().name()));
        if let Value::DType(dtype) = value {
            dtypes.push(dtype.name());
        }
    }
    err!(
        NotImplemented,
        "Could not run 'aten::{operator}' with arguments from the 'QuantizedCPU' backend: the operator has no kernel for \
         tensors of dtype [{}]",
        dtypes.join(", ")
    )
}

/// A quantized tensor in parts.
struct Quantized {
    integers: Tensor,
    quantizer: Arc<Quantizer>,
    dtype: DType,
}

impl Quantized {
    /// The parts of a quantized tensor; an error for any other.
    fn of(operator: &str, tensor: &Tensor) -> Result<Quantized> {
        let Some(quantizer) = tensor.quantizer() else {
            bail!(
                NotImplemented,
                "Could not run '{operator}' with arguments from the 'CPU' backend: the tensor has dtype {} and is not \
                 quantized",
                tensor.dtype()
            )
        };
        Ok(Quantized { integers: tensor.integers()?, quantizer, dtype: tensor.dtype() })
    }

    /// Scale and zero point of the whole tensor; an error for one with channels.
    fn affine(&self, operator: &str) -> Result<(f64, i64)> {
        match *self.quantizer {
            Quantizer::PerTensor { scale, zero_point } => Ok((scale, zero_point)),
            Quantizer::PerChannel { .. } => {
                bail!(
                    Runtime,
                    "{operator} only works for per tensor quantized tensors, not for per channel quantized ones"
                )
            }
        }
    }

    /// Other integers with the same quantizer.
    fn with(&self, integers: &Tensor) -> Result<Tensor> {
        Tensor::from_integers(integers, self.quantizer.clone())
    }

    /// The numbers.
    fn numbers(&self) -> Result<Tensor> {
        numbers::dequantize(self)
    }
}

/// Floats as a tensor with one scale and zero point.
fn quantized(input: &Tensor, scale: f64, zero_point: i64, dtype: DType) -> Result<Tensor> {
    numbers::quantize(input, Arc::new(Quantizer::PerTensor { scale, zero_point }), dtype)
}

/// Whether an operator of the library ends with `relu`: `quantized::linear_relu`, `quantized::conv2d_relu.new`.
fn is_relu(name: &str) -> bool {
    name.contains("_relu")
}

/// One result.
fn one(value: impl Into<Value>) -> Result<Vec<Value>> {
    Ok(vec![value.into()])
}

/// The first argument, which must be quantized.
fn first(operator: &str, args: &Args<'_>) -> Result<Quantized> {
    Quantized::of(&format!("aten::{operator}"), args.tensor(0)?)
}
