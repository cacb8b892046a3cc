//! Gives registers rows: those that are never live at the same time share one.
//!
//! The text has a register for each value. Without sharing, the rows of a warp would not fit into the host's caches.

use super::{Ins, Kernel, Logic, NONE, Op, Vote};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A use of a register by an instruction.
struct Use {
    /// Where the instruction has the row.
    slot: Slot,
    wide: bool,
    write: bool,
}

enum Slot {
    Dst,
    Src(usize),
    List(usize),
}

/// The registers that an instruction reads and writes.
fn uses(ins: &Ins) -> Vec<Use> {
    let mut all = Vec::new();
    let mut read = |i: usize| all.push(Use { slot: Slot::Src(i), wide: ins.wide >> i & 1 != 0, write: false });
    let wide = ins.wide & 0x80 != 0;
    let (mut writes, mut list) = (false, None);
    match ins.op {
        Op::Branch | Op::Return | Op::Trap | Op::Unknown | Op::Nop | Op::Mask(_) => {}
        Op::LoadParam => writes = true,
        Op::Set32(_) | Op::Set32S(_) | Op::Set64(_) | Op::Set64S(_) | Op::SetF32(_) | Op::SetF64(_) | Op::Set16(_) => {
            read(0);
            read(1);
        }
        Op::Select32 | Op::Select64 | Op::Match(_) | Op::Redux(_) => {
            read(0);
            read(1);
            writes = true;
        }
        Op::Testp(_) | Op::BranchTable | Op::WarpBarrier => read(0),
        Op::Load(_, count) => {
            read(0);
            match count {
                1 => writes = true,
                _ => list = Some((ins.src[1] as usize, count as usize, wide, true)),
            }
        }
        Op::Store(_, count) => {
            read(0);
            match count {
                1 => read(1),
                _ => list = Some((ins.src[1] as usize, count as usize, ins.wide & 2 != 0, false)),
            }
        }
        Op::Barrier { .. } | Op::BarrierReduce(_) => {
            read(0);
            read(1);
            writes = ins.op == Op::BarrierReduce(Logic::Mov);
        }
        Op::Vote(vote) => {
            if vote != Vote::Active {
                read(1);
            }
            writes = matches!(vote, Vote::Active | Vote::Ballot);
        }
        Op::Pack(count) => {
            list = Some((ins.imm as usize, count as usize, ins.ty2.size() == 8, false));
            writes = true;
        }
        Op::Unpack(count) => {
            read(0);
            list = Some((ins.imm as usize, count as usize, ins.ty2.size() == 8, true));
        }
        Op::LoadMatrix(count, _) => {
            read(0);
            list = Some((ins.src[1] as usize, count as usize, false, true));
        }
        Op::CopyAsync => {
            read(0);
            read(1);
            read(2);
        }
        Op::Mma(inner) => {
            let numbers = if ins.ty == super::Ty::TF32 { 1 } else { 2 };
            let inputs = 24 * inner as usize / 32 / numbers + 4;
            let start = ins.imm as usize;
            all.extend((start..start + 4).map(|i| Use { slot: Slot::List(i), wide: false, write: true }));
            all.extend((start + 4..start + 4 + inputs).map(|i| Use { slot: Slot::List(i), wide: false, write: false }));
        }
        _ => {
            for i in 0..4 {
                read(i);
            }
            writes = true;
        }
    }
    if let Some((start, count, wide, write)) = list {
        all.extend((start..start + count).map(|i| Use { slot: Slot::List(i), wide, write }));
    }
    if writes {
        all.push(Use { slot: Slot::Dst, wide, write: true });
    }
    all
}

/// Whether an operand is a register of a warp.
fn is_register(row: u32) -> bool {
    row != NONE && row & CONSTANT == 0
}

/// Operands with this bit are rows of constants.
pub const CONSTANT: u32 = 1 << 31;

/// A set of registers.
type Set = Vec<u64>;

fn insert(set: &mut [u64], i: usize) {
    set[i / 64] |= 1 << (i % 64);
}

fn remove(set: &mut [u64], i: usize) {
    set[i / 64] &= !(1 << (i % 64));
}

/// A part of the code without branches into or out of its middle.
struct Block {
    start: usize,
    end: usize,
    next: Vec<usize>,
    /// Registers that are read before they are written.
    needs: Set,
    /// Registers that are written.
    sets: Set,
    live: Set,
}

/// Positions between which a register is live.
#[derive(Clone, Copy)]
struct Interval {
    first: usize,
    last: usize,
    wide: bool,
    used: bool,
}

