//! Operators that are mostly called by name: metadata, storages, mapped files, lists of tensors. The values and messages
//! are those that PyTorch 2.7.1 prints.

use rushlight_base::{DType, Device, ErrorKind, MemoryFormat, Scalar};
use rushlight_tensor::dispatch::{Stream, by_name};
use rushlight_tensor::{Options, Tensor, Value, Values, ops};

fn tensor(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, &[values.len() as i64]).unwrap()
}

fn range(count: i64, sizes: &[i64]) -> Tensor {
    let flat = ops::arange(Scalar::Int(count), Options::of(DType::F32)).unwrap();
    ops::reshape(&flat, sizes).unwrap()
}

fn call(name: &str, args: &[Value]) -> Values {
    let (name, overload) = name.split_once('.').unwrap_or((name, ""));
    by_name::call(name, overload, args.to_vec(), vec![]).unwrap()
}

/// The first line of a message: a second one names the operator.
fn first_line(error: &rushlight_base::Error) -> String {
    error.message().lines().next().unwrap_or_default().to_string()
}

#[track_caller]
fn error(name: &str, args: &[Value]) -> String {
    let (base, overload) = name.split_once('.').unwrap_or((name, ""));
    first_line(&by_name::call(base, overload, args.to_vec(), vec![]).err().unwrap())
}

fn flag(name: &str, args: &[Value]) -> bool {
    call(name, args).extract().unwrap()
}

fn list(tensors: &[&Tensor]) -> Value {
    Value::from(tensors)
}

#[test]
fn the_state_of_autograd_is_read_and_set_by_name() {
    let leaf = tensor(&[1.0, 2.0]);
    let given = Value::from(&leaf);
    let same: Tensor = call("requires_grad_", std::slice::from_ref(&given)).extract().unwrap();
    assert!(same.is(&leaf) && leaf.requires_grad() && flag("is_leaf", &[given]));
    let double = Value::from(&ops::mul_scalar(&leaf, Scalar::Int(2)).unwrap());
    assert!(!flag("is_leaf", std::slice::from_ref(&double)));
    call("retain_grad", std::slice::from_ref(&double));
    assert!(flag("retains_grad", std::slice::from_ref(&double)));
    assert_eq!(
        error("requires_grad_", &[double.clone(), Value::from(false)]),
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph \
         that doesn't require differentiation use var_no_grad = var.detach()."
    );
    let plain = Value::from(&tensor(&[1.0]));
    assert_eq!(error("retain_grad", &[plain]), "can't retain_grad on Tensor that has requires_grad=False");
    let parts = ops::unbind_int(&leaf, 0).unwrap();
    assert!(!flag("is_leaf", &[Value::from(&parts[1])]));
    let (values, _) = ops::max_dim(&leaf, 0, false).unwrap();
    assert_eq!(call("output_nr", &[Value::from(&values)]).extract::<i64>().unwrap(), 0);
    let (_, exponents) = ops::std_mean(&leaf, true).unwrap();
    assert!(!flag("is_leaf", &[Value::from(&exponents)]));
}

#[test]
fn data_has_a_version_counter_of_its_own() {
    let base = ops::mul_scalar(&tensor(&[1.0, 1.0]), Scalar::Int(1)).unwrap();
    base.set_requires_grad(true).unwrap();
    let data: Tensor = call("data", &[Value::from(&base)]).extract().unwrap();
    ops::add_scalar_(&data, Scalar::Int(1), Scalar::Int(1)).unwrap();
    assert_eq!((base.version(), data.version(), data.requires_grad()), (0, 1, false));
    assert_eq!(ops::detach(&base).unwrap().to_vec::<f32>().unwrap(), [2.0, 2.0]);
    call("set_data", &[Value::from(&base), Value::from(&tensor(&[5.0]))]);
    assert_eq!(ops::detach(&base).unwrap().to_vec::<f32>().unwrap(), [5.0]);
    let whole = ops::to_dtype(&tensor(&[5.0]), DType::I64, false, false, None).unwrap();
    assert_eq!(
        error("set_data", &[Value::from(&base), Value::from(&whole)]),
        "data set to a tensor that requires gradients must be floating point or complex dtype"
    );
}

#[test]
fn lazy_bits_are_seen() {
    let complex = ops::complex(&tensor(&[1.0]), &tensor(&[2.0])).unwrap();
    let conjugate = ops::_conj(&complex).unwrap();
    assert!(flag("is_conj", &[Value::from(&conjugate)]) && !flag("is_conj", &[Value::from(&complex)]));
    let imaginary = ops::imag(&conjugate).unwrap();
    assert!(flag("is_neg", &[Value::from(&imaginary)]) && !flag("is_neg", &[Value::from(&complex)]));
    // The storage is the same, whatever the bits.
    assert!(ops::is_set_to(&complex, &complex.alias()).unwrap());
    assert!(ops::equal(&conjugate, &ops::resolve_conj(&conjugate).unwrap()).unwrap());
    assert!(!ops::equal(&complex, &conjugate).unwrap());
}

