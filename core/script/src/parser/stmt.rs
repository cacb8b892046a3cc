//! Statements.

use super::Parser;
use crate::ast::{BinaryOp, Block, ExprId, ExprKind, Stmt, StmtKind};
use crate::lexer::Kind;
use crate::source::Span;
use rushlight_base::Result;

/// Statements of Python that TorchScript does not have.
const UNSUPPORTED: [&str; 7] = ["try", "nonlocal", "yield", "async", "await", "match", "type"];

impl<'a> Parser<'a> {
    /// What follows the colon of a compound statement: a block, or statements on the same line.
    pub(super) fn block(&mut self) -> Result<Block> {
        let mut block = Vec::new();
        if !self.eat(Kind::Newline) {
            self.simple_line(&mut block)?;
            return Ok(block);
        }
        self.expect(Kind::Indent)?;
        self.statements(&mut block)?;
        Ok(block)
    }

    /// Statements up to the end of the block.
    pub(super) fn statements(&mut self, block: &mut Block) -> Result<()> {
        while !self.eat(Kind::Dedent) {
            match self.kind() {
                Kind::If => self.if_statement(block)?,
                Kind::While => self.while_statement(block)?,
                Kind::For => self.for_statement(block)?,
                Kind::With => self.with_statement(block)?,
                Kind::Def | Kind::At => self.nested_function(block)?,
                Kind::Class => {
                    return Err(self.error(self.peek().span, "classes inside of functions are not supported"));
                }
                _ => self.simple_line(block)?,
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn if_statement(&mut self, block: &mut Block) -> Result<()> {
        let start = self.advance().span;
        let mut branches = Vec::new();
        let condition = self.expr_list()?;
        let span = start.to(self.expect(Kind::Colon)?);
        branches.push((condition, self.block()?));
        while self.eat(Kind::Elif) {
            let condition = self.expr_list()?;
            self.expect(Kind::Colon)?;
            branches.push((condition, self.block()?));
        }
        let mut otherwise = Vec::new();
        if self.eat(Kind::Else) {
            self.expect(Kind::Colon)?;
            otherwise = self.block()?;
        }
        block.push(Stmt { kind: StmtKind::If { branches, otherwise }, span });
        Ok(())
    }

    #[inline(never)]
    fn while_statement(&mut self, block: &mut Block) -> Result<()> {
        let start = self.advance().span;
        let condition = self.expr_list()?;
        let span = start.to(self.expect(Kind::Colon)?);
        let body = self.block()?;
        self.no_else("while")?;
        block.push(Stmt { kind: StmtKind::While { condition, body }, span });
        Ok(())
    }

    #[inline(never)]
    fn for_statement(&mut self, block: &mut Block) -> Result<()> {
        let start = self.advance().span;
        let target = self.targets()?;
        self.check_target(target)?;
        self.expect(Kind::In)?;
        let iter = self.expr_list()?;
        let span = start.to(self.expect(Kind::Colon)?);
        let body = self.block()?;
        self.no_else("for")?;
        block.push(Stmt { kind: StmtKind::For { target, iter, body }, span });
        Ok(())
    }

    fn no_else(&self, statement: &str) -> Result<()> {
        if self.kind() == Kind::Else {
            let message = format!("else branches of {statement} loops aren't supported");
            return Err(self.error(self.peek().span, &message));
        }
        Ok(())
    }

    #[inline(never)]
    fn with_statement(&mut self, block: &mut Block) -> Result<()> {
        let start = self.advance().span;
        let mut items = Vec::new();
        loop {
            let context = self.expr()?;
            let mut target = None;
            if self.eat(Kind::As) {
                let name = self.expr()?;
                self.check_target(name)?;
                target = Some(name);
            }
            items.push((context, target));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let span = start.to(self.expect(Kind::Colon)?);
        let body = self.block()?;
        block.push(Stmt { kind: StmtKind::With { items, body }, span });
        Ok(())
    }

    #[inline(never)]
    fn nested_function(&mut self, block: &mut Block) -> Result<()> {
        let decorators = self.decorators()?;
        let function = self.function(decorators)?;
        let span = function.span;
        block.push(Stmt { kind: StmtKind::Function(Box::new(function)), span });
        Ok(())
    }

    /// Simple statements, separated by semicolons, and the newline.
    #[inline(never)]
    fn simple_line(&mut self, block: &mut Block) -> Result<()> {
        loop {
            let start = self.peek().span;
            let kind = self.simple()?;
            block.push(Stmt { kind, span: start.to(self.previous()) });
            if !self.eat(Kind::Semicolon) || self.kind() == Kind::Newline {
                break;
            }
        }
        self.expect(Kind::Newline)?;
        Ok(())
    }

    fn simple(&mut self) -> Result<StmtKind> {
        let token = self.peek();
        match token.kind {
            Kind::Break | Kind::Continue | Kind::Pass => {
                self.at += 1;
                Ok(match token.kind {
                    Kind::Break => StmtKind::Break,
                    Kind::Continue => StmtKind::Continue,
                    _ => StmtKind::Pass,
                })
            }
            Kind::Return => {
                self.at += 1;
                let value = if self.at_end() { None } else { Some(self.expr_list()?) };
                Ok(StmtKind::Return(value))
            }
            Kind::Raise => {
                self.at += 1;
                Ok(StmtKind::Raise(self.expr()?))
            }
            Kind::Assert => {
                self.at += 1;
                let test = self.expr()?;
                let message = if self.eat(Kind::Comma) { Some(self.expr()?) } else { None };
                Ok(StmtKind::Assert { test, message })
            }
            Kind::Del => self.delete(),
            Kind::Global => Err(self.error(token.span, "Unrecognized statement kind global")),
            Kind::Import => Err(self.error(token.span, "imports inside of functions are not supported")),
            _ => self.assignment(),
        }
    }

    fn at_end(&self) -> bool {
        matches!(self.kind(), Kind::Newline | Kind::Semicolon | Kind::End)
    }

    fn delete(&mut self) -> Result<StmtKind> {
        let start = self.advance().span;
        let mut targets = Vec::new();
        while self.kind() != Kind::Newline {
            let target = self.expr()?;
            if !matches!(self.expr_kind(target), Some(ExprKind::Name(_) | ExprKind::Subscript { .. })) {
                let message = "del statements are only supported for deleting list and dict items and variables";
                return Err(self.error(self.span(target), message));
            }
            targets.push(target);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        if targets.is_empty() {
            return Err(self.error(start, "del has nothing to delete"));
        }
        Ok(StmtKind::Delete(targets))
    }

    /// An expression, or an assignment of any form.
    fn assignment(&mut self) -> Result<StmtKind> {
        let first_token = self.peek();
        if first_token.kind == Kind::Name && self.may_be_keyword() {
            let word = self.text(first_token);
            let is_block = self.second() == Kind::Colon && word == "try";
            if UNSUPPORTED.contains(&word) && (is_block || self.second() != Kind::Colon) {
                return Err(self.error(first_token.span, &format!("'{word}' is not supported in TorchScript")));
            }
        }
        let first = self.expr_list()?;
        if let Some(op) = self.aug_op() {
            self.check_aug_target(first)?;
            self.at += 1;
            let value = self.expr_list()?;
            return Ok(StmtKind::AugAssign { target: first, op, value });
        }
        if self.eat(Kind::Colon) {
            return self.annotated(first);
        }
        if self.kind() != Kind::Equal {
            return Ok(StmtKind::Expr(first));
        }
        let mut targets = vec![first];
        while self.eat(Kind::Equal) {
            targets.push(self.expr_list()?);
        }
        let value = targets.pop();
        targets.iter().try_for_each(|&target| self.check_target(target))?;
        let comment = self.peek();
        let mut annotation = None;
        if comment.kind == Kind::TypeComment {
            annotation = Some(self.within(self.comment_body(comment), Parser::expr_list)?);
            self.at += 1;
        }
        Ok(StmtKind::Assign { targets, annotation, value })
    }

    /// Whether a name that begins a statement may be a keyword of Python, by the token after it.
    fn may_be_keyword(&self) -> bool {
        use Kind::*;
        matches!(self.second(), Name | Colon | Newline | Def | For | With)
    }

    fn annotated(&mut self, target: ExprId) -> Result<StmtKind> {
        if !matches!(self.expr_kind(target), Some(ExprKind::Name(_) | ExprKind::Attribute { .. })) {
            let message = "only variables and attributes can be annotated";
            return Err(self.error(self.span(target), message));
        }
        let annotation = Some(self.expr()?);
        let value = if self.eat(Kind::Equal) { Some(self.expr_list()?) } else { None };
        Ok(StmtKind::Assign { targets: vec![target], annotation, value })
    }

    fn aug_op(&self) -> Option<BinaryOp> {
        Some(match self.kind() {
            Kind::PlusEqual => BinaryOp::Add,
            Kind::MinusEqual => BinaryOp::Sub,
            Kind::StarEqual => BinaryOp::Mul,
            Kind::SlashEqual => BinaryOp::Div,
            Kind::SlashSlashEqual => BinaryOp::FloorDiv,
            Kind::PercentEqual => BinaryOp::Mod,
            Kind::StarStarEqual => BinaryOp::Pow,
            Kind::AtEqual => BinaryOp::MatMul,
            Kind::AmpersandEqual => BinaryOp::BitAnd,
            Kind::BarEqual => BinaryOp::BitOr,
            Kind::CaretEqual => BinaryOp::BitXor,
            Kind::LeftEqual => BinaryOp::LeftShift,
            Kind::RightEqual => BinaryOp::RightShift,
            _ => return None,
        })
    }

    fn check_aug_target(&self, target: ExprId) -> Result<()> {
        let span: Span = self.span(target);
        match self.expr_kind(target) {
            Some(ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. }) => Ok(()),
            Some(ExprKind::Tuple(_) | ExprKind::List(_)) => {
                Err(self.error(span, "augmented assignment can only have one LHS expression"))
            }
            _ => Err(self.error(span, "unexpected expression on left-hand side of augmented assignment")),
        }
    }
}
