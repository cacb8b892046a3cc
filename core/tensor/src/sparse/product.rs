//! Products of matrices of which at least one is sparse.

use super::compressed::Compressed;
use super::convert::{as_listed, masked, with_values};
use super::coo::{Coo, added, coordinates_of, long_tensor, longs};
use super::in_layout_of;
use super::record::Context;
use crate::dense::Dense;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DimVec, Layout, MemoryFormat, Result, Scalar, backend, bail, ensure, list};
use rushlight_cpu::Array;

/// `mm`
pub(super) fn mm(args: &Args<'_>) -> Result<Value> {
    Ok(product(args.tensor(0)?, args.tensor(1)?)?.into())
}

/// The product of two matrices, sparse if both are.
fn product(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    check("mm", left, right)?;
    match (left.is_any_sparse(), right.is_any_sparse()) {
        (true, false) => sparse_dense(left, right),
        (false, true) => {
            let product = sparse_dense(&transposed(right)?, &ops::transpose_int(left, 0, 1)?)?;
            ops::contiguous(&ops::transpose_int(&product, 0, 1)?, MemoryFormat::Contiguous)
        }
        (true, true) => in_layout_of(left, sparse_sparse(&Coo::of(left)?, &Coo::of(right)?)?),
        (false, false) => ops::mm(left, right),
    }
}

fn check(operator: &str, left: &Tensor, right: &Tensor) -> Result<()> {
    let (rows, columns) = (left.sizes(), right.sizes());
    ensure!(rows.len() == 2, Runtime, "{operator}: Expected mat1 to be a matrix, got {} dimensions", rows.len());
    ensure!(columns.len() == 2, Runtime, "{operator}: Expected mat2 to be a matrix, got {} dimensions", columns.len());
    ensure!(
        rows[1] == columns[0],
        Runtime,
        "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
        rows[0],
        rows[1],
        columns[0],
        columns[1]
    );
    ensure!(
        left.dtype() == right.dtype(),
        Runtime,
        "{operator}: expected mat1 and mat2 to have the same dtype, but got: {} != {}",
        left.dtype().c10_name(),
        right.dtype().c10_name()
    );
    Ok(())
}

/// The entries of a matrix, sorted by row.
struct Entries {
    rows: Vec<i64>,
    columns: Vec<i64>,
    values: Tensor,
}

impl Entries {
    fn of(matrix: &Tensor) -> Result<Entries> {
        let coo = if matrix.layout() == Layout::SparseCsr {
            as_listed(&Compressed::of(matrix)?)?
        } else {
            let coo = Coo::of(matrix)?;
            ensure!(
                coo.sparse_dim() == 2,
                Runtime,
                "mm: Expected a matrix with 2 sparse dimensions, got {} and {} dense ones",
                coo.sparse_dim(),
                coo.dense_dim()
            );
            coo.coalesce()?
        };
        let (mut rows, nnz) = (coo.coordinates()?, coo.nnz());
        let columns = rows.split_off(nnz);
        Ok(Entries { rows, columns, values: ops::contiguous(&coo.values, MemoryFormat::Contiguous)? })
    }

    /// The product with a strided matrix, as a matrix of `height` rows.
    fn times(&self, rows: &[i64], height: i64, dense: &Tensor) -> Result<Tensor> {
        let dense = ops::contiguous(dense, MemoryFormat::Contiguous)?;
        let out = ops::zeros(&[height, dense.sizes()[1]], Options::of(dense.dtype()))?;
        {
            let (to, from, values) = (out.dense()?, dense.dense()?, self.values.dense()?);
            // Devices have no kernel.
            backend::enter_operator("mm");
            rushlight_cpu::sparse::product(&array(&to), rows, &self.columns, &array(&values), &array(&from))?;
        }
        Ok(out)
    }
}

/// The memory of a pinned body.
fn array(body: &Dense) -> Array<'_> {
    // SAFETY: the caller pins the body, whose geometry stays within its storage.
    unsafe { Array::new(body.ptr(), body.dtype, body.sizes(), body.strides()) }.on(body.device)
}

fn sparse_dense(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    let entries = Entries::of(left)?;
    entries.times(&entries.rows, left.sizes()[0], right)
}

