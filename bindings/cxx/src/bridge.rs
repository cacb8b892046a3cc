//! The interface between Rust and C++.

use crate::call::Call;
use crate::registry::Registry;

#[cxx::bridge(namespace = "demo")]
pub(crate) mod ffi {
    extern "Rust" {
        type Registry;

        /// Adds an operator under its own schema.
        fn add(self: &mut Registry, op: UniquePtr<Operator>) -> Result<()>;

        type Call;

        /// Sizes of the tensor at a position.
        fn sizes(self: &Call, position: usize) -> Result<&[i64]>;

        /// Whether two tensors have the same sizes.
        fn same_sizes(self: &Call, position: usize, other: usize) -> Result<bool>;

        /// The elements of a contiguous float32 tensor in host memory.
        fn floats(self: &Call, position: usize) -> Result<*const f32>;

        /// The number at a position.
        fn number(self: &Call, position: usize) -> Result<f64>;

        /// Creates a float32 tensor that becomes the next result, and returns its elements for writing.
        fn allocate(self: &mut Call, sizes: &[i64]) -> Result<*mut f32>;
    }

    unsafe extern "C++" {
        include!("operator.h");

        type Operator;

        fn schema_of(op: &Operator) -> UniquePtr<CxxString>;
        fn run(op: &Operator, call: &mut Call) -> Result<()>;
        fn register_operators(registry: &mut Registry);
    }
}
