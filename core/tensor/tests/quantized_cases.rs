//! The results of quantized operators are those that `tests/oracle/quantized.py` recorded from PyTorch.
#![allow(missing_docs)]
#![cfg(feature = "op-quantization")]

use rushlight_base::{DType, MemoryFormat, Scalar};
use rushlight_tensor::dispatch::{Items, Value, by_name};
use rushlight_tensor::{Quantizer, Tensor, ops};
use std::sync::Arc;

const EXPECTED: &str = include_str!("../../../tests/data/quantized.expected.txt");

fn sizes_of(text: &str) -> Vec<i64> {
    if text.is_empty() { Vec::new() } else { text.split('x').map(|size| size.parse().unwrap()).collect() }
}

fn integers(dtype: DType, sizes: &[i64], seed: i64) -> Tensor {
    let low = match dtype {
        DType::QI8 => -63,
        DType::QU8 => 0,
        _ => -1000,
    };
    let count: i64 = sizes.iter().product();
    let values: Vec<i64> = (0..count).map(|i| (i * 53 + seed * 17) % 127 + low).collect();
    let values = Tensor::from_slice(&values, sizes).unwrap();
    ops::to_dtype(&values, dtype.to_integer(), false, false, None).unwrap()
}

/// The argument that a text describes, as the script describes it.
fn argument(text: &str) -> Value {
    let (kind, rest) = text.split_once(':').unwrap_or(("", text));
    let parts: Vec<&str> = rest.split(':').collect();
    match kind {
        "f" => {
            let (sizes, seed): (Vec<i64>, i64) = (sizes_of(parts[0]), parts[1].parse().unwrap());
            let count: i64 = sizes.iter().product();
            let values: Vec<f32> = (0..count).map(|i| ((i * 37 + seed * 11) % 101 - 50) as f32 / 16.0).collect();
            Tensor::from_slice(&values, &sizes).unwrap().into()
        }
        "q" => {
            let dtype = DType::from_name(parts[0]).unwrap();
            let integers = integers(dtype, &sizes_of(parts[3]), parts[4].parse().unwrap());
            let (scale, zero_point) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
            ops::_make_per_tensor_quantized_tensor(&integers, scale, zero_point).unwrap().into()
        }
        "l" => {
            let Value::Tensor(tensor) = argument(&format!("q:{rest}")) else { panic!("{text}") };
            ops::contiguous(&tensor, MemoryFormat::ChannelsLast).unwrap().into()
        }
        "w" => library(
            &format!("embedding_bag_{}_prepack", parts[0]),
            vec![argument(&format!("f:{}:{}", parts[1], parts[2]))],
        ),
        "c" => {
            let (dtype, axis, sizes) =
                (DType::from_name(parts[0]).unwrap(), parts[1].parse::<i64>().unwrap(), sizes_of(parts[2]));
            let channels = sizes[axis as usize];
            let scales: Vec<f64> = (0..channels).map(|c| 0.01 * (c + 1) as f64).collect();
            let zeros: Vec<i64> = (0..channels).map(|c| if dtype == DType::QU8 { c } else { c % 3 - 1 }).collect();
            let (scales, zeros) =
                (Tensor::from_slice(&scales, &[channels]).unwrap(), Tensor::from_slice(&zeros, &[channels]).unwrap());
            let integers = integers(dtype, &sizes, parts[3].parse().unwrap());
            ops::_make_per_channel_quantized_tensor(&integers, &scales, &zeros, axis).unwrap().into()
        }
        "v" => {
            let values: Vec<f64> = parts[1].split(' ').map(|value| value.parse().unwrap()).collect();
            let values = Tensor::from_slice(&values, &[values.len() as i64]).unwrap();
            ops::to_dtype(&values, DType::from_name(parts[0]).unwrap(), false, false, None).unwrap().into()
        }
        "e" => {
            let sizes = sizes_of(parts[0]);
            let scales: Vec<f32> = (0..sizes[0]).map(|row| (0.01 * (row + 1) as f64) as f32).collect();
            let zeros: Vec<f32> = (0..sizes[0]).map(|row| 60.5 + row as f32).collect();
            let vector = |values: &[f32]| Tensor::from_slice(values, &sizes[..1]).unwrap();
            let Value::Tensor(floats) = argument(&format!("f:{rest}")) else { panic!("{text}") };
            ops::quantize_per_channel(&floats, &vector(&scales), &vector(&zeros), 0, DType::QU8).unwrap().into()
        }
        "r" => Value::List(Items::new(rest.split('+').map(cell).collect()).unwrap()),
        "d" => DType::from_name(rest).unwrap().into(),
        "s" => Value::from(rest.to_owned()),
        "p" => {
            let (operator, arguments) = rest.strip_suffix(')').unwrap().split_once('(').unwrap();
            let arguments = arguments.split(",,").map(|one| argument(one.trim())).collect();
            by_name::call(&format!("quantized::{operator}"), "", arguments, Vec::new()).unwrap()[0].clone()
        }
        _ => plain(text),
    }
}

