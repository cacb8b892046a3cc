//! Strided = contiguous, to the bit where nothing is folded.

use super::{Properties, is_deterministic};
use crate::cases::Case;
use crate::compare;
use crate::declared;
use crate::host::HostTensor;

/// Operators whose result is about strides, or that require contiguous arguments.
const ABOUT_STRIDES: [&str; 13] = [
    "aten::_foreach_addcdiv.Tensor",
    "aten::_foreach_addcmul.Tensor",
    "aten::_reshape_alias",
    "aten::as_strided",
    "aten::as_strided_copy",
    "aten::as_strided_scatter",
    "aten::slice_inverse",
    "aten::view",
    "aten::view.dtype",
    "aten::view_as",
    "aten::view_as_complex",
    "aten::view_as_complex_copy",
    "aten::view_copy.dtype",
];

impl Properties<'_> {
    pub(super) fn layout(&self, case: &Case) -> Result<(), String> {
        let about_strides = ABOUT_STRIDES.contains(&case.op.as_str());
        if !is_deterministic(case) || about_strides || !case.mutated.is_empty() {
            return Ok(());
        }
        // Any layout gives the same bits. Other operators reduce in the order of a layout, and agree within tolerances.
        let pointwise = declared::is_pointwise(&case.op);
        // Only the strides make a difference here.
        let plain = self.arguments(case, &mut |_, host| self.door.tensor(host))?;
        let plain = self.hosts(&self.call(case, plain)?)?;
        // Twice: gaps between elements, then the dimensions in reverse order in memory.
        for strides in [gaps as fn(&HostTensor) -> Vec<i64>, reversed] {
            let arguments = self.arguments(case, &mut |_, host| {
                self.door.tensor(&HostTensor { strides: Some(strides(host)), ..host.clone() })
            })?;
            for (strided, expected) in self.hosts(&self.call(case, arguments)?)?.iter().zip(&plain) {
                if pointwise {
                    compare::bits(strided, expected)?;
                } else {
                    compare::tensors(strided, expected)?;
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
