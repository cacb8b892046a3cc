//! Parses the formulas of derivatives: the names that they use, and how they use them. The generated code saves exactly
//! these values for backward; an unknown name is an error of the declaration.

use std::collections::BTreeMap;

/// The part of a value that a formula uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Only metadata, such as `x.sizes()` and `x.dtype()`: no memory is kept alive.
    Metadata,
    /// The value itself.
    Whole,
}

/// The names of one formula.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The outputs whose gradient is read: `grad` is that of the first, `grad_<output>` that of another.
    pub gradients: Vec<usize>,
    /// Arguments and outputs.
    pub values: BTreeMap<String, Use>,
    /// Outputs of which it reads whether they have a gradient: `given` for the first, `given_<output>` for another.
    pub given: Vec<usize>,
    /// Whether the formula reads `needs`, the array of the inputs that require a gradient.
    pub needs: bool,
}

/// Methods that read only the metadata of a tensor, not its elements.
const METADATA: [&str; 8] = ["sizes", "dtype", "ndim", "numel", "options", "device", "zeros", "geometry"];
/// Words that are not names of values.
const WORDS: [&str; 12] = ["true", "false", "if", "else", "let", "mut", "match", "as", "move", "None", "Some", "Ok"];
/// The allowed first segments of a path (`formulas::sum`, `i64::MAX`).
const PATHS: [&str; 7] = ["formulas", "i64", "f64", "usize", "Expr", "Scalar", "DType"];

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Path,
    Symbol(char),
    Literal,
}

/// Finds the names that `text` uses. `arguments` are the schema's names, `outputs` those of `Op::output_names`.
pub fn uses(text: &str, arguments: &[&str], outputs: &[String]) -> Result<Uses, String> {
    let tokens = tokens(text)?;
    let mut closure_parameters = Vec::new();
    for window in tokens.windows(3) {
        if let [Token::Symbol('|'), Token::Word(name), Token::Symbol('|' | ',')] = window {
            closure_parameters.push(*name);
        }
    }
    let mut uses = Uses::default();
    for (index, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let previous = index.checked_sub(1).map(|index| &tokens[index]);
        let next = tokens.get(index + 1);
        if matches!(previous, Some(Token::Symbol('.') | Token::Path)) || WORDS.contains(word) {
            continue;
        }
        if next == Some(&Token::Path) {
            if !PATHS.contains(word) {
                return Err(format!("`{word}::` is no path of formulas (known: {})", PATHS.join(", ")));
            }
            continue;
        }
        if closure_parameters.contains(word) || matches!(*word, "i64" | "f64" | "usize") {
            continue;
        }
        if *word == "needs" {
            uses.needs = true;
        } else if let Some(output) = output_of("grad", word, outputs) {
            if !uses.gradients.contains(&output) {
                uses.gradients.push(output);
            }
        } else if let Some(output) = output_of("given", word, outputs) {
            if !uses.given.contains(&output) {
                uses.given.push(output);
            }
        } else if arguments.contains(word) || outputs.iter().any(|output| output == word) {
            let metadata = match tokens.get(index + 1..index + 4) {
                Some([Token::Symbol('.'), Token::Word(method), Token::Symbol('(')]) => METADATA.contains(method),
                _ => false,
            };
            let found = if metadata { Use::Metadata } else { Use::Whole };
            let entry = uses.values.entry(word.to_string()).or_insert(found);
            *entry = (*entry).max(found);
        } else {
            return Err(format!(
                "`{word}` is unknown here (arguments: {}; outputs: {}; gradients: grad, grad_<output>; given, given_<output>)",
                arguments.join(", "),
                outputs.join(", ")
            ));
        }
    }
    Ok(uses)
}

/// `text` with the schema's names in Rust spelling (`self` is `self_`, `A` is `a`).
pub fn to_rust(text: &str) -> String {
    let mut rust = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let word_length =
            rest[start..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len() - start);
        let (before, word) = (&rest[..start], &rest[start..start + word_length]);
        rust.push_str(before);
        let inner = rust.ends_with([':', '.']);
        rest = &rest[start + word_length..];
        // Only `self` is both the name of an argument and a keyword; other keywords in formulas are keywords.
        if word == "self" {
            rust.push_str("self_");
        } else if inner || rest.starts_with("::") || WORDS.contains(&word) {
            rust.push_str(word);
        } else {
            rust.push_str(&word.to_lowercase());
        }
    }
    rust + rest
}

/// The output that this name speaks of: `grad` of the first, `grad_<output>` of another.
fn output_of(prefix: &str, word: &str, outputs: &[String]) -> Option<usize> {
    match word.strip_prefix(prefix)? {
        "" => Some(0),
        rest => outputs.iter().position(|name| Some(name.as_str()) == rest.strip_prefix('_')),
    }
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..length]));
            length
        } else if first.is_ascii_digit() {
            // A point belongs to the number only before another digit (`2.0`, but not `2.max(x)`).
            let mut length = 0;
            for (offset, character) in rest.char_indices() {
                let point = character == '.' && rest[offset + 1..].starts_with(|c: char| c.is_ascii_digit());
                if !(point || character.is_ascii_alphanumeric() || character == '_') {
                    break;
                }
                length = offset + character.len_utf8();
            }
            tokens.push(Token::Literal);
            length
        } else if first == '"' {
            let length = rest[1..].find('"').ok_or("a string in the formula does not end")? + 2;
            tokens.push(Token::Literal);
            length
        } else if rest.starts_with("::") {
            tokens.push(Token::Path);
            2
        } else if first.is_ascii_punctuation() {
            tokens.push(Token::Symbol(first));
            1
        } else {
            return Err(format!("`{first}` has no place in a formula"));
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Result<Uses, String> {
        uses(text, &["self", "other", "dim", "weight"], &["result".to_string(), "indices".to_string()])
    }

    #[test]
    fn names_are_found_with_their_use() {
        let uses = found("grad.sum_to(&self.sizes()) * other.conj() - formulas::f(self.dtype(), Some(&[dim]), 2.0)");
        let uses = uses.unwrap();
        assert_eq!(uses.gradients, [0]);
        let values: Vec<_> = uses.values.iter().map(|(name, used)| (name.as_str(), *used)).collect();
        assert_eq!(values, [("dim", Use::Whole), ("other", Use::Whole), ("self", Use::Metadata)]);
    }

    #[test]
    fn one_whole_use_is_enough() {
        let uses = found("self * self.ndim() + indices.sizes().map(|size| size + i64::MAX)").unwrap();
        assert_eq!(uses.values["self"], Use::Whole);
        assert_eq!(uses.values["indices"], Use::Metadata);
        assert_eq!(found("grad_indices * grad").unwrap().gradients, [1, 0]);
    }

    #[test]
    fn unknown_names_are_rejected() {
        assert!(found("grad * othr").unwrap_err().starts_with("`othr` is unknown here"));
        assert!(found("std::mem::drop(grad)").unwrap_err().starts_with("`std::` is no path"));
        assert!(found("grad * \"abc").unwrap_err().contains("does not end"));
        assert!(found("grad × 2").unwrap_err().contains("no place"));
    }

    #[test]
    fn self_is_renamed_whole_words_only() {
        assert_eq!(to_rust("grad * self.conj() + self_sizes"), "grad * self_.conj() + self_sizes");
    }
}
