//! Recursive-descent parser of the signature grammar. Its errors state what was expected, what was found, and where.

use crate::{Alias, Argument, BaseType, Constant, Default, Detail, ListType, Name, Return, Signature, Type};
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
    /// The message, without the string and position.
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
        let mut parser = Parser { text, position: 0, depth: 0 };
        let signature = parser.signature()?;
        parser.skip_space();
        if parser.position < text.len() {
            return Err(parser.error("unexpected text after the signature"));
        }
        Ok(signature)
    }
}

/// How deep types and default values may nest. It bounds the recursion of the parser.
const MAX_DEPTH: usize = 16;

struct Parser<'a> {
    text: &'a str,
    position: usize,
    /// How many types or lists contain the current one.
    depth: usize,
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
        let (arguments, is_vararg) = self.arguments()?;
        self.expect("->", "before the returns")?;
        let (returns, is_varret) = self.returns()?;
        Ok(Signature {
            namespace: owned(namespace),
            name: owned(name),
            overload: owned(overload),
            arguments: arguments.into(),
            returns: returns.into(),
            is_vararg,
            is_varret,
        })
    }

    /// The arguments, and whether `...` follows them.
    fn arguments(&mut self) -> Result<(Vec<Argument>, bool), ParseError> {
        self.expect("(", "before the arguments")?;
        let mut arguments: Vec<Argument> = Vec::new();
        let mut kwarg_only = false;
        if self.accept(")") {
            return Ok((arguments, false));
        }
        loop {
            if self.accept("...") {
                self.expect(")", "after `...`")?;
                return Ok((arguments, true));
            }
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
                return Ok((arguments, false));
            }
            self.expect(",", "or `)` after an argument")?;
        }
    }

    fn argument(&mut self, kwarg_only: bool) -> Result<Argument, ParseError> {
        let ty = self.ty()?;
        let name = owned(self.identifier("an argument name")?);
        let mut default = None;
        if self.accept("=") {
            self.skip_space();
            let start = self.position;
            let value = self.default()?;
            if !fits(&value, &ty) {
                return Err(self.error_at(start, format!("the default {value} of `{name}` is not of type `{ty}`")));
            }
            default = Some(value);
        }
        Ok(Argument { name, ty, default, kwarg_only })
    }

    /// The returns, and whether `...` follows them.
    fn returns(&mut self) -> Result<(Vec<Return>, bool), ParseError> {
        if self.accept("...") {
            return Ok((Vec::new(), true));
        }
        if !self.accept("(") {
            return Ok((vec![self.returned()?], false));
        }
        let mut returns: Vec<Return> = Vec::new();
        if self.accept(")") {
            return Ok((returns, false));
        }
        loop {
            if self.accept("...") {
                self.expect(")", "after `...`")?;
                return Ok((returns, true));
            }
            returns.push(self.returned()?);
            if self.accept(")") {
                return Ok((returns, false));
            }
            self.expect(",", "or `)` after a return")?;
        }
    }

    /// A return: a type, and a name where one follows.
    fn returned(&mut self) -> Result<Return, ParseError> {
        let ty = self.ty()?;
        self.skip_space();
        let named = self.rest().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let name = if named { Some(owned(self.identifier("a return name")?)) } else { None };
        Ok(Return { name, ty })
    }

    fn ty(&mut self) -> Result<Type, ParseError> {
        let mut ty = self.nested(Parser::base_type)?;
        // `?` and `[]` may have a space before them, an alias annotation has none: `Tensor (a)` are two returns.
        loop {
            if self.rest().starts_with('(') && ty.alias.is_none() {
                ty.alias = Some(self.alias()?);
            } else if !ty.optional && self.accept("?") {
                ty.optional = true;
            } else if self.accept("[") {
                let size = self.list_size()?;
                self.expect("]", "after `[`")?;
                ty = self.list_of(ty, size)?;
            } else {
                return Ok(ty);
            }
        }
    }

    /// A list of `element`. `Tensor[](a)` says of the list what `Tensor(a)[]` says of its elements.
    fn list_of(&self, mut element: Type, size: Option<usize>) -> Result<Type, ParseError> {
        let list = Some(ListType { size, optional_elements: element.optional });
        element.optional = false;
        if element.list.is_none() {
            return Ok(Type { list, ..element });
        }
        let mut depth = self.depth;
        let mut inner = &element;
        while let ([next], BaseType::List) = (inner.inner(), inner.base) {
            inner = next;
            depth += 1;
        }
        if depth >= MAX_DEPTH {
            return Err(self.error("types nest too deeply"));
        }
        Ok(Type { detail: Detail::Types(vec![element].into()), list, ..Type::plain(BaseType::List) })
    }

    /// A type without `?`, `[]` and alias annotation.
    fn base_type(&mut self) -> Result<Type, ParseError> {
        self.skip_space();
        let start = self.position;
        if self.accept("(") {
            let types = self.types(")")?;
            return Ok(Type { detail: Detail::Types(types.into()), ..Type::plain(BaseType::Tuple) });
        }
        let word = self.identifier("a type")?;
        if word == "__torch__" {
            return self.class(start);
        }
        if is_variable(word) {
            return Ok(Type { detail: Detail::Name(owned(word)), ..Type::plain(BaseType::Variable) });
        }
        let base = BaseType::from_name(word).ok_or_else(|| self.error_at(start, format!("unknown type `{word}`")))?;
        let Some(count) = base.parameters() else { return Ok(Type::plain(base)) };
        let (open, close) = if base == BaseType::Union { ("[", "]") } else { ("(", ")") };
        self.expect(open, &format!("after `{word}`"))?;
        let types = self.types(close)?;
        if !count.contains(&types.len()) {
            return Err(self.error_at(start, format!("`{word}` has {} types, not {}", count.start(), types.len())));
        }
        Ok(Type { detail: Detail::Types(types.into()), ..Type::plain(base) })
    }

    /// The types up to `close`, separated by commas.
    fn types(&mut self, close: &str) -> Result<Vec<Type>, ParseError> {
        let mut types = Vec::new();
        if self.accept(close) {
            return Ok(types);
        }
        loop {
            types.push(self.ty()?);
            if self.accept(close) {
                return Ok(types);
            }
            self.expect(",", &format!("or `{close}` after a type"))?;
        }
    }

    /// A class such as `__torch__.torch.classes.quantized.Conv2dPackedParamsBase`, whose first word was read.
    fn class(&mut self, start: usize) -> Result<Type, ParseError> {
        while self.rest().starts_with('.') {
            self.position += 1;
            if self.rest().starts_with(char::is_whitespace) {
                return Err(self.error("expected a name after `.`"));
            }
            self.identifier("a name after `.`")?;
        }
        let name = owned(&self.text[start..self.position]);
        Ok(Type { detail: Detail::Name(name), ..Type::plain(BaseType::Class) })
    }

    /// Parses one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error("types or values nest too deeply"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
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
        Ok(Alias { sets: sets.into(), write, after: after.into() })
    }

    fn alias_sets(&mut self) -> Result<Vec<Name>, ParseError> {
        let mut sets = Vec::new();
        loop {
            if self.accept("*") {
                sets.push("*".into());
            } else {
                sets.push(owned(self.identifier("the name of an alias set")?));
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
            Some('[') => self.nested(Parser::default_list),
            Some(quote @ ('"' | '\'')) => self.default_string(quote),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.default_number(),
            _ => match self.identifier("a default value")? {
                "None" => Ok(Default::None),
                "True" => Ok(Default::Bool(true)),
                "False" => Ok(Default::Bool(false)),
                "inf" => Ok(Default::Float(f64::INFINITY)),
                "nan" => Ok(Default::Float(f64::NAN)),
                word => Constant::from_name(word)
                    .map(Default::Constant)
                    .ok_or_else(|| self.error_at(start, format!("unknown default value `{word}`"))),
            },
        }
    }

    fn default_list(&mut self) -> Result<Default, ParseError> {
        self.expect("[", "before a list")?;
        let mut items = Vec::new();
        if self.accept("]") {
            return Ok(Default::List(items.into()));
        }
        loop {
            items.push(self.default()?);
            if self.accept("]") {
                return Ok(Default::List(items.into()));
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
                return Ok(Default::Str(value.into()));
            }
            if character != '\\' {
                value.push(character);
                continue;
            }
            match characters.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, 'v')) => value.push('\u{b}'),
                Some((_, 'f')) => value.push('\u{c}'),
                Some((_, other)) => value.push(other),
                None => break,
            }
        }
        Err(self.error("this string does not end"))
    }

    fn default_number(&mut self) -> Result<Default, ParseError> {
        if self.accept("-inf") {
            return Ok(Default::Float(f64::NEG_INFINITY));
        }
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
            word.parse().map(Default::Float).map_err(|_| self.error("invalid number"))?
        } else {
            word.parse().map(Default::Int).map_err(|_| self.error("invalid 64-bit integer"))?
        };
        self.position += length;
        Ok(value)
    }
}

