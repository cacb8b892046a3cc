//! Composite operators: orders, unique elements, counts, quantiles, repetitions.

use crate::autograd::should_record;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DeviceType, Result, Scalar, bail, ensure, err, format_sizes, wrap_dim};

/// Sorts along the first dimension.
pub fn msort(self_: &Tensor) -> Result<Tensor> {
    Ok(ops::sort(self_, 0, false)?.0)
}

/// The indices that sort a dimension.
pub fn argsort(self_: &Tensor, dim: i64, descending: bool) -> Result<Tensor> {
    Ok(ops::sort(self_, dim, descending)?.1)
}

/// The same: every sort is stable.
pub fn argsort_stable(self_: &Tensor, _stable: bool, dim: i64, descending: bool) -> Result<Tensor> {
    argsort(self_, dim, descending)
}

fn no_indices(like: &Tensor) -> Result<Tensor> {
    ops::empty_memory_format(&[0], indices(like), None)
}

/// Whether there is no data.
pub(super) fn is_meta(tensor: &Tensor) -> bool {
    tensor.device().kind == DeviceType::Meta
}

fn indices(like: &Tensor) -> Options {
    Options::of(DType::I64).on(like.device())
}

/// 0, 1, ..., count - 1
fn counted(count: i64, like: &Tensor) -> Result<Tensor> {
    ops::arange(Scalar::Int(count), indices(like))
}

/// Runs of equal slices along the first dimension.
struct Runs {
    /// The first slice of each run.
    starts: Tensor,
    /// Whether each slice but the first differs from the one before.
    differs: Tensor,
    slices: i64,
}

impl Runs {
    fn of(slices: &Tensor) -> Result<Runs> {
        let count = slices.sizes()[0];
        let (before, after) =
            (ops::narrow(slices, 0, 0, (count - 1).max(0))?, ops::slice_tensor(slices, 0, Some(1), None, 1)?);
        let mut differs = ops::ne_tensor(&after, &before)?;
        if differs.ndim() > 1 {
            differs = ops::any_dim(&ops::flatten_using_ints(&differs, 1, -1)?, 1, false)?;
        }
        let first = ops::constant_pad_nd(&differs, &[count.min(1), 0], Scalar::Bool(true))?;
        let starts = ops::squeeze_dim(&ops::nonzero(&first)?, 1)?;
        Ok(Runs { starts, differs, slices: count })
    }

    /// The run of each slice.
    fn numbers(&self) -> Result<Tensor> {
        let numbers = ops::cumsum(&self.differs, 0, None)?;
        ops::constant_pad_nd(&numbers, &[self.slices.min(1), 0], Scalar::Int(0))
    }

    fn lengths(&self) -> Result<Tensor> {
        let ends = ops::constant_pad_nd(
            &ops::slice_tensor(&self.starts, 0, Some(1), None, 1)?,
            &[0, self.starts.numel().min(1)],
            Scalar::Int(self.slices),
        )?;
        ops::sub_tensor(&ends, &self.starts, Scalar::Int(1))
    }
}

/// The unique slices along a dimension, the inverse indices, and the counts. Neighbours in `order` are compared, if it
/// is given.
fn distinct(
    self_: &Tensor,
    dim: i64,
    order: Option<&Tensor>,
    return_inverse: bool,
    return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    let rows = ops::movedim_int(self_, dim, 0)?;
    let rows = order.map_or_else(|| Ok(rows.clone()), |order| ops::index_select(&rows, 0, order))?;
    let runs = Runs::of(&ops::detach(&rows)?)?;
    let values = ops::movedim_int(&ops::index_select(&rows, 0, &runs.starts)?, 0, dim)?;
    let inverse = match (return_inverse, order) {
        (false, _) => no_indices(self_)?,
        (true, None) => runs.numbers()?,
        (true, Some(order)) => {
            let numbers = runs.numbers()?;
            ops::scatter_src(&numbers, 0, order, &numbers)?
        }
    };
    let counts = if return_counts { runs.lengths()? } else { no_indices(self_)? };
    Ok((ops::contiguous(&values, rushlight_base::MemoryFormat::Contiguous)?, inverse, counts))
}

