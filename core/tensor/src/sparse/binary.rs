//! Arithmetic of two tensors, at least one of them sparse.

use super::compressed::Compressed;
use super::convert::{as_listed, at_coordinates};
use super::coo::{Coo, added, gather, long_tensor};
use super::in_layout_of;
use super::record::Context;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::tensor::Tensor;
use rushlight_base::{DType, Layout, Result, Scalar, bail, ensure, format_sizes, list};
use std::cmp::Ordering;

fn is_number(tensor: &Tensor) -> bool {
    !tensor.is_any_sparse() && tensor.ndim() == 0
}

/// The values of a tensor as they are, changed by `change`.
fn map_values(tensor: &Tensor, change: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    if tensor.layout().is_compressed() {
        let matrix = Compressed::of(tensor)?;
        let values = change(&matrix.values)?;
        return matrix.with_values(values).into_tensor();
    }
    let coo = Coo::of(tensor)?;
    let values = change(&coo.values)?;
    coo.with_values(values).into_tensor()
}

/// The dtype of a sum or product, with the rules of numbers.
fn common_dtype(left: &Tensor, right: &Tensor) -> Result<DType> {
    ops::rules::result_type(&[&kind_of(left)?, &kind_of(right)?], &[])
}

/// A strided tensor of the same dtype, which is a number if this one is.
fn kind_of(tensor: &Tensor) -> Result<Tensor> {
    if tensor.is_any_sparse() { ops::zeros(&[1], crate::Options::of(tensor.dtype())) } else { Ok(tensor.clone()) }
}

fn cast(values: &Tensor, dtype: DType) -> Result<Tensor> {
    if values.dtype() == dtype { Ok(values.clone()) } else { ops::to_dtype(values, dtype, false, false, None) }
}

fn check_same_sizes(operator: &str, left: &Tensor, right: &Tensor) -> Result<()> {
    ensure!(
        left.sizes() == right.sizes(),
        Runtime,
        "{operator}: expected 'self' and 'other' to have same sizes, but {} != {}",
        format_sizes(&left.sizes()),
        format_sizes(&right.sizes())
    );
    Ok(())
}

// ---- Addition ----

/// `add.Tensor`
pub(super) fn add(args: &Args<'_>) -> Result<Value> {
    sum("add", args.tensor(0)?, args.tensor(1)?, args.scalar(2)?)
}

/// `sub.Tensor`
pub(super) fn sub(args: &Args<'_>) -> Result<Value> {
    let alpha = match args.scalar(2)? {
        Scalar::Int(alpha) => Scalar::Int(alpha.wrapping_neg()),
        Scalar::Float(alpha) => Scalar::Float(-alpha),
        Scalar::Complex(alpha) => Scalar::Complex(-alpha),
        other => bail!(Runtime, "sub: alpha must be a number that can be negated, got {other}"),
    };
    sum("sub", args.tensor(0)?, args.tensor(1)?, alpha)
}

fn sum(operator: &str, left: &Tensor, right: &Tensor, alpha: Scalar) -> Result<Value> {
    ensure!(
        !left.is_any_sparse() || right.is_any_sparse(),
        Runtime,
        "{operator}(sparse, dense) is not supported. Use {operator}(dense, sparse) instead."
    );
    check_same_sizes(operator, left, right)?;
    let dtype = common_dtype(left, right)?;
    if !left.is_any_sparse() {
        return Ok(added_to(&cast(left, dtype)?, right, alpha)?.into());
    }
    let (first, second) = (Coo::of(left)?, Coo::of(right)?);
    ensure!(
        first.sparse_dim() == second.sparse_dim(),
        Runtime,
        "{operator}: expected 'self' and 'other' to have same number of sparse dimensions, but got {} and {}",
        first.sparse_dim(),
        second.sparse_dim()
    );
    let second_values = ops::mul_scalar(&cast(&second.values, dtype)?, alpha)?;
    let second_values = cast(&second_values, dtype)?;
    let first = first.with_values(cast(&first.values, dtype)?);
    Ok(in_layout_of(left, merged(&first, &second.with_values(second_values))?)?.into())
}

