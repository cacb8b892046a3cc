//! Tests over the real declarations, of the loader's errors, and of the text that emitters write.

mod declarations;
mod emitted;
mod errors;
