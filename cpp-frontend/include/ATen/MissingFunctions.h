// Functions of libtorch that raise NotImplementedError, so that wrappers that name all functions compile. libtorch without GPUs
// raises an error for most of them too. docs/operators-left-out.md lists them.
#pragma once

#include <ATen/Functions.h>

#include <tuple>
#include <utility>

namespace rlt {
RLT_NAMESPACE_BEGIN

/// One T, or a tuple of them.
template <class T, class Indices>
struct TupleOf;
template <class T, size_t... I>
struct TupleOf<T, std::index_sequence<I...>> {
  template <size_t>
  using Each = T;
  using type = std::conditional_t<sizeof...(I) == 1, T, std::tuple<Each<I>...>>;
};
template <class T, size_t Count>
using Several = typename TupleOf<T, std::make_index_sequence<Count>>::type;

template <class Result>
struct Missing;
template <size_t Count>
using MissingTensors = Missing<Several<at::Tensor, Count>>;
template <size_t Count>
using MissingOut = Missing<Several<at::Tensor&, Count>>;

/// A function that returns a Result, and raises an error. Objects cost programs a tenth of the memory of function templates.
template <class Result>
struct Missing {
  const char* name;
  const char* reason;
  template <class... Args>
  [[noreturn]] Result operator()(const Args&...) const {
    raise<at::NotImplementedError>(std::string(name) + " is not available: " + reason);
  }
};

RLT_NAMESPACE_END
}  // namespace rlt

