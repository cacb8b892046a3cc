//! Conversion between tensors and entries of files; both share the bytes.

use crate::Entry;
use crate::entry::SparseEntry;
use rushlight_base::{Device, Layout, Result, ensure, err};
use rushlight_tensor::dispatch::by_name;
use rushlight_tensor::ops::transfer::on_host;
use rushlight_tensor::{Components, Dense, Geometry, Lazy, Tensor, Value};

impl Entry {
    /// Creates the entry `name` for `tensor`. A tensor without data cannot be saved.
    pub fn from_tensor(name: String, tensor: &Tensor) -> Result<Entry> {
        ensure!(
            !tensor.is_quantized(),
            NotImplemented,
            "entry '{name}' is quantized: save its integers, scales and zero points"
        );
        if let Some(components) = tensor.components() {
            return Entry::from_sparse(name, tensor, &components);
        }
        let dense = tensor.dense()?.clone();
        ensure!(!dense.is_meta(), NotImplemented, "entry '{name}' is on the meta device: it has no data to save");
        let dense = on_host(&dense)?;
        let offset = usize::try_from(dense.geometry.offset);
        let offset = offset.map_err(|_| err!(Internal, "entry '{name}' has a negative offset"))?;
        Ok(Entry {
            name,
            dtype: dense.dtype,
            sizes: dense.geometry.sizes,
            strides: dense.geometry.strides,
            offset,
            storage: dense.storage,
            requires_grad: tensor.requires_grad() && tensor.is_leaf(),
            conjugate: dense.lazy.conj,
            negative: dense.lazy.neg,
            sparse: None,
        })
    }

    fn from_sparse(name: String, tensor: &Tensor, components: &Components) -> Result<Entry> {
        let indices: Vec<&Tensor> = match components {
            Components::Coo { indices, .. } => vec![indices],
            Components::Compressed { compressed, plain, .. } => vec![compressed, plain],
            _ => Vec::new(),
        };
        let entries = indices.into_iter().map(|part| Entry::from_tensor(name.clone(), part)).collect::<Result<_>>()?;
        let (layout, coalesced) = (components.layout(), components.is_coalesced());
        let sparse = SparseEntry { layout, sizes: tensor.sizes(), coalesced, indices: entries };
        let mut entry = Entry::from_tensor(name, components.values().unwrap_or(tensor))?;
        entry.requires_grad = tensor.requires_grad() && tensor.is_leaf();
        entry.sparse = Some(Box::new(sparse));
        Ok(entry)
    }

    /// Creates the sparse tensor of this entry. The operators check indices and sizes.
    fn into_sparse(mut self, sparse: SparseEntry) -> Result<Tensor> {
        let requires_grad = std::mem::take(&mut self.requires_grad);
        let mut args =
            sparse.indices.into_iter().map(|part| Ok(part.into_tensor()?.into())).collect::<Result<Vec<Value>>>()?;
        let name = self.name.clone();
        args.extend([self.into_tensor()?.into(), Value::from(&*sparse.sizes)]);
        let mut named = vec![("layout".to_owned(), Value::from(sparse.layout))];
        let (operator, overload) = match sparse.layout {
            Layout::Sparse => {
                named.push(("is_coalesced".to_owned(), Value::from(sparse.coalesced)));
                ("sparse_coo_tensor", "indices_size")
            }
            _ => ("sparse_compressed_tensor", "comp_plain_value_size"),
        };
        let mut results = by_name::call(operator, overload, args, named)
            .map_err(|error| error.context(format_args!("tensor '{name}'")))?;
        let tensor = results.0.first_mut().and_then(Value::take_tensor);
        let tensor = tensor.ok_or_else(|| err!(Internal, "{operator} returns no tensor"))?;
        if requires_grad {
            tensor.set_requires_grad(true)?;
        }
        Ok(tensor)
    }

    /// Creates the tensor of this entry, on the CPU.
    pub fn into_tensor(mut self) -> Result<Tensor> {
        if let Some(sparse) = self.sparse.take() {
            return self.into_sparse(*sparse);
        }
        self.check_data()?;
        let geometry = Geometry { sizes: self.sizes, strides: self.strides, offset: self.offset as i64 };
        let (storage, dtype) = (self.storage, self.dtype);
        let mut dense = Dense::new(storage, geometry, dtype, Device::CPU);
        dense.lazy = Lazy { conj: self.conjugate, neg: self.negative };
        let tensor = Tensor::from_dense(dense);
        if self.requires_grad {
            tensor.set_requires_grad(true)?;
        }
        Ok(tensor)
    }
}
