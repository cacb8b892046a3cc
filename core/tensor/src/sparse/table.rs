//! The operators that sparse tensors have: a row for each, with its kernel and its derivative.

#[cfg(feature = "op-optim")]
use super::optim;
use super::record::{Back, Derivative, recorded};
use super::{binary, convert, create, product, reduce, shape, softmax, unary, write};
use crate::dispatch::{Args, OpDef, Value, by_name};
use rushlight_base::{Result, bail};

/// An operator.
pub(super) struct Row {
    pub name: &'static str,
    kernel: Kernel,
    gradient: Gradient,
}

enum Kernel {
    /// A function of the arguments.
    Of(fn(&Args<'_>) -> Result<Value>),
    /// The operator of the same name on the values: it maps 0 to 0.
    OnValues,
    /// The operator of the same name on the values, which reduces them: zeros do not count.
    Reduced,
}

enum Gradient {
    /// The kernel calls operators that are recorded themselves.
    Composite,
    /// The result has no gradient.
    Never,
    /// The call is recorded.
    Node(Derivative),
    /// A call that would have to be recorded is an error.
    Missing,
}

impl Row {
    /// Calls the kernel, and records the call.
    pub fn call(&'static self, args: Args<'_>) -> Result<Value> {
        match &self.gradient {
            Gradient::Composite | Gradient::Never => self.run(&args),
            Gradient::Missing => {
                args.check_unrecorded(self.name, "sparse")?;
                self.run(&args)
            }
            Gradient::Node(derivative) => {
                let compute = || match self.run(&args)? {
                    Value::Tensor(result) => Ok(result),
                    other => bail!(Internal, "{} returns {}", self.name, other.kind()),
                };
                Ok(recorded(derivative, args.0, compute)?.into())
            }
        }
    }

    fn run(&self, args: &Args<'_>) -> Result<Value> {
        match self.kernel {
            Kernel::Of(kernel) => kernel(args),
            Kernel::OnValues => unary::on_values(self.name, args),
            Kernel::Reduced => unary::reduced_values(self.name, args),
        }
    }
}

/// The row of an operator's functional form, or of one that is in place only.
pub(super) fn find(full_name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == full_name)
}

/// Operators that read only metadata.
pub(super) fn is_metadata(full_name: &str) -> bool {
    const NAMES: [&str; 7] = ["size", "size.int", "dim", "numel", "is_floating_point", "prim::device", "prim::dtype"];
    NAMES.contains(&full_name)
}

/// The row of the functional form of an out= form: it has the arguments that the out= form does not write.
pub(super) fn find_functional(out: &OpDef) -> Option<&'static Row> {
    let inputs = || out.arguments().iter().filter(|argument| !argument.is_written());
    if inputs().count() == out.arguments().len() {
        return None;
    }
    ROWS.iter().find(|row| {
        let (name, overload) = row.name.split_once('.').unwrap_or((row.name, ""));
        name == out.name()
            && by_name::find_known(name, overload).is_some_and(|op| {
                inputs().map(|argument| &argument.ty).eq(op.arguments().iter().map(|argument| &argument.ty))
            })
    })
}

const fn row(name: &'static str, kernel: fn(&Args<'_>) -> Result<Value>, gradient: Gradient) -> Row {
    Row { name, kernel: Kernel::Of(kernel), gradient }
}

const fn on_values(name: &'static str) -> Row {
    Row { name, kernel: Kernel::OnValues, gradient: Gradient::Composite }
}

const fn reduced(name: &'static str) -> Row {
    Row { name, kernel: Kernel::Reduced, gradient: Gradient::Composite }
}

const fn node(name: &'static str, needs: &'static [(usize, usize)], back: Back) -> Gradient {
    Gradient::Node(Derivative { name, needs, back })
}

