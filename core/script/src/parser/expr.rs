//! Expressions, by precedence climbing.

use super::Parser;
use crate::ast::{BinaryOp, Clause, CompareOp, ExprId, ExprKind, LogicalOp, Part, UnaryOp};
use crate::lexer::Kind;
use crate::literal::{self, Number};
use crate::source::Span;
use rushlight_base::Result;
use std::collections::HashSet;

/// The precedence of the operands of a comparison, which excludes `in`.
const ABOVE_COMPARISON: u8 = BinaryOp::BitOr.precedence();

enum Operator {
    Binary(BinaryOp),
    Logical(LogicalOp),
    Compare,
}

impl<'a> Parser<'a> {
    /// An expression without commas at its top level.
    pub(super) fn expr(&mut self) -> Result<ExprId> {
        let then = self.binary(0)?;
        if self.kind() == Kind::If { self.ternary(then) } else { Ok(then) }
    }

    #[inline(never)]
    fn ternary(&mut self, then: ExprId) -> Result<ExprId> {
        self.deepen()?;
        self.expect(Kind::If)?;
        let condition = self.binary(0)?;
        self.expect(Kind::Else)?;
        let otherwise = self.expr()?;
        self.depth -= 1;
        let span = self.span(then).to(self.span(otherwise));
        Ok(self.add(ExprKind::Ternary { condition, then, otherwise }, span))
    }

    /// Values separated by commas, a tuple if there is a comma. Each may be starred.
    pub(super) fn expr_list(&mut self) -> Result<ExprId> {
        self.list_of(Parser::starred)
    }

    /// The targets of a loop: no comparison, because `in` follows.
    pub(super) fn targets(&mut self) -> Result<ExprId> {
        self.list_of(|parser| {
            let start = parser.peek().span;
            if !parser.eat(Kind::Star) {
                return parser.binary(ABOVE_COMPARISON);
            }
            let value = parser.binary(ABOVE_COMPARISON)?;
            let span = start.to(parser.span(value));
            Ok(parser.add(ExprKind::Starred(value), span))
        })
    }

