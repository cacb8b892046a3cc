//! Nested tensors: creation, arithmetic, layers of transformers and errors. The numbers and errors are PyTorch 2.7.1's.

#![cfg(feature = "op-nested")]

use rushlight_base::{DType, Result};
use rushlight_tensor::dispatch::{Value, by_name};
use rushlight_tensor::{Options, Tensor, ops};

fn x() -> Tensor {
    let numbers: Vec<f32> = (0..12u8).map(f32::from).collect();
    Tensor::from_slice(&numbers, &[2, 3, 2]).unwrap()
}

fn mask(ones: [bool; 6]) -> Tensor {
    Tensor::from_slice(&ones, &[2, 3]).unwrap()
}

fn nested() -> Tensor {
    ops::_nested_tensor_from_mask(&x(), &mask([true, true, false, true, true, true]), true).unwrap()
}

fn called(name: &str, args: &[Value]) -> Result<Value> {
    let (name, overload) = name.split_once('.').unwrap_or((name, ""));
    Ok(by_name::find(name, overload)?.call(args)?.first().cloned().unwrap_or_default())
}

fn parts(tensor: &Tensor) -> Vec<Vec<f32>> {
    let Value::Tensors(parts) = called("unbind.int", &[tensor.into(), 0i64.into()]).unwrap() else { panic!() };
    parts.iter().flatten().map(|part| part.to_vec::<f32>().unwrap()).collect()
}

