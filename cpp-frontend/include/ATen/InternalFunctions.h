// The functions of libtorch whose names begin with an underscore and that are expressions of other functions. Programs
// rarely call them; wrappers that are generated from libtorch's declarations name all of them.
//
// Autograd, quantization and sparse tensors have headers of their own below ATen/internal_functions.
#pragma once

#include <ATen/MemoryOverlap.h>
#include <ATen/NamedFunctions.h>
#include <ATen/TensorOperators.h>
#include <ATen/internal_functions/integers.h>

#include <iostream>

namespace at {
RLT_NAMESPACE_BEGIN

// ---- Other names of functions ----

#define RLT_CAST(name)                                                          \
  RLT_LAZY Tensor _cast_##name(const Tensor& self, bool non_blocking = false) { \
    return self.to(k##name, non_blocking);                                      \
  }
RLT_CAST(Byte)
RLT_CAST(Char)
RLT_CAST(Double)
RLT_CAST(Float)
RLT_CAST(Half)
RLT_CAST(Int)
RLT_CAST(Long)
RLT_CAST(Short)
#undef RLT_CAST
RLT_LAZY Tensor _adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) { return at::adaptive_avg_pool2d(self, output_size); }
RLT_LAZY Tensor _adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) { return at::adaptive_avg_pool3d(self, output_size); }
RLT_LAZY std::tuple<Tensor, Tensor> _aminmax(const Tensor& self) { return at::aminmax(self); }
RLT_LAZY std::tuple<Tensor, Tensor> _aminmax(const Tensor& self, int64_t dim, bool keepdim = false) { return at::aminmax(self, dim, keepdim); }
RLT_LAZY Tensor _cholesky_solve_helper(const Tensor& self, const Tensor& A, bool upper) { return at::cholesky_solve(self, A, upper); }
RLT_LAZY Tensor _conj_physical(const Tensor& self) { return at::conj_physical(self); }
RLT_LAZY Tensor _conj_copy(const Tensor& self) { return self.conj().clone(); }
RLT_LAZY Tensor _neg_view_copy(const Tensor& self) { return at::neg(self); }
RLT_LAZY Tensor _fw_primal_copy(const Tensor& self, int64_t) { return self.clone(); }
RLT_LAZY Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) { return at::cdist(x1, x2, 2.0, 1); }
RLT_LAZY Tensor _is_all_true(const Tensor& self) { return self.all(); }
RLT_LAZY Tensor _is_any_true(const Tensor& self) { return self.any(); }
RLT_LAZY Tensor _logcumsumexp(const Tensor& self, int64_t dim) { return at::logcumsumexp(self, dim); }
RLT_LAZY Tensor _stack(TensorList tensors, int64_t dim = 0) { return at::stack(tensors, dim); }
RLT_LAZY Tensor _unsafe_view(const Tensor& self, IntArrayRef size) { return self.view(size); }
RLT_LAZY Tensor _reshape_copy(const Tensor& self, IntArrayRef size) { return self.reshape(size).clone(); }
RLT_LAZY Tensor _reshape_alias_copy(const Tensor& self, IntArrayRef size, IntArrayRef stride) { return self.as_strided(size, stride).clone(); }
RLT_LAZY Tensor& _efficientzerotensor_out(Tensor& out, IntArrayRef size) { return at::zeros_out(out, size); }
RLT_LAZY Tensor nested_to_padded_tensor(const Tensor& self, double padding, OptionalIntArrayRef output_size = {}) {
  return at::to_padded_tensor(self, padding, output_size);
}
RLT_LAZY Tensor& _index_put_impl_(Tensor& self, const IOptTensorListRef& indices, const Tensor& values, bool accumulate = false, bool unsafe = false) {
  return self._index_put_impl_(indices, values, accumulate, unsafe);
}

// ---- Properties of a tensor ----

