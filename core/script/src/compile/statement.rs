//! Statements.

use super::condition::Condition;
use super::environment::{Compiler, Flag, Frame};
use super::sugar::Sugar;
use crate::ast::{self, ExprId, ExprKind, Stmt, StmtKind};
use crate::graph::NodeId;
use crate::source::Span;
use crate::types::Type;
use rushlight_base::Result;
use std::sync::Arc;

/// A `prim::If` that is still open: code after it goes into the branch that did not exit.
pub(super) struct Open {
    node: NodeId,
    left: Frame,
    left_first: bool,
    span: Span,
}

/// What happens at the end of a list of statements.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Tail {
    Nothing,
    /// The next iteration of the loop.
    Continue,
    /// The function returns None.
    Return,
}

impl Compiler<'_> {
    pub(super) fn function_statements(&mut self, tree: &ast::Function) -> Result<()> {
        self.sequence(&tree.body, Tail::Return)
    }

    /// The statements of a block of the graph.
    pub(super) fn sequence(&mut self, statements: &[Stmt], tail: Tail) -> Result<()> {
        let mut open = Vec::new();
        self.statements(statements, &mut open)?;
        if tail != Tail::Nothing && !self.frame().is_left() {
            self.guard(&mut open)?;
            match tail {
                Tail::Continue => self.exit_loop(true),
                _ => {
                    let span = self.span;
                    self.at(span, |compiler| compiler.implicit_return())?;
                }
            }
        }
        while let Some(Open { node, left, left_first, span }) = open.pop() {
            let rest = self.leave();
            self.at(span, |compiler| match left_first {
                true => compiler.join(node, left, rest),
                false => compiler.join(node, rest, left),
            })?;
        }
        Ok(())
    }

    fn implicit_return(&mut self) -> Result<()> {
        let none = self.none()?;
        if let Some(declared) = &self.declared
            && !self.is_subtype(&Type::None, declared)
        {
            let message = format!(
                "Function was not annotated as having type None, but does not return along all paths: it is annotated as \
                 having type {}",
                declared.annotation_str()
            );
            return Err(self.error(message));
        }
        self.return_value(none)
    }

    fn statements(&mut self, statements: &[Stmt], open: &mut Vec<Open>) -> Result<()> {
        for statement in statements {
            // What follows an exit cannot be reached.
            if self.frame().is_left() {
                break;
            }
            self.guard(open)?;
            self.deepen()?;
            self.span = statement.span;
            self.statement(statement, open)?;
            self.depth -= 1;
        }
        Ok(())
    }

    /// If the code before may have exited, what follows runs under a condition.
    fn guard(&mut self, open: &mut Vec<Open>) -> Result<()> {
        let Flag::Value(done) = self.frame().done else { return Ok(()) };
        let node = self.node("prim::If", &[done], &[])?;
        let (goes_on, returned, result) = (self.frame().goes_on, self.frame().returned, self.frame().result);
        self.enter(node)?;
        let mut left = self.leave();
        left.done = Flag::Known(true);
        (left.goes_on, left.returned, left.result) = (goes_on, returned, result);
        self.enter(node)?;
        open.push(Open { node, left, left_first: true, span: self.span });
        Ok(())
    }

    fn statement(&mut self, statement: &Stmt, open: &mut Vec<Open>) -> Result<()> {
        match &statement.kind {
            StmtKind::Pass => Ok(()),
            StmtKind::Expr(expr) => {
                // A string alone is documentation.
                if !matches!(self.file.module.expr(*expr).kind, ExprKind::Str(_) | ExprKind::Ellipsis) {
                    self.sugar(*expr, None)?;
                }
                Ok(())
            }
            StmtKind::Assign { targets, annotation, value } => self.assign(targets, *annotation, *value),
            StmtKind::AugAssign { target, op, value } => self.augmented(*target, *op, *value),
            StmtKind::If { branches, otherwise } => self.if_statement(branches, otherwise, open),
            StmtKind::While { condition, body } => self.while_loop(*condition, body),
            StmtKind::For { target, iter, body } => self.for_loop(*target, *iter, body),
            StmtKind::Break | StmtKind::Continue => {
                if self.loops == 0 && self.unrolled {
                    let message = "Because we emit iteration over modulelists or tuples as unrolled loops, we do not \
                                   support break or continue inside the body of these loops";
                    return Err(self.error(message));
                }
                if self.loops == 0 {
                    let word = if matches!(statement.kind, StmtKind::Break) { "break" } else { "continue" };
                    return Err(self.error(format!("SyntaxError: '{word}' outside loop")));
                }
                self.exit_loop(matches!(statement.kind, StmtKind::Continue));
                Ok(())
            }
            StmtKind::Return(value) => self.return_statement(*value),
            StmtKind::Raise(value) => self.raise(*value),
            StmtKind::Assert { test, message } => self.assertion(*test, *message),
            StmtKind::With { items, body } => self.with(items, body, open),
            StmtKind::Delete(targets) => targets.iter().try_for_each(|&target| self.delete(target)),
            StmtKind::Function(function) => {
                let name = function.name.clone();
                let variables = self.visible();
                let sugar = Sugar::Closure(Arc::new((ast::Function::clone(function), variables)));
                self.bind(&name, sugar, None);
                Ok(())
            }
        }
    }

    /// `break` and `continue`.
    fn exit_loop(&mut self, goes_on: bool) {
        let frame = self.frame_mut();
        frame.done = Flag::Known(true);
        frame.goes_on = Flag::Known(goes_on);
        frame.returned = Flag::Known(false);
    }

    fn return_statement(&mut self, value: Option<ExprId>) -> Result<()> {
        let declared = self.declared.clone();
        let value = match value {
            Some(value) => self.expr_hint(value, declared.as_ref())?,
            None => self.none()?,
        };
        self.return_value(value)
    }

    fn return_value(&mut self, value: crate::graph::ValueId) -> Result<()> {
        let mut value = value;
        match self.declared.clone() {
            Some(declared) => {
                value = self.converted(value, &declared, true)?;
                if !self.is_subtype(&self.kind(value), &declared) {
                    let message = format!(
                        "Return value was annotated as having type {} but is actually of type {}",
                        declared.annotation_str(),
                        self.type_name(value)
                    );
                    return Err(self.error(message));
                }
            }
            None => {
                let kind = self.kind(value);
                let merged = match &self.merged {
                    None => Some(kind.clone()),
                    Some(merged) => merged.unify(&kind, self.unit),
                };
                let Some(merged) = merged else {
                    let message = format!(
                        "Previous return statement returned a value of type {} but this return statement returns a value \
                         of type {}",
                        self.merged.as_ref().map(Type::annotation_str).unwrap_or_default(),
                        kind.annotation_str()
                    );
                    return Err(self.error(message));
                };
                self.merged = Some(merged);
            }
        }
        let frame = self.frame_mut();
        frame.done = Flag::Known(true);
        frame.goes_on = Flag::Known(false);
        frame.returned = Flag::Known(true);
        frame.result = Some(value);
        Ok(())
    }

    fn if_statement(
        &mut self,
        branches: &[(ExprId, ast::Block)],
        otherwise: &ast::Block,
        open: &mut Vec<Open>,
    ) -> Result<()> {
        let Some(((test, body), rest)) = branches.split_first() else { return self.statements(otherwise, open) };
        self.deepen()?;
        let span = self.span;
        let condition = self.condition(*test)?;
        self.span = span;
        if let Some(known) = condition.known {
            let result = match known {
                true => {
                    self.refine_all(&condition, true)?;
                    self.statements(body, open)
                }
                false => {
                    self.refine_all(&condition, false)?;
                    self.if_statement(rest, otherwise, open)
                }
            };
            self.depth -= 1;
            return result;
        }
        let node = self.node("prim::If", &[condition.value], &[])?;
        self.enter(node)?;
        self.refine_all(&condition, true)?;
        self.sequence(body, Tail::Nothing)?;
        let yes = self.leave();
        self.span = span;
        self.enter(node)?;
        self.refine_all(&condition, false)?;
        if rest.is_empty() {
            self.sequence(otherwise, Tail::Nothing)?;
        } else {
            self.nested_if(rest, otherwise)?;
        }
        let no = self.leave();
        self.span = span;
        self.depth -= 1;
        let exits = |frame: &Frame| !frame.throws && frame.done == Flag::Known(true);
        match (exits(&yes), exits(&no)) {
            (true, false) if !no.throws => {
                self.frames.push(no);
                open.push(Open { node, left: yes, left_first: true, span });
                Ok(())
            }
            (false, true) if !yes.throws => {
                self.frames.push(yes);
                open.push(Open { node, left: no, left_first: false, span });
                Ok(())
            }
            _ => self.join(node, yes, no),
        }
    }

    /// `elif`
    fn nested_if(&mut self, branches: &[(ExprId, ast::Block)], otherwise: &ast::Block) -> Result<()> {
        let mut open = Vec::new();
        self.if_statement(branches, otherwise, &mut open)?;
        while let Some(Open { node, left, left_first, span }) = open.pop() {
            let rest = self.leave();
            self.at(span, |compiler| match left_first {
                true => compiler.join(node, left, rest),
                false => compiler.join(node, rest, left),
            })?;
        }
        Ok(())
    }

    fn raise(&mut self, value: ExprId) -> Result<()> {
        let module = &self.file.module;
        let (class, args, is_call) = match &module.expr(value).kind {
            ExprKind::Call { function, args, .. } => (module.dotted(*function), args.clone(), true),
            _ => (module.dotted(value), Vec::new(), false),
        };
        let class = match class {
            Some(name) if name.contains('.') => name,
            Some(name) if self.variable(&name).is_none() => format!("builtins.{name}"),
            _ => return Err(self.error("raise needs an exception such as ValueError(\"message\")")),
        };
        let mut messages = Vec::new();
        for arg in args {
            let value = self.expr(arg)?;
            messages.push(self.as_string(value)?);
        }
        let message = match messages.as_slice() {
            [] => self.string(b"")?,
            [single] => *single,
            several => {
                let tuple = self.tuple(several)?;
                self.as_string(tuple)?
            }
        };
        // PyTorch forgets a class that is not called.
        let class = if is_call { self.string(class.as_bytes())? } else { self.none()? };
        self.node("prim::RaiseException", &[message, class], &[])?;
        self.frame_mut().throws = true;
        Ok(())
    }

    fn assertion(&mut self, test: ExprId, message: Option<ExprId>) -> Result<()> {
        let span = self.span;
        let condition = self.condition(test)?;
        self.span = span;
        if condition.known == Some(true) {
            return self.refine_all(&condition, true);
        }
        if condition.known == Some(false) {
            return self.assertion_error(message);
        }
        let node = self.node("prim::If", &[condition.value], &[])?;
        self.enter(node)?;
        self.refine_all(&condition, true)?;
        let yes = self.leave();
        self.enter(node)?;
        self.assertion_error(message)?;
        let no = self.leave();
        self.span = span;
        self.join(node, yes, no)
    }

    fn assertion_error(&mut self, message: Option<ExprId>) -> Result<()> {
        let text = match message {
            Some(message) => match &self.file.module.expr(message).kind {
                ExprKind::Str(bytes) => {
                    let text = [&b"AssertionError: "[..], bytes].concat();
                    self.string(&text)?
                }
                _ => {
                    let prefix = self.string(b"AssertionError: ")?;
                    let value = self.expr(message)?;
                    let value = self.as_string(value)?;
                    self.apply("aten::add", &[prefix, value], Type::Str)?
                }
            },
            None => self.string(b"AssertionError: ")?,
        };
        let none = self.none()?;
        self.node("prim::RaiseException", &[text, none], &[])?;
        self.frame_mut().throws = true;
        Ok(())
    }

    fn with(&mut self, items: &[(ExprId, Option<ExprId>)], body: &ast::Block, open: &mut Vec<Open>) -> Result<()> {
        let mut contexts = Vec::new();
        let span = self.span;
        for (item, target) in items {
            let context = self.expr(*item)?;
            let entered = self.enter_context(context)?;
            if let Some(target) = target {
                self.assign_target(*target, Sugar::Value(entered))?;
            }
            contexts.push(context);
        }
        if exits(body) {
            self.contained(body)?;
        } else {
            self.statements(body, open)?;
        }
        self.span = span;
        for context in contexts.into_iter().rev() {
            self.leave_context(context)?;
        }
        Ok(())
    }

    /// Statements that may exit, in a block of their own: the code after it runs before the exit.
    fn contained(&mut self, body: &[Stmt]) -> Result<()> {
        let span = self.span;
        let always = self.bool(true)?;
        let node = self.node("prim::If", &[always], &[])?;
        self.enter(node)?;
        self.sequence(body, Tail::Nothing)?;
        let yes = self.leave();
        self.span = span;
        self.enter(node)?;
        let text = self.string(b"unreachable")?;
        let none = self.none()?;
        self.node("prim::RaiseException", &[text, none], &[])?;
        self.frame_mut().throws = true;
        let no = self.leave();
        self.join(node, yes, no)
    }

    pub(super) fn refine_all(&mut self, condition: &Condition, outcome: bool) -> Result<()> {
        let list = if outcome { &condition.if_true } else { &condition.if_false };
        for (name, kind) in list.clone() {
            let Some(Sugar::Value(value)) = self.variable(&name).map(|variable| variable.sugar.clone()) else {
                continue;
            };
            if self.kind(value) == kind {
                continue;
            }
            let value = match kind {
                Type::None => self.none()?,
                kind => self.apply("prim::unchecked_cast", &[value], kind)?,
            };
            self.refine(&name, value);
        }
        Ok(())
    }
}

/// Whether statements contain `return`, `break` or `continue`. The parser limits how deep blocks nest.
fn exits(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match &statement.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { branches, otherwise } => branches.iter().any(|(_, body)| exits(body)) || exits(otherwise),
        StmtKind::While { body, .. } | StmtKind::For { body, .. } | StmtKind::With { body, .. } => exits(body),
        _ => false,
    })
}
