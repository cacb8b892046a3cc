//! Kernels of comparisons and of logic: operands in their common dtype, output `bool`.

use super::access::{Constant, array, over};
use super::rules::{Promotion, common_dtype};
use crate::dense::Dense;
use rushlight_base::{DType, Result, Scalar};
use rushlight_cpu::{Loop, arithmetic, compare};

type Kernel = fn(&Loop<3>) -> Result<()>;

fn binary(out: &Dense, a: &Dense, b: &Dense, kernel: Kernel) -> Result<()> {
    let dtype = common_dtype(&[a, b])?;
    over(dtype, [out, a, b], kernel)
}

fn with_scalar(out: &Dense, a: &Dense, b: Scalar, kernel: Kernel) -> Result<()> {
    let dtype = Promotion::default().with(a)?.with_scalar(b)?.dtype()?;
    let b = Constant::new(b, dtype)?;
    kernel(&Loop::computing(dtype, [array(out), array(a), b.array()])?)
}

/// out = (self == other)
pub fn eq(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, compare::eq)
}

/// out = (self == other)
pub fn eq_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    with_scalar(out, self_, other, compare::eq)
}

/// out = (self != other)
pub fn ne(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, compare::ne)
}

/// out = (self != other)
pub fn ne_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    with_scalar(out, self_, other, compare::ne)
}

/// out = (self < other)
pub fn lt(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, compare::lt)
}

/// out = (self < other)
pub fn lt_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    with_scalar(out, self_, other, compare::lt)
}

/// out = (self <= other)
pub fn le(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, compare::le)
}

/// out = (self <= other)
pub fn le_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    with_scalar(out, self_, other, compare::le)
}

/// out = (self > other)
pub fn gt(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, compare::gt)
}

/// out = (self > other)
pub fn gt_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    with_scalar(out, self_, other, compare::gt)
}

/// out = (self >= other)
pub fn ge(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    binary(out, self_, other, compare::ge)
}

/// out = (self >= other)
pub fn ge_scalar(out: &Dense, self_: &Dense, other: Scalar) -> Result<()> {
    with_scalar(out, self_, other, compare::ge)
}

/// Logic is arithmetic on bools: "and" multiplies, "or" adds.
fn logic(out: &Dense, a: &Dense, b: &Dense, kernel: impl FnOnce(&Loop<3>) -> Result<()>) -> Result<()> {
    over(DType::Bool, [out, a, b], kernel)
}

/// out = self and other
pub fn logical_and(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    logic(out, self_, other, arithmetic::mul)
}

/// out = self or other
pub fn logical_or(out: &Dense, self_: &Dense, other: &Dense) -> Result<()> {
    logic(out, self_, other, |walk| arithmetic::add(walk, Scalar::Int(1)))
}

/// out = not self
pub fn logical_not(out: &Dense, self_: &Dense) -> Result<()> {
    eq_scalar(out, self_, Scalar::Bool(false))
}