fn check_ordered(self_: &Tensor) -> Result<()> {
    ensure!(!self_.dtype().is_complex(), Runtime, "\"unique\" not implemented for '{}'", self_.dtype().c10_name());
    Ok(())
}

/// `distinct` of all elements; the inverse in their shape.
fn distinct_elements(
    self_: &Tensor,
    sorted: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    check_ordered(self_)?;
    let flat = ops::reshape(self_, &[-1])?;
    if sorted && !return_inverse && !should_record([&flat]) {
        return distinct(&ops::sort(&flat, 0, false)?.0, 0, None, false, return_counts);
    }
    let order = if sorted { Some(argsort(&ops::detach(&flat)?, 0, false)?) } else { None };
    let (values, inverse, counts) = distinct(&flat, 0, order.as_ref(), return_inverse, return_counts)?;
    let inverse = if return_inverse { ops::reshape(&inverse, &self_.sizes())? } else { inverse };
    Ok((values, inverse, counts))
}

/// The unique elements, in ascending order whether requested or not, the inverse indices, and the counts.
pub fn _unique2(
    self_: &Tensor,
    _sorted: bool,
    return_inverse: bool,
    return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    distinct_elements(self_, true, return_inverse, return_counts)
}

/// Like `_unique2`, without counts.
pub fn _unique(self_: &Tensor, _sorted: bool, return_inverse: bool) -> Result<(Tensor, Tensor)> {
    let (values, inverse, _) = distinct_elements(self_, true, return_inverse, false)?;
    Ok((values, inverse))
}

/// PyTorch's results for empty tensors.
fn check_slices(self_: &Tensor, dim: i64) -> Result<()> {
    check_ordered(self_)?;
    ensure!(self_.ndim() > 0, Index, "Dimension specified as {dim} but tensor has no dimensions");
    let dim = wrap_dim(dim, self_.ndim())?;
    let sizes = self_.sizes();
    let zeros = sizes.iter().filter(|&&size| size == 0).count();
    if sizes[dim] == 0 {
        ensure!(zeros == 1, Runtime, "Number of zero sized dimensions is more than one, so unique cannot be applied ");
    }
    ensure!(
        zeros == 0 || sizes[dim] == 0,
        Runtime,
        "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"
    );
    Ok(())
}

/// The unique slices along a dimension, in lexicographic order, with inverse indices and counts, requested or not.
pub fn unique_dim(
    self_: &Tensor,
    dim: i64,
    _sorted: bool,
    _return_inverse: bool,
    _return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    check_slices(self_, dim)?;
    let order = ops::_order_of_slices(&ops::detach(self_)?, dim)?;
    distinct(self_, dim, Some(&order), true, true)
}

/// The slices along a dimension that differ from the previous one, with inverse indices and counts, requested or not.
pub fn unique_dim_consecutive(
    self_: &Tensor,
    dim: i64,
    _return_inverse: bool,
    _return_counts: bool,
) -> Result<(Tensor, Tensor, Tensor)> {
    check_slices(self_, dim)?;
    distinct(self_, dim, None, true, true)
}

/// The elements, or slices along a dimension, that differ from the one before.
pub fn unique_consecutive(
    self_: &Tensor,
    return_inverse: bool,
    return_counts: bool,
    dim: Option<i64>,
) -> Result<(Tensor, Tensor, Tensor)> {
    // The slices of a vector along 0 are its elements; only along -1 more is returned than requested, as in PyTorch.
    match dim.filter(|&dim| dim != 0 || self_.ndim() != 1) {
        Some(dim) => unique_dim_consecutive(self_, dim, return_inverse, return_counts),
        None => distinct_elements(self_, false, return_inverse, return_counts),
    }
}

