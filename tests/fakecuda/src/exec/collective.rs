//! Instructions that the lanes of a warp run together.

use super::access::{combine, whole};
use super::memory::Memory;
use super::registers::Registers;
use super::warp::Warp;
use super::{Fault, Kind, exact};
use crate::ptx::{Atomic, Ins, Kernel, NONE, Shuffle, Space, Ty, Vote};

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32usize).filter(move |l| mask >> l & 1 != 0)
}

/// All lanes that the member mask names must be here.
fn members(warp: &Warp, ins: &Ins, index: usize, mask: u32, what: &str) -> Result<(), Fault> {
    for lane in lanes(mask) {
        let members = warp.regs.get(ins.src[index], ins.wide >> index & 1 != 0, lane) as u32;
        if members >> lane & 1 == 0 {
            return Err(Fault::new(
                Kind::Launch,
                lane,
                format!("{what}: lane {lane} is not in its mask {members:#010x}"),
            ));
        }
        // Groups wait for lanes that are elsewhere; groups with different masks may be here at once.
        if members & warp.live & !mask != 0 {
            let missing = (members & warp.live & !mask).trailing_zeros();
            let text = format!("{what} of lanes {members:#010x}: lane {missing} is not at it");
            return Err(Fault::new(Kind::Launch, lane, text));
        }
    }
    Ok(())
}

/// `shfl.sync`.
pub fn shuffle(warp: &mut Warp, ins: &Ins, mode: Shuffle, mask: u32) -> Result<(), Fault> {
    members(warp, ins, 3, mask, "shfl.sync")?;
    let regs = warp.regs;
    let mut values = [0u64; 32];
    let mut inside = 0u32;
    for lane in lanes(mask) {
        let get = |i: usize| regs.get(ins.src[i], ins.wide >> i & 1 != 0, lane) as u32;
        let (b, c) = (get(1) as i32 & 31, get(2) as i32);
        let (clamp, segment) = (c & 31, c >> 8 & 31);
        let own = lane as i32;
        let low = own & segment;
        let high = low | clamp & !segment;
        let (from, valid) = match mode {
            // For `up` the third operand has zeros, so that `high` is the first lane of the segment.
            Shuffle::Up => (own - b, own - b >= high),
            Shuffle::Down => (own + b, own + b <= high),
            Shuffle::Bfly => (own ^ b, own ^ b <= high),
            Shuffle::Idx => (low | b & !segment, low | b & !segment <= high),
        };
        let from = if valid { from as usize } else { lane };
        if mask >> from & 1 == 0 {
            return Err(Fault::new(Kind::Launch, lane, format!("shfl.sync reads lane {from}, which is not at it")));
        }
        values[lane] = regs.get(ins.src[0], ins.wide & 1 != 0, from);
        inside |= u32::from(valid) << lane;
    }
    for lane in lanes(mask) {
        regs.set(ins.dst, ins.wide & 0x80 != 0, lane, values[lane]);
    }
    if ins.dst2 != NONE {
        warp.set_predicate(ins.dst2, mask, inside);
    }
    Ok(())
}

/// `vote.sync` and `activemask`.
pub fn vote(warp: &mut Warp, ins: &Ins, vote: Vote, mask: u32) -> Result<(), Fault> {
    let regs = warp.regs;
    if vote == Vote::Active {
        for lane in lanes(mask) {
            regs.set(ins.dst, ins.wide & 0x80 != 0, lane, u64::from(mask));
        }
        return Ok(());
    }
    members(warp, ins, 1, mask, "vote.sync")?;
    let mut votes = match ins.imm & 6 {
        2 => mask,
        4 => 0,
        _ => warp.predicates[ins.src[0] as usize],
    };
    if ins.imm & 1 != 0 {
        votes = !votes;
    }
    // Groups with different masks vote on their own.
    for lane in lanes(mask) {
        let group = regs.get(ins.src[1], ins.wide & 2 != 0, lane) as u32;
        let ayes = votes & group;
        let result = match vote {
            Vote::All => ayes == group,
            Vote::Any => ayes != 0,
            Vote::Uni => ayes == group || ayes == 0,
            _ => {
                regs.set(ins.dst, ins.wide & 0x80 != 0, lane, u64::from(ayes));
                continue;
            }
        };
        warp.set_predicate(ins.dst, 1 << lane, if result { u32::MAX } else { 0 });
    }
    Ok(())
}

/// `match.any.sync` and `match.all.sync`.
pub fn matches(warp: &mut Warp, ins: &Ins, all: bool, mask: u32) -> Result<(), Fault> {
    members(warp, ins, 1, mask, "match.sync")?;
    let regs = warp.regs;
    let value = |lane: usize| regs.get(ins.src[0], ins.wide & 1 != 0, lane) & ins.ty.mask();
    let mut results = [0u32; 32];
    for lane in lanes(mask) {
        let group = regs.get(ins.src[1], ins.wide & 2 != 0, lane) as u32;
        let same = lanes(group).filter(|l| value(*l) == value(lane)).fold(0u32, |sum, l| sum | 1 << l);
        results[lane] = if all && same != group { 0 } else { same };
    }
    for lane in lanes(mask) {
        regs.set(ins.dst, ins.wide & 0x80 != 0, lane, u64::from(results[lane]));
        if ins.dst2 != NONE {
            warp.set_predicate(ins.dst2, 1 << lane, if results[lane] != 0 { u32::MAX } else { 0 });
        }
    }
    Ok(())
}

