//! Operators that move dimensions or select elements of sparse tensors.

use super::compressed::Compressed;
use super::coo::{Coo, long_tensor, wrapped_dim};
use super::in_layout_of;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Layout, MemoryFormat, Result, bail, ensure, list};

/// Two dimensions exchanged, both sparse or both dense.
pub(super) fn exchanged(coo: &Coo, first: usize, second: usize) -> Result<Coo> {
    if first == second {
        return Ok(coo.clone());
    }
    let sparse = coo.sparse_dim();
    ensure!(
        (first < sparse) == (second < sparse),
        Runtime,
        "transpose: cannot transpose a sparse dimension with a dense one (got dimensions {first} and {second} of a tensor \
         with {sparse} sparse dimensions)"
    );
    let mut order: Vec<usize> = (0..coo.sizes.len()).collect();
    order.swap(first, second);
    permuted(coo, &order)
}

/// The dimensions in another order, sparse ones first.
fn permuted(coo: &Coo, order: &[usize]) -> Result<Coo> {
    let sparse = coo.sparse_dim();
    ensure!(
        order[..sparse].iter().all(|&dim| dim < sparse),
        Runtime,
        "permute(sparse_coo): sparse and dense dimensions cannot be mixed, but got the order {order:?} with {sparse} sparse \
         dimensions"
    );
    let sizes: DimVec = order.iter().map(|&dim| coo.sizes[dim]).collect();
    let moves_sparse = order[..sparse].iter().enumerate().any(|(at, &dim)| at != dim);
    let moves_dense = order[sparse..].iter().enumerate().any(|(at, &dim)| at + sparse != dim);
    let indices = if moves_sparse {
        ops::index_select(&coo.indices, 0, &long_tensor(order[..sparse].iter().map(|&dim| dim as i64))?)?
    } else {
        coo.indices.clone()
    };
    let values = if moves_dense {
        let mut dims = vec![0i64];
        dims.extend(order[sparse..].iter().map(|&dim| (dim - sparse) as i64 + 1));
        ops::permute(&coo.values, &dims)?
    } else {
        coo.values.clone()
    };
    let coalesced = coo.coalesced && (!moves_sparse || coo.nnz() < 2);
    Ok(Coo { sizes, indices, values, coalesced })
}

/// `transpose.int`
pub(super) fn transpose(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let ndim = tensor.ndim();
    let (first, second) = (wrapped_dim(args.int(1)?, ndim)?, wrapped_dim(args.int(2)?, ndim)?);
    if tensor.layout().is_compressed() {
        let matrix = Compressed::of(tensor)?;
        let matrix = if first == second { matrix } else { matrix.transposed() };
        return Ok(matrix.into_tensor()?.into());
    }
    Ok(exchanged(&Coo::of(tensor)?, first, second)?.into_tensor()?.into())
}

/// `t`
pub(super) fn t(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    ensure!(
        tensor.ndim() <= 2,
        Runtime,
        "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {} dimensions",
        tensor.ndim()
    );
    let last = (tensor.ndim() as i64 - 1).max(0);
    if tensor.ndim() < 2 { Ok(tensor.clone().into()) } else { Ok(ops::transpose_int(tensor, 0, last)?.into()) }
}

/// `permute`
pub(super) fn permute(args: &Args<'_>) -> Result<Value> {
    let (tensor, dims) = (args.tensor(0)?, args.ints(1)?);
    let coo = Coo::of(tensor)?;
    let order = dims.iter().map(|&dim| wrapped_dim(dim, coo.sizes.len())).collect::<Result<Vec<_>>>()?;
    ensure!(
        order.len() == coo.sizes.len(),
        Runtime,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of \
         dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
        coo.sizes.len(),
        order.len()
    );
    let mut seen = vec![false; order.len()];
    for &dim in &order {
        ensure!(
            !std::mem::replace(&mut seen[dim], true),
            Runtime,
            "permute(sparse_coo): duplicate dims are not allowed."
        );
    }
    Ok(in_layout_of(tensor, permuted(&coo, &order)?)?.into())
}

