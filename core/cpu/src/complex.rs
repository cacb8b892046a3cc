//! Elementary functions of complex numbers, one element at a time, with the branch cuts of the C standard.
//!
//! Formulas in real functions, chosen so that neither cancellation nor intermediate overflow spoils the result. The
//! inverse functions follow W. Kahan, "Branch cuts for complex elementary functions".

#[cfg(target_arch = "nvptx64")]
use crate::floats::Functions;
use crate::number::{Analytic, Wide};
use num_complex::Complex;

/// `a * b`, but zero where `b` is: also for an infinite `a`, which a limit of zero times anything finite approaches.
macro_rules! scaled {
    ($a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        if b == 0.0 { b * a.signum() } else { a * b }
    }};
}

/// The functions that `elementary.rs` needs in addition to [`Analytic`].
pub(crate) trait ComplexFunctions: Analytic {
    /// 2 to this power.
    fn exp2(self) -> Self;
    /// e to this power, less 1.
    fn expm1(self) -> Self;
    /// The logarithm to base 2.
    fn log2(self) -> Self;
    /// The logarithm to base 10.
    fn log10(self) -> Self;
    /// The logarithm of 1 plus this.
    fn log1p(self) -> Self;
    /// 1/(1 + e^-z).
    fn sigmoid(self) -> Self;
    /// z/(1 + e^-z).
    fn silu(self) -> Self;
    /// The inverse of the square root.
    fn rsqrt(self) -> Self;
    /// To the power `exponent`; everything to the power 0 is 1.
    fn pow(self, exponent: Self) -> Self;
    /// sin(pi z)/(pi z), 1 at 0.
    fn sinc(self) -> Self;
    /// The logarithm of the sum of the powers of e to both.
    fn logaddexp(self, other: Self) -> Self;
    fn sin(self) -> Self;
    fn cos(self) -> Self;
    fn tan(self) -> Self;
    fn sinh(self) -> Self;
    fn cosh(self) -> Self;
    fn tanh(self) -> Self;
    fn asin(self) -> Self;
    fn acos(self) -> Self;
    fn atan(self) -> Self;
    fn asinh(self) -> Self;
    fn acosh(self) -> Self;
    fn atanh(self) -> Self;
}

/// `i z`: functions along the imaginary axis follow from those along the real one.
fn turned<T: Copy + std::ops::Neg<Output = T>>(z: Complex<T>) -> Complex<T> {
    Complex { re: -z.im, im: z.re }
}

/// `-i z`.
fn turned_back<T: Copy + std::ops::Neg<Output = T>>(z: Complex<T>) -> Complex<T> {
    Complex { re: z.im, im: -z.re }
}