/// The result of an operator of the library.
fn library(operator: &str, args: Vec<Value>) -> Value {
    by_name::call(&format!("quantized::{operator}"), "", args, Vec::new()).unwrap()[0].clone()
}

/// The parameters of a recurrent cell.
fn cell(text: &str) -> Value {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |at: usize| parts[at].parse::<i64>().unwrap();
    let (rows, seed) = (number(2) * number(3), number(4));
    let quarter = |text: String| {
        let Value::Tensor(tensor) = argument(&text) else { panic!("{text}") };
        ops::mul_scalar(&tensor, Scalar::Float(0.25)).unwrap()
    };
    let biases = [0, 1].map(|at| quarter(format!("f:{rows}:{}", seed + at)));
    let packed = [0, 1].map(|at| {
        let columns = parts[1 + at];
        let bias = biases[at].clone().into();
        match parts[0] {
            "fp16" => library("linear_prepack_fp16", vec![quarter(format!("f:{rows}x{columns}:{seed}")).into(), bias]),
            _ => library("linear_prepack", vec![argument(&format!("q:qint8:0.02:0:{rows}x{columns}:{seed}")), bias]),
        }
    });
    let (mut args, biases) = (packed.to_vec(), biases.map(Value::from));
    if parts[0] == "fp16" {
        return library("make_quantized_cell_params_fp16", args);
    }
    args.extend(biases);
    args.push((parts[0] == "reduced").into());
    library("make_quantized_cell_params_dynamic", args)
}

fn plain(text: &str) -> Value {
    if let Some(list) = text.strip_prefix('[') {
        let values: Vec<i64> = list.trim_end_matches(']').split(' ').map(|value| value.parse().unwrap()).collect();
        return Value::from(&values[..]);
    }
    if let Some(list) = text.strip_prefix('{') {
        let tensor = |one: &str| match argument(one) {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        };
        return Value::Tensors(list.trim_end_matches('}').split(',').map(tensor).collect());
    }
    match text {
        "none" => Value::None,
        "true" | "false" => Value::from(text == "true"),
        _ => match text.parse::<i64>() {
            Ok(value) => Value::from(value),
            Err(_) => Value::from(text.parse::<f64>().unwrap()),
        },
    }
}

fn joined<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
}

fn sizes_text(tensor: &Tensor) -> String {
    joined(tensor.sizes()).replace(' ', "x")
}

/// The numbers of a tensor of any dtype.
fn numbers(tensor: &Tensor) -> Vec<f64> {
    ops::to_dtype(tensor, DType::F64, false, false, None).unwrap().to_vec().unwrap()
}

/// Whether a value is the expected one; floats may differ by `tolerance`.
fn is_same(value: &Value, expected: &str, tolerance: f64) -> bool {
    let (kind, rest) = expected.split_once(' ').unwrap_or((expected, ""));
    match (value, kind) {
        (Value::None, "none") => true,
        (Value::QScheme(scheme), "s") => rest.parse::<f64>().unwrap() == f64::from(*scheme as i32),
        (Value::Scalar(Scalar::Bool(value)), "s") => rest == if *value { "1.0" } else { "0.0" },
        (Value::Scalar(value), "s") => value.to_f64() == rest.parse::<f64>().unwrap(),
        (Value::Tensor(tensor), "q") => {
            let (head, integers) = rest.split_once(" :").unwrap();
            let parameters = match tensor.quantizer().as_deref() {
                Some(Quantizer::PerTensor { scale, zero_point }) => {
                    let mut head = head.split(' ').skip(2);
                    let expected: (f64, i64) =
                        (head.next().unwrap().parse().unwrap(), head.next().unwrap().parse().unwrap());
                    // Products with numbers are rounded by PyTorch in another order.
                    if (expected.0 - scale).abs() > scale * 1e-15 || expected.1 != *zero_point {
                        return false;
                    }
                    head_of(head_text(tensor), &rest[..rest.find(" :").unwrap()])
                }
                Some(Quantizer::PerChannel { axis, .. }) => head == format!("{} axis {axis}", head_text(tensor)),
                None => false,
            };
            parameters && integers.trim() == joined(numbers(&ops::int_repr(tensor).unwrap()))
        }
        (Value::Tensor(tensor), "t") => {
            let (head, values) = rest.split_once(" :").unwrap();
            let values: Vec<f64> = values.split_whitespace().map(|value| value.parse().unwrap()).collect();
            let close = |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= (1e-8 * b.abs()).max(tolerance);
            !tensor.is_quantized()
                && head == head_text(tensor)
                && numbers(tensor).len() == values.len()
                && numbers(tensor).iter().zip(&values).all(close)
        }
        _ => false,
    }
}

