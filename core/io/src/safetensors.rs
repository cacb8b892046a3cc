//! The safetensors format (Hugging Face): a JSON header, then the bytes of each tensor.
//!
//! The header is understood by the `safetensors` crate, which also checks that the tensors tile the data. Read
//! one tensor at a time into its own storage, so a file never lies in memory twice. Tensors come out in the
//! order of the file. Written tensors are row-major; entries that share a storage are written once each.

use crate::entry::{Entry, filled_storage, normalise_bools};
use crate::{atomic, length_of, open, reserve};
use ::safetensors::tensor::{Metadata, TensorInfo};
use ::safetensors::{Dtype, View};
use rushlight_base::{DType, DimVec, Result, bail, ensure, err};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{Read, Seek};
use std::path::Path;

/// The same bound as other readers of the format have.
const MAX_HEADER: u64 = 100_000_000;
/// The key of the header that is not a tensor.
const METADATA_KEY: &str = "__metadata__";

/// What a safetensors file holds.
#[derive(Debug)]
pub struct SafeTensors {
    /// The tensors, in the order of the file.
    pub entries: Vec<Entry>,
    /// The free-form text of the header.
    pub metadata: HashMap<String, String>,
}

/// Reads a file.
pub fn load(path: impl AsRef<Path>) -> Result<SafeTensors> {
    read(open(path.as_ref())?).map_err(|error| error.context(path.as_ref().display()))
}

/// Reads from any source that can seek, from its start.
pub fn read(mut source: impl Read + Seek) -> Result<SafeTensors> {
    let header = read_header(&mut source)?;
    let entries = header.offset_keys().into_iter().map(|name| {
        let info = header.info(&name).ok_or_else(|| err!(Internal, "safetensors header lost '{name}'"))?;
        read_tensor(&mut source, &name, info).map_err(|error| error.context(format_args!("tensor '{name}'")))
    });
    Ok(SafeTensors {
        entries: entries.collect::<Result<_>>()?,
        metadata: header.metadata().clone().unwrap_or_default(),
    })
}

/// The header, of which the data length is checked against the file.
fn read_header(source: &mut (impl Read + Seek)) -> Result<Metadata> {
    let total = length_of(source)?;
    ensure!(total >= 8, Io, "not a safetensors file: {total} bytes are too few for a header");
    let mut length = [0u8; 8];
    source.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    ensure!(
        length <= MAX_HEADER.min(total - 8),
        Io,
        "not a safetensors file: a header of {length} bytes does not fit into {total} bytes"
    );
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

/// The tensor that begins where the source stands: the header tiles the data without gaps.
fn read_tensor(source: &mut impl Read, name: &str, info: &TensorInfo) -> Result<Entry> {
    let dtype = from_dtype(info.dtype)?;
    let sizes =
        info.shape.iter().map(|&size| i64::try_from(size).map_err(|_| err!(Io, "a size of {size} is too large")));
    let sizes = sizes.collect::<Result<DimVec>>()?;
    let bytes = info.data_offsets.1 - info.data_offsets.0;
    let storage = filled_storage(bytes, |slice| {
        source.read_exact(slice)?;
        if dtype == DType::Bool {
            normalise_bools(slice);
        }
        Ok(())
    })?;
    Entry::contiguous(name, dtype, &sizes, storage)
}

/// Writes a file. `metadata` is free-form text (`("format", "pt")` tells transformers where it came from).
pub fn save(path: impl AsRef<Path>, entries: &[Entry], metadata: Option<HashMap<String, String>>) -> Result<()> {
    let tensors = prepare(entries)?;
    atomic::replace(path.as_ref(), |file| {
        ::safetensors::serialize_to_file(tensors, metadata, file).map_err(|error| err!(Io, "{error}"))
    })
}

/// A file in memory.
pub fn to_bytes(entries: &[Entry], metadata: Option<HashMap<String, String>>) -> Result<Vec<u8>> {
    let tensors = prepare(entries)?;
    // The crate asks for the whole at once and cannot say that there is no room, so that is found out here.
    reserve(tensors.iter().fold(0, |sum: usize, (_, row)| sum.saturating_add(row.bytes.len())))?;
    ::safetensors::serialize(tensors, metadata).map_err(|error| err!(Io, "{error}"))
}

/// A tensor as the crate wants it.
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
        ensure!(name != METADATA_KEY, Value, "safetensors keeps the name '{METADATA_KEY}' for itself");
        let dtype = to_dtype(entry.dtype).map_err(|error| error.context(format_args!("tensor '{name}'")))?;
        let bytes = entry.row_major()?;
        Ok((name, Row { dtype, shape: entry.sizes.iter().map(|&size| size as usize).collect(), bytes }))
    });
    rows.collect()
}

/// The dtypes of both worlds.
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
