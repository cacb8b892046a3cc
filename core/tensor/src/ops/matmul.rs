//! Kernels of matrix products.

use super::access::{array, sub_array};
use super::rules::check_expandable;
use crate::dense::{Dense, Geometry};
use rushlight_base::{DimVec, Result, Scalar};
use rushlight_cpu::gemm::gemm;

/// out = self mat2
pub fn mm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    gemm(&array(out), &array(self_), &array(mat2), None, Scalar::Int(1))
}

/// out = beta self + alpha mat1 mat2
pub fn addmm(out: &Dense, self_: &Dense, mat1: &Dense, mat2: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    check_expandable(self_.sizes(), out.sizes())?;
    gemm(&array(out), &array(mat1), &array(mat2), Some((&array(self_), beta)), alpha)
}

/// Matrix `batch` of a three-dimensional tensor.
fn matrix(dense: &Dense, batch: i64) -> Geometry {
    Geometry {
        sizes: DimVec::from_slice(&dense.sizes()[1..]),
        strides: DimVec::from_slice(&dense.strides()[1..]),
        offset: dense.geometry.offset + batch * dense.strides()[0],
    }
}

/// out_b = self_b mat2_b
pub fn bmm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    for batch in 0..out.sizes()[0] {
        let [to, a, b] = [out, self_, mat2].map(|dense| matrix(dense, batch));
        gemm(&sub_array(out, &to), &sub_array(self_, &a), &sub_array(mat2, &b), None, Scalar::Int(1))?;
    }
    Ok(())
}
