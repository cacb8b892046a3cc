//! Modules one after the other.

use super::{Module, Part};
use crate::{Result, Tensor};

/// A module that computes one tensor from one.
pub trait Forward: Module {
    /// The result.
    ///
    /// # Errors
    /// Raises an error if the sizes or the dtype do not fit.
    fn forward(&self, input: &Tensor) -> Result<Tensor>;
}

/// Implements [`Forward`] by the methods `forward` of layers.
macro_rules! forwards {
    ($($name:ident),*) => {$(
        impl Forward for $name {
            fn forward(&self, input: &Tensor) -> Result<Tensor> {
                $name::forward(self, input)
            }
        }
    )*};
}

pub(super) use forwards;

/// Modules and functions one after the other. Their names in a state dict are their positions.
///
/// ```
/// use rushlight::Tensor;
/// use rushlight::nn::{Forward, Linear, Module, Sequential};
///
/// let net = Sequential::new().with(Linear::new(4, 8)?).with_fn(Tensor::relu).with(Linear::new(8, 2)?);
/// assert_eq!(net.forward(&Tensor::zeros([3, 4])?)?.sizes(), [3, 2]);
/// assert_eq!(net.named_parameters()[2].0, "2.weight");
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Default)]
pub struct Sequential(Vec<Box<dyn Forward>>);

impl Sequential {
    /// No modules.
    pub fn new() -> Sequential {
        Sequential::default()
    }

    /// The modules, and one more.
    #[must_use]
    pub fn with(mut self, module: impl Forward + 'static) -> Sequential {
        self.0.push(Box::new(module));
        self
    }

    /// The modules, and a function, such as an activation.
    #[must_use]
    pub fn with_fn(self, function: impl Fn(&Tensor) -> Result<Tensor> + Send + Sync + 'static) -> Sequential {
        self.with(Call(function))
    }

    /// The number of modules and functions.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Module for Sequential {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        for (index, module) in self.0.iter().enumerate() {
            visit(&index.to_string(), Part::Module(&**module));
        }
    }
}

impl Forward for Sequential {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.0.iter().try_fold(input.clone(), |value, module| module.forward(&value))
    }
}

/// A function as a module without parts.
struct Call<F>(F);

impl<F: Send + Sync> Module for Call<F> {
    fn visit<'a>(&'a self, _: &mut dyn FnMut(&str, Part<'a>)) {}
}

impl<F: Fn(&Tensor) -> Result<Tensor> + Send + Sync> Forward for Call<F> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.0(input)
    }
}
