//! Expressions of derivatives: tensors that carry an error along, so that formulas read like a textbook.
//!
//! `grad * other.conj() / 2.0` works on [`Expr`] and `&Expr` in any mixture; the result is the first error that an
//! operator reports. The build generates a method for each operator.

/// The operators as methods, under their Rust names: the receiver is the first argument. An error among the arguments is
/// the error of the result. The build script writes a line for each from `core/schema/ops`.
mod methods {
    #![allow(unused_imports, reason = "small builds leave families out")]
    #![allow(missing_docs, reason = "the functions of the same names in `ops` have the documentation")]
    use super::Expr;
    use crate::{Generator, Options, ops};
    use rushlight_base::{DType, Device, Layout, MemoryFormat, Scalar};

    /// The type of a parameter; in parentheses it is that of the operator.
    macro_rules! parameter {
        (Tensor) => { impl Into<Expr> };
        (TensorOptional) => { Option<&Expr> };
        (Scalar) => { impl Into<Scalar> };
        (($type:ty)) => { $type };
    }

    /// What the operator takes of a parameter.
    macro_rules! passed {
        (Tensor $x:ident) => {
            $x.into().tensor()?
        };
        (TensorOptional $x:ident) => {
            $x.map(Expr::tensor).transpose()?
        };
        (Scalar $x:ident) => {
            $x.into()
        };
        (($type:ty) $x:ident) => {
            $x
        };
    }

    macro_rules! methods {
        ($($name:ident($($x:ident: $kind:tt),*);)*) => {
            impl Expr {
                $(#[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
                pub fn $name(&self, $($x: parameter!($kind)),*) -> Expr {
                    Expr::of(|| ops::$name(self.tensor()?, $(passed!($kind $x)),*))
                })*
            }
        };
    }

    include!(concat!(env!("OUT_DIR"), "/expr.rs"));
}

use crate::dense::Geometry;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Error, Result, Scalar};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A tensor, or the error that kept it from being computed.
#[derive(Clone, Debug)]
pub struct Expr(Result<Tensor>);

impl From<Tensor> for Expr {
    fn from(tensor: Tensor) -> Expr {
        Expr(Ok(tensor))
    }
}

impl From<&Tensor> for Expr {
    fn from(tensor: &Tensor) -> Expr {
        Expr(Ok(tensor.clone()))
    }
}

impl From<&Expr> for Expr {
    fn from(expr: &Expr) -> Expr {
        expr.clone()
    }
}

impl From<Error> for Expr {
    fn from(error: Error) -> Expr {
        Expr(Err(error))
    }
}

impl From<Result<Tensor>> for Expr {
    fn from(result: Result<Tensor>) -> Expr {
        Expr(result)
    }
}

impl Expr {
    /// Converts the value of a computation on tensors.
    pub fn of(compute: impl FnOnce() -> Result<Tensor>) -> Expr {
        Expr(compute())
    }

    /// The tensor, or the error.
    pub fn tensor(&self) -> Result<&Tensor> {
        self.0.as_ref().map_err(Clone::clone)
    }

    /// The tensor, or the error, without a clone.
    pub fn into_tensor(self) -> Result<Tensor> {
        self.0
    }

    /// Extent of each dimension (none after an error, which the next operator reports).
    pub fn sizes(&self) -> DimVec {
        self.0.as_ref().map(Tensor::sizes).unwrap_or_default()
    }

    /// Sizes, strides and offset.
    pub fn geometry(&self) -> Geometry {
        match &self.0 {
            Ok(tensor) => {
                Geometry { sizes: tensor.sizes(), strides: tensor.strides(), offset: tensor.storage_offset() }
            }
            Err(_) => Geometry::contiguous(&[]),
        }
    }

    /// Number of dimensions.
    pub fn ndim(&self) -> usize {
        self.0.as_ref().map_or(0, Tensor::ndim)
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.0.as_ref().map_or(0, Tensor::numel)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.0.as_ref().map_or(DType::F32, Tensor::dtype)
    }

