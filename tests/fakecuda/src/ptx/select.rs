//! The opcodes: turns an instruction's text into an [`Ins`].

use super::decode::{Bound, Decoder, Kind};
use super::scan::immediate;
use super::*;

/// Parts of an opcode behind its first dot.
struct Parts<'a>(Vec<&'a str>);

impl Parts<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }

    fn types(&self) -> Vec<Ty> {
        self.0.iter().filter_map(|p| Ty::of(p)).collect()
    }

    fn space(&self) -> Space {
        for part in &self.0 {
            match part.split("::").next().unwrap_or("") {
                "global" | "const" => return Space::Global,
                "shared" => return Space::Shared,
                "local" => return Space::Local,
                "param" => return Space::Param,
                _ => {}
            }
        }
        Space::Generic
    }
}

/// Decode an instruction and emit it.
pub fn select<'a>(cx: &mut Decoder<'a>, opcode: &'a str, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    let mut split = opcode.split('.');
    let name = split.next().unwrap_or("");
    let parts = Parts(split.collect());
    let types = parts.types();
    ins.ty = types.first().copied().unwrap_or(Ty::B32);
    ins.ty2 = types.get(1).copied().unwrap_or(ins.ty);
    modifiers(&parts, &mut ins.mods);
    match name {
        "mov" => moves(cx, ops, ins),
        "ld" | "ldu" | "st" => memory(cx, name == "st", &parts, ops, ins),
        "atom" | "red" => atomic(cx, name == "atom", &parts, ops, ins),
        "setp" => compare(cx, &parts, ops, ins),
        "selp" => selection(cx, ops, ins),
        "and" | "or" | "xor" | "not" if ins.ty == Ty::Pred => {
            ins.op = Op::Mask(match name {
                "and" => Logic::And,
                "or" => Logic::Or,
                "xor" => Logic::Xor,
                _ => Logic::Not,
            });
            ins.dst = cx.predicate(operand(ops, 0)?)?;
            for (i, op) in ops.iter().skip(1).enumerate() {
                ins.src[i.min(3)] = cx.predicate(op)?;
            }
            cx.emit(ins);
            Ok(())
        }
        "testp" => {
            ins.op = Op::Testp(match parts.0.first().copied().unwrap_or("") {
                "finite" => Property::Finite,
                "infinite" => Property::Infinite,
                "number" => Property::Number,
                "notanumber" => Property::NotANumber,
                "normal" => Property::Normal,
                "subnormal" => Property::Subnormal,
                other => return Err(format!("testp.{other}")),
            });
            ins.dst = cx.predicate(operand(ops, 0)?)?;
            ins.src[0] = cx.read(operand(ops, 1)?, ins.ty, &mut ins.wide, 0)?;
            cx.emit(ins);
            Ok(())
        }
        "cvta" => {
            let space = parts.space();
            if parts.has("to") || space == Space::Global {
                return moves(cx, ops, ins);
            }
            ins.op = Op::Scalar(Scalar::Or);
            ins.dst = cx.write(operand(ops, 0)?, &mut ins.wide)?;
            ins.src[0] = cx.read(operand(ops, 1)?, ins.ty, &mut ins.wide, 0)?;
            let window = match space {
                Space::Shared => SHARED,
                Space::Local => LOCAL,
                Space::Param => PARAM,
                _ => 0,
            };
            ins.src[1] = cx.constant(window, true);
            ins.wide |= 2;
            if ins.wide & 0x83 == 0x83 {
                ins.op = Op::Int64(Int::Or);
            }
            cx.emit(ins);
            Ok(())
        }
        "bar" | "barrier" => barrier(cx, name, &parts, ops, ins),
        "membar" | "fence" | "nanosleep" | "prefetch" | "prefetchu" | "applypriority" | "discard"
        | "griddepcontrol" => Ok(()),
        "trap" | "brkpt" => {
            ins.op = Op::Trap;
            cx.emit(ins);
            Ok(())
        }
        "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => collective(cx, name, &parts, ops, ins),
        "mma" | "ldmatrix" => matrices(cx, name, &parts, ops, ins),
        "cp" if parts.has("async") => copy_async(cx, &parts, ops, ins),
        "add" | "sub" | "addc" | "subc" if parts.has("cc") || name.ends_with('c') => {
            ins.op =
                Op::Carry { subtract: name.starts_with("sub"), reads: name.ends_with('c'), writes: parts.has("cc") };
            plain(cx, ops, ins)
        }
        _ => {
            ins.op = Op::Scalar(scalar(name, &parts, &mut ins)?);
            plain(cx, ops, ins)
        }
    }
}

