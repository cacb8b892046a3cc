//! The stream that PyTorch wrote before 1.6, and writes on request (`_use_new_zipfile_serialization=False`).
//!
//! Five pickles follow each other: a magic number, the version of the protocol, properties of the machine that wrote
//! it, the object, and the keys of its storages. Then the storages follow in that order, each preceded by its number of
//! elements.

use super::flatten::{Leaves, flatten};
use super::pickle::{self, Graph, Node, Part, Value};
use super::read::{MAX_PICKLE, Storages};
use crate::entry::read_storage;
use crate::reserve;
use rushlight_base::{DType, Result, Storage, bail, ensure, err};
use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// An integer of ten bytes, PyTorch's magic number, as a pickle that ends there.
const MAGIC: [u8; 13] = [0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.'];
/// Bytes needed to recognize a file.
pub(super) const LONGEST_MAGIC: usize = 11 + MAGIC.len();
/// The only version that exists.
const VERSION: i64 = 1001;

/// End of the pickle of the magic number, if a file begins with it.
pub(super) fn magic_end(start: &[u8]) -> Option<usize> {
    // After the number of the pickle protocol and, from 4 on, the length of a frame.
    let places = if start.first() == Some(&0x80) { [2, 11] } else { return None };
    places
        .into_iter()
        .map(|at| (at, at + MAGIC.len()))
        .find(|&(at, end)| start.get(at..end) == Some(&MAGIC))
        .map(|at| at.1)
}

/// Passes the leaves and the storages of a stream of `length` bytes to `work`.
pub(super) fn open_leaves<T>(
    mut source: impl Read + Seek,
    length: u64,
    work: impl FnOnce(Leaves<'_>, &mut dyn Storages) -> Result<T>,
) -> Result<T> {
    let mut pickles = reserve(length.min(MAX_PICKLE) as usize)?;
    source.by_ref().take(MAX_PICKLE).read_to_end(&mut pickles)?;
    let start = magic_end(&pickles).ok_or_else(|| err!(Io, "not a .pt file: the magic number is missing"))?;
    let (version, start) = pickle::read_at(&pickles, start, "version")?;
    ensure!(version.root == Value::Int(VERSION), Io, "version {:?} is not supported", version.root);
    let (machine, start) = pickle::read_at(&pickles, start, "facts of the machine")?;
    ensure!(
        is_little_endian(&machine),
        Io,
        "the file is not declared as little-endian: other byte orders are not supported"
    );
    let (graph, end) = pickle::read_at(&pickles, start, "object")?;
    let leaves = flatten(&graph, end - start)?;
    let (keys, end) = pickle::read_at(&pickles, end, "keys of the storages")?;

    let dtypes = dtypes(&graph)?;
    let mut places = HashMap::new();
    let mut next = end as u64;
    for key in strings(&keys)? {
        let dtype = *dtypes
            .get(key)
            .ok_or_else(|| err!(Io, "the dtype of storage '{}' is not specified", key.escape_debug()))?;
        source.seek(SeekFrom::Start(next))?;
        let place = place(&mut source, length.saturating_sub(next), next, dtype);
        let place = place.map_err(|error| error.context(format_args!("storage '{}'", key.escape_debug())))?;
        next = place.end;
        places.insert(key, place);
    }
    work(leaves, &mut Stream { source, places })
}

/// Positions of the storages in a stream.
struct Stream<'a, R> {
    source: R,
    places: HashMap<&'a str, Range<u64>>,
}

impl<R> Stream<'_, R> {
    fn place(&self, key: &str) -> Result<Range<u64>> {
        let place = self.places.get(key).cloned();
        place.ok_or_else(|| err!(Io, "storage '{}' is not in the file", key.escape_debug()))
    }
}

impl<R: Read + Seek> Storages for Stream<'_, R> {
    fn bytes(&mut self, key: &str) -> Result<usize> {
        let place = self.place(key)?;
        Ok((place.end - place.start) as usize)
    }

    fn read(&mut self, key: &str, of_bools: bool) -> Result<Storage> {
        let place = self.place(key)?;
        self.source.seek(SeekFrom::Start(place.start))?;
        read_storage(&mut self.source, (place.end - place.start) as usize, of_bools)
    }
}

fn is_little_endian(machine: &Graph<'_>) -> bool {
    let Value::Node(number) = machine.root else { return false };
    match &machine.nodes[number] {
        Node::Dict(facts) => facts.contains(&(Value::Text("little_endian"), Value::Bool(true))),
        _ => false,
    }
}

/// Element type of each storage; `None`: bytes.
fn dtypes<'a>(graph: &Graph<'a>) -> Result<HashMap<&'a str, Option<DType>>> {
    let mut dtypes = HashMap::new();
    for node in &graph.nodes {
        let Node::Part(Part::Storage(storage)) = node else { continue };
        let known = *dtypes.entry(storage.key).or_insert(storage.dtype);
        ensure!(known == storage.dtype, Io, "storage '{}' is declared with two dtypes", storage.key.escape_debug());
    }
    Ok(dtypes)
}

fn strings<'a>(keys: &Graph<'a>) -> Result<Vec<&'a str>> {
    let items = match keys.root {
        Value::Node(number) => match &keys.nodes[number] {
            Node::List(items) => items,
            _ => bail!(Io, "the keys of the storages are not a list"),
        },
        other => bail!(Io, "the keys of the storages are {other:?}"),
    };
    let strings = items.iter().map(|item| match item {
        Value::Text(key) => Ok(*key),
        other => Err(err!(Io, "the key of a storage is {other:?}")),
    });
    strings.collect()
}

/// Position of the data of the storage at the current position of the source, which is at `start` and `left` bytes
/// before its end.
fn place(source: &mut impl Read, left: u64, start: u64, dtype: Option<DType>) -> Result<Range<u64>> {
    let mut count = [0u8; 8];
    source.read_exact(&mut count)?;
    let left = left.saturating_sub(8);
    let count = i64::from_le_bytes(count);
    let bytes = u64::try_from(count).ok().and_then(|count| count.checked_mul(dtype.map_or(1, DType::size) as u64));
    let bytes = bytes.filter(|bytes| *bytes <= left);
    let bytes = bytes.ok_or_else(|| err!(Io, "{count} elements are announced, but {left} bytes are left"))?;
    Ok(start + 8..start + 8 + bytes)
}
