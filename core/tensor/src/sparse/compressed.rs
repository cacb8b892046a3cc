//! Compressed rows (CSR) and columns (CSC) of matrices.

use super::coo::{Coo, long_tensor, longs};
use crate::components::Components;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Layout, Result, bail, ensure, list};

/// A matrix with compressed rows or columns.
#[derive(Clone)]
pub struct Compressed {
    /// `SparseCsr` or `SparseCsc`.
    pub layout: Layout,
    /// Rows and columns.
    pub sizes: DimVec,
    /// Where each row (column) begins; one more than there are rows.
    pub compressed: Tensor,
    /// The column (row) of each value.
    pub plain: Tensor,
    /// The values.
    pub values: Tensor,
}

impl Compressed {
    /// A snapshot of a compressed tensor.
    pub fn of(tensor: &Tensor) -> Result<Compressed> {
        let body = tensor.imp().body.pin();
        match body.components.as_deref() {
            Some(Components::Compressed { layout, compressed, plain, values }) => Ok(Compressed {
                layout: *layout,
                sizes: DimVec::from_slice(body.sizes()),
                compressed: compressed.clone(),
                plain: plain.clone(),
                values: values.clone(),
            }),
            _ => {
                bail!(Runtime, "expected a compressed sparse tensor, but got one of layout {}", tensor.layout().name())
            }
        }
    }

    /// The tensor.
    pub fn into_tensor(self) -> Result<Tensor> {
        let Compressed { layout, sizes, compressed, plain, values } = self;
        let dtype = values.dtype();
        let (compressed, plain, values) = (compressed.alias(), plain.alias(), values.alias());
        Tensor::from_components(&sizes, dtype, Components::Compressed { layout, compressed, plain, values })
    }

    /// The same pattern with other values.
    pub fn with_values(&self, values: Tensor) -> Compressed {
        Compressed { values, ..self.clone() }
    }

    /// The row (column) of each value.
    pub fn expanded(&self) -> Result<Vec<i64>> {
        let starts = longs(&self.compressed)?;
        let mut expanded = list::with_capacity(self.plain.numel() as usize)?;
        let nnz = self.plain.numel();
        for (row, ends) in starts.windows(2).enumerate() {
            // The indices may have been written since they were checked.
            let begins_where_the_last_ends = ends[0] == expanded.len() as i64 && (ends[0]..=nnz).contains(&ends[1]);
            ensure!(begins_where_the_last_ends, Runtime, "the compressed indices are not sorted");
            expanded.extend((ends[0]..ends[1]).map(|_| row as i64));
        }
        Ok(expanded)
    }

    /// In coordinate format.
    pub fn into_coo(self) -> Result<Coo> {
        let (major, minor) = (self.expanded()?, longs(&self.plain)?);
        let nnz = minor.len();
        ensure!(major.len() == nnz, Internal, "{} compressed indices for {nnz} values", major.len());
        let (first, second) = if self.layout == Layout::SparseCsr { (major, minor) } else { (minor, major) };
        let mut coordinates = first;
        list::reserve(&mut coordinates, nnz)?;
        coordinates.extend_from_slice(&second);
        let indices = Tensor::from_slice(&coordinates, &[2, nnz as i64])?;
        Coo { sizes: self.sizes, indices, values: self.values, coalesced: false }.coalesce()
    }

    /// A matrix in coordinate format, compressed.
    pub fn from_coo(coo: Coo, layout: Layout) -> Result<Compressed> {
        ensure!(
            coo.sizes.len() == 2 && coo.sparse_dim() == 2,
            NotImplemented,
            "a tensor with {} sparse and {} dense dimensions cannot be converted to {}: only matrices can",
            coo.sparse_dim(),
            coo.dense_dim(),
            layout.name()
        );
        let coo = coo.coalesce()?;
        let coo = if layout == Layout::SparseCsr { coo } else { super::shape::exchanged(&coo, 0, 1)?.coalesce()? };
        let (nnz, rows) = (coo.nnz(), coo.sizes[0] as usize);
        let coordinates = coo.coordinates()?;
        let mut starts = list::filled(rows + 1, 0i64)?;
        for &row in &coordinates[..nnz] {
            starts[row as usize + 1] += 1;
        }
        (1..starts.len()).for_each(|row| starts[row] += starts[row - 1]);
        let mut sizes = coo.sizes.clone();
        if layout == Layout::SparseCsc {
            sizes.reverse();
        }
        Ok(Compressed {
            layout,
            sizes,
            compressed: long_tensor(starts)?,
            plain: long_tensor(coordinates[nnz..].iter().copied())?,
            values: coo.values,
        })
    }

