//! The zip archive of a `.pt` file: its records, with every size checked against the file.

use super::inflate::inflate;
use crate::entry::read_storage;
use crate::reserve;
use rushlight_base::{Error, Result, Storage, bail, ensure, err};
use std::io::{Read, Seek};
use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

/// The alignment of the largest numbers.
const ALIGNMENT: usize = 16;

/// A zip file whose records are in one directory.
pub struct Archive<R> {
    zip: ZipArchive<R>,
    /// Name of the directory, with the slash.
    root: String,
    /// Bytes that may still be read: overlapping records must not expand a file.
    budget: u64,
}

impl<R: Read + Seek> Archive<R> {
    /// Opens an archive of `length` bytes.
    pub fn open(source: R, length: u64) -> Result<Archive<R>> {
        // The offset is known: the crate's search for it takes the second header of the directory for the first one if
        // that is as long as the records between the directory and the end, 76 bytes.
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let zip = ZipArchive::with_config(config, source).map_err(|error| err!(Io, "not a .pt file: {error}"))?;
        // Programs disagree on which duplicate counts: another one may have validated the other.
        ensure!(!zip.has_duplicate_names(), Io, "two records of the archive have one name");
        let root = zip.file_names_raw().find_map(|name| {
            let directory = std::str::from_utf8(name).ok()?.strip_suffix("/data.pkl")?;
            (!directory.contains('/')).then(|| format!("{directory}/"))
        });
        let root = root.ok_or_else(|| err!(Io, "not a .pt file: the archive has no record data.pkl"))?;
        Ok(Archive { zip, root, budget: length })
    }

    /// Storages are read unchanged: only little-endian files are supported.
    pub fn check_byte_order(&mut self) -> Result<()> {
        if self.zip.index_for_name(&format!("{}byteorder", self.root)).is_none() {
            return Ok(());
        }
        let order = self.record("byteorder", 16)?;
        ensure!(order == b"little", Io, "byte order '{}' is not supported", order.escape_ascii());
        Ok(())
    }

    /// A whole record, of at most `limit` bytes.
    pub fn record(&mut self, name: &str, limit: u64) -> Result<Vec<u8>> {
        self.with_record(name, |record, size| {
            ensure!(size <= limit, Io, "{size} bytes are more than the {limit} that are read");
            let mut bytes = reserve(size as usize)?;
            record.take(size).read_to_end(&mut bytes)?;
            ensure!(bytes.len() as u64 == size, Io, "{size} bytes are announced, but {} follow", bytes.len());
            Ok(bytes)
        })
    }

    /// The names of all records, without the directory.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.zip.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok()?.strip_prefix(&*self.root))
    }

    /// Whether the archive has a record.
    pub fn has(&self, name: &str) -> bool {
        self.zip.index_for_name(&format!("{}{name}", self.root)).is_some()
    }

    /// A record, of at most `limit` bytes, that may be compressed: those with source code are.
    pub fn compressed_record(&mut self, name: &str, limit: u64) -> Result<Vec<u8>> {
        let full = format!("{}{name}", self.root);
        let budget = &mut self.budget;
        let mut run = || {
            let index = self.zip.index_for_name(&full).ok_or_else(|| describe(ZipError::FileNotFound))?;
            let mut record = self.zip.by_index_raw(index).map_err(describe)?;
            let (method, size, stored) = (record.compression(), record.size(), record.compressed_size());
            ensure!(size <= limit, Io, "{size} bytes are more than the {limit} that are read");
            ensure!(stored <= *budget, Io, "{stored} bytes are more than the file has left ({budget})");
            *budget -= stored;
            let mut bytes = reserve(stored as usize)?;
            record.by_ref().take(stored).read_to_end(&mut bytes)?;
            ensure!(bytes.len() as u64 == stored, Io, "{stored} bytes are announced, but {} follow", bytes.len());
            let bytes = match method {
                CompressionMethod::Stored => bytes,
                CompressionMethod::DEFLATE => inflate(&bytes, size as usize)?,
                method => bail!(Io, "the compression {method} is not supported"),
            };
            ensure!(bytes.len() as u64 == size, Io, "its two sizes differ");
            ensure!(crc32fast::hash(&bytes) == record.crc32(), Io, "its checksum is wrong");
            Ok(bytes)
        };
        run().map_err(|error| error.context(format_args!("record '{}'", full.escape_debug())))
    }

    /// The size of a record.
    pub fn size(&mut self, name: &str) -> Result<usize> {
        self.with_record(name, |_, size| Ok(size as usize))
    }

    /// The bytes of a record as a storage; with `of_bools` each byte becomes 0 or 1.
    pub fn storage(&mut self, name: &str, of_bools: bool) -> Result<Storage> {
        self.with_record(name, |record, size| {
            let storage = read_storage(record, size as usize, of_bools)?;
            // The checksum is compared where the record ends.
            record.read_to_end(&mut Vec::new())?;
            Ok(storage)
        })
    }

    /// The bytes of a record as a part of `file`, a mapping of the whole archive, which the storage keeps alive. Nothing is
    /// read, and the checksum is not compared. None if the record is not aligned as numbers have to be.
    pub fn mapped_storage(&mut self, name: &str, file: &Storage) -> Result<Option<Storage>> {
        let full = format!("{}{name}", self.root);
        let mut run = || {
            let record = self.zip.by_name(&full).map_err(describe)?;
            ensure!(record.compression() == CompressionMethod::Stored, Io, "it is compressed");
            ensure!(record.size() == record.compressed_size(), Io, "its two sizes differ");
            let size = record.size();
            let start = record.data_start().ok_or_else(|| err!(Io, "it has no place in the file"))?;
            let is_inside = start.checked_add(size).is_some_and(|end| end <= file.bytes() as u64);
            ensure!(is_inside, Io, "{size} bytes are announced, but the file ends before them");
            let data = file.data().wrapping_add(start as usize);
            if !data.addr().is_multiple_of(ALIGNMENT) {
                return Ok(None);
            }
            let owner = file.clone();
            // SAFETY: the bytes are inside of the mapping, which is readable and writable and stays until the deleter
            // drops `owner`.
            unsafe { Storage::foreign(data.cast(), size as usize, Some(Box::new(move |_| drop(owner)))) }.map(Some)
        };
        run().map_err(|error| error.context(format_args!("record '{}'", full.escape_debug())))
    }

    /// Opens a record of the archive, with its size checked against what the file can hold.
    fn with_record<T>(&mut self, name: &str, read: impl FnOnce(&mut dyn Read, u64) -> Result<T>) -> Result<T> {
        let full = format!("{}{name}", self.root);
        let budget = &mut self.budget;
        let run = || {
            let mut record = self.zip.by_name(&full).map_err(describe)?;
            ensure!(
                record.compression() == CompressionMethod::Stored,
                Io,
                "it is compressed, which torch.save never does"
            );
            let size = record.size();
            ensure!(size == record.compressed_size(), Io, "its two sizes differ");
            ensure!(size <= *budget, Io, "{size} bytes are more than the file has left ({budget})");
            *budget -= size;
            read(&mut record, size)
        };
        run().map_err(|error| error.context(format_args!("record '{}'", full.escape_debug())))
    }
}

fn describe(error: ZipError) -> Error {
    match error {
        ZipError::FileNotFound => err!(Io, "the archive does not have it"),
        other => err!(Io, "{other}"),
    }
}
