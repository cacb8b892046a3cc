//! Results at the edges of the domain, as PyTorch 2.7.1 returns them on the CPU: each of these was once different here.

mod arguments;
mod indices;
mod infinite;
mod losses;
mod resize;

use rushlight_base::{Complex, DType, Result, Scalar};
use rushlight_tensor::{Generator, Options, Tensor, autograd, ops};

fn of(values: &[f32], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

fn leaf(values: &[f32]) -> Tensor {
    let tensor = of(values, &[values.len() as i64]);
    tensor.set_requires_grad(true).unwrap();
    tensor
}

fn backward(tensor: &Tensor) {
    autograd::backward(&[&ops::sum(tensor, None).unwrap()], &[], false, false, &[]).unwrap();
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().unwrap()
}

fn empty(sizes: &[i64], dtype: DType) -> Tensor {
    ops::zeros(sizes, Options::of(dtype)).unwrap()
}

fn message<T>(result: Result<T>) -> String {
    let error = result.err().expect("an error");
    error.message().lines().next().unwrap_or_default().to_owned()
}

fn near(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let close = (found - expected).abs() <= 2e-6 * expected.abs().max(1e-30);
        assert!(close || found == expected || found.is_nan() && expected.is_nan(), "{found} {expected}");
    }
}

#[test]
fn an_in_place_product_on_a_slice_of_a_buffer_has_a_gradient() {
    let buffer = of(&[1.0, 2.0, 3.0], &[3]);
    let weight = leaf(&[5.0, 7.0]);
    let slice = ops::slice_tensor(&buffer, 0, Some(0), Some(2), 1).unwrap();
    ops::mul_tensor_(&slice, &weight).unwrap();
    autograd::backward(&[&ops::sum(&buffer, None).unwrap()], &[], true, false, &[]).unwrap();
    assert_eq!(values(&weight.grad().unwrap()), [1.0, 2.0]);
    // The buffer has a history now: the next write needs the gradient of the slice as well.
    let other = leaf(&[2.0, 3.0]);
    let slice = ops::slice_tensor(&buffer, 0, Some(1), Some(3), 1).unwrap();
    ops::mul_tensor_(&slice, &other).unwrap();
    weight.set_grad(None).unwrap();
    backward(&buffer);
    assert_eq!(values(&other.grad().unwrap()), [14.0, 3.0]);
    assert_eq!(values(&weight.grad().unwrap()), [1.0, 4.0]);
}

#[test]
fn operators_without_a_derivative_by_the_slice_can_write_to_a_slice_of_a_buffer() {
    let weight = leaf(&[2.0, 4.0]);
    for write in [ops::hypot_, ops::copysign_tensor_] {
        let buffer = of(&[1.0, 2.0, 3.0], &[3]);
        write(&ops::slice_tensor(&buffer, 0, Some(0), Some(2), 1).unwrap(), &weight).unwrap();
        backward(&buffer);
    }
    assert!(values(&weight.grad().unwrap()).iter().all(|value| value.is_finite()));
    let gradient = |write: &dyn Fn(&Tensor, &Tensor) -> Result<()>| {
        let (buffer, weight) = (of(&[1.0, 2.0, 3.0], &[3]), leaf(&[5.0, 7.0]));
        write(&ops::slice_tensor(&buffer, 0, Some(0), Some(2), 1)?, &weight)?;
        autograd::backward(&[&ops::sum(&buffer, None)?], &[], false, false, &[])?;
        Ok(values(&weight.grad().unwrap()))
    };
    near(&gradient(&|x, y| ops::lerp_scalar_(x, y, Scalar::Float(0.5))).unwrap(), &[0.5, 0.5]);
    near(&gradient(&ops::mul_tensor_).unwrap(), &[1.0, 2.0]);
    near(&gradient(&ops::atan2_).unwrap(), &[-0.038_461_54, -0.037_735_85]);
    let igamma = gradient(&ops::igamma_).unwrap();
    assert!((igamma[0] - 0.0067).abs() < 1e-4 && (igamma[1] - 0.0064).abs() < 1e-4, "{igamma:?}");
    assert_eq!(message(gradient(&ops::floor_divide_tensor_)), "derivative for aten::floor_divide is not implemented");
    assert_eq!(message(gradient(&ops::heaviside_)), "derivative for aten::heaviside is not implemented");
}

#[test]
fn the_gradient_of_a_scatter_source_has_its_shape() {
    let index = Tensor::from_slice(&[0i64, 1], &[1, 2]).unwrap();
    for reduce in ["", "add", "multiply", "sum", "prod", "mean", "amax"] {
        let target = of(&[2.0; 9], &[3, 3]);
        let source = of(&[3.0; 6], &[2, 3]);
        source.set_requires_grad(true).unwrap();
        let out = match reduce {
            "" => ops::scatter_src(&target, 0, &index, &source),
            "add" | "multiply" => ops::scatter_reduce(&target, 0, &index, &source, reduce),
            _ => ops::scatter_reduce_two(&target, 0, &index, &source, reduce, true),
        };
        backward(&out.unwrap());
        let grad = source.grad().unwrap();
        assert_eq!(grad.sizes().as_slice(), [2, 3], "{reduce}");
        let each = match reduce {
            "multiply" | "prod" => 2.0,
            "mean" => 0.5,
            _ => 1.0,
        };
        assert_eq!(values(&grad), [each, each, 0.0, 0.0, 0.0, 0.0], "{reduce}");
    }
}

