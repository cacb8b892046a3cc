//! The safetensors format (Hugging Face): a JSON header, then the bytes of each tensor.
//!
//! The `safetensors` crate parses the header and checks that the tensors tile the data. Tensors are read one at a time
//! into their own storages, so a file is never in memory twice. Tensors are in the order of the file. Written tensors
//! are row-major; entries that share a storage are each written.

use crate::entry::{Entry, read_storage};
use crate::{atomic, length_of, open, reserve};
use ::safetensors::tensor::{Metadata, TensorInfo};
use ::safetensors::{Dtype, View};
use rushlight_base::{DType, DimVec, Result, Storage, bail, ensure, err, list};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::path::Path;

/// The limit of other readers of the format.
const MAX_HEADER: u64 = 100_000_000;
/// The key of the header that is not a tensor.
const METADATA_KEY: &str = "__metadata__";

/// The contents of a safetensors file.
#[derive(Debug)]
pub struct SafeTensors {
    /// The tensors, in the order of the file.
    pub entries: Vec<Entry>,
    /// The metadata of the header.
    pub metadata: HashMap<String, String>,
}

/// Reads a file.
pub fn load(path: impl AsRef<Path>) -> Result<SafeTensors> {
    read(open(path.as_ref())?).map_err(|error| error.context(path.as_ref().display()))
}

/// Reads from any source that can seek, from its start.
pub fn read(mut source: impl Read + Seek) -> Result<SafeTensors> {
    let header = read_header(&mut source)?;
    collected(&header, |info, dtype| read_tensor(&mut source, info, dtype))
}

/// Reads the header only: the storages of the entries have a size, but no data.
pub fn list(mut source: impl Read + Seek) -> Result<SafeTensors> {
    let header = read_header(&mut source)?;
    collected(&header, |info, _| Storage::meta(info.data_offsets.1 - info.data_offsets.0))
}

fn collected(header: &Metadata, fetch: impl FnMut(&TensorInfo, DType) -> Result<Storage>) -> Result<SafeTensors> {
    let mut entries = Vec::new();
    for_each_entry(header, fetch, |_, entry| {
        entries.push(entry);
        Ok(())
    })?;
    Ok(SafeTensors { entries, metadata: header.metadata().clone().unwrap_or_default() })
}

/// Reads one tensor after the other and passes each on, with its position in the file: only one is in memory at a time.
pub fn visit(mut source: impl Read + Seek, look: impl FnMut(usize, Entry) -> Result<()>) -> Result<()> {
    let header = read_header(&mut source)?;
    for_each_entry(&header, |info, dtype| read_tensor(&mut source, info, dtype), look)
}

/// Passes on the entries of a header in the order of the file; `fetch` returns the storage of each.
fn for_each_entry(
    header: &Metadata,
    mut fetch: impl FnMut(&TensorInfo, DType) -> Result<Storage>,
    mut look: impl FnMut(usize, Entry) -> Result<()>,
) -> Result<()> {
    for (at, name) in header.offset_keys().into_iter().enumerate() {
        let info = header.info(&name).ok_or_else(|| err!(Internal, "safetensors header lost '{name}'"))?;
        let entry = entry(&name, info, &mut fetch).map_err(|error| error.context(format_args!("tensor '{name}'")))?;
        look(at, entry)?;
    }
    Ok(())
}

