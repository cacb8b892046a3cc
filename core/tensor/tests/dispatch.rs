//! The way of a call: by name, recorded, on the meta device, defined at run time, cancelled.

use rushlight_base::{DType, Device, ErrorKind, Scalar, runtime, smallvec};
use rushlight_tensor::dispatch::runtime_ops::{self, KernelKey};
use rushlight_tensor::dispatch::{by_name, record};
use rushlight_tensor::{Options, Tensor, Value, Values, autograd, ops};
use std::sync::{Arc, Mutex};

fn tensor(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, &[values.len() as i64]).unwrap()
}

#[test]
fn calls_by_name_fill_in_defaults() {
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[10.0, 20.0]));
    let args = vec![Value::from(&a), Value::from(&b)];
    let sum: Tensor = by_name::call("aten::add", "Tensor", args.clone(), vec![]).unwrap().extract().unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [11.0, 22.0]);
    let scaled = by_name::call("add", "Tensor", args, vec![("alpha".into(), Value::from(2i64))]).unwrap();
    assert_eq!(scaled.extract::<Tensor>().unwrap().to_vec::<f32>().unwrap(), [21.0, 42.0]);
}

#[test]
fn in_place_calls_by_name_return_what_they_wrote() {
    let a = tensor(&[1.0]);
    let args = vec![Value::from(&a), Value::from(1i64)];
    let result: Tensor = by_name::call("aten::add_", "Scalar", args, vec![]).unwrap().extract().unwrap();
    assert!(result.is(&a));
    assert_eq!(a.to_vec::<f32>().unwrap(), [2.0]);
}

#[test]
fn wrong_calls_by_name_say_what_is_wrong() {
    let a = tensor(&[1.0]);
    let call = |name: &str, overload: &str, args: Vec<Value>, kwargs: Vec<(String, Value)>| {
        by_name::call(name, overload, args, kwargs).map(|_: Values| ()).unwrap_err()
    };
    assert_eq!(call("aten::no_such_operator", "", vec![], vec![]).kind(), ErrorKind::UnknownOperator);
    let error = call("aten::add", "Quaternion", vec![], vec![]);
    assert!(error.message().contains("no overload 'Quaternion'") && error.message().contains("'Tensor'"), "{error}");
    let error = call("add", "Tensor", vec![Value::from(&a)], vec![]);
    assert_eq!(error.message(), "add.Tensor: missing value for argument 'other'");
    let error = call("add", "Tensor", vec![Value::from(&a), Value::from("text")], vec![]);
    assert_eq!(error.message(), "add.Tensor: argument 'other' must be Tensor, not str");
    let error = call("add", "Tensor", vec![Value::from(&a), Value::from(&a)], vec![("beta".into(), Value::None)]);
    assert_eq!(error.message(), "add.Tensor: got an unexpected keyword argument 'beta'");
    let error = call("reshape", "", vec![Value::from(&a), Value::Scalars(vec![1.into(), 2.5.into()])], vec![]);
    assert_eq!(error.message(), "reshape: argument 'shape' must be int, not float");
}

/// Languages without types have lists of numbers, and empty lists.
#[test]
fn lists_of_numbers_become_what_the_schema_says() {
    let a = tensor(&[1.0, 2.0]);
    let call = |name: &str, overload: &str, args: Vec<Value>| -> Tensor {
        by_name::call(name, overload, args, vec![]).unwrap().extract().unwrap()
    };
    let column = call("reshape", "", vec![Value::from(&a), Value::Scalars(vec![2.into(), 1.into()])]);
    assert_eq!(column.sizes()[..], [2, 1]);
    let one = call("reshape", "", vec![Value::from(&ops::sum(&a, None).unwrap()), Value::Tensors(vec![])]);
    assert_eq!(one.ndim(), 0);
    let line = ops::reshape(&a, &[1, 1, 2]).unwrap();
    let scales = Value::Scalars(vec![2.into()]);
    let twice = call("upsample_nearest1d", "vec", vec![Value::from(&line), Value::None, scales]);
    assert_eq!(twice.to_vec::<f32>().unwrap(), [1.0, 1.0, 2.0, 2.0]);
}

#[test]
fn the_recording_layer_tells_the_calls() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[3.0, 4.0]));
    record::start(Some(Arc::new(move |line: &str| sink.lock().unwrap().push(line.to_owned()))));
    let c = ops::mul_tensor(&a, &b).unwrap();
    ops::sum(&c, None).unwrap();
    record::stop();
    ops::neg(&c).unwrap();
    assert_eq!(*lines.lock().unwrap(), ["mul.Tensor([2] float32, [2] float32)", "sum([2] float32, None)"]);
    assert_eq!(c.to_vec::<f32>().unwrap(), [3.0, 8.0]);
}

