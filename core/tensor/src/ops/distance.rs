//! Kernel of the distances of rows.

use super::access::{array, cast, copy_into, over};
use super::reduce::linalg_vector_norm;
use super::views;
use crate::dense::{Dense, Spec};
use rushlight_base::{DimVec, Result, Scalar};
use rushlight_cpu::{Loop, arithmetic, fill, reduce};

/// Most differences that a device computes at once.
const TOGETHER: i64 = 1 << 24;

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
    if !out.is_on_host() {
        return by_differences(out, x1, x2, p);
    }
    if by_product && p == 2.0 && !out.dtype.is_half() {
        return reduce::distances_by_product(&array(out), &array(x1), &array(x2));
    }
    reduce::distances(&array(out), &array(x1), &array(x2), p)
}

/// out = the norms of the differences between each row of self and those after it
pub fn pdist_forward(out: &Dense, self_: &Dense, p: f64) -> Result<()> {
    reduce::pair_distances(&array(out), &array(self_), p)
}

/// The distances on a device: the norms of all differences, of some rows of `x1` at a time.
fn by_differences(out: &Dense, x1: &Dense, x2: &Dense, p: f64) -> Result<()> {
    let (ndim, rows) = (x1.ndim(), x1.sizes()[x1.ndim() - 2]);
    if out.numel() == 0 {
        return Ok(());
    }
    if x1.sizes()[ndim - 1] == 0 {
        return fill::fill(&Loop::new([array(out)])?, Scalar::Int(0));
    }
    let wide = out.dtype.opmath();
    let (x1, x2) = (cast(x1, wide)?, cast(x2, wide)?);
    let others = x2.with_geometry(views::unsqueeze(&x2, -3)?);
    let of_a_row = others.numel();
    let together = (TOGETHER / of_a_row).clamp(1, rows);
    for first in (0..rows).step_by(together as usize) {
        let count = together.min(rows - first);
        let some = x1.with_geometry(views::narrow(&x1, -2, first, count)?);
        let some = some.with_geometry(views::unsqueeze(&some, -2)?);
        let mut sizes = DimVec::from_slice(others.sizes());
        sizes[ndim - 2] = count;
        let differences = Spec::new(&sizes, wide, out.device).allocate()?;
        over(wide, [&differences, &some, &others], |walk| arithmetic::sub(walk, Scalar::Int(1)))?;
        let norms = Spec::new(&sizes[..ndim], wide, out.device).allocate()?;
        linalg_vector_norm(&norms, &differences, Scalar::Float(p), Some(&[-1]), false, None)?;
        copy_into(&out.with_geometry(views::narrow(out, -2, first, count)?), &norms)?;
    }
    Ok(())
}
