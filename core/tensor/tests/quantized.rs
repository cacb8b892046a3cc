//! Fake quantization against recorded results, with first and second gradients.
#![allow(missing_docs)]
#![cfg(feature = "op-quantization")]

use rushlight_tensor::{Tensor, ops};

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, &[values.len() as i64]).unwrap()
}

const INPUT: [f32; 13] =
    [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e30, -1e30, 0.25, 0.5, 1.5, -0.5, 2.5, 127.4, 200.0, -300.0];
const IN_RANGE: [bool; 13] = [false, false, false, false, false, true, true, true, true, true, false, false, false];

#[test]
fn fake_quantization_rounds_to_the_grid() {
    let x = floats(&INPUT);
    let (output, mask) = ops::fake_quantize_per_tensor_affine_cachemask(&x, 0.5, 3, -128, 127).unwrap();
    let expected = [-65.5, -65.5, -65.5, -65.5, -65.5, 0.0, 0.5, 1.5, -0.5, 2.5, 62.0, 62.0, -65.5];
    assert_eq!(output.to_vec::<f32>().unwrap(), expected);
    assert_eq!(mask.to_vec::<bool>().unwrap(), IN_RANGE);
    let row = ops::reshape(&x, &[1, -1]).unwrap();
    let (scale, zero) = (floats(&[0.5]), Tensor::from_slice(&[3i32], &[1]).unwrap());
    let output = ops::fake_quantize_per_channel_affine(&row, &scale, &zero, 0, -128, 127).unwrap();
    assert_eq!(output.to_vec::<f32>().unwrap(), expected);
    let output = ops::fake_quantize_per_channel_affine(&row, &scale, &floats(&[3.5]), 0, -128, 127).unwrap();
    let between = [-65.75, -65.75, -65.75, -65.75, -65.75, 0.25, 0.25, 1.25, -0.75, 2.25, 61.75, 61.75, -65.75];
    assert_eq!(output.to_vec::<f32>().unwrap(), between);
}

#[test]
fn the_gradient_is_that_of_the_elements_in_range() {
    let x = floats(&INPUT);
    x.set_requires_grad(true).unwrap();
    let y = ops::fake_quantize_per_tensor_affine(&x, 0.5, 3, -128, 127).unwrap();
    assert_eq!(y.grad_fn().unwrap().name(), "FakeQuantizePerTensorAffineCachemaskBackward0");
    rushlight_tensor::autograd::backward(&[&ops::sum(&y, None).unwrap()], &[], false, false, &[]).unwrap();
    let expected: Vec<f32> = IN_RANGE.iter().map(|&inside| f32::from(u8::from(inside))).collect();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), expected);
}

#[test]
fn the_second_gradient_passes_the_mask() {
    let (x, grad) = (floats(&INPUT), floats(&[2.0; 13]));
    for tensor in [&x, &grad] {
        tensor.set_requires_grad(true).unwrap();
    }
    let y = ops::fake_quantize_per_tensor_affine(&x, 0.5, 3, -128, 127).unwrap();
    let first = rushlight_tensor::autograd::grad(&[&y], &[&x], &[Some(&grad)], true, true, false).unwrap();
    let total = ops::sum(first[0].as_ref().unwrap(), None).unwrap();
    let second = rushlight_tensor::autograd::grad(&[&total], &[&grad], &[], false, false, false).unwrap();
    let expected: Vec<f32> = IN_RANGE.iter().map(|&inside| f32::from(u8::from(inside))).collect();
    assert_eq!(second[0].as_ref().unwrap().to_vec::<f32>().unwrap(), expected);
}

