//! The check of a trace: the module computes what the function has computed.

use crate::module::Module;
use rushlight_base::{Complex, DType, DeviceType, Result, bail, ensure, random};
use rushlight_tensor::autograd::GradModeGuard;
use rushlight_tensor::dispatch::Value;
use rushlight_tensor::{Generator, Tensor, ops};

/// Relative and absolute, as in PyTorch's `check_tolerance`.
const TOLERANCE: f64 = 1e-5;

/// Runs a copy of the module on the arguments, with the random numbers that the function had, and compares its result.
pub(super) fn check(module: &Module, inputs: Vec<Value>, expected: &Value, before: &random::Generator) -> Result<()> {
    let copy = module.deep_copy()?;
    let generator = Generator::default_cpu();
    let after = std::mem::replace(&mut *generator.lock(), before.clone());
    let found = {
        let _guard = GradModeGuard::new(false);
        copy.run_boxed("forward", inputs, &[])
    };
    *generator.lock() = after;
    let found = found.map_err(|error| error.context("check_trace: the traced module fails on the example"))?;
    let _guard = GradModeGuard::new(false);
    compare(&found, expected, "the output")
}

fn compare(found: &Value, expected: &Value, what: &str) -> Result<()> {
    let children = |value: &Value| -> Option<Vec<Value>> {
        Some(match value {
            Value::Tuple(items) | Value::List(items) => items.to_vec(),
            Value::Tensors(tensors) => {
                tensors.iter().map(|tensor| tensor.clone().map_or(Value::None, Value::Tensor)).collect()
            }
            Value::Dict(entries) => entries.iter().map(|(_, value)| value.clone()).collect(),
            _ => return None,
        })
    };
    match (found, expected) {
        (Value::Tensor(found), Value::Tensor(expected)) => compare_tensors(found, expected, what),
        _ => {
            let (Some(found), Some(expected)) = (children(found), children(expected)) else {
                ensure!(
                    found.kind() == expected.kind(),
                    Runtime,
                    "check_trace: {what} of the trace is {}, that of the function is {}",
                    found.kind(),
                    expected.kind()
                );
                return Ok(());
            };
            ensure!(
                found.len() == expected.len(),
                Runtime,
                "check_trace: {what} of the trace has {} values, not {}",
                found.len(),
                expected.len()
            );
            let mut pairs = found.iter().zip(&expected).enumerate();
            pairs.try_for_each(|(index, (found, expected))| compare(found, expected, &format!("{what}[{index}]")))
        }
    }
}

fn compare_tensors(found: &Tensor, expected: &Tensor, what: &str) -> Result<()> {
    let (sizes, wanted) = (found.sizes(), expected.sizes());
    if sizes != wanted || found.dtype() != expected.dtype() {
        bail!(
            Runtime,
            "check_trace: {what} of the trace is {} of {}, that of the function is {} of {}",
            rushlight_base::format_sizes(&sizes),
            found.dtype(),
            rushlight_base::format_sizes(&wanted),
            expected.dtype()
        );
    }
    let plain = |tensor: &Tensor| tensor.device().kind != DeviceType::Meta && tensor.components().is_none();
    if !plain(found) || !plain(expected) {
        return Ok(());
    }
    let (found, expected) = (numbers(found)?, numbers(expected)?);
    let differs = |(found, expected): &(&Complex<f64>, &Complex<f64>)| !is_close(**found, **expected);
    let Some(index) = found.iter().zip(&expected).position(|pair| differs(&pair)) else { return Ok(()) };
    let worst = found.iter().zip(&expected).map(|(&a, &b)| distance(a, b)).fold(0.0, f64::max);
    let (found, expected) =
        (found.get(index).copied().unwrap_or_default(), expected.get(index).copied().unwrap_or_default());
    bail!(
        Runtime,
        "check_trace: {what} of the trace differs from that of the function: at {} it is {} instead of {}; the largest \
         difference is {worst:e}. The function depends on values that are constants in the trace, or changes state",
        rushlight_base::format_sizes(&position(index, &wanted)),
        printed(found),
        printed(expected)
    )
}

fn numbers(tensor: &Tensor) -> Result<Vec<Complex<f64>>> {
    ops::to_dtype(tensor, DType::C128, false, false, None)?.to_vec()
}

fn distance(a: Complex<f64>, b: Complex<f64>) -> f64 {
    (a.re - b.re).hypot(a.im - b.im)
}

fn is_close(found: Complex<f64>, expected: Complex<f64>) -> bool {
    let is_nan = |value: Complex<f64>| value.re.is_nan() || value.im.is_nan();
    if is_nan(found) || is_nan(expected) {
        return is_nan(found) && is_nan(expected);
    }
    found == expected || distance(found, expected) <= TOLERANCE + TOLERANCE * expected.re.hypot(expected.im)
}

/// The indices of the element with this number.
fn position(index: usize, sizes: &[i64]) -> Vec<i64> {
    let mut rest = index as i64;
    let mut indices: Vec<i64> = sizes
        .iter()
        .rev()
        .map(|&size| {
            let at = rest % size.max(1);
            rest /= size.max(1);
            at
        })
        .collect();
    indices.reverse();
    indices
}

fn printed(value: Complex<f64>) -> String {
    if value.im == 0.0 { value.re.to_string() } else { value.to_string() }
}