static ROWS: &[Row] = &[
    // Creation.
    row(
        "sparse_coo_tensor.indices_size",
        create::coo_with_size,
        node("SparseCooTensorWithDimsAndTensorsBackward0", &[(1, 0)], create::coo_back),
    ),
    row(
        "sparse_coo_tensor.indices",
        create::coo_without_size,
        node("SparseCooTensorWithDimsAndTensorsBackward0", &[(1, 0)], create::coo_back),
    ),
    row(
        "_sparse_coo_tensor_unsafe",
        create::coo_with_size,
        node("SparseCooTensorWithDimsAndTensorsBackward0", &[(1, 0)], create::coo_back),
    ),
    row("sparse_coo_tensor.size", create::coo_of_size, Gradient::Never),
    row(
        "sparse_csr_tensor.crow_col_value_size",
        create::csr_with_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::compressed_back),
    ),
    row(
        "sparse_csr_tensor.crow_col_value",
        create::csr_without_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::compressed_back),
    ),
    row(
        "sparse_csc_tensor.ccol_row_value_size",
        create::csc_with_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::csc_back),
    ),
    row(
        "sparse_csc_tensor.ccol_row_value",
        create::csc_without_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::csc_back),
    ),
    row(
        "sparse_compressed_tensor.comp_plain_value_size",
        create::compressed_with_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::compressed_back),
    ),
    row(
        "_sparse_compressed_tensor_unsafe",
        create::compressed_with_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::compressed_back),
    ),
    row(
        "sparse_compressed_tensor.comp_plain_value",
        create::compressed_without_size,
        node("SparseCompressedTensorBackward0", &[(2, 0), (2, 1), (2, 2)], create::compressed_back),
    ),
    row("_sparse_compressed_tensor_with_dims", create::compressed_with_dims, Gradient::Never),
    row("empty.memory_format", create::empty_of_size, Gradient::Never),
    row("zeros", create::empty_of_size, Gradient::Never),
    row("empty_like", create::empty_like, Gradient::Never),
    row("zeros_like", create::empty_like, Gradient::Never),
    // Components.
    row("_indices", convert::raw_indices, Gradient::Never),
    row("_values", convert::raw_values, Gradient::Never),
    row("indices", convert::indices, Gradient::Never),
    row("values", convert::values, node("ValuesBackward0", &[(0, 0)], convert::values_back)),
    row("crow_indices", convert::crow_indices, Gradient::Never),
    row("col_indices", convert::col_indices, Gradient::Never),
    row("ccol_indices", convert::ccol_indices, Gradient::Never),
    row("row_indices", convert::row_indices, Gradient::Never),
    row("_nnz", convert::nnz, Gradient::Never),
    row("sparse_dim", convert::sparse_dim, Gradient::Never),
    row("dense_dim", convert::dense_dim, Gradient::Never),
    row("is_coalesced", convert::is_coalesced, Gradient::Never),
    row("coalesce", convert::coalesce, node("CoalesceBackward0", &[], convert::same_back)),
    row("_coalesced_", write::coalesced_, Gradient::Never),
    // Conversion.
    row("to_dense_backward", convert::to_dense_backward, Gradient::Composite),
    row("to_dense", convert::to_dense, node("ToDenseBackward0", &[(0, 0)], convert::to_dense_back)),
    row("to_sparse.sparse_dim", convert::to_sparse_dim, node("ToSparseBackward0", &[], convert::to_sparse_back)),
    row("to_sparse", convert::to_sparse, node("ToSparseBackward0", &[], convert::to_sparse_back)),
    row("to_sparse_csr", convert::to_sparse_csr, node("ToSparseBackward0", &[], convert::to_sparse_back)),
    row("to_sparse_csc", convert::to_sparse_csc, node("ToSparseBackward0", &[], convert::to_sparse_back)),
    row("sparse_mask", convert::sparse_mask, node("SparseMaskBackward0", &[(0, 1)], convert::sparse_mask_back)),
    row("_sparse_mask_projection", convert::mask_projection, Gradient::Missing),
    row("clone", convert::clone, node("CloneBackward0", &[], convert::same_back)),
    row("detach", convert::detach, Gradient::Never),
    row("alias", convert::detach, node("AliasBackward0", &[], convert::same_back)),
    row("_to_copy", convert::to_copy, node("ToCopyBackward0", &[], convert::same_back)),
    row("to.dtype", convert::to_dtype, Gradient::Composite),
    row("to.device", convert::to_device, Gradient::Composite),
    row("to.other", convert::to_other, Gradient::Composite),
    row("to.dtype_layout", convert::to_dtype_layout, Gradient::Composite),
    // In place.
    row("zero_", write::zero_, Gradient::Missing),
    row("copy_", write::copy_, Gradient::Missing),
    row("copy_sparse_to_sparse_", write::copy_, Gradient::Missing),
    row("sparse_resize_", write::sparse_resize_, Gradient::Missing),
    row("sparse_resize_and_clear_", write::sparse_resize_and_clear_, Gradient::Missing),
    row("resize_as_sparse_", write::resize_as_sparse_, Gradient::Missing),
    // Dimensions and selection.
    row("transpose.int", shape::transpose, node("TransposeBackward0", &[], shape::transpose_back)),
    row("t", shape::t, Gradient::Composite),
    row("permute", shape::permute, Gradient::Missing),
    row("unsqueeze", shape::unsqueeze, Gradient::Missing),
    row("select.int", shape::select, Gradient::Missing),
    row("index_select", shape::index_select, Gradient::Missing),
    row("_sparse_broadcast_to", shape::broadcast_to, Gradient::Missing),
    row("cat", shape::cat, Gradient::Missing),
    // Arithmetic.
    row("add.Tensor", binary::add, node("AddBackward0", &[], binary::add_back)),
    row("sub.Tensor", binary::sub, node("SubBackward0", &[], binary::sub_back)),
    row("mul.Tensor", binary::mul, node("MulBackward0", &[(0, 1), (1, 0)], binary::mul_back)),
    row("mul.Scalar", binary::mul_scalar, node("MulBackward0", &[], binary::mul_scalar_back)),
    row("div.Tensor", binary::div, node("DivBackward0", &[(0, 1), (1, 0), (1, 1)], binary::div_back)),
    row("div.Scalar", binary::div_scalar, node("DivBackward0", &[], binary::div_scalar_back)),
    row("neg", binary::neg, node("NegBackward0", &[], binary::neg_back)),
    row("pow.Tensor_Scalar", unary::pow, Gradient::Composite),
    // Products.
    row("mm", product::mm, node("MmBackward0", &[(0, 1), (1, 0)], product::mm_back)),
    row(
        "_sparse_mm",
        product::sparse_mm,
        node("SparseAddmmBackward0", &[(0, 0), (0, 1), (1, 0), (1, 1)], product::sparse_mm_back),
    ),
    row("_sparse_mm_reduce_impl", product::mm_reduce, Gradient::Composite),
    row("addmm", product::addmm, Gradient::Composite),
    row("mv", product::mv, Gradient::Composite),
    row("matmul", product::matmul, Gradient::Composite),
    row("hspmm", product::hspmm, Gradient::Missing),
    row("smm", product::smm, Gradient::Missing),
    row("sspaddmm", product::sspaddmm, Gradient::Missing),
    row("sparse_sampled_addmm", product::sampled_addmm, Gradient::Composite),
    #[cfg(feature = "op-optim")]
    row("_fused_sgd_", optim::sgd, Gradient::Never),
    #[cfg(feature = "op-optim")]
    row("_fused_adagrad_", optim::adagrad, Gradient::Never),
    // Reductions.
    row("sum", reduce::sum, node("SumBackward0", &[], reduce::sum_back)),
    row("sum.dim_IntList", reduce::sum_dim, node("SumBackward1", &[(0, 0)], reduce::sum_dim_back)),
    row("_sparse_sum", reduce::sparse_sum, Gradient::Composite),
    row("_sparse_sum.dtype", reduce::sparse_sum, Gradient::Composite),
    row("_sparse_sum.dim", reduce::sparse_sum_dim, node("SparseSumBackward0", &[(0, 0)], reduce::sum_dim_back)),
    row("_sparse_sum.dim_dtype", reduce::sparse_sum_dim, node("SparseSumBackward0", &[(0, 0)], reduce::sum_dim_back)),
    row("_sparse_sum_backward", reduce::sparse_sum_backward, Gradient::Missing),
    row("_sparse_csr_sum.dim_dtype", reduce::csr_sum, Gradient::Missing),
    row("_sparse_csr_prod.dim_dtype", reduce::csr_prod, Gradient::Missing),
    row("native_norm", reduce::native_norm, Gradient::Missing),
    row("native_norm.ScalarOpt_dim_dtype", reduce::native_norm_dim, Gradient::Missing),
    row("_sparse_softmax", softmax::softmax, Gradient::Composite),
    row("_sparse_softmax.int", softmax::softmax_in_dtype, Gradient::Composite),
    row("_sparse_log_softmax", softmax::log_softmax, Gradient::Composite),
    row("_sparse_log_softmax.int", softmax::log_softmax_in_dtype, Gradient::Composite),
    row("_sparse_softmax_backward_data", softmax::softmax_backward, Gradient::Missing),
    row("_sparse_log_softmax_backward_data", softmax::log_softmax_backward, Gradient::Missing),
    reduced("norm.Scalar"),
    reduced("any"),
    // Functions that map 0 to 0.
    on_values("abs"),
    on_values("sqrt"),
    on_values("sign"),
    on_values("sgn"),
    on_values("signbit"),
    on_values("floor"),
    on_values("ceil"),
    on_values("round"),
    on_values("trunc"),
    on_values("frac"),
    on_values("sin"),
    on_values("tan"),
    on_values("asin"),
    on_values("atan"),
    on_values("sinh"),
    on_values("tanh"),
    on_values("asinh"),
    on_values("atanh"),
    on_values("expm1"),
    on_values("log1p"),
    on_values("erf"),
    on_values("erfinv"),
    on_values("relu"),
    on_values("square"),
    on_values("deg2rad"),
    on_values("rad2deg"),
    on_values("conj_physical"),
    on_values("isnan"),
    on_values("isinf"),
    on_values("isposinf"),
    on_values("isneginf"),
    on_values("nan_to_num"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_an_operator_and_no_operator_has_two_rows() {
        for (at, row) in ROWS.iter().enumerate() {
            let (name, overload) = row.name.split_once('.').unwrap_or((row.name, ""));
            assert!(by_name::find_known(name, overload).is_some(), "{}", row.name);
            assert!(ROWS[..at].iter().all(|other| other.name != row.name), "{}", row.name);
        }
    }

    #[test]
    fn out_forms_share_the_row_of_their_functional_form() {
        let functional = |name: &str| {
            let def = by_name::all().find(|def| def.full_name() == name).unwrap();
            find_functional(def).map(|row| row.name)
        };
        assert_eq!(functional("add.out"), Some("add.Tensor"));
        assert_eq!(functional("sum.IntList_out"), Some("sum.dim_IntList"));
        assert_eq!(functional("abs.out"), Some("abs"));
        assert_eq!(functional("pow.Tensor_Scalar_out"), Some("pow.Tensor_Scalar"));
        assert_eq!(functional("pow.Tensor_Tensor_out"), None);
        assert_eq!(functional("add.Tensor"), None);
    }
}
