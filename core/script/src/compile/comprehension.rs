//! Comprehensions, and lists of what can be iterated over.

use super::environment::Compiler;
use super::sugar::Sugar;
use crate::ast::{Clause, ExprId};
use crate::graph::{NodeId, ValueId};
use crate::types::Type;
use rushlight_base::Result;

/// What a comprehension adds for each element.
#[derive(Clone, Copy)]
enum Entry {
    Item(ExprId),
    Pair(ExprId, ExprId),
}

impl Compiler<'_> {
    /// `[element for target in iter if condition]`
    pub(super) fn list_comprehension(
        &mut self,
        element: ExprId,
        clauses: &[Clause],
        hint: Option<&Type>,
    ) -> Result<ValueId> {
        self.comprehension(Entry::Item(element), clauses, hint)
    }

    /// `{key: value for target in iter}`
    pub(super) fn dict_comprehension(
        &mut self,
        key: ExprId,
        value: ExprId,
        clauses: &[Clause],
        hint: Option<&Type>,
    ) -> Result<ValueId> {
        self.comprehension(Entry::Pair(key, value), clauses, hint)
    }

    fn comprehension(&mut self, entry: Entry, clauses: &[Clause], hint: Option<&Type>) -> Result<ValueId> {
        // The type of the collection is that of the first element that is compiled.
        let construct = match entry {
            Entry::Item(_) => "prim::ListConstruct",
            Entry::Pair(..) => "prim::DictConstruct",
        };
        let hint = hint.filter(|hint| match entry {
            Entry::Item(_) => matches!(hint, Type::List(_)),
            Entry::Pair(..) => matches!(hint, Type::Dict(_)),
        });
        let node = self.node(construct, &[], &[hint.cloned().unwrap_or(Type::None)])?;
        let collection = self.output(node)?;
        let saved = self.frame().variables.clone();
        self.clause(entry, clauses, node, collection, hint)?;
        let mut kept = saved;
        std::mem::swap(&mut self.frame_mut().variables, &mut kept);
        if self.kind(collection) == Type::None {
            // No element: a comprehension over an empty tuple.
            self.graph.value_mut(collection)?.kind = Type::Tensor.list();
        }
        Ok(collection)
    }

    fn clause(
        &mut self,
        entry: Entry,
        clauses: &[Clause],
        node: NodeId,
        collection: ValueId,
        hint: Option<&Type>,
    ) -> Result<()> {
        let Some((clause, rest)) = clauses.split_first() else { return self.add_entry(entry, collection, hint) };
        self.deepen()?;
        let source = self.sugar(clause.iter, None)?;
        let span = self.expr_span(clause.iter);
        let iterable = self.at(span, |compiler| compiler.iterable(source))?;
        match self.unrolled(&iterable)? {
            Some(elements) => {
                for element in elements {
                    self.bind_target(clause.target, element)?;
                    self.filtered(entry, clause, rest, node, collection, hint)?;
                }
            }
            None => self.dynamic_loop(&iterable, Vec::new(), |compiler, element| {
                compiler.bind_target(clause.target, element)?;
                compiler.filtered(entry, clause, rest, node, collection, hint)
            })?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// The variables of a comprehension hide those outside.
    fn bind_target(&mut self, target: ExprId, element: Sugar) -> Result<()> {
        let mut names = Vec::new();
        self.target_names(target, &mut names);
        let mut hidden = Vec::new();
        let last = self.frames.len().saturating_sub(1);
        for (index, frame) in self.frames.iter_mut().enumerate() {
            for name in &names {
                if let Some(variable) = frame.variables.remove(name) {
                    hidden.push((index, name.clone(), variable));
                }
            }
        }
        let result = self.assign_target(target, element);
        for (index, name, variable) in hidden {
            if index < last
                && let Some(frame) = self.frames.get_mut(index)
            {
                frame.variables.insert(name, variable);
            }
        }
        result
    }

    fn filtered(
        &mut self,
        entry: Entry,
        clause: &Clause,
        rest: &[Clause],
        node: NodeId,
        collection: ValueId,
        hint: Option<&Type>,
    ) -> Result<()> {
        let mut open = Vec::new();
        for &test in &clause.conditions {
            let condition = self.condition(test)?;
            let branch = self.node("prim::If", &[condition.value], &[])?;
            self.enter(branch)?;
            self.refine_all(&condition, true)?;
            open.push(branch);
        }
        self.clause(entry, rest, node, collection, hint)?;
        while let Some(branch) = open.pop() {
            self.leave();
            self.enter(branch)?;
            self.leave();
        }
        Ok(())
    }

    fn add_entry(&mut self, entry: Entry, collection: ValueId, hint: Option<&Type>) -> Result<()> {
        match entry {
            Entry::Item(element) => {
                let wanted = match hint {
                    Some(Type::List(element)) => Some(Type::clone(element)),
                    _ => None,
                };
                let mut value = self.expr_hint(element, wanted.as_ref())?;
                if let Some(wanted) = &wanted {
                    value = self.converted(value, wanted, true)?;
                }
                if self.kind(collection) == Type::None {
                    self.graph.value_mut(collection)?.kind = self.kind(value).list();
                }
                let Type::List(wanted) = self.kind(collection) else { return Ok(()) };
                if !self.is_subtype(&self.kind(value), &wanted) {
                    let message = format!(
                        "List type annotation `List[{}]` did not match the type of the given list elements {}",
                        wanted.annotation_str(),
                        self.type_name(value)
                    );
                    return Err(self.error(message));
                }
                self.apply("aten::append", &[collection, value], self.kind(collection))?;
            }
            Entry::Pair(key, value) => {
                let (key_hint, value_hint) = match hint {
                    Some(Type::Dict(pair)) => (Some(pair.0.clone()), Some(pair.1.clone())),
                    _ => (None, None),
                };
                let key = self.expr_hint(key, key_hint.as_ref())?;
                let value = self.expr_hint(value, value_hint.as_ref())?;
                if self.kind(collection) == Type::None {
                    let kind = Type::dict(self.kind(key), self.kind(value));
                    self.graph.value_mut(collection)?.kind = kind.map_err(|error| self.error(error.message()))?;
                }
                self.operator("aten::_set_item", &[collection, key, value])?;
            }
        }
        Ok(())
    }

    /// A list of what can be iterated over.
    pub(super) fn list_of(&mut self, source: Sugar) -> Result<ValueId> {
        if let Sugar::Value(value) = &source
            && matches!(self.kind(*value), Type::List(_) | Type::Str)
        {
            return self.operator("aten::list", &[*value]);
        }
        let iterable = self.iterable(source)?;
        if let Some(elements) = self.unrolled(&iterable)? {
            let values = elements.into_iter().map(|item| self.value_of(item)).collect::<Result<Vec<_>>>()?;
            return self.list(&values, None);
        }
        let node = self.node("prim::ListConstruct", &[], &[Type::None])?;
        let list = self.output(node)?;
        self.dynamic_loop(&iterable, Vec::new(), |compiler, element| {
            let value = compiler.value_of(element)?;
            let kind = compiler.kind(value).list();
            compiler.graph.value_mut(list)?.kind = kind.clone();
            compiler.apply("aten::append", &[list, value], kind)?;
            Ok(())
        })?;
        Ok(list)
    }
}