#[test]
fn an_empty_batch_leaves_running_statistics_as_they_are() {
    let (mean, variance) = (of(&[1.0, 2.0], &[2]), of(&[3.0, 4.0], &[2]));
    let weight = leaf(&[1.0, 1.0]);
    let input = empty(&[0, 2], DType::F32);
    let norm = ops::batch_norm(&input, Some(&weight), None, Some(&mean), Some(&variance), true, 0.1, 1e-5, false);
    backward(&norm.unwrap());
    assert_eq!((values(&mean), values(&variance)), (vec![1.0, 2.0], vec![3.0, 4.0]));
    assert_eq!(values(&weight.grad().unwrap()), [0.0, 0.0]);
    let error = message(ops::native_batch_norm(&input, None, None, Some(&mean), Some(&variance), true, 0.1, 1e-5));
    assert_eq!(error, "input tensor must have at least one element, but got input_sizes = [0, 2]");
}

#[test]
fn rms_norm_of_halves_uses_the_epsilon_of_float() {
    let input = ops::to_dtype(&of(&[0.001, 0.002], &[1, 2]), DType::F16, false, false, None).unwrap();
    let norm = ops::rms_norm(&input, &[2], None, None).unwrap();
    assert_eq!(norm.dtype(), DType::F16);
    let norm = values(&ops::to_dtype(&norm, DType::F32, false, false, None).unwrap());
    assert!((norm[0] - 0.6177).abs() < 5e-4 && (norm[1] - 1.2354).abs() < 1e-3, "{norm:?}");
    let wide = ops::ones(&[2], Options::of(DType::F64)).unwrap();
    assert_eq!(ops::rms_norm(&of(&[1.0, 2.0], &[1, 2]), &[2], Some(&wide), None).unwrap().dtype(), DType::F32);
}

#[test]
fn special_functions_near_their_limits() {
    for size in [1, 40] {
        let large = ops::full(&[size], Scalar::Float(9.5), Options::of(DType::F32)).unwrap();
        assert!(values(&ops::tanh(&large).unwrap()).iter().all(|value| *value == 1.0));
    }
    let small = of(&[-1e-10, 1e-10, -1e-30, -1e-38], &[4]);
    near(&values(&ops::lgamma(&small).unwrap()), &[23.025_85, 23.025_85, 69.077_56, 87.498_23]);
    near(&values(&ops::digamma(&of(&[-1e-30, 1e-30, -1e-10, -2.5], &[4])).unwrap()), &[1e30, -1e30, 1e10, 1.103_156_7]);
}

#[test]
fn a_negative_base_to_complex_exponents_has_a_gradient() {
    let exponent = Tensor::from_slice(&[Complex::new(1f32, 2.0), Complex::new(0.5, -1.0)], &[2]).unwrap();
    exponent.set_requires_grad(true).unwrap();
    let bases: [fn(&Tensor) -> Result<Tensor>; 2] = [
        |exponent| ops::pow_scalar(Scalar::Float(-1.0), exponent),
        |exponent| ops::pow_tensor_tensor(&of(&[-1.0], &[1]), exponent),
    ];
    for power in bases {
        exponent.set_grad(None).unwrap();
        backward(&ops::abs(&power(&exponent).unwrap()).unwrap());
        let grad: Vec<Complex<f32>> = exponent.grad().unwrap().to_vec().unwrap();
        assert!((grad[0].im + 5.8667e-3).abs() < 1e-6 && (grad[1].im + 72.699).abs() < 1e-2, "{grad:?}");
    }
}

#[test]
fn bernoulli_samples_in_the_order_of_the_result() {
    let seeded = |probabilities: &Tensor| {
        // The default generator serves other tests at the same time.
        ops::bernoulli(probabilities, Some(&Generator::new(0))).unwrap()
    };
    let even = ops::full(&[3, 4], Scalar::Float(0.5), Options::of(DType::F32)).unwrap();
    let transposed = seeded(&ops::t(&even).unwrap());
    assert_eq!(transposed.strides().as_slice(), [3, 1]);
    let plain = ops::full(&[4, 3], Scalar::Float(0.5), Options::of(DType::F32)).unwrap();
    assert_eq!(values(&transposed), values(&seeded(&plain)));
}

#[test]
fn a_pooling_window_of_padding_alone_has_no_element() {
    let input = leaf(&[1.0, 2.0]);
    let input3 = ops::reshape(&input, &[1, 1, 2]).unwrap();
    let pooled = ops::max_pool1d(&input3, &[2], &[3], &[1], &[3], true).unwrap();
    assert_eq!(values(&pooled), [f32::NEG_INFINITY]);
    backward(&pooled);
    assert_eq!(values(&input.grad().unwrap()), [0.0, 0.0]);
}

#[test]
fn fills_convert_numbers_as_pytorch_does() {
    let mask = Tensor::from_slice(&[true, false], &[2]).unwrap();
    let filled = |dtype, value| ops::masked_fill_scalar(&empty(&[2], dtype), &mask, value);
    assert_eq!(filled(DType::I32, Scalar::Float(2.7)).unwrap().to_vec::<i32>().unwrap(), [2, 0]);
    assert_eq!(filled(DType::Bool, Scalar::Float(2.7)).unwrap().to_vec::<bool>().unwrap(), [true, false]);
    assert_eq!(filled(DType::U8, Scalar::Int(-1)).unwrap().to_vec::<u8>().unwrap(), [255, 0]);
    let error = message(filled(DType::U8, Scalar::Int(300)));
    assert_eq!(error, "value cannot be converted to type uint8_t without overflow");
    let imaginary = Scalar::Complex(Complex::new(0.0, 2.0));
    let single = empty(&[2], DType::F32);
    let index = Tensor::from_slice(&[0i64], &[1]).unwrap();
    let refused = [
        filled(DType::F32, imaginary),
        ops::fill_scalar(&single, imaginary),
        ops::full(&[2], imaginary, Options::of(DType::F32)),
        ops::full_like(&single, imaginary, Options::default(), None),
        ops::new_full(&single, &[2], imaginary, Options::default()),
        ops::scatter_value(&single, 0, &index, imaginary),
        ops::constant_pad_nd(&single, &[1, 1], imaginary),
    ];
    for (nth, result) in refused.into_iter().enumerate() {
        assert!(result.is_err(), "{nth}");
        assert_eq!(message(result), "value cannot be converted to type float without overflow");
    }
}

