//! What loops and comprehensions go over.

use super::environment::Compiler;
use super::matching::Arguments;
use super::sugar::Sugar;
use crate::graph::ValueId;
use crate::types::Type;
use rushlight_base::Result;

/// Something that can be iterated over.
#[derive(Clone, Debug)]
pub(super) enum Iterable {
    /// `range(start, stop, step)`; start and step are absent in `range(n)`.
    Range { start: Option<ValueId>, stop: ValueId, step: Option<ValueId> },
    /// Numbers from this value on, without end.
    Count(ValueId),
    /// A list, string or tensor.
    Values(ValueId),
    /// The elements of a tuple: the loop is unrolled.
    Elements(Vec<Sugar>),
    /// Several in step.
    Zip(Vec<Iterable>),
}

impl Compiler<'_> {
    pub(super) fn range(&mut self, call: &Arguments) -> Result<Iterable> {
        if !call.keywords.is_empty() {
            return Err(self.error("range doesn't accept any keyword arguments"));
        }
        let mut values = Vec::new();
        for (index, &value) in call.positional.iter().enumerate() {
            let value = self.converted(value, &Type::Int, true)?;
            if self.kind(value) != Type::Int {
                let found = self.type_name(value);
                let message = format!("all inputs of range must be ints, found {found} in argument {index}");
                return Err(self.error(message));
            }
            values.push(value);
        }
        Ok(match *values {
            [stop] => Iterable::Range { start: None, stop, step: None },
            [start, stop] => Iterable::Range { start: Some(start), stop, step: None },
            [start, stop, step] => {
                if self.constant_int(step) == Some(0) {
                    return Err(self.error("range() arg 3 must not be zero"));
                }
                Iterable::Range { start: Some(start), stop, step: Some(step) }
            }
            [] => return Err(self.error("range expected at least 1 arguments, got 0")),
            _ => {
                let message = format!("range expected at most 3 arguments, got {}", values.len());
                return Err(self.error(message));
            }
        })
    }

    /// What a loop over something goes over.
    pub(super) fn iterable(&mut self, source: Sugar) -> Result<Iterable> {
        Ok(match source {
            Sugar::Iterable(iterable) => Iterable::clone(&iterable),
            Sugar::Tuple(items) => Iterable::Elements(items),
            Sugar::Value(value) => match self.kind(value) {
                Type::List(_) | Type::Str | Type::Tensor => Iterable::Values(value),
                Type::Dict(_) => Iterable::Values(self.operator("aten::keys", &[value])?),
                Type::Tuple(_) | Type::NamedTuple(_) => {
                    Iterable::Elements(self.unpack(value)?.into_iter().map(Sugar::Value).collect())
                }
                Type::Class(class) if !class.starts_with("__torch__.torch.classes.") => {
                    return self.modules(value, &class);
                }
                kind => {
                    return Err(self.error(format!("'{}' object is not iterable", kind.annotation_str())));
                }
            },
            Sugar::Class(Type::Enum(class)) => {
                let data = self.unit.class(&class.name)?;
                let mut members = Vec::new();
                for (name, ..) in &data.values {
                    members.push(self.member(Sugar::Class(Type::Enum(class.clone())), name)?);
                }
                Iterable::Elements(members)
            }
            other => return Err(self.error(format!("'{}' object is not iterable", other.describe(self)))),
        })
    }

    /// The children of a ModuleList or Sequential: its attributes `0`, `1`, ...
    fn modules(&mut self, value: ValueId, class: &crate::ast::Name) -> Result<Iterable> {
        let data = self.unit.class(class)?;
        let mut children = Vec::new();
        while let Some(attribute) = data.attribute(&children.len().to_string()) {
            let kind = attribute.kind.clone();
            children.push(Sugar::Value(self.apply_named("prim::GetAttr", &attribute.name, &[value], kind)?));
        }
        if children.is_empty() && data.has_method("__iter__") {
            return Err(self.error(format!("iteration over objects of class {class} is not supported")));
        }
        let is_container = class.rsplit('.').next().is_some_and(|name| {
            name.starts_with("ModuleList") || name.starts_with("Sequential") || name.starts_with("ParameterList")
        });
        if children.is_empty() && !is_container {
            return Err(self.error(format!("'{class}' object is not iterable")));
        }
        Ok(Iterable::Elements(children))
    }

    /// The elements, if the loop is unrolled: if the number of any part is known.
    pub(super) fn unrolled(&mut self, iterable: &Iterable) -> Result<Option<Vec<Sugar>>> {
        let Some(length) = self.static_length(iterable)? else { return Ok(None) };
        let mut elements = Vec::new();
        for index in 0..length {
            elements.push(self.static_element(iterable, index)?);
        }
        Ok(Some(elements))
    }

    fn static_length(&self, iterable: &Iterable) -> Result<Option<usize>> {
        match iterable {
            Iterable::Elements(items) => Ok(Some(items.len())),
            Iterable::Zip(parts) => {
                let mut lengths = Vec::new();
                for part in parts {
                    lengths.extend(self.static_length(part)?);
                }
                Ok(lengths.into_iter().min())
            }
            _ => Ok(None),
        }
    }

    fn static_element(&mut self, iterable: &Iterable, index: usize) -> Result<Sugar> {
        match iterable {
            Iterable::Elements(items) => {
                items.get(index).cloned().ok_or_else(|| self.error("internal error: an element is missing"))
            }
            Iterable::Zip(parts) => {
                let items = parts.iter().map(|part| self.static_element(part, index));
                Ok(Sugar::Tuple(items.collect::<Result<Vec<_>>>()?))
            }
            other => {
                let index = self.int(index as i64)?;
                self.element(other, index)
            }
        }
    }

    /// The number of iterations.
    pub(super) fn length(&mut self, iterable: &Iterable) -> Result<ValueId> {
        Ok(match iterable {
            Iterable::Range { start: None, stop, .. } => *stop,
            Iterable::Range { start: Some(start), stop, step } => {
                let step = match step {
                    Some(step) => *step,
                    None => self.int(1)?,
                };
                self.operator("aten::__range_length", &[*start, *stop, step])?
            }
            Iterable::Count(_) => self.int(i64::MAX)?,
            Iterable::Values(value) => self.operator("aten::len", &[*value])?,
            Iterable::Elements(items) => self.int(items.len() as i64)?,
            Iterable::Zip(parts) => {
                let mut lengths = Vec::new();
                for part in parts.iter().filter(|part| !matches!(part, Iterable::Count(_))) {
                    lengths.push(self.length(part)?);
                }
                match *lengths {
                    [] => self.int(i64::MAX)?,
                    [single] => single,
                    _ => {
                        let list = self.apply("prim::ListConstruct", &lengths, Type::Int.list())?;
                        self.operator("prim::min", &[list])?
                    }
                }
            }
        })
    }

    /// The element of an iteration.
    pub(super) fn element(&mut self, iterable: &Iterable, index: ValueId) -> Result<Sugar> {
        Ok(match iterable {
            Iterable::Range { start: None, .. } => Sugar::Value(index),
            Iterable::Range { start: Some(start), step, .. } => {
                let step = match step {
                    Some(step) => *step,
                    None => self.int(1)?,
                };
                Sugar::Value(self.operator("aten::__derive_index", &[index, *start, step])?)
            }
            Iterable::Count(start) => match self.constant_int(*start) {
                Some(0) => Sugar::Value(index),
                _ => {
                    let one = self.int(1)?;
                    Sugar::Value(self.operator("aten::__derive_index", &[index, *start, one])?)
                }
            },
            Iterable::Values(value) => Sugar::Value(match self.kind(*value) {
                Type::Tensor => {
                    let zero = self.int(0)?;
                    self.operator("aten::select", &[*value, zero, index])?
                }
                _ => self.operator("aten::__getitem__", &[*value, index])?,
            }),
            Iterable::Elements(_) => return Err(self.error("internal error: a tuple has no elements at run time")),
            Iterable::Zip(parts) => {
                let items = parts.iter().map(|part| self.element(part, index));
                Sugar::Tuple(items.collect::<Result<Vec<_>>>()?)
            }
        })
    }
}
