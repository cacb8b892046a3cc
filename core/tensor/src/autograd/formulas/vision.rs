//! Derivatives of images read at the places of a grid.

use super::Expr;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result};

/// How a grid is read, for the derivative by it.
#[derive(Clone, Copy, Debug)]
pub struct Sampling<'a> {
    /// PyTorch's number.
    pub interpolation_mode: i64,
    /// PyTorch's number.
    pub padding_mode: i64,
    /// Do -1 and 1 name the middles of elements?
    pub align_corners: bool,
    /// Orders of the derivative along each dimension that were taken before.
    pub orders: &'a [i64],
}

/// How a grid is read.
pub fn sampling(interpolation_mode: i64, padding_mode: i64, align_corners: bool, orders: &[i64]) -> Sampling<'_> {
    Sampling { interpolation_mode, padding_mode, align_corners, orders }
}

impl Sampling<'_> {
    /// The gradient of <grad, image read at the grid> by the grid: a number for each dimension of each place, the last
    /// dimension first, each the image read with one more derivative.
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
