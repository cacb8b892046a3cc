//! Prints tensors as PyTorch does: four digits, 80 columns, three entries at each edge above 1,000 elements.

use crate::{DType, Device, Layout, Result, Tensor};
use rushlight_base::Complex;
use rushlight_tensor::autograd::GradModeGuard;
use rushlight_tensor::{Tensor as Core, ops};
use std::fmt;

const WIDTH: usize = 80;
const EDGE: i64 = 3;
const THRESHOLD: i64 = 1000;
const PREFIX: &str = "tensor(";

impl fmt::Debug for Tensor {
    /// Dtype, sizes and device.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Tensor {
    /// The elements as PyTorch prints them in Python. Of sparse, quantized and nested tensors, dtype and sizes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layout() != Layout::Strided || self.0.is_quantized() {
            return fmt::Debug::fmt(&self.0, f);
        }
        let _unrecorded = GradModeGuard::new(false);
        match text(self) {
            Ok(text) => f.write_str(&text),
            Err(_) => fmt::Debug::fmt(&self.0, f),
        }
    }
}

fn text(tensor: &Tensor) -> Result<String> {
    let (dtype, sizes) = (tensor.dtype(), tensor.sizes());
    let default = crate::default_dtype();
    let is_default = dtype == default || dtype == default.to_complex();
    let mut suffixes = Vec::new();
    let on_meta = tensor.device().kind == Device::META.kind;
    let body = match tensor.numel() {
        _ if on_meta => "...".to_owned(),
        0 => "[]".to_owned(),
        _ => body(&tensor.0, dtype, &sizes)?,
    };
    if tensor.device().kind != Device::CPU.kind {
        suffixes.push(format!("device='{}'", tensor.device()));
    }
    if on_meta || tensor.numel() == 0 && sizes.len() != 1 {
        suffixes.push(format!("size={}", tuple(&sizes)));
    }
    let is_implied = !on_meta && tensor.numel() != 0 && matches!(dtype, DType::I64 | DType::Bool);
    if !is_default && !is_implied {
        suffixes.push(format!("dtype=torch.{dtype}"));
    }
    match tensor.grad_fn() {
        Some(node) => suffixes.push(format!("grad_fn=<{node}>")),
        None if tensor.requires_grad() => suffixes.push("requires_grad=True".into()),
        None => {}
    }
    Ok(with_suffixes(&body, &suffixes))
}

fn with_suffixes(body: &str, suffixes: &[String]) -> String {
    let mut text = format!("{PREFIX}{body}");
    let mut column = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
    for suffix in suffixes {
        if column + suffix.len() + 3 > WIDTH {
            text.push_str(&format!(",\n{}{suffix}", " ".repeat(PREFIX.len())));
            column = PREFIX.len() + suffix.len();
        } else {
            text.push_str(&format!(", {suffix}"));
            column += suffix.len() + 2;
        }
    }
    text + ")"
}

/// `(2,)`
fn tuple(sizes: &[i64]) -> String {
    let list: Vec<String> = sizes.iter().map(i64::to_string).collect();
    format!("({}{})", list.join(", "), if sizes.len() == 1 { "," } else { "" })
}

fn body(tensor: &Core, dtype: DType, sizes: &[i64]) -> Result<String> {
    let summarized = tensor.numel() > THRESHOLD;
    let shown = if summarized { edges(tensor, sizes)? } else { tensor.clone() };
    let entries = Entries::of(&shown, dtype)?;
    let mut lines = Lines { sizes, summarized, width: entries.width, strings: entries.strings.into_iter() };
    Ok(lines.below(0, PREFIX.len()))
}

/// The entries of a summarized tensor.
fn edges(tensor: &Core, sizes: &[i64]) -> Result<Core> {
    let mut shown = tensor.clone();
    for (dim, size) in (0..).zip(sizes).filter(|(_, size)| **size > 2 * EDGE) {
        let head = ops::slice_tensor(&shown, dim, Some(0), Some(EDGE), 1)?;
        let tail = ops::slice_tensor(&shown, dim, Some(size - EDGE), Some(*size), 1)?;
        shown = ops::cat(&[&head, &tail], dim)?;
    }
    Ok(shown)
}

/// The string of each element, and the width that determines how many fit on a line.
struct Entries {
    strings: Vec<String>,
    width: usize,
}

