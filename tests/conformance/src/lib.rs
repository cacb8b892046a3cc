//! The golden cases: what real PyTorch 2.7.1 returned, operator by operator, run against Rushlight by name.
//!
//! `cases` reads the files, `door` is the way into the shipped library through its C functions (`abi`), `run` runs a case and `compare` judges it. `laws` checks on the same inputs what holds for every operator.

pub mod abi;
pub mod cases;
pub mod compare;
pub mod door;
pub mod exempt;
pub mod host;
pub mod laws;
pub mod pack;
pub mod run;
