//! Rules of special functions.

use crate::dense::{Dense, Spec};
use rushlight_base::{Result, ensure};

/// Requires an order of derivative that is not negative.
pub fn polygamma(n: i64, self_: &Dense) -> Result<Spec> {
    ensure!(n >= 0, Runtime, "polygamma(n, x) does not support negative n.");
    super::unary_float(self_)
}
