//! A scalar: a number as an argument of operators.

use crate::{Category, DType};
use num_complex::Complex;
use std::fmt;

/// A number of one of the four categories (`at::Scalar`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// true or false
    Bool(bool),
    /// a signed integer
    Int(i64),
    /// an unsigned integer above `i64::MAX`
    UInt(u64),
    /// a real number
    Float(f64),
    /// a complex number
    Complex(Complex<f64>),
}

impl Scalar {
    /// The dtype a 0-dim tensor of this scalar has (`uint64` only above `i64::MAX`).
    pub fn dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::Int(_) => DType::I64,
            Scalar::UInt(_) => DType::U64,
            Scalar::Float(_) => DType::F64,
            Scalar::Complex(_) => DType::C128,
        }
    }

    /// Category of promotion.
    pub fn category(self) -> Category {
        self.dtype().category()
    }

    /// The value as a complex number. Integers beyond 2^53 round.
    pub fn to_complex(self) -> Complex<f64> {
        match self {
            Scalar::Complex(value) => value,
            other => Complex::new(other.to_f64(), 0.0),
        }
    }

    /// The value as a real number: the real part of a complex one.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::UInt(value) => value as f64,
            Scalar::Float(value) => value,
            Scalar::Complex(value) => value.re,
        }
    }

    /// The value as an integer, truncated towards zero.
    pub fn to_i64(self) -> i64 {
        match self {
            Scalar::Bool(value) => i64::from(value),
            Scalar::Int(value) => value,
            Scalar::UInt(value) => value as i64,
            Scalar::Float(value) => value as i64,
            Scalar::Complex(value) => value.re as i64,
        }
    }

    /// Whether the value is nonzero.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::UInt(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
            Scalar::Complex(value) => value.re != 0.0 || value.im != 0.0,
        }
    }

    /// The complex conjugate (itself for a real number).
    pub fn conj(self) -> Scalar {
        match self {
            Scalar::Complex(value) => Scalar::Complex(value.conj()),
            other => other,
        }
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::Bool(value)
    }
}

impl From<i32> for Scalar {
    fn from(value: i32) -> Scalar {
        Scalar::Int(i64::from(value))
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Int(value)
    }
}

impl From<f32> for Scalar {
    fn from(value: f32) -> Scalar {
        Scalar::Float(f64::from(value))
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Float(value)
    }
}

impl From<Complex<f64>> for Scalar {
    fn from(value: Complex<f64>) -> Scalar {
        Scalar::Complex(value)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(value) => write!(f, "{value}"),
            Scalar::Int(value) => write!(f, "{value}"),
            Scalar::UInt(value) => write!(f, "{value}"),
            Scalar::Float(value) => write!(f, "{value}"),
            Scalar::Complex(value) => write!(f, "({},{})", value.re, value.im),
        }
    }
}
