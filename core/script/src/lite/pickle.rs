//! The record `bytecode.pkl`: a tuple of the version of the code and of methods. A method is its qualified name, a table
//! of its parts and, except in old files, its signature; a table is a tuple of pairs of a name and a value.

use super::opcode::Opcode;
use super::types::Types;
use super::{Contents, Method, OperatorUse, Step, check_version, single_or_tuple};
use crate::archive::{Archive, Classes, Named};
use crate::ast::Name;
use crate::runtime::value::Value;
use crate::schema::{Argument, Formal, Literal};
use crate::types::{Resolver, Type};
use rushlight_base::{Result, Storage, bail, err, list};

/// Reads the methods of an archive.
pub(super) fn read(archive: &Archive) -> Result<Contents> {
    let value = archive.value("bytecode", None, &Constants(archive))?.value;
    let items = tuple(&value)?;
    let Some((Value::Int(version), methods)) = items.split_first() else { bail!(Io, "it has no version") };
    check_version(*version)?;
    let mut types = Types::default();
    let methods = list::try_collect(methods.iter().map(|value| method(value, &mut types)))?;
    Ok(Contents { methods, named_tuples: types.into_named_tuples(), operators: archive.version() })
}

fn method(value: &Value, types: &mut Types) -> Result<Method> {
    let (name, table, signature) = match tuple(value)? {
        [name, table] => (name, table, None),
        [name, table, signature, ..] => (name, table, Some(signature)),
        other => bail!(Io, "a method of {} parts", other.len()),
    };
    let name: Name = name.as_str()?.into();
    parts(&name, table, signature, types).map_err(|error| error.context(format_args!("method {name}")))
}

fn parts(name: &Name, table: &Value, signature: Option<&Value>, types: &mut Types) -> Result<Method> {
    let steps = tuple(field(table, "instructions")?)?.iter().map(|step| match tuple(step)? {
        [name, Value::Int(x), Value::Int(n)] => {
            let x = i32::try_from(*x).map_err(|_| err!(Io, "an instruction has the number {x}"))?;
            let n = u32::try_from(*n).map_err(|_| err!(Io, "an instruction has the number {n}"))?;
            Ok(Step { opcode: Opcode::from_name(name.as_str()?)?, x, n })
        }
        _ => bail!(Io, "an instruction is no name with two numbers"),
    });
    let steps: Vec<Step> = list::try_collect(steps)?;
    let operators = tuple(field(table, "operators")?)?.iter().map(|operator| {
        let (name, overload, arguments) = match tuple(operator)? {
            [name, overload] => (name, overload, None),
            [name, overload, Value::Int(count)] => (name, overload, usize::try_from(*count).ok()),
            _ => bail!(Io, "an operator is no name with an overload"),
        };
        Ok(OperatorUse { name: name.as_str()?.into(), overload: overload.as_str()?.into(), arguments })
    });
    let operators = list::try_collect(operators)?;
    let constants = list::copied(tuple(field(table, "constants")?)?)?;
    let kinds = tuple(field(table, "types")?)?.iter().map(|kind| Ok(kind.as_str().and_then(|kind| types.parse(kind))));
    let kinds = list::try_collect(kinds)?;
    let registers = field(table, "register_size")?.as_int()?;
    let registers = usize::try_from(registers).map_err(|_| err!(Io, "a function with {registers} registers"))?;
    let signature = signature.map(|signature| self::signature(signature, types)).transpose()?;
    Ok(Method { name: name.clone(), steps, operators, constants, types: kinds, registers, signature })
}

fn signature(value: &Value, types: &mut Types) -> Result<(Vec<Argument>, Type)> {
    let arguments = tuple(field(value, "arguments")?)?.iter().map(|argument| {
        let name = field(argument, "name")?.as_str()?;
        // A class that is not known accepts any value.
        let kind = types.parse(field(argument, "type")?.as_str()?).unwrap_or(Type::Any);
        let mut made = Argument::new(name, kind);
        made.default = default(field(argument, "default_value")?, &made.kind);
        Ok(made)
    });
    let arguments = list::try_collect(arguments)?;
    let mut returns = Vec::new();
    for value in tuple(field(value, "returns")?)? {
        returns.push(types.parse(field(value, "type")?.as_str()?).unwrap_or(Type::Any));
    }
    Ok((arguments, single_or_tuple(returns)))
}

/// The default of an argument. Files have None for arguments without one.
pub(super) fn default(value: &Value, kind: &Formal) -> Option<Literal> {
    let accepts_none = || matches!(kind, Formal::Type(Type::Optional(_) | Type::None | Type::Any));
    match value {
        Value::None => accepts_none().then_some(Literal::None),
        other => literal(other, 8),
    }
}

fn literal(value: &Value, depth: usize) -> Option<Literal> {
    let depth = depth.checked_sub(1)?;
    Some(match value {
        Value::None => Literal::None,
        Value::Bool(value) => Literal::Bool(*value),
        Value::Int(value) => Literal::Int(*value),
        Value::Float(value) => Literal::Float(*value),
        Value::Complex(value) => Literal::Complex(value.re, value.im),
        Value::Str(value) => Literal::Str(value.clone()),
        Value::List(list) => {
            Literal::List(list.values().iter().map(|item| literal(item, depth)).collect::<Option<_>>()?)
        }
        Value::Tuple(tuple) => {
            Literal::Tuple(tuple.items().iter().map(|item| literal(item, depth)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn tuple(value: &Value) -> Result<&[Value]> {
    match value {
        Value::Tuple(tuple) => Ok(tuple.items()),
        other => bail!(Io, "a tuple is expected, not {}", other.kind()),
    }
}

/// The value of a name in a table.
fn field<'a>(table: &'a Value, name: &str) -> Result<&'a Value> {
    for pair in tuple(table)? {
        if let [Value::Str(key), value] = tuple(pair)?
            && **key == *name.as_bytes()
        {
            return Ok(value);
        }
    }
    bail!(Io, "a table has no '{name}'")
}

/// The classes and storages of constants in the code. Files share the storages with `constants.pkl`, old ones have them
/// beside the code.
struct Constants<'a>(&'a Archive);

impl Resolver for Constants<'_> {
    fn resolve(&self, _name: &str) -> Option<Type> {
        None
    }

    fn implements(&self, _name: &str, _interface: &str) -> bool {
        false
    }
}

impl Classes for Constants<'_> {
    fn named(&self, name: &str) -> Result<Named> {
        bail!(Io, "the class {name} is not expected among constants")
    }

    fn storage(&self, key: &str, of_bools: bool) -> Result<Storage> {
        let folder = if self.0.has(&format!("bytecode/{key}")) { "bytecode" } else { "constants" };
        self.0.storage(folder, key, of_bools)
    }

    fn tensor(&self, index: usize) -> Result<Value> {
        bail!(Io, "there is no tensor with the number {index}")
    }
}
