//! `rushlight run`: calls a method of a saved model.

use crate::inspect::shown_table;
use crate::model::{Format, Model};
use crate::plain::plain;
use crate::profile::Profiling;
use crate::summary::Summary;
use anyhow::{Context, Result, bail, ensure};
use comfy_table::Table;
use rushlight_base::DType;
use rushlight_io::Entry;
use rushlight_script::module::Module;
use rushlight_script::passes;
use rushlight_script::plan::Compiled;
use rushlight_script::runtime::value::Value;
use rushlight_tensor::{Tensor, ops};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Results are listed to this depth of lists, tuples and dicts.
const MAX_DEPTH: usize = 64;

/// Calls a method of a model that torch.jit.save wrote, and lists the results.
#[derive(clap::Args)]
pub struct Run {
    /// The model: a TorchScript file.
    model: PathBuf,
    /// An argument: a file (.npy, .npz, .safetensors or .pt), a number, a string in double quotes, true, false or
    /// none. Each tensor of a file is an argument. NAME=VALUE is the argument of the parameter NAME.
    #[arg(long = "input", value_name = "VALUE", allow_hyphen_values = true)]
    inputs: Vec<String>,
    /// The method.
    #[arg(long, default_value = "forward")]
    method: String,
    /// Writes the tensors of the results to a file: .npy (a single tensor), .npz, .safetensors or .pt.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compiles the model for inference, and prints the plan of the call.
    #[arg(long)]
    plan: bool,
    /// Compiles the model for inference, with the weights of linear layers in this dtype.
    #[arg(long, value_enum, value_name = "DTYPE")]
    weights: Option<Weights>,
    #[command(flatten)]
    profiling: Profiling,
}

/// The dtype in which a compiled model keeps the weights of linear layers.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Weights {
    Float32,
    Bfloat16,
    /// With a scale for each output.
    Int8,
}

impl Weights {
    fn dtype(self) -> DType {
        match self {
            Weights::Float32 => DType::F32,
            Weights::Bfloat16 => DType::BF16,
            Weights::Int8 => DType::I8,
        }
    }
}

impl Run {
    /// Runs the command.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        let printed = Arc::new(Mutex::new(Vec::new()));
        let sink = printed.clone();
        let print = move |text: &[u8]| sink.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(text);
        let mut module = Module::load(&self.model)?;
        module.eval()?;
        if self.plan || self.weights.is_some() {
            let others: &[&str] = if self.method == "forward" { &[] } else { &[&self.method] };
            module = passes::compile(&module, others, self.weights.map_or(DType::F32, Weights::dtype))?;
        }
        let module = module.printing_to(Arc::new(print));
        let (mut args, mut named) = (Vec::new(), Vec::new());
        for input in &self.inputs {
            match name_of(input) {
                Some((name, value)) => named.push((name, argument(value)?)),
                None => args.extend(arguments(input)?),
            }
        }
        let called = self.profiling.run(out, || module.run_method(&self.method, args, named))?;
        if self.plan {
            let plans = module.method(&self.method)?.plans().map(Compiled::describe).unwrap_or_default();
            plans.lines().try_for_each(|line| writeln!(out, "{}", plain(line)))?;
        }
        let text = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
        for line in String::from_utf8_lossy(&text).lines() {
            writeln!(out, "{}", plain(line))?;
        }
        let mut results = Vec::new();
        flatten("result", &called?, MAX_DEPTH, &mut results)?;
        write!(out, "{}", table(&results)?)?;
        self.output.as_deref().map_or(Ok(()), |path| save(path, &results))
    }
}

/// The name and the value of `NAME=VALUE`.
fn name_of(input: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        !name.starts_with(|first: char| first.is_ascii_digit())
            && !name.is_empty()
            && name.chars().all(|character| character == '_' || character.is_ascii_alphanumeric())
    };
    input.split_once('=').filter(|(name, _)| is_name(name))
}