namespace at {
RLT_NAMESPACE_BEGIN

#define RLT_MISSING(name, count)                                     \
  inline constexpr rlt::MissingTensors<count> name{#name, RLT_REASON}; \
  inline constexpr rlt::MissingOut<count> name##_out{#name "_out", RLT_REASON};
#define RLT_MISSING_VALUE(Result, name, reason) inline constexpr rlt::Missing<Result> name{#name, reason};

// cuDNN
#define RLT_REASON "cuDNN is not used"
RLT_MISSING(cudnn_convolution, 1)
RLT_MISSING(cudnn_convolution_relu, 1)
RLT_MISSING(cudnn_convolution_add_relu, 1)
RLT_MISSING(cudnn_convolution_transpose, 1)
RLT_MISSING(cudnn_affine_grid_generator, 1)
RLT_MISSING(cudnn_affine_grid_generator_backward, 1)
RLT_MISSING(cudnn_grid_sampler, 1)
RLT_MISSING(_cudnn_init_dropout_state, 1)
RLT_MISSING(_cudnn_rnn_flatten_weight, 1)
RLT_MISSING(cudnn_grid_sampler_backward, 2)
RLT_MISSING(_cudnn_ctc_loss, 2)
RLT_MISSING(cudnn_batch_norm_backward, 3)
RLT_MISSING(cudnn_batch_norm, 4)
RLT_MISSING(_cudnn_rnn, 5)
#undef RLT_REASON

// MIOpen
#define RLT_REASON "MIOpen is not used"
RLT_MISSING(miopen_convolution, 1)
RLT_MISSING(miopen_convolution_relu, 1)
RLT_MISSING(miopen_convolution_add_relu, 1)
RLT_MISSING(miopen_convolution_transpose, 1)
RLT_MISSING(miopen_depthwise_convolution, 1)
RLT_MISSING(miopen_batch_norm, 3)
RLT_MISSING(miopen_batch_norm_backward, 3)
RLT_MISSING(miopen_rnn, 5)
#undef RLT_REASON

// oneDNN
#define RLT_REASON "tensors of oneDNN do not exist"
RLT_MISSING(to_mkldnn_backward, 1)
RLT_MISSING(_mkldnn_reshape, 1)
RLT_MISSING(_mkldnn_transpose, 1)
RLT_MISSING(_mkldnn_transpose_, 1)
RLT_MISSING(mkldnn_adaptive_avg_pool2d, 1)
RLT_MISSING(mkldnn_adaptive_avg_pool2d_backward, 1)
RLT_MISSING(mkldnn_convolution, 1)
RLT_MISSING(mkldnn_linear, 1)
RLT_MISSING(mkldnn_linear_backward_input, 1)
RLT_MISSING(mkldnn_max_pool2d, 1)
RLT_MISSING(mkldnn_max_pool2d_backward, 1)
RLT_MISSING(mkldnn_max_pool3d, 1)
RLT_MISSING(mkldnn_max_pool3d_backward, 1)
RLT_MISSING(mkldnn_reorder_conv2d_weight, 1)
RLT_MISSING(mkldnn_reorder_conv3d_weight, 1)
RLT_MISSING(mkldnn_linear_backward_weights, 2)
RLT_MISSING(mkldnn_rnn_layer, 4)
RLT_MISSING(mkldnn_rnn_layer_backward, 7)
#undef RLT_REASON

// Metal
#define RLT_REASON "Metal devices are not supported"
RLT_MISSING(_mps_convolution, 1)
RLT_MISSING(_mps_convolution_transpose, 1)
RLT_MISSING(_scaled_dot_product_attention_math_for_mps, 2)
RLT_MISSING(_lstm_mps, 6)
#undef RLT_REASON

// Kernels that libtorch has for GPUs only
#define RLT_REASON "libtorch has it for GPUs only"
RLT_MISSING(_fill_mem_eff_dropout_mask_, 1)
RLT_MISSING(_mixed_dtypes_linear, 1)
RLT_MISSING(_scaled_grouped_mm, 1)
RLT_MISSING(_cslt_compress, 1)
RLT_MISSING(_cslt_sparse_mm, 1)
RLT_MISSING(_sparse_semi_structured_apply_dense, 1)
RLT_MISSING(_sparse_semi_structured_linear, 1)
RLT_MISSING(_sparse_semi_structured_mm, 1)
RLT_MISSING(_sparse_semi_structured_apply, 2)
RLT_MISSING(_to_sparse_semi_structured, 2)
RLT_MISSING(_sparse_semi_structured_tile, 5)
RLT_MISSING(_spsolve, 1)
RLT_MISSING(_convert_weight_to_int4pack, 1)
RLT_MISSING(_weight_int4pack_mm, 1)
RLT_MISSING(_triton_multi_head_attention, 1)
RLT_MISSING(_triton_scaled_dot_attention, 1)
RLT_MISSING(batch_norm_elemt, 1)
RLT_MISSING(batch_norm_backward_elemt, 1)
RLT_MISSING(batch_norm_stats, 2)
RLT_MISSING(batch_norm_gather_stats, 2)
RLT_MISSING(batch_norm_gather_stats_with_counts, 2)
RLT_MISSING(batch_norm_backward_reduce, 4)
RLT_MISSING(conv_depthwise3d, 1)
RLT_MISSING(convolution_overrideable, 1)
RLT_MISSING(_flash_attention_backward, 3)
RLT_MISSING(_scaled_dot_product_cudnn_attention_backward, 3)
RLT_MISSING(_scaled_dot_product_flash_attention_backward, 3)
RLT_MISSING(_efficient_attention_backward, 4)
RLT_MISSING(_scaled_dot_product_efficient_attention, 4)
#undef RLT_REASON

// Forward-mode derivatives and vmap
#define RLT_REASON "forward-mode derivatives and vmap are not supported"
RLT_MISSING(_add_batch_dim, 1)
RLT_MISSING(_make_dual, 1)
RLT_MISSING(_make_dual_copy, 1)
#undef RLT_REASON

// Nested tensors
#define RLT_REASON "libtorch implements it in Python"
RLT_MISSING(_nested_from_padded_tensor, 1)
RLT_MISSING(_nested_get_jagged_dummy, 1)
RLT_MISSING(_nested_get_lengths, 1)
RLT_MISSING(_nested_get_max_seqlen, 1)
RLT_MISSING(_nested_get_min_seqlen, 1)
RLT_MISSING(_nested_get_offsets, 1)
RLT_MISSING(_nested_get_values, 1)
RLT_MISSING(_nested_get_values_copy, 1)
RLT_MISSING(_nested_view_from_jagged, 1)
RLT_MISSING(_nested_view_from_jagged_copy, 1)
#undef RLT_REASON

// Sparse tensors
#define RLT_REASON "sparse tensors do not have it"
RLT_MISSING(sparse_bsr_tensor, 1)
RLT_MISSING(sparse_bsc_tensor, 1)
RLT_MISSING(_sparse_bsr_tensor_unsafe, 1)
RLT_MISSING(_sparse_bsc_tensor_unsafe, 1)
RLT_MISSING(_sparse_broadcast_to_copy, 1)
#undef RLT_REASON

// Others
#define RLT_REASON "there is no implementation"
RLT_MISSING(_sobol_engine_ff_, 1)
RLT_MISSING(_sobol_engine_initialize_state_, 1)
RLT_MISSING(_sobol_engine_scramble_, 1)
RLT_MISSING(_sobol_engine_draw, 2)
#undef RLT_REASON

// Operators of libtorch's own tests
#define RLT_REASON "it belongs to libtorch's tests"
RLT_MISSING(_foobar, 1)
RLT_MISSING(_test_autograd_multiple_dispatch, 1)
RLT_MISSING(_test_autograd_multiple_dispatch_view, 1)
RLT_MISSING(_test_autograd_multiple_dispatch_view_copy, 1)
RLT_MISSING(_test_check_tensor, 1)
RLT_MISSING(_test_functorch_fallback, 1)
RLT_MISSING(_test_optional_filled_intlist, 1)
RLT_MISSING(_test_optional_floatlist, 1)
RLT_MISSING(_test_optional_intlist, 1)
RLT_MISSING(_test_parallel_materialize, 1)
RLT_MISSING(_test_serialization_subcmul, 1)
RLT_MISSING(_test_string_default, 1)
RLT_MISSING(_test_warn_in_autograd, 1)
#undef RLT_REASON
#undef RLT_MISSING

// The answers of a libtorch without these libraries.
template <class... Args>
bool _use_cudnn_ctc_loss(const Args&...) {
  return false;
}
RLT_LAZY bool _use_cudnn_rnn_flatten_weight() { return false; }
RLT_LAZY bool cudnn_is_acceptable(const Tensor&) { return false; }
RLT_LAZY bool is_vulkan_available() { return false; }

RLT_MISSING_VALUE(int64_t, _cslt_sparse_mm_search, "libtorch has it for GPUs only")
RLT_MISSING_VALUE(int64_t, _nested_get_ragged_idx, "libtorch implements it in Python")
RLT_MISSING_VALUE(void, _propagate_xla_data, "there are no XLA devices")
RLT_MISSING_VALUE(void, _validate_sparse_bsc_tensor_args, "sparse tensors do not have it")
RLT_MISSING_VALUE(void, _validate_sparse_bsr_tensor_args, "sparse tensors do not have it")
RLT_MISSING_VALUE(void, lstm_mps_backward_out, "Metal devices are not supported")
#undef RLT_MISSING_VALUE

RLT_NAMESPACE_END
}  // namespace at
