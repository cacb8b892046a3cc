//! The saved state of packed parameters: the layouts that `__getstate__` of PyTorch 2.7.1 returns for these calls, and all
//! versions that `__setstate__` takes.
#![allow(missing_docs)]
#![cfg(feature = "op-quantization")]

use rushlight_base::{DType, Scalar};
use rushlight_tensor::dispatch::{Items, Object, Value, by_name};
use rushlight_tensor::quantized::packed::{CLASSES, from_state, is_packed, to_state};
use rushlight_tensor::{Quantizer, Tensor, ops};
use std::sync::Arc;

const CONV2D: &str = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
const LINEAR: &str = "__torch__.torch.classes.quantized.LinearPackedParamsBase";
const CELL: &str = "__torch__.torch.classes.rnn.CellParamsBase";
const EMBEDDING: &str = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase";

fn call(name: &str, args: Vec<Value>) -> Value {
    by_name::call(&format!("quantized::{name}"), "", args, Vec::new()).unwrap()[0].clone()
}

fn floats(sizes: &[i64]) -> Tensor {
    let count: i64 = sizes.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 37) % 101 - 50) as f32 / 16.0).collect();
    Tensor::from_slice(&values, sizes).unwrap()
}

fn weight(sizes: &[i64]) -> Tensor {
    ops::quantize_per_tensor(&floats(sizes), 0.05, 0, DType::QI8).unwrap()
}

fn input(sizes: &[i64]) -> Value {
    ops::quantize_per_tensor(&floats(sizes), 0.05, 60, DType::QU8).unwrap().into()
}

fn ints(values: &[i64]) -> Value {
    Value::from(values)
}

fn tuple(values: Vec<Value>) -> Value {
    Value::Tuple(Items::new(values).unwrap())
}

fn object(value: &Value) -> &Object {
    let Value::Object(object) = value else { panic!("{value:?}") };
    object
}

/// The object that the state of another one restores.
fn restored(value: &Value) -> Value {
    let original = object(value);
    let copy = from_state(original.class_name(), to_state(original).unwrap()).unwrap();
    assert!(!copy.is(original) && copy.class_name() == original.class_name());
    Value::Object(copy)
}

fn elements(value: &Value) -> &[Value] {
    let Value::Tuple(items) = value else { panic!("{value:?}") };
    items
}

fn integers(value: &Value) -> Vec<i64> {
    let Value::Tensor(tensor) = value else { panic!("{value:?}") };
    let tensor = if tensor.is_quantized() { tensor.integers().unwrap() } else { tensor.clone() };
    let tensor = ops::contiguous(&tensor, rushlight_base::MemoryFormat::Contiguous).unwrap();
    ops::to_dtype(&tensor, DType::I64, false, false, None).unwrap().to_vec().unwrap()
}

fn config(value: &Value) -> Vec<i64> {
    let state = to_state(object(value)).unwrap();
    let items = elements(&state);
    assert_eq!((items.len(), &items[0]), (3, &Value::from("2".to_owned())));
    let (Value::Tensors(given), Value::Tensors(optional)) = (&items[1], &items[2]) else { panic!("{items:?}") };
    assert_eq!((given.len(), optional.len()), (2, 1));
    let numbers = given[0].clone().unwrap();
    assert_eq!(numbers.dtype(), DType::I16);
    integers(&numbers.into())
}

fn conv2d() -> Value {
    let numbers = [ints(&[1, 2]), ints(&[3, 4]), ints(&[2, 1]), 2i64.into()];
    let mut args = vec![weight(&[4, 3, 2, 2]).into(), floats(&[4]).into()];
    args.extend(numbers);
    call("conv2d_prepack", args)
}

