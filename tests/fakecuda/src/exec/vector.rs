//! Instructions that run on whole rows: their loops become vector instructions of the host.

use super::registers::{FULL, Registers, blend32, blend64};
use crate::ptx::{Cmp, Float, Ins, Int, Wide};

/// Lanes of one step of the loops: two vectors of 64-bit lanes with AVX2.
const STEP: usize = 8;

macro_rules! rows {
    ($name:ident, $out:ty, $out_row:ident, $blend:ident, ($($arg:ident: $in:ty = $in_row:ident),*)) => {
        /// Apply a function to each lane and write the lanes of the mask.
        #[inline(always)]
        fn $name(regs: Registers, ins: &Ins, mask: u32, f: impl Fn($($in),*) -> $out) {
            let to = regs.$out_row(ins.dst);
            let mut index = 0;
            $(let $arg = regs.$in_row(ins.src[index]) as *const $in; index += 1;)*
            let _ = index;
            let mut buffer = [0 as $out; 32];
            let target = if mask == FULL { to } else { buffer.as_mut_ptr() };
            let mut at = 0;
            while at < 32 {
                $(let mut block = [0 as $in; STEP];
                // SAFETY: `at` is at most 24, and every row has 32 lanes.
                unsafe { std::ptr::copy_nonoverlapping($arg.add(at), block.as_mut_ptr(), STEP) };
                let $arg = block;)*
                let mut result = [0 as $out; STEP];
                for i in 0..STEP {
                    result[i] = f($($arg[i]),*);
                }
                // SAFETY: as many lanes remain in the target, which is a row or the buffer.
                unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), target.add(at), STEP) };
                at += STEP;
            }
            if mask != FULL {
                $blend(to, &buffer, mask);
            }
        }
    };
}

rows!(narrow1, u32, narrow, blend32, (a: u32 = narrow));
rows!(narrow2, u32, narrow, blend32, (a: u32 = narrow, b: u32 = narrow));
rows!(narrow3, u32, narrow, blend32, (a: u32 = narrow, b: u32 = narrow, c: u32 = narrow));
rows!(wide1, u64, wide, blend64, (a: u64 = wide));
rows!(wide2, u64, wide, blend64, (a: u64 = wide, b: u64 = wide));
rows!(wide3, u64, wide, blend64, (a: u64 = wide, b: u64 = wide, c: u64 = wide));
rows!(wide_shift, u64, wide, blend64, (a: u64 = wide, b: u32 = narrow));
rows!(widen1, u64, wide, blend64, (a: u32 = narrow));
rows!(widen2, u64, wide, blend64, (a: u32 = narrow, b: u32 = narrow));
rows!(widen3, u64, wide, blend64, (a: u32 = narrow, b: u32 = narrow, c: u64 = wide));
rows!(lower1, u32, narrow, blend32, (a: u64 = wide));

/// `mov` of 32 bits.
#[inline(always)]
pub fn mov32(regs: Registers, ins: &Ins, mask: u32) {
    narrow1(regs, ins, mask, |a| a);
}

/// `mov` of 64 bits.
#[inline(always)]
pub fn mov64(regs: Registers, ins: &Ins, mask: u32) {
    wide1(regs, ins, mask, |a| a);
}

