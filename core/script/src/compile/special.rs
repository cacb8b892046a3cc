//! Functions that the compiler handles: conversions, `annotate`, `range` and others.

use super::environment::Compiler;
use super::iteration::Iterable;
use super::matching::Arguments;
use super::sugar::{Special, Sugar};
use crate::ast::{ExprId, ExprKind, Name};
use crate::graph::ValueId;
use crate::types::Type;
use rushlight_base::Result;
use std::sync::Arc;

impl Compiler<'_> {
    pub(super) fn special(
        &mut self,
        special: Special,
        args: &[ExprId],
        keywords: &[(Name, ExprId)],
        hint: Option<&Type>,
    ) -> Result<Sugar> {
        let count = |wanted: &[usize]| wanted.contains(&args.len());
        Ok(match special {
            Special::Print => {
                let call = self.arguments(args, keywords)?;
                if !call.keywords.is_empty() {
                    return Err(self.error("print doesn't accept any keyword arguments"));
                }
                self.node("prim::Print", &call.positional, &[])?;
                Sugar::Value(self.none()?)
            }
            Special::Annotate | Special::UncheckedCast | Special::Cast => {
                let [kind, value] = args else {
                    return Err(self.error("expected a type and a value"));
                };
                let kind = self.unit.annotation(self.file, *kind)?;
                let value = self.expr_hint(*value, Some(&kind))?;
                Sugar::Value(self.annotated(special, kind, value)?)
            }
            Special::Uninitialized => {
                let [kind] = args else { return Err(self.error("expected a type")) };
                let kind = self.unit.annotation(self.file, *kind)?;
                Sugar::Value(self.uninitialized(&kind)?)
            }
            Special::UncheckedUnwrap => {
                let [value] = args else { return Err(self.error("expected one argument")) };
                let value = self.expr(*value)?;
                Sugar::Value(self.unwrapped(value)?)
            }
            Special::IsInstance | Special::HasAttr | Special::IsScripting | Special::IsTracing => {
                // They were not found to be conditions because their arguments do not fit.
                if (special == Special::IsScripting || special == Special::IsTracing) && args.is_empty() {
                    return Ok(Sugar::Value(self.bool(special == Special::IsScripting)?));
                }
                return Err(self.error("expected a value and a literal"));
            }
            Special::GetAttr => {
                if !count(&[2, 3]) {
                    return Err(self.error("getattr expects 2 or 3 arguments"));
                }
                let object = self.sugar(args[0], None)?;
                let ExprKind::Str(name) = &self.file.module.expr(args[1]).kind else {
                    return Err(self.error("getattr's second argument must be a string literal"));
                };
                let name: Name = String::from_utf8_lossy(name).into();
                if let (Some(default), Sugar::Value(value)) = (args.get(2), &object)
                    && !self.has_member(*value, &name)?
                {
                    return Ok(Sugar::Value(self.expr(*default)?));
                }
                self.member(object, &name)?
            }
            Special::Range => {
                let call = self.arguments(args, keywords)?;
                Sugar::Iterable(Arc::new(self.range(&call)?))
            }
            Special::Enumerate => {
                let call = self.arguments(args.get(1..).unwrap_or_default(), keywords)?;
                let Some(&source) = args.first() else { return Err(self.error("enumerate expects an iterable")) };
                let source = self.sugar(source, None)?;
                let source = self.iterable(source)?;
                let start = match (call.positional.first(), call.keywords.first()) {
                    (Some(&start), _) => start,
                    (None, Some((name, start, _))) if &**name == "start" => *start,
                    (None, Some(_)) => return Err(self.error("enumerate expects an iterable and a start")),
                    (None, None) => self.int(0)?,
                };
                Sugar::Iterable(Arc::new(Iterable::Zip(vec![Iterable::Count(start), source])))
            }
            Special::Zip => {
                if args.is_empty() || !keywords.is_empty() {
                    return Err(self.error("zip expected at least 1 arguments, got 0"));
                }
                let mut sources = Vec::new();
                for &arg in args {
                    let source = self.sugar(arg, None)?;
                    sources.push(self.iterable(source)?);
                }
                Sugar::Iterable(Arc::new(Iterable::Zip(sources)))
            }
            Special::Reversed => {
                let [source] = args else { return Err(self.error("reversed expects one argument")) };
                let source = self.sugar(*source, None)?;
                let list = self.list_of(source)?;
                let none = self.none()?;
                let step = self.int(-1)?;
                Sugar::Value(self.operator("aten::slice", &[list, none, none, step])?)
            }
            Special::List => match args {
                [] => Sugar::Value(self.apply("prim::ListConstruct", &[], empty_list(hint))?),
                [source] => {
                    let source = self.sugar(*source, hint)?;
                    Sugar::Value(self.list_of(source)?)
                }
                _ => return Err(self.error("list expected at most 1 argument")),
            },
            Special::Tuple => {
                let [source] = args else { return Err(self.error("tuple expected one argument")) };
                let source = self.sugar(*source, None)?;
                self.tuple_of(source)?
            }
            Special::Dict => self.dict(args, keywords, hint)?,
            Special::Fork => Sugar::Value(self.fork(args, keywords, "prim::fork")?),
            Special::Awaitable => Sugar::Value(self.fork(args, keywords, "prim::awaitable")?),
            Special::RangeList => {
                let call = self.arguments(args, keywords)?;
                Sugar::Value(self.builtin("prim::rangelist", &call)?)
            }
            Special::Contains => return Err(self.error("torch._contains is not supported")),
        })
    }

    fn annotated(&mut self, special: Special, kind: Type, value: ValueId) -> Result<ValueId> {
        if special != Special::Annotate {
            return if self.kind(value) == kind {
                Ok(value)
            } else {
                self.apply("prim::unchecked_cast", &[value], kind)
            };
        }
        let value = self.converted(value, &kind, true)?;
        let found = self.kind(value);
        if !self.is_subtype(&found, &kind) {
            let message = format!(
                "expected an expression of type {} but found {}",
                kind.annotation_str(),
                found.annotation_str()
            );
            return Err(self.error(message));
        }
        if found == kind { Ok(value) } else { self.apply("prim::unchecked_cast", &[value], kind) }
    }

    fn unwrapped(&mut self, value: ValueId) -> Result<ValueId> {
        match self.kind(value) {
            Type::None => Err(self.error("Unwrapping null optional")),
            Type::Optional(element) => self.apply("aten::_unwrap_optional", &[value], Type::clone(&element)),
            _ => Ok(value),
        }
    }

    /// `int(x)`, `str(x)`, ...
    pub(super) fn cast(&mut self, kind: Type, call: &Arguments) -> Result<ValueId> {
        if call.positional.is_empty() && call.keywords.is_empty() {
            return match kind {
                Type::Int => self.int(0),
                Type::Float => self.constant(Type::Float, Some(crate::graph::Attribute::Float(0.0))),
                Type::Bool => self.bool(false),
                _ => self.string(b""),
            };
        }
        let operator = match kind {
            Type::Int => "aten::Int",
            Type::Float => "aten::Float",
            Type::Bool => "aten::Bool",
            Type::Complex => "aten::Complex",
            _ => "aten::str",
        };
        if let [value] = *call.positional
            && call.keywords.is_empty()
        {
            let found = self.kind(value);
            if found == kind {
                return Ok(value);
            }
            if let (Type::Bool, Type::Str | Type::List(_) | Type::Dict(_)) = (&kind, &found) {
                return self.as_bool(value);
            }
            let method = match kind {
                Type::Int => "__int__",
                Type::Float => "__float__",
                Type::Bool => "__bool__",
                Type::Complex => "__complex__",
                _ => "__str__",
            };
            if let Some(result) = self.magic(method, &[value])? {
                return Ok(result);
            }
        }
        self.builtin(operator, call)
    }

    /// A value as a string, for messages and formats.
    pub(super) fn as_string(&mut self, value: ValueId) -> Result<ValueId> {
        self.cast(Type::Str, &Arguments::of(&[value]))
    }

    /// Calls a method such as `__add__` of the first value, if its class has it.
    pub(super) fn magic(&mut self, method: &str, values: &[ValueId]) -> Result<Option<ValueId>> {
        let Some((&object, rest)) = values.split_first() else { return Ok(None) };
        let (Type::Class(class) | Type::Interface(class)) = self.kind(object) else { return Ok(None) };
        if class.starts_with("__torch__.torch.classes.") || !self.unit.class(&class)?.has_method(method) {
            return Ok(None);
        }
        self.call_method(object, &class, &method.into(), &Arguments::of(rest)).map(Some)
    }

    /// The type of what a method such as `__enter__` of the first value returns, if its class has it and the other values
    /// fit.
    fn magic_output(&mut self, method: &str, values: &[ValueId]) -> Result<Option<Type>> {
        let Some((&object, _)) = values.split_first() else { return Ok(None) };
        let (Type::Class(class) | Type::Interface(class)) = self.kind(object) else { return Ok(None) };
        if class.starts_with("__torch__.torch.classes.") || !self.unit.class(&class)?.has_method(method) {
            return Ok(None);
        }
        let schema = self.callee(&format!("{class}.{method}"))?;
        self.checked(&schema, &Arguments::of(values)).map(|(_, output)| Some(output))
    }

    /// `x.tolist()`, whose type comes from the annotation of what it is assigned to.
    pub(super) fn tensor_list(&mut self, tensor: ValueId, hint: Option<&Type>) -> Result<ValueId> {
        let Some(hint) = hint else { return Err(self.error("Expected type hint for result of tolist()")) };
        let mut depth = 0;
        let mut element = hint.clone();
        while let Type::List(inner) = element {
            element = Type::clone(&inner);
            depth += 1;
        }
        let number = match element {
            Type::Int => 0,
            Type::Float => 1,
            Type::Complex => 2,
            Type::Bool => 3,
            other => {
                let message = format!(
                    "{} is not one of the supported element types for tolist: int, float, complex, bool",
                    other.annotation_str()
                );
                return Err(self.error(message));
            }
        };
        let depth = self.int(depth)?;
        let number = self.int(number)?;
        self.apply("prim::tolist", &[tensor, depth, number], hint.clone())
    }

    fn dict(&mut self, args: &[ExprId], keywords: &[(Name, ExprId)], hint: Option<&Type>) -> Result<Sugar> {
        let value = match args {
            [] => {
                let mut items = Vec::new();
                for (name, value) in keywords {
                    items.push((self.string(name.as_bytes())?, self.expr(*value)?));
                }
                return self.dict_of(&items, hint).map(Sugar::Value);
            }
            [source] => {
                let source = self.sugar(*source, hint)?;
                match source {
                    Sugar::Value(value) => value,
                    other => self.list_of(other)?,
                }
            }
            _ => return Err(self.error("dict expected at most 1 argument")),
        };
        let dict = self.operator("aten::dict", &[value])?;
        for (name, value) in keywords {
            let key = self.string(name.as_bytes())?;
            let value = self.expr(*value)?;
            self.operator("aten::_set_item", &[dict, key, value])?;
        }
        Ok(Sugar::Value(dict))
    }

    fn tuple_of(&mut self, source: Sugar) -> Result<Sugar> {
        match source {
            Sugar::Value(value) if self.kind(value).elements().is_some() => Ok(Sugar::Value(value)),
            other => {
                let iterable = self.iterable(other)?;
                let Some(elements) = self.unrolled(&iterable)? else {
                    let message = "cannot cast to a tuple a sequence whose length is not known when compiling";
                    return Err(self.error(message));
                };
                let values = elements.into_iter().map(|item| self.value_of(item)).collect::<Result<Vec<_>>>()?;
                self.tuple(&values).map(Sugar::Value)
            }
        }
    }

    /// `with context:`
    pub(super) fn enter_context(&mut self, context: ValueId) -> Result<ValueId> {
        let Type::Class(class) = self.kind(context) else {
            return Err(self.error("With item expression must return an object"));
        };
        if class.starts_with("__torch__.torch.autograd.grad_mode.") {
            return self.apply("prim::Enter", &[context], Type::None);
        }
        match self.magic_output("__enter__", &[context])? {
            Some(kind) => self.apply("prim::Enter", &[context], kind),
            None => {
                Err(self.error(format!("Object returned by with item expression has no __enter__ method: {class}")))
            }
        }
    }

    /// The interpreter also calls `__exit__` if an error ends the block.
    pub(super) fn leave_context(&mut self, context: ValueId) -> Result<()> {
        if !self.type_name(context).starts_with("__torch__.torch.autograd.grad_mode.") {
            let none = self.none()?;
            if self.magic_output("__exit__", &[context, none, none, none])?.is_none() {
                return Err(self.error("Object returned by with item expression has no __exit__ method"));
            }
        }
        self.node("prim::Exit", &[context], &[])?;
        Ok(())
    }
}

fn empty_list(hint: Option<&Type>) -> Type {
    match hint {
        Some(Type::List(_)) => hint.cloned().unwrap_or(Type::Tensor.list()),
        _ => Type::Tensor.list(),
    }
}
