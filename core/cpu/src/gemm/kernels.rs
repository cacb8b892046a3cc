//! The table of tiles: which vectors and tile sizes each arithmetic has at each level.

use super::lanes::{Plain, Vector};
use super::tile::{AlongFn, Kernels, Tile, TileFn, across, along, tile};
use crate::simd::Level;
use num_complex::Complex;

#[cfg(target_arch = "aarch64")]
use super::neon;
#[cfg(target_arch = "x86_64")]
use super::{amx, x86};

/// The arithmetic: the packed elements and the sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    F32,
    F64,
    I32,
    I64,
    C64,
    C128,
    /// Pairs of 16-bit integers, summed in 32 bits.
    I16Pairs,
    /// Pairs of brain floats, summed in `f32`.
    BF16Pairs,
    /// Fours of bytes, summed in 32 bits.
    I8Fours,
    /// Brain floats in matrix registers, summed in `f32`.
    #[cfg(target_arch = "x86_64")]
    BF16Tiles,
    /// Bytes in matrix registers, summed in 32 bits.
    #[cfg(target_arch = "x86_64")]
    I8Tiles,
}

macro_rules! compiled {
    ($(#[$meta:meta])* $name:ident, $along:ident, $across:ident) => {
        /// # Safety
        /// The contract of [`AlongFn`].
        $(#[$meta])*
        unsafe fn $across<V: Vector, const M: usize, const N: usize>(arguments: &Tile, offsets: &[isize]) {
            // SAFETY: the caller guarantees the tile in `arguments`, the offsets and the instruction set; both functions
            // have the same contract.
            unsafe { across::<V, M, N>(arguments, offsets) }
        }

        /// # Safety
        /// The contract of [`AlongFn`].
        $(#[$meta])*
        unsafe fn $along<V: Vector, const M: usize, const N: usize>(arguments: &Tile, offsets: &[isize]) {
            // SAFETY: the caller guarantees the tile in `arguments`, the offsets and the instruction set; both functions
            // have the same contract.
            unsafe { along::<V, M, N>(arguments, offsets) }
        }

        compiled! { $(#[$meta])* $name }
    };
    ($(#[$meta:meta])* $name:ident) => {
        /// # Safety
        /// The contract of [`TileFn`].
        $(#[$meta])*
        unsafe fn $name<V: Vector, const M: usize, const N: usize, const PACKED: bool>(arguments: &Tile) {
            // SAFETY: the caller guarantees the tile in `arguments` and the instruction set; both functions have the
            // same contract.
            unsafe { tile::<V, M, N, PACKED>(arguments) }
        }
    };
}

compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512bf16,avx512vnni,avx2,fma,f16c,bmi1,bmi2")]
    avx512_extended
}
compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2")]
    avx512, avx512_along, avx512_across
}
compiled! {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2")]
    avx2, avx2_along, avx2_across
}
compiled! {
    #[cfg(target_arch = "aarch64")]
    #[target_feature(enable = "neon")]
    neon, neon_along, neon_across
}
compiled!(portable);

/// A row of the table: compiled for `$level`, over `$vector`, tiles of the given heights and numbers of vectors.
macro_rules! kernels {
    ($level:ident, $vector:ty, packed [$($packed:literal)+], direct [$($direct:literal)*], vectors $vectors:tt) => {
        kernels!($level, $vector, packed [$($packed)+], direct [$($direct)*], vectors $vectors, along none none [])
    };
    ($level:ident, $vector:ty, packed [$($packed:literal)+], direct [$($direct:literal)*], vectors $vectors:tt,
     along $along:ident $across:ident [$($tall:literal)*]) => {{
        const STEP: usize = [$($packed),+][0];
        const PACKED: &[[TileFn; 3]] = &[$(kernels!(@row $level, $vector, $packed, true, $vectors)),+];
        const DIRECT: &[[TileFn; 3]] = &[$(kernels!(@row $level, $vector, $direct, false, $vectors)),*];
        const ALONG: &[[AlongFn; 3]] = &[$(kernels!(@along $along, $vector, $tall, $vectors)),*];
        const ACROSS: &[[AlongFn; 3]] = kernels!(@across $across, $vector, [$($direct)*], $vectors);
        const KERNELS: &Kernels = &Kernels {
            rows: PACKED.len() * STEP,
            lanes: <$vector as Vector>::LANES,
            vectors: $vectors,
            group: <$vector as Vector>::GROUP,
            in_bytes: size_of::<<$vector as Vector>::In>(),
            sum_bytes: size_of::<<$vector as Vector>::Sum>(),
            head: <$vector as Vector>::HEAD,
            height_step: STEP,
            packed: PACKED,
            direct: DIRECT,
            along: ALONG,
            across: ACROSS,
            clamps: <$vector as Vector>::CLAMPS,
            registers: None,
        };
        KERNELS
    }};
    (@across none, $vector:ty, [$($height:literal)*], $vectors:tt) => {
        &[]
    };
    (@across $across:ident, $vector:ty, [$($height:literal)*], $vectors:tt) => {
        &[$(kernels!(@along $across, $vector, $height, $vectors)),*]
    };
    (@along $along:ident, $vector:ty, $height:literal, 2) => {
        [$along::<$vector, $height, 1>, $along::<$vector, $height, 2>, $along::<$vector, $height, 2>]
    };
    (@along $along:ident, $vector:ty, $height:literal, 3) => {
        [$along::<$vector, $height, 1>, $along::<$vector, $height, 2>, $along::<$vector, $height, 3>]
    };
    (@row $level:ident, $vector:ty, $height:literal, $packed:literal, 2) => {
        [$level::<$vector, $height, 1, $packed>, $level::<$vector, $height, 2, $packed>, $level::<$vector, $height, 2, $packed>]
    };
    (@row $level:ident, $vector:ty, $height:literal, $packed:literal, 3) => {
        [$level::<$vector, $height, 1, $packed>, $level::<$vector, $height, 2, $packed>, $level::<$vector, $height, 3, $packed>]
    };
}

/// The tiles of `arithmetic` at `level`, which the processor must have. `None` where there are none of that kind
/// (the grouped arithmetics, which not every processor has).
pub(super) fn kernels(arithmetic: Arithmetic, level: Level) -> Option<&'static Kernels> {
    use Arithmetic::*;
    Some(match (level, arithmetic) {
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, F32) => {
            kernels!(avx512, x86::F32x16, packed [2 4 6 8 10 12], direct [1 2 3 4 5 6 7 8 9 10 11 12], vectors 2,
                along avx512_along avx512_across [2 4 6 8 10 12])
        }
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, F64) => {
            kernels!(avx512, x86::F64x8, packed [2 4 6 8 10 12], direct [1 2 3 4 5 6 7 8 9 10 11 12], vectors 2,
                along avx512_along avx512_across [2 4 6 8 10 12])
        }
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, I32) => kernels!(avx512, x86::I32x16, packed [4 8 12], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, I64) => kernels!(avx512, x86::I64x8, packed [4 8 12], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, C64) => kernels!(avx512, x86::C64x8, packed [2 4 6], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, C128) => kernels!(avx512, x86::C128x4, packed [2 4 6], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, I16Pairs) => kernels!(avx512, x86::I16x2x16, packed [4 8 12], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, BF16Pairs) if has_extensions() => {
            kernels!(avx512_extended, x86::BF16x2x16, packed [2 4 6 8 10 12], direct [], vectors 2)
        }
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, I8Fours) if has_extensions() => {
            kernels!(avx512_extended, x86::I8x4x16, packed [2 4 6 8 10 12], direct [], vectors 2)
        }
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, BF16Tiles) if amx::is_available() => amx::BF16,
        #[cfg(target_arch = "x86_64")]
        (Level::Avx512, I8Tiles) if amx::is_available() => amx::I8,
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, F32) => {
            kernels!(avx2, x86::F32x8, packed [2 4 6], direct [1 2 3 4 5 6], vectors 2, along avx2_along avx2_across [2 4 6])
        }
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, F64) => {
            kernels!(avx2, x86::F64x4, packed [2 4 6], direct [1 2 3 4 5 6], vectors 2, along avx2_along avx2_across [2 4 6])
        }
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, I32) => kernels!(avx2, x86::I32x8, packed [2 4 6], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, I64) => kernels!(avx2, x86::I64x4, packed [2 4], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, C64) => kernels!(avx2, x86::C64x4, packed [1 2 3], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, C128) => kernels!(avx2, x86::C128x2, packed [1 2 3], direct [], vectors 2),
        #[cfg(target_arch = "x86_64")]
        (Level::Avx2, I16Pairs) => kernels!(avx2, x86::I16x2x8, packed [2 4 6], direct [], vectors 2),
        #[cfg(target_arch = "aarch64")]
        (Level::Neon, F32) => kernels!(neon, neon::F32x4, packed [2 4 6 8], direct [1 2 3 4 5 6 7 8], vectors 3,
            along neon_along neon_across [2 4 6 8]),
        #[cfg(target_arch = "aarch64")]
        (Level::Neon, F64) => kernels!(neon, neon::F64x2, packed [2 4 6 8], direct [1 2 3 4 5 6 7 8], vectors 3,
            along neon_along neon_across [2 4 6 8]),
        (_, F32) => kernels!(portable, Plain<f32, 4>, packed [2 4], direct [], vectors 2),
        (_, F64) => kernels!(portable, Plain<f64, 2>, packed [2 4], direct [], vectors 2),
        (_, I32) => kernels!(portable, Plain<i32, 4>, packed [2 4], direct [], vectors 2),
        (_, I64) => kernels!(portable, Plain<i64, 2>, packed [2 4], direct [], vectors 2),
        (_, C64) => kernels!(portable, Plain<Complex<f32>, 2>, packed [2 4], direct [], vectors 2),
        (_, C128) => kernels!(portable, Plain<Complex<f64>, 2>, packed [2 4], direct [], vectors 2),
        (_, I16Pairs | BF16Pairs | I8Fours) => return None,
        #[cfg(target_arch = "x86_64")]
        (_, BF16Tiles | I8Tiles) => return None,
    })
}

#[cfg(target_arch = "x86_64")]
fn has_extensions() -> bool {
    std::arch::is_x86_feature_detected!("avx512bf16") && std::arch::is_x86_feature_detected!("avx512vnni")
}
