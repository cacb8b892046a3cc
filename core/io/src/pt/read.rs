//! Reads `.pt` files into entries: loads the storages that the pickle of an archive refers to.

use super::archive::Archive;
use super::flatten::{Leaf, Leaves, Tree, flatten};
use super::legacy;
use super::pickle::{self, SparseRef, StorageRef, TensorRef};
use crate::entry::{Entry, SparseEntry};
use crate::{length_of, open};
use rushlight_base::{DType, Error, Result, Storage, ensure, err, list};
use std::collections::HashMap;
use std::io::{Read, Seek};
use std::path::Path;

/// No state dict has a larger pickle.
pub(super) const MAX_PICKLE: u64 = 64 << 20;

/// The contents of a `.pt` file, flattened.
#[derive(Debug)]
pub struct Checkpoint {
    /// The tensors, in the order of the pickle. A file that is one tensor has one entry with an empty name.
    pub entries: Vec<Entry>,
    /// The values that are not tensors (epochs, learning rates of an optimizer's state), named in the same way.
    pub values: Vec<(String, Leaf)>,
    /// Bytes of the storages of the entries; one that they share counts once.
    pub bytes: u64,
    /// Number of entries before each value in the file.
    pub(super) entries_before: Vec<usize>,
    /// The same entries and values as they are nested.
    pub(super) tree: Tree,
}

/// Reads a file.
pub fn load(path: impl AsRef<Path>) -> Result<Checkpoint> {
    read(open(path.as_ref())?).map_err(|error| error.context(path.as_ref().display()))
}

/// Whether a source begins like a PyTorch file. It is left at its start.
pub(crate) fn is_pt(source: &mut (impl Read + Seek)) -> Result<bool> {
    let start = start_of(source)?;
    Ok(start.starts_with(b"PK") || legacy::magic_end(&start).is_some())
}

fn start_of(source: &mut (impl Read + Seek)) -> Result<Vec<u8>> {
    let mut start = Vec::with_capacity(legacy::LONGEST_MAGIC);
    source.by_ref().take(legacy::LONGEST_MAGIC as u64).read_to_end(&mut start)?;
    source.rewind()?;
    Ok(start)
}

/// Reads from any source that can seek.
pub fn read(source: impl Read + Seek) -> Result<Checkpoint> {
    // A storage may be viewed as bool by some of its tensors only: it is normalized if any does.
    open_leaves(source, |leaves, storages| {
        let bools = leaves.storages_of_bools();
        assemble(leaves, |key| storages.read(key, bools.contains(key)))
    })
}

/// Reads only metadata: the storages of the entries have a size, but no data.
pub fn list(source: impl Read + Seek) -> Result<Checkpoint> {
    open_leaves(source, |leaves, storages| assemble(leaves, |key| Storage::meta(storages.bytes(key)?)))
}

/// Reads one storage after the other and passes on its entries, each with its position in the file: only one storage is
/// in memory at a time.
pub fn visit(source: impl Read + Seek, mut look: impl FnMut(usize, Entry) -> Result<()>) -> Result<()> {
    open_leaves(source, |leaves, storages| {
        let bools = leaves.storages_of_bools();
        let mut tensors = list::collect(leaves.tensors.into_iter().enumerate())?;
        tensors.sort_by_key(|(_, (_, tensor))| tensor.storage.key);
        for group in tensors.chunk_by(|a, b| a.1.1.storage.key == b.1.1.storage.key) {
            let mut read = None;
            for (at, (name, tensor)) in group {
                let key = tensor.storage.key;
                let storage = match &read {
                    Some(storage) => Storage::clone(storage),
                    None => read.insert(storages.read(key, bools.contains(key)).map_err(of_tensor(name))?).clone(),
                };
                let mut entry = entry(name.clone(), tensor.clone(), storage)?;
                entry.sparse = sparse(name, tensor.clone(), |key| storages.read(key, false).map_err(of_tensor(name)))?;
                look(*at, entry)?;
            }
        }
        Ok(())
    })
}

/// The storages of a file, by their keys.
pub(super) trait Storages {
    /// How long a storage is.
    fn bytes(&mut self, key: &str) -> Result<usize>;
    /// A storage, with bools as 0 and 1 if it holds such.
    fn read(&mut self, key: &str, of_bools: bool) -> Result<Storage>;
}

