//! Finds the functions and variables of a module's text.

use super::{Space, Ty};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The name.
    pub name: String,
    /// Bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Whether it is an array of bytes.
    pub array: bool,
}

/// A function with a body.
#[derive(Clone, Debug)]
pub struct Function {
    /// Parameters in order.
    pub params: Vec<Parameter>,
    /// Results.
    pub results: Vec<Parameter>,
    /// Bytes of the text between the braces.
    pub body: Range<usize>,
    /// Whether it is a kernel.
    pub entry: bool,
}

/// A piece of a variable's initial value.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// An element's bits.
    Bits(u64),
    /// The address of a variable plus a number of bytes.
    Address(String, i64),
}

/// A variable of the module.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// Where it is stored.
    pub space: Space,
    /// Bytes.
    pub size: usize,
    /// Bytes of an element.
    pub unit: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Whether the launch decides the size: `.extern .shared`.
    pub dynamic: bool,
    /// Initial values of the first elements; the others are 0.
    pub initial: Vec<Initial>,
}

/// A module's text and where its parts are.
#[derive(Debug)]
pub struct Module {
    /// The text with spaces in the place of comments.
    pub text: Arc<str>,
    /// The original text, for error messages.
    pub source: Arc<str>,
    /// Functions by name.
    pub functions: HashMap<String, Function>,
    /// Variables in the order of the text.
    pub variables: Vec<Variable>,
    /// The first byte of each line.
    lines: Vec<usize>,
}

impl Module {
    /// The number of the line with this byte, from 1.
    pub fn line(&self, at: usize) -> u32 {
        self.lines.partition_point(|start| *start <= at) as u32
    }

    /// A line of the original text, without its indentation.
    pub fn line_text(&self, line: u32) -> &str {
        let start = self.lines.get(line.saturating_sub(1) as usize).copied().unwrap_or(0);
        self.source.get(start..).and_then(|s| s.lines().next()).unwrap_or("").trim()
    }
}

