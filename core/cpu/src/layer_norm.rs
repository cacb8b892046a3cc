//! Layer normalisation: rows are shifted and scaled to mean 0 and variance 1, then by a weight and a bias per element;
//! and its gradients.
//!
//! A row is the last dimensions of an array from `axis` on, which must have one common step. `rows.rs` has the passes.
//! Means, reciprocal deviations, weights and biases have the wide type of the rows and are contiguous: they are few,
//! and may have either dtype.

use crate::array::Array;
use crate::device;
use crate::number::{Number, Wide};
use crate::reduce::fold::FloatSum;
use crate::rows::{Place, RowOp, Strip, Term, drive, terms};
use crate::shared::Shared;
use crate::simd::{Float, FloatVector, Kernel, Simd};
use rushlight_base::list::filled;
use rushlight_base::plan::Plan;
use rushlight_base::runtime::{chunk_length, parallel_chunks};
use rushlight_base::{Element, Result, ensure};

#[cfg(test)]
use crate::reduce::tests::run;
#[cfg(not(test))]
use crate::simd::run;

/// Rows that are summed in registers before their sum joins the others.
const LEAF_ROWS: usize = 64;
/// Elements of a part of the rows whose sums are computed separately from those of the other parts.
const PART: usize = 1 << 16;
/// Maximum number of parts, which limits the memory of their sums.
const MOST_PARTS: usize = 32;

terms! {
    First(): |at| at.read(1);
    Squares(mean): |at| {
        let away = at.read(1) - mean;
        away * away
    };
    Normal(mean, rstd): |at| (at.read(1) - mean) * rstd;
}

/// The rows of `N` arrays of one shape.
struct Matrix<T, const N: usize> {
    walk: Plan<N>,
    at: [Shared<T>; N],
    steps: [isize; N],
    len: usize,
}

impl<T: Element, const N: usize> Matrix<T, N> {
    fn new(arrays: [&Array; N], axis: usize) -> Result<Matrix<T, N>> {
        let sizes = arrays[0].sizes();
        let rows = Plan::row_major(&sizes[..axis], arrays.map(|array| &array.strides()[..axis]));
        let row = Plan::row_major(&sizes[axis..], arrays.map(|array| &array.strides()[axis..]));
        let (len, steps) = row.inner();
        ensure!(
            arrays.iter().all(|array| array.sizes() == sizes) && (row.outer() == 1 || row.numel() * rows.numel() == 0),
            Internal,
            "layer_norm got arrays of mismatched sizes"
        );
        let at = arrays.map(|array| Shared::new(array.as_ptr::<T>()));
        Ok(Matrix { walk: rows, at, steps, len: if row.numel() == 0 { 0 } else { len } })
    }

    fn rows(&self) -> usize {
        self.walk.numel()
    }

    fn apply(&self, op: impl RowOp<T, N>) -> Result<()>
    where
        T: Float,
    {
        drive(&self.walk, self.at, self.steps, self.len, false, op)
    }
}

/// `count` numbers of the wide type, side by side.
fn numbers<W: Element>(array: &Array, count: usize) -> Result<Shared<W>> {
    ensure!(
        array.dtype() == W::DTYPE && array.is_contiguous() && array.numel() == count,
        Internal,
        "layer_norm got parameters of mismatched sizes"
    );
    Ok(Shared::new(array.as_ptr::<W>()))
}

/// Weight and bias of the elements.
#[derive(Clone, Copy)]
struct Affine<S: Simd, T: Float> {
    mean: T::Vector<S>,
    rstd: T::Vector<S>,
    weight: Shared<T::Wide>,
    bias: Shared<T::Wide>,
}

impl<S: Simd, T: Float, const N: usize, const ALONG: bool> Term<S, T, N, ALONG> for Affine<S, T> {
    #[inline(always)]
    fn of(self, at: Place<'_, S, T, N, ALONG>) -> T::Vector<S> {
        let normal = (at.read(1) - self.mean) * self.rstd;
        normal * at.shared(self.weight) + at.shared(self.bias)
    }
}

struct Forward<T: Float> {
    weight_and_bias: Option<[Shared<T::Wide>; 2]>,
    mean: Shared<T::Wide>,
    rstd: Shared<T::Wide>,
    len: f64,
    eps: f64,
}

impl<T: Float> Clone for Forward<T> {
    fn clone(&self) -> Forward<T> {
        *self
    }
}
impl<T: Float> Copy for Forward<T> {}

