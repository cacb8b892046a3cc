//! `rushlight inspect`: lists the contents of a file of tensors; `script` describes saved models.

use crate::model::Model;
use crate::plain::plain;
use crate::script;
use crate::summary::Summary;
use anyhow::{Result, ensure};
use comfy_table::{CellAlignment, Table, presets};
use rushlight_base::err;
use rushlight_io::Entry;
use rushlight_io::pt::Leaf;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Lists the tensors of files.
#[derive(clap::Args)]
pub struct Inspect {
    /// Files: .pt (of tensors, or TorchScript), .safetensors, .npz or .npy.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Minimum, mean, maximum and standard deviation of each tensor, and the number of non-finite values.
    #[arg(long)]
    stats: bool,
    /// One JSON object per file.
    #[arg(long)]
    json: bool,
    /// The graphs of the methods, of a saved model.
    #[arg(long)]
    graph: bool,
    /// The graphs of the methods in the language of Graphviz, and nothing else.
    #[arg(long, conflicts_with_all = ["graph", "json", "stats"])]
    dot: bool,
}

impl Inspect {
    /// Runs the command.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        for file in &self.files {
            if let Some(script) = script::Description::of(file)? {
                match (self.dot, self.json) {
                    (true, _) => script.write_dot(out)?,
                    (false, true) => writeln!(out, "{}", script.as_json(file, self.graph))?,
                    (false, false) => write!(out, "{}", script.as_text(file, self.graph))?,
                }
                continue;
            }
            ensure!(!self.graph && !self.dot, "{}: the file has no program, so no graph", file.display());
            let model = Model::list(file)?;
            let stats = if self.stats { figures(file, &model)? } else { Vec::new() };
            match self.json {
                true => writeln!(out, "{}", as_json(file, &model, &stats))?,
                false => write!(out, "{}", as_text(file, &model, &stats))?,
            }
        }
        Ok(())
    }
}

/// The statistics of the tensors, in the order of the model.
fn figures(file: &Path, model: &Model) -> Result<Vec<Summary>> {
    let mut stats = vec![Summary::default(); model.entries.len()];
    Model::visit(file, |at, entry| {
        let place = stats.get_mut(at).ok_or_else(|| err!(Io, "the file changes while it is read"))?;
        *place = Summary::of(entry)?;
        Ok(())
    })?;
    Ok(stats)
}

fn numel(entry: &Entry) -> i64 {
    entry.sizes.iter().product()
}

fn bytes(entry: &Entry) -> u64 {
    numel(entry) as u64 * entry.dtype.size() as u64
}

fn as_json(file: &Path, model: &Model, stats: &[Summary]) -> serde_json::Value {
    let tensors = model.entries.iter().enumerate().map(|(at, entry)| {
        let mut row = json!({
            "name": entry.name, "dtype": entry.dtype.name(), "shape": entry.sizes.as_slice(), "strides": entry.strides.as_slice(),
            "bytes": bytes(entry), "requires_grad": entry.requires_grad,
        });
        if let Some(stats) = stats.get(at) {
            row["min"] = json!(stats.min);
            row["mean"] = json!(stats.mean);
            row["max"] = json!(stats.max);
            row["std"] = json!(stats.std);
            row["nan"] = json!(stats.nan);
            row["infinite"] = json!(stats.infinite);
        }
        row
    });
    let values: serde_json::Map<_, _> =
        model.values.iter().map(|(name, leaf)| (name.clone(), leaf_json(leaf))).collect();
    json!({
        "file": file.display().to_string(), "format": model.format.name(), "bytes": model.bytes,
        "parameters": model.entries.iter().map(numel).sum::<i64>(), "tensors": tensors.collect::<Vec<_>>(),
        "values": values, "metadata": model.metadata,
    })
}

fn leaf_json(leaf: &Leaf) -> serde_json::Value {
    match leaf {
        Leaf::None => json!(null),
        Leaf::Bool(value) => json!(value),
        Leaf::Int(value) => json!(value),
        Leaf::Float(value) => json!(value),
        Leaf::Complex(real, imaginary) => json!([real, imaginary]),
        Leaf::Text(text) => json!(text),
        Leaf::Sequence(_, length) => json!({ "length": length }),
    }
}

fn as_text(file: &Path, model: &Model, stats: &[Summary]) -> String {
    let mut text = format!(
        "{}: {}, {} tensors, {} elements, {}\n",
        plain(file.display()),
        model.format.name(),
        model.entries.len(),
        grouped(model.entries.iter().map(numel).sum()),
        human(model.bytes)
    );
    let mut table = Table::new();
    let mut header = vec!["name", "dtype", "shape", "bytes"];
    if !stats.is_empty() {
        header.extend(["min", "mean", "max", "std", "nan", "inf"]);
    }
    table.set_header(header);
    for (at, entry) in model.entries.iter().enumerate() {
        let name = if entry.name.is_empty() { "(the tensor)".to_owned() } else { plain(&entry.name) };
        let mut row = vec![name, entry.dtype.to_string(), shape(entry), human(bytes(entry))];
        if let Some(stats) = stats.get(at) {
            row.extend([stats.min, stats.mean, stats.max, stats.std].map(|value| format!("{value:.4}")));
            row.extend([stats.nan, stats.infinite].map(|count| if count == 0 { "-".into() } else { grouped(count) }));
        }
        table.add_row(row);
    }
    text.push_str(&shown_table(table, 3));
    for (name, leaf) in &model.values {
        text.push_str(&format!(" {} = {}\n", plain(name), plain(leaf_json(leaf))));
    }
    for (key, value) in &model.metadata {
        text.push_str(&format!(" {}: {}\n", plain(key), plain(value)));
    }
    text
}

/// A table as text, whose columns from `numbers` on are numbers.
pub fn shown_table(mut table: Table, numbers: usize) -> String {
    table.load_style(presets::NOTHING);
    for column in table.column_iter_mut().skip(numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn shape(entry: &Entry) -> String {
    rushlight_base::format_sizes(&entry.sizes)
}

/// 1234567 as 1,234,567.
pub fn grouped(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Bytes in a suitable unit.
fn human(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1024.0;
    }
    format!("{value:.1} TiB")
}
