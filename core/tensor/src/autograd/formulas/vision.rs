//! Derivatives of grid sampling.

use super::Expr;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result};

/// Sampling options, for the derivative with respect to the grid.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'a> {
    /// PyTorch's number.
    pub interpolation_mode: i64,
    /// PyTorch's number.
    pub padding_mode: i64,
    /// Whether -1 and 1 refer to the centres of elements.
    pub align_corners: bool,
    /// Orders of the derivative already taken along each dimension.
    pub orders: &'a [i64],
}

/// The options of a grid sampler.
pub fn sampling(interpolation_mode: i64, padding_mode: i64, align_corners: bool, orders: &[i64]) -> Sampling<'_> {
    Sampling { interpolation_mode, padding_mode, align_corners, orders }
}

impl Sampling<'_> {
    /// The gradient of <grad, sampled image> with respect to the grid: a number for each dimension of each point, the
    /// last dimension first, each the image sampled with one more derivative.
    pub fn by_grid(&self, grad: &Expr, image: &Expr, grid: &Expr) -> Expr {
        let component = |dim: usize| -> Result<Tensor> {
            let mut orders = DimVec::from_slice(self.orders);
            orders[dim] += 1;
            let slope =
                image._grid_sample(grid, self.interpolation_mode, self.padding_mode, self.align_corners, &orders);
            (grad * slope).sum_dim_intlist(Some(&[1]), false, None).unsqueeze(-1).into_tensor()
        };
        Expr::of(|| {
            let components = (0..self.orders.len()).rev().map(component).collect::<Result<Vec<_>>>()?;
            ops::cat(&components.iter().collect::<Vec<_>>(), -1)
        })
    }
}
