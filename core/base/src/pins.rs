//! What the threads are looking at, so that nobody frees it meanwhile.
//!
//! A thread that is about to follow a pointer which another thread may replace writes down what it looks at, in a place of
//! its own ([`pin`]); whoever has replaced the pointer asks whether anybody looks ([`is_pinned`]) before he frees what it
//! pointed to. These are hazard pointers; writing down is two plain stores, since the fence between that and following the
//! pointer is on the side of the one who replaces (`asymmetric.rs`).

use crate::asymmetric::{heavy, light};
use crate::local::{self, Local};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Pins that a thread can have at once: more than the arguments of any operator that does not take a list.
const PLACES: usize = 32;

/// The pins of one thread.
pub(crate) struct Pins {
    /// A bit for each place that is taken; only the thread itself looks here.
    taken: AtomicU32,
    places: [AtomicPtr<()>; PLACES],
}

impl Pins {
    pub(crate) const fn new() -> Pins {
        Pins { taken: AtomicU32::new(0), places: [const { AtomicPtr::new(ptr::null_mut()) }; PLACES] }
    }

    /// The thread is no more.
    pub(crate) fn clear(&self) {
        self.taken.store(0, Ordering::Relaxed);
        self.places.iter().for_each(|place| place.store(ptr::null_mut(), Ordering::Relaxed));
    }
}

/// A place in which the thread has written what it looks at. It stays with its thread.
#[derive(Clone, Copy)]
pub struct Pin {
    local: &'static Local,
    place: u32,
    _of_thread: std::marker::PhantomData<*mut ()>,
}

/// This thread looks at `what` from now on: pointers that it reads after this, and that lead there, may be followed until
/// the pin is [released](Pin::release). `None`: no place is left.
#[inline(always)]
pub fn pin(what: *const ()) -> Option<Pin> {
    let local = local::mine()?;
    let taken = local.pins.taken.load(Ordering::Relaxed);
    if taken == u32::MAX {
        return None;
    }
    let place = taken.trailing_ones();
    local.pins.taken.store(taken | (taken + 1), Ordering::Relaxed);
    local.pins.places[place as usize % PLACES].store(what.cast_mut(), Ordering::Relaxed);
    light();
    Some(Pin { local, place, _of_thread: std::marker::PhantomData })
}

impl Pin {
    /// The thread no longer looks. What it reads from now on tells whether somebody has met the pin.
    #[inline(always)]
    pub fn release(self) {
        let pins = &self.local.pins;
        pins.places[self.place as usize % PLACES].store(ptr::null_mut(), Ordering::Release);
        pins.taken.store(pins.taken.load(Ordering::Relaxed) & !(1 << self.place), Ordering::Relaxed);
        light();
    }
}

/// The places of several pins that are taken and given back together: what an operator looks at.
#[derive(Clone, Copy)]
pub struct PinSet {
    local: &'static Local,
    /// A bit for each place.
    places: u32,
    _of_thread: std::marker::PhantomData<*mut ()>,
}

/// [`pin`] for several at once. `None`: there are not as many places left.
#[inline(always)]
pub fn pin_all<const N: usize>(what: [*const (); N]) -> Option<PinSet> {
    let local = local::mine()?;
    let before = local.pins.taken.load(Ordering::Relaxed);
    if (before.count_zeros() as usize) < N {
        return None;
    }
    let mut taken = before;
    for what in what {
        let place = taken.trailing_ones();
        taken |= taken + 1;
        local.pins.places[place as usize % PLACES].store(what.cast_mut(), Ordering::Relaxed);
    }
    local.pins.taken.store(taken, Ordering::Relaxed);
    light();
    Some(PinSet { local, places: taken & !before, _of_thread: std::marker::PhantomData })
}

impl PinSet {
    /// As [`Pin::release`].
    #[inline(always)]
    pub fn release(self) {
        let pins = &self.local.pins;
        let mut places = self.places;
        while places != 0 {
            pins.places[places.trailing_zeros() as usize % PLACES].store(ptr::null_mut(), Ordering::Release);
            places &= places - 1;
        }
        pins.taken.store(pins.taken.load(Ordering::Relaxed) & !self.places, Ordering::Relaxed);
        light();
    }
}

/// Does any thread look at `what`? Whoever begins to look from now on sees what the caller wrote before this. Also true
/// where that cannot be known.
pub fn is_pinned(what: *const ()) -> bool {
    if !heavy() {
        return true;
    }
    let mut places = local::all().iter().flat_map(|local| &local.pins.places);
    // Acquire: what a thread read before it released its pin, it has read.
    places.any(|place| ptr::eq(place.load(Ordering::Acquire), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_seen_until_they_are_released_in_any_order() {
        let values = [0u8; PLACES + 1];
        let at = |index: usize| (&raw const values[index]).cast::<()>();
        let mut pins: Vec<Pin> = (0..PLACES).map(|index| pin(at(index)).unwrap()).collect();
        assert!(pin(at(PLACES)).is_none() && !is_pinned(at(PLACES)));
        pins.swap_remove(3).release();
        assert!(!is_pinned(at(3)) && is_pinned(at(4)));
        let again = pin(at(4)).unwrap();
        pins.drain(..).for_each(Pin::release);
        assert!(is_pinned(at(4)) && !is_pinned(at(0)));
        again.release();
        assert!(!is_pinned(at(4)));
    }

    #[test]
    fn several_pins_take_the_places_that_are_free_and_give_back_only_their_own() {
        let values = [0u8; PLACES];
        let at = |index: usize| (&raw const values[index]).cast::<()>();
        let single = pin(at(0)).unwrap();
        let several = pin_all([at(1), at(2), at(1)]).unwrap();
        assert!((0..3).all(|index| is_pinned(at(index))));
        single.release();
        let rest: Vec<Pin> = (3..PLACES).map(|index| pin(at(index)).unwrap()).collect();
        assert!(pin_all([at(0), at(0)]).is_none() && !is_pinned(at(0)));
        several.release();
        assert!(!is_pinned(at(1)) && !is_pinned(at(2)) && is_pinned(at(3)));
        rest.into_iter().for_each(Pin::release);
        pin_all([]).unwrap().release();
        assert!(!is_pinned(at(3)));
    }
}
