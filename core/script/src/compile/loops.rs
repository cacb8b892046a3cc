//! Loops: `while`, and `for` over ranges, lists, dicts, strings, tensors and tuples.

use super::environment::{Compiler, Flag, Frame};
use super::iteration::Iterable;
use super::statement::Tail;
use super::sugar::Sugar;
use crate::ast::{self, ExprId, ExprKind, Name, Stmt, StmtKind};
use crate::graph::{NodeId, ValueId};
use crate::types::Type;
use rushlight_base::Result;

/// A loop whose body is being compiled.
struct Loop {
    node: NodeId,
    carried: Vec<(Name, Type)>,
}

impl Compiler<'_> {
    pub(super) fn while_loop(&mut self, condition: ExprId, body: &[Stmt]) -> Result<()> {
        let span = self.span;
        let limit = self.int(i64::MAX)?;
        let start = self.condition(condition)?;
        self.span = span;
        let carried = self.carried(body);
        let (state, _) = self.open_loop(limit, start.value, carried)?;
        self.refine_all(&start, true)?;
        self.sequence(body, Tail::Continue)?;
        self.span = span;
        let next = match self.frame().goes_on {
            Flag::Known(false) => self.bool(false)?,
            Flag::Known(true) if self.frame().throws => self.bool(true)?,
            Flag::Known(true) => self.loop_condition(&state, condition)?,
            Flag::Value(goes_on) => {
                let node = self.node("prim::If", &[goes_on], &[])?;
                self.enter(node)?;
                let value = self.loop_condition(&state, condition)?;
                let block = self.leave().block;
                self.graph.add_output(block, value)?;
                self.enter(node)?;
                let value = self.bool(false)?;
                let block = self.leave().block;
                self.graph.add_output(block, value)?;
                self.graph.add_node_output(node, Type::Bool)?
            }
        };
        self.span = span;
        self.close_loop(state, next)
    }

    /// The condition for the next iteration. Variables have their declared types again.
    fn loop_condition(&mut self, state: &Loop, condition: ExprId) -> Result<ValueId> {
        for (name, kind) in &state.carried {
            if let Some(Sugar::Value(value)) = self.variable(name).map(|variable| variable.sugar.clone())
                && self.kind(value) != *kind
                && matches!(kind, Type::Optional(_) | Type::Union(_))
            {
                let value = self.apply("prim::unchecked_cast", &[value], kind.clone())?;
                self.refine(name, value);
            }
        }
        Ok(self.condition(condition)?.value)
    }

    pub(super) fn for_loop(&mut self, target: ExprId, iter: ExprId, body: &[Stmt]) -> Result<()> {
        let span = self.span;
        let source = match &self.file.module.expr(iter).kind {
            // `for x in a, b`
            ExprKind::Tuple(_) => self.sugar(iter, None)?,
            _ => self.sugar(iter, None)?,
        };
        let iterable = self.at(self.expr_span(iter), |compiler| compiler.iterable(source))?;
        self.span = span;
        if let Some(elements) = self.unrolled(&iterable)? {
            return self.unroll(target, elements, body);
        }
        let carried = self.carried_with(Some(target), body);
        self.dynamic_loop(&iterable, carried, |compiler, element| {
            compiler.assign_target(target, element)?;
            compiler.sequence(body, Tail::Continue)
        })
    }

    /// A loop whose number of iterations is known when it starts. `run` compiles an iteration.
    pub(super) fn dynamic_loop(
        &mut self,
        iterable: &Iterable,
        carried: Vec<(Name, ValueId, Type)>,
        run: impl FnOnce(&mut Self, Sugar) -> Result<()>,
    ) -> Result<()> {
        let span = self.span;
        let count = self.length(iterable)?;
        let yes = self.bool(true)?;
        let (state, index) = self.open_loop(count, yes, carried)?;
        let element = self.element(iterable, index)?;
        run(self, element)?;
        self.span = span;
        let goes_on = if self.frame().done == Flag::Known(false) { Flag::Known(true) } else { self.frame().goes_on };
        let next = self.flag(goes_on)?;
        self.close_loop(state, next)
    }

    /// Compiles the body once for each element.
    fn unroll(&mut self, target: ExprId, elements: Vec<Sugar>, body: &[Stmt]) -> Result<()> {
        let loops = std::mem::replace(&mut self.loops, 0);
        let unrolled = std::mem::replace(&mut self.unrolled, true);
        for element in elements {
            if self.frame().is_left() {
                break;
            }
            self.assign_target(target, element)?;
            self.sequence(body, Tail::Nothing)?;
            if matches!(self.frame().done, Flag::Value(_)) {
                return Err(self.error("return under a condition is not supported in a loop over a tuple"));
            }
        }
        self.loops = loops;
        self.unrolled = unrolled;
        Ok(())
    }

    fn open_loop(
        &mut self,
        limit: ValueId,
        start: ValueId,
        carried: Vec<(Name, ValueId, Type)>,
    ) -> Result<(Loop, ValueId)> {
        let mut inputs = vec![limit, start];
        inputs.extend(carried.iter().map(|(_, value, _)| *value));
        let node = self.node("prim::Loop", &inputs, &[])?;
        self.enter(node)?;
        self.loops += 1;
        let block = self.block();
        let index = self.graph.add_input(block, Type::Int)?;
        for (name, _, kind) in &carried {
            let value = self.graph.add_input(block, kind.clone())?;
            if !name.trim_start_matches('_').bytes().all(|byte| byte.is_ascii_digit()) {
                self.graph.set_name(value, name)?;
            }
            self.bind(name, Sugar::Value(value), Some(kind.clone()));
        }
        let carried = carried.into_iter().map(|(name, _, kind)| (name, kind)).collect();
        Ok((Loop { node, carried }, index))
    }

    fn close_loop(&mut self, state: Loop, next: ValueId) -> Result<()> {
        let block = self.block();
        self.graph.add_output(block, next)?;
        for (name, kind) in &state.carried {
            let value = match self.variable(name).map(|variable| variable.sugar.clone()) {
                Some(Sugar::Value(value)) => value,
                _ if self.frame().throws => self.uninitialized(kind)?,
                _ => return Err(self.error(format!("{name} has no value at the end of an iteration"))),
            };
            self.graph.add_output(block, value)?;
        }
        let frame = self.leave();
        self.loops -= 1;
        let mut outputs = Vec::new();
        for (_, kind) in &state.carried {
            outputs.push(self.graph.add_node_output(state.node, kind.clone())?);
        }
        for ((name, kind), output) in state.carried.into_iter().zip(outputs) {
            if !name.trim_start_matches('_').bytes().all(|byte| byte.is_ascii_digit()) {
                self.graph.set_name(output, &name)?;
            }
            self.bind(&name, Sugar::Value(output), Some(kind));
        }
        self.carry_return(state.node, frame)
    }

    /// A loop whose body returns carries the result.
    fn carry_return(&mut self, node: NodeId, frame: Frame) -> Result<()> {
        let (Some(result), false) = (frame.result, frame.returned == Flag::Known(false)) else { return Ok(()) };
        let returned = self.inside_block(&frame, |compiler| compiler.flag(frame.returned))?;
        let no = self.bool(false)?;
        // The value must be defined before the loop.
        let start = self.graph.insert_before(node, "prim::Uninitialized", &[], &[Type::None])?;
        let start = self.output(start)?;
        self.results_changed(start);
        self.graph.add_node_input(node, no)?;
        self.graph.add_node_input(node, start)?;
        self.graph.add_input(frame.block, Type::Bool)?;
        let inner = self.graph.add_input(frame.block, Type::None)?;
        self.results_changed(inner);
        self.graph.add_output(frame.block, returned)?;
        self.graph.add_output(frame.block, result)?;
        let returned = self.graph.add_node_output(node, Type::Bool)?;
        let result = self.graph.add_node_output(node, self.kind(result))?;
        self.results_changed(result);
        let frame = self.frame_mut();
        frame.done = Flag::Value(returned);
        frame.returned = Flag::Value(returned);
        frame.goes_on = Flag::Known(false);
        frame.result = Some(result);
        Ok(())
    }

    fn inside_block<T>(&mut self, frame: &Frame, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.frames.push(Frame::new(frame.block));
        let result = run(self);
        self.frames.pop();
        result
    }

    pub(super) fn carried(&self, body: &[Stmt]) -> Vec<(Name, ValueId, Type)> {
        self.carried_with(None, body)
    }

    /// The variables that a loop assigns and that have a value before it.
    fn carried_with(&self, target: Option<ExprId>, body: &[Stmt]) -> Vec<(Name, ValueId, Type)> {
        let mut names = Vec::new();
        if let Some(target) = target {
            assigned_target(&self.file.module, target, &mut names);
        }
        assigned(&self.file.module, body, &mut names);
        let mut carried: Vec<(Name, ValueId, Type)> = Vec::new();
        for name in names {
            if carried.iter().any(|(other, ..)| *other == name) {
                continue;
            }
            if let Some(variable) = self.variable(&name)
                && let Sugar::Value(value) = variable.sugar
            {
                let kind = variable.declared.clone().unwrap_or_else(|| self.kind(value));
                carried.push((name, value, kind));
            }
        }
        carried
    }
}

