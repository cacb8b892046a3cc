//! The results of sparse operators are those that `tests/oracle/sparse.py` recorded from PyTorch.

use rushlight_base::{DType, Layout, Scalar};
use rushlight_tensor::{Options, Tensor, autograd, ops};
use std::collections::HashMap;

const EXPECTED: &str = include_str!("../../../tests/data/sparse.expected.txt");

fn tensor(values: &[f64], sizes: &[i64], dtype: DType) -> Tensor {
    ops::to_dtype(&Tensor::from_slice(values, sizes).unwrap(), dtype, false, false, None).unwrap()
}

fn longs(values: &[i64], sizes: &[i64]) -> Tensor {
    Tensor::from_slice(values, sizes).unwrap()
}

fn coo(indices: &Tensor, values: &Tensor, sizes: &[i64]) -> Tensor {
    ops::sparse_coo_tensor_indices_size(indices, values, sizes, Options::default(), None).unwrap()
}

/// The tensors of the script's `inputs`.
struct Inputs {
    a: Tensor,
    b: Tensor,
    h: Tensor,
    d: Tensor,
    m: Tensor,
    c: Tensor,
    cb: Tensor,
    csr: Tensor,
    csc: Tensor,
    csrb: Tensor,
}

impl Inputs {
    fn of(dtype: DType) -> Inputs {
        let values = tensor(&[3.0, 4.0, 5.0, 1.0, -2.0, 0.5], &[6], dtype);
        let a = coo(&longs(&[0, 1, 1, 0, 3, 2, 2, 0, 2, 2, 1, 0], &[2, 6]), &values, &[4, 3]);
        let b = coo(&longs(&[0, 1, 3, 2, 1, 1], &[2, 3]), &tensor(&[2.0, 7.0, 3.0], &[3], dtype), &[4, 3]);
        let counted = |count: i64, from: f64| (0..count).map(|value| value as f64 + from).collect::<Vec<f64>>();
        let h = coo(&longs(&[1, 3, 1], &[1, 3]), &tensor(&counted(6, -2.0), &[3, 2], dtype), &[4, 2]);
        let d = tensor(&counted(12, -5.0), &[4, 3], dtype);
        let m = tensor(&counted(6, -2.0), &[3, 2], dtype);
        let (c, cb) = (ops::coalesce(&a).unwrap(), ops::coalesce(&b).unwrap());
        let (csr, csc) = (ops::to_sparse_csr(&c, None).unwrap(), ops::to_sparse_csc(&c, None).unwrap());
        let csrb = ops::to_sparse_csr(&cb, None).unwrap();
        Inputs { a, b, h, d, m, c, cb, csr, csc, csrb }
    }
}

/// The components of a tensor, as numbers.
fn parts(tensor: &Tensor) -> Vec<Vec<f64>> {
    let components: Vec<Tensor> = match tensor.layout() {
        Layout::Sparse => vec![ops::_indices(tensor).unwrap(), ops::_values(tensor).unwrap()],
        Layout::SparseCsr => {
            vec![ops::crow_indices(tensor).unwrap(), ops::col_indices(tensor).unwrap(), ops::values(tensor).unwrap()]
        }
        Layout::SparseCsc => {
            vec![ops::ccol_indices(tensor).unwrap(), ops::row_indices(tensor).unwrap(), ops::values(tensor).unwrap()]
        }
        _ => vec![tensor.clone()],
    };
    components.iter().map(numbers).collect()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    let real = if tensor.dtype().is_complex() { ops::view_as_real(tensor).unwrap() } else { tensor.clone() };
    ops::to_dtype(&real, DType::F64, false, false, None).unwrap().to_vec().unwrap()
}

fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Sparse => "sparse_coo",
        Layout::SparseCsr => "sparse_csr",
        Layout::SparseCsc => "sparse_csc",
        _ => "strided",
    }
}

