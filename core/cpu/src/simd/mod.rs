//! Instruction sets, chosen at run time.
//!
//! A [`Kernel`] is written once, over a [`Simd`] token. [`run`] compiles it for every level of the target (AVX-512,
//! AVX2, NEON, portable) and calls the widest one that this processor has. Code inlined into `run` is compiled with the
//! level's instructions, so plain loops are also vectorized at that width. The environment variable `RUSHLIGHT_SIMD`
//! (`portable`, `avx2`, `avx512`, `neon`) selects a lower level.
//!
//! ```ignore
//! impl<T: Float> Kernel for Sigmoid<T> { // `Float`: f32, f64, f16 and bf16; half precision is computed in f32
//!     type Output = ();
//!     #[inline(always)]
//!     fn run<S: Simd>(self, _: S) {
//!         let lanes = T::Vector::<S>::LANES;
//!         // ... for every `lanes` elements; `load_partial` and `store_partial` handle the remainder:
//!         T::store::<S>(math::sigmoid(T::load::<S>(from)), to);
//!     }
//! }
//! ```
//!
//! Vectors come from the token: `S::F32` and `S::F64` are a [`FloatVector`] each, with as many lanes as the level has.
//! A vector cannot be created outside of a kernel, so the safe functions of vectors never run on a processor that lacks
//! their instructions. [`Float`] makes one kernel out of four dtypes, and `crate::math` has the elementary functions.
//! `vector.rs` declares the operations and documents what is common to all levels; a file for each level implements
//! them.
//!
//! Every level adds code for each operator and dtype. These limits keep the library small:
//!
//! - [`run_over`] compiles loops over integers and complex numbers up to AVX2 only. [`run_rare`] does the same for
//!   floats in rarely used operators, and compiles complex loops once (`Loop::map` calls it, `Loop::map_wide` calls
//!   `run_over`).
//! - [`run_plain`] compiles a loop once, for loops that call a function per element or gain nothing from vectors.
//! - Where the target has a better level, `portable` computes with scalars.
//! - Long functions are instantiated once per loop: `load_some` reads both whole vectors and the remainder.
//!
//! On a processor without AVX-512, the tests of this crate are compiled without that level (tests/unit_rustc.sh).
//!
//! To add a level, implement the traits of `vector.rs` in a new file, and add a variant of [`Level`], a token, a
//! `target_feature` function and its call in `run`, `run_narrow` and `run_at`. `make test-rust` tests this crate at the
//! widest level, at `avx2` and at `portable`; `make test-arm64` tests NEON in an emulator.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
#[cfg_attr(rushlight_without_avx512, allow(dead_code, reason = "nothing runs at this level"))]
mod avx512;
mod float;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
pub(crate) mod parts;
mod portable;
#[cfg(test)]
mod tests;
mod vector;

pub use float::Float;
pub use vector::{FloatVector, HalfVector, IntVector, MAX_LANES, Mask};

use rushlight_base::{DType, Element};
use std::sync::atomic::{AtomicU8, Ordering};

/// The vector of one `f32`, on every processor.
pub(crate) type Single = portable::Lanes<f32, 1>;
/// The vector of one `f64`, on every processor.
pub(crate) type Double = portable::Lanes<f64, 1>;

/// An instruction set that kernels are compiled for; a later one is wider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// The instructions that every processor of the target has.
    Portable = 1,
    /// ARMv8 Advanced SIMD.
    Neon = 2,
    /// AVX2 with FMA and F16C.
    Avx2 = 3,
    /// AVX-512 F, BW, CD, DQ, VL.
    Avx512 = 4,
}

impl Level {
    /// All of them, in order.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512];

    /// The name that `RUSHLIGHT_SIMD` takes.
    pub fn name(self) -> &'static str {
        match self {
            Level::Portable => "portable",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }

    /// Whether this processor has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            Level::Portable => true,
            #[cfg(target_arch = "aarch64")]
            Level::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => has_avx512(),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    !cfg!(rushlight_without_avx512)
        && has_avx2()
        && has!("avx512f")
        && has!("avx512bw")
        && has!("avx512cd")
        && has!("avx512dq")
        && has!("avx512vl")
}

/// The level found on first use; 0 before.
static CHOSEN: AtomicU8 = AtomicU8::new(0);

/// The level that kernels run at: the widest available one, unless `RUSHLIGHT_SIMD` selects a lower one.
#[inline]
pub fn level() -> Level {
    match CHOSEN.load(Ordering::Relaxed) {
        1 => Level::Portable,
        2 => Level::Neon,
        3 => Level::Avx2,
        4 => Level::Avx512,
        _ => choose(),
    }
}

#[cold]
fn choose() -> Level {
    let asked = std::env::var("RUSHLIGHT_SIMD").ok();
    let asked = asked.and_then(|name| Level::ALL.into_iter().find(|level| level.name() == name.trim()));
    let available = |level: &Level| level.is_available();
    let widest = Level::ALL.into_iter().rev().find(available).unwrap_or(Level::Portable);
    let level = asked.filter(available).unwrap_or(widest);
    CHOSEN.store(level as u8, Ordering::Relaxed);
    level
}

