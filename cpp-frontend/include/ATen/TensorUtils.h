// Checks of arguments, for operators outside of the library: the errors name the argument by its position and name.
//
//   at::TensorArg input{x, "input", 1}, weight{w, "weight", 2};
//   at::checkSameSize("my_op", input, weight);
#pragma once

#include <ATen/TensorGeometry.h>
#include <ATen/core/TensorBody.h>
#include <c10/core/Backend.h>
#include <c10/util/DimVector.h>

#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

namespace at {
RLT_NAMESPACE_BEGIN

/// An argument: its tensor, name and position, which counts from 1. A position of 0 is not printed.
struct TensorArg {
  const Tensor& tensor;
  const char* name;
  int pos;
  TensorArg(const Tensor& the_tensor, const char* the_name, int position) : tensor(the_tensor), name(the_name), pos(position) {}
  TensorArg(Tensor&&, const char*, int) = delete;  // the tensor must outlive the argument
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
};

struct TensorGeometryArg {
  TensorGeometry tensor;
  const char* name;
  int pos;
  TensorGeometryArg(TensorArg arg) : tensor(arg.tensor), name(arg.name), pos(arg.pos) {}
  TensorGeometryArg(TensorGeometry the_tensor, const char* the_name, int position) : tensor(std::move(the_tensor)), name(the_name), pos(position) {}
  const TensorGeometry* operator->() const { return &tensor; }
  const TensorGeometry& operator*() const { return tensor; }
};

/// The name of the function that checks, for its errors.
using CheckedFrom = const char*;

inline std::ostream& operator<<(std::ostream& out, const TensorGeometryArg& arg) {
  if (arg.pos == 0) return out << "'" << arg.name << "'";
  return out << "argument #" << arg.pos << " '" << arg.name << "'";
}

inline void checkDim(CheckedFrom c, const Tensor& tensor, const char* name, int pos, int64_t dim) {
  TORCH_CHECK(tensor.dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", tensor.dim(), "-dimensional tensor for ",
              TensorGeometryArg(TensorArg(tensor, name, pos)), " (while checking arguments for ", c, ")");
}
inline void checkDim(CheckedFrom c, const TensorGeometryArg& t, int64_t dim) {
  TORCH_CHECK(t->dim() == dim, "Expected ", dim, "-dimensional tensor, but got ", t->dim(), "-dimensional tensor for ", t,
              " (while checking arguments for ", c, ")");
}
/// From `dim_start`, and below `dim_end`.
inline void checkDimRange(CheckedFrom c, const TensorGeometryArg& t, int64_t dim_start, int64_t dim_end) {
  TORCH_CHECK(t->dim() >= dim_start && t->dim() < dim_end, "Expected ", dim_start, " to ", dim_end - 1, " dimensions, but got ", t->dim(),
              "-dimensional tensor for ", t, " (while checking arguments for ", c, ")");
}
inline void checkSameDim(CheckedFrom c, const TensorGeometryArg& t1, const TensorGeometryArg& t2) {
  TORCH_CHECK(t1->dim() == t2->dim(), "Expected tensor for ", t1, " to have the same dimension as tensor for ", t2, "; but ", t1->dim(),
              " does not equal ", t2->dim(), " (while checking arguments for ", c, ")");
}
inline void checkContiguous(CheckedFrom c, const TensorGeometryArg& t) {
  TORCH_CHECK(t->is_contiguous(), "Expected contiguous tensor, but got non-contiguous tensor for ", t, " (while checking arguments for ", c, ")");
}
inline void checkAllContiguous(CheckedFrom c, ArrayRef<TensorArg> ts) {
  for (const TensorArg& t : ts) {
    if (t->defined()) checkContiguous(c, t);
  }
}
inline void checkSize(CheckedFrom c, const TensorGeometryArg& t, IntArrayRef sizes) {
  checkDim(c, t, static_cast<int64_t>(sizes.size()));
  TORCH_CHECK(t->sizes().equals(sizes), "Expected tensor of size ", sizes, ", but got tensor of size ", t->sizes(), " for ", t,
              " (while checking arguments for ", c, ")");
}
inline void checkSize_symint(CheckedFrom c, const TensorGeometryArg& t, SymIntArrayRef sizes) {
  checkSize(c, t, c10::asIntArrayRefUnchecked(sizes));
}
inline void checkSize(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, int64_t size) {
  TORCH_CHECK(t->size(dim) == size, "Expected tensor to have size ", size, " at dimension ", dim, ", but got size ", t->size(dim), " for ", t,
              " (while checking arguments for ", c, ")");
}
inline void checkSize_symint(CheckedFrom c, const TensorGeometryArg& t, int64_t dim, const SymInt& size) {
  checkSize(c, t, dim, size.expect_int());
}
inline void checkNumel(CheckedFrom c, const TensorGeometryArg& t, int64_t numel) {
  TORCH_CHECK(t->numel() == numel, "Expected tensor for ", t, " to have ", numel, " elements; but it actually has ", t->numel(), " elements",
              " (while checking arguments for ", c, ")");
}
inline void checkSameNumel(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->numel() == t2->numel(), "Expected tensor for ", TensorGeometryArg(t1), " to have same number of elements as tensor for ",
              TensorGeometryArg(t2), "; but ", t1->numel(), " does not equal ", t2->numel(), " (while checking arguments for ", c, ")");
}
inline void checkScalarType(CheckedFrom c, const TensorArg& t, ScalarType dtype) {
  TORCH_CHECK(t->scalar_type() == dtype, "Expected tensor for ", TensorGeometryArg(t), " to have scalar type ", toString(dtype),
              "; but got ", t->toString(), " instead (while checking arguments for ", c, ")");
}
inline void checkScalarTypes(CheckedFrom c, const TensorArg& t, ArrayRef<ScalarType> dtypes) {
  std::string names;
  for (ScalarType dtype : dtypes) {
    if (t->scalar_type() == dtype) return;
    names += std::string(names.empty() ? "" : ", ") + toString(dtype);
  }
  TORCH_CHECK(false, "Expected tensor for ", TensorGeometryArg(t), " to have one of the following scalar types: ", names, "; but got ", t->toString(),
              " instead (while checking arguments for ", c, ")");
}
inline void checkSameType(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->options().type_equal(t2->options()), "Expected tensor for ", TensorGeometryArg(t1), " to have the same type as tensor for ",
              TensorGeometryArg(t2), "; but type ", t1->toString(), " does not equal ", t2->toString(), " (while checking arguments for ", c, ")");
}
inline void checkSameSize(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->sizes().equals(t2->sizes()), "Expected tensor for ", TensorGeometryArg(t1), " to have same size as tensor for ", TensorGeometryArg(t2),
              "; but ", t1->sizes(), " does not equal ", t2->sizes(), " (while checking arguments for ", c, ")");
}
inline void checkSameGPU(CheckedFrom c, const TensorArg& t1, const TensorArg& t2) {
  TORCH_CHECK(t1->is_cuda() && t2->is_cuda(), "Expected all tensors to be on the GPU, but found ", t1->is_cuda() ? TensorGeometryArg(t2) : TensorGeometryArg(t1),
              " on the CPU (while checking arguments for ", c, ")");
  TORCH_CHECK(t1->get_device() == t2->get_device(), "Expected tensor for ", TensorGeometryArg(t1), " to have the same device as tensor for ",
              TensorGeometryArg(t2), "; but device ", t1->get_device(), " does not equal ", t2->get_device(), " (while checking arguments for ", c, ")");
}
inline void checkDefined(CheckedFrom c, const TensorArg& t) {
  TORCH_CHECK(t->defined(), "Expected tensor for ", TensorGeometryArg(TensorGeometry(), t.name, t.pos), " to be non-null, but it was undefined ",
              " (while checking arguments for ", c, ")");
}
inline void checkAllDefined(CheckedFrom c, ArrayRef<TensorArg> ts) {
  for (const TensorArg& t : ts) checkDefined(c, t);
}

