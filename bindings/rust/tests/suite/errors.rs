//! Errors: kinds, messages, and that a failed call changes nothing.

use crate::floats;
use rushlight::{DType, ErrorKind, IValue, Tensor, options};

#[test]
fn errors_have_kinds_and_name_the_operator() {
    let (a, b) = (Tensor::ones([2, 3]).unwrap(), Tensor::ones([2, 3]).unwrap());
    let error = a.mm(&b).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Runtime);
    assert_eq!(error.message(), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)\n  in operator mm");
    assert_eq!(error.to_string(), error.message());
    assert_eq!(a.select(5, 0).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(Tensor::try_from(IValue::None).unwrap_err().kind(), ErrorKind::Type);
    assert_eq!(rushlight::StateDict::load("no_such_file.pt").unwrap_err().kind(), ErrorKind::Io);
    let boxed: Box<dyn std::error::Error + Send + Sync> = error.into();
    assert!(boxed.to_string().contains("mat1"));
}

/// What a failed call could change: values, metadata, version, gradient.
type Picture = (Vec<f32>, Vec<i64>, Vec<i64>, DType, u32, Option<Vec<f32>>);

fn picture(tensor: &Tensor) -> Picture {
    let values = |tensor: &Tensor| tensor.to_vec::<f32>().unwrap();
    let (sizes, strides) = (tensor.sizes(), tensor.strides());
    (values(tensor), sizes, strides, tensor.dtype(), tensor.version(), tensor.grad().as_ref().map(values))
}

#[test]
fn a_failed_call_changes_nothing() {
    let x = floats(&[1.0, 2.0, 3.0, 4.0]).reshape([2, 2]).unwrap();
    let other = floats(&[1.0, 2.0, 3.0]);
    let leaf = floats(&[1.0, 2.0]).requiring_grad().unwrap();
    leaf.square().unwrap().sum().unwrap().backward().unwrap();
    let before = [&x, &other, &leaf].map(picture);
    let failing: [(&str, &dyn Fn() -> bool); 10] = [
        ("add_", &|| x.add_(&other).is_err()),
        ("add_out", &|| x.add_out(&other, &x).is_err()),
        ("mm_out", &|| x.mm_out(&other, &x).is_err()),
        ("copy_", &|| x.copy_(&other).is_err()),
        ("index_put_", &|| x.index_put_(&[Some(&other)], &other).is_err()),
        ("set", &|| x.set((0, 0..2), &other).is_err()),
        ("view", &|| x.view([3]).is_err()),
        ("bitwise_not_", &|| x.bitwise_not_().is_err()),
        ("leaf in place", &|| leaf.add_scalar_(1).is_err()),
        ("set_grad", &|| leaf.set_grad(Some(&other)).is_err()),
    ];
    for (name, call) in failing {
        assert!(call(), "{name}");
        assert_eq!([&x, &other, &leaf].map(picture), before, "{name}");
    }
}

#[test]
fn sizes_that_cannot_be_are_errors() {
    assert!(Tensor::from_slice(&[1.0f32], [2]).is_err());
    assert!(Tensor::from_slice(&[1.0f32], [-1]).is_err());
    assert_eq!(Tensor::zeros([1 << 40, 1 << 20]).unwrap_err().kind(), ErrorKind::OutOfMemory);
    assert!(Tensor::zeros([i64::MAX, i64::MAX]).is_err());
    let x = floats(&[1.0]);
    assert!(x.conv2d_with(&x, options::Conv2d { groups: 0, ..Default::default() }).is_err());
    assert_eq!(x.to_vec::<f64>().unwrap_err().kind(), ErrorKind::Type);
}