/// Give the kernel's registers rows.
pub fn allocate(kernel: &mut Kernel) {
    let uses: Vec<Vec<Use>> = kernel.code.iter().map(uses).collect();
    let row = |kernel: &Kernel, at: usize, slot: &Slot| match slot {
        Slot::Dst => kernel.code[at].dst,
        Slot::Src(i) => kernel.code[at].src[*i],
        Slot::List(i) => kernel.lists[*i],
    };
    let mut blocks = blocks(kernel);
    let words = kernel.rows.div_ceil(64);
    let none = Interval { first: usize::MAX, last: 0, wide: false, used: false };
    let mut intervals = vec![none; kernel.rows];
    for block in &mut blocks {
        (block.needs, block.sets, block.live) = (vec![0; words], vec![0; words], vec![0; words]);
        for at in (block.start..block.end).rev() {
            let guarded = kernel.code[at].guard != NONE;
            for write in [true, false] {
                for u in uses[at].iter().filter(|u| u.write == write) {
                    let r = row(kernel, at, &u.slot);
                    if !is_register(r) {
                        continue;
                    }
                    let interval = &mut intervals[r as usize];
                    interval.wide = u.wide;
                    interval.used = true;
                    interval.first = interval.first.min(at);
                    interval.last = interval.last.max(at);
                    if write && !guarded {
                        insert(&mut block.sets, r as usize);
                        remove(&mut block.needs, r as usize);
                    } else {
                        // A guarded write keeps the old value of the other lanes.
                        insert(&mut block.needs, r as usize);
                    }
                }
            }
        }
    }
    // What is live where a block starts, until nothing changes.
    let mut changed = true;
    while changed {
        changed = false;
        for i in (0..blocks.len()).rev() {
            let mut live = vec![0u64; words];
            for next in &blocks[i].next {
                for (a, b) in live.iter_mut().zip(&blocks[*next].live) {
                    *a |= b;
                }
            }
            let block = &mut blocks[i];
            for (w, value) in live.iter().enumerate() {
                let new = value & !block.sets[w] | block.needs[w];
                changed |= new != block.live[w];
                block.live[w] = new;
            }
        }
    }
    for i in 0..blocks.len() {
        for (at, sources) in [(blocks[i].start, vec![i]), (blocks[i].end - 1, blocks[i].next.clone())] {
            for source in sources {
                for (w, word) in blocks[source].live.iter().enumerate() {
                    let mut word = *word;
                    while word != 0 {
                        let interval = &mut intervals[w * 64 + word.trailing_zeros() as usize];
                        interval.first = interval.first.min(at);
                        interval.last = interval.last.max(at);
                        word &= word - 1;
                    }
                }
            }
        }
    }
    // Special registers have their values from the start.
    for (special, _) in &kernel.specials {
        let interval = &mut intervals[*special as usize];
        interval.used = true;
        interval.first = 0;
        interval.last = kernel.code.len();
    }
    let (rows, count) = assign(&intervals);
    for (at, uses) in uses.iter().enumerate() {
        for u in uses {
            let old = row(kernel, at, &u.slot);
            if is_register(old) {
                let new = rows[old as usize];
                match u.slot {
                    Slot::Dst => kernel.code[at].dst = new,
                    Slot::Src(i) => kernel.code[at].src[i] = new,
                    Slot::List(i) => kernel.lists[i] = new,
                }
            }
        }
    }
    for (special, _) in &mut kernel.specials {
        *special = rows[*special as usize];
    }
    kernel.rows = count;
}

fn blocks(kernel: &Kernel) -> Vec<Block> {
    let code = &kernel.code;
    let mut starts = vec![false; code.len() + 1];
    starts[0] = true;
    for (at, ins) in code.iter().enumerate() {
        match ins.op {
            Op::Branch => starts[ins.imm as usize] = true,
            Op::BranchTable => kernel.tables[ins.imm as usize].iter().for_each(|t| starts[*t as usize] = true),
            Op::Return => {}
            _ => continue,
        }
        starts[at + 1] = true;
    }
    let mut number = vec![0; code.len() + 1];
    let mut blocks: Vec<Block> = Vec::new();
    for at in 0..code.len() {
        if starts[at] {
            let (needs, sets, live) = (Vec::new(), Vec::new(), Vec::new());
            blocks.push(Block { start: at, end: at, next: Vec::new(), needs, sets, live });
        }
        number[at] = blocks.len() - 1;
        if let Some(block) = blocks.last_mut() {
            block.end = at + 1;
        }
    }
    for block in &mut blocks {
        let ins = &code[block.end - 1];
        let mut next: Vec<usize> = match ins.op {
            Op::Branch => vec![number[ins.imm as usize]],
            Op::BranchTable => kernel.tables[ins.imm as usize].iter().map(|t| number[*t as usize]).collect(),
            _ => Vec::new(),
        };
        let leaves = matches!(ins.op, Op::Branch | Op::BranchTable | Op::Return) && ins.guard == NONE;
        if !leaves && block.end < code.len() {
            next.push(number[block.end]);
        }
        block.next = next;
    }
    blocks
}

/// Rows of each register, and how many there are.
fn assign(intervals: &[Interval]) -> (Vec<u32>, usize) {
    let mut order: Vec<usize> = (0..intervals.len()).filter(|i| intervals[*i].used).collect();
    order.sort_by_key(|i| intervals[*i].first);
    let mut rows = vec![0u32; intervals.len()];
    let mut count = 0u32;
    let mut free: [Vec<u32>; 2] = [Vec::new(), Vec::new()];
    let mut active: BinaryHeap<Reverse<(usize, u32, bool)>> = BinaryHeap::new();
    for i in order {
        let interval = intervals[i];
        // A register that is read for the last time does not share its row with one that the instruction writes: their
        // lanes may have different sizes.
        while let Some(Reverse((last, row, wide))) = active.peek().copied() {
            if last >= interval.first {
                break;
            }
            active.pop();
            free[usize::from(wide)].push(row);
        }
        rows[i] = free[usize::from(interval.wide)].pop().unwrap_or_else(|| {
            let row = count;
            count += if interval.wide { 2 } else { 1 };
            row
        });
        active.push(Reverse((interval.last, rows[i], interval.wide)));
    }
    (rows, count as usize)
}