/// Returns the reason why a source cannot have this format, from its first bytes; `None` if it can. The source is left
/// at its start.
pub(crate) fn rejection(source: &mut (impl Read + Seek)) -> Result<Option<String>> {
    let total = length_of(source)?;
    let mut start = Vec::with_capacity(9);
    source.by_ref().take(9).read_to_end(&mut start)?;
    source.rewind()?;
    if total == 0 {
        return Ok(Some("the file is empty".to_owned()));
    }
    let Some((length, text)) = start.split_first_chunk() else {
        return Ok(Some(format!("{total} bytes are too few for a header")));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER.min(total - 8) {
        return Ok(Some(format!("a header of {length} bytes does not fit into {total} bytes")));
    }
    Ok((length == 0 || text != b"{").then(|| "no header begins behind its length, the first 8 bytes".to_owned()))
}

/// The header, whose data length is checked against the file.
fn read_header(source: &mut (impl Read + Seek)) -> Result<Metadata> {
    if let Some(reason) = rejection(source)? {
        bail!(Io, "not a safetensors file: {reason}");
    }
    let total = length_of(source)?;
    let mut length = [0u8; 8];
    source.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut text = reserve(length as usize)?;
    source.take(length).read_to_end(&mut text)?;
    let header: Metadata =
        serde_json::from_slice(&text).map_err(|error| err!(Io, "invalid safetensors header: {error}"))?;
    let expected = total - 8 - length;
    ensure!(
        header.data_len() as u64 == expected,
        Io,
        "the safetensors header describes {} bytes of data, but {expected} follow",
        header.data_len()
    );
    Ok(header)
}

fn entry(
    name: &str,
    info: &TensorInfo,
    fetch: &mut impl FnMut(&TensorInfo, DType) -> Result<Storage>,
) -> Result<Entry> {
    let dtype = from_dtype(info.dtype)?;
    let sizes =
        info.shape.iter().map(|&size| i64::try_from(size).map_err(|_| err!(Io, "a size of {size} is too large")));
    let sizes = sizes.collect::<Result<DimVec>>()?;
    Entry::contiguous(name, dtype, &sizes, fetch(info, dtype)?)
}

/// The data at the current position of the source: the header tiles it without gaps.
fn read_tensor(source: &mut impl Read, info: &TensorInfo, dtype: DType) -> Result<Storage> {
    read_storage(source, info.data_offsets.1 - info.data_offsets.0, dtype == DType::Bool)
}

/// Writes a file. `metadata` is free-form (`("format", "pt")` tells transformers its origin).
pub fn save(path: impl AsRef<Path>, entries: &[Entry], metadata: Option<HashMap<String, String>>) -> Result<()> {
    let tensors = prepare(entries)?;
    atomic::replace(path.as_ref(), |file| {
        ::safetensors::serialize_to_file(tensors, metadata, file).map_err(|error| err!(Io, "{error}"))
    })
}

/// A file in memory.
pub fn to_bytes(entries: &[Entry], metadata: Option<HashMap<String, String>>) -> Result<Vec<u8>> {
    let tensors = prepare(entries)?;
    // The crate allocates everything at once and cannot report failure, so that is checked here.
    reserve(tensors.iter().fold(0, |sum: usize, (_, row)| sum.saturating_add(row.bytes.len())))?;
    ::safetensors::serialize(tensors, metadata).map_err(|error| err!(Io, "{error}"))
}

/// A tensor in the crate's form.
struct Row<'a> {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl View for Row<'_> {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

fn prepare(entries: &[Entry]) -> Result<Vec<(&str, Row<'_>)>> {
    let mut names = HashSet::new();
    let rows = entries.iter().map(|entry| {
        let name = entry.name.as_str();
        ensure!(names.insert(name), Value, "two tensors are called '{name}'");
        ensure!(name != METADATA_KEY, Value, "safetensors reserves the name '{METADATA_KEY}'");
        let dtype = to_dtype(entry.dtype).map_err(|error| error.context(format_args!("tensor '{name}'")))?;
        let bytes = entry.row_major()?;
        Ok((name, Row { dtype, shape: entry.sizes.iter().map(|&size| size as usize).collect(), bytes }))
    });
    list::try_collect(rows)
}

/// The dtypes of both sides.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::BOOL),
    (DType::U8, Dtype::U8),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::U16, Dtype::U16),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::I32, Dtype::I32),
    (DType::U32, Dtype::U32),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::I64, Dtype::I64),
    (DType::U64, Dtype::U64),
    (DType::C64, Dtype::C64),
];

fn from_dtype(dtype: Dtype) -> Result<DType> {
    match DTYPES.iter().find(|row| row.1 == dtype) {
        Some(row) => Ok(row.0),
        None => bail!(Io, "the safetensors dtype {dtype} is not supported"),
    }
}

fn to_dtype(dtype: DType) -> Result<Dtype> {
    match DTYPES.iter().find(|row| row.0 == dtype) {
        Some(row) => Ok(row.1),
        None => bail!(Type, "safetensors has no dtype for {dtype}"),
    }
}
