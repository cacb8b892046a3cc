//! Parallel loops as kernels use them. These tests change process-wide settings, so they run one at a time.

use rushlight_base::ErrorKind;
use rushlight_base::runtime::{self, parallel_chunks, parallel_for};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURN: Mutex<()> = Mutex::new(());

/// The test has the process to itself until the guard is dropped.
fn alone() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_cancelled_loop_stops_between_shares() {
    let _turn = alone();
    let ran = AtomicUsize::new(0);
    let result = parallel_for(1000, &|_| {
        ran.fetch_add(1, Ordering::Relaxed);
        runtime::set_cancelled(true);
    });
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(ran.load(Ordering::Relaxed) < 1000);
    // Also a loop without shares between which it could stop.
    let result = parallel_chunks(5, 10, &|_| unreachable!("the flag is set"));
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Cancelled);
    runtime::set_cancelled(false);
    parallel_chunks(5, 10, &|chunk| assert_eq!(chunk, 0..5)).unwrap();
}

/// A sum whose rounding shows the order of its terms, from partial sums of fixed chunks.
fn sum(values: &[f32]) -> f32 {
    let length = runtime::chunk_length(values.len(), 1000);
    let parts: Vec<_> = (0..values.len().div_ceil(length)).map(|_| AtomicU32::new(0)).collect();
    parallel_chunks(values.len(), 1000, &|chunk| {
        let part: f32 = values[chunk.clone()].iter().sum();
        parts[chunk.start / length].store(part.to_bits(), Ordering::Relaxed);
    })
    .unwrap();
    parts.iter().map(|part| f32::from_bits(part.load(Ordering::Relaxed))).sum()
}

fn values() -> Vec<f32> {
    (0..200_000).map(|index| 1.0 / (index as f32 + 1.0)).collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let _turn = alone();
    let values = values();
    runtime::set_num_threads(1).unwrap();
    let expected = sum(&values);
    for threads in [2, 3, 8, 1, 2, 200, 2] {
        runtime::set_num_threads(threads).unwrap();
        for _ in 0..100 {
            assert_eq!(sum(&values).to_bits(), expected.to_bits(), "{threads}");
        }
    }
}

#[test]
fn each_share_runs_exactly_once() {
    let _turn = alone();
    for threads in [1, 2, 3, 8] {
        runtime::set_num_threads(threads).unwrap();
        for shares in [0, 1, 2, 3, 7, 64, 1000] {
            for _ in 0..50 {
                let runs: Vec<_> = (0..shares).map(|_| AtomicUsize::new(0)).collect();
                parallel_for(shares, &|share| {
                    runs[share].fetch_add(1, Ordering::Relaxed);
                })
                .unwrap();
                assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1), "{threads} {shares}");
            }
        }
    }
}

#[test]
fn another_thread_helps_and_the_surplus_of_workers_ends() {
    let _turn = alone();
    runtime::set_num_threads(4).unwrap();
    meet(4);
    assert_workers(3);
    runtime::set_num_threads(2).unwrap();
    meet(2);
    assert_workers(1);
    runtime::shutdown();
    assert_workers(0);
    runtime::set_num_threads(2).unwrap();
    meet(2);
    assert_workers(1);
}

/// Shares that can only finish together, on this many threads.
fn meet(threads: usize) {
    let here = AtomicUsize::new(0);
    parallel_for(threads, &|_| {
        here.fetch_add(1, Ordering::Relaxed);
        while here.load(Ordering::Relaxed) < threads {
            std::thread::yield_now();
        }
    })
    .unwrap();
}

/// The pool has this many workers; the system may still list one that was joined.
fn assert_workers(expected: usize) {
    let start = std::time::Instant::now();
    while workers() != expected && start.elapsed().as_secs() < 10 {
        std::thread::yield_now();
    }
    assert_eq!(workers(), expected);
}

/// Threads of this process that belong to the pool.
fn workers() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path().join("comm"));
    names.filter(|name| std::fs::read_to_string(name).is_ok_and(|name| name.starts_with("rushlight-"))).count()
}

#[test]
fn a_loop_inside_a_share_also_runs() {
    let _turn = alone();
    runtime::set_num_threads(3).unwrap();
    for _ in 0..100 {
        let runs = AtomicUsize::new(0);
        let count = |_| {
            runs.fetch_add(1, Ordering::Relaxed);
        };
        parallel_for(10, &|_| parallel_for(10, &count).unwrap()).unwrap();
        assert_eq!(runs.into_inner(), 100);
    }
}

#[test]
fn a_share_that_panics_is_an_error_and_the_pool_lives_on() {
    let _turn = alone();
    for threads in [1, 2, 8] {
        runtime::set_num_threads(threads).unwrap();
        for share in [0, 5, 9] {
            let result = parallel_for(10, &|this| assert!(this != share, "share {this} is bad"));
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Internal);
            assert!(error.to_string().contains(&format!("share {share} is bad")), "{error}");
        }
        parallel_for(10, &|_| {}).unwrap();
    }
}

#[test]
fn many_threads_run_loops_at_once() {
    let _turn = alone();
    runtime::set_num_threads(3).unwrap();
    let values = values();
    let expected = sum(&values).to_bits();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| (0..100).for_each(|_| assert_eq!(sum(&values).to_bits(), expected)));
        }
    });
}

#[cfg(unix)]
#[test]
fn a_forked_child_starts_afresh() {
    let _turn = alone();
    runtime::set_num_threads(2).unwrap();
    let values = values();
    let expected = sum(&values).to_bits();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Forks while this thread is in the middle of a loop most of the time.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                assert_eq!(sum(&values).to_bits(), expected);
            }
        });
        let statuses: Vec<i32> =
            (0..20).map(|_| in_child(|| (0..20).all(|_| sum(&values).to_bits() == expected))).collect();
        over.store(true, Ordering::Relaxed);
        assert_eq!(statuses, [0; 20]);
    });
    assert_eq!(
        in_child(|| {
            meet(2);
            workers() == 1
        }),
        0
    );
}

/// The status of a forked child, 0 if its condition is true.
#[cfg(unix)]
fn in_child(does: impl Fn() -> bool) -> i32 {
    // SAFETY: the child only computes, creates threads and exits; it does not return into the test harness.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(i32::from(!does()));
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        status
    }
}
