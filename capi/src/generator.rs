//! Random numbers.
//!
//! `rlt_manual_seed` seeds the default generator; a generator of one's own is an argument of the operators that draw. The same
//! seed gives the numbers of PyTorch.
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

/// A random generator of the CPU: PyTorch's mt19937, the same numbers for the same seed. Shared: operators
/// that draw from it on several threads take turns.
pub struct rlt_generator {
    _private: [u8; 0],
}

impl Handle for rlt_generator {
    type Rust = Generator;
}

// ---- Generators ----

/// A new generator that starts from `seed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_new(seed: u64, out: *mut *mut rlt_generator) -> i32 {
    guard("rlt_generator_new", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::handle(out, "out") }?.give(Generator::new(seed))
    })
}

/// The generator that operators use when they are given none. Until it is seeded, its numbers differ from process to process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_default(out: *mut *mut rlt_generator) -> i32 {
    guard("rlt_generator_default", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { out::handle(out, "out") }?.give(Generator::default_cpu())
    })
}

/// One more owner of the same generator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_retain(generator: *const rlt_generator, out: *mut *mut rlt_generator) -> i32 {
    guard("rlt_generator_retain", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            out::handle(out, "out")?.give(Generator::clone(&generator))
        }
    })
}

/// Frees a generator handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_free(generator: *mut rlt_generator) {
    // SAFETY: the caller keeps to docs/c-abi.md.
    guard_free("rlt_generator_free", || drop(unsafe { handle::take(generator) }));
}

// ---- Seeds and states ----

/// Lets the generator start again from `seed`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_manual_seed(generator: *const rlt_generator, seed: u64) -> i32 {
    guard("rlt_generator_manual_seed", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe { arg::handle(generator, "generator") }?.lock().manual_seed(seed);
        Ok(())
    })
}

/// Lets the generator start again from a seed that the system draws, and tells it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_seed(generator: *const rlt_generator, out: *mut u64) -> i32 {
    guard("rlt_generator_seed", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            let out = out::value(out, "out")?;
            out.set(generator.lock().seed())
        }
    })
}

/// The seed that the generator started from.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_initial_seed(generator: *const rlt_generator, out: *mut u64) -> i32 {
    guard("rlt_generator_initial_seed", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            out::value(out, "out")?.set(generator.lock().initial_seed())
        }
    })
}

/// The generator's state as a uint8 tensor, in PyTorch's own format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_get_state(generator: *const rlt_generator, out: *mut *mut rlt_tensor) -> i32 {
    guard("rlt_generator_get_state", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        unsafe {
            let generator = arg::handle(generator, "generator")?;
            let out = out::tensor(out, "out")?;
            let state = generator.lock().get_state();
            out.give(Tensor::from_slice(&state, &[state.len() as i64])?)
        }
    })
}

/// Puts a state of `rlt_generator_get_state` (or of PyTorch's `get_rng_state`) back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rlt_generator_set_state(generator: *const rlt_generator, state: *const rlt_tensor) -> i32 {
    guard("rlt_generator_set_state", || {
        // SAFETY: the caller keeps to docs/c-abi.md.
        let (generator, state) = unsafe { (arg::handle(generator, "generator")?, arg::tensor(state, "state")?) };
        ensure!(state.dtype() == DType::U8, Type, "a generator's state is a uint8 tensor, got {}", state.dtype());
        generator.lock().set_state(&state.to_vec::<u8>()?)
    })
}