RLT_LAZY int64_t _debug_has_internal_overlap(const Tensor& self) { return static_cast<int64_t>(at::has_internal_overlap(self)); }
RLT_LAZY bool _has_compatible_shallow_copy_type(const Tensor& self, const Tensor& from) {
  return self.device().type() == from.device().type() && self.layout() == from.layout();
}
RLT_LAZY bool _has_same_storage_numel(const Tensor& self, const Tensor& other) {
  auto numel = [](const Tensor& tensor) { return tensor.storage().nbytes() / tensor.itemsize(); };
  return numel(self) == numel(other);
}
RLT_LAZY bool _is_zerotensor(const Tensor&) { return false; }
RLT_LAZY Tensor _dim_arange(const Tensor& like, int64_t dim) { return at::arange(like.size(dim), like.options().dtype(kLong)); }
RLT_LAZY Tensor _shape_as_tensor(const Tensor& self) {
  Tensor sizes = at::empty({self.dim()}, TensorOptions(kLong));
  std::copy(self.sizes().begin(), self.sizes().end(), sizes.mutable_data_ptr<int64_t>());
  return sizes;
}
RLT_LAZY Tensor _reshape_from_tensor(const Tensor& self, const Tensor& shape) {
  TORCH_CHECK(shape.dim() == 1, "_reshape_from_tensor: expected a shape of one dimension, but got ", shape.dim());
  return self.reshape(rlt::integers(shape));
}

// ---- Names of dimensions, vmap and forward-mode derivatives, which no tensor has ----

/// Each tensor with a dimension of size 1 for each name of the tensor with most dimensions that it lacks.
RLT_LAZY std::vector<Tensor> align_tensors(TensorList tensors) {
  std::vector<Tensor> result;
  if (tensors.empty()) return result;
  const Tensor& longest = *std::max_element(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.dim() < b.dim(); });
  std::vector<Dimname> names = longest.names().vec();
  for (const Tensor& tensor : tensors) {
    std::vector<Dimname> own = tensor.names().vec();
    std::vector<int64_t> sizes(names.size(), 1);
    size_t left = own.size();
    for (size_t i = names.size(); i-- > 0;) {
      if (left > 0 && own[left - 1] == names[i]) sizes[i] = tensor.size(static_cast<int64_t>(--left));
    }
    TORCH_CHECK(left == 0, "Could not align Tensor", tensor.names(), " to `names` ", longest.names(), " because ", tensor.names(), " is not a subsequence of `names`.");
    Tensor aligned = tensor.reshape(sizes);
    result.push_back(longest.has_names() ? aligned.rename(longest.names()) : aligned);
  }
  return result;
}
RLT_LAZY Tensor _remove_batch_dim(const Tensor& self, int64_t, int64_t batch_size, int64_t out_dim) {
  TORCH_CHECK_INDEX(out_dim >= 0 && out_dim <= self.dim(), "_remove_batch_dim: dimension ", out_dim, " is out of range for ", self.dim(), " dimensions");
  std::vector<int64_t> sizes = self.sizes().vec();
  sizes.insert(sizes.begin() + out_dim, batch_size);
  return self.expand(sizes);
}
RLT_LAZY std::tuple<Tensor, Tensor> _unpack_dual(const Tensor& dual, int64_t) { return {dual._fw_primal(0), Tensor()}; }

// ---- Copies and memory ----

RLT_LAZY Tensor _copy_from(const Tensor& self, const Tensor& dst, bool non_blocking = false) { return dst.copy_(self, non_blocking); }
RLT_LAZY Tensor _copy_from_and_resize(const Tensor& self, const Tensor& dst) {
  dst.resize_(self.sizes());
  return dst.copy_(self);
}
RLT_LAZY const Tensor& _resize_output_(const Tensor& self, IntArrayRef size, Device device) {
  TORCH_CHECK(self.device() == device, "out Tensor doesn't have the correct device set");
  self.resize_(size);
  return self;
}
RLT_LAZY Tensor _resize_output(const Tensor& self, IntArrayRef size, Device device) { return _resize_output_(self.clone(), size, device); }
RLT_LAZY Tensor _pin_memory(const Tensor& self, std::optional<Device> device = {}) { return self.pin_memory(device); }
RLT_LAZY std::vector<Tensor> _to_cpu(TensorList tensors) {
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.cpu());
  return result;
}
/// Zeros with the sizes of `other`, the first dimensions of `self` before them, and the dtype and device of `self`.
RLT_LAZY Tensor _new_zeros_with_same_feature_meta(const Tensor& self, const Tensor& other, int64_t self_num_batch_dims = 0) {
  std::vector<int64_t> sizes(self.sizes().begin(), self.sizes().begin() + self_num_batch_dims);
  sizes.insert(sizes.end(), other.sizes().begin(), other.sizes().end());
  return at::zeros(sizes, self.options());
}