fn operand<'a>(ops: &[&'a str], index: usize) -> Result<&'a str, String> {
    ops.get(index).copied().ok_or_else(|| "an operand is missing".to_string())
}

fn modifiers(parts: &Parts, mods: &mut Mods) {
    for part in &parts.0 {
        let round = match *part {
            "rn" | "rni" => Round::Near,
            "rna" => Round::Away,
            "rz" | "rzi" => Round::Zero,
            "rm" | "rmi" => Round::Down,
            "rp" | "rpi" => Round::Up,
            "sat" | "satfinite" => {
                mods.sat = true;
                continue;
            }
            "ftz" => {
                mods.ftz = true;
                continue;
            }
            "NaN" => {
                mods.nan = true;
                continue;
            }
            "relu" => {
                mods.relu = true;
                continue;
            }
            "clamp" => {
                mods.mode = 1;
                continue;
            }
            _ => continue,
        };
        mods.round = round;
        mods.integer |= part.ends_with('i');
    }
}

/// Operations that run one lane at a time, before [`faster`] finds those that have a path for whole rows.
fn scalar(name: &str, parts: &Parts, ins: &mut Ins) -> Result<Scalar, String> {
    let variant = |lo: Scalar, hi: Scalar, wide: Scalar| {
        if parts.has("hi") {
            hi
        } else if parts.has("wide") {
            wide
        } else {
            lo
        }
    };
    Ok(match name {
        "add" => Scalar::Add,
        "sub" => Scalar::Sub,
        "mul" => variant(Scalar::Mul, Scalar::MulHi, Scalar::MulWide),
        "mad" if ins.ty.float() => Scalar::Fma,
        "mad" => variant(Scalar::Mad, Scalar::MadHi, Scalar::MadWide),
        "mul24" if !parts.has("hi") => Scalar::Mul24,
        "mad24" if !parts.has("hi") => Scalar::Mad24,
        "sad" => Scalar::Sad,
        "div" => Scalar::Div,
        "rem" => Scalar::Rem,
        "neg" => Scalar::Neg,
        "abs" => Scalar::Abs,
        "min" => Scalar::Min,
        "max" => Scalar::Max,
        "and" => Scalar::And,
        "or" => Scalar::Or,
        "xor" => Scalar::Xor,
        "not" => Scalar::Not,
        "cnot" => Scalar::Cnot,
        "lop3" => Scalar::Lop3,
        "shl" => Scalar::Shl,
        "shr" => Scalar::Shr,
        "shf" if parts.has("l") => Scalar::ShfLeft,
        "shf" => Scalar::ShfRight,
        "bfe" => Scalar::Bfe,
        "bfi" => Scalar::Bfi,
        "brev" => Scalar::Brev,
        "clz" => Scalar::Clz,
        "popc" => Scalar::Popc,
        "bfind" if parts.has("shiftamt") => Scalar::BfindShift,
        "bfind" => Scalar::Bfind,
        "prmt" => {
            const MODES: [&str; 7] = ["b32", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"];
            ins.mods.mode =
                parts.0.iter().find_map(|p| MODES.iter().skip(1).position(|m| m == p)).map_or(0, |m| m as u8 + 1);
            Scalar::Prmt
        }
        "slct" => Scalar::Slct,
        "fma" => Scalar::Fma,
        "sqrt" => Scalar::Sqrt,
        "rcp" => Scalar::Rcp,
        "rsqrt" => Scalar::Rsqrt,
        "sin" => Scalar::Sin,
        "cos" => Scalar::Cos,
        "ex2" => Scalar::Ex2,
        "lg2" => Scalar::Lg2,
        "tanh" => Scalar::Tanh,
        "copysign" => Scalar::Copysign,
        "cvt" if ins.ty == Ty::F16x2 || ins.ty == Ty::BF16x2 => Scalar::CvtPack,
        "cvt" => Scalar::Cvt,
        "set" => Scalar::Set(comparison(parts)?),
        "dp4a" => Scalar::Dp4a,
        _ => return Err(format!("unknown instruction {name}")),
    })
}

/// Emit an instruction with one destination and register sources.
fn plain<'a>(cx: &mut Decoder<'a>, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    if ops.len() > 5 {
        return Err("too many operands".into());
    }
    ins.dst = cx.write(operand(ops, 0)?, &mut ins.wide)?;
    let mut sources = &ops[1..];
    if ins.op == Op::Scalar(Scalar::Lop3) {
        let table = operand(ops, 4)?;
        ins.imm = immediate(table, false).ok_or_else(|| format!("table {table}"))? as i64;
        sources = &ops[1..4];
    }
    for (i, op) in sources.iter().enumerate() {
        let ty = source_type(ins, i);
        ins.src[i] = cx.read(op, ty, &mut ins.wide, i)?;
    }
    if matches!(ins.op, Op::Scalar(Scalar::Cvt)) && cx.is_half(ops[0]) {
        ins.mods.mode = 1;
    }
    ins.op = fast::faster(&ins);
    cx.emit(ins);
    Ok(())
}

