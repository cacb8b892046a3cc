//! Multiplication of matrices of a dtype at a level: the kernels, and the functions that load and store elements.

use super::convert::{Bits16, Raised, Stored};
use super::epilogue::{self, Factor, FinishFn};
use super::kernels::{Arithmetic, kernels};
use super::pack::{self, PackFn};
use super::thin::Thin;
use super::tile::Kernels;
use crate::dispatch::unsupported;
use crate::simd::Level;
use rushlight_base::{Complex32, Complex64, Complex128, DType, Result, Scalar, bf16, f16};

/// The table entry for one dtype at one level.
#[derive(Clone, Copy)]
pub(super) struct Ways {
    pub kernels: &'static Kernels,
    pub pack_left: PackFn,
    pub pack_right: PackFn,
    pub finish: FinishFn,
    /// For products of few rows or columns, if supported.
    pub thin: Option<Thin>,
    /// A scalar in the type of the sums.
    pub factor: fn(Scalar) -> Factor,
    /// Whether it is 1, in the type of the sums.
    pub is_one: fn(Scalar) -> bool,
    /// Whether it is 0, in the type of the sums.
    pub is_zero: fn(Scalar) -> bool,
    /// Bytes of an operand's element.
    pub element: usize,
    /// Bytes of a result.
    pub out_bytes: usize,
    /// Whether results are stored as they are summed.
    pub stores_sums: bool,
}

/// The function of a module at a level.
macro_rules! at_level {
    ($level:expr, $module:ident :: <$($of:tt),*>) => {
        match $level {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => $module::avx512::<$($of),*>,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => $module::avx2::<$($of),*>,
            _ => $module::portable::<$($of),*>,
        }
    };
}

/// The function that packs elements. Those that are multiplied as they are stored are moved, as words of their size; plain
/// code converts those that are multiplied one by one and are not floats.
macro_rules! pack {
    ($level:expr, f32 as f32 x 1) => {
        at_level!($level, pack::<u32, u32, 1>)
    };
    ($level:expr, i32 as i32 x 1) => {
        at_level!($level, pack::<u32, u32, 1>)
    };
    ($level:expr, f64 as f64 x 1) => {
        at_level!($level, pack::<u64, u64, 1>)
    };
    ($level:expr, i64 as i64 x 1) => {
        at_level!($level, pack::<u64, u64, 1>)
    };
    ($level:expr, Complex64 as Complex64 x 1) => {
        at_level!($level, pack::<u64, u64, 1>)
    };
    ($level:expr, Complex128 as Complex128 x 1) => {
        pack::portable::<Complex128, Complex128, 1>
    };
    ($level:expr, Complex32 as Complex64 x 1) => {
        pack::portable::<Complex32, Complex64, 1>
    };
    ($level:expr, $from:tt as i32 x 1) => {
        pack::portable::<$from, i32, 1>
    };
    ($level:expr, $from:tt as $in:tt x $group:tt) => {
        at_level!($level, pack::<$from, $in, $group>)
    };
}

/// The function that finishes sums: at the level for floats; for other dtypes, of which there are many, plain code.
macro_rules! finish {
    ($level:expr, f32 to $out:tt) => {
        at_level!($level, epilogue::<f32, $out>)
    };
    ($level:expr, f64 to $out:tt) => {
        at_level!($level, epilogue::<f64, $out>)
    };
    ($level:expr, $sum:tt to $out:tt) => {
        epilogue::portable::<$sum, $out>
    };
}

macro_rules! ways {
    ($level:expr, $arithmetic:ident: $left:tt and $right:tt as $in:tt x $group:tt, $sum:tt to $out:tt, $thin:expr) => {
        kernels(Arithmetic::$arithmetic, $level).map(|kernels| Ways {
            kernels,
            pack_left: pack!($level, $left as $in x $group),
            pack_right: pack!($level, $right as $in x $group),
            finish: finish!($level, $sum to $out),
            thin: Thin::of($thin, $level),
            factor: Factor::new::<$sum>,
            is_one: is_one::<$sum>,
            is_zero: is_zero::<$sum>,
            element: size_of::<$left>(),
            out_bytes: size_of::<$out>(),
            stores_sums: stores::<$sum, $out>(),
        })
    };
}

fn is_one<S: crate::number::Wide>(value: Scalar) -> bool {
    S::from_scalar(value) == S::ONE
}

fn is_zero<S: crate::number::Wide>(value: Scalar) -> bool {
    S::from_scalar(value) == S::ZERO
}

/// Whether an `O` is stored like the sum it comes from. Every result of the same size is.
const fn stores<S, O: Stored<S>>() -> bool {
    size_of::<S>() == size_of::<O>()
}

