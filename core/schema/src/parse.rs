//! Recursive-descent parser of the signature grammar. Its errors say what was expected, what stands there, and where.

use crate::{Alias, Argument, BaseType, Constant, Default, ListType, Return, Signature, Type};
use std::fmt::{self, Display};
use std::str::FromStr;

/// A signature that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
    text: String,
    position: usize,
}

impl ParseError {
    /// What is wrong, without the text and place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Byte offset in the text.
    pub fn position(&self) -> usize {
        self.position
    }
}

impl Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `position` is always a character boundary: the parser only stops at one.
        let column = self.text.get(..self.position).map_or(self.position, |head| head.chars().count()) + 1;
        let rest: String = self.text.get(self.position..).unwrap_or("").chars().take(24).collect();
        let near = if rest.is_empty() { "the end".to_string() } else { format!("`{rest}`") };
        write!(f, "{} at column {column} (at {near}) of operator schema \"{}\"", self.message, self.text)
    }
}

impl std::error::Error for ParseError {}

impl FromStr for Signature {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Signature, ParseError> {
        let mut parser = Parser { text, position: 0 };
        let signature = parser.signature()?;
        parser.skip_space();
        if parser.position < text.len() {
            return Err(parser.error("unexpected text after the signature"));
        }
        Ok(signature)
    }
}

