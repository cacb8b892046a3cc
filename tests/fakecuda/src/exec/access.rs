//! Loads, stores and atomic operations of a warp.

use super::memory::Memory;
use super::registers::{FULL, Registers};
use super::vector::{store32, store64};
use super::{Fault, Kind, exact};
use crate::ptx::{Atomic, Ins, Kernel, LOCAL, NONE, PARAM, Round, SHARED, Space, Ty};

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32usize).filter(move |l| mask >> l & 1 != 0)
}

/// The addresses of the lanes.
#[inline]
fn addresses(regs: Registers, ins: &Ins, space: Space) -> [u64; 32] {
    let mut at = [0u64; 32];
    if ins.wide & 1 != 0 {
        let base = regs.wide(ins.src[0]);
        for (i, a) in at.iter_mut().enumerate() {
            // SAFETY: a row has 32 lanes.
            *a = unsafe { *base.add(i) }.wrapping_add(ins.imm as u64);
        }
    } else {
        let base = regs.narrow(ins.src[0]);
        for (i, a) in at.iter_mut().enumerate() {
            // SAFETY: a row has 32 lanes.
            *a = u64::from(unsafe { *base.add(i) }).wrapping_add(ins.imm as u64);
        }
    }
    if matches!(space, Space::Shared | Space::Local | Space::Param) {
        at = at.map(|a| Memory::generic(space, a));
    }
    at
}

fn aligned(at: u64, size: usize, lane: usize) -> Result<(), Fault> {
    if at & (size as u64 - 1) != 0 {
        let text = format!("an access of {size} bytes at the misaligned address {at:#x}");
        return Err(Fault::new(Kind::Misaligned, lane, text));
    }
    Ok(())
}

/// Whether a space was meant that the address is not in.
fn check_space(space: Space, at: u64, lane: usize) -> Result<(), Fault> {
    if space == Space::Global && at >= PARAM {
        return Err(Fault::new(Kind::Address, lane, format!("an access to global memory at {at:#x}, which is none")));
    }
    Ok(())
}

/// Offsets from the data of the last extent, if all lanes are in it, aligned.
#[inline]
fn offsets(memory: &mut Memory, at: &[u64; 32], size: usize, mask: u32) -> Option<[u64; 32]> {
    let first = at[mask.trailing_zeros() as usize];
    if first >= PARAM || !memory.locate(first, size as u64) || memory.last.written.is_null() {
        return None;
    }
    let (start, length) = (memory.last.start, memory.last.end - memory.last.start);
    let limit = length - size as u64;
    let align = size as u64 - 1;
    let mut offsets = [0u64; 32];
    let mut bad = 0u64;
    for (i, out) in offsets.iter_mut().enumerate() {
        // Lanes that do not take part have the address of the first one.
        let a = if mask & 1 << i != 0 { at[i] } else { first };
        let offset = a.wrapping_sub(start);
        bad |= u64::from(offset > limit) | (a & align);
        *out = offset;
    }
    (bad == 0).then_some(offsets)
}

/// `ld`.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub fn load(
    regs: Registers,
    memory: &mut Memory,
    kernel: &Kernel,
    ins: &Ins,
    space: Space,
    count: u8,
    mask: u32,
    warp: usize,
) -> Result<(), Fault> {
    let at = addresses(regs, ins, space);
    let size = ins.ty.size();
    let total = size * count as usize;
    let one = [ins.dst];
    let rows = if count == 1 { &one[..] } else { &kernel.lists[ins.src[1] as usize..][..count as usize] };
    if matches!(space, Space::Global | Space::Generic)
        && !ins.ty.signed()
        && let Some(offsets) = offsets(memory, &at, total, mask)
        && load_rows(regs, memory, ins, rows, &offsets, mask)
    {
        return Ok(());
    }
    let wide = ins.wide & 0x80 != 0;
    let words = space == Space::Shared && size == 4 && !wide;
    for lane in lanes(mask) {
        let a = at[lane];
        check_space(space, a, lane)?;
        aligned(a, total, lane)?;
        for (i, row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
            if words && let Some(word) = memory.shared.read_word(a - SHARED + (i * 4) as u64, warp * 32 + lane) {
                regs.set(*row, false, lane, u64::from(word));
                continue;
            }
            let bits = memory.read(a + (i * size) as u64, size, warp * 32 + lane, lane)?;
            let mut value = ins.ty.extend(bits);
            if ins.mods.mode == 1 {
                value &= 0xffff;
            }
            regs.set(*row, wide, lane, value);
        }
    }
    Ok(())
}

