//! Invalid calls fail with PyTorch's error: the kind, and the first line of the message (tests/oracle/wrong_calls.py).

use rushlight_base::{DType, ErrorKind, Scalar};
use rushlight_conformance::door::{Door, Value, built_library};
use rushlight_conformance::host::HostTensor;
use serde_json::Value as Json;

fn value(door: &Door, json: &Json) -> Value {
    match json {
        Json::Null => Value::None,
        Json::Bool(flag) => Value::Scalar(Scalar::Bool(*flag)),
        Json::Number(number) => {
            Value::Scalar(number.as_i64().map_or(Scalar::Float(number.as_f64().unwrap()), Scalar::Int))
        }
        Json::Array(list) if list.first().is_some_and(Json::is_object) => {
            let tensor = |json| value(door, json).tensor().cloned();
            Value::Tensors(list.iter().map(tensor).collect())
        }
        Json::Array(list) => Value::Ints(list.iter().map(|item| item.as_i64().unwrap()).collect()),
        Json::Object(map) => {
            let shape: Vec<i64> = map["zeros"].as_array().unwrap().iter().map(|item| item.as_i64().unwrap()).collect();
            let dtype = DType::from_name(map["dtype"].as_str().unwrap()).unwrap();
            let bytes = Some(vec![0; shape.iter().product::<i64>() as usize * dtype.size()]);
            Value::Tensor(door.tensor(&HostTensor { dtype, shape, strides: None, bytes }).unwrap())
        }
        Json::String(text) => Value::Str(std::ffi::CString::new(text.as_str()).unwrap()),
    }
}

/// The kinds that a Python class represents.
fn kinds(class: &str) -> &'static [ErrorKind] {
    match class {
        "IndexError" => &[ErrorKind::Index],
        "ValueError" => &[ErrorKind::Value],
        "TypeError" => &[ErrorKind::Type],
        "NotImplementedError" => &[ErrorKind::NotImplemented],
        "RuntimeError" => &[ErrorKind::Runtime],
        other => panic!("{other} is no kind of error"),
    }
}

#[test]
fn wrong_calls_end_in_pytorchs_errors() {
    let door = Door::open(&built_library().unwrap()).unwrap();
    let path = [env!("CARGO_MANIFEST_DIR"), "..", "data", "wrong_calls.json"].iter().collect::<std::path::PathBuf>();
    let rows: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = rows.as_array().unwrap();
    let (mut wrong, mut asked) = (Vec::new(), 0);
    for row in rows {
        let text = |key: &str| row[key].as_str().unwrap();
        let (name, overload) = text("op").split_once('.').unwrap_or((text("op"), ""));
        if !door.has(name, overload) {
            continue;
        }
        asked += 1;
        let args = row["args"].as_array().unwrap().iter().map(|json| value(&door, json)).collect();
        let answer = match door.call(name, overload, args, Vec::new()) {
            Ok(_) => "no error".to_owned(),
            Err(error) if kinds(text("kind")).iter().any(|kind| kind.code() == door.last_error_code()) => {
                error.lines().next().unwrap_or_default().to_owned()
            }
            Err(error) => format!("of another kind ({}): {error}", door.last_error_code()),
        };
        if answer != text("text") {
            wrong.push(format!("{} {}\n  PyTorch: {}\n  here:    {answer}", text("op"), row["args"], text("text")));
        }
    }
    assert!(wrong.is_empty(), "{} of {asked} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(asked >= 50, "only {asked} of {} operators are there", rows.len());
}
