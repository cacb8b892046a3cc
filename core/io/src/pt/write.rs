//! Writes a state dict that Python reads with `torch.load(path, weights_only=True)`.
//!
//! The records are those of `torch.save`: the pickle (protocol 2), the byte order, one record per storage,
//! aligned to 64 bytes so that the file can be mapped, and the version. Entries that share a storage and a
//! dtype still share it after loading.

use super::opcodes::Pickler;
use super::pickle::LAYOUTS;
use super::records::Records;
use crate::atomic;
use crate::entry::{Entry, SparseEntry};
use crate::reserve;
use rushlight_base::{DType, Layout, Result, Storage, ensure, err};
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::Path;

/// Directory of the records; its name has no meaning.
const ROOT: &str = "archive";
/// Version of the archive format, as PyTorch counts them.
const VERSION: &[u8] = b"3\n";

/// Writes a file; on failure the old one is unchanged.
pub fn save(path: impl AsRef<Path>, entries: &[Entry]) -> Result<()> {
    atomic::replace(path.as_ref(), |file| {
        let mut sink = BufWriter::new(OpenOptions::new().write(true).open(file)?);
        write(&mut sink, entries)?;
        Ok(sink.flush()?)
    })
}

/// A file in memory.
pub fn to_bytes(entries: &[Entry]) -> Result<Vec<u8>> {
    let mut sink = Cursor::new(room_for(entries)?);
    write(&mut sink, entries)?;
    Ok(sink.into_inner())
}

/// An empty vector with capacity for the elements, which are most of a file; an error if they do not fit.
fn room_for(entries: &[Entry]) -> Result<Vec<u8>> {
    reserve(Storages::collect(entries).0.iter().fold(0, |sum: usize, (storage, _)| sum.saturating_add(storage.bytes())))
}

/// Writes to any sink that can seek.
pub fn write(sink: impl Write + Seek, entries: &[Entry]) -> Result<()> {
    let mut names = HashSet::new();
    for entry in entries {
        ensure!(names.insert(entry.name.as_str()), Value, "two tensors are called '{}'", entry.name);
    }
    archive(sink, entries, |pickle, key| {
        pickle.empty_ordered_dict();
        pickle.mark();
        for entry in entries {
            pickle.text(&entry.name)?;
            tensor(pickle, entry, key)?;
        }
        pickle.set_items();
        Ok(())
    })
}

/// Writes an archive with the storages of these entries, and the pickle that `contents` writes: it is passed the keys of
/// storages.
pub(super) fn archive(
    sink: impl Write + Seek,
    entries: &[Entry],
    contents: impl FnOnce(&mut Pickler, &dyn Fn(&Entry) -> String) -> Result<()>,
) -> Result<()> {
    entries.iter().try_for_each(Entry::check_data)?;
    let storages = Storages::collect(entries);
    let keys = storages.keys();
    let mut pickle = Pickler::new();
    contents(&mut pickle, &|entry| keys.get(&Storages::identity(entry)).copied().unwrap_or_default().to_string())?;
    let mut records = Records::new(sink, ROOT);
    records.record("data.pkl", &pickle.finish())?;
    records.record("byteorder", b"little")?;
    for (key, (storage, dtype)) in storages.0.iter().enumerate() {
        records.storage(&format!("data/{key}"), storage, *dtype)?;
    }
    records.record("version", VERSION)?;
    records.finish()
}

/// The distinct storages of the entries; the index of one is its key. PyTorch identifies a storage by its key together
/// with its dtype, so bytes viewed in two dtypes are written twice.
struct Storages<'a>(Vec<(&'a Storage, DType)>);

impl<'a> Storages<'a> {
    fn collect(entries: &'a [Entry]) -> Storages<'a> {
        let mut seen = HashSet::new();
        let fresh = entries.iter().flat_map(Storages::strided).filter(|entry| seen.insert(Storages::identity(entry)));
        Storages(fresh.map(|entry| (&entry.storage, entry.dtype)).collect())
    }

    /// The entry, and those of the indices of a sparse tensor.
    fn strided(entry: &Entry) -> impl Iterator<Item = &Entry> {
        let indices = entry.sparse.iter().flat_map(|sparse| &sparse.indices);
        std::iter::once(entry).chain(indices)
    }

    /// The address of the bytes; empty storages, which may share an address, count as one.
    fn identity(entry: &Entry) -> (usize, usize, DType) {
        (entry.storage.data() as usize, entry.storage.bytes(), entry.dtype)
    }

    /// Keys by identity.
    fn keys(&self) -> std::collections::HashMap<(usize, usize, DType), usize> {
        let identities = self.0.iter().map(|(storage, dtype)| (storage.data() as usize, storage.bytes(), *dtype));
        identities.zip(0..).collect()
    }
}

/// A tensor of the pickle.
pub(super) fn tensor(pickle: &mut Pickler, entry: &Entry, key: &dyn Fn(&Entry) -> String) -> Result<()> {
    match &entry.sparse {
        None => pickle.tensor(entry, &key(entry)),
        Some(part) => sparse(pickle, entry, part, key),
    }
}

/// A sparse tensor: its layout and components.
fn sparse(pickle: &mut Pickler, values: &Entry, sparse: &SparseEntry, key: impl Fn(&Entry) -> String) -> Result<()> {
    let layout = LAYOUTS.iter().find(|row| row.1 == sparse.layout);
    let (name, _) = layout.ok_or_else(|| err!(Io, "tensors of layout {} cannot be saved", sparse.layout.name()))?;
    pickle.global("torch._utils", "_rebuild_sparse_tensor");
    pickle.mark();
    pickle.global("torch.serialization", "_get_layout");
    pickle.mark();
    pickle.text(name)?;
    pickle.tuple();
    pickle.reduce();
    pickle.mark();
    sparse.indices.iter().try_for_each(|part| pickle.tensor(part, &key(part)))?;
    pickle.tensor(&Entry { requires_grad: false, ..values.clone() }, &key(values))?;
    pickle.global("torch", "Size");
    pickle.mark();
    pickle.ints(&sparse.sizes);
    pickle.tuple();
    pickle.reduce();
    if sparse.layout == Layout::Sparse {
        pickle.bool(sparse.coalesced);
    }
    pickle.tuple();
    pickle.tuple();
    pickle.reduce();
    Ok(())
}
