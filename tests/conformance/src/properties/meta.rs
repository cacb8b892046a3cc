//! Meta = CPU, in shape, dtype and strides.

use super::Properties;
use crate::cases::{Case, Item};
use crate::declared::{self, ShapeByData};
use crate::door::Value;
use rushlight_base::{Device, DeviceType};

/// The messages of operators whose output shape depends on the elements.
const DEPENDS: [&str; 2] = ["the shape of the result depends on data", "cannot be called on meta tensors"];
/// Operators that read elements: they return one, compare them, or choose by them what they compute.
const READING: [&str; 11] = [
    "aten::FloatImplicit",
    "aten::_foreach_addcdiv.Tensor",
    "aten::_foreach_addcdiv_.Tensor",
    "aten::_foreach_addcmul.Tensor",
    "aten::_foreach_addcmul_.Tensor",
    "aten::allclose",
    "aten::cumprod_backward",
    "aten::equal",
    "aten::is_nonzero",
    "aten::item",
    "aten::masked_scatter_backward",
];

impl Properties<'_> {
    pub(super) fn meta(&self, case: &Case) -> Result<(), String> {
        let Some(signature) = self.signature(case) else { return Ok(()) };
        let named_device = |item: &Item| matches!(item, Item::Device(_));
        let mut given = case.args.iter().chain(case.kwargs.iter().map(|(_, item)| item));
        if given.any(named_device) || READING.contains(&&*case.op) {
            return Ok(());
        }
        let on_cpu = self.arguments(case, &mut |_, host| self.door.tensor(host))?;
        let mut tensors = 0;
        let mut strided = false;
        let mut on_meta = self.arguments(case, &mut |_, host| {
            tensors += 1;
            // Moving to the meta device leaves no gaps between elements.
            strided |= host.strides.is_some();
            self.door.on_meta(&self.door.tensor(host)?)
        })?;
        if tensors == 0 {
            if signature.argument("device").is_none() {
                return Ok(());
            }
            on_meta.kwargs.push(("device".into(), Value::Device(Device::META)));
        }
        let by_data = declared::shape_by_data(&case.op);
        if by_data == ShapeByData::Always {
            return self.call(case, on_meta).map_or(Ok(()), |_| Err("a shape that no data tells".into()));
        }
        let actual = match self.call(case, on_meta) {
            Err(error) if by_data == ShapeByData::Sometimes && DEPENDS.iter().any(|text| error.contains(text)) => {
                return Ok(());
            }
            called => called?,
        };
        let expected = self.call(case, on_cpu)?;
        for (actual, expected) in actual.iter().zip(&expected) {
            let (Some(actual), Some(expected)) = (actual.tensor(), expected.tensor()) else { continue };
            let (meta, cpu) = (self.door.layout(actual)?, self.door.layout(expected)?);
            if self.door.device(actual)? != DeviceType::Meta {
                return Err("the result is not on the meta device".into());
            }
            let same = meta.0 == cpu.0 && meta.1 == cpu.1 && (strided || meta.2 == cpu.2);
            if !same {
                return Err(format!("{meta:?} on the meta device, {cpu:?} on the CPU"));
            }
        }
        Ok(())
    }
}
