//! Sparse tensors, with numbers recorded from PyTorch.

use rushlight_base::{Layout, Scalar};
use rushlight_tensor::{Options, Tensor, autograd, ops};

fn floats(values: &[f32], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

fn longs(values: &[i64], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

fn coo(indices: &[i64], values: &[f32], sizes: &[i64]) -> Tensor {
    let nnz = values.len() as i64;
    let indices = longs(indices, &[indices.len() as i64 / nnz.max(1), nnz]);
    ops::sparse_coo_tensor_indices_size(&indices, &floats(values, &[nnz]), sizes, Options::default(), None).unwrap()
}

/// 2 x 3, with a coordinate that occurs twice.
fn sample() -> Tensor {
    coo(&[0, 1, 1, 0, 2, 0, 2, 2], &[3.0, 4.0, 5.0, 1.0], &[2, 3])
}

fn dense(tensor: &Tensor) -> Vec<f32> {
    ops::to_dense(tensor, None, None).unwrap().to_vec().unwrap()
}

fn message<T>(result: rushlight_base::Result<T>) -> String {
    match result {
        Ok(_) => panic!("the call succeeded"),
        Err(error) => error.message().to_owned(),
    }
}

#[test]
fn a_tensor_in_coordinate_format_has_components_and_no_memory() {
    let sparse = sample();
    assert_eq!((sparse.layout(), sparse.is_any_sparse(), sparse.numel()), (Layout::Sparse, true, 6));
    assert_eq!(sparse.sizes()[..], [2, 3]);
    assert_eq!(
        (ops::_nnz(&sparse).unwrap(), ops::sparse_dim(&sparse).unwrap(), ops::dense_dim(&sparse).unwrap()),
        (4, 2, 0)
    );
    assert!(!ops::is_coalesced(&sparse).unwrap());
    assert!(message(sparse.to_vec::<f32>()).contains("doesn't have storage"));
    assert!(
        message(ops::exp(&sparse)).contains("Could not run 'aten::exp' with arguments from the 'SparseCPU' backend")
    );
    assert!(message(ops::values(&sparse)).contains("Cannot get values on an uncoalesced tensor"));
    let sorted = ops::coalesce(&sparse).unwrap();
    assert_eq!(ops::indices(&sorted).unwrap().to_vec::<i64>().unwrap(), [0, 1, 1, 2, 0, 2]);
    assert_eq!(ops::values(&sorted).unwrap().to_vec::<f32>().unwrap(), [4.0, 4.0, 5.0]);
    assert_eq!(dense(&sparse), [0.0, 0.0, 4.0, 4.0, 0.0, 5.0]);
}

#[test]
fn products_sums_and_functions_have_the_numbers_of_pytorch() {
    let (sparse, right) = (sample(), floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[3, 2]));
    assert_eq!(ops::mm(&sparse, &right).unwrap().to_vec::<f32>().unwrap(), [16.0, 20.0, 20.0, 29.0]);
    let csr = ops::to_sparse_csr(&sparse, None).unwrap();
    assert_eq!(ops::mm(&csr, &right).unwrap().to_vec::<f32>().unwrap(), [16.0, 20.0, 20.0, 29.0]);
    assert_eq!(
        ops::mm(&right, &sparse).unwrap().to_vec::<f32>().unwrap(),
        [4.0, 0.0, 5.0, 12.0, 0.0, 23.0, 20.0, 0.0, 41.0]
    );
    let square = ops::mm(&sparse, &ops::t(&sparse).unwrap()).unwrap();
    assert_eq!((square.layout(), dense(&square)), (Layout::Sparse, vec![16.0, 20.0, 20.0, 41.0]));
    let ones = floats(&[1.0; 4], &[2, 2]);
    let sum = ops::addmm(&ones, &sparse, &right, 1.into(), 1.into()).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [17.0, 21.0, 21.0, 30.0]);
    assert_eq!(ops::mv(&sparse, &floats(&[1.0; 3], &[3])).unwrap().to_vec::<f32>().unwrap(), [4.0, 9.0]);
    assert_eq!(ops::sum(&sparse, None).unwrap().item().unwrap(), Scalar::Float(13.0));
    let columns = ops::sum_dim_intlist(&sparse, Some(&[0]), false, None).unwrap();
    assert_eq!((columns.layout(), dense(&columns)), (Layout::Sparse, vec![4.0, 0.0, 9.0]));
    let rows = ops::sum_dim_intlist(&csr, Some(&[0]), true, None).unwrap();
    assert_eq!(
        (rows.layout(), rows.sizes()[..].to_vec(), dense(&rows)),
        (Layout::SparseCsr, vec![1, 3], vec![4.0, 0.0, 9.0])
    );
    assert_eq!(dense(&ops::sqrt(&sparse).unwrap()), [0.0, 0.0, 2.0, 2.0, 0.0, 5f32.sqrt()]);
}

