//! The layers that run in one call against their cells, step by step: results, gradients, second derivatives.
#![cfg(feature = "op-recurrent")]

use rushlight_base::Result;
use rushlight_tensor::autograd::{self, GradcheckOptions, gradcheck, gradgradcheck};
use rushlight_tensor::{Tensor, ops};

const INPUT: i64 = 2;
const HIDDEN: i64 = 5;
/// Three sequences of four, three and two steps.
const BATCH_SIZES: [i64; 4] = [3, 3, 2, 1];

fn numbers(sizes: &[i64], seed: i64) -> Tensor {
    let count: i64 = sizes.iter().product();
    let values: Vec<f64> = (0..count).map(|i| ((i + seed) * 7919 % 211) as f64 / 100.0 - 1.0).collect();
    let tensor = Tensor::from_slice(&values, sizes).unwrap();
    tensor.set_requires_grad(true).unwrap();
    tensor
}

/// Data, initial states, then the weights (and biases) of each direction.
fn inputs(gates: i64, states: usize, directions: i64, biases: bool) -> Vec<Tensor> {
    let rows = BATCH_SIZES.iter().sum();
    let mut all = vec![numbers(&[rows, INPUT], 1)];
    all.extend((0..states).map(|nth| numbers(&[directions, BATCH_SIZES[0], HIDDEN], 40 + nth as i64)));
    for direction in 0..directions {
        let seed = 90 * (direction + 1);
        all.push(numbers(&[gates * HIDDEN, INPUT], seed));
        all.push(numbers(&[gates * HIDDEN, HIDDEN], seed + 11));
        if biases {
            all.extend([numbers(&[gates * HIDDEN], seed + 23), numbers(&[gates * HIDDEN], seed + 37)]);
        }
    }
    all
}

fn rows(tensor: &Tensor, first: i64, count: i64) -> Result<Tensor> {
    ops::narrow(tensor, 0, first, count)
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Lstm,
    Gru,
}

impl Kind {
    fn states(self) -> usize {
        match self {
            Kind::Lstm => 2,
            Kind::Gru => 1,
        }
    }

    fn inputs(self, directions: i64, biases: bool) -> Vec<Tensor> {
        let gates = if matches!(self, Kind::Lstm) { 4 } else { 3 };
        inputs(gates, self.states(), directions, biases)
    }

    /// The outputs and last states over a packed sequence.
    fn layer(self, inputs: &[Tensor], directions: i64, biases: bool) -> Result<Vec<Tensor>> {
        let sizes = Tensor::from_slice(&BATCH_SIZES, &[4])?;
        let params: Vec<&Tensor> = inputs[1 + self.states()..].iter().collect();
        let both = directions == 2;
        match self {
            Kind::Lstm => {
                let states = [&inputs[1], &inputs[2]];
                let (out, h, c) = ops::lstm_data(&inputs[0], &sizes, &states, &params, biases, 1, 0.0, true, both)?;
                Ok(vec![out, h, c])
            }
            Kind::Gru => {
                let (out, h) = ops::gru_data(&inputs[0], &sizes, &inputs[1], &params, biases, 1, 0.0, true, both)?;
                Ok(vec![out, h])
            }
        }
    }

    /// One step of one sequence.
    fn cell(self, x: &Tensor, states: &[Tensor], part: &[Tensor]) -> Result<Vec<Tensor>> {
        let (w_ih, w_hh, b_ih, b_hh) = (&part[0], &part[1], part.get(2), part.get(3));
        match self {
            Kind::Lstm => {
                let (h, c) = ops::lstm_cell(x, &[&states[0], &states[1]], w_ih, w_hh, b_ih, b_hh)?;
                Ok(vec![h, c])
            }
            Kind::Gru => Ok(vec![ops::gru_cell(x, &states[0], w_ih, w_hh, b_ih, b_hh)?]),
        }
    }