/// Compares with the recorded line.
fn check(expected: &HashMap<&str, &str>, name: &str, found: &Tensor) {
    let Some(line) = expected.get(name) else { panic!("{name} is not recorded") };
    let mut fields = line.split(" | ");
    let sizes: Vec<String> = found.sizes().iter().map(i64::to_string).collect();
    assert_eq!(fields.next().unwrap(), layout_name(found.layout()), "{name}");
    assert_eq!(fields.next().unwrap().trim(), format!("{} {}", found.dtype(), sizes.join("x")).trim(), "{name}");
    let tolerance = if matches!(found.dtype(), DType::F32 | DType::C64) { 1e-5 } else { 1e-8 };
    let found = parts(found);
    let wanted: Vec<Vec<f64>> =
        fields.map(|field| field.split_whitespace().map(|number| number.parse().unwrap()).collect()).collect();
    assert_eq!(found.len(), wanted.len(), "{name}");
    for (found, wanted) in found.iter().zip(&wanted) {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
        assert!(
            found.len() == wanted.len() && found.iter().zip(wanted).all(close),
            "{name}: {found:?} is not {wanted:?}"
        );
    }
}

type Call = fn(&Inputs) -> rushlight_base::Result<Tensor>;

fn one() -> Scalar {
    1.into()
}

