//! The crate as programs use it. Numbers of PyTorch are those in tests/data.

mod autograd;
mod errors;
#[allow(clippy::needless_borrows_for_generic_args, reason = "a list is written alike for arguments and fields")]
mod examples;
mod files;
mod index;
mod layers;
mod optim;
mod script;
mod tensor;
mod threads;
#[path = "../../examples/digits.rs"]
#[allow(dead_code, reason = "the main function of the example")]
mod training;

use rushlight::{DType, Result, Tensor};
use std::path::PathBuf;

/// A file in tests/data.
fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

/// A tensor of one dimension.
fn floats(values: &[f32]) -> Tensor {
    Tensor::try_from(values).unwrap()
}

/// Fails unless dtype and sizes are equal, and the elements up to rounding.
#[track_caller]
fn assert_close(actual: &Tensor, expected: &Tensor, what: &str) {
    let differences = || -> Result<bool> {
        let options = rushlight::options::Allclose { rtol: 1e-5, atol: 1e-6, equal_nan: true };
        actual.detach()?.to(DType::F64)?.allclose_with(&expected.to(DType::F64)?, options)
    };
    assert_eq!((actual.dtype(), actual.sizes()), (expected.dtype(), expected.sizes()), "{what}");
    assert!(differences().unwrap(), "{what}: {actual} instead of {expected}");
}

/// Seeds the default generator and runs `body`. Tests share that generator and run at the same time, so that each test
/// draws random numbers (layers draw their parameters) in here only.
fn seeded<T>(seed: u64, body: impl FnOnce() -> T) -> T {
    use std::sync::{Mutex, PoisonError};
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    rushlight::manual_seed(seed);
    body()
}

/// The losses of the example are those of PyTorch 2.7.1 (tests/oracle/digits_reference.py).
#[test]
fn digits_are_learned_as_in_pytorch() {
    let reference = rushlight::StateDict::load(data("digits_reference/run.safetensors")).unwrap();
    let run = seeded(0, || training::train(&data("digits/digits.safetensors"))).unwrap();
    let expected = reference.get("losses").unwrap().to_vec::<f32>().unwrap();
    assert_eq!(run.losses.len(), expected.len());
    for (step, (actual, expected)) in run.losses.iter().zip(&expected).enumerate() {
        assert!((actual - expected).abs() < 1e-4, "step {step}: {actual} instead of {expected}");
    }
    assert!(run.accuracy >= 0.97, "{}", run.accuracy);
    assert_eq!(run.logits.sizes(), [360, 10]);
}
