//! Expressions.

use super::environment::Compiler;
use super::matching::Arguments;
use super::sugar::Sugar;
use crate::ast::{BinaryOp, CompareOp, ExprId, ExprKind, Part, UnaryOp};
use crate::graph::{Attribute, ValueId};
use crate::types::Type;
use rushlight_base::Result;

impl Compiler<'_> {
    /// An expression as a value.
    pub(super) fn expr(&mut self, id: ExprId) -> Result<ValueId> {
        self.expr_hint(id, None)
    }

    /// An expression as a value, where the type that is expected decides what an empty list is.
    pub(super) fn expr_hint(&mut self, id: ExprId, hint: Option<&Type>) -> Result<ValueId> {
        let sugar = self.sugar(id, hint)?;
        let span = self.expr_span(id);
        self.at(span, |compiler| compiler.value_of(sugar))
    }

    /// Something as a value.
    pub(super) fn value_of(&mut self, sugar: Sugar) -> Result<ValueId> {
        match sugar {
            Sugar::Value(value) => Ok(value),
            Sugar::Tuple(items) => {
                let values = items.into_iter().map(|item| self.value_of(item)).collect::<Result<Vec<_>>>()?;
                self.tuple(&values)
            }
            Sugar::Iterable(iterable) => match &*iterable {
                super::iteration::Iterable::Range { .. } | super::iteration::Iterable::Zip(_) => {
                    self.list_of(Sugar::Iterable(iterable))
                }
                _ => Err(self.error("iterabletree cannot be used as a value")),
            },
            other => Err(self.error(format!("{} cannot be used as a value", other.describe(self)))),
        }
    }

    /// What an expression means. Chains such as `a + b + c` and `x.y().z` are compiled in a loop.
    pub(super) fn sugar(&mut self, id: ExprId, hint: Option<&Type>) -> Result<Sugar> {
        self.deepen()?;
        let outer = self.span;
        let chain = self.file.module.chain(id);
        // A condition is compiled as a whole.
        let whole = chain.iter().position(|&part| self.is_whole(part));
        let last = whole.map_or(chain.len(), |at| at + 1);
        let mut current: Option<Sugar> = None;
        for &part in chain.get(..last).unwrap_or_default().iter().rev() {
            self.span = self.expr_span(part);
            let hint = if part == id { hint } else { None };
            let next = match current.take() {
                None => self.first(part, hint)?,
                Some(first) => self.link(part, first, hint)?,
            };
            current = Some(next);
        }
        self.span = outer;
        self.depth -= 1;
        current.ok_or_else(|| self.error("internal error: an expression is empty"))
    }

    /// Whether an expression is not compiled by its first operand: `and`, and calls that test types.
    fn is_whole(&self, id: ExprId) -> bool {
        match &self.file.module.expr(id).kind {
            ExprKind::Logical(..) => true,
            ExprKind::Call { function, .. } => matches!(
                self.file.module.dotted(*function).as_deref(),
                Some(
                    "isinstance"
                        | "hasattr"
                        | "torch.jit.isinstance"
                        | "torch.jit.is_scripting"
                        | "torch.jit.is_tracing"
                        | "_isinstance"
                )
            ),
            _ => false,
        }
    }

    /// An expression without first operand, or one that is compiled as a whole.
    fn first(&mut self, id: ExprId, hint: Option<&Type>) -> Result<Sugar> {
        let file = self.file;
        let value = match &file.module.expr(id).kind {
            ExprKind::Name(name) => return self.name(name),
            ExprKind::Int(value) => self.int(*value)?,
            ExprKind::Float(value) => self.constant(Type::Float, Some(Attribute::Float(*value)))?,
            ExprKind::Imaginary(value) => self.constant(Type::Complex, Some(Attribute::Complex(0.0, *value)))?,
            ExprKind::Bool(value) => self.bool(*value)?,
            ExprKind::None => self.none()?,
            ExprKind::Ellipsis => return Err(self.error("'...' can be used in subscripts only")),
            ExprKind::Str(bytes) => self.string(bytes)?,
            ExprKind::Format(parts) => self.format(parts)?,
            ExprKind::Unary(op, operand) => self.unary(*op, *operand)?,
            ExprKind::Logical(..) | ExprKind::Call { .. } => self.condition(id)?.value,
            ExprKind::Compare(first, rest) => self.comparison(*first, rest)?,
            ExprKind::Ternary { condition, then, otherwise } => self.ternary(*condition, *then, *otherwise, hint)?,
            ExprKind::List(items) => self.list_literal(items, hint)?,
            ExprKind::Tuple(items) => return self.tuple_literal(items, hint),
            ExprKind::Dict(items) => self.dict_literal(items, hint)?,
            ExprKind::ListComp(element, clauses) => self.list_comprehension(*element, clauses, hint)?,
            ExprKind::DictComp(key, value, clauses) => self.dict_comprehension(*key, *value, clauses, hint)?,
            ExprKind::Starred(_) => return Err(self.error("a starred expression can be used in calls and tuples only")),
            ExprKind::Slice(_) => return Err(self.error("a slice can be used in subscripts only")),
            ExprKind::Binary(..) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } => {
                return Err(self.error("internal error: the first operand was not compiled"));
            }
        };
        Ok(Sugar::Value(value))
    }

    /// An expression whose first operand is `first`.
    fn link(&mut self, id: ExprId, first: Sugar, hint: Option<&Type>) -> Result<Sugar> {
        let file = self.file;
        match &file.module.expr(id).kind {
            ExprKind::Binary(op, _, right) => {
                let left = self.value_of(first)?;
                let right = self.expr(*right)?;
                self.binary(*op, left, right).map(Sugar::Value)
            }
            ExprKind::Call { function, args, keywords } => {
                // The error of a call shows the function.
                self.span = self.expr_span(*function);
                self.call(first, args, keywords, hint)
            }
            ExprKind::Attribute { name, .. } => self.member(first, name),
            ExprKind::Subscript { index, .. } => self.subscript(first, index, hint),
            _ => Err(self.error("internal error: the expression has no first operand")),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Result<ValueId> {
        let kind = &self.file.module.expr(operand).kind;
        match (op, kind) {
            (UnaryOp::Neg, ExprKind::Int(value)) => return self.int(value.wrapping_neg()),
            (UnaryOp::Neg, ExprKind::Float(value)) => {
                let value = -*value;
                return self.constant(Type::Float, Some(Attribute::Float(value)));
            }
            (UnaryOp::Neg, ExprKind::Imaginary(value)) => {
                let value = -*value;
                return self.constant(Type::Complex, Some(Attribute::Complex(-0.0, value)));
            }
            _ => {}
        }
        if op == UnaryOp::Not {
            let condition = self.condition(operand)?;
            return match condition.known {
                Some(known) => self.bool(!known),
                None => self.apply("aten::__not__", &[condition.value], Type::Bool),
            };
        }
        let value = self.expr(operand)?;
        let (operator, method) = match op {
            UnaryOp::Neg => ("aten::neg", "__neg__"),
            UnaryOp::Invert => ("aten::bitwise_not", "__invert__"),
            _ => ("aten::positive", "__pos__"),
        };
        if let Some(result) = self.magic(method, &[value])? {
            return Ok(result);
        }
        if op == UnaryOp::Pos && matches!(self.kind(value), Type::Int | Type::Float | Type::Complex) {
            return Ok(value);
        }
        self.operator(operator, &[value])
    }

    /// `left op right`
    pub(super) fn binary(&mut self, op: BinaryOp, left: ValueId, right: ValueId) -> Result<ValueId> {
        let (operator, method) = match op {
            BinaryOp::Add => ("aten::add", "__add__"),
            BinaryOp::Sub => ("aten::sub", "__sub__"),
            BinaryOp::Mul => ("aten::mul", "__mul__"),
            BinaryOp::Div => ("aten::div", "__truediv__"),
            BinaryOp::FloorDiv => ("aten::floordiv", "__floordiv__"),
            BinaryOp::Mod => ("aten::remainder", "__mod__"),
            BinaryOp::Pow => ("aten::pow", "__pow__"),
            BinaryOp::MatMul => ("aten::matmul", "__matmul__"),
            BinaryOp::BitAnd => ("aten::__and__", "__and__"),
            BinaryOp::BitOr => ("aten::__or__", "__or__"),
            BinaryOp::BitXor => ("aten::__xor__", "__xor__"),
            BinaryOp::LeftShift => ("aten::__lshift__", "__lshift__"),
            BinaryOp::RightShift => ("aten::__rshift__", "__rshift__"),
        };
        if let Some(result) = self.magic(method, &[left, right])? {
            return Ok(result);
        }
        if op == BinaryOp::Mod && self.kind(left) == Type::Str {
            let mut inputs = vec![left];
            match self.kind(right) {
                Type::Tuple(_) => inputs.extend(self.unpack(right)?),
                _ => inputs.push(right),
            }
            return self.operator("aten::percentFormat", &inputs);
        }
        if op == BinaryOp::Add && self.kind(left).elements().is_some() && self.kind(right).elements().is_some() {
            let items = [self.unpack(left)?, self.unpack(right)?].concat();
            return self.tuple(&items);
        }
        self.operator(operator, &[left, right])
    }

    fn comparison(&mut self, first: ExprId, rest: &[(CompareOp, ExprId)]) -> Result<ValueId> {
        let mut left = self.expr(first)?;
        let mut result = None;
        // `a < b < c` is `a < b and b < c`: each later comparison is in a block of its own.
        let mut open = Vec::new();
        for (op, right) in rest {
            if let Some(known) = result {
                let known = self.as_bool(known)?;
                let node = self.node("prim::If", &[known], &[])?;
                self.enter(node)?;
                open.push(node);
            }
            let right = self.expr(*right)?;
            result = Some(self.compare(*op, left, right)?);
            left = right;
        }
        let mut result = result.ok_or_else(|| self.error("internal error: a comparison has one operand"))?;
        while let Some(node) = open.pop() {
            result = self.as_bool(result)?;
            let block = self.leave().block;
            self.graph.add_output(block, result)?;
            self.enter(node)?;
            let no = self.bool(false)?;
            let block = self.leave().block;
            self.graph.add_output(block, no)?;
            result = self.graph.add_node_output(node, Type::Bool)?;
        }
        Ok(result)
    }

    fn compare(&mut self, op: CompareOp, left: ValueId, right: ValueId) -> Result<ValueId> {
        let (operator, method) = match op {
            CompareOp::Less => ("aten::lt", "__lt__"),
            CompareOp::LessEqual => ("aten::le", "__le__"),
            CompareOp::Greater => ("aten::gt", "__gt__"),
            CompareOp::GreaterEqual => ("aten::ge", "__ge__"),
            CompareOp::Equal => ("aten::eq", "__eq__"),
            CompareOp::NotEqual => ("aten::ne", "__ne__"),
            CompareOp::Is => ("aten::__is__", ""),
            CompareOp::IsNot => ("aten::__isnot__", ""),
            CompareOp::In | CompareOp::NotIn => {
                let found = match self.magic("__contains__", &[right, left])? {
                    Some(found) => found,
                    None => self.contains(right, left)?,
                };
                return if op == CompareOp::In { Ok(found) } else { self.apply("aten::__not__", &[found], Type::Bool) };
            }
        };
        if !method.is_empty()
            && let Some(result) = self.magic(method, &[left, right])?
        {
            return Ok(result);
        }
        // Tuples whose elements have one type are compared as lists.
        if let (CompareOp::Equal | CompareOp::NotEqual, Type::NamedTuple(tuple), Type::NamedTuple(_)) =
            (op, self.kind(left), self.kind(right))
            && tuple.fields.windows(2).all(|pair| pair[0].1 == pair[1].1)
        {
            let (left, right) = (self.unpack(left)?, self.unpack(right)?);
            let (left, right) = (self.tuple(&left)?, self.tuple(&right)?);
            return self.operator(operator, &[left, right]);
        }
        self.operator(operator, &[left, right])
    }

    fn contains(&mut self, container: ValueId, item: ValueId) -> Result<ValueId> {
        match self.kind(container) {
            Type::Tuple(_) => {
                let values = self.unpack(container)?;
                let list = self.list(&values, None)?;
                self.operator("aten::__contains__", &[list, item])
            }
            Type::Str if self.kind(item) == Type::Str => {
                let at = self.operator("aten::find", &[container, item])?;
                let missing = self.int(-1)?;
                self.operator("aten::ne", &[at, missing])
            }
            _ => self.operator("aten::__contains__", &[container, item]),
        }
    }

    fn list_literal(&mut self, items: &[ExprId], hint: Option<&Type>) -> Result<ValueId> {
        let element = list_hint(hint);
        let mut values = Vec::new();
        for &item in items {
            if let ExprKind::Starred(inner) = self.file.module.expr(item).kind {
                let value = self.expr(inner)?;
                values.extend(self.unpack(value)?);
                continue;
            }
            values.push(self.expr_hint(item, element.as_ref())?);
        }
        self.list(&values, element.as_ref())
    }

    /// A list of values of one type.
    pub(super) fn list(&mut self, values: &[ValueId], hint: Option<&Type>) -> Result<ValueId> {
        let mut values = values.to_vec();
        if let Some(element) = hint {
            for value in &mut values {
                *value = self.converted(*value, element, true)?;
            }
        }
        let mut unified: Option<Type> = None;
        for &value in &values {
            let kind = self.kind(value);
            unified = Some(match unified {
                None => kind,
                Some(known) => match known.unify(&kind, self.unit) {
                    Some(joined) => joined,
                    None => Type::union(&[known, kind]).map_err(|error| self.error(error.message()))?,
                },
            });
        }
        let mut element = unified.unwrap_or_else(|| hint.cloned().unwrap_or(Type::Tensor));
        if let Some(hint) = hint {
            for &value in &values {
                if !self.is_subtype(&self.kind(value), hint) {
                    let message = format!(
                        "List type annotation `List[{}]` did not match the types of the given list elements, which were \
                         unified to {}",
                        hint.annotation_str(),
                        element.annotation_str()
                    );
                    return Err(self.error(message));
                }
            }
            element = hint.clone();
        }
        self.apply("prim::ListConstruct", &values, element.list())
    }

    fn tuple_literal(&mut self, items: &[ExprId], hint: Option<&Type>) -> Result<Sugar> {
        let kinds = hint.and_then(|hint| match hint {
            Type::Optional(element) => element.elements(),
            other => other.elements(),
        });
        let kinds = kinds.filter(|kinds| kinds.len() == items.len());
        let mut parts = Vec::new();
        for (index, &item) in items.iter().enumerate() {
            if let ExprKind::Starred(inner) = self.file.module.expr(item).kind {
                match self.sugar(inner, None)? {
                    Sugar::Value(value) => parts.extend(self.unpack(value)?.into_iter().map(Sugar::Value)),
                    Sugar::Tuple(inner) => parts.extend(inner),
                    other => return Err(self.error(format!("{} cannot be unpacked", other.describe(self)))),
                }
                continue;
            }
            let hint = kinds.as_ref().and_then(|kinds| kinds.get(index)).cloned();
            let part = self.sugar(item, hint.as_ref())?;
            parts.push(match (part, hint) {
                (Sugar::Value(value), Some(hint)) => Sugar::Value(self.converted(value, &hint, true)?),
                (part, _) => part,
            });
        }
        let values: Option<Vec<ValueId>> = parts
            .iter()
            .map(|part| match part {
                Sugar::Value(value) => Some(*value),
                _ => None,
            })
            .collect();
        match values {
            Some(values) => self.tuple(&values).map(Sugar::Value),
            None => Ok(Sugar::Tuple(parts)),
        }
    }

    fn dict_literal(&mut self, items: &[(ExprId, ExprId)], hint: Option<&Type>) -> Result<ValueId> {
        let pair = dict_hint(hint);
        let mut values = Vec::new();
        for (key, value) in items {
            let key = self.expr_hint(*key, pair.as_ref().map(|pair| &pair.0))?;
            let value = self.expr_hint(*value, pair.as_ref().map(|pair| &pair.1))?;
            values.push((key, value));
        }
        self.dict_of(&values, hint)
    }

    /// A dict of keys and values of one type each.
    pub(super) fn dict_of(&mut self, items: &[(ValueId, ValueId)], hint: Option<&Type>) -> Result<ValueId> {
        let pair = dict_hint(hint);
        let mut inputs = Vec::new();
        let mut kinds: Option<(Type, Type)> = pair.clone();
        for &(key, value) in items {
            let (key, value) = match &pair {
                Some(pair) => (self.converted(key, &pair.0, true)?, self.converted(value, &pair.1, true)?),
                None => (key, value),
            };
            let found = (self.kind(key), self.kind(value));
            kinds = Some(match kinds {
                None => found,
                Some(known) => {
                    if !self.is_subtype(&found.0, &known.0) {
                        let message = format!(
                            "Dict key type mismatch: expected {} but found {}",
                            known.0.annotation_str(),
                            found.0.annotation_str()
                        );
                        return Err(self.error(message));
                    }
                    let joined = match &pair {
                        Some(_) => Some(known.1.clone()),
                        None => {
                            let joined = known.1.unify(&found.1, self.unit);
                            joined.or_else(|| Type::union(&[known.1.clone(), found.1.clone()]).ok())
                        }
                    };
                    let fits = pair.is_none() || self.is_subtype(&found.1, &known.1);
                    match joined.filter(|_| fits) {
                        Some(joined) => (known.0, joined),
                        None => {
                            let message = format!(
                                "Dict values must contain only a single type: expected {} but found {}",
                                known.1.annotation_str(),
                                found.1.annotation_str()
                            );
                            return Err(self.error(message));
                        }
                    }
                }
            });
            inputs.extend([key, value]);
        }
        let (key, value) = kinds.unwrap_or((Type::Str, Type::Tensor));
        let kind = Type::dict(key, value).map_err(|error| self.error(error.message()))?;
        self.apply("prim::DictConstruct", &inputs, kind)
    }

    /// An f-string: `aten::format`, with `{}` for each value.
    fn format(&mut self, parts: &[Part]) -> Result<ValueId> {
        let mut text = Vec::new();
        let mut values = Vec::new();
        for part in parts {
            match part {
                // `aten::format` has no escape for braces.
                Part::Text(bytes) if bytes.windows(2).any(|pair| pair == b"{}") => {
                    text.extend_from_slice(b"{}");
                    values.push(self.string(bytes)?);
                }
                Part::Text(bytes) => text.extend_from_slice(bytes),
                Part::Value(value) => {
                    text.extend_from_slice(b"{}");
                    values.push(self.expr(*value)?);
                }
            }
        }
        let text = self.string(&text)?;
        let mut inputs = vec![text];
        inputs.extend(values);
        self.builtin("aten::format", &Arguments::of(&inputs))
    }
}

/// The type of elements that a list literal should have.
fn list_hint(hint: Option<&Type>) -> Option<Type> {
    let mut lists = hint.into_iter().flat_map(Type::members).filter_map(|member| match member {
        Type::List(element) => Some(Type::clone(&element)),
        _ => None,
    });
    // Of several types of lists, the elements decide.
    lists.next().filter(|_| lists.next().is_none())
}

/// The types of keys and values that a dict literal should have.
fn dict_hint(hint: Option<&Type>) -> Option<(Type, Type)> {
    hint.into_iter().flat_map(Type::members).find_map(|member| match member {
        Type::Dict(pair) => Some((pair.0.clone(), pair.1.clone())),
        _ => None,
    })
}
