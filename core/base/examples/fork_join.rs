//! Measures the fork-join pool: an empty loop hot and cold, additions from 10^2 to 10^7 elements at one and two threads, and
//! loops after a pause, where a worker has to be woken. `cargo run --release -p rushlight-base --example fork_join`
#![allow(clippy::print_stdout, reason = "a program for people")]

use rushlight_base::runtime::{parallel_chunks, parallel_for, set_num_threads};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The 10th, 50th and 90th percentile in microseconds.
fn spread(mut times: Vec<f64>) -> [f64; 3] {
    times.sort_by(f64::total_cmp);
    [1, 5, 9].map(|tenth| times[times.len() * tenth / 10])
}

fn time(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    start.elapsed().as_secs_f64() * 1e6
}

/// Arithmetic that takes about `microseconds`.
fn burn(rounds_per_microsecond: f64, microseconds: f64) {
    let mut value = 1.0f64;
    for round in 0..(rounds_per_microsecond * microseconds) as usize {
        value = value * 1.000_000_1 + round as f64 * 1e-9;
    }
    black_box(value);
}

struct Shared(*mut f32);
// SAFETY: each chunk of the loop writes its own part.
unsafe impl Sync for Shared {}
impl Shared {
    fn at(&self, index: usize) -> *mut f32 {
        self.0.wrapping_add(index)
    }
}

fn add(out: &Shared, a: &[f32], b: &[f32]) {
    parallel_chunks(a.len(), 16384, &|chunk| {
        // SAFETY: the output is as long as the inputs, and chunks do not overlap.
        let out = unsafe { std::slice::from_raw_parts_mut(out.at(chunk.start), chunk.len()) };
        for ((out, a), b) in out.iter_mut().zip(&a[chunk.clone()]).zip(&b[chunk]) {
            *out = a + b;
        }
    })
    .unwrap();
}

fn main() {
    set_num_threads(2).unwrap();
    parallel_for(2, &|_| {}).unwrap();
    let hot = |shares| {
        spread(
            (0..2000).map(|_| time(|| (0..10).for_each(|_| parallel_for(shares, &|_| {}).unwrap())) / 10.0).collect(),
        )
    };
    println!("empty loop, hot, 2 shares: {:.2?} us; 16 shares: {:.2?} us", hot(2), hot(16));
    // Both threads take part: each waits for the other.
    let meet = || {
        let here = AtomicUsize::new(0);
        let meet = |_| {
            here.fetch_add(1, Ordering::Relaxed);
            while here.load(Ordering::Relaxed) < 2 {
                std::hint::spin_loop();
            }
        };
        parallel_for(2, &meet).unwrap();
    };
    println!(
        "two shares that meet, hot: {:.2?} us",
        spread((0..2000).map(|_| time(|| (0..10).for_each(|_| meet())) / 10.0).collect())
    );
    let cold = (0..200).map(|_| {
        std::thread::sleep(Duration::from_millis(2));
        time(|| parallel_for(2, &|_| {}).unwrap())
    });
    println!("empty loop, cold: {:.2?} us", spread(cold.collect()));

    println!("\nadd f32, us: elements | 1 thread p10 p50 p90 | 2 threads p10 p50 p90 | ratio of the medians");
    for exponent in 4..=14 {
        let len = 10f64.powf(f64::from(exponent) / 2.0) as usize;
        let (a, b, mut out) = (vec![1f32; len], vec![2f32; len], vec![0f32; len]);
        let out = Shared(out.as_mut_ptr());
        let repeat = (1_000_000 / len).max(1);
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..(20_000_000 / len).clamp(5, 20) {
            for (threads, times) in (1..).zip(&mut times) {
                set_num_threads(threads).unwrap();
                for round in 0..11 {
                    let taken = time(|| (0..repeat).for_each(|_| add(&out, &a, &b))) / repeat as f64;
                    if round > 0 {
                        times.push(taken);
                    }
                }
            }
        }
        let [one, two] = times.map(spread);
        println!("{len:9} | {one:9.2?} | {two:9.2?} | {:.2}", two[1] / one[1]);
    }

    set_num_threads(2).unwrap();
    let rounds = 1e6 / time(|| burn(1e6, 1.0));
    println!("\nafter a pause, in shares of 5 us: pause us, work us | time / time of one thread p10 p50 p90");
    for pause in [0.0, 20.0, 100.0, 300.0, 1000.0] {
        for work in [10.0, 40.0, 100.0, 200.0, 600.0, 2000.0] {
            let times = (0..(200_000.0 / (pause + work)) as usize).map(|_| {
                burn(rounds, pause);
                time(|| parallel_for((work / 5.0) as usize, &|_| burn(rounds, 5.0)).unwrap()) / work
            });
            println!("{pause:6} {work:6} | {:.2?}", spread(times.collect()));
        }
    }
}
