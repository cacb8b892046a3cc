//! Calls of functions, methods, classes and operators.

use super::environment::Compiler;
use super::matching::Arguments;
use super::sugar::Sugar;
use crate::ast::{self, ExprId, ExprKind, Name};
use crate::graph::{Attribute, ValueId};
use crate::schema::Schema;
use crate::types::Type;
use rushlight_base::Result;
use std::collections::HashMap;
use std::sync::Arc;

impl Compiler<'_> {
    /// The arguments of a call; starred tuples and lists are unpacked.
    pub(super) fn arguments(&mut self, args: &[ExprId], keywords: &[(Name, ExprId)]) -> Result<Arguments> {
        let mut call = Arguments::default();
        for &arg in args {
            if let ExprKind::Starred(inner) = self.file.module.expr(arg).kind {
                match self.sugar(inner, None)? {
                    Sugar::Value(value) => {
                        let span = self.expr_span(inner);
                        let values = self.at(span, |compiler| compiler.unpack(value))?;
                        call.positional.extend(values);
                    }
                    Sugar::Tuple(items) => {
                        for item in items {
                            let value = self.value_of(item)?;
                            call.positional.push(value);
                        }
                    }
                    other => return Err(self.error(format!("{} cannot be unpacked", other.describe(self)))),
                }
                continue;
            }
            let value = self.expr(arg)?;
            call.positional.push(value);
        }
        for (name, value) in keywords {
            let span = self.expr_span(*value);
            let value = self.expr(*value)?;
            call.keywords.push((name.clone(), value, span));
        }
        Ok(call)
    }

    /// `function(args)`, where the function is known.
    pub(super) fn call(
        &mut self,
        function: Sugar,
        args: &[ExprId],
        keywords: &[(Name, ExprId)],
        hint: Option<&Type>,
    ) -> Result<Sugar> {
        match function {
            Sugar::Special(special) => self.special(special, args, keywords, hint),
            Sugar::Cast(kind) => {
                let call = self.arguments(args, keywords)?;
                self.cast(kind, &call).map(Sugar::Value)
            }
            Sugar::ToList(tensor) => self.tensor_list(tensor, hint).map(Sugar::Value),
            Sugar::New(kind) => {
                let [_] = args else { return Err(self.error("Only one argument is expected in __new__")) };
                Ok(Sugar::Value(self.apply("prim::CreateObject", &[], kind)?))
            }
            other => {
                let call = self.arguments(args, keywords)?;
                self.call_values(other, &call).map(Sugar::Value)
            }
        }
    }

    /// A call whose arguments are values.
    pub(super) fn call_values(&mut self, function: Sugar, call: &Arguments) -> Result<ValueId> {
        match function {
            Sugar::Builtin { name, object } => {
                let mut call = call.clone();
                if let Some(object) = object {
                    call.positional.insert(0, object);
                    call.is_method = true;
                }
                if let (&[value], "aten::list") = (call.positional.as_slice(), &*name)
                    && matches!(self.kind(value), Type::Tuple(_))
                {
                    return self.list_of(Sugar::Value(value));
                }
                if let (&[value], "aten::len") = (call.positional.as_slice(), &*name)
                    && let Type::NamedTuple(tuple) = self.kind(value)
                {
                    return self.int(tuple.fields.len() as i64);
                }
                let magic = match (&*name, call.positional.as_slice()) {
                    ("aten::len", [value]) => self.magic("__len__", &[*value])?,
                    ("prim::abs", [value]) => self.magic("__abs__", &[*value])?,
                    ("aten::hash", [value]) => self.magic("__hash__", &[*value])?,
                    _ => None,
                };
                match magic {
                    Some(result) => Ok(result),
                    None => self.builtin(&name, &call),
                }
            }
            Sugar::Function(name) => self.call_function(&name, call),
            Sugar::Method { object, class, name } => self.call_method(object, &class, &name, call),
            Sugar::Class(kind) => self.construct(kind, call),
            Sugar::Value(object) => {
                let kind = self.kind(object);
                match &kind {
                    Type::Class(class) | Type::Interface(class) => {
                        let data = self.unit.class(class)?;
                        let method = if data.has_method("__call__") { "__call__" } else { "forward" };
                        self.call_method(object, class, &method.into(), call)
                    }
                    _ => Err(self.error(format!("cannot call a value of type '{}'", kind.annotation_str()))),
                }
            }
            Sugar::Cast(kind) => self.cast(kind, call),
            other => Err(self.error(format!("{} is not callable", other.describe(self)))),
        }
    }

    pub(super) fn checked(&mut self, schema: &Arc<Schema>, call: &Arguments) -> Result<(Vec<ValueId>, Type)> {
        match self.matches(schema, call, true) {
            Ok(matched) => {
                let (inputs, outputs) = self.inputs(schema, matched)?;
                let output = match outputs.as_slice() {
                    [] => Type::None,
                    [single] => single.clone(),
                    several => Type::tuple(several),
                };
                Ok((inputs, output))
            }
            Err(reason) => {
                let mut shown = Schema::clone(schema);
                if let Some((_, last)) = schema.name.rsplit_once('.') {
                    shown.name = last.into();
                }
                Err(self.no_match(&[(shown.into(), reason)]))
            }
        }
    }

    pub(super) fn call_function(&mut self, name: &Name, call: &Arguments) -> Result<ValueId> {
        let schema = self.callee(name)?;
        let (mut inputs, output) = self.checked(&schema, call)?;
        let function = self.function_constant(name)?;
        inputs.insert(0, function);
        self.calls.insert(name.clone());
        self.apply("prim::CallFunction", &inputs, output)
    }

    /// The schema of a function of the program. An error in it shows where it is called.
    pub(super) fn callee(&mut self, name: &str) -> Result<Arc<Schema>> {
        self.unit.schema(name).map_err(|error| {
            let message = error.message().to_owned();
            match message.contains("is called recursively") {
                true => self.error(message),
                false => error,
            }
        })
    }

    /// Calls a method; `object` is its first argument.
    pub(super) fn call_method(
        &mut self,
        object: ValueId,
        class: &Name,
        name: &Name,
        call: &Arguments,
    ) -> Result<ValueId> {
        let mut call = call.clone();
        let schema = match self.unit.host.custom_method(class, name) {
            Some(schema) => {
                let mut schema = Schema::clone(&schema);
                schema.arguments.insert(0, crate::schema::Argument::new("self", Type::Class(class.clone())));
                Arc::new(schema)
            }
            None => {
                let qualified: Name = format!("{class}.{name}").into();
                let schema = self.callee(&qualified)?;
                if matches!(self.unit.named_type(class)?, Some(Type::Class(_))) {
                    self.calls.insert(qualified);
                }
                schema
            }
        };
        call.positional.insert(0, object);
        call.is_method = true;
        let (inputs, output) = self.checked(&schema, &call)?;
        self.apply_named("prim::CallMethod", name, &inputs, output)
    }

    /// `Class(args)`
    fn construct(&mut self, kind: Type, call: &Arguments) -> Result<ValueId> {
        match &kind {
            Type::NamedTuple(tuple) => {
                let defaults = self.tuple_defaults(&tuple.name)?;
                let arguments = tuple.fields.iter().map(|(name, kind)| {
                    let mut argument = crate::schema::Argument::new(name, kind.clone());
                    argument.default = defaults.get(name).cloned();
                    argument
                });
                let mut schema = Schema::new(&tuple.name, arguments.collect(), kind.clone());
                schema.returns.clear();
                let schema = Arc::new(schema);
                let (inputs, _) = self.checked(&schema, call)?;
                self.apply("prim::TupleConstruct", &inputs, kind)
            }
            Type::Class(class) if class.starts_with("__torch__.torch.autograd.grad_mode.") => {
                let node = self.node("prim::CreateObject", &[], std::slice::from_ref(&kind))?;
                let object = self.output(node)?;
                let attribute = Attribute::List(Vec::new());
                if let Some(&mode) = call.positional.first() {
                    self.graph.node_mut(node)?.attributes.push(("arguments".into(), attribute));
                    self.graph.add_node_input(node, mode)?;
                }
                Ok(object)
            }
            Type::Class(class) if class.starts_with(crate::classes::PREFIX) => {
                let init: Name = "__init__".into();
                if self.unit.host.custom_method(class, &init).is_none() {
                    let message = format!("the class '{class}' has no __init__, or is not defined in this program");
                    return Err(self.error(message));
                }
                let object = self.apply("prim::CreateObject", &[], kind.clone())?;
                self.call_method(object, class, &init, call)?;
                Ok(object)
            }
            Type::Class(class) => {
                let object = self.apply("prim::CreateObject", &[], kind.clone())?;
                let data = self.unit.class(class)?;
                if data.has_method("__init__") {
                    self.call_method(object, class, &"__init__".into(), call)?;
                } else if !call.positional.is_empty() || !call.keywords.is_empty() {
                    return Err(self.error(format!("{class}() takes no arguments")));
                }
                Ok(object)
            }
            Type::Enum(class) => Err(self.error(format!("Enum class {} cannot be called", class.name))),
            other => Err(self.error(format!("{} cannot be called", other.annotation_str()))),
        }
    }

    /// The defaults of the fields of a NamedTuple.
    fn tuple_defaults(&mut self, name: &str) -> Result<HashMap<Name, crate::schema::Literal>> {
        let mut defaults = HashMap::new();
        let Some(super::unit::Definition::Class(file, item)) = self.unit.definition(name)? else { return Ok(defaults) };
        if let Some(ast::Item::Class(class)) = file.module.items.get(item) {
            for member in &class.members {
                if let ast::Member::Attribute { name, value: Some(value), annotation, .. } = member
                    && let Some(literal) = super::literal::literal_of(&file.module, *value)
                {
                    let kind = self.unit.annotation(&file, *annotation)?;
                    defaults.insert(name.clone(), super::literal::fitted(literal, &kind));
                }
            }
        }
        Ok(defaults)
    }

    /// What a nested function sees.
    pub(super) fn visible(&self) -> HashMap<Name, Sugar> {
        let mut variables = self.outer.clone().unwrap_or_default();
        for frame in &self.frames {
            for name in frame.missing.keys() {
                variables.remove(name);
            }
            variables.extend(frame.variables.iter().map(|(name, variable)| (name.clone(), variable.sugar.clone())));
        }
        variables
    }

    /// A variable of the function around: its value becomes an input of the nested function.
    pub(super) fn capture(&mut self, name: &Name) -> Result<Option<Sugar>> {
        let Some(sugar) = self.outer.as_ref().and_then(|outer| outer.get(name)).cloned() else { return Ok(None) };
        let sugar = match sugar {
            Sugar::Value(value) => {
                let kind = self.outer_types.get(&value).cloned().unwrap_or(Type::Any);
                let top = self.graph.top();
                let input = self.graph.add_input(top, kind.clone())?;
                if !name.trim_start_matches('_').bytes().all(|byte| byte.is_ascii_digit()) {
                    self.graph.set_name(input, name)?;
                }
                self.captured.push(value);
                if let Some(first) = self.frames.first_mut() {
                    let sugar = Sugar::Value(input);
                    let variable = super::environment::Variable { sugar, declared: Some(kind), assigned: true };
                    first.variables.insert(name.clone(), variable);
                }
                Sugar::Value(input)
            }
            other => other,
        };
        Ok(Some(sugar))
    }

    /// `fork(function, args)`: the call becomes a graph of its own.
    pub(super) fn fork(&mut self, args: &[ExprId], keywords: &[(Name, ExprId)], kind: &str) -> Result<ValueId> {
        let Some((&function, args)) = args.split_first() else {
            return Err(self.error("Expected at least one argument to fork()"));
        };
        let function = self.sugar(function, None)?;
        let call = self.arguments(args, keywords)?;
        let mut inner = Compiler::new(self.unit, &self.name, self.file);
        inner.span = self.span;
        inner.depth = self.depth;
        let (captured, result) = match function {
            Sugar::Closure(closure) => {
                if !call.positional.is_empty() || !call.keywords.is_empty() {
                    return Err(self.error("a nested function is forked without arguments"));
                }
                for sugar in closure.1.values() {
                    if let Sugar::Value(value) = sugar {
                        inner.outer_types.insert(*value, self.kind(*value));
                    }
                }
                inner.outer = Some(closure.1.clone());
                let result = inner.body(&closure.0)?;
                (std::mem::take(&mut inner.captured), result)
            }
            function => {
                let top = inner.graph.top();
                let mut captured = Vec::new();
                let mut add = |inner: &mut Compiler<'_>, outer: &Self, value: ValueId| -> Result<ValueId> {
                    captured.push(value);
                    inner.graph.add_input(top, outer.kind(value))
                };
                let function = match function {
                    Sugar::Value(object) => Sugar::Value(add(&mut inner, self, object)?),
                    Sugar::Method { object, class, name } => {
                        Sugar::Method { object: add(&mut inner, self, object)?, class, name }
                    }
                    Sugar::Builtin { name, object: Some(object) } => {
                        Sugar::Builtin { name, object: Some(add(&mut inner, self, object)?) }
                    }
                    other => other,
                };
                let mut forked = Arguments::default();
                for value in call.positional {
                    forked.positional.push(add(&mut inner, self, value)?);
                }
                for (name, value, span) in call.keywords {
                    forked.keywords.push((name, add(&mut inner, self, value)?, span));
                }
                let result = inner.call_values(function, &forked)?;
                inner.graph.add_output(top, result)?;
                (captured, inner.kind(result))
            }
        };
        inner.cleanup()?;
        self.calls.extend(std::mem::take(&mut inner.calls));
        let output = if kind == "prim::fork" { result.future() } else { Type::Await(result.into()) };
        let node = self.node(kind, &captured, &[output])?;
        let graph = Attribute::Graph(Arc::new(inner.graph));
        self.graph.node_mut(node)?.attributes.push(("Subgraph".into(), graph));
        self.output(node)
    }
}
