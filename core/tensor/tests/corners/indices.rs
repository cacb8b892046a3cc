//! In-place operators by index update the tensor where it is: other arguments may be views of it.

use super::{of, values};
use rushlight_base::{DType, Scalar};
use rushlight_tensor::{Tensor, ops};

fn indices(values: &[i64], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

fn matrix() -> Tensor {
    of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2])
}

/// `write` on a matrix whose first two rows, or a copy of them, it gets too.
fn written(write: impl Fn(&Tensor, &Tensor) -> rushlight_base::Result<()>) {
    let [own, expected] = [true, false].map(|is_view| {
        let target = matrix();
        let rows = ops::narrow(&target, 0, 0, 2).unwrap();
        let rows = if is_view { rows } else { ops::clone(&rows, None).unwrap() };
        write(&target, &rows).unwrap();
        values(&target)
    });
    assert_eq!(own, expected);
    assert_ne!(own, values(&matrix()));
}

#[test]
fn sources_may_be_views_of_the_tensor_that_is_written() {
    let index = indices(&[1, 2], &[2]);
    written(|to, rows| ops::index_add_(to, 0, &index, rows, Scalar::Int(2)));
    written(|to, rows| ops::index_copy_(to, 0, &index, rows));
    written(|to, rows| ops::index_reduce_(to, 0, &index, rows, "prod", true));
    written(|to, rows| ops::index_put_(to, &[Some(&index)], rows, true));
    let each = indices(&[1, 2, 2, 1], &[2, 2]);
    written(|to, rows| ops::scatter_src_(to, 0, &each, rows));
    written(|to, rows| ops::scatter_add_(to, 0, &each, rows));
    written(|to, rows| ops::scatter_reduce_two_(to, 0, &each, rows, "mean", true));
    written(|to, rows| ops::put_(to, &indices(&[5, 4, 3, 2], &[4]), rows, false));
    let mask = Tensor::from_slice(&[false, true, true, false, true, true], &[3, 2]).unwrap();
    written(|to, rows| ops::masked_scatter_(to, &mask, rows));
}

#[test]
fn the_output_may_be_any_argument() {
    let (index, expected) = (indices(&[1, 0], &[1, 2]), [1.0, 20.0, 10.0, 4.0]);
    let (target, source) = (of(&[1.0, 2.0, 3.0, 4.0], &[2, 2]), of(&[10.0, 20.0], &[1, 2]));
    ops::scatter_src_out(&target, 0, &index, &source, &target).unwrap();
    assert_eq!(values(&target), expected);
    let target = of(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let source = of(&[10.0, 20.0, 30.0, 40.0], &[2, 2]);
    ops::scatter_src_out(&target, 0, &index, &source, &source).unwrap();
    assert_eq!(values(&source), expected);
}

#[test]
fn a_rejected_index_leaves_the_tensor_as_it_was() {
    let target = matrix();
    let rows = of(&[1.0; 4], &[2, 2]);
    let outside = indices(&[0, 7], &[2]);
    assert!(ops::index_add_(&target, 0, &outside, &rows, Scalar::Int(1)).is_err());
    assert!(ops::index_copy_(&target, 0, &outside, &rows).is_err());
    assert!(ops::index_fill_int_scalar_(&target, 0, &outside, Scalar::Int(1)).is_err());
    assert!(ops::index_put_(&target, &[Some(&outside)], &rows, false).is_err());
    assert!(ops::scatter_value_(&target, 0, &indices(&[0, 7], &[1, 2]), Scalar::Int(9)).is_err());
    let mask = ops::ones(&[3, 2], rushlight_tensor::Options::of(DType::Bool)).unwrap();
    assert!(ops::masked_scatter_(&target, &mask, &rows).is_err());
    assert_eq!((values(&target), target.version()), (values(&matrix()), 0));
}