#[test]
fn arithmetic_keeps_the_pattern_as_pytorch_does() {
    let (sparse, right) = (sample(), floats(&[0.0, 2.0, 4.0, 1.0, 3.0, 5.0], &[2, 3]));
    let values = |tensor: &Tensor| ops::_values(tensor).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(values(&ops::mul_tensor(&sparse, &right).unwrap()), [12.0, 4.0, 25.0, 4.0]);
    assert_eq!(values(&ops::mul_tensor(&sparse, &sparse).unwrap()), [12.0, 16.0, 25.0, 4.0]);
    assert_eq!(values(&ops::div_scalar(&sparse, 2.into()).unwrap()), [1.5, 2.0, 2.5, 0.5]);
    assert_eq!(values(&ops::sub_tensor(&sparse, &sparse, 1.into()).unwrap()), [0.0; 4]);
    let sum = ops::add_tensor(&right, &sparse, 1.into()).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0, 2.0, 8.0, 5.0, 3.0, 10.0]);
    let error = message(ops::add_tensor(&sparse, &right, 1.into()));
    assert!(error.contains("add(sparse, dense) is not supported. Use add(dense, sparse) instead."), "{error}");
    assert_eq!(values(&ops::sparse_mask(&right, &sparse).unwrap()), [4.0, 1.0, 5.0, 4.0]);
    ops::mul_scalar_(&sparse, 2.into()).unwrap();
    assert_eq!((values(&sparse), sparse.version()), (vec![6.0, 8.0, 10.0, 2.0], 1));
    ops::zero_(&sparse).unwrap();
    assert_eq!((ops::_nnz(&sparse).unwrap(), dense(&sparse)), (0, vec![0.0; 6]));
}

#[test]
fn layouts_are_converted() {
    let csr = ops::to_sparse_csr(&sample(), None).unwrap();
    assert_eq!(ops::crow_indices(&csr).unwrap().to_vec::<i64>().unwrap(), [0, 1, 3]);
    assert_eq!(ops::col_indices(&csr).unwrap().to_vec::<i64>().unwrap(), [2, 0, 2]);
    let csc = ops::to_sparse_csc(&csr, None).unwrap();
    assert_eq!(ops::ccol_indices(&csc).unwrap().to_vec::<i64>().unwrap(), [0, 1, 1, 3]);
    assert_eq!(ops::row_indices(&csc).unwrap().to_vec::<i64>().unwrap(), [1, 0, 1]);
    assert_eq!(ops::values(&csc).unwrap().to_vec::<f32>().unwrap(), [4.0, 4.0, 5.0]);
    let back = ops::to_sparse(&csc, None, None, None).unwrap();
    assert_eq!((back.layout(), dense(&back)), (Layout::Sparse, vec![0.0, 0.0, 4.0, 4.0, 0.0, 5.0]));
    let turned = ops::t(&csr).unwrap();
    assert_eq!((turned.layout(), dense(&turned)), (Layout::SparseCsc, vec![0.0, 4.0, 0.0, 0.0, 4.0, 5.0]));
    let strided = ops::to_dense(&csr, None, None).unwrap();
    let hybrid = ops::to_sparse_sparse_dim(&strided, 1).unwrap();
    assert_eq!((ops::sparse_dim(&hybrid).unwrap(), ops::dense_dim(&hybrid).unwrap()), (1, 1));
    assert_eq!(dense(&hybrid), [0.0, 0.0, 4.0, 4.0, 0.0, 5.0]);
    let sampled =
        ops::sparse_sampled_addmm(&csr, &floats(&[1.0; 4], &[2, 2]), &floats(&[1.0; 6], &[2, 3]), 1.into(), 1.into());
    assert_eq!(ops::values(&sampled.unwrap()).unwrap().to_vec::<f32>().unwrap(), [6.0, 6.0, 7.0]);
}

