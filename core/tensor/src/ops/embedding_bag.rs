//! Kernels of embedding bags.

use super::access::array;
use super::norm::numbers;
use crate::dense::Dense;
use rushlight_base::{DType, Result};
use rushlight_cpu::embedding_bag::{Bags, sums};
use rushlight_cpu::indexing::check_inside;
use std::borrow::Cow;

/// out = sums of bags of rows of weight, times per_sample_weights
#[allow(clippy::too_many_arguments)] // the operator's
pub fn embedding_bag_sums(
    out: &Dense,
    weight: &Dense,
    indices: &Dense,
    offsets: &Dense,
    per_sample_weights: Option<&Dense>,
    padding_idx: i64,
    _scale_grad_by_freq: bool,
    _sparse: bool,
) -> Result<()> {
    let (indices, offsets) = (numbers(indices, DType::I64)?, numbers(offsets, DType::I64)?);
    check_inside(&array(&indices), weight.sizes()[0] as usize)?;
    let factors = per_sample_weights.map(|factors| numbers(factors, weight.dtype)).transpose()?;
    let has_adjacent_columns = weight.strides()[1] == 1;
    let weight = if has_adjacent_columns { Cow::Borrowed(weight) } else { numbers(weight, weight.dtype)? };
    let bags = Bags {
        indices: array(&indices),
        offsets: array(&offsets),
        factors: factors.as_deref().map(array),
        padding: (padding_idx >= 0).then_some(padding_idx),
    };
    sums(&array(out), &array(&weight), &bags)
}
