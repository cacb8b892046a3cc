//! What a hook is removed by, whatever became meanwhile of the tensor or the node that it was registered on.

use super::meta::{HookId, Landing};
use super::node::Node;
use std::sync::Weak;

/// A registered hook. It keeps nothing alive: neither the hook, nor what it was registered on.
pub struct Registered {
    id: HookId,
    place: Place,
}

/// Where hooks are kept.
pub(super) enum Place {
    Node(Weak<Node>),
    Leaf(Weak<Landing>),
}

impl Registered {
    pub(super) fn new(id: HookId, place: Place) -> Registered {
        Registered { id, place }
    }

    /// The name of the hook, for removing it through what it was registered on.
    pub fn id(&self) -> HookId {
        self.id
    }

    /// Remove the hook; false if it is gone already.
    pub fn remove(&self) -> bool {
        match &self.place {
            Place::Node(node) => node.upgrade().is_some_and(|node| node.remove_hook(self.id.0)),
            Place::Leaf(landing) => landing.upgrade().is_some_and(|landing| landing.remove_hook(self.id.0)),
        }
    }
}
