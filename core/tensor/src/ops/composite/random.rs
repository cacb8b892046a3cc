//! Composite operators: random numbers in new tensors.

use crate::generator::Generator;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::Result;

/// Normally distributed numbers, with the shape and dtype of `self`.
pub fn normal_functional(self_: &Tensor, mean: f64, std: f64, generator: Option<&Generator>) -> Result<Tensor> {
    let out = ops::empty_like(self_, Options::default(), None)?;
    ops::normal_(&out, mean, std, generator)?;
    Ok(out)
}
