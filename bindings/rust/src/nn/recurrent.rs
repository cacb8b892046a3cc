//! LSTM and GRU.

use super::{Module, Part, uniform};
use crate::{Result, Tensor};
use rushlight_base::ensure;
use std::sync::atomic::{AtomicBool, Ordering};

/// The options of a recurrent network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecurrentOptions {
    /// Number of layers, each with the outputs of the one before as inputs.
    pub layers: i64,
    /// Whether there are biases.
    pub bias: bool,
    /// Whether inputs are `[N, length, inputs]` instead of `[length, N, inputs]`.
    pub batch_first: bool,
    /// Dropout between layers, in training mode.
    pub dropout: f64,
    /// Whether a second network runs backwards over the sequence.
    pub bidirectional: bool,
}

impl Default for RecurrentOptions {
    fn default() -> RecurrentOptions {
        RecurrentOptions { layers: 1, bias: true, batch_first: false, dropout: 0.0, bidirectional: false }
    }
}

/// What both kinds share.
#[derive(Debug)]
struct Recurrent {
    /// In the order of the operators: for each layer and direction weights of inputs and states, and their biases.
    weights: Vec<(String, Tensor)>,
    hidden: i64,
    options: RecurrentOptions,
    training: AtomicBool,
}

impl Recurrent {
    fn new(inputs: i64, hidden: i64, gates: i64, options: RecurrentOptions) -> Result<Recurrent> {
        ensure!(options.layers > 0, Value, "num_layers must be greater than zero, got {}", options.layers);
        ensure!(hidden > 0, Value, "hidden_size must be greater than zero, got {hidden}");
        let directions: &[&str] = if options.bidirectional { &["", "_reverse"] } else { &[""] };
        let (bound, rows) = (1.0 / (hidden as f64).sqrt(), gates * hidden);
        let mut weights = Vec::new();
        for layer in 0..options.layers {
            let columns = if layer == 0 { inputs } else { hidden * directions.len() as i64 };
            for direction in directions {
                let mut add = |name: &str, sizes: &[i64]| -> Result<()> {
                    weights.push((format!("{name}_l{layer}{direction}"), uniform(sizes, bound)?));
                    Ok(())
                };
                add("weight_ih", &[rows, columns])?;
                add("weight_hh", &[rows, hidden])?;
                if options.bias {
                    add("bias_ih", &[rows])?;
                    add("bias_hh", &[rows])?;
                }
            }
        }
        Ok(Recurrent { weights, hidden, options, training: AtomicBool::new(true) })
    }

    fn weights(&self) -> Vec<&Tensor> {
        self.weights.iter().map(|(_, weight)| weight).collect()
    }

    /// A state of zeros for the batch of this input.
    fn zeros(&self, input: &Tensor) -> Result<Tensor> {
        ensure!(
            input.ndim() == 3,
            Runtime,
            "the input of a recurrent network needs 3 dimensions but has {}",
            input.ndim()
        );
        let batch = input.size(if self.options.batch_first { 0 } else { 1 })?;
        let states = self.options.layers * if self.options.bidirectional { 2 } else { 1 };
        Tensor::zeros_with([states, batch, self.hidden], input.options())
    }

    fn training(&self) -> bool {
        self.training.load(Ordering::Relaxed)
    }

    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        for (name, weight) in &self.weights {
            visit(name, Part::Parameter(weight));
        }
        visit("training", Part::Training(&self.training));
    }
}

/// A long short-term memory network over sequences.
#[derive(Debug)]
pub struct Lstm(Recurrent);

impl Lstm {
    /// A network with inputs and states of these sizes.
    ///
    /// # Errors
    /// Raises an error if a size is not positive.
    pub fn new(inputs: i64, hidden: i64, options: RecurrentOptions) -> Result<Lstm> {
        Recurrent::new(inputs, hidden, 4, options).map(Lstm)
    }

    /// The outputs of all steps, and the last states `h` and `c`. Without states it begins with zeros.
    ///
    /// # Errors
    /// Raises an error if the sizes do not fit.
    pub fn forward(&self, input: &Tensor, states: Option<(&Tensor, &Tensor)>) -> Result<(Tensor, Tensor, Tensor)> {
        let (h, c) = match states {
            Some((h, c)) => (h.clone(), c.clone()),
            None => (self.0.zeros(input)?, self.0.zeros(input)?),
        };
        let RecurrentOptions { layers, bias, batch_first, dropout, bidirectional } = self.0.options;
        let (weights, training) = (self.0.weights(), self.0.training());
        input.lstm(&[&h, &c], &weights, bias, layers, dropout, training, bidirectional, batch_first)
    }
}

/// A network of gated recurrent units over sequences.
#[derive(Debug)]
pub struct Gru(Recurrent);

impl Gru {
    /// A network with inputs and states of these sizes.
    ///
    /// # Errors
    /// Raises an error if a size is not positive.
    pub fn new(inputs: i64, hidden: i64, options: RecurrentOptions) -> Result<Gru> {
        Recurrent::new(inputs, hidden, 3, options).map(Gru)
    }

    /// The outputs of all steps, and the last state. Without a state it begins with zeros.
    ///
    /// # Errors
    /// Raises an error if the sizes do not fit.
    pub fn forward(&self, input: &Tensor, state: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
        let state = state.map_or_else(|| self.0.zeros(input), |state| Ok(state.clone()))?;
        let RecurrentOptions { layers, bias, batch_first, dropout, bidirectional } = self.0.options;
        let (weights, training) = (self.0.weights(), self.0.training());
        input.gru(&state, &weights, bias, layers, dropout, training, bidirectional, batch_first)
    }
}

impl Module for Lstm {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        self.0.visit(visit);
    }
}

impl Module for Gru {
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(&str, Part<'a>)) {
        self.0.visit(visit);
    }
}
