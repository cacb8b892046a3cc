//! Reading and writing at places that an index tensor names: gather, scatter and their kin.
//!
//! An operator checks its indices ([`Places`]) before it writes anything, and then walks them: `walk.rs` cuts the walk into
//! blocks of two dimensions, `moves.rs` fills them with copies, whose loops know an element's size only, `combine.rs`
//! with sums, products and extrema. Slices (`index_select`, `index_add`, ...) are the same walk, with indices
//! that stand still along all dimensions but one.

mod combine;
mod moves;
mod places;
mod walk;

#[cfg(test)]
mod tests;

pub use combine::{Combine, combine, divide_by_counts, fill_identity};
pub use moves::{gather, scatter, scatter_value};
pub use places::{Indexed, Places};