#[test]
fn wrong_components_are_errors_in_the_words_of_pytorch() {
    let build = |indices: &Tensor, values: &[f32], sizes: &[i64]| {
        let values = floats(values, &[values.len() as i64]);
        message(ops::sparse_coo_tensor_indices_size(indices, &values, sizes, Options::default(), None))
    };
    for (error, expected) in [
        (
            build(&longs(&[2], &[1, 1]), &[1.0], &[2]),
            "size is inconsistent with indices: for dim 0, size is 2 but found index 2",
        ),
        (build(&longs(&[-1], &[1, 1]), &[1.0], &[2]), "found negative index -1 for dim 0"),
        (
            build(&longs(&[1, 2], &[1, 2]), &[1.0], &[2]),
            "indices and values must have same nnz, but got nnz from indices: 2, nnz from values: 1",
        ),
        (
            build(&longs(&[1, 0], &[1, 2]), &[1.0, 2.0], &[2, 2]),
            "number of dimensions must be sparse_dim (1) + dense_dim (0), but got 2",
        ),
        (build(&longs(&[1, 0], &[2]), &[1.0, 2.0], &[2]), "indices must be sparse_dim x nnz, but got: [2]"),
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let csr = |crow: &[i64], col: &[i64]| {
        let values = floats(&vec![1.0; col.len()], &[col.len() as i64]);
        let (crow, col) = (longs(crow, &[crow.len() as i64]), longs(col, &[col.len() as i64]));
        message(ops::sparse_csr_tensor_crow_col_value_size(&crow, &col, &values, &[2, 3], Options::default()))
    };
    assert!(csr(&[0, 1], &[0]).contains("crow_indices.shape[-1] must be equal to the number of rows + 1"));
    assert!(csr(&[0, 1, 2], &[0, 3]).contains("`0 <= col_indices < ncols` is not satisfied."));
    assert!(csr(&[0, 2, 2], &[1, 1]).contains("are sorted and distinct"));
    assert!(csr(&[0, 9, 2], &[0, 1]).contains("is not satisfied"));
    let strided = floats(&[1.0], &[1]);
    assert!(
        message(ops::coalesce(&strided)).contains("coalesce expected sparse coordinate tensor layout but got Strided")
    );
    assert!(
        message(ops::crow_indices(&sample()))
            .contains("crow_indices expected sparse row compressed tensor layout but got Sparse")
    );
    assert!(message(sample().set_data(&strided)).contains("incompatible tensor type"));
    assert!(message(strided.set_data(&sample())).contains("incompatible tensor type"));
}

fn weighted(result: &Tensor) {
    let weights = ops::add_scalar(
        &ops::reshape(&ops::arange(result.numel().into(), Options::of(result.dtype())).unwrap(), &result.sizes())
            .unwrap(),
        1.into(),
        1.into(),
    )
    .unwrap();
    let sum = ops::sum(&ops::mul_tensor(result, &weights).unwrap(), None).unwrap();
    autograd::backward(&[&sum], &[None], false, false, &[]).unwrap();
}

fn leaf(tensor: &Tensor) -> Tensor {
    let leaf = ops::detach(tensor).unwrap();
    leaf.set_requires_grad(true).unwrap();
    leaf
}

#[test]
fn gradients_are_those_of_pytorch() {
    let right = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[3, 2]);
    for csr in [false, true] {
        let input = ops::coalesce(&sample()).unwrap();
        let input = if csr { ops::to_sparse_csr(&input, None).unwrap() } else { input };
        let (x, y) = (leaf(&input), leaf(&right));
        weighted(&ops::mm(&x, &y).unwrap());
        assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [2.0, 8.0, 14.0, 4.0, 18.0, 32.0]);
        assert_eq!(y.grad().unwrap().to_vec::<f32>().unwrap(), [12.0, 16.0, 0.0, 0.0, 19.0, 28.0]);
        let (x, y) = (leaf(&input), leaf(&right));
        weighted(&ops::_sparse_mm(&x, &y).unwrap());
        let grad = x.grad().unwrap();
        assert_eq!(grad.layout(), input.layout());
        assert_eq!(ops::values(&grad).unwrap().to_vec::<f32>().unwrap(), [14.0, 4.0, 32.0]);
        assert_eq!(y.grad().unwrap().to_vec::<f32>().unwrap(), [12.0, 16.0, 0.0, 0.0, 19.0, 28.0]);
    }
}

