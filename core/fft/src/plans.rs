//! Plans: the transform of one line of a given length. A plan takes longer to compute than a short transform.
//!
//! The plans that were used last are kept, up to a number and a total length, for all threads.

use crate::number::Real;
use realfft::{ComplexToReal, ComplexToRealEven, ComplexToRealOdd, RealToComplex, RealToComplexEven, RealToComplexOdd};
use rushlight_base::{Complex, Result, Scratch, bail, ensure};
use rustfft::{Fft, FftPlanner};
use std::sync::{Arc, TryLockError};

/// Number of plans that are kept for a type.
const MOST: usize = 64;
/// Total length of the plans that are kept; the last one is kept in any case.
const LONGEST: usize = 1 << 22;
/// A plan takes less memory than this number of complex numbers per element of a line: tables of factors, of prime
/// lengths also those of the transform of another length that it is computed with.
const PER_ELEMENT: usize = 16;

/// How often a thread tries to take the lock, which is held for less than a microsecond.
const TRIES: usize = 1000;

/// What a plan computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complex to complex, with the exponent -2 pi i j k / n.
    Forward,
    /// Complex to complex, with the exponent 2 pi i j k / n.
    Inverse,
    /// Real to the first half of the spectrum.
    ToComplex,
    /// From the first half of a spectrum to a real signal.
    ToReal,
}

/// A plan, by its kind.
enum Plan<T> {
    Complex(Arc<dyn Fft<T>>),
    ToComplex(Arc<dyn RealToComplex<T>>),
    ToReal(Arc<dyn ComplexToReal<T>>),
}

impl<T> Clone for Plan<T> {
    fn clone(&self) -> Plan<T> {
        match self {
            Plan::Complex(plan) => Plan::Complex(plan.clone()),
            Plan::ToComplex(plan) => Plan::ToComplex(plan.clone()),
            Plan::ToReal(plan) => Plan::ToReal(plan.clone()),
        }
    }
}

/// The plans of a type that were used last.
pub struct Plans<T> {
    /// The most recently used last.
    kept: Vec<(Kind, usize, Plan<T>)>,
}

impl<T: Real> Plans<T> {
    /// No plans.
    pub const fn new() -> Plans<T> {
        Plans { kept: Vec::new() }
    }

    fn find(&mut self, kind: Kind, length: usize) -> Option<Plan<T>> {
        let at = self.kept.iter().rposition(|kept| kept.0 == kind && kept.1 == length)?;
        let last = self.kept.len() - 1;
        if at != last {
            self.kept[at..].rotate_left(1);
        }
        Some(self.kept[last].2.clone())
    }

    /// Keeps a plan. The plans that are not kept for it are returned: they are freed after the lock.
    fn keep(&mut self, kind: Kind, length: usize, plan: Plan<T>) -> Vec<(Kind, usize, Plan<T>)> {
        if self.find(kind, length).is_some() {
            return Vec::new();
        }
        self.kept.push((kind, length, plan));
        let mut total: usize = self.kept.iter().map(|kept| kept.1).sum();
        let mut dropped = self.kept.len().saturating_sub(MOST);
        total -= self.kept[..dropped].iter().map(|kept| kept.1).sum::<usize>();
        while total > LONGEST && dropped + 1 < self.kept.len() {
            total -= self.kept[dropped].1;
            dropped += 1;
        }
        self.kept.drain(..dropped).collect()
    }
}

/// The plan of this kind and length, a kept one or a new one.
fn plan<T: Real>(kind: Kind, length: usize) -> Result<Plan<T>> {
    ensure!(length >= 1, Internal, "a transform of nothing");
    if let Some(Some(plan)) = with_plans(|plans: &mut Plans<T>| plans.find(kind, length)) {
        return Ok(plan);
    }
    let plan = new_plan(kind, length)?;
    let dropped = with_plans(|plans| plans.keep(kind, length, plan.clone()));
    drop(dropped);
    Ok(plan)
}

