//! The allocator as storages use it. The counters are process-wide, so these tests run one at a time.

use rushlight_base::memory::{memory_stats, reset_peak_memory, set_cache_limit, trim_memory};
use rushlight_base::pins::{is_pinned, pin};
use rushlight_base::{Storage, handles};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

/// The cache limit. Half of it is divided among the maximum number of concurrent threads: of 512, which one of the
/// tests creates, each may still cache the small blocks that the other tests check.
const LIMIT: i64 = 1 << 30;

/// The test has the process to itself until the guard is dropped; nothing is cached.
fn alone() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    set_cache_limit(LIMIT).unwrap();
    assert_eq!(kept(), 0);
    turn
}

fn kept() -> i64 {
    let stats = memory_stats();
    stats.reserved - stats.allocated
}

/// A storage whose bytes are all written.
fn filled(bytes: usize, value: u8) -> Storage {
    let storage = Storage::allocate(bytes).unwrap();
    assert_eq!(storage.data() as usize % 64, 0);
    // SAFETY: the storage has `bytes` bytes and no other user.
    unsafe { storage.data().write_bytes(value, bytes) };
    storage
}

fn holds(storage: &Storage, value: u8) -> bool {
    // SAFETY: `filled` has written all bytes of the storage, which outlives the slice.
    unsafe { std::slice::from_raw_parts(storage.data(), storage.bytes()) }.iter().all(|byte| *byte == value)
}

const SIZES: [usize; 12] = [0, 1, 16, 64, 1000, 1024, 5000, 60_000, 65_536, 300_000, 2 << 20, 5_000_000];

#[test]
fn freed_memory_is_used_again_and_trimmed() {
    let _turn = alone();
    for bytes in SIZES {
        let first = filled(bytes, 1).data();
        let again = filled(bytes, 2);
        assert_eq!(again.data(), first, "{bytes}");
    }
    assert!(kept() > 0);
    trim_memory();
    assert_eq!(kept(), 0);
}

#[test]
fn cached_memory_stays_within_the_limit() {
    let _turn = alone();
    for limit in [0, 1 << 20, 16 << 20] {
        set_cache_limit(limit).unwrap();
        for round in 0..3 {
            let live: Vec<_> = SIZES.iter().cycle().take(120).map(|bytes| filled(*bytes, round)).collect();
            assert!(live.iter().all(|storage| holds(storage, round)));
            drop(live);
            assert!(kept() <= limit, "{} of {limit}", kept());
        }
        assert_eq!(memory_stats().allocated, 0);
    }
}

#[test]
fn counters_and_the_high_water_mark_are_exact_in_one_thread() {
    let _turn = alone();
    reset_peak_memory();
    assert_eq!((memory_stats().allocated, memory_stats().peak), (0, 0));
    let small = filled(1000, 1);
    drop((filled(100, 1), filled(200, 1)));
    let large = filled(1_000_000, 1);
    assert_eq!((memory_stats().allocated, memory_stats().peak), (1_001_000, 1_001_000));
    drop(large);
    drop(filled(5000, 1));
    assert_eq!((memory_stats().allocated, memory_stats().peak), (1000, 1_001_000));
    reset_peak_memory();
    drop(filled(500, 1));
    assert_eq!((memory_stats().allocated, memory_stats().peak), (1000, 1500));
    drop(small);
}

#[test]
fn sixteen_threads_free_blocks_of_other_threads() {
    let _turn = alone();
    std::thread::scope(|scope| {
        for pair in 0..8u8 {
            let (send, receive) = sync_channel::<Storage>(32);
            scope.spawn(move || {
                for round in 0..3000 {
                    send.send(filled(SIZES[(round + usize::from(pair)) % 10], pair)).unwrap();
                }
            });
            scope.spawn(move || receive.iter().for_each(|storage| assert!(holds(&storage, pair))));
        }
    });
    assert_eq!(memory_stats().allocated, 0);
    assert!(kept() <= LIMIT);
}

