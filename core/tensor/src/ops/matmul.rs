//! Kernels of matrix products.

use super::access::{array, array_as, cast};
use super::creation::zero;
use super::rules::check_expandable;
use crate::dense::Dense;
use rushlight_base::{Result, Scalar};
use rushlight_cpu::gemm::{Epilogue, batched, gemm};
use rushlight_cpu::{Array, arithmetic};

/// Whether a product has elements but adds up nothing: all are 0, also for dtypes without products.
fn is_empty_sum(out: &Dense, vec: &Dense) -> bool {
    vec.numel() == 0 && out.numel() > 0
}

/// Checks the factors of a sum and of a product that is added to it.
fn check_factors(out: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    if out.numel() > 0 {
        let dtype = out.dtype.opmath();
        beta.check_convertible(dtype)?;
        alpha.check_convertible(dtype)?;
    }
    Ok(())
}

/// out = self mat2
pub fn mm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    if is_empty_sum(out, mat2) {
        return zero(out, out);
    }
    gemm(&array(out), &array(self_), &array(mat2), None, Scalar::Int(1))
}

/// out = beta self + alpha mat1 mat2
pub fn addmm(out: &Dense, self_: &Dense, mat1: &Dense, mat2: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    check_factors(out, beta, alpha)?;
    check_expandable(self_.sizes(), out.sizes())?;
    gemm(&array(out), &array(mat1), &array(mat2), Some((&array(self_), beta)), alpha)
}

/// out_b = self_b mat2_b
pub fn bmm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    if is_empty_sum(out, mat2) {
        return zero(out, out);
    }
    batched(&array(out), &array(self_), &array(mat2), &Epilogue::default())
}

/// out_b = beta self_b + alpha batch1_b batch2_b
pub fn baddbmm(out: &Dense, self_: &Dense, batch1: &Dense, batch2: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    check_factors(out, beta, alpha)?;
    check_expandable(self_.sizes(), out.sizes())?;
    let epilogue = Epilogue { alpha, add: Some((&array(self_), beta)), ..Epilogue::default() };
    batched(&array(out), &array(batch1), &array(batch2), &epilogue)
}

/// out = beta self + alpha (batch1_0 batch2_0 + batch1_1 batch2_1 + ...)
pub fn addbmm(out: &Dense, self_: &Dense, batch1: &Dense, batch2: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    check_factors(out, beta, alpha)?;
    check_expandable(self_.sizes(), out.sizes())?;
    let (a, b) = (array(batch1), array(batch2));
    if batch1.sizes()[0] == 0 {
        // Products with an inner dimension of size 0.
        let (left, right) = ([batch1.sizes()[1], 0], [0, batch2.sizes()[2]]);
        let (left, right) = (array_as(batch1, &left, &a.strides()[1..]), array_as(batch2, &right, &b.strides()[1..]));
        return gemm(&array(out), &left, &right, Some((&array(self_), beta)), alpha);
    }
    let mut add = (array(self_), beta);
    for index in 0..batch1.sizes()[0] {
        gemm(&array(out), &a.select(index)?, &b.select(index)?, Some((&add.0, add.1)), alpha)?;
        add = (array(out), Scalar::Int(1));
    }
    Ok(())
}

/// Sizes and strides of a vector, or of a 0-dim tensor, as a matrix of one column.
fn as_column(dense: &Dense) -> [[i64; 2]; 2] {
    let size = dense.sizes().first().copied().unwrap_or(1);
    [[size, 1], [dense.strides().first().copied().unwrap_or(1), 1]]
}

fn column<'a>(dense: &'a Dense, [sizes, strides]: &'a [[i64; 2]; 2]) -> Array<'a> {
    array_as(dense, sizes, strides)
}

/// out = self vec
pub fn mv(out: &Dense, self_: &Dense, vec: &Dense) -> Result<()> {
    if is_empty_sum(out, vec) {
        return zero(out, out);
    }
    let (to, from) = (as_column(out), as_column(vec));
    gemm(&column(out, &to), &array(self_), &column(vec, &from), None, Scalar::Int(1))
}

/// out = beta self + alpha mat vec
pub fn addmv(out: &Dense, self_: &Dense, mat: &Dense, vec: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    check_factors(out, beta, alpha)?;
    let (to, from, add) = (as_column(out), as_column(vec), as_column(self_));
    let add = Some((&column(self_, &add), beta));
    gemm(&column(out, &to), &array(mat), &column(vec, &from), add, alpha)
}

/// out = self tensor
pub fn dot(out: &Dense, self_: &Dense, tensor: &Dense) -> Result<()> {
    if out.dtype.is_half() && out.is_on_host() {
        return arithmetic::dot_in_half_precision(&array(out), &array(self_), &array(tensor));
    }
    let ([[length, _], [step, _]], from, to) = (as_column(self_), as_column(tensor), as_column(out));
    let (sizes, strides) = ([1, length], [1, step]);
    gemm(&column(out, &to), &array_as(self_, &sizes, &strides), &column(tensor, &from), None, Scalar::Int(1))
}

/// out = self mat2, bytes into 32-bit integers
pub fn int_mm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    if !out.is_on_host() {
        let (self_, mat2) = (cast(self_, out.dtype)?, cast(mat2, out.dtype)?);
        return gemm(&array(out), &array(&self_), &array(&mat2), None, Scalar::Int(1));
    }
    gemm(&array(out), &array(self_), &array(mat2), None, Scalar::Int(1))
}
