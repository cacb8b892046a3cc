//! The figures of a tensor's values.

use crate::model::to_dtype;
use anyhow::Result;
use rushlight_base::{DType, Scalar};
use rushlight_io::Entry;
use rushlight_tensor::{Tensor, ops};

/// What is worth knowing of the values of a tensor; of a complex one, of their sizes. NaN where there is nothing.
pub struct Summary {
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub max: f64,
    /// The standard deviation (of n, not n - 1).
    pub std: f64,
    /// How many are not a number.
    pub nan: i64,
    /// How many are infinite.
    pub infinite: i64,
}

impl Summary {
    /// Of an entry's values, without those that are not finite in the first four.
    pub fn of(entry: &Entry) -> Result<Summary> {
        let tensor = ops::detach(&entry.clone().into_tensor()?)?;
        let tensor = if entry.dtype.is_complex() { ops::abs(&tensor)? } else { tensor };
        let values = to_dtype(&tensor, DType::F64)?;
        let count = |of: &Tensor| -> Result<i64> { Ok(ops::count_nonzero(of, None)?.item()?.to_i64()) };
        let (nan, infinite) = (count(&ops::isnan(&values)?)?, count(&ops::isinf(&values)?)?);
        let finite = ops::masked_select(&values, &ops::isfinite(&values)?)?;
        let number = |tensor: Result<Tensor, rushlight_base::Error>| -> Result<f64> { Ok(tensor?.item()?.to_f64()) };
        if finite.numel() == 0 {
            return Ok(Summary { min: f64::NAN, mean: f64::NAN, max: f64::NAN, std: f64::NAN, nan, infinite });
        }
        Ok(Summary {
            min: number(ops::min(&finite))?,
            mean: number(ops::mean(&finite, None))?,
            max: number(ops::max(&finite))?,
            std: number(ops::std_correction(&finite, None, Some(Scalar::Int(0)), false))?,
            nan,
            infinite,
        })
    }
}
