//! Results of a device that need not have the CPU's bits, with the reason and a limit of the difference. A rule that no
//! result needs is an error; a single name is only reported, since some operators differ in few numbers.

use rushlight_base::{Complex128, DType};

/// Operators that may differ.
pub struct Rule {
    /// Their names without namespace, overload and the underscore of in-place forms.
    pub operators: &'static [&'static str],
    /// Whether calls with complex arguments or results may differ, or calls with real ones.
    pub is_complex: bool,
    /// Which differences.
    pub limit: Limit,
    /// Why.
    pub reason: &'static str,
}

/// Differences of two numbers, in units in the last place of the dtype.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// At most as many units of the result, of a complex one by its absolute value.
    Relative(f64),
    /// Units of 1 where the absolute value is less: near its zeros, a function has the rounding errors of larger numbers.
    NearZeros(f64),
    /// The CPU's number is infinite and the device's is finite.
    Overflow,
    /// All differences.
    None,
}

impl Limit {
    /// The size of a difference that is within the limit, in its units.
    fn size(self, distance: &Distance) -> Option<f64> {
        match self {
            Limit::Relative(most) => Some(distance.relative).filter(|size| *size <= most),
            Limit::NearZeros(most) => Some(distance.near_zeros).filter(|size| *size <= most),
            Limit::Overflow => distance.overflows.then_some(f64::INFINITY),
            Limit::None => Some(distance.relative),
        }
    }
}

/// The exemptions.
pub const RULES: &[Rule] = &[
    Rule {
        operators: &[
            "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "rsqrt",
            "sgn", "sin", "sinc", "sinh", "sqrt", "tan", "tanh",
        ],
        is_complex: true,
        limit: Limit::Relative(32.0),
        reason: "complex functions are computed one element at a time: the CPU calls exp, log, sin, hypot and similar of \
                 the C library, and a device Rushlight's own, which may round the last bit otherwise",
    },
    Rule {
        operators: &["abs", "acos", "acosh", "asin", "asinh", "log", "log10", "log1p", "log2"],
        is_complex: true,
        limit: Limit::Overflow,
        reason: "the largest complex numbers: hypot of the C library rounds them to infinity, and asinh of Rust's standard \
                 library, which the CPU calls, doubles them",
    },
    Rule {
        operators: &["log", "log10", "log1p", "log2", "logaddexp"],
        is_complex: true,
        limit: Limit::NearZeros(32.0),
        reason: "complex functions, where the logarithm of an absolute value near 1 is small",
    },
    Rule {
        operators: &["float_power", "glu_backward", "ldexp", "pow", "sigmoid", "silu", "silu_backward"],
        is_complex: true,
        limit: Limit::None,
        reason: "complex functions, where large exponents and poles multiply the last bit: the difference has no limit",
    },
    Rule {
        operators: &[
            "i0",
            "special_entr",
            "special_erfcx",
            "special_i1",
            "special_log_ndtr",
            "special_modified_bessel_i0",
            "special_modified_bessel_i1",
            "special_modified_bessel_k0",
            "special_modified_bessel_k1",
            "special_ndtri",
            "special_scaled_modified_bessel_k0",
            "special_scaled_modified_bessel_k1",
            "special_xlog1py",
            "special_zeta",
        ],
        is_complex: false,
        limit: Limit::Relative(32.0),
        reason: "special functions that are computed one element at a time, with the C library's exp, log and sin on the \
                 CPU and Rushlight's own on a device",
    },
    Rule {
        operators: &[
            "_dirichlet_grad",
            "_standard_gamma_grad",
            "digamma",
            "igamma",
            "igammac",
            "polygamma",
            "special_airy_ai",
            "special_bessel_j0",
            "special_bessel_j1",
            "special_bessel_y0",
            "special_bessel_y1",
            "special_polygamma",
            "special_spherical_bessel_j0",
        ],
        is_complex: false,
        limit: Limit::NearZeros(64.0),
        reason: "special functions of the same kind that have zeros, or subtract numbers that are almost equal",
    },
    Rule {
        operators: &[
            "special_chebyshev_polynomial_t",
            "special_chebyshev_polynomial_u",
            "special_chebyshev_polynomial_v",
            "special_chebyshev_polynomial_w",
            "special_shifted_chebyshev_polynomial_t",
            "special_shifted_chebyshev_polynomial_u",
            "special_shifted_chebyshev_polynomial_v",
            "special_shifted_chebyshev_polynomial_w",
        ],
        is_complex: false,
        limit: Limit::NearZeros(1024.0),
        reason: "polynomials that are computed with the C library's acos, cos and sin on the CPU, where the degree multiplies \
                 the last bit of the angle",
    },
];

