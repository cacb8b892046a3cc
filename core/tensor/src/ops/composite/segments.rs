//! Composite operators: reductions of segments.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, bail, ensure, format_sizes, wrap_dim};

/// Elements reduced in segments of given lengths along an axis.
#[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
pub fn segment_reduce(
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    indices: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    unsafe_: bool,
    initial: Option<Scalar>,
) -> Result<Tensor> {
    ensure!(
        matches!(reduce, "max" | "mean" | "min" | "sum" | "prod"),
        Runtime,
        "Unsupported reduction given, must be one of max, mean, min, sum, prod but got {reduce}"
    );
    ensure!(data.dtype().is_floating(), Runtime, "segment_reduce(): Expected data to have a floating point dtype");
    ensure!(indices.is_none(), Runtime, "segment_reduce(): indices based reduction is not supported yet.");
    let segments = Segments::of(data, lengths, offsets, axis, Some(unsafe_))?;
    let rows = segments.rows(data)?;
    let fill = |value: Scalar| ops::full(&segments.joined_sizes(), value, data.options());
    let joined = match reduce {
        "sum" | "mean" => {
            let start = fill(initial.unwrap_or(Scalar::Int(0)))?;
            ops::index_add(&start, 0, &segments.of_row, &rows, Scalar::Int(1))?
        }
        "prod" => {
            ops::index_reduce(&fill(initial.unwrap_or(Scalar::Int(1)))?, 0, &segments.of_row, &rows, "prod", true)?
        }
        _ => extreme_of_segments(&rows, &segments.of_row, fill, reduce == "max", initial)?,
    };
    let joined = match (reduce, initial) {
        ("mean", None) => ops::div_tensor(&joined, &segments.counts()?)?,
        ("mean", Some(_)) => ops::div_tensor(&joined, &ops::clamp_min(&segments.counts()?, Scalar::Int(1))?)?,
        _ => joined,
    };
    segments.separated(&joined)
}

/// The gradient of `segment_reduce` by its data; elements outside of all segments have none.
#[allow(clippy::too_many_arguments, reason = "the signature is PyTorch's")]
pub fn segment_reduce_backward(
    grad: &Tensor,
    output: &Tensor,
    data: &Tensor,
    reduce: &str,
    lengths: Option<&Tensor>,
    offsets: Option<&Tensor>,
    axis: i64,
    initial: Option<Scalar>,
) -> Result<Tensor> {
    ensure!(
        matches!(reduce, "max" | "mean" | "min" | "sum" | "prod"),
        Runtime,
        "_segment_reduce_backward(): reduce argument must be either sum, prod, mean, max or min, got {reduce}"
    );
    ensure!(
        data.dtype().is_floating(),
        Runtime,
        "_segment_reduce_backward(): Expected data to have a floating point dtype"
    );
    for other in [grad, output] {
        let (expected, found) = (data.dtype().c10_name(), other.dtype().c10_name());
        ensure!(
            found == expected,
            Runtime,
            "_segment_reduce_backward(): expected scalar type {expected} but found {found}"
        );
    }
    let segments = Segments::of(data, lengths, offsets, axis, None)?;
    let sizes = segments.result_sizes();
    ensure!(
        grad.sizes()[..] == sizes && output.sizes()[..] == sizes,
        Runtime,
        "_segment_reduce_backward(): Expected grad and output to have shape {}, but got {} and {}",
        format_sizes(&sizes),
        format_sizes(&grad.sizes()),
        format_sizes(&output.sizes())
    );
    let (rows, grads) = (segments.rows(data)?, segments.spread(grad)?);
    let zero = Scalar::Float(0.0);
    let summed = |rows: &Tensor| {
        let start = ops::zeros(&segments.joined_sizes(), data.options())?;
        let sums = ops::index_add(&start, 0, &segments.of_row, rows, Scalar::Int(1))?;
        ops::index_select(&sums, 0, &segments.of_row)
    };
    let found = match reduce {
        "sum" => grads,
        "mean" => {
            let counts = ops::index_select(&segments.counts()?, 0, &segments.of_row)?;
            ops::div_tensor(&grads, &counts)?
        }
        "prod" => {
            // Where an element is 0 its factor is the product of the others: 0 if another one is 0 too.
            let special = ops::logical_or(&ops::eq_scalar(&rows, zero)?, &ops::isnan(&rows)?)?;
            let regular = ops::masked_fill_scalar(&rows, &special, Scalar::Int(1))?;
            let start = ops::full(&segments.joined_sizes(), initial.unwrap_or(Scalar::Int(1)), data.options())?;
            let products = ops::index_reduce(&start, 0, &segments.of_row, &regular, "prod", true)?;
            let products = ops::index_select(&products, 0, &segments.of_row)?;
            let specials = summed(&ops::to_dtype(&special, data.dtype(), false, false, None)?)?;
            let outputs = segments.spread(output)?;
            let others = ops::where_self(&ops::eq_scalar(&specials, Scalar::Int(1))?, &products, &outputs)?;
            let quotients = ops::div_tensor(&outputs, &regular)?;
            ops::mul_tensor(&grads, &ops::where_self(&special, &others, &quotients)?)?
        }
        _ => {
            let is_result = ops::eq_tensor(&rows, &segments.spread(output)?)?;
            let is_result = ops::logical_or(&is_result, &ops::isnan(&rows)?)?;
            let counts = summed(&ops::to_dtype(&is_result, data.dtype(), false, false, None)?)?;
            let shares = ops::div_tensor(&grads, &ops::clamp_min(&counts, Scalar::Int(1))?)?;
            ops::where_scalarother(&is_result, &shares, zero)?
        }
    };
    ops::clone(&ops::reshape(&found, &data.sizes())?, None)
}

