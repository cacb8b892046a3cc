//! Comparisons: operands in the common dtype of their [`Loop`], an output of `bool`.

// The loops are written once for every type; only for `bool` could the order be written with `!` and `&`.
#![allow(clippy::bool_comparison)]

use crate::number::Flag;
use crate::pointwise::{LIGHT, Loop};
use rushlight_base::Result;

kernels! { "compare";
    /// out = (a == b)
    pub fn eq(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "eq_cpu", integer unsigned half float complex chalf bool, T => {
            walk.map_wide::<Flag, T, T>(LIGHT, |a, b| a == b)
        })
    }

    /// out = (a != b)
    pub fn ne(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "ne_cpu", integer unsigned half float complex chalf bool, T => {
            walk.map_wide::<Flag, T, T>(LIGHT, |a, b| a != b)
        })
    }

    /// out = (a < b)
    pub fn lt(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "lt_cpu", integer unsigned half float bool, T => {
            walk.map_wide::<Flag, T, T>(LIGHT, |a, b| a < b)
        })
    }

    /// out = (a <= b)
    pub fn le(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "le_cpu", integer unsigned half float bool, T => {
            walk.map_wide::<Flag, T, T>(LIGHT, |a, b| a <= b)
        })
    }

    /// out = (a > b)
    pub fn gt(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "gt_cpu", integer unsigned half float bool, T => {
            walk.map_wide::<Flag, T, T>(LIGHT, |a, b| a > b)
        })
    }

    /// out = (a >= b)
    pub fn ge(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "ge_cpu", integer unsigned half float bool, T => {
            walk.map_wide::<Flag, T, T>(LIGHT, |a, b| a >= b)
        })
    }
}

/// Whether all elements of two arrays are equal. NaN differs from itself.
#[cfg(not(target_arch = "nvptx64"))]
pub fn all_equal(walk: &Loop<2>) -> Result<bool> {
    let differs = std::cell::Cell::new(false);
    dispatch!(walk.dtype(1), "equal_cpu", integer unsigned half float complex chalf bool, T => {
        walk.visit::<T, T>(|a, b| {
            if a != b {
                differs.set(true);
            }
        })
    })?;
    Ok(!differs.get())
}
