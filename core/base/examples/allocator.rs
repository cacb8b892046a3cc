//! Measures storages against `malloc`: allocating and freeing one of 16 bytes, and the large temporaries of a training
//! loop, whose pages are written once. `cargo run --release -p rushlight-base --example allocator`
#![allow(clippy::print_stdout, reason = "a program for people")]

use rushlight_base::Storage;
use rushlight_base::memory::set_cache_limit;
use std::hint::black_box;
use std::time::Instant;

/// The median of 21 rounds, in nanoseconds for each call.
fn median(calls: usize, mut call: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..21)
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_secs_f64() * 1e9 / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[10]
}

/// A step: temporaries of a forward pass, all alive, freed in a backward pass that allocates as many.
fn step<T>(make: impl Fn(usize) -> T, start: impl Fn(&T) -> *mut u8) {
    let make = |bytes: usize| {
        let block = make(bytes);
        // SAFETY: the block was just allocated with `bytes` bytes and has no other user.
        unsafe { start(&block).write_bytes(1, bytes) };
        block
    };
    let sizes = [3 << 20, 12 << 20, 800 << 10, 6 << 20, 200 << 10, 24 << 20];
    let mut forward: Vec<T> = sizes.iter().map(|bytes| make(*bytes)).collect();
    while let Some(block) = forward.pop() {
        drop(make(sizes[forward.len()]));
        drop(block);
    }
}

struct Malloc(*mut u8);
impl Malloc {
    fn new(bytes: usize) -> Malloc {
        // SAFETY: malloc has no precondition on the size.
        Malloc(unsafe { libc::malloc(bytes) }.cast())
    }
}
impl Drop for Malloc {
    fn drop(&mut self) {
        // SAFETY: the pointer came from malloc in `new`, and is freed once.
        unsafe { libc::free(self.0.cast()) }
    }
}

fn main() {
    let storage = |bytes| Storage::allocate(bytes).unwrap();
    for limit in [i64::MAX, 0] {
        set_cache_limit(limit).unwrap();
        println!("cache {}", if limit > 0 { "on" } else { "off" });
        let pair = median(100_000, || drop(black_box(storage(black_box(16)))));
        println!("  16 bytes, made and freed: {pair:.1} ns");
        let training = median(5, || step(storage, Storage::data));
        println!("  training step: {:.2} ms", training / 1e6);
    }
    let pair = median(100_000, || drop(black_box(Malloc::new(black_box(128 + 64)))));
    println!("malloc and free of as much: {pair:.1} ns");
    let training = median(5, || step(Malloc::new, |block| black_box(block.0)));
    println!("  training step with malloc: {:.2} ms", training / 1e6);
}
