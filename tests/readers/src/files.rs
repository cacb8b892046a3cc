//! Files of tensors. The contents are written and read again, and must be the same.

use crate::npz;
use rushlight_base::{DType, ErrorKind, Storage};
use rushlight_io::{Entry, pt as pt_files, safetensors as safetensors_files};
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Tensors with more bytes than this are not gathered: a stride of 0 expands one element to any number, as in PyTorch.
const MOST_BYTES: i64 = 1 << 20;

/// PyTorch's files, archives and streams.
pub fn pt(bytes: &[u8]) {
    let Some(first) = accepted(pt_files::read(Cursor::new(bytes))) else { return };
    first.entries.iter().for_each(check);
    let listed = pt_files::list(Cursor::new(bytes)).expect("what was read can be listed");
    assert_eq!((listed.bytes, &listed.values), (first.bytes, &first.values));
    assert_listed(&first.entries, &listed.entries);
    assert_visited(&first.entries, |look| {
        pt_files::visit(Cursor::new(bytes), look).expect("what was read can be visited")
    });
    let mut written = Cursor::new(Vec::new());
    pt_files::write(&mut written, &first.entries).expect("what was read can be written");
    let second = pt_files::read(written).expect("what was written is read");
    assert_same(&first.entries, &second.entries, true);
    if let Some(value) = accepted(pt_files::read_value(Cursor::new(bytes))) {
        let written = pt_files::value_to_bytes(&value).expect("a value that was read can be written");
        let again = pt_files::read_value(Cursor::new(&written)).expect("a value that was written is read");
        assert!(pt_files::value_to_bytes(&again).expect("it can be written again") == written);
    }
    let tensors = first.entries.len();
    let all = first.into_entries_and_values().expect("values become entries");
    assert!(all.len() >= tensors);
}

/// A pickle, in an archive with two storages.
pub fn pickle(bytes: &[u8]) {
    pt(&archive(bytes));
}

/// The archive around a pickle. Its storages are called 0 and 1.
fn archive(pickle: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in [("a/data.pkl", pickle), ("a/data/0", &[1; 256]), ("a/data/1", &[2; 64])] {
        zip.start_file(name, options).expect("a record in memory");
        zip.write_all(bytes).expect("bytes in memory");
    }
    zip.finish().expect("an archive in memory").into_inner()
}

/// Hugging Face's files.
pub fn safetensors(bytes: &[u8]) {
    let Some(first) = accepted(safetensors_files::read(Cursor::new(bytes))) else { return };
    first.entries.iter().for_each(check);
    assert_listed(
        &first.entries,
        &safetensors_files::list(Cursor::new(bytes)).expect("what was read can be listed").entries,
    );
    assert_visited(&first.entries, |look| {
        safetensors_files::visit(Cursor::new(bytes), look).expect("what was read can be visited");
    });
    let metadata = Some(first.metadata.clone()).filter(|metadata| !metadata.is_empty());
    let written = safetensors_files::to_bytes(&first.entries, metadata).expect("what was read can be written");
    let second = safetensors_files::read(Cursor::new(written)).expect("what was written is read");
    // The writer sorts by alignment.
    assert_same(&sorted(&first.entries), &sorted(&second.entries), false);
    assert_eq!(first.metadata, second.metadata);
}

/// NumPy's files.
pub fn npz(bytes: &[u8]) {
    let Ok(first) = npz::read(Cursor::new(bytes)) else { return };
    first.iter().for_each(check);
    assert_listed(&first, &npz::list(Cursor::new(bytes)).expect("what was read can be listed"));
    assert_visited(&first, |look| npz::visit(Cursor::new(bytes), look).expect("what was read can be visited"));
    let mut written = Cursor::new(Vec::new());
    npz::write(&mut written, &first).expect("what was read can be written");
    let second = npz::read(written).expect("what was written is read");
    assert_same(&first, &second, false);
}

/// A listing has the metadata of each entry, and no data.
fn assert_listed(read: &[Entry], listed: &[Entry]) {
    assert_eq!(read.len(), listed.len());
    for (read, listed) in read.iter().zip(listed) {
        assert!(
            is_described_as(read, listed) && read.storage.bytes() == listed.storage.bytes(),
            "{read:?}: {listed:?}"
        );
        assert!(
            listed.storage.data().is_null() && listed.clone().into_tensor().is_err() && listed.row_major().is_err()
        );
    }
}

/// A visit shows each entry once, with its data.
fn assert_visited(read: &[Entry], visit: impl FnOnce(&mut dyn FnMut(usize, Entry) -> rushlight_base::Result<()>)) {
    let mut left: Vec<Option<&Entry>> = read.iter().map(Some).collect();
    visit(&mut |at, entry| {
        let wanted = left[at].take().expect("an entry that was not shown yet");
        assert!(is_described_as(wanted, &entry), "{wanted:?}: {entry:?}");
        if wanted.storage.bytes() as i64 <= MOST_BYTES {
            assert_eq!(bytes_of(&wanted.storage), bytes_of(&entry.storage), "{wanted:?}");
        }
        Ok(())
    });
    assert!(left.iter().all(Option::is_none));
}

fn is_described_as(one: &Entry, other: &Entry) -> bool {
    let of = |entry: &Entry| {
        let flags = (entry.requires_grad, entry.conjugate, entry.negative);
        (entry.name.clone(), entry.dtype, entry.sizes.clone(), entry.strides.clone(), entry.offset, flags)
    };
    of(one) == of(other)
}

/// The bytes of a storage, as an entry of bytes shows them.
fn bytes_of(storage: &Storage) -> Vec<u8> {
    let whole =
        Entry::contiguous("", DType::U8, &[storage.bytes() as i64], storage.clone()).expect("an entry of bytes");
    whole.row_major().expect("bytes").into_owned()
}

/// The contents, or nothing if the file was rejected as invalid.
fn accepted<T>(read: rushlight_base::Result<T>) -> Option<T> {
    match read {
        Ok(file) => Some(file),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert!(!error.message().is_empty());
            None
        }
    }
}

fn check(entry: &Entry) {
    entry.check().expect("an entry within its storage");
    let tensor = entry.clone().into_tensor();
    // Only floating-point and complex tensors can require a gradient.
    let may_ask = entry.dtype.is_floating() || entry.dtype.is_complex();
    assert!(tensor.is_ok() || entry.requires_grad && !may_ask);
}

fn sorted(entries: &[Entry]) -> Vec<Entry> {
    let mut sorted = entries.to_vec();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    sorted
}

fn assert_same(first: &[Entry], second: &[Entry], with_flags: bool) {
    assert_eq!(first.len(), second.len());
    for (a, b) in first.iter().zip(second) {
        assert_eq!((&a.name, a.dtype, &a.sizes), (&b.name, b.dtype, &b.sizes));
        if with_flags {
            let flags = |entry: &Entry| (entry.requires_grad, entry.conjugate, entry.negative, entry.strides.clone());
            assert_eq!(flags(a), flags(b));
        }
        let bytes = a.sizes.iter().fold(a.dtype.size() as i64, |product, size| product.saturating_mul(*size));
        if bytes <= MOST_BYTES && !a.conjugate && !a.negative && a.sparse.is_none() {
            assert!(a.row_major().expect("elements") == b.row_major().expect("elements"), "{}", a.name);
        }
    }
}
