//! The layer of observed calls: notifies observers of the beginning and the end of each operator call, inner calls included.
//!
//! The handler calls the operator again, and inner calls have the key as well; so the layer keeps which operator's call the
//! observers of this thread know. The next call of that operator is this call, on its way through the layers below.

use super::by_name::keys_of_values;
use super::{Op, OpDef, Value, Values, active};
use crate::autograd;
use crate::keys::KeySet;
use crate::observe::{Name, Running, Scope, is_observed};
use rushlight_base::Result;
use std::cell::Cell;
use std::ptr;

thread_local! {
    /// The operator whose call was reported and has not reached its forward function yet, or null.
    static REPORTED: Cell<*const ()> = const { Cell::new(ptr::null()) };
}

/// The layers that are left for a call of a built-in operator: without the key of this layer if observers know the call, or
/// if this thread has none.
#[inline]
pub(crate) fn unobserved(op: &'static OpDef, keys: KeySet) -> KeySet {
    if keys.intersects(KeySet::OBSERVED) { below(ptr::from_ref(op).cast(), keys) } else { keys }
}

/// [`unobserved`] for any operator.
#[cold]
#[inline(never)]
pub(super) fn below(op: *const (), keys: KeySet) -> KeySet {
    let rest = keys & !KeySet::OBSERVED;
    if REPORTED.get() == op {
        if !rest.is_boxed() {
            // The forward function follows: a call of the same operator inside of it is another call.
            REPORTED.set(ptr::null());
        }
        return rest;
    }
    if is_observed(Scope::Function) { keys } else { rest }
}

/// While it lives, observers know the call of this operator.
struct Reported(*const ());

impl Reported {
    fn enter(op: &Op) -> Reported {
        Reported(REPORTED.replace(op.identity()))
    }
}

impl Drop for Reported {
    fn drop(&mut self) {
        REPORTED.set(self.0);
    }
}

/// The layer's handler.
pub(super) fn handle(op: &Op, args: &[Value], results: &mut Values) -> Result<()> {
    let running = Running::begin(Name::Op(op), Scope::Function, |call| {
        call.inputs = args;
        // As in PyTorch: an operator that may be recorded has the number of the next node.
        if autograd::is_grad_enabled() && active(keys_of_values(args)).intersects(KeySet::AUTOGRAD) {
            call.sequence = autograd::next_sequence_number();
        }
    });
    let called = {
        let _reported = Reported::enter(op);
        op.call_into(args, results)
    };
    if let Some(running) = running {
        running.end_with(results);
    }
    called
}
