//! Discrete distributions other than the uniform one: Bernoulli and geometric.
//!
//! Dropout masks are [`Bernoulli`] with `1 - p`: `native_dropout` keeps the samples as `bool` and multiplies by
//! `1 / (1 - p)`, `dropout` samples into the input's dtype and divides the mask by `1 - p`; both consume the same
//! random numbers.

use super::uniform::{next_unit_f32, unit_f64};
use super::{Generator, Real};
use crate::{Error, Result, ensure, err};

/// The error of an element of a tensor of probabilities that is none.
#[cold]
pub fn wrong_probability(p: f64) -> Error {
    err!(Runtime, "Expected p_in >= 0 && p_in <= 1 to be true, but got p={p}")
}

/// Bernoulli distribution with probability `p` of `true` (`bernoulli_`).
#[derive(Clone, Copy, Debug)]
pub struct Bernoulli {
    p: f64,
}

impl Bernoulli {
    /// Checks the probability.
    pub fn new(p: f64) -> Result<Bernoulli> {
        ensure!((0.0..=1.0).contains(&p), Runtime, "bernoulli_ expects p to be in [0, 1], but got p={p}");
        Ok(Bernoulli { p })
    }

    /// The next sample.
    pub fn sample(&self, generator: &mut Generator) -> bool {
        unit_f64(generator) < self.p
    }

    /// A sample whose probability is an element of a tensor of probabilities: a double consumes 53 bits, every other
    /// dtype 24.
    pub fn sample_element<T: Real>(generator: &mut Generator, p: T) -> Result<bool> {
        let p = p.to_f64();
        if !(0.0..=1.0).contains(&p) {
            return Err(wrong_probability(p));
        }
        let unit = if T::RANDOM_BITS == 64 { unit_f64(generator) } else { f64::from(next_unit_f32(generator)) };
        Ok(unit < p)
    }
}

/// Number of trials of probability `p` up to the first success (`geometric_`).
#[derive(Clone, Copy, Debug)]
pub struct Geometric {
    p: f64,
}

impl Geometric {
    /// Checks the probability.
    pub fn new(p: f64) -> Result<Geometric> {
        ensure!(p > 0.0 && p < 1.0, Runtime, "geometric_ expects p to be in (0, 1), but got p={p}");
        Ok(Geometric { p })
    }

    /// The next sample, a whole number as a double (infinite if the uniform is 0).
    pub fn sample(&self, generator: &mut Generator) -> f64 {
        (unit_f64(generator).ln() / (-self.p).ln_1p()).ceil()
    }
}
