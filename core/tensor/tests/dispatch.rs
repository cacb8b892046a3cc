//! Dispatch of a call: by name, recorded, on the meta device, defined at run time, cancelled.

use rushlight_base::{DType, Device, ErrorKind, Scalar, runtime};
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
fn in_place_calls_by_name_return_the_written_tensors() {
    let a = tensor(&[1.0]);
    let args = vec![Value::from(&a), Value::from(1i64)];
    let result: Tensor = by_name::call("aten::add_", "Scalar", args, vec![]).unwrap().extract().unwrap();
    assert!(result.is(&a));
    assert_eq!(a.to_vec::<f32>().unwrap(), [2.0]);
}

#[test]
fn errors_of_calls_by_name_describe_the_mistake() {
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
fn lists_of_numbers_are_converted_to_the_type_of_the_schema() {
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
fn the_recording_layer_reports_the_calls() {
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
            Ok(Values(vec![Value::Tensor(ops::add_tensor(a, b, *alpha)?)].into()))
        }),
    );
    let x = tensor(&[1.0]);
    x.set_requires_grad(true).unwrap();
    let call = || by_name::call("demo::scaled_add", "", vec![Value::from(&x), Value::from(&x)], vec![]);
    let y: Tensor = call().unwrap().extract().unwrap();
    assert_eq!(y.to_vec::<f32>().unwrap(), [3.0]);
    // Composed of differentiable operators, so it is differentiable.
    autograd::backward(&[&y], &[], false, false, &[]).unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [3.0]);
    assert!(runtime_ops::define("demo::scaled_add(Tensor self) -> Tensor").is_err());
    assert!(runtime_ops::define("scaled_add(Tensor self) -> Tensor").is_err());
    assert!(runtime_ops::define("demo::broken(Tensor").is_err());
    runtime_ops::undefine(&op).unwrap();
    assert_eq!(call().unwrap_err().kind(), ErrorKind::UnknownOperator);
}

#[test]
fn backward_through_a_device_kernel_without_derivative_is_an_error() {
    let op = runtime_ops::define("demo::opaque(Tensor self) -> Tensor").unwrap();
    op.implement(
        KernelKey::Cpu,
        Arc::new(|args: &[Value]| match args {
            [Value::Tensor(a)] => Ok(Values(vec![Value::Tensor(ops::neg(a)?)].into())),
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
    let sampled = ops::rand(&[3], Options::default()).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(sampled, [0.496_256_6, 0.768_221_8, 0.088_477_43]);
}

/// Alone in its process (see `cancel` below): the flag stops every operator of every thread.
#[test]
#[ignore = "run by cancelled_calls_end_with_an_error in a separate process"]
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

/// Rows whose results are not tensors: every kind of result, by name and below a boxed layer.
#[test]
fn results_of_every_kind_are_returned_by_name() {
    let x = ops::zeros(&[2, 3], Options::of(DType::F32)).unwrap();
    let one = |name: &str, overload: &str, args: Vec<Value>| -> Value {
        by_name::call(name, overload, args, vec![]).unwrap().extract().unwrap()
    };
    let of_x = |name: &str, overload: &str| one(name, overload, vec![Value::from(&x)]);
    assert_eq!(of_x("aten::size", ""), Value::from(&[2, 3][..]));
    assert_eq!(of_x("aten::stride", ""), Value::from(&[3, 1][..]));
    assert_eq!(one("aten::size", "int", vec![Value::from(&x), Value::from(-1i64)]), Value::from(3i64));
    assert_eq!(of_x("aten::dim", ""), Value::from(2i64));
    assert_eq!(of_x("aten::numel", ""), Value::from(6i64));
    assert_eq!(of_x("aten::is_floating_point", ""), Value::from(true));
    assert_eq!(of_x("prim::device", ""), Value::from(Device::CPU));
    assert_eq!(of_x("prim::dtype", ""), Value::from(DType::F32 as i64));
    assert_eq!(one("prim::type", "", vec![Value::from(Device::META)]), Value::from("meta"));
    assert_eq!(
        one("aten::list", "", vec![Value::from("héy")]),
        Value::Strings(vec!["h".into(), "é".into(), "y".into()])
    );
    let half = ops::full(&[], Scalar::Float(0.5), Options::of(DType::F64)).unwrap();
    assert_eq!(one("aten::item", "", vec![Value::from(&half)]), Value::from(0.5));
    assert_eq!(one("aten::FloatImplicit", "", vec![Value::from(&half)]), Value::from(0.5));
    let divmod = |x: i64, y: i64| -> (i64, i64) {
        by_name::call("aten::divmod", "int", vec![x.into(), y.into()], vec![]).unwrap().extract().unwrap()
    };
    assert_eq!((divmod(7, 2), divmod(-7, 2), divmod(7, -2), divmod(-8, 2)), ((3, 1), (-4, 1), (-4, -1), (-4, 0)));
    assert!(by_name::call("aten::divmod", "int", vec![1i64.into(), 0i64.into()], vec![]).is_err());
    assert!(by_name::call("aten::size", "int", vec![Value::from(&x), Value::from(2i64)], vec![]).is_err());
    assert!(by_name::call("device", "", vec![Value::from(&x)], vec![]).is_err());

    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    record::start(Some(Arc::new(move |call: &str| listener.lock().unwrap().push(call.to_owned()))));
    let (sizes, device) = (ops::size(&x).unwrap(), ops::prim_device(&x).unwrap());
    record::stop();
    assert_eq!((&sizes[..], device), (&[2, 3][..], Device::CPU));
    assert_eq!(*heard.lock().unwrap(), ["size([2, 3] float32)", "prim::device([2, 3] float32)"]);
}
