//! Copies and casts between any two dtypes.
//!
//! Each pair has its own loop, without an intermediate type that loses digits. Floating to integer truncates, through
//! `i64` for the narrow types, as a C cast does on the processors PyTorch runs on; complex to real drops the imaginary
//! part; anything to `bool` is "differs from zero".

pub(crate) use crate::cast::{Source, Target};
use crate::pointwise::{Cast, Loop};
use crate::simd::{self, Float, FloatVector, Kernel, Simd};
use rushlight_base::{DType, Result, bf16, f16};
use std::ops::Range;

/// out = a, converted to the dtype of out.
pub fn copy(walk: &Loop<2>) -> Result<()> {
    let [to, from] = [walk.dtype(0), walk.dtype(1)];
    if to == from {
        return walk.copy();
    }
    let cast = caster(from, to)?;
    // SAFETY: `run` passes memory of `len` elements of these two dtypes.
    walk.convert(|[to, from], len| unsafe { cast(from, to, len) })
}

/// The loop that converts contiguous elements of one dtype to another.
pub(crate) fn caster(from: DType, to: DType) -> Result<Cast> {
    fn to_any<A: Source>(to: DType) -> Result<Cast> {
        dispatch!(to, "copy_", integer unsigned half float complex chalf bool, R => Ok(cast_all::<A, R> as Cast))
    }
    match (from, to) {
        (DType::F16, DType::F32) => return Ok(widen_f16),
        (DType::BF16, DType::F32) => return Ok(widen_bf16),
        (DType::F32, DType::F16) => return Ok(narrow_f16),
        (DType::F32, DType::BF16) => return Ok(narrow_bf16),
        _ => {}
    }
    dispatch!(from, "copy_", integer unsigned half float complex chalf bool, A => to_any::<A>(to))
}

// Between half precision and `f32` there are instructions that the compiler would not use. Every loop over half
// precision converts twice.
macro_rules! half_casts {
    ($($name:ident: $from:ident to $to:ident;)*) => {$(
        /// # Safety
        /// The contract of `cast_all`.
        unsafe fn $name(from: *const u8, to: *mut u8, len: usize) {
            struct Convert(*const $from, *mut $to, usize);
            impl Kernel for Convert {
                type Output = ();
                #[inline(always)]
                fn run<S: Simd>(self, _: S) {
                    let (Convert(from, to, len), lanes) = (self, <S::F32 as FloatVector>::LANES);
                    let whole = len - len % lanes;
                    for at in (0..whole).step_by(lanes) {
                        // SAFETY: the caller of `cast_all` guarantees `len` elements at both addresses, and `at` plus a
                        // vector is within `len`.
                        unsafe { <$to as Float>::store::<S>(<$from as Float>::load::<S>(from.add(at)), to.add(at)) }
                    }
                    // SAFETY: the remaining `len - whole` elements are within the `len` that the caller of `cast_all`
                    // guarantees.
                    unsafe {
                        let rest = <$from as Float>::load_partial::<S>(from.add(whole), len - whole);
                        <$to as Float>::store_partial::<S>(rest, to.add(whole), len - whole);
                    }
                }
            }
            simd::run(Convert(from.cast(), to.cast(), len));
        }
    )*};
}

half_casts! {
    widen_f16: f16 to f32;
    widen_bf16: bf16 to f32;
    narrow_f16: f32 to f16;
    narrow_bf16: f32 to bf16;
}

/// # Safety
/// `from` and `to` have `len` elements of these types, apart from each other.
unsafe fn cast_all<A: Source, R: Target>(from: *const u8, to: *mut u8, len: usize) {
    let kernel = CastAll::<A, R> { from: from.cast(), to: to.cast(), len };
    // The rare pairs would fill the library with loops for each instruction set.
    if const { !is_common_pair(A::DTYPE, R::DTYPE) } {
        simd::run_plain(kernel)
    } else if const { simd::is_float(A::DTYPE) } {
        simd::run(kernel)
    } else {
        simd::run_over::<R, _>(kernel)
    }
}

const fn is_common_pair(from: DType, to: DType) -> bool {
    use DType::*;
    const fn is_common(dtype: DType) -> bool {
        matches!(dtype, U8 | I32 | I64 | F16 | BF16 | F32 | F64 | Bool)
    }
    is_common(from) && (is_common(to) || matches!((from, to), (F32, I8 | I16)))
}

struct CastAll<A, R> {
    from: *const A,
    to: *mut R,
    len: usize,
}

impl<A: Source, R: Target> Kernel for CastAll<A, R> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        match const { R::FROM_I32 } {
            Some(from_i32) if const { simd::is_float(A::DTYPE) } => {
                for start in (0..self.len).step_by(PART) {
                    self.truncate(start..self.len.min(start + PART), from_i32);
                }
            }
            _ => self.cast(0..self.len),
        }
    }
}

/// Numbers that are truncated together.
const PART: usize = 64;

