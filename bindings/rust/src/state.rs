//! State dicts: named tensors in files.

use crate::{Result, Tensor};
use rushlight_base::{ensure, err, list};
use rushlight_io::{Entry, pt, safetensors};
use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

/// The format of a file of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// PyTorch's (`torch.save`).
    Pt,
    /// Hugging Face's.
    SafeTensors,
}

/// Named tensors in order: the parameters and buffers of a model.
///
/// ```
/// # use rushlight::{Format, StateDict, Tensor};
/// let mut state = StateDict::new();
/// state.insert("weight", &Tensor::try_from([1.0f32, 2.0])?);
/// let file = state.to_bytes(Format::SafeTensors)?;
/// assert_eq!(StateDict::from_bytes(&file)?.get("weight").unwrap().to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), rushlight::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct StateDict {
    names: HashMap<String, usize>,
    entries: Vec<(String, Tensor)>,
}

impl StateDict {
    /// A state dict without tensors.
    pub fn new() -> StateDict {
        StateDict::default()
    }

    /// Loads a `.pt` file (`torch.save` of a state dict, `torch.jit.save`, old formats) or a safetensors file; the contents
    /// decide. Nothing in the file is executed. The tensors do not require gradients.
    ///
    /// # Errors
    /// Raises an error of the kind `Io` if the file cannot be read, or is not valid.
    pub fn load(path: impl AsRef<Path>) -> Result<StateDict> {
        StateDict::of_entries(rushlight_io::load(path)?)
    }

    /// Reads the contents of a file, as [`load`](StateDict::load) does.
    ///
    /// # Errors
    /// As [`load`](StateDict::load).
    pub fn from_bytes(bytes: &[u8]) -> Result<StateDict> {
        StateDict::of_entries(rushlight_io::read(Cursor::new(bytes))?)
    }

    fn of_entries(entries: Vec<Entry>) -> Result<StateDict> {
        let mut state = StateDict::new();
        for mut entry in entries {
            let name = std::mem::take(&mut entry.name);
            state.insert(name, &Tensor(Entry { requires_grad: false, ..entry }.into_tensor()?));
        }
        Ok(state)
    }

    /// Saves the tensors: as safetensors if the name of the file ends with `.safetensors`, otherwise as `.pt`. An existing file
    /// is replaced atomically.
    ///
    /// # Errors
    /// Raises an error if the file cannot be written, or if the format cannot hold a tensor.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        rushlight_io::save(path, &self.to_entries()?)
    }

    /// The contents of a file.
    ///
    /// # Errors
    /// Raises an error if the format cannot hold a tensor.
    pub fn to_bytes(&self, format: Format) -> Result<Vec<u8>> {
        let entries = self.to_entries()?;
        match format {
            Format::Pt => pt::to_bytes(&entries),
            Format::SafeTensors => safetensors::to_bytes(&entries, None),
        }
    }

    fn to_entries(&self) -> Result<Vec<Entry>> {
        let entry = |(name, tensor): &(String, Tensor)| {
            Ok(Entry { requires_grad: false, ..Entry::from_tensor(name.clone(), &tensor.0)? })
        };
        list::try_collect(self.entries.iter().map(entry))
    }

    /// The tensor called `name`.
    pub fn get(&self, name: &str) -> Option<&Tensor> {
        self.names.get(name).map(|place| &self.entries[*place].1)
    }

    /// The tensor called `name`, or an error that names it.
    ///
    /// # Errors
    /// Raises an error of the kind `Index` if there is none.
    pub fn require(&self, name: &str) -> Result<&Tensor> {
        self.get(name).ok_or_else(|| err!(Index, "there is no tensor called '{name}'"))
    }

    /// Adds a tensor, or replaces the one of this name.
    pub fn insert(&mut self, name: impl Into<String>, tensor: &Tensor) {
        let name = name.into();
        match self.names.get(&name) {
            Some(place) => self.entries[*place].1 = tensor.clone(),
            None => {
                self.names.insert(name.clone(), self.entries.len());
                self.entries.push((name, tensor.clone()));
            }
        }
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no tensors.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Names and tensors in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Tensor)> {
        self.entries.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// Copies these tensors into those of the same names in `target`, without recording. With `strict`, both must have every
    /// name. Shapes must be equal. `model` is the name of the model in errors.
    ///
    /// # Errors
    /// Raises an error that lists all mismatches; nothing is written then.
    pub fn copy_into(&self, target: &StateDict, model: &str, strict: bool) -> Result<Incompatible> {
        let (from, to) = (self.named(), target.named());
        let left = rushlight_io::copy_state(&from, &to, model, strict)?;
        let names = |places: &[usize], of: &[(&str, _)]| places.iter().map(|place| of[*place].0.to_owned()).collect();
        Ok(Incompatible { missing: names(&left.missing, &to), unexpected: names(&left.unexpected, &from) })
    }

    fn named(&self) -> Vec<(&str, &rushlight_tensor::Tensor)> {
        self.iter().map(|(name, tensor)| (name, &tensor.0)).collect()
    }
}

impl<N: Into<String>> FromIterator<(N, Tensor)> for StateDict {
    fn from_iter<I: IntoIterator<Item = (N, Tensor)>>(entries: I) -> StateDict {
        let mut state = StateDict::new();
        entries.into_iter().for_each(|(name, tensor)| state.insert(name, &tensor));
        state
    }
}

/// The names that only one of two state dicts has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Incompatible {
    /// Names of the target without a source.
    pub missing: Vec<String>,
    /// Names of the source without a target.
    pub unexpected: Vec<String>,
}

impl Incompatible {
    /// An error unless every name of the target had a source.
    ///
    /// # Errors
    /// Raises an error that lists the missing names.
    pub fn check_complete(&self) -> Result<()> {
        ensure!(self.missing.is_empty(), Runtime, "these tensors are missing: {}", self.missing.join(", "));
        Ok(())
    }
}
