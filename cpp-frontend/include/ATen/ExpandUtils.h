// Broadcasting by hand: the sizes of a result, and tensors expanded to it.
#pragma once

#include <ATen/Functions.h>
#include <c10/util/DimVector.h>
#include <c10/util/MaybeOwned.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

namespace detail {
template <class Sizes>
Sizes broadcast_sizes(IntArrayRef a, IntArrayRef b) {
  size_t dims = std::max(a.size(), b.size());
  Sizes result(dims);
  for (size_t i = 1; i <= dims; ++i) {
    int64_t first = i <= a.size() ? a[a.size() - i] : 1, second = i <= b.size() ? b[b.size() - i] : 1;
    TORCH_CHECK(first == second || first == 1 || second == 1, "The size of tensor a (", first, ") must match the size of tensor b (", second,
                ") at non-singleton dimension ", dims - i);
    result[dims - i] = first == 1 ? second : first;
  }
  return result;
}
inline void check_all_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char* api_name) {
  for (const Tensor& tensor : tensors) TORCH_CHECK(tensor.defined(), api_name, "(...) called with an undefined Tensor");
}
inline c10::MaybeOwned<Tensor> expanded(const Tensor& tensor, IntArrayRef sizes) {
  if (tensor.sizes().equals(sizes)) return c10::MaybeOwned<Tensor>::borrowed(tensor);
  return c10::MaybeOwned<Tensor>::owned(tensor.expand(sizes, true));
}
}  // namespace detail

/// The sizes of the result of a pointwise function.
inline std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) { return detail::broadcast_sizes<std::vector<int64_t>>(a, b); }
inline std::vector<SymInt> infer_size_symint(SymIntArrayRef a, SymIntArrayRef b) {
  return c10::fromIntArrayRefUnchecked(infer_size(c10::asIntArrayRefUnchecked(a), c10::asIntArrayRefUnchecked(b))).vec();
}
inline DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b) { return detail::broadcast_sizes<DimVector>(a, b); }
inline SymDimVector infer_size_symdimvector(SymIntArrayRef a, SymIntArrayRef b) {
  DimVector sizes = infer_size_dimvector(c10::asIntArrayRefUnchecked(a), c10::asIntArrayRefUnchecked(b));
  return SymDimVector(sizes.begin(), sizes.end());
}

inline bool are_expandable(IntArrayRef shape1, IntArrayRef shape2) {
  for (size_t i = 1; i <= std::min(shape1.size(), shape2.size()); ++i) {
    int64_t first = shape1[shape1.size() - i], second = shape2[shape2.size() - i];
    if (first != second && first != 1 && second != 1) return false;
  }
  return true;
}
/// Whether `expand(desired)` of a tensor of sizes `shape` is possible.
inline bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) return false;
  for (size_t i = 1; i <= shape.size(); ++i) {
    int64_t size = shape[shape.size() - i];
    if (size != desired[desired.size() - i] && size != 1) return false;
  }
  return true;
}

/// The sizes and strides of the view that expands a tensor.
inline std::tuple<std::vector<int64_t>, std::vector<int64_t>> inferExpandGeometry(IntArrayRef tensor_sizes, IntArrayRef tensor_strides, IntArrayRef sizes) {
  TORCH_CHECK(sizes.size() >= tensor_sizes.size(), "expand: the number of sizes provided (", sizes.size(),
              ") must be greater or equal to the number of dimensions in the tensor (", tensor_sizes.size(), ")");
  std::vector<int64_t> result(sizes.size()), strides(sizes.size());
  size_t ahead = sizes.size() - tensor_sizes.size();
  for (size_t i = sizes.size(); i-- > 0;) {
    bool existing = i >= ahead;
    int64_t size = existing ? tensor_sizes[i - ahead] : 1;
    int64_t stride = existing ? tensor_strides[i - ahead] : i + 1 < sizes.size() ? result[i + 1] * strides[i + 1] : 1;
    int64_t wanted = sizes[i];
    if (wanted == -1) {
      TORCH_CHECK(existing, "The expanded size of the tensor (", wanted, ") isn't allowed in a leading, non-existing dimension ", i);
      wanted = size;
    }
    if (size != wanted) {
      TORCH_CHECK(size == 1, "The expanded size of the tensor (", wanted, ") must match the existing size (", size, ") at non-singleton dimension ", i,
                  ".  Target sizes: ", sizes, ".  Tensor sizes: ", tensor_sizes);
      stride = 0;
    }
    result[i] = wanted;
    strides[i] = stride;
  }
  return {std::move(result), std::move(strides)};
}
template <class Container>
struct InferExpandGeometryResult {
  Container sizes;
  Container strides;
};
inline InferExpandGeometryResult<DimVector> inferExpandGeometry_dimvector(IntArrayRef tensor_sizes, IntArrayRef tensor_strides, IntArrayRef sizes) {
  auto [result, strides] = inferExpandGeometry(tensor_sizes, tensor_strides, sizes);
  return {DimVector(result.begin(), result.end()), DimVector(strides.begin(), strides.end())};
}
/// Strides without gaps in the order of the given ones.
inline std::vector<int64_t> infer_dense_strides(IntArrayRef tensor_sizes, IntArrayRef tensor_strides) {
  TORCH_CHECK(tensor_sizes.size() == tensor_strides.size(), "Input sizes and strides should have same size but got ", tensor_sizes.size(), " and ",
              tensor_strides.size());
  std::vector<size_t> order(tensor_sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    // A stride of 0 or a size of 1 has no place in the order: the dimension stays beside its neighbour.
    if (tensor_strides[a] == 0 || tensor_strides[b] == 0) return false;
    return tensor_strides[a] != tensor_strides[b] ? tensor_strides[a] < tensor_strides[b] : tensor_sizes[a] < tensor_sizes[b];
  });
  std::vector<int64_t> strides(order.size());
  int64_t stride = 1;
  for (size_t dim : order) {
    strides[dim] = stride;
    if (tensor_sizes[dim] > 1) stride *= tensor_sizes[dim];
  }
  return strides;
}

