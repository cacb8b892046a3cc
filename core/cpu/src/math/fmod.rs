//! The remainder of a truncated quotient.

use super::Huge;
use crate::number::Real;
use crate::simd::{FloatVector, MAX_LANES, Mask};

/// The remainder of the quotient truncated to a whole number, with the sign of `a`; exact.
///
/// The rounded quotient, truncated, is the exact one or, just below a whole number, one more. While it is a whole number
/// of the type, the fused `a - quotient b` is exact, and its sign tells whether it was one more. The standard's function
/// handles the other lanes.
#[inline(always)]
pub fn fmod<V: FloatVector>(a: V, b: V) -> V {
    let quotient = (a / b).trunc();
    let most = V::from_f64((1u64 << V::Scalar::MANTISSA) as f64);
    if V::FUSED && (quotient.abs().lt(most) & b.abs().lt(V::from_f64(f64::INFINITY))).all() {
        let rest = (-quotient).mul_add(b, a);
        let size = rest * V::from_f64(1.0).copysign(a);
        return V::select(size.lt(V::from_f64(0.0)), size + b.abs(), size).copysign(a);
    }
    let (mut divisors, mut lane) = ([0u64; MAX_LANES], 0);
    let divisors = divisors.as_mut_ptr().cast::<V::Scalar>();
    // SAFETY: no vector is larger than the buffer.
    unsafe { b.store(divisors) };
    a.map(|a| {
        // SAFETY: `map` calls the function once for each lane, all of which were stored.
        let rest = a.rest(unsafe { divisors.add(lane).read() });
        lane += 1;
        rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Float, Kernel, Level, Simd, run_at};

    struct Pairs<'a, T>(&'a [T], &'a [T], &'a mut [T]);

    impl<T: Float<Wide = T>> Kernel for Pairs<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, _: S) {
            let lanes = T::Vector::<S>::LANES;
            for ((a, b), out) in self.0.chunks(lanes).zip(self.1.chunks(lanes)).zip(self.2.chunks_mut(lanes)) {
                // SAFETY: the slices have `a.len()` numbers, at most a vector's lanes.
                unsafe {
                    let (x, y) = (T::load_partial::<S>(a.as_ptr(), a.len()), T::load_partial::<S>(b.as_ptr(), b.len()));
                    T::store_partial::<S>(fmod(x, y), out.as_mut_ptr(), out.len());
                }
            }
        }
    }

    macro_rules! exact {
        ($type:ident, $next:expr) => {
            let mut numbers =
                vec![0.0, -0.0, 1.0, 3.0, 0.1, 1e-38, 1e-45, 1e38, 16_777_215.0, $type::INFINITY, $type::NAN];
            numbers.extend(
                (0..200).map(|i| ($type::from_bits($next + i * 7919) - 1.3) * (1.7 as $type).powi(i as i32 % 40)),
            );
            // Dividends next to multiples of the divisor, where the quotient rounds up.
            numbers.extend((1..60).map(|i| $type::from_bits(((i as $type) * 0.1).to_bits() - 1)));
            let (mut a, mut b) = (Vec::new(), Vec::new());
            for &dividend in &numbers {
                for divisor in numbers.iter().flat_map(|&number| [number, -number]) {
                    a.push(dividend);
                    b.push(divisor);
                }
            }
            for level in Level::ALL {
                let mut out = a.clone();
                if run_at(level, Pairs(&a, &b, &mut out)).is_none() {
                    continue;
                }
                for ((a, b), got) in a.iter().zip(&b).zip(out) {
                    let exact = a % b;
                    assert!(
                        got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan(),
                        "{a} % {b} = {exact}, not {got} at {level:?}"
                    );
                }
            }
        };
    }

    #[test]
    fn remainders_are_exact_at_every_level() {
        exact!(f32, 0x3f80_0000);
        exact!(f64, 0x3ff0_0000_0000_0000);
    }
}
