//! The literals of an example and their parser. The meaning of a literal depends on the type of the argument
//! (`value.rs`).

/// A literal of an example.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `None`
    None,
    /// `true`, `false`
    Bool(bool),
    /// `2`, `-1.5`, `1e-5`, `nan`, `-inf`, as written
    Number(String),
    /// `1+2j`: the real and the imaginary part, as written
    Complex(String, String),
    /// `"floor"`
    Text(String),
    /// `float64`, `channels_last`, `cpu`
    Word(String),
    /// `[...]`
    List(Vec<Literal>),
    /// `int8[1, 2]`, `float64(0.5)`
    Typed(DType, Box<Literal>),
    /// `shape [2, 0]`, `int64 shape [2, 0]`
    Shape(Option<DType>, Vec<usize>),
}

macro_rules! dtypes {
    ($($variant:ident $name:literal),*) => {
        /// The dtypes of tensors in examples.
        #[allow(missing_docs, reason = "the names say it")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum DType { $($variant),* }

        impl DType {
            /// The dtype of this name.
            pub fn parse(name: &str) -> Option<DType> {
                match name { $($name => Some(DType::$variant),)* _ => None }
            }

            /// `float32`
            pub fn name(self) -> &'static str {
                match self { $(DType::$variant => $name),* }
            }
        }
    };
}

dtypes! {
    Bool "bool", UInt8 "uint8", Int8 "int8", Int16 "int16", Int32 "int32", Int64 "int64", Float16 "float16",
    BFloat16 "bfloat16", Float32 "float32", Float64 "float64", Complex32 "complex32", Complex64 "complex64", Complex128 "complex128"
}

impl DType {
    /// Whether this is a floating point dtype.
    pub fn is_float(self) -> bool {
        matches!(self, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64)
    }

    /// Whether this is a complex dtype.
    pub fn is_complex(self) -> bool {
        matches!(self, DType::Complex32 | DType::Complex64 | DType::Complex128)
    }
}

/// Parses literals of an example.
pub struct Reader<'a> {
    /// The rest of the input.
    pub rest: &'a str,
}

impl<'a> Reader<'a> {
    /// Skips `token` and the blanks before it, if it comes next.
    pub fn takes(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Skips `token`, which must come next.
    pub fn needs(&mut self, token: &str) -> Result<(), String> {
        if self.takes(token) { Ok(()) } else { Err(format!("`{token}` is missing before {:?}", self.rest)) }
    }

    /// The next word, which is not consumed.
    fn word(&self) -> &'a str {
        let rest = self.rest.trim_start();
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &rest[..end] }
    }

    /// `name=`
    pub fn keyword(&mut self) -> Option<String> {
        let word = self.word();
        let after = self.rest.trim_start()[word.len()..].trim_start().strip_prefix('=')?;
        (!word.is_empty()).then(|| {
            self.rest = after;
            word.to_owned()
        })
    }

    /// Values between commas up to `end`; a comma before `end` is allowed.
    pub fn items(&mut self, end: &str) -> Result<Vec<Literal>, String> {
        let mut items = Vec::new();
        while !self.takes(end) {
            if !items.is_empty() {
                self.needs(",")?;
                if self.takes(end) {
                    break;
                }
            }
            items.push(self.literal()?);
        }
        Ok(items)
    }

    /// One value.
    pub fn literal(&mut self) -> Result<Literal, String> {
        if self.takes("[") {
            return Ok(Literal::List(self.items("]")?));
        }
        if self.takes("\"") {
            let (text, rest) = self.rest.split_once('"').ok_or("a string without closing quote")?;
            self.rest = rest;
            return Ok(Literal::Text(text.to_string()));
        }
        if let Some(number) = self.number() {
            return Ok(number);
        }
        let word = self.word();
        if word.is_empty() {
            return Err(format!("no value at {:?}", self.rest));
        }
        self.takes(word);
        match word {
            "true" => Ok(Literal::Bool(true)),
            "false" => Ok(Literal::Bool(false)),
            "None" => Ok(Literal::None),
            "shape" => Ok(Literal::Shape(None, self.sizes()?)),
            _ => match DType::parse(word) {
                Some(dtype) => self.typed(dtype, word),
                None => Ok(Literal::Word(word.to_owned())),
            },
        }
    }

    /// The rest of a literal after its dtype.
    fn typed(&mut self, dtype: DType, word: &str) -> Result<Literal, String> {
        if self.takes("[") {
            return Ok(Literal::Typed(dtype, Box::new(Literal::List(self.items("]")?))));
        }
        if self.takes("(") {
            let value = self.literal()?;
            self.needs(")")?;
            return Ok(Literal::Typed(dtype, Box::new(value)));
        }
        if self.word() == "shape" {
            self.takes("shape");
            return Ok(Literal::Shape(Some(dtype), self.sizes()?));
        }
        Ok(Literal::Word(word.to_owned()))
    }

    fn sizes(&mut self) -> Result<Vec<usize>, String> {
        self.needs("[")?;
        let size = |item: Literal| match item {
            Literal::Number(text) => text.parse().map_err(|_| format!("`{text}` is no size")),
            other => Err(format!("{other:?} is no size")),
        };
        self.items("]")?.into_iter().map(size).collect()
    }

    fn number(&mut self) -> Option<Literal> {
        let rest = self.rest.trim_start();
        let (first, after) = real(rest)?;
        if let Some(after) = after.strip_prefix('j') {
            self.rest = after;
            return Some(Literal::Complex("0".into(), first.to_owned()));
        }
        let imaginary = real(after).and_then(|(second, after)| Some((second, after.strip_prefix('j')?)));
        if let Some((second, after)) = imaginary.filter(|_| after.starts_with(['+', '-'])) {
            self.rest = after;
            return Some(Literal::Complex(first.to_owned(), second.trim_start_matches('+').to_owned()));
        }
        self.rest = after;
        Some(Literal::Number(first.trim_start_matches('+').to_owned()))
    }
}