/// The calls of the script's `cases`.
const CASES: &[(&str, Call)] = &[
    ("coalesce", |x| Ok(x.c.clone())),
    ("coalesce.hybrid", |x| ops::coalesce(&x.h)),
    ("to_dense", |x| ops::to_dense(&x.a, None, None)),
    ("to_dense.hybrid", |x| ops::to_dense(&x.h, None, None)),
    ("to_sparse", |x| ops::to_sparse(&x.d, None, None, None)),
    ("to_sparse.1", |x| ops::to_sparse_sparse_dim(&x.d, 1)),
    ("to_sparse_csr", |x| Ok(x.csr.clone())),
    ("to_sparse_csc", |x| Ok(x.csc.clone())),
    ("csr.to_sparse", |x| ops::to_sparse(&x.csr, None, None, None)),
    ("csc.to_sparse_csr", |x| ops::to_sparse_csr(&x.csc, None)),
    ("t", |x| ops::t(&x.a)),
    ("csr.t", |x| ops::t(&x.csr)),
    ("unsqueeze", |x| ops::unsqueeze(&x.c, 1)),
    ("permute", |x| ops::permute(&x.c, &[1, 0])),
    ("select.0", |x| ops::select_int(&x.c, 0, 1)),
    ("select.1", |x| ops::select_int(&x.c, 1, -1)),
    ("index_select", |x| ops::index_select(&x.c, 0, &longs(&[1, 0], &[2]))),
    ("cat.0", |x| ops::cat(&[&x.c, &x.cb], 0)),
    ("cat.1", |x| ops::cat(&[&x.c, &x.cb], 1)),
    ("neg", |x| ops::neg(&x.a)),
    ("abs", |x| ops::abs(&x.a)),
    ("sign", |x| ops::sign(&x.a)),
    ("mul.number", |x| ops::mul_scalar(&x.a, 3.into())),
    ("csr.mul.number", |x| ops::mul_scalar(&x.csr, 3.into())),
    ("mul.sparse", |x| ops::mul_tensor(&x.a, &x.b)),
    ("mul.dense", |x| ops::mul_tensor(&x.a, &x.d)),
    ("csr.mul.sparse", |x| ops::mul_tensor(&x.csr, &x.csrb)),
    ("add.sparse", |x| ops::add_tensor(&x.c, &x.cb, one())),
    ("add.alpha", |x| ops::add_tensor(&x.c, &x.cb, 2.into())),
    ("sub.sparse", |x| ops::sub_tensor(&x.c, &x.cb, one())),
    ("csr.add", |x| ops::add_tensor(&x.csr, &x.csrb, one())),
    ("add.dense", |x| ops::add_tensor(&x.d, &x.a, one())),
    ("add.dense.hybrid", |x| ops::add_tensor(&ops::ones(&[4, 2], Options::of(x.h.dtype()))?, &x.h, one())),
    ("sum", |x| ops::sum(&x.a, None)),
    ("sum.0", |x| ops::sum_dim_intlist(&x.a, Some(&[0]), false, None)),
    ("sum.1", |x| ops::sum_dim_intlist(&x.a, Some(&[1]), false, None)),
    ("sum.keepdim", |x| ops::sum_dim_intlist(&x.a, Some(&[0]), true, None)),
    ("sum.hybrid.1", |x| ops::sum_dim_intlist(&x.h, Some(&[1]), false, None)),
    ("sparse_mask", |x| ops::sparse_mask(&x.d, &x.c)),
    ("sparse_mask.sparse", |x| ops::sparse_mask(&x.cb, &x.c)),
    ("sparse_mask.csr", |x| ops::sparse_mask(&x.d, &x.csr)),
    ("div.number", |x| ops::div_scalar(&x.a, 2.into())),
    ("mm", |x| ops::mm(&x.a, &x.m)),
    ("csr.mm", |x| ops::mm(&x.csr, &x.m)),
    ("csc.mm", |x| ops::mm(&x.csc, &x.m)),
    ("mm.dense.sparse", |x| ops::mm(&ops::t(&x.m)?, &ops::t(&x.c)?)),
    ("mm.sparse.sparse", |x| ops::coalesce(&ops::mm(&x.c, &ops::t(&x.cb)?)?)),
    ("addmm", |x| ops::addmm(&ops::ones(&[4, 2], Options::of(x.m.dtype()))?, &x.a, &x.m, 0.5.into(), 2.into())),
    ("csr.addmm", |x| ops::addmm(&ops::ones(&[4, 2], Options::of(x.m.dtype()))?, &x.csr, &x.m, 0.5.into(), 2.into())),
    ("mv", |x| ops::mv(&x.a, &ops::select_int(&x.m, 1, 1)?)),
    ("csr.mv", |x| ops::mv(&x.csr, &ops::select_int(&x.m, 1, 1)?)),
    ("hspmm", |x| ops::hspmm(&x.c, &x.m)),
    ("smm", |x| ops::smm(&x.c, &x.m)),
    ("sspaddmm", |x| {
        let turned = ops::t(&x.cb)?;
        let input = ops::coalesce(&ops::mm(&x.c, &turned)?)?;
        ops::coalesce(&ops::sspaddmm(&input, &x.c, &ops::to_dense(&turned, None, None)?, one(), 2.into())?)
    }),
    ("sampled_addmm", |x| {
        ops::sparse_sampled_addmm(&x.csr, &ops::mm(&x.d, &ops::t(&x.d)?)?, &x.d, 0.5.into(), 2.into())
    }),
    ("sin", |x| ops::sin(&x.a)),
    ("expm1", |x| ops::expm1(&x.a)),
    ("relu", |x| ops::relu(&x.a)),
    ("csr.sin", |x| ops::sin(&x.csr)),
    ("pow", |x| ops::pow_tensor_scalar(&x.a, 2.into())),
    ("norm", |x| ops::norm_scalar(&x.c, 2.into())),
    ("sum_backward.0", |x| {
        ops::_sparse_sum_backward(&ops::_sparse_sum_dim_dtype(&x.a, &[0], x.a.dtype())?, &x.a, &[0])
    }),
    ("sum_backward.hybrid.1", |x| {
        ops::_sparse_sum_backward(&ops::_sparse_sum_dim_dtype(&x.h, &[1], x.h.dtype())?, &x.h, &[1])
    }),
    ("sum_backward.dense", |x| {
        ops::_sparse_sum_backward(&ops::select_int(&ops::to_dense(&x.h, None, None)?, 0, 1)?, &x.h, &[0])
    }),
    ("sum_backward.all", |x| {
        ops::_sparse_sum_backward(&ops::select_int(&ops::select_int(&x.d, 0, 1)?, 0, 2)?, &x.a, &[0, 1])
    }),
    ("csr_sum.0", |x| ops::_sparse_csr_sum_dim_dtype(&x.csr, &[0], true, None)),
    ("csr_sum.1", |x| ops::_sparse_csr_sum_dim_dtype(&x.csr, &[1], true, None)),
    ("csr_sum.0.1", |x| ops::_sparse_csr_sum_dim_dtype(&x.csr, &[0, 1], true, None)),
    ("csr_sum.-1", |x| ops::_sparse_csr_sum_dim_dtype(&x.csr, &[-1], true, None)),
    ("csr_sum.", |x| ops::_sparse_csr_sum_dim_dtype(&x.csr, &[], true, None)),
    ("csr_sum.dtype", |x| ops::_sparse_csr_sum_dim_dtype(&x.csr, &[1], true, Some(DType::F64))),
    ("csr_prod.0", |x| ops::_sparse_csr_prod_dim_dtype(&x.csr, &[0], true, None)),
    ("csr_prod.1", |x| ops::_sparse_csr_prod_dim_dtype(&x.csr, &[1], true, None)),
    ("csr_prod.0.1", |x| ops::_sparse_csr_prod_dim_dtype(&x.csr, &[0, 1], true, None)),
    ("csr_prod.-1", |x| ops::_sparse_csr_prod_dim_dtype(&x.csr, &[-1], true, None)),
    ("csr_prod.", |x| ops::_sparse_csr_prod_dim_dtype(&x.csr, &[], true, None)),
    ("csr_prod.dtype", |x| ops::_sparse_csr_prod_dim_dtype(&x.csr, &[1], true, Some(DType::F64))),
    ("broadcast_to.lead", |x| ops::_sparse_broadcast_to(&x.a, &[2, 4, 3])),
    ("broadcast_to.hybrid", |x| ops::_sparse_broadcast_to(&x.h, &[2, 4, 2])),
    ("broadcast_to.last", |x| ops::_sparse_broadcast_to(&one_column(x)?, &[3, 4])),
    ("broadcast_to.last.coalesced", |x| {
        let coalesced = ops::_sparse_broadcast_to(&one_column(x)?, &[3, 4])?.is_coalesced()?;
        Tensor::from_slice(&[coalesced], &[])
    }),
    ("broadcast_to.first", |x| ops::_sparse_broadcast_to(&ops::coalesce(&ops::t(&one_column(x)?)?)?, &[2, 3])),
    ("mask_projection", |x| ops::_sparse_mask_projection(&x.a, &x.b, false)),
    ("mask_projection.accumulated", |x| ops::_sparse_mask_projection(&x.b, &x.a, true)),
    ("mask_projection.hybrid", |x| ops::_sparse_mask_projection(&x.h, &x.h, true)),
    ("softmax.0", |x| ops::_sparse_softmax(&x.a, 0, false)),
    ("softmax.1", |x| ops::_sparse_softmax(&x.a, 1, false)),
    ("softmax.hybrid.0", |x| ops::_sparse_softmax(&x.h, 0, false)),
    ("softmax.hybrid.1", |x| ops::_sparse_softmax(&x.h, -1, false)),
    ("softmax.dtype", |x| ops::_sparse_softmax_int(&x.a, 0, Some(DType::F64))),
    ("softmax.backward.0", |x| softmax_backward(&x.a, 0, false)),
    ("softmax.backward.1", |x| softmax_backward(&x.a, 1, false)),
    ("softmax.backward.hybrid.0", |x| softmax_backward(&x.h, 0, false)),
    ("softmax.backward.hybrid.1", |x| softmax_backward(&x.h, 1, false)),
    ("softmax.backward.other", |x| {
        ops::_sparse_softmax_backward_data(&x.b, &ops::_sparse_softmax(&x.a, 1, false)?, 1, &x.a)
    }),
    ("log_softmax.0", |x| ops::_sparse_log_softmax(&x.a, 0, false)),
    ("log_softmax.1", |x| ops::_sparse_log_softmax(&x.a, 1, false)),
    ("log_softmax.hybrid.0", |x| ops::_sparse_log_softmax(&x.h, 0, false)),
    ("log_softmax.hybrid.1", |x| ops::_sparse_log_softmax(&x.h, -1, false)),
    ("log_softmax.dtype", |x| ops::_sparse_log_softmax_int(&x.a, 0, Some(DType::F64))),
    ("log_softmax.backward.0", |x| softmax_backward(&x.a, 0, true)),
    ("log_softmax.backward.1", |x| softmax_backward(&x.a, 1, true)),
    ("log_softmax.backward.hybrid.0", |x| softmax_backward(&x.h, 0, true)),
    ("log_softmax.backward.hybrid.1", |x| softmax_backward(&x.h, 1, true)),
    ("log_softmax.backward.other", |x| {
        ops::_sparse_log_softmax_backward_data(&x.b, &ops::_sparse_log_softmax(&x.a, 1, false)?, 1, &x.a)
    }),
    ("native_norm.2", |x| ops::native_norm(&x.a, 2.into())),
    ("native_norm.1", |x| ops::native_norm(&x.a, 1.into())),
    ("native_norm.3.5", |x| ops::native_norm(&x.a, 3.5.into())),
    ("native_norm.inf", |x| ops::native_norm(&x.a, f64::INFINITY.into())),
    ("native_norm.dims", |x| ops::native_norm_scalaropt_dim_dtype(&x.h, None, &[0, 1], false, None)),
    ("mm_reduce.sum", |x| mm_reduce(x, "sum")),
    ("mm_reduce.mean", |x| mm_reduce(x, "mean")),
    ("mm_reduce.amax", |x| mm_reduce(x, "amax")),
    ("mm_reduce.amin", |x| mm_reduce(x, "amin")),
];

