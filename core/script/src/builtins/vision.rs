//! Operators of models that are composed of others here: normalized weights, and the selection of boxes in detection.

use super::args::Args;
use super::objects::call;
use crate::runtime::list::List;
use crate::runtime::value::Value;
use rushlight_base::{DType, Element, Result, bail, ensure, list};
use rushlight_tensor::Tensor;
use rushlight_tensor::dispatch::by_name;

/// `v * (g / norm(v))`, with the norm over all dimensions but one (-1: over all).
pub(super) fn weight_norm(args: &mut Args<'_>) -> Result<Value> {
    let rank = args.tensor(0)?.ndim() as i64;
    let dim = args.int_or(2, 0)?;
    ensure!((-1..rank).contains(&dim), Index, "_weight_norm: dim {dim} of a tensor of {rank} dimensions");
    let dims = List::ints((0..rank).filter(|other| *other != dim).collect());
    let (weight, gain) = (args.get(0)?, args.get(1)?);
    let two = Value::Int(2);
    let norm = call("norm", "ScalarOpt_dim", &[weight.clone(), two, dims.into(), Value::Bool(dim >= 0)])?;
    let scale = call("div", "Tensor", &[gain.clone(), norm])?;
    call("mul", "Tensor", &[weight.clone(), scale])
}

/// Boxes in the order of their scores, without those that overlap a better one by more than the threshold.
pub(super) fn nms(args: &mut Args<'_>) -> Result<Value> {
    let (boxes, scores, threshold) = (args.tensor(0)?, args.tensor(1)?, args.float(2)?);
    let (sizes, scores_sizes) = (boxes.sizes(), scores.sizes());
    ensure!(sizes.len() == 2, Runtime, "boxes should be a 2d tensor, got {}D", sizes.len());
    ensure!(sizes.get(1) == Some(&4), Runtime, "boxes should have 4 elements in dimension 1, got {:?}", sizes.get(1));
    ensure!(scores_sizes.len() == 1, Runtime, "scores should be a 1d tensor, got {}D", scores_sizes.len());
    ensure!(
        sizes.first() == scores_sizes.first(),
        Runtime,
        "boxes and scores should have same number of elements in dimension 0, got {:?} and {:?}",
        sizes.first(),
        scores_sizes.first()
    );
    let order = descending(scores)?;
    let kept = match boxes.dtype() {
        DType::F32 => selected_f32(&elements(boxes)?, &order, threshold)?,
        DType::F64 => selected_f64(&elements(boxes)?, &order, threshold)?,
        other => bail!(Runtime, "\"nms\" not implemented for '{}'", other.c10_name()),
    };
    Ok(Tensor::from_slice(&kept, &[kept.len() as i64])?.into())
}

/// The indices of the scores, from the largest on; equal ones in their order.
fn descending(scores: &Tensor) -> Result<Vec<i64>> {
    let args = [scores.into(), DType::F64.into()];
    let wide: Tensor = by_name::call("to", "dtype", args.into(), Vec::new())?.extract()?;
    let wide = call("detach", "", &[wide.into()])?.as_tensor()?.to_vec::<f64>()?;
    let mut order: Vec<i64> = list::collect(0..wide.len() as i64)?;
    let score = |index: &i64| wide.get(*index as usize).copied().unwrap_or(f64::NAN);
    order.sort_by(|a, b| score(b).total_cmp(&score(a)));
    Ok(order)
}

fn elements<T: Element>(boxes: &Tensor) -> Result<Vec<T>> {
    call("detach", "", &[boxes.clone().into()])?.as_tensor()?.to_vec::<T>()
}

macro_rules! selected {
    ($($name:ident: $float:ty;)*) => {$(
        /// The indices of the boxes that are kept, computed in the precision of the boxes.
        fn $name(elements: &[$float], order: &[i64], threshold: f64) -> Result<Vec<i64>> {
            let (boxes, _) = elements.as_chunks::<4>();
            let area = |[left, top, right, bottom]: &[$float; 4]| (right - left) * (bottom - top);
            let mut kept: Vec<(i64, [$float; 4])> = Vec::new();
            for &index in order {
                let Some(candidate) = boxes.get(index as usize) else { continue };
                let overlaps = kept.iter().any(|(_, better)| {
                    let width = (better[2].min(candidate[2]) - better[0].max(candidate[0])).max(0.0);
                    let height = (better[3].min(candidate[3]) - better[1].max(candidate[1])).max(0.0);
                    let common = width * height;
                    f64::from(common / (area(better) + area(candidate) - common)) > threshold
                });
                if !overlaps {
                    list::push(&mut kept, (index, *candidate))?;
                }
            }
            list::collect(kept.into_iter().map(|(index, _)| index))
        }
    )*};
}

selected! {
    selected_f32: f32;
    selected_f64: f64;
}
