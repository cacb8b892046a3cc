//! Runs blocks: their warps in turns, from barrier to barrier.

use super::launch::Launch;
use super::memory::{Memory, View};
use super::registers::{Registers, Row};
use super::shared::Shared;
use super::warp::{Stop, Warp};
use super::{Fault, Kind};
use crate::ptx::{Cmp, Ins, Kernel, Logic, Op, Special};
use std::cell::Cell;

/// A fault and the warp and place that made it.
pub struct Located {
    /// The fault.
    pub fault: Fault,
    /// The warp's number.
    pub warp: usize,
    /// The line of the text.
    pub line: u32,
}

thread_local! {
    static POOL: Cell<Vec<Row>> = const { Cell::new(Vec::new()) };
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        POOL.set(std::mem::take(&mut self.rows));
    }
}

/// State that is kept between blocks.
pub struct Runner<'a> {
    kernel: &'a Kernel,
    launch: &'a Launch,
    memory: Memory<'a>,
    warps: Vec<Warp>,
    /// The registers that `warps` point to.
    rows: Vec<Row>,
    threads: usize,
}

impl<'a> Runner<'a> {
    /// A runner for blocks of a launch.
    pub fn new(kernel: &'a Kernel, launch: &'a Launch, view: &'a View) -> Self {
        let threads = launch.threads();
        let count = threads.div_ceil(32);
        let dynamic = launch.shared as usize;
        let fixed = if dynamic == 0 { kernel.shared } else { kernel.shared.next_multiple_of(16) };
        let shared = Shared::new(fixed + dynamic, kernel.grain, count);
        let memory = Memory::new(view, &launch.params, kernel.local, threads, shared);
        let constants = kernel.constants.iter().map(|(_, _, wide)| if *wide { 2 } else { 1 }).sum::<usize>();
        // The memory of the thread's last launch: new memory costs more than small kernels.
        let mut rows = POOL.take();
        rows.clear();
        rows.resize(constants + kernel.rows * count, Row([0; 32]));
        let base = rows.as_mut_ptr();
        // SAFETY: the rows live as long as the runner; those of constants come first.
        let shared_rows = unsafe { Registers::new(base, base) };
        for (row, bits, wide) in &kernel.constants {
            for lane in 0..32 {
                shared_rows.set(*row, *wide, lane, *bits);
            }
        }
        let warps = (0..count)
            .map(|i| {
                // SAFETY: the vector has the kernel's number of rows for each warp behind the constants, and lives as
                // long as the runner.
                unsafe { Warp::new(base.add(constants + i * kernel.rows), base, kernel, i) }
            })
            .collect();
        let mut runner = Self { kernel, launch, memory, warps, rows, threads };
        runner.fixed_specials();
        runner
    }

    /// Special registers that are the same in every block.
    fn fixed_specials(&mut self) {
        let [bx, by, _] = self.launch.block.map(|n| n as usize);
        let count = self.warps.len() as u64;
        for warp in &mut self.warps {
            for (row, special) in &self.kernel.specials {
                for lane in 0..32 {
                    let thread = warp.index * 32 + lane;
                    let value = match special {
                        Special::Tid(0) => thread % bx,
                        Special::Tid(1) => thread / bx % by,
                        Special::Tid(_) => thread / (bx * by),
                        Special::Ntid(axis) => self.launch.block[*axis as usize] as usize,
                        Special::Nctaid(axis) => self.launch.grid[*axis as usize] as usize,
                        Special::Lane => lane,
                        Special::Warp => warp.index,
                        Special::Warps => count as usize,
                        Special::LaneMask(cmp) => lane_mask(*cmp, lane) as usize,
                        Special::One => 1,
                        Special::Zero | Special::Ctaid(_) => 0,
                    };
                    warp.regs.set(*row, false, lane, value as u64);
                }
            }
        }
    }

