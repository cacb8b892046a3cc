//! The lexer: tokens with their ranges. Indentation becomes `Indent` and `Dedent`; inside brackets lines are joined.

use crate::source::{Source, Span};
use rushlight_base::Result;

macro_rules! tokens {
    ($($group:ident { $($Name:ident $text:literal)* })*) => {
        /// The kinds of tokens.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Kind { $($($Name,)*)* }

        impl Kind {
            /// How error messages name it.
            pub(crate) fn name(self) -> &'static str {
                match self { $($(Kind::$Name => $text,)*)* }
            }
        }

        $(#[allow(dead_code)] const $group: &[(&str, Kind)] = &[$(($text, Kind::$Name)),*];)*
    };
}

tokens! {
    CLASSES {
        Name "ident" Number "number" Str "string_literal" FString "f-string" Newline "newline" Indent "indent"
        Dedent "dedent" TypeComment "type comment" End "eof"
    }
    KEYWORDS {
        True "True" False "False" None "None" And "and" Or "or" Not "not" If "if" Elif "elif" Else "else"
        While "while" For "for" In "in" Is "is" Return "return" Def "def" Class "class" Import "import" Pass "pass"
        Break "break" Continue "continue" Raise "raise" Assert "assert" Del "del" With "with" As "as" Global "global"
    }
    // Longer ones first.
    OPERATORS {
        StarStarEqual "**=" SlashSlashEqual "//=" LeftEqual "<<=" RightEqual ">>=" Ellipsis "..."
        StarStar "**" SlashSlash "//" Left "<<" Right ">>" LessEqual "<=" GreaterEqual ">=" EqualEqual "=="
        NotEqual "!=" PlusEqual "+=" MinusEqual "-=" StarEqual "*=" SlashEqual "/=" PercentEqual "%=" AtEqual "@="
        AmpersandEqual "&=" BarEqual "|=" CaretEqual "^=" Arrow "->"
        Plus "+" Minus "-" Star "*" Slash "/" Percent "%" At "@" Ampersand "&" Bar "|" Caret "^" Tilde "~" Less "<"
        Greater ">" Open "(" Close ")" OpenBracket "[" CloseBracket "]" OpenBrace "{" CloseBrace "}" Comma "," Colon ":"
        Dot "." Semicolon ";" Equal "="
    }
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Width of a tab stop in indentation, as in Python.
const TAB: usize = 8;

/// How deep blocks may be indented.
pub(crate) const MAX_INDENT: usize = 100;

/// How deep brackets may nest: the parser's limit is lower, but its stack of brackets must not grow without bound.
const MAX_BRACKETS: usize = 1000;

/// How many tokens the lexer reserves memory for at first.
const FIRST_TOKENS: usize = 4096;

/// All tokens of a source, with `End` last.
pub(crate) fn tokens(source: &Source) -> Result<Vec<Token>> {
    let mut lexer = Lexer::new(source, 0, source.text().len());
    lexer.start_line()?;
    lexer.run()?;
    lexer.finish()
}

/// The tokens of a part of a source in which newlines mean nothing: a type comment, a value in an f-string.
pub(crate) fn tokens_within(source: &Source, span: Span) -> Result<Vec<Token>> {
    let mut lexer = Lexer::new(source, span.start as usize, span.end as usize);
    lexer.joined = true;
    lexer.run()?;
    lexer.finish()
}

/// The type comment that a source begins with.
pub(crate) fn leading_type_comment(source: &Source) -> Option<Token> {
    let mut lexer = Lexer::new(source, 0, source.text().len());
    lexer.at = source.text().len() - source.text().trim_start().len();
    lexer.type_comment();
    lexer.tokens.first().copied()
}

struct Lexer<'a> {
    source: &'a Source,
    text: &'a str,
    at: usize,
    tokens: Vec<Token>,
    indents: Vec<usize>,
    brackets: Vec<Kind>,
    /// Newlines are blanks everywhere.
    joined: bool,
    /// Whether the current line, or the one before if this one has no token yet, begins with `def`.
    in_def: bool,
    /// Whether the current line has a token.
    begun: bool,
}

