//! The coordinate format as kernels use it: one consistent snapshot of a sparse tensor, and index arithmetic.

use super::compressed::Compressed;
use crate::components::Components;
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, bail, ensure, list};
use std::sync::atomic::AtomicBool;

/// A sparse tensor in coordinate format.
#[derive(Clone)]
pub struct Coo {
    /// Extent of each dimension.
    pub sizes: DimVec,
    /// Coordinates (sparse_dim, nnz) of int64.
    pub indices: Tensor,
    /// Values (nnz, dense sizes...).
    pub values: Tensor,
    /// Whether the coordinates are sorted and different.
    pub coalesced: bool,
}

impl Coo {
    /// A snapshot of a sparse tensor; a compressed one is converted.
    pub fn of(tensor: &Tensor) -> Result<Coo> {
        let body = tensor.imp().body.pin();
        let Some(components) = &body.components else {
            bail!(Runtime, "expected a sparse tensor, but got one of layout Strided")
        };
        match &**components {
            Components::Coo { indices, values, .. } => Ok(Coo {
                sizes: DimVec::from_slice(body.sizes()),
                indices: indices.clone(),
                values: values.clone(),
                coalesced: components.is_coalesced(),
            }),
            Components::Compressed { .. } => Compressed::of(tensor)?.into_coo(),
            _ => rushlight_base::bail!(Internal, "the tensor is not sparse"),
        }
    }

    /// Number of dimensions with coordinates.
    pub fn sparse_dim(&self) -> usize {
        self.indices.sizes()[0] as usize
    }

    /// Number of dimensions of each value.
    pub fn dense_dim(&self) -> usize {
        self.sizes.len() - self.sparse_dim()
    }

    /// Number of specified elements.
    pub fn nnz(&self) -> usize {
        self.indices.sizes()[1] as usize
    }

    /// The tensor.
    pub fn into_tensor(self) -> Result<Tensor> {
        let dtype = self.values.dtype();
        let Coo { sizes, indices, values, coalesced } = self;
        // Components have no history of their own: that of the sparse tensor is recorded.
        let (indices, values) = (indices.alias(), values.alias());
        let coalesced = AtomicBool::new(coalesced);
        Tensor::from_components(&sizes, dtype, Components::Coo { indices, values, coalesced })
    }

    /// The same coordinates with other values.
    pub fn with_values(&self, values: Tensor) -> Coo {
        Coo { values, ..self.clone() }
    }

    /// The coordinates of each dimension, one after the other.
    pub fn coordinates(&self) -> Result<Vec<i64>> {
        longs(&self.indices)
    }

    /// The sizes of the dimensions with coordinates.
    pub fn sparse_sizes(&self) -> &[i64] {
        &self.sizes[..self.sparse_dim()]
    }

    /// The row-major number of each coordinate.
    pub fn numbers(&self) -> Result<Vec<i64>> {
        let (coordinates, nnz) = (self.coordinates()?, self.nnz());
        let mut numbers = list::filled(nnz, 0i64)?;
        for (dim, &size) in self.sparse_sizes().iter().enumerate() {
            for (number, &at) in numbers.iter_mut().zip(&coordinates[dim * nnz..(dim + 1) * nnz]) {
                ensure!(
                    (0..size).contains(&at),
                    Index,
                    "index {at} is out of bounds for dimension {dim} with size {size}"
                );
                *number = *number * size + at;
            }
        }
        Ok(numbers)
    }

    /// Sorted by coordinate, values of equal coordinates added.
    pub fn coalesce(self) -> Result<Coo> {
        if self.coalesced {
            return Ok(self);
        }
        let numbers = self.numbers()?;
        if numbers.windows(2).all(|pair| pair[0] < pair[1]) {
            return Ok(Coo { coalesced: true, ..self });
        }
        let mut order = list::collect(0..numbers.len())?;
        order.sort_unstable_by_key(|&entry| (numbers[entry], entry));
        let sorted = list::collect(order.iter().map(|&entry| numbers[entry]))?;
        let values = ops::index_select(&self.values, 0, &long_tensor(order.iter().map(|&entry| entry as i64))?)?;
        let (unique, place) = unique(&sorted)?;
        let values = if unique.len() == sorted.len() { values } else { added(unique.len(), &[(&place, &values)])? };
        let indices = coordinates_of(&unique, self.sparse_sizes())?;
        Ok(Coo { indices, values, coalesced: true, sizes: self.sizes })
    }

    /// The values as a strided tensor (coordinates, dense sizes...) of `count` rows, in which row `number` has the value
    /// of that row-major number.
    pub fn spread(&self) -> Result<Tensor> {
        let count = rushlight_base::numel(self.sparse_sizes())?;
        let mut sizes = self.values.sizes();
        sizes[0] = count;
        let zeros = ops::zeros(&sizes, Options::of(self.values.dtype()))?;
        ops::index_add(&zeros, 0, &long_tensor(self.numbers()?)?, &self.values, 1.into())
    }

