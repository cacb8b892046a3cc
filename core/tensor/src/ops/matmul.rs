//! Kernels of matrix products.

use super::access::array;
use super::rules::check_expandable;
use crate::dense::Dense;
use rushlight_base::{Result, Scalar};
use rushlight_cpu::gemm::{Epilogue, batched, gemm};

/// out = self mat2
pub fn mm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    gemm(&array(out), &array(self_), &array(mat2), None, Scalar::Int(1))
}

/// out = beta self + alpha mat1 mat2
pub fn addmm(out: &Dense, self_: &Dense, mat1: &Dense, mat2: &Dense, beta: Scalar, alpha: Scalar) -> Result<()> {
    check_expandable(self_.sizes(), out.sizes())?;
    gemm(&array(out), &array(mat1), &array(mat2), Some((&array(self_), beta)), alpha)
}

/// out_b = self_b mat2_b
pub fn bmm(out: &Dense, self_: &Dense, mat2: &Dense) -> Result<()> {
    batched(&array(out), &array(self_), &array(mat2), &Epilogue::default())
}