/// A strided tensor plus a sparse one.
fn added_to(left: &Tensor, right: &Tensor, alpha: Scalar) -> Result<Tensor> {
    let coo = Coo::of(right)?;
    let mut flat = coo.values.sizes();
    flat[0] = rushlight_base::numel(coo.sparse_sizes())?;
    let values = cast(&coo.values, left.dtype())?;
    let sum = ops::index_add(&ops::reshape(left, &flat)?, 0, &long_tensor(coo.numbers()?)?, &values, alpha)?;
    ops::reshape(&sum, &left.sizes())
}

/// The elements of both, merged in the order of their coordinates.
fn merged(left: &Coo, right: &Coo) -> Result<Coo> {
    let (a, b) = (left.numbers()?, right.numbers()?);
    let mut numbers = list::with_capacity(a.len() + b.len())?;
    let (mut place_a, mut place_b) = (list::with_capacity(a.len())?, list::with_capacity(b.len())?);
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let order = match (a.get(i), b.get(j)) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let place = numbers.len() as i64;
        numbers.push(if order == Ordering::Greater { b[j] } else { a[i] });
        if order != Ordering::Greater {
            place_a.push(place);
            i += 1;
        }
        if order != Ordering::Less {
            place_b.push(place);
            j += 1;
        }
    }
    let values = added(numbers.len(), &[(&place_a, &left.values), (&place_b, &right.values)])?;
    let indices = super::coo::coordinates_of(&numbers, left.sparse_sizes())?;
    let coalesced = left.coalesced && right.coalesced;
    Ok(Coo { sizes: left.sizes.clone(), indices, values, coalesced })
}

fn scaled(grad: &Tensor, alpha: Scalar) -> Result<Tensor> {
    if alpha == Scalar::Int(1) { Ok(grad.clone()) } else { ops::mul_scalar(grad, alpha) }
}

/// The gradients of `add`.
pub(super) fn add_back(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor> {
    if slot == 0 { Ok(grad.clone()) } else { scaled(grad, call.args().scalar(2)?) }
}

/// The gradients of `sub`.
pub(super) fn sub_back(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor> {
    if slot == 0 { Ok(grad.clone()) } else { ops::neg(&scaled(grad, call.args().scalar(2)?)?) }
}

// ---- Multiplication ----

/// `mul.Tensor`
pub(super) fn mul(args: &Args<'_>) -> Result<Value> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    Ok(match (left.is_any_sparse(), right.is_any_sparse()) {
        (true, true) => {
            check_same_sizes("mul", left, right)?;
            intersection(left, right)?
        }
        (true, false) if is_number(right) => map_values(left, |values| ops::mul_tensor(values, right))?,
        (false, true) if is_number(left) => map_values(right, |values| ops::mul_tensor(values, left))?,
        (true, false) => at_elements(left, right, ops::mul_tensor)?,
        (false, true) => at_elements(right, left, |own, others| ops::mul_tensor(others, own))?,
        (false, false) => ops::mul_tensor(left, right)?,
    }
    .into())
}

/// `mul.Scalar`
pub(super) fn mul_scalar(args: &Args<'_>) -> Result<Value> {
    let number = args.scalar(1)?;
    Ok(map_values(args.tensor(0)?, |values| ops::mul_scalar(values, number))?.into())
}

/// The product of two sparse tensors: at the coordinates that both have if both are coalesced, else at those of one of
/// them: the one that is not coalesced, or has fewer elements.
fn intersection(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    let (first, second) = (Coo::of(left)?, Coo::of(right)?);
    ensure!(
        first.sparse_dim() == second.sparse_dim(),
        Runtime,
        "mul: expected 'self' and 'other' to have same number of sparse dimensions, but got {} and {}",
        first.sparse_dim(),
        second.sparse_dim()
    );
    if first.coalesced && second.coalesced {
        return in_layout_of(left, common(&first, &second)?);
    }
    let takes_first = if first.coalesced == second.coalesced { first.nnz() < second.nnz() } else { second.coalesced };
    let (own, other) = if takes_first { (first, second) } else { (second, first) };
    let others = at_coordinates(other, &own)?;
    let values = ops::mul_tensor(&own.values, &others)?;
    in_layout_of(left, own.with_values(values))
}

