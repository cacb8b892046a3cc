//! The golden cases: what real PyTorch 2.7.1 returned, operator by operator, run against Rushlight by name.
//!
//! `cases` reads the files, `door` is the way into the library, `run` runs a case and `compare` judges it.

pub mod cases;
pub mod compare;
pub mod door;
pub mod host;
pub mod run;