/// A real number at the beginning of a string, and the rest of the string.
fn real(text: &str) -> Option<(&str, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let sign = text.len() - unsigned.len();
    for name in ["inf", "nan"] {
        if let Some(rest) = unsigned.strip_prefix(name) {
            let ends = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') || rest.starts_with('j');
            return ends.then_some((&text[..sign + name.len()], rest));
        }
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(unsigned);
    if length == 0 {
        return None;
    }
    if unsigned[length..].starts_with('.') && digits(&unsigned[length + 1..]) > 0 {
        length += 1 + digits(&unsigned[length + 1..]);
    }
    if let Some(exponent) = unsigned[length..].strip_prefix(['e', 'E']) {
        let digits_at = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits(digits_at) > 0 {
            length += 1 + exponent.len() - digits_at.len() + digits(digits_at);
        }
    }
    Some(text.split_at(sign + length))
}

/// Whether this number is written as an integer.
pub fn is_integer(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Literal, String> {
        let mut reader = Reader { rest: text };
        let literal = reader.literal()?;
        if reader.rest.is_empty() { Ok(literal) } else { Err(reader.rest.to_owned()) }
    }

    #[test]
    fn values_are_read() {
        let number = |text: &str| Literal::Number(text.into());
        let complex = |re: &str, im: &str| Literal::Complex(re.into(), im.into());
        let cases = [
            ("-1.5e-3", number("-1.5e-3")),
            ("-inf", number("-inf")),
            ("nan", number("nan")),
            ("1+2j", complex("1", "2")),
            ("1e3-0.5j", complex("1e3", "-0.5")),
            ("-2j", complex("0", "-2")),
            ("nan+infj", complex("nan", "inf")),
            ("None", Literal::None),
            ("channels_last", Literal::Word("channels_last".into())),
            ("float64", Literal::Word("float64".into())),
            ("float64(0.5)", Literal::Typed(DType::Float64, number("0.5").into())),
            ("int8 [1]", Literal::Typed(DType::Int8, Literal::List(vec![number("1")]).into())),
            ("shape [0, 3]", Literal::Shape(None, vec![0, 3])),
            ("int64 shape[]", Literal::Shape(Some(DType::Int64), vec![])),
            (
                "[1, [true, \"a\"],]",
                Literal::List(vec![number("1"), Literal::List(vec![Literal::Bool(true), Literal::Text("a".into())])]),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
        for text in ["", "[1 2]", "1.", "\"a", "shape 2", "shape [1.5]", "float64(1", "1+2", "]"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
