//! Kernels that process many elements on one thread end soon after their call is cancelled.

use rushlight_base::cancel::{self, CancelToken};
use rushlight_base::{ErrorKind, Result};
use rushlight_tensor::{Generator, Tensor, ops};
use std::time::Duration;

/// As many elements as take much longer than the deadline, in little memory.
fn expanded(value: f32, elements: i64) -> Tensor {
    ops::expand(&Tensor::from_slice(&[value], &[1]).unwrap(), &[elements], false).unwrap()
}

fn is_cancelled<R>(what: &str, call: impl FnOnce() -> Result<R>) {
    let token = CancelToken::new();
    token.set_timeout(Some(Duration::from_millis(20)));
    cancel::enter(&token).unwrap();
    let result = call();
    cancel::leave(&token).unwrap();
    assert_eq!(result.err().map(|error| error.kind()), Some(ErrorKind::Cancelled), "{what}");
}

#[test]
fn kernels_of_one_thread_end_at_a_deadline() {
    let (long, generator) = (expanded(1.0, 1 << 31), Generator::new(0));
    let generator = Some(&generator);
    is_cancelled("dot", || ops::dot(&long, &long));
    is_cancelled("equal", || ops::equal(&long, &long));
    is_cancelled("poisson", || ops::poisson(&expanded(50.0, 20_000_000), generator));
    is_cancelled("_standard_gamma", || ops::_standard_gamma(&expanded(0.5, 20_000_000), generator));
    is_cancelled("multinomial", || ops::multinomial(&expanded(1.0, 1_000_000), 5_000_000, true, generator));
    let nothing = ops::expand(&ops::logical_not(&expanded(1.0, 1)).unwrap(), &[1 << 31], false).unwrap();
    is_cancelled("nonzero", || ops::nonzero(&nothing));
}