/// How often each number occurs, or the sum of its weights.
pub fn bincount(self_: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
    ensure!(
        self_.dtype().is_integral(false),
        Runtime,
        "\"bincount_cpu\" not implemented for '{}'",
        self_.dtype().c10_name()
    );
    ensure!(minlength >= 0, Runtime, "minlength should be >= 0");
    const INPUTS: &str = "bincount only supports 1-d non-negative integral inputs.";
    ensure!(self_.ndim() == 1, Runtime, "{INPUTS}");
    if self_.numel() == 0 {
        return ops::zeros(&[minlength], indices(self_));
    }
    let (least, most) = ops::aminmax(self_, None, false)?;
    let (least, most) = (least.item()?.to_i64(), most.item()?.to_i64());
    ensure!(least >= 0, Runtime, "{INPUTS}");
    let places = ops::to_dtype(self_, DType::I64, false, false, None)?;
    let length = minlength.max(most.saturating_add(1));
    let Some(weights) = weights else {
        let ones = ops::expand(&ops::ones(&[], indices(self_))?, &self_.sizes(), false)?;
        return ops::index_add(&ops::zeros(&[length], indices(self_))?, 0, &places, &ones, Scalar::Int(1));
    };
    ensure!(
        weights.ndim() == 1 && weights.numel() == self_.numel(),
        Runtime,
        "weights should be 1-d and have the same length as input"
    );
    let dtype = if weights.dtype() == DType::F32 { DType::F32 } else { DType::F64 };
    let weights = ops::to_dtype(weights, dtype, false, false, None)?;
    ops::index_add(&ops::zeros(&[length], weights.options())?, 0, &places, &weights, Scalar::Int(1))
}

/// Whether each element is contained in `elements`.
pub fn isin_tensor_tensor(
    elements: &Tensor,
    test_elements: &Tensor,
    _assume_unique: bool,
    invert: bool,
) -> Result<Tensor> {
    let common = ops::rules::common_dtype(&[&*elements.dense()?, &*test_elements.dense()?])?;
    for tensor in [elements, test_elements] {
        let dtype = tensor.dtype();
        ensure!(
            !dtype.is_complex() && dtype != DType::Bool,
            Runtime,
            "Unsupported input type encountered for isin(): {}",
            dtype.c10_name()
        );
    }
    if test_elements.numel() == 0 {
        let options = Options::of(DType::Bool).on(elements.device());
        return ops::full(&elements.sizes(), Scalar::Bool(invert), options);
    }
    let cast = |tensor: &Tensor| ops::to_dtype(&ops::detach(tensor)?, common, false, false, None);
    let (elements, tests) = (cast(elements)?, ops::reshape(&cast(test_elements)?, &[-1])?);
    if tests.numel() <= FEW_TESTS {
        return is_one_of(&elements, &tests, invert);
    }
    let tests = msort(&tests)?;
    let places = ops::searchsorted_tensor(&tests, &elements, false, false, None, None)?;
    let nearest = ops::take(&tests, &ops::clamp_max(&places, Scalar::Int(tests.numel() - 1))?)?;
    if invert { ops::ne_tensor(&elements, &nearest) } else { ops::eq_tensor(&elements, &nearest) }
}

/// As many test elements are compared one after another with all elements (0.2 of the time of searching among 8).
const FEW_TESTS: i64 = 16;

fn is_one_of(elements: &Tensor, tests: &Tensor, invert: bool) -> Result<Tensor> {
    let equals = |nth: i64| ops::eq_tensor(elements, &ops::select_int(tests, 0, nth)?);
    let found = (1..tests.numel()).try_fold(equals(0)?, |found, nth| ops::logical_or(&found, &equals(nth)?))?;
    if invert { ops::logical_not(&found) } else { Ok(found) }
}

/// The mask of the elements that equal a number.
pub fn isin_tensor_scalar(
    elements: &Tensor,
    test_element: Scalar,
    assume_unique: bool,
    invert: bool,
) -> Result<Tensor> {
    isin_tensor_tensor(elements, &super::number(test_element, elements)?, assume_unique, invert)
}

/// Whether a number is among the elements.
pub fn isin_scalar_tensor(
    element: Scalar,
    test_elements: &Tensor,
    assume_unique: bool,
    invert: bool,
) -> Result<Tensor> {
    isin_tensor_tensor(&super::number(element, test_elements)?, test_elements, assume_unique, invert)
}

