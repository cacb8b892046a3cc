//! Launches: the blocks of a grid on the threads of the host.

use super::block::{Located, Runner};
use super::memory::View;
use super::{Fault, Kind};
use crate::ptx::Kernel;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Parameters of a launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Bytes of the parameters.
    pub params: Vec<u8>,
    /// Threads of the host.
    pub workers: usize,
    /// Branches that a warp may run.
    pub budget: u64,
}

impl Launch {
    /// Threads of a block.
    pub fn threads(&self) -> usize {
        self.block.iter().map(|n| *n as usize).product()
    }

    /// Blocks of the grid.
    pub fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// The coordinates of a block.
    pub fn place(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [(block % x) as u32, (block / x % y) as u32, (block / (x * y)) as u32]
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Instructions, counted for each lane.
    pub steps: u64,
}

/// A launch whose first block takes longer than this many nanoseconds per remaining block uses more threads.
const WORTH: u128 = 200_000;

/// Run a kernel. The text of an error has the kernel, block, thread and line.
pub fn launch(kernel: &Kernel, launch: &Launch, view: &View) -> Result<Stats, Fault> {
    let blocks = launch.blocks();
    let workers = if kernel.atomics { 1 } else { launch.workers };
    let started = Instant::now();
    let mut runner = Runner::new(kernel, launch, view);
    let mut steps = 0;
    let mut block = 0;
    let describe = |block: u64, located: Located| describe(kernel, launch, block, located);
    while block < blocks {
        if workers > 1 && block > 0 && blocks - block > 1 {
            let spent = started.elapsed().as_nanos() / u128::from(block);
            if spent * u128::from(blocks - block) > WORTH {
                break;
            }
        }
        steps += runner.run(block).map_err(|l| describe(block, l))?;
        block += 1;
    }
    if block == blocks {
        return Ok(Stats { steps });
    }
    let next = AtomicU64::new(block);
    let total = AtomicU64::new(steps);
    // The fault of the first block, so that the result does not depend on the threads.
    let fault: Mutex<Option<(u64, Located)>> = Mutex::new(None);
    let lowest = AtomicU64::new(u64::MAX);
    let work = |mut runner: Runner| {
        loop {
            let block = next.fetch_add(1, Ordering::Relaxed);
            if block >= blocks || block > lowest.load(Ordering::Relaxed) {
                return;
            }
            match runner.run(block) {
                Ok(steps) => {
                    total.fetch_add(steps, Ordering::Relaxed);
                }
                Err(located) => {
                    let mut fault = fault.lock().unwrap_or_else(|e| e.into_inner());
                    if fault.as_ref().is_none_or(|(b, _)| block < *b) {
                        *fault = Some((block, located));
                        lowest.store(block, Ordering::Relaxed);
                    }
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..(workers as u64).min(blocks - block) {
            scope.spawn(|| work(Runner::new(kernel, launch, view)));
        }
        work(runner);
    });
    match fault.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some((block, located)) => Err(describe(block, located)),
        None => Ok(Stats { steps: total.into_inner() }),
    }
}

fn describe(kernel: &Kernel, launch: &Launch, block: u64, located: Located) -> Fault {
    let Located { mut fault, warp, line } = located;
    let [bx, by, bz] = launch.place(block);
    let thread = warp * 32 + fault.lane as usize;
    let [x, y, _] = launch.block.map(|n| n as usize);
    fault.text = format!(
        "kernel {}, block ({bx}, {by}, {bz}), thread ({}, {}, {}), line {line} `{}`: {}",
        kernel.name,
        thread % x,
        thread / x % y,
        thread / (x * y),
        kernel.module.line_text(line),
        fault.text
    );
    fault
}

/// Check what the device limits.
pub fn check(kernel: &Kernel, launch: &Launch, most_shared: usize) -> Result<(), Fault> {
    let [x, y, z] = launch.block;
    let [gx, gy, gz] = launch.grid;
    let threads = u64::from(x) * u64::from(y) * u64::from(z);
    let fits = threads > 0 && threads <= 1024 && x <= 1024 && y <= 1024 && z <= 64;
    let grid = gx > 0 && gy > 0 && gz > 0 && gx <= i32::MAX as u32 && gy <= 65535 && gz <= 65535;
    if !fits || !grid {
        let text = format!("a grid of ({gx}, {gy}, {gz}) blocks of ({x}, {y}, {z}) threads");
        return Err(Fault::new(Kind::Launch, 0, text));
    }
    let shared = kernel.shared + launch.shared as usize;
    if shared > most_shared {
        return Err(Fault::new(Kind::Launch, 0, format!("{shared} bytes of shared memory of {most_shared}")));
    }
    Ok(())
}