macro_rules! complex_functions {
    ($($type:ident: $module:ident, tanh_far $tanh_far:expr;)*) => {$(
        impl ComplexFunctions for Complex<$type> {
            fn exp2(self) -> Self {
                Analytic::exp(Complex::new(self.re * std::$module::consts::LN_2, self.im * std::$module::consts::LN_2))
            }
            fn expm1(self) -> Self {
                let half = (self.im * 0.5).sin();
                let (sin, cos) = self.im.sin_cos();
                Complex::new(self.re.exp_m1() * cos - 2.0 * half * half, self.re.exp() * sin)
            }
            fn log2(self) -> Self {
                self.ln() * std::$module::consts::LOG2_E
            }
            fn log10(self) -> Self {
                self.ln() * std::$module::consts::LOG10_E
            }
            fn log1p(self) -> Self {
                let Complex { re: x, im: y } = self;
                // As in PyTorch, an infinite part does not make up for one that is NaN.
                if x.is_nan() || y.is_nan() {
                    return Complex::new(x + y, x + y);
                }
                // Near 0 the absolute value of 1 + z is 1, and its difference from 1 is lost.
                let size = if x.abs() < 0.5 && y.abs() < 0.5 {
                    (x * (x + 2.0) + y * y).ln_1p() * 0.5
                } else {
                    (1.0 + x).hypot(y).ln()
                };
                Complex::new(size, y.atan2(1.0 + x))
            }
            fn sigmoid(self) -> Self {
                Analytic::div(Wide::ONE, Self::ONE + Analytic::exp(-self))
            }
            fn silu(self) -> Self {
                Analytic::div(self, Self::ONE + Analytic::exp(-self))
            }
            fn rsqrt(self) -> Self {
                Analytic::div(Self::ONE, Analytic::sqrt(self))
            }
            fn pow(self, exponent: Self) -> Self {
                if exponent == Self::ZERO {
                    Self::ONE
                } else if self == Self::ZERO && exponent.re > 0.0 {
                    Self::ZERO
                } else if self == Self::ZERO {
                    // As in PyTorch, the direction of the infinity is not known.
                    let size = if exponent.re < 0.0 { <$type>::INFINITY } else { <$type>::NAN };
                    Complex::new(size, <$type>::NAN)
                } else {
                    Analytic::exp(exponent * self.ln())
                }
            }
            fn sinc(self) -> Self {
                let turned = self * std::$module::consts::PI;
                if self == Self::ZERO { Self::ONE } else { Analytic::div(ComplexFunctions::sin(turned), turned) }
            }
            fn logaddexp(self, other: Self) -> Self {
                let (less, more) = if self.re < other.re { (self, other) } else { (other, self) };
                if less.re == more.re && less.re.is_infinite() {
                    // Both powers are 0: so is their sum. Both are infinite: their directions are added.
                    let sum = || Analytic::exp(less) + Analytic::exp(more);
                    return if less.re < 0.0 { less } else { sum().ln() };
                }
                (Analytic::exp(less - more)).log1p() + more
            }
            fn sin(self) -> Self {
                turned_back(ComplexFunctions::sinh(turned(self)))
            }
            fn cos(self) -> Self {
                ComplexFunctions::cosh(turned(self))
            }
            fn tan(self) -> Self {
                turned_back(ComplexFunctions::tanh(turned(self)))
            }
            fn sinh(self) -> Self {
                let (sin, cos) = self.im.sin_cos();
                Complex::new(scaled!(self.re.sinh(), cos), scaled!(self.re.cosh(), sin))
            }
            fn cosh(self) -> Self {
                let (sin, cos) = self.im.sin_cos();
                Complex::new(scaled!(self.re.cosh(), cos), scaled!(self.re.sinh(), sin))
            }
            fn tanh(self) -> Self {
                let Complex { re: x, im: y } = self;
                if x.is_nan() && y == 0.0 {
                    return self;
                }
                if x.is_finite() && !y.is_finite() {
                    return Complex::new(if x == 0.0 { x } else { <$type>::NAN }, <$type>::NAN);
                }
                if x.abs() > $tanh_far {
                    // Here the real part rounds to 1, and the imaginary part decreases like e^-2x.
                    let small = if y.is_finite() { 2.0 * (2.0 * y).sin() * (-2.0 * x.abs()).exp() } else { 0.0 };
                    return Complex::new((1.0 as $type).copysign(x), small);
                }
                let (tan, sinh) = (y.tan(), x.sinh());
                let beta = 1.0 + tan * tan;
                let rho = (1.0 + sinh * sinh).sqrt();
                if tan.is_infinite() {
                    return Complex::new(rho / sinh, 1.0 / tan);
                }
                let denominator = 1.0 + beta * sinh * sinh;
                Complex::new(beta * rho * sinh / denominator, tan / denominator)
            }
            fn asin(self) -> Self {
                if self.re.is_infinite() || self.im.is_infinite() {
                    return Complex::new(self.re.atan2(self.im.abs()), <$type>::INFINITY.copysign(self.im));
                }
                let (below, above) = (Analytic::sqrt(Self::ONE - self), Analytic::sqrt(Self::ONE + self));
                let imaginary = (below.re * above.im - below.im * above.re).asinh();
                Complex::new(self.re.atan2((below * above).re), imaginary.abs().copysign(self.im))
            }
            fn acos(self) -> Self {
                if self.re.is_infinite() || self.im.is_infinite() {
                    return Complex::new(self.im.abs().atan2(self.re), <$type>::INFINITY.copysign(-self.im));
                }
                let (below, above) = (Analytic::sqrt(Self::ONE - self), Analytic::sqrt(Self::ONE + self));
                let imaginary = (above.re * below.im - above.im * below.re).asinh();
                Complex::new(2.0 * below.re.atan2(above.re), imaginary.abs().copysign(-self.im))
            }
            fn atan(self) -> Self {
                turned_back(ComplexFunctions::atanh(turned(self)))
            }
            fn asinh(self) -> Self {
                turned_back(ComplexFunctions::asin(turned(self)))
            }
            fn acosh(self) -> Self {
                if self.re.is_infinite() || self.im.is_infinite() {
                    return Complex::new(<$type>::INFINITY, self.im.abs().atan2(self.re).copysign(self.im));
                }
                let (below, above) = (Analytic::sqrt(self - Self::ONE), Analytic::sqrt(self + Self::ONE));
                let real = (below.re * above.re + below.im * above.im).asinh();
                Complex::new(real, 2.0 * below.im.atan2(above.re))
            }
            fn atanh(self) -> Self {
                let Complex { re: x, im: y } = self;
                if x.is_infinite() || y.is_infinite() {
                    let quarter = std::$module::consts::FRAC_PI_2;
                    return Complex::new((0.0 as $type).copysign(x), quarter.copysign(y));
                }
                // The nearer pole: for the other one the logarithm would be of a number near 0.
                let near = x.abs();
                let distance = (1.0 - near) * (1.0 - near) + y * y;
                let angle = (2.0 * y).atan2((1.0 - x) * (1.0 + x) - y * y);
                // For a large z both terms are large, and their quotient decreases like 4/x.
                let real = if distance.is_infinite() { 0.0 } else { 0.25 * (4.0 * near / distance).ln_1p() };
                Complex::new(real.copysign(x), 0.5 * angle)
            }
        }
    )*};
}

