//! The golden cases: the results of PyTorch 2.7.1, operator by operator, compared with Rushlight's by name.
//!
//! `cases` reads the files, `door` gives access to the shipped library through its C functions (`abi`), `run` runs a
//! case and `compare` judges it, `suite` runs all of an operator's; `freedom` lists results that operators leave
//! undetermined. `properties` checks properties of every operator on the same inputs; `fuzz` calls them with random
//! arguments. `bits` compares the bits of a device with those of the CPU. `zoo` runs saved models.

pub mod abi;
pub mod bits;
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
pub mod pack;
pub mod program;
pub mod properties;
pub mod rounding;
pub mod run;
pub mod splitmix;
pub mod suite;
pub mod ties;
pub mod zoo;
