//! Every operation of every level against plain scalar arithmetic: whole vectors and partial ones.

use super::*;
use crate::number::{Wide, bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use rushlight_base::{bf16, f16};
use std::marker::PhantomData;

struct Name;
impl Kernel for Name {
    type Output = Level;
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Level {
        S::LEVEL
    }
}

#[test]
fn every_available_level_runs_and_the_widest_is_chosen() {
    for level in Level::ALL {
        assert_eq!(run_at(level, Name), level.is_available().then_some(level));
    }
    assert_eq!(run(Name), level());
    assert!(level().is_available());
}

/// Runs a kernel at each level that is there.
fn everywhere(mut kernel: impl Everywhere) {
    struct Each<'a, K>(&'a mut K);
    impl<K: Everywhere> Kernel for Each<'_, K> {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            self.0.check(simd);
        }
    }
    for level in Level::ALL {
        run_at(level, Each(&mut kernel));
    }
}

trait Everywhere {
    fn check<S: Simd>(&mut self, simd: S);
}

/// Constants that differ between the widths.
trait Width: Float<Wide = Self> + Wide + PartialOrd + std::fmt::Debug {
    const SPECIAL: &'static [Self];
    fn pattern(self) -> u64;
    fn fma(self, factor: Self, term: Self) -> Self;
    fn reference(self, name: &str, other: Self) -> Self;
    fn scaled(self, exponent: i32) -> Self;
}

macro_rules! width {
    ($($type:ident, $tiny:expr, $half_ulp:expr;)*) => {$(
        impl Width for $type {
            const SPECIAL: &'static [$type] = &[
                0.0, -0.0, 0.3, -0.3, 0.5, -0.5, 0.7, -0.7, 1.0, -1.0, 1.5, -1.5, 2.5, -2.5, 3.75, -1e3, 123456.7, $tiny, -$tiny,
                $type::MIN_POSITIVE, $type::MAX, $type::MIN, $type::INFINITY, $type::NEG_INFINITY, $type::NAN, $half_ulp, -$half_ulp,
                $half_ulp + 1.0, $half_ulp - 0.5, 0.5 - $type::EPSILON / 4.0, 1.0 - $type::EPSILON,
            ];
            fn pattern(self) -> u64 {
                // All NaN are equal here: their payload is unspecified.
                if self.is_nan() { u64::MAX } else { self.to_bits() as u64 }
            }
            fn fma(self, factor: $type, term: $type) -> $type {
                $type::mul_add(self, factor, term)
            }
            fn scaled(self, exponent: i32) -> $type {
                // Rounds once: each step but the last is exact while the number is normal.
                let step = if exponent < 0 { 0.5 } else { 2.0 };
                let normal = (0..exponent.abs()).try_fold(self, |value, _| {
                    let next: $type = value * step;
                    if next.abs() < $type::MIN_POSITIVE || next.is_infinite() { Err(value) } else { Ok(next) }
                });
                match normal {
                    Ok(value) => value,
                    Err(value) if exponent > 0 => value * $type::INFINITY,
                    Err(value) => {
                        let done = (self / value).log2().round() as i32;
                        value * (2.0 as $type).powi(exponent + done)
                    }
                }
            }
            fn reference(self, name: &str, other: $type) -> $type {
                let nan = self.is_nan() || other.is_nan();
                match name {
                    "add" => self + other,
                    "sub" => self - other,
                    "mul" => self * other,
                    "div" => self / other,
                    "neg" => -self,
                    "abs" => self.abs(),
                    "sqrt" => self.sqrt(),
                    "copysign" => self.copysign(other),
                    "round" => self.round_ties_even(),
                    "floor" => self.floor(),
                    "ceil" => self.ceil(),
                    "trunc" => self.trunc(),
                    "raw_min" => if self < other { self } else { other },
                    "raw_max" => if self > other { self } else { other },
                    "min" => if nan { $type::NAN } else if self < other { self } else { other },
                    "max" => if nan { $type::NAN } else if self > other { self } else { other },
                    name => unreachable!("{name}"),
                }
            }
        }
    )*};
}

