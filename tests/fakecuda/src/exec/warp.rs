//! The loop that runs a warp.

use super::memory::Memory;
use super::registers::{FULL, Registers, Row};
use super::{Fault, Kind, access, collective, scalar, vector};
use crate::ptx::{Ins, Kernel, Logic, NONE, Op, Vote};

/// Lanes that wait at a barrier.
#[derive(Clone, Copy, Debug)]
pub struct Parked {
    /// The place behind the barrier.
    pub pc: u32,
    /// The lanes.
    pub mask: u32,
    /// The number of the barrier.
    pub barrier: u32,
    /// How many threads it waits for; 0 for all of the block.
    pub count: u32,
    /// Lanes whose predicate is true.
    pub votes: u32,
}

/// Lanes that wait for others of their warp at an instruction that they run together.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// The place of the instruction.
    pub pc: u32,
    /// The lanes that wait.
    pub mask: u32,
    /// The lanes that they wait for.
    pub needed: u32,
    /// Whether it is a barrier, which no lane may leave out.
    pub barrier: bool,
}

/// A warp.
pub struct Warp {
    /// The place of the group of lanes that runs.
    pub pc: u32,
    /// Its lanes.
    pub mask: u32,
    /// Lanes that have not returned.
    pub live: u32,
    /// Other groups by their place, the lowest last.
    pub groups: Vec<(u32, u32)>,
    /// Groups that wait for lanes of their warp.
    pub meetings: Vec<Meeting>,
    /// Groups at barriers.
    pub parked: Vec<Parked>,
    /// Arrivals that do not wait: barrier, lanes, count.
    pub arrived: Vec<(u32, u32, u32)>,
    /// Registers.
    pub regs: Registers,
    /// Masks.
    pub predicates: Vec<u32>,
    /// Carry flags.
    pub carry: u32,
    /// The number in the block.
    pub index: usize,
    /// Lane instructions.
    pub steps: u64,
    /// Warp instructions that are left.
    pub budget: u64,
}

/// Why a warp stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// All lanes returned.
    Done,
    /// All lanes that are left wait at barriers.
    Barrier,
}

impl Warp {
    /// A warp with these rows.
    ///
    /// # Safety
    /// The rows must be as many as the kernel has and live as long as the warp runs; those of constants are filled.
    pub unsafe fn new(rows: *mut Row, constants: *mut Row, kernel: &Kernel, index: usize) -> Self {
        // SAFETY: what the caller guarantees.
        let regs = unsafe { Registers::new(rows, constants) };
        Self {
            pc: 0,
            mask: 0,
            live: 0,
            groups: Vec::new(),
            meetings: Vec::new(),
            parked: Vec::new(),
            arrived: Vec::new(),
            regs,
            predicates: vec![0; kernel.predicates],
            carry: 0,
            index,
            steps: 0,
            budget: 0,
        }
    }

    /// Start at the first instruction.
    pub fn start(&mut self, lanes: u32) {
        self.pc = 0;
        self.mask = lanes;
        self.live = lanes;
        self.groups.clear();
        self.meetings.clear();
        self.parked.clear();
        self.arrived.clear();
        self.carry = 0;
    }

    /// Add a group that is to run.
    pub fn add_group(&mut self, pc: u32, mask: u32) {
        let at = self.groups.partition_point(|g| g.0 > pc);
        match self.groups.get_mut(at) {
            Some(group) if group.0 == pc => group.1 |= mask,
            _ => self.groups.insert(at, (pc, mask)),
        }
    }

    /// Continue with the group at the lowest place.
    pub fn next_group(&mut self) -> bool {
        match self.groups.pop() {
            Some((pc, mask)) => {
                self.pc = pc;
                self.mask = mask;
                true
            }
            None => {
                self.mask = 0;
                false
            }
        }
    }

    /// No group can run: the warp is done or at barriers, unless lanes wait for others that do not come.
    fn stop(&mut self, kernel: &Kernel) -> Result<Stop, Fault> {
        match self.meetings.first().copied() {
            Some(meeting) => Err(self.missing(kernel, meeting)),
            None => Ok(if self.parked.is_empty() { Stop::Done } else { Stop::Barrier }),
        }
    }

