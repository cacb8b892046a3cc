//! `rushlight convert`: the tensors of a file in another format.

use crate::model::{Format, Model};
use anyhow::{Result, anyhow, ensure};
use rushlight_base::DType;
use std::io::Write;
use std::path::PathBuf;

/// Converts a file. What is no tensor (epochs, learning rates) stays behind, and is named.
#[derive(clap::Args)]
pub struct Convert {
    /// The file to read; its content says what it is.
    from: PathBuf,
    /// The file to write; its name says what it shall be: .pt, .pth, .bin, .safetensors or .npz.
    to: PathBuf,
    /// The dtype that floating-point tensors get: float16, bfloat16, float32 or float64.
    #[arg(long, value_parser = float_dtype)]
    dtype: Option<DType>,
}

fn float_dtype(name: &str) -> Result<DType> {
    let dtype = DType::from_name(name).map_err(|error| anyhow!("{error}"))?;
    ensure!(dtype.is_floating(), "{name} is no floating-point dtype");
    Ok(dtype)
}

impl Convert {
    /// Runs the command.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        let format = Format::of_name(&self.to)?;
        let mut model = Model::load(&self.from)?;
        if format != Format::Pt {
            model.resolve()?;
        }
        if let Some(dtype) = self.dtype {
            model.convert(dtype)?;
        }
        model.save(&self.to)?;
        writeln!(out, "{}: {}, {} tensors", self.to.display(), format.name(), model.entries.len())?;
        if !model.values.is_empty() {
            let names: Vec<&str> = model.values.iter().map(|(name, _)| name.as_str()).collect();
            writeln!(out, "left behind, because they are no tensors: {}", names.join(", "))?;
        }
        if !model.metadata.is_empty() && format != Format::Safetensors {
            let names: Vec<&str> = model.metadata.keys().map(String::as_str).collect();
            writeln!(out, "left behind, because only safetensors have such: {}", names.join(", "))?;
        }
        Ok(())
    }
}
