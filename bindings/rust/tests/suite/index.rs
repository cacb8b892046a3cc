//! Indexing, compared with the operators that it stands for.

use crate::floats;
use rushlight::{Ellipsis, ErrorKind, Index, NewAxis, Tensor};
use std::ops::RangeInclusive;

fn numbers() -> Tensor {
    Tensor::arange(24).unwrap().reshape([2, 3, 4]).unwrap()
}

fn values(tensor: &Tensor) -> Vec<i64> {
    tensor.to_vec().unwrap()
}

#[test]
fn positions_and_ranges_are_views() {
    let x = numbers();
    let cases = [
        (x.i(1).unwrap(), x.select(0, 1).unwrap()),
        (x.i(-1).unwrap(), x.select(0, 1).unwrap()),
        (x.i((.., 1..)).unwrap(), x.narrow(1, 1, 2).unwrap()),
        (x.i((.., ..2)).unwrap(), x.narrow(1, 0, 2).unwrap()),
        (x.i((.., ..=1)).unwrap(), x.narrow(1, 0, 2).unwrap()),
        (x.i((.., RangeInclusive::new(1, -1))).unwrap(), x.narrow(1, 1, 2).unwrap()),
        (x.i((.., -2..)).unwrap(), x.narrow(1, 1, 2).unwrap()),
        (x.i((Ellipsis, 3)).unwrap(), x.select(2, 3).unwrap()),
        (
            x.i((NewAxis, 0, Ellipsis, 1..3)).unwrap(),
            x.select(0, 0).unwrap().narrow(1, 1, 2).unwrap().unsqueeze(0).unwrap(),
        ),
        (x.i(vec![Index::Slice { start: None, end: None, step: 1 }, Index::At(2)]).unwrap(), x.select(1, 2).unwrap()),
    ];
    for (number, (indexed, expected)) in cases.iter().enumerate() {
        assert!(indexed.is_view() && expected.is_view(), "{number}");
        assert_eq!((indexed.sizes(), values(indexed)), (expected.sizes(), values(expected)), "{number}");
        assert_eq!(indexed.data_ptr(), expected.data_ptr(), "{number}");
    }
    let steps = x.i((0, 0, Index::Slice { start: Some(0), end: None, step: 2 })).unwrap();
    assert_eq!(values(&steps), [0, 2]);
    assert!(x.i(Ellipsis).unwrap().is_same(&x));
}

#[test]
fn tensors_and_masks_select() {
    let x = numbers();
    let rows = Tensor::try_from([2i64, 0]).unwrap();
    assert_eq!(x.i((.., &rows)).unwrap().sizes(), [2, 2, 4]);
    assert_eq!(values(&x.i((0, &rows, 1)).unwrap()), [9, 1]);
    assert_eq!(values(&x.i((.., &rows, Tensor::try_from([1i64, 3]).unwrap())).unwrap()), [9, 3, 21, 15]);
    let mask = x.gt_scalar(20).unwrap();
    assert_eq!(values(&x.i(&mask).unwrap()), [21, 22, 23]);
    let of_rows = Tensor::try_from([true, false]).unwrap();
    assert_eq!(x.i((&of_rows, 0)).unwrap().sizes(), [1, 4]);
    assert_eq!(values(&x.i((0, 0, Tensor::from_value(3i64).unwrap())).unwrap()), [3]);
    assert_eq!(x.i(true).unwrap().sizes(), [1, 2, 3, 4]);
    assert_eq!(x.i(false).unwrap().sizes(), [0, 2, 3, 4]);
}

#[test]
fn values_are_written() {
    let x = Tensor::zeros([2, 3]).unwrap();
    x.set(1, &floats(&[1.0, 2.0, 3.0])).unwrap();
    x.set_scalar((0, 1..), 7).unwrap();
    x.set_scalar((.., &Tensor::try_from([0i64]).unwrap()), 9.0).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [9.0, 7.0, 7.0, 9.0, 2.0, 3.0]);
    let mask = x.eq_scalar(7).unwrap();
    x.set(&mask, &floats(&[0.5, 0.25])).unwrap();
    x.set((1, 1), &floats(&[4.0])).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [9.0, 0.5, 0.25, 9.0, 4.0, 3.0]);
}

#[test]
fn what_is_out_of_range_is_an_error() {
    let x = numbers();
    assert_eq!(x.i(2).unwrap_err().kind(), ErrorKind::Index);
    assert_eq!(x.i((0, 0, 0, 0)).unwrap_err().message(), "too many indices for tensor of dimension 3");
    assert!(x.i((Ellipsis, Ellipsis)).is_err());
    assert!(x.i(Index::Slice { start: None, end: None, step: 0 }).is_err());
    assert!(x.i(Tensor::try_from([5i64]).unwrap()).is_err());
    assert!(x.set((.., 0), &Tensor::zeros([5]).unwrap()).is_err());
}