// ---- Checks ----

RLT_LAZY void _assert_async(const Tensor& self, std::string_view assert_msg) {
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() == 1, "Boolean value of Tensor with more than one value is ambiguous");
  TORCH_CHECK(self.is_nonzero(), assert_msg.empty() ? std::string_view("Expected Tensor with single nonzero value, but got zero") : assert_msg);
}
RLT_LAZY void _assert_async(const Tensor& self) { at::_assert_async(self, ""); }
RLT_LAZY void _assert_scalar(const Scalar& self, std::string_view assert_msg) { TORCH_CHECK(self.to<bool>(), assert_msg); }
RLT_LAZY Tensor _functional_assert_async(const Tensor& self, std::string_view assert_msg, const Tensor& dep_token) {
  at::_assert_async(self, assert_msg);
  return dep_token.clone();
}
RLT_LAZY Tensor _functional_assert_scalar(const Scalar& self, std::string_view assert_msg, const Tensor& dep_token) {
  at::_assert_scalar(self, assert_msg);
  return dep_token.clone();
}
RLT_LAZY void _assert_tensor_metadata(const Tensor& a, OptionalIntArrayRef size = {}, OptionalIntArrayRef stride = {}, std::optional<ScalarType> dtype = {},
                                      std::optional<Device> device = {}, std::optional<Layout> layout = {}) {
  TORCH_CHECK(!size || a.sizes() == *size, "Tensor sizes mismatch! Expected: ", *size, ", Got: ", a.sizes());
  TORCH_CHECK(!stride || a.strides() == *stride, "Tensor strides mismatch! Expected: ", *stride, ", Got: ", a.strides());
  TORCH_CHECK(!dtype || a.scalar_type() == *dtype, "Tensor dtype mismatch! Expected: ", dtype.value_or(kFloat), ", Got: ", a.scalar_type());
  TORCH_CHECK(!device || a.device() == *device, "Tensor device mismatch! Expected: ", device.value_or(kCPU), ", Got: ", a.device());
  TORCH_CHECK(!layout || a.layout() == *layout, "Tensor layout mismatch! Expected: ", layout.value_or(kStrided), ", Got: ", a.layout());
}
RLT_LAZY void sym_constrain_range(const Scalar& size, std::optional<int64_t> min = {}, std::optional<int64_t> max = {}) {
  int64_t number = size.toLong();
  TORCH_CHECK((!min || number >= *min) && (!max || number <= *max), "Invalid value range for ", number, " between [", min.value_or(INT64_MIN), ", ",
              max.value_or(INT64_MAX), "].");
}
RLT_LAZY void sym_constrain_range_for_size(const Scalar& size, std::optional<int64_t> min = {}, std::optional<int64_t> max = {}) {
  at::sym_constrain_range(size, std::max<int64_t>(min.value_or(0), 0), max);
}
RLT_LAZY Tensor _functional_sym_constrain_range(const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max, const Tensor& dep_token) {
  at::sym_constrain_range(size, min, max);
  return dep_token.clone();
}
RLT_LAZY Tensor _functional_sym_constrain_range_for_size(const Scalar& size, std::optional<int64_t> min, std::optional<int64_t> max, const Tensor& dep_token) {
  at::sym_constrain_range_for_size(size, min, max);
  return dep_token.clone();
}
RLT_LAZY Tensor _make_dep_token(TensorOptions options = {}, std::optional<MemoryFormat> = {}) { return at::empty({}, options); }
/// Prints to standard output.
RLT_LAZY void _print(std::string_view text) { std::cout << text << '\n'; }
/// Raises an error for the first matrix of a batch whose `info` is not 0.
RLT_LAZY void _linalg_check_errors(const Tensor& info, std::string_view api_name, bool is_matrix) {
  Tensor failed = info.reshape({-1}).nonzero();
  if (failed.numel() == 0) return;
  int64_t batch = failed[0].item().toLong(), code = info.reshape({-1})[batch].item().toLong();
  std::string where = is_matrix ? std::string() : c10::str("(Batch element ", batch, "): ");
  TORCH_CHECK_LINALG(false, api_name, ": ", where, "The algorithm failed with the error code ", code, ".");
}