/// `unsqueeze`
pub(super) fn unsqueeze(args: &Args<'_>) -> Result<Value> {
    let coo = super::expect_coo("unsqueeze", args.tensor(0)?)?;
    let dim = wrapped_dim(args.int(1)?, coo.sizes.len() + 1)?;
    let mut sizes = coo.sizes.clone();
    sizes.insert(dim, 1);
    let sparse = coo.sparse_dim();
    if dim > sparse {
        let values = ops::unsqueeze(&coo.values, (dim - sparse) as i64 + 1)?;
        return Ok(Coo { sizes, values, ..coo }.into_tensor()?.into());
    }
    let zeros = ops::zeros(&[1, coo.nnz() as i64], coo.indices.options())?;
    let (before, after) = (
        ops::narrow(&coo.indices, 0, 0, dim as i64)?,
        ops::narrow(&coo.indices, 0, dim as i64, (sparse - dim) as i64)?,
    );
    let indices = ops::cat(&[&before, &zeros, &after], 0)?;
    Ok(Coo { sizes, indices, ..coo }.into_tensor()?.into())
}

/// `select.int`
pub(super) fn select(args: &Args<'_>) -> Result<Value> {
    let tensor = args.tensor(0)?;
    let coo = Coo::of(tensor)?;
    let dim = wrapped_dim(args.int(1)?, coo.sizes.len())?;
    let (size, index) = (coo.sizes[dim], args.int(2)?);
    ensure!(
        (-size..size).contains(&index),
        Index,
        "select(): index {index} out of range for tensor of size {} at dimension {dim}",
        rushlight_base::format_sizes(&coo.sizes)
    );
    let index = if index < 0 { index + size } else { index };
    let (selected, sparse) = (at_index(&coo, dim, &[index])?, coo.sparse_dim());
    let mut sizes = coo.sizes.clone();
    sizes.remove(dim);
    if dim >= sparse {
        let values = ops::squeeze_dim(&selected.values, (dim - sparse) as i64 + 1)?;
        return Ok(Coo { sizes, values, ..selected }.into_tensor()?.into());
    }
    if sparse == 1 {
        // The last sparse dimension: the values themselves, added.
        return Ok(ops::sum_dim_intlist(&selected.values, Some(&[0]), false, Some(coo.values.dtype()))?.into());
    }
    let kept = long_tensor((0..sparse).filter(|&other| other != dim).map(|other| other as i64))?;
    let indices = ops::index_select(&selected.indices, 0, &kept)?;
    Ok(Coo { sizes, indices, ..selected }.into_tensor()?.into())
}

/// The elements with these indices of a dimension, in the order of the indices.
fn at_index(coo: &Coo, dim: usize, wanted: &[i64]) -> Result<Coo> {
    let sparse = coo.sparse_dim();
    let mut sizes = coo.sizes.clone();
    sizes[dim] = wanted.len() as i64;
    if dim >= sparse {
        let at = long_tensor(wanted.iter().copied())?;
        let values = ops::index_select(&coo.values, (dim - sparse) as i64 + 1, &at)?;
        return Ok(Coo { sizes, values, ..coo.clone() });
    }
    let nnz = coo.nnz();
    let coordinates = coo.coordinates()?;
    let row = &coordinates[dim * nnz..(dim + 1) * nnz];
    let mut order = list::collect(row.iter().enumerate().map(|(entry, &at)| (at, entry)))?;
    order.sort_unstable();
    let mut found: Vec<(usize, i64)> = Vec::new();
    for (place, &at) in wanted.iter().enumerate() {
        let first = order.partition_point(|(other, _)| *other < at);
        for (_, entry) in order[first..].iter().take_while(|(other, _)| *other == at) {
            list::push(&mut found, (*entry, place as i64))?;
        }
    }
    let ascending = wanted.windows(2).all(|pair| pair[0] < pair[1]);
    if ascending {
        found.sort_unstable();
    }
    let entries = list::collect(found.iter().map(|(entry, _)| *entry))?;
    let selected = coo.select(&entries)?;
    let before = ops::narrow(&selected.indices, 0, 0, dim as i64)?;
    let after = ops::narrow(&selected.indices, 0, dim as i64 + 1, (sparse - dim) as i64 - 1)?;
    let places = ops::unsqueeze(&long_tensor(found.iter().map(|(_, place)| *place))?, 0)?;
    let indices = ops::cat(&[&before, &places, &after], 0)?;
    Ok(Coo { sizes, indices, coalesced: coo.coalesced && ascending, ..selected })
}

