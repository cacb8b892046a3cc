//! A sparse tensor needs memory for its elements only: 10^6 x 10^6 with 100 elements takes a few KB.

use rushlight_base::memory::{memory_stats, reset_peak_memory};
use rushlight_tensor::{Options, Tensor, autograd, ops};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of Rust's own memory, and the most there were.
static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: forwards to `System` and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(live, Ordering::Relaxed);
        // SAFETY: the caller guarantees what `System.alloc` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: every block came from `System` with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SIZE: i64 = 1_000_000;
const COUNT: i64 = 100;

fn large(seed: i64) -> Tensor {
    let coordinates: Vec<i64> = (0..2 * COUNT).map(|at| (at * 7_919 + seed * 104_729) * 31 % SIZE).collect();
    let values: Vec<f32> = (0..COUNT).map(|at| at as f32 + 1.0).collect();
    let indices = Tensor::from_slice(&coordinates, &[2, COUNT]).unwrap();
    let values = Tensor::from_slice(&values, &[COUNT]).unwrap();
    ops::sparse_coo_tensor_indices_size(&indices, &values, &[SIZE, SIZE], Options::default(), None).unwrap()
}

fn work() {
    let (a, b) = (large(1), large(2));
    let sum = ops::add_tensor(&ops::coalesce(&a).unwrap(), &ops::coalesce(&b).unwrap(), 2.into()).unwrap();
    assert_eq!((sum.nnz().unwrap(), sum.numel()), (2 * COUNT, SIZE * SIZE));
    let total = ops::sum(&sum, None).unwrap().item().unwrap();
    assert_eq!(total, rushlight_base::Scalar::Float(3.0 * 5050.0));
    let product = ops::mm(&a, &ops::t(&a).unwrap()).unwrap();
    assert!(product.nnz().unwrap() >= COUNT);
    let turned = ops::neg(&ops::sqrt(&ops::mul_scalar(&a, 4.into()).unwrap()).unwrap()).unwrap();
    assert_eq!(ops::sum_dim_intlist(&turned, Some(&[1]), false, None).unwrap().sizes()[..], [SIZE]);
    let leaf = ops::clone(&ops::coalesce(&a).unwrap(), None).unwrap();
    leaf.set_requires_grad(true).unwrap();
    let loss = ops::_sparse_sum(&ops::mul_tensor(&leaf, &leaf).unwrap()).unwrap();
    autograd::backward(&[&loss], &[None], false, false, &[]).unwrap();
    assert_eq!(leaf.grad().unwrap().nnz().unwrap(), COUNT);
}

#[test]
fn a_large_sparse_matrix_takes_a_few_kilobytes() {
    // Caches and tables that are created once do not count.
    work();
    let (tensors, own) = (memory_stats().allocated, LIVE.load(Ordering::Relaxed));
    reset_peak_memory();
    MOST.store(own, Ordering::Relaxed);
    work();
    let (tensors, own) = (memory_stats().peak - tensors, MOST.load(Ordering::Relaxed) - own);
    assert!(tensors < 64 << 10, "{tensors} bytes of tensors");
    assert!(own < 64 << 10, "{own} bytes besides");
}
