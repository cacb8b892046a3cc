//! Random numbers into strided memory, in the order that PyTorch draws them.

use crate::array::Array;
use crate::convert::Target;
use crate::pointwise::Loop;
use crate::room::filled;
use rushlight_base::random::{self, Bernoulli, BlockNormal, Generator, Normal, RandomInteger, Real, Uniform};
use rushlight_base::{Element, Error, Result, ensure};

/// Contiguous outputs of at least this many elements draw normal numbers in blocks.
const BLOCKS_FROM: usize = 16;

/// Uniform over [from, to).
pub fn uniform(walk: &Loop<1>, from: f64, to: f64, generator: &mut Generator) -> Result<()> {
    dispatch!(walk.dtype(0), "check_uniform_bounds", half float, T => {
        let distribution = Uniform::<T>::new(from, to)?;
        walk.generate::<T>(|| distribution.sample(generator));
        Ok(())
    })
}

/// Normal with mean and standard deviation.
pub fn normal(out: &Array, mean: f64, std: f64, generator: &mut Generator) -> Result<()> {
    let walk = Loop::new([out.clone()])?;
    dispatch!(out.dtype(), "normal_kernel_cpu", half float, T => {
        if out.is_contiguous() && out.numel() >= BLOCKS_FROM {
            normal_blocks::<T>(&walk, out.numel(), mean, std, generator)
        } else {
            let distribution = Normal::new(mean, std)?;
            walk.generate::<T>(|| <T as Real>::from_f64(distribution.sample(generator)));
            Ok(())
        }
    })
}

/// The blocks are drawn twice where they overlap, so they are drawn aside: tensors may alias.
fn normal_blocks<T: BlockNormal>(
    walk: &Loop<1>,
    count: usize,
    mean: f64,
    std: f64,
    generator: &mut Generator,
) -> Result<()> {
    let mut values = filled(count, T::default())?;
    random::fill_normal(generator, &mut values, mean, std)?;
    let mut values = values.into_iter();
    walk.generate::<T>(|| values.next().unwrap_or_default());
    Ok(())
}

/// Integers in [low, high), in any dtype.
pub fn integers(walk: &Loop<1>, low: i64, high: i64, generator: &mut Generator) -> Result<()> {
    let distribution = RandomInteger::between(low, high, walk.dtype(0))?;
    dispatch!(walk.dtype(0), "random_from_to_kernel_cpu", integer unsigned half float bool, T => {
        walk.generate::<T>(|| T::cast(distribution.sample(generator)));
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
        random::randperm(generator, &mut values, |index| index);
        let mut values = values.into_iter();
        walk.generate::<T>(|| T::cast(values.next().unwrap_or_default()));
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
        });
        Ok(())
    })
}

/// 0 or 1 with probability `p`, in any dtype.
pub fn coins(walk: &Loop<1>, p: f64, generator: &mut Generator) -> Result<()> {
    let distribution = Bernoulli::new(p)?;
    dispatch!(walk.dtype(0), "bernoulli_scalar_cpu_", integer unsigned half float complex bool, T => {
        walk.generate::<T>(|| T::cast(i64::from(distribution.sample(generator))));
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
            });
            Ok(())
        })
    })?;
    failed.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    #[test]
    fn a_permutation_holds_every_index_once() {
        let mut out = [0i32; 10];
        // SAFETY: ten elements.
        let array = unsafe { Array::new(out.as_mut_ptr().cast(), DType::I32, &[10], &[1]) };
        permutation(&array, &mut Generator::new(0)).unwrap();
        // torch.manual_seed(0); torch.randperm(10)
        assert_eq!(out, [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]);
    }
}
