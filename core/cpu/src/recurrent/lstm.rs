//! Long short-term memory. The four gates are those of input, forgetting, cell and output.

use super::{Steps, check, each_sequence, rows_of, turned};
use crate::array::Array;
use crate::gemm::{Epilogue, PackedB, gemm_packed};
use crate::math::{sigmoid, tanh};
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Simd, run};
use rushlight_base::{Element, Result, Scalar};

/// Arrays of [`forward`]. All are contiguous and have one dtype; `rows` is the sum of the sizes of all steps.
#[derive(Debug)]
pub struct Layer<'a> {
    /// (rows, 4 hidden). Before: the products with the input, biases included. Afterwards: the activated gates.
    pub gates: Array<'a>,
    /// (rows, hidden)
    pub output: Array<'a>,
    /// (batch, hidden), the hidden and the cell states. Before: the initial ones. Afterwards: the last ones.
    pub states: [Array<'a>; 2],
    /// (rows, hidden), the states that each step began with. The gradient needs them.
    pub before: Option<[Array<'a>; 2]>,
    /// (4 hidden, hidden)
    pub weight: Array<'a>,
}

/// Runs all steps.
pub fn forward(layer: &Layer, steps: Steps) -> Result<()> {
    dispatch!(layer.gates.dtype(), "lstm", half float, T => forward_of::<T>(layer, steps))
}

/// Arrays of [`backward`], as those of [`Layer`].
#[derive(Debug)]
pub struct Gradient<'a> {
    /// (rows, 4 hidden): the result, the gradient by the sums that were activated.
    pub sums: Array<'a>,
    /// (batch, hidden), for the hidden and the cell states. Before: the gradients by the last ones. Afterwards: those by
    /// the initial ones.
    pub states: [Array<'a>; 2],
    /// (rows, hidden): the gradient by the output.
    pub output: Array<'a>,
    /// (rows, 4 hidden): the activated gates.
    pub gates: Array<'a>,
    /// (rows, hidden): the cell states that each step began with.
    pub before: Array<'a>,
    /// (4 hidden, hidden)
    pub weight: Array<'a>,
}

/// The gradient of [`forward`].
pub fn backward(gradient: &Gradient, steps: Steps) -> Result<()> {
    dispatch!(gradient.gates.dtype(), "lstm_backward", half float, T => backward_of::<T>(gradient, steps))
}

fn forward_of<T: Float + Element>(layer: &Layer, steps: Steps) -> Result<()> {
    let mut by_rows = vec![&layer.output];
    by_rows.extend(layer.before.iter().flatten());
    let hidden = check(4, &[&layer.gates], &by_rows, &layer.states.each_ref(), &layer.weight, steps)?;
    let (mut sizes, mut strides) = ([0; 2], [0; 2]);
    let weight = PackedB::new(&turned(&layer.weight, &mut sizes, &mut strides))?;
    let address = |array: &Array| Shared::new(array.as_ptr::<T>());
    let (gates, output, states) = (address(&layer.gates), address(&layer.output), layer.states.each_ref().map(address));
    let before = layer.before.as_ref().map(|before| before.each_ref().map(address));
    steps.each(false, |first, size| {
        let (of_gates, of_state) = ([size as i64, 4 * hidden as i64], [size as i64, hidden as i64]);
        let sums = rows_of(&layer.gates, first, &of_gates);
        let add = Some((&sums, Scalar::Int(1)));
        gemm_packed(
            &sums,
            &rows_of(&layer.states[0], 0, &of_state),
            &weight,
            &Epilogue { add, ..Epilogue::default() },
        )?;
        each_sequence(size, hidden, |nth| {
            let row = (first + nth) * hidden;
            run(Cell {
                gates: gates.get().wrapping_add(4 * row),
                output: output.get().wrapping_add(row),
                states: states.map(|state| state.get().wrapping_add(nth * hidden)),
                before: before.map(|before| before.map(|state| state.get().wrapping_add(row))),
                hidden,
            });
        })
    })
}

/// One step of one sequence: see [`Layer`].
struct Cell<T> {
    gates: *mut T,
    output: *mut T,
    states: [*mut T; 2],
    before: Option<[*mut T; 2]>,
    hidden: usize,
}

impl<T: Float> Kernel for Cell<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (width, hidden) = (T::Vector::<S>::LANES, self.hidden);
        let mut at = 0;
        while at < hidden {
            let count = width.min(hidden - at);
            // SAFETY: the row has `hidden` elements of the states and the output, and of each gate.
            unsafe {
                let gate = |nth: usize| self.gates.add(nth * hidden + at);
                let i = sigmoid(T::load_some::<S>(gate(0), count));
                let f = sigmoid(T::load_some::<S>(gate(1), count));
                let g = tanh(T::load_some::<S>(gate(2), count));
                let o = sigmoid(T::load_some::<S>(gate(3), count));
                let cell = T::load_some::<S>(self.states[1].add(at), count);
                if let Some([hidden_before, cell_before]) = self.before {
                    let state = T::load_some::<S>(self.states[0].add(at), count);
                    T::store_some::<S>(state, hidden_before.add(at), count);
                    T::store_some::<S>(cell, cell_before.add(at), count);
                    T::store_some::<S>(i, gate(0), count);
                    T::store_some::<S>(f, gate(1), count);
                    T::store_some::<S>(g, gate(2), count);
                    T::store_some::<S>(o, gate(3), count);
                }
                let cell = f.mul_add(cell, i * g);
                let out = o * tanh(cell);
                T::store_some::<S>(cell, self.states[1].add(at), count);
                T::store_some::<S>(out, self.states[0].add(at), count);
                T::store_some::<S>(out, self.output.add(at), count);
            }
            at += width;
        }
    }
}

