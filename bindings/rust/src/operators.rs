//! The operators `+`, `-`, `*`, `/` and their assignments, between tensors and with numbers.

use crate::{Result, Scalar, Tensor};
use rushlight_tensor::ops;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// The result, or a panic with the error's message.
#[track_caller]
fn expect<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

type Core = rushlight_tensor::Tensor;

fn add(a: &Core, b: &Core) -> Result<Core> {
    ops::add_tensor(a, b, Scalar::Int(1))
}

fn sub(a: &Core, b: &Core) -> Result<Core> {
    ops::sub_tensor(a, b, Scalar::Int(1))
}

fn add_number(a: &Core, b: Scalar) -> Result<Core> {
    ops::add_scalar(a, b, Scalar::Int(1))
}

fn sub_number(a: &Core, b: Scalar) -> Result<Core> {
    ops::sub_scalar(a, b, Scalar::Int(1))
}

fn number_sub(a: Scalar, b: &Core) -> Result<Core> {
    ops::rsub_scalar(b, a, Scalar::Int(1))
}

fn number_div(a: Scalar, b: &Core) -> Result<Core> {
    ops::mul_scalar(&ops::reciprocal(b)?, a)
}

fn add_in_place(a: &Core, b: &Core) -> Result<()> {
    ops::add_tensor_(a, b, Scalar::Int(1))
}

fn sub_in_place(a: &Core, b: &Core) -> Result<()> {
    ops::sub_tensor_(a, b, Scalar::Int(1))
}

fn add_number_in_place(a: &Core, b: Scalar) -> Result<()> {
    ops::add_scalar_(a, b, Scalar::Int(1))
}

fn sub_number_in_place(a: &Core, b: Scalar) -> Result<()> {
    ops::sub_scalar_(a, b, Scalar::Int(1))
}

macro_rules! between_tensors {
    ($($trait:ident::$method:ident = $function:path, $assign:ident::$assigned:ident = $in_place:path;)*) => {$(
        between_tensors!(@ $trait::$method = $function: Tensor, Tensor; Tensor, &Tensor; &Tensor, Tensor; &Tensor, &Tensor);

        impl $assign<&Tensor> for Tensor {
            /// In place.
            ///
            /// # Panics
            /// Panics with the message of the error that the method of the operator returns.
            #[track_caller]
            fn $assigned(&mut self, other: &Tensor) {
                expect($in_place(&self.0, &other.0))
            }
        }

        impl $assign<Tensor> for Tensor {
            /// In place.
            ///
            /// # Panics
            /// Panics with the message of the error that the method of the operator returns.
            #[track_caller]
            fn $assigned(&mut self, other: Tensor) {
                expect($in_place(&self.0, &other.0))
            }
        }
    )*};
    (@ $trait:ident::$method:ident = $function:path: $($left:ty, $right:ty);*) => {$(
        impl $trait<$right> for $left {
            type Output = Tensor;

            /// # Panics
            /// Panics with the message of the error that the method of the operator returns.
            #[track_caller]
            fn $method(self, other: $right) -> Tensor {
                Tensor(expect($function(&self.0, &other.0)))
            }
        }
    )*};
}

between_tensors! {
    Add::add = add, AddAssign::add_assign = add_in_place;
    Sub::sub = sub, SubAssign::sub_assign = sub_in_place;
    Mul::mul = ops::mul_tensor, MulAssign::mul_assign = ops::mul_tensor_;
    Div::div = ops::div_tensor, DivAssign::div_assign = ops::div_tensor_;
}

macro_rules! with_numbers {
    ($($number:ty),*) => {$(
        with_numbers!(@ $number: Add::add = add_number, add_number_reversed, AddAssign::add_assign = add_number_in_place);
        with_numbers!(@ $number: Sub::sub = sub_number, number_sub, SubAssign::sub_assign = sub_number_in_place);
        with_numbers!(@ $number: Mul::mul = ops::mul_scalar, mul_number_reversed, MulAssign::mul_assign = ops::mul_scalar_);
        with_numbers!(@ $number: Div::div = ops::div_scalar, number_div, DivAssign::div_assign = ops::div_scalar_);
    )*};
    (@ $number:ty: $trait:ident::$method:ident = $function:path, $reversed:path, $assign:ident::$assigned:ident = $in_place:path) => {
        with_numbers!(@@ $number, $trait::$method = $function, $reversed: Tensor; &Tensor);

        impl $assign<$number> for Tensor {
            /// In place.
            ///
            /// # Panics
            /// Panics with the message of the error that the method of the operator returns.
            #[track_caller]
            fn $assigned(&mut self, other: $number) {
                expect($in_place(&self.0, other.into()))
            }
        }
    };
    (@@ $number:ty, $trait:ident::$method:ident = $function:path, $reversed:path: $($tensor:ty);*) => {$(
        impl $trait<$number> for $tensor {
            type Output = Tensor;

            /// # Panics
            /// Panics with the message of the error that the method of the operator returns.
            #[track_caller]
            fn $method(self, other: $number) -> Tensor {
                Tensor(expect($function(&self.0, other.into())))
            }
        }

        impl $trait<$tensor> for $number {
            type Output = Tensor;

            /// # Panics
            /// Panics with the message of the error that the method of the operator returns.
            #[track_caller]
            fn $method(self, other: $tensor) -> Tensor {
                Tensor(expect($reversed(self.into(), &other.0)))
            }
        }
    )*};
}

fn add_number_reversed(a: Scalar, b: &Core) -> Result<Core> {
    add_number(b, a)
}

fn mul_number_reversed(a: Scalar, b: &Core) -> Result<Core> {
    ops::mul_scalar(b, a)
}

// One type of integers and one of floating-point numbers, so that the compiler can infer those of literals: `3 * (&x * &x)`.
with_numbers!(i64, f64);

macro_rules! negation {
    ($($tensor:ty),*) => {$(
        impl Neg for $tensor {
            type Output = Tensor;

            /// # Panics
            /// Panics with the message of the error that [`Tensor::neg`] returns.
            #[track_caller]
            fn neg(self) -> Tensor {
                Tensor(expect(ops::neg(&self.0)))
            }
        }
    )*};
}

negation!(Tensor, &Tensor);