/// The type of source `index`: that of numbers in the text.
fn source_type(ins: Ins, index: usize) -> Ty {
    let op = match ins.op {
        Op::Scalar(op) => op,
        _ => return ins.ty,
    };
    match (op, index) {
        (Scalar::Cvt | Scalar::Set(_), _) => ins.ty2,
        (Scalar::CvtPack, _) => Ty::F32,
        (Scalar::MadWide, 2) => match ins.ty {
            Ty::U16 | Ty::S16 => Ty::U32,
            _ => Ty::U64,
        },
        (Scalar::Shl | Scalar::Shr, 1) | (Scalar::Bfe, 1 | 2) | (Scalar::Bfi, 2 | 3) => Ty::U32,
        (Scalar::ShfLeft | Scalar::ShfRight | Scalar::Prmt, _) => Ty::B32,
        (Scalar::Slct, 2) => ins.ty2,
        _ => ins.ty,
    }
}

fn moves<'a>(cx: &mut Decoder<'a>, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    let (to, from) = (operand(ops, 0)?, operand(ops, 1)?);
    if ins.ty == Ty::Pred {
        ins.op = Op::Mask(Logic::Mov);
        ins.dst = cx.predicate(to)?;
        match immediate(from, false) {
            Some(value) => ins.imm = 1 + i64::from(value & 1 != 0),
            None => ins.src[0] = cx.predicate(from)?,
        }
        cx.emit(ins);
        return Ok(());
    }
    if to.starts_with('{') || from.starts_with('{') {
        let unpack = to.starts_with('{');
        let names = list(if unpack { to } else { from });
        let part = match ins.ty.size() / names.len().max(1) {
            8 => Ty::B64,
            4 => Ty::B32,
            2 => Ty::B16,
            1 => Ty::B8,
            _ => return Err("a vector that does not fill the register".into()),
        };
        ins.ty2 = part;
        ins.imm = cx.kernel.lists.len() as i64;
        let mut rows = Vec::new();
        let mut wide = 0;
        for name in &names {
            rows.push(if *name == "_" {
                NONE
            } else if unpack {
                cx.write(name, &mut wide)?
            } else {
                cx.read(name, part, &mut wide, 0)?
            });
        }
        if wide != 0 && part.size() < 8 {
            return Err("a vector of 64-bit registers".into());
        }
        cx.kernel.lists.extend(rows);
        if unpack {
            ins.op = Op::Unpack(names.len() as u8);
            ins.src[0] = cx.read(from, ins.ty, &mut ins.wide, 0)?;
        } else {
            ins.op = Op::Pack(names.len() as u8);
            ins.dst = cx.write(to, &mut ins.wide)?;
        }
        cx.emit(ins);
        return Ok(());
    }
    ins.dst = cx.write(to, &mut ins.wide)?;
    ins.src[0] = cx.read(from, ins.ty, &mut ins.wide, 0)?;
    ins.op = match (ins.wide & 0x80 != 0, ins.wide & 1 != 0) {
        (false, false) => Op::Mov32,
        (true, true) => Op::Mov64,
        (false, true) => Op::Widen(Wide::Low),
        (true, false) => Op::Widen(Wide::Zero),
    };
    cx.emit(ins);
    Ok(())
}

/// Names in braces.
fn list(text: &str) -> Vec<&str> {
    text.trim_matches(['{', '}']).split(',').map(str::trim).filter(|n| !n.is_empty()).collect()
}

