//! The recorded graph of tensors: the names of its nodes.

use crate::abi::RltNode;
use crate::door::{Door, Tensor};
use std::collections::{BTreeSet, HashSet};
use std::ffi::CStr;
use std::ptr;

/// A node of a graph.
struct Node<'a> {
    door: &'a Door,
    raw: *mut RltNode,
}

impl Drop for Node<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is owned, and released here, once.
        unsafe { (self.door.api.rlt_node_free)(self.raw) }
    }
}

impl Node<'_> {
    fn name(&self) -> Result<String, String> {
        let mut name = ptr::null();
        // SAFETY: the handle is live, since `self` owns it; the string is borrowed from it until it is copied.
        unsafe {
            self.door.check((self.door.api.rlt_node_name)(self.raw, &mut name))?;
            Ok(CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    fn number(&self) -> Result<u64, String> {
        let mut number = 0;
        // SAFETY: the handle is live, since `self` owns it.
        self.door.check(unsafe { (self.door.api.rlt_node_sequence_nr)(self.raw, &mut number) })?;
        Ok(number)
    }

    fn next(&self) -> Result<Vec<Self>, String> {
        let (mut count, mut nodes) = (0, Vec::new());
        // SAFETY: the handle is live, since `self` owns it.
        self.door.check(unsafe { (self.door.api.rlt_node_next_count)(self.raw, &mut count) })?;
        for at in 0..count {
            let (mut raw, mut input) = (ptr::null_mut(), 0);
            // SAFETY: the handle is live, since `self` owns it, and the index is below the count.
            self.door.check(unsafe { (self.door.api.rlt_node_next_at)(self.raw, at, &mut raw, &mut input) })?;
            nodes.extend((!raw.is_null()).then_some(Node { door: self.door, raw }));
        }
        Ok(nodes)
    }
}

impl Door {
    /// The names of the nodes that a gradient of these tensors passes.
    pub fn nodes_behind(&self, tensors: &[Tensor]) -> Result<BTreeSet<String>, String> {
        let mut open = Vec::new();
        for tensor in tensors {
            let mut raw = ptr::null_mut();
            // SAFETY: the handle is live, since `tensor` owns it.
            self.check(unsafe { (self.api.rlt_tensor_grad_fn)(tensor.raw(), &mut raw) })?;
            open.extend((!raw.is_null()).then_some(Node { door: self, raw }));
        }
        let (mut names, mut seen) = (BTreeSet::new(), HashSet::new());
        while let Some(node) = open.pop() {
            if seen.insert(node.number()?) {
                names.insert(node.name()?);
                open.extend(node.next()?);
            }
        }
        Ok(names)
    }
}