/// Passes the leaves of a file's pickle, and its storages, to `work`.
fn open_leaves<T>(
    mut source: impl Read + Seek,
    work: impl FnOnce(Leaves<'_>, &mut dyn Storages) -> Result<T>,
) -> Result<T> {
    let length = length_of(&mut source)?;
    if legacy::magic_end(&start_of(&mut source)?).is_some() {
        return legacy::open_leaves(source, length, work);
    }
    let mut archive = Archive::open(source, length)?;
    archive.check_byte_order()?;
    let pickle = archive.record("data.pkl", MAX_PICKLE)?;
    let leaves = flatten(&pickle::read(&pickle)?, pickle.len())?;
    work(leaves, &mut archive)
}

/// The entries of a pickle's leaves; `fetch` returns the storage of a key, and is called once for each.
fn assemble<'a>(leaves: Leaves<'a>, mut fetch: impl FnMut(&'a str) -> Result<Storage>) -> Result<Checkpoint> {
    let mut storages = HashMap::<&str, Storage>::new();
    let mut entries = list::with_capacity(leaves.tensors.len())?;
    for (name, tensor) in leaves.tensors {
        let mut shared = |key: &'a str| match storages.get(key) {
            Some(storage) => Ok(storage.clone()),
            None => {
                let storage = fetch(key).map_err(of_tensor(&name))?;
                storages.insert(key, storage.clone());
                Ok(storage)
            }
        };
        let mut entry = entry(name.clone(), tensor.clone(), shared(tensor.storage.key)?)?;
        entry.sparse = sparse(&name, tensor, shared)?;
        entries.push(entry);
    }
    let bytes = storages.values().map(|storage| storage.bytes() as u64).sum();
    Ok(Checkpoint { entries, values: leaves.values, bytes, entries_before: leaves.tensors_before, tree: leaves.tree })
}

/// Adds the name of the tensor to an error.
fn of_tensor(name: &str) -> impl Fn(Error) -> Error + '_ {
    move |error| error.context(format_args!("tensor '{name}'"))
}

/// What an entry of a sparse tensor has besides its values.
fn sparse<'a>(
    name: &str,
    tensor: TensorRef<'a>,
    mut fetch: impl FnMut(&'a str) -> Result<Storage>,
) -> Result<Option<Box<SparseEntry>>> {
    let Some(sparse) = tensor.sparse else { return Ok(None) };
    let SparseRef { layout, sizes, coalesced, indices } = *sparse;
    let indices = indices.into_iter().map(|part| {
        let storage = fetch(part.storage.key)?;
        entry(name.to_owned(), part, storage)
    });
    Ok(Some(Box::new(SparseEntry { layout, sizes, coalesced, indices: indices.collect::<Result<_>>()? })))
}

fn entry(name: String, tensor: TensorRef<'_>, storage: Storage) -> Result<Entry> {
    check_numel(&tensor.storage, &storage).map_err(of_tensor(&name))?;
    let offset = usize::try_from(tensor.offset);
    let entry = Entry {
        offset: offset.map_err(|_| err!(Io, "tensor '{name}' has the offset {}", tensor.offset))?,
        name,
        dtype: tensor.dtype,
        sizes: tensor.sizes,
        strides: tensor.strides,
        storage,
        requires_grad: tensor.requires_grad,
        conjugate: tensor.conjugate,
        negative: tensor.negative,
        sparse: None,
    };
    entry.check()?;
    Ok(entry)
}

/// Whether the file holds as many bytes as the pickle states.
fn check_numel(described: &StorageRef<'_>, storage: &Storage) -> Result<()> {
    let size = described.dtype.map_or(1, DType::size);
    let bytes = usize::try_from(described.numel).ok().and_then(|numel| numel.checked_mul(size));
    ensure!(
        bytes.is_some_and(|bytes| bytes <= storage.bytes()),
        Io,
        "its storage should have {} elements of {size} bytes, but the file has {} bytes",
        described.numel,
        storage.bytes()
    );
    Ok(())
}

impl<R: Read + Seek> Storages for Archive<R> {
    fn bytes(&mut self, key: &str) -> Result<usize> {
        self.size(&format!("data/{key}"))
    }

    fn read(&mut self, key: &str, of_bools: bool) -> Result<Storage> {
        self.storage(&format!("data/{key}"), of_bools)
    }
}
