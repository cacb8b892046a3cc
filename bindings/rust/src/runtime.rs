//! Settings of the process and of threads: seeds, threads, memory, cancellation, the log, devices.

use crate::{DType, Result};
use rushlight_base::cancel::{self, CancelToken as Token};
use rushlight_base::runtime::{self, LogHook};
use rushlight_base::{ensure, memory};
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

pub use rushlight_base::memory::MemoryStats;
pub use rushlight_base::runtime::{Determinism, LogLevel};

// ---- Random numbers and dtypes ----

/// Seeds the default generators of the CPU and of all devices. The numbers are those of PyTorch with this seed.
pub fn manual_seed(seed: u64) {
    rushlight_tensor::manual_seed(seed);
}

/// The dtype of tensors whose dtype is not given: float32, unless it was set.
pub fn default_dtype() -> DType {
    runtime::default_dtype()
}

/// Sets the dtype of tensors whose dtype is not given.
///
/// # Errors
/// Raises an error if the dtype is not floating point.
pub fn set_default_dtype(dtype: DType) -> Result<()> {
    ensure!(dtype.is_floating(), Type, "only floating-point types are supported as the default type");
    runtime::set_default_dtype(dtype);
    Ok(())
}

// ---- Threads and determinism ----

/// The number of threads that an operator may use.
pub fn num_threads() -> usize {
    runtime::num_threads()
}

/// Sets the number of threads that an operator may use. Results do not depend on it.
///
/// # Errors
/// Raises an error if the number is 0.
pub fn set_num_threads(threads: usize) -> Result<()> {
    runtime::set_num_threads(i64::try_from(threads).unwrap_or(i64::MAX))
}

/// Sets deterministic mode. Rushlight's own operators are deterministic in every mode; it changes whether uninitialized memory
/// is filled, and what custom operators do.
pub fn set_determinism(determinism: Determinism) {
    runtime::set_determinism(determinism);
}

/// The current mode.
pub fn determinism() -> Determinism {
    runtime::determinism()
}

// ---- Memory ----

/// Bytes of tensor memory on the CPU: live ones, their maximum, and live plus cached ones.
pub fn memory_stats() -> MemoryStats {
    memory::memory_stats()
}

/// Resets the maximum to the bytes that are allocated now.
pub fn reset_peak_memory() {
    memory::reset_peak_memory();
}

/// Returns cached memory to the system.
pub fn trim_memory() {
    memory::trim_memory();
}

// ---- Cancellation ----

/// Ends the calls of threads that have entered it, once it is cancelled or its time is over: operators and backward passes,
/// including running ones, return an error of the kind `Cancelled`. Tensors that such a call was writing to hold unspecified
/// values.
///
/// ```
/// use rushlight::{CancelToken, ErrorKind, Tensor};
/// use std::time::Duration;
///
/// let token = CancelToken::new();
/// token.set_timeout(Duration::ZERO);
/// let error = token.run(|| Tensor::zeros([2]))?.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Clone)]
pub struct CancelToken(Arc<Token>);

impl Default for CancelToken {
    fn default() -> CancelToken {
        CancelToken::new()
    }
}

impl CancelToken {
    /// A token that is not cancelled and has no deadline.
    pub fn new() -> CancelToken {
        CancelToken(Token::new())
    }

    /// Cancels the token, for good. Any thread may call it.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Cancels the token when this time has passed; `None` removes the deadline. Any thread may call it.
    pub fn set_timeout(&self, timeout: impl Into<Option<Duration>>) {
        self.0.set_timeout(timeout.into());
    }

    /// Whether the token is cancelled or its deadline has passed.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Runs `body` with the token entered on this thread.
    ///
    /// # Errors
    /// Raises an error if 64 tokens are entered already; `body` does not run then.
    pub fn run<T>(&self, body: impl FnOnce() -> T) -> Result<T> {
        cancel::enter(&self.0)?;
        let _entered = Entered { token: &self.0, _thread: PhantomData };
        Ok(body())
    }
}

struct Entered<'a> {
    token: &'a Arc<Token>,
    _thread: PhantomData<*const ()>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        // Tokens are left in the reverse order, because calls of `run` nest: this cannot fail.
        let _ = cancel::leave(self.token);
    }
}

// ---- Log ----

type Log = Arc<dyn Fn(LogLevel, &str) + Send + Sync>;

static LOG: RwLock<Option<Log>> = RwLock::new(None);

/// Sends log lines, such as warnings, to `log`, which may be called on any thread. Without it they are discarded: Rushlight itself
/// never prints.
pub fn set_log(log: impl Fn(LogLevel, &str) + Send + Sync + 'static) {
    *LOG.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(log));
    runtime::set_log(Some(LogHook { context: std::ptr::null_mut(), write: write_log }));
}

/// Discards log lines from now on.
pub fn remove_log() {
    runtime::set_log(None);
    *LOG.write().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Passes a line to the log of [`set_log`].
unsafe extern "C" fn write_log(_context: *mut c_void, level: i32, text: *const c_char) {
    let log = LOG.read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(log) = log else { return };
    // SAFETY: `runtime::log` passes a NUL-terminated string that lives until this function returns.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let level = if level == LogLevel::Warning as i32 { LogLevel::Warning } else { LogLevel::Info };
    // A panic of the program's function must not pass the C function; the line is lost then.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| log(level, &text)));
}

// ---- Devices ----

/// The number of CUDA devices; 0 without a driver.
pub fn cuda_device_count() -> usize {
    usize::try_from(rushlight_tensor::devices::cuda_count()).unwrap_or(0)
}

/// Whether there is a CUDA device.
pub fn is_cuda_available() -> bool {
    cuda_device_count() > 0
}
