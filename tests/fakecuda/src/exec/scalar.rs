//! Instructions that run one lane at a time.

use super::exact::{self, Number};
use crate::ptx::{Cmp, Ins, Property, Round, Scalar, Ty};

/// The result of an instruction for one lane. Operands are zero-extended registers.
pub fn eval(op: Scalar, ins: &Ins, v: [u64; 4]) -> u64 {
    match op {
        Scalar::Mov => v[0] & ins.ty.mask(),
        Scalar::Cvt => convert(ins, v[0]),
        Scalar::CvtPack => {
            let ty = if ins.ty == Ty::F16x2 { Ty::F16 } else { Ty::BF16 };
            convert_to(ins, Ty::F32, ty, v[0]) << 16 | convert_to(ins, Ty::F32, ty, v[1])
        }
        Scalar::Set(cmp) => {
            let hit = compare(cmp, ins.ty2, v[0], v[1]);
            match (ins.ty, hit) {
                (_, false) => 0,
                (Ty::F32, true) => u64::from(1f32.to_bits()),
                (ty, true) => ty.mask(),
            }
        }
        _ => match ins.ty {
            Ty::F16x2 | Ty::BF16x2 => {
                let mut one = *ins;
                one.ty = if ins.ty == Ty::F16x2 { Ty::F16 } else { Ty::BF16 };
                let part = |shift: u32| eval(op, &one, v.map(|x| x >> shift & 0xffff)) << shift;
                part(16) | part(0)
            }
            _ if matches!(op, Scalar::Ex2 | Scalar::Lg2 | Scalar::Sin | Scalar::Cos | Scalar::Tanh | Scalar::Rsqrt) => {
                approximate(op, ins, v[0])
            }
            ty if ty.float() => float(op, ins, v),
            _ => integer(op, ins, v),
        },
    }
}

fn integer(op: Scalar, ins: &Ins, v: [u64; 4]) -> u64 {
    let ty = ins.ty;
    let (mask, bits, signed) = (ty.mask(), u64::from(ty.bits()), ty.signed());
    let [a, b, c, d] = v;
    // Operands as the type says: sign- or zero-extended to 64 bits.
    let (x, y, z) = (ty.extend(a), ty.extend(b), ty.extend(c));
    let product = |x: u64, y: u64| {
        if signed { i128::from(x as i64) * i128::from(y as i64) } else { (u128::from(x) * u128::from(y)) as i128 }
    };
    let saturate = |v: i128| {
        let (low, high) = if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, mask as i128) };
        v.clamp(low, high) as u64
    };
    let wide = |x: u64| if signed { i128::from(x as i64) } else { i128::from(x) };
    let amount = b & 0xffff_ffff;
    let result = match op {
        Scalar::Add if ins.mods.sat => saturate(wide(x) + wide(y)),
        Scalar::Sub if ins.mods.sat => saturate(wide(x) - wide(y)),
        Scalar::Add => a.wrapping_add(b),
        Scalar::Sub => a.wrapping_sub(b),
        Scalar::Mul => a.wrapping_mul(b),
        Scalar::MulHi => (product(x, y) >> bits) as u64,
        Scalar::MulWide => return product(x, y) as u64 & widened(ty),
        Scalar::MadWide => return (product(x, y) as u64).wrapping_add(c) & widened(ty),
        Scalar::Mad => a.wrapping_mul(b).wrapping_add(c),
        Scalar::MadHi if ins.mods.sat => saturate((product(x, y) >> bits) + wide(z)),
        Scalar::MadHi => ((product(x, y) >> bits) as u64).wrapping_add(c),
        Scalar::Mul24 | Scalar::Mad24 => {
            let cut = |v: u64| if signed { ((v << 40) as i64 >> 40) as u64 } else { v & 0xff_ffff };
            let low = cut(a).wrapping_mul(cut(b));
            if op == Scalar::Mad24 { low.wrapping_add(c) } else { low }
        }
        Scalar::Sad => ((wide(x) - wide(y)).unsigned_abs() as u64).wrapping_add(c),
        // Division by zero is unspecified; cards return all ones.
        Scalar::Div if y == 0 => u64::MAX,
        Scalar::Rem if y == 0 => x,
        Scalar::Div if signed => (x as i64).wrapping_div(y as i64) as u64,
        Scalar::Rem if signed => (x as i64).wrapping_rem(y as i64) as u64,
        Scalar::Div => x / y,
        Scalar::Rem => x % y,
        Scalar::Neg => a.wrapping_neg(),
        Scalar::Abs => (x as i64).unsigned_abs(),
        Scalar::Min => {
            if wide(x) <= wide(y) {
                x
            } else {
                y
            }
        }
        Scalar::Max => {
            if wide(x) >= wide(y) {
                x
            } else {
                y
            }
        }
        Scalar::And => a & b,
        Scalar::Or => a | b,
        Scalar::Xor => a ^ b,
        Scalar::Not => !a,
        Scalar::Cnot => u64::from(a & mask == 0),
        Scalar::Lop3 => (0..8).filter(|i| ins.imm >> i & 1 != 0).fold(0, |sum, i| {
            let pick = |v: u64, bit: i32| if i >> bit & 1 != 0 { v } else { !v };
            sum | pick(a, 2) & pick(b, 1) & pick(c, 0)
        }),
        Scalar::Shl => {
            if amount >= bits {
                0
            } else {
                a << amount
            }
        }
        Scalar::Shr if signed => ((x as i64) >> amount.min(bits - 1)) as u64,
        Scalar::Shr => {
            if amount >= bits {
                0
            } else {
                x >> amount
            }
        }
        Scalar::ShfLeft | Scalar::ShfRight => {
            let both = (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
            let n = if ins.mods.mode == 1 { (c & 0xffff_ffff).min(32) } else { c & 31 };
            if op == Scalar::ShfLeft { (u128::from(both) << n >> 32) as u64 } else { both >> n }
        }
        Scalar::Bfe => bit_field(ty, a, b & 0xff, c & 0xff),
        Scalar::Bfi => {
            let (position, length) = (c & 0xff, d & 0xff);
            let field = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
            if position >= bits { b } else { b & !(field << position) | (a & field) << position }
        }
        Scalar::Brev => a.reverse_bits() >> (64 - bits),
        Scalar::Clz => return u64::from((a & mask).leading_zeros()) - (64 - bits),
        Scalar::Popc => return u64::from((a & mask).count_ones()),
        Scalar::Bfind | Scalar::BfindShift => {
            let value = if signed && (x as i64) < 0 { !x } else { x } & mask;
            if value == 0 {
                return 0xffff_ffff;
            }
            let position = 63 - u64::from(value.leading_zeros());
            return if op == Scalar::BfindShift { bits - 1 - position } else { position };
        }
        Scalar::Prmt => permute(a, b, c, ins.mods.mode),
        Scalar::Slct => {
            let negative = if ins.ty2 == Ty::F32 {
                f32::from_bits(c as u32) < 0.0 || (c as u32) == 0x8000_0001
            } else {
                (c as u32 as i32) < 0
            };
            if negative { b } else { a }
        }
        Scalar::Dp4a => {
            let byte = |v: u64, i: u32| {
                let v = v >> (8 * i) & 0xff;
                if signed { i64::from(v as u8 as i8) } else { v as i64 }
            };
            (0..4).fold(c, |sum, i| sum.wrapping_add((byte(a, i) * byte(b, i)) as u64))
        }
        _ => 0,
    };
    result & mask
}

