//! In-place = functional = out=.

use super::{Arguments, Properties, is_deterministic};
use crate::cases::{Case, Item};
use crate::compare;
use crate::door::{Tensor, Value};
use crate::host::HostTensor;
use rushlight_schema::{Argument, BaseType, Signature};

/// The arguments of factories that their out forms do not have.
const OPTIONS: [&str; 4] = ["dtype", "layout", "device", "pin_memory"];

/// Operators whose in-place form requires the dtype of the result.
const OF_ONE_DTYPE: [&str; 1] = ["float_power"];
/// The error of an in-place form whose target is expanded.
const EXPANDED: &str = "refers to a single memory location";

impl Properties<'_> {
    pub(super) fn forms(&self, case: &Case) -> Result<(), String> {
        let Some(signature) = self.signature(case).filter(|_| is_deterministic(case)) else { return Ok(()) };
        let (inplace, out) = (self.inplace_of(signature), self.out_of(signature));
        if inplace.is_none() && out.is_none() {
            return Ok(());
        }
        let functional = self.call(case, self.plain(case)?)?;
        let expected: Vec<HostTensor> =
            functional.iter().filter_map(Value::tensor).map(|out| self.door.host(out)).collect::<Result<_, _>>()?;
        if let Some(inplace) = inplace {
            // If the operator returns a view, its in-place form turns the tensor into that view, of any shape.
            let reshapes = signature.returns.iter().any(|ret| ret.ty.alias.as_ref().is_some_and(|alias| !alias.write));
            self.same_in_place(case, inplace, &expected, reshapes)?;
        }
        match out {
            Some(out) => self.same_into_outs(case, signature, out, &expected),
            None => Ok(()),
        }
    }

    fn plain(&self, case: &Case) -> Result<Arguments, String> {
        self.arguments(case, &mut |_, host| self.door.tensor(host))
    }

    fn inplace_of(&self, functional: &Signature) -> Option<&Signature> {
        let name = format!("{}_", functional.name);
        let all = || self.operators.iter().filter(|op| op.name == name);
        let alike = |op: &&Signature| op.arguments.iter().map(kind).eq(functional.arguments.iter().map(kind));
        all().find(|op| op.overload == functional.overload).or_else(|| all().find(alike))
    }

    fn out_of(&self, functional: &Signature) -> Option<&Signature> {
        self.operators.iter().find(|op| {
            let own = op.arguments.iter().filter(|argument| !argument.ty.is_written());
            let has = |name: &str| op.arguments.iter().any(|argument| argument.name == name);
            // The options of a factory come from the out tensor.
            let given = functional.arguments.iter().filter(|it| !OPTIONS.contains(&&*it.name) || has(&it.name));
            op.name == functional.name
                // The number of tensors in a list depends on the call.
                && !op.arguments.iter().any(|argument| argument.ty.is_written() && argument.ty.list.is_some())
                && op.arguments.iter().any(|argument| argument.ty.is_written() && argument.kwarg_only)
                && own.map(kind).eq(given.map(kind))
        })
    }

    fn same_in_place(
        &self,
        case: &Case,
        inplace: &Signature,
        expected: &[HostTensor],
        reshapes: bool,
    ) -> Result<(), String> {
        let arguments = self.plain(case)?;
        let Some(target) = arguments.args.first().and_then(Value::tensor).cloned() else { return Ok(()) };
        let before = self.door.host(&target)?;
        let fits = reshapes || expected[0].shape == before.shape;
        let requires_dtype = OF_ONE_DTYPE.iter().any(|name| inplace.name.trim_end_matches('_') == *name);
        let casts = match requires_dtype {
            true => expected[0].dtype == before.dtype,
            false => expected[0].dtype.can_cast(before.dtype),
        };
        let called = self.door.call(&inplace.name, &inplace.overload, arguments.args, arguments.kwargs);
        match called {
            Err(_) if !fits || !casts => Ok(()),
            Err(error) if error.contains(EXPANDED) => Ok(()),
            Err(error) => Err(format!("{}: {error}", inplace.name)),
            Ok(_) if !fits || !casts => Err(format!("{} accepted a target it cannot fill", inplace.name)),
            Ok(_) if expected[0].dtype != before.dtype => Ok(()),
            Ok(_) => {
                same(&self.door.host(&target)?, &expected[0]).map_err(|reason| format!("{}: {reason}", inplace.name))
            }
        }
    }

    /// Once into outs that must be resized, once into outs with their own strides.
    fn same_into_outs(
        &self,
        case: &Case,
        functional: &Signature,
        out: &Signature,
        expected: &[HostTensor],
    ) -> Result<(), String> {
        let names = || {
            out.arguments.iter().filter(|argument| argument.ty.is_written()).map(|argument| argument.name.to_string())
        };
        for strided in [false, true] {
            let outs: Vec<Tensor> =
                expected.iter().map(|like| self.door.tensor(&blank(like, strided))).collect::<Result<_, _>>()?;
            let mut arguments = self.plain(case)?;
            arguments.kwargs.retain(|(name, _)| out.arguments.iter().any(|argument| argument.name == *name));
            // Positional arguments of one form may be keyword-only in the other.
            let positional = out.positional().filter(|argument| !argument.ty.is_written()).count();
            for (at, value) in arguments.args.split_off(positional.min(arguments.args.len())).into_iter().enumerate() {
                arguments.kwargs.push((functional.arguments[positional + at].name.to_string(), value));
            }
            arguments.kwargs.extend(names().zip(outs.iter().cloned().map(Value::Tensor)));
            self.door
                .call(&out.name, &out.overload, arguments.args, arguments.kwargs)
                .map_err(|error| format!("{}: {error}", out.full_name()))?;
            for (written, expected) in outs.iter().zip(expected) {
                same(&self.door.host(written)?, expected).map_err(|reason| format!("{}: {reason}", out.full_name()))?;
            }
        }
        Ok(())
    }
}

/// The distinction of overloads: the name of an argument and its type.
fn kind(argument: &Argument) -> (&str, BaseType, bool) {
    (&argument.name, argument.ty.base, argument.ty.list.is_some())
}

/// An out tensor: without elements, or of the right shape with gaps between its elements.
fn blank(like: &HostTensor, strided: bool) -> HostTensor {
    let shape = if strided { like.shape.clone() } else { vec![0] };
    let strides = strided.then(|| rushlight_base::contiguous_strides(&shape).iter().map(|stride| stride * 2).collect());
    let bytes = shape.iter().product::<i64>() as usize * like.dtype.size();
    HostTensor { dtype: like.dtype, shape, strides, bytes: Some(vec![0; bytes]) }
}

/// The same to the bit, NaN aside.
fn same(actual: &HostTensor, expected: &HostTensor) -> Result<(), String> {
    if actual.dtype == expected.dtype && actual.shape == expected.shape && actual.bytes == expected.bytes {
        return Ok(());
    }
    compare::items(&Item::Tensor(actual.clone()), &Item::Tensor(expected.clone()))
}
