//! Tensors as entries of files, and back; both ways share the bytes.

use crate::Entry;
use rushlight_base::{Device, Result, ensure, err};
use rushlight_tensor::{Dense, Geometry, Lazy, Tensor};

impl Entry {
    /// The entry `name` that holds `tensor`. A tensor without data cannot be saved.
    pub fn from_tensor(name: String, tensor: &Tensor) -> Result<Entry> {
        let dense = tensor.dense()?.clone();
        ensure!(!dense.is_meta(), NotImplemented, "entry '{name}' is on the meta device: it has no data to save");
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
        })
    }

    /// The tensor of this entry, on the CPU.
    pub fn into_tensor(self) -> Result<Tensor> {
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