// ---- Arithmetic ----

RLT_LAZY Tensor _add_relu(const Tensor& self, const Tensor& other, const Scalar& alpha = 1) { return at::relu(at::add(self, other, alpha)); }
RLT_LAZY Tensor _add_relu(const Tensor& self, const Scalar& other, const Scalar& alpha = 1) { return at::relu(at::add(self, other, alpha)); }
RLT_LAZY Tensor& _add_relu_(Tensor& self, const Tensor& other, const Scalar& alpha = 1) { return self.add_(other, alpha).relu_(); }
RLT_LAZY Tensor& _add_relu_(Tensor& self, const Scalar& other, const Scalar& alpha = 1) { return self.add_(other, alpha).relu_(); }
RLT_LAZY Tensor _addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1, bool use_gelu = false) {
  Tensor sum = at::addmm(self, mat1, mat2, beta, alpha);
  return use_gelu ? at::gelu(sum) : at::relu(sum);
}
/// `out_i = sum_k coefficients_{i,k} input_k`
RLT_LAZY Tensor _compute_linear_combination(const Tensor& input, const Tensor& coefficients) { return at::tensordot(coefficients, input, {1}, {0}); }
/// The sum over `sumdim` of the product of three tensors, after dimensions of size 1 were inserted into each.
RLT_LAZY Tensor _trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3, IntArrayRef expand1, IntArrayRef expand2, IntArrayRef expand3, IntArrayRef sumdim,
                           int64_t = 1) {
  auto expanded = [](Tensor tensor, IntArrayRef dims) {
    for (int64_t dim : dims) tensor = tensor.unsqueeze(dim);
    return tensor;
  };
  Tensor product = expanded(i1, expand1) * expanded(i2, expand2) * expanded(i3, expand3);
  return sumdim.empty() ? product : product.sum(sumdim);
}
RLT_LAZY Tensor bernoulli(const Tensor& self, const Tensor& p, std::optional<Generator> generator = {}) {
  Tensor result = at::empty_like(self);
  result.bernoulli_(p, generator);
  return result;
}
/// The rows of `weight` whose `mask` is true, and for each row its new index or -1.
RLT_LAZY std::tuple<Tensor, Tensor> _rowwise_prune(const Tensor& weight, const Tensor& mask, ScalarType compressed_indices_dtype) {
  TORCH_CHECK(weight.dim() == 2 && mask.dim() == 1 && mask.size(0) == weight.size(0), "_rowwise_prune: expected a matrix and a mask of its rows, but got shapes ",
              weight.sizes(), " and ", mask.sizes());
  Tensor kept = mask.to(kBool);
  Tensor indices = at::where(kept, kept.to(kLong).cumsum(0) - 1, at::full({}, -1, TensorOptions(kLong)));
  return {weight.index_select(0, kept.nonzero().squeeze(1)), indices.to(compressed_indices_dtype)};
}
RLT_LAZY Tensor _saturate_weight_to_fp16(const Tensor& weight) { return weight.clamp_(-65504.0, 65504.0); }