fn head_text(tensor: &Tensor) -> String {
    format!("{} {}", tensor.dtype(), sizes_text(tensor))
}

fn head_of(own: String, expected: &str) -> bool {
    expected.starts_with(&own)
}

fn described(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) if tensor.is_quantized() => {
            format!("{:?} {:?} {}", tensor, tensor.quantizer(), joined(numbers(&ops::int_repr(tensor).unwrap())))
        }
        Value::Tensor(tensor) => format!("{tensor:?} {}", joined(numbers(tensor))),
        other => format!("{other:?}"),
    }
}

/// The results of a call, one value for each element of a list.
fn results(call: &str) -> Vec<Value> {
    let mut parts = call.split(" ; ");
    let (name, overload) = {
        let operator = parts.next().unwrap();
        operator.split_once('.').unwrap_or((operator, ""))
    };
    let values = by_name::call(name, overload, parts.map(argument).collect(), Vec::new())
        .unwrap_or_else(|error| panic!("{call}: {error}"));
    let mut flat = Vec::new();
    for value in values.iter() {
        match value {
            Value::Tensors(tensors) => flat.extend(tensors.iter().flatten().cloned().map(Value::from)),
            Value::Ints(values) => flat.extend(values.iter().copied().map(Value::from)),
            other => flat.push(other.clone()),
        }
    }
    flat
}

