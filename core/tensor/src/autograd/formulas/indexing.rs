//! Derivatives of operators that combine elements at indexed positions.

use super::Expr;
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Result, Scalar, err, format_sizes};

/// The positions that elements were written to: along a dimension, by an index per element or per slice.
struct Target<'a> {
    dim: i64,
    index: &'a Expr,
    slices: bool,
}

impl Target<'_> {
    /// The elements at the positions.
    fn pick(&self, from: &Expr) -> Expr {
        if self.slices { from.index_select(self.dim, self.index) } else { from.gather(self.dim, self.index, false) }
    }

    /// Adds `source` to the elements at the positions.
    fn add(&self, to: Expr, source: &Expr) -> Expr {
        if self.slices {
            to.index_add(self.dim, self.index, source, 1)
        } else {
            to.scatter_add(self.dim, self.index, source)
        }
    }

    /// Multiplies the elements at the positions by `source`.
    fn multiply(&self, to: &Expr, source: &Expr, include_self: bool) -> Expr {
        if self.slices {
            to.index_reduce(self.dim, self.index, source, "prod", include_self)
        } else {
            to.scatter_reduce_two(self.dim, self.index, source, "prod", include_self)
        }
    }

    /// Sets the elements at the positions to zero.
    fn blank(&self, to: &Expr) -> Expr {
        if self.slices {
            to.index_fill_int_scalar(self.dim, self.index, 0)
        } else {
            to.scatter_value(self.dim, self.index, 0)
        }
    }
}

/// The operands of a reduction, and its kind.
pub struct Join<'a> {
    target: Target<'a>,
    self_: &'a Expr,
    /// The elements of the source that are combined.
    source: Expr,
    /// The sizes of the whole source.
    source_sizes: DimVec,
    reduce: &'a str,
    include_self: bool,
    result: &'a Expr,
}

impl Join<'_> {
    /// The gradient with respect to the input.
    pub fn by_self(&self, grad: &Expr) -> Expr {
        let whole = match self.reduce {
            "prod" | "multiply" => {
                // The product of the others: that with 1 instead of a 0 here.
                let factor = self.self_.masked_fill_scalar(self.self_.eq_scalar(0), 1);
                grad * self.target.multiply(&factor, &self.source, self.include_self) / factor
            }
            "mean" => grad / self.counts(),
            "amax" | "amin" => self.is_result() * self.shared(grad),
            _ => grad.clone(),
        };
        if self.include_self { whole } else { self.target.blank(&whole) }
    }

    /// The gradient with respect to the source.
    pub fn by_source(&self, grad: &Expr) -> Expr {
        let combined = match self.reduce {
            "prod" | "multiply" => self.product_by_source(grad),
            "mean" => self.target.pick(&(grad / self.counts())),
            "amax" | "amin" => self.source_is_result() * self.target.pick(&self.shared(grad)),
            _ => self.target.pick(grad),
        };
        padded(combined, &self.source_sizes)
    }

    /// Like in `by_self`, for a zero that is the only one at its position: other products stay zero.
    fn product_by_source(&self, grad: &Expr) -> Expr {
        let zero = self.source.eq_scalar(0);
        let zeros = zero.to_dtype(self.source.dtype(), false, false, None);
        let zeros = self.target.pick(&self.target.add(self.self_.zeros(), &zeros));
        let only = zero.logical_and(zeros.eq_scalar(1));
        let without = self.target.multiply(self.self_, &self.source.masked_fill_scalar(&only, 1), self.include_self);
        let quotient = self.target.pick(&(grad * self.result)) / self.source.masked_fill_scalar(&zero, 1);
        only.where_self(self.target.pick(&(grad * without)), quotient)
    }

    /// The number of elements in each mean.
    fn counts(&self) -> Expr {
        let start = self.self_.zeros() + Scalar::Int(i64::from(self.include_self));
        let counts = self.target.add(start, &(self.source.zeros() + Scalar::Int(1)));
        counts.masked_fill_scalar(counts.eq_scalar(0), 1)
    }

    fn is_result(&self) -> Expr {
        self.self_.eq_tensor(self.result).to_dtype(self.result.dtype(), false, false, None)
    }

    fn source_is_result(&self) -> Expr {
        let hits = self.source.eq_tensor(self.target.pick(self.result));
        hits.to_dtype(self.result.dtype(), false, false, None)
    }

    /// The gradient of an extremum, in equal parts for the elements that are equal to it.
    fn shared(&self, grad: &Expr) -> Expr {
        grad / self.target.add(self.is_result(), &self.source_is_result())
    }
}

/// The elements of `source` within `sizes`, which count from the first of each dimension. `scatter` reads no others.
fn leading(source: &Expr, sizes: &[i64]) -> Expr {
    sizes
        .iter()
        .enumerate()
        .filter(|(dim, size)| source.sizes().get(*dim) != Some(*size))
        .fold(source.clone(), |source, (dim, size)| source.narrow(dim as i64, 0, *size))
}

/// `grad` with zeros at the end of each dimension, up to `sizes`: the gradient of what [`leading`] left out.
fn padded(grad: Expr, sizes: &[i64]) -> Expr {
    let own = grad.sizes();
    if *own == *sizes {
        return grad;
    }
    let ends = sizes.iter().zip(&own).rev().flat_map(|(size, own)| [0, size - own]);
    grad.constant_pad_nd(&ends.collect::<DimVec>(), 0)
}

