//! Malicious bytes: each input is rejected with a reason, none causes a panic or a large allocation.
//!
//! All tests of this file run under an allocator that remembers the largest request, and each asserts that the request
//! stayed in proportion to its input.

mod watch;

use rushlight_base::{DType, ErrorKind, Storage};
use rushlight_io::{Entry, pt, safetensors};
use std::io::{Cursor, Write};
use watch::within;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn archive(records: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in records {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The reason why an archive with this pickle is rejected.
fn rejection(pickle: &[u8]) -> String {
    let file = archive(&[("a/data.pkl", pickle), ("a/data/0", &[0; 64])]);
    let error = within(1 << 20, || pt::read(Cursor::new(file)).expect_err("accepted"));
    assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    error.message().to_owned()
}

fn assert_rejected(pickle: &[u8], reason: &str) {
    let actual = rejection(pickle);
    assert!(actual.contains(reason), "{actual}");
}

/// A pickle of one tensor over record `data/0`, with the given numbers.
fn tensor_pickle(class: &str, numel: &str, offset: &str, size: &str, stride: &str) -> Vec<u8> {
    let long = |number: &str| {
        let number: i64 = number.parse().unwrap();
        [&[0x8au8, 8][..], &number.to_le_bytes()].concat()
    };
    [
        b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n",
        class.as_bytes(),
        b"\nX\x01\0\0\x000X\x03\0\0\0cpu",
        &long(numel),
        b"tQ",
        &long(offset),
        &long(size),
        b"\x85",
        &long(stride),
        b"\x85\x89ccollections\nOrderedDict\n)RtR.",
    ]
    .concat()
}

/// Python's dicts may have such keys, and a value may not.
#[test]
fn dicts_that_are_no_value_are_rejected_as_values() {
    let value = |pickle: &[u8]| {
        let file = archive(&[("a/data.pkl", pickle)]);
        assert!(pt::read(Cursor::new(&file)).is_ok());
        let error = within(1 << 20, || pt::read_value(Cursor::new(file)).expect_err("accepted"));
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        error.message().to_owned()
    };
    let mixed = value(b"\x80\x02}(X\x01\0\0\0aNJ\x01\0\0\0Nu.");
    assert_eq!(mixed, "the keys of a dict are str and int, not of one kind");
    let twice = value(b"\x80\x02}(X\x01\0\0\0aNX\x01\0\0\0aNu.");
    assert!(twice.contains("occurs twice in a dict"), "{twice}");
}

#[test]
fn calls_to_anything_else_are_named_and_rejected() {
    assert_rejected(b"\x80\x02cos\nsystem\n(X\x02\0\0\0idtR.", "byte 2: the file names 'os.system'");
    assert_rejected(b"\x80\x02cposix\nsystem\n(X\x02\0\0\0idtR.", "'posix.system'");
    assert_rejected(b"\x80\x02cbuiltins\neval\n(X\x01\0\0\x001tR.", "'builtins.eval'");
    assert_rejected(b"\x80\x02c__builtin__\neval\n.", "'__builtin__.eval'");
    assert_rejected(b"\x80\x02ctorch\nload\n.", "'torch.load'");
    assert_rejected(b"\x80\x02ctorch.storage\n_load_from_bytes\n.", "'torch.storage._load_from_bytes'");
    assert_rejected(b"\x80\x04\x8c\x02os\x8c\x06system\x93.", "'os.system'");
    assert_rejected(b"\x80\x02(cos\nsystem\nX\x02\0\0\0ido.", "'os.system'");
    assert_rejected(b"\x80\x02(ios\nsystem\n.", "opcode 0x69");
    assert_rejected(b"\x80\x02c\x1b[2J\nx\n.", "\\u{1b}[2J.x");
    // Allowed names may not be called with arbitrary arguments.
    assert_rejected(b"\x80\x02ctorch\nFloatStorage\n)R.", "called with 0 unexpected arguments");
    assert_rejected(b"\x80\x02ccollections\nOrderedDict\n]\x85R.", "called with 1 unexpected arguments");
    assert_rejected(b"\x80\x02ccollections\nOrderedDict\n)\x81.", "creates an object of Global(OrderedDict)");
    assert_rejected(b"\x80\x02c__torch__\nModule\nK\x01\x85\x81.", "made with arguments");
    assert_rejected(b"\x80\x02c__torch__\nModule\n)R.", "called with 0 unexpected arguments");
    assert_rejected(b"\x80\x02c__torch__\nModule\n)\x81]b.", "the attributes of an object are");
    assert_rejected(b"\x80\x02c__torch__\nModule\n)\x81}b}b.", "the attributes of an object are");
    assert_rejected(b"\x80\x02c__torch__x\nModule\n.", "'__torch__x.Module'");
    assert_rejected(b"\x80\x02ctorch.jit._pickle\nbuild_intlist\n}\x85R.", "called with 1 unexpected arguments");
    assert_rejected(b"\x80\x02X\x01\0\0\0a)R.", "calls Text");
    assert_rejected(b"\x80\x02]}b.", "state of something that is not a dict");
}

#[test]
fn lengths_beyond_the_input_are_rejected() {
    assert_rejected(b"\x80\x02X\xff\xff\xff\xffabc.", "4294967295 bytes are announced, but 4 are left");
    assert_rejected(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xffabc.", "bytes are announced");
    assert_rejected(b"\x80\x02\x8a\xff\x01.", "bytes are announced");
    assert_rejected(b"\x80\x02\x8a\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01.", "an integer of 9 bytes");
    assert_rejected(b"\x80\x02r\xff\xff\xff\xff.", "empty stack");
    assert_rejected(b"\x80\x02j\xff\xff\xff\xff.", "memo entry 4294967295 is not set");
    assert_rejected(b"\x80\x02X\x01\0\0\0\xff.", "not UTF-8");
    assert_rejected(b"\x80\x02cno end", "a line does not end");
    assert_rejected(b"\x80\x09.", "protocol 9");
    assert_rejected(b"", "1 bytes are announced, but 0 are left");
    assert_rejected(b".", "empty stack");
    assert_rejected(b"\x80\x02(\x85.", "shorter stack");
    assert_rejected(b"\x80\x02t.", "a mark that it has not set");
    assert_rejected(b"\x80\x02}(Nu.", "a key without a value");
}

#[test]
fn streams_with_wrong_metadata_are_rejected() {
    let sound = legacy("model");
    let rejection = |from: &[u8], to: &[u8]| {
        let at = sound.windows(from.len()).position(|window| window == from).unwrap();
        let file = [&sound[..at], to, &sound[at + from.len()..]].concat();
        within(1 << 20, || pt::read(Cursor::new(file)).expect_err("accepted")).message().to_owned()
    };
    let assert_rejected = |from: &[u8], to: &[u8], reason: &str| {
        let actual = rejection(from, to);
        assert!(actual.contains(reason), "{actual}");
    };
    assert_rejected(b"M\xe9\x03.", b"M\xe8\x03.", "version Int(1000)");
    assert_rejected(b"little_endianq\x02\x88", b"little_endianq\x02\x89", "not declared as little-endian");
    assert_rejected(b"ctorch\nFloatStorage", b"ctorch\nload\nStorage", "'torch.load'");
    // The two elements of the first storage, in the order of the keys.
    assert_rejected(b".\x02\0\0\0\0\0\0\0", b".\xff\xff\xff\xff\xff\xff\xff\x7f", "elements are announced, but");
    assert_rejected(b"X\x0e\0\0\094243031871664q\x01", b"X\x0e\0\0\094243031871665q\x01", "the dtype of storage");
    assert_rejected(b"K\x06Ntq", b"K\x07Ntq", "the file has 24 bytes");
}

#[test]
fn tensors_beyond_their_storage_are_rejected() {
    let max = i64::MAX.to_string();
    let good = archive(&[("a/data.pkl", &tensor_pickle("FloatStorage", "16", "0", "16", "1")), ("a/data/0", &[0; 64])]);
    assert_eq!(pt::read(Cursor::new(good)).unwrap().entries[0].sizes.as_slice(), [16]);
    assert_rejected(&tensor_pickle("FloatStorage", "17", "0", "16", "1"), "the file has 64 bytes");
    assert_rejected(&tensor_pickle("FloatStorage", &max, "0", "16", "1"), "the file has 64 bytes");
    assert_rejected(&tensor_pickle("FloatStorage", "-1", "0", "16", "1"), "the file has 64 bytes");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "0", "17", "1"), "reach beyond the 16 elements");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "0", "9", "2"), "reach beyond");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "1", "16", "1"), "reach beyond");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "-1", "16", "1"), "the offset -1");
    assert_rejected(&tensor_pickle("FloatStorage", "16", &max, "16", "1"), "reach beyond");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "0", &max, "1"), "too many");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "0", "2", &max), "reach beyond");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "0", "2", "-1"), "a stride is negative");
    assert_rejected(&tensor_pickle("FloatStorage", "16", "0", "-2", "1"), "negative dimension");
    assert_rejected(&tensor_pickle("float32", "16", "0", "16", "1"), "does not describe a storage");
}