    /// What [`Kind::layer`] returns, from cells, one sequence after another.
    fn by_cells(self, inputs: &[Tensor], directions: i64, biases: bool) -> Result<Vec<Tensor>> {
        let (firsts, each) = ([0, 3, 6, 8], if biases { 4 } else { 2 });
        let (mut outputs, mut last) = (Vec::new(), vec![Vec::new(); self.states()]);
        for direction in 0..directions {
            let part = &inputs[1 + self.states() + direction as usize * each..][..each];
            let mut places: Vec<Option<Tensor>> = vec![None; inputs[0].sizes()[0] as usize];
            for sequence in 0..BATCH_SIZES[0] {
                let mut steps: Vec<usize> = (0..4).filter(|&step| BATCH_SIZES[step] > sequence).collect();
                if direction == 1 {
                    steps.reverse();
                }
                let initial = |state: &Tensor| rows(&ops::select_int(state, 0, direction)?, sequence, 1);
                let mut states: Vec<Tensor> =
                    inputs[1..1 + self.states()].iter().map(initial).collect::<Result<_>>()?;
                for step in steps {
                    let row = firsts[step] + sequence;
                    states = self.cell(&rows(&inputs[0], row, 1)?, &states, part)?;
                    places[row as usize] = Some(states[0].clone());
                }
                for (all, state) in last.iter_mut().zip(states) {
                    all.push(state);
                }
            }
            let places: Vec<Tensor> = places.into_iter().flatten().collect();
            outputs.push(ops::cat(&places.iter().collect::<Vec<_>>(), 0)?);
        }
        let mut results = vec![ops::cat(&outputs.iter().collect::<Vec<_>>(), 1)?];
        for states in last {
            let all = ops::cat(&states.iter().collect::<Vec<_>>(), 0)?;
            results.push(ops::reshape(&all, &[directions, BATCH_SIZES[0], HIDDEN])?);
        }
        Ok(results)
    }
}

/// The gradients of a weighted sum of all results.
fn gradients(results: &[Tensor], inputs: &[Tensor]) -> Vec<Tensor> {
    let weights: Vec<Tensor> = results.iter().map(|result| numbers(&result.sizes(), 5)).collect();
    let (outputs, inputs): (Vec<&Tensor>, Vec<&Tensor>) = (results.iter().collect(), inputs.iter().collect());
    let weights: Vec<Option<&Tensor>> = weights.iter().map(Some).collect();
    let found = autograd::grad(&outputs, &inputs, &weights, false, false, false).unwrap();
    found.into_iter().flatten().collect()
}

fn assert_close(found: &[Tensor], expected: &[Tensor]) {
    assert_eq!(found.len(), expected.len());
    for (nth, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found.sizes(), expected.sizes());
        let values = |tensor: &Tensor| {
            ops::contiguous(tensor, rushlight_base::MemoryFormat::Contiguous).unwrap().to_vec::<f64>().unwrap()
        };
        for (found, expected) in values(found).into_iter().zip(values(expected)) {
            assert!((found - expected).abs() < 1e-12, "{nth}: {found} for {expected}");
        }
    }
}

#[test]
fn layers_agree_with_their_cells() {
    for kind in [Kind::Lstm, Kind::Gru] {
        for (directions, biases) in [(1, false), (1, true), (2, false), (2, true)] {
            let inputs = kind.inputs(directions, biases);
            let found = kind.layer(&inputs, directions, biases).unwrap();
            let expected = kind.by_cells(&inputs, directions, biases).unwrap();
            assert_close(&found, &expected);
            assert_close(&gradients(&found, &inputs), &gradients(&expected, &inputs));
            let _guard = autograd::GradModeGuard::new(false);
            assert_close(&kind.layer(&inputs, directions, biases).unwrap(), &expected);
        }
    }
}

#[test]
fn gradients_can_be_differentiated_again() {
    for kind in [Kind::Lstm, Kind::Gru] {
        let inputs = kind.inputs(2, true);
        let options = GradcheckOptions { fast_mode: true, ..GradcheckOptions::default() };
        let function = |inputs: &[Tensor]| kind.layer(inputs, 2, true);
        assert_eq!(gradcheck(&function, &inputs, &options).unwrap(), None);
        assert_eq!(gradgradcheck(&function, &inputs, &[], &options).unwrap(), None);
    }
}

/// Only the gradients that are asked for are computed, and the others are missing.
#[test]
fn parameters_that_need_no_gradient_get_none() {
    let kind = Kind::Lstm;
    let inputs = kind.inputs(1, true);
    inputs[4].set_requires_grad(false).unwrap();
    let out = kind.layer(&inputs, 1, true).unwrap().swap_remove(0);
    let ones = ops::ones_like(&out, Default::default(), None).unwrap();
    autograd::backward(&[&out], &[Some(&ones)], false, false, &[]).unwrap();
    for (nth, input) in inputs.iter().enumerate() {
        assert_eq!(input.grad().is_some(), nth != 4, "input {nth}");
    }
}
