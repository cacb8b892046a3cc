//! Use from several threads, cancellation, the log.

use crate::{data, floats};
use rushlight::{
    CancelToken, Determinism, ErrorKind, ScriptModule, Tensor, autograd, default_dtype, num_threads, set_default_dtype,
    set_determinism, set_num_threads,
};
use std::thread;
use std::time::Duration;

fn shared<T: Send + Sync>() {}

#[test]
fn handles_cross_threads() {
    shared::<Tensor>();
    shared::<rushlight::Error>();
    shared::<rushlight::StateDict>();
    shared::<rushlight::IValue>();
    shared::<ScriptModule>();
    shared::<CancelToken>();
    shared::<rushlight::Generator>();
}

/// Each thread differentiates its own graph over shared leaves and runs a shared module; gradients add up.
#[test]
fn threads_share_tensors_and_modules() {
    const THREADS: usize = 8;
    const STEPS: usize = 50;
    let w = floats(&[1.0, 2.0, 3.0]).requiring_grad().unwrap();
    let module = ScriptModule::load(data("script/net.pt")).unwrap();
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (w, module) = (&w, &module);
            scope.spawn(move || {
                for _ in 0..STEPS {
                    let factor = (thread + 1) as f64;
                    w.mul_scalar(factor).unwrap().sum().unwrap().backward().unwrap();
                    let y = autograd::no_grad(|| module.forward_tensors(&[&w.detach()?.reshape([1, 3])?])).unwrap();
                    assert_eq!(y.to_vec::<f32>().unwrap(), [17.0, 51.0]);
                    let error = w.add(&Tensor::zeros([thread as i64 + 4]).unwrap()).unwrap_err();
                    assert!(error.message().contains(&format!("tensor b ({})", thread + 4)), "{error}");
                }
            });
        }
    });
    let sum = (STEPS * THREADS * (THREADS + 1) / 2) as f32;
    assert_eq!(w.grad().unwrap().to_vec::<f32>().unwrap(), [sum; 3]);
}

#[test]
fn a_token_ends_the_calls_of_its_thread() {
    let token = CancelToken::new();
    let x = floats(&[1.0]);
    assert!(token.run(|| x.exp()).unwrap().is_ok());
    token.set_timeout(Duration::from_secs(3600));
    assert!(token.run(|| x.exp()).unwrap().is_ok() && !token.is_cancelled());
    token.cancel();
    let error = token.run(|| x.exp()).unwrap().unwrap_err();
    assert_eq!((error.kind(), token.is_cancelled()), (ErrorKind::Cancelled, true));
    // Outside of it, and on other threads, calls go on; also after a panic inside.
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| token.run(|| panic!("inside")))).is_err());
    assert!(x.exp().is_ok());
    token.run(|| thread::scope(|scope| scope.spawn(|| assert!(x.exp().is_ok())).join().unwrap())).unwrap();
}

#[test]
fn settings_are_checked() {
    assert!(set_num_threads(0).is_err());
    let threads = num_threads();
    set_num_threads(threads).unwrap();
    assert_eq!(num_threads(), threads);
    assert!(set_default_dtype(rushlight::DType::I64).is_err());
    assert_eq!(default_dtype(), rushlight::DType::F32);
    set_determinism(Determinism::Off);
    assert_eq!(rushlight::determinism(), Determinism::Off);
}