    /// dtype and device as factory options.
    pub fn options(&self) -> Options {
        self.0.as_ref().map(Tensor::options).unwrap_or_default()
    }

    /// The complex conjugate; itself for a real dtype.
    pub fn conj(&self) -> Expr {
        if self.dtype().is_complex() { Expr::of(|| ops::conj_physical(self.tensor()?)) } else { self.clone() }
    }

    /// Zeros of the same shape, dtype and device.
    pub fn zeros(&self) -> Expr {
        self.new_zeros(&self.sizes())
    }

    /// Zeros of another shape, with the same dtype and device.
    pub fn new_zeros(&self, sizes: &[i64]) -> Expr {
        Expr::of(|| {
            self.tensor()?;
            ops::zeros(sizes, self.options())
        })
    }

    fn scaled(&self, factor: Scalar) -> Expr {
        // Most factors are the default alpha=1: no operator for those.
        if factor == Scalar::Int(1) || factor == Scalar::Float(1.0) {
            return self.clone();
        }
        Expr::of(|| ops::mul_scalar(self.tensor()?, factor))
    }
}

fn add(left: &Expr, right: &Expr) -> Expr {
    Expr::of(|| ops::add_tensor(left.tensor()?, right.tensor()?, Scalar::Int(1)))
}

fn sub(left: &Expr, right: &Expr) -> Expr {
    Expr::of(|| ops::sub_tensor(left.tensor()?, right.tensor()?, Scalar::Int(1)))
}

fn mul(left: &Expr, right: &Expr) -> Expr {
    Expr::of(|| ops::mul_tensor(left.tensor()?, right.tensor()?))
}

fn div(left: &Expr, right: &Expr) -> Expr {
    Expr::of(|| ops::div_tensor(left.tensor()?, right.tensor()?))
}

fn add_scalar(left: &Expr, right: Scalar) -> Expr {
    Expr::of(|| ops::add_scalar(left.tensor()?, right, Scalar::Int(1)))
}

fn sub_scalar(left: &Expr, right: Scalar) -> Expr {
    Expr::of(|| ops::sub_scalar(left.tensor()?, right, Scalar::Int(1)))
}

fn div_scalar(left: &Expr, right: Scalar) -> Expr {
    Expr::of(|| ops::div_scalar(left.tensor()?, right))
}

macro_rules! operator {
    ($trait:ident $method:ident: $tensor:path, $scalar:path) => {
        operator!(@tensor $trait $method $tensor: Expr, Expr);
        operator!(@tensor $trait $method $tensor: &Expr, Expr);
        operator!(@tensor $trait $method $tensor: Expr, &Expr);
        operator!(@tensor $trait $method $tensor: &Expr, &Expr);
        operator!(@scalar $trait $method $scalar: Expr, Scalar);
        operator!(@scalar $trait $method $scalar: &Expr, Scalar);
        operator!(@scalar $trait $method $scalar: Expr, f64);
        operator!(@scalar $trait $method $scalar: &Expr, f64);
    };
    (@tensor $trait:ident $method:ident $function:path: $left:ty, $right:ty) => {
        impl $trait<$right> for $left {
            type Output = Expr;
            #[allow(clippy::needless_borrow, reason = "the macro serves owned and borrowed operands")]
            fn $method(self, right: $right) -> Expr {
                $function(&self, &right)
            }
        }
    };
    (@scalar $trait:ident $method:ident $function:path: $left:ty, $right:ty) => {
        impl $trait<$right> for $left {
            type Output = Expr;
            #[allow(clippy::needless_borrow, reason = "the macro serves owned and borrowed operands")]
            fn $method(self, right: $right) -> Expr {
                $function(&self, right.into())
            }
        }
    };
}

operator!(Add add: add, add_scalar);
operator!(Sub sub: sub, sub_scalar);
operator!(Mul mul: mul, Expr::scaled);
operator!(Div div: div, div_scalar);

impl Neg for &Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        Expr::of(|| ops::neg(self.tensor()?))
    }
}

impl Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        -&self
    }
}
