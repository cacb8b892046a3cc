//! Which scalars a dtype holds: the check of `c10::checked_convert`.

use crate::{DType, Result, Scalar, ensure};

impl Scalar {
    /// Raises an error if the scalar cannot be converted to `dtype` without overflow. As in PyTorch, fractions are
    /// truncated, infinities and NaN are floating-point values, an imaginary part is lost by no conversion, and a
    /// negative integer wraps around in an unsigned dtype.
    pub fn check_convertible(self, dtype: DType) -> Result<()> {
        ensure!(
            !overflows(self, dtype),
            Runtime,
            "value cannot be converted to type {} without overflow",
            type_name(dtype)
        );
        Ok(())
    }
}

fn overflows(value: Scalar, dtype: DType) -> bool {
    match (value, dtype.is_complex()) {
        _ if dtype == DType::Bool => false,
        (Scalar::Complex(value), true) => {
            [value.re, value.im].into_iter().any(|part| overflows_real(part.into(), dtype.to_real()))
        }
        (Scalar::Complex(value), false) => value.im != 0.0 || overflows_real(value.re.into(), dtype),
        (real, _) => overflows_real(real, dtype.to_real()),
    }
}

fn overflows_real(value: Scalar, dtype: DType) -> bool {
    let Some((least, most)) = integers(dtype) else {
        let most = largest(dtype);
        return value.to_f64().is_finite() && value.to_f64().abs() > most;
    };
    match value {
        Scalar::Bool(_) | Scalar::Complex(_) => false,
        Scalar::Int(value) if least == 0 && value < 0 => u128::from(value.unsigned_abs()) > most,
        Scalar::Int(value) => i128::from(value) < least || (value > 0 && u128::from(value.unsigned_abs()) > most),
        Scalar::UInt(value) => u128::from(value) > most,
        Scalar::Float(value) => value.is_nan() || value < least as f64 || value > most as f64,
    }
}

/// The smallest and the largest integer of an integral dtype.
fn integers(dtype: DType) -> Option<(i128, u128)> {
    let bits = 8 * dtype.size() as u32;
    match dtype {
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => Some((0, (1 << bits) - 1)),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        _ => None,
    }
}

/// The largest finite number of a floating-point dtype.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f64::from(half::f16::MAX),
        DType::BF16 => f64::from(half::bf16::MAX),
        DType::F32 => f64::from(f32::MAX),
        _ => f64::MAX,
    }
}

/// The name of the C++ type in PyTorch's error.
fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "uint8_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int",
        DType::I64 => "int64_t",
        DType::U16 => "uint16_t",
        DType::U32 => "uint32_t",
        DType::U64 => "uint64_t",
        DType::Bool => "bool",
        DType::F16 => "at::Half",
        DType::BF16 => "at::BFloat16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C32 => "c10::complex<c10::Half>",
        DType::C64 => "c10::complex<float>",
        DType::C128 => "c10::complex<double>",
        DType::QI8 => "c10::qint8",
        DType::QU8 => "c10::quint8",
        DType::QI32 => "c10::qint32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn scalars_are_converted_where_pytorch_converts_them() {
        let complex = |re, im| Scalar::Complex(Complex::new(re, im));
        // What `masked_fill` of PyTorch 2.7.1 accepts.
        let accepted = [
            (Scalar::Float(2.7), DType::I32),
            (Scalar::Float(2.7), DType::Bool),
            (Scalar::Int(-1), DType::U8),
            (Scalar::Int(255), DType::U8),
            (Scalar::Float(f64::INFINITY), DType::F16),
            (Scalar::Float(f64::NAN), DType::BF16),
            (Scalar::Int(i64::MIN), DType::I64),
            (complex(2.0, 0.0), DType::F32),
            (complex(2.0, 1.0), DType::C64),
        ];
        for (value, dtype) in accepted {
            assert!(value.check_convertible(dtype).is_ok(), "{value} {dtype}");
        }
        let refused = [
            (Scalar::Int(300), DType::U8),
            (Scalar::Int(-256), DType::U8),
            (Scalar::Float(-1.5), DType::U8),
            (Scalar::Int(200), DType::I8),
            (Scalar::Float(f64::NAN), DType::I32),
            (Scalar::Float(f64::INFINITY), DType::I64),
            (Scalar::Float(1e6), DType::F16),
            (Scalar::UInt(u64::MAX), DType::I64),
            (complex(2.0, 1.0), DType::F32),
            (complex(1e39, 0.0), DType::C64),
        ];
        for (value, dtype) in refused {
            assert!(value.check_convertible(dtype).is_err(), "{value} {dtype}");
        }
        let error = Scalar::Int(300).check_convertible(DType::U8).unwrap_err();
        assert_eq!(error.message(), "value cannot be converted to type uint8_t without overflow");
    }
}
