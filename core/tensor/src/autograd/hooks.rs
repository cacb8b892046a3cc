//! Handles for removing hooks. They stay valid if their tensor or node is freed.

use super::meta::{HookId, Landing};
use super::node::Node;
use std::sync::Weak;

/// A registered hook. It keeps nothing alive: neither the hook, nor its tensor or node.
pub struct Registered {
    id: HookId,
    place: Place,
}

/// The owner of hooks.
pub(super) enum Place {
    Node(Weak<Node>),
    Leaf(Weak<Landing>),
}

impl Registered {
    pub(super) fn new(id: HookId, place: Place) -> Registered {
        Registered { id, place }
    }

    /// The id of the hook, for removing it through its tensor or node.
    pub fn id(&self) -> HookId {
        self.id
    }

    /// Removes the hook; false if it no longer exists.
    pub fn remove(&self) -> bool {
        match &self.place {
            Place::Node(node) => node.upgrade().is_some_and(|node| node.remove_hook(self.id.0)),
            Place::Leaf(landing) => landing.upgrade().is_some_and(|landing| landing.remove_hook(self.id.0)),
        }
    }
}