#[test]
fn shapes_and_dtypes_of_rare_arguments() {
    let (double, single) = (ops::ones(&[], Options::of(DType::F64)).unwrap(), of(&[1.0], &[1, 1]));
    assert_eq!(ops::block_diag(&[&double, &single]).unwrap().dtype(), DType::F32);
    let (_, inverse, _) = ops::_unique2(&empty(&[0, 3], DType::F32), true, true, true).unwrap();
    assert_eq!(inverse.sizes().as_slice(), [0, 3]);
    let number = |value: f32| of(&[value], &[]);
    assert_eq!(values(&ops::linalg_vecdot(&number(2.0), &number(3.0), -1).unwrap()), [6.0]);
    assert_eq!(values(&ops::linalg_vecdot(&of(&[1.0; 3], &[3]), &of(&[1.0; 2], &[2, 1]), -1).unwrap()), [3.0, 3.0]);
    assert_eq!(values(&ops::linalg_vecdot(&of(&[1.0; 6], &[2, 3]), &of(&[1.0; 3], &[3]), 0).unwrap()), [2.0; 3]);
    let clamped = ops::hardtanh(&of(&[-2.0, 0.0, 2.0], &[3]), Scalar::Int(1), Scalar::Int(-1)).unwrap();
    assert_eq!(values(&clamped), [-1.0; 3]);
    let error = message(ops::triu_indices(2, 2, 0, Options::of(DType::F32)));
    assert_eq!(error, "\"triu_indices\" not implemented for 'Float'");
    let rows = of(&[1.0; 6], &[3, 2]);
    let error = message(ops::embedding(&rows, &Tensor::from_slice(&[-1i64], &[1]).unwrap(), -1, false, false));
    assert!(error.starts_with("index out of range in self"), "{error}");
}

#[test]
fn gradients_of_activations_at_nan_and_at_their_corners() {
    let gradient = |function: &dyn Fn(&Tensor) -> Result<Tensor>, at: &[f32]| {
        let input = leaf(at);
        backward(&function(&input).unwrap());
        values(&input.grad().unwrap())
    };
    let elu = |x: &Tensor| ops::elu(x, 1.into(), 1.into(), 1.into());
    assert_eq!(gradient(&elu, &[f32::NAN, 0.0, 1.0]), [1.0, 1.0, 1.0]);
    near(&gradient(&ops::selu, &[f32::NAN, 0.0, 1.0]), &[1.050_701, 1.758_099_3, 1.050_701]);
    near(&gradient(&ops::hardswish, &[f32::NAN, -3.0, 3.0, 4.0]), &[1.0, -0.5, 1.5, 1.0]);
}

#[test]
fn a_copied_in_place_form_needs_a_dtype_that_the_result_can_be_cast_to() {
    let integers = Tensor::from_slice(&[3i64, 4], &[2]).unwrap();
    let expected = "result type Float can't be cast to the desired output type Long";
    assert_eq!(message(ops::mvlgamma_(&integers, 2)), expected);
    assert_eq!(message(ops::polygamma_(&integers, 1)), expected);
    assert_eq!(integers.to_vec::<i64>().unwrap(), [3, 4]);
}

/// The mean and the reciprocal deviation are functions of the input there, although their values are given.
#[test]
fn backward_operators_of_norms_are_differentiated_through_the_statistics() {
    let leaf = |sizes: &[i64]| {
        let tensor = ops::randn(sizes, Options::of(DType::F64)).unwrap();
        tensor.set_requires_grad(true).unwrap();
        tensor
    };
    let options = autograd::GradcheckOptions::default();
    let group_norm = |inputs: &[Tensor]| {
        let [grad, x, weight] = inputs else { unreachable!("three inputs") };
        let (_, mean, rstd) = ops::native_group_norm(x, None, None, 2, 4, 3, 2, 1e-2)?;
        let (mean, rstd) = (ops::detach(&mean)?, ops::detach(&rstd)?);
        let mask = [true; 3];
        let gradients = ops::native_group_norm_backward(grad, x, &mean, &rstd, Some(weight), 2, 4, 3, 2, &mask)?;
        Ok(vec![gradients.0, gradients.1, gradients.2])
    };
    let inputs = [leaf(&[2, 4, 3]), leaf(&[2, 4, 3]), leaf(&[4])];
    assert_eq!(autograd::gradcheck(&group_norm, &inputs, &options).unwrap(), None);
    let layer_norm = |inputs: &[Tensor]| {
        let [grad, x, weight] = inputs else { unreachable!("three inputs") };
        let (_, mean, rstd) = ops::native_layer_norm(x, &[4], None, None, 1e-2)?;
        let (mean, rstd) = (ops::detach(&mean)?, ops::detach(&rstd)?);
        let mask = [true; 3];
        let gradients = ops::native_layer_norm_backward(grad, x, &[4], &mean, &rstd, Some(weight), None, &mask)?;
        Ok(vec![gradients.0, gradients.1, gradients.2])
    };
    let inputs = [leaf(&[3, 4]), leaf(&[3, 4]), leaf(&[4])];
    assert_eq!(autograd::gradcheck(&layer_norm, &inputs, &options).unwrap(), None);
}

/// Backward with this gradient of the result.
fn backward_with(tensor: &Tensor, gradient: &[f32]) {
    let gradient = of(gradient, &tensor.sizes());
    autograd::backward(&[tensor], &[Some(&gradient)], false, false, &[]).unwrap();
}

#[test]
fn an_in_place_form_of_a_composite_is_differentiated_at_the_elements_before_the_write() {
    let x = leaf(&[3.0, -4.0, 0.5, 1.0]);
    let y = ops::reshape(&ops::mul_scalar(&x, Scalar::Int(1)).unwrap(), &[2, 2]).unwrap();
    ops::renorm_(&y, Scalar::Int(2), 0, Scalar::Int(2)).unwrap();
    near(&values(&y), &[1.2, -1.6, 0.5, 1.0]);
    backward_with(&y, &[1.0, 2.0, 3.0, 4.0]);
    near(&values(&x.grad().unwrap()), &[0.64, 0.48, 3.0, 4.0]);
}