/// An address in brackets: its base as source 0 and its offset.
fn address<'a>(cx: &mut Decoder<'a>, text: &'a str, ins: &mut Ins) -> Result<(), String> {
    let inner = text.trim_start_matches('[').trim_end_matches(']').trim();
    let (base, offset) = match inner.find('+') {
        Some(at) => (inner[..at].trim(), inner[at + 1..].trim()),
        None => (inner, "0"),
    };
    ins.imm = immediate(offset, true).ok_or_else(|| format!("offset {offset}"))? as i64;
    ins.src[0] = cx.read(base, Ty::U64, &mut ins.wide, 0)?;
    Ok(())
}

fn memory<'a>(cx: &mut Decoder<'a>, store: bool, parts: &Parts, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    let space = parts.space();
    let (place, value) =
        if store { (operand(ops, 0)?, operand(ops, 1)?) } else { (operand(ops, 1)?, operand(ops, 0)?) };
    let values = if value.starts_with('{') { list(value) } else { vec![value] };
    if space == Space::Param {
        let inner = place.trim_start_matches('[').trim_end_matches(']').trim();
        let (base, offset) = inner.split_once('+').unwrap_or((inner, "0"));
        if let Some(Bound::Slot(kind, row)) = cx.lookup(base.trim()) {
            if values.len() != 1 || immediate(offset.trim(), true) != Some(0) {
                return Err("part of a parameter".into());
            }
            let slot = if kind == Kind::Wide { 1 } else { 0 };
            ins.op = Op::Scalar(Scalar::Mov);
            if store {
                ins.dst = row;
                ins.wide |= slot << 7;
                ins.src[0] = cx.read(value, ins.ty, &mut ins.wide, 0)?;
            } else {
                ins.dst = cx.write(value, &mut ins.wide)?;
                ins.src[0] = row;
                ins.wide |= slot;
            }
            ins.op = fast::faster(&ins);
            cx.emit(ins);
            return Ok(());
        }
    }
    address(cx, place, &mut ins)?;
    if space == Space::Shared || (space == Space::Generic && cx.kernel.shared > 0) {
        cx.kernel.grain = cx.kernel.grain.min(ins.ty.size());
    }
    let mut rows = Vec::new();
    for name in &values {
        rows.push(if store {
            cx.read(name, ins.ty, &mut ins.wide, 1)?
        } else if *name == "_" {
            NONE
        } else {
            ins.mods.mode = u8::from(cx.is_half(name));
            cx.write(name, &mut ins.wide)?
        });
    }
    let constant = cx.kernel.constants.iter().find(|(row, _, _)| *row == ins.src[0]).map(|(_, bits, _)| *bits);
    if !store
        && values.len() == 1
        && space == Space::Param
        && let Some(offset) = constant.and_then(|base| base.checked_sub(PARAM)).filter(|o| *o < 1 << 32)
    {
        ins.op = Op::LoadParam;
        ins.imm += offset as i64;
        ins.dst = rows[0];
        if ins.imm < 0 || ins.imm as usize + ins.ty.size() > cx.kernel.param_bytes {
            return Err("a read behind the parameters".into());
        }
        cx.emit(ins);
        return Ok(());
    }
    let count = values.len() as u8;
    if !matches!(count, 1 | 2 | 4 | 8) {
        return Err(format!("a vector of {count}"));
    }
    if count == 1 {
        if store {
            ins.src[1] = rows[0];
        } else {
            ins.dst = rows[0];
        }
    } else {
        ins.src[1] = cx.kernel.lists.len() as u32;
        cx.kernel.lists.extend(rows);
    }
    ins.op = if store { Op::Store(space, count) } else { Op::Load(space, count) };
    cx.emit(ins);
    Ok(())
}

