//! Sums, means and maxima of looked-up rows of a table, bag by bag.

use super::has_host_kernels;
use crate::autograd::Expr;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DeviceType, Result, Scalar, ensure, format_sizes, wrap_dim};

const SUM: i64 = 0;
const MEAN: i64 = 1;
const MAX: i64 = 2;

/// Rows and the bags to which they are added.
struct Bags {
    /// The looked-up row of each place.
    indices: Expr,
    /// The bag of each place.
    bag_of: Expr,
    count: i64,
    /// Positions of this row are ignored.
    padding: Option<i64>,
}

impl Bags {
    fn integers(&self) -> Options {
        Options { dtype: Some(DType::I64), ..self.indices.options() }
    }

    /// Whether the position is not ignored.
    fn counts(&self) -> Option<Expr> {
        self.padding.map(|padding| self.indices.ne_scalar(padding))
    }

    /// Number of positions in each bag.
    fn sizes(&self) -> Result<Expr> {
        let ones = match self.counts() {
            Some(counts) => counts.to_dtype(DType::I64, false, false, None),
            None => Expr::from(ops::ones(&self.indices.sizes(), self.integers())?),
        };
        Ok(added_up(&[self.count], &self.bag_of, &ones))
    }

    /// The sum of the `rows` of each bag; half precision is accumulated in `f32`.
    fn sums(&self, rows: &Expr, weights: Option<&Tensor>) -> Expr {
        let wide = rows.dtype().opmath();
        let widened = |expr: &Expr| expr.to_dtype(wide, false, false, None);
        let mut rows = widened(rows);
        if let Some(weights) = weights {
            rows = rows * widened(&Expr::from(weights)).unsqueeze(1);
        }
        if let Some(counts) = self.counts() {
            rows = rows.masked_fill_scalar(counts.logical_not().unsqueeze(1), 0);
        }
        let width = rows.sizes().get(1).copied().unwrap_or(0);
        added_up(&[self.count, width], &self.bag_of, &rows)
    }

    /// For each bag and column the first position of the largest element; the number of positions if there is none.
    fn first_largest(&self, rows: &Expr) -> Result<Expr> {
        let (places, width) = (self.indices.numel(), rows.sizes().get(1).copied().unwrap_or(0));
        let rows = match self.counts() {
            Some(counts) => rows.masked_fill_scalar(counts.logical_not().unsqueeze(1), f64::NEG_INFINITY),
            None => rows.clone(),
        };
        let bag_of = self.bag_of.unsqueeze(1).expand(&[places, width], false);
        let none = Expr::from(ops::full(&[self.count, width], Scalar::Float(f64::NEG_INFINITY), rows.options())?);
        let largest = none.scatter_reduce_two(0, &bag_of, &rows, "amax", true);
        let mut hits = rows.eq_tensor(largest.gather(0, &bag_of, false)).logical_or(rows.ne_tensor(&rows));
        if let Some(counts) = self.counts() {
            hits = hits.logical_and(counts.unsqueeze(1));
        }
        let order = Expr::from(ops::arange(Scalar::Int(places), self.integers())?).unsqueeze(1);
        let order = hits.where_scalarother(order.expand(&[places, width], false), places);
        let behind = Expr::from(ops::full(&[self.count, width], Scalar::Int(places), self.integers())?);
        Ok(behind.scatter_reduce_two(0, &bag_of, order, "amin", true))
    }

    /// For each bag and column the largest element, and the index of its row.
    fn maxima(&self, rows: &Expr) -> Result<(Tensor, Tensor)> {
        let (first, width) = (self.first_largest(rows)?, rows.sizes().get(1).copied().unwrap_or(0));
        let none = first.eq_scalar(self.indices.numel());
        // An additional, unused row for the empty bags.
        let padded = Expr::of(|| ops::cat(&[rows.tensor()?, rows.new_zeros(&[1, width]).tensor()?], 0));
        let listed = Expr::of(|| {
            let unused = ops::zeros(&[1], self.integers())?;
            ops::cat(&[self.indices.to_dtype(DType::I64, false, false, None).tensor()?, &unused], 0)
        });
        let largest = listed.index_select(0, first.reshape(&[-1])).reshape(&[self.count, width]);
        Ok((padded.gather(0, &first, false).into_tensor()?, largest.masked_fill_scalar(none, 0).into_tensor()?))
    }
}