fn assigned_target(module: &ast::Module, target: ExprId, names: &mut Vec<Name>) {
    match &module.expr(target).kind {
        ExprKind::Name(name) => names.push(name.clone()),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|&item| assigned_target(module, item, names));
        }
        ExprKind::Starred(value) => assigned_target(module, *value, names),
        _ => {}
    }
}

/// The names that statements assign. The parser limits how deep blocks nest.
fn assigned(module: &ast::Module, statements: &[Stmt], names: &mut Vec<Name>) {
    for statement in statements {
        match &statement.kind {
            StmtKind::Assign { targets, .. } => {
                targets.iter().for_each(|&target| assigned_target(module, target, names));
            }
            StmtKind::AugAssign { target, .. } => assigned_target(module, *target, names),
            StmtKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| assigned(module, body, names));
                assigned(module, otherwise, names);
            }
            StmtKind::While { body, .. } => assigned(module, body, names),
            StmtKind::For { target, body, .. } => {
                assigned_target(module, *target, names);
                assigned(module, body, names);
            }
            StmtKind::With { items, body } => {
                items
                    .iter()
                    .filter_map(|(_, target)| *target)
                    .for_each(|target| assigned_target(module, target, names));
                assigned(module, body, names);
            }
            _ => {}
        }
    }
}
