//! Rust calls the operator that C++ has added.

use rushlight_base::ErrorKind;
use rushlight_cxx_example::Registry;
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::{Tensor, Value};
use std::sync::Mutex;

/// The lookup is process-wide, so the tests run one at a time.
static TURN: Mutex<()> = Mutex::new(());

fn floats(values: &[f32], sizes: &[i64]) -> Value {
    Value::Tensor(Tensor::from_slice(values, sizes).unwrap())
}

fn scaled_add(args: Vec<Value>, kwargs: Vec<(String, Value)>) -> rushlight_base::Result<Tensor> {
    by_name::call("demo::scaled_add", "", args, kwargs)?.extract()
}

#[test]
fn cpp_computes_and_rust_sees_the_result() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let _operators = Registry::new();
    let (a, b) = (floats(&[1.0, 2.0, 3.0, 4.0], &[2, 2]), floats(&[10.0, 20.0, 30.0, 40.0], &[2, 2]));
    let scaled = scaled_add(vec![a.clone(), b.clone(), Value::from(0.5)], vec![]).unwrap();
    assert_eq!(&*scaled.sizes(), [2, 2]);
    assert_eq!(scaled.to_vec::<f32>().unwrap(), [6.0, 12.0, 18.0, 24.0]);
    let by_default = scaled_add(vec![a, b], vec![]).unwrap();
    assert_eq!(by_default.to_vec::<f32>().unwrap(), [11.0, 22.0, 33.0, 44.0]);
}

#[test]
fn a_cpp_exception_is_an_error_with_its_text() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let _operators = Registry::new();
    let error = scaled_add(vec![floats(&[1.0], &[1]), floats(&[1.0, 2.0], &[2])], vec![]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Callback);
    assert!(error.message().contains("self and other must have the same sizes"), "{error}");
    let ints = Value::Tensor(Tensor::from_slice(&[1i64], &[1]).unwrap());
    let error = scaled_add(vec![ints.clone(), ints], vec![]).unwrap_err();
    assert!(error.message().contains("argument 0 must be float32, got int64"), "{error}");
}

#[test]
fn without_the_registry_there_is_no_operator() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    drop(Registry::new());
    let error = scaled_add(vec![], vec![]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownOperator);
}
