//! Gradients: against finite differences, and against formulas.

use crate::{floats, seeded};
use rushlight::autograd::{
    BackwardOptions, EnableGradGuard, GradOptions, InferenceGuard, NoGradGuard, grad, grad_with, gradcheck,
    is_grad_enabled, no_grad,
};
use rushlight::nn::{Linear, Module};
use rushlight::{DType, Result, Tensor};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().unwrap()
}

/// The gradients of a network of two layers are those of finite differences.
#[test]
fn gradients_of_a_network_are_right() {
    let inputs = seeded(3, || -> Result<Vec<Tensor>> {
        let (hidden, output) = (Linear::new(3, 4)?, Linear::new(4, 2)?);
        let mut inputs = vec![Tensor::randn_with([5, 3], DType::F64)?];
        inputs.extend(hidden.parameters().into_iter().chain(output.parameters()));
        inputs.into_iter().map(|input| input.detach()?.to(DType::F64)?.requiring_grad()).collect()
    })
    .unwrap();
    let labels = Tensor::try_from([0i64, 1, 1, 0, 1]).unwrap();
    let network = |given: &[Tensor]| -> Result<Vec<Tensor>> {
        let [x, w1, b1, w2, b2] = given else { unreachable!("there are five inputs") };
        let logits = x.linear_with(w1, Some(b1))?.tanh()?.linear_with(w2, Some(b2))?;
        Ok(vec![logits.cross_entropy_loss(&labels)?])
    };
    assert_eq!(gradcheck(network, &inputs).unwrap(), None);
    let wrong = |given: &[Tensor]| Ok(vec![given[0].add(&given[0].detach()?.square()?)?.sum()?]);
    assert!(gradcheck(wrong, &inputs[..1]).unwrap().is_some());
}

#[test]
fn gradients_accumulate_and_are_removed() {
    let x = floats(&[1.0, 2.0]).requiring_grad().unwrap();
    for _ in 0..2 {
        x.mul(&x).unwrap().sum().unwrap().backward().unwrap();
    }
    assert_eq!(values(&x.grad().unwrap()), [4.0, 8.0]);
    x.set_grad(None).unwrap();
    assert!(x.grad().is_none());
    let y = x.mul_scalar(3).unwrap();
    assert!(y.backward().is_err());
    y.backward_with(BackwardOptions {
        gradient: Some(&floats(&[1.0, 10.0])),
        retain_graph: true,
        ..Default::default()
    })
    .unwrap();
    assert_eq!(values(&x.grad().unwrap()), [3.0, 30.0]);
    assert_eq!((y.grad_fn().unwrap(), y.is_leaf(), x.is_leaf()), ("MulBackward1".into(), false, true));
}

#[test]
fn gradients_can_be_differentiated() {
    let x = floats(&[2.0]).requiring_grad().unwrap();
    let y = x.pow_tensor_scalar(3).unwrap();
    let options = GradOptions { create_graph: true, ..Default::default() };
    let first = grad_with(&[&y], &[&x], options).unwrap().remove(0).unwrap();
    assert_eq!(values(&first), [12.0]);
    assert_eq!(values(&grad(&[&first], &[&x]).unwrap()[0]), [12.0]);
    assert!(x.grad().is_none());
    let unused = floats(&[1.0]).requiring_grad().unwrap();
    let z = x.mul_scalar(1).unwrap();
    assert!(grad(&[&z], &[&unused]).is_err());
    let options = GradOptions { allow_unused: true, ..Default::default() };
    assert!(grad_with(&[&x.mul_scalar(1).unwrap()], &[&unused], options).unwrap()[0].is_none());
}

#[test]
fn modes_end_with_their_guards() {
    let x = floats(&[1.0]).requiring_grad().unwrap();
    {
        let _guard = NoGradGuard::new();
        assert!(!is_grad_enabled() && !x.exp().unwrap().requires_grad());
        {
            let _enabled = EnableGradGuard::new();
            assert!(x.exp().unwrap().requires_grad());
        }
        assert!(!is_grad_enabled());
        // The mode is that of the thread.
        std::thread::scope(|scope| assert!(scope.spawn(is_grad_enabled).join().unwrap()));
    }
    assert!(is_grad_enabled());
    let result = std::panic::catch_unwind(|| no_grad(|| panic!("unwinds through the guard")));
    assert!(result.is_err() && is_grad_enabled());
    let created = {
        let _guard = InferenceGuard::new();
        x.exp().unwrap()
    };
    assert!(created.add_scalar_(1).is_err());
}

#[test]
fn hooks_see_and_replace_gradients() {
    let x = floats(&[1.0, 2.0]).requiring_grad().unwrap();
    let calls = Arc::new(AtomicUsize::new(0));
    let seen = calls.clone();
    let hook = x
        .register_hook(move |gradient| {
            seen.fetch_add(1, Ordering::Relaxed);
            gradient.mul_scalar(10).map(Some)
        })
        .unwrap();
    x.sum().unwrap().backward().unwrap();
    assert_eq!(values(&x.grad().unwrap()), [10.0, 10.0]);
    assert!(hook.remove() && !hook.remove());
    x.sum().unwrap().backward().unwrap();
    assert_eq!((values(&x.grad().unwrap()), calls.load(Ordering::Relaxed)), (vec![11.0, 11.0], 1));
    let failing =
        x.register_hook(|_| Err(rushlight::Error::new(rushlight::ErrorKind::Value, "the hook fails"))).unwrap();
    assert!(x.sum().unwrap().backward().unwrap_err().message().contains("the hook fails"));
    assert!(failing.remove());
}