    /// The fault of lanes that wait for others in vain.
    #[cold]
    fn missing(&mut self, kernel: &Kernel, meeting: Meeting) -> Fault {
        self.pc = meeting.pc;
        let lane = meeting.mask.trailing_zeros() as usize;
        let absent = (meeting.needed & !meeting.mask).trailing_zeros();
        let text = if meeting.barrier {
            format!("a divergent barrier: lanes {:#010x} of {:#010x} are at it", meeting.mask, meeting.needed)
        } else {
            let line = kernel.module.line_text(kernel.code[meeting.pc as usize].line);
            let name = line.split_ascii_whitespace().find(|w| w.contains("sync")).unwrap_or("an instruction");
            format!("{name} of lanes {:#010x}: lane {absent} is not at it", meeting.needed)
        };
        Fault::new(Kind::Launch, lane, text)
    }

    /// Let the lanes of the mask wait for others.
    fn meet(&mut self, mask: u32, needed: u32, barrier: bool) {
        self.meetings.push(Meeting { pc: self.pc, mask, needed, barrier });
        self.mask &= !mask;
        self.pc += 1;
    }

    /// Write the lanes of a mask to a predicate.
    #[inline(always)]
    pub fn set_predicate(&mut self, index: u32, mask: u32, value: u32) {
        let p = &mut self.predicates[index as usize];
        *p = *p & !mask | value & mask;
    }

    /// Run until all lanes returned or wait.
    pub fn run(&mut self, kernel: &Kernel, memory: &mut Memory) -> Result<Stop, Fault> {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                // SAFETY: the processor has these features; `popcnt`, `bmi` and `lzcnt` came before `avx2`.
                return unsafe { run_avx2(self, kernel, memory) };
            }
        }
        run_loop(self, kernel, memory)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,popcnt,bmi1,bmi2,lzcnt")]
unsafe fn run_avx2(warp: &mut Warp, kernel: &Kernel, memory: &mut Memory) -> Result<Stop, Fault> {
    run_loop(warp, kernel, memory)
}

