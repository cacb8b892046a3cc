//! Finds the path for whole rows of an instruction that could also run one lane at a time.

use super::*;

/// The fastest operation that does what `ins` says.
pub fn faster(ins: &Ins) -> Op {
    let Op::Scalar(op) = ins.op else { return ins.op };
    let mods = ins.mods;
    if mods.ftz || mods.sat || mods.relu || mods.nan {
        return ins.op;
    }
    let near = mods.round == Round::Near && !mods.integer;
    // Registers of the sizes that the type has.
    let all = |wide: u8, sources: u8| ins.wide == if wide != 0 { 0x80 | sources } else { 0 };
    if op == Scalar::Mov {
        return match (ins.wide, ins.ty.size()) {
            (0, 4) => Op::Mov32,
            (0x81, 8) => Op::Mov64,
            (0x80, 4) => Op::Widen(Wide::Zero),
            (0x01, 4) => Op::Widen(Wide::Low),
            _ => ins.op,
        };
    }
    match ins.ty {
        Ty::F32 | Ty::F64 if op != Scalar::Cvt && near => {
            let wide = u8::from(ins.ty == Ty::F64);
            let (float, sources) = match op {
                Scalar::Add => (Float::Add, 3),
                Scalar::Sub => (Float::Sub, 3),
                Scalar::Mul => (Float::Mul, 3),
                Scalar::Fma => (Float::Fma, 7),
                Scalar::Div => (Float::Div, 3),
                Scalar::Neg => (Float::Neg, 1),
                Scalar::Abs => (Float::Abs, 1),
                Scalar::Min => (Float::Min, 3),
                Scalar::Max => (Float::Max, 3),
                Scalar::Sqrt => (Float::Sqrt, 1),
                Scalar::Rcp => (Float::Rcp, 1),
                Scalar::Copysign => (Float::Copysign, 3),
                _ => return ins.op,
            };
            if !all(wide, sources) {
                return ins.op;
            }
            if wide == 1 { Op::F64(float) } else { Op::F32(float) }
        }
        _ if op == Scalar::Cvt => conversion(ins),
        Ty::B32 | Ty::U32 | Ty::S32 | Ty::B64 | Ty::U64 | Ty::S64 => {
            let wide = u8::from(ins.ty.size() == 8);
            let signed = ins.ty.signed();
            let (int, sources) = match op {
                Scalar::Add => (Int::Add, 3),
                Scalar::Sub => (Int::Sub, 3),
                Scalar::Mul => (Int::Mul, 3),
                Scalar::Mad => (Int::Mad, 7),
                Scalar::And => (Int::And, 3),
                Scalar::Or => (Int::Or, 3),
                Scalar::Xor => (Int::Xor, 3),
                Scalar::Not => (Int::Not, 1),
                Scalar::Neg => (Int::Neg, 1),
                Scalar::Shl => (Int::Shl, 1),
                Scalar::Shr if signed => (Int::ShrS, 1),
                Scalar::Shr => (Int::ShrU, 1),
                Scalar::Min if signed => (Int::MinS, 3),
                Scalar::Min => (Int::MinU, 3),
                Scalar::Max if signed => (Int::MaxS, 3),
                Scalar::Max => (Int::MaxU, 3),
                Scalar::Bfe if ins.ty == Ty::U32 => (Int::BfeU, 1),
                Scalar::MulWide if !signed && wide == 0 && ins.wide == 0x80 => return Op::MulWideU,
                Scalar::MulWide if signed && wide == 0 && ins.wide == 0x80 => return Op::MulWideS,
                Scalar::MadWide if !signed && wide == 0 && ins.wide == 0x84 => return Op::MadWideU,
                Scalar::MadWide if signed && wide == 0 && ins.wide == 0x84 => return Op::MadWideS,
                _ => return ins.op,
            };
            if !all(wide, sources) {
                return ins.op;
            }
            if wide == 1 { Op::Int64(int) } else { Op::Int32(int) }
        }
        Ty::B16 | Ty::U16 if ins.wide == 0 => match op {
            // Registers of 16 bits keep zeros above them, which these operations preserve.
            Scalar::And => Op::Int32(Int::And),
            Scalar::Or => Op::Int32(Int::Or),
            Scalar::Xor => Op::Int32(Int::Xor),
            // The product has 32 bits.
            Scalar::MulWide => Op::Int32(Int::Mul),
            _ => ins.op,
        },
        _ => ins.op,
    }
}

fn conversion(ins: &Ins) -> Op {
    let near = ins.mods.round == Round::Near;
    match (ins.ty, ins.ty2, ins.wide) {
        (Ty::U64 | Ty::B64 | Ty::S64, Ty::U32 | Ty::B32, 0x80) => Op::Widen(Wide::Zero),
        (Ty::U64 | Ty::S64, Ty::S32, 0x80) => Op::Widen(Wide::Sign),
        (Ty::U32 | Ty::B32 | Ty::S32, Ty::U64 | Ty::B64 | Ty::S64, 0x01) => Op::Widen(Wide::Low),
        (Ty::F64, Ty::F32, 0x80) if !ins.mods.integer => Op::Widen(Wide::F32ToF64),
        (Ty::F32, Ty::F64, 0x01) if near && !ins.mods.integer => Op::Widen(Wide::F64ToF32),
        (Ty::F32, Ty::S32, 0) if near => Op::Widen(Wide::S32ToF32),
        (Ty::F32, Ty::U32, 0) if near => Op::Widen(Wide::U32ToF32),
        (Ty::F64, Ty::S32, 0x80) => Op::Widen(Wide::S32ToF64),
        (Ty::U16 | Ty::B16, Ty::U64 | Ty::B64 | Ty::S64, 0x01) => Op::Widen(Wide::Low16),
        (Ty::U16 | Ty::B16, Ty::U16 | Ty::B16 | Ty::U32 | Ty::B32 | Ty::S32, 0) => Op::Widen(Wide::Cut16),
        // From a 16-bit register, which has zeros above.
        (Ty::U32, Ty::U16, 0) => Op::Mov32,
        (Ty::U64, Ty::U16, 0x80) => Op::Widen(Wide::Zero),
        (Ty::F32, Ty::F32, 0) | (Ty::F64, Ty::F64, 0x81) if ins.mods.integer => {
            let float = match ins.mods.round {
                Round::Near => Float::Even,
                Round::Zero => Float::Trunc,
                Round::Down => Float::Floor,
                Round::Up => Float::Ceil,
                Round::Away => return ins.op,
            };
            if ins.ty == Ty::F64 { Op::F64(float) } else { Op::F32(float) }
        }
        _ => ins.op,
    }
}