#[test]
fn deep_and_endless_graphs_are_rejected() {
    // 100,000 lists, each in the one before.
    let nested = [b"\x80\x02".as_slice(), &b"]".repeat(100_000), &b"a".repeat(99_999), b"."].concat();
    let file = archive(&[("a/data.pkl", &nested)]);
    let error = within(64 << 20, || pt::read(Cursor::new(file)).unwrap_err());
    assert!(error.message().contains("nested deeper than 64"), "{error}");
    // A list in itself.
    assert_rejected(b"\x80\x02]q\0h\0a.", "more values than it has bytes");
    // A billion laughs: 30 lists, each holding the one before ten times.
    let mut laughs = b"\x80\x02]q\0(NNNNNNNNNNe".to_vec();
    for level in 1..30u8 {
        laughs.extend([b']', b'q', level, b'(']);
        laughs.extend([b'h', level - 1].repeat(10));
        laughs.push(b'e');
    }
    laughs.push(b'.');
    assert_rejected(&laughs, "more values than it has bytes");
    // One long string under many names.
    let mut strings = b"\x80\x02]q\0X\0\x10\0\0".to_vec();
    strings.extend(b"x".repeat(4096));
    strings.extend(b"q\x01a(");
    strings.extend(b"h\x01".repeat(2000));
    strings.extend(b"e.");
    assert_rejected(&strings, "names far longer than itself");
}

