//! Random numbers: Philox, in the order of `torch.cuda`. Thread `t` takes the numbers of subsequence `t`, call by call, and
//! the elements of a call are as far apart as there are threads.

use crate::cast::Target;
use crate::memory::store;
use crate::number::{Analytic, Number, Wide};
use crate::parameters::Random;
use crate::philox::numbers;
use crate::rows::Real;
use crate::simt::{block, blocks, thread, threads};

/// 2^-32 and 2^-53.
const SCALE_32: f32 = 2.328_306_4e-10;
const SCALE_53: f64 = 1.110_223_024_625_156_5e-16;

/// Stores `V` elements for each call.
#[inline(always)]
fn each<T: Copy, const V: usize>(p: &Random, values: impl Fn([u32; 4]) -> [T; V]) {
    let all = u64::from(blocks()) * u64::from(threads());
    let own = u64::from(block()) * u64::from(threads()) + u64::from(thread());
    let (mut first, mut call) = (own, 0);
    while first < p.count {
        let values = values(numbers(p.seed, p.offset, own, call));
        macro_rules! elements {
            ($($nth:literal)*) => {$(
                if $nth < V && first + $nth * all < p.count {
                    let at = p.at + (first + $nth * all) * size_of::<T>() as u64;
                    // SAFETY: the host describes `count` elements.
                    unsafe { store(at, align_of::<T>(), [values[if $nth < V { $nth } else { 0 }]]) }
                }
            )*};
        }
        elements!(0 1 2 3);
        first += all * V as u64;
        call += 1;
    }
}

/// A number in (0, 1].
#[inline(always)]
pub(crate) fn single(bits: u32) -> f32 {
    crate::floats::f32::mul_add(bits as f32, SCALE_32, SCALE_32 / 2.0)
}

/// A number in (0, 1] from 53 bits.
#[inline(always)]
fn double(low: u32, high: u32) -> f64 {
    let bits = u64::from(low) ^ u64::from(high) << 21;
    crate::floats::f64::mul_add(bits as f64, SCALE_53, SCALE_53 / 2.0)
}

/// Two numbers in (0, 1].
#[inline(always)]
pub(crate) fn doubles(bits: [u32; 4]) -> [f64; 2] {
    [double(bits[0], bits[1]), double(bits[2], bits[3])]
}

/// Two normal numbers (Box and Muller 1958), of single precision.
#[inline(always)]
fn normal_singles(x: u32, y: u32) -> [f32; 2] {
    const TURN: f32 = SCALE_32 * 6.283_185_5;
    let angle = crate::floats::f32::mul_add(y as f32, TURN, TURN / 2.0);
    let size = Analytic::sqrt(-2.0 * Analytic::ln(single(x)));
    [size * crate::floats::f32::sin(angle), size * crate::floats::f32::cos(angle)]
}

/// Two normal numbers of double precision.
#[inline(always)]
pub(crate) fn normal_doubles(bits: [u32; 4]) -> [f64; 2] {
    let turn = u64::from(bits[2]) ^ u64::from(bits[3]) << 21;
    let angle = crate::floats::f64::mul_add(turn as f64, 2.0 * SCALE_53, SCALE_53) * core::f64::consts::PI;
    let size = Analytic::sqrt(-2.0 * Analytic::ln(double(bits[0], bits[1])));
    [size * crate::floats::f64::sin(angle), size * crate::floats::f64::cos(angle)]
}

/// A dtype with random numbers: floats of single precision in fours, doubles in pairs.
trait Sampled: Number<Wide: Real + FusedMultiply> {
    /// Stores `f` of uniform or normal numbers.
    fn generate(p: &Random, normal: bool, f: impl Fn(Self::Wide) -> Self);
}

trait FusedMultiply: Copy {
    fn fused(self, factor: Self, term: Self) -> Self;
}

impl FusedMultiply for f32 {
    #[inline(always)]
    fn fused(self, factor: f32, term: f32) -> f32 {
        crate::floats::f32::mul_add(self, factor, term)
    }
}

impl FusedMultiply for f64 {
    #[inline(always)]
    fn fused(self, factor: f64, term: f64) -> f64 {
        crate::floats::f64::mul_add(self, factor, term)
    }
}

macro_rules! sampled {
    ($($type:ty)*) => {$(
        impl Sampled for $type {
            #[inline(always)]
            fn generate(p: &Random, normal: bool, f: impl Fn(f32) -> $type) {
                each(p, |[a, b, c, d]| {
                    if normal {
                        let ([a, b], [c, d]) = (normal_singles(a, b), normal_singles(c, d));
                        [f(a), f(b), f(c), f(d)]
                    } else {
                        [f(single(a)), f(single(b)), f(single(c)), f(single(d))]
                    }
                });
            }
        }
    )*};
}

sampled! { crate::f16 crate::bf16 f32 }

impl Sampled for f64 {
    #[inline(always)]
    fn generate(p: &Random, normal: bool, f: impl Fn(f64) -> f64) {
        each(p, |bits| {
            let [a, b] = if normal { normal_doubles(bits) } else { doubles(bits) };
            [f(a), f(b)]
        });
    }
}

