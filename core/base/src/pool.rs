//! The threads behind `parallel_for`: a fork-join pool in which the caller participates.
//!
//! Each thread has a seat with its own range of shares; it takes them from the front, and then steals from the back of
//! others. Taking is a compare-and-swap on the seat's word, and a taken share belongs to the running loop, which cannot
//! end before it is done: a late worker finds empty seats or real work, never a finished loop. The caller runs all
//! shares that nobody has taken and thus waits only for running shares, never for a thread to wake up. The same loop
//! gives the same thread the same shares, near its caches.
//!
//! A worker without work spins for [`SPIN`], then sleeps. Workers are joined at shutdown and before the library is
//! unloaded. There is one loop at a time; one that finds the pool taken (a loop inside a share, a second user thread)
//! runs on its own thread. No thread is created before the first loop that needs one. `parallel.rs` decides which loops
//! use the pool, `fork.rs` handles forked children.
//!
//! Why there are more shares than threads: with one share per thread, the prototype of this pool took either half the
//! time or all of it. On a virtual machine, a sleeping worker starts 15 to 100 us after it was woken; a caller that had
//! finished its half by then also ran the other half. After pauses of 1 ms, two shares of 50 us ran one after the other
//! in 45 to 52 % of the calls (0.76 of the time of one thread at the 10th percentile, 1.33 at the 90th), and a worker
//! pinned to the caller's core behaved the same. With shares of a few microseconds the late worker costs only its
//! delay.

use crate::parallel::Job;
use crate::thread::Thread;
use crate::{cores, fork};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Threads that one loop can use, the caller included.
const SEATS: usize = 128;

/// How long a worker without work spins before it sleeps: longer than the pauses between the operators of a model,
/// short enough not to be noticed.
const SPIN: Duration = Duration::from_micros(50);

/// Short loops (a share takes a few microseconds) with fewer shares than this do not wake a sleeping worker, unless the
/// last such loop was just before: waking costs the caller about as much as the shares.
const WORTH_WAKING: usize = 8;

/// Stack of a worker: kernels keep their buffers on the heap.
const STACK: usize = 512 << 10;

/// The state of one thread of the pool. The caller's is the first.
///
/// Padding to two cache lines, which processors fetch together.
#[repr(align(128))]
struct Seat {
    /// Shares that nobody has taken: the first in the low half, the end in the high half.
    range: AtomicU64,
    /// The worker sleeps, or is about to.
    asleep: AtomicBool,
    /// The core that the worker was last seen on, plus one; 0: not known.
    core: AtomicUsize,
    /// The worker is to end.
    dismissed: AtomicBool,
    door: Mutex<()>,
    bell: Condvar,
}

