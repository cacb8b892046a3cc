//! The steps of an operator with a kernel below every layer: snapshots of its tensors, shape rule, memory for the
//! result, kernel.
//!
//! Operators differ only in rule and kernel, which are passed to one function per form: the library has a thousand
//! operators, and the code compiled for each should contain only the differences.

use super::{Overlap, has_kernel, named, written};
use crate::body::PinnedAll;
use crate::dense::{Dense, Spec};
use crate::tensor::Tensor;
use rushlight_base::{Result, callee};

callee! {
    /// The metadata of the result.
    struct Rule<const N: usize>: fn(inputs: &[&Dense; N]) -> Result<Spec>;
}
callee! {
    /// Writes the elements of the result.
    struct Kernel<const N: usize>: fn(result: &Dense, inputs: &[&Dense; N]) -> Result<()>;
}

#[inline(always)]
fn pinned<'a, const N: usize>(tensors: &[&'a Tensor; N]) -> PinnedAll<'a, N> {
    PinnedAll::new(tensors.map(|tensor| &tensor.imp().body))
}

/// The functional form: a new tensor.
#[inline(always)]
pub fn result<const N: usize>(
    operator: &'static str,
    inputs: [&Tensor; N],
    mut rule: impl FnMut(&[&Dense; N]) -> Result<Spec>,
    mut kernel: impl FnMut(&Dense, &[&Dense; N]) -> Result<()>,
) -> Result<Tensor> {
    result_of(operator, &inputs, Rule::new(&mut rule), Kernel::new(&mut kernel))
}

#[inline(never)]
fn result_of<const N: usize>(
    operator: &'static str,
    tensors: &[&Tensor; N],
    mut rule: Rule<N>,
    mut kernel: Kernel<N>,
) -> Result<Tensor> {
    named(operator, || {
        let pinned = pinned(tensors);
        let inputs = pinned.dense();
        let result = rule.call(&inputs)?.make_inline()?;
        if has_kernel(operator, &result, inputs)? {
            kernel.call(&result, &inputs)?;
        }
        Ok(result.into_tensor())
    })
}

/// The in-place form: the result is written into the first input.
#[inline(always)]
pub fn in_place<const N: usize>(
    operator: &'static str,
    overlap: Overlap,
    inputs: [&Tensor; N],
    mut rule: impl FnMut(&[&Dense; N]) -> Result<Spec>,
    mut kernel: impl FnMut(&Dense, &[&Dense; N]) -> Result<()>,
) -> Result<()> {
    in_place_of(operator, overlap, &inputs, Rule::new(&mut rule), Kernel::new(&mut kernel))
}

#[inline(never)]
fn in_place_of<const N: usize>(
    operator: &'static str,
    overlap: Overlap,
    tensors: &[&Tensor; N],
    mut rule: Rule<N>,
    mut kernel: Kernel<N>,
) -> Result<()> {
    named(operator, || {
        let target = tensors[0];
        let pinned = pinned(tensors);
        let inputs = pinned.dense();
        let spec = rule.call(&inputs)?;
        let place = spec.prepare_inplace(inputs[0], overlap, inputs[1..].iter().copied())?;
        if has_kernel(operator, &place, inputs)? {
            written(kernel.call(&place, &inputs), [target])?;
        }
        place.finish(target)
    })
}

/// The out form: the result is written into `out`.
#[inline(always)]
pub fn out<const N: usize>(
    operator: &'static str,
    overlap: Overlap,
    out: &Tensor,
    inputs: [&Tensor; N],
    mut rule: impl FnMut(&[&Dense; N]) -> Result<Spec>,
    mut kernel: impl FnMut(&Dense, &[&Dense; N]) -> Result<()>,
) -> Result<()> {
    out_of(operator, overlap, &inputs, out, Rule::new(&mut rule), Kernel::new(&mut kernel))
}

#[inline(never)]
fn out_of<const N: usize>(
    operator: &'static str,
    overlap: Overlap,
    tensors: &[&Tensor; N],
    out: &Tensor,
    mut rule: Rule<N>,
    mut kernel: Kernel<N>,
) -> Result<()> {
    named(operator, || {
        let pinned = pinned(tensors);
        let inputs = pinned.dense();
        let spec = rule.call(&inputs)?;
        let place = spec.prepare_out(out, overlap, inputs)?;
        if has_kernel(operator, &place, inputs)? {
            written(kernel.call(&place, &inputs), [out])?;
        }
        place.finish(out)
    })
}