fn atomic<'a>(cx: &mut Decoder<'a>, returns: bool, parts: &Parts, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    let operation = parts.0.iter().find_map(|p| {
        Some(match *p {
            "add" => Atomic::Add,
            "cas" => Atomic::Cas,
            "exch" => Atomic::Exch,
            "min" => Atomic::Min,
            "max" => Atomic::Max,
            "and" => Atomic::And,
            "or" => Atomic::Or,
            "xor" => Atomic::Xor,
            "inc" => Atomic::Inc,
            "dec" => Atomic::Dec,
            _ => return None,
        })
    });
    let space = parts.space();
    ins.op = Op::Atomic(operation.ok_or("unknown atomic operation")?, space);
    let first = usize::from(returns);
    if returns {
        ins.dst = cx.write(operand(ops, 0)?, &mut ins.wide)?;
    }
    address(cx, operand(ops, first)?, &mut ins)?;
    for (i, op) in ops.iter().skip(first + 1).take(2).enumerate() {
        ins.src[i + 1] = cx.read(op, ins.ty, &mut ins.wide, i + 1)?;
    }
    if space != Space::Global {
        cx.kernel.grain = cx.kernel.grain.min(ins.ty.size());
    }
    cx.kernel.atomics |= space != Space::Shared;
    cx.emit(ins);
    Ok(())
}

fn comparison(parts: &Parts) -> Result<Cmp, String> {
    parts
        .0
        .iter()
        .find_map(|p| {
            Some(match *p {
                "eq" => Cmp::Eq,
                "ne" => Cmp::Ne,
                "lt" | "lo" => Cmp::Lt,
                "le" | "ls" => Cmp::Le,
                "gt" | "hi" => Cmp::Gt,
                "ge" | "hs" => Cmp::Ge,
                "equ" => Cmp::EqU,
                "neu" => Cmp::NeU,
                "ltu" => Cmp::LtU,
                "leu" => Cmp::LeU,
                "gtu" => Cmp::GtU,
                "geu" => Cmp::GeU,
                "nan" => Cmp::Nan,
                "num" => Cmp::Num,
                _ => return None,
            })
        })
        .ok_or_else(|| "unknown comparison".to_string())
}

fn compare<'a>(cx: &mut Decoder<'a>, parts: &Parts, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    let cmp = comparison(parts)?;
    let mut names = operand(ops, 0)?.split('|').map(str::trim);
    ins.dst = cx.predicate(names.next().unwrap_or("_"))?;
    if let Some(second) = names.next() {
        ins.dst2 = cx.predicate(second)?;
    }
    for i in 0..2 {
        ins.src[i] = cx.read(operand(ops, i + 1)?, ins.ty, &mut ins.wide, i)?;
    }
    if let Some(third) = ops.get(3) {
        ins.imm = match () {
            () if parts.has("and") => 1,
            () if parts.has("or") => 2,
            () if parts.has("xor") => 3,
            () => return Err("a third operand without an operation".into()),
        };
        if third.starts_with('!') {
            ins.imm += 4;
        }
        ins.src[2] = cx.predicate(third.trim_start_matches('!'))?;
    }
    if ins.mods.ftz {
        return Err("setp.ftz".into());
    }
    ins.op = match ins.ty {
        Ty::F32 => Op::SetF32(cmp),
        Ty::F64 => Op::SetF64(cmp),
        Ty::S32 => Op::Set32S(cmp),
        Ty::S64 => Op::Set64S(cmp),
        Ty::B32 | Ty::U32 => Op::Set32(cmp),
        Ty::B64 | Ty::U64 => Op::Set64(cmp),
        // Registers of 16 bits have zeros above.
        Ty::B16 | Ty::U16 if ins.wide == 0 => Op::Set32(cmp),
        Ty::B16 | Ty::U16 | Ty::S16 | Ty::F16 | Ty::BF16 => Op::Set16(cmp),
        _ => return Err("type of setp".into()),
    };
    cx.emit(ins);
    Ok(())
}

fn selection<'a>(cx: &mut Decoder<'a>, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    ins.dst = cx.write(operand(ops, 0)?, &mut ins.wide)?;
    for i in 0..2 {
        ins.src[i] = cx.read(operand(ops, i + 1)?, ins.ty, &mut ins.wide, i)?;
    }
    ins.src[2] = cx.predicate(operand(ops, 3)?)?;
    ins.op = match ins.wide & 0x83 {
        0 => Op::Select32,
        0x83 => Op::Select64,
        _ => return Err("registers of two sizes".into()),
    };
    cx.emit(ins);
    Ok(())
}

