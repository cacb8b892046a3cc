//! Distributions that are sampled by rejection: Poisson, binomial, gamma. The kernels of devices include this file
//! (`core/cuda/kernels`), with other sources of numbers.
//!
//! The published methods with their published constants: Hörmann's transformed rejection ("The transformed rejection
//! method for generating Poisson random variables", 1993: PTRS; "The generation of binomial random variates", 1993:
//! BTRS), Marsaglia and Tsang's "A simple method for generating gamma variables" (2000). ATen uses the same, so that
//! the samples agree.

#[cfg(target_arch = "nvptx64")]
use crate::floats::{Functions, Powers, Roots, Roundings};

/// Where the numbers come from.
pub trait Source {
    /// A number in [0, 1).
    fn unit(&mut self) -> f64;
    /// A number of the normal distribution with mean 0 and deviation 1.
    fn normal(&mut self) -> f64;
}

/// From this mean on, counts are sampled by rejection instead of one event at a time.
const MANY: f64 = 10.0;

/// The number of events of a process with mean `rate`, which is not negative.
pub fn poisson_of(source: &mut impl Source, rate: f64) -> f64 {
    if rate >= MANY { poisson_by_rejection(source, rate) } else { poisson_by_events(source, rate) }
}

/// Multiplies uniforms until the product is below the probability of no event.
fn poisson_by_events(source: &mut impl Source, rate: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    let (none, mut product, mut events) = ((-rate).exp(), 1.0, 0.0);
    loop {
        product *= source.unit();
        if product <= none {
            return events;
        }
        events += 1.0;
    }
}

fn poisson_by_rejection(source: &mut impl Source, rate: f64) -> f64 {
    let log_rate = rate.ln();
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let squeeze = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = source.unit() - 0.5;
        let v = source.unit();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + rate + 0.43).floor();
        if us >= 0.07 && v <= squeeze {
            return k;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let accepted = v.ln() + inverse_alpha.ln() - (a / (us * us) + b).ln();
        if accepted <= -rate + k * log_rate - log_factorial(k) {
            return k;
        }
    }
}

/// ln k! of a whole number: sums of logarithms, from 10 on Stirling's series.
fn log_factorial(k: f64) -> f64 {
    if k < 10.0 {
        return (2..=k as u64).map(|i| (i as f64).ln()).sum();
    }
    const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_8;
    (k + 0.5) * (k + 1.0).ln() - (k + 1.0) + HALF_LOG_TAU + stirling_rest(k)
}

/// The error of Stirling's formula for ln k!.
fn stirling_rest(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.081_061_466_795_327_3,
        0.041_340_695_955_409_3,
        0.027_677_925_684_998_3,
        0.020_790_672_103_765_1,
        0.016_644_691_189_821_2,
        0.013_876_128_823_070_7,
        0.011_896_709_945_891_8,
        0.010_411_265_261_972_1,
        0.009_255_462_182_712_73,
        0.008_330_563_433_362_87,
    ];
    if let Some(&known) = FIRST.get(k as usize) {
        return known;
    }
    let next = k + 1.0;
    let square = next * next;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / next
}

/// The number of successes of `count` trials of probability `p`; `round` rounds to the dtype of both.
pub fn binomial_of(source: &mut impl Source, count: f64, p: f64, round: impl Fn(f64) -> f64) -> f64 {
    if count <= 0.0 || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return count;
    }
    // No number of trials exceeds NaN or infinity: PyTorch does not terminate for the one and samples infinity or NaN
    // for the other.
    if p.is_nan() || !count.is_finite() {
        return round(count + p);
    }
    // The rarer of success and failure is counted.
    let rare = if p <= 0.5 { p } else { round(1.0 - p) };
    let successes = if count * rare >= MANY {
        binomial_by_rejection(source, count, rare)
    } else {
        binomial_by_waiting(source, count, rare)
    };
    round(if p <= 0.5 { successes } else { count - successes })
}

/// Adds up the waiting times between successes.
fn binomial_by_waiting(source: &mut impl Source, count: f64, p: f64) -> f64 {
    let log_failure = (-p).ln_1p();
    let (mut tries, mut successes) = (0.0, 0.0);
    loop {
        tries += (source.unit().ln() / log_failure).ceil();
        if tries > count {
            return successes;
        }
        successes += 1.0;
    }
}

fn binomial_by_rejection(source: &mut impl Source, count: f64, p: f64) -> f64 {
    let deviation = (count * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let c = count * p + 0.5;
    let squeeze = 0.92 - 4.2 / b;
    let odds = p / (1.0 - p);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let mode = ((count + 1.0) * p).floor();
    loop {
        let u = source.unit() - 0.5;
        let v = source.unit();
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + c).floor();
        if us >= 0.07 && v <= squeeze {
            return k;
        }
        if k < 0.0 || k > count {
            continue;
        }
        let accepted = (v * alpha / (a / (us * us) + b)).ln();
        let bound = (mode + 0.5) * ((mode + 1.0) / (odds * (count - mode + 1.0))).ln()
            + (count + 1.0) * ((count - mode + 1.0) / (count - k + 1.0)).ln()
            + (k + 0.5) * (odds * (count - k + 1.0) / (k + 1.0)).ln()
            + stirling_rest(mode)
            + stirling_rest(count - mode)
            - stirling_rest(k)
            - stirling_rest(count - k);
        if accepted <= bound {
            return k;
        }
    }
}

/// A sample of the gamma distribution of this shape and scale 1.
pub fn gamma_of(source: &mut impl Source, shape: f64) -> f64 {
    if shape == 0.0 {
        return 0.0;
    }
    // A shape below 1 is sampled as one above, and scaled.
    let (shape, scale) =
        if shape < 1.0 { (shape + 1.0, (1.0 - source.unit()).powf(1.0 / shape)) } else { (shape, 1.0) };
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (x, y) = loop {
            let x = source.normal();
            let y = c.mul_add(x, 1.0);
            if y > 0.0 || y.is_nan() {
                break (x, y);
            }
        };
        let v = y * y * y;
        let u = 1.0 - source.unit();
        let square = x * x;
        let sure = u < 1.0 - 0.0331 * square * square;
        if sure || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) || v.is_nan() {
            return scale * d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_factorials_begins_at_the_last_exact_one() {
        let exact = |k: u64| (2..=k).map(|i| (i as f64).ln()).sum::<f64>();
        for k in [0, 1, 5, 9, 10, 11, 50] {
            let error = (log_factorial(k as f64) - exact(k)).abs();
            // The first term that the series leaves out, 1 / (1680 * 11^7), is 3.05e-11.
            assert!(error <= 3.1e-11, "{k}: off by {error}");
        }
    }
}
