//! Random numbers into strided memory, in PyTorch's order.

use crate::array::Array;
use crate::convert::Target;
use crate::pointwise::Loop;
use rushlight_base::list::filled;
use rushlight_base::random::{
    self, Bernoulli, BlockNormal, Cauchy, Exponential, Generator, Geometric, LogNormal, Normal, RandomInteger, Real,
    Uniform,
};
use rushlight_base::runtime::{BETWEEN_CHECKS, check_cancelled};
use rushlight_base::{DType, Element, Error, Result, ensure, list};
use std::ops::{AddAssign, DivAssign};

/// Contiguous outputs of at least this many elements sample normal numbers in blocks.
const BLOCKS_FROM: usize = 16;

/// Uniform over [from, to).
pub fn uniform(walk: &Loop<1>, from: f64, to: f64, generator: &mut Generator) -> Result<()> {
    dispatch!(walk.dtype(0), "check_uniform_bounds", half float, T => {
        let distribution = Uniform::<T>::new(from, to)?;
        walk.generate_together::<T>(|piece| distribution.fill(generator, piece))
    })
}

/// Normal with mean and standard deviation.
pub fn normal(out: &Array, mean: f64, std: f64, generator: &mut Generator) -> Result<()> {
    dispatch!(out.dtype(), "normal_kernel_cpu", half float, T => {
        if out.is_contiguous() && out.numel() >= BLOCKS_FROM {
            normal_blocks::<T>(out, mean, std, generator)
        } else {
            let distribution = Normal::new(mean, std)?;
            Loop::new([out.clone()])?.generate::<T>(|| <T as Real>::from_f64(distribution.sample(generator)))
        }
    })
}

/// Of a contiguous array.
fn normal_blocks<T: BlockNormal>(out: &Array, mean: f64, std: f64, generator: &mut Generator) -> Result<()> {
    let start = out.as_ptr::<T>();
    random::normal_pieces::<T>(generator, out.numel(), mean, std, |at, piece| {
        for (i, &value) in piece.iter().enumerate() {
            // SAFETY: the array is contiguous, and the piece ends within its elements, which `Array::new` guarantees.
            unsafe { start.add(at + i).write(value) }
        }
    })
}

/// Floating-point numbers sampled in double precision, for every dtype.
fn sample_each(walk: &Loop<1>, kernel: &str, mut next_sample: impl FnMut() -> f64) -> Result<()> {
    dispatch!(walk.dtype(0), kernel, half float, T => {
        walk.generate::<T>(|| <T as Real>::from_f64(next_sample()))?;
        Ok(())
    })
}

/// Exponential with rate `lambda`; an infinite rate gives zeros without consuming random numbers.
pub fn exponential(walk: &Loop<1>, lambda: f64, generator: &mut Generator) -> Result<()> {
    let distribution = Exponential::new(lambda)?;
    sample_each(walk, "exponential_cpu", || distribution.sample(generator))
}

/// Cauchy around `median` with scale `sigma`.
pub fn cauchy(walk: &Loop<1>, median: f64, sigma: f64, generator: &mut Generator) -> Result<()> {
    let distribution = Cauchy::new(median, sigma)?;
    sample_each(walk, "cauchy_cpu", || distribution.sample(generator))
}

/// Powers of e of normal numbers.
pub fn log_normal(walk: &Loop<1>, mean: f64, std: f64, generator: &mut Generator) -> Result<()> {
    let distribution = LogNormal::new(mean, std)?;
    sample_each(walk, "log_normal_cpu", || distribution.sample(generator))
}

/// Tries up to the first success.
pub fn geometric(walk: &Loop<1>, p: f64, generator: &mut Generator) -> Result<()> {
    let distribution = Geometric::new(p)?;
    dispatch!(walk.dtype(0), "geometric_cpu", integer half float, T => {
        walk.generate::<T>(|| T::cast(distribution.sample(generator)))?;
        Ok(())
    })
}

