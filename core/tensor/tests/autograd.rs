//! The rules of autograd: accumulation, in-place writes and views, versions, hooks, modes, large and shared graphs.

use rushlight_base::{DType, Result, Scalar};
use rushlight_tensor::autograd::{self, GradModeGuard, InferenceModeGuard, Registered, TensorHook};
use rushlight_tensor::{Generator, Tensor, ops};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn leaf(values: &[f32]) -> Tensor {
    let tensor = Tensor::from_slice(values, &[values.len() as i64]).unwrap();
    tensor.set_requires_grad(true).unwrap();
    tensor
}

fn times(tensor: &Tensor, factor: f64) -> Tensor {
    ops::mul_scalar(tensor, Scalar::Float(factor)).unwrap()
}

fn sum(tensor: &Tensor) -> Tensor {
    ops::sum(tensor, None).unwrap()
}

fn backward(tensor: &Tensor) -> Result<()> {
    autograd::backward(&[tensor], &[], false, false, &[])
}

fn grad_of(tensor: &Tensor) -> Vec<f32> {
    tensor.grad().expect("a gradient").to_vec().unwrap()
}

fn message(result: Result<()>) -> String {
    let error = result.expect_err("an error");
    error.message().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn gradients_add_up_over_passes_and_over_uses() {
    let x = leaf(&[1.0, 2.0, -4.0]);
    let y = ops::add_tensor(&ops::mul_tensor(&x, &x).unwrap(), &times(&x, 3.0), 1.into()).unwrap();
    backward(&sum(&y)).unwrap();
    assert_eq!(grad_of(&x), [5.0, 7.0, -5.0]);
    backward(&sum(&times(&x, 2.0))).unwrap();
    assert_eq!(grad_of(&x), [7.0, 9.0, -3.0]);
}

#[test]
fn broadcast_inputs_get_gradients_of_their_own_shape() {
    let x = leaf(&[1.0, 2.0]);
    let wide = ops::add_tensor(&x, &ops::zeros(&[3, 2], Default::default()).unwrap(), 1.into()).unwrap();
    backward(&sum(&wide)).unwrap();
    assert_eq!(grad_of(&x), [3.0, 3.0]);
    assert_eq!(x.grad().unwrap().sizes().as_slice(), &[2]);
}

#[test]
fn the_graph_runs_once_unless_it_is_kept() {
    let x = leaf(&[3.0]);
    let y = sum(&ops::mul_tensor(&x, &x).unwrap());
    autograd::backward(&[&y], &[], true, false, &[]).unwrap();
    backward(&y).unwrap();
    assert_eq!(grad_of(&x), [12.0]);
    assert!(message(backward(&y)).starts_with("Trying to backward through the graph a second time"));
}

#[test]
fn second_derivatives_come_from_create_graph() {
    let x = leaf(&[2.0]);
    let cube = ops::mul_tensor(&ops::mul_tensor(&x, &x).unwrap(), &x).unwrap();
    let first = autograd::grad(&[&cube], &[&x], &[], true, true, false).unwrap()[0].clone().unwrap();
    assert_eq!(first.to_vec::<f32>().unwrap(), [12.0]);
    let second = autograd::grad(&[&first], &[&x], &[], false, false, false).unwrap()[0].clone().unwrap();
    assert_eq!(second.to_vec::<f32>().unwrap(), [12.0]);
    assert!(x.grad().is_none(), "grad() accumulates nothing");
}

#[test]
fn running_products_with_zeros_have_first_and_second_derivatives() {
    let (values, weights, ways) =
        ([2.0f32, 0.0, 3.0, -1.0, 0.0, 5.0, 2.0], [1.0f32, 2.0, -3.0, 1.0, 4.0, 2.0, 1.0], 1..8);
    let len = values.len();
    // The weighted sum of the products of k + 1 factors, without the factors `without`.
    let without = |left_out: &[usize]| -> f32 {
        let from = left_out.iter().copied().max().unwrap_or(0);
        let product = |last: usize| (0..=last).filter(|j| !left_out.contains(j)).map(|j| values[j]).product::<f32>();
        (from..len).map(|last| weights[last] * product(last)).sum()
    };
    let x = leaf(&values);
    let weighted = ops::mul_tensor(&ops::cumprod(&x, 0, None).unwrap(), &Tensor::from_slice(&weights, &[7]).unwrap());
    let total = sum(&weighted.unwrap());
    let first = autograd::grad(&[&total], &[&x], &[], true, true, false).unwrap()[0].clone().unwrap();
    assert_eq!(first.to_vec::<f32>().unwrap(), (0..len).map(|i| without(&[i])).collect::<Vec<_>>());
    let ways: Vec<f32> = ways.map(|way| way as f32).collect();
    backward(&sum(&ops::mul_tensor(&first, &Tensor::from_slice(&ways, &[7]).unwrap()).unwrap())).unwrap();
    let second = |i: usize| (0..len).filter(|&j| j != i).map(|j| ways[j] * without(&[i, j])).sum::<f32>();
    assert_eq!(grad_of(&x), (0..len).map(second).collect::<Vec<_>>());
}

#[test]
fn in_place_writes_follow_pytorchs_rules() {
    let x = leaf(&[1.0, 2.0]);
    let one = Scalar::Int(1);
    assert_eq!(
        message(ops::add_scalar_(&x, one, one)),
        "a leaf Variable that requires grad is being used in an in-place operation."
    );
    let view = ops::select_int(&x, 0, 0).unwrap();
    assert_eq!(
        message(ops::add_scalar_(&view, one, one)),
        "a view of a leaf Variable that requires grad is being used in an in-place operation."
    );
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0], "a rejected write changes nothing");
    {
        let _off = GradModeGuard::new(false);
        ops::add_scalar_(&x, one, one).unwrap();
    }
    assert_eq!(x.to_vec::<f32>().unwrap(), [2.0, 3.0]);
}

