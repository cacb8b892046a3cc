//! Cases in double precision.

use crate::cases::{Case, Item};
use crate::host::HostTensor;
use crate::run::spread;
use rushlight_base::{Complex128, DType};

/// Conversion of a number of a tensor.
pub type Change<'a> = &'a mut dyn FnMut(Complex128, DType) -> Complex128;

impl Case {
    /// The same call with doubles instead of narrower numbers, each converted by `change`. Of the results only which
    /// have gradients is kept.
    pub fn in_double(&self, change: Change<'_>) -> Case {
        let mut all = |items: &[Item]| -> Vec<Item> { items.iter().map(|item| doubled(item, change)).collect() };
        let (args, grad_outs) = (all(&self.args), all(&spread(&self.grad_outs)));
        let (names, items): (Vec<_>, Vec<_>) = self.kwargs.iter().cloned().unzip();
        Case {
            args,
            kwargs: names.into_iter().zip(all(&items)).collect(),
            grad_outs,
            grads: self.grads.clone(),
            mutated: self.mutated.clone(),
            ..self.bare()
        }
    }
}

fn doubled(item: &Item, change: Change<'_>) -> Item {
    match item {
        Item::Tensor(host) if host.dtype.is_differentiable() && host.bytes.is_some() => {
            let mut twin = HostTensor { dtype: wide(host.dtype), ..host.clone() };
            twin.set_numbers(&host.numbers().into_iter().map(|number| change(number, host.dtype)).collect::<Vec<_>>());
            Item::Tensor(HostTensor { strides: host.strides.clone(), ..twin })
        }
        Item::DType(dtype) => Item::DType(wide(*dtype)),
        Item::List(items) => Item::List(items.iter().map(|item| doubled(item, change)).collect()),
        other => other.clone(),
    }
}

fn wide(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => DType::F64,
        DType::C32 | DType::C64 => DType::C128,
        other => other,
    }
}