/// The segments of the elements along an axis. What is before the first segment and after the last one is a segment too,
/// which results leave out.
struct Segments {
    sizes: DimVec,
    axis: usize,
    /// The number of segments along the axis.
    count: i64,
    /// The lengths of all segments, those that are left out included.
    lengths: Tensor,
    /// The segment of each row: the dimensions up to the axis are one.
    of_row: Tensor,
}

impl Segments {
    /// The lengths must add up to the size unless offsets are given, or `unsafe_` is true or none.
    fn of(
        data: &Tensor,
        lengths: Option<&Tensor>,
        offsets: Option<&Tensor>,
        axis: i64,
        unsafe_: Option<bool>,
    ) -> Result<Segments> {
        let whole = |tensor: &Tensor| ops::to_dtype(&ops::detach(tensor)?, DType::I64, false, false, None);
        let (lengths, offsets) = match (lengths, offsets) {
            (Some(lengths), _) => (whole(lengths)?, None),
            (None, Some(offsets)) => {
                let (offsets, count) = (whole(offsets)?, offsets.sizes().last().copied().unwrap_or(0));
                ensure!(count > 0, Runtime, "segment_reduce(): Expected offsets to have elements");
                let (after, before) =
                    (ops::narrow(&offsets, -1, 1, count - 1)?, ops::narrow(&offsets, -1, 0, count - 1)?);
                (ops::sub_tensor(&after, &before, Scalar::Int(1))?, Some(offsets))
            }
            (None, None) => bail!(Runtime, "segment_reduce(): Either lengths or offsets must be defined."),
        };
        let axis = wrap_dim(axis, data.ndim())?;
        let (sizes, own) = (data.sizes(), lengths.sizes());
        ensure!(
            own.len() == axis + 1 && axis < sizes.len() && own[..axis] == sizes[..axis],
            Runtime,
            "segment_reduce(): Expected axis to be the last dimension of lengths and those before it to be those of data, but \
             got data {}, lengths {} and axis {axis}",
            format_sizes(&sizes),
            format_sizes(&own)
        );
        let before = match &offsets {
            Some(offsets) => ops::narrow(offsets, -1, 0, 1)?,
            None => {
                let mut one = DimVec::from_slice(&own);
                one[axis] = 1;
                ops::zeros(&one, lengths.options())?
            }
        };
        let begun = ops::cat(&[&before, &lengths], -1)?;
        let rest = ops::rsub_scalar(
            &ops::sum_dim_intlist(&begun, Some(&[-1]), true, None)?,
            Scalar::Int(sizes[axis]),
            Scalar::Int(1),
        )?;
        let lengths = ops::cat(&[&begun, &rest], -1)?;
        if rest.numel() > 0 && !super::sorting::is_meta(&lengths) {
            let (least, most) = (ops::min(&rest)?.item()?.to_i64(), ops::max(&rest)?.item()?.to_i64());
            ensure!(ops::min(&begun)?.item()?.to_i64() >= 0, Runtime, "lengths contains negative value!");
            ensure!(
                least >= 0 && (unsafe_ != Some(false) || offsets.is_some() || most == 0),
                Runtime,
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
            );
        }
        let all = ops::reshape(&lengths, &[-1])?;
        let rows = sizes[..=axis].iter().product();
        let of_row = ops::repeat_interleave_tensor(&all, Some(rows))?;
        Ok(Segments { axis, count: own[axis], lengths: all, of_row, sizes })
    }

