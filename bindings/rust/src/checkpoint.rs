//! Checkpoints: `.pt` files as nested values, with learning rates, epochs and strings beside tensors.
//!
//! ```
//! use rushlight::{IValue, checkpoint};
//!
//! let epoch = IValue::Dict(vec![("epoch".into(), 3i64.into())]);
//! let file = checkpoint::to_bytes(epoch)?;
//! let read = checkpoint::from_bytes(&file)?;
//! assert_eq!(i64::try_from(read.get("epoch").unwrap().clone())?, 3);
//! # Ok::<(), rushlight::Error>(())
//! ```

use crate::{IValue, Result};
use rushlight_io::pt;
use std::io::Cursor;
use std::path::Path;

/// Loads a file that `torch.save` wrote. Nothing in it is executed.
///
/// # Errors
/// Raises an error of the kind `Io` if the file cannot be read, or contains objects of classes.
pub fn load(path: impl AsRef<Path>) -> Result<IValue> {
    pt::load_value(path).map(|value| IValue::from_core(&value))
}

/// Reads the contents of a file, as [`load`] does.
///
/// # Errors
/// As [`load`].
pub fn from_bytes(bytes: &[u8]) -> Result<IValue> {
    pt::read_value(Cursor::new(bytes)).map(|value| IValue::from_core(&value))
}

/// Saves a value as a file that `torch.load` reads. An existing file is replaced atomically.
///
/// # Errors
/// Raises an error if the file cannot be written, or cannot hold the value.
pub fn save(path: impl AsRef<Path>, value: IValue) -> Result<()> {
    pt::save_value(path, &value.into_core()?)
}

/// The contents of the file that [`save`] writes.
///
/// # Errors
/// As [`save`].
pub fn to_bytes(value: IValue) -> Result<Vec<u8>> {
    pt::value_to_bytes(&value.into_core()?)
}
