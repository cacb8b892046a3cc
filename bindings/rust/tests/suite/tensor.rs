//! Creation, conversion, metadata, printing, operators.

use crate::floats;
use rushlight::{
    Complex, DType, Device, ErrorKind, Generator, IValue, Reduction, Tensor, TensorOptions, call, options,
};

#[test]
fn values_make_a_round_trip_in_every_dtype() {
    fn check<T: rushlight::Element>(values: [T; 4]) {
        let x = Tensor::from_slice(&values, [2, 2]).unwrap();
        assert_eq!((x.dtype(), x.sizes()), (T::DTYPE, vec![2, 2]));
        assert_eq!(x.to_vec::<T>().unwrap(), values);
        assert_eq!(Vec::<T>::try_from(&x.t().unwrap()).unwrap(), [values[0], values[2], values[1], values[3]]);
    }
    check([1u8, 2, 3, 255]);
    check([-1i8, 2, 3, 4]);
    check([-1i16, 2, 3, 4]);
    check([1i32, 2, -3, 4]);
    check([1i64, i64::MAX, i64::MIN, 4]);
    check([1u16, 2, 3, 4]);
    check([1u32, 2, 3, 4]);
    check([1u64, 2, 3, u64::MAX]);
    check([1.5f32, -2.5, f32::INFINITY, 0.0]);
    check([1.5f64, -2.5, 0.1, 0.0]);
    check([true, false, false, true]);
    check([1.0, 2.0, 3.0, 4.0].map(rushlight::f16::from_f32));
    check([1.0, 2.0, 3.0, 4.0].map(rushlight::bf16::from_f32));
    check([1.0f32, 2.0, 3.0, 4.0].map(|re| Complex::new(re, -re)));
    check([1.0f64, 2.0, 3.0, 4.0].map(|re| Complex::new(re, -re)));
}

#[test]
fn numbers_come_out_of_tensors_of_one_element() {
    let x = floats(&[2.5]);
    assert_eq!(f64::try_from(&x).unwrap(), 2.5);
    assert_eq!((f32::try_from(&x).unwrap(), i64::try_from(&x).unwrap(), bool::try_from(&x).unwrap()), (2.5, 2, true));
    let complex = Tensor::from_value(Complex::new(1.0f32, 2.0)).unwrap();
    assert_eq!(f64::try_from(&complex).unwrap_err().kind(), ErrorKind::Value);
    assert!(f64::try_from(&floats(&[1.0, 2.0])).is_err());
    let mut copied = [0.0f32; 2];
    floats(&[1.0, 2.0]).copy_to_slice(&mut copied).unwrap();
    assert_eq!(copied, [1.0, 2.0]);
    let error = floats(&[1.0]).copy_to_slice(&mut copied).unwrap_err();
    assert_eq!(error.message(), "a tensor of 1 elements cannot be copied to a slice of 2");
}

