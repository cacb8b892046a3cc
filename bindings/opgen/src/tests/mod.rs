//! Tests of the real declarations and of the loader's errors. `bindings/generate` tests the text that emitters write
//! of them; `results` tests it for results that no declaration has yet.

mod declarations;
mod errors;
mod examples;
mod results;