#[test]
fn logit_ignores_a_negative_eps() {
    let x = leaf(&[0.2, 1.5, -0.5]);
    let y = ops::logit(&x, Some(-0.5)).unwrap();
    near(&values(&y), &[-1.386_294_4, f32::NAN, f32::NAN]);
    backward(&y);
    near(&values(&x.grad().unwrap()), &[6.25, f32::NAN, f32::NAN]);
}

#[test]
fn the_gradient_of_acosh_is_even_outside_of_the_domain() {
    let x = leaf(&[2.0, -3.0, 0.5]);
    backward(&ops::acosh(&x).unwrap());
    near(&values(&x.grad().unwrap()), &[0.577_350_3, 0.353_553_4, f32::NAN]);
}

#[test]
fn index_fill_of_a_zero_dimensional_tensor_takes_any_number_of_indices() {
    let number = of(&[3.0], &[]);
    let fill = |indices: &[i64]| {
        let index = Tensor::from_slice(indices, &[indices.len() as i64]).unwrap();
        ops::index_fill_int_scalar(&number, 0, &index, Scalar::Int(5))
    };
    assert_eq!(values(&fill(&[0, 0, 0]).unwrap()), [5.0]);
    assert_eq!(values(&fill(&[]).unwrap()), [3.0]);
    let error = fill(&[1]).unwrap_err();
    assert!(error.message().contains("index 1 is out of bounds for dimension 0 with size 1"), "{error:?}");
}

#[test]
fn index_fill_wraps_negative_indices() {
    let zeros = empty(&[4], DType::F32);
    let at = |values: &[i64]| Tensor::from_slice(values, &[values.len() as i64]).unwrap();
    let filled = ops::index_fill_int_scalar(&zeros, 0, &at(&[-1, -4]), Scalar::Float(2.0)).unwrap();
    assert_eq!(values(&filled), [2.0, 0.0, 0.0, 2.0]);
    for beyond in [-5, 4] {
        assert!(ops::index_fill_int_scalar(&zeros, 0, &at(&[beyond]), Scalar::Float(2.0)).is_err());
    }
}

#[test]
fn expm1_of_infinite_complex_numbers() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let input = [(inf, 0.0), (-inf, 0.0), (inf, 1.0), (-inf, 1.0), (0.0, inf), (inf, inf), (-inf, nan)];
    let expected = [(inf, nan), (-1.0, 0.0), (inf, inf), (-1.0, 0.0), (nan, nan), (nan, nan), (nan, nan)];
    let input: Vec<Complex<f32>> = input.map(|(re, im)| Complex::new(re, im)).into();
    let found = ops::expm1(&Tensor::from_slice(&input, &[7]).unwrap()).unwrap();
    let found: Vec<Complex<f32>> = found.to_vec().unwrap();
    for (found, (re, im)) in found.iter().zip(expected) {
        near(&[found.re, found.im], &[re, im]);
    }
}

#[test]
fn exponential_leaves_an_empty_tensor_of_any_dtype() {
    let integers = empty(&[0], DType::I64);
    ops::exponential_(&integers, 1.0, None).unwrap();
    assert!(ops::exponential_(&empty(&[1], DType::I64), 1.0, None).is_err());
}

#[test]
fn complex_windows_count_steps_of_no_complex_dtype() {
    let complex = Options::of(DType::C64);
    let windows =
        [ops::hamming_window, ops::hann_window, ops::bartlett_window, ops::blackman_window, ops::kaiser_window];
    for window in windows {
        assert_eq!(message(window(4, complex)), "\"arange_cpu\" not implemented for 'ComplexFloat'");
    }
}

#[test]
fn backward_of_mish_has_the_dtype_of_its_input() {
    let single = of(&[1.0, -2.0], &[2]);
    let double = ops::ones(&[2], Options::of(DType::F64)).unwrap();
    let gradient = ops::mish_backward(&double, &single).unwrap();
    assert_eq!(gradient.dtype(), DType::F32);
    near(&values(&gradient), &[1.049_036_3, -0.108_355_09]);
    let half = ops::to_dtype(&single, DType::F16, false, false, None).unwrap();
    assert_eq!(ops::mish_backward(&double, &half).unwrap().dtype(), DType::F16);
    let error = message(ops::mish_backward(&double, &empty(&[2], DType::I64)));
    assert_eq!(error, "result type Double can't be cast to the desired output type Long");
}

#[test]
fn gradients_of_losses_of_integers() {
    let bytes = |values: &[i8]| Tensor::from_slice(values, &[3]).unwrap();
    let squared = ops::mse_loss_backward(&bytes(&[3, 100, 7]), &bytes(&[3, 120, -100]), &bytes(&[1, -100, 100]), 0);
    assert_eq!(squared.unwrap().to_vec::<i8>().unwrap(), [12, -32, 16]);
    let (grad, x, target) = (bytes(&[3, 100, 7]), bytes(&[1, 3, 9]), bytes(&[0, 4, 1]));
    let smooth = ops::smooth_l1_loss_backward(&grad, &x, &target, 0, 2.5).unwrap();
    assert_eq!(smooth.to_vec::<i8>().unwrap(), [1, -40, 7]);
    // The factor of the mean is a fraction, which is truncated.
    let one = Tensor::from_slice(&[1i8], &[]).unwrap();
    assert_eq!(ops::mse_loss_backward(&one, &x, &target, 1).unwrap().to_vec::<i8>().unwrap(), [0, 0, 0]);
    let none = empty(&[0], DType::I64);
    let error = message(ops::mse_loss_backward(&empty(&[], DType::I64), &none, &none, 1));
    assert_eq!(error, "value cannot be converted to type int64_t without overflow");
    let flags = empty(&[3], DType::Bool);
    let error = message(ops::mse_loss_backward(&flags, &flags, &flags, 0));
    assert_eq!(error, "\"mse_backward_cpu_out\" not implemented for 'Bool'");
}

