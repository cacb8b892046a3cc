//! Type promotion of operands.
//!
//! Tensors with dimensions decide first; 0-dim tensors, then numbers, change the result only if they are
//! of a higher category. A floating number counts as the default dtype.

use crate::dense::Dense;
use crate::refcount::Tensor;
use rushlight_base::{Category, DType, Result, Scalar, runtime};

/// An unfinished type promotion: the promoted dtype of each of the three ranks of operands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Promotion {
    dimensioned: Option<DType>,
    zero_dim: Option<DType>,
    wrapped: Option<DType>,
}

/// The dtype of a number: the default dtype (or its complex form) unless it is integral.
pub fn scalar_dtype(scalar: Scalar) -> DType {
    match scalar.category() {
        Category::Complex => runtime::default_dtype().to_complex(),
        Category::Floating => runtime::default_dtype(),
        _ => scalar.dtype(),
    }
}

fn join(slot: &mut Option<DType>, dtype: DType) -> Result<()> {
    *slot = Some(match *slot {
        Some(present) => present.promote(dtype)?,
        None => dtype,
    });
    Ok(())
}

/// The contribution of a lower category to a higher one.
fn combine(high: Option<DType>, low: Option<DType>) -> Result<Option<DType>> {
    let (Some(high_dtype), Some(low_dtype)) = (high, low) else { return Ok(high.or(low)) };
    Ok(Some(match (high_dtype.category(), low_dtype.category()) {
        (Category::Quantized, _) | (_, Category::Quantized) => high_dtype.promote(low_dtype)?,
        (Category::Complex, _) => high_dtype,
        // A complex number makes a float tensor complex, at the tensor's precision.
        (Category::Floating, Category::Complex) => high_dtype.to_complex(),
        (Category::Floating, _) => high_dtype,
        (Category::Bool, _) | (_, Category::Floating | Category::Complex) => high_dtype.promote(low_dtype)?,
        (Category::Integral, _) => high_dtype,
    }))
}

impl Promotion {
    /// Takes a tensor into account.
    pub fn with(mut self, input: &Dense) -> Result<Promotion> {
        if input.wrapped {
            let dtype = match input.dtype.category() {
                Category::Complex => runtime::default_dtype().to_complex(),
                Category::Floating => runtime::default_dtype(),
                _ => input.dtype,
            };
            join(&mut self.wrapped, dtype)?;
        } else if input.ndim() == 0 {
            join(&mut self.zero_dim, input.dtype)?;
        } else {
            join(&mut self.dimensioned, input.dtype)?;
        }
        Ok(self)
    }

    /// Takes a number into account.
    pub fn with_scalar(mut self, scalar: Scalar) -> Result<Promotion> {
        join(&mut self.wrapped, scalar_dtype(scalar))?;
        Ok(self)
    }

    /// The dtype, or the default dtype if none was given.
    pub fn dtype(self) -> Result<DType> {
        let low = combine(self.zero_dim, self.wrapped)?;
        Ok(combine(self.dimensioned, low)?.unwrap_or_else(runtime::default_dtype))
    }
}

/// The dtype to which these tensors are promoted (`torch.result_type`).
#[inline(always)]
pub fn common_dtype(inputs: &[&Dense]) -> Result<DType> {
    if let [a, b] = inputs
        && a.dtype == b.dtype
        && !a.wrapped
        && !b.wrapped
    {
        return Ok(a.dtype);
    }
    promote(inputs)
}

/// The dtype to which tensors and numbers are promoted together (`torch.result_type`).
pub fn result_type(tensors: &[&Tensor], numbers: &[Scalar]) -> Result<DType> {
    let mut promotion = Promotion::default();
    for tensor in tensors {
        promotion = promotion.with(&*tensor.dense()?)?;
    }
    numbers.iter().try_fold(promotion, |promotion, number| promotion.with_scalar(*number))?.dtype()
}

fn promote(inputs: &[&Dense]) -> Result<DType> {
    inputs.iter().try_fold(Promotion::default(), |promotion, input| promotion.with(input))?.dtype()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Spec;
    use rushlight_base::Device;

    fn tensor(dtype: DType, sizes: &[i64]) -> Dense {
        Spec::new(sizes, dtype, Device::META).allocate().unwrap()
    }

    #[test]
    fn dimensions_outrank_numbers_of_the_same_category() {
        let half = tensor(DType::F16, &[2]);
        assert_eq!(common_dtype(&[&half, &tensor(DType::F64, &[])]).unwrap(), DType::F16);
        assert_eq!(common_dtype(&[&half, &tensor(DType::C128, &[])]).unwrap(), DType::C32);
        let byte = tensor(DType::U8, &[2]);
        assert_eq!(common_dtype(&[&byte, &tensor(DType::I64, &[])]).unwrap(), DType::U8);
        assert_eq!(common_dtype(&[&byte, &tensor(DType::F64, &[])]).unwrap(), DType::F64);
        assert_eq!(common_dtype(&[&tensor(DType::Bool, &[2]), &tensor(DType::I32, &[])]).unwrap(), DType::I32);
    }

    #[test]
    fn numbers_count_as_the_default_dtype() {
        let with = |dtype, scalar| {
            Promotion::default().with(&tensor(dtype, &[2])).unwrap().with_scalar(scalar).unwrap().dtype().unwrap()
        };
        assert_eq!(with(DType::I64, Scalar::Float(0.5)), DType::F32);
        assert_eq!(with(DType::F64, Scalar::Float(0.5)), DType::F64);
        assert_eq!(with(DType::U8, Scalar::Int(3)), DType::U8);
        assert_eq!(with(DType::Bool, Scalar::Int(3)), DType::I64);
        assert_eq!(with(DType::F64, Scalar::Complex(Default::default())), DType::C128);
    }
}
