//! Saved models with recorded cases (the zoo): each file is run through the C functions of the library and judged by
//! what PyTorch returned.
//!
//! `value` holds arguments and results, `module` calls the library, `record` reads the recorded values, `compare` judges
//! a result, `model` runs the cases of a file.

pub mod compare;
pub mod model;
pub mod module;
pub mod record;
pub mod value;
