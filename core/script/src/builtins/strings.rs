//! Strings: search, split, join, padding, slices. Strings are bytes, and an index counts bytes.

use super::args::Args;
use super::lists::{position, slice_bounds};
use super::objects::tuple;
use crate::runtime::list::List;
use crate::runtime::value::Value;
use rushlight_base::{Result, bail, ensure, err};

/// The longest string that padding and repetition create.
const MAX_LENGTH: usize = 1 << 30;

pub(super) fn concat(args: &mut Args<'_>) -> Result<Value> {
    Ok([&**args.bytes(0)?, &**args.bytes(1)?].concat().into())
}

pub(super) fn len(args: &mut Args<'_>) -> Result<Value> {
    Ok((args.bytes(0)?.len() as i64).into())
}

macro_rules! comparisons {
    ($($name:ident: $operator:tt;)*) => {$(
        pub(super) fn $name(args: &mut Args<'_>) -> Result<Value> {
            Ok((args.bytes(0)? $operator args.bytes(1)?).into())
        }
    )*};
}

comparisons! {
    eq: ==;
    ne: !=;
    lt: <;
    le: <=;
    gt: >;
    ge: >=;
}

pub(super) fn getitem(args: &mut Args<'_>) -> Result<Value> {
    let (text, index) = (args.bytes(0)?, args.int(1)?);
    let byte = position(index, text.len()).and_then(|at| text.get(at));
    let byte = byte.ok_or_else(|| err!(Index, "string index out of range"))?;
    Ok(vec![*byte].into())
}

pub(super) fn slice(args: &mut Args<'_>) -> Result<Value> {
    let text = args.bytes(0)?;
    let step = args.int_or(3, 1)?;
    ensure!(step != 0, Runtime, "String slice should have non-zero step");
    let (start, count) = slice_bounds(args.int_opt(1)?, args.int_opt(2)?, step, text.len() as i64);
    let bytes: Vec<u8> = (0..count).filter_map(|index| text.get((start + index * step) as usize).copied()).collect();
    Ok(bytes.into())
}

// ---- search ----------------------------------------------------------------------------------------------------

/// The part of the string between `start` and `end`, and where it begins. The default end, -1, is the end of the string;
/// other negative ends count from there.
fn range<'a>(args: &'a Args<'_>, first: usize) -> Result<Option<(&'a [u8], usize)>> {
    let text = args.bytes(0)?;
    let length = text.len() as i64;
    let (start, end) = (args.int_or(first, 0)?, args.int_or(first + 1, -1)?);
    let start = if start < 0 { start.saturating_add(length).max(0) } else { start };
    let end = if end < 0 { end.saturating_add(length + 1).max(0) } else { end.min(length) };
    let part = usize::try_from(start).ok().and_then(|from| text.get(from..usize::try_from(end).ok()?));
    Ok(part.map(|part| (part, start as usize)))
}

fn find_in(text: &[u8], part: &[u8]) -> Option<usize> {
    match part.len() {
        0 => Some(0),
        length => text.windows(length).position(|window| window == part),
    }
}

fn rfind_in(text: &[u8], part: &[u8]) -> Option<usize> {
    match part.len() {
        0 => Some(text.len()),
        length => text.windows(length).rposition(|window| window == part),
    }
}

fn search(args: &Args<'_>, find: fn(&[u8], &[u8]) -> Option<usize>) -> Result<Option<i64>> {
    let part = args.bytes(1)?;
    let Some((text, offset)) = range(args, 2)? else { return Ok(None) };
    Ok(find(text, part).map(|at| (at + offset) as i64))
}

pub(super) fn find(args: &mut Args<'_>) -> Result<Value> {
    Ok(search(args, find_in)?.unwrap_or(-1).into())
}

pub(super) fn rfind(args: &mut Args<'_>) -> Result<Value> {
    Ok(search(args, rfind_in)?.unwrap_or(-1).into())
}

fn found(position: Option<i64>) -> Result<Value> {
    position.map(Value::from).ok_or_else(|| err!(Value, "ValueError: substring not found"))
}

pub(super) fn index(args: &mut Args<'_>) -> Result<Value> {
    found(search(args, find_in)?)
}

pub(super) fn rindex(args: &mut Args<'_>) -> Result<Value> {
    found(search(args, rfind_in)?)
}

pub(super) fn count(args: &mut Args<'_>) -> Result<Value> {
    let part = args.bytes(1)?;
    let Some((mut text, _)) = range(args, 2)? else { return Ok(Value::Int(0)) };
    if part.is_empty() {
        return Ok((text.len() as i64 + 1).into());
    }
    let mut count = 0;
    while let Some(at) = find_in(text, part) {
        count += 1;
        text = text.get(at + part.len()..).unwrap_or_default();
    }
    Ok(Value::Int(count))
}

pub(super) fn startswith(args: &mut Args<'_>) -> Result<Value> {
    Ok(range(args, 2)?.is_some_and(|(text, _)| args.bytes(1).is_ok_and(|part| text.starts_with(part))).into())
}