impl Entries {
    fn of(tensor: &Core, dtype: DType) -> Result<Entries> {
        let converted = |dtype: DType| ops::to_dtype(tensor, dtype, false, false, None);
        if dtype.is_complex() {
            return Ok(Entries::of_complex(&converted(DType::C128)?.to_vec()?));
        }
        if dtype.is_floating() {
            return Ok(Entries::of_floats(&converted(DType::F64)?.to_vec()?));
        }
        let strings: Vec<String> = match dtype {
            DType::Bool => {
                tensor.to_vec::<bool>()?.iter().map(|&flag| (if flag { "True" } else { "False" }).into()).collect()
            }
            DType::U64 => tensor.to_vec::<u64>()?.iter().map(u64::to_string).collect(),
            _ => converted(DType::I64)?.to_vec::<i64>()?.iter().map(i64::to_string).collect(),
        };
        let width = strings.iter().map(String::len).max().unwrap_or(0);
        Ok(Entries { strings, width })
    }

    /// One format for all elements: scientific for wide ranges, without decimals if all are integers, otherwise four digits.
    /// Only finite nonzero numbers determine it, and the width.
    fn of_floats(values: &[f64]) -> Entries {
        let deciding: Vec<f64> = values.iter().copied().filter(|value| value.is_finite() && *value != 0.0).collect();
        let is_whole = deciding.iter().all(|value| *value == value.ceil());
        let (least, most) = deciding.iter().fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), value| {
            (least.min(value.abs()), most.max(value.abs()))
        });
        let is_scientific = !deciding.is_empty() && (most / least > 1000.0 || most > 1e8 || !is_whole && least < 1e-4);
        let format = |value: f64| match () {
            () if value.is_nan() => "nan".to_owned(),
            () if value.is_infinite() => (if value > 0.0 { "inf" } else { "-inf" }).to_owned(),
            () if is_scientific => scientific(value),
            () if is_whole => format!("{value:.0}."),
            () => format!("{value:.4}"),
        };
        let width = deciding.iter().map(|value| format(*value).len()).max().unwrap_or(1);
        let strings = values.iter().map(|value| format!("{:>width$}", format(*value))).collect();
        Entries { strings, width }
    }

    /// Each part has its own format.
    fn of_complex(values: &[Complex<f64>]) -> Entries {
        let part = |part: fn(&Complex<f64>) -> f64| Entries::of_floats(&values.iter().map(part).collect::<Vec<_>>());
        let (real, imaginary) = (part(|value| value.re), part(|value| value.im.abs()));
        let parts = real.strings.iter().zip(&imaginary.strings).zip(values);
        let sign = |value: f64| if value.is_sign_negative() { '-' } else { '+' };
        let strings = parts.map(|((real, imaginary), value)| format!("{real}{}{imaginary}j", sign(value.im))).collect();
        Entries { strings, width: real.width + imaginary.width + 2 }
    }
}

/// `1.5000e-07`: the exponent has a sign and two digits.
fn scientific(value: f64) -> String {
    let text = format!("{value:.4e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// The entries in lines and brackets.
struct Lines<'a> {
    sizes: &'a [i64],
    summarized: bool,
    width: usize,
    strings: std::vec::IntoIter<String>,
}

impl Lines<'_> {
    /// The part below dimension `dim`, which begins in this column.
    fn below(&mut self, dim: usize, indent: usize) -> String {
        let Some(size) = self.sizes.get(dim) else {
            return format!("{:>width$}", self.strings.next().unwrap_or_default(), width = self.width);
        };
        let has_dots = self.summarized && *size > 2 * EDGE;
        let is_last = dim + 1 == self.sizes.len();
        let mut parts = Vec::new();
        for index in 0..if has_dots { 2 * EDGE } else { *size } {
            if has_dots && index == EDGE {
                parts.push(if is_last { " ...".to_owned() } else { "...".to_owned() });
            }
            parts.push(self.below(dim + 1, indent + 1));
        }
        if !is_last {
            let gap = format!(",{}{}", "\n".repeat(self.sizes.len() - 1 - dim), " ".repeat(indent + 1));
            return format!("[{}]", parts.join(&gap));
        }
        let per_line = (WIDTH.saturating_sub(indent) / (self.width + 2)).max(1);
        let lines: Vec<String> = parts.chunks(per_line).map(|line| line.join(", ")).collect();
        format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(indent + 1))))
    }
}
