//! Kernel of the distances of rows.

use super::access::array;
use crate::dense::Dense;
use rushlight_base::Result;
use rushlight_cpu::reduce;

/// out = the norms of the differences between the rows of x1 and those of x2
pub fn cdist_forward(out: &Dense, x1: &Dense, x2: &Dense, p: f64, _compute_mode: Option<i64>) -> Result<()> {
    reduce::distances(&array(out), &array(x1), &array(x2), p)
}