/// `index_select`
pub(super) fn index_select(args: &Args<'_>) -> Result<Value> {
    let (tensor, index) = (args.tensor(0)?, args.tensor(2)?);
    let coo = Coo::of(tensor)?;
    let dim = wrapped_dim(args.int(1)?, coo.sizes.len())?;
    ensure!(
        index.ndim() <= 1,
        Index,
        "index_select(): Index is supposed to be a vector, but got dim: {}",
        index.ndim()
    );
    let wanted = super::coo::longs(index)?;
    let size = coo.sizes[dim];
    for &at in &wanted {
        ensure!(
            (0..size).contains(&at),
            Index,
            "index_select(): index contains {at} that is out of range for tensor of size {} at dimension {dim}",
            rushlight_base::format_sizes(&coo.sizes)
        );
    }
    Ok(in_layout_of(tensor, at_index(&coo, dim, &wanted)?)?.into())
}

/// `cat`
pub(super) fn cat(args: &Args<'_>) -> Result<Value> {
    let tensors = args.tensors(0)?;
    for (at, tensor) in tensors.iter().enumerate() {
        ensure!(
            tensor.layout() == Layout::Sparse,
            Runtime,
            "Concatenating sparse tensors, but a dense tensor was found at position {at}."
        );
    }
    let parts = tensors.iter().map(|tensor| Coo::of(tensor)).collect::<Result<Vec<_>>>()?;
    let first = parts[0].clone();
    let (ndim, sparse) = (first.sizes.len(), first.sparse_dim());
    let dim = wrapped_dim(args.int(1)?, ndim)?;
    let (mut sizes, mut indices, mut values) = (first.sizes.clone(), Vec::new(), Vec::new());
    sizes[dim] = 0;
    let total: i64 = parts.iter().map(|part| part.sizes.get(dim).copied().unwrap_or(0)).sum();
    for (at, part) in parts.iter().enumerate() {
        let same = |other: usize| other == dim || part.sizes[other] == first.sizes[other];
        ensure!(
            part.sizes.len() == ndim && part.sparse_dim() == sparse && (0..ndim).all(same),
            Runtime,
            "All tensors must have the same shape: {} (except in the concatenating dimension), but got shape: {} at \
             position {at}",
            rushlight_base::format_sizes(&first.sizes),
            rushlight_base::format_sizes(&part.sizes)
        );
        if dim < sparse {
            let offset: Vec<i64> = (0..sparse).map(|other| if other == dim { sizes[dim] } else { 0 }).collect();
            let offset = ops::unsqueeze(&long_tensor(offset)?, 1)?;
            indices.push(ops::add_tensor(&part.indices, &offset, 1.into())?);
            values.push(part.values.clone());
        } else {
            indices.push(part.indices.clone());
            values.push(widened(part, dim - sparse, sizes[dim], total)?);
        }
        sizes[dim] += part.sizes[dim];
    }
    let (indices, values): (Vec<&Tensor>, Vec<&Tensor>) = (indices.iter().collect(), values.iter().collect());
    let coalesced = parts.len() == 1 && first.coalesced;
    let joined = Coo { sizes, indices: ops::cat(&indices, 1)?, values: ops::cat(&values, 0)?, coalesced };
    Ok(joined.into_tensor()?.into())
}