impl Seat {
    const fn new() -> Seat {
        Seat {
            range: AtomicU64::new(0),
            asleep: AtomicBool::new(false),
            core: AtomicUsize::new(0),
            dismissed: AtomicBool::new(false),
            door: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    fn give(&self, first: usize, end: usize) {
        self.range.store((end as u64) << 32 | first as u64, Ordering::Release);
    }

    /// Takes a share: the first (`FRONT`) or the last one.
    #[inline]
    fn take<const FRONT: bool>(&self) -> Option<usize> {
        let mut range = self.range.load(Ordering::Relaxed);
        loop {
            let (first, end) = (range & u64::from(u32::MAX), range >> 32);
            if first >= end {
                return None;
            }
            let (share, rest) = if FRONT { (first, range + 1) } else { (end - 1, range - (1 << 32)) };
            // Acquire: data written before the range was published, that is the job, is visible.
            match self.range.compare_exchange_weak(range, rest, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(share as usize),
                Err(now) => range = now,
            }
        }
    }

    fn door(&self) -> MutexGuard<'_, ()> {
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the worker if it sleeps, and returns whether it did. Data for it must be written with `SeqCst` before.
    #[inline]
    fn wake(&self) -> bool {
        let asleep = self.asleep.load(Ordering::SeqCst);
        if asleep {
            self.ring();
        }
        asleep
    }

    #[cold]
    fn ring(&self) {
        // Once per sleep: a worker takes a while to wake up, and the next loop need not signal again.
        if self.asleep.swap(false, Ordering::SeqCst) {
            // While we hold the lock, the worker has not taken it yet or already waits for the signal.
            drop(self.door());
            self.bell.notify_one();
        }
    }
}

/// The pool. It is created at first use and destroyed by [`shutdown`].
struct Pool {
    /// Taken by the thread whose loop runs; protects `crew`.
    taken: AtomicBool,
    crew: UnsafeCell<Crew>,
    /// How long workers spin, in nanoseconds.
    spin: AtomicU64,
    board: Board,
    seats: [Seat; SEATS],
}

/// The running loop: the fields that a worker reads and writes share cache lines.
#[repr(align(128))]
struct Board {
    /// Counts the loops: workers watch it for the next one.
    loops: AtomicU64,
    /// Valid as long as there is a share that was taken and is not done.
    job: AtomicPtr<Job<'static>>,
    /// Seats in use.
    threads: AtomicUsize,
    /// The core that the caller runs on, plus one; 0: not known.
    core: AtomicUsize,
    /// Shares that workers have not reported as done.
    unfinished: AtomicUsize,
}

/// Data of the thread that has taken the pool.
struct Crew {
    workers: Vec<Thread>,
    /// Number of workers requested last time; there are fewer if the system could not create all of them.
    wanted: usize,
    /// When a short loop last found a sleeping worker.
    met_asleep: Option<Instant>,
}

// SAFETY: `crew` is accessed only by the thread that has taken the pool; the other fields are atomic or locked.
unsafe impl Sync for Pool {}
// SAFETY: none of the fields has thread affinity.
unsafe impl Send for Pool {}

static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// Runs the shares `0..shares` of `job` on this thread and up to `threads - 1` others. False: the pool is not
/// available, or not worth it, and nothing has run. `short`: a share takes a few microseconds.
pub(crate) fn run(job: &Job<'_>, shares: usize, threads: usize, short: bool) -> bool {
    if shares >= u32::MAX as usize {
        return false;
    }
    let pool = pool();
    if pool.taken.load(Ordering::Relaxed) || pool.taken.swap(true, Ordering::Acquire) {
        return false;
    }
    let ran = pool.run(job, shares, threads, short);
    pool.taken.store(false, Ordering::Release);
    ran
}

/// The pool, created if there is none.
#[inline]
fn pool() -> &'static Pool {
    // SAFETY: a non-null pool lives until `shutdown`, whose contract is that no other call is running.
    unsafe { POOL.load(Ordering::Acquire).as_ref() }.unwrap_or_else(make)
}

#[cold]
fn make() -> &'static Pool {
    let board = Board {
        loops: AtomicU64::new(0),
        job: AtomicPtr::new(ptr::null_mut()),
        threads: AtomicUsize::new(0),
        core: AtomicUsize::new(0),
        unfinished: AtomicUsize::new(0),
    };
    let made = Box::into_raw(Box::<Pool>::new_uninit()).cast::<Pool>();
    // SAFETY: the box has space for each field, and each is written once. The seats are written in place, because they
    // are too large for the stack.
    unsafe {
        (&raw mut (*made).taken).write(AtomicBool::new(false));
        (&raw mut (*made).crew).write(UnsafeCell::new(Crew { workers: Vec::new(), wanted: 0, met_asleep: None }));
        (&raw mut (*made).spin).write(AtomicU64::new(0));
        (&raw mut (*made).board).write(board);
        let seats = (&raw mut (*made).seats).cast::<Seat>();
        (0..SEATS).for_each(|seat| seats.add(seat).write(Seat::new()));
    }
    match POOL.compare_exchange(ptr::null_mut(), made, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: the exchange published `made`, which now lives until `shutdown`.
        Ok(_) => unsafe { &*made },
        // SAFETY: nobody has seen ours, which is dropped once; the other one is in force and lives until `shutdown`.
        Err(other) => unsafe {
            drop(Box::from_raw(made));
            &*other
        },
    }
}

