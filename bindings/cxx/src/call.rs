//! One call of an operator, as C++ sees it.

use rushlight_base::{DType, Device, DeviceType, Result, ensure, err};
use rushlight_tensor::{Dense, Spec, Tensor, Value};

/// The arguments of a call, and the results so far.
pub(crate) struct Call {
    arguments: Vec<Argument>,
    results: Vec<Tensor>,
}

enum Argument {
    /// One snapshot per tensor: the memory stays alive during the call, whatever other threads do to the tensor.
    Tensor(Dense),
    Other(Value),
}

impl Call {
    pub(crate) fn new(arguments: &[Value]) -> Result<Call> {
        let arguments = arguments.iter().map(|value| match value {
            Value::Tensor(tensor) => Ok(Argument::Tensor(tensor.dense()?.clone())),
            other => Ok(Argument::Other(other.clone())),
        });
        Ok(Call { arguments: arguments.collect::<Result<_>>()?, results: Vec::new() })
    }

    pub(crate) fn into_results(self) -> Vec<Tensor> {
        self.results
    }

    fn tensor(&self, position: usize) -> Result<&Dense> {
        match self.arguments.get(position) {
            Some(Argument::Tensor(dense)) => Ok(dense),
            _ => Err(err!(Type, "argument {position} is not a tensor")),
        }
    }

    pub(crate) fn sizes(&self, position: usize) -> Result<&[i64]> {
        Ok(self.tensor(position)?.sizes())
    }

    pub(crate) fn same_sizes(&self, position: usize, other: usize) -> Result<bool> {
        Ok(self.sizes(position)? == self.sizes(other)?)
    }

    pub(crate) fn floats(&self, position: usize) -> Result<*const f32> {
        let dense = self.tensor(position)?;
        ensure!(dense.dtype == DType::F32, Type, "argument {position} must be float32, got {}", dense.dtype);
        ensure!(dense.device.kind == DeviceType::Cpu, NotImplemented, "argument {position} is not in host memory");
        ensure!(dense.is_contiguous(), Value, "argument {position} must be contiguous");
        Ok(dense.ptr().cast::<f32>().cast_const())
    }

    pub(crate) fn number(&self, position: usize) -> Result<f64> {
        match self.arguments.get(position) {
            Some(Argument::Other(Value::Scalar(scalar))) => Ok(scalar.to_f64()),
            _ => Err(err!(Type, "argument {position} is not a number")),
        }
    }

    pub(crate) fn allocate(&mut self, sizes: &[i64]) -> Result<*mut f32> {
        let dense = Spec::new(sizes, DType::F32, Device::CPU).allocate()?;
        let elements = dense.ptr().cast::<f32>();
        self.results.push(Tensor::from_dense(dense));
        Ok(elements)
    }
}
