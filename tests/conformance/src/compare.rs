//! When results count as equal: the rule of `torch.testing.assert_close`.

use crate::cases::Item;
use crate::host::{Element, HostTensor};
use rushlight_base::{Complex128, DType, Scalar};

/// Relative and absolute tolerances, by dtype.
pub type Tolerances<'a> = &'a dyn Fn(DType) -> (f64, f64);

/// Relative and absolute tolerance of a dtype.
pub fn tolerances(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F16 | DType::C32 => (1e-3, 1e-5),
        DType::BF16 => (1.6e-2, 1e-5),
        DType::F32 | DType::C64 => (1.3e-6, 1e-5),
        DType::F64 | DType::C128 => (1e-7, 1e-7),
        _ => (0.0, 0.0),
    }
}

fn close_parts(actual: f64, expected: f64) -> bool {
    actual == expected || (actual.is_nan() && expected.is_nan())
}

fn close(actual: Complex128, expected: Complex128, (relative, absolute): (f64, f64)) -> bool {
    let same = close_parts(actual.re, expected.re) && close_parts(actual.im, expected.im);
    let difference = (actual - expected).norm();
    same || (difference.is_finite() && difference <= absolute + relative * expected.norm())
}

/// Returns the difference between `actual` and `expected`, if any.
pub fn tensors(actual: &HostTensor, expected: &HostTensor) -> Result<(), String> {
    tensors_within(&tolerances, actual, expected)
}

/// Like `tensors`, with other tolerances.
pub fn tensors_within(within: Tolerances, actual: &HostTensor, expected: &HostTensor) -> Result<(), String> {
    if actual.dtype != expected.dtype {
        return Err(format!("dtype {} instead of {}", actual.dtype, expected.dtype));
    }
    if actual.shape != expected.shape {
        return Err(format!("shape {:?} instead of {:?}", actual.shape, expected.shape));
    }
    if expected.bytes.is_none() {
        return Ok(());
    }
    let bounds = within(expected.dtype);
    let mismatches: Vec<(usize, Element, Element)> = actual
        .elements()
        .into_iter()
        .zip(expected.elements())
        .enumerate()
        .filter(|(_, (actual, expected))| match (actual, expected) {
            (Element::Number(actual), Element::Number(expected)) => !close(*actual, *expected, bounds),
            (actual, expected) => actual != expected,
        })
        .map(|(at, (actual, expected))| (at, actual, expected))
        .collect();
    match mismatches.first() {
        None => Ok(()),
        Some((at, actual, expected_value)) => Err(format!(
            "{} of {} elements differ; the first at {at}: {actual:?} instead of {expected_value:?}",
            mismatches.len(),
            expected.numel()
        )),
    }
}

/// Returns the difference between the bits of `actual` and `expected`, if any. All NaNs are equal.
pub fn bits(actual: &HostTensor, expected: &HostTensor) -> Result<(), String> {
    if (actual.dtype, &actual.shape) == (expected.dtype, &expected.shape) && actual.bytes == expected.bytes {
        return Ok(());
    }
    tensors(actual, expected)?;
    let exact = |part: f64, other: f64| part.to_bits() == other.to_bits() || (part.is_nan() && other.is_nan());
    let mut pairs = actual.elements().into_iter().zip(expected.elements()).enumerate();
    match pairs.find(|(_, pair)| match pair {
        (Element::Number(a), Element::Number(b)) => !exact(a.re, b.re) || !exact(a.im, b.im),
        (a, b) => a != b,
    }) {
        None => Ok(()),
        Some((at, (actual, expected))) => Err(format!("the last bits differ at {at}: {actual:?} and {expected:?}")),
    }
}

/// Whether a view has the recorded strides. Dimensions of size 1 may have any.
pub fn strides(actual: &[i64], expected: &HostTensor) -> Result<(), String> {
    let contiguous = rushlight_base::contiguous_strides(&expected.shape).to_vec();
    let wanted = expected.strides.as_ref().unwrap_or(&contiguous);
    let same = expected.numel() < 2
        || expected
            .shape
            .iter()
            .zip(actual.iter().zip(wanted))
            .all(|(&size, (actual, wanted))| size == 1 || actual == wanted);
    if same { Ok(()) } else { Err(format!("strides {actual:?} instead of {wanted:?} for shape {:?}", expected.shape)) }
}

/// Returns the difference between a result and the recorded one, if any.
pub fn items(actual: &Item, expected: &Item) -> Result<(), String> {
    items_within(&tolerances, actual, expected)
}

/// Like `items`, with other tolerances.
pub fn items_within(within: Tolerances, actual: &Item, expected: &Item) -> Result<(), String> {
    match (actual, expected) {
        (Item::Tensor(actual), Item::Tensor(expected)) => tensors_within(within, actual, expected),
        (Item::List(actual), Item::List(expected)) if actual.len() == expected.len() => {
            actual.iter().zip(expected).try_for_each(|(actual, expected)| items_within(within, actual, expected))
        }
        (Item::None, Item::None) => Ok(()),
        // A gradient that was not requested is undefined in PyTorch, and an empty tensor here.
        (Item::Tensor(actual), Item::None) if actual.shape == [0] => Ok(()),
        (Item::DType(actual), Item::DType(expected)) if actual == expected => Ok(()),
        // An operator that returns a dtype returns its number in Python.
        (Item::DType(actual), Item::Scalar(Scalar::Int(code))) if *actual as i64 == *code => Ok(()),
        (Item::Scalar(actual), Item::Scalar(expected)) if scalars(*actual, *expected) => Ok(()),
        _ => Err(format!("{actual:?} instead of {expected:?}")),
    }
}

fn scalars(actual: Scalar, expected: Scalar) -> bool {
    close(actual.to_complex(), expected.to_complex(), tolerances(DType::F64))
}
