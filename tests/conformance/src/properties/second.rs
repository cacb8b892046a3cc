//! The gradient of the gradient, in double: differentiated again against central differences.

use super::domain::is_restricted;
use super::{Properties, is_defined, is_rejection};
use crate::cases::{Case, Item};
use crate::door::Tensor;
use crate::host::{Element, HostTensor};
use rushlight_base::DType;

/// Step of the differences.
const STEP: f64 = 1e-5;
/// Tolerance, relative to the larger of the result and 1.
const TOLERANCE: f64 = 1e-4;

impl Properties<'_> {
    /// With gradients g = vjp(x, v), checks d<g, w>/dx along a direction, for fixed w.
    pub(super) fn second(&self, case: &Case) -> Result<(), String> {
        // An input without a gradient (such as a target) may select the case: it is not changed.
        let reached = case.grads.iter().filter(|(_, grad)| !matches!(grad, Item::None));
        let leaves: Vec<&str> = reached.map(|(key, _)| key.as_str()).collect();
        let doubles = |item: &Item| !matches!(item, Item::Tensor(host) if host.dtype != DType::F64);
        if is_restricted(case)
            || is_defined(&case.op)
            || leaves.is_empty()
            || !case.grad_outs.iter().all(|grad| matches!(grad, Item::None) || doubles(grad))
        {
            return Ok(());
        }
        if !case.grads.iter().all(|(_, grad)| doubles(grad)) || case.random || case.op.contains("dropout") {
            return Ok(());
        }
        let analytic = match self.product(case, &leaves, 0.0, true) {
            Ok(Some(analytic)) => analytic,
            Err(error) if is_rejection(&error) => return Ok(()),
            other => return other.map(|_| ()),
        };
        let side = |shift: f64| -> Result<f64, String> {
            Ok(self.product(case, &leaves, shift, false)?.map_or(0.0, |product| product.value))
        };
        let slope = |step: f64| -> Result<f64, String> { Ok((side(step)? - side(-step)?) / (2.0 * step)) };
        let numeric = slope(STEP)?;
        let bound = TOLERANCE * numeric.abs().max(1.0);
        let off = (analytic.slope - numeric).abs();
        // Nothing can be checked at a pole, nor where the gradient jumps (a norm at zero): there the slope grows as the
        // step shrinks.
        let jumps = || -> Result<bool, String> { Ok((slope(STEP / 2.0)? / numeric - 2.0).abs() < 1e-3) };
        if off <= bound || !numeric.is_finite() || jumps()? {
            Ok(())
        } else {
            Err(format!("{} instead of {numeric}", analytic.slope))
        }
    }

    /// <vjp(x + shift d, v), w>, and its derivative along d if `differentiate`; nothing if no gradient depends
    /// on the inputs.
    fn product(
        &self,
        case: &Case,
        leaves: &[&str],
        shift: f64,
        differentiate: bool,
    ) -> Result<Option<Product>, String> {
        let mut inputs: Vec<(Tensor, HostTensor)> = Vec::new();
        let arguments = self.arguments(case, &mut |key, host| {
            if !leaves.contains(&key) {
                return self.door.tensor(host);
            }
            let shifted = shifted(host, shift);
            let tensor = self.door.tensor(&shifted)?;
            self.door.require_grad(&tensor)?;
            inputs.push((tensor.clone(), shifted));
            // A leaf cannot be written.
            let is_written = case.mutated.iter().any(|(name, _)| name == key);
            if is_written { self.door.copy(&tensor) } else { self.projected(case, key, &tensor) }
        })?;
        let outs = self.call(case, arguments)?;
        let mut roots = Vec::new();
        for (out, grad) in outs.iter().zip(&case.grad_outs) {
            if let (Some(tensor), Item::Tensor(grad)) = (out.tensor(), grad) {
                roots.push((tensor.clone(), self.door.tensor(grad)?));
            }
        }
        let tensors: Vec<Tensor> = inputs.iter().map(|(tensor, _)| tensor.clone()).collect();
        let grads = self.door.gradient_tensors(&roots, &tensors, true)?;
        let mut value = 0.0;
        let mut second_roots = Vec::new();
        for grad in grads.iter().flatten() {
            let host = self.door.host(grad)?;
            let weights = HostTensor { bytes: Some(pattern(&host, 0.3).concat()), strides: None, ..host.clone() };
            value += dot(&numbers(&host), &numbers(&weights));
            second_roots.push((grad.clone(), self.door.tensor(&weights)?));
        }
        if !differentiate {
            return Ok(Some(Product { value, slope: 0.0 }));
        }
        second_roots.retain(|(grad, _)| self.door.requires_grad(grad).unwrap_or(false));
        if second_roots.is_empty() {
            // The gradient must then be constant, which the differences will show.
            return Ok(Some(Product { value, slope: 0.0 }));
        }
        let seconds = self.door.gradients(&second_roots, &tensors)?;
        let mut slope = 0.0;
        for (second, (_, host)) in seconds.iter().zip(&inputs) {
            if let Some(second) = second {
                slope += dot(&numbers(second), &direction(host));
            }
        }
        Ok(Some(Product { value, slope }))
    }
}

struct Product {
    value: f64,
    slope: f64,
}

fn numbers(host: &HostTensor) -> Vec<f64> {
    host.elements()
        .into_iter()
        .map(|element| match element {
            Element::Int(value) => value as f64,
            Element::Number(value) => value.re,
        })
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Numbers between -1 and 1 without a pattern that an operator could share.
fn pattern(host: &HostTensor, seed: f64) -> Vec<[u8; 8]> {
    (0..host.numel()).map(|at| (seed + 1.7 * at as f64).sin().to_le_bytes()).collect()
}

fn direction(host: &HostTensor) -> Vec<f64> {
    pattern(host, 1.1).into_iter().map(f64::from_le_bytes).collect()
}

/// The tensor moved along its direction; contiguous, so that each element moves independently.
fn shifted(host: &HostTensor, shift: f64) -> HostTensor {
    if host.dtype != DType::F64 {
        return host.clone();
    }
    let moved = numbers(host).into_iter().zip(direction(host)).map(|(value, step)| value + shift * step);
    HostTensor { bytes: Some(moved.flat_map(f64::to_le_bytes).collect()), strides: None, ..host.clone() }
}