/// The product of two sparse matrices: its terms, added.
fn sparse_sparse(left: &Coo, right: &Coo) -> Result<Coo> {
    ensure!(
        left.sparse_dim() == 2 && right.sparse_dim() == 2,
        Runtime,
        "mm: Expected matrices with 2 sparse dimensions, got {} and {}",
        left.sparse_dim(),
        right.sparse_dim()
    );
    let (left, right) = (left.clone().coalesce()?, right.clone().coalesce()?);
    let (a, b) = (left.coordinates()?, right.coordinates()?);
    let ((rows, inner), (outer, columns)) = (a.split_at(left.nnz()), b.split_at(right.nnz()));
    let sizes = DimVec::from_slice(&[left.sizes[0], right.sizes[1]]);
    rushlight_base::numel(&sizes)?;
    // (number of the element, entry of the left matrix, entry of the right one)
    let mut terms: Vec<(i64, i64, i64)> = Vec::new();
    for (entry, (&row, &at)) in rows.iter().zip(inner).enumerate() {
        let first = outer.partition_point(|&other| other < at);
        for other in (first..outer.len()).take_while(|&other| outer[other] == at) {
            list::push(&mut terms, (row * sizes[1] + columns[other], entry as i64, other as i64))?;
        }
    }
    terms.sort_unstable();
    let first = ops::index_select(&left.values, 0, &long_tensor(terms.iter().map(|term| term.1))?)?;
    let second = ops::index_select(&right.values, 0, &long_tensor(terms.iter().map(|term| term.2))?)?;
    let values = ops::mul_tensor(&first, &second)?;
    let mut numbers: Vec<i64> = Vec::new();
    let mut places = list::with_capacity(terms.len())?;
    for (number, ..) in &terms {
        if numbers.last() != Some(number) {
            list::push(&mut numbers, *number)?;
        }
        places.push(numbers.len() as i64 - 1);
    }
    let values = added(numbers.len(), &[(&places, &values)])?;
    Ok(Coo { indices: coordinates_of(&numbers, &sizes)?, values, coalesced: true, sizes })
}

fn transposed(matrix: &Tensor) -> Result<Tensor> {
    ops::transpose_int(matrix, 0, 1)
}

/// The conjugate transpose.
fn adjoint(matrix: &Tensor) -> Result<Tensor> {
    let transposed = transposed(matrix)?;
    if matrix.dtype().is_complex() { ops::conj_physical(&transposed) } else { Ok(transposed) }
}