    /// The sizes behind those of `lead`.
    fn shaped(&self, lead: &[i64]) -> Vec<i64> {
        lead.iter().chain(&self.sizes[self.axis + 1..]).copied().collect()
    }

    /// The sizes of the results of all segments, a row for each.
    fn joined_sizes(&self) -> Vec<i64> {
        self.shaped(&[self.lengths.numel()])
    }

    /// The sizes of a reduction.
    fn result_sizes(&self) -> Vec<i64> {
        let mut lead = self.sizes[..self.axis].to_vec();
        lead.push(self.count);
        self.shaped(&lead)
    }

    /// The elements, with one dimension for those up to the axis.
    fn rows(&self, data: &Tensor) -> Result<Tensor> {
        ops::reshape(data, &self.shaped(&[self.of_row.numel()]))
    }

    /// The number of rows of each segment, which broadcasts with the results of all.
    fn counts(&self) -> Result<Tensor> {
        let mut sizes = vec![1; self.sizes.len() - self.axis];
        sizes[0] = -1;
        ops::reshape(&self.lengths, &sizes)
    }

    /// The results of the segments, of those of all.
    fn separated(&self, joined: &Tensor) -> Result<Tensor> {
        let mut lead = self.sizes[..self.axis].to_vec();
        lead.push(self.count + 2);
        let all = ops::reshape(joined, &self.shaped(&lead))?;
        ops::clone(&ops::narrow(&all, self.axis as i64, 1, self.count)?, None)
    }

    /// For each row the result of its segment; 0 for those that are left out.
    fn spread(&self, result: &Tensor) -> Result<Tensor> {
        let mut pads = vec![0; 2 * (self.sizes.len() - self.axis)];
        let last = pads.len();
        pads[last - 2..].fill(1);
        let padded = ops::constant_pad_nd(result, &pads, Scalar::Int(0))?;
        ops::index_select(&ops::reshape(&padded, &self.joined_sizes())?, 0, &self.of_row)
    }
}

/// The extrema of segments. Where the initial value is the result, it does not contribute to the gradient.
fn extreme_of_segments(
    rows: &Tensor,
    segment: &Tensor,
    fill: impl Fn(Scalar) -> Result<Tensor>,
    largest: bool,
    initial: Option<Scalar>,
) -> Result<Tensor> {
    let none = Scalar::Float(if largest { f64::NEG_INFINITY } else { f64::INFINITY });
    let name = if largest { "amax" } else { "amin" };
    let found = ops::index_reduce(&fill(none)?, 0, segment, rows, name, false)?;
    let Some(initial) = initial else { return Ok(found) };
    let initial = fill(initial)?;
    let loses = if largest { ops::lt_tensor(&found, &initial)? } else { ops::gt_tensor(&found, &initial)? };
    ops::where_self(&loses, &initial, &found)
}
