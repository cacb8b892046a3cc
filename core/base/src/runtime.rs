//! Process-wide state: settings and hooks. Everything here is constant-initialized: nothing happens at load time, and
//! [`shutdown`] leaves nothing behind. Parallel loops are in `parallel.rs`, cancellation is in `cancel.rs`.

pub use crate::cancel::{BETWEEN_CHECKS, check_cancelled, is_cancelled, set_cancelled};
use crate::hooks::Slot;
pub use crate::parallel::{
    FirstError, ParallelForHook, ShareFn, chunk_length, has_parallel_for, parallel_chunks, parallel_for,
    set_parallel_for, try_parallel_chunks,
};
use crate::{DType, Result, bail, ensure, reserve};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, AtomicU8, Ordering};

static DEFAULT_DTYPE: AtomicI32 = AtomicI32::new(DType::F32 as i32);
static NUM_THREADS: AtomicI64 = AtomicI64::new(0);
static DETERMINISM: AtomicU8 = AtomicU8::new(Determinism::Off as u8);
static FILL_UNSET: AtomicBool = AtomicBool::new(true);
static LOG: Slot<LogHook> = Slot::new();

/// The default dtype of tensors.
pub fn default_dtype() -> DType {
    DType::from_code(DEFAULT_DTYPE.load(Ordering::Relaxed)).unwrap_or(DType::F32)
}

/// Sets the default dtype. libtorch accepts any; where PyTorch requires a floating one, the binding checks.
pub fn set_default_dtype(dtype: DType) {
    DEFAULT_DTYPE.store(dtype as i32, Ordering::Relaxed);
}

/// Number of threads that an operator may use: the value set, else `MKL_NUM_THREADS`, `OMP_NUM_THREADS`, the cores.
pub fn num_threads() -> usize {
    match NUM_THREADS.load(Ordering::Relaxed) {
        0 => {
            let threads = threads_from_environment();
            NUM_THREADS.store(threads as i64, Ordering::Relaxed);
            threads
        }
        threads => threads as usize,
    }
}

fn threads_from_environment() -> usize {
    ["MKL_NUM_THREADS", "OMP_NUM_THREADS"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok()?.trim().parse::<usize>().ok())
        .find(|threads| *threads > 0)
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Sets the number of threads that an operator may use.
pub fn set_num_threads(threads: i64) -> Result<()> {
    ensure!(threads > 0, Runtime, "expected a positive number of threads, got {threads}");
    NUM_THREADS.store(threads, Ordering::Relaxed);
    Ok(())
}

/// Whether an operator may begin: not while the cancel flag is set, nor while the system has no memory left.
#[inline]
pub fn check_may_begin() -> Result<()> {
    check_cancelled()?;
    reserve::check()
}

/// Deterministic mode.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Determinism {
    /// Nothing is required.
    Off = 0,
    /// Nondeterministic operators warn.
    Warn = 1,
    /// Nondeterministic operators fail.
    Error = 2,
}

/// Sets deterministic mode. Rushlight's own operators are deterministic for any number of threads in every mode; the
/// mode changes whether uninitialized memory is filled ([`fills_unset_memory`]), and the result of custom operators
/// ([`alert_not_deterministic`]).
pub fn set_determinism(determinism: Determinism) {
    DETERMINISM.store(determinism as u8, Ordering::Relaxed);
}

/// The current mode.
pub fn determinism() -> Determinism {
    match DETERMINISM.load(Ordering::Relaxed) {
        0 => Determinism::Off,
        1 => Determinism::Warn,
        _ => Determinism::Error,
    }
}

/// Whether deterministic mode fills memory that `empty` and similar operators leave uninitialized (default true).
pub fn set_fill_unset_memory(on: bool) {
    FILL_UNSET.store(on, Ordering::Relaxed);
}

/// The setting of [`set_fill_unset_memory`].
pub fn fill_unset_memory() -> bool {
    FILL_UNSET.load(Ordering::Relaxed)
}

/// Whether uninitialized memory is to be filled.
pub fn fills_unset_memory() -> bool {
    determinism() != Determinism::Off && fill_unset_memory()
}

/// Reports that `operator`, a custom one, is not deterministic: an error or a log line, depending on the mode.
pub fn alert_not_deterministic(operator: &str) -> Result<()> {
    let missing = |setting: &str| {
        format!(
            "{operator} does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms({setting})'."
        )
    };
    const HELP: &str = "file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic \
                        support for this operation.";
    match determinism() {
        Determinism::Off => {}
        Determinism::Warn => {
            log(LogLevel::Warning, || format!("{} You can {HELP}", missing("True, warn_only=True")));
        }
        Determinism::Error => bail!(
            Runtime,
            "{} You can turn off determinism just for this operation, or you can use the 'warn_only=True' option, if that's \
             acceptable for your application. You can also {HELP}",
            missing("True")
        ),
    }
    Ok(())
}

/// Severity of a log line.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Informational message.
    Info = 0,
    /// Warning: probably a mistake.
    Warning = 1,
}

/// The embedder's log.
pub struct LogHook {
    /// Passed to `write`.
    pub context: *mut c_void,
    /// Receives a level and a NUL-terminated string.
    pub write: unsafe extern "C" fn(context: *mut c_void, level: i32, text: *const std::ffi::c_char),
}

// SAFETY: `set_log` requires of the embedder that the function and its context may be used from any thread.
unsafe impl Send for LogHook {}
// SAFETY: `&LogHook` only reads the pointers; `set_log` requires that any thread may use them.
unsafe impl Sync for LogHook {}

/// Sends log lines to the embedder (`None`: discards them; Rushlight itself never prints).
pub fn set_log(hook: Option<LogHook>) {
    LOG.set(hook);
}

/// Writes a line to the log, if there is one. The string is only built then.
pub fn log(level: LogLevel, text: impl FnOnce() -> String) {
    if let Some(hook) = LOG.get() {
        let mut text = text().replace('\0', " ");
        text.push('\0');
        // SAFETY: the embedder installed `write` with this context and signature, and `text` is NUL-terminated and
        // lives until it returns.
        unsafe { (hook.write)(hook.context, level as i32, text.as_ptr().cast()) }
    }
}

/// Returns to the state before the first call: settings at their defaults, hooks removed. No other call may be running.
pub fn shutdown() {
    DEFAULT_DTYPE.store(DType::F32 as i32, Ordering::Relaxed);
    NUM_THREADS.store(0, Ordering::Relaxed);
    set_cancelled(false);
    set_determinism(Determinism::Off);
    set_fill_unset_memory(true);
    LOG.clear();
    crate::parallel::shutdown();
    crate::memory::shutdown();
}