/// The gradients of `mm`: dense for a strided gradient, as in PyTorch.
pub(super) fn mm_back(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor> {
    if slot == 0 { ops::mm(grad, &adjoint(&call.tensor(1)?)?) } else { ops::mm(&adjoint(&call.tensor(0)?)?, grad) }
}

/// The gradients of `_sparse_mm`: that of a sparse matrix has its pattern.
pub(super) fn sparse_mm_back(call: &Context<'_>, grad: &Tensor, slot: usize) -> Result<Tensor> {
    let (left, right) = (call.tensor(0)?, call.tensor(1)?);
    if slot == 1 {
        let product = ops::mm(&adjoint(&left)?, grad)?;
        return if right.is_any_sparse() { masked(&product, &coalesced(&right)?) } else { Ok(product) };
    }
    if !left.is_any_sparse() {
        return ops::mm(grad, &adjoint(&right)?);
    }
    let pattern = coalesced(&left)?;
    if right.is_any_sparse() || grad.is_any_sparse() {
        return masked(&ops::mm(grad, &adjoint(&right)?)?, &pattern);
    }
    let conjugated = if right.dtype().is_complex() { ops::conj_physical(&right)? } else { right };
    with_values(&pattern, &sampled(&pattern, grad, &conjugated)?)
}

fn coalesced(tensor: &Tensor) -> Result<Tensor> {
    if tensor.layout() == Layout::Sparse { ops::coalesce(tensor) } else { Ok(tensor.clone()) }
}

/// The products of row i of `left` and row j of `right`, for each coordinate (i, j) of the pattern.
fn sampled(pattern: &Tensor, left: &Tensor, right: &Tensor) -> Result<Tensor> {
    let coo =
        if pattern.layout() == Layout::Sparse { Coo::of(pattern)? } else { as_listed(&Compressed::of(pattern)?)? };
    let rows = ops::index_select(left, 0, &ops::select_int(&coo.indices, 0, 0)?)?;
    let columns = ops::index_select(right, 0, &ops::select_int(&coo.indices, 0, 1)?)?;
    ops::sum_dim_intlist(&ops::mul_tensor(&rows, &columns)?, Some(&[1]), false, None)
}

/// `_sparse_mm`
pub(super) fn sparse_mm(args: &Args<'_>) -> Result<Value> {
    mm(args)
}

/// `addmm`, `_sparse_addmm`
pub(super) fn addmm(args: &Args<'_>) -> Result<Value> {
    let (input, left, right) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    let (beta, alpha) = (args.scalar(3)?, args.scalar(4)?);
    let product = ops::mm(left, right)?;
    Ok(combined(input, &product, beta, alpha)?.into())
}

fn combined(input: &Tensor, product: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
    if is_number(beta, 0.0) {
        let scaled = scale(product, alpha)?;
        return Ok(scaled);
    }
    let input = scale(input, beta)?;
    if input.is_any_sparse() && !product.is_any_sparse() {
        bail!(Runtime, "addmm: expected a dense input for a dense product, but got layout {}", input.layout().name());
    }
    ops::add_tensor(&input, product, alpha)
}

fn is_number(value: Scalar, number: f64) -> bool {
    match value {
        Scalar::Int(value) => value as f64 == number,
        Scalar::Float(value) => value == number,
        _ => false,
    }
}

fn scale(tensor: &Tensor, by: Scalar) -> Result<Tensor> {
    if is_number(by, 1.0) { Ok(tensor.clone()) } else { ops::mul_scalar(tensor, by) }
}

/// `mv`
pub(super) fn mv(args: &Args<'_>) -> Result<Value> {
    let (matrix, vector) = (args.tensor(0)?, args.tensor(1)?);
    ensure!(
        matrix.ndim() == 2,
        Runtime,
        "mv: two dim tensor expected as first argument, but got {} dims",
        matrix.ndim()
    );
    ensure!(
        vector.ndim() == 1,
        Runtime,
        "mv: one dim tensor expected as second argument, but got {} dims",
        vector.ndim()
    );
    ensure!(!vector.is_any_sparse(), Runtime, "mv: expected a dense vector, but got layout {}", vector.layout().name());
    ensure!(
        matrix.sizes()[1] == vector.sizes()[0],
        Runtime,
        "mv: expected self.size(-1) == vec.size(-1), but got {} and {}",
        matrix.sizes()[1],
        vector.sizes()[0]
    );
    Ok(ops::squeeze_dim(&ops::mm(matrix, &ops::unsqueeze(vector, 1)?)?, 1)?.into())
}

/// `matmul`
pub(super) fn matmul(args: &Args<'_>) -> Result<Value> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    Ok(match (left.ndim(), right.ndim()) {
        (2, 2) => ops::mm(left, right)?,
        (2, 1) => ops::mv(left, right)?,
        (1, 2) => ops::mv(&transposed(right)?, left)?,
        (rows, columns) => bail!(
            NotImplemented,
            "matmul: sparse tensors of {rows} and {columns} dimensions cannot be multiplied: only matrices and vectors can"
        ),
    }
    .into())
}

/// `hspmm`: sparse rows of dense values
pub(super) fn hspmm(args: &Args<'_>) -> Result<Value> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    check("hspmm", left, right)?;
    Ok(rows_of_product(left, right)?.into_tensor()?.into())
}

/// The rows of a product that have terms.
fn rows_of_product(left: &Tensor, right: &Tensor) -> Result<Coo> {
    ensure!(
        left.is_any_sparse() && !right.is_any_sparse(),
        Runtime,
        "hspmm: expected a sparse and a dense matrix, but got layouts {} and {}",
        left.layout().name(),
        right.layout().name()
    );
    let entries = Entries::of(left)?;
    let mut rows: Vec<i64> = Vec::new();
    let mut places = list::with_capacity(entries.rows.len())?;
    for &row in &entries.rows {
        if rows.last() != Some(&row) {
            list::push(&mut rows, row)?;
        }
        places.push(rows.len() as i64 - 1);
    }
    let values = entries.times(&places, rows.len() as i64, right)?;
    let indices = Tensor::from_slice(&rows, &[1, rows.len() as i64])?;
    let sizes = DimVec::from_slice(&[left.sizes()[0], right.sizes()[1]]);
    Ok(Coo { sizes, indices, values, coalesced: true })
}

