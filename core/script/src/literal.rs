//! The values of literals: numbers, and strings with their escapes.

use crate::source::{Source, Span};
use rushlight_base::Result;

/// The value of a number.
pub(crate) enum Number {
    Int(i64),
    /// 9223372036854775808, valid only after a minus.
    MinusMinimum,
    Float(f64),
    Imaginary(f64),
}

/// The value of the number token at `span`.
pub(crate) fn number(source: &Source, span: Span) -> Result<Number> {
    let text: String = source.slice(span).chars().filter(|&c| c != '_').collect();
    let bad = || source.error(span, "invalid number");
    let lower = text.to_ascii_lowercase();
    let based = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, base)| lower.strip_prefix(prefix).map(|digits| (digits, base)));
    if based.is_none() && lower.contains(['.', 'e', 'j']) {
        if let Some(digits) = lower.strip_suffix('j') {
            return Ok(Number::Imaginary(digits.parse().map_err(|_| bad())?));
        }
        return Ok(Number::Float(lower.parse().map_err(|_| bad())?));
    }
    let (digits, base) = match based {
        Some(based) => based,
        // As in C: PyTorch reads 017 as 15.
        None if lower.len() > 1 && lower.starts_with('0') => (lower.get(1..).unwrap_or(""), 8),
        None => (lower.as_str(), 10),
    };
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(base)) {
        return Err(bad());
    }
    match u128::from_str_radix(digits, base) {
        Ok(value) if value == 1 << 63 => Ok(Number::MinusMinimum),
        Ok(value) if value < 1 << 63 => Ok(Number::Int(value as i64)),
        _ => Err(source.error(span, "Integral constant out of range (must fit in a signed 64 bit integer)")),
    }
}

/// A string token without quotes and prefix: the range of its body, and whether escapes are processed.
pub(crate) fn string_body(source: &Source, span: Span) -> (Span, bool) {
    let text = source.slice(span);
    let prefix = text.bytes().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let raw = text.get(..prefix).is_some_and(|prefix| prefix.contains(['r', 'R']));
    let body = text.get(prefix..).unwrap_or("");
    let quotes = if body.len() >= 6 && (body.starts_with("\"\"\"") || body.starts_with("'''")) { 3 } else { 1 };
    let start = span.start + (prefix + quotes) as u32;
    (Span { start, end: span.end.saturating_sub(quotes as u32).max(start) }, raw)
}

/// Appends the bytes of the part of a string at `span`. Octal escapes are bytes, as PyTorch writes them; `\x`, `\u`
/// and `\U` are characters.
pub(crate) fn unescape(source: &Source, span: Span, raw: bool, out: &mut Vec<u8>) -> Result<()> {
    let text = source.slice(span);
    if raw {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let Some((_, escape)) = chars.next() else { break };
        let simple = match escape {
            '\n' => continue,
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            '\\' | '\'' | '"' => escape as u8,
            '0'..='7' => {
                let mut value = escape.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = chars.peek().and_then(|(_, c)| c.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    chars.next();
                }
                match u8::try_from(value) {
                    Ok(byte) => byte,
                    Err(_) => {
                        let span = Span { start: span.start + start as u32, end: span.start + start as u32 + 4 };
                        return Err(source.error(span, "an octal escape exceeds \\377"));
                    }
                }
            }
            'x' | 'u' | 'U' => {
                let digits = match escape {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let mut value = Some(0);
                for _ in 0..digits {
                    let digit = chars.peek().and_then(|(_, c)| c.to_digit(16));
                    value = value.zip(digit).map(|(value, digit): (u32, u32)| value.wrapping_mul(16) | digit);
                    if digit.is_some() {
                        chars.next();
                    }
                }
                let Some(c) = value.and_then(char::from_u32) else {
                    let span = Span { start: span.start + start as u32, end: span.start + start as u32 + 2 };
                    return Err(source.error(span, format!("invalid escape \\{escape}: expected {digits} digits")));
                };
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            // As in Python, an unknown escape stands for itself.
            other => {
                out.push(b'\\');
                out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
        };
        out.push(simple);
    }
    Ok(())
}