#[test]
fn every_call_gives_pytorchs_result() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in EXPECTED.lines() {
        let (call, expected) = line.split_once(" => ").unwrap();
        let (values, expected): (Vec<Value>, Vec<&str>) = (results(call), expected.split(" & ").collect());
        count += 1;
        // Recurrent cells contain sigmoid and tanh, which both libraries round to the last bit but one.
        let tolerance = if ["lstm", "gru", "rnn"].iter().any(|kind| call.contains(kind)) { 4e-7 } else { 0.0 };
        if values.len() != expected.len()
            || !values.iter().zip(&expected).all(|(value, expected)| is_same(value, expected, tolerance))
        {
            let found: Vec<String> = values.iter().map(described).collect();
            wrong.push(format!("{call}\n  expected {}\n  found    {}", expected.join(" & "), found.join(" & ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} calls differ\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 150);
}

fn quantized(values: &[f32], scale: f64, zero_point: i64, dtype: DType) -> Tensor {
    let input = Tensor::from_slice(values, &[values.len() as i64]).unwrap();
    ops::quantize_per_tensor(&input, scale, zero_point, dtype).unwrap()
}

fn linear(input: &Tensor, weight: &Tensor, scale: f64) -> Vec<i64> {
    let packed = by_name::call("quantized::linear_prepack", "", vec![weight.clone().into()], Vec::new()).unwrap();
    let args = vec![input.clone().into(), packed[0].clone(), scale.into(), 0i64.into()];
    let result: Tensor = by_name::call("quantized::linear", "", args, Vec::new()).unwrap().extract().unwrap();
    numbers(&ops::int_repr(&result).unwrap()).iter().map(|&value| value as i64).collect()
}

#[test]
fn products_add_up_in_int32() {
    // 255 * 127 * 2 is more than int16 holds, and 600 such products are more than a float holds exactly.
    let make = |values: &[i16], dtype: DType, rows: i64| {
        let integers = Tensor::from_slice(values, &[rows, values.len() as i64 / rows]).unwrap();
        let integers = ops::to_dtype(&integers, dtype, false, false, None).unwrap();
        Tensor::from_integers(&integers, Arc::new(Quantizer::PerTensor { scale: 1.0, zero_point: 0 })).unwrap()
    };
    let (x, w) = (make(&[255, 255], DType::U8, 1), make(&[127, 127], DType::I8, 1));
    assert_eq!(linear(&x, &w, 1024.0), [63]);
    // The sum is 1: a sum in float loses it between terms of 2^24.
    let half = 600;
    let mut inputs = vec![255i16; 2 * half + 1];
    let mut weights = vec![127i16; half];
    weights.push(1);
    weights.extend(vec![-127i16; half]);
    inputs[half] = 1;
    assert_eq!(linear(&make(&inputs, DType::U8, 1), &make(&weights, DType::I8, 1), 1.0), [1]);
}

#[test]
fn a_strided_kernel_never_receives_a_quantized_tensor() {
    let q = quantized(&[1.0, 2.0], 0.5, 3, DType::QI8);
    assert!(q.dense().is_err() && q.to_vec::<i8>().is_err());
    for name in ["abs", "exp", "cumsum", "argmax", "add.Tensor", "mm", "fft_fft", "zeros_like", "var"] {
        let (name, overload) = name.split_once('.').unwrap_or((name, ""));
        let args = if ["add", "mm"].contains(&name) {
            vec![q.clone().into(), q.clone().into()]
        } else {
            vec![q.clone().into()]
        };
        let named = if name == "cumsum" { vec![("dim".to_owned(), Value::from(0i64))] } else { Vec::new() };
        let error = by_name::call(name, overload, args, named).unwrap_err().to_string();
        assert!(error.contains("'QuantizedCPU' backend") && error.contains(name), "{name}: {error}");
    }
    let options = rushlight_tensor::Options::of(DType::QI8);
    assert!(ops::zeros(&[2], options).unwrap_err().to_string().contains("QuantizedCPU"));
    assert!(q.item().is_err());
    assert_eq!(quantized(&[1.3], 0.5, 3, DType::QI8).item().unwrap().to_f64(), 1.5);
    let x = Tensor::from_slice(&[1i8], &[1]).unwrap();
    assert!(ops::view_dtype(&x, DType::QI8).is_err() && ops::sum(&x, Some(DType::QI8)).is_err());
}

#[test]
fn views_share_memory_and_writes_keep_the_quantizer() {
    let q = quantized(&[1.0, 2.0, 3.0, 4.0], 0.5, 3, DType::QI8);
    let row = ops::view(&q, &[2, 2]).unwrap();
    let numbers_of = |tensor: &Tensor| numbers(&ops::dequantize_self(tensor).unwrap());
    let before = q.version();
    ops::copy_(&ops::select_int(&row, 0, 1).unwrap(), &Tensor::from_slice(&[-1.0f32, 60.0], &[2]).unwrap(), false)
        .unwrap();
    assert_eq!(numbers_of(&q), [1.0, 2.0, -1.0, 60.0]);
    assert!(q.version() > before);
    ops::relu_(&q).unwrap();
    assert_eq!(numbers_of(&row), [1.0, 2.0, 0.0, 60.0]);
    let other = quantized(&[7.0; 4], 0.25, -3, DType::QI8);
    ops::copy_(&q, &other, false).unwrap();
    assert_eq!((ops::q_scale(&q).unwrap(), ops::q_zero_point(&q).unwrap()), (0.25, -3));
    assert_eq!(numbers_of(&q), [7.0; 4]);
}

#[test]
fn bad_input_is_an_error_that_changes_nothing() {
    let x = Tensor::from_slice(&[1.0f32, -2.0], &[2]).unwrap();
    let message = |result: rushlight_base::Result<Tensor>| result.unwrap_err().to_string();
    let cases = [
        (message(ops::quantize_per_tensor(&x, 0.5, 300, DType::QI8)), "zero_point 300 is above upper bound"),
        (message(ops::quantize_per_tensor(&x, 0.5, -1, DType::QU8)), "zero_point -1 is below lower bound"),
        (message(ops::quantize_per_tensor(&x, 0.5, 0, DType::I8)), "ScalarType Char is not supported"),
        (message(ops::int_repr(&x)), "is not quantized"),
    ];
    for (found, expected) in cases {
        assert!(found.contains(expected), "{found}");
    }
    let double = ops::to_dtype(&x, DType::F64, false, false, None).unwrap();
    assert!(message(ops::quantize_per_tensor(&double, 0.5, 0, DType::QI8)).contains("got Double"));
    let q = quantized(&[1.0, 2.0], 0.5, 3, DType::QI8);
    assert!(ops::copy_(&q, &double, false).is_err() && ops::copy_(&x, &q, false).is_err());
    assert_eq!(numbers(&ops::dequantize_self(&q).unwrap()), [1.0, 2.0]);
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, -2.0]);
    let w = ops::reshape(&quantized(&[1.0, 2.0, 3.0], 0.5, 0, DType::QI8), &[1, 3]).unwrap();
    let packed = by_name::call("quantized::linear_prepack", "", vec![w.into()], Vec::new()).unwrap()[0].clone();
    for (input, expected) in
        [(q.clone(), "Expected input data type QUInt8"), (quantized(&[1.0, 2.0], 0.5, 0, DType::QU8), "packB")]
    {
        let args = vec![input.into(), packed.clone(), Value::from(1.0), Value::from(0i64)];
        let found = by_name::call("quantized::linear", "", args, Vec::new()).unwrap_err().to_string();
        assert!(found.contains(expected) && found.contains("quantized::linear"), "{found}");
    }
}

#[test]
fn wrong_arguments_of_the_library_are_errors_with_its_name() {
    for (call, expected) in [
        ("layer_norm ; q:quint8:0.1:3:2x3:1 ; [2] ; none ; none ; 0.1 ; 0.1 ; 3", "normalized_shape=[2]"),
        ("layer_norm ; q:quint8:0.1:3:2x3:1 ; [3] ; f:4:1 ; none ; 0.1 ; 0.1 ; 3", "weight to have dtype float32"),
        ("layer_norm ; f:2x3:1 ; [3] ; none ; none ; 0.1 ; 0.1 ; 3", "is not quantized"),
        ("group_norm ; q:quint8:0.1:3:2x3x4:1 ; 2 ; none ; none ; 0.1 ; 0.1 ; 3", "evenly divisible by groups 2"),
        ("group_norm ; q:quint8:0.1:3:2x3x4:1 ; 0 ; none ; none ; 0.1 ; 0.1 ; 3", "evenly divisible by groups 0"),
        ("instance_norm ; q:quint8:0.1:3:2x3:1 ; none ; none ; 0.1 ; 0.1 ; 3", "at least 3-dimensional"),
        ("prelu ; q:quint8:0.1:3:2x3:1 ; q:quint8:0.1:3:2:1 ; 0.1 ; 3", "channel size = 3"),
        ("prelu ; q:quint8:0.1:3:2x3:1 ; q:qint8:0.1:3:3:1 ; 0.1 ; 3", "same data type"),
        ("add_out ; q:quint8:0.1:3:2:1 ; q:quint8:0.1:3:2:2 ; q:quint8:0.1:3:3:1", "dtype and sizes of the result"),
        ("mul_scalar_out ; q:quint8:0.1:3:2:1 ; 2.0 ; q:qint8:0.1:3:2:1", "dtype and sizes of the result"),
        ("embedding_bag_byte_prepack ; v:int64:1 2", "dtype float32 or float16"),
        ("embedding_bag_4bit_prepack ; f:2x3:1", "multiple of 2"),
        ("embedding_bag_2bit_prepack ; f:2x4x4:1", "2 dimensions"),
        ("embedding_bag_4bit_unpack ; v:uint8:1 2 3", "packed weight"),
        ("embedding_bag_byte_rowwise_offsets ; w:byte:5x8:3 ; v:int64:1 5 ; v:int64:0", "index 5 is out of range"),
        ("embedding_bag_4bit_rowwise_offsets ; w:4bit:5x8:3 ; v:int64:1 2", "offsets to be set for 1D"),
        ("embedding_bag_byte_rowwise_offsets ; w:byte:5x8:3 ; v:int64:1 2 ; v:int64:0 2 1", "must not decrease"),
        ("embedding_bag_byte_rowwise_offsets ; w:byte:5x8:3 ; v:int64:1 2 ; v:int64:0 3", "offset 3 is out of range"),
        ("embedding_bag_byte_rowwise_offsets ; w:byte:5x8:3 ; v:int64:1 2 ; v:int64:1", "offsets[0] has to be 0"),
        ("embedding_bag_byte ; p:embedding_bag_prepack(e:5x8:3) ; v:int64:-1 ; v:int64:0", "index -1 is out of range"),
        ("embedding_bag_4bit ; p:embedding_bag_prepack(e:5x8:3) ; v:int64:1 ; v:int64:0", "4 bits are not supported"),
    ] {
        let mut parts = call.split(" ; ");
        let name = format!("quantized::{}", parts.next().unwrap());
        let error = by_name::call(&name, "", parts.map(argument).collect(), Vec::new()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(&name), "{call}: {error}");
    }
}
