//! Derivatives of pooling.

use super::Expr;
use rushlight_base::DimVec;

/// The derivative of a gradient that was scattered to the positions of maxima: the elements at these positions. The
/// last `spatial` dimensions are a plane.
pub fn max_pool_twice(grad: &Expr, indices: &Expr, spatial: usize) -> Expr {
    let flat = |sizes: DimVec| -> DimVec {
        let lead = sizes.len().saturating_sub(spatial);
        sizes[..lead].iter().copied().chain([sizes[lead..].iter().product()]).collect()
    };
    let places = indices.reshape(&flat(indices.sizes()));
    grad.reshape(&flat(grad.sizes())).gather(-1, places, false).reshape(&indices.sizes())
}
