//! Activation functions made of other operators.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{Result, ensure};

/// The weight brought to the input's dimensions: along the second one, that of the channels.
pub fn prelu(self_: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let (ndim, weights) = (self_.ndim(), weight.numel());
    if weights != 1 {
        ensure!(ndim > 0, Runtime, "Not allow zero-dim input tensor.");
        let channels = if ndim > 1 { self_.sizes()[1] } else { 1 };
        ensure!(
            channels == weights,
            Runtime,
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = {weights} and channel size = \
             {channels}."
        );
    }
    ensure!(
        weight.ndim() <= 1,
        Runtime,
        "prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}",
        weight.ndim()
    );
    if ndim == 0 || weight.ndim() == 0 {
        return ops::_prelu_kernel(self_, &ops::reshape(weight, &[])?);
    }
    let mut sizes = vec![1; ndim];
    if ndim > 1 {
        sizes[1] = weights;
    }
    ops::_prelu_kernel(self_, &ops::reshape(weight, &sizes)?)
}