#[test]
fn same_elements_have_the_same_storage_and_geometry() {
    let a = range(4, &[4]);
    let square = ops::view(&a, &[2, 2]).unwrap();
    assert!(ops::is_set_to(&a, &ops::view(&a, &[4]).unwrap()).unwrap());
    assert!(!ops::is_set_to(&a, &square).unwrap() && !ops::is_set_to(&square, &ops::t(&square).unwrap()).unwrap());
    assert!(!ops::is_set_to(&a, &ops::clone(&a, None).unwrap()).unwrap());
}

#[test]
fn the_cpu_has_neither_page_locked_memory_nor_streams() {
    let a = Value::from(&tensor(&[1.0]));
    assert!(!flag("is_pinned", std::slice::from_ref(&a)));
    assert_eq!(error("pin_memory", &[a.clone(), Value::from(Device::CPU)]), "CPU device type not an accelerator.");
    assert_eq!(
        error("pin_memory", std::slice::from_ref(&a)),
        "Cannot access accelerator device when none is available."
    );
    let meta = ops::empty_memory_format(&[2], Options::of(DType::F32).on(Device::META), None).unwrap();
    assert_eq!(
        error("pin_memory", &[Value::from(&meta)]),
        "cannot pin 'MetaFloatType' only dense CPU tensors can be pinned"
    );
    let stream = Value::from(Stream { device: Device::CPU, id: 0 });
    assert_eq!(
        error("record_stream", &[a.clone(), stream]),
        "Could not run 'aten::record_stream' with arguments from the 'CPU' backend."
    );
    assert_eq!(error("record_stream", &[a.clone(), a]), "record_stream: argument 's' must be Stream, not Tensor");
}

#[test]
fn booleans_of_tensors() {
    assert!(flag("is_nonzero", &[Value::from(&tensor(&[0.5]))]));
    assert_eq!(
        error("is_nonzero", &[Value::from(&tensor(&[1.0, 2.0]))]),
        "Boolean value of Tensor with more than one value is ambiguous"
    );
    assert_eq!(
        error("is_nonzero", &[Value::from(&tensor(&[]))]),
        "Boolean value of Tensor with no values is ambiguous"
    );
    let (a, double) = (tensor(&[1.0]), ops::to_dtype(&tensor(&[1.0]), DType::F64, false, false, None).unwrap());
    assert!(ops::equal(&a, &double).unwrap());
    assert_eq!(ops::allclose(&a, &double, 0.0, 0.0, false).unwrap_err().message(), "Float did not match Double");
    assert_eq!(
        ops::allclose(&a, &a, -1.0, 0.0, false).unwrap_err().message(),
        "rtol must be greater than or equal to zero, but got -1"
    );
    let meta = ops::empty_memory_format(&[1], Options::of(DType::F32).on(Device::META), None).unwrap();
    assert_eq!(ops::equal(&a, &meta).unwrap_err().kind(), ErrorKind::NotImplemented);
    let unsigned = |dtype| ops::ones(&[1], Options::of(dtype)).unwrap();
    assert_eq!(
        ops::result_type_tensor(&unsigned(DType::U16), &unsigned(DType::I16)).unwrap_err().message(),
        "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote UInt16 and Short"
    );
}

