//! The distributions of `rejection`, with the numbers of a generator.

use super::normal::standard_normal;
use super::rejection::{Source, binomial_of, gamma_of, poisson_of};
use super::uniform::unit_f64;
use super::{Generator, Real};
use crate::{Error, Result, err};

impl Source for Generator {
    fn unit(&mut self) -> f64 {
        unit_f64(self)
    }

    fn normal(&mut self) -> f64 {
        standard_normal(self)
    }
}

/// The error of a mean that is negative or NaN.
#[cold]
pub fn wrong_rate() -> Error {
    err!(Runtime, "invalid Poisson rate, expected rate to be non-negative")
}

/// The next number of events of a process with mean `rate`, which must not be negative.
pub fn poisson(generator: &mut Generator, rate: f64) -> Result<f64> {
    if rate >= 0.0 { Ok(poisson_of(generator, rate)) } else { Err(wrong_rate()) }
}

/// The next number of successes of `count` trials of probability `p`, computed in the dtype `T` of both.
pub fn binomial<T: Real>(generator: &mut Generator, count: T, p: T) -> T {
    let round = |value: f64| T::from_f64(value).to_f64();
    T::from_f64(binomial_of(generator, count.to_f64(), p.to_f64(), round))
}

/// The next sample of the gamma distribution of this shape and scale 1.
pub fn standard_gamma(generator: &mut Generator, shape: f64) -> f64 {
    gamma_of(generator, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_their_means() {
        let mut generator = Generator::new(0);
        let mut mean = |sample: &mut dyn FnMut(&mut Generator) -> f64| {
            (0..20000).map(|_| sample(&mut generator)).sum::<f64>() / 20000.0
        };
        for rate in [0.5, 4.0, 30.0] {
            let found = mean(&mut |generator| poisson(generator, rate).unwrap());
            assert!((found - rate).abs() < 0.05 * rate, "Poisson {rate}: {found}");
            let found = mean(&mut |generator| standard_gamma(generator, rate));
            assert!((found - rate).abs() < 0.05 * rate, "gamma {rate}: {found}");
        }
        for (count, p) in [(10.0, 0.2), (100.0, 0.3), (100.0, 0.8)] {
            let found = mean(&mut |generator| binomial::<f64>(generator, count, p));
            assert!((found - count * p).abs() < 0.05 * count * p, "binomial {count}, {p}: {found}");
        }
        assert!(poisson(&mut generator, -1.0).is_err());
    }

    #[test]
    fn nan_ends_the_loops() {
        let mut generator = Generator::new(0);
        let infinity = f64::INFINITY;
        for (count, p) in [(f64::NAN, 0.3), (10.0, f64::NAN), (infinity, f64::NAN)] {
            assert!(binomial::<f64>(&mut generator, count, p).is_nan(), "binomial {count}, {p}");
        }
        for p in [1e-300, 0.3, 0.8] {
            assert_eq!(binomial::<f64>(&mut generator, infinity, p), infinity);
        }
        assert!(poisson(&mut generator, f64::NAN).is_err());
        for shape in [f64::NAN, -1.0] {
            assert!(standard_gamma(&mut generator, shape).is_nan(), "gamma {shape}");
        }
    }
}