/// `out = next_sample(a)` for parameters that may be rejected.
fn sample_each_from(walk: &Loop<2>, kernel: &str, mut next_sample: impl FnMut(f64) -> Result<f64>) -> Result<()> {
    let mut failed: Option<Error> = None;
    dispatch!(walk.dtype(0), kernel, half float, T => {
        walk.transform::<T, T>(|a| {
            let sample = next_sample(<T as Real>::to_f64(a)).unwrap_or_else(|error| {
                failed.get_or_insert(error);
                0.0
            });
            <T as Real>::from_f64(sample)
        })
    })?;
    failed.map_or(Ok(()), Err)
}

/// out = events of a process with mean a
pub fn poisson(walk: &Loop<2>, generator: &mut Generator) -> Result<()> {
    sample_each_from(walk, "poisson_cpu", |rate| random::poisson(generator, rate))
}

/// out = a sample of the gamma distribution of shape a, at least the smallest normal number
pub fn standard_gamma(walk: &Loop<2>, generator: &mut Generator) -> Result<()> {
    let least = smallest(walk.dtype(0));
    sample_each_from(walk, "gamma_cpu", |shape| Ok(random::standard_gamma(generator, shape).max(least)))
}

/// out = successes of a tries with probability b
pub fn binomial(walk: &Loop<3>, generator: &mut Generator) -> Result<()> {
    dispatch!(walk.dtype(0), "binomial_cpu", half float, T => {
        walk.transform::<T, T, T>(|count, p| random::binomial(generator, count, p))
    })
}

/// out = Dirichlet samples, in rows of `length` with the concentrations a
pub fn dirichlet(walk: &Loop<2>, length: usize, generator: &mut Generator) -> Result<()> {
    let mut samples = Vec::new();
    let count = walk.count();
    samples
        .try_reserve_exact(count)
        .map_err(|_| rushlight_base::err!(OutOfMemory, "not enough memory for {count} samples"))?;
    sample_each_from(walk, "dirichlet", |shape| {
        let sample = random::standard_gamma(generator, shape);
        samples.push(sample);
        Ok(sample)
    })?;
    for row in samples.chunks_mut(length.max(1)) {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|sample| *sample /= sum);
    }
    let (least, most) = (smallest(walk.dtype(0)), below_one(walk.dtype(0)));
    let mut shares = samples.into_iter();
    sample_each_from(walk, "dirichlet", |_| Ok(shares.next().unwrap_or_default().max(least).min(most)))
}

/// The smallest normal number of a floating dtype.
pub(crate) fn smallest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2f64.powi(-14),
        DType::F64 => f64::MIN_POSITIVE,
        _ => f64::from(f32::MIN_POSITIVE),
    }
}

/// The largest number below 1 of a floating dtype.
pub(crate) fn below_one(dtype: DType) -> f64 {
    1.0 - match dtype {
        DType::F16 => 2f64.powi(-11),
        DType::BF16 => 2f64.powi(-8),
        DType::F32 => 2f64.powi(-24),
        _ => 2f64.powi(-53),
    }
}

/// Rejects deviations below zero.
pub fn check_deviations(std: &Array) -> Result<()> {
    let walk = Loop::new([std.clone(), std.clone()])?;
    let mut least = f64::INFINITY;
    dispatch!(std.dtype(), "normal_kernel_cpu", half float, T => {
        walk.visit::<T, T>(|value, _| least = least.min(<T as Real>::to_f64(value)))
    })?;
    ensure!(least >= 0.0, Runtime, "normal expects all elements of std >= 0.0");
    Ok(())
}

/// The whole range of a dtype (`from` absent), or the range from a number on.
pub fn whole_range(walk: &Loop<1>, from: Option<i64>, generator: &mut Generator) -> Result<()> {
    let dtype = walk.dtype(0);
    let distribution = match from {
        None => RandomInteger::whole(dtype)?,
        Some(from) => RandomInteger::from_on(from, dtype)?,
    };
    dispatch!(dtype, "random_cpu", integer unsigned half float bool, T => {
        walk.generate::<T>(|| T::cast(distribution.sample(generator)))?;
        Ok(())
    })
}