/// A matrix with one column.
fn one_column(x: &Inputs) -> rushlight_base::Result<Tensor> {
    let values = ops::narrow(&ops::select_int(&x.d, 0, 0)?, 0, 0, 2)?;
    ops::coalesce(&coo(&longs(&[1, 2, 0, 0], &[2, 2]), &values, &[3, 1]))
}

fn softmax_backward(x: &Tensor, dim: i64, log: bool) -> rushlight_base::Result<Tensor> {
    let grad = ops::mul_scalar(x, 0.5.into())?;
    if log {
        ops::_sparse_log_softmax_backward_data(&grad, &ops::_sparse_log_softmax(x, dim, false)?, dim, x)
    } else {
        ops::_sparse_softmax_backward_data(&grad, &ops::_sparse_softmax(x, dim, false)?, dim, x)
    }
}

/// A product of a matrix with an empty row.
fn mm_reduce(x: &Inputs, reduce: &str) -> rushlight_base::Result<Tensor> {
    let (starts, columns) = (longs(&[0, 1, 1, 3], &[4]), longs(&[0, 1, 3], &[3]));
    let values = ops::select_int(&x.d, 0, 0)?;
    let matrix =
        ops::sparse_csr_tensor_crow_col_value_size(&starts, &columns, &values, &[3, 4], Options::of(x.d.dtype()))?;
    Ok(ops::_sparse_mm_reduce_impl(&matrix, &x.d, reduce)?.0)
}

