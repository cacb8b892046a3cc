//! Resampling: outputs that are sums of few inputs, selected by their position along each dimension alone.
//! Interpolation and padding by reflection or replication have this form, as do their gradients.

mod antialias;
mod bytes;
mod pick;
mod spread;
mod sums;
mod taps;
#[cfg(test)]
mod tests;

use crate::device::Table;
use crate::number::Wide;
pub use antialias::{Windows, interpolate_smoothly, spread_smoothly};
pub use bytes::interpolate_bytes;
pub use pick::pick;
use rushlight_base::{Result, Scalar, list};
pub use spread::spread;
pub use sums::interpolate;
pub use taps::{Filter, Scale, Taps, interpolation, mirrored, nearest, repeated};

/// The weights of a table in the type that is computed in.
fn weights<W: Wide>(taps: &[Taps; 3]) -> Result<[Vec<W>; 3]> {
    let of = |taps: &Taps| list::collect(taps.weights.iter().map(|&weight| W::from_scalar(Scalar::Float(weight))));
    Ok([of(&taps[0])?, of(&taps[1])?, of(&taps[2])?])
}

/// The tables of a device.
fn tables(taps: &[Taps; 3]) -> Result<[Table; 3]> {
    Ok([Table::of_taps(&taps[0])?, Table::of_taps(&taps[1])?, Table::of_taps(&taps[2])?])
}