fn barrier<'a>(cx: &mut Decoder<'a>, name: &str, parts: &Parts, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    if parts.has("cluster") {
        return Err("a barrier of clusters".into());
    }
    if parts.has("warp") {
        ins.op = Op::WarpBarrier;
        ins.src[0] = cx.read(operand(ops, 0)?, Ty::B32, &mut ins.wide, 0)?;
        cx.emit(ins);
        return Ok(());
    }
    let aligned = name == "bar" || parts.has("aligned");
    let mut ops = ops;
    if parts.has("red") {
        ins.op = Op::BarrierReduce(match () {
            () if parts.has("and") => Logic::And,
            () if parts.has("or") => Logic::Or,
            () => Logic::Mov,
        });
        let (source, rest) = ops.split_last().ok_or("an operand is missing")?;
        let target = *rest.first().ok_or("an operand is missing")?;
        ins.imm = i64::from(source.starts_with('!'));
        ins.src[2] = cx.predicate(source.trim_start_matches('!'))?;
        ins.dst = if parts.has("popc") { cx.write(target, &mut ins.wide)? } else { cx.predicate(target)? };
        ops = &rest[1..];
    } else {
        ins.op = Op::Barrier { aligned, wait: !parts.has("arrive") };
    }
    for (i, op) in ops.iter().take(2).enumerate() {
        ins.src[i] = cx.read(op, Ty::U32, &mut ins.wide, i)?;
    }
    cx.emit(ins);
    Ok(())
}

fn collective<'a>(
    cx: &mut Decoder<'a>,
    name: &str,
    parts: &Parts,
    ops: &[&'a str],
    mut ins: Ins,
) -> Result<(), String> {
    let mut names = operand(ops, 0)?.split('|').map(str::trim);
    let first = names.next().unwrap_or("_");
    let second = names.next();
    match name {
        "shfl" => {
            ins.op = Op::Shuffle(match parts.0.get(1).copied().unwrap_or("") {
                "up" => Shuffle::Up,
                "down" => Shuffle::Down,
                "bfly" => Shuffle::Bfly,
                "idx" => Shuffle::Idx,
                other => return Err(format!("shfl.{other}")),
            });
            if !parts.has("sync") {
                return Err("shfl without .sync".into());
            }
            ins.dst = cx.write(first, &mut ins.wide)?;
            if let Some(second) = second {
                ins.dst2 = cx.predicate(second)?;
            }
            for i in 0..4 {
                ins.src[i] = cx.read(operand(ops, i + 1)?, Ty::B32, &mut ins.wide, i)?;
            }
        }
        "activemask" => {
            ins.op = Op::Vote(Vote::Active);
            ins.dst = cx.write(first, &mut ins.wide)?;
        }
        "vote" => {
            let vote = match parts.0.get(1).copied().unwrap_or("") {
                "all" => Vote::All,
                "any" => Vote::Any,
                "uni" => Vote::Uni,
                "ballot" => Vote::Ballot,
                other => return Err(format!("vote.{other}")),
            };
            ins.op = Op::Vote(vote);
            ins.dst = if vote == Vote::Ballot { cx.write(first, &mut ins.wide)? } else { cx.predicate(first)? };
            let source = operand(ops, 1)?;
            ins.imm = i64::from(source.starts_with('!'));
            let source = source.trim_start_matches('!');
            match immediate(source, false) {
                Some(value) => ins.imm ^= if value != 0 { 2 } else { 4 },
                None => ins.src[0] = cx.predicate(source)?,
            }
            ins.src[1] = cx.read(operand(ops, 2)?, Ty::B32, &mut ins.wide, 1)?;
        }
        "match" => {
            ins.op = Op::Match(parts.has("all"));
            ins.dst = cx.write(first, &mut ins.wide)?;
            if let Some(second) = second {
                ins.dst2 = cx.predicate(second)?;
            }
            ins.src[0] = cx.read(operand(ops, 1)?, ins.ty, &mut ins.wide, 0)?;
            ins.src[1] = cx.read(operand(ops, 2)?, Ty::B32, &mut ins.wide, 1)?;
        }
        "redux" => {
            ins.op = Op::Redux(match parts.0.get(1).copied().unwrap_or("") {
                "add" => Atomic::Add,
                "min" => Atomic::Min,
                "max" => Atomic::Max,
                "and" => Atomic::And,
                "or" => Atomic::Or,
                "xor" => Atomic::Xor,
                other => return Err(format!("redux.{other}")),
            });
            ins.dst = cx.write(first, &mut ins.wide)?;
            ins.src[0] = cx.read(operand(ops, 1)?, ins.ty, &mut ins.wide, 0)?;
            ins.src[1] = cx.read(operand(ops, 2)?, Ty::B32, &mut ins.wide, 1)?;
        }
        _ => return Err(format!("unknown instruction {name}")),
    }
    cx.emit(ins);
    Ok(())
}