/// Integers in [low, high), in any dtype.
pub fn integers(walk: &Loop<1>, low: i64, high: i64, generator: &mut Generator) -> Result<()> {
    let distribution = RandomInteger::between(low, high, walk.dtype(0))?;
    dispatch!(walk.dtype(0), "random_from_to_kernel_cpu", integer unsigned half float bool, T => {
        walk.generate::<T>(|| T::cast(distribution.sample(generator)))?;
        Ok(())
    })
}

/// A permutation of 0..n in a one-dimensional output.
pub fn permutation(out: &Array, generator: &mut Generator) -> Result<()> {
    let walk = Loop::new([out.clone()])?;
    let count = out.numel();
    let mut values = filled(count, 0i64)?;
    dispatch!(out.dtype(), "randperm", integer unsigned half float, T => {
        let last = count.saturating_sub(1) as i64;
        let holds_all = <i64 as Target>::cast(<T as Target>::cast(last)) == last;
        ensure!(holds_all, Runtime, "n is too large for result tensor type: '{}'", T::DTYPE.c10_name());
        random::randperm(generator, &mut values, |index| index)?;
        let mut values = values.into_iter();
        walk.generate::<T>(|| T::cast(values.next().unwrap_or_default()))?;
        Ok(())
    })
}

/// Factors in [lower, upper) where the second operand is not above zero, else 1.
pub fn slopes(walk: &Loop<2>, lower: f64, upper: f64, generator: &mut Generator) -> Result<()> {
    let distribution = Uniform::<f64>::new(lower, upper)?;
    dispatch!(walk.dtype(1), "rrelu_with_noise_out_cpu", half float, T => {
        let zero = <T as Real>::from_f64(0.0);
        walk.transform::<T, T>(|a| {
            let factor = if a <= zero { distribution.sample(generator) } else { 1.0 };
            <T as Real>::from_f64(factor)
        })
    })
}

/// 0 or 1 with probability `p`, in any dtype.
pub fn coins(walk: &Loop<1>, p: f64, generator: &mut Generator) -> Result<()> {
    let distribution = Bernoulli::new(p)?;
    dispatch!(walk.dtype(0), "bernoulli_scalar_cpu_", integer unsigned half float complex bool, T => {
        walk.generate::<T>(|| T::cast(i64::from(distribution.sample(generator))))?;
        Ok(())
    })
}

/// 0 or 1 with the probabilities of the second operand.
pub fn coins_of(walk: &Loop<2>, generator: &mut Generator) -> Result<()> {
    let mut failed: Option<Error> = None;
    dispatch!(walk.dtype(1), "bernoulli_tensor_cpu_p_", half float, P => {
        dispatch!(walk.dtype(0), "bernoulli_tensor_cpu_self_", integer half float bool, T => {
            walk.transform::<T, P>(|p| match Bernoulli::sample_element(generator, p) {
                Ok(up) => T::cast(i64::from(up)),
                Err(error) => {
                    failed.get_or_insert(error);
                    T::cast(0i64)
                }
            })
        })
    })?;
    failed.map_or(Ok(()), Err)
}