#[test]
fn archives_with_wrong_record_metadata_are_rejected() {
    let pickle = tensor_pickle("FloatStorage", "16", "0", "16", "1");
    let missing = archive(&[("a/data.pkl", &pickle)]);
    let error = pt::read(Cursor::new(missing)).unwrap_err();
    assert!(error.message().contains("record 'a/data/0': the archive does not have it"), "{error}");
    let big_endian = archive(&[("a/data.pkl", &pickle), ("a/byteorder", b"big"), ("a/data/0", &[0; 64])]);
    assert!(pt::read(Cursor::new(big_endian)).unwrap_err().message().contains("byte order 'big'"));
    assert!(pt::read(Cursor::new(archive(&[]))).unwrap_err().message().contains("no record data.pkl"));
    let mut damaged = archive(&[("a/data.pkl", &pickle), ("a/data/0", &[7; 64])]);
    let at = damaged.windows(64).position(|window| window == [7; 64]).unwrap();
    damaged[at] = 8;
    assert!(pt::read(Cursor::new(damaged)).unwrap_err().message().contains("checksum"));
}

fn small_entries() -> Vec<Entry> {
    let storage = Storage::allocate(8).unwrap();
    // SAFETY: the storage was just allocated with 8 bytes and has no other user.
    unsafe { storage.data().write_bytes(1, 8) };
    let entry = |name, dtype, sizes: &[i64]| Entry::contiguous(name, dtype, sizes, storage.clone()).unwrap();
    vec![entry("w", DType::F32, &[2]), entry("b", DType::Bool, &[2, 4])]
}

fn small_pt() -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    pt::write(&mut file, &small_entries()).unwrap();
    file.into_inner()
}

fn small_safetensors() -> Vec<u8> {
    safetensors::to_bytes(&small_entries(), None).unwrap()
}

/// A stream as PyTorch wrote them before 1.6.
fn legacy(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../data/io/legacy_{name}.pt", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn a_file_cut_anywhere_is_rejected() {
    let (pt_files, safetensors_file) = ([small_pt(), legacy("model")], small_safetensors());
    within(1 << 20, || {
        for (pt_file, end) in pt_files.iter().flat_map(|file| (0..file.len()).map(move |end| (file, end))) {
            assert!(pt::read(Cursor::new(&pt_file[..end])).is_err(), "cut at {end}");
        }
        for end in 0..safetensors_file.len() {
            assert!(safetensors::read(Cursor::new(&safetensors_file[..end])).is_err(), "cut at {end}");
        }
    });
}