impl<'a> Lexer<'a> {
    fn new(source: &'a Source, start: usize, end: usize) -> Lexer<'a> {
        let text = source.text().get(..end).unwrap_or("");
        Lexer {
            source,
            text,
            at: start,
            tokens: Vec::with_capacity((end - start.min(end)).min(FIRST_TOKENS * 4) / 4),
            indents: vec![0],
            brackets: Vec::new(),
            joined: false,
            in_def: false,
            begun: false,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let span = Span { start: self.at as u32, end: (self.at + length) as u32 };
        self.tokens.push(Token { kind, span });
        self.at += length;
    }

    fn invalid(&self) -> rushlight_base::Error {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        let span = Span { start: self.at as u32, end: (self.at + length) as u32 };
        self.source.error(span, "expected a valid token here")
    }

    /// Skips blank lines and comments, then compares the indentation of the next line with that of the blocks.
    fn start_line(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\x0c']).len();
            let after = rest.get(blank..).unwrap_or("");
            if after.starts_with('#') {
                self.at += blank;
                if self.in_def && self.type_comment() {
                    self.in_def = false;
                } else {
                    self.skip_comment();
                }
            } else if after.starts_with("\r\n") || after.starts_with('\n') || after.starts_with('\r') {
                self.at += blank;
            } else if after.is_empty() {
                self.at += blank;
                return Ok(());
            } else {
                let mut column = 0;
                for byte in rest.bytes().take(blank) {
                    column = if byte == b'\t' { (column / TAB + 1) * TAB } else { column + 1 };
                }
                self.at += blank;
                return self.indentation(column);
            }
            self.skip_newline();
        }
    }

    fn skip_newline(&mut self) {
        let rest = self.rest();
        self.at +=
            if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n') || rest.starts_with('\r')) };
    }

    fn skip_comment(&mut self) {
        self.at += self.rest().find(['\n', '\r']).unwrap_or(self.rest().len());
    }

    /// Reads a comment `# type: ...` (but not `# type: ignore`) as a token.
    fn type_comment(&mut self) -> bool {
        let comment = self.rest();
        let comment = comment.split(['\n', '\r']).next().unwrap_or("");
        let Some(rest) = comment.trim_start_matches('#').trim_start().strip_prefix("type:") else { return false };
        let body = rest.trim_start();
        if body.is_empty() || body.starts_with("ignore") {
            return false;
        }
        self.push(Kind::TypeComment, comment.len());
        true
    }

    fn indentation(&mut self, column: usize) -> Result<()> {
        let here = Span { start: self.at as u32, end: self.at as u32 };
        let current = self.indents.last().copied().unwrap_or(0);
        if self.indents.len() == 1 && self.tokens.is_empty() {
            // The first line sets the indentation of the file: a class may quote indented code.
            self.indents = vec![column];
        } else if column > current {
            if self.indents.len() > MAX_INDENT {
                return Err(self.source.error(here, "the code is indented too deeply"));
            }
            self.indents.push(column);
            self.push(Kind::Indent, 0);
        } else if column < current {
            while self.indents.len() > 1 && self.indents.last().is_some_and(|&indent| indent > column) {
                self.indents.pop();
                self.push(Kind::Dedent, 0);
            }
            if self.indents.last() != Some(&column) {
                return Err(self.source.error(here, format!("invalid indent level {column}")));
            }
        }
        self.begun = false;
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else { return Ok(()) };
            match first {
                ' ' | '\t' | '\x0c' => self.at += 1,
                '\n' | '\r' if self.joined || !self.brackets.is_empty() => self.at += 1,
                '\n' | '\r' => {
                    let length = if rest.starts_with("\r\n") { 2 } else { 1 };
                    self.push(Kind::Newline, length);
                    self.start_line()?;
                }
                '#' => {
                    if self.joined || !self.type_comment() {
                        self.skip_comment();
                    }
                }
                '\\' if rest.starts_with("\\\n") => self.at += 2,
                '\\' if rest.starts_with("\\\r\n") => self.at += 3,
                _ => self.token(first)?,
            }
        }
    }

