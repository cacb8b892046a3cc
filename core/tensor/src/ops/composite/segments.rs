//! Composite operators: reductions of segments.

use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Result, Scalar, bail, ensure, format_sizes, wrap_dim};

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
    ensure!(data.numel() > 0, Runtime, "segment_reduce(): Expected data to be not empty");
    ensure!(indices.is_none(), Runtime, "segment_reduce(): indices based reduction is not supported yet.");
    let lengths = match (lengths, offsets) {
        (Some(lengths), _) => lengths.clone(),
        (None, Some(offsets)) => {
            let count = offsets.sizes().last().copied().unwrap_or(0);
            ensure!(count > 0, Runtime, "segment_reduce(): Expected offsets to have elements");
            let after = ops::narrow(offsets, -1, 1, count - 1)?;
            ops::sub_tensor(&after, &ops::narrow(offsets, -1, 0, count - 1)?, Scalar::Int(1))?
        }
        (None, None) => {
            bail!(Runtime, "segment_reduce(): Either lengths or offsets must be defined.")
        }
    };
    let axis = wrap_dim(axis, data.ndim())?;
    let (sizes, own) = (data.sizes(), lengths.sizes());
    ensure!(
        own.len() == axis + 1 && axis < sizes.len() && own[..axis] == sizes[..axis],
        Runtime,
        "segment_reduce(): Expected axis to be the last dimension of lengths and those before it to be those of data, but got \
         data {}, lengths {} and axis {axis}",
        format_sizes(&sizes),
        format_sizes(&own)
    );
    let lengths = ops::to_dtype(&ops::detach(&lengths)?, DType::I64, false, false, None)?;
    let rest = ops::rsub_scalar(
        &ops::sum_dim_intlist(&lengths, Some(&[-1]), true, None)?,
        Scalar::Int(sizes[axis]),
        Scalar::Int(1),
    )?;
    let readable = lengths.numel() > 0 && !super::sorting::is_meta(&lengths);
    if !unsafe_ && readable {
        ensure!(ops::min(&lengths)?.item()?.to_i64() >= 0, Runtime, "lengths contains negative value!");
    }
    if readable {
        let (least, most) = (ops::min(&rest)?.item()?.to_i64(), ops::max(&rest)?.item()?.to_i64());
        ensure!(
            least >= 0 && (unsafe_ || offsets.is_some() || most == 0),
            Runtime,
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."
        );
    }
    // Elements outside of all segments go into an additional one, which is dropped in the end.
    let all = ops::reshape(&ops::cat(&[&lengths, &rest], -1)?, &[-1])?;
    let count = sizes[..=axis].iter().product();
    let segment = ops::repeat_interleave_tensor(&all, Some(count))?;
    let tail = &sizes[axis + 1..];
    let shaped = |lead: &[i64]| -> Vec<i64> { lead.iter().chain(tail).copied().collect() };
    let rows = ops::reshape(data, &shaped(&[segment.numel()]))?;
    let fill = |value: Scalar| ops::full(&shaped(&[all.numel()]), value, data.options());
    let joined = match reduce {
        "sum" | "mean" => {
            let start = fill(initial.unwrap_or(Scalar::Int(0)))?;
            ops::index_add(&start, 0, &segment, &rows, Scalar::Int(1))?
        }
        "prod" => ops::index_reduce(&fill(initial.unwrap_or(Scalar::Int(1)))?, 0, &segment, &rows, "prod", true)?,
        _ => extreme_of_segments(&rows, &segment, fill, reduce == "max", initial)?,
    };
    let mut counts = vec![1; joined.ndim()];
    counts[0] = -1;
    let counts = ops::reshape(&all, &counts)?;
    let joined = match (reduce, initial) {
        ("mean", None) => ops::div_tensor(&joined, &counts)?,
        ("mean", Some(_)) => ops::div_tensor(&joined, &ops::clamp_min(&counts, Scalar::Int(1))?)?,
        _ => joined,
    };
    let (mut lead, segments) = (sizes[..axis].to_vec(), own[axis]);
    lead.push(segments + 1);
    ops::clone(&ops::narrow(&ops::reshape(&joined, &shaped(&lead))?, axis as i64, 0, segments)?, None)
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