/// Proof that the instructions of a level are available: a kernel receives one, and can neither create nor name one.
/// The vectors, whose functions are safe, therefore exist only where their instructions do.
pub trait Simd: Copy + Send + Sync + 'static + sealed::Sealed {
    /// Its level.
    const LEVEL: Level;
    /// A vector of `f32`.
    type F32: HalfVector<Int: IntVector<Scalar = i32>>;
    /// A vector of `f64`; its number of lanes need not be half of `F32`'s.
    type F64: FloatVector<Scalar = f64, Int: IntVector<Scalar = i64>>;

    /// Orders the writes of [`FloatVector::stream`] before all that follow.
    #[inline(always)]
    fn stream_fence(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has SSE.
        unsafe {
            std::arch::x86_64::_mm_sfence()
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! tokens {
    ($($(#[$meta:meta])* $name:ident, $float:ty, $double:ty;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        struct $name(());

        $(#[$meta])*
        impl sealed::Sealed for $name {}

        $(#[$meta])*
        impl Simd for $name {
            const LEVEL: Level = Level::$name;
            type F32 = $float;
            type F64 = $double;
        }
    )*};
}

tokens! {
    // If there is a better level, processors that lack it are old and rare, and small code is better than vectors.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    Portable, portable::Lanes<f32, 4>, portable::Lanes<f64, 2>;
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Portable, portable::Lanes<f32, 1>, portable::Lanes<f64, 1>;
    #[cfg(target_arch = "aarch64")]
    Neon, neon::F32, neon::F64;
    #[cfg(target_arch = "x86_64")]
    Avx2, avx2::F32, avx2::F64;
    #[cfg(target_arch = "x86_64")]
    #[cfg_attr(rushlight_without_avx512, allow(dead_code, reason = "nothing runs at this level"))]
    Avx512, avx512::F32, avx512::F64;
}

/// Code that is written once and compiled for every level. `run` must be `#[inline(always)]`, and so must all functions
/// it calls in its loops: only inlined code is compiled with the level's instructions.
pub trait Kernel {
    /// The result.
    type Output;
    /// The work.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Runs `kernel` at the level of [`level`].
#[inline]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    match level() {
        // SAFETY: `level` only returns levels that the processor has, here AVX-512.
        #[cfg(all(target_arch = "x86_64", not(rushlight_without_avx512)))]
        Level::Avx512 => unsafe { at_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `level` only returns levels that the processor has, here AVX2.
        Level::Avx2 => unsafe { at_avx2(kernel) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: `level` only returns levels that the processor has, here NEON.
        Level::Neon => unsafe { at_neon(kernel) },
        _ => at_portable(kernel),
    }
}

/// [`run`], but no wider than AVX2: for loops over types other than floats, which come in a dozen types each and are
/// hardly faster with vectors twice as wide.
#[inline]
pub fn run_narrow<K: Kernel>(kernel: K) -> K::Output {
    match level() {
        // SAFETY: `level` only returns levels that the processor has; AVX-512 includes AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 | Level::Avx2 => unsafe { at_avx2(kernel) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: `level` only returns levels that the processor has, here NEON.
        Level::Neon => unsafe { at_neon(kernel) },
        _ => at_portable(kernel),
    }
}

/// [`run`] with the instructions that every processor of the target has: for loops that are rare, or that do not
/// benefit from vectors.
#[inline]
pub fn run_plain<K: Kernel>(kernel: K) -> K::Output {
    at_portable(kernel)
}

/// [`run`] for a kernel that reads elements of type `T`, [`run_narrow`] where they are not floats.
#[inline(always)]
pub fn run_over<T: Element, K: Kernel>(kernel: K) -> K::Output {
    if const { is_float(T::DTYPE) } { run(kernel) } else { run_narrow(kernel) }
}

/// [`run`] for a rare loop over elements of type `T`: no wider than AVX2, and with the baseline instructions for
/// complex numbers, which the compiler hardly vectorizes.
#[inline(always)]
pub fn run_rare<T: Element, K: Kernel>(kernel: K) -> K::Output {
    if const { matches!(T::DTYPE, DType::C32 | DType::C64 | DType::C128) } {
        run_plain(kernel)
    } else {
        run_narrow(kernel)
    }
}

/// Whether this is a real floating-point dtype.
pub const fn is_float(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::F16 | DType::BF16)
}

/// Runs `kernel` at `level`; `None` if this processor lacks it. For tests of every level.
pub fn run_at<K: Kernel>(level: Level, kernel: K) -> Option<K::Output> {
    if !level.is_available() {
        return None;
    }
    Some(match level {
        // SAFETY: the check above found that the processor has AVX-512.
        #[cfg(all(target_arch = "x86_64", not(rushlight_without_avx512)))]
        Level::Avx512 => unsafe { at_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the check above found that the processor has AVX2.
        Level::Avx2 => unsafe { at_avx2(kernel) },
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the check above found that the processor has NEON.
        Level::Neon => unsafe { at_neon(kernel) },
        _ => at_portable(kernel),
    })
}

// A separate function, like the other levels: inlined it would be duplicated for each call path.
#[inline(never)]
fn at_portable<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Portable(()))
}

#[cfg(all(target_arch = "x86_64", not(rushlight_without_avx512)))]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn at_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Avx512(()))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn at_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Avx2(()))
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
fn at_neon<K: Kernel>(kernel: K) -> K::Output {
    kernel.run(Neon(()))
}

/// Prefetches a cache line.
#[inline(always)]
pub(crate) fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint and may use any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Like [`prefetch`], into the second-level cache.
#[inline(always)]
pub(crate) fn prefetch_far(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch is a hint and may use any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
