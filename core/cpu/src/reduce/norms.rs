//! Norms of vectors: sums of powers of absolute values, and their extrema.

use super::fold::{FloatFold, FloatFolding, Fold, float_folds};
use super::{fold_into, reduce_into};
use crate::array::Array;
use crate::math;
use crate::number::{Analytic, Number, Real, Wide};
use crate::simd::FloatVector;
use num_complex::ComplexFloat;
use rushlight_base::{Element, Result};
use std::marker::PhantomData;

float_folds! {
    /// Number of nonzero elements.
    pub(super) Set, 0.0, |x| V::select(x.eq(V::from_f64(0.0)), V::from_f64(0.0), V::from_f64(1.0)), |a, b| a + b, a.add(b);
    /// Sum of absolute values.
    pub(super) Sizes, 0.0, |x| x.abs(), |a, b| a + b, a.add(b);
    /// Sum of squares.
    pub(super) Squares, 0.0, |x| x * x, |a, b| a + b, a.add(b);
    /// Largest absolute value; NaN wins.
    pub(super) LargestSize, 0.0, |x| x.abs(), |a, b| a.max(b), if a.is_nan() | (a >= b) { a } else { b };
    /// Smallest absolute value; NaN wins.
    SmallestSize, f64::INFINITY, |x| x.abs(), |a, b| a.min(b), if a.is_nan() | (a <= b) { a } else { b };
}

/// Sum of powers of absolute values.
#[derive(Clone, Copy)]
pub(super) struct Powers(pub(super) f64);

impl FloatFold for Powers {
    const COST: usize = 8;
    const EMPTY: f64 = 0.0;

    #[inline(always)]
    fn lift<V: FloatVector>(self, x: V) -> V {
        math::pow(x.abs(), V::from_f64(self.0))
    }

    #[inline(always)]
    fn merge<V: FloatVector>(self, a: V, b: V) -> V {
        a + b
    }

    #[inline(always)]
    fn join<W: Real>(self, a: W, b: W) -> W {
        a.add(b)
    }
}

/// Applied to the absolute values of complex numbers.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Zero,
    One,
    Two,
    Largest,
    Smallest,
    Other,
}

impl Order {
    fn of(order: f64) -> Order {
        match order {
            0.0 => Order::Zero,
            1.0 => Order::One,
            2.0 => Order::Two,
            f64::INFINITY => Order::Largest,
            f64::NEG_INFINITY => Order::Smallest,
            _ => Order::Other,
        }
    }
}

/// The fold of complex numbers of type `T`, whose parts compute in `W`.
#[derive(Clone, Copy)]
struct ComplexSizes<T, W> {
    order: Order,
    power: W,
    element: PhantomData<T>,
}

impl<T, W> Fold for ComplexSizes<T, W>
where
    T: Number<Wide: ComplexFloat<Real = W>>,
    W: Real + ComplexFloat<Real = W>,
{
    type In = T;
    type Acc = W;

    #[inline(always)]
    fn empty(self) -> W {
        if self.order == Order::Smallest { W::from_f64(f64::INFINITY) } else { W::ZERO }
    }

    #[inline(always)]
    fn lift(self, x: T) -> W {
        let x = x.wide();
        match self.order {
            Order::Zero => W::from_f64(f64::from(u8::from(x != T::Wide::ZERO))),
            Order::Two => x.re() * x.re() + x.im() * x.im(),
            Order::Other => ComplexFloat::powf(x.abs(), self.power),
            _ => x.abs(),
        }
    }

    #[inline(always)]
    fn merge(self, a: W, b: W) -> W {
        match self.order {
            Order::Largest => LargestSize.join(a, b),
            Order::Smallest => SmallestSize.join(a, b),
            _ => Wide::add(a, b),
        }
    }
}

/// The norm of order `order` of each group of `a` into `out`, which is real: the root of a sum of powers of absolute
/// values; for infinite orders the largest or the smallest absolute value, for order 0 the number of elements that
/// differ from zero.
pub fn norm(out: &Array, a: &Array, order: f64) -> Result<()> {
    if !out.is_on_host() {
        return crate::device::reduce("norm", [Some(out), None], a, [order, 0.0]);
    }
    if a.dtype().is_complex() {
        return match a.dtype() {
            rushlight_base::DType::C32 => complex::<rushlight_base::Complex32, rushlight_base::f16, f32>(out, a, order),
            rushlight_base::DType::C64 => complex::<rushlight_base::Complex64, f32, f32>(out, a, order),
            _ => complex::<rushlight_base::Complex128, f64, f64>(out, a, order),
        };
    }
    dispatch!(a.dtype(), "norm_cpu", half float, T => {
        let narrow = T::narrow;
        match Order::of(order) {
            Order::Zero => reduce_into(out, a, FloatFolding::<_, T>::new(Set), narrow),
            Order::One => reduce_into(out, a, FloatFolding::<_, T>::new(Sizes), narrow),
            Order::Two => reduce_into(out, a, FloatFolding::<_, T>::new(Squares), move |sum| {
                narrow(Analytic::sqrt(sum))
            }),
            Order::Largest => reduce_into(out, a, FloatFolding::<_, T>::new(LargestSize), narrow),
            Order::Smallest => reduce_into(out, a, FloatFolding::<_, T>::new(SmallestSize), narrow),
            Order::Other => {
                let root = <<T as Number>::Wide as Analytic>::from_f64(1.0 / order);
                reduce_into(out, a, FloatFolding::<_, T>::new(Powers(order)), move |sum| {
                    narrow(ComplexFloat::powf(sum, root))
                })
            }
        }
    })
}

fn complex<T, R, W>(out: &Array, a: &Array, order: f64) -> Result<()>
where
    T: Number<Wide: ComplexFloat<Real = W>>,
    R: Number<Wide = W> + Element,
    W: Real + ComplexFloat<Real = W>,
{
    let kind = Order::of(order);
    let root = W::from_f64(1.0 / order);
    let fold = ComplexSizes::<T, W> { order: kind, power: W::from_f64(order), element: PhantomData };
    fold_into(out, a, fold, move |total| {
        R::narrow(match kind {
            Order::Two => Analytic::sqrt(total),
            Order::Other => ComplexFloat::powf(total, root),
            _ => total,
        })
    })
}
