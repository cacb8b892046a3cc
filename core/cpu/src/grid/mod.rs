//! Grid sampling: images are read at positions given by a grid, between elements and beyond the borders.
//!
//! Along each dimension a position is a weighted sum of a few elements, with weights that are functions of the grid.
//! [`sample`] sums them, [`spread`] propagates gradients back to them; both take the order of the derivative of the
//! weights along each dimension, so that the gradient with respect to the grid, and every higher one, is also a sample.

mod points;
mod read;
mod sampling;
mod spread;
#[cfg(test)]
mod tests;
mod weights;

pub use crate::device::grid_terms as terms;
pub use read::sample;
pub use sampling::{Beyond, Interpolation, Sampling};
pub use spread::spread;

/// How many terms a point has at most.
pub fn most_terms(sampling: Sampling, spatial: usize) -> usize {
    sampling.interpolation.taps().pow(spatial as u32)
}
