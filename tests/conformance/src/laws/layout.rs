//! Strided = contiguous, to the bit where nothing is folded.

use super::{Laws, is_deterministic};
use crate::cases::Case;
use crate::compare;
use crate::host::HostTensor;

/// Operators whose result is about strides.
const ABOUT_STRIDES: [&str; 6] = [
    "aten::as_strided",
    "aten::as_strided_copy",
    "aten::as_strided_scatter",
    "aten::view",
    "aten::view_as",
    "aten::view_as_complex",
];

/// Operators that fold elements (sums, products and what is made of them). A fold takes the elements in the order that
/// memory makes quick, so that their layout may show in the last bits; the law holds within the tolerances there.
/// Everything else computes each element alone, and must agree to the bit.
const FOLDS: &[&str] = &[
    "_log_softmax",
    "_log_softmax_backward_data",
    "_softmax",
    "_softmax_backward_data",
    "addbmm",
    "addmm",
    "addmv",
    "baddbmm",
    "bmm",
    "chain_matmul",
    "corrcoef",
    "cov",
    "cosine_similarity",
    "dot",
    "einsum",
    "frobenius_norm",
    "inner",
    "layer_norm",
    "linalg_matrix_norm",
    "linalg_matrix_power",
    "linalg_multi_dot",
    "linalg_norm",
    "linalg_vecdot",
    "linalg_vector_norm",
    "linear",
    "log_softmax",
    "logsumexp",
    "matmul",
    "mean",
    "mm",
    "mv",
    "nansum",
    "native_layer_norm",
    "norm",
    "nuclear_norm",
    "prod",
    "softmax",
    "std",
    "std_mean",
    "sum",
    "tensordot",
    "var",
    "var_mean",
    "vdot",
];

impl Laws<'_> {
    pub(super) fn layout(&self, case: &Case) -> Result<(), String> {
        let about_strides = ABOUT_STRIDES.contains(&case.op.as_str());
        if !is_deterministic(case) || about_strides || !case.mutated.is_empty() {
            return Ok(());
        }
        let name = case.name().0;
        let folds = FOLDS.contains(&name.strip_prefix("aten::").unwrap_or(name));
        // Not what is recorded: here nothing but the strides makes a difference.
        let plain = self.arguments(case, &mut |_, host| self.door.tensor(host))?;
        let plain = self.hosts(&self.call(case, plain)?)?;
        // Twice: gaps between elements, then the dimensions in reverse order in memory.
        for strides in [gaps as fn(&HostTensor) -> Vec<i64>, reversed] {
            let arguments = self.arguments(case, &mut |_, host| {
                self.door.tensor(&HostTensor { strides: Some(strides(host)), ..host.clone() })
            })?;
            for (strided, expected) in self.hosts(&self.call(case, arguments)?)?.iter().zip(&plain) {
                if folds {
                    compare::tensors(strided, expected)?;
                } else {
                    compare::bits(strided, expected)?;
                }
            }
        }
        Ok(())
    }
}

fn gaps(host: &HostTensor) -> Vec<i64> {
    rushlight_base::contiguous_strides(&host.shape).iter().map(|stride| stride * 2).collect()
}

fn reversed(host: &HostTensor) -> Vec<i64> {
    let mut step = 1;
    host.shape
        .iter()
        .map(|&size| {
            let stride = step;
            step *= size.max(1);
            stride
        })
        .collect()
}
