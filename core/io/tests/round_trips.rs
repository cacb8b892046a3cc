//! Rushlight reads back the files it writes, in both formats.

use rushlight_base::{DType, DimVec, ErrorKind, Storage};
use rushlight_io::{Entry, pt, safetensors};
use std::collections::HashMap;
use std::io::Cursor;

fn storage(bytes: &[u8]) -> Storage {
    let storage = Storage::allocate(bytes.len()).unwrap();
    // SAFETY: the storage was just allocated with the size of `bytes`.
    unsafe { storage.data().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    storage
}

fn entry(name: &str, dtype: DType, sizes: &[i64]) -> Entry {
    let bytes = sizes.iter().product::<i64>() as usize * dtype.size();
    let pattern: Vec<u8> =
        (0..bytes).map(|index| if dtype == DType::Bool { index % 2 } else { index % 251 } as u8).collect();
    Entry::contiguous(name, dtype, sizes, storage(&pattern)).unwrap()
}

fn through_pt(entries: &[Entry]) -> Vec<Entry> {
    let mut file = Cursor::new(Vec::new());
    pt::write(&mut file, entries).unwrap();
    let checkpoint = pt::read(file).unwrap();
    assert!(checkpoint.values.is_empty());
    checkpoint.entries
}

fn assert_same(read: &Entry, written: &Entry) {
    assert_eq!((&read.name, read.dtype, &read.sizes), (&written.name, written.dtype, &written.sizes));
    assert_eq!(read.row_major().unwrap(), written.row_major().unwrap(), "{}", read.name);
}

#[test]
fn pt_keeps_every_dtype_and_the_order() {
    let mut entries: Vec<Entry> = DType::all().map(|dtype| entry(dtype.name(), dtype, &[2, 3])).collect();
    entries.push(entry("empty", DType::F32, &[0, 4]));
    entries.push(entry("scalar", DType::F64, &[]));
    entries.push(entry("gewöhnlich.名", DType::F32, &[1]));
    let read = through_pt(&entries);
    assert_eq!(read.len(), entries.len());
    read.iter().zip(&entries).for_each(|(read, written)| assert_same(read, written));
}

#[test]
fn pt_keeps_sharing_strides_and_flags() {
    let whole = entry("whole", DType::F32, &[3, 4]);
    let mut turned = whole.clone();
    turned.name = "turned".into();
    turned.sizes = DimVec::from_slice(&[4, 2]);
    turned.strides = DimVec::from_slice(&[1, 4]);
    turned.offset = 4;
    turned.requires_grad = true;
    let mut lazy = entry("lazy", DType::C64, &[2]);
    (lazy.conjugate, lazy.negative) = (true, true);
    let mut bytes_of_whole = whole.clone();
    bytes_of_whole.name = "bytes".into();
    bytes_of_whole.dtype = DType::I32;
    let read = through_pt(&[whole.clone(), turned.clone(), lazy, bytes_of_whole.clone()]);
    assert!(read[1].storage.is(&read[0].storage));
    assert_eq!((&read[1].strides, read[1].offset, read[1].requires_grad), (&turned.strides, 4, true));
    assert_same(&read[1], &turned);
    assert!(read[2].conjugate && read[2].negative && !read[2].requires_grad);
    assert!(!read[3].storage.is(&read[0].storage), "one storage in two dtypes is two storages to PyTorch");
    assert_same(&read[3], &bytes_of_whole);
}

#[test]
fn safetensors_keeps_dtypes_and_metadata_and_gathers_views() {
    let supported = DType::all().filter(|dtype| !matches!(dtype, DType::C32 | DType::C128));
    let mut entries: Vec<Entry> = supported.map(|dtype| entry(dtype.name(), dtype, &[2, 3])).collect();
    let mut turned = entry("turned", DType::I16, &[2, 5]);
    turned.sizes = DimVec::from_slice(&[5, 2]);
    turned.strides = DimVec::from_slice(&[1, 5]);
    entries.push(turned);
    entries.push(entry("empty", DType::F32, &[0]));
    let metadata = HashMap::from([("format".to_string(), "pt".to_string())]);
    let bytes = safetensors::to_bytes(&entries, Some(metadata.clone())).unwrap();
    let file = safetensors::read(Cursor::new(bytes)).unwrap();
    assert_eq!(file.metadata, metadata);
    assert_eq!(file.entries.len(), entries.len());
    for written in &entries {
        assert_same(file.entries.iter().find(|entry| entry.name == written.name).unwrap(), written);
    }
}

#[test]
fn files_are_chosen_by_name_and_recognised_by_content() {
    let directory = std::env::temp_dir().join(format!("rushlight-io-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let entries = [entry("w", DType::F32, &[2])];
    for name in ["model.pt", "model.safetensors"] {
        let path = directory.join(name);
        rushlight_io::save(&path, &entries).unwrap();
        let renamed = directory.join("model");
        std::fs::rename(path, &renamed).unwrap();
        assert_same(&rushlight_io::load(&renamed).unwrap()[0], &entries[0]);
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn tensors_that_a_format_cannot_store_are_rejected() {
    let twice = [entry("w", DType::F32, &[2]), entry("w", DType::F32, &[3])];
    assert_eq!(safetensors::to_bytes(&twice, None).unwrap_err().kind(), ErrorKind::Value);
    assert_eq!(pt::write(Cursor::new(Vec::new()), &twice).unwrap_err().kind(), ErrorKind::Value);
    let error = safetensors::to_bytes(&[entry("z", DType::C128, &[1])], None).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Type, "tensor 'z': safetensors has no dtype for complex128")
    );
    let mut meta = entry("w", DType::F32, &[2]);
    meta.storage = Storage::meta(8).unwrap();
    assert_eq!(pt::write(Cursor::new(Vec::new()), &[meta]).unwrap_err().kind(), ErrorKind::Io);
}

/// A file in memory is the file.
#[test]
fn files_in_memory_are_read_and_written() {
    let entries = vec![entry("a", DType::F32, &[2, 3]), entry("b", DType::I64, &[0])];
    for bytes in [pt::to_bytes(&entries).unwrap(), safetensors::to_bytes(&entries, None).unwrap()] {
        let read = rushlight_io::read(Cursor::new(&bytes)).unwrap();
        assert_eq!(read.len(), entries.len());
        for written in &entries {
            assert_same(read.iter().find(|entry| entry.name == written.name).unwrap(), written);
        }
    }
    assert!(rushlight_io::read(Cursor::new(b"")).is_err());
}