fn backward_of<T: Float + Element>(of: &Gradient, steps: Steps) -> Result<()> {
    let by_rows = [&of.before, &of.output];
    let hidden = check(4, &[&of.sums, &of.gates], &by_rows, &of.states.each_ref(), &of.weight, steps)?;
    let weight = PackedB::new(&of.weight)?;
    let address = |array: &Array| Shared::new(array.as_ptr::<T>());
    let (sums, gates, before) = (address(&of.sums), address(&of.gates), address(&of.before));
    let (output, states) = (address(&of.output), of.states.each_ref().map(address));
    steps.each(true, |first, size| {
        each_sequence(size, hidden, |nth| {
            let row = (first + nth) * hidden;
            run(CellGradient {
                sums: sums.get().wrapping_add(4 * row),
                states: states.map(|state| state.get().wrapping_add(nth * hidden)),
                output: output.get().wrapping_add(row),
                gates: gates.get().wrapping_add(4 * row),
                before: before.get().wrapping_add(row),
                hidden,
            });
        })?;
        let (of_sums, of_state) = ([size as i64, 4 * hidden as i64], [size as i64, hidden as i64]);
        let (sums, state) = (rows_of(&of.sums, first, &of_sums), rows_of(&of.states[0], 0, &of_state));
        gemm_packed(&state, &sums, &weight, &Epilogue::default())
    })
}

/// The gradient of one step of one sequence: see [`Gradient`].
struct CellGradient<T> {
    sums: *mut T,
    states: [*mut T; 2],
    output: *const T,
    gates: *const T,
    before: *const T,
    hidden: usize,
}

impl<T: Float> Kernel for CellGradient<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (width, hidden) = (T::Vector::<S>::LANES, self.hidden);
        let one = T::Vector::<S>::from_f64(1.0);
        let mut at = 0;
        while at < hidden {
            let count = width.min(hidden - at);
            // SAFETY: the row has `hidden` elements of the states and the output, and of each gate.
            unsafe {
                let gate = |nth: usize| self.gates.add(nth * hidden + at);
                let (i, f) = (T::load_some::<S>(gate(0), count), T::load_some::<S>(gate(1), count));
                let (g, o) = (T::load_some::<S>(gate(2), count), T::load_some::<S>(gate(3), count));
                let before = T::load_some::<S>(self.before.add(at), count);
                let by_out =
                    T::load_some::<S>(self.states[0].add(at), count) + T::load_some::<S>(self.output.add(at), count);
                let out = tanh(f.mul_add(before, i * g));
                let by_cell = T::load_some::<S>(self.states[1].add(at), count) + by_out * o * (one - out * out);
                T::store_some::<S>(by_cell * f, self.states[1].add(at), count);
                let sum = |nth: usize| self.sums.add(nth * hidden + at);
                T::store_some::<S>(by_cell * g * (i * (one - i)), sum(0), count);
                T::store_some::<S>(by_cell * before * (f * (one - f)), sum(1), count);
                T::store_some::<S>(by_cell * i * (one - g * g), sum(2), count);
                T::store_some::<S>(by_out * out * (o * (one - o)), sum(3), count);
            }
            at += width;
        }
    }
}