#[test]
fn a_mask_selects_the_first_rows() {
    let nested = nested();
    assert!(nested.is_nested() && !nested.is_any_sparse());
    assert_eq!((nested.numel(), nested.ndim(), nested.dtype()), (10, 3, DType::F32));
    assert_eq!(parts(&nested), [vec![0.0, 1.0, 2.0, 3.0], vec![6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]);
    let Value::Tensor(sizes) = called("_nested_tensor_size", &[(&nested).into()]).unwrap() else { panic!() };
    assert_eq!((sizes.sizes().to_vec(), sizes.to_vec::<i64>().unwrap()), (vec![2, 2], vec![2, 2, 3, 2]));
    // A mask with gaps counts its ones if it is not checked.
    let gaps = mask([true, false, true, true, true, true]);
    let counted = ops::_nested_tensor_from_mask(&x(), &gaps, false).unwrap();
    assert_eq!(parts(&counted)[0], [0.0, 1.0, 2.0, 3.0]);
    assert!(!ops::_nested_tensor_from_mask_left_aligned(&x(), &gaps).unwrap());
    let message = |result: Result<Tensor>| result.unwrap_err().message().to_owned();
    let rejected = message(ops::_nested_tensor_from_mask(&x(), &gaps, true));
    assert!(rejected.contains("Mask must be left-aligned without gaps"), "{rejected}");
    let integers = ops::to_dtype(&gaps, DType::I32, false, false, None).unwrap();
    assert!(message(ops::_nested_tensor_from_mask(&x(), &integers, true)).contains("ScalarType Bool"));
    let none = ops::_nested_tensor_from_mask(&x(), &mask([false; 6]), true).unwrap();
    assert_eq!((none.numel(), parts(&none)), (0, vec![vec![], vec![]]));
}

#[test]
fn padding_fills_what_a_tensor_does_not_have() {
    let padded = ops::to_padded_tensor(&nested(), 0.0, None).unwrap();
    assert_eq!(padded.sizes().to_vec(), [2, 3, 2]);
    assert_eq!(padded.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    let wide = ops::to_padded_tensor(&nested(), -1.0, Some(&[2, 4, 3])).unwrap();
    assert_eq!(wide.to_vec::<f32>().unwrap()[..6], [0.0, 1.0, -1.0, 2.0, 3.0, -1.0]);
    let error = |sizes: Option<&[i64]>| ops::to_padded_tensor(&nested(), 0.0, sizes).unwrap_err().message().to_owned();
    assert!(error(Some(&[2, 1, 3])).contains("Truncation is not supported"));
    assert!(error(Some(&[2, 4])).contains("Length of output_size does not match NestedTensor dims"));
    assert!(ops::to_padded_tensor(&x(), 0.0, None).unwrap_err().message().contains("the tensor is not nested"));
}

#[test]
fn sizes_that_differ_are_an_error() {
    let size = |dim: i64| called("size.int", &[(&nested()).into(), dim.into()]);
    let number = |value: Value| matches!(value, Value::Scalar(number) if number.to_i64() == 2);
    assert!(number(size(0).unwrap()) && number(size(2).unwrap()) && number(size(-1).unwrap()));
    assert!(size(1).unwrap_err().message().contains("Given dimension 1 is irregular and does not have a size."));
    assert!(called("size", &[(&nested()).into()]).unwrap_err().message().contains("does not have sizes"));
    let cumulated = called("cumsum", &[(&nested()).into(), 0i64.into(), Value::None]).unwrap_err();
    assert!(cumulated.message().contains("'NestedTensorCPU' backend"), "{}", cumulated.message());
    assert!(nested().dense().is_err());
}

#[test]
fn arithmetic_works_on_the_elements() {
    let twice = ops::add_tensor(&nested(), &nested(), 1i64.into()).unwrap();
    assert_eq!(parts(&twice)[0], [0.0, 2.0, 4.0, 6.0]);
    let half = Tensor::from_slice(&[0.5f32], &[]).unwrap();
    assert_eq!(parts(&ops::mul_tensor(&nested(), &half).unwrap())[1], [3.0, 3.5, 4.0, 4.5, 5.0, 5.5]);
    let error = ops::add_tensor(&nested(), &x(), 1i64.into()).unwrap_err();
    assert!(error.message().contains("but got a nested self and non-nested other"));
    let target = nested();
    ops::mul_tensor_(&target, &half).unwrap();
    assert_eq!(parts(&target)[0], [0.0, 0.5, 1.0, 1.5]);
    let swapped = ops::transpose_int(&nested(), 1, 2).unwrap();
    assert_eq!(parts(&swapped), [vec![0.0, 2.0, 1.0, 3.0], vec![6.0, 8.0, 10.0, 7.0, 9.0, 11.0]]);
    let gelu = ops::gelu(&nested(), "none").unwrap();
    assert!((parts(&gelu)[0][1] - 0.841_344_7).abs() < 1e-6);
}

#[test]
fn a_call_that_would_be_recorded_is_an_error() {
    let weight = ops::eye(2, Options::default()).unwrap();
    weight.set_requires_grad(true).unwrap();
    let error = ops::linear(&nested(), &weight, None).unwrap_err();
    assert!(error.message().contains("not implemented for nested tensors"), "{}", error.message());
}

#[test]
fn an_encoder_layer_ignores_the_padding() {
    let random = |seed: u64, sizes: &[i64]| {
        let count: i64 = sizes.iter().product();
        let numbers: Vec<f32> =
            (0..count as u64).map(|at| (((at + seed) * 2_654_435_761 % 1000) as f32 / 500.0 - 1.0) * 0.5).collect();
        Tensor::from_slice(&numbers, sizes).unwrap()
    };
    let source = random(1, &[2, 3, 4]);
    let ones = mask([true, true, false, true, true, true]);
    let weights = [
        random(2, &[12, 4]),
        random(3, &[12]),
        random(4, &[4, 4]),
        random(5, &[4]),
        random(6, &[4]),
        random(7, &[4]),
        random(8, &[4]),
        random(9, &[4]),
        random(10, &[8, 4]),
        random(11, &[8]),
        random(12, &[4, 8]),
        random(13, &[4]),
    ];
    for norm_first in [false, true] {
        let layer = |input: &Tensor, mask: Option<&Tensor>| {
            let [a, b, c, d, e, f, g, h, i, j, k, l] = &weights;
            let kind = mask.map(|_| 1);
            ops::_transformer_encoder_layer_fwd(
                input, 4, 2, a, b, c, d, true, norm_first, 1e-5, e, f, g, h, i, j, k, l, mask, kind,
            )
            .unwrap()
        };
        let result = layer(&ops::_nested_tensor_from_mask(&source, &ones, true).unwrap(), None);
        let padding = ops::logical_not(&ones).unwrap();
        let dense = layer(&source, Some(&padding)).to_vec::<f32>().unwrap();
        let got = ops::to_padded_tensor(&result, 0.0, None).unwrap().to_vec::<f32>().unwrap();
        for at in 0..24 {
            let expected = if (8..12).contains(&at) { 0.0 } else { dense[at] };
            assert!((got[at] - expected).abs() < 1e-5, "element {at} is {}, not {expected}", got[at]);
        }
    }
}