/// The same with two sparse dimensions.
fn sparse_product(left: &Tensor, right: &Tensor) -> Result<Coo> {
    let rows = rows_of_product(left, right)?;
    let width = rows.sizes[1];
    let mut numbers = Vec::new();
    for row in longs(&rows.indices)? {
        for column in 0..width {
            list::push(&mut numbers, row * width + column)?;
        }
    }
    let indices = coordinates_of(&numbers, &rows.sizes)?;
    Ok(Coo { indices, values: ops::reshape(&rows.values, &[-1])?, coalesced: true, sizes: rows.sizes })
}

/// `smm`
pub(super) fn smm(args: &Args<'_>) -> Result<Value> {
    let (left, right) = (args.tensor(0)?, args.tensor(1)?);
    check("smm", left, right)?;
    Ok(sparse_product(left, right)?.into_tensor()?.into())
}

/// `sspaddmm`: a sparse matrix and a sparse product, not coalesced
pub(super) fn sspaddmm(args: &Args<'_>) -> Result<Value> {
    let (input, left, right) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    check("sspaddmm", left, right)?;
    let input = super::expect_coo("sspaddmm", input)?;
    let product = sparse_product(left, right)?;
    ensure!(
        input.sizes == product.sizes && input.sparse_dim() == 2,
        Runtime,
        "sspaddmm: expected the input to have shape {}, but got {}",
        rushlight_base::format_sizes(&product.sizes),
        rushlight_base::format_sizes(&input.sizes)
    );
    let (beta, alpha) = (args.scalar(3)?, args.scalar(4)?);
    let indices = ops::cat(&[&input.indices, &product.indices], 1)?;
    let values = ops::cat(&[&scale(&input.values, beta)?, &scale(&product.values, alpha)?], 0)?;
    let coalesced = input.nnz() == 0;
    Ok(Coo { sizes: product.sizes, indices, values, coalesced }.into_tensor()?.into())
}

/// `sparse_sampled_addmm`
pub(super) fn sampled_addmm(args: &Args<'_>) -> Result<Value> {
    let (input, left, right) = (args.tensor(0)?, args.tensor(1)?, args.tensor(2)?);
    ensure!(
        input.layout() == Layout::SparseCsr,
        Runtime,
        "sampled_addmm: Expected self to have sparse csr layout, but got {}",
        input.layout().name()
    );
    ensure!(
        !left.is_any_sparse() && !right.is_any_sparse(),
        Runtime,
        "sampled_addmm: Expected mat1 and mat2 to have strided layout, but got {} and {}",
        left.layout().name(),
        right.layout().name()
    );
    check("sampled_addmm", left, right)?;
    ensure!(
        input.sizes()[..] == [left.sizes()[0], right.sizes()[1]],
        Runtime,
        "sampled_addmm: self has size {}, but the product has {}x{}",
        rushlight_base::format_sizes(&input.sizes()),
        left.sizes()[0],
        right.sizes()[1]
    );
    let (beta, alpha) = (args.scalar(3)?, args.scalar(4)?);
    let products = sampled(input, left, &transposed(right)?)?;
    let values = combined(&ops::values(input)?, &products, beta, alpha)?;
    Ok(with_values(input, &values)?.into())
}

