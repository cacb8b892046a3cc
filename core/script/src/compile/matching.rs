//! Which overload a call means, and the implicit conversions of its arguments.

use super::environment::Compiler;
use crate::ast::Name;
use crate::graph::ValueId;
use crate::schema::{Argument, Bindings, Formal, Schema};
use crate::source::Span;
use crate::types::Type;
use crate::upgrade;
use rushlight_base::{Error, Result};
use std::sync::Arc;

/// The arguments of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    pub(super) positional: Vec<ValueId>,
    pub(super) keywords: Vec<(Name, ValueId, Span)>,
    /// Whether the first one is the object of a method.
    pub(super) is_method: bool,
}

impl Arguments {
    pub(super) fn of(positional: &[ValueId]) -> Arguments {
        Arguments { positional: positional.to_vec(), ..Arguments::default() }
    }
}

/// How a value becomes an argument.
#[derive(Debug)]
enum Conversion {
    Keep(ValueId),
    /// A conversion operator.
    Operator(&'static str, ValueId, Type),
    /// A list of converted values.
    List(Vec<Conversion>, Type),
    /// A list of the elements of a tuple, each of which is converted.
    Unpacked(ValueId, Type),
    /// A tuple whose elements are converted.
    Tuple(ValueId, Vec<Type>),
    Default(crate::schema::Literal, Type),
}

/// A call that fits a schema.
pub(super) struct Matched {
    inputs: Vec<Conversion>,
    bindings: Bindings,
}

impl Compiler<'_> {
    /// The conversion of a value to a type; `Keep` if there is none.
    fn conversion(&self, value: ValueId, wanted: &Type, implicit: bool) -> Conversion {
        let kind = self.kind(value);
        let wanted = match wanted {
            Type::Optional(element) if kind != Type::None => element,
            other => other,
        };
        if kind == *wanted || self.is_subtype(&kind, wanted) {
            return Conversion::Keep(value);
        }
        match (&kind, wanted) {
            (Type::Tuple(_), Type::List(element)) if self.fits(&kind, wanted, implicit) => {
                return Conversion::Unpacked(value, Type::clone(element));
            }
            (Type::Tuple(_), Type::Tuple(elements)) if self.fits(&kind, wanted, implicit) => {
                return Conversion::Tuple(value, elements.to_vec());
            }
            _ => {}
        }
        if !implicit {
            return Conversion::Keep(value);
        }
        let operator = match (&kind, wanted) {
            (Type::Tensor, Type::Float) => "aten::FloatImplicit",
            (Type::Tensor, Type::Int) => "aten::IntImplicit",
            (Type::Tensor, Type::Complex) => "aten::ComplexImplicit",
            (Type::Tensor, Type::Number) => "aten::ScalarImplicit",
            (Type::Number | Type::Bool, Type::Float) => "aten::Float",
            (Type::Number | Type::Bool, Type::Int) => "aten::Int",
            (Type::Number, Type::Complex) => "aten::Complex",
            (Type::Str, Type::Device) => "aten::device",
            _ => return Conversion::Keep(value),
        };
        Conversion::Operator(operator, value, wanted.clone())
    }

    /// Whether a value of a type fits another, after a conversion.
    fn fits(&self, kind: &Type, wanted: &Type, implicit: bool) -> bool {
        let wanted = match wanted {
            Type::Optional(element) if *kind != Type::None => element,
            other => other,
        };
        if self.is_subtype(kind, wanted) {
            return true;
        }
        match (kind, wanted) {
            (Type::Tuple(elements), Type::List(element)) => {
                elements.iter().all(|kind| self.fits(kind, element, implicit))
            }
            (Type::Tuple(elements), Type::Tuple(wanted)) => {
                elements.len() == wanted.len()
                    && elements.iter().zip(wanted.iter()).all(|(kind, wanted)| self.fits(kind, wanted, implicit))
            }
            (Type::Tensor, Type::Float | Type::Int | Type::Complex | Type::Number)
            | (Type::Number, Type::Float | Type::Int | Type::Complex)
            | (Type::Bool, Type::Float | Type::Int)
            | (Type::Str, Type::Device) => implicit,
            _ => false,
        }
    }