fn matrices<'a>(cx: &mut Decoder<'a>, name: &str, parts: &Parts, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    let start = cx.kernel.lists.len();
    if name == "ldmatrix" {
        let rows = list(operand(ops, 0)?);
        let count = rows.len() as u8;
        if !parts.has("m8n8") || !parts.has("b16") || parts.space() != Space::Shared || !matches!(count, 1 | 2 | 4) {
            return Err("kind of ldmatrix".into());
        }
        let mut written = Vec::new();
        for row in rows {
            written.push(cx.write(row, &mut ins.wide)?);
        }
        cx.kernel.lists.extend(written);
        ins.src[1] = start as u32;
        address(cx, operand(ops, 1)?, &mut ins)?;
        ins.op = Op::LoadMatrix(count, parts.has("trans"));
        cx.kernel.grain = cx.kernel.grain.min(4);
        cx.emit(ins);
        return Ok(());
    }
    let types = parts.types();
    let shape = parts.0.iter().find(|p| p.starts_with('m') && p.contains('k')).copied().unwrap_or("");
    let inner = match (shape, types.as_slice()) {
        ("m16n8k16", [Ty::F32, Ty::BF16 | Ty::F16, _, Ty::F32]) => 16,
        ("m16n8k8", [Ty::F32, Ty::BF16 | Ty::F16 | Ty::TF32, _, Ty::F32]) => 8,
        ("m16n8k4", [Ty::F32, Ty::TF32, _, Ty::F32]) => 4,
        _ => return Err(format!("mma of shape {shape}")),
    };
    if !parts.has("row") || !parts.has("col") || types[1] != types[2] {
        return Err("layout of mma".into());
    }
    ins.ty = types[1];
    ins.op = Op::Mma(inner);
    // 32-bit registers of the operands d, a, b, c.
    let packed = if ins.ty == Ty::TF32 { 1 } else { 2 };
    let counts = [4, 16 * inner as usize / 32 / packed, 8 * inner as usize / 32 / packed, 4];
    let mut rows = Vec::new();
    let mut wide = 0;
    for (i, count) in counts.iter().enumerate() {
        let names = list(operand(ops, i)?);
        if names.len() != *count {
            return Err(format!("operand {i} of mma has {} registers, not {count}", names.len()));
        }
        for name in names {
            rows.push(if i == 0 { cx.write(name, &mut wide)? } else { cx.read(name, Ty::B32, &mut wide, 0)? });
        }
    }
    ins.imm = start as i64;
    cx.kernel.lists.extend(rows);
    cx.emit(ins);
    Ok(())
}

fn copy_async<'a>(cx: &mut Decoder<'a>, parts: &Parts, ops: &[&'a str], mut ins: Ins) -> Result<(), String> {
    if parts.has("commit_group") || parts.has("wait_group") || parts.has("wait_all") {
        // Copies are complete when they were issued: the earliest time that is legal.
        return Ok(());
    }
    if parts.has("bulk") || parts.has("mbarrier") {
        return Err("kind of cp.async".into());
    }
    ins.op = Op::CopyAsync;
    address(cx, operand(ops, 1)?, &mut ins)?;
    let (from, offset, wide) = (ins.src[0], ins.imm, ins.wide & 1);
    ins.wide = 0;
    address(cx, operand(ops, 0)?, &mut ins)?;
    ins.src[1] = from;
    ins.wide |= wide << 1;
    let bytes = operand(ops, 2)?;
    let bytes = immediate(bytes, false).filter(|n| matches!(n, 4 | 8 | 16)).ok_or_else(|| format!("size {bytes}"))?;
    if let Some(size) = ops.get(3) {
        ins.src[2] = cx.read(size, Ty::U32, &mut ins.wide, 2)?;
    }
    // Offsets of both addresses and the number of bytes.
    ins.src[3] = cx.kernel.lists.len() as u32;
    cx.kernel.lists.extend([ins.imm as u32, offset as u32, bytes as u32]);
    cx.kernel.grain = cx.kernel.grain.min(4);
    cx.emit(ins);
    Ok(())
}
