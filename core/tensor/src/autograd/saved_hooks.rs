//! Hooks of the user that decide what is kept of a tensor which is saved for backward: to disk, to another device, in
//! another precision. A thread has a stack of them; the last one pushed packs whatever the thread saves.

use super::modes::GradModeGuard;
use crate::tensor::Tensor;
use rushlight_base::{Result, bail, ensure};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// What a hook made of a tensor.
pub trait PackedTensor: Send + Sync {
    /// A tensor of the same content. May be called any number of times.
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
    /// Why none may be pushed, if so.
    disabled: Option<String>,
}

thread_local! {
    // Constant and without a destructor, so that the library can be unloaded while the thread lives on.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The stacks of the threads that have one. Not in the threads themselves: they would need destructors.
static STACKS: LazyLock<Mutex<HashMap<ThreadId, Stack>>> = LazyLock::new(Mutex::default);

fn stacks() -> MutexGuard<'static, HashMap<ThreadId, Stack>> {
    STACKS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_stack<R>(change: impl FnOnce(&mut Stack) -> R) -> R {
    let mut stacks = stacks();
    let here = thread::current().id();
    let stack = stacks.entry(here).or_default();
    let result = change(stack);
    COUNT.set(stack.hooks.len());
    if stack.hooks.is_empty() && stack.disabled.is_none() {
        stacks.remove(&here);
    }
    result
}

/// From now on these hooks pack what this thread saves. An error where hooks are disabled, in the words given there.
pub fn push_saved_tensor_hooks(hooks: Arc<dyn SavedTensorHooks>) -> Result<()> {
    with_stack(|stack| {
        if let Some(message) = &stack.disabled {
            bail!(Runtime, "{message}");
        }
        stack.hooks.push(hooks);
        Ok(())
    })
}

/// The hooks before the last ones pushed are in force again.
pub fn pop_saved_tensor_hooks() -> Result<()> {
    let popped = with_stack(|stack| stack.hooks.pop());
    ensure!(popped.is_some(), Runtime, "there are no hooks for saved tensors on this thread");
    Ok(())
}

/// On this thread pushing hooks is an error that says `message`; `None` allows it again. An error where there are hooks.
pub fn disable_saved_tensor_hooks(message: Option<String>) -> Result<()> {
    with_stack(|stack| {
        if let Some(message) = &message {
            ensure!(stack.hooks.is_empty(), Runtime, "{message}");
        }
        stack.disabled = message;
        Ok(())
    })
}

/// The hooks of a thread, for another one that works in its place.
pub(super) struct SavedHooks(Vec<Arc<dyn SavedTensorHooks>>);

impl SavedHooks {
    /// Those of this thread; none while a hook of it runs.
    pub(super) fn here() -> SavedHooks {
        let here = thread::current().id();
        let of_stack = |stacks: MutexGuard<'_, HashMap<ThreadId, Stack>>| Some(stacks.get(&here)?.hooks.clone());
        SavedHooks(if COUNT.get() == 0 { Vec::new() } else { of_stack(stacks()).unwrap_or_default() })
    }

    /// Put them in force on this thread, which has none, while the result lives.
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

/// The hooks in force on this thread.
#[inline]
pub(super) fn active() -> Option<Arc<dyn SavedTensorHooks>> {
    if COUNT.get() == 0 { None } else { last() }
}

#[cold]
fn last() -> Option<Arc<dyn SavedTensorHooks>> {
    stacks().get(&thread::current().id())?.hooks.last().cloned()
}

/// What the hooks make of `tensor`. Nothing that they do is recorded.
pub(super) fn pack(hooks: &dyn SavedTensorHooks, tensor: &Tensor) -> Result<Box<dyn PackedTensor>> {
    let _mode = GradModeGuard::new(false);
    let version = tensor.version();
    // What the hooks call saves nothing with hooks: it would never end.
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
