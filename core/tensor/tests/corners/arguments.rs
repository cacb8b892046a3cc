//! Arguments that few programs pass, as PyTorch accepts or rejects them.

use super::{backward, cast, empty, leaf, message, near, of, values};
use rushlight_base::{Complex, DType, Scalar};
use rushlight_tensor::{Options, Tensor, autograd, ops};

#[test]
fn cumulative_in_place_forms_keep_the_dtype() {
    let x = of(&[1.0, 2.0], &[2]);
    let expected = "Bad in-place call: input tensor dtype float and output tensor dtype double should match";
    assert_eq!(message(ops::cumsum_(&x, 0, Some(DType::F64))), expected);
    assert_eq!(message(ops::cumprod_(&x, 0, Some(DType::F64))), expected);
    let small = Tensor::from_slice(&[1i32, 2], &[2]).unwrap();
    let expected = "Bad in-place call: input tensor dtype int and output tensor dtype long int should match";
    assert_eq!(message(ops::cumsum_(&small, 0, Some(DType::I64))), expected);
    ops::cumsum_(&small, 0, None).unwrap();
    ops::cumsum_(&x, 0, Some(DType::F32)).unwrap();
    assert_eq!((small.to_vec::<i32>().unwrap(), values(&x)), (vec![1, 3], vec![1.0, 3.0]));
}

#[test]
fn bounds_of_arange_and_range_are_real() {
    let complex = |im| Scalar::Complex(Complex::new(3.0, im));
    let error = "value cannot be converted to type double without overflow";
    assert_eq!(message(ops::arange(complex(1.0), Options::default())), error);
    assert_eq!(message(ops::arange_start_step(0.into(), 3.into(), complex(1.0), Options::default())), error);
    assert_eq!(values(&ops::arange(complex(0.0), Options::default()).unwrap()), [0.0, 1.0, 2.0]);
    assert_eq!(values(&ops::range(1.into(), complex(0.0), Options::default()).unwrap()), [1.0, 2.0, 3.0]);
    let half = ops::arange_start_step(0.5.into(), 3.into(), 0.5.into(), Options::of(DType::I32));
    assert_eq!(message(half), "step must be nonzero");
}

#[test]
fn trapezoids_of_rare_spacings() {
    let y = of(&[1.0, 2.0, 4.0, 3.0, 5.0, 1.0], &[2, 3]);
    for dx in [Scalar::Bool(true), Scalar::Complex(Complex::new(1.0, 0.0))] {
        let error = "trapezoid: Currently, we only support dx as a real number.";
        assert_eq!(message(ops::trapezoid_dx(&y, dx, 0)), error);
        assert_eq!(message(ops::cumulative_trapezoid_dx(&y, dx, 0)), format!("cumulative_{error}"));
    }
    // `dim` counts the dimensions of y.
    let x = ops::reshape(&ops::arange(12.into(), Options::of(DType::F32)).unwrap(), &[2, 2, 3]).unwrap();
    let areas = ops::cumulative_trapezoid_x(&y, &x, 0).unwrap();
    assert_eq!((areas.sizes().as_slice(), values(&areas)), (&[1, 2, 3][..], vec![12.0, 21.0, 15.0, 12.0, 21.0, 15.0]));
    let error = message(ops::cumulative_trapezoid_x(&y, &x, -1));
    assert_eq!(error, "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 2");
}

#[test]
fn gradients_of_embeddings_check_their_indices() {
    let grad = of(&[1.0; 6], &[2, 3]);
    let error = |type_: &str| {
        format!(
            "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got \
             {type_} instead (while checking arguments for embedding_backward)"
        )
    };
    let bytes = Tensor::from_slice(&[0u8, 1], &[2]).unwrap();
    assert_eq!(message(ops::embedding_dense_backward(&grad, &bytes, 4, -1, false)), error("Byte"));
    assert_eq!(message(ops::embedding_sparse_backward(&grad, &bytes, 4, -1, false)), error("Byte"));
    let none = message(ops::embedding_dense_backward(&of(&[1.0], &[]), &empty(&[], DType::I64), 4, -1, false));
    assert!(none.ends_with("Dimension specified as -1 but tensor has no dimensions"), "{none}");
    let (grad, rows) = (empty(&[0, 3], DType::U8), empty(&[0], DType::I64));
    assert_eq!(ops::embedding_dense_backward(&grad, &rows, 4, -1, true).unwrap().dtype(), DType::U8);
}

