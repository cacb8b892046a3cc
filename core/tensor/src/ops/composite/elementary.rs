//! Composite operators: powers in double precision, in place.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, ensure};

fn check_doubles(self_: &Tensor, complex: bool) -> Result<()> {
    let wanted = if complex || self_.dtype().is_complex() { DType::C128 } else { DType::F64 };
    ensure!(
        self_.dtype() == wanted,
        Runtime,
        "the base given to float_power_ has dtype {} but the operation's result requires dtype {}",
        self_.dtype().c10_name(),
        wanted.c10_name()
    );
    Ok(())
}

/// self = self^exponent
pub fn float_power_(self_: &Tensor, exponent: &Tensor) -> Result<()> {
    check_doubles(self_, exponent.dtype().is_complex())?;
    ops::pow_tensor_(self_, exponent)
}

/// self = self^exponent
pub fn float_power_scalar_(self_: &Tensor, exponent: Scalar) -> Result<()> {
    check_doubles(self_, matches!(exponent, Scalar::Complex(_)))?;
    ops::pow_scalar_(self_, exponent)
}