namespace detail {
/// Compares each defined tensor with the first one.
template <class Check>
void check_all_same(CheckedFrom c, ArrayRef<TensorArg> tensors, const Check& check) {
  const TensorArg* first = nullptr;
  for (const TensorArg& t : tensors) {
    if (!t->defined()) continue;
    if (first) check(c, *first, t);
    else first = &t;
  }
}
}  // namespace detail
inline void checkAllSameNumel(CheckedFrom c, ArrayRef<TensorArg> tensors) { detail::check_all_same(c, tensors, checkSameNumel); }
inline void checkAllSameGPU(CheckedFrom c, ArrayRef<TensorArg> tensors) { detail::check_all_same(c, tensors, checkSameGPU); }
inline void checkAllSameType(CheckedFrom c, ArrayRef<TensorArg> tensors) { detail::check_all_same(c, tensors, checkSameType); }
inline void checkAllSameSize(CheckedFrom c, ArrayRef<TensorArg> tensors) { detail::check_all_same(c, tensors, checkSameSize); }

inline void checkBackend(CheckedFrom c, ArrayRef<Tensor> tensors, Backend backend) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(!t.defined() || (t.device().type() == backendToDeviceType(backend) && t.layout() == layout_from_backend(backend)), "Expected tensor to have ",
                toString(backend), " Backend, but got tensor of type ", t.toString(), " (while checking arguments for ", c, ")");
  }
}
inline void checkDeviceType(CheckedFrom c, ArrayRef<Tensor> tensors, DeviceType device_type) {
  for (const Tensor& t : tensors) {
    TORCH_CHECK(!t.defined() || t.device().type() == device_type, "Expected tensor to have ", device_type, " DeviceType, but got tensor with ",
                t.device().type(), " DeviceType (while checking arguments for ", c, ")");
  }
}
inline void checkLayout(CheckedFrom c, const Tensor& t, Layout layout) {
  TORCH_CHECK(!t.defined() || t.layout() == layout, "Expected tensor to have ", layout, " Layout, but got tensor with ", t.layout(),
              " Layout (while checking arguments for ", c, ")");
}
inline void checkLayout(CheckedFrom c, ArrayRef<Tensor> tensors, Layout layout) {
  for (const Tensor& t : tensors) checkLayout(c, t, layout);
}