/// Load from the last extent. Returns false, with nothing changed in memory, if a byte is unwritten.
#[inline]
fn load_rows(regs: Registers, memory: &Memory, ins: &Ins, rows: &[u32], offsets: &[u64; 32], mask: u32) -> bool {
    let size = ins.ty.size();
    let wide = ins.wide & 0x80 != 0;
    let (data, written) = (memory.last.data, memory.last.written);
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
        let skip = i * size;
        macro_rules! gather {
            ($t:ty, $all:expr) => {{
                let mut values = [0 as $t; 32];
                let mut flags = $all;
                for (value, offset) in values.iter_mut().zip(offsets) {
                    let at = *offset as usize + skip;
                    // SAFETY: `offsets` checked that the access is within the extent and its flags.
                    unsafe {
                        *value = data.add(at).cast::<$t>().read_unaligned();
                        flags &= written.add(at).cast::<$t>().read_unaligned();
                    }
                }
                if flags != $all {
                    return false;
                }
                values
            }};
        }
        match size {
            1 => put(regs, *row, wide, &gather!(u8, 1u8).map(u64::from), mask),
            2 => put(regs, *row, wide, &gather!(u16, 0x0101u16).map(u64::from), mask),
            4 if !wide => store32(regs.narrow(*row), &gather!(u32, 0x0101_0101u32), mask),
            4 => put(regs, *row, wide, &gather!(u32, 0x0101_0101u32).map(u64::from), mask),
            _ => put(regs, *row, wide, &gather!(u64, 0x0101_0101_0101_0101u64), mask),
        }
    }
    true
}

#[inline]
fn put(regs: Registers, row: u32, wide: bool, values: &[u64; 32], mask: u32) {
    if wide {
        store64(regs.wide(row), values, mask);
    } else {
        store32(regs.narrow(row), &values.map(|v| v as u32), mask);
    }
}

/// `st`.
#[inline(never)]
#[allow(clippy::too_many_arguments)]
pub fn store(
    regs: Registers,
    memory: &mut Memory,
    kernel: &Kernel,
    ins: &Ins,
    space: Space,
    count: u8,
    mask: u32,
    warp: usize,
) -> Result<(), Fault> {
    let at = addresses(regs, ins, space);
    let size = ins.ty.size();
    let total = size * count as usize;
    let one = [ins.src[1]];
    let rows = if count == 1 { &one[..] } else { &kernel.lists[ins.src[1] as usize..][..count as usize] };
    let wide = ins.wide & 2 != 0;
    if matches!(space, Space::Global | Space::Generic)
        && let Some(offsets) = offsets(memory, &at, total, mask)
    {
        let (data, written) = (memory.last.data, memory.last.written);
        for lane in lanes(mask) {
            for (i, row) in rows.iter().enumerate() {
                let value = regs.get(*row, wide, lane);
                let at = offsets[lane] as usize + i * size;
                // SAFETY: `offsets` checked that the access is within the extent and its flags.
                unsafe {
                    let (to, flag) = (data.add(at), written.add(at));
                    match size {
                        1 => {
                            *to = value as u8;
                            *flag = 1;
                        }
                        2 => {
                            to.cast::<u16>().write_unaligned(value as u16);
                            flag.cast::<u16>().write_unaligned(0x0101);
                        }
                        4 => {
                            to.cast::<u32>().write_unaligned(value as u32);
                            flag.cast::<u32>().write_unaligned(0x0101_0101);
                        }
                        _ => {
                            to.cast::<u64>().write_unaligned(value);
                            flag.cast::<u64>().write_unaligned(0x0101_0101_0101_0101);
                        }
                    }
                }
            }
        }
        return Ok(());
    }
    let words = space == Space::Shared && size == 4 && !wide;
    for lane in lanes(mask) {
        let a = at[lane];
        check_space(space, a, lane)?;
        aligned(a, total, lane)?;
        for (i, row) in rows.iter().enumerate() {
            if words {
                let value = regs.get(*row, false, lane) as u32;
                if memory.shared.write_word(a - SHARED + (i * 4) as u64, value, warp * 32 + lane) {
                    continue;
                }
            }
            memory.write(a + (i * size) as u64, size, regs.get(*row, wide, lane), warp * 32 + lane, lane)?;
        }
    }
    Ok(())
}

/// `ld.param` of a kernel's parameter: the same for all lanes.
#[inline]
pub fn load_param(regs: Registers, memory: &mut Memory, ins: &Ins, mask: u32) -> Result<(), Fault> {
    let bits = memory.read(PARAM + ins.imm as u64, ins.ty.size(), 0, mask.trailing_zeros() as usize)?;
    let mut value = ins.ty.extend(bits);
    if ins.mods.mode == 1 {
        value &= 0xffff;
    }
    if ins.wide & 0x80 != 0 {
        store64(regs.wide(ins.dst), &[value; 32], mask);
    } else {
        store32(regs.narrow(ins.dst), &[value as u32; 32], mask);
    }
    Ok(())
}

