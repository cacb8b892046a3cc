//! Reading and writing at indexed positions: gather, scatter and similar operators.
//!
//! An operator checks its indices ([`Places`]) before it writes anything, and then traverses them: `walk.rs` splits the
//! traversal into blocks of two dimensions, `moves.rs` fills them with copies, `combine.rs` with sums, products and
//! extrema. Copies are compiled once per element size (`by_size!`), `combine.rs` once per dtype.
//!
//! | constructor of [`Places`] | operators |
//! |---|---|
//! | `elements` | `gather`, `scatter`, `scatter_reduce`: an index per element |
//! | `slices_of` | `index_select`, `index_add`: indices that are constant along all dimensions but one |
//! | `together` | advanced indexing (`index`, `index_put_`): several dimensions are indexed at once |
//! | `linear` | `take`, `put_`: an index into the flattened tensor |
//!
//! ```ignore
//! let places = Places::elements(index, &a, dim)?;
//! indexing::gather(&out, &a, &places)
//! ```
//!
//! A gather can be split anywhere, since it writes each output element once. Where an index may occur twice, each lane
//! (all elements that can write to the same position) belongs to one thread and is processed in the order of the
//! indices. Results therefore do not depend on the number of threads.

mod combine;
mod join;
mod moves;
mod places;
mod walk;

#[cfg(test)]
mod tests;

pub use combine::{Combine, combine, divide_by_counts, fill_identity};
pub use moves::{gather, scatter, scatter_value};
pub use places::{Indexed, Places, check_inside};
