// Members of class Tensor with internal names, and those that only raise an error: ATen/core/TensorBody.h includes this inside the
// class.

Tensor _to_dense(std::optional<ScalarType> dtype = {}, std::optional<bool> masked_grad = {}) const { return to_dense(dtype, masked_grad); }
Tensor _to_sparse(int64_t sparse_dim) const { return to_sparse(sparse_dim); }
Tensor _to_sparse(std::optional<Layout> layout = {}, OptionalIntArrayRef blocksize = {}, std::optional<int64_t> dense_dim = {}) const {
  return to_sparse(layout, blocksize, dense_dim);
}
Tensor _to_sparse_csr(std::optional<int64_t> dense_dim = {}) const { return to_sparse_csr(dense_dim); }
Tensor _to_sparse_csc(std::optional<int64_t> dense_dim = {}) const { return to_sparse_csc(dense_dim); }
Tensor _conj_physical() const { return conj_physical(); }
Tensor _fw_primal(int64_t) const { return alias(); }
RLT_LAZY Tensor _autocast_to_full_precision(bool cuda_enabled, bool cpu_enabled) const {
  bool enabled = is_cuda() ? cuda_enabled : cpu_enabled, narrow = scalar_type() == kHalf || scalar_type() == kBFloat16;
  return enabled && narrow ? to(kFloat) : *this;
}
RLT_LAZY Tensor _autocast_to_reduced_precision(bool cuda_enabled, bool cpu_enabled, ScalarType cuda_dtype, ScalarType cpu_dtype) const {
  bool enabled = is_cuda() ? cuda_enabled : cpu_enabled;
  return enabled && scalar_type() == kFloat ? to(is_cuda() ? cuda_dtype : cpu_dtype) : *this;
}
// Defined in ATen/NamedFunctions.h.
RLT_LAZY Tensor to_padded_tensor(double padding, OptionalIntArrayRef output_size = {}) const;
// docs/operators-left-out.md
#define RLT_MISSING_METHOD(name, reason)                                                        \
template <class... Args>                                                                      \
Tensor name(const Args&...) const {                                                           \
  rlt::raise<NotImplementedError>(std::string(#name) + " is not available: " + reason);       \
}
RLT_MISSING_METHOD(to_mkldnn, "tensors of oneDNN do not exist")
RLT_MISSING_METHOD(to_sparse_bsr, "sparse tensors do not have it")
RLT_MISSING_METHOD(to_sparse_bsc, "sparse tensors do not have it")
RLT_MISSING_METHOD(_to_sparse_bsr, "sparse tensors do not have it")
RLT_MISSING_METHOD(_to_sparse_bsc, "sparse tensors do not have it")
#undef RLT_MISSING_METHOD