/// Uniform over [from, to): of (0, 1], with 1 taken for 0.
#[inline(always)]
fn uniform<T: Sampled>(p: &Random) {
    let [from, to] = p.numbers.map(|number| T::narrow(<T::Wide as Analytic>::from_f64(number)).wide());
    let range = to.sub(from);
    T::generate(p, false, |number| {
        let value = T::narrow(number.fused(range, from));
        if value.wide() == to { T::narrow(from) } else { value }
    });
}

#[inline(always)]
fn normal<T: Sampled>(p: &Random) {
    let [mean, std] = p.numbers.map(<T::Wide as Analytic>::from_f64);
    T::generate(p, true, |number| T::narrow(number.fused(std, mean)));
}

/// f of uniform or normal numbers, computed in double precision.
#[inline(always)]
fn transformed<T: Sampled<Wide: Into<f64>>>(p: &Random, normal: bool, f: impl Fn(f64) -> f64) {
    T::generate(p, normal, |number| T::narrow(<T::Wide as Analytic>::from_f64(f(number.into()))));
}

/// The distance from 1 to the next number of the wide type.
#[inline(always)]
fn epsilon<T: Sampled>() -> f64 {
    if size_of::<T::Wide>() == 8 { f64::EPSILON } else { f32::EPSILON as f64 }
}

/// Exponential with the rate number 0.
#[inline(always)]
fn exponential<T: Sampled<Wide: Into<f64>>>(p: &Random) {
    let (factor, least) = (-1.0 / p.numbers[0], epsilon::<T>() / 2.0);
    transformed::<T>(p, false, |number| factor * if number >= 1.0 - least { -least } else { Analytic::ln(number) });
}

/// Cauchy around number 0 with the scale number 1.
#[inline(always)]
fn cauchy<T: Sampled<Wide: Into<f64>>>(p: &Random) {
    let least = epsilon::<T>();
    transformed::<T>(p, false, |number| {
        let inside = if number > 1.0 - least { 1.0 - least } else { number };
        let inside = if inside < least { least } else { inside };
        let place = crate::floats::f64::tan(core::f64::consts::PI * (inside - 0.5));
        crate::floats::f64::mul_add(place, p.numbers[1], p.numbers[0])
    });
}

/// Powers of e of normal numbers with the mean number 0 and the deviation number 1.
#[inline(always)]
fn log_normal<T: Sampled<Wide: Into<f64>>>(p: &Random) {
    let [mean, std] = p.numbers;
    transformed::<T>(p, true, |number| Analytic::exp(crate::floats::f64::mul_add(number, std, mean)));
}

/// Tries up to the first success; number 0 is the logarithm of the probability of none.
#[inline(always)]
fn geometric<T: Target + Copy>(p: &Random) {
    let tries = |number: f64| {
        let tries = crate::floats::Roundings::ceil(Analytic::ln(number) / p.numbers[0]);
        T::cast(if tries < 1.0 { 1.0 } else { tries })
    };
    if size_of::<T>() == 8 && T::DTYPE.is_floating() {
        each(p, |bits| doubles(bits).map(tries));
        return;
    }
    each(p, |bits| bits.map(|bits| tries(f64::from(single(bits)))));
}

/// 0 or 1.
#[inline(always)]
fn coins<T: Target + Copy>(p: &Random) {
    if size_of::<T>() == 8 && T::DTYPE.is_floating() {
        each(p, |bits| doubles(bits).map(|number| T::cast(i64::from(number < p.numbers[0]))));
        return;
    }
    let probability = p.numbers[0] as f32;
    each(p, |bits| bits.map(|bits| T::cast(i64::from(single(bits) < probability))));
}

#[inline(always)]
fn integers<T: Target + Copy>(p: &Random) {
    let range = p.range as u32;
    each(p, |bits| bits.map(|bits| {
        let rest = if range > 0 { bits % range } else { bits };
        T::cast(i64::from(rest).wrapping_add(p.base))
    }));
}

#[inline(always)]
fn wide_integers<T: Target + Copy>(p: &Random) {
    each(p, |[a, b, c, d]| [u64::from(a) << 32 | u64::from(b), u64::from(c) << 32 | u64::from(d)].map(|bits| {
        let rest = if p.range > 0 { bits % p.range } else { bits };
        T::cast((rest as i64).wrapping_add(p.base))
    }));
}

macro_rules! random_entries {
    ($($name:ident: $($dtype:ident)*;)*) => {$($(
        entry! { "random" stringify!($name), $dtype, (p: Random) => $name::<element!($dtype)> }
    )*)*};
}

random_entries! {
    uniform: F16 BF16 F32 F64;
    normal: F16 BF16 F32 F64;
    coins: U8 I8 I16 I32 I64 U16 U32 U64 F16 BF16 F32 F64 Bool;
    integers: U8 I8 I16 I32 I64 U16 U32 U64 F16 BF16 F32 F64 Bool;
    wide_integers: I64 F64 F32 BF16;
    exponential: F16 BF16 F32 F64;
    cauchy: F16 BF16 F32 F64;
    log_normal: F16 BF16 F32 F64;
    geometric: U8 I8 I16 I32 I64 F16 BF16 F32 F64;
}