width! {
    f32, 1e-44, 4194304.5;
    f64, 5e-324, 2251799813685248.5;
}

struct Arithmetic<T>(PhantomData<T>);
impl<T: Width> Everywhere for Arithmetic<T> {
    fn check<S: Simd>(&mut self, _: S) {
        type Operation<V> = (&'static str, fn(V, V) -> V);
        let operations: [Operation<T::Vector<S>>; 16] = [
            ("add", |left, right| left + right),
            ("sub", |left, right| left - right),
            ("mul", |left, right| left * right),
            ("div", |left, right| left / right),
            ("neg", |left, _| -left),
            ("abs", |left, _| left.abs()),
            ("sqrt", |left, _| left.sqrt()),
            ("copysign", |left, right| left.copysign(right)),
            ("round", |left, _| left.round()),
            ("floor", |left, _| left.floor()),
            ("ceil", |left, _| left.ceil()),
            ("trunc", |left, _| left.trunc()),
            ("raw_min", |left, right| left.raw_min(right)),
            ("raw_max", |left, right| left.raw_max(right)),
            ("min", |left, right| left.min(right)),
            ("max", |left, right| left.max(right)),
        ];
        let lanes = T::Vector::<S>::LANES;
        let count = T::SPECIAL.len();
        let mut out = [T::ZERO; MAX_LANES];
        for right in 0..count {
            for left in 0..count {
                let values: Vec<T> = (0..lanes).map(|lane| T::SPECIAL[(left + lane) % count]).collect();
                let others: Vec<T> = (0..lanes).map(|lane| T::SPECIAL[(right + 3 * lane) % count]).collect();
                // SAFETY: the arrays have a vector's lanes.
                let (x, y) = unsafe { (T::Vector::<S>::load(values.as_ptr()), T::Vector::<S>::load(others.as_ptr())) };
                for (name, operation) in operations {
                    // SAFETY: `out` has a vector's lanes.
                    unsafe { operation(x, y).store(out.as_mut_ptr()) };
                    for lane in 0..lanes {
                        let expected = values[lane].reference(name, others[lane]);
                        let context = (S::LEVEL, name, values[lane], others[lane], out[lane], expected);
                        assert_eq!(out[lane].pattern(), expected.pattern(), "{context:?}");
                    }
                }
                // SAFETY: `out` has a vector's lanes.
                unsafe { x.mul_add(y, T::Vector::<S>::from_f64(0.1)).store(out.as_mut_ptr()) };
                let tenth = T::Vector::<S>::from_f64(0.1).reduce_max();
                for lane in 0..lanes {
                    let product = values[lane].reference("mul", others[lane]);
                    let twice = product.reference("add", tenth);
                    let expected = if T::Vector::<S>::FUSED { values[lane].fma(others[lane], tenth) } else { twice };
                    assert_eq!(out[lane].pattern(), expected.pattern(), "{:?} mul_add", S::LEVEL);
                }
                let each = |compare: fn(&T, &T) -> bool| {
                    (0..lanes).fold(0, |bits, lane| bits | u32::from(compare(&values[lane], &others[lane])) << lane)
                };
                assert_eq!(x.eq(y).to_bits(), each(T::eq));
                assert_eq!(x.ne(y).to_bits(), each(T::ne));
                assert_eq!(x.lt(y).to_bits(), each(T::lt));
                assert_eq!(x.le(y).to_bits(), each(T::le));
                assert_eq!(x.gt(y).to_bits(), each(T::gt));
                assert_eq!(x.ge(y).to_bits(), each(T::ge));
                assert_eq!(x.is_nan().to_bits(), each(|left, _| left.pattern() == u64::MAX));
                // SAFETY: `out` has a vector's lanes.
                unsafe { T::Vector::<S>::select(x.lt(y), x, y).store(out.as_mut_ptr()) };
                for lane in 0..lanes {
                    assert_eq!(out[lane].pattern(), values[lane].reference("raw_min", others[lane]).pattern());
                }
            }
        }
    }
}

#[test]
fn arithmetic_and_comparisons_are_those_of_scalars() {
    everywhere(Arithmetic::<f32>(PhantomData));
    everywhere(Arithmetic::<f64>(PhantomData));
}

struct Memory<T>(PhantomData<T>);
impl<T: Width> Everywhere for Memory<T> {
    fn check<S: Simd>(&mut self, simd: S) {
        let lanes = T::Vector::<S>::LANES;
        let numbers = &T::SPECIAL[2..2 + MAX_LANES];
        let all = |vector: T::Vector<S>| {
            let mut out = [T::ZERO; MAX_LANES];
            // SAFETY: the array has a vector's lanes.
            unsafe { vector.store(out.as_mut_ptr()) };
            out
        };
        for count in 0..=lanes {
            // SAFETY: the arrays have as many bytes and numbers as the largest vector has lanes.
            unsafe {
                // From the end of a vector: nothing beyond may be touched.
                let short = numbers[..count].to_vec();
                let vector = T::Vector::<S>::load_partial(short.as_ptr(), count);
                let expected: Vec<T> = (0..lanes).map(|i| if i < count { numbers[i] } else { T::ZERO }).collect();
                assert_eq!(&all(vector)[..lanes], &expected[..], "{:?} {count}", S::LEVEL);
                let mut out = [T::ONE; MAX_LANES];
                T::Vector::<S>::load(numbers.as_ptr()).store_partial(out.as_mut_ptr(), count);
                assert_eq!(out[..count], numbers[..count]);
                assert!(out[count..].iter().all(|&value| value == T::ONE));

                let width = size_of::<T>() as isize;
                let last = numbers.as_ptr().add(MAX_LANES - 1);
                let back = T::Vector::<S>::load_strided(last, -width, count);
                assert!((0..count).all(|lane| all(back)[lane] == numbers[MAX_LANES - 1 - lane]));
                let mut out = [T::ONE; 3 * MAX_LANES];
                T::Vector::<S>::load(numbers.as_ptr()).store_strided(out.as_mut_ptr(), 3 * width, count);
                for (index, &value) in out.iter().enumerate() {
                    let written = index % 3 == 0 && index / 3 < count;
                    assert_eq!(value, if written { numbers[index / 3] } else { T::ONE });
                }
            }
            let first = <T::Vector<S> as FloatVector>::Mask::first(count);
            assert_eq!(first.to_bits(), (1u32 << count) - 1);
            assert_eq!((!first).to_bits(), ((1u32 << lanes) - 1) ^ ((1 << count) - 1));
            assert_eq!(first.any(), count > 0);
            assert_eq!(first.all(), count == lanes);
            let mut bytes = [9u8; MAX_LANES];
            // SAFETY: `bytes` has as many bytes as the largest vector has lanes.
            unsafe {
                first.store(bytes.as_mut_ptr());
                assert!((0..MAX_LANES).all(|i| bytes[i] == if i >= lanes { 9 } else { u8::from(i < count) }));
                bytes[0] *= 0x80;
                let read = <T::Vector<S> as FloatVector>::Mask::load(bytes.as_ptr());
                assert_eq!(read.to_bits(), first.to_bits());
                bytes = [7; MAX_LANES];
                first.store_partial(bytes.as_mut_ptr(), count);
                assert!((0..MAX_LANES).all(|i| bytes[i] == if i < count { 1 } else { 7 }));
                let read = <T::Vector<S> as FloatVector>::Mask::load_partial(bytes.as_ptr(), count);
                assert_eq!(read.to_bits(), first.to_bits());
            }
        }
        #[repr(align(64))]
        struct Aligned<T>([T; MAX_LANES]);
        let mut out = Aligned([T::ONE; MAX_LANES]);
        // SAFETY: the array is aligned and long enough.
        unsafe {
            T::Vector::<S>::load(numbers.as_ptr()).stream(out.0.as_mut_ptr());
            simd.stream_fence();
        }
        assert_eq!(out.0[..lanes], numbers[..lanes]);

        // SAFETY: `numbers` has a vector's lanes.
        let vector = unsafe { T::Vector::<S>::load(numbers.as_ptr()) };
        let mut halves = numbers[..lanes].to_vec();
        while halves.len() > 1 {
            let (left, right) = halves.split_at(halves.len() / 2);
            halves = left.iter().zip(right).map(|(&left, &right)| left.reference("add", right)).collect();
        }
        assert_eq!(vector.sum(), halves[0], "{:?}", S::LEVEL);
        let max = numbers[..lanes].iter().copied().fold(numbers[0], |left, right| left.reference("max", right));
        let min = numbers[..lanes].iter().copied().fold(numbers[0], |left, right| left.reference("min", right));
        assert_eq!((vector.reduce_min(), vector.reduce_max()), (min, max));
        assert!(
            all(vector.map(|value| value.reference("neg", value)))[lanes - 1]
                == numbers[lanes - 1].reference("neg", max)
        );
        let index: Vec<T> =
            (0..lanes).scan(T::ZERO, |next, _| Some(std::mem::replace(next, next.add(T::ONE)))).collect();
        assert_eq!(all(T::Vector::<S>::iota())[..lanes], index);
    }
}

#[test]
fn loads_stores_and_folds_access_only_their_lanes() {
    everywhere(Memory::<f32>(PhantomData));
    everywhere(Memory::<f64>(PhantomData));
}

struct Integers;
impl Everywhere for Integers {
    fn check<S: Simd>(&mut self, _: S) {
        macro_rules! check {
            ($vector:ident, $int:ident, $unsigned:ident, $float:ident, $reach:expr, $powers:expr) => {{
                type V<S> = <S as Simd>::$vector;
                type I<S> = <V<S> as FloatVector>::Int;
                let get = |vector: I<S>| {
                    let mut out = [0; MAX_LANES];
                    // SAFETY: `out` holds the largest vector.
                    unsafe { vector.store(out.as_mut_ptr()) };
                    assert!(out[..I::<S>::LANES].iter().all(|&lane| lane == out[0]));
                    out[0]
                };
                let numbers = [0, 1, -1, 5, -7, 0x1234567, -0x1234567, $int::MAX, $int::MIN];
                for left in numbers {
                    for right in numbers {
                        let (x, y) = (I::<S>::splat(left), I::<S>::splat(right));
                        assert_eq!(get(x + y), left.wrapping_add(right));
                        assert_eq!(get(x - y), left.wrapping_sub(right));
                        assert_eq!(get(x & y), left & right);
                        assert_eq!(get(x | y), left | right);
                        assert_eq!(get(x ^ y), left ^ right);
                        assert_eq!(x.eq(y).all(), left == right);
                        assert_eq!(x.lt(y).all(), left < right);
                        assert_eq!(get(I::<S>::select(x.lt(y), x, y)), left.min(right));
                    }
                    let x = I::<S>::splat(left);
                    assert_eq!(get(!x), !left);
                    assert_eq!(get(V::<S>::from_bits(x).bits()), left);
                    for bits in 0..$int::BITS {
                        assert_eq!(get(x.shl(bits)), left << bits);
                        assert_eq!(get(x.shr(bits)), (left as $unsigned >> bits) as $int);
                        assert_eq!(get(x.sar(bits)), left >> bits, "{:?} {bits}", S::LEVEL);
                    }
                }
                for whole in (0..$reach).map(|power| (1 as $int) << power) {
                    for value in [whole - 1, whole, -whole, whole / 3] {
                        let vector = V::<S>::from_int(I::<S>::splat(value));
                        assert_eq!(vector.reduce_max(), value as $float, "{:?}", S::LEVEL);
                        assert_eq!(get(vector.to_int()), value);
                    }
                }
                for value in [0.5, 1.5, 2.5, -0.5, -1.5, 3.49, -3.51] {
                    assert_eq!(get(V::<S>::splat(value).to_int()), value.round_ties_even() as $int);
                }
                for &power in $powers {
                    for value in [1.0, 1.7, -1.3, 1.0 + $float::EPSILON, 1.5 - $float::EPSILON] {
                        let scaled = V::<S>::splat(value).ldexp(V::<S>::splat(power as $float));
                        let expected = $float::scaled(value, power);
                        assert_eq!(scaled.reduce_max().to_bits(), expected.to_bits(), "{:?} {value} {power}", S::LEVEL);
                        let part = V::<S>::splat(value).scale_by(V::<S>::splat(power as $float + 0.75));
                        assert_eq!(part.reduce_max().to_bits(), expected.to_bits(), "{:?} {value} {power}", S::LEVEL);
                    }
                }
                let limits = [$float::INFINITY, 1e30, $float::NEG_INFINITY, -1e30];
                let scaled = limits.map(|power| V::<S>::splat(1.5).scale_by(V::<S>::splat(power)).reduce_max());
                assert_eq!(scaled, [$float::INFINITY, $float::INFINITY, 0.0, 0.0], "{:?}", S::LEVEL);
                assert!(V::<S>::splat(1.5).scale_by(V::<S>::splat($float::NAN)).reduce_max().is_nan());
                for (value, limited) in [(0.2, 0.2), (-0.2, -0.2), (3.0, 0.5), (-1e30, -0.5), ($float::INFINITY, 0.5)] {
                    assert_eq!(V::<S>::splat(value).limit(V::<S>::splat(0.5)).reduce_max(), limited, "{:?}", S::LEVEL);
                }
                assert_eq!(V::<S>::splat($float::NAN).limit(V::<S>::splat(0.5)).reduce_max().abs(), 0.5);
                static SQUARES: [$float; 32] = {
                    let mut squares = [0.0; 32];
                    let mut i = 0;
                    while i < 32 {
                        squares[i] = (i * i) as $float;
                        i += 1;
                    }
                    squares
                };
                for place in [0, 1, 15, 16, 31, 32 + 7, -1] {
                    let found = V::<S>::look_up(&SQUARES, I::<S>::splat(place)).reduce_max();
                    assert_eq!(found, SQUARES[place as usize % 32], "{:?} {place}", S::LEVEL);
                }
            }};
        }
        check!(
            F32,
            i32,
            u32,
            f32,
            23,
            &[0, 1, -1, 17, 127, 128, 200, 252, -126, -127, -130, -148, -149, -150, -151, -252]
        );
        check!(
            F64,
            i64,
            u64,
            f64,
            52,
            &[0, 1, -1, 17, 1023, 1024, 2044, -1022, -1023, -1030, -1073, -1074, -1075, -1080, -2044]
        );
    }
}

#[test]
fn integers_conversions_and_scaling() {
    everywhere(Integers);
}

struct Halves;
impl Everywhere for Halves {
    fn check<S: Simd>(&mut self, _: S) {
        let lanes = S::F32::LANES;
        let mut out = [0f32; MAX_LANES];
        for start in (0..=u16::MAX).step_by(MAX_LANES) {
            let halves: [f16; MAX_LANES] = std::array::from_fn(|lane| f16::from_bits(start + lane as u16));
            let brains: [bf16; MAX_LANES] = std::array::from_fn(|lane| bf16::from_bits(start + lane as u16));
            for offset in (0..MAX_LANES).step_by(lanes) {
                // SAFETY: the slice has a whole vector from `offset` on, and so has `out`.
                unsafe { S::F32::load_f16(halves[offset..].as_ptr()).store(out.as_mut_ptr()) };
                for lane in 0..lanes {
                    let expected = f16_to_f32(halves[offset + lane]);
                    assert_eq!(out[lane].to_bits(), expected.to_bits(), "{:?} {:?}", S::LEVEL, halves[offset + lane]);
                }
                // SAFETY: the slice has a whole vector from `offset` on, and so has `out`.
                unsafe { S::F32::load_bf16(brains[offset..].as_ptr()).store(out.as_mut_ptr()) };
                for lane in 0..lanes {
                    assert_eq!(out[lane].to_bits(), bf16_to_f32(brains[offset + lane]).to_bits());
                }
            }
        }
        // Every pattern of the upper bits, with lower bits below, at and above the ties.
        for lower in [0u32, 1, 0x0fff, 0x1000, 0x1001, 0x1fff, 0x2fff, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff] {
            for start in (0..=u16::MAX).step_by(lanes) {
                let value = |lane: usize| f32::from_bits((u32::from(start) + lane as u32) << 16 | lower);
                let values: [f32; MAX_LANES] = std::array::from_fn(value);
                let (mut halves, mut brains) = ([f16::ZERO; MAX_LANES], [bf16::ZERO; MAX_LANES]);
                // SAFETY: the arrays have a vector's lanes.
                unsafe {
                    S::F32::load(values.as_ptr()).store_f16(halves.as_mut_ptr());
                    S::F32::load(values.as_ptr()).store_bf16(brains.as_mut_ptr());
                }
                for lane in 0..lanes {
                    let (half, brain) = (f16_from_f32(values[lane]), bf16_from_f32(values[lane]));
                    assert_eq!(halves[lane].to_bits(), half.to_bits(), "{:?} {:x}", S::LEVEL, values[lane].to_bits());
                    assert_eq!(brains[lane].to_bits(), brain.to_bits(), "{:?} {:x}", S::LEVEL, values[lane].to_bits());
                }
            }
        }
    }
}

#[test]
fn half_precision_vectors_convert_like_scalars_bitwise() {
    everywhere(Halves);
}

struct PartialHalves<T>(PhantomData<T>);
impl<T: Float<Wide = f32> + PartialEq + std::fmt::Debug> Everywhere for PartialHalves<T> {
    fn check<S: Simd>(&mut self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        let (zero, one) = (T::narrow(0.0), T::narrow(1.0));
        for count in 0..=lanes {
            let values = vec![one; count];
            let mut out = [zero; 2 * MAX_LANES];
            // SAFETY: the arrays are long enough.
            unsafe {
                T::store::<S>(T::load_partial::<S>(values.as_ptr(), count), out.as_mut_ptr());
                assert!((0..out.len()).all(|lane| out[lane] == if lane < count { one } else { zero }));
                T::store::<S>(T::Vector::<S>::splat(0.0), out.as_mut_ptr());
                T::store_partial::<S>(T::load::<S>([one; MAX_LANES].as_ptr()), out.as_mut_ptr(), count);
                assert!((0..out.len()).all(|lane| out[lane] == if lane < count { one } else { zero }));
                T::store::<S>(T::load_strided::<S>(out.as_ptr(), 4, lanes.div_ceil(2)), out.as_mut_ptr());
                assert!((0..lanes.div_ceil(2)).all(|lane| out[lane] == if 2 * lane < count { one } else { zero }));
                T::store_strided::<S>(T::Vector::<S>::splat(2.0), out.as_mut_ptr(), 4, count);
                assert!((0..count).all(|lane| out[2 * lane] == T::narrow(2.0)));
            }
        }
    }
}

#[test]
fn partial_vectors_of_half_precision() {
    everywhere(PartialHalves::<f16>(PhantomData));
    everywhere(PartialHalves::<bf16>(PhantomData));
}

struct Evens;

impl Everywhere for Evens {
    fn check<S: Simd>(&mut self, _: S) {
        check_evens::<S::F32>();
        check_evens::<S::F64>();
    }
}

#[inline(always)]
fn check_evens<V: FloatVector>() {
    let numbers = V::iota();
    let next = numbers + V::from_f64(V::LANES as f64);
    let doubled = numbers + numbers;
    assert!(numbers.evens(next).eq(doubled).all());
}

#[test]
fn evens_are_every_other_lane_of_two_vectors() {
    everywhere(Evens);
}
