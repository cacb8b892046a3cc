//! Calls by name: interpreters, custom operators and `rlt_op_call` look up built-in and run-time operators here. Their
//! arguments are checked against the schema and completed with defaults.

use super::boxed::Values;
use super::fit::{Slot, default_value, fit, is_exactly};
use super::lent::LentValues;
use super::opdef::{Arguments, OpDef};
use super::runtime_ops::{self, RuntimeOp};
use super::value::Value;
use super::{KeySet, active, boxed_op, index, named_dynamic, observed};
use crate::ops;
use rushlight_base::{Error, Result, Scalar, bail, ensure, err};
use rushlight_schema::{Argument, BaseType, Default as SchemaDefault, Signature};
use std::sync::Arc;

/// An operator that can be called with boxed arguments.
#[derive(Clone)]
pub enum Op {
    /// A row of the generated table.
    BuiltIn(&'static OpDef),
    /// Defined at run time.
    Runtime(Arc<RuntimeOp>),
}

impl Op {
    /// `add.Tensor`, or `my::op` for a run-time operator.
    pub fn full_name(&self) -> String {
        match self {
            Op::BuiltIn(def) => def.full_name().to_owned(),
            Op::Runtime(op) => op.full_name(),
        }
    }

    /// An address that identifies the operator.
    pub(super) fn identity(&self) -> *const () {
        match self {
            Op::BuiltIn(def) => std::ptr::from_ref::<OpDef>(def).cast(),
            Op::Runtime(op) => Arc::as_ptr(op).cast(),
        }
    }

    /// The signature.
    pub fn signature(&self) -> Signature {
        match self {
            Op::BuiltIn(def) => def.signature(),
            Op::Runtime(op) => op.signature().clone(),
        }
    }

    /// The arguments, in order.
    pub fn arguments(&self) -> Arguments<'_> {
        match self {
            Op::BuiltIn(def) => def.arguments(),
            Op::Runtime(op) => Arguments::Parsed(&op.signature().arguments),
        }
    }

    /// Calls it with complete arguments, through the active layers.
    pub fn call(&self, args: &[Value]) -> Result<Values> {
        let mut results = Values::new();
        self.call_into(args, &mut results)?;
        Ok(results)
    }

    /// [`call`](Op::call), with the results appended to `results`, which is empty.
    pub fn call_into(&self, args: &[Value], results: &mut Values) -> Result<()> {
        match self {
            Op::BuiltIn(def) => def.call(args, results),
            Op::Runtime(op) => {
                let keys = observed::below(self.identity(), active(keys_of_values(args)));
                if keys.is_boxed() {
                    return boxed_op(self, keys, args, results);
                }
                *results = named_dynamic(&op.full_name(), || op.call_below_layers(keys, args))?;
                Ok(())
            }
        }
    }

    /// Calls an operator that was defined at run time below the layers: its kernels receive the arguments as they are.
    #[cfg(any(feature = "op-nested", feature = "op-sparse", feature = "op-quantization"))]
    pub(crate) fn call_without_layer(&self, args: &[Value], results: &mut Values) -> Result<()> {
        match self {
            Op::BuiltIn(def) => bail!(Internal, "{} has no kernels of its own", def.full_name()),
            Op::Runtime(op) => {
                let keys = active(keys_of_values(args)) & !KeySet::BOXED;
                *results = named_dynamic(&op.full_name(), || op.call_below_layers(keys, args))?;
                Ok(())
            }
        }
    }

    /// Calls it with arguments as a caller gives them. Positional arguments come in the order of the schema; an argument
    /// that is given neither by position nor by name takes its default, which is added to `args`. In-place and out= forms
    /// return the tensors that they wrote.
    pub fn call_with(
        &self,
        args: &mut LentValues<'_>,
        kwargs: Vec<(String, Value)>,
        results: &mut Values,
    ) -> Result<()> {
        match fill(self.arguments(), args, kwargs) {
            Ok(()) => self.call_into(args, results),
            Err(error) => Err(self.wrong_arguments(error)),
        }
    }