/// Each index repeated by its count.
pub fn repeat_interleave_tensor(repeats: &Tensor, output_size: Option<i64>) -> Result<Tensor> {
    ensure!(repeats.ndim() == 1, Runtime, "repeat_interleave only accept 1D vector as repeat");
    ensure!(
        matches!(repeats.dtype(), DType::I32 | DType::I64),
        Runtime,
        "\"repeat_interleave_cpu\" not implemented for '{}'",
        repeats.dtype().c10_name()
    );
    if repeats.numel() == 0 {
        return Ok(repeats.clone());
    }
    if let (true, Some(size)) = (is_meta(repeats), output_size) {
        return ops::empty_memory_format(&[size], repeats.options(), None);
    }
    ensure!(ops::min(repeats)?.item()?.to_i64() >= 0, Runtime, "repeats can not be negative");
    let ends = ops::cumsum(repeats, 0, Some(DType::I64))?;
    let total = ops::select_int(&ends, 0, -1)?.item()?.to_i64();
    ensure!(output_size.is_none_or(|size| size == total), Runtime, "allocated size does not match required size");
    let wanted = repeats.dtype() == DType::I32;
    ops::searchsorted_tensor(&ends, &counted(total, repeats)?, wanted, true, None, None)
}

/// Slices repeated, each by its count.
pub fn repeat_interleave_self_tensor(
    self_: &Tensor,
    repeats: &Tensor,
    dim: Option<i64>,
    output_size: Option<i64>,
) -> Result<Tensor> {
    let flat = if dim.is_none() { ops::flatten_using_ints(self_, 0, -1)? } else { ops::atleast_1d(self_)? };
    let dim = dim.unwrap_or(0);
    let at = wrap_dim(dim, flat.ndim())?;
    let size = flat.sizes()[at];
    ensure!(repeats.ndim() <= 1, Runtime, "repeats must be 0-dim or 1-dim tensor");
    let repeats = if repeats.ndim() == 0 || repeats.numel() == 1 {
        ops::expand(&ops::reshape(repeats, &[1])?, &[size], false)?
    } else {
        ensure!(
            repeats.numel() == size,
            Runtime,
            "repeats must have the same size as input along dim, but got repeats.size(0) = {} and input.size({at}) = {size}",
            repeats.numel()
        );
        repeats.clone()
    };
    ops::index_select(&flat, dim, &repeat_interleave_tensor(&repeats, output_size)?)
}

/// Slices repeated a number of times each.
pub fn repeat_interleave_self_int(
    self_: &Tensor,
    repeats: i64,
    dim: Option<i64>,
    output_size: Option<i64>,
) -> Result<Tensor> {
    ensure!(repeats >= 0, Runtime, "Repeats must be non-negative");
    let flat = if dim.is_none() { ops::flatten_using_ints(self_, 0, -1)? } else { ops::atleast_1d(self_)? };
    let at = wrap_dim(dim.unwrap_or(0), flat.ndim())?;
    let mut sizes = flat.sizes();
    let total = sizes[at] * repeats;
    ensure!(
        output_size.is_none_or(|size| size == total),
        Runtime,
        "repeat_interleave: Invalid output_size, expected {total} but got {}",
        output_size.unwrap_or_default()
    );
    sizes.insert(at + 1, repeats);
    let spread = ops::expand(&ops::unsqueeze(&flat, at as i64 + 1)?, &sizes, false)?;
    let spread = ops::clone(&spread, Some(rushlight_base::MemoryFormat::Contiguous))?;
    ops::flatten_using_ints(&spread, at as i64, at as i64 + 1)
}

/// The coordinates of the elements that differ from zero, a list for each dimension.
pub fn nonzero_numpy(self_: &Tensor) -> Result<Vec<Tensor>> {
    ops::unbind_int(&ops::nonzero(&ops::atleast_1d(self_)?)?, 1)
}

/// The coordinates of the elements that differ from zero, cut or filled to a number of rows.
pub fn nonzero_static(self_: &Tensor, size: i64, fill_value: i64) -> Result<Tensor> {
    ensure!(size >= 0, Runtime, "nonzero_static: 'size' must be an non-negative integer");
    if is_meta(self_) {
        return ops::empty_memory_format(&[size, self_.ndim() as i64], indices(self_), None);
    }
    let found = ops::nonzero(self_)?;
    let rows = found.sizes()[0];
    if rows >= size {
        return ops::clone(&ops::narrow(&found, 0, 0, size)?, Some(rushlight_base::MemoryFormat::Contiguous));
    }
    ops::constant_pad_nd(&found, &[0, 0, 0, size - rows], Scalar::Int(fill_value))
}

