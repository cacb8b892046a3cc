//! Rules of matrix products.

use super::broadcast::check_expandable;
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result, Scalar, ensure, format_sizes};

/// The C++ type behind a dtype, as PyTorch's messages on products name it.
fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::U8 => "unsigned char",
        DType::I8 => "signed char",
        DType::I16 => "short",
        DType::I32 => "int",
        DType::I64 => "long",
        DType::F16 => "c10::Half",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C32 => "c10::complex<c10::Half>",
        DType::C64 => "c10::complex<float>",
        DType::C128 => "c10::complex<double>",
        DType::Bool => "bool",
        DType::BF16 => "c10::BFloat16",
        DType::U16 => "unsigned short",
        DType::U32 => "unsigned int",
        DType::U64 => "unsigned long",
    }
}

fn product(a: &Dense, b: &Dense) -> Result<Spec> {
    ensure!(
        a.sizes()[1] == b.sizes()[0],
        Runtime,
        "mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
        a.sizes()[0],
        a.sizes()[1],
        b.sizes()[0],
        b.sizes()[1]
    );
    ensure!(
        a.dtype == b.dtype,
        Runtime,
        "expected m1 and m2 to have the same dtype, but got: {} != {}",
        type_name(a.dtype),
        type_name(b.dtype)
    );
    Ok(Spec::new(&[a.sizes()[0], b.sizes()[1]], a.dtype, a.device))
}

/// (n, k) times (k, m).
pub fn mm(self_: &Dense, mat2: &Dense) -> Result<Spec> {
    ensure!(self_.ndim() == 2, Runtime, "self must be a matrix");
    ensure!(mat2.ndim() == 2, Runtime, "mat2 must be a matrix");
    product(self_, mat2)
}

/// beta self + alpha mat1 mat2.
pub fn addmm(self_: &Dense, mat1: &Dense, mat2: &Dense, _beta: Scalar, _alpha: Scalar) -> Result<Spec> {
    ensure!(mat1.ndim() == 2, Runtime, "mat1 must be a matrix, got {}-D tensor", mat1.ndim());
    ensure!(mat2.ndim() == 2, Runtime, "mat2 must be a matrix, got {}-D tensor", mat2.ndim());
    let spec = product(mat1, mat2)?;
    ensure!(
        self_.dtype == mat2.dtype,
        Runtime,
        "self and mat2 must have the same dtype, but got {} and {}",
        self_.dtype.c10_name(),
        mat2.dtype.c10_name()
    );
    check_expandable(self_.sizes(), &spec.sizes)?;
    Ok(spec)
}

/// (b, n, k) times (b, k, m).
pub fn bmm(self_: &Dense, mat2: &Dense) -> Result<Spec> {
    ensure!(self_.ndim() == 3, Runtime, "batch1 must be a 3D tensor");
    ensure!(mat2.ndim() == 3, Runtime, "batch2 must be a 3D tensor");
    let (a, b) = (self_.sizes(), mat2.sizes());
    ensure!(
        a[0] == b[0] && a[2] == b[1],
        Runtime,
        "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
        a[0],
        a[2],
        b[0],
        b[1]
    );
    ensure!(
        self_.dtype == mat2.dtype,
        Runtime,
        "expected scalar type {} but found {} (batches {} and {})",
        self_.dtype.c10_name(),
        mat2.dtype.c10_name(),
        format_sizes(a),
        format_sizes(b)
    );
    Ok(Spec::new(&[a[0], a[1], b[2]], self_.dtype, self_.device))
}