/// The gradient of `index_copy` by the source, which may be 0-dimensional for a single index.
pub fn index_copy_source(grad: &Expr, dim: i64, index: &Expr, source: &Expr) -> Expr {
    let copied = grad.index_select(dim, index);
    if source.ndim() == 0 { copied.reshape(&[]) } else { copied.expand_as(source) }
}

/// The gradient with respect to the source of `scatter` and `scatter_add`, a tensor of `sizes`.
pub fn scatter_source(grad: &Expr, dim: i64, index: &Expr, sizes: &[i64]) -> Expr {
    padded(grad.gather(dim, index, false), sizes)
}

/// The derivative of `scatter_reduce`, and of `scatter` with a reduction.
pub fn scatter_reduce<'a>(
    self_: &'a Expr,
    dim: i64,
    index: &'a Expr,
    source: &'a Expr,
    reduce: &'a str,
    include_self: bool,
    result: &'a Expr,
) -> Join<'a> {
    let used = leading(source, &index.sizes());
    let source_sizes = source.sizes();
    Join {
        target: Target { dim, index, slices: false },
        self_,
        source: used,
        source_sizes,
        reduce,
        include_self,
        result,
    }
}

/// The derivative of `index_reduce`.
pub fn index_reduce<'a>(
    self_: &'a Expr,
    dim: i64,
    index: &'a Expr,
    source: &'a Expr,
    reduce: &'a str,
    include_self: bool,
    result: &'a Expr,
) -> Join<'a> {
    let (source, source_sizes) = (source.clone(), source.sizes());
    Join { target: Target { dim, index, slices: true }, self_, source, source_sizes, reduce, include_self, result }
}

/// The gradient of `scatter` with a number that is added or multiplied.
pub fn scatter_value_with(grad: &Expr, dim: i64, index: &Expr, value: Scalar, reduce: &str) -> Expr {
    if reduce == "add" { grad.clone() } else { grad.scatter_value_reduce(dim, index, value, reduce) }
}

/// The gradient of `index_fill` with respect to its value: the sum over the slices, each counted once even if its index
/// is repeated.
pub fn index_fill_value(grad: &Expr, dim: i64, index: &Expr) -> Expr {
    let filled = grad.zeros().index_fill_int_scalar(dim, index, 1).ne_scalar(0);
    filled.where_scalarother(grad, 0).sum(None)
}

/// Zeros with the gradient added at the indexed positions.
pub fn index(grad: &Expr, sizes: &[i64], indices: &[Option<Expr>]) -> Expr {
    put_at(&grad.new_zeros(sizes), indices, grad, true)
}

/// The gradient of `index_put` with respect to the input: zero where it was replaced.
pub fn index_put_self(grad: &Expr, indices: &[Option<Expr>], zeros: &Expr, accumulate: bool) -> Expr {
    if accumulate { grad.clone() } else { put_at(grad, indices, zeros, false) }
}

/// The gradient of `index_put` by its values.
pub fn index_put_values(grad: &Expr, indices: &[Option<Expr>]) -> Expr {
    Expr::of(|| ops::index_tensor(grad.tensor()?, &tensors(indices)?))
}

fn put_at(to: &Expr, indices: &[Option<Expr>], values: &Expr, accumulate: bool) -> Expr {
    Expr::of(|| ops::index_put(to.tensor()?, &tensors(indices)?, values.tensor()?, accumulate))
}

fn tensors(indices: &[Option<Expr>]) -> Result<Vec<Option<&Tensor>>> {
    indices.iter().map(|index| index.as_ref().map(Expr::tensor).transpose()).collect()
}

/// The gradient of `put` with respect to the input: zero where it was replaced.
pub fn put_self(grad: &Expr, index: &Expr, source: &Expr, accumulate: bool) -> Expr {
    if accumulate { grad.clone() } else { grad.put(index, source.zeros(), false) }
}

/// The gradient of `stack`: the slice of each input.
#[cfg(feature = "op-joining")]
pub fn stack(grad: &Expr, count: usize, dim: i64) -> Vec<Expr> {
    (0..count).map(|at| grad.select_int(dim, at as i64)).collect()
}

/// The gradient of padding: the interior; cropped elements have none.
pub fn constant_pad_nd(grad: &Expr, pad: &[i64]) -> Expr {
    let back: Vec<i64> = pad.iter().map(|width| -width).collect();
    grad.constant_pad_nd(&back, 0)
}

/// The gradient of `masked_select`, in the shape that tensor and mask broadcast to.
pub fn masked_select(grad: &Expr, self_: &Expr, mask: &Expr) -> Expr {
    let zeros = Expr::of(|| {
        let sizes = ops::rules::broadcast_sizes(&self_.sizes(), &mask.sizes())?;
        ops::zeros(&sizes, self_.options())
    });
    zeros.masked_scatter(mask, grad)
}

/// The gradient of `masked_scatter` with respect to its source: unused elements have none.
pub fn masked_scatter_source(grad: &Expr, mask: &Expr, sizes: &[i64]) -> Expr {
    let used = grad.masked_select(mask);
    // A size of -1 is left to `reshape`.
    let Some(elements) = sizes.iter().try_fold(1i64, |product, &size| product.checked_mul(size)) else {
        return Expr::of(|| Err(err!(Runtime, "masked_scatter_backward: too many elements: {}", format_sizes(sizes))));
    };
    let unused = elements.saturating_sub(used.numel());
    if unused > 0 { used.constant_pad_nd(&[0, unused], 0).reshape(sizes) } else { used.reshape(sizes) }
}
