//! Pointwise arithmetic: kernels of the templates in `pointwise/`. A kernel computes in the common dtype of its
//! [`Loop`], unless its documentation says that an operand has its own type.

#[cfg(not(target_arch = "nvptx64"))]
use crate::array::Array;
#[cfg(target_arch = "nvptx64")]
use crate::floats::Roundings;
use crate::math;
use crate::number::{Analytic, Number, Ordered, Wide};
use crate::pointwise::{HEAVY, LIGHT, Loop, Parameter, Words, functions};
use crate::raised::Raised;
use crate::simd::FloatVector;
use rushlight_base::{Result, Scalar, ensure};

kernels! { "arithmetic";
    /// out = a + alpha b
    pub fn add(walk: &Loop<3>, alpha: Scalar) -> Result<()> {
        compute!(walk.common(), "add_stub", integer half float complex chalf bool, T => {
            let alpha = <T as Number>::Wide::from_scalar(alpha);
            if alpha == Wide::ONE {
                walk.map_wide::<T, T, T>(LIGHT, |a, b| a.add(b))
            } else {
                walk.map_wide::<T, T, T>(LIGHT, move |a, b| a.add(alpha.mul(b)))
            }
        })
    }

    /// out = a - alpha b
    pub fn sub(walk: &Loop<3>, alpha: Scalar) -> Result<()> {
        compute!(walk.common(), "sub_stub", integer half float complex chalf, T => {
            let alpha = <T as Number>::Wide::from_scalar(alpha);
            if alpha == Wide::ONE {
                walk.map_wide::<T, T, T>(LIGHT, |a, b| a.sub(b))
            } else {
                walk.map_wide::<T, T, T>(LIGHT, move |a, b| a.sub(alpha.mul(b)))
            }
        })
    }

    /// out = a b
    pub fn mul(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "mul_cpu", integer unsigned half float complex chalf bool, T => {
            walk.map_wide::<T, T, T>(LIGHT, move |a, b| a.mul(b))
        })
    }

    /// out = a / b
    pub fn div(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "div_cpu", half float complex chalf, T => {
            walk.map_wide::<T, T, T>(LIGHT, move |a, b| a.div(b))
        })
    }
}

/// out = the sum of a b, whose products are rounded to half precision, as in PyTorch, and accumulated in `f32`.
#[cfg(not(target_arch = "nvptx64"))]
pub fn dot_in_half_precision(out: &Array, a: &Array, b: &Array) -> Result<()> {
    let walk = Loop::computing(out.dtype(), [a.clone(), b.clone()])?;
    stepwise!(out.dtype(), "dot", T => {
        let mut sum = 0.0;
        walk.visit::<T, T>(|a, b| sum += a.mul(b).to_f32())?;
        // SAFETY: the array has one element of this type.
        unsafe { out.as_ptr::<T>().write(T::from_f64(sum.into())) };
        Ok(())
    })
}

/// Rounding of a quotient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Towards zero.
    Trunc,
    /// Towards minus infinity.
    Floor,
}

impl Parameter for Rounding {
    #[inline(always)]
    fn words(self) -> Words {
        (self == Rounding::Floor).words()
    }

    #[inline(always)]
    fn of_words(words: Words) -> Rounding {
        if bool::of_words(words) { Rounding::Floor } else { Rounding::Trunc }
    }
}

