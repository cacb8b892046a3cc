//! The methods of the operators, which `opgen` generates from the declarations in `core/schema`.

/// What the generated code names.
#[allow(unused_imports, reason = "the features decide")]
pub(crate) mod prelude {
    pub(crate) use crate::lists::{self, IntList, OptionalIntList};
    pub(crate) use crate::{
        DType, Device, Generator, Layout, MemoryFormat, Reduction, Result, Scalar, Tensor, TensorOptions,
    };
    pub(crate) use rushlight_tensor::ops;
    pub(crate) use std::borrow::Borrow;
}

include!(concat!(env!("OUT_DIR"), "/ops.rs"));
