//! Layers of transformers on a batch of sequences of different lengths.

use super::convert::{first_rows, padded};
use super::{Nested, Tensor};
use crate::dispatch::{Args, Value};
use crate::ops;
use rushlight_base::{DimVec, Result, Scalar, bail, ensure};

/// The kind of mask with an entry for each position of each sequence: `src_key_padding_mask`.
const KEY_PADDING: i64 = 1;

/// `_native_multi_head_attention` of a batch with itself. It is that of the padded sequences with the padding masked.
pub(super) fn multi_head(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let query = args.tensor(0)?;
    for place in [1, 2] {
        ensure!(
            args.tensor(place)?.address() == query.address(),
            Runtime,
            "{name}: query, key and value must be the same nested tensor"
        );
    }
    ensure!(args.tensor_opt(9)?.is_none(), Runtime, "NestedTensor with mask is not supported yet");
    ensure!(!args.bool(10)?, Runtime, "{name}: the attention weights of a nested tensor are not computed");
    let nested = Nested::of(name, query)?;
    let counts: DimVec = nested.sizes.iter().map(|sizes| sizes[0]).collect();
    let mut sizes = nested.largest();
    sizes.insert(0, counts.len() as i64);
    let dense = padded(&nested, 0.0, &sizes)?;
    let mask = padding(&counts, sizes[1])?;
    let (attended, weights) = ops::_native_multi_head_attention(
        &dense,
        &dense,
        &dense,
        args.int(3)?,
        args.int(4)?,
        args.tensor(5)?,
        args.tensor(6)?,
        args.tensor(7)?,
        args.tensor(8)?,
        Some(&mask),
        false,
        args.bool(11)?,
        Some(KEY_PADDING),
    )?;
    Ok(vec![first_rows(&attended, &counts)?.into(), weights.into()])
}

/// True where a position is behind the end of its sequence.
fn padding(counts: &[i64], length: i64) -> Result<Tensor> {
    let ends = ops::unsqueeze(&Tensor::from_slice(counts, &[counts.len() as i64])?, 1)?;
    let positions = ops::arange(Scalar::Int(length), crate::options::Options::default())?;
    ops::ge_tensor(&positions, &ends)
}

/// `_transformer_encoder_layer_fwd`: its parts are operators that nested tensors have.
pub(super) fn encoder_layer(_: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    if args.tensor_opt(18)?.is_some() {
        bail!(Runtime, "NestedTensor with mask is not supported yet");
    }
    let result = ops::composite::transformer_encoder_layer_fwd(
        args.tensor(0)?,
        args.int(1)?,
        args.int(2)?,
        args.tensor(3)?,
        args.tensor(4)?,
        args.tensor(5)?,
        args.tensor(6)?,
        args.bool(7)?,
        args.bool(8)?,
        args.float(9)?,
        args.tensor(10)?,
        args.tensor(11)?,
        args.tensor(12)?,
        args.tensor(13)?,
        args.tensor(14)?,
        args.tensor(15)?,
        args.tensor(16)?,
        args.tensor(17)?,
        None,
        None,
    )?;
    Ok(vec![result.into()])
}
