//! The statistics of a tensor's values.

use crate::model::to_dtype;
use rushlight_base::{DType, Result, Scalar};
use rushlight_io::Entry;
use rushlight_tensor::{Tensor, ops};

/// Elements processed together, which bounds the memory besides the tensor's own bytes.
const PIECE: i64 = 1 << 20;

/// Statistics of the values of a tensor; of the absolute values of a complex one. NaN if there are none.
#[derive(Clone)]
pub struct Summary {
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
    /// The standard deviation (of n, not n - 1).
    pub std: f64,
    /// Number of NaN values.
    pub nan: i64,
    /// Number of infinite values.
    pub infinite: i64,
    /// Number of finite values.
    finite: i64,
}

impl Default for Summary {
    fn default() -> Summary {
        Summary { min: f64::NAN, mean: f64::NAN, max: f64::NAN, std: f64::NAN, nan: 0, infinite: 0, finite: 0 }
    }
}

impl Summary {
    /// Computes the statistics of an entry's values; non-finite ones are excluded from the first four.
    pub fn of(mut entry: Entry) -> Result<Summary> {
        let times = fold_repetitions(&mut entry);
        let mut whole = Summary::default();
        for_each_piece(&ops::detach(&entry.into_tensor()?)?, &mut |piece| {
            whole = whole.joined(&Summary::of_piece(piece)?);
            Ok(())
        })?;
        Ok(Summary { nan: whole.nan * times, infinite: whole.infinite * times, ..whole })
    }

    fn of_piece(tensor: &Tensor) -> Result<Summary> {
        let sizes = if tensor.dtype().is_complex() { ops::abs(tensor)? } else { tensor.clone() };
        let values = to_dtype(&sizes, DType::F64)?;
        let count = |of: &Tensor| -> Result<i64> { Ok(ops::count_nonzero(of, None)?.item()?.to_i64()) };
        let (nan, infinite) = (count(&ops::isnan(&values)?)?, count(&ops::isinf(&values)?)?);
        let finite = ops::masked_select(&values, &ops::isfinite(&values)?)?;
        let number = |tensor: Result<Tensor>| -> Result<f64> { Ok(tensor?.item()?.to_f64()) };
        if finite.numel() == 0 {
            return Ok(Summary { nan, infinite, ..Summary::default() });
        }
        Ok(Summary {
            min: number(ops::min(&finite))?,
            mean: number(ops::mean(&finite, None))?,
            max: number(ops::max(&finite))?,
            std: number(ops::std_correction(&finite, None, Some(Scalar::Int(0)), false))?,
            nan,
            infinite,
            finite: finite.numel(),
        })
    }

    /// Merges two statistics.
    fn joined(&self, other: &Summary) -> Summary {
        let (nan, infinite) = (self.nan + other.nan, self.infinite + other.infinite);
        if self.finite == 0 {
            return Summary { nan, infinite, ..other.clone() };
        }
        if other.finite == 0 {
            return Summary { nan, infinite, ..self.clone() };
        }
        let finite = self.finite + other.finite;
        let share = other.finite as f64 / finite as f64;
        let apart = other.mean - self.mean;
        // Within each part, and between their means.
        let variance =
            (1.0 - share) * self.std.powi(2) + share * other.std.powi(2) + share * (1.0 - share) * apart.powi(2);
        Summary {
            min: self.min.min(other.min),
            mean: self.mean + share * apart,
            max: self.max.max(other.max),
            std: variance.sqrt(),
            nan,
            infinite,
            finite,
        }
    }
}

/// Keeps one of the elements that a stride of 0 repeats, and returns how often each occurs: a few bytes may describe
/// any number of elements.
fn fold_repetitions(entry: &mut Entry) -> i64 {
    let mut times = 1;
    for (size, stride) in entry.sizes.iter_mut().zip(&entry.strides) {
        if *stride == 0 && *size > 1 {
            times *= *size;
            *size = 1;
        }
    }
    times
}

/// Passes on a tensor in parts of at most `PIECE` elements.
fn for_each_piece(tensor: &Tensor, look: &mut dyn FnMut(&Tensor) -> Result<()>) -> Result<()> {
    let sizes = tensor.sizes();
    let longest = sizes.iter().enumerate().max_by_key(|(_, size)| **size);
    let Some((dim, &size)) = longest.filter(|_| tensor.numel() > PIECE) else { return look(tensor) };
    let half = size / 2;
    for_each_piece(&ops::narrow(tensor, dim as i64, 0, half)?, look)?;
    for_each_piece(&ops::narrow(tensor, dim as i64, half, size - half)?, look)
}
