//! Losses and distances of numbers that overflow, of several dtypes, and of targets that belong to no batch.

use super::{backward, leaf, message, near, of, values};
use rushlight_base::{Complex, DType, Scalar};
use rushlight_tensor::{Tensor, autograd, ops};

#[test]
fn soft_margins_are_of_the_dtype_and_the_shape_of_the_scores() {
    let scores = leaf(&[1.0, 200.0]);
    let bytes = Tensor::from_slice(&[-1i64, -1], &[2]).unwrap();
    let losses = ops::soft_margin_loss(&scores, &bytes, 0).unwrap();
    assert_eq!(losses.dtype(), DType::F32);
    assert_eq!(values(&losses)[1], f32::INFINITY);
    backward(&losses);
    let grad = values(&scores.grad().unwrap());
    near(&grad[..1], &[0.731_058_6]);
    assert!(grad[1].is_nan());
    let short = ops::soft_margin_loss(&of(&[1.0], &[1]), &of(&[1.0, 2.0], &[2]), 0);
    assert_eq!(message(short), "output with shape [1] doesn't match the broadcast shape [2]");
}

#[test]
fn triplet_margins_are_added_before_the_difference() {
    let (far, near) = (of(&[-1e30], &[1, 1]), of(&[1e30], &[1, 1]));
    let loss = ops::triplet_margin_loss(&near, &far, &far, 1.0, 2.0, 1e-6, false, 1).unwrap();
    assert_eq!(values(&loss), [0.0]);
}

#[test]
fn the_power_of_a_multi_margin_loss_is_truncated() {
    let (scores, target) = (of(&[1.0, 2.0, 3.0], &[3]), Tensor::from_slice(&[1i64], &[]).unwrap());
    let loss = |p: Scalar| ops::multi_margin_loss(&scores, &target, p, 1.into(), None, 1);
    near(&values(&loss(1.5.into()).unwrap()), &[0.666_666_7]);
    near(&values(&loss(2.9.into()).unwrap()), &[1.333_333_4]);
    let error = "value cannot be converted to type int without overflow";
    assert_eq!(message(loss(Scalar::Complex(Complex::new(1.0, 2.0)))), error);
    assert_eq!(message(loss(3.into())), "only p == 1 and p == 2 supported");
}

#[test]
fn the_first_of_several_targets_counts_for_one_vector_of_scores() {
    let scores = leaf(&[1.0, 2.0, 3.0]);
    let targets = Tensor::from_slice(&[1i64, 2, 0], &[3]).unwrap();
    let loss = ops::nll_loss(&scores, &targets, None, 1, -100).unwrap();
    assert_eq!((loss.ndim(), values(&loss)), (0, vec![-2.0]));
    backward(&loss);
    assert_eq!(values(&scores.grad().unwrap()), [0.0, -1.0, 0.0]);
    let one = Tensor::from_slice(&[1i64], &[1]).unwrap();
    assert_eq!(message(ops::nll_loss(&scores, &one, None, 1, -100)), "size mismatch (got input: [3], target: [1])");
}

#[test]
fn gradients_of_the_gradient_of_binary_cross_entropy_divide_by_what_is_no_probability() {
    let grad = leaf(&[0.5]);
    let slope = ops::binary_cross_entropy_backward(&grad, &of(&[-0.25], &[1]), &of(&[0.5], &[1]), None, 0).unwrap();
    backward(&slope);
    near(&values(&grad.grad().unwrap()), &[2.4]);
    let error = message(ops::binary_cross_entropy(&of(&[0.5], &[1]), &of(&[2.0], &[1]), None, 1));
    assert_eq!(error, "all elements of target should be between 0 and 1");
}

#[test]
fn cosines_divide_each_vector_by_its_norm() {
    let cosine = ops::cosine_similarity(&of(&[1e30, 0.5], &[1, 2]), &of(&[1.0, 1.0], &[1, 2]), 1, 1e-8).unwrap();
    assert_eq!(values(&cosine), [0.0]);
    let half = ops::to_dtype(&of(&[1.0, 2.0], &[2]), DType::F16, false, false, None).unwrap();
    let brain = ops::to_dtype(&of(&[1.0], &[]), DType::BF16, false, false, None).unwrap();
    assert_eq!(ops::cosine_similarity(&half, &brain, 0, 1e-8).unwrap().dtype(), DType::F32);
    let brain = ops::to_dtype(&of(&[1.0, 1.0], &[2]), DType::BF16, false, false, None).unwrap();
    near(&values(&ops::cosine_similarity(&of(&[1.0, 1.0], &[2]), &brain, 0, 1e-8).unwrap()), &[0.999_893_2]);
    // Below the smallest norm the gradient is that of a quotient by a constant.
    let short = leaf(&[0.0, 0.0]);
    backward(&ops::cosine_similarity(&short, &of(&[3.0, 4.0], &[2]), 0, 0.5).unwrap());
    near(&values(&short.grad().unwrap()), &[1.2, 1.6]);
}

#[test]
fn slices_whose_norm_is_nan_keep_their_gradient() {
    let rows = of(&[3.0, 4.0, 0.1, f32::NAN], &[2, 2]);
    rows.set_requires_grad(true).unwrap();
    backward(&ops::renorm(&rows, 2.into(), 0, 1.into()).unwrap());
    near(&values(&rows.grad().unwrap()), &[0.032, -0.024, 1.0, 1.0]);
}

#[test]
fn the_second_gradient_of_elu_by_its_result_is_0_at_0() {
    let result = leaf(&[-1.0, 0.0, 1.0]);
    let slopes = ops::elu_backward(&of(&[1.0; 3], &[3]), 1.into(), 1.into(), 1.into(), true, &result).unwrap();
    autograd::backward(&[&ops::sum(&slopes, None).unwrap()], &[], false, false, &[]).unwrap();
    assert_eq!(values(&result.grad().unwrap()), [1.0, 0.0, 0.0]);
}