    /// The transposed matrix: the same components in the other layout.
    pub fn transposed(self) -> Compressed {
        let layout = if self.layout == Layout::SparseCsr { Layout::SparseCsc } else { Layout::SparseCsr };
        let mut sizes = self.sizes.clone();
        sizes.reverse();
        Compressed { layout, sizes, ..self }
    }

    /// Fails unless the indices describe a matrix of these sizes, in PyTorch's words.
    pub fn check(&self) -> Result<()> {
        let csr = self.layout == Layout::SparseCsr;
        let (compressed, plain) = if csr { ("crow_indices", "col_indices") } else { ("ccol_indices", "row_indices") };
        for (name, tensor) in [(compressed, &self.compressed), (plain, &self.plain), ("values", &self.values)] {
            ensure!(
                !tensor.is_any_sparse() && tensor.ndim() == 1,
                Runtime,
                "{name} must be a strided vector: batches and dense dimensions of compressed tensors are not supported, got \
                 layout {} with {} dimensions",
                tensor.layout().name(),
                tensor.ndim()
            );
        }
        ensure!(
            self.sizes.len() == 2,
            Runtime,
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities (=0 + 2 + 0), but got {}",
            self.sizes.len()
        );
        let dtype = self.compressed.dtype();
        ensure!(
            matches!(dtype, DType::I32 | DType::I64),
            Runtime,
            "{compressed} and {plain} must be an int32 or int64 type, but got {}",
            dtype.c10_name()
        );
        ensure!(
            self.plain.dtype() == dtype,
            Runtime,
            "{compressed} and {plain} must have the same dtype, but got {} and {}",
            dtype.c10_name(),
            self.plain.dtype().c10_name()
        );
        let (rows, columns) = if csr { (self.sizes[0], self.sizes[1]) } else { (self.sizes[1], self.sizes[0]) };
        ensure!(
            self.compressed.numel() == rows + 1,
            Runtime,
            "{compressed}.shape[-1] must be equal to the number of {} + 1 (={}), but got {}",
            if csr { "rows" } else { "columns" },
            rows + 1,
            self.compressed.numel()
        );
        ensure!(
            self.plain.numel() == self.values.numel(),
            Runtime,
            "number of specified elements must be the same in {plain} and values, but got {} and {}",
            self.plain.numel(),
            self.values.numel()
        );
        let (starts, places) = (longs(&self.compressed)?, longs(&self.plain)?);
        let nnz = places.len() as i64;
        ensure!(starts.first() == Some(&0), Runtime, "`{compressed}[..., 0] == 0` is not satisfied.");
        ensure!(starts.last() == Some(&nnz), Runtime, "`{compressed}[..., -1] == nnz` is not satisfied.");
        for ends in starts.windows(2) {
            ensure!(
                ends[1] <= nnz && (0..=columns).contains(&(ends[1] - ends[0])),
                Runtime,
                "`0 <= {compressed}[..., 1:] - {compressed}[..., :-1] <= {}` is not satisfied.",
                if csr { "ncols" } else { "nrows" }
            );
            let row = &places[ends[0] as usize..ends[1] as usize];
            ensure!(
                row.windows(2).all(|pair| pair[0] < pair[1]),
                Runtime,
                "`{plain}[..., {compressed}[..., i - 1]:{compressed}[..., i]] for all i = 1, ..., {} are sorted and \
                 distinct along the last dimension values` is not satisfied.",
                if csr { "nrows" } else { "ncols" }
            );
        }
        ensure!(
            places.iter().all(|place| (0..columns).contains(place)),
            Runtime,
            "`0 <= {plain} < {}` is not satisfied.",
            if csr { "ncols" } else { "nrows" }
        );
        Ok(())
    }
}

/// The number of columns (rows) of a compressed tensor without sizes.
pub(super) fn inferred_sizes(layout: Layout, compressed: &Tensor, plain: &Tensor) -> Result<DimVec> {
    let rows = compressed.numel() - 1;
    let columns = longs(plain)?.into_iter().max().map_or(0, |last| last.saturating_add(1));
    let mut sizes = DimVec::from_slice(&[rows.max(0), columns]);
    if layout == Layout::SparseCsc {
        sizes.reverse();
    }
    Ok(sizes)
}