fn expected() -> HashMap<&'static str, &'static str> {
    EXPECTED.lines().filter_map(|line| line.split_once(" | ")).collect()
}

#[test]
fn results_are_those_of_pytorch() {
    let expected = expected();
    let mut checked = 0;
    for dtype in [DType::F32, DType::F64, DType::I64, DType::C64] {
        let inputs = Inputs::of(dtype);
        for (case, call) in CASES {
            let name = format!("{dtype}.{case}");
            if expected.contains_key(name.as_str()) {
                let found = call(&inputs).unwrap_or_else(|error| panic!("{name}: {error}"));
                check(&expected, &name, &found);
                checked += 1;
            }
        }
    }
    assert_eq!(checked, expected.keys().filter(|name| !name.starts_with("grad.")).count());
}

fn weighted(result: &Tensor) -> Tensor {
    let result = if result.is_any_sparse() { ops::to_dense(result, None, None).unwrap() } else { result.clone() };
    let count: Vec<f64> = (1..=result.numel()).map(|value| value as f64).collect();
    let weights = Tensor::from_slice(&count, &result.sizes()).unwrap();
    ops::sum(&ops::mul_tensor(&result, &weights).unwrap(), None).unwrap()
}

type Leaves = fn(&Inputs) -> Vec<Tensor>;
type Function = fn(&Inputs, &[Tensor]) -> rushlight_base::Result<Tensor>;

