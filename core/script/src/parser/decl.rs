//! Modules, classes and functions.

use super::Parser;
use crate::ast::{Class, ClassKind, ExprId, ExprKind, Function, Item, Member, Name, Param};
use crate::lexer::{Kind, Token};
use crate::source::Span;
use rushlight_base::Result;
use std::collections::HashSet;

/// The last names of the decorators that PyTorch knows.
const DECORATORS: [&str; 13] = [
    "export",
    "ignore",
    "unused",
    "script",
    "script_method",
    "script_if_tracing",
    "interface",
    "_overload",
    "_overload_method",
    "property",
    "setter",
    "staticmethod",
    "final",
];

impl<'a> Parser<'a> {
    /// Everything up to the end of the source; classes, imports and versions only if `module` is set.
    pub(super) fn items(&mut self, module: bool) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        loop {
            let token = self.peek();
            match token.kind {
                Kind::End => return Ok(items),
                Kind::Newline => self.at += 1,
                Kind::Def | Kind::At => {
                    let decorators = self.decorators()?;
                    items.push(if module && self.kind() == Kind::Class {
                        Item::Class(self.class(decorators)?)
                    } else {
                        Item::Function(self.function(decorators)?)
                    });
                }
                Kind::Class if module => items.push(Item::Class(self.class(Vec::new())?)),
                Kind::Import if module => self.skip_line(),
                Kind::Name if module && self.text(token) == "from" && self.second() != Kind::Equal => self.skip_line(),
                Kind::Name if module && self.text(token) == "op_version_set" => items.push(self.version()?),
                Kind::Str if module => {
                    self.expr()?;
                    self.expect(Kind::Newline)?;
                }
                _ => return Err(self.unexpected("def")),
            }
        }
    }

    fn skip_line(&mut self) {
        while !matches!(self.kind(), Kind::Newline | Kind::End) {
            self.at += 1;
        }
    }

    fn version(&mut self) -> Result<Item> {
        let start = self.advance().span;
        self.expect(Kind::Equal)?;
        let value = self.expr()?;
        let span = start.to(self.span(value));
        self.expect(Kind::Newline)?;
        match self.expr_kind(value) {
            Some(ExprKind::Int(version)) => Ok(Item::Version(*version, span)),
            _ => Err(self.error(span, "expected a version number")),
        }
    }

    pub(super) fn decorators(&mut self) -> Result<Vec<ExprId>> {
        let mut decorators = Vec::new();
        while self.eat(Kind::At) {
            let decorator = self.expr()?;
            let span = self.span(decorator);
            let mut name = self.source.slice(span);
            name = name.split('(').next().unwrap_or(name).trim_end();
            let last = name.rsplit('.').next().unwrap_or(name);
            if !DECORATORS.contains(&last) {
                return Err(self.error(span, &format!("the decorator '{name}' is not supported in TorchScript")));
            }
            decorators.push(decorator);
            self.expect(Kind::Newline)?;
        }
        Ok(decorators)
    }

    /// A function, from `def` to the end of its body.
    pub(super) fn function(&mut self, decorators: Vec<ExprId>) -> Result<Function> {
        let start = self.expect(Kind::Def)?;
        let name = self.name()?;
        let open = self.peek().span;
        let mut params = self.params()?;
        let list = open.to(self.previous());
        let mut returns = if self.eat(Kind::Arrow) { Some(self.expr()?) } else { None };
        let span = start.to(self.expect(Kind::Colon)?);
        let own_line = self.kind() == Kind::Newline && self.second() == Kind::TypeComment;
        if own_line {
            self.at += 1;
        }
        if self.kind() == Kind::TypeComment {
            let comment = self.advance();
            self.apply_comment(comment, &mut params, &mut returns, list)?;
        }
        let mut body = Vec::new();
        if own_line {
            self.expect(Kind::Indent)?;
            self.statements(&mut body)?;
        } else {
            body = self.block()?;
        }
        Ok(Function { name, decorators, params, returns, body, span })
    }

    /// Sets the annotations that a type comment holds. It may leave out `self`.
    fn apply_comment(
        &mut self,
        comment: Token,
        params: &mut [Param],
        returns: &mut Option<ExprId>,
        span: Span,
    ) -> Result<()> {
        if returns.is_some() {
            return Err(self.error(comment.span, "the function has both a type comment and annotations"));
        }
        let text = self.text(comment);
        let is_ellipsis = text.split_once(':').is_some_and(|(_, body)| body.trim_start().starts_with("(...)"));
        let (types, result) = self.signature_comment(comment)?;
        *returns = Some(result);
        if is_ellipsis {
            // `(...)`: each parameter has a type comment of its own.
            return Ok(());
        }
        let skipped = params.len().checked_sub(types.len());
        let has_self = params.first().is_some_and(|param| &*param.name == "self");
        if !(skipped == Some(0) || skipped == Some(1) && has_self) {
            let message = format!(
                "Number of type annotations ({}) did not match the number of function parameters ({})",
                types.len(),
                params.len()
            );
            return Err(self.error(span, &message));
        }
        for (param, annotation) in params.iter_mut().skip(skipped.unwrap_or(0)).zip(types) {
            if param.annotation.is_some() {
                return Err(self.error(comment.span, "the function has both a type comment and annotations"));
            }
            param.annotation = Some(annotation);
        }
        Ok(())
    }

    fn params(&mut self) -> Result<Vec<Param>> {
        self.expect(Kind::Open)?;
        let mut params: Vec<Param> = Vec::new();
        let mut keyword_only = false;
        let mut seen = HashSet::new();
        while self.kind() != Kind::Close {
            let start = self.peek().span;
            if self.kind() == Kind::TypeComment {
                self.param_comment(&mut params)?;
                continue;
            }
            if self.kind() == Kind::Star && !keyword_only && matches!(self.second(), Kind::Comma | Kind::Close) {
                self.at += 1;
                keyword_only = true;
            } else if matches!(self.kind(), Kind::Star | Kind::StarStar) {
                let message = "Compiled functions can't take variable number of arguments";
                return Err(self.error(start, message));
            } else {
                let name = self.name()?;
                let annotation = if self.eat(Kind::Colon) { Some(self.expr()?) } else { None };
                let default = if self.eat(Kind::Equal) { Some(self.expr()?) } else { None };
                let span = start.to(self.previous());
                if !seen.insert(name.clone()) {
                    return Err(self.error(span, &format!("duplicate argument '{name}' in function definition")));
                }
                if default.is_none() && !keyword_only && params.last().is_some_and(|param| param.default.is_some()) {
                    return Err(self.error(span, "non-default argument follows default argument"));
                }
                params.push(Param { name, annotation, default, keyword_only, span });
            }
            let has_comma = self.eat(Kind::Comma);
            if self.kind() == Kind::TypeComment {
                self.param_comment(&mut params)?;
            }
            if !has_comma {
                break;
            }
        }
        self.expect(Kind::Close)?;
        Ok(params)
    }

    /// `# type: int` after a parameter.
    fn param_comment(&mut self, params: &mut [Param]) -> Result<()> {
        let comment = self.advance();
        let annotation = self.within(self.comment_body(comment), Parser::expr_list)?;
        match params.last_mut() {
            Some(param) if param.annotation.is_none() => {
                param.annotation = Some(annotation);
                Ok(())
            }
            _ => Err(self.error(comment.span, "the type comment belongs to no parameter without annotation")),
        }
    }

    /// A class, from `class` to the end of its body.
    fn class(&mut self, decorators: Vec<ExprId>) -> Result<Class> {
        let start = self.expect(Kind::Class)?;
        let name = self.name()?;
        let mut span = start.to(self.previous());
        let mut base = None;
        if self.eat(Kind::Open) {
            if self.kind() != Kind::Close {
                base = Some(self.expr()?);
                if self.eat(Kind::Comma) && self.kind() != Kind::Close {
                    return Err(self.error(self.peek().span, "Torchscript does not support multiple inheritance"));
                }
            }
            span = span.to(self.expect(Kind::Close)?);
        }
        let mut kind = self.class_kind(base)?;
        if decorators.iter().any(|&id| self.source.slice(self.span(id)).ends_with("interface")) {
            kind = if kind == ClassKind::Module { ClassKind::ModuleInterface } else { ClassKind::Interface };
        }
        self.expect(Kind::Colon)?;
        let members = self.members()?;
        Ok(Class { name, kind, base, decorators, members, span })
    }

    fn class_kind(&self, base: Option<ExprId>) -> Result<ClassKind> {
        let Some(base) = base else { return Ok(ClassKind::Plain) };
        let name = self.source.slice(self.span(base));
        Ok(match name.rsplit('.').next().unwrap_or(name) {
            "Module" => ClassKind::Module,
            "NamedTuple" => ClassKind::NamedTuple,
            "Enum" | "IntEnum" => ClassKind::Enum,
            "Interface" => ClassKind::Interface,
            "ModuleInterface" => ClassKind::ModuleInterface,
            "Exception" => ClassKind::Exception,
            "object" => ClassKind::Plain,
            _ => return Err(self.error(self.span(base), "Torchscript does not support class inheritance.")),
        })
    }

    fn members(&mut self) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        if !self.eat(Kind::Newline) {
            // `class A: pass`
            self.member_line(&mut members)?;
            return Ok(members);
        }
        self.expect(Kind::Indent)?;
        while !self.eat(Kind::Dedent) {
            if matches!(self.kind(), Kind::Def | Kind::At) {
                let decorators = self.decorators()?;
                members.push(Member::Method(self.function(decorators)?));
            } else {
                self.member_line(&mut members)?;
            }
        }
        Ok(members)
    }

    fn member_line(&mut self, members: &mut Vec<Member>) -> Result<()> {
        let token = self.peek();
        match token.kind {
            Kind::Pass | Kind::Ellipsis => self.at += 1,
            Kind::Str => {
                self.expr()?;
            }
            Kind::Name => {
                let member = self.member()?;
                members.push(member);
            }
            _ => return Err(self.unexpected("an attribute or a method")),
        }
        self.expect(Kind::Newline)?;
        Ok(())
    }

    fn member(&mut self) -> Result<Member> {
        let start = self.peek().span;
        let name = self.name()?;
        match self.kind() {
            Kind::Colon => {
                self.at += 1;
                let annotation = self.expr()?;
                let value = if self.eat(Kind::Equal) { Some(self.expr_list()?) } else { None };
                Ok(Member::Attribute { name, annotation, value, span: start.to(self.previous()) })
            }
            Kind::OpenBracket if &*name == "__annotations__" => {
                self.at += 1;
                let key = self.expr()?;
                let name = self.string_name(key)?;
                self.expect(Kind::CloseBracket)?;
                self.expect(Kind::Equal)?;
                let annotation = self.expr()?;
                Ok(Member::Attribute { name, annotation, value: None, span: start.to(self.previous()) })
            }
            Kind::Equal => {
                self.at += 1;
                let value = self.expr_list()?;
                let span = start.to(self.previous());
                if name.starts_with("__") && name.ends_with("__") {
                    let Some(ExprKind::List(items)) = self.expr_kind(value) else {
                        return Err(self.error(span, &format!("expected a list of strings in {name}")));
                    };
                    let items = items.clone();
                    let names = items.into_iter().map(|item| self.string_name(item)).collect::<Result<_>>()?;
                    return Ok(Member::Names { field: name, names, span });
                }
                Ok(Member::Value { name, value, span })
            }
            _ => Err(self.unexpected("= or :")),
        }
    }

    fn string_name(&self, id: ExprId) -> Result<Name> {
        if let Some(ExprKind::Str(bytes)) = self.expr_kind(id)
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return Ok(text.into());
        }
        Err(self.error(self.span(id), "expected a string with a name"))
    }
}
