//! Strided = contiguous.

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

impl Laws<'_> {
    pub(super) fn layout(&self, case: &Case) -> Result<(), String> {
        let about_strides = ABOUT_STRIDES.contains(&case.op.as_str());
        if !is_deterministic(case) || about_strides || !case.mutated.is_empty() {
            return Ok(());
        }
        // Not what is recorded: here nothing but the strides makes a difference.
        let plain = self.arguments(case, &mut |_, host| self.door.tensor(host))?;
        let plain: Vec<_> = self.call(case, plain)?.iter().map(|out| self.door.item(out)).collect::<Result<_, _>>()?;
        // Twice: gaps between elements, then the dimensions in reverse order in memory.
        for strides in [gaps as fn(&HostTensor) -> Vec<i64>, reversed] {
            let arguments = self.arguments(case, &mut |_, host| {
                self.door.tensor(&HostTensor { strides: Some(strides(host)), ..host.clone() })
            })?;
            for (out, expected) in self.call(case, arguments)?.iter().zip(&plain) {
                compare::items(&self.door.item(out)?, expected)?;
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