/// All combinations of this many elements of a vector.
pub fn combinations(self_: &Tensor, r: i64, with_replacement: bool) -> Result<Tensor> {
    ensure!(self_.ndim() == 1, Runtime, "Expect a 1D vector, but got shape {}", format_sizes(&self_.sizes()));
    ensure!(r >= 0, Runtime, "Expect a non-negative number, but got {r}");
    if r == 0 {
        return ops::empty_memory_format(&[0], self_.options(), None);
    }
    let rows = rows_of_places(self_.numel(), r as usize, with_replacement)?;
    let places = Tensor::from_slice(&rows, &[rows.len() as i64])?;
    let places = ops::to_device(&places, self_.device(), DType::I64, false, false, None)?;
    ops::reshape(&ops::index_select(self_, 0, &places)?, &[rows.len() as i64 / r, r])
}

/// The ascending lists of `r` indices below `count`, one after the other, in lexicographic order.
fn rows_of_places(count: i64, r: usize, with_replacement: bool) -> Result<Vec<i64>> {
    let mut rows = Vec::new();
    if count == 0 || !with_replacement && r as i64 > count {
        return Ok(rows);
    }
    let step = i64::from(!with_replacement);
    let full = || err!(OutOfMemory, "combinations(): not enough memory for all of them");
    let columns = |place: &dyn Fn(i64) -> i64| -> Result<Vec<i64>> {
        let mut list = Vec::new();
        list.try_reserve_exact(r).map_err(|_| full())?;
        list.extend((0..r as i64).map(place));
        Ok(list)
    };
    // The largest index of each column, and the first row.
    let last = columns(&|column| count - 1 - step * (r as i64 - 1 - column))?;
    let mut row = columns(&|column| step * column)?;
    loop {
        rows.try_reserve(r).map_err(|_| full())?;
        rows.extend_from_slice(&row);
        let Some(column) = (0..r).rev().find(|&column| row[column] < last[column]) else { return Ok(rows) };
        let next = row[column] + 1;
        for (nth, place) in row[column..].iter_mut().enumerate() {
            *place = next + step * nth as i64;
        }
    }
}

/// Elements that a quantile may hold at most, as in PyTorch.
const QUANTILE_LIMIT: i64 = 16_000_000;

fn quantile_of(
    self_: &Tensor,
    q: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
    ignore_nan: bool,
) -> Result<Tensor> {
    ensure!(self_.numel() > 0, Runtime, "quantile() input tensor must be non-empty");
    ensure!(q.ndim() <= 1, Runtime, "quantile() q must be a scalar or 1D tensor");
    ensure!(
        matches!(self_.dtype(), DType::F32 | DType::F64),
        Runtime,
        "quantile() input tensor must be either float or double dtype"
    );
    ensure!(self_.dtype() == q.dtype(), Runtime, "quantile() q tensor must be same dtype as the input tensor");
    ensure!(
        matches!(interpolation, "linear" | "lower" | "higher" | "midpoint" | "nearest"),
        Runtime,
        "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
    );
    // A single dimension, moved to the end; its original index, for the shape of the result.
    let (rows, at) = match dim {
        None => (ops::reshape(self_, &[-1])?, None),
        Some(_) if self_.ndim() == 0 => (ops::reshape(self_, &[-1])?, None),
        Some(dim) => (ops::movedim_int(self_, dim, -1)?, Some(wrap_dim(dim, self_.ndim())?)),
    };
    let sorted = ops::sort(&rows, -1, false)?.0;
    let last = sorted.sizes()[sorted.ndim() - 1] - 1;
    ensure!(sorted.numel() <= QUANTILE_LIMIT, Runtime, "quantile() input tensor is too large");
    let q = ops::reshape(q, &[-1])?;
    let nan = ops::isnan(&ops::detach(&sorted)?)?;
    let ranks = if ignore_nan {
        let numbers = ops::sum_dim_intlist(&ops::logical_not(&nan)?, Some(&[-1]), true, Some(sorted.dtype()))?;
        let ranks = ops::mul_tensor(&q, &ops::sub_scalar(&numbers, Scalar::Int(1), Scalar::Int(1))?)?;
        ops::clamp_min(&ranks, Scalar::Int(0))?
    } else {
        // NaN is sorted last, and is every quantile of its row.
        let ranks = ops::mul_scalar(&q, Scalar::Int(last))?;
        ops::where_scalarself(&ops::any_dim(&nan, -1, true)?, Scalar::Float(last as f64), &ranks)?
    };
    let ranks = match interpolation {
        "lower" => ops::floor(&ranks)?,
        "higher" => ops::ceil(&ranks)?,
        "nearest" => ops::round(&ranks)?,
        _ => ranks,
    };
    let at_ranks = |ranks: &Tensor| -> Result<(Tensor, Tensor)> {
        let places = ops::to_dtype(ranks, DType::I64, false, false, None)?;
        Ok((ops::gather(&sorted, -1, &places, false)?, places))
    };
    let (below, places) = at_ranks(&ranks)?;
    let result = match interpolation {
        "linear" | "midpoint" => {
            let above = at_ranks(&ops::ceil(&ranks)?)?.0;
            let weights = match interpolation {
                "midpoint" => ops::full_like(&ranks, Scalar::Float(0.5), Options::default(), None)?,
                _ => ops::sub_tensor(&ranks, &places, Scalar::Int(1))?,
            };
            ops::lerp_tensor(&below, &above, &weights)?
        }
        _ => below,
    };
    in_place_of(&result, self_, at, dim, keepdim)
}