#[test]
fn gradients_of_losses_promote_dtypes_only_for_smooth_l1() {
    let (x, target) = (leaf(&[1.0, 0.5]), empty(&[2], DType::F64));
    backward(&ops::smooth_l1_loss(&x, &target, 2, 1.0).unwrap());
    assert_eq!(values(&x.grad().unwrap()), [1.0, 0.5]);
    for loss in [ops::mse_loss(&x, &target, 2).unwrap(), ops::huber_loss(&x, &target, 2, 1.0).unwrap()] {
        let error = message(autograd::backward(&[&loss], &[], false, false, &[]));
        assert!(error.contains("Found dtype Double but expected Float"), "{error}");
    }
}

#[test]
fn the_corner_of_smooth_l1_without_a_parabola() {
    let (x, grad, target) = (leaf(&[0.0, 0.5, 1.0, 3.0]), leaf(&[1.0; 4]), of(&[0.0; 4], &[4]));
    let slopes = ops::smooth_l1_loss_backward(&grad, &x, &target, 0, 0.0).unwrap();
    assert_eq!(values(&slopes), [-1.0, 1.0, 1.0, 1.0]);
    backward(&slopes);
    assert_eq!(values(&grad.grad().unwrap()), [-1.0, 1.0, 1.0, 1.0]);
    assert_eq!(values(&x.grad().unwrap()), [0.0; 4]);
    // Elements at the distance beta are on the linear part.
    x.set_grad(None).unwrap();
    backward(&ops::smooth_l1_loss_backward(&grad, &x, &target, 0, 1.0).unwrap());
    assert_eq!(values(&x.grad().unwrap()), [1.0, 1.0, 0.0, 0.0]);
    x.set_grad(None).unwrap();
    backward(&ops::huber_loss_backward(&grad, &x, &target, 0, 1.0).unwrap());
    assert_eq!(values(&x.grad().unwrap()), [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn nan_to_num_replaces_the_parts_of_complex_numbers() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let input = [Complex::new(nan, 1.0), Complex::new(inf, -inf), Complex::new(1.0, nan)];
    let input = Tensor::from_slice(&input, &[3]).unwrap();
    let replaced: Vec<Complex<f32>> = ops::nan_to_num(&input, None, None, None).unwrap().to_vec().unwrap();
    assert_eq!(replaced, [Complex::new(0.0, 1.0), Complex::new(f32::MAX, -f32::MAX), Complex::new(1.0, 0.0)]);
    ops::nan_to_num_(&input, Some(2.0), Some(3.0), Some(4.0)).unwrap();
    let replaced: Vec<Complex<f32>> = input.to_vec().unwrap();
    assert_eq!(replaced, [Complex::new(2.0, 1.0), Complex::new(3.0, 4.0), Complex::new(1.0, 2.0)]);
}

#[test]
fn gradients_of_products_with_zeros_and_numbers_that_are_not_finite() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let gradient = |at: &[f32], dim: Option<i64>| {
        let x = leaf(at);
        backward(&dim.map_or_else(|| ops::prod(&x, None), |dim| ops::prod_dim_int(&x, dim, false, None)).unwrap());
        values(&x.grad().unwrap())
    };
    near(&gradient(&[nan, 0.0, 2.0], None), &[0.0, nan, nan]);
    near(&gradient(&[inf, 0.0, 1.0], Some(0)), &[0.0, inf, nan]);
    near(&gradient(&[0.0, 0.0, nan], None), &[0.0, 0.0, 0.0]);
    near(&gradient(&[0.0, 0.0, nan], Some(0)), &[nan, nan, 0.0]);
}

#[test]
fn bicubic_interpolation_of_bytes_adds_the_weights_of_repeated_edges() {
    let image = Tensor::from_slice(&[137u8, 134, 46, 165, 28, 114, 167, 168], &[1, 1, 2, 4]).unwrap();
    let resized = ops::upsample_bicubic2d(&image, &[1, 5], false, None, None).unwrap();
    assert_eq!(resized.to_vec::<u8>().unwrap(), [80, 115, 114, 121, 170]);
}

#[test]
fn einsum_sums_integers_in_int64() {
    let ones = |sizes: &[i64]| ops::ones(sizes, Options::of(DType::I32)).unwrap();
    let sums = ops::einsum("ij,k->i", &[&ones(&[2, 3]), &ones(&[4])], None).unwrap();
    assert_eq!(sums.to_vec::<i64>().unwrap(), [12, 12]);
    let product = ops::einsum("i,i->i", &[&ones(&[2]), &ones(&[2])], None).unwrap();
    assert_eq!(product.to_vec::<i32>().unwrap(), [1, 1]);
}

#[test]
fn the_last_offset_of_embedding_bag_ends_the_last_bag() {
    let rows = of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2]);
    let index = |values: &[i64]| Tensor::from_slice(values, &[values.len() as i64]).unwrap();
    let bags = |mode| {
        ops::embedding_bag(&rows, &index(&[0, 1, 2]), &index(&[0, 2, 3]), false, mode, false, None, true).unwrap()
    };
    let (sums, _, sizes, _) = bags(0);
    assert_eq!((values(&sums), sizes.numel()), (vec![4.0, 6.0, 5.0, 6.0], 3));
    let (means, bag_of, sizes, _) = bags(1);
    assert_eq!(values(&means), [2.0, 3.0, 5.0, 6.0]);
    assert_eq!(bag_of.to_vec::<i64>().unwrap(), [0, 0, 1]);
    assert_eq!(sizes.to_vec::<i64>().unwrap(), [2, 1]);
    let (_, _, _, largest) = bags(2);
    assert_eq!(largest.to_vec::<i64>().unwrap(), [1, 1, 2, 2]);
}