pub(super) fn endswith(args: &mut Args<'_>) -> Result<Value> {
    Ok(range(args, 2)?.is_some_and(|(text, _)| args.bytes(1).is_ok_and(|part| text.ends_with(part))).into())
}

// ---- replacement, split, join ----------------------------------------------------------------------------------

pub(super) fn replace(args: &mut Args<'_>) -> Result<Value> {
    let (text, old, new) = (args.bytes(0)?, args.bytes(1)?, args.bytes(2)?);
    let limit = usize::try_from(args.int_or(3, -1)?).unwrap_or(usize::MAX);
    let mut out: Vec<u8> = Vec::new();
    let (mut rest, mut replaced) = (&**text, 0);
    while replaced < limit {
        // An empty string is found between all bytes.
        let Some(at) = (if old.is_empty() { Some(usize::from(replaced > 0)) } else { find_in(rest, old) }) else {
            break;
        };
        let Some((head, tail)) = rest.split_at_checked(at) else { break };
        out.extend(head);
        out.extend(&**new);
        ensure!(out.len() <= MAX_LENGTH, OutOfMemory, "a string of more than {MAX_LENGTH} bytes");
        rest = tail.get(old.len()..).unwrap_or_default();
        replaced += 1;
    }
    out.extend(rest);
    Ok(out.into())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

pub(super) fn split(args: &mut Args<'_>) -> Result<Value> {
    let text = args.bytes(0)?;
    let limit = usize::try_from(args.int_or(2, -1)?).unwrap_or(usize::MAX);
    let separator = match args.get(1) {
        Ok(Value::Str(separator)) => separator,
        _ => return split_at_spaces(text, limit),
    };
    ensure!(!separator.is_empty(), Value, "ValueError: empty separator");
    let mut parts = Vec::new();
    let mut rest = &**text;
    while parts.len() < limit
        && let Some(at) = find_in(rest, separator)
    {
        parts.push(rest.get(..at).unwrap_or_default().to_vec());
        rest = rest.get(at + separator.len()..).unwrap_or_default();
    }
    parts.push(rest.to_vec());
    Ok(List::strs(parts)?.into())
}

fn split_at_spaces(text: &[u8], limit: usize) -> Result<Value> {
    let mut parts = Vec::new();
    let skip = |text: &mut &[u8]| {
        let spaces = text.iter().take_while(|byte| is_space(**byte)).count();
        *text = text.get(spaces..).unwrap_or_default();
    };
    let mut rest = text;
    skip(&mut rest);
    while !rest.is_empty() {
        if parts.len() == limit {
            parts.push(rest.to_vec());
            break;
        }
        let length = rest.iter().take_while(|byte| !is_space(**byte)).count();
        parts.push(rest.get(..length).unwrap_or_default().to_vec());
        rest = rest.get(length..).unwrap_or_default();
        skip(&mut rest);
    }
    Ok(List::strs(parts)?.into())
}

pub(super) fn rsplit(args: &mut Args<'_>) -> Result<Value> {
    let (text, separator) = (args.bytes(0)?, args.bytes_or(1, b" ")?);
    let limit = usize::try_from(args.int_or(2, -1)?).unwrap_or(usize::MAX);
    ensure!(!separator.is_empty(), Value, "ValueError: empty separator");
    let mut parts = Vec::new();
    let mut rest = &**text;
    while parts.len() < limit
        && let Some(at) = rfind_in(rest, separator)
    {
        parts.push(rest.get(at + separator.len()..).unwrap_or_default().to_vec());
        rest = rest.get(..at).unwrap_or_default();
    }
    parts.push(rest.to_vec());
    parts.reverse();
    Ok(List::strs(parts)?.into())
}

/// Splits at every character that ends a line. With `keepends` these characters are elements of their own, and `\r\n` is
/// two of them: so does PyTorch, unlike Python.
pub(super) fn splitlines(args: &mut Args<'_>) -> Result<Value> {
    let (text, keep) = (args.bytes(0)?, args.bool_or(1, false)?);
    let is_break = |byte: u8| matches!(byte, b'\n' | b'\r' | 0x0b | 0x0c | 0x1c..=0x1e);
    let mut lines = Vec::new();
    let mut rest = &**text;
    while let Some(length) = rest.iter().position(|byte| is_break(*byte)) {
        lines.push(rest.get(..length).unwrap_or_default().to_vec());
        if keep {
            lines.push(rest.get(length..=length).unwrap_or_default().to_vec());
        }
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    if !rest.is_empty() {
        lines.push(rest.to_vec());
    }
    Ok(List::strs(lines)?.into())
}

fn parts(before: &[u8], separator: &[u8], after: &[u8]) -> Value {
    tuple([before.to_vec().into(), separator.to_vec().into(), after.to_vec().into()])
}

pub(super) fn partition(args: &mut Args<'_>) -> Result<Value> {
    let (text, separator) = (args.bytes(0)?, args.bytes(1)?);
    Ok(match find_in(text, separator).and_then(|at| text.split_at_checked(at)) {
        Some((before, after)) => parts(before, separator, after.get(separator.len()..).unwrap_or_default()),
        None => parts(text, b"", b""),
    })
}

pub(super) fn rpartition(args: &mut Args<'_>) -> Result<Value> {
    let (text, separator) = (args.bytes(0)?, args.bytes(1)?);
    Ok(match rfind_in(text, separator).and_then(|at| text.split_at_checked(at)) {
        Some((before, after)) => parts(before, separator, after.get(separator.len()..).unwrap_or_default()),
        None => parts(b"", b"", text),
    })
}

pub(super) fn join(args: &mut Args<'_>) -> Result<Value> {
    let separator = args.bytes(0)?;
    let mut out = Vec::new();
    for (index, item) in args.list(1)?.items().iter().enumerate() {
        if index > 0 {
            out.extend(&**separator);
        }
        out.extend(&**item.as_bytes()?);
        ensure!(out.len() <= MAX_LENGTH, OutOfMemory, "a string of more than {MAX_LENGTH} bytes");
    }
    Ok(out.into())
}

// ---- padding and stripping -------------------------------------------------------------------------------------

/// How many fill characters there are, and which.
fn padding(args: &Args<'_>) -> Result<(usize, u8)> {
    let width = usize::try_from(args.int(1)?).unwrap_or(0);
    ensure!(width <= MAX_LENGTH, OutOfMemory, "a string of {width} bytes");
    let fill = match args.bytes_or(2, b" ")? {
        [fill] => *fill,
        _ => bail!(Type, "TypeError: The fill character must be exactly one character long"),
    };
    Ok((width.saturating_sub(args.bytes(0)?.len()), fill))
}

fn padded(text: &[u8], left: usize, right: usize, fill: u8) -> Result<Value> {
    let mut out = rushlight_base::list::filled(left, fill)?;
    out.extend(text);
    out.extend(std::iter::repeat_n(fill, right));
    Ok(out.into())
}

pub(super) fn center(args: &mut Args<'_>) -> Result<Value> {
    let (missing, fill) = padding(args)?;
    // The odd character goes to the left if the length of the result is even.
    let width = missing + args.bytes(0)?.len();
    let left = missing / 2 + (missing & width & 1);
    padded(args.bytes(0)?, left, missing - left, fill)
}

pub(super) fn ljust(args: &mut Args<'_>) -> Result<Value> {
    let (missing, fill) = padding(args)?;
    padded(args.bytes(0)?, 0, missing, fill)
}

pub(super) fn rjust(args: &mut Args<'_>) -> Result<Value> {
    let (missing, fill) = padding(args)?;
    padded(args.bytes(0)?, missing, 0, fill)
}

pub(super) fn zfill(args: &mut Args<'_>) -> Result<Value> {
    let text = args.bytes(0)?;
    let width = usize::try_from(args.int(1)?).unwrap_or(0);
    ensure!(width <= MAX_LENGTH, OutOfMemory, "a string of {width} bytes");
    // A sign stays where it is, as in PyTorch; in Python it comes first.
    let missing = width.saturating_sub(text.len());
    let out: Vec<u8> = std::iter::repeat_n(b'0', missing).chain(text.iter().copied()).collect();
    Ok(out.into())
}

const SPACES: &[u8] = b" \n\t\x0c\x0b";

fn strip_ends(args: &Args<'_>, left: bool, right: bool) -> Result<Value> {
    let (mut text, chars) = (&**args.bytes(0)?, args.bytes_or(1, SPACES)?);
    while left
        && let [first, rest @ ..] = text
        && chars.contains(first)
    {
        text = rest;
    }
    while right
        && let [rest @ .., last] = text
        && chars.contains(last)
    {
        text = rest;
    }
    Ok(text.to_vec().into())
}

pub(super) fn strip(args: &mut Args<'_>) -> Result<Value> {
    strip_ends(args, true, true)
}

pub(super) fn lstrip(args: &mut Args<'_>) -> Result<Value> {
    strip_ends(args, true, false)
}

pub(super) fn rstrip(args: &mut Args<'_>) -> Result<Value> {
    strip_ends(args, false, true)
}

pub(super) fn expandtabs(args: &mut Args<'_>) -> Result<Value> {
    let size = args.int_or(1, 8)?.max(0) as usize;
    let (mut out, mut column) = (Vec::new(), 0usize);
    for &byte in args.bytes(0)?.iter() {
        match byte {
            b'\t' if size > 0 => {
                let spaces = size - column % size;
                ensure!(out.len() + spaces <= MAX_LENGTH, OutOfMemory, "a string of more than {MAX_LENGTH} bytes");
                out.extend(std::iter::repeat_n(b' ', spaces));
                column += spaces;
            }
            b'\t' => {}
            byte => {
                out.push(byte);
                column = if matches!(byte, b'\n' | b'\r') { 0 } else { column + 1 };
            }
        }
    }
    Ok(out.into())
}
