//! Values as entries: encodes the non-tensor values of a file as tensors whose names state the type (`lr:double`), for
//! callers that only handle tensors.

use super::{Checkpoint, Kind, Leaf};
use crate::Entry;
use crate::entry::filled_storage;
use rushlight_base::{DType, Result};

impl Checkpoint {
    /// Tensors and values, in the order of the file. A value called `key` is an entry `key:TYPE` with one element, in
    /// which `TYPE` is `int` (int64), `double`, `bool` or `complex` (complex128); a string is its bytes as `key:str`,
    /// `None` no bytes as `key:none`. A sequence is its length as `key:list`, `key:int_list`, `key:double_list`,
    /// `key:bool_list` or `key:tensor_list`; its elements are `key.0`, `key.1` and so on.
    pub fn into_entries_and_values(self) -> Result<Vec<Entry>> {
        let mut all = Vec::with_capacity(self.entries.len() + self.values.len());
        let mut entries = self.entries.into_iter().enumerate().peekable();
        for ((name, leaf), before) in self.values.into_iter().zip(self.entries_before) {
            while let Some((_, entry)) = entries.next_if(|(position, _)| *position < before) {
                all.push(entry);
            }
            // The root needs no name: its parts have theirs.
            if !name.is_empty() {
                all.push(entry(&name, &leaf)?);
            }
        }
        all.extend(entries.map(|(_, entry)| entry));
        Ok(all)
    }
}

fn entry(name: &str, leaf: &Leaf) -> Result<Entry> {
    let (kind, dtype, bytes) = match leaf {
        Leaf::None => ("none", DType::U8, Vec::new()),
        Leaf::Bool(value) => ("bool", DType::Bool, vec![u8::from(*value)]),
        Leaf::Int(value) => ("int", DType::I64, value.to_le_bytes().to_vec()),
        Leaf::Float(value) => ("double", DType::F64, value.to_le_bytes().to_vec()),
        Leaf::Complex(real, imaginary) => {
            ("complex", DType::C128, [real.to_le_bytes(), imaginary.to_le_bytes()].concat())
        }
        Leaf::Text(text) => ("str", DType::U8, text.clone().into_bytes()),
        Leaf::Sequence(kind, length) => {
            let kind = match kind {
                Kind::Any => "list",
                Kind::Tensor => "tensor_list",
                Kind::Int => "int_list",
                Kind::Float => "double_list",
                Kind::Bool => "bool_list",
            };
            (kind, DType::I64, (*length as i64).to_le_bytes().to_vec())
        }
    };
    let storage = filled_storage(bytes.len(), |place| {
        place.copy_from_slice(&bytes);
        Ok(())
    })?;
    let sizes: &[i64] = if dtype == DType::U8 { &[bytes.len() as i64] } else { &[] };
    Entry::contiguous(format!("{name}:{kind}"), dtype, sizes, storage)
}