    fn perform(&mut self, conversion: Conversion) -> Result<ValueId> {
        Ok(match conversion {
            Conversion::Keep(value) => value,
            Conversion::Operator(operator, value, kind) => self.apply(operator, &[value], kind)?,
            Conversion::List(items, element) => {
                let values = items.into_iter().map(|item| self.perform(item)).collect::<Result<Vec<_>>>()?;
                self.apply("prim::ListConstruct", &values, element.list())?
            }
            Conversion::Unpacked(value, element) => {
                let mut values = self.unpack(value)?;
                for value in &mut values {
                    *value = self.converted(*value, &element, true)?;
                }
                self.apply("prim::ListConstruct", &values, element.list())?
            }
            Conversion::Tuple(value, kinds) => {
                let mut values = self.unpack(value)?;
                for (value, kind) in values.iter_mut().zip(&kinds) {
                    *value = self.converted(*value, kind, true)?;
                }
                self.tuple(&values)?
            }
            Conversion::Default(literal, kind) => self.literal(&literal, &kind)?,
        })
    }

    /// A value as a value of a type, if there is a conversion; else the value.
    pub(super) fn converted(&mut self, value: ValueId, wanted: &Type, implicit: bool) -> Result<ValueId> {
        let conversion = self.conversion(value, wanted, implicit);
        self.perform(conversion)
    }

    /// Whether the value at `index` and those after it are the elements of a list: `x.view(2, 3)`.
    fn is_spread(&self, schema: &Schema, index: usize, argument: &Argument, value: ValueId) -> bool {
        let is_last = schema.arguments.get(index + 1).is_none_or(|next| next.keyword_only);
        let Some(list @ Type::List(_)) = argument.kind.concrete() else { return false };
        let kind = self.kind(value);
        let is_list = matches!(kind, Type::List(_)) || self.fits(&kind, &list, true);
        is_last && !argument.keyword_only && argument.size.is_none() && !is_list
    }

    fn match_argument(
        &self,
        argument: &Argument,
        value: ValueId,
        implicit: bool,
        bindings: &mut Bindings,
    ) -> Result<Conversion, String> {
        let kind = self.kind(value);
        // An int where `int[2]` is expected.
        if argument.size.is_some_and(|size| size <= 16)
            && let Some(list) = argument.kind.concrete()
        {
            let list = if let Type::Optional(element) = &list { element } else { &list };
            if let Type::List(element) = list
                && **element == kind
                && matches!(kind, Type::Int | Type::Float)
            {
                let items = (0..argument.size.unwrap_or(1)).map(|_| Conversion::Keep(value)).collect();
                return Ok(Conversion::List(items, kind));
            }
        }
        let wanted = argument.kind.bind(&kind, bindings, self.unit).map_err(|reason| {
            if matches!(argument.kind, Formal::AnyEnum | Formal::AnyClass) {
                return unexpected(argument, &kind);
            }
            let formal = annotation_of(&argument.kind);
            format!(
                "Could not match type {} to {formal} in argument '{}': {}.",
                kind.annotation_str(),
                argument.name,
                reason.replace(&argument.kind.to_string(), &formal)
            )
        })?;
        let conversion = self.conversion(value, &wanted, implicit);
        if matches!(conversion, Conversion::Keep(_)) && !self.is_subtype(&kind, &wanted) {
            let mut message = unexpected(argument, &kind);
            if kind == Type::Tensor.list() && matches!(wanted, Type::List(_)) {
                message.push_str(&format!(
                    "\nEmpty lists default to List[Tensor]. Add a variable annotation to the assignment to create an \
                     empty list of another type (torch.jit.annotate({}, []))",
                    wanted.annotation_str()
                ));
            }
            return Err(message);
        }
        Ok(conversion)
    }

