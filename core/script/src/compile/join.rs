//! Blocks that join: the values that differ between the branches of `prim::If` become its outputs.

use super::environment::{Compiler, Flag, Frame, Variable};
use super::sugar::Sugar;
use crate::ast::Name;
use crate::graph::{NodeId, ValueId};
use crate::types::Type;
use rushlight_base::Result;
use std::collections::BTreeSet;

impl Compiler<'_> {
    /// Adds a block to a node and makes it the current one.
    pub(super) fn enter(&mut self, node: NodeId) -> Result<()> {
        let block = self.graph.add_block(node)?;
        self.frames.push(Frame::new(block));
        Ok(())
    }

    /// Leaves the current block.
    pub(super) fn leave(&mut self) -> Frame {
        let block = self.graph.top();
        // The frame of the function is never left.
        if self.frames.len() > 1 { self.frames.pop().unwrap_or_else(|| Frame::new(block)) } else { Frame::new(block) }
    }

    /// Runs `run` at the end of the block of a frame that was left.
    fn inside<T>(&mut self, frame: &Frame, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.frames.push(Frame::new(frame.block));
        let result = run(self);
        self.frames.pop();
        result
    }

    /// Joins the branches of a `prim::If` in the current frame.
    pub(super) fn join(&mut self, node: NodeId, yes: Frame, no: Frame) -> Result<()> {
        if yes.throws && no.throws {
            self.frame_mut().throws = true;
            return Ok(());
        }
        let names: BTreeSet<Name> = yes.variables.keys().chain(no.variables.keys()).cloned().collect();
        for name in names {
            self.join_variable(node, &yes, &no, &name)?;
        }
        for (side, branch) in [(&yes, "true"), (&no, "false")] {
            let other = if branch == "true" { &no } else { &yes };
            for (name, reason) in &side.missing {
                if !(side.throws || other.is_left() && other.variables.contains_key(name)) {
                    self.frame_mut().missing.insert(name.clone(), reason.clone());
                    self.frame_mut().variables.remove(name);
                }
            }
        }
        self.join_exits(node, &yes, &no)
    }

    fn join_variable(&mut self, node: NodeId, yes: &Frame, no: &Frame, name: &Name) -> Result<()> {
        let assigned = |frame: &Frame| frame.variables.get(name).is_some_and(|variable| variable.assigned);
        if !assigned(yes) && !assigned(no) && !yes.is_left() && !no.is_left() {
            return Ok(());
        }
        let around = self.variable(name).cloned();
        let of = |frame: &Frame| frame.variables.get(name).cloned().or_else(|| around.clone());
        let (yes_variable, no_variable) = (of(yes), of(no));
        let (yes_variable, no_variable) = match (yes_variable, no_variable) {
            (Some(yes_variable), Some(no_variable)) => (yes_variable, no_variable),
            (Some(only), None) if no.is_left() => return self.join_one(node, only, yes, no, name, true),
            (None, Some(only)) if yes.is_left() => return self.join_one(node, only, no, yes, name, false),
            (only, _) => {
                let branch = if only.is_some() { "false" } else { "true" };
                let message = format!("{name} is not defined in the {branch} branch");
                let reason = format!("\n{message}:\n{}", self.file.module.source.excerpt(self.span));
                self.frame_mut().missing.insert(name.clone(), reason);
                return Ok(());
            }
        };
        let (Sugar::Value(yes_value), Sugar::Value(no_value)) = (&yes_variable.sugar, &no_variable.sugar) else {
            if yes.is_left() != no.is_left() {
                let kept = if yes.is_left() { no_variable } else { yes_variable };
                self.frame_mut().variables.insert(name.clone(), kept);
                return Ok(());
            }
            let reason = format!(
                "\n{name} holds a value that is not first-class in a branch, and cannot be used after it:\n{}",
                self.file.module.source.excerpt(self.span)
            );
            self.frame_mut().missing.insert(name.clone(), reason);
            return Ok(());
        };
        if yes_value == no_value {
            // Both assign the same value, or the one that the variable had.
            let unchanged = matches!(&around, Some(Variable { sugar: Sugar::Value(value), .. }) if value == yes_value);
            if !unchanged {
                self.frame_mut().variables.insert(name.clone(), Variable { assigned: true, ..yes_variable });
            }
            return Ok(());
        }
        let (yes_kind, no_kind) = (self.kind(*yes_value), self.kind(*no_value));
        let around_kind = around.as_ref().and_then(|variable| variable.declared.clone());
        let joined = match (yes.is_left(), no.is_left()) {
            (true, false) => Some(self.kind_beside(&yes_kind, &no_kind, around_kind.as_ref(), yes.throws)),
            (false, true) => Some(self.kind_beside(&no_kind, &yes_kind, around_kind.as_ref(), no.throws)),
            _ => yes_kind.unify(&no_kind, self.unit).or_else(|| {
                let declared = [&yes_variable.declared, &no_variable.declared];
                let same = declared[0] == declared[1];
                declared[0].clone().filter(|kind| same && matches!(kind, Type::Union(_) | Type::Optional(_)))
            }),
        };
        let joined = joined.or_else(|| {
            let fits = |kind: &Type| self.is_subtype(&yes_kind, kind) && self.is_subtype(&no_kind, kind);
            around_kind.clone().filter(fits)
        });
        let Some(joined) = joined else {
            let message = format!(
                "Type mismatch: {name} is set to type {} in the true branch and type {} in the false branch",
                yes_kind.annotation_str(),
                no_kind.annotation_str()
            );
            let reason = format!("\n{message}:\n{}", self.file.module.source.excerpt(self.span));
            self.frame_mut().missing.insert(name.clone(), reason);
            return Ok(());
        };
        let fit = |value: ValueId, kind: &Type| if kind.is_subtype_of(&joined, self.unit) { Some(value) } else { None };
        let (yes_value, no_value) = (fit(*yes_value, &yes_kind), fit(*no_value, &no_kind));
        let output = self.add_outputs(node, yes, no, yes_value, no_value, &joined)?;
        self.name_output(output, name)?;
        self.bind(name, Sugar::Value(output), Some(joined));
        Ok(())
    }

    /// The type of a variable where one branch was left: it is that of the other branch, if values of the branch that
    /// was left need not fit, which a loop may still carry.
    fn kind_beside(&self, left: &Type, other: &Type, around: Option<&Type>, throws: bool) -> Type {
        if throws || self.is_subtype(left, other) || self.loops == 0 {
            return other.clone();
        }
        left.unify(other, self.unit).or_else(|| around.cloned()).unwrap_or_else(|| other.clone())
    }

    /// A variable that only the branch that goes on defines.
    fn join_one(
        &mut self,
        node: NodeId,
        variable: Variable,
        _kept: &Frame,
        _left: &Frame,
        name: &Name,
        first: bool,
    ) -> Result<()> {
        let (yes, no) = if first { (_kept, _left) } else { (_left, _kept) };
        let Sugar::Value(value) = variable.sugar else {
            self.frame_mut().variables.insert(name.clone(), variable);
            return Ok(());
        };
        let kind = self.kind(value);
        let (yes_value, no_value) = if first { (Some(value), None) } else { (None, Some(value)) };
        let output = self.add_outputs(node, yes, no, yes_value, no_value, &kind)?;
        self.name_output(output, name)?;
        self.bind(name, Sugar::Value(output), Some(kind));
        Ok(())
    }

    fn name_output(&mut self, output: ValueId, name: &str) -> Result<()> {
        let digits = name.trim_start_matches('_').bytes().all(|byte| byte.is_ascii_digit());
        if digits { Ok(()) } else { self.graph.set_name(output, name) }
    }

    /// Adds an output to the node; a branch without value has an uninitialized one.
    fn add_outputs(
        &mut self,
        node: NodeId,
        yes: &Frame,
        no: &Frame,
        yes_value: Option<ValueId>,
        no_value: Option<ValueId>,
        kind: &Type,
    ) -> Result<ValueId> {
        for (frame, value) in [(yes, yes_value), (no, no_value)] {
            let value = match value {
                Some(value) => value,
                None => self.inside(frame, |compiler| compiler.uninitialized(kind))?,
            };
            self.graph.add_output(frame.block, value)?;
        }
        self.graph.add_node_output(node, kind.clone())
    }

    fn join_flag(&mut self, node: NodeId, yes: (&Frame, Option<Flag>), no: (&Frame, Option<Flag>)) -> Result<Flag> {
        let (yes_flag, no_flag) = match (yes.1, no.1) {
            (Some(yes_flag), Some(no_flag)) => (yes_flag, no_flag),
            (Some(only), None) | (None, Some(only)) if matches!(only, Flag::Known(_)) => return Ok(only),
            (only, other) => {
                let unknown = Flag::Known(false);
                (only.unwrap_or(unknown), other.unwrap_or(unknown))
            }
        };
        if yes_flag == no_flag && matches!(yes_flag, Flag::Known(_)) {
            return Ok(yes_flag);
        }
        for (frame, flag) in [(yes.0, yes_flag), (no.0, no_flag)] {
            let value = self.flag(flag)?;
            self.graph.add_output(frame.block, value)?;
        }
        Ok(Flag::Value(self.graph.add_node_output(node, Type::Bool)?))
    }

    fn join_exits(&mut self, node: NodeId, yes: &Frame, no: &Frame) -> Result<()> {
        // Where nothing is known about a branch, because it throws or does not exit, its flag may have any value.
        let done = |frame: &Frame| (!frame.throws).then_some(frame.done);
        let goes_on = |frame: &Frame| (!frame.throws && frame.done != Flag::Known(false)).then_some(frame.goes_on);
        let returned = |frame: &Frame| (!frame.throws).then_some(frame.returned);
        if goes_on(yes).is_some() || goes_on(no).is_some() {
            let flag = self.join_flag(node, (yes, goes_on(yes)), (no, goes_on(no)))?;
            self.frame_mut().goes_on = flag;
        }
        let flag = self.join_flag(node, (yes, returned(yes)), (no, returned(no)))?;
        self.frame_mut().returned = flag;
        if yes.result.is_some() || no.result.is_some() {
            let mut kinds = Vec::new();
            for frame in [yes, no] {
                let value = match frame.result {
                    Some(value) => {
                        kinds.push(self.kind(value));
                        value
                    }
                    None => self.inside(frame, |compiler| compiler.uninitialized_result())?,
                };
                self.graph.add_output(frame.block, value)?;
            }
            let joined = self.declared.clone().or(self.merged.clone()).or(kinds.pop()).unwrap_or(Type::None);
            let output = self.graph.add_node_output(node, joined)?;
            self.results_changed(output);
            self.frame_mut().result = Some(output);
        }
        let flag = self.join_flag(node, (yes, done(yes)), (no, done(no)))?;
        self.frame_mut().done = flag;
        Ok(())
    }
}
