//! Layers and modules.
//!
//! A [`Module`] is a struct of parameters, buffers and other modules. The macro [`module!`](crate::module) implements it for a
//! struct of modules:
//!
//! ```
//! use rushlight::nn::{Linear, Module};
//! use rushlight::{Result, Tensor, module};
//!
//! struct Net {
//!     hidden: Linear,
//!     output: Linear,
//! }
//!
//! module!(Net { hidden, output });
//!
//! impl Net {
//!     fn new() -> Result<Net> {
//!         Ok(Net { hidden: Linear::new(4, 8)?, output: Linear::new(8, 2)? })
//!     }
//!
//!     fn forward(&self, x: &Tensor) -> Result<Tensor> {
//!         self.output.forward(&self.hidden.forward(x)?.relu()?)
//!     }
//! }
//!
//! let net = Net::new()?;
//! let names: Vec<String> = net.named_parameters().into_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["hidden.weight", "hidden.bias", "output.weight", "output.bias"]);
//! assert_eq!(net.forward(&Tensor::zeros([3, 4])?)?.sizes(), [3, 2]);
//! # Ok::<(), rushlight::Error>(())
//! ```
//!
//! Names in state dicts and initial weights are PyTorch's: after the same seed, layers that are created in the same order have
//! the same weights.

mod convolution;
mod layers;
mod norm;
mod recurrent;
mod sequential;

pub use convolution::{Conv1d, Conv2d, Conv3d, ConvOptions};
pub use layers::{Dropout, Embedding, Linear};
pub use norm::{BatchNorm, BatchNormOptions, GroupNorm, LayerNorm};
pub use recurrent::{Gru, Lstm, RecurrentOptions};
pub use sequential::{Forward, Sequential};

use crate::autograd::no_grad;
use crate::state::Incompatible;
use crate::{DType, Device, Result, StateDict, Tensor};
use std::borrow::Borrow;
use std::sync::atomic::{AtomicBool, Ordering};

/// A named part of a module.
pub enum Part<'a> {
    /// A tensor that is trained.
    Parameter(&'a Tensor),
    /// A tensor that is saved, but not trained.
    Buffer(&'a Tensor),
    /// A module inside of it.
    Module(&'a dyn Module),
    /// The mode of the module: true is training.
    Training(&'a AtomicBool),
}

/// A struct of parameters, buffers and modules.
pub trait Module: Send + Sync {
    /// Calls `visit` with each part and its name, in the order of PyTorch.
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>));

    /// The parameters by name, such as `output.weight`.
    fn named_parameters(&self) -> Vec<(String, Tensor)> {
        let mut found = Vec::new();
        walk(self, "", &mut |name, part| {
            if let Part::Parameter(tensor) = part {
                found.push((name, tensor.clone()));
            }
        });
        found
    }

    /// The parameters.
    fn parameters(&self) -> Vec<Tensor> {
        self.named_parameters().into_iter().map(|(_, tensor)| tensor).collect()
    }

    /// The buffers by name.
    fn named_buffers(&self) -> Vec<(String, Tensor)> {
        let mut found = Vec::new();
        walk(self, "", &mut |name, part| {
            if let Part::Buffer(tensor) = part {
                found.push((name, tensor.clone()));
            }
        });
        found
    }

    /// Parameters and buffers by name. The tensors are those of the module.
    fn state_dict(&self) -> StateDict {
        let mut state = StateDict::new();
        walk(self, "", &mut |name, part| {
            if let Part::Parameter(tensor) | Part::Buffer(tensor) = part {
                state.insert(name, tensor);
            }
        });
        state
    }

    /// Copies tensors into the parameters and buffers of their names.
    ///
    /// # Errors
    /// Raises an error that lists all mismatches, and then nothing is written: of shapes, and of names.
    fn load_state_dict(&self, state: &StateDict) -> Result<()> {
        self.load_state_dict_with(state, true).map(drop)
    }

    /// [`load_state_dict`](Module::load_state_dict); without `strict`, names that only one side has are returned.
    ///
    /// # Errors
    /// As [`load_state_dict`](Module::load_state_dict).
    fn load_state_dict_with(&self, state: &StateDict, strict: bool) -> Result<Incompatible> {
        let path = std::any::type_name::<Self>();
        state.copy_into(&self.state_dict(), path.rsplit("::").next().unwrap_or(path), strict)
    }

    /// Sets training mode (true) or evaluation mode, which dropout and batch norm obey. New modules are in training mode.
    fn train(&self, on: bool) {
        walk(self, "", &mut |_, part| {
            if let Part::Training(training) = part {
                training.store(on, Ordering::Relaxed);
            }
        });
    }

    /// Sets evaluation mode.
    fn eval(&self) {
        self.train(false);
    }

    /// Moves parameters and buffers to a device, and converts those with a floating-point dtype. Gradients are removed.
    ///
    /// # Errors
    /// Raises an error if there is no such device or not enough memory; tensors before are moved then.
    fn to(&self, device: Option<Device>, dtype: Option<DType>) -> Result<()> {
        for (_, tensor) in self.named_parameters().into_iter().chain(self.named_buffers()) {
            let dtype = dtype.filter(|_| tensor.dtype().is_floating()).unwrap_or(tensor.dtype());
            let moved = no_grad(|| tensor.on(device.unwrap_or(tensor.device()))?.to(dtype))?;
            if tensor.requires_grad() {
                tensor.set_grad(None)?;
            }
            tensor.set_data(&moved)?;
        }
        Ok(())
    }

    /// Removes the gradients of the parameters.
    ///
    /// # Errors
    /// Never; the result is that of [`Tensor::set_grad`].
    fn zero_grad(&self) -> Result<()> {
        self.parameters().iter().try_for_each(|parameter| parameter.set_grad(None))
    }
}

/// Passes each part to `found` with its full name, those of the modules inside included.
fn walk<'a, M: Module + ?Sized>(module: &'a M, prefix: &str, found: &mut dyn FnMut(String, Part<'a>)) {
    let join = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") };
    module.visit(&mut |name, part| match part {
        Part::Module(child) => walk(child, &join(name), found),
        part => found(join(name), part),
    });
}

/// Implements [`Module`](crate::nn::Module) for a struct whose listed fields are modules: `module!(Net { hidden, output });`. The
/// names of the fields are those in state dicts.
#[macro_export]
macro_rules! module {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::nn::Module for $name {
            fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, $crate::nn::Part<'a>)) {
                $(visit(stringify!($field), $crate::nn::Part::Module(&self.$field));)*
            }
        }
    };
}