#[inline(always)]
fn run_loop(warp: &mut Warp, kernel: &Kernel, memory: &mut Memory) -> Result<Stop, Fault> {
    let code = kernel.code.as_slice();
    let regs = warp.regs;
    if warp.mask == 0 && !warp.next_group() {
        return warp.stop(kernel);
    }
    loop {
        // Groups that wait at this place or a lower one come first.
        if let Some(&(lowest, lanes)) = warp.groups.last() {
            if warp.pc == lowest {
                warp.mask |= lanes;
                warp.groups.pop();
            } else if warp.pc > lowest {
                let (pc, mask) = (warp.pc, warp.mask);
                warp.groups.pop();
                warp.add_group(pc, mask);
                warp.pc = lowest;
                warp.mask = lanes;
            }
        }
        if !warp.meetings.is_empty()
            && let Some(at) = warp.meetings.iter().position(|m| m.pc == warp.pc)
        {
            warp.mask |= warp.meetings.swap_remove(at).mask;
        }
        let ins = &code[warp.pc as usize];
        let mut mask = warp.mask;
        if ins.guard != NONE {
            let p = warp.predicates[(ins.guard >> 1) as usize];
            mask &= if ins.guard & 1 != 0 { !p } else { p };
            if mask == 0 {
                warp.pc += 1;
                continue;
            }
        }
        warp.steps += u64::from(mask.count_ones());
        match ins.op {
            Op::Mov32 => vector::mov32(regs, ins, mask),
            Op::Mov64 => vector::mov64(regs, ins, mask),
            Op::Int32(op) => vector::int32(op, regs, ins, mask),
            Op::Int64(op) => vector::int64(op, regs, ins, mask),
            Op::F32(op) => vector::f32s(op, regs, ins, mask),
            Op::F64(op) => vector::f64s(op, regs, ins, mask),
            Op::Widen(op) => vector::widen(op, regs, ins, mask),
            Op::MulWideU => vector::mul_wide(false, regs, ins, mask),
            Op::MulWideS => vector::mul_wide(true, regs, ins, mask),
            Op::MadWideU => vector::mad_wide(false, regs, ins, mask),
            Op::MadWideS => vector::mad_wide(true, regs, ins, mask),
            Op::Select32 => vector::select32(regs, ins, mask, warp.predicates[ins.src[2] as usize]),
            Op::Select64 => vector::select64(regs, ins, mask, warp.predicates[ins.src[2] as usize]),
            Op::Set32(cmp) => set(warp, ins, mask, vector::unsigned32(cmp, regs, ins)),
            Op::Set32S(cmp) => set(warp, ins, mask, vector::signed32(cmp, regs, ins)),
            Op::Set64(cmp) => set(warp, ins, mask, vector::unsigned64(cmp, regs, ins)),
            Op::Set64S(cmp) => set(warp, ins, mask, vector::signed64(cmp, regs, ins)),
            Op::SetF32(cmp) => set(warp, ins, mask, vector::compare_f32(cmp, regs, ins)),
            Op::SetF64(cmp) => set(warp, ins, mask, vector::compare_f64(cmp, regs, ins)),
            Op::Mask(op) => logic(warp, op, ins, mask),
            Op::Load(space, count) => access::load(regs, memory, kernel, ins, space, count, mask, warp.index)?,
            Op::Store(space, count) => access::store(regs, memory, kernel, ins, space, count, mask, warp.index)?,
            Op::LoadParam => access::load_param(regs, memory, ins, mask)?,
            Op::Branch => {
                let target = ins.imm as u32;
                if mask == warp.mask {
                    warp.pc = target;
                } else {
                    warp.add_group(target, mask);
                    warp.mask &= !mask;
                    warp.pc += 1;
                }
                spend(warp, mask)?;
                continue;
            }
            Op::Return => {
                if let Some(meeting) = warp.meetings.iter().find(|m| m.barrier && m.needed & mask != 0).copied() {
                    return Err(warp.missing(kernel, meeting));
                }
                warp.live &= !mask;
                warp.mask &= !mask;
                warp.pc += 1;
                if !warp.meetings.is_empty() {
                    release(warp);
                }
                if warp.mask == 0 && !warp.next_group() {
                    return warp.stop(kernel);
                }
                continue;
            }
            Op::Barrier { .. } | Op::BarrierReduce(_) => {
                if park(warp, ins, mask)? && warp.mask == 0 && !warp.next_group() {
                    return warp.stop(kernel);
                }
                continue;
            }
            Op::Shuffle(_)
            | Op::Vote(_)
            | Op::Match(_)
            | Op::Redux(_)
            | Op::WarpBarrier
            | Op::Mma(_)
            | Op::LoadMatrix(..)
                if absent(warp, ins, mask) =>
            {
                if warp.mask == 0 && !warp.next_group() {
                    return warp.stop(kernel);
                }
                continue;
            }
            _ => {
                if rare(warp, kernel, memory, ins, mask)? {
                    continue;
                }
            }
        }
        warp.pc += 1;
    }
}

/// Write the result of a comparison.
#[inline(always)]
fn set(warp: &mut Warp, ins: &Ins, mask: u32, hits: u32) {
    let mut hits = hits;
    let mut misses = !hits;
    if ins.imm != 0 {
        let other = warp.predicates[ins.src[2] as usize];
        let other = if ins.imm & 4 != 0 { !other } else { other };
        let combine = |p: u32| match ins.imm & 3 {
            1 => p & other,
            2 => p | other,
            _ => p ^ other,
        };
        (hits, misses) = (combine(hits), combine(misses));
    }
    warp.set_predicate(ins.dst, mask, hits);
    if ins.dst2 != NONE {
        warp.set_predicate(ins.dst2, mask, misses);
    }
}

#[inline(always)]
fn logic(warp: &mut Warp, op: Logic, ins: &Ins, mask: u32) {
    let source = |i: usize| warp.predicates[ins.src[i] as usize];
    let value = match op {
        Logic::Mov if ins.imm != 0 => {
            if ins.imm == 2 {
                FULL
            } else {
                0
            }
        }
        Logic::Mov => source(0),
        Logic::Not => !source(0),
        Logic::And => source(0) & source(1),
        Logic::Or => source(0) | source(1),
        Logic::Xor => source(0) ^ source(1),
    };
    warp.set_predicate(ins.dst, mask, value);
}