#[test]
fn tensors_get_other_storages() {
    let source = range(6, &[6]);
    let storage = Value::from(source.storage());
    let target = tensor(&[1.0, 2.0]);
    let given = Value::from(&target);
    let args = [given.clone(), storage.clone(), 2.into(), Value::from(&[2, 2][..])];
    call("set_.source_Storage_storage_offset", &args);
    assert_eq!((target.to_vec::<f32>().unwrap(), target.version()), (vec![2.0, 3.0, 4.0, 5.0], 1));
    assert!(target.storage().is(&source.storage()));
    call("set_.source_Storage", &[given.clone(), storage.clone()]);
    assert_eq!(target.numel() * 4, source.storage().bytes() as i64);
    let args = [given.clone(), storage.clone(), 1.into(), Value::from(&[2, 2][..]), Value::from(&[1][..])];
    let message = error("set_.source_Storage_storage_offset", &args);
    assert_eq!(message, "unequal size length (2) and stride length (1)");
    let args = [given.clone(), storage, 1.into(), Value::from(&[1 << 40][..])];
    let message = error("set_.source_Storage_storage_offset", &args);
    assert!(message.starts_with("setStorage: sizes [1099511627776], strides [1], storage offset 1, and itemsize 4"));
    let message = ops::set_source_tensor_storage_offset_(&target, &source, -1, &[2], &[]).unwrap_err();
    assert_eq!(message.message(), "Tensor: invalid storage offset -1");
    let message = ops::set_source_tensor_storage_offset_(&target, &source, 0, &[2, 2], &[-1, 1]).unwrap_err();
    assert_eq!(message.message(), "Storage size calculation overflowed with sizes=[2, 2] and strides=[-1, 1]");
    let every_second = ops::slice_tensor(&source, 0, None, None, 2).unwrap();
    let message = ops::set_source_tensor_storage_offset_(&target, &every_second, 0, &[2], &[]).unwrap_err();
    assert_eq!(message.message(), "passed in tensor to be used as storage must be contiguous");
    let whole = ops::to_dtype(&source, DType::I64, false, false, None).unwrap();
    let message = ops::set_source_tensor_(&target, &whole).unwrap_err();
    assert_eq!(message.message(), "Could not set tensor of type long int to a tensor of type float");
    let meta = ops::empty_memory_format(&[2], Options::of(DType::F32).on(Device::META), None).unwrap();
    assert_eq!(
        ops::set_source_tensor_(&target, &meta).unwrap_err().message(),
        "Attempted to set the storage of a tensor on device \"cpu\" to a storage on different device \"meta\".  This is no \
         longer allowed; the devices must match."
    );
    target.set_requires_grad(true).unwrap();
    assert_eq!(
        ops::set_source_tensor_(&target, &source).unwrap_err().message(),
        "a leaf Variable that requires grad is being used in an in-place operation."
    );
}

#[test]
fn views_of_other_dtypes_share_the_version_counter() {
    let a = range(4, &[4]);
    let bits = ops::view_dtype(&a, DType::I32).unwrap();
    ops::add_scalar_(&bits, Scalar::Int(1), Scalar::Int(1)).unwrap();
    assert_eq!(a.version(), 1);
    let message = |view: rushlight_base::Result<Tensor>| first_line(&view.unwrap_err());
    let square = ops::view(&a, &[2, 2]).unwrap();
    assert_eq!(
        message(ops::view_dtype(&ops::t(&square).unwrap(), DType::I8)),
        "self.stride(-1) must be 1 to view Float as Char (different element sizes), but got 2"
    );
    let row = ops::slice_tensor(&range(12, &[4, 3]), 1, None, Some(2), 1).unwrap();
    assert_eq!(
        message(ops::view_dtype(&row, DType::F64)),
        "self.stride(0) must be divisible by 2 to view Float as Double (different element sizes), but got 3"
    );
    assert_eq!(
        message(ops::view_dtype(&ops::slice_tensor(&a, 0, Some(1), Some(3), 1).unwrap(), DType::F64)),
        "self.storage_offset() must be divisible by 2 to view Float as Double (different element sizes), but got 1"
    );
    assert_eq!(
        message(ops::view_dtype(&range(3, &[3]), DType::F64)),
        "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3"
    );
    assert_eq!(
        message(ops::view_dtype(&range(1, &[]), DType::F64)),
        "self.dim() cannot be 0 to view Float as Double (different element sizes)"
    );
    let conjugate = ops::_conj(&ops::complex(&tensor(&[1.0]), &tensor(&[2.0])).unwrap()).unwrap();
    assert_eq!(
        message(ops::view_dtype(&conjugate, DType::F32)),
        "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype."
    );
    assert_eq!(
        message(ops::view_dtype(&ops::imag(&conjugate).unwrap(), DType::I32)),
        "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different dtype."
    );
    a.set_requires_grad(true).unwrap();
    assert!(!ops::view_dtype(&a, DType::F64).unwrap().requires_grad());
}

