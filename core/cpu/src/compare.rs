//! Comparisons: two operands of one dtype, an output of `bool`.

// The loops are written once for every type; only for `bool` could the order be written with `!` and `&`.
#![allow(clippy::bool_comparison)]

use crate::array::Loop;
use crate::number::Flag;
use rushlight_base::Result;

/// out = (a == b)
pub fn eq(walk: &Loop<3>) -> Result<()> {
    dispatch!(walk.dtype(1), "eq_cpu", integer unsigned half float complex chalf bool, T => {
        walk.map::<Flag, T, T>(|a, b| a == b);
        Ok(())
    })
}

/// out = (a != b)
pub fn ne(walk: &Loop<3>) -> Result<()> {
    dispatch!(walk.dtype(1), "ne_cpu", integer unsigned half float complex chalf bool, T => {
        walk.map::<Flag, T, T>(|a, b| a != b);
        Ok(())
    })
}

/// out = (a < b)
pub fn lt(walk: &Loop<3>) -> Result<()> {
    dispatch!(walk.dtype(1), "lt_cpu", integer unsigned half float bool, T => {
        walk.map::<Flag, T, T>(|a, b| a < b);
        Ok(())
    })
}

/// out = (a <= b)
pub fn le(walk: &Loop<3>) -> Result<()> {
    dispatch!(walk.dtype(1), "le_cpu", integer unsigned half float bool, T => {
        walk.map::<Flag, T, T>(|a, b| a <= b);
        Ok(())
    })
}

/// out = (a > b)
pub fn gt(walk: &Loop<3>) -> Result<()> {
    dispatch!(walk.dtype(1), "gt_cpu", integer unsigned half float bool, T => {
        walk.map::<Flag, T, T>(|a, b| a > b);
        Ok(())
    })
}

/// out = (a >= b)
pub fn ge(walk: &Loop<3>) -> Result<()> {
    dispatch!(walk.dtype(1), "ge_cpu", integer unsigned half float bool, T => {
        walk.map::<Flag, T, T>(|a, b| a >= b);
        Ok(())
    })
}

/// Are all elements of two arrays equal? NaN differs from itself.
pub fn all_equal(walk: &Loop<2>) -> Result<bool> {
    let differs = std::cell::Cell::new(false);
    dispatch!(walk.dtype(1), "equal_cpu", integer unsigned half float complex chalf bool, T => {
        walk.visit::<T, T>(|a, b| {
            if a != b {
                differs.set(true);
            }
        });
        Ok(())
    })?;
    Ok(!differs.get())
}
