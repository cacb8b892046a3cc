//! Model files: reading and writing PyTorch's `.pt` archives and safetensors.
//!
//! A file is a list of [`Entry`]s, named tensors whose bytes are a [`Storage`](rushlight_base::Storage); `tensors`
//! converts between entries and tensors without a copy; `state` copies tensors into a model's. This crate does not
//! depend on modules. It reads untrusted bytes: nothing in a file is executed, every length is checked against the size
//! of the file before memory is allocated, and each rejection is an error of kind `Io` that states the problem and its
//! position. Files are replaced atomically.

mod atomic;
mod entry;
pub mod pickle;
pub mod pt;
pub mod safetensors;
mod state;
mod tensors;

pub use atomic::replace;
pub use entry::{Entry, filled_storage, normalise_bools};
pub use state::{Incompatible, copy_state};

use rushlight_base::{Result, bail, ensure, err};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Loads the tensors of a `.pt` or safetensors file; the format is detected from the contents.
pub fn load(path: impl AsRef<Path>) -> Result<Vec<Entry>> {
    load_with(path.as_ref(), |checkpoint| Ok(checkpoint.entries))
}

fn load_with(path: &Path, entries_of: impl FnOnce(pt::Checkpoint) -> Result<Vec<Entry>>) -> Result<Vec<Entry>> {
    read_with(open(path)?, entries_of).map_err(|error| error.context(path.display()))
}

/// Reads the tensors of a file from any source that can seek, from its start.
pub fn read(source: impl Read + Seek) -> Result<Vec<Entry>> {
    read_with(source, |checkpoint| Ok(checkpoint.entries))
}

fn read_with(
    mut source: impl Read + Seek,
    entries_of: impl FnOnce(pt::Checkpoint) -> Result<Vec<Entry>>,
) -> Result<Vec<Entry>> {
    match recognise(&mut source)? {
        Content::Pt => pt::read(source).and_then(entries_of),
        Content::Safetensors => safetensors::read(source).map(|file| file.entries),
        Content::Neither(reason) => bail!(Io, "neither a PyTorch nor a safetensors file: {reason}"),
    }
}

/// The detected format of a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// PyTorch's: an archive, or the stream of before 1.6.
    Pt,
    /// Hugging Face's.
    Safetensors,
    /// Neither of them, and why.
    Neither(String),
}

/// Detects the format of a source from its first bytes. It is left at its start.
pub fn recognise(source: &mut (impl Read + Seek)) -> Result<Content> {
    if pt::is_pt(source)? {
        return Ok(Content::Pt);
    }
    Ok(safetensors::rejection(source)?.map_or(Content::Safetensors, Content::Neither))
}

/// Loads the tensors of a file and its other values, which `pt::Checkpoint::into_entries_and_values` names; safetensors
/// have none.
pub fn load_all(path: impl AsRef<Path>) -> Result<Vec<Entry>> {
    load_with(path.as_ref(), pt::Checkpoint::into_entries_and_values)
}

/// Saves tensors as safetensors if the file name has that extension, else as `.pt`.
pub fn save(path: impl AsRef<Path>, entries: &[Entry]) -> Result<()> {
    if path.as_ref().extension().is_some_and(|extension| extension == "safetensors") {
        safetensors::save(path, entries, None)
    } else {
        pt::save(path, entries)
    }
}

fn open(path: &Path) -> Result<BufReader<File>> {
    File::open(path).map(BufReader::new).map_err(|error| err!(Io, "cannot open {}: {error}", path.display()))
}

/// Length of a source, which is left at its start.
fn length_of(source: &mut impl Seek) -> Result<u64> {
    let length = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    Ok(length)
}

/// An empty vector with capacity for `bytes`; the caller has checked that the input holds them.
fn reserve(bytes: usize) -> Result<Vec<u8>> {
    let mut vector = Vec::new();
    let reserved = vector.try_reserve_exact(bytes);
    ensure!(reserved.is_ok(), OutOfMemory, "cannot allocate {bytes} bytes for a file");
    Ok(vector)
}