impl<A: Source, R: Target> CastAll<A, R> {
    #[inline(always)]
    fn cast(&self, range: Range<usize>) {
        for i in range {
            // SAFETY: `i` is below `len`, for which the caller of `cast_all` guarantees elements at both addresses.
            unsafe { self.to.add(i).write(R::cast(self.from.add(i).read())) }
        }
    }

    /// [`CastAll::cast`] from floats to wide integers. Those that are an `i32` are truncated by an instruction that
    /// exists for vectors (0.1 of the time).
    #[inline(always)]
    fn truncate(&self, range: Range<usize>, from_i32: fn(i32) -> R) {
        // SAFETY: `i` is below `len`, for which the caller of `cast_all` guarantees elements at both addresses.
        let value = |i: usize| unsafe { self.from.add(i).read() };
        if range.clone().fold(true, |all, i| all & value(i).fits_i32()) {
            for i in range {
                // SAFETY: `i` is below `len`, and the number was found to be an `i32`.
                unsafe { self.to.add(i).write(from_i32(value(i).to_i32())) }
            }
        } else {
            self.cast(range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Array;
    use rushlight_base::{Complex64, Complex128, Element};

    fn cast<R: Element, A: Element>(values: &mut [A]) -> Vec<R> {
        let mut out = vec![R::default(); values.len()];
        let sizes = [values.len() as i64];
        // SAFETY: both vectors hold `sizes[0]` elements.
        let (to, from) = unsafe {
            (
                Array::new(out.as_mut_ptr().cast(), R::DTYPE, &sizes, &[1]),
                Array::new(values.as_mut_ptr().cast(), A::DTYPE, &sizes, &[1]),
            )
        };
        copy(&Loop::new([to, from]).unwrap()).unwrap();
        out
    }

    #[test]
    fn casts_truncate_wrap_and_keep_every_digit() {
        assert_eq!(cast::<u8, f32>(&mut [-1.5, 300.7, 2.9]), [255, 44, 2]);
        // One number that is no i32 among many that are, and the ends of i32.
        let mut numbers: Vec<f32> = (0..200).map(|i| i as f32 * 1.5 - 100.0).collect();
        numbers[70] = 4_294_967_808.0;
        // What is out of range is the least integer, as in PyTorch on x86-64.
        let expected: Vec<i32> = numbers.iter().map(|&x| if x < 4e9 { x as i32 } else { i32::MIN }).collect();
        assert_eq!(cast::<i32, f32>(&mut numbers), expected);
        let mut outside = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3e9, 1e19, -300.0];
        assert_eq!(cast::<i64, f64>(&mut outside), [i64::MIN, i64::MIN, i64::MIN, 3_000_000_000, i64::MIN, -300]);
        assert_eq!(cast::<i32, f64>(&mut outside), [i32::MIN, i32::MIN, i32::MIN, i32::MIN, i32::MIN, -300]);
        assert_eq!(cast::<i16, f64>(&mut outside), [0, 0, 0, 0, 0, -300]);
        assert_eq!(cast::<u8, f64>(&mut outside), [0, 0, 0, 0, 0, 212]);
        assert_eq!(cast::<u16, f64>(&mut outside), [0, 0, 0, 0, 0, 65236]);
        assert_eq!(cast::<u32, f64>(&mut outside), [0, 0, 0, 3_000_000_000, 0, 4_294_966_996]);
        let far = 1 << 63;
        assert_eq!(
            cast::<u64, f64>(&mut outside),
            [0, far, far, 3_000_000_000, 10_000_000_000_000_000_000, 300u64.wrapping_neg()]
        );
        assert_eq!(cast::<i32, f16>(&mut [f16::INFINITY, f16::NAN, f16::from_f32(-7.5)]), [i32::MIN, i32::MIN, -7]);
        assert_eq!(cast::<i16, Complex64>(&mut [Complex64::new(1e5, 2.0), Complex64::new(3e9, 0.0)]), [-31072, 0]);
        assert_eq!(cast::<i32, f64>(&mut [-2147483648.0, 2147483647.9, -0.9]), [i32::MIN, i32::MAX, 0]);
        assert_eq!(cast::<i64, u64>(&mut [u64::MAX]), [-1]);
        assert_eq!(cast::<i64, f64>(&mut [9007199254740993.0]), [9007199254740992]);
        assert_eq!(cast::<i64, i64>(&mut [9007199254740993]), [9007199254740993]);
        assert_eq!(cast::<Complex64, i32>(&mut [-3]), [Complex64::new(-3.0, 0.0)]);
        assert_eq!(cast::<f32, Complex128>(&mut [Complex128::new(1.5, 7.0)]), [1.5]);
        assert_eq!(cast::<bool, f32>(&mut [0.0, 0.25, f32::NAN]), [false, true, true]);
        assert_eq!(cast::<f32, bf16>(&mut [bf16::from_f32(3.0)]), [3.0]);
    }
}
