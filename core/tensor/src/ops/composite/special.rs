//! Composite operators: gamma functions.

use crate::dispatch;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, ensure, runtime};
use std::f64::consts::PI;

/// The logarithm of the multivariate gamma function: that of `p` gamma functions, half a step apart.
pub fn mvlgamma(self_: &Tensor, p: i64) -> Result<Tensor> {
    ensure!(
        self_.dtype() != DType::Bool,
        Runtime,
        "The input tensor may not be a boolean tensor.\n  in operator mvlgamma"
    );
    ensure!(p >= 1, Runtime, "p has to be greater than or equal to 1");
    let floating = if self_.dtype().is_integral(true) {
        ops::to_dtype(self_, runtime::default_dtype(), false, false, None)?
    } else {
        self_.clone()
    };
    let half = Scalar::Float(0.5);
    let steps = ops::arange_start_step(Scalar::Float((1 - p) as f64 / 2.0), half, half, floating.options())?;
    let each = ops::lgamma(&ops::add_tensor(&ops::unsqueeze(&floating, -1)?, &steps, Scalar::Int(1))?)?;
    let sum = ops::sum_dim_intlist(&each, Some(&[-1]), false, None)?;
    ops::add_scalar(&sum, Scalar::Float((p * (p - 1)) as f64 * PI.ln() / 4.0), Scalar::Int(1))
}

/// Like `polygamma`, in place; the order comes last.
pub fn polygamma_(self_: &Tensor, n: i64) -> Result<()> {
    dispatch::write_in_place(&ops::polygamma(n, &dispatch::before_write(self_)?)?, self_)
}