/// A parameter sampled uniformly between `-bound` and `bound`.
fn uniform(sizes: &[i64], bound: f64) -> Result<Tensor> {
    let tensor = Tensor::empty(sizes)?;
    tensor.uniform_with_(crate::options::UniformInPlace { from: -bound, to: bound, generator: None })?;
    tensor.requiring_grad()
}

/// The weight of a linear or convolutional layer, as PyTorch initializes it: `kaiming_uniform_` with `a = sqrt(5)`.
fn weight(sizes: &[i64]) -> Result<Tensor> {
    // In this order of operations, so that the weights are PyTorch's to the last bit.
    let gain = (2.0 / (1.0 + 5.0f64.sqrt().powi(2))).sqrt();
    uniform(sizes, 3.0f64.sqrt() * (gain / (fan_in(sizes) as f64).sqrt()))
}

/// The bias of a layer with a weight of these sizes.
fn bias(outputs: i64, weight: &[i64]) -> Result<Tensor> {
    let fan_in = fan_in(weight);
    uniform(&[outputs], if fan_in > 0 { 1.0 / (fan_in as f64).sqrt() } else { 0.0 })
}

/// The number of inputs of each output.
fn fan_in(weight: &[i64]) -> i64 {
    weight.iter().skip(1).product()
}

/// Scales the gradients of parameters so that their joint norm is at most `max_norm`; returns the norm before.
///
/// # Errors
/// Raises an error if gradients are on several devices.
pub fn clip_grad_norm(parameters: &[impl Borrow<Tensor>], max_norm: f64) -> Result<f64> {
    let gradients: Vec<Tensor> = parameters.iter().filter_map(|parameter| parameter.borrow().grad()).collect();
    no_grad(|| {
        let mut sum = 0.0;
        for gradient in &gradients {
            let norm = gradient.norm_scalar()?.item()?.to_f64();
            sum += norm * norm;
        }
        let norm = sum.sqrt();
        let scale = max_norm / (norm + 1e-6);
        if scale < 1.0 {
            for gradient in &gradients {
                gradient.mul_scalar_(scale)?;
            }
        }
        Ok(norm)
    })
}