#[test]
fn lu_unpack_of_numbers_that_no_decomposition_returns() {
    let packed = |dtype| {
        let numbers = Tensor::from_slice(&[1i64, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        ops::to_dtype(&numbers, dtype, false, false, None).unwrap()
    };
    let pivots = Tensor::from_slice(&[2i32, 2], &[2]).unwrap();
    let (p, l, u) = ops::lu_unpack(&packed(DType::I64), &pivots, true, true).unwrap();
    assert_eq!(p.to_vec::<i64>().unwrap(), [0, 1, 1, 0]);
    assert_eq!((l.sizes().as_slice(), l.to_vec::<i64>().unwrap()), (&[2, 2][..], vec![1, 0, 4, 1]));
    assert_eq!((u.sizes().as_slice(), u.to_vec::<i64>().unwrap()), (&[2, 3][..], vec![1, 2, 3, 0, 5, 6]));
    let (p, l, u) = ops::lu_unpack(&packed(DType::Bool), &pivots, true, true).unwrap();
    assert_eq!([p.dtype(), l.dtype(), u.dtype()], [DType::Bool; 3]);
    assert_eq!(u.to_vec::<bool>().unwrap(), [true, true, true, false, true, true]);
    assert_eq!(ops::lu_unpack(&packed(DType::F16), &pivots, true, true).unwrap().1.dtype(), DType::F16);
}

#[test]
fn decompositions_of_matrices_without_elements() {
    let inverse = ops::linalg_pinv(&empty(&[2, 0, 3], DType::F32), 1e-3, true).unwrap();
    assert_eq!(inverse.sizes().as_slice(), [2, 3, 0]);
    let solution = ops::linalg_tensorsolve(&empty(&[1, 1, 0], DType::F32), &empty(&[0], DType::F32), None).unwrap();
    assert_eq!(solution.sizes().as_slice(), [1, 0]);
    let x = leaf(&[2.0, 0.0, 0.0, -3.0]);
    let (_, s, _) = ops::svd(&ops::reshape(&x, &[2, 2]).unwrap(), true, false).unwrap();
    backward(&s);
    near(&values(&x.grad().unwrap()), &[1.0, 0.0, 0.0, -1.0]);
}

#[test]
fn powers_and_sequences_of_rare_numbers() {
    let options = Options::of(DType::C64);
    let powers: Vec<Complex<f32>> = ops::logspace(1.into(), 2.into(), 3, -2.0, options).unwrap().to_vec().unwrap();
    let expected = [Complex::new(-2.0, 0.0), Complex::new(0.0, -2.828_427), Complex::new(4.0, 0.0)];
    for (found, expected) in powers.iter().zip(expected) {
        assert!((found - expected).norm() < 1e-5, "{powers:?}");
    }
    let infinite = Tensor::from_slice(&[Complex::new(f32::INFINITY, -2.0)], &[1]).unwrap();
    let one: Vec<Complex<f32>> = ops::pow_scalar(1.into(), &infinite).unwrap().to_vec().unwrap();
    assert_eq!(one, [Complex::new(1.0, 0.0)]);
    let same: Vec<Complex<f32>> = ops::pow_tensor_scalar(&infinite, 1.into()).unwrap().to_vec().unwrap();
    assert_eq!(same, [Complex::new(f32::INFINITY, -2.0)]);
    let edges = ops::gradient_scalarint(&of(&[1.0, 2.0, 4.0, 7.0], &[4]), Some(0.into()), None, 2).unwrap();
    assert_eq!(values(&edges[0]), [f32::INFINITY; 4]);
}

#[test]
fn dtypes_and_values_that_are_rejected() {
    let bools = Tensor::from_slice(&[true], &[1]).unwrap();
    assert_eq!(message(ops::mvlgamma(&bools, 2)), "The input tensor may not be a boolean tensor.");
    let (single, double) = (of(&[1.0], &[1]), ops::ones(&[1], Options::of(DType::F64)).unwrap());
    let found = message(ops::log_sigmoid_backward(&single, &single, &double));
    assert_eq!(found, "Found dtype Double but expected Float");
    let found = message(ops::norm_scalaropt_dim_dtype(&double, None, &[0], false, DType::F16));
    assert_eq!(
        found,
        "linalg.vector_norm: the dtype of the input (Double) should be convertible without narrowing to the specified \
         dtype (Half)"
    );
    let bytes = empty(&[0], DType::U8);
    let found = message(ops::addcmul(&bytes, &bytes, &bytes, Scalar::Float(f64::INFINITY)));
    assert_eq!(found, "value cannot be converted to type uint8_t without overflow");
    let long = Tensor::from_slice(&[1i64; 4], &[1, 2, 2]).unwrap();
    assert_eq!(message(ops::adaptive_avg_pool2d(&long, &[1, 2])), "\"adaptive_avg_pool2d\" not implemented for 'Long'");
    let found = message(ops::linspace((-2.5).into(), (-2.5).into(), 1, Options::of(DType::U8)));
    assert_eq!(found, "value cannot be converted to type uint8_t without overflow");
    let two = Tensor::from_slice(&[true, true], &[2]).unwrap();
    let found = message(ops::glu_backward(&bools, &two, 0));
    assert_eq!(found, "result type Float can't be cast to the desired output type Bool");
    let labels = Tensor::from_slice(&[-1i64, -2], &[2]).unwrap();
    let found = message(ops::multilabel_margin_loss(&of(&[1.0, 2.0], &[2]), &labels, 1));
    assert!(found.ends_with("argument #2 'target' is out of range"), "{found}");
}

#[test]
fn results_keep_the_dtype_and_shape_of_their_first_argument() {
    let half = ops::to_dtype(&of(&[-0.5], &[1]), DType::F16, false, false, None).unwrap();
    let count = Tensor::from_slice(&[5i64], &[1]).unwrap();
    assert_eq!(ops::poisson_nll_loss(&half, &count, false, true, 1.0, 0).unwrap().dtype(), DType::F16);
    let mask = Tensor::from_slice(&[true], &[1]).unwrap();
    let gradient = ops::masked_scatter_backward(&of(&[2.0], &[]), &mask, &[2]).unwrap();
    assert_eq!(values(&gradient), [2.0, 0.0]);
    let index = Tensor::from_slice(&[255i64], &[1]).unwrap();
    let filled = ops::index_fill_int_scalar(&empty(&[1, 0], DType::F32), 0, &index, 1.into()).unwrap();
    assert_eq!(filled.sizes().as_slice(), [1, 0]);
}

#[test]
fn losses_that_depend_on_phases_have_no_gradient() {
    let numbers: Vec<Complex<f64>> = [2.0, 1.0, 1.0, 3.0].into_iter().map(|value| Complex::new(value, 0.0)).collect();
    let decomposed = |decompose: &dyn Fn(&Tensor) -> Tensor| {
        let x = Tensor::from_slice(&numbers, &[2, 2]).unwrap();
        x.set_requires_grad(true).unwrap();
        let vectors = decompose(&x);
        let loss = ops::sum(&ops::imag(&vectors).unwrap(), None).unwrap();
        message(autograd::backward(&[&loss], &[], false, false, &[]))
    };
    let eigh = |x: &Tensor| ops::linalg_eigh(x, "L").unwrap().1;
    let eig = |x: &Tensor| ops::linalg_eig(x).unwrap().1;
    let svd = |x: &Tensor| ops::linalg_svd(x, false, None).unwrap().0;
    for (name, decompose) in [("eigh", &eigh as &dyn Fn(&Tensor) -> Tensor), ("eig", &eig)] {
        let expected = format!(
            "linalg_{name}_backward: The eigenvectors in the complex case are specified up to multiplication by e^{{i phi}}. \
             The specified loss function depends on this quantity, so it is ill-defined."
        );
        assert_eq!(decomposed(decompose), expected);
    }
    let expected = "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. \
                    The specified loss function depends on this phase term, making it ill-defined.";
    assert_eq!(decomposed(&svd), expected);
}

#[test]
fn scalars_take_part_in_inner_products_in_any_dtype() {
    let half = cast(&of(&[2.0], &[1]), DType::F16);
    let scalar = ops::full(&[], Scalar::Int(3), Options::of(DType::F64)).unwrap();
    let found = ops::inner(&half, &scalar).unwrap();
    assert_eq!((found.dtype(), values(&cast(&found, DType::F32))), (DType::F16, vec![6.0]));
    let other = of(&[1.0], &[1]);
    assert_eq!(message(ops::inner(&half, &other)), "both inputs should have same dtype");
}

#[test]
fn the_gradient_of_logit_has_the_promoted_dtype() {
    let half = cast(&of(&[1.0], &[1]), DType::F16);
    let scores = Tensor::from_slice(&[4i32], &[1]).unwrap();
    assert_eq!(ops::logit_backward(&half, &scores, None).unwrap().dtype(), DType::F16);
}

#[test]
fn limits_and_dimensions_that_do_not_exist_are_errors() {
    let words = Tensor::from_slice(&[4i16], &[1]).unwrap();
    for limit in [f64::INFINITY, f64::NAN] {
        let error = message(ops::hardtanh(&words, Scalar::Int(-1), Scalar::Float(limit)));
        assert_eq!(error, "value cannot be converted to type int64_t without overflow");
    }
    let scalar = ops::full(&[], Scalar::Int(3), Options::of(DType::F32)).unwrap();
    let none = "Dimension specified as -1 but tensor has no dimensions";
    assert_eq!(message(ops::roll(&scalar, &[3], &[-1])), none);
    let [x, gate] = [of(&[1.0, 2.0], &[2]), of(&[1.0], &[1])];
    assert!(ops::glu_backward_jvp(&x, &gate, &x, &gate, &x, 0).is_ok());
    let error = message(ops::glu_backward_jvp(&x, &scalar, &x, &gate, &x, 0));
    assert_eq!(error, "Dimension specified as 0 but tensor has no dimensions");
}

#[test]
fn matrices_without_elements_have_factors_and_a_rank() {
    for sizes in [&[0][..], &[0, 1], &[2, 0, 3]] {
        assert_eq!(ops::cholesky(&empty(sizes, DType::I32), false).unwrap().sizes().as_slice(), sizes);
    }
    let (lu, ..) = ops::linalg_lu_factor(&empty(&[0, 1], DType::F32), false).unwrap();
    assert_eq!(lu.sizes().as_slice(), [0, 1]);
    let rank = ops::linalg_matrix_rank(&empty(&[1, 0], DType::Bool), 0.0, false).unwrap();
    assert_eq!(rank.to_vec::<i64>().unwrap(), [0]);
    let error = message(ops::linalg_lu_factor(&of(&[1.0], &[1, 1]), false));
    assert_eq!(error, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
}

#[test]
fn decompositions_check_dtypes_orders_and_pivots() {
    let (single, double) = (of(&[1.0], &[1, 1]), Tensor::from_slice(&[1.0f64], &[1, 1]).unwrap());
    assert_eq!(
        message(ops::triangular_solve(&single, &double, true, false, false)),
        "Expected b and A to have the same dtype, but found b of type Float and A of type Double instead."
    );
    let singular = of(&[1.0, 0.0, 1.0, 0.0], &[2, 2]);
    assert_eq!(
        message(ops::cholesky_inverse(&singular, false)),
        "cholesky_inverse: The diagonal element 2 is zero, the inversion could not be completed because the input matrix \
         is singular."
    );
    let order = Scalar::Complex(Complex::new(1.0, 2.0));
    assert_eq!(
        message(ops::linalg_matrix_norm(&single, order, &[-2, -1], false, None)),
        "linalg.matrix_norm: Expected a non-complex scalar as the order of norm."
    );
    let pivots = Tensor::from_slice(&[1i32, 2, 2], &[3]).unwrap();
    assert_eq!(
        message(ops::lu_unpack(&of(&[1.0; 4], &[2, 2]), &pivots, true, true)),
        "torch.lu_unpack: LU_pivots of shape [3] do not belong to LU_data of shape [2, 2]"
    );
}

#[test]
fn factors_of_products_fit_the_dtype() {
    let (x, complex) = (of(&[1.0], &[1, 1]), Scalar::Complex(Complex::new(2.0, 3.0)));
    let error = "value cannot be converted to type float without overflow";
    assert_eq!(message(ops::addmm(&x, &x, &x, 1.into(), complex)), error);
    assert_eq!(message(ops::addmm(&x, &x, &x, complex, 1.into())), error);
    let batch = ops::unsqueeze(&x, 0).unwrap();
    assert_eq!(message(ops::baddbmm(&batch, &batch, &batch, 1.into(), complex)), error);
    let row = of(&[1.0], &[1]);
    assert_eq!(
        message(ops::addr(&x, &row, &row, true.into(), 1.into())),
        "Boolean beta only supported for Boolean results."
    );
}

#[test]
fn products_promote_where_no_sum_is_left() {
    let (rows, flags) = (cast(&of(&[1.0, 1.0], &[1, 2]), DType::Bool), cast(&of(&[1.0, 0.0], &[2]), DType::Bool));
    let found = ops::einsum("ik,j->ij", &[&rows, &flags], None).unwrap();
    assert_eq!((found.sizes().as_slice(), found.to_vec::<i64>().unwrap()), (&[1, 2][..], vec![2, 0]));
    let brain = cast(&of(&[1.5], &[1]), DType::BF16);
    let scaled = ops::ldexp_tensor(&brain, &Tensor::from_slice(&[3i64], &[1]).unwrap()).unwrap();
    assert_eq!((scaled.dtype(), values(&cast(&scaled, DType::F32))), (DType::BF16, vec![12.0]));
}

#[test]
fn nothing_can_be_repeated_a_negative_number_of_times() {
    assert_eq!(ops::tile(&empty(&[0], DType::F32), &[-1]).unwrap().sizes().as_slice(), [0]);
    let error = "Trying to create tensor with negative dimension -2: [-2, 2]";
    assert_eq!(message(ops::tile(&empty(&[2, 2], DType::F32), &[-1, 1])), error);
}

#[test]
fn squares_of_integers_do_not_wrap_in_the_gradient_of_gelu() {
    let bytes = |value: u8| Tensor::from_slice(&[value], &[1]).unwrap();
    assert_eq!(values(&ops::infinitely_differentiable_gelu_backward(&bytes(1), &bytes(127)).unwrap()), [1.0]);
}

#[test]
fn a_0_dimensional_source_that_is_copied_to_an_index_has_a_gradient() {
    let (index, source) = (Tensor::from_slice(&[0i64], &[1]).unwrap(), of(&[1.0], &[]));
    source.set_requires_grad(true).unwrap();
    backward(&ops::index_copy(&of(&[0.0], &[1]), 0, &index, &source).unwrap());
    assert_eq!(source.grad().unwrap().ndim(), 0);
}

#[test]
fn bounds_of_an_integral_range_are_truncated() {
    let bytes = ops::range_step((-2.5).into(), 0.5.into(), 3.into(), Options::of(DType::U8)).unwrap();
    assert_eq!(bytes.sizes().as_slice(), [1]);
}

#[test]
fn out_forms_that_do_not_convert_reject_other_dtypes() {
    let (x, out) = (of(&[1.0, -2.0], &[2]), empty(&[2], DType::F64));
    let error = "Expected out tensor to have dtype float, but got double instead";
    assert_eq!(message(ops::mish_out(&x, &out)), error);
    assert_eq!(message(ops::sort_values(&x, -1, false, &out, &empty(&[2], DType::I64))), error);
    assert_eq!(message(ops::renorm_out(&ops::unsqueeze(&x, 0).unwrap(), 2.into(), 0, 1.into(), &out)), error);
    assert_eq!(message(ops::sum_intlist_out(&x, Some(&[0]), false, Some(DType::F32), &out)), error);
    // Without the argument `dtype`, that of the output is summed in.
    let whole = empty(&[], DType::I64);
    ops::prod_int_out(&of(&[2.5, 3.5], &[2]), 0, false, None, &whole).unwrap();
    assert_eq!(whole.to_vec::<i64>().unwrap(), [6]);
    ops::add_out(&x, &x, 1.into(), &out).unwrap();
    assert_eq!(out.to_vec::<f64>().unwrap(), [2.0, -4.0]);
}

#[test]
fn half_precision_is_multiplied_and_divided_by_the_number_in_f32() {
    let x = cast(&of(&[1.0, 3.0, 5.0, 7.0, 100.0, 0.3], &[6]), DType::BF16);
    let wide = |tensor: Tensor| cast(&tensor, DType::F64).to_vec::<f64>().unwrap();
    let products = [0.10009765625, 0.30078125, 0.5, 0.69921875, 10.0, 0.030029296875];
    assert_eq!(wide(ops::mul_scalar(&x, 0.1.into()).unwrap()), products);
    let tenth = ops::scalar_tensor(0.1.into(), Options::of(DType::F32)).unwrap();
    assert_eq!(wide(ops::mul_tensor(&x, &tenth).unwrap()), products);
    // In place, the number is rounded: `mul_.Scalar`, unlike `mul_.Tensor`.
    let sixths = cast(&of(&[3.0], &[1]), DType::F16);
    ops::mul_scalar_(&sixths, 0.4.into()).unwrap();
    assert_eq!(wide(sixths), [1.19921875]);
    // An element of the dtype is rounded already.
    let rounded = ops::mul_tensor(&x, &cast(&of(&[0.1], &[1]), DType::BF16)).unwrap();
    assert_eq!(wide(rounded)[5], 0.0301513671875);
    let quotients = [3.328125, 10.0, 16.625, 23.375, 334.0, 1.0];
    assert_eq!(wide(ops::div_scalar(&x, 0.3.into()).unwrap()), quotients);
    let floors = ops::div_scalar_mode(&x, 0.3.into(), Some("floor")).unwrap();
    assert_eq!(wide(floors), [3.0, 9.0, 16.0, 23.0, 332.0, 1.0]);
    let half = cast(&of(&[7.0, 0.3], &[2]), DType::F16);
    assert_eq!(wide(ops::mul_scalar(&half, 0.1.into()).unwrap()), [0.7001953125, 0.029998779296875]);
}

#[test]
fn bounds_that_the_dtype_does_not_hold_are_rejected() {
    let bytes = cast(&of(&[1.0, 2.0, 3.0], &[3]), DType::U8);
    let error = "value cannot be converted to type uint8_t without overflow";
    assert_eq!(message(ops::clamp_max(&bytes, 300.into())), error);
    assert_eq!(message(ops::clamp_(&bytes, Some((-1).into()), Some(300.into()))), error);
    assert_eq!(bytes.to_vec::<u8>().unwrap(), [1, 2, 3]);
    assert_eq!(ops::clamp_max(&bytes, 2.into()).unwrap().to_vec::<u8>().unwrap(), [1, 2, 2]);
}

#[test]
fn kernels_without_elements_convolve_nothing() {
    let image = |batch: i64| empty(&[batch, 1, 4, 4], DType::F32);
    let call = |batch: i64| ops::conv2d(&image(batch), &empty(&[1, 1, 0, 0], DType::F32), None, &[1], &[0], &[1], 1);
    assert_eq!(message(call(1)), "kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 0");
    assert_eq!(call(0).unwrap().sizes()[0], 0);
}

#[test]
fn gradients_of_bytes_are_rejected() {
    let bytes = cast(&of(&[1.0, 4.0, 9.0], &[3]), DType::U8);
    let error = "torch.gradient does not support uint8 input.";
    assert_eq!(message(ops::gradient_array(&bytes, &[0], 1)), error);
    let places = of(&[0.0, 1.0, 3.0], &[3]);
    assert_eq!(message(ops::gradient_tensorarray(&bytes, &[&places], &[0], 1)), error);
}

#[test]
fn segments_of_no_data_have_the_initial_value() {
    let lengths = Tensor::from_slice(&[0i64], &[1]).unwrap();
    let sum = ops::segment_reduce(&of(&[], &[0]), "sum", Some(&lengths), None, None, 0, false, None).unwrap();
    assert_eq!(values(&sum), [0.0]);
}