/// `_sparse_mm_reduce_impl`: the terms of each element of a product, reduced; and for extrema the entry that is the result, if
/// the call is recorded
pub(super) fn mm_reduce(args: &Args<'_>) -> Result<Value> {
    let (matrix, other, reduce) = (args.tensor(0)?, args.tensor(1)?, args.str(2)?);
    let name = "_sparse_mm_reduce_impl";
    ensure!(
        matches!(reduce, "sum" | "mean" | "amax" | "amin"),
        Runtime,
        "{name}: reduce argument must be either sum, mean, amax or amin, got {reduce}"
    );
    ensure!(
        matrix.layout() == Layout::SparseCsr && !other.is_any_sparse(),
        Runtime,
        "{name}: Expected self to have sparse csr layout and other to be strided, but got {} and {}",
        matrix.layout().name(),
        other.layout().name()
    );
    check(name, matrix, other)?;
    ensure!(
        matrix.dtype().is_floating(),
        Runtime,
        "{name}: expected floating point matrices, but got {}",
        matrix.dtype().c10_name()
    );
    let none = ops::zeros(&[0], Options::of(rushlight_base::DType::I64))?;
    let pair = |result: Tensor, entries: Tensor| Ok(Value::Tensors(vec![Some(result), Some(entries)]));
    if reduce == "sum" {
        return pair(ops::_sparse_mm(matrix, other)?, none);
    }
    let compressed = Compressed::of(matrix)?;
    if reduce == "mean" {
        let (starts, rows) = (&compressed.compressed, matrix.sizes()[0]);
        let counts =
            ops::sub_tensor(&ops::narrow(starts, 0, 1, rows)?, &ops::narrow(starts, 0, 0, rows)?, Scalar::Int(1))?;
        let counts = ops::clamp_min(&counts, Scalar::Int(1))?;
        return pair(ops::div_tensor(&ops::_sparse_mm(matrix, other)?, &ops::unsqueeze(&counts, 1)?)?, none);
    }
    let entries = extreme_entries(&compressed, other, reduce == "amax")?;
    let is_recorded = crate::autograd::should_record([matrix, other]);
    if compressed.values.numel() == 0 {
        let zeros = ops::zeros(&[matrix.sizes()[0], other.sizes()[1]], other.options())?;
        return pair(zeros, if is_recorded { entries } else { none });
    }
    // An empty row is 0; its entry is one that does not exist.
    let exists = ops::lt_scalar(&entries, Scalar::Int(compressed.values.numel()))?;
    let chosen = ops::masked_fill_scalar(&entries, &ops::logical_not(&exists)?, Scalar::Int(0))?;
    let flat = ops::reshape(&chosen, &[-1])?;
    let factors = ops::reshape(&ops::index_select(&ops::values(matrix)?, 0, &flat)?, &entries.sizes())?;
    let columns = ops::to_dtype(&compressed.plain, rushlight_base::DType::I64, false, false, None)?;
    let rows = ops::reshape(&ops::index_select(&columns, 0, &flat)?, &entries.sizes())?;
    let products = ops::mul_tensor(&factors, &ops::gather(other, 0, &rows, false)?)?;
    let result = ops::where_scalarother(&exists, &products, Scalar::Float(0.0))?;
    pair(result, if is_recorded { entries } else { none })
}

/// The entry with the largest (smallest) term of each element of a product, the first of equal ones; the number of entries for
/// an element without terms.
fn extreme_entries(matrix: &Compressed, other: &Tensor, largest: bool) -> Result<Tensor> {
    let double = |tensor: &Tensor| ops::to_dtype(&ops::detach(tensor)?, rushlight_base::DType::F64, false, false, None);
    let (factors, terms) = (double(&matrix.values)?.to_vec::<f64>()?, double(other)?.to_vec::<f64>()?);
    let (rows, columns) = (matrix.expanded()?, longs(&matrix.plain)?);
    let (height, width) = (matrix.sizes[0] as usize, other.sizes()[1] as usize);
    let missing = factors.len() as i64;
    let mut entries = list::filled(rushlight_base::numel(&[height as i64, width as i64])? as usize, missing)?;
    for (entry, (&row, &column)) in rows.iter().zip(&columns).enumerate() {
        ensure!((column as usize) < matrix.sizes[1] as usize, Index, "column {column} is out of range");
        let term = |entry: usize, at: usize| factors[entry] * terms[columns[entry] as usize * width + at];
        for at in 0..width {
            let best = &mut entries[row as usize * width + at];
            let new = term(entry, at);
            let wins = *best == missing || {
                let old = term(*best as usize, at);
                !old.is_nan() && (new.is_nan() || if largest { new > old } else { new < old })
            };
            if wins {
                *best = entry as i64;
            }
        }
    }
    Tensor::from_slice(&entries, &[height as i64, width as i64])
}