    /// The values at `entries`.
    pub fn select(&self, entries: &[usize]) -> Result<Coo> {
        let at = long_tensor(entries.iter().map(|&entry| entry as i64))?;
        let indices = ops::index_select(&self.indices, 1, &at)?;
        let values = ops::index_select(&self.values, 0, &at)?;
        Ok(Coo { sizes: self.sizes.clone(), indices, values, coalesced: self.coalesced })
    }

    /// The value of each coordinate of a strided tensor with these sizes.
    pub fn gathered_from(&self, strided: &Tensor) -> Result<Tensor> {
        gather(strided, &self.indices)
    }

    /// Without an element.
    pub fn empty(sizes: &[i64], sparse_dim: usize, dtype: DType) -> Result<Coo> {
        ensure!(sparse_dim <= sizes.len(), Internal, "{sparse_dim} sparse dimensions of {}", sizes.len());
        rushlight_base::numel(sizes)?;
        let indices = ops::zeros(&[sparse_dim as i64, 0], Options::of(DType::I64))?;
        let mut shape = DimVec::from_slice(&[0]);
        shape.extend_from_slice(&sizes[sparse_dim..]);
        let values = ops::zeros(&shape, Options::of(dtype))?;
        Ok(Coo { sizes: DimVec::from_slice(sizes), indices, values, coalesced: true })
    }
}

/// The rows of `strided` at `indices` (sparse_dim, nnz).
pub(super) fn gather(strided: &Tensor, indices: &Tensor) -> Result<Tensor> {
    let sizes = indices.sizes();
    if sizes[0] == 0 {
        let mut expanded = DimVec::from_slice(&[sizes[1]]);
        expanded.extend_from_slice(&strided.sizes());
        return ops::clone(&ops::expand(strided, &expanded, false)?, None);
    }
    let rows = (0..sizes[0]).map(|dim| ops::select_int(indices, 0, dim)).collect::<Result<Vec<_>>>()?;
    let at: Vec<Option<&Tensor>> = rows.iter().map(Some).collect();
    ops::index_tensor(strided, &at)
}

/// The elements of an index tensor, row-major.
pub(super) fn longs(indices: &Tensor) -> Result<Vec<i64>> {
    let indices = if indices.dtype() == DType::I64 {
        indices.clone()
    } else {
        ops::to_dtype(indices, DType::I64, false, false, None)?
    };
    let indices = ops::contiguous(&indices, rushlight_base::MemoryFormat::Contiguous)?;
    let body = ops::transfer::on_host(&*indices.dense()?)?;
    ensure!(!body.is_meta(), NotImplemented, "Cannot copy out of meta tensor; no data!");
    let count = body.numel() as usize;
    let mut copy = list::with_capacity(count)?;
    if count > 0 {
        // SAFETY: the snapshot is contiguous and of int64, and has `count` elements.
        copy.extend_from_slice(unsafe { std::slice::from_raw_parts(body.ptr().cast::<i64>(), count) });
    }
    Ok(copy)
}

/// A vector of int64.
pub(super) fn long_tensor(values: impl IntoIterator<Item = i64>) -> Result<Tensor> {
    let values = list::collect(values)?;
    Tensor::from_slice(&values, &[values.len() as i64])
}

/// The different numbers of a sorted list, and for each entry the place of its number.
fn unique(sorted: &[i64]) -> Result<(Vec<i64>, Vec<i64>)> {
    let mut unique: Vec<i64> = list::with_capacity(sorted.len())?;
    let mut place = list::with_capacity(sorted.len())?;
    for &number in sorted {
        if unique.last() != Some(&number) {
            unique.push(number);
        }
        place.push(unique.len() as i64 - 1);
    }
    Ok((unique, place))
}

/// `count` rows; row `place[i]` is the sum of the rows i of the values.
pub(super) fn added(count: usize, parts: &[(&[i64], &Tensor)]) -> Result<Tensor> {
    let Some((_, first)) = parts.first() else { bail!(Internal, "nothing to add") };
    let mut sizes = first.sizes();
    sizes[0] = count as i64;
    let mut sum = ops::zeros(&sizes, Options::of(first.dtype()))?;
    for (place, values) in parts {
        sum = ops::index_add(&sum, 0, &long_tensor(place.iter().copied())?, values, 1.into())?;
    }
    Ok(sum)
}

/// The coordinates (sparse_dim, nnz) of row-major numbers.
pub(super) fn coordinates_of(numbers: &[i64], sizes: &[i64]) -> Result<Tensor> {
    let nnz = numbers.len();
    let mut coordinates = list::filled(nnz * sizes.len(), 0i64)?;
    let mut left = list::collect(numbers.iter().copied())?;
    for (dim, &size) in sizes.iter().enumerate().rev() {
        for (at, number) in coordinates[dim * nnz..(dim + 1) * nnz].iter_mut().zip(&mut left) {
            *at = *number % size.max(1);
            *number /= size.max(1);
        }
    }
    Tensor::from_slice(&coordinates, &[sizes.len() as i64, nnz as i64])
}

/// A dimension in range.
pub(super) fn wrapped_dim(dim: i64, ndim: usize) -> Result<usize> {
    rushlight_base::wrap_dim(dim, ndim)
}
