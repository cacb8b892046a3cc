//! Eigenvalues and singular values, of batches.

use crate::batch::{Batch, each};
use crate::block::Block;
use crate::field::Field;
use crate::spectral::{self, Spectral};
use crate::with_field;
use rushlight_base::Result;
use rushlight_cpu::Array;
use std::sync::atomic::{AtomicBool, Ordering};

/// A matrix of these elements, and the number of the matrix whose algorithm failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every matrix was decomposed.
    Converged,
    /// Not this one.
    Failed(usize),
    /// This one has elements that are infinite or NaN.
    NotFinite(usize),
}

/// The first failure of a batch.
pub(crate) struct Failures {
    any: AtomicBool,
    first: std::sync::Mutex<Option<(usize, bool)>>,
}

impl Failures {
    pub(crate) fn new() -> Failures {
        Failures { any: AtomicBool::new(false), first: std::sync::Mutex::new(None) }
    }

    #[cold]
    pub(crate) fn add(&self, index: usize, finite: bool) {
        self.any.store(true, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if first.is_none_or(|(before, _)| index < before) {
            *first = Some((index, finite));
        }
    }

    pub(crate) fn outcome(self) -> Outcome {
        match self.first.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            None => Outcome::Converged,
            Some((index, true)) => Outcome::Failed(index),
            Some((index, false)) => Outcome::NotFinite(index),
        }
    }
}

fn batch_of<'a>(array: &Array<'a>, dims: usize) -> &'a [i64] {
    &array.sizes()[..array.ndim() - dims]
}

/// The eigenvalues in ascending order, and the eigenvectors, of Hermitian matrices, of which one triangle is read.
pub fn eigh(values: &Array, vectors: Option<&Array>, a: &Array, upper: bool) -> Result<Outcome> {
    let failures = Failures::new();
    with_field!("linalg_eigh", a.dtype(), T => {
        type R = <T as Field>::Real;
        let sizes = batch_of(a, 2);
        let (from, numbers) = (Batch::<T>::new(a, 2, sizes)?, Batch::<R>::new(values, 1, sizes)?);
        let to = vectors.map(|vectors| Batch::<T>::new(vectors, 2, sizes)).transpose()?;
        let order = a.size(a.ndim() - 1);
        if order == 0 {
            return Ok(Outcome::Converged);
        }
        each::<T>(from.len(), 9 * order.pow(3), order + 2 * order * order, &|index, spare| {
            let (found, spare) = spare.split_at_mut(order);
            let (own, spare) = spare.split_at_mut(order * order);
            let mut own = Block::over(own, order, order);
            let matrix = from.matrix(index);
            if upper { matrix.load_adjoint(&mut own) } else { matrix.load(&mut own) }
            let known = (0..order).all(|at| own.column(at)[at..].iter().all(|v| v.re().is_finite() && v.im().is_finite()));
            let converged = known && match &to {
                Some(to) => to.matrix(index).write(spare, |block, _| spectral::hermitian(&mut own, found, Some(block)))?,
                None => spectral::hermitian(&mut own, found, None)?,
            };
            if !converged {
                failures.add(index, known);
            }
            let numbers = numbers.matrix(index);
            found.iter().enumerate().for_each(|(at, value)| numbers.put(at, value.re()));
            Ok(())
        })
    })?;
    Ok(failures.outcome())
}

/// The singular values in descending order, and the singular vectors: a = U diag(values) V^H. The shapes of `u` and `vh`
/// decide how many.
pub fn svd(vectors: Option<(&Array, &Array)>, values: &Array, a: &Array) -> Result<Outcome> {
    let failures = Failures::new();
    with_field!("linalg_svd", a.dtype(), T => {
        type R = <T as Field>::Real;
        let sizes = batch_of(a, 2);
        let (from, numbers) = (Batch::<T>::new(a, 2, sizes)?, Batch::<R>::new(values, 1, sizes)?);
        let (rows, columns) = (a.size(a.ndim() - 2), a.size(a.ndim() - 1));
        let order = rows.min(columns);
        let to = match vectors {
            Some((u, vh)) => Some((Batch::<T>::new(u, 2, sizes)?, Batch::<T>::new(vh, 2, sizes)?)),
            None => None,
        };
        let [left, right] = match vectors {
            Some((u, vh)) => [u.size(u.ndim() - 1), vh.size(vh.ndim() - 2)],
            None => [0, 0],
        };
        let scratch = order + rows * columns + rows * left + columns * right;
        each::<T>(from.len(), 12 * rows * columns * order, scratch, &|index, spare| {
            let (found, spare) = spare.split_at_mut(order);
            let (own, spare) = spare.split_at_mut(rows * columns);
            let mut own = Block::over(own, rows, columns);
            from.matrix(index).load(&mut own);
            let finite = own.is_finite();
            let converged = finite && match &to {
                Some((u, vh)) => {
                    let (v, spare) = spare.split_at_mut(columns * right);
                    let mut v = Block::over(v, columns, right);
                    let converged = u.matrix(index).write(spare, |u, _| {
                        if order == 0 {
                            u.set_identity();
                            v.set_identity();
                            return Ok(true);
                        }
                        spectral::singular(&mut own, found, Some((u, &mut v)))
                    })?;
                    vh.matrix(index).store_adjoint(&mut v);
                    converged
                }
                None => order == 0 || spectral::singular(&mut own, found, None)?,
            };
            if !converged {
                failures.add(index, finite);
            }
            let numbers = numbers.matrix(index);
            found.iter().enumerate().for_each(|(at, value)| numbers.put(at, value.re()));
            Ok(())
        })
    })?;
    Ok(failures.outcome())
}

/// The eigenvalues of general matrices, in no order, and the eigenvectors of length 1.
pub fn eig(values: &Array, vectors: Option<&Array>, a: &Array) -> Result<Outcome> {
    let failures = Failures::new();
    with_field!("linalg_eig", a.dtype(), T => {
        type C = <T as Spectral>::Eigen;
        let sizes = batch_of(a, 2);
        let (from, numbers) = (Batch::<T>::new(a, 2, sizes)?, Batch::<C>::new(values, 1, sizes)?);
        let to = vectors.map(|vectors| Batch::<C>::new(vectors, 2, sizes)).transpose()?;
        let order = a.size(a.ndim() - 1);
        if order == 0 {
            return Ok(Outcome::Converged);
        }
        each::<C>(from.len(), 25 * order.pow(3), order + order * order, &|index, spare| {
            let mut memory = crate::batch::Memory::<T>::new(2 * order + 2 * order * order)?;
            let (own, rest) = memory.elements().split_at_mut(order * order);
            let (found, spare) = spare.split_at_mut(order);
            let mut own = Block::over(own, order, order);
            from.matrix(index).load(&mut own);
            let finite = own.is_finite();
            let converged = finite && match &to {
                Some(to) => to.matrix(index).write(spare, |block, _| T::eigen(&mut own, found, Some(block), rest))?,
                None => T::eigen(&mut own, found, None, rest)?,
            };
            if !converged {
                failures.add(index, finite);
            }
            let numbers = numbers.matrix(index);
            found.iter().enumerate().for_each(|(at, &value)| numbers.put(at, value));
            Ok(())
        })
    })?;
    Ok(failures.outcome())
}
