//! Gated recurrent units. The three gates are those of reset, update and the new state.

use super::{Steps, check, each_sequence, rows_of, turned};
use crate::array::Array;
use crate::gemm::{Epilogue, PackedB, gemm_packed};
use crate::math::{sigmoid, tanh};
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Simd, run};
use rushlight_base::{Element, Result, Scalar, ensure};

/// Arrays of [`forward`]. All but the bias are contiguous, and all have one dtype; `rows` is the sum of the sizes of all
/// steps.
#[derive(Debug)]
pub struct Layer<'a> {
    /// (rows, 3 hidden). Before: the products with the input, its bias included. Afterwards, with `kept`: the activated
    /// gates.
    pub gates: Array<'a>,
    /// (rows, hidden)
    pub output: Array<'a>,
    /// (batch, hidden). Before: the initial states. Afterwards: the last ones.
    pub state: Array<'a>,
    /// (rows, hidden): the products of the last gate with the state, its bias included, and the states that each step
    /// began with. The gradient needs them.
    pub kept: Option<[Array<'a>; 2]>,
    /// (3 hidden, hidden)
    pub weight: Array<'a>,
    /// The bias of the products with the state, broadcast to (batch, 3 hidden).
    pub bias: Option<Array<'a>>,
    /// (batch, 3 hidden): working memory.
    pub products: Array<'a>,
}

/// Runs all steps.
pub fn forward(layer: &Layer, steps: Steps) -> Result<()> {
    dispatch!(layer.gates.dtype(), "gru", half float, T => forward_of::<T>(layer, steps))
}

/// Arrays of [`backward`], as those of [`Layer`].
#[derive(Debug)]
pub struct Gradient<'a> {
    /// (rows, 3 hidden): the results, the gradients by the products with the input and with the state.
    pub sums: [Array<'a>; 2],
    /// (batch, hidden). Before: the gradient by the last states. Afterwards: that by the initial ones.
    pub state: Array<'a>,
    /// (rows, hidden): the gradient by the output.
    pub output: Array<'a>,
    /// (rows, 3 hidden): the activated gates.
    pub gates: Array<'a>,
    /// (rows, hidden), as in [`Layer::kept`].
    pub kept: [Array<'a>; 2],
    /// (3 hidden, hidden)
    pub weight: Array<'a>,
}

/// The gradient of [`forward`].
pub fn backward(gradient: &Gradient, steps: Steps) -> Result<()> {
    dispatch!(gradient.gates.dtype(), "gru_backward", half float, T => backward_of::<T>(gradient, steps))
}

fn forward_of<T: Float + Element>(layer: &Layer, steps: Steps) -> Result<()> {
    let mut by_rows = vec![&layer.output];
    by_rows.extend(layer.kept.iter().flatten());
    let hidden = check(3, &[&layer.gates], &by_rows, &[&layer.state], &layer.weight, steps)?;
    let most = steps.sizes.iter().max().copied().unwrap_or(0);
    ensure!(
        layer.products.sizes() == [most, 3 * hidden as i64] && layer.products.is_contiguous(),
        Internal,
        "gru got working memory of another shape"
    );
    let (mut sizes, mut strides) = ([0; 2], [0; 2]);
    let weight = PackedB::new(&turned(&layer.weight, &mut sizes, &mut strides))?;
    let address = |array: &Array| Shared::new(array.as_ptr::<T>());
    let (gates, output, state) = (address(&layer.gates), address(&layer.output), address(&layer.state));
    let (products, kept) = (address(&layer.products), layer.kept.as_ref().map(|kept| kept.each_ref().map(address)));
    steps.each(false, |first, size| {
        let (of_gates, of_state) = ([size as i64, 3 * hidden as i64], [size as i64, hidden as i64]);
        let bias = layer.bias.as_ref().map(|bias| {
            // SAFETY: the first rows of the bias.
            unsafe { Array::new(bias.first_byte(), bias.dtype(), &of_gates, bias.strides()) }
        });
        let add = bias.as_ref().map(|bias| (bias, Scalar::Int(1)));
        let (to, from) = (rows_of(&layer.products, 0, &of_gates), rows_of(&layer.state, 0, &of_state));
        gemm_packed(&to, &from, &weight, &Epilogue { add, ..Epilogue::default() })?;
        each_sequence(size, hidden, |nth| {
            let row = (first + nth) * hidden;
            run(Cell {
                gates: gates.get().wrapping_add(3 * row),
                products: products.get().wrapping_add(3 * nth * hidden),
                output: output.get().wrapping_add(row),
                state: state.get().wrapping_add(nth * hidden),
                kept: kept.map(|kept| kept.map(|kept| kept.get().wrapping_add(row))),
                hidden,
            });
        })
    })
}

/// One step of one sequence: see [`Layer`].
struct Cell<T> {
    gates: *mut T,
    products: *const T,
    output: *mut T,
    state: *mut T,
    kept: Option<[*mut T; 2]>,
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
            // SAFETY: the row has `hidden` elements of the state and the output, and of each gate.
            unsafe {
                let gate = |nth: usize| self.gates.add(nth * hidden + at);
                let product = |nth: usize| self.products.add(nth * hidden + at);
                let r = sigmoid(T::load_some::<S>(gate(0), count) + T::load_some::<S>(product(0), count));
                let z = sigmoid(T::load_some::<S>(gate(1), count) + T::load_some::<S>(product(1), count));
                let part = T::load_some::<S>(product(2), count);
                let n = tanh(r.mul_add(part, T::load_some::<S>(gate(2), count)));
                let state = T::load_some::<S>(self.state.add(at), count);
                if let Some([recurrent, before]) = self.kept {
                    T::store_some::<S>(part, recurrent.add(at), count);
                    T::store_some::<S>(state, before.add(at), count);
                    T::store_some::<S>(r, gate(0), count);
                    T::store_some::<S>(z, gate(1), count);
                    T::store_some::<S>(n, gate(2), count);
                }
                let out = (state - n).mul_add(z, n);
                T::store_some::<S>(out, self.state.add(at), count);
                T::store_some::<S>(out, self.output.add(at), count);
            }
            at += width;
        }
    }
}