/// Integer operations of 32 bits.
#[inline(always)]
pub fn int32(op: Int, regs: Registers, ins: &Ins, mask: u32) {
    match op {
        Int::Add => narrow2(regs, ins, mask, u32::wrapping_add),
        Int::Sub => narrow2(regs, ins, mask, u32::wrapping_sub),
        Int::Mul => narrow2(regs, ins, mask, u32::wrapping_mul),
        Int::Mad => narrow3(regs, ins, mask, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Int::And => narrow2(regs, ins, mask, |a, b| a & b),
        Int::Or => narrow2(regs, ins, mask, |a, b| a | b),
        Int::Xor => narrow2(regs, ins, mask, |a, b| a ^ b),
        Int::Not => narrow1(regs, ins, mask, |a| !a),
        Int::Neg => narrow1(regs, ins, mask, u32::wrapping_neg),
        Int::Shl => narrow2(regs, ins, mask, |a, b| if b > 31 { 0 } else { a << (b & 31) }),
        Int::ShrU => narrow2(regs, ins, mask, |a, b| if b > 31 { 0 } else { a >> (b & 31) }),
        Int::ShrS => narrow2(regs, ins, mask, |a, b| (a as i32 >> b.min(31)) as u32),
        Int::MinU => narrow2(regs, ins, mask, u32::min),
        Int::MaxU => narrow2(regs, ins, mask, u32::max),
        Int::MinS => narrow2(regs, ins, mask, |a, b| (a as i32).min(b as i32) as u32),
        Int::MaxS => narrow2(regs, ins, mask, |a, b| (a as i32).max(b as i32) as u32),
        Int::BfeU => narrow3(regs, ins, mask, |a, b, c| {
            let (position, length) = (b & 0xff, c & 0xff);
            let field = if length > 31 { u32::MAX } else { (1 << (length & 31)) - 1 };
            if position > 31 { 0 } else { a >> (position & 31) & field }
        }),
    }
}

/// Integer operations of 64 bits.
#[inline(always)]
pub fn int64(op: Int, regs: Registers, ins: &Ins, mask: u32) {
    match op {
        Int::Add => wide2(regs, ins, mask, u64::wrapping_add),
        Int::Sub => wide2(regs, ins, mask, u64::wrapping_sub),
        Int::Mul => wide2(regs, ins, mask, u64::wrapping_mul),
        Int::Mad => wide3(regs, ins, mask, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Int::And => wide2(regs, ins, mask, |a, b| a & b),
        Int::Or => wide2(regs, ins, mask, |a, b| a | b),
        Int::Xor => wide2(regs, ins, mask, |a, b| a ^ b),
        Int::Not => wide1(regs, ins, mask, |a| !a),
        Int::Neg => wide1(regs, ins, mask, u64::wrapping_neg),
        Int::Shl => wide_shift(regs, ins, mask, |a, b| if b > 63 { 0 } else { a << (b & 63) }),
        Int::ShrU => wide_shift(regs, ins, mask, |a, b| if b > 63 { 0 } else { a >> (b & 63) }),
        Int::ShrS => wide_shift(regs, ins, mask, |a, b| (a as i64 >> b.min(63)) as u64),
        Int::MinU => wide2(regs, ins, mask, u64::min),
        Int::MaxU => wide2(regs, ins, mask, u64::max),
        Int::MinS => wide2(regs, ins, mask, |a, b| (a as i64).min(b as i64) as u64),
        Int::MaxS => wide2(regs, ins, mask, |a, b| (a as i64).max(b as i64) as u64),
        // The decoder keeps this to 32 bits.
        Int::BfeU => {}
    }
}

/// The bits of a result: cards return one NaN.
#[inline(always)]
fn bits32(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

#[inline(always)]
fn min32(x: f32, y: f32) -> u32 {
    if x.is_nan() {
        return bits32(y);
    }
    // -0 is less than +0; equal numbers have equal bits otherwise.
    if x == y {
        x.to_bits() | y.to_bits()
    } else if x < y || y.is_nan() {
        x.to_bits()
    } else {
        y.to_bits()
    }
}

#[inline(always)]
fn max32(x: f32, y: f32) -> u32 {
    if x.is_nan() {
        return bits32(y);
    }
    if x == y {
        x.to_bits() & y.to_bits()
    } else if x > y || y.is_nan() {
        x.to_bits()
    } else {
        y.to_bits()
    }
}

/// Operations on `f32`, rounded to nearest even.
#[inline(always)]
pub fn f32s(op: Float, regs: Registers, ins: &Ins, mask: u32) {
    let f = f32::from_bits;
    match op {
        Float::Add => narrow2(regs, ins, mask, |a, b| bits32(f(a) + f(b))),
        Float::Sub => narrow2(regs, ins, mask, |a, b| bits32(f(a) - f(b))),
        Float::Mul => narrow2(regs, ins, mask, |a, b| bits32(f(a) * f(b))),
        Float::Fma => narrow3(regs, ins, mask, |a, b, c| bits32(f(a).mul_add(f(b), f(c)))),
        Float::Div => narrow2(regs, ins, mask, |a, b| bits32(f(a) / f(b))),
        Float::Neg => narrow1(regs, ins, mask, |a| a ^ 0x8000_0000),
        Float::Abs => narrow1(regs, ins, mask, |a| a & 0x7fff_ffff),
        Float::Min => narrow2(regs, ins, mask, |a, b| min32(f(a), f(b))),
        Float::Max => narrow2(regs, ins, mask, |a, b| max32(f(a), f(b))),
        Float::Sqrt => narrow1(regs, ins, mask, |a| bits32(f(a).sqrt())),
        Float::Rcp => narrow1(regs, ins, mask, |a| bits32(1.0 / f(a))),
        Float::Copysign => narrow2(regs, ins, mask, |a, b| a & 0x8000_0000 | b & 0x7fff_ffff),
        Float::Trunc => narrow1(regs, ins, mask, |a| bits32(f(a).trunc())),
        Float::Floor => narrow1(regs, ins, mask, |a| bits32(f(a).floor())),
        Float::Ceil => narrow1(regs, ins, mask, |a| bits32(f(a).ceil())),
        Float::Even => narrow1(regs, ins, mask, |a| bits32(f(a).round_ties_even())),
    }
}

#[inline(always)]
fn min64(x: f64, y: f64) -> u64 {
    if x.is_nan() {
        return y.to_bits();
    }
    if x == y {
        x.to_bits() | y.to_bits()
    } else if x < y || y.is_nan() {
        x.to_bits()
    } else {
        y.to_bits()
    }
}

#[inline(always)]
fn max64(x: f64, y: f64) -> u64 {
    if x.is_nan() {
        return y.to_bits();
    }
    if x == y {
        x.to_bits() & y.to_bits()
    } else if x > y || y.is_nan() {
        x.to_bits()
    } else {
        y.to_bits()
    }
}

/// Operations on `f64`, rounded to nearest even.
#[inline(always)]
pub fn f64s(op: Float, regs: Registers, ins: &Ins, mask: u32) {
    let f = f64::from_bits;
    const SIGN: u64 = 1 << 63;
    match op {
        Float::Add => wide2(regs, ins, mask, |a, b| (f(a) + f(b)).to_bits()),
        Float::Sub => wide2(regs, ins, mask, |a, b| (f(a) - f(b)).to_bits()),
        Float::Mul => wide2(regs, ins, mask, |a, b| (f(a) * f(b)).to_bits()),
        Float::Fma => wide3(regs, ins, mask, |a, b, c| f(a).mul_add(f(b), f(c)).to_bits()),
        Float::Div => wide2(regs, ins, mask, |a, b| (f(a) / f(b)).to_bits()),
        Float::Neg => wide1(regs, ins, mask, |a| a ^ SIGN),
        Float::Abs => wide1(regs, ins, mask, |a| a & !SIGN),
        Float::Min => wide2(regs, ins, mask, |a, b| min64(f(a), f(b))),
        Float::Max => wide2(regs, ins, mask, |a, b| max64(f(a), f(b))),
        Float::Sqrt => wide1(regs, ins, mask, |a| f(a).sqrt().to_bits()),
        Float::Rcp => wide1(regs, ins, mask, |a| (1.0 / f(a)).to_bits()),
        Float::Copysign => wide2(regs, ins, mask, |a, b| a & SIGN | b & !SIGN),
        Float::Trunc => wide1(regs, ins, mask, |a| f(a).trunc().to_bits()),
        Float::Floor => wide1(regs, ins, mask, |a| f(a).floor().to_bits()),
        Float::Ceil => wide1(regs, ins, mask, |a| f(a).ceil().to_bits()),
        Float::Even => wide1(regs, ins, mask, |a| f(a).round_ties_even().to_bits()),
    }
}

/// Conversions between rows.
#[inline(always)]
pub fn widen(op: Wide, regs: Registers, ins: &Ins, mask: u32) {
    match op {
        Wide::Zero => widen1(regs, ins, mask, u64::from),
        Wide::Sign => widen1(regs, ins, mask, |a| a as i32 as i64 as u64),
        Wide::Low => lower1(regs, ins, mask, |a| a as u32),
        Wide::Low16 => lower1(regs, ins, mask, |a| u32::from(a as u16)),
        Wide::Cut16 => narrow1(regs, ins, mask, |a| a & 0xffff),
        Wide::F32ToF64 => widen1(regs, ins, mask, |a| f64::from(f32::from_bits(a)).to_bits()),
        Wide::F64ToF32 => lower1(regs, ins, mask, |a| bits32(f64::from_bits(a) as f32)),
        Wide::S32ToF32 => narrow1(regs, ins, mask, |a| (a as i32 as f32).to_bits()),
        Wide::U32ToF32 => narrow1(regs, ins, mask, |a| (a as f32).to_bits()),
        Wide::S32ToF64 => widen1(regs, ins, mask, |a| f64::from(a as i32).to_bits()),
    }
}

/// Products of 32-bit numbers with 64 bits.
#[inline(always)]
pub fn mul_wide(signed: bool, regs: Registers, ins: &Ins, mask: u32) {
    if signed {
        widen2(regs, ins, mask, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64);
    } else {
        widen2(regs, ins, mask, |a, b| u64::from(a) * u64::from(b));
    }
}

/// Products of 32-bit numbers with 64 bits, added to a 64-bit number.
#[inline(always)]
pub fn mad_wide(signed: bool, regs: Registers, ins: &Ins, mask: u32) {
    if signed {
        widen3(regs, ins, mask, |a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c));
    } else {
        widen3(regs, ins, mask, |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c));
    }
}

/// The lanes for which a comparison of 32-bit elements is true.
#[inline(always)]
fn lanes32(regs: Registers, ins: &Ins, f: impl Fn(u32, u32) -> bool) -> u32 {
    let (a, b) = (regs.narrow(ins.src[0]), regs.narrow(ins.src[1]));
    let mut bits = [0u32; STEP];
    let mut at = 0;
    while at < 32 {
        for (i, bit) in bits.iter_mut().enumerate() {
            // SAFETY: `at` is at most 24, and every row has 32 lanes.
            let (x, y) = unsafe { (*a.add(at + i), *b.add(at + i)) };
            *bit |= if f(x, y) { 1 << (at + i) } else { 0 };
        }
        at += STEP;
    }
    bits.iter().fold(0, |sum, bit| sum | bit)
}

/// The lanes for which a comparison of 64-bit elements is true.
#[inline(always)]
fn lanes64(regs: Registers, ins: &Ins, f: impl Fn(u64, u64) -> bool) -> u32 {
    let (a, b) = (regs.wide(ins.src[0]), regs.wide(ins.src[1]));
    let mut bits = [0u64; STEP];
    let mut at = 0;
    while at < 32 {
        for (i, bit) in bits.iter_mut().enumerate() {
            // SAFETY: `at` is at most 24, and every row has 32 lanes.
            let (x, y) = unsafe { (*a.add(at + i), *b.add(at + i)) };
            *bit |= if f(x, y) { 1 << (at + i) } else { 0 };
        }
        at += STEP;
    }
    bits.iter().fold(0, |sum, bit| sum | bit) as u32
}

macro_rules! integers {
    ($name:ident, $lanes:ident, $t:ty) => {
        /// The lanes for which a comparison is true.
        #[inline(always)]
        pub fn $name(cmp: Cmp, regs: Registers, ins: &Ins) -> u32 {
            match cmp {
                Cmp::Eq | Cmp::EqU => $lanes(regs, ins, |a, b| a == b),
                Cmp::Ne | Cmp::NeU => $lanes(regs, ins, |a, b| a != b),
                Cmp::Lt | Cmp::LtU => $lanes(regs, ins, |a, b| (a as $t) < b as $t),
                Cmp::Le | Cmp::LeU => $lanes(regs, ins, |a, b| a as $t <= b as $t),
                Cmp::Gt | Cmp::GtU => $lanes(regs, ins, |a, b| a as $t > b as $t),
                Cmp::Ge | Cmp::GeU => $lanes(regs, ins, |a, b| a as $t >= b as $t),
                Cmp::Nan => 0,
                Cmp::Num => FULL,
            }
        }
    };
}

integers!(unsigned32, lanes32, u32);
integers!(signed32, lanes32, i32);
integers!(unsigned64, lanes64, u64);
integers!(signed64, lanes64, i64);

macro_rules! floats {
    ($name:ident, $lanes:ident, $t:ty) => {
        /// The lanes for which a comparison is true.
        #[inline(always)]
        pub fn $name(cmp: Cmp, regs: Registers, ins: &Ins) -> u32 {
            let f = <$t>::from_bits;
            match cmp {
                Cmp::Eq => $lanes(regs, ins, |a, b| f(a) == f(b)),
                Cmp::Ne => $lanes(regs, ins, |a, b| f(a) < f(b) || f(a) > f(b)),
                Cmp::Lt => $lanes(regs, ins, |a, b| f(a) < f(b)),
                Cmp::Le => $lanes(regs, ins, |a, b| f(a) <= f(b)),
                Cmp::Gt => $lanes(regs, ins, |a, b| f(a) > f(b)),
                Cmp::Ge => $lanes(regs, ins, |a, b| f(a) >= f(b)),
                Cmp::EqU => !$lanes(regs, ins, |a, b| f(a) < f(b) || f(a) > f(b)),
                Cmp::NeU => $lanes(regs, ins, |a, b| f(a) != f(b)),
                Cmp::LtU => !$lanes(regs, ins, |a, b| f(a) >= f(b)),
                Cmp::LeU => !$lanes(regs, ins, |a, b| f(a) > f(b)),
                Cmp::GtU => !$lanes(regs, ins, |a, b| f(a) <= f(b)),
                Cmp::GeU => !$lanes(regs, ins, |a, b| f(a) < f(b)),
                Cmp::Nan => $lanes(regs, ins, |a, b| f(a).is_nan() || f(b).is_nan()),
                Cmp::Num => $lanes(regs, ins, |a, b| !f(a).is_nan() && !f(b).is_nan()),
            }
        }
    };
}

floats!(compare_f32, lanes32, f32);
floats!(compare_f64, lanes64, f64);

/// `selp` of 32 bits.
#[inline(always)]
pub fn select32(regs: Registers, ins: &Ins, mask: u32, predicate: u32) {
    let (a, b, to) = (regs.narrow(ins.src[0]), regs.narrow(ins.src[1]), regs.narrow(ins.dst));
    let mut buffer = [0u32; 32];
    for (i, out) in buffer.iter_mut().enumerate() {
        // SAFETY: every row has 32 lanes.
        let (x, y) = unsafe { (*a.add(i), *b.add(i)) };
        *out = if predicate & 1 << i != 0 { x } else { y };
    }
    store32(to, &buffer, mask);
}

/// `selp` of 64 bits.
#[inline(always)]
pub fn select64(regs: Registers, ins: &Ins, mask: u32, predicate: u32) {
    let (a, b, to) = (regs.wide(ins.src[0]), regs.wide(ins.src[1]), regs.wide(ins.dst));
    let mut buffer = [0u64; 32];
    for (i, out) in buffer.iter_mut().enumerate() {
        // SAFETY: every row has 32 lanes.
        let (x, y) = unsafe { (*a.add(i), *b.add(i)) };
        *out = if u64::from(predicate) & 1 << i != 0 { x } else { y };
    }
    store64(to, &buffer, mask);
}

/// Write the lanes of a mask.
#[inline(always)]
pub fn store32(to: *mut u32, from: &[u32; 32], mask: u32) {
    if mask == FULL {
        // SAFETY: `to` is a row of 32 lanes.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, 32) };
    } else {
        blend32(to, from, mask);
    }
}

/// Write the lanes of a mask.
#[inline(always)]
pub fn store64(to: *mut u64, from: &[u64; 32], mask: u32) {
    if mask == FULL {
        // SAFETY: `to` is a row of 32 lanes.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, 32) };
    } else {
        blend64(to, from, mask);
    }
}
