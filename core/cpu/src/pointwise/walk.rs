//! What a kernel of a device gets of a [`Loop`](super::Loop): the same declarations for the host and for the device,
//! which includes this file (`core/cuda/kernels`).

use rushlight_base::{Complex128, DType, Scalar};

/// Most dimensions of a launch. The host splits a traversal of more.
pub const RANK: usize = 8;

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Elements that a thread of a light kernel reads at once where operands are contiguous.
pub const LANES: usize = 4;

/// A size, and its reciprocal in fixed point: `n / size` is `(high(n * magic) + n) >> shift` for `n` below 2^31.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    /// The size, at least 1.
    pub size: u32,
    /// The lower 32 bits of its reciprocal, scaled by 2^(32 + shift).
    pub magic: u32,
    /// The least `shift` with `size <= 2^shift`.
    pub shift: u32,
}

impl Divisor {
    /// The divisor `size`, at least 1 and below 2^31.
    pub fn new(size: u32) -> Divisor {
        let shift = if size <= 1 { 0 } else { 32 - (size - 1).leading_zeros() };
        let magic = ((1u64 << 32) * ((1u64 << shift) - u64::from(size)) / u64::from(size) + 1) as u32;
        Divisor { size, magic, shift }
    }

    /// Quotient and remainder of `n`, below 2^31.
    #[inline(always)]
    pub fn divide(self, n: u32) -> (u32, u32) {
        let high = ((u64::from(n) * u64::from(self.magic)) >> 32) as u32;
        let quotient = high.wrapping_add(n) >> (self.shift & 31);
        (quotient, n.wrapping_sub(quotient.wrapping_mul(self.size)))
    }
}

/// The traversal of `N` operands, the first of which is the output.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Walk<const N: usize> {
    /// The address of each operand's first element.
    pub at: [u64; N],
    /// The element of an operand that is a constant, as it would be in memory.
    pub constants: [[u64; 2]; N],
    /// The address of the device's record, for an integer that is divided by zero; 0: there is none.
    pub record: u64,
    /// Number of elements, below 2^31.
    pub count: u32,
    /// Number of dimensions, from 1 to [`RANK`].
    pub rank: u32,
    /// A bit for each operand that is a constant.
    pub constant: u32,
    /// A bit for each operand with a step of 0, if `whole` is not 0.
    pub still: u32,
    /// Not 0: one dimension, in which each operand is contiguous and aligned to [`LANES`] elements, still or a constant.
    pub whole: u32,
    /// The number of the operator in the record.
    pub operator: u32,
    /// Sizes, innermost dimension first; the rest is 1.
    pub sizes: [Divisor; RANK],
    /// Per dimension, the step of each operand in bytes.
    pub steps: [[i64; N]; RANK],
}

/// A parameter of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words(pub [u64; 4]);

/// What may be a parameter of a kernel.
pub trait Parameter: Copy {
    /// As words.
    fn words(self) -> Words;
    /// From the words of [`Parameter::words`].
    fn of_words(words: Words) -> Self;
}

macro_rules! parameters {
    ($($type:ty: |$value:ident| $to:expr, |$word:ident| $from:expr;)*) => {$(
        impl Parameter for $type {
            #[inline(always)]
            fn words(self) -> Words {
                let $value = self;
                Words([$to, 0, 0, 0])
            }
            #[inline(always)]
            fn of_words(words: Words) -> $type {
                let $word = words.0[0];
                $from
            }
        }
    )*};
}

parameters! {
    bool: |value| u64::from(value), |word| word != 0;
    i64: |value| value as u64, |word| word as i64;
    f64: |value| value.to_bits(), |word| f64::from_bits(word);
}

impl Parameter for Scalar {
    #[inline(always)]
    fn words(self) -> Words {
        let [kind, low, high] = match self {
            Scalar::Bool(value) => [0, u64::from(value), 0],
            Scalar::Int(value) => [1, value as u64, 0],
            Scalar::UInt(value) => [2, value, 0],
            Scalar::Float(value) => [3, value.to_bits(), 0],
            Scalar::Complex(value) => [4, value.re.to_bits(), value.im.to_bits()],
        };
        Words([kind, low, high, 0])
    }

    #[inline(always)]
    fn of_words(Words([kind, low, high, _]): Words) -> Scalar {
        match kind {
            0 => Scalar::Bool(low != 0),
            1 => Scalar::Int(low as i64),
            2 => Scalar::UInt(low),
            3 => Scalar::Float(f64::from_bits(low)),
            _ => Scalar::Complex(Complex128::new(f64::from_bits(low), f64::from_bits(high))),
        }
    }
}

impl<T: Parameter> Parameter for Option<T> {
    #[inline(always)]
    fn words(self) -> Words {
        match self {
            None => Words([0, 0, 0, 0]),
            Some(value) => {
                let Words([a, b, c, _]) = value.words();
                Words([a, b, c, 1])
            }
        }
    }

    #[inline(always)]
    fn of_words(words: Words) -> Option<T> {
        if words.0[3] == 0 { None } else { Some(T::of_words(words)) }
    }
}

/// The dtype in which a kernel of a device expects an operand in memory: the common dtype where the CPU widens it, else
/// the dtype that it computes in.
#[inline(always)]
pub fn stored(compute: DType, common: DType) -> DType {
    if compute as i32 == common.opmath() as i32 { common } else { compute }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_divide_exactly() {
        for size in [1, 2, 3, 5, 7, 10, 641, 65535, 65536, 1_000_003, (1 << 30) + 1, (1 << 31) - 1] {
            let divisor = Divisor::new(size);
            for n in [0, 1, size - 1, size, size + 1, 3 * (size / 2), 12_345_678, (1 << 31) - 2, (1 << 31) - 1] {
                let n = n.min((1 << 31) - 1);
                assert_eq!(divisor.divide(n), (n / size, n % size), "{n} by {size}");
            }
        }
    }

    #[test]
    fn parameters_keep_their_values() {
        let scalars = [Scalar::Bool(true), Scalar::Int(-3), Scalar::UInt(u64::MAX), Scalar::Float(-0.5)];
        for scalar in scalars.into_iter().chain([Scalar::Complex(Complex128::new(1.0, -2.0))]) {
            assert_eq!(Scalar::of_words(scalar.words()), scalar);
            assert_eq!(Option::<Scalar>::of_words(Some(scalar).words()), Some(scalar));
        }
        assert_eq!(Option::<f64>::of_words(None::<f64>.words()), None);
        assert_eq!(i64::of_words((-7i64).words()), -7);
    }
}
