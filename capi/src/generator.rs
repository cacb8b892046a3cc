//! Random numbers.
//!
//! `rlt_manual_seed` seeds the default generator; random operators also take a separate generator as an argument. The
//! same seed gives PyTorch's numbers.
//!
//! ```c
//! const int64_t size = 1;
//! rlt_generator *generator = NULL;
//! rlt_tensor *x = NULL;
//! rlt_scalar value = {0};
//! int32_t status = rlt_generator_new(0, &generator);
//! if (!status) status = rlt_tensor_rand_generator(&size, 1, generator, NULL, &x);
//! if (!status) status = rlt_tensor_item(x, &value);
//! if (!status) printf("%.4f\n", value.re);  // prints 0.4963
//! rlt_tensor_free(x);
//! rlt_generator_free(generator);
//! ```

use crate::support::handle::{self, Handle};
use crate::support::{arg, guard, guard_free, out};
use crate::tensor::rlt_tensor;
use rushlight_base::{DType, ensure};
use rushlight_tensor::{Generator, Tensor};

/// A CPU random number generator: PyTorch's mt19937, with the same numbers for the same seed. Operators that use it on
/// several threads are serialized.
pub struct rlt_generator {
    _private: [u8; 0],
}

impl Handle for rlt_generator {
    type Rust = Generator;
}

// ---- Generators ----

/// Creates a generator with the given seed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_new(seed: u64, out: *mut *mut rlt_generator) -> i32 {
    guard("rlt_generator_new", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::handle(out, "out") }?.give(Generator::new(seed))
    })
}

/// Returns the default generator. Until it is seeded, its numbers differ from process to process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_default(out: *mut *mut rlt_generator) -> i32 {
    guard("rlt_generator_default", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `out` is NULL or writable.
        unsafe { out::handle(out, "out") }?.give(Generator::default_cpu())
    })
}

/// Adds an owner of the same generator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_retain(generator: *const rlt_generator, out: *mut *mut rlt_generator) -> i32 {
    guard("rlt_generator_retain", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            out::handle(out, "out")?.give(Generator::clone(&generator))
        }
    })
}

/// Frees a generator handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_free(generator: *mut rlt_generator) {
    // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` is NULL or a live handle that
    // the caller gives up.
    guard_free("rlt_generator_free", || drop(unsafe { handle::take(generator) }));
}

// ---- Seeds and states ----

/// Sets the seed of the generator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_manual_seed(generator: *const rlt_generator, seed: u64) -> i32 {
    guard("rlt_generator_manual_seed", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` is NULL or a live handle.
        unsafe { arg::handle(generator, "generator") }?.lock().manual_seed(seed);
        Ok(())
    })
}

/// Sets the seed of the generator to a random number from the system, and returns it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_seed(generator: *const rlt_generator, out: *mut u64) -> i32 {
    guard("rlt_generator_seed", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            let out = out::value(out, "out")?;
            out.set(generator.lock().seed())
        }
    })
}

/// Returns the initial seed of the generator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_initial_seed(generator: *const rlt_generator, out: *mut u64) -> i32 {
    guard("rlt_generator_initial_seed", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            out::value(out, "out")?.set(generator.lock().initial_seed())
        }
    })
}

/// Returns the generator's state as a uint8 tensor, in PyTorch's format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_get_state(generator: *const rlt_generator, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_generator_get_state", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` is NULL or a live handle,
        // and `out` is NULL or writable.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            let out = out::tensor(out, "out")?;
            let state = generator.lock().get_state();
            out.give(Tensor::from_slice(&state, &[state.len() as i64])?)
        }
    })
}

/// Restores a state from `rlt_generator_get_state` (or from PyTorch's `get_rng_state`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_set_state(generator: *const rlt_generator, state: *const rlt_tensor) -> i32 {
    guard("rlt_generator_set_state", || {
        // SAFETY: docs/c-abi.md obliges the caller: for the duration of the call, `generator` and `state` are NULL or
        // live handles.
        let (generator, state) = unsafe { (arg::handle(generator, "generator")?, arg::tensor(state, "state")?) };
        ensure!(state.dtype() == DType::U8, Type, "a generator's state is a uint8 tensor, got {}", state.dtype());
        generator.lock().set_state(&state.to_vec::<u8>()?)
    })
}