fn backward_of<T: Float + Element>(of: &Gradient, steps: Steps) -> Result<()> {
    let by_rows = [&of.output, &of.kept[0], &of.kept[1]];
    let hidden = check(3, &[&of.sums[0], &of.sums[1], &of.gates], &by_rows, &[&of.state], &of.weight, steps)?;
    let weight = PackedB::new(&of.weight)?;
    let address = |array: &Array| Shared::new(array.as_ptr::<T>());
    let (sums, kept) = (of.sums.each_ref().map(address), of.kept.each_ref().map(address));
    let (state, output, gates) = (address(&of.state), address(&of.output), address(&of.gates));
    steps.each(true, |first, size| {
        each_sequence(size, hidden, |nth| {
            let row = (first + nth) * hidden;
            run(CellGradient {
                sums: sums.map(|sums| sums.get().wrapping_add(3 * row)),
                state: state.get().wrapping_add(nth * hidden),
                output: output.get().wrapping_add(row),
                gates: gates.get().wrapping_add(3 * row),
                kept: kept.map(|kept| kept.get().wrapping_add(row).cast_const()),
                hidden,
            });
        })?;
        let (of_sums, of_state) = ([size as i64, 3 * hidden as i64], [size as i64, hidden as i64]);
        let (sums, state) = (rows_of(&of.sums[1], first, &of_sums), rows_of(&of.state, 0, &of_state));
        let add = Some((&state, Scalar::Int(1)));
        gemm_packed(&state, &sums, &weight, &Epilogue { add, ..Epilogue::default() })
    })
}

/// The gradient of one step of one sequence: see [`Gradient`]. The state receives the part that does not pass through
/// the products.
struct CellGradient<T> {
    sums: [*mut T; 2],
    state: *mut T,
    output: *const T,
    gates: *const T,
    kept: [*const T; 2],
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
            // SAFETY: the row has `hidden` elements of the state and the output, and of each gate.
            unsafe {
                let gate = |nth: usize| self.gates.add(nth * hidden + at);
                let (r, z) = (T::load_some::<S>(gate(0), count), T::load_some::<S>(gate(1), count));
                let n = T::load_some::<S>(gate(2), count);
                let part = T::load_some::<S>(self.kept[0].add(at), count);
                let before = T::load_some::<S>(self.kept[1].add(at), count);
                let by_out =
                    T::load_some::<S>(self.state.add(at), count) + T::load_some::<S>(self.output.add(at), count);
                T::store_some::<S>(by_out * z, self.state.add(at), count);
                let by_n = by_out * (one - z) * (one - n * n);
                let by_r = by_n * part * (r * (one - r));
                let by_z = by_out * (before - n) * (z * (one - z));
                let [of_input, of_state] = self.sums;
                for sums in [of_input, of_state] {
                    T::store_some::<S>(by_r, sums.add(at), count);
                    T::store_some::<S>(by_z, sums.add(hidden + at), count);
                }
                T::store_some::<S>(by_n, of_input.add(2 * hidden + at), count);
                T::store_some::<S>(by_n * r, of_state.add(2 * hidden + at), count);
            }
            at += width;
        }
    }
}