#[test]
fn convolutions_have_the_states_of_pytorch() {
    assert_eq!(config(&conv2d()), [2, 1, 2, 3, 4, 2, 1, 0, 0, 2, 0]);
    let line = vec![weight(&[4, 3, 2]).into(), Value::None, ints(&[1]), ints(&[3]), ints(&[1]), 1i64.into()];
    assert_eq!(config(&call("conv1d_prepack", line)), [2, 1, 1, 0, 3, 1, 1, 0, 0, 1, 0]);
    let mut transposed = vec![weight(&[4, 3, 2, 2]).into(), floats(&[6]).into()];
    transposed.extend([ints(&[1, 2]), ints(&[3, 4]), ints(&[0, 1]), ints(&[1, 1]), 2i64.into()]);
    let transposed = call("conv_transpose2d_prepack", transposed);
    assert_eq!(config(&transposed), [2, 1, 2, 3, 4, 1, 1, 0, 1, 2, 1]);
    let volume =
        vec![weight(&[2, 1, 2, 2, 2]).into(), Value::None, ints(&[1; 3]), ints(&[0; 3]), ints(&[1; 3]), 1i64.into()];
    assert_eq!(config(&call("conv3d_prepack", volume)), [3, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 0]);
    let run = |packed: &Value| {
        let args = vec![input(&[1, 6, 4, 5]), packed.clone(), 0.1.into(), 70i64.into()];
        integers(&by_name::call("quantized::conv2d", "new", args, Vec::new()).unwrap()[0])
    };
    assert_eq!(run(&conv2d()), run(&restored(&conv2d())));
    let run = |packed: &Value| {
        integers(&call("conv_transpose2d", vec![input(&[1, 4, 6, 5]), packed.clone(), 0.1.into(), 70i64.into()]))
    };
    assert_eq!(run(&transposed), run(&restored(&transposed)));
}

#[test]
fn every_version_of_a_convolution_is_the_same_one() {
    let number = |value: i16| Tensor::from_slice(&[value], &[1]).unwrap();
    let pair = |a: i16, b: i16| Value::from(vec![number(a), number(b)]);
    let (given, bias): (Value, Value) = (weight(&[4, 3, 2, 2]).into(), floats(&[4]).into());
    let first = vec![given.clone(), bias.clone(), pair(1, 2), pair(3, 4), pair(2, 1), number(2).into()];
    let tensors = |values: [Option<&Value>; 3]| {
        let tensor = |value: &Value| match value {
            Value::Tensor(tensor) => tensor.clone(),
            other => panic!("{other:?}"),
        };
        Value::Tensors(values.into_iter().map(|value| value.map(tensor)).collect())
    };
    let numbers = [2, 1, 2, 3, 4, 2, 1, 0, 0, 2, 0];
    let third = vec![3i64.into(), ints(&numbers), tensors([None, Some(&given), Some(&bias)])];
    let want = config(&conv2d());
    let run = |packed: Value| {
        let args = vec![input(&[1, 6, 4, 5]), packed, 0.1.into(), 70i64.into()];
        integers(&by_name::call("quantized::conv2d", "new", args, Vec::new()).unwrap()[0])
    };
    for state in [first, third] {
        let found = Value::Object(from_state(CONV2D, tuple(state)).unwrap());
        assert_eq!(config(&found), want);
        assert_eq!(run(found), run(conv2d()));
    }
}

#[test]
fn linear_layers_embeddings_and_cells_are_restored() {
    let packed = call("linear_prepack", vec![weight(&[8, 3]).into(), floats(&[8]).into()]);
    let state = to_state(object(&packed)).unwrap();
    assert_eq!(elements(&state).len(), 2);
    let run = |packed: Value| integers(&call("linear", vec![input(&[2, 3]), packed, 0.1.into(), 70i64.into()]));
    assert_eq!(run(packed.clone()), run(restored(&packed)));
    let half = call("linear_prepack_fp16", vec![floats(&[8, 3]).into(), Value::None]);
    let numbers = |packed: Value| {
        let Value::Tensor(out) = call("linear_dynamic_fp16", vec![floats(&[2, 3]).into(), packed]) else { panic!() };
        out.to_vec::<f32>().unwrap()
    };
    assert_eq!(numbers(half.clone()), numbers(restored(&half)));

    let second = call("linear_prepack", vec![weight(&[8, 2]).into(), floats(&[8]).into()]);
    let biases = [floats(&[8]).into(), floats(&[8]).into()];
    let mut args = vec![packed, second];
    args.extend(biases);
    args.push(true.into());
    let cell = call("make_quantized_cell_params_dynamic", args);
    let state = to_state(object(&cell)).unwrap();
    let items = elements(&state);
    assert_eq!((items.len(), &items[0]), (5, &Value::from("quantized_dynamic".to_owned())));
    assert_eq!((&items[2], &items[3]), (&Value::Floats(Vec::new()), &ints(&[1])));
    let list = |cell: Value| Value::List(Items::new(vec![cell]).unwrap());
    let run = |cell: Value| {
        let hx = Value::from(vec![floats(&[1, 2, 2]), floats(&[1, 2, 2])]);
        let mut args = vec![floats(&[4, 2, 3]).into(), hx, list(cell), true.into(), 1i64.into(), 0.0.into()];
        args.extend([false.into(), false.into(), false.into()]);
        let results = by_name::call("aten::quantized_lstm", "input", args, Vec::new()).unwrap();
        let Value::Tensor(out) = &results[0] else { panic!() };
        out.to_vec::<f32>().unwrap()
    };
    assert_eq!(run(cell.clone()), run(restored(&cell)));

    let rows = ops::div_scalar(&ops::ones(&[5], Default::default()).unwrap(), Scalar::Int(20)).unwrap();
    let zeros = ops::mul_scalar(&rows, Scalar::Int(400)).unwrap();
    let table = ops::quantize_per_channel(&floats(&[5, 8]), &rows, &zeros, 0, DType::QU8).unwrap();
    let packed = call("embedding_bag_prepack", vec![table.into()]);
    let run = |packed: Value| {
        let indices = Tensor::from_slice(&[4i64, 0], &[2]).unwrap();
        let Value::Tensor(out) = call("embedding_byte", vec![packed, indices.into()]) else { panic!() };
        out.to_vec::<f32>().unwrap()
    };
    assert_eq!(run(packed.clone()), run(restored(&packed)));
}