/// Tensors expanded to the sizes of another, for in-place functions. A tensor that has the sizes is borrowed: it must outlive the result.
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) { return detail::expanded(to_expand, tensor.sizes()); }
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, Tensor&& to_expand) = delete;
inline c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand, const char* api_name) {
  detail::check_all_defined({tensor, to_expand}, api_name);
  return expand_inplace(tensor, to_expand);
}
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_inplace(const Tensor& tensor, const Tensor& to_expand1, const Tensor& to_expand2) {
  return std::make_tuple(expand_inplace(tensor, to_expand1), expand_inplace(tensor, to_expand2));
}
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_inplace(const Tensor& tensor, const Tensor& to_expand1, const Tensor& to_expand2,
                                                                                    const char* api_name) {
  detail::check_all_defined({tensor, to_expand1, to_expand2}, api_name);
  return expand_inplace(tensor, to_expand1, to_expand2);
}

/// Tensors expanded to the sizes that they have together.
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& to_expand1, const Tensor& to_expand2) {
  DimVector sizes = infer_size_dimvector(to_expand1.sizes(), to_expand2.sizes());
  return std::make_tuple(detail::expanded(to_expand1, sizes), detail::expanded(to_expand2, sizes));
}
std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(Tensor&&, const Tensor&) = delete;
std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor&, Tensor&&) = delete;
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& to_expand1, const Tensor& to_expand2, const char* api_name) {
  detail::check_all_defined({to_expand1, to_expand2}, api_name);
  return expand_outplace(to_expand1, to_expand2);
}
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& to_expand1, const Tensor& to_expand2,
                                                                                                             const Tensor& to_expand3) {
  DimVector sizes = infer_size_dimvector(infer_size_dimvector(to_expand1.sizes(), to_expand2.sizes()), to_expand3.sizes());
  return std::make_tuple(detail::expanded(to_expand1, sizes), detail::expanded(to_expand2, sizes), detail::expanded(to_expand3, sizes));
}
inline std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& to_expand1, const Tensor& to_expand2,
                                                                                                             const Tensor& to_expand3, const char* api_name) {
  detail::check_all_defined({to_expand1, to_expand2, to_expand3}, api_name);
  return expand_outplace(to_expand1, to_expand2, to_expand3);
}
/// Undefined tensors of a list stay undefined.
inline std::vector<Tensor> expand_outplace(TensorList to_expand) {
  std::vector<int64_t> sizes;
  bool first = true;
  for (const Tensor& tensor : to_expand) {
    if (!tensor.defined()) continue;
    sizes = first ? tensor.sizes().vec() : infer_size(sizes, tensor.sizes());
    first = false;
  }
  std::vector<Tensor> result(to_expand.size());
  for (size_t i = 0; i < to_expand.size(); ++i) {
    if (to_expand[i].defined()) result[i] = *detail::expanded(to_expand[i], sizes);
  }
  return result;
}

inline c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes) { return detail::expanded(to_expand, sizes); }
c10::MaybeOwned<Tensor> expand_size(Tensor&&, IntArrayRef) = delete;
inline c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes, const char* api_name) {
  detail::check_all_defined({to_expand}, api_name);
  return expand_size(to_expand, sizes);
}

/// The sum over the dimensions that `expand` from `shape` to the tensor's sizes repeated: the gradient of such an expansion. Without
/// such dimensions the result is a view, or an alias with `always_return_non_view`.
inline Tensor sum_to(Tensor tensor, IntArrayRef shape, bool always_return_non_view = false) {
  if (shape.empty()) return tensor.sum();
  IntArrayRef sizes = tensor.sizes();
  DimVector dims;
  auto leading = static_cast<int64_t>(sizes.size()) - static_cast<int64_t>(shape.size());
  for (int64_t i = 0; i < leading; ++i) dims.push_back(i);
  for (int64_t i = leading; i < static_cast<int64_t>(sizes.size()); ++i) {
    if (shape[static_cast<size_t>(i - leading)] == 1 && sizes[static_cast<size_t>(i)] != 1) dims.push_back(i);
  }
  if (!dims.empty()) tensor = tensor.sum(IntArrayRef(dims.data(), dims.size()), true);
  if (always_return_non_view) return leading > 0 ? tensor.view(shape).clone() : tensor;
  return leading > 0 ? tensor.view(shape) : tensor;
}

RLT_NAMESPACE_END
}  // namespace at
