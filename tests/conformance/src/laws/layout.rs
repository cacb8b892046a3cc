//! Strided = contiguous, to the bit where nothing is folded.

use super::{Laws, is_deterministic};
use crate::cases::Case;
use crate::compare;
use crate::declared;
use crate::host::HostTensor;

/// Operators whose result is about strides.
const ABOUT_STRIDES: [&str; 7] = [
    "aten::_reshape_alias",
    "aten::as_strided",
    "aten::as_strided_copy",
    "aten::as_strided_scatter",
    "aten::view",
    "aten::view_as",
    "aten::view_as_complex",
];

impl Laws<'_> {
    pub(super) fn layout(&self, case: &Case) -> Result<(), String> {
        let about_strides = ABOUT_STRIDES.contains(&case.op.as_str());
        if !is_deterministic(case) || about_strides || !case.mutated.is_empty() {
            return Ok(());
        }
        // Any layout gives the same bits. Others fold, in the order that a layout asks for, and agree within tolerances.
        let pointwise = declared::is_pointwise(&case.op);
        // Not what is recorded: here nothing but the strides makes a difference.
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