#[test]
fn broken_states_are_errors() {
    assert!(CLASSES.iter().all(|class| is_packed(class)) && !is_packed("__torch__.My"));
    let given: Value = weight(&[4, 3, 2, 2]).into();
    let conv = |numbers: &[i64], weight: Value| {
        let Value::Tensor(weight) = weight else { panic!() };
        tuple(vec![3i64.into(), ints(numbers), Value::Tensors(vec![None, Some(weight), None])])
    };
    let huge = Tensor::from_integers(
        &ops::zeros(&[4, 3, 2, 2], rushlight_tensor::Options::of(DType::I8)).unwrap(),
        Arc::new(Quantizer::PerTensor { scale: 1.0, zero_point: 0 }),
    )
    .unwrap();
    let cases = vec![
        (LINEAR, Value::None),
        (LINEAR, tuple(vec![given.clone()])),
        (LINEAR, tuple(vec![given.clone(), Value::None])),
        (LINEAR, tuple(vec![1i64.into(), Value::None])),
        (CONV2D, tuple(Vec::new())),
        (CONV2D, tuple(vec!["4".to_owned().into(), ints(&[]), ints(&[])])),
        (CONV2D, conv(&[2, 1, 2], given.clone())),
        (CONV2D, conv(&[3, 1, 2, 3, 4, 2, 1, 0, 0, 2, 0], given.clone())),
        (CONV2D, conv(&[2, 0, 2, 3, 4, 2, 1, 0, 0, 2, 0], given.clone())),
        (CONV2D, conv(&[2, 1, 2, -3, 4, 2, 1, 0, 0, 2, 0], given.clone())),
        (CONV2D, conv(&[2, 1, 2, 3, 4, 2, 1, 0, 0, 3, 0], given.clone())),
        (CONV2D, conv(&[2, 1, 2, 3, 4, 2, 1, 0, 0, 0, 0], huge.into())),
        (CONV2D, conv(&[2, 1, 2, 3, 4, 2, 1, 0, 0, 2, 2], given.clone())),
        (CONV2D, conv(&[2, 1, 2, 3, 4, 2, 1, 0, 0, 2, 0], floats(&[4, 3, 2, 2]).into())),
        (EMBEDDING, tuple(vec![1i64.into(), Value::Tensors(Vec::new()), ints(&[]), ints(&[8])])),
        (EMBEDDING, tuple(vec![1i64.into(), Value::Tensors(Vec::new()), ints(&[]), ints(&[4])])),
        (CELL, tuple(vec!["quantized".to_owned().into(), ints(&[]), ints(&[]), ints(&[]), ints(&[])])),
        ("__torch__.My", Value::None),
    ];
    for (class, state) in cases {
        let text = format!("{class} {state:?}");
        let error = from_state(class, state).err().unwrap_or_else(|| panic!("{text}"));
        assert!(!error.message().is_empty());
    }
    assert!(to_state(&Object::new(LINEAR, 7u8).unwrap()).is_err());
}
