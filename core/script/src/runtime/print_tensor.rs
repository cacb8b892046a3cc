//! Tensors as PyTorch's C++ library prints them: columns of numbers, and a last line with dtype and sizes.

use super::print::{general, scientific};
use crate::builtins::call;
use rushlight_base::{DType, Device, DeviceType, Result, SmallVec};
use rushlight_tensor::Tensor;
use std::fmt::Write;

/// The width that matrices are broken at.
const LINE: usize = 80;

/// The printed form of a tensor.
pub(super) fn printed(tensor: &Tensor) -> String {
    let mut out = String::new();
    if elements(tensor).and_then(|elements| print(&elements, &tensor.sizes(), &mut out)).is_err() {
        out.clear();
    }
    let sizes: Vec<String> = tensor.sizes().iter().map(ToString::to_string).collect();
    let device = match tensor.device().kind {
        DeviceType::Cpu => "CPU",
        DeviceType::Cuda => "CUDA",
        DeviceType::Meta => "Meta",
    };
    // Writing to a string cannot fail.
    let _ = write!(out, "[ {device}{}Type{{{}}} ]", tensor.dtype().c10_name(), sizes.join(","));
    out
}

/// The elements in row-major order. The real parts of complex numbers, as in PyTorch.
fn elements(tensor: &Tensor) -> Result<Vec<f64>> {
    let mut value = call("detach", "", &[tensor.clone().into()])?;
    if tensor.dtype().is_quantized() {
        value = call("dequantize", "self", &[value])?;
    } else if tensor.dtype().is_complex() {
        value = call("real", "", &[value])?;
    }
    let named = vec![("dtype".to_owned(), DType::F64.into()), ("device".to_owned(), Device::CPU.into())];
    let args = vec![value.as_tensor()?.into()];
    let wide: Tensor = rushlight_tensor::dispatch::by_name::call("to", "dtype_layout", args, named)?.extract()?;
    wide.to_vec::<f64>()
}

/// How the numbers of a block are printed.
struct Format {
    scale: f64,
    width: usize,
    style: Style,
}

enum Style {
    General,
    Fixed,
    Scientific,
}

impl Format {
    fn of(numbers: &[f64]) -> Format {
        let integers = numbers.iter().all(|number| !number.is_finite() || *number == number.ceil());
        let finite = || numbers.iter().filter(|number| number.is_finite()).map(|number| number.abs());
        let exponent = |number: f64| if number == 0.0 { 1.0 } else { number.log10().floor() + 1.0 };
        let least = finite().reduce(f64::min).map_or(1.0, exponent);
        let most = finite().reduce(f64::max).map_or(1.0, exponent);
        let (scale, width, style) = if integers {
            if most > 9.0 { (1.0, 11, Style::Scientific) } else { (1.0, most as usize + 1, Style::General) }
        } else if most - least > 4.0 {
            (1.0, if most.abs() > 99.0 || least.abs() > 99.0 { 12 } else { 11 }, Style::Scientific)
        } else if !(0.0..=5.0).contains(&most) {
            (10f64.powf(most - 1.0), 7, Style::Fixed)
        } else if most == 0.0 {
            (1.0, 7, Style::Fixed)
        } else {
            (1.0, most as usize + 6, Style::Fixed)
        };
        Format { scale, width, style }
    }

    fn number(&self, number: f64, out: &mut String) {
        let number = number / self.scale;
        let text = match self.style {
            _ if !number.is_finite() => general(number, 6),
            Style::General => general(number, 6),
            Style::Fixed => format!("{number:.4}"),
            Style::Scientific => scientific(number, 4),
        };
        let _ = write!(out, "{text:>width$}", width = self.width);
    }
}

fn print(numbers: &[f64], sizes: &[i64], out: &mut String) -> Result<()> {
    match sizes {
        [] => {
            if let [number] = numbers {
                out.push_str(&general(*number, 6));
                out.push('\n');
            }
        }
        _ if numbers.is_empty() => {}
        [_] => {
            let format = Format::of(numbers);
            if format.scale != 1.0 {
                out.push_str(&format!("{} *\n", general(format.scale, 6)));
            }
            for &number in numbers {
                format.number(number, out);
                out.push('\n');
            }
        }
        [_, columns] => matrix(numbers, *columns as usize, 0, out),
        [outer @ .., rows, columns] => {
            let block = (*rows * *columns) as usize;
            let mut counter: SmallVec<[i64; 8]> = SmallVec::from_elem(0, outer.len());
            let mut first = true;
            loop {
                if !first {
                    out.push('\n');
                }
                first = false;
                let index = counter.iter().zip(outer).fold(0, |index, (at, size)| index * size + at) as usize;
                let place: Vec<String> = counter.iter().map(|at| (at + 1).to_string()).collect();
                out.push_str(&format!("({},.,.) = \n", place.join(",")));
                matrix(numbers.get(index * block..(index + 1) * block).unwrap_or_default(), *columns as usize, 1, out);
                // The first counter is the fastest.
                let advanced = counter.iter_mut().zip(outer).find_map(|(at, size)| {
                    *at += 1;
                    if at < &mut { *size } {
                        return Some(());
                    }
                    *at = 0;
                    None
                });
                if advanced.is_none() {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn matrix(numbers: &[f64], columns: usize, indent: usize, out: &mut String) {
    let format = Format::of(numbers);
    let margin = " ".repeat(indent);
    out.push_str(&margin);
    let per_line = ((LINE - indent) / (format.width + 1)).max(1);
    let rows = numbers.chunks(columns.max(1));
    let last_row = rows.len().saturating_sub(1);
    let mut first = 0;
    while first < columns {
        let end = (first + per_line).min(columns);
        if per_line < columns {
            out.push_str(if first > 0 { "\n" } else { "" });
            out.push_str(&format!("Columns {} to {end}", first + 1));
            out.push_str(&margin);
        }
        if format.scale != 1.0 {
            out.push_str(&format!("{} *\n{margin}", general(format.scale, 6)));
        }
        for (at, row) in rows.clone().enumerate() {
            for (column, &number) in row.get(first..end).unwrap_or_default().iter().enumerate() {
                out.push_str(if column > 0 { " " } else { "" });
                format.number(number, out);
            }
            out.push('\n');
            if at != last_row {
                out.push_str(&margin);
                out.push_str(if format.scale != 1.0 { " " } else { "" });
            }
        }
        first = end;
    }
}
