//! Linear layers, embeddings, dropout.

use super::{Forward, Module, Part, bias, weight};
use crate::{Result, Tensor, options};
use rushlight_base::ensure;
use std::sync::atomic::{AtomicBool, Ordering};

/// `x W^T + b`
#[derive(Debug)]
pub struct Linear {
    /// `[outputs, inputs]`
    pub weight: Tensor,
    /// `[outputs]`
    pub bias: Option<Tensor>,
}

impl Linear {
    /// A layer with a bias.
    ///
    /// # Errors
    /// Raises an error if a size is negative.
    pub fn new(inputs: i64, outputs: i64) -> Result<Linear> {
        let sizes = [outputs, inputs];
        Ok(Linear { weight: weight(&sizes)?, bias: Some(bias(outputs, &sizes)?) })
    }

    /// A layer without a bias.
    ///
    /// # Errors
    /// Raises an error if a size is negative.
    pub fn without_bias(inputs: i64, outputs: i64) -> Result<Linear> {
        Ok(Linear { weight: weight(&[outputs, inputs])?, bias: None })
    }

    /// The result for inputs `[..., inputs]`.
    ///
    /// # Errors
    /// Raises an error if the sizes do not fit.
    pub fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.linear_with(&self.weight, self.bias.as_ref())
    }
}

impl Module for Linear {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        visit("weight", Part::Parameter(&self.weight));
        if let Some(bias) = &self.bias {
            visit("bias", Part::Parameter(bias));
        }
    }
}

/// A table of vectors, one for each index.
#[derive(Debug)]
pub struct Embedding {
    /// `[count, size]`
    pub weight: Tensor,
    padding: i64,
}

impl Embedding {
    /// A table of `count` vectors of this size.
    ///
    /// # Errors
    /// Raises an error if a size is negative.
    pub fn new(count: i64, size: i64) -> Result<Embedding> {
        let weight = Tensor::empty([count, size])?;
        weight.normal_()?;
        Ok(Embedding { weight: weight.requiring_grad()?, padding: -1 })
    }

    /// A table whose vector at `padding` is zero, and stays so: it has no gradient.
    ///
    /// # Errors
    /// Raises an error if a size is negative, or if there is no such index.
    pub fn with_padding(count: i64, size: i64, padding: i64) -> Result<Embedding> {
        ensure!(
            (-count..count).contains(&padding),
            Value,
            "padding_idx {padding} must be within num_embeddings {count}"
        );
        let padding = if padding < 0 { padding + count } else { padding };
        let table = Embedding { padding, ..Embedding::new(count, size)? };
        crate::autograd::no_grad(|| table.weight.select(0, padding)?.zero_().map(drop))?;
        Ok(table)
    }

    /// The vectors of the indices: `[...]` to `[..., size]`.
    ///
    /// # Errors
    /// Raises an error if an index is out of range.
    pub fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        let options = options::Embedding { padding_idx: self.padding, ..Default::default() };
        self.weight.embedding_with(indices, options)
    }
}

impl Module for Embedding {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        visit("weight", Part::Parameter(&self.weight));
    }
}

/// In training mode, sets elements to zero with this probability, and scales the others.
#[derive(Debug)]
pub struct Dropout {
    probability: f64,
    training: AtomicBool,
}

impl Dropout {
    /// Dropout with this probability.
    pub fn new(probability: f64) -> Dropout {
        Dropout { probability, training: AtomicBool::new(true) }
    }

    /// The result.
    ///
    /// # Errors
    /// Raises an error if the probability is not between 0 and 1.
    pub fn forward(&self, input: &Tensor) -> Result<Tensor> {
        input.dropout(self.probability, self.training.load(Ordering::Relaxed))
    }
}

impl Module for Dropout {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        visit("training", Part::Training(&self.training));
    }
}

super::sequential::forwards!(Linear, Embedding, Dropout);
