//! Handle checking: with `RUSHLIGHT_CHECK_HANDLES=1` in the environment, using a handle that was freed, or has another
//! type, is the error `InvalidHandle` instead of undefined behaviour.
//!
//! A table of all live handles under one lock is too slow for production, but finds mistakes in tests. It cannot detect
//! a freed handle whose address has been reused by a new handle of the same type.

use super::name::Name;
use rushlight_base::{Result, bail};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// A live address: its handle type, and how many handles share it (shared values have one address).
struct Entry {
    kind: &'static str,
    owners: usize,
}

static LIVE: Mutex<BTreeMap<usize, Entry>> = Mutex::new(BTreeMap::new());

/// Whether checking is on. It cannot change after the first handle.
#[inline]
pub fn is_on() -> bool {
    match STATE.load(Ordering::Relaxed) {
        OFF => false,
        ON => true,
        _ => find_out(),
    }
}

#[cold]
fn find_out() -> bool {
    let on = std::env::var_os("RUSHLIGHT_CHECK_HANDLES").is_some_and(|value| value == "1");
    STATE.store(if on { ON } else { OFF }, Ordering::Relaxed);
    on
}

fn live() -> MutexGuard<'static, BTreeMap<usize, Entry>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `rlt_tensor`
fn kind<H>() -> &'static str {
    let path = std::any::type_name::<H>();
    path.rsplit("::").next().unwrap_or(path)
}

/// Called when a handle is created.
#[cold]
pub fn made<H>(handle: *const H) {
    live().entry(handle.addr()).or_insert(Entry { kind: kind::<H>(), owners: 0 }).owners += 1;
}

/// Whether this is a handle of its type.
#[cold]
pub fn check<H>(handle: *const H, name: impl Name) -> Result<()> {
    match live().get(&handle.addr()) {
        Some(entry) if entry.kind == kind::<H>() => Ok(()),
        Some(entry) => bail!(InvalidHandle, "argument `{name}` is a {}, not a {}", entry.kind, kind::<H>()),
        None => bail!(InvalidHandle, "argument `{name}` is not a live {}: it was freed, or never created", kind::<H>()),
    }
}

/// Called when a handle is freed.
#[cold]
pub fn freed<H>(handle: *const H) -> Result<()> {
    check(handle, "handle")?;
    let mut live = live();
    if let Some(entry) = live.get_mut(&handle.addr()) {
        entry.owners -= 1;
        if entry.owners == 0 {
            live.remove(&handle.addr());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Tensor;
    struct Generator;

    #[test]
    fn a_handle_is_known_from_its_creation_to_its_last_free() {
        let tensor = std::ptr::without_provenance::<Tensor>(0x1000);
        let message = |result: Result<()>| result.unwrap_err().message().to_owned();
        assert_eq!(
            message(check(tensor, "self")),
            "argument `self` is not a live Tensor: it was freed, or never created"
        );
        made(tensor);
        made(tensor);
        check(tensor, "self").unwrap();
        assert_eq!(message(check(tensor.cast::<Generator>(), "g")), "argument `g` is a Tensor, not a Generator");
        assert!(freed(tensor.cast::<Generator>()).is_err());
        freed(tensor).unwrap();
        freed(tensor).unwrap();
        assert!(freed(tensor).is_err());
    }
}
