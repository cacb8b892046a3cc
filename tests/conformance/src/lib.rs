//! The golden cases: what real PyTorch 2.7.1 returned, operator by operator, run against Rushlight by name.
//!
//! `cases` reads the files, `door` is the way into the shipped library through its C functions (`abi`), `run` runs a case and `compare` judges it, `suite` runs all of an operator's; `freedom` is what operators leave open. `laws` checks on the same inputs what holds for every operator; `fuzz` calls
//! them with anything.

pub mod abi;
pub mod cases;
pub mod compare;
pub mod declared;
pub mod door;
pub mod double;
pub mod exempt;
pub mod freedom;
pub mod fuzz;
pub mod graph;
pub mod host;
pub mod laws;
pub mod pack;
pub mod rounding;
pub mod run;
pub mod suite;