#[test]
fn a_saved_tensor_that_was_written_is_noticed() {
    let x = leaf(&[1.0, 2.0]);
    let e = ops::exp(&x).unwrap();
    let s = sum(&e);
    ops::mul_scalar_(&e, Scalar::Int(2)).unwrap();
    let text = message(backward(&s));
    assert!(text.contains("which is output 0 of ExpBackward0, is at version 1; expected version 0"), "{text}");
}

#[test]
fn a_write_to_a_view_reaches_the_base_and_its_other_views() {
    let x = leaf(&[1.0, 2.0, 4.0]);
    let z = times(&x, 1.0);
    let other = ops::slice_tensor(&z, 0, Some(0), Some(2), 1).unwrap();
    ops::mul_scalar_(&ops::select_int(&z, 0, 0).unwrap(), Scalar::Int(5)).unwrap();
    let grad = autograd::grad(&[&sum(&z)], &[&x], &[], true, false, false).unwrap()[0].clone().unwrap();
    assert_eq!(grad.to_vec::<f32>().unwrap(), [5.0, 1.0, 1.0]);
    let grad = autograd::grad(&[&sum(&other)], &[&x], &[], false, false, false).unwrap()[0].clone().unwrap();
    assert_eq!(grad.to_vec::<f32>().unwrap(), [5.0, 1.0, 0.0]);
}

#[test]
fn an_in_place_write_adds_its_history_to_a_plain_buffer() {
    let x = leaf(&[1.0, 2.0]);
    let buffer = ops::zeros(&[2, 2], Default::default()).unwrap();
    let row = ops::select_int(&buffer, 0, 1).unwrap();
    ops::copy_(&row, &times(&x, 3.0), false).unwrap();
    assert!(buffer.requires_grad() && row.requires_grad());
    assert_eq!(buffer.grad_fn().unwrap().name(), "torch::autograd::CopySlices");
    backward(&sum(&times(&buffer, 2.0))).unwrap();
    assert_eq!(grad_of(&x), [6.0, 6.0]);
}

#[test]
fn versions_are_shared_by_views_and_detached_tensors() {
    let base = ops::zeros(&[2, 2], Default::default()).unwrap();
    ops::add_scalar_(&ops::select_int(&base, 0, 0).unwrap(), 1.into(), 1.into()).unwrap();
    assert_eq!(base.version(), 1);
    let detached = ops::detach(&base).unwrap();
    ops::mul_scalar_(&detached, 2.into()).unwrap();
    assert_eq!((base.version(), detached.version()), (2, 2));
    assert!(!detached.requires_grad());
}

#[test]
fn hooks_see_and_replace_gradients() {
    let x = leaf(&[1.0, 1.0]);
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let hook = x
        .register_hook(Arc::new(move |grad| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(grad.map(|grad| times(grad, 10.0)))
        }))
        .unwrap();
    let y = times(&x, 2.0);
    y.retain_grad().unwrap();
    backward(&sum(&y)).unwrap();
    assert_eq!(grad_of(&x), [20.0, 20.0]);
    assert_eq!(grad_of(&y), [1.0, 1.0]);
    x.remove_hook(hook.id()).unwrap();
    x.set_grad(None).unwrap();
    backward(&sum(&times(&x, 2.0))).unwrap();
    assert_eq!(grad_of(&x), [2.0, 2.0]);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert!(x.remove_hook(hook.id()).is_err());
}

/// A hook can be removed when only the graph of its tensor is left.
#[test]
fn hooks_are_removed_without_their_tensor() {
    let x = leaf(&[1.0]);
    let calls = Arc::new(AtomicUsize::new(0));
    let count = || -> TensorHook {
        let counter = calls.clone();
        Arc::new(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        })
    };
    let y = times(&x, 2.0);
    let z = sum(&y);
    let hooks = [x.register_hook(count()).unwrap(), y.register_hook(count()).unwrap()];
    drop((x, y));
    assert_eq!(hooks.iter().map(Registered::remove).collect::<Vec<_>>(), [true, true]);
    assert_eq!(hooks.iter().map(Registered::remove).collect::<Vec<_>>(), [false, false]);
    backward(&z).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let late = z.register_hook(count()).unwrap();
    drop(z);
    assert!(!late.remove());
}