    fn list_of(&mut self, one: fn(&mut Self) -> Result<ExprId>) -> Result<ExprId> {
        let first = one(self)?;
        if self.kind() != Kind::Comma {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.eat(Kind::Comma) && self.starts_expr() {
            items.push(one(self)?);
        }
        let span = self.span(first).to(self.previous());
        Ok(self.add(ExprKind::Tuple(items), span))
    }

    /// Whether the next token can begin an expression.
    fn starts_expr(&self) -> bool {
        use Kind::*;
        matches!(
            self.kind(),
            Name | Number
                | Str
                | FString
                | True
                | False
                | None
                | Not
                | Ellipsis
                | Plus
                | Minus
                | Tilde
                | Star
                | Open
                | OpenBracket
                | OpenBrace
        )
    }

    fn starred(&mut self) -> Result<ExprId> {
        let start = self.peek().span;
        if !self.eat(Kind::Star) {
            return self.expr();
        }
        let value = self.binary(ABOVE_COMPARISON)?;
        let span = start.to(self.span(value));
        Ok(self.add(ExprKind::Starred(value), span))
    }

    /// An expression whose operators bind at least as strongly as `min`.
    fn binary(&mut self, min: u8) -> Result<ExprId> {
        self.deepen()?;
        let mut left = match self.kind() {
            Kind::Not if min <= UnaryOp::Not.precedence() => self.unary(UnaryOp::Not)?,
            Kind::Minus => self.unary(UnaryOp::Neg)?,
            Kind::Plus => self.unary(UnaryOp::Pos)?,
            Kind::Tilde => self.unary(UnaryOp::Invert)?,
            _ => self.postfix()?,
        };
        while let Some((operator, precedence)) = self.operator() {
            if precedence < min {
                break;
            }
            left = match operator {
                Operator::Compare => self.comparison(left)?,
                Operator::Binary(op) => {
                    self.at += 1;
                    // `**` associates to the right, and `-` may follow it.
                    let above = if op == BinaryOp::Pow { UnaryOp::Neg.precedence() } else { precedence + 1 };
                    let right = self.binary(above)?;
                    self.joined(left, right, ExprKind::Binary(op, left, right))
                }
                Operator::Logical(op) => {
                    self.at += 1;
                    let right = self.binary(precedence + 1)?;
                    self.joined(left, right, ExprKind::Logical(op, left, right))
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn joined(&mut self, left: ExprId, right: ExprId, kind: ExprKind) -> ExprId {
        let span = self.span(left).to(self.span(right));
        self.add(kind, span)
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let binary = |op: BinaryOp| Some((Operator::Binary(op), op.precedence()));
        match self.kind() {
            Kind::Or => Some((Operator::Logical(LogicalOp::Or), LogicalOp::Or.precedence())),
            Kind::And => Some((Operator::Logical(LogicalOp::And), LogicalOp::And.precedence())),
            Kind::Bar => binary(BinaryOp::BitOr),
            Kind::Caret => binary(BinaryOp::BitXor),
            Kind::Ampersand => binary(BinaryOp::BitAnd),
            Kind::Left => binary(BinaryOp::LeftShift),
            Kind::Right => binary(BinaryOp::RightShift),
            Kind::Plus => binary(BinaryOp::Add),
            Kind::Minus => binary(BinaryOp::Sub),
            Kind::Star => binary(BinaryOp::Mul),
            Kind::Slash => binary(BinaryOp::Div),
            Kind::SlashSlash => binary(BinaryOp::FloorDiv),
            Kind::Percent => binary(BinaryOp::Mod),
            Kind::At => binary(BinaryOp::MatMul),
            Kind::StarStar => binary(BinaryOp::Pow),
            _ => self.compare_op().map(|(op, _)| (Operator::Compare, op.precedence())),
        }
    }

    /// A comparison operator, and how many tokens it has.
    fn compare_op(&self) -> Option<(CompareOp, usize)> {
        Some(match (self.kind(), self.second()) {
            (Kind::Less, _) => (CompareOp::Less, 1),
            (Kind::LessEqual, _) => (CompareOp::LessEqual, 1),
            (Kind::Greater, _) => (CompareOp::Greater, 1),
            (Kind::GreaterEqual, _) => (CompareOp::GreaterEqual, 1),
            (Kind::EqualEqual, _) => (CompareOp::Equal, 1),
            (Kind::NotEqual, _) => (CompareOp::NotEqual, 1),
            (Kind::Is, Kind::Not) => (CompareOp::IsNot, 2),
            (Kind::Is, _) => (CompareOp::Is, 1),
            (Kind::In, _) => (CompareOp::In, 1),
            (Kind::Not, Kind::In) => (CompareOp::NotIn, 2),
            _ => return None,
        })
    }

    #[inline(never)]
    fn comparison(&mut self, first: ExprId) -> Result<ExprId> {
        let mut rest = Vec::new();
        while let Some((op, length)) = self.compare_op() {
            self.at += length;
            rest.push((op, self.binary(ABOVE_COMPARISON)?));
        }
        let span = self.span(first).to(self.previous());
        Ok(self.add(ExprKind::Compare(first, rest), span))
    }

    #[inline(never)]
    fn unary(&mut self, op: UnaryOp) -> Result<ExprId> {
        let start = self.advance().span;
        if op == UnaryOp::Neg && self.kind() == Kind::Number && self.second() != Kind::StarStar {
            let token = self.peek();
            if let Number::MinusMinimum = literal::number(self.source, token.span)? {
                self.at += 1;
                return Ok(self.add(ExprKind::Int(i64::MIN), start.to(token.span)));
            }
        }
        let operand = self.binary(op.precedence())?;
        let span = start.to(self.span(operand));
        Ok(self.add(ExprKind::Unary(op, operand), span))
    }

    /// An atom with its attributes, calls and subscripts.
    fn postfix(&mut self) -> Result<ExprId> {
        let start = self.peek().span;
        let mut value = self.atom()?;
        loop {
            let kind = match self.kind() {
                Kind::Dot => {
                    self.at += 1;
                    ExprKind::Attribute { value, name: self.name()? }
                }
                Kind::Open => self.call(value)?,
                Kind::OpenBracket => self.subscript(value)?,
                _ => return Ok(value),
            };
            value = self.add(kind, start.to(self.previous()));
        }
    }

    #[inline(never)]
    fn call(&mut self, function: ExprId) -> Result<ExprKind> {
        self.expect(Kind::Open)?;
        let mut args = Vec::new();
        let mut keywords = Vec::new();
        let mut seen = HashSet::new();
        while self.kind() != Kind::Close {
            let start = self.peek();
            if start.kind == Kind::StarStar {
                return Err(self.error(start.span, "arguments after ** are not supported"));
            }
            if start.kind == Kind::Name && self.second() == Kind::Equal {
                let name = self.name()?;
                if !seen.insert(name.clone()) {
                    return Err(self.error(start.span, &format!("keyword argument repeated: {name}")));
                }
                self.at += 1;
                let value = self.expr()?;
                keywords.push((name, value));
            } else {
                if !keywords.is_empty() {
                    return Err(self.error(start.span, "positional argument follows keyword argument"));
                }
                let mut value = self.starred()?;
                if self.kind() == Kind::For {
                    let clauses = self.clauses()?;
                    let span = start.span.to(self.previous());
                    value = self.add(ExprKind::ListComp(value, clauses), span);
                }
                args.push(value);
            }
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close)?;
        Ok(ExprKind::Call { function, args, keywords })
    }

    #[inline(never)]
    fn subscript(&mut self, value: ExprId) -> Result<ExprKind> {
        let open = self.expect(Kind::OpenBracket)?;
        let mut index = Vec::new();
        while self.kind() != Kind::CloseBracket {
            index.push(self.index()?);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let close = self.expect(Kind::CloseBracket)?;
        if index.is_empty() {
            return Err(self.error(open.to(close), "expected an index but found none"));
        }
        Ok(ExprKind::Subscript { value, index })
    }

    fn index(&mut self) -> Result<ExprId> {
        let start = self.peek().span;
        let mut parts = [None; 3];
        if self.kind() != Kind::Colon {
            let first = self.starred()?;
            if self.kind() != Kind::Colon {
                return Ok(first);
            }
            parts[0] = Some(first);
        }
        for part in parts.iter_mut().skip(1) {
            if !self.eat(Kind::Colon) {
                break;
            }
            if !matches!(self.kind(), Kind::Colon | Kind::Comma | Kind::CloseBracket) {
                *part = Some(self.expr()?);
            }
        }
        Ok(self.add(ExprKind::Slice(parts), start.to(self.previous())))
    }

    fn atom(&mut self) -> Result<ExprId> {
        match self.kind() {
            Kind::Open => self.parentheses(),
            Kind::OpenBracket => self.list(),
            Kind::OpenBrace => self.dict(),
            Kind::Str | Kind::FString => self.string(),
            _ => self.simple_atom(),
        }
    }

    #[inline(never)]
    fn simple_atom(&mut self) -> Result<ExprId> {
        let token = self.peek();
        let kind = match token.kind {
            Kind::Name => {
                let text = self.text(token);
                if matches!(text, "lambda" | "yield" | "await") && matches!(self.second(), Kind::Name | Kind::Colon) {
                    return Err(self.error(token.span, &format!("'{text}' is not supported in TorchScript")));
                }
                ExprKind::Name(self.intern(text))
            }
            Kind::Number => match literal::number(self.source, token.span)? {
                Number::Int(value) => ExprKind::Int(value),
                Number::Float(value) => ExprKind::Float(value),
                Number::Imaginary(value) => ExprKind::Imaginary(value),
                Number::MinusMinimum => {
                    let message = "Integral constant out of range (must fit in a signed 64 bit integer)";
                    return Err(self.error(token.span, message));
                }
            },
            Kind::True => ExprKind::Bool(true),
            Kind::False => ExprKind::Bool(false),
            Kind::None => ExprKind::None,
            Kind::Ellipsis => ExprKind::Ellipsis,
            _ => return Err(self.unexpected("ident")),
        };
        self.at += 1;
        Ok(self.add(kind, token.span))
    }

    /// A tuple, a generator, or an expression in parentheses.
    #[inline(never)]
    fn parentheses(&mut self) -> Result<ExprId> {
        let open = self.expect(Kind::Open)?;
        if self.kind() == Kind::Close {
            let close = self.advance().span;
            return Ok(self.add(ExprKind::Tuple(Vec::new()), open.to(close)));
        }
        let first = self.starred()?;
        let kind = match self.kind() {
            Kind::Comma => {
                let items = self.items_after(first, Kind::Close)?;
                ExprKind::Tuple(items)
            }
            Kind::For => ExprKind::ListComp(first, self.clauses()?),
            _ => {
                self.expect(Kind::Close)?;
                return Ok(first);
            }
        };
        let close = self.expect(Kind::Close)?;
        Ok(self.add(kind, open.to(close)))
    }

    #[inline(never)]
    fn list(&mut self) -> Result<ExprId> {
        let open = self.expect(Kind::OpenBracket)?;
        let mut kind = ExprKind::List(Vec::new());
        if self.kind() != Kind::CloseBracket {
            let first = self.starred()?;
            kind = if self.kind() == Kind::For {
                ExprKind::ListComp(first, self.clauses()?)
            } else {
                ExprKind::List(self.items_after(first, Kind::CloseBracket)?)
            };
        }
        let close = self.expect(Kind::CloseBracket)?;
        Ok(self.add(kind, open.to(close)))
    }

    fn items_after(&mut self, first: ExprId, end: Kind) -> Result<Vec<ExprId>> {
        let mut items = vec![first];
        while self.eat(Kind::Comma) && self.kind() != end {
            items.push(self.starred()?);
        }
        Ok(items)
    }

    #[inline(never)]
    fn dict(&mut self) -> Result<ExprId> {
        let open = self.expect(Kind::OpenBrace)?;
        let mut items = Vec::new();
        while self.kind() != Kind::CloseBrace {
            let key = self.expr()?;
            self.expect(Kind::Colon)?;
            let value = self.expr()?;
            if items.is_empty() && self.kind() == Kind::For {
                let clauses = self.clauses()?;
                let close = self.expect(Kind::CloseBrace)?;
                return Ok(self.add(ExprKind::DictComp(key, value, clauses), open.to(close)));
            }
            items.push((key, value));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let close = self.expect(Kind::CloseBrace)?;
        Ok(self.add(ExprKind::Dict(items), open.to(close)))
    }

    #[inline(never)]
    fn clauses(&mut self) -> Result<Vec<Clause>> {
        let mut clauses = Vec::new();
        while self.eat(Kind::For) {
            let target = self.targets()?;
            self.check_target(target)?;
            self.expect(Kind::In)?;
            let iter = self.binary(0)?;
            let mut conditions = Vec::new();
            while self.eat(Kind::If) {
                conditions.push(self.binary(0)?);
            }
            clauses.push(Clause { target, iter, conditions });
        }
        Ok(clauses)
    }

    /// Adjacent strings are one string.
    #[inline(never)]
    fn string(&mut self) -> Result<ExprId> {
        let start = self.peek().span;
        let mut parts = Vec::new();
        let mut is_format = false;
        while matches!(self.kind(), Kind::Str | Kind::FString) {
            let token = self.advance();
            let (body, raw) = literal::string_body(self.source, token.span);
            if token.kind == Kind::Str {
                self.add_text(body, raw, &mut parts)?;
            } else if self.in_format {
                return Err(self.error(token.span, "f-strings inside of f-strings are not supported"));
            } else {
                is_format = true;
                self.in_format = true;
                self.format(body, raw, &mut parts)?;
                self.in_format = false;
            }
        }
        let kind = match parts.as_mut_slice() {
            _ if is_format => ExprKind::Format(parts),
            [Part::Text(text)] => ExprKind::Str(std::mem::take(text).into()),
            _ => ExprKind::Str(Box::default()),
        };
        Ok(self.add(kind, start.to(self.previous())))
    }

    fn add_text(&self, span: Span, raw: bool, parts: &mut Vec<Part>) -> Result<()> {
        if let Some(Part::Text(text)) = parts.last_mut() {
            return literal::unescape(self.source, span, raw, text);
        }
        let mut text = Vec::new();
        literal::unescape(self.source, span, raw, &mut text)?;
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(())
    }

    /// The body of an f-string: `{{` and `}}` are braces, `{value}` is an expression.
    fn format(&mut self, body: Span, raw: bool, parts: &mut Vec<Part>) -> Result<()> {
        let text = self.source.slice(body);
        let bytes = text.as_bytes();
        let span = |start: usize, end: usize| Span { start: body.start + start as u32, end: body.start + end as u32 };
        let mut start = 0;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if byte != b'{' && byte != b'}' {
                at += 1;
            } else if bytes.get(at + 1) == Some(&byte) {
                self.add_text(span(start, at + 1), raw, parts)?;
                at += 2;
                start = at;
            } else if byte == b'}' {
                return Err(self.error(span(at, at + 1), "a single '}' is not allowed in an f-string"));
            } else {
                self.add_text(span(start, at), raw, parts)?;
                let Some(end) = value_end(bytes, at + 1) else {
                    return Err(self.error(span(at, at + 1), "expected } but found the end of the f-string"));
                };
                match bytes.get(end) {
                    Some(b'!') => {
                        return Err(self.error(span(end, end + 1), "Don't support conversion in JoinedStr"));
                    }
                    Some(b':') => {
                        return Err(self.error(span(end, end + 1), "Don't support formatting in JoinedStr"));
                    }
                    _ => {}
                }
                let value = self.within(span(at + 1, end), |parser| parser.expr_list())?;
                parts.push(Part::Value(value));
                at = end + 1;
                start = at;
            }
        }
        self.add_text(span(start, bytes.len()), raw, parts)
    }

    /// Fails unless a value can be assigned to the expression.
    pub(super) fn check_target(&self, id: ExprId) -> Result<()> {
        match self.expr_kind(id) {
            Some(ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. }) => Ok(()),
            Some(ExprKind::Starred(value)) => self.check_target(*value),
            Some(ExprKind::Tuple(items) | ExprKind::List(items)) => {
                items.iter().try_for_each(|&item| self.check_target(item))
            }
            _ => Err(self.error(self.span(id), "unexpected expression on left-hand side of assignment")),
        }
    }
}

/// Where the value that starts at `at` ends: the offset of `}`, `!` or `:` outside of brackets and strings.
fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    loop {
        let byte = *bytes.get(at)?;
        match (quote, byte) {
            (Some(_), b'\\') => at += 1,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b'}' | b':') if depth == 0 => return Some(at),
            (None, b'!') if depth == 0 && bytes.get(at + 1) != Some(&b'=') => return Some(at),
            (None, b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
}