/// The products at the coordinates that both coalesced tensors have.
fn common(first: &Coo, second: &Coo) -> Result<Coo> {
    let numbers = second.numbers()?;
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (entry, number) in first.numbers()?.iter().enumerate() {
        if let Ok(other) = numbers.binary_search(number) {
            list::push(&mut own, entry)?;
            list::push(&mut others, other)?;
        }
    }
    let (first, second) = (first.select(&own)?, second.select(&others)?);
    let values = ops::mul_tensor(&first.values, &second.values)?;
    Ok(first.with_values(values))
}

/// The elements of a sparse tensor with those of a strided one at the same coordinates.
fn at_elements(
    sparse: &Tensor,
    strided: &Tensor,
    combine: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    let strided = ops::expand(strided, &sparse.sizes(), false)?;
    let coo = if sparse.layout() == Layout::Sparse { Coo::of(sparse)? } else { as_listed(&Compressed::of(sparse)?)? };
    coo.numbers()?;
    let others = gather(&strided, &coo.indices)?;
    map_values(sparse, |values| combine(values, &others))
}

/// The gradients of a product.
pub(super) fn mul_back(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor> {
    let other = call.tensor(1 - slot)?;
    let other = if other.dtype().is_complex() { ops::conj_physical(&other)? } else { other };
    let product = ops::mul_tensor(grad, &other)?;
    // The gradient of a number is the sum over all elements.
    if call.layout(slot) == Layout::Strided && call.sizes(slot).is_empty() {
        ops::sum(&product, None)
    } else {
        Ok(product)
    }
}

/// The gradient of a product with a number.
pub(super) fn mul_scalar_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    let number = match call.args().scalar(1)? {
        Scalar::Complex(number) => Scalar::Complex(number.conj()),
        real => real,
    };
    ops::mul_scalar(grad, number)
}

// ---- Division ----

/// `div.Tensor`
pub(super) fn div(args: &Args<'_>) -> Result<Value> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    ensure!(
        is_number(right),
        Runtime,
        "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape {} for divisor)",
        format_sizes(&right.sizes())
    );
    Ok(map_values(left, |values| ops::div_tensor(values, right))?.into())
}

/// `div.Scalar`
pub(super) fn div_scalar(args: &Args<'_>) -> Result<Value> {
    let number = args.scalar(1)?;
    Ok(map_values(args.tensor(0)?, |values| ops::div_scalar(values, number))?.into())
}

/// The gradients of a quotient.
pub(super) fn div_back(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor> {
    let divisor = call.tensor(1)?;
    let divisor = if divisor.dtype().is_complex() { ops::conj_physical(&divisor)? } else { divisor };
    if slot == 0 {
        return ops::div_tensor(grad, &divisor);
    }
    let own = call.tensor(0)?;
    let own = if own.dtype().is_complex() { ops::conj_physical(&own)? } else { own };
    let product = ops::sum(&ops::mul_tensor(grad, &own)?, None)?;
    ops::neg(&ops::div_tensor(&product, &ops::mul_tensor(&divisor, &divisor)?)?)
}

/// The gradient of a quotient by a number.
pub(super) fn div_scalar_back(call: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    ops::div_scalar(grad, call.args().scalar(1)?)
}

// ---- Sign ----

/// `neg`
pub(super) fn neg(args: &Args<'_>) -> Result<Value> {
    Ok(map_values(args.tensor(0)?, ops::neg)?.into())
}

/// The gradient of `neg`.
pub(super) fn neg_back(_: &Context<'_>, grad: &Tensor, _: usize) -> Result<Tensor> {
    ops::neg(grad)
}