/// Accumulates the gradients of the sum.
fn backward(result: &Tensor) {
    autograd::backward(&[&ops::sum(result, None).unwrap()], &[None], false, false, &[]).unwrap();
}

#[test]
fn the_gradient_of_an_embedding_is_sparse_on_request() {
    let weight = Tensor::from_slice(&[0.5_f32; 24], &[6, 4]).unwrap();
    weight.set_requires_grad(true).unwrap();
    let indices = longs(&[0, 1, 2, 1, 1, 5], &[2, 3]);
    let rows = ops::embedding(&weight, &indices, 1, false, true).unwrap();
    let factors = floats(&(0..24).map(|i| i as f32).collect::<Vec<_>>(), &[2, 3, 4]);
    backward(&ops::mul_tensor(&rows, &factors).unwrap());
    let gradient = weight.grad().unwrap();
    assert_eq!((gradient.layout(), &gradient.sizes()[..]), (Layout::Sparse, &[6, 4][..]));
    assert!(!gradient.is_coalesced().unwrap());
    // The rows of the padding index 1 are left out.
    assert_eq!(ops::_indices(&gradient).unwrap().to_vec::<i64>().unwrap(), [0, 2, 5]);
    let values = ops::_values(&gradient).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 8.0, 9.0, 10.0, 11.0, 20.0, 21.0, 22.0, 23.0]);

    // A second gradient is added to the first; a strided one makes the sum strided.
    let row = ops::embedding(&weight, &longs(&[3], &[1]), -1, false, true).unwrap();
    backward(&row);
    assert_eq!(weight.grad().unwrap().nnz().unwrap(), 4);
    backward(&weight);
    let gradient = weight.grad().unwrap();
    assert_eq!(gradient.layout(), Layout::Strided);
    let rows = ops::sum_dim_intlist(&gradient, Some(&[1]), false, None).unwrap().to_vec::<f32>().unwrap();
    assert_eq!(rows, [10.0, 4.0, 42.0, 8.0, 4.0, 90.0]);

    let error = message(ops::embedding_sparse_backward(&factors, &indices, 6, 1, true));
    assert_eq!(error, "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
}

#[test]
fn to_dense_backward_keeps_the_specified_elements() {
    let input = coo(&[0, 1, 0, 1], &[1.0, 2.0], &[2, 2]);
    let grad = floats(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let masked = ops::to_dense_backward(&grad, &input, None).unwrap();
    assert_eq!((masked.layout(), dense(&masked)), (Layout::Sparse, vec![1.0, 0.0, 0.0, 4.0]));
    let whole = ops::to_dense_backward(&grad, &input, Some(false)).unwrap();
    assert_eq!((whole.layout(), dense(&whole)), (Layout::Sparse, vec![1.0, 2.0, 3.0, 4.0]));
}