/// The functions that multiply matrices of `dtype` into one of `out` at `level`, which the processor must have. `out`
/// is `dtype`, or `I32` for `I8`.
pub(super) fn ways(dtype: DType, out: DType, level: Level) -> Result<Ways> {
    let found = match (dtype, out) {
        (DType::F32, DType::F32) => ways!(level, F32: f32 and f32 as f32 x 1, f32 to f32, dtype),
        (DType::F64, DType::F64) => ways!(level, F64: f64 and f64 as f64 x 1, f64 to f64, dtype),
        (DType::F16, DType::F16) => ways!(level, F32: f16 and f16 as f32 x 1, f32 to f16, dtype),
        (DType::BF16, DType::BF16) => brain_tiles(level)
            .or_else(|| brain_pairs(level).filter(|_| pairs_are_fast()))
            .or_else(|| ways!(level, F32: bf16 and bf16 as f32 x 1, f32 to bf16, dtype)),
        (DType::U8, DType::U8) => ways!(level, I16Pairs: u8 and u8 as i16 x 2, i32 to u8, dtype)
            .or_else(|| ways!(level, I32: u8 and u8 as i32 x 1, i32 to u8, dtype)),
        (DType::I8, DType::I8) => bytes(level)
            .map(|bytes| Ways { finish: finish!(level, i32 to i8), out_bytes: 1, stores_sums: false, ..bytes })
            .or_else(|| ways!(level, I16Pairs: i8 and i8 as i16 x 2, i32 to i8, dtype))
            .or_else(|| ways!(level, I32: i8 and i8 as i32 x 1, i32 to i8, dtype)),
        (DType::I8, DType::I32) => bytes(level)
            .or_else(|| ways!(level, I16Pairs: i8 and i8 as i16 x 2, i32 to i32, dtype))
            .or_else(|| ways!(level, I32: i8 and i8 as i32 x 1, i32 to i32, dtype)),
        (DType::I16, DType::I16) => ways!(level, I16Pairs: i16 and i16 as i16 x 2, i32 to i16, dtype)
            .or_else(|| ways!(level, I32: i16 and i16 as i32 x 1, i32 to i16, dtype)),
        (DType::I32, DType::I32) => ways!(level, I32: i32 and i32 as i32 x 1, i32 to i32, dtype),
        (DType::I64, DType::I64) => ways!(level, I64: i64 and i64 as i64 x 1, i64 to i64, dtype),
        (DType::C32, DType::C32) => {
            ways!(level, C64: Complex32 and Complex32 as Complex64 x 1, Complex64 to Complex32, dtype)
        }
        (DType::C64, DType::C64) => {
            ways!(level, C64: Complex64 and Complex64 as Complex64 x 1, Complex64 to Complex64, dtype)
        }
        (DType::C128, DType::C128) => {
            ways!(level, C128: Complex128 and Complex128 as Complex128 x 1, Complex128 to Complex128, dtype)
        }
        _ => None,
    };
    found.ok_or_else(|| unsupported("addmm_impl_cpu_", dtype))
}

/// Bytes, where the processor multiplies several at once.
fn bytes(level: Level) -> Option<Ways> {
    byte_tiles(level).or_else(|| byte_fours(level))
}

/// Brain floats in matrix registers, where there are some.
#[cfg(target_arch = "x86_64")]
fn brain_tiles(level: Level) -> Option<Ways> {
    let tiles = ways!(level, BF16Tiles: Bits16 and Bits16 as u16 x 32, f32 to bf16, DType::BF16)?;
    Some(Ways { pack_right: pack::padded::<Bits16, u16, 2, 32>, ..tiles })
}

/// Bytes in matrix registers, where there are some.
#[cfg(target_arch = "x86_64")]
fn byte_tiles(level: Level) -> Option<Ways> {
    let tiles = ways!(level, I8Tiles: i8 and i8 as i8 x 64, i32 to i32, DType::I8)?;
    Some(Ways { pack_right: pack::padded::<i8, i8, 4, 64>, ..tiles })
}

#[cfg(not(target_arch = "x86_64"))]
fn brain_tiles(_: Level) -> Option<Ways> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn byte_tiles(_: Level) -> Option<Ways> {
    None
}

/// Pairs of brain floats, where the processor multiplies them.
pub(super) fn brain_pairs(level: Level) -> Option<Ways> {
    ways!(level, BF16Pairs: Bits16 and Bits16 as u16 x 2, f32 to bf16, DType::BF16)
}

/// Fours of bytes, where the processor multiplies them.
pub(super) fn byte_fours(level: Level) -> Option<Ways> {
    let bytes = ways!(level, I8Fours: Raised and i8 as i8 x 4, i32 to i32, DType::I8)?;
    let pack_right: PackFn = match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => pack::raised_avx512,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => pack::raised_avx2,
        _ => pack::raised_portable,
    };
    Some(Ways { pack_right, ..bytes })
}

/// Whether the processor is AMD's. Theirs multiply pairs of bfloat16 numbers at the rate of floats, twice as many;
/// Intel's (measured on Sapphire Rapids) at a quarter of that, slower than the same product in floats.
#[cfg(target_arch = "x86_64")]
fn pairs_are_fast() -> bool {
    use std::sync::OnceLock;
    static AMD: OnceLock<bool> = OnceLock::new();
    *AMD.get_or_init(|| {
        let vendor = std::arch::x86_64::__cpuid(0);
        [vendor.ebx, vendor.edx, vendor.ecx] == [b"Auth", b"enti", b"cAMD"].map(|four| u32::from_le_bytes(*four))
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn pairs_are_fast() -> bool {
    false
}
