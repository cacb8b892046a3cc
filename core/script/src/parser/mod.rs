//! The parser: recursive descent over tokens, with a limit of nesting. `expr` reads expressions, `stmt` statements,
//! `decl` functions and classes.

mod decl;
mod expr;
mod stmt;

use crate::ast::{Expr, ExprId, ExprKind, Module, Name};
use crate::lexer::{self, Kind, Token};
use crate::source::{Source, Span};
use rushlight_base::{Error, Result};
use std::collections::HashMap;

/// How deep expressions may nest. With the limit of indentation it bounds the stack that the parser needs: less than
/// 128 KiB.
const MAX_DEPTH: u32 = 96;

struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    exprs: Vec<Expr>,
    names: HashMap<&'a str, Name>,
    depth: u32,
    in_format: bool,
}

/// Parses a file: classes, functions and imports, which have no effect.
pub fn parse_module(source: Source) -> Result<Module> {
    let mut parser = Parser::new(&source, lexer::tokens(&source)?);
    let items = parser.items(true)?;
    let exprs = parser.exprs;
    Ok(Module { source, items, exprs })
}

/// Parses functions only, as `torch::jit::compile` and `Module::define` take them.
pub fn parse_functions(source: Source) -> Result<Module> {
    let mut parser = Parser::new(&source, lexer::tokens(&source)?);
    let items = parser.items(false)?;
    let exprs = parser.exprs;
    Ok(Module { source, items, exprs })
}

/// Parses one expression, such as an annotation.
pub fn parse_expression(source: Source) -> Result<(Module, ExprId)> {
    let span = Span { start: 0, end: source.text().len() as u32 };
    let mut parser = Parser::new(&source, lexer::tokens_within(&source, span)?);
    let expr = parser.expr_list()?;
    parser.expect(Kind::End)?;
    let exprs = parser.exprs;
    Ok((Module { source, items: Vec::new(), exprs }, expr))
}

/// Parses the type comment of a function, `# type: (int, Tensor) -> Tensor`: the types of its parameters and of its
/// result.
pub fn parse_type_comment(source: Source) -> Result<(Module, Vec<ExprId>, ExprId)> {
    let comment = lexer::leading_type_comment(&source);
    let mut parser = Parser::new(&source, Vec::new());
    let Some(comment) = comment else {
        let span = Span { start: 0, end: source.text().len() as u32 };
        return Err(source.error(span, "expected a type comment such as # type: (int) -> int"));
    };
    let (params, returns) = parser.signature_comment(comment)?;
    let exprs = parser.exprs;
    Ok((Module { source, items: Vec::new(), exprs }, params, returns))
}

impl<'a> Parser<'a> {
    fn new(source: &'a Source, tokens: Vec<Token>) -> Parser<'a> {
        Parser { source, exprs: Vec::new(), tokens, at: 0, names: HashMap::new(), depth: 0, in_format: false }
    }

    fn peek(&self) -> Token {
        let end = Token { kind: Kind::End, span: self.end() };
        self.tokens.get(self.at).copied().unwrap_or(end)
    }

    fn kind(&self) -> Kind {
        self.peek().kind
    }

    /// The kind of the token after the next.
    fn second(&self) -> Kind {
        self.tokens.get(self.at + 1).map_or(Kind::End, |token| token.kind)
    }

    fn end(&self) -> Span {
        let end = self.source.text().len() as u32;
        Span { start: end, end }
    }

    fn advance(&mut self) -> Token {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, kind: Kind) -> Result<Span> {
        if self.kind() == kind { Ok(self.advance().span) } else { Err(self.unexpected(kind.name())) }
    }

    #[cold]
    fn unexpected(&self, wanted: &str) -> Error {
        let token = self.peek();
        self.error(token.span, &format!("expected {wanted} but found '{}' here", token.kind.name()))
    }

    #[cold]
    fn error(&self, span: Span, message: &str) -> Error {
        self.source.error(span, message)
    }

    /// The range of the token before the next.
    fn previous(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(Span::default(), |token| token.span)
    }

    fn text(&self, token: Token) -> &'a str {
        let source: &'a Source = self.source;
        source.slice(token.span)
    }

    fn intern(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| text.into()).clone()
    }

    fn name(&mut self) -> Result<Name> {
        self.expect(Kind::Name)?;
        let text = self.source.slice(self.previous());
        Ok(self.intern(text))
    }

    fn add(&mut self, kind: ExprKind, span: Span) -> ExprId {
        // Each expression has a token of its own, or is a slice between brackets, and offsets fit 32 bits.
        let id = ExprId(self.exprs.len() as u32);
        self.exprs.push(Expr { kind, span });
        id
    }

    fn span(&self, id: ExprId) -> Span {
        self.exprs.get(id.0 as usize).map_or(Span::default(), |expr| expr.span)
    }

    fn expr_kind(&self, id: ExprId) -> Option<&ExprKind> {
        self.exprs.get(id.0 as usize).map(|expr| &expr.kind)
    }

    /// Enters a level of nesting. An error ends parsing, so only success needs to leave the level.
    fn deepen(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error(self.peek().span, "the expression is nested too deeply"));
        }
        Ok(())
    }

    /// Runs `read` over the tokens of a part of the source, such as a type comment.
    fn within<T>(&mut self, span: Span, read: fn(&mut Self) -> Result<T>) -> Result<T> {
        self.deepen()?;
        let inner = lexer::tokens_within(self.source, span)?;
        let outer = std::mem::replace(&mut self.tokens, inner);
        let at = std::mem::replace(&mut self.at, 0);
        let result = read(self)?;
        self.expect(Kind::End)?;
        self.tokens = outer;
        self.at = at;
        self.depth -= 1;
        Ok(result)
    }

    /// The range of a type comment after `# type:`.
    fn comment_body(&self, comment: Token) -> Span {
        let text = self.text(comment);
        let start = text.find(':').map_or(text.len(), |colon| colon + 1);
        Span { start: comment.span.start + start as u32, end: comment.span.end }
    }

    /// The types in `# type: (A, B) -> C`.
    fn signature_comment(&mut self, comment: Token) -> Result<(Vec<ExprId>, ExprId)> {
        self.within(self.comment_body(comment), |parser| {
            parser.expect(Kind::Open)?;
            let mut params = Vec::new();
            while parser.kind() != Kind::Close {
                params.push(parser.expr()?);
                if !parser.eat(Kind::Comma) {
                    break;
                }
            }
            parser.expect(Kind::Close)?;
            parser.expect(Kind::Arrow)?;
            Ok((params, parser.expr()?))
        })
    }
}
