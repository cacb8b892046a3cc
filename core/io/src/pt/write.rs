//! Writes a state dict that Python reads with `torch.load(path, weights_only=True)`.
//!
//! The records are those of `torch.save`: the pickle (protocol 2), the byte order, one record per storage,
//! aligned to 64 bytes so that the file can be mapped, and the version. Entries that share a storage and a
//! dtype still share it after loading.

use super::STORAGES;
use super::pickle::LAYOUTS;
use crate::atomic;
use crate::entry::{Entry, SparseEntry, storage_bytes};
use crate::reserve;
use rushlight_base::{DType, Layout, Result, Storage, ensure, err};
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{BufWriter, Cursor, Seek, Write};
use std::path::Path;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Directory of the records; its name has no meaning.
const ROOT: &str = "archive";
/// Records begin at multiples of this.
const ALIGNMENT: u16 = 64;
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
        entry.check_data()?;
    }
    let storages = Storages::collect(entries);
    let mut zip = ZipWriter::new(sink);
    record(&mut zip, "data.pkl", &pickle(entries, &storages)?)?;
    record(&mut zip, "byteorder", b"little")?;
    for (key, (storage, dtype)) in storages.0.iter().enumerate() {
        let bytes = storage_bytes(storage);
        let whole = bytes.len() / dtype.size() * dtype.size();
        record(&mut zip, &format!("data/{key}"), &bytes[..whole])?;
    }
    record(&mut zip, "version", VERSION)?;
    zip.finish().map_err(describe)?.flush()?;
    Ok(())
}

fn record(zip: &mut ZipWriter<impl Write + Seek>, name: &str, bytes: &[u8]) -> Result<()> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .with_alignment(ALIGNMENT)
        .large_file(bytes.len() as u64 >= u64::from(u32::MAX));
    zip.start_file(format!("{ROOT}/{name}"), options).map_err(describe)?;
    Ok(zip.write_all(bytes)?)
}

fn describe(error: ZipError) -> rushlight_base::Error {
    err!(Io, "{error}")
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

/// The pickle of an `OrderedDict` from names to tensors.
fn pickle(entries: &[Entry], storages: &Storages<'_>) -> Result<Vec<u8>> {
    let keys = storages.keys();
    let mut pickle = Pickle(Vec::new());
    pickle.0.extend(b"\x80\x02");
    pickle.empty_ordered_dict();
    pickle.0.push(b'(');
    for entry in entries {
        pickle.text(&entry.name)?;
        let tensor = |pickle: &mut Pickle, entry: &Entry| pickle.tensor(entry, keys[&Storages::identity(entry)]);
        match &entry.sparse {
            None => tensor(&mut pickle, entry)?,
            Some(sparse) => pickle.sparse(entry, sparse, tensor)?,
        }
    }
    pickle.0.extend(b"u.");
    Ok(pickle.0)
}

/// A pickle under construction.
struct Pickle(Vec<u8>);

impl Pickle {
    fn global(&mut self, module: &str, name: &str) {
        self.0.extend(format!("c{module}\n{name}\n").bytes());
    }

    fn empty_ordered_dict(&mut self) {
        self.global("collections", "OrderedDict");
        self.0.extend(b")R");
    }

    fn text(&mut self, text: &str) -> Result<()> {
        let length =
            u32::try_from(text.len()).map_err(|_| err!(Value, "a name of {} bytes is too long", text.len()))?;
        self.0.push(b'X');
        self.0.extend(length.to_le_bytes());
        self.0.extend(text.bytes());
        Ok(())
    }

    fn int(&mut self, value: i64) {
        if let Ok(small) = i32::try_from(value) {
            self.0.push(b'J');
            self.0.extend(small.to_le_bytes());
        } else {
            self.0.extend([0x8a, 8]);
            self.0.extend(value.to_le_bytes());
        }
    }

    fn bool(&mut self, value: bool) {
        self.0.push(if value { 0x88 } else { 0x89 });
    }

    fn ints(&mut self, values: &[i64]) {
        self.0.push(b'(');
        for value in values {
            self.int(*value);
        }
        self.0.push(b't');
    }

    fn tensor(&mut self, entry: &Entry, key: usize) -> Result<()> {
        let typed = STORAGES.iter().find(|row| row.1 == entry.dtype).map(|row| row.0);
        self.global("torch._utils", if typed.is_some() { "_rebuild_tensor_v2" } else { "_rebuild_tensor_v3" });
        self.0.push(b'(');
        self.storage(entry, typed, key)?;
        self.int(entry.offset as i64);
        self.ints(&entry.sizes);
        self.ints(&entry.strides);
        self.bool(entry.requires_grad);
        self.empty_ordered_dict();
        if typed.is_none() {
            self.global("torch", entry.dtype.name());
        }
        if entry.conjugate || entry.negative {
            self.lazy_bits(entry)?;
        }
        self.0.extend(b"tR");
        Ok(())
    }

    /// A sparse tensor: its layout and components.
    fn sparse(
        &mut self,
        values: &Entry,
        sparse: &SparseEntry,
        tensor: impl Fn(&mut Pickle, &Entry) -> Result<()>,
    ) -> Result<()> {
        let layout = LAYOUTS.iter().find(|row| row.1 == sparse.layout);
        let (name, _) = layout.ok_or_else(|| err!(Io, "tensors of layout {} cannot be saved", sparse.layout.name()))?;
        self.global("torch._utils", "_rebuild_sparse_tensor");
        self.0.push(b'(');
        self.global("torch.serialization", "_get_layout");
        self.0.push(b'(');
        self.text(name)?;
        self.0.extend(b"tR(");
        sparse.indices.iter().try_for_each(|part| tensor(self, part))?;
        tensor(self, &Entry { requires_grad: false, ..values.clone() })?;
        self.global("torch", "Size");
        self.0.push(b'(');
        self.ints(&sparse.sizes);
        self.0.extend(b"tR");
        if sparse.layout == Layout::Sparse {
            self.bool(sparse.coalesced);
        }
        self.0.extend(b"ttR");
        Ok(())
    }

    fn storage(&mut self, entry: &Entry, typed: Option<&str>, key: usize) -> Result<()> {
        let numel = entry.storage.bytes() / entry.dtype.size();
        self.0.push(b'(');
        self.text("storage")?;
        match typed {
            Some(class) => self.global("torch", class),
            None => self.global("torch.storage", "UntypedStorage"),
        }
        self.text(&key.to_string())?;
        self.text("cpu")?;
        self.int(if typed.is_some() { numel } else { numel * entry.dtype.size() } as i64);
        self.0.extend(b"tQ");
        Ok(())
    }

    fn lazy_bits(&mut self, entry: &Entry) -> Result<()> {
        self.0.push(b'}');
        for (name, on) in [("conj", entry.conjugate), ("neg", entry.negative)] {
            if on {
                self.text(name)?;
                self.bool(true);
                self.0.push(b's');
            }
        }
        Ok(())
    }
}
