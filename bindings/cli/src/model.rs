//! A file of tensors, whatever its format.

use crate::npz;
use anyhow::{Context, Result, bail};
use rushlight_base::DType;
use rushlight_io::pt::Leaf;
use rushlight_io::{Entry, pt, safetensors};
use rushlight_tensor::{Tensor, ops};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Seek;
use std::path::Path;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PyTorch's.
    Pt,
    /// Hugging Face's.
    Safetensors,
    /// NumPy's.
    Npz,
}

impl Format {
    /// What a file is to be, by its name.
    pub fn of_name(path: &Path) -> Result<Format> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pt" | "pth" | "bin") => Ok(Format::Pt),
            Some("safetensors") => Ok(Format::Safetensors),
            Some("npz") => Ok(Format::Npz),
            _ => bail!("{}: the name of the file must end in .pt, .pth, .bin, .safetensors or .npz", path.display()),
        }
    }

    /// What a file is, by its content.
    fn of_content(path: &Path) -> Result<Format> {
        let mut source = File::open(path)?;
        if npz::is_npz(&source) {
            return Ok(Format::Npz);
        }
        source.rewind()?;
        Ok(if pt::is_pt(&mut source)? { Format::Pt } else { Format::Safetensors })
    }

    /// Its name among people.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pt => "PyTorch",
            Format::Safetensors => "safetensors",
            Format::Npz => "NumPy",
        }
    }
}

/// What a file holds.
pub struct Model {
    /// What the file is.
    pub format: Format,
    /// The tensors, in its order.
    pub entries: Vec<Entry>,
    /// What is no tensor.
    pub values: Vec<(String, Leaf)>,
    /// Free-form text of a header.
    pub metadata: BTreeMap<String, String>,
}

impl Model {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Model> {
        Model::read(path).with_context(|| path.display().to_string())
    }

    fn read(path: &Path) -> Result<Model> {
        let format = Format::of_content(path)?;
        let mut model = Model { format, entries: Vec::new(), values: Vec::new(), metadata: BTreeMap::new() };
        let source = File::open(path)?;
        match format {
            Format::Pt => {
                let file = pt::read(std::io::BufReader::new(source))?;
                (model.entries, model.values) = (file.entries, file.values);
            }
            Format::Safetensors => {
                let file = safetensors::read(std::io::BufReader::new(source))?;
                (model.entries, model.metadata) = (file.entries, file.metadata.into_iter().collect());
            }
            Format::Npz => model.entries = npz::read(source)?,
        }
        Ok(model)
    }

    /// Writes the tensors to a file of the format that its name says; safetensors get the metadata, too.
    pub fn save(&self, path: &Path) -> Result<()> {
        match Format::of_name(path)? {
            Format::Pt => pt::save(path, &self.entries)?,
            Format::Safetensors => {
                let metadata: HashMap<_, _> = self.metadata.clone().into_iter().collect();
                safetensors::save(path, &self.entries, (!metadata.is_empty()).then_some(metadata))?;
            }
            Format::Npz => npz::save(path, &self.entries)?,
        }
        Ok(())
    }

    /// Carries out what tensors put off: formats other than PyTorch's cannot say that one is to be conjugated.
    pub fn resolve(&mut self) -> Result<()> {
        for entry in self.entries.iter_mut().filter(|entry| entry.conjugate || entry.negative) {
            let tensor = ops::resolve_neg(&ops::resolve_conj(&entry.clone().into_tensor()?)?)?;
            *entry = Entry::from_tensor(entry.name.clone(), &ops::detach(&tensor)?)?;
        }
        Ok(())
    }

    /// Converts the floating-point tensors.
    pub fn convert(&mut self, dtype: DType) -> Result<()> {
        for entry in self.entries.iter_mut().filter(|entry| entry.dtype.is_floating() && entry.dtype != dtype) {
            let tensor = to_dtype(&ops::detach(&entry.clone().into_tensor()?)?, dtype)?;
            let requires_grad = entry.requires_grad;
            *entry = Entry::from_tensor(entry.name.clone(), &tensor)?;
            entry.requires_grad = requires_grad;
        }
        Ok(())
    }

    /// Bytes of the storages; entries that share one count once.
    pub fn bytes(&self) -> u64 {
        let mut seen = HashSet::new();
        let storages = self.entries.iter().map(|entry| &entry.storage);
        storages.filter(|storage| seen.insert(storage.data() as usize)).map(|storage| storage.bytes() as u64).sum()
    }
}

/// The tensor in another dtype.
pub fn to_dtype(tensor: &Tensor, dtype: DType) -> Result<Tensor> {
    Ok(ops::to_dtype(tensor, dtype, false, false, None)?)
}
