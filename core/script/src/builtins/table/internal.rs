//! Operators that stand for others. The schemas are those that PyTorch 2.7.1 registers.

use super::super::{Row, attention, internal, objects, resize, tensors};
use super::row;
use rushlight_base::DType;

pub(super) const ROWS: &[Row] = &[
    row(
        "aten::__interpolate.scale_list(Tensor input, int? size=None, float[]? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
        resize::interpolate,
    ),
    row(
        "aten::__interpolate.size_list_scale_list(Tensor input, int[]? size=None, float[]? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
        resize::interpolate,
    ),
    row(
        "aten::__interpolate(Tensor input, int? size=None, float? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
        resize::interpolate,
    ),
    row(
        "aten::__interpolate.size_list(Tensor input, int[]? size=None, float? scale_factor=None, str mode=\"nearest\", bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
        resize::interpolate,
    ),
    row(
        "aten::__upsample(Tensor input, int? size=None, int? scale_factor=None, str mode=\"nearest\", bool? align_corners=None) -> Tensor",
        resize::upsample,
    ),
    row(
        "aten::__upsample.size_list(Tensor input, int[]? size=None, int? scale_factor=None, str mode=\"nearest\", bool? align_corners=None) -> Tensor",
        resize::upsample,
    ),
    row(
        "aten::__upsample_bilinear(Tensor input, int? size=None, int? scale_factor=None) -> Tensor",
        resize::upsample_bilinear,
    ),
    row(
        "aten::__upsample_bilinear.size_list(Tensor input, int[]? size=None, int? scale_factor=None) -> Tensor",
        resize::upsample_bilinear,
    ),
    row(
        "aten::__upsample_bilinear.scale_list(Tensor input, int? size=None, int[]? scale_factor=None) -> Tensor",
        resize::upsample_bilinear,
    ),
    row(
        "aten::__upsample_bilinear.size_list_scale_list(Tensor input, int[]? size=None, int[]? scale_factor=None) -> Tensor",
        resize::upsample_bilinear,
    ),
    row(
        "aten::__upsample_nearest(Tensor input, int? size=None, int? scale_factor=None) -> Tensor",
        resize::upsample_nearest,
    ),
    row(
        "aten::__upsample_nearest.size_list(Tensor input, int[]? size=None, int? scale_factor=None) -> Tensor",
        resize::upsample_nearest,
    ),
    row("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", |args| {
        internal::renamed(args, "adaptive_avg_pool2d", "")
    }),
    row("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", |args| {
        internal::renamed(args, "adaptive_avg_pool3d", "")
    }),
    row("aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |args| {
        internal::add_relu(args, "", "Tensor")
    }),
    row("aten::_add_relu_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)", |args| {
        internal::add_relu(args, "_", "Tensor")
    }),
    row("aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |args| {
        internal::add_relu(args, "", "Scalar")
    }),
    row("aten::_add_relu_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)", |args| {
        internal::add_relu(args, "_", "Scalar")
    }),
    row(
        "aten::_addmm_activation(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, bool use_gelu=False) -> Tensor",
        internal::addmm_activation,
    ),
    row("aten::_aminmax(Tensor self) -> (Tensor, Tensor)", internal::aminmax),
    row("aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)", internal::aminmax),
    row("aten::_assert_async(Tensor self) -> ()", internal::assert_true),
    row("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", internal::assert_true),
    row(
        "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
        internal::assert_metadata,
    ),
    row(
        "aten::_autocast_to_full_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled) -> Tensor(a)",
        internal::full_precision,
    ),
    row(
        "aten::_autocast_to_reduced_precision(Tensor(a) self, bool cuda_enabled, bool cpu_enabled, ScalarType cuda_dtype, ScalarType cpu_dtype) -> Tensor(a)",
        internal::reduced_precision,
    ),
    row(
        "aten::_backward(Tensor self, Tensor[] inputs, Tensor? gradient=None, bool? retain_graph=None, bool create_graph=False) -> ()",
        internal::backward,
    ),
    row(
        "aten::_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)",
        internal::batch_norm_impl,
    ),
    row("aten::_cast_Byte(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::U8)),
    row("aten::_cast_Char(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::I8)),
    row("aten::_cast_Double(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::F64)),
    row("aten::_cast_Float(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::F32)),
    row("aten::_cast_Half(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::F16)),
    row("aten::_cast_Int(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::I32)),
    row("aten::_cast_Long(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::I64)),
    row("aten::_cast_Short(Tensor self, bool non_blocking=False) -> Tensor", |args| internal::cast(args, DType::I16)),
    row("aten::_conj_physical(Tensor self) -> Tensor", |args| internal::renamed(args, "conj_physical", "")),
    row("aten::_dim_arange(Tensor like, int dim) -> Tensor", internal::dim_arange),
    row(
        "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        internal::embedding_bag,
    ),
    row(
        "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        internal::embedding_bag,
    ),
    row("aten::_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", internal::euclidean),
    row("aten::_grad_sum_to_size(Tensor(a) self, int[]? size) -> Tensor(a)", internal::sum_to_size),
    row("aten::_is_all_true(Tensor self) -> Tensor", |args| internal::of_booleans(args, "all")),
    row("aten::_is_any_true(Tensor self) -> Tensor", |args| internal::of_booleans(args, "any")),
    row("aten::_is_zerotensor(Tensor self) -> bool", objects::no),
    row("aten::_list_to_tensor(int[] self) -> Tensor", internal::list_to_tensor),
    row("aten::_local_scalar_dense(Tensor self) -> Scalar", tensors::item),
    row("aten::_logcumsumexp(Tensor self, int dim) -> Tensor", |args| internal::renamed(args, "logcumsumexp", "")),
    row(
        "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        internal::batch_norm_no_training,
    ),
    row(
        "aten::_no_grad_embedding_renorm_(Tensor weight, Tensor input, float max_norm, float norm_type) -> Tensor",
        |args| internal::without_gradients(args, "embedding_renorm_", ""),
    ),
    row(
        "aten::_no_grad_normal_(Tensor(a!) tensor, float mean, float std, Generator? generator=None) -> Tensor(a!)",
        |args| internal::without_gradients(args, "normal_", ""),
    ),
    row(
        "aten::_no_grad_uniform_(Tensor(a!) tensor, float a, float b, Generator? generator=None) -> Tensor(a!)",
        |args| internal::without_gradients(args, "uniform_", ""),
    ),
    row("aten::_no_grad_fill_(Tensor(a!) tensor, float val) -> Tensor(a!)", |args| {
        internal::without_gradients(args, "fill_", "Scalar")
    }),
    row("aten::_no_grad_zero_(Tensor(a!) tensor) -> Tensor(a!)", internal::zero),
    row(
        "aten::_pack_sequence(Tensor output, Tensor batch_sizes, Tensor? sorted_indices, Tensor? unsorted_indices) -> (Tensor, Tensor, Tensor?, Tensor?)",
        internal::pack_sequence,
    ),
    row("aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor", internal::pad_enum),
    row("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", |args| internal::renamed(args, "pdist", "")),
    row("aten::_reshape_copy(Tensor self, SymInt[] size) -> Tensor", internal::reshape_copy),
    row("aten::_reshape_from_tensor(Tensor self, Tensor shape) -> Tensor", internal::reshape_from_tensor),
    row("aten::_saturate_weight_to_fp16(Tensor weight) -> Tensor", internal::saturate),
    row(
        "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)",
        attention::math,
    ),
    row(
        "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
        attention::flash,
    ),
    row("aten::_shape_as_tensor(Tensor self) -> Tensor", internal::shape_as_tensor),
    row("aten::_stack(Tensor[] tensors, int dim=0) -> Tensor", |args| internal::renamed(args, "stack", "")),
    row("aten::_tensor_to_list(Tensor self) -> int[]", internal::tensor_to_list),
    row("aten::_to_cpu(Tensor[] tensors) -> Tensor[]", internal::to_cpu),
    row("aten::_to_dense(Tensor self, ScalarType? dtype=None, bool? masked_grad=None) -> Tensor", |args| {
        internal::renamed(args, "to_dense", "")
    }),
    row(
        "aten::_to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None) -> Tensor",
        |args| internal::renamed(args, "to_sparse", ""),
    ),
    row("aten::_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", |args| {
        internal::renamed(args, "to_sparse", "sparse_dim")
    }),
    row(
        "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
        internal::trilinear,
    ),
    row("aten::_version(Tensor self) -> int", internal::version),
    row("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor", internal::int8_product),
    row("aten::element_size(Tensor self) -> int", tensors::itemsize),
    row("aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "cauchy_", "")
    }),
    row("aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor", |args| {
        internal::on_copy(args, "embedding_renorm_", "")
    }),
    row("aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "exponential_", "")
    }),
    row("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "geometric_", "")
    }),
    row("aten::get_autocast_dtype(str device_type) -> ScalarType", internal::autocast_dtype),
    row("aten::get_device(Tensor self) -> int", internal::get_device),
    row(
        "aten::grad(Tensor[] outputs, Tensor[] inputs, Tensor?[]? grad_outputs=None, bool? retain_graph=None, bool create_graph=False, bool allow_unused=False) -> Tensor?[]",
        internal::grad,
    ),
    row("aten::is_non_overlapping_and_dense(Tensor self) -> bool", internal::is_non_overlapping_and_dense),
    row("aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "log_normal_", "")
    }),
    row("aten::random(Tensor self, *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "random_", "")
    }),
    row("aten::random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "random_", "from")
    }),
    row("aten::random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "random_", "to")
    }),
    row("aten::resize(Tensor self, SymInt[] size, *, MemoryFormat? memory_format=None) -> Tensor", |args| {
        internal::on_copy(args, "resize_", "")
    }),
    row("aten::resize_as(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor", |args| {
        internal::on_copy(args, "resize_as_", "")
    }),
    row("aten::storage_offset(Tensor self) -> int", internal::storage_offset),
    row("aten::sym_numel(Tensor self) -> SymInt", |args| internal::renamed(args, "numel", "")),
    row("aten::sym_size(Tensor self) -> SymInt[]", |args| internal::renamed(args, "size", "")),
    row("aten::sym_size.int(Tensor self, int dim) -> SymInt", |args| internal::renamed(args, "size", "int")),
    row("aten::sym_stride(Tensor self) -> SymInt[]", |args| internal::renamed(args, "stride", "")),
    row("aten::sym_stride.int(Tensor self, int dim) -> SymInt", |args| internal::renamed(args, "stride", "int")),
    row("aten::sym_storage_offset(Tensor self) -> SymInt", internal::storage_offset),
    row("aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor", |args| {
        internal::on_copy(args, "uniform_", "")
    }),
    row("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", |args| internal::renamed(args, "view", "")),
    // Indices without None.
    row(
        "aten::_index_put_impl_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)",
        |args| internal::renamed(args, "_index_put_impl_", ""),
    ),
    row("aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", |args| {
        internal::renamed(args, "_unsafe_index", "Tensor")
    }),
    row(
        "aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
        |args| internal::renamed(args, "_unsafe_index_put", ""),
    ),
    row("aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor", |args| {
        internal::renamed(args, "index", "Tensor")
    }),
    row(
        "aten::index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
        |args| internal::renamed(args, "index_put", ""),
    ),
    row(
        "aten::index_put_.hacked_twin(Tensor(a!) self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)",
        |args| internal::renamed(args, "index_put_", ""),
    ),
    row("torchvision::_cuda_version() -> int", internal::no_cuda),
];