/// Calls `access` with the plans that are kept. `None`: another thread keeps the lock, or kept it when this process was
/// forked; then nothing is looked up or kept.
fn with_plans<T: Real, R>(access: impl FnOnce(&mut Plans<T>) -> R) -> Option<R> {
    for _ in 0..TRIES {
        match T::plans().try_lock() {
            Ok(mut plans) => return Some(access(&mut plans)),
            Err(TryLockError::Poisoned(poisoned)) => return Some(access(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

/// Frees the plans that are kept.
pub fn clear<T: Real>() {
    drop(with_plans(|plans: &mut Plans<T>| std::mem::take(&mut plans.kept)));
}

/// A new plan. Planning cannot report failed allocations, so the memory is requested and freed before.
fn new_plan<T: Real>(kind: Kind, length: usize) -> Result<Plan<T>> {
    drop(Scratch::new(length.saturating_mul(PER_ELEMENT * size_of::<Complex<T>>()))?);
    let mut planner = FftPlanner::new();
    Ok(match kind {
        Kind::Forward => Plan::Complex(planner.plan_fft_forward(length)),
        Kind::Inverse => Plan::Complex(planner.plan_fft_inverse(length)),
        Kind::ToComplex if length.is_multiple_of(2) => {
            Plan::ToComplex(Arc::new(RealToComplexEven::new(length, &mut planner)))
        }
        Kind::ToComplex => Plan::ToComplex(Arc::new(RealToComplexOdd::new(length, &mut planner))),
        Kind::ToReal if length.is_multiple_of(2) => {
            Plan::ToReal(Arc::new(ComplexToRealEven::new(length, &mut planner)))
        }
        Kind::ToReal => Plan::ToReal(Arc::new(ComplexToRealOdd::new(length, &mut planner))),
    })
}

/// A plan of complex lines.
pub fn complex_plan<T: Real>(kind: Kind, length: usize) -> Result<Arc<dyn Fft<T>>> {
    match plan::<T>(kind, length)? {
        Plan::Complex(plan) => Ok(plan),
        _ => bail!(Internal, "a plan of another kind"),
    }
}

/// A plan from real lines to the first halves of their spectra.
pub fn to_complex_plan<T: Real>(length: usize) -> Result<Arc<dyn RealToComplex<T>>> {
    match plan::<T>(Kind::ToComplex, length)? {
        Plan::ToComplex(plan) => Ok(plan),
        _ => bail!(Internal, "a plan of another kind"),
    }
}

/// A plan from the first halves of spectra to real lines.
pub fn to_real_plan<T: Real>(length: usize) -> Result<Arc<dyn ComplexToReal<T>>> {
    match plan::<T>(Kind::ToReal, length)? {
        Plan::ToReal(plan) => Ok(plan),
        _ => bail!(Internal, "a plan of another kind"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_kept_up_to_a_number_and_a_total_length() {
        let mut plans = Plans::<f32>::new();
        let short = new_plan(Kind::Forward, 2).unwrap();
        for length in 1..=MOST + 3 {
            plans.keep(Kind::Forward, length, short.clone());
        }
        assert_eq!(plans.kept.len(), MOST);
        assert!(plans.find(Kind::Forward, 3).is_none());
        assert!(plans.find(Kind::Inverse, 4).is_none());
        assert!(plans.find(Kind::Forward, 4).is_some());
        // Number 4 was used last now; a plan of the whole length leaves no other.
        assert_eq!(plans.keep(Kind::Forward, LONGEST, short.clone()).len(), MOST);
        assert_eq!(plans.keep(Kind::Forward, 1, short).len(), 1);
        assert_eq!(plans.kept.len(), 1);
    }

    #[test]
    fn the_same_plan_serves_every_call() {
        let first = complex_plan::<f64>(Kind::Forward, 12).unwrap();
        let second = complex_plan::<f64>(Kind::Forward, 12).unwrap();
        assert!(Arc::ptr_eq(&first, &second));
    }
}
