//! Results that differ because of intermediate rounding.
//!
//! A recorded result is exact for inputs within their own rounding of the recorded ones, if it was computed well. How
//! much that allows is measured, for every operator in the same way: the call is made in double precision, once with
//! the recorded inputs and a few times with each number perturbed within its rounding. The library's results and
//! gradients may differ from the recorded ones by a few times the spread of these calls, but by no more than a few
//! units of the largest number of the result, which a step (of `floor`, for example) would exceed. Integers and
//! booleans have no rounding.

use crate::cases::Case;
use crate::compare;
use crate::door::Door;
use crate::host::HostTensor;
use crate::run;
use rushlight_base::{Complex128, DType};

/// The reason that is reported for such a difference.
pub const REASON: &str = "within what the rounding of the inputs and of each step leaves open, which is measured";

/// Number of calls with perturbed inputs.
const CALLS: u64 = 12;
/// Factor of the spread of these: sums are rounded after every term, and both sides round. It is smaller for half
/// precision, which is accumulated in single precision.
const SPREADS: [f64; 2] = [16.0, 8.0];
/// The maximum, in units in the last place of the largest number: for single precision, and for half precision.
const MOST: [f64; 2] = [256.0, 2.0];

/// Whether all results and gradients are as close to the recorded ones as rounding explains.
pub fn explains(door: &Door, case: &Case) -> bool {
    if case.random {
        return false;
    }
    let (Ok(actual), Some(spreads)) = (run::outcome(door, case), spreads(door, case)) else { return false };
    let recorded = run::recorded(case);
    actual.len() == recorded.len()
        && spreads.len() == recorded.len()
        && actual.iter().zip(&recorded).zip(&spreads).all(|((actual, recorded), spread)| match (actual, recorded) {
            (Some(actual), Some(recorded)) => near(actual, recorded, spread),
            (None, Some(zeros)) | (Some(zeros), None) => zeros.numbers().iter().all(|number| number.norm() == 0.0),
            (None, None) => true,
        })
}

/// Within the tolerances of the dtype, plus the measured rounding.
fn near(actual: &HostTensor, recorded: &HostTensor, spread: &[f64]) -> bool {
    if (actual.dtype, &actual.shape) != (recorded.dtype, &recorded.shape) || actual.numel() != spread.len() {
        return false;
    }
    if !actual.dtype.is_differentiable() {
        // Not as numbers in double precision, which large integers share with their neighbours.
        return actual.elements() == recorded.elements();
    }
    let (relative, absolute) = compare::tolerances(actual.dtype);
    let largest =
        recorded.numbers().iter().map(|number| number.norm()).filter(|size| size.is_finite()).fold(0.0, f64::max);
    let is_half = matches!(actual.dtype, DType::F16 | DType::BF16 | DType::C32);
    let single = unit(actual.dtype) > f64::EPSILON;
    let most = if single { MOST[usize::from(is_half)] * unit(actual.dtype) * largest } else { 0.0 };
    let spreads = SPREADS[usize::from(is_half)];
    actual.numbers().iter().zip(recorded.numbers()).zip(spread).all(|((actual, recorded), spread)| {
        let is_same = *actual == recorded || (actual.is_nan() && recorded.is_nan());
        is_same || (actual - recorded).norm() <= absolute + relative * recorded.norm() + most.min(spreads * spread)
    })
}

/// How far each number of the results and gradients moves with the inputs, in double precision.
fn spreads(door: &Door, case: &Case) -> Option<Vec<Vec<f64>>> {
    let numbers = |outcome: Vec<Option<HostTensor>>| -> Vec<Vec<Complex128>> {
        outcome.into_iter().map(|host| host.map_or_else(Vec::new, |host| host.numbers())).collect()
    };
    let exact = numbers(run::outcome(door, &in_double(case, None)).ok()?);
    let mut spreads: Vec<Vec<f64>> = exact.iter().map(|result| vec![0.0; result.len()]).collect();
    for call in 1..=CALLS {
        let moved = numbers(run::outcome(door, &in_double(case, Some(call))).ok()?);
        for ((spread, exact), moved) in spreads.iter_mut().zip(&exact).zip(&moved) {
            for ((spread, exact), moved) in spread.iter_mut().zip(exact).zip(moved) {
                *spread = spread.max((exact - moved).norm());
            }
        }
    }
    Some(spreads)
}

/// The case in double precision, with each number perturbed within its rounding if a seed is given.
fn in_double(case: &Case, seed: Option<u64>) -> Case {
    let mut index = 0;
    let mut side = || {
        index += 1;
        seed.map_or(0.0, |seed| side(seed, index))
    };
    case.in_double(&mut |number, dtype| {
        let unit = unit(dtype);
        Complex128::new(number.re * (1.0 + unit * side()), number.im * (1.0 + unit * side()))
    })
}

/// Half a unit in the last place, relative.
fn unit(dtype: DType) -> f64 {
    match dtype {
        DType::F16 | DType::C32 => 1.0 / 2048.0,
        DType::BF16 => 1.0 / 256.0,
        DType::F32 | DType::C64 => f64::from(f32::EPSILON) / 2.0,
        _ => f64::EPSILON / 2.0,
    }
}

/// Up or down, without a pattern that an operator could share: the top bit of a multiplicative hash.
fn side(seed: u64, at: u64) -> f64 {
    let mixed = (at ^ seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    if (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 63 == 0 { 1.0 } else { -1.0 }
}