impl<T: Float> RowOp<T, 2> for Forward<T> {
    #[inline(always)]
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, 2, ALONG>, row: usize) {
        let count = T::Vector::<S>::from_f64(self.len);
        let mean = strip.fold::<S>(FloatSum, First([])) / count;
        let variance = strip.fold::<S>(FloatSum, Squares([mean])) / count;
        let rstd = T::Vector::<S>::from_f64(1.0) / (variance + T::Vector::<S>::from_f64(self.eps)).sqrt();
        match self.weight_and_bias {
            Some([weight, bias]) => strip.map::<S>(Affine::<S, T> { mean, rstd, weight, bias }),
            None => strip.map::<S>(Normal([mean, rstd])),
        }
        // SAFETY: `mean` and `rstd` have an element for each row.
        unsafe {
            mean.store_partial(self.mean.get().add(row), 1);
            rstd.store_partial(self.rstd.get().add(row), 1);
        }
    }
}

/// Outputs of [`layer_norm`].
pub struct Outputs<'a> {
    /// The normalised rows.
    pub out: Array<'a>,
    /// The mean of each row.
    pub mean: Array<'a>,
    /// The reciprocal of the standard deviation of each row.
    pub rstd: Array<'a>,
}

/// `out = (a - mean) * rstd * weight + bias`, row by row.
pub fn layer_norm(
    outputs: &Outputs,
    a: &Array,
    axis: usize,
    weight_and_bias: Option<[&Array; 2]>,
    eps: f64,
) -> Result<()> {
    if !outputs.out.is_on_host() {
        let outputs = [&outputs.out, &outputs.mean, &outputs.rstd];
        return device::layer_norm(outputs, a, axis, weight_and_bias, eps);
    }
    dispatch!(a.dtype(), "LayerNormKernelImpl", half float, T => forward::<T>(outputs, a, axis, weight_and_bias, eps))
}

fn forward<T: Float<Wide: Element>>(
    outputs: &Outputs,
    a: &Array,
    axis: usize,
    weight_and_bias: Option<[&Array; 2]>,
    eps: f64,
) -> Result<()> {
    let matrix = Matrix::<T, 2>::new([&outputs.out, a], axis)?;
    let (rows, len) = (matrix.rows(), matrix.len);
    let (mean, rstd) = (numbers::<T::Wide>(&outputs.mean, rows)?, numbers::<T::Wide>(&outputs.rstd, rows)?);
    if len == 0 {
        for row in 0..rows {
            // SAFETY: `mean` and `rstd` have an element for each row. An empty row has mean 0 and no variance.
            unsafe {
                mean.get().add(row).write(T::Wide::ZERO);
                rstd.get().add(row).write(T::Wide::from_scalar(f64::NAN.into()));
            }
        }
        return Ok(());
    }
    let weight_and_bias = match weight_and_bias {
        Some([weight, bias]) => Some([numbers(weight, len)?, numbers(bias, len)?]),
        None => None,
    };
    matrix.apply(Forward { weight_and_bias, mean, rstd, len: len as f64, eps })
}

/// `grad * weight`, or that times the normalised element.
#[derive(Clone, Copy)]
struct Weighted<S: Simd, T: Float, const NORMAL: bool> {
    mean: T::Vector<S>,
    rstd: T::Vector<S>,
    weight: Option<Shared<T::Wide>>,
}

impl<S: Simd, T: Float, const NORMAL: bool, const N: usize, const ALONG: bool> Term<S, T, N, ALONG>
    for Weighted<S, T, NORMAL>
{
    #[inline(always)]
    fn of(self, at: Place<'_, S, T, N, ALONG>) -> T::Vector<S> {
        let mut grad = at.read(1);
        if let Some(weight) = self.weight {
            grad = grad * at.shared(weight);
        }
        if NORMAL { grad * ((at.read(2) - self.mean) * self.rstd) } else { grad }
    }
}

/// The gradient by the elements, of the means of both [`Weighted`].
#[derive(Clone, Copy)]
struct ByInput<S: Simd, T: Float> {
    term: Weighted<S, T, false>,
    shift: T::Vector<S>,
    slope: T::Vector<S>,
}

impl<S: Simd, T: Float, const N: usize, const ALONG: bool> Term<S, T, N, ALONG> for ByInput<S, T> {
    #[inline(always)]
    fn of(self, at: Place<'_, S, T, N, ALONG>) -> T::Vector<S> {
        let Weighted { mean, rstd, .. } = self.term;
        let normal = (at.read(2) - mean) * rstd;
        rstd * (self.term.of(at) - self.shift - normal * self.slope)
    }
}

struct Backward<T: Float> {
    weight: Option<Shared<T::Wide>>,
    mean: Shared<T::Wide>,
    rstd: Shared<T::Wide>,
    len: f64,
}