#[test]
fn a_clone_is_the_same_tensor_and_a_deep_clone_is_not() {
    let x = floats(&[1.0, 2.0]);
    let (same, other) = (x.clone(), x.deep_clone().unwrap());
    x.add_scalar_(1).unwrap();
    assert!(same.is_same(&x) && !other.is_same(&x));
    assert_eq!(same.to_vec::<f32>().unwrap(), [2.0, 3.0]);
    assert_eq!(other.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!(size_of::<Tensor>(), size_of::<usize>());
}

#[test]
fn metadata_is_that_of_the_tensor() {
    let x = Tensor::zeros_with([2, 3, 4], DType::F64).unwrap().transpose(0, 2).unwrap();
    assert_eq!((x.sizes(), x.strides(), x.ndim(), x.numel()), (vec![4, 3, 2], vec![1, 4, 12], 3, 24));
    assert_eq!((x.size(-1).unwrap(), x.dtype(), x.device()), (2, DType::F64, Device::CPU));
    assert!(x.is_view() && !x.is_contiguous() && x.contiguous().unwrap().is_contiguous());
    assert_eq!(x.size(3).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(Tensor::from_value(1i64).unwrap().size(0).unwrap_err().kind(), ErrorKind::Index);
    let meta = x.on(Device::META).unwrap();
    assert_eq!((meta.sizes(), meta.device()), (vec![4, 3, 2], Device::META));
    assert!(meta.to_vec::<f64>().is_err());
    assert_eq!(x.options(), Tensor::zeros_with(1, x.options()).unwrap().options());
    assert_eq!(Tensor::ones_with([], TensorOptions::DEFAULT).unwrap().dtype(), DType::F32);
}

#[test]
fn optional_arguments_have_the_defaults_of_the_schema() {
    let (a, b) = (floats(&[1.0, 2.0]), floats(&[10.0, 20.0]));
    assert_eq!(a.add(&b).unwrap().to_vec::<f32>().unwrap(), [11.0, 22.0]);
    assert_eq!(a.add_with(&b, 2).unwrap().to_vec::<f32>().unwrap(), [21.0, 42.0]);
    let sum = options::SumDim { keepdim: true, dtype: Some(DType::F64) };
    assert_eq!(a.sum_dim_with(0, sum).unwrap().to_vec::<f64>().unwrap(), [3.0]);
    assert_eq!(a.mse_loss_with(&b, Reduction::Sum).unwrap().item().unwrap().to_f64(), 81.0 + 324.0);
    assert_eq!(options::Conv2d::default().stride, [1]);
    let out = Tensor::empty(0).unwrap();
    a.add_with_out(&b, 0.5, &out).unwrap();
    assert_eq!(out.to_vec::<f32>().unwrap(), [6.0, 12.0]);
    let same = a.mul_(&b).unwrap().sub_scalar_(1).unwrap();
    assert!(same.is_same(&a));
    assert_eq!(a.to_vec::<f32>().unwrap(), [9.0, 39.0]);
    let (values, indices) = a.max_dim(0).unwrap();
    assert_eq!((f64::try_from(&values).unwrap(), i64::try_from(&indices).unwrap()), (39.0, 1));
    let parts = Tensor::cat(&[&a, &b]).unwrap().split(2).unwrap();
    assert_eq!(Tensor::stack(&parts).unwrap().sizes(), [2, 2]);
    let generator = Generator::new(7);
    let first = Tensor::rand_generator([2], Some(&generator)).unwrap();
    assert_eq!(first.sizes(), [2]);
}

#[test]
fn operators_of_rust_compute_and_panic_with_the_message() {
    let (a, b) = (floats(&[1.0, 2.0]), floats(&[4.0, 8.0]));
    let values = |tensor: Tensor| tensor.to_vec::<f32>().unwrap();
    assert_eq!(values(&a + &b), [5.0, 10.0]);
    assert_eq!(values(&b - a.clone()), [3.0, 6.0]);
    assert_eq!(values(a.clone() * &b), [4.0, 16.0]);
    assert_eq!(values(&a / &b), [0.25, 0.25]);
    assert_eq!(values(1 + &a), values(&a + 1.0));
    assert_eq!(values(10 - &a), [9.0, 8.0]);
    assert_eq!(values(2.0 / &a), [2.0, 1.0]);
    assert_eq!(values(-&a * 3i64), [-3.0, -6.0]);
    let mut c = a.deep_clone().unwrap();
    c += &b;
    c *= 2;
    c -= 1.0;
    c /= a.clone();
    assert_eq!(values(c), [9.0, 9.5]);
    let text = std::panic::catch_unwind(|| &floats(&[1.0, 2.0]) + &floats(&[1.0, 2.0, 3.0])).unwrap_err();
    let text = text.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("The size of tensor a (2) must match the size of tensor b (3)"), "{text}");
}

#[test]
fn calls_by_name_fill_in_defaults() {
    let boxes = Tensor::from_slice(&[0.0f32, 0.0, 2.0, 2.0, 0.0, 0.0, 2.0, 1.9, 5.0, 5.0, 6.0, 6.0], [3, 4]).unwrap();
    let scores = floats(&[0.5, 0.9, 0.1]);
    let kept = call("torchvision::nms", "", &[(&boxes).into(), (&scores).into(), 0.5.into()], &[]).unwrap();
    assert_eq!(Tensor::try_from(kept[0].clone()).unwrap().to_vec::<i64>().unwrap(), [1, 2]);
    let error = call("aten::no_such_operator", "", &[], &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownOperator);
    assert!(call("relu", "", &[IValue::None], &[]).is_err());
}

/// The strings are those of PyTorch 2.7.1.
#[test]
fn tensors_print_as_in_python() {
    let cases = [
        (floats(&[1.0, 2.5, -3.0]), "tensor([ 1.0000,  2.5000, -3.0000])"),
        (floats(&[1.0, 2.0]), "tensor([1., 2.])"),
        (floats(&[1e-7, 1.0]), "tensor([1.0000e-07, 1.0000e+00])"),
        (floats(&[f32::NAN, f32::INFINITY, -1.0]), "tensor([nan, inf, -1.])"),
        (floats(&[]), "tensor([])"),
        (Tensor::from_value(3i64).unwrap(), "tensor(3)"),
        (Tensor::from_value(0.1f64).unwrap(), "tensor(0.1000, dtype=torch.float64)"),
        (Tensor::try_from([true, false]).unwrap(), "tensor([ True, False])"),
        (Tensor::try_from([1i32, -20]).unwrap(), "tensor([  1, -20], dtype=torch.int32)"),
        (Tensor::zeros([0, 2]).unwrap(), "tensor([], size=(0, 2))"),
        (Tensor::zeros_with([2], Device::META).unwrap(), "tensor(..., device='meta', size=(2,))"),
        (Tensor::try_from([Complex::new(1.0f32, -2.0)]).unwrap(), "tensor([1.-2.j])"),
        (Tensor::arange(4).unwrap().reshape([2, 2]).unwrap(), "tensor([[0, 1],\n        [2, 3]])"),
        (Tensor::arange(1001).unwrap(), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
        (
            floats(&[1.0]).requiring_grad().unwrap().mul(&floats(&[2.0])).unwrap(),
            "tensor([2.], grad_fn=<MulBackward0>)",
        ),
        (floats(&[1.0]).requiring_grad().unwrap(), "tensor([1.], requires_grad=True)"),
    ];
    for (tensor, expected) in cases {
        assert_eq!(tensor.to_string(), expected);
    }
    let wide = Tensor::arange(30).unwrap().to(DType::F32).unwrap();
    assert_eq!(
        wide.to_string(),
        "tensor([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12., 13.,\n        14., 15., 16., 17., 18., \
         19., 20., 21., 22., 23., 24., 25., 26., 27.,\n        28., 29.])"
    );
    assert_eq!(format!("{:?}", floats(&[1.0])), "Tensor([1] float32 cpu)");
}