#[test]
fn a_file_is_the_memory_of_a_tensor() {
    let path = std::env::temp_dir().join(format!("rushlight-from-file-{}", std::process::id()));
    let name = path.to_str().unwrap();
    let options = Options::of(DType::F32);
    let shared = ops::from_file(name, Some(true), Some(4), options).unwrap();
    ops::fill_scalar_(&shared, Scalar::Float(1.5)).unwrap();
    let private = ops::from_file(name, None, Some(3), options).unwrap();
    ops::fill_scalar_(&private, Scalar::Int(2)).unwrap();
    assert_eq!(shared.to_vec::<f32>().unwrap(), [1.5; 4]);
    assert_eq!(ops::from_file(name, None, Some(4), options).unwrap().to_vec::<f32>().unwrap(), [1.5; 4]);
    assert_eq!(ops::from_file(name, None, None, options).unwrap().sizes()[..], [0]);
    let message = |size, options| first_line(&ops::from_file(name, None, Some(size), options).unwrap_err());
    assert_eq!(
        message(40, options),
        format!("file <{name}> size <16> is smaller than the required mapping size <160>")
    );
    assert!(message(-4, options).starts_with("unable to mmap -4"));
    let pinned = Options { pin_memory: Some(true), ..options };
    assert_eq!(message(4, pinned), "tensors constructed from a file cannot be pinned");
    assert!(message(4, options.on(Device::META)).contains("'aten::from_file'"));
    std::fs::remove_file(&path).unwrap();
    assert!(message(4, options).starts_with(&format!("unable to open file <{name}> in read-only mode")));
}

#[test]
fn lists_of_tensors_are_checked() {
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[3.0]));
    let (two, three, none) = (list(&[&a, &b]), list(&[&a, &b, &a]), list(&[]));
    let lengths = "Tensor lists must have the same number of tensors, got 2 and 3";
    assert_eq!(error("_foreach_add.List", &[two.clone(), three.clone()]), lengths);
    assert_eq!(error("_foreach_add_.List", &[two.clone(), three.clone()]), lengths);
    assert_eq!(error("_foreach_lerp.List", &[two.clone(), two.clone(), three.clone()]), lengths);
    assert_eq!(error("_foreach_addcmul.Scalar", &[two.clone(), three.clone(), three.clone()]), lengths);
    assert_eq!(error("_foreach_copy_", &[two.clone(), three]), lengths);
    for (name, rest) in [("_foreach_abs", vec![]), ("_foreach_zero_", vec![]), ("_foreach_add.Scalar", vec![1.into()])]
    {
        let args: Vec<Value> = [none.clone()].into_iter().chain(rest).collect();
        assert_eq!(error(name, &args), "Tensor list must have at least one tensor.");
    }
    let numbers = |count: usize| Value::Scalars(vec![Scalar::Int(1); count]);
    assert_eq!(
        error("_foreach_add.ScalarList", &[two.clone(), numbers(3)]),
        "Tensor list must have same number of elements as scalar list."
    );
    assert_eq!(
        error("_foreach_lerp.ScalarList", &[two.clone(), two.clone(), numbers(1)]),
        "Tensor list must have same number of elements as scalar list, got 2 and 1"
    );
    assert_eq!(
        error("_foreach_div.Tensor", &[two.clone(), Value::from(&a)]),
        "scalar tensor expected to be 0 dim but it has 1 dimensions and 2 elements."
    );
    let packed = |tensor: &Tensor| [two.clone(), two.clone(), two.clone(), Value::from(tensor)];
    let packed_error = |tensor: &Tensor| error("_foreach_addcdiv.Tensor", &packed(tensor));
    assert_eq!(packed_error(&range(1, &[])), "Expected packed scalar Tensor to be of dimension 1. Got 0 instead.");
    assert_eq!(packed_error(&b), "Expected length of scalars to match input of length 2 but got 1 instead.");
    let strided = ops::slice_tensor(&range(4, &[4]), 0, None, None, 2).unwrap();
    assert_eq!(packed_error(&strided), "Expected scalars to be contiguous.");
    let meta = ops::empty_memory_format(&[2], Options::of(DType::F32).on(Device::META), None).unwrap();
    assert_eq!(packed_error(&meta), "Expected scalars to be on CPU, got meta instead.");
}

