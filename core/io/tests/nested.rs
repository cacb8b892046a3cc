//! Checkpoints as one value: the nested contents of a file of PyTorch, and values that are written and read again.

use rushlight_base::{Complex, DType, ErrorKind, Scalar};
use rushlight_io::pt;
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::{Dict, Items, Value};
use std::io::Cursor;
use std::path::PathBuf;

fn file(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/io").join(name);
    pt::load_value(path).unwrap()
}

fn entry(dict: &Value, key: impl Into<Value>) -> &Value {
    let Value::Dict(dict) = dict else { panic!("a dict is expected, not {}", dict.kind()) };
    dict.get(&key.into()).unwrap()
}

fn item(list: &Value, index: usize) -> &Value {
    match list {
        Value::List(items) | Value::Tuple(items) => &items[index],
        other => panic!("a list is expected, not {}", other.kind()),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let Value::Tensor(tensor) = value else { panic!("a tensor is expected, not {}", value.kind()) };
    let entry = rushlight_io::Entry::from_tensor(String::new(), tensor).unwrap();
    let bytes = entry.row_major().unwrap().into_owned();
    match entry.dtype {
        DType::F32 => bytes.chunks_exact(4).map(|part| f32::from_le_bytes(part.try_into().unwrap()).into()).collect(),
        DType::I64 => bytes.chunks_exact(8).map(|part| i64::from_le_bytes(part.try_into().unwrap()) as f64).collect(),
        other => panic!("a tensor of {other}"),
    }
}

#[test]
fn a_checkpoint_of_python_keeps_its_nesting() {
    for name in ["checkpoint.pt", "legacy_checkpoint.pt"] {
        let whole = file(name);
        assert_eq!(*entry(&whole, "epoch"), Value::from(3i64));
        assert_eq!(*entry(&whole, "best"), Value::None);
        assert_eq!(*entry(&whole, "note"), Value::from("résumé"));
        assert_eq!(*entry(&whole, "dtype"), Value::DType(DType::F32));
        assert_eq!(*entry(&whole, "big"), Value::from(1i64 << 40));
        assert_eq!(numbers(item(entry(&whole, "history"), 1)), [0.5]);
        assert_eq!(*item(entry(&whole, "shape"), 1), Value::from(3i64));
        assert_eq!(numbers(entry(entry(&whole, "model"), "0.bias")), [10.0, 11.0]);
        let optimizer = entry(&whole, "optimizer");
        assert_eq!(numbers(entry(entry(entry(optimizer, "state"), 0i64), "step")), [1.0]);
        let group = item(entry(optimizer, "param_groups"), 0);
        assert_eq!(*entry(group, "lr"), Value::from(0.25));
        assert_eq!(*entry(group, "amsgrad"), Value::from(false));
        let Value::Tuple(betas) = entry(group, "betas") else { panic!("betas is a tuple") };
        assert_eq!(betas[..], [Value::from(0.9), Value::from(0.999)]);
        assert_eq!(*item(entry(group, "params"), 3), Value::from(3i64));
    }
}

#[test]
fn objects_and_typed_lists_of_libtorch_are_dicts_and_lists() {
    let module = file("cpp_module.pt");
    assert_eq!(numbers(entry(entry(&module, "0"), "weight")), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(matches!(file("cpp_values.pt"), Value::Dict(_)));
}

fn dict(entries: Vec<(Value, Value)>) -> Value {
    Value::Dict(Dict::new(entries).unwrap())
}

fn list(items: Vec<Value>) -> Value {
    Value::List(Items::new(items).unwrap())
}

#[test]
fn values_of_each_kind_are_read_back() {
    let whole = dict(vec![
        (Value::from("none"), Value::None),
        (Value::from("numbers"), list(vec![Value::from(true), Value::from(-7i64), Value::from(0.1)])),
        (Value::from("complex"), Value::Scalar(Scalar::Complex(Complex::new(1.5, -2.0)))),
        (Value::from("text"), Value::from("é\u{1F600}")),
        (Value::from("dtype"), Value::DType(DType::BF16)),
        (Value::from("pair"), Value::Tuple(Items::new(vec![Value::from(0.9), Value::from(0.999)]).unwrap())),
        (
            Value::from("by number"),
            dict(vec![(Value::from(0i64), list(Vec::new())), (Value::from(-3i64), Value::None)]),
        ),
        (Value::from("empty"), dict(Vec::new())),
    ]);
    let read = pt::read_value(Cursor::new(pt::value_to_bytes(&whole).unwrap())).unwrap();
    assert_eq!(read, whole);
}

/// Lists of one type are plain lists in a file: Python knows no others.
#[test]
fn lists_of_one_type_become_lists() {
    let whole = list(vec![
        Value::from(&[1i64, 2][..]),
        Value::from(&[0.5][..]),
        Value::from(&[true][..]),
        Value::Strings(vec!["a".into()]),
    ]);
    let read = pt::read_value(Cursor::new(pt::value_to_bytes(&whole).unwrap())).unwrap();
    let expected = list(vec![
        list(vec![Value::from(1i64), Value::from(2i64)]),
        list(vec![Value::from(0.5)]),
        list(vec![Value::from(true)]),
        list(vec![Value::from("a")]),
    ]);
    assert_eq!(read, expected);
}

#[test]
fn tensors_keep_values_and_shared_memory() {
    let tensor = Tensor::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[4]).unwrap();
    let other = Tensor::from_slice(&[7i64], &[1]).unwrap();
    let whole = dict(vec![
        (Value::from("w"), Value::Tensor(tensor.clone())),
        (Value::from("state"), dict(vec![(Value::from(0i64), Value::Tensor(tensor))])),
        (Value::from("list"), Value::Tensors(vec![Some(other), None])),
    ]);
    let bytes = pt::value_to_bytes(&whole).unwrap();
    let read = pt::read_value(Cursor::new(&bytes)).unwrap();
    assert_eq!(numbers(entry(&read, "w")), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers(item(entry(&read, "list"), 0)), [7.0]);
    assert_eq!(*item(entry(&read, "list"), 1), Value::None);
    let flat = pt::read(Cursor::new(&bytes)).unwrap();
    assert_eq!(flat.entries[1].name, "state.0");
    assert!(flat.entries[1].storage.is(&flat.entries[0].storage));
}

#[test]
fn values_that_python_cannot_load_are_rejected() {
    let by_float = dict(vec![(Value::from(0.5), Value::None)]);
    let error = pt::value_to_bytes(&by_float).unwrap_err();
    assert_eq!(error.message(), "a checkpoint has strings and integers as keys, not float");
    let error = pt::value_to_bytes(&Value::Layout(rushlight_base::Layout::Sparse)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotImplemented);
    assert_eq!(error.message(), "a checkpoint cannot hold a value of type Layout");
}
