//! The components of a tensor that is more than strided memory: indices and values of a sparse one, the quantizer of a
//! quantized one, the tensors of a nested one.
//!
//! A tensor is sparse from its creation to its end: its body (`Dense`) has sizes, dtype and device, an empty storage, and
//! these components. The key `SPARSE` sends every call with such a tensor to the layer of `sparse`, so that no kernel and
//! no shape rule ever receives such a body; `Tensor::dense` fails for it.

use crate::dense::Dense;
use crate::keys::KeySet;
#[cfg(feature = "op-nested")]
use crate::nested::Nested;
use crate::quantizer::Quantizer;
use crate::tensor::Tensor;
use rushlight_base::{DType, Error, Layout, Result, err};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Indices and values of a sparse tensor. They are strided tensors without history.
pub enum Components {
    /// Coordinate format: `indices` (sparse_dim, nnz) of int64 and `values` (nnz, dense sizes...).
    Coo {
        /// The coordinates, one column for each value.
        indices: Tensor,
        /// The values.
        values: Tensor,
        /// Whether the coordinates are sorted and different.
        coalesced: AtomicBool,
    },
    /// Compressed rows (`SparseCsr`) or columns (`SparseCsc`) of matrices.
    Compressed {
        /// Which dimension is compressed.
        layout: Layout,
        /// Where the values of each row (column) begin and end.
        compressed: Tensor,
        /// The column (row) of each value.
        plain: Tensor,
        /// The values.
        values: Tensor,
    },
    /// Of a quantized tensor, which is strided: how its integers represent numbers.
    Quantized(Arc<Quantizer>),
    /// The tensors of a nested tensor.
    #[cfg(feature = "op-nested")]
    Nested(Nested),
}

impl Components {
    /// The layout of a tensor with these components.
    pub fn layout(&self) -> Layout {
        match self {
            Components::Coo { .. } => Layout::Sparse,
            Components::Compressed { layout, .. } => *layout,
            _ => Layout::Strided,
        }
    }

    /// The key of the layer that handles a tensor with these components.
    pub(crate) fn key(&self) -> KeySet {
        match self {
            Components::Coo { .. } | Components::Compressed { .. } => KeySet::SPARSE,
            Components::Quantized(_) => KeySet::QUANTIZED,
            #[cfg(feature = "op-nested")]
            Components::Nested(_) => KeySet::NESTED,
        }
    }

    /// The values of a sparse tensor.
    pub fn values(&self) -> Option<&Tensor> {
        match self {
            Components::Coo { values, .. } | Components::Compressed { values, .. } => Some(values),
            _ => None,
        }
    }

    /// Number of specified elements.
    pub fn nnz(&self) -> i64 {
        match self {
            Components::Coo { values, .. } => values.sizes().first().copied().unwrap_or(0),
            Components::Compressed { plain, .. } => plain.sizes().last().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether the coordinates are sorted and different. Compressed ones always are different.
    pub fn is_coalesced(&self) -> bool {
        match self {
            Components::Coo { coalesced, .. } => coalesced.load(Ordering::Relaxed),
            _ => true,
        }
    }
}

impl Tensor {
    /// A sparse tensor. `components` fit the sizes: the functions of `sparse` check them.
    pub fn from_components(sizes: &[i64], dtype: DType, components: Components) -> Result<Tensor> {
        #[cfg(feature = "op-sparse")]
        crate::dispatch::SPARSE.link(crate::sparse::handle);
        let tensor = Tensor::from_dense(Dense::without_bytes(sizes, dtype, components)?);
        // In-place operators replace the body, so the version cannot be that of its storage.
        let _ = tensor.imp().version.set(Arc::new(AtomicU32::new(0)));
        tensor.mark_if_inference();
        Ok(tensor)
    }

    /// The components of a sparse tensor; `None` for a strided one.
    pub fn components(&self) -> Option<Arc<Components>> {
        self.imp().body.pin().components.clone().filter(|components| components.layout() != Layout::Strided)
    }

    /// The layout.
    pub fn layout(&self) -> Layout {
        if !self.is_any_sparse() {
            return Layout::Strided;
        }
        self.components().map_or(Layout::Strided, |components| components.layout())
    }

    /// Number of specified elements.
    pub fn nnz(&self) -> Result<i64> {
        match self.components() {
            Some(components) => Ok(components.nnz()),
            None => Err(err!(
                NotImplemented,
                "Could not run 'aten::_nnz' with arguments from the 'CPU' backend: the tensor is strided"
            )),
        }
    }

    /// Number of dimensions with coordinates; 0 for a strided tensor.
    pub fn sparse_dim(&self) -> i64 {
        match self.components().as_deref() {
            Some(Components::Coo { indices, .. }) => indices.sizes()[0],
            Some(Components::Compressed { .. }) => 2,
            _ => 0,
        }
    }

    /// Number of dimensions of each value.
    pub fn dense_dim(&self) -> i64 {
        match self.components().as_deref() {
            Some(Components::Coo { values, .. }) => values.ndim() as i64 - 1,
            Some(Components::Compressed { .. }) => 0,
            _ => self.ndim() as i64,
        }
    }

    /// Whether the coordinates of a tensor in COO format are sorted and different.
    pub fn is_coalesced(&self) -> Result<bool> {
        match self.components().as_deref() {
            Some(components @ Components::Coo { .. }) => Ok(components.is_coalesced()),
            _ => Err(err!(
                Runtime,
                "is_coalesced expected sparse coordinate tensor layout but got {}",
                self.layout().name()
            )),
        }
    }

    /// Whether the tensor is a batch of tensors whose sizes differ.
    pub fn is_nested(&self) -> bool {
        self.keys().intersects(KeySet::NESTED)
    }

    /// Whether the layout is not strided.
    pub fn is_any_sparse(&self) -> bool {
        self.keys().intersects(KeySet::SPARSE)
    }
}

/// The error of code that needs numbers in memory.
#[cold]
pub(crate) fn no_memory(components: &Components) -> Error {
    match components {
        Components::Quantized(_) => {
            err!(NotImplemented, "the tensor is quantized: its memory holds integers, not numbers")
        }
        #[cfg(feature = "op-nested")]
        Components::Nested(_) => {
            err!(NotImplemented, "Cannot access data pointer of Tensor that doesn't have storage: it is nested")
        }
        _ => err!(NotImplemented, "Cannot access data pointer of Tensor that doesn't have storage: it is sparse"),
    }
}
