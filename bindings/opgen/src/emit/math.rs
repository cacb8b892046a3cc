//! Typesets the formulas of declarations as MathML.
//!
//! A formula is a line of text such as `out_i = self_i / (1 + |self_i|) if self_i > 0, else 0`: names with subscripts
//! (`out_i`), powers (`e^(-x)`), products (`*`), quotients (`/`, a fraction if both sides are single factors), calls,
//! indices, sums (`sum over k = 0, ..., n of x_k`), and words. Words and commas at the top level stay outside of the
//! mathematics, so that long formulas break into lines.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::slice::Iter;

/// Letters that are written as words.
const GREEK: [(&str, &str); 18] = [
    ("alpha", "α"),
    ("beta", "β"),
    ("gamma", "γ"),
    ("delta", "δ"),
    ("eps", "ε"),
    ("epsilon", "ε"),
    ("theta", "θ"),
    ("lambda", "λ"),
    ("lambd", "λ"),
    ("mu", "μ"),
    ("pi", "π"),
    ("phi", "φ"),
    ("psi", "ψ"),
    ("rho", "ρ"),
    ("sigma", "σ"),
    ("tau", "τ"),
    ("Gamma", "Γ"),
    ("Phi", "Φ"),
];

/// Functions that would be taken for words.
const FUNCTIONS: [&str; 47] = [
    "acos", "acosh", "angle", "arcsin", "argmax", "argmin", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "conj",
    "cos", "cosh", "det", "diag", "digamma", "erf", "erfc", "erfinv", "exp", "floor", "frac", "gcd", "imag", "inf",
    "lcm", "ln", "log", "log2", "max", "mean", "min", "mod", "real", "round", "sigmoid", "sign", "sin", "sinh",
    "softmax", "softplus", "sqrt", "tan", "tanh", "var",
];

/// Operators that are written with several characters, the longer ones first.
const OPERATORS: [(&str, &str); 17] = [
    ("...", "…"),
    ("+=", "+="),
    ("-=", "-="),
    ("*=", "*="),
    ("<=", "≤"),
    (">=", "≥"),
    ("!=", "≠"),
    ("==", "="),
    ("->", "→"),
    ("<<", "≪"),
    (">>", "≫"),
    ("**", "^"),
    ("*", "⋅"),
    ("-", "−"),
    ("~", "∼"),
    ("<", "&lt;"),
    (">", "&gt;"),
];

/// A formula as HTML: mathematics, and text between it. `names` are those of arguments and results.
pub fn html(formula: &str, names: &BTreeSet<String>) -> String {
    let tokens = tokens(formula, names);
    let mut parser = Parser { tokens: tokens.iter().peekable() };
    let mut html = String::new();
    let mut open = false;
    for item in parser.sequence(None) {
        let is_text = matches!(item.kind, Kind::Text | Kind::Break);
        if is_text == open {
            html.push_str(if open { "</math>" } else { "<math>" });
            open = !open;
        }
        if is_text && item.kind == Kind::Text && !html.is_empty() {
            html.push(' ');
        }
        html.push_str(&item.markup);
        if is_text {
            html.push(' ');
        }
    }
    if open {
        html.push_str("</math>");
    }
    html.replace("  ", " ").trim_end().to_owned()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(String),
    /// A name of the formula, and its subscript.
    Name(String, Option<String>),
    /// A word of the language.
    Word(String),
    /// An operator or a bracket.
    Sign(String),
    /// Adjacent to the token before it: `f(x)`, `x[i]`.
    Joined,
}

