//! A file of tensors, in any format.

use crate::npz;
use anyhow::{Context, Result, bail};
use rushlight_base::DType;
use rushlight_io::pt::Leaf;
use rushlight_io::{Content, Entry, pt, recognise, safetensors};
use rushlight_tensor::{Tensor, ops};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Seek};
use std::path::Path;

/// File format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PyTorch's.
    Pt,
    /// Hugging Face's.
    Safetensors,
    /// NumPy's archive.
    Npz,
    /// NumPy's file of one array.
    Npy,
}

impl Format {
    /// The format of a file to write, by its extension.
    pub fn of_name(path: &Path) -> Result<Format> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pt" | "pth" | "bin") => Ok(Format::Pt),
            Some("safetensors") => Ok(Format::Safetensors),
            Some("npz") => Ok(Format::Npz),
            Some("npy") => Ok(Format::Npy),
            _ => bail!(
                "{}: the name of the file must end in .pt, .pth, .bin, .safetensors, .npz or .npy",
                path.display()
            ),
        }
    }

    /// The format of a file, detected from its contents.
    fn of_content(path: &Path) -> Result<Format> {
        let mut source = File::open(path)?;
        if npz::is_npz(&source) {
            return Ok(Format::Npz);
        }
        source.rewind()?;
        if npz::is_npy(&source) {
            return Ok(Format::Npy);
        }
        source.rewind()?;
        match recognise(&mut source)? {
            Content::Pt => Ok(Format::Pt),
            Content::Safetensors => Ok(Format::Safetensors),
            Content::Neither(reason) => bail!("not a PyTorch, safetensors or NumPy file: {reason}"),
        }
    }

    /// Its display name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Pt => "PyTorch",
            Format::Safetensors => "safetensors",
            Format::Npz | Format::Npy => "NumPy",
        }
    }
}

/// The contents of a file.
pub struct Model {
    /// The format.
    pub format: Format,
    /// The tensors, in its order.
    pub entries: Vec<Entry>,
    /// Values that are not tensors.
    pub values: Vec<(String, Leaf)>,
    /// Free-form metadata of a header.
    pub metadata: BTreeMap<String, String>,
    /// Bytes of the tensors; shared bytes count once.
    pub bytes: u64,
}

impl Model {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Model> {
        let read = || -> Result<_> {
            match Format::of_content(path)? {
                Format::Pt => Ok(Model::of_pt(pt::read(open(path)?)?)),
                Format::Safetensors => Ok(Model::of_safetensors(safetensors::read(open(path)?)?)),
                Format::Npz => Ok(Model::of_arrays(Format::Npz, npz::read(open(path)?)?)),
                Format::Npy => Ok(Model::of_arrays(Format::Npy, vec![npz::read_array(open(path)?)?])),
            }
        };
        read().with_context(|| path.display().to_string())
    }

    /// Reads the metadata of the tensors of a file, without their data.
    pub fn list(path: &Path) -> Result<Model> {
        let read = || -> Result<_> {
            match Format::of_content(path)? {
                Format::Pt => Ok(Model::of_pt(pt::list(open(path)?)?)),
                Format::Safetensors => Ok(Model::of_safetensors(safetensors::list(open(path)?)?)),
                Format::Npz => Ok(Model::of_arrays(Format::Npz, npz::list(open(path)?)?)),
                Format::Npy => Ok(Model::of_arrays(Format::Npy, vec![npz::list_array(open(path)?)?])),
            }
        };
        read().with_context(|| path.display().to_string())
    }

    /// Passes on the tensors of a file, in any order, each with its index; the storage of one tensor at a time is in
    /// memory.
    pub fn visit(path: &Path, mut look: impl FnMut(usize, Entry) -> rushlight_base::Result<()>) -> Result<()> {
        let read = || -> Result<_> {
            match Format::of_content(path)? {
                Format::Pt => Ok(pt::visit(open(path)?, look)?),
                Format::Safetensors => Ok(safetensors::visit(open(path)?, look)?),
                Format::Npz => npz::visit(open(path)?, look),
                Format::Npy => Ok(look(0, npz::read_array(open(path)?)?)?),
            }
        };
        read().with_context(|| path.display().to_string())
    }

    fn of_pt(file: pt::Checkpoint) -> Model {
        Model {
            format: Format::Pt,
            entries: file.entries,
            values: file.values,
            metadata: BTreeMap::new(),
            bytes: file.bytes,
        }
    }

    fn of_safetensors(file: safetensors::SafeTensors) -> Model {
        let metadata = file.metadata.into_iter().collect();
        Model { metadata, ..Model::of_arrays(Format::Safetensors, file.entries) }
    }

    /// Tensors that each have their own bytes, and no other values.
    pub fn of_arrays(format: Format, entries: Vec<Entry>) -> Model {
        let bytes = entries.iter().map(|entry| entry.storage.bytes() as u64).sum();
        Model { format, entries, values: Vec::new(), metadata: BTreeMap::new(), bytes }
    }

    /// Writes the tensors to a file in the format of its extension; safetensors also get the metadata.
    pub fn save(&self, path: &Path) -> Result<()> {
        match Format::of_name(path)? {
            Format::Pt => pt::save(path, &self.entries)?,
            Format::Safetensors => {
                let metadata: HashMap<_, _> = self.metadata.clone().into_iter().collect();
                safetensors::save(path, &self.entries, (!metadata.is_empty()).then_some(metadata))?;
            }
            Format::Npz => npz::save(path, &self.entries)?,
            Format::Npy => match self.entries.as_slice() {
                [entry] => npz::save_array(path, entry)?,
                entries => bail!("a .npy file has one tensor, not {}: write .npz", entries.len()),
            },
        }
        Ok(())
    }

    /// Materializes the conj and neg bits: formats other than PyTorch's cannot store them.
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
}

fn open(path: &Path) -> Result<BufReader<File>> {
    Ok(BufReader::new(File::open(path)?))
}

/// The tensor in another dtype.
pub fn to_dtype(tensor: &Tensor, dtype: DType) -> rushlight_base::Result<Tensor> {
    ops::to_dtype(tensor, dtype, false, false, None)
}