/// Replace comments by spaces, so that positions and lines stay what they are.
fn without_comments(source: &str) -> String {
    let mut bytes = source.as_bytes().to_vec();
    let mut at = 0;
    while at + 1 < bytes.len() {
        let end = match &bytes[at..at + 2] {
            b"//" => bytes[at..].iter().position(|c| *c == b'\n').map_or(bytes.len(), |n| at + n),
            b"/*" => bytes[at + 2..].windows(2).position(|w| w == b"*/").map_or(bytes.len(), |n| at + 2 + n + 2),
            _ => {
                at += 1;
                continue;
            }
        };
        for c in &mut bytes[at..end] {
            if *c != b'\n' {
                *c = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Scan a module.
pub fn scan(source: &str) -> Result<Module, String> {
    let source = source.trim_end_matches('\0');
    let text = without_comments(source);
    let ends = text.bytes().enumerate().filter(|(_, c)| *c == b'\n').map(|(i, _)| i + 1);
    let lines = std::iter::once(0).chain(ends).collect();
    let mut module =
        Module { text: text.into(), source: source.into(), functions: HashMap::new(), variables: Vec::new(), lines };
    let text = module.text.clone();
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut version = false;
    loop {
        while at < bytes.len() && (bytes[at].is_ascii_whitespace() || bytes[at] == b';') {
            at += 1;
        }
        if at >= bytes.len() {
            break;
        }
        let rest = &text[at..];
        let first = rest.split_ascii_whitespace().next().unwrap_or("");
        if matches!(first, ".version" | ".target" | ".address_size" | ".file") {
            version |= first == ".version";
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        if !first.starts_with('.') || !version {
            return Err(format!("line {}: `{first}` is no directive", module.line(at)));
        }
        let stop = rest.find([';', '{', '=']).ok_or_else(|| format!("line {}: no end", module.line(at)))?;
        let head = &rest[..stop];
        if rest.as_bytes()[stop] == b'{' {
            let end = closing(bytes, at + stop).ok_or_else(|| format!("line {}: no closing brace", module.line(at)))?;
            if first != ".section" {
                let (name, function) =
                    function(head, at + stop + 1..end).map_err(|e| format!("line {}: {e}", module.line(at)))?;
                module.functions.insert(name, function);
            }
            at = end + 1;
            continue;
        }
        let end = rest.find(';').ok_or_else(|| format!("line {}: no `;`", module.line(at)))?;
        let words = || head.split_ascii_whitespace();
        if words().any(|w| matches!(w, ".global" | ".const" | ".shared")) {
            let initial = if rest.as_bytes()[stop] == b'=' { Some(&rest[stop + 1..end]) } else { None };
            let variable = variable(head, initial).map_err(|e| format!("line {}: {e}", module.line(at)))?;
            module.variables.push(variable);
        }
        at += end + 1;
    }
    if !version {
        return Err("no .version".into());
    }
    Ok(module)
}

/// The brace that closes the one at `open`.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, c) in bytes[open..].iter().enumerate() {
        match c {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => continue,
        }
        if depth == 0 {
            return Some(open + i);
        }
    }
    None
}

/// Read the head of a function.
fn function(head: &str, body: Range<usize>) -> Result<(String, Function), String> {
    let entry = head.contains(".entry");
    let start = head.find(if entry { ".entry" } else { ".func" }).ok_or("neither .entry nor .func")?;
    let mut rest = head[start..].trim_start_matches(".entry").trim_start_matches(".func").trim();
    let mut results = Vec::new();
    if rest.starts_with('(') {
        let end = rest.find(')').ok_or("no `)`")?;
        results = parameters(&rest[1..end])?;
        rest = rest[end + 1..].trim();
    }
    let (name, params) = match rest.find('(') {
        Some(open) => {
            let end = rest[open..].find(')').map(|n| open + n).ok_or("no `)`")?;
            (rest[..open].trim(), parameters(&rest[open + 1..end])?)
        }
        // Directives such as .maxntid may follow the name.
        None => (rest.split_ascii_whitespace().next().ok_or("no name")?, Vec::new()),
    };
    Ok((name.into(), Function { params, results, body, entry }))
}

fn parameters(list: &str) -> Result<Vec<Parameter>, String> {
    list.split(',').map(str::trim).filter(|p| !p.is_empty()).map(|p| parameter(p).map(|(p, _)| p)).collect()
}

/// Read a declaration such as `.param .align 8 .b8 name[16]`; also returns the bytes of an element.
pub fn parameter(declaration: &str) -> Result<(Parameter, usize), String> {
    let mut align = None;
    let mut unit = None;
    let mut words = declaration.split_ascii_whitespace().peekable();
    let mut name = String::new();
    let mut vector = 1;
    while let Some(word) = words.next() {
        if word == ".align" {
            align = words.next().and_then(|n| n.parse::<usize>().ok());
        } else if let Some(tail) = word.strip_prefix('.') {
            match tail {
                "v2" => vector = 2,
                "v4" => vector = 4,
                _ => unit = unit.or(Ty::of(tail).map(Ty::size)),
            }
        } else {
            name.push_str(word);
        }
    }
    let unit = unit.ok_or_else(|| format!("`{declaration}` has no type"))? * vector;
    let (mut size, mut array) = (unit, false);
    let mut base = name.as_str();
    if let Some(open) = name.find('[') {
        array = true;
        base = &name[..open];
        for extent in name[open..].split('[').skip(1) {
            let extent = extent.trim_end_matches(']');
            let extent = if extent.is_empty() { 0 } else { extent.parse().map_err(|_| format!("size `{extent}`"))? };
            size = size.checked_mul(extent).ok_or("size")?;
        }
    }
    if base.is_empty() {
        return Err(format!("`{declaration}` has no name"));
    }
    Ok((Parameter { name: base.into(), size, align: align.unwrap_or(unit).max(1), array }, unit))
}

fn variable(head: &str, initial: Option<&str>) -> Result<Variable, String> {
    let (parsed, unit) = parameter(head)?;
    let words: Vec<&str> = head.split_ascii_whitespace().collect();
    let space = if words.contains(&".shared") { Space::Shared } else { Space::Global };
    let mut values = Vec::new();
    let mut size = parsed.size;
    if let Some(list) = initial {
        for value in list.replace(['{', '}'], " ").split(',').map(str::trim).filter(|v| !v.is_empty()) {
            values.push(initial_value(value, unit)?);
        }
        if size == 0 {
            size = values.len() * unit;
        }
        if values.len() * unit > size {
            return Err(format!("{} has too many initial values", parsed.name));
        }
    }
    let dynamic = space == Space::Shared && words.contains(&".extern");
    Ok(Variable { name: parsed.name, space, size, unit, align: parsed.align, dynamic, initial: values })
}

fn initial_value(value: &str, unit: usize) -> Result<Initial, String> {
    if let Some(bits) = immediate(value, unit == 8) {
        return Ok(Initial::Bits(bits));
    }
    let inner = value.strip_prefix("generic(").map_or(value, |v| v.trim_end());
    let (name, rest) = inner.split_at(inner.find([')', '+', ' ']).unwrap_or(inner.len()));
    let offset = rest.trim_start_matches(')').trim().trim_start_matches('+').trim().trim_end_matches(')');
    let offset =
        if offset.is_empty() { 0 } else { immediate(offset, true).ok_or_else(|| format!("value `{value}`"))? as i64 };
    Ok(Initial::Address(name.trim().into(), offset))
}

/// The bits of a number: integers, `0f` and `0d` with hexadecimal digits, and decimal fractions.
pub fn immediate(text: &str, wide: bool) -> Option<u64> {
    if let Some(digits) = text.strip_prefix("0f").or(text.strip_prefix("0F")) {
        return u32::from_str_radix(digits, 16).ok().map(u64::from);
    }
    if let Some(digits) = text.strip_prefix("0d").or(text.strip_prefix("0D")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |t| (true, t.trim()));
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if digits.contains('.') {
        let value: f64 = digits.parse().ok()?;
        let value = if negative { -value } else { value };
        return Some(if wide { value.to_bits() } else { u64::from((value as f32).to_bits()) });
    }
    let digits = digits.trim_end_matches('U');
    let value = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()?
    } else if let Some(binary) = digits.strip_prefix("0b") {
        u64::from_str_radix(binary, 2).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_split() {
        let module = scan(
            ".version 7.0\n.target sm_70\n.address_size 64\n// a comment { \n.extern .shared .align 16 .b8 pool[];\n\
             .global .align 8 .u64 table[3] = {generic(bytes), 30, bytes+4};\n.const .f32 one = 0f3F800000;\n\
             .func (.param .b32 r) f\n(\n.param .b64 a,\n.param .align 8 .b8 b[16]\n)\n;\n\
             .visible .entry k(\n.param .b64 p,\n.param .b8 q\n)\n.maxntid 128, 1, 1\n{\n ret;\n{ }\n}\n",
        )
        .expect("scan");
        assert_eq!(module.variables.len(), 3);
        assert!(module.variables[0].dynamic);
        assert_eq!(
            module.variables[1].initial,
            [Initial::Address("bytes".into(), 0), Initial::Bits(30), Initial::Address("bytes".into(), 4)]
        );
        assert_eq!(module.variables[2].initial, [Initial::Bits(0x3f80_0000)]);
        let kernel = &module.functions["k"];
        assert!(kernel.entry && kernel.params.len() == 2 && kernel.params[1].size == 1);
        assert_eq!(module.line(kernel.body.start), 19);
    }

    #[test]
    fn numbers_have_their_bits() {
        assert_eq!(immediate("0f3F800000", false), Some(0x3f80_0000));
        assert_eq!(immediate("0d3FF0000000000000", true), Some(0x3ff0_0000_0000_0000));
        assert_eq!(immediate("-1", false), Some(u64::MAX));
        assert_eq!(immediate("0xffU", false), Some(255));
        assert_eq!(immediate("1.5", true), Some(1.5f64.to_bits()));
        assert_eq!(immediate("%r1", true), None);
    }

    #[test]
    fn text_that_is_no_ptx_is_an_error() {
        assert!(scan("hello").is_err());
        assert!(scan(".version 7.0\n.visible .entry k() { ret;").is_err());
        assert!(scan("").is_err());
    }
}
