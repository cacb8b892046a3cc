//! Kernels of connectionist temporal classification.

use super::access::{array, copy_into};
use crate::dense::{Dense, Spec};
use rushlight_base::{Result, Scalar};
use rushlight_cpu::ctc::{self, Batch};
use rushlight_cpu::{Loop, fill};
use std::borrow::Cow;

/// out0, out1 = the negative log likelihoods, and the log likelihoods of the alignment states
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ctc_loss(
    out0: &Dense,
    out1: &Dense,
    log_probs: &Dense,
    targets: &Dense,
    input_lengths: &[i64],
    target_lengths: &[i64],
    blank: i64,
    _zero_infinity: bool,
) -> Result<()> {
    let batch = Batch { log_probs: array(log_probs), targets: array(targets), input_lengths, target_lengths, blank };
    ctc::losses(&array(out0), &array(out1), &batch)
}

/// out = the gradient by the log-probabilities
#[allow(clippy::too_many_arguments)] // the operator's
pub fn ctc_loss_backward(
    out: &Dense,
    grad: &Dense,
    log_probs: &Dense,
    targets: &Dense,
    input_lengths: &[i64],
    target_lengths: &[i64],
    neg_log_likelihood: &Dense,
    log_alpha: &Dense,
    blank: i64,
    zero_infinity: bool,
) -> Result<()> {
    fill::fill(&Loop::new([array(out)])?, Scalar::Int(0))?;
    let batch = Batch { log_probs: array(log_probs), targets: array(targets), input_lengths, target_lengths, blank };
    let mut alphas = Cow::Borrowed(log_alpha);
    if !log_alpha.is_contiguous() {
        let copy = Spec::new(log_alpha.sizes(), log_alpha.dtype, log_alpha.device).allocate()?;
        copy_into(&copy, log_alpha)?;
        alphas = Cow::Owned(copy);
    }
    let (losses, alphas) = (array(neg_log_likelihood), array(&alphas));
    ctc::losses_backward(&array(out), &array(grad), &losses, &alphas, &batch, zero_infinity)
}