#[test]
fn blocks_cached_by_a_waiting_thread_are_trimmed() {
    let _turn = alone();
    let both = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            drop((filled(1000, 1), filled(20_000, 1)));
            both.wait();
            both.wait();
            drop(filled(1000, 2));
        });
        both.wait();
        let before = kept();
        trim_memory();
        let after = kept();
        both.wait();
        assert!(before > 20_000 && after == 0, "{before} {after}");
    });
    assert_eq!(memory_stats().allocated, 0);
}

#[test]
fn threads_allocate_while_others_trim() {
    let _turn = alone();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let trims = scope.spawn(|| {
            let mut trims = 0;
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                trim_memory();
                trims += 1;
            }
            trims
        });
        let workers: Vec<_> = (0..3u8)
            .map(|value| {
                scope.spawn(move || {
                    for round in 0..20_000 {
                        let two = [64, 1000].map(|bytes| filled(bytes + round % 7, value));
                        assert!(two.iter().all(|storage| holds(storage, value)));
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(trims.join().unwrap() > 0);
    });
    trim_memory();
    assert_eq!((memory_stats().allocated, kept()), (0, 0));
}

#[test]
fn threads_beyond_the_number_of_slots_also_work() {
    const THREADS: usize = 600;
    let _turn = alone();
    let all = &std::sync::Barrier::new(THREADS);
    let without_pins = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|index| {
                let work = move || {
                    let mine = filled(1000, index as u8);
                    handles::made();
                    let pin = pin((&raw const mine).cast());
                    all.wait();
                    assert!(holds(&mine, index as u8));
                    let found = is_pinned((&raw const mine).cast());
                    assert_eq!(found, pin.is_some());
                    all.wait();
                    if let Some(pin) = pin {
                        pin.release();
                    }
                    handles::freed();
                    usize::from(!found)
                };
                std::thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, work).unwrap()
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
    });
    assert!((1..THREADS).contains(&without_pins), "{without_pins}");
    assert_eq!((memory_stats().allocated, handles::live()), (0, 0));
}

#[test]
fn the_high_water_mark_counts_blocks_passed_between_threads_once() {
    let _turn = alone();
    reset_peak_memory();
    let (send, receive) = sync_channel::<Storage>(4);
    std::thread::scope(|scope| {
        scope.spawn(move || (0..2000).for_each(|_| send.send(filled(50_000, 1)).unwrap()));
        scope.spawn(move || receive.iter().for_each(drop));
    });
    // 100 MB were allocated in total, at most six blocks at a time, and each thread may be off by 1 MiB and a block.
    let stats = memory_stats();
    assert!(stats.allocated == 0 && stats.peak < 4 << 20, "{stats:?}");
}

#[cfg(unix)]
#[test]
fn a_forked_child_allocates() {
    let _turn = alone();
    let over = std::sync::atomic::AtomicBool::new(false);
    let statuses: Vec<i32> = std::thread::scope(|scope| {
        for _ in 0..2 {
            // Makes it likely that a fork finds the locks taken.
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    SIZES.iter().for_each(|bytes| drop(Storage::allocate(*bytes).unwrap()));
                }
            });
        }
        let statuses = (0..50).map(|_| child_allocates()).collect();
        over.store(true, std::sync::atomic::Ordering::Relaxed);
        statuses
    });
    assert_eq!(statuses, [0; 50]);
}

#[cfg(unix)]
fn child_allocates() -> i32 {
    // SAFETY: the child only allocates and exits; it does not return into the test harness.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            for round in 0..4usize {
                SIZES.iter().for_each(|bytes| drop(filled(*bytes, round as u8)));
            }
            trim_memory();
            libc::_exit(0);
        }
        let mut status = -1;
        libc::waitpid(child, &raw mut status, 0);
        status
    }
}