kernels! { "arithmetic";
    /// out = round(a / b); an integer divided by zero is an error.
    pub fn div_rounded(walk: &Loop<3>, rounding: Rounding) -> Result<()> {
        let (trunc, floor) = ("div_trunc_cpu", "div_floor_cpu");
        let name = if rounding == Rounding::Trunc { trunc } else { floor };
        if walk.common().is_half() && rounding == Rounding::Trunc {
            // The quotient is rounded to half precision before it is truncated.
            return stepwise!(walk.common(), name, T => walk.map::<T, T, T>(LIGHT, |a, b| a.div(b).of(|quotient| quotient.trunc())));
        }
        if walk.common().is_floating() {
            return compute!(walk.common(), name, half float, T => match rounding {
                Rounding::Trunc => walk.map::<T, T, T>(LIGHT, |a, b| (a / b).trunc()),
                Rounding::Floor => walk.apply::<T>(HEAVY, FloorQuotient {}),
            });
        }
        let by_zero = Raised::of(walk);
        dispatch!(walk.common(), name, integer, T => {
            let by_zero = &by_zero;
            walk.map::<T, T, T>(HEAVY, move |a, b| {
                if b == 0 {
                    by_zero.raise();
                    return 0;
                }
                let quotient = a.wrapping_div(b);
                // True only for signed types: the operands of the others are never below zero.
                #[allow(unused_comparisons, clippy::absurd_extreme_comparisons)]
                let rounds_up = rounding == Rounding::Floor && (a < 0) != (b < 0) && a.wrapping_rem(b) != 0;
                if rounds_up { quotient.wrapping_sub(1) } else { quotient }
            })
        })?;
        ensure!(!by_zero.is_raised(), Runtime, "ZeroDivisionError");
        Ok(())
    }
}

functions! {
    FloorQuotient: |a, b| floor_quotient(a, b);
}

/// The floor of the exact quotient: `(a / b).floor()` alone would round up first where a / b is just
/// below an integer.
#[inline(always)]
fn floor_quotient<V: FloatVector>(a: V, b: V) -> V {
    let [zero, half, one] = [0.0, 0.5, 1.0].map(V::from_f64);
    let rest = math::fmod(a, b);
    let quotient = (a - rest) / b;
    let quotient = V::select(rest.copysign(b).ne(rest), quotient - one, quotient);
    let floor = quotient.floor();
    let nearest = V::select((quotient - floor).gt(half), floor + one, floor);
    // A zero has the sign of the quotient.
    let signed = V::select(quotient.eq(zero), zero.copysign(one.copysign(a) * one.copysign(b)), nearest);
    V::select(b.eq(zero), a / b, signed)
}

kernels! { "arithmetic";
    /// out = -a
    pub fn neg(walk: &Loop<2>) -> Result<()> {
        // 0 - a would turn -0 into 0, so floats have their own loop.
        if walk.common().is_integral(true) {
            return compute!(walk.common(), "neg_cpu", integer, T => {
                walk.map::<T, T>(LIGHT, move |a| a.wrapping_neg())
            });
        }
        compute!(walk.common(), "neg_cpu", half float complex chalf, T => {
            walk.map::<T, T>(LIGHT, move |a| -a)
        })
    }

    /// out = conj(a)
    pub fn conj(walk: &Loop<2>) -> Result<()> {
        compute!(walk.common(), "conj_cpu", complex chalf, T => {
            walk.map::<T, T>(LIGHT, move |a| a.conj())
        })
    }
}

/// The larger of two values; NaN wins.
#[inline(always)]
pub(crate) fn max_nan<T: Ordered>(a: T, b: T) -> T {
    if a.is_nan() || a > b { a } else { b }
}

/// The smaller of two values; NaN wins.
#[inline(always)]
pub(crate) fn min_nan<T: Ordered>(a: T, b: T) -> T {
    if a.is_nan() || a < b { a } else { b }
}