/// For libtorch's test of overloads that differ in their defaults.
RLT_LAZY Tensor _test_ambiguous_defaults(const Tensor&, int64_t a = 1, int64_t b = 1) {
  TORCH_CHECK(a == 1 && b == 1);
  return at::scalar_tensor(1, TensorOptions(kLong));
}
RLT_LAZY Tensor _test_ambiguous_defaults(const Tensor&, int64_t a, std::string_view b) {
  TORCH_CHECK(a == 2 && b == "2");
  return at::scalar_tensor(2, TensorOptions(kLong));
}

// ---- Mixed precision ----

/// Divides gradients by the loss scale in place, and sets `found_inf` to 1 if one of them is not finite.
RLT_LAZY void _amp_foreach_non_finite_check_and_unscale_(TensorList self, Tensor& found_inf, const Tensor& inv_scale) {
  for (const Tensor& gradient : self) {
    if (!gradient.isfinite().all().item().toBool()) found_inf.fill_(1);
    gradient.mul_(inv_scale.to(gradient.scalar_type()));
  }
}
/// The next loss scale: less after a gradient that is not finite, more after `growth_interval` steps without one.
RLT_LAZY Tensor& _amp_update_scale_(Tensor& self, Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor, double scale_backoff_factor,
                                    int64_t growth_interval) {
  if (found_inf.is_nonzero()) {
    growth_tracker.zero_();
    return self.mul_(scale_backoff_factor);
  }
  int64_t successes = growth_tracker.item().toLong() + 1;
  growth_tracker.fill_(successes == growth_interval ? 0 : successes);
  if (successes != growth_interval) return self;
  Tensor grown = self * scale_growth_factor;
  if (grown.isfinite().all().item().toBool()) self.copy_(grown);
  return self;
}
RLT_LAZY std::tuple<Tensor, Tensor> _amp_update_scale(const Tensor& self, const Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor,
                                                      double scale_backoff_factor, int64_t growth_interval) {
  Tensor scale = self.clone(), tracker = growth_tracker.clone();
  at::_amp_update_scale_(scale, tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval);
  return {scale, tracker};
}

RLT_LAZY Tensor& _amp_update_scale_out(Tensor& out, const Tensor& self, Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor,
                                       double scale_backoff_factor, int64_t growth_interval) {
  Tensor scale = self.clone();
  return rlt::copy_out("_amp_update_scale", out,
                       at::_amp_update_scale_(scale, growth_tracker, found_inf, scale_growth_factor, scale_backoff_factor, growth_interval));
}

RLT_OUT_1(_add_relu)
RLT_OUT_1(_addmm_activation)
RLT_OUT_1(_adaptive_avg_pool2d)
RLT_OUT_1(_adaptive_avg_pool3d)
RLT_OUT_1(_cholesky_solve_helper)
RLT_OUT_1(_compute_linear_combination)
RLT_OUT_1(_conj_copy)
RLT_OUT_1(_conj_physical)
RLT_OUT_1(_copy_from)
RLT_OUT_1(_copy_from_and_resize)
RLT_OUT_1(_euclidean_dist)
RLT_OUT_1(_fw_primal_copy)
RLT_OUT_1(_logcumsumexp)
RLT_OUT_1(_neg_view_copy)
RLT_OUT_1(_new_zeros_with_same_feature_meta)
RLT_OUT_1(_pin_memory)
RLT_OUT_1(_reshape_alias_copy)
RLT_OUT_1(_resize_output)
RLT_OUT_1(_stack)
RLT_OUT_1(_trilinear)
RLT_OUT_1(_unsafe_view)
RLT_OUT_METHOD(to_mkldnn)
RLT_OUT_2(_aminmax)

RLT_NAMESPACE_END
}  // namespace at

#include <ATen/MissingFunctions.h>
#include <ATen/internal_functions/attention.h>
#include <ATen/internal_functions/autograd.h>
#include <ATen/internal_functions/nested.h>
#include <ATen/internal_functions/normalization.h>
#include <ATen/internal_functions/packed_weights.h>
#include <ATen/internal_functions/quantization.h>
#include <ATen/internal_functions/sparse.h>