/// The values of a part of a concatenation along a dense dimension, with zeros before and after.
fn widened(part: &Coo, dense: usize, before: i64, total: i64) -> Result<Tensor> {
    let own = part.sizes[part.sparse_dim() + dense];
    let zeros = |size: i64| {
        let mut sizes = part.values.sizes();
        sizes[dense + 1] = size;
        ops::zeros(&sizes, part.values.options())
    };
    ops::cat(&[&zeros(before)?, &part.values, &zeros(total - before - own)?], dense as i64 + 1)
}

/// The gradient of `transpose.int`.
pub(super) fn transpose_back(call: &super::record::Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    ops::transpose_int(grad, call.args().int(1)?, call.args().int(2)?)
}

/// `_sparse_broadcast_to`
pub(super) fn broadcast_to(args: &Args<'_>) -> Result<Value> {
    let (tensor, sizes) = (args.tensor(0)?, args.ints(1)?);
    let coo = super::expect_coo("_sparse_broadcast_to", tensor)?;
    ensure!(
        coo.sizes.len() <= sizes.len(),
        Runtime,
        "input tensor has more dimensions than the requested shape: {} and {}",
        rushlight_base::format_sizes(&coo.sizes),
        rushlight_base::format_sizes(&sizes)
    );
    rushlight_base::numel(&sizes)?;
    let (lead, sparse, nnz) = (sizes.len() - coo.sizes.len(), coo.sparse_dim(), coo.nnz());
    for (dim, &size) in coo.sizes.iter().enumerate() {
        ensure!(
            size == 1 || size == sizes[lead + dim],
            Runtime,
            "The input's length {size} at dimension {dim} does not broadcast over the requested shape of length {} at dimension \
             {}",
            sizes[lead + dim],
            lead + dim
        );
    }
    let is_spread = |dim: usize| dim < lead || (coo.sizes[dim - lead] == 1 && sizes[dim] != 1);
    let spread: Vec<bool> = (0..lead + sparse).map(is_spread).collect();
    let new_sizes: Vec<i64> = (0..lead + sparse).filter(|&dim| spread[dim]).map(|dim| sizes[dim]).collect();
    let copies = rushlight_base::numel(&new_sizes)? as usize;
    let coordinates = coo.coordinates()?;
    let all = nnz.checked_mul(copies).and_then(|count| count.checked_mul((lead + sparse).max(1)));
    let Some(all) = all else {
        bail!(Runtime, "_sparse_broadcast_to: {nnz} elements cannot be repeated {copies} times")
    };
    // The copies of an element follow each other.
    let mut indices = list::with_capacity(all)?;
    let mut period = copies;
    for dim in 0..lead + sparse {
        if spread[dim] {
            let size = sizes[dim] as usize;
            period /= size.max(1);
            indices.extend((0..nnz * copies).map(|at| (at / period.max(1) % size.max(1)) as i64));
        } else {
            let own = &coordinates[(dim - lead) * nnz..(dim - lead + 1) * nnz];
            indices.extend(own.iter().flat_map(|&place| std::iter::repeat_n(place, copies)));
        }
    }
    let mut dense = DimVec::from_slice(&[nnz as i64, copies as i64]);
    dense.extend_from_slice(&sizes[lead + sparse..]);
    let values = ops::expand(&ops::unsqueeze(&coo.values, 1)?, &dense, false)?;
    dense.remove(0);
    dense[0] = (nnz * copies) as i64;
    let values = ops::reshape(&ops::contiguous(&values, MemoryFormat::Contiguous)?, &dense)?;
    // Sorted if only the last coordinates are new.
    let first_new = spread.iter().position(|&spread| spread);
    let in_order = first_new.is_none_or(|first| spread[first..].iter().all(|&spread| spread));
    let indices = Tensor::from_slice(&indices, &[(lead + sparse) as i64, (nnz * copies) as i64])?;
    Ok(Coo { sizes, indices, values, coalesced: coo.coalesced && in_order }.into_tensor()?.into())
}
