//! The observers of the process and of each thread.

use super::call::{Call, Scope};
use crate::keys;
use rushlight_base::random::philox;
use rushlight_base::{Result, SmallVec, ensure};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// Is notified of calls. It may be called from any thread. Operators that it calls are not observed.
pub trait Observer: Send + Sync {
    /// A call begins. What it returns is passed to [`Observer::end`] of the same call. Errors go to the log.
    fn begin(&self, call: &Call<'_>) -> Result<usize>;

    /// A call ends. It may end on another thread than it began.
    fn end(&self, call: &Call<'_>, state: usize) -> Result<()>;
}

/// What observers read of a call besides its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The arguments.
    pub inputs: bool,
    /// The results.
    pub outputs: bool,
}

/// Which calls an observer is notified of.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The bits of scopes (`Scope::bit`).
    pub scopes: u32,
    /// The probability with which it is notified of a call.
    pub sampling: f64,
    /// What it reads of a call.
    pub needs: Needs,
}

impl Default for Settings {
    /// Every call.
    fn default() -> Settings {
        Settings { scopes: u32::MAX, sampling: 1.0, needs: Needs::default() }
    }
}

/// An observer that was added.
pub(crate) struct Registered {
    id: u64,
    observer: Arc<dyn Observer>,
    settings: Settings,
    enabled: AtomicBool,
}

impl Registered {
    pub(super) fn observer(&self) -> &dyn Observer {
        &*self.observer
    }

    fn sees(&self, scope: Scope) -> bool {
        self.settings.scopes & scope.bit() != 0 && self.enabled.load(Ordering::Relaxed)
    }
}

type Registry = Vec<Arc<Registered>>;

static GLOBAL: RwLock<Registry> = RwLock::new(Vec::new());

/// The observers of a thread. They end with it.
struct OfThread(RefCell<Registry>);

impl Drop for OfThread {
    fn drop(&mut self) {
        count(-(self.0.borrow().len() as i64));
    }
}