fn literal(text: &str) -> Option<Value> {
    match text {
        "true" | "True" => return Some(Value::Bool(true)),
        "false" | "False" => return Some(Value::Bool(false)),
        "none" | "None" => return Some(Value::None),
        _ => {}
    }
    if let Some(quoted) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return Some(quoted.into());
    }
    text.parse().map(Value::Int).or_else(|_| text.parse().map(Value::Float)).ok()
}

/// The tensors of a file.
fn tensors(file: &Path) -> Result<Vec<(String, Tensor)>> {
    let entries = Model::load(file)?.entries;
    ensure!(!entries.is_empty(), "{}: the file has no tensors", file.display());
    let tensor = |entry: Entry| Ok((entry.name.clone(), ops::detach(&entry.into_tensor()?)?));
    entries.into_iter().map(tensor).collect()
}

/// The arguments that a value stands for, in order.
fn arguments(text: &str) -> Result<Vec<Value>> {
    match literal(text) {
        Some(value) => Ok(vec![value]),
        None => Ok(tensors(Path::new(text))?.into_iter().map(|(_, tensor)| tensor.into()).collect()),
    }
}

/// A single argument.
fn argument(text: &str) -> Result<Value> {
    let mut values = arguments(text)?;
    match values.len() {
        1 => values.pop().context("no value"),
        count => bail!("{text}: the file has {count} tensors, but the parameter takes one value"),
    }
}

/// The values inside of a result with their paths.
fn flatten(path: &str, value: &Value, depth: usize, found: &mut Vec<(String, Value)>) -> Result<()> {
    ensure!(depth > 0, "results are nested more than {MAX_DEPTH} deep");
    let mut each = |items: &[Value]| {
        let mut items = items.iter().enumerate();
        items.try_for_each(|(at, item)| flatten(&format!("{path}.{at}"), item, depth - 1, found))
    };
    match value {
        Value::List(list) => each(&list.values()),
        Value::Tuple(tuple) => each(tuple.items()),
        Value::Dict(dict) => {
            let mut entries = dict.entries().into_iter();
            entries.try_for_each(|(key, item)| flatten(&format!("{path}.{}", text(&key)), &item, depth - 1, found))
        }
        _ => {
            found.push((path.to_owned(), value.clone()));
            Ok(())
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(on) => if *on { "True" } else { "False" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Complex(value) => format!("{:?}{:+?}j", value.re, value.im),
        Value::Str(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Device(device) => device.to_string(),
        other => format!("({})", other.kind()),
    }
}

fn table(results: &[(String, Value)]) -> Result<String> {
    let mut table = Table::new();
    table.set_header(["name", "dtype", "shape", "min", "mean", "max"]);
    for (name, value) in results {
        let name = plain(name);
        let Value::Tensor(tensor) = value else {
            table.add_row([name, value.kind().to_owned(), plain(text(value))]);
            continue;
        };
        let shape = rushlight_base::format_sizes(&tensor.sizes());
        let mut row = vec![name, tensor.dtype().to_string(), shape];
        // Quantized and sparse values have no elements that a summary reads.
        if !tensor.dtype().is_quantized() && tensor.components().is_none() {
            let summary = Summary::of(Entry::from_tensor(String::new(), &ops::detach(tensor)?)?)?;
            row.extend([summary.min, summary.mean, summary.max].map(|value| format!("{value:.4}")));
        }
        table.add_row(row);
    }
    Ok(shown_table(table, 3))
}

fn save(path: &Path, results: &[(String, Value)]) -> Result<()> {
    let mut entries = Vec::new();
    for (name, value) in results {
        if let Value::Tensor(tensor) = value {
            let tensor = ops::resolve_neg(&ops::resolve_conj(&ops::detach(tensor)?)?)?;
            entries.push(Entry::from_tensor(name.clone(), &tensor)?);
        }
    }
    ensure!(!entries.is_empty(), "the result has no tensor to write");
    Model::of_arrays(Format::of_name(path)?, entries).save(path)
}