fn tokens(formula: &str, names: &BTreeSet<String>) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = formula;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
            continue;
        }
        let adjacent =
            formula.len() > rest.len() && !formula[..formula.len() - rest.len()].ends_with(char::is_whitespace);
        let length = if first.is_ascii_digit() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            rest[..digits].trim_end_matches('.').len()
        } else if first.is_alphabetic() {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if first == '"' {
            rest[1..].find('"').map_or(rest.len(), |end| end + 2)
        } else {
            OPERATORS.iter().find(|(text, _)| rest.starts_with(text)).map_or(first.len_utf8(), |(text, _)| text.len())
        };
        let (token, tail) = rest.split_at(length);
        rest = tail;
        if first.is_ascii_digit() {
            found.push(Token::Number(token.to_owned()));
        } else if first.is_alphabetic() {
            found.push(name_or_word(token, names));
        } else if first == '"' {
            found.push(Token::Word(token.to_owned()));
        } else {
            if adjacent
                && matches!(first, '(' | '[')
                && !matches!(found.last(), Some(Token::Sign(_) | Token::Word(_)) | None)
            {
                found.push(Token::Joined);
            }
            found.push(Token::Sign(token.to_owned()));
        }
    }
    articles(&mut found);
    found
}

/// `a` before a word is an article.
fn articles(tokens: &mut [Token]) {
    for at in 1..tokens.len() {
        let (before, after) = tokens.split_at_mut(at);
        if matches!(&before[at - 1], Token::Name(name, None) if name == "a") && matches!(after[0], Token::Word(_)) {
            before[at - 1] = Token::Word("a".into());
        }
    }
}

fn name_or_word(token: &str, names: &BTreeSet<String>) -> Token {
    let known = |name: &str| names.contains(name) || name == "out";
    if known(token) {
        return Token::Name(token.to_owned(), None);
    }
    // The longest known name with a subscript, or else the first part.
    let underscores: Vec<usize> = token.match_indices('_').map(|(at, _)| at).collect();
    let split = underscores.iter().rev().find(|&&at| known(&token[..at])).or(underscores.first());
    if let Some(&at) = split.filter(|&&at| at > 0 && at + 1 < token.len()) {
        return Token::Name(token[..at].to_owned(), Some(token[at + 1..].to_owned()));
    }
    let plain = token.chars().count() == 1
        || FUNCTIONS.contains(&token)
        || GREEK.iter().any(|(name, _)| *name == token)
        || token.starts_with(|c: char| c.is_uppercase())
        || token.ends_with(|c: char| c.is_ascii_digit());
    if plain { Token::Name(token.to_owned(), None) } else { Token::Word(token.to_owned()) }
}

/// What a part of a formula is for its neighbors.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A factor: a number, a name, a call.
    Factor,
    /// A factor in parentheses; the markup between them.
    Group(String),
    /// An operator.
    Operator,
    /// Words.
    Text,
    /// A comma or semicolon, after which a line may break.
    Break,
}

#[derive(Clone, Debug)]
struct Item {
    markup: String,
    kind: Kind,
}

impl Item {
    fn factor(markup: String) -> Item {
        Item { markup, kind: Kind::Factor }
    }

    /// Without its parentheses: the bar of a fraction and a raised position group as well.
    fn bare(&self) -> String {
        match &self.kind {
            Kind::Group(inner) => format!("<mrow>{inner}</mrow>"),
            _ => self.markup.clone(),
        }
    }

    fn is_factor(&self) -> bool {
        matches!(self.kind, Kind::Factor | Kind::Group(_))
    }
}

struct Parser<'a> {
    tokens: Peekable<Iter<'a, Token>>,
}

