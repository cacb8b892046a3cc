//! Strings: classes of characters, and case. As in PyTorch, only ASCII characters have a class.

use super::args::Args;
use crate::runtime::value::Value;
use rushlight_base::Result;

macro_rules! classes {
    ($($name:ident: $test:expr;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            let test: fn(&u8) -> bool = $test;
            let text = args.bytes(0)?;
            Ok((!text.is_empty() && text.iter().all(test)).into())
        }
    )*};
}

classes! {
    isalnum: u8::is_ascii_alphanumeric;
    isalpha: u8::is_ascii_alphabetic;
    isdecimal: u8::is_ascii_digit;
    isdigit: u8::is_ascii_digit;
    isnumeric: u8::is_ascii_digit;
    isspace: |byte| matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r');
}

/// An empty string is printable.
pub(super) fn isprintable(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.bytes(0)?.iter().all(|byte| matches!(byte, b' '..=b'~')).into())
}

pub(super) fn isidentifier(args: &mut Args<'_>) -> Result<Value> {
    let text = args.bytes(0)?;
    let valid = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    Ok((text.first().is_some_and(|first| !first.is_ascii_digit()) && text.iter().all(valid)).into())
}

fn has_case(text: &[u8], wanted: fn(&u8) -> bool, other: fn(&u8) -> bool) -> Value {
    (text.iter().any(wanted) && !text.iter().any(other)).into()
}

pub(super) fn islower(args: &mut Args<'_>) -> Result<Value> {
    Ok(has_case(args.bytes(0)?, u8::is_ascii_lowercase, u8::is_ascii_uppercase))
}

pub(super) fn isupper(args: &mut Args<'_>) -> Result<Value> {
    Ok(has_case(args.bytes(0)?, u8::is_ascii_uppercase, u8::is_ascii_lowercase))
}

pub(super) fn istitle(args: &mut Args<'_>) -> Result<Value> {
    let (mut found, mut inside) = (false, false);
    for byte in args.bytes(0)?.iter() {
        match byte {
            b'A'..=b'Z' if inside => return Ok(Value::Bool(false)),
            b'a'..=b'z' if !inside => return Ok(Value::Bool(false)),
            b'A'..=b'Z' | b'a'..=b'z' => (found, inside) = (true, true),
            _ => inside = false,
        }
    }
    Ok(found.into())
}

pub(super) fn lower(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.bytes(0)?.to_ascii_lowercase().into())
}

pub(super) fn upper(args: &mut Args<'_>) -> Result<Value> {
    Ok(args.bytes(0)?.to_ascii_uppercase().into())
}

pub(super) fn swapcase(args: &mut Args<'_>) -> Result<Value> {
    let swap = |byte: &u8| if byte.is_ascii_alphabetic() { byte ^ 0x20 } else { *byte };
    Ok(args.bytes(0)?.iter().map(swap).collect::<Vec<u8>>().into())
}

pub(super) fn capitalize(args: &mut Args<'_>) -> Result<Value> {
    let mut text = args.bytes(0)?.to_ascii_lowercase();
    if let Some(first) = text.first_mut() {
        first.make_ascii_uppercase();
    }
    Ok(text.into())
}

pub(super) fn title(args: &mut Args<'_>) -> Result<Value> {
    let mut inside = false;
    let mut title = |byte: &u8| {
        let cased = if inside { byte.to_ascii_lowercase() } else { byte.to_ascii_uppercase() };
        inside = byte.is_ascii_alphabetic();
        cased
    };
    let text: Vec<u8> = args.bytes(0)?.iter().map(&mut title).collect();
    Ok(text.into())
}
