//! NumPy's archives: a zip file with an array in each record, whose name ends in `.npy`.

use anyhow::{Context, Result, bail, ensure};
use npyz::{NpyHeader, Order, TypeStr, WriteOptions, WriterBuilder};
use rushlight_base::{DType, DimVec, Storage, contiguous_strides, err};
use rushlight_io::{Entry, filled_storage, normalise_bools, replace};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// NumPy's names of the common dtypes. (NumPy has no bfloat16 and no complex half precision.)
const DTYPES: [(DType, &str); 14] = [
    (DType::Bool, "|b1"),
    (DType::U8, "|u1"),
    (DType::I8, "|i1"),
    (DType::I16, "<i2"),
    (DType::U16, "<u2"),
    (DType::I32, "<i4"),
    (DType::U32, "<u4"),
    (DType::I64, "<i8"),
    (DType::U64, "<u8"),
    (DType::F16, "<f2"),
    (DType::F32, "<f4"),
    (DType::F64, "<f8"),
    (DType::C64, "<c8"),
    (DType::C128, "<c16"),
];

/// The maximum length of an array header: NumPy's own limit.
const MAX_HEADER: u32 = 10_000;

/// Whether this is a zip file of arrays only.
pub fn is_npz(file: &File) -> bool {
    ZipArchive::new(file).is_ok_and(|archive| archive.file_names_raw().all(|name| name.ends_with(b".npy")))
}

/// Whether this is a file of one array.
pub fn is_npy(mut file: &File) -> bool {
    let mut magic = [0; 6];
    file.read_exact(&mut magic).is_ok() && magic == *b"\x93NUMPY"
}

/// The array of a file of one.
pub fn read_array(source: impl Read + Seek) -> Result<Entry> {
    lone(source, read_storage)
}

/// Reads the header only, like [`list`].
pub fn list_array(source: impl Read + Seek) -> Result<Entry> {
    lone(source, |_, _, bytes| Storage::meta(bytes))
}

fn lone(
    mut source: impl Read + Seek,
    fetch: impl Fn(&mut dyn Read, DType, usize) -> rushlight_base::Result<Storage>,
) -> Result<Entry> {
    let size = source.seek(SeekFrom::End(0))?;
    source.rewind()?;
    array("", source, size, fetch)
}

/// The arrays of an archive.
pub fn read(source: impl Read + Seek) -> Result<Vec<Entry>> {
    collected(source, read_storage)
}

/// Reads the headers only: the storages of the entries have a size, but no data.
pub fn list(source: impl Read + Seek) -> Result<Vec<Entry>> {
    collected(source, |_, _, bytes| Storage::meta(bytes))
}

fn collected(
    source: impl Read + Seek,
    fetch: impl Fn(&mut dyn Read, DType, usize) -> rushlight_base::Result<Storage>,
) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for_each_array(source, fetch, |_, entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(entries)
}

/// Reads one array after the other and passes each on, with its index in the archive: only one is in memory at a time.
pub fn visit(source: impl Read + Seek, look: impl FnMut(usize, Entry) -> rushlight_base::Result<()>) -> Result<()> {
    for_each_array(source, read_storage, look)
}

/// Passes on the arrays of an archive in its order; `fetch` reads a storage after a header.
fn for_each_array(
    mut source: impl Read + Seek,
    fetch: impl Fn(&mut dyn Read, DType, usize) -> rushlight_base::Result<Storage>,
    mut look: impl FnMut(usize, Entry) -> rushlight_base::Result<()>,
) -> Result<()> {
    let length = source.seek(SeekFrom::End(0))?;
    let mut archive = ZipArchive::new(source)?;
    ensure!(!archive.has_duplicate_names(), "two arrays of the archive have one name");
    for at in 0..archive.len() {
        let record = archive.by_index(at)?;
        let record_name = record.name()?.into_owned();
        let name = npyz::npz::array_name_from_file_name(&record_name)
            .with_context(|| format!("record '{record_name}' is not an array"))?
            .to_owned();
        ensure!(
            record.compression() == CompressionMethod::Stored,
            "array '{name}' is compressed (numpy.savez_compressed): save it with numpy.savez"
        );
        // A record may claim more than the file has.
        let size = record.size().min(length);
        look(at, array(&name, record, size, &fetch).with_context(|| format!("array '{name}'"))?)?;
    }
    Ok(())
}

