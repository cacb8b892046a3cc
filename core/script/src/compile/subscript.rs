//! Subscripts: reading, writing and slicing lists, tuples, dicts, strings and tensors.

use super::environment::Compiler;
use super::sugar::Sugar;
use crate::ast::{BinaryOp, ExprId, ExprKind};
use crate::graph::ValueId;
use crate::types::Type;
use rushlight_base::Result;

/// One index of a tensor.
enum Index {
    Select(ValueId),
    Slice([Option<ValueId>; 3]),
    New,
    Ellipsis,
    Tensor(ValueId),
}

impl Compiler<'_> {
    /// `sugar[index]`
    pub(super) fn subscript(&mut self, sugar: Sugar, index: &[ExprId], hint: Option<&Type>) -> Result<Sugar> {
        let items = match sugar {
            Sugar::Value(value) => return self.value_subscript(value, index, hint),
            Sugar::Tuple(items) => items,
            Sugar::Class(Type::Enum(class)) => {
                let [name] = *index else { return Err(self.error("an Enum has one index")) };
                let ExprKind::Str(name) = &self.file.module.expr(name).kind else {
                    return Err(self.error("an Enum is indexed with a string literal"));
                };
                let name = String::from_utf8_lossy(name).into();
                return self.member(Sugar::Class(Type::Enum(class)), &name);
            }
            other => return Err(self.error(format!("'{}' object is not subscriptable", other.describe(self)))),
        };
        let [index] = *index else { return Err(self.error("a tuple has one index")) };
        let index = self.expr(index)?;
        let index = self.constant_index("tuple", index, items.len())?;
        items.into_iter().nth(index).ok_or_else(|| self.error("index out of range"))
    }

    fn value_subscript(&mut self, value: ValueId, index: &[ExprId], hint: Option<&Type>) -> Result<Sugar> {
        let kind = self.kind(value);
        if kind == Type::Tensor {
            return self.tensor_subscript(value, index).map(Sugar::Value);
        }
        if let Type::Class(class) = &kind {
            return self.object_subscript(value, &class.clone(), index, hint);
        }
        let [single] = *index else {
            let items = self.index_tuple(index)?;
            return Ok(Sugar::Value(self.operator("aten::__getitem__", &[value, items])?));
        };
        if let ExprKind::Slice(parts) = self.file.module.expr(single).kind {
            let parts = self.slice_parts(parts)?;
            return match &kind {
                Type::Tuple(_) | Type::NamedTuple(_) => self.tuple_slice(value, parts),
                Type::List(_) | Type::Str => self.slice_value(value, parts),
                _ => Err(self.error(format!("'{}' object is not subscriptable", kind.annotation_str()))),
            }
            .map(Sugar::Value);
        }
        let index = self.expr(single)?;
        match &kind {
            Type::Tuple(_) | Type::NamedTuple(_) => self.tuple_subscript(value, &kind, index).map(Sugar::Value),
            Type::List(_) | Type::Dict(_) | Type::Str => {
                Ok(Sugar::Value(self.operator("aten::__getitem__", &[value, index])?))
            }
            _ => Err(self.error(format!("'{}' object is not subscriptable", kind.annotation_str()))),
        }
    }

    fn object_subscript(
        &mut self,
        value: ValueId,
        class: &str,
        index: &[ExprId],
        hint: Option<&Type>,
    ) -> Result<Sugar> {
        let indices = index.iter().map(|&index| self.expr(index)).collect::<Result<Vec<_>>>()?;
        let item = match *indices {
            [single] => single,
            _ => self.tuple(&indices)?,
        };
        if let Some(result) = self.magic("__getitem__", &[value, item])? {
            return Ok(Sugar::Value(result));
        }
        // A ModuleList.
        let children = self.iterable(Sugar::Value(value))?;
        let Some(children) = self.unrolled(&children)? else {
            return Err(self.error(format!("'{class}' object is not subscriptable")));
        };
        if let Some(interface @ Type::Interface(_)) = hint
            && self.kind(item) == Type::Int
            && self.constant_int(item).or_else(|| self.negated(item)).is_none()
        {
            let children = children.into_iter().map(|child| self.value_of(child)).collect::<Result<Vec<_>>>()?;
            let list = self.list(&children, Some(interface))?;
            return Ok(Sugar::Value(self.operator("aten::__getitem__", &[list, item])?));
        }
        let index = self.constant_index(class, item, children.len())?;
        children.into_iter().nth(index).ok_or_else(|| self.error("index out of range"))
    }

    fn index_tuple(&mut self, index: &[ExprId]) -> Result<ValueId> {
        let values = index.iter().map(|&index| self.expr(index)).collect::<Result<Vec<_>>>()?;
        self.tuple(&values)
    }

    /// An element of a tuple. If all have one type, the index need not be known.
    fn tuple_subscript(&mut self, value: ValueId, kind: &Type, index: ValueId) -> Result<ValueId> {
        let elements = kind.elements().unwrap_or_default();
        let is_known = self.constant_int(index).or_else(|| self.negated(index)).is_some();
        match elements.first() {
            Some(first)
                if !is_known && self.kind(index) == Type::Int && elements.iter().all(|other| other == first) =>
            {
                self.apply("prim::TupleIndex", &[value, index], first.clone())
            }
            _ => {
                let index = self.constant_index(&kind.annotation_str(), index, elements.len())?;
                self.tuple_element(value, index)
            }
        }
    }

    /// The index of a tuple whose elements have several types must be known.
    fn constant_index(&self, kind: &str, index: ValueId, length: usize) -> Result<usize> {
        if self.kind(index) != Type::Int {
            return Err(self.error("tuple index must be an integer"));
        }
        let Some(index) = self.constant_int(index).or_else(|| self.negated(index)) else {
            return Err(self.error(format!(
                "Cannot index into a {kind} with a non-integer literal because we cannot resolve the output type"
            )));
        };
        let position = if index < 0 { index.checked_add(length as i64) } else { Some(index) };
        match position.and_then(|position| usize::try_from(position).ok()).filter(|&position| position < length) {
            Some(position) => Ok(position),
            None => Err(self.error(format!("Tuple index out of range: {index} of {length} elements"))),
        }
    }

    /// The value of `-1`, which is an operator in the graph.
    fn negated(&self, value: ValueId) -> Option<i64> {
        let crate::graph::Origin::Node(node) = self.graph.value(value).ok()?.origin() else { return None };
        let node = self.graph.node(node).ok()?;
        match (&*node.kind, node.inputs()) {
            ("aten::neg", &[operand]) => self.constant_int(operand)?.checked_neg(),
            _ => None,
        }
    }

    fn slice_parts(&mut self, parts: [Option<ExprId>; 3]) -> Result<[Option<ValueId>; 3]> {
        let mut values = [None; 3];
        for (value, part) in values.iter_mut().zip(parts) {
            if let Some(part) = part {
                let part = self.expr(part)?;
                if self.kind(part) != Type::None {
                    *value = Some(part);
                }
            }
        }
        Ok(values)
    }

    fn slice_inputs(&mut self, parts: [Option<ValueId>; 3]) -> Result<[ValueId; 3]> {
        let none = self.none()?;
        let one = self.int(1)?;
        let [start, end, step] = parts;
        Ok([start.unwrap_or(none), end.unwrap_or(none), step.unwrap_or(one)])
    }

    fn slice_value(&mut self, value: ValueId, parts: [Option<ValueId>; 3]) -> Result<ValueId> {
        let [start, end, step] = self.slice_inputs(parts)?;
        self.operator("aten::slice", &[value, start, end, step])
    }

    fn tuple_slice(&mut self, value: ValueId, parts: [Option<ValueId>; 3]) -> Result<ValueId> {
        let kinds = self.kind(value).elements().unwrap_or_default();
        let length = kinds.len() as i64;
        let mut numbers = [None; 3];
        for (number, part) in numbers.iter_mut().zip(parts) {
            if let Some(part) = part {
                let Some(known) = self.constant_int(part).or_else(|| self.negated(part)) else {
                    return Err(self.error("slices of tuples need constants"));
                };
                *number = Some(known);
            }
        }
        let [start, end, step] = numbers;
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(self.error("slice step cannot be zero"));
        }
        let clamp = |index: i64, low: i64, high: i64| {
            let index = if index < 0 { index.saturating_add(length) } else { index };
            index.clamp(low, high)
        };
        let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
        let mut at = start.map_or(if step > 0 { 0 } else { length - 1 }, |start| clamp(start, low, high));
        let end = end.map_or(if step > 0 { length } else { -1 }, |end| clamp(end, low, high));
        let mut elements = Vec::new();
        while if step > 0 { at < end } else { at > end } {
            elements.push(self.tuple_element(value, at as usize)?);
            at = at.saturating_add(step);
        }
        self.tuple(&elements)
    }

    fn indices(&mut self, index: &[ExprId]) -> Result<Vec<Index>> {
        let mut indices = Vec::new();
        for &id in index {
            let found = match self.file.module.expr(id).kind.clone() {
                ExprKind::None => Index::New,
                ExprKind::Ellipsis => Index::Ellipsis,
                ExprKind::Slice(parts) => Index::Slice(self.slice_parts(parts)?),
                ExprKind::Starred(_) => return Err(self.error("starred indices are not supported")),
                // `x[(0, 1)]` is `x[0, 1]`.
                ExprKind::Tuple(items) if index.len() == 1 => return self.indices(&items),
                _ => {
                    let value = self.expr(id)?;
                    self.value_index(value)?
                }
            };
            indices.push(found);
        }
        Ok(indices)
    }

    fn value_index(&mut self, value: ValueId) -> Result<Index> {
        Ok(match self.kind(value) {
            Type::Int => Index::Select(value),
            Type::Tensor => Index::Tensor(value),
            Type::None => Index::New,
            Type::Optional(element) if *element == Type::Tensor => Index::Tensor(value),
            Type::Bool => return Err(self.error("Unsupported operation: indexing tensor with unsupported index type 'bool'. Only ints, slices, lists and tensors are supported")),
            Type::List(_) => {
                let tensor = self.operator("aten::tensor", &[value])?;
                Index::Tensor(tensor)
            }
            kind => {
                let message = format!(
                    "Unsupported operation: indexing tensor with unsupported index type '{}'. Only ints, slices, lists \
                     and tensors are supported",
                    kind.annotation_str()
                );
                return Err(self.error(message));
            }
        })
    }

    fn tensor_subscript(&mut self, value: ValueId, index: &[ExprId]) -> Result<ValueId> {
        let indices = self.indices(index)?;
        let (view, tensors) = self.tensor_view(value, &indices)?;
        if tensors.is_empty() {
            // PyTorch returns an alias for `x[...]` and `x[:]` too.
            return Ok(view);
        }
        let list = self.tensor_indices(&tensors)?;
        self.operator("aten::index", &[view, list])
    }

    /// The tensors of an index, None where a dimension is not indexed.
    fn tensor_indices(&mut self, tensors: &[Option<ValueId>]) -> Result<ValueId> {
        let none = self.none()?;
        let values: Vec<ValueId> = tensors.iter().map(|tensor| tensor.unwrap_or(none)).collect();
        self.apply("prim::ListConstruct", &values, Type::Tensor.optional()?.list())
    }

    /// Applies ints, slices and None; returns the tensors with the dimensions that they index.
    fn tensor_view(&mut self, value: ValueId, indices: &[Index]) -> Result<(ValueId, Vec<Option<ValueId>>)> {
        let dots = indices.iter().filter(|index| matches!(index, Index::Ellipsis)).count();
        if dots > 1 {
            return Err(self.error("An index can only have a single ellipsis ('...')"));
        }
        let mut view = value;
        let mut tensors: Vec<Option<ValueId>> = Vec::new();
        // After `...` dimensions count from the end.
        let mut dim: i64 = 0;
        let mut from_end = false;
        for (at, index) in indices.iter().enumerate() {
            let rest = indices.get(at + 1..).unwrap_or_default();
            match index {
                Index::Select(position) => {
                    let number = self.int(dim)?;
                    view = self.operator("aten::select", &[view, number, *position])?;
                    if from_end {
                        dim += 1;
                    }
                }
                Index::Slice(parts) => {
                    if !parts.iter().all(Option::is_none) || dots == 0 || !from_end {
                        let number = self.int(dim)?;
                        let [start, end, step] = self.slice_inputs(*parts)?;
                        view = self.operator("aten::slice", &[view, number, start, end, step])?;
                    }
                    dim += 1;
                }
                Index::New => {
                    // A dimension counted from the end is inserted before those that follow it.
                    let number = self.int(dim)?;
                    view = self.operator("aten::unsqueeze", &[view, number])?;
                    dim += 1;
                }
                Index::Ellipsis => {
                    let consumed = |index: &Index| !matches!(index, Index::New);
                    let followers = rest.iter().filter(|index| consumed(index)).count() as i64;
                    let tensors_follow = rest.iter().any(|index| matches!(index, Index::Tensor(_)));
                    let new_follows = rest.iter().any(|index| matches!(index, Index::New));
                    if tensors_follow || !tensors.is_empty() {
                        // Where tensors index, the dimensions between must be known: they come last.
                        return self.ellipsis_with_tensors(value, indices);
                    }
                    if new_follows {
                        return self.ellipsis_with_new(view, rest, followers);
                    }
                    dim = -followers;
                    from_end = true;
                }
                Index::Tensor(tensor) => {
                    let position = usize::try_from(dim).unwrap_or(0);
                    tensors.resize((position + 1).min(64), None);
                    if let Some(slot) = tensors.get_mut(position) {
                        *slot = Some(*tensor);
                    }
                    dim += 1;
                }
            }
        }
        Ok((view, tensors))
    }

    /// `x[..., 0, None]`: from the last index to the first, every dimension counts from the end.
    fn ellipsis_with_new(
        &mut self,
        value: ValueId,
        rest: &[Index],
        _followers: i64,
    ) -> Result<(ValueId, Vec<Option<ValueId>>)> {
        let mut view = value;
        let mut dim = -1;
        for index in rest.iter().rev() {
            let number = self.int(dim)?;
            match index {
                Index::Select(position) => view = self.operator("aten::select", &[view, number, *position])?,
                Index::Slice(parts) => {
                    let [start, end, step] = self.slice_inputs(*parts)?;
                    view = self.operator("aten::slice", &[view, number, start, end, step])?;
                    dim -= 1;
                }
                Index::New => {
                    view = self.operator("aten::unsqueeze", &[view, number])?;
                    dim -= 1;
                }
                Index::Ellipsis | Index::Tensor(_) => {}
            }
        }
        Ok((view, Vec::new()))
    }

    /// `x[..., t]`: PyTorch's compiler counts the dimensions of tensors from the start, and rejects others.
    fn ellipsis_with_tensors(&mut self, value: ValueId, indices: &[Index]) -> Result<(ValueId, Vec<Option<ValueId>>)> {
        let _ = (value, indices);
        Err(self.error("Ellipses followed by tensor indexing is currently not supported"))
    }

    /// `object[index] = value`
    pub(super) fn set_element(&mut self, object: ValueId, index: &[ExprId], value: ValueId) -> Result<()> {
        match self.kind(object) {
            Type::Tensor => {
                let indices = self.indices(index)?;
                let (view, tensors) = self.tensor_view(object, &indices)?;
                self.write_tensor(view, &tensors, value)
            }
            Type::List(_) if self.is_slice(index) => Err(self
                .error("Sliced expression not yet supported for subscripted assignment. File a bug if you want this")),
            Type::Tuple(_) | Type::NamedTuple(_) => {
                Err(self.error(format!("'{}' object does not support item assignment", self.type_name(object))))
            }
            _ => {
                let [single] = *index else { return Err(self.error("expected one index")) };
                let index = self.expr(single)?;
                if self.magic("__setitem__", &[object, index, value])?.is_none() {
                    self.operator("aten::_set_item", &[object, index, value])?;
                }
                Ok(())
            }
        }
    }

    fn is_slice(&self, index: &[ExprId]) -> bool {
        index.iter().any(|&id| matches!(self.file.module.expr(id).kind, ExprKind::Slice(_)))
    }

    fn write_tensor(&mut self, view: ValueId, tensors: &[Option<ValueId>], value: ValueId) -> Result<()> {
        let value = match self.kind(value) {
            Type::Tensor => value,
            Type::Int | Type::Float | Type::Bool | Type::Complex | Type::Number => {
                let dtype = self.operator("prim::dtype", &[view])?;
                let device = self.operator("prim::device", &[view])?;
                let no = self.bool(false)?;
                let number = match self.kind(value) {
                    Type::Number => self.operator("aten::Float", &[value])?,
                    _ => value,
                };
                let call = super::matching::Arguments {
                    positional: vec![number],
                    keywords: vec![
                        ("dtype".into(), dtype, self.span),
                        ("device".into(), device, self.span),
                        ("requires_grad".into(), no, self.span),
                    ],
                    is_method: false,
                };
                self.builtin("aten::tensor", &call)?
            }
            kind => {
                return Err(self.error(format!("{} cannot be assigned to a part of a tensor", kind.annotation_str())));
            }
        };
        let no = self.bool(false)?;
        if tensors.is_empty() {
            self.operator("aten::copy_", &[view, value, no])?;
        } else {
            let list = self.tensor_indices(tensors)?;
            self.operator("aten::index_put_", &[view, list, value, no])?;
        }
        Ok(())
    }

    /// `object[index] op= value`
    pub(super) fn augmented_element(
        &mut self,
        object: ValueId,
        index: &[ExprId],
        op: BinaryOp,
        value: ExprId,
    ) -> Result<()> {
        if self.kind(object) == Type::Tensor {
            let indices = self.indices(index)?;
            let (view, tensors) = self.tensor_view(object, &indices)?;
            let value = self.expr(value)?;
            if tensors.is_empty() {
                self.augmented_value(op, view, value)?;
                return Ok(());
            }
            let list = self.tensor_indices(&tensors)?;
            let current = self.operator("aten::index", &[view, list])?;
            let result = self.augmented_value(op, current, value)?;
            return self.write_tensor(view, &tensors, result);
        }
        let [single] = *index else { return Err(self.error("expected one index")) };
        if self.is_slice(index) {
            return Err(self.error(
                "Sliced expression not yet supported for subscripted augmented assignment. File a bug if you want this",
            ));
        }
        let index = self.expr(single)?;
        let current = match self.magic("__getitem__", &[object, index])? {
            Some(current) => current,
            None => self.operator("aten::__getitem__", &[object, index])?,
        };
        let value = self.expr(value)?;
        // Elements of dicts are replaced, as in PyTorch; those of lists are changed in place.
        let result = match (self.kind(object), self.kind(current)) {
            (Type::Dict(_), Type::Tensor | Type::List(_)) => self.augmented_binary(op, current, value)?,
            _ => self.augmented_value(op, current, value)?,
        };
        if self.magic("__setitem__", &[object, index, result])?.is_none() {
            self.operator("aten::_set_item", &[object, index, result])?;
        }
        Ok(())
    }
}