/// Samples indices with probabilities given by rows of weights: `samples` for each row of `categories` weights, into
/// `out`. Without replacement, the indices with the largest quotients of weights and exponential numbers are selected,
/// which has the same distribution; with replacement, a uniform number is searched in the cumulative sum.
pub fn multinomial(
    out: &Array,
    weights: &Array,
    categories: usize,
    samples: usize,
    replacement: bool,
    generator: &mut Generator,
) -> Result<()> {
    let rows = weights.numel() / categories.max(1);
    let mut sampled = list::with_capacity(rows.saturating_mul(samples))?;
    dispatch!(weights.dtype(), "multinomial", half float, T => {
        let mut values = filled(weights.numel(), T::default())?;
        let strides = rushlight_base::contiguous_strides(weights.sizes());
        // SAFETY: the vector holds as many elements as the sizes require and is kept until the end of the loop.
        let array = unsafe { Array::new(values.as_mut_ptr().cast(), T::DTYPE, weights.sizes(), &strides) };
        Loop::new([array, weights.clone()])?.transform::<T, T>(|weight| weight)?;
        for row in values.chunks(categories.max(1)) {
            check_weights(row)?;
        }
        if replacement && samples > 1 {
            for row in values.chunks(categories.max(1)) {
                with_replacement(row, samples, generator, &mut sampled)?;
            }
        } else {
            let distribution = Exponential::new(1.0)?;
            for weight in &mut values {
                let next_sample = <T as Real>::from_f64(distribution.sample(generator));
                *weight = <T as Real>::from_f64(<T as Real>::to_f64(*weight) / <T as Real>::to_f64(next_sample));
            }
            for row in values.chunks(categories.max(1)) {
                let mut order: Vec<usize> = list::collect(0..row.len())?;
                let weight = |index: usize| <T as Real>::to_f64(row[index]);
                let descending = |a: &usize, b: &usize| weight(*b).total_cmp(&weight(*a)).then(a.cmp(b));
                if (1..order.len()).contains(&samples) {
                    order.select_nth_unstable_by(samples, descending);
                }
                order.truncate(samples);
                order.sort_unstable_by(descending);
                sampled.extend(order.into_iter().map(|index| index as i64));
            }
        }
        Ok(())
    })?;
    let mut sampled = sampled.into_iter();
    Loop::new([out.clone()])?.generate::<i64>(|| sampled.next().unwrap_or_default())?;
    Ok(())
}

fn check_weights<T: Real>(row: &[T]) -> Result<()> {
    ensure!(
        row.iter().all(|weight| (0.0..f64::INFINITY).contains(&weight.to_f64())),
        Runtime,
        "probability tensor contains either `inf`, `nan` or element < 0"
    );
    let sum: f64 = row.iter().map(|weight| weight.to_f64()).sum();
    ensure!(sum > 0.0, Runtime, "invalid multinomial distribution (sum of probabilities <= 0)");
    Ok(())
}

/// Samples indices from the cumulative sums of the weights. They are accumulated in double precision for doubles, in
/// single precision for all other dtypes.
fn with_replacement<T: Real>(
    row: &[T],
    samples: usize,
    generator: &mut Generator,
    sampled: &mut Vec<i64>,
) -> Result<()> {
    match T::DTYPE {
        DType::F64 => sample_sums::<T, f64>(row, samples, generator, sampled),
        _ => sample_sums::<T, f32>(row, samples, generator, sampled),
    }
}

fn sample_sums<T: Real, S: Real + AddAssign + DivAssign>(
    row: &[T],
    samples: usize,
    generator: &mut Generator,
    sampled: &mut Vec<i64>,
) -> Result<()> {
    let mut total = S::from_f64(0.0);
    let sums = row.iter().map(|weight| {
        total += S::from_f64(weight.to_f64());
        total
    });
    let mut sums: Vec<S> = list::collect(sums)?;
    sums.iter_mut().for_each(|sum| *sum /= total);
    let Some(last) = sums.last_mut() else { return Ok(()) };
    *last = S::from_f64(1.0);
    let unit = Uniform::<f64>::new(0.0, 1.0)?;
    for at in 0..samples {
        if at.is_multiple_of(BETWEEN_CHECKS) {
            check_cancelled()?;
        }
        let next_sample = unit.sample(generator);
        sampled.push(sums.partition_point(|sum| sum.to_f64() < next_sample) as i64);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn a_permutation_holds_every_index_once() {
        let mut out = [0i32; 10];
        // SAFETY: the vector has ten elements.
        let array = unsafe { Array::new(out.as_mut_ptr().cast(), DType::I32, &[10], &[1]) };
        permutation(&array, &mut Generator::new(0)).unwrap();
        // torch.manual_seed(0); torch.randperm(10)
        assert_eq!(out, [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]);
    }
}