/// The header of an array, with its length checked before memory is allocated for it.
fn header(record: &mut impl Read) -> Result<NpyHeader> {
    // Magic, version, and the length: 2 bytes in version 1, 4 in later ones.
    let mut start = [0u8; 12];
    record.read_exact(&mut start[..10])?;
    let (read, length) = if start[6] < 2 {
        (10, u32::from(u16::from_le_bytes([start[8], start[9]])))
    } else {
        record.read_exact(&mut start[10..])?;
        (12, u32::from_le_bytes([start[8], start[9], start[10], start[11]]))
    };
    ensure!(length <= MAX_HEADER, "a header of {length} bytes is too long");
    Ok(NpyHeader::from_reader(start[..read].chain(record))?)
}

fn read_storage(record: &mut dyn Read, dtype: DType, bytes: usize) -> rushlight_base::Result<Storage> {
    filled_storage(bytes, |content| {
        record.read_exact(content)?;
        if dtype == DType::Bool {
            normalise_bools(content);
        }
        Ok(())
    })
}

fn array(
    name: &str,
    mut record: impl Read,
    size: u64,
    fetch: impl Fn(&mut dyn Read, DType, usize) -> rushlight_base::Result<Storage>,
) -> Result<Entry> {
    let header = header(&mut record)?;
    let written = header.dtype().descr();
    let found = DTYPES.iter().find(|(_, text)| written.trim_matches('\'') == *text);
    let Some((dtype, _)) = found else { bail!("the dtype {written} is not supported") };
    let mut sizes = DimVec::new();
    for &extent in header.shape() {
        sizes.push(i64::try_from(extent)?);
    }
    let count = rushlight_base::numel(&sizes)? as u64;
    let bytes = count.checked_mul(dtype.size() as u64).filter(|bytes| *bytes <= size);
    let bytes = bytes.with_context(|| format!("{count} elements do not fit into a record of {size} bytes"))?;
    let mut entry = Entry::contiguous(name, *dtype, &sizes, fetch(&mut record, *dtype, bytes as usize)?)?;
    if header.order() == Order::Fortran {
        let turned: DimVec = sizes.iter().rev().copied().collect();
        entry.strides = contiguous_strides(&turned).iter().rev().copied().collect();
    }
    Ok(entry)
}

/// Writes a file of one array as `numpy.save` does. The file is replaced atomically.
pub fn save_array(path: &Path, entry: &Entry) -> Result<()> {
    Ok(replace(path, |new| write_array(&mut File::create(new)?, entry).map_err(|error| err!(Io, "{error:#}")))?)
}

fn write_array(sink: &mut impl Write, entry: &Entry) -> Result<()> {
    let Some((_, text)) = DTYPES.iter().find(|(dtype, _)| *dtype == entry.dtype) else {
        bail!("tensor '{}': NumPy has no dtype for {}; convert it with --dtype", entry.name, entry.dtype)
    };
    let sizes: Vec<u64> = entry.sizes.iter().map(|&size| size as u64).collect();
    let dtype = npyz::DType::Plain(text.parse::<TypeStr>()?);
    WriteOptions::new_header_only().dtype(dtype).shape(&sizes).writer(&mut *sink).write_header_only()?;
    Ok(sink.write_all(&entry.row_major()?)?)
}

/// Writes an archive as `numpy.savez` does. The file is replaced atomically.
pub fn save(path: &Path, entries: &[Entry]) -> Result<()> {
    Ok(replace(path, |new| write(File::create(new)?, entries).map_err(|error| err!(Io, "{error:#}")))?)
}

/// Writes an archive to a sink.
pub fn write(sink: impl Write + Seek, entries: &[Entry]) -> Result<()> {
    let mut archive = ZipWriter::new(sink);
    let mut names = HashSet::new();
    for entry in entries {
        let name = &entry.name;
        ensure!(names.insert(name), "two tensors are called '{name}'");
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).large_file(true);
        archive.start_file(npyz::npz::file_name_from_array_name(name), options)?;
        write_array(&mut archive, entry)?;
    }
    archive.finish()?;
    Ok(())
}