#[test]
fn convolution_backward_computes_what_the_mask_names() {
    let (grad, x, weight) = (of(&[1.0; 2], &[1, 1, 2]), of(&[1.0; 3], &[1, 1, 3]), of(&[1.0; 2], &[1, 1, 2]));
    for (at, expected) in [&[1.0, 2.0, 1.0][..], &[2.0, 2.0], &[2.0]].into_iter().enumerate() {
        let mask: [bool; 3] = std::array::from_fn(|nth| nth == at);
        let one = [1];
        let (a, b, c) =
            ops::convolution_backward(&grad, &x, &weight, Some(&one), &one, &[0], &one, false, &[0], 1, &mask).unwrap();
        for (nth, gradient) in [a, b, c].iter().enumerate() {
            assert_eq!(values(gradient), if nth == at { expected } else { &[] }, "{nth} of {at}");
        }
    }
}

#[test]
fn products_of_bool_without_elements() {
    let none = |sizes: &[i64]| empty(sizes, DType::Bool);
    assert_eq!(ops::mm(&none(&[2, 0]), &none(&[0, 3])).unwrap().to_vec::<bool>().unwrap(), [false; 6]);
    assert_eq!(ops::bmm(&none(&[1, 2, 0]), &none(&[1, 0, 3])).unwrap().to_vec::<bool>().unwrap(), [false; 6]);
    assert_eq!(ops::mv(&none(&[2, 0]), &none(&[0])).unwrap().to_vec::<bool>().unwrap(), [false; 2]);
    let error = message(ops::mm(&none(&[2, 2]), &none(&[2, 2])));
    assert_eq!(error, "\"addmm_impl_cpu_\" not implemented for 'Bool'");
}

#[test]
fn arguments_that_pytorch_rejects() {
    let square = of(&[1.0; 6], &[2, 3]);
    let error = message(ops::logsumexp(&square, &[], false));
    assert_eq!(error, "output with shape [] doesn't match the broadcast shape [1, 1]");
    let image = of(&[1.0; 16], &[1, 1, 4, 4]);
    let wide = "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and dilation=1";
    assert_eq!(message(ops::max_pool2d(&image, &[2, 2], &[2, 2], &[2, 2], &[1, 1], false)), wide);
    assert_eq!(message(ops::avg_pool2d(&image, &[2, 2], &[2, 2], &[2, 2], false, true, None)), wide);
}

#[test]
fn statistics_of_half_precision_are_saved_in_single_precision() {
    let numbers: Vec<f32> = (0..12).map(|nth| nth as f32 * -1.37 - 0.3).collect();
    let input = ops::to_dtype(&of(&numbers, &[2, 2, 3]), DType::F16, false, false, None).unwrap();
    let (weight, zeros, ones) = (of(&[1.0; 2], &[2]), of(&[0.0; 2], &[2]), of(&[1.0; 2], &[2]));
    let (weight, zeros, ones) = (Some(&weight), Some(&zeros), Some(&ones));
    let (_, mean, deviation) = ops::native_batch_norm(&input, weight, zeros, zeros, ones, true, 0.1, 1e-5).unwrap();
    near(&values(&mean), &[-5.780_151_4, -9.889_974]);
    near(&values(&deviation), &[0.234_763_43, 0.234_789_4]);
}

#[test]
fn gradients_of_correlation_and_of_sampling_positions() {
    let x = of(&[1.0, 2.0, 4.0, 2.0, 4.0, 8.0], &[2, 3]);
    x.set_requires_grad(true).unwrap();
    backward(&ops::corrcoef(&x).unwrap());
    // Rows that are proportional: the gradient is 0 up to rounding.
    assert!(values(&x.grad().unwrap()).iter().all(|gradient| gradient.abs() < 1e-6));
    let image = ops::mul_scalar(&ops::arange(Scalar::Int(16), Options::of(DType::F32)).unwrap(), Scalar::Float(0.7));
    let image = ops::reshape(&image.unwrap(), &[1, 1, 4, 4]).unwrap();
    let grid = of(&[0.3, -0.2, 0.51, 0.77], &[1, 1, 2, 2]);
    grid.set_requires_grad(true).unwrap();
    backward(&ops::grid_sampler_2d(&image, &grid, 0, 0, false).unwrap());
    near(&values(&grid.grad().unwrap()), &[1.4, 5.6, 1.343_999_7, -20.328]);
}

/// PyTorch does not record these writes, and returns the gradient of the value before.
#[test]
fn logical_writes_have_a_gradient_of_zeros() {
    let other = of(&[1.0, 1.0, 0.0], &[3]);
    for write in [ops::logical_and_, ops::logical_or_, ops::logical_xor_] {
        let x = leaf(&[1.0, 0.0, 2.0]);
        let y = ops::mul_scalar(&x, Scalar::Int(1)).unwrap();
        write(&y, &other).unwrap();
        backward(&y);
        assert_eq!(values(&x.grad().unwrap()), [0.0; 3]);
    }
}

fn cast(tensor: &Tensor, dtype: DType) -> Tensor {
    ops::to_dtype(tensor, dtype, false, false, None).unwrap()
}

fn complex(values: &[(f32, f32)]) -> Tensor {
    let values: Vec<Complex<f32>> = values.iter().map(|&(re, im)| Complex::new(re, im)).collect();
    Tensor::from_slice(&values, &[values.len() as i64]).unwrap()
}

fn parts(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec::<Complex<f32>>().unwrap().iter().flat_map(|value| [value.re, value.im]).collect()
}

