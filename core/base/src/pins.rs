//! Hazard pointers: they keep a value alive while threads read it.
//!
//! Before a thread follows a pointer that another thread may replace, it stores the address of the owner in one of its
//! own slots ([`pin`]). A thread that has replaced the pointer frees the former value only if no slot has that address
//! ([`is_pinned`]). Pinning is two plain stores, because the fence between the stores and the read is issued by the
//! thread that reslots the pointer (`asymmetric.rs`).

use crate::asymmetric::{heavy, light};
use crate::local::{self, Local};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Number of pins that a thread can hold at once: more than the arguments of any operator that takes no list.
const SLOTS: usize = 32;

/// The pins of one thread.
pub(crate) struct Pins {
    /// A bit for each slot in use; accessed by the owning thread only.
    taken: AtomicU32,
    slots: [AtomicPtr<()>; SLOTS],
}

impl Pins {
    pub(crate) const fn new() -> Pins {
        Pins { taken: AtomicU32::new(0), slots: [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS] }
    }

    /// Resets the pins of a thread that no longer exists.
    #[cfg(unix)]
    pub(crate) fn clear(&self) {
        self.taken.store(0, Ordering::Relaxed);
        self.slots.iter().for_each(|slot| slot.store(ptr::null_mut(), Ordering::Relaxed));
    }
}

/// A slot in which the thread has stored an address. It cannot be sent to another thread.
#[derive(Clone, Copy)]
pub struct Pin {
    local: &'static Local,
    slot: u32,
    _of_thread: std::marker::PhantomData<*mut ()>,
}

/// Pins `what` for this thread: pointers read after this call that belong to `what` may be followed until the pin is
/// [released](Pin::release). `None` if no slot is free.
#[inline(always)]
pub fn pin(what: *const ()) -> Option<Pin> {
    let local = local::mine()?;
    let taken = local.pins.taken.load(Ordering::Relaxed);
    if taken == u32::MAX {
        return None;
    }
    let slot = taken.trailing_ones();
    local.pins.taken.store(taken | (taken + 1), Ordering::Relaxed);
    local.pins.slots[slot as usize % SLOTS].store(what.cast_mut(), Ordering::Relaxed);
    light();
    Some(Pin { local, slot, _of_thread: std::marker::PhantomData })
}

impl Pin {
    /// Releases the pin. Later reads of this thread see whether another thread has found the pin.
    #[inline(always)]
    pub fn release(self) {
        let pins = &self.local.pins;
        pins.slots[self.slot as usize % SLOTS].store(ptr::null_mut(), Ordering::Release);
        pins.taken.store(pins.taken.load(Ordering::Relaxed) & !(1 << self.slot), Ordering::Relaxed);
        light();
    }
}

/// The slots of several pins that are taken and released together: those of an operator's arguments.
#[derive(Clone, Copy)]
pub struct PinSet {
    local: &'static Local,
    /// A bit for each slot.
    slots: u32,
    _of_thread: std::marker::PhantomData<*mut ()>,
}

/// Like [`pin`], for several addresses at once. `None` if there are not enough free slots.
#[inline(always)]
pub fn pin_all<const N: usize>(what: [*const (); N]) -> Option<PinSet> {
    let local = local::mine()?;
    let before = local.pins.taken.load(Ordering::Relaxed);
    if (before.count_zeros() as usize) < N {
        return None;
    }
    let mut taken = before;
    for what in what {
        let slot = taken.trailing_ones();
        taken |= taken + 1;
        local.pins.slots[slot as usize % SLOTS].store(what.cast_mut(), Ordering::Relaxed);
    }
    local.pins.taken.store(taken, Ordering::Relaxed);
    light();
    Some(PinSet { local, slots: taken & !before, _of_thread: std::marker::PhantomData })
}

impl PinSet {
    /// Releases all pins, like [`Pin::release`].
    #[inline(always)]
    pub fn release(self) {
        let pins = &self.local.pins;
        let mut slots = self.slots;
        while slots != 0 {
            pins.slots[slots.trailing_zeros() as usize % SLOTS].store(ptr::null_mut(), Ordering::Release);
            slots &= slots - 1;
        }
        pins.taken.store(pins.taken.load(Ordering::Relaxed) & !self.slots, Ordering::Relaxed);
        light();
    }
}

/// Whether any thread has pinned `what`. A thread that pins it from now on sees what the caller wrote before this call.
/// Also true if the fence failed and the pins are unknown.
pub fn is_pinned(what: *const ()) -> bool {
    if !heavy() {
        return true;
    }
    let mut slots = local::all().iter().flat_map(|local| &local.pins.slots);
    // Acquire: the reads of a thread before its release happen before this load.
    slots.any(|slot| ptr::eq(slot.load(Ordering::Acquire), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_visible_until_they_are_released_in_any_order() {
        let values = [0u8; SLOTS + 1];
        let at = |index: usize| (&raw const values[index]).cast::<()>();
        let mut pins: Vec<Pin> = (0..SLOTS).map(|index| pin(at(index)).unwrap()).collect();
        assert!(pin(at(SLOTS)).is_none() && !is_pinned(at(SLOTS)));
        pins.swap_remove(3).release();
        assert!(!is_pinned(at(3)) && is_pinned(at(4)));
        let again = pin(at(4)).unwrap();
        pins.drain(..).for_each(Pin::release);
        assert!(is_pinned(at(4)) && !is_pinned(at(0)));
        again.release();
        assert!(!is_pinned(at(4)));
    }

    #[test]
    fn a_pin_set_uses_the_free_slots_and_releases_only_its_own() {
        let values = [0u8; SLOTS];
        let at = |index: usize| (&raw const values[index]).cast::<()>();
        let single = pin(at(0)).unwrap();
        let several = pin_all([at(1), at(2), at(1)]).unwrap();
        assert!((0..3).all(|index| is_pinned(at(index))));
        single.release();
        let rest: Vec<Pin> = (3..SLOTS).map(|index| pin(at(index)).unwrap()).collect();
        assert!(pin_all([at(0), at(0)]).is_none() && !is_pinned(at(0)));
        several.release();
        assert!(!is_pinned(at(1)) && !is_pinned(at(2)) && is_pinned(at(3)));
        rest.into_iter().for_each(Pin::release);
        pin_all([]).unwrap().release();
        assert!(!is_pinned(at(3)));
    }
}