/// The address of the elements; NULL for an undefined tensor.
inline void* maybe_data_ptr(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }
inline void* maybe_data_ptr(const TensorArg& tensor) { return maybe_data_ptr(tensor.tensor); }

inline void check_dim_size(const Tensor& tensor, int64_t dim, int64_t dim_size, int64_t size) {
  TORCH_CHECK(tensor.dim() == dim && tensor.size(dim_size) == size, "Expected a tensor of dimension ", dim, " and tensor.size[", dim_size, "] == ", size,
              " but got: dimension ", tensor.dim(), " and tensor.size[", dim_size, "] = ", tensor.size(dim_size));
}

namespace detail {
/// The strides of a contiguous tensor.
inline std::vector<int64_t> defaultStrides(IntArrayRef sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}
/// The strides of a view of other sizes; none if the view needs a copy.
inline std::optional<std::vector<int64_t>> computeStride(IntArrayRef sizes, IntArrayRef strides, IntArrayRef wanted) {
  if (sizes.empty()) return std::vector<int64_t>(wanted.size(), 1);
  int64_t numel = 1;
  for (int64_t size : sizes) numel *= size;
  if (numel == 0 && sizes.equals(wanted)) return strides.vec();
  std::vector<int64_t> result(wanted.size());
  auto next = static_cast<int64_t>(wanted.size()) - 1;
  if (numel == 0) {
    for (int64_t i = next; i >= 0; --i) {
      auto at = static_cast<size_t>(i);
      result[at] = i == next ? 1 : std::max<int64_t>(wanted[at + 1], 1) * result[at + 1];
    }
    return result;
  }
  // Runs of dimensions that one stride describes, from the last.
  int64_t run = 1, unused = 1, base = strides.back();
  for (size_t i = sizes.size(); i-- > 0;) {
    run *= sizes[i];
    if (i != 0 && (sizes[i - 1] == 1 || strides[i - 1] == run * base)) continue;
    while (next >= 0 && (unused < run || wanted[static_cast<size_t>(next)] == 1)) {
      result[static_cast<size_t>(next)] = unused * base;
      unused *= wanted[static_cast<size_t>(next)];
      --next;
    }
    if (unused != run) return std::nullopt;
    if (i != 0) {
      base = strides[i - 1];
      run = unused = 1;
    }
  }
  if (next != -1) return std::nullopt;
  return result;
}
inline std::optional<DimVector> computeStride(IntArrayRef sizes, IntArrayRef strides, const DimVector& wanted) {
  std::optional<std::vector<int64_t>> result = computeStride(sizes, strides, IntArrayRef(wanted.data(), wanted.size()));
  if (!result) return std::nullopt;
  return DimVector(result->begin(), result->end());
}
}  // namespace detail

RLT_NAMESPACE_END
}  // namespace at
