//! Rule of the distances of rows.

use crate::dense::{Dense, Spec};
use rushlight_base::{DimVec, Result, ensure, format_sizes};

/// A distance for each pair of rows of a matrix.
pub fn pdist_forward(self_: &Dense, p: f64) -> Result<Spec> {
    ensure!(self_.ndim() == 2, Runtime, "pdist only supports 2D tensors, got: {}D", self_.ndim());
    ensure!(p >= 0.0, Runtime, "pdist only supports non-negative p values");
    let rows = self_.sizes()[0];
    let pairs = rows.checked_mul(rows - 1).map_or(i64::MAX, |twice| twice / 2);
    Ok(Spec::new(&[pairs], self_.dtype, self_.device))
}

/// A distance for each pair of rows.
pub fn cdist_forward(x1: &Dense, x2: &Dense, p: f64) -> Result<Spec> {
    let (a, b) = (x1.sizes(), x2.sizes());
    ensure!(p >= 0.0, Runtime, "cdist only supports non-negative p values");
    ensure!(
        a.len() >= 2 && a.len() == b.len() && a[..a.len() - 2] == b[..b.len() - 2] && a.last() == b.last(),
        Runtime,
        "expected batches of rows of one length, got {} and {}",
        format_sizes(a),
        format_sizes(b)
    );
    ensure!(
        x1.dtype == x2.dtype,
        Runtime,
        "expected scalar type {} but found {}",
        x1.dtype.c10_name(),
        x2.dtype.c10_name()
    );
    let mut sizes = DimVec::from_slice(&a[..a.len() - 1]);
    sizes.push(b[b.len() - 2]);
    Ok(Spec::new(&sizes, x1.dtype, x1.device))
}