/// Whether a kernel sums the bags.
fn has_kernel(weight: &Tensor, indices: &Tensor, offsets: &Tensor, per_sample_weights: Option<&Tensor>) -> bool {
    let given = [weight, indices, offsets].into_iter().chain(per_sample_weights);
    weight.dtype().is_floating() && given.into_iter().all(has_host_kernels)
}

fn check(
    weight: &Tensor,
    indices: &Tensor,
    offsets: &Tensor,
    mode: i64,
    per_sample_weights: Option<&Tensor>,
    include_last_offset: bool,
) -> Result<()> {
    for (name, tensor) in [("indices", indices), ("offsets", offsets)] {
        ensure!(
            matches!(tensor.dtype(), DType::I32 | DType::I64),
            Runtime,
            "Expected tensor for argument '{name}' to have one of the following scalar types: Long, Int; but got {} \
             instead (while checking arguments for embedding_bag)",
            tensor.dtype().c10_name()
        );
        ensure!(
            tensor.ndim() == 1,
            Runtime,
            "{name} has to be a 1D Tensor, but got Tensor of dimension {}",
            tensor.ndim()
        );
    }
    ensure!(weight.ndim() == 2, Runtime, "weight has to be a 2D Tensor, but got Tensor of dimension {}", weight.ndim());
    ensure!(
        (SUM..=MAX).contains(&mode),
        Runtime,
        "embedding_bag: mode must be 0 (sum), 1 (mean) or 2 (max), got {mode}"
    );
    if let Some(weights) = per_sample_weights {
        ensure!(mode == SUM, Runtime, "embedding_bag: per_sample_weights only supported with mode='sum'");
        ensure!(
            weights.dtype() == weight.dtype() && weights.sizes() == indices.sizes(),
            Runtime,
            "expected per_sample_weights of dtype {} and shape {}, got {} {}",
            weight.dtype().c10_name(),
            format_sizes(&indices.sizes()),
            weights.dtype().c10_name(),
            format_sizes(&weights.sizes())
        );
    }
    let bags = offsets.numel();
    ensure!(!include_last_offset || bags > 0, Runtime, "include_last_offset: numBags should be at least 1");
    if bags == 0 || indices.device().kind != DeviceType::Cpu {
        return Ok(());
    }
    let at = |nth: i64| -> Result<i64> { Ok(ops::select_int(offsets, 0, nth)?.item()?.to_i64()) };
    let (first, last, count) = (at(0)?, at(-1)?, indices.numel());
    ensure!(
        first == 0,
        Runtime,
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got \
         {first}"
    );
    ensure!(
        last <= count,
        Runtime,
        "offsets[-1] can not be greater than input's length {count} but got offsets[-1] of {last}"
    );
    Ok(())
}

/// A tensor of `sizes` to which the rows of `source` are added at `index`.
fn added_up(sizes: &[i64], index: &Expr, source: &Expr) -> Expr {
    Expr::of(|| {
        let sums = ops::zeros(sizes, source.options())?;
        ops::index_add_(&sums, 0, index.tensor()?, source.tensor()?, Scalar::Int(1))?;
        Ok(sums)
    })
}

/// The bag of each of `places` positions: the number of offsets up to it, minus one.
pub(crate) fn bag_of(offsets: &Expr, places: i64) -> Result<Expr> {
    let options = Options { dtype: Some(DType::I64), ..offsets.options() };
    let ones = Expr::from(ops::ones(&offsets.sizes(), options)?);
    let starts = added_up(&[places + 1], offsets, &ones);
    Ok(starts.cumsum(0, None).sub_scalar(1, 1).narrow(0, 0, places))
}