    /// [`call_with`](Op::call_with) without arguments by name.
    pub fn call_positional(&self, args: &mut LentValues<'_>, results: &mut Values) -> Result<()> {
        match fill_positional(self.arguments(), args) {
            Ok(()) => self.call_into(args, results),
            Err(error) => Err(self.wrong_arguments(error)),
        }
    }

    /// Calls it with a value for every argument, in the order of the schema, also of those that are given by name
    /// otherwise. Graphs have calls of this form.
    pub fn call_complete(&self, args: &mut LentValues<'_>, results: &mut Values) -> Result<()> {
        let arguments = self.arguments();
        if arguments.len() != args.len() {
            return Err(self.wrong_arguments(too_many(arguments, args.len())));
        }
        match fit_all(arguments, args) {
            Ok(()) => self.call_into(args, results),
            Err(error) => Err(self.wrong_arguments(error)),
        }
    }

    #[cold]
    fn wrong_arguments(&self, error: Error) -> Error {
        error.context(format_args!("{}", self.full_name()))
    }
}

pub(super) fn keys_of_values(args: &[Value]) -> KeySet {
    let mut keys = KeySet::EMPTY;
    for value in args {
        value.for_each_tensor(|tensor| keys |= tensor.keys());
    }
    keys
}

/// The operator `name` (`add`, `aten::add`, `my::op`) with this overload. An error for an unknown operator lists the
/// overloads that exist.
pub fn find(name: &str, overload: &str) -> Result<Op> {
    find_known(name, overload).ok_or_else(|| unknown(name, overload))
}

/// [`find`], or `None`.
pub fn find_known(name: &str, overload: &str) -> Option<Op> {
    super::link_layers();
    match index::find(bare(name), overload) {
        Some(def) => Some(Op::BuiltIn(def)),
        None => runtime_ops::find(name, overload).or_else(|| library(name, overload)).map(Op::Runtime),
    }
}

/// Every overload of the operator `name` (`aten::add`, `my::op`).
pub fn overloads(name: &str) -> Vec<Op> {
    super::link_layers();
    let bare = bare(name);
    let built_in = all().filter(|def| def.name() == bare).map(Op::BuiltIn);
    let found: Vec<Op> = built_in.chain(runtime_ops::overloads(name).into_iter().map(Op::Runtime)).collect();
    #[cfg(feature = "op-quantization")]
    if found.is_empty() {
        return crate::quantized::library::overloads(name).into_iter().map(Op::Runtime).collect();
    }
    found
}

/// An operator of a built-in library, which a program has not defined itself.
fn library(name: &str, overload: &str) -> Option<Arc<RuntimeOp>> {
    #[cfg(feature = "op-quantization")]
    return crate::quantized::library::find(name, overload);
    #[cfg(not(feature = "op-quantization"))]
    {
        let _ = (name, overload);
        None
    }
}

/// The name without the namespaces of built-in operators.
fn bare(name: &str) -> &str {
    name.strip_prefix("aten::").or_else(|| name.strip_prefix("rushlight::")).unwrap_or(name)
}

#[cold]
fn unknown(name: &str, overload: &str) -> Error {
    let overloads: Vec<&str> = all().filter(|def| def.name() == bare(name)).map(OpDef::overload).collect();
    if overloads.is_empty() {
        return err!(UnknownOperator, "there is no operator '{name}' in this build");
    }
    err!(
        UnknownOperator,
        "operator '{name}' has no overload '{overload}'; it has: {}",
        overloads.iter().map(|overload| format!("'{overload}'")).collect::<Vec<_>>().join(", ")
    )
}

/// Every built-in operator form, family by family.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    ops::generated::FAMILIES.iter().flat_map(|family| family.iter().copied())
}

