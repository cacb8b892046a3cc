//! The operators that C++ has added.

use crate::bridge::ffi;
use crate::call::Call;
use cxx::UniquePtr;
use rushlight_base::{Result, err};
use rushlight_tensor::dispatch::runtime_ops::{self, KernelKey, RuntimeOp};
use rushlight_tensor::{Value, Values};
use std::sync::Arc;

/// Operators written in C++. They stay registered as long as this value lives.
#[derive(Default)]
pub struct Registry {
    operators: Vec<Arc<RuntimeOp>>,
}

/// An operator of C++, shared with the kernel that calls it.
struct Shared(UniquePtr<ffi::Operator>);

// SAFETY: `operator.h` demands that an operator can be called from any thread, several at a time; it is only ever
// used through shared references.
unsafe impl Send for Shared {}
// SAFETY: `operator.h` demands that an operator can be called from any thread, several at a time, and it is only used
// through shared references.
unsafe impl Sync for Shared {}

impl Shared {
    fn run(&self, arguments: &[Value]) -> Result<Values> {
        let mut call = Call::new(arguments)?;
        let op = self.0.as_ref().ok_or_else(|| err!(NullPointer, "the operator is null"))?;
        ffi::run(op, &mut call).map_err(|exception| err!(Callback, "{}", exception.what()))?;
        Ok(Values(call.into_results().into_iter().map(Value::Tensor).collect()))
    }
}

impl Registry {
    /// Registers the operators of the C++ side.
    pub fn new() -> Registry {
        let mut registry = Registry::default();
        ffi::register_operators(&mut registry);
        registry
    }

    /// Called by C++: adds an operator under its own schema.
    pub(crate) fn add(&mut self, op: UniquePtr<ffi::Operator>) -> Result<()> {
        let schema = op.as_ref().map(ffi::schema_of).ok_or_else(|| err!(NullPointer, "the operator is null"))?;
        let defined = runtime_ops::define(&schema.to_string_lossy())?;
        let shared = Shared(op);
        defined.implement(KernelKey::Cpu, Arc::new(move |arguments: &[Value]| shared.run(arguments)));
        self.operators.push(defined);
        Ok(())
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        for op in &self.operators {
            // Other code may have shut the library down before, and the operators with it.
            let _ = runtime_ops::undefine(op);
        }
    }
}