/// How far two numbers are from each other.
#[derive(Clone, Copy, Debug)]
pub struct Distance {
    /// In units of the expected number.
    pub relative: f64,
    /// In units of 1 if its absolute value is less.
    pub near_zeros: f64,
    /// Whether it is infinite, and the other one finite.
    pub overflows: bool,
}

impl Distance {
    /// That of two elements, if the dtype is no integer.
    pub fn of(dtype: DType, expected: Complex128, actual: Complex128) -> Option<Distance> {
        let digits: f64 = match dtype.to_real() {
            DType::F16 => 10.0,
            DType::BF16 => 7.0,
            DType::F32 => 23.0,
            DType::F64 => 52.0,
            _ => return None,
        };
        let (units, size) = ((expected - actual).norm() * digits.exp2(), expected.norm());
        let overflows = size == f64::INFINITY && actual.norm().is_finite();
        Some(Distance { relative: units / size, near_zeros: units / size.max(1.0), overflows })
    }
}

/// An exemption that was needed.
pub struct Excuse {
    /// The index of the rule.
    pub rule: usize,
    /// The name in the rule.
    pub name: &'static str,
    /// The size of the difference in the units of the rule.
    pub size: f64,
}

/// What explains the difference of two numbers in a call, if something does.
pub fn excuse(operator: &str, is_complex: bool, distance: &Distance) -> Option<Excuse> {
    let bare = operator.rsplit("::").next().unwrap_or(operator);
    let bare = bare.split('.').next().unwrap_or(bare);
    let is_named = |name: &&&str| bare == **name || bare.strip_suffix('_') == Some(**name);
    let mut rules = RULES.iter().enumerate().filter(|(_, rule)| rule.is_complex == is_complex);
    rules.find_map(|(at, rule)| {
        let name = rule.operators.iter().find(is_named)?;
        Some(Excuse { rule: at, name, size: rule.limit.size(distance)? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(expected: f64, actual: f64) -> Distance {
        Distance::of(DType::F64, Complex128::new(expected, 0.0), Complex128::new(actual, 0.0)).unwrap()
    }

    #[test]
    fn a_difference_is_measured_in_units_in_the_last_place() {
        assert_eq!(of(1.0, 1.0 + f64::EPSILON).relative, 1.0);
        let small = of(0.25, 0.25 + f64::EPSILON);
        assert_eq!((small.relative, small.near_zeros), (4.0, 1.0));
        assert!(Distance::of(DType::I32, Complex128::new(1.0, 0.0), Complex128::new(2.0, 0.0)).is_none());
    }

    #[test]
    fn only_named_operators_are_excused_within_their_limits() {
        let name = |operator, is_complex, distance| excuse(operator, is_complex, &distance).map(|excuse| excuse.name);
        let unit = of(1.0, 1.0 + f64::EPSILON);
        assert_eq!(name("aten::exp_", true, unit), Some("exp"));
        assert_eq!(name("aten::pow.Tensor_Scalar", true, of(1.0, 2.0)), Some("pow"));
        assert_eq!(name("aten::asin", true, of(f64::INFINITY, 710.0)), Some("asin"));
        assert_eq!(name("aten::asin", true, of(710.0, f64::INFINITY)), None);
        assert_eq!(name("aten::exp", true, of(f64::INFINITY, 710.0)), None);
        assert_eq!(name("aten::exp", false, unit), None);
        assert_eq!(name("aten::exp", true, of(1.0, 1.001)), None);
        assert_eq!(name("aten::exp", true, of(1.0, f64::NAN)), None);
        assert_eq!(name("aten::mul.Tensor", true, unit), None);
    }
}