    /// Whether a call fits a schema; else the reason.
    pub(super) fn matches(&self, schema: &Schema, call: &Arguments, implicit: bool) -> Result<Matched, String> {
        let mut bindings = Bindings::new();
        let mut inputs = Vec::new();
        let mut used = 0;
        let mut used_keywords = 0;
        for (index, argument) in schema.arguments.iter().enumerate() {
            let keyword = call.keywords.iter().find(|(name, ..)| *name == argument.name);
            if !argument.keyword_only
                && let Some(&value) = call.positional.get(used)
            {
                if keyword.is_some() {
                    return Err(format!("argument {} specified twice in schema, submit a bug report!", argument.name));
                }
                if implicit && self.is_spread(schema, index, argument, value) {
                    inputs.push(self.spread(argument, call.positional.get(used..).unwrap_or_default())?);
                    used = call.positional.len();
                    continue;
                }
                inputs.push(self.match_argument(argument, value, implicit, &mut bindings)?);
                used += 1;
            } else if let Some(&(_, value, _)) = keyword {
                inputs.push(self.match_argument(argument, value, implicit, &mut bindings)?);
                used_keywords += 1;
            } else if let Some(default) = &argument.default {
                let kind = argument.kind.resolve(&bindings).unwrap_or(Type::Any);
                inputs.push(Conversion::Default(default.clone(), kind));
            } else {
                return Err(format!("Argument {} not provided.", argument.name));
            }
        }
        let rest = call.positional.get(used..).unwrap_or_default();
        if !rest.is_empty() {
            if !schema.vararg {
                // A method does not count its object.
                let hidden = usize::from(call.is_method);
                return Err(format!(
                    "Expected at most {} arguments but found {} positional arguments.",
                    used.saturating_sub(hidden),
                    call.positional.len().saturating_sub(hidden)
                ));
            }
            inputs.extend(rest.iter().map(|&value| Conversion::Keep(value)));
        }
        if used_keywords < call.keywords.len() {
            for (name, ..) in &call.keywords {
                if !schema.arguments.iter().any(|argument| argument.name == *name) {
                    return Err(format!("Keyword argument {name} unknown."));
                }
            }
        }
        Ok(Matched { inputs, bindings })
    }

    fn spread(&self, argument: &Argument, values: &[ValueId]) -> Result<Conversion, String> {
        let list = argument.kind.concrete().unwrap_or(Type::AnyList);
        let Type::List(element) = &list else { return Err("expected a list".into()) };
        let mut items = Vec::new();
        for &value in values {
            let kind = self.kind(value);
            if !self.fits(&kind, element, true) {
                return Err(format!(
                    "Expected a value of type '{}' for argument '<varargs>' but instead found type '{}'.",
                    element.annotation_str(),
                    kind.annotation_str()
                ));
            }
            items.push(self.conversion(value, element, true));
        }
        Ok(Conversion::List(items, Type::clone(element)))
    }

    /// The inputs of a call that matches, and the types of its results.
    pub(super) fn inputs(&mut self, schema: &Schema, matched: Matched) -> Result<(Vec<ValueId>, Vec<Type>)> {
        let inputs = matched.inputs.into_iter().map(|input| self.perform(input)).collect::<Result<Vec<_>>>()?;
        let mut outputs = Vec::new();
        for value in &schema.returns {
            let Some(kind) = value.kind.resolve(&matched.bindings) else {
                return Err(self.error(format!("the type of the result of {schema} is not known")));
            };
            outputs.push(kind);
        }
        Ok((inputs, outputs))
    }

    /// Calls an operator. Several results are a tuple; a NamedTuple if the schema names them.
    pub(super) fn builtin(&mut self, name: &str, call: &Arguments) -> Result<ValueId> {
        let overloads = self.unit.operators.overloads(name);
        if let Some(version) = self.old_version()
            && let Some(result) = self.upgraded(&overloads, version, call)?
        {
            return Ok(result);
        }
        let rewrites = super::builtin::rewrites(name);
        if overloads.is_empty() && rewrites.is_empty() {
            return Err(self.error(format!("Unknown builtin op: {name}")));
        }
        let mut reasons: Vec<(Arc<Schema>, String)> = Vec::new();
        let is_single = overloads.len() + rewrites.len() == 1;
        for implicit in [false, true] {
            if is_single && !implicit {
                continue;
            }
            reasons.clear();
            for schema in overloads.iter() {
                // dtypes are ints: `x.view(-1)` means a size.
                if !implicit && &*schema.name == "aten::view" && &*schema.overload == "dtype" {
                    continue;
                }
                match self.matches(schema, call, implicit) {
                    Ok(matched) => return self.call_schema(schema, matched),
                    Err(reason) => reasons.push((schema.clone(), reason)),
                }
            }
            for (schema, run) in &rewrites {
                match self.matches(schema, call, implicit) {
                    Ok(matched) => {
                        let (inputs, _) = self.inputs(schema, matched)?;
                        return run(self, &inputs);
                    }
                    Err(reason) => reasons.push((schema.clone(), reason)),
                }
            }
        }
        Err(self.no_match(&reasons))
    }

