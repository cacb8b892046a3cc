//! Broadcasting of shapes.

use crate::dense::Dense;
use rushlight_base::{DimVec, Result, bail, ensure, format_sizes};

/// The shape to which all inputs are broadcast. Sizes are aligned at the last dimension; a size of 1 is expanded.
pub fn broadcast(inputs: &[&Dense]) -> Result<DimVec> {
    let mut shape = inputs.first().map_or_else(DimVec::new, |input| DimVec::from_slice(input.sizes()));
    for input in inputs.iter().skip(1) {
        if *shape != *input.sizes() {
            shape = broadcast_sizes(&shape, input.sizes())?;
        }
    }
    Ok(shape)
}

/// The shape to which two shapes are broadcast.
pub(crate) fn broadcast_sizes(a: &[i64], b: &[i64]) -> Result<DimVec> {
    let rank = a.len().max(b.len());
    let size_at = |sizes: &[i64], dim: usize| (dim + sizes.len()).checked_sub(rank).map_or(1, |at| sizes[at]);
    let mut shape = DimVec::from_elem(1, rank);
    // From the last dimension, so that the error names the mismatch that PyTorch names.
    for dim in (0..rank).rev() {
        let (left, right) = (size_at(a, dim), size_at(b, dim));
        ensure!(
            left == right || left == 1 || right == 1,
            Runtime,
            "The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton dimension {dim}"
        );
        shape[dim] = if left == 1 { right } else { left };
    }
    Ok(shape)
}

/// Whether `sizes` can be expanded to `target`, with new leading dimensions and sizes of 1.
pub fn check_expandable(sizes: &[i64], target: &[i64]) -> Result<()> {
    if sizes.len() > target.len() {
        bail!(
            Runtime,
            "expand: the number of sizes provided ({}) must be greater or equal to the number of dimensions in the \
             tensor ({})",
            target.len(),
            sizes.len()
        );
    }
    let lead = target.len() - sizes.len();
    for (dim, (&size, &wanted)) in sizes.iter().zip(&target[lead..]).enumerate() {
        ensure!(
            size == wanted || size == 1,
            Runtime,
            "The expanded size of the tensor ({wanted}) must match the existing size ({size}) at non-singleton \
             dimension {}.  Target sizes: {}.  Tensor sizes: {}",
            lead + dim,
            format_sizes(target),
            format_sizes(sizes)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_align_at_the_end() {
        assert_eq!(broadcast_sizes(&[2, 1, 4], &[3, 1]).unwrap().as_slice(), &[2, 3, 4]);
        assert_eq!(broadcast_sizes(&[], &[0, 3]).unwrap().as_slice(), &[0, 3]);
        assert_eq!(
            broadcast_sizes(&[2, 3], &[2, 4]).unwrap_err().message(),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1"
        );
    }

    #[test]
    fn expansion_stretches_only_ones() {
        assert!(check_expandable(&[1, 3], &[5, 2, 3]).is_ok());
        assert!(check_expandable(&[2, 3], &[4, 3]).is_err());
    }
}
