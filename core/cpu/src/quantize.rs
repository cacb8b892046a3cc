//! Quantization: `product` and `window` have products and convolutions of 8-bit integers, `affine` converts floats to
//! integers and back.

mod affine;
mod product;
#[cfg(test)]
mod products_tests;
mod window;

pub use affine::{Affine, Sums};
pub use product::{Requantize, Weight, products};
pub use window::{Filters, Window, convolve};

/// The sum of products of two rows, in int32. A sum beyond it wraps around, as on processors.
#[inline]
pub fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).fold(0i32, |sum, (&a, &b)| sum.wrapping_add(i32::from(a) * i32::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products_need_more_than_16_bits_and_more_than_a_float() {
        assert_eq!(dot(&[255; 2], &[255; 2]), 130_050);
        // 2^24 + 1 is the first integer that a float does not hold.
        let mut a = vec![256i16; 256];
        a.push(1);
        let mut b = vec![256i16; 256];
        b.push(1);
        assert_eq!(dot(&a, &b), 16_777_217);
    }
}
