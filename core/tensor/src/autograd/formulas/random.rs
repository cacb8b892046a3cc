//! Derivatives of random samples.

use super::Expr;
use crate::ops;

/// The derivative of samples of gamma distributions with respect to their concentrations.
pub fn standard_gamma_grad(concentration: &Expr, sample: &Expr) -> Expr {
    Expr::of(|| ops::_standard_gamma_grad(concentration.tensor()?, sample.tensor()?))
}