struct Parser<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.position, message)
    }

    fn error_at(&self, position: usize, message: impl Into<String>) -> ParseError {
        ParseError { message: message.into(), text: self.text.into(), position }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    /// Steps over `token` if it is next (after spaces).
    fn accept(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str, place: &str) -> Result<(), ParseError> {
        if self.accept(token) { Ok(()) } else { Err(self.error(format!("expected `{token}` {place}"))) }
    }

    fn identifier(&mut self, what: &str) -> Result<&'a str, ParseError> {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        if word.is_empty() || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.error(format!("expected {what}")));
        }
        self.position += length;
        Ok(word)
    }

    fn signature(&mut self) -> Result<Signature, ParseError> {
        let mut name = self.identifier("an operator name")?;
        let mut namespace = "";
        if self.accept("::") {
            namespace = name;
            name = self.identifier("an operator name after `::`")?;
        }
        let overload = if self.accept(".") { self.identifier("an overload name after `.`")? } else { "" };
        let arguments = self.arguments()?;
        self.expect("->", "before the returns")?;
        let returns = self.returns()?;
        Ok(Signature { namespace: namespace.into(), name: name.into(), overload: overload.into(), arguments, returns })
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, ParseError> {
        self.expect("(", "before the arguments")?;
        let mut arguments: Vec<Argument> = Vec::new();
        let mut kwarg_only = false;
        if self.accept(")") {
            return Ok(arguments);
        }
        loop {
            self.skip_space();
            let start = self.position;
            if self.accept("*") {
                if kwarg_only {
                    return Err(self.error_at(start, "second `*` among the arguments"));
                }
                kwarg_only = true;
            } else {
                let argument = self.argument(kwarg_only)?;
                if arguments.iter().any(|earlier| earlier.name == argument.name) {
                    return Err(self.error_at(start, format!("second argument named `{}`", argument.name)));
                }
                let after_default = arguments.last().is_some_and(|earlier| earlier.default.is_some());
                if !kwarg_only && argument.default.is_none() && after_default {
                    let text = format!("argument `{}` needs a default: the one before it has one", argument.name);
                    return Err(self.error_at(start, text));
                }
                arguments.push(argument);
            }
            if self.accept(")") {
                if kwarg_only && arguments.last().is_none_or(|last| !last.kwarg_only) {
                    return Err(self.error("no argument after `*`"));
                }
                return Ok(arguments);
            }
            self.expect(",", "or `)` after an argument")?;
        }
    }

    fn argument(&mut self, kwarg_only: bool) -> Result<Argument, ParseError> {
        let ty = self.ty()?;
        let name = self.identifier("an argument name")?.to_string();
        let mut default = None;
        if self.accept("=") {
            self.skip_space();
            let start = self.position;
            let value = self.default()?;
            if !fits(&value, &ty) {
                return Err(self.error_at(start, format!("the default {value} of `{name}` is no `{ty}`")));
            }
            default = Some(value);
        }
        Ok(Argument { name, ty, default, kwarg_only })
    }

    fn returns(&mut self) -> Result<Vec<Return>, ParseError> {
        if !self.accept("(") {
            return Ok(vec![Return { name: None, ty: self.ty()? }]);
        }
        let mut returns: Vec<Return> = Vec::new();
        if self.accept(")") {
            return Ok(returns);
        }
        loop {
            let ty = self.ty()?;
            self.skip_space();
            let named = self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            let name = if named { Some(self.identifier("a return name")?.to_string()) } else { None };
            returns.push(Return { name, ty });
            if self.accept(")") {
                return Ok(returns);
            }
            self.expect(",", "or `)` after a return")?;
        }
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        self.skip_space();
        let start = self.position;
        let word = self.identifier("a type")?;
        let base =
            BaseType::from_name(word).ok_or_else(|| self.error_at(start, format!("there is no type `{word}`")))?;
        let mut alias = if self.rest().starts_with('(') { Some(self.alias()?) } else { None };
        let mut optional = self.accept("?");
        let mut list = None;
        if self.accept("[") {
            let size = self.list_size()?;
            self.expect("]", "after `[`")?;
            list = Some(ListType { size, optional_elements: optional });
            optional = self.accept("?");
            // `Tensor[](a)` says of the list what `Tensor(a)[]` says of its elements.
            if alias.is_none() && self.rest().starts_with('(') {
                alias = Some(self.alias()?);
            }
        }
        Ok(Type { base, alias, list, optional })
    }

    fn list_size(&mut self) -> Result<Option<usize>, ParseError> {
        self.skip_space();
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if length == 0 {
            return Ok(None);
        }
        let size = rest[..length].parse().map_err(|_| self.error("the size of a list is too large"))?;
        self.position += length;
        Ok(Some(size))
    }

    fn alias(&mut self) -> Result<Alias, ParseError> {
        self.expect("(", "before an alias annotation")?;
        let sets = self.alias_sets()?;
        let write = self.accept("!");
        let after = if self.accept("->") { self.alias_sets()? } else { Vec::new() };
        self.expect(")", "after an alias annotation")?;
        Ok(Alias { sets, write, after })
    }

    fn alias_sets(&mut self) -> Result<Vec<String>, ParseError> {
        let mut sets = Vec::new();
        loop {
            if self.accept("*") {
                sets.push("*".into());
            } else {
                sets.push(self.identifier("the name of an alias set")?.into());
            }
            if !self.accept("|") {
                return Ok(sets);
            }
        }
    }

    fn default(&mut self) -> Result<Default, ParseError> {
        self.skip_space();
        let start = self.position;
        match self.rest().chars().next() {
            Some('[') => self.default_list(),
            Some(quote @ ('"' | '\'')) => self.default_string(quote),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.default_number(),
            _ => match self.identifier("a default value")? {
                "None" => Ok(Default::None),
                "True" => Ok(Default::Bool(true)),
                "False" => Ok(Default::Bool(false)),
                word => Constant::from_name(word)
                    .map(Default::Constant)
                    .ok_or_else(|| self.error_at(start, format!("there is no default value `{word}`"))),
            },
        }
    }

    fn default_list(&mut self) -> Result<Default, ParseError> {
        self.expect("[", "before a list")?;
        let mut items = Vec::new();
        if self.accept("]") {
            return Ok(Default::List(items));
        }
        loop {
            self.skip_space();
            // Lists do not nest in the grammar; refusing here also bounds the depth of recursion.
            if self.rest().starts_with('[') {
                return Err(self.error("lists of lists are no default value"));
            }
            items.push(self.default()?);
            if self.accept("]") {
                return Ok(Default::List(items));
            }
            self.expect(",", "or `]` in a list")?;
        }
    }

    fn default_string(&mut self, quote: char) -> Result<Default, ParseError> {
        let start = self.position;
        let mut value = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            if character == quote {
                self.position = start + offset + 1;
                return Ok(Default::Str(value));
            }
            if character != '\\' {
                value.push(character);
                continue;
            }
            match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, other)) => value.push(other),
                None => break,
            }
        }
        Err(self.error("this string does not end"))
    }

    fn default_number(&mut self) -> Result<Default, ParseError> {
        let rest = self.rest();
        let mut length = 0;
        let mut previous = ' ';
        for character in rest.chars() {
            let sign = matches!(character, '+' | '-') && (length == 0 || matches!(previous, 'e' | 'E'));
            if !(sign || character.is_ascii_digit() || matches!(character, '.' | 'e' | 'E')) {
                break;
            }
            length += 1;
            previous = character;
        }
        let word = &rest[..length];
        let value = if word.contains(['.', 'e', 'E']) {
            word.parse().map(Default::Float).map_err(|_| self.error("this is no number"))?
        } else {
            word.parse().map(Default::Int).map_err(|_| self.error("this is no integer of 64 bits"))?
        };
        self.position += length;
        Ok(value)
    }
}

/// May `value` be the default of an argument of type `ty`?
fn fits(value: &Default, ty: &Type) -> bool {
    match (value, ty.list) {
        (Default::None, _) => ty.optional,
        // A size says what one value stands for, not how long a list is (`int[2] stride=[]`, `int[1] dim=[-2, -1]`).
        (Default::List(items), Some(_)) => items.iter().all(|item| fits_base(item, ty.base)),
        (Default::List(_), None) => false,
        // One value stands for every element of a sized list.
        (value, Some(list)) => list.size.is_some() && fits_base(value, ty.base),
        (value, None) => fits_base(value, ty.base),
    }
}

fn fits_base(value: &Default, base: BaseType) -> bool {
    match value {
        Default::None | Default::List(_) => false,
        Default::Bool(_) => matches!(base, BaseType::Bool | BaseType::Scalar),
        Default::Int(_) => matches!(base, BaseType::Int | BaseType::Float | BaseType::Scalar),
        Default::Float(_) => matches!(base, BaseType::Float | BaseType::Scalar),
        Default::Str(_) => base == BaseType::Str,
        Default::Constant(constant) => constant.base() == base,
    }
}