/// Count the instructions of loops.
#[inline(always)]
fn spend(warp: &mut Warp, mask: u32) -> Result<(), Fault> {
    warp.budget = warp.budget.saturating_sub(1);
    if warp.budget == 0 {
        return Err(Fault::new(Kind::Timeout, mask.trailing_zeros() as usize, "the kernel does not end".into()));
    }
    Ok(())
}

/// The lanes of the mask arrive at a barrier. Returns whether they wait.
#[inline(never)]
fn park(warp: &mut Warp, ins: &Ins, mask: u32) -> Result<bool, Fault> {
    let lane = mask.trailing_zeros() as usize;
    let operand = |i: usize| {
        if ins.src[i] == NONE { 0 } else { warp.regs.get(ins.src[i], ins.wide >> i & 1 != 0, lane) as u32 }
    };
    let (barrier, count) = (operand(0), operand(1));
    let (aligned, waits) = match ins.op {
        Op::Barrier { aligned, wait } => (aligned, wait),
        _ => (true, true),
    };
    if aligned && mask != warp.live {
        // The others may still come: code has no order of places that lets all lanes arrive at once.
        warp.meet(mask, warp.live, true);
        return Ok(true);
    }
    if barrier > 15 {
        return Err(Fault::new(Kind::Instruction, lane, format!("barrier {barrier}")));
    }
    let pc = warp.pc + 1;
    if !waits {
        warp.arrived.push((barrier, mask, count));
        warp.pc = pc;
        return Ok(false);
    }
    let votes = match ins.op {
        Op::BarrierReduce(_) => {
            let p = warp.predicates[ins.src[2] as usize];
            mask & if ins.imm != 0 { !p } else { p }
        }
        _ => 0,
    };
    warp.parked.push(Parked { pc, mask, barrier, count, votes });
    warp.mask &= !mask;
    warp.pc = pc;
    Ok(true)
}

/// Whether lanes that the instruction needs are elsewhere. Those of the mask then wait for them.
#[inline(never)]
fn absent(warp: &mut Warp, ins: &Ins, mask: u32) -> bool {
    let members = |index: usize| {
        let lanes = (0..32usize).filter(|l| mask >> l & 1 != 0);
        lanes.fold(0, |sum, lane| sum | warp.regs.get(ins.src[index], ins.wide >> index & 1 != 0, lane) as u32)
    };
    let needed = match ins.op {
        Op::Vote(Vote::Active) => return false,
        Op::Shuffle(_) => members(3),
        Op::WarpBarrier => members(0),
        Op::Mma(_) | Op::LoadMatrix(..) => FULL,
        _ => members(1),
    } & warp.live;
    if needed & !mask == 0 {
        return false;
    }
    warp.meet(mask, needed, false);
    true
}

/// After lanes returned: groups that waited only for them run again.
#[cold]
fn release(warp: &mut Warp) {
    for at in (0..warp.meetings.len()).rev() {
        let meeting = warp.meetings[at];
        if meeting.needed & warp.live & !meeting.mask == 0 {
            warp.meetings.swap_remove(at);
            warp.add_group(meeting.pc, meeting.mask);
        }
    }
}