/// Calls an operator by name: [`Op::call_with`].
pub fn call(name: &str, overload: &str, args: Vec<Value>, kwargs: Vec<(String, Value)>) -> Result<Values> {
    let mut results = Values::new();
    find(name, overload)?.call_with(&mut args.into(), kwargs, &mut results)?;
    Ok(results)
}

/// Checks the values that are given by position and adds those given by name and the defaults: one value for each argument.
pub fn fill(arguments: Arguments<'_>, args: &mut LentValues<'_>, kwargs: Vec<(String, Value)>) -> Result<()> {
    if kwargs.is_empty() {
        return fill_positional(arguments, args);
    }
    let given = args.len();
    check_positional(arguments, args)?;
    let mut named = place(arguments, given, kwargs)?;
    for index in given..arguments.len() {
        let Some(argument) = arguments.get(index) else { break };
        match named.get_mut(index).and_then(Option::take) {
            Some(value) => args.push(fit(value, &argument.ty, Slot::Argument(&argument.name))?),
            None => push_default(argument, args)?,
        }
    }
    Ok(())
}

/// [`fill`] without arguments by name.
fn fill_positional(arguments: Arguments<'_>, args: &mut LentValues<'_>) -> Result<()> {
    let given = args.len();
    check_positional(arguments, args)?;
    for index in given..arguments.len() {
        let Some(argument) = arguments.get(index) else { break };
        push_default(argument, args)?;
    }
    Ok(())
}

/// Checks and converts the values that are given by position.
#[inline]
fn check_positional(arguments: Arguments<'_>, args: &mut LentValues<'_>) -> Result<()> {
    let given = args.len();
    if arguments.len() < given || (given > 0 && arguments.get(given - 1).is_some_and(|last| last.kwarg_only)) {
        return Err(too_many(arguments, given));
    }
    fit_all(arguments, args)
}

/// Checks and converts the values, which are those of the first arguments.
#[inline]
fn fit_all(arguments: Arguments<'_>, args: &mut LentValues<'_>) -> Result<()> {
    for index in 0..args.len() {
        let Some(argument) = arguments.get(index) else { break };
        if !is_exactly(&args[index], &argument.ty) {
            args.convert(index, |value| fit(value, &argument.ty, Slot::Argument(&argument.name)))?;
        }
    }
    Ok(())
}

#[cold]
fn too_many(arguments: Arguments<'_>, given: usize) -> Error {
    let positional = arguments.iter().filter(|argument| !argument.kwarg_only).count();
    err!(Type, "expected at most {positional} positional arguments, got {given}")
}

/// The arguments given by name, each at its place.
fn place(arguments: Arguments<'_>, given: usize, kwargs: Vec<(String, Value)>) -> Result<Vec<Option<Value>>> {
    let mut places: Vec<Option<Value>> = vec![None; arguments.len()];
    for (key, value) in kwargs {
        let Some(index) = arguments.iter().position(|argument| argument.name == key) else {
            bail!(Type, "got an unexpected keyword argument '{key}'")
        };
        ensure!(index >= given && places[index].is_none(), Type, "got multiple values for argument '{key}'");
        places[index] = Some(value);
    }
    Ok(places)
}

/// Adds the default value of `argument`.
#[inline]
fn push_default(argument: &Argument, args: &mut LentValues<'_>) -> Result<()> {
    match &argument.default {
        Some(SchemaDefault::None) => args.push(Value::None),
        Some(SchemaDefault::Int(int))
            if matches!(argument.ty.base, BaseType::Scalar | BaseType::Int) && argument.ty.list.is_none() =>
        {
            args.push(Value::Scalar(Scalar::Int(*int)));
        }
        Some(SchemaDefault::Bool(flag)) if argument.ty.list.is_none() => args.push(Value::Scalar(Scalar::Bool(*flag))),
        Some(default) => args.push(default_value(default, &argument.ty)?),
        None if argument.ty.optional => args.push(Value::None),
        None => bail!(Type, "missing value for argument '{}'", argument.name),
    }
    Ok(())
}
