//! Decompositions of batches of matrices, with what LAPACK returns: factorizations, linear systems, eigenvalues and
//! singular values, for `f32`, `f64` and their complex numbers.
//!
//! Functions take [`rushlight_cpu::Array`]s of any strides. The last two dimensions are matrices, the others a batch;
//! `batch` brings matrices into blocks of column-major memory and runs independent ones on the threads of the library.
//! The direct methods (`cholesky`, `lu`, `householder`, `triangular`) are written here: they recur to the products of
//! `rushlight-cpu`, small matrices take plain loops, and small systems of a batch are solved several at once (`lanes`). Eigenvalues and singular values (`spectral`) are `faer`'s.

mod batch;
mod block;
mod cholesky;
mod direct;
mod exponential;
mod field;
mod householder;
mod lanes;
mod ldl;
mod least_squares;
mod lu;
mod spectral;
mod triangular;
mod values;

pub use direct::*;
pub use exponential::exponential;
pub use ldl::{ldl_factor, ldl_solve};
pub use least_squares::*;
pub use values::*;

/// Calls generic code with the element type of a dtype.
macro_rules! with_field {
    ($name:expr, $dtype:expr, $T:ident => $body:expr) => {{
        use rushlight_base::{Complex64, Complex128, DType};
        match $dtype {
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::C64 => {
                type $T = Complex64;
                $body
            }
            DType::C128 => {
                type $T = Complex128;
                $body
            }
            dtype => rushlight_base::bail!(Runtime, "\"{}\" not implemented for '{}'", $name, dtype.c10_name()),
        }
    }};
}
pub(crate) use with_field;