#[test]
fn lists_of_tensors_are_differentiated_and_written() {
    let (a, b) = (tensor(&[1.0, 2.0]), tensor(&[3.0]));
    a.set_requires_grad(true).unwrap();
    let products = ops::_foreach_mul_list(&[&a, &b], &[&a, &b]).unwrap();
    let total = ops::sum(&products[0], None).unwrap();
    rushlight_tensor::autograd::backward(&[&total], &[None], false, false, &[]).unwrap();
    assert_eq!(a.grad().unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert!(!products[1].requires_grad());
    assert_eq!(
        ops::_foreach_mul_scalar_(&[&a], Scalar::Int(2)).unwrap_err().message(),
        "a leaf Variable that requires grad is being used in an in-place operation."
    );
    ops::_foreach_add_scalarlist_(&[&b, &b], &[Scalar::Int(1), Scalar::Int(2)]).unwrap();
    assert_eq!((b.to_vec::<f32>().unwrap(), b.version()), (vec![6.0], 2));
}

#[test]
fn outputs_of_copies_of_views_are_checked() {
    let source = range(12, &[4, 3]);
    let (empty, small) = (tensor(&[]), tensor(&[0.0; 3]));
    let message = |result: rushlight_base::Result<()>| first_line(&result.unwrap_err());
    assert_eq!(
        message(ops::split_copy_tensor_out(&source, 2, 0, &[&empty])),
        "split_copy_Tensor_out() expected an out= argument of size 2, got size 1"
    );
    assert_eq!(
        message(ops::split_with_sizes_copy_out(&source, &[1, 3], 0, &[&empty])),
        "split_with_sizes_copy_out expected an out= argument of size 2, got size 1"
    );
    assert_eq!(
        message(ops::unbind_copy_int_out(&source, 0, &[&small])),
        "unbind_copy_int_out expected an out= argument of size 4, got size 1"
    );
    assert_eq!(
        message(ops::split_copy_tensor_out(&source, 2, 0, &[&small, &small])),
        "output with shape [3] doesn't match the broadcast shape [2, 3]"
    );
    let whole = ops::zeros(&[2, 3], Options::of(DType::I64)).unwrap();
    assert_eq!(
        message(ops::split_with_sizes_copy_out(&source, &[2, 2], 0, &[&whole, &empty])),
        "Expected out tensor to have dtype float, but got long int instead"
    );
    ops::split_copy_tensor_out(&source, 2, 0, &[&whole, &ops::clone(&whole, Some(MemoryFormat::Contiguous)).unwrap()])
        .unwrap();
    assert_eq!(whole.to_vec::<i64>().unwrap(), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn histograms_of_points_are_checked() {
    let points = range(8, &[4, 2]);
    let given = Value::from(&points);
    let bins = |bins: &[i64]| Value::from(bins);
    let check = |args: &[Value]| error("histogramdd", args);
    let row = Value::from(&ops::select_int(&points, 0, 0).unwrap());
    assert_eq!(
        check(&[row.clone(), bins(&[2, 2])]),
        "torch.histogramdd: input tensor should have at least 2 dimensions"
    );
    assert_eq!(
        check(&[given.clone(), bins(&[2])]),
        "histogramdd: The size of bins must be equal to the innermost dimension of the input."
    );
    let ends = |ends: &[f64]| Value::from(ends);
    assert_eq!(
        check(&[given.clone(), bins(&[2, 2]), ends(&[0.0, 1.0])]),
        "torch.histogramdd: for a 2-dimensional histogram range should have 4 elements, but got 2"
    );
    assert_eq!(
        check(&[given.clone(), bins(&[2, 2]), ends(&[1.0, 0.0, 0.0, 1.0])]),
        "torch.histogramdd: min should not exceed max, but got min 1 max 0 for dimension 0"
    );
    assert_eq!(
        check(&[given.clone(), bins(&[2, 2]), ends(&[1.0, f64::INFINITY, 0.0, 1.0])]),
        "torch.histogramdd: dimension 0's range [1, inf] is not finite"
    );
    assert_eq!(
        check(&[given.clone(), bins(&[2, 2]), Value::None, Value::from(&tensor(&[1.0, 2.0]))]),
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its \
         innermost dimension, but got input with shape [4, 2] and weight with shape [2]"
    );
    assert_eq!(
        check(&[given.clone(), bins(&[0, 2])]),
        "torch.histogram(): bins must be > 0, but got 0 for dimension 0"
    );
    let double = ops::ones(&[4], Options::of(DType::F64)).unwrap();
    assert_eq!(
        check(&[given.clone(), bins(&[2, 2]), Value::None, Value::from(&double)]),
        "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but \
         got input(float), and weight(double)"
    );
    let edges = tensor(&[0.0, 1.0]);
    assert_eq!(
        error("histogramdd.TensorList_bins", &[given.clone(), list(&[&edges])]),
        "torch.histogramdd: expected 2 sequences of bin edges for a 2-dimensional histogram but got 1"
    );
    let square = ops::reshape(&edges, &[1, 2]).unwrap();
    assert_eq!(
        error("histogramdd.TensorList_bins", &[given.clone(), list(&[&square, &edges])]),
        "torch.histogramdd: bins tensor should have one dimension, but got 2 dimensions in the bins tensor for dimension 0"
    );
    let double = ops::to_dtype(&edges, DType::F64, false, false, None).unwrap();
    assert_eq!(
        error("histogramdd.TensorList_bins", &[given, list(&[&double, &edges])]),
        "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype float and \
         bins for dimension 0 with dtype double"
    );
}