#[test]
fn one_bound_that_is_nan_clamps_nothing_and_two_clamp_everything() {
    let (x, nan) = (of(&[1.0, 2.0], &[2]), Some(Scalar::Float(f64::NAN)));
    let one = Some(Scalar::Int(1));
    for (min, max) in [(nan, None), (None, nan)] {
        assert_eq!(values(&ops::clamp(&x, min, max).unwrap()), [1.0, 2.0]);
    }
    let limits = |min: Option<Scalar>, max: Option<Scalar>| values(&ops::clamp(&x, min, max).unwrap());
    assert!(limits(nan, one).into_iter().chain(limits(one, nan)).all(f32::is_nan));
    let nan = Scalar::Float(f64::NAN);
    let others = [ops::clamp_min(&x, nan), ops::clamp_max(&x, nan), ops::hardtanh(&x, nan, Scalar::Int(1))];
    assert!(others.into_iter().flat_map(|found| values(&found.unwrap())).all(f32::is_nan));
}

#[test]
fn the_sign_of_nan_is_zero_in_the_gradient_of_a_norm() {
    for (order, expected) in [(1.0, [0.0, 1.0, -1.0]), (f64::INFINITY, [0.0, 0.0, 0.0])] {
        let x = leaf(&[f32::NAN, 2.0, -3.0]);
        backward(&ops::linalg_vector_norm(&x, Scalar::Float(order), None, false, None).unwrap());
        assert_eq!(values(&x.grad().unwrap()), expected);
    }
}

#[test]
fn the_gradient_of_gelu_that_is_infinitely_differentiable() {
    let inf = f32::INFINITY;
    let ones = of(&[1.0; 4], &[4]);
    let x = of(&[inf, -inf, 1.0, -1.0], &[4]);
    let found = ops::infinitely_differentiable_gelu_backward(&ones, &x).unwrap();
    near(&values(&found), &[f32::NAN, f32::NAN, 1.083_315_5, -0.083_315_48]);
    // In the dtype of `self`, or that of its error function.
    let dtype = |grad: DType, own: DType| {
        ops::infinitely_differentiable_gelu_backward(&cast(&ones, grad), &cast(&ones, own)).map(|found| found.dtype())
    };
    assert_eq!(dtype(DType::F32, DType::F16).unwrap(), DType::F16);
    assert_eq!(dtype(DType::F64, DType::I64).unwrap(), DType::F32);
    let error = "result type ComplexFloat can't be cast to the desired output type Float";
    assert_eq!(message(dtype(DType::C64, DType::F32)), error);
}

#[test]
fn logarithms_of_complex_numbers_with_a_nan_part_are_nan() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    let found = ops::log1p(&complex(&[(inf, nan), (nan, -inf), (-inf, inf)])).unwrap();
    near(&parts(&found), &[nan, nan, nan, nan, inf, 2.356_194_5]);
}

#[test]
fn bessel_functions_at_infinity() {
    let x = of(&[f32::INFINITY], &[1]);
    let functions = [
        ops::i0(&x),
        ops::special_i1(&x),
        ops::special_bessel_j0(&x),
        ops::special_bessel_j1(&x),
        ops::special_bessel_y0(&x),
        ops::special_bessel_y1(&x),
    ];
    for found in functions {
        assert!(values(&found.unwrap())[0].is_nan());
    }
    assert_eq!(values(&ops::special_i0e(&x).unwrap()), [0.0]);
    assert_eq!(values(&ops::special_modified_bessel_k0(&x).unwrap()), [0.0]);
}

#[test]
fn gradients_of_products_in_another_dtype_or_shape() {
    let x = complex(&[(1.0, 2.0), (3.0, -1.0)]);
    x.set_requires_grad(true).unwrap();
    backward(&ops::prod(&x, Some(DType::F32)).unwrap());
    assert_eq!(parts(&x.grad().unwrap()), [3.0, 0.0, 1.0, 0.0]);
    // One factor: the gradient, whatever the output is.
    let grad = of(&[1.0; 6], &[2, 3]);
    let row = of(&[2.0, 3.0, 4.0], &[1, 3]);
    let found = ops::cumprod_backward(&grad, &row, 0, &of(&[2.0, 6.0, 24.0], &[1, 3])).unwrap();
    assert_eq!((found.sizes().to_vec(), values(&found)), (vec![2, 3], vec![1.0; 6]));
    // Quotients of integers are not integers; beside zeros nothing is divided.
    let bytes = |values: [u8; 3]| Tensor::from_slice(&values, &[3]).unwrap();
    let found = ops::cumprod_backward(&bytes([1, 2, 3]), &bytes([2, 4, 3]), 0, &bytes([2, 8, 24])).unwrap();
    assert_eq!(values(&found), [45.0, 22.0, 24.0]);
    let found = ops::cumprod_backward(&bytes([1, 2, 3]), &bytes([2, 0, 3]), 0, &bytes([2, 0, 0])).unwrap();
    assert_eq!(found.to_vec::<u8>().unwrap(), [1, 22, 0]);
}

#[test]
fn losses_whose_steps_are_written_to_one_tensor() {
    let x = Tensor::from_slice(&[3i64, -1, 2], &[3]).unwrap();
    let target = Tensor::from_slice(&[1i64, -1, 0], &[3]).unwrap();
    // The margin is converted to an integer.
    let found = ops::hinge_embedding_loss(&x, &target, 2.5, 0).unwrap();
    assert_eq!(found.to_vec::<i64>().unwrap(), [3, 3, 2]);
    let (scores, doubles) = (of(&[0.5], &[1]), cast(&of(&[1.0], &[1]), DType::F64));
    let found = ops::binary_cross_entropy_with_logits(&scores, &doubles, None, None, 0).unwrap();
    assert_eq!(found.dtype(), DType::F64);
    assert!((found.item().unwrap().to_f64() - 0.474_076_98).abs() < 1e-6);
    let ones = of(&[1.0], &[1]);
    let found = ops::soft_margin_loss_backward(&doubles, &ones, &doubles, 0).unwrap();
    assert_eq!(found.dtype(), DType::F32);
    near(&values(&found), &[-0.268_941_43]);
    let (grad, x) = (leaf(&[1.0]), leaf(&[1.0]));
    backward(&ops::smooth_l1_loss_backward(&grad, &x, &of(&[0.0], &[1]), 2, 0.5).unwrap());
    assert_eq!((values(&grad.grad().unwrap()), values(&x.grad().unwrap())), (vec![1.0], vec![0.0]));
}