kernels! { "arithmetic";
    /// out = max(a, b)
    pub fn maximum(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "maximum_cpu", integer half float bool, T => {
            walk.map_wide::<T, T, T>(LIGHT, max_nan)
        })
    }

    /// out = min(a, b)
    pub fn minimum(walk: &Loop<3>) -> Result<()> {
        compute!(walk.common(), "minimum_cpu", integer half float bool, T => {
            walk.map_wide::<T, T, T>(LIGHT, min_nan)
        })
    }

    /// out = min(max(a, low), high); `None` means no bound, and NaN is preserved.
    pub fn clamp_scalar(walk: &Loop<2>, low: Option<Scalar>, high: Option<Scalar>) -> Result<()> {
        compute!(walk.common(), "clamp_scalar_cpu", integer half float, T => {
            type W = <T as Number>::Wide;
            match (low.map(W::from_scalar), high.map(W::from_scalar)) {
                (Some(low), Some(high)) => walk.map_wide::<T, T>(LIGHT, move |a| {
                    let raised = if a < low { low } else { a };
                    if raised > high { high } else { raised }
                }),
                (Some(low), None) => walk.map_wide::<T, T>(LIGHT, move |a| if a < low { low } else { a }),
                (None, Some(high)) => walk.map_wide::<T, T>(LIGHT, move |a| if a > high { high } else { a }),
                (None, None) => walk.map::<T, T>(LIGHT, |a| a),
            }
        })
    }

    /// out = min(max(a, low), high), bound by bound.
    pub fn clamp(walk: &Loop<4>) -> Result<()> {
        compute!(walk.common(), "clamp_kernel_impl", integer half float, T => {
            walk.map::<T, T, T, T>(LIGHT, |a, low, high| min_nan(max_nan(a, low), high))
        })
    }

    /// out = a where a > threshold, else `value`; NaN stays.
    pub fn threshold(walk: &Loop<2>, threshold: Scalar, value: Scalar) -> Result<()> {
        compute!(walk.common(), "threshold_cpu", integer half float, T => {
            type W = <T as Number>::Wide;
            let (threshold, value) = (W::from_scalar(threshold), W::from_scalar(value));
            walk.map_wide::<T, T>(LIGHT, move |a| if a <= threshold { value } else { a })
        })
    }

    /// out = 0 where x <= threshold, else grad: operands (out, grad, x).
    pub fn threshold_backward(walk: &Loop<3>, threshold: Scalar) -> Result<()> {
        compute!(walk.common(), "threshold_cpu", integer half float, T => {
            type W = <T as Number>::Wide;
            let threshold = W::from_scalar(threshold);
            walk.map_wide::<T, T, T>(LIGHT, move |grad, x| if x <= threshold { W::ZERO } else { grad })
        })
    }

    /// out = a where condition, else b: operands (out, condition: a byte, a, b). Bits are moved, not computed with.
    pub fn select_where(walk: &Loop<4>) -> Result<()> {
        fn choose<T: Copy + Sync>(walk: &Loop<4>) -> Result<()> {
            walk.choose::<T>(LIGHT, |condition, a, b| if condition != 0 { a } else { b })
        }
        match walk.common().size() {
            1 => choose::<u8>(walk),
            2 => choose::<u16>(walk),
            4 => choose::<u32>(walk),
            8 => choose::<u64>(walk),
            _ => choose::<[u64; 2]>(walk),
        }
    }

    /// out = grad mask scale: operands (out, grad, mask: bool).
    pub fn mask_scale(walk: &Loop<3>, scale: f64) -> Result<()> {
        compute!(walk.common(), "masked_scale", half float complex, T => {
            type W = <T as Number>::Wide;
            let scale = W::from_f64(scale);
            walk.map::<T, T, crate::Flag>(LIGHT, move |grad, kept| if kept { grad.mul(scale) } else { grad.mul(W::ZERO) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Double, Single};

    #[test]
    fn floor_division_is_exact_near_integers() {
        let doubles = floor_quotient(Double::splat(1.0), Double::splat(0.1)).fold(|only, _| only);
        assert_eq!(doubles, 9.0);
        let floor_quotient = |a, b| floor_quotient(Single::splat(a), Single::splat(b)).fold(|only, _| only);
        assert_eq!(floor_quotient(-7.0f32, 2.0), -4.0);
        assert_eq!(floor_quotient(7.0f32, -2.0), -4.0);
        assert!(floor_quotient(0.0f32, 0.0).is_nan());
        let zero = |a: f32, b: f32| floor_quotient(a, b).to_bits();
        assert_eq!([zero(1.0, 2.0), zero(-0.0, 2.0), zero(-1.0, -2.0)], [0.0f32, -0.0, 0.0].map(f32::to_bits));
        assert_eq!(zero(0.0, -2.0), (-0.0f32).to_bits());
    }

    #[test]
    fn extrema_propagate_nan_from_either_side() {
        assert!(max_nan(f32::NAN, 1.0).is_nan());
        assert!(max_nan(1.0, f32::NAN).is_nan());
        assert!(min_nan(1.0, f32::NAN).is_nan());
        assert_eq!(max_nan(1, 2), 2);
    }
}
