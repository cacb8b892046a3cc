//! Assignments: to names, attributes, elements, and several at once.

use super::environment::Compiler;
use super::sugar::Sugar;
use crate::ast::{BinaryOp, ExprId, ExprKind, Name};
use crate::types::Type;
use rushlight_base::Result;

impl Compiler<'_> {
    pub(super) fn assign(
        &mut self,
        targets: &[ExprId],
        annotation: Option<ExprId>,
        value: Option<ExprId>,
    ) -> Result<()> {
        let annotation = annotation.map(|annotation| self.unit.annotation(self.file, annotation)).transpose()?;
        let Some(value) = value else {
            // A declaration has no effect until a value is assigned.
            return Ok(());
        };
        let hint = annotation.clone().or_else(|| self.target_type(targets));
        let mut sugar = self.sugar(value, hint.as_ref())?;
        if let (Sugar::Value(value), Some(hint)) = (&sugar, &hint)
            && annotation.is_none()
        {
            let value = self.converted(*value, hint, true)?;
            sugar = Sugar::Value(value);
        }
        for &target in targets {
            match (&self.file.module.expr(target).kind, &annotation) {
                (ExprKind::Name(name), Some(annotation)) => {
                    let (name, annotation) = (name.clone(), annotation.clone());
                    let span = self.expr_span(target);
                    self.at(span, |compiler| compiler.assign_name(&name, sugar.clone(), Some(annotation)))?;
                }
                (ExprKind::Attribute { value: object, name }, Some(annotation)) => {
                    let (object, name) = (*object, name.clone());
                    let object = self.expr(object)?;
                    self.set_member(object, &name, sugar.clone(), Some(annotation.clone()))?;
                }
                _ => self.assign_target(target, sugar.clone())?,
            }
        }
        Ok(())
    }

    /// The type that a value must have to be assigned, if it decides what a literal means.
    fn target_type(&self, targets: &[ExprId]) -> Option<Type> {
        let [target] = targets else { return None };
        match &self.file.module.expr(*target).kind {
            ExprKind::Name(name) => {
                let outer = self.frames.iter().rev().skip(1).find_map(|frame| frame.variables.get(name));
                outer.and_then(|variable| variable.declared.clone())
            }
            ExprKind::Attribute { value, name } => {
                let ExprKind::Name(object) = &self.file.module.expr(*value).kind else { return None };
                let Some(Sugar::Value(object)) = self.variable(object).map(|variable| &variable.sugar) else {
                    return None;
                };
                let Type::Class(class) = self.kind(*object) else { return None };
                self.unit.class(&class).ok()?.attribute(name).map(|attribute| attribute.kind.clone())
            }
            _ => None,
        }
    }

    /// The names that a target assigns.
    pub(super) fn target_names(&self, target: ExprId, names: &mut Vec<Name>) {
        match &self.file.module.expr(target).kind {
            ExprKind::Name(name) => names.push(name.clone()),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|&item| self.target_names(item, names));
            }
            ExprKind::Starred(value) => self.target_names(*value, names),
            _ => {}
        }
    }

    /// `target = value`
    pub(super) fn assign_target(&mut self, target: ExprId, value: Sugar) -> Result<()> {
        let span = self.expr_span(target);
        self.at(span, |compiler| compiler.assign_here(target, value))
    }

    fn assign_here(&mut self, target: ExprId, value: Sugar) -> Result<()> {
        match &self.file.module.expr(target).kind {
            ExprKind::Name(name) => {
                let name = name.clone();
                let value = match value {
                    Sugar::Tuple(_) => Sugar::Value(self.value_of(value)?),
                    other => other,
                };
                self.assign_name(&name, value, None)
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let items = items.clone();
                self.assign_several(&items, value)
            }
            ExprKind::Attribute { value: object, name } => {
                let (object, name) = (*object, name.clone());
                let object = self.expr(object)?;
                self.set_member(object, &name, value, None)
            }
            ExprKind::Subscript { value: object, index } => {
                let (object, index) = (*object, index.clone());
                let value = self.value_of(value)?;
                let object = self.expr(object)?;
                self.set_element(object, &index, value)
            }
            ExprKind::Starred(_) => Err(self.error("starred assignment target must be in a list or tuple")),
            _ => Err(self.error("unexpected expression on left-hand side of assignment")),
        }
    }

    fn assign_several(&mut self, targets: &[ExprId], value: Sugar) -> Result<()> {
        let is_starred =
            |compiler: &Self, id: ExprId| matches!(compiler.file.module.expr(id).kind, ExprKind::Starred(_));
        let starred = targets.iter().position(|&target| is_starred(self, target));
        let values: Vec<Sugar> = match value {
            Sugar::Tuple(items) => items,
            Sugar::Value(value) => match self.kind(value) {
                Type::List(element) if starred.is_none() => {
                    let kinds = vec![Type::clone(&element); targets.len()];
                    let node = self.node("prim::ListUnpack", &[value], &kinds)?;
                    self.graph.node(node)?.outputs().iter().map(|&output| Sugar::Value(output)).collect()
                }
                Type::Tuple(_) | Type::NamedTuple(_) => self.unpack(value)?.into_iter().map(Sugar::Value).collect(),
                Type::Tensor if starred.is_none() => {
                    let zero = self.int(0)?;
                    let list = self.operator("aten::unbind", &[value, zero])?;
                    let node = self.node("prim::ListUnpack", &[list], &vec![Type::Tensor; targets.len()])?;
                    self.graph.node(node)?.outputs().iter().map(|&output| Sugar::Value(output)).collect()
                }
                kind => return Err(self.error(format!("{} cannot be used as a tuple", kind.annotation_str()))),
            },
            other => {
                let iterable = self.iterable(other)?;
                match self.unrolled(&iterable)? {
                    Some(elements) => elements,
                    None => return Err(self.error("Provided value cannot be used as a tuple")),
                }
            }
        };
        let wanted = targets.len();
        match starred {
            None if values.len() > wanted => {
                Err(self.error(format!("too many values to unpack: need {wanted} but found {}", values.len())))
            }
            None if values.len() < wanted => {
                Err(self.error(format!("need {wanted} values to unpack but found only {}", values.len())))
            }
            None => targets.iter().zip(values).try_for_each(|(&target, value)| self.assign_target(target, value)),
            Some(at) => {
                if values.len() + 1 < wanted {
                    let message =
                        format!("need at least {} values to unpack but found only {}", wanted - 1, values.len());
                    return Err(self.error(message));
                }
                let middle = values.len() + 1 - wanted;
                let mut values = values.into_iter();
                for (index, &target) in targets.iter().enumerate() {
                    if index != at {
                        let value = values.next().ok_or_else(|| self.error("internal error: a value is missing"))?;
                        self.assign_target(target, value)?;
                        continue;
                    }
                    let ExprKind::Starred(inner) = self.file.module.expr(target).kind else { continue };
                    let items: Vec<Sugar> = values.by_ref().take(middle).collect();
                    let items = items.into_iter().map(|item| self.value_of(item)).collect::<Result<Vec<_>>>()?;
                    let tuple = self.tuple(&items)?;
                    self.assign_target(inner, Sugar::Value(tuple))?;
                }
                Ok(())
            }
        }
    }

    /// `target op= value`. Tensors are changed in place.
    pub(super) fn augmented(&mut self, target: ExprId, op: BinaryOp, value: ExprId) -> Result<()> {
        let span = self.span;
        match &self.file.module.expr(target).kind {
            ExprKind::Name(name) => {
                let name = name.clone();
                let current = self.expr(target)?;
                let value = self.expr(value)?;
                let result = self.augmented_value(op, current, value)?;
                self.span = span;
                if result == current {
                    return Ok(());
                }
                self.assign_name(&name, Sugar::Value(result), None)
            }
            ExprKind::Attribute { value: object, name } => {
                let (object, name) = (*object, name.clone());
                let object = self.expr(object)?;
                let member = self.member(Sugar::Value(object), &name)?;
                let current = self.value_of(member)?;
                let value = self.expr(value)?;
                let result = self.augmented_value(op, current, value)?;
                self.set_member(object, &name, Sugar::Value(result), None)
            }
            ExprKind::Subscript { value: object, index } => {
                let (object, index) = (*object, index.clone());
                let object = self.expr(object)?;
                self.augmented_element(object, &index, op, value)
            }
            _ => Err(self.error("unexpected expression on left-hand side of augmented assignment")),
        }
    }

    /// `current op value` for augmented assignment.
    pub(super) fn augmented_value(
        &mut self,
        op: BinaryOp,
        current: crate::graph::ValueId,
        value: crate::graph::ValueId,
    ) -> Result<crate::graph::ValueId> {
        let (operator, method) = match op {
            BinaryOp::Add => ("aten::add_", "__iadd__"),
            BinaryOp::Sub => ("aten::sub_", "__isub__"),
            BinaryOp::Mul => ("aten::mul_", "__imul__"),
            BinaryOp::Div => ("aten::div_", "__itruediv__"),
            BinaryOp::FloorDiv => ("aten::floor_divide_", "__ifloordiv__"),
            BinaryOp::Mod => ("aten::fmod_", "__imod__"),
            BinaryOp::Pow => ("aten::pow_", "__ipow__"),
            BinaryOp::BitAnd => ("aten::__iand__", "__iand__"),
            BinaryOp::BitOr => ("aten::__ior__", "__ior__"),
            BinaryOp::BitXor => ("aten::__ixor__", "__ixor__"),
            BinaryOp::LeftShift => ("aten::__ilshift__", "__ilshift__"),
            BinaryOp::RightShift => ("aten::__irshift__", "__irshift__"),
            BinaryOp::MatMul => ("", "__imatmul__"),
        };
        let kind = self.kind(current);
        match &kind {
            Type::Tensor if !operator.is_empty() => self.operator(operator, &[current, value]),
            Type::List(_) if op == BinaryOp::Add => self.operator("aten::add_", &[current, value]),
            Type::List(_) if op == BinaryOp::Mul => self.operator("aten::mul_", &[current, value]),
            Type::Class(_) => match self.magic(method, &[current, value])? {
                Some(result) => Ok(result),
                None => self.binary(op, current, value),
            },
            _ => self.augmented_binary(op, current, value),
        }
    }

    /// `current op value` for augmented assignment of what is not changed in place. As in PyTorch, `%=` is a remainder
    /// with the sign of the dividend.
    pub(super) fn augmented_binary(
        &mut self,
        op: BinaryOp,
        current: crate::graph::ValueId,
        value: crate::graph::ValueId,
    ) -> Result<crate::graph::ValueId> {
        match (op, self.kind(current)) {
            (BinaryOp::Mod, Type::Int | Type::Float | Type::Tensor) => self.operator("aten::fmod", &[current, value]),
            _ => self.binary(op, current, value),
        }
    }

    pub(super) fn delete(&mut self, target: ExprId) -> Result<()> {
        let span = self.expr_span(target);
        self.at(span, |compiler| match &compiler.file.module.expr(target).kind {
            ExprKind::Name(name) => {
                let name = name.clone();
                if compiler.variable(&name).is_none() {
                    return Err(compiler.error(format!("undefined value {name}")));
                }
                compiler.frame_mut().variables.remove(&name);
                compiler.frame_mut().missing.insert(name, String::new());
                Ok(())
            }
            ExprKind::Subscript { value, index } => {
                let (value, index) = (*value, index.clone());
                let object = compiler.expr(value)?;
                let [index] = *index else {
                    return Err(compiler.error("del has one index"));
                };
                let index = compiler.expr(index)?;
                if compiler.magic("__delitem__", &[object, index])?.is_none() {
                    compiler.operator("aten::Delete", &[object, index])?;
                }
                Ok(())
            }
            _ => {
                Err(compiler.error("del statements are only supported for deleting list and dict items and variables"))
            }
        })
    }
}
