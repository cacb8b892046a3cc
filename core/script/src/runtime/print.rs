//! Values as PyTorch prints them: `print`, `str`, `format`.

use super::value::Value;
use std::fmt::Write;

/// Containers inside of each other that are printed; deeper ones, and those that contain themselves, are `...`.
const MAX_DEPTH: usize = 128;

/// Appends the printed form of a value.
pub(crate) fn print(value: &Value, out: &mut Vec<u8>) {
    print_within(value, MAX_DEPTH, out);
}

/// The printed form of a value.
pub(crate) fn printed(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    print(value, &mut out);
    out
}

fn print_within(value: &Value, depth: usize, out: &mut Vec<u8>) {
    if depth == 0 {
        out.extend(b"...");
        return;
    }
    match value {
        Value::None => out.extend(b"None"),
        Value::Bool(value) => out.extend(if *value { &b"True"[..] } else { b"False" }),
        Value::Int(value) => out.extend(value.to_string().bytes()),
        Value::Float(value) => out.extend(float(*value).bytes()),
        Value::Complex(value) => {
            let sign = if value.im >= 0.0 { '+' } else { '-' };
            out.extend(format!("{}{sign}{}j", float(value.re), float(value.im.abs())).bytes());
        }
        Value::Str(bytes) => out.extend(&**bytes),
        Value::Tensor(tensor) => out.extend(super::print_tensor::printed(tensor).bytes()),
        Value::List(list) => sequence(&list.values(), ["[", "]"], depth, out),
        Value::Tuple(tuple) => {
            let close = if tuple.items().len() == 1 { ",)" } else { ")" };
            sequence(tuple.items(), ["(", close], depth, out);
        }
        Value::Dict(dict) => {
            out.push(b'{');
            for (index, (key, value)) in dict.entries().iter().enumerate() {
                out.extend(if index > 0 { &b", "[..] } else { b"" });
                print_within(key, depth - 1, out);
                out.extend(b": ");
                print_within(value, depth - 1, out);
            }
            out.push(b'}');
        }
        Value::Object(object) => {
            out.extend(format!("<{} object at {:#x}>", object.class().name, object.address()).bytes());
        }
        Value::Enum(member) => {
            let class = member.class().rsplit('.').next().unwrap_or_default();
            out.extend(format!("Enum<{class}.{}>", member.name()).bytes());
        }
        Value::Future(_) => out.extend(b"Future"),
        Value::Device(device) => out.extend(device.to_string().bytes()),
        Value::Generator(_) => out.extend(b"Generator"),
        Value::Stream(stream) => out.extend(format!("stream {} on device {}", stream.id, stream.device).bytes()),
        Value::Storage(_) => out.extend(b"Storage"),
        Value::Custom(object) => out.extend(format!("<{} object>", object.class_name()).bytes()),
    }
}

fn sequence(values: &[Value], [open, close]: [&str; 2], depth: usize, out: &mut Vec<u8>) {
    out.extend(open.bytes());
    for (index, value) in values.iter().enumerate() {
        out.extend(if index > 0 { &b", "[..] } else { b"" });
        print_within(value, depth - 1, out);
    }
    out.extend(close.bytes());
}

/// A float: `2.` if it is an integer, else 17 digits in C's format `%g`.
pub(crate) fn float(value: f64) -> String {
    let integer = value as i64;
    if integer as f64 == value && integer != i64::MAX {
        return format!("{integer}.");
    }
    general(value, 17)
}

/// C's format `%.{digits}g`.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.into();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..digits as i32).contains(&exponent) {
        return trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize));
    }
    with_exponent(&trimmed(mantissa), exponent)
}

/// C's format `%.{digits}e`.
pub(crate) fn scientific(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return general(value, digits);
    }
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) => with_exponent(mantissa, exponent.parse().unwrap_or(0)),
        None => text,
    }
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let mut out = mantissa.to_owned();
    let sign = if exponent < 0 { '-' } else { '+' };
    // Writing to a string cannot fail.
    let _ = write!(out, "e{sign}{:02}", exponent.abs());
    out
}