#[test]
fn meta_tensors_have_shapes_and_no_data() {
    let options = Options::of(DType::F32).on(Device::META);
    let a = ops::empty_memory_format(&[2, 3], options, None).unwrap();
    let b = ops::empty_memory_format(&[3, 4], options, None).unwrap();
    let c = ops::mm(&a, &b).unwrap();
    assert_eq!((c.sizes().as_slice(), c.device(), c.data_ptr().is_null()), (&[2i64, 4][..], Device::META, true));
    assert!(c.item().is_err());
    assert!(ops::mm(&a, &a).is_err());
}

#[test]
fn there_is_no_cuda_device_without_a_gpu() {
    let options = Options::of(DType::F32).on(Device::cuda(0));
    let error = ops::zeros(&[2], options).unwrap_err();
    assert!(error.message().starts_with("no CUDA device"), "{error}");
}

#[test]
fn operators_defined_at_run_time_join_the_table() {
    let op = runtime_ops::define("demo::scaled_add(Tensor self, Tensor other, float alpha=2) -> Tensor").unwrap();
    op.implement(
        KernelKey::Composite,
        Arc::new(|args: &[Value]| {
            let [Value::Tensor(a), Value::Tensor(b), Value::Scalar(alpha)] = args else {
                return Err(rushlight_base::err!(Type, "unexpected arguments"));
            };
            Ok(Values(smallvec![Value::Tensor(ops::add_tensor(a, b, *alpha)?)]))
        }),
    );
    let x = tensor(&[1.0]);
    x.set_requires_grad(true).unwrap();
    let call = || by_name::call("demo::scaled_add", "", vec![Value::from(&x), Value::from(&x)], vec![]);
    let y: Tensor = call().unwrap().extract().unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [3.0]);
    // Made of operators that have derivatives: the gradient comes for free.
    autograd::backward(&[&y], &[], false, false, &[]).unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [3.0]);
    assert!(runtime_ops::define("demo::scaled_add(Tensor self) -> Tensor").is_err());
    assert!(runtime_ops::define("scaled_add(Tensor self) -> Tensor").is_err());
    assert!(runtime_ops::define("demo::broken(Tensor").is_err());
    runtime_ops::undefine(&op).unwrap();
    assert_eq!(call().unwrap_err().kind(), ErrorKind::UnknownOperator);
}

#[test]
fn a_device_kernel_without_derivative_says_so_in_backward() {
    let op = runtime_ops::define("demo::opaque(Tensor self) -> Tensor").unwrap();
    op.implement(
        KernelKey::Cpu,
        Arc::new(|args: &[Value]| match args {
            [Value::Tensor(a)] => Ok(Values(smallvec![Value::Tensor(ops::neg(a)?)])),
            _ => Err(rushlight_base::err!(Type, "unexpected arguments")),
        }),
    );
    let x = tensor(&[1.0]);
    x.set_requires_grad(true).unwrap();
    let y: Tensor = by_name::call("demo::opaque", "", vec![Value::from(&x)], vec![]).unwrap().extract().unwrap();
    let error = autograd::backward(&[&y], &[], false, false, &[]).unwrap_err();
    assert_eq!(error.message(), "derivative for demo::opaque is not implemented");
    runtime_ops::undefine(&op).unwrap();
}

#[test]
fn errors_name_the_operator_after_pytorchs_text() {
    let error = ops::add_tensor(&tensor(&[1.0, 2.0]), &tensor(&[1.0, 2.0, 3.0]), Scalar::Int(1)).unwrap_err();
    assert_eq!(
        error.message(),
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0\n  in operator add.Tensor"
    );
}

#[test]
fn random_numbers_are_pytorchs() {
    rushlight_tensor::manual_seed(0);
    let drawn = ops::rand(&[3], Options::default()).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(drawn, [0.496_256_6, 0.768_221_8, 0.088_477_43]);
}

/// Alone in its process (see `cancel` below): the flag stops every operator of every thread.
#[test]
#[ignore = "run by cancelled_calls_end_with_an_error in a process of its own"]
fn cancel() {
    runtime::set_cancelled(true);
    assert_eq!(ops::neg(&tensor(&[1.0])).unwrap_err().kind(), ErrorKind::Cancelled);
    runtime::set_cancelled(false);
    assert!(ops::neg(&tensor(&[1.0])).is_ok());
}

#[test]
fn cancelled_calls_end_with_an_error() {
    let program = std::env::current_exe().unwrap();
    let status = std::process::Command::new(program).args(["--exact", "cancel", "--ignored", "-q"]).output().unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
}