#[test]
fn moving_averages_choose_the_parameters() {
    let x = Tensor::from_slice(&[1.0f32, -2.0, 3.0, 0.5, 7.0, -1.0], &[2, 3]).unwrap();
    let twice = Tensor::from_slice(&[2.0f32, -4.0, 6.0, 1.0, 14.0, -2.0], &[2, 3]).unwrap();
    let on = Tensor::from_slice(&[1i64], &[1]).unwrap();
    let [low, high, scale] = [f32::INFINITY, f32::NEG_INFINITY, 1.0].map(|value| floats(&[value]));
    let zero = Tensor::from_slice(&[0i32], &[1]).unwrap();
    let run = |x: &Tensor, symmetric| {
        ops::fused_moving_avg_obs_fake_quant(x, &on, &on, &low, &high, &scale, &zero, 0.01, 0, 255, 0, false, symmetric)
            .unwrap()
    };
    let rounded = |tensor: &Tensor| -> Vec<f32> {
        tensor.to_vec::<f32>().unwrap().iter().map(|value| (value * 1e4).round() / 1e4).collect()
    };
    assert_eq!(rounded(&run(&x, false)), [0.9882, -2.0118, 3.0, 0.4941, 6.9882, -0.9882]);
    assert_eq!((zero.to_vec::<i32>().unwrap()[0], rounded(&scale)[0]), (57, 0.0353));
    assert_eq!(rounded(&run(&twice, true)), [2.0041, -4.0082, 6.0123, 1.002, 7.07, -2.0041]);
    assert_eq!((rounded(&low)[0], rounded(&high)[0]), (-2.02, 7.07));
    assert_eq!((zero.to_vec::<i32>().unwrap()[0], rounded(&scale)[0]), (128, 0.0557));
}

#[test]
fn rows_get_parameters_of_their_own() {
    let x = Tensor::from_slice(&[1.0f32, -2.0, 3.0, 0.5, 7.0, -1.0], &[2, 3]).unwrap();
    let on = Tensor::from_slice(&[1i64], &[1]).unwrap();
    let [low, high, scale] = [(); 3].map(|()| floats(&[]));
    let zero = Tensor::from_slice::<i32>(&[], &[0]).unwrap();
    ops::fused_moving_avg_obs_fake_quant(&x, &on, &on, &low, &high, &scale, &zero, 0.01, 0, 255, 0, true, false)
        .unwrap();
    assert_eq!(low.to_vec::<f32>().unwrap(), [-2.0, -1.0]);
    assert_eq!(high.to_vec::<f32>().unwrap(), [3.0, 7.0]);
    assert_eq!(zero.to_vec::<i32>().unwrap(), [102, 32]);
}

#[test]
fn errors_name_the_problem() {
    let x = floats(&INPUT);
    let message = |result: rushlight_base::Result<Tensor>| result.unwrap_err().to_string();
    let reversed = message(ops::fake_quantize_per_tensor_affine(&x, 0.5, 3, 127, -128));
    assert!(reversed.contains("`quant_min` should be less than or equal to `quant_max`"), "{reversed}");
    let outside = message(ops::fake_quantize_per_tensor_affine(&x, 0.5, 300, -128, 127));
    assert!(outside.contains("`zero_point` must be between"), "{outside}");
    let whole = Tensor::from_slice(&[1i32], &[1]).unwrap();
    let integers = message(ops::fake_quantize_per_tensor_affine(&whole, 0.5, 3, -128, 127));
    assert!(integers.contains("not implemented for 'Int'"), "{integers}");
    let long = Tensor::from_slice(&[3i64], &[1]).unwrap();
    let row = ops::reshape(&x, &[1, -1]).unwrap();
    let found = message(ops::fake_quantize_per_channel_affine(&row, &floats(&[0.5]), &long, 0, -128, 127));
    assert!(found.contains("Zero-point must be Int32, Float or Half, found Long"), "{found}");
}

#[test]
fn a_range_is_made_smaller_while_the_error_falls() {
    let values: Vec<f32> =
        (0..64).map(|i| ((i * 37 % 64) as f32 / 8.0).sin() * 2.0 + if i == 5 { 3.0 } else { 0.0 }).collect();
    let (high, low) = ops::choose_qparams_optimized(&floats(&values), 64, 200, 0.5, 4).unwrap();
    let (high, low) = (high.to_vec::<f32>().unwrap()[0], low.to_vec::<f32>().unwrap()[0]);
    assert_eq!((high, low), (4.4917064, -1.901231));
    assert!(ops::choose_qparams_optimized(&floats(&values), 65, 200, 0.5, 4).is_err());
}
