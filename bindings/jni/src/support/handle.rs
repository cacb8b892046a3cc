//! Handles: ownership on the two sides.

use super::row::Argument;
use jni::sys::jlong;
use rushlight_base::cancel::CancelToken;
use rushlight_base::{Error, Result, err, handles};
use rushlight_tensor::autograd::{Node, Registered};
use rushlight_tensor::{Generator, Tensor};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Arc;

/// Passes ownership of a tensor to a Java wrapper, which frees it.
pub(super) fn give(tensor: Tensor) -> jlong {
    handles::made();
    tensor.into_raw() as jlong
}

/// Passes ownership of a generator to a Java wrapper, which frees it.
pub(super) fn give_generator(generator: Generator) -> jlong {
    handles::made();
    generator.into_raw() as jlong
}

#[cold]
fn null(name: Argument<'_>) -> Error {
    err!(NullPointer, "{name} is null")
}

/// A tensor that a Java wrapper owns and keeps alive during the call; 0 stands for none.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct TensorHandle(jlong);

impl TensorHandle {
    /// The tensor, which must not be missing.
    #[inline]
    pub fn get<'a>(self, name: impl Into<Argument<'a>>) -> Result<Borrowed> {
        let name = name.into();
        self.optional().ok_or_else(|| null(name))
    }

    /// The tensor, or `None` for 0.
    pub fn optional(self) -> Option<Borrowed> {
        // SAFETY: only wrappers have handles, and they hold theirs open during the call (see the module's
        // documentation).
        (self.0 != 0).then(|| Borrowed(unsafe { Tensor::borrow_raw(self.0 as *const _) }))
    }

    /// The wrapper is closed: drops its reference.
    pub fn free(self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from `Tensor::into_raw`; a wrapper frees its handle once, and does not use it
            // afterwards.
            drop(unsafe { Tensor::from_raw(self.0 as *const _) });
        }
    }

    /// A handle from an array that a wrapper filled.
    pub(super) fn of_element(handle: jlong) -> TensorHandle {
        TensorHandle(handle)
    }

    /// Takes ownership of a handle that Java returns, such as the result of a hook.
    pub(super) fn take(handle: jlong) -> Option<Tensor> {
        (handle != 0).then(|| {
            handles::freed();
            // SAFETY: the upcall passes its own reference (`NativeCore.retain`), which is taken once.
            unsafe { Tensor::from_raw(handle as *const _) }
        })
    }
}

/// A tensor that Java owns, borrowed for a call.
pub struct Borrowed(ManuallyDrop<Tensor>);

impl Deref for Borrowed {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.0
    }
}

/// Tensors that Java owns, borrowed for a call.
pub struct BorrowedList(pub(super) Vec<Borrowed>);

impl BorrowedList {
    /// The list in the form that operators take.
    pub fn refs(&self) -> Vec<&Tensor> {
        self.0.iter().map(|tensor| &**tensor).collect()
    }
}

/// Tensors that Java owns, some of which may be missing, borrowed for a call.
pub struct BorrowedOptionalList(pub(super) Vec<Option<Borrowed>>);

impl BorrowedOptionalList {
    /// The list in the form that operators take.
    pub fn optional_refs(&self) -> Vec<Option<&Tensor>> {
        self.0.iter().map(|tensor| tensor.as_deref()).collect()
    }
}

/// The address of a box that a Java wrapper owns and keeps alive during the call; 0 stands for none.
#[repr(transparent)]
pub struct BoxHandle<T>(jlong, PhantomData<fn() -> T>);

/// A node of the graph. It is a fat pointer.
pub type NodeHandle = BoxHandle<Arc<Node>>;
/// A cancel token.
pub type CancelTokenHandle = BoxHandle<Arc<CancelToken>>;

impl<T: Clone> BoxHandle<T> {
    /// Passes ownership to a Java wrapper, which frees it.
    pub(crate) fn give(value: T) -> jlong {
        handles::made();
        Box::into_raw(Box::new(value)) as jlong
    }

    /// The value, which must not be null.
    pub(crate) fn get(&self, name: &str) -> Result<T> {
        // SAFETY: only wrappers have handles, which `give` created from a box, and they hold theirs open during the
        // call.
        let value = unsafe { (self.0 as *const T).as_ref() };
        value.cloned().ok_or_else(|| err!(NullPointer, "argument '{name}' is null"))
    }

    /// The wrapper is closed: drops its value.
    pub(crate) fn free(&self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from a box in `give`; a wrapper frees its handle once, and does not use it
            // afterwards.
            drop(unsafe { Box::from_raw(self.0 as *mut T) });
        }
    }
}

/// A registered hook that a Java wrapper can remove. It is not counted: it holds no tensor, and is usually left to the
/// garbage collector.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct HookHandle(jlong);

impl HookHandle {
    /// Passes ownership of a hook to a Java wrapper, which frees it.
    pub(crate) fn give(hook: Registered) -> jlong {
        Box::into_raw(Box::new(hook)) as jlong
    }

    /// Removes the hook, unless its graph is freed.
    pub(crate) fn remove(self) {
        // SAFETY: only wrappers have handles, which came from a box, and they hold theirs open during the call.
        if let Some(hook) = unsafe { (self.0 as *const Registered).as_ref() } {
            hook.remove();
        }
    }

    /// The wrapper is closed. The hook stays registered.
    pub(crate) fn free(self) {
        if self.0 != 0 {
            // SAFETY: the handle came from a box; a wrapper frees its handle once, and does not use it afterwards.
            drop(unsafe { Box::from_raw(self.0 as *mut Registered) });
        }
    }
}

/// A generator that a Java wrapper owns and keeps alive during the call; 0 stands for the default one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct GeneratorHandle(jlong);

impl GeneratorHandle {
    /// A handle from an array that a wrapper filled.
    pub(super) fn of_element(handle: jlong) -> GeneratorHandle {
        GeneratorHandle(handle)
    }

    /// The generator, or `None` for 0.
    pub fn optional(self) -> Option<BorrowedGenerator> {
        // SAFETY: only wrappers have handles, and they hold theirs open during the call; `ManuallyDrop` leaves the
        // reference with the wrapper.
        (self.0 != 0).then(|| BorrowedGenerator(ManuallyDrop::new(unsafe { Generator::from_raw(self.0 as *const _) })))
    }

    /// The generator, which must not be null.
    pub fn get(self) -> Result<BorrowedGenerator> {
        self.optional().ok_or_else(|| err!(NullPointer, "argument 'generator' is null"))
    }

    /// The wrapper is closed: drops its reference.
    pub fn free(self) {
        if self.0 != 0 {
            handles::freed();
            // SAFETY: the handle came from `Generator::into_raw`; a wrapper frees its handle once, and does not use it
            // afterwards.
            drop(unsafe { Generator::from_raw(self.0 as *const _) });
        }
    }
}

/// A generator that Java owns, borrowed for a call.
pub struct BorrowedGenerator(ManuallyDrop<Generator>);

impl Deref for BorrowedGenerator {
    type Target = Generator;

    fn deref(&self) -> &Generator {
        &self.0
    }
}