/// `atom` and `red`: one lane after the other.
pub fn atomic(
    regs: Registers,
    memory: &mut Memory,
    ins: &Ins,
    op: Atomic,
    space: Space,
    mask: u32,
    warp: usize,
) -> Result<(), Fault> {
    let at = addresses(regs, ins, space);
    let size = ins.ty.size();
    for lane in lanes(mask) {
        let a = at[lane];
        check_space(space, a, lane)?;
        aligned(a, size, lane)?;
        let operand =
            |i: usize| if ins.src[i] == NONE { 0 } else { regs.get(ins.src[i], ins.wide >> i & 1 != 0, lane) };
        let (b, c) = (operand(1), operand(2));
        let change = |old: u64| combine(op, ins.ty, old, b, c);
        let old = if a >= SHARED {
            memory.shared.atomic(a - SHARED, size, change).map_err(|(k, t)| Fault::new(k, lane, t))?
        } else if a >= LOCAL {
            return Err(Fault::new(Kind::Address, lane, "an atomic access to local memory".into()));
        } else {
            let old = memory.read(a, size, warp * 32 + lane, lane)?;
            memory.write(a, size, change(old), warp * 32 + lane, lane)?;
            old
        };
        if ins.dst != NONE {
            regs.set(ins.dst, ins.wide & 0x80 != 0, lane, old);
        }
    }
    Ok(())
}

/// The value that an atomic operation writes.
pub fn combine(op: Atomic, ty: Ty, old: u64, b: u64, c: u64) -> u64 {
    let mask = ty.mask();
    let (b, c) = (b & mask, c & mask);
    let (x, y) = (ty.extend(old), ty.extend(b));
    let less = if ty.signed() { (x as i64) < y as i64 } else { x < y };
    match op {
        Atomic::Add => match ty {
            Ty::F16x2 | Ty::BF16x2 => {
                let part = if ty == Ty::F16x2 { Ty::F16 } else { Ty::BF16 };
                let sum = |shift: u32| sum(part, old >> shift & 0xffff, b >> shift & 0xffff) << shift;
                sum(16) | sum(0)
            }
            _ if ty.float() => sum(ty, old, b),
            _ => old.wrapping_add(b) & mask,
        },
        Atomic::Cas => {
            if old == b {
                c
            } else {
                old
            }
        }
        Atomic::Exch => b,
        Atomic::Min => {
            if less {
                old
            } else {
                b
            }
        }
        Atomic::Max => {
            if less {
                b
            } else {
                old
            }
        }
        Atomic::And => old & b,
        Atomic::Or => old | b,
        Atomic::Xor => old ^ b,
        Atomic::Inc => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
    }
}

fn sum(ty: Ty, a: u64, b: u64) -> u64 {
    exact::pack(exact::add(exact::unpack(a, ty), exact::unpack(b, ty), Round::Near), ty, Round::Near)
}

/// `cp.async`: copies at once, which is the earliest time that is legal.
pub fn copy_async(
    regs: Registers,
    memory: &mut Memory,
    kernel: &Kernel,
    ins: &Ins,
    mask: u32,
    warp: usize,
) -> Result<(), Fault> {
    let list = &kernel.lists[ins.src[3] as usize..][..3];
    let (to_offset, from_offset, bytes) = (list[0] as i32 as i64, list[1] as i32 as i64, list[2] as usize);
    for lane in lanes(mask) {
        let to = regs.get(ins.src[0], ins.wide & 1 != 0, lane).wrapping_add(to_offset as u64);
        let to = Memory::generic(Space::Shared, to);
        let from = regs.get(ins.src[1], ins.wide & 2 != 0, lane).wrapping_add(from_offset as u64);
        let size =
            if ins.src[2] == NONE { bytes } else { regs.get(ins.src[2], ins.wide & 4 != 0, lane) as u32 as usize };
        check_space(Space::Global, from, lane)?;
        aligned(to, bytes, lane)?;
        aligned(from, bytes, lane)?;
        for at in (0..bytes).step_by(4) {
            let mut value = 0;
            for i in (0..4).filter(|i| at + i < size) {
                value |= memory.read(from + (at + i) as u64, 1, warp * 32 + lane, lane)? << (8 * i);
            }
            memory.write(to + at as u64, 4, value, warp * 32 + lane, lane)?;
        }
    }
    Ok(())
}

/// Whether all lanes take part.
pub fn whole(mask: u32, what: &str) -> Result<(), Fault> {
    if mask != FULL {
        let lane = (!mask).trailing_zeros() as usize;
        return Err(Fault::new(Kind::Launch, lane, format!("{what} by part of a warp: lanes {mask:#010x}")));
    }
    Ok(())
}
