//! PyTorch's CPU random numbers: the same seed generates the same numbers, bit for bit.
//!
//! `mt19937` is the engine, [`Generator`] adds the cached normal sample and the byte layout of `torch.get_rng_state()`,
//! `uniform`, `normal`, `integers`, `discrete` and `rejection` turn its words into samples as ATen's distributions do.
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
mod uniform;

pub use discrete::{Bernoulli, Geometric};
pub use generator::Generator;
pub use integers::{RandomInteger, randperm};
pub use normal::{BlockNormal, LogNormal, Normal, fill_normal};
pub use rejection::{binomial, poisson, standard_gamma};
pub use uniform::{Cauchy, Exponential, Real, Uniform};
