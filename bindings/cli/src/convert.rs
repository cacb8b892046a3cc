//! `rushlight convert`: writes the tensors of a file in another format.

use crate::model::{Format, Model};
use crate::plain::plain;
use anyhow::{Result, anyhow, ensure};
use rushlight_base::DType;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Converts a file. Values that are not tensors (epochs, learning rates) are left out, and listed.
#[derive(clap::Args)]
pub struct Convert {
    /// The file to read; its format is detected from the contents.
    from: PathBuf,
    /// The file to write; its format follows the extension: .pt, .pth, .bin, .safetensors or .npz.
    to: PathBuf,
    /// The new dtype of floating-point tensors: float16, bfloat16, float32 or float64.
    #[arg(long, value_parser = float_dtype)]
    dtype: Option<DType>,
}

fn float_dtype(name: &str) -> Result<DType> {
    let dtype = DType::from_name(name).map_err(|error| anyhow!("{error}"))?;
    ensure!(dtype.is_floating(), "{name} is not a floating-point dtype");
    Ok(dtype)
}

impl Convert {
    /// Runs the command.
    pub fn run(&self, out: &mut impl Write) -> Result<()> {
        let format = Format::of_name(&self.to)?;
        ensure!(
            !is_same_file(&self.from, &self.to),
            "{} and {} are the same file, and values that are not tensors would be lost: write to another name, look at the result, and \
             move it over the first",
            self.from.display(),
            self.to.display()
        );
        let mut model = Model::load(&self.from)?;
        if format != Format::Pt {
            model.resolve()?;
        }
        if let Some(dtype) = self.dtype {
            model.convert(dtype)?;
        }
        model.save(&self.to)?;
        writeln!(out, "{}: {}, {} tensors", plain(self.to.display()), format.name(), model.entries.len())?;
        if !model.values.is_empty() {
            let names: Vec<&str> = model.values.iter().map(|(name, _)| name.as_str()).collect();
            writeln!(out, "left out, because they are not tensors: {}", plain(names.join(", ")))?;
        }
        if !model.metadata.is_empty() && format != Format::Safetensors {
            let names: Vec<&str> = model.metadata.keys().map(String::as_str).collect();
            writeln!(out, "left out, because only safetensors store metadata: {}", plain(names.join(", ")))?;
        }
        Ok(())
    }
}

/// Whether both paths lead to the same file, through links of either kind.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let (Ok(one), Ok(other)) = (std::fs::canonicalize(one), std::fs::canonicalize(other)) else { return false };
    one == other || have_same_inode(&one, &other)
}

#[cfg(unix)]
fn have_same_inode(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let of = |path: &Path| std::fs::metadata(path).map(|found| (found.dev(), found.ino()));
    matches!((of(one), of(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(not(unix))]
fn have_same_inode(_: &Path, _: &Path) -> bool {
    false
}
