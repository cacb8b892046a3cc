//! `str.format`, the operator `%` of strings, `print`.

use super::args::Args;
use crate::runtime::print::{general, print, scientific};
use crate::runtime::value::Value;
use rushlight_base::{Result, bail, ensure};

/// `"{} and {}".format(a, b)`. Only `{}` is replaced, as in PyTorch.
pub(super) fn format(args: &mut Args<'_>) -> Result<Value> {
    let mut rest = &**args.bytes(0)?;
    let mut values = args.all().iter().skip(1);
    let mut out = Vec::new();
    while let Some(at) = rest.windows(2).position(|window| window == b"{}") {
        let Some(value) = values.next() else {
            bail!(Runtime, "Too few arguments for format string: {}", text_of(args))
        };
        out.extend(rest.get(..at).unwrap_or_default());
        print(value, &mut out);
        rest = rest.get(at + 2..).unwrap_or_default();
    }
    out.extend(rest);
    Ok(out.into())
}

fn text_of(args: &Args<'_>) -> String {
    args.bytes(0).map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// `"%s and %d" % (a, b)`
pub(super) fn percent(args: &mut Args<'_>) -> Result<Value> {
    let values: Vec<Value> = match (args.len(), args.get(1)) {
        (2, Ok(Value::Tuple(tuple))) => tuple.items().to_vec(),
        _ => args.all().get(1..).unwrap_or_default().to_vec(),
    };
    let mut values = values.iter();
    let mut rest = &**args.bytes(0)?;
    let mut out = Vec::new();
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend(rest.get(..at).unwrap_or_default());
        let Some(&key) = rest.get(at + 1) else { bail!(Runtime, "Incomplete format specifier") };
        rest = rest.get(at + 2..).unwrap_or_default();
        if key == b'%' {
            out.push(b'%');
            continue;
        }
        let Some(value) = values.next() else { bail!(Runtime, "Too few arguments for format string") };
        specified(key, value, &mut out)?;
    }
    ensure!(values.next().is_none(), Runtime, "Too many arguments for format string");
    out.extend(rest);
    Ok(out.into())
}

/// The tag of the value in PyTorch's messages.
fn tag(value: &Value) -> &'static str {
    match value {
        Value::None => "None",
        Value::Bool(_) => "Bool",
        Value::Int(_) => "Int",
        Value::Float(_) => "Double",
        Value::Complex(_) => "ComplexDouble",
        Value::Str(_) => "String",
        Value::List(_) => "GenericList",
        Value::Dict(_) => "GenericDict",
        Value::Tuple(_) => "Tuple",
        Value::Object(_) | Value::Custom(_) => "Object",
        other => other.kind(),
    }
}

fn specified(key: u8, value: &Value, out: &mut Vec<u8>) -> Result<()> {
    let number = |value: &Value| match value {
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => value.as_float(),
        other => bail!(Runtime, "%{} requires a number for formatting, but got {}", char::from(key), tag(other)),
    };
    match key {
        b'd' | b'i' => match value {
            Value::Int(value) => out.extend(value.to_string().bytes()),
            other => out.extend((number(other)? as i32).to_string().bytes()),
        },
        b'e' => out.extend(scientific(number(value)?, 6).bytes()),
        b'E' => out.extend(scientific(number(value)?, 6).to_uppercase().bytes()),
        b'f' | b'F' => {
            let number = number(value)?;
            let text = if number.is_finite() { format!("{number:.6}") } else { general(number, 6) };
            out.extend(if key == b'F' { text.to_uppercase() } else { text }.bytes());
        }
        b'c' => match value {
            Value::Int(code) => out.push(*code as u8),
            Value::Str(text) if text.len() == 1 => out.extend(&**text),
            Value::Str(_) => bail!(Runtime, "%c requires an int or char for formatting"),
            other => bail!(Runtime, "%c requires an int or char for formatting, but got {}", tag(other)),
        },
        b's' => print(value, out),
        other => {
            bail!(Runtime, "The specifier %{} is not supported in TorchScript format strings", char::from(other))
        }
    }
    Ok(())
}

/// `print(a, b)`
pub(super) fn print_values(args: &mut Args<'_>) -> Result<Value> {
    let mut out = Vec::new();
    for (index, value) in args.all().iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        print(value, &mut out);
    }
    out.push(b'\n');
    args.context.print(&out);
    Ok(Value::None)
}

/// `aten::_print`, which ends the line too.
pub(super) fn print_text(args: &mut Args<'_>) -> Result<Value> {
    print_values(args)
}

pub(super) fn warn(args: &mut Args<'_>) -> Result<Value> {
    args.context.warn(&text_of(args));
    Ok(Value::None)
}