    /// The version of the operators that the file which is compiled was written for, if it is older than this library.
    fn old_version(&self) -> Option<u64> {
        let version = self.unit.host.operator_version().filter(|version| *version < upgrade::CURRENT)?;
        // The version is that of the archive; code may have been added to it.
        self.file.module.source.name().starts_with(upgrade::ARCHIVED).then_some(version)
    }

    /// Calls the function that stands for an operator with the meaning of an old version, if one of the overloads that
    /// the call may mean has such a meaning.
    fn upgraded(&mut self, overloads: &[Arc<Schema>], version: u64, call: &Arguments) -> Result<Option<ValueId>> {
        let row = |schema: &Schema| upgrade::find(&schema.name, &schema.overload, version);
        if !overloads.iter().any(|schema| row(schema).is_some()) {
            return Ok(None);
        }
        for implicit in [false, true] {
            for schema in overloads {
                let row = row(schema);
                let old = row.map_or_else(|| Ok(schema.clone()), |row| row.old_schema())?;
                let Ok(matched) = self.matches(&old, call, implicit) else { continue };
                let Some(row) = row else { return Ok(None) };
                let (inputs, _) = self.inputs(&old, matched)?;
                return self.call_function(&row.function().into(), &Arguments::of(&inputs)).map(Some);
            }
        }
        Ok(None)
    }

    /// Whether an operator exists that takes the object as its first argument.
    pub(super) fn has_method(&self, name: &str, object: ValueId) -> bool {
        let kind = self.kind(object);
        let accepts = |schema: &Schema| {
            schema.arguments.first().is_some_and(|first| {
                first.kind.accepts(&kind, self.unit)
                    || first.kind.concrete().is_some_and(|wanted| self.fits(&kind, &wanted, false))
            })
        };
        self.unit.operators.overloads(name).iter().any(|schema| accepts(schema))
            || super::builtin::rewrites(name).iter().any(|(schema, _)| accepts(schema))
    }

    #[cold]
    pub(super) fn no_match(&self, reasons: &[(Arc<Schema>, String)]) -> Error {
        if let [(schema, reason)] = reasons {
            return self.error(format!("\n{schema}:\n{reason}\n"));
        }
        let mut message = String::from("\nArguments for call are not valid.\nThe following variants are available:\n");
        for (schema, reason) in reasons {
            message.push_str(&format!("  \n  {schema}:\n"));
            reason.lines().for_each(|line| message.push_str(&format!("  {line}\n")));
        }
        message.push_str("\nThe original call is");
        self.error(message)
    }

    fn call_schema(&mut self, schema: &Schema, matched: Matched) -> Result<ValueId> {
        let (inputs, outputs) = self.inputs(schema, matched)?;
        let node = self.node(&schema.name, &inputs, &outputs)?;
        if let [_] = outputs.as_slice() {
            return self.output(node);
        }
        let values = self.graph.node(node)?.outputs().to_vec();
        if values.is_empty() {
            return self.none();
        }
        let names: Option<Vec<Name>> = schema.returns.iter().map(|value| value.name.clone()).collect();
        let Some(names) = names else { return self.tuple(&values) };
        let fields = names.into_iter().zip(outputs).collect();
        let tuple = crate::types::NamedTuple { name: schema.name.clone(), fields };
        self.apply("prim::TupleConstruct", &values, Type::NamedTuple(tuple.into()))
    }
}

fn unexpected(argument: &Argument, kind: &Type) -> String {
    format!(
        "Expected a value of type '{}' for argument '{}' but instead found type '{}'.",
        annotation_of(&argument.kind),
        argument.name,
        kind.annotation_str()
    )
}

/// A pattern in the words of annotations: `List[t]`.
fn annotation_of(formal: &Formal) -> String {
    match formal {
        Formal::Type(kind) => kind.annotation_str(),
        Formal::Variable(name) => name.to_string(),
        Formal::List(element) => format!("List[{}]", annotation_of(element)),
        Formal::Optional(element) => format!("Optional[{}]", annotation_of(element)),
        Formal::Dict(pair) => format!("Dict[{}, {}]", annotation_of(&pair.0), annotation_of(&pair.1)),
        Formal::Tuple(elements) => {
            format!("Tuple[{}]", elements.iter().map(annotation_of).collect::<Vec<_>>().join(", "))
        }
        Formal::Future(element) => format!("Future[{}]", annotation_of(element)),
        other => other.to_string(),
    }
}
