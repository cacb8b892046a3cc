//! Rules of matrix products.

use super::broadcast::check_expandable;
use crate::dense::{Dense, Spec};
use rushlight_base::{DType, Result, Scalar, ensure, format_sizes};

/// The C++ type of a dtype, as PyTorch's messages on products name it.
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
        DType::QI8 => "c10::qint8",
        DType::QU8 => "c10::quint8",
        DType::QI32 => "c10::qint32",
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

/// beta self + alpha batch1 batch2, batch by batch.
pub fn baddbmm(self_: &Dense, batch1: &Dense, batch2: &Dense, _beta: Scalar, _alpha: Scalar) -> Result<Spec> {
    let spec = bmm(batch1, batch2)?;
    ensure!(
        self_.dtype == spec.dtype,
        Runtime,
        "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}",
        type_name(self_.dtype),
        type_name(batch1.dtype),
        type_name(batch2.dtype)
    );
    check_expandable(self_.sizes(), &spec.sizes)?;
    Ok(spec)
}

/// beta self + alpha times the sum of the products of two batches.
pub fn addbmm(self_: &Dense, batch1: &Dense, batch2: &Dense, _beta: Scalar, _alpha: Scalar) -> Result<Spec> {
    ensure!(batch1.ndim() == 3, Runtime, "batch1 must be a 3D tensor");
    ensure!(batch2.ndim() == 3, Runtime, "batch2 must be a 3D tensor");
    let (a, b) = (batch1.sizes(), batch2.sizes());
    let one = "batch1 and batch2 must have same number of batches";
    ensure!(a[0] == b[0], Runtime, "{one}, got {} and {}", a[0], b[0]);
    let fits = a[2] == b[1];
    ensure!(fits, Runtime, "Incompatible matrix sizes for bmm ({}x{} and {}x{})", a[1], a[2], b[1], b[2]);
    for dtype in [batch1.dtype, batch2.dtype] {
        ensure!(
            self_.dtype == dtype,
            Runtime,
            "self and mat2 must have the same dtype, but got {} and {}",
            self_.dtype.c10_name(),
            batch2.dtype.c10_name()
        );
    }
    check_expandable(self_.sizes(), &[a[1], b[2]])?;
    Ok(Spec::new(&[a[1], b[2]], batch1.dtype, batch1.device))
}

/// (n, k) times (k).
pub fn mv(self_: &Dense, vec: &Dense) -> Result<Spec> {
    matrix_times_vector(self_, vec, 1, None)
}

/// beta self + alpha mat vec.
pub fn addmv(self_: &Dense, mat: &Dense, vec: &Dense, _beta: Scalar, _alpha: Scalar) -> Result<Spec> {
    let spec = matrix_times_vector(mat, vec, self_.ndim(), self_.sizes().first().copied())?;
    let (expected, found) = (mat.dtype.c10_name(), self_.dtype.c10_name());
    ensure!(self_.dtype == mat.dtype, Runtime, "expected scalar type {expected} but found {found}");
    Ok(spec)
}

/// The product of a matrix and a vector, with an addend of this many dimensions and that size.
fn matrix_times_vector(mat: &Dense, vec: &Dense, dims: usize, size: Option<i64>) -> Result<Spec> {
    let of_vectors = mat.ndim() == 2 && vec.ndim() == 1 && dims <= 1;
    ensure!(of_vectors, Runtime, "vector + matrix @ vector expected, got {dims}, {}, {}", mat.ndim(), vec.ndim());
    let [rows, inner] = [mat.sizes()[0], mat.sizes()[1]];
    let size = size.unwrap_or(if dims == 0 { 1 } else { rows });
    let (length, fits) = (vec.sizes()[0], vec.sizes()[0] == inner && (size == rows || size == 1));
    ensure!(fits, Runtime, "size mismatch, got input ({size}), mat ({rows}x{inner}), vec ({length})");
    let (expected, found) = (mat.dtype.c10_name(), vec.dtype.c10_name());
    ensure!(mat.dtype == vec.dtype, Runtime, "expected scalar type {expected} but found {found}");
    Ok(Spec::new(&[rows], mat.dtype, mat.device))
}

/// (k) times (k).
pub fn dot(self_: &Dense, tensor: &Dense) -> Result<Spec> {
    let dims = (self_.ndim(), tensor.ndim());
    ensure!(dims == (1, 1), Runtime, "1D tensors expected, but got {}D and {}D tensors", dims.0, dims.1);
    let (expected, found) = (self_.dtype.c10_name(), tensor.dtype.c10_name());
    ensure!(
        self_.dtype == tensor.dtype,
        Runtime,
        "dot : expected both vectors to have same dtype, but found {expected} and {found}"
    );
    let (a, b) = (self_.numel(), tensor.numel());
    ensure!(
        a == b,
        Runtime,
        "inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same number of elements, but got {a} and {b} elements respectively"
    );
    Ok(Spec::new(&[], self_.dtype, self_.device))
}

/// Bytes: (n, k) times (k, m), into 32 bits.
pub fn int_mm(self_: &Dense, mat2: &Dense) -> Result<Spec> {
    const NAME: &str = "int_mm_out_cpu";
    for (name, matrix) in [("self", self_), ("mat2", mat2)] {
        ensure!(matrix.ndim() == 2, Runtime, "{NAME}: Expected {name} to be of dimension 2 but got {}", matrix.ndim());
    }
    let (a, b) = (self_.sizes(), mat2.sizes());
    let (inner, rows) = (a[1], b[0]);
    ensure!(inner == rows, Runtime, "{NAME}: self.size(1) needs to match mat2.size(0) but got {inner} and {rows}");
    for (name, matrix) in [("self", self_), ("mat2", mat2)] {
        let found = type_name(matrix.dtype);
        ensure!(matrix.dtype == DType::I8, Runtime, "{NAME}: Expected {name} dtype to be of type int8 but got {found}");
    }
    Ok(Spec::new(&[a[0], b[1]], DType::I32, self_.device))
}