/// The calls of the script's `gradients`.
const GRADIENTS: &[(&str, Leaves, Function)] = &[
    ("to_dense", |x| vec![x.c.clone()], |_, l| ops::to_dense(&l[0], None, None)),
    ("csr.to_dense", |x| vec![x.csr.clone()], |_, l| ops::to_dense(&l[0], None, None)),
    ("to_sparse", |x| vec![x.d.clone()], |_, l| ops::to_sparse(&l[0], None, None, None)),
    ("values", |x| vec![x.c.clone()], |_, l| ops::values(&ops::coalesce(&l[0])?)),
    ("construct", |x| vec![ops::_values(&x.a).unwrap()], |x, l| Ok(coo(&ops::_indices(&x.a)?, &l[0], &[4, 3]))),
    ("construct.hybrid", |x| vec![ops::_values(&x.h).unwrap()], |x, l| Ok(coo(&ops::_indices(&x.h)?, &l[0], &[4, 2]))),
    ("mm", |x| vec![x.c.clone(), x.m.clone()], |_, l| ops::mm(&l[0], &l[1])),
    ("csr.mm", |x| vec![x.csr.clone(), x.m.clone()], |_, l| ops::mm(&l[0], &l[1])),
    ("sparse.mm", |x| vec![x.c.clone(), x.m.clone()], |_, l| ops::_sparse_mm(&l[0], &l[1])),
    ("csr.sparse.mm", |x| vec![x.csr.clone(), x.m.clone()], |_, l| ops::_sparse_mm(&l[0], &l[1])),
    (
        "addmm",
        |x| vec![ops::ones(&[4, 2], Options::of(DType::F64)).unwrap(), x.m.clone()],
        |x, l| ops::addmm(&l[0], &x.c, &l[1], 2.into(), 3.into()),
    ),
    ("mul.number", |x| vec![x.c.clone()], |_, l| ops::mul_scalar(&l[0], 3.into())),
    ("neg", |x| vec![x.c.clone()], |_, l| ops::neg(&l[0])),
    ("add", |x| vec![x.c.clone(), x.cb.clone()], |_, l| ops::add_tensor(&l[0], &l[1], 2.into())),
    ("add.dense", |x| vec![x.d.clone(), x.c.clone()], |_, l| ops::add_tensor(&l[0], &l[1], 2.into())),
    ("mul.sparse", |x| vec![x.c.clone(), x.cb.clone()], |_, l| ops::mul_tensor(&l[0], &l[1])),
    ("t", |x| vec![x.c.clone()], |_, l| ops::t(&l[0])),
    ("sum", |x| vec![x.c.clone()], |_, l| ops::mul_scalar(&ops::sum(&l[0], None)?, 2.into())),
    ("sparse.sum", |x| vec![x.c.clone()], |_, l| ops::mul_scalar(&ops::_sparse_sum(&l[0])?, 2.into())),
    ("sparse.sum.0", |x| vec![x.c.clone()], |_, l| ops::_sparse_sum_dim(&l[0], &[0])),
    ("sparse_mask", |x| vec![x.d.clone()], |x, l| ops::sparse_mask(&l[0], &x.c)),
    ("softmax.0", |x| vec![x.c.clone()], |_, l| ops::_sparse_softmax(&l[0], 0, false)),
    ("softmax.1", |x| vec![x.c.clone()], |_, l| ops::_sparse_softmax(&l[0], 1, false)),
    ("log_softmax.0", |x| vec![x.c.clone()], |_, l| ops::_sparse_log_softmax(&l[0], 0, false)),
    ("log_softmax.1", |x| vec![x.c.clone()], |_, l| ops::_sparse_log_softmax(&l[0], 1, false)),
    ("softmax.hybrid", |x| vec![ops::coalesce(&x.h).unwrap()], |_, l| ops::_sparse_softmax(&l[0], 0, false)),
    (
        "mm_reduce.sum",
        |x| vec![x.csr.clone(), x.m.clone()],
        |_, l| Ok(ops::_sparse_mm_reduce_impl(&l[0], &l[1], "sum")?.0),
    ),
    (
        "mm_reduce.mean",
        |x| vec![x.csr.clone(), x.m.clone()],
        |_, l| Ok(ops::_sparse_mm_reduce_impl(&l[0], &l[1], "mean")?.0),
    ),
    (
        "mm_reduce.amax",
        |x| vec![x.csr.clone(), x.m.clone()],
        |_, l| Ok(ops::_sparse_mm_reduce_impl(&l[0], &l[1], "amax")?.0),
    ),
    (
        "mm_reduce.amin",
        |x| vec![x.csr.clone(), x.m.clone()],
        |_, l| Ok(ops::_sparse_mm_reduce_impl(&l[0], &l[1], "amin")?.0),
    ),
];

#[test]
fn gradients_are_those_of_pytorch() {
    let (expected, inputs) = (expected(), Inputs::of(DType::F64));
    let mut checked = 0;
    for (case, leaves, function) in GRADIENTS {
        let leaves: Vec<Tensor> = leaves(&inputs).iter().map(|leaf| ops::clone(leaf, None).unwrap()).collect();
        leaves.iter().for_each(|leaf| leaf.set_requires_grad(true).unwrap());
        let result = function(&inputs, &leaves).unwrap_or_else(|error| panic!("{case}: {error}"));
        autograd::backward(&[&weighted(&result)], &[None], false, false, &[])
            .unwrap_or_else(|error| panic!("{case}: {error}"));
        for (index, leaf) in leaves.iter().enumerate() {
            let grad = leaf.grad().unwrap_or_else(|| panic!("{case}: no gradient"));
            let grad = if grad.layout() == Layout::Sparse { ops::coalesce(&grad).unwrap() } else { grad };
            check(&expected, &format!("grad.{case}.{index}"), &grad);
            checked += 1;
        }
    }
    assert_eq!(checked, expected.keys().filter(|name| name.starts_with("grad.")).count());
}