impl<T: Float> Clone for Backward<T> {
    fn clone(&self) -> Backward<T> {
        *self
    }
}
impl<T: Float> Copy for Backward<T> {}

impl<T: Float> RowOp<T, 3> for Backward<T> {
    #[inline(always)]
    fn apply<S: Simd, const ALONG: bool>(self, strip: &Strip<T, 3, ALONG>, row: usize) {
        let weight = self.weight;
        // SAFETY: `mean` and `rstd` have an element for each row.
        let [mean, rstd] =
            [self.mean, self.rstd].map(|numbers| T::Vector::<S>::splat(unsafe { numbers.get().add(row).read() }));
        let count = T::Vector::<S>::from_f64(self.len);
        let shift = strip.fold::<S>(FloatSum, Weighted::<S, T, false> { mean, rstd, weight }) / count;
        let slope = strip.fold::<S>(FloatSum, Weighted::<S, T, true> { mean, rstd, weight }) / count;
        strip.map::<S>(ByInput::<S, T> { term: Weighted { mean, rstd, weight }, shift, slope });
    }
}

/// The gradient by the input: `grad_in` is like `a`, `grad` the gradient by the output.
pub fn layer_norm_backward_input(
    grad_in: &Array,
    grad: &Array,
    a: &Array,
    axis: usize,
    [mean, rstd]: [&Array; 2],
    weight: Option<&Array>,
) -> Result<()> {
    if !grad_in.is_on_host() {
        return device::layer_norm_backward_input([grad_in, grad, a], axis, [mean, rstd], weight);
    }
    dispatch!(a.dtype(), "LayerNormBackwardKernelImpl", half float, T => {
        let matrix = Matrix::<T, 3>::new([grad_in, grad, a], axis)?;
        let (mean, rstd) = (numbers(mean, matrix.rows())?, numbers(rstd, matrix.rows())?);
        let weight = match weight {
            Some(weight) => Some(numbers(weight, matrix.len)?),
            None => None,
        };
        let len = matrix.len as f64;
        matrix.apply(Backward { weight, mean, rstd, len })
    })
}

/// Sums over rows of `grad * normal`, for columns side by side.
struct Columns<T: Number> {
    /// `grad`, `a`: the first column of the first row.
    at: [*mut T; 2],
    row_steps: [isize; 2],
    mean: *const T::Wide,
    rstd: *const T::Wide,
    rows: usize,
    len: usize,
    /// The accumulators of the sums.
    to: *mut T::Wide,
}

/// Vectors of columns that are summed side by side.
const SIDE: usize = 4;

impl<T: Float> Columns<T> {
    /// The sums of `COUNT` vectors from column `first` on; the last one has `lanes` lanes.
    #[inline(always)]
    fn sums<S: Simd, const COUNT: usize>(&self, first: usize, lanes: usize) {
        let width = T::Vector::<S>::LANES;
        let mut sums = [T::Vector::<S>::from_f64(0.0); COUNT];
        for row in 0..self.rows {
            // SAFETY: the kernel was created for rows of this length, with an element of `mean` and `rstd` for each.
            unsafe {
                let [mean, rstd] = [self.mean, self.rstd].map(|numbers| T::Vector::<S>::splat(*numbers.add(row)));
                let at: [*mut T; 2] = std::array::from_fn(|nth| {
                    self.at[nth].wrapping_offset(row as isize * self.row_steps[nth]).wrapping_add(first)
                });
                for (nth, sum) in sums.iter_mut().enumerate() {
                    let (grad, a) = if lanes == width {
                        (T::load::<S>(at[0].add(nth * width)), T::load::<S>(at[1].add(nth * width)))
                    } else {
                        (T::load_partial::<S>(at[0], lanes), T::load_partial::<S>(at[1], lanes))
                    };
                    *sum = *sum + grad * ((a - mean) * rstd);
                }
            }
        }
        for (nth, &sum) in sums.iter().enumerate() {
            // SAFETY: `to` has a sum for each column.
            unsafe {
                let to = self.to.add(first + nth * width);
                (T::Vector::<S>::load_partial(to, lanes) + sum).store_partial(to, lanes);
            }
        }
    }
}

impl<T: Float> Kernel for Columns<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let lanes = T::Vector::<S>::LANES;
        let mut first = 0;
        while first + SIDE * lanes <= self.len {
            self.sums::<S, SIDE>(first, lanes);
            first += SIDE * lanes;
        }
        while first < self.len {
            let count = lanes.min(self.len - first);
            self.sums::<S, 1>(first, count);
            first += lanes;
        }
    }
}