/// Like `embedding_bag_padding_idx`, without a padding row.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn embedding_bag(
    weight: &Tensor,
    indices: &Tensor,
    offsets: &Tensor,
    scale_grad_by_freq: bool,
    mode: i64,
    sparse: bool,
    per_sample_weights: Option<&Tensor>,
    include_last_offset: bool,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    embedding_bag_padding_idx(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        None,
    )
}

/// Reduces the rows of each bag; also returns the bag of each position, the sizes of the bags, and the indices of the
/// maxima, as far as PyTorch returns them.
#[allow(clippy::too_many_arguments)] // the operator's
pub fn embedding_bag_padding_idx(
    weight: &Tensor,
    indices: &Tensor,
    offsets: &Tensor,
    scale_grad_by_freq: bool,
    mode: i64,
    sparse: bool,
    per_sample_weights: Option<&Tensor>,
    include_last_offset: bool,
    padding_idx: Option<i64>,
) -> Result<(Tensor, Tensor, Tensor, Tensor)> {
    check(weight, indices, offsets, mode, per_sample_weights, include_last_offset)?;
    let padding = padding_idx.map(|row| wrap_dim(row, weight.sizes()[0].max(1) as usize)).transpose()?;
    let padding = padding.map(|row| row as i64);
    let count = offsets.numel() - i64::from(include_last_offset);
    let starts = Expr::from(offsets).narrow(0, 0, count);
    let (dtype, integers) = (weight.dtype(), Options { dtype: Some(DType::I64), ..indices.options() });
    let row = padding.unwrap_or(-1);
    let in_one_call = || -> Result<Expr> {
        let starts = starts.tensor()?;
        ops::_embedding_bag_sums(weight, indices, starts, per_sample_weights, row, scale_grad_by_freq, sparse)
            .map(Expr::from)
    };
    let has_kernel = mode != MAX && has_kernel(weight, indices, offsets, per_sample_weights);
    let sums = has_kernel.then(in_one_call).transpose()?;
    let narrowed = |sums: &Expr| sums.to_dtype(dtype, false, false, None).into_tensor();
    let nothing = || ops::zeros(&[offsets.numel()], integers);
    // PyTorch's fast path returns no bags.
    let is_quick = mode == SUM && dtype != DType::F64 && padding.is_none();
    let no_bags = || ops::empty_memory_format(&[0], integers, None);
    if is_quick && let Some(sums) = &sums {
        return Ok((narrowed(sums)?, no_bags()?, nothing()?, nothing()?));
    }
    let places = indices.numel();
    let bags = Bags { indices: Expr::from(indices), bag_of: bag_of(&starts, places)?, count, padding };
    let bag_of = bags.bag_of.clone().into_tensor()?;
    let rows = || ops::embedding(weight, indices, row, scale_grad_by_freq, sparse).map(Expr::from);
    if mode == MAX {
        let (out, largest) = bags.maxima(&rows()?)?;
        return Ok((out, bag_of, bags.sizes()?.into_tensor()?, largest));
    }
    let sums = match sums {
        Some(sums) => sums,
        None => bags.sums(&rows()?, per_sample_weights),
    };
    if mode == MEAN {
        let sizes = bags.sizes()?;
        let divisor = sizes.clamp_min(1).unsqueeze(1).to_dtype(sums.dtype(), false, false, None);
        let sizes = sizes.into_tensor()?;
        let copy = ops::clone(&sizes, None)?;
        return Ok((narrowed(&(sums / divisor))?, bag_of, sizes, copy));
    }
    Ok((narrowed(&sums)?, if is_quick { no_bags()? } else { bag_of }, nothing()?, nothing()?))
}