impl Pool {
    /// The caller has taken the pool.
    fn run(&'static self, job: &Job<'_>, shares: usize, threads: usize, short: bool) -> bool {
        // SAFETY: this thread has taken the pool, and no other reference to `crew` exists while it holds it.
        let crew = unsafe { &mut *self.crew.get() };
        let most = threads.min(SEATS);
        if crew.workers.len() >= most {
            self.dismiss(crew, most - 1);
            self.choose_spin(threads);
        }
        if crew.wanted < most.min(shares) - 1 {
            self.hire(crew, most.min(shares) - 1, threads);
        }
        let threads = most.min(shares).min(crew.workers.len() + 1);
        if threads < 2 || (short && shares < WORTH_WAKING && !self.is_awake(crew)) {
            return false;
        }
        self.board.job.store(ptr::from_ref(job).cast_mut().cast(), Ordering::Relaxed);
        self.board.unfinished.store(shares, Ordering::Relaxed);
        self.board.threads.store(threads, Ordering::Relaxed);
        let mut first = 0;
        for (seat, place) in self.seats[..threads].iter().enumerate() {
            let end = first + shares / threads + usize::from(seat < shares % threads);
            place.give(first, end);
            first = end;
        }
        self.board.core.store(cores::current().map_or(0, |core| core + 1), Ordering::Relaxed);
        self.board.loops.fetch_add(1, Ordering::SeqCst);
        self.wake_below(0, threads);
        let done = self.take_part(0, threads);
        // Shares missing now were taken by workers and are running.
        let mut looks = 0u32;
        while self.board.unfinished.load(Ordering::Acquire) != done {
            looks = looks.saturating_add(1);
            // A worker that was preempted may need this core.
            if looks < 1000 && self.spin.load(Ordering::Relaxed) > 0 {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
        }
        true
    }

    /// Whether a worker would see a short loop at once, or it is time to wake one.
    fn is_awake(&self, crew: &mut Crew) -> bool {
        if !self.seats[1].asleep.load(Ordering::Relaxed) {
            return true;
        }
        let now = Instant::now();
        crew.met_asleep.replace(now).is_some_and(|before| now - before < SPIN)
    }

    /// Wakes the workers below `seat` in the tree whose root is the caller, so that no thread wakes many. A worker that
    /// is awake may come late from the previous loop, and take a share of this one without knowing which workers are
    /// below it now: it is passed over.
    fn wake_below(&self, seat: usize, threads: usize) {
        for below in 2 * seat + 1..(2 * seat + 3).min(threads) {
            if !self.seats[below].wake() {
                self.wake_below(below, threads);
            }
        }
    }

    /// Runs shares, first those of `seat`, until none is left. Returns how many.
    fn take_part(&self, seat: usize, threads: usize) -> usize {
        let mut done = 0;
        // SAFETY: a share was taken and is not done, so the loop has not ended and its job is alive.
        let job = || unsafe { &*self.board.job.load(Ordering::Relaxed) };
        while let Some(share) = self.seats[seat].take::<true>() {
            job().run(share);
            done += 1;
        }
        for step in 1..threads {
            let other = &self.seats[(seat + step) % threads];
            while let Some(share) = other.take::<false>() {
                job().run(share);
                done += 1;
            }
        }
        done
    }

    /// The main loop of a worker that has seen `seen` loops.
    fn work(&self, seat: usize, mut seen: u64) {
        while let Some(now) = self.wait(&self.seats[seat], seen) {
            seen = now;
            let threads = self.board.threads.load(Ordering::Relaxed);
            if seat < threads {
                self.avoid_others(seat, threads);
                self.wake_below(seat, threads);
                let done = self.take_part(seat, threads);
                if done > 0 {
                    self.board.unfinished.fetch_sub(done, Ordering::Release);
                }
            }
        }
    }

    /// Moves off the core of another thread of this loop: the scheduler sometimes wakes a worker on the caller's core
    /// although another one is idle, and leaves it there for long.
    #[inline]
    fn avoid_others(&self, seat: usize, threads: usize) {
        let Some(core) = cores::current() else { return };
        let of_caller = self.board.core.load(Ordering::Relaxed);
        let mine = &self.seats[seat].core;
        if core + 1 != of_caller && core + 1 == mine.load(Ordering::Relaxed) {
            return;
        }
        let is_taken = |core: usize| {
            let mut others = self.seats[..threads].iter().enumerate().filter(|(other, _)| *other != seat);
            core + 1 == of_caller || others.any(|(_, other)| core + 1 == other.core.load(Ordering::Relaxed))
        };
        // With more threads than cores there is nowhere to go.
        if is_taken(core) && self.spin.load(Ordering::Relaxed) > 0 {
            cores::leave(is_taken);
        }
        mine.store(cores::current().map_or(0, |core| core + 1), Ordering::Relaxed);
    }

    /// Waits for a loop after the one numbered `seen`. `None`: the worker is to end.
    fn wait(&self, seat: &Seat, seen: u64) -> Option<u64> {
        let next = |order| {
            let now = self.board.loops.load(order);
            (now != seen).then_some(now)
        };
        let spin = Duration::from_nanos(self.spin.load(Ordering::Relaxed));
        let mut found = None;
        if !spin.is_zero() {
            let start = Instant::now();
            // If the core was taken away meanwhile, the spin time has passed as well: other threads need the core more.
            while found.is_none() && start.elapsed() < spin {
                for _ in 0..32 {
                    found = next(Ordering::Acquire);
                    if found.is_some() {
                        break;
                    }
                    std::hint::spin_loop();
                }
            }
        }
        if found.is_none() && !seat.dismissed.load(Ordering::Acquire) {
            let mut door = seat.door();
            loop {
                seat.asleep.store(true, Ordering::SeqCst);
                found = next(Ordering::SeqCst);
                if found.is_some() || seat.dismissed.load(Ordering::SeqCst) {
                    break;
                }
                door = seat.bell.wait(door).unwrap_or_else(PoisonError::into_inner);
            }
            seat.asleep.store(false, Ordering::SeqCst);
        }
        found.filter(|_| !seat.dismissed.load(Ordering::Acquire))
    }

    /// With more threads than cores, a spinning thread keeps others from working.
    fn choose_spin(&self, threads: usize) {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = if threads <= cores { SPIN } else { Duration::ZERO };
        self.spin.store(spin.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Creates up to `wanted` workers, or as many as the system grants.
    #[cold]
    fn hire(&'static self, crew: &mut Crew, wanted: usize, threads: usize) {
        crew.wanted = wanted;
        if !fork::watch() {
            return;
        }
        self.choose_spin(threads);
        let seen = self.board.loops.load(Ordering::Relaxed);
        // Signals are for the threads of the program.
        let _blocked = BlockedSignals::new();
        while crew.workers.len() < wanted {
            let seat = crew.workers.len() + 1;
            self.seats[seat].dismissed.store(false, Ordering::Relaxed);
            match Thread::spawn(&format!("rushlight-{seat}"), STACK, move || self.work(seat, seen)) {
                Ok(worker) => crew.workers.push(worker),
                Err(_) => break,
            }
        }
    }

    /// Ends all workers but `rest`, and waits for that.
    #[cold]
    fn dismiss(&self, crew: &mut Crew, rest: usize) {
        for seat in &self.seats[rest + 1..=crew.workers.len()] {
            seat.dismissed.store(true, Ordering::SeqCst);
            seat.wake();
        }
        crew.workers.drain(rest..).for_each(Thread::join);
        crew.wanted = rest;
    }
}

/// Blocks the signals of this thread, and of those that it creates, until dropped; except those that report a fault.
struct BlockedSignals {
    #[cfg(unix)]
    before: libc::sigset_t,
}

impl BlockedSignals {
    #[cfg(unix)]
    fn new() -> BlockedSignals {
        // SAFETY: `sigfillset` and `pthread_sigmask` initialize the zeroed sets before they are read.
        unsafe {
            let (mut blocked, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut blocked);
            for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGABRT] {
                libc::sigdelset(&raw mut blocked, fault);
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const blocked, &raw mut before);
            BlockedSignals { before }
        }
    }

    #[cfg(not(unix))]
    fn new() -> BlockedSignals {
        BlockedSignals {}
    }
}

#[cfg(unix)]
impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: `self.before` was filled by pthread_sigmask in `new`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut()) };
    }
}

/// Ends the workers and frees the pool. No loop may be running; the next one creates it again.
pub(crate) fn shutdown() {
    let pool = POOL.swap(ptr::null_mut(), Ordering::AcqRel);
    // SAFETY: the pool came from a box in `make` and was just unpublished; only its workers still use it, and they are
    // joined before it is freed.
    unsafe {
        if let Some(shared) = pool.as_ref() {
            shared.dismiss(&mut *shared.crew.get(), 0);
            drop(Box::from_raw(pool));
        }
    }
}

/// A forked child has no workers, and another thread may have been using the pool: leave it as it is.
#[cfg(unix)]
pub(crate) fn after_fork_in_child() {
    POOL.store(ptr::null_mut(), Ordering::Relaxed);
}