/// Moves the quantiles from the last dimension to the front, with the other dimensions in their order.
fn in_place_of(result: &Tensor, self_: &Tensor, at: Option<usize>, dim: Option<i64>, keepdim: bool) -> Result<Tensor> {
    let result = ops::movedim_int(result, -1, 0)?;
    match (keepdim, at) {
        (false, _) => Ok(result),
        (true, Some(at)) => ops::unsqueeze(&result, at as i64 + 1),
        (true, None) if dim.is_some() && self_.ndim() == 0 => Ok(result),
        (true, None) => {
            let mut sizes = vec![result.sizes()[0]];
            sizes.resize(self_.ndim() + 1, 1);
            ops::reshape(&result, &sizes)
        }
    }
}

/// A list of quantiles in front, a single one without the dimension.
fn quantile_or_list(
    self_: &Tensor,
    q: &Tensor,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
    ignore_nan: bool,
) -> Result<Tensor> {
    let inside = || -> Result<bool> {
        let outside = ops::logical_not(&ops::logical_and(
            &ops::ge_scalar(q, Scalar::Int(0))?,
            &ops::le_scalar(q, Scalar::Int(1))?,
        )?)?;
        Ok(!ops::any(&outside)?.item()?.to_bool())
    };
    if q.ndim() <= 1 && q.dtype() == self_.dtype() && !is_meta(q) {
        ensure!(inside()?, Runtime, "quantile() q values must be in the range [0, 1]");
    }
    let result = quantile_of(self_, q, dim, keepdim, interpolation, ignore_nan)?;
    if q.ndim() == 0 { ops::squeeze_dim(&result, 0) } else { Ok(result) }
}

fn quantile_at(
    self_: &Tensor,
    q: f64,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
    ignore_nan: bool,
) -> Result<Tensor> {
    if !(0.0..=1.0).contains(&q) {
        bail!(Runtime, "quantile() q must be in the range [0, 1] but got {q}");
    }
    let q = ops::full(&[], Scalar::Float(q), self_.options())?;
    quantile_or_list(self_, &q, dim, keepdim, interpolation, ignore_nan)
}

/// Quantiles, of all elements or along a dimension.
pub fn quantile(self_: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    quantile_or_list(self_, q, dim, keepdim, interpolation, false)
}

/// One quantile.
pub fn quantile_scalar(self_: &Tensor, q: f64, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    quantile_at(self_, q, dim, keepdim, interpolation, false)
}

/// Quantiles of the elements that are not NaN.
pub fn nanquantile(self_: &Tensor, q: &Tensor, dim: Option<i64>, keepdim: bool, interpolation: &str) -> Result<Tensor> {
    quantile_or_list(self_, q, dim, keepdim, interpolation, true)
}

/// One quantile of the elements that are not NaN.
pub fn nanquantile_scalar(
    self_: &Tensor,
    q: f64,
    dim: Option<i64>,
    keepdim: bool,
    interpolation: &str,
) -> Result<Tensor> {
    quantile_at(self_, q, dim, keepdim, interpolation, true)
}