/// `redux.sync`.
pub fn redux(warp: &mut Warp, ins: &Ins, op: Atomic, mask: u32) -> Result<(), Fault> {
    members(warp, ins, 1, mask, "redux.sync")?;
    let regs = warp.regs;
    let mut results = [0u64; 32];
    for lane in lanes(mask) {
        let group = regs.get(ins.src[1], ins.wide & 2 != 0, lane) as u32;
        let values = lanes(group).map(|l| regs.get(ins.src[0], ins.wide & 1 != 0, l));
        results[lane] = values.reduce(|a, b| combine(op, ins.ty, a, b, 0)).unwrap_or(0);
    }
    for lane in lanes(mask) {
        regs.set(ins.dst, ins.wide & 0x80 != 0, lane, results[lane]);
    }
    Ok(())
}

/// `mma.sync` with f32 accumulators. Products are summed in the order of k, which cards do not specify.
pub fn mma(regs: Registers, kernel: &Kernel, ins: &Ins, inner: u8, mask: u32) -> Result<(), Fault> {
    whole(mask, "mma.sync")?;
    let inner = inner as usize;
    // Numbers in a register, and columns of A that one register of each lane covers.
    let packed = if ins.ty == Ty::TF32 { 1 } else { 2 };
    let span = 4 * packed;
    let (na, nb) = (16 * inner / 32 / packed, 8 * inner / 32 / packed);
    let rows = &kernel.lists[ins.imm as usize..][..8 + na + nb];
    let number = |row: u32, lane: usize, part: usize| {
        let bits = regs.get(row, false, lane);
        match ins.ty {
            // The card ignores the low bits.
            Ty::TF32 => f32::from_bits(bits as u32 & 0xffff_e000),
            ty => exact::half_to_f32(bits >> (16 * part) & 0xffff, ty),
        }
    };
    let mut a = [[0f32; 16]; 16];
    let mut b = [[0f32; 8]; 16];
    for (m, row) in a.iter_mut().enumerate() {
        for (k, value) in row.iter_mut().enumerate().take(inner) {
            let register = usize::from(m >= 8) + 2 * (k / span);
            let lane = (m & 7) * 4 + k % span / packed;
            *value = number(rows[4 + register], lane, k % packed);
        }
    }
    for (k, row) in b.iter_mut().enumerate().take(inner) {
        for (n, value) in row.iter_mut().enumerate() {
            *value = number(rows[4 + na + k / span], n * 4 + k % span / packed, k % packed);
        }
    }
    let mut results = [[0u64; 32]; 4];
    for (i, result) in results.iter_mut().enumerate() {
        for (lane, out) in result.iter_mut().enumerate() {
            let (m, n) = ((lane >> 2) + 8 * (i >> 1), (lane & 3) * 2 + (i & 1));
            let c = f32::from_bits(regs.get(rows[4 + na + nb + i], false, lane) as u32);
            let sum = (0..inner).fold(c, |sum, k| sum + a[m][k] * b[k][n]);
            *out = u64::from(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() });
        }
    }
    for (i, result) in results.iter().enumerate() {
        for (lane, value) in result.iter().enumerate() {
            regs.set(rows[i], false, lane, *value);
        }
    }
    Ok(())
}

/// `ldmatrix`: 8 x 8 matrices of 16-bit elements, whose rows the lanes address.
#[allow(clippy::too_many_arguments)]
pub fn load_matrix(
    regs: Registers,
    memory: &mut Memory,
    kernel: &Kernel,
    ins: &Ins,
    count: u8,
    transposed: bool,
    mask: u32,
    warp: usize,
) -> Result<(), Fault> {
    whole(mask, "ldmatrix")?;
    let rows = &kernel.lists[ins.src[1] as usize..][..count as usize];
    for (i, register) in rows.iter().enumerate() {
        let mut matrix = [[0u16; 8]; 8];
        for (r, row) in matrix.iter_mut().enumerate() {
            let lane = i * 8 + r;
            let at = regs.get(ins.src[0], ins.wide & 1 != 0, lane).wrapping_add(ins.imm as u64);
            let at = Memory::generic(Space::Shared, at);
            if at & 15 != 0 {
                let text = format!("ldmatrix reads a row at the misaligned address {at:#x}");
                return Err(Fault::new(Kind::Misaligned, lane, text));
            }
            for (c, pair) in row.chunks_mut(2).enumerate() {
                // The lane that gets the element is the thread that reads it.
                let bits = memory.read(at + 4 * c as u64, 4, warp * 32 + lane, lane)?;
                pair[0] = bits as u16;
                pair[1] = (bits >> 16) as u16;
            }
        }
        for lane in 0..32 {
            let (r, c) = (lane / 4, lane % 4 * 2);
            let (x, y) = if transposed { (matrix[c][r], matrix[c + 1][r]) } else { (matrix[r][c], matrix[r][c + 1]) };
            regs.set(*register, false, lane, u64::from(y) << 16 | u64::from(x));
        }
    }
    Ok(())
}
