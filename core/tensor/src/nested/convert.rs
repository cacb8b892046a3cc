//! Between nested and dense tensors.

use super::Nested;
use crate::dispatch::{Args, Value};
use crate::ops;
use crate::options::Options;
use crate::tensor::Tensor;
use rushlight_base::{DType, DimVec, Result, Scalar, ensure, list};

/// A nested tensor with copies of `tensors`, which have one dtype and as many dimensions.
pub(super) fn of_tensors(tensors: &[Tensor]) -> Result<Tensor> {
    let flat: Vec<Tensor> = list::try_collect(tensors.iter().map(|tensor| ops::reshape(tensor, &[-1])))?;
    let buffer = ops::cat(&flat.iter().collect::<Vec<_>>(), 0)?;
    Tensor::from_nested(Nested::new(buffer, list::collect(tensors.iter().map(Tensor::sizes))?)?)
}

/// A nested tensor of a list of dense ones, with the options of the first where none are given.
pub(crate) fn from_tensors(tensors: &[&Tensor], options: Options) -> Result<Tensor> {
    let Some(first) = tensors.first() else {
        let empty = ops::empty_memory_format(&[0], options, None)?;
        return Tensor::from_nested(Nested::new(empty, Vec::new())?);
    };
    for (index, tensor) in tensors.iter().enumerate() {
        ensure!(
            tensor.ndim() == first.ndim(),
            Runtime,
            "All Tensors given to nested_tensor must have the same dimension. Found dimension {} for Tensor at index \
             {index} and dimension {} for Tensor at index 0.",
            tensor.ndim(),
            first.ndim()
        );
    }
    let dtype = options.dtype.unwrap_or_else(|| first.dtype());
    let converted = tensors.iter().map(|tensor| ops::to_dtype(tensor, dtype, false, false, None));
    of_tensors(&list::try_collect(converted)?)
}

/// The number of ones in each row of a mask, and whether every row begins with all of its ones.
fn lengths(mask: &Tensor) -> Result<(Vec<i64>, bool)> {
    ensure!(
        mask.dtype() == DType::Bool,
        Runtime,
        "Expected mask to be of ScalarType Bool, but got {} instead.",
        mask.dtype().name()
    );
    let (rows, columns) = (mask.sizes()[0], mask.sizes()[1] as usize);
    let values = mask.to_vec::<bool>()?;
    let mut aligned = true;
    let mut counts = list::with_capacity::<i64>(rows as usize)?;
    for row in 0..rows as usize {
        let row = &values[row * columns..(row + 1) * columns];
        let count = row.iter().filter(|one| **one).count();
        aligned &= row[..count].iter().all(|one| *one);
        counts.push(count as i64);
    }
    Ok((counts, aligned))
}

fn check_mask(input: &Tensor, mask: &Tensor) -> Result<()> {
    ensure!(mask.ndim() == 2, Runtime, "Padding mask should be 2D");
    ensure!(input.ndim() == 3, Runtime, "Input should be a 3D tensor, N * L * D");
    ensure!(
        input.sizes()[..2] == mask.sizes()[..],
        Runtime,
        "Mask size should match input size: {:?} is not {:?}",
        mask.sizes().as_slice(),
        &input.sizes()[..2]
    );
    Ok(())
}

/// Whether the ones of each row of the mask come first.
pub(crate) fn is_left_aligned(input: &Tensor, mask: &Tensor) -> Result<bool> {
    check_mask(input, mask)?;
    Ok(lengths(mask)?.1)
}

/// The first rows of each matrix, as many as its row of the mask has ones.
pub(crate) fn from_mask(input: &Tensor, mask: &Tensor, check: bool) -> Result<Tensor> {
    check_mask(input, mask)?;
    let (counts, aligned) = lengths(mask)?;
    ensure!(aligned || !check, Runtime, "Mask must be left-aligned without gaps");
    first_rows(input, &counts)
}

/// The first `counts[i]` rows of the matrix `i` of a batch.
pub(super) fn first_rows(input: &Tensor, counts: &[i64]) -> Result<Tensor> {
    if counts.is_empty() {
        let buffer = ops::reshape(input, &[-1])?;
        return Tensor::from_nested(Nested::new(ops::clone(&buffer, None)?, Vec::new())?);
    }
    let each = counts
        .iter()
        .enumerate()
        .map(|(index, count)| ops::narrow(&ops::select_int(input, 0, index as i64)?, 0, 0, *count));
    of_tensors(&list::try_collect(each)?)
}

/// The tensors in the first places of a dense one with `value` elsewhere.
pub(super) fn padded(nested: &Nested, value: f64, sizes: &[i64]) -> Result<Tensor> {
    let options = Options { dtype: Some(nested.buffer.dtype()), ..Options::default() };
    let out = ops::full(sizes, Scalar::Float(value), options)?;
    for (index, part) in nested.parts()?.iter().enumerate() {
        let mut place = ops::select_int(&out, 0, index as i64)?;
        for (dim, size) in part.sizes().iter().enumerate() {
            place = ops::narrow(&place, dim as i64, 0, *size)?;
        }
        ops::copy_(&place, part, false)?;
    }
    Ok(out)
}

/// `to_padded_tensor`
pub(super) fn to_padded(name: &str, args: &Args<'_>) -> Result<Vec<Value>> {
    let nested = Nested::of(name, args.tensor(0)?)?;
    let mut sizes: DimVec = nested.largest();
    sizes.insert(0, nested.sizes.len() as i64);
    if let Some(asked) = args.ints_opt(2)? {
        ensure!(
            asked.len() == sizes.len(),
            Runtime,
            "Length of output_size does not match NestedTensor dims. Broadcasting is not supported."
        );
        ensure!(
            asked.iter().zip(&sizes).all(|(asked, size)| asked >= size),
            Runtime,
            "Value in output_size is less than NestedTensor padded size. Truncation is not supported."
        );
        sizes = asked;
    }
    Ok(vec![padded(&nested, args.float(1)?, &sizes)?.into()])
}
