//! Elements of every dtype: special values, subnormal numbers, random bits, and numbers of moderate size.

use crate::host::bytes_of;
use crate::splitmix::SplitMix;
use rushlight_base::DType;

/// Numbers at which functions have branches: poles, ends of domains, overflow, halfway points of roundings.
const LANDMARKS: [f64; 44] = [
    1.0,
    0.5,
    0.25,
    2.0,
    3.0,
    4.0,
    7.0,
    8.0,
    10.0,
    1.5,
    2.5,
    0.1,
    1e-3,
    1e-8,
    1e-20,
    std::f64::consts::LN_2,
    std::f64::consts::FRAC_PI_4,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::PI,
    2.0 * std::f64::consts::PI,
    100.0 * std::f64::consts::PI,
    std::f64::consts::E,
    std::f64::consts::FRAC_1_SQRT_2,
    0.425,
    6.0,
    9.0,
    12.5,
    17.3,
    20.0,
    26.5,
    50.0,
    88.722_839,
    103.97,
    127.0,
    128.0,
    170.6,
    255.0,
    709.782_712,
    745.13,
    65_504.0,
    2_147_483_648.0,
    1e10,
    9_223_372_036_854_775_808.0,
    1e30,
];

/// Which numbers an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// Every value of the dtype.
    All,
    /// Every value but the integer 0, which is an error as a divisor.
    Nonzero,
    /// The order of a polynomial: its kernels take as many steps.
    Order,
}

/// The bytes of `count` elements.
pub fn elements(random: &mut SplitMix, dtype: DType, range: Range, count: usize) -> Vec<u8> {
    (0..count).flat_map(|_| element(random, dtype, range)).collect()
}

/// The bytes of every value of a dtype of 16 bits, in the order of their bit patterns.
pub fn patterns() -> Vec<u8> {
    (0..=u16::MAX).flat_map(u16::to_le_bytes).collect()
}

fn element(random: &mut SplitMix, dtype: DType, range: Range) -> Vec<u8> {
    if range == Range::Order {
        let order = random.below(40) as f64 - 2.0;
        return bytes_of(dtype, if dtype.is_floating() && random.below(8) == 0 { order + 0.5 } else { order });
    }
    if dtype.is_complex() {
        let part = dtype.to_real();
        return [element(random, part, range), element(random, part, range)].concat();
    }
    if dtype.is_floating() {
        return real(random, dtype);
    }
    if dtype == DType::Bool {
        return vec![random.below(2) as u8];
    }
    let bytes = integer(random, dtype);
    if range == Range::Nonzero && bytes.iter().all(|&byte| byte == 0) { bytes_of(dtype, 1.0) } else { bytes }
}

fn real(random: &mut SplitMix, dtype: DType) -> Vec<u8> {
    let size = dtype.size();
    let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
    match random.below(16) {
        0 | 1 => special(random, dtype),
        // Every exponent is as likely as any other.
        2..=5 => random.bits().to_le_bytes()[..size].to_vec(),
        6 | 7 => bytes_of(dtype, sign * random.of(&LANDMARKS)),
        8..=10 => bytes_of(dtype, sign * (random.unit() * 40.0 - 20.0).exp2()),
        11 | 12 => bytes_of(dtype, sign * 10.0 * random.unit()),
        13 => bytes_of(dtype, sign * 200.0 * random.unit()),
        14 => bytes_of(dtype, sign * random.unit()),
        _ => bytes_of(dtype, (random.below(64) as f64 - 32.0) / 2.0),
    }
}

/// Zeros, infinities, NaN, the smallest and largest numbers, and numbers beside landmarks.
fn special(random: &mut SplitMix, dtype: DType) -> Vec<u8> {
    let (size, mantissa) = (dtype.size(), mantissa_bits(dtype));
    let sign = 1u64 << (8 * size - 1);
    let infinity = (sign - 1) >> mantissa << mantissa;
    let beside = |value: f64| bytes_of(dtype, value).iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte));
    let landmark = random.of(&LANDMARKS);
    let magnitude = match random.below(11) {
        0 | 1 => 0,
        2 => infinity,
        3 => infinity | 1 << (mantissa - 1),
        4 => 1,
        5 => (1 << mantissa) - 1,
        6 => 1 << mantissa,
        7 => infinity - 1,
        8 => random.bits() & ((1 << mantissa) - 1),
        9 => beside(landmark).saturating_sub(1),
        _ => beside(landmark) + 1,
    };
    let bits = if random.below(2) == 0 { magnitude } else { magnitude | sign };
    bits.to_le_bytes()[..size].to_vec()
}

/// Bits of the mantissa as it is stored.
pub fn mantissa_bits(dtype: DType) -> u32 {
    match dtype {
        DType::F16 => 10,
        DType::BF16 => 7,
        DType::F32 => 23,
        _ => 52,
    }
}

fn integer(random: &mut SplitMix, dtype: DType) -> Vec<u8> {
    let width = 8 * dtype.size() as u32;
    let value = match random.below(8) {
        0..=2 => random.bits() as i64,
        3 | 4 => random.below(41) as i64 - 20,
        5 => random.of(&[0, 1, -1, i64::MAX >> (64 - width), i64::MIN >> (64 - width)]),
        6 => (1i64 << random.below(width as usize)).wrapping_add(random.below(3) as i64 - 1),
        _ => random.bits() as i64 >> random.below(64),
    };
    value.to_le_bytes()[..dtype.size()].to_vec()
}