/// The gradient with respect to the weight, in the computation type of the rows: the sum over rows of `grad * normal`.
/// Rows of `grad` and `a` are contiguous.
pub fn layer_norm_backward_weight(
    grad_weight: &Array,
    grad: &Array,
    a: &Array,
    axis: usize,
    [mean, rstd]: [&Array; 2],
) -> Result<()> {
    if !grad_weight.is_on_host() {
        return device::layer_norm_backward_weight(grad_weight, grad, a, axis, [mean, rstd]);
    }
    dispatch!(a.dtype(), "LayerNormBackwardKernelImpl", half float, T => {
        backward_weight::<T>(grad_weight, Matrix::new([grad, a], axis)?, [mean, rstd])
    })
}

fn backward_weight<T: Float<Wide: Element>>(
    grad_weight: &Array,
    matrix: Matrix<T, 2>,
    [mean, rstd]: [&Array; 2],
) -> Result<()> {
    let (rows, len) = (matrix.rows(), matrix.len);
    let (mean, rstd) = (numbers::<T::Wide>(mean, rows)?, numbers::<T::Wide>(rstd, rows)?);
    let to = numbers::<T::Wide>(grad_weight, len)?;
    ensure!(len <= 1 || matrix.steps == [1; 2], Internal, "layer_norm got rows with gaps");
    // Parts follow from the shape alone, and are added in order.
    let share = (PART / len.max(1)).max(1).max(rows.div_ceil(MOST_PARTS));
    let length = chunk_length(rows, share);
    let parts = rows.div_ceil(length);
    let mut partial = filled(parts * len, T::Wide::ZERO)?;
    let sums = Shared::new(partial.as_mut_ptr());
    let (_, row_steps) = matrix.walk.inner();
    parallel_chunks(rows, share, &|range| {
        let to = sums.get().wrapping_add(range.start / length * len);
        crate::rows::each_run(&matrix.walk, matrix.walk.inner().0, range, |outer, offsets, run_of_rows| {
            for start in run_of_rows.clone().step_by(LEAF_ROWS) {
                let rows = LEAF_ROWS.min(run_of_rows.end - start);
                let at = std::array::from_fn(|nth| {
                    matrix.at[nth].get().wrapping_offset(offsets[nth] + start as isize * row_steps[nth])
                });
                let number = outer * matrix.walk.inner().0 + start;
                let [mean, rstd] = [mean, rstd].map(|numbers| numbers.get().wrapping_add(number).cast_const());
                run(Columns { at, row_steps, mean, rstd, rows, len, to });
            }
        });
    })?;
    for column in 0..len {
        let total = (0..parts).fold(T::Wide::ZERO, |total, part| total.add(partial[part * len + column]));
        // SAFETY: `to` has an element for each column.
        unsafe { to.get().add(column).write(total) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::tests::at_every_level;
    use rushlight_base::{DType, contiguous_strides, runtime};

    fn noise(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i + seed) * 7919 % 613) as f32 * 0.01 - 2.0).collect()
    }

    fn array<'a>(at: *mut f32, sizes: &'a [i64], strides: &'a [i64]) -> Array<'a> {
        // SAFETY: the vectors hold every element that the strides reach, and the written ones belong to this test.
        unsafe { Array::new(at.cast(), DType::F32, sizes, strides) }
    }

    /// Output, input gradient and weight gradient of `rows` of `len`, which are `strides` apart.
    fn all(rows: usize, len: usize, strides: [i64; 2], weighted: bool) -> [Vec<f32>; 3] {
        let length = (rows - 1) * strides[0] as usize + (len - 1) * strides[1] as usize + 1;
        let (mut x, mut grad) = (noise(length, 0), noise(rows * len, 5));
        let (mut weight, mut bias) = (noise(len, 9), noise(len, 11));
        let [mut out, mut grad_in] = [(); 2].map(|()| vec![0.0f32; rows * len]);
        let (mut mean, mut rstd, mut grad_weight) = (vec![0.0f32; rows], vec![0.0f32; rows], vec![0.0f32; len]);
        let sizes = [rows as i64, len as i64];
        let (packed, per_row, per_element) = ([len as i64, 1], [rows as i64], [len as i64]);
        let x = array(x.as_mut_ptr(), &sizes, &strides);
        let [w, b] = [&mut weight, &mut bias].map(|values| array(values.as_mut_ptr(), &per_element, &[1]));
        let [m, r] = [&mut mean, &mut rstd].map(|values| array(values.as_mut_ptr(), &per_row, &[1]));
        let outputs = Outputs { out: array(out.as_mut_ptr(), &sizes, &packed), mean: m.clone(), rstd: r.clone() };
        layer_norm(&outputs, &x, 1, weighted.then_some([&w, &b]), 1e-5).unwrap();
        let g = array(grad.as_mut_ptr(), &sizes, &packed);
        let to = array(grad_in.as_mut_ptr(), &sizes, &packed);
        layer_norm_backward_input(&to, &g, &x, 1, [&m, &r], weighted.then_some(&w)).unwrap();
        if strides[1] == 1 {
            let to = array(grad_weight.as_mut_ptr(), &per_element, &[1]);
            layer_norm_backward_weight(&to, &g, &x, 1, [&m, &r]).unwrap();
        }
        [out, grad_in, grad_weight]
    }

    /// The same in plain loops.
    fn expected(rows: usize, len: usize, strides: [i64; 2], weighted: bool) -> [Vec<f64>; 3] {
        let length = (rows - 1) * strides[0] as usize + (len - 1) * strides[1] as usize + 1;
        let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<_>>();
        let (x, grad) = (wide(noise(length, 0)), wide(noise(rows * len, 5)));
        let (weight, bias) = (wide(noise(len, 9)), wide(noise(len, 11)));
        let mut results = [vec![0.0; rows * len], vec![0.0; rows * len], vec![0.0; len]];
        let count = len as f64;
        for row in 0..rows {
            let x = |i: usize| x[row * strides[0] as usize + i * strides[1] as usize];
            let mean = (0..len).map(x).sum::<f64>() / count;
            let variance = (0..len).map(|i| (x(i) - mean).powi(2)).sum::<f64>() / count;
            let rstd = 1.0 / (variance + 1e-5).sqrt();
            let normal = |i: usize| (x(i) - mean) * rstd;
            let g = |i: usize| grad[row * len + i] * if weighted { weight[i] } else { 1.0 };
            let shift = (0..len).map(g).sum::<f64>() / count;
            let slope = (0..len).map(|i| g(i) * normal(i)).sum::<f64>() / count;
            for i in 0..len {
                let (scale, offset) = if weighted { (weight[i], bias[i]) } else { (1.0, 0.0) };
                results[0][row * len + i] = normal(i) * scale + offset;
                results[1][row * len + i] = rstd * (g(i) - shift - normal(i) * slope);
                results[2][i] += grad[row * len + i] * normal(i);
            }
        }
        results
    }

    #[test]
    fn rows_agree_with_plain_loops() {
        at_every_level(|| {
            for (rows, len) in [(1, 1), (3, 7), (5, 40), (200, 33), (2, 5000), (700, 130)] {
                for strides in [[len as i64, 1], [2 * len as i64 + 3, 1], [1, rows as i64]] {
                    for weighted in [false, true] {
                        let found = all(rows, len, strides, weighted);
                        let wanted = expected(rows, len, strides, weighted);
                        let compared = if strides[1] == 1 { 3 } else { 2 };
                        for (nth, (found, wanted)) in found.iter().zip(&wanted).enumerate().take(compared) {
                            let scale = wanted.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
                            for (at, (&found, &wanted)) in found.iter().zip(wanted).enumerate() {
                                let error = (f64::from(found) - wanted).abs();
                                assert!(error <= 1e-5 * scale, "{rows} {len} {strides:?} {nth} {at}: {found} {wanted}");
                            }
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn results_are_equal_to_the_bit_at_any_number_of_threads() {
        at_every_level(|| {
            let before = runtime::num_threads();
            let mut results = [1, 2, 3, 8].map(|threads| {
                runtime::set_num_threads(threads).unwrap();
                all(900, 300, [300, 1], true).map(|values| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            });
            runtime::set_num_threads(before as i64).unwrap();
            results.sort();
            assert_eq!(results[0], results[3]);
        });
    }

    #[test]
    fn rows_without_elements_have_no_variance() {
        let (mut nothing, mut mean, mut rstd) = (Vec::new(), vec![9.0f32; 2], vec![9.0f32; 2]);
        let strides = contiguous_strides(&[2, 0]);
        let empty = array(nothing.as_mut_ptr(), &[2, 0], &strides);
        let [m, r] = [&mut mean, &mut rstd].map(|values| array(values.as_mut_ptr(), &[2], &[1]));
        layer_norm(&Outputs { out: empty.clone(), mean: m, rstd: r }, &empty, 1, None, 1e-5).unwrap();
        assert_eq!(mean, [0.0; 2]);
        assert!(rstd.iter().all(|x| x.is_nan()));
    }
}
