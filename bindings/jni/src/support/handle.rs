//! Handles: who owns what on the two sides.

use jni::sys::jlong;
use rushlight_base::{Result, err, handles};
use rushlight_tensor::autograd::{Node, Registered};
use rushlight_tensor::{Generator, Tensor};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

/// Hand a tensor to a Java wrapper, which frees it.
pub(super) fn give(tensor: Tensor) -> jlong {
    handles::made();
    tensor.into_raw() as jlong
}

/// Hand a generator to a Java wrapper, which frees it.
pub(super) fn give_generator(generator: Generator) -> jlong {
    handles::made();
    generator.into_raw() as jlong
}

/// A tensor that a Java wrapper owns and keeps alive during the call; 0 stands for none.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TensorHandle(jlong);

impl TensorHandle {
    /// The tensor, which must be there.
    pub fn get(self, name: &str) -> Result<Borrowed> {
        self.optional().ok_or_else(|| err!(NullPointer, "argument '{name}' is null"))
    }

    /// The tensor, or `None` for 0.
    pub fn optional(self) -> Option<Borrowed> {
        // SAFETY: only wrappers make handles, and they hold theirs open during the call (see the module's text).
        (self.0 != 0).then(|| Borrowed(unsafe { Tensor::borrow_raw(self.0 as *const _) }))
    }

    /// The wrapper is gone: take its share.
    pub fn free(self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: a wrapper frees its handle once, and does not use it afterwards.
            drop(unsafe { Tensor::from_raw(self.0 as *const _) });
        }
    }

    /// A handle out of an array that a wrapper filled.
    pub(super) fn of_element(handle: jlong) -> TensorHandle {
        TensorHandle(handle)
    }

    /// Take over a handle that Java gives back, as a hook does with its result.
    pub(super) fn take(handle: jlong) -> Option<Tensor> {
        (handle != 0).then(|| {
            handles::freed();
            // SAFETY: the upcall hands over a share of its own (`NativeCore.retain`).
            unsafe { Tensor::from_raw(handle as *const _) }
        })
    }
}

/// A tensor of Java's, for the time of a call.
pub struct Borrowed(ManuallyDrop<Tensor>);

impl Deref for Borrowed {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.0
    }
}

/// Tensors of Java's, for the time of a call.
pub struct BorrowedList(pub(super) Vec<Borrowed>);

impl BorrowedList {
    /// As operators take them.
    pub fn refs(&self) -> Vec<&Tensor> {
        self.0.iter().map(|tensor| &**tensor).collect()
    }
}

/// Tensors of Java's, some of which may be missing, for the time of a call.
pub struct BorrowedOptionalList(pub(super) Vec<Option<Borrowed>>);

impl BorrowedOptionalList {
    /// As operators take them.
    pub fn optional_refs(&self) -> Vec<Option<&Tensor>> {
        self.0.iter().map(|tensor| tensor.as_deref()).collect()
    }
}

/// A node of the graph that a Java wrapper owns and keeps alive during the call.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct NodeHandle(jlong);

impl NodeHandle {
    /// Hand a node to a Java wrapper, which frees it.
    pub(crate) fn give(node: Arc<Node>) -> jlong {
        handles::made();
        // A node is a fat pointer: Java gets the address of a box that holds it.
        Box::into_raw(Box::new(node)) as jlong
    }

    /// The node.
    pub(crate) fn get(self) -> Result<Arc<Node>> {
        // SAFETY: only wrappers make handles, of what `give` gave, and they hold theirs open during the call.
        let node = unsafe { (self.0 as *const Arc<Node>).as_ref() };
        node.cloned().ok_or_else(|| err!(NullPointer, "argument 'node' is null"))
    }

    /// The wrapper is gone: take its share.
    pub(crate) fn free(self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: a wrapper frees its handle once, and does not use it afterwards.
            drop(unsafe { Box::from_raw(self.0 as *mut Arc<Node>) });
        }
    }
}

/// A registered hook that a Java wrapper can remove. It is not counted: it holds no tensor, and is most often left to the
/// collector.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct HookHandle(jlong);

impl HookHandle {
    /// Hand a hook to a Java wrapper, which frees it.
    pub(crate) fn give(hook: Registered) -> jlong {
        Box::into_raw(Box::new(hook)) as jlong
    }

    /// Remove the hook, unless it is gone with its graph.
    pub(crate) fn remove(self) {
        // SAFETY: as for nodes.
        if let Some(hook) = unsafe { (self.0 as *const Registered).as_ref() } {
            hook.remove();
        }
    }

    /// The wrapper is gone. The hook stays where it was registered.
    pub(crate) fn free(self) {
        if self.0 != 0 {
            // SAFETY: a wrapper frees its handle once, and does not use it afterwards.
            drop(unsafe { Box::from_raw(self.0 as *mut Registered) });
        }
    }
}

/// A generator that a Java wrapper owns and keeps alive during the call; 0 stands for the default one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct GeneratorHandle(jlong);

impl GeneratorHandle {
    /// A handle out of an array that a wrapper filled.
    pub(super) fn of_element(handle: jlong) -> GeneratorHandle {
        GeneratorHandle(handle)
    }

    /// The generator, or `None` for 0.
    pub fn optional(self) -> Option<BorrowedGenerator> {
        // SAFETY: as for tensors.
        (self.0 != 0).then(|| BorrowedGenerator(ManuallyDrop::new(unsafe { Generator::from_raw(self.0 as *const _) })))
    }

    /// The generator, which must be there.
    pub fn get(self) -> Result<BorrowedGenerator> {
        self.optional().ok_or_else(|| err!(NullPointer, "argument 'generator' is null"))
    }

    /// The wrapper is gone: take its share.
    pub fn free(self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: a wrapper frees its handle once, and does not use it afterwards.
            drop(unsafe { Generator::from_raw(self.0 as *const _) });
        }
    }
}

/// A generator of Java's, for the time of a call.
pub struct BorrowedGenerator(ManuallyDrop<Generator>);

impl Deref for BorrowedGenerator {
    type Target = Generator;

    fn deref(&self) -> &Generator {
        &self.0
    }
}