fn owned(name: &str) -> Name {
    Name::Owned(name.to_owned())
}

/// Whether `word` is the name of a type variable: `t`, `t1`, `tVal`.
fn is_variable(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('t') else { return false };
    rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit())
}

/// Whether `value` can be the default of an argument of type `ty`.
fn fits(value: &Default, ty: &Type) -> bool {
    match (value, ty.element()) {
        (Default::None, _) => ty.optional || matches!(ty.base, BaseType::NoneType | BaseType::Any),
        // A size states how often one value is repeated, not how long a list is (`int[2] stride=[]`,
        // `int[1] dim=[-2, -1]`).
        (Default::List(items), Some(element)) => items.iter().all(|item| fits(item, &element)),
        (Default::List(_), None) => ty.base == BaseType::Any,
        // One value stands for every element of a sized list.
        (value, Some(element)) => ty.list.is_some_and(|list| list.size.is_some()) && fits(value, &element),
        (value, None) => fits_base(value, ty.base),
    }
}

fn fits_base(value: &Default, base: BaseType) -> bool {
    use BaseType::{
        Any, Bool, Complex, Device, Float, Int, Layout, MemoryFormat, QScheme, Scalar, ScalarType, Str, Variable,
    };
    match value {
        Default::None | Default::List(_) => false,
        _ if matches!(base, Any | Variable) => true,
        Default::Bool(_) => matches!(base, Bool | Scalar),
        // PyTorch prints the named constants of the enumerations as their numbers.
        Default::Int(_) => {
            matches!(base, Int | Float | Complex | Scalar | ScalarType | Layout | MemoryFormat | QScheme)
        }
        Default::Float(_) => matches!(base, Float | Complex | Scalar),
        Default::Str(_) => matches!(base, Str | Device),
        Default::Constant(constant) => constant.base() == base,
    }
}
