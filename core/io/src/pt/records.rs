//! Writes the records of an archive: a zip file without compression whose records begin at multiples of 64 bytes, so that
//! the file can be mapped.

use crate::entry::storage_bytes;
use rushlight_base::{DType, Result, Storage, err};
use std::io::{Seek, Write};
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Records begin at multiples of this.
const ALIGNMENT: u16 = 64;

/// An archive under construction.
pub struct Records<W: Write + Seek> {
    zip: ZipWriter<W>,
    root: String,
}

impl<W: Write + Seek> Records<W> {
    /// An archive whose records are in the folder `root`, whose name has no meaning.
    pub fn new(sink: W, root: &str) -> Records<W> {
        Records { zip: ZipWriter::new(sink), root: root.to_owned() }
    }

    /// Writes a record.
    pub fn record(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .with_alignment(ALIGNMENT)
            .large_file(bytes.len() as u64 >= u64::from(u32::MAX));
        self.zip.start_file(format!("{}/{name}", self.root), options).map_err(describe)?;
        Ok(self.zip.write_all(bytes)?)
    }

    /// Writes the whole elements of a storage.
    pub fn storage(&mut self, name: &str, storage: &Storage, dtype: DType) -> Result<()> {
        self.record(name, whole_elements(storage, dtype))
    }

    /// Completes the archive.
    pub fn finish(self) -> Result<()> {
        self.zip.finish().map_err(describe)?.flush()?;
        Ok(())
    }
}

/// The bytes of a storage that are whole elements.
fn whole_elements(storage: &Storage, dtype: DType) -> &[u8] {
    let bytes = storage_bytes(storage);
    let whole = bytes.len() / dtype.size() * dtype.size();
    bytes.get(..whole).unwrap_or_default()
}

fn describe(error: ZipError) -> rushlight_base::Error {
    err!(Io, "{error}")
}
