//! Operators that choose one of equal elements. PyTorch's CPU kernels choose the one that the steps of their selection leave
//! first, and so does the CPU here; a device chooses by the order of the indices. The values are the same.

use crate::cases::{Case, Item};
use crate::compare;
use crate::door::Door;
use crate::host::HostTensor;
use crate::run::{outcome, recorded};
use rushlight_base::{Complex128, Scalar};

/// The reason for the report.
pub const REASON: &str =
    "another one of equal elements was chosen: the values are the same, and the index leads to one of them";

/// These operators, and the position of their argument `dim`.
const CHOOSING: [(&str, usize); 5] =
    [("topk", 2), ("kthvalue", 2), ("mode", 1), ("median.dim", 1), ("nanmedian.dim", 1)];

/// Whether the only difference is which of equal elements were chosen. The sums of the gradients are also the same.
pub fn explains(door: &Door, case: &Case) -> bool {
    let bare = case.op.strip_prefix("aten::").unwrap_or(&case.op);
    let Some((_, at)) = CHOOSING.iter().find(|(name, _)| *name == bare) else { return false };
    let named = case.kwargs.iter().find(|(name, _)| name == "dim").map(|(_, item)| item);
    let dim = match case.args.get(*at).or(named) {
        Some(Item::Scalar(Scalar::Int(dim))) => *dim,
        _ => -1,
    };
    let (Some(Item::Tensor(input)), Ok(actual)) = (case.args.first(), outcome(door, case)) else { return false };
    let expected = recorded(case);
    if expected.len() != actual.len() {
        return false;
    }
    let all: Option<Vec<(HostTensor, HostTensor)>> =
        actual.into_iter().zip(expected).map(|(actual, expected)| Some((actual?, expected?))).collect();
    let Some([values, indices, rest @ ..]) = all.as_deref() else { return false };
    let sum = |host: &HostTensor| host.numbers().iter().sum::<Complex128>();
    let same_sum = |(actual, expected): &(HostTensor, HostTensor)| {
        let (actual, expected) = (sum(actual), sum(expected));
        (actual - expected).norm() <= 1e-2 * expected.norm().max(1.0)
    };
    compare::tensors_within(&compare::tolerances, &values.0, &values.1).is_ok()
        && leads_to(input, &indices.0, &values.1, dim) == Some(true)
        && rest.iter().all(same_sum)
}

/// Whether the elements of `input` at `indices` along a dimension are `values`.
fn leads_to(input: &HostTensor, indices: &HostTensor, values: &HostTensor, dim: i64) -> Option<bool> {
    let rank = input.shape.len() as i64;
    let dim = if dim < 0 { dim + rank } else { dim }.max(0) as usize;
    let len = input.shape.get(dim).copied().unwrap_or(1) as usize;
    let inner = input.shape.iter().skip(dim + 1).product::<i64>() as usize;
    let outer = input.shape.iter().take(dim).product::<i64>() as usize;
    let chosen = values.numel().checked_div(inner * outer)?;
    let (elements, places, values) = (input.numbers(), indices.numbers(), values.numbers());
    let same = |a: Complex128, b: Complex128| a == b || a.re.is_nan() && b.re.is_nan();
    Some(places.iter().zip(&values).enumerate().all(|(nth, (place, value))| {
        let (block, column) = (nth / (chosen * inner), nth % inner);
        let place = place.re as usize;
        place < len && same(elements[(block * len + place) * inner + column], *value)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rushlight_base::DType;

    fn host<T: Copy>(dtype: DType, shape: &[i64], values: &[T], bytes: impl Fn(T) -> Vec<u8>) -> HostTensor {
        let bytes = Some(values.iter().flat_map(|&value| bytes(value)).collect());
        HostTensor { dtype, shape: shape.to_vec(), strides: None, bytes }
    }

    #[test]
    fn an_index_must_lead_to_the_value() {
        let floats = |shape: &[i64], values: &[f32]| host(DType::F32, shape, values, |x| x.to_le_bytes().to_vec());
        let longs = |shape: &[i64], values: &[i64]| host(DType::I64, shape, values, |x| x.to_le_bytes().to_vec());
        let input = floats(&[2, 3], &[5.0, 7.0, 5.0, f32::NAN, 1.0, 1.0]);
        let values = floats(&[2], &[5.0, 1.0]);
        assert_eq!(leads_to(&input, &longs(&[2], &[2, 1]), &values, -1), Some(true));
        assert_eq!(leads_to(&input, &longs(&[2], &[1, 1]), &values, 1), Some(false));
        assert_eq!(leads_to(&input, &longs(&[2], &[0, 3]), &values, 1), Some(false));
        let (rows, row) = (longs(&[1, 3], &[1, 0, 0]), floats(&[1, 3], &[f32::NAN, 7.0, 5.0]));
        assert_eq!(leads_to(&input, &rows, &row, 0), Some(true));
    }
}
