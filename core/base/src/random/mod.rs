//! PyTorch's CPU random numbers: the same seed generates the same numbers, bit for bit.
//!
//! `mt19937` is the engine, [`Generator`] adds the cached normal sample and the byte layout of `torch.get_rng_state()`,
//! `uniform`, `normal`, `integers`, `discrete`, `rejection` and `sampled` turn its words into samples as ATen's distributions do.
//! A distribution is created once per call (its constructor checks the parameters, with PyTorch's messages) and sampled
//! once per element. This module does not depend on tensors: the operators of `rushlight-tensor` iterate over the
//! elements.

mod cephes;
mod discrete;
mod generator;
mod integers;
mod mt19937;
mod normal;
pub mod philox;
mod rejection;
mod sampled;
mod uniform;

pub use discrete::{Bernoulli, Geometric, wrong_probability};
pub use generator::Generator;
pub use integers::{RandomInteger, randperm};
pub use normal::{BlockNormal, LogNormal, Normal, normal_pieces};
pub use sampled::{binomial, poisson, standard_gamma, wrong_rate};
pub use uniform::{Cauchy, Exponential, Real, Uniform};

/// Runs `work`, which is inlined, with the fused multiply-add as an instruction: without it each one is a call.
#[inline(always)]
fn with_fused_multiply_add(work: impl FnOnce()) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn fused(work: impl FnOnce()) {
            work();
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the check above found both instruction sets, which is all that the function requires.
            return unsafe { fused(work) };
        }
    }
    work();
}