#[test]
fn modes_switch_recording_off() {
    let x = leaf(&[1.0]);
    {
        let _off = GradModeGuard::new(false);
        assert!(!times(&x, 2.0).requires_grad());
    }
    {
        let _inference = InferenceModeGuard::new(true);
        assert!(!times(&x, 2.0).requires_grad());
        // A view of a tensor from outside is tracked; one of a local tensor is not.
        assert!(ops::select_int(&x, 0, 0).unwrap().is_view());
        assert!(!ops::select_int(&times(&x, 2.0), 0, 0).unwrap().is_view());
    }
    assert!(times(&x, 2.0).requires_grad());
    assert!(!ops::argmax(&x, None, false).unwrap().requires_grad());
    assert!(!ops::lt_scalar(&x, 1.into()).unwrap().requires_grad());
}

#[test]
fn anomaly_mode_names_the_function_that_computed_nan() {
    let x = leaf(&[0.0]);
    autograd::set_anomaly_enabled(true);
    let y = sum(&ops::div_tensor(&times(&x, 0.0), &x).unwrap());
    let text = message(backward(&y));
    autograd::set_anomaly_enabled(false);
    assert_eq!(text, "Function 'DivBackward0' returned nan values in its 1th output.");
}

#[test]
fn unused_and_unconnected_tensors_are_reported() {
    let (x, unused) = (leaf(&[1.0]), leaf(&[1.0]));
    let y = sum(&x);
    let error = autograd::grad(&[&y], &[&unused], &[], true, false, false).unwrap_err();
    assert!(error.message().starts_with("element 0of the differentiated Tensors appears to not have been used"));
    assert!(autograd::grad(&[&y], &[&unused], &[], true, false, true).unwrap()[0].is_none());
    let plain = Tensor::from_slice(&[1.0f32], &[]).unwrap();
    assert_eq!(message(backward(&plain)), "element 0 of tensors does not require grad and does not have a grad_fn");
    assert_eq!(
        message(backward(&times(&leaf(&[1.0, 2.0]), 1.0))),
        "grad can be implicitly created only for scalar outputs"
    );
    assert!(ops::zeros(&[1], rushlight_tensor::Options::of(DType::I64)).unwrap().set_requires_grad(true).is_err());
}

#[test]
fn a_million_operators_forward_backward_and_freed() {
    let x = leaf(&[1.0]);
    let mut y = times(&x, 1.0);
    for _ in 0..1_000_000 {
        y = ops::add_scalar(&y, Scalar::Float(0.0), 1.into()).unwrap();
    }
    autograd::backward(&[&sum(&y)], &[], true, false, &[]).unwrap();
    assert_eq!(grad_of(&x), [1.0]);
    // The graph was kept: dropping its end frees a million nodes, on this small stack.
    drop(y);
}

#[test]
fn threads_share_leaves_without_losing_gradients() {
    let x = leaf(&[1.0, 2.0, 3.0]);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                for _ in 0..200 {
                    backward(&sum(&ops::mul_tensor(&x, &x).unwrap())).unwrap();
                }
            });
        }
    });
    assert_eq!(grad_of(&x), [2.0 * 3200.0, 4.0 * 3200.0, 6.0 * 3200.0]);
}

#[test]
fn backward_may_start_another_backward() {
    let (x, other) = (leaf(&[2.0]), leaf(&[5.0]));
    let inner = other.clone();
    x.register_hook(Arc::new(move |_| {
        // The outer pass does not record; this one is separate.
        let _on = GradModeGuard::new(true);
        backward(&sum(&ops::mul_tensor(&inner, &inner)?))?;
        Ok(None)
    }))
    .unwrap();
    backward(&sum(&times(&x, 3.0))).unwrap();
    assert_eq!((grad_of(&x), grad_of(&other)), (vec![3.0], vec![10.0]));
}

/// The mean of x is a and that of x^2 is a^2 + a: so are their derivatives, on average over the samples.
#[test]
fn samples_of_gamma_distributions_are_differentiated_by_their_concentration() {
    for concentration in [0.4f32, 2.5, 30.0] {
        let a = leaf(&[concentration; 20_000]);
        let generator = Generator::new(7);
        let x = ops::_standard_gamma(&a, Some(&generator)).unwrap();
        backward(&sum(&x)).unwrap();
        let (x, slopes): (Vec<f32>, _) = (x.to_vec().unwrap(), grad_of(&a));
        let mean = |values: &mut dyn Iterator<Item = f32>| values.map(f64::from).sum::<f64>() / 20_000.0;
        let of_square = mean(&mut x.iter().zip(&slopes).map(|(x, slope)| 2.0 * x * slope));
        assert!((mean(&mut slopes.iter().copied()) - 1.0).abs() < 0.02, "{concentration}");
        assert!((of_square / f64::from(2.0 * concentration + 1.0) - 1.0).abs() < 0.03, "{concentration}: {of_square}");
    }
}