thread_local! {
    static LOCAL: OfThread = const { OfThread(RefCell::new(Vec::new())) };
    static ENABLED: Cell<bool> = const { Cell::new(true) };
    /// The seed of the samples, and how many were drawn.
    static SAMPLES: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Number of observers of the process and of all threads. While there are any, every call has the key of the layer.
static COUNT: Mutex<i64> = Mutex::new(0);

fn count(change: i64) {
    let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
    *count += change;
    keys::set_observed(*count > 0);
}

/// Whether anything observes calls, on whatever thread.
#[inline]
pub(crate) fn is_any() -> bool {
    keys::is_observed()
}

fn registered(observer: Arc<dyn Observer>, settings: Settings) -> Result<Arc<Registered>> {
    ensure!((0.0..=1.0).contains(&settings.sampling), Value, "Invalid sampling probability");
    static LAST: AtomicU64 = AtomicU64::new(0);
    let id = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    Ok(Arc::new(Registered { id, observer, settings, enabled: AtomicBool::new(true) }))
}

/// Adds an observer of the calls of all threads. Returns its number, for [`remove`].
pub fn add_global(observer: Arc<dyn Observer>, settings: Settings) -> Result<u64> {
    let new = registered(observer, settings)?;
    let id = new.id;
    GLOBAL.write().unwrap_or_else(PoisonError::into_inner).push(new);
    count(1);
    Ok(id)
}

/// Adds an observer of the calls of this thread. Returns its number, for [`remove`].
pub fn add_thread_local(observer: Arc<dyn Observer>, settings: Settings) -> Result<u64> {
    let new = registered(observer, settings)?;
    let id = new.id;
    let is_added = LOCAL.try_with(|local| local.0.borrow_mut().push(new)).is_ok();
    ensure!(is_added, Runtime, "a thread that is ending cannot observe calls");
    count(1);
    Ok(id)
}

/// Removes an observer of the process or of this thread. False if there is none with this number. A running call that it
/// was notified of still ends with it.
pub fn remove(id: u64) -> bool {
    // An observer owns values of the program: it is dropped without the lock.
    let removed = take_out(&mut GLOBAL.write().unwrap_or_else(PoisonError::into_inner), id)
        .or_else(|| LOCAL.try_with(|local| take_out(&mut local.0.borrow_mut(), id)).ok().flatten());
    if removed.is_some() {
        count(-1);
    }
    removed.is_some()
}

fn take_out(list: &mut Registry, id: u64) -> Option<Arc<Registered>> {
    list.iter().position(|registered| registered.id == id).map(|position| list.remove(position))
}

/// Enables or disables an observer of the process or of this thread. False if there is none with this number.
pub fn set_observer_enabled(id: u64, enabled: bool) -> bool {
    let set = |list: &Registry| {
        let found = list.iter().find(|registered| registered.id == id);
        found.inspect(|registered| registered.enabled.store(enabled, Ordering::Relaxed)).is_some()
    };
    set(&GLOBAL.read().unwrap_or_else(PoisonError::into_inner))
        || LOCAL.try_with(|local| set(&local.0.borrow())).unwrap_or(false)
}

/// Removes the observers of the process.
pub fn clear_global() {
    let removed = std::mem::take(&mut *GLOBAL.write().unwrap_or_else(PoisonError::into_inner));
    count(-(removed.len() as i64));
}

/// Removes the observers of this thread.
pub fn clear_thread_local() {
    let removed = LOCAL.try_with(|local| std::mem::take(&mut *local.0.borrow_mut())).unwrap_or_default();
    count(-(removed.len() as i64));
}

/// The observers of a thread, for another one that works on its behalf.
pub(crate) struct Inherited {
    observers: Registry,
    enabled: bool,
}

impl Inherited {
    /// Those of this thread.
    pub(crate) fn here() -> Inherited {
        let observers = LOCAL.try_with(|local| local.0.borrow().clone()).unwrap_or_default();
        Inherited { observers, enabled: is_enabled() }
    }

    /// Adds them to this thread, which is new.
    pub(crate) fn put_in_force(self) {
        set_enabled(self.enabled);
        let added = self.observers.len() as i64;
        if LOCAL.try_with(|local| local.0.borrow_mut().extend(self.observers)).is_ok() {
            count(added);
        }
    }
}

/// Whether the process has observers.
pub fn has_global() -> bool {
    !GLOBAL.read().unwrap_or_else(PoisonError::into_inner).is_empty()
}

/// Whether this thread has observers.
pub fn has_thread_local() -> bool {
    LOCAL.try_with(|local| !local.0.borrow().is_empty()).unwrap_or(false)
}

/// Enables or disables all observers on this thread.
pub fn set_enabled(enabled: bool) {
    ENABLED.set(enabled);
}

/// Whether observers are enabled on this thread.
pub fn is_enabled() -> bool {
    ENABLED.get()
}

/// While it lives, calls of this thread are not observed: those of an observer itself.
pub(super) struct Silent(bool);

impl Silent {
    pub(super) fn enter() -> Silent {
        Silent(ENABLED.replace(false))
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        ENABLED.set(self.0);
    }
}

/// Reads the enabled observers of the process and of this thread, in the order in which they were added: first those of the
/// process.
fn for_each(scope: Scope, mut read: impl FnMut(&Arc<Registered>)) {
    if !is_enabled() {
        return;
    }
    let mut read_all = |list: &Registry| list.iter().filter(|registered| registered.sees(scope)).for_each(&mut read);
    read_all(&GLOBAL.read().unwrap_or_else(PoisonError::into_inner));
    // After its destructors have run, a thread has no observers.
    let _ = LOCAL.try_with(|local| read_all(&local.0.borrow()));
}

/// The observers that are to be notified of a call on this thread. Those with a sampling probability are sampled.
pub(crate) fn observers_of_thread(scope: Scope) -> SmallVec<[Arc<Registered>; 2]> {
    let mut observers = SmallVec::new();
    if is_any() {
        for_each(scope, |registered| {
            if registered.settings.sampling >= 1.0 || next_sample() < registered.settings.sampling {
                observers.push(registered.clone());
            }
        });
    }
    observers
}

/// Whether a call of this scope on this thread has observers.
pub fn is_observed(scope: Scope) -> bool {
    let mut any = false;
    if is_any() {
        for_each(scope, |_| any = true);
    }
    any
}

/// What the observers of such calls on this thread need.
pub fn needs(scope: Scope) -> Needs {
    let mut all = Needs::default();
    if is_any() {
        for_each(scope, |registered| {
            let needs = registered.settings.needs;
            all.inputs |= needs.inputs;
            all.outputs |= needs.outputs;
        });
    }
    all
}

/// Seeds the samples of this thread, for tests.
pub fn set_sampling_seed(seed: u64) {
    SAMPLES.set(Some((seed, 0)));
}

/// Returns a number in [0, 1). It does not consume numbers of the program's generators.
fn next_sample() -> f64 {
    let (seed, drawn) = SAMPLES.get().unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
        (now ^ super::current_thread() << 32, 0)
    });
    SAMPLES.set(Some((seed, drawn + 1)));
    let [high, low, ..] = philox::numbers(seed, 0, 0, drawn);
    let bits = u64::from(high) << 32 | u64::from(low);
    (bits >> 11) as f64 / (1u64 << 53) as f64
}
