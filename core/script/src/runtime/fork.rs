//! Forked functions on threads.
//!
//! `fork` queues the function in the [`Tasks`] of its run. Worker threads take it from there; so does the thread that waits
//! for its future, if no worker has, as a further frame of its interpreter. A thread thus waits only for functions that
//! another thread is running, and never runs anything else meanwhile: nested forks need neither further threads nor deep
//! stacks, and cannot block each other. A run returns when all functions that it has forked have ended.
//!
//! All runs together have as many threads as operators may use. The function runs at once, inside of `fork`, if
//! that is one, if the embedder provides the threads of loops, or if something observes the calls of this thread.

use super::code::Code;
use super::interpreter::{Environment, run_task};
use super::object::Future;
use super::value::Value;
use rushlight_base::cancel::{tokens, with_tokens};
use rushlight_base::runtime;
use rushlight_base::thread::Thread;
use rushlight_base::{Result, err};
use rushlight_tensor::autograd::ThreadModes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Threads of all runs.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Stack of a thread: that of calls within operators.
const STACK: usize = 2 << 20;

/// A function that was running when another one was forked: its code and the next instruction.
pub(super) type Position = (Arc<Code>, usize);

/// The functions around a forked one, for messages.
pub(super) struct Callers {
    pub(super) frames: Vec<Position>,
    pub(super) outer: Option<Arc<Callers>>,
}

impl Callers {
    /// All positions, the outermost first.
    pub(super) fn positions(&self) -> Vec<Position> {
        let mut parts = vec![&self.frames];
        let mut outer = &self.outer;
        while let Some(callers) = outer {
            parts.push(&callers.frames);
            outer = &callers.outer;
        }
        parts.into_iter().rev().flatten().cloned().collect()
    }
}

impl Drop for Callers {
    /// In a loop: functions can be forked in forked functions to any depth.
    fn drop(&mut self) {
        let mut outer = self.outer.take();
        while let Some(mut callers) = outer.and_then(Arc::into_inner) {
            outer = callers.outer.take();
        }
    }
}

/// A forked function that has not begun.
pub(super) struct Task {
    pub(super) code: Arc<Code>,
    pub(super) arguments: Vec<Value>,
    pub(super) environment: Environment,
    /// The modes of the thread that forked it.
    pub(super) modes: ThreadModes,
    pub(super) callers: Arc<Callers>,
    pub(super) tasks: Arc<Tasks>,
}

/// The forked functions of a run.
#[derive(Default)]
pub(super) struct Tasks {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Future>,
    /// Threads that wait for a function.
    idle: usize,
    threads: Vec<Thread>,
    /// The run has ended but for its forked functions.
    is_over: bool,
}

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a function, and starts a thread for it if all are busy and another one may be started.
    pub(super) fn fork(self: &Arc<Self>, task: Task) -> Result<Future> {
        let future = Future::queued(task);
        let mut state = self.lock();
        state.queue.try_reserve(1).map_err(|_| err!(OutOfMemory, "not enough memory to fork a function"))?;
        state.queue.push_back(future.clone());
        if state.idle >= state.queue.len() {
            drop(state);
            self.changed.notify_one();
        } else if let Some(place) = Place::take() {
            let (tasks, tokens) = (self.clone(), tokens());
            let thread = Thread::spawn("rushlight-fork", STACK, move || {
                let _place = place;
                with_tokens(tokens.as_ref(), || tasks.work());
            });
            // Without a thread, one that waits for the future runs the function.
            state.threads.extend(thread);
        }
        Ok(future)
    }

    /// The life of a thread.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(future) = state.queue.pop_front() {
                drop(state);
                run_if_queued(&future);
                drop(future);
                state = self.lock();
            } else if state.is_over {
                return;
            } else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    /// Runs what no thread has begun, and waits for the others.
    fn finish(&self) {
        self.lock().is_over = true;
        self.changed.notify_all();
        self.work();
        // A thread ends when it finds the queue empty, and may have started others before.
        loop {
            let threads = std::mem::take(&mut self.lock().threads);
            if threads.is_empty() {
                return;
            }
            threads.into_iter().for_each(Thread::join);
        }
    }
}

/// Runs a function on this thread, unless another one has begun it.
fn run_if_queued(future: &Future) {
    if let Some((task, running)) = Running::claim(future) {
        running.complete(run_task(task));
    }
}

/// The future of a function that this thread runs. It is completed with an error if the function panics.
pub(super) struct Running(Future);

impl Running {
    /// The function, if no thread has begun it.
    pub(super) fn claim(future: &Future) -> Option<(Task, Running)> {
        future.claim().map(|task| (task, Running(future.clone())))
    }

    pub(super) fn complete(self, result: Result<Value>) {
        self.0.complete(result);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.is_running() {
            self.0.complete(Err(err!(Internal, "a forked function ended without a result")));
        }
    }
}

impl Future {
    /// The value, or the error that ended the function, which this thread runs if no other one has begun it.
    pub fn wait(&self) -> Result<Value> {
        run_if_queued(self);
        self.block()
    }
}

/// The tasks of the run that an interpreter belongs to.
pub(super) struct Forks {
    tasks: Option<Arc<Tasks>>,
    /// Whether this is the first interpreter of the run, which waits for all tasks.
    waits: bool,
}

impl Forks {
    /// Those of a run that begins.
    pub(super) fn of_run() -> Forks {
        Forks { tasks: None, waits: true }
    }

    /// Those of the run that a forked function belongs to.
    pub(super) fn of(tasks: Arc<Tasks>) -> Forks {
        Forks { tasks: Some(tasks), waits: false }
    }

    /// Where a function can be forked now, with the modes that it takes over; none if it is to run at once.
    pub(super) fn tasks(&mut self) -> Option<(Arc<Tasks>, ThreadModes)> {
        if runtime::num_threads() < 2 || runtime::has_parallel_for() {
            return None;
        }
        let modes = ThreadModes::here()?;
        Some((self.tasks.get_or_insert_default().clone(), modes))
    }
}

impl Drop for Forks {
    fn drop(&mut self) {
        if let (Some(tasks), true) = (self.tasks.take(), self.waits) {
            tasks.finish();
        }
    }
}

/// One of the threads that all runs together may have.
struct Place;

impl Place {
    fn take() -> Option<Place> {
        let most = runtime::num_threads();
        let more = |threads| (threads < most).then_some(threads + 1);
        THREADS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok().map(|_| Place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        THREADS.fetch_sub(1, Ordering::Relaxed);
    }
}