complex_functions! {
    f32: f32, tanh_far 11.0;
    f64: f64, tanh_far 22.0;
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::Complex128;

    /// Points on and beside axes and cuts, near 1 and far away.
    fn points() -> Vec<Complex128> {
        let parts = [-30.0, -2.0, -1.0, -0.6, -1e-9, 0.0, 1e-9, 0.3, 1.0, 1.5, 25.0];
        parts.iter().flat_map(|&re| parts.map(|im| Complex::new(re, im))).collect()
    }

    fn close(a: Complex128, b: Complex128) -> bool {
        (a - b).norm() <= 1e-11 * (1.0 + a.norm())
    }

    #[test]
    fn inverses_lead_back() {
        type F = fn(Complex128) -> Complex128;
        let pairs: [(F, F, &str); 6] = [
            (ComplexFunctions::sin, ComplexFunctions::asin, "sin"),
            (ComplexFunctions::cos, ComplexFunctions::acos, "cos"),
            (ComplexFunctions::tan, ComplexFunctions::atan, "tan"),
            (ComplexFunctions::sinh, ComplexFunctions::asinh, "sinh"),
            (ComplexFunctions::cosh, ComplexFunctions::acosh, "cosh"),
            (ComplexFunctions::tanh, ComplexFunctions::atanh, "tanh"),
        ];
        for (function, inverse, name) in pairs {
            for z in points() {
                // The poles of the inverse tangents.
                let pole = match name {
                    "tan" => (z * z + 1.0).norm() < 1e-6,
                    "tanh" => (z * z - 1.0).norm() < 1e-6,
                    _ => false,
                };
                let back = function(inverse(z));
                // If the inverse tangent is nearly pi/2, its last bit determines the leading bits of the result.
                let loss = if name.starts_with("tan") { 1e3 } else { 1.0 };
                assert!(pole || (back - z).norm() <= 1e-11 * loss * (1.0 + z.norm()), "{name} at {z}: {back}");
            }
        }
    }

    #[test]
    fn functions_agree_with_their_definitions_in_exponentials() {
        for z in points() {
            let (up, down) = (Analytic::exp(z), Analytic::exp(-z));
            assert!(close(ComplexFunctions::sinh(z), (up - down) * 0.5), "sinh {z}");
            assert!(close(ComplexFunctions::cosh(z), (up + down) * 0.5), "cosh {z}");
            assert!(close(ComplexFunctions::sigmoid(z), up / (up + 1.0)), "sigmoid {z}");
            assert!(close(z.expm1(), up - 1.0), "expm1 {z}");
            let quotient =
                if z.re > 10.0 { (1.0 - down * down) / (1.0 + down * down) } else { (up * up - 1.0) / (up * up + 1.0) };
            assert!(close(ComplexFunctions::tanh(z), quotient), "tanh {z}");
            if z != Complex::new(0.0, 0.0) {
                assert!(close(Analytic::exp(ComplexFunctions::log2(z) * std::f64::consts::LN_2), z), "log2 {z}");
                assert!(close(ComplexFunctions::pow(z, Complex::new(2.0, 0.0)), z * z), "pow {z}");
            }
        }
    }

    #[test]
    fn the_inverse_tangent_is_exact_beside_either_pole() {
        for z in [Complex::new(-0.9795f32, -0.0679), Complex::new(0.9795, -0.0679), Complex::new(-0.999, 1e-3)] {
            let exact = ComplexFunctions::atanh(Complex128::new(z.re.into(), z.im.into()));
            let found = ComplexFunctions::atanh(z);
            let found = Complex128::new(found.re.into(), found.im.into());
            assert!((found - exact).norm() <= 4e-7 * exact.norm(), "{z}: {found} instead of {exact}");
        }
    }

    #[test]
    fn far_away_nothing_overflows() {
        let far = Complex::new(400.0f32, 1.0);
        assert_eq!(ComplexFunctions::tanh(far), Complex::new(1.0, 0.0));
        assert_eq!(ComplexFunctions::tanh(-far).re, -1.0);
        assert_eq!(Complex::new(1e-20f64, 1e-20).expm1(), Complex::new(1e-20, 1e-20));
        assert_eq!(Complex::new(1e-20f64, 1e-20).log1p(), Complex::new(1e-20, 1e-20));
    }
}
