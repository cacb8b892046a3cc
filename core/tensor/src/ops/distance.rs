//! Kernel of the distances of rows.

use super::access::array;
use crate::dense::Dense;
use rushlight_base::Result;
use rushlight_cpu::reduce;

/// Most rows of the matrices for which differences compute Euclidean distances, if the caller does not decide.
const MANY: i64 = 25;

/// out = the norms of the differences between the rows of x1 and those of x2
pub fn cdist_forward(out: &Dense, x1: &Dense, x2: &Dense, p: f64, compute_mode: Option<i64>) -> Result<()> {
    let rows = |dense: &Dense| dense.sizes()[dense.ndim() - 2];
    let by_product = match compute_mode {
        Some(1) => true,
        Some(2) => false,
        _ => rows(x1) > MANY || rows(x2) > MANY,
    };
    if by_product && p == 2.0 && !out.dtype.is_half() && out.is_on_host() {
        return reduce::distances_by_product(&array(out), &array(x1), &array(x2));
    }
    reduce::distances(&array(out), &array(x1), &array(x2), p)
}
