//! The user's saved-tensor hooks: store them on disk, on another device, in another precision. A thread has a stack of
//! them; the last one pushed packs the tensors that the thread saves.

use super::modes::GradModeGuard;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The packed value of a tensor.
pub trait PackedTensor: Send + Sync {
    /// Restores a tensor of the same content. May be called any number of times.
    fn unpack(&self) -> Result<Tensor>;
}

/// Packs tensors that are saved.
pub trait SavedTensorHooks: Send + Sync {
    /// Called once for each tensor that is saved. It must not write to the tensor.
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn PackedTensor>>;
}

#[derive(Default)]
struct Stack {
    hooks: Vec<Arc<dyn SavedTensorHooks>>,
    /// The error message if pushing hooks is disabled.
    disabled: Option<String>,
}

thread_local! {
    // Constant and without a destructor, so that the library can be unloaded while the thread lives.
    static COUNT: Cell<usize> = const { Cell::new(0) };
    /// The number of the thread; 0: not assigned yet.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
}

/// Assigns a number to a thread: no two threads of the process have the same, even if one has ended.
/// `std::thread::current` would use up a pthread key (`rushlight_base::thread`).
fn here() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if NUMBER.get() == 0 {
        NUMBER.set(NEXT.fetch_add(1, Ordering::Relaxed));
    }
    NUMBER.get()
}

/// The stacks of the threads that have one. Stored outside of the threads, which would need destructors.
static STACKS: LazyLock<Mutex<HashMap<u64, Stack>>> = LazyLock::new(Mutex::default);

fn stacks() -> MutexGuard<'static, HashMap<u64, Stack>> {
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_stack<R>(change: impl FnOnce(&mut Stack) -> R) -> R {
    let mut stacks = stacks();
    let here = here();
    let stack = stacks.entry(here).or_default();
    let result = change(stack);
    COUNT.set(stack.hooks.len());
    if stack.hooks.is_empty() && stack.disabled.is_none() {
        stacks.remove(&here);
    }
    result
}

/// Pushes hooks that pack the tensors that this thread saves. An error if hooks are disabled, with the message set
/// there.
pub fn push_saved_tensor_hooks(hooks: Arc<dyn SavedTensorHooks>) -> Result<()> {
    with_stack(|stack| {
        if let Some(message) = &stack.disabled {
            bail!(Runtime, "{message}");
        }
        stack.hooks.push(hooks);
        Ok(())
    })
}

/// Pops the hooks that were pushed last.
pub fn pop_saved_tensor_hooks() -> Result<()> {
    let popped = with_stack(|stack| stack.hooks.pop());
    ensure!(popped.is_some(), Runtime, "there are no hooks for saved tensors on this thread");
    Ok(())
}

/// Makes pushing hooks on this thread an error with `message`; `None` allows it again. An error if hooks are pushed.
pub fn disable_saved_tensor_hooks(message: Option<String>) -> Result<()> {
    with_stack(|stack| {
        if let Some(message) = &message {
            ensure!(stack.hooks.is_empty(), Runtime, "{message}");
        }
        stack.disabled = message;
        Ok(())
    })
}

/// The hooks of a thread, for another one that works on its behalf.
pub(super) struct SavedHooks(Vec<Arc<dyn SavedTensorHooks>>);

impl SavedHooks {
    /// The hooks of this thread; none while one of its hooks runs.
    pub(super) fn here() -> SavedHooks {
        let here = here();
        let of_stack = |stacks: MutexGuard<'_, HashMap<u64, Stack>>| Some(stacks.get(&here)?.hooks.clone());
        SavedHooks(if COUNT.get() == 0 { Vec::new() } else { of_stack(stacks()).unwrap_or_default() })
    }

    /// Whether this thread has hooks, or may not have any.
    pub(super) fn are_set() -> bool {
        COUNT.get() != 0 || stacks().contains_key(&here())
    }

    /// Activates them on this thread, which has none, while the result lives.
    pub(super) fn put_in_force(self) -> SavedHooksOfNewThread {
        with_stack(|stack| stack.hooks = self.0);
        SavedHooksOfNewThread
    }
}

/// Takes the hooks of a thread that ends out of the list.
pub(super) struct SavedHooksOfNewThread;

impl Drop for SavedHooksOfNewThread {
    fn drop(&mut self) {
        with_stack(|stack| stack.hooks.clear());
    }
}

/// The hooks that this thread uses for saving.
#[inline]
pub(super) fn active() -> Option<Arc<dyn SavedTensorHooks>> {
    if COUNT.get() == 0 { None } else { last() }
}

#[cold]
fn last() -> Option<Arc<dyn SavedTensorHooks>> {
    stacks().get(&here())?.hooks.last().cloned()
}

/// Packs `tensor`. Operators that the hooks call are not recorded.
pub(super) fn pack(hooks: &dyn SavedTensorHooks, tensor: &Tensor) -> Result<Box<dyn PackedTensor>> {
    let _mode = GradModeGuard::new(false);
    let version = tensor.version();
    // Within hooks, tensors are saved without hooks, to avoid infinite recursion.
    let count = COUNT.replace(0);
    let packed = hooks.pack(tensor);
    COUNT.set(count);
    let packed = packed?;
    ensure!(
        tensor.version() == version,
        Runtime,
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook can not be \
         modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need \
         to perform in-place operations on the input to a pack hook."
    );
    Ok(packed)
}