#[test]
fn expanded_tensors_are_filled_with_one_number() {
    let x = of(&[1.0, 2.0], &[2, 1]);
    let wide = ops::expand(&x, &[2, 3], false).unwrap();
    ops::fill_scalar_(&wide, Scalar::Int(5)).unwrap();
    assert_eq!((values(&x), values(&wide)), (vec![5.0; 2], vec![5.0; 6]));
    ops::zero_(&wide).unwrap();
    assert_eq!(values(&x), [0.0; 2]);
    let error = message(ops::fill_tensor_(&wide, &ops::full(&[], Scalar::Int(1), x.options()).unwrap()));
    assert!(error.starts_with("unsupported operation: more than one element of the written-to tensor refers to"));
}

#[test]
fn gradients_of_slices_broadcast_and_fit_anything_without_elements() {
    let found = ops::slice_backward(&of(&[7.0], &[1, 1]), &[3, 2], 0, 1, 3, 1).unwrap();
    assert_eq!(values(&found), [0.0, 0.0, 7.0, 7.0, 7.0, 7.0]);
    let found = ops::select_backward(&of(&[7.0], &[1]), &[2, 2, 1], 1, -1).unwrap();
    assert_eq!(values(&found), [0.0, 7.0, 0.0, 7.0]);
    let found = ops::diagonal_backward(&of(&[7.0], &[1]), &[2, 2], 0, 0, 1).unwrap();
    assert_eq!(values(&found), [7.0, 0.0, 0.0, 7.0]);
    assert!(ops::select_backward(&of(&[7.0, 8.0, 9.0], &[3]), &[2, 2], 1, 0).is_err());
    let found = ops::unfold_backward(&of(&[7.0], &[1, 1]), &[1, 0], -1, 2, 1).unwrap();
    assert_eq!(found.sizes().to_vec(), [1, 0]);
    let none = empty(&[0], DType::F64);
    let at = Tensor::from_slice(&[3i64], &[1]).unwrap();
    assert_eq!(ops::cummaxmin_backward(&of(&[1.0], &[1]), &none, &at, 0).unwrap().dtype(), DType::F64);
    assert_eq!(ops::roll(&empty(&[1, 0], DType::F32), &[-5], &[3]).unwrap().sizes().to_vec(), [1, 0]);
    assert_eq!(ops::log_softmax_int(&empty(&[0], DType::I64), -1, None).unwrap().dtype(), DType::I64);
    let mask = Tensor::from_slice(&[true, false], &[2]).unwrap();
    assert_eq!(values(&ops::masked_scatter_backward(&of(&[1.0, 2.0], &[2]), &mask, &[-1]).unwrap()), [1.0]);
    let zero_dim = ops::full(&[], Scalar::Int(2), Options::of(DType::F32)).unwrap();
    assert_eq!(values(&ops::adjoint(&zero_dim).unwrap()), [2.0]);
}

#[test]
fn a_triangular_system_is_solved_in_the_dtype_of_its_matrix() {
    let matrix = of(&[2.0, 1.0, 0.0, 4.0], &[2, 2]);
    let right = cast(&of(&[4.0, 8.0], &[2, 1]), DType::F64);
    let found = ops::linalg_solve_triangular(&matrix, &right, true, true, false).unwrap();
    assert_eq!((found.dtype(), values(&found)), (DType::F32, vec![1.0, 2.0]));
    let strided = ops::to_dense_backward(&right, &matrix, None).unwrap();
    assert_eq!(strided.dtype(), DType::F32);
}

#[test]
fn complex_parameters_of_real_functions() {
    let x = of(&[1.0, 2.0], &[2]);
    let (number, one) = (Scalar::Complex(Complex::new(1.0, 2.0)), Scalar::Int(1));
    let float = "value cannot be converted to type float without overflow";
    assert_eq!(message(ops::elu(&x, number, one, one)), float);
    assert_eq!(message(ops::threshold(&x, number, one)), float);
    assert_eq!(message(ops::leaky_relu_backward(&x, &x, number, false)), float);
    assert_eq!(message(ops::scalar_tensor(number, Options::default())), float);
    assert_eq!(message(ops::celu(&x, number)), "value cannot be converted to type double without overflow");
    let norm = "linalg.vector_norm: Expected a non-complex scalar as the order of norm.";
    assert_eq!(message(ops::dist(&x, &x, number)), norm);
    assert_eq!(message(ops::renorm(&of(&[1.0], &[1, 1]), number, 0, one)), "renorm: p must be real-valued");
    let correction = message(ops::var_correction(&x, None, Some(number), false));
    assert_eq!(correction, "value cannot be converted to type double without overflow");
}

#[test]
fn gradients_of_bessel_functions_at_nan_and_of_a_loss_with_a_wide_gradient() {
    for function in [ops::special_i1, ops::special_i1e] {
        let x = leaf(&[f32::NAN, 0.0]);
        backward(&function(&x).unwrap());
        assert_eq!(values(&x.grad().unwrap()), [0.5, 0.5]);
    }
    let (x, target) = (of(&[0.5; 8], &[2, 4]), of(&[0.0; 8], &[2, 4]));
    for (reduction, expected) in [(0, 16.0), (1, 2.0), (2, 16.0)] {
        let grad = of(&[1.0], &[1, 1]);
        grad.set_requires_grad(true).unwrap();
        backward(&ops::binary_cross_entropy_backward(&grad, &x, &target, None, reduction).unwrap());
        let found = grad.grad().unwrap();
        assert_eq!((found.sizes().to_vec(), values(&found)), (vec![1, 1], vec![expected]));
    }
}
