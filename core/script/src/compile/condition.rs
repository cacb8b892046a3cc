//! Conditions: values of `if`, `while` and `assert`, what they mean for the types of variables, and whether they are
//! known while compiling.

use super::environment::Compiler;
use super::sugar::{Special, Sugar};
use crate::ast::{CompareOp, ExprId, ExprKind, LogicalOp, Name, UnaryOp};
use crate::graph::ValueId;
use crate::types::Type;
use rushlight_base::Result;

/// Names with the types that they have under a condition.
pub(super) type Refinements = Vec<(Name, Type)>;

/// A condition.
pub(super) struct Condition {
    pub(super) value: ValueId,
    /// The outcome, if it is known.
    pub(super) known: Option<bool>,
    pub(super) if_true: Refinements,
    pub(super) if_false: Refinements,
}

impl Compiler<'_> {
    fn known(&mut self, known: bool) -> Result<Condition> {
        Ok(Condition { value: self.bool(known)?, known: Some(known), if_true: Vec::new(), if_false: Vec::new() })
    }

    /// A condition, with `and` and `or` evaluated from the left.
    pub(super) fn condition(&mut self, id: ExprId) -> Result<Condition> {
        let span = self.expr_span(id);
        self.at(span, |compiler| {
            compiler.deepen()?;
            let condition = compiler.condition_inner(id)?;
            compiler.depth -= 1;
            Ok(condition)
        })
    }

    fn condition_inner(&mut self, id: ExprId) -> Result<Condition> {
        let module = &self.file.module;
        match &module.expr(id).kind {
            ExprKind::Unary(UnaryOp::Not, operand) => {
                let inner = self.condition(*operand)?;
                if let Some(known) = inner.known {
                    let mut condition = self.known(!known)?;
                    (condition.if_true, condition.if_false) = (inner.if_false, inner.if_true);
                    return Ok(condition);
                }
                let value = self.apply("aten::__not__", &[inner.value], Type::Bool)?;
                Ok(Condition { value, known: None, if_true: inner.if_false, if_false: inner.if_true })
            }
            ExprKind::Logical(..) => self.logical(id),
            ExprKind::Compare(first, rest) => {
                if let [(op, second)] = rest.as_slice()
                    && let Some(condition) = self.none_test(*first, *op, *second)?
                {
                    return Ok(condition);
                }
                let value = self.expr(id)?;
                self.plain(value)
            }
            ExprKind::Call { function, args, keywords } if keywords.is_empty() => {
                let (function, args) = (*function, args.clone());
                if let Some(condition) = self.call_condition(function, &args)? {
                    return Ok(condition);
                }
                let value = self.expr(id)?;
                self.plain(value)
            }
            _ => {
                let value = self.expr(id)?;
                self.plain(value)
            }
        }
    }

    fn plain(&mut self, value: ValueId) -> Result<Condition> {
        let is_bool = self.kind(value) == Type::Bool;
        let known = if is_bool { self.constant_int(value).map(|value| value != 0) } else { None };
        let value = self.as_bool(value)?;
        Ok(Condition { value, known, if_true: Vec::new(), if_false: Vec::new() })
    }

    /// A value as a condition.
    pub(super) fn as_bool(&mut self, value: ValueId) -> Result<ValueId> {
        match self.kind(value) {
            Type::Bool => Ok(value),
            Type::Int | Type::Float | Type::Tensor => self.apply("aten::Bool", &[value], Type::Bool),
            Type::Str | Type::List(_) | Type::Dict(_) => {
                let length = self.operator("aten::len", &[value])?;
                let zero = self.int(0)?;
                self.operator("aten::gt", &[length, zero])
            }
            kind => Err(self.error(format!("Could not cast value of type {} to bool", kind.annotation_str()))),
        }
    }

    fn logical(&mut self, id: ExprId) -> Result<Condition> {
        // `a and b and c` nests to the left; the chain may be long.
        let mut operands = Vec::new();
        let mut current = id;
        while let ExprKind::Logical(op, left, right) = &self.file.module.expr(current).kind {
            operands.push((*op, *right));
            current = *left;
        }
        let mut left = self.condition(current)?;
        for (op, right) in operands.into_iter().rev() {
            left = self.logical_pair(op, left, right)?;
        }
        Ok(left)
    }

    fn logical_pair(&mut self, op: LogicalOp, left: Condition, right: ExprId) -> Result<Condition> {
        let is_or = op == LogicalOp::Or;
        if let Some(known) = left.known {
            if known == is_or {
                return Ok(left);
            }
            let saved = self.narrowed(&left, !is_or)?;
            let mut right = self.condition(right)?;
            self.restore(saved);
            merge_refinements(&mut right, left, is_or);
            return Ok(right);
        }
        let node = self.node("prim::If", &[left.value], &[])?;
        let mut condition = None;
        let mut outputs = Vec::new();
        for outcome in [true, false] {
            self.enter(node)?;
            let value = if outcome == is_or {
                self.bool(is_or)?
            } else {
                self.refine_all(&left, outcome)?;
                let right = self.condition(right)?;
                let value = right.value;
                condition = Some(right);
                value
            };
            let block = self.leave().block;
            self.graph.add_output(block, value)?;
            outputs.push(value);
        }
        let value = self.graph.add_node_output(node, Type::Bool)?;
        let right = condition.unwrap_or(Condition { value, known: None, if_true: Vec::new(), if_false: Vec::new() });
        // `x and False` is False, but `x` is evaluated.
        let known = right.known.filter(|&known| known == is_or);
        let mut condition = Condition { value, known, if_true: right.if_true, if_false: right.if_false };
        merge_refinements(&mut condition, left, is_or);
        Ok(condition)
    }

    /// Narrows variables for the rest of an expression; returns what to restore.
    fn narrowed(
        &mut self,
        condition: &Condition,
        outcome: bool,
    ) -> Result<std::collections::BTreeMap<Name, super::environment::Variable>> {
        let saved = self.frame().variables.clone();
        self.refine_all(condition, outcome)?;
        Ok(saved)
    }

    fn restore(&mut self, saved: std::collections::BTreeMap<Name, super::environment::Variable>) {
        self.frame_mut().variables = saved;
    }

    /// `x is None`, `x is not None`
    fn none_test(&mut self, left: ExprId, op: CompareOp, right: ExprId) -> Result<Option<Condition>> {
        if !matches!(op, CompareOp::Is | CompareOp::IsNot) {
            return Ok(None);
        }
        let is_none = |compiler: &Self, id| compiler.file.module.expr(id).kind == ExprKind::None;
        let tested = match (is_none(self, left), is_none(self, right)) {
            (false, true) => left,
            (true, false) => right,
            _ => return Ok(None),
        };
        let value = self.expr(tested)?;
        self.none_condition(tested, value, op == CompareOp::Is).map(Some)
    }

    fn none_condition(&mut self, tested: ExprId, value: ValueId, is_none: bool) -> Result<Condition> {
        let kind = self.kind(value);
        if kind == Type::None {
            return self.known(is_none);
        }
        if !self.is_subtype(&Type::None, &kind) && kind != Type::Any {
            return self.known(!is_none);
        }
        let none = self.none()?;
        let op = if is_none { "aten::__is__" } else { "aten::__isnot__" };
        let result = self.apply(op, &[value, none], Type::Bool)?;
        let mut condition = Condition { value: result, known: None, if_true: Vec::new(), if_false: Vec::new() };
        if let ExprKind::Name(name) = &self.file.module.expr(tested).kind {
            let rest: Vec<Type> = kind.members().into_iter().filter(|member| *member != Type::None).collect();
            let present = match rest.as_slice() {
                _ if kind == Type::Any => None,
                [single] => Some(single.clone()),
                several => Type::union(several).ok(),
            };
            let present: Refinements = present.into_iter().map(|kind| (name.clone(), kind)).collect();
            // As in PyTorch, the type is not narrowed to None.
            if is_none {
                condition.if_false = present;
            } else {
                condition.if_true = present;
            }
        }
        Ok(condition)
    }

    /// `isinstance`, `hasattr` and tests of the mode.
    fn call_condition(&mut self, function: ExprId, args: &[ExprId]) -> Result<Option<Condition>> {
        if self.file.module.dotted(function).is_none() {
            return Ok(None);
        }
        let sugar = self.sugar(function, None)?;
        match (sugar, args) {
            (Sugar::Special(Special::IsInstance), [value, kinds]) => {
                let (value, kinds) = (*value, *kinds);
                self.isinstance(value, kinds).map(Some)
            }
            (Sugar::Special(Special::HasAttr), [value, name]) => {
                let (value, name) = (*value, *name);
                let known = self.has_attribute(value, name)?;
                self.known(known).map(Some)
            }
            (Sugar::Special(Special::IsScripting), []) => self.known(true).map(Some),
            (Sugar::Special(Special::IsTracing), []) => self.known(false).map(Some),
            (Sugar::Builtin { name, object: None }, [first, second])
                if matches!(&*name, "aten::__is__" | "aten::__isnot__")
                    && self.file.module.expr(*second).kind == ExprKind::None =>
            {
                let first = *first;
                let value = self.expr(first)?;
                self.none_condition(first, value, &*name == "aten::__is__").map(Some)
            }
            (Sugar::Builtin { name, object: None }, [operand]) if &*name == "aten::__not__" => {
                let inner = self.condition(*operand)?;
                let value = match inner.known {
                    Some(known) => self.bool(!known)?,
                    None => self.apply("aten::__not__", &[inner.value], Type::Bool)?,
                };
                let known = inner.known.map(|known| !known);
                Ok(Some(Condition { value, known, if_true: inner.if_false, if_false: inner.if_true }))
            }
            _ => Ok(None),
        }
    }

    fn isinstance(&mut self, value: ExprId, kinds: ExprId) -> Result<Condition> {
        let tested = self.expr(value)?;
        let kinds = self.instance_types(kinds)?;
        let kind = self.kind(tested);
        let fits = |kind: &Type| kinds.iter().any(|wanted| kind.is_subtype_of(wanted, self.unit));
        let (inside, outside): (Vec<Type>, Vec<Type>) = kind.members().into_iter().partition(|member| fits(member));
        if kind != Type::Any && outside.is_empty() {
            return self.known(true);
        }
        let may_be = |wanted: &Type| kind.members().iter().any(|member| wanted.is_subtype_of(member, self.unit));
        if kind != Type::Any && inside.is_empty() && !kinds.iter().any(may_be) {
            return self.known(false);
        }
        let node = self.node("prim::isinstance", &[tested], &[Type::Bool])?;
        let types = kinds.iter().cloned().map(crate::graph::Attribute::Type).collect();
        self.graph.node_mut(node)?.attributes.push(("types".into(), crate::graph::Attribute::List(types)));
        let result = self.output(node)?;
        let mut condition = Condition { value: result, known: None, if_true: Vec::new(), if_false: Vec::new() };
        if let ExprKind::Name(name) = &self.file.module.expr(value).kind {
            let joined = |kinds: &[Type]| match kinds {
                [] => None,
                [single] => Some(single.clone()),
                several => Type::union(several).ok(),
            };
            let narrowed = if inside.is_empty() { joined(&kinds) } else { joined(&inside) };
            condition.if_true.extend(narrowed.map(|kind| (name.clone(), kind)));
            if kind != Type::Any {
                condition.if_false.extend(joined(&outside).map(|kind| (name.clone(), kind)));
            }
        }
        Ok(condition)
    }

    /// The types in `isinstance(x, (int, List[int]))`.
    fn instance_types(&mut self, kinds: ExprId) -> Result<Vec<Type>> {
        let module = &self.file.module;
        let items = match &module.expr(kinds).kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => items.clone(),
            _ => vec![kinds],
        };
        let mut types = Vec::new();
        for item in items {
            match self.unit.annotation(self.file, item)? {
                // `isinstance(x, int | str)`
                Type::Union(members) => types.extend(members.iter().cloned()),
                kind => types.push(kind),
            }
        }
        Ok(types)
    }

    fn has_attribute(&mut self, value: ExprId, name: ExprId) -> Result<bool> {
        let ExprKind::Str(name) = &self.file.module.expr(name).kind else {
            return Err(self.error("hasattr's second argument must be a string literal"));
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let value = self.expr(value)?;
        self.has_member(value, &name)
    }

    /// The value of `id` if it is a known condition.
    pub(super) fn ternary(
        &mut self,
        test: ExprId,
        then: ExprId,
        otherwise: ExprId,
        hint: Option<&Type>,
    ) -> Result<ValueId> {
        let condition = self.condition(test)?;
        if let Some(known) = condition.known {
            let saved = self.narrowed(&condition, known)?;
            let value = self.expr_hint(if known { then } else { otherwise }, hint)?;
            self.restore(saved);
            return Ok(value);
        }
        let node = self.node("prim::If", &[condition.value], &[])?;
        let mut branches = Vec::new();
        for (outcome, branch) in [(true, then), (false, otherwise)] {
            self.enter(node)?;
            self.refine_all(&condition, outcome)?;
            let value = self.expr_hint(branch, hint)?;
            branches.push((self.leave().block, value));
        }
        let kinds: Vec<Type> = branches.iter().map(|&(_, value)| self.kind(value)).collect();
        let [yes, no] = kinds.as_slice() else { return Err(self.error("internal error: an if needs two branches")) };
        let hinted = hint.filter(|hint| self.is_subtype(yes, hint) && self.is_subtype(no, hint)).cloned();
        let Some(joined) = yes.unify(no, self.unit).or(hinted) else {
            let message = format!(
                "if-expression's true branch has type {} but false branch has type {}",
                yes.annotation_str(),
                no.annotation_str()
            );
            return Err(self.error(message));
        };
        for (block, value) in branches {
            self.graph.add_output(block, value)?;
        }
        self.graph.add_node_output(node, joined)
    }
}

/// After `left and right`, both hold if the result is true; after `left or right`, neither if it is false.
fn merge_refinements(right: &mut Condition, left: Condition, is_or: bool) {
    let Condition { if_true, if_false, .. } = left;
    let (left_kept, left_lost) = if is_or { (if_false, if_true) } else { (if_true, if_false) };
    let (kept, lost) =
        if is_or { (&mut right.if_false, &mut right.if_true) } else { (&mut right.if_true, &mut right.if_false) };
    for (name, kind) in left_kept {
        if !kept.iter().any(|(other, _)| *other == name) {
            kept.push((name, kind));
        }
    }
    // On the other side one of the two holds: a name keeps a type only if both sides narrow it.
    lost.retain_mut(|(name, kind)| match left_lost.iter().find(|(other, _)| other == name) {
        Some((_, other)) if other == kind => true,
        Some((_, other)) => match Type::union(&[kind.clone(), other.clone()]) {
            Ok(joined) => {
                *kind = joined;
                true
            }
            Err(_) => false,
        },
        None => false,
    });
}
