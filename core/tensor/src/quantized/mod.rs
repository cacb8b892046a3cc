//! Parameters of quantization.

mod choose;

pub use choose::{Range, choose};