/// All other instructions. Returns whether the place is already set.
#[inline(never)]
fn rare(warp: &mut Warp, kernel: &Kernel, memory: &mut Memory, ins: &Ins, mask: u32) -> Result<bool, Fault> {
    let regs = warp.regs;
    let lanes = || (0..32usize).filter(move |l| mask >> l & 1 != 0);
    let first = mask.trailing_zeros() as usize;
    let source = |i: usize, lane: usize| regs.get(ins.src[i], ins.wide >> i & 1 != 0, lane);
    let wide = ins.wide & 0x80 != 0;
    match ins.op {
        Op::Scalar(op) => {
            let count = ins.src.iter().take_while(|s| **s != NONE).count();
            for lane in lanes() {
                let mut values = [0u64; 4];
                for (i, value) in values.iter_mut().enumerate().take(count) {
                    *value = source(i, lane);
                }
                regs.set(ins.dst, wide, lane, scalar::eval(op, ins, values));
            }
        }
        Op::Set16(cmp) => {
            let hits = lanes()
                .filter(|lane| scalar::compare(cmp, ins.ty, source(0, *lane), source(1, *lane)))
                .fold(0, |sum, lane| sum | 1 << lane);
            set(warp, ins, mask, hits);
        }
        Op::Testp(property) => {
            let hits = lanes()
                .filter(|lane| scalar::property(property, ins.ty, source(0, *lane)))
                .fold(0, |sum, lane| sum | 1 << lane);
            warp.set_predicate(ins.dst, mask, hits);
        }
        Op::Carry { subtract, reads, writes } => {
            let bits = ins.ty.bits();
            for lane in lanes() {
                let carry = u128::from(reads && warp.carry >> lane & 1 != 0);
                let (a, b) = (u128::from(source(0, lane) & ins.ty.mask()), u128::from(source(1, lane) & ins.ty.mask()));
                let result = if subtract { a.wrapping_sub(b).wrapping_sub(carry) } else { a + b + carry };
                regs.set(ins.dst, wide, lane, result as u64 & ins.ty.mask());
                if writes {
                    let out = (result >> bits & 1) as u32;
                    warp.carry = warp.carry & !(1 << lane) | out << lane;
                }
            }
        }
        Op::Atomic(op, space) => access::atomic(regs, memory, ins, op, space, mask, warp.index)?,
        Op::BranchTable => {
            let table = &kernel.tables[ins.imm as usize];
            let stay = warp.mask & !mask;
            for lane in lanes() {
                let index = source(0, lane) as u32 as usize;
                let target = *table
                    .get(index)
                    .ok_or_else(|| Fault::new(Kind::Instruction, lane, format!("target {index} of {}", table.len())))?;
                warp.add_group(target, 1 << lane);
            }
            if stay != 0 {
                warp.add_group(warp.pc + 1, stay);
            }
            warp.next_group();
            spend(warp, mask)?;
            return Ok(true);
        }
        Op::WarpBarrier => {
            memory.shared.warp_barrier(warp.index);
        }
        Op::Trap => return Err(Fault::new(Kind::Launch, first, "trap".into())),
        Op::Unknown => {
            return Err(Fault::new(Kind::Instruction, first, kernel.messages[ins.imm as usize].clone()));
        }
        Op::Shuffle(mode) => collective::shuffle(warp, ins, mode, mask)?,
        Op::Vote(vote) => collective::vote(warp, ins, vote, mask)?,
        Op::Match(all) => collective::matches(warp, ins, all, mask)?,
        Op::Redux(op) => collective::redux(warp, ins, op, mask)?,
        Op::Pack(count) => {
            let rows = &kernel.lists[ins.imm as usize..][..count as usize];
            let (bits, part) = (ins.ty2.bits(), ins.ty2.mask());
            for lane in lanes() {
                let value = rows
                    .iter()
                    .enumerate()
                    .fold(0, |sum, (i, row)| sum | (regs.get(*row, false, lane) & part) << (bits * i as u32));
                regs.set(ins.dst, wide, lane, value);
            }
        }
        Op::Unpack(count) => {
            let rows = &kernel.lists[ins.imm as usize..][..count as usize];
            let (bits, part) = (ins.ty2.bits(), ins.ty2.mask());
            for lane in lanes() {
                let value = source(0, lane);
                for (i, row) in rows.iter().enumerate().filter(|(_, row)| **row != NONE) {
                    regs.set(*row, false, lane, value >> (bits * i as u32) & part);
                }
            }
        }
        Op::Mma(inner) => collective::mma(regs, kernel, ins, inner, mask)?,
        Op::LoadMatrix(count, transposed) => {
            collective::load_matrix(regs, memory, kernel, ins, count, transposed, mask, warp.index)?;
        }
        Op::CopyAsync => access::copy_async(regs, memory, kernel, ins, mask, warp.index)?,
        _ => {}
    }
    Ok(false)
}