impl Parser<'_> {
    /// Items up to the closing bracket, which is consumed, or to the end.
    fn sequence(&mut self, closing: Option<&str>) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        while let Some(token) = self.tokens.peek() {
            if let (Token::Sign(sign), Some(closing)) = (token, closing)
                && sign == closing
            {
                self.tokens.next();
                break;
            }
            let item = self.item(closing.is_none());
            let above = items.last().is_some_and(Item::is_factor);
            if item.kind == Kind::Operator && item.markup == "<mo>/</mo>" && above {
                let numerator = items.pop();
                let denominator = self.factor();
                match (numerator, denominator) {
                    (Some(over), Some(under)) => {
                        items.push(Item::factor(format!("<mfrac>{}{}</mfrac>", over.bare(), under.bare())));
                    }
                    (over, _) => items.extend(over.into_iter().chain([item])),
                }
            } else if let (Kind::Text, Some(Item { kind: Kind::Text, markup })) = (&item.kind, items.last_mut()) {
                markup.push(' ');
                markup.push_str(&item.markup);
            } else {
                items.push(item);
            }
        }
        items
    }

    /// The markup of a sequence within mathematics.
    fn inner(&mut self, closing: &str) -> String {
        let items = self.sequence(Some(closing));
        items
            .into_iter()
            .map(|item| match item.kind {
                Kind::Text => format!("<mtext>&nbsp;{}&nbsp;</mtext>", item.markup),
                _ => item.markup,
            })
            .collect()
    }

    fn item(&mut self, top: bool) -> Item {
        if let Some(Token::Word(word)) = self.tokens.peek() {
            let word = word.clone();
            self.tokens.next();
            if (word == "sum" || word == "product")
                && let Some(item) = self.sum(if word == "sum" { "∑" } else { "∏" })
            {
                return item;
            }
            return Item { markup: escape(&word), kind: Kind::Text };
        }
        if let Some(item) = self.factor() {
            return item;
        }
        match self.tokens.next() {
            Some(Token::Sign(sign)) if top && matches!(sign.as_str(), "," | ";") => {
                Item { markup: sign.clone(), kind: Kind::Break }
            }
            Some(Token::Sign(sign)) => {
                let shown = OPERATORS
                    .iter()
                    .find(|(text, _)| text == sign)
                    .map_or_else(|| escape(sign), |(_, shown)| (*shown).into());
                Item { markup: format!("<mo>{shown}</mo>"), kind: Kind::Operator }
            }
            _ => Item { markup: String::new(), kind: Kind::Operator },
        }
    }

    /// `sum over k = 0, ..., n of`, behind its first word. `None`: the words that follow are others.
    fn sum(&mut self, sign: &str) -> Option<Item> {
        let mut ahead = self.tokens.clone();
        if ahead.next() != Some(&Token::Word("over".into())) {
            return None;
        }
        let mut depth = 0usize;
        let mut range = Vec::new();
        loop {
            match ahead.next()? {
                Token::Word(word) if word == "of" && depth == 0 => break,
                token => {
                    match token {
                        Token::Sign(bracket) if matches!(bracket.as_str(), "(" | "[") => depth += 1,
                        Token::Sign(bracket) if matches!(bracket.as_str(), ")" | "]") => {
                            depth = depth.checked_sub(1)?
                        }
                        Token::Sign(end) if end == ";" => return None,
                        _ => {}
                    }
                    range.push(token.clone());
                }
            }
        }
        self.tokens = ahead;
        let mut parser = Parser { tokens: range.iter().peekable() };
        let range = parser.inner("\0");
        Some(Item { markup: format!("<munder><mo>{sign}</mo><mrow>{range}</mrow></munder>"), kind: Kind::Operator })
    }

    /// A factor with its calls, indices and powers.
    fn factor(&mut self) -> Option<Item> {
        let mut item = match self.tokens.peek()? {
            Token::Number(number) => Item::factor(format!("<mn>{number}</mn>")),
            Token::Name(name, subscript) => Item::factor(named(name, subscript.as_deref())),
            Token::Sign(sign) if sign == "(" => {
                self.tokens.next();
                let inner = self.inner(")");
                let markup = format!("<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>");
                return Some(self.raised(Item { markup, kind: Kind::Group(inner) }));
            }
            _ => return None,
        };
        let name = match self.tokens.next() {
            Some(Token::Name(name, None)) => name.as_str(),
            _ => "",
        };
        while let Some(Token::Joined) = self.tokens.peek() {
            self.tokens.next();
            let Some(Token::Sign(bracket)) = self.tokens.next() else { break };
            item = match (bracket.as_str(), name) {
                ("(", "sqrt") => Item::factor(format!("<msqrt>{}</msqrt>", self.inner(")"))),
                ("(", "floor") => Item::factor(format!("<mrow><mo>⌊</mo>{}<mo>⌋</mo></mrow>", self.inner(")"))),
                ("(", "ceil") => Item::factor(format!("<mrow><mo>⌈</mo>{}<mo>⌉</mo></mrow>", self.inner(")"))),
                ("(", _) => {
                    Item::factor(format!("<mrow>{}<mo>(</mo>{}<mo>)</mo></mrow>", item.markup, self.inner(")")))
                }
                _ => Item::factor(format!("<mrow>{}<mo>[</mo>{}<mo>]</mo></mrow>", item.markup, self.inner("]"))),
            };
        }
        Some(self.raised(item))
    }

    /// With the power that follows.
    fn raised(&mut self, item: Item) -> Item {
        if self.tokens.peek() != Some(&&Token::Sign("^".into())) {
            return item;
        }
        self.tokens.next();
        let minus = self.tokens.next_if(|token| **token == Token::Sign("-".into())).map_or("", |_| "<mo>−</mo>");
        match self.factor() {
            Some(power) => Item::factor(format!("<msup>{}<mrow>{minus}{}</mrow></msup>", item.markup, power.bare())),
            None => Item::factor(format!("<msup>{}<mrow>{minus}</mrow></msup>", item.markup)),
        }
    }
}

