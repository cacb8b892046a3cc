//! Normalization layers.

use super::{Forward, Module, Part};
use crate::autograd::no_grad;
use crate::lists::IntList;
use crate::{DType, Result, Tensor, options};
use std::sync::atomic::{AtomicBool, Ordering};

/// The options of a [`BatchNorm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchNormOptions {
    /// Added to the variance.
    pub eps: f64,
    /// The weight of a new batch in the running statistics; `None`: their mean over all batches.
    pub momentum: Option<f64>,
    /// Whether there are a weight and a bias.
    pub affine: bool,
}

impl Default for BatchNormOptions {
    fn default() -> BatchNormOptions {
        BatchNormOptions { eps: 1e-5, momentum: Some(0.1), affine: true }
    }
}

/// Normalizes each channel over the batch, for any number of dimensions: `[N, channels, ...]`. In training mode by the
/// statistics of the batch, which it accumulates, in evaluation mode by those that were accumulated.
#[derive(Debug)]
pub struct BatchNorm {
    /// `[channels]`
    pub weight: Option<Tensor>,
    /// `[channels]`
    pub bias: Option<Tensor>,
    /// `[channels]`
    pub running_mean: Tensor,
    /// `[channels]`
    pub running_var: Tensor,
    /// The number of batches.
    pub num_batches_tracked: Tensor,
    options: BatchNormOptions,
    training: AtomicBool,
}

impl BatchNorm {
    /// A layer for this number of channels.
    ///
    /// # Errors
    /// Raises an error if the number is negative.
    pub fn new(channels: i64) -> Result<BatchNorm> {
        BatchNorm::with(channels, BatchNormOptions::default())
    }

    /// A layer with options.
    ///
    /// # Errors
    /// Raises an error if the number of channels is negative.
    pub fn with(channels: i64, options: BatchNormOptions) -> Result<BatchNorm> {
        let affine = options.affine;
        Ok(BatchNorm {
            weight: if affine { Some(Tensor::ones(channels)?.requiring_grad()?) } else { None },
            bias: if affine { Some(Tensor::zeros(channels)?.requiring_grad()?) } else { None },
            running_mean: Tensor::zeros(channels)?,
            running_var: Tensor::ones(channels)?,
            num_batches_tracked: Tensor::zeros_with([], DType::I64)?,
            options,
            training: AtomicBool::new(true),
        })
    }

    /// The result.
    ///
    /// # Errors
    /// Raises an error if the sizes do not fit, or if there is only one value per channel in training mode.
    pub fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let training = self.training.load(Ordering::Relaxed);
        let mut momentum = self.options.momentum.unwrap_or(0.0);
        if training {
            no_grad(|| self.num_batches_tracked.add_scalar_(1).map(drop))?;
            if self.options.momentum.is_none() {
                momentum = 1.0 / self.num_batches_tracked.item()?.to_f64();
            }
        }
        input.batch_norm(
            self.weight.as_ref(),
            self.bias.as_ref(),
            Some(&self.running_mean),
            Some(&self.running_var),
            training,
            momentum,
            self.options.eps,
            true,
        )
    }
}

impl Module for BatchNorm {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        visit_affine(&self.weight, &self.bias, visit);
        visit("running_mean", Part::Buffer(&self.running_mean));
        visit("running_var", Part::Buffer(&self.running_var));
        visit("num_batches_tracked", Part::Buffer(&self.num_batches_tracked));
        visit("training", Part::Training(&self.training));
    }
}

fn visit_affine<'a>(weight: &'a Option<Tensor>, bias: &'a Option<Tensor>, visit: &mut dyn FnMut(&str, Part<'a>)) {
    if let Some(weight) = weight {
        visit("weight", Part::Parameter(weight));
    }
    if let Some(bias) = bias {
        visit("bias", Part::Parameter(bias));
    }
}

/// Normalizes the last dimensions.
#[derive(Debug)]
pub struct LayerNorm {
    /// The normalized sizes
    pub weight: Option<Tensor>,
    /// The normalized sizes
    pub bias: Option<Tensor>,
    sizes: Vec<i64>,
    eps: f64,
}

impl LayerNorm {
    /// A layer that normalizes dimensions of these sizes.
    ///
    /// # Errors
    /// Raises an error if a size is negative.
    pub fn new(sizes: impl IntList) -> Result<LayerNorm> {
        let sizes = sizes.as_ints().to_vec();
        let (weight, bias) = (Tensor::ones(&sizes)?.requiring_grad()?, Tensor::zeros(&sizes)?.requiring_grad()?);
        Ok(LayerNorm { weight: Some(weight), bias: Some(bias), sizes, eps: 1e-5 })
    }

    /// The same layer with another number that is added to the variance.
    #[must_use]
    pub fn with_eps(self, eps: f64) -> LayerNorm {
        LayerNorm { eps, ..self }
    }

    /// The result.
    ///
    /// # Errors
    /// Raises an error if the sizes do not fit.
    pub fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (self.weight.as_ref(), self.bias.as_ref());
        input.layer_norm_with(&self.sizes, options::LayerNorm { weight, bias, eps: self.eps, ..Default::default() })
    }
}

impl Module for LayerNorm {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        visit_affine(&self.weight, &self.bias, visit);
    }
}

/// Normalizes groups of channels of each element of the batch.
#[derive(Debug)]
pub struct GroupNorm {
    /// `[channels]`
    pub weight: Option<Tensor>,
    /// `[channels]`
    pub bias: Option<Tensor>,
    groups: i64,
    eps: f64,
}

impl GroupNorm {
    /// A layer for this number of groups and channels.
    ///
    /// # Errors
    /// Raises an error if the number of channels is negative.
    pub fn new(groups: i64, channels: i64) -> Result<GroupNorm> {
        let (weight, bias) = (Tensor::ones(channels)?.requiring_grad()?, Tensor::zeros(channels)?.requiring_grad()?);
        Ok(GroupNorm { weight: Some(weight), bias: Some(bias), groups, eps: 1e-5 })
    }

    /// The result.
    ///
    /// # Errors
    /// Raises an error if the channels cannot be split into the groups.
    pub fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (self.weight.as_ref(), self.bias.as_ref());
        input.group_norm_with(self.groups, options::GroupNorm { weight, bias, eps: self.eps, ..Default::default() })
    }
}

impl Module for GroupNorm {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        visit_affine(&self.weight, &self.bias, visit);
    }
}

super::sequential::forwards!(BatchNorm, LayerNorm, GroupNorm);