/// The bits of the result of a widening product.
fn widened(ty: Ty) -> u64 {
    if ty.bits() >= 32 { u64::MAX } else { u64::MAX >> (64 - 2 * ty.bits()) }
}

fn bit_field(ty: Ty, a: u64, position: u64, length: u64) -> u64 {
    let bits = u64::from(ty.bits());
    let value = a & ty.mask();
    let top = (position + length).min(bits);
    let sign = ty.signed() && length > 0 && value >> (top - 1).min(bits - 1) & 1 != 0;
    let field = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
    let kept = if position >= bits { 0 } else { (value >> position) & field };
    let width = if position >= bits { 0 } else { (bits - position).min(length) };
    if sign && width < 64 { kept | u64::MAX << width } else { kept }
}

fn permute(a: u64, b: u64, c: u64, mode: u8) -> u64 {
    let bytes = (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
    let byte = |i: u64| bytes >> (8 * (i & 7)) & 0xff;
    let selector = c & 3;
    (0..4u64).fold(0, |sum, i| {
        let value = match mode {
            0 => {
                let s = c >> (4 * i) & 0xf;
                let v = byte(s);
                if s & 8 != 0 { if v & 0x80 != 0 { 0xff } else { 0 } } else { v }
            }
            1 => byte(selector + i),
            2 => byte(selector.wrapping_sub(i)),
            3 => byte(selector),
            4 => byte(selector.max(i)),
            5 => byte(selector.min(i)),
            _ => byte((selector & 1) * 2 + (i & 1)),
        };
        sum | value << (8 * i)
    })
}

/// Subnormal numbers become zero.
fn flush(bits: u64, ty: Ty) -> u64 {
    match ty {
        Ty::F32 if bits & 0x7f80_0000 == 0 => bits & 0x8000_0000,
        Ty::F16 if bits & 0x7c00 == 0 => bits & 0x8000,
        _ => bits,
    }
}

fn float(op: Scalar, ins: &Ins, mut v: [u64; 4]) -> u64 {
    let (ty, round) = (ins.ty, ins.mods.round);
    let sign = 1u64 << (ty.bits() - 1);
    if ins.mods.ftz {
        v = v.map(|x| flush(x & ty.mask(), ty));
    }
    let [a, b, c, _] = v.map(|x| x & ty.mask());
    let (x, y, z) = (exact::unpack(a, ty), exact::unpack(b, ty), exact::unpack(c, ty));
    let number = match op {
        Scalar::Add => exact::add(x, y, round),
        Scalar::Sub => exact::add(x, exact::negate(y), round),
        Scalar::Mul => exact::mul(x, y),
        Scalar::Fma => exact::add(exact::mul(x, y), z, round),
        Scalar::Div => exact::div(x, y),
        Scalar::Rcp => exact::div(exact::integer(1, false), x),
        Scalar::Sqrt => exact::sqrt(x),
        Scalar::Neg => return a ^ sign,
        Scalar::Abs => return a & !sign,
        // The sign of the first operand with the value of the second.
        Scalar::Copysign => return a & sign | b & !sign,
        Scalar::Min | Scalar::Max => return extremum(op == Scalar::Min, ins, a, b),
        _ => Number::Nan,
    };
    let mut result = exact::pack(number, ty, round);
    if ins.mods.ftz {
        result = flush(result, ty);
    }
    if ins.mods.sat {
        result = saturate(result, ty);
    }
    if ins.mods.relu && result & sign != 0 && !matches!(exact::unpack(result, ty), Number::Nan) {
        result = 0;
    }
    result
}

/// Clamp to 0..=1; NaN becomes 0.
fn saturate(bits: u64, ty: Ty) -> u64 {
    let one = exact::pack(exact::integer(1, false), ty, Round::Near);
    let sign = 1u64 << (ty.bits() - 1);
    match exact::unpack(bits, ty) {
        Number::Nan => 0,
        _ if bits & sign != 0 => 0,
        _ => bits.min(one),
    }
}

fn extremum(min: bool, ins: &Ins, a: u64, b: u64) -> u64 {
    let ty = ins.ty;
    let is_nan = |v| matches!(exact::unpack(v, ty), Number::Nan);
    match (is_nan(a), is_nan(b)) {
        (true, true) => return exact::nan(ty),
        (true, false) => return if ins.mods.nan { exact::nan(ty) } else { b },
        (false, true) => return if ins.mods.nan { exact::nan(ty) } else { a },
        _ => {}
    }
    // Order of the bits as signed magnitudes; -0 is less than +0.
    let sign = 1u64 << (ty.bits() - 1);
    let key = |v: u64| if v & sign != 0 { !v & ty.mask() } else { v | sign };
    if (key(a) < key(b)) == min { a } else { b }
}

/// `ex2.approx` and similar, more exact than a card's.
fn approximate(op: Scalar, ins: &Ins, a: u64) -> u64 {
    let ty = ins.ty;
    let a = if ins.mods.ftz { flush(a & ty.mask(), ty) } else { a & ty.mask() };
    let x = match ty {
        Ty::F64 => f64::from_bits(a),
        Ty::F32 => f64::from(f32::from_bits(a as u32)),
        _ => f64::from(exact::half_to_f32(a, ty)),
    };
    let y = match op {
        Scalar::Ex2 => x.exp2(),
        Scalar::Lg2 => x.log2(),
        Scalar::Sin => x.sin(),
        Scalar::Cos => x.cos(),
        Scalar::Tanh => x.tanh(),
        _ => 1.0 / x.sqrt(),
    };
    let result = exact::pack(exact::unpack(y.to_bits(), Ty::F64), ty, Round::Near);
    if ins.mods.ftz { flush(result, ty) } else { result }
}

fn convert(ins: &Ins, a: u64) -> u64 {
    let result = convert_to(ins, ins.ty2, ins.ty, a);
    if ins.ty.signed() {
        // A wider register gets the sign.
        let register = if ins.wide & 0x80 != 0 {
            u64::MAX
        } else if ins.mods.mode == 1 {
            0xffff
        } else {
            0xffff_ffff
        };
        ins.ty.extend(result) & register
    } else {
        result
    }
}

fn convert_to(ins: &Ins, from: Ty, to: Ty, a: u64) -> u64 {
    let mods = ins.mods;
    let a = a & from.mask();
    let a = if mods.ftz { flush(a, from) } else { a };
    match (from.float(), to.float()) {
        (false, false) => {
            let value = from.extend(a);
            if mods.sat {
                let wide = if from.signed() { i128::from(value as i64) } else { i128::from(value) };
                return clamp_integer(wide, to);
            }
            value & to.mask()
        }
        (false, true) if mods.round == Round::Near && matches!(to, Ty::F32 | Ty::F64) => {
            let value = from.extend(a);
            match (to, from.signed()) {
                (Ty::F32, true) => u64::from((value as i64 as f32).to_bits()),
                (Ty::F32, false) => u64::from((value as f32).to_bits()),
                (_, true) => (value as i64 as f64).to_bits(),
                (_, false) => (value as f64).to_bits(),
            }
        }
        (false, true) => exact::pack(exact::integer(from.extend(a), from.signed()), to, mods.round),
        (true, false) => {
            let x = to_f64(a, from);
            if x.is_nan() {
                return 0;
            }
            let whole = to_integer(x, mods.round);
            // The casts saturate, and no integer type has more than 64 bits.
            clamp_integer(whole as i128, to)
        }
        (true, true) => {
            let mut result = if mods.integer {
                let whole = to_integer(to_f64(a, from), mods.round);
                exact::pack(exact::unpack(whole.to_bits(), Ty::F64), to, Round::Near)
            } else if from == Ty::F32 && matches!(to, Ty::F16 | Ty::BF16) && mods.round == Round::Near {
                exact::f32_to_half(f32::from_bits(a as u32), to)
            } else if to == Ty::F32 && matches!(from, Ty::F16 | Ty::BF16) {
                let x = exact::half_to_f32(a, from);
                if x.is_nan() { exact::nan(to) } else { u64::from(x.to_bits()) }
            } else {
                exact::pack(exact::unpack(a, from), to, mods.round)
            };
            let sign = 1u64 << (to.bits() - 1);
            let nan = matches!(exact::unpack(result, to), Number::Nan);
            if mods.sat && to != Ty::TF32 {
                result = saturate(result, to);
            }
            if mods.relu && !nan && result & sign != 0 {
                result = 0;
            }
            if mods.ftz { flush(result, to) } else { result }
        }
    }
}

fn clamp_integer(value: i128, to: Ty) -> u64 {
    let bits = to.bits();
    let (low, high) =
        if to.signed() { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    value.clamp(low, high) as u64 & to.mask()
}

fn to_f64(bits: u64, ty: Ty) -> f64 {
    match ty {
        Ty::F64 => f64::from_bits(bits),
        Ty::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from(exact::half_to_f32(bits, ty)),
    }
}

fn to_integer(x: f64, round: Round) -> f64 {
    match round {
        Round::Near => x.round_ties_even(),
        Round::Away => x.round(),
        Round::Zero => x.trunc(),
        Round::Down => x.floor(),
        Round::Up => x.ceil(),
    }
}

/// Compare two registers.
pub fn compare(cmp: Cmp, ty: Ty, a: u64, b: u64) -> bool {
    if ty.float() {
        let (x, y) = (to_f64(a & ty.mask(), ty), to_f64(b & ty.mask(), ty));
        return ordered(cmp, x.partial_cmp(&y));
    }
    let (x, y) = (ty.extend(a), ty.extend(b));
    ordered(cmp, Some(if ty.signed() { (x as i64).cmp(&(y as i64)) } else { x.cmp(&y) }))
}

fn ordered(cmp: Cmp, order: Option<std::cmp::Ordering>) -> bool {
    let Some(order) = order else {
        return matches!(cmp, Cmp::EqU | Cmp::NeU | Cmp::LtU | Cmp::LeU | Cmp::GtU | Cmp::GeU | Cmp::Nan);
    };
    match cmp {
        Cmp::Eq | Cmp::EqU => order.is_eq(),
        Cmp::Ne | Cmp::NeU => order.is_ne(),
        Cmp::Lt | Cmp::LtU => order.is_lt(),
        Cmp::Le | Cmp::LeU => order.is_le(),
        Cmp::Gt | Cmp::GtU => order.is_gt(),
        Cmp::Ge | Cmp::GeU => order.is_ge(),
        Cmp::Nan => false,
        Cmp::Num => true,
    }
}

/// `testp`.
pub fn property(property: Property, ty: Ty, bits: u64) -> bool {
    let x = to_f64(bits & ty.mask(), ty);
    let magnitude = x.abs();
    let smallest = if ty == Ty::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
    match property {
        Property::Finite => x.is_finite(),
        Property::Infinite => x.is_infinite(),
        Property::Number => !x.is_nan(),
        Property::NotANumber => x.is_nan(),
        Property::Normal => x.is_finite() && magnitude >= smallest,
        Property::Subnormal => magnitude > 0.0 && magnitude < smallest,
    }
}