    /// Run the block with this number. Returns its lane instructions.
    pub fn run(&mut self, block: u64) -> Result<u64, Located> {
        self.memory.reset();
        let place = self.launch.place(block);
        for warp in &mut self.warps {
            for (row, special) in &self.kernel.specials {
                if let Special::Ctaid(axis) = special {
                    for lane in 0..32 {
                        warp.regs.set(*row, false, lane, u64::from(place[*axis as usize]));
                    }
                }
            }
            let lanes = (self.threads - warp.index * 32).min(32);
            warp.start(if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 });
            warp.steps = 0;
            warp.budget = self.launch.budget;
        }
        loop {
            let mut done = true;
            for warp in &mut self.warps {
                if warp.live == 0 {
                    continue;
                }
                match warp.run(self.kernel, &mut self.memory) {
                    Ok(Stop::Done) => {}
                    Ok(Stop::Barrier) => done = false,
                    Err(fault) => {
                        let line = self.kernel.code[warp.pc as usize].line;
                        return Err(Located { fault, warp: warp.index, line });
                    }
                }
            }
            if done {
                break;
            }
            self.release()?;
        }
        Ok(self.warps.iter().map(|w| w.steps).sum())
    }

    /// Let threads pass the barriers that are complete.
    fn release(&mut self) -> Result<(), Located> {
        let live: u32 = self.warps.iter().map(|w| w.live.count_ones()).sum();
        let mut released = false;
        for barrier in 0..16 {
            let parked = || self.warps.iter().flat_map(|w| w.parked.iter().filter(|p| p.barrier == barrier));
            let Some(first) = parked().next() else { continue };
            let arrived = self.warps.iter().flat_map(|w| w.arrived.iter().filter(|a| a.0 == barrier));
            let arrived: u32 = arrived.map(|a| a.1.count_ones()).sum();
            let waiting: u32 = parked().map(|p| p.mask.count_ones()).sum();
            let expected = if first.count == 0 { live } else { first.count };
            if waiting + arrived < expected {
                continue;
            }
            let votes: u32 = parked().map(|p| p.votes.count_ones()).sum();
            for warp in &mut self.warps {
                warp.arrived.retain(|a| a.0 != barrier);
                let (pass, keep): (Vec<_>, Vec<_>) = warp.parked.drain(..).partition(|p| p.barrier == barrier);
                warp.parked = keep;
                for group in pass {
                    let ins = &self.kernel.code[group.pc as usize - 1];
                    deliver(warp, ins, group.mask, votes, waiting);
                    warp.add_group(group.pc, group.mask);
                }
            }
            self.memory.shared.block_barrier();
            released = true;
        }
        if released {
            return Ok(());
        }
        let Some((warp, group)) = self.warps.iter().find_map(|w| w.parked.first().map(|p| (w.index, *p))) else {
            return Ok(());
        };
        let waiting: u32 = self.warps.iter().flat_map(|w| &w.parked).map(|p| p.mask.count_ones()).sum();
        let text = format!("a barrier that {waiting} of {live} threads reach");
        let line = self.kernel.code[group.pc as usize - 1].line;
        let fault = Fault::new(Kind::Launch, group.mask.trailing_zeros() as usize, text);
        Err(Located { fault, warp, line })
    }
}

/// The result of a barrier that combines predicates.
fn deliver(warp: &mut Warp, ins: &Ins, mask: u32, votes: u32, threads: u32) {
    let Op::BarrierReduce(op) = ins.op else { return };
    let truth = match op {
        Logic::And => votes == threads,
        Logic::Or => votes != 0,
        _ => {
            for lane in (0..32).filter(|l| mask >> l & 1 != 0) {
                warp.regs.set(ins.dst, ins.wide & 0x80 != 0, lane, u64::from(votes));
            }
            return;
        }
    };
    warp.set_predicate(ins.dst, mask, if truth { u32::MAX } else { 0 });
}

fn lane_mask(cmp: Cmp, lane: usize) -> u32 {
    let own = 1u32 << lane;
    match cmp {
        Cmp::Eq => own,
        Cmp::Lt => own - 1,
        Cmp::Le => own | (own - 1),
        Cmp::Gt => !(own | (own - 1)),
        _ => !(own - 1),
    }
}