    fn token(&mut self, first: char) -> Result<()> {
        let rest = self.rest();
        let second = rest.chars().nth(1).unwrap_or(' ');
        if first.is_ascii_digit() || first == '.' && second.is_ascii_digit() {
            let length = number_length(rest);
            self.push(Kind::Number, length);
        } else if let Some((prefix, quote)) = string_start(rest) {
            let Some(length) = string_length(rest, prefix, quote) else { return Err(self.invalid_string(prefix)) };
            let is_format = rest.get(..prefix).is_some_and(|prefix| prefix.contains(['f', 'F']));
            self.push(if is_format { Kind::FString } else { Kind::Str }, length);
        } else if first == '_' || first.is_alphabetic() {
            let length = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or("");
            let kind = KEYWORDS.iter().find(|(text, _)| *text == word).map_or(Kind::Name, |&(_, kind)| kind);
            if !self.begun {
                self.in_def = kind == Kind::Def;
            }
            self.push(kind, length);
        } else {
            let Some(&(text, kind)) = OPERATORS.iter().find(|(text, _)| rest.starts_with(text)) else {
                return Err(self.invalid());
            };
            self.bracket(kind)?;
            self.push(kind, text.len());
        }
        self.begun = true;
        Ok(())
    }

    fn invalid_string(&self, prefix: usize) -> rushlight_base::Error {
        let start = (self.at + prefix) as u32;
        self.source.error(Span { start, end: start + 1 }, "expected a valid token: the string has no end")
    }

    fn bracket(&mut self, kind: Kind) -> Result<()> {
        match kind {
            Kind::Open | Kind::OpenBracket | Kind::OpenBrace => {
                if self.brackets.len() >= MAX_BRACKETS {
                    let span = Span { start: self.at as u32, end: self.at as u32 + 1 };
                    return Err(self.source.error(span, "the brackets are nested too deeply"));
                }
                self.brackets.push(kind);
            }
            Kind::Close | Kind::CloseBracket | Kind::CloseBrace => {
                self.brackets.pop();
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the last line and all blocks.
    fn finish(mut self) -> Result<Vec<Token>> {
        let ended =
            self.tokens.last().is_none_or(|token| matches!(token.kind, Kind::Newline | Kind::Indent | Kind::Dedent));
        // An open bracket has to be reported first.
        if self.brackets.is_empty() {
            if !ended && !self.joined {
                self.push(Kind::Newline, 0);
            }
            for _ in 1..self.indents.len() {
                self.push(Kind::Dedent, 0);
            }
        }
        self.push(Kind::End, 0);
        Ok(self.tokens)
    }
}

/// The length of the number at the start of `text`. Its value is checked later.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let digits = |mut index: usize, accept: fn(&u8) -> bool| {
        while accept(&at(index)) || at(index) == b'_' && accept(&at(index + 1)) {
            index += 1;
        }
        index
    };
    if at(0) == b'0' {
        let based = match at(1) {
            b'x' | b'X' => digits(2, u8::is_ascii_hexdigit),
            b'o' | b'O' | b'b' | b'B' => digits(2, u8::is_ascii_digit),
            _ => 0,
        };
        if based > 2 {
            return based;
        }
    }
    let mut end = digits(0, u8::is_ascii_digit);
    if at(end) == b'.' {
        end = digits(end + 1, u8::is_ascii_digit);
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(end + 1 + sign).is_ascii_digit() {
            end = digits(end + 1 + sign, u8::is_ascii_digit);
        }
    }
    if matches!(at(end), b'j' | b'J') {
        end += 1;
    }
    end
}

/// Length of the prefix, and the quote, if a string starts here.
fn string_start(text: &str) -> Option<(usize, char)> {
    let prefix = text.bytes().take_while(|byte| byte.is_ascii_alphabetic()).take(3).count();
    let quote = text.get(prefix..)?.chars().next().filter(|&quote| quote == '"' || quote == '\'')?;
    let letters = text.get(..prefix)?.to_ascii_lowercase();
    matches!(letters.as_str(), "" | "r" | "u" | "f" | "rf" | "fr").then_some((prefix, quote))
}

/// The length of the string at the start of `text`, if it ends.
fn string_length(text: &str, prefix: usize, quote: char) -> Option<usize> {
    let body = text.get(prefix..)?;
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let end = if body.starts_with(&triple) { triple.len() } else { 1 };
    let closing = triple.get(..end)?;
    let bytes = text.as_bytes();
    let mut index = prefix + end;
    loop {
        match bytes.get(index)? {
            b'\\' => index += 2,
            b'\n' | b'\r' if end == 1 => return None,
            byte if *byte == quote as u8 && text.get(index..).is_some_and(|rest| rest.starts_with(closing)) => {
                return Some(index + end);
            }
            _ => index += 1,
        }
    }
}