fn named(name: &str, subscript: Option<&str>) -> String {
    let letter = |name: &str| {
        GREEK.iter().find(|(word, _)| *word == name).map_or(name.to_owned(), |(_, letter)| (*letter).into())
    };
    let plain = match name {
        "sum" => "<mo>∑</mo>".to_owned(),
        _ => format!("<mi>{}</mi>", letter(name)),
    };
    match subscript {
        None => plain,
        Some(below) if name == "sum" => format!("<munder>{plain}<mi>{}</mi></munder>", letter(below)),
        Some(below) if below.chars().all(|c| c.is_ascii_digit()) => format!("<msub>{plain}<mn>{below}</mn></msub>"),
        Some(below) => format!("<msub>{plain}<mi>{}</mi></msub>", letter(below)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(formula: &str) -> String {
        html(formula, &["self", "grad_output", "lambd"].map(String::from).into())
    }

    #[test]
    fn subscripts_belong_to_names_with_underscores() {
        assert_eq!(
            html_of("out_i = grad_output_i"),
            "<math><msub><mi>out</mi><mi>i</mi></msub><mo>=</mo><msub><mi>grad_output</mi><mi>i</mi></msub></math>"
        );
    }

    #[test]
    fn quotients_of_factors_are_fractions_without_parentheses() {
        assert_eq!(
            html_of("1 / (x + 2) * y"),
            "<math><mfrac><mn>1</mn><mrow><mi>x</mi><mo>+</mo><mn>2</mn></mrow></mfrac><mo>⋅</mo><mi>y</mi></math>"
        );
    }

    #[test]
    fn words_stand_between_the_mathematics() {
        assert_eq!(
            html_of("x if x > lambd, else 0"),
            "<math><mi>x</mi></math> if <math><mi>x</mi><mo>&gt;</mo><mi>λ</mi></math>, else <math><mn>0</mn></math>"
        );
    }

    #[test]
    fn powers_and_sums_have_their_own_positions() {
        assert_eq!(
            html_of("sum over k = 0, ..., n of e^(-k)"),
            "<math><munder><mo>∑</mo><mrow><mi>k</mi><mo>=</mo><mn>0</mn><mo>,</mo><mo>…</mo><mo>,</mo><mi>n</mi></mrow></munder>\
             <msup><mi>e</mi><mrow><mrow><mo>−</mo><mi>k</mi></mrow></mrow></msup></math>"
        );
        assert_eq!(
            html_of("sqrt(x)^-1"),
            "<math><msup><msqrt><mi>x</mi></msqrt><mrow><mo>−</mo><mn>1</mn></mrow></msup></math>"
        );
    }

    /// Every element that is opened is closed, in every formula of the declarations.
    #[test]
    fn all_formulas_are_well_formed() {
        for op in crate::load().unwrap().iter().flat_map(|family| &family.ops) {
            let html = html(&op.doc.formula, &BTreeSet::new());
            let mut open = Vec::new();
            for tag in html.split('<').skip(1).filter_map(|part| part.split_once('>')).map(|(tag, _)| tag) {
                match tag.strip_prefix('/') {
                    Some(name) => assert_eq!(open.pop(), Some(name), "{}: {html}", op.name()),
                    None => open.push(tag),
                }
            }
            assert!(open.is_empty(), "{}: {html}", op.name());
        }
    }
}
